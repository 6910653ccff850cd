//! Which parts of a model a declaration of quantisation leaves out.

use std::collections::HashSet;

use crate::words::Part;

/// Parts left out as a whole, and modules of single layers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Excluded {
    pub(super) whole: Vec<Part>,
    pub(super) single: usize,
}

/// Sorts names and patterns by the part they mean.
///
/// A pattern without a number of a layer means all layers; one with a number means its layer, and a part whose
/// modules are named in at least half of the layers is left out as a whole.
pub(super) fn excluded(names: &[String], layers: u64) -> Excluded {
    let mut whole = Vec::new();
    let mut by_layer: Vec<(Part, HashSet<u64>)> = Vec::new();
    for name in names {
        let Some(part) = part_of(name) else { continue };
        match layer_of(name) {
            None => whole.push(part),
            Some(layer) => match by_layer.iter_mut().find(|(known, _)| *known == part) {
                Some((_, at)) => {
                    at.insert(layer);
                }
                None => by_layer.push((part, HashSet::from([layer]))),
            },
        }
    }
    let mut single = 0;
    for (part, at) in by_layer {
        if 2 * at.len() as u64 >= layers {
            whole.push(part);
        } else if !whole.contains(&part) {
            single += at.len();
        }
    }
    Excluded { whole, single }
}

/// The part that a module's name or pattern means; routers and norms are too small to count.
fn part_of(name: &str) -> Option<Part> {
    let has = |word: &str| name.contains(word);
    let outside = ["vision", "visual", "audio", "mm_projector", "multi_modal", "patch_embed"];
    if outside.iter().any(|word| has(word)) {
        return None;
    }
    if has("lm_head") {
        Some(Part::LmHead)
    } else if has("embed") || has("wte") {
        Some(Part::Embedding)
    } else if has("attn") || has("attention") || has("mixer.in_proj") || has("mixer.out_proj") {
        Some(Part::Attention)
    } else if has("shared_expert") {
        Some(Part::Ffn)
    } else if has("experts") {
        Some(Part::Experts)
    } else if has("router") || name.ends_with("gate") || name.ends_with("gate$") || name.ends_with("gate*") {
        None
    } else if has("mlp") || has("feed_forward") || has("ffn") {
        Some(Part::Ffn)
    } else {
        None
    }
}

/// The number of the layer in a name such as `model.layers.3.self_attn.q_proj`.
fn layer_of(name: &str) -> Option<u64> {
    let plain = name.replace('\\', "");
    let after = plain.split("layers.").nth(1)?;
    let digits: String = after.chars().take_while(char::is_ascii_digit).collect();
    digits.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_mean_parts_as_a_whole_or_layer_by_layer() {
        let names = ["lm_head", "re:.*self_attn.*", "model.layers.0.mlp.down_proj", "model.layers.*.mlp.router"];
        let found = excluded(&names.map(str::to_owned), 4);
        assert_eq!(found, Excluded { whole: vec![Part::LmHead, Part::Attention], single: 1 });
        let each: Vec<String> = (0..3).map(|at| format!("model.layers.{at}.self_attn.q_proj")).collect();
        assert_eq!(excluded(&each, 4).whole, [Part::Attention]);
        assert_eq!(excluded(&["vision_model.layers.0.self_attn.q_proj".to_owned()], 4), Excluded::default());
    }
}
