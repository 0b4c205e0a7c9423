//! Limits on the expanded size and the nesting depth of attributes and types.
//!
//! Text has aliases and bytecode has tables, so a short file may describe an attribute that is huge once expanded.
//! The readers account for what they expand and stop at a budget that is proportional to the input's length.

use crate::module::{Attribute, Type};

/// The maximum nesting depth of attributes, types and regions.
pub(crate) const MAX_NESTING: usize = 100;

/// The size of an expanded attribute or type.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct ExpandedSize {
    /// The nesting depth.
    pub depth: usize,
    /// The number of nodes; long strings and lists count as several.
    pub parts: usize,
}

impl ExpandedSize {
    fn enclosing(self, inner: ExpandedSize) -> ExpandedSize {
        ExpandedSize {
            depth: self.depth.max(inner.depth + 1),
            parts: self.parts.saturating_add(inner.parts),
        }
    }
}

fn leaf(length: usize) -> ExpandedSize {
    ExpandedSize { depth: 1, parts: 1 + length / 16 }
}

/// The maximum total of expanded parts for an input of `length` bytes.
pub(crate) fn budget(length: usize) -> usize {
    length.saturating_mul(64).saturating_add(1 << 16)
}

/// The expanded size of an attribute. Constants share their bytes, and count as one part.
pub(crate) fn attribute(value: &Attribute) -> ExpandedSize {
    match value {
        Attribute::String(text) | Attribute::Symbol(text) | Attribute::Other(text) => {
            leaf(text.len())
        }
        Attribute::Array(items) => {
            items.iter().fold(leaf(0), |extent, item| extent.enclosing(attribute(item)))
        }
        Attribute::Dictionary(items) | Attribute::Record(_, items) => {
            items.iter().fold(leaf(0), |extent, (name, item)| {
                extent.enclosing(leaf(name.len())).enclosing(attribute(item))
            })
        }
        Attribute::Integers(items) => leaf(items.len()),
        Attribute::Type(inner) => leaf(0).enclosing(ty(inner)),
        Attribute::Dense(dense) => leaf(dense.ty.dimensions.len()),
        _ => leaf(0),
    }
}

/// The expanded size of a type.
pub(crate) fn ty(value: &Type) -> ExpandedSize {
    match value {
        Type::Tensor(tensor) => leaf(tensor.dimensions.len()),
        Type::Token => leaf(0),
        Type::Tuple(members) => {
            members.iter().fold(leaf(0), |extent, member| extent.enclosing(ty(member)))
        }
        Type::Function(operands, results) => operands
            .iter()
            .chain(results)
            .fold(leaf(0), |extent, member| extent.enclosing(ty(member))),
        Type::Other(text) => leaf(text.len()),
    }
}
