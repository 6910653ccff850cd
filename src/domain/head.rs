//! Heads that draft from a target's hidden state: what they share with it, and how one is derived.

use crate::domain::ffn::Ffn;
use crate::domain::layers::{EmptyShape, Extras, LayerGroup, Layers};
use crate::domain::model::{Formats, Model, Shape};
use crate::words::{Dtype, HeadKind, Role};

/// Rows of the LM head of EAGLE-3 heads as they are trained (Li et al. 2025, arXiv 2503.01840, and the
/// configurations of SpecForge).
pub const EAGLE3_VOCAB: u64 = 32_000;
/// Layers of a block drafter (DFlash and DSpark, configurations of SpecForge).
pub const BLOCK_LAYERS: u64 = 5;
/// Heads of a Medusa checkpoint (Cai et al. 2024, arXiv 2401.10774; released checkpoints).
pub const MEDUSA_HEADS: u64 = 5;

/// What makes layers a head.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Head {
    /// How it drafts.
    pub kind: HeadKind,
    /// Rows of its own LM head; none: each pass reads the target's.
    pub draft_vocab: Option<u64>,
    /// MTP: alike modules in memory, of which a pass runs one. Medusa: heads, all run in the one pass.
    pub copies: u64,
    /// EAGLE-3 and block drafters: layers of the target whose hidden states are joined once for each verification.
    pub reads: Option<u64>,
}

/// Layers of its target that an EAGLE-3 head reads: a low, a middle and a high one (arXiv 2503.01840, section 3).
const EAGLE3_READS: u64 = 3;

impl Head {
    /// Rows that a pass scores.
    pub(super) const fn scored_rows(&self, target_vocab: u64) -> f64 {
        match (self.kind, self.draft_vocab) {
            (HeadKind::Medusa, _) => (self.copies * target_vocab) as f64,
            (_, Some(own)) => own as f64,
            (_, None) => target_vocab as f64,
        }
    }

    /// Whether the LM head it reads is in memory beside the target's.
    pub(super) const fn has_own_lm_head(&self) -> bool {
        matches!(self.kind, HeadKind::Medusa) || self.draft_vocab.is_some()
    }

    /// EAGLE-3 projects from embedding and hidden state side by side.
    pub(super) const fn qkv_inputs(&self) -> f64 {
        if matches!(self.kind, HeadKind::Eagle3) { 2.0 } else { 1.0 }
    }

    /// Modules in memory for each that runs.
    pub(super) const fn modules(&self) -> f64 {
        if matches!(self.kind, HeadKind::Mtp) { self.copies as f64 } else { 1.0 }
    }

    /// Parameters that join inputs: in every pass, and once a round.
    ///
    /// EAGLE-1 and MTP join embedding and hidden state, 2 h x h. EAGLE-3 joins three hidden states of
    /// the target, 3 h x h, once for each verification: counted in memory, left out of time as the engines'
    /// fits left it out (33 us of a 9 ms round for an 8B target). Block drafters join as many as they say. A Medusa
    /// head has a block of h x h.
    pub(super) fn fuse_params(&self, hidden: f64) -> (f64, f64) {
        let square = hidden * hidden;
        let reads = |usual: u64| self.reads.unwrap_or(usual) as f64 * square;
        match self.kind {
            HeadKind::Eagle1 | HeadKind::Mtp => (2.0 * square, 0.0),
            HeadKind::Eagle3 => (0.0, reads(EAGLE3_READS)),
            HeadKind::Medusa => (self.copies as f64 * square, 0.0),
            HeadKind::Block => (0.0, reads(0)),
        }
    }

    /// Biases of what joins inputs: EAGLE-1's projection and the blocks of Medusa have one (released checkpoints).
    pub(super) const fn fuse_bias(&self, hidden: f64) -> f64 {
        match self.kind {
            HeadKind::Eagle1 => hidden,
            HeadKind::Medusa => self.copies as f64 * hidden,
            HeadKind::Eagle3 | HeadKind::Mtp | HeadKind::Block => 0.0,
        }
    }

    /// Normalisations beside those of the layers and the last one. EAGLE-3 and block drafters have one for the
    /// hidden state, MTP two for what it joins; EAGLE-1 lacks the one before its first layer and the last
    /// (modelling code of SpecForge, DeepSeek-V3 and EAGLE).
    pub(super) const fn more_norms(&self) -> f64 {
        match self.kind {
            HeadKind::Eagle1 => -2.0,
            HeadKind::Eagle3 | HeadKind::Block => 1.0,
            HeadKind::Mtp => 2.0,
            HeadKind::Medusa => 0.0,
        }
    }

    /// Products of a pass outside the layers: the LM head, and what joins inputs.
    pub(super) const fn products(&self) -> f64 {
        match self.kind {
            HeadKind::Eagle1 | HeadKind::Mtp => 2.0,
            HeadKind::Eagle3 | HeadKind::Block => 1.0,
            HeadKind::Medusa => 2.0 * self.copies as f64,
        }
    }
}

/// Why no head follows from a target.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoHead {
    /// Its layers are not known.
    #[error("no head can be derived for `{0}`, which is known by its totals")]
    Totals(String),
    /// Its layers are of no use.
    #[error(transparent)]
    Empty(#[from] EmptyShape),
}

/// The head that training recipes give a target of this shape: bf16 weights, the target's KV format.
///
/// # Formula
///
/// ```text
/// eagle1   one layer and 2h x h,             the target's LM head
/// eagle3   one layer whose qkv reads 2h,     an LM head of 32,000 rows unless told otherwise
/// mtp      one layer of the target and 2h x h for each module, the target's LM head
/// block    five layers,                      the target's LM head
/// medusa   five times h x h and an LM head,  no layer
/// ```
///
/// The layer has the attention of the target's last layer without a window. Its feed-forward part is
/// the target's; where that is a mixture, only MTP keeps it, and the others are as wide as what one
/// token passes through.
///
/// # Errors
///
/// [`NoHead`] for a target known by its totals.
pub fn derived(target: &Model, head: Head) -> Result<Model, NoHead> {
    let Shape::Layers(of) = &target.shape else { return Err(NoHead::Totals(target.id.clone())) };
    let width = of.hidden() as u64;
    let layers = if head.kind == HeadKind::Medusa {
        Layers::heads_only(width, of.vocab(), head)?
    } else {
        let last = of.groups().last().ok_or(EmptyShape)?;
        let group = of.groups().iter().rev().find(|group| group.attention.stands_alone()).unwrap_or(last);
        // Some models have blocks of one part each: a layer has the last feed-forward part that there is.
        let with_ffn = |group: &&LayerGroup| group.ffn != Ffn::None;
        let last_ffn = of.groups().iter().rev().find(with_ffn).map_or(Ffn::None, |group| group.ffn);
        let own = if group.ffn == Ffn::None { last_ffn } else { group.ffn };
        let ffn = if head.kind == HeadKind::Mtp { last_ffn } else { dense(own, of.hidden()) };
        let count = if head.kind == HeadKind::Block { BLOCK_LAYERS } else { 1 };
        let group = LayerGroup { count, attention: group.attention, ffn };
        Layers::new(width, of.vocab(), false, vec![group], Extras::default())?.as_head(head)
    };
    Ok(Model {
        id: format!("{}-of-{}", head.kind, target.id),
        name: format!("{} head derived for {}", head.kind, target.name),
        role: Role::Head,
        vocab: target.vocab,
        shape: Shape::Layers(layers),
        formats: match head.kind {
            // Modules for multi-token prediction are released with their target; other heads are trained apart.
            HeadKind::Mtp => target.formats,
            _ => Formats::new(Dtype::Bf16, Dtype::Bf16, target.formats.kv()),
        },
        approximate: true,
        fits: vec![target.id.clone()],
        source: Some("derived from its target's shape".to_owned()),
    })
}

/// A dense feed-forward part as wide as what one token passes through.
fn dense(ffn: Ffn, hidden: f64) -> Ffn {
    match ffn.moe() {
        Some(moe) if moe.plain() => Ffn::Plain { intermediate: moe.passed_width(hidden) },
        Some(moe) => Ffn::Gated { intermediate: moe.passed_width(hidden) },
        None => ffn,
    }
}

/// The first layers of a target with its embedding and LM head: what drafts by early exit.
///
/// Layers are taken in the order of the model's groups.
///
/// # Errors
///
/// [`NoHead`] for a target known by its totals, or no layer.
pub fn first_layers(target: &Model, count: u64) -> Result<Model, NoHead> {
    let Shape::Layers(of) = &target.shape else { return Err(NoHead::Totals(target.id.clone())) };
    let mut left = count;
    let take = |group: &LayerGroup| {
        let count = group.count.min(left);
        left -= count;
        (count > 0).then_some(LayerGroup { count, ..*group })
    };
    let groups: Vec<LayerGroup> = of.groups().iter().filter_map(take).collect();
    let layers = Layers::new(of.hidden() as u64, of.vocab(), of.tied_embeddings(), groups, Extras::default())?;
    Ok(Model { id: format!("first-{count}-of-{}", target.id), shape: Shape::Layers(layers), ..target.clone() })
}
