//! What must hold of the additive form for every device, engine, model and shape.

use proptest::prelude::*;
use proptest::sample::select;
use specplan::cost::capture::Captures;
use specplan::cost::ops::{Ops, Work};
use specplan::cost::pass::mixed;
use specplan::cost::placement::Placement;
use specplan::cost::pricing::{Form, Pricing};
use specplan::cost::terms::Without;
use specplan::domain::layers::ParamCount;
use specplan::domain::shape::TreeShape;
use specplan::words::Bound;

use super::cases::{Case, case, drafter};
use super::*;

/// Sums of a dozen numbers, rounded in another order.
const ROUNDING: f64 = 1e-12;

/// A plain step and a round of k drafts, the footprint of which is given too.
fn costs(
    case: &Case,
    (source, tree): &(DraftSource, Option<TreeShape>),
    k: u64,
    without: &[Term],
) -> (PassCost, Round, [f64; 6]) {
    let (device, engine) = (case.figures.device(), case.figures.engine());
    let on = On { device: &device, engine: &engine, devices: case.devices, without };
    let setup = setup(&on, &case.model, Some(Drafts { tree: tree.as_ref(), ..drafts(source) }));
    let PassShape { batch, context, .. } = case.shape;
    let plain = plain_step(&setup, batch, context);
    let held = setup.memory(batch as u64, context as u64, k);
    let lines =
        [held.target_weights, held.target_kv, held.drafter_weights, held.drafter_kv, held.reserve, held.total()];
    (plain, round(&setup, &plain, batch, context, k, 0.5), lines.map(Bytes::get))
}

fn close(a: f64, b: f64) -> bool {
    (a - b).abs() <= ROUNDING * a.abs().max(b.abs())
}

/// A change for the worse, by a factor above 1.
type Worse = (&'static str, fn(&mut Case, f64));

const WORSE: [Worse; 17] = [
    ("peak", |case, factor| case.figures.peak /= factor),
    ("bandwidth", |case, factor| case.figures.bandwidth /= factor),
    ("link", |case, factor| case.figures.link /= factor),
    ("eta_compute", |case, factor| case.figures.eta_compute /= factor),
    ("eta_bandwidth", |case, factor| case.figures.eta_bandwidth /= factor),
    ("eta_kv", |case, factor| case.figures.eta_kv = case.figures.eta_kv.map(|eta| eta / factor)),
    ("eta_link", |case, factor| case.figures.eta_link /= factor),
    ("quantised", |case, factor| {
        case.figures.quantised = case.figures.quantised.map(|(c, b)| (c / factor, b / factor))
    }),
    ("product", |case, factor| case.figures.product *= factor),
    ("attention", |case, factor| case.figures.attention *= factor),
    ("moe_layer", |case, factor| case.figures.moe_layer *= factor),
    ("all_reduce", |case, factor| case.figures.all_reduce *= factor),
    ("floor", |case, factor| case.figures.floor = case.figures.floor.map(|floor| floor * factor)),
    ("routing", |case, factor| case.figures.rho = 1.0 - (1.0 - case.figures.rho) / factor),
    ("batch", |case, factor| case.shape.batch *= factor),
    ("width", |case, factor| {
        case.shape = PassShape::verify(case.shape.batch, case.shape.new_tokens_per_seq * factor, case.shape.context)
    }),
    ("context", |case, factor| case.shape.context *= factor),
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(10_000))]

    /// At the same routing: the ideal has all of the datasheet, hides the shorter of two behind the longer
    /// and knows no fixed times.
    #[test]
    fn it_is_never_faster_than_an_ideal_roofline(case in case()) {
        let additive = case.pricing();
        let time = pass(&case.model, &additive, case.shape).seconds().get();
        for form in [Form::PerOp, Form::Aggregate] {
            let ideal = Pricing { form, ..additive };
            let least = pass(&case.model, &ideal, case.shape).seconds().get();
            prop_assert!(time >= least * (1.0 - ROUNDING), "{:?}: {} is under {}", form, time, least);
        }
    }

    /// The same of ranks that share experts and of stages, where more sequences never take less time either.
    #[test]
    fn ranks_and_stages_are_no_faster_than_ideal(
        case in case(),
        devices in select(vec![2_u64, 4, 8]),
        (ranks, stages) in (1..5_u64, 1..5_u64),
        more in 1.0..9.0_f64,
    ) {
        let case = Case { devices, ..case };
        let additive = case.pricing();
        let placement = Placement { ranks, stages, parts: stages, ..additive.placement };
        let time = |form: Form, batch: f64| {
            let shape = PassShape { batch, ..case.shape };
            pass(&case.model, &Pricing { form, placement, ..additive }, shape).seconds().get()
        };
        let (batch, form) = (case.shape.batch, additive.form);
        for ideal in [Form::PerOp, Form::Aggregate] {
            let least = time(ideal, batch);
            prop_assert!(time(form, batch) >= least * (1.0 - ROUNDING), "{:?}: under {}", ideal, least);
        }
        prop_assert!(time(form, batch * more) >= time(form, batch) * (1.0 - ROUNDING));
    }

    /// Padding and launches only ever add, and a step of a captured size is what it is without.
    #[test]
    fn captured_graphs_take_no_time_away(case in case(), sizes in prop::collection::btree_set(1..5000_u64, 0..6)) {
        let (cost, tokens) = (case.cost(), case.shape.new_tokens());
        let layer = Some(Seconds::new(3e-4));
        let sizes: Vec<u64> = sizes.into_iter().collect();
        let captures = Captures { sizes: &sizes, layer, ..Captures::default() };
        let time = captures.applied(cost, case.shape, case.model.layers()).seconds();
        prop_assert!(time >= cost.seconds());
        let without = Without::of(&[Term::Padding, Term::Uncaptured]);
        let left_out = Captures { without, ..captures }.applied(cost, case.shape, case.model.layers());
        prop_assert_eq!(left_out.seconds(), cost.seconds());
        if captures.sizes.is_empty() || captures.sizes.iter().any(|size| (*size as f64).to_bits() == tokens.to_bits()) {
            prop_assert_eq!(time, cost.seconds());
        }
    }

    #[test]
    fn nothing_worse_and_no_more_work_ever_takes_less_time(case in case(), factor in 1.0..10.0_f64) {
        let base = case.cost().seconds().get();
        for (name, change) in WORSE {
            let mut worse = case.clone();
            change(&mut worse, factor);
            let time = worse.cost().seconds().get();
            prop_assert!(time >= base * (1.0 - ROUNDING), "{}: {} is under {}", name, time, base);
        }
    }

    /// Means of contexts may lie between whole numbers, and a token still sees no more than its window.
    #[test]
    fn no_context_costs_more_than_a_full_window(case in case(), window in 1..70_u64, below in 0.0..=70.0_f64) {
        let gqa = Attention::Gqa(Gqa::new(40, 8, 64, Some(window)).unwrap());
        let groups = vec![LayerGroup { count: 2, attention: gqa, ffn: Ffn::None }];
        let of = model(Layers::new(64, 100, false, groups, Extras::default()).unwrap(), case.model.formats);
        let at = |context: f64| {
            let case = Case { model: of.clone(), shape: PassShape { context, ..case.shape }, ..case.clone() };
            terms(&case.cost()).get(Term::AttentionArithmetic).get()
        };
        let (full, some) = (at(window as f64), at((window as f64 - below).max(0.0)));
        prop_assert!(some <= full * (1.0 + ROUNDING), "{} below the window: {} is above {}", below, some, full);
    }

    #[test]
    fn a_verification_reads_each_sequence_s_cache_once(case in case()) {
        let narrow = Case { shape: PassShape::decode(case.shape.batch, case.shape.context), ..case.clone() };
        let (one, all) = (narrow.cost(), case.cost());
        prop_assert_eq!(one.work.kv_read.get().to_bits(), all.work.kv_read.get().to_bits());
        let read = |cost: &PassCost| terms(cost).get(Term::KvRead).get().to_bits();
        prop_assert_eq!(read(&one), read(&all));
    }

    /// A batch in two parts is the batch: weights, experts and messages are those of one pass.
    #[test]
    fn a_pass_in_parts_is_one_pass(case in case(), share in 0.05..0.95_f64) {
        let pricing = case.pricing();
        let part = |share: f64| PassShape { batch: case.shape.batch * share, ..case.shape };
        let whole = pass(&case.model, &pricing, case.shape).seconds().get();
        let parts = mixed(&case.model, &pricing, &[part(share), part(1.0 - share)]).seconds().get();
        prop_assert!(close(whole, parts), "{whole} {parts}");
    }

    #[test]
    fn a_pass_is_the_sum_of_its_terms_classes_and_operators(case in case()) {
        let cost = case.cost();
        let mut terms = terms(&cost);
        terms.set(Term::Step, Seconds::new(case.figures.step));
        let cost = cost.with(Term::Step, Seconds::new(case.figures.step));
        let sum = |times: &mut dyn Iterator<Item = f64>| times.fold(0.0, |sum, time| sum + time);
        let by_term = sum(&mut Term::ALL.iter().map(|&term| terms.get(term).get()));
        prop_assert_eq!(cost.seconds().get().to_bits(), by_term.to_bits());
        let by_class = sum(&mut Bound::ALL.iter().map(|&class| terms.of_class(class).get()));
        prop_assert!(close(by_class, by_term));
        let bound = terms.of_class(cost.bound());
        prop_assert!(Bound::ALL.iter().all(|&class| terms.of_class(class) <= bound));
        let ops = Ops::of(&case.model, case.layers(), &[case.shape], &case.pricing().placement);
        let (parts, whole): (Vec<Work>, Work) = (ops.iter().map(|(_, work)| work).collect(), ops.total());
        prop_assert_eq!(whole, cost.work);
        for (of, total) in [
            (parts.iter().map(|work| work.flops.get()).collect::<Vec<_>>(), whole.flops.get()),
            (parts.iter().map(|work| work.weights.get()).collect(), whole.weights.get()),
            (parts.iter().map(|work| work.kv_read.get()).collect(), whole.kv_read.get()),
            (parts.iter().map(|work| work.kv_written.get()).collect(), whole.kv_written.get()),
            (parts.iter().map(|work| work.bytes().get()).collect(), whole.bytes().get()),
        ] {
            prop_assert!(close(sum(&mut of.into_iter()), total));
        }
    }

    #[test]
    fn a_round_and_its_memory_are_the_sums_of_their_parts(case in case(), drafter in drafter(), k in 1..16_u64) {
        let (_, round, lines) = costs(&case, &drafter, k, &[]);
        let verify: f64 = Term::ALL.iter().map(|&term| terms(&round.verify).get(term).get()).sum();
        let overhead = case.figures.round + case.shape.batch * case.figures.sequence;
        prop_assert!(close(round.overhead(1.0).get(), overhead));
        prop_assert!(close(round.seconds(1.0).get(), round.draft.get() + verify + overhead));
        let [target, target_kv, drafter, drafter_kv, reserve, total] = lines;
        prop_assert!(close(total, target + target_kv + drafter + drafter_kv + reserve));
        prop_assert!(close(reserve, 7.0));
    }

    /// With 4096 tokens or more every one of at most 64 experts is read. What memory holds beside that is
    /// read by row, or by no matrix product.
    #[test]
    fn time_and_memory_count_the_same_parameters(case in case(), batch in 4096..20_000_u32) {
        let case = Case { shape: PassShape { batch: batch.into(), ..case.shape }, ..case };
        let Form::Additive(at) = case.pricing().form else { panic!("not additive") };
        let ParamCount { embedding, norms, others, .. } = case.layers().params();
        let by_row = if case.layers().tied_embeddings() { 0.0 } else { embedding };
        let held = (case.model.total_params() - by_row - norms - others) * case.model.formats.weight_bytes();
        let read = terms(&case.cost()).get(Term::Weights).get() * at.bandwidth.get() * case.devices as f64;
        // Every device routes for itself.
        let experts = |group: &LayerGroup| group.count as f64 * group.ffn.moe().map_or(0.0, |moe| moe.experts() as f64);
        let routers = case.layers().groups().iter().map(experts).sum::<f64>() * case.layers().hidden();
        let routers = routers * case.model.formats.weight_bytes();
        let held = held + routers * (case.devices as f64 - 1.0);
        prop_assert!((read - held).abs() <= 1e-9 * held, "{} and {}", read, held);
        let (_, _, lines) = costs(&case, &(DraftSource::Ngram, None), 1, &[]);
        let all = case.model.total_params() * case.model.formats.weight_bytes() - routers;
        prop_assert!(close(lines[0], all / case.devices as f64 + routers));
    }

    /// In blocks of one token, memory holds what a verification reads of the cache and writes to it.
    #[test]
    fn time_and_memory_count_the_same_cache(case in case(), k in 1..64_u64) {
        let context = case.shape.context.floor();
        let case = Case { shape: PassShape::verify(case.shape.batch, k as f64 + 1.0, context), ..case };
        let Form::Additive(at) = case.pricing().form else { panic!("not additive") };
        let cost = terms(&case.cost());
        let moved = (cost.get(Term::KvRead) + cost.get(Term::KvWrite)).get() * at.kv_bandwidth.get();
        let (_, _, lines) = costs(&case, &(DraftSource::Ngram, None), k, &[]);
        prop_assert!((moved - lines[1]).abs() <= 1e-9 * lines[1], "{} and {}", moved, lines[1]);
    }

    #[test]
    fn no_draft_gains_exactly_nothing(case in case(), drafter in drafter()) {
        let (plain, none, _) = costs(&case, &drafter, 0, &[]);
        prop_assert_eq!(speedup(1.0, plain.seconds(), none.seconds(1.0)).to_bits(), 1.0_f64.to_bits());
    }

    /// The floor alone may grow, by as much as the pass it fills up fell short of before.
    #[test]
    fn a_term_left_out_takes_its_own_time_along_and_no_more(
        case in case(), drafter in drafter(), k in 1..16_u64, term in select(Term::ALL),
    ) {
        let (plain, round, _) = costs(&case, &drafter, k, &[]);
        let (plain_less, round_less, _) = costs(&case, &drafter, k, &[term]);
        for (whole, less) in [(plain, plain_less), (round.verify, round_less.verify)] {
            let (all, kept) = (terms(&whole), terms(&less));
            prop_assert!(less.seconds().get() <= whole.seconds().get() * (1.0 + ROUNDING));
            prop_assert_eq!(kept.get(term).get().to_bits(), 0);
            for &other in Term::ALL {
                let (before, after) = (all.get(other).get(), kept.get(other).get());
                let same = other == term || before.to_bits() == after.to_bits();
                let most = (before + all.get(term).get()) * (1.0 + ROUNDING);
                let filled = other == Term::LayerFloor && after >= before && after <= most;
                prop_assert!(same || filled, "{}: {} became {}", other, before, after);
            }
        }
        prop_assert!(round_less.draft.get() <= round.draft.get() * (1.0 + ROUNDING));
        // A draft at a constant share of the step is no pass, and pays for the step alone.
        let passes = drafter.0.layout(drafter.1.as_ref(), k, 0.5).draft_passes;
        if term == Term::Draft && !matches!(drafter.0, DraftSource::Constant { .. }) {
            prop_assert!(close(round.draft.get(), round_less.draft.get() + passes * case.figures.draft));
        }
        let gone = match term {
            Term::Round => case.figures.round,
            Term::Sequence => case.figures.sequence * case.shape.batch,
            _ => 0.0,
        };
        prop_assert!(close(round.overhead(1.0).get(), round_less.overhead(1.0).get() + gone));
        prop_assert!(round_less.seconds(1.0).get() <= round.seconds(1.0).get() * (1.0 + ROUNDING));
    }
}
