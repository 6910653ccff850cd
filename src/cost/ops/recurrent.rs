//! Layers with a state of fixed size: linear attention and state-space layers.

use crate::cost::ops::{Ops, Whole, Work};
use crate::domain::attention::{Linear, Ssm};
use crate::domain::layers::LayerGroup;
use crate::units::Flops;
use crate::words::{OpName, Part};

/// FLOPs for each value of the state and new token of a gated delta rule: decay 1, what keys recall 2, the
/// update 2, what queries read 2.
const LINEAR_FLOPS: f64 = 7.0;
/// FLOPs for each value of the state and new token of a state-space layer: decay 1, what goes in 2, what comes
/// out 2.
const SSM_FLOPS: f64 = 5.0;

/// Adds a group's linear attention.
///
/// # Formula
///
/// ```text
/// qkv    2 n h (2 K d_k + 2 V d_v + 2 V) FLOPs, its weights once
/// state  7 V d_k d_v FLOPs for each new token; read once for each sequence, written once for each position
///        that a later round may go back to: every one of a verification, the last of a prefill
/// o      2 n V d_v h FLOPs, its weights once
/// ```
///
/// Gated DeltaNet (arXiv 2412.06464). The filter's tail counts with the state.
pub(super) fn linear(ops: &mut Ops, linear: &Linear, group: &LayerGroup, of: &Whole<'_>) {
    let width = of.layers.qkv_inputs() * linear.projected_width();
    projections(ops, width, linear.value_width() * of.layers.hidden(), group, of);
    state(ops, LINEAR_FLOPS, group, of);
}

/// Adds a group's state-space layers: what goes in and out, and the state as of linear attention, with
/// 5 FLOPs for each of its values (Mamba-2, arXiv 2405.21060).
pub(super) fn ssm(ops: &mut Ops, ssm: &Ssm, group: &LayerGroup, of: &Whole<'_>) {
    let width = ssm.projection_params(of.layers.qkv_inputs());
    projections(ops, width, ssm.inner() * of.layers.hidden(), group, of);
    state(ops, SSM_FLOPS, group, of);
}

fn projections(ops: &mut Ops, inwards: f64, outwards: f64, group: &LayerGroup, of: &Whole<'_>) {
    let product = |params: f64| Work::product(of.tokens(), group.count as f64 * params, of.bytes(Part::Attention));
    ops.add(OpName::Qkv, product(inwards));
    ops.add(OpName::O, product(outwards));
}

fn state(ops: &mut Ops, flops: f64, group: &LayerGroup, of: &Whole<'_>) {
    let count = group.count as f64;
    let sequences: f64 = of.parts.iter().map(|part| part.batch).sum();
    let (values, _) = group.attention.state_values();
    let held = of.model.state_bytes(group) * of.placement.cache_share(&group.attention);
    ops.add(
        OpName::State,
        Work {
            flops: Flops::new(count * flops * values * of.tokens()),
            kv_read: held * sequences,
            kv_written: held * of.scored(),
            ..Work::NONE
        },
    );
}
