//! Will speculative decoding pay on your hardware, with which drafter, draft length and up to which
//! load?
//!
//! # The model on one page
//!
//! A plain decoding step emits one token for each of B sequences and takes `t_plain`. A speculative
//! round lets a drafter propose k tokens for each sequence, verifies them in one pass of the target
//! over k + 1 positions, and keeps the accepted prefix and one more token of the target:
//!
//! ```text
//! t_round  = draft(k) + verify(k + 1) + overhead
//! tokens   = E[accepted] + 1                         1 to k + 1 for each pass
//! speedup  = tokens x t_plain / t_round              at equal batch and context, prefill left out
//! ```
//!
//! A pass is priced by a roofline. For a model known by its totals it is one maximum over sums,
//!
//! ```text
//! t(B, q) = max( 2 N B q / peak, (w N + kv ctx B) / bandwidth )
//! ```
//!
//! and for one known by its layers one maximum for each operator. Real engines do not reach it; what fits
//! them is a sum, in which arithmetic counts from the first token on:
//!
//! ```text
//! t(B, q) = fixed kernels + weight bytes / (eta_bw BW) + 2 N B q / (eta_c peak) + kv ctx B / (eta_kv BW)
//! ```
//!
//! and a step, a draft pass and a round have a time of the engine's own. N parameters of w bytes are read
//! once whatever B and q are, each sequence's KV cache of `ctx` tokens is read once whatever q is, and
//! arithmetic grows with B q. With a chance alpha that a draft is accepted given all before it were,
//! `tokens = 1 + alpha + … + alpha^k`.
//!
//! Sources: Leviathan, Kalman, Matias 2023 (arXiv 2211.17192); Chen et al. 2023 (arXiv 2302.01318);
//! Williams, Waterman, Patterson, "Roofline", CACM 2009.
//!
//! # The modules, in reading order
//!
//! Data flows one way: text, values, pure computation, values, text.
//!
//! | module | what it holds |
//! |---|---|
//! | [`units`], [`words`] | quantities as types; closed vocabularies |
//! | [`domain`] | validated values: device, model, drafter, scenario |
//! | [`cost`] | how long a forward pass takes, and what memory it needs |
//! | [`acceptance`] | how many tokens a round yields |
//! | [`plan`] | both combined: round, speedup, best k, the decision and how sure it is |
//! | [`import`] | foreign text into values: published measurements |
//! | [`evidence`] | predictions against measurements |
//! | [`sweep`] | a grid of points, streamed in order |
//! | [`traffic`] | requests that arrive, wait and share steps |
//! | [`report`] | tables, CSV, JSON, charts, manifest |
//! | [`catalog`] | TOML into values, with every mistake of a file at once |
//! | [`cli`] | the command line |
//! | [`rng`], [`parallel`], [`diagnostic`] | random numbers, threads, mistakes |
//!
//! # Example
//!
//! The founding study's best cell: alpha 0.8, k 4, batch 1 gives 2.02x.
//!
//! ```
//! use specplan::catalog::{load::{load, Request}, lookup::SearchPath};
//! use specplan::sweep::{grid::Grid, run::Pricer};
//!
//! let loaded = load(&SearchPath::default(), &Request { scenario: "founding-study", changes: &[], seed: None, published: false })
//!     .map_err(|mistakes| specplan::diagnostic::render(&mistakes, false))?;
//! let grid = Grid::new(&loaded.scenario, 1_000_000)?;
//! let pricer = Pricer::new(&grid);
//! let all: Vec<_> = grid.tiles().flat_map(|tile| pricer.rows(&tile)).collect();
//! let row = all.iter().find(|row| row.batch == 1 && row.alpha == Some(0.8) && row.k == 4).ok_or("no such row")?;
//! assert_eq!(format!("{:.2}x", row.speedup()), "2.02x");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod acceptance;
pub mod catalog;
pub mod cli;
pub mod cost;
pub mod diagnostic;
pub mod domain;
pub mod evidence;
pub mod import;
pub mod parallel;
pub mod plan;
pub mod report;
pub mod rng;
pub mod sweep;
pub mod traffic;
pub mod units;
pub mod words;
