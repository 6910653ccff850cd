//! Whether an answer is the expected one.

use serde_json::Value;

use crate::{Answer, Unanswered};

struct Tolerance {
    relative: f64,
    absolute: f64,
}

/// Compares an answer with a case's `expected` under its `tolerance`.
pub(crate) fn answer(answer: &Answer, expected: &Value, tolerance: &Value) -> Result<(), String> {
    let refusal = expected.get("error").and_then(Value::as_str).is_some();
    match (answer, refusal) {
        (Err(Unanswered::Broken(reason)), _) => Err(format!("broken case: {reason}")),
        (Err(Unanswered::Refused(_)), true) => Ok(()),
        (Ok(got), true) => Err(format!("must be refused, got {got}")),
        (Err(Unanswered::Refused(reason)), false) => Err(format!("refused: {reason}")),
        (Ok(got), false) => {
            let bound = |key: &str| tolerance[key].as_f64().ok_or_else(|| format!("the case has no tolerance `{key}`"));
            let tolerance = Tolerance { relative: bound("rel")?, absolute: bound("abs")? };
            value(got, expected, &tolerance, "")
        }
    }
}

fn value(got: &Value, expected: &Value, tolerance: &Tolerance, at: &str) -> Result<(), String> {
    match (got, expected) {
        (_, Value::Object(fields)) => fields.iter().try_for_each(|(key, expected)| match got.get(key) {
            Some(got) => value(got, expected, tolerance, &format!("{at}.{key}")),
            None => Err(format!("{at}.{key} is missing")),
        }),
        (Value::Array(got), Value::Array(expected)) if got.len() == expected.len() => got
            .iter()
            .zip(expected)
            .enumerate()
            .try_for_each(|(index, (got, expected))| value(got, expected, tolerance, &format!("{at}[{index}]"))),
        // The library counted: k, batch, nodes are exact.
        (Value::Number(a), Value::Number(b)) if a.is_u64() && b.is_u64() => {
            if a == b {
                Ok(())
            } else {
                Err(format!("{at}: {a}, expected {b}"))
            }
        }
        (Value::Number(a), Value::Number(b)) => {
            let (a, b) = (a.as_f64().unwrap_or(f64::NAN), b.as_f64().unwrap_or(f64::NAN));
            let allowed = tolerance.absolute + tolerance.relative * a.abs().max(b.abs());
            if (a - b).abs() <= allowed { Ok(()) } else { Err(format!("{at}: {a:e}, expected {b:e}")) }
        }
        _ if got == expected => Ok(()),
        _ => Err(format!("{at}: {got}, expected {expected}")),
    }
}
