//! The catalog as one looks for something in it: figures that follow, lists, filters, names.

use std::fs::{create_dir_all, write};

use specplan::catalog::builtin;
use specplan::catalog::load::{Entry, entry};
use specplan::catalog::lookup::SearchPath;
use specplan::domain::formats::Format;
use specplan::domain::model::Model;
use specplan::units::Bytes;
use specplan::words::{Dtype, Kind};

use crate::program::{folder, run, run_well};

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

/// Names as engineers write them, and the ids they mean.
#[test]
fn a_name_that_only_one_entry_fits_shows_it() {
    let folder = folder();
    for (name, id) in [
        ("4090", "rtx-4090"),
        ("mi300", "mi300x"),
        ("NVIDIA H100 SXM", "h100-sxm5-80gb"),
        ("L40", "l40-48gb"),
        ("Llama-3.1-8B-Instruct", "llama-3.1-8b"),
        ("meta-llama/Llama-3.1-8B-Instruct", "llama-3.1-8b"),
        ("qwen3 8b", "qwen3-8b"),
        ("deepseek r1", "deepseek-v3"),
        ("deepseek-ai/DeepSeek-R1-Distill-Llama-8B", "llama-3.1-8b"),
        ("GPT OSS 120B", "gpt-oss-120b"),
    ] {
        let ran = run_well(folder.path(), &["catalog", "show", name]);
        assert_eq!(ran.stderr, format!("\"{name}\" is {id}\n"));
        assert!(ran.stdout.starts_with(&format!("{id}, from <built-in>/")), "{name}: {}", ran.stdout);
    }
    assert_eq!(run_well(folder.path(), &["catalog", "show", "llama-3.1-8b"]).stderr, "", "an id is no guess");
}

#[test]
fn a_name_that_several_entries_fit_lists_them() {
    let folder = folder();
    let candidates = |name: &str| {
        let ran = run(folder.path(), &["catalog", "show", name]);
        assert_eq!((ran.code, ran.stdout.as_str()), (2, ""), "{name}");
        ran.stderr
    };
    assert_eq!(
        candidates("H100"),
        "error: \"H100\" fits several entries; name one by its id:\n  \
         h100-nvl-94gb   hardware  NVIDIA H100 NVL 94GB (per card)\n  \
         h100-pcie-80gb  hardware  NVIDIA H100 PCIe 80GB\n  \
         h100-sxm5-80gb  hardware  NVIDIA H100 SXM5 80GB\n  \
         founding-h100   hardware  H100 of the founding study\n"
    );
    for (name, ids) in [
        ("A100", &["a100-pcie-40gb", "a100-pcie-80gb", "a100-sxm4-40gb", "a100-sxm4-80gb"][..]),
        ("llama 8b", &["llama-3-8b", "llama-3.1-8b"]),
        ("tpu v5", &["tpu-v5e", "tpu-v5p"]),
    ] {
        let shown = candidates(name);
        assert!(ids.iter().all(|id| shown.contains(&format!("  {id} "))), "{name}: {shown}");
    }
    assert!(candidates("qwen").contains("more; another word tells them apart"));
    assert!(candidates("h100-sxm5-80bg").contains("did you mean \"h100-sxm5-80gb\"?"));
    assert!(candidates("\u{1b}[31m").contains("specplan catalog list"));
}

/// A study names what it means: a similar name is suggested there, and never taken.
#[test]
fn a_study_takes_no_similar_name() {
    let folder = folder();
    for (set, hint) in [
        (
            "hardware=H100",
            "did you mean \"h100-nvl-94gb\" or \"h100-pcie-80gb\" or \"h100-sxm5-80gb\" or \"founding-h100\"?",
        ),
        ("target=qwen3 8b", "did you mean \"qwen3-8b\"?"),
        ("target=Llama-3.1-8B-Instruct", "did you mean \"llama-3.1-8b\"?"),
        ("target=meta-llama/Llama-3.1-8B-Instruct", "did you mean \"llama-3.1-8b\"?"),
        ("target=qwen", "It fits"),
        ("hardware=[\"A100\"]", "did you mean \"a100-pcie-40gb\" or"),
    ] {
        let ran = run(folder.path(), &["sweep", "--write", "none", "--set", set]);
        assert_eq!(ran.code, 2, "{set}: {}", ran.stderr);
        assert!(ran.stderr.contains("error[unknown-id]") && ran.stderr.contains(hint), "{set}: {}", ran.stderr);
    }
    let ran = run(folder.path(), &["sweep", "--set", "target=meta-llama/../Llama-3.1-8B"]);
    assert!(ran.stderr.contains("error[not-found]"), "a path stays a path: {}", ran.stderr);
}

#[test]
fn files_may_state_other_names() {
    let folder = folder();
    create_dir_all(folder.path().join("hardware")).unwrap();
    let device = |alias: &str| {
        let text = builtin::text(Kind::Hardware, "mi300x").unwrap();
        write(folder.path().join("hardware/rack-7.toml"), format!("aliases = {alias}\n{text}")).unwrap();
    };
    device("[\"Old Faithful\", \"of the lab\"]");
    let ran = run_well(folder.path(), &["catalog", "show", "old faithful"]);
    assert!(ran.stdout.starts_with("rack-7, from hardware/rack-7.toml"), "{}", ran.stdout);
    device("[7]");
    let ran = run(folder.path(), &["catalog", "show", "rack-7"]);
    assert!(ran.code == 3 && ran.stderr.contains("`aliases` must be a string, not 7"), "{}", ran.stderr);
    assert!(ran.stderr.contains("rack-7.toml:1:12"), "{}", ran.stderr);
    // A file that is broken takes nothing from the others.
    write(folder.path().join("hardware/rack-8.toml"), "name = ").unwrap();
    run_well(folder.path(), &["catalog", "show", "4090"]);
}
