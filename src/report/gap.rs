//! Why a measured gain is what it is, as text and JSON.

use serde_json::{Value, json};

use crate::evidence::gap::{Cause, Gap};
use crate::report::number::{shortest, times};
use crate::report::plan::text::listed;
use crate::report::plan::words::Line;
use crate::report::table::Style;
use crate::units::Seconds;

/// What people read of a gap.
#[must_use]
pub fn text(gap: &Gap, causes: &[Cause], style: Style) -> String {
    listed("Measured against predicted", &lines(gap, causes), style)
}

fn lines(gap: &Gap, causes: &[Cause]) -> Vec<Line> {
    let line = |about: &'static str, says: String| Line { about, says };
    let steps = |steps: f64| shortest((steps * 100.0).round() / 100.0);
    let seconds = |seconds: f64| Seconds::new(seconds).to_string();
    let batch = |batch: f64| shortest((batch * 10.0).round() / 10.0);
    let gain = format!(
        "{} measured by time per token, {} predicted with its {} tokens per pass at k = {}",
        times(gap.measured()),
        times(gap.priced()),
        steps(gap.tokens),
        gap.k
    );
    let plain = format!(
        "{} measured at batch {}, {} predicted",
        seconds(gap.off.measured),
        batch(gap.off.batch),
        seconds(gap.off.priced)
    );
    let round = format!(
        "{} measured at batch {}, {} predicted: {} plain steps, not {}",
        seconds(gap.on.measured),
        batch(gap.on.batch),
        seconds(gap.on.priced),
        steps(gap.cost()),
        steps(gap.priced_cost())
    );
    let mut all =
        vec![line("gain", gain), line("plain step", plain), line("round", round), line("not explained", rest(gap))];
    let (cautions, causes): (Vec<&Cause>, Vec<&Cause>) = causes.iter().partition(|cause| cause.is_caution());
    all.extend(causes.iter().map(|cause| line("likely cause", told(cause))));
    if causes.is_empty() {
        let none = "none shows: the price is off by no more than published ones are";
        all.push(line("likely cause", none.to_owned()));
    }
    all.extend(cautions.iter().map(|cause| line("beware", told(cause))));
    all
}

fn rest(gap: &Gap) -> String {
    let off = 100.0 * (gap.unexplained() - 1.0);
    let word = if off < 0.0 { "shorter" } else { "longer" };
    format!(
        "rounds are {:.0} % {word} than their price in plain steps, {} each",
        off.abs(),
        Seconds::new(gap.excess().abs())
    )
}

fn told(cause: &Cause) -> String {
    let whole = |number: f64| shortest(number.round());
    match *cause {
        Cause::Defect => "nothing is accepted: a head of another model or format, or prompts without the chat template; that is a defect and no bad drafter".to_owned(),
        Cause::RandomPrompts => "prompts are random tokens, on which acceptance says nothing of real traffic: measure with prompts of yours".to_owned(),
        Cause::Gaps { by_gaps, by_tokens } => format!(
            "the gaps between chunks (ITL) give {}, the time per token (TPOT) {}: with drafts a chunk holds several tokens, so that only TPOT compares",
            times(by_gaps),
            times(by_tokens)
        ),
        Cause::BeyondCapture { tokens, largest } => format!(
            "a round verifies {} tokens together, and the largest captured graph has {largest}: it runs outside graphs; capture as many as run together, times k + 1 where tokens are counted",
            whole(tokens)
        ),
        Cause::Eager => "graphs are switched off: each layer of each draft pass is launched by the host".to_owned(),
        Cause::Capped { limit, clients } => format!(
            "with speculation the engine runs {limit} requests at once unless told otherwise, and {} clients asked: the rest waits; give --max-running-requests",
            whole(clients)
        ),
        Cause::Limited { limit, clients } => {
            format!("the command lets {limit} requests run at once, and {} clients asked: the rest waits in both runs", whole(clients))
        }
        Cause::Unlike => "the two runs differ in clients or in the lengths of their requests: their gain is not that of speculation alone".to_owned(),
        Cause::Failed(count) => format!("{} requests failed", whole(count)),
        Cause::Faster(times_as_fast) => format!(
            "plain steps are {} times as fast as priced: other hardware, number formats or load than the command says",
            shortest((times_as_fast * 10.0).round() / 10.0)
        ),
        Cause::Fewer { on, off } => format!(
            "{} sequences decode at once with speculation and {} without, for as many clients: memory or a limit makes them wait",
            whole(on),
            whole(off)
        ),
        Cause::Preempted(count) => format!("{} sequences were thrown out of memory and begun again: the drafter takes the place of KV cache", whole(count)),
        Cause::Prefill(share) => format!("{:.0} % of each round is prefill of other requests, which speculation does not shorten", 100.0 * share),
        Cause::Host(excess) => format!(
            "{} of each round no pass takes: host work between drafts, or drafts outside graphs; look for synchronous scheduling, sampling on the host, and graph breaks",
            Seconds::new(excess)
        ),
        Cause::SlowPlain(times_as_long) => format!(
            "plain decoding takes {} times its price: a slow baseline flatters speculation",
            shortest((times_as_long * 10.0).round() / 10.0)
        ),
    }
}

/// The same for programs.
#[must_use]
pub fn document(gap: &Gap, causes: &[Cause]) -> Value {
    let half = |of: &crate::evidence::gap::Half| json!({ "batch": of.batch, "measured_s": of.measured, "predicted_s": of.priced, "prefill_s": of.prefill });
    json!({
        "tokens_per_pass": gap.tokens,
        "k": gap.k,
        "gain": { "measured": gap.measured(), "predicted": gap.priced() },
        "round_in_plain_steps": { "measured": gap.cost(), "predicted": gap.priced_cost() },
        "unexplained": gap.unexplained(),
        "excess_s": gap.excess(),
        "off": half(&gap.off),
        "on": half(&gap.on),
        "causes": causes.iter().map(|cause| json!({ "cause": word(cause), "is_caution": cause.is_caution(), "says": told(cause) })).collect::<Vec<_>>(),
    })
}

const fn word(cause: &Cause) -> &'static str {
    match cause {
        Cause::Defect => "acceptance-about-1",
        Cause::RandomPrompts => "random-prompts",
        Cause::Gaps { .. } => "itl-for-tpot",
        Cause::BeyondCapture { .. } => "beyond-captured-graphs",
        Cause::Eager => "no-graphs",
        Cause::Capped { .. } => "capped-running-requests",
        Cause::Fewer { .. } => "fewer-running",
        Cause::Limited { .. } => "limited-running-requests",
        Cause::Unlike => "unlike-runs",
        Cause::Failed(_) => "failed-requests",
        Cause::Faster(_) => "faster-than-priced",
        Cause::Preempted(_) => "preemption",
        Cause::Prefill(_) => "prefill-share",
        Cause::Host(_) => "host-bound-rounds",
        Cause::SlowPlain(_) => "slow-baseline",
    }
}
