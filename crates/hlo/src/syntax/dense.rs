//! Parsing of dense constants: `dense<…> : tensor<…>`.

use super::attributes::{float_value, integer_value};
use super::lexer::{Kind, Token};
use super::{Parser, Result};
use crate::elements;
use crate::module::{Dense, ElementType, TensorType, Type};
use inflight_ir::{DType, DTypeClass};

/// The literal between the angle brackets. The type follows it, so the elements are stored as tokens first.
enum DenseLiteral<'a> {
    /// No elements.
    Empty,
    /// A string of hexadecimal bytes.
    Hexadecimal(Token<'a>),
    /// A splat: one element for all.
    Splat(Vec<Element<'a>>),
    /// All elements in row-major order, and the length of the nested lists at each level.
    List(Vec<Element<'a>>, Vec<u64>),
}

/// A real element, or the real or imaginary part of a complex element.
#[derive(Clone, Copy)]
struct Element<'a> {
    token: Token<'a>,
    negative: bool,
    /// Whether it is the real or imaginary part of a complex element.
    is_complex_part: bool,
}

impl<'a> Parser<'a> {
    /// The part of a dense constant after `dense`.
    pub(super) fn dense(&mut self) -> Result<Dense> {
        let open = self.token;
        self.expect("<")?;
        let content = self.dense_literal()?;
        self.expect(">")?;
        self.expect(":")?;
        let type_token = self.token;
        let ty = self.tensor_of_constant()?;
        let count = elements::count(&ty);
        let size = elements::size(&ty.element).ok_or_else(|| {
            self.expected_at(
                type_token,
                "a tensor type with an element type that constants support",
            )
        })?;
        match content {
            DenseLiteral::Empty if count == Some(0) => Ok(Dense::new(ty, Vec::new())),
            DenseLiteral::Empty => Err(self.error_at(open, "elements", "an empty literal")),
            DenseLiteral::Hexadecimal(token) => self.dense_hexadecimal(token, ty, size),
            DenseLiteral::Splat(parts) => {
                let bytes = self.encode(&parts, &ty.element)?;
                if bytes.len() != size {
                    return Err(self.error_at(open, "one element", "parts of several elements"));
                }
                Ok(Dense::splat(ty, bytes))
            }
            DenseLiteral::List(parts, lengths) => {
                let written: Vec<Option<u64>> = lengths.iter().copied().map(Some).collect();
                // Below an empty list the extents are unknown, so an empty constant matches any such type.
                let is_empty = parts.is_empty() && count == Some(0);
                if written != ty.dimensions && !is_empty {
                    let expected = format!("elements of {}", shape_text(&ty.dimensions));
                    let found = format!("elements of {}", shape_text(&written));
                    return Err(self.error_at(open, expected, found));
                }
                let bytes = self.encode(&parts, &ty.element)?;
                if count.and_then(|count| usize::try_from(count).ok()?.checked_mul(size))
                    != Some(bytes.len())
                {
                    let expected = "as many elements as the type has";
                    return Err(self.error_at(open, expected, "another number of elements"));
                }
                Ok(Dense::new(ty, bytes))
            }
        }
    }

    /// The type of a constant: a tensor type without dynamic dimensions.
    pub(super) fn tensor_of_constant(&mut self) -> Result<TensorType> {
        let token = self.token;
        match self.parse_type()? {
            Type::Tensor(ty) if ty.dimensions.iter().all(Option::is_some) => Ok(ty),
            _ => Err(self.expected_at(token, "a tensor type without dynamic dimensions")),
        }
    }

    fn dense_literal(&mut self) -> Result<DenseLiteral<'a>> {
        if self.at(">") {
            return Ok(DenseLiteral::Empty);
        }
        if self.token.kind == Kind::String {
            return Ok(DenseLiteral::Hexadecimal(self.next()));
        }
        let mut parts = Vec::new();
        if !self.at("[") {
            self.dense_element(&mut parts)?;
            return Ok(DenseLiteral::Splat(parts));
        }
        let mut lengths = Vec::new();
        self.dense_list(&mut parts, &mut lengths, 0)?;
        Ok(DenseLiteral::List(parts, lengths))
    }

    /// A list of elements or of lists. `lengths[level]` is the length of the lists at that level.
    fn dense_list(
        &mut self,
        parts: &mut Vec<Element<'a>>,
        lengths: &mut Vec<u64>,
        level: usize,
    ) -> Result<()> {
        self.nested(|parser| {
            let open = parser.token;
            parser.expect("[")?;
            let is_first = lengths.len() == level;
            if is_first {
                lengths.push(0);
            }
            let mut length = 0;
            // The first list read at each level decides whether its items are elements or lists.
            let mut is_innermost = if is_first { None } else { Some(lengths.len() == level + 1) };
            if is_first && parser.at("]") {
                is_innermost = Some(true);
            }
            while !parser.consume_if("]") {
                if length > 0 {
                    if !parser.at(",") {
                        return Err(parser.expected("`,` or `]`"));
                    }
                    parser.next();
                }
                match *is_innermost.get_or_insert(!parser.at("[")) {
                    true if parser.at("[") => return Err(parser.expected("an element")),
                    true => parser.dense_element(parts)?,
                    false => parser.dense_list(parts, lengths, level + 1)?,
                }
                length += 1;
            }
            if is_first {
                lengths[level] = length;
            } else if lengths[level] != length {
                let expected = format!("a list of {} items", lengths[level]);
                return Err(parser.error_at(open, expected, format!("a list of {length}")));
            }
            Ok(())
        })
    }

    fn dense_element(&mut self, parts: &mut Vec<Element<'a>>) -> Result<()> {
        if self.consume_if("(") {
            self.dense_number(parts, true)?;
            self.expect(",")?;
            self.dense_number(parts, true)?;
            return self.expect(")");
        }
        self.dense_number(parts, false)
    }

    fn dense_number(&mut self, parts: &mut Vec<Element<'a>>, is_complex_part: bool) -> Result<()> {
        let negative = self.consume_if("-");
        let is_number = matches!(self.token.kind, Kind::Integer | Kind::Float)
            || (!negative && (self.at_word("true") || self.at_word("false")));
        if !is_number {
            return Err(self.expected("an element"));
        }
        parts.push(Element { token: self.next(), negative, is_complex_part });
        Ok(())
    }

    /// Encodes elements as bytes.
    fn encode(&self, parts: &[Element<'a>], element: &ElementType) -> Result<Vec<u8>> {
        let (part, is_complex) = match element {
            ElementType::Core(dtype) => (ElementType::Core(dtype.real()), dtype.is_complex()),
            other => (other.clone(), false),
        };
        let size = elements::size(&part).unwrap_or(8);
        let mut bytes = Vec::with_capacity(parts.len() * size);
        for item in parts {
            if item.is_complex_part != is_complex {
                let expected = if is_complex { "a complex number" } else { "a real number" };
                return Err(self.expected_at(item.token, expected));
            }
            match encode_number(item, &part, &mut bytes) {
                Ok(()) => {}
                Err(expected) => return Err(self.expected_at(item.token, expected)),
            }
        }
        Ok(bytes)
    }

    fn dense_hexadecimal(&self, token: Token<'a>, ty: TensorType, size: usize) -> Result<Dense> {
        let digits = token.text.trim_matches('"');
        let bytes = digits.strip_prefix("0x").and_then(decode_hexadecimal);
        let bytes = bytes.ok_or_else(|| self.expected_at(token, "bytes as `\"0x…\"`"))?;
        let length = bytes.len();
        elements::from_raw(ty, bytes).map_err(|expected| {
            let elements = if size == 1 { "" } else { " for all elements" };
            self.error_at(token, format!("{expected} bytes{elements}"), format!("{length} bytes"))
        })
    }
}

/// Appends an element. The error is what was expected instead.
fn encode_number(
    item: &Element<'_>,
    ty: &ElementType,
    bytes: &mut Vec<u8>,
) -> std::result::Result<(), &'static str> {
    let text = item.token.text;
    let class = match ty {
        ElementType::Core(dtype) => dtype.class(),
        ElementType::Index => DTypeClass::Signed,
        ElementType::Other(name) if name.starts_with('f') || name.starts_with('b') => {
            DTypeClass::Float
        }
        ElementType::Other(_) => DTypeClass::Signed,
    };
    match class {
        DTypeClass::Bool => match text {
            "true" => bytes.push(1),
            "false" => bytes.push(0),
            _ => match integer_value(text) {
                Some(value @ (0 | 1)) => bytes.push(value as u8),
                _ => return Err("`true` or `false`"),
            },
        },
        DTypeClass::Signed | DTypeClass::Unsigned => {
            let value = match (item.token.kind, text) {
                (_, "true") => 1,
                (_, "false") => 0,
                (Kind::Integer, _) => integer_value(text).ok_or("an integer of at most 64 bits")?,
                _ => return Err("an integer"),
            };
            let value = if item.negative { -value } else { value };
            elements::push_integer(ty, value, bytes)
                .ok_or("an integer in the range of the constant's element type")?;
        }
        DTypeClass::Float | DTypeClass::Complex => {
            if item.token.kind == Kind::Word {
                return Err("a floating point literal");
            }
            if let Some(digits) = text.strip_prefix("0x") {
                let bits = u64::from_str_radix(digits, 16).map_err(|_| "at most 64 bits")?;
                let size = elements::size(ty).unwrap_or(8);
                if item.negative || (size < 8 && bits >> (8 * size) != 0) {
                    return Err("bits that fit the constant's element type");
                }
                bytes.extend_from_slice(&bits.to_le_bytes()[..size]);
                return Ok(());
            }
            let value = match ty {
                // Parse as f32 directly: going through f64 would round twice.
                ElementType::Core(DType::F32) => {
                    let value = text.parse::<f32>().map_err(|_| "a floating point literal")?;
                    let value = if item.negative { -value } else { value };
                    bytes.extend_from_slice(&value.to_le_bytes());
                    return Ok(());
                }
                _ => float_value(text, ty).ok_or("a floating point literal")?,
            };
            let value = if item.negative { -value } else { value };
            elements::push_float(ty, value, bytes)
                .ok_or("a value of the constant's element type")?;
        }
    }
    Ok(())
}

/// Decodes pairs of hexadecimal digits.
pub(super) fn decode_hexadecimal(digits: &str) -> Option<Vec<u8>> {
    let nibble = |byte: u8| (byte as char).to_digit(16).map(|value| value as u8);
    let pairs = digits.as_bytes().chunks_exact(2);
    if !pairs.remainder().is_empty() {
        return None;
    }
    pairs.map(|pair| Some(nibble(pair[0])? << 4 | nibble(pair[1])?)).collect()
}

fn shape_text(lengths: &[Option<u64>]) -> String {
    if lengths.is_empty() {
        return "rank 0".to_string();
    }
    let lengths: Vec<String> =
        lengths.iter().map(|length| length.unwrap_or_default().to_string()).collect();
    format!("shape {}", lengths.join("x"))
}
