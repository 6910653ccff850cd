//! What each layer is made of, in order.

use crate::diagnostic::Diagnostic;
use crate::import::hf::family::{Family, Mixers, Sparse, Switch, Windows};
use crate::import::hf::reader::{Found, Reader};
use crate::import::json::{Json, Value};

/// What a layer has in the place of attention.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mixer {
    /// Attention to everything before.
    Full,
    /// Attention to what an earlier layer selected.
    Shared,
    /// Attention within a window.
    Window,
    /// Attention within chunks, written as a window.
    Chunk,
    /// Linear attention.
    Linear,
    /// A state space.
    StateSpace,
    /// Nothing.
    None,
}

/// What kind of feed-forward part a layer has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Feed {
    Dense,
    Experts,
    None,
}

/// More layers than any model has.
pub(super) const MOST_LAYERS: u64 = 10_000;

pub(super) const LAYERS: [&str; 4] = ["num_hidden_layers", "n_layer", "num_layers", "n_layers"];
pub(super) const EXPERTS: [&str; 6] = [
    "n_routed_experts",
    "num_experts",
    "num_local_experts",
    "moe_num_experts",
    "ffn_config.moe_num_experts",
    "num_routed_experts",
];

/// How many layers there are.
pub(super) fn count(reader: &mut Reader<'_>, family: &Family) -> Option<u64> {
    let usual = reader.size(family, "num_hidden_layers");
    let count = reader.count_or("layers", &LAYERS, usual)?;
    if count <= MOST_LAYERS {
        return Some(count);
    }
    let found = reader.find(&LAYERS)?;
    let message = format!("`{}` is {count}: no model has more than {MOST_LAYERS} layers", found.path);
    reader.problem(Diagnostic::error("out-of-range", message), found.node)
}

/// Whether a switch is on.
pub(super) fn on(reader: &mut Reader<'_>, what: &'static str, switch: Switch) -> bool {
    match switch {
        Switch::Never => false,
        Switch::Always => {
            reader.infer(what, true, "the class of this model_type always has it");
            true
        }
        Switch::Key(key, usual) => said(reader, what, key, usual, |on| on),
        Switch::NotKey(key, usual) => said(reader, what, key, !usual, |off| !off),
    }
}

fn said(reader: &mut Reader<'_>, what: &'static str, key: &'static str, usual: bool, of: fn(bool) -> bool) -> bool {
    if let Some(flag) = reader.flag(what, &[key]) {
        return of(flag);
    }
    if usual {
        reader.infer(what, usual, format!("`{key}` is absent; the class of this model_type has it so"));
    }
    usual
}

/// The mixer of each layer. Where tokens are selected, some layers take over what an earlier one selected.
pub(super) fn mixers(reader: &mut Reader<'_>, family: &Family, layers: u64) -> Option<Vec<Mixer>> {
    let mixers = before_selection(reader, family, layers)?;
    if !reader.has(&["index_topk"]) {
        return Some(mixers);
    }
    let own = selecting(reader, layers)?;
    let of = |(mixer, own): (Mixer, bool)| if mixer == Mixer::Full && !own { Mixer::Shared } else { mixer };
    Some(mixers.into_iter().zip(own).map(of).collect())
}

/// Which layers select tokens themselves: named one by one, or the first and then each n-th (GLM-5.2).
fn selecting(reader: &mut Reader<'_>, layers: u64) -> Option<Vec<bool>> {
    if reader.has(&["indexer_types"]) {
        let (_, items) = each_layer(reader, "layers that select tokens", &["indexer_types"], layers)?;
        return Some(items.iter().map(|item| item.text() != Some("shared")).collect());
    }
    let each = reader.count("every n-th layer selects tokens", &["index_topk_freq"]).unwrap_or(1);
    let offset = reader.count_from("layers that select before", &["index_skip_topk_offset"], 0).unwrap_or(2);
    let own = |at: u64| (at + 1).saturating_sub(offset).is_multiple_of(each);
    Some((0..layers).map(own).collect())
}

fn before_selection(reader: &mut Reader<'_>, family: &Family, layers: u64) -> Option<Vec<Mixer>> {
    if let Some(kinds) = listed(reader, family, layers) {
        return kinds;
    }
    match family.mixers {
        Mixers::Attention | Mixers::Pruned | Mixers::Letters => windows(reader, family, layers),
        Mixers::StateSpaces => Some(vec![Mixer::StateSpace; layers as usize]),
        Mixers::Interval => {
            let each = reader.count_or("every n-th layer attends", &["full_attention_interval"], Some(4))?;
            Some(pick(layers, |at| (at + 1) % each == 0, Mixer::Full, Mixer::Linear))
        }
        Mixers::Period => {
            let period = reader.count_or("period of attention", &["attn_layer_period"], Some(8))?;
            let offset = offset(reader, "offset of attention", "attn_layer_offset", 4, period)?;
            Some(pick(layers, |at| at % period == offset, Mixer::Full, Mixer::StateSpace))
        }
        Mixers::Listed => {
            let at = marked(reader, "layers that attend", &["attn_layer_indices"], layers)?;
            let at = at.unwrap_or_else(|| vec![false; layers as usize]);
            Some(pick(layers, |layer| at[layer as usize], Mixer::Full, Mixer::StateSpace))
        }
    }
}

/// An offset within a period.
fn offset(reader: &mut Reader<'_>, what: &'static str, key: &'static str, usual: u64, period: u64) -> Option<u64> {
    let Some(found) = reader.find(&[key]) else { return Some(usual) };
    let offset = reader.whole(what, &found, 0)?;
    if offset < period {
        return Some(offset);
    }
    let message = format!("`{}` is {offset}: an offset lies within its period of {period}", found.path);
    reader.problem(Diagnostic::error("conflict", message), found.node)
}

fn pick<T: Copy>(layers: u64, is: impl Fn(u64) -> bool, yes: T, no: T) -> Vec<T> {
    (0..layers).map(|at| if is(at) { yes } else { no }).collect()
}

/// A list with an item for each layer.
fn each_layer<'j>(
    reader: &mut Reader<'j>,
    what: &'static str,
    keys: &[&str],
    layers: u64,
) -> Option<(Found<'j>, &'j [Json])> {
    let (found, items) = reader.list(what, keys)?;
    if items.len() as u64 == layers {
        return Some((found, items));
    }
    let message = format!("`{}` names {} layers of {layers}", found.path, items.len());
    reader.problem(Diagnostic::error("conflict", message), found.node)
}

/// Kinds by name: `layer_types` and its like. `Some(None)` if they are wrong.
fn listed(reader: &mut Reader<'_>, family: &Family, layers: u64) -> Option<Option<Vec<Mixer>>> {
    let keys = ["layer_types", "layers_block_type"];
    if !reader.has(&keys) {
        return None;
    }
    let Some((found, items)) = each_layer(reader, "kinds of layers", &keys, layers) else { return Some(None) };
    let recurrent = matches!(family.mixers, Mixers::Listed | Mixers::Period);
    let kinds: Vec<Option<Mixer>> = items.iter().map(|item| by_name(reader, item, &found.path, recurrent)).collect();
    Some(kinds.into_iter().collect())
}

fn by_name(reader: &mut Reader<'_>, item: &Json, path: &str, recurrent: bool) -> Option<Mixer> {
    match item.text() {
        Some("full_attention" | "attention" | "indexed_attention" | "deepseek_sparse_attention") => Some(Mixer::Full),
        Some("sliding_attention") => Some(Mixer::Window),
        Some("chunked_attention") => Some(Mixer::Chunk),
        Some("mamba" | "mamba2") => Some(Mixer::StateSpace),
        Some("linear_attention") if recurrent => Some(Mixer::StateSpace),
        Some("linear_attention") => Some(Mixer::Linear),
        _ => {
            let message = format!("`{path}` names a layer of kind {}, which cannot be priced", item.shown());
            let hint = "priced are full_attention, sliding_attention, chunked_attention, linear_attention and mamba";
            reader.problem(Diagnostic::error("unpriced", message).hint(hint), item)
        }
    }
}

/// Which layers attend within a window, where no list names them.
fn windows(reader: &mut Reader<'_>, family: &Family, layers: u64) -> Option<Vec<Mixer>> {
    let all = |mixer: Mixer| Some(vec![mixer; layers as usize]);
    match family.windows {
        Windows::Never => all(Mixer::Full),
        Windows::Named if reader.has(&["sliding_window"]) => reader.missing("layers with a window", &["layer_types"]),
        Windows::Named => all(Mixer::Full),
        Windows::All if reader.has(&["sliding_window"]) => all(Mixer::Window),
        Windows::All => all(Mixer::Full),
        Windows::Switched => {
            let used = reader.flag("whether windows are used", &["use_sliding_window"]).unwrap_or(false);
            if !used || !reader.has(&["sliding_window"]) {
                return all(Mixer::Full);
            }
            let first = match reader.count_from("layers before windows", &["max_window_layers"], 0) {
                Some(first) => first,
                None => return reader.missing("layers before windows", &["max_window_layers"]),
            };
            Some(pick(layers, |at| at >= first, Mixer::Window, Mixer::Full))
        }
        Windows::AllBut(key, usual) => {
            let each = reader.count_or("every n-th layer sees all", &[key, "_sliding_window_pattern"], Some(usual))?;
            Some(pick(layers, |at| (at + 1) % each == 0, Mixer::Full, Mixer::Window))
        }
        Windows::Letters => letters(reader, layers),
        Windows::Repeats => repeats(reader, layers),
        Windows::Ones => {
            let ones = indices_of_ones(reader, layers)?;
            Some(ones.into_iter().map(|window| if window { Mixer::Window } else { Mixer::Full }).collect())
        }
        Windows::Chunks(each) => {
            reader.infer("every n-th layer sees all", each, "the class of this model_type has it so");
            Some(pick(layers, |at| (at + 1) % each == 0, Mixer::Full, Mixer::Chunk))
        }
    }
}

/// "LLLG" or a number: windows but for each n-th layer, and the last.
fn letters(reader: &mut Reader<'_>, layers: u64) -> Option<Vec<Mixer>> {
    let Some(found) = reader.find(&["sliding_window_pattern"]) else {
        return Some(vec![Mixer::Full; layers as usize]);
    };
    let each = match &found.node.value {
        Value::Text(text) if !text.is_empty() && text.chars().all(|c| matches!(c, 'L' | 'G')) => {
            reader.note("layers with a window", &found.path, found.node);
            let marks: Vec<bool> = text.chars().map(|c| c == 'L').collect();
            let last = layers - 1;
            let is = |at: u64| marks[at as usize % marks.len()] && at != last;
            return Some(pick(layers, is, Mixer::Window, Mixer::Full));
        }
        _ => reader.whole("every n-th layer sees all", &found, 1)?,
    };
    Some(pick(layers, |at| (at + 1) % each != 0 && at + 1 != layers, Mixer::Window, Mixer::Full))
}

/// `[[["global", "local"], 12]]`.
fn repeats(reader: &mut Reader<'_>, layers: u64) -> Option<Vec<Mixer>> {
    let (found, items) = match reader.list("kinds of layers", &["attention_types"]) {
        Some(read) => read,
        None if reader.has(&["attention_types"]) => return None,
        None => return reader.missing("kinds of layers", &["attention_types"]),
    };
    let mut kinds = Vec::new();
    for item in items {
        let pair = item.items().unwrap_or_default();
        let (names, count) = (pair.first().and_then(Json::items), pair.get(1).and_then(Json::whole));
        for _ in 0..count.unwrap_or(0).clamp(0, MOST_LAYERS as i64) {
            if kinds.len() as u64 > layers {
                break;
            }
            kinds.extend(names.unwrap_or_default().iter().map(|name| name.text() == Some("local")));
        }
    }
    if kinds.len() as u64 != layers {
        let count = if kinds.len() as u64 > layers { "more" } else { "fewer" };
        let message = format!("`{}` names {count} than {layers} layers", found.path);
        return reader.problem(Diagnostic::error("conflict", message), found.node);
    }
    Some(kinds.into_iter().map(|local| if local { Mixer::Window } else { Mixer::Full }).collect())
}

fn indices_of_ones(reader: &mut Reader<'_>, layers: u64) -> Option<Vec<bool>> {
    let keys = ["hybrid_layer_pattern"];
    if !reader.has(&keys) {
        return reader.missing("layers with a window", &["hybrid_layer_pattern", "layer_types"]);
    }
    let (_, items) = each_layer(reader, "layers with a window", &keys, layers)?;
    Some(items.iter().map(|item| item.whole() == Some(1)).collect())
}

/// Layers named by their places, from 0, in a list or a text with commas: whether each is. `Some(None)` if no key
/// has them.
fn marked(reader: &mut Reader<'_>, what: &'static str, keys: &[&str], layers: u64) -> Option<Option<Vec<bool>>> {
    let Some(found) = reader.find(keys) else { return Some(None) };
    let parsed: Option<Vec<i64>> = match &found.node.value {
        Value::List(items) => items.iter().map(Json::whole).collect(),
        Value::Text(text) => text.split(',').map(|part| part.trim().parse().ok()).collect(),
        _ => None,
    };
    let within = |at: &i64| (0..layers as i64).contains(at);
    let Some(places) = parsed.filter(|places| places.iter().all(within)) else {
        let message = format!("`{}` must list layers from 0 to {} ({what})", found.path, layers - 1);
        return reader.problem(Diagnostic::error("wrong-type", message), found.node);
    };
    reader.note(what, &found.path, found.node);
    let mut marked = vec![false; layers as usize];
    places.into_iter().for_each(|at| marked[at as usize] = true);
    Some(Some(marked))
}

/// The feed-forward part of each layer.
pub(super) fn feeds(reader: &mut Reader<'_>, family: &Family, layers: u64) -> Option<Vec<Feed>> {
    let experts = reader.count_from("experts", &EXPERTS, 0).unwrap_or(0);
    if experts == 1 && !family.lone_expert {
        let found = reader.find(&EXPERTS)?;
        let message = format!("`{}` is 1: classes differ in whether one expert is a mixture", found.path);
        return reader.problem(Diagnostic::error("unpriced", message), found.node);
    }
    if experts <= 1 && !reader.has(&["mlp_layer_types"]) {
        return Some(vec![Feed::Dense; layers as usize]);
    }
    if reader.has(&["mlp_layer_types"]) {
        return named_feeds(reader, layers);
    }
    if let Some(at) = marked(reader, "layers with experts", &["moe_layers", "moe_layers_enum"], layers)? {
        return Some(pick(layers, |layer| at[layer as usize], Feed::Experts, Feed::Dense));
    }
    match family.sparse {
        Sparse::ByKeys => by_keys(reader, layers),
        Sparse::Each(key, usual) => {
            let each = reader.count_or("every n-th layer has experts", &[key], Some(usual))?;
            Some(pick(layers, |at| (at + 1) % each == 0, Feed::Experts, Feed::Dense))
        }
        Sparse::Period => {
            let period = reader.count_or("period of experts", &["expert_layer_period"], Some(2))?;
            let offset = offset(reader, "offset of experts", "expert_layer_offset", 1, period)?;
            Some(pick(layers, |at| at % period == offset, Feed::Experts, Feed::Dense))
        }
        Sparse::Range => {
            let first = reader.count_from("first layer with experts", &["moe_layer_start_index"], 0).unwrap_or(1);
            let last = match reader.find(&["moe_layer_end_index"]).map(|found| (found.node.whole(), found)) {
                // Minus one means the last layer.
                None | Some((Some(-1), _)) => layers - 1,
                Some((_, found)) => reader.whole("last layer with experts", &found, 0)?,
            };
            let each = reader.count("interval of experts", &["moe_layer_interval"]).unwrap_or(1);
            let is = |at: u64| (at + 1).is_multiple_of(each) && (first..=last).contains(&at);
            Some(pick(layers, is, Feed::Experts, Feed::Dense))
        }
    }
}

fn named_feeds(reader: &mut Reader<'_>, layers: u64) -> Option<Vec<Feed>> {
    let (found, items) = each_layer(reader, "feed-forward parts", &["mlp_layer_types"], layers)?;
    let kind = |reader: &mut Reader<'_>, item: &Json| match item.text() {
        Some("dense") => Some(Feed::Dense),
        Some("sparse" | "moe") => Some(Feed::Experts),
        _ => {
            let message = format!("`{}` names a part of kind {}, which cannot be priced", found.path, item.shown());
            reader.problem(Diagnostic::error("unpriced", message).hint("priced are dense and sparse"), item)
        }
    };
    let kinds: Vec<Option<Feed>> = items.iter().map(|item| kind(reader, item)).collect();
    kinds.into_iter().collect()
}

/// Layers with experts as most families say it: after the first dense ones, at a step, but for listed ones.
fn by_keys(reader: &mut Reader<'_>, layers: u64) -> Option<Vec<Feed>> {
    let dense = ["first_k_dense_replace", "num_dense_layers", "n_dense_layers"];
    let first = reader.count_from("dense layers before those with experts", &dense, 0).unwrap_or(0);
    if first >= layers
        && let Some(found) = reader.find(&dense)
    {
        let message = format!("`{}` is {first}: of {layers} layers none would have experts", found.path);
        return reader.problem(Diagnostic::error("conflict", message), found.node);
    }
    let step = reader.count("every n-th layer has experts", &["decoder_sparse_step"]).unwrap_or(1);
    let only = marked(reader, "layers without experts", &["mlp_only_layers"], layers)?;
    let only = only.unwrap_or_else(|| vec![false; layers as usize]);
    let keys = ["moe_layer_freq"];
    let listed = match reader.find(&keys) {
        Some(found) if found.node.items().is_some() => {
            let (_, items) = each_layer(reader, "layers with experts", &keys, layers)?;
            Frequency::Each(items.iter().map(|item| item.whole().unwrap_or(0) != 0).collect())
        }
        Some(found) => Frequency::Step(reader.whole("every n-th layer has experts", &found, 1)?),
        None => Frequency::Step(1),
    };
    let frequent = |at: u64| match &listed {
        Frequency::Each(each) => each[at as usize],
        Frequency::Step(step) => at.is_multiple_of(*step),
    };
    let is = |at: u64| at >= first && (at + 1).is_multiple_of(step) && !only[at as usize] && frequent(at);
    Some(pick(layers, is, Feed::Experts, Feed::Dense))
}

enum Frequency {
    Each(Vec<bool>),
    Step(u64),
}
