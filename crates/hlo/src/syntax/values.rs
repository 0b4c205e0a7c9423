//! The names of values and what they stand for.

use super::lexer::{Kind, Token};
use super::{Parser, Result};
use crate::module::{Type, Value, ValueId};
use std::collections::HashMap;

/// The values of the function that is read.
#[derive(Default)]
pub(super) struct Values<'a> {
    /// Those in sight.
    names: HashMap<&'a str, Definition>,
    /// The names in the order they came into sight.
    order: Vec<&'a str>,
    /// The type of every value of the function.
    types: Vec<Type>,
}

/// What a name stands for: `count` values from `first` on.
#[derive(Clone, Copy)]
struct Definition {
    first: ValueId,
    count: u32,
}

impl<'a> Values<'a> {
    pub(super) fn type_of(&self, id: ValueId) -> &Type {
        &self.types[id as usize]
    }

    /// How many names are in sight; see [`leave`](Self::leave).
    pub(super) fn enter(&self) -> usize {
        self.order.len()
    }

    /// Forgets the names that came into sight since `enter` gave `mark`.
    pub(super) fn leave(&mut self, mark: usize) {
        for name in self.order.drain(mark..) {
            self.names.remove(name);
        }
    }

    /// A value without a name.
    pub(super) fn unnamed(&mut self, ty: Type) -> Value {
        let id = self.types.len() as ValueId;
        self.types.push(ty.clone());
        Value { id, ty }
    }

    pub(super) fn clear(&mut self) {
        *self = Values::default();
    }
}

impl<'a> Parser<'a> {
    /// Defines values that share a name, which is `token` without `#…`.
    pub(super) fn define(&mut self, token: Token<'a>, types: Vec<Type>) -> Result<Vec<Value>> {
        if token.text.contains('#') {
            return Err(self.expected_at(token, "a name without `#`"));
        }
        let name = token.text;
        if self.values.names.contains_key(name) {
            return Err(self.wrong_at(token, "a new name", format!("`{name}`, which is defined")));
        }
        if types.iter().any(|ty| matches!(ty, Type::Function(..))) {
            return Err(self.wrong_at(token, "a value", "one of a function's type"));
        }
        let values: Vec<Value> = types.into_iter().map(|ty| self.values.unnamed(ty)).collect();
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
            return Err(self.expected_at(token, "a value that is defined before"));
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
                    let expected = format!("`{name}` to have that many results");
                    let found = format!("{}", definition.count);
                    return Err(self.wrong_at(token, expected, found));
                }
            },
        };
        Ok(definition.first + index)
    }

    /// Uses of values, between commas, until `)`, which is taken.
    pub(super) fn operands(&mut self) -> Result<Vec<ValueId>> {
        self.list(")", Self::operand)
    }

    /// Says no if the types written for operands are not theirs. `token` is where the types begin.
    pub(super) fn check_operands<'t>(
        &self,
        token: Token<'_>,
        operands: &[ValueId],
        types: impl IntoIterator<Item = &'t Type, IntoIter: ExactSizeIterator>,
    ) -> Result<()> {
        let types = types.into_iter();
        if operands.len() != types.len() {
            let expected = format!("types of {} operands", operands.len());
            return Err(self.wrong_at(token, expected, format!("{}", types.len())));
        }
        for (index, (&operand, ty)) in operands.iter().zip(types).enumerate() {
            let defined = self.values.type_of(operand);
            if defined != ty {
                let expected = format!("`{}` as the type of operand {index}", print_type(defined));
                return Err(self.wrong_at(token, expected, format!("`{}`", print_type(ty))));
            }
        }
        Ok(())
    }
}

fn print_type(ty: &Type) -> String {
    crate::print::type_text(ty)
}
