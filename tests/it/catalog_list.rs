//! The catalog as one looks for something in it: figures that follow, lists, filters.

use serde_json::Value;
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
        Entry::Model(model) => *model,
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

/// The ids of the built-in files of a kind that have a line.
fn ids_with(kind: Kind, line: &str) -> Vec<String> {
    let has = |id: &String| builtin::text(kind, id).unwrap().lines().any(|known| known == line);
    builtin::ids(kind).into_iter().filter(has).collect()
}

/// The ids of a CSV list with its other columns.
fn table(arguments: &[&str]) -> Vec<std::collections::HashMap<String, String>> {
    let ran = run_well(folder().path(), &[&["catalog"], arguments, &["--format", "csv"]].concat());
    let mut reader = csv::Reader::from_reader(ran.stdout.as_bytes());
    reader.deserialize().map(Result::unwrap).collect()
}

fn ids(arguments: &[&str]) -> Vec<String> {
    table(arguments).into_iter().map(|row| row["id"].clone()).collect()
}

#[test]
fn filters_keep_what_they_say() {
    assert_eq!(ids(&["list", "--vendor", "amd"]), ids_with(Kind::Hardware, "vendor = \"AMD\""));
    assert_eq!(ids(&["list", "hardware", "--vendor", "Nvidia"]), ids_with(Kind::Hardware, "vendor = \"NVIDIA\""));
    for role in ["target", "drafter", "head"] {
        assert_eq!(ids(&["list", "--role", role]), ids_with(Kind::Models, &format!("role = \"{role}\"")));
    }
}

/// Weights of Llama-3.1-8B: 2 x 8,030,261,248 bytes. gpt-oss-120b is made for one device of 80 GB, 70 billion
/// parameters in bf16 are not.
#[test]
fn weights_fit_up_to_the_last_byte() {
    let fits = |room: &str, id: &str| ids(&["list", "models", "--fits", room]).iter().any(|known| known == id);
    assert!(fits("16060522496 B", "llama-3.1-8b") && !fits("16060522495 B", "llama-3.1-8b"));
    for room in ["80GB", "80 GiB", "h100-sxm5-80gb", "H100 SXM"] {
        for id in ["gpt-oss-120b", "qwen3-32b", "eagle3-llama3.1-8b"] {
            assert!(fits(room, id), "{room}: {id}");
        }
        assert!(!fits(room, "llama-3.1-70b") && !fits(room, "deepseek-v3"), "{room}");
    }
    assert!(fits("141.2 GB", "llama-3.1-70b"));
    let folder = folder();
    let heading = |room: &str| {
        let ran = run_well(folder.path(), &["catalog", "list", "--fits", room]);
        ran.stdout.lines().next().unwrap().to_owned()
    };
    let counted = "KV cache and activations are not counted";
    assert_eq!(heading("80GB"), format!("models whose weights, as released, take at most 80 GB; {counted}"));
    assert_eq!(
        heading("h100-sxm5-80gb"),
        format!("models whose weights, as released, take at most 85.52 GB, the memory of h100-sxm5-80gb; {counted}")
    );
}

#[test]
fn filters_that_do_not_go_together_are_refused_with_what_does() {
    let folder = folder();
    for (arguments, said) in [
        (&["hardware", "--role", "target"][..], "--role is for models, not for hardware: leave it out, or list models"),
        (&["engines", "--vendor", "amd"], "--vendor is for hardware, not for engines"),
        (&["--vendor", "amd", "--fits", "80GB"], "--vendor is for hardware, --fits for models: ask for one"),
        (&["--vendor", "amdd"], "known vendors are AMD, Apple, AWS, Generic, Google, Huawei, Intel, NVIDIA"),
        (&["--role", "haed"], "[possible values: target, drafter, head]"),
        (&["--fits", "80gb"], "`gb` is not a unit of an amount of bytes; give bytes such as 80GB"),
        (&["--fits", "80"], "`80` has no unit"),
        (&["--fits", "80 GB/s"], "is bytes per second"),
        (&["--fits", "0 B"], "no memory has so many or so few bytes"),
        (&["--fits", "1e308 GB"], "no memory has so many or so few bytes"),
        (&["--fits", "A100"], "  a100-pcie-40gb  hardware"),
        (&["--fits", "qwen3-8b"], "nothing in hardware is called"),
        (&["--format", "csv"], "CSV holds one kind: name it, such as specplan catalog list models"),
    ] {
        let ran = run(folder.path(), &[&["catalog", "list"], arguments].concat());
        assert_eq!((ran.code, ran.stdout.as_str()), (2, ""), "{arguments:?}");
        assert!(ran.stderr.contains(said), "{arguments:?}: {}", ran.stderr);
    }
}

/// The smallest head has 349.5 MB of weights, the smallest model that drafts on its own, Qwen2.5-0.5B, 2 x
/// 494,032,768 bytes.
#[test]
fn an_empty_list_says_why_and_what_would_widen_it() {
    let folder = folder();
    let run = |flags: &[&str]| run_well(folder.path(), &[&["catalog", "list", "--fits", "1MB"], flags].concat());
    assert!(run(&[]).stdout.ends_with("has 349.5 MB of weights; give --fits more\n"), "{}", run(&[]).stdout);
    let why = "none: the smallest, qwen2.5-0.5b, has 988.1 MB of weights; give --fits more, or leave --role out\n";
    assert!(run(&["--role", "drafter"]).stdout.ends_with(why));
    let csv = run(&["--role", "drafter", "--format", "csv"]);
    assert_eq!((csv.stdout.lines().count(), csv.stderr.as_str()), (1, why), "the header row alone");
    assert!(csv.stdout.starts_with("id,name,role,"), "{}", csv.stdout);
    let json = run(&["--role", "drafter", "--format", "json"]);
    assert_eq!((json.stdout.as_str(), json.stderr.as_str()), ("{\n  \"models\": []\n}\n", why));
}

/// Figures of the vendor's datasheet and the model's authors; 2 x 32 layers x 8 KV heads x 128 x 2 bytes.
#[test]
fn csv_holds_plain_numbers_in_base_units() {
    let devices = table(&["list", "hardware"]);
    let row = devices.iter().find(|row| row["id"] == "mi300x").unwrap();
    for (column, cell) in [
        ("name", "AMD Instinct MI300X 192GB"),
        ("vendor", "AMD"),
        ("family", ""),
        ("memory_bytes", "206141652992"),
        ("bandwidth_bytes_per_s", "5300000000000"),
        ("bf16_flop_per_s", "1307400000000000"),
        ("fp8_flop_per_s", "2614900000000000"),
        ("fp4_flop_per_s", ""),
        ("link_bytes_per_s", "448000000000"),
        ("tdp_watts", "750"),
        ("usd_per_hour", "1.99"),
    ] {
        assert_eq!(row[column], cell, "{column}");
    }
    let models = table(&["list", "models"]);
    let cell = |id: &str, column: &str| models.iter().find(|row| row["id"] == id).unwrap()[column].clone();
    for (column, expected) in [
        ("total_params", "46702792704"),
        ("active_params", "12879925248"),
        ("weight_bytes", "93405585408"),
        ("fp8_weight_bytes", "46702792704"),
        ("kv_bytes_per_token", "131072"),
        ("window_kv_bytes_per_sequence", "0"),
        ("state_bytes_per_sequence", "0"),
        ("family", "Mixtral"),
        ("head_kind", ""),
    ] {
        assert_eq!(cell("mixtral-8x7b", column), expected, "{column}");
    }
    assert_eq!(cell("founding-llama-3-8b", "name"), "Llama-3-8B, rounded", "a comma is quoted");
    assert_eq!(
        (cell("founding-llama-3-8b", "active_params").as_str(), cell("mtp-deepseek-v3", "fits").as_str()),
        ("", "deepseek-v3")
    );
    assert_eq!(table(&["show", "mi300"])[0], *row, "one entry has the same row");
}

#[test]
fn json_holds_what_csv_holds_as_numbers() {
    let folder = folder();
    let json = run_well(folder.path(), &["catalog", "list", "--format", "json"]).stdout;
    let document: Value = serde_json::from_str(&json).unwrap();
    for kind in ["hardware", "models", "engines", "scenarios"] {
        let rows = table(&["list", kind]);
        assert_eq!(document[kind].as_array().unwrap().len(), rows.len());
        for (object, row) in document[kind].as_array().unwrap().iter().zip(&rows) {
            assert_eq!(object.as_object().unwrap().len(), row.len());
            for (name, cell) in row {
                let same = match &object[name] {
                    Value::Null => cell.is_empty(),
                    Value::Number(number) => cell.parse::<f64>().ok() == number.as_f64(),
                    Value::String(text) => cell == text,
                    Value::Bool(flag) => *cell == flag.to_string(),
                    Value::Array(items) => cell
                        .split(' ')
                        .filter(|word| !word.is_empty())
                        .eq(items.iter().map(|item| item.as_str().unwrap())),
                    Value::Object(_) => false,
                };
                assert!(same, "{kind} {name}: {cell} and {}", object[name]);
            }
        }
    }
}

/// Sorted as people count: 9b before 27b; heads stand under what they are made for.
#[test]
fn lists_are_grouped_for_a_reader() {
    let folder = folder();
    let shown = run_well(folder.path(), &["catalog", "list", "models"]).stdout;
    let firsts: Vec<&str> = shown.lines().filter_map(|line| line.split_whitespace().next()).collect();
    let at = |word: &str| firsts.iter().position(|first| *first == word).unwrap_or_else(|| panic!("{word}"));
    for order in [
        ["Gemma", "gemma-2-9b", "gemma-2-27b", "gpt"],
        ["Llama", "llama-3-8b", "llama-3-70b", "llama-3.1-8b"],
        ["targets,", "drafters,", "heads,", "dflash-qwen3-8b"],
    ] {
        assert!(order.windows(2).all(|pair| at(pair[0]) < at(pair[1])), "{order:?}");
    }
    let under = shown.split("\n for qwen3-8b\n").nth(1).unwrap().split("\n for ").next().unwrap();
    let heads: Vec<&str> = under.lines().filter_map(|line| line.split_whitespace().next()).collect();
    assert_eq!(heads, ids_with(Kind::Models, "fits = [\"qwen3-8b\"]"));
    let hardware = run_well(folder.path(), &["catalog", "list", "hardware", "--format", "md"]).stdout;
    let vendors: Vec<&str> =
        hardware.lines().filter_map(|line| line.strip_prefix("| **")?.split("**").next()).collect();
    assert_eq!(vendors, ["AMD", "Apple", "AWS", "Generic", "Google", "Huawei", "Intel", "NVIDIA"]);
    assert!(hardware.starts_with("## hardware, by vendor\n\n| id "), "{hardware}");
}

/// DeepSeek-V3: 671,026,419,200 parameters, of them 58 x 248 x 3 x 7168 x 2048 not picked; 61 layers x 576 x 2 bytes of
/// KV; 1/2 + 1/64 bytes in int4, 1/2 + 1/16 in NVFP4, 1/2 + 1/32 in MXFP4.
#[test]
fn a_model_is_shown_with_what_follows_from_it() {
    let folder = folder();
    let show = |id: &str| run_well(folder.path(), &["catalog", "show", id]).stdout;
    let shown = show("deepseek-v3");
    for line in [
        "also called     DeepSeek-R1,",
        "  source        config.json of deepseek-ai/DeepSeek-V3",
        "parameters      671,026,419,200 in memory",
        "active          37,552,297,472, all but the experts that are not picked",
        "KV cache        70,272 bytes a token in bf16\n",
        "  all in bf16   1.342 TB\n",
        "  all in fp8    671 GB\n",
        "  all in int4   346 GB,",
        "  all in fp4    377.5 GB,",
        "  all in mxfp4  356.5 GB,",
    ] {
        assert!(shown.contains(&format!("\n{line}")), "{line} in {shown}");
    }
    let windows = show("gpt-oss-120b");
    for line in [
        "KV cache        73,728 bytes a token in bf16, while every layer keeps it\n",
        "  growing       36,864 bytes a token,",
        "  windows       4,718,592 bytes a sequence",
    ] {
        assert!(windows.contains(&format!("\n{line}")), "{line} in {windows}");
    }
    let head = show("mtp-glm-4.5");
    assert!(head.contains("fits            glm-4.5\n") && head.contains("with the target's LM head"), "{head}");
    let json = run_well(folder.path(), &["catalog", "show", "deepseek-v3", "--format", "json"]).stdout;
    let entry = &serde_json::from_str::<Value>(&json).unwrap()[0]["entry"];
    assert_eq!(
        (&entry["active_params"], &entry["weight_bytes_in"]["fp8"]),
        (&37_552_297_472_u64.into(), &671_026_419_200_u64.into())
    );
    assert_eq!(entry["aliases"][0], "DeepSeek-R1");
}

/// A model and a study have one name: text and JSON hold both, a table the model.
#[test]
fn a_table_leaves_the_study_of_the_same_name_out() {
    let folder = folder();
    let show = |format: &str| run_well(folder.path(), &["catalog", "show", "gpt-oss-120b", "--format", format]);
    let csv = show("csv");
    assert_eq!((csv.stdout.lines().count(), csv.stderr.as_str()), (2, "the scenario of that name is left out\n"));
    assert!(csv.stdout.starts_with("id,name,role,"), "{}", csv.stdout);
    let both: Value = serde_json::from_str(&show("json").stdout).unwrap();
    assert_eq!((&both[0]["kind"], &both[1]["kind"]), (&"models".into(), &"scenarios".into()));
    let markdown = show("md").stdout;
    assert!(
        markdown.starts_with("## gpt-oss-120b\n\nfrom `<built-in>/models/gpt-oss-120b.toml`\n\n| figure | value |\n")
    );
    assert!(markdown.contains("```toml\n"), "{markdown}");
}
