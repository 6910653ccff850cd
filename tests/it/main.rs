//! Tests of the whole: architecture, invariants, catalog, golden results, bad inputs, command line.
#![expect(clippy::unwrap_used, clippy::expect_used, reason = "a test stops at what it did not expect")]
#![expect(clippy::disallowed_methods, reason = "tests set their own files up")]

mod acceptance_models;
mod additive;
mod architecture;
mod bad_inputs;
mod calibrate;
mod calibration;
mod catalog;
mod catalog_list;
mod catalog_names;
mod cli;
mod conditions;
mod coverage;
mod csv_rows;
mod deployment;
mod drafters;
mod engine_output;
mod engine_output_used;
mod engine_output_wrapped;
mod exercises;
mod explain;
mod facts;
mod files;
mod golden;
mod import_hf;
mod init;
mod invariants;
mod launch;
mod model_facts;
mod operators;
mod plan;
mod plan_crowded;
mod plan_figures;
mod plan_scan;
mod plan_schedules;
mod program;
mod published_acceptance;
mod published_reports;
mod readme;
mod simulate;
mod tree;
mod validate;
mod validation_study;
mod verify_cost;
