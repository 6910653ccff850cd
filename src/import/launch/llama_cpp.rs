//! llama.cpp's flags into settings.

use serde_json::Value;

use crate::import::launch::Reading;
use crate::import::launch::flags::{Flag, Known, of_file};
use crate::import::launch::names::{Drafting, head, quantization};
use crate::words::DrafterKind;

pub(super) fn read(reading: &mut Reading<'_>) {
    let target = named(reading, &["model"], &["hf-repo"], &["hf-file"]).or_else(|| {
        let url = reading.text(&["model-url"])?;
        Some((url.clone(), quantization(&url)))
    });
    let (target, format) = target.unzip();
    let settings = &mut reading.launch.settings;
    (settings.target, settings.target_quantization) = (target, format.flatten());
    limits(reading);
    drafts(reading);
}

/// Flags that are set in the environment: `LLAMA_ARG_CTX_SIZE` is `--ctx-size`.
pub(super) fn of_environment(env: &[(String, String)], known: &Known) -> Vec<Flag> {
    let flag = |(name, value): &(String, String)| {
        let bare = name.strip_prefix("LLAMA_ARG_")?.to_lowercase().replace('_', "-");
        let bare = match bare.as_str() {
            "batch" => "batch-size",
            "ubatch" => "ubatch-size",
            "n-parallel" => "parallel",
            "n-gpu-layers" => "gpu-layers",
            "draft-max" => "draft-max",
            other => other,
        };
        let entries = [(bare.to_owned(), Value::from(value.as_str()))].into_iter().collect();
        of_file(&Value::Object(entries), known).into_iter().next()
    };
    env.iter().filter_map(flag).collect()
}

/// A file, or a repository with what follows its colon as the format.
fn named(
    reading: &Reading<'_>,
    file: &[&str],
    repository: &[&str],
    within: &[&str],
) -> Option<(String, Option<String>)> {
    if let Some(path) = reading.text(file) {
        let format = quantization(&path);
        return Some((path, format));
    }
    let repository = reading.text(repository)?;
    let format = reading.text(within).as_deref().and_then(quantization).or_else(|| {
        let tagged =
            if repository.to_lowercase().contains("gguf") { repository.clone() } else { format!("gguf:{repository}") };
        quantization(&tagged)
    });
    let bare = repository.split_once(':').map_or(repository.as_str(), |(bare, _)| bare).to_owned();
    Some((bare, format))
}

fn limits(reading: &mut Reading<'_>) {
    let (slots, tokens) = (reading.whole(&["parallel"]), reading.whole(&["batch-size"]));
    let length = reading.whole(&["ctx-size"]).filter(|length| *length > 0);
    let (keys, values) = (reading.text(&["cache-type-k"]), reading.text(&["cache-type-v"]));
    let settings = &mut reading.launch.settings;
    (settings.max_num_seqs, settings.max_num_batched_tokens, settings.max_model_len) = (slots, tokens, length);
    settings.kv_dtype = keys.clone().or_else(|| values.clone());
    if let (Some(keys), Some(values)) = (keys, values)
        && keys != values
    {
        reading.also("kv_dtype_of_values", values);
    }
    if let Some(tokens) = reading.whole(&["ubatch-size"]) {
        reading.also("ubatch_size", tokens);
    }
    if reading.flags.is_set("kv-unified") {
        reading.also("kv-unified", true);
    }
    for name in ["n-cpu-moe", "split-mode", "tensor-split", "gpu-layers", "n-gpu-layers", "flash-attn"] {
        if let Some(value) = reading.text(&[name]) {
            reading.also(name, value);
        }
    }
}

fn drafts(reading: &mut Reading<'_>) {
    let preset = reading.flags.all.iter().find(|flag| flag.name.starts_with("fim-") || flag.name.ends_with("-default"));
    if let Some(preset) = preset.map(|flag| flag.written.clone()) {
        if preset.ends_with("-spec") {
            reading.launch.settings.drafting = Drafting::Unsaid;
        }
        reading.note(format!(
            "{preset} stands for models and lengths that llama.cpp itself knows: name them with -m and -md"
        ));
        return;
    }
    let drafter = named(reading, &["model-draft"], &["hf-repo-draft"], &[]);
    let types = reading.text(&["spec-type"]).unwrap_or_default();
    let types = if reading.flags.is_set("mtp") && types.is_empty() { "draft-mtp".to_owned() } else { types };
    // A fork has what belongs to a way to draft behind it: mtp:n_max=3,p_min=0.5.
    let (types, own) = match types.split_once(':') {
        Some((kind, own)) => (kind.to_owned(), own.to_owned()),
        None => (types, String::new()),
    };
    let named_so = drafter.as_ref().is_some_and(|(name, _)| head(name) == Some(Drafting::Of(DrafterKind::Mtp, None)));
    let types = if named_so && types.is_empty() { "draft-mtp".to_owned() } else { types };
    let drafting = kind(&types, drafter.is_some());
    if types.contains(',') {
        reading.note(format!("--spec-type {types}: of several ways to draft the first that has a model is priced"));
    }
    if drafting == Drafting::Nothing {
        return;
    }
    let (drafter, format) = drafter.unzip();
    let k = reading.whole(&["spec-draft-n-max", "draft-max"]).or_else(|| reading.whole(&["spec-ngram-mod-n-max"]));
    let own = own.split(',').find_map(|pair| pair.trim().strip_prefix("n_max=")?.parse().ok());
    let settings = &mut reading.launch.settings;
    (settings.drafting, settings.drafter, settings.k) = (drafting, drafter, k.or(own));
    reading.launch.further.draft_quantization = format.flatten();
    for name in ["draft-min", "spec-draft-n-min", "draft-p-min"] {
        if let Some(value) = reading.number(&[name]) {
            reading.also(name, value);
        }
    }
    if let Some(length) = reading.whole(&["ctx-size-draft"]) {
        reading.also("draft.max_model_len", length);
    }
}

fn kind(types: &str, has_drafter: bool) -> Drafting {
    let of = |kind| Drafting::Of(kind, None);
    let all: Vec<&str> = types.split(',').map(str::trim).filter(|word| !word.is_empty()).collect();
    let first = all.iter().find(|word| word.starts_with("draft")).or_else(|| all.first());
    match first.copied() {
        None if has_drafter => of(DrafterKind::Model),
        None | Some("none") => Drafting::Nothing,
        Some("draft-simple" | "draft") => of(DrafterKind::Model),
        Some("draft-eagle3" | "eagle3") => Drafting::Of(DrafterKind::Eagle, Some(3)),
        Some("draft-mtp" | "mtp") => of(DrafterKind::Mtp),
        Some("draft-dflash" | "draft-dspark" | "dflash" | "dspark") => of(DrafterKind::Block),
        Some(word) if word.starts_with("ngram") => of(DrafterKind::Ngram),
        Some(_) => Drafting::Unsaid,
    }
}
