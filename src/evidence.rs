//! Measurements against predictions. Pure: measurements and what they name in, errors out.

pub mod calibrate;
pub mod deployment;
pub mod fitted;
pub mod founding;
pub mod gap;
mod moves;
pub mod next;
pub mod predict;
pub mod profile;
pub mod regime;
pub mod regret;
pub mod repeated;
mod ridge;
pub mod sample;
pub mod score;
pub mod study;
pub mod terms;
pub mod validation;
