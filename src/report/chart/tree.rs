//! A tree of drafts, level by level.

use plotters::prelude::{Circle, DrawingBackend, PathElement};
use plotters::style::text_anchor::{HPos, VPos};
use plotters::style::{Color, RGBColor};

use crate::report::chart::bodies::TreePlot;
use crate::report::chart::canvas::{Area, ChartError};
use crate::report::chart::frame::{Pen, frame, write};
use crate::report::chart::palette::{FAINT, GRID, INK, PAPER, line};
use crate::report::chart::spec::Heading;

/// Room that a label takes.
const LABEL: (f64, f64) = (40.0, 18.0);

/// Draws the whole chart.
pub(super) fn draw<DB: DrawingBackend>(
    root: &Area<DB>,
    scale: f64,
    heading: &Heading,
    plot: &TreePlot,
) -> Result<(), ChartError> {
    let pen = Pen::new(scale);
    let strips = frame(root, pen, heading)?;
    let (area, places) = (&strips.body, places(plot));
    let (width, height) = area.dim_in_pixel();
    let levels = plot.levels.iter().copied().max().unwrap_or(0).max(1) as f64;
    let (left, top) = (f64::from(pen.px(60.0)), f64::from(pen.px(50.0)));
    let at = |node: usize| {
        let x = left + places[node] * (f64::from(width) - 2.0 * left);
        let y = top + plot.levels[node] as f64 / levels * (f64::from(height) - 2.0 * top);
        (x.round() as i32, y.round() as i32)
    };
    for (node, &parent) in plot.parents.iter().enumerate().skip(1) {
        // Lines as thick as what lies below them is likely.
        let style = pen.stroke(GRID, 1.0 + 6.0 * plot.scores[node]);
        area.draw(&PathElement::new(vec![at(parent), at(node)], style)).map_err(ChartError::of)?;
    }
    for (node, &score) in plot.scores.iter().enumerate() {
        let size = pen.px(7.0 + 15.0 * score.sqrt());
        area.draw(&Circle::new(at(node), size, shade(score).filled())).map_err(ChartError::of)?;
        area.draw(&Circle::new(at(node), size, pen.stroke(INK, 1.5))).map_err(ChartError::of)?;
    }
    let below = |node: usize| {
        let (x, y) = at(node);
        (x, y + pen.px(7.0 + 15.0 * plot.scores[node].sqrt() + 12.0))
    };
    for node in labelled(plot, &below, (pen.px(LABEL.0), pen.px(LABEL.1))) {
        let label = format!("{:.2}", plot.scores[node]);
        write(area, &label, below(node), &pen.text(16.0, INK, HPos::Center, VPos::Center))?;
    }
    for level in 0..=levels as usize {
        let y = (top + level as f64 / levels * (f64::from(height) - 2.0 * top)).round() as i32;
        let words = if level == 0 { "last token".to_owned() } else { format!("draft {level}") };
        write(&strips.side, &words, (pen.px(14.0), y), &pen.text(20.0, FAINT, HPos::Left, VPos::Center))?;
    }
    Ok(())
}

/// The nodes whose labels have room: the likeliest first.
fn labelled(plot: &TreePlot, at: &dyn Fn(usize) -> (i32, i32), room: (i32, i32)) -> Vec<usize> {
    let mut nodes: Vec<usize> = (1..plot.scores.len()).collect();
    nodes.sort_by(|&a, &b| plot.scores[b].total_cmp(&plot.scores[a]));
    let mut kept: Vec<usize> = Vec::new();
    for node in nodes {
        let (x, y) = at(node);
        let apart = |&other: &usize| {
            let (left, top) = at(other);
            (x - left).abs() >= room.0 || (y - top).abs() >= room.1
        };
        if kept.iter().all(apart) {
            kept.push(node);
        }
    }
    kept
}

/// From paper to the first colour, by how often a node is accepted.
fn shade(score: f64) -> RGBColor {
    let mix = |from: u8, to: u8| (f64::from(from) + score * (f64::from(to) - f64::from(from))).round() as u8;
    let (from, to) = (PAPER, line(0));
    RGBColor(mix(from.0, to.0), mix(from.1, to.1), mix(from.2, to.2))
}

/// Where each node stands from left to right: leaves in their order, parents above the middle of their children.
fn places(plot: &TreePlot) -> Vec<f64> {
    let nodes = plot.parents.len();
    let mut children: Vec<Vec<usize>> = vec![Vec::new(); nodes];
    for (node, &parent) in plot.parents.iter().enumerate().skip(1) {
        children[parent].push(node);
    }
    children.iter_mut().for_each(|of| of.sort_by_key(|&node| plot.ranks[node]));
    let (mut places, mut leaves) = (vec![0.0; nodes], 0.0);
    settle(0, &children, &mut leaves, &mut places);
    let widest = (leaves - 1.0_f64).max(1.0);
    if leaves <= 1.0 {
        return vec![0.5; nodes];
    }
    places.into_iter().map(|place| place / widest).collect()
}

fn settle(node: usize, children: &[Vec<usize>], leaves: &mut f64, places: &mut [f64]) {
    for &child in &children[node] {
        settle(child, children, leaves, places);
    }
    places[node] = match (children[node].first(), children[node].last()) {
        (Some(&first), Some(&last)) => (places[first] + places[last]) / 2.0,
        _ => {
            *leaves += 1.0;
            *leaves - 1.0
        }
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of three siblings that stand closer than a label is wide, the first and the last have room.
    #[test]
    fn labels_give_way_to_likelier_ones() {
        let plot = TreePlot {
            parents: vec![0, 0, 0, 0],
            ranks: vec![0, 1, 2, 3],
            levels: vec![0, 1, 1, 1],
            scores: vec![1.0, 0.6, 0.2, 0.1],
        };
        let at = |node: usize| (30 * node as i32, 100);
        assert_eq!(labelled(&plot, &at, (40, 18)), [1, 3]);
        assert_eq!(labelled(&plot, &at, (30, 18)), [1, 2, 3]);
    }
}
