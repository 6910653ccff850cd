//! Counts and operators of full shapes.

use serde_json::{Map, Value, json};
use specplan::cost::ops::{Ops, Work, distinct_experts, popularity};
use specplan::cost::pass::pass;
use specplan::cost::placement::{Placement, ring_all_reduce};
use specplan::cost::pricing::Pricing;
use specplan::cost::roofline::Rates;
use specplan::cost::shape::PassShape;
use specplan::domain::attention::{Attention, Gqa, Mla};
use specplan::domain::ffn::{Ffn, Moe};
use specplan::domain::layers::{Extras, LayerGroup, Layers};
use specplan::domain::model::{Formats, Model, Shape};
use specplan::units::{Bytes, BytesPerSecond, Seconds};
use specplan::words::{Bound, Dtype, OpName, Role, Roofline, Word};

use crate::speedup::{device, model};
use crate::tokens::{number, refused, whole};
use crate::{Answer, Unanswered};

/// Answers the functions of this topic.
pub(crate) fn evaluate(function: &str, inputs: &Value) -> Option<Answer> {
    match function {
        "param_count" => Some(param_count(inputs)),
        "pass_cost" => Some(pass_cost(inputs)),
        "moe_distinct" => Some(moe_distinct(inputs)),
        "moe_distinct_skew" => Some(moe_distinct_skew(inputs)),
        "moe_inclusion" => Some(moe_inclusion(inputs)),
        "moe_layer_cost" => Some(moe_layer_cost(inputs)),
        "ring_allreduce" => Some(all_reduce(inputs)),
        "mla_cost" => Some(mla_cost(inputs)),
        "deepseek_params" => Some(deepseek_params(inputs)),
        "tp_pass" => Some(tensor_parallel(inputs)),
        _ => None,
    }
}

fn layers(shape: &Shape) -> Result<&Layers, Unanswered> {
    match shape {
        Shape::Layers(layers) => Ok(layers),
        Shape::Aggregate(_) => Err(Unanswered::Broken("the model has no layers".into())),
    }
}

fn param_count(inputs: &Value) -> Answer {
    let model = model(&inputs["model"])?;
    let layers = layers(&model.shape)?;
    let (params, count) = (layers.params(), layers.layers());
    Ok(json!({
        "attention_per_layer": params.attention / count,
        "mlp_per_layer": params.ffn / count,
        "embedding": params.embedding,
        "lm_head_extra": params.lm_head,
        "norms": params.norms,
        "total": model.total_params(),
        "matmul": model.matmul_params(),
        "kv_bytes_per_token": model.kv_bytes_per_token().get(),
    }))
}

fn pass_cost(inputs: &Value) -> Answer {
    let model = model(&inputs["model"])?;
    let shape = PassShape::verify(number(inputs, "batch")?, number(inputs, "q")?, number(inputs, "ctx")?);
    let rates = Rates::of(&device(&inputs["hw"])?, Dtype::Bf16).map_err(refused)?;
    let ops = Ops::of(&model, layers(&model.shape)?, &[shape], &Placement::SINGLE);
    let seconds = |roofline| pass(&model, &Pricing::ideal(rates, roofline), shape).seconds().get();
    // The cases know dense gated layers of whole models only.
    const OTHERS: [OpName; 6] =
        [OpName::Up, OpName::Fuse, OpName::Absorb, OpName::Router, OpName::Experts, OpName::SharedExperts];
    let names = OpName::ALL.iter().copied().filter(|name| !OTHERS.contains(name));
    let each = |value: &dyn Fn(OpName) -> f64| -> Map<String, Value> {
        names.clone().map(|name| (name.to_string(), value(name).into())).collect()
    };
    let mut compute_bound: Vec<&str> = ops
        .iter()
        .filter(|(_, work)| work.roofed(rates).bound() == Bound::Compute)
        .map(|(name, _)| name.as_str())
        .collect();
    compute_bound.sort_unstable();
    let total = ops.total();
    Ok(json!({
        "flops": total.flops.get(),
        "bytes": total.bytes().get(),
        "attention_flops": ops.work(OpName::Attention).flops.get(),
        "kv_read_bytes": total.kv_read.get(),
        "kv_write_bytes": total.kv_written.get(),
        "seconds_single_max": seconds(Roofline::Aggregate),
        "seconds_per_op": seconds(Roofline::PerOp),
        "op_flops": each(&|name| ops.work(name).flops.get()),
        "op_bytes": each(&|name| ops.work(name).bytes().get()),
        "compute_bound_ops": compute_bound,
    }))
}

/// The cases ask for the variance too, which nothing here needs: it is made from the library's own count of
/// distinct experts over one and two of them left out.
fn moe_distinct(inputs: &Value) -> Answer {
    let (experts, top_k) = (number(inputs, "experts")?, number(inputs, "top_k")?);
    let tokens = number(inputs, "tokens")?;
    if experts < 1.0 || top_k < 0.0 || top_k > experts || tokens < 0.0 {
        return Err(Unanswered::Refused("more experts picked than there are, or fewer than none".into()));
    }
    let distinct = distinct_experts(experts, top_k, tokens);
    let unread = 1.0 - distinct / experts;
    let both = if experts > 1.0 {
        ((experts - top_k) * (experts - top_k - 1.0) / (experts * (experts - 1.0))).powf(tokens)
    } else {
        0.0
    };
    let variance = experts * unread * (1.0 - unread) + experts * (experts - 1.0) * (both - unread * unread);
    Ok(json!({ "distinct": distinct, "variance": variance }))
}

fn numbers(inputs: &Value, key: &str) -> Result<Vec<f64>, Unanswered> {
    let values = inputs[key].as_array().ok_or_else(|| Unanswered::Broken(format!("no list `{key}`")))?;
    values
        .iter()
        .map(|value| value.as_f64().ok_or_else(|| Unanswered::Broken(format!("`{key}` holds {value}"))))
        .collect()
}

fn moe_distinct_skew(inputs: &Value) -> Answer {
    Ok(json!({ "distinct": popularity::distinct(&numbers(inputs, "inclusion")?, number(inputs, "tokens")?) }))
}

fn moe_inclusion(inputs: &Value) -> Answer {
    let top_k = whole(inputs, "top_k")? as usize;
    Ok(json!({ "inclusion": popularity::inclusion(&numbers(inputs, "weights")?, top_k).map_err(refused)? }))
}

/// One layer of experts, whose operators are those of a model that has nothing else.
fn moe_layer_cost(inputs: &Value) -> Answer {
    let (hidden, experts, top_k) = (whole(inputs, "hidden")?, whole(inputs, "experts")?, whole(inputs, "top_k")?);
    let intermediate = whole(inputs, "moe_intermediate")?;
    let moe = Moe::new(experts, top_k, intermediate).map_err(refused)?;
    let moe = moe.with_shared(whole(inputs, "shared")?, intermediate);
    let attention = Attention::Gqa(Gqa::new(1, 1, 1, None).map_err(refused)?);
    let group = LayerGroup { count: 1, attention, ffn: Ffn::Moe(moe) };
    let layers = Layers::new(hidden, 1, false, vec![group], Extras::default()).map_err(refused)?;
    let formats = Formats::new(Dtype::Bf16, Dtype::Bf16, Dtype::Bf16);
    let model = Model {
        id: "case".into(),
        name: "case".into(),
        role: Role::Target,
        vocab: None,
        shape: Shape::Layers(layers.clone()),
        formats: formats.with_weight_bytes(number(inputs, "weight_bytes")?),
        approximate: false,
        fits: Vec::new(),
        source: None,
    };
    let tokens = number(inputs, "tokens")?;
    let ops = Ops::of(&model, &layers, &[PassShape::decode(tokens, 0.0)], &Placement::SINGLE);
    let parts = [OpName::Router, OpName::Experts, OpName::SharedExperts];
    let all = parts.iter().fold(Work::NONE, |sum, name| sum.plus(ops.work(*name)));
    let rates = Rates::of(&device(&inputs["hw"])?, Dtype::Bf16).map_err(refused)?;
    let distinct = distinct_experts(experts as f64, top_k as f64, tokens);
    Ok(json!({
        "distinct": distinct,
        "bytes": all.bytes().get(),
        "flops": all.flops.get(),
        "seconds": all.roofed(rates).seconds().get(),
        "tokens_per_active_expert": tokens * top_k as f64 / distinct,
    }))
}

fn all_reduce(inputs: &Value) -> Answer {
    let bytes = Bytes::new(number(inputs, "bytes_per_rank")?);
    let bandwidth = BytesPerSecond::new(number(inputs, "link_bw")?);
    let start = Seconds::new(number(inputs, "latency")?);
    let time = ring_all_reduce(bytes, whole(inputs, "ranks")?, bandwidth, start);
    Ok(json!({ "seconds": time.get() }))
}

/// A pass on several devices: an ideal one, with the start of its all-reduces beside it.
fn tensor_parallel(inputs: &Value) -> Answer {
    let model = model(&inputs["model"])?;
    let layers = layers(&model.shape)?;
    let shape = PassShape::verify(number(inputs, "batch")?, number(inputs, "q")?, number(inputs, "ctx")?);
    let rates = Rates::of(&device(&inputs["hw"])?, Dtype::Bf16).map_err(refused)?;
    let devices = whole(inputs, "ranks")?;
    let link = BytesPerSecond::new(number(inputs, "link_bw")?);
    let placement = Placement { devices, link, ..Placement::SINGLE };
    placement.check(&model).map_err(refused)?;
    let pricing = Pricing { placement, ..Pricing::ideal(rates, Roofline::Aggregate) };
    let cost = pass(&model, &pricing, shape);
    let start = Seconds::new(number(inputs, "latency")?) * (2.0 * layers.layers());
    Ok(json!({
        "seconds": (cost.seconds() + start).get(),
        "compute_seconds": (cost.seconds() - cost.network).get(),
        "comm_seconds": (cost.network + start).get(),
        "allreduce_bytes": placement.all_reduce_bytes(layers, shape.new_tokens()).get(),
        "bytes_per_rank": cost.work.bytes().get(),
    }))
}

fn latent(case: &Value, q_lora: Option<u64>) -> Result<Mla, Unanswered> {
    let widths = [whole(case, "nope_dim")?, whole(case, "rope_dim")?, whole(case, "v_dim")?];
    Mla::new(whole(case, "heads")?, q_lora, whole(case, "kv_lora_rank")?, widths).map_err(refused)
}

fn bf16(groups: Vec<LayerGroup>, hidden: u64, vocab: u64) -> Result<Model, Unanswered> {
    let layers = Layers::new(hidden, vocab, false, groups, Extras::default()).map_err(refused)?;
    Ok(Model {
        id: "case".into(),
        name: "case".into(),
        role: Role::Target,
        vocab: Some(vocab),
        shape: Shape::Layers(layers),
        formats: Formats::new(Dtype::Bf16, Dtype::Bf16, Dtype::Bf16),
        approximate: false,
        fits: Vec::new(),
        source: None,
    })
}

/// Scores and values of latent attention, and what absorbs them, apart from every other operator.
fn mla_cost(inputs: &Value) -> Answer {
    let (mla, count) = (latent(inputs, None)?, whole(inputs, "layers")?);
    let model = bf16(vec![LayerGroup { count, attention: Attention::Mla(mla), ffn: Ffn::None }], 1, 1)?;
    let shape = PassShape::verify(number(inputs, "batch")?, number(inputs, "q")?, number(inputs, "ctx")?);
    let ops = Ops::of(&model, layers(&model.shape)?, &[shape], &Placement::SINGLE);
    let core = ops.work(OpName::Attention);
    let rates = Rates::of(&device(&inputs["hw"])?, Dtype::Bf16).map_err(refused)?;
    let value_bytes = number(inputs, "cache_bytes")?;
    let expanded = number(inputs, "heads")?
        * (number(inputs, "nope_dim")? + number(inputs, "rope_dim")? + number(inputs, "v_dim")?);
    let each_key = core.flops.get() / (count as f64 * shape.batch);
    let keys =
        shape.new_tokens_per_seq * shape.context + shape.new_tokens_per_seq * (shape.new_tokens_per_seq + 1.0) / 2.0;
    Ok(json!({
        "kv_bytes_per_token": model.kv_bytes_per_token().get(),
        "core_flops": core.flops.get(),
        "absorb_flops": ops.work(OpName::Absorb).flops.get(),
        "kv_read_bytes": core.kv_read.get(),
        "kv_write_bytes": core.kv_written.get(),
        "intensity_per_new_token": each_key / keys / (mla.latent_width() * value_bytes),
        "uncompressed_kv_bytes_per_token": count as f64 * expanded * value_bytes,
        "seconds_core": core.roofed(rates).seconds().get(),
    }))
}

fn deepseek_params(inputs: &Value) -> Answer {
    let case = &inputs["model"];
    let mla = latent(case, Some(whole(case, "q_lora_rank")?))?;
    let (hidden, dense) = (whole(case, "hidden")?, whole(case, "dense_layers")?);
    let intermediate = whole(case, "moe_intermediate")?;
    let moe = Moe::new(whole(case, "experts")?, whole(case, "top_k")?, intermediate).map_err(refused)?;
    let moe = moe.with_shared(whole(case, "shared")?, intermediate);
    let gated = Ffn::Gated { intermediate: whole(case, "intermediate")? };
    let group = |count: u64, ffn: Ffn| LayerGroup { count, attention: Attention::Mla(mla), ffn };
    let groups = vec![group(dense, gated), group(whole(case, "layers")? - dense, Ffn::Moe(moe))];
    let model = bf16(groups, hidden, whole(case, "vocab")?)?;
    let layers = layers(&model.shape)?;
    Ok(json!({
        "attention_per_layer": layers.attention_params(&layers.groups()[0]),
        "expert": moe.expert_params(hidden as f64),
        "total": model.total_params(),
        "active_matmul_per_token": model.matmul_params(),
    }))
}
