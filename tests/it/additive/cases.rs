//! What properties are tried on: any device, engine, model, drafter and shape.

use proptest::prelude::*;
use proptest::sample::select;
use specplan::cost::pricing::Pricing;
use specplan::domain::drafter::CostRatio;
use specplan::domain::shape::{Sizes, TreeShape};
use specplan::words::NormKind;

use super::*;

/// What is priced.
#[derive(Clone, Debug)]
pub(super) struct Case {
    pub(super) figures: Figures,
    pub(super) model: Model,
    pub(super) devices: u64,
    pub(super) shape: PassShape,
}

impl Case {
    pub(super) fn pricing(&self) -> Pricing {
        let (device, engine) = (self.figures.device(), self.figures.engine());
        let on = On { device: &device, engine: &engine, devices: self.devices, without: &[] };
        *setup(&on, &self.model, None).pricing()
    }

    pub(super) fn cost(&self) -> PassCost {
        pass(&self.model, &self.pricing(), self.shape)
    }

    pub(super) fn layers(&self) -> &Layers {
        let Shape::Layers(layers) = &self.model.shape else { panic!("a model by its totals") };
        layers
    }
}

/// Full efficiency, and any other.
fn share() -> impl Strategy<Value = f64> {
    prop_oneof![1 => Just(1.0), 3 => 0.01..=1.0_f64]
}

/// No time, and any other.
fn time() -> impl Strategy<Value = f64> {
    prop_oneof![1 => Just(0.0), 3 => 0.0..1e-3_f64]
}

fn figures() -> impl Strategy<Value = Figures> {
    let device = (1e12..1e16_f64, 1e10..1e13_f64, 1e9..1e12_f64);
    let shares = (share(), share(), prop::option::of(share()), share(), share());
    let of_pass = (time(), time(), time(), time(), prop::option::of(time()));
    let of_round = (time(), time(), time(), time());
    let quantised = prop::option::of((share(), share()));
    (device, shares, of_pass, of_round, quantised).prop_map(
        |(
            (peak, bandwidth, link),
            (eta_compute, eta_bandwidth, eta_kv, eta_link, rho),
            (product, attention, moe_layer, all_reduce, floor),
            (step, draft, round, sequence),
            quantised,
        )| Figures {
            peak,
            bandwidth,
            link,
            eta_compute,
            eta_bandwidth,
            eta_kv,
            eta_link,
            rho,
            product,
            attention,
            moe_layer,
            all_reduce,
            step,
            draft,
            round,
            sequence,
            floor,
            uncaptured: None,
            quantised,
        },
    )
}

/// KV heads that 1, 2, 4 and 8 devices can share; windows short enough to be met, and long ones.
fn attention() -> impl Strategy<Value = Attention> {
    let window = prop_oneof![Just(None), (1..70_u64).prop_map(Some), (1..9000_u64).prop_map(Some)];
    (select(vec![1_u64, 2, 4, 8, 16, 40]), 1..9_u64, 1..256_u64, window).prop_map(
        |(kv_heads, sharing, head_dim, window)| {
            Attention::Gqa(Gqa::new(kv_heads * sharing, kv_heads, head_dim, window).unwrap())
        },
    )
}

fn ffn() -> impl Strategy<Value = Ffn> {
    let moe = (1..=64_u64, 0.0..=1.0_f64, 1..4096_u64, 0..3_u64, 1..4096_u64).prop_map(
        |(experts, picked, intermediate, shared, shared_intermediate)| {
            let top_k = ((experts as f64 * picked) as u64).clamp(1, experts);
            Ffn::Moe(Moe::new(experts, top_k, intermediate).unwrap().with_shared(shared, shared_intermediate))
        },
    );
    prop_oneof![
        2 => (1..30_000_u64).prop_map(|intermediate| Ffn::Gated { intermediate }),
        1 => (1..30_000_u64).prop_map(|intermediate| Ffn::Plain { intermediate }),
        3 => moe,
        1 => Just(Ffn::None),
    ]
}

/// One or two groups of layers.
fn target() -> impl Strategy<Value = Model> {
    let group =
        (1..80_u64, attention(), ffn()).prop_map(|(count, attention, ffn)| LayerGroup { count, attention, ffn });
    let extras = (any::<[bool; 4]>(), 0..5000_u64, 0..5000_u64).prop_map(
        |([layer, qkv_bias, qk_norm, mlp_bias], positions, extra_params)| Extras {
            norms_per_layer: None,
            norm: if layer { NormKind::Layer } else { NormKind::Rms },
            qkv_bias,
            qk_norm,
            mlp_bias,
            positions,
            extra_params,
        },
    );
    let formats = (select(vec![Dtype::Bf16, Dtype::Fp8]), select(vec![Dtype::Bf16, Dtype::Fp8]), any::<bool>())
        .prop_map(|(weights, kv, packed)| {
            let formats = Formats::new(weights, Dtype::Bf16, kv);
            if packed { formats.with_weight_bytes(0.5625) } else { formats }
        });
    (1..8192_u64, 1..200_000_u64, any::<bool>(), prop::collection::vec(group, 1..=2), extras, formats).prop_map(
        |(hidden, vocab, tied, groups, extras, formats)| {
            model(Layers::new(hidden, vocab, tied, groups, extras).unwrap(), formats)
        },
    )
}

/// Contexts may be means, and lie anywhere at the edge of a window.
fn shape() -> impl Strategy<Value = PassShape> {
    let width = prop_oneof![(1..64_u32).prop_map(f64::from), 1.0..64.0_f64];
    let context = prop_oneof![(0..200_000_u32).prop_map(f64::from), 0.0..200_000.0_f64, 0.0..80.0_f64];
    (1..4096_u32, width, context).prop_map(|(batch, width, context)| PassShape::verify(batch.into(), width, context))
}

pub(super) fn case() -> impl Strategy<Value = Case> {
    (figures(), target(), select(vec![1_u64, 2, 4, 8]), shape()).prop_map(|(figures, model, devices, shape)| Case {
        figures,
        model,
        devices,
        shape,
    })
}

/// A drafter of every kind, with a tree where it may draft one.
pub(super) fn drafter() -> impl Strategy<Value = (DraftSource, Option<TreeShape>)> {
    let head = |kind| DraftSource::Head(HeadSource::Derived(Head { kind, draft_vocab: None, copies: 2, reads: None }));
    let tree = (1..8_u64, 1..8_u64, 1..32_u64).prop_map(|(steps, topk, more)| {
        let most = 1 + topk + (steps - 1) * topk * topk;
        TreeShape::Sized(Sizes::new(steps, topk, (steps + more).min(most)).unwrap())
    });
    let kinds = vec![HeadKind::Eagle1, HeadKind::Eagle3, HeadKind::Mtp, HeadKind::Block, HeadKind::Medusa];
    prop_oneof![
        target().prop_map(|model| (DraftSource::Model(model), None)),
        select(kinds).prop_map(move |kind| (head(kind), None)),
        tree.prop_map(move |tree| (head(HeadKind::Eagle1), Some(tree))),
        select(vec![DraftSource::Ngram, DraftSource::Suffix]).prop_map(|source| (source, None)),
        (1..64_u64, 2..16_u64).prop_map(|(window, ngram)| (DraftSource::Lookahead { window, ngram }, None)),
        (1..4096_u64).prop_map(|budget| (DraftSource::SparseKv { budget }, None)),
        (0.0..1.0_f64).prop_map(|ratio| (DraftSource::Constant { cost_ratio: CostRatio::new(ratio).unwrap() }, None)),
    ]
}
