//! The best draft length of every batch, context and acceptance, without a row for every other.

use std::cmp::Ordering;
use std::ops::Range;

use crate::sweep::condition::Selection;
use crate::sweep::grid::Tile;
use crate::sweep::row::Row;
use crate::sweep::run::{Expected, Place, Pricer, accepting};

/// So many draft lengths are looked at together: step times for them are held at a time.
const CHUNK: u64 = 512;
/// Draft lengths side by side, for arithmetic on several at once.
const LANES: usize = 4;

/// The best of one context, batch and acceptance.
#[derive(Clone, Copy)]
pub struct Best<'a, 'g> {
    /// Index of the context.
    pub context: u64,
    /// Index of the acceptance.
    pub acceptance: u64,
    /// What it gains.
    pub speedup: f64,
    /// Its row, but for what is accepted where that is told apart.
    cost: &'a Row<'g>,
    accepted: Option<(Expected<'a>, usize)>,
}

impl<'a, 'g> Best<'a, 'g> {
    fn of(context: u64, acceptance: u64, row: &'a Row<'g>) -> Self {
        Self { context, acceptance, speedup: row.speedup(), cost: row, accepted: None }
    }

    /// Sequences.
    #[must_use]
    pub const fn batch(&self) -> u64 {
        self.cost.batch
    }

    /// The best draft length.
    #[must_use]
    pub const fn k(&self) -> u64 {
        self.cost.k
    }

    /// Whether it fits in memory.
    #[must_use]
    pub const fn fits(&self) -> bool {
        self.cost.memory.fits
    }

    /// Its row.
    #[must_use]
    pub fn row(&self) -> Row<'g> {
        self.accepted.map_or(*self.cost, |(of, at)| accepting(self.cost, of, at))
    }
}

/// Which of two points is the better choice: one that fits in memory before one that does not, then the larger speedup, then the smaller
/// k. Each is `(fits, speedup, k)`; [`Ordering::Greater`] where the first is better.
#[must_use]
pub fn choice(one: (bool, f64, u64), other: (bool, f64, u64)) -> Ordering {
    one.0.cmp(&other.0).then(one.1.total_cmp(&other.1)).then(other.2.cmp(&one.2))
}

/// The better of a row and what was the best so far.
fn better<'g>(best: Option<Row<'g>>, row: Row<'g>) -> Row<'g> {
    let key = |row: &Row<'_>| (row.memory.fits, row.speedup(), row.k);
    best.filter(|best| choice(key(best), key(&row)).is_ge()).unwrap_or(row)
}

impl<'g> Pricer<'g> {
    /// The best of every (context, batch, acceptance) of a tile among the rows that are wanted, in the order of rows; none where no
    /// draft length is wanted.
    ///
    /// # Formula
    ///
    /// ```text
    /// best k = argmax tokens_per_pass base_step / (draft + verify + fixed + token tokens_per_pass)
    /// ```
    ///
    /// Leviathan et al. 2023 (arXiv 2211.17192), Theorem 3.8, over every k of the axis: see [`choice`] for what does not fit and for
    /// equals. The row is that of [`Pricer::rows`]. Where every row that fits is wanted, a point costs two additions, two
    /// products and a division, of step times that are worked out once for each (context, batch, k) and tokens once for
    /// each (acceptance, k).
    ///
    /// # Examples
    ///
    /// The founding study at batch 1 and alpha 0.8: of 1.54, 1.83, 2.02, 1.97 and 1.85 at k = 1, 2, 4, 6 and 8.
    ///
    /// ```
    /// use specplan::catalog::{load::{load, Request}, lookup::SearchPath};
    /// use specplan::sweep::{condition::Selection, grid::Grid, run::Pricer};
    ///
    /// let request = Request { scenario: "founding-study", changes: &[], seed: None, published: false };
    /// let loaded = load(&SearchPath::default(), &request).map_err(|mistakes| specplan::diagnostic::render(&mistakes, false))?;
    /// let grid = Grid::new(&loaded.scenario, 1_000_000)?;
    /// let pricer = Pricer::new(&grid);
    /// let best: Vec<_> = grid.whole_lines().flat_map(|tile| pricer.best(&tile, &Selection::default())).collect();
    /// assert_eq!((best[1].batch, best[1].alpha, best[1].k), (1, Some(0.8), 4));
    /// assert_eq!(format!("{:.2}", best[1].speedup()), "2.02");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn best(&self, tile: &Tile, selection: &Selection) -> Vec<Row<'g>> {
        let mut found = Vec::new();
        self.each_best(tile, selection, |best| found.push(best.row()));
        found
    }

    /// Hands each of [`Self::best`] to `visit`, without a row for it.
    pub fn each_best(&self, tile: &Tile, selection: &Selection, mut visit: impl FnMut(&Best<'_, 'g>)) {
        let block = &self.grid.blocks[tile.block];
        if block.drafter.is_none() || block.setup.looks_up() || !selection.conditions.is_empty() {
            return self.best_of_rows(tile, selection, &mut visit);
        }
        let mut speedups = Vec::new();
        for at_context in tile.context.clone() {
            let context = self.grid.context.get(at_context);
            let Some(known) = self.yields.of(tile.block, context, &tile.acceptance, &tile.k) else { continue };
            for batch in tile.batch.clone().map(|index| self.grid.batch.get(index)) {
                let at = Place::new(block, batch, context);
                let mut earlier: Vec<Option<Row<'g>>> = Vec::new();
                for k in chunks(&tile.k) {
                    let rounds = Rounds::new(at.costs(&k, |_| 1.0), selection.only_fitting);
                    let from = (k.start - tile.k.start) as usize + known.lengths.start;
                    let lengths = from..from + rounds.costs.len();
                    let is_all = k == tile.k;
                    earlier.resize(if is_all { 0 } else { known.of.len() }, None);
                    for (index, of) in known.of.iter().enumerate() {
                        let of = Expected::of(of, &lengths);
                        let Some((at, speedup)) = rounds.best(of, &mut speedups) else { continue };
                        let (cost, accepted) = (&rounds.costs[at], Some((of, at)));
                        let acceptance = tile.acceptance.start + index as u64;
                        let best = Best { context: at_context, acceptance, speedup, cost, accepted };
                        if is_all {
                            visit(&best);
                        } else {
                            earlier[index] = Some(better(earlier[index], best.row()));
                        }
                    }
                }
                for (acceptance, row) in tile.acceptance.clone().zip(&earlier) {
                    row.iter().for_each(|row| visit(&Best::of(at_context, acceptance, row)));
                }
            }
        }
    }

    /// The speedups of a tile alone, without unit, in the order of its rows and equal to [`Row::speedup`] to the last bit, into as many
    /// places: for arrays of a caller's own.
    ///
    /// # Panics
    ///
    /// If there are more or fewer places than rows.
    pub fn speedups(&self, tile: &Tile, mut into: &mut [f64]) {
        assert_eq!(into.len() as u64, tile.rows(), "a place for each row");
        let block = &self.grid.blocks[tile.block];
        if block.drafter.is_none() || block.setup.looks_up() {
            into.iter_mut().zip(self.rows(tile)).for_each(|(place, row)| *place = row.speedup());
            return;
        }
        for context in tile.context.clone().map(|index| self.grid.context.get(index)) {
            let Some(known) = self.yields.of(tile.block, context, &tile.acceptance, &tile.k) else { continue };
            for batch in tile.batch.clone().map(|index| self.grid.batch.get(index)) {
                let rounds = Rounds::of_all(Place::new(block, batch, context).costs(&tile.k, |_| 1.0));
                for of in known.of.iter().map(|of| Expected::of(of, &known.lengths)) {
                    let (here, rest) = into.split_at_mut(rounds.costs.len());
                    rounds.all(of.tokens_per_pass, here);
                    into = rest;
                }
            }
        }
    }

    /// The same by pricing every row.
    fn best_of_rows(&self, tile: &Tile, selection: &Selection, visit: &mut impl FnMut(&Best<'_, 'g>)) {
        for line in tile.lines() {
            let pieces = chunks(&line.k).map(|k| self.rows(&Tile { k, ..line.clone() }));
            let wanted = pieces.flatten().filter(|row| selection.keeps(row));
            if let Some(row) = wanted.fold(None, |best, row| Some(better(best, row))) {
                visit(&Best::of(line.context.start, line.acceptance.start, &row));
            }
        }
    }
}

fn chunks(k: &Range<u64>) -> impl Iterator<Item = Range<u64>> + use<> {
    let end = k.end;
    k.clone().step_by(CHUNK as usize).map(move |from| from..(from + CHUNK).min(end))
}

/// Rounds of some draft lengths as far as they do not depend on what is accepted.
struct Rounds<'g> {
    costs: Vec<Row<'g>>,
    /// Which may be chosen: those that fit, or all where none does.
    eligible: Vec<usize>,
    base: f64,
    /// Of those that may be chosen: draft and verification, what is fixed, and what each token costs. Where tokens cost nothing, the usual
    /// case, none for them, and the first holds the whole round: the sum is the same to the last bit.
    passes: Vec<f64>,
    fixed: Vec<f64>,
    token: Vec<f64>,
    /// Whether they follow one another without a gap, in the order of k.
    is_plain: bool,
}

impl<'g> Rounds<'g> {
    fn new(costs: Vec<Row<'g>>, only_fitting: bool) -> Self {
        let fits: Vec<usize> = (0..costs.len()).filter(|&at| costs[at].memory.fits).collect();
        let eligible = if fits.is_empty() && !only_fitting { (0..costs.len()).collect() } else { fits };
        Self::among(costs, eligible)
    }

    fn of_all(costs: Vec<Row<'g>>) -> Self {
        let eligible = (0..costs.len()).collect();
        Self::among(costs, eligible)
    }

    fn among(costs: Vec<Row<'g>>, eligible: Vec<usize>) -> Self {
        let each = |of: fn(&Row<'_>) -> f64| eligible.iter().map(|&at| of(&costs[at])).collect();
        let is_next = |pair: &[usize]| pair[1] == pair[0] + 1 && costs[pair[0]].k < costs[pair[1]].k;
        let base = costs.first().map_or(0.0, |row| row.base_step.get());
        let mut passes: Vec<f64> = each(|row| (row.draft + row.verify).get());
        let (fixed, mut token): (Vec<f64>, Vec<f64>) = (each(|row| row.fixed.get()), each(|row| row.token.get()));
        if token.iter().all(|&each| each == 0.0) {
            passes.iter_mut().zip(&fixed).for_each(|(passes, fixed)| *passes += fixed);
            token.clear();
        }
        Self { base, passes, fixed, token, is_plain: eligible.windows(2).all(is_next), eligible, costs }
    }

    /// The position of the best draft length under an acceptance, and what it gains; none where none may be chosen. `speedups` is
    /// room to work in.
    fn best(&self, of: Expected<'_>, speedups: &mut Vec<f64>) -> Option<(usize, f64)> {
        let (&first, &last) = (self.eligible.first()?, self.eligible.last()?);
        speedups.resize(self.eligible.len(), 0.0);
        if self.is_plain {
            let at = self.fastest(&of.tokens_per_pass[first..=last], speedups);
            return Some((first + at, speedups[at]));
        }
        let tokens: Vec<f64> = self.eligible.iter().map(|&at| of.tokens_per_pass[at]).collect();
        let top = self.fastest(&tokens, speedups);
        let equal = (0..tokens.len()).filter(|&at| speedups[at].total_cmp(&speedups[top]).is_eq());
        let at = equal.map(|at| self.eligible[at]).min_by_key(|&at| self.costs[at].k)?;
        Some((at, speedups[top]))
    }

    /// The speedup of every length.
    fn all(&self, tokens: &[f64], into: &mut [f64]) {
        let count = into.len();
        let (tokens, passes) = (&tokens[..count], &self.passes[..count]);
        if self.token.is_empty() {
            for at in 0..count {
                into[at] = tokens[at] * self.base / passes[at];
            }
            return;
        }
        let (fixed, token) = (&self.fixed[..count], &self.token[..count]);
        // Indices, so that the loop stays one loop of several lanes however the crate is cut into units.
        for at in 0..count {
            into[at] = tokens[at] * self.base / (passes[at] + (fixed[at] + token[at] * tokens[at]));
        }
    }

    /// The position of the largest speedup, the first of equals; `room` is for as many numbers.
    fn fastest(&self, tokens: &[f64], room: &mut [f64]) -> usize {
        self.all(tokens, room);
        let top = largest(room);
        let mut at = 0;
        while at + 1 < room.len() && room[at] < top {
            at += 1;
        }
        at
    }
}

/// The largest of some numbers, several looked at side by side.
fn largest(numbers: &[f64]) -> f64 {
    let larger = |a: f64, b: f64| if b > a { b } else { a };
    let mut top = [f64::NEG_INFINITY; LANES];
    let mut from = 0;
    while from + LANES <= numbers.len() {
        let here = &numbers[from..from + LANES];
        for lane in 0..LANES {
            top[lane] = larger(top[lane], here[lane]);
        }
        from += LANES;
    }
    let mut most = f64::NEG_INFINITY;
    for one in top {
        most = larger(most, one);
    }
    while from < numbers.len() {
        most = larger(most, numbers[from]);
        from += 1;
    }
    most
}
