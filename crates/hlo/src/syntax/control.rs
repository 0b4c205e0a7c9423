//! Parsing of the pretty forms of `reduce` and `while`, which have regions.

use super::attributes::insert;
use super::lexer::{Kind, Token};
use super::operations::OperationState;
use super::{Parser, Result};
use crate::module::{Attribute, Location, Operation, Region, TensorType, Type, Value};

impl<'a> Parser<'a> {
    /// `reduce(%a init: %b), (%c init: %d) applies stablehlo.add across dimensions = [0] : types`, or a
    /// `reducer(%x: t, %y: t) (…) {…}` at the end instead of `applies`.
    pub(super) fn reduce_operation(&mut self) -> Result<OperationState> {
        let mut state = OperationState::named("stablehlo.reduce");
        let mut initial = Vec::new();
        loop {
            self.expect("(")?;
            state.operands.push(self.operand()?);
            self.expect_word("init")?;
            self.expect(":")?;
            initial.push(self.operand()?);
            self.expect(")")?;
            if !self.consume_if(",") {
                break;
            }
        }
        state.operands.extend(initial);
        let location = self.location();
        let applied_region = match self.consume_word_if("applies") {
            true => Some(self.expect_kind(Kind::Word, "the name of an operation")?),
            false => None,
        };
        self.expect_word("across")?;
        self.expect_word("dimensions")?;
        self.expect("=")?;
        let dimensions = Attribute::Integers(self.integers()?);
        insert(&mut state.attributes, "dimensions", dimensions);
        self.optional_attributes(&mut state.attributes)?;
        let types = self.token;
        self.types_of(&mut state)?;
        let region = match applied_region {
            Some(token) => self.applied_region(location, types, token, &state)?,
            None => self.reducer(&state)?,
        };
        state.regions.push(region);
        Ok(state)
    }

    /// The region that `applies name` abbreviates.
    fn applied_region(
        &mut self,
        location: Location,
        types: Token<'a>,
        name: Token<'a>,
        state: &OperationState,
    ) -> Result<Region> {
        // The reduction computes in the element type of its initial value.
        let (Some(Type::Tensor(ty)), 2) =
            (state.operands.last().map(|id| self.values.type_of(*id)), state.operands.len())
        else {
            return Err(self.error_at(
                types,
                "one tensor operand with `applies`",
                "other operands",
            ));
        };
        let ty = Type::Tensor(TensorType { dimensions: Vec::new(), element: ty.element.clone() });
        if !name.text.contains('.') {
            return Err(self
                .expected_at(name, "an operation name with its dialect, such as `stablehlo.add`"));
        }
        let arguments = vec![self.values.new_value(ty.clone()), self.values.new_value(ty.clone())];
        let result = self.values.new_value(ty);
        let inner = Operation {
            name: name.text.to_string(),
            operands: arguments.iter().map(|argument| argument.id).collect(),
            attributes: Vec::new(),
            regions: Vec::new(),
            results: vec![result.clone()],
            location,
        };
        let end = Operation {
            name: "stablehlo.return".to_string(),
            operands: vec![result.id],
            attributes: Vec::new(),
            regions: Vec::new(),
            results: Vec::new(),
            location,
        };
        Ok(Region { arguments, operations: vec![inner, end] })
    }

    /// `reducer(%x: t, %y: t) (%z: u, %w: u) {…}`: one group for each operand, of its accumulator and its element.
    /// The block arguments are all accumulators, then all elements.
    fn reducer(&mut self, state: &OperationState) -> Result<Region> {
        self.expect_word("reducer")?;
        let groups = state.operands.len() / 2;
        self.region_with(|parser| {
            let mut accumulators: Vec<Value> = Vec::new();
            let mut elements: Vec<Value> = Vec::new();
            for _ in 0..groups {
                parser.expect("(")?;
                accumulators.push(parser.block_argument()?);
                parser.expect(",")?;
                elements.push(parser.block_argument()?);
                parser.expect(")")?;
            }
            accumulators.append(&mut elements);
            Ok(accumulators)
        })
    }

    /// `while(%x = %a, %y = %b) : types attributes {…} cond {…} do {…}`
    pub(super) fn while_operation(&mut self) -> Result<OperationState> {
        let mut state = OperationState::named("stablehlo.while");
        self.expect("(")?;
        let mut names = Vec::new();
        state.operands = self.list(")", |parser| {
            names.push(parser.value_token()?);
            parser.expect("=")?;
            parser.operand()
        })?;
        if self.consume_if(":") {
            let start = self.token;
            let mut types = vec![self.parse_type()?];
            while self.consume_if(",") {
                types.push(self.parse_type()?);
            }
            self.check_operands(start, &state.operands, &types)?;
            state.results = types;
        } else if !names.is_empty() {
            return Err(self.expected("`:` and the operand types"));
        }
        if self.consume_word_if("attributes") {
            self.attribute_dictionary(&mut state.attributes)?;
        }
        for word in ["cond", "do"] {
            self.expect_word(word)?;
            let types = &state.results;
            let region = self.region_with(|parser| {
                let pairs = names.iter().zip(types);
                pairs.map(|(name, ty)| parser.define_one(*name, ty.clone())).collect()
            })?;
            state.regions.push(region);
        }
        Ok(state)
    }
}
