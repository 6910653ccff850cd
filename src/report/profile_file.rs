//! A calibrated engine profile as the text of its file, which the catalog reads back to the same profile.

use crate::domain::calibration::Calibration;
use crate::domain::engine::{Additive, Engine, ExpectedError};
use crate::report::engine::{Figure, constants, efficiencies};
use crate::report::number::shortest;
use crate::report::toml::key;

/// How a file begins that a calibration wrote.
const HEAD: &str = "# Written by `specplan calibrate`: it holds for the deployment under [calibration]. Price with it:";

/// Whether a file is one that a calibration wrote, and may be written anew.
#[must_use]
pub fn is_ours(text: &str) -> bool {
    text.starts_with(HEAD) && text.contains("\nstatus = \"calibrated\"\n")
}

/// The file of a profile; `None` of an ideal one.
#[must_use]
pub fn text(engine: &Engine) -> Option<String> {
    let additive = engine.additive()?;
    let mut parts = vec![head(engine, additive), section("constants", &constants(additive))];
    parts.extend(additive.families.iter().map(|(name, of)| {
        let tested = format!("[family.{}]\ntested = {}\n", key(name), of.tested);
        tested + &lines(&efficiencies(of))
    }));
    if !additive.errors.is_empty() {
        parts.push(format!("[error]\n{}", additive.errors.iter().map(error).collect::<String>()));
    }
    parts.extend(additive.calibration.iter().map(calibration));
    Some(parts.join("\n"))
}

fn head(engine: &Engine, additive: &Additive) -> String {
    let mut text = format!("{HEAD}\n# specplan plan --scenario … --engine <path of this file>\n");
    text += &format!("name = {}\nform = \"additive\"\nstatus = \"{}\"\n", quoted(&engine.name), additive.status);
    let versions = additive.versions.iter().map(|versions| format!("versions = {}\n", quoted(versions)));
    text + &versions.collect::<String>()
}

fn section(name: &str, figures: &[Figure<'_>]) -> String {
    format!("[{name}]\n{}", lines(figures))
}

fn lines(figures: &[Figure<'_>]) -> String {
    let line = |of: &Figure<'_>| {
        let range = of
            .range
            .map_or_else(String::new, |(low, high)| format!(", low = {}, high = {}", shortest(low), shortest(high)));
        format!("{} = {{ value = {}{range}, origin = {} }}\n", of.name, shortest(of.value), quoted(of.origin))
    };
    figures.iter().map(line).collect()
}

/// An error that the profile it began with states: plain steps alone leave rounds as sure as they were.
fn error(of: &ExpectedError) -> String {
    let known = of.known.map_or_else(String::new, |known| {
        format!(", batch = [{}, {}], context = {}", known.batch.0, known.batch.1, known.context)
    });
    format!(
        "{} = {{ median = {}, p90 = {}, rows = {}{known}, source = \"the profile that this one began with\" }}\n",
        of.class,
        shortest(of.median),
        shortest(of.p90),
        of.rows
    )
}

fn calibration(of: &Calibration) -> String {
    let drafters: Vec<String> = of.drafters.iter().map(|kind| format!("\"{kind}\"")).collect();
    let drafters = if drafters.is_empty() { String::new() } else { format!("drafters = [{}]\n", drafters.join(", ")) };
    let listed = |words: Vec<String>| words.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(", ");
    let formats = of.formats.as_ref().map_or_else(String::new, |formats| format!("formats = {}\n", quoted(formats)));
    let without = match of.without.is_empty() {
        true => String::new(),
        false => format!("without = [{}]\n", listed(of.without.iter().map(ToString::to_string).collect())),
    };
    let verify_cost = if of.has_verify_cost { "verify_cost = true\n" } else { "" };
    let overlap = if of.has_overlap { "overlap = true\n" } else { "" };
    let lengths = of.k.map_or_else(String::new, |(least, longest)| format!("k = [{least}, {longest}]\n"));
    let error = &of.error;
    let (batch, context) = error.known.map_or(((1, 1), 0), |known| (known.batch, known.context));
    let names: Vec<String> = of.joint.names().iter().map(|name| quoted(name)).collect();
    let row =
        |row: &Vec<f64>| format!("    [{}],\n", row.iter().map(|of| shortest(*of)).collect::<Vec<_>>().join(", "));
    let rows: String = of.joint.covariance().iter().map(row).collect();
    format!(
        "[calibration]\nbase = {}\nhardware = {}\ntarget = {}\ntensor_parallel = {}\n{formats}{without}{verify_cost}{overlap}{drafters}{lengths}points = {}\nbatch = [{}, {}]\n\
         context = {context}\nmedian = {}\np90 = {}\nconstants = [{}]\n# In squares of seconds, paces as they are: what `plan` draws the constants with.\n\
         covariance = [\n{rows}]\n",
        quoted(&of.base),
        quoted(&of.hardware),
        quoted(&of.target),
        of.tensor_parallel,
        error.rows,
        batch.0,
        batch.1,
        shortest(error.median),
        shortest(error.p90),
        names.join(", ")
    )
}

/// A basic string: what TOML and JSON both read.
fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}
