//! Requests as a service has seen them.

/// One request.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Seen {
    /// When it came, in seconds from the first.
    pub at: f64,
    /// Tokens of its prompt.
    pub prompt: u32,
    /// Tokens of the prompt that were in the cache, where blocks of earlier prompts say so.
    pub hit: u32,
    /// Tokens of its output.
    pub output: u32,
}

/// Requests in the order in which they came.
#[derive(Clone, Debug, PartialEq)]
pub struct Served {
    /// The file's name.
    pub name: String,
    /// The requests; at least one.
    pub requests: Vec<Seen>,
    /// Whether it says when they came.
    pub is_timed: bool,
    /// What was noticed while it was read.
    pub notes: Vec<String>,
}

impl Served {
    /// Seconds from the first request to the last.
    #[must_use]
    pub fn span(&self) -> f64 {
        self.requests.last().map_or(0.0, |last| last.at)
    }

    /// Requests per second; none where all came at once.
    ///
    /// # Examples
    ///
    /// ```
    /// use specplan::domain::served::{Seen, Served};
    /// let seen = |at| Seen { at, prompt: 10, hit: 0, output: 5 };
    /// let served = Served { name: "t".into(), requests: vec![seen(0.0), seen(1.0), seen(4.0)], is_timed: true, notes: vec![] };
    /// assert_eq!(served.rate(), Some(0.5));
    /// ```
    #[must_use]
    pub fn rate(&self) -> Option<f64> {
        let span = self.span();
        (span > 0.0).then(|| (self.requests.len() - 1) as f64 / span)
    }
}
