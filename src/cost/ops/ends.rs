//! What stands before and after the layers, and the normalisations between.

use crate::cost::ops::{Ops, Whole, Work};
use crate::units::Bytes;
use crate::words::{OpName, Part};

/// Adds embedding, normalisations, what joins the inputs of a head, and LM head.
///
/// The embedding is a gather of one row for each token, not a product. The LM head works on the
/// positions whose next token is wanted: all of a verification, the last of a prefill.
pub(super) fn add(ops: &mut Ops, of: &Whole<'_>) {
    let (layers, tokens, bytes) = (of.layers, of.tokens(), of.model.formats.weight_bytes());
    let rows = tokens * layers.hidden() * of.bytes(Part::Embedding);
    ops.add(OpName::Embed, Work { weights: Bytes::new(rows), ..Work::NONE });
    if !layers.groups().is_empty() {
        ops.add(OpName::Norms, Work { weights: Bytes::new(layers.norm_params() * bytes), ..Work::NONE });
    }
    let fuse = layers.fuse_params().0;
    if fuse > 0.0 {
        ops.add(OpName::Fuse, Work::product(tokens, fuse, bytes));
    }
    ops.add(OpName::LmHead, Work::product(of.scored(), layers.lm_head_params(), of.bytes(Part::LmHead)));
}
