//! Where figures of acceptance come from, and how far they may be off.

/// Where acceptance figures were measured. Outputs repeat it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Provenance {
    /// The prompts.
    pub dataset: Option<String>,
    /// The sampling temperature.
    pub temperature: Option<f64>,
    /// The engine and its version.
    pub engine: Option<String>,
    /// Anything else.
    pub note: Option<String>,
    /// Whether it is what is published of such drafters, where a study states none.
    pub is_published: bool,
}

impl Provenance {
    /// One line for a report, or `None` if nothing is known.
    #[must_use]
    pub fn line(&self) -> Option<String> {
        let temperature = self.temperature.map(|value| format!("temperature {value}"));
        let parts: Vec<&str> =
            [&self.dataset, &temperature, &self.engine, &self.note].into_iter().flatten().map(String::as_str).collect();
        (!parts.is_empty()).then(|| parts.join(", "))
    }
}

/// Accepted drafts over what is stated, the same at every draft length: 5 % and 95 % lie below.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spread {
    /// 5 % below; above 0 and at most 1.
    pub low: f64,
    /// 95 % below; at least 1.
    pub high: f64,
}

/// A spread that cannot be.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[error(
    "a spread is two factors around 1, the first above 0 and at most 1, the second at least 1, not {low} and {high}"
)]
pub struct NotASpread {
    /// The first.
    pub low: f64,
    /// The second.
    pub high: f64,
}

impl Spread {
    /// Two factors.
    ///
    /// # Errors
    ///
    /// [`NotASpread`] unless `0 < low <= 1 <= high`, both finite.
    pub fn new(low: f64, high: f64) -> Result<Self, NotASpread> {
        let sound = low > 0.0 && low <= 1.0 && high >= 1.0 && high.is_finite();
        if sound { Ok(Self { low, high }) } else { Err(NotASpread { low, high }) }
    }

    /// The factor at so many deviations of a normal law of its logarithm, with a width of its own on each side.
    ///
    /// # Examples
    ///
    /// 1.645 deviations below lie 5 %:
    ///
    /// ```
    /// use specplan::domain::provenance::Spread;
    /// let of = Spread::new(0.8, 1.1)?;
    /// assert!((of.factor(-1.644_853_626_951_472_7) - 0.8).abs() < 1e-12 && of.factor(0.0) == 1.0);
    /// # Ok::<(), specplan::domain::provenance::NotASpread>(())
    /// ```
    #[must_use]
    pub fn factor(&self, deviations: f64) -> f64 {
        let end = if deviations < 0.0 { self.low } else { self.high };
        end.powf(deviations.abs() / NINE_IN_TEN)
    }
}

/// Deviations of a normal law below which 95 % lie: nine in ten are within as many on both sides.
pub const NINE_IN_TEN: f64 = 1.644_853_626_951_472_7;
