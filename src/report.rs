//! Values into bytes: tables, CSV, JSON, charts, manifest. Pure: who writes them is not known here.

pub mod acceptance;
pub mod calibration;
pub mod catalog;
pub mod chart;
pub mod converted;
pub mod csv;
pub mod engine;
pub mod explanation;
pub mod figures;
mod footnotes;
mod fragments;
pub mod gap;
pub mod imported;
pub mod json;
pub mod launch;
pub mod launch_study;
pub mod manifest;
pub mod model_file;
pub mod number;
#[cfg(feature = "parquet")]
pub mod parquet;
pub mod pick;
pub mod plan;
pub mod profile_file;
pub mod rows;
pub mod sample;
pub mod simulation;
pub mod study;
pub mod summary;
pub mod table;
pub mod toml;
pub mod traffic;
pub mod tree;
pub mod trust;
pub mod validation;
