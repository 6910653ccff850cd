//! Serving over time: requests arrive, wait, share steps and leave; with speculation and without.

pub mod limits;
