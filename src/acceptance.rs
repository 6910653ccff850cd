//! How many tokens does a round yield? Pure: acceptance in, tokens out; nothing here knows a cost.
//!
//! A round drafts k tokens. A of them are accepted, 0 to k; the target adds one more, a correction
//! or a bonus. So a target pass yields T = A + 1 tokens, and `tokens_per_pass` is E\[T\].

pub mod accepted;
pub mod batch;
pub mod beam;
pub mod best_tree;
pub mod beta;
mod carried;
pub mod chain;
pub mod convert;
pub mod counted;
pub mod estimate;
pub mod exact;
pub mod fit;
pub mod invert;
pub mod model;
pub mod observed;
pub mod population;
pub mod process;
mod quadrature;
pub mod ragged;
pub mod runs;
pub mod sampler;
pub mod sequence;
pub mod several;
pub mod simulate;
pub mod spans;
pub mod study;
pub mod temperature;
pub mod tree;
