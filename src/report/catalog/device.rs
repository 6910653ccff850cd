//! One device with its figures, what follows from them, and sources.

use serde_json::Value;

use crate::domain::device::{Device, Peak};
use crate::report::catalog::sheet::{Remarks, Sheet};
use crate::report::figures;
use crate::report::number::{shortest, thousands};
use crate::report::table::Style;
use crate::units::FlopsPerSecond;
use crate::words::{Dtype, Word};

/// A device with its figures, the ridge point of each format, and sources.
///
/// The ridge point is `peak / bandwidth`: the FLOPs for each byte above which a pass is bound by compute.
#[must_use]
pub fn text(device: &Device, remarks: &Remarks, style: Style) -> String {
    let mut sheet = Sheet::of(&device.name, remarks);
    sheet.line("vendor", device.vendor.as_deref().unwrap_or("not stated"));
    let untold = "not stated: engines with efficiencies by family do not price it";
    sheet.line("family", device.family.as_deref().unwrap_or(untold));
    let memory = &device.memory;
    let capacity = memory.capacity.map_or_else(
        || "not stated: what is installed decides".to_owned(),
        |capacity| format!("{capacity}, {} bytes", thousands(capacity.get())),
    );
    sheet.line("memory", capacity);
    sheet.line("bandwidth", memory.bandwidth.to_string());
    sheet.source(Some(&memory.source));
    for (dtype, rate, ridge) in ridges(device) {
        let same = stands_in(device, dtype).map_or_else(String::new, |other| format!(", stated as that of {other}"));
        sheet.line(format!("peak {dtype}"), format!("{rate} dense, ridge point {ridge:.1} FLOP/B{same}"));
    }
    sheet.line("  ridge point", "peak over bandwidth: with more FLOPs for each byte a pass is bound by compute");
    sheet.source(Some(&device.peaks.source));
    match &device.link {
        Some(link) => {
            let text = format!("{}, {} one way, {} devices", link.kind, link.bandwidth, link.domain);
            sheet.line("link", text);
            sheet.source(Some(&link.source));
        }
        None => sheet.line("link", "not stated: one device for each replica"),
    }
    if let Some(power) = &device.power {
        sheet.line("power", format!("{} W", shortest(power.tdp_watts)));
        sheet.source(power.source.as_deref());
    }
    if let Some(price) = &device.price {
        sheet.line("price", format!("{:.2} USD an hour ({})", price.usd_per_hour, price.date));
        sheet.source(Some(&price.source));
    }
    sheet.render(style)
}

/// The format whose rate stands for another's, if the file says so.
fn stands_in(device: &Device, dtype: Dtype) -> Option<Dtype> {
    device.peaks.stated.iter().find_map(|(stated, peak)| match peak {
        Peak::SameAs(other) if *stated == dtype => Some(*other),
        _ => None,
    })
}

/// The dense rate and ridge point of each format that a device states.
fn ridges(device: &Device) -> Vec<(Dtype, FlopsPerSecond, f64)> {
    let of = |dtype: &Dtype| Some((*dtype, device.peak(*dtype).ok()?));
    let bandwidth = device.memory.bandwidth;
    Dtype::ALL.iter().filter_map(of).map(|(dtype, rate)| (dtype, rate, rate.get() / bandwidth.get())).collect()
}

/// A device as JSON, with its ridge points.
#[must_use]
pub fn json(device: &Device, remarks: &Remarks) -> Value {
    let ridge = |(dtype, _, ridge): (Dtype, FlopsPerSecond, f64)| (dtype.to_string(), Value::from(ridge));
    let mut value = figures::device(device);
    value["aliases"] = remarks.aliases.as_slice().into();
    value["note"] = remarks.note.as_deref().into();
    value["ridge_flop_per_byte"] = ridges(device).into_iter().map(ridge).collect();
    value
}
