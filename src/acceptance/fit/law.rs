//! Models fitted to a law of accepted drafts, where nothing is known of the order of rounds.

use crate::acceptance::accepted::Accepted;
use crate::acceptance::beta::of_rounds;
use crate::acceptance::fit::FittedModel;
use crate::acceptance::fit::simplex::{likeliest_beta, likeliest_spans};
use crate::acceptance::process::Process;
use crate::acceptance::spans;
use crate::domain::acceptance::Curve;
use crate::units::Probability;
use crate::words::{AcceptanceKind, Scope};

/// The model that makes a law likeliest; none of a law of no draft, or if the search fails.
///
/// # Formula
///
/// ```text
/// maximise sum over j of P(A = j) ln P_model(A = j)
/// ```
///
/// Of one alpha the maximum is accepted over tested drafts. Sequences that keep their alpha are told from rounds that draw
/// theirs only by what ties rounds together, so that there is no fit of them here.
///
/// # Examples
///
/// A law that one alpha makes is found again:
///
/// ```
/// use specplan::acceptance::{accepted::Accepted, fit::{FittedModel, law::fit}};
/// use specplan::units::Probability;
/// let law = Accepted::iid(Probability::new(0.7)?, 4);
/// assert!((fit(FittedModel::Iid, &law).unwrap().alpha().unwrap() - 0.7).abs() < 1e-12);
/// # Ok::<(), specplan::units::NotAProbability>(())
/// ```
#[must_use]
pub fn fit(model: FittedModel, law: &Accepted) -> Option<Process> {
    let k = law.survival().len() as u64;
    let alpha = Probability::nearest(law.tested_acceptance()?);
    let likelihood = |made: &Accepted| -> f64 {
        let of = |(seen, made): (&f64, &f64)| if *seen > 0.0 { seen * made.ln() } else { 0.0 };
        law.pmf().iter().zip(made.pmf()).map(of).sum()
    };
    match model {
        FittedModel::Iid => Some(Process::Iid { alpha }),
        FittedModel::PerPosition => {
            let curve = Curve::falling(law.survival().to_vec());
            Some(Process::Positions { kind: AcceptanceKind::PerPosition, curve })
        }
        FittedModel::BetaByRound => {
            let beta = likeliest_beta(alpha, &|beta| likelihood(&of_rounds(beta, k)))?;
            Some(Process::Beta { beta, scope: Scope::Round })
        }
        FittedModel::BetaBySequence => None,
        FittedModel::Markov => {
            likeliest_spans(alpha, &|spans| likelihood(&spans::rounds(spans, k))).map(Process::Spans)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::beta::Beta;
    use crate::domain::spans::Spans;

    /// Laws that a Beta law and a chain make are found again, at the length they were fitted at and beyond it.
    #[test]
    fn laws_are_found_again() {
        let p = |value| Probability::new(value).unwrap();
        let beta = Process::Beta { beta: Beta::new(2.0, 1.2).unwrap(), scope: Scope::Round };
        let markov = Process::Spans(Spans::two(p(0.95), p(0.3), p(0.1), p(0.3)).unwrap());
        for (model, made) in [(FittedModel::BetaByRound, beta), (FittedModel::Markov, markov)] {
            let found = fit(model, &made.law(6)).unwrap();
            for (k, slack) in [(6, 1e-3), (10, 0.02)] {
                let (got, due) = (found.tokens_per_pass(k), made.tokens_per_pass(k));
                assert!((got / due - 1.0).abs() < slack, "{model:?}, k {k}: {got} and {due}");
            }
        }
    }
}
