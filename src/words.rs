//! Closed vocabularies, one enum each: the same word on the command line, in TOML and in CSV.

/// A closed vocabulary.
pub trait Word: Copy + 'static {
    /// Every word, in the order in which help and errors list them.
    const ALL: &'static [Self];
    /// The word as it is written.
    fn as_str(self) -> &'static str;
}

macro_rules! words {
    ($(#[$doc:meta])* $name:ident { $($(#[$variant_doc:meta])* $variant:ident = $word:literal),+ $(,)? }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum $name {
            $($(#[$variant_doc])* $variant),+
        }

        impl $name {
            /// How many words there are.
            pub const COUNT: usize = <Self as Word>::ALL.len();

            /// The word as it is written.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self {
                    $(Self::$variant => $word),+
                }
            }
        }

        impl Word for $name {
            const ALL: &'static [Self] = &[$(Self::$variant),+];
            fn as_str(self) -> &'static str {
                self.as_str()
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.as_str())
            }
        }

        impl clap::ValueEnum for $name {
            fn value_variants<'a>() -> &'a [Self] {
                <Self as Word>::ALL
            }
            fn to_possible_value(&self) -> Option<clap::builder::PossibleValue> {
                Some(clap::builder::PossibleValue::new(self.as_str()))
            }
        }
    };
}

mod estimated;
mod fitted;
mod launch;
mod measured;
mod observed;
mod output;
mod served;

pub use estimated::Estimated;
pub use fitted::Fitted;
pub use launch::{CaptureUnit, Server};
pub use measured::{Class, MeasuredDrafter, Policy};
pub use observed::{Printout, Reading, Trap};
pub use output::{Apart, ColorChoice, Emit, FileForm, Format, ScheduleForm, Side};
pub use served::{Arriving, Fullness, Limit};

words!(
    /// How a pass is priced.
    Roofline {
        /// One maximum over the sums of a pass.
        Aggregate = "aggregate",
        /// One maximum per operator.
        PerOp = "per_op",
        /// The sum of fixed, weight, arithmetic and KV terms.
        Additive = "additive",
    }
);

words!(
    /// The class of cost with the largest share of a pass.
    Bound {
        /// Weights and KV cache.
        Memory = "memory",
        /// Arithmetic.
        Compute = "compute",
        /// Communication between devices.
        Network = "network",
        /// Fixed costs: kernels, steps, host.
        Overhead = "overhead",
    }
);

words!(
    /// The operators of a pass, in its order.
    OpName {
        /// Token embeddings are gathered.
        Embed = "embed",
        /// All normalisations before and after layers.
        Norms = "norms",
        /// Inputs of a drafting head are joined.
        Fuse = "fuse",
        /// Queries, keys and values are projected.
        Qkv = "qkv",
        /// Queries and outputs take in what would expand a latent.
        Absorb = "absorb",
        /// Scores and values.
        Attention = "attention",
        /// A state of fixed size is read, updated and written.
        State = "state",
        /// The output is projected.
        O = "o",
        /// Experts are picked.
        Router = "router",
        /// The picked experts.
        Experts = "experts",
        /// The experts that every token passes through.
        SharedExperts = "shared_experts",
        /// Gate and up matrices.
        GateUp = "gate_up",
        /// The up matrix of a plain layer.
        Up = "up",
        /// The down matrix.
        Down = "down",
        /// The LM head.
        LmHead = "lm_head",
    }
);

words!(
    /// The terms of the additive form, switchable one by one.
    Term {
        /// A fixed time for each matrix product.
        ProductKernels = "product_kernels",
        /// A fixed time for each layer's attention.
        AttentionKernels = "attention_kernels",
        /// A fixed time for routing in each layer of experts.
        Routing = "routing",
        /// Weights are read once.
        Weights = "weights",
        /// Embedding rows and normalisations are read.
        SmallReads = "small_reads",
        /// Matrix products, from the first token on.
        Arithmetic = "arithmetic",
        /// Scores and values.
        AttentionArithmetic = "attention_arithmetic",
        /// The KV cache is read once for each sequence.
        KvRead = "kv_read",
        /// The new tokens are written to it.
        KvWrite = "kv_write",
        /// A fixed time for each all-reduce.
        AllReduceStart = "all_reduce_start",
        /// What all-reduces send.
        AllReduceTraffic = "all_reduce_traffic",
        /// A fixed time for each exchange with the devices that hold the experts.
        AllToAllStart = "all_to_all_start",
        /// What these exchanges send.
        AllToAllTraffic = "all_to_all_traffic",
        /// What passes from stage to stage.
        Pipeline = "pipeline",
        /// Arithmetic of tokens that only fill a captured graph.
        Padding = "padding",
        /// What is missing to the pace of launches beyond the largest captured graph.
        Uncaptured = "uncaptured",
        /// What is missing to the floor that launches set for each layer.
        LayerFloor = "layer_floor",
        /// The engine's time for each step and each verification.
        Step = "step",
        /// The engine's time for each draft pass.
        Draft = "draft",
        /// The engine's time for each speculative round.
        Round = "round",
        /// The engine's time for each sequence of a round.
        Sequence = "sequence",
        /// The engine's time for each token that a step or round emits of a sequence.
        Token = "token",
    }
);

words!(
    /// How the constants of an engine profile were found.
    Status {
        /// Fitted to published measurements.
        Fitted = "fitted",
        /// Assumed: no measurement stands behind them.
        Assumed = "assumed",
        /// Fitted to the user's own measurements.
        Calibrated = "calibrated",
    }
);

words!(
    /// How a head drafts.
    HeadKind {
        /// EAGLE and EAGLE-2: one layer, the target's LM head.
        Eagle1 = "eagle1",
        /// EAGLE-3: one layer over embedding and hidden state, an LM head of its own.
        Eagle3 = "eagle3",
        /// Multi-token prediction: a layer like the target's.
        Mtp = "mtp",
        /// All drafts in one pass (DFlash, DSpark, P-EAGLE).
        Block = "block",
        /// Independent heads on the last hidden state.
        Medusa = "medusa",
    }
);

words!(
    /// A number format of weights, activations or KV cache.
    Dtype {
        /// 32-bit float.
        Fp32 = "fp32",
        /// 32-bit storage, 19-bit arithmetic.
        Tf32 = "tf32",
        /// Brain float.
        Bf16 = "bf16",
        /// Half float.
        Fp16 = "fp16",
        /// 8-bit float.
        Fp8 = "fp8",
        /// 8-bit integer.
        Int8 = "int8",
        /// 4-bit float.
        Fp4 = "fp4",
        /// 4-bit float with a shared scale for each 32 values.
        Mxfp4 = "mxfp4",
        /// 4-bit integer with group scales.
        Int4 = "int4",
    }
);

words!(
    /// What limits the sequences that run together.
    Limiter {
        /// Device memory.
        Memory = "memory",
        /// The engine's `max_num_seqs`.
        MaxNumSeqs = "max_num_seqs",
        /// The engine's `max_num_batched_tokens`, over the tokens of a sequence in a step.
        MaxNumBatchedTokens = "max_num_batched_tokens",
        /// The engine's `max_model_len`: not one sequence is admitted.
        MaxModelLen = "max_model_len",
    }
);

words!(
    /// Parts of a model whose weights may have a format of their own.
    Part {
        /// Attention matrices, and those of what stands in its place.
        Attention = "attention",
        /// Dense and shared feed-forward matrices, and routers.
        Ffn = "ffn",
        /// The experts that are picked.
        Experts = "experts",
        /// The LM head.
        LmHead = "lm_head",
        /// The input embedding.
        Embedding = "embedding",
    }
);

words!(
    /// What a catalog file describes; also the name of its folder.
    Kind {
        /// An accelerator.
        Hardware = "hardware",
        /// A target, a drafter or a head.
        Models = "models",
        /// An engine profile.
        Engines = "engines",
        /// A study.
        Scenarios = "scenarios",
    }
);

words!(
    /// Kinds of normalisation.
    NormKind {
        /// A scale.
        Rms = "rms",
        /// A scale and a shift.
        Layer = "layer",
        /// Neither.
        None = "none",
    }
);

words!(
    /// What a model is for.
    Role {
        /// Generates the answer.
        Target = "target",
        /// Proposes tokens on its own.
        Drafter = "drafter",
        /// Proposes tokens from a target's hidden state.
        Head = "head",
    }
);

words!(
    /// The kinds of drafter of the scenario format.
    DrafterKind {
        /// A separate model.
        Model = "model",
        /// An EAGLE head.
        Eagle = "eagle",
        /// Multi-token prediction layers.
        Mtp = "mtp",
        /// Medusa heads.
        Medusa = "medusa",
        /// All k tokens in one pass.
        Block = "block",
        /// Prompt lookup.
        Ngram = "ngram",
        /// Suffix decoding.
        Suffix = "suffix",
        /// The target with layers left out.
        LayerSkip = "layer_skip",
        /// The target with a capped KV cache.
        SparseKv = "sparse_kv",
        /// Look-ahead decoding.
        Lookahead = "lookahead",
        /// A constant share of the plain step.
        Constant = "constant",
    }
);

words!(
    /// The kinds of acceptance of the scenario format.
    AcceptanceKind {
        /// One chance for every draft.
        Iid = "iid",
        /// One chance for each position.
        PerPosition = "per_position",
        /// Mean tokens per pass at one k.
        MeanLength = "mean_length",
        /// Accepted over drafted at one k.
        Rate = "rate",
        /// Tokens per pass for each k.
        ByK = "by_k",
        /// Counters of an engine.
        Counts = "counts",
        /// Beta-distributed chances.
        Beta = "beta",
        /// Easy and hard spans.
        Markov = "markov",
        /// Recorded rounds.
        Trace = "trace",
        /// An engine's metrics.
        Metrics = "metrics",
        /// Chances of ranked candidates.
        Ranks = "ranks",
        /// Several workloads of one service.
        Workloads = "workloads",
    }
);

words!(
    /// What a Beta-distributed alpha varies with.
    Scope {
        /// Each round draws its alpha.
        Round = "round",
        /// Each sequence keeps its alpha.
        Sequence = "sequence",
    }
);
