//! The additive form: fixed kernel time, bytes, arithmetic from the first token on, all in sequence.
//!
//! A roofline takes the longer of arithmetic and traffic. Whole engines do not reach it: published step
//! times rise with the first verified token, at 0.72 of the peak on an H100, and a sum of the terms below
//! predicts published speedups better than a maximum does. Every term is a function of its own, so that
//! each can be checked by hand and left out.

use crate::cost::ops::{Ops, Work};
use crate::cost::placement::{Placement, ring_all_reduce};
use crate::cost::terms::{Terms, Without};
use crate::domain::layers::{LayerGroup, Layers};
use crate::units::{Bytes, BytesPerSecond, Flops, FlopsPerSecond, Seconds};
use crate::words::{OpName, Term};

/// What an engine on a device reaches for one model.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Coefficients {
    /// Fixed time of one matrix product.
    pub product: Seconds,
    /// Fixed time of one layer's attention.
    pub attention: Seconds,
    /// Routing kernels of one layer of experts.
    pub moe_layer: Seconds,
    /// Arithmetic: efficiency x dense peak of the model's number format.
    pub arithmetic: FlopsPerSecond,
    /// Weights: efficiency x bandwidth.
    pub bandwidth: BytesPerSecond,
    /// KV cache: efficiency x bandwidth.
    pub kv_bandwidth: BytesPerSecond,
    /// Start of one all-reduce.
    pub all_reduce: Seconds,
    /// Link: efficiency x one-way bandwidth.
    pub link: BytesPerSecond,
    /// The least time of one layer, where launches set it.
    pub layer_floor: Option<Seconds>,
    /// Terms that are left out.
    pub without: Without,
}

/// Fixed time of all matrix products: `products x t_product`, whatever they compute.
#[must_use]
pub fn product_kernels(layers: &Layers, each: Seconds) -> Seconds {
    each * layers.products()
}

/// Fixed time of attention of any kind: `layers that have one x t_attention`.
#[must_use]
pub fn attention_kernels(layers: &Layers, each: Seconds) -> Seconds {
    each * layers.attention_layers()
}

/// Fixed time of routing: `layers of experts x t_moe_layer`.
#[must_use]
pub fn routing(layers: &Layers, each: Seconds) -> Seconds {
    each * layers.moe_layers()
}

/// Weights read once, of mixtures the distinct experts that the batch's tokens pick:
/// `bytes / (eta x bandwidth)`, on each device.
#[must_use]
pub fn weights(bytes: Bytes, bandwidth: BytesPerSecond) -> Seconds {
    bytes / bandwidth
}

/// Arithmetic from the first token on: `2 x active parameters x tokens / (eta x peak)`, on each device.
#[must_use]
pub fn arithmetic(flops: Flops, rate: FlopsPerSecond) -> Seconds {
    flops / rate
}

/// KV cache, read once for each sequence whatever the width, or written for each new token:
/// `bytes / (eta_kv x bandwidth)`.
#[must_use]
pub fn kv(bytes: Bytes, bandwidth: BytesPerSecond) -> Seconds {
    bytes / bandwidth
}

/// Start of the all-reduces: one after each attention and each feed-forward part, none on a single device.
#[must_use]
pub fn all_reduce_start(layers: &Layers, placement: &Placement, each: Seconds) -> Seconds {
    if placement.devices == 1 { Seconds::ZERO } else { each * reductions(layers, placement) }
}

/// All-reduces of a pass: one after each attention and each feed-forward part, but not after experts whose
/// results ranks exchange.
fn reductions(layers: &Layers, placement: &Placement) -> f64 {
    layers.sublayers() - if placement.ranks > 1 { layers.moe_layers() } else { 0.0 }
}

/// What the all-reduces send: `parts x 2 (n - 1) / n x 2 tokens h / (eta x link)`, with two parts a layer.
#[must_use]
pub fn all_reduce_traffic(layers: &Layers, placement: &Placement, tokens: f64, link: BytesPerSecond) -> Seconds {
    let bytes = placement.all_reduce_bytes(layers, tokens);
    ring_all_reduce(bytes, placement.devices, link, Seconds::ZERO) * reductions(layers, placement)
}

/// Start of the exchanges with the devices that hold the experts: two for each layer of experts, none where
/// every device sees every token.
#[must_use]
pub fn all_to_all_start(layers: &Layers, placement: &Placement, each: Seconds) -> Seconds {
    if placement.ranks == 1 { Seconds::ZERO } else { each * (2.0 * layers.moe_layers()) }
}

/// What these exchanges send, there and back:
/// `layers of experts x 2 x 2 tokens / n top_k h (r n - 1) / (r n) / (eta x link)`, with the latent's width in place of h
/// where experts work on one.
#[must_use]
pub fn all_to_all_traffic(layers: &Layers, placement: &Placement, tokens: f64, link: BytesPerSecond) -> Seconds {
    if placement.ranks == 1 {
        return Seconds::ZERO;
    }
    let of_group = |group: &LayerGroup| {
        let moe = group.ffn.moe()?;
        // Experts over a latent are sent the latent.
        let width = moe.latent().map_or(layers.hidden(), |latent| latent as f64);
        Some(placement.all_to_all_bytes(width, moe.top_k() as f64, tokens) / link * (2.0 * group.count as f64))
    };
    layers.groups().iter().filter_map(of_group).sum()
}

/// What passes from stage to stage and back to the first: `P (t_all_reduce + 2 tokens h / (eta x link))`.
#[must_use]
pub fn pipeline(layers: &Layers, placement: &Placement, tokens: f64, start: Seconds, link: BytesPerSecond) -> Seconds {
    if placement.stages == 1 {
        return Seconds::ZERO;
    }
    (start + Bytes::new(2.0 * tokens * layers.hidden()) / link) * placement.stages as f64
}

/// What is missing to `layers x t_layer_floor` where launches, not the device, set the pace.
#[must_use]
pub fn layer_floor(layers: &Layers, each: Seconds, pass: Seconds) -> Seconds {
    let least = each * layers.layers();
    if least > pass { least - pass } else { Seconds::ZERO }
}

/// All terms of a pass.
///
/// # Formula
///
/// ```text
/// t = products t_product + layers t_attention + moe_layers t_moe
///   + weight bytes / (eta_bw BW) + flops / (eta_c PEAK) + KV bytes / (eta_kv BW)
///   + 2 layers (t_all_reduce + 2 (n - 1) / n * 2 tokens h / (eta_link link))        for n > 1 devices
/// ```
///
/// Bytes and FLOPs are those of one device, summed over the operators of [`Ops`]; tokens are the new ones of the whole pass.
#[must_use]
pub fn terms(ops: &Ops, layers: &Layers, tokens: f64, placement: &Placement, at: &Coefficients) -> Terms {
    let total = ops.total();
    let attention = ops.work(OpName::Attention);
    let small = small_reads(ops);
    let products = Flops::new(total.flops.get() - attention.flops.get());
    let all = [
        (Term::ProductKernels, product_kernels(layers, at.product)),
        (Term::AttentionKernels, attention_kernels(layers, at.attention)),
        (Term::Routing, routing(layers, at.moe_layer)),
        (Term::Weights, weights(total.weights - small.weights, at.bandwidth)),
        (Term::SmallReads, weights(small.weights, at.bandwidth)),
        (Term::Arithmetic, arithmetic(products, at.arithmetic)),
        (Term::AttentionArithmetic, arithmetic(attention.flops, at.arithmetic)),
        (Term::KvRead, kv(total.kv_read, at.kv_bandwidth)),
        (Term::KvWrite, kv(total.kv_written, at.kv_bandwidth)),
        (Term::AllReduceStart, all_reduce_start(layers, placement, at.all_reduce)),
        (Term::AllReduceTraffic, all_reduce_traffic(layers, placement, tokens, at.link)),
        (Term::AllToAllStart, all_to_all_start(layers, placement, at.all_reduce)),
        (Term::AllToAllTraffic, all_to_all_traffic(layers, placement, tokens, at.link)),
        (Term::Pipeline, pipeline(layers, placement, tokens, at.all_reduce, at.link)),
    ];
    let mut terms = Terms::NONE;
    for (term, time) in &all {
        terms.set(*term, at.without.unless(*term, *time));
    }
    if let Some(each) = at.layer_floor {
        let floor = layer_floor(layers, each, terms.total());
        terms.set(Term::LayerFloor, at.without.unless(Term::LayerFloor, floor));
    }
    terms
}

/// What is read beside the matrices.
fn small_reads(ops: &Ops) -> Work {
    ops.work(OpName::Embed).plus(ops.work(OpName::Norms))
}
