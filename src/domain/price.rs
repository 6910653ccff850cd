//! What a device costs in an hour.

/// US dollars for one device and hour.
#[derive(Clone, Debug, PartialEq)]
pub struct HourlyPrice {
    /// Dollars.
    pub usd: f64,
    /// When that was so, of a price that is not the user's own.
    pub dated: Option<String>,
}

impl HourlyPrice {
    /// Dollars for a million tokens, at so many tokens per second of one device.
    ///
    /// # Formula
    ///
    /// ```text
    /// usd_per_hour / 3600 s / tokens_per_s x 10^6
    /// ```
    ///
    /// # Examples
    ///
    /// Two dollars an hour and 1000 tokens per second: 3.6 million tokens for two dollars.
    ///
    /// ```
    /// let price = specplan::domain::price::HourlyPrice { usd: 2.0, dated: None };
    /// assert!((price.per_million(1000.0) - 2.0 / 3.6).abs() < 1e-12);
    /// ```
    #[must_use]
    pub fn per_million(&self, tokens_per_s: f64) -> f64 {
        self.usd / 3600.0 / tokens_per_s * 1e6
    }
}
