//! Validated values: what a device, a model, a drafter or a study *is*. No text, no I/O.
//!
//! A value that exists has been checked: fields with an invariant are private and set by a
//! constructor that can refuse.

pub mod acceptance;
pub mod attention;
pub mod axis;
pub mod beta;
pub mod calibration;
pub mod deployment;
pub mod device;
pub mod drafter;
pub mod engine;
pub mod ffn;
pub mod formats;
pub mod head;
pub mod law;
pub mod layers;
pub mod measured;
pub mod measurement;
pub mod mla;
pub mod model;
pub mod observed;
pub mod price;
pub mod provenance;
pub mod ranks;
pub mod recurrent;
pub mod scenario;
pub mod served;
pub mod shape;
pub mod simulate;
pub mod spans;
pub mod trace;
pub mod traffic;
pub mod tree;
pub mod uncertainty;
pub mod verify_cost;
pub mod workload;
