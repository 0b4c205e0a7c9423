//! File structure of MLIR bytecode: header, sections, and the string, dialect, attribute and type tables.

use super::Result;
use super::reader::Reader;
use std::ops::Range;

/// The magic number at the beginning of an MLIR bytecode file.
pub(crate) const MAGIC: &[u8] = b"ML\xefR";

/// The newest supported bytecode version.
const MAX_VERSION: u64 = 6;

/// The maximum length of the name of an operation or a dialect.
const MAX_NAME_LENGTH: usize = 64;

/// The sections of a file.
pub(super) struct File<'a> {
    /// The bytecode version.
    pub version: u64,
    pub strings: Vec<&'a [u8]>,
    /// The names of the operations in use, with their dialect.
    pub operations: Vec<String>,
    pub attributes: Vec<Entry>,
    pub types: Vec<Entry>,
    /// The byte ranges of the operations' properties.
    pub properties: Vec<Range<usize>>,
    /// The IR section.
    pub body: Reader<'a>,
}

/// The location of an encoded attribute or type.
pub(super) struct Entry {
    pub dialect: Dialect,
    pub range: Range<usize>,
    /// Whether it has the dialect's custom encoding; otherwise it is text.
    pub is_encoded: bool,
}

/// The dialect that an attribute or a type belongs to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Dialect {
    Builtin,
    Vhlo,
    Other,
}

/// Reads the header and the tables of a file.
pub(super) fn read_file<'a>(bytes: &'a [u8]) -> Result<File<'a>> {
    let mut reader = Reader::new(bytes, "the header");
    if !bytes.starts_with(MAGIC) {
        return Err(reader.error("the magic number 4d 4c ef 52 of MLIR bytecode", "other bytes"));
    }
    reader.bytes(MAGIC.len())?;
    let version_at = reader.position();
    let version = reader.varint()?;
    if version > MAX_VERSION {
        let expected =
            format!("bytecode version {MAX_VERSION} or older (export for an older version)");
        return Err(reader.error_at(version_at, expected, format!("{version}")));
    }
    reader.null_terminated()?;

    let mut sections: [Option<Reader<'a>>; 9] = [None; 9];
    while !reader.is_at_end() {
        let start = reader.position();
        let (id, section) = reader.section()?;
        match sections.get_mut(usize::from(id)) {
            Some(slot @ None) => *slot = Some(section),
            Some(_) => {
                return Err(reader.error_at(
                    start,
                    "each section once",
                    format!("section {id} again"),
                ));
            }
            None => return Err(reader.error_at(start, "a section id of 0 to 8", format!("{id}"))),
        }
    }
    let [strings, dialects, entries, offsets, body, _, _, _, properties] = sections;
    let require = |section: Option<Reader<'a>>, name: &'static str| match section {
        Some(section) => Ok(section.named(name)),
        None => Err(reader.error(name, "no such section")),
    };
    let strings = read_strings(require(strings, "the string section")?)?;
    let (dialects, operations) =
        read_dialects(require(dialects, "the dialect section")?, version, &strings)?;
    let entries = require(entries, "the attribute section")?;
    let offsets = require(offsets, "the section of attribute offsets")?;
    let (attributes, types) = read_offsets(offsets, entries, &dialects)?;
    let properties = match properties {
        Some(section) => read_properties(section.named("the property section"))?,
        None => Vec::new(),
    };
    let body = require(body, "the operation section")?;
    Ok(File { version, strings, operations, attributes, types, properties, body })
}

fn read_strings(mut reader: Reader<'_>) -> Result<Vec<&[u8]>> {
    let count = reader.count("strings")?;
    let mut lengths = Vec::with_capacity(count);
    for _ in 0..count {
        lengths.push(reader.varint()?);
    }
    let mut strings = Vec::with_capacity(count);
    // The lengths are stored in reverse order and include the terminating zero byte.
    for length in lengths.into_iter().rev() {
        let length = reader.check_count(reader.position(), length, "bytes of a string")?;
        let bytes = reader.bytes(length)?;
        strings.push(bytes.strip_suffix(&[0]).unwrap_or(bytes));
    }
    Ok(strings)
}

/// Reads the dialects and the operation names.
fn read_dialects(
    mut reader: Reader<'_>,
    version: u64,
    strings: &[&[u8]],
) -> Result<(Vec<Dialect>, Vec<String>)> {
    let count = reader.count("dialects")?;
    let mut names = Vec::with_capacity(count);
    for _ in 0..count {
        let start = reader.position();
        let (name, has_version) = match version {
            0 => (reader.varint()?, false),
            _ => reader.varint_with_flag()?,
        };
        let name = reader.check_index(start, name, strings.len(), "strings")?;
        names.push(checked_name(&reader, start, strings[name])?);
        if has_version {
            reader.section()?;
        }
    }
    if version >= 4 {
        reader.varint()?;
    }
    let mut operations = Vec::new();
    while !reader.is_at_end() {
        let dialect = reader.index(names.len(), "dialects")?;
        let count = reader.count("operations")?;
        for _ in 0..count {
            let start = reader.position();
            let name = match version {
                0..=4 => reader.varint()?,
                _ => reader.varint_with_flag()?.0,
            };
            let name = reader.check_index(start, name, strings.len(), "strings")?;
            let name = checked_name(&reader, start, strings[name])?;
            operations.push(format!("{}.{name}", names[dialect]));
        }
    }
    let dialects = names
        .iter()
        .map(|name| match name.as_str() {
            "builtin" => Dialect::Builtin,
            "vhlo" => Dialect::Vhlo,
            _ => Dialect::Other,
        })
        .collect();
    Ok((dialects, operations))
}

/// The name of a dialect or an operation. Its length is limited because every use copies it.
fn checked_name(reader: &Reader<'_>, start: usize, bytes: &[u8]) -> Result<String> {
    match std::str::from_utf8(bytes) {
        Ok(name) if name.len() <= MAX_NAME_LENGTH => Ok(name.to_string()),
        _ => {
            let expected = format!("a name of at most {MAX_NAME_LENGTH} bytes");
            Err(reader.error_at(start, expected, format!("{} bytes", bytes.len())))
        }
    }
}

fn read_offsets(
    mut reader: Reader<'_>,
    section: Reader<'_>,
    dialects: &[Dialect],
) -> Result<(Vec<Entry>, Vec<Entry>)> {
    let attributes = reader.count("attributes")?;
    let types = reader.count("types")?;
    let mut start = section.position();
    let mut table = |count: usize, what: &str| {
        let mut entries = Vec::with_capacity(count);
        while entries.len() < count {
            let dialect = dialects[reader.index(dialects.len(), "dialects")?];
            let at = reader.position();
            let group = reader.varint()?;
            let group = reader.check_index(at, group, count - entries.len() + 1, what)?;
            for _ in 0..group {
                let at = reader.position();
                let (size, is_encoded) = reader.varint_with_flag()?;
                let end = usize::try_from(size).ok().and_then(|size| start.checked_add(size));
                let Some(end) = end.filter(|end| *end <= section.end()) else {
                    let expected = "a size within the attribute section";
                    return Err(reader.error_at(at, expected, format!("{size}")));
                };
                entries.push(Entry { dialect, range: start..end, is_encoded });
                start = end;
            }
        }
        Ok(entries)
    };
    let attributes = table(attributes, "attributes")?;
    let types = table(types, "types")?;
    Ok((attributes, types))
}

fn read_properties(mut reader: Reader<'_>) -> Result<Vec<Range<usize>>> {
    let count = reader.count("properties")?;
    let mut ranges = Vec::with_capacity(count);
    for _ in 0..count {
        let length = reader.count("bytes of properties")?;
        let start = reader.position();
        reader.bytes(length)?;
        ranges.push(start..start + length);
    }
    Ok(ranges)
}
