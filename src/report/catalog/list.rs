//! Lists for people: hardware by vendor, models by role and family, heads under what they are made for.

use comfy_table::presets::{ASCII_MARKDOWN, NOTHING};
use comfy_table::{CellAlignment, Table};
use serde_json::Value;

use crate::domain::device::Device;
use crate::domain::engine::Engine;
use crate::domain::model::Model;
use crate::domain::scenario::Scenario;
use crate::report::catalog::columns::{DEVICES, ENGINES, MODELS, SCENARIOS};
use crate::report::number::parameters;
use crate::report::table::Style;
use crate::words::{Dtype, Kind, Role, Word};

/// Entries of one kind.
pub enum Entries {
    /// Accelerators.
    Hardware(Vec<Device>),
    /// Targets, drafters and heads.
    Models(Vec<Model>),
    /// Engine profiles.
    Engines(Vec<Engine>),
    /// Studies.
    Scenarios(Vec<Scenario>),
}

impl Entries {
    /// Their kind.
    #[must_use]
    pub const fn kind(&self) -> Kind {
        match self {
            Self::Hardware(_) => Kind::Hardware,
            Self::Models(_) => Kind::Models,
            Self::Engines(_) => Kind::Engines,
            Self::Scenarios(_) => Kind::Scenarios,
        }
    }

    /// A row for each, under one header row.
    ///
    /// # Errors
    ///
    /// None in practice: the bytes go to memory.
    pub fn csv(&self) -> csv::Result<Vec<u8>> {
        match self {
            Self::Hardware(devices) => DEVICES.csv(devices),
            Self::Models(models) => MODELS.csv(models),
            Self::Engines(engines) => ENGINES.csv(engines),
            Self::Scenarios(scenarios) => SCENARIOS.csv(scenarios),
        }
    }

    /// An object for each, with the keys of the CSV's columns.
    #[must_use]
    pub fn json(&self) -> Value {
        match self {
            Self::Hardware(devices) => DEVICES.json(devices),
            Self::Models(models) => MODELS.json(models),
            Self::Engines(engines) => ENGINES.json(engines),
            Self::Scenarios(scenarios) => SCENARIOS.json(scenarios),
        }
    }

    /// A heading and tables for people; `which` says after the kind what was asked for.
    #[must_use]
    pub fn text(&self, which: &str, style: Style) -> String {
        let sections = match self {
            Self::Hardware(devices) => vec![hardware(devices)],
            Self::Models(models) => Role::ALL.iter().filter_map(|role| of_role(models, *role)).collect(),
            Self::Engines(engines) => vec![plain(&["id", "constants", "name"], engines.iter().map(engine).collect())],
            Self::Scenarios(scenarios) => {
                let row = |one: &Scenario| vec![one.name.clone(), one.title.clone()];
                vec![plain(&["id", "title"], scenarios.iter().map(row).collect())]
            }
        };
        let (before, gap) = if style == Style::Markdown { ("## ", "\n") } else { ("", "") };
        let sections: Vec<String> = sections.iter().map(|section| section.render(style)).collect();
        format!("{before}{}{which}\n{gap}{}", self.kind(), sections.join("\n"))
    }
}

/// A table, its rows in groups.
struct Section {
    title: &'static str,
    columns: &'static [&'static str],
    /// Each with its name; one group without a name: none.
    groups: Vec<(String, Vec<Vec<String>>)>,
}

impl Section {
    fn render(&self, style: Style) -> String {
        let markdown = style == Style::Markdown;
        let mut table = Table::new();
        table.load_style(if markdown { ASCII_MARKDOWN } else { NOTHING }).force_no_tty();
        table.set_header(self.columns.iter().copied());
        for (name, rows) in &self.groups {
            if !name.is_empty() {
                let name = if markdown { format!("**{name}**") } else { name.clone() };
                table.add_row(std::iter::once(name).chain(self.columns.iter().skip(1).map(|_| String::new())));
            }
            let indent = if name.is_empty() || markdown { "" } else { "  " };
            for row in rows {
                let id = row.first().map(|id| format!("{indent}{id}"));
                table.add_row(id.into_iter().chain(row.iter().skip(1).cloned()));
            }
        }
        for at in 1..self.columns.len().saturating_sub(1) {
            if let Some(column) = table.column_mut(at) {
                column.set_cell_alignment(CellAlignment::Right);
            }
        }
        let lines: String = table.lines().map(|line| format!("{}\n", line.trim_end())).collect();
        match (self.title, markdown) {
            ("", _) => lines,
            (title, true) => format!("### {title}\n\n{lines}"),
            (title, false) => format!("{title}\n{lines}"),
        }
    }
}

/// Rows without groups.
fn plain(columns: &'static [&'static str], rows: Vec<Vec<String>>) -> Section {
    Section { title: "", columns, groups: vec![(String::new(), rows)] }
}

fn engine(engine: &Engine) -> Vec<String> {
    let status = engine.additive().map_or("none", |additive| additive.status.as_str());
    vec![engine.id.clone(), status.to_owned(), engine.name.clone()]
}

fn hardware(devices: &[Device]) -> Section {
    let vendor = |device: &Device| device.vendor.clone().unwrap_or_else(|| "vendor not stated".to_owned());
    Section {
        title: "",
        columns: &["id", "memory", "bandwidth", "bf16", "fp8", "link", "name"],
        groups: grouped(devices.iter(), vendor, |device| &device.id, device_row),
    }
}

/// What a device does not state is a dash.
fn device_row(device: &Device) -> Vec<String> {
    let dash = || "-".to_owned();
    let peak = |dtype| device.peak(dtype).map_or_else(|_| dash(), |rate| rate.to_string());
    vec![
        device.id.clone(),
        device.memory.capacity.map_or_else(|| "-".to_owned(), |capacity| capacity.to_string()),
        device.memory.bandwidth.to_string(),
        peak(Dtype::Bf16),
        peak(Dtype::Fp8),
        device.link.as_ref().map_or_else(dash, |link| link.bandwidth.to_string()),
        device.name.clone(),
    ]
}

fn of_role(models: &[Model], role: Role) -> Option<Section> {
    let of: Vec<&Model> = models.iter().filter(|model| model.role == role).collect();
    if of.is_empty() {
        return None;
    }
    let made_for = |model: &Model| match model.fits.as_slice() {
        [] => "target not stated".to_owned(),
        targets => format!("for {}", targets.join(", ")),
    };
    let models = of.into_iter();
    Some(match role {
        Role::Head => Section {
            title: "heads, under the targets they are made for",
            columns: &["id", "drafts as", "parameters", "weights", "format", "KV a token", "name"],
            groups: grouped(models, made_for, |model| &model.id, model_row),
        },
        _ => Section {
            title: if role == Role::Target { "targets, by family" } else { "drafters, by family" },
            columns: &["id", "parameters", "active", "weights", "format", "KV a token", "name"],
            groups: grouped(models, |model| family(model).to_owned(), |model| &model.id, model_row),
        },
    })
}

fn model_row(model: &Model) -> Vec<String> {
    let total = parameters(model.total_params());
    let [first, second] = match model.head_kind() {
        Some(kind) => [kind.to_string(), total],
        None => [total, model.active_total().map_or_else(|| "-".to_owned(), parameters)],
    };
    let (weights, kv) = (model.weight_bytes_held().to_string(), model.kv_bytes_per_token().to_string());
    vec![model.id.clone(), first, second, weights, held_in(model), kv, model.name.clone()]
}

/// The formats of a model's weights, the usual one of its parts first.
pub(super) fn held_in(model: &Model) -> String {
    let mut words = vec![model.formats.weights().as_str()];
    for (_, format) in model.formats.other_parts() {
        if !words.contains(&format.dtype().as_str()) {
            words.push(format.dtype().as_str());
        }
    }
    words.join("+")
}

/// What a model's siblings share: the first word of its name without version and size.
///
/// # Examples
///
/// `Llama` of `Llama-3.1-8B` and of `Meta-Llama-3-8B`, `Qwen` of `Qwen2.5-7B`, `gpt` of `gpt-oss-20b`.
pub(super) fn family(model: &Model) -> &str {
    let mut words = model.name.split(|c: char| !c.is_alphabetic()).filter(|word| !word.is_empty() && *word != "Meta");
    words.next().unwrap_or(&model.id)
}

/// Rows under the names of their groups, groups and rows in the order of their names.
fn grouped<'e, T: 'e>(
    entries: impl Iterator<Item = &'e T>,
    name: impl Fn(&T) -> String,
    id: fn(&T) -> &String,
    row: fn(&T) -> Vec<String>,
) -> Vec<(String, Vec<Vec<String>>)> {
    let mut sorted: Vec<(String, &T)> = entries.map(|entry| (name(entry), entry)).collect();
    sorted.sort_by_cached_key(|(name, entry)| (natural(&name.to_lowercase()), natural(id(entry))));
    let mut groups: Vec<(String, Vec<Vec<String>>)> = Vec::new();
    for (name, entry) in sorted {
        match groups.last_mut().filter(|(last, _)| last.eq_ignore_ascii_case(&name)) {
            Some((_, rows)) => rows.push(row(entry)),
            None => groups.push((name, vec![row(entry)])),
        }
    }
    groups
}

/// A part of a name: numbers go by their size, so that 9b comes before 27b.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum Part {
    Number(u64),
    Text(String),
}

fn natural(name: &str) -> Vec<Part> {
    let mut parts: Vec<Part> = Vec::new();
    for c in name.chars() {
        match (c.to_digit(10), parts.last_mut()) {
            (Some(digit), Some(Part::Number(number))) => {
                *number = number.saturating_mul(10).saturating_add(digit.into());
            }
            (Some(digit), _) => parts.push(Part::Number(digit.into())),
            (None, Some(Part::Text(text))) => text.push(c),
            (None, _) => parts.push(Part::Text(c.into())),
        }
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_go_by_their_numbers() {
        let mut names = ["llama-3.1-8b", "gemma-2-27b", "llama-3-70b", "gemma-2-9b", "llama-3-8b"];
        names.sort_by_key(|name| natural(name));
        assert_eq!(names, ["gemma-2-9b", "gemma-2-27b", "llama-3-8b", "llama-3-70b", "llama-3.1-8b"]);
    }
}
