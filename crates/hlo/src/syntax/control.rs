//! The short forms of `reduce` and `while`, which have regions.

use super::attributes::insert;
use super::lexer::{Kind, Token};
use super::operations::Parts;
use super::{Parser, Result};
use crate::module::{Attribute, Location, Operation, Region, TensorType, Type, Value};

impl<'a> Parser<'a> {
    /// `reduce(%a init: %b), (%c init: %d) applies stablehlo.add across dimensions = [0] : types`, or without
    /// `applies` and with `reducer(%x: t, %y: t) (…) {…}` at the end.
    pub(super) fn reduce_operation(&mut self) -> Result<Parts> {
        let mut parts = Parts::named("stablehlo.reduce");
        let mut initial = Vec::new();
        loop {
            self.expect("(")?;
            parts.operands.push(self.operand()?);
            self.expect_word("init")?;
            self.expect(":")?;
            initial.push(self.operand()?);
            self.expect(")")?;
            if !self.take(",") {
                break;
            }
        }
        parts.operands.extend(initial);
        let location = self.location();
        let applied = match self.take_word("applies") {
            true => Some(self.expect_kind(Kind::Word, "the name of an operation")?),
            false => None,
        };
        self.expect_word("across")?;
        self.expect_word("dimensions")?;
        self.expect("=")?;
        let dimensions = Attribute::Integers(self.integers()?);
        insert(&mut parts.attributes, "dimensions", dimensions);
        self.optional_attributes(&mut parts.attributes)?;
        let types = self.token;
        self.types_of(&mut parts)?;
        let region = match applied {
            Some(token) => self.applied(location, types, token, &parts)?,
            None => self.reducer(&parts)?,
        };
        parts.regions.push(region);
        Ok(parts)
    }

    /// The region that `applies name` stands for.
    fn applied(
        &mut self,
        location: Location,
        types: Token<'a>,
        name: Token<'a>,
        parts: &Parts,
    ) -> Result<Region> {
        // The initial value has the type that the reduction computes in.
        let (Some(Type::Tensor(ty)), 2) =
            (parts.operands.last().map(|id| self.values.type_of(*id)), parts.operands.len())
        else {
            return Err(self.wrong_at(types, "one tensor to reduce", "others"));
        };
        let ty = Type::Tensor(TensorType { dimensions: Vec::new(), element: ty.element.clone() });
        if !name.text.contains('.') {
            return Err(self.expected_at(name, "an operation with its dialect"));
        }
        let arguments = vec![self.values.unnamed(ty.clone()), self.values.unnamed(ty.clone())];
        let result = self.values.unnamed(ty);
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

    /// `reducer(%x: t, %y: t) (%z: u, %w: u) {…}`: one group for each operand, of the value so far and the
    /// new one. The region takes all values so far, then all new ones.
    fn reducer(&mut self, parts: &Parts) -> Result<Region> {
        self.expect_word("reducer")?;
        let groups = parts.operands.len() / 2;
        self.region_with(|parser| {
            let mut so_far: Vec<Value> = Vec::new();
            let mut new: Vec<Value> = Vec::new();
            for _ in 0..groups {
                parser.expect("(")?;
                so_far.push(parser.block_argument()?);
                parser.expect(",")?;
                new.push(parser.block_argument()?);
                parser.expect(")")?;
            }
            so_far.append(&mut new);
            Ok(so_far)
        })
    }

    /// `while(%x = %a, %y = %b) : types attributes {…} cond {…} do {…}`
    pub(super) fn while_operation(&mut self) -> Result<Parts> {
        let mut parts = Parts::named("stablehlo.while");
        self.expect("(")?;
        let mut names = Vec::new();
        parts.operands = self.list(")", |parser| {
            names.push(parser.value_token()?);
            parser.expect("=")?;
            parser.operand()
        })?;
        if self.take(":") {
            let start = self.token;
            let mut types = vec![self.parse_type()?];
            while self.take(",") {
                types.push(self.parse_type()?);
            }
            self.check_operands(start, &parts.operands, &types)?;
            parts.results = types;
        } else if !names.is_empty() {
            return Err(self.expected("`:` and the types"));
        }
        if self.take_word("attributes") {
            self.attribute_dictionary(&mut parts.attributes)?;
        }
        for word in ["cond", "do"] {
            self.expect_word(word)?;
            let types = &parts.results;
            let region = self.region_with(|parser| {
                let pairs = names.iter().zip(types);
                pairs.map(|(name, ty)| parser.define_one(*name, ty.clone())).collect()
            })?;
            parts.regions.push(region);
        }
        Ok(parts)
    }
}
