//! The axes of a study as a grid, cut into tiles of bounded size in the order of the rows.
//!
//! Slowest axis first: hardware, target, tensor parallelism, engine, drafter (these five make a
//! [`Block`]), then context, batch, acceptance, k.

use std::ops::Range;

use crate::domain::axis::Axis;
use crate::domain::device::Device;
use crate::domain::drafter::Drafter;
use crate::domain::engine::Engine;
use crate::domain::scenario::Scenario;
use crate::plan::backing::Backing;
use crate::plan::limits::{Beyond, beyond};
use crate::plan::setting::Setting;
use crate::plan::setup::{Setup, SetupError};
use crate::plan::yields::acceptances;
use crate::sweep::row::Labels;

/// The rows of a tile, at most: enough that pricing a place is shared by many of its acceptances, few enough to stay near the core.
const TILE_ROWS: u64 = 2048;
/// Combinations of context, batch and acceptance of a tile with every draft length, at most.
const TILE_LINES: u64 = 4096;
/// And its points, unless one line has more.
const LINE_POINTS: u64 = 1 << 18;

/// Everything a study asks for.
#[derive(Debug)]
pub struct Grid<'s> {
    /// The combinations of named axes, in order.
    pub blocks: Vec<Block<'s>>,
    /// Contexts of every block.
    pub context: &'s Axis<u64>,
    /// Batches of every block.
    pub batch: &'s Axis<u64>,
}

/// One combination of the named axes.
#[derive(Debug)]
pub struct Block<'s> {
    /// Its names.
    pub labels: Labels<'s>,
    /// The device.
    pub device: &'s Device,
    /// The engine.
    pub engine: &'s Engine,
    /// The drafter; none: plain decoding only.
    pub drafter: Option<&'s Drafter>,
    /// What measurements stand behind its prices.
    pub backing: Backing<'s>,
    /// What prices it.
    pub setup: Setup<'s>,
    /// Draft lengths; only 0 without a drafter.
    pub k: Axis<u64>,
}

/// Combinations of hardware, target, engine and drafter beyond this are a mistake, not a study.
const MOST_BLOCKS: u64 = 10_000;

/// Why a study makes no grid.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum GridError {
    /// More points than are allowed.
    #[error("this sweep has {points} points, more than {most}")]
    TooManyPoints {
        /// How many, for people.
        points: String,
        /// How many are allowed.
        most: u64,
    },
    /// More combinations of named things than are allowed.
    #[error("hardware, targets, engines and drafters make {0} combinations, more than {MOST_BLOCKS}")]
    TooManyBlocks(u64),
    /// Combinations that cannot be priced.
    #[error("{}", .0.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "))]
    Setups(Vec<SetupError>),
}

impl<'s> Grid<'s> {
    /// The grid of a study, if it has at most `most` points.
    ///
    /// # Errors
    ///
    /// [`GridError`]; the size is known before anything is made for it.
    pub fn new(scenario: &'s Scenario, most: u64) -> Result<Self, GridError> {
        check_size(scenario, most)?;
        let drafters: Vec<Option<&Drafter>> = match scenario.drafters.as_slice() {
            [] => vec![None],
            drafters => drafters.iter().map(Some).collect(),
        };
        let (mut blocks, mut refused) = (Vec::new(), Vec::new());
        for setting in Setting::all(scenario) {
            for &drafter in &drafters {
                match Block::new(setting, drafter) {
                    Ok(block) => blocks.push(block),
                    Err(error) if refused.contains(&error) => {}
                    Err(error) => refused.push(error),
                }
            }
        }
        if !refused.is_empty() {
            return Err(GridError::Setups(refused));
        }
        Ok(Self { blocks, context: scenario.axes.context(), batch: scenario.axes.batch() })
    }

    /// The number of rows.
    #[must_use]
    pub fn points(&self) -> u64 {
        let shared = self.context.len() * self.batch.len();
        self.blocks.iter().map(|block| shared * block.acceptances() * block.k.len()).sum()
    }

    /// The tiles, in the order of the rows.
    pub fn tiles(&self) -> impl Iterator<Item = Tile> + Send {
        self.wholes().flat_map(|whole| whole.cut(|lengths| sizes(lengths, TILE_ROWS)))
    }

    /// Tiles with every draft length of what they hold, in the order of the rows.
    pub fn whole_lines(&self) -> impl Iterator<Item = Tile> + Send {
        self.wholes().flat_map(|whole| whole.in_lines())
    }

    /// Tiles with every batch, acceptance and draft length of one context, in the order of the rows.
    pub fn whole_contexts(&self) -> impl Iterator<Item = Tile> + Send {
        self.wholes().flat_map(|whole| whole.cut(|[_, batch, acceptance, k]| [1, batch, acceptance, k]))
    }

    /// A tile for each block.
    fn wholes(&self) -> impl Iterator<Item = Tile> + Send {
        self.blocks.iter().enumerate().map(move |(at, block)| Tile {
            block: at,
            context: 0..self.context.len(),
            batch: 0..self.batch.len(),
            acceptance: 0..block.acceptances(),
            k: 0..block.k.len(),
        })
    }
}

/// Refuses what is too large, counting in floats: the product of four axes can exceed any integer.
fn check_size(scenario: &Scenario, most: u64) -> Result<(), GridError> {
    let named =
        [scenario.hardware.len(), scenario.targets.len(), scenario.engines.len(), scenario.tensor_parallel.len()];
    let settings: u64 = named.iter().map(|&length| length as u64).product();
    let blocks = settings.saturating_mul(scenario.drafters.len().max(1) as u64);
    if blocks > MOST_BLOCKS {
        return Err(GridError::TooManyBlocks(blocks));
    }
    let axes = &scenario.axes;
    let acceptances: f64 = scenario.drafters.iter().map(|drafter| acceptances(drafter) as f64).sum();
    let lines = if scenario.drafters.is_empty() { 1.0 } else { acceptances * axes.k().len() as f64 };
    let points = settings as f64 * lines * axes.batch().len() as f64 * axes.context().len() as f64;
    // Below 2^53 the product is exact.
    if points > most as f64 { Err(GridError::TooManyPoints { points: for_people(points), most }) } else { Ok(()) }
}

fn for_people(points: f64) -> String {
    if points < 1e6 { format!("{points}") } else { format!("{points:.1e}") }
}

impl<'s> Block<'s> {
    fn new(setting: Setting<'s>, drafter: Option<&'s Drafter>) -> Result<Self, SetupError> {
        let Setting { scenario, device, target, tensor_parallel, engine } = setting;
        let labels = Labels {
            hardware: &device.id,
            target: &target.id,
            drafter: drafter.map(|drafter| drafter.label.as_str()),
            engine: &engine.id,
            roofline: setting.roofline(),
            tensor_parallel,
        };
        Ok(Self {
            labels,
            device,
            engine,
            drafter,
            backing: setting.backing(),
            setup: setting.setup(drafter)?,
            k: lengths(scenario, drafter),
        })
    }

    /// Whether no published measurement stands behind the price of such a drafter, hardware and target at a
    /// batch, context and draft length.
    #[must_use]
    pub fn is_unvalidated(&self, batch: u64, context: u64, k: u64) -> bool {
        self.backing.is_unvalidated(self.drafter, (batch, context, k))
    }

    /// Limits of the engine that a point goes beyond, in rounds of which all sequences propose.
    #[must_use]
    pub fn beyond(&self, batch: u64, context: u64, k: u64) -> Beyond {
        beyond(&self.setup, batch, context, k)
    }

    /// How many acceptances its drafter has; one without a drafter, where none is needed.
    #[must_use]
    pub fn acceptances(&self) -> u64 {
        self.drafter.map_or(1, acceptances)
    }
}

/// The draft lengths of a drafter: those swept, a tree's own depth, 0 without a drafter.
fn lengths(scenario: &Scenario, drafter: Option<&Drafter>) -> Axis<u64> {
    match drafter {
        None => Axis::single(0),
        Some(drafter) => drafter.only_length().map_or_else(|| scenario.axes.k().clone(), Axis::single),
    }
}

/// A box of the grid: one block, and a range of indices on each numeric axis. Its rows are contiguous.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tile {
    /// Index of the block.
    pub block: usize,
    /// Indices of contexts.
    pub context: Range<u64>,
    /// Indices of batches.
    pub batch: Range<u64>,
    /// Indices of acceptances.
    pub acceptance: Range<u64>,
    /// Indices of draft lengths.
    pub k: Range<u64>,
}

impl Tile {
    /// Parts of it with all its draft lengths and a bounded number of points, unless one line has more.
    pub fn in_lines(&self) -> impl Iterator<Item = Self> + Send + use<> {
        self.cut(|[context, batch, acceptance, k]| {
            let lines = (LINE_POINTS / k).clamp(1, TILE_LINES);
            let [context, batch, acceptance, _] = sizes([context, batch, acceptance, 1], lines);
            [context, batch, acceptance, k]
        })
    }

    /// Boxes of it of sizes that depend on its lengths.
    fn cut(&self, sizes: fn([u64; 4]) -> [u64; 4]) -> impl Iterator<Item = Self> + Send + use<> {
        let ranges = [&self.context, &self.batch, &self.acceptance, &self.k];
        let lengths = ranges.map(|range| range.end - range.start);
        let (block, starts) = (self.block, ranges.map(|range| range.start));
        boxes(lengths, sizes(lengths)).map(move |ranges| {
            let mut at = ranges.into_iter().zip(starts).map(|(range, start)| range.start + start..range.end + start);
            let mut next = || at.next().unwrap_or_default();
            Self { block, context: next(), batch: next(), acceptance: next(), k: next() }
        })
    }

    /// Every (context, batch, acceptance) of it by itself, in the order of rows.
    pub fn lines(&self) -> impl Iterator<Item = Self> {
        let one = |index: u64| index..index + 1;
        self.context.clone().flat_map(move |context| {
            self.batch.clone().flat_map(move |batch| {
                self.acceptance.clone().map(move |acceptance| Self {
                    context: one(context),
                    batch: one(batch),
                    acceptance: one(acceptance),
                    ..self.clone()
                })
            })
        })
    }

    /// How many rows it has.
    #[must_use]
    pub fn rows(&self) -> u64 {
        [&self.context, &self.batch, &self.acceptance, &self.k].iter().map(|range| range.end - range.start).product()
    }
}

/// How long boxes of at most `room` elements are on each of four axes, slowest first: the fast axes whole as long as they fit, one in
/// chunks, the slow ones index by index.
fn sizes(lengths: [u64; 4], mut room: u64) -> [u64; 4] {
    let mut sizes = [1; 4];
    for (size, length) in sizes.iter_mut().zip(lengths).rev() {
        *size = room.clamp(1, length);
        room = if *size == length { room / length } else { 1 };
    }
    sizes
}

/// Cuts an array of four axes, slowest first, into boxes of such sizes, which are contiguous where [`sizes`] made them.
fn boxes(lengths: [u64; 4], sizes: [u64; 4]) -> impl Iterator<Item = [Range<u64>; 4]> + Send {
    let chunks: [u64; 4] = std::array::from_fn(|axis| lengths[axis].div_ceil(sizes[axis]));
    let total: u64 = chunks.iter().product();
    (0..total).map(move |index| {
        let mut rest = index;
        let mut ranges = [0..0, 0..0, 0..0, 0..0];
        for axis in (0..4).rev() {
            let from = rest % chunks[axis] * sizes[axis];
            ranges[axis] = from..(from + sizes[axis]).min(lengths[axis]);
            rest /= chunks[axis];
        }
        ranges
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whatever the lengths, the boxes visit every element once, in row order, and stay small.
    #[test]
    fn boxes_cover_the_grid_in_order() {
        for lengths in [[1, 1, 1, 1], [1, 4, 2, 5], [3, 7, 500, 16], [2, 3, 5, 5000], [9, 5000, 1, 1], [5000, 1, 1, 1]]
        {
            let index = |at: [u64; 4]| at.iter().zip(lengths).fold(0, |sum, (at, length)| sum * length + at);
            let mut next = 0;
            for [a, b, c, d] in boxes(lengths, sizes(lengths, TILE_ROWS)) {
                let before = next;
                for a in a {
                    for b in b.clone() {
                        for c in c.clone() {
                            for d in d.clone() {
                                assert_eq!(index([a, b, c, d]), next, "{lengths:?}");
                                next += 1;
                            }
                        }
                    }
                }
                assert!(next - before <= TILE_ROWS);
            }
            assert_eq!(next, lengths.iter().product::<u64>(), "{lengths:?}");
        }
    }

    #[test]
    fn a_large_grid_has_few_tiles() {
        for lengths in [[1, 1_000_000, 1, 1], [10, 10, 100, 100]] {
            assert!(boxes(lengths, sizes(lengths, TILE_ROWS)).count() <= 2000, "{lengths:?}");
        }
    }
}
