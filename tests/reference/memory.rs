//! How many sequences fit.

use std::num::NonZeroU64;

use serde_json::{Value, json};
use specplan::cost::memory::{Demand, Held};
use specplan::domain::model::KvShare;
use specplan::units::Bytes;

use crate::tokens::{number, whole};
use crate::{Answer, Unanswered};

/// Answers the functions of this topic.
pub(crate) fn evaluate(function: &str, inputs: &Value) -> Option<Answer> {
    match function {
        "max_batch" => Some(max_batch(inputs)),
        _ => None,
    }
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
