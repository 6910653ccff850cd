//! Foreign text into values.

pub mod measurements;
