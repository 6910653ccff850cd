//! Entries of the catalog as rows for programs: numbers in SI base units, units in the names of columns, empty where
//! nothing is stated. CSV and JSON have the same columns.

use serde_json::{Map, Value};

use crate::domain::device::Device;
use crate::domain::engine::Engine;
use crate::domain::formats::Format;
use crate::domain::model::{Model, Shape};
use crate::domain::scenario::Scenario;
use crate::report::catalog::list::{family, held_in};
use crate::report::csv;
use crate::words::Dtype;

/// A column: its name, and the cell of an entry.
type Column<T> = (&'static str, fn(&T) -> Value);

/// The columns of a kind of entry.
pub struct Columns<T: 'static>(&'static [Column<T>]);

impl<T> Columns<T> {
    /// One header row and a row for each entry.
    ///
    /// # Errors
    ///
    /// None in practice: the bytes go to memory.
    pub fn csv(&self, entries: &[T]) -> ::csv::Result<Vec<u8>> {
        let names: Vec<&str> = self.0.iter().map(|(name, _)| *name).collect();
        csv::table(&names, entries.iter().map(|entry| self.0.iter().map(|(_, cell)| cell(entry)).collect()))
    }

    /// An object for each entry.
    #[must_use]
    pub fn json(&self, entries: &[T]) -> Value {
        let object = |entry: &T| -> Map<String, Value> {
            self.0.iter().map(|(name, cell)| ((*name).to_owned(), cell(entry))).collect()
        };
        entries.iter().map(object).collect()
    }
}

/// Devices.
pub const DEVICES: Columns<Device> = Columns(&[
    ("id", |device| device.id.as_str().into()),
    ("name", |device| device.name.as_str().into()),
    ("vendor", |device| device.vendor.as_deref().into()),
    ("family", |device| device.family.as_deref().into()),
    ("memory_bytes", |device| device.memory.capacity.map_or(Value::Null, |capacity| number(capacity.get()))),
    ("bandwidth_bytes_per_s", |device| number(device.memory.bandwidth.get())),
    ("memory_source", |device| device.memory.source.as_str().into()),
    ("fp32_flop_per_s", |device| peak(device, Dtype::Fp32)),
    ("tf32_flop_per_s", |device| peak(device, Dtype::Tf32)),
    ("bf16_flop_per_s", |device| peak(device, Dtype::Bf16)),
    ("fp16_flop_per_s", |device| peak(device, Dtype::Fp16)),
    ("fp8_flop_per_s", |device| peak(device, Dtype::Fp8)),
    ("int8_flop_per_s", |device| peak(device, Dtype::Int8)),
    ("fp4_flop_per_s", |device| peak(device, Dtype::Fp4)),
    ("mxfp4_flop_per_s", |device| peak(device, Dtype::Mxfp4)),
    ("int4_flop_per_s", |device| peak(device, Dtype::Int4)),
    ("peak_source", |device| device.peaks.source.as_str().into()),
    ("link_kind", |device| device.link.as_ref().map(|link| link.kind.as_str()).into()),
    ("link_bytes_per_s", |device| device.link.as_ref().map(|link| number(link.bandwidth.get())).into()),
    ("link_devices", |device| device.link.as_ref().map(|link| link.domain).into()),
    ("link_source", |device| device.link.as_ref().map(|link| link.source.as_str()).into()),
    ("tdp_watts", |device| device.power.as_ref().map(|power| number(power.tdp_watts)).into()),
    ("power_source", |device| device.power.as_ref().and_then(|power| power.source.as_deref()).into()),
    ("usd_per_hour", |device| device.price.as_ref().map(|price| number(price.usd_per_hour)).into()),
    ("price_date", |device| device.price.as_ref().map(|price| price.date.as_str()).into()),
    ("price_source", |device| device.price.as_ref().map(|price| price.source.as_str()).into()),
]);

/// Models.
pub const MODELS: Columns<Model> = Columns(&[
    ("id", |model| model.id.as_str().into()),
    ("name", |model| model.name.as_str().into()),
    ("role", |model| model.role.as_str().into()),
    ("family", |model| family(model).into()),
    ("head_kind", |model| model.head_kind().map(|kind| kind.as_str()).into()),
    ("fits", |model| model.fits.as_slice().into()),
    ("approximate", |model| model.approximate.into()),
    ("layers", |model| of_layers(model, number(model.layers()))),
    ("vocab", |model| model.vocab.into()),
    ("total_params", |model| number(model.total_params())),
    ("active_params", |model| model.active_total().map(number).into()),
    ("matmul_params", |model| number(model.matmul_params())),
    ("weights", |model| held_in(model).into()),
    ("activations", |model| model.formats.activations.as_str().into()),
    ("kv", |model| model.formats.kv().as_str().into()),
    ("weight_bytes", |model| number(model.weight_bytes_held().get())),
    ("bf16_weight_bytes", |model| stored_in(model, Dtype::Bf16)),
    ("fp8_weight_bytes", |model| stored_in(model, Dtype::Fp8)),
    ("int4_weight_bytes", |model| stored_in(model, Dtype::Int4)),
    ("fp4_weight_bytes", |model| stored_in(model, Dtype::Fp4)),
    ("mxfp4_weight_bytes", |model| stored_in(model, Dtype::Mxfp4)),
    ("kv_bytes_per_token", |model| number(model.kv_bytes_per_token().get())),
    ("growing_kv_bytes_per_token", |model| of_layers(model, number(model.growing_kv_bytes_per_token().get()))),
    ("window_kv_bytes_per_sequence", |model| of_layers(model, number(model.window_kv_bytes_per_sequence().get()))),
    ("state_bytes_per_sequence", |model| of_layers(model, number(model.state_bytes_per_sequence().get()))),
    ("source", |model| model.source.as_deref().into()),
]);

/// Engines.
pub const ENGINES: Columns<Engine> = Columns(&[
    ("id", |engine| engine.id.as_str().into()),
    ("name", |engine| engine.name.as_str().into()),
    ("constants", |engine| engine.additive().map(|additive| additive.status.as_str()).into()),
    ("versions", |engine| engine.additive().and_then(|additive| additive.versions.as_deref()).into()),
]);

/// Scenarios.
pub const SCENARIOS: Columns<Scenario> =
    Columns(&[("id", |scenario| scenario.name.as_str().into()), ("title", |scenario| scenario.title.as_str().into())]);

/// A number without a fraction where it is whole, as programs expect of a count.
pub(in crate::report) fn number(value: f64) -> Value {
    const EXACT: f64 = 9_007_199_254_740_992.0;
    if value.fract() == 0.0 && (0.0..EXACT).contains(&value) { (value as u64).into() } else { value.into() }
}

fn peak(device: &Device, dtype: Dtype) -> Value {
    device.peak(dtype).ok().map(|rate| number(rate.get())).into()
}

fn stored_in(model: &Model, dtype: Dtype) -> Value {
    number(model.weight_bytes_in(Format::usual(dtype)).get())
}

/// What only a model of known layers has.
fn of_layers(model: &Model, value: Value) -> Value {
    if matches!(model.shape, Shape::Layers(_)) { value } else { Value::Null }
}
