//! StableHLO text.
//!
//! A recursive descent over tokens, one module for each part of the language: [`types`], [`attributes`]
//! and their [`dense`] literals, [`operations`] in generic form, [`forms`] for the short forms of
//! operations, [`functions`] for what is around them. Whatever the form, the result is the generic one.

mod attributes;
mod control;
mod dense;
mod error;
mod forms;
mod functions;
mod lexer;
mod operations;
mod products;
mod records;
mod resources;
#[cfg(test)]
mod tests;
mod types;
mod values;

pub(crate) use attributes::insert;
pub use error::SyntaxError;
pub(crate) use functions::{dictionaries, own_attributes};
pub(crate) use types::named_element;

use crate::bounds::{self, DEEPEST, Extent};
use crate::module::{Attribute, Location, Module, Type};
use lexer::{Kind, Token};
use std::collections::{HashMap, HashSet};

type Result<T> = std::result::Result<T, SyntaxError>;

/// Reads a module, or one bare function, from text.
pub fn parse(source: &str) -> Result<Module> {
    let mut module = Parser::new(source)?.module()?;
    crate::canonical::tidy(&mut module);
    Ok(module)
}

/// Reads an attribute that is all of a text.
pub(crate) fn parse_attribute(source: &str) -> Result<Attribute> {
    let mut parser = Parser::new(source)?;
    let attribute = parser.attribute()?;
    parser.expect_kind(Kind::End, "the end of the text")?;
    Ok(attribute)
}

/// Reads a type that is all of a text.
pub(crate) fn parse_type(source: &str) -> Result<Type> {
    let mut parser = Parser::new(source)?;
    let ty = parser.parse_type()?;
    parser.expect_kind(Kind::End, "the end of the text")?;
    Ok(ty)
}

/// Where the parser is, and what it has seen.
struct Parser<'a> {
    source: &'a str,
    /// The token that is looked at.
    token: Token<'a>,
    /// How many things are open around it.
    depth: usize,
    /// The offset, line and column that were asked for last: counting goes on from there.
    counted: (usize, u32, u32),
    values: values::Values<'a>,
    attribute_aliases: HashMap<&'a str, (Attribute, Extent)>,
    type_aliases: HashMap<&'a str, (Type, Extent)>,
    /// How many parts aliases have been written out to.
    expanded: usize,
    /// The names of the functions so far.
    functions: HashSet<String>,
    /// The blobs at the end of the text, by name.
    resources: HashMap<String, resources::Blob>,
}

impl<'a> Parser<'a> {
    fn new(source: &'a str) -> Result<Parser<'a>> {
        Ok(Parser {
            source,
            token: lexer::token(source, 0),
            depth: 0,
            counted: (0, 1, 1),
            values: values::Values::default(),
            attribute_aliases: HashMap::new(),
            type_aliases: HashMap::new(),
            expanded: 0,
            functions: HashSet::new(),
            resources: resources::collect(source)?,
        })
    }

    /// Takes the token.
    fn next(&mut self) -> Token<'a> {
        let token = self.token;
        self.token = lexer::token(self.source, token.end());
        token
    }

    /// The token after the one that is looked at.
    fn peek(&self) -> Token<'a> {
        lexer::token(self.source, self.token.end())
    }

    /// Goes on from a byte offset.
    fn resume(&mut self, offset: usize) {
        self.token = lexer::token(self.source, offset);
    }

    fn at(&self, mark: &str) -> bool {
        self.token.kind == Kind::Mark && self.token.text == mark
    }

    fn at_word(&self, word: &str) -> bool {
        self.token.kind == Kind::Word && self.token.text == word
    }

    /// Takes the mark if it is here.
    fn take(&mut self, mark: &str) -> bool {
        let found = self.at(mark);
        if found {
            self.next();
        }
        found
    }

    /// Takes the word if it is here.
    fn take_word(&mut self, word: &str) -> bool {
        let found = self.at_word(word);
        if found {
            self.next();
        }
        found
    }

    fn expect(&mut self, mark: &str) -> Result<()> {
        if self.take(mark) { Ok(()) } else { Err(self.expected(format!("`{mark}`"))) }
    }

    fn expect_word(&mut self, word: &str) -> Result<()> {
        if self.take_word(word) { Ok(()) } else { Err(self.expected(format!("`{word}`"))) }
    }

    fn expect_kind(&mut self, kind: Kind, what: &str) -> Result<Token<'a>> {
        if self.token.kind == kind { Ok(self.next()) } else { Err(self.expected(what)) }
    }

    /// A string without its quotes and escapes.
    fn string(&mut self) -> Result<String> {
        Ok(lexer::unescape(self.expect_kind(Kind::String, "a string")?.text))
    }

    /// The name after `@`; of nested names, the last.
    fn symbol(&mut self) -> Result<String> {
        let mut token = self.expect_kind(Kind::Symbol, "a name that begins with `@`")?;
        while self.take("::") {
            token = self.expect_kind(Kind::Symbol, "a name that begins with `@`")?;
        }
        let name = &token.text[1..];
        Ok(if name.starts_with('"') { lexer::unescape(name) } else { name.to_string() })
    }

    /// An error at the token that is looked at.
    fn expected(&self, expected: impl Into<String>) -> SyntaxError {
        self.expected_at(self.token, expected)
    }

    /// An error at a token.
    fn expected_at(&self, token: Token<'_>, expected: impl Into<String>) -> SyntaxError {
        SyntaxError::at(self.source, token.start, expected, token.describe())
    }

    /// An error at a token that says itself what is wrong with it.
    fn wrong_at(
        &self,
        token: Token<'_>,
        expected: impl Into<String>,
        found: impl Into<String>,
    ) -> SyntaxError {
        SyntaxError::at(self.source, token.start, expected, found)
    }

    /// Runs `inner` one level deeper.
    fn nested<T>(&mut self, inner: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        if self.depth == DEEPEST {
            return Err(self.expected(format!("at most {DEEPEST} levels of nesting")));
        }
        self.depth += 1;
        let result = inner(self);
        self.depth -= 1;
        result
    }

    /// Says no if what an alias stands for is too deep here, or too much in all.
    fn expand(&mut self, extent: Extent) -> Result<()> {
        self.expanded = self.expanded.saturating_add(extent.parts);
        if self.depth + extent.depth > DEEPEST {
            return Err(self.expected(format!("at most {DEEPEST} levels of nesting")));
        }
        let budget = bounds::budget(self.source.len());
        if self.expanded > budget {
            return Err(self.expected(format!("aliases for at most {budget} parts in all")));
        }
        Ok(())
    }

    /// Items between commas, until `close`, which is taken.
    fn list<T>(
        &mut self,
        close: &str,
        mut item: impl FnMut(&mut Self) -> Result<T>,
    ) -> Result<Vec<T>> {
        let mut items = Vec::new();
        if self.take(close) {
            return Ok(items);
        }
        loop {
            items.push(item(self)?);
            if self.take(close) {
                return Ok(items);
            }
            if !self.take(",") {
                return Err(self.expected(format!("`,` or `{close}`")));
            }
        }
    }

    /// Where the token that is looked at stands.
    fn location(&mut self) -> Location {
        let (mut offset, mut line, mut column) = self.counted;
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
        self.counted = (self.token.start, line, column);
        Location { line, column }
    }

    /// Skips `loc(…)` if it is here.
    fn skip_location(&mut self) -> Result<()> {
        if self.at_word("loc") && self.peek().text == "(" {
            self.next();
            self.next();
            self.skip_until_closed(")")?;
        }
        Ok(())
    }

    /// Skips `loc(…)`, if it is there, and gives the name in `loc("name")`.
    fn location_name(&mut self) -> Result<Option<String>> {
        if !self.at_word("loc") || self.peek().text != "(" {
            return Ok(None);
        }
        self.next();
        self.next();
        let first = self.token;
        self.skip_until_closed(")")?;
        // A file's name is followed by a line, which a name is not.
        let rest = self.source[first.start + first.text.len()..].trim_start();
        let is_name =
            first.kind == Kind::String && (rest.starts_with(')') || rest.starts_with('('));
        Ok(is_name.then(|| lexer::unescape(first.text)))
    }

    /// Skips tokens up to the mark that closes what was opened before, takes it, and gives the offset
    /// after it.
    fn skip_until_closed(&mut self, close: &str) -> Result<usize> {
        let mut open = vec![closing(close)];
        let mut end = self.token.start;
        while let Some(&innermost) = open.last() {
            match (self.token.kind, self.token.text) {
                (Kind::End, _) => return Err(self.expected(format!("`{innermost}`"))),
                (Kind::Mark, "(") => open.push(")"),
                (Kind::Mark, "[") => open.push("]"),
                (Kind::Mark, "{") => open.push("}"),
                (Kind::Mark, "<") => open.push(">"),
                (Kind::Mark, mark @ (")" | "]" | "}" | ">")) => {
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
