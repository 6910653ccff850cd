//! Lines of llama.cpp: after a request, statistics by kind of draft, and of its examples.

use std::collections::BTreeMap;

use crate::domain::observed::Window;
use crate::import::engine::log::rounds;
use crate::import::engine::scan::{leading, number, numbers};
use crate::import::engine::stamp::find;
use crate::words::{Printout, Trap};

/// What lines of llama.cpp leave for later ones.
#[derive(Debug)]
pub(super) struct Llama {
    k: Option<u64>,
    /// The most positions that lines of requests had.
    positions: Option<u64>,
    /// A request whose rates by position may follow.
    open: Option<Window>,
    /// The last cumulative line of each kind of draft.
    last: BTreeMap<String, Window>,
    /// Figures of an example.
    example: BTreeMap<&'static str, f64>,
}

impl Llama {
    pub(super) const fn new(k: Option<u64>) -> Self {
        Self { k, positions: None, open: None, last: BTreeMap::new(), example: BTreeMap::new() }
    }

    /// The most positions that lines had.
    pub(super) const fn most_positions(&self) -> Option<u64> {
        self.positions
    }

    pub(super) fn line(&mut self, line: &str, take: &mut dyn FnMut(Window)) -> bool {
        if line.contains("#gen drafts") {
            self.statistics(line, take);
        } else if let Some(at) = line.find("draft acceptance") {
            self.request(&line[..at], &line[at..], take);
        } else if line.contains("acc per pos") {
            if let Some(open) = self.open.as_mut().filter(|open| open.passed.is_empty()) {
                positions(open, &numbers(line, "acc per pos"));
            }
        } else {
            return self.figure(line, take);
        }
        true
    }

    fn request(&mut self, before: &str, text: &str, take: &mut dyn FnMut(Window)) {
        let Some(open) = text.find('(') else { return };
        let inside = &text[open + 1..];
        let drafted = inside.find('/').and_then(|at| leading(&inside[at + 1..]));
        let (Some(accepted), Some(drafted)) = (leading(inside), drafted) else { return };
        let length = number(text, "mean acceptance length").or_else(|| number(text, "mean len"));
        let rates = numbers(text, "acceptance rate per position");
        let mut window = Window {
            at: find(before),
            k: self.k,
            accepted: Some(accepted),
            drafted: Some(drafted),
            ..Window::of(Printout::LlamaLog)
        };
        let k = (!rates.is_empty()).then_some(rates.len() as u64).or(self.k);
        self.positions = self.positions.max(k);
        if let Some(rounds) = length.and_then(|length| rounds(accepted, drafted, Some(length), &rates, k)) {
            window.rounds = Some(rounds.count).filter(|_| !rounds.contradicts);
            window.traps.push(rounds.trap(k));
            positions(&mut window, &rates);
        }
        if let Some(open) = self.open.replace(window) {
            take(open);
        }
    }

    /// Sums since the start: only the last line of a kind counts.
    fn statistics(&mut self, line: &str, take: &mut dyn FnMut(Window)) {
        let of = |label: &str| number(line, label);
        let rounds = of("#gen drafts");
        let (Some(rounds), Some(drafted), Some(accepted)) = (rounds, of("#gen tokens"), of("#acc tokens")) else {
            return;
        };
        let rates = numbers(line, "#acc rate/pos");
        let kind = line.split("statistics").nth(1).and_then(|rest| rest.split(':').next()).unwrap_or_default().trim();
        let mut window = Window {
            at: find(line),
            rounds: Some(rounds),
            drafted: Some(drafted),
            accepted: Some(accepted),
            traps: vec![Trap::LastLine],
            ..Window::of(Printout::LlamaStatistics)
        };
        window.group.model = Some(kind.to_owned()).filter(|kind| !kind.is_empty());
        positions(&mut window, &rates);
        let fell = |last: &Window| last.drafted.is_some_and(|before| before > drafted);
        if let Some(last) = self.last.insert(kind.to_owned(), window).filter(fell) {
            take(Window { traps: [last.traps.clone(), vec![Trap::Restarted]].concat(), ..last });
        }
    }

    /// `n_drafted = 300` and its like, one on each line.
    fn figure(&mut self, line: &str, take: &mut dyn FnMut(Window)) -> bool {
        let of =
            |name: &'static str| line.contains(name).then(|| number(line, name)).flatten().map(|value| (name, value));
        let found = ["n_drafted", "n_accept ", "n_predict ", "n_draft "].into_iter().find_map(of);
        let Some((name, value)) = found else { return false };
        if self.example.contains_key(name) {
            self.close_example(take);
        }
        self.example.insert(name, value);
        true
    }

    fn close_example(&mut self, take: &mut dyn FnMut(Window)) {
        let example = std::mem::take(&mut self.example);
        let of = |name: &str| example.get(name).copied();
        let (Some(drafted), Some(accepted)) = (of("n_drafted"), of("n_accept ")) else { return };
        let rounds = of("n_predict ").map(|predicted| predicted - accepted).filter(|rounds| *rounds > 0.0);
        take(Window {
            k: of("n_draft ").filter(|k| *k >= 1.0).map(|k| k as u64).or(self.k),
            rounds,
            drafted: Some(drafted),
            accepted: Some(accepted),
            traps: vec![Trap::RoundsInferred],
            ..Window::of(Printout::LlamaExample)
        });
    }

    pub(super) fn end(&mut self, take: &mut dyn FnMut(Window)) {
        self.close_example(take);
        self.open.take().into_iter().for_each(&mut *take);
        std::mem::take(&mut self.last).into_values().for_each(take);
    }
}

/// Rounds by position from printed rates.
fn positions(window: &mut Window, rates: &[f64]) {
    let Some(rounds) = window.rounds.filter(|_| !rates.is_empty()) else { return };
    let whole = rounds.fract() == 0.0;
    window.passed = rates.iter().map(|rate| if whole { (rate * rounds).round() } else { rate * rounds }).collect();
    window.k = Some(rates.len() as u64);
}
