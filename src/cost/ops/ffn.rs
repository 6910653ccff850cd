//! Feed-forward layers.

use crate::cost::ops::{Ops, Work};
use crate::cost::shape::PassShape;
use crate::domain::ffn::Ffn;
use crate::domain::layers::{LayerGroup, Layers};
use crate::domain::model::Model;
use crate::words::OpName;

/// Adds a group's feed-forward layers: `2 n w` FLOPs and its weights once for each matrix.
pub(super) fn add(ops: &mut Ops, model: &Model, layers: &Layers, group: &LayerGroup, shape: PassShape) {
    let matrix = group.count as f64 * layers.hidden() * group.ffn.intermediate();
    let product = |matrices: f64| Work::product(shape.new_tokens(), matrices * matrix, model.formats.weight_bytes());
    match group.ffn {
        Ffn::Gated { .. } => {
            ops.add(OpName::GateUp, product(2.0));
            ops.add(OpName::Down, product(1.0));
        }
        Ffn::Plain { .. } => {
            ops.add(OpName::Up, product(1.0));
            ops.add(OpName::Down, product(1.0));
        }
        Ffn::None => {}
    }
}
