//! What proposes tokens.

use std::borrow::Cow;

use crate::domain::acceptance::Acceptance;
use crate::domain::head::{self, Head, NoHead};
use crate::domain::model::Model;
use crate::domain::shape::TreeShape;
use crate::words::{DrafterKind, HeadKind};

/// A drafter with its label and acceptance.
#[derive(Clone, Debug, PartialEq)]
pub struct Drafter {
    /// The scenario's name for it.
    pub label: String,
    /// What it is.
    pub source: DraftSource,
    /// Whether it drafts on devices of its own, while the target verifies.
    pub overlap: bool,
    /// The tree it drafts; none: a chain, or a block.
    pub tree: Option<TreeShape>,
    /// The most drafts of a round, where there is a limit.
    pub longest: Option<u64>,
    /// Devices it is spread over, where the scenario says; else those of the target.
    pub tensor_parallel: Option<u64>,
    /// How its drafts are accepted.
    pub acceptance: Acceptance,
}

/// Where drafts come from.
#[derive(Clone, Debug, PartialEq)]
#[expect(clippy::large_enum_variant, reason = "there is one for each drafter of a study")]
pub enum DraftSource {
    /// A separate model runs one pass for each draft.
    Model(Model),
    /// A head that drafts from the target's hidden state: EAGLE, MTP, block drafters.
    Head(HeadSource),
    /// Drafts are looked up in the prompt and the output so far: no pass, no memory.
    Ngram,
    /// Drafts are looked up in a tree of suffixes: no pass, no device memory.
    Suffix,
    /// The target itself over a capped KV cache.
    SparseKv {
        /// Cached tokens that a draft pass reads.
        budget: u64,
    },
    /// The first layers of the target, and its LM head: early exit.
    LayerSkip {
        /// How many layers.
        layers: u64,
    },
    /// Look-ahead decoding: n-grams are guessed and verified in the same pass (Fu et al. 2024, arXiv 2402.02057).
    Lookahead {
        /// Positions guessed ahead, W.
        window: u64,
        /// Tokens of an n-gram, N.
        ngram: u64,
    },
    /// Each draft costs a constant share of the target's plain step; 0 is free. Takes no memory.
    Constant {
        /// Draft pass over plain step.
        cost_ratio: CostRatio,
    },
}

/// A head, by name or derived from its target.
#[derive(Clone, Debug, PartialEq)]
pub enum HeadSource {
    /// From the catalog.
    Named(Box<Model>),
    /// As training recipes make it for a target of this shape.
    Derived(Head),
}

/// The passes of a round, for each sequence.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Layout {
    /// Tokens verified.
    pub verify_width: f64,
    /// Draft passes.
    pub draft_passes: f64,
    /// Tokens of each draft pass.
    pub draft_width: f64,
    /// Whether several candidates are drafted for a position.
    pub is_tree: bool,
}

impl Layout {
    /// Nothing is drafted, one token is verified.
    pub const PLAIN: Self = Self { verify_width: 1.0, draft_passes: 0.0, draft_width: 0.0, is_tree: false };
}

/// A draft pass over a plain step: finite and at least 0.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub struct CostRatio(f64);

/// A number that cannot be a cost ratio.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[error("a cost ratio is at least 0, not {0}")]
pub struct NotACostRatio(pub f64);

impl CostRatio {
    /// Nothing: drafts are free.
    pub const FREE: Self = Self(0.0);

    /// A ratio.
    ///
    /// # Errors
    ///
    /// [`NotACostRatio`] for what is negative or not finite.
    pub fn new(ratio: f64) -> Result<Self, NotACostRatio> {
        if ratio.is_finite() && ratio >= 0.0 { Ok(Self(ratio + 0.0)) } else { Err(NotACostRatio(ratio)) }
    }

    /// The number.
    #[must_use]
    pub const fn get(self) -> f64 {
        self.0
    }
}

impl DraftSource {
    /// The word of the scenario format.
    #[must_use]
    pub fn kind(&self) -> DrafterKind {
        match self {
            Self::Model(_) => DrafterKind::Model,
            Self::Head(head) => match head.kind() {
                HeadKind::Eagle1 | HeadKind::Eagle3 => DrafterKind::Eagle,
                HeadKind::Mtp => DrafterKind::Mtp,
                HeadKind::Block => DrafterKind::Block,
                HeadKind::Medusa => DrafterKind::Medusa,
            },
            Self::Ngram => DrafterKind::Ngram,
            Self::Suffix => DrafterKind::Suffix,
            Self::SparseKv { .. } => DrafterKind::SparseKv,
            Self::LayerSkip { .. } => DrafterKind::LayerSkip,
            Self::Lookahead { .. } => DrafterKind::Lookahead,
            Self::Constant { .. } => DrafterKind::Constant,
        }
    }

    /// Whether there are published measurements of such drafters that fitted engines' prices were held against. None are of suffix
    /// decoding, early exit or look-ahead.
    #[must_use]
    pub const fn is_covered(&self) -> bool {
        !matches!(self, Self::Suffix | Self::LayerSkip { .. } | Self::Lookahead { .. })
    }

    /// The one engine that published measurements of such drafters were made with, where it is one: Spec-Bench ran
    /// Medusa in Transformers, MagicDec its sparse caches in gpt-fast; separate models at load were measured on vLLM.
    #[must_use]
    pub fn only_engine(&self) -> Option<&'static str> {
        match self {
            Self::Head(head) if head.kind() == HeadKind::Medusa => Some("hf-eager"),
            Self::SparseKv { .. } => Some("gptfast-tp"),
            Self::Model(_) => Some("vllm"),
            _ => None,
        }
    }

    /// The only draft length there is: of look-ahead the n-gram without its first token.
    #[must_use]
    pub const fn only_length(&self) -> Option<u64> {
        match self {
            Self::Lookahead { ngram, .. } => Some(*ngram - 1),
            _ => None,
        }
    }

    /// Whether it has draft passes that can go on from several candidates, so that it can draft a tree.
    #[must_use]
    pub fn branches(&self) -> bool {
        match self {
            Self::Ngram | Self::Suffix | Self::Lookahead { .. } | Self::Constant { .. } => false,
            Self::Head(head) => head.kind() != HeadKind::Block,
            Self::Model(_) | Self::SparseKv { .. } | Self::LayerSkip { .. } => true,
        }
    }

    /// Whether drafts are looked up, so that only some sequences propose any.
    #[must_use]
    pub const fn looks_up(&self) -> bool {
        matches!(self, Self::Ngram | Self::Suffix)
    }

    /// The model that is named, if there is one.
    #[must_use]
    pub fn model(&self) -> Option<&Model> {
        match self {
            Self::Model(model) => Some(model),
            Self::Head(HeadSource::Named(model)) => Some(model),
            _ => None,
        }
    }

    /// The model that sits in memory beside a target, derived from it where none is named.
    ///
    /// # Errors
    ///
    /// [`NoHead`] if a head has to be derived from a target that is known by its totals.
    pub fn beside<'a>(&'a self, target: &Model) -> Result<Option<Cow<'a, Model>>, NoHead> {
        match self {
            Self::Head(HeadSource::Derived(of)) => head::derived(target, *of).map(|model| Some(Cow::Owned(model))),
            _ => Ok(self.model().map(Cow::Borrowed)),
        }
    }

    /// The passes of a round of k drafts when a share of the sequences proposes any; for all drafters
    /// but those that look drafts up it is 1.
    ///
    /// # Formula
    ///
    /// ```text
    ///                        verified       draft passes   tokens of each
    /// chain                  k + 1          k              1
    /// tree                   nodes          levels         topk, or the mean of nodes with children
    /// block                  k + 1          1              k + 1
    /// Medusa                 k + 1          1              1
    /// n-gram, suffix         1 + k share    0              -
    /// look-ahead             2 W (N - 1)    0              -
    /// ```
    #[must_use]
    pub fn layout(&self, tree: Option<&TreeShape>, k: u64, proposing_share: f64) -> Layout {
        let k = k as f64;
        match (self, tree) {
            (Self::Ngram | Self::Suffix, _) => Layout { verify_width: 1.0 + k * proposing_share, ..Layout::PLAIN },
            (Self::Lookahead { window, ngram }, _) => {
                let tokens = 2.0 * *window as f64 * (*ngram as f64 - 1.0);
                Layout { verify_width: tokens, ..Layout::PLAIN }
            }
            (Self::Head(head), tree) if head.kind() == HeadKind::Medusa => {
                let verify_width = tree.map_or(k + 1.0, |tree| tree.nodes() as f64);
                Layout { verify_width, draft_passes: 1.0, draft_width: 1.0, is_tree: verify_width > k + 1.0 }
            }
            (_, Some(tree)) => Layout {
                verify_width: tree.nodes() as f64,
                draft_passes: tree.depth() as f64,
                draft_width: tree.draft_width(),
                is_tree: tree.nodes() > tree.depth() + 1,
            },
            (Self::Head(head), None) if head.kind() == HeadKind::Block => {
                Layout { verify_width: k + 1.0, draft_passes: 1.0, draft_width: k + 1.0, is_tree: false }
            }
            _ => Layout { verify_width: k + 1.0, draft_passes: k, draft_width: 1.0, is_tree: false },
        }
    }
}

impl Drafter {
    /// Whether published measurements stand behind the price of such a drafter with an engine. None are of drafts
    /// that overlap with verification.
    #[must_use]
    pub fn is_covered(&self, engine: &str) -> bool {
        let only = self.source.only_engine();
        self.source.is_covered() && !self.overlap && only.is_none_or(|only| only == engine)
    }

    /// The only draft length there is: a tree's depth, or an n-gram's.
    #[must_use]
    pub fn only_length(&self) -> Option<u64> {
        self.tree.as_ref().map(TreeShape::depth).or_else(|| self.source.only_length())
    }
}

impl HeadSource {
    /// How it drafts. A named head without a kind of its own would not have been read.
    #[must_use]
    pub fn kind(&self) -> HeadKind {
        match self {
            Self::Derived(head) => head.kind,
            Self::Named(model) => model.head_kind().unwrap_or(HeadKind::Eagle1),
        }
    }
}
