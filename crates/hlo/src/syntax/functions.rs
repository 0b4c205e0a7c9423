//! Parsing of modules and functions.

use super::lexer::{Kind, Token};
use super::operations::OperationState;
use super::{Parser, Result};
use crate::module::{
    Attribute, Attributes, Function, Location, Module, Region, Type, Value, attribute,
};

impl<'a> Parser<'a> {
    /// Parses the whole text.
    pub(super) fn module(&mut self) -> Result<Module> {
        let mut module = Module::default();
        let mut is_module_read = false;
        loop {
            if self.token.kind == Kind::End {
                break;
            }
            if self.consume_if("{-#") {
                self.skip_resources()?;
                continue;
            }
            if self.alias()? {
                continue;
            }
            let is_module = self.at_word("module")
                || self.at_word("builtin.module")
                || (self.token.kind == Kind::String && self.token.text == "\"builtin.module\"");
            if is_module {
                if is_module_read || !module.functions.is_empty() {
                    return Err(self.expected("at most one module"));
                }
                is_module_read = true;
                if self.token.kind == Kind::String {
                    self.generic_module(&mut module)?;
                } else {
                    self.pretty_module(&mut module)?;
                }
            } else if is_module_read {
                return Err(self.expected("the end of the text"));
            } else {
                self.module_item(&mut module)?;
            }
        }
        if !is_module_read && module.functions.is_empty() {
            return Err(self.expected("`module` or `func.func`"));
        }
        Ok(module)
    }

    /// `module @name attributes {…} {…}`
    fn pretty_module(&mut self, module: &mut Module) -> Result<()> {
        self.next();
        if self.token.kind == Kind::Symbol {
            module.name = Some(self.symbol()?);
        }
        if self.consume_word_if("attributes") {
            self.attribute_dictionary(&mut module.attributes)?;
        }
        self.expect("{")?;
        while !self.consume_if("}") {
            self.module_item(module)?;
        }
        self.skip_location()
    }

    /// `"builtin.module"() <{…}> ({…}) {…} : () -> ()`
    fn generic_module(&mut self, module: &mut Module) -> Result<()> {
        self.next();
        self.expect("(")?;
        self.expect(")")?;
        let mut attributes = Attributes::new();
        if self.consume_if("<") {
            self.attribute_dictionary(&mut attributes)?;
            self.expect(">")?;
        }
        self.expect("(")?;
        self.expect("{")?;
        if self.token.kind == Kind::Block {
            self.next();
            if self.consume_if("(") {
                self.expect(")")?;
            }
            self.expect(":")?;
        }
        while !self.consume_if("}") {
            self.module_item(module)?;
        }
        self.expect(")")?;
        self.optional_attributes(&mut attributes)?;
        self.expect(":")?;
        self.function_type()?;
        self.skip_location()?;
        attributes.retain(|(name, value)| match (name.as_str(), value) {
            ("sym_name", Attribute::String(text)) => {
                module.name = Some(text.clone());
                false
            }
            _ => true,
        });
        module.attributes = attributes;
        Ok(())
    }

    /// A function, or a device mesh, which is retained as source text.
    fn module_item(&mut self, module: &mut Module) -> Result<()> {
        let start = self.token;
        let location = self.location();
        let function = match (start.kind, start.text) {
            (Kind::Word, "func.func" | "func") => {
                self.next();
                self.pretty_function(location)?
            }
            (Kind::String, "\"func.func\"") => self.generic_function(location)?,
            (Kind::Word, "sdy.mesh") => {
                self.next();
                self.symbol()?;
                self.expect("=")?;
                self.expect("<")?;
                self.skip_until_closed(">")?;
                self.optional_attributes(&mut Attributes::new())?;
                self.retain_opaque(start, module);
                return self.skip_location();
            }
            (Kind::String, "\"sdy.mesh\"") => {
                self.generic_operation()?;
                self.retain_opaque(start, module);
                return self.skip_location();
            }
            _ => return Err(self.expected("`func.func`")),
        };
        if !self.functions.insert(function.name.clone()) {
            let found = format!("`@{}`, which is already defined", function.name);
            return Err(self.error_at(start, "a function with a unique name", found));
        }
        module.functions.push(function);
        Ok(())
    }

    /// Retains the source text since a token.
    fn retain_opaque(&self, start: Token<'a>, module: &mut Module) {
        let text = self.source[start.start..self.token.start].trim_end();
        module.opaque_items.push(text.to_string());
    }

    /// `private @name(%a: type {…}, …) -> (type {…}, …) attributes {…} {…}`
    fn pretty_function(&mut self, location: Location) -> Result<Function> {
        self.values.clear();
        let is_private = self.consume_word_if("private");
        if !is_private && !self.consume_word_if("public") {
            self.consume_word_if("nested");
        }
        let name = self.symbol()?;
        let mut argument_attributes = Vec::new();
        let mut argument_names = Vec::new();
        self.expect("(")?;
        let arguments = self.list(")", |parser| {
            if parser.token.kind != Kind::Value {
                return Err(parser
                    .expected("an argument name (functions without a body are not supported)"));
            }
            let token = parser.value_token()?;
            parser.expect(":")?;
            let ty = parser.parse_type()?;
            let mut attributes = Attributes::new();
            parser.optional_attributes(&mut attributes)?;
            let name = parser.location_name()?.unwrap_or_else(|| token.text[1..].to_string());
            argument_names.push(Some(name));
            argument_attributes.push(attributes);
            parser.define_one(token, ty)
        })?;
        let results = if self.consume_if("->") { self.function_results()? } else { Vec::new() };
        let mut attributes = Attributes::new();
        if self.consume_word_if("attributes") {
            self.attribute_dictionary(&mut attributes)?;
        }
        if !self.at("{") {
            return Err(self.expected("`{` and the function's body"));
        }
        let mut body = self.region()?;
        if body.arguments.is_empty() {
            body.arguments = arguments;
        }
        self.skip_location()?;
        Ok(Function {
            name,
            is_private,
            attributes,
            argument_names,
            argument_attributes,
            results,
            body,
            location,
        })
    }

    fn function_results(&mut self) -> Result<Vec<(Type, Attributes)>> {
        if !self.consume_if("(") {
            return Ok(vec![(self.parse_type()?, Attributes::new())]);
        }
        self.list(")", |parser| {
            let ty = parser.parse_type()?;
            let mut attributes = Attributes::new();
            parser.optional_attributes(&mut attributes)?;
            Ok((ty, attributes))
        })
    }

    /// `"func.func"() <{function_type = …, sym_name = "…"}> ({…}) : () -> ()`
    fn generic_function(&mut self, location: Location) -> Result<Function> {
        self.values.clear();
        let start = self.token;
        let mut state: OperationState = self.generic_operation()?;
        self.skip_location()?;
        let Some(Attribute::String(name)) = attribute(&state.attributes, "sym_name") else {
            return Err(self.error_at(start, "the attribute `sym_name`", "none"));
        };
        let Some(Attribute::Type(Type::Function(arguments, results))) =
            attribute(&state.attributes, "function_type")
        else {
            return Err(self.error_at(start, "the attribute `function_type`", "none"));
        };
        if state.regions.len() != 1 {
            return Err(self.error_at(
                start,
                "a function with one region",
                "another number of regions",
            ));
        }
        let body: Region = state.regions.remove(0);
        let types_of = |values: &[Value]| values.iter().map(|v| v.ty.clone()).collect::<Vec<_>>();
        if types_of(&body.arguments) != *arguments {
            let expected = "block arguments of the types in `function_type`";
            return Err(self.error_at(start, expected, "other types"));
        }
        let is_private = attribute(&state.attributes, "sym_visibility")
            == Some(&Attribute::String("private".to_string()));
        let result_attributes = dictionaries(&state.attributes, "res_attrs", results.len());
        Ok(Function {
            name: name.clone(),
            is_private,
            attributes: own_attributes(&state.attributes),
            argument_names: Vec::new(),
            argument_attributes: dictionaries(&state.attributes, "arg_attrs", arguments.len()),
            results: results.iter().cloned().zip(result_attributes).collect(),
            body,
            location,
        })
    }
}

/// The attributes of a function except for its name, visibility, type, and argument and result attributes.
pub(crate) fn own_attributes(attributes: &Attributes) -> Attributes {
    const OTHERS: [&str; 5] =
        ["arg_attrs", "function_type", "res_attrs", "sym_name", "sym_visibility"];
    let own = attributes.iter().filter(|(name, _)| !OTHERS.contains(&name.as_str()));
    own.cloned().collect()
}

/// The dictionaries in the array attribute `name`, padded with empty ones to `count`.
pub(crate) fn dictionaries(attributes: &Attributes, name: &str, count: usize) -> Vec<Attributes> {
    let mut all = match attribute(attributes, name) {
        Some(Attribute::Array(items)) => items
            .iter()
            .map(|item| match item {
                Attribute::Dictionary(entries) => entries.clone(),
                _ => Attributes::new(),
            })
            .collect(),
        _ => Vec::new(),
    };
    all.resize(count, Attributes::new());
    all
}
