//! Indented source lines.

use std::fmt::Write;

/// Source text that grows line by line.
#[derive(Default)]
pub struct Writer {
    text: String,
    depth: usize,
}

impl Writer {
    /// Appends a line.
    pub fn line(&mut self, line: impl AsRef<str>) {
        let _ = writeln!(self.text, "{:1$}{2}", "", 4 * self.depth, line.as_ref());
    }

    /// Appends a line that opens a block.
    pub fn open(&mut self, line: impl AsRef<str>) {
        self.line(format!("{} {{", line.as_ref()).trim_start());
        self.depth += 1;
    }

    /// Closes a block.
    pub fn close(&mut self) {
        self.depth -= 1;
        self.line("}");
    }

    /// Opens an unrolled loop with a constant trip count.
    pub fn unrolled(&mut self, variable: &str, count: u32) {
        self.line("#pragma unroll");
        self.open(format!("for (int {variable} = 0; {variable} < {count}; {variable}++)"));
    }

    /// The finished text.
    pub fn finish(self) -> String {
        self.text
    }
}
