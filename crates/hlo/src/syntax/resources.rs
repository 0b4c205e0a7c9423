//! Parsing of `dense_resource<name>`, and of the resource blobs at the end of the text.

use super::dense::decode_hexadecimal;
use super::lexer::{self, Kind};
use super::{Parser, Result, SyntaxError};
use crate::elements;
use crate::module::Dense;
use std::collections::HashMap;

/// The bytes of a resource, without its alignment prefix.
pub(super) type Blob = Vec<u8>;

/// Collects the blobs before parsing begins: they are at the end of the text, after their uses.
pub(super) fn collect(source: &str) -> Result<HashMap<String, Blob>> {
    let mut blobs = HashMap::new();
    // Ambiguous only inside a comment or a string.
    let Some(start) = source.rfind("{-#") else { return Ok(blobs) };
    let mut offset = start + 3;
    let mut name: Option<lexer::Token<'_>> = None;
    loop {
        let token = lexer::token(source, offset);
        offset = token.end();
        match token.kind {
            Kind::End => return Ok(blobs),
            Kind::Word | Kind::String if lexer::token(source, offset).text == ":" => {
                name = Some(token);
            }
            Kind::String if token.text.starts_with("\"0x") => {
                let Some(key) = name.take() else { continue };
                let bytes =
                    decode_hexadecimal(token.text.trim_matches('"').trim_start_matches("0x"));
                let Some(bytes) = bytes.filter(|bytes| bytes.len() >= 4) else {
                    let expected = "bytes as `\"0x…\"`, of which the first four are the alignment";
                    return Err(SyntaxError::at(source, token.start, expected, token.describe()));
                };
                blobs.insert(lexer::unescape(key.text), bytes[4..].to_vec());
            }
            _ => {}
        }
    }
}

impl<'a> Parser<'a> {
    /// The part of a resource constant after `dense_resource`.
    pub(super) fn dense_resource(&mut self) -> Result<Dense> {
        self.expect("<")?;
        let token = self.token;
        let name = match token.kind {
            Kind::String => self.string()?,
            _ => self.expect_kind(Kind::Word, "the name of a resource")?.text.to_string(),
        };
        self.expect(">")?;
        self.expect(":")?;
        let ty = self.tensor_of_constant()?;
        let Some(blob) = self.resources.get(&name) else {
            return Err(self.expected_at(token, "the name of a resource at the end of the text"));
        };
        let length = blob.len();
        elements::from_raw(ty, blob.clone()).map_err(|expected| {
            self.error_at(
                token,
                format!("a resource of {expected} bytes"),
                format!("{length} bytes"),
            )
        })
    }

    /// Skips `{-# … #-}`.
    pub(super) fn skip_resources(&mut self) -> Result<()> {
        while !self.at("#-}") {
            if self.token.kind == Kind::End {
                return Err(self.expected("`#-}`"));
            }
            self.next();
        }
        self.next();
        Ok(())
    }
}
