//! The validation study: the shared form fitted to all sources but one, and held against that one.
//!
//! Pure: what was measured with everything it names in, predictions and fits out. Efficiencies of hardware are those
//! of kernel micro-benchmarks throughout; priors come from no measured speedup. What is fitted are the times of engines
//! and a few constants that all of them share.

pub mod constants;
pub mod findings;
pub mod fit;
pub mod folds;
pub mod interval;
pub mod standing;
pub mod subject;
pub mod variant;
