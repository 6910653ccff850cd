//! Feed-forward layers.

use crate::cost::ops::{Ops, Whole, Work};
use crate::domain::ffn::Ffn;
use crate::domain::layers::LayerGroup;
use crate::words::{OpName, Part};

/// Adds a group's dense feed-forward layers: `2 n w` FLOPs and its weights once for each matrix.
pub(super) fn add(ops: &mut Ops, group: &LayerGroup, of: &Whole<'_>) {
    let matrix = group.count as f64 * of.layers.hidden() * group.ffn.intermediate();
    let product = |matrices: f64| Work::product(of.tokens(), matrices * matrix, of.bytes(Part::Ffn));
    match group.ffn {
        Ffn::Gated { .. } => {
            ops.add(OpName::GateUp, product(2.0));
            ops.add(OpName::Down, product(1.0));
        }
        Ffn::Plain { .. } => {
            ops.add(OpName::Up, product(1.0));
            ops.add(OpName::Down, product(1.0));
        }
        Ffn::Moe(_) | Ffn::None => {}
    }
}
