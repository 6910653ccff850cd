//! Configurations of drafting heads.

use crate::diagnostic::Diagnostic;
use crate::domain::attention::Attention;
use crate::domain::ffn::Ffn;
use crate::domain::head::{Head, MEDUSA_HEADS};
use crate::domain::layers::{Extras, Layers};
use crate::domain::model::Model;
use crate::import::hf::decoder::{Decoder, grouped, hidden, layers, vocab};
use crate::import::hf::family::{Family, LLAMA, family};
use crate::import::hf::reader::Reader;
use crate::import::hf::small::counted;
use crate::import::json::Json;
use crate::words::HeadKind;

/// How a configuration says that it is a head's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    Eagle1,
    Eagle3,
    /// Drafts a block in one pass.
    Block,
    /// The same, with an EAGLE-3 head's inputs (P-EAGLE).
    ParallelEagle,
    Medusa,
    Mtp,
}

/// Tells a head's configuration from a model's.
pub(super) fn form(root: &Json) -> Option<Form> {
    let text = |key: &str| root.get(key).and_then(Json::text).unwrap_or_default().to_lowercase();
    let named = root.get("architectures").and_then(Json::items).and_then(<[Json]>::first).and_then(Json::text);
    let words = format!(
        "{} {} {}",
        named.unwrap_or_default().to_lowercase(),
        text("speculators_model_type"),
        text("model_type")
    );
    let has = |word: &str| words.contains(word);
    if root.get("medusa_num_heads").is_some() || text("model_type") == "medusa" {
        return Some(Form::Medusa);
    }
    // A vision model is called so too.
    if has("forconditionalgeneration") {
        return None;
    }
    if has("peagle") || has("p-eagle") || has("p_eagle") {
        Some(Form::ParallelEagle)
    } else if has("dflash") || has("dspark") || has("domino") {
        Some(Form::Block)
    } else if has("eagle3") {
        Some(Form::Eagle3)
    } else if has("eagle") {
        Some(if root.get("draft_vocab_size").is_some() { Form::Eagle3 } else { Form::Eagle1 })
    } else if words.split(' ').any(|word| word.ends_with("mtp") || word.contains("mtpmodel")) {
        Some(Form::Mtp)
    } else if root.get("draft_vocab_size").is_some_and(|node| !node.is_null()) {
        Some(Form::Eagle3)
    } else if root.get("num_hidden_layers").and_then(Json::whole) == Some(1) {
        Some(Form::Eagle1)
    } else {
        None
    }
}

/// The word of a speculators configuration that is not one of those known here.
pub(super) fn unknown_speculator(root: &Json) -> Option<&Json> {
    const KNOWN: [&str; 9] = ["eagle", "eagle3", "peagle", "p_eagle", "p-eagle", "dflash", "dflash2", "dspark", "mtp"];
    let node = root.get("speculators_model_type")?;
    (!node.text().is_some_and(|word| KNOWN.contains(&word))).then_some(node)
}

/// The layers of a head.
pub(super) fn head(reader: &mut Reader<'_>, form: Form, target: Option<&Model>) -> Option<Decoder> {
    refuse_other_width(reader);
    if form == Form::Medusa {
        let layers = medusa(reader, target)?;
        return Some(Decoder { layers, each: Vec::new(), mtp: None });
    }
    let model_type = reader.find(&["model_type"]).and_then(|found| found.node.text());
    let of = model_type.and_then(family).copied().unwrap_or(LLAMA);
    let of = Family { positions: None, small: if form == Form::Mtp { of.small } else { &[] }, ..of };
    if form == Form::Eagle1 {
        reader.infer("kind of head", "eagle1", "one layer alone, and no vocabulary of its own");
    }
    let width = hidden(reader, &of);
    let own = reader.count("rows of its own LM head", &["draft_vocab_size"]);
    let rows = match (reader.has_vocab(), own) {
        (false, Some(own)) => {
            reader.infer("vocabulary", own, "no `vocab_size`: the head's own, which is then its target's");
            Some(own)
        }
        _ => vocab(reader, &of),
    };
    let each = width.and_then(|width| layers(reader, &of, width));
    let latent = each.as_ref().is_some_and(|each| each.iter().any(|(one, _)| matches!(one, Attention::Mla(_))));
    let counted = counted(reader, &of, latent);
    let (width, rows, each) = (width?, rows?, each?);
    let mut small: u64 = each
        .iter()
        .flat_map(|(attention, ffn)| counted.rules.of_layer(attention, ffn, width))
        .map(|small| small.count)
        .fold(0, u64::saturating_add);
    small = small.saturating_add(second_input(form, &each, width));
    let extras = Extras { extra_params: small, ..counted.extras };
    if own.is_some_and(|own| own > rows)
        && let Some(found) = reader.find(&["draft_vocab_size"])
    {
        let message =
            format!("`{}` is {}: more rows than its target's vocabulary of {rows}", found.path, found.node.shown());
        return reader.problem(Diagnostic::error("conflict", message), found.node);
    }
    let head = shape(reader, form, own.filter(|own| *own != rows || form == Form::Eagle3), rows)?;
    let layers = Layers::new(width, rows, false, grouped(&each), extras).ok()?.as_head(head);
    Some(Decoder { layers, each, mtp: None })
}

/// What some block heads have after their pass, told and not counted.
fn beside_the_block(reader: &mut Reader<'_>) {
    if reader.find(&["dflash_config.markov_rank", "markov_rank"]).is_some() {
        reader.warn("the Markov head, and the head of confidences if there is one, are not counted");
    }
    if reader.find(&["dflash_config.gru_hidden_dim", "gru_hidden_dim"]).is_some() {
        reader.find(&["dflash_config.emb_dim", "emb_dim"]);
        reader.warn("the recurrent part, which runs once for each draft, is not counted");
    }
    let mode = reader.find(&["dflash_config.attention_mode", "attention_mode"]);
    if let Some(found) = mode.filter(|found| found.node.text() != Some("gqa")) {
        let message = format!("`{}` is {}, which cannot be priced", found.path, found.node.shown());
        reader.problem::<()>(Diagnostic::error("unpriced", message).hint("priced is gqa"), found.node);
    }
    let kind = reader.find(&["dflash_config.projector_type", "projector_type"]);
    if let Some(found) = kind.filter(|found| !matches!(found.node.text(), Some("dspark" | "domino" | "dflash"))) {
        let message = format!("`{}` is {}, which cannot be priced", found.path, found.node.shown());
        let hint = "priced are dflash, dspark and domino";
        reader.problem::<()>(Diagnostic::error("unpriced", message).hint(hint), found.node);
    }
}

/// What a P-EAGLE head's first layer projects from beside the hidden state.
fn second_input(form: Form, each: &[(Attention, Ffn)], width: u64) -> u64 {
    match each.first() {
        Some((Attention::Gqa(gqa), _)) if form == Form::ParallelEagle => (width as f64 * gqa.projected_width()) as u64,
        _ => 0,
    }
}

/// How a head drafts.
fn shape(reader: &mut Reader<'_>, form: Form, own: Option<u64>, rows: u64) -> Option<Head> {
    let reads = |reader: &mut Reader<'_>| {
        let keys = [
            "aux_hidden_state_layer_ids",
            "eagle_config.eagle_aux_hidden_state_layer_ids",
            "dflash_config.target_layer_ids",
            "target_layer_ids",
        ];
        reader.list("layers of the target that are read", &keys).map(|(_, items)| items.len() as u64)
    };
    let plain = |kind| Head { kind, draft_vocab: own, copies: 1, reads: None };
    Some(match form {
        Form::Eagle1 => plain(HeadKind::Eagle1),
        Form::Eagle3 => {
            Head { draft_vocab: Some(own.unwrap_or(rows)), reads: reads(reader), ..plain(HeadKind::Eagle3) }
        }
        Form::Block => {
            let block = reader.count("drafts of a block", &["block_size"]);
            if let Some(block) = block {
                reader.warn(format!(
                    "a block of {block}: the drafts of a round are set by the scenario, not by the file"
                ));
            }
            beside_the_block(reader);
            Head { reads: reads(reader), ..plain(HeadKind::Block) }
        }
        Form::ParallelEagle => {
            let reads = reads(reader).or(Some(3));
            Head { reads, ..plain(HeadKind::Block) }
        }
        Form::Mtp => plain(HeadKind::Mtp),
        Form::Medusa => return None,
    })
}

/// Medusa says how many heads, and of which model.
fn medusa(reader: &mut Reader<'_>, target: Option<&Model>) -> Option<Layers> {
    let stated = reader.required("heads", &["medusa_num_heads", "num_heads"])?;
    let blocks = ["medusa_num_layers", "num_hidden_layers"];
    let per_head = reader.count_or("blocks of a head", &blocks, Some(1))?;
    let based = reader.find(&["base_model_name_or_path"]);
    if per_head != 1 {
        let found = reader.find(&blocks)?;
        let message = format!("`{}` is {per_head}: heads of one block can be priced", found.path);
        return reader.problem(Diagnostic::error("unpriced", message), found.node);
    }
    let own_width = reader.count("width", &["hidden_size"]);
    let own_vocab = reader.count("vocabulary", &["vocab_size"]);
    let of_target = |target: &Model| match &target.shape {
        crate::domain::model::Shape::Layers(layers) => Some((layers.hidden() as u64, layers.vocab())),
        crate::domain::model::Shape::Aggregate(_) => None,
    };
    let Some((width, rows)) = own_width.zip(own_vocab).or_else(|| target.and_then(of_target)) else {
        let name = based.as_ref().and_then(|found| found.node.text()).unwrap_or("its target");
        let node = based.map_or(reader.root(), |found| found.node);
        let message = format!("the width and the vocabulary of Medusa heads are those of {name}");
        let hint = "name the target: --target vicuna-7b-v1.3, an id of the catalog or a path";
        return reader.problem(Diagnostic::error("missing-key", message).hint(hint), node);
    };
    if let (None, Some(target)) = (own_width, target) {
        reader.infer("width", width, format!("that of its target, {}", target.id));
        reader.infer("vocabulary", rows, format!("that of its target, {}", target.id));
    }
    let mut copies = stated;
    if own_width.is_none() && stated == 2 {
        // Released v1.3 files hold five heads; Medusa's own loader overrules what their configuration says
        // (github:FasterDecoding/Medusa@e2a5d20:medusa/model/medusa_model.py).
        copies = MEDUSA_HEADS;
        reader.infer("heads", copies, "v1.3 configurations say 2 and their files hold 5, as Medusa's own loader knows");
        reader.warn("medusa_num_heads is 2, the default of a class: released files of this form hold 5 heads");
    }
    let head = Head { kind: HeadKind::Medusa, draft_vocab: None, copies, reads: None };
    Layers::heads_only(width, rows, head).ok()
}

/// A head whose target has another width joins inputs of that width.
fn refuse_other_width(reader: &mut Reader<'_>) {
    let Some(found) = reader.find(&["target_hidden_size"]) else { return };
    let own = reader.find(&["hidden_size"]).and_then(|own| own.node.whole());
    if found.node.whole() != own {
        let message = format!(
            "`{}` is {}: a head of another width than its target cannot be priced",
            found.path,
            found.node.shown()
        );
        reader.problem::<()>(Diagnostic::error("unpriced", message), found.node);
    }
}
