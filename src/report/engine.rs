//! Engine profiles, every constant with its range and origin, for people and as JSON.

use serde_json::{Value, json};

use crate::domain::calibration::Calibration;
use crate::domain::engine::{Additive, Constant, Dispute, Efficiencies, Efficiency, Engine, ExpectedError, Pace};
use crate::report::catalog::sheet::{Remarks, Sheet};
use crate::report::number::{counted, shortest};
use crate::report::table::{Style, composed, right, table};
use crate::units::Seconds;

/// A constant as it is shown: its name in the file, its figures, where they are from.
pub(super) struct Figure<'a> {
    pub(super) name: &'static str,
    pub(super) value: f64,
    pub(super) range: Option<(f64, f64)>,
    pub(super) origin: &'a str,
    is_time: bool,
}

impl<'a> Figure<'a> {
    fn time(name: &'static str, constant: &'a Constant<Seconds>) -> Self {
        let range = constant.range.map(|(low, high)| (low.get(), high.get()));
        Self { name, value: constant.value.get(), range, origin: &constant.origin, is_time: true }
    }

    fn share(name: &'static str, constant: &'a Constant<Efficiency>) -> Self {
        let range = constant.range.map(|(low, high)| (low.get(), high.get()));
        Self { name, value: constant.value.get(), range, origin: &constant.origin, is_time: false }
    }

    fn pace(name: &'static str, constant: &'a Constant<Pace>) -> Self {
        let range = constant.range.map(|(low, high)| (low.get(), high.get()));
        Self { name, value: constant.value.get(), range, origin: &constant.origin, is_time: false }
    }

    fn shown(&self, value: f64) -> String {
        if self.is_time { Seconds::new(value).to_string() } else { shortest(value) }
    }

    fn cells(&self) -> [String; 4] {
        let range = self
            .range
            .map_or_else(|| "-".to_owned(), |(low, high)| format!("{} to {}", self.shown(low), self.shown(high)));
        [self.name.to_owned(), self.shown(self.value), range, self.origin.to_owned()]
    }

    fn json(&self) -> (String, Value) {
        let key = if self.is_time { "value_s" } else { "value" };
        let range = self.range.map(|(low, high)| [low, high]);
        (self.name.to_owned(), json!({ key: self.value, "range": range, "origin": self.origin }))
    }
}

/// The engine's own constants by their names in its file.
pub(super) fn constants(additive: &Additive) -> Vec<Figure<'_>> {
    let mut all = vec![
        Figure::time("t_step", &additive.step),
        Figure::time("t_draft", &additive.draft),
        Figure::time("t_round", &additive.round),
        Figure::time("t_sequence", &additive.sequence),
        Figure::time("t_moe_layer", &additive.moe_layer),
        Figure::share("routing_independence", &additive.routing_independence),
        Figure::time("t_all_reduce", &additive.all_reduce),
        Figure::share("eta_link", &additive.link),
        Figure::share("accepted_per_proposed", &additive.accepted_per_proposed),
    ];
    all.extend(additive.routing_power.iter().map(|power| Figure::share("routing_power", power)));
    all.extend(additive.device.iter().map(|device| Figure::time("t_round_device", device)));
    all.extend(additive.tree.iter().map(|tree| Figure::time("t_tree", tree)));
    all.extend(additive.token.iter().map(|token| Figure::time("t_token", token)));
    all.extend(additive.plain_pace.iter().map(|pace| Figure::pace("plain_pace", pace)));
    all.extend(additive.round_pace.iter().map(|pace| Figure::pace("round_pace", pace)));
    all.extend(additive.layer_floor.iter().map(|floor| Figure::time("t_layer_floor", floor)));
    all.extend(additive.uncaptured_layer.iter().map(|layer| Figure::time("t_layer_uncaptured", layer)));
    if let Some(quantised) = &additive.quantised {
        all.push(Figure::share("quantised_compute", &quantised.compute));
        all.push(Figure::share("quantised_bandwidth", &quantised.bandwidth));
    }
    all
}

pub(super) fn efficiencies(of: &Efficiencies) -> Vec<Figure<'_>> {
    let mut all = vec![
        Figure::share("eta_bandwidth", &of.bandwidth),
        Figure::share("eta_compute", &of.compute),
        Figure::time("t_product", &of.product),
        Figure::time("t_attention", &of.attention),
    ];
    all.extend(of.kv_bandwidth.iter().map(|known| Figure::share("eta_kv", known)));
    all
}

/// An engine as people read it.
#[must_use]
pub fn text(engine: &Engine, style: Style) -> String {
    let mut sheet = Sheet::of(&engine.name, &Remarks { aliases: Vec::new(), note: engine.note.clone() });
    let Some(additive) = engine.additive() else {
        sheet.line("form", "ideal: datasheet peaks, no efficiencies, no overheads");
        return sheet.render(style);
    };
    sheet.line("form", format!("additive, {}", additive.status));
    additive.versions.iter().for_each(|versions| sheet.line("seen on", versions));
    additive.calibration.iter().for_each(|of| sheet.line("calibrated on", calibrated(of)));
    additive.errors.iter().for_each(|error| sheet.line("expected error", expected(error)));
    engine.disputed_by.iter().for_each(|of| sheet.line("disputed by", disputed(of)));
    let mut parts = vec![sheet.render(style).trim_end().to_owned(), figures("Constants", &constants(additive), style)];
    parts.extend(additive.families.iter().map(|(name, of)| {
        let title = format!("Family {name}{}", if of.tested { "" } else { " (no published speedup tests it)" });
        figures(&title, &efficiencies(of), style)
    }));
    format!("{}\n", parts.join("\n\n"))
}

fn calibrated(of: &Calibration) -> String {
    let kinds: Vec<&str> = of.drafters.iter().map(|kind| kind.as_str()).collect();
    let drafts = if kinds.is_empty() { "no drafter".to_owned() } else { kinds.join(" and ") };
    let Calibration { hardware, target, tensor_parallel, base, .. } = of;
    format!(
        "{target} on {tensor_parallel}x {hardware}, {drafts}, {}, from {base}; {} % off to be expected in the median",
        counted(of.error.rows, "point"),
        percent(of.error.median)
    )
}

fn disputed(by: &Dispute) -> String {
    let kinds: Vec<&str> = by.drafters.iter().map(|kind| kind.as_str()).collect();
    if kinds.is_empty() { by.engine.clone() } else { format!("{}, for {} drafters", by.engine, kinds.join(" and ")) }
}

fn percent(share: f64) -> String {
    shortest((share * 1000.0).round() / 10.0)
}

fn expected(error: &ExpectedError) -> String {
    format!(
        "{}: {} % in the median, {} % at the 90th percentile, {} rows",
        error.class,
        percent(error.median),
        percent(error.p90),
        error.rows
    )
}

fn figures(title: &str, all: &[Figure<'_>], style: Style) -> String {
    let mut table = table(&["constant", "value", "range", "origin"].map(str::to_owned), style);
    for figure in all {
        let [name, value, range, origin] = figure.cells();
        table.add_row([right(name), right(value), right(range), comfy_table::Cell::new(origin)]);
    }
    composed(title, &table, Vec::new(), style)
}

/// An engine as JSON; of efficiencies those of `families`, else all.
#[must_use]
pub fn json(engine: &Engine, families: Option<&[&str]>) -> Value {
    let mut value = json!({ "id": engine.id, "name": engine.name, "form": "ideal", "note": engine.note });
    let Some(additive) = engine.additive() else { return value };
    let object = |figures: Vec<Figure<'_>>| Value::Object(figures.iter().map(Figure::json).collect());
    let kept = additive.families.iter().filter(|(name, _)| families.is_none_or(|kept| kept.contains(&name.as_str())));
    value["form"] = "additive".into();
    value["status"] = additive.status.as_str().into();
    value["versions"] = additive.versions.as_deref().into();
    value["constants"] = object(constants(additive));
    value["family"] = Value::Object(kept.map(|(name, of)| (name.clone(), object(efficiencies(of)))).collect());
    let error = |error: &ExpectedError| {
        json!({
            "class": error.class,
            "median": error.median,
            "p90": error.p90,
            "rows": error.rows,
            "batch": error.known.map(|known| [known.batch.0, known.batch.1]),
            "context": error.known.map(|known| known.context),
        })
    };
    let dispute = |of: &Dispute| json!({ "engine": of.engine, "drafters": of.drafters.iter().map(|kind| kind.as_str()).collect::<Vec<_>>() });
    value["disputed_by"] = engine.disputed_by.iter().map(dispute).collect();
    value["error"] = additive.errors.iter().map(error).collect();
    value["calibration"] = additive.calibration.as_ref().map_or(Value::Null, |of| {
        json!({
            "base": of.base,
            "hardware": of.hardware,
            "target": of.target,
            "tensor_parallel": of.tensor_parallel,
            "drafters": of.drafters.iter().map(|kind| kind.as_str()).collect::<Vec<_>>(),
            "formats": of.formats,
            "without": of.without.iter().map(|term| term.as_str()).collect::<Vec<_>>(),
            "verify_cost": of.has_verify_cost,
            "overlap": of.has_overlap,
            "k": of.k.map(|(least, longest)| [least, longest]),
            "error": error(&of.error),
            "constants": of.joint.names(),
            "covariance": of.joint.covariance(),
        })
    });
    value
}
