//! Real models on an H100, with the built-in efficiencies of its family: 0.9 of 3.35 TB/s, 0.72 of
//! 989.4 TFLOP/s, 4 us a product, 12 us an attention, 0.7 of 450 GB/s.
//!
//! 16 sequences verify 4 tokens each after 400 cached ones: 64 new tokens.

use super::*;

const WEIGHTS: f64 = 0.9 * 3.35e12;
const FLOPS: f64 = 0.72 * 989.4e12;

fn verified(id: &str, devices: u64) -> Terms {
    let (device, engine) = h100();
    let target = target(id);
    let setup = setup(&On { device: &device, engine: &engine, devices, without: &[] }, &target, None);
    terms(&pass(&target, setup.pricing(), PassShape::verify(16.0, 4.0, 400.0)))
}

/// Llama-3.1-8B multiplies 32 x 218,103,808 + 128,256 x 4096 = 7,504,658,432 parameters, and keeps
/// 2 x 32 x 8 x 128 x 2 = 131,072 bytes for each token.
pub(super) fn llama() -> Table {
    let mut table = Table::new("Llama-3.1-8B");
    let cost = verified("llama-3.1-8b", 1);
    let mut row = |term, by_hand, broken: &[_]| table.row(term, cost.get(term), by_hand, broken);
    // 32 x 4 + 1 = 129 products.
    row(Term::ProductKernels, 516e-6, &[("no LM head", 512e-6), ("gate and up apart", 644e-6)]);
    row(Term::AttentionKernels, 384e-6, &[("once for each KV head", 8.0 * 384e-6)]);
    // 15.009 GB take 4.978 ms.
    row(
        Term::Weights,
        15_009_316_864.0 / WEIGHTS,
        &[
            ("all of memory", 16_060_522_496.0 / WEIGHTS),
            ("without the LM head", 13_958_643_712.0 / WEIGHTS),
            ("at the datasheet's bandwidth", 15_009_316_864.0 / 3.35e12),
        ],
    );
    // 64 rows of 4096 and 65 normalisations.
    row(
        Term::SmallReads,
        (64.0 + 65.0) * 4096.0 * 2.0 / WEIGHTS,
        &[("the whole embedding table", (128_256.0 + 65.0) * 4096.0 * 2.0 / WEIGHTS)],
    );
    // 0.961 TFLOP take 1.348 ms.
    row(
        Term::Arithmetic,
        2.0 * 7_504_658_432.0 * 64.0 / FLOPS,
        &[
            ("all of memory", 2.0 * 8_030_261_248.0 * 64.0 / FLOPS),
            ("at the datasheet's peak", 2.0 * 7_504_658_432.0 * 64.0 / 989.4e12),
            ("at the peak with sparsity", 2.0 * 7_504_658_432.0 * 64.0 / FLOPS / 2.0),
        ],
    );
    // 401 + 402 + 403 + 404 = 1610 keys.
    row(
        Term::AttentionArithmetic,
        4.0 * 32.0 * 4096.0 * 16.0 * 1610.0 / FLOPS,
        &[("cached keys only", 4.0 * 32.0 * 4096.0 * 16.0 * 1600.0 / FLOPS)],
    );
    row(
        Term::KvRead,
        131_072.0 * 400.0 * 16.0 / WEIGHTS,
        &[
            ("once for each new token", 131_072.0 * 400.0 * 64.0 / WEIGHTS),
            ("once for each query head", 4.0 * 131_072.0 * 400.0 * 16.0 / WEIGHTS),
        ],
    );
    row(Term::KvWrite, 131_072.0 * 64.0 / WEIGHTS, &[("one token for each sequence", 131_072.0 * 16.0 / WEIGHTS)]);
    table
}

/// Its 8 KV heads go one to each device.
pub(super) fn llama_on_eight() -> Table {
    let mut table = Table::new("Llama-3.1-8B on eight");
    let cost = verified("llama-3.1-8b", 8);
    let mut row = |term, by_hand, broken: &[_]| table.row(term, cost.get(term), by_hand, broken);
    row(Term::Weights, 15_009_316_864.0 / 8.0 / WEIGHTS, &[("not divided", 15_009_316_864.0 / WEIGHTS)]);
    row(
        Term::Arithmetic,
        2.0 * 7_504_658_432.0 * 64.0 / 8.0 / FLOPS,
        &[("not divided", 2.0 * 7_504_658_432.0 * 64.0 / FLOPS)],
    );
    let kv = 131_072.0 * 400.0 * 16.0 / WEIGHTS;
    row(Term::KvRead, kv / 8.0, &[("on each device in full", kv)]);
    // 64 all-reduces of 7.89 us.
    row(Term::AllReduceStart, 64.0 * 7.89e-6, &[("one a layer", 32.0 * 7.89e-6), ("seven hops", 448.0 * 7.89e-6)]);
    // 64 times 2 x 7/8 of 64 x 4096 x 2 B = 524,288 B at 315 GB/s: 186 us.
    let once = 524_288.0 / (0.7 * 450e9);
    row(
        Term::AllReduceTraffic,
        64.0 * 1.75 * once,
        &[
            ("one way round the ring", 64.0 * 0.875 * once),
            ("without (n - 1) / n", 64.0 * 2.0 * once),
            ("at both directions of the link", 64.0 * 1.75 * once / 2.0),
        ],
    );
    table
}

/// Qwen3-30B-A3B: 48 layers of attention, 2048 x 5120 + 4096 x 2048 = 18,874,368, a router of 2048 x 128
/// = 262,144, and 128 experts of 3 x 2048 x 768 = 4,718,592, of which a token picks 8; an LM head of
/// 151,936 x 2048 = 311,164,928.
pub(super) fn qwen() -> Table {
    let mut table = Table::new("Qwen3-30B-A3B");
    let cost = verified("qwen3-30b-a3b", 1);
    let mut row = |term, by_hand, broken: &[_]| table.row(term, cost.get(term), by_hand, broken);
    let params = |experts: f64| 48.0 * (18_874_368.0 + 262_144.0 + experts * 4_718_592.0) + 311_164_928.0;
    let distinct = |tokens: f64| 128.0 * (1.0 - (120.0_f64 / 128.0).powf(tokens));
    row(Term::ProductKernels, 193.0 * 4e-6, &[("each picked expert", (48.0 * 18.0 + 1.0) * 4e-6)]);
    row(Term::Routing, 48.0 * 27.3e-6, &[("once a pass", 27.3e-6), ("left out", 0.0)]);
    // 16 x 4^0.55 = 34.297 independent tokens read 114.0 of 128 experts.
    row(
        Term::Weights,
        params(distinct(16.0 * 4.0_f64.powf(0.55))) * 2.0 / WEIGHTS,
        &[
            ("all tokens independent", params(distinct(64.0)) * 2.0 / WEIGHTS),
            ("a share of the others", params(distinct(38.944)) * 2.0 / WEIGHTS),
            ("the picked ones of one token", params(8.0) * 2.0 / WEIGHTS),
            ("all experts", params(128.0) * 2.0 / WEIGHTS),
        ],
    );
    row(
        Term::Arithmetic,
        2.0 * 64.0 * params(8.0) / FLOPS,
        &[
            ("all experts", 2.0 * 64.0 * params(128.0) / FLOPS),
            ("the distinct experts", 2.0 * 64.0 * params(distinct(38.944)) / FLOPS),
        ],
    );
    table
}
