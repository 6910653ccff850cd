//! A model: how many parameters it has and how many bytes a token's KV takes, counted here only.

use crate::domain::attention::Attention;
use crate::domain::formats::Format;
pub use crate::domain::formats::Formats;
use crate::domain::head::Head;
use crate::domain::layers::{LayerGroup, Layers};
use crate::units::Bytes;
use crate::words::{HeadKind, Part, Role};

/// A target, a drafter or a head.
#[derive(Clone, Debug, PartialEq)]
pub struct Model {
    /// The catalog id.
    pub id: String,
    /// Its name.
    pub name: String,
    /// What it is for.
    pub role: Role,
    /// Size of the vocabulary, where known.
    pub vocab: Option<u64>,
    /// What is counted.
    pub shape: Shape,
    /// Number formats.
    pub formats: Formats,
    /// Whether the shape is partly a guess.
    pub approximate: bool,
    /// Targets it drafts for, if it is a head made for some.
    pub fits: Vec<String>,
    /// Where the figures are from.
    pub source: Option<String>,
}

/// What the counts of a model are made from.
#[derive(Clone, Debug, PartialEq)]
pub enum Shape {
    /// Totals without layers.
    Aggregate(Aggregate),
    /// Every layer.
    Layers(Layers),
}

/// A model known by its totals: enough for the founding formula, not for operators.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Aggregate {
    matmul_params: f64,
    total_params: f64,
    kv_bytes_per_token: f64,
}

/// Why totals cannot be those of a model.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub enum AggregateError {
    /// A count is negative, not finite, or zero where it cannot be.
    #[error("counts are finite and not negative, and some parameters are multiplied")]
    NotACount,
    /// More parameters are multiplied than exist.
    #[error("matmul_params ({matmul}) exceeds total_params ({total})")]
    MoreUsedThanHeld {
        /// Parameters that a pass multiplies.
        matmul: f64,
        /// Parameters in memory.
        total: f64,
    },
}

impl Aggregate {
    /// Totals that agree with each other.
    ///
    /// # Errors
    ///
    /// [`AggregateError`] if a count is negative or not finite, no parameter is multiplied, or more are
    /// multiplied than held.
    pub fn new(matmul_params: f64, total_params: f64, kv_bytes_per_token: f64) -> Result<Self, AggregateError> {
        let counts = [matmul_params, total_params, kv_bytes_per_token];
        if counts.iter().any(|count| !count.is_finite() || *count < 0.0) || matmul_params <= 0.0 {
            return Err(AggregateError::NotACount);
        }
        if matmul_params > total_params {
            return Err(AggregateError::MoreUsedThanHeld { matmul: matmul_params, total: total_params });
        }
        Ok(Self { matmul_params, total_params, kv_bytes_per_token })
    }

    /// Parameters that a pass multiplies with each token.
    #[must_use]
    pub const fn matmul_params(&self) -> f64 {
        self.matmul_params
    }

    /// Bytes of one token in the KV cache.
    #[must_use]
    pub const fn kv_bytes_per_token(&self) -> f64 {
        self.kv_bytes_per_token
    }
}

/// Engines keep the states of linear attention and state-space layers in 32 bits (`mamba_ssm_dtype` of public
/// configurations), and the tails of their filters in 16.
const STATE_BYTES: f64 = 4.0;
const FILTER_BYTES: f64 = 2.0;

/// KV cache of layers that keep the same tokens.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct KvShare {
    /// Bytes of one token in all these layers together.
    pub bytes_per_token: Bytes,
    /// Tokens that a token sees, itself included; none: all before it.
    pub window: Option<u64>,
}

impl KvShare {
    /// Cached tokens that a pass reads for each sequence: `min(ctx, window - 1)`, since the window holds
    /// the new token too.
    #[must_use]
    pub fn cached(&self, context: f64) -> f64 {
        self.window.map_or(context, |window| context.min(window as f64 - 1.0))
    }
}

impl Model {
    /// Parameters that a pass multiplies with each token: without the input embedding, with the LM head
    /// (the embeddings again where they are tied), of a mixture the picked and shared experts only.
    #[must_use]
    pub fn matmul_params(&self) -> f64 {
        match &self.shape {
            Shape::Aggregate(totals) => totals.matmul_params,
            Shape::Layers(layers) => layers.active_params(),
        }
    }

    /// Parameters in memory, the input embedding included.
    #[must_use]
    pub fn total_params(&self) -> f64 {
        match &self.shape {
            Shape::Aggregate(totals) => totals.total_params,
            Shape::Layers(layers) => layers.params().total(),
        }
    }

    /// Parameters that a token passes through, see [`Layers::active_total`]; none where only totals are known, which
    /// do not tell a mixture's experts apart.
    #[must_use]
    pub fn active_total(&self) -> Option<f64> {
        match &self.shape {
            Shape::Aggregate(_) => None,
            Shape::Layers(layers) => Some(layers.active_total()),
        }
    }

    /// The id without what tells several quantizations of it apart.
    #[must_use]
    pub fn base_id(&self) -> &str {
        self.id.split('@').next().unwrap_or_default()
    }

    /// How many layers it has; 0 if they are not known.
    #[must_use]
    pub fn layers(&self) -> f64 {
        match &self.shape {
            Shape::Aggregate(_) => 0.0,
            Shape::Layers(layers) => layers.layers(),
        }
    }

    /// What makes it a head, if it is one.
    #[must_use]
    pub const fn head(&self) -> Option<&Head> {
        match &self.shape {
            Shape::Layers(layers) => layers.head(),
            Shape::Aggregate(_) => None,
        }
    }

    /// How it drafts, if it is a head.
    #[must_use]
    pub const fn head_kind(&self) -> Option<HeadKind> {
        match self.head() {
            Some(head) => Some(head.kind),
            None => None,
        }
    }

    /// Whether it holds a mixture of experts.
    #[must_use]
    pub fn is_moe(&self) -> bool {
        matches!(&self.shape, Shape::Layers(layers) if layers.moe_layers() > 0.0)
    }

    /// Weight bytes in memory: every part's parameters times the bytes of its format.
    #[must_use]
    pub fn weight_bytes_held(&self) -> Bytes {
        let bytes = |part: Part| self.formats.part(part).bytes();
        Bytes::new(match &self.shape {
            Shape::Aggregate(totals) => totals.total_params * self.formats.weight_bytes(),
            Shape::Layers(layers) => {
                let params = layers.params();
                params.attention * bytes(Part::Attention)
                    + params.ffn * bytes(Part::Ffn)
                    + params.experts * bytes(Part::Experts)
                    + params.embedding * bytes(Part::Embedding)
                    + params.lm_head * bytes(Part::LmHead)
                    + (params.norms + params.fuse + params.others) * self.formats.weight_bytes()
            }
        })
    }

    /// Of these, what every device of a sliced model holds whole: routers, and what projects down to the ranks of
    /// latent attention.
    #[must_use]
    pub fn replicated_bytes_held(&self) -> Bytes {
        let Shape::Layers(layers) = &self.shape else { return Bytes::ZERO };
        let of_group = |group: &LayerGroup| {
            let down = match &group.attention {
                Attention::Mla(mla) => mla.down_params(layers.qkv_inputs()),
                _ => 0.0,
            };
            let router = group.ffn.moe().map_or(0.0, |moe| moe.router_params(layers.hidden()));
            let bytes = |part: Part| self.formats.part(part).bytes();
            group.count as f64 * (down * bytes(Part::Attention) + router * bytes(Part::Ffn))
        };
        Bytes::new(layers.modules() * layers.groups().iter().map(of_group).sum::<f64>())
    }

    /// Of these, embedding and LM head, which lie at the two ends of a model; a tied table lies at both.
    #[must_use]
    pub fn end_bytes_held(&self) -> [Bytes; 2] {
        match &self.shape {
            Shape::Aggregate(_) => [Bytes::ZERO; 2],
            Shape::Layers(layers) => {
                let (params, bytes) = (layers.params(), |part: Part| self.formats.part(part).bytes());
                [params.embedding * bytes(Part::Embedding), params.lm_head * bytes(Part::LmHead)].map(Bytes::new)
            }
        }
    }

    /// Of these, the experts that are picked.
    #[must_use]
    pub fn expert_bytes_held(&self) -> Bytes {
        match &self.shape {
            Shape::Aggregate(_) => Bytes::ZERO,
            Shape::Layers(layers) => Bytes::new(layers.params().experts * self.formats.part(Part::Experts).bytes()),
        }
    }

    /// Bytes of a weight in the mean over all that are held.
    #[must_use]
    pub fn mean_weight_bytes(&self) -> f64 {
        self.weight_bytes_held().get() / self.total_params()
    }

    /// Weight bytes of the whole model in one format, whatever its own.
    #[must_use]
    pub fn weight_bytes_in(&self, format: Format) -> Bytes {
        Bytes::new(self.total_params() * format.bytes())
    }

    /// The KV cache, by the tokens that its layers keep: `2 K d` values for each token and layer, or the
    /// latent's.
    #[must_use]
    pub fn kv_shares(&self) -> Vec<KvShare> {
        match &self.shape {
            Shape::Aggregate(totals) => {
                vec![KvShare { bytes_per_token: Bytes::new(totals.kv_bytes_per_token), window: None }]
            }
            Shape::Layers(layers) => layers.groups().iter().map(|group| self.kv_share(group)).collect(),
        }
    }

    /// The KV cache of one group of layers.
    #[must_use]
    pub fn kv_share(&self, group: &LayerGroup) -> KvShare {
        let values = group.attention.kv_values() * group.count as f64;
        KvShare { bytes_per_token: Bytes::new(values * self.formats.kv_bytes()), window: group.attention.window() }
    }

    /// Bytes of one sequence's state in a group of layers, with the tail of the filter.
    #[must_use]
    pub fn state_bytes(&self, group: &LayerGroup) -> Bytes {
        let (state, tail) = group.attention.state_values();
        let bytes = state * STATE_BYTES + tail * FILTER_BYTES;
        Bytes::new(bytes * group.count as f64)
    }

    /// Bytes of one sequence's state in all layers: what does not grow with the context.
    #[must_use]
    pub fn state_bytes_per_sequence(&self) -> Bytes {
        match &self.shape {
            Shape::Aggregate(_) => Bytes::ZERO,
            Shape::Layers(layers) => layers.groups().iter().map(|group| self.state_bytes(group)).sum(),
        }
    }

    /// Bytes that one token of one sequence takes in the KV cache while every layer keeps it.
    ///
    /// # Examples
    ///
    /// Llama-3-8B: 2 x 32 layers x 8 KV heads x 128 x 2 bytes.
    ///
    /// ```
    /// # use specplan::domain::{attention::{Attention, Gqa}, ffn::Ffn, layers::{Extras, LayerGroup, Layers}};
    /// # use specplan::domain::model::{Formats, Model, Shape};
    /// # use specplan::words::{Dtype, Role};
    /// let group = LayerGroup {
    ///     count: 32,
    ///     attention: Attention::Gqa(Gqa::new(32, 8, 128, None)?),
    ///     ffn: Ffn::Gated { intermediate: 14_336 },
    /// };
    /// # let model = Model { id: "m".into(), name: "m".into(), role: Role::Target, vocab: None, source: None,
    /// #     approximate: false, fits: vec![],
    /// #     shape: Shape::Layers(Layers::new(4096, 128_256, false, vec![group], Extras::default())?),
    /// #     formats: Formats::new(Dtype::Bf16, Dtype::Bf16, Dtype::Bf16) };
    /// assert_eq!(model.kv_bytes_per_token().get(), 131_072.0);
    /// assert_eq!(model.matmul_params(), 7_504_658_432.0);
    /// assert_eq!(model.total_params(), 8_030_261_248.0);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn kv_bytes_per_token(&self) -> Bytes {
        self.kv_shares().iter().map(|share| share.bytes_per_token).sum()
    }

    /// Of these, what goes on growing with the context: the layers without a window.
    #[must_use]
    pub fn growing_kv_bytes_per_token(&self) -> Bytes {
        let growing = |share: &&KvShare| share.window.is_none();
        self.kv_shares().iter().filter(growing).map(|share| share.bytes_per_token).sum()
    }

    /// What the layers with a window keep of one sequence once it is as long as their windows.
    #[must_use]
    pub fn window_kv_bytes_per_sequence(&self) -> Bytes {
        let kept = |share: &KvShare| Some(share.bytes_per_token * share.window? as f64);
        self.kv_shares().iter().filter_map(kept).sum()
    }
}
