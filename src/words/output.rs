//! Words of what goes out, and how.

use super::Word;

words!(
    /// What goes to standard output.
    Format {
        /// Tables for people.
        Text = "text",
        /// One JSON document.
        Json = "json",
        /// Comma-separated values.
        Csv = "csv",
        /// Markdown tables.
        Md = "md",
    }
);

words!(
    /// Files to write.
    FileForm {
        /// Comma-separated values.
        Csv = "csv",
        /// One JSON document.
        Json = "json",
        /// An object on each line.
        Jsonl = "jsonl",
        /// Columns, compressed.
        Parquet = "parquet",
        /// Bitmap charts.
        Png = "png",
        /// Vector charts.
        Svg = "svg",
        /// No file, not even the manifest.
        None = "none",
    }
);

words!(
    /// Sides of a batch at which rounds change their course.
    Side {
        /// Smaller batches.
        Below = "below",
        /// Larger batches.
        Above = "above",
    }
);

words!(
    /// Engines that take a draft tree.
    Emit {
        /// The list of choices of Medusa's code.
        Medusa = "medusa",
        /// The flags of SGLang's server.
        Sglang = "sglang",
    }
);

words!(
    /// Forms of a schedule of draft lengths.
    ScheduleForm {
        /// vLLM's speculative config.
        Vllm = "vllm",
        /// SGLang's adaptive config, with its flags.
        Sglang = "sglang",
        /// TensorRT-LLM's options.
        Trtllm = "trtllm",
        /// All schedules, and rectangles of batch and context.
        Json = "json",
    }
);

words!(
    /// When to colour the terminal.
    ColorChoice {
        /// On a terminal, unless `NO_COLOR` is set.
        Auto = "auto",
        /// Always.
        Always = "always",
        /// Never.
        Never = "never",
    }
);

words!(
    /// By what acceptance is kept apart.
    Apart {
        /// Models: they always are.
        Model = "model",
        /// Ranks or engines.
        Rank = "rank",
        /// Files.
        File = "file",
        /// Spans of time.
        Time = "time",
    }
);
