//! The operators of one verification of each shipped study of a served model, by hand: one layer of each kind,
//! 2 sequences of 4 new tokens after 3000 cached ones, on one device.
//!
//! Eight tokens attend to 2 x (3001 + 3002 + 3003 + 3004) = 24020 keys, or within a window of W to 8 W. Cached
//! tokens are read once for each of the two sequences. Figures are those of the models' config.json.
#![expect(clippy::panic, reason = "a test stops at what it did not expect")]

use specplan::catalog::load::{Entry, Request, entry, load};
use specplan::catalog::lookup::SearchPath;
use specplan::cost::ops::{Ops, Work};
use specplan::cost::placement::Placement;
use specplan::cost::shape::PassShape;
use specplan::domain::layers::{Extras, LayerGroup, Layers};
use specplan::domain::model::{Model, Shape};
use specplan::words::{Kind, OpName, Word};

const NEW: f64 = 8.0;
const KEYS: f64 = 24_020.0;
/// Cached tokens of both sequences.
const CACHED: f64 = 6000.0;

/// One layer of a group of a study's target, in the formats that the study prices.
fn one_layer(study: &str, group: usize) -> Ops {
    sliced(study, group, 1)
}

fn sliced(study: &str, group: usize, devices: u64) -> Ops {
    let request = Request { scenario: study, changes: &[], seed: None, published: false };
    let loaded = load(&SearchPath::default(), &request).unwrap_or_else(|found| panic!("{found:#?}"));
    of_model(&loaded.scenario.targets[0], group, devices)
}

/// One layer of a group of a model, in the formats of its file.
fn of_model(target: &Model, group: usize, devices: u64) -> Ops {
    let Shape::Layers(layers) = &target.shape else { panic!("{} has no layers", target.id) };
    let group = LayerGroup { count: 1, ..layers.groups()[group] };
    let hidden = layers.hidden() as u64;
    let one = Layers::new(hidden, 1, false, vec![group], Extras::default()).unwrap();
    let model = Model { shape: Shape::Layers(one.clone()), ..target.clone() };
    Ops::of(&model, &one, &[PassShape::verify(2.0, 4.0, 3000.0)], &Placement { devices, ..Placement::SINGLE })
}

/// A matrix product of all new tokens, its weights read once.
fn product(params: f64, bytes: f64) -> [f64; 4] {
    [2.0 * NEW * params, params * bytes, 0.0, 0.0]
}

/// Attention: FLOPs for each key, keys, bytes of a cached token, cached tokens read.
fn attention(each_key: f64, keys: f64, token: f64, cached: f64) -> [f64; 4] {
    [each_key * keys, 0.0, token * cached, token * NEW]
}

/// Experts that eight tokens pick independently, and what they multiply: parameters of one expert.
fn experts(all: f64, top_k: f64, params: f64, bytes: f64) -> [f64; 4] {
    let distinct = all * (1.0 - (1.0 - top_k / all).powi(8));
    [2.0 * NEW * top_k * params, distinct * params * bytes, 0.0, 0.0]
}

/// Every operator of the layer but what is read beside matrices and the ends of the model.
fn check(study: &str, group: usize, expected: &[(OpName, [f64; 4])]) {
    compare(study, group, &one_layer(study, group), expected);
}

/// The same for a model of the catalog that no study names.
fn check_model(id: &str, group: usize, expected: &[(OpName, [f64; 4])]) {
    let Entry::Model(model) = entry(&SearchPath::default(), Kind::Models, id).unwrap().0 else { panic!("{id}") };
    compare(id, group, &of_model(&model, group, 1), expected);
}

fn compare(study: &str, group: usize, ops: &Ops, expected: &[(OpName, [f64; 4])]) {
    let beside = [OpName::Embed, OpName::Norms, OpName::LmHead];
    let names: Vec<&str> =
        ops.iter().map(|(name, _)| name).filter(|name| !beside.contains(name)).map(Word::as_str).collect();
    assert_eq!(names, expected.iter().map(|(name, _)| name.as_str()).collect::<Vec<&str>>(), "{study}, group {group}");
    for (name, by_hand) in expected {
        let Work { flops, weights, kv_read, kv_written } = ops.work(*name);
        let got = [flops.get(), weights.get(), kv_read.get(), kv_written.get()];
        for (got, by_hand) in got.into_iter().zip(by_hand) {
            let near = (got - by_hand).abs() <= 1e-12 * by_hand.abs();
            assert!(near, "{study}, group {group}, {name}: {got} is not {by_hand}");
        }
    }
}

/// Latent attention of H heads: 1536 and 512 of rank, heads of 128 + 64 and 128, hidden 7168; fp8 weights, a bf16
/// cache of 576 values.
fn latent(heads: f64) -> Vec<(OpName, [f64; 4])> {
    let projections = 7168.0 * 1536.0 + 1536.0 * heads * 192.0 + 7168.0 * 576.0;
    vec![
        (OpName::Qkv, product(projections, 1.0)),
        (OpName::Absorb, product(512.0 * heads * 256.0, 1.0)),
        (OpName::Attention, attention(2.0 * heads * (576.0 + 512.0), KEYS, 1152.0, CACHED)),
        (OpName::O, product(heads * 128.0 * 7168.0, 1.0)),
    ]
}

fn gated(hidden: f64, width: f64, bytes: f64) -> Vec<(OpName, [f64; 4])> {
    vec![(OpName::GateUp, product(2.0 * hidden * width, bytes)), (OpName::Down, product(width * hidden, bytes))]
}

/// Experts of three matrices, with a shared one as wide, if there is one.
fn mixture(hidden: f64, all: f64, top_k: f64, width: f64, shared: bool, bytes: [f64; 2]) -> Vec<(OpName, [f64; 4])> {
    let each = 3.0 * hidden * width;
    let mut found =
        vec![(OpName::Router, product(hidden * all, bytes[0])), (OpName::Experts, experts(all, top_k, each, bytes[1]))];
    found.extend(shared.then(|| (OpName::SharedExperts, product(each, bytes[0]))));
    found
}

/// Grouped queries in bf16: hidden, query heads, KV heads, head size.
fn grouped(
    hidden: f64,
    heads: f64,
    kv_heads: f64,
    dim: f64,
    window: Option<f64>,
    bytes: f64,
) -> Vec<(OpName, [f64; 4])> {
    let (keys, cached) = window.map_or((KEYS, CACHED), |window| (NEW * window, 2.0 * (window - 1.0)));
    vec![
        (OpName::Qkv, product(hidden * (heads + 2.0 * kv_heads) * dim, bytes)),
        (OpName::Attention, attention(4.0 * heads * dim, keys, 4.0 * kv_heads * dim, cached)),
        (OpName::O, product(heads * dim * hidden, bytes)),
    ]
}

#[test]
fn deepseek_v3_by_hand() {
    check("deepseek-v3-mtp", 0, &[latent(128.0), gated(7168.0, 18_432.0, 1.0)].concat());
    check("deepseek-v3-mtp", 1, &[latent(128.0), mixture(7168.0, 256.0, 8.0, 2048.0, true, [1.0, 1.0])].concat());
}

/// Sliced over eight devices each keeps the projections down to the ranks and the router whole, and a share of the
/// rest; the latent of every sequence.
#[test]
fn a_slice_of_latent_attention_by_hand() {
    let ops = sliced("deepseek-v3-mtp", 1, 8);
    let weights = |name: OpName| ops.work(name).weights.get();
    let down = 7168.0 * 1536.0 + 7168.0 * 576.0;
    for (got, by_hand) in [
        (weights(OpName::Qkv), down + 1536.0 * 128.0 * 192.0 / 8.0),
        (weights(OpName::Router), 7168.0 * 256.0),
        (weights(OpName::O), 128.0 * 128.0 * 7168.0 / 8.0),
        (ops.work(OpName::Qkv).flops.get(), 2.0 * NEW * (down + 1536.0 * 128.0 * 192.0 / 8.0)),
        (ops.work(OpName::Attention).kv_read.get(), 1152.0 * CACHED),
    ] {
        assert!((got - by_hand).abs() <= 1e-12 * by_hand, "{got} is not {by_hand}");
    }
}

#[test]
fn kimi_k2_by_hand() {
    check("kimi-k2", 0, &[latent(64.0), gated(7168.0, 18_432.0, 1.0)].concat());
    check("kimi-k2", 1, &[latent(64.0), mixture(7168.0, 384.0, 8.0, 2048.0, true, [1.0, 1.0])].concat());
}

/// In fp8, as the study prices it.
#[test]
fn qwen3_235b_by_hand() {
    let attention = grouped(4096.0, 64.0, 4.0, 128.0, None, 1.0);
    check("qwen3-235b-eagle3", 0, &[attention, mixture(4096.0, 128.0, 8.0, 1536.0, false, [1.0, 1.0])].concat());
}

/// Experts of 4.25 bits beside bf16; windows of 128 in every other layer.
#[test]
fn gpt_oss_by_hand() {
    for (group, window) in [(0, Some(128.0)), (1, None)] {
        let attention = grouped(2880.0, 64.0, 8.0, 64.0, window, 2.0);
        let mixture = mixture(2880.0, 128.0, 4.0, 2880.0, false, [2.0, 4.25 / 8.0]);
        check("gpt-oss-120b", group, &[attention, mixture].concat());
    }
}

#[test]
fn gemma_3_by_hand() {
    for (group, window) in [(0, Some(1024.0)), (1, None)] {
        let attention = grouped(5376.0, 32.0, 16.0, 128.0, window, 2.0);
        check("gemma-3-27b-ngram", group, &[attention, gated(5376.0, 21_504.0, 2.0)].concat());
    }
}

#[test]
fn llama_70b_by_hand() {
    let attention = grouped(8192.0, 64.0, 8.0, 128.0, None, 1.0);
    check("llama-70b-fp8", 0, &[attention, gated(8192.0, 28_672.0, 1.0)].concat());
}

/// Linear attention of 16 keys and 32 values of 128 (q, k, v, a gate as wide as v, two scalars for each value
/// head), a state of 32 x 128 x 128 kept in fp32 and three columns of the convolution, read for each sequence and
/// written for each new token; in every fourth layer gated full attention, whose query projection is twice as wide.
#[test]
fn qwen3_next_by_hand() {
    let mixture = mixture(2048.0, 512.0, 10.0, 512.0, true, [2.0, 2.0]);
    let state = 32.0 * 128.0 * 128.0;
    let held = state * 4.0 + 3.0 * (2048.0 + 2048.0 + 4096.0) * 2.0;
    let linear = vec![
        (OpName::Qkv, product(2048.0 * (2048.0 + 2048.0 + 4096.0 + 4096.0 + 64.0), 2.0)),
        (OpName::State, [7.0 * state * NEW, 0.0, held * 2.0, held * NEW]),
        (OpName::O, product(4096.0 * 2048.0, 2.0)),
    ];
    check("qwen3-next-mtp", 0, &[linear, mixture.clone()].concat());
    let full = vec![
        (OpName::Qkv, product(2048.0 * (2.0 * 16.0 + 2.0 * 2.0) * 256.0, 2.0)),
        (OpName::Attention, attention(4.0 * 16.0 * 256.0, KEYS, 2048.0, CACHED)),
        (OpName::O, product(16.0 * 256.0 * 2048.0, 2.0)),
    ];
    check("qwen3-next-mtp", 1, &[full, mixture].concat());
}

/// DeepSeek-V3.2: 64 heads of 128 score all 24020 keys over one cached key of 128, and each token then
/// sees the 2048 that it selected.
#[test]
fn selected_tokens_by_hand() {
    let selector = 1536.0 * 64.0 * 128.0 + 7168.0 * (128.0 + 64.0);
    let projections = 7168.0 * 1536.0 + 1536.0 * 128.0 * 192.0 + 7168.0 * 576.0;
    let flops = 2.0 * 128.0 * (576.0 + 512.0) * NEW * 2048.0 + 2.0 * 64.0 * 128.0 * KEYS;
    // Four tokens may select 8192: together they read all 3000 that there are.
    let read = (576.0 + 128.0) * CACHED * 2.0;
    let sparse = vec![
        (OpName::Qkv, product(projections + selector, 1.0)),
        (OpName::Absorb, product(512.0 * 128.0 * 256.0, 1.0)),
        (OpName::Attention, [flops, 0.0, read, (576.0 + 128.0) * 2.0 * NEW]),
        (OpName::O, product(128.0 * 128.0 * 7168.0, 1.0)),
    ];
    check_model("deepseek-v3.2", 0, &[sparse, gated(7168.0, 18_432.0, 1.0)].concat());
}

/// MiMo-V2-Flash: keys of 192 and values of 128, 4 KV heads that see all and 8 within a window of 128.
#[test]
fn values_of_another_width_by_hand() {
    let of = |kv_heads: f64, keys: f64, cached: f64| {
        vec![
            (OpName::Qkv, product(4096.0 * (64.0 * 192.0 + kv_heads * 320.0), 1.0)),
            (OpName::Attention, attention(2.0 * 64.0 * 320.0, keys, kv_heads * 320.0 * 2.0, cached)),
            (OpName::O, product(64.0 * 128.0 * 4096.0, 1.0)),
        ]
    };
    check_model("mimo-v2-flash", 0, &[of(4.0, KEYS, CACHED), gated(4096.0, 16_384.0, 1.0)].concat());
    let mixture = mixture(4096.0, 256.0, 8.0, 2048.0, false, [1.0, 1.0]);
    check_model("mimo-v2-flash", 1, &[of(8.0, NEW * 128.0, 2.0 * 127.0), mixture].concat());
}

/// Nemotron-3-Super: 22 of 512 experts of two matrices, over a latent of 1024 that two matrices lead to and from.
#[test]
fn plain_experts_over_a_latent_by_hand() {
    let experts = experts(512.0, 22.0, 2.0 * 1024.0 * 2688.0, 2.0);
    let mixture = vec![
        (OpName::Router, product(4096.0 * 512.0 + 2.0 * 4096.0 * 1024.0, 2.0)),
        (OpName::Experts, experts),
        (OpName::SharedExperts, product(2.0 * 4096.0 * 5376.0, 2.0)),
    ];
    check_model("nemotron-3-super-120b-a12b", 1, &mixture);
}

/// Gemma-4: where all is seen, values come from the keys' projection and are cached beside them.
#[test]
fn shared_values_by_hand() {
    let full = vec![
        (OpName::Qkv, product(2816.0 * (16.0 + 2.0) * 512.0, 2.0)),
        (OpName::Attention, attention(4.0 * 16.0 * 512.0, KEYS, 2.0 * 2.0 * 512.0 * 2.0, CACHED)),
        (OpName::O, product(16.0 * 512.0 * 2816.0, 2.0)),
    ];
    let (each, shared) = (3.0 * 2816.0 * 704.0, 3.0 * 2816.0 * 2112.0);
    let mixture = vec![
        (OpName::Router, product(2816.0 * 128.0, 2.0)),
        (OpName::Experts, experts(128.0, 8.0, each, 2.0)),
        (OpName::SharedExperts, product(shared, 2.0)),
    ];
    check_model("gemma-4-26b-a4b", 1, &[full, mixture].concat());
}
