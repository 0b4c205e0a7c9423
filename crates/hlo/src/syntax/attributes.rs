//! Parsing of attributes, attribute dictionaries and aliases.

use super::lexer::Kind;
use super::{Parser, Result};
use crate::bounds;
use crate::module::{Attribute, Attributes, ElementType};
use inflight_ir::DType;

/// The default type of an integer attribute.
pub(super) const I64: ElementType = ElementType::Core(DType::I64);

/// Inserts an attribute in name order, or replaces the one of the same name.
pub(crate) fn insert(attributes: &mut Attributes, name: &str, value: Attribute) {
    match attributes.binary_search_by(|(known, _)| known.as_str().cmp(name)) {
        Ok(index) => attributes[index].1 = value,
        Err(index) => attributes.insert(index, (name.to_string(), value)),
    }
}

impl<'a> Parser<'a> {
    /// An optional `{…}`.
    pub(super) fn optional_attributes(&mut self, into: &mut Attributes) -> Result<()> {
        if self.at("{") {
            self.attribute_dictionary(into)?;
        }
        Ok(())
    }

    /// `{name = value, …}`
    pub(super) fn attribute_dictionary(&mut self, into: &mut Attributes) -> Result<()> {
        self.expect("{")?;
        // A long dictionary is sorted once, which avoids quadratic insertion.
        let mut entries: Attributes = self.list("}", Self::named_attribute)?;
        if entries.len() > 16 {
            entries.append(into);
            entries.sort_by(|a, b| a.0.cmp(&b.0));
            entries.dedup_by(|a, b| a.0 == b.0);
            *into = entries;
        } else {
            for (name, value) in entries {
                insert(into, &name, value);
            }
        }
        Ok(())
    }

    fn named_attribute(&mut self) -> Result<(String, Attribute)> {
        let name = match self.token.kind {
            Kind::String => self.string()?,
            Kind::Word => self.next().text.to_string(),
            _ => return Err(self.expected("the name of an attribute")),
        };
        let value = if self.consume_if("=") { self.attribute()? } else { Attribute::Unit };
        Ok((name, value))
    }

    pub(super) fn attribute(&mut self) -> Result<Attribute> {
        self.nested(|parser| parser.attribute_here())
    }

    fn attribute_here(&mut self) -> Result<Attribute> {
        let start = self.token;
        match start.kind {
            Kind::Integer | Kind::Float => self.number_attribute(),
            Kind::String => {
                let text = self.string()?;
                if self.consume_if(":") {
                    self.parse_type()?;
                }
                Ok(Attribute::String(text))
            }
            Kind::Symbol => Ok(Attribute::Symbol(self.symbol()?)),
            Kind::Hash => self.hash_attribute(),
            Kind::Word => self.word_attribute(),
            Kind::Punctuation => match start.text {
                "-" => self.number_attribute(),
                "[" => {
                    self.next();
                    Ok(Attribute::Array(self.list("]", Self::attribute)?))
                }
                "{" => {
                    let mut entries = Attributes::new();
                    self.attribute_dictionary(&mut entries)?;
                    Ok(Attribute::Dictionary(entries))
                }
                "(" => Ok(Attribute::Type(self.parse_type()?)),
                _ => Err(self.expected("an attribute")),
            },
            Kind::Exclamation => Ok(Attribute::Type(self.parse_type()?)),
            _ => Err(self.expected("an attribute")),
        }
    }

    fn word_attribute(&mut self) -> Result<Attribute> {
        let start = self.token;
        match start.text {
            "true" | "false" => {
                self.next();
                // `true : i1`
                if self.at(":") && self.peek().text == "i1" {
                    self.next();
                    self.next();
                }
                Ok(Attribute::Bool(start.text == "true"))
            }
            "unit" => {
                self.next();
                Ok(Attribute::Unit)
            }
            "array" => {
                self.next();
                self.expect("<")?;
                self.array_attribute()
            }
            "dense" => {
                self.next();
                Ok(Attribute::Dense(self.dense()?))
            }
            "dense_resource" => {
                self.next();
                Ok(Attribute::Dense(self.dense_resource()?))
            }
            "loc" | "affine_map" | "affine_set" | "sparse" | "strided" | "opaque" | "distinct"
            | "dense_or_sparse" => self.opaque_attribute(),
            _ if self.at_type() => Ok(Attribute::Type(self.parse_type()?)),
            _ => Err(self.expected("an attribute")),
        }
    }

    /// An opaque attribute, retained as source text: a word or `#name`, and the brackets after it.
    pub(super) fn opaque_attribute(&mut self) -> Result<Attribute> {
        let start = self.next();
        let mut end = start.end();
        loop {
            let close = match self.token.text {
                "(" => ")",
                "[" => "]",
                "<" => ">",
                _ => break,
            };
            // Its brackets follow without whitespace.
            if self.token.kind != Kind::Punctuation || self.token.start != end {
                break;
            }
            self.next();
            end = self.skip_until_closed(close)?;
        }
        let mut text = self.source[start.start..end].to_string();
        if self.at(":") && matches!(start.text, "sparse" | "opaque") {
            self.next();
            text.push_str(&format!(" : {}", crate::print::type_text(&self.parse_type()?)));
        }
        Ok(Attribute::Other(text))
    }

    /// `#alias`, `#stablehlo<…>`, `#stablehlo.gather<…>`, or an attribute of another dialect.
    fn hash_attribute(&mut self) -> Result<Attribute> {
        let token = self.token;
        let name = &token.text[1..];
        if let Some((_, extent)) = self.attribute_aliases.get(name) {
            self.charge_expansion(*extent)?;
            self.next();
            return Ok(self.attribute_aliases[name].0.clone());
        }
        let dialect = name.split('.').next().unwrap_or(name);
        if matches!(dialect, "stablehlo" | "chlo") {
            return self.dialect_attribute();
        }
        self.opaque_attribute()
    }

    /// An integer or floating point attribute, with an optional type.
    fn number_attribute(&mut self) -> Result<Attribute> {
        let negative = self.consume_if("-");
        let token = self.token;
        if !matches!(token.kind, Kind::Integer | Kind::Float) {
            return Err(self.expected("a numeric literal"));
        }
        self.next();
        let ty = if self.consume_if(":") { Some(self.scalar_type()?) } else { None };
        let is_float = match &ty {
            None => token.kind == Kind::Float,
            Some(ElementType::Core(dtype)) => dtype.is_float(),
            Some(ElementType::Index) => false,
            Some(ElementType::Other(name)) => name.contains('f'),
        };
        if is_float {
            let ty = ty.unwrap_or(ElementType::Core(DType::F64));
            let value = float_value(token.text, &ty)
                .ok_or_else(|| self.expected_at(token, "a floating point number"))?;
            return Ok(float_attribute(if negative { -value } else { value }, ty));
        }
        let value = integer_value(token.text)
            .ok_or_else(|| self.expected_at(token, "an integer of at most 64 bits"))?;
        let value = if negative { -value } else { value };
        let ty = ty.unwrap_or(I64);
        // `1 : i1` is a boolean.
        if ty == ElementType::Core(DType::Bool) {
            return Ok(Attribute::Bool(value != 0));
        }
        Ok(Attribute::Integer(value, ty))
    }

    fn scalar_type(&mut self) -> Result<ElementType> {
        if self.token.kind == Kind::Word && !self.at_type() {
            return Err(self.expected("a type"));
        }
        self.element_type()
    }

    /// An integer literal without a type.
    pub(super) fn integer(&mut self) -> Result<i64> {
        let negative = self.consume_if("-");
        let token = self.expect_kind(Kind::Integer, "an integer")?;
        let value = integer_value(token.text).map(|value| if negative { -value } else { value });
        value
            .and_then(|value| i64::try_from(value).ok())
            .ok_or_else(|| self.expected_at(token, "an integer of at most 64 bits"))
    }

    /// `[1, 2]`
    pub(super) fn integers(&mut self) -> Result<Vec<i64>> {
        self.expect("[")?;
        self.list("]", Self::integer)
    }

    /// The part of a dense array after `array<`.
    fn array_attribute(&mut self) -> Result<Attribute> {
        let element = self.element_type()?;
        let is_float = matches!(&element, ElementType::Core(dtype) if dtype.is_float());
        if self.consume_if(">") {
            return Ok(match is_float {
                true => Attribute::Array(Vec::new()),
                false => Attribute::Integers(Vec::new()),
            });
        }
        self.expect(":")?;
        if is_float {
            let item = |parser: &mut Self| {
                let negative = parser.consume_if("-");
                let token = parser.token;
                let value = match token.kind {
                    Kind::Integer | Kind::Float => float_value(token.text, &element),
                    _ => None,
                };
                let value = value.ok_or_else(|| parser.expected("a numeric literal"))?;
                parser.next();
                Ok(float_attribute(if negative { -value } else { value }, element.clone()))
            };
            return Ok(Attribute::Array(self.list(">", item)?));
        }
        let item = |parser: &mut Self| match parser.token.text {
            "true" | "false" => Ok(i64::from(parser.next().text == "true")),
            _ => parser.integer(),
        };
        Ok(Attribute::Integers(self.list(">", item)?))
    }

    /// An enum attribute of the given kind, written as a bare word.
    pub(super) fn enumeration(&mut self, kind: &str) -> Result<Attribute> {
        let token = self.expect_kind(Kind::Word, kind)?;
        Ok(Attribute::Enum(kind.to_string(), token.text.to_string()))
    }

    /// An optional alias definition, `#alias = …` or `!alias = …`.
    pub(super) fn alias(&mut self) -> Result<bool> {
        let token = self.token;
        if self.peek().text != "=" {
            return Ok(false);
        }
        match token.kind {
            Kind::Hash => {
                self.next();
                self.next();
                let value = self.attribute()?;
                let extent = bounds::attribute(&value);
                self.attribute_aliases.insert(&token.text[1..], (value, extent));
                Ok(true)
            }
            Kind::Exclamation => {
                self.next();
                self.next();
                let ty = self.parse_type()?;
                let extent = bounds::ty(&ty);
                self.type_aliases.insert(&token.text[1..], (ty, extent));
                Ok(true)
            }
            _ => Ok(false),
        }
    }
}

/// A float attribute, rounded to its type.
fn float_attribute(value: f64, ty: ElementType) -> Attribute {
    let value = match ty {
        ElementType::Core(DType::F16) => half::f16::from_f64(value).to_f64(),
        ElementType::Core(DType::BF16) => half::bf16::from_f64(value).to_f64(),
        ElementType::Core(DType::F32) => f64::from(value as f32),
        _ => value,
    };
    Attribute::Float(value, ty)
}

/// The value of `12` or `0x7F`.
pub(super) fn integer_value(text: &str) -> Option<i128> {
    let value = match text.strip_prefix("0x") {
        Some(digits) => i128::from(u64::from_str_radix(digits, 16).ok()?),
        None => i128::from(text.parse::<u64>().ok()?),
    };
    Some(value)
}

/// The value of `1.5`, `2`, or of hexadecimal bits.
pub(super) fn float_value(text: &str, ty: &ElementType) -> Option<f64> {
    let Some(digits) = text.strip_prefix("0x") else {
        return text.parse::<f64>().ok();
    };
    let bits = u64::from_str_radix(digits, 16).ok()?;
    Some(match ty {
        ElementType::Core(DType::F16) => half::f16::from_bits(u16::try_from(bits).ok()?).to_f64(),
        ElementType::Core(DType::BF16) => half::bf16::from_bits(u16::try_from(bits).ok()?).to_f64(),
        ElementType::Core(DType::F32) => f64::from(f32::from_bits(u32::try_from(bits).ok()?)),
        ElementType::Core(DType::F64) => f64::from_bits(bits),
        _ => return None,
    })
}
