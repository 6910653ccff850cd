//! Words of what engines print.

use super::Word;

words!(
    /// In what form acceptance was read.
    Printout {
        /// vLLM's counters, V1 engine.
        VllmCounters = "vllm-counters",
        /// vLLM's counters and gauges, V0 engine.
        VllmV0Counters = "vllm-v0-counters",
        /// vLLM's log lines, V1 engine.
        VllmLog = "vllm-log",
        /// vLLM's log lines, V0 engine.
        VllmV0Log = "vllm-v0-log",
        /// vLLM's metrics of a request.
        VllmRequest = "vllm-request",
        /// `vllm bench serve`, as JSON or as printed.
        VllmBench = "vllm-bench",
        /// SGLang's log lines.
        SglangLog = "sglang-log",
        /// SGLang's gauges.
        SglangGauges = "sglang-gauges",
        /// `meta_info` of a request to SGLang.
        SglangRequest = "sglang-request",
        /// SGLang's server info.
        SglangServer = "sglang-server",
        /// SGLang's bench_serving.
        SglangBench = "sglang-bench",
        /// TensorRT-LLM's iteration statistics.
        TrtllmIterations = "trtllm-iterations",
        /// TensorRT-LLM's counters.
        TrtllmCounters = "trtllm-counters",
        /// trtllm-bench's report.
        TrtllmBench = "trtllm-bench",
        /// `timings` of a request to llama.cpp's server.
        LlamaTimings = "llamacpp-timings",
        /// Lines that llama.cpp prints after a request.
        LlamaLog = "llamacpp-log",
        /// Statistics that llama.cpp prints of each kind of draft.
        LlamaStatistics = "llamacpp-statistics",
        /// What llama.cpp's speculative examples print.
        LlamaExample = "llamacpp-example",
        /// llama.cpp's counters.
        LlamaCounters = "llamacpp-counters",
        /// aiperf's summary.
        Aiperf = "aiperf",
        /// aiperf's records, one for each request.
        AiperfRecords = "aiperf-records",
        /// guidellm's benchmarks.
        Guidellm = "guidellm",
        /// Tokens of every step of a request.
        Steps = "itl-tokens",
    }
);

words!(
    /// What is to be known of an input before its figures are used.
    Trap {
        /// Counters run since the server started.
        Cumulative = "since-start",
        /// Gauges show the last interval.
        Gauge = "last-interval",
        /// Later tokens count though an earlier one was rejected.
        PositionIndependent = "position-independent",
        /// Cumulative lines: the last one counts.
        LastLine = "last-line",
        /// The printed length leaves the bonus token out.
        BonusLeftOut = "bonus-left-out",
        /// Counts follow from rounded figures.
        Rounded = "rounded",
        /// Drafts differ in length.
        VariedDrafts = "varied-drafts",
        /// Rounds were not counted and are inferred.
        RoundsInferred = "rounds-inferred",
        /// The rate counts the bonus token and the root.
        RateWithBonus = "rate-with-bonus",
        /// Weighed by running requests.
        WeighedByRequests = "weighed-by-requests",
        /// Lengths hold the first token and are cut at the end.
        EndsOfOutputs = "ends-of-outputs",
        /// Means over requests, ranks or runs, not weighed.
        Unweighed = "unweighed",
        /// Two scrapes, with whatever else ran between them.
        OtherTraffic = "other-traffic",
        /// Gaps between chunks hold several tokens each.
        ItlPerChunk = "itl-per-chunk",
        /// Draft tokens were reconstructed by the tool.
        Reconstructed = "reconstructed",
        /// Tokens for each chunk stand for accepted ones.
        Proxy = "proxy",
        /// Prompts were random.
        RandomPrompts = "random-prompts",
        /// Counters fell: the server restarted.
        Restarted = "restarted",
        /// Lines of diffusion models were passed over.
        Diffusion = "diffusion",
        /// What it says of accepted drafts does not fit together.
        Contradiction = "contradiction",
        /// The input ends in the middle.
        CutOff = "cut-off",
        /// The draft length is that of a chain.
        ChainAssumed = "chain-assumed",
        /// Nothing was there to subtract.
        NothingEarlier = "nothing-earlier",
        /// A rank of the earlier scrape is not in the later.
        Gone = "rank-gone",
        /// Drafts form trees: more of them than levels.
        Tree = "tree",
        /// Other values of a series that came twice were passed over.
        Repeated = "repeated",
    }
);

words!(
    /// How a text of an engine is read.
    Reading {
        /// Log lines, or what a tool printed.
        Log = "log",
        /// Counters and gauges in Prometheus' text form.
        Prometheus = "prometheus",
        /// JSON: one value or many, on lines of their own or not.
        Json = "json",
    }
);

impl Trap {
    /// What it means, for people.
    #[must_use]
    pub const fn told(self) -> &'static str {
        match self {
            Self::Cumulative => {
                "counted since the server started, warm-up included: take two scrapes and subtract them with --since"
            }
            Self::Gauge => {
                "a gauge shows the last interval only, and scrapes of it cannot be weighed: prefer counters, a log or requests"
            }
            Self::PositionIndependent => {
                "V0 counts a draft as accepted that would have been although one before it was rejected: its rate is no share of drafts \
                 that came out. Tokens per pass follow from emitted tokens, if every draft had length k"
            }
            Self::LastLine => "sums since the start: the last line of the input counts",
            Self::BonusLeftOut => "this version prints the mean length without the bonus token; here it is with it",
            Self::Rounded => "rounds and positions follow from drafts over k and from rates of three digits",
            Self::VariedDrafts => {
                "drafts differ in length: a rate at a position mixes what was rejected with what was not drafted"
            }
            Self::RoundsInferred => {
                "rounds are not printed: they are the decode steps, one for each token that is no accepted draft"
            }
            Self::RateWithBonus => {
                "SGLang up to 0.5.10 prints a rate that counts the bonus token and the root: here it is accepted over drafted"
            }
            Self::WeighedByRequests => {
                "lines are weighed by running requests, each standing for as many decode steps: SGLang prints no counts"
            }
            Self::EndsOfOutputs => {
                "accepted drafts follow from completion tokens, which hold the first token and are cut at the end: biased for short outputs"
            }
            Self::Unweighed => "a mean over requests or ranks, in which short ones count as much as long ones",
            Self::OtherTraffic => {
                "the difference of two scrapes: warm-up and whatever else the server did in between are in it"
            }
            Self::ItlPerChunk => {
                "ITL is the gap between chunks of several tokens, not the time of one: compare TPOT with a run without speculation"
            }
            Self::Reconstructed => {
                "the tool reconstructs drafts and rounds from output tokens and iterations: good to about a token a request"
            }
            Self::Proxy => "tokens of a streamed chunk stand for tokens of a round: engines may join or split chunks",
            Self::RandomPrompts => "suspect: prompts were random, and acceptance on them says nothing of real ones",
            Self::Restarted => "counters fell: the server restarted, and what it counted before the restart is missing",
            Self::Diffusion => "lines of diffusion models were passed over: they tell of no drafts",
            Self::Contradiction => {
                "positions do not add up to the accepted drafts: counters of different moments or engines"
            }
            Self::CutOff => "the input breaks off in the middle of a value: what came before it is counted",
            Self::Tree => {
                "drafts form a tree: more of them than levels, so that accepted over drafted cannot reach 1 and alpha is that of a level"
            }
            Self::ChainAssumed => {
                "k is the verified tokens less the root, as of a chain; if drafts form a tree, --k gives its steps"
            }
            Self::Gone => {
                "a rank or model of the earlier scrape is not in the later one: what it counted in between is missing"
            }
            Self::NothingEarlier => {
                "the earlier scrape holds nothing of this model and rank: all of it is counted, from the start on"
            }
            Self::Repeated => "a series came more than once: the last value counts",
        }
    }
}
