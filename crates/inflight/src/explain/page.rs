//! An explanation as one self-contained page: the kernels drawn as boxes, the bytes between them as edges.

use super::{ExplainedKernel, Explanation};
use std::fmt::Write;

const BOX_WIDTH: usize = 460;
const LINE: usize = 16;
const GAP: usize = 56;
const LEFT: usize = 150;

/// The most ops that are listed in a box; the rest is in the text below.
const MOST_OPS: usize = 12;

/// The page's text.
pub fn page(explanation: &Explanation) -> String {
    let heights: Vec<usize> = explanation.kernels.iter().map(height).collect();
    let mut tops = Vec::new();
    let mut bottom = 20;
    for height in &heights {
        tops.push(bottom);
        bottom += height + GAP;
    }
    let mut page = String::from(HEAD);
    let total =
        |bytes: fn(&ExplainedKernel) -> u64| explanation.kernels.iter().map(bytes).sum::<u64>();
    let _ = write!(
        page,
        "<h1>{} kernels, {} read, {} written</h1>\n<svg width=\"{}\" height=\"{bottom}\">\n{ARROW}",
        explanation.kernels.len(),
        bytes(total(|kernel| kernel.bytes_read)),
        bytes(total(|kernel| kernel.bytes_written)),
        LEFT + BOX_WIDTH + 260,
    );
    for (reader, kernel) in explanation.kernels.iter().enumerate() {
        for read in &kernel.reads {
            let writes =
                |kernel: &ExplainedKernel| kernel.writes.iter().any(|w| w.value == read.value);
            let writer = explanation.kernels.iter().position(writes);
            let size = bytes((read.elements * read.dtype.size()) as u64);
            edge(
                &mut page,
                writer.map(|w| tops[w] + heights[w]),
                tops[reader],
                reader,
                writer,
                &size,
            );
        }
    }
    for (position, kernel) in explanation.kernels.iter().enumerate() {
        draw(&mut page, position, kernel, tops[position], heights[position]);
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

fn height(kernel: &ExplainedKernel) -> usize {
    let ops = kernel.ops.len().min(MOST_OPS) + usize::from(kernel.ops.len() > MOST_OPS);
    (2 + ops + kernel.writes.len()) * LINE + 12
}

fn draw(page: &mut String, position: usize, kernel: &ExplainedKernel, top: usize, height: usize) {
    let _ = writeln!(
        page,
        "<a href=\"#k{position}\"><rect class=\"kernel\" x=\"{LEFT}\" y=\"{top}\" width=\"{BOX_WIDTH}\" \
         height=\"{height}\" rx=\"6\"/></a>"
    );
    let mut y = top + LINE + 2;
    let mut line = |class: &str, text: String| {
        let x = LEFT + 10;
        let text = escape(&text);
        let _ = writeln!(page, "<text class=\"{class}\" x=\"{x}\" y=\"{y}\">{text}</text>");
        y += LINE;
    };
    line("title", format!("kernel {position}"));
    let (read, written) = (bytes(kernel.bytes_read), bytes(kernel.bytes_written));
    line("small", format!("{read} read · {written} written · {} operations", kernel.arithmetic));
    for op in kernel.ops.iter().take(MOST_OPS) {
        let place = op.location.rsplit('/').next().unwrap_or_default();
        line("op", format!("{} · {place}", op.name));
    }
    if kernel.ops.len() > MOST_OPS {
        line("small", format!("and {} more", kernel.ops.len() - MOST_OPS));
    }
    for value in &kernel.writes {
        line("reason", format!("→ value {}: {}", value.value, value.reason));
    }
}

/// An edge into the top of a box: from the box that writes the value, or from the left, where inputs are.
fn edge(
    page: &mut String,
    from: Option<usize>,
    to: usize,
    reader: usize,
    writer: Option<usize>,
    size: &str,
) {
    let path = match (from, writer) {
        (Some(from), Some(writer)) if writer + 1 == reader => {
            let x = LEFT + BOX_WIDTH / 2;
            let _ = writeln!(
                page,
                "<text class=\"bytes\" x=\"{}\" y=\"{}\">{size}</text>",
                x + 8,
                from + GAP / 2
            );
            format!("M {x} {from} V {to}")
        }
        (Some(from), _) => {
            // Around the boxes in between.
            let (x, side) = (LEFT + BOX_WIDTH - 40, LEFT + BOX_WIDTH + 60 + 12 * (reader % 8));
            let _ = writeln!(
                page,
                "<text class=\"bytes\" x=\"{}\" y=\"{}\">{size}</text>",
                side + 6,
                (from + to) / 2
            );
            format!(
                "M {x} {from} C {side} {from}, {side} {from}, {side} {} S {x} {}, {x} {to}",
                (from + to) / 2,
                to - 30
            )
        }
        (None, _) => {
            let _ = writeln!(
                page,
                "<text class=\"bytes\" x=\"{}\" y=\"{}\">{size}</text>",
                LEFT - 130,
                to + 6
            );
            format!("M {} {} H {LEFT}", LEFT - 60, to + 10)
        }
    };
    let _ = writeln!(page, "<path class=\"edge\" d=\"{path}\" marker-end=\"url(#arrow)\"/>");
}

fn bytes(count: u64) -> String {
    match count {
        0..1024 => format!("{count} B"),
        1024..1_048_576 => format!("{:.1} KiB", count as f64 / 1024.0),
        1_048_576..1_073_741_824 => format!("{:.1} MiB", count as f64 / 1_048_576.0),
        _ => format!("{:.2} GiB", count as f64 / 1_073_741_824.0),
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
