//! How long prompts and outputs are.

use std::sync::Arc;

use crate::catalog::load::Loader;
use crate::catalog::node::{Node, Value};
use crate::catalog::reader::{Fields, Keys, Problems, text};
use crate::catalog::values::{integer, number};
use crate::catalog::workloads::Read;
use crate::diagnostic::Diagnostic;
use crate::domain::served::{Seen, Served};
use crate::domain::traffic::{Kind, Length};
use crate::import::requests::requests;
use crate::units::Probability;

/// Requests of a file that a value names.
pub(super) fn trace(node: &Node, problems: &mut Problems, loader: &mut Loader<'_>) -> Option<Served> {
    let name = text(node, problems)?;
    let source = loader.requests(&name, node, problems)?;
    requests(&source.name, &source.text).map_or_else(
        |error| {
            let message = format!("`{}`: {}: {error}", node.path, source.name);
            problems.report(Diagnostic::error("bad-trace", message).at(&node.place))
        },
        Some,
    )
}

/// A length in tokens: a number, `{ fixed = … }`, `{ mean = …, sd = … }` or `{ trace = "file" }`, whose lengths are drawn.
pub(in crate::catalog) fn length(
    node: &Node,
    problems: &mut Problems,
    loader: &mut Loader<'_>,
    of: fn(&Seen) -> u32,
) -> Option<Length> {
    let tokens = |node: &Node, problems: &mut Problems| {
        integer(node, problems, 0, u64::from(Length::LONGEST)).map(|tokens| Length::Fixed(tokens as u32))
    };
    if matches!(node.value, Value::Integer(_) | Value::Float(_)) {
        return tokens(node, problems);
    }
    if node.entries().is_none() {
        return problems.wrong_type(node, "tokens: 512, { mean = 1024, sd = 1024 } or { trace = \"file\" }");
    }
    let mut fields = Fields::open(node, &Keys::all(&["fixed", "mean", "sd", "trace"]), problems)?;
    if let Some(alone) = ["fixed", "trace"].into_iter().find(|key| fields.has(key)) {
        let read = match alone {
            "fixed" => fields.required("fixed", tokens),
            _ => fields.required("trace", |node, problems| {
                let served = trace(node, problems, loader)?;
                Some(Length::Seen(Arc::new(served.requests.iter().map(of).collect())))
            }),
        };
        for key in ["fixed", "trace", "mean", "sd"].into_iter().filter(|key| *key != alone) {
            if let Some(idle) = node.get(key) {
                let message = format!("`{}` plays no part beside `{alone}`", idle.path);
                let found = Diagnostic::error("conflict", message).at(&idle.place);
                return problems
                    .report(found.hint("a length is fixed, of a trace, or has a mean and a standard deviation"));
            }
        }
        return read;
    }
    let mean = fields.required("mean", |node, problems| {
        let mean = number(node, problems, 1.0)?;
        if mean <= f64::from(Length::LONGEST) {
            return Some(mean);
        }
        let found = Diagnostic::error("out-of-range", format!("`{}` is above {}", node.path, Length::LONGEST));
        problems.report(found.at(&node.place).hint("tokens, such as 1024"))
    });
    let sd = fields.required("sd", |node, problems| number(node, problems, 0.0));
    Some(Length::LogNormal { mean: mean?, sd: sd? })
}

pub(super) fn kinds(workloads: &[Read], prompt: &Length, output: &Length, prefix_hit: Probability) -> Vec<Kind> {
    if workloads.is_empty() {
        let (prompt, output) = (prompt.clone(), output.clone());
        return vec![Kind { label: None, share: Probability::ONE, prompt, output, prefix_hit }];
    }
    let kind = |(workload, _): &Read| Kind {
        label: Some(workload.label.clone()),
        share: workload.share,
        prompt: workload.prompt_length.clone().unwrap_or_else(|| prompt.clone()),
        output: workload.output_length.clone().unwrap_or_else(|| output.clone()),
        prefix_hit: if workload.prefix_hit == Probability::ZERO { prefix_hit } else { workload.prefix_hit },
    };
    workloads.iter().map(kind).collect()
}
