//! Byte encoding of dense constants: element sizes, splats, bit-packed booleans and sub-byte integers.

use crate::module::{Dense, ElementType, TensorType};
use half::{bf16, f16};
use inflight_ir::{DType, DTypeClass};

/// The number of elements of a tensor. `None` if a dimension is dynamic or the product overflows 64 bits.
pub(crate) fn count(ty: &TensorType) -> Option<u64> {
    if ty.dimensions.contains(&Some(0)) {
        return Some(0);
    }
    ty.dimensions.iter().try_fold(1u64, |count, extent| count.checked_mul((*extent)?))
}

/// The size of one element of a constant in bytes. `None` if constants cannot have elements of this type.
pub(crate) fn size(element: &ElementType) -> Option<usize> {
    match element {
        ElementType::Core(dtype) => Some(dtype.size()),
        ElementType::Index => Some(8),
        ElementType::Other(name) => {
            let digits = name.trim_start_matches(['u', 's', 'i', 'f']);
            let digits: String = digits.chars().take_while(char::is_ascii_digit).collect();
            match (name.starts_with(['u', 's', 'i', 'f']), digits.parse::<usize>()) {
                (true, Ok(bits)) if (1..=64).contains(&bits) => {
                    Some(bits.div_ceil(8).next_power_of_two())
                }
                _ => None,
            }
        }
    }
}

/// Appends an integer in the encoding of the element type. `None` if it is out of range.
pub(crate) fn push_integer(element: &ElementType, value: i128, bytes: &mut Vec<u8>) -> Option<()> {
    let (bits, is_unsigned) = match element {
        ElementType::Core(dtype) => (8 * dtype.size(), dtype.class() == DTypeClass::Unsigned),
        ElementType::Index => (64, false),
        ElementType::Other(name) => {
            let digits = name.trim_start_matches(['u', 's', 'i']);
            (digits.parse().ok()?, name.starts_with('u'))
        }
    };
    // As in MLIR, a negative value may be written as the unsigned value with the same bits.
    let least = if is_unsigned { 0 } else { -(1i128 << (bits - 1)) };
    if value < least || value >= 1i128 << bits {
        return None;
    }
    let value = if is_unsigned { value } else { sign_extend(value, bits) };
    bytes.extend_from_slice(&value.to_le_bytes()[..size(element)?]);
    Some(())
}

/// Sign-extends the lowest `bits` bits.
fn sign_extend(value: i128, bits: usize) -> i128 {
    value << (128 - bits) >> (128 - bits)
}

/// The bit width and signedness of an integer type that is narrower than its storage, such as `i4`.
fn sub_byte_width(element: &ElementType, size: usize) -> Option<(usize, bool)> {
    let ElementType::Other(name) = element else { return None };
    let bits = name.trim_start_matches(['u', 's']).strip_prefix('i')?.parse().ok()?;
    (1..8 * size).contains(&bits).then_some((bits, !name.starts_with('u')))
}

/// Appends a floating point value, rounded to the element type.
pub(crate) fn push_float(element: &ElementType, value: f64, bytes: &mut Vec<u8>) -> Option<()> {
    match element {
        ElementType::Core(DType::F16) => {
            bytes.extend_from_slice(&f16::from_f64(value).to_le_bytes());
        }
        ElementType::Core(DType::BF16) => {
            bytes.extend_from_slice(&bf16::from_f64(value).to_le_bytes());
        }
        ElementType::Core(DType::F32) => bytes.extend_from_slice(&(value as f32).to_le_bytes()),
        ElementType::Core(DType::F64) => bytes.extend_from_slice(&value.to_le_bytes()),
        ElementType::Other(name) => bytes.push(crate::small_floats::encode(name, value)?),
        _ => return None,
    }
    Some(())
}

/// A constant from MLIR's raw byte encoding: all elements or a splat; booleans may be packed to bits. If the length
/// is wrong, the error is the expected number of bytes.
pub(crate) fn from_raw(ty: TensorType, mut bytes: Vec<u8>) -> Result<Dense, String> {
    let Some(size) = size(&ty.element) else { return Err("no".to_string()) };
    let wanted = count(&ty).and_then(|count| usize::try_from(count).ok());
    if ty.element == ElementType::Core(DType::Bool) {
        return booleans_from_raw(ty, bytes, wanted);
    }
    // The padding bits may hold anything: replace them by the sign bit, or by zeros.
    if let Some((bits, is_signed)) = sub_byte_width(&ty.element, size) {
        for bytes in bytes.chunks_exact_mut(size) {
            let mut value = [0; 16];
            value[..size].copy_from_slice(bytes);
            let value = i128::from_le_bytes(value) & ((1 << bits) - 1);
            let value = if is_signed { sign_extend(value, bits) } else { value };
            bytes.copy_from_slice(&value.to_le_bytes()[..size]);
        }
    }
    let all = wanted.and_then(|count| count.checked_mul(size));
    if all == Some(bytes.len()) {
        return Ok(Dense::new(ty, bytes));
    }
    if bytes.len() == size && all != Some(0) {
        return Ok(Dense::splat(ty, bytes));
    }
    Err(match all {
        Some(all) => format!("{all} or {size}"),
        None => format!("{size}"),
    })
}

/// Booleans are stored one per byte, or eight per byte with the first in the lowest bit.
fn booleans_from_raw(
    ty: TensorType,
    bytes: Vec<u8>,
    wanted: Option<usize>,
) -> Result<Dense, String> {
    match wanted {
        Some(count) if count > 1 && bytes.len() == count => {
            Ok(Dense::new(ty, bytes.into_iter().map(|byte| u8::from(byte != 0)).collect()))
        }
        // One byte is a splat, unless it holds the bits of up to eight elements.
        _ if bytes.len() == 1 && (matches!(bytes[0], 0 | 0xff) || wanted == Some(1)) => {
            Ok(Dense::splat(ty, vec![u8::from(bytes[0] != 0)]))
        }
        Some(count) if bytes.len() == count.div_ceil(8) => {
            let bit = |index: usize| bytes[index / 8] >> (index % 8) & 1;
            Ok(Dense::new(ty, (0..count).map(bit).collect()))
        }
        Some(count) => Err(format!("{} or {count}", count.div_ceil(8))),
        None => Err("1".to_string()),
    }
}

impl Dense {
    /// A constant from all of its elements. Equal elements are stored once, as a splat.
    pub fn new(ty: TensorType, bytes: Vec<u8>) -> Dense {
        let size = size(&ty.element).unwrap_or(1);
        let is_splat = match bytes.get(..size) {
            Some(first) => bytes.chunks_exact(size).all(|element| element == first),
            None => false,
        };
        let bytes = if is_splat { bytes[..size].into() } else { bytes.into() };
        Dense { ty, bytes, is_splat }
    }

    /// A constant whose elements are all equal to `element`.
    pub fn splat(ty: TensorType, element: Vec<u8>) -> Dense {
        if count(&ty) == Some(0) {
            return Dense { ty, bytes: [].into(), is_splat: false };
        }
        Dense { ty, bytes: element.into(), is_splat: true }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tensor(dimensions: &[u64], dtype: DType) -> TensorType {
        let dimensions = dimensions.iter().copied().map(Some).collect();
        TensorType { dimensions, element: ElementType::Core(dtype) }
    }

    #[test]
    fn equal_elements_become_a_splat() {
        let dense = Dense::new(tensor(&[2], DType::I16), vec![1, 0, 1, 0]);
        assert_eq!((dense.bytes.as_ref(), dense.is_splat), (&[1, 0][..], true));
        let dense = Dense::new(tensor(&[2], DType::I16), vec![1, 1, 1, 0]);
        assert_eq!((dense.bytes.len(), dense.is_splat), (4, false));
        let dense = Dense::splat(tensor(&[3, 0], DType::I16), vec![1, 1]);
        assert_eq!((dense.bytes.len(), dense.is_splat), (0, false));
    }

    #[test]
    fn raw_booleans_are_packed_bits_or_bytes() {
        let of = |count, bytes: &[u8]| from_raw(tensor(&[count], DType::Bool), bytes.to_vec());
        assert_eq!(of(10, &[0b0000_0101, 0b10]).unwrap().bytes[..], [1, 0, 1, 0, 0, 0, 0, 0, 0, 1]);
        assert_eq!(of(3, &[1, 0, 1]).unwrap().bytes[..], [1, 0, 1]);
        assert_eq!(of(3, &[0b101]).unwrap().bytes[..], [1, 0, 1]);
        assert!(of(1000, &[0xff]).unwrap().is_splat);
        assert_eq!(of(10, &[0, 0, 0]), Err("2 or 10".to_string()));
    }

    #[test]
    fn sub_byte_integers_are_sign_or_zero_extended() {
        let of = |name: &str, bytes: &[u8]| {
            let element = ElementType::Other(name.to_string());
            from_raw(TensorType { dimensions: vec![Some(2)], element }, bytes.to_vec()).unwrap()
        };
        assert_eq!(of("i4", &[14, 0xf3]).bytes[..], [0xfe, 3]);
        assert_eq!(of("ui4", &[14, 0xf3]).bytes[..], [14, 3]);
        let mut bytes = Vec::new();
        push_integer(&ElementType::Other("i4".to_string()), 14, &mut bytes).unwrap();
        assert_eq!(bytes, [0xfe]);
    }

    #[test]
    fn splat_of_a_type_that_overflows_is_accepted() {
        let ty = tensor(&[u64::MAX >> 1, 4], DType::F32);
        assert_eq!(count(&ty), None);
        assert!(from_raw(ty.clone(), vec![0; 4]).unwrap().is_splat);
        assert!(from_raw(ty, vec![0; 8]).is_err());
    }

    #[test]
    fn sizes_of_element_types_without_a_core_dtype() {
        let size = |name: &str| size(&ElementType::Other(name.to_string()));
        assert_eq!((size("i4"), size("ui4"), size("f8E4M3FN")), (Some(1), Some(1), Some(1)));
        assert_eq!((size("!quant.uniform<i8:f32>"), size("i128")), (None, None));
    }
}
