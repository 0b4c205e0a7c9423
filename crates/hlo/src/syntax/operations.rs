//! Parsing of operations in generic form, and of regions.

use super::lexer::{Kind, Token};
use super::{Parser, Result};
use crate::module::{Attributes, Operation, Region, Type, Value, ValueId};

/// An operation under construction: all of it but the result names and the location.
pub(super) struct OperationState {
    pub name: String,
    pub operands: Vec<ValueId>,
    pub attributes: Attributes,
    pub regions: Vec<Region>,
    pub results: Vec<Type>,
}

impl OperationState {
    pub(super) fn named(name: &str) -> OperationState {
        OperationState {
            name: name.to_string(),
            operands: Vec::new(),
            attributes: Attributes::new(),
            regions: Vec::new(),
            results: Vec::new(),
        }
    }
}

impl<'a> Parser<'a> {
    /// One operation, with its result names.
    pub(super) fn operation(&mut self) -> Result<Operation> {
        let location = self.location();
        let names = self.result_names()?;
        let start = self.token;
        let state = match start.kind {
            Kind::String => self.generic_operation()?,
            Kind::Word => self.pretty_operation()?,
            _ => return Err(self.expected("an operation")),
        };
        self.skip_location()?;
        let results = self.define_results(start, &names, state.results)?;
        Ok(Operation {
            name: state.name,
            operands: state.operands,
            attributes: state.attributes,
            regions: state.regions,
            results,
            location,
        })
    }

    /// `%a, %b:2 =`: each name and its number of results.
    fn result_names(&mut self) -> Result<Vec<(Token<'a>, usize)>> {
        let mut names = Vec::new();
        if self.token.kind != Kind::Value {
            return Ok(names);
        }
        loop {
            let token = self.value_token()?;
            let mut count = 1;
            if self.consume_if(":") {
                let number = self.token;
                count = match usize::try_from(self.integer()?) {
                    // A count above the text's length is invalid, and must not cause an allocation.
                    Ok(count) if (1..=self.source.len()).contains(&count) => count,
                    _ => return Err(self.expected_at(number, "a number of results")),
                };
            }
            names.push((token, count));
            if self.consume_if("=") {
                return Ok(names);
            }
            if !self.consume_if(",") {
                return Err(self.expected("`,` or `=`"));
            }
        }
    }

    fn define_results(
        &mut self,
        start: Token<'a>,
        names: &[(Token<'a>, usize)],
        types: Vec<Type>,
    ) -> Result<Vec<Value>> {
        if names.is_empty() {
            return Ok(types.into_iter().map(|ty| self.values.new_value(ty)).collect());
        }
        let named = names.iter().fold(0usize, |sum, (_, count)| sum.saturating_add(*count));
        if named != types.len() {
            let expected = format!("an operation with {named} results");
            let found = format!("{} with {}", start.describe(), types.len());
            return Err(self.error_at(start, expected, found));
        }
        let mut types = types.into_iter();
        let mut results = Vec::new();
        for (token, count) in names {
            let of_name = types.by_ref().take(*count).collect();
            results.extend(self.define(*token, of_name)?);
        }
        Ok(results)
    }

    /// `"name"(%a, %b) <{…}> ({…}, {…}) {…} : (…) -> …`
    pub(super) fn generic_operation(&mut self) -> Result<OperationState> {
        let mut state = OperationState::named(&self.string()?);
        self.expect("(")?;
        state.operands = self.operands()?;
        if self.at("[") {
            return Err(self.expected("an operation without successors"));
        }
        if self.consume_if("<") {
            self.attribute_dictionary(&mut state.attributes)?;
            self.expect(">")?;
        }
        if self.consume_if("(") {
            state.regions = self.list(")", Self::region)?;
        }
        self.optional_attributes(&mut state.attributes)?;
        self.expect(":")?;
        let types = self.token;
        let (operands, results) = self.function_type()?;
        self.check_operands(types, &state.operands, &operands)?;
        state.results = results;
        Ok(state)
    }

    /// `{…}`, with an optional block header `^bb0(…):`.
    pub(super) fn region(&mut self) -> Result<Region> {
        self.region_with(|_| Ok(Vec::new()))
    }

    /// `{…}`, with additional block arguments that `bind` defines in the region's scope.
    pub(super) fn region_with(
        &mut self,
        bind: impl FnOnce(&mut Self) -> Result<Vec<Value>>,
    ) -> Result<Region> {
        let mark = self.values.enter();
        let region = self.nested(|parser| {
            let mut arguments = bind(parser)?;
            parser.expect("{")?;
            if parser.token.kind == Kind::Block {
                parser.next();
                if parser.consume_if("(") {
                    arguments.extend(parser.list(")", Self::block_argument)?);
                }
                parser.expect(":")?;
            }
            let mut operations = Vec::new();
            while !parser.consume_if("}") {
                if parser.token.kind == Kind::Block {
                    return Err(parser.expected("`}`; a StableHLO region has exactly one block"));
                }
                operations.push(parser.operation()?);
            }
            Ok(Region { arguments, operations })
        })?;
        self.values.leave(mark);
        Ok(region)
    }

    /// `%a: type`
    pub(super) fn block_argument(&mut self) -> Result<Value> {
        let token = self.value_token()?;
        self.expect(":")?;
        let ty = self.parse_type()?;
        self.skip_location()?;
        self.define_one(token, ty)
    }
}
