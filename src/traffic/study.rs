//! Every load and policy of a study.

use std::sync::atomic::{AtomicBool, Ordering};

use crate::acceptance::process::Process;
use crate::domain::drafter::Drafter;
use crate::domain::traffic::{Policy, Slo, Traffic};
use crate::parallel::{Failure, Outcome, ordered};
use crate::plan::setup::Setup;
use crate::plan::yields::{acceptances, process_of};
use crate::traffic::capacity::{Capacity, Never, capacity};
use crate::traffic::measures::Measures;
use crate::traffic::run::{Asked, NoRun, context, run};
use crate::traffic::service::Service;

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

    fn run(&self, asked: &Asked<'_>, stop: &AtomicBool) -> Result<Measures, NoRun> {
        let process = self.process(asked.traffic);
        let none = Process::Iid { alpha: crate::units::Probability::ZERO };
        let service = Service::of(self.setup, process.as_ref().unwrap_or(&none), &self.lengths_of(asked.policy));
        run(&service, asked, || stop.load(Ordering::Relaxed))
    }
}

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

/// Requests that tell how long one takes by itself, and how many of them come in a second.
const FEW: u64 = 100;
const RARELY: f64 = 1e-6;
/// The share of the rate of one request after the other at which searches begin: next to no load.
const LIGHT: f64 = 0.02;

impl Subject<'_> {
    /// The highest rate of one replica that meets what is asked.
    fn capacity(&self, asked: &Asked<'_>, slo: &Slo, stop: &AtomicBool) -> Result<Result<Capacity, Never>, NoRun> {
        let at = |load: f64| self.run(&Asked { load, slo: Some(*slo), ..*asked }, stop);
        let few = Traffic { requests: FEW.min(asked.traffic.requests), ..asked.traffic.clone() };
        let alone = self.run(&Asked { load: RARELY, traffic: &few, ..*asked }, stop)?;
        let each = alone.e2e.mean().map_or(1.0, |mean| mean.value);
        capacity(slo, LIGHT / each.max(f64::MIN_POSITIVE), at)
    }
}

/// The capacity of all subjects under all policies, in this order. See [`study`]. Clients of a closed loop wait for their answers: it has
/// no rate to search.
///
/// # Errors
///
/// Of [`ordered`].
pub fn capacities<E: Send>(
    subjects: &[Subject<'_>],
    (traffic, slo): (&Traffic, &Slo),
    seed: u64,
    (threads, stop): (usize, &AtomicBool),
    taken: impl FnMut(Result<Held, NoRun>) -> Result<(), E> + Send,
) -> Result<Outcome, Failure<E>> {
    let policies = traffic.policies.len();
    let tasks = (0..subjects.len()).flat_map(move |subject| (0..policies).map(move |policy| (subject, policy)));
    let wanted = tasks.filter(|&(subject, policy)| subjects[subject].can(&traffic.policies[policy]));
    let work = |(subject, policy): (usize, usize)| {
        let asked = Asked { traffic, load: 0.0, policy: &traffic.policies[policy], slo: None, seed };
        Ok(Held { subject, policy, capacity: subjects[subject].capacity(&asked, slo, stop)? })
    };
    ordered(wanted, threads, stop, work, taken)
}

/// Runs of all subjects, loads and policies, in this order, the first slowest. Policies that draft are left out without a drafter.
///
/// # Errors
///
/// Of [`ordered`]; [`Failure::Taken`] with what `taken` says to a case.
pub fn study<E: Send>(
    subjects: &[Subject<'_>],
    (traffic, slo): (&Traffic, Option<Slo>),
    seed: u64,
    (threads, stop): (usize, &AtomicBool),
    taken: impl FnMut(Result<Case, NoRun>) -> Result<(), E> + Send,
) -> Result<Outcome, Failure<E>> {
    let loads = traffic.loads.len();
    let tasks = (0..subjects.len()).flat_map(move |subject| {
        (0..loads).flat_map(move |load| (0..traffic.policies.len()).map(move |policy| (subject, load, policy)))
    });
    let wanted = tasks.filter(|&(subject, _, policy)| subjects[subject].can(&traffic.policies[policy]));
    let replicas = traffic.replicas as f64;
    let work = |(subject, load, policy): (usize, usize, usize)| {
        let load = traffic.loads[load];
        let asked = Asked { traffic, load: load / replicas, policy: &traffic.policies[policy], slo, seed };
        let measures = subjects[subject].run(&asked, stop)?;
        Ok(Case { subject, load, policy, measures })
    };
    ordered(wanted, threads, stop, work, taken)
}
