//! Foreign text into values.

pub mod engine;
pub mod hf;
pub mod measurements;
pub mod rounds;

mod json;
