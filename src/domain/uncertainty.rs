//! How a study's uncertainty is worked out.

/// Draws, and what is not counted.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Uncertainty {
    /// Draws of all that is uncertain.
    pub samples: u64,
    /// Accepted drafts of drafters whose acceptance was not counted may be off by so much, nine in ten within: 0.15 for 1/1.15
    /// to 1.15 times as many.
    pub acceptance: f64,
}

impl Default for Uncertainty {
    fn default() -> Self {
        Self { samples: 2000, acceptance: 0.15 }
    }
}
