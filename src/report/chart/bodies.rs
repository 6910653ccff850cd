//! What charts of bars, of parts and of passes under a roofline show, as plain values.

/// A device's limits and passes under them.
#[derive(Clone, Debug, PartialEq)]
pub struct RooflinePlot {
    /// TFLOP/s.
    pub peak: f64,
    /// TB/s.
    pub bandwidth: f64,
    /// The passes, in the order of their colours.
    pub passes: Vec<PassSpots>,
}

/// A pass and its operators.
#[derive(Clone, Debug, PartialEq)]
pub struct PassSpots {
    /// Its name.
    pub name: String,
    /// The whole pass.
    pub whole: RoofSpot,
    /// Operators with arithmetic.
    pub operators: Vec<RoofSpot>,
}

/// Where work stands.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RoofSpot {
    /// FLOP for each byte.
    pub intensity: f64,
    /// TFLOP/s.
    pub rate: f64,
}

/// Bars made of parts.
#[derive(Clone, Debug, PartialEq)]
pub struct Stacks {
    /// What a height is.
    pub y_label: String,
    /// Names of the parts, from the bottom up and in the order of their colours.
    pub names: Vec<String>,
    /// The bars.
    pub bars: Vec<Stack>,
}

/// A bar.
#[derive(Clone, Debug, PartialEq)]
pub struct Stack {
    /// What stands above it.
    pub label: String,
    /// Heights of its first parts.
    pub parts: Vec<f64>,
}

/// Plots of bars that share labels and legend.
#[derive(Clone, Debug, PartialEq)]
pub struct Bars {
    /// What x counts, from 0.
    pub x_label: String,
    /// What a height is.
    pub y_label: String,
    /// Title of the legend.
    pub legend: String,
    /// Names of the bars of a group, in the order of their colours.
    pub names: Vec<String>,
    /// The plots.
    pub plots: Vec<BarPlot>,
}

/// One set of bars.
#[derive(Clone, Debug, PartialEq)]
pub struct BarPlot {
    /// What is held fixed, empty if there is nothing else.
    pub title: String,
    /// Heights at each x, one for each name.
    pub groups: Vec<Vec<f64>>,
}

/// How an axis runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scale {
    /// Evenly.
    Even,
    /// By factors, ticks at powers of two: batches, ratios.
    Powers,
    /// By factors, ticks at 1, 2 and 5 times powers of ten: times.
    Decades,
}

/// Points of several kinds over two numbers.
#[derive(Clone, Debug, PartialEq)]
pub struct Scatter {
    /// What x is.
    pub x_label: String,
    /// What y is.
    pub y_label: String,
    /// Least and largest x.
    pub x: (f64, f64),
    /// How its axis runs.
    pub x_scale: Scale,
    /// Least and largest y.
    pub y: (f64, f64),
    /// How its axis runs.
    pub y_scale: Scale,
    /// Title of the legend.
    pub legend: String,
    /// The kinds, in the order of their colours.
    pub kinds: Vec<Kind>,
    /// Lines for the eye, as ends of each.
    pub guides: Vec<Guide>,
}

/// Points of one kind.
#[derive(Clone, Debug, PartialEq)]
pub struct Kind {
    /// Its name.
    pub name: String,
    /// Position of its colour.
    pub color: usize,
    /// Its points.
    pub points: Vec<(f64, f64)>,
}

/// A line for the eye.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Guide {
    /// One end.
    pub from: (f64, f64),
    /// The other.
    pub to: (f64, f64),
    /// Whether it is the one that counts.
    pub strong: bool,
    /// The kind whose colour it has; none: grey.
    pub color: Option<usize>,
}

/// A tree of drafts, node by node, the root first.
#[derive(Clone, Debug, PartialEq)]
pub struct TreePlot {
    /// Each node's parent; the root's is itself.
    pub parents: Vec<usize>,
    /// Each node's rank among its siblings.
    pub ranks: Vec<usize>,
    /// Each node's level.
    pub levels: Vec<usize>,
    /// How often each node is accepted.
    pub scores: Vec<f64>,
}

/// Bars to both sides of a figure.
#[derive(Clone, Debug, PartialEq)]
pub struct TornadoPlot {
    /// What the figure is.
    pub x_label: String,
    /// The figure as it is.
    pub centre: f64,
    /// The bars, from the top down.
    pub bars: Vec<TornadoBar>,
}

/// What an input alone makes of the figure.
#[derive(Clone, Debug, PartialEq)]
pub struct TornadoBar {
    /// Its name.
    pub name: String,
    /// At its low end.
    pub low: f64,
    /// At its high end.
    pub high: f64,
}
