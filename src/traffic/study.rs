//! Every load and policy of a study.

use std::sync::atomic::{AtomicBool, Ordering};

use crate::acceptance::estimate::Estimate;
use crate::acceptance::process::Process;
use crate::domain::drafter::Drafter;
use crate::domain::traffic::{Arrivals, Policy, Slo, Traffic};
use crate::parallel::{Failure, Outcome, ordered};
use crate::plan::setup::Setup;
use crate::plan::yields::{acceptances, process_of};
use crate::traffic::capacity::{Capacity, Never, capacity};
use crate::traffic::measures::Measures;
use crate::traffic::run::{Asked, NoRun, context, run};
use crate::traffic::service::Service;
use crate::units::{Probability, Seconds};

/// Accepts no draft.
const NOTHING: Process = Process::Iid { alpha: Probability::ZERO };

/// A deployment that is put under load.
#[derive(Clone, Copy, Debug)]
pub struct Subject<'s> {
    /// What prices it.
    pub setup: &'s Setup<'s>,
    /// What drafts; none: plain decoding only.
    pub drafter: Option<&'s Drafter>,
    /// Draft lengths that may be chosen.
    pub lengths: &'s [u64],
    /// Whether plain decoding is run here; not where another subject is the same but for its drafter.
    pub plain: bool,
}

/// One run.
#[derive(Clone, Debug)]
pub struct Case {
    /// Which of the subjects.
    pub subject: usize,
    /// Which of the loads.
    pub load: f64,
    /// Which of the policies.
    pub policy: usize,
    /// What came of it.
    pub measures: Measures,
}

impl Subject<'_> {
    /// What its drafts are accepted by: the last of several, at the context of the traffic.
    #[must_use]
    pub fn process(&self, traffic: &Traffic) -> Option<Process> {
        let drafter = self.drafter?;
        Some(process_of(drafter, acceptances(drafter).saturating_sub(1), context(traffic).round() as u64))
    }

    /// Whether a policy can do anything here.
    fn can(&self, policy: &Policy) -> bool {
        if *policy == Policy::Off { self.plain } else { self.drafter.is_some() }
    }

    /// The draft lengths of a policy; none: it needs no drafter.
    fn lengths_of(&self, policy: &Policy) -> Vec<u64> {
        match policy {
            Policy::Off => Vec::new(),
            Policy::Fixed { k } | Policy::Gate(crate::domain::traffic::Gate { k, .. }) => vec![*k],
            Policy::Schedule | Policy::Greedy => self.lengths.to_vec(),
        }
    }

    fn run(&self, asked: &Asked<'_>, each: &Each<'_>) -> Result<Measures, NoRun> {
        let process = self.process(asked.traffic);
        let service = Service::of(self.setup, process.as_ref().unwrap_or(&NOTHING), &self.lengths_of(asked.policy));
        let stops = || {
            (each.ran)(false);
            each.stop.load(Ordering::Relaxed)
        };
        run(&service, asked, stops)
    }

    /// Output tokens per second, and sequences that decode, of clients who never let it rest.
    fn full(&self, asked: &Asked<'_>, each: &Each<'_>) -> Result<(Option<Estimate>, Option<f64>), NoRun> {
        let service = Service::of(self.setup, &NOTHING, &self.lengths_of(asked.policy));
        let clients = (CLIENTS * service.fits(context(asked.traffic)) as f64).ceil();
        let requests = AT_LEAST.max(OF_EACH * clients as u64);
        let arrivals = Arrivals::Closed { think: Seconds::ZERO };
        let traffic = Traffic { requests, warmup: Probability::nearest(FILLING), arrivals, ..asked.traffic.clone() };
        let over = self.run(&Asked { load: clients, traffic: &traffic, slo: None, ..*asked }, each)?.over_time;
        Ok((over.tokens_per_s(), over.mean(over.decoding)))
    }

    /// The highest rate of one replica that meets what is asked.
    fn capacity(&self, asked: &Asked<'_>, slo: &Slo, each: &Each<'_>) -> Result<Result<Capacity, Never>, NoRun> {
        let of = |load: f64, requests: u64| {
            let traffic = Traffic { requests, ..asked.traffic.clone() };
            let measures = self.run(&Asked { load, traffic: &traffic, slo: Some(*slo), ..*asked }, each)?;
            (each.ran)(true);
            Ok(measures)
        };
        let alone = of(RARELY, FEW.min(asked.traffic.requests))?;
        let seconds = alone.e2e.mean().map_or(1.0, |mean| mean.value);
        capacity(slo, LIGHT / seconds.max(f64::MIN_POSITIVE), asked.traffic.requests, of)
    }
}

/// Clients who never let a service rest, for each sequence that it runs at a time.
const CLIENTS: f64 = 1.25;
/// Requests of each of them, and at least.
const OF_EACH: u64 = 10;
const AT_LEAST: u64 = 1000;
/// The first share of them, which fills the service.
const FILLING: f64 = 0.4;

/// What a subject brings under a policy when it is always full.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Full {
    /// Which of the subjects.
    pub subject: usize,
    /// Which of the policies.
    pub policy: usize,
    /// Output tokens per second of one replica.
    pub tokens_per_s: Option<Estimate>,
    /// Sequences that decode, in the mean.
    pub batch: Option<f64>,
}

/// Requests that tell how long one takes by itself, and how many of them come in a second.
const FEW: u64 = 100;
const RARELY: f64 = 1e-6;
/// The share of the rate of one request after the other at which searches begin: next to no load.
const LIGHT: f64 = 0.02;
/// Runs of a search, about.
pub const RUNS_OF_SEARCH: u64 = 22;

/// How much a subject can take under a policy.
#[derive(Clone, Debug)]
pub struct Held {
    /// Which of the subjects.
    pub subject: usize,
    /// Which of the policies.
    pub policy: usize,
    /// The highest rate, or that there is none.
    pub capacity: Result<Capacity, Never>,
}

/// What is studied.
#[derive(Clone, Copy, Debug)]
pub struct Study<'t> {
    /// Deployments.
    pub subjects: &'t [Subject<'t>],
    /// Requests and policies.
    pub traffic: &'t Traffic,
    /// What is asked.
    pub slo: Option<Slo>,
    /// Of everything random.
    pub seed: u64,
    /// Whether what becomes of each request is kept.
    pub each: bool,
}

/// How runs are done.
pub struct Each<'r> {
    /// At a time.
    pub threads: usize,
    /// Whether to end before the end.
    pub stop: &'r AtomicBool,
    /// Called now and then, on any thread: whether a run has ended.
    pub ran: &'r (dyn Fn(bool) + Sync),
}

impl Study<'_> {
    /// Runs at the stated loads.
    #[must_use]
    pub fn runs(&self) -> u64 {
        self.traffic.loads.len() as u64 * self.searches()
    }

    /// Searches for a highest rate.
    #[must_use]
    pub fn searches(&self) -> u64 {
        self.pairs().count() as u64
    }

    /// Subjects and the policies that can do anything there.
    fn pairs(&self) -> impl Iterator<Item = (usize, usize)> {
        let pairs = |subject| (0..self.traffic.policies.len()).map(move |policy| (subject, policy));
        let can = |&(subject, policy): &(usize, usize)| self.subjects[subject].can(&self.traffic.policies[policy]);
        (0..self.subjects.len()).flat_map(pairs).filter(can)
    }

    fn asked(&self, load: f64, policy: usize) -> Asked<'_> {
        let Self { traffic, slo, seed, each, .. } = *self;
        Asked { traffic, load, policy: &traffic.policies[policy], slo, seed, each }
    }

    /// The capacity of all subjects under all policies, in this order. Clients of a closed loop wait for their answers: it has no rate to
    /// search.
    ///
    /// # Errors
    ///
    /// Of [`ordered`]; [`Failure::Taken`] with what `taken` says to one.
    pub fn capacities<E: Send>(
        &self,
        slo: &Slo,
        each: &Each<'_>,
        taken: impl FnMut(Result<Held, NoRun>) -> Result<(), E> + Send,
    ) -> Result<Outcome, Failure<E>> {
        let pairs: Vec<(usize, usize)> = self.pairs().collect();
        let work = |(subject, policy): (usize, usize)| {
            let asked = Asked { each: false, ..self.asked(0.0, policy) };
            Ok(Held { subject, policy, capacity: self.subjects[subject].capacity(&asked, slo, each)? })
        };
        ordered(pairs.into_iter(), each.threads, each.stop, work, taken)
    }

    /// What all subjects bring under all policies when they are always full. Requests of a trace come when they came: of them there is no
    /// such run.
    ///
    /// # Errors
    ///
    /// Of [`ordered`]; [`Failure::Taken`] with what `taken` says to one.
    pub fn full<E: Send>(
        &self,
        each: &Each<'_>,
        taken: impl FnMut(Result<Full, NoRun>) -> Result<(), E> + Send,
    ) -> Result<Outcome, Failure<E>> {
        let is_seen = matches!(self.traffic.arrivals, Arrivals::Seen(_));
        let pairs: Vec<(usize, usize)> = self.pairs().filter(|_| !is_seen).collect();
        let work = |(subject, policy): (usize, usize)| {
            let asked = Asked { each: false, ..self.asked(0.0, policy) };
            let (tokens_per_s, batch) = self.subjects[subject].full(&asked, each)?;
            (each.ran)(true);
            Ok(Full { subject, policy, tokens_per_s, batch })
        };
        ordered(pairs.into_iter(), each.threads, each.stop, work, taken)
    }

    /// Runs of all subjects, loads and policies, in this order, the first slowest. Policies that draft are left out without a drafter.
    ///
    /// # Errors
    ///
    /// Of [`ordered`]; [`Failure::Taken`] with what `taken` says to a case.
    pub fn cases<E: Send>(
        &self,
        each: &Each<'_>,
        taken: impl FnMut(Result<Case, NoRun>) -> Result<(), E> + Send,
    ) -> Result<Outcome, Failure<E>> {
        let mut tasks: Vec<(usize, usize, usize)> = Vec::new();
        for load in 0..self.traffic.loads.len() {
            tasks.extend(self.pairs().map(|(subject, policy)| (subject, load, policy)));
        }
        tasks.sort_by_key(|&(subject, load, _)| (subject, load));
        let replicas = self.traffic.replicas as f64;
        let work = |(subject, load, policy): (usize, usize, usize)| {
            let load = self.traffic.loads[load];
            let measures = self.subjects[subject].run(&self.asked(load / replicas, policy), each)?;
            (each.ran)(true);
            Ok(Case { subject, load, policy, measures })
        };
        ordered(tasks.into_iter(), each.threads, each.stop, work, taken)
    }
}
