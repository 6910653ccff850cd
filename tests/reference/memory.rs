//! How many sequences fit.

use std::num::NonZeroU64;

use serde_json::{Value, json};
use specplan::acceptance::chain::expected_tokens;
use specplan::cost::memory::{Demand, Held};
use specplan::domain::deployment::MemoryPolicy;
use specplan::domain::model::KvShare;
use specplan::plan::capacity::{Full, capacity, full};
use specplan::plan::setup::Setup;
use specplan::units::{Bytes, Probability};

use crate::speedup::Models;
use crate::tokens::{number, probability, refused, whole};
use crate::{Answer, Unanswered};

/// Answers the functions of this topic.
pub(crate) fn evaluate(function: &str, inputs: &Value) -> Option<Answer> {
    match function {
        "max_batch" => Some(max_batch(inputs)),
        "memory_throughput" => Some(memory_throughput(inputs)),
        _ => None,
    }
}

/// Of some cases the drafter, in round numbers, multiplies more parameters than it holds. A model here cannot:
/// it holds them all, and the difference is taken off the reserve beside it.
fn memory_throughput(inputs: &Value) -> Answer {
    let mut models = Models::of(inputs)?;
    models.device.memory.capacity = Some(Bytes::new(number(inputs, "hbm_bytes")?));
    let utilization = Probability::new(number(inputs, "utilization")?).map_err(refused)?;
    let block = NonZeroU64::new(whole(inputs, "block")?).ok_or_else(|| refused("a block of no tokens"))?;
    let reserve = number(inputs, "overhead_bytes")?;
    let policy = |reserve: f64| MemoryPolicy::new(utilization, Bytes::new(reserve.max(0.0)), block).map_err(refused);
    let (alone, beside) = (policy(reserve)?, policy(reserve - excess(&inputs["draft"])?)?);
    let (plain, drafting) = (models.setup_with(&alone)?, models.setup_with(&beside)?);
    let (context, k) = (whole(inputs, "ctx")?, whole(inputs, "k")?);
    let tokens = expected_tokens(probability(&inputs["alpha"])?, k);
    let at = |setup: &Setup<'_>| full(setup, context, k, tokens).ok_or_else(|| refused("memory sets no limit"));
    let full = Full { plain: at(&plain)?.plain, speculative: at(&drafting)?.speculative };
    Ok(json!({
        "batch_plain": capacity(&plain, context, k).1.running,
        "batch_spec": capacity(&drafting, context, k).0.running,
        "throughput_plain": full.plain,
        "throughput_spec": full.speculative,
        "ratio": full.ratio(),
    }))
}

fn excess(drafter: &Value) -> Result<f64, Unanswered> {
    if drafter.is_null() {
        return Ok(0.0);
    }
    Ok((2.0 * number(drafter, "matmul_params")? - number(drafter, "weight_bytes_total")?).max(0.0))
}

fn max_batch(inputs: &Value) -> Answer {
    let bytes = |key: &str| number(inputs, key).map(Bytes::new);
    let held = |weights: &str, kv: &str| {
        let share = KvShare { bytes_per_token: bytes(kv)?, window: None };
        Ok(Held { weights: bytes(weights)?, kv: vec![share], state: Bytes::ZERO })
    };
    let demand = Demand {
        target: held("target_weight_bytes", "target_kv_per_token")?,
        drafter: held("draft_weight_bytes", "draft_kv_per_token")?,
        reserve: bytes("overhead_bytes")?,
        block_tokens: NonZeroU64::new(whole(inputs, "block")?)
            .ok_or_else(|| Unanswered::Refused("a block of no tokens".into()))?,
    };
    let usable = bytes("hbm_bytes")? * number(inputs, "utilization")?;
    let (context, k) = (whole(inputs, "ctx")?, whole(inputs, "k")?);
    Ok(json!({
        "max_batch": demand.max_batch(usable, context, k),
        "kv_budget_bytes": demand.kv_budget(usable).get(),
        "bytes_per_seq": demand.bytes_per_sequence(context, k).get(),
    }))
}
