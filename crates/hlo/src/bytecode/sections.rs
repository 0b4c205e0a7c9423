//! The file: its header, its sections, and the tables that the operations refer to.

use super::Result;
use super::reader::Reader;
use std::ops::Range;

/// What every file of bytecode begins with.
pub(crate) const MAGIC: &[u8] = b"ML\xefR";

/// The newest version of the encoding that is known here.
const NEWEST: u64 = 6;

/// How long the name of an operation or a dialect may be.
const LONGEST_NAME: usize = 64;

/// The parts of a file.
pub(super) struct File<'a> {
    /// The version of the encoding.
    pub version: u64,
    pub strings: Vec<&'a [u8]>,
    /// The operations that occur, with their dialect.
    pub operations: Vec<String>,
    pub attributes: Vec<Entry>,
    pub types: Vec<Entry>,
    /// Where the properties of operations are.
    pub properties: Vec<Range<usize>>,
    /// The operations themselves.
    pub body: Reader<'a>,
}

/// Where an attribute or a type is encoded.
pub(super) struct Entry {
    pub dialect: Dialect,
    pub range: Range<usize>,
    /// Whether it is encoded in the dialect's own way; otherwise it is text.
    pub is_encoded: bool,
}

/// Whose encoding it is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Dialect {
    Builtin,
    Vhlo,
    Other,
}

/// Takes a file apart.
pub(super) fn open<'a>(bytes: &'a [u8]) -> Result<File<'a>> {
    let mut reader = Reader::new(bytes, "the header");
    if !bytes.starts_with(MAGIC) {
        return Err(reader.error("the bytes 4d 4c ef 52 of MLIR bytecode", "others"));
    }
    reader.bytes(MAGIC.len())?;
    let version_at = reader.position();
    let version = reader.variable()?;
    if version > NEWEST {
        let expected = format!("a version of at most {NEWEST} (this file is newer)");
        return Err(reader.error_at(version_at, expected, format!("{version}")));
    }
    reader.text()?;

    let mut sections: [Option<Reader<'a>>; 9] = [None; 9];
    while !reader.is_at_end() {
        let start = reader.position();
        let (id, section) = reader.section()?;
        match sections.get_mut(usize::from(id)) {
            Some(place @ None) => *place = Some(section),
            Some(_) => {
                return Err(reader.error_at(
                    start,
                    "each section once",
                    format!("section {id} again"),
                ));
            }
            None => return Err(reader.error_at(start, "a section of 0 to 8", format!("{id}"))),
        }
    }
    let [strings, dialects, entries, offsets, body, _, _, _, properties] = sections;
    let require = |section: Option<Reader<'a>>, name: &'static str| match section {
        Some(section) => Ok(section.named(name)),
        None => Err(reader.error(name, "none")),
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
        lengths.push(reader.variable()?);
    }
    let mut strings = Vec::with_capacity(count);
    // The lengths are in reverse, and count the zero byte at the end.
    for length in lengths.into_iter().rev() {
        let length = reader.check_count(reader.position(), length, "bytes of a string")?;
        let bytes = reader.bytes(length)?;
        strings.push(bytes.strip_suffix(&[0]).unwrap_or(bytes));
    }
    Ok(strings)
}

/// The dialects, and the names of operations.
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
            0 => (reader.variable()?, false),
            _ => reader.flagged()?,
        };
        let name = reader.check_index(start, name, strings.len(), "strings")?;
        names.push(name_text(&reader, start, strings[name])?);
        if has_version {
            reader.section()?;
        }
    }
    if version >= 4 {
        reader.variable()?;
    }
    let mut operations = Vec::new();
    while !reader.is_at_end() {
        let dialect = reader.index(names.len(), "dialects")?;
        let count = reader.count("operations")?;
        for _ in 0..count {
            let start = reader.position();
            let name = match version {
                0..=4 => reader.variable()?,
                _ => reader.flagged()?.0,
            };
            let name = reader.check_index(start, name, strings.len(), "strings")?;
            let name = name_text(&reader, start, strings[name])?;
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

/// The name of a dialect or an operation. It is written out at every use, so it must not be long.
fn name_text(reader: &Reader<'_>, start: usize, bytes: &[u8]) -> Result<String> {
    match std::str::from_utf8(bytes) {
        Ok(name) if name.len() <= LONGEST_NAME => Ok(name.to_string()),
        _ => {
            let expected = format!("a name of at most {LONGEST_NAME} bytes");
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
            let group = reader.variable()?;
            let group = reader.check_index(at, group, count - entries.len() + 1, what)?;
            for _ in 0..group {
                let at = reader.position();
                let (size, is_encoded) = reader.flagged()?;
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
