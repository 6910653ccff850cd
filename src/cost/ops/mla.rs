//! Multi-head latent attention, absorbed: queries and outputs take in what would expand the latent.

use crate::cost::ops::gqa::keys;
use crate::cost::ops::{Ops, Whole, Work};
use crate::cost::shape::PassShape;
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
///            selected: keys are the top_k best only, of which each new token reads its own, together at most all;
///            finding them takes 2 H_i d_i FLOPs for each key on every device and reads d_i values of each cached
///            token once
/// o          2 n H v h FLOPs, its weights once
/// ```
///
/// With 128 heads on one device an absorbed pass of one token has 242 FLOPs for each byte of the cache, so
/// that verification is bound by arithmetic where grouped queries are bound by memory (DeepSeek-V3, arXiv
/// 2412.19437). Prefill in engines expands the latent instead, which takes fewer FLOPs for long prompts:
/// left out here.
pub(super) fn add(ops: &mut Ops, mla: &Mla, group: &LayerGroup, of: &Whole<'_>) {
    let (count, bytes) = (group.count as f64, of.bytes(Part::Attention));
    let tokens = of.tokens();
    let product = |params: f64| Work::product(tokens, count * params, bytes);
    let inputs = of.layers.qkv_inputs();
    let more = of.replicas() * mla.down_params(inputs);
    ops.add(OpName::Qkv, product(mla.projection_params(inputs) + more));
    ops.add(OpName::Absorb, product(mla.absorb_params()));
    ops.add(OpName::O, product(mla.output_width() * of.layers.hidden()));
    let share = of.model.kv_share(group);
    let kept = share.bytes_per_token * of.placement.cache_share(&group.attention);
    for part in of.parts {
        let looked = looked_at(mla, *part, 1.0 + of.replicas());
        ops.add(
            OpName::Attention,
            Work {
                flops: Flops::new(count * looked.flops * part.batch),
                kv_read: kept * (looked.values / group.attention.kv_values()) * part.batch,
                kv_written: kept * part.new_tokens(),
                ..Work::NONE
            },
        );
    }
}

/// What the new tokens of one sequence do with what is cached, in one layer.
struct Looked {
    flops: f64,
    /// Cached values that are read.
    values: f64,
}

/// Every device scores all tokens by itself: `scorers` is how many do.
fn looked_at(mla: &Mla, shape: PassShape, scorers: f64) -> Looked {
    let (context, new) = (shape.context, shape.new_tokens_per_seq);
    let each_key = 2.0 * mla.heads() as f64 * (mla.latent_width() + mla.rank());
    let all = keys(context, new, None);
    let Some(index) = mla.index() else {
        return Looked { flops: each_key * all, values: mla.latent_width() * context };
    };
    let top_k = index.top_k as f64;
    let (scores, scored) = mla.selector().map_or((0.0, 0.0), |selector| {
        let dim = selector.dim as f64;
        (scorers * 2.0 * selector.heads as f64 * dim * all, dim * context)
    });
    // Each new token reads its own; what all of them read together is never more than there is.
    let latents = context.min(new * top_k);
    Looked {
        flops: each_key * keys(context, new, Some(index.top_k)) + scores,
        values: mla.latent_width() * latents + scored,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::attention::{Index, Selector};

    /// DeepSeek-V3.2, one layer: 64 heads of 128 score 8192 tokens and 2048 are seen.
    #[test]
    fn selected_tokens_are_scored_and_then_read() {
        let selector = Some(Selector { heads: 64, dim: 128 });
        let dense = Mla::new(128, Some(1536), 512, [128, 64, 128]).unwrap();
        let sparse = dense.with_index(Index { top_k: 2048, selector }).unwrap();
        let shape = PassShape { batch: 1.0, new_tokens_per_seq: 1.0, context: 8192.0, scored_per_seq: 1.0 };
        let near = |got: f64, expected: f64| assert!((got / expected - 1.0).abs() < 1e-12, "{got} is not {expected}");
        let looked = looked_at(&sparse, shape, 1.0);
        near(looked.values, 576.0 * 2048.0 + 128.0 * 8192.0);
        near(looked.flops, 2.0 * 128.0 * 1088.0 * 2048.0 + 2.0 * 64.0 * 128.0 * 8193.0);
        near(looked_at(&dense, shape, 1.0).values, 576.0 * 8192.0);
        // Three new tokens read their own; a short context is read once.
        let three = PassShape { new_tokens_per_seq: 3.0, ..shape };
        near(looked_at(&sparse, three, 1.0).values, 576.0 * 3.0 * 2048.0 + 128.0 * 8192.0);
        let short = PassShape { context: 1000.0, ..three };
        near(looked_at(&sparse, short, 1.0).values, 704.0 * 1000.0);
        // On eight devices each scores all keys.
        let scores = 2.0 * 64.0 * 128.0 * 8193.0;
        near(looked_at(&sparse, shape, 8.0).flops, looked.flops + 7.0 * scores);
    }

    /// Reading never falls when the context grows, and latents are never read more often than a dense layer does.
    #[test]
    fn nothing_jumps_where_selection_begins() {
        let selector = Some(Selector { heads: 64, dim: 128 });
        let dense = Mla::new(128, Some(1536), 512, [128, 64, 128]).unwrap();
        let sparse = dense.with_index(Index { top_k: 2048, selector }).unwrap();
        let mut before = 0.0;
        for context in (1..20_000).step_by(37) {
            let shape =
                PassShape { batch: 1.0, new_tokens_per_seq: 5.0, context: f64::from(context), scored_per_seq: 5.0 };
            let (one, other) = (looked_at(&sparse, shape, 1.0), looked_at(&dense, shape, 1.0));
            let scored = 128.0 * f64::from(context);
            assert!(one.values >= before && one.values - scored <= other.values, "{context}");
            assert!(one.values - before < 37.0 * 704.0 + 1.0 || before == 0.0, "a jump at {context}");
            before = one.values;
        }
    }
}
