//! What an input does not say, and what is to be known before its figures are used.

use std::collections::BTreeSet;

use crate::acceptance::observed::AlphaBy;
use crate::report::acceptance::Section;
use crate::report::number::counted;
use crate::words::{Printout, Trap};

/// What cannot be known from a section, and why.
#[must_use]
pub fn unknown(section: &Section<'_>) -> Vec<String> {
    let (found, pool) = (&section.found, section.pool);
    let is_tree = pool.traps.contains(&Trap::Tree);
    let mut lines = Vec::new();
    let mut say = |is: bool, line: &str| lines.extend(is.then(|| line.to_owned()));
    say(found.rounds.is_none(), "rounds: this form prints no counts of them, so that no interval follows from them");
    say(found.drafted.is_none(), "drafts, and the share of them that is accepted: not printed");
    say(
        found.k.is_none(),
        "the draft length k, and with it alpha: not printed, and drafts differ or are not counted; --k gives it",
    );
    say(
        found.cumulative.is_empty(),
        "acceptance by position, and whether one alpha stands for all: positions are not printed",
    );
    say(
        !found.cumulative.is_empty() && found.conditional.is_empty() && !is_tree,
        "conditional rates: drafts differ in length, and how many had each length is not printed, so that what was not drafted \
         and what was rejected are one",
    );
    say(
        found.k.is_some() && found.tokens_per_pass.is_some() && found.alpha.is_none(),
        "alpha: the mean lies outside what drafts of this length can bring",
    );
    say(
        found.alpha.is_some_and(|alpha| alpha.by == AlphaBy::Mean),
        "alpha by likelihood: how many rounds rejected a draft is not printed; shown is the alpha that gives the mean at k, if all \
         positions pass alike",
    );
    say(found.all_steps.is_none(), "tokens over all decode steps: steps without a draft are in none of these figures");
    lines
}

/// What is to be known, as words.
#[must_use]
pub fn traps(section: &Section<'_>) -> BTreeSet<Trap> {
    let mut traps = section.pool.traps.clone();
    if section.found.even == Some(false) && !traps.contains(&Trap::Tree) {
        traps.insert(Trap::VariedDrafts);
    }
    traps
}

/// What is to be known.
#[must_use]
pub fn beware(section: &Section<'_>) -> Vec<String> {
    let (found, pool) = (&section.found, section.pool);
    let mut lines: Vec<String> = traps(section).into_iter().map(|trap| trap.told().to_owned()).collect();
    let tokens = found.tokens_per_pass.map(|tokens| tokens.value);
    lines.extend(pool.suspects());
    if let (Some(all), Some(tokens)) = (found.all_steps, tokens)
        && all < 0.98 * tokens
    {
        lines.push(format!(
            "steps without a draft: {all:.2} tokens per step over all of them, {tokens:.2} where something was drafted; speed follows \
             the first"
        ));
    }
    let with_rounds = pool.accepted_of_rounds.windows;
    if with_rounds > 0 && with_rounds < pool.windows {
        lines.push(format!("tokens per pass are of the {with_rounds} of {} windows that print rounds", pool.windows));
    }
    if pool.silent > 0 {
        lines.push(format!("{} drafted nothing, and nothing of that is counted", counted(pool.silent, "window")));
    }
    lines
}

/// What a form is called.
#[must_use]
pub const fn name(printout: Printout) -> &'static str {
    match printout {
        Printout::VllmCounters => "vLLM counters",
        Printout::VllmV0Counters => "vLLM V0 counters",
        Printout::VllmLog => "vLLM log",
        Printout::VllmV0Log => "vLLM V0 log",
        Printout::VllmRequest => "vLLM requests",
        Printout::VllmBench => "vllm bench serve",
        Printout::SglangLog => "SGLang log",
        Printout::SglangGauges => "SGLang gauges",
        Printout::SglangRequest => "SGLang requests",
        Printout::SglangServer => "SGLang server info",
        Printout::SglangBench => "SGLang bench_serving",
        Printout::TrtllmIterations => "TensorRT-LLM iterations",
        Printout::TrtllmCounters => "TensorRT-LLM counters",
        Printout::TrtllmBench => "trtllm-bench",
        Printout::LlamaTimings => "llama.cpp timings",
        Printout::LlamaLog => "llama.cpp log",
        Printout::LlamaStatistics => "llama.cpp statistics",
        Printout::LlamaExample => "llama.cpp example",
        Printout::LlamaCounters => "llama.cpp counters",
        Printout::Aiperf => "aiperf",
        Printout::AiperfRecords => "aiperf records",
        Printout::Guidellm => "guidellm",
        Printout::Steps => "tokens of each step",
    }
}
