//! A whole decoder: its width, its vocabulary, its layers.

use crate::diagnostic::Diagnostic;
use crate::domain::attention::Attention;
use crate::domain::ffn::Ffn;
use crate::domain::layers::{Extras, LayerGroup, Layers};
use crate::import::hf::attention::{attention, heads};
use crate::import::hf::family::{Family, Mixers};
use crate::import::hf::ffn::{SHARED, ffn};
use crate::import::hf::layers::{EXPERTS, Feed, MOST_LAYERS, Mixer, count, feeds, mixers};
use crate::import::hf::modules::{Main, Mtp, modules};
use crate::import::hf::pruned::pruned;
use crate::import::hf::reader::Reader;
use crate::import::hf::report::Small;
use crate::import::hf::small::counted;
use crate::import::json::{Json, Value};

const HIDDEN: [&str; 4] = ["hidden_size", "n_embd", "n_embed", "d_model"];
const VOCAB: [&str; 2] = ["vocab_size", "n_vocab"];

/// Whole numbers are exact in files up to 2^53.
const MOST_EXACT: u64 = 1 << 53;

/// A decoder, and what is counted beside it.
pub(super) struct Decoder {
    pub(super) layers: Layers,
    /// The same, one by one.
    pub(super) each: Vec<(Attention, Ffn)>,
    pub(super) mtp: Option<Mtp>,
}

/// The width between layers.
pub(super) fn hidden(reader: &mut Reader<'_>, family: &Family) -> Option<u64> {
    let usual = reader.size(family, "hidden_size");
    reader.count_or("width", &HIDDEN, usual)
}

/// Tokens in the vocabulary.
pub(super) fn vocab(reader: &mut Reader<'_>, family: &Family) -> Option<u64> {
    let usual = reader.size(family, "vocab_size");
    // Where rows are padded, tables have the padded ones (ChatGLM).
    if family.types.contains(&"chatglm") && reader.has(&["padded_vocab_size"]) {
        reader.find(&VOCAB);
        return reader.count("vocabulary", &["padded_vocab_size"]);
    }
    reader.count_or("vocabulary", &VOCAB, usual)
}

/// Reads a decoder.
pub(super) fn decoder(reader: &mut Reader<'_>, family: &Family) -> Option<Decoder> {
    for key in family.present {
        // Null says something too: that there is none.
        let names: &[&str] = match *key {
            "first_k_dense_replace" => &["first_k_dense_replace", "mlp_layer_types"],
            key if EXPERTS.contains(&key) => &EXPERTS,
            key if SHARED.contains(&key) => &SHARED,
            key => &[key],
        };
        if !reader.names(names) {
            reader.missing::<()>("without it these would be other layers", &[key]);
        }
    }
    let hidden = hidden(reader, family);
    let vocab = vocab(reader, family);
    let tied = tied(reader, family);
    let each = match hidden {
        Some(hidden) => layers(reader, family, hidden),
        None => {
            // Without a width nothing can be read of layers but whether the rest is there.
            count(reader, family);
            rest(reader, family);
            None
        }
    };
    let latent = each.as_ref().is_some_and(|each| each.iter().any(|(one, _)| matches!(one, Attention::Mla(_))));
    let counted = counted(reader, family, latent);
    let positions = positions(reader, family);
    let (hidden, vocab, each) = (hidden?, vocab?, each?);
    let main = Main { layers: &each, extras: counted.extras, rules: &counted.rules, hidden, vocab };
    let mtp = modules(reader, family, &main);
    let of_layers = each.iter().flat_map(|(attention, ffn)| counted.rules.of_layer(attention, ffn, hidden));
    let small: Vec<Small> = of_layers.chain(counted.rules.of_model(hidden, vocab)).collect();
    let extra_params = small.iter().map(|small| small.count).fold(0, u64::saturating_add);
    note_small(reader, small);
    if extra_params > MOST_EXACT {
        reader.derived("what no operator reads", extra_params)?;
    }
    let extras = Extras { extra_params, positions: positions?, ..counted.extras };
    let layers = Layers::new(hidden, vocab, tied, grouped(&each), extras).ok()?;
    Some(Decoder { layers, each, mtp })
}

fn note_small(reader: &mut Reader<'_>, small: Vec<Small>) {
    for one in small {
        match reader.report.small.iter_mut().find(|known| known.what == one.what) {
            Some(known) => known.count = known.count.saturating_add(one.count),
            None => reader.report.small.push(one),
        }
    }
}

fn tied(reader: &mut Reader<'_>, family: &Family) -> bool {
    let what = "embedding and LM head are one table";
    // The whole model's word counts where its decoder's is another.
    if let Some(tied) = reader.outer_flag(what, "tie_word_embeddings") {
        return tied;
    }
    if let Some(tied) = reader.flag(what, &["tie_word_embeddings"]) {
        if !reader.nest().is_empty() && reader.root().get("tie_word_embeddings").is_none() {
            let nest = reader.nest().to_owned();
            reader.warn(format!("`tie_word_embeddings` stands in `{nest}` only, which not every class follows"));
        }
        return tied;
    }
    if family.types.is_empty() {
        // Classes differ in this, and none is known.
        reader.missing::<()>(what, &["tie_word_embeddings"]);
        return false;
    }
    reader.infer(what, family.tied, "`tie_word_embeddings` is absent; the class of this model_type has it so");
    family.tied
}

/// Learned positions.
fn positions(reader: &mut Reader<'_>, family: &Family) -> Option<u64> {
    let Some(more) = family.positions else { return Some(0) };
    let keys = ["n_positions", "max_position_embeddings", "n_ctx"];
    let stated = reader.required("learned positions", &keys)?;
    reader.derived("learned positions", stated + more)
}

/// Attention and feed-forward part of each layer, in order.
pub(super) fn layers(reader: &mut Reader<'_>, family: &Family, hidden: u64) -> Option<Vec<(Attention, Ffn)>> {
    match family.mixers {
        Mixers::Pruned => return pruned(reader, hidden),
        Mixers::Letters => {
            let kinds = blocks(reader)?;
            return assemble(reader, family, hidden, &kinds);
        }
        _ => {}
    }
    let Some(count) = count(reader, family) else {
        rest(reader, family);
        return None;
    };
    let (mixers, feeds) = (mixers(reader, family, count), feeds(reader, family, count));
    let without_ffn = family.mixers == Mixers::StateSpaces;
    let pair = |(mixer, feed)| (mixer, if without_ffn { Feed::None } else { feed });
    let kinds: Vec<(Mixer, Feed)> = mixers?.into_iter().zip(feeds?).map(pair).collect();
    assemble(reader, family, hidden, &kinds)
}

/// Reports what else is missing where layers cannot be read, so that all of it is said at once.
fn rest(reader: &mut Reader<'_>, family: &Family) {
    heads(reader, family);
    let feed = if reader.has(&EXPERTS) { Feed::Experts } else { Feed::Dense };
    ffn(reader, family, feed, 1);
}

/// Reads each kind once.
fn assemble(
    reader: &mut Reader<'_>,
    family: &Family,
    hidden: u64,
    kinds: &[(Mixer, Feed)],
) -> Option<Vec<(Attention, Ffn)>> {
    let mut attentions: Vec<(Mixer, Option<Attention>)> = Vec::new();
    let mut ffns: Vec<(Feed, Option<Ffn>)> = Vec::new();
    for (mixer, feed) in kinds {
        if !attentions.iter().any(|(known, _)| known == mixer) {
            attentions.push((*mixer, attention(reader, family, *mixer, hidden)));
        }
        if !ffns.iter().any(|(known, _)| known == feed) {
            ffns.push((*feed, ffn(reader, family, *feed, hidden)));
        }
    }
    let of = |(mixer, feed): &(Mixer, Feed)| {
        let attention = attentions.iter().find(|(known, _)| known == mixer)?.1?;
        Some((attention, ffns.iter().find(|(known, _)| known == feed)?.1?))
    };
    kinds.iter().map(of).collect()
}

/// The letters of a text, or the words of a list.
pub(super) fn words(node: &Json) -> Vec<String> {
    match &node.value {
        Value::Text(text) => text.chars().map(String::from).collect(),
        Value::List(items) => items.iter().map(|item| item.text().unwrap_or_default().to_owned()).collect(),
        _ => Vec::new(),
    }
}

/// Blocks of one part each: M a state space, * attention, - a dense part, E a mixture (Nemotron-H).
fn blocks(reader: &mut Reader<'_>) -> Option<Vec<(Mixer, Feed)>> {
    let keys = ["hybrid_override_pattern", "layers_block_type"];
    let Some(found) = reader.find(&keys) else { return reader.missing("kinds of blocks", &keys) };
    reader.note("kinds of blocks", &found.path, found.node);
    let words = words(found.node);
    if words.len() as u64 > MOST_LAYERS {
        let message = format!("`{}` names {} blocks: no model has more than {MOST_LAYERS}", found.path, words.len());
        return reader.problem(Diagnostic::error("out-of-range", message), found.node);
    }
    let kind = |word: &String| match word.as_str() {
        "M" | "mamba" | "linear_attention" => Some((Mixer::StateSpace, Feed::None)),
        "*" | "attention" | "full_attention" => Some((Mixer::Full, Feed::None)),
        "-" | "mlp" => Some((Mixer::None, Feed::Dense)),
        "E" | "moe" => Some((Mixer::None, Feed::Experts)),
        _ => None,
    };
    let kinds: Option<Vec<(Mixer, Feed)>> = words.iter().map(kind).collect();
    let count = reader.count("layers", &["num_hidden_layers"]);
    match kinds {
        Some(kinds) if count.is_none_or(|count| count == kinds.len() as u64) && !kinds.is_empty() => Some(kinds),
        Some(kinds) => {
            let message = format!("`{}` names {} blocks of {}", found.path, kinds.len(), count.unwrap_or_default());
            reader.problem(Diagnostic::error("conflict", message), found.node)
        }
        None => {
            let message = format!("`{}` holds a kind of block that cannot be priced", found.path);
            let hint = "priced are M (state space), * (attention), - (dense) and E (experts)";
            reader.problem(Diagnostic::error("unpriced", message).hint(hint), found.node)
        }
    }
}

/// Equal layers together, in the order in which they come first.
pub(super) fn grouped(each: &[(Attention, Ffn)]) -> Vec<LayerGroup> {
    let mut groups: Vec<LayerGroup> = Vec::new();
    for (attention, ffn) in each {
        match groups.iter_mut().find(|group| group.attention == *attention && group.ffn == *ffn) {
            Some(group) => group.count += 1,
            None => groups.push(LayerGroup { count: 1, attention: *attention, ffn: *ffn }),
        }
    }
    groups
}
