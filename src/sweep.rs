//! A grid of points, priced tile by tile and handed over in order: nothing ever holds all rows.

pub mod best;
pub mod condition;
pub mod grid;
pub mod row;
pub mod run;
pub mod shard;
pub mod summary;
mod yields;
