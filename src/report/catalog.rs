//! The catalog for people and for programs: figures, what follows from them, and where they are from.

pub mod columns;
pub mod device;
pub mod list;
pub mod model;
pub mod sheet;
