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

words!(
    /// What keeps a service from taking more.
    Limit {
        /// Time to first token.
        Ttft = "ttft",
        /// Time for each further token.
        Tpot = "tpot",
        /// Time to the last token.
        E2e = "e2e",
        /// More requests come than are answered.
        PilingUp = "piling_up",
        /// Requests that memory or the longest context cannot hold.
        Refused = "refused",
    }
);
