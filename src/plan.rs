//! Cost and acceptance combined: what a round costs, what it yields, and whether that pays.

pub mod breakeven;
pub mod capacity;
pub mod choose;
pub mod limits;
pub mod point;
pub mod ragged;
pub mod round;
pub mod setting;
pub mod setup;
pub mod speedup;
pub mod tree;
pub mod windows;
pub mod yields;
