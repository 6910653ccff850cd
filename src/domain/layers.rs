//! A model's full shape: groups of equal layers between an embedding and a head, and what they count.
//!
//! Counts are `f64`: whole and exact up to 2^53, ten thousand times the largest model.

use crate::domain::attention::Attention;
use crate::domain::ffn::{Ffn, Moe};
use crate::domain::head::Head;
use crate::words::NormKind;

/// A whole decoder.
#[derive(Clone, Debug, PartialEq)]
pub struct Layers {
    hidden: u64,
    vocab: u64,
    tied_embeddings: bool,
    groups: Vec<LayerGroup>,
    extras: Extras,
    head: Option<Head>,
}

/// Equal layers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LayerGroup {
    /// How many.
    pub count: u64,
    /// Their attention.
    pub attention: Attention,
    /// Their feed-forward part.
    pub ffn: Ffn,
}

/// What the layer tables do not say, so that totals are exact.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extras {
    /// Normalisation.
    pub norm: NormKind,
    /// Normalisations of a layer, where they are not one before each of its parts.
    pub norms_per_layer: Option<u64>,
    /// Whether queries, keys and values have a bias.
    pub qkv_bias: bool,
    /// Whether queries and keys are normalised, by one vector of a head's width each.
    pub qk_norm: bool,
    /// Whether the feed-forward matrices have a bias, those of picked experts included.
    pub mlp_bias: bool,
    /// Learned position embeddings.
    pub positions: u64,
    /// Parameters that no operator reads.
    pub extra_params: u64,
}

impl Extras {
    /// Root-mean-square normalisation and nothing more.
    pub const NONE: Self = Self {
        norm: NormKind::Rms,
        norms_per_layer: None,
        qkv_bias: false,
        qk_norm: false,
        mlp_bias: false,
        positions: 0,
        extra_params: 0,
    };
}

impl Default for Extras {
    /// Root-mean-square normalisation and nothing more: what most decoders have.
    fn default() -> Self {
        Self::NONE
    }
}

/// A decoder of nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("hidden, vocab and every count of layers are at least 1")]
pub struct EmptyShape;

/// The parameters of a decoder by what they are for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ParamCount {
    /// Attention matrices.
    pub attention: f64,
    /// Feed-forward matrices, shared experts and routers.
    pub ffn: f64,
    /// The experts that are picked.
    pub experts: f64,
    /// The table of token embeddings.
    pub embedding: f64,
    /// The LM head, where it is not the table again.
    pub lm_head: f64,
    /// Scales and shifts of the normalisations before and after layers.
    pub norms: f64,
    /// What joins the inputs of a drafting head, or the blocks of Medusa heads.
    pub fuse: f64,
    /// Biases, normalisations of queries and keys, positions and what no operator reads.
    pub others: f64,
}

impl ParamCount {
    /// All of them.
    #[must_use]
    pub fn total(&self) -> f64 {
        self.attention + self.ffn + self.experts + self.embedding + self.lm_head + self.norms + self.fuse + self.others
    }
}

impl Layers {
    /// A decoder.
    ///
    /// # Errors
    ///
    /// [`EmptyShape`] if a width or a count is 0, or there is no layer.
    pub fn new(
        hidden: u64,
        vocab: u64,
        tied_embeddings: bool,
        groups: Vec<LayerGroup>,
        extras: Extras,
    ) -> Result<Self, EmptyShape> {
        let empty = hidden == 0 || vocab == 0 || groups.is_empty() || groups.iter().any(|group| group.count == 0);
        if empty { Err(EmptyShape) } else { Ok(Self { hidden, vocab, tied_embeddings, groups, extras, head: None }) }
    }

    /// The same layers as a head that drafts from a target's hidden state, with the target's embedding.
    #[must_use]
    pub fn as_head(self, head: Head) -> Self {
        Self { head: Some(head), tied_embeddings: false, ..self }
    }

    /// Heads without layers of their own (Medusa).
    ///
    /// # Errors
    ///
    /// [`EmptyShape`] if a width is 0.
    pub const fn heads_only(hidden: u64, vocab: u64, head: Head) -> Result<Self, EmptyShape> {
        if hidden == 0 || vocab == 0 {
            return Err(EmptyShape);
        }
        Ok(Self { hidden, vocab, tied_embeddings: false, groups: Vec::new(), extras: Extras::NONE, head: Some(head) })
    }

    /// What makes it a head, if it is one.
    #[must_use]
    pub const fn head(&self) -> Option<&Head> {
        self.head.as_ref()
    }

    /// Width between layers, h.
    #[must_use]
    pub const fn hidden(&self) -> f64 {
        self.hidden as f64
    }

    /// Tokens in the vocabulary, V.
    #[must_use]
    pub const fn vocab(&self) -> u64 {
        self.vocab
    }

    /// The groups, first layers first.
    #[must_use]
    pub fn groups(&self) -> &[LayerGroup] {
        &self.groups
    }

    /// How many layers.
    #[must_use]
    pub fn layers(&self) -> f64 {
        self.groups.iter().map(|group| group.count as f64).sum()
    }

    /// Whether embeddings and LM head are one table.
    #[must_use]
    pub const fn tied_embeddings(&self) -> bool {
        self.tied_embeddings
    }

    /// Parameters of the LM head, which a pass reads whether or not they are the embeddings again, or a
    /// target's: V h. A head scores its own vocabulary; Medusa heads have one each.
    #[must_use]
    pub fn lm_head_params(&self) -> f64 {
        let rows = self.head.as_ref().map_or(self.vocab as f64, |head| head.scored_rows(self.vocab));
        rows * self.hidden()
    }

    /// Width that queries, keys and values are projected from: the hidden one, twice that in an EAGLE-3
    /// head.
    #[must_use]
    pub fn qkv_inputs(&self) -> f64 {
        self.head.as_ref().map_or(1.0, Head::qkv_inputs) * self.hidden()
    }

    /// Alike modules in memory, each with weights and a cache, of which a pass runs one: 1 but for MTP.
    #[must_use]
    pub fn modules(&self) -> f64 {
        self.head.as_ref().map_or(1.0, Head::modules)
    }

    /// Parameters that join the inputs of a head in every pass, and those that do so once a round.
    #[must_use]
    pub fn fuse_params(&self) -> (f64, f64) {
        self.head.as_ref().map_or((0.0, 0.0), |head| head.fuse_params(self.hidden()))
    }

    /// Parameters that a pass multiplies with each token: of mixtures the picked experts only, without
    /// the input embedding.
    #[must_use]
    pub fn active_params(&self) -> f64 {
        let h = self.hidden();
        let layer =
            |group: &LayerGroup| group.count as f64 * (self.attention_params(group) + group.ffn.active_params(h));
        self.groups.iter().map(layer).sum::<f64>() + self.fuse_params().0 + self.lm_head_params()
    }

    /// Parameters of the attention matrices of one layer.
    #[must_use]
    pub fn attention_params(&self, group: &LayerGroup) -> f64 {
        group.attention.params(self.qkv_inputs(), self.hidden())
    }

    /// Matrix products of a pass that start a kernel each.
    ///
    /// # Formula
    ///
    /// qkv and o (five where attention is latent) and two feed-forward products (gate and up are one) for each layer,
    /// two more where experts are shared and two where they work on a latent, one for what joins the inputs of a head, and the LM head.
    ///
    /// # Examples
    ///
    /// Llama-3-8B has 32 x 4 + 1 = 129; an EAGLE-3 head of one layer has 5.
    #[must_use]
    pub fn products(&self) -> f64 {
        let of_ffn = |ffn: &Ffn| match ffn {
            Ffn::None => 0.0,
            Ffn::Moe(moe) => {
                let shared = if moe.shared() > 0 { 2.0 } else { 0.0 };
                2.0 + shared + if moe.latent().is_some() { 2.0 } else { 0.0 }
            }
            _ => 2.0,
        };
        let of_group = |group: &LayerGroup| group.count as f64 * (group.attention.products() + of_ffn(&group.ffn));
        let layers: f64 = self.groups.iter().map(of_group).sum();
        let ends = self.head.as_ref().map_or(1.0, Head::products);
        layers + ends
    }

    /// Layers that hold a mixture of experts.
    #[must_use]
    pub fn moe_layers(&self) -> f64 {
        self.groups.iter().filter(|group| group.ffn.moe().is_some()).map(|group| group.count as f64).sum()
    }

    /// Attention and feed-forward parts, which each layer has one of each but for those without: each has a
    /// normalisation before it and, on several devices, an all-reduce after it.
    #[must_use]
    pub fn sublayers(&self) -> f64 {
        let parts = |group: &LayerGroup| [group.attention != Attention::None, group.ffn != Ffn::None];
        let of_group = |group: &LayerGroup| {
            group.count as f64 * parts(group).map(|part| f64::from(u8::from(part))).iter().sum::<f64>()
        };
        self.groups.iter().map(of_group).sum()
    }

    /// Layers with attention of any kind.
    #[must_use]
    pub fn attention_layers(&self) -> f64 {
        self.groups.iter().filter(|group| group.attention != Attention::None).map(|group| group.count as f64).sum()
    }

    /// Parameters of all normalisations before and after layers: one before each part of a layer unless the model
    /// says otherwise, and one at the end. Heads add those of what they join.
    #[must_use]
    pub fn norm_params(&self) -> f64 {
        let of_layers = match self.extras.norms_per_layer {
            Some(count) => count as f64 * self.layers(),
            None => self.sublayers(),
        };
        let parts = match self.extras.norm {
            NormKind::None => 0.0,
            NormKind::Rms => 1.0,
            NormKind::Layer => 2.0,
        };
        let of_head = self.head.as_ref().map_or(0.0, Head::more_norms);
        (of_layers + 1.0 + of_head) * self.hidden() * parts
    }

    /// What the layer tables do not say.
    #[must_use]
    pub const fn extras(&self) -> &Extras {
        &self.extras
    }

    /// Parameters that one token meets: all but those of experts it does not pick.
    ///
    /// # Examples
    ///
    /// Mixtral-8x7B: 46,702,792,704 less six of eight experts in 32 layers, 3 x 4096 x 14336 each.
    ///
    /// ```
    /// # use specplan::domain::{attention::{Attention, Gqa}, ffn::{Ffn, Moe}, layers::{Extras, LayerGroup, Layers}};
    /// let attention = Attention::Gqa(Gqa::new(32, 8, 128, None)?);
    /// let group = LayerGroup { count: 32, attention, ffn: Ffn::Moe(Moe::new(8, 2, 14_336)?) };
    /// let layers = Layers::new(4096, 32_000, false, vec![group], Extras::default())?;
    /// assert_eq!(layers.params().total(), 46_702_792_704.0);
    /// assert_eq!(layers.active_total(), 12_879_925_248.0);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn active_total(&self) -> f64 {
        let h = self.hidden();
        let left = |group: &LayerGroup| {
            let one = |moe: &Moe| moe.expert_params(h) + if self.extras.mlp_bias { moe.bias_params(h) } else { 0.0 };
            let of_layer = |moe: &Moe| (moe.experts() - moe.top_k()) as f64 * one(moe);
            group.count as f64 * group.ffn.moe().map_or(0.0, of_layer)
        };
        self.params().total() - self.modules() * self.groups.iter().map(left).sum::<f64>()
    }

    /// Every parameter, by what it is for.
    ///
    /// # Formula
    ///
    /// ```text
    /// attention   q h H d,  k and v 2 h K d,  o H d h      for each layer; latent: see Attention::params
    /// ffn         gated 3 h f, plain 2 h f,                for each layer
    ///             mixture E 3 h f + shared 3 h f + h E
    /// norms       2 h for each layer and h at the end      twice that with shifts; see norm_params
    /// embedding   V h;  LM head V h unless tied
    /// ```
    ///
    /// A head holds neither the embedding nor, unless it scores a vocabulary of its own, an LM head:
    /// both are its target's.
    #[must_use]
    pub fn params(&self) -> ParamCount {
        let h = self.hidden();
        let (mut attention, mut ffn, mut experts, mut others) = (0.0, 0.0, 0.0, 0.0);
        for group in &self.groups {
            let count = group.count as f64;
            attention += count * self.attention_params(group);
            let picked = group.ffn.moe().map_or(0.0, |moe| moe.experts() as f64 * moe.expert_params(h));
            experts += count * picked;
            ffn += count * (group.ffn.params(h) - picked);
            others += count * self.extra_params_of(group);
        }
        others += self.extras.positions as f64 * h + self.extras.extra_params as f64;
        others += self.head.as_ref().map_or(0.0, |head| head.fuse_bias(h));
        let (each_pass, once) = self.fuse_params();
        let (embedding, lm_head) = match &self.head {
            Some(head) => (0.0, if head.has_own_lm_head() { self.lm_head_params() } else { 0.0 }),
            None => (self.lm_head_params(), if self.tied_embeddings { 0.0 } else { self.lm_head_params() }),
        };
        let norms = if self.groups.is_empty() { 0.0 } else { self.norm_params() };
        let copies = self.modules();
        ParamCount {
            attention: attention * copies,
            ffn: ffn * copies,
            experts: experts * copies,
            embedding,
            lm_head,
            norms: norms * copies,
            fuse: (each_pass + once) * copies,
            others: others * copies,
        }
    }

    /// Biases and inner normalisations of one layer.
    fn extra_params_of(&self, group: &LayerGroup) -> f64 {
        let inner = group.attention.small_params(self.extras.qkv_bias, self.extras.qk_norm);
        let mlp_bias = match group.ffn {
            Ffn::Gated { .. } if self.extras.mlp_bias => 2.0 * group.ffn.intermediate() + self.hidden(),
            Ffn::Plain { .. } if self.extras.mlp_bias => group.ffn.intermediate() + self.hidden(),
            Ffn::Moe(moe) if self.extras.mlp_bias => moe.experts() as f64 * moe.bias_params(self.hidden()),
            _ => 0.0,
        };
        inner + mlp_bias
    }
}
