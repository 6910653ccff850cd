//! Serving over time: requests arrive, wait, share steps and leave; with speculation and without.

pub mod capacity;
mod engine;
pub mod limits;
pub mod measures;
pub mod policy;
pub mod requests;
pub mod room;
pub mod run;
pub mod service;
pub mod study;
pub mod tally;
