//! The validation study: `docs/validation.md` is what it finds, and its fits are what they should be.

use std::sync::LazyLock;

use specplan::catalog::builtin::MEASUREMENTS;
use specplan::catalog::lookup::SearchPath;
use specplan::catalog::shelf::Shelf;
use specplan::domain::engine::{Additive, Efficiency, Profile};
use specplan::evidence::study::findings::study;
use specplan::evidence::study::fit::Design;
use specplan::evidence::study::folds::{Left, measured, unseen, whole};
use specplan::evidence::study::subject::Subject;
use specplan::evidence::study::variant::{Measured, shipped};
use specplan::import::measurements::measurements;
use specplan::report::study::{by_class, generated};
use specplan::rng::Generator;
use specplan::units::Seconds;
use specplan::words::{Class, Fitted};

static SUBJECTS: LazyLock<Vec<Subject>> = LazyLock::new(|| {
    let search = SearchPath::default();
    let mut shelf = Shelf::new(&search);
    let lines = measurements(MEASUREMENTS).unwrap().into_iter();
    let named = |measured: specplan::domain::measurement::Measurement| Subject {
        device: shelf.device(&measured.hardware).unwrap(),
        target: shelf.model(&measured.target).unwrap(),
        drafter: measured.drafter.as_ref().map(|id| shelf.model(id).unwrap()),
        engine: shelf.engine(&measured.engine).unwrap(),
        measured,
    };
    let all = lines.map(|line| line.read.unwrap()).map(named);
    all.filter(|of| of.shipped().is_ok()).collect()
});

/// Every so many of the rows of a class that are not scored apart.
fn some(class: Class, every: usize) -> Vec<Subject> {
    let kept = SUBJECTS.iter().filter(|of| of.class() == class && !of.measured.is_excluded());
    kept.step_by(every).cloned().collect()
}

/// Speedups as engines with other constants would have them, with noise: a share of each.
fn planted(subjects: &[Subject], noise: f64, plant: impl Fn(&str, &mut Additive)) -> Vec<Subject> {
    let mut random = Generator::from_seed(3);
    let mut all = subjects.to_vec();
    for of in &mut all {
        let mut other = of.clone();
        if let Profile::Additive(additive) = &mut other.engine.profile {
            plant(&of.engine.id, additive);
        }
        of.measured.speedup = other.shipped().unwrap().speedup * (1.0 + noise * random.normal());
    }
    all
}

fn near(got: f64, planted: f64, within: f64) {
    assert!((got / planted - 1.0).abs() < within, "{got} is not within {within} of {planted}");
}

/// The shipped form with priors so wide that they say nothing.
fn open_minded(subjects: &[Subject]) -> Design {
    let mut design = shipped(&measured(subjects));
    design.parameters.iter_mut().for_each(|one| one.width *= 30.0);
    design
}

/// Rows priced with other constants, one in a thousand of noise: the fit finds the constants, which lie far from both the
/// prior and the profiles.
#[test]
fn planted_constants_of_engines_are_found() {
    let times = |engine: &str| if engine == "vllm" { [2600e-6, 90e-6, 300e-6] } else { [600e-6, 500e-6, 2500e-6] };
    let subjects = planted(&some(Class::Dense, 1), 0.001, |engine, additive| {
        let [step, draft, round] = times(engine).map(Seconds::new);
        (additive.step.value, additive.draft.value, additive.round.value) = (step, draft, round);
    });
    let design = open_minded(&subjects);
    let (fold, _) = whole(&subjects, &design).unwrap();
    for engine in ["vllm", "sglang"] {
        for (of, due) in [Fitted::Step, Fitted::Draft, Fitted::Round].into_iter().zip(times(engine)) {
            near(fold.value(&design, of, engine).unwrap(), due, 0.1);
        }
    }
    // Nothing of it tells of experts: their prior stays.
    near(fold.value(&design, Fitted::MoeLayer, "vllm").unwrap(), 24e-6, 1e-9);
}

#[test]
fn planted_constants_of_mixtures_are_found() {
    let subjects = planted(&some(Class::Moe, 3), 0.001, |_, additive| {
        additive.routing_power.as_mut().unwrap().value = Efficiency::new(0.8).unwrap();
        additive.moe_layer.value = Seconds::new(12e-6);
        additive.device = None;
        additive.round.value = Seconds::new(2000e-6);
    });
    // Each target was measured on one number of devices: a time for each of them stands for the target as well.
    let mut design = open_minded(&subjects);
    design.parameters.retain(|one| one.of != Fitted::FurtherDevice);
    let (fold, _) = whole(&subjects, &design).unwrap();
    near(fold.value(&design, Fitted::RoutingPower, "sglang").unwrap(), 0.8, 0.05);
    near(fold.value(&design, Fitted::MoeLayer, "sglang").unwrap(), 12e-6, 0.3);
    near(fold.value(&design, Fitted::Round, "sglang").unwrap(), 2000e-6, 0.1);
}

/// One outlier in ten, at twice its speedup, hardly moves what the others say.
#[test]
fn rows_far_off_count_little() {
    let mut subjects = planted(&some(Class::Dense, 1), 0.01, |_, additive| {
        additive.round.value = Seconds::new(2500e-6);
    });
    let design = shipped(&measured(&subjects));
    let round =
        |subjects: &[Subject]| whole(subjects, &design).unwrap().0.value(&design, Fitted::Round, "vllm").unwrap();
    let clean = round(&subjects);
    subjects.iter_mut().step_by(10).for_each(|of| of.measured.speedup *= 2.0);
    near(round(&subjects), clean, 0.1);
}

fn few() -> Vec<Subject> {
    SUBJECTS.iter().step_by(6).cloned().collect()
}

/// A source's own speedups play no part in its predictions, and those of rows that are scored apart in no prediction at all.
#[test]
fn a_source_that_is_left_out_is_not_seen() {
    let before = few();
    let mut after = before.clone();
    let is_changed = |of: &Subject| of.source() == "specdecodebench" || of.measured.is_excluded();
    after.iter_mut().filter(|of| is_changed(of)).for_each(|of| of.measured.speedup *= 1.4);
    let design = shipped(&measured(&before));
    let [old, new] = [&before, &after].map(|of| unseen(of, &design, Left::Source).unwrap().predictions);
    let changed = |source: &str| {
        let of = before.iter().zip(old.iter().zip(&new)).filter(|(of, _)| of.source() == source);
        let moved: Vec<f64> = of.map(|(_, (old, new))| (new.speedup / old.speedup - 1.0).abs()).collect();
        assert!(!moved.is_empty());
        moved.into_iter().fold(0.0, f64::max)
    };
    assert!(changed("specdecodebench") == 0.0);
    assert!(changed("tomasruizt") > 1e-3 && changed("specbundle") > 1e-3);
}

/// To the bit.
#[test]
fn the_order_of_rows_changes_nothing() {
    let forth = few();
    let back: Vec<Subject> = forth.iter().rev().cloned().collect();
    let design = shipped(&measured(&forth));
    assert_eq!(design, shipped(&measured(&back)));
    let [mut one, other] = [&forth, &back].map(|of| unseen(of, &design, Left::Source).unwrap());
    one.predictions.reverse();
    assert_eq!(one, other);
}

/// Engines that nobody has measured keep what all engines share; where nothing is measured, the prior.
#[test]
fn what_has_no_rows_keeps_what_all_share() {
    let none = Measured { engines: vec!["vllm".to_owned()], families: Vec::new() };
    let design = shipped(&none);
    let (fold, predictions) = whole(&[], &design).unwrap();
    assert!(predictions.is_empty() && fold.rows == 0);
    near(fold.value(&design, Fitted::Step, "vllm").unwrap(), 1e-3, 1e-9);
    let subjects = some(Class::Dense, 8);
    let design = shipped(&measured(&subjects));
    let (fold, _) = whole(&subjects, &design).unwrap();
    let round = |engine: &str| fold.value(&design, Fitted::Round, engine).unwrap();
    let (low, high) = (round("vllm").min(round("sglang")), round("vllm").max(round("sglang")));
    assert!((0.7 * low..1.3 * high).contains(&round("trtllm")), "{low} {} {high}", round("trtllm"));
}

/// The table by class; the whole is compared by the example: `cargo run --release --example validation_study -- --check
/// docs/validation.md`.
#[test]
fn the_table_by_class_is_what_comes_out() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/validation.md");
    let page = std::fs::read_to_string(path).unwrap();
    let found = study(&SUBJECTS).unwrap();
    let table = by_class(&SUBJECTS, &found);
    assert!(
        generated(&page).unwrap().contains(&table),
        "run cargo run --release --example validation_study -- --write docs/validation.md and look:\n{table}"
    );
}
