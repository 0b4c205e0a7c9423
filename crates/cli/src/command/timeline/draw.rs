//! Renders tracks as an SVG.

use super::{Span, Track};
use std::fmt::Write;

/// Width of the column of track names.
const GUTTER: f64 = 190.0;
const MARGIN: f64 = 16.0;
const ROW: f64 = 20.0;
const GAP: f64 = 14.0;
/// Height of the axis and the legend.
const HEAD: f64 = 64.0;
/// The least time that the picture covers, in microseconds: one nanosecond.
const MIN_TOTAL: f64 = 1e-3;
/// Most digits after the decimal point.
const MAX_DIGITS: f64 = 6.0;
/// Approximate width of a character of a span's name.
const LETTER: f64 = 6.2;

/// Categories of spans: name, legend text, colour.
const KINDS: [(&str, &str, &str); 6] = [
    ("kernel", "kernel", "#2f6fb0"),
    ("copy", "copy to the host", "#1f8a70"),
    ("wait", "host waits", "#c8443c"),
    ("submit", "submit", "#6b7280"),
    ("dispatch", "plan, compile, enqueue", "#b7791f"),
    ("work", "pending work", "#7a5bb5"),
];

/// Renders tracks, `width` pixels wide.
pub fn svg(tracks: &[Track], width: u32) -> String {
    let width = f64::from(width.max(500));
    let spans = || tracks.iter().flat_map(|track| &track.spans);
    let begin = spans().map(|span| span.begin).fold(f64::INFINITY, f64::min);
    let end = spans().map(|span| span.end).fold(f64::NEG_INFINITY, f64::max);
    let begin = if begin.is_finite() { begin } else { 0.0 };
    let total = (end - begin).max(MIN_TOTAL);
    let scale = Scale { begin, per_pixel: total / (width - GUTTER - MARGIN) };
    let rows: Vec<f64> = tracks.iter().map(|track| ROW * deepest(track) as f64).collect();
    let height = HEAD + rows.iter().map(|row| row + GAP).sum::<f64>() + MARGIN;

    let mut out = String::new();
    let _ = writeln!(
        out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
         viewBox=\"0 0 {width} {height}\" font-family=\"system-ui, 'Helvetica Neue', Arial, sans-serif\" \
         font-size=\"11\">"
    );
    let _ = writeln!(
        out,
        "<style>.wide{{stroke:#fff;stroke-width:.5}}.name{{fill:#fff;pointer-events:none}}\
         .label{{fill:#1f2937;font-size:12px}}.quiet{{fill:#6b7280}}</style>"
    );
    let _ = writeln!(out, "<rect width=\"{width}\" height=\"{height}\" fill=\"#fff\"/>");
    legend(&mut out);
    axis(&mut out, &scale, total, width, height);
    let mut top = HEAD;
    for (track, row) in tracks.iter().zip(&rows) {
        draw_track(&mut out, track, &scale, top, *row, total);
        top += row + GAP;
    }
    out.push_str("</svg>\n");
    out
}

/// Maps times to x coordinates.
struct Scale {
    begin: f64,
    /// Microseconds.
    per_pixel: f64,
}

impl Scale {
    fn x(&self, time: f64) -> f64 {
        GUTTER + (time - self.begin) / self.per_pixel
    }
}

fn deepest(track: &Track) -> usize {
    track.spans.iter().map(|span| span.depth + 1).max().unwrap_or(1)
}

fn legend(out: &mut String) {
    let mut x = GUTTER;
    for (_, words, colour) in KINDS {
        let _ = writeln!(
            out,
            "<rect x=\"{x}\" y=\"10\" width=\"11\" height=\"11\" rx=\"2\" fill=\"{colour}\"/>\
             <text x=\"{}\" y=\"20\" class=\"label\">{words}</text>",
            x + 16.0
        );
        x += 36.0 + 6.6 * words.len() as f64;
    }
}

/// Draws grid lines at round times after the begin.
fn axis(out: &mut String, scale: &Scale, total: f64, width: f64, height: f64) {
    let step = round_step(scale.per_pixel * 90.0);
    let ticks = (0..).map(|tick| f64::from(tick) * step).take_while(|tick| *tick <= total);
    for tick in ticks {
        let x = GUTTER + tick / scale.per_pixel;
        let _ = writeln!(
            out,
            "<line x1=\"{x:.1}\" x2=\"{x:.1}\" y1=\"{:.1}\" y2=\"{:.1}\" stroke=\"#e5e7eb\"/>",
            HEAD - 12.0,
            height - MARGIN
        );
        // Skip a label that the edge would cut off.
        if x + 40.0 < width {
            let _ = writeln!(
                out,
                "<text x=\"{:.1}\" y=\"{:.1}\" class=\"quiet\">{}</text>",
                x + 3.0,
                HEAD - 14.0,
                duration(tick, step)
            );
        }
    }
}

/// The smallest of 1, 2, 5, 10, … of at least `least`.
fn round_step(least: f64) -> f64 {
    let power = 10f64.powf(least.max(1e-3).log10().floor());
    [1.0, 2.0, 5.0, 10.0]
        .into_iter()
        .map(|n| n * power)
        .find(|step| *step >= least)
        .unwrap_or(power * 10.0)
}

/// Formats a time in the unit of a scale.
fn duration(microseconds: f64, scale: f64) -> String {
    let (value, step, unit) = match scale {
        s if s >= 1e6 => (microseconds / 1e6, scale / 1e6, "s"),
        s if s >= 1e3 => (microseconds / 1e3, scale / 1e3, "ms"),
        _ => (microseconds, scale, "µs"),
    };
    // A scale of zero, as of a span without a duration, has no last digit.
    let digits = if step >= 1.0 || step <= 0.0 { 0.0 } else { (-step.log10()).ceil() };
    let digits = digits.min(MAX_DIGITS) as usize;
    format!("{value:.digits$} {unit}")
}

fn draw_track(out: &mut String, track: &Track, scale: &Scale, top: f64, height: f64, total: f64) {
    let middle = top + ROW / 2.0 + 4.0;
    let busy: f64 =
        track.spans.iter().filter(|span| span.depth == 0).map(|span| span.end - span.begin).sum();
    let _ = writeln!(
        out,
        "<text x=\"{MARGIN}\" y=\"{middle:.1}\" class=\"label\">{}</text>\
         <text x=\"{:.1}\" y=\"{middle:.1}\" text-anchor=\"end\" class=\"quiet\">{:.0} %</text>",
        escaped(&shortened(&track.name, 22)),
        GUTTER - 10.0,
        100.0 * busy / total
    );
    let _ = writeln!(
        out,
        "<rect x=\"{GUTTER}\" y=\"{top:.1}\" width=\"{:.1}\" height=\"{height:.1}\" fill=\"#f3f4f6\"/>",
        total / scale.per_pixel
    );
    for span in &track.spans {
        draw_span(out, span, scale, top);
    }
}

fn draw_span(out: &mut String, span: &Span, scale: &Scale, top: f64) {
    let kind = KINDS.iter().find(|(category, _, _)| *category == span.category);
    let colour = kind.map_or("#9ca3af", |(_, _, colour)| colour);
    let (x, y) = (scale.x(span.begin), top + ROW * span.depth as f64);
    let width = ((span.end - span.begin) / scale.per_pixel).max(0.6);
    let length = span.end - span.begin;
    let mut title = format!("{}, {}", span.name, duration(length, length / 100.0));
    for detail in &span.details {
        title.push('\n');
        title.push_str(detail);
    }
    let _ = writeln!(
        out,
        "<rect class=\"span{}\" x=\"{x:.2}\" y=\"{y:.1}\" width=\"{width:.2}\" height=\"{ROW}\" rx=\"1.5\" \
         fill=\"{colour}\"><title>{}</title></rect>",
        // No outline for thin spans: it would cover them.
        if width > 2.0 { " wide" } else { "" },
        escaped(&title)
    );
    let letters = ((width - 8.0) / LETTER).floor();
    if letters >= 3.0 {
        let _ = writeln!(
            out,
            "<text x=\"{:.2}\" y=\"{:.1}\" class=\"name\">{}</text>",
            x + 4.0,
            y + ROW / 2.0 + 4.0,
            escaped(&shortened(&span.name, letters as usize))
        );
    }
}

/// Truncates text to a number of characters.
fn shortened(text: &str, letters: usize) -> String {
    if text.chars().count() <= letters {
        return text.to_owned();
    }
    text.chars().take(letters.saturating_sub(1)).chain(['…']).collect()
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_and_times_are_round() {
        assert_eq!(round_step(0.9), 1.0);
        assert_eq!(round_step(1.1), 2.0);
        assert_eq!(round_step(30.0), 50.0);
        assert_eq!(round_step(501.0), 1000.0);
        assert_eq!(duration(1500.0, 500.0), "1500 µs");
        assert_eq!(duration(1500.0, 1000.0), "2 ms");
        assert_eq!(duration(2_500_000.0, 2_000_000.0), "2 s");
        assert_eq!(duration(0.25, 0.05), "0.25 µs");
        assert_eq!(duration(0.0, 0.0), "0 µs");
        assert_eq!(duration(1e-300, 1e-302), "0.000000 µs");
    }

    #[test]
    fn long_names_are_truncated() {
        assert_eq!(shortened("softmax", 7), "softmax");
        assert_eq!(shortened("softmax", 4), "sof…");
    }
}
