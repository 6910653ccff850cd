//! Counts and operators of full shapes.

use serde_json::{Map, Value, json};
use specplan::cost::ops::Ops;
use specplan::cost::pass::pass;
use specplan::cost::roofline::Rates;
use specplan::cost::shape::PassShape;
use specplan::domain::layers::Layers;
use specplan::domain::model::Shape;
use specplan::words::{Bound, Dtype, OpName, Roofline, Word};

use crate::speedup::{device, model};
use crate::tokens::{number, refused};
use crate::{Answer, Unanswered};

/// Answers the functions of this topic.
pub(crate) fn evaluate(function: &str, inputs: &Value) -> Option<Answer> {
    match function {
        "param_count" => Some(param_count(inputs)),
        "pass_cost" => Some(pass_cost(inputs)),
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
    let ops = Ops::of(&model, layers(&model.shape)?, shape);
    let seconds = |roofline| pass(&model, rates, roofline, shape).seconds().get();
    // The cases know gated layers only.
    let names = OpName::ALL.iter().copied().filter(|name| *name != OpName::Up);
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
