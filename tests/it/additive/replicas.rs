//! The small model of [`by_hand`] on several devices, and in captured graphs.

use super::by_hand::{DENSE, FIGURES, FLOPS, KV, LINK, VERIFY, WEIGHTS, mixed, priced, small};
use super::*;

/// Four devices share 2 KV heads: each keeps one, half of the cache, and a quarter of everything else.
pub(super) fn spread() -> Table {
    let mut table = Table::new("four devices");
    let cost = terms(&priced(&FIGURES, &small(None), 4, VERIFY));
    let mut row = |term, by_hand, broken: &[_]| table.row(term, cost.get(term), by_hand, broken);
    row(Term::ProductKernels, 9.0 * 4e-6, &[("divided", 9.0 * 4e-6 / 4.0)]);
    row(Term::AttentionKernels, 2.0 * 12e-6, &[("divided", 2.0 * 12e-6 / 4.0)]);
    row(Term::Weights, 137_728.0 * 2.0 / 4.0 / WEIGHTS, &[("not divided", 137_728.0 * 2.0 / WEIGHTS)]);
    row(Term::SmallReads, (17.0 * 64.0) * 2.0 / 4.0 / WEIGHTS, &[("not divided", 17.0 * 64.0 * 2.0 / WEIGHTS)]);
    row(Term::Arithmetic, 2.0 * 137_728.0 * 12.0 / 4.0 / FLOPS, &[("not divided", 2.0 * 137_728.0 * 12.0 / FLOPS)]);
    let attention = 4.0 * 2.0 * 64.0 * 3.0 * 410.0 / FLOPS;
    row(Term::AttentionArithmetic, attention / 4.0, &[("not divided", attention), ("by KV heads", attention / 2.0)]);
    let kv = 256.0 / KV;
    row(
        Term::KvRead,
        kv * 300.0 / 2.0,
        &[("not divided", kv * 300.0), ("half a KV head on each device", kv * 300.0 / 4.0)],
    );
    row(
        Term::KvWrite,
        kv * 12.0 / 2.0,
        &[("not divided", kv * 12.0), ("half a KV head on each device", kv * 12.0 / 4.0)],
    );
    // Two a layer.
    row(
        Term::AllReduceStart,
        2.0 * 2.0 * 8e-6,
        &[
            ("one a layer", 2.0 * 8e-6),
            ("for each hop of the ring", 4.0 * 3.0 * 8e-6),
            ("for each verified token", 4.0 * 4.0 * 8e-6),
        ],
    );
    // Four times 2 x 3/4 of 12 tokens x 64 values of two bytes.
    let once = 12.0 * 64.0 * 2.0 / LINK;
    row(
        Term::AllReduceTraffic,
        4.0 * 2.0 * 0.75 * once,
        &[
            ("one way round the ring", 4.0 * 0.75 * once),
            ("without (n - 1) / n", 4.0 * 2.0 * once),
            ("one a layer", 2.0 * 2.0 * 0.75 * once),
            ("one byte for each value", 4.0 * 2.0 * 0.75 * once / 2.0),
            ("one token for each sequence", 4.0 * 2.0 * 0.75 * once / 4.0),
            ("at the datasheet's bandwidth", 4.0 * 2.0 * 0.75 * once * 0.7),
        ],
    );
    table
}

/// Four groups of one device each attend to a batch of their own and share the experts.
pub(super) fn ranks() -> Table {
    let mut table = Table::new("four ranks");
    let (device, engine) = (FIGURES.device(), FIGURES.engine());
    let apart = Spread { expert_parallel: Some(4), data_parallel_attention: true, ..Spread::default() };
    let on = On { device: &device, engine: &engine, devices: 1, without: &[] };
    let model = mixed();
    let setup = super::spread(&on, apart, &Limits::default(), &model, None);
    let cost = terms(&pass(&model, setup.pricing(), VERIFY));
    let mut row = |term, by_hand, broken: &[_]| table.row(term, cost.get(term), by_hand, broken);
    row(Term::AllReduceStart, 0.0, &[("as if sliced", 6.0 * 8e-6)]);
    let halves = super::spread(&On { devices: 2, ..on }, apart, &Limits::default(), &model, None);
    table.row(
        Term::AllReduceStart,
        terms(&pass(&model, halves.pricing(), VERIFY)).get(Term::AllReduceStart),
        4.0 * 8e-6,
        &[("after experts too", 6.0 * 8e-6), ("left out", 0.0)],
    );
    let mut row = |term, by_hand, broken: &[_]| table.row(term, cost.get(term), by_hand, broken);
    // There and back in each of two layers of experts.
    row(
        Term::AllToAllStart,
        4.0 * 8e-6,
        &[("one way", 2.0 * 8e-6), ("in the dense layer too", 6.0 * 8e-6), ("to each rank", 16.0 * 8e-6)],
    );
    // 12 tokens of this rank, two experts each, 64 values of two bytes; a quarter stays.
    let once = 12.0 * 2.0 * 64.0 * 2.0 / LINK;
    row(
        Term::AllToAllTraffic,
        4.0 * 0.75 * once,
        &[
            ("one way", 2.0 * 0.75 * once),
            ("without what stays", 4.0 * once),
            ("a token sent once", 4.0 * 0.75 * once / 2.0),
            ("all ranks' tokens", 4.0 * 4.0 * 0.75 * once),
        ],
    );
    // 4 x 7.302 tokens pick 8 x (1 - 0.75^29.208) experts, a quarter of them on this rank.
    let weights = |experts: f64| (36_864.0 + 2.0 * (12_288.0 + 512.0 + 9216.0 + experts * 6144.0) + 64_000.0) * 2.0;
    let distinct = |tokens: f64| 8.0 * (1.0 - 0.75_f64.powf(tokens));
    row(
        Term::Weights,
        weights(distinct(29.208) / 4.0) / WEIGHTS,
        &[
            ("this rank's tokens only", weights(distinct(7.302) / 4.0) / WEIGHTS),
            ("all experts here", weights(distinct(29.208)) / WEIGHTS),
            ("not shared", weights(distinct(7.302)) / WEIGHTS),
        ],
    );
    table
}

/// Two stages: half of the three sequences, 6 tokens, pass through both of them.
pub(super) fn stages() -> Table {
    let mut table = Table::new("two stages");
    let (device, engine) = (FIGURES.device(), FIGURES.engine());
    let on = On { device: &device, engine: &engine, devices: 1, without: &[] };
    let cut = Spread { pipeline: 2, ..Spread::default() };
    let model = small(None);
    let setup = super::spread(&on, cut, &Limits::default(), &model, None);
    let cost = terms(&pass(&model, setup.pricing(), VERIFY));
    let mut row = |term, by_hand, broken: &[_]| table.row(term, cost.get(term), by_hand, broken);
    let hop = |tokens: f64| 8e-6 + tokens * 64.0 * 2.0 / LINK;
    row(
        Term::Pipeline,
        2.0 * hop(6.0),
        &[("between the stages only", hop(6.0)), ("the whole batch", 2.0 * hop(12.0)), ("left out", 0.0)],
    );
    row(Term::Weights, 137_728.0 * 2.0 / WEIGHTS, &[("those of one stage", 137_728.0 / WEIGHTS)]);
    let arithmetic = |tokens: f64| 2.0 * 137_728.0 * tokens / FLOPS;
    row(Term::Arithmetic, arithmetic(6.0), &[("the whole batch", arithmetic(12.0)), ("one stage", arithmetic(3.0))]);
    let kv = |sequences: f64| 256.0 * 100.0 * sequences / KV;
    row(Term::KvRead, kv(1.5), &[("the whole batch", kv(3.0)), ("one stage", kv(0.75))]);
    table
}

/// 12 new tokens run in a graph of 16; where 8 is the largest, launches take 500 us a layer.
pub(super) fn captured() -> Table {
    let mut table = Table::new("captured");
    let (device, engine) = (FIGURES.device(), Figures { uncaptured: Some(500e-6), ..FIGURES }.engine());
    let on = On { device: &device, engine: &engine, devices: 1, without: &[] };
    let (model, source) = (small(None), eagle3(500));
    let verify = |sizes: &[u64], without: &[Term]| {
        let limits = Limits { capture_sizes: sizes.to_vec(), ..Limits::default() };
        let setup = super::spread(&On { without, ..on }, Spread::default(), &limits, &model, Some(drafts(&source)));
        let plain = plain_step(&setup, 3.0, 100.0);
        terms(&round(&setup, &plain, 3.0, 100.0, 3, 1.0).verify)
    };
    let token = 2.0 * 137_728.0 / FLOPS;
    let small = verify(&[4, 8, 16, 32], &[]);
    table.row(
        Term::Padding,
        small.get(Term::Padding),
        4.0 * token,
        &[("left out", 0.0), ("to the largest", 20.0 * token), ("the padded pass on top", 16.0 * token)],
    );
    table.row(Term::Padding, verify(&[12], &[]).get(Term::Padding), 0.0, &[("a size too far", token)]);
    table.row(Term::Uncaptured, small.get(Term::Uncaptured), 0.0, &[("always", 2.0 * 500e-6 - DENSE)]);
    table.row(
        Term::Uncaptured,
        verify(&[4, 8], &[]).get(Term::Uncaptured),
        2.0 * 500e-6 - DENSE,
        &[("launches on top", 2.0 * 500e-6), ("one layer", 500e-6 - DENSE), ("left out", 0.0)],
    );
    for (term, sizes, kept) in [(Term::Padding, &[16][..], 4.0 * token), (Term::Uncaptured, &[8], 2.0 * 500e-6 - DENSE)]
    {
        table.row(term, verify(sizes, &[term]).get(term), 0.0, &[("kept", kept)]);
    }
    table
}
