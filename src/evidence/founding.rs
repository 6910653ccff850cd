//! The founding study's formula for any deployment: models by their totals, devices as one.

use crate::domain::device::{Device, Peak};
use crate::domain::model::{Aggregate, AggregateError, Model, Shape};
use crate::units::FlopsPerSecond;

/// A model by the parameters that multiply each token and the KV bytes that grow with the context. A
/// mixture counts the experts of one token, whatever the batch: the formula knows no more.
///
/// # Errors
///
/// [`AggregateError`] for a model that multiplies no parameter.
pub fn by_totals(model: &Model) -> Result<Model, AggregateError> {
    let Shape::Layers(_) = &model.shape else { return Ok(model.clone()) };
    let growing = model.kv_shares().into_iter().filter(|share| share.window.is_none());
    let kv: f64 = growing.map(|share| share.bytes_per_token.get()).sum();
    let (active, held) = (model.matmul_params(), model.total_params());
    // A head multiplies an LM head that its target holds.
    let totals = Aggregate::new(active, held.max(active), kv)?;
    Ok(Model { shape: Shape::Aggregate(totals), ..model.clone() })
}

/// Several devices as one that computes and reads as much as all of them.
#[must_use]
pub fn joined(device: &Device, devices: u64) -> Device {
    let times = devices as f64;
    let faster = |peak: Peak| match peak {
        Peak::Rate(rate) => Peak::Rate(FlopsPerSecond::new(rate.get() * times)),
        same => same,
    };
    let mut joined = device.clone();
    joined.memory.bandwidth = device.memory.bandwidth * times;
    joined.peaks.stated = device.peaks.stated.iter().map(|(dtype, peak)| (*dtype, faster(*peak))).collect();
    joined
}
