//! Words of traffic.

use super::Word;

words!(
    /// How requests come.
    Arriving {
        /// Independently, at a rate.
        Poisson = "poisson",
        /// In bursts, or more evenly than that.
        Gamma = "gamma",
        /// At equal intervals.
        Constant = "constant",
        /// From clients who wait for each answer.
        Closed = "closed",
    }
);

words!(
    /// How full a service is.
    Fullness {
        /// Sequences that decode.
        Batch = "batch",
        /// Requests that wait.
        Queue = "queue",
        /// Share of the KV cache in use.
        Kv = "kv",
    }
);
