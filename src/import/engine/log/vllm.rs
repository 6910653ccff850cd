//! vLLM's log lines, of V0 and of all versions of V1.

use crate::domain::observed::{Stamp, Window};
use crate::import::engine::log::rounds;
use crate::import::engine::scan::{number, numbers};
use crate::import::engine::stamp::find;
use crate::words::{Printout, Trap};

/// What lines of vLLM leave for later ones.
#[derive(Debug)]
pub(super) struct Vllm {
    k: Option<u64>,
    /// Drafted, emitted and accepted tokens of the last cumulative line of V0.
    last: Option<[f64; 3]>,
    /// Generated tokens per second of the line with the load, not yet set beside drafts.
    load: Option<(Stamp, f64)>,
    /// Drafts not yet set beside a load.
    drafts: Option<Drafts>,
}

/// Accepted drafts of a window, and how many a second.
#[derive(Clone, Debug)]
struct Drafts {
    at: Stamp,
    rank: Option<String>,
    accepted: f64,
    speed: f64,
}

impl Vllm {
    pub(super) const fn new(k: Option<u64>) -> Self {
        Self { k, last: None, load: None, drafts: None }
    }

    /// The draft length that lines with positions had.
    pub(super) const fn k(&self) -> Option<u64> {
        self.k
    }

    pub(super) fn line(&mut self, line: &str, take: &mut dyn FnMut(Window)) -> bool {
        if let Some(at) = line.find("SpecDecoding metrics:") {
            self.drafted(&line[..at], &line[at..], take);
        } else if let Some(at) = line.find("Speculative metrics:") {
            self.cumulative(&line[..at], &line[at..], take);
        } else if line.contains("DiffusionDecoding metrics:") {
            let window = Window::of(Printout::VllmLog);
            take(Window { at: find(line), drafted: Some(0.0), traps: vec![Trap::Diffusion], ..window });
        } else if let Some(speed) =
            number(line, "Avg generation throughput:").or_else(|| number(line, "Avg generation tput:"))
        {
            self.loaded(find(line), speed, take);
        } else {
            return false;
        }
        true
    }

    /// A window of the V1 engine.
    fn drafted(&mut self, before: &str, text: &str, take: &mut dyn FnMut(Window)) {
        let (Some(accepted), Some(drafted)) = (number(text, " Accepted: "), number(text, " Drafted: ")) else { return };
        let at = find(before);
        let mut window =
            Window { at, accepted: Some(accepted), drafted: Some(drafted), ..Window::of(Printout::VllmLog) };
        window.group.rank = rank(before);
        let rates = numbers(text, "Per-position acceptance rate: ");
        if !rates.is_empty() {
            self.k = Some(rates.len() as u64);
        }
        window.k = self.k;
        let printed = number(text, "Mean acceptance length: ").filter(|length| length.is_finite());
        let length = printed.map(|length| {
            if self.leaves_bonus_out(text, accepted, drafted, length, &rates) {
                window.traps.push(Trap::BonusLeftOut);
                return length + 1.0;
            }
            length
        });
        if let Some(rounds) = rounds(accepted, drafted, length, &rates, self.k) {
            window.rounds = Some(rounds.count).filter(|_| !rounds.contradicts);
            let passed = |rate: &f64| if rounds.exact { (rate * rounds.count).round() } else { rate * rounds.count };
            window.passed = rates.iter().filter(|_| !rounds.contradicts).map(passed).collect();
            // Rounding may leave the positions a little off the count of all, which is exact.
            window.traps.push(rounds.trap(self.k));
        }
        let rank = window.group.rank.clone();
        take(window);
        let speed = number(text, "Accepted throughput: ").filter(|speed| *speed > 0.0);
        if let (Some(at), Some(speed)) = (at, speed) {
            let drafts = Drafts { at, rank, accepted, speed };
            match self.load.take().filter(|(of, _)| *of == at) {
                Some((_, load)) => take(steps(drafts, load)),
                None => self.drafts = Some(drafts),
            }
        }
    }

    /// Versions up to 0.8.5 print the length without the bonus, in the words of later ones: the figures beside it tell.
    fn leaves_bonus_out(&self, text: &str, accepted: f64, drafted: f64, length: f64, rates: &[f64]) -> bool {
        // Only the order of words of those versions puts the rate first.
        if text.contains("Accepted throughput") {
            return false;
        }
        let mean = match (rates.is_empty(), self.k) {
            (false, _) => rates.iter().sum::<f64>(),
            (true, Some(k)) => accepted * k as f64 / drafted,
            (true, None) => return false,
        };
        (length - mean).abs() < (length - 1.0 - mean).abs()
    }

    /// Running sums of the V0 engine: each line counts what came since the one before.
    fn cumulative(&mut self, before: &str, text: &str, take: &mut dyn FnMut(Window)) {
        let of = |label: &str| number(text, label);
        let sums = ["Number of draft tokens: ", "Number of emitted tokens: ", "Number of accepted tokens: "].map(of);
        let [Some(drafted), Some(emitted), accepted] = sums else { return };
        let sums = [drafted, emitted, accepted.unwrap_or(f64::NAN)];
        let k = of("Number of speculative tokens: ").filter(|k| *k >= 1.0).map(|k| k as u64);
        let last = self.last.replace(sums).unwrap_or_default();
        // Sums that fall have begun anew.
        let fell = sums.iter().zip(last).any(|(sum, before)| *sum < before);
        let last = if fell { [0.0; 3] } else { last };
        let [drafted, emitted, accepted] = [0, 1, 2].map(|at| sums[at] - last[at]);
        let mut window = Window { at: find(before), ..v0(Printout::VllmV0Log, k, drafted, emitted) };
        window.independent = Some(accepted).filter(|accepted| accepted.is_finite());
        window.traps.extend(fell.then_some(Trap::Restarted));
        take(window);
    }

    /// The line with the load comes before or after the one with drafts, at the same moment.
    fn loaded(&mut self, at: Option<Stamp>, speed: f64, take: &mut dyn FnMut(Window)) {
        let Some(at) = at else { return };
        match self.drafts.take().filter(|drafts| drafts.at == at) {
            Some(drafts) => take(steps(drafts, speed)),
            None => self.load = Some((at, speed)),
        }
    }
}

/// The data-parallel rank that a process prints before its lines: `(EngineCore_DP1 pid=4)`.
fn rank(before: &str) -> Option<String> {
    let at = before.find("EngineCore_")? + "EngineCore_".len();
    let digits: String = before[at..].trim_start_matches("DP").chars().take_while(char::is_ascii_digit).collect();
    (!digits.is_empty()).then_some(digits)
}

/// All decode steps of a window: each brings one token besides accepted drafts.
fn steps(drafts: Drafts, load: f64) -> Window {
    let Drafts { at, rank, accepted, speed } = drafts;
    let seconds = accepted / speed;
    let (tokens, rounds) = (load * seconds, (load - speed) * seconds);
    let steps = (rounds > 0.0 && tokens.is_finite()).then_some((tokens, rounds));
    let mut window = Window { at: Some(at), steps, ..Window::of(Printout::VllmLog) };
    window.group.rank = rank;
    window
}

/// What the V0 engine tells. It counts a draft as accepted that would have been although one before it was rejected: only emitted
/// tokens say what came out, in drafted / k rounds, each of which emits one more than it accepts.
pub(in crate::import::engine) fn v0(format: Printout, k: Option<u64>, drafted: f64, emitted: f64) -> Window {
    let rounds = k.map(|k| drafted / k as f64).filter(|rounds| *rounds > 0.0 && emitted >= *rounds);
    Window {
        k,
        rounds,
        drafted: Some(drafted),
        accepted: rounds.map(|rounds| emitted - rounds),
        traps: vec![Trap::PositionIndependent],
        ..Window::of(format)
    }
}
