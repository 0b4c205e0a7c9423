//! IR section of MLIR bytecode: operations, blocks and regions.

use super::reader::Reader;
use super::sections::File;
use super::tables::Tables;
use super::{Result, builtin, convert, properties};
use crate::bounds::MAX_NESTING;
use crate::module::{
    Attribute, Attributes, Function, Location, Module, Operation, Region, Type, Value, ValueId,
    attribute,
};
use std::collections::HashSet;

/// Bits of an operation's encoding mask: the parts that are present.
mod mask {
    pub const ATTRIBUTES: u8 = 0x01;
    pub const RESULTS: u8 = 0x02;
    pub const OPERANDS: u8 = 0x04;
    pub const SUCCESSORS: u8 = 0x08;
    pub const REGIONS: u8 = 0x10;
    pub const USE_ORDERS: u8 = 0x20;
    pub const PROPERTIES: u8 = 0x40;
    pub const KNOWN: u8 = 0x7f;
}

/// The section id of the regions of an isolated operation.
const REGION_SECTION: u8 = 4;

/// Reader of the IR section.
struct IrReader<'a> {
    tables: Tables<'a>,
    version: u64,
    /// The values in scope, by bytecode index. Values of a region follow those of the enclosing regions, up to the
    /// nearest isolated one. `None` is not yet defined.
    values: Vec<Option<ValueId>>,
    /// The number of values that the function has defined.
    defined: ValueId,
    /// The number of operations read.
    operations: u32,
    depth: usize,
    /// The argument names of the block whose header was read last.
    block_names: Vec<Option<String>>,
    /// The argument names of the function.
    argument_names: Vec<Option<String>>,
}

/// The value indices that are left for a region's definitions.
struct ValueRange {
    next: usize,
    end: usize,
}

/// The encoding of an operation up to its regions.
struct OperationHeader<'a> {
    start: usize,
    name: String,
    attributes: Attributes,
    results: Vec<Type>,
    operands: Vec<ValueId>,
    regions: usize,
    /// Whether the regions are isolated from above: they number their values from 0.
    is_isolated: bool,
    /// The section that holds the regions, if they have their own.
    region_section: Option<Reader<'a>>,
    location: Location,
}

/// Reads the module of a file of `length` bytes.
pub(super) fn module(file: File<'_>, length: usize) -> Result<Module> {
    let mut reader = file.body;
    let version = file.version;
    let tables = Tables::new(file, length);
    let mut body = IrReader {
        tables,
        version,
        values: Vec::new(),
        defined: 0,
        operations: 0,
        depth: 0,
        block_names: Vec::new(),
        argument_names: Vec::new(),
    };
    let start = reader.position();
    let (count, has_arguments) = reader.varint_with_flag()?;
    if count != 1 || has_arguments {
        return Err(reader.error_at(start, "one module", format!("{count} operations")));
    }
    body.module(&mut reader)
}

impl<'a> IrReader<'a> {
    fn module(&mut self, reader: &mut Reader<'a>) -> Result<Module> {
        let record = self.record(reader)?;
        if record.name != "builtin.module" {
            let found = format!("`{}`", record.name);
            return Err(reader.error_at(record.start, "`builtin.module`", found));
        }
        let mut module = Module::default();
        for (name, value) in record.attributes {
            match (name.as_str(), value) {
                ("sym_name", Attribute::String(text)) => module.name = Some(text),
                ("sym_visibility", _) => {}
                (_, value) => module.attributes.push((name, value)),
            }
        }
        let mut inner = record.region_section.unwrap_or(*reader);
        if record.regions != 1 {
            let found = format!("{} regions", record.regions);
            return Err(inner.error_at(record.start, "a module of one region", found));
        }
        let start = inner.position();
        if inner.varint()? != 1 {
            return Err(inner.error_at(start, "a module of one block", "another number of blocks"));
        }
        inner.varint()?;
        let count = self.block_header(&mut inner, &mut ValueRange { next: 0, end: 0 })?.0;
        let mut names = HashSet::new();
        for _ in 0..count {
            let function = self.function(&mut inner)?;
            if !names.insert(function.name.clone()) {
                let found = format!("two functions `@{}`", function.name);
                return Err(inner.error("functions with different names", found));
            }
            module.functions.push(function);
        }
        Ok(module)
    }

    fn function(&mut self, reader: &mut Reader<'a>) -> Result<Function> {
        self.values.clear();
        self.defined = 0;
        let record = self.record(reader)?;
        if record.name != "vhlo.func_v1" {
            let found = format!("`{}`", record.name);
            let expected = "a function of a portable artifact, `vhlo.func_v1`";
            return Err(reader.error_at(record.start, expected, found));
        }
        if record.regions != 1 {
            let found = format!("{} regions", record.regions);
            return Err(reader.error_at(record.start, "a function with a body", found));
        }
        let body = match record.region_section {
            Some(mut inner) => self.region(&mut inner, true)?,
            None => self.region(reader, true)?,
        };
        let names = std::mem::take(&mut self.argument_names);
        convert::function(record.attributes, names, body, record.location)
            .map_err(|expected| reader.error_at(record.start, expected, "another function"))
    }

    /// Reads an operation up to its regions.
    fn record(&mut self, reader: &mut Reader<'a>) -> Result<OperationHeader<'a>> {
        let start = reader.position();
        let name = reader.index(self.tables.file.operations.len(), "names of operations")?;
        let name = self.tables.file.operations[name].clone();
        let mask_at = reader.position();
        let mask = reader.byte()?;
        if mask & !mask::KNOWN != 0 {
            return Err(reader.error_at(
                mask_at,
                "a mask of the known parts of an operation",
                format!("{mask:#x}"),
            ));
        }
        reader.varint()?;
        self.operations += 1;
        let location = Location { line: 0, column: self.operations };

        let mut attributes = Attributes::new();
        if mask & mask::ATTRIBUTES != 0 {
            let start = reader.position();
            match self.tables.attribute(reader)? {
                Attribute::Dictionary(entries) => attributes = entries,
                _ => {
                    return Err(reader.error_at(
                        start,
                        "a dictionary attribute",
                        "another attribute",
                    ));
                }
            }
        }
        if mask & mask::PROPERTIES != 0 {
            self.properties(reader, &name, &mut attributes)?;
        }
        // Older encodings have no properties and store them in the attribute dictionary.
        if name != "builtin.module" {
            for property in property_names(reader, start, &name)? {
                if attribute(&attributes, property).is_none() {
                    let expected = format!("`{name}` with the attribute `{property}`");
                    return Err(reader.error_at(start, expected, "none"));
                }
            }
        }
        let mut results = Vec::new();
        if mask & mask::RESULTS != 0 {
            results = self.tables.type_list(reader)?;
        }
        let mut operands = Vec::new();
        if mask & mask::OPERANDS != 0 {
            for _ in 0..reader.count("operands")? {
                let start = reader.position();
                let index = reader.index(self.values.len(), "values")?;
                let Some(id) = self.values[index] else {
                    let found = format!("value {index}, which is not defined yet");
                    return Err(reader.error_at(
                        start,
                        "a value that is defined before its use",
                        found,
                    ));
                };
                operands.push(id);
            }
        }
        if mask & mask::SUCCESSORS != 0 {
            return Err(reader.error("an operation without successors", "successors"));
        }
        if mask & mask::USE_ORDERS != 0 {
            skip_use_orders(reader, results.len())?;
        }
        let mut regions = 0;
        let mut is_isolated = false;
        let mut region_section = None;
        if mask & mask::REGIONS != 0 {
            let start = reader.position();
            let count;
            (count, is_isolated) = reader.varint_with_flag()?;
            regions = reader.check_count(start, count, "regions")?;
            if is_isolated && self.version >= 2 {
                let start = reader.position();
                let (id, section) = reader.section()?;
                if id != REGION_SECTION {
                    let found = format!("section {id}");
                    return Err(reader.error_at(start, "a section of operations", found));
                }
                region_section = Some(section);
            }
        }
        Ok(OperationHeader {
            start,
            name,
            attributes,
            results,
            operands,
            regions,
            is_isolated,
            region_section,
            location,
        })
    }

    /// Reads an operation's properties and adds them to its attributes.
    fn properties(
        &mut self,
        reader: &mut Reader<'a>,
        name: &str,
        attributes: &mut Attributes,
    ) -> Result<()> {
        let start = reader.position();
        let index = reader.index(self.tables.file.properties.len(), "properties")?;
        let range = self.tables.file.properties[index].clone();
        let mut inner = reader.part(range.start, range.end, "the property section");
        let names = match name {
            "builtin.module" => {
                for name in ["sym_name", "sym_visibility"] {
                    if let Some(value) = self.tables.optional_attribute(&mut inner)? {
                        attributes.push((name.to_string(), value));
                    }
                }
                &[][..]
            }
            _ => property_names(reader, start, name)?,
        };
        for name in names {
            attributes.push((name.to_string(), self.tables.attribute(&mut inner)?));
        }
        if !inner.is_at_end() {
            let expected = format!("{} properties of `{name}`", names.len());
            return Err(inner.error(expected, "more"));
        }
        attributes.sort_by(|a, b| a.0.cmp(&b.0));
        Ok(())
    }

    fn operation(
        &mut self,
        reader: &mut Reader<'a>,
        range: &mut ValueRange,
        is_function: bool,
    ) -> Result<Operation> {
        let record = self.record(reader)?;
        // Results are numbered before the values of the regions, but are in scope only after the regions.
        let first = range.next;
        let mut results = Vec::with_capacity(record.results.len());
        for ty in record.results {
            results.push(self.define(reader, range, ty)?);
        }
        self.values[first..range.next].fill(None);
        let outer = match record.is_isolated {
            true => Some(std::mem::take(&mut self.values)),
            false => None,
        };
        let mut regions = Vec::new();
        let mut inner = record.region_section;
        for _ in 0..record.regions {
            regions.push(match &mut inner {
                Some(inner) => self.region(inner, false)?,
                None => self.region(reader, false)?,
            });
        }
        if let Some(outer) = outer {
            self.values = outer;
        }
        for (value, result) in self.values[first..].iter_mut().zip(&results) {
            *value = Some(result.id);
        }
        let mut operation = Operation {
            name: record.name,
            operands: record.operands,
            attributes: record.attributes,
            regions,
            results,
            location: record.location,
        };
        convert::legalize(&mut operation, is_function)
            .map_err(|(expected, found)| reader.error_at(record.start, expected, found))?;
        Ok(operation)
    }

    fn define(&mut self, reader: &Reader<'a>, range: &mut ValueRange, ty: Type) -> Result<Value> {
        if range.next == range.end {
            return Err(reader.error("as many values as the region declares", "more"));
        }
        if matches!(ty, Type::Function(..)) {
            return Err(reader.error("the type of a value", "a function type"));
        }
        let id = self.defined;
        self.defined += 1;
        self.values[range.next] = Some(id);
        range.next += 1;
        Ok(Value { id, ty })
    }

    fn region(&mut self, reader: &mut Reader<'a>, is_function: bool) -> Result<Region> {
        if self.depth == MAX_NESTING {
            return Err(reader.error(format!("at most {MAX_NESTING} levels of nesting"), "more"));
        }
        let start = reader.position();
        let blocks = reader.varint()?;
        if blocks == 0 {
            return Ok(Region::default());
        }
        if blocks != 1 {
            return Err(reader.error_at(
                start,
                "a region of one block",
                format!("{blocks} blocks"),
            ));
        }
        self.depth += 1;
        let count = reader.count("values")?;
        let first = self.values.len();
        self.values.resize(first + count, None);
        let mut range = ValueRange { next: first, end: first + count };
        let (operations, arguments) = self.block_header(reader, &mut range)?;
        let names = std::mem::take(&mut self.block_names);
        if is_function {
            self.argument_names = names;
        }
        let mut region = Region { arguments, operations: Vec::new() };
        for _ in 0..operations {
            region.operations.push(self.operation(reader, &mut range, is_function)?);
        }
        self.values.truncate(first);
        self.depth -= 1;
        Ok(region)
    }

    /// Reads a block header: the number of operations, and the block arguments.
    fn block_header(
        &mut self,
        reader: &mut Reader<'a>,
        range: &mut ValueRange,
    ) -> Result<(usize, Vec<Value>)> {
        let start = reader.position();
        self.block_names.clear();
        let (operations, has_arguments) = reader.varint_with_flag()?;
        let mut arguments = Vec::new();
        if has_arguments {
            for _ in 0..reader.count("arguments")? {
                let start = reader.position();
                let (ty, has_location) = match self.version {
                    0..=3 => (reader.varint()?, true),
                    _ => reader.varint_with_flag()?,
                };
                let ty = reader.check_index(start, ty, self.tables.type_count(), "types")?;
                let ty = self.tables.type_at(reader, start, ty)?;
                let location = match has_location {
                    true => Some(self.tables.attribute(reader)?),
                    false => None,
                };
                self.block_names.push(location.as_ref().and_then(builtin::name_of_location));
                arguments.push(self.define(reader, range, ty)?);
            }
            if self.version >= 3 && reader.byte()? != 0 {
                skip_use_orders(reader, arguments.len())?;
            }
        }
        let operations = reader.check_count(start, operations, "operations")?;
        Ok((operations, arguments))
    }
}

/// The names of an operation's properties, in the order of their encoding.
fn property_names(
    reader: &Reader<'_>,
    start: usize,
    name: &str,
) -> Result<&'static [&'static str]> {
    name.strip_prefix("vhlo.").and_then(properties::names).ok_or_else(|| {
        let expected = "an operation of VHLO 1.0 or later that this reader knows";
        reader.error_at(start, expected, format!("`{name}`"))
    })
}

/// Skips the use-list orders, which this reader does not need.
fn skip_use_orders(reader: &mut Reader<'_>, values: usize) -> Result<()> {
    let count = if values > 1 { reader.count("orders of uses")? } else { 1 };
    for _ in 0..count {
        if values > 1 {
            reader.varint()?;
        }
        let start = reader.position();
        let (indices, _) = reader.varint_with_flag()?;
        for _ in 0..reader.check_count(start, indices, "uses")? {
            reader.varint()?;
        }
    }
    Ok(())
}
