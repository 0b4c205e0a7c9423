//! Saved executables (serialization).
//!
//! A file holds the program's name, its source and its compiled kernels. Loaded with the same compiler, which is
//! identified exactly, nothing is compiled; otherwise the kernels are compiled again.

use super::executable::Executable;
use super::source::{Program, ProgramSource};
use crate::io::{file_error, read_file, replace_file};
use crate::runtime::Device;
use crate::{Error, Result};
use rustc_hash::FxHashMap;
use std::io::Write;
use std::path::Path;
use std::sync::Arc;

/// Magic bytes at the start of every file.
const MAGIC: &[u8; 16] = b"inflight program";

/// Version of the file format.
const VERSION: u32 = 2;

/// Header: magic, version, and the length and checksum of the body.
const HEADER_BYTES: usize = 16 + 4 + 8 + 8;

impl Executable {
    /// Saves the executable to a file for [`Executable::load`], with all kernels compiled so far.
    ///
    /// # Errors
    /// [`Error::File`] if the file cannot be written; [`Error::Invalid`] for a program that was built from graphs.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<()> {
        let path = path.as_ref();
        let program = self.program();
        let ProgramSource::StableHlo { source, .. } = &program.source else {
            let message = "cannot save a program that was built from graphs; only one read from StableHLO can be saved";
            return Err(Error::Invalid(format!("{}: {message}", program.name)));
        };
        let name = program.name.as_bytes();
        let mut body = Vec::with_capacity(12 + name.len() + source.len());
        write_field(&mut body, name);
        write_field(&mut body, source);
        let mut kernels = FxHashMap::default();
        for compiled in self.all_compiled() {
            let plans = compiled.plans();
            kernels.extend(
                plans.iter().flat_map(|plan| self.device().dispatcher().serialized_kernels(plan)),
            );
        }
        // Sorted, so that files are reproducible.
        let mut kernels: Vec<(Vec<u8>, Arc<[u8]>)> = kernels.into_iter().collect();
        kernels.sort_unstable();
        for (key, code) in &kernels {
            write_field(&mut body, key);
            write_field(&mut body, code);
        }
        replace_file(path, |temporary| {
            let written = std::fs::File::create(temporary).and_then(|mut file| {
                file.write_all(MAGIC)?;
                file.write_all(&VERSION.to_le_bytes())?;
                file.write_all(&(body.len() as u64).to_le_bytes())?;
                file.write_all(&checksum(&body).to_le_bytes())?;
                file.write_all(&body)
            });
            written.map_err(|error| file_error(path, error))
        })
    }

    /// Loads a [saved](Executable::save) executable for a device. Compiles kernels only if they were saved by
    /// another compiler. The machine code in the file is executed, so load only files that you trust like a
    /// program.
    ///
    /// # Errors
    /// [`Error::File`] if the file cannot be read, is damaged, or has another version of the format;
    /// [`Error::Program`] if the device cannot compile the program.
    pub fn load(path: impl AsRef<Path>, device: &Device) -> Result<Executable> {
        let path = path.as_ref();
        let bytes = read_file(path)?;
        let ExecutableFile { name, source, kernels } =
            parse(&bytes).map_err(|message| file_error(path, message))?;
        let program = Program::read(source, Some(name))?;
        device
            .dispatcher()
            .preload_kernels(kernels.into_iter().map(|(key, code)| (key.into(), code.into())));
        device.compile(&program)
    }
}

/// Contents of a file.
struct ExecutableFile<'a> {
    name: &'a str,
    source: &'a [u8],
    /// Key and machine code of each kernel.
    kernels: Vec<(&'a [u8], &'a [u8])>,
}

/// Appends a length-prefixed field.
fn write_field(body: &mut Vec<u8>, bytes: &[u8]) {
    body.extend((bytes.len() as u64).to_le_bytes());
    body.extend(bytes);
}

/// Reads a field written by [`write_field`].
fn read_field<'a>(body: &mut &'a [u8]) -> Option<&'a [u8]> {
    let (length, rest) = body.split_first_chunk::<8>()?;
    let (bytes, rest) = rest.split_at_checked(u64::from_le_bytes(*length).try_into().ok()?)?;
    *body = rest;
    Some(bytes)
}

/// Parses and validates a file.
fn parse(bytes: &[u8]) -> std::result::Result<ExecutableFile<'_>, String> {
    if !bytes.starts_with(MAGIC) {
        return Err(
            "not a file of Executable::save; read StableHLO programs with Program::load".to_owned()
        );
    }
    let header = bytes.get(..HEADER_BYTES).ok_or_else(|| {
        format!("truncated: expected a header of {HEADER_BYTES} bytes, found {}", bytes.len())
    })?;
    let version = u32::from_le_bytes(header[16..20].try_into().expect("four bytes"));
    if version != VERSION {
        return Err(format!(
            "has format version {version}, expected {VERSION}; save it again with this version of inflight"
        ));
    }
    let length = u64::from_le_bytes(header[20..28].try_into().expect("eight bytes"));
    let sum = u64::from_le_bytes(header[28..].try_into().expect("eight bytes"));
    let body = &bytes[HEADER_BYTES..];
    if body.len() as u64 != length {
        return Err(format!(
            "damaged: expected {length} bytes after the header, found {}",
            body.len()
        ));
    }
    if checksum(body) != sum {
        return Err("damaged: its checksum does not match its contents".to_owned());
    }
    let truncated_field = || "damaged: a field extends past the end of the file".to_owned();
    let mut rest = body;
    let name = read_field(&mut rest).ok_or_else(truncated_field)?;
    let name = std::str::from_utf8(name)
        .map_err(|_| "damaged: the program's name is not UTF-8".to_owned())?;
    let source = read_field(&mut rest).ok_or_else(truncated_field)?;
    let mut kernels = Vec::new();
    while !rest.is_empty() {
        let (key, code) = (read_field(&mut rest), read_field(&mut rest));
        kernels.push((key.ok_or_else(truncated_field)?, code.ok_or_else(truncated_field)?));
    }
    Ok(ExecutableFile { name, source, kernels })
}

/// FNV-1a.
fn checksum(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |sum, &byte| {
        (sum ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}
