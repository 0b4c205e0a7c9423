//! How large and how deep an attribute or a type is.
//!
//! Text has aliases and bytecode has tables, so a short file may describe something that is huge when it is
//! written out. Readers add up what they write out, and stop.

use crate::module::{Attribute, Type};

/// How deep attributes, types and regions may be nested.
pub(crate) const DEEPEST: usize = 100;

/// The size of something written out.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Extent {
    /// How many levels it has.
    pub depth: usize,
    /// How many parts it has, long texts counted as several.
    pub parts: usize,
}

impl Extent {
    fn around(self, inner: Extent) -> Extent {
        Extent {
            depth: self.depth.max(inner.depth + 1),
            parts: self.parts.saturating_add(inner.parts),
        }
    }
}

fn leaf(length: usize) -> Extent {
    Extent { depth: 1, parts: 1 + length / 16 }
}

/// What may be written out of a file of that many bytes.
pub(crate) fn budget(length: usize) -> usize {
    length.saturating_mul(64).saturating_add(1 << 16)
}

/// The extent of an attribute. Constants share their bytes, and count as one part.
pub(crate) fn attribute(value: &Attribute) -> Extent {
    match value {
        Attribute::String(text) | Attribute::Symbol(text) | Attribute::Other(text) => {
            leaf(text.len())
        }
        Attribute::Array(items) => {
            items.iter().fold(leaf(0), |extent, item| extent.around(attribute(item)))
        }
        Attribute::Dictionary(items) | Attribute::Record(_, items) => {
            items.iter().fold(leaf(0), |extent, (name, item)| {
                extent.around(leaf(name.len())).around(attribute(item))
            })
        }
        Attribute::Integers(items) => leaf(items.len()),
        Attribute::Type(inner) => leaf(0).around(ty(inner)),
        Attribute::Dense(dense) => leaf(dense.ty.dimensions.len()),
        _ => leaf(0),
    }
}

/// The extent of a type.
pub(crate) fn ty(value: &Type) -> Extent {
    match value {
        Type::Tensor(tensor) => leaf(tensor.dimensions.len()),
        Type::Token => leaf(0),
        Type::Tuple(members) => {
            members.iter().fold(leaf(0), |extent, member| extent.around(ty(member)))
        }
        Type::Function(operands, results) => {
            operands.iter().chain(results).fold(leaf(0), |extent, member| extent.around(ty(member)))
        }
        Type::Other(text) => leaf(text.len()),
    }
}
