//! How long does one forward pass take? Pure: models, devices and shapes in, costs out.

pub mod additive;
pub mod capture;
pub mod draft;
pub mod memory;
pub mod ops;
pub mod pass;
pub mod placement;
pub mod pricing;
pub mod roofline;
pub mod shape;
pub mod terms;
