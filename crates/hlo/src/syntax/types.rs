//! Parsing of types.

use super::lexer::Kind;
use super::{Parser, Result};
use crate::module::{ElementType, TensorType, Type};
use inflight_ir::DType;

/// The element type of a name such as `f32` or `ui8`.
pub(crate) fn named_element(name: &str) -> ElementType {
    let dtype = match name {
        "i1" => DType::Bool,
        "i8" => DType::I8,
        "i16" => DType::I16,
        "i32" => DType::I32,
        "i64" => DType::I64,
        "ui8" => DType::U8,
        "ui16" => DType::U16,
        "ui32" => DType::U32,
        "ui64" => DType::U64,
        "f16" => DType::F16,
        "bf16" => DType::BF16,
        "f32" => DType::F32,
        "f64" => DType::F64,
        "index" => return ElementType::Index,
        other => return ElementType::Other(other.to_string()),
    };
    ElementType::Core(dtype)
}

/// Whether a word names a scalar type: `i32`, `ui8`, `f8E4M3FN`, `bf16`, …
fn is_scalar_type(word: &str) -> bool {
    let digits = |rest: &str| !rest.is_empty() && rest.bytes().all(|byte| byte.is_ascii_digit());
    matches!(word, "index" | "none" | "bf16" | "tf32")
        || ["i", "si", "ui"].iter().any(|kind| word.strip_prefix(kind).is_some_and(digits))
        || word.strip_prefix('f').is_some_and(|rest| {
            rest.starts_with(|first: char| first.is_ascii_digit())
                && rest.bytes().all(|byte| byte.is_ascii_alphanumeric())
        })
}

impl<'a> Parser<'a> {
    /// Whether the current token begins a type.
    pub(super) fn at_type(&self) -> bool {
        match self.token.kind {
            Kind::Exclamation => true,
            Kind::Word => {
                let word = self.token.text;
                is_scalar_type(word)
                    || (matches!(word, "tensor" | "tuple" | "complex" | "vector" | "memref")
                        && self.peek().text == "<")
            }
            _ => self.at("("),
        }
    }

    pub(super) fn parse_type(&mut self) -> Result<Type> {
        self.nested(|parser| parser.parse_type_kind())
    }

    fn parse_type_kind(&mut self) -> Result<Type> {
        if !self.at_type() {
            return Err(self.expected("a type"));
        }
        let start = self.token;
        if self.at("(") {
            let (operands, results) = self.function_type()?;
            return Ok(Type::Function(operands, results));
        }
        match (start.kind, start.text) {
            (Kind::Word, "tensor") => {
                self.next();
                self.tensor_type(start.start)
            }
            (Kind::Word, "tuple") => {
                self.next();
                self.expect("<")?;
                Ok(Type::Tuple(self.list(">", Self::parse_type)?))
            }
            (Kind::Exclamation, "!stablehlo.token") => {
                self.next();
                Ok(Type::Token)
            }
            (Kind::Exclamation, name) if self.type_aliases.contains_key(&name[1..]) => {
                self.charge_expansion(self.type_aliases[&name[1..]].1)?;
                self.next();
                Ok(self.type_aliases[&name[1..]].0.clone())
            }
            _ => Ok(Type::Other(self.opaque_type()?)),
        }
    }

    /// A type that is retained as source text: `i32`, `vector<4xf32>`, `!quant.uniform<…>`.
    fn opaque_type(&mut self) -> Result<String> {
        let start = self.next();
        let mut end = start.end();
        if self.at("<") {
            self.next();
            end = self.skip_until_closed(">")?;
        }
        Ok(self.source[start.start..end].to_string())
    }

    /// The part of a tensor type after `tensor`.
    fn tensor_type(&mut self, start: usize) -> Result<Type> {
        if !self.at("<") {
            return Err(self.expected("`<`"));
        }
        if self.peek().text == "*" {
            self.next();
            let end = self.skip_until_closed(">")?;
            return Ok(Type::Other(self.source[start..end].to_string()));
        }
        let dimensions = self.dimensions()?;
        let element = self.element_type()?;
        if self.consume_if(",") {
            // An encoding attribute, such as the bounds of dynamic dimensions.
            let end = self.skip_until_closed(">")?;
            return Ok(Type::Other(self.source[start..end].to_string()));
        }
        self.expect(">")?;
        Ok(Type::Tensor(TensorType { dimensions, element }))
    }

    /// `<2x?x`, up to the element type. Parsed character by character, because the lexer tokenizes `2x3xf32`
    /// differently.
    fn dimensions(&mut self) -> Result<Vec<Option<u64>>> {
        let bytes = self.source.as_bytes();
        let mut dimensions = Vec::new();
        let mut offset = self.token.end();
        loop {
            while bytes.get(offset).is_some_and(u8::is_ascii_whitespace) {
                offset += 1;
            }
            let start = offset;
            let dimension = match bytes.get(offset) {
                Some(b'?') => {
                    offset += 1;
                    None
                }
                Some(b'0'..=b'9') => {
                    while bytes.get(offset).is_some_and(u8::is_ascii_digit) {
                        offset += 1;
                    }
                    match self.source[start..offset].parse::<u64>() {
                        Ok(extent) if extent <= i64::MAX as u64 => Some(extent),
                        _ => {
                            self.resume(start);
                            return Err(self.expected("a dimension less than 2⁶³"));
                        }
                    }
                }
                _ => {
                    self.resume(offset);
                    return Ok(dimensions);
                }
            };
            if bytes.get(offset) != Some(&b'x') {
                self.resume(offset);
                return Err(self.expected("`x` after a dimension"));
            }
            offset += 1;
            dimensions.push(dimension);
        }
    }

    pub(super) fn element_type(&mut self) -> Result<ElementType> {
        if self.at_word("complex") {
            let start = self.token.start;
            self.next();
            self.expect("<")?;
            let part = self.element_type_of_part()?;
            self.expect(">")?;
            return Ok(match part {
                ElementType::Core(DType::F32) => ElementType::Core(DType::C64),
                ElementType::Core(DType::F64) => ElementType::Core(DType::C128),
                _ => {
                    let text = &self.source[start..self.token.start];
                    ElementType::Other(text[..=text.rfind('>').unwrap_or(0)].to_string())
                }
            });
        }
        self.element_type_of_part()
    }

    fn element_type_of_part(&mut self) -> Result<ElementType> {
        match self.token.kind {
            Kind::Word if is_scalar_type(self.token.text) => Ok(named_element(self.next().text)),
            Kind::Exclamation => {
                if let Some((Type::Other(name), _)) = self.type_aliases.get(&self.token.text[1..]) {
                    let element = named_element(name);
                    self.next();
                    return Ok(element);
                }
                Ok(ElementType::Other(self.opaque_type()?))
            }
            _ => Err(self.expected("an element type")),
        }
    }

    /// `(…) -> …`
    pub(super) fn function_type(&mut self) -> Result<(Vec<Type>, Vec<Type>)> {
        self.expect("(")?;
        let operands = self.list(")", Self::parse_type)?;
        self.expect("->")?;
        Ok((operands, self.result_types()?))
    }

    /// One type, or a list of types in parentheses.
    pub(super) fn result_types(&mut self) -> Result<Vec<Type>> {
        if self.consume_if("(") {
            return self.list(")", Self::parse_type);
        }
        Ok(vec![self.parse_type()?])
    }
}
