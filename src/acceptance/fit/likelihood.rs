//! How likely models make rounds.

use statrs::function::beta::ln_beta;

use crate::domain::beta::Beta;
use crate::domain::spans::Spans;
use crate::domain::trace::RoundSeen;

use crate::acceptance::spans::positions;

/// Rounds of one request.
pub(super) type Request = [RoundSeen];

/// `ln P` of rounds that are independent, by the chance of each position to be passed.
pub(super) fn of_positions(request: &Request, chance: impl Fn(usize) -> f64) -> f64 {
    let of = |round: &RoundSeen| -> f64 {
        let (drafted, accepted) = (round.drafted as usize, round.accepted as usize);
        let passed: f64 = (0..accepted).map(|at| chance(at).ln()).sum();
        if accepted < drafted { passed + (1.0 - chance(accepted)).ln() } else { passed }
    };
    request.iter().map(of).sum()
}

/// `ln P` where each round draws its alpha: `B(a + j, b + [j < k]) / B(a, b)`.
pub(super) fn of_beta_rounds(request: &Request, beta: &Beta) -> f64 {
    let whole = ln_beta(beta.a(), beta.b());
    let of = |round: &RoundSeen| {
        let failed = f64::from(u8::from(round.accepted < round.drafted));
        ln_beta(beta.a() + f64::from(round.accepted), beta.b() + failed) - whole
    };
    request.iter().map(of).sum()
}

/// `ln P` where a request keeps its alpha: `B(a + passed, b + failed) / B(a, b)`.
pub(super) fn of_beta_sequence(request: &Request, beta: &Beta) -> f64 {
    let passed: f64 = request.iter().map(|round| f64::from(round.accepted)).sum();
    let failed = request.iter().filter(|round| round.accepted < round.drafted).count() as f64;
    ln_beta(beta.a() + passed, beta.b() + failed) - ln_beta(beta.a(), beta.b())
}

/// `ln P` over two hidden states, forwards: drafts move them, and so does the token that ends a round.
pub(super) fn of_spans(request: &Request, spans: &Spans) -> f64 {
    let (alphas, moves, shares) = (spans.alphas(), spans.transitions(), positions(spans));
    let step = |mass: [f64; 2]| [0, 1].map(|to| mass[0] * moves[0][to] + mass[1] * moves[1][to]);
    let passed = |mass: [f64; 2]| [mass[0] * alphas[0], mass[1] * alphas[1]];
    let failed = |mass: [f64; 2]| [mass[0] * (1.0 - alphas[0]), mass[1] * (1.0 - alphas[1])];
    let mut mass = [shares[0], shares[1]];
    let mut log = 0.0;
    for round in request {
        for _ in 0..round.accepted {
            mass = step(passed(mass));
        }
        mass = step(if round.accepted < round.drafted { failed(mass) } else { mass });
        let likely = mass[0] + mass[1];
        log += likely.ln();
        mass = mass.map(|mass| mass / likely);
    }
    log
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::acceptance::spans::long_run;
    use crate::acceptance::{accepted::Accepted, beta::of_rounds};
    use crate::units::Probability;

    const K: u32 = 3;

    fn every() -> impl Iterator<Item = RoundSeen> {
        (0..=K).map(|accepted| RoundSeen { drafted: K, accepted })
    }

    /// A law gives a single round the chance that its likelihood is.
    #[test]
    fn likelihoods_of_single_rounds_are_the_laws() {
        let beta = Beta::new(3.0, 1.5).unwrap();
        let law = of_rounds(&beta, u64::from(K));
        for (round, chance) in every().zip(law.pmf()) {
            assert!((of_beta_rounds(&[round], &beta).exp() - chance).abs() < 1e-12);
            // Alone, a round that draws its alpha and a request that keeps it are the same.
            assert!((of_beta_sequence(&[round], &beta).exp() - chance).abs() < 1e-12);
        }
        let conditional = [0.8, 0.5, 0.9];
        let law = Accepted::from_conditional(conditional.map(|a| Probability::new(a).unwrap()));
        for (round, chance) in every().zip(law.pmf()) {
            assert!((of_positions(&[round], |at| conditional[at]).exp() - chance).abs() < 1e-12);
        }
    }

    /// Over all ways that two rounds can go, chances sum to one, and the second round's law is on the way to the long
    /// run's.
    #[test]
    fn likelihoods_over_spans_sum_to_one() {
        let p = |value| Probability::new(value).unwrap();
        let spans = Spans::two(p(0.9), p(0.3), p(0.2), p(0.4)).unwrap();
        let all: f64 =
            every().flat_map(|one| every().map(move |two| [one, two])).map(|way| of_spans(&way, &spans).exp()).sum();
        assert!((all - 1.0).abs() < 1e-12, "{all}");
        let second = |accepted: u32| -> f64 {
            let two = RoundSeen { drafted: K, accepted };
            every().map(|one| of_spans(&[one, two], &spans).exp()).sum()
        };
        let first = |accepted: u32| of_spans(&[RoundSeen { drafted: K, accepted }], &spans).exp();
        let run = long_run(&spans, u64::from(K)).unwrap().law;
        let off = |law: &dyn Fn(u32) -> f64| -> f64 {
            (0..=K).map(|accepted| (law(accepted) - run.pmf()[accepted as usize]).abs()).sum()
        };
        assert!(off(&second) < off(&first));
    }
}
