//! Mixtures of experts.

use crate::cost::ops::{Ops, Whole, Work};
use crate::cost::placement::Routing;
use crate::cost::shape::PassShape;
use crate::domain::ffn::Moe;
use crate::domain::layers::LayerGroup;
use crate::units::{Bytes, Flops};
use crate::words::{OpName, Part};

/// Distinct experts of a layer that `tokens` tokens pick together, when each picks `top_k` of `experts`
/// uniformly and independently.
///
/// # Formula
///
/// ```text
/// D(n) = E (1 - (1 - top_k / E)^n)       computed as -E expm1(n ln(1 - top_k / E))
/// ```
///
/// Exact for subsets drawn without replacement (MoESD, arXiv 2505.19645). `tokens` may be fractional. The
/// largest possible is E, the least for n >= 1 is `top_k`.
///
/// # Examples
///
/// Two of eight experts: one token reads 2, three tokens 8 x (1 - 0.75^3) = 4.625.
///
/// ```
/// use specplan::cost::ops::distinct_experts;
/// assert!((distinct_experts(8.0, 2.0, 1.0) - 2.0).abs() < 1e-12);
/// assert!((distinct_experts(8.0, 2.0, 3.0) - 4.625).abs() < 1e-12);
/// assert_eq!(distinct_experts(8.0, 8.0, 0.5), 8.0);
/// ```
#[must_use]
pub fn distinct_experts(experts: f64, top_k: f64, tokens: f64) -> f64 {
    if tokens <= 0.0 {
        return 0.0;
    }
    -experts * (tokens * (-top_k / experts).ln_1p()).exp_m1()
}

/// Tokens that pick independently: `B (1 + (q - 1) rho)` or `B q^p`. The new tokens of one sequence agree in part on
/// their experts; those of different sequences do not.
fn independent_tokens(parts: &[PassShape], routing: Routing) -> f64 {
    parts.iter().map(|part| part.batch * routing.independent(part.new_tokens_per_seq)).sum()
}

/// Adds a group's mixtures.
///
/// # Formula
///
/// ```text
/// router   2 n h E FLOPs, its weights once, on every device
/// experts  2 n top_k 3 h f FLOPs, the weights of D(r n_eff) / r experts, n_eff = B (1 + (q - 1) rho) or B q^p
/// shared   2 n 3 h f FLOPs and the weights once for each shared expert
/// ```
///
/// The experts read are an expectation: a roofline's maximum at it is not the expected maximum, a small
/// difference.
pub(super) fn add(ops: &mut Ops, moe: &Moe, group: &LayerGroup, of: &Whole<'_>) {
    let (count, hidden, bytes) = (group.count as f64, of.layers.hidden(), of.bytes(Part::Ffn));
    let tokens = of.tokens();
    let router = count * moe.router_params(hidden) * (1.0 + of.replicas());
    ops.add(OpName::Router, Work::product(tokens, router, bytes));
    let expert = count * moe.expert_params(hidden);
    // Ranks that share the experts see each other's tokens, and each holds its part of what all pick.
    let ranks = of.placement.ranks as f64;
    let independent = ranks * independent_tokens(of.parts, of.placement.routing);
    let (experts, top_k) = (moe.experts() as f64, moe.top_k() as f64);
    let read = distinct_experts(experts, top_k, independent);
    let flops = Flops::new(2.0 * tokens * top_k * expert);
    ops.add(
        OpName::Experts,
        Work { flops, weights: Bytes::new(read / ranks * expert * of.bytes(Part::Experts)), ..Work::NONE },
    );
    if moe.shared() > 0 {
        ops.add(OpName::SharedExperts, Work::product(tokens, count * moe.shared_params(hidden), bytes));
    }
}
