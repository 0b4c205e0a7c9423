//! The attributes and types that operations refer to by number. Each is decoded when it is first needed:
//! most are places in source files, which nobody asks for.

use super::reader::Reader;
use super::sections::{Dialect, Entry, File};
use super::{Result, builtin, vhlo};
use crate::bounds::{self, DEEPEST, Extent};
use crate::module::{Attribute, Type};
use crate::syntax;

/// An attribute or a type of the table.
#[derive(Clone)]
enum Known<T> {
    /// Not yet decoded.
    No,
    /// Being decoded: whoever asks for it now is a part of it.
    Inside,
    /// Decoded.
    Yes(T, Extent),
}

/// The tables of a file.
pub(super) struct Tables<'a> {
    pub file: File<'a>,
    attributes: Vec<Known<Attribute>>,
    types: Vec<Known<Type>>,
    depth: usize,
    /// How many parts have been written out, and how many may be.
    written: usize,
    budget: usize,
}

impl<'a> Tables<'a> {
    pub(super) fn new(file: File<'a>, length: usize) -> Tables<'a> {
        Tables {
            attributes: vec![Known::No; file.attributes.len()],
            types: vec![Known::No; file.types.len()],
            file,
            depth: 0,
            written: 0,
            budget: bounds::budget(length),
        }
    }

    /// The attribute whose number comes next.
    pub(super) fn attribute(&mut self, reader: &mut Reader<'a>) -> Result<Attribute> {
        let start = reader.position();
        let index = reader.index(self.attributes.len(), "attributes")?;
        self.attribute_at(reader, start, index)
    }

    /// The attribute whose number comes next, if there is one.
    pub(super) fn optional_attribute(
        &mut self,
        reader: &mut Reader<'a>,
    ) -> Result<Option<Attribute>> {
        let start = reader.position();
        let (index, is_there) = reader.flagged()?;
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
            Known::Yes(attribute, extent) => {
                let (attribute, extent) = (attribute.clone(), *extent);
                self.spend(reader, start, extent)?;
                return Ok(attribute);
            }
            Known::Inside => {
                return Err(reader.error_at(start, "an attribute", "one that contains itself"));
            }
            Known::No => {}
        }
        self.attributes[index] = Known::Inside;
        let mut inner = self.entry(reader, &self.file.attributes[index]);
        let entry = &self.file.attributes[index];
        let attribute = match (entry.is_encoded, entry.dialect) {
            (false, _) => syntax::parse_attribute(&inner.text()?).map_err(|error| {
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
                    "one of another dialect",
                ));
            }
        };
        let extent = bounds::attribute(&attribute);
        self.spend(reader, start, extent)?;
        self.attributes[index] = Known::Yes(attribute.clone(), extent);
        Ok(attribute)
    }

    /// The type whose number comes next.
    pub(super) fn ty(&mut self, reader: &mut Reader<'a>) -> Result<Type> {
        let start = reader.position();
        let index = reader.index(self.types.len(), "types")?;
        self.type_at(reader, start, index)
    }

    /// The type of that number, which was read at `start`.
    pub(super) fn type_at(
        &mut self,
        reader: &Reader<'a>,
        start: usize,
        index: usize,
    ) -> Result<Type> {
        match &self.types[index] {
            Known::Yes(ty, extent) => {
                let (ty, extent) = (ty.clone(), *extent);
                self.spend(reader, start, extent)?;
                return Ok(ty);
            }
            Known::Inside => {
                return Err(reader.error_at(start, "a type", "one that contains itself"));
            }
            Known::No => {}
        }
        self.types[index] = Known::Inside;
        let mut inner = self.entry(reader, &self.file.types[index]);
        let entry = &self.file.types[index];
        let ty = match (entry.is_encoded, entry.dialect) {
            (false, _) => syntax::parse_type(&inner.text()?).map_err(|error| {
                inner.error("a type as text", format!("text with an error in {error}"))
            })?,
            (true, Dialect::Builtin) => {
                self.nested(reader, start, |tables| builtin::ty(tables, &mut inner))?
            }
            (true, Dialect::Vhlo) => {
                self.nested(reader, start, |tables| vhlo::ty(tables, &mut inner))?
            }
            (true, Dialect::Other) => {
                return Err(reader.error_at(start, "a type of VHLO", "one of another dialect"));
            }
        };
        let extent = bounds::ty(&ty);
        self.spend(reader, start, extent)?;
        self.types[index] = Known::Yes(ty.clone(), extent);
        Ok(ty)
    }

    /// How many types there are.
    pub(super) fn type_count(&self) -> usize {
        self.types.len()
    }

    /// Types whose numbers come next, after how many there are.
    pub(super) fn type_list(&mut self, reader: &mut Reader<'a>) -> Result<Vec<Type>> {
        let count = reader.count("types")?;
        (0..count).map(|_| self.ty(reader)).collect()
    }

    /// The string whose number comes next. Bytes that are no text are replaced.
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
        if self.depth == DEEPEST {
            let expected = format!("at most {DEEPEST} levels of nesting");
            return Err(reader.error_at(start, expected, "more"));
        }
        self.depth += 1;
        let result = inner(self);
        self.depth -= 1;
        result
    }

    fn spend(&mut self, reader: &Reader<'a>, start: usize, extent: Extent) -> Result<()> {
        self.written = self.written.saturating_add(extent.parts);
        if self.depth + extent.depth > DEEPEST {
            let expected = format!("at most {DEEPEST} levels of nesting");
            return Err(reader.error_at(start, expected, "more"));
        }
        if self.written > self.budget {
            let expected = format!("attributes of at most {} parts in all", self.budget);
            return Err(reader.error_at(start, expected, "more"));
        }
        Ok(())
    }
}
