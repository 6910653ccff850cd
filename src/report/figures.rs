//! Devices and models as JSON, every figure with its unit in the name and its source beside it.

use serde_json::{Value, json};

use crate::domain::attention::Attention;
use crate::domain::device::{Device, Peak};
use crate::domain::ffn::Ffn;
use crate::domain::layers::LayerGroup;
use crate::domain::model::{Model, Shape};

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
            "capacity_bytes": device.memory.capacity.get(),
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
            "groups": layers.groups().iter().map(group).collect::<Vec<_>>(),
        }),
    };
    json!({
        "id": model.id,
        "name": model.name,
        "role": model.role.as_str(),
        "vocab": model.vocab,
        "shape": shape,
        "matmul_params": model.matmul_params(),
        "total_params": model.total_params(),
        "kv_bytes_per_token": model.kv_bytes_per_token().get(),
        "weights": model.formats.weights().as_str(),
        "activations": model.formats.activations.as_str(),
        "kv": model.formats.kv().as_str(),
        "source": model.source,
    })
}

fn group(group: &LayerGroup) -> Value {
    let Attention::Gqa(gqa) = group.attention;
    let (ffn, intermediate) = match group.ffn {
        Ffn::Gated { intermediate } => ("gated", Some(intermediate)),
        Ffn::Plain { intermediate } => ("plain", Some(intermediate)),
        Ffn::None => ("none", None),
    };
    json!({
        "count": group.count,
        "attention": {
            "gqa": { "query_width": gqa.query_width(), "kv_width": gqa.kv_width(), "head_dim": gqa.head_dim(), "window": gqa.window() },
        },
        "ffn": { ffn: { "intermediate": intermediate } },
    })
}
