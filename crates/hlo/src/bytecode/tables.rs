//! Attribute and type tables, decoded lazily: most entries are source locations, which are never used.

use super::reader::Reader;
use super::sections::{Dialect, Entry, File};
use super::{Result, builtin, vhlo};
use crate::bounds::{self, ExpandedSize, MAX_NESTING};
use crate::module::{Attribute, Type};
use crate::syntax;

/// The decoding state of a table entry.
#[derive(Clone)]
enum EntryState<T> {
    /// Not yet decoded.
    Pending,
    /// Being decoded. A reference to it from within is a cycle.
    InProgress,
    /// Decoded.
    Decoded(T, ExpandedSize),
}

/// The tables of a file.
pub(super) struct Tables<'a> {
    pub file: File<'a>,
    attributes: Vec<EntryState<Attribute>>,
    types: Vec<EntryState<Type>>,
    depth: usize,
    /// The number of parts that references have expanded to, and its limit.
    expanded: usize,
    budget: usize,
}

impl<'a> Tables<'a> {
    pub(super) fn new(file: File<'a>, length: usize) -> Tables<'a> {
        Tables {
            attributes: vec![EntryState::Pending; file.attributes.len()],
            types: vec![EntryState::Pending; file.types.len()],
            file,
            depth: 0,
            expanded: 0,
            budget: bounds::budget(length),
        }
    }

    /// Reads an attribute index and returns the attribute.
    pub(super) fn attribute(&mut self, reader: &mut Reader<'a>) -> Result<Attribute> {
        let start = reader.position();
        let index = reader.index(self.attributes.len(), "attributes")?;
        self.attribute_at(reader, start, index)
    }

    /// Reads an optional attribute index and returns the attribute.
    pub(super) fn optional_attribute(
        &mut self,
        reader: &mut Reader<'a>,
    ) -> Result<Option<Attribute>> {
        let start = reader.position();
        let (index, is_there) = reader.varint_with_flag()?;
        if !is_there {
            return Ok(None);
        }
        let index = reader.check_index(start, index, self.attributes.len(), "attributes")?;
        Ok(Some(self.attribute_at(reader, start, index)?))
    }

    fn attribute_at(
        &mut self,
        reader: &Reader<'a>,
        start: usize,
        index: usize,
    ) -> Result<Attribute> {
        match &self.attributes[index] {
            EntryState::Decoded(attribute, extent) => {
                let (attribute, extent) = (attribute.clone(), *extent);
                self.charge(reader, start, extent)?;
                return Ok(attribute);
            }
            EntryState::InProgress => {
                return Err(reader.error_at(
                    start,
                    "an attribute",
                    "an attribute that contains itself",
                ));
            }
            EntryState::Pending => {}
        }
        self.attributes[index] = EntryState::InProgress;
        let mut inner = self.entry(reader, &self.file.attributes[index]);
        let entry = &self.file.attributes[index];
        let attribute = match (entry.is_encoded, entry.dialect) {
            (false, _) => syntax::parse_attribute(&inner.null_terminated()?).map_err(|error| {
                inner.error("an attribute as text", format!("text with an error in {error}"))
            })?,
            (true, Dialect::Builtin) => {
                self.nested(reader, start, |tables| builtin::attribute(tables, &mut inner))?
            }
            (true, Dialect::Vhlo) => {
                self.nested(reader, start, |tables| vhlo::attribute(tables, &mut inner))?
            }
            (true, Dialect::Other) => {
                return Err(reader.error_at(
                    start,
                    "an attribute of VHLO",
                    "an attribute of another dialect",
                ));
            }
        };
        let extent = bounds::attribute(&attribute);
        self.charge(reader, start, extent)?;
        self.attributes[index] = EntryState::Decoded(attribute.clone(), extent);
        Ok(attribute)
    }

    /// Reads a type index and returns the type.
    pub(super) fn ty(&mut self, reader: &mut Reader<'a>) -> Result<Type> {
        let start = reader.position();
        let index = reader.index(self.types.len(), "types")?;
        self.type_at(reader, start, index)
    }

    /// The type at an index that was read at `start`.
    pub(super) fn type_at(
        &mut self,
        reader: &Reader<'a>,
        start: usize,
        index: usize,
    ) -> Result<Type> {
        match &self.types[index] {
            EntryState::Decoded(ty, extent) => {
                let (ty, extent) = (ty.clone(), *extent);
                self.charge(reader, start, extent)?;
                return Ok(ty);
            }
            EntryState::InProgress => {
                return Err(reader.error_at(start, "a type", "a type that contains itself"));
            }
            EntryState::Pending => {}
        }
        self.types[index] = EntryState::InProgress;
        let mut inner = self.entry(reader, &self.file.types[index]);
        let entry = &self.file.types[index];
        let ty = match (entry.is_encoded, entry.dialect) {
            (false, _) => syntax::parse_type(&inner.null_terminated()?).map_err(|error| {
                inner.error("a type as text", format!("text with an error in {error}"))
            })?,
            (true, Dialect::Builtin) => {
                self.nested(reader, start, |tables| builtin::ty(tables, &mut inner))?
            }
            (true, Dialect::Vhlo) => {
                self.nested(reader, start, |tables| vhlo::ty(tables, &mut inner))?
            }
            (true, Dialect::Other) => {
                return Err(reader.error_at(start, "a type of VHLO", "a type of another dialect"));
            }
        };
        let extent = bounds::ty(&ty);
        self.charge(reader, start, extent)?;
        self.types[index] = EntryState::Decoded(ty.clone(), extent);
        Ok(ty)
    }

    /// The number of types.
    pub(super) fn type_count(&self) -> usize {
        self.types.len()
    }

    /// Reads a list of type indices and returns the types.
    pub(super) fn type_list(&mut self, reader: &mut Reader<'a>) -> Result<Vec<Type>> {
        let count = reader.count("types")?;
        (0..count).map(|_| self.ty(reader)).collect()
    }

    /// Reads a string index and returns the string. Bytes that are not UTF-8 are replaced.
    pub(super) fn string(&mut self, reader: &mut Reader<'a>) -> Result<String> {
        let index = reader.index(self.file.strings.len(), "strings")?;
        Ok(String::from_utf8_lossy(self.file.strings[index]).into_owned())
    }

    fn entry(&self, reader: &Reader<'a>, entry: &Entry) -> Reader<'a> {
        reader.part(entry.range.start, entry.range.end, "the attribute section")
    }

    fn nested<T>(
        &mut self,
        reader: &Reader<'a>,
        start: usize,
        inner: impl FnOnce(&mut Self) -> Result<T>,
    ) -> Result<T> {
        if self.depth == MAX_NESTING {
            let expected = format!("at most {MAX_NESTING} levels of nesting");
            return Err(reader.error_at(start, expected, "more"));
        }
        self.depth += 1;
        let result = inner(self);
        self.depth -= 1;
        result
    }

    /// Charges an expanded attribute or type to the budget, and checks its nesting depth.
    fn charge(&mut self, reader: &Reader<'a>, start: usize, extent: ExpandedSize) -> Result<()> {
        self.expanded = self.expanded.saturating_add(extent.parts);
        if self.depth + extent.depth > MAX_NESTING {
            let expected = format!("at most {MAX_NESTING} levels of nesting");
            return Err(reader.error_at(start, expected, "more"));
        }
        if self.expanded > self.budget {
            let expected =
                format!("attributes that expand to at most {} parts in total", self.budget);
            return Err(reader.error_at(start, expected, "more"));
        }
        Ok(())
    }
}
