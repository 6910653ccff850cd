//! Grouped-query attention: projections, scores and values.

use crate::cost::ops::{Ops, Whole, Work};
use crate::cost::shape::PassShape;
use crate::domain::attention::Gqa;
use crate::domain::layers::LayerGroup;
use crate::units::Flops;
use crate::words::{OpName, Part};

/// Adds a group's attention.
///
/// # Formula
///
/// ```text
/// qkv        2 n h (H d + K d + K d_v) FLOPs, its weights once; 2 h in place of h in an EAGLE-3 head
/// attention  2 H (d + d_v) B sum over i = 1..q of keys(i)   with keys(i) = min(ctx + i, W), itself included
///            reads kv min(ctx, W - 1) B once whatever q is, writes kv q B
/// o          2 n H d_v h FLOPs, its weights once
/// ```
pub(super) fn add(ops: &mut Ops, gqa: &Gqa, group: &LayerGroup, of: &Whole<'_>) {
    let layers = of.layers;
    let (count, hidden, bytes) = (group.count as f64, layers.hidden(), of.bytes(Part::Attention));
    let tokens = of.tokens();
    let qkv = count * layers.qkv_inputs() * gqa.projected_width();
    ops.add(OpName::Qkv, Work::product(tokens, qkv, bytes));
    ops.add(OpName::O, Work::product(tokens, count * gqa.output_width() * hidden, bytes));
    let share = of.model.kv_share(group);
    let kept = share.bytes_per_token * of.placement.kv_share(gqa);
    let keys = |part: &PassShape| part.batch * keys(part.context, part.new_tokens_per_seq, gqa.window());
    let keys: f64 = of.parts.iter().map(keys).sum();
    ops.add(
        OpName::Attention,
        Work {
            flops: Flops::new(2.0 * count * (gqa.query_width() + gqa.output_width()) * keys),
            kv_read: of.parts.iter().map(|part| kept * share.cached(part.context) * part.batch).sum(),
            kv_written: kept * tokens,
            ..Work::NONE
        },
    );
}

/// Keys that the new tokens of one sequence see: the triangle inside the block, cut at the window. Tokens
/// are whole where the context, a mean, is not: those that see less than a window are counted down.
pub(super) fn keys(context: f64, new_tokens: f64, window: Option<u64>) -> f64 {
    let growing = window.map_or(new_tokens, |window| (window as f64 - context).floor().clamp(0.0, new_tokens));
    let full = window.map_or(0.0, |window| (new_tokens - growing) * window as f64);
    growing * context + growing * (growing + 1.0) / 2.0 + full
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Summed one by one.
    #[test]
    fn keys_are_those_of_the_triangle() {
        for (context, new, window) in
            [(0, 3, None), (2048, 5, None), (4096, 5, Some(1024)), (1022, 5, Some(1024)), (7, 4, Some(1))]
        {
            let each = (1..=new).map(|i| window.map_or(context + i, |window| (context + i).min(window)));
            let expected = each.sum::<u64>() as f64;
            assert!((keys(context as f64, new as f64, window) - expected).abs() < 1e-9, "{context} {new} {window:?}");
        }
        // 1023.5 and then 1024 four times; no token sees more than its window.
        assert!((keys(1022.5, 5.0, Some(1024)) - 5119.5).abs() < 1e-9);
        assert!((keys(1023.75, 1.0, Some(1024)) - 1024.0).abs() < 1e-9);
    }
}
