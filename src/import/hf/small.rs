//! What counts and costs nothing: biases, normalisations, gates, and what no operator reads.

use crate::domain::attention::Attention;
use crate::domain::ffn::Ffn;
use crate::domain::layers::Extras;
use crate::import::hf::family::{Family, Norms, QkNorm, Small as Kind};
use crate::import::hf::layers::on;
use crate::import::hf::reader::Reader;
use crate::import::hf::report::Small;
use crate::words::NormKind;

/// Parameters of one layer that the layer tables do not hold, and their names.
#[derive(Clone, Debug, Default)]
pub(super) struct Rules {
    out_bias: bool,
    qk_norm: Option<QkNorm>,
    latent_bias: bool,
    kinds: Vec<Kind>,
}

/// What the extras of a model are made from.
pub(super) struct Counted {
    pub(super) extras: Extras,
    pub(super) rules: Rules,
}

/// Reads the switches of a family.
pub(super) fn counted(reader: &mut Reader<'_>, family: &Family, latent: bool) -> Counted {
    let qkv_bias = on(reader, "bias of queries, keys and values", family.qkv_bias);
    let out_bias = on(reader, "bias of the attention's output", family.out_bias);
    let mlp_bias = on(reader, "bias of feed-forward matrices", family.mlp_bias);
    let qk_norm = family.qk_norm.filter(|(_, switch)| on(reader, "queries and keys are normalised", *switch));
    let qk_norm = qk_norm.map(|(kind, _)| kind);
    let without_shift = family.norm_without_shift.is_some_and(|key| {
        let said = reader.flag("norms have no shift", &[key]);
        said.unwrap_or(false)
    });
    let norm = if without_shift { NormKind::Rms } else { family.norm };
    let extras = Extras {
        norm,
        norms_per_layer: norms(reader, family),
        qkv_bias: qkv_bias && !latent,
        qk_norm: qk_norm == Some(QkNorm::Heads),
        mlp_bias,
        positions: 0,
        extra_params: 0,
    };
    let kinds = family.small.iter().copied().filter(|kind| present(reader, *kind)).collect();
    Counted { extras, rules: Rules { out_bias: out_bias && !latent, latent_bias: qkv_bias && latent, qk_norm, kinds } }
}

fn norms(reader: &mut Reader<'_>, family: &Family) -> Option<u64> {
    let side_by_side = "attention and feed-forward part run side by side";
    match family.norms {
        Norms::Usual => None,
        Norms::Each(count) => {
            reader.infer("norms of a layer", count, "the class of this model_type has it so");
            Some(count)
        }
        Norms::More(key, usual) => {
            reader.flag("parts are normalised after them too", &[key]).unwrap_or(usual).then_some(4)
        }
        Norms::Parallel(key, usual) => reader.flag(side_by_side, &[key]).unwrap_or(usual).then_some(1),
        Norms::Falcon => {
            let new = reader.flag("architecture", &["new_decoder_architecture"]).unwrap_or(false);
            let parallel = reader.flag(side_by_side, &["parallel_attn"]).unwrap_or(true);
            let stated = reader.count("norms side by side", &["num_ln_in_parallel_attn"]);
            (!new && parallel || stated == Some(1)).then_some(1)
        }
    }
}

/// Whether a small part is there.
fn present(reader: &mut Reader<'_>, kind: Kind) -> bool {
    match kind {
        Kind::RouterBiasKey(key, usual) => reader.flag("a correction of each expert's score", &[key]).unwrap_or(usual),
        Kind::LmHeadBiasKey(key) => reader.flag("a bias of the LM head", &[key]).unwrap_or(false),
        Kind::WindowSinks(key, usual) => reader.flag("attention sinks within windows", &[key]).unwrap_or(usual),
        Kind::RouterBiasText(key, text, usual) => match reader.find(&[key]) {
            Some(found) => {
                reader.note("how experts are picked", &found.path, found.node);
                found.node.text() == Some(text)
            }
            None => usual,
        },
        _ => true,
    }
}

impl Rules {
    /// The small parameters of one layer.
    pub(super) fn of_layer(&self, attention: &Attention, ffn: &Ffn, hidden: u64) -> Vec<Small> {
        let mut all = Vec::new();
        let mut add = |what: &str, count: u64| {
            if count > 0 {
                all.push(Small { what: what.to_owned(), count });
            }
        };
        if let Attention::Gqa(gqa) = attention {
            let (heads, kv_heads, head_dim) = (gqa.heads(), gqa.kv_heads(), gqa.head_dim() as u64);
            add("biases of the attention's output", if self.out_bias { hidden } else { 0 });
            match self.qk_norm {
                Some(QkNorm::Widths) => add("norms as wide as queries and keys", (heads + kv_heads) * head_dim),
                Some(QkNorm::HeadsWithShift) => add("norms of queries and keys with shifts", 4 * head_dim),
                Some(QkNorm::Heads) | None => {}
            }
            let sinks = self.kinds.contains(&Kind::Sinks)
                || gqa.window().is_some() && self.kinds.iter().any(|kind| matches!(kind, Kind::WindowSinks(..)));
            add("attention sinks", if sinks { heads } else { 0 });
            let bias = self.kinds.contains(&Kind::OutputGateBias);
            add("biases of output gates", if bias { heads } else { 0 });
            let gate = self.kinds.contains(&Kind::HeadGate);
            add("gates of heads", if gate { heads * hidden } else { 0 });
        }
        if let Attention::Mla(mla) = attention
            && self.latent_bias
        {
            let (rank, latent) = (mla.q_lora().unwrap_or(0), mla.latent_width() as u64);
            add("biases of latent attention", rank + latent + hidden);
        }
        for kind in &self.kinds {
            of_kind(*kind, ffn, hidden, &mut add);
        }
        all
    }

    /// The small parameters of a whole model.
    pub(super) fn of_model(&self, hidden: u64, vocab: u64) -> Vec<Small> {
        let one = |kind: &Kind| match kind {
            Kind::LmHeadBias | Kind::LmHeadBiasKey(_) => Some(("a bias of the LM head", vocab)),
            Kind::EmbeddingNorm => Some(("a norm after the embedding", 2 * hidden)),
            _ => None,
        };
        self.kinds.iter().filter_map(one).map(|(what, count)| Small { what: what.to_owned(), count }).collect()
    }
}

/// Small parameters of a layer that hang on its feed-forward part, or on nothing.
fn of_kind(kind: Kind, ffn: &Ffn, hidden: u64, add: &mut impl FnMut(&str, u64)) {
    let moe = ffn.moe();
    let experts = moe.map_or(0, |moe| moe.experts());
    match kind {
        Kind::RouterBias | Kind::RouterBiasKey(..) | Kind::RouterBiasText(..) => {
            add("a correction of each expert's score", experts);
        }
        Kind::SharedGate if moe.is_some_and(|moe| moe.shared() > 0) => add("gates of shared experts", hidden),
        Kind::MixtureNorm if moe.is_some() => add("norms of mixtures", hidden),
        Kind::InnerNorms => add("norms inside layers", hidden + ffn.intermediate() as u64),
        Kind::Activation => add("numbers of the activation", 4),
        Kind::LayerScalar => add("a scalar of each layer", 1),
        Kind::Gemma4Mixture if moe.is_some() => {
            add("norms and scales of the mixture beside the dense part", 4 * hidden + experts);
        }
        _ => {}
    }
}
