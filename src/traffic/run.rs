//! One run: a service under a load, with a policy.

use crate::domain::traffic::{Arrivals, Policy, Slo, Traffic};
use crate::traffic::engine::Engine;
use crate::traffic::measures::{Measures, Scope, Unbalanced};
use crate::traffic::policy::Chooser;
use crate::traffic::requests::Source;
use crate::traffic::service::{Pace, Service};

/// What is run.
#[derive(Clone, Copy, Debug)]
pub struct Asked<'t> {
    /// Requests, as the service as a whole meets them.
    pub traffic: &'t Traffic,
    /// Requests per second of one replica, or its clients.
    pub load: f64,
    /// What decides on drafts.
    pub policy: &'t Policy,
    /// What is asked of answers.
    pub slo: Option<Slo>,
    /// Of everything random.
    pub seed: u64,
    /// Whether what becomes of each request is kept.
    pub each: bool,
}

/// Why a run has no result.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub enum NoRun {
    /// It was told to stop.
    #[error("stopped")]
    Stopped,
    /// A fault of the program.
    #[error(transparent)]
    Unbalanced(#[from] Unbalanced),
}

/// Runs until every request that is measured is answered.
///
/// # Errors
///
/// [`NoRun`].
pub fn run<P: Pace>(service: &Service<P>, asked: &Asked<'_>, stop: impl Fn() -> bool) -> Result<Measures, NoRun> {
    let traffic = asked.traffic;
    let warmup = (traffic.requests as f64 * traffic.warmup.get()) as u64;
    let from = warmup.min(traffic.requests.saturating_sub(1));
    let (to, kinds) = (traffic.requests, traffic.kinds.len());
    let measures = Measures::new(Scope { from, to, slo: asked.slo, kinds, each: asked.each });
    let chooser = Chooser::new(asked.policy, service, context(traffic));
    let engine = Engine::new(service, Source::new(traffic, asked.load, asked.seed), chooser, measures);
    let measures = engine.run(stop).ok_or(NoRun::Stopped)?;
    measures.check()?;
    Ok(measures)
}

/// Tokens that a sequence has in the cache while it decodes, in the mean over its output: prompt and half of the output.
#[must_use]
pub fn context(traffic: &Traffic) -> f64 {
    let (mut tokens, mut outputs) = (0.0, 0.0);
    if let Arrivals::Seen(served) = &traffic.arrivals {
        for of in &served.requests {
            let output = f64::from(of.output);
            tokens += output * (f64::from(of.prompt) + output / 2.0);
            outputs += output;
        }
        return if outputs > 0.0 { tokens / outputs } else { 0.0 };
    }
    for kind in &traffic.kinds {
        let output = kind.output.mean();
        let weight = kind.share.get() * output.max(f64::MIN_POSITIVE);
        tokens += weight * (kind.prompt.mean() + output / 2.0);
        outputs += weight;
    }
    if outputs > 0.0 { tokens / outputs } else { 0.0 }
}
