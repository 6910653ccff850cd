//! What was read of a configuration, what was inferred and why, and what its reader should know.

/// A key and what it was read as.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Read {
    /// What it means.
    pub what: &'static str,
    /// The key, with the tables it lies in.
    pub key: String,
    /// Its value, short.
    pub value: String,
}

/// What no key says, and why it is taken so.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Inferred {
    /// What it means.
    pub what: &'static str,
    /// What is taken.
    pub value: String,
    /// Why.
    pub why: String,
}

/// Parameters that no operator reads, by what they are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Small {
    /// What they are.
    pub what: String,
    /// How many.
    pub count: u64,
}

/// Everything to say of a configuration.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// Keys that were read.
    pub read: Vec<Read>,
    /// What was inferred.
    pub inferred: Vec<Inferred>,
    /// Parameters that the layer tables do not hold.
    pub small: Vec<Small>,
    /// Keys that change no cost.
    pub without_effect: Vec<String>,
    /// Keys that nothing here knows.
    pub unknown: Vec<String>,
    /// What its reader should know.
    pub warnings: Vec<String>,
}
