//! The invariants of `ARCHITECTURE.md`, by number, over random models and devices.

use proptest::prelude::*;
use specplan::acceptance::accepted::Accepted;
use specplan::acceptance::chain::expected_tokens;
use specplan::acceptance::exact::{Replacement, output};
use specplan::acceptance::simulate::{noise, rounds, rule};
use specplan::cost::pass::{PassCost, pass};
use specplan::cost::pricing::Pricing;
use specplan::cost::roofline::Rates;
use specplan::cost::shape::PassShape;
use specplan::domain::attention::{Attention, Gqa};
use specplan::domain::deployment::{Limits, MemoryPolicy, Spread};
use specplan::domain::device::{Device, Memory, Peak, Peaks};
use specplan::domain::drafter::DraftSource;
use specplan::domain::engine::{Engine, Profile};
use specplan::domain::ffn::Ffn;
use specplan::domain::law::{Law, Pair};
use specplan::domain::layers::{Extras, LayerGroup, Layers};
use specplan::domain::model::{Aggregate, Formats, Model, Shape};
use specplan::plan::round::{plain_step, round};
use specplan::plan::setup::{Deployment, Drafts, Setup};
use specplan::plan::speedup::speedup;
use specplan::rng::Generator;
use specplan::units::{Bytes, BytesPerSecond, FlopsPerSecond, Probability};
use specplan::words::{Dtype, Role, Roofline};

fn model() -> impl Strategy<Value = Model> {
    prop_oneof![by_totals(), by_layers()]
}

/// One or two groups of layers, with and without a window.
fn by_layers() -> impl Strategy<Value = Model> {
    let gqa = (1..9_u64, 1..9_u64, 1..3_u64, prop_oneof![Just(None), (1..9000_u64).prop_map(Some)]).prop_map(
        |(kv_heads, sharing, size, window)| {
            Attention::Gqa(Gqa::new(kv_heads * sharing, kv_heads, 64 * size, window).unwrap())
        },
    );
    let ffn = (1..30_000_u64, 0..3_u8).prop_map(|(intermediate, kind)| match kind {
        0 => Ffn::Gated { intermediate },
        1 => Ffn::Plain { intermediate },
        _ => Ffn::None,
    });
    let group = (1..80_u64, gqa, ffn).prop_map(|(count, attention, ffn)| LayerGroup { count, attention, ffn });
    (1..16_384_u64, 1..200_000_u64, any::<bool>(), prop::collection::vec(group, 1..3)).prop_map(
        |(hidden, vocab, tied, groups)| Model {
            id: "m".into(),
            name: "m".into(),
            role: Role::Target,
            vocab: Some(vocab),
            shape: Shape::Layers(Layers::new(hidden, vocab, tied, groups, Extras::default()).unwrap()),
            formats: Formats::new(Dtype::Bf16, Dtype::Bf16, Dtype::Fp8),
            approximate: false,
            fits: vec![],
            source: None,
        },
    )
}

fn by_totals() -> impl Strategy<Value = Model> {
    (1e6..1e12, 1.0..1.5, 0.0..1e6, prop_oneof![Just(Dtype::Bf16), Just(Dtype::Fp8), Just(Dtype::Fp32)]).prop_map(
        |(params, more, kv, weights)| Model {
            id: "m".into(),
            name: "m".into(),
            role: Role::Target,
            vocab: None,
            shape: Shape::Aggregate(Aggregate::new(params, params * more, kv).unwrap()),
            formats: Formats::new(weights, Dtype::Bf16, Dtype::Bf16),
            approximate: false,
            fits: vec![],
            source: None,
        },
    )
}

fn rates() -> impl Strategy<Value = Rates> {
    (1e12..1e16, 1e10..1e13).prop_map(|(peak, bandwidth)| Rates {
        peak: FlopsPerSecond::new(peak),
        bandwidth: BytesPerSecond::new(bandwidth),
    })
}

fn shape() -> impl Strategy<Value = PassShape> {
    (1..4096_u32, 1..64_u32, 0..200_000_u32)
        .prop_map(|(batch, width, context)| PassShape::verify(batch.into(), width.into(), context.into()))
}

fn device(rates: Rates) -> Device {
    Device {
        id: "d".into(),
        name: "d".into(),
        vendor: None,
        family: None,
        memory: Memory { capacity: Some(Bytes::new(80e9)), bandwidth: rates.bandwidth, source: "s".into() },
        peaks: Peaks { stated: vec![(Dtype::Bf16, Peak::Rate(rates.peak))], source: "s".into() },
        link: None,
        power: None,
        price: None,
    }
}

fn policy() -> MemoryPolicy {
    MemoryPolicy::new(Probability::new(0.9).unwrap(), Bytes::ZERO, MemoryPolicy::DEFAULT_BLOCK_TOKENS).unwrap()
}

/// Under the aggregate roofline, which prices models of every kind.
fn priced(model: &Model, rates: Rates, shape: PassShape) -> PassCost {
    pass(model, &Pricing::ideal(rates, Roofline::Aggregate), shape)
}

fn ideal_setup<'a>(device: &Device, target: &'a Model, source: &'a DraftSource) -> Setup<'a> {
    let engine =
        Engine { id: "ideal".into(), name: "Ideal".into(), profile: Profile::Ideal, note: None, disputed_by: vec![] };
    Setup::new(&Deployment {
        device,
        engine: &engine,
        roofline: Roofline::Aggregate,
        devices: 1,
        spread: Spread::default(),
        limits: &Limits::default(),
        without: &[],
        policy: Some(&policy()),
        verify_cost: None,
        target,
        drafts: Some(Drafts { source, tree: None, proposing_share: None, overlap: false }),
    })
    .unwrap()
}

fn time(cost: PassCost) -> f64 {
    cost.seconds().get()
}

/// Two laws over up to 12 tokens, some of which one or both rule out.
fn pair() -> impl Strategy<Value = Pair> {
    let weight = || prop_oneof![1 => Just(0.0), 3 => 0.001..1.0_f64];
    (1..12_usize)
        .prop_flat_map(move |tokens| (prop::collection::vec(weight(), tokens), prop::collection::vec(weight(), tokens)))
        .prop_filter_map("no weight", |(p, q)| Pair::new(Law::normalised(&p).ok()?, Law::normalised(&q).ok()?).ok())
}

proptest! {
    /// By enumeration: the chance of every way to each token, added up.
    #[test]
    fn invariant_6_what_comes_out_follows_the_target(pair in pair()) {
        let out = output(&pair, pair.q(), Replacement::Residual).unwrap();
        prop_assert!(out.total_variation < 1e-12, "{out:?}");
        prop_assert!((out.acceptance - pair.acceptance()).abs() < 1e-12);
        prop_assert!((pair.acceptance() - (1.0 - pair.total_variation())).abs() < 1e-12);
        prop_assert!(pair.match_chance() <= pair.acceptance() + 1e-12);
    }

    /// Bounds that a run out of 10^8 would break by chance.
    #[test]
    fn invariant_6_trials_agree_with_the_enumeration(pair in pair(), seed: u64) {
        let seen = rule(&pair, 4_000, &mut Generator::from_seed(seed));
        let acceptance = seen.acceptance().unwrap();
        let reach = 2.0 * (acceptance.high - acceptance.low);
        prop_assert!((acceptance.value - pair.acceptance()).abs() < reach, "{seen:?}");
        let distance = seen.total_variation(pair.p()).unwrap();
        // Noise alone gives `noise`, and strays from it by more than t with chance exp(-2 n t^2) (McDiarmid).
        prop_assert!(distance < noise(pair.p(), 4_000) + 3.5 / 4_000_f64.sqrt(), "{distance}");
        prop_assert_eq!(seen.emitted.iter().sum::<u64>(), 4_000);
    }

    #[test]
    fn invariant_6_rounds_agree_with_the_closed_form(alpha in 0.02..0.98_f64, k in 1..24_u64, seed: u64) {
        let alpha = Probability::new(alpha).unwrap();
        let seen = rounds(alpha, k, 4_000, &mut Generator::from_seed(seed)).tokens_per_pass(k).unwrap();
        // Six standard errors.
        let reach = 3.1 * (seen.high - seen.value).max(seen.value - seen.low);
        prop_assert!((seen.value - expected_tokens(alpha, k)).abs() < reach, "{seen:?}");
    }

    #[test]
    fn invariant_2_tokens_lie_between_one_and_k_plus_one(alpha in 0.0..=1.0_f64, k in 0..3000_u64) {
        let tokens = expected_tokens(Probability::new(alpha).unwrap(), k);
        prop_assert!(tokens >= 1.0);
        prop_assert!(tokens <= (k as f64 + 1.0) * (1.0 + 1e-12), "{tokens}");
    }

    #[test]
    fn invariant_2_more_drafts_and_more_acceptance_never_yield_less(alpha in 0.0..1.0_f64, k in 0..1200_u64) {
        let at = |alpha: f64, k| expected_tokens(Probability::new(alpha).unwrap(), k);
        prop_assert!(at(alpha, k + 1) >= at(alpha, k) * (1.0 - 1e-14));
        prop_assert!(at(alpha + (1.0 - alpha) / 2.0, k) >= at(alpha, k) * (1.0 - 1e-14));
    }

    #[test]
    fn invariant_2_the_law_and_the_formula_agree(alpha in 0.0..=1.0_f64, k in 0..300_u64) {
        let alpha = Probability::new(alpha).unwrap();
        let law = Accepted::iid(alpha, k);
        let tokens = expected_tokens(alpha, k);
        prop_assert!((law.mean_tokens() - tokens).abs() <= 1e-12 * tokens);
        prop_assert!((law.pmf().iter().sum::<f64>() - 1.0).abs() < 1e-12);
        prop_assert!(law.variance() >= 0.0);
    }

    #[test]
    fn invariant_2_no_draft_gains_exactly_nothing(
        target in model(), drafter in model(), rates in rates(), batch in 1..4096_u32, context in 0..200_000_u32,
    ) {
        let device = device(rates);
        let source = DraftSource::Model(drafter);
        let setup = ideal_setup(&device, &target, &source);
        let plain = plain_step(&setup, batch.into(), context.into());
        let none = round(&setup, &plain, batch.into(), context.into(), 0, 1.0);
        prop_assert_eq!(speedup(1.0, plain.seconds(), none.seconds(1.0)).to_bits(), 1.0_f64.to_bits());
    }

    #[test]
    fn invariant_3_slower_devices_and_more_work_never_take_less_time(
        model in model(), rates in rates(), shape in shape(), factor in 1.0..10.0_f64,
    ) {
        let base = time(priced(&model, rates, shape));
        let slower = |peak: f64, bandwidth: f64| Rates {
            peak: FlopsPerSecond::new(rates.peak.get() / peak),
            bandwidth: BytesPerSecond::new(rates.bandwidth.get() / bandwidth),
        };
        prop_assert!(time(priced(&model, slower(factor, 1.0), shape)) >= base);
        prop_assert!(time(priced(&model, slower(1.0, factor), shape)) >= base);
        for larger in [
            PassShape { batch: shape.batch * factor, ..shape },
            PassShape::verify(shape.batch, shape.new_tokens_per_seq * factor, shape.context),
            PassShape { context: shape.context * factor, ..shape },
        ] {
            prop_assert!(time(priced(&model, rates, larger)) >= base);
        }
    }

    #[test]
    fn invariant_4_verification_reads_each_kv_once(model in model(), rates in rates(), shape in shape()) {
        let narrow = priced(&model, rates, PassShape::decode(shape.batch, shape.context));
        let wide = priced(&model, rates, shape);
        prop_assert_eq!(narrow.work.kv_read, wide.work.kv_read);
    }

    /// Memory by hand: weights of both models, and KV of whole blocks of 16 for both.
    #[test]
    fn invariant_5_totals_are_sums_of_their_parts(
        target in by_totals(), drafter in by_totals(), rates in rates(),
        batch in 1..4096_u64, context in 0..200_000_u64, k in 1..16_u64,
    ) {
        let device = device(rates);
        let bytes = |model: &Model| match model.formats.weights() {
            Dtype::Fp8 => 1.0,
            Dtype::Bf16 => 2.0,
            _ => 4.0,
        };
        let weights = target.total_params() * bytes(&target) + drafter.total_params() * bytes(&drafter);
        let tokens = (context + k + 1).div_ceil(16) as f64 * 16.0 * batch as f64;
        let kv = tokens * (target.kv_bytes_per_token().get() + drafter.kv_bytes_per_token().get());
        let one_draft = time(priced(&drafter, rates, PassShape::decode(batch as f64, context as f64)));
        let width = PassShape::verify(batch as f64, k as f64 + 1.0, context as f64);
        let verify = time(priced(&target, rates, width));
        let source = DraftSource::Model(drafter);
        let setup = ideal_setup(&device, &target, &source);
        let plain = plain_step(&setup, batch as f64, context as f64);
        let cost = round(&setup, &plain, batch as f64, context as f64, k, 1.0);
        let near = |a: f64, b: f64| (a - b).abs() <= 1e-12 * a.abs().max(b.abs());
        prop_assert!(near(cost.seconds(1.0).get(), k as f64 * one_draft + verify));
        let held = setup.memory(batch, context, k).total().get();
        prop_assert!(near(held, weights + kv), "{} and {}", held, weights + kv);
        prop_assert!(held > setup.base_memory(batch, context).total().get());
    }

    /// Doubling bandwidth and bytes, or peak and FLOPs, leaves times as they are.
    #[test]
    fn times_scale_as_their_units_do(params in 1e6..1e11_f64, kv in 0.0..1e6_f64, rates in rates(), shape in shape()) {
        let model = |params: f64, kv: f64| Model {
            id: "m".into(), name: "m".into(), role: Role::Target, vocab: None,
            shape: Shape::Aggregate(Aggregate::new(params, params, kv).unwrap()),
            formats: Formats::new(Dtype::Bf16, Dtype::Bf16, Dtype::Bf16), approximate: false, fits: vec![], source: None,
        };
        let doubled = Rates { peak: rates.peak * 2.0, bandwidth: rates.bandwidth * 2.0 };
        let once = time(priced(&model(params, kv), rates, shape));
        let twice = time(priced(&model(params * 2.0, kv * 2.0), doubled, shape));
        prop_assert!((once - twice).abs() <= 1e-14 * once);
    }
}
