//! `[[measured]]` into [`Measured`] points.

use crate::catalog::node::Node;
use crate::catalog::reader::{Fields, Keys, Problems, one_or_many, text};
use crate::catalog::values::{LARGEST_INTEGER, LARGEST_NUMBER, integer, number, quantity};
use crate::diagnostic::Diagnostic;
use crate::domain::measured::{Measured, Timed};
use crate::domain::measurement::ClosedLoop;
use crate::units::Seconds;

const KEYS: Keys = Keys::all(&[
    "drafter",
    "k",
    "batch",
    "concurrency",
    "context",
    "prompt_tokens",
    "output_tokens",
    "tokens_per_pass",
    "step_s",
    "tpot_s",
    "tokens_per_s",
    "speedup",
]);

/// Reads the points.
pub(super) fn measured(node: &Node, problems: &mut Problems) -> Option<Vec<Measured>> {
    let mut count = 0;
    one_or_many(node, problems, |node, problems| {
        count += 1;
        point(node, &format!("[[measured]] {count}"), problems)
    })
}

fn point(node: &Node, label: &str, problems: &mut Problems) -> Option<Measured> {
    let mut fields = Fields::open(node, &KEYS, problems)?;
    let drafter = fields.optional("drafter", text);
    let k = fields.required("k", |node, problems| integer(node, problems, 0, 1024));
    let mut above = |key: &str, from: f64| fields.optional(key, |node, problems| number(node, problems, from));
    let (batch, clients) = (above("batch", 1.0), above("concurrency", 1.0));
    let (context, prompt, output) = (above("context", 0.0), above("prompt_tokens", 1.0), above("output_tokens", 1.0));
    let tokens = above("tokens_per_pass", 1.0);
    let (rate, speedup) = (above("tokens_per_s", f64::MIN_POSITIVE), above("speedup", f64::MIN_POSITIVE));
    let mut time =
        |key: &str| fields.optional(key, |node, problems| quantity::<Seconds>(node, problems, f64::MIN_POSITIVE));
    let (step, each) = (time("step_s"), time("tpot_s"));
    let timed = [
        step?.map(Timed::Step),
        each?.map(Timed::PerToken),
        rate?.map(Timed::Throughput),
        speedup?.map(Timed::Speedup),
    ];
    let (k, tokens) = (k?, tokens?);
    let wrong = |what: String, hint: &str, problems: &mut Problems| {
        problems.report(Diagnostic::error("conflict", format!("`{}` {what}", node.path)).at(&node.place).hint(hint))
    };
    let timed: Vec<Timed> = timed.into_iter().flatten().collect();
    let [timed] = timed[..] else {
        let what = if timed.is_empty() { "says no time" } else { "says several times" };
        return wrong(what.to_owned(), "give one of step_s, tpot_s, tokens_per_s and speedup", problems);
    };
    let (prompt, output) = (prompt?, output?);
    let requests = match (clients?, batch?, prompt, output) {
        (None, Some(batch), _, _) => (batch, None),
        (Some(clients), None, Some(prompt), Some(output)) => (clients, Some(ClosedLoop { prompt, output })),
        (Some(_), None, _, _) => {
            let hint = "a closed loop holds prefill: give prompt_tokens and output_tokens, or the sequences that decode at once as batch";
            return wrong("has concurrency without its requests".to_owned(), hint, problems);
        }
        _ => {
            return wrong(
                "needs one of batch and concurrency".to_owned(),
                "how many sequences decode at once",
                problems,
            );
        }
    };
    let half_way = prompt.map(|prompt| prompt + output.unwrap_or(0.0) / 2.0);
    let Some(context) = context?.or(half_way) else {
        return wrong(
            "has no context".to_owned(),
            "tokens in each sequence's KV cache, or prompt_tokens and output_tokens",
            problems,
        );
    };
    if k == 0 && matches!(timed, Timed::Speedup(_)) {
        return wrong("has a speedup at k = 0, which is plain decoding".to_owned(), "give its time", problems);
    }
    if k > 0 && tokens.is_none() && !matches!(timed, Timed::Step(_)) {
        let hint = "engines print it as acceptance length";
        return wrong(format!("has a {} without tokens_per_pass", timed.what()), hint, problems);
    }
    if let (Timed::Speedup(speedup), Some(tokens)) = (timed, tokens)
        && speedup > tokens
    {
        let what = format!("has a speedup of {speedup} with {tokens} tokens per pass");
        return wrong(what, "no round is shorter than a plain step: look at both figures", problems);
    }
    Some(Measured {
        label: label.to_owned(),
        drafter: drafter?,
        k,
        layout: None,
        batch: requests.0.min(LARGEST_INTEGER as f64),
        context: context.min(LARGEST_NUMBER),
        requests: requests.1,
        tokens_per_pass: tokens.filter(|_| k > 0),
        timed,
    })
}
