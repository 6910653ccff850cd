//! What steps and memory of a replica under load come from, beside `sweep` and `plan`.

use specplan::catalog::edit::Assignment;
use specplan::catalog::load::{Loaded, Request, load};
use specplan::catalog::lookup::SearchPath;
use specplan::plan::step::{Decoding, edges, spread};
use specplan::sweep::grid::Grid;
use specplan::traffic::room::Room;

fn study(changes: &[&str]) -> Loaded {
    let changes: Vec<Assignment> = changes.iter().map(|change| Assignment::parse(change).unwrap()).collect();
    let request = Request { scenario: "llama-8b-drafters", changes: &changes, seed: None, published: true };
    load(&SearchPath::default(), &request).unwrap()
}

fn decoding(batch: f64, context: f64) -> Decoding {
    Decoding { batch, context, k: 0, proposing_share: 1.0 }
}

/// Gemma 3 27B: 52 of its 62 layers see 1024 tokens. Two short and two long sequences read less than four of the mean: by hand, at 16 x 128 x 2
/// values of two bytes for each token and layer, over the bandwidth of an H100.
#[test]
fn windows_see_the_contexts_themselves() {
    let loaded =
        study(&["target=gemma-3-27b", "engine=ideal", "hardware=h100-sxm5-80gb", "drafters={}", "roofline=per_op"]);
    let grid = Grid::new(&loaded.scenario, u64::MAX).unwrap();
    let setup = &grid.blocks[0].setup;
    assert_eq!(edges(setup), [1024]);
    let groups = [decoding(2.0, 200.0), decoding(2.0, 8000.0)];
    let seconds = spread(setup, decoding(4.0, 4100.0), &groups).get();
    let bytes = 52.0 * 16.0 * 128.0 * 2.0 * 2.0 * (2.0 * 200.0 + 2.0 * 1023.0 - 4.0 * 1023.0);
    assert!((seconds / (bytes / 3.35e12) - 1.0).abs() < 1e-6, "{seconds} is not {}", bytes / 3.35e12);
    // On one side of the window a mean stands for all.
    for (one, other) in [(100.0, 900.0), (2000.0, 9000.0)] {
        let groups = [decoding(3.0, one), decoding(1.0, other)];
        let mean = (3.0 * one + other) / 4.0;
        assert!(spread(setup, decoding(4.0, mean), &groups).get().abs() < 1e-12);
    }
    let plain = study(&["drafters={}"]);
    let grid = Grid::new(&plain.scenario, u64::MAX).unwrap();
    assert!(edges(&grid.blocks[0].setup).is_empty());
}

/// As many sequences find room as `sweep` and `plan` say fit: with a drafter beside the target, with none, and with one on devices of its own,
/// which may be full first.
#[test]
fn as_many_find_room_as_are_said_to_fit() {
    for (changes, own_is_first) in [
        (vec!["drafters={d={eagle={version=3},acceptance={iid={alpha=0.7}}}}"], false),
        (vec!["drafters={d={model={id=\"llama-3.2-1b\"},acceptance={iid={alpha=0.7}}}}"], false),
        (vec!["drafters={d={model={id=\"llama-3.2-1b\"},overlap=true,acceptance={iid={alpha=0.7}}}}"], false),
        // A small target beside a drafter that caches four times as much of each token.
        (
            vec![
                "target=llama-3.2-1b",
                "drafters={d={model={id=\"llama-3.1-8b\"},overlap=true,acceptance={iid={alpha=0.7}}}}",
            ],
            true,
        ),
    ] {
        let loaded = study(&changes);
        let grid = Grid::new(&loaded.scenario, u64::MAX).unwrap();
        let setup = &grid.blocks[0].setup;
        for k in [0, 3] {
            let room = Room::of(setup, k);
            for context in [100, 4000, 30_000] {
                let each = room.bytes(room.blocks(context));
                let fits = (room.budget / each).floor() as u64;
                let expected = if k == 0 {
                    let usable = setup.usable();
                    (1..).take_while(|batch| setup.base_memory(*batch, u64::from(context)).total() <= usable).count()
                        as u64
                } else {
                    setup.max_batch(u64::from(context), k).unwrap()
                };
                assert_eq!(fits, expected, "{changes:?} k={k} context={context}");
            }
        }
        let of_target = setup.cache(true).0.get();
        assert_eq!(Room::of(setup, 3).budget.to_bits() != of_target.to_bits(), own_is_first, "{changes:?}");
    }
}
