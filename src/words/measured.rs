//! Words of published measurements.

use super::Word;

words!(
    /// The kinds of drafter of published measurements.
    MeasuredDrafter {
        /// A separate model.
        Model = "model",
        /// EAGLE or EAGLE-2.
        Eagle1 = "eagle1",
        /// EAGLE-3 with an LM head of its own.
        Eagle3 = "eagle3",
        /// EAGLE-3 over the whole vocabulary.
        Eagle3FullHead = "eagle3_full_head",
        /// Multi-token prediction.
        Mtp = "mtp",
        /// All drafts in one pass.
        Block = "block",
        /// Prompt lookup.
        Ngram = "ngram",
        /// Suffix decoding.
        Suffix = "suffix",
        /// Medusa heads.
        Medusa = "medusa",
        /// The target over a capped KV cache.
        SelfSparseKv = "self_sparse_kv",
    }
);

words!(
    /// Which targets and engines a measurement belongs to.
    Class {
        /// Dense targets on vLLM and SGLang.
        Dense = "dense",
        /// Mixtures of experts on vLLM and SGLang.
        Moe = "moe",
        /// Every other engine.
        Other = "other",
    }
);

words!(
    /// Rules that choose a draft length.
    Policy {
        /// The largest predicted speedup, or not to speculate.
        Model = "model",
        /// Three drafts, or the nearest there is.
        AlwaysThree = "always_3",
        /// The most tokens per pass.
        Longest = "longest",
        /// Not to speculate.
        Never = "never",
    }
);
