//! Executables in files.
//!
//! A file holds the program, in the form it was read in, and its name. Kernels are not in it: they are compiled,
//! or found in the disk cache, when it is loaded.

use super::executable::Executable;
use super::source::{Form, Program};
use crate::io::{file_error, read_file, replace_file};
use crate::runtime::Device;
use crate::{Error, Result};
use std::io::Write;
use std::path::Path;

/// What every file begins with.
const MAGIC: &[u8; 16] = b"inflight program";

/// The version of the format, which a reader must know.
const VERSION: u32 = 1;

/// Magic, version, the length and the checksum of what follows.
const HEADER: usize = 16 + 4 + 8 + 8;

impl Executable {
    /// Writes the executable to a file, for [`Executable::load`].
    ///
    /// # Errors
    /// If the file cannot be written, or if the program was given as graphs.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<()> {
        let path = path.as_ref();
        let program = self.program();
        let Form::Written { source, .. } = &program.form else {
            let message = "a program that was given as graphs cannot be saved";
            return Err(Error::Invalid(format!("{}: {message}", program.name)));
        };
        let name = program.name.as_bytes();
        let mut body = Vec::with_capacity(4 + name.len() + source.len());
        body.extend((name.len() as u32).to_le_bytes());
        body.extend(name);
        body.extend(source.iter());
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

    /// Reads an executable that was [saved](Executable::save), and makes it ready on a device.
    ///
    /// # Errors
    /// If the file cannot be read, if it is not a whole and unchanged file of this kind and version, or if the
    /// device cannot compile the program.
    pub fn load(path: impl AsRef<Path>, device: &Device) -> Result<Executable> {
        let path = path.as_ref();
        let bytes = read_file(path)?;
        let (name, source) = parts(&bytes).map_err(|message| file_error(path, message))?;
        device.compile(&Program::read(source, Some(name))?)
    }
}

/// The name and the source in a file, or what is wrong with it.
fn parts(bytes: &[u8]) -> std::result::Result<(&str, &[u8]), String> {
    if !bytes.starts_with(MAGIC) {
        return Err(
            "not an executable that was saved; programs are read by Program::load".to_owned()
        );
    }
    let header = bytes.get(..HEADER).ok_or("the file ends within its header: it was cut off")?;
    let version = u32::from_le_bytes(header[16..20].try_into().expect("four bytes"));
    if version != VERSION {
        return Err(format!(
            "written in version {version} of the format, this is version {VERSION}; save it anew"
        ));
    }
    let length = u64::from_le_bytes(header[20..28].try_into().expect("eight bytes"));
    let sum = u64::from_le_bytes(header[28..].try_into().expect("eight bytes"));
    let body = &bytes[HEADER..];
    if body.len() as u64 != length {
        return Err(format!("{length} bytes should follow the header, {} do", body.len()));
    }
    if checksum(body) != sum {
        return Err("its checksum does not fit what it holds: it was changed".to_owned());
    }
    let broken = || "the name of the program is broken".to_owned();
    let (length, rest) = body.split_first_chunk::<4>().ok_or_else(broken)?;
    let (name, source) =
        rest.split_at_checked(u32::from_le_bytes(*length) as usize).ok_or_else(broken)?;
    Ok((std::str::from_utf8(name).map_err(|_| broken())?, source))
}

/// FNV-1a.
fn checksum(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |sum, &byte| {
        (sum ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}
