//! SSA value names: scopes, definitions and uses.

use super::lexer::{Kind, Token};
use super::{Parser, Result};
use crate::module::{Type, Value, ValueId};
use std::collections::HashMap;

/// The SSA values of the current function.
#[derive(Default)]
pub(super) struct ValueScope<'a> {
    /// The names in scope.
    names: HashMap<&'a str, Definition>,
    /// The names in scope, in definition order.
    order: Vec<&'a str>,
    /// The type of every value of the function, in scope or not.
    types: Vec<Type>,
}

/// The values of a name: `count` consecutive ones from `first` on.
#[derive(Clone, Copy)]
struct Definition {
    first: ValueId,
    count: u32,
}

impl<'a> ValueScope<'a> {
    pub(super) fn type_of(&self, id: ValueId) -> &Type {
        &self.types[id as usize]
    }

    /// Enters a scope. The returned mark is for [`leave`](Self::leave).
    pub(super) fn enter(&self) -> usize {
        self.order.len()
    }

    /// Leaves the scope: removes the names defined since `enter` returned `mark`.
    pub(super) fn leave(&mut self, mark: usize) {
        for name in self.order.drain(mark..) {
            self.names.remove(name);
        }
    }

    /// Creates a value without a name.
    pub(super) fn new_value(&mut self, ty: Type) -> Value {
        let id = self.types.len() as ValueId;
        self.types.push(ty.clone());
        Value { id, ty }
    }

    pub(super) fn clear(&mut self) {
        *self = ValueScope::default();
    }
}

impl<'a> Parser<'a> {
    /// Defines the results that share the name `token`.
    pub(super) fn define(&mut self, token: Token<'a>, types: Vec<Type>) -> Result<Vec<Value>> {
        if token.text.contains('#') {
            return Err(self.expected_at(token, "a name without `#`"));
        }
        let name = token.text;
        if self.values.names.contains_key(name) {
            let found = format!("`{name}`, which is already defined");
            return Err(self.error_at(token, "a unique name", found));
        }
        if types.iter().any(|ty| matches!(ty, Type::Function(..))) {
            return Err(self.error_at(token, "a value", "a function type"));
        }
        let values: Vec<Value> = types.into_iter().map(|ty| self.values.new_value(ty)).collect();
        let first = values.first().map_or(0, |value| value.id);
        self.values.names.insert(name, Definition { first, count: values.len() as u32 });
        self.values.order.push(name);
        Ok(values)
    }

    /// Defines one value.
    pub(super) fn define_one(&mut self, token: Token<'a>, ty: Type) -> Result<Value> {
        Ok(self.define(token, vec![ty])?.remove(0))
    }

    pub(super) fn value_token(&mut self) -> Result<Token<'a>> {
        self.expect_kind(Kind::Value, "a value")
    }

    /// A use of a value.
    pub(super) fn operand(&mut self) -> Result<ValueId> {
        let token = self.value_token()?;
        let (name, number) = match token.text.split_once('#') {
            None => (token.text, None),
            Some((name, number)) => (name, Some(number)),
        };
        let Some(definition) = self.values.names.get(name).copied() else {
            return Err(self.expected_at(token, "a value that is defined before its use"));
        };
        let index = match number {
            None if definition.count == 1 => 0,
            None => {
                let expected = format!("`{name}#0` to `#{}`", definition.count.saturating_sub(1));
                return Err(self.expected_at(token, expected));
            }
            Some(number) => match number.parse::<u32>() {
                Ok(index) if index < definition.count => index,
                _ => {
                    let expected = format!(
                        "the number of one of the {} results of `{name}`",
                        definition.count
                    );
                    let found = format!("`#{number}`");
                    return Err(self.error_at(token, expected, found));
                }
            },
        };
        Ok(definition.first + index)
    }

    /// Comma-separated operands up to and including `)`.
    pub(super) fn operands(&mut self) -> Result<Vec<ValueId>> {
        self.list(")", Self::operand)
    }

    /// Checks the written operand types against the operands' types. `token` is the first token of the types.
    pub(super) fn check_operands<'t>(
        &self,
        token: Token<'_>,
        operands: &[ValueId],
        types: impl IntoIterator<Item = &'t Type, IntoIter: ExactSizeIterator>,
    ) -> Result<()> {
        let types = types.into_iter();
        if operands.len() != types.len() {
            let expected = format!("{} operand types", operands.len());
            return Err(self.error_at(token, expected, format!("{}", types.len())));
        }
        for (index, (&operand, ty)) in operands.iter().zip(types).enumerate() {
            let defined = self.values.type_of(operand);
            if defined != ty {
                let expected = format!("`{}` as the type of operand {index}", type_text(defined));
                return Err(self.error_at(token, expected, format!("`{}`", type_text(ty))));
            }
        }
        Ok(())
    }
}

fn type_text(ty: &Type) -> String {
    crate::print::type_text(ty)
}
