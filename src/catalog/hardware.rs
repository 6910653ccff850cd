//! `hardware/<id>.toml` into a [`Device`].

use crate::catalog::node::{Node, Value};
use crate::catalog::reader::{Fields, Keys, Problems, aliases, text};
use crate::catalog::values::{integer, number, quantity};
use crate::diagnostic::Diagnostic;
use crate::domain::device::{Device, Link, Memory, Peak, Peaks, Power, Price};
use crate::units::FlopsPerSecond;
use crate::words::{Dtype, Word};

const KEYS: Keys =
    Keys::all(&["name", "aliases", "vendor", "family", "memory", "peak", "link", "power", "price", "note"]);

/// Reads a device.
pub(super) fn device(root: &Node, id: &str, problems: &mut Problems) -> Option<Device> {
    let mut fields = Fields::open(root, &KEYS, problems)?;
    let name = fields.optional("name", text);
    let aliases = fields.optional("aliases", aliases);
    let vendor = fields.optional("vendor", text);
    let family = fields.optional("family", text);
    let memory = fields.required("memory", memory);
    let peaks = fields.required("peak", peaks);
    let link = fields.optional("link", link);
    let power = fields.optional("power", power);
    let price = fields.optional("price", price);
    fields.optional("note", text);
    aliases?;
    Some(Device {
        id: id.to_owned(),
        name: name?.unwrap_or_else(|| id.to_owned()),
        vendor: vendor?,
        family: family?,
        memory: memory?,
        peaks: peaks?,
        link: link?,
        power: power?,
        price: price?,
    })
}

fn memory(node: &Node, problems: &mut Problems) -> Option<Memory> {
    let mut fields = Fields::open(node, &Keys::all(&["capacity", "bandwidth", "source", "note"]), problems)?;
    let capacity = fields.optional("capacity", |node, problems| quantity(node, problems, 1.0));
    let bandwidth = fields.required("bandwidth", |node, problems| quantity(node, problems, 1.0));
    let source = fields.required("source", text);
    fields.optional("note", text);
    Some(Memory { capacity: capacity?, bandwidth: bandwidth?, source: source? })
}

const PEAK_KEYS: Keys =
    Keys::all(&["fp32", "tf32", "bf16", "fp16", "fp8", "int8", "fp4", "mxfp4", "int4", "density", "source", "note"]);

fn peaks(node: &Node, problems: &mut Problems) -> Option<Peaks> {
    let mut fields = Fields::open(node, &PEAK_KEYS, problems)?;
    let density = fields.required("density", density);
    let source = fields.required("source", text);
    fields.optional("note", text);
    let mut stated = Some(Vec::new());
    for dtype in Dtype::ALL {
        match (fields.optional(dtype.as_str(), peak), &mut stated) {
            (Some(Some(rate)), Some(stated)) => stated.push((*dtype, rate)),
            (None, _) => stated = None,
            _ => {}
        }
    }
    for (dtype, peak) in stated.iter().flatten() {
        check_stand_in(*dtype, *peak, stated.as_deref().unwrap_or_default(), node, problems);
    }
    density?;
    Some(Peaks { stated: stated?, source: source? })
}

/// A format that another one stands for needs that other one's rate.
fn check_stand_in(dtype: Dtype, peak: Peak, stated: &[(Dtype, Peak)], node: &Node, problems: &mut Problems) {
    let Peak::SameAs(other) = peak else { return };
    if stated.iter().any(|(known, peak)| *known == other && matches!(peak, Peak::Rate(_))) {
        return;
    }
    let place = node.get(dtype.as_str()).unwrap_or(node).place.clone();
    let message = format!("`peak.{dtype}` stands on {other}, which has no rate here");
    let hint = format!("state `{other}` as a rate, such as \"989.4 TFLOP/s\"");
    problems.report::<()>(Diagnostic::error("missing-figure", message).at(&place).hint(hint));
}

fn density(node: &Node, problems: &mut Problems) -> Option<()> {
    if text(node, problems)? == "dense" {
        return Some(());
    }
    let found = Diagnostic::error("unknown-word", "`peak.density` must be \"dense\"".to_owned()).at(&node.place);
    problems.report(found.hint("a sparse headline is twice the dense rate or more: write the dense one"))
}

fn peak(node: &Node, problems: &mut Problems) -> Option<Peak> {
    if let Value::Text(written) = &node.value
        && let Some(other) = Dtype::ALL.iter().find(|known| known.as_str() == written.as_str())
    {
        return Some(Peak::SameAs(*other));
    }
    quantity::<FlopsPerSecond>(node, problems, 1.0).map(Peak::Rate)
}

fn link(node: &Node, problems: &mut Problems) -> Option<Link> {
    let mut fields = Fields::open(node, &Keys::all(&["kind", "bandwidth", "domain", "source", "note"]), problems)?;
    let kind = fields.required("kind", text);
    let bandwidth = fields.required("bandwidth", |node, problems| quantity(node, problems, 1.0));
    let domain = fields.required("domain", |node, problems| integer(node, problems, 1, 1 << 20));
    let source = fields.required("source", text);
    fields.optional("note", text);
    Some(Link { kind: kind?, bandwidth: bandwidth?, domain: domain?, source: source? })
}

fn power(node: &Node, problems: &mut Problems) -> Option<Power> {
    let mut fields = Fields::open(node, &Keys::all(&["tdp_watts", "source", "note"]), problems)?;
    let tdp_watts = fields.required("tdp_watts", |node, problems| number(node, problems, 0.0));
    let source = fields.optional("source", text);
    fields.optional("note", text);
    Some(Power { tdp_watts: tdp_watts?, source: source? })
}

fn price(node: &Node, problems: &mut Problems) -> Option<Price> {
    let mut fields = Fields::open(node, &Keys::all(&["usd_per_hour", "date", "source", "note"]), problems)?;
    let usd_per_hour = fields.required("usd_per_hour", |node, problems| number(node, problems, 0.0));
    let date = fields.required("date", text);
    let source = fields.required("source", text);
    fields.optional("note", text);
    Some(Price { usd_per_hour: usd_per_hour?, date: date?, source: source? })
}
