//! Traffic as the manifest has it.

use serde_json::{Value, json};

use crate::domain::traffic::{Arrivals, Kind, Length, Slo, Traffic};

pub(super) fn traffic(traffic: &Traffic) -> Value {
    let arrivals = match &traffic.arrivals {
        Arrivals::Seen(served) => {
            json!({ "kind": "trace", "requests": served.requests.len(), "rate": served.rate(), "notes": served.notes })
        }
        Arrivals::Poisson => json!({ "kind": "poisson" }),
        Arrivals::Gamma { burstiness } => json!({ "kind": "gamma", "burstiness": burstiness }),
        Arrivals::Constant => json!({ "kind": "constant" }),
        Arrivals::Closed { think } => json!({ "kind": "closed", "think_s": think.get() }),
    };
    json!({
        "requests": traffic.requests,
        "warmup": traffic.warmup.get(),
        "arrivals": arrivals,
        "loads": traffic.loads,
        "kinds": traffic.kinds.iter().map(kind).collect::<Vec<_>>(),
        "policies": traffic.policies.iter().map(ToString::to_string).collect::<Vec<_>>(),
        "replicas": traffic.replicas,
    })
}

fn kind(kind: &Kind) -> Value {
    json!({
        "label": kind.label,
        "share": kind.share.get(),
        "prompt": length(&kind.prompt),
        "output": length(&kind.output),
        "prefix_hit": kind.prefix_hit.get(),
    })
}

fn length(length: &Length) -> Value {
    match length {
        Length::Fixed(tokens) => json!({ "fixed": tokens }),
        Length::LogNormal { mean, sd } => json!({ "mean": mean, "sd": sd }),
        Length::Seen(seen) => json!({ "seen": seen.len(), "mean": length.mean() }),
    }
}

pub(super) fn slo(slo: &Slo) -> Value {
    json!({
        "ttft_s": slo.ttft.map(crate::units::Seconds::get),
        "tpot_s": slo.tpot.map(crate::units::Seconds::get),
        "e2e_s": slo.e2e.map(crate::units::Seconds::get),
        "percentile": slo.percentile.get(),
    })
}
