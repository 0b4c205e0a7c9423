//! Parsing of the pretty forms of `dot_general` and `convolution`.

use super::attributes::{I64, insert};
use super::lexer::Kind;
use super::operations::OperationState;
use super::{Parser, Result};
use crate::module::{Attribute, Attributes, Dense, TensorType};

impl<'a> Parser<'a> {
    /// `dot_general %a, %b, batching_dims = [0] x [0], contracting_dims = [2] x [1], precision = […],
    /// algorithm = <…> : types`
    pub(super) fn dot_general_operation(&mut self) -> Result<OperationState> {
        let mut state = OperationState::named("stablehlo.dot_general");
        let mut numbers = Attributes::new();
        state.operands.push(self.operand()?);
        self.expect(",")?;
        state.operands.push(self.operand()?);
        while self.consume_if(",") {
            let word = self.expect_kind(Kind::Word, "a setting of `dot_general`")?;
            self.expect("=")?;
            match word.text {
                "batching_dims" => self.dimension_pair("batching", &mut numbers)?,
                "contracting_dims" => self.dimension_pair("contracting", &mut numbers)?,
                "precision" => {
                    let precision = self.precision()?;
                    insert(&mut state.attributes, "precision_config", precision);
                }
                "algorithm" => {
                    let algorithm = match self.at("<") {
                        true => self.structured_attribute("dot_algorithm")?,
                        false => self.attribute()?,
                    };
                    insert(&mut state.attributes, "algorithm", algorithm);
                }
                _ => return Err(self.expected_at(word, "a setting of `dot_general`")),
            }
        }
        let numbers = Attribute::Record("dot".to_string(), numbers);
        insert(&mut state.attributes, "dot_dimension_numbers", numbers);
        self.optional_attributes(&mut state.attributes)?;
        self.types_of(&mut state)?;
        Ok(state)
    }

    /// `[0] x [0]`
    fn dimension_pair(&mut self, which: &str, numbers: &mut Attributes) -> Result<()> {
        let left = Attribute::Integers(self.integers()?);
        self.expect_word("x")?;
        let right = Attribute::Integers(self.integers()?);
        insert(numbers, &format!("lhs_{which}_dimensions"), left);
        insert(numbers, &format!("rhs_{which}_dimensions"), right);
        Ok(())
    }

    /// `convolution(%a, %b) dim_numbers = […]x[…]->[…], window = {…} {…} : types`
    pub(super) fn convolution_operation(&mut self) -> Result<OperationState> {
        let mut state = OperationState::named("stablehlo.convolution");
        self.expect("(")?;
        state.operands = self.operands()?;
        self.expect_word("dim_numbers")?;
        self.expect("=")?;
        let numbers = Attribute::Record("conv".to_string(), self.convolution_dimensions()?);
        insert(&mut state.attributes, "dimension_numbers", numbers);
        if self.consume_if(",") {
            self.expect_word("window")?;
            self.expect("=")?;
            self.window(&mut state.attributes)?;
        }
        self.optional_attributes(&mut state.attributes)?;
        self.types_of(&mut state)?;
        Ok(state)
    }

    /// `{stride = [1, 1], pad = [[0, 0], [1, 1]], lhs_dilate = …, rhs_dilate = …, reverse = …}`
    fn window(&mut self, attributes: &mut Attributes) -> Result<()> {
        self.expect("{")?;
        let settings = self.list("}", |parser| {
            let word = parser.expect_kind(Kind::Word, "a setting of the window")?;
            parser.expect("=")?;
            Ok(match word.text {
                "stride" => ("window_strides", Attribute::Integers(parser.integers()?)),
                "pad" => ("padding", parser.padding()?),
                "lhs_dilate" => ("lhs_dilation", Attribute::Integers(parser.integers()?)),
                "rhs_dilate" => ("rhs_dilation", Attribute::Integers(parser.integers()?)),
                "reverse" => ("window_reversal", Attribute::Integers(parser.flags()?)),
                _ => return Err(parser.expected_at(word, "a setting of the window")),
            })
        })?;
        for (name, value) in settings {
            insert(attributes, name, value);
        }
        Ok(())
    }

    /// `[[0, 0], [1, 1]]`
    fn padding(&mut self) -> Result<Attribute> {
        self.expect("[")?;
        let pairs = self.list("]", |parser| {
            let open = parser.token;
            let dimension_pair = parser.integers()?;
            match dimension_pair.len() {
                2 => Ok(dimension_pair),
                _ => Err(parser.error_at(
                    open,
                    "a dimension_pair of a low and a high padding",
                    "another list",
                )),
            }
        })?;
        let dimensions = vec![Some(pairs.len() as u64), Some(2)];
        let ty = TensorType { dimensions, element: I64 };
        let bytes = pairs.iter().flatten().flat_map(|value| value.to_le_bytes()).collect();
        Ok(Attribute::Dense(Dense::new(ty, bytes)))
    }

    /// `[true, false]`, or `[1, 0]`
    fn flags(&mut self) -> Result<Vec<i64>> {
        self.expect("[")?;
        self.list("]", |parser| match parser.token.text {
            "true" | "1" => {
                parser.next();
                Ok(1)
            }
            "false" | "0" => {
                parser.next();
                Ok(0)
            }
            _ => Err(parser.expected("`true` or `false`")),
        })
    }
}
