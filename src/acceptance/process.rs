//! Acceptance processes: what a round of k drafts yields, and how accepted drafts are spread.

use std::sync::Arc;

use crate::acceptance::accepted::Accepted;
use crate::acceptance::carried::{along, alpha_at, between, continued, is_inside};
use crate::acceptance::population::{Kind, by_tokens, mixed};
use crate::acceptance::{beta, chain, spans};
use crate::domain::acceptance::{Curve, Length};
use crate::domain::beta::Beta;
use crate::domain::ranks::Ranks;
use crate::domain::spans::Spans;
use crate::domain::trace::{Rounds, Trace};
use crate::units::Probability;
use crate::words::{AcceptanceKind, Scope};

/// One acceptance process: a model at one value of its axis and one context.
#[derive(Clone, Debug, PartialEq)]
pub enum Process {
    /// Independent tests that all pass with chance alpha.
    Iid {
        /// Per-test acceptance.
        alpha: Probability,
    },
    /// Independent tests with the alpha that gives what was measured at one k.
    Fitted {
        /// How it was measured.
        kind: AcceptanceKind,
        /// What was measured.
        at: Length,
        /// The alpha that gives it.
        alpha: Probability,
    },
    /// A chance for each position.
    Positions {
        /// How it was stated.
        kind: AcceptanceKind,
        /// Shares of rounds by position.
        curve: Curve,
    },
    /// Means at several k, in rising order.
    Lengths(Vec<Length>),
    /// Alpha follows a Beta law.
    Beta {
        /// The law.
        beta: Beta,
        /// With what alpha varies.
        scope: Scope,
    },
    /// Easy and hard spans.
    Spans(Spans),
    /// Recorded rounds.
    Trace(Arc<Trace>),
    /// The first of ranked candidates at each level.
    Ranks(Ranks),
    /// Sequences of several workloads, by their shares of tokens.
    Workloads(Vec<Part>),
    /// Between two contexts that were measured.
    Between {
        /// At the shorter.
        low: Box<Process>,
        /// At the longer.
        high: Box<Process>,
        /// How far towards the longer, 0 to 1.
        share: f64,
    },
    /// At a context beyond the longest that was measured: what holds there.
    Beyond(Box<Process>),
    /// Rounds of which only a share drafts anything: what holds where they do.
    Proposing {
        /// The share of rounds that draft.
        share: Probability,
        /// What those accept.
        of: Box<Process>,
    },
}

/// Sequences of one workload.
#[derive(Clone, Debug, PartialEq)]
pub struct Part {
    /// Their share of tokens, in whatever scale.
    pub tokens: f64,
    /// How their rounds go.
    pub process: Process,
}

/// How a value at some k and context is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Known {
    /// Measured there, or stated for every k.
    Stated,
    /// Between two measured k or contexts.
    Interpolated,
    /// From another k or context, by a law that may not hold.
    Extrapolated,
}

impl Known {
    /// The word among the notes; none where nothing is to be noted.
    #[must_use]
    pub const fn note(self) -> Option<&'static str> {
        match self {
            Self::Stated => None,
            Self::Interpolated => Some("interpolated"),
            Self::Extrapolated => Some("extrapolated"),
        }
    }
}

impl Process {
    /// Expected tokens per target pass, bonus included, at draft length k.
    ///
    /// # Formula
    ///
    /// ```text
    /// iid           1 + alpha + … + alpha^k
    /// mean_length   the stated mean at its k, elsewhere iid with the alpha that gives it
    /// rate          1 + k rate at its k, elsewhere the same
    /// per_position  1 + S_1 + … + S_k; beyond the last position each further one passes like the last did
    /// counts, trace the same, of shares that were counted
    /// by_k          the stated means, straight lines between; outside iid with the alpha of the nearest k
    /// beta, markov  of the law of accepted drafts, see [`beta`] and [`spans`]
    /// ranks         1 + p_1 + p_1^2 + …, of each level's first candidate
    /// workloads     sum of token shares / sum of (token share / tokens per pass): harmonic
    /// by context    on a straight line between the contexts on both sides
    /// ```
    ///
    /// # Examples
    ///
    /// ```
    /// use specplan::{acceptance::process::Process, units::Probability};
    /// let process = Process::Iid { alpha: Probability::new(0.7)? };
    /// assert!((process.tokens_per_pass(4) - 2.7731).abs() < 1e-12);
    /// # Ok::<(), specplan::units::NotAProbability>(())
    /// ```
    #[must_use]
    pub fn tokens_per_pass(&self, k: u64) -> f64 {
        match self {
            Self::Iid { alpha } => chain::expected_tokens(*alpha, k),
            Self::Fitted { at, .. } if at.k() == k => at.tokens(),
            Self::Fitted { alpha, .. } => chain::expected_tokens(*alpha, k),
            Self::Positions { curve, .. } => along(curve, k),
            Self::Trace(trace) => along(trace.curve(), k),
            Self::Lengths(lengths) => between(lengths, k),
            Self::Beta { beta, scope: Scope::Sequence } => beta::tokens_of_sequences(beta, k),
            Self::Between { low, high, share } => {
                (1.0 - share) * low.tokens_per_pass(k) + share * high.tokens_per_pass(k)
            }
            Self::Beyond(nearest) => nearest.tokens_per_pass(k),
            Self::Proposing { share, of } => 1.0 + share.get() * (of.tokens_per_pass(k) - 1.0),
            Self::Beta { .. } | Self::Spans(_) | Self::Ranks(_) | Self::Workloads(_) => self.law(k).mean_tokens(),
        }
    }

    /// The law of accepted drafts over all rounds at draft length k.
    ///
    /// Of a mean, a rate or means by k nothing is known but the mean: theirs is the law of independent tests with that
    /// mean.
    ///
    /// # Examples
    ///
    /// Beta(2, 2) by round: `S_1 = 2/4`, `S_2 = 3/5 S_1`.
    ///
    /// ```
    /// use specplan::{acceptance::process::Process, domain::beta::Beta, words::Scope};
    /// let process = Process::Beta { beta: Beta::new(2.0, 2.0)?, scope: Scope::Round };
    /// assert!((process.law(2).survival()[1] - 0.3).abs() < 1e-15);
    /// # Ok::<(), specplan::domain::beta::NotABeta>(())
    /// ```
    #[must_use]
    pub fn law(&self, k: u64) -> Accepted {
        match self {
            Self::Iid { alpha } | Self::Fitted { alpha, .. } => Accepted::iid(*alpha, k),
            Self::Positions { curve, .. } => continued(curve, k),
            Self::Trace(trace) => continued(trace.curve(), k),
            Self::Lengths(lengths) => Accepted::iid(alpha_at(lengths, k), k),
            Self::Beta { beta, scope: Scope::Round } => beta::of_rounds(beta, k),
            Self::Beta { beta, scope: Scope::Sequence } => beta::of_sequences(beta, k),
            Self::Spans(spans) => spans::rounds(spans, k),
            Self::Ranks(ranks) => {
                let first = |level: u64| ranks.chance(usize::try_from(level).unwrap_or(usize::MAX), 1);
                Accepted::from_conditional((1..=k).map(first).map(Probability::nearest))
            }
            Self::Workloads(parts) => {
                let kind = |part: &Part| Kind { weight: part.tokens, law: part.process.law(k) };
                by_tokens(&parts.iter().map(kind).collect::<Vec<_>>())
            }
            Self::Between { low, high, share } => {
                mixed([(1.0 - share, &low.law(k)), (*share, &high.law(k))].into_iter())
            }
            Self::Beyond(nearest) => nearest.law(k),
            Self::Proposing { share, of } => {
                Accepted::from_survival(of.law(k).survival().iter().map(|passed| share.get() * passed).collect())
            }
        }
    }

    /// How the value at k is known. At k = 0 nothing is drafted, and there is nothing to know.
    #[must_use]
    pub fn known(&self, k: u64) -> Known {
        let within = |curve: &Curve| stated(k <= curve.survival().len() as u64);
        match self {
            _ if k == 0 => Known::Stated,
            Self::Iid { .. } | Self::Beta { .. } | Self::Spans(_) => Known::Stated,
            Self::Fitted { at, .. } => stated(at.k() == k),
            Self::Positions { curve, .. } => within(curve),
            Self::Trace(trace) => within(trace.curve()),
            Self::Lengths(lengths) if lengths.iter().any(|length| length.k() == k) => Known::Stated,
            Self::Lengths(lengths) if is_inside(lengths, k) => Known::Interpolated,
            Self::Lengths(_) | Self::Beyond(_) => Known::Extrapolated,
            Self::Proposing { of, .. } => of.known(k),
            Self::Ranks(ranks) => stated(ranks.deepest().is_none_or(|deepest| k <= deepest as u64)),
            Self::Workloads(parts) => parts.iter().map(|part| part.process.known(k)).max().unwrap_or(Known::Stated),
            Self::Between { low, high, .. } => low.known(k).max(high.known(k)).max(Known::Interpolated),
        }
    }

    /// What its alpha varies with, of those that have one law for it.
    #[must_use]
    pub const fn varies_by(&self) -> Option<Scope> {
        match self {
            Self::Beta { scope, .. } => Some(*scope),
            Self::Workloads(_) => Some(Scope::Sequence),
            _ => None,
        }
    }

    /// Whether rounds, or those of a part of it, are replayed as they were recorded.
    #[must_use]
    pub fn is_recorded(&self) -> bool {
        match self {
            Self::Trace(trace) => matches!(trace.rounds(), Rounds::ByRequest(_)),
            Self::Workloads(parts) => parts.iter().any(|part| part.process.is_recorded()),
            Self::Beyond(of) | Self::Proposing { of, .. } => of.is_recorded(),
            _ => false,
        }
    }

    /// The word of the scenario format.
    #[must_use]
    pub fn kind(&self) -> AcceptanceKind {
        match self {
            Self::Iid { .. } => AcceptanceKind::Iid,
            Self::Fitted { kind, .. } | Self::Positions { kind, .. } => *kind,
            Self::Lengths(_) => AcceptanceKind::ByK,
            Self::Beta { .. } => AcceptanceKind::Beta,
            Self::Spans(_) => AcceptanceKind::Markov,
            Self::Trace(_) => AcceptanceKind::Trace,
            Self::Ranks(_) => AcceptanceKind::Ranks,
            Self::Workloads(_) => AcceptanceKind::Workloads,
            Self::Between { low, .. } => low.kind(),
            Self::Beyond(nearest) => nearest.kind(),
            Self::Proposing { of, .. } => of.kind(),
        }
    }

    /// The per-test acceptance, where there is a single one.
    #[must_use]
    pub fn alpha(&self) -> Option<f64> {
        match self {
            Self::Iid { alpha } | Self::Fitted { alpha, .. } => Some(alpha.get()),
            Self::Beyond(of) | Self::Proposing { of, .. } => of.alpha(),
            _ => None,
        }
    }
}

const fn stated(is: bool) -> Known {
    if is { Known::Stated } else { Known::Extrapolated }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::acceptance::NotACurve;

    fn chances(values: &[f64]) -> Vec<Probability> {
        values.iter().map(|value| Probability::new(*value).unwrap()).collect()
    }

    fn near(got: f64, expected: f64) {
        assert!((got - expected).abs() < 1e-12, "{got} is not {expected}");
    }

    fn positions(curve: Result<Curve, NotACurve>) -> Process {
        Process::Positions { kind: AcceptanceKind::PerPosition, curve: curve.unwrap() }
    }

    /// By hand: 1 + 0.8 + 0.6, then 0.6 x 0.75 and 0.6 x 0.75^2.
    #[test]
    fn a_curve_goes_on_as_it_ended() {
        let process = positions(Curve::cumulative(&chances(&[0.8, 0.6])));
        near(process.tokens_per_pass(1), 1.8);
        near(process.tokens_per_pass(2), 2.4);
        near(process.tokens_per_pass(4), 2.4 + 0.45 + 0.3375);
        assert_eq!([1, 2, 3].map(|k| process.known(k)), [Known::Stated, Known::Stated, Known::Extrapolated]);
        let conditional = positions(Curve::conditional(&chances(&[0.8, 0.75])));
        near(conditional.tokens_per_pass(4), process.tokens_per_pass(4));
        let dead = positions(Curve::cumulative(&chances(&[0.5, 0.0])));
        near(dead.tokens_per_pass(9), 1.5);
    }

    /// By hand: k = 2 lies halfway between 1.66 and 2.25; k = 1 with 1.66 is alpha 0.66 at k = 0 and below.
    #[test]
    fn means_at_several_k_are_kept_and_joined() {
        let lengths = [(1, 1.66), (3, 2.25)].map(|(k, tokens)| Length::new(k, tokens).unwrap());
        let process = Process::Lengths(lengths.to_vec());
        near(process.tokens_per_pass(1), 1.66);
        near(process.tokens_per_pass(2), 1.955);
        near(process.tokens_per_pass(3), 2.25);
        near(process.tokens_per_pass(0), 1.0);
        let five = process.tokens_per_pass(5);
        assert!(five > 2.25 && five < 2.25 + 2.0 * 0.59, "{five}");
        use Known::{Extrapolated, Interpolated, Stated};
        let known = [Stated, Stated, Interpolated, Stated, Extrapolated];
        assert_eq!([0, 1, 2, 3, 4].map(|k| process.known(k)), known);
    }

    /// Every process: the mean of its law is its tokens per pass, and the law is one.
    #[test]
    fn laws_have_the_means_that_are_priced() {
        let p = |value| Probability::new(value).unwrap();
        let beta = Beta::new(2.0, 1.5).unwrap();
        let iid = Process::Iid { alpha: p(0.7) };
        let curve = || positions(Curve::cumulative(&chances(&[0.8, 0.6, 0.5])));
        let part = |tokens, process| Part { tokens, process };
        let all = [
            iid.clone(),
            curve(),
            Process::Lengths(vec![Length::new(1, 1.7).unwrap(), Length::new(4, 2.9).unwrap()]),
            Process::Beta { beta, scope: Scope::Round },
            Process::Beta { beta, scope: Scope::Sequence },
            Process::Spans(Spans::two(p(0.9), p(0.3), p(0.1), p(0.3)).unwrap()),
            Process::Ranks(Ranks::by_level(&[chances(&[0.6, 0.2]), chances(&[0.5])]).unwrap()),
            Process::Workloads(vec![part(3.0, curve()), part(1.0, iid.clone())]),
            Process::Between { low: Box::new(iid), high: Box::new(curve()), share: 0.25 },
        ];
        for process in all {
            for k in [0, 1, 2, 3, 5, 8] {
                let law = process.law(k);
                near(law.mean_tokens(), process.tokens_per_pass(k));
                near(law.pmf().iter().sum(), 1.0);
                assert_eq!(law.survival().len() as u64, k, "{process:?}");
                assert!(law.survival().windows(2).all(|pair| pair[1] <= pair[0]), "{process:?}");
            }
        }
    }

    /// By hand, at k = 1: three quarters of the tokens at 1.8 a round and a quarter at 1.7.
    #[test]
    fn workloads_are_weighted_by_tokens() {
        let part = |tokens, alpha| Part { tokens, process: Process::Iid { alpha: Probability::new(alpha).unwrap() } };
        let service = Process::Workloads(vec![part(300.0, 0.8), part(100.0, 0.7)]);
        near(service.tokens_per_pass(1), 1.0 / (0.75 / 1.8 + 0.25 / 1.7));
    }
}
