//! Foreign text into values.

pub mod engine;
pub mod hf;
pub mod launch;
pub mod measurements;
pub mod points;
pub mod requests;
pub mod rounds;

mod cells;
mod json;
mod value;
