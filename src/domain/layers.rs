//! A model's full shape: groups of equal layers between an embedding and a head, and what they count.
//!
//! Counts are `f64`: whole and exact up to 2^53, ten thousand times the largest model.

use crate::domain::attention::Attention;
use crate::domain::ffn::Ffn;
use crate::words::NormKind;

/// A whole decoder.
#[derive(Clone, Debug, PartialEq)]
pub struct Layers {
    hidden: u64,
    vocab: u64,
    tied_embeddings: bool,
    groups: Vec<LayerGroup>,
    extras: Extras,
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
    /// Whether queries, keys and values have a bias.
    pub qkv_bias: bool,
    /// Whether queries and keys are normalised, by one vector of a head's width each.
    pub qk_norm: bool,
    /// Whether the feed-forward matrices have a bias.
    pub mlp_bias: bool,
    /// Learned position embeddings.
    pub positions: u64,
    /// Parameters that no operator reads.
    pub extra_params: u64,
}

impl Default for Extras {
    /// Root-mean-square normalisation and nothing more: what most decoders have.
    fn default() -> Self {
        Self { norm: NormKind::Rms, qkv_bias: false, qk_norm: false, mlp_bias: false, positions: 0, extra_params: 0 }
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
    /// Feed-forward matrices.
    pub ffn: f64,
    /// The table of token embeddings.
    pub embedding: f64,
    /// The LM head, where it is not the table again.
    pub lm_head: f64,
    /// Scales and shifts of the normalisations before and after layers.
    pub norms: f64,
    /// Biases, normalisations of queries and keys, positions and what no operator reads.
    pub others: f64,
}

impl ParamCount {
    /// All of them.
    #[must_use]
    pub fn total(&self) -> f64 {
        self.attention + self.ffn + self.embedding + self.lm_head + self.norms + self.others
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
        if empty { Err(EmptyShape) } else { Ok(Self { hidden, vocab, tied_embeddings, groups, extras }) }
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

    /// Parameters of the LM head, which a pass reads whether or not they are the embeddings again: V h.
    #[must_use]
    pub const fn lm_head_params(&self) -> f64 {
        self.vocab as f64 * self.hidden as f64
    }

    /// Parameters of all normalisations before and after layers.
    #[must_use]
    pub fn norm_params(&self) -> f64 {
        let of_group = |group: &LayerGroup| group.count as f64 * if group.ffn == Ffn::None { 1.0 } else { 2.0 };
        let vectors: f64 = self.groups.iter().map(of_group).sum::<f64>() + 1.0;
        let parts = match self.extras.norm {
            NormKind::Rms => 1.0,
            NormKind::Layer => 2.0,
        };
        vectors * self.hidden() * parts
    }

    /// Every parameter, by what it is for.
    ///
    /// # Formula
    ///
    /// ```text
    /// attention   q h H d,  k and v 2 h K d,  o H d h      for each layer
    /// ffn         gated 3 h f, plain 2 h f                 for each layer
    /// norms       2 h for each layer and h at the end      twice that with shifts
    /// embedding   V h;  LM head V h unless tied
    /// ```
    #[must_use]
    pub fn params(&self) -> ParamCount {
        let h = self.hidden();
        let (mut attention, mut ffn, mut others) = (0.0, 0.0, 0.0);
        for group in &self.groups {
            let count = group.count as f64;
            let Attention::Gqa(gqa) = group.attention;
            attention += count * h * 2.0 * (gqa.query_width() + gqa.kv_width());
            ffn += count * group.ffn.params(h);
            let qkv_bias = if self.extras.qkv_bias { gqa.query_width() + 2.0 * gqa.kv_width() } else { 0.0 };
            let qk_norm = if self.extras.qk_norm { 2.0 * gqa.head_dim() } else { 0.0 };
            let mlp_bias = match group.ffn {
                Ffn::Gated { .. } if self.extras.mlp_bias => 2.0 * group.ffn.intermediate() + h,
                Ffn::Plain { .. } if self.extras.mlp_bias => group.ffn.intermediate() + h,
                _ => 0.0,
            };
            others += count * (qkv_bias + qk_norm + mlp_bias);
        }
        others += self.extras.positions as f64 * h + self.extras.extra_params as f64;
        let lm_head = if self.tied_embeddings { 0.0 } else { self.lm_head_params() };
        ParamCount { attention, ffn, embedding: self.lm_head_params(), lm_head, norms: self.norm_params(), others }
    }
}
