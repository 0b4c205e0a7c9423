//! `inflight timeline`: draws a trace as an SVG.
//!
//! - this file: parses trace events into tracks;
//! - `draw`: renders tracks as a self-contained SVG.

mod draw;

use crate::outcome::{Outcome, counted};
use inflight::{Error, Result};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Arguments of `inflight timeline`.
#[derive(clap::Args)]
pub struct Arguments {
    /// The trace file
    trace: PathBuf,
    /// The SVG file to write
    #[arg(short, long, default_value = "timeline.svg")]
    output: PathBuf,
    /// Width in pixels
    #[arg(
        long,
        default_value_t = 1400,
        allow_negative_numbers = true,
        value_parser = clap::value_parser!(u32).range(200..=20_000)
    )]
    width: u32,
}

/// Draws a trace.
pub fn timeline(arguments: &Arguments) -> Outcome {
    Ok(draw_trace(&arguments.trace, &arguments.output, arguments.width)?)
}

/// Reads a trace and writes its SVG. Returns a summary.
fn draw_trace(trace: &Path, picture: &Path, width: u32) -> Result<String> {
    let file = |path: &Path, error: std::io::Error| Error::File {
        path: path.display().to_string(),
        message: error.to_string(),
    };
    let text = std::fs::read_to_string(trace).map_err(|error| file(trace, error))?;
    let tracks = tracks(&text)
        .map_err(|message| Error::File { path: trace.display().to_string(), message })?;
    std::fs::write(picture, draw::svg(&tracks, width)).map_err(|error| file(picture, error))?;
    let spans: usize = tracks.iter().map(|track| track.spans.len()).sum();
    let (spans, rows) = (counted(spans, "span"), counted(tracks.len(), "track"));
    Ok(format!("{}: {spans} on {rows}", picture.display()))
}

/// The largest time of an event, in microseconds: 317 years. Differences of such times are exact to 2 µs.
const MAX_TIME: f64 = 1e16;

/// A row of the timeline.
#[derive(Debug, Default)]
struct Track {
    name: String,
    /// By start time; an enclosing span comes before those inside.
    spans: Vec<Span>,
}

/// A timed event. Times are in microseconds.
#[derive(Debug)]
struct Span {
    name: String,
    category: String,
    begin: f64,
    end: f64,
    /// Nesting depth: the number of enclosing spans of the track.
    depth: usize,
    /// One line for each detail.
    details: Vec<String>,
}

/// Parses a trace in the Chrome format into tracks, by process and thread id.
fn tracks(text: &str) -> std::result::Result<Vec<Track>, String> {
    let value = parse(text)?;
    let events = match &value {
        Value::Array(events) => events,
        Value::Object(members) => match members.get("traceEvents") {
            Some(Value::Array(events)) => events,
            _ => return Err("expected an array of events under \"traceEvents\"".to_owned()),
        },
        _ => return Err("expected an array of events".to_owned()),
    };
    let mut tracks: BTreeMap<(u64, u64), Track> = BTreeMap::new();
    for event in events {
        let number = |key: &str| event[key].as_u64().unwrap_or(0);
        let key = (number("pid"), number("tid"));
        match event["ph"].as_str() {
            Some("M") if event["name"] == "thread_name" => {
                let name = event["args"]["name"].as_str().unwrap_or("?");
                tracks.entry(key).or_default().name = name.to_owned();
            }
            Some("X") => tracks.entry(key).or_default().spans.push(span(event)?),
            _ => {}
        }
    }
    for track in tracks.values_mut() {
        nest(&mut track.spans);
    }
    Ok(tracks.into_values().filter(|track| !track.spans.is_empty()).collect())
}

/// Parses JSON. The trace of a process that ended early is an array without its closing bracket.
fn parse(text: &str) -> std::result::Result<Value, String> {
    let whole = serde_json::from_str(text);
    let error = match whole {
        Ok(value) => return Ok(value),
        Err(error) => error,
    };
    // Each event is on its own line: the last complete one is before a comma at the end of a line.
    let begun = text.rfind("},\n").map(|end| format!("{}]", &text[..=end]));
    begun
        .and_then(|array| serde_json::from_str(&array).ok())
        .ok_or_else(|| format!("not a trace: {error}"))
}

fn span(event: &Value) -> std::result::Result<Span, String> {
    let time = |key: &str| {
        let time = event[key]
            .as_f64()
            .ok_or_else(|| format!("an event without a numeric \"{key}\": {event}"))?;
        // Also false for NaN.
        if time.abs() <= MAX_TIME {
            return Ok(time);
        }
        Err(format!("an event whose \"{key}\" is beyond ±{MAX_TIME:e} microseconds: {event}"))
    };
    let (begin, duration) = (time("ts")?, time("dur")?);
    if duration < 0.0 {
        return Err(format!("an event whose \"dur\" is negative: {event}"));
    }
    let details =
        event["args"].as_object().into_iter().flatten().flat_map(|(key, value)| match value {
            Value::Array(items) => items.iter().map(shown).collect(),
            value => vec![format!("{key}: {}", shown(value))],
        });
    Ok(Span {
        name: event["name"].as_str().unwrap_or("?").to_owned(),
        category: event["cat"].as_str().unwrap_or("").to_owned(),
        begin,
        end: begin + duration,
        depth: 0,
        details: details.collect(),
    })
}

fn shown(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// Sorts the spans of a track and computes their nesting depths.
fn nest(spans: &mut [Span]) {
    spans.sort_by(|a, b| a.begin.total_cmp(&b.begin).then(b.end.total_cmp(&a.end)));
    let mut around: Vec<f64> = Vec::new();
    for span in spans {
        while around.last().is_some_and(|&end| end <= span.begin) {
            around.pop();
        }
        span.depth = around.len();
        around.push(span.end);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TRACE: &str = r#"[
{"name":"thread_name","ph":"M","pid":1,"tid":1,"args":{"name":"main"}},
{"name":"wait: read","cat":"wait","ph":"X","ts":10.5,"dur":20,"pid":1,"tid":1,"args":{"reason":"read"}},
{"name":"dispatch","cat":"dispatch","ph":"X","ts":11,"dur":2,"pid":1,"tid":1,"args":{"ops":3}},
{"name":"thread_name","ph":"M","pid":2,"tid":4,"args":{"name":"cpu stream 4"}},
{"name":"exp <&> sum","cat":"kernel","ph":"X","ts":15,"dur":10,"pid":2,"tid":4,"args":{"ops":["exp at a.rs:1:2"],"bytes_read":8}},
"#;

    #[test]
    fn a_trace_is_read_into_tracks() {
        let tracks = tracks(TRACE).unwrap();
        let names: Vec<&str> = tracks.iter().map(|track| track.name.as_str()).collect();
        assert_eq!(names, ["main", "cpu stream 4"]);
        let depths: Vec<usize> = tracks[0].spans.iter().map(|span| span.depth).collect();
        assert_eq!(depths, [0, 1], "the dispatch is inside the wait");
        assert_eq!(tracks[0].spans[0].end, 30.5);
        assert_eq!(tracks[1].spans[0].details, ["exp at a.rs:1:2", "bytes_read: 8"]);
    }

    #[test]
    fn all_forms_of_the_format_are_read() {
        let whole = format!("{}]", TRACE.trim_end().trim_end_matches(','));
        let object = format!("{{\"traceEvents\":{whole}}}");
        let torn = format!("{TRACE}{{\"name\":\"half an ev");
        for text in [whole, object, torn] {
            assert_eq!(tracks(&text).unwrap().len(), 2);
        }
        assert!(tracks("{}").is_err() && tracks("7").is_err() && tracks("no").is_err());
        let error = tracks(r#"[{"ph":"X","name":"a","ts":"x"}]"#).unwrap_err();
        assert!(error.contains("\"ts\""), "{error}");
    }

    /// The picture of one span with these times, as they are written in the trace.
    fn picture_of(begin: &str, duration: &str) -> std::result::Result<String, String> {
        let trace = format!(
            r#"[{{"name":"a","ph":"X","ts":0,"dur":1}},{{"name":"b","ph":"X","ts":{begin},"dur":{duration}}}]"#
        );
        tracks(&trace).map(|tracks| draw::svg(&tracks, 1000))
    }

    /// A picture whose coordinates are all finite.
    fn assert_drawn(picture: &str) {
        assert!(picture.trim_end().ends_with("</svg>") && picture.len() < 200_000);
        for wrong in ["NaN", "inf"] {
            assert!(!picture.contains(wrong), "{wrong} in {picture}");
        }
    }

    #[test]
    fn a_trace_with_impossible_times_is_an_error() {
        for (begin, duration) in [
            ("0", "-1"),
            ("0", "-1e-300"),
            ("1e300", "1"),
            ("-1e300", "1"),
            ("0", "1e300"),
            ("1e308", "1e308"),
            ("1e400", "1"),
            ("18446744073709551615", "1"),
            ("null", "1"),
            ("\"NaN\"", "1"),
            ("0", "\"Infinity\""),
        ] {
            let error = picture_of(begin, duration).expect_err(begin);
            assert!(!error.is_empty(), "{begin} {duration}");
        }
        let error = picture_of("1e300", "1").unwrap_err();
        assert!(error.contains("\"ts\"") && error.contains("1e+300"), "{error}");
        let error = picture_of("3", "-1").unwrap_err();
        assert!(error.contains("\"dur\"") && error.contains("-1"), "{error}");
    }

    #[test]
    fn a_trace_with_extreme_times_is_drawn() {
        for (begin, duration) in [
            ("0", "0"),
            ("5", "0"),
            ("-20", "10"),
            ("1e-320", "5e-324"),
            ("1e-9", "1e-300"),
            ("1763496000000000", "0.001"),
            ("1e15", "1e15"),
            ("-1e15", "1e15"),
        ] {
            assert_drawn(&picture_of(begin, duration).unwrap());
        }
        // All spans at one moment, far from zero: they are inside the picture.
        let trace =
            r#"[{"name":"a","ph":"X","ts":1e15,"dur":0},{"name":"b","ph":"X","ts":1e15,"dur":0}]"#;
        let picture = draw::svg(&tracks(trace).unwrap(), 1000);
        assert_drawn(&picture);
        assert!(picture.contains("class=\"span\" x=\"190.00\""), "{picture}");
    }

    #[test]
    fn random_times_are_drawn_or_refused() {
        let mut state = 7u64;
        let mut random = move || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            state
        };
        let mut drawn = 0;
        for _ in 0..20_000 {
            let mut number = || {
                let bits = random();
                let sign = if bits & 4 == 0 { "" } else { "-" };
                let (digits, exponent) = ((bits >> 8) % 1_000_000_007, (bits >> 40) as i64);
                match bits % 4 {
                    0 => format!("{sign}{}", digits % 100_000),
                    1 => format!("{sign}{}.{digits}", digits % 1000),
                    2 => format!("{sign}{digits}e{}", exponent % 40 - 20),
                    _ => format!("{sign}{digits}e{}", exponent % 700 - 350),
                }
            };
            let (begin, duration) = (number(), number());
            if let Ok(picture) = picture_of(&begin, &duration) {
                assert_drawn(&picture);
                drawn += 1;
            }
        }
        assert!(drawn > 1000, "{drawn}");
    }

    #[test]
    fn svg_shows_every_span() {
        let picture = draw::svg(&tracks(TRACE).unwrap(), 1000);
        assert!(picture.starts_with("<svg ") && picture.trim_end().ends_with("</svg>"));
        assert_eq!(picture.matches("class=\"span").count(), 3);
        assert!(picture.contains("exp &lt;&amp;&gt; sum"), "text is escaped");
        assert!(picture.contains("main") && picture.contains("cpu stream 4"));
        // Self-contained.
        assert!(!picture.contains("href") && !picture.contains("<script"));
        assert!(draw::svg(&[], 1000).contains("</svg>"));
    }
}
