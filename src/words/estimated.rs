//! What a simulation estimates.

use super::Word;

words!(
    /// What a line of `simulate` estimates.
    Estimated {
        /// How often a token comes out; theory: p.
        TokenShare = "token_share",
        /// How often a draft is accepted; theory: `sum min(p, q)`.
        Acceptance = "acceptance",
        /// Distance of what came out from p; theory: what noise alone gives.
        TotalVariation = "total_variation",
        /// Acceptance where both laws have a temperature and drafts are drawn.
        AcceptanceDrawn = "acceptance_drawn",
        /// Acceptance where the drafter's likeliest token is drafted.
        AcceptanceGreedy = "acceptance_greedy",
        /// The chance that a draw from each law agree.
        AcceptanceMatching = "acceptance_matching",
        /// Several drafts for a position that may repeat.
        SeveralWithReplacement = "several_with_replacement",
        /// The most that any lossless rule can accept of them.
        SeveralBound = "several_bound",
        /// Several drafts for a position, no token twice.
        SeveralWithoutReplacement = "several_without_replacement",
        /// The most that any lossless rule can accept of them.
        SeveralWithoutBound = "several_without_bound",
        /// Tokens of the first round of laws that depend on the token before, drafts being drawn.
        TokensDrawn = "tokens_per_pass_drawn",
        /// The same with the likeliest tokens as drafts.
        TokensGreedy = "tokens_per_pass_greedy",
        /// The first of these over many rounds, each beginning after the token that the last one ended on.
        TokensDrawnLongRun = "tokens_per_pass_drawn_long_run",
        /// The second over many rounds.
        TokensGreedyLongRun = "tokens_per_pass_greedy_long_run",
        /// Mean tokens of a round.
        TokensPerPass = "tokens_per_pass",
        /// How often a round accepts so many drafts.
        AcceptedShare = "accepted_share",
        /// Tokens of a round of the sequence with the fewest of a batch.
        SlowestTokens = "slowest_tokens",
        /// Tokens of a round of the sequence with the most of a batch.
        FastestTokens = "fastest_tokens",
        /// Rounds until a sequence is complete.
        RoundsToFinish = "rounds_to_finish",
        /// Rounds until the last sequence of a batch is.
        RoundsOfLast = "rounds_of_last",
        /// Seconds of a batch that nothing joins.
        StaticSeconds = "static_batch_s",
        /// Tokens per second that half of all sequences reach or exceed.
        TokensPerSP50 = "tokens_per_s_p50",
        /// Tokens per second that 95 % of all sequences reach or exceed.
        TokensPerSP95 = "tokens_per_s_p95",
        /// Tokens per second that 99 % of all sequences reach or exceed.
        TokensPerSP99 = "tokens_per_s_p99",
    }
);
