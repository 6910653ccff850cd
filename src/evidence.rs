//! Measurements against predictions. Pure: measurements and what they name in, errors out.

pub mod calibrate;
pub mod founding;
pub mod predict;
pub mod regime;
pub mod regret;
pub mod score;
pub mod study;
pub mod terms;
pub mod validation;
