//! The catalog as one looks for something in it: figures that follow, lists, filters, names.

use specplan::catalog::load::{Entry, entry};
use specplan::catalog::lookup::SearchPath;
use specplan::domain::formats::Format;
use specplan::domain::model::Model;
use specplan::units::Bytes;
use specplan::words::{Dtype, Kind};

fn model(id: &str) -> Model {
    match entry(&SearchPath::default(), Kind::Models, id).unwrap().0 {
        Entry::Model(model) => model,
        _ => unreachable!("{id} lies among the models"),
    }
}

/// As their authors print them, in billions (model cards, papers). gpt-oss leaves the input embedding out: 201,088 x
/// 2880 parameters.
#[test]
fn active_parameters_are_those_that_are_published() {
    assert_eq!(model("mixtral-8x7b").active_total(), Some(12_879_925_248.0));
    let embedding = 201_088.0 * 2880.0;
    for (id, left_out, published, within) in [
        ("mixtral-8x7b", 0.0, 12.9, 0.05),
        ("deepseek-v3", 0.0, 37.0, 0.6),
        ("deepseek-v2", 0.0, 21.0, 0.5),
        ("deepseek-v2-lite", 0.0, 2.4, 0.3),
        ("kimi-k2", 0.0, 32.0, 1.0),
        ("qwen3-30b-a3b", 0.0, 3.3, 0.06),
        ("qwen3-235b-a22b", 0.0, 22.0, 0.5),
        ("llama-4-scout", 0.0, 17.0, 0.5),
        ("gpt-oss-120b", embedding, 5.13, 0.005),
        ("gpt-oss-20b", embedding, 3.61, 0.005),
    ] {
        let active = (model(id).active_total().unwrap() - left_out) / 1e9;
        assert!((active - published).abs() < within, "{id}: {active} and {published}");
    }
    assert_eq!(model("llama-3.1-8b").active_total(), Some(8_030_261_248.0), "of a dense model all");
    assert_eq!(model("founding-llama-3-8b").active_total(), None, "totals do not tell");
}

/// gpt-oss-120b: 2 x 8 KV heads x 64 x 2 bytes in each of 18 full layers, and 128 tokens of that in each of 18 with a
/// window. Mixtral-8x7B: 46,702,792,704 parameters in each format.
#[test]
fn what_grows_with_the_context_stands_apart_from_what_does_not() {
    let gpt = model("gpt-oss-120b");
    assert_eq!(gpt.growing_kv_bytes_per_token(), Bytes::new(36_864.0));
    assert_eq!(gpt.kv_bytes_per_token(), Bytes::new(73_728.0));
    assert_eq!(gpt.window_kv_bytes_per_sequence(), Bytes::new(4_718_592.0));
    let mixtral = model("mixtral-8x7b");
    for (dtype, bytes) in [
        (Dtype::Bf16, 93_405_585_408.0),
        (Dtype::Fp8, 46_702_792_704.0),
        (Dtype::Int4, 24_081_127_488.0),
        (Dtype::Fp4, 26_270_320_896.0),
        (Dtype::Mxfp4, 24_810_858_624.0),
    ] {
        assert_eq!(mixtral.weight_bytes_in(Format::usual(dtype)), Bytes::new(bytes), "{dtype}");
    }
}
