//! What a launch command says.

use serde_json::Value;

use crate::import::launch::names::Drafting;
use crate::words::{CaptureUnit, Server};

/// What a command sets; nothing is filled in from defaults or checkpoints.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    /// The target, as it is named.
    pub target: Option<String>,
    /// Its number format, by a flag or by its name.
    pub target_quantization: Option<String>,
    /// Devices that matrices are sliced over.
    pub tensor_parallel: Option<u64>,
    /// Stages.
    pub pipeline_parallel: Option<u64>,
    /// Devices that experts are spread over.
    pub expert_parallel: Option<u64>,
    /// Groups that hold the model, or attend, apart.
    pub data_parallel: Option<u64>,
    /// What drafts.
    pub drafting: Drafting,
    /// The drafter, as it is named.
    pub drafter: Option<String>,
    /// Draft tokens without the bonus; of a tree its depth.
    pub k: Option<u64>,
    /// Children of a tree's nodes, at most.
    pub tree_topk: Option<u64>,
    /// Nodes of a tree, the root among them.
    pub tree_nodes: Option<u64>,
    /// Share of the memory that weights and KV cache may take.
    pub gpu_memory_utilization: Option<f64>,
    /// Sequences that run together, at most.
    pub max_num_seqs: Option<u64>,
    /// Tokens of a step, at most.
    pub max_num_batched_tokens: Option<u64>,
    /// Tokens of a sequence, at most.
    pub max_model_len: Option<u64>,
    /// The number format of the KV cache.
    pub kv_dtype: Option<String>,
    /// Devices that the drafter is sliced over.
    pub draft_tensor_parallel: Option<u64>,
    /// From so many sequences on nothing is drafted.
    pub disable_by_batch_size: Option<u64>,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            target: None,
            target_quantization: None,
            tensor_parallel: None,
            pipeline_parallel: None,
            expert_parallel: None,
            data_parallel: None,
            drafting: Drafting::Nothing,
            drafter: None,
            k: None,
            tree_topk: None,
            tree_nodes: None,
            gpu_memory_utilization: None,
            max_num_seqs: None,
            max_num_batched_tokens: None,
            max_model_len: None,
            kv_dtype: None,
            draft_tensor_parallel: None,
            disable_by_batch_size: None,
        }
    }
}

/// Sizes that graphs are captured for.
#[derive(Clone, Debug, PartialEq)]
pub struct Captures {
    /// What they count.
    pub unit: CaptureUnit,
    /// Each size, where they are listed.
    pub sizes: Vec<u64>,
    /// The largest.
    pub largest: Option<u64>,
}

/// What else a command sets that tells of time or memory.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Further {
    /// The number format of weights and activations.
    pub dtype: Option<String>,
    /// Whether no graphs are captured.
    pub is_eager: bool,
    /// Which graphs are.
    pub captures: Option<Captures>,
    /// Tokens of a block of the KV cache.
    pub block_tokens: Option<u64>,
    /// Of the memory that weights leave, the share for the KV cache: another quantity than a share of all.
    pub free_memory_fraction: Option<f64>,
    /// Whether attention is data parallel over the devices that share the experts.
    pub is_attention_dp: bool,
    /// Why a draft length was not taken, where one was stated.
    pub wrong_length: Option<String>,
    /// k by batch: from, to, k.
    pub schedule: Vec<[u64; 3]>,
    /// The drafter's number format.
    pub draft_quantization: Option<String>,
    /// Tokens of a prefill chunk.
    pub chunk_tokens: Option<u64>,
    /// Machines.
    pub nodes: Option<u64>,
}

/// A launch command, read.
#[derive(Clone, Debug, PartialEq)]
pub struct Launch {
    /// Whose command it is.
    pub server: Server,
    /// What it sets.
    pub settings: Settings,
    /// What else it sets.
    pub further: Further,
    /// Settings that say nothing of time or memory here, for people: name and value.
    pub also: Vec<(String, Value)>,
    /// Environment variables.
    pub env: Vec<(String, String)>,
    /// Flags that nobody here knows, with their values.
    pub unknown: Vec<String>,
    /// Variables and placeholders that stand for something.
    pub open: Vec<String>,
    /// What its author should know.
    pub notes: Vec<String>,
}

/// Why a text is no launch command.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoLaunch {
    /// A quote is not closed.
    #[error("line {line}, column {column}: the {quote} that opens here is not closed")]
    Unclosed {
        /// The quote.
        quote: char,
        /// Where it stands.
        line: usize,
        /// Where in the line.
        column: usize,
    },
    /// No server is started.
    #[error("no command that starts a server is in it")]
    NoServer,
    /// A script in Python.
    #[error("this is Python and no command: write it as the command that serves the same")]
    Python,
}
