//! Devices and models as JSON, every figure with its unit in the name and its source beside it.

use serde_json::{Value, json};

use crate::domain::attention::Attention;
use crate::domain::device::{Device, Peak};
use crate::domain::ffn::Ffn;
use crate::domain::layers::LayerGroup;
use crate::domain::model::{Model, Shape};
use crate::units::Bytes;

/// A device with every figure its file states.
#[must_use]
pub fn device(device: &Device) -> Value {
    let peaks = device.peaks.stated.iter().map(|(dtype, peak)| match peak {
        Peak::Rate(rate) => json!({ "dtype": dtype.as_str(), "flop_per_s": rate.get() }),
        Peak::SameAs(other) => json!({ "dtype": dtype.as_str(), "same_as": other.as_str() }),
    });
    json!({
        "id": device.id,
        "name": device.name,
        "vendor": device.vendor,
        "family": device.family,
        "memory": {
            "capacity_bytes": device.memory.capacity.map(Bytes::get),
            "bandwidth_bytes_per_s": device.memory.bandwidth.get(),
            "source": device.memory.source,
        },
        "peak": { "dense": peaks.collect::<Vec<_>>(), "source": device.peaks.source },
        "link": device.link.as_ref().map(|link| json!({
            "kind": link.kind,
            "bandwidth_bytes_per_s": link.bandwidth.get(),
            "domain": link.domain,
            "source": link.source,
        })),
        "power": device.power.as_ref().map(|power| json!({ "tdp_watts": power.tdp_watts, "source": power.source })),
        "price": device.price.as_ref().map(|price| json!({
            "usd_per_hour": price.usd_per_hour,
            "date": price.date,
            "source": price.source,
        })),
    })
}

/// A model with its shape and the counts that follow from it.
#[must_use]
pub fn model(model: &Model) -> Value {
    let shape = match &model.shape {
        Shape::Aggregate(_) => Value::Null,
        Shape::Layers(layers) => json!({
            "hidden": layers.hidden(),
            "head": layers.head().map(|head| json!({
                "kind": head.kind.as_str(),
                "draft_vocab": head.draft_vocab,
                "modules": head.copies,
            })),
            "groups": layers.groups().iter().map(group).collect::<Vec<_>>(),
        }),
    };
    json!({
        "id": model.id,
        "name": model.name,
        "role": model.role.as_str(),
        "approximate": model.approximate,
        "fits": model.fits,
        "vocab": model.vocab,
        "shape": shape,
        "matmul_params": model.matmul_params(),
        "total_params": model.total_params(),
        "kv_bytes_per_token": model.kv_bytes_per_token().get(),
        "state_bytes_per_sequence": model.state_bytes_per_sequence().get(),
        "weights": model.formats.weights().as_str(),
        "weights_by_part": model.formats.other_parts().map(|(part, format)| {
            (part.to_string(), Value::from(format.dtype().as_str()))
        }).collect::<serde_json::Map<String, Value>>(),
        "weight_bytes_mean": model.mean_weight_bytes(),
        "activations": model.formats.activations.as_str(),
        "kv": model.formats.kv().as_str(),
        "source": model.source,
    })
}

fn group(group: &LayerGroup) -> Value {
    let ffn = match group.ffn {
        Ffn::Gated { intermediate } => json!({ "gated": { "intermediate": intermediate } }),
        Ffn::Plain { intermediate } => json!({ "plain": { "intermediate": intermediate } }),
        Ffn::Moe(moe) => json!({ "moe": {
            "experts": moe.experts(),
            "top_k": moe.top_k(),
            "intermediate": moe.intermediate(),
            "shared": moe.shared(),
            "shared_intermediate": moe.shared_intermediate(),
            "gated": !moe.plain(),
            "latent": moe.latent(),
        } }),
        Ffn::None => json!({ "none": {} }),
    };
    json!({
        "count": group.count,
        "attention": attention(&group.attention),
        "ffn": ffn,
    })
}

fn attention(attention: &Attention) -> Value {
    match attention {
        Attention::Gqa(gqa) => json!({ "gqa": {
            "query_width": gqa.query_width(),
            "kv_width": gqa.kv_width(),
            "head_dim": gqa.head_dim(),
            "window": gqa.window(),
            "output_gate": gqa.output_gate(),
            "value_width": gqa.value_width(),
            "shared_values": gqa.shared_values(),
        } }),
        Attention::Mla(mla) => json!({ "mla": {
            "heads": mla.heads(),
            "latent_width": mla.latent_width(),
            "rank": mla.rank(),
            "output_width": mla.output_width(),
            "index": mla.index().map(|index| json!({
                "top_k": index.top_k,
                "heads": index.selector.map(|one| one.heads),
                "dim": index.selector.map(|one| one.dim),
            })),
        } }),
        Attention::Linear(linear) => json!({ "linear": {
            "projected_width": linear.projected_width(),
            "value_width": linear.value_width(),
            "state_values": attention.state_values().0,
            "filter_values": attention.state_values().1,
        } }),
        Attention::Ssm(ssm) => json!({ "ssm": {
            "inner": ssm.inner(),
            "state_values": attention.state_values().0,
            "filter_values": attention.state_values().1,
        } }),
        Attention::None => json!({ "none": {} }),
    }
}
