//! The time of a plain step and of a speculative round.

use crate::cost::draft::draft_pass;
use crate::cost::pass::{PassCost, pass};
use crate::cost::pricing::Served;
use crate::cost::shape::PassShape;
use crate::domain::drafter::Layout;
use crate::plan::setup::Setup;
use crate::plan::speedup::speedup;
use crate::units::Seconds;
use crate::words::{Bound, Term};

/// A round: drafts, one verification pass, and what else speculation costs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Round {
    /// The whole draft phase; of drafts on devices of their own what outlasts verification.
    pub draft: Seconds,
    /// What a draft pass is bound by; `None` where nothing is drafted or no pass is modelled.
    pub draft_bound: Option<Bound>,
    /// Tokens verified for each sequence.
    pub verify_width: f64,
    /// The verification pass, with the engine's time for a step.
    pub verify: PassCost,
    /// What is paid only for speculating, for each round and sequence. None with an ideal engine.
    pub fixed: Seconds,
    /// For each token that the round emits of a sequence. None but with a calibrated engine.
    pub token: Seconds,
}

impl Round {
    /// What is paid beside passes by a round that emits so many tokens of each sequence: `fixed + tokens token`.
    #[must_use]
    pub fn overhead(&self, tokens: f64) -> Seconds {
        self.fixed + self.token * tokens
    }

    /// Tokens of each sequence that the round has to emit to take no longer than `due` for each; none where a token alone takes that long.
    ///
    /// # Formula
    ///
    /// ```text
    /// tokens = (draft + verify + fixed) / (due - token)
    /// ```
    #[must_use]
    pub fn tokens_within(&self, due: Seconds) -> Option<f64> {
        let beyond = due.get() - self.token.get();
        (beyond > 0.0).then(|| self.seconds(0.0).get() / beyond)
    }

    /// `draft + verify + overhead` of a round that emits so many tokens of each sequence.
    #[must_use]
    pub fn seconds(&self, tokens: f64) -> Seconds {
        self.draft + self.verify.seconds() + self.overhead(tokens)
    }
}

/// A plain decoding step of the target: one new token for each of `batch` sequences, and the engine's
/// time for a step.
#[must_use]
pub fn plain_step(setup: &Setup<'_>, batch: f64, context: f64) -> PassCost {
    let priced = |context: f64| {
        let step = step(setup, PassShape::decode(batch, context), setup.overheads.of_plain());
        step.with(Term::Token, setup.overheads.token)
    };
    as_measured(setup, (batch, 1.0), context, |_, context| priced(context))
}

/// A pass as it was measured, if it was; its parts and what it is bound by are those of its price.
///
/// # Formula
///
/// ```text
/// t(B, q, ctx) = measured(B, q') price(B, q, ctx) / price(B, q', measured ctx),    q' = min(q, widest that was measured)
/// ```
///
/// Beyond the widest the price goes on from what was measured there: a wider verification as priced beside a narrower one as measured could come out
/// cheaper.
fn as_measured(
    setup: &Setup<'_>,
    (batch, width): (f64, f64),
    context: f64,
    priced: impl Fn(f64, f64) -> PassCost,
) -> PassCost {
    let known = setup.verify_cost.and_then(|table| Some((table.context(), table.up_to(batch, width)?)));
    match known {
        Some((own, (within, measured))) => priced(width, context).times(measured / priced(within, own).seconds()),
        None => priced(width, context),
    }
}

fn step(setup: &Setup<'_>, shape: PassShape, served: Served) -> PassCost {
    let together = setup.pricing.placement.together(shape);
    let cost = pass(setup.target, &setup.pricing, shape);
    setup.captures().applied(cost, together, setup.target.layers()).served(served)
}

/// A round at draft length k, beside the plain step of the same batch and context.
///
/// # Formula
///
/// ```text
/// t_round = passes (pace t_D(B, width) + t_draft) + pace t_T(B, q) + t_step + t_round + (devices - 1) t_round_device + B t_sequence + tokens t_token
/// ```
///
/// Leviathan et al. 2023 (arXiv 2211.17192), section 3.3, with the verification pass priced at its
/// own width. Passes, width and q are those of the drafter's layout; `proposing_share` counts only for
/// drafters that look drafts up. At k = 0 nothing is drafted and the round is the plain step itself.
#[must_use]
pub fn round(setup: &Setup<'_>, plain: &PassCost, batch: f64, context: f64, k: u64, proposing_share: f64) -> Round {
    match setup.layout(k, proposing_share) {
        Some(layout) => round_of(setup, plain, batch, context, layout),
        None => Round {
            draft: Seconds::ZERO,
            draft_bound: None,
            verify_width: 1.0,
            verify: *plain,
            fixed: Seconds::ZERO,
            // The plain step holds that of its one token.
            token: Seconds::ZERO,
        },
    }
}

/// What a round at draft length k gains that yields so many tokens per pass, beside the plain step of the same batch and context. Of
/// drafts that are looked up the share of sequences that propose follows from those tokens.
#[must_use]
pub fn gain(setup: &Setup<'_>, plain: &PassCost, (batch, context): (f64, f64), k: u64, tokens: f64) -> f64 {
    let round = round(setup, plain, batch, context, k, setup.proposing_share(tokens, k));
    speedup(tokens, plain.seconds(), round.seconds(tokens))
}

/// A round of a stated layout.
#[must_use]
pub fn round_of(setup: &Setup<'_>, plain: &PassCost, batch: f64, context: f64, layout: Layout) -> Round {
    let Layout { verify_width, draft_passes, draft_width, is_tree } = layout;
    let (draft, draft_bound) = match &setup.drafting {
        Some(drafting) if draft_passes > 0.0 => {
            let shape = drafting.shape(batch, draft_width, context);
            let drafted = draft_pass(drafting, plain, shape, setup.overheads.of_draft(is_tree), setup.captures());
            (drafted.seconds * draft_passes, drafted.bound)
        }
        _ => (Seconds::ZERO, None),
    };
    let priced =
        |width: f64, context: f64| step(setup, PassShape::verify(batch, width, context), setup.overheads.of_verify());
    let verify = as_measured(setup, (batch, verify_width), context, priced);
    let hidden = if setup.overlap { verify.seconds() } else { Seconds::ZERO };
    Round {
        draft: if draft > hidden { draft - hidden } else { Seconds::ZERO },
        draft_bound,
        verify_width,
        verify,
        fixed: setup.overheads.of_round(batch, setup.devices()),
        token: setup.overheads.token,
    }
}
