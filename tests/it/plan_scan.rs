//! The decision against a scan of every point by the rows of a sweep, on random studies.

use std::fmt::Write as _;
use std::path::Path;

use specplan::catalog::load::{Loaded, Request, load};
use specplan::catalog::lookup::SearchPath;
use specplan::domain::scenario::Scenario;
use specplan::plan::along::{Along, by_context};
use specplan::plan::breakeven::alpha_to_pay;
use specplan::plan::candidate::Candidate;
use specplan::plan::decision::members;
use specplan::plan::rivals::{break_even, rivals, winner};
use specplan::plan::setting::Setting;
use specplan::plan::spans::where_holds;
use specplan::rng::Generator;
use specplan::sweep::grid::Grid;
use specplan::sweep::row::Row;
use specplan::sweep::run::Pricer;

use crate::program::folder;

const STUDIES: u64 = 1000;

/// Picks of a seeded generator.
struct Random(Generator);

impl Random {
    fn below(&mut self, most: u64) -> u64 {
        (self.0.uniform() * most as f64) as u64
    }

    fn between(&mut self, low: f64, high: f64) -> f64 {
        low * (high / low).powf(self.0.uniform())
    }

    fn one<'a>(&mut self, of: &[&'a str]) -> &'a str {
        of[self.below(of.len() as u64) as usize]
    }
}

const TARGETS: [&str; 7] =
    ["llama-3.1-8b", "llama-3.2-3b", "qwen3-30b-a3b", "mixtral-8x7b", "deepseek-v2-lite", "gemma-3-4b", "gpt-oss-20b"];
const ENGINES: [&str; 6] = ["vllm", "sglang", "hf-eager", "ideal", "generic-graph", "sglang-host-bound"];

fn hardware(random: &mut Random) -> String {
    format!(
        "name = \"made\"\nfamily = \"hopper\"\n[memory]\ncapacity = \"{:.0} GB\"\nbandwidth = \"{:.3} TB/s\"\nsource = \"made\"\n\
         [peak]\nbf16 = \"{:.1} TFLOP/s\"\ndensity = \"dense\"\nsource = \"made\"\n\
         [link]\nkind = \"made\"\nbandwidth = \"{:.0} GB/s\"\ndomain = 8\nsource = \"made\"\n",
        random.between(100.0, 300.0),
        random.between(0.3, 8.0),
        random.between(40.0, 2500.0),
        random.between(20.0, 900.0),
    )
}

fn drafter(random: &mut Random, target: &str, at: u64) -> String {
    let alpha = random.between(0.05, 0.97);
    let kinds = [
        "eagle = { version = 3 }",
        "eagle = { version = 1 }",
        "ngram = {}",
        "block = { block = 12 }",
        "medusa = { heads = 12 }",
        "sparse_kv = { budget = 512 }",
        "layer_skip = { layers = 4 }",
        "constant = { cost_ratio = 0.06 }",
    ];
    let own = if target.starts_with("llama") && random.below(4) == 0 {
        "model = { id = \"llama-3.2-1b\" }"
    } else {
        random.one(&kinds)
    };
    let acceptance = match random.below(5) {
        0 => format!("mean_length = {{ tokens = {:.3}, k = 3 }}", 1.0 + 3.0 * alpha),
        1 => format!("by_k = {{ \"1\" = {:.3}, \"4\" = {:.3} }}", 1.0 + alpha, 1.0 + alpha + alpha * alpha * 2.0),
        2 => format!("beta = {{ mean = {alpha:.3}, concentration = 4.0, scope = \"round\" }}"),
        3 => format!("per_position = {{ conditional = [{alpha:.3}, {:.3}] }}", alpha * 0.9),
        _ => format!("iid = {{ alpha = {alpha:.3} }}"),
    };
    format!("[drafters.d{at}]\n{own}\nacceptance.{acceptance}\n")
}

/// A study, in which windows end in all ways: by price, by memory, by limits.
fn study(random: &mut Random) -> String {
    let target = random.one(&TARGETS);
    let tensor_parallel = if random.below(3) == 0 { 4 } else { 1 };
    let mut text = format!(
        "title = \"made\"\nhardware = \"./gpu.toml\"\ntarget = \"{target}\"\nengine = \"{}\"\ntensor_parallel = {}\n",
        random.one(&ENGINES),
        if matches!(target, "deepseek-v2-lite" | "gemma-3-4b") { 1 } else { tensor_parallel },
    );
    for at in 0..=random.below(3) {
        text += &drafter(random, target, at);
    }
    let last = 8 + random.below(70);
    let context = random.between(1.0, 30_000.0) as u64;
    let most = 1 + random.below(9);
    let _ = writeln!(
        text,
        "[sweep]\nbatch = {{ from = 1, to = {last}, step = 1 }}\nk = {{ from = 1, to = {most}, step = 1 }}\ncontext = [{context}]"
    );
    // Without one, every batch that memory holds would be looked at, thousands of small models.
    let _ =
        writeln!(text, "[limits]\nmax_num_seqs = {}", if random.below(5) == 0 { 24 } else { last + random.below(20) });
    match random.below(4) {
        0 => text += "max_num_batched_tokens = 96\n",
        1 => text += "capture_sizes = { from = 8, to = 96, step = 8 }\n",
        _ => {}
    }
    text
}

fn loaded(folder: &Path, random: &mut Random) -> Loaded {
    std::fs::write(folder.join("gpu.toml"), hardware(random)).unwrap();
    let (path, text) = (folder.join("made.toml"), study(random));
    std::fs::write(&path, &text).unwrap();
    let request = Request { scenario: path.to_str().unwrap(), changes: &[], seed: None, published: false };
    load(&SearchPath::default(), &request).expect(&text)
}

/// Whether the rows of a sweep say that a point runs.
fn runs(row: &Row<'_>) -> bool {
    row.memory.fits && !row.notes.beyond.sequences && !row.notes.beyond.tokens && !row.notes.beyond.length
}

/// The rows of one drafter by batch: what a scan of every point sees.
fn scanned<'g>(grid: &'g Grid<'g>, label: &str) -> Vec<Vec<Row<'g>>> {
    let mut by_batch: Vec<Vec<Row<'g>>> = Vec::new();
    for tile in grid.tiles() {
        for row in Pricer::new(grid).rows(&tile).into_iter().filter(|row| row.labels.drafter == Some(label)) {
            match by_batch.last_mut() {
                Some(last) if last[0].batch == row.batch => last.push(row),
                _ => by_batch.push(vec![row]),
            }
        }
    }
    by_batch
}

/// What the rows of one drafter say of so many sequences that want to be decoded: each way with as many as run.
struct Scan<'g> {
    by_batch: Vec<Vec<Row<'g>>>,
    sequences: u64,
}

impl Scan<'_> {
    fn base_running(&self, batch: u64) -> u64 {
        let runs = |rows: &&Vec<Row<'_>>| rows[0].memory.base_fits && rows[0].batch <= self.sequences;
        self.by_batch[..batch as usize].iter().filter(runs).count() as u64
    }

    /// By throughput; where all run it is the row's own speedup.
    fn speedup(&self, batch: u64, place: usize) -> f64 {
        let alone = self.base_running(batch);
        let running = self.by_batch[..alone as usize].iter().filter(|rows| runs(&rows[place])).count();
        if running == 0 {
            return 0.0;
        }
        let row = &self.by_batch[running - 1][place];
        if running as u64 == alone {
            return row.speedup();
        }
        let speculative = running as f64 * row.tokens_per_pass / row.round().get();
        speculative / (alone as f64 / self.by_batch[alone as usize - 1][0].base_step.get())
    }

    /// The best length of a batch that gains, the smallest of equals.
    fn best(&self, batch: u64) -> (u64, f64) {
        let all = self.by_batch[0].iter().enumerate().map(|(place, row)| (row.k, self.speedup(batch, place)));
        all.fold((0, 1.0), |best, next| if next.1 > best.1 { next } else { best })
    }
}

/// Runs of batches for which something holds, number by number.
fn windows(holds: impl Iterator<Item = (u64, bool)>) -> Vec<(u64, u64)> {
    let mut found: Vec<(u64, u64)> = Vec::new();
    for (batch, _) in holds.filter(|(_, holds)| *holds) {
        match found.last_mut() {
            Some(last) if last.1 + 1 == batch => last.1 = batch,
            _ => found.push((batch, batch)),
        }
    }
    found
}

fn check(scenario: &Scenario, seen: &mut [u64; 4]) {
    let k_max = scenario.axes.k().iter().max().unwrap();
    let (context, last) = (scenario.axes.context().get(0), scenario.axes.batch().iter().max().unwrap());
    let setting = Setting::all(scenario).next().unwrap();
    let candidates = Candidate::all(setting, k_max).unwrap();
    let grid = Grid::new(scenario, u64::MAX).unwrap();
    let lines: Vec<Along<'_, '_>> = candidates.iter().map(|of| Along::new(of, context, last, 1..=last)).collect();
    let sequences = scenario.limits.max_num_seqs.unwrap();
    let scan =
        |along: &Along<'_, '_>| Scan { by_batch: scanned(&grid, &along.here.candidate.drafter.label), sequences };
    let scans: Vec<Scan<'_>> = lines.iter().map(scan).collect();
    for (along, scan) in lines.iter().zip(&scans) {
        assert_eq!(scan.by_batch.len() as u64, last);
        let resident = along.here.resident.running.unwrap_or(last).min(last);
        for batch in 1..=resident {
            let rows = &scan.by_batch[batch as usize - 1];
            assert_eq!(along.k(batch), scan.best(batch).0, "batch {batch}");
            for (of, row) in break_even(&along.here, batch).iter().zip(rows) {
                break_even_is(of, row, along);
            }
        }
        let pays = windows((1..=resident).map(|batch| (batch, scan.best(batch).0 > 0)));
        assert_eq!(up_to(along.windows(), last), pays);
        for (at, own) in along.pays.iter().enumerate() {
            let of = (1..=along.last.min(last)).map(|batch| (batch, scan.speedup(batch, at) > 1.0));
            assert_eq!(up_to(own.clone(), last), windows(of), "k = {}", at + 1);
        }
        for (at, priced) in along.priced.iter().enumerate() {
            let of = scan.by_batch.iter().map(|rows| (rows[at].batch, rows[at].speedup() > 1.0));
            assert_eq!(up_to(priced.clone(), last), windows(of), "k = {}", at + 1);
        }
        fixed_is(along, scan, resident);
        seen[pays.len().min(3)] += 1;
    }
    leader_is(&lines, &scans, last);
}

/// The part of windows up to the study's last batch: they go on to as many sequences as run.
fn up_to(windows: Vec<(u64, u64)>, last: u64) -> Vec<(u64, u64)> {
    windows.into_iter().filter(|(from, _)| *from <= last).map(|(from, to)| (from, to.min(last))).collect()
}

/// Tokens that pay, by the price of the row; of drafts that are looked up by the definition alone, since width follows tokens.
fn break_even_is(of: &specplan::plan::rivals::BreakEven, row: &Row<'_>, along: &Along<'_, '_>) {
    assert_eq!(of.length.k, row.k);
    if !runs(row) {
        // Of fewer sequences than want to run: the place's own speedup with those tokens is 1.
        let place = along.here.at(row.batch);
        let level = of.tokens.map(|tokens| place.speedup(&specplan::plan::candidate::Length { tokens, ..of.length }));
        assert!(
            level
                .is_none_or(|level| (level - 1.0).abs() < 1e-6 || level > 1.0 && along.here.candidate.setup.looks_up())
        );
        return;
    }
    let most = row.k as f64 + 1.0;
    if along.here.candidate.setup.looks_up() {
        let place = along.here.at(row.batch);
        if let Some(tokens) = of.tokens {
            let level = place.speedup(&specplan::plan::candidate::Length { tokens, ..of.length });
            assert!((level - 1.0).abs() < 1e-6 || tokens <= 1.0 + 1e-9, "{level} at {tokens}");
        }
        return;
    }
    let due = row.round().get() / row.base_step.get();
    match of.tokens {
        Some(tokens) => {
            assert!((tokens - due).abs() < 1e-9 * due && due <= most * (1.0 + 1e-12));
            let alpha = alpha_to_pay(tokens, row.k).unwrap().get();
            let brought: f64 = (0..=row.k).map(|power| alpha.powi(power as i32)).sum();
            assert!((brought - tokens.max(1.0)).abs() < 1e-6, "{alpha} brings {brought}, not {tokens}");
        }
        None => assert!(due > most),
    }
}

/// The loss of a draft length that is kept, point by point: none is negative.
fn fixed_is(along: &Along<'_, '_>, scan: &Scan<'_>, resident: u64) {
    for (place, fixed) in along.fixed.iter().enumerate() {
        let (mut sum, mut weight, mut worst) = (0.0, 0.0, f64::NEG_INFINITY);
        for batch in 1..=resident {
            let loss = 1.0 - scan.speedup(batch, place) / scan.best(batch).1;
            assert!(loss >= 0.0);
            sum += loss / batch as f64;
            weight += 1.0 / batch as f64;
            worst = f64::max(worst, loss);
        }
        assert!((fixed.mean - sum / weight).abs() < 1e-9 && (fixed.worst - worst).abs() < 1e-12, "k = {}", fixed.k);
    }
}

/// The best drafter of a batch is the one with the largest speedup of all rows.
fn leader_is(lines: &[Along<'_, '_>], scans: &[Scan<'_>], last: u64) {
    // Every drafter here has one acceptance.
    let here: Vec<_> = lines.iter().map(|along| &along.here).collect();
    for batch in [1, last.div_ceil(2), last] {
        let gains: Vec<f64> = scans.iter().map(|scan| scan.best(batch).1).collect();
        let most = gains.iter().copied().fold(1.0, f64::max);
        match winner(&rivals(&here, batch)) {
            Some(at) => assert!((gains[at] - most).abs() < 1e-12 && most > 1.0),
            None => assert!((most - 1.0).abs() < 1e-12),
        }
    }
}

#[test]
fn a_thousand_random_studies_are_decided_as_a_scan_of_every_point_decides_them() {
    let folder = folder();
    let mut random = Random(Generator::from_seed(11));
    let mut seen = [0; 4];
    for _ in 0..STUDIES {
        let loaded = loaded(folder.path(), &mut random);
        check(&loaded.scenario, &mut seen);
    }
    // Drafters that never pay, that pay in one run of batches, and in several.
    assert!(seen[0] > 100 && seen[1] > 500 && seen[2] > 10, "{seen:?}");
}

/// Windows of context: each border is one, and a scan in steps of 11 sees no other window.
#[test]
fn windows_of_context_are_those_of_a_close_scan() {
    let folder = folder();
    let mut random = Random(Generator::from_seed(12));
    let last = 40_000;
    let mut borders = 0;
    for _ in 0..60 {
        let loaded = loaded(folder.path(), &mut random);
        let setting = Setting::all(&loaded.scenario).next().unwrap();
        let batch = 1 + random.below(60);
        for candidate in Candidate::all(setting, 3).unwrap() {
            let pays = |context: u64| candidate.here(context).choose_for_all(batch).k > 0;
            let found = where_holds(&by_context(&candidate, batch, last), |k| k > 0);
            for context in (1..=last).step_by(11) {
                let inside = found.iter().any(|(from, to)| (*from..=*to).contains(&context));
                assert_eq!(inside, pays(context), "context {context}, {found:?}");
            }
            for (from, to) in found {
                assert!(pays(from) && pays(to) && (from == 1 || !pays(from - 1)) && (to == last || !pays(to + 1)));
                borders += usize::from(from > 1) + usize::from(to < last);
            }
        }
    }
    assert!(borders > 10, "{borders}");
}

/// A drafter with fewer acceptances takes part in every case with its last.
#[test]
fn cases_join_drafters_by_acceptance() {
    let folder = folder();
    let text = "title = \"t\"\nhardware = \"h100-sxm5-80gb\"\ntarget = \"llama-3.1-8b\"\n\
                [drafters.a]\nngram = {}\nacceptance.iid = { alpha = [0.2, 0.4, 0.6] }\n\
                [drafters.b]\neagle = { version = 3 }\nacceptance.iid = { alpha = 0.7 }\n";
    let path = folder.path().join("t.toml");
    std::fs::write(&path, text).unwrap();
    let request = Request { scenario: path.to_str().unwrap(), changes: &[], seed: None, published: false };
    let loaded = load(&SearchPath::default(), &request).unwrap();
    let candidates = Candidate::all(Setting::all(&loaded.scenario).next().unwrap(), 2).unwrap();
    assert_eq!(members(&candidates), [[0, 3], [1, 3], [2, 3]]);
}
