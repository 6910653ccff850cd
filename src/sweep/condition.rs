//! Which rows of a sweep are wanted: those that fit, and those whose cells meet conditions such as `speedup>=1.2`.

use crate::sweep::row::{COLUMNS, Cell, Kind, Row, kind};

/// Which rows are wanted.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Selection {
    /// Only those that fit in memory.
    pub only_fitting: bool,
    /// Only those that meet every one of these.
    pub conditions: Vec<Condition>,
}

impl Selection {
    /// Whether a row is wanted.
    #[must_use]
    pub fn keeps(&self, row: &Row<'_>) -> bool {
        if self.only_fitting && !row.memory.fits {
            return false;
        }
        if self.conditions.is_empty() {
            return true;
        }
        let cells = row.cells();
        self.conditions.iter().all(|condition| condition.holds(&cells[condition.column]))
    }

    /// Whether every row is wanted.
    #[must_use]
    pub const fn keeps_all(&self) -> bool {
        !self.only_fitting && self.conditions.is_empty()
    }
}

/// A column, a relation and what its cells are compared with.
///
/// An empty cell meets no condition but `column=`, and is what `column!=` leaves out. Notes are a set of words, which `=`
/// asks for one of.
///
/// ```
/// use specplan::sweep::condition::Condition;
///
/// let condition: Condition = "speedup >= 1.2".parse().unwrap();
/// assert_eq!(condition.to_string(), "speedup>=1.2");
/// assert!("speedp>1".parse::<Condition>().unwrap_err().to_string().contains("no column `speedp`"));
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Condition {
    column: usize,
    relation: Relation,
    operand: Operand,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Relation {
    AtMost,
    AtLeast,
    Unequal,
    Below,
    Above,
    Equal,
}

/// Longer spellings first, so that none is taken for its beginning.
const RELATIONS: [(&str, Relation); 7] = [
    ("<=", Relation::AtMost),
    (">=", Relation::AtLeast),
    ("!=", Relation::Unequal),
    ("==", Relation::Equal),
    ("<", Relation::Below),
    (">", Relation::Above),
    ("=", Relation::Equal),
];

#[derive(Clone, Debug, PartialEq)]
enum Operand {
    Number(f64),
    Flag(bool),
    Word(String),
    Nothing,
}

/// Why a condition cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ConditionError {
    /// No relation stands in it.
    #[error("`{0}` is no condition: give a column, one of <= >= < > = !=, and a value, such as 'speedup>=1.2'")]
    NoRelation(String),
    /// The table has no such column.
    #[error("the table has no column `{0}`: it has {list}", list = COLUMNS.join(", "))]
    NoColumn(String),
    /// The value is of another kind than the column.
    #[error("column `{column}` holds {kind}, and `{value}` is none")]
    OtherKind {
        /// The column.
        column: &'static str,
        /// What it holds.
        kind: &'static str,
        /// The value.
        value: String,
    },
    /// The column has no order.
    #[error("column `{column}` holds {kind}, which = and != compare")]
    NoOrder {
        /// The column.
        column: &'static str,
        /// What it holds.
        kind: &'static str,
    },
}

/// What a column holds, in the words of messages.
fn holds(column: &str) -> &'static str {
    match kind(column) {
        Kind::Words => "words",
        Kind::Flags => FLAGS,
        Kind::Integers | Kind::Numbers => NUMBERS,
    }
}

const FLAGS: &str = "true or false";
const NUMBERS: &str = "numbers";

impl std::str::FromStr for Condition {
    type Err = ConditionError;

    fn from_str(text: &str) -> Result<Self, ConditionError> {
        let (name, relation, value) = split(text).ok_or_else(|| ConditionError::NoRelation(text.to_owned()))?;
        // `<>` and `=>` are no relations, though they begin as one.
        if name.is_empty() || value.starts_with(['<', '>', '=', '!']) {
            return Err(ConditionError::NoRelation(text.to_owned()));
        }
        let column = COLUMNS
            .iter()
            .position(|column| *column == name)
            .ok_or_else(|| ConditionError::NoColumn(name.to_owned()))?;
        let (column_name, kind) = (COLUMNS[column], holds(COLUMNS[column]));
        let equates = matches!(relation, Relation::Equal | Relation::Unequal);
        if !equates && kind != NUMBERS {
            return Err(ConditionError::NoOrder { column: column_name, kind });
        }
        let operand = operand(kind, value).filter(|operand| equates || *operand != Operand::Nothing);
        let other = || ConditionError::OtherKind { column: column_name, kind, value: value.to_owned() };
        Ok(Self { column, relation, operand: operand.ok_or_else(other)? })
    }
}

/// The parts around the first relation.
fn split(text: &str) -> Option<(&str, Relation, &str)> {
    let at = text.find(['<', '>', '=', '!'])?;
    let (sign, relation) = RELATIONS.iter().find(|(sign, _)| text[at..].starts_with(sign))?;
    Some((text[..at].trim(), *relation, text[at + sign.len()..].trim()))
}

fn operand(kind: &str, value: &str) -> Option<Operand> {
    match kind {
        _ if value.is_empty() => Some(Operand::Nothing),
        NUMBERS => value.parse().ok().filter(|number: &f64| number.is_finite()).map(Operand::Number),
        FLAGS => value.parse().ok().map(Operand::Flag),
        _ => Some(Operand::Word(value.to_owned())),
    }
}

impl Condition {
    fn holds(&self, cell: &Cell<'_>) -> bool {
        let is_empty =
            matches!(cell, Cell::Empty) || matches!(cell, Cell::Notes(notes) if notes.words().next().is_none());
        match (&self.operand, self.relation) {
            (Operand::Nothing, Relation::Unequal) => !is_empty,
            (Operand::Nothing, _) => is_empty,
            (Operand::Number(number), relation) => figure(cell).is_some_and(|figure| relation.holds(figure, *number)),
            (_, Relation::Unequal) => !self.is_in(cell) && (!is_empty || matches!(cell, Cell::Notes(_))),
            _ => self.is_in(cell),
        }
    }

    /// Whether the cell is, or has among its words, what it is compared with.
    fn is_in(&self, cell: &Cell<'_>) -> bool {
        match (&self.operand, cell) {
            (Operand::Flag(flag), Cell::Flag(here)) => here == flag,
            (Operand::Word(word), Cell::Text(text)) => text == word,
            (Operand::Word(word), Cell::Numbered(name, number)) => format!("{name}-{number}") == *word,
            (Operand::Word(word), Cell::Notes(notes)) => notes.words().any(|note| note == word),
            _ => false,
        }
    }
}

fn figure(cell: &Cell<'_>) -> Option<f64> {
    match *cell {
        Cell::Integer(count) => Some(count as f64),
        Cell::Number(figure) => Some(figure),
        _ => None,
    }
}

impl Relation {
    #[expect(clippy::float_cmp, reason = "what is asked for is the very figure of a cell")]
    fn holds(self, figure: f64, number: f64) -> bool {
        match self {
            Self::AtMost => figure <= number,
            Self::AtLeast => figure >= number,
            Self::Unequal => figure != number,
            Self::Below => figure < number,
            Self::Above => figure > number,
            Self::Equal => figure == number,
        }
    }
}

impl std::fmt::Display for Condition {
    fn fmt(&self, to: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let sign =
            RELATIONS.iter().rev().find(|(_, relation)| *relation == self.relation).map_or("=", |(sign, _)| sign);
        write!(to, "{}{sign}", COLUMNS[self.column])?;
        match &self.operand {
            Operand::Number(number) => write!(to, "{number}"),
            Operand::Flag(flag) => write!(to, "{flag}"),
            Operand::Word(word) => write!(to, "{word}"),
            Operand::Nothing => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn relations_are_those_of_their_signs() {
        let holds = |text: &str, cell: Cell<'_>| text.parse::<Condition>().unwrap().holds(&cell);
        let truth = [("<=", [true, true, false]), (">=", [false, true, true]), ("<", [true, false, false])];
        let more = [(">", [false, false, true]), ("=", [false, true, false]), ("==", [false, true, false])];
        for (sign, expected) in truth.into_iter().chain(more).chain([("!=", [true, false, true])]) {
            let found = [1, 2, 3].map(|k| holds(&format!("k {sign} 2"), Cell::Integer(k)));
            assert_eq!(found, expected, "{sign}");
        }
        assert!(holds("alpha=", Cell::Empty) && !holds("alpha=", Cell::Number(0.5)));
        assert!(!holds("alpha!=", Cell::Empty) && holds("alpha!=", Cell::Number(0.5)));
        assert!(!holds("alpha<1", Cell::Empty) && !holds("alpha!=0.5", Cell::Empty));
        assert!(holds("acceptance=by-k-2", Cell::Numbered("by-k", 2)) && !holds("drafter!=a", Cell::Empty));
        assert!(holds("fits!=true", Cell::Flag(false)) && holds("fits=false", Cell::Flag(false)));
    }

    #[test]
    fn what_cannot_be_compared_is_refused() {
        for (text, part) in [
            ("speedup", "is no condition"),
            ("fits=1", "true or false"),
            ("batch<=many", "numbers"),
            ("batch<=", "numbers"),
            ("batch<=NaN", "numbers"),
            ("fits<true", "= and !="),
            ("target>=a", "= and !="),
            ("!k", "is no condition"),
            ("=3", "is no condition"),
            ("batch<>1", "is no condition"),
            ("speedup=>1.2", "is no condition"),
        ] {
            let told = text.parse::<Condition>().unwrap_err().to_string();
            assert!(told.contains(part), "{text}: {told}");
        }
    }
}
