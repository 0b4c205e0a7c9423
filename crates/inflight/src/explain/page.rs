//! An explanation as one self-contained HTML page: a box for each kernel, and an edge for each value between kernels.

use super::{ExplainedKernel, Explanation};
use crate::units::bytes;
use std::fmt::Write;

const BOX_WIDTH: usize = 460;
const LINE: usize = 16;
const GAP: usize = 56;
const LEFT: usize = 150;
const RIGHT: usize = LEFT + BOX_WIDTH;

/// Distance from the boxes to the first edge that passes others on the right. Labels of sizes stand before it.
const LANE_OFFSET: usize = 90;
/// Distance between such edges.
const LANE_WIDTH: usize = 12;
/// Distance between edges from a box to the next.
const SLOT_WIDTH: usize = 90;

/// Maximum number of ops listed in a box; the text below lists all.
const MAX_LISTED_OPS: usize = 12;

/// Maximum number of characters of a line in a box.
const MAX_LINE_CHARS: usize = 60;

/// Renders the page.
pub fn page(explanation: &Explanation) -> String {
    let edges = edges(&explanation.kernels);
    let mut tops = Vec::new();
    let mut bottom = 20;
    for (position, kernel) in explanation.kernels.iter().enumerate() {
        tops.push((bottom, bottom + height(position, kernel, &edges)));
        bottom = tops[position].1 + GAP;
    }
    let mut page = String::from(HEAD);
    let total =
        |bytes: fn(&ExplainedKernel) -> u64| explanation.kernels.iter().map(bytes).sum::<u64>();
    let lanes = edges.iter().filter_map(|edge| edge.lane).map(|lane| lane + 1).max().unwrap_or(0);
    let _ = write!(
        page,
        "<h1>{}, {} read, {} written</h1>\n<svg width=\"{}\" height=\"{bottom}\">\n{ARROW}",
        super::count_kernels(explanation),
        bytes(total(|kernel| kernel.bytes_read)),
        bytes(total(|kernel| kernel.bytes_written)),
        RIGHT + LANE_OFFSET + LANE_WIDTH * lanes + 20,
    );
    for edge in &edges {
        edge.draw(&mut page, &tops);
    }
    for (position, kernel) in explanation.kernels.iter().enumerate() {
        draw(&mut page, position, kernel, tops[position]);
    }
    page.push_str("</svg>\n");
    for (position, kernel) in explanation.kernels.iter().enumerate() {
        let _ = writeln!(page, "<h2 id=\"k{position}\">kernel {position}</h2>\n<pre>");
        for op in &kernel.ops {
            let _ = writeln!(page, "{:16} {}", escape(op.name), escape(&op.location));
        }
        let _ = writeln!(page, "\n{}</pre>", escape(&kernel.text));
    }
    page.push_str("</body></html>\n");
    page
}

/// A value that a kernel reads.
struct Edge {
    /// The kernel that writes it; an input has none.
    writer: Option<usize>,
    reader: usize,
    bytes: u64,
    /// Its index among the edges that enter the same side of the reader.
    slot: usize,
    /// The column to the right of the boxes in which it passes the boxes in between, if there are any.
    lane: Option<usize>,
}

/// An edge for each value that a kernel reads.
fn edges(kernels: &[ExplainedKernel]) -> Vec<Edge> {
    let mut edges: Vec<Edge> = Vec::new();
    // The last reader of each lane.
    let mut lanes: Vec<usize> = Vec::new();
    for (reader, kernel) in kernels.iter().enumerate() {
        let mut slots = [0; 3];
        for read in &kernel.reads {
            let writes =
                |kernel: &ExplainedKernel| kernel.writes.iter().any(|w| w.value == read.value);
            let writer = kernels[..reader].iter().rposition(writes);
            let side = match writer {
                None => 0,
                Some(writer) if writer + 1 == reader => 1,
                Some(_) => 2,
            };
            let lane = (side == 2).then(|| {
                let free = lanes.iter().position(|last| Some(*last) <= writer);
                let lane = free.unwrap_or_else(|| {
                    lanes.push(0);
                    lanes.len() - 1
                });
                lanes[lane] = reader;
                lane
            });
            let bytes = (read.elements * read.dtype.size()) as u64;
            edges.push(Edge { writer, reader, bytes, slot: slots[side], lane });
            slots[side] += 1;
        }
    }
    edges
}

impl Edge {
    /// Draws it: inputs enter on the left, results of the previous kernel from above, all others on the right.
    fn draw(&self, page: &mut String, tops: &[(usize, usize)]) {
        let to = tops[self.reader].0;
        let beside = to + (self.slot + 1) * LINE;
        let (path, anchor, x, y) = match (self.writer, self.lane) {
            (None, _) => {
                (format!("M {} {beside} H {LEFT}", LEFT - 44), "end", LEFT - 50, beside + 4)
            }
            (Some(writer), None) => {
                let x = LEFT + 30 + self.slot * SLOT_WIDTH;
                let from = tops[writer].1;
                (format!("M {x} {from} V {to}"), "start", x + 8, from + GAP / 2 + 4)
            }
            (Some(writer), Some(lane)) => {
                let (from, side) = (tops[writer].1 - 8, RIGHT + LANE_OFFSET + lane * LANE_WIDTH);
                let path = format!("M {RIGHT} {from} H {side} V {beside} H {RIGHT}");
                (path, "start", RIGHT + 12, beside - 4)
            }
        };
        let size = bytes(self.bytes);
        let _ = writeln!(
            page,
            "<path class=\"edge\" d=\"{path}\" marker-end=\"url(#arrow)\"/>\n\
             <text class=\"bytes\" text-anchor=\"{anchor}\" x=\"{x}\" y=\"{y}\">{size}</text>"
        );
    }
}

/// How high a box is: its lines fit into it, and the edges on its sides are beside it.
fn height(position: usize, kernel: &ExplainedKernel, edges: &[Edge]) -> usize {
    let ops = kernel.ops.len().min(MAX_LISTED_OPS) + usize::from(kernel.ops.len() > MAX_LISTED_OPS);
    let beside = edges.iter().filter(|edge| edge.reader == position).map(|edge| edge.slot + 1);
    (2 + ops + kernel.writes.len()).max(beside.max().unwrap_or(0) + 1) * LINE + 12
}

fn draw(
    page: &mut String,
    position: usize,
    kernel: &ExplainedKernel,
    (top, bottom): (usize, usize),
) {
    let height = bottom - top;
    let _ = writeln!(
        page,
        "<a href=\"#k{position}\"><rect class=\"kernel\" x=\"{LEFT}\" y=\"{top}\" width=\"{BOX_WIDTH}\" \
         height=\"{height}\" rx=\"6\"/></a>"
    );
    let mut y = top + LINE + 2;
    let mut line = |class: &str, text: String| {
        let x = LEFT + 10;
        let text = escape(&shortened(text));
        let _ = writeln!(page, "<text class=\"{class}\" x=\"{x}\" y=\"{y}\">{text}</text>");
        y += LINE;
    };
    line("title", format!("kernel {position}"));
    let (read, written) = (bytes(kernel.bytes_read), bytes(kernel.bytes_written));
    line("small", format!("{read} read · {written} written · {} operations", kernel.flops));
    for op in kernel.ops.iter().take(MAX_LISTED_OPS) {
        let location = op.location.rsplit('/').next().unwrap_or_default();
        line("op", format!("{} · {location}", op.name));
    }
    if kernel.ops.len() > MAX_LISTED_OPS {
        line("small", format!("and {} more", kernel.ops.len() - MAX_LISTED_OPS));
    }
    for value in &kernel.writes {
        line("reason", format!("→ value {}: {}", value.value, value.reason));
    }
}

/// Truncates a line to the width of a box.
fn shortened(line: String) -> String {
    match line.char_indices().nth(MAX_LINE_CHARS) {
        None => line,
        Some((end, _)) => format!("{}…", &line[..end]),
    }
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

const HEAD: &str = "<!doctype html>
<html lang=\"en\"><head><meta charset=\"utf-8\"><title>kernels</title>
<style>
body { font: 14px system-ui, sans-serif; margin: 24px; background: #fff; color: #222; }
pre { background: #f6f6f6; padding: 12px; overflow-x: auto; }
svg text { font: 12px ui-monospace, monospace; fill: #222; }
svg .title { font-weight: bold; }
svg .small { fill: #666; }
svg .reason { fill: #8a4b00; }
svg .bytes { fill: #0b5394; }
svg .kernel { fill: #eef4fb; stroke: #5b8fc9; }
svg .edge { fill: none; stroke: #5b8fc9; stroke-width: 1.5; }
</style></head><body>
";

const ARROW: &str = "<defs><marker id=\"arrow\" viewBox=\"0 0 8 8\" refX=\"7\" refY=\"4\" markerWidth=\"7\" \
markerHeight=\"7\" orient=\"auto\"><path d=\"M 0 0 L 8 4 L 0 8 z\" fill=\"#5b8fc9\"/></marker></defs>\n";
