//! What stands before and after the layers, and the normalisations between.

use crate::cost::ops::{Ops, Work};
use crate::cost::shape::PassShape;
use crate::domain::layers::Layers;
use crate::domain::model::Model;
use crate::units::Bytes;
use crate::words::OpName;

/// Adds embedding, normalisations and LM head.
///
/// The embedding is a gather of one row for each token, not a product. The LM head works on the
/// positions whose next token is wanted: all of a verification, the last of a prefill.
pub(super) fn add(ops: &mut Ops, model: &Model, layers: &Layers, shape: PassShape) {
    let bytes = model.formats.weight_bytes();
    let rows = shape.new_tokens() * layers.hidden() * bytes;
    ops.add(OpName::Embed, Work { weights: Bytes::new(rows), ..Work::NONE });
    ops.add(OpName::Norms, Work { weights: Bytes::new(layers.norm_params() * bytes), ..Work::NONE });
    let scored = shape.batch * shape.scored_per_seq;
    ops.add(OpName::LmHead, Work::product(scored, layers.lm_head_params(), bytes));
}
