//! Printer: modules as canonical StableHLO text.
//!
//! Operations are printed in pretty form if they have one, and in generic form otherwise. Printed text parses to the
//! same module, except for source locations.

mod attributes;
mod dense;
mod pretty;
mod structured_attributes;
mod types;

pub(crate) use types::type_text;

use crate::module::{Attributes, Function, Module, Operation, Region, Type, Value, ValueId};
use std::collections::HashMap;
use types::{function_text, types_text};

/// Prints a module as canonical text.
pub fn print(module: &Module) -> String {
    let mut text = "module".to_string();
    if let Some(name) = &module.name {
        text.push_str(&format!(" {}", attributes::symbol_text(name)));
    }
    if !module.attributes.is_empty() {
        text.push_str(&format!(" attributes {}", attributes::dictionary_text(&module.attributes)));
    }
    text.push_str(" {\n");
    for other in &module.opaque_items {
        text.push_str(&format!("  {other}\n"));
    }
    for function in &module.functions {
        Printer::new(function).function(function, &mut text);
    }
    text.push_str("}\n");
    text
}

/// Printer of one function.
struct Printer<'a> {
    /// The SSA name and the type of each value.
    values: HashMap<ValueId, (String, &'a Type)>,
}

const UNKNOWN: Type = Type::Token;

impl<'a> Printer<'a> {
    fn new(function: &'a Function) -> Printer<'a> {
        let mut printer = Printer { values: HashMap::new() };
        for (number, argument) in function.body.arguments.iter().enumerate() {
            printer.values.insert(argument.id, (format!("%arg{number}"), &argument.ty));
        }
        printer.name_region(&function.body);
        printer
    }

    fn name_region(&mut self, region: &'a Region) {
        for operation in &region.operations {
            match operation.results.as_slice() {
                [] => {}
                [one] => {
                    self.values.insert(one.id, (format!("%{}", one.id), &one.ty));
                }
                several => {
                    let first = several[0].id;
                    for (number, value) in several.iter().enumerate() {
                        self.values.insert(value.id, (format!("%{first}#{number}"), &value.ty));
                    }
                }
            }
            for (number, inner) in operation.regions.iter().enumerate() {
                for (position, argument) in inner.arguments.iter().enumerate() {
                    // The pretty form of `while` names each block argument once for both regions.
                    let shared = match (operation.name.as_str(), number) {
                        ("stablehlo.while", 1) => operation.regions[0].arguments.get(position),
                        _ => None,
                    };
                    let name = format!("%{}", shared.unwrap_or(argument).id);
                    self.values.insert(argument.id, (name, &argument.ty));
                }
                self.name_region(inner);
            }
        }
    }

    fn name(&self, id: ValueId) -> &str {
        self.values.get(&id).map_or("%undefined", |(name, _)| name)
    }

    fn ty(&self, id: ValueId) -> &Type {
        self.values.get(&id).map_or(&UNKNOWN, |(_, ty)| ty)
    }

    /// Names, separated by commas.
    fn names(&self, ids: &[ValueId]) -> String {
        ids.iter().map(|id| self.name(*id)).collect::<Vec<_>>().join(", ")
    }

    fn operand_types(&self, operation: &Operation) -> Vec<Type> {
        operation.operands.iter().map(|id| self.ty(*id).clone()).collect()
    }

    /// The function type `(…) -> …` of an operation.
    fn signature(&self, operation: &Operation) -> String {
        function_text(&self.operand_types(operation), &result_types(operation))
    }

    fn function(&self, function: &Function, text: &mut String) {
        let visibility = if function.is_private { "private" } else { "public" };
        let name = attributes::symbol_text(&function.name);
        text.push_str(&format!("  func.func {visibility} {name}("));
        let empty = Attributes::new();
        for (number, argument) in function.body.arguments.iter().enumerate() {
            let separator = if number == 0 { "" } else { ", " };
            let described = function.argument_attributes.get(number).unwrap_or(&empty);
            let described = attributes::optional_dictionary(described);
            let ty = type_text(&argument.ty);
            // The SSA name is the argument's number; its source name goes into the location.
            let location = match function.argument_names.get(number).cloned().flatten() {
                Some(name) if name != format!("arg{number}") => {
                    format!(" loc({})", attributes::quoted(&name))
                }
                _ => String::new(),
            };
            text.push_str(&format!("{separator}%arg{number}: {ty}{described}{location}"));
        }
        text.push(')');
        if !function.results.is_empty() {
            let results: Vec<String> = function
                .results
                .iter()
                .map(|(ty, described)| {
                    format!("{}{}", type_text(ty), attributes::optional_dictionary(described))
                })
                .collect();
            text.push_str(&format!(" -> ({})", results.join(", ")));
        }
        if !function.attributes.is_empty() {
            let own = attributes::dictionary_text(&function.attributes);
            text.push_str(&format!(" attributes {own}"));
        }
        text.push_str(" {\n");
        self.operations(&function.body, 2, text);
        text.push_str("  }\n");
    }

    fn operations(&self, region: &Region, level: usize, text: &mut String) {
        for operation in &region.operations {
            text.push_str(&"  ".repeat(level));
            match operation.results.as_slice() {
                [] => {}
                [one] => text.push_str(&format!("%{} = ", one.id)),
                several => text.push_str(&format!("%{}:{} = ", several[0].id, several.len())),
            }
            if !self.pretty(operation, level, text) {
                self.generic(operation, level, text);
            }
            text.push('\n');
        }
    }

    /// `"name"(%a) <{…}> ({…}) {…} : (…) -> …`
    fn generic(&self, operation: &Operation, level: usize, text: &mut String) {
        let name = attributes::quoted(&operation.name);
        text.push_str(&format!("{name}({})", self.names(&operation.operands)));
        // Inherent attributes are printed as properties, discardable (dialect) attributes after the regions.
        let (attached, own): (Attributes, Attributes) =
            operation.attributes.iter().cloned().partition(|(name, _)| name.contains('.'));
        if !own.is_empty() {
            text.push_str(&format!(
                " <{}>",
                attributes::operation_dictionary(&operation.name, &own)
            ));
        }
        if !operation.regions.is_empty() {
            text.push_str(" (");
            for (number, region) in operation.regions.iter().enumerate() {
                text.push_str(if number == 0 { "{\n" } else { ", {\n" });
                if !region.arguments.is_empty() {
                    text.push_str(&"  ".repeat(level));
                    text.push_str(&format!("^bb0({}):\n", self.bindings(&region.arguments)));
                }
                self.operations(region, level + 1, text);
                text.push_str(&"  ".repeat(level));
                text.push('}');
            }
            text.push(')');
        }
        text.push_str(&attributes::optional_dictionary(&attached));
        text.push_str(&format!(" : {}", self.signature(operation)));
    }

    /// `%a: type, %b: type`
    fn bindings(&self, values: &[Value]) -> String {
        let bindings: Vec<String> = values
            .iter()
            .map(|value| format!("{}: {}", self.name(value.id), type_text(&value.ty)))
            .collect();
        bindings.join(", ")
    }

    /// `{…}` of a region whose block arguments are printed before it.
    fn block(&self, region: &Region, level: usize, text: &mut String) {
        text.push_str("{\n");
        self.operations(region, level + 1, text);
        text.push_str(&"  ".repeat(level));
        text.push('}');
    }
}

fn result_types(operation: &Operation) -> Vec<Type> {
    operation.results.iter().map(|value| value.ty.clone()).collect()
}

/// One type if all operands and the result have the same, else the function type.
fn shared_type_or_signature(printer: &Printer<'_>, operation: &Operation) -> String {
    let [result] = operation.results.as_slice() else { return printer.signature(operation) };
    match operation.operands.iter().all(|id| printer.ty(*id) == &result.ty) {
        true => types_text(std::slice::from_ref(&result.ty)),
        false => printer.signature(operation),
    }
}
