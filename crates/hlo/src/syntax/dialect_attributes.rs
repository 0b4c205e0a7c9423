//! Parsing of StableHLO and CHLO dialect attributes: enums and structured attributes.

use super::attributes::{I64, insert};
use super::lexer::Kind;
use super::{Parser, Result};
use crate::module::{Attribute, Attributes};

/// The mnemonics of structured attributes with `name = value` fields.
const STRUCTURED_ATTRIBUTES: [&str; 8] = [
    "gather",
    "scatter",
    "dot",
    "channel_handle",
    "output_operand_alias",
    "result_accuracy",
    "dot_algorithm",
    "ragged_dot",
];

impl<'a> Parser<'a> {
    /// `#stablehlo<kind …>` or `#stablehlo.kind<…>`; the current token is the `#` part.
    pub(super) fn dialect_attribute(&mut self) -> Result<Attribute> {
        let start = self.token;
        let name = &start.text[1..];
        if let Some((_, kind)) = name.split_once('.') {
            if self.peek().text != "<" {
                return self.opaque_attribute();
            }
            if STRUCTURED_ATTRIBUTES.contains(&kind) {
                self.next();
                return self.structured_attribute(kind);
            }
            if kind == "conv" {
                self.next();
                self.expect("<")?;
                let fields = self.convolution_dimensions()?;
                self.expect(">")?;
                return Ok(Attribute::Record("conv".to_string(), fields));
            }
            self.next();
            self.next();
            if self.token.kind == Kind::Word && self.peek().text == ">" {
                let value = self.enumeration(kind)?;
                self.expect(">")?;
                return Ok(value);
            }
            self.resume(start.start);
            return self.opaque_attribute();
        }
        // `#stablehlo<comparison_direction LT>`
        let open = self.peek();
        if open.text == "<" && open.start == start.end() {
            self.next();
            self.next();
            if self.token.kind == Kind::Word && self.peek().kind == Kind::Word {
                let kind = self.next();
                let value = self.enumeration(kind.text)?;
                self.expect(">")?;
                return Ok(value);
            }
            if self.token.kind == Kind::Word && STRUCTURED_ATTRIBUTES.contains(&self.token.text) {
                let kind = self.next();
                let value = self.structured_attribute(kind.text)?;
                self.expect(">")?;
                return Ok(value);
            }
            self.resume(start.start);
        }
        self.opaque_attribute()
    }

    /// `<name = value, …>`
    pub(super) fn structured_attribute(&mut self, kind: &str) -> Result<Attribute> {
        self.expect("<")?;
        let mut fields = Attributes::new();
        let items = self.list(">", |parser| {
            let name = parser.expect_kind(Kind::Word, "the name of a field")?;
            parser.expect("=")?;
            Ok((name.text, parser.nested(Self::field)?))
        })?;
        for (name, value) in items {
            insert(&mut fields, name, value);
        }
        Ok(Attribute::Record(kind.to_string(), fields))
    }

    fn field(&mut self) -> Result<Attribute> {
        if self.at("[") {
            let next = self.peek();
            if matches!(next.kind, Kind::Integer) || matches!(next.text, "]" | "-") {
                return Ok(Attribute::Integers(self.integers()?));
            }
        }
        self.attribute()
    }

    /// `[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]`, or `raw` and the fields by name.
    pub(super) fn convolution_dimensions(&mut self) -> Result<Attributes> {
        let mut fields = Attributes::new();
        if self.consume_word_if("raw") {
            loop {
                let name = self.expect_kind(Kind::Word, "the name of a field")?;
                self.expect("=")?;
                let value = self.field()?;
                insert(&mut fields, name.text, value);
                if !self.consume_if(",") {
                    return Ok(fields);
                }
            }
        }
        let batch_and_feature = [("b", "batch_dimension"), ("f", "feature_dimension")];
        let kernel = [("i", "input_feature_dimension"), ("o", "output_feature_dimension")];
        self.dimension_order("input", &batch_and_feature, &mut fields)?;
        self.expect_word("x")?;
        self.dimension_order("kernel", &kernel, &mut fields)?;
        self.expect("->")?;
        self.dimension_order("output", &batch_and_feature, &mut fields)?;
        Ok(fields)
    }

    /// One bracket of a convolution's dimension numbers: the labels of its dimensions, in order.
    fn dimension_order(
        &mut self,
        side: &str,
        letters: &[(&str, &str); 2],
        fields: &mut Attributes,
    ) -> Result<()> {
        let open = self.token;
        self.expect("[")?;
        let mut spatial: Vec<(i64, i64)> = Vec::new();
        let mut position = 0;
        let mut named = [None, None];
        self.list("]", |parser| {
            match letters.iter().position(|(letter, _)| parser.at_word(letter)) {
                Some(which) if named[which].is_none() => {
                    parser.next();
                    named[which] = Some(position);
                }
                _ if parser.token.kind == Kind::Integer => {
                    let token = parser.token;
                    let number = parser.integer()?;
                    if spatial.iter().any(|(known, _)| *known == number) {
                        return Err(parser.expected_at(token, "each spatial dimension once"));
                    }
                    spatial.push((number, position));
                }
                _ => {
                    let [(first, _), (second, _)] = letters;
                    return Err(parser.expected(format!(
                        "`{first}` and `{second}` once each, and spatial dimensions"
                    )));
                }
            }
            position += 1;
            Ok(())
        })?;
        for ((letter, name), position) in letters.iter().zip(named) {
            let Some(position) = position else {
                return Err(self.error_at(
                    open,
                    format!("`{letter}` in this list"),
                    "a list without it",
                ));
            };
            let value = Attribute::Integer(i128::from(position), I64);
            insert(fields, &format!("{side}_{name}"), value);
        }
        spatial.sort_unstable();
        if spatial.iter().enumerate().any(|(index, (number, _))| index as i64 != *number) {
            let expected = format!("the spatial dimensions 0 to {}", spatial.len() - 1);
            return Err(self.error_at(open, expected, "other numbers"));
        }
        let positions = spatial.into_iter().map(|(_, position)| position).collect();
        insert(fields, &format!("{side}_spatial_dimensions"), Attribute::Integers(positions));
        Ok(())
    }
}
