//! What stands before and after the layers, and the normalisations between.

use crate::cost::ops::{Ops, Whole, Work};
use crate::units::Bytes;
use crate::words::{OpName, Part};

/// Adds embedding, normalisations, what joins the inputs of a head, and LM head.
///
/// The embedding is a gather of one row for each token, not a product. The LM head works on the
/// positions whose next token is wanted: all of a verification, the last of a prefill.
pub(super) fn add(ops: &mut Ops, of: &Whole<'_>) {
    let (layers, shape, bytes) = (of.layers, of.shape, of.model.formats.weight_bytes());
    let rows = shape.new_tokens() * layers.hidden() * of.bytes(Part::Embedding);
    ops.add(OpName::Embed, Work { weights: Bytes::new(rows), ..Work::NONE });
    if !layers.groups().is_empty() {
        ops.add(OpName::Norms, Work { weights: Bytes::new(layers.norm_params() * bytes), ..Work::NONE });
    }
    let fuse = layers.fuse_params().0;
    if fuse > 0.0 {
        ops.add(OpName::Fuse, Work::product(shape.new_tokens(), fuse, bytes));
    }
    let scored = shape.batch * shape.scored_per_seq;
    ops.add(OpName::LmHead, Work::product(scored, layers.lm_head_params(), of.bytes(Part::LmHead)));
}
