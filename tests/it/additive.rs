//! The additive form by hand: every term with the number that it should be, beside the numbers of the
//! mistakes that are easily made in its place. One check, [`near`], accepts the one and refuses the others.
//!
//! Nothing that is expected is computed with the library: only literals, and arithmetic on them.
#![expect(clippy::panic, reason = "a test stops at what it did not expect")]

use std::num::NonZeroU64;

use specplan::catalog::load::{Entry, entry};
use specplan::catalog::lookup::SearchPath;
use specplan::cost::pass::{PassCost, Timing, pass};
use specplan::cost::shape::PassShape;
use specplan::cost::terms::Terms;
use specplan::domain::attention::{Attention, Gqa};
use specplan::domain::deployment::{Limits, MemoryPolicy, Spread};
use specplan::domain::device::{Device, Link, Memory, Peak, Peaks};
use specplan::domain::drafter::{DraftSource, HeadSource};
use specplan::domain::engine::{Additive, Constant, Efficiencies, Efficiency, Engine, Profile, Quantised};
use specplan::domain::ffn::{Ffn, Moe};
use specplan::domain::head::Head;
use specplan::domain::layers::{Extras, LayerGroup, Layers};
use specplan::domain::model::{Formats, Model, Shape};
use specplan::plan::round::{Round, plain_step, round};
use specplan::plan::setup::{Deployment, Drafts, Setup};
use specplan::plan::speedup::speedup;
use specplan::units::{Bytes, BytesPerSecond, FlopsPerSecond, Probability, Seconds};
use specplan::words::{Dtype, HeadKind, Kind, Role, Roofline, Status, Term, Word};

/// Every figure of a device and an engine that the form takes, in SI units.
#[derive(Clone, Copy, Debug)]
struct Figures {
    peak: f64,
    bandwidth: f64,
    link: f64,
    eta_compute: f64,
    eta_bandwidth: f64,
    eta_kv: Option<f64>,
    eta_link: f64,
    rho: f64,
    product: f64,
    attention: f64,
    moe_layer: f64,
    all_reduce: f64,
    step: f64,
    draft: f64,
    round: f64,
    sequence: f64,
    floor: Option<f64>,
    uncaptured: Option<f64>,
    /// Factors on compute and bandwidth for quantised weights.
    quantised: Option<(f64, f64)>,
}

impl Figures {
    fn device(&self) -> Device {
        let peak = Peak::Rate(FlopsPerSecond::new(self.peak));
        Device {
            id: "d".into(),
            name: "d".into(),
            vendor: None,
            family: Some("f".into()),
            memory: Memory {
                capacity: Some(Bytes::new(80e9)),
                bandwidth: BytesPerSecond::new(self.bandwidth),
                source: "s".into(),
            },
            peaks: Peaks { stated: vec![(Dtype::Bf16, peak)], source: "s".into() },
            link: Some(Link {
                kind: "l".into(),
                bandwidth: BytesPerSecond::new(self.link),
                domain: 8,
                source: "s".into(),
            }),
            power: None,
            price: None,
        }
    }

    fn engine(&self) -> Engine {
        let share = |value| constant(Efficiency::new(value).unwrap());
        let time = |value| constant(Seconds::new(value));
        let family = Efficiencies {
            tested: true,
            bandwidth: share(self.eta_bandwidth),
            kv_bandwidth: self.eta_kv.map(share),
            compute: share(self.eta_compute),
            product: time(self.product),
            attention: time(self.attention),
        };
        let quantised = self
            .quantised
            .map(|(compute, bandwidth)| Quantised { compute: share(compute), bandwidth: share(bandwidth) });
        let additive = Additive {
            status: Status::Assumed,
            versions: None,
            step: time(self.step),
            draft: time(self.draft),
            round: time(self.round),
            sequence: time(self.sequence),
            moe_layer: time(self.moe_layer),
            routing_independence: share(self.rho),
            routing_power: None,
            all_reduce: time(self.all_reduce),
            link: share(self.eta_link),
            accepted_per_proposed: share(0.4),
            device: None,
            tree: None,
            token: None,
            plain_pace: None,
            round_pace: None,
            layer_floor: self.floor.map(time),
            uncaptured_layer: self.uncaptured.map(time),
            quantised,
            families: vec![("f".into(), family)],
            errors: vec![],
            calibration: None,
        };
        Engine {
            id: "e".into(),
            name: "e".into(),
            profile: Profile::Additive(Box::new(additive)),
            note: None,
            disputed_by: vec![],
        }
    }
}

fn constant<T>(value: T) -> Constant<T> {
    Constant { value, range: None, origin: String::new() }
}

/// What is priced, beside the model.
struct On<'s> {
    device: &'s Device,
    engine: &'s Engine,
    devices: u64,
    without: &'s [Term],
}

/// Memory is handed out in blocks of one token, so that no rounding hides a wrong count.
fn setup<'a>(on: &On<'_>, target: &'a Model, drafts: Option<Drafts<'a>>) -> Setup<'a> {
    spread(on, Spread::default(), &Limits::default(), target, drafts)
}

/// The same, spread over more devices or held to limits.
fn spread<'a>(
    on: &On<'_>,
    spread: Spread,
    limits: &Limits,
    target: &'a Model,
    drafts: Option<Drafts<'a>>,
) -> Setup<'a> {
    let policy = MemoryPolicy::new(Probability::ONE, Bytes::new(7.0), NonZeroU64::MIN).unwrap();
    Setup::new(&Deployment {
        device: on.device,
        engine: on.engine,
        roofline: Roofline::Additive,
        devices: on.devices,
        spread,
        limits,
        without: on.without,
        policy: Some(&policy),
        verify_cost: None,
        target,
        drafts,
    })
    .unwrap()
}

const fn drafts(source: &DraftSource) -> Drafts<'_> {
    Drafts { source, tree: None, proposing_share: None, overlap: false }
}

fn terms(cost: &PassCost) -> Terms {
    let Timing::Added(terms) = cost.timing else { panic!("{cost:?} is not a sum of terms") };
    terms
}

fn model(layers: Layers, formats: Formats) -> Model {
    Model {
        id: "m".into(),
        name: "m".into(),
        role: Role::Target,
        vocab: None,
        shape: Shape::Layers(layers),
        formats,
        approximate: false,
        fits: vec![],
        source: None,
    }
}

/// The one check: equal but for the rounding of a sum.
fn near(got: f64, expected: f64) -> bool {
    (got - expected).abs() <= 1e-12 * got.abs().max(expected.abs())
}

/// A term, what the program says, what it is by hand, and what it would be by mistake.
struct Row {
    case: &'static str,
    term: Term,
    got: f64,
    by_hand: f64,
    broken: Vec<(&'static str, f64)>,
}

/// The rows of one pass or round.
struct Table {
    case: &'static str,
    rows: Vec<Row>,
}

impl Table {
    const fn new(case: &'static str) -> Self {
        Self { case, rows: Vec::new() }
    }

    fn row(&mut self, term: Term, got: Seconds, by_hand: f64, broken: &[(&'static str, f64)]) {
        let (case, broken) = (self.case, broken.to_vec());
        self.rows.push(Row { case, term, got: got.get(), by_hand, broken });
    }
}

#[test]
fn every_term_is_what_it_is_by_hand_and_no_common_mistake_passes() {
    let rows: Vec<Row> = [
        by_hand::dense,
        by_hand::windowed,
        by_hand::mixture,
        by_hand::quantised,
        replicas::spread,
        replicas::ranks,
        replicas::stages,
        replicas::captured,
        by_hand::floor,
        by_hand::engine,
        calibrated::served,
    ]
    .into_iter()
    .chain([real::llama, real::llama_on_eight, real::qwen])
    .flat_map(|table| table().rows)
    .collect();
    for Row { case, term, got, by_hand, broken } in &rows {
        assert!(near(*got, *by_hand), "{case}, {term}: {got} is not {by_hand}");
        assert!(!broken.is_empty(), "{case}, {term}: no mistake is tried");
        for (mistake, wrong) in broken {
            assert!(!near(*wrong, *by_hand), "{case}, {term}: {mistake} would pass with {wrong}");
        }
    }
    for term in Term::ALL {
        assert!(rows.iter().any(|row| row.term == *term), "{term} has no number");
    }
}

fn built_in(kind: Kind, id: &str) -> Entry {
    entry(&SearchPath::default(), kind, id).unwrap().0
}

/// An H100 (3.35 TB/s, 989.4 TFLOP/s, 450 GB/s), and the built-in vLLM with the three constants that the
/// published figures were made with.
fn h100() -> (Device, Engine) {
    let Entry::Device(device) = built_in(Kind::Hardware, "h100-sxm5-80gb") else { panic!("no device") };
    let Entry::Engine(mut engine) = built_in(Kind::Engines, "vllm") else { panic!("no engine") };
    let Profile::Additive(additive) = &mut engine.profile else { panic!("no constants") };
    additive.step.value = Seconds::new(1350e-6);
    additive.draft.value = Seconds::new(110e-6);
    additive.round.value = Seconds::new(460e-6);
    (*device, *engine)
}

fn target(id: &str) -> Model {
    let Entry::Model(model) = built_in(Kind::Models, id) else { panic!("no model") };
    *model
}

const fn eagle3(draft_vocab: u64) -> DraftSource {
    DraftSource::Head(HeadSource::Derived(Head {
        kind: HeadKind::Eagle3,
        draft_vocab: Some(draft_vocab),
        copies: 1,
        reads: None,
    }))
}

/// A plain step and a round of three drafts by EAGLE-3 at context 400, in milliseconds, and the speedup at
/// 2.25 tokens per pass.
fn published(without: &[Term], batch: f64) -> [f64; 3] {
    let (device, engine) = h100();
    let (target, source) = (target("llama-3.1-8b"), eagle3(32_000));
    let on = On { device: &device, engine: &engine, devices: 1, without };
    let setup = setup(&on, &target, Some(drafts(&source)));
    let plain = plain_step(&setup, batch, 400.0);
    let round = round(&setup, &plain, batch, 400.0, 3, 1.0).seconds(1.0);
    [plain.seconds().get() * 1e3, round.get() * 1e3, speedup(2.25, plain.seconds(), round)]
}

/// Published figures leave out what the fit left out.
#[test]
fn the_published_check_values_come_out_to_the_digit() {
    let left_out = [Term::AttentionArithmetic, Term::KvWrite, Term::SmallReads];
    for (batch, expected) in [
        (1.0, ["7.267", "8.966", "1.824"]),
        (16.0, ["7.844", "10.562", "1.671"]),
        (64.0, ["9.690", "15.672", "1.391"]),
        (128.0, ["12.151", "22.485", "1.216"]),
    ] {
        let got = published(&left_out, batch).map(|value| format!("{value:.3}"));
        assert_eq!(got, expected, "batch {batch}");
    }
}

#[test]
fn all_terms_together_add_a_little_to_the_published_check_values() {
    let [plain, round, speedup] = published(&[], 128.0);
    assert!((plain - 12.19).abs() < 0.02, "{plain}");
    assert!((round - 22.66).abs() < 0.02, "{round}");
    assert!((speedup - 1.211).abs() < 0.001, "{speedup}");
}

mod by_hand;
mod calibrated;
mod cases;
mod properties;
mod real;
mod replicas;
