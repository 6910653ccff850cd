//! What stands under a key of a JSON object.

use jiter::JsonValue;

/// The value under a key of an object.
pub(super) fn get<'v, 's>(value: &'v JsonValue<'s>, key: &str) -> Option<&'v JsonValue<'s>> {
    match value {
        JsonValue::Object(entries) => entries.iter().rev().find(|(name, _)| name == key).map(|(_, value)| value),
        _ => None,
    }
}

/// A number that is finite.
pub(super) fn of_number(value: &JsonValue<'_>) -> Option<f64> {
    match value {
        JsonValue::Int(number) => Some(*number as f64),
        JsonValue::Float(number) if number.is_finite() => Some(*number),
        _ => None,
    }
}

/// A word under a key.
pub(super) fn text(value: &JsonValue<'_>, key: &str) -> Option<String> {
    match get(value, key) {
        Some(JsonValue::Str(text)) => Some(text.to_string()),
        _ => None,
    }
}
