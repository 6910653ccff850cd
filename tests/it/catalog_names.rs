//! Entries by names as they are written elsewhere.

use std::fs::{create_dir_all, write};

use specplan::catalog::builtin;
use specplan::words::Kind;

use crate::program::{folder, run, run_well};

/// Names as engineers write them, and the ids they mean.
#[test]
fn a_name_that_only_one_entry_fits_shows_it() {
    let folder = folder();
    for (name, id) in [
        ("4090", "rtx-4090"),
        ("mi300", "mi300x"),
        ("NVIDIA H100 SXM", "h100-sxm5-80gb"),
        ("L40", "l40-48gb"),
        // As drivers report them.
        ("NVIDIA H100 80GB HBM3", "h100-sxm5-80gb"),
        ("NVIDIA H200", "h200-sxm-141gb"),
        ("NVIDIA A100-SXM4-80GB", "a100-sxm4-80gb"),
        ("NVIDIA GH200 480GB", "gh200-96gb"),
        ("NVIDIA RTX PRO 6000 Blackwell Server Edition", "rtx-pro-6000-server"),
        ("Tesla V100-SXM2-16GB", "v100-sxm2-16gb"),
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
         h100-nvl-94gb    hardware  NVIDIA H100 NVL 94GB (per card)\n  \
         h100-pcie-80gb   hardware  NVIDIA H100 PCIe 80GB\n  \
         h100-hbm2e-94gb  hardware  NVIDIA H100 94GB HBM2e\n  \
         h100-sxm5-80gb   hardware  NVIDIA H100 SXM5 80GB\n  \
         founding-h100    hardware  H100 of the founding study\n"
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
            "did you mean \"h100-nvl-94gb\" or \"h100-pcie-80gb\" or \"h100-hbm2e-94gb\" or \"h100-sxm5-80gb\" or \"founding-h100\"?",
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
    let list = run(folder.path(), &["catalog", "list", "hardware"]);
    assert!(list.code == 3 && list.stdout.contains(" mi300x "), "{}", list.stdout);
    assert!(list.stderr.contains("rack-7.toml:1:12") && list.stderr.contains("rack-8.toml:1"), "{}", list.stderr);
    // What other programs read is whole or not there.
    let json = run(folder.path(), &["catalog", "list", "hardware", "--format", "json"]);
    assert_eq!((json.code, json.stdout.as_str()), (3, ""));
}
