//! What a benchmark's result says beside its time per token: what its figures may be mistaken for.

use jiter::JsonValue;

use crate::domain::measured::Beside;
use crate::import::value::{get, of_number, text};

/// Beside each run of a text, in their order; nothing of what is no run.
#[must_use]
pub fn beside(text: &str) -> Vec<Beside> {
    let mut found = Vec::new();
    let mut take = |value: &JsonValue<'_>| {
        if get(value, "mean_tpot_ms").is_some() {
            found.push(of(value));
        }
    };
    match JsonValue::parse(text.trim_start_matches('\u{feff}').as_bytes(), true) {
        Ok(JsonValue::Array(values)) => values.iter().for_each(take),
        Ok(value) => take(&value),
        Err(_) => text.lines().filter_map(|line| JsonValue::parse(line.as_bytes(), true).ok()).for_each(|of| take(&of)),
    }
    found
}

fn of(value: &JsonValue<'_>) -> Beside {
    let number = |key: &str| of_number(get(value, key)?);
    let seconds = |key: &str| number(key).map(|milliseconds| milliseconds / 1e3);
    let is_random = text(value, "dataset_name").is_some_and(|name| name == "random" || name == "random-ids");
    Beside {
        itl: seconds("mean_itl_ms"),
        ttft: seconds("median_ttft_ms"),
        clients: number("max_concurrency"),
        completed: number("completed"),
        failed: number("failed"),
        is_random,
    }
}

/// The model that a server's metrics are of, by the label of the first.
#[must_use]
pub fn served(text: &str) -> Option<&str> {
    let rest = text.split_once("model_name=\"")?.1;
    rest.split_once('"').map(|(name, _)| name)
}

/// How often sequences were thrown out and begun again, by what an engine counts; none where it counts no such thing.
#[must_use]
pub fn preemptions(text: &str) -> Option<f64> {
    let names = ["vllm:num_preemptions", "sglang:num_retracted"];
    let counted =
        text.lines().filter(|line| names.iter().any(|name| line.starts_with(name)) && !line.contains("_created"));
    let values: Vec<f64> = counted.filter_map(|line| line.rsplit(' ').next()?.parse().ok()).collect();
    (!values.is_empty()).then(|| values.iter().sum())
}
