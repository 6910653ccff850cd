//! Expectations over a Beta law.

use crate::domain::beta::Beta;
use crate::units::Probability;

/// Points of alpha with weights that sum to one.
#[derive(Clone, Debug)]
pub(super) struct Nodes(Vec<(f64, Probability)>);

/// Between points, in units of the double-exponential variable.
const STEP: f64 = 1.0 / 24.0;
/// Weights below e^-40 of the largest add nothing to a double.
const NEGLIGIBLE: f64 = -40.0;
/// Wider laws are stepped through as if they were this wide, so that what changes around alpha = 1/2 is not stepped over.
const WIDEST: f64 = 4.0;
/// Where the outermost points may lie at most: sinh of it is beyond every exponent.
const FARTHEST: f64 = 12.0;

impl Nodes {
    /// Points for a law.
    ///
    /// # Formula
    ///
    /// ```text
    /// alpha = 1 / (1 + e^-u),  u = ln(a/b) + sigma sinh t,  sigma^2 = 1/a + 1/b, 16 at most
    /// E[f] = sum f w / sum w,  w = alpha^a (1 - alpha)^b cosh t        (dalpha = alpha (1 - alpha) du)
    /// ```
    ///
    /// The trapezoid rule in t converges exponentially for functions analytic around [0, 1] (Takahasi and Mori
    /// 1974, "Double exponential formulas for numerical integration"), also where the density has poles at the
    /// ends; centre and width follow the law, so that narrow ones are resolved.
    pub(super) fn of(beta: &Beta) -> Self {
        let (a, b) = (beta.a(), beta.b());
        let (centre, width) = ((a / b).ln(), (1.0 / a + 1.0 / b).sqrt().min(WIDEST));
        let log_density = |u: f64| -a * softplus(-u) - b * softplus(u);
        let highest = log_density(centre);
        let point = |index: i32| {
            let t = f64::from(index) * STEP;
            let u = centre + width * t.sinh();
            (log_density(u) - highest + t.cosh().ln(), u)
        };
        let last = (FARTHEST / STEP) as i32;
        let heavy = |(log_weight, _): &(f64, f64)| *log_weight > NEGLIGIBLE;
        let mut points: Vec<(f64, f64)> = (1..=last).map(|index| point(-index)).take_while(heavy).collect();
        points.reverse();
        points.extend((0..=last).map(point).take_while(heavy));
        let total: f64 = points.iter().map(|(log_weight, _)| log_weight.exp()).sum();
        let alpha = |u: f64| Probability::nearest((-softplus(-u)).exp());
        Self(points.into_iter().map(|(log_weight, u)| (log_weight.exp() / total, alpha(u))).collect())
    }

    /// Each weight and alpha.
    pub(super) fn iter(&self) -> impl Iterator<Item = (f64, Probability)> + '_ {
        self.0.iter().copied()
    }
}

/// `ln(1 + e^x)` without overflow.
fn softplus(x: f64) -> f64 {
    if x > 0.0 { x + (-x).exp().ln_1p() } else { x.exp().ln_1p() }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Moments of a Beta law have closed forms: E[alpha] = a/s, E[alpha^2] = a (a+1) / (s (s+1)).
    #[test]
    fn moments_come_out_for_flat_narrow_and_split_laws() {
        let laws = [(1.0, 1.0), (0.05, 0.05), (0.001, 0.5), (8.0, 2.0), (3e5, 1e5), (1e11, 3e11), (700.0, 0.01)];
        for (a, b) in laws {
            let nodes = Nodes::of(&Beta::new(a, b).unwrap());
            let moment = |power: i32| nodes.iter().map(|(w, alpha)| w * alpha.get().powi(power)).sum::<f64>();
            let s = a + b;
            let expected = [a / s, a * (a + 1.0) / (s * (s + 1.0))];
            for (got, expected) in [moment(1), moment(2)].into_iter().zip(expected) {
                assert!((got / expected - 1.0).abs() < 1e-11, "Beta({a}, {b}): {got} and {expected}");
            }
        }
    }
}
