//! Parser of StableHLO text (MLIR assembly).
//!
//! Recursive descent over tokens, one module for each part of the grammar: [`types`], [`attributes`] and their
//! [`dense`] literals, [`operations`] in generic form, [`pretty`] for operations in pretty form, [`functions`] for
//! modules and functions. Both forms give the same generic [`Operation`](crate::module::Operation).

mod attributes;
mod contractions;
mod control;
mod dense;
mod dialect_attributes;
mod error;
mod functions;
mod lexer;
mod operations;
mod pretty;
mod resources;
#[cfg(test)]
mod tests;
mod types;
mod values;

pub(crate) use attributes::insert;
pub use error::SyntaxError;
pub(crate) use functions::{dictionaries, own_attributes};
pub(crate) use types::named_element;

use crate::bounds::{self, ExpandedSize, MAX_NESTING};
use crate::module::{Attribute, Location, Module, Type};
use lexer::{Kind, Token};
use std::collections::{HashMap, HashSet};

type Result<T> = std::result::Result<T, SyntaxError>;

/// Parses a module, or functions without an enclosing module, from text.
pub fn parse(source: &str) -> Result<Module> {
    let mut module = Parser::new(source)?.module()?;
    crate::canonical::canonicalize(&mut module);
    Ok(module)
}

/// Parses a text that consists of one attribute.
pub(crate) fn parse_attribute(source: &str) -> Result<Attribute> {
    let mut parser = Parser::new(source)?;
    let attribute = parser.attribute()?;
    parser.expect_kind(Kind::End, "the end of the text")?;
    Ok(attribute)
}

/// Parses a text that consists of one type.
pub(crate) fn parse_type(source: &str) -> Result<Type> {
    let mut parser = Parser::new(source)?;
    let ty = parser.parse_type()?;
    parser.expect_kind(Kind::End, "the end of the text")?;
    Ok(ty)
}

/// Parser state.
struct Parser<'a> {
    source: &'a str,
    /// The current token.
    token: Token<'a>,
    /// The nesting depth of regions, attributes and types.
    depth: usize,
    /// The offset, line and column of the last location query. The next query counts on from there.
    last_location: (usize, u32, u32),
    values: values::ValueScope<'a>,
    attribute_aliases: HashMap<&'a str, (Attribute, ExpandedSize)>,
    type_aliases: HashMap<&'a str, (Type, ExpandedSize)>,
    /// The number of parts that aliases have expanded to.
    expanded: usize,
    /// The names of the functions parsed so far.
    functions: HashSet<String>,
    /// The resource blobs at the end of the text, by name.
    resources: HashMap<String, resources::Blob>,
}

impl<'a> Parser<'a> {
    fn new(source: &'a str) -> Result<Parser<'a>> {
        Ok(Parser {
            source,
            token: lexer::token(source, 0),
            depth: 0,
            last_location: (0, 1, 1),
            values: values::ValueScope::default(),
            attribute_aliases: HashMap::new(),
            type_aliases: HashMap::new(),
            expanded: 0,
            functions: HashSet::new(),
            resources: resources::collect(source)?,
        })
    }

    /// Consumes and returns the current token.
    fn next(&mut self) -> Token<'a> {
        let token = self.token;
        self.token = lexer::token(self.source, token.end());
        token
    }

    /// The token after the current one.
    fn peek(&self) -> Token<'a> {
        lexer::token(self.source, self.token.end())
    }

    /// Continues parsing at a byte offset.
    fn resume(&mut self, offset: usize) {
        self.token = lexer::token(self.source, offset);
    }

    fn at(&self, mark: &str) -> bool {
        self.token.kind == Kind::Punctuation && self.token.text == mark
    }

    fn at_word(&self, word: &str) -> bool {
        self.token.kind == Kind::Word && self.token.text == word
    }

    /// Consumes the current token if it is this punctuation.
    fn consume_if(&mut self, mark: &str) -> bool {
        let found = self.at(mark);
        if found {
            self.next();
        }
        found
    }

    /// Consumes the current token if it is this word.
    fn consume_word_if(&mut self, word: &str) -> bool {
        let found = self.at_word(word);
        if found {
            self.next();
        }
        found
    }

    fn expect(&mut self, mark: &str) -> Result<()> {
        if self.consume_if(mark) { Ok(()) } else { Err(self.expected(format!("`{mark}`"))) }
    }

    fn expect_word(&mut self, word: &str) -> Result<()> {
        if self.consume_word_if(word) { Ok(()) } else { Err(self.expected(format!("`{word}`"))) }
    }

    fn expect_kind(&mut self, kind: Kind, what: &str) -> Result<Token<'a>> {
        if self.token.kind == kind { Ok(self.next()) } else { Err(self.expected(what)) }
    }

    /// A string literal, unquoted and unescaped.
    fn string(&mut self) -> Result<String> {
        Ok(lexer::unescape(self.expect_kind(Kind::String, "a string")?.text))
    }

    /// The name after `@`; of a nested symbol reference, the last name.
    fn symbol(&mut self) -> Result<String> {
        let mut token = self.expect_kind(Kind::Symbol, "a symbol name that begins with `@`")?;
        while self.consume_if("::") {
            token = self.expect_kind(Kind::Symbol, "a symbol name that begins with `@`")?;
        }
        let name = &token.text[1..];
        Ok(if name.starts_with('"') { lexer::unescape(name) } else { name.to_string() })
    }

    /// An error at the current token.
    fn expected(&self, expected: impl Into<String>) -> SyntaxError {
        self.expected_at(self.token, expected)
    }

    /// An error at a token, which is described as what was found.
    fn expected_at(&self, token: Token<'_>, expected: impl Into<String>) -> SyntaxError {
        SyntaxError::at(self.source, token.start, expected, token.describe())
    }

    /// An error at a token, with an explicit description of what was found.
    fn error_at(
        &self,
        token: Token<'_>,
        expected: impl Into<String>,
        found: impl Into<String>,
    ) -> SyntaxError {
        SyntaxError::at(self.source, token.start, expected, found)
    }

    /// Runs `inner` one nesting level deeper.
    fn nested<T>(&mut self, inner: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        if self.depth == MAX_NESTING {
            return Err(self.expected(format!("at most {MAX_NESTING} levels of nesting")));
        }
        self.depth += 1;
        let result = inner(self);
        self.depth -= 1;
        result
    }

    /// Charges the expansion of an alias. Fails if it is nested too deeply or exceeds the budget.
    fn charge_expansion(&mut self, extent: ExpandedSize) -> Result<()> {
        self.expanded = self.expanded.saturating_add(extent.parts);
        if self.depth + extent.depth > MAX_NESTING {
            return Err(self.expected(format!("at most {MAX_NESTING} levels of nesting")));
        }
        let budget = bounds::budget(self.source.len());
        if self.expanded > budget {
            return Err(
                self.expected(format!("aliases that expand to at most {budget} parts in total"))
            );
        }
        Ok(())
    }

    /// Comma-separated items up to and including `close`.
    fn list<T>(
        &mut self,
        close: &str,
        mut item: impl FnMut(&mut Self) -> Result<T>,
    ) -> Result<Vec<T>> {
        let mut items = Vec::new();
        if self.consume_if(close) {
            return Ok(items);
        }
        loop {
            items.push(item(self)?);
            if self.consume_if(close) {
                return Ok(items);
            }
            if !self.consume_if(",") {
                return Err(self.expected(format!("`,` or `{close}`")));
            }
        }
    }

    /// The source location of the current token.
    fn location(&mut self) -> Location {
        let (mut offset, mut line, mut column) = self.last_location;
        if self.token.start < offset {
            (offset, line, column) = (0, 1, 1);
        }
        for character in self.source[offset..self.token.start].chars() {
            if character == '\n' {
                line += 1;
                column = 1;
            } else {
                column += 1;
            }
        }
        self.last_location = (self.token.start, line, column);
        Location { line, column }
    }

    /// Skips an optional `loc(…)`.
    fn skip_location(&mut self) -> Result<()> {
        if self.at_word("loc") && self.peek().text == "(" {
            self.next();
            self.next();
            self.skip_until_closed(")")?;
        }
        Ok(())
    }

    /// Skips an optional `loc(…)`, and returns the name of a name location `loc("name")`.
    fn location_name(&mut self) -> Result<Option<String>> {
        if !self.at_word("loc") || self.peek().text != "(" {
            return Ok(None);
        }
        self.next();
        self.next();
        let first = self.token;
        self.skip_until_closed(")")?;
        // `loc("file":line:column)` is a file location.
        let rest = self.source[first.start + first.text.len()..].trim_start();
        let is_name =
            first.kind == Kind::String && (rest.starts_with(')') || rest.starts_with('('));
        Ok(is_name.then(|| lexer::unescape(first.text)))
    }

    /// Skips tokens up to and including the matching closing bracket, and returns the offset after it.
    fn skip_until_closed(&mut self, close: &str) -> Result<usize> {
        let mut open = vec![closing(close)];
        let mut end = self.token.start;
        while let Some(&innermost) = open.last() {
            match (self.token.kind, self.token.text) {
                (Kind::End, _) => return Err(self.expected(format!("`{innermost}`"))),
                (Kind::Punctuation, "(") => open.push(")"),
                (Kind::Punctuation, "[") => open.push("]"),
                (Kind::Punctuation, "{") => open.push("}"),
                (Kind::Punctuation, "<") => open.push(">"),
                (Kind::Punctuation, mark @ (")" | "]" | "}" | ">")) => {
                    if mark != innermost {
                        return Err(self.expected(format!("`{innermost}`")));
                    }
                    open.pop();
                }
                _ => {}
            }
            end = self.next().end();
        }
        Ok(end)
    }
}

fn closing(close: &str) -> &'static str {
    match close {
        ")" => ")",
        "]" => "]",
        "}" => "}",
        _ => ">",
    }
}
