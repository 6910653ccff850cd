//! Multi-head latent attention, absorbed: queries and outputs take in what would expand the latent.

use crate::cost::ops::gqa::keys;
use crate::cost::ops::{Ops, Whole, Work};
use crate::domain::attention::Mla;
use crate::domain::layers::LayerGroup;
use crate::units::Flops;
use crate::words::{OpName, Part};

/// Adds a group's latent attention.
///
/// # Formula
///
/// ```text
/// qkv        2 n w FLOPs of what projects queries and the latent, its weights once; what projects down to the
///            ranks is on every device whole
/// absorb     2 n r H (n_d + v) FLOPs, its weights once
/// attention  2 H (r + p) + 2 H r FLOPs for each key and new token
///            reads (r + p) values of each cached token once whatever q is, writes those of new ones;
///            the latent serves all heads, so that every device keeps it whole
/// o          2 n H v h FLOPs, its weights once
/// ```
///
/// With 128 heads on one device an absorbed pass of one token has 242 FLOPs for each byte of the cache, so
/// that verification is bound by arithmetic where grouped queries are bound by memory (DeepSeek-V3, arXiv
/// 2412.19437). Prefill in engines expands the latent instead, which takes fewer FLOPs for long prompts:
/// left out here.
pub(super) fn add(ops: &mut Ops, mla: &Mla, group: &LayerGroup, of: &Whole<'_>) {
    let (count, bytes, shape) = (group.count as f64, of.bytes(Part::Attention), of.shape);
    let tokens = shape.new_tokens();
    let product = |params: f64| Work::product(tokens, count * params, bytes);
    let inputs = of.layers.qkv_inputs();
    let more = of.replicas() * mla.down_params(inputs);
    ops.add(OpName::Qkv, product(mla.projection_params(inputs) + more));
    ops.add(OpName::Absorb, product(mla.absorb_params()));
    ops.add(OpName::O, product(mla.output_width() * of.layers.hidden()));
    let share = of.model.kv_share(group);
    let kept = share.bytes_per_token * of.placement.cache_share(&group.attention);
    let each_key = 2.0 * mla.heads() as f64 * (mla.latent_width() + mla.rank());
    let keys = keys(shape.context, shape.new_tokens_per_seq, None);
    ops.add(
        OpName::Attention,
        Work {
            flops: Flops::new(count * each_key * shape.batch * keys),
            kv_read: kept * shape.context * shape.batch,
            kv_written: kept * tokens,
            ..Work::NONE
        },
    );
}
