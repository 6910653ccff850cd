//! What an input does not say, and what is to be known before its figures are used.

use crate::acceptance::observed::AlphaBy;
use crate::report::acceptance::Section;
use crate::words::{Printout, Trap};

/// Fewer tokens per pass than this are as good as none accepted.
const HARDLY_ANY: f64 = 1.05;
/// Windows that must agree to the last digit before that looks forced.
const MANY_ALIKE: u64 = 3;

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
        found.k.is_some() && found.alpha.is_none(),
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

/// What is to be known.
#[must_use]
pub fn beware(section: &Section<'_>) -> Vec<String> {
    let (found, pool) = (&section.found, section.pool);
    let mut lines: Vec<String> = pool.traps.iter().map(|trap| of_trap(*trap).to_owned()).collect();
    if found.even == Some(false) && !pool.traps.contains(&Trap::Tree) && !pool.traps.contains(&Trap::VariedDrafts) {
        lines.push(of_trap(Trap::VariedDrafts).to_owned());
    }
    let tokens = found.tokens_per_pass.map(|tokens| tokens.value);
    if tokens.is_some_and(|tokens| tokens < HARDLY_ANY) {
        lines.push(
            "suspect: hardly any draft is accepted. A head of another model, random prompts, a broken template or the wrong hidden \
             states look like this"
                .to_owned(),
        );
    }
    if let (Some((least, most)), true) = (pool.extremes, pool.windows >= MANY_ALIKE)
        && most - least <= 1e-9 * most
    {
        lines.push(format!(
            "suspect: the same {least} tokens per pass in all {} windows. Simulated or forced acceptance looks like this \
             (SGLANG_SIMULATE_ACC_LEN, TLLM_SPEC_DECODE_FORCE_NUM_ACCEPTED_TOKENS, synthetic rejection sampling), and so does a \
             log that was copied",
            pool.windows
        ));
    }
    if let (Some(all), Some(tokens)) = (found.all_steps, tokens)
        && all < 0.98 * tokens
    {
        lines.push(format!(
            "steps without a draft: {all:.2} tokens per step over all of them, {tokens:.2} where something was drafted; speed follows \
             the first"
        ));
    }
    let counted = pool.accepted_of_rounds.windows;
    if counted > 0 && counted < pool.windows {
        lines.push(format!("tokens per pass are of the {counted} of {} windows that print rounds", pool.windows));
    }
    if pool.silent > 0 {
        lines.push(format!("{} windows drafted nothing and are left out", pool.silent));
    }
    lines
}

const fn of_trap(trap: Trap) -> &'static str {
    match trap {
        Trap::Cumulative => {
            "counted since the server started, warm-up included: take two scrapes and subtract them with --since"
        }
        Trap::Gauge => {
            "a gauge shows the last interval only, and scrapes of it cannot be weighed: prefer counters, a log or requests"
        }
        Trap::PositionIndependent => {
            "V0 counts a draft as accepted that would have been although one before it was rejected: its rate is no share of drafts \
             that came out. Tokens per pass follow from emitted tokens, if every draft had length k"
        }
        Trap::LastLine => "sums since the start: the last line of the input counts",
        Trap::BonusLeftOut => "this version prints the mean length without the bonus token; here it is with it",
        Trap::Rounded => "rounds and positions follow from drafts over k and from rates of three digits",
        Trap::VariedDrafts => {
            "drafts differ in length: a rate at a position mixes what was rejected with what was not drafted"
        }
        Trap::RoundsInferred => {
            "rounds are not printed: they are the decode steps, one for each token that is no accepted draft"
        }
        Trap::RateWithBonus => {
            "SGLang up to 0.5.10 prints a rate that counts the bonus token and the root: here it is accepted over drafted"
        }
        Trap::WeighedByRequests => {
            "lines are weighed by running requests, each standing for as many decode steps: SGLang prints no counts"
        }
        Trap::EndsOfOutputs => {
            "accepted drafts follow from completion tokens, which hold the first token and are cut at the end: biased for short outputs"
        }
        Trap::Unweighed => "a mean over requests or ranks, in which short ones count as much as long ones",
        Trap::OtherTraffic => {
            "the difference of two scrapes: warm-up and whatever else the server did in between are in it"
        }
        Trap::ItlPerChunk => {
            "ITL is the gap between chunks of several tokens, not the time of one: compare TPOT with a run without speculation"
        }
        Trap::Reconstructed => {
            "the tool reconstructs drafts and rounds from output tokens and iterations: good to about a token a request"
        }
        Trap::Proxy => "tokens of a streamed chunk stand for tokens of a round: engines may join or split chunks",
        Trap::RandomPrompts => "suspect: prompts were random, and acceptance on them says nothing of real ones",
        Trap::Restarted => "counters fell: the server restarted, and what it counted before the restart is missing",
        Trap::Diffusion => "lines of diffusion models were passed over: they tell of no drafts",
        Trap::Contradiction => {
            "positions do not add up to the accepted drafts: counters of different moments or engines"
        }
        Trap::CutOff => "the input breaks off in the middle of a value: what came before it is counted",
        Trap::Tree => {
            "drafts form a tree: more of them than levels, so that accepted over drafted cannot reach 1 and alpha is that of a level"
        }
        Trap::Repeated => "a series came more than once: the last value counts",
    }
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
