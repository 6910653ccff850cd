//! The only reader of TOML: files and command-line changes in, validated values or all mistakes out.

pub mod builtin;
pub mod edit;
pub mod load;
pub mod lookup;
pub mod method;
pub mod names;
pub mod shelf;

mod acceptance;
mod calibration;
mod check;
mod deployment;
pub mod drafter;
mod engine;
mod formats;
mod hardware;
mod inherit;
mod layers;
mod measured;
mod model;
mod node;
mod published;
mod reader;
mod scenario;
mod shape;
mod simulate;
mod traffic;
mod uncertainty;
mod values;
mod verify_cost;
mod workloads;
