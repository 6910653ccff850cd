//! A step of an engine that serves: a round of the sequences that decode, and prompts that are read beside it.

use crate::cost::draft::DraftPricing;
use crate::cost::pass::mixed;
use crate::cost::pricing::{Pricing, Served};
use crate::cost::shape::PassShape;
use crate::domain::model::{Model, Shape};
use crate::plan::round::{plain_step, round};
use crate::plan::setup::Setup;
use crate::units::Seconds;

/// What a step takes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Step {
    /// Whatever is emitted.
    pub fixed: Seconds,
    /// For each token that a sequence emits, in the mean over those that decode.
    pub token: Seconds,
}

impl Step {
    /// No time.
    pub const NONE: Self = Self { fixed: Seconds::ZERO, token: Seconds::ZERO };

    /// The time of a step in which a sequence emits so many tokens in the mean.
    #[must_use]
    pub fn seconds(&self, tokens: f64) -> Seconds {
        self.fixed + self.token * tokens
    }
}

/// What decodes in a step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Decoding {
    /// Sequences; 0 where prompts alone are read.
    pub batch: f64,
    /// Mean tokens of each in the cache.
    pub context: f64,
    /// Draft length; 0 for a plain step.
    pub k: u64,
    /// Share of sequences that propose, of drafters that look drafts up.
    pub proposing_share: f64,
}

/// A step without prompts: a round, or a plain step at k = 0.
#[must_use]
pub fn step(setup: &Setup<'_>, of: Decoding) -> Step {
    if of.batch <= 0.0 {
        return Step::NONE;
    }
    let plain = plain_step(setup, of.batch, of.context);
    let round = round(setup, &plain, of.batch, of.context, of.k, of.proposing_share);
    Step { fixed: round.seconds(0.0), token: round.token }
}

/// Contexts beyond which layers of the target no longer read more, in rising order: windows, and numbers of tokens that are selected.
#[must_use]
pub fn edges(setup: &Setup<'_>) -> Vec<u64> {
    let Shape::Layers(layers) = &setup.target.shape else { return Vec::new() };
    let mut edges: Vec<u64> = layers.groups().iter().filter_map(|group| group.attention.sees_at_most()).collect();
    edges.sort_unstable();
    edges.dedup();
    edges
}

/// What the verification of sequences of several contexts takes beyond one of as many at their mean context: less than nothing where a window
/// cuts the long ones.
///
/// # Formula
///
/// ```text
/// t = t_T(groups) - t_T(B at the mean context)        sequences between the same two edges at their own mean context
/// ```
///
/// Between edges what a sequence reads grows evenly with its context, so that a mean stands for all of them.
#[must_use]
pub fn spread(setup: &Setup<'_>, of: Decoding, groups: &[Decoding]) -> Seconds {
    let verify_width = setup.layout(of.k, of.proposing_share).map_or(1.0, |layout| layout.verify_width);
    let by = if of.k == 0 { setup.overheads.of_plain() } else { setup.overheads.of_verify() };
    let target = (setup.target, &setup.pricing, by);
    let shape = |of: &Decoding| PassShape::verify(of.batch, verify_width, of.context);
    let parts: Vec<PassShape> = groups.iter().map(shape).collect();
    priced(setup, target, &parts) - priced(setup, target, &[shape(&of)])
}

/// What prompts that are read in a step add to it; where nothing decodes, the whole step.
///
/// # Formula
///
/// ```text
/// t = t_T(verification and prompts) - t_T(verification)
///   + t_D(drafts and prompts) - t_D(drafts)               where a drafter reads prompts too, with its first draft pass
/// ```
///
/// Weights are read once for all of them, so that a prompt beside a step costs less than one alone. A drafter that is loaded, `drafting`,
/// reads every prompt, drafted or not: it could not go on from there otherwise. A cost stated as a share of plain steps says nothing of prompts.
#[must_use]
pub fn reading(setup: &Setup<'_>, of: Decoding, prompts: &[PassShape], drafting: bool) -> Seconds {
    if prompts.is_empty() {
        return Seconds::ZERO;
    }
    let layout = setup.layout(of.k, of.proposing_share);
    let verify_width = layout.map_or(1.0, |layout| layout.verify_width);
    let verify = PassShape::verify(of.batch, verify_width, of.context);
    let by = if of.k == 0 { setup.overheads.of_plain() } else { setup.overheads.of_verify() };
    let target = beside(setup, (setup.target, &setup.pricing, by), verify, prompts);
    let drafting = setup.drafting.as_ref().filter(|_| drafting);
    let Some(DraftPricing::Passes { model, pricing, budget }) = drafting else { return target };
    let read = budget.map_or(of.context, |budget| of.context.min(budget as f64));
    let (width, is_tree) = layout.map_or((1.0, false), |layout| (layout.draft_width, layout.is_tree));
    // Where nothing is drafted the drafter reads alone.
    let batch = layout.map_or(0.0, |_| of.batch);
    let drafts = PassShape::verify(batch, width, read);
    let drafter = beside(setup, (model, pricing, setup.overheads.of_draft(is_tree)), drafts, prompts);
    target + drafter
}

/// A pass with prompts beside it, less the pass alone.
fn beside(setup: &Setup<'_>, of: (&Model, &Pricing, Served), alone: PassShape, prompts: &[PassShape]) -> Seconds {
    if alone.batch <= 0.0 {
        return priced(setup, of, prompts);
    }
    let parts: Vec<PassShape> = std::iter::once(alone).chain(prompts.iter().copied()).collect();
    priced(setup, of, &parts) - priced(setup, of, &parts[..1])
}

/// One pass over parts of several shapes.
fn priced(setup: &Setup<'_>, (model, pricing, by): (&Model, &Pricing, Served), parts: &[PassShape]) -> Seconds {
    let cost = mixed(model, pricing, parts);
    let together = parts.iter().map(|part| pricing.placement.together(*part));
    let (batch, tokens) =
        together.fold((0.0, 0.0), |(batch, tokens), part| (batch + part.batch, tokens + part.new_tokens()));
    let whole = PassShape::verify(batch, tokens / batch, 0.0);
    setup.captures().applied(cost, whole, model.layers()).served(by).seconds()
}
