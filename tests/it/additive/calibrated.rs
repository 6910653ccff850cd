//! What a calibration adds: a pace of passes, a time for draft passes of trees, a time for each emitted token.

use super::by_hand::{DENSE, FIGURES};
use super::*;
use specplan::domain::engine::Pace;
use specplan::domain::shape::{Sizes, TreeShape};

/// Plain passes 1.2 times as long as priced, those of rounds 1.5 times; 40 us for a draft pass of a tree, 5 us for a token.
fn engine() -> Engine {
    let mut engine = FIGURES.engine();
    let Profile::Additive(additive) = &mut engine.profile else { panic!("no constants") };
    additive.plain_pace = Some(constant(Pace::new(1.2).unwrap()));
    additive.round_pace = Some(constant(Pace::new(1.5).unwrap()));
    additive.tree = Some(constant(Seconds::new(40e-6)));
    additive.token = Some(constant(Seconds::new(5e-6)));
    engine
}

/// A plain step and a round of three drafts, in a chain or in a tree.
fn costs(engine: &Engine, tree: Option<&TreeShape>) -> (PassCost, Round) {
    let (device, target, source) = (FIGURES.device(), by_hand::small(None), eagle3(500));
    let on = On { device: &device, engine, devices: 1, without: &[] };
    let setup = setup(&on, &target, Some(Drafts { tree, ..drafts(&source) }));
    let plain = plain_step(&setup, 3.0, 100.0);
    (plain, round(&setup, &plain, 3.0, 100.0, 3, 1.0))
}

pub(super) fn served() -> Table {
    let mut table = Table::new("calibrated");
    let ((before, priced), (plain, round)) = (costs(&FIGURES.engine(), None), costs(&engine(), None));
    let step = before.seconds().get() - 1350e-6;
    table.row(
        Term::Token,
        plain.seconds(),
        1.2 * step + 1350e-6 + 5e-6,
        &[
            ("the pace of rounds", 1.5 * step + 1350e-6 + 5e-6),
            ("a pace of the engine's step too", 1.2 * (step + 1350e-6) + 5e-6),
            ("a token of each sequence", 1.2 * step + 1350e-6 + 15e-6),
        ],
    );
    table.row(
        Term::Token,
        round.verify.seconds(),
        1.5 * DENSE + 1350e-6,
        &[("the pace of plain steps", 1.2 * DENSE + 1350e-6), ("tokens in it", 1.5 * DENSE + 1350e-6 + 5e-6)],
    );
    let heads = priced.draft.get() - 3.0 * 110e-6;
    table.row(
        Term::Draft,
        round.draft,
        1.5 * heads + 3.0 * 110e-6,
        &[("a pace of its own time", 1.5 * priced.draft.get())],
    );
    // 2.5 tokens, of however many sequences.
    let beside = 460e-6 + 3.0 * 7e-6 + 2.5 * 5e-6;
    table.row(
        Term::Token,
        round.overhead(2.5),
        beside,
        &[("of each sequence", beside + 5.0 * 5e-6), ("of one token", beside - 1.5 * 5e-6)],
    );
    let branches = TreeShape::Sized(Sizes::new(3, 2, 6).unwrap());
    let (tree, bare) = (costs(&engine(), Some(&branches)).1, costs(&FIGURES.engine(), Some(&branches)).1);
    let heads = bare.draft.get() - 3.0 * 110e-6;
    let each = 110e-6 + 40e-6;
    table.row(
        Term::Draft,
        tree.draft,
        1.5 * heads + 3.0 * each,
        &[("as a chain", 1.5 * heads + 3.0 * 110e-6), ("once a round", 1.5 * heads + 3.0 * 110e-6 + 40e-6)],
    );
    table
}

/// A round pays at so many tokens that it takes as long as plain steps of them; in calibrated ones tokens cost both.
#[test]
fn tokens_to_pay_count_what_tokens_cost() {
    let engine = engine();
    let (plain, round) = costs(&engine, None);
    let tokens = round.tokens_within(plain.seconds()).unwrap();
    assert!(near(round.seconds(tokens).get(), tokens * plain.seconds().get()));
    assert!(tokens > round.seconds(0.0).get() / plain.seconds().get());
    assert_eq!(round.tokens_within(Seconds::new(4e-6)), None);
}

/// One candidate for each position is a chain.
#[test]
fn a_tree_without_branches_is_a_chain() {
    let line = TreeShape::Sized(Sizes::new(3, 1, 4).unwrap());
    assert_eq!(costs(&engine(), Some(&line)).1, costs(&engine(), None).1);
}
