//! Books that must balance in every run.

/// Two ways to count how long requests were there (Little 1961), and two to count tokens.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Balance {
    present: u64,
    /// Requests that are there x seconds, by the clock.
    area: f64,
    /// Seconds that each request was there, by its own times.
    sojourns: f64,
    due: u64,
    emitted: u64,
}

/// A run whose books do not balance: a fault of the program, not of the input.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub enum Unbalanced {
    /// Little's law.
    #[error("requests were there for {area} s by the clock and {sojourns} s by their own times")]
    Little {
        /// Number of requests over time.
        area: f64,
        /// Sum of their times.
        sojourns: f64,
    },
    /// Tokens.
    #[error("{emitted} tokens came out where {due} were asked for")]
    Tokens {
        /// Tokens that came out of requests that were answered.
        emitted: u64,
        /// Tokens that they asked for.
        due: u64,
    },
}

impl Balance {
    pub(super) const fn present(&self) -> u64 {
        self.present
    }

    /// One more, which came a while before the step that now begins.
    pub(super) fn arrives(&mut self, since: f64) {
        self.present += 1;
        self.area += since;
    }

    /// One less, which was there so long.
    pub(super) fn leaves(&mut self, seconds: f64) {
        self.present -= 1;
        self.sojourns += seconds;
    }

    /// One that is there at the end has been so long.
    pub(super) fn stays(&mut self, seconds: f64) {
        self.sojourns += seconds;
    }

    pub(super) fn passes(&mut self, seconds: f64) {
        self.area += self.present as f64 * seconds;
    }

    pub(super) fn gives(&mut self, emitted: u32, due: u32) {
        self.emitted += u64::from(emitted);
        self.due += u64::from(due);
    }

    /// Checks the books.
    pub(super) fn check(&self) -> Result<(), Unbalanced> {
        let Self { area, sojourns, due, emitted, .. } = *self;
        if (area - sojourns).abs() > 1e-6 * area.max(sojourns).max(1e-9) {
            return Err(Unbalanced::Little { area, sojourns });
        }
        if due != emitted {
            return Err(Unbalanced::Tokens { emitted, due });
        }
        Ok(())
    }
}
