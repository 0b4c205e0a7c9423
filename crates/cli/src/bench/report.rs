//! Benchmark reports: tables and JSON.

use super::peer;
use super::work::{Amount, Work};
use inflight::Stats;
use serde_json::{Map, Value, json};
use std::fmt::Write;

/// Measurements for all thread counts.
pub struct Report {
    sessions: Vec<Measured>,
}

/// Measurements for one thread count.
pub struct Measured {
    pub threads: usize,
    pub processor: String,
    pub target: String,
    /// Load average of the minute before.
    pub load: Option<f64>,
    /// The peers that ran: name and version.
    pub versions: Vec<(&'static str, String)>,
    /// The peers that did not run, and why.
    pub missing: Vec<(&'static str, String)>,
    pub rows: Vec<Row>,
}

/// Measurements of a workload.
pub struct Row {
    name: &'static str,
    size: String,
    amount: Amount,
    tolerance: f64,
    ours: Times,
    /// Bandwidth baseline for as many bytes.
    memory: Option<Times>,
    counted: Stats,
    /// In the order of the session's peers.
    peers: Vec<PeerRow>,
}

/// Measurements of a workload in a peer.
pub struct PeerRow {
    /// Times of its calls, or why there are none.
    pub times: Result<Times, String>,
    /// Difference of its results from ours.
    pub difference: Result<f64, String>,
}

/// Times of calls in seconds, ascending.
pub struct Times(Vec<f64>);

impl Times {
    /// Sorts times; at least one.
    pub fn new(mut seconds: Vec<f64>) -> Times {
        seconds.sort_by(f64::total_cmp);
        Times(seconds)
    }

    /// Median; NaN without calls.
    pub fn median(&self) -> f64 {
        self.quantile(0.5)
    }

    fn quantile(&self, part: f64) -> f64 {
        let last = self.0.len().saturating_sub(1);
        self.0.get((part * last as f64).round() as usize).copied().unwrap_or(f64::NAN)
    }

    fn json(&self) -> Value {
        json!({
            "median_s": self.median(),
            "lower_quartile_s": self.quantile(0.25),
            "upper_quartile_s": self.quantile(0.75),
            "calls": self.0.len(),
        })
    }
}

impl Row {
    pub fn new(
        work: &Work,
        ours: Times,
        memory: Option<Times>,
        counted: Stats,
        peers: Vec<PeerRow>,
    ) -> Row {
        Row {
            name: work.name,
            size: work.size.clone(),
            amount: work.amount,
            tolerance: work.tolerance,
            ours,
            memory,
            counted,
            peers,
        }
    }

    /// Rate in 10⁹ bytes or operations per second, with its unit.
    fn rate(&self) -> Option<(f64, &'static str)> {
        let seconds = 1e9 * self.ours.median();
        match self.amount {
            Amount::Bytes { read, written } => Some(((read + written) as f64 / seconds, "GB/s")),
            Amount::Operations(count) => Some((count as f64 / seconds, "GFLOP/s")),
            Amount::Call => None,
        }
    }

    /// A peer's time divided by ours.
    fn ratio(&self, peer: &PeerRow) -> Option<f64> {
        Some(peer.times.as_ref().ok()?.median() / self.ours.median())
    }

    fn differs(&self, peer: &PeerRow) -> bool {
        matches!(peer.difference, Ok(difference) if difference > self.tolerance)
    }

    fn cells(&self) -> Vec<String> {
        let rate =
            self.rate().map_or(String::new(), |(rate, unit)| format!("{} {unit}", digits(rate)));
        let memory = self.memory.as_ref().map(|pass| pass.median() / self.ours.median());
        let mut cells = vec![
            self.name.to_owned(),
            self.size.clone(),
            duration(self.ours.median()),
            rate,
            memory.map_or(String::new(), |ratio| format!("{ratio:.2}")),
        ];
        cells.extend(self.peers.iter().map(|peer| match self.ratio(peer) {
            _ if self.differs(peer) => "differs".to_owned(),
            Some(ratio) => format!("{ratio:.2}"),
            None => "failed".to_owned(),
        }));
        cells.push(if self.tolerance == 0.0 {
            "0".to_owned()
        } else {
            format!("{:.0e}", self.tolerance)
        });
        cells
    }

    fn json(&self, names: &[(&'static str, String)]) -> Value {
        let mut row = Map::new();
        row.insert("work".to_owned(), self.name.into());
        row.insert("size".to_owned(), self.size.as_str().into());
        row.insert("tolerance".to_owned(), self.tolerance.into());
        row.insert("ours".to_owned(), self.ours.json());
        if let Some((rate, unit)) = self.rate() {
            row.insert("rate".to_owned(), rate.into());
            row.insert("rate_unit".to_owned(), unit.into());
        }
        if let Some(pass) = &self.memory {
            row.insert("memory_pass".to_owned(), pass.json());
        }
        row.insert("launches".to_owned(), self.counted.launches.into());
        row.insert("bytes_read".to_owned(), self.counted.bytes_read.into());
        row.insert("bytes_written".to_owned(), self.counted.bytes_written.into());
        let peers = names.iter().zip(&self.peers).map(|((name, _), peer)| {
            let value = match &peer.times {
                Ok(times) => json!({
                    "times": times.json(),
                    "ratio": self.ratio(peer),
                    "difference": peer.difference.as_ref().ok(),
                    "differs": self.differs(peer),
                }),
                Err(message) => json!({ "error": message }),
            };
            ((*name).to_owned(), value)
        });
        row.insert("peers".to_owned(), Value::Object(peers.collect()));
        Value::Object(row)
    }
}

impl Measured {
    /// Titles of the peers.
    fn titles(&self) -> impl Iterator<Item = &'static str> {
        let title =
            |name| peer::NAMES.iter().find(|known| known.0 == name).map_or(name, |known| known.1);
        self.versions.iter().map(move |(name, _)| title(*name))
    }

    fn text(&self, markdown: bool) -> String {
        let mut text = String::new();
        let threads = if self.threads == 1 { "thread" } else { "threads" };
        let _ = writeln!(text, "{} {threads}, {}, {}", self.threads, self.processor, self.target);
        let mut versions: Vec<&str> = self.versions.iter().map(|(_, text)| &text[..]).collect();
        versions.dedup();
        if !versions.is_empty() {
            let _ = writeln!(text, "with {}", versions.join(", "));
        }
        for (title, message) in &self.missing {
            let _ = writeln!(text, "without {title}: {message}");
        }
        if let Some(load) = self.load {
            let _ = writeln!(text, "load before: {load:.2}");
        }
        text.push('\n');
        let head = ["workload", "size", "ours", "rate", "memory"].into_iter();
        let head = head.chain(self.titles()).chain(["tolerance"]).map(str::to_owned).collect();
        let lines: Vec<Vec<String>> =
            std::iter::once(head).chain(self.rows.iter().map(Row::cells)).collect();
        text.push_str(&table(&lines, markdown));
        let behind = self.behind();
        if !behind.is_empty() {
            let _ = write!(text, "\nSlower than a peer: {}.\n", behind.join("; "));
        }
        text
    }

    /// The rows where a peer is faster.
    fn behind(&self) -> Vec<String> {
        let mut behind = Vec::new();
        for row in &self.rows {
            let faster = self.titles().zip(&row.peers).filter_map(|(title, peer)| {
                let ratio = row.ratio(peer).filter(|ratio| *ratio < 1.0)?;
                Some(format!("{title} {ratio:.2}"))
            });
            let faster: Vec<String> = faster.collect();
            if !faster.is_empty() {
                behind.push(format!("{} {} ({})", row.name, row.size, faster.join(", ")));
            }
        }
        behind
    }
}

impl Report {
    pub fn new() -> Report {
        Report { sessions: Vec::new() }
    }

    pub fn add(&mut self, measured: Measured) {
        self.sessions.push(measured);
    }

    /// Messages about results of peers that differ from ours.
    pub fn differences(&self) -> Vec<String> {
        let mut differences = Vec::new();
        for session in &self.sessions {
            for row in &session.rows {
                for (title, peer) in
                    session.titles().zip(&row.peers).filter(|pair| row.differs(pair.1))
                {
                    let difference = peer.difference.as_ref().copied().unwrap_or(f64::NAN);
                    differences.push(format!(
                        "{} {} from {title} by {difference:.1e}, where {:.0e} is allowed",
                        row.name, row.size, row.tolerance
                    ));
                }
            }
        }
        differences
    }

    /// Renders tables, plain or Markdown.
    pub fn text(&self, markdown: bool) -> String {
        const LEGEND: &str = "Medians of calls as a user makes them: recording, memory, running and waiting. \
            A peer's column is its time divided by ours: above 1 we are faster. So is the memory's, of a pass \
            over the same bytes that computes nothing, without the cost of a call.";
        let tables: Vec<String> =
            self.sessions.iter().map(|session| session.text(markdown)).collect();
        format!("{LEGEND}\n\n{}", tables.join("\n"))
    }

    /// Renders everything as JSON.
    pub fn json(&self) -> String {
        let sessions = self.sessions.iter().map(|session| {
            let versions = session.versions.iter().map(|(name, text)| ((*name).to_owned(), json!(text)));
            let missing = session.missing.iter().map(|(name, text)| ((*name).to_owned(), json!(text)));
            json!({
                "threads": session.threads,
                "processor": session.processor,
                "target": session.target,
                "load": session.load,
                "peers": Value::Object(versions.collect()),
                "missing": Value::Object(missing.collect()),
                "rows": session.rows.iter().map(|row| row.json(&session.versions)).collect::<Vec<_>>(),
            })
        });
        format!("{:#}", json!({ "sessions": sessions.collect::<Vec<_>>() }))
    }
}

/// Renders a table; the first line is the header.
fn table(lines: &[Vec<String>], markdown: bool) -> String {
    let columns = lines.first().map_or(0, Vec::len);
    let width = |column: usize| {
        lines.iter().map(|line| line[column].chars().count()).max().unwrap_or_default()
    };
    let widths: Vec<usize> = (0..columns).map(width).collect();
    let mut text = String::new();
    for (position, line) in lines.iter().enumerate() {
        // Text is left-aligned, values right-aligned.
        let padded =
            line.iter().zip(&widths).enumerate().map(|(column, (cell, &width))| match column {
                0 | 1 => format!("{cell:width$}"),
                _ => format!("{cell:>width$}"),
            });
        let padded: Vec<String> = padded.collect();
        match markdown {
            true => text += &format!("| {} |\n", padded.join(" | ")),
            false => text += &format!("{}\n", padded.join("  ").trim_end()),
        }
        if position == 0 && markdown {
            let rules = (0..columns).map(|column| if column < 2 { "---" } else { "---:" });
            text += &format!("|{}|\n", rules.collect::<Vec<_>>().join("|"));
        }
    }
    text
}

/// Three significant digits.
fn digits(value: f64) -> String {
    match value {
        value if value >= 100.0 => format!("{value:.0}"),
        value if value >= 10.0 => format!("{value:.1}"),
        value => format!("{value:.2}"),
    }
}

fn duration(seconds: f64) -> String {
    match seconds {
        seconds if seconds >= 1.0 => format!("{} s", digits(seconds)),
        seconds if seconds >= 1e-3 => format!("{} ms", digits(1e3 * seconds)),
        seconds => format!("{} µs", digits(1e6 * seconds)),
    }
}

#[cfg(test)]
mod tests {
    use super::super::works;
    use super::*;

    fn measured() -> Measured {
        let work = works::all().into_iter().find(|work| work.title() == "a·x + b 64 Ki").unwrap();
        let peer = |seconds: f64, difference: f64| PeerRow {
            times: Ok(Times::new(vec![seconds; 3])),
            difference: Ok(difference),
        };
        let broken =
            PeerRow { times: Err("broken".to_owned()), difference: Err("broken".to_owned()) };
        let ours = Times::new(vec![3e-5, 1e-5, 2e-5]);
        let memory = Some(Times::new(vec![1e-5]));
        let peers = vec![peer(6e-5, 0.0), peer(1e-5, 1e-9), peer(4e-5, 1.0), broken];
        Measured {
            threads: 2,
            processor: "Processor".to_owned(),
            target: "target".to_owned(),
            load: Some(0.5),
            versions: peer::NAMES.map(|(name, title)| (name, format!("{title} 1.0"))).into(),
            missing: Vec::new(),
            rows: vec![Row::new(&work, ours, memory, Stats::default(), peers)],
        }
    }

    #[test]
    fn medians_and_ratios_are_in_the_table() {
        let mut report = Report::new();
        report.add(measured());
        let text = report.text(true);
        let row = text.lines().find(|line| line.contains("64 Ki |")).unwrap();
        let cells: Vec<&str> = row.trim_matches('|').split('|').map(str::trim).collect();
        // 512 KiB in 20 µs; the baseline takes half as long, the first peer three times as long, the second half as long.
        let expected = [
            "a·x + b",
            "64 Ki",
            "20.0 µs",
            "26.2 GB/s",
            "0.50",
            "3.00",
            "0.50",
            "differs",
            "failed",
            "1e-6",
        ];
        assert_eq!(cells, expected);
        assert!(text.contains("Slower than a peer: a·x + b 64 Ki (JAX 0.50)."), "{text}");
    }

    #[test]
    fn differences_are_named() {
        let mut report = Report::new();
        report.add(measured());
        let differences = report.differences();
        assert_eq!(differences.len(), 1);
        assert!(
            differences[0].starts_with("a·x + b 64 Ki from PyTorch by 1.0e0"),
            "{differences:?}"
        );
    }

    #[test]
    fn json_has_all_measurements() {
        let mut report = Report::new();
        report.add(measured());
        let json: Value = serde_json::from_str(&report.json()).unwrap();
        let session = &json["sessions"][0];
        assert_eq!(session["threads"], 2);
        let row = &session["rows"][0];
        assert_eq!(row["ours"]["median_s"], 2e-5);
        assert_eq!(row["ours"]["calls"], 3);
        assert_eq!(row["peers"]["jax"]["ratio"], 0.5);
        assert_eq!(row["peers"]["torch"]["differs"], true);
        assert_eq!(row["peers"]["torch.compile"]["error"], "broken");
    }
}
