//! Executables in files.
//!
//! A file holds the program, in the form it was read in, its name, and its kernels as they were compiled. Where it
//! is loaded by the same compiler, which is known by its exact name, nothing is compiled; elsewhere, kernels are.

use super::executable::Executable;
use super::source::{Program, ProgramSource};
use crate::io::{file_error, read_file, replace_file};
use crate::runtime::Device;
use crate::{Error, Result};
use rustc_hash::FxHashMap;
use std::io::Write;
use std::path::Path;
use std::sync::Arc;

/// What every file begins with.
const MAGIC: &[u8; 16] = b"inflight program";

/// The version of the format, which a reader must know.
const VERSION: u32 = 2;

/// Magic, version, the length and the checksum of what follows.
const HEADER_BYTES: usize = 16 + 4 + 8 + 8;

impl Executable {
    /// Writes the executable to a file, for [`Executable::load`], with all that was compiled for it so far.
    ///
    /// # Errors
    /// If the file cannot be written, or if the program was given as graphs.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<()> {
        let path = path.as_ref();
        let program = self.program();
        let ProgramSource::StableHlo { source, .. } = &program.source else {
            let message = "a program that was given as graphs cannot be saved";
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
        // In the same order whenever it is saved.
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

    /// Reads an executable that was [saved](Executable::save), and makes it ready on a device. The machine code in
    /// the file is run, so the file must be one that you trust as you trust a program.
    ///
    /// # Errors
    /// If the file cannot be read, if it is not a whole and unchanged file of this kind and version, or if the
    /// device cannot compile the program.
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

/// What is in a file.
struct ExecutableFile<'a> {
    name: &'a str,
    source: &'a [u8],
    /// What each kernel is found by, and its code.
    kernels: Vec<(&'a [u8], &'a [u8])>,
}

/// Appends the length of some bytes, and the bytes.
fn write_field(body: &mut Vec<u8>, bytes: &[u8]) {
    body.extend((bytes.len() as u64).to_le_bytes());
    body.extend(bytes);
}

/// Takes what [`write_field`] appended.
fn read_field<'a>(body: &mut &'a [u8]) -> Option<&'a [u8]> {
    let (length, rest) = body.split_first_chunk::<8>()?;
    let (bytes, rest) = rest.split_at_checked(u64::from_le_bytes(*length).try_into().ok()?)?;
    *body = rest;
    Some(bytes)
}

/// The parts of a file, or what is wrong with it.
fn parse(bytes: &[u8]) -> std::result::Result<ExecutableFile<'_>, String> {
    if !bytes.starts_with(MAGIC) {
        return Err(
            "not an executable that was saved; programs are read by Program::load".to_owned()
        );
    }
    let header =
        bytes.get(..HEADER_BYTES).ok_or("the file ends within its header: it was cut off")?;
    let version = u32::from_le_bytes(header[16..20].try_into().expect("four bytes"));
    if version != VERSION {
        return Err(format!(
            "written in version {version} of the format, this is version {VERSION}; save it anew"
        ));
    }
    let length = u64::from_le_bytes(header[20..28].try_into().expect("eight bytes"));
    let sum = u64::from_le_bytes(header[28..].try_into().expect("eight bytes"));
    let body = &bytes[HEADER_BYTES..];
    if body.len() as u64 != length {
        return Err(format!("{length} bytes should follow the header, {} do", body.len()));
    }
    if checksum(body) != sum {
        return Err("its checksum does not fit what it holds: it was changed".to_owned());
    }
    let truncated_field = || "its parts are not as long as they say".to_owned();
    let mut rest = body;
    let name = read_field(&mut rest).ok_or_else(truncated_field)?;
    let name = std::str::from_utf8(name).map_err(|_| "the program's name is no text".to_owned())?;
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
