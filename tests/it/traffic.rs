//! Serving over time, beside formulas: one request at a time, full batches, chains of births and deaths.

use specplan::acceptance::accepted::Accepted;
use specplan::acceptance::batch::finish;
use specplan::acceptance::process::Process;
use specplan::acceptance::runs::Runs;
use specplan::cost::shape::PassShape;
use specplan::domain::traffic::{Arrivals, Kind, Length, Policy, Traffic};
use specplan::plan::step::{Decoding, Step};
use specplan::traffic::limits::{alone, ends, one_by_one, open, saturated};
use specplan::traffic::measures::Measures;
use specplan::traffic::room::Room;
use specplan::traffic::run::{Asked, run};
use specplan::traffic::service::{Pace, Round, Service};
use specplan::units::{Probability, Seconds};

/// Steps of a stated length; prompts add to it by the token.
struct Stated {
    by_batch: fn(f64) -> f64,
    prompt: f64,
}

impl Pace for Stated {
    fn step(&self, of: Decoding) -> Step {
        if of.batch <= 0.0 {
            return Step::NONE;
        }
        Step { fixed: Seconds::new((self.by_batch)(of.batch)), token: Seconds::ZERO }
    }

    fn reading(&self, _: Decoding, prompts: &[PassShape]) -> Seconds {
        Seconds::new(prompts.iter().map(|prompt| prompt.new_tokens_per_seq * self.prompt).sum())
    }
}

fn p(value: f64) -> Probability {
    Probability::new(value).unwrap()
}

fn service(pace: Stated, sequences: usize, alpha: f64, k: u64) -> Service<Stated> {
    let process = Process::Iid { alpha: p(alpha) };
    let tokens = process.tokens_per_pass(k);
    let width = k as u32 + 1;
    let round = Round { k, tokens, width, proposing_share: 1.0, runs: vec![Runs::new(&process, k)] };
    let room = Room::endless();
    Service {
        pace,
        ranks: 1.0,
        room,
        sequences,
        budget: 1 << 20,
        longest: u32::MAX,
        edges: Vec::new(),
        rounds: vec![Round::plain(), round],
    }
}

fn traffic(requests: u64, arrivals: Arrivals, prompt: u32, output: Length) -> Traffic {
    let kind = Kind { label: None, share: Probability::ONE, prompt: Length::Fixed(prompt), output, prefix_hit: p(0.0) };
    let policies = Vec::new();
    Traffic { requests, warmup: p(0.1), arrivals, loads: Vec::new(), kinds: vec![kind], policies, replicas: 1 }
}

fn measured(service: &Service<Stated>, traffic: &Traffic, load: f64, k: u64) -> Measures {
    let policy = if k == 0 { Policy::Off } else { Policy::Fixed { k } };
    run(service, &Asked { traffic, load, policy: &policy, slo: None, seed: 5, each: false }, || false).unwrap()
}

fn assert_covers(of: specplan::acceptance::estimate::Estimate, expected: f64) {
    // Three times the half width of 95 %: a run in a thousand misses.
    let half = (of.high - of.low) / 2.0;
    assert!((of.value - expected).abs() <= 3.0 * half + 1e-9, "{of:?} is not {expected}");
    assert!(half < 0.2 * expected, "{of:?} says nothing");
}

/// One client: prefill, then rounds of 8.5 ms until 200 tokens are out, of which the prompt gives the first.
#[test]
fn one_client_waits_for_prefill_and_rounds() {
    let service = service(Stated { by_batch: |_| 0.0085, prompt: 0.05 / 100.0 }, 8, 0.8, 4);
    let traffic = traffic(4000, Arrivals::Closed { think: Seconds::ZERO }, 100, Length::Fixed(200));
    let measures = measured(&service, &traffic, 1.0, 4);
    let law = Accepted::iid(p(0.8), 4);
    let of = alone(&law, 199, Seconds::new(0.0085), Seconds::new(0.05));
    assert_covers(measures.e2e.mean().unwrap(), of.mean.get());
    assert_covers(measures.tpot.mean().unwrap(), of.per_token.get());
    assert!((measures.ttft.mean().unwrap().value - 0.05).abs() < 1e-9);
}

/// One request at a time at Poisson arrivals: Pollaczek and Khinchine, with a constant service (M/D/1) and with rounds by chance.
#[test]
fn one_at_a_time_is_a_queue_of_the_books() {
    for (alpha, rate) in [(0.0, 1.2), (0.8, 2.0)] {
        let service = service(Stated { by_batch: |_| 0.02, prompt: 0.05 / 10.0 }, 1, alpha, 4);
        let traffic = traffic(40_000, Arrivals::Poisson, 10, Length::Fixed(21));
        let measures = measured(&service, &traffic, rate, 4);
        let of = finish(&Accepted::iid(p(alpha), 4), 20);
        let mean = 0.05 + 0.02 * of.rounds;
        let expected = one_by_one(rate, mean, mean * mean + 4e-4 * of.variance);
        assert_covers(measures.e2e.mean().unwrap(), expected.sojourn.unwrap());
        assert_covers(measures.ttft.mean().unwrap(), expected.wait.unwrap() + 0.05);
    }
}

/// A batch that is always full.
#[test]
fn a_full_batch_yields_what_renewal_says() {
    let service = service(Stated { by_batch: |_| 0.02, prompt: 0.0 }, 64, 0.8, 4);
    let traffic = traffic(20_000, Arrivals::Closed { think: Seconds::ZERO }, 1, Length::Fixed(129));
    let measures = measured(&service, &traffic, 96.0, 4);
    let law = Accepted::iid(p(0.8), 4);
    let of = saturated(&law, 64, 128, Seconds::new(0.02));
    let requests = measures.over_time.answered as f64 / measures.over_time.seconds;
    // A prompt, free here, still takes its place for the step in which it is read.
    let rounds = finish(&law, 128).rounds;
    let expected = of.requests * rounds / (rounds + 1.0);
    assert!((requests / expected - 1.0).abs() < 0.01, "{requests} is not {expected}");
    let batch = measures.over_time.decoding / measures.over_time.seconds;
    assert!((batch / 64.0 - rounds / (rounds + 1.0)).abs() < 0.01, "{batch}");
}

/// Long outputs of a geometric length, in small steps: the chain of births and deaths.
#[test]
fn many_at_a_time_are_births_and_deaths() {
    // 4 at a time, at 300, 280, 260 and 240 tokens a second each.
    let rate = |batch: f64| 1.0 / (320.0 - 20.0 * batch);
    let service = service(Stated { by_batch: rate, prompt: 0.0 }, 4, 0.0, 1);
    let lengths: Vec<u32> =
        (0..10_000).map(|at| (-200.0 * (1.0 - (f64::from(at) + 0.5) / 1e4).ln()).ceil() as u32).collect();
    let mean = lengths.iter().map(|&n| f64::from(n)).sum::<f64>() / 1e4;
    let traffic = traffic(60_000, Arrivals::Poisson, 1, Length::Seen(lengths.into()));
    let measures = measured(&service, &traffic, 3.0, 0);
    let expected = open(3.0, &ends(&[300.0, 280.0, 260.0, 240.0], mean)).unwrap();
    assert_covers(measures.e2e.mean().unwrap(), expected.response);
    let batch = measures.over_time.decoding / measures.over_time.seconds;
    assert!((batch / expected.batch - 1.0).abs() < 0.03, "{batch} is not {}", expected.batch);
}

/// A cache for two sequences of ten that come together: they put each other back, and every token comes out all the same.
#[test]
fn sequences_that_outgrow_the_cache_are_read_again() {
    let mut service = service(Stated { by_batch: |batch| 0.01 + batch * 0.001, prompt: 1e-4 }, 10, 0.7, 3);
    service.room = Room::tokens(400, 16, 4);
    let traffic = traffic(300, Arrivals::Closed { think: Seconds::ZERO }, 100, Length::Fixed(150));
    let measures = measured(&service, &traffic, 10.0, 3);
    assert!(measures.preempted > 10, "{}", measures.preempted);
    assert!(measures.over_time.cache / measures.over_time.seconds > 0.5);
    assert_eq!((measures.refused, measures.e2e.count()), (0, 270));
}

fn traffic_of_one(prompt: u32, output: Length) -> Traffic {
    traffic(100, Arrivals::Closed { think: Seconds::ZERO }, prompt, output)
}

/// What can never be held is refused, and clients go on; what asks for nothing is answered when its prompt is read.
#[test]
fn requests_at_the_edges_are_answered_or_refused() {
    let mut service = service(Stated { by_batch: |_| 0.01, prompt: 1e-4 }, 4, 0.7, 3);
    service.room = Room::tokens(64, 16, 4);
    let lengths = Length::Seen(vec![0, 1, 2, 4000].into());
    let traffic = traffic(400, Arrivals::Closed { think: Seconds::ZERO }, 20, lengths);
    let measures = measured(&service, &traffic, 4.0, 3);
    let (answered, first, more) = (measures.e2e.count(), measures.ttft.count(), measures.tpot.count());
    assert_eq!(answered + measures.refused, 360);
    assert!(measures.refused > 50 && first < answered && more < first && more > 50, "{answered} {first} {more}");
    let alone = traffic_of_one(20, Length::Fixed(0));
    let measures = measured(&service, &alone, 1.0, 3);
    // A prompt of 20 tokens takes 2 ms.
    assert!((measures.e2e.mean().unwrap().value - 0.002).abs() < 1e-9 && measures.ttft.mean().is_none());
}

/// Twice as many requests as can be answered.
#[test]
fn overload_is_told() {
    let service = service(Stated { by_batch: |_| 0.02, prompt: 0.0 }, 8, 0.0, 1);
    let traffic = traffic(3000, Arrivals::Poisson, 1, Length::Fixed(100));
    let (calm, much) = (measured(&service, &traffic, 3.0, 0), measured(&service, &traffic, 8.0, 0));
    assert!(!calm.is_overloaded() && much.is_overloaded());
}

/// Gaps of a gamma law: bursts wait longer than Poisson's, equal intervals do not wait at all.
#[test]
fn bursts_wait_longer() {
    let service = service(Stated { by_batch: |_| 0.02, prompt: 0.0 }, 1, 0.0, 1);
    let waits = [
        Arrivals::Gamma { burstiness: 0.25 },
        Arrivals::Gamma { burstiness: 1.0 },
        Arrivals::Poisson,
        Arrivals::Constant,
    ]
    .map(|arrivals| {
        let traffic = traffic(40_000, arrivals, 1, Length::Fixed(41));
        measured(&service, &traffic, 0.7, 0).ttft.mean().unwrap()
    });
    let poisson = one_by_one(0.7, 0.8, 0.64).wait.unwrap();
    assert_covers(waits[1], poisson);
    assert_covers(waits[2], poisson);
    assert!(waits[0].value > 2.0 * poisson && waits[3].value < 1e-9, "{waits:?}");
}

/// Of chance that many seeds have: a run that says too little is told.
#[test]
fn short_runs_are_told() {
    let service = service(Stated { by_batch: |_| 0.02, prompt: 0.0 }, 8, 0.0, 1);
    let of = |requests, rate| measured(&service, &traffic(requests, Arrivals::Poisson, 1, Length::Fixed(100)), rate, 0);
    // 100 tokens take 2 s: a tenth of 100 requests at 8 a second is over after 1.25 s.
    assert!(of(100, 8.0).is_too_short() && !of(2000, 3.0).is_too_short());
    // 90 measured are fewer than five in each of twenty parts.
    assert!(of(100, 1.0).is_too_short() && !of(120, 1.0).is_too_short());
}
