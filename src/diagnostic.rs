//! A mistake in an input: code, message, place and hint, and how that is shown.

use std::ops::Range;
use std::sync::Arc;

use annotate_snippets::{AnnotationKind, Group, Level, Origin, Renderer, Snippet};

/// A text that was read, kept so that a mistake can point into it.
#[derive(Debug, PartialEq, Eq)]
pub struct Source {
    /// A path as the user wrote it, `<built-in>/…`, or `<command line>`.
    pub name: String,
    /// All of it.
    pub text: String,
    /// Whether its mistakes are mistakes of the command line, which have an exit code of their own.
    pub command_line: bool,
}

/// Where in a source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The source.
    pub source: Arc<Source>,
    /// Byte offsets into its text.
    pub span: Range<usize>,
}

/// How bad it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Severity {
    /// The input cannot be used.
    Error,
    /// The input can be used, but its author should know.
    Warning,
}

/// One mistake.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// How bad it is.
    pub severity: Severity,
    /// A stable name of the kind of mistake.
    pub code: &'static str,
    /// What is wrong, as a lowercase fragment.
    pub message: String,
    /// Where, if a place can be named.
    pub place: Option<Place>,
    /// What is allowed, or what to do next.
    pub hint: Option<String>,
    /// Whether parts that are each sound do not go together: then no single place is at fault.
    pub across_parts: bool,
}

impl Diagnostic {
    /// An error without place or hint.
    #[must_use]
    pub fn error(code: &'static str, message: impl Into<String>) -> Self {
        Self { severity: Severity::Error, code, message: message.into(), place: None, hint: None, across_parts: false }
    }

    /// The same as a warning.
    #[must_use]
    pub fn as_warning(self) -> Self {
        Self { severity: Severity::Warning, ..self }
    }

    /// The same at a place.
    #[must_use]
    pub fn at(self, place: &Place) -> Self {
        Self { place: Some(place.clone()), ..self }
    }

    /// The same with a hint.
    #[must_use]
    pub fn hint(self, hint: impl Into<String>) -> Self {
        Self { hint: Some(hint.into()), ..self }
    }

    /// The same as a disagreement between parts.
    #[must_use]
    pub fn across_parts(self) -> Self {
        Self { across_parts: true, ..self }
    }

    /// Whether the mistake was typed on the command line.
    #[must_use]
    pub fn on_command_line(&self) -> bool {
        !self.across_parts && self.place.as_ref().is_some_and(|place| place.source.command_line)
    }

    fn order(&self) -> (&str, usize) {
        self.place.as_ref().map_or(("", 0), |place| (place.source.name.as_str(), place.span.start))
    }
}

/// The candidate that a mistyped word most likely means: the most similar one (Jaro-Winkler, case
/// and punctuation aside), if the similarity is at least 0.8.
///
/// # Examples
///
/// ```
/// use specplan::diagnostic::nearest;
/// assert_eq!(nearest("bacth", ["batch", "k", "context"]), Some("batch"));
/// assert_eq!(nearest("H100", ["founding-h100"]), None);
/// assert_eq!(nearest("zzz", ["batch", "k"]), None);
/// ```
#[must_use]
pub fn nearest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let plain = |text: &str| text.to_lowercase().replace(['-', '.', ' '], "_");
    let word = plain(word);
    candidates
        .into_iter()
        .map(|candidate| (strsim::jaro_winkler(&word, &plain(candidate)), candidate))
        .filter(|(similarity, _)| *similarity >= 0.8)
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, candidate)| candidate)
}

/// Ids that a word may mean, as a question: all that hold it as a part, if they are few, else the nearest.
///
/// # Examples
///
/// ```
/// use specplan::diagnostic::meant;
/// let ids = ["h100-nvl-94gb", "h100-sxm5-80gb", "l4-24gb"];
/// assert_eq!(meant("H100", &ids).as_deref(), Some("did you mean \"h100-nvl-94gb\" or \"h100-sxm5-80gb\"?"));
/// assert_eq!(meant("l4-24g", &ids).as_deref(), Some("did you mean \"l4-24gb\"?"));
/// assert_eq!(meant("zzz", &ids), None);
/// ```
#[must_use]
pub fn meant(word: &str, ids: &[&str]) -> Option<String> {
    const MOST_NAMED: usize = 8;
    let part = word.to_lowercase().replace([' ', '_'], "-");
    let holding: Vec<&str> = ids.iter().copied().filter(|id| part.len() > 2 && id.contains(&part)).collect();
    let named = if holding.is_empty() || holding.len() > MOST_NAMED {
        vec![nearest(word, ids.iter().copied())?]
    } else {
        holding
    };
    let quoted: Vec<String> = named.iter().map(|id| format!("\"{id}\"")).collect();
    Some(format!("did you mean {}?", quoted.join(" or ")))
}

/// Mistakes beyond this many are counted, not shown: nobody mends two hundred from one screen.
const SHOWN: usize = 20;

/// Shows mistakes in the order of their places, with the line of each.
#[must_use]
pub fn render(found: &[Diagnostic], color: bool) -> String {
    let renderer = if color { Renderer::styled() } else { Renderer::plain() };
    let mut sorted: Vec<&Diagnostic> = found.iter().collect();
    sorted.sort_by_key(|diagnostic| diagnostic.order());
    let mut blocks: Vec<String> = sorted.iter().take(SHOWN).map(|one| render_one(one, &renderer)).collect();
    if sorted.len() > SHOWN {
        blocks.push(format!("… and {} more", sorted.len() - SHOWN));
    }
    blocks.join("\n\n")
}

fn render_one(diagnostic: &Diagnostic, renderer: &Renderer) -> String {
    let level = match diagnostic.severity {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
    };
    let message = visible(&diagnostic.message);
    let mut group = Group::with_title(level.primary_title(message).id(diagnostic.code));
    if let Some(place) = &diagnostic.place {
        let line = Line::of(place);
        let name = visible(&place.source.name);
        group = if line.text.len() > LONG_LINE {
            group.element(Origin::path(name).line(line.number).char_column(line.column))
        } else {
            let annotation = AnnotationKind::Primary.span(line.span);
            group.element(Snippet::source(line.text).line_start(line.number).path(name).annotation(annotation))
        };
    }
    if let Some(hint) = &diagnostic.hint {
        group = group.element(Level::HELP.with_name("hint").message(visible(hint)));
    }
    renderer.render(&[group])
}

/// A line longer than this is named, not quoted.
const LONG_LINE: usize = 240;

/// The first line of a place.
struct Line<'a> {
    text: &'a str,
    number: usize,
    column: usize,
    span: Range<usize>,
}

impl<'a> Line<'a> {
    fn of(place: &'a Place) -> Self {
        let text = place.source.text.as_str();
        let start = floor_boundary(text, place.span.start);
        let end = floor_boundary(text, place.span.end).max(start);
        let from = text[..start].rfind('\n').map_or(0, |at| at + 1);
        let to = text[start..].find('\n').map_or(text.len(), |at| start + at);
        let number = 1 + text[..from].matches('\n').count();
        let column = 1 + text[from..start].chars().count();
        Self { text: text[from..to].trim_end_matches('\r'), number, column, span: start - from..end.min(to) - from }
    }
}

fn floor_boundary(text: &str, at: usize) -> usize {
    (0..=at.min(text.len())).rev().find(|&at| text.is_char_boundary(at)).unwrap_or(0)
}

/// Text from files and arguments with its control characters replaced: they must not steer the terminal.
#[must_use]
pub fn visible(text: &str) -> String {
    text.chars().map(|c| if is_hidden(c) { char::REPLACEMENT_CHARACTER } else { c }).collect()
}

/// Whether a character steers a terminal or turns the direction of text around.
#[must_use]
pub fn is_hidden(c: char) -> bool {
    c.is_control() || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str, span: Range<usize>) -> Place {
        Place { source: Arc::new(Source { name: "a.toml".into(), text: text.into(), command_line: false }), span }
    }

    #[test]
    fn a_mistake_shows_file_line_column_and_hint() {
        let place = at("title = \"x\"\nbacth = [1]\n", 12..17);
        let shown = render(
            &[Diagnostic::error("unknown-key", "unknown key `bacth`").at(&place).hint("did you mean `batch`?")],
            false,
        );
        let expected = "error[unknown-key]: unknown key `bacth`\n --> a.toml:2:1\n  |\n2 | bacth = [1]\n  | ^^^^^\n  |\n  = hint: did you mean `batch`?";
        assert_eq!(shown, expected);
    }

    #[test]
    fn a_long_line_is_named_and_not_quoted() {
        let text = format!("a = \"{}\"", "é".repeat(400));
        let shown = render(&[Diagnostic::error("c", "m").at(&at(&text, 5..9))], false);
        assert_eq!(shown, "error[c]: m\n--> a.toml:1:6");
    }

    #[test]
    fn places_past_the_end_or_inside_a_character_do_no_harm() {
        for span in [0..0, 7..9, 100..200, 8..8] {
            assert!(render(&[Diagnostic::error("c", "m").at(&at("k = \"é\"\r\n", span))], false).contains("a.toml:"));
        }
    }

    #[test]
    fn control_characters_do_not_reach_the_terminal() {
        let shown = render(&[Diagnostic::error("c", "key `\u{1b}[31m`").at(&at("\u{1b}[31m = 1", 0..5))], false);
        assert!(!shown.contains('\u{1b}'), "{shown:?}");
    }
}
