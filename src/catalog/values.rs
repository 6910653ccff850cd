//! Readers of single values: words, numbers, quantities, axes.

use crate::catalog::node::{Node, Value};
use crate::catalog::reader::{Fields, Keys, Problems, one_or_many, text};
use crate::diagnostic::{Diagnostic, nearest};
use crate::domain::axis::{Axis, AxisError, AxisValue};
use crate::units::Probability;
use crate::units::text::{Quantity, parse};
use crate::words::Word;

/// Integers up to here are exact in every computation (`f64`).
pub(super) const LARGEST_INTEGER: u64 = 1 << 53;
/// No figure of a real system is larger; products of a few of them stay finite.
pub(super) const LARGEST_NUMBER: f64 = 1e30;

/// A word of a closed vocabulary.
pub(super) fn word<W: Word>(node: &Node, problems: &mut Problems) -> Option<W> {
    let written = text(node, problems)?;
    if let Some(known) = W::ALL.iter().find(|known| known.as_str() == written) {
        return Some(*known);
    }
    let words: Vec<&str> = W::ALL.iter().map(|known| known.as_str()).collect();
    let hint = match nearest(&written, words.iter().copied()) {
        Some(meant) => format!("did you mean \"{meant}\"?"),
        None => format!("one of: {}", words.join(", ")),
    };
    let message = format!("`{}` cannot be \"{written}\"", node.path);
    problems.report(Diagnostic::error("unknown-word", message).at(&node.place).hint(hint))
}

/// Yes or no.
pub(super) fn flag(node: &Node, problems: &mut Problems) -> Option<bool> {
    match node.value {
        Value::Bool(flag) => Some(flag),
        _ => problems.wrong_type(node, "true or false"),
    }
}

/// A whole number in a range.
pub(super) fn integer(node: &Node, problems: &mut Problems, from: u64, to: u64) -> Option<u64> {
    let number = match node.value {
        Value::Integer(number) => number,
        // Beyond what 64 bits hold, the nearest they do is out of range all the same.
        Value::Float(number) if number.fract() == 0.0 => number as i64,
        _ => return problems.wrong_type(node, "a whole number, such as 16"),
    };
    match u64::try_from(number) {
        Ok(number) if (from..=to).contains(&number) => Some(number),
        _ => {
            let message = format!("`{}` must lie between {from} and {to}, not {}", node.path, node.value.shown());
            problems.report(Diagnostic::error("out-of-range", message).at(&node.place))
        }
    }
}

/// A finite number from `from` on, within [`LARGEST_NUMBER`].
pub(super) fn number(node: &Node, problems: &mut Problems, from: f64) -> Option<f64> {
    let number = plain_number(node, problems)?;
    if (from..=LARGEST_NUMBER).contains(&number) {
        // Plus zero, so that -0 reads as 0.
        return Some(number + 0.0);
    }
    let message = format!("`{}` must be at least {from} (and at most 1e30), not {}", node.path, node.value.shown());
    problems.report(Diagnostic::error("out-of-range", message).at(&node.place))
}

fn plain_number(node: &Node, problems: &mut Problems) -> Option<f64> {
    match node.value {
        Value::Integer(number) => Some(number as f64),
        Value::Float(number) => Some(number),
        _ => problems.wrong_type(node, "a bare number, such as 7.5e9"),
    }
}

/// A number from 0 to 1.
pub(super) fn probability(node: &Node, problems: &mut Problems) -> Option<Probability> {
    let number = plain_number(node, problems)?;
    match Probability::new(number) {
        Ok(probability) => Some(probability),
        Err(error) => {
            let found = Diagnostic::error("out-of-range", format!("`{}`: {error}", node.path)).at(&node.place);
            let hint = if (2.0..=100.0).contains(&number) {
                format!("a fraction from 0 to 1 is due: {number} % is {}", number / 100.0)
            } else {
                "a fraction from 0 to 1 is due".into()
            };
            problems.report(found.hint(hint))
        }
    }
}

/// A quantity with its unit, or a bare number in the SI base unit; at least `from` base units.
pub(super) fn quantity<Q: Quantity>(node: &Node, problems: &mut Problems, from: f64) -> Option<Q> {
    let Value::Text(written) = &node.value else {
        return match node.value {
            Value::Integer(_) | Value::Float(_) => number(node, problems, from).map(Q::from_si),
            _ => problems.wrong_type(node, &format!("{} such as {}", Q::DIMENSION.words(), Q::DIMENSION.example())),
        };
    };
    match parse::<Q>(written) {
        Ok(quantity) if (from..=LARGEST_NUMBER).contains(&quantity.to_si()) => Some(quantity),
        Ok(_) => {
            let base = "in its base unit (and at most 1e30)";
            let message = format!("`{}` must be at least {from} {base}, not {}", node.path, node.value.shown());
            problems.report(Diagnostic::error("out-of-range", message).at(&node.place))
        }
        Err(error) => {
            let found = Diagnostic::error("wrong-unit", format!("`{}`: {error}", node.path)).at(&node.place);
            let (words, example) = (Q::DIMENSION.words(), Q::DIMENSION.example());
            problems.report(found.hint(format!("write {words} such as {example}")))
        }
    }
}

/// An axis of whole numbers: a value, a list, `{ from, to, step }` or `{ from, to, scale = "log2" }`.
pub(super) fn integer_axis(node: &Node, problems: &mut Problems, from: u64, to: u64) -> Option<Axis<u64>> {
    axis(
        node,
        problems,
        |node, problems| integer(node, problems, from, to),
        |from, to| Some(Axis::powers_of_two(from, to)),
    )
}

/// An axis of chances: a value, a list or `{ from, to, step }`.
pub(super) fn probability_axis(node: &Node, problems: &mut Problems) -> Option<Axis<Probability>> {
    axis(node, problems, probability, |_, _| None)
}

fn axis<T: AxisValue>(
    node: &Node,
    problems: &mut Problems,
    read: impl Fn(&Node, &mut Problems) -> Option<T>,
    doubling: impl Fn(T, T) -> Option<Result<Axis<T>, AxisError>>,
) -> Option<Axis<T>> {
    if !matches!(node.value, Value::Table(_)) {
        let values = one_or_many(node, problems, read)?;
        return checked(Axis::list(values), node, problems);
    }
    let mut fields = Fields::open(node, &Keys::all(&["from", "to", "step", "scale"]), problems)?;
    let from = fields.required("from", &read);
    let to = fields.required("to", &read);
    let scale = fields.optional("scale", text);
    if scale.as_ref().is_some_and(Option::is_some) && fields.has("step") {
        let message = format!("`{}` has both `step` and `scale`", node.path);
        return problems.report(Diagnostic::error("conflict", message).at(&node.place).hint("keep one of them"));
    }
    match scale?.as_deref() {
        None => {
            let step = fields.required("step", |node, problems| read_step(node, problems, &read));
            let (from, to, step) = (from?, to?, step?);
            checked(Axis::range(from, to, step), node, problems)
        }
        Some("log2") => {
            let (from, to) = (from?, to?);
            match doubling(from, to) {
                Some(axis) => checked(axis, node, problems),
                None => bad_scale(node, problems, "a range of chances has a `step`, not a `scale`"),
            }
        }
        Some(_) => bad_scale(node, problems, "the only scale is \"log2\""),
    }
}

/// A step is read like the values it separates, but zero gets the axis's own message.
fn read_step<T: AxisValue>(
    node: &Node,
    problems: &mut Problems,
    read: &impl Fn(&Node, &mut Problems) -> Option<T>,
) -> Option<T> {
    if matches!(node.value, Value::Integer(0)) { Some(T::ZERO) } else { read(node, problems) }
}

fn bad_scale<T>(node: &Node, problems: &mut Problems, message: &str) -> Option<T> {
    problems.report(Diagnostic::error("unknown-word", format!("`{}`: {message}", node.path)).at(&node.place))
}

fn checked<T>(axis: Result<Axis<T>, AxisError>, node: &Node, problems: &mut Problems) -> Option<Axis<T>> {
    match axis {
        Ok(axis) => Some(axis),
        Err(error) => {
            let (code, hint) = match error {
                AxisError::Empty => ("empty-axis", "list at least one value, or leave the key out"),
                AxisError::Backwards => ("empty-axis", "swap `from` and `to`"),
                AxisError::Repeated { .. } => ("bad-axis", "list each value once"),
                AxisError::Step => ("bad-axis", "such as step = 1"),
                AxisError::StepTooSmall => ("bad-axis", "take a larger step, or list the values"),
                AxisError::FromZero => ("bad-axis", "start at 1, or list the values"),
            };
            problems.report(Diagnostic::error(code, format!("`{}`: {error}", node.path)).at(&node.place).hint(hint))
        }
    }
}
