//! specplan: will speculative decoding pay?
pub mod acceptance;
pub mod catalog;
pub mod cli;
pub mod cost;
pub mod diagnostic;
pub mod domain;
pub mod parallel;
pub mod plan;
pub mod report;
pub mod rng;
pub mod sweep;
pub mod units;
pub mod words;
