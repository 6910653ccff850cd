//! Cost and acceptance combined: what a round costs, what it yields, and whether that pays.

pub mod along;
pub mod backing;
pub mod breakeven;
pub mod candidate;
pub mod capacity;
pub mod choose;
pub mod constants;
pub mod decision;
pub mod draws;
pub mod full;
pub mod latency;
pub mod limits;
pub mod misfit;
pub mod point;
pub mod ragged;
pub mod rivals;
pub mod round;
pub mod setting;
pub mod setup;
pub mod spans;
pub mod speedup;
pub mod tornado;
pub mod tree;
pub mod verdict;
pub mod windows;
pub mod yields;
