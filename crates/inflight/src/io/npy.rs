//! NumPy's `.npy` files.

use super::{file_error, read_file, replace_file};
use crate::runtime::{Device, WaitReason};
use crate::{Complex, DType, Result, Shape, Tensor, f16};
use npyz::{NpyFile, NpyHeader, Order, TypeChar, WriterBuilder};
use std::fs::File;
use std::io::{BufWriter, Write};
use std::panic::Location;
use std::path::Path;

/// Dispatches on the dtypes that NumPy has.
macro_rules! match_numpy {
    ($dtype:expr, $T:ident => $body:expr, else $other:expr) => {
        match_dtype!($dtype, $T => $body, DType::BF16 => $other;
            Bool bool, I8 i8, I16 i16, I32 i32, I64 i64, U8 u8, U16 u16, U32 u32, U64 u64,
            F16 f16, F32 f32, F64 f64, C64 Complex<f32>, C128 Complex<f64>)
    };
}

/// Loads the array of a `.npy` file, of any byte order and in C or Fortran order. Does not wait for the upload.
///
/// # Errors
/// [`Error::File`](crate::Error::File) if the file cannot be read, is damaged, or has an unsupported element type.
pub fn load_npy(path: impl AsRef<Path>, device: &Device) -> Result<Tensor> {
    let path = path.as_ref();
    let bytes = read_file(path)?;
    let array = Array::parse(&bytes).map_err(|message| file_error(path, message))?;
    let Array { dtype, shape, is_fortran_order, file } = array;
    match_numpy!(dtype, T => {
        let elements = file.into_vec::<T>().map_err(|error| file_error(path, error))?;
        match is_fortran_order {
            true => Tensor::from_vec_column_major(elements, shape, device),
            false => Tensor::from_vec(elements, shape, device),
        }
    }, else unreachable!("NumPy has no bf16"))
}

/// Saves a tensor as a `.npy` file. Waits for its value.
///
/// # Errors
/// The tensor's own error; [`Error::File`](crate::Error::File) if the file cannot be written, or for `bf16`, which
/// NumPy does not have: cast to `f32` first.
#[track_caller]
pub fn save_npy(path: impl AsRef<Path>, tensor: &Tensor) -> Result<()> {
    let location = Location::caller();
    let path = path.as_ref();
    if tensor.dtype() == DType::BF16 {
        tensor.check()?;
        let message = "NumPy has no bf16: save .cast(DType::F32), or a .safetensors file";
        return Err(file_error(path, message));
    }
    tensor.wait_for_value(WaitReason::Read, location)?;
    let shape: Vec<u64> = tensor.shape().iter().map(|&extent| extent as u64).collect();
    replace_file(path, |temporary| {
        match_numpy!(tensor.dtype(), T => {
            let elements = tensor.to_vec::<T>()?;
            write(temporary, &shape, &elements).map_err(|error| file_error(path, error))
        }, else unreachable!("bf16 was rejected above"))
    })
}

fn write<T: npyz::AutoSerialize>(
    path: &Path,
    shape: &[u64],
    elements: &[T],
) -> std::io::Result<()> {
    let mut file = BufWriter::new(File::create(path)?);
    let mut writer =
        npyz::WriteOptions::new().default_dtype().shape(shape).writer(&mut file).begin_nd()?;
    elements.iter().try_for_each(|element| writer.push(element))?;
    writer.finish()?;
    file.flush()
}

/// A parse result, with an error message.
type Parsed<T> = std::result::Result<T, String>;

/// A file with a valid header and complete data.
struct Array<'a> {
    dtype: DType,
    shape: Shape,
    is_fortran_order: bool,
    file: NpyFile<&'a [u8]>,
}

impl Array<'_> {
    fn parse(bytes: &[u8]) -> Parsed<Array<'_>> {
        check_header(bytes)?;
        let mut data = bytes;
        let header = NpyHeader::from_reader(&mut data).map_err(|error| error.to_string())?;
        let dtype = dtype(&header)?;
        let extents: Option<Shape> =
            header.shape().iter().map(|&extent| usize::try_from(extent).ok()).collect();
        let shape = extents
            .filter(|shape| shape.checked_element_count().is_some())
            .ok_or_else(|| format!("the shape {:?} is too large", header.shape()))?;
        let expected = shape.element_count() * dtype.size();
        if data.len() != expected {
            return Err(format!(
                "{dtype}{shape} needs {expected} bytes after the header, found {}",
                data.len()
            ));
        }
        let is_fortran_order = header.order() == Order::Fortran;
        let file = NpyFile::with_header(header, data);
        Ok(Array { dtype, shape, is_fortran_order, file })
    }
}

fn dtype(header: &NpyHeader) -> Parsed<DType> {
    let descr = header.dtype();
    let plain = match &descr {
        npyz::DType::Plain(plain) => Some((plain.type_char(), plain.size_field())),
        _ => None,
    };
    Ok(match plain {
        Some((TypeChar::Bool, 1)) => DType::Bool,
        Some((TypeChar::Int, 1)) => DType::I8,
        Some((TypeChar::Int, 2)) => DType::I16,
        Some((TypeChar::Int, 4)) => DType::I32,
        Some((TypeChar::Int, 8)) => DType::I64,
        Some((TypeChar::Uint, 1)) => DType::U8,
        Some((TypeChar::Uint, 2)) => DType::U16,
        Some((TypeChar::Uint, 4)) => DType::U32,
        Some((TypeChar::Uint, 8)) => DType::U64,
        Some((TypeChar::Float, 2)) => DType::F16,
        Some((TypeChar::Float, 4)) => DType::F32,
        Some((TypeChar::Float, 8)) => DType::F64,
        Some((TypeChar::Complex, 8)) => DType::C64,
        Some((TypeChar::Complex, 16)) => DType::C128,
        _ => {
            let accepted = "booleans, integers, floats of 2, 4 or 8 bytes, or complex floats";
            return Err(format!("found elements of type {}, expected {accepted}", descr.descr()));
        }
    })
}

/// Rejects headers that the parser cannot handle: it recurses on brackets and multiplies extents unchecked.
fn check_header(bytes: &[u8]) -> Parsed<()> {
    const MAX_DEPTH: usize = 16;
    let truncated =
        || format!("truncated: the file ends within its header, after {} bytes", bytes.len());
    if !bytes.starts_with(b"\x93NUMPY") {
        return Err("not a .npy file: it does not start with \\x93NUMPY".to_owned());
    }
    let header = match bytes.get(6).ok_or_else(truncated)? {
        1 => bytes.get(8..10).map(|len| (10, u16::from_le_bytes([len[0], len[1]]) as usize)),
        _ => bytes
            .get(8..12)
            .map(|len| (12, u32::from_le_bytes([len[0], len[1], len[2], len[3]]) as usize)),
    };
    let (start, len) = header.ok_or_else(truncated)?;
    let text = bytes[start..].get(..len).ok_or_else(truncated)?;
    let mut depth = 0usize;
    for byte in text {
        match byte {
            b'(' | b'[' | b'{' => depth += 1,
            b')' | b']' | b'}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth > MAX_DEPTH {
            return Err("damaged header: brackets nested too deeply".to_owned());
        }
    }
    let mut extents = text.split(|byte| !byte.is_ascii_digit()).filter(|digits| !digits.is_empty());
    let product = extents.try_fold(1u64, |product, digits| {
        let extent = digits.iter().try_fold(0u64, |extent, digit| {
            extent.checked_mul(10)?.checked_add(u64::from(digit - b'0'))
        });
        product.checked_mul(extent?.max(1))
    });
    product.map(|_| ()).ok_or_else(|| "damaged header: the shape is too large".to_owned())
}
