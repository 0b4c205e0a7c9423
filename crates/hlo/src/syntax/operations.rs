//! Operations in generic form, and regions.

use super::lexer::{Kind, Token};
use super::{Parser, Result};
use crate::module::{Attributes, Operation, Region, Type, Value, ValueId};

/// What an operation is, apart from the names of its results and its place.
pub(super) struct Parts {
    pub name: String,
    pub operands: Vec<ValueId>,
    pub attributes: Attributes,
    pub regions: Vec<Region>,
    pub results: Vec<Type>,
}

impl Parts {
    pub(super) fn named(name: &str) -> Parts {
        Parts {
            name: name.to_string(),
            operands: Vec::new(),
            attributes: Attributes::new(),
            regions: Vec::new(),
            results: Vec::new(),
        }
    }
}

impl<'a> Parser<'a> {
    /// One operation, with the names of its results.
    pub(super) fn operation(&mut self) -> Result<Operation> {
        let location = self.location();
        let names = self.result_names()?;
        let start = self.token;
        let parts = match start.kind {
            Kind::String => self.generic_operation()?,
            Kind::Word => self.short_operation()?,
            _ => return Err(self.expected("an operation")),
        };
        self.skip_location()?;
        let results = self.define_results(start, &names, parts.results)?;
        Ok(Operation {
            name: parts.name,
            operands: parts.operands,
            attributes: parts.attributes,
            regions: parts.regions,
            results,
            location,
        })
    }

    /// `%a, %b:2 =`: each name and how many results it has.
    fn result_names(&mut self) -> Result<Vec<(Token<'a>, usize)>> {
        let mut names = Vec::new();
        if self.token.kind != Kind::Value {
            return Ok(names);
        }
        loop {
            let token = self.value_token()?;
            let mut count = 1;
            if self.take(":") {
                let number = self.token;
                count = match usize::try_from(self.integer()?) {
                    // More results than characters could not be written.
                    Ok(count) if (1..=self.source.len()).contains(&count) => count,
                    _ => return Err(self.expected_at(number, "how many results there are")),
                };
            }
            names.push((token, count));
            if self.take("=") {
                return Ok(names);
            }
            if !self.take(",") {
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
            return Ok(types.into_iter().map(|ty| self.values.unnamed(ty)).collect());
        }
        let named = names.iter().fold(0usize, |sum, (_, count)| sum.saturating_add(*count));
        if named != types.len() {
            let expected = format!("an operation of {named} results");
            let found = format!("{} of {}", start.describe(), types.len());
            return Err(self.wrong_at(start, expected, found));
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
    pub(super) fn generic_operation(&mut self) -> Result<Parts> {
        let mut parts = Parts::named(&self.string()?);
        self.expect("(")?;
        parts.operands = self.operands()?;
        if self.at("[") {
            return Err(self.expected("an operation without successors"));
        }
        if self.take("<") {
            self.attribute_dictionary(&mut parts.attributes)?;
            self.expect(">")?;
        }
        if self.take("(") {
            parts.regions = self.list(")", Self::region)?;
        }
        self.optional_attributes(&mut parts.attributes)?;
        self.expect(":")?;
        let types = self.token;
        let (operands, results) = self.function_type()?;
        self.check_operands(types, &parts.operands, &operands)?;
        parts.results = results;
        Ok(parts)
    }

    /// `{…}`, with `^bb0(…):` or without.
    pub(super) fn region(&mut self) -> Result<Region> {
        self.region_with(|_| Ok(Vec::new()))
    }

    /// `{…}` whose arguments are bound by `bind` before it is entered.
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
                if parser.take("(") {
                    arguments.extend(parser.list(")", Self::block_argument)?);
                }
                parser.expect(":")?;
            }
            let mut operations = Vec::new();
            while !parser.take("}") {
                if parser.token.kind == Kind::Block {
                    return Err(parser.expected("`}`: a region of StableHLO has one block"));
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
