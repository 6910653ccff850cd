//! Devices and models as JSON, every figure with its unit in the name and its source beside it.

use serde_json::{Value, json};

use crate::domain::attention::Attention;
use crate::domain::device::{Device, Peak};
use crate::domain::engine::{Additive, Constant, Efficiencies, Efficiency, Engine, ExpectedError};
use crate::domain::ffn::Ffn;
use crate::domain::layers::LayerGroup;
use crate::domain::model::{Model, Shape};
use crate::units::Seconds;

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
        "weights": model.formats.weights().as_str(),
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
        } }),
        Attention::Mla(mla) => json!({ "mla": {
            "heads": mla.heads(),
            "latent_width": mla.latent_width(),
            "rank": mla.rank(),
            "output_width": mla.output_width(),
        } }),
    }
}

/// An engine with every constant, its range and origin; of efficiencies those of `families`.
#[must_use]
pub fn engine(engine: &Engine, families: Option<&[&str]>) -> Value {
    let mut value = json!({ "id": engine.id, "name": engine.name, "form": "ideal", "note": engine.note });
    let Some(additive) = engine.additive() else { return value };
    let efficiencies =
        additive.families.iter().filter(|(name, _)| families.is_none_or(|kept| kept.contains(&name.as_str())));
    value["form"] = "additive".into();
    value["status"] = additive.status.as_str().into();
    value["versions"] = additive.versions.as_deref().into();
    value["constants"] = constants(additive).into_iter().map(|(name, constant)| (name.to_owned(), constant)).collect();
    value["family"] = efficiencies.map(|(name, of)| (name.clone(), family(of))).collect();
    value["error"] = additive.errors.iter().map(error).collect();
    value
}

fn error(error: &ExpectedError) -> Value {
    json!({ "class": error.class, "median": error.median, "p90": error.p90, "rows": error.rows })
}

/// The engine's own constants by their names in its file.
fn constants(additive: &Additive) -> Vec<(&'static str, Value)> {
    let mut all = vec![
        ("t_step", seconds(&additive.step)),
        ("t_draft", seconds(&additive.draft)),
        ("t_round", seconds(&additive.round)),
        ("t_sequence", seconds(&additive.sequence)),
        ("t_moe_layer", seconds(&additive.moe_layer)),
        ("routing_independence", share(&additive.routing_independence)),
        ("t_all_reduce", seconds(&additive.all_reduce)),
        ("eta_link", share(&additive.link)),
        ("accepted_per_proposed", share(&additive.accepted_per_proposed)),
    ];
    all.extend(additive.layer_floor.iter().map(|floor| ("t_layer_floor", seconds(floor))));
    if let Some(quantised) = &additive.quantised {
        all.push(("quantised_compute", share(&quantised.compute)));
        all.push(("quantised_bandwidth", share(&quantised.bandwidth)));
    }
    all
}

fn family(of: &Efficiencies) -> Value {
    json!({
        "eta_bandwidth": share(&of.bandwidth),
        "eta_kv": of.kv_bandwidth.as_ref().map(share),
        "eta_compute": share(&of.compute),
        "t_product": seconds(&of.product),
        "t_attention": seconds(&of.attention),
    })
}

fn seconds(constant: &Constant<Seconds>) -> Value {
    stated(constant.value.get(), constant.range.map(|(low, high)| (low.get(), high.get())), &constant.origin, "value_s")
}

fn share(constant: &Constant<Efficiency>) -> Value {
    stated(constant.value.get(), constant.range.map(|(low, high)| (low.get(), high.get())), &constant.origin, "value")
}

fn stated(value: f64, range: Option<(f64, f64)>, origin: &str, key: &str) -> Value {
    let mut all = serde_json::Map::new();
    all.insert(key.to_owned(), value.into());
    all.insert("range".to_owned(), range.map_or(Value::Null, |(low, high)| json!([low, high])));
    all.insert("origin".to_owned(), origin.into());
    Value::Object(all)
}
