//! Words of launch commands.

use super::Word;

words!(
    /// A server that decodes, as its makers write it.
    Server {
        /// vLLM.
        Vllm = "vllm",
        /// SGLang.
        Sglang = "sglang",
        /// TensorRT-LLM.
        TensorRtLlm = "tensorrt-llm",
        /// llama.cpp.
        LlamaCpp = "llama.cpp",
    }
);

words!(
    /// What sizes of captured graphs count.
    CaptureUnit {
        /// New tokens of a step.
        Tokens = "tokens",
        /// Sequences.
        Sequences = "sequences",
    }
);

impl Default for CaptureUnit {
    /// What a scenario counts that says nothing else.
    fn default() -> Self {
        Self::Tokens
    }
}
