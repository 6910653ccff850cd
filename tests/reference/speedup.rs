//! Step times and speedups of models known by their totals.

use std::num::NonZeroU64;

use serde_json::{Value, json};
use specplan::acceptance::chain::expected_tokens;
use specplan::acceptance::process::Process;
use specplan::cost::ops::distinct_experts;
use specplan::cost::pass::pass;
use specplan::cost::pricing::Pricing;
use specplan::cost::roofline::Rates;
use specplan::cost::shape::PassShape;
use specplan::domain::attention::{Attention, Gqa};
use specplan::domain::deployment::{Limits, MemoryPolicy, Spread};
use specplan::domain::device::{Device, Memory, Peak, Peaks};
use specplan::domain::drafter::{CostRatio, DraftSource};
use specplan::domain::engine::{Engine, Profile};
use specplan::domain::ffn::Ffn;
use specplan::domain::layers::{Extras, LayerGroup, Layers};
use specplan::domain::model::{Aggregate, Formats, Model, Shape};
use specplan::plan::choose::best_k;
use specplan::plan::round::{plain_step, round};
use specplan::plan::setup::{Deployment, Drafts, Setup};
use specplan::plan::speedup::{constant_cost, speedup};
use specplan::units::{Bytes, BytesPerSecond, FlopsPerSecond, Probability};
use specplan::words::{Dtype, Role, Roofline};

use crate::tokens::{number, probability, refused, whole};
use crate::{Answer, Unanswered};

/// Answers the functions of this topic.
pub(crate) fn evaluate(function: &str, inputs: &Value) -> Option<Answer> {
    Some(match function {
        "step_time" => step_time(inputs),
        "speedup_roofline" | "speedup_model" => speedup_roofline(inputs),
        "speedup_const_cost" => speedup_const_cost(inputs),
        "moe_speedup" => moe_speedup(inputs),
        "seed_table" => founding_table(inputs),
        "best_k_grid" => best_k_grid(inputs),
        _ => return None,
    })
}

fn step_time(inputs: &Value) -> Answer {
    let (batch, width) = (number(inputs, "batch")?, number(inputs, "tokens_per_seq")?);
    let shape = PassShape::verify(batch, width, number(inputs, "ctx")?);
    let device = device(inputs)?;
    let rates = Rates::of(&device, Dtype::Bf16).map_err(refused)?;
    let pass = pass(&model(inputs)?, &Pricing::ideal(rates, Roofline::Aggregate), shape);
    Ok(json!({
        "seconds": pass.seconds().get(),
        "flops": pass.work.flops.get(),
        "bytes": pass.work.bytes().get(),
        "bound": pass.bound().as_str(),
    }))
}

/// The models and the device of a case, and what they are set up to.
pub(crate) struct Models {
    pub(crate) device: Device,
    target: Model,
    draft: DraftSource,
    roofline: Roofline,
}

impl Models {
    pub(crate) fn of(inputs: &Value) -> Result<Self, Unanswered> {
        let draft = match &inputs["draft"] {
            Value::Null => DraftSource::Constant { cost_ratio: CostRatio::FREE },
            draft => DraftSource::Model(model(draft)?),
        };
        Self::with(&inputs["target"], &inputs["hw"], draft).and_then(|models| {
            let roofline = Self::roofline(inputs)?;
            Ok(Self { roofline, ..models })
        })
    }

    /// A target and a device with something that drafts, under one maximum.
    pub(crate) fn with(target: &Value, hw: &Value, draft: DraftSource) -> Result<Self, Unanswered> {
        Ok(Self { device: device(hw)?, target: model(target)?, draft, roofline: Roofline::Aggregate })
    }

    fn roofline(inputs: &Value) -> Result<Roofline, Unanswered> {
        Ok(match inputs["time"].as_str() {
            Some("per_op") => Roofline::PerOp,
            Some("single_max") | None => Roofline::Aggregate,
            Some(other) => return Err(Unanswered::Broken(format!("no roofline `{other}`"))),
        })
    }

    pub(crate) fn setup(&self) -> Result<Setup<'_>, Unanswered> {
        self.setup_with(&MemoryPolicy::new(Probability::ONE, Bytes::ZERO, NonZeroU64::MIN).map_err(refused)?)
    }

    pub(crate) fn setup_with(&self, policy: &MemoryPolicy) -> Result<Setup<'_>, Unanswered> {
        let engine = Engine {
            id: "ideal".into(),
            name: "Ideal".into(),
            profile: Profile::Ideal,
            note: None,
            disputed_by: vec![],
        };
        Setup::new(&Deployment {
            device: &self.device,
            engine: &engine,
            roofline: self.roofline,
            devices: 1,
            spread: Spread::default(),
            limits: &Limits::default(),
            without: &[],
            policy: Some(policy),
            verify_cost: None,
            target: &self.target,
            drafts: Some(Drafts { source: &self.draft, tree: None, proposing_share: None, overlap: false }),
        })
        .map_err(refused)
    }
}

fn speedup_roofline(inputs: &Value) -> Answer {
    let deployment = Models::of(inputs)?;
    let setup = deployment.setup()?;
    let (k, batch, context) = (whole(inputs, "k")?, number(inputs, "batch")?, number(inputs, "ctx")?);
    let tokens = expected_tokens(probability(&inputs["alpha"])?, k);
    let plain = plain_step(&setup, batch, context);
    let cost = round(&setup, &plain, batch, context, k, 1.0);
    // The case prints a draft step even at k = 0, where the round has none.
    let one = round(&setup, &plain, batch, context, 1, 1.0);
    let rate = tokens / cost.seconds(tokens).get();
    Ok(json!({
        "speedup": speedup(tokens, plain.seconds(), cost.seconds(tokens)),
        "tokens": tokens,
        "base_seconds": plain.seconds().get(),
        "draft_step_seconds": one.draft.get(),
        "verify_seconds": cost.verify.seconds().get(),
        "round_seconds": cost.seconds(tokens).get(),
        "tokens_per_second_per_seq": rate,
        "tokens_per_second_total": rate * batch,
    }))
}

fn speedup_const_cost(inputs: &Value) -> Answer {
    let k = whole(inputs, "k")?;
    let tokens = expected_tokens(probability(&inputs["alpha"])?, k);
    let verify = inputs.get("verify_ratio").map_or(Ok(1.0), |_| number(inputs, "verify_ratio"))?;
    Ok(json!({ "speedup": constant_cost(tokens, k, number(inputs, "c")?, verify) }))
}

/// Verification bound by memory: a share of the bytes are experts, and more tokens read more of them.
fn moe_speedup(inputs: &Value) -> Answer {
    let (experts, top_k) = (number(inputs, "experts")?, number(inputs, "top_k")?);
    let (batch, k) = (number(inputs, "batch")?, whole(inputs, "k")?);
    let read = |tokens: f64| distinct_experts(experts, top_k, tokens);
    let growth = read(batch * (k as f64 + 1.0)) / read(batch);
    let share = number(inputs, "moe_fraction")?;
    let verify = 1.0 - share + share * growth;
    let tokens = expected_tokens(probability(&inputs["alpha"])?, k);
    let speedup = constant_cost(tokens, k, number(inputs, "draft_cost_ratio")?, verify);
    Ok(json!({ "speedup": speedup, "verify_ratio": verify, "expert_growth": growth }))
}

fn founding_table(inputs: &Value) -> Answer {
    let deployment = Models::of(inputs)?;
    let setup = deployment.setup()?;
    let context = number(inputs, "ctx")?;
    let mut rows = Vec::new();
    for batch in list(inputs, "batches")? {
        let plain = plain_step(&setup, batch, context);
        for alpha in list(inputs, "alphas")? {
            let alpha = Probability::new(alpha).map_err(refused)?;
            let cell = |k: f64| {
                let cost = round(&setup, &plain, batch, context, k as u64, 1.0);
                let tokens = expected_tokens(alpha, k as u64);
                speedup(tokens, plain.seconds(), cost.seconds(tokens))
            };
            rows.push(list(inputs, "ks")?.into_iter().map(cell).collect::<Vec<f64>>());
        }
    }
    let printed: Vec<Vec<String>> =
        rows.iter().map(|row| row.iter().map(|cell| format!("{cell:.2}x")).collect()).collect();
    let plain = plain_step(&setup, 1.0, context);
    let ratio = round(&setup, &plain, 1.0, context, 1, 1.0).draft / plain.seconds();
    Ok(json!({
        "speedups": rows,
        "printed": printed,
        "cost_ratio_batch1": ratio,
        "cost_ratio_printed": format!("{ratio:.2}"),
    }))
}

fn best_k_grid(inputs: &Value) -> Answer {
    let deployment = Models::of(inputs)?;
    let setup = deployment.setup()?;
    let (batch, context, most) = (number(inputs, "batch")?, number(inputs, "ctx")?, whole(inputs, "k_max")?);
    let choices: Result<Vec<_>, Unanswered> = list(inputs, "alphas")?
        .into_iter()
        .map(|alpha| {
            let process = Process::Iid { alpha: Probability::new(alpha).map_err(refused)? };
            Ok(best_k(&setup, &process, batch, context, most))
        })
        .collect();
    let choices = choices?;
    Ok(json!({
        "k": choices.iter().map(|choice| choice.k).collect::<Vec<_>>(),
        "speedup": choices.iter().map(|choice| choice.speedup).collect::<Vec<_>>(),
    }))
}

fn list(inputs: &Value, key: &str) -> Result<Vec<f64>, Unanswered> {
    let items = inputs[key].as_array().ok_or_else(|| Unanswered::Broken(format!("no list `{key}`")))?;
    Ok(items.iter().filter_map(Value::as_f64).collect())
}

pub(crate) fn device(hw: &Value) -> Result<Device, Unanswered> {
    let peak = Peak::Rate(FlopsPerSecond::new(number(hw, "peak")?));
    let bandwidth = BytesPerSecond::new(number(hw, "bw")?);
    Ok(Device {
        id: "case".into(),
        name: "case".into(),
        vendor: None,
        family: None,
        memory: Memory { capacity: Some(Bytes::new(1.0)), bandwidth, source: "the case".into() },
        peaks: Peaks { stated: vec![(Dtype::Bf16, peak)], source: "the case".into() },
        link: None,
        power: None,
        price: None,
    })
}

/// A model of a case, by its totals or by its shape.
pub(crate) fn model(case: &Value) -> Result<Model, Unanswered> {
    let shape = if case.get("layers").is_some() {
        Shape::Layers(layers(case)?)
    } else {
        let params = number(case, "matmul_params")?;
        let held = case.get("weight_bytes_total").and_then(Value::as_f64).map_or(params, |bytes| bytes / 2.0);
        let held = held.max(params);
        Shape::Aggregate(Aggregate::new(params, held, number(case, "kv_bytes_per_token")?).map_err(refused)?)
    };
    let formats = Formats::new(dtype(case, "weight_bytes")?, Dtype::Bf16, dtype(case, "kv_bytes")?);
    Ok(Model {
        id: "case".into(),
        name: "case".into(),
        role: Role::Target,
        vocab: None,
        shape,
        formats,
        approximate: false,
        fits: Vec::new(),
        source: None,
    })
}

/// A format with the bytes that a case gives a value; 2 if it does not say.
fn dtype(case: &Value, key: &str) -> Result<Dtype, Unanswered> {
    let bytes = case.get(key).and_then(Value::as_f64).unwrap_or(2.0);
    match bytes.to_string().as_str() {
        "1" => Ok(Dtype::Fp8),
        "2" => Ok(Dtype::Bf16),
        "4" => Ok(Dtype::Fp32),
        _ => Err(Unanswered::Broken(format!("no format has {bytes} bytes"))),
    }
}

/// The shape of a case: `full_layers` of the layers see everything, the others a window.
fn layers(case: &Value) -> Result<Layers, Unanswered> {
    let count = whole(case, "layers")?;
    let window = case.get("window").and_then(Value::as_u64);
    let full = if window.is_some() { whole(case, "full_layers").unwrap_or(count) } else { count };
    let (heads, kv_heads, head_dim) = (whole(case, "heads")?, whole(case, "kv_heads")?, whole(case, "head_dim")?);
    let ffn = Ffn::Gated { intermediate: whole(case, "intermediate")? };
    let group = |count: u64, window: Option<u64>| -> Result<LayerGroup, Unanswered> {
        let gqa = Gqa::new(heads, kv_heads, head_dim, window).map_err(refused)?;
        Ok(LayerGroup { count, attention: Attention::Gqa(gqa), ffn })
    };
    let mut groups = vec![group(full, None)?, group(count - full, window)?];
    groups.retain(|group| group.count > 0);
    let tied = case["tied"].as_bool().ok_or_else(|| Unanswered::Broken("no `tied`".into()))?;
    Layers::new(whole(case, "hidden")?, whole(case, "vocab")?, tied, groups, Extras::default()).map_err(refused)
}
