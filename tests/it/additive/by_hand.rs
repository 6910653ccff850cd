//! A model small enough for pen and paper: hidden 64, 4 heads and 2 KV heads of 16, vocabulary 1000, bf16.
//!
//! ```text
//! qkv      64 x (4 + 2 x 2) x 16  =  8192        o        4 x 16 x 64     =  4096
//! gated    3 x 64 x 128           = 24576        layer    qkv + o + gated = 36864
//! LM head  1000 x 64              = 64000        KV of a token and layer: 2 x 2 x 16 x 2 B = 128 B
//! ```
//!
//! It verifies 4 tokens for each of 3 sequences after 100 cached ones: 12 new tokens.

use super::*;

pub(super) const FIGURES: Figures = Figures {
    peak: 1e14,
    bandwidth: 1e12,
    link: 1e11,
    eta_compute: 0.8,
    eta_bandwidth: 0.5,
    eta_kv: Some(0.4),
    eta_link: 0.7,
    rho: 0.478,
    product: 4e-6,
    attention: 12e-6,
    moe_layer: 30e-6,
    all_reduce: 8e-6,
    step: 1350e-6,
    draft: 110e-6,
    round: 460e-6,
    sequence: 7e-6,
    floor: None,
    uncaptured: None,
    quantised: None,
};

/// 0.8 of 100 TFLOP/s; half of 1 TB/s for weights and 0.4 of it for KV; 0.7 of 100 GB/s.
pub(super) const FLOPS: f64 = 8e13;
pub(super) const WEIGHTS: f64 = 5e11;
pub(super) const KV: f64 = 4e11;
pub(super) const LINK: f64 = 7e10;

pub(super) const VERIFY: PassShape = PassShape::verify(3.0, 4.0, 100.0);

/// Two layers of the small model.
pub(super) fn small(window: Option<u64>) -> Model {
    let attention = Attention::Gqa(Gqa::new(4, 2, 16, window).unwrap());
    let group = LayerGroup { count: 2, attention, ffn: Ffn::Gated { intermediate: 128 } };
    built_of(vec![group])
}

/// One dense layer, then two with 8 experts of width 32, of which a token picks 2, and a shared one of 48.
pub(super) fn mixed() -> Model {
    let attention = Attention::Gqa(Gqa::new(4, 2, 16, None).unwrap());
    let moe = Moe::new(8, 2, 32).unwrap().with_shared(1, 48);
    let dense = LayerGroup { count: 1, attention, ffn: Ffn::Gated { intermediate: 128 } };
    built_of(vec![dense, LayerGroup { count: 2, attention, ffn: Ffn::Moe(moe) }])
}

fn built_of(groups: Vec<LayerGroup>) -> Model {
    let layers = Layers::new(64, 1000, false, groups, Extras::default()).unwrap();
    model(layers, Formats::new(Dtype::Bf16, Dtype::Bf16, Dtype::Bf16))
}

pub(super) fn priced(figures: &Figures, model: &Model, devices: u64, shape: PassShape) -> PassCost {
    let (device, engine) = (figures.device(), figures.engine());
    let setup = setup(&On { device: &device, engine: &engine, devices, without: &[] }, model, None);
    pass(model, setup.pricing(), shape)
}

pub(super) fn dense() -> Table {
    let mut table = Table::new("dense");
    let cost = terms(&priced(&FIGURES, &small(None), 1, VERIFY));
    let mut row = |term, by_hand, broken: &[_]| table.row(term, cost.get(term), by_hand, broken);
    // qkv, o, gate and up in one, down: 4 for each of 2 layers, and the LM head.
    row(Term::ProductKernels, 9.0 * 4e-6, &[("gate and up apart", 11.0 * 4e-6), ("no LM head", 8.0 * 4e-6)]);
    row(Term::AttentionKernels, 2.0 * 12e-6, &[("once for each sequence", 6.0 * 12e-6), ("once a pass", 12e-6)]);
    row(Term::Routing, 0.0, &[("in dense layers", 2.0 * 30e-6)]);
    // 2 x 36864 + 64000 = 137728 parameters of two bytes.
    row(
        Term::Weights,
        137_728.0 * 2.0 / WEIGHTS,
        &[
            ("the embedding table too", (137_728.0 + 64_000.0) * 2.0 / WEIGHTS),
            ("without the LM head", 73_728.0 * 2.0 / WEIGHTS),
            ("once for each sequence", 137_728.0 * 2.0 * 3.0 / WEIGHTS),
            ("at the datasheet's bandwidth", 137_728.0 * 2.0 / 1e12),
        ],
    );
    // 12 rows of the embedding, and 2 x 2 + 1 normalisations of 64.
    row(
        Term::SmallReads,
        (12.0 * 64.0 + 5.0 * 64.0) * 2.0 / WEIGHTS,
        &[
            ("the whole embedding table", (64_000.0 + 5.0 * 64.0) * 2.0 / WEIGHTS),
            ("one row for each sequence", (3.0 * 64.0 + 5.0 * 64.0) * 2.0 / WEIGHTS),
            ("no last normalisation", (12.0 * 64.0 + 4.0 * 64.0) * 2.0 / WEIGHTS),
        ],
    );
    row(
        Term::Arithmetic,
        2.0 * 137_728.0 * 12.0 / FLOPS,
        &[
            ("a multiply-add counted once", 137_728.0 * 12.0 / FLOPS),
            ("LM head on the last position only", 2.0 * (73_728.0 * 12.0 + 64_000.0 * 3.0) / FLOPS),
            ("the embedding multiplied too", 2.0 * (137_728.0 + 64_000.0) * 12.0 / FLOPS),
            ("one token for each sequence", 2.0 * 137_728.0 * 3.0 / FLOPS),
            ("only what outlasts the traffic", 0.0),
        ],
    );
    // The four tokens see 101 + 102 + 103 + 104 = 410 keys; scores and values, 2 FLOPs each: 4 x 2 layers x 64.
    row(
        Term::AttentionArithmetic,
        4.0 * 2.0 * 64.0 * 3.0 * 410.0 / FLOPS,
        &[
            ("cached keys only", 4.0 * 2.0 * 64.0 * 3.0 * 400.0 / FLOPS),
            ("the whole block seen by all", 4.0 * 2.0 * 64.0 * 3.0 * 416.0 / FLOPS),
            ("a token that does not see itself", 4.0 * 2.0 * 64.0 * 3.0 * 406.0 / FLOPS),
            ("scores without values", 2.0 * 2.0 * 64.0 * 3.0 * 410.0 / FLOPS),
            ("the width of the KV heads", 4.0 * 2.0 * 32.0 * 3.0 * 410.0 / FLOPS),
        ],
    );
    // 2 layers x 128 B = 256 B for each cached token.
    row(
        Term::KvRead,
        256.0 * 100.0 * 3.0 / KV,
        &[
            ("once for each new token", 256.0 * 100.0 * 12.0 / KV),
            ("once for each query head", 2.0 * 256.0 * 100.0 * 3.0 / KV),
            ("once for the batch", 256.0 * 100.0 / KV),
            ("keys without values", 128.0 * 100.0 * 3.0 / KV),
            ("the new tokens too", 256.0 * 104.0 * 3.0 / KV),
            ("at the efficiency of weights", 256.0 * 100.0 * 3.0 / WEIGHTS),
        ],
    );
    row(
        Term::KvWrite,
        256.0 * 12.0 / KV,
        &[("one token for each sequence", 256.0 * 3.0 / KV), ("at the efficiency of weights", 256.0 * 12.0 / WEIGHTS)],
    );
    row(Term::AllReduceStart, 0.0, &[("on a single device", 4.0 * 8e-6)]);
    row(Term::AllReduceTraffic, 0.0, &[("on a single device", 4.0 * 2.0 * 2.0 * 12.0 * 64.0 / LINK)]);
    row(Term::LayerFloor, 0.0, &[("where there is none", 2.0 * 500e-6)]);
    // A prompt's pass wants the next token of its last position only.
    let prompt = terms(&priced(&FIGURES, &small(None), 1, PassShape::prefill(3.0, 4.0, 100.0)));
    table.row(
        Term::Arithmetic,
        prompt.get(Term::Arithmetic),
        2.0 * (73_728.0 * 12.0 + 64_000.0 * 3.0) / FLOPS,
        &[("LM head on every position", 2.0 * 137_728.0 * 12.0 / FLOPS)],
    );
    table
}

/// A token sees 64 tokens, itself included: 63 cached ones, and never more than 64 keys.
pub(super) fn windowed() -> Table {
    let mut table = Table::new("window of 64");
    let cost = terms(&priced(&FIGURES, &small(Some(64)), 1, VERIFY));
    table.row(
        Term::KvRead,
        cost.get(Term::KvRead),
        256.0 * 63.0 * 3.0 / KV,
        &[("the window ignored", 256.0 * 100.0 * 3.0 / KV), ("the new token read too", 256.0 * 64.0 * 3.0 / KV)],
    );
    table.row(
        Term::AttentionArithmetic,
        cost.get(Term::AttentionArithmetic),
        4.0 * 2.0 * 64.0 * 3.0 * 4.0 * 64.0 / FLOPS,
        &[("the window ignored", 4.0 * 2.0 * 64.0 * 3.0 * 410.0 / FLOPS)],
    );
    table
}

/// A layer of experts has a router of 64 x 8 = 512, experts of 3 x 64 x 32 = 6144 and a shared one of
/// 3 x 64 x 48 = 9216 parameters beside the 8192 + 4096 of its attention.
pub(super) fn mixture() -> Table {
    let mut table = Table::new("mixture");
    let cost = terms(&priced(&FIGURES, &mixed(), 1, VERIFY));
    let mut row = |term, by_hand, broken: &[_]| table.row(term, cost.get(term), by_hand, broken);
    // 4 in the dense layer, 4 + 2 in each other one, and the LM head.
    row(Term::ProductKernels, 17.0 * 4e-6, &[("no kernels of the shared expert", 13.0 * 4e-6)]);
    row(
        Term::Routing,
        2.0 * 30e-6,
        &[("in the dense layer too", 3.0 * 30e-6), ("once for each picked expert", 4.0 * 30e-6), ("left out", 0.0)],
    );
    // 3 x (1 + 3 x 0.478) = 7.302 tokens pick as if independent: 8 x (1 - 0.75^7.302) = 7.02 of 8 experts.
    let weights = |experts: f64, shared: f64| {
        (36_864.0 + 2.0 * (12_288.0 + 512.0 + shared * 9216.0 + experts * 6144.0) + 64_000.0) * 2.0 / WEIGHTS
    };
    let distinct = |tokens: f64| 8.0 * (1.0 - 0.75_f64.powf(tokens));
    row(
        Term::Weights,
        weights(distinct(7.302), 1.0),
        &[
            ("all tokens independent", weights(distinct(12.0), 1.0)),
            ("tokens of a sequence all alike", weights(distinct(3.0), 1.0)),
            ("the whole width shrunk by rho", weights(distinct(12.0 * 0.478), 1.0)),
            ("all experts", weights(8.0, 1.0)),
            ("the picked ones of one token", weights(2.0, 1.0)),
            ("no shared expert", weights(distinct(7.302), 0.0)),
        ],
    );
    let arithmetic = |experts: f64, shared: f64| {
        let dense = 36_864.0 + 64_000.0;
        2.0 * 12.0 * (dense + 2.0 * (12_288.0 + 512.0 + shared * 9216.0 + experts * 6144.0)) / FLOPS
    };
    row(
        Term::Arithmetic,
        arithmetic(2.0, 1.0),
        &[
            ("all experts", arithmetic(8.0, 1.0)),
            ("the distinct experts", arithmetic(distinct(7.302), 1.0)),
            ("one expert", arithmetic(1.0, 1.0)),
            ("no shared expert", arithmetic(2.0, 0.0)),
        ],
    );
    table
}

/// An engine whose kernels for quantised weights reach half of the arithmetic and a quarter of the bandwidth
/// that it reaches otherwise.
pub(super) fn quantised() -> Table {
    let mut table = Table::new("quantised");
    let figures = Figures { quantised: Some((0.5, 0.25)), ..FIGURES };
    let fp8 = Formats::new(Dtype::Fp8, Dtype::Bf16, Dtype::Bf16);
    let bytes = terms(&priced(&figures, &Model { formats: fp8, ..small(None) }, 1, VERIFY));
    table.row(
        Term::Weights,
        bytes.get(Term::Weights),
        137_728.0 / (WEIGHTS * 0.25),
        &[("two bytes each", 137_728.0 * 2.0 / (WEIGHTS * 0.25)), ("as fast as others", 137_728.0 / WEIGHTS)],
    );
    let flops = 2.0 * 137_728.0 * 12.0;
    table.row(
        Term::Arithmetic,
        bytes.get(Term::Arithmetic),
        flops / (FLOPS * 0.5),
        &[("as fast as others", flops / FLOPS), ("the factor of the bandwidth", flops / (FLOPS * 0.25))],
    );
    let whole = terms(&priced(&figures, &small(None), 1, VERIFY));
    let (read, slow) = (137_728.0 * 2.0 / WEIGHTS, 137_728.0 * 2.0 / (WEIGHTS * 0.25));
    table.row(Term::Weights, whole.get(Term::Weights), read, &[("factors on weights of two bytes", slow)]);
    table
}

/// All that [`dense`] adds up for a pass.
pub(super) const DENSE: f64 = 9.0 * 4e-6
    + 2.0 * 12e-6
    + (137_728.0 + 17.0 * 64.0) * 2.0 / WEIGHTS
    + (2.0 * 137_728.0 * 12.0 + 4.0 * 2.0 * 64.0 * 3.0 * 410.0) / FLOPS
    + (256.0 * 300.0 + 256.0 * 12.0) / KV;

/// 61 us of kernels and traffic, and launches that take 500 us for each of the two layers.
pub(super) fn floor() -> Table {
    let mut table = Table::new("floor");
    let at = |floor| priced(&Figures { floor: Some(floor), ..FIGURES }, &small(None), 1, VERIFY);
    let high = at(500e-6);
    let missing = terms(&high).get(Term::LayerFloor);
    table.row(
        Term::LayerFloor,
        missing,
        2.0 * 500e-6 - DENSE,
        &[("the floor on top", 2.0 * 500e-6), ("one layer", 500e-6 - DENSE), ("left out", 0.0)],
    );
    table.row(
        Term::LayerFloor,
        high.seconds(),
        2.0 * 500e-6,
        &[("added in place of the longer", 2.0 * 500e-6 + DENSE), ("left out", DENSE)],
    );
    // 2 us a layer: below the pass, which stays as it is.
    table.row(
        Term::LayerFloor,
        at(2e-6).seconds(),
        DENSE,
        &[("added in place of the longer", 2.0 * 2e-6 + DENSE), ("in place of the pass", 2.0 * 2e-6)],
    );
    table
}

/// A plain step and a round of three drafts by an EAGLE-3 head with 500 rows of its own.
pub(super) fn engine() -> Table {
    let mut table = Table::new("engine");
    let (device, engine) = (FIGURES.device(), FIGURES.engine());
    let (target, source) = (small(None), eagle3(500));
    let costs = |without: &[Term]| -> (PassCost, Round) {
        let setup =
            setup(&On { device: &device, engine: &engine, devices: 1, without }, &target, Some(drafts(&source)));
        let plain = plain_step(&setup, 3.0, 100.0);
        (plain, round(&setup, &plain, 3.0, 100.0, 3, 1.0))
    };
    let (plain, whole) = costs(&[]);
    let once = &[("left out", 0.0), ("for each sequence", 3.0 * 1350e-6), ("for each verified token", 4.0 * 1350e-6)];
    table.row(Term::Step, terms(&plain).get(Term::Step), 1350e-6, once);
    table.row(Term::Step, terms(&whole.verify).get(Term::Step), 1350e-6, once);
    // The head: one layer whose qkv reads 128 wide, 128 x 128 + 4096 + 24576, and 500 x 64: 77056 parameters
    // in 5 products. A pass of one token reads 3 rows and 4 normalisations of 64 (one of the hidden state), sees 101 keys, reads 100
    // cached tokens of 128 B and writes one, for each of 3 sequences.
    let head = 5.0 * 4e-6
        + 12e-6
        + (77_056.0 + 7.0 * 64.0) * 2.0 / WEIGHTS
        + (2.0 * 77_056.0 * 3.0 + 4.0 * 64.0 * 3.0 * 101.0) / FLOPS
        + 128.0 * 303.0 / KV;
    let draft = 3.0 * (head + 110e-6);
    table.row(
        Term::Draft,
        whole.draft,
        draft,
        &[
            ("once a round", 3.0 * head + 110e-6),
            ("left out", 3.0 * head),
            ("k + 1 draft passes", 4.0 * (head + 110e-6)),
            ("a draft pass as a step", 3.0 * (head + 1350e-6)),
        ],
    );
    table.row(
        Term::Round,
        costs(&[Term::Sequence]).1.fixed,
        460e-6,
        &[("left out", 0.0), ("for each draft", 3.0 * 460e-6), ("for each sequence", 3.0 * 460e-6)],
    );
    table.row(
        Term::Sequence,
        costs(&[Term::Round]).1.fixed,
        3.0 * 7e-6,
        &[("not times the batch", 7e-6), ("for each verified token", 12.0 * 7e-6), ("left out", 0.0)],
    );
    let beside = 1350e-6 + 460e-6 + 3.0 * 7e-6;
    table.row(
        Term::Round,
        whole.seconds(1.0),
        draft + DENSE + beside,
        &[
            ("no verification", draft + beside),
            ("a step of its own for the drafts", draft + DENSE + beside + 1350e-6),
            ("no step", draft + DENSE + 460e-6 + 3.0 * 7e-6),
        ],
    );
    table
}
