//! Recorded rounds of speculative decoding.
//!
//! Three forms, told apart by their first line: CSV with a line for each round, CSV with counts, and JSON lines with the
//! tokens of every step of a request (`itl_tokens`, as inference-simulator-rs records them).

use csv::{ReaderBuilder, StringRecord, Trim};

use crate::domain::trace::{NotATrace, RoundSeen, Trace};

/// Why a text is no recording of rounds.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotRounds {
    /// The first line is none of the known forms.
    #[error(
        "the first line must name columns: request, drafted, accepted (a line for each round, request by request), or \
         accepted, rounds (counts); or the file holds JSON lines, an object on each, with itl_tokens"
    )]
    UnknownForm,
    /// A line that cannot be read.
    #[error("line {line}: {reason}")]
    Line {
        /// Counted from 1.
        line: usize,
        /// Why.
        reason: String,
    },
    /// A column is named twice.
    #[error("the first line names column {0} twice")]
    Repeated(String),
    /// What was drafted is stated twice.
    #[error("it has a column drafted, and k is stated beside it")]
    TwoLengths,
    /// What was drafted is stated nowhere.
    #[error("it does not say how many tokens each round drafted")]
    NoLength,
    /// No line below the header, or no request.
    #[error("it holds no round")]
    Empty,
    /// The rounds contradict themselves.
    #[error(transparent)]
    NotATrace(#[from] NotATrace),
}

/// Reads recorded rounds; `k` is what every round drafted, where the text does not say.
///
/// # Errors
///
/// [`NotRounds`].
///
/// # Examples
///
/// ```
/// use specplan::import::rounds::rounds;
/// let trace = rounds("request,drafted,accepted\na,2,2\na,2,0\nb,2,1\n", None)?;
/// assert_eq!(trace.tests(), [(3, 2), (2, 1)]);
/// # Ok::<(), specplan::import::rounds::NotRounds>(())
/// ```
pub fn rounds(text: &str, k: Option<u32>) -> Result<Trace, NotRounds> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    if text.trim_start().starts_with('{') {
        return Ok(Trace::by_request(from_steps(text, k.ok_or(NotRounds::NoLength)?)?)?);
    }
    let mut reader = ReaderBuilder::new().flexible(true).trim(Trim::All).from_reader(text.as_bytes());
    let header = reader.headers().map_err(|_| NotRounds::UnknownForm)?.clone();
    let column = |name: &str| header.iter().position(|head| head == name);
    let (accepted, drafted) = (column("accepted").ok_or(NotRounds::UnknownForm)?, column("drafted"));
    match (drafted, k) {
        (None, None) => return Err(NotRounds::NoLength),
        (Some(_), Some(_)) => return Err(NotRounds::TwoLengths),
        _ => {}
    }
    let twice = |name: &str| header.iter().filter(|head| *head == name).count() > 1;
    if let Some(name) = ["request", "drafted", "accepted", "rounds"].into_iter().find(|name| twice(name)) {
        return Err(NotRounds::Repeated(name.to_owned()));
    }
    let mut table = Table { lines: Vec::new(), accepted, drafted, k };
    for (at, record) in reader.records().enumerate() {
        let line = at + 2;
        let record = record.map_err(|error| NotRounds::Line { line, reason: error.to_string() })?;
        if !record.iter().all(str::is_empty) {
            table.lines.push((line, record));
        }
    }
    match (column("rounds"), column("request")) {
        _ if table.lines.is_empty() => Err(NotRounds::Empty),
        (Some(rounds), _) => Ok(Trace::counted(table.counted(rounds)?)?),
        (None, request) => Ok(Trace::by_request(table.by_request(request)?)?),
    }
}

/// The lines of a CSV and the columns that matter.
struct Table {
    lines: Vec<(usize, StringRecord)>,
    accepted: usize,
    drafted: Option<usize>,
    k: Option<u32>,
}

impl Table {
    fn round(&self, line: usize, record: &StringRecord) -> Result<RoundSeen, NotRounds> {
        let accepted = number(record, self.accepted, "accepted", line)?;
        let drafted = match (self.drafted, self.k) {
            (Some(at), _) => number(record, at, "drafted", line)?,
            (None, k) => k.ok_or(NotRounds::NoLength)?,
        };
        if accepted > drafted {
            let reason = format!("{accepted} drafts are accepted of {drafted}");
            return Err(NotRounds::Line { line, reason });
        }
        Ok(RoundSeen { drafted, accepted })
    }

    fn counted(&self, rounds: usize) -> Result<Vec<(RoundSeen, u64)>, NotRounds> {
        let one = |(line, record): &(usize, StringRecord)| {
            Ok((self.round(*line, record)?, u64::from(number(record, rounds, "rounds", *line)?)))
        };
        self.lines.iter().map(one).collect()
    }

    /// Requests in the order of their first lines; without a column for them all lines are one request.
    fn by_request(&self, request: Option<usize>) -> Result<Vec<Vec<RoundSeen>>, NotRounds> {
        let mut index = std::collections::HashMap::new();
        let mut requests: Vec<Vec<RoundSeen>> = Vec::new();
        for (line, record) in &self.lines {
            let name = request.and_then(|at| record.get(at)).unwrap_or_default();
            let at = *index.entry(name.to_owned()).or_insert_with(|| {
                requests.push(Vec::new());
                requests.len() - 1
            });
            requests[at].push(self.round(*line, record)?);
        }
        Ok(requests)
    }
}

fn number(record: &StringRecord, at: usize, column: &str, line: usize) -> Result<u32, NotRounds> {
    let cell = record.get(at).unwrap_or_default();
    cell.parse().map_err(|_| NotRounds::Line { line, reason: format!("{column} \"{cell}\" is no whole number") })
}

/// Requests whose steps each emitted so many tokens, the target's own included. The token that prefill emits is in none
/// of them.
fn from_steps(text: &str, k: u32) -> Result<Vec<Vec<RoundSeen>>, NotRounds> {
    let mut requests = Vec::new();
    for (at, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let wrong = |reason: String| NotRounds::Line { line: at + 1, reason };
        let value: serde_json::Value = serde_json::from_str(line).map_err(|error| wrong(error.to_string()))?;
        let Some(steps) = value.get("itl_tokens") else {
            if value.get("meta").is_some() {
                continue;
            }
            return Err(wrong("no itl_tokens".to_owned()));
        };
        let steps = steps.as_array().ok_or_else(|| wrong("itl_tokens is no list".to_owned()))?;
        let round = |step: &serde_json::Value| match step.as_u64().and_then(|tokens| u32::try_from(tokens).ok()) {
            Some(tokens) if (1..=k.saturating_add(1)).contains(&tokens) => {
                Ok(RoundSeen { drafted: k, accepted: tokens - 1 })
            }
            _ => Err(wrong(format!("a step of {step} tokens: 1 to k + 1 = {} are due", u64::from(k) + 1))),
        };
        requests.push(steps.iter().map(round).collect::<Result<Vec<_>, _>>()?);
    }
    if requests.is_empty() { Err(NotRounds::Empty) } else { Ok(requests) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By hand: 7 rounds at k = 2, 4 of them past the first draft and 1 past the second.
    #[test]
    fn counts_and_lines_say_the_same() {
        let counts = rounds("accepted,rounds\n0,3\n1,3\n2,1\n", Some(2)).unwrap();
        let lines = "accepted,request\n0,a\n1,b\n0,a\n\n2,b\n1,c\n0,c\n1,c\n";
        let lines = rounds(lines, Some(2)).unwrap();
        assert_eq!(counts.tests(), [(7, 4), (4, 1)]);
        assert_eq!(counts.curve(), lines.curve());
        let crate::domain::trace::Rounds::ByRequest(requests) = lines.rounds() else { panic!("no requests") };
        let accepted = |rounds: &Vec<RoundSeen>| rounds.iter().map(|round| round.accepted).collect::<Vec<_>>();
        assert_eq!(requests.iter().map(accepted).collect::<Vec<_>>(), [vec![0, 0], vec![1, 2], vec![1, 0, 1]]);
    }

    #[test]
    fn steps_of_requests_are_read() {
        let text = "{\"meta\": {}}\n{\"itl_tokens\": [3, 1]}\n{\"itl_tokens\": [2]}\n";
        assert_eq!(rounds(text, Some(2)).unwrap().tests(), [(3, 2), (2, 1)]);
        assert_eq!(rounds(text, None), Err(NotRounds::NoLength));
        let reason = "a step of 3 tokens: 1 to k + 1 = 2 are due".to_owned();
        assert_eq!(rounds(text, Some(1)), Err(NotRounds::Line { line: 2, reason }));
    }

    #[test]
    fn what_is_no_recording_says_where() {
        let reason = |text: &str| rounds(text, None).unwrap_err().to_string();
        assert!(reason("a,b\n1,2\n").starts_with("the first line must name columns"));
        assert_eq!(reason("accepted,drafted\n1,2\n3,2\n"), "line 3: 3 drafts are accepted of 2");
        assert_eq!(reason("accepted,drafted\n1,two\n"), "line 2: drafted \"two\" is no whole number");
        assert_eq!(reason("accepted,drafted\n"), "it holds no round");
        assert_eq!(reason("accepted,drafted\n0,0\n"), "no round drafts anything");
        assert_eq!(reason("accepted,drafted,accepted\n0,1,0\n"), "the first line names column accepted twice");
        assert_eq!(rounds("accepted,drafted\n0,1\n", Some(1)), Err(NotRounds::TwoLengths));
        assert_eq!(reason("accepted\n0\n"), "it does not say how many tokens each round drafted");
    }
}
