//! Layers for multi-token prediction, which are counted beside the main model.

use crate::domain::attention::Attention;
use crate::domain::ffn::Ffn;
use crate::domain::head::Head;
use crate::domain::layers::{Extras, Layers};
use crate::import::hf::decoder::{grouped, words};
use crate::import::hf::family::{Family, Mixers, Modules};
use crate::import::hf::layers::MOST_LAYERS;
use crate::import::hf::reader::Reader;
use crate::import::hf::small::Rules;
use crate::words::HeadKind;

const KEYS: [&str; 4] = ["num_nextn_predict_layers", "mtp_num_hidden_layers", "num_mtp_layers", "num_mtp_modules"];

/// What multi-token prediction adds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mtp {
    /// Modules.
    pub modules: u64,
    /// Parameters of all of them.
    pub params: u64,
    /// Parameters of the copies of embedding and LM head that the checkpoint holds for them.
    pub copies: u64,
}

/// A decoder whose modules are counted.
pub(super) struct Main<'a> {
    pub(super) layers: &'a [(Attention, Ffn)],
    pub(super) extras: Extras,
    pub(super) rules: &'a Rules,
    pub(super) hidden: u64,
    pub(super) vocab: u64,
}

/// A layer such as the last that sees all, with the last feed-forward part.
fn layer_of_module(main: &Main<'_>) -> Option<(Attention, Ffn)> {
    let attention = main.layers.iter().rev().find(|(attention, _)| attention.stands_alone())?.0;
    Some((attention, main.layers.last()?.1))
}

/// Blocks of one part each, such as the model has them: attention and a mixture, or as a pattern says.
fn blocks_of_module(reader: &mut Reader<'_>, main: &Main<'_>) -> Option<Vec<(Attention, Ffn)>> {
    let found = reader.find(&["mtp_hybrid_override_pattern", "mtp_layers_block_type"])?;
    reader.note("blocks of a module", &found.path, found.node);
    let alike = |is: fn(&(Attention, Ffn)) -> bool| main.layers.iter().find(|block| is(block)).copied();
    let attention = alike(|(attention, _)| matches!(attention, Attention::Gqa(_)));
    let state_space = alike(|(attention, _)| matches!(attention, Attention::Ssm(_)));
    let experts = alike(|(_, ffn)| matches!(ffn, Ffn::Moe(_)));
    let dense = alike(|(_, ffn)| matches!(ffn, Ffn::Plain { .. }));
    let block = |word: &String| match word.as_str() {
        "*" | "attention" | "full_attention" => attention,
        "M" | "mamba" | "linear_attention" => state_space,
        "E" | "moe" => experts,
        "-" | "mlp" => dense,
        _ => None,
    };
    let words = words(found.node);
    if words.len() as u64 > MOST_LAYERS { None } else { words.iter().map(block).collect() }
}

/// Counts the modules, each a layer such as the last that sees all, with what joins embedding and hidden state.
pub(super) fn modules(reader: &mut Reader<'_>, family: &Family, main: &Main<'_>) -> Option<Mtp> {
    let stated = reader.count_from("modules for multi-token prediction", &KEYS, 0);
    let modules = match (family.modules, stated) {
        (Modules::Implied, None) => {
            reader.infer(
                "modules for multi-token prediction",
                1,
                "this model_type is released with one; no key says so",
            );
            reader.warn(
                "no key announces the module for multi-token prediction: it is counted because of the model_type",
            );
            1
        }
        (_, None | Some(0)) => return None,
        (Modules::Unknown, Some(_)) => {
            reader.warn(
                "what modules for multi-token prediction are made of is not known for this model_type: not counted",
            );
            return None;
        }
        (_, Some(modules)) => modules,
    };
    let layers = match family.mixers {
        Mixers::Letters => blocks_of_module(reader, main)?,
        _ => vec![layer_of_module(main)?],
    };
    let small: u64 = layers
        .iter()
        .flat_map(|(attention, ffn)| main.rules.of_layer(attention, ffn, main.hidden))
        .map(|small| small.count)
        .fold(0, u64::saturating_add);
    let extras = Extras { extra_params: small, positions: 0, ..main.extras };
    let head = Head { kind: HeadKind::Mtp, draft_vocab: None, copies: modules, reads: None };
    let layers = Layers::new(main.hidden, main.vocab, false, grouped(&layers), extras).ok()?.as_head(head);
    let params = layers.params().total() as u64;
    // Floats do not overflow where sizes are nonsense.
    let tables = 2.0 * modules as f64 * main.vocab as f64 * main.hidden as f64;
    let copies = if family.modules == Modules::KeyedWithCopies { tables as u64 } else { 0 };
    Some(Mtp { modules, params, copies })
}
