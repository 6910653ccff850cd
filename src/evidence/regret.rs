//! What is lost by the model's choice of k, beside simpler rules.

use crate::evidence::score::{quantile, sorted};
use crate::words::{Policy, Word};

/// A measured point of a group whose points differ in k or tree only.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Candidate {
    /// Draft length, or depth of the tree.
    pub k: u64,
    /// Tokens per pass.
    pub tokens_per_pass: f64,
    /// What was measured.
    pub measured: f64,
    /// What is predicted.
    pub predicted: f64,
}

/// What a rule loses.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Regret {
    /// The rule.
    pub policy: Policy,
    /// Groups it was tried on.
    pub groups: usize,
    /// Mean share of the best measured speedup that is lost.
    pub mean: f64,
    /// Its 90th percentile.
    pub p90: f64,
    /// Its largest value.
    pub worst: f64,
}

/// The draft length of a rule that does not look.
const ALWAYS: u64 = 3;

/// What each rule loses over groups of several candidates; empty if there is no such group.
///
/// # Formula
///
/// ```text
/// regret = 1 - measured(choice) / max(1, best measured)        not speculating is a choice worth 1
/// ```
#[must_use]
pub fn regrets(groups: &[Vec<Candidate>]) -> Vec<Regret> {
    let groups: Vec<&Vec<Candidate>> = groups.iter().filter(|group| group.len() > 1).collect();
    if groups.is_empty() {
        return Vec::new();
    }
    let of = |policy: Policy| {
        let lost = sorted(groups.iter().map(|group| regret(policy, group)));
        Regret {
            policy,
            groups: groups.len(),
            mean: lost.iter().sum::<f64>() / lost.len() as f64,
            p90: quantile(&lost, 0.9),
            worst: quantile(&lost, 1.0),
        }
    };
    Policy::ALL.iter().map(|policy| of(*policy)).collect()
}

fn regret(policy: Policy, group: &[Candidate]) -> f64 {
    let best = group.iter().map(|one| one.measured).fold(1.0, f64::max);
    1.0 - chosen(policy, group) / best
}

/// The measured speedup of what a rule chooses.
fn chosen(policy: Policy, group: &[Candidate]) -> f64 {
    let largest = |value: &dyn Fn(&Candidate) -> f64| group.iter().max_by(|a, b| value(a).total_cmp(&value(b)));
    let choice = match policy {
        Policy::Model => largest(&|one| one.predicted).filter(|one| one.predicted > 1.0),
        Policy::Longest => largest(&|one| one.tokens_per_pass),
        Policy::AlwaysThree => group.iter().min_by_key(|one| one.k.abs_diff(ALWAYS)),
        Policy::Never => None,
    };
    choice.map_or(1.0, |one| one.measured)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(k: u64, tokens_per_pass: f64, measured: f64, predicted: f64) -> Candidate {
        Candidate { k, tokens_per_pass, measured, predicted }
    }

    /// By hand: the first group's best is 1.5 at k = 2, which the model takes; k = 3 loses 1 - 1.2 / 1.5;
    /// the longest 1 - 1.0 / 1.5. In the second everything loses and the model does not speculate.
    #[test]
    fn rules_are_compared_on_the_same_groups() {
        let first = vec![one(2, 2.0, 1.5, 1.4), one(3, 2.2, 1.2, 1.3), one(7, 2.4, 1.0, 0.9)];
        let second = vec![one(2, 1.2, 0.8, 0.9), one(5, 1.3, 0.6, 0.7)];
        let found = regrets(&[first, second, vec![one(1, 1.1, 1.0, 1.0)]]);
        let mean = |policy| found.iter().find(|regret| regret.policy == policy).unwrap().mean;
        let near = |got: f64, expected: f64| assert!((got - expected).abs() < 1e-12, "{got} {expected}");
        near(mean(Policy::Model), 0.0);
        near(mean(Policy::AlwaysThree), (0.2 + 0.2) / 2.0);
        near(mean(Policy::Longest), (1.0 / 3.0 + 0.4) / 2.0);
        near(mean(Policy::Never), (1.0 / 3.0) / 2.0);
        assert_eq!(found[0].groups, 2);
    }
}
