//! Tables of a decision: the best draft length by batch, drafters beside each other, break-even, memory, latency.

use comfy_table::Table;

use crate::plan::breakeven::alpha_to_pay;
use crate::plan::full::at_full;
use crate::plan::latency::{end_to_end, plain, speculative};
use crate::plan::rivals::{break_even, winner};
use crate::report::number::{thousands, times};
use crate::report::plan::Seen;
use crate::report::plan::words::{percent, ranges};
use crate::report::table::{Style, composed, right, table};
use crate::units::Seconds;

fn headed(names: &[&str], style: Style) -> Table {
    table(&names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>(), style)
}

fn cells(row: Vec<String>) -> Vec<comfy_table::Cell> {
    row.into_iter().map(right).collect()
}

impl Seen<'_, '_, '_> {
    /// The best draft length by batch, a column for each drafter.
    #[must_use]
    pub fn best_by_batch(&self, style: Style) -> String {
        let drafters = self.case.members.iter().map(|&member| self.candidate(member).drafter.label.as_str());
        let names: Vec<&str> = std::iter::once("batch").chain(drafters).collect();
        let mut rows = headed(&names, style);
        let (mut carried, mut crowded, mut few, mut off, mut unvalidated) = (false, false, false, false, false);
        for row in self.case.rows.iter().filter(|row| self.planned.shown.contains(&row.batch)) {
            let best = winner(&row.rivals);
            let mut line = vec![row.batch.to_string()];
            for (at, rival) in row.rivals.iter().enumerate() {
                let here = &self.decision.lines[self.case.context][self.case.members[at]].here;
                let place = here.at(row.batch);
                let is_few = |k: u64| here.length(k).is_some_and(|length| place.running(length) < place.base_running);
                line.push(match rival.best {
                    None if here.lengths.is_empty() => "off  ".to_owned(),
                    None => {
                        crowded = true;
                        "-  ".to_owned()
                    }
                    Some(choice) if choice.speedup <= 1.0 => {
                        off = true;
                        few |= is_few(choice.k);
                        format!("off ({}){} ", times(choice.speedup), if is_few(choice.k) { "!" } else { " " })
                    }
                    Some(choice) => {
                        let known = here.length(choice.k).and_then(|length| length.known.note());
                        carried |= known.is_some();
                        let is_unvalidated = self.decision.setting.is_unvalidated(
                            Some(here.candidate.drafter),
                            row.batch,
                            here.context,
                            choice.k,
                        );
                        unvalidated |= is_unvalidated;
                        few |= is_few(choice.k);
                        let marks = [(is_few(choice.k), "!"), (known.is_some(), "~"), (is_unvalidated, "?")];
                        let mark: String = marks.iter().filter(|(holds, _)| *holds).map(|(_, mark)| *mark).collect();
                        let mark = format!("{mark:2}");
                        let star = if best == Some(at) && row.rivals.len() > 1 { "*" } else { "" };
                        format!("{star}k={} {}{mark}", choice.k, times(choice.speedup))
                    }
                });
            }
            rows.add_row(cells(line));
        }
        let notes = [
            (self.case.members.len() > 1, "*: the best drafter of the row"),
            (carried, "~: tokens per pass carried over from another k or context"),
            (unvalidated, "?: no published measurement of such hardware, drafter, batch or context stands behind it"),
            (off, "off: no draft length gains; in brackets the best there is"),
            (few, "!: fewer sequences run with it than plainly, the others wait: by throughput"),
            (crowded, "-: no sequence runs with any draft length"),
        ];
        let notes = notes.into_iter().filter(|(holds, _)| *holds).map(|(_, note)| note.to_owned()).collect();
        composed("Best draft length and its speedup", &rows, notes, style)
    }

    /// Drafters beside each other at the batch that decides.
    #[must_use]
    pub fn drafters(&self, style: Style) -> Option<String> {
        let at = self.case.verdict.decisive()?;
        let row = self.case.rows.iter().find(|row| row.batch == at.batch)?;
        if row.rivals.len() < 2 {
            return None;
        }
        let names = ["drafter", "k", "speedup", "tokens per pass", "best from", "alpha for that"];
        let mut rows = headed(&names, style);
        for (place, rival) in row.rivals.iter().enumerate() {
            let label = self.candidate(self.case.members[place]).drafter.label.clone();
            let Some((best, tokens)) = rival.best.zip(rival.tokens) else {
                rows.add_row(cells(vec![label, "-".to_owned(), "does not run".to_owned()]));
                continue;
            };
            let level = rival.level.filter(|level| *level <= best.k as f64 + 1.0);
            let alpha = level.and_then(|level| alpha_to_pay(level, best.k));
            let beyond = rival.level.map_or_else(String::new, |level| format!("{level:.2}, "));
            rows.add_row(cells(vec![
                label,
                best.k.to_string(),
                times(best.speedup),
                format!("{tokens:.2}"),
                level.map_or_else(|| format!("{beyond}out of reach"), |level| format!("{level:.2}")),
                alpha.map_or_else(|| "-".to_owned(), |alpha| format!("{:.2}", alpha.get())),
            ]));
        }
        let title = format!("Drafters at {}", self.batch_name(at.batch));
        let notes = vec![
            "best from: tokens per pass, at this k, from which on it beats the others and plain decoding; alpha: as if every draft had the same chance"
                .to_owned(),
        ];
        Some(composed(&title, &rows, notes, style))
    }

    /// What each draft length has to yield at the batch that decides.
    #[must_use]
    pub fn break_even(&self, style: Style) -> Option<String> {
        let verdict = &self.case.verdict;
        let at = verdict.decisive().filter(|at| at.running > 0)?;
        let along = &self.decision.lines[self.case.context][verdict.candidate?];
        let lines = break_even(&along.here, at.batch);
        if lines.is_empty() {
            return None;
        }
        let told = |windows: &[(u64, u64)]| if windows.is_empty() { "none".to_owned() } else { ranges(windows) };
        let equal = along.pays != along.priced;
        let mut names = vec!["k", "tokens per pass", "to pay", "alpha to pay", "speedup", "pays at batch"];
        names.extend(equal.then_some("at equal batch"));
        names.push("kept at all loses");
        let mut rows = headed(&names, style);
        for ((line, pays), priced) in lines.iter().zip(&along.pays).zip(&along.priced) {
            let k = line.length.k;
            let alpha = line.tokens.and_then(|tokens| alpha_to_pay(tokens, k));
            let fixed = along.fixed.iter().find(|fixed| fixed.k == k);
            let mark = if line.length.known.note().is_some() { "~" } else { " " };
            let runs = if line.length.runs(at.base_running) { "" } else { "!" };
            let mut row = vec![
                k.to_string(),
                format!("{:.2}{mark}", line.length.tokens),
                line.tokens.map_or_else(|| "never".to_owned(), |tokens| format!("{tokens:.2}")),
                alpha.map_or_else(|| "-".to_owned(), |alpha| format!("{:.2}", alpha.get())),
                if line.speedup > 0.0 { format!("{}{runs}", times(line.speedup)) } else { "does not run".to_owned() },
                told(pays),
            ];
            row.extend(equal.then(|| told(priced)));
            row.push(fixed.map_or_else(String::new, |fixed| percent(fixed.mean)));
            rows.add_row(cells(row));
        }
        let title = format!("Break-even of {} at {}", self.drafter(), self.batch_name(at.batch));
        let k = self.k().unwrap_or(0);
        let most = along.here.length(k).and_then(|length| length.capacity.running).filter(|most| *most < along.last);
        let room = most.map_or_else(String::new, |most| format!(", of which {most} run with k = {k}"));
        let mut notes = vec![format!(
            "pays at batch: where it is faster than plain decoding, up to {}{room}; kept at all loses: on average against the best of each batch",
            along.last
        )];
        if equal {
            notes
                .push(format!("at equal batch: by price alone, whether so many run or not, up to {}", along.priced_to));
        }
        if lines.iter().any(|line| !line.length.runs(at.base_running)) {
            notes.push("!: fewer sequences run with it than plainly, the others wait: by throughput".to_owned());
        }
        if along.here.candidate.setup.looks_up() {
            notes.push(
                "to pay: the fewest that do; with fewer accepted drafts fewer sequences propose, and verification is narrower, so that more \
                 tokens may lose again"
                    .to_owned(),
            );
        }
        Some(composed(&title, &rows, notes, style))
    }

    /// Memory and throughput of each drafter where as many sequences run as can.
    #[must_use]
    pub fn capacity(&self, style: Style) -> Option<String> {
        let planned = self.planned;
        let mut names = vec!["", "sequences", "KV tokens", "tokens/s", "per GPU", "ratio"];
        names.extend(planned.price.as_ref().map(|_| "$ per 1M tokens"));
        names.extend(planned.rate.map(|_| "GPUs for the rate"));
        let mut rows = headed(&names, style);
        let lines = &self.decision.lines[self.case.context];
        let line = |name: String, running: u64, kv: Option<u64>, tokens: f64, devices: u64, ratio: String| {
            let each = tokens / devices as f64;
            let mut row = vec![
                name,
                running.to_string(),
                kv.map_or_else(|| "-".to_owned(), |kv| thousands(kv as f64)),
                thousands(tokens),
                thousands(each),
                ratio,
            ];
            row.extend(planned.price.as_ref().map(|price| format!("{:.3}", price.per_million(each))));
            row.extend(planned.rate.map(|rate| {
                let replicas = (rate / tokens).ceil();
                thousands(replicas * devices as f64)
            }));
            cells(row)
        };
        let mut any = false;
        for &member in &self.case.members {
            let here = &lines[member].here;
            let Some(full) = at_full(here) else { continue };
            let setup = &here.candidate.setup;
            if !any {
                let devices = setup.devices();
                rows.add_row(line(
                    "plain".to_owned(),
                    full.plain_batch,
                    here.alone.kv_tokens,
                    full.plain,
                    devices,
                    String::new(),
                ));
            }
            any = true;
            let kv = here.length(full.k).and_then(|length| length.capacity.kv_tokens);
            let name = format!("{} k={}", here.candidate.drafter.label, full.k);
            if full.batch == 0 {
                rows.add_row(cells(vec![name, "0".to_owned(), "0".to_owned(), "does not run".to_owned()]));
                continue;
            }
            let devices = setup.devices() + setup.own_devices();
            let ratio = times(full.ratio());
            rows.add_row(line(name, full.batch, kv, full.speculative, devices, ratio));
        }
        let mut notes = vec![
            "each with as many sequences as it runs; served steps at high concurrency took up to twice as long as priced: tokens/s are too high and \
             GPUs too few, ratios hold"
                .to_owned(),
        ];
        notes.extend(planned.price.as_ref().map(|price| match &price.dated {
            None => format!("at ${} for a GPU and hour, as you said", price.usd),
            Some(date) => format!(
                "at ${} for a GPU and hour, the catalog's of {date}: prices move, --price takes yours",
                price.usd
            ),
        }));
        if planned.price.is_none() {
            notes.push("what a GPU costs is not known: --price takes it".to_owned());
        }
        notes.extend(planned.rate.map(|rate| format!("whole replicas for {} tokens/s in all", thousands(rate))));
        any.then(|| composed("Memory full", &rows, notes, style))
    }

    /// What a user waits for at the batches that count, on and off.
    #[must_use]
    pub fn latency(&self, style: Style) -> Option<String> {
        let verdict = &self.case.verdict;
        let candidate = verdict.candidate?;
        let here = &self.decision.lines[self.case.context][candidate].here;
        let process = here.candidate.process(self.context());
        let output = self.planned.output_tokens;
        let whole = format!("{output} tokens");
        let whole_off = format!("{output} plainly");
        let names = ["batch", "k", "ms per token", "plainly", "tokens/s a user", "plainly", &whole, &whole_off];
        let mut rows = headed(&names, style);
        let batches: Vec<u64> = verdict.at.iter().filter(|at| at.running > 0).map(|at| at.running).collect();
        for batch in batches {
            let on = speculative(here, std::iter::once(batch));
            let off = plain(&here.candidate.setup, here.context, std::iter::once(batch));
            let (Some(on), Some(off)) = (on.first(), off.first()) else { continue };
            let milliseconds = |seconds: f64| format!("{:.2}", 1e3 * seconds);
            rows.add_row(cells(vec![
                batch.to_string(),
                on.k.to_string(),
                milliseconds(on.per_token),
                milliseconds(off.per_token),
                format!("{:.0}", on.per_user()),
                format!("{:.0}", off.per_user()),
                Seconds::new(end_to_end(on, &process, output)).to_string(),
                Seconds::new(end_to_end(off, &process, output)).to_string(),
            ]));
        }
        let notes = vec![
            "an output's whole time: decoding after its first token, with the drafts that are thrown away at its end; no prefill, no queue"
                .to_owned(),
        ];
        (rows.row_count() > 0).then(|| composed(&format!("Latency with {}", self.drafter()), &rows, notes, style))
    }
}
