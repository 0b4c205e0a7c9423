//! Indented lines.

use std::fmt::Write;

/// Text that grows line by line.
#[derive(Default)]
pub struct Writer {
    text: String,
    depth: usize,
}

impl Writer {
    /// A line.
    pub fn line(&mut self, line: impl AsRef<str>) {
        let _ = writeln!(self.text, "{:1$}{2}", "", 4 * self.depth, line.as_ref());
    }

    /// A line that opens a block.
    pub fn open(&mut self, line: impl AsRef<str>) {
        self.line(format!("{} {{", line.as_ref()).trim_start());
        self.depth += 1;
    }

    /// The end of a block.
    pub fn close(&mut self) {
        self.depth -= 1;
        self.line("}");
    }

    /// A loop over a constant number of steps, unrolled.
    pub fn unrolled(&mut self, variable: &str, count: u32) {
        self.line("#pragma unroll");
        self.open(format!("for (int {variable} = 0; {variable} < {count}; {variable}++)"));
    }

    /// All that was written.
    pub fn finish(self) -> String {
        self.text
    }
}
