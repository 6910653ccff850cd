//! Foreign text into values.

pub mod hf;
pub mod measurements;

mod json;
