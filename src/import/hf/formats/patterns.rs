//! Names and patterns of modules against the paths of matrices.

/// The number of the layer in a name, as it is written, and what follows it.
pub(super) fn layer_of(name: &str) -> (Option<String>, &str) {
    for word in ["layers.", "blocks.", "layer.", "h."] {
        let Some(start) = name.match_indices(word).map(|(at, _)| at).find(|at| *at == 0 || name[..*at].ends_with('.'))
        else {
            continue;
        };
        let after = &name[start + word.len()..];
        let digits: String = after.chars().take_while(char::is_ascii_digit).collect();
        if !digits.is_empty() {
            return (Some(digits.clone()), &after[digits.len()..]);
        }
    }
    (None, name)
}

/// Whether an expression may mean some layers and not others.
pub(super) fn names_number(expression: &str) -> bool {
    expression.contains(|c: char| c.is_ascii_digit())
}

/// The name with the first expert in the place of the one it names, and which that is.
pub(super) fn experts_alike(rest: &str) -> (String, Option<u64>) {
    let Some(at) = rest.find("experts.") else { return (rest.to_owned(), None) };
    let (before, after) = rest.split_at(at + "experts.".len());
    let tail = after.trim_start_matches(|c: char| c.is_ascii_digit());
    let digits = &after[..after.len() - tail.len()];
    if digits.is_empty() {
        return (rest.to_owned(), None);
    }
    // A number that no number holds is that of no expert.
    (format!("{before}0{tail}"), Some(digits.parse().unwrap_or(u64::MAX)))
}

/// Whether an expression may mean some experts and not others.
pub(super) fn names_expert(expression: &str) -> bool {
    expression.contains("expert")
}

/// Whether a name under a layer, or a pattern with `*`, means a path: the path itself or what holds it.
pub(super) fn fits(name: &str, path: &str) -> bool {
    if name.contains('*') {
        return wildcard(name, path);
    }
    name.is_empty() || path == name || path.strip_prefix(name).is_some_and(|rest| rest.starts_with('.'))
}

/// The same for a name without a layer, which may mean any part of the path.
pub(super) fn fits_anywhere(name: &str, path: &str) -> bool {
    if name.contains('*') {
        return wildcard(name, path) || wildcard(name, &format!("model.{path}"));
    }
    path == name
        || path.split('.').collect::<Vec<_>>().windows(name.split('.').count()).any(|part| part.join(".") == name)
}

/// `*` for anything.
fn wildcard(pattern: &str, text: &str) -> bool {
    let parts: Vec<&str> = pattern.split('*').collect();
    let (Some(first), Some(last)) = (parts.first(), parts.last()) else { return false };
    let Some(mut rest) = text.strip_prefix(first) else { return false };
    for part in &parts[1..parts.len().max(2) - 1] {
        let Some(at) = rest.find(part) else { return false };
        rest = &rest[at + part.len()..];
    }
    parts.len() == 1 && rest.is_empty() || parts.len() > 1 && rest.ends_with(last)
}

/// Modules of something else than the decoder.
pub(super) fn is_outside(name: &str) -> bool {
    ["vision", "visual", "audio", "mm_projector", "multi_modal", "patch_embed", "mtp"]
        .iter()
        .any(|word| name.contains(word))
}

/// What is too small to be a matrix here.
pub(super) fn is_beside(name: &str) -> bool {
    let small = ["norm", "router", "bias", "conv", "rotary", "in_proj_a", "in_proj_b", "indexer", "weights_proj"];
    let own = name.trim_end_matches(['*', '$', '.']);
    is_outside(name) || own.ends_with("gate") || small.iter().any(|word| name.contains(word))
}
