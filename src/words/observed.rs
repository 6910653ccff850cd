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
