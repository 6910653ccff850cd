//! What the names of checkpoints say: their number format, and what a drafter is.

use std::sync::LazyLock;

use regex_lite::Regex;

use crate::words::DrafterKind;

/// Formats of files for llama.cpp, with or without the underscores that belong there.
static GGUF: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r"(?:^|[-_.:/])((?:ud-)?(?:iq\d_?(?:xxs|xs|nl|s|m)|q\d_?k_?(?:xxl|xl|xs|s|m|l|p)|q\d_?k|q\d_?[01]|tq\d_\d|mxfp4|bf16|f16|f32))(?:$|[-_.])",
    )
    .ok()
});
/// Bits of weights and activations.
static BITS: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"(?:^|[-_.])(w\d+a(?:fp)?\d+)(?:c\d+)?(?:$|[-_./])").ok());

/// The number format that a checkpoint's name says.
pub(super) fn quantization(name: &str) -> Option<String> {
    let name = name.trim_end_matches('/').to_lowercase();
    if name.ends_with(".gguf") || name.contains("-gguf") || name.contains("gguf:") {
        let stem = name.trim_end_matches(".gguf");
        return GGUF.as_ref()?.captures(stem).map(|found| spaced(&found[1]));
    }
    let words: Vec<&str> = name.split(|found: char| !found.is_ascii_alphanumeric()).collect();
    let has = |word: &str| words.contains(&word);
    let bits = BITS.as_ref().and_then(|bits| bits.captures(&name)).map(|found| found[1].to_owned());
    let plain = ["nvfp4", "mxfp4", "awq", "gptq", "fp8", "int8", "int4", "nf4"].into_iter().find(|word| has(word));
    // An organisation says whose four bits they are.
    let fp4 = has("fp4").then(|| if name.contains("nvidia/") { "nvfp4" } else { "fp4" });
    let whole = [("8bit", "int8"), ("4bit", "int4"), ("bnb", "bitsandbytes")].into_iter().find(|(word, _)| has(word));
    bits.or_else(|| plain.or(fp4).or(whole.map(|(_, format)| format)).map(str::to_owned))
}

/// `iq4xs` is `iq4_xs`, `q4km` is `q4_k_m`.
fn spaced(format: &str) -> String {
    let (unsloth, bare) = match format.strip_prefix("ud-") {
        Some(bare) => ("ud-", bare),
        None => ("", format),
    };
    if bare.contains('_') || !bare.starts_with(['q', 'i']) {
        return format.to_owned();
    }
    let digit = bare.find(|found: char| found.is_ascii_digit()).map_or(0, |at| at + 1);
    let (head, rest) = bare.split_at(digit);
    let rest = match rest.strip_prefix('k') {
        Some("") => "k".to_owned(),
        Some(size) => format!("k_{size}"),
        None => rest.to_owned(),
    };
    format!("{unsloth}{head}_{rest}")
}

/// What `--quantization` says of the format: loaders serve several, and then the name of the checkpoint has to tell.
pub(super) fn of_flag(flag: &str, name: Option<&str>) -> Option<String> {
    let by_name = || name.and_then(quantization);
    let flag = flag.to_lowercase().replace('-', "_");
    Some(match flag.as_str() {
        "modelopt" | "modelopt_mixed" | "ascend" | "compressed_tensors" | "quark" | "inc" | "auto_round" | "gguf"
        | "moe_wna16" | "auto" => return by_name(),
        "modelopt_fp4" | "petit_nvfp4" | "nvfp4" => "nvfp4".to_owned(),
        "modelopt_fp8" | "fbgemm_fp8" | "ptpc_fp8" | "w8a8_fp8" => "fp8".to_owned(),
        "awq_marlin" => "awq".to_owned(),
        "gptq_marlin" | "gptq_marlin_24" | "gptq_bitblas" => "gptq".to_owned(),
        "w8a8_int8" => "w8a8".to_owned(),
        "none" | "null" => return None,
        _ => flag,
    })
}

/// What drafts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Drafting {
    /// Nothing does.
    Nothing,
    /// Something that the command does not say.
    Unsaid,
    /// Something for which there is no word here.
    Other(&'static str),
    /// Drafts of a kind; of EAGLE heads the version, where it is said.
    Of(DrafterKind, Option<u64>),
}

/// What a checkpoint drafts with, where its name says so.
pub(super) fn head(name: &str) -> Option<Drafting> {
    let name = name.to_lowercase();
    let words: Vec<&str> = name.split(|found: char| !found.is_ascii_alphanumeric()).collect();
    let has = |part: &str| name.contains(part);
    let is = |word: &str| words.contains(&word);
    let eagle = |version: u64| Some(Drafting::Of(DrafterKind::Eagle, Some(version)));
    if has("eagle3") || has("eagle-3") || has("eagle_3") || has("eagle3.1") {
        return eagle(3);
    }
    if has("eagle") || is("hass") {
        return eagle(1);
    }
    if has("medusa") {
        return Some(Drafting::Of(DrafterKind::Medusa, None));
    }
    if has("dflash") || has("dspark") {
        return Some(Drafting::Of(DrafterKind::Block, None));
    }
    if is("mtp") || has("nextn") || has("fastmtp") || (has("gemma") && is("assistant")) {
        return Some(Drafting::Of(DrafterKind::Mtp, None));
    }
    if is("accelerator") || has("mlp_speculator") || has("mlp-speculator") {
        return Some(Drafting::Other("mlp_speculator"));
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_are_told_by_names() {
        for (name, due) in [
            ("models/qwen2.5-72b-iq4xs.gguf", Some("iq4_xs")),
            ("unsloth/Qwen3.8-27B-GGUF:UD-Q4_K_M", Some("ud-q4_k_m")),
            ("models/Qwen/Qwen3.6-27B-Q4_K_M_MTP.gguf", Some("q4_k_m")),
            ("x-Q3_K_P.gguf", Some("q3_k_p")),
            ("Qwen/Qwen3-Coder-Next-GGUF:Q8_0", Some("q8_0")),
            ("/models/DeepSeek-R1_w8a8/", Some("w8a8")),
            ("Barrrrry/DeepSeek-R1-W4AFP8", Some("w4afp8")),
            ("nvidia/DeepSeek-R1-FP4", Some("nvfp4")),
            ("stepfun-ai/Step-3.7-Flash-NVFP4", Some("nvfp4")),
            ("Qwen/Qwen3-8B-AWQ", Some("awq")),
            ("Qwen/Qwen2.5-7B-Instruct-GPTQ-Int4", Some("gptq")),
            ("Qwen/Qwen3-8B", None),
            ("$MODEL", None),
        ] {
            assert_eq!(quantization(name).as_deref(), due, "{name}");
        }
    }
}
