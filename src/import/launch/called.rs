//! Names of checkpoints and accelerators as people write them, without what tells nothing of their shape.

/// Words that a release adds to a model's name: formats, dates of releases, ways of training on.
const BESIDE: [&str; 38] = [
    "gguf",
    "fp8",
    "fp4",
    "nvfp4",
    "mxfp4",
    "awq",
    "gptq",
    "int4",
    "int8",
    "bf16",
    "fp16",
    "4bit",
    "8bit",
    "bnb",
    "nf4",
    "w8a8",
    "w4a16",
    "w4afp8",
    "w8a16",
    "dynamic",
    "quantized",
    "block",
    "autoround",
    "marlin",
    "mtp",
    "thinking",
    "preview",
    "hf",
    "instruct",
    "chat",
    "it",
    "unsloth",
    "torchao",
    "exl2",
    "mlx",
    "qat",
    "abliterated",
    "speculator",
];

/// A checkpoint's name in the ways a catalog may know it, the most exact first.
///
/// # Examples
///
/// ```
/// use specplan::import::launch::checkpoint;
/// assert_eq!(checkpoint("/models/Qwen3-8B-FP8/"), ["Qwen3-8B-FP8", "Qwen3-8B"]);
/// assert_eq!(checkpoint("models/qwen2.5-72b-iq4xs.gguf"), ["qwen2.5-72b-iq4xs", "qwen2.5-72b"]);
/// ```
#[must_use]
pub fn checkpoint(written: &str) -> Vec<String> {
    let trimmed = written.trim().trim_end_matches(['/', '\\']);
    // A cache of Hugging Face's: models--org--name/snapshots/<commit>.
    let cached = trimmed.split(['/', '\\']).find_map(|part| part.strip_prefix("models--"));
    let base = match cached {
        Some(cached) => cached.rsplit("--").next().unwrap_or(cached),
        None => trimmed.rsplit(['/', '\\']).next().unwrap_or(trimmed),
    };
    let base = base.strip_suffix(".gguf").unwrap_or(base);
    let base = base.split_once(':').map_or(base, |(base, _)| base);
    // Names of ModelScope write a point as three underscores.
    let base = base.replace("___", ".");
    let is_beside = |word: &str| {
        let lower = word.to_lowercase();
        let is_date = lower.len() == 4 && lower.starts_with("2") && lower.chars().all(|found| found.is_ascii_digit());
        BESIDE.contains(&lower.as_str()) || is_date || is_format(&lower)
    };
    let parts: Vec<&str> = base.split(['-', '_', '+', '@']).collect();
    let joined =
        |keep: &dyn Fn(&&str) -> bool| parts.iter().copied().filter(|part| keep(part)).collect::<Vec<_>>().join("-");
    // A format in a file's name may be cut into several words: Q4_K_M.
    let mut all = vec![base.clone()];
    let first = parts.iter().position(|part| is_format(&part.to_lowercase()) && !part.is_empty());
    if let Some(at) = first {
        all.push(parts[..at].join("-"));
    }
    all.push(joined(&|part| !is_beside(part)));
    // What is trained on keeps the shape of what its name begins with, up to the size.
    let bare: Vec<String> = all.last().map_or_else(Vec::new, |bare| bare.split('-').map(str::to_owned).collect());
    if let Some(last) = bare.iter().rposition(|word| is_size(&word.to_lowercase())) {
        all.push(bare[..=last].join("-"));
    }
    all.retain(|name| !name.is_empty());
    all.dedup();
    all
}

/// `27b`, `a3b`, `0.6b`.
fn is_size(word: &str) -> bool {
    let digits = word.strip_prefix('a').unwrap_or(word).strip_suffix('b').unwrap_or("");
    !digits.is_empty() && digits.chars().all(|found| found.is_ascii_digit() || found == '.')
}

/// A format of llama.cpp, or the beginning of one: `q4`, `iq4xs`, `ud`.
fn is_format(word: &str) -> bool {
    let rest = word.strip_prefix("iq").or_else(|| word.strip_prefix('q')).unwrap_or("");
    let is_bits = rest.chars().next().is_some_and(|first| first.is_ascii_digit()) && rest.len() <= 4;
    is_bits || word == "ud"
}

/// How many accelerators a text names, and which: `NVIDIA H200 x8`, `8x H100`, `2 × RTX 4090`.
///
/// # Examples
///
/// ```
/// use specplan::import::launch::accelerators;
/// assert_eq!(accelerators("NVIDIA H200 x8"), ("NVIDIA H200".to_owned(), Some(8)));
/// assert_eq!(accelerators("2 H100"), ("H100".to_owned(), Some(2)));
/// assert_eq!(accelerators("MI300X (8)"), ("MI300X".to_owned(), Some(8)));
/// assert_eq!(accelerators("8xH100"), ("H100".to_owned(), Some(8)));
/// assert_eq!(accelerators("RTX PRO 6000"), ("RTX PRO 6000".to_owned(), None));
/// ```
#[must_use]
pub fn accelerators(text: &str) -> (String, Option<u64>) {
    let plain = text.replace(['×', '*', '✕'], "x").replace(['(', ')', ','], " ");
    let mut count = None;
    let mut words: Vec<&str> = plain.split_whitespace().collect();
    let number = |digits: &str| digits.parse::<u64>().ok().filter(|number| (1..=4096).contains(number));
    let is_times = |word: &str| word.eq_ignore_ascii_case("x");
    let has_number = |word: &str| word.contains(|found: char| found.is_ascii_digit());
    if let [first, times, rest @ ..] = words.as_slice()
        && is_times(times)
        && let Some(found) = number(first)
    {
        (count, words) = (Some(found), rest.to_vec());
    } else if let [rest @ .., times, last] = words.as_slice()
        && is_times(times)
        && let Some(found) = number(last)
    {
        (count, words) = (Some(found), rest.to_vec());
    }
    let mut kept = Vec::new();
    for word in words {
        let lower = word.to_lowercase();
        let after = lower.strip_prefix('x').and_then(number);
        let before = lower.split_once('x').filter(|(digits, _)| !digits.is_empty() && digits.len() < 4);
        match (count, after, before.and_then(|(digits, rest)| Some((number(digits)?, rest.len())))) {
            (None, Some(found), _) => count = Some(found),
            (None, None, Some((found, rest))) => {
                count = Some(found);
                kept.extend(Some(&word[word.len() - rest..]).filter(|rest| !rest.is_empty()));
            }
            _ => kept.push(word),
        }
    }
    // `8 H100`, `H100 8`: a number that is no part of a name, nor an amount of memory.
    if count.is_none() {
        let is_amount = |word: &str| matches!(word.to_lowercase().as_str(), "gb" | "gib" | "g" | "w" | "tb");
        match kept.as_slice() {
            [first, next, ..] if number(first).is_some() && !is_amount(next) => {
                count = number(first);
                kept.remove(0);
            }
            [.., name, last] if has_number(name) && number(last).is_some_and(|found| found <= 16) => {
                count = number(last);
                kept.pop();
            }
            _ => {}
        }
    }
    (kept.join(" "), count)
}
