//! Public reports of people who turned speculative decoding on, against predictions; `docs/reports.md` is what comes out.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::program::{folder, run_well};

/// Measured ratios this near to 1x are neither a gain nor a loss.
const EVEN: std::ops::RangeInclusive<f64> = 0.98..=1.02;
/// Rows further off than this are explained, as those on the wrong side are.
const FAR_OFF: f64 = 0.3;

fn root(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

/// What the page needs of a row; `validate` reads the rest.
struct Told {
    id: String,
    report: u64,
    source_url: String,
    deployment: String,
    drafts: String,
    engine: String,
    hardware: String,
    target: String,
    k: u64,
    batch: f64,
    tokens_per_pass: f64,
    speedup: f64,
    inferred: String,
    note: String,
    reason: String,
}

impl Told {
    fn new(mut cells: HashMap<String, String>) -> Self {
        let mut words = |column: &str| cells.remove(column).unwrap();
        let number = |words: String| words.parse::<f64>().unwrap();
        Self {
            report: words("report").parse().unwrap(),
            k: words("k").parse().unwrap(),
            batch: number(words("batch")),
            tokens_per_pass: number(words("tokens_per_pass")),
            speedup: number(words("speedup")),
            id: words("id"),
            source_url: words("source_url"),
            deployment: words("deployment"),
            drafts: words("drafts"),
            engine: words("engine"),
            hardware: words("hardware"),
            target: words("target"),
            inferred: words("inferred"),
            note: words("note"),
            reason: words("reason"),
        }
    }

    /// Whether the device or the model is described beside the fixture instead of built in.
    fn is_described(&self) -> bool {
        let beside = |kind: &str, id: &str| root(&format!("tests/fixtures/reports/{kind}/{id}.toml")).exists();
        beside("hardware", &self.hardware) || beside("models", &self.target)
    }

    fn is_built_in(&self) -> bool {
        self.note.contains("among the built-in rows")
    }

    fn marks(&self) -> String {
        let marks = [(self.is_described(), " †"), (self.is_built_in(), " ‡"), (!self.inferred.is_empty(), " §")];
        marks.iter().filter(|(applies, _)| *applies).map(|(_, mark)| *mark).collect()
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Side {
    Right,
    Wrong,
    Even,
}

/// A row with its prediction, or why there is none.
struct Row {
    told: Told,
    predicted: Result<f64, String>,
    /// By the profile that contradicts its engine's, where there is one.
    disputed: Option<f64>,
}

/// What `plan` answers, drafts being accepted as reported.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Answer {
    Enable,
    Leave,
    Measure,
}

impl Answer {
    fn as_str(self) -> &'static str {
        match self {
            Self::Enable => "enable",
            Self::Leave => "don't",
            Self::Measure => "measure first",
        }
    }
}

impl Row {
    fn side(&self) -> Option<Side> {
        let predicted = *self.predicted.as_ref().ok()?;
        Some(match self.told.speedup {
            measured if EVEN.contains(&measured) => Side::Even,
            measured if (measured >= 1.0) == (predicted >= 1.0) => Side::Right,
            _ => Side::Wrong,
        })
    }

    fn answer(&self) -> Option<Answer> {
        let predicted = *self.predicted.as_ref().ok()?;
        Some(match self.disputed {
            Some(other) if (other > 1.0) != (predicted > 1.0) => Answer::Measure,
            _ if predicted > 1.0 => Answer::Enable,
            _ => Answer::Leave,
        })
    }

    fn error(&self) -> Option<f64> {
        self.predicted.as_ref().ok().map(|predicted| predicted / self.told.speedup - 1.0)
    }

    fn is_badly_off(&self) -> bool {
        self.side() == Some(Side::Wrong) || self.error().is_some_and(|error| error.abs() > FAR_OFF)
    }

    fn line(&self) -> String {
        let told = &self.told;
        let prediction = match (&self.predicted, self.side()) {
            (Ok(predicted), Some(side)) => {
                let error = 100.0 * self.error().unwrap();
                let answer = self.answer().unwrap().as_str();
                format!("{predicted:.2}x | {error:+.0} % | {} | {answer}", format!("{side:?}").to_lowercase())
            }
            _ => "not priced | | | ".to_owned(),
        };
        let (report, url, deployment) = (told.report, &told.source_url, &told.deployment);
        let (drafts, marks, k, batch) = (&told.drafts, told.marks(), told.k, told.batch);
        let (tokens, measured) = (told.tokens_per_pass, told.speedup);
        format!(
            "| [{report}]({url}) | {deployment}{marks} | {drafts} | {k} | {batch} | {tokens:.2} | {measured:.2}x | {prediction} |"
        )
    }
}

/// Every row as the command prices it: without flags with its own engine, and nothing set.
fn rows(flags: &[&str]) -> Vec<Row> {
    let (fixture, described) = (root("tests/fixtures/reports.csv"), root("tests/fixtures/reports"));
    let place = folder();
    let validate = ["validate", "--write", "none", "--format", "json"];
    let measurements = ["--measurements", fixture.to_str().unwrap(), "--catalog", described.to_str().unwrap()];
    let ran = run_well(place.path(), &[&validate[..], &measurements, flags].concat());
    let found: Value = serde_json::from_str(&ran.stdout).unwrap();
    let predictions = found["rows"].as_array().unwrap();
    let mut reader = csv::Reader::from_path(&fixture).unwrap();
    let told: Vec<Told> = reader.deserialize().map(|cells| Told::new(cells.unwrap())).collect();
    assert_eq!(told.len(), predictions.len());
    let row = |(told, found): (Told, &Value)| {
        assert_eq!(found["id"].as_str().unwrap(), told.id);
        let reason = || found["unpriced_reason"].as_str().unwrap().to_owned();
        Row { told, predicted: found["predicted"].as_f64().ok_or_else(reason), disputed: None }
    };
    told.into_iter().zip(predictions).map(row).collect()
}

/// The rows with the other profile of those whose engine has one: `sglang-host-bound` of SGLang.
fn with_disputes() -> Vec<Row> {
    let mut all = rows(&[]);
    for (row, other) in all.iter_mut().zip(rows(&["--engine", "sglang-host-bound"])) {
        row.disputed = other.predicted.ok().filter(|_| row.told.engine == "sglang");
    }
    all
}

fn reports<'r>(rows: impl Iterator<Item = &'r Row>) -> BTreeSet<u64> {
    rows.map(|row| row.told.report).collect()
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    let middle = values.len() / 2;
    if values.len() % 2 == 1 { values[middle] } else { f64::midpoint(values[middle - 1], values[middle]) }
}

const HEAD: &str = "\
# Public reports against predictions

What people reported after they had turned speculative decoding on, and what this program says of the same deployment. Each
row takes the reported tokens per pass (the bonus token included) and is priced as `specplan validate` prices it, with the
profile of the engine that was used and nothing set by hand: the table tests costs, not acceptance. Engines without a
profile of their own are priced as `generic-graph`. Nothing was fitted to these rows, but to some of those marked ‡, which are
among the built-in measurements too; the constants of `vllm-sync-ngram`, which prices report 77, were assumed after public
reports of its kind. Of those marked † the device or the model is not built in: it is described in `tests/fixtures/reports`.
Of those marked § the report lacks something that the price needs, such as the device, k or the tokens per pass, and it was
inferred or taken from another thread. Where a report states no context, one is assumed. The columns `inferred` and `note` of
`tests/fixtures/reports.csv` say what and why.

`report` is the number of the report in that file and leads to its source. Trees are written steps/candidates/nodes. The side
is right if both speedups are at or above 1x or both below; a measured one from 0.98x to 1.02x is even, and counted apart.
Rows on the wrong side stay in the table. The last column is what `specplan plan` answers with these tokens per pass: where the two
profiles of SGLang contradict each other it asks for a measurement.

| report | deployment | drafter | k | batch | tokens per pass | measured | predicted | error | side | plan answers |
|--:|---|---|--:|--:|--:|--:|--:|--:|---|---|
";

/// What is counted, a line for each.
fn summary(rows: &[Row]) -> String {
    let of = |side: Side| rows.iter().filter(|row| row.side() == Some(side)).count();
    let priced = rows.iter().filter(|row| row.predicted.is_ok());
    let (losses, gains): (Vec<&Row>, Vec<&Row>) =
        priced.filter(|row| row.side() != Some(Side::Even)).partition(|row| row.told.speedup < 1.0);
    let right = |rows: &[&Row]| rows.iter().filter(|row| row.side() == Some(Side::Right)).count();
    let all = reports(rows.iter());
    let wrong = reports(rows.iter().filter(|row| row.side() == Some(Side::Wrong)));
    let errors: Vec<f64> = rows.iter().filter_map(Row::error).map(f64::abs).collect();
    // Of each report its own median first: some have many rows.
    let mut by_report: BTreeMap<u64, Vec<f64>> = BTreeMap::new();
    for row in rows {
        by_report.entry(row.told.report).or_default().extend(row.error().map(f64::abs));
    }
    let medians: Vec<f64> = by_report.into_values().map(median).collect();
    let unpriced = rows.iter().filter(|row| row.predicted.is_err()).count();
    let mut text = String::new();
    let judged = of(Side::Right) + of(Side::Wrong);
    assert_eq!(judged, losses.len() + gains.len());
    assert_eq!(judged + of(Side::Even) + unpriced, rows.len());
    writeln!(text, "* {} rows of {} reports; {unpriced} could not be priced", rows.len(), all.len()).unwrap();
    let inferred = reports(rows.iter().filter(|row| !row.told.inferred.is_empty()));
    writeln!(text, "* reports of which nothing but the context was inferred: {}", all.len() - inferred.len()).unwrap();
    writeln!(text, "* side right: {} of {judged} rows; {} more are even", of(Side::Right), of(Side::Even)).unwrap();
    writeln!(text, "* reports without a row on the wrong side: {} of {}", all.len() - wrong.len(), all.len()).unwrap();
    writeln!(text, "* losses called: {} of {}", right(&losses), losses.len()).unwrap();
    let answered = |rows: &[&Row], answer: Answer| rows.iter().filter(|row| row.answer() == Some(answer)).count();
    for (what, rows) in [("losses", &losses), ("gains", &gains)] {
        let [enable, leave, measure] = [Answer::Enable, Answer::Leave, Answer::Measure].map(|of| answered(rows, of));
        let all = rows.len();
        writeln!(
            text,
            "* of {all} {what} plan answers enable to {enable}, don't to {leave}, measure first to {measure}"
        )
        .unwrap();
    }
    writeln!(text, "* gains called off: {} of {}", gains.len() - right(&gains), gains.len()).unwrap();
    let (of_rows, of_reports) = (100.0 * median(errors), 100.0 * median(medians));
    writeln!(text, "* error without sign, median: {of_rows:.0} % of rows, {of_reports:.0} % of the reports' medians")
        .unwrap();
    text
}

/// A line for each row that is badly off or has no prediction; equal ones of a report together.
fn reasons(rows: &[Row]) -> String {
    let mut told: Vec<(u64, String, usize)> = Vec::new();
    for row in rows.iter().filter(|row| row.is_badly_off() || row.predicted.is_err()) {
        let reason = match &row.predicted {
            Err(reason) => format!("not priced: {reason}"),
            Ok(_) if row.told.reason.is_empty() => "the report does not tell why".to_owned(),
            Ok(_) => row.told.reason.clone(),
        };
        match told.iter_mut().find(|(report, text, _)| *report == row.told.report && *text == reason) {
            Some((.., count)) => *count += 1,
            None => told.push((row.told.report, reason, 1)),
        }
    }
    let rows = |count: usize| if count == 1 { "1 row".to_owned() } else { format!("{count} rows") };
    let line = |(report, reason, count): (u64, String, usize)| format!("* {report}, {}: {reason}\n", rows(count));
    told.into_iter().map(line).collect()
}

/// What the other profile of SGLang says of the two reports that its own one misses most.
fn of_host_bound() -> String {
    let rows = rows(&["--engine", "sglang-host-bound"]);
    let theirs: Vec<&Row> = rows.iter().filter(|row| matches!(row.told.report, 5 | 6)).collect();
    let of = |side: Side| theirs.iter().filter(|row| row.side() == Some(side)).count();
    format!(
        "Reports 5 and 6 are of one person and one model. No profile knows beforehand that a server waits for its host. Priced with\n\
         `--engine sglang-host-bound`, which was assumed after public reports of that kind, {} of their {} rows come out on the right\n\
         side, {} on the wrong one. Where rounds take longer than predicted at the batch you plan for, price with that profile too.\n",
        of(Side::Right),
        theirs.len(),
        of(Side::Wrong)
    )
}

#[test]
fn the_page_on_reports_is_what_comes_out() {
    let rows = with_disputes();
    assert!(reports(rows.iter().filter(|row| row.predicted.is_ok())).len() >= 20);
    let mut page = HEAD.to_owned();
    rows.iter().for_each(|row| writeln!(page, "{}", row.line()).unwrap());
    let lines = page.lines().filter(|line| line.starts_with("| [")).count();
    assert_eq!(lines, rows.len());
    write!(page, "\n## In numbers\n\n{}", summary(&rows)).unwrap();
    write!(page, "\n## Wrong side, more than 30 % off, or not priced\n\n{}", reasons(&rows)).unwrap();
    write!(page, "\n{}", of_host_bound()).unwrap();
    let path = root("docs/reports.md");
    if std::env::var_os("INSTA_UPDATE").is_some_and(|update| update == "always") {
        std::fs::write(&path, &page).unwrap();
    }
    let written = String::from_utf8(std::fs::read(&path).unwrap()).unwrap();
    assert_eq!(written, page, "run with INSTA_UPDATE=always and look");
}
