//! Every file under `tests/bad` has its exact message as a snapshot; so have wrong command lines.

use std::path::{Path, PathBuf};

use crate::program::{Ran, folder, names, run};

fn bad() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/bad")
}

/// The message with its exit code, as a snapshot shows it.
fn shown(ran: &Ran) -> String {
    assert_eq!(ran.stdout, "", "a refused input prints no result");
    assert!(!ran.stderr.contains("panicked"), "{}", ran.stderr);
    format!("exit {}\n{}", ran.code, ran.stderr.replace('\\', "/"))
}

#[test]
fn every_bad_file_is_refused_with_its_message() {
    let scenarios: Vec<String> = names(&bad()).into_iter().filter(|name| name.ends_with(".toml")).collect();
    assert!(scenarios.len() >= 20, "{scenarios:?}");
    for name in scenarios {
        let ran = run(&bad(), &["sweep", "--write", "none", "--scenario", &format!("./{name}")]);
        assert_eq!(ran.code, 3, "{name}: {}", ran.stderr);
        insta::assert_snapshot!(name.trim_end_matches(".toml"), shown(&ran));
    }
}

#[test]
fn every_bad_configuration_is_refused_with_its_message() {
    for name in names(&bad().join("configs")) {
        let ran = run(&bad(), &["import", "hf", &format!("configs/{name}")]);
        assert_eq!(ran.code, 3, "{name}: {}", ran.stderr);
        insta::assert_snapshot!(format!("import-{}", name.trim_end_matches(".json")), shown(&ran));
    }
}

#[test]
fn every_wrong_command_line_is_refused_with_its_message() {
    let lines: [(&str, &[&str]); 18] = [
        ("set-unknown-key", &["--set", "sweep.bacth=[1]"]),
        ("set-unknown-drafter", &["--set", "drafters.llama1b.constant.cost_ratio=0"]),
        ("set-through-a-value", &["--set", "title.x=3"]),
        ("set-without-a-value", &["--set", "sweep.batch"]),
        ("set-wrong-unit", &["--set", "memory.reserve=\"3 TB/s\""]),
        ("set-bad-values", &["--set", "sweep.k=[1,-2]", "--set", "sweep.context={from=5,to=2,step=1}"]),
        ("set-bad-path", &["--set", "sweep..batch=[1]"]),
        ("set-too-many-points", &["--set", "sweep.batch={from=1,to=1000000000000000,step=1}"]),
        ("unknown-engine", &["--engine", "vlm"]),
        ("max-points", &["--max-points", "10"]),
        ("set-too-many-alphas", &["--set", "drafters.llama-1b.acceptance.iid.alpha={from=0,to=1,step=1e-13}"]),
        ("set-twice", &["--set", "tensor_parallel=[1,1]", "--set", "hardware=['founding-h100','founding-h100']"]),
        ("set-step-too-small", &["--set", "drafters.llama-1b.acceptance.iid.alpha={from=0.9,to=1,step=1e-18}"]),
        ("unknown-hardware", &["--set", "hardware=H100"]),
        ("unknown-flag", &["--treads", "4"]),
        ("unknown-form", &["--write", "csv,pgn"]),
        ("none-and-more", &["--write", "none,csv"]),
        ("no-catalog", &["--catalog", "nowhere"]),
    ];
    let folder = folder();
    for (name, flags) in lines {
        let ran = run(folder.path(), &[&["sweep"], flags].concat());
        assert_eq!(ran.code, 2, "{name}: {}", ran.stderr);
        insta::assert_snapshot!(format!("line-{name}"), shown(&ran));
    }
    assert_eq!(names(folder.path()), [""; 0], "nothing was written");
}

/// A value that is sound where it stands but does not go with the rest of the study is no slip of the
/// command line.
#[test]
fn parts_that_do_not_go_together_are_wrong_inputs() {
    let folder = folder();
    for (set, named) in [
        ("roofline=per_op", "per_op"),
        ("roofline=additive", "no terms to add"),
        ("engine=vllm", "needs its layers"),
        ("tensor_parallel=2", "no [link]"),
    ] {
        let ran = run(folder.path(), &["sweep", "--set", set]);
        assert_eq!(ran.code, 3, "{set}: {}", ran.stderr);
        assert!(ran.stderr.contains(named) && ran.stderr.contains("hint"), "{}", ran.stderr);
    }
}

#[test]
fn a_missing_scenario_is_named() {
    let folder = folder();
    for (scenario, code) in [("./nowhere.toml", 3), ("nothing-of-that-name", 3), ("", 3), ("..", 3)] {
        let ran = run(folder.path(), &["sweep", "--scenario", scenario]);
        assert_eq!(ran.code, code, "{scenario}: {}", ran.stderr);
        assert!(ran.stderr.contains(scenario) && ran.stderr.contains("hint"), "{}", ran.stderr);
    }
}

/// 10 MB of junk, of several kinds, are refused at once.
#[test]
fn junk_is_refused_quickly() {
    let folder = folder();
    let mut state = 1_u32;
    let noise: Vec<u8> = std::iter::repeat_with(|| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 24) as u8
    })
    .take(10_000_000)
    .collect();
    let text = |pattern: &str, bytes: usize| pattern.repeat(bytes / pattern.len()).into_bytes();
    let mixed: String = (0..150_000).map(|n| format!("a=1\nb{n}=1\nc{n} = \n")).collect();
    let junk: [(&str, Vec<u8>); 7] = [
        ("mixed", mixed.into_bytes()),
        ("noise", noise),
        ("line", text("x", 10_000_000)),
        ("brackets", text("[", 3_000_000)),
        ("keys", text("@@ = \n", 3_000_000)),
        ("nested", [text("a = [", 5), text("[", 100_000)].concat()),
        ("list", [b"title = [".to_vec(), text("1,", 3_000_000)].concat()),
    ];
    for (name, bytes) in junk {
        let path = folder.path().join(format!("{name}.toml"));
        std::fs::write(&path, bytes).unwrap();
        let start = std::time::Instant::now();
        let ran = run(folder.path(), &["sweep", "--scenario", &format!("./{name}.toml")]);
        // Linear in its size it takes a second or two in a debug build; quadratic, minutes.
        assert!(start.elapsed().as_secs() < 30, "{name} took {:?}", start.elapsed());
        assert_eq!(ran.code, 3, "{name}: {}", ran.stderr.chars().take(400).collect::<String>());
        assert!(ran.stderr.len() < 20_000, "{name}: a message of {} bytes", ran.stderr.len());
        assert!(ran.stderr.contains(&format!("{name}.toml")), "{name}");
    }
}
