//! Syntax errors: line, column, what was expected and found, and a source excerpt with a caret.

use std::fmt;

/// The number of characters shown on each side of the error position.
const CONTEXT: usize = 48;

/// A syntax or type error in the text.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SyntaxError {
    /// Line number, counted from 1.
    pub line: u32,
    /// Column in characters, counted from 1.
    pub column: u32,
    /// What the parser expected here.
    pub expected: String,
    /// What it found.
    pub found: String,
    /// The source line, shortened around the column if it is long.
    pub excerpt: String,
    /// The index of the character of the excerpt that is at `column`.
    pub caret: usize,
}

impl SyntaxError {
    /// An error at a byte offset of a text.
    pub(crate) fn at(
        source: &str,
        offset: usize,
        expected: impl Into<String>,
        found: impl Into<String>,
    ) -> SyntaxError {
        let offset = offset.min(source.len());
        let start = source[..offset].rfind('\n').map_or(0, |newline| newline + 1);
        let end = source[offset..].find('\n').map_or(source.len(), |newline| offset + newline);
        let line = 1 + source[..start].bytes().filter(|&byte| byte == b'\n').count();
        let before = source[start..offset].chars().count();
        let (excerpt, caret) = excerpt(&source[start..offset], &source[offset..end], before);
        SyntaxError {
            line: line as u32,
            column: before as u32 + 1,
            expected: expected.into(),
            found: found.into(),
            excerpt,
            caret,
        }
    }
}

/// The part of a line around a position, and the position's index in it.
fn excerpt(left: &str, right: &str, before: usize) -> (String, usize) {
    let mut text = String::new();
    let mut caret = before;
    if before > CONTEXT {
        text.push('…');
        let cut = left.char_indices().rev().nth(CONTEXT - 1).map_or(0, |(index, _)| index);
        text.push_str(&left[cut..]);
        caret = CONTEXT + 1;
    } else {
        text.push_str(left);
    }
    match right.char_indices().nth(CONTEXT) {
        Some((cut, _)) => {
            text.push_str(&right[..cut]);
            text.push('…');
        }
        None => text.push_str(right.trim_end()),
    }
    // Control characters become spaces, so that the caret is aligned with its character.
    (text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect(), caret)
}

impl fmt::Display for SyntaxError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "line {}, column {}: expected {}, found {}",
            self.line, self.column, self.expected, self.found
        )?;
        writeln!(f, "  | {}", self.excerpt)?;
        write!(f, "  | {:width$}^", "", width = self.caret)
    }
}

impl std::error::Error for SyntaxError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn caret_is_aligned_with_the_column() {
        let error = SyntaxError::at("one\n  two three\n", 10, "a number", "`three`");
        assert_eq!(
            error.to_string(),
            "line 2, column 7: expected a number, found `three`\n  |   two three\n  |       ^"
        );
    }

    #[test]
    fn long_lines_are_shortened_on_both_sides() {
        let source = format!("{}X{}", "a".repeat(100), "é".repeat(100));
        let error = SyntaxError::at(&source, 100, "y", "`X`");
        assert_eq!((error.line, error.column), (1, 101));
        assert_eq!(error.excerpt, format!("…{}X{}…", "a".repeat(48), "é".repeat(47)));
        assert_eq!(error.excerpt.chars().nth(error.caret), Some('X'));
    }

    #[test]
    fn error_at_the_end_of_the_text_has_a_position() {
        let error = SyntaxError::at("abc", 3, "`}`", "the end of the text");
        assert_eq!((error.column, error.caret), (4, 3));
    }
}
