//! The best draft length.

use crate::acceptance::process::Process;
use crate::plan::round::{gain, plain_step};
use crate::plan::setup::Setup;

/// A draft length with what it gains.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Choice {
    /// Draft tokens for each round; 0: do not speculate.
    pub k: u64,
    /// Speedup there.
    pub speedup: f64,
}

/// The k from 0 to `k_max` with the largest speedup; the smallest of equals. A tree has one depth: it is
/// drafted or not.
///
/// Every k is tried: a search that stops at the first loss would miss gains that start above k = 1.
///
/// # Examples
///
/// Free drafts that are always accepted, while verification stays bound by memory, gain k + 1:
///
/// ```
/// use specplan::acceptance::process::Process;
/// use specplan::domain::{deployment::MemoryPolicy, drafter::{CostRatio, DraftSource}};
/// use specplan::domain::engine::{Engine, Profile};
/// use specplan::plan::{choose::best_k, setup::{Deployment, Drafts, Setup}};
/// use specplan::units::{Bytes, Probability};
/// use specplan::words::Roofline;
/// # use specplan::domain::{device::{Device, Memory, Peak, Peaks}, model::{Aggregate, Formats, Model, Shape}};
/// # use specplan::units::{BytesPerSecond, FlopsPerSecond};
/// # use specplan::words::{Dtype, Role};
/// # let device = Device { id: "d".into(), name: "d".into(), vendor: None, family: None,
/// #     memory: Memory { capacity: Some(Bytes::new(80e9)), bandwidth: BytesPerSecond::new(3e12), source: "s".into() },
/// #     peaks: Peaks { stated: vec![(Dtype::Bf16, Peak::Rate(FlopsPerSecond::new(1e15)))], source: "s".into() },
/// #     link: None, power: None, price: None };
/// # let target = Model { id: "t".into(), name: "t".into(), role: Role::Target, vocab: None,
/// #     shape: Shape::Aggregate(Aggregate::new(7.5e9, 8e9, 131072.0)?),
/// #     formats: Formats::new(Dtype::Bf16, Dtype::Bf16, Dtype::Bf16), approximate: false, fits: vec![], source: None };
/// # let engine = Engine { id: "ideal".into(), name: "Ideal".into(), profile: Profile::Ideal, note: None, disputed_by: vec![] };
/// let policy = MemoryPolicy::new(Probability::new(0.9)?, Bytes::ZERO, MemoryPolicy::DEFAULT_BLOCK_TOKENS)?;
/// let free = DraftSource::Constant { cost_ratio: CostRatio::FREE };
/// let setup = Setup::new(&Deployment {
///     device: &device, engine: &engine, roofline: Roofline::Aggregate, devices: 1, spread: Default::default(), limits: &Default::default(), without: &[], policy: Some(&policy), verify_cost: None,
///     target: &target, drafts: Some(Drafts { source: &free, overlap: false, tree: None, proposing_share: None }),
/// })?;
/// let best = best_k(&setup, &Process::Iid { alpha: Probability::ONE }, 1.0, 2048.0, 8);
/// assert_eq!((best.k, best.speedup), (8, 9.0));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use]
pub fn best_k(setup: &Setup<'_>, process: &Process, batch: f64, context: f64, k_max: u64) -> Choice {
    let plain = plain_step(setup, batch, context);
    let at = |k: u64| Choice { k, speedup: gain(setup, &plain, (batch, context), k, process.tokens_per_pass(k)) };
    let lengths = setup.depth().map_or(1..=k_max, |depth| depth..=depth);
    lengths.map(at).fold(at(0), |best, next| if next.speedup > best.speedup { next } else { best })
}
