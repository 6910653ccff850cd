//! A tree of drafts, level by level.

use plotters::prelude::{Circle, DrawingBackend, PathElement};
use plotters::style::text_anchor::{HPos, VPos};
use plotters::style::{Color, RGBColor};

use crate::report::chart::bodies::TreePlot;
use crate::report::chart::canvas::{Area, ChartError};
use crate::report::chart::frame::{Pen, frame, write};
use crate::report::chart::palette::{FAINT, GRID, INK, PAPER, line};
use crate::report::chart::spec::Heading;

/// Nodes with labels of their own; more would overlap.
const MOST_LABELS: usize = 26;

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
    let labelled = plot.scores.len() <= MOST_LABELS;
    for (node, &score) in plot.scores.iter().enumerate().skip(1).filter(|_| labelled) {
        let (x, y) = at(node);
        let below = pen.px(7.0 + 15.0 * score.sqrt() + 12.0);
        write(area, &format!("{score:.2}"), (x, y + below), &pen.text(16.0, INK, HPos::Center, VPos::Center))?;
    }
    for level in 0..=levels as usize {
        let y = (top + level as f64 / levels * (f64::from(height) - 2.0 * top)).round() as i32;
        let words = if level == 0 { "last token".to_owned() } else { format!("draft {level}") };
        write(&strips.side, &words, (pen.px(14.0), y), &pen.text(20.0, FAINT, HPos::Left, VPos::Center))?;
    }
    Ok(())
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
