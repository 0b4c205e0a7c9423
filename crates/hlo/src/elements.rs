//! Elements of constants as bytes.

use crate::module::{Dense, ElementType, TensorType};
use half::{bf16, f16};
use inflight_ir::{DType, DTypeClass};

/// How many elements a tensor has; nothing if a dimension is dynamic or the number is past 64 bits.
pub(crate) fn count(ty: &TensorType) -> Option<u64> {
    if ty.dimensions.contains(&Some(0)) {
        return Some(0);
    }
    ty.dimensions.iter().try_fold(1u64, |count, extent| count.checked_mul((*extent)?))
}

/// The bytes one element takes in a constant; nothing if no constant can have such elements.
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

/// Appends an integer, if it is one of that type.
pub(crate) fn push_integer(element: &ElementType, value: i128, bytes: &mut Vec<u8>) -> Option<()> {
    let (bits, is_unsigned) = match element {
        ElementType::Core(dtype) => (8 * dtype.size(), dtype.class() == DTypeClass::Unsigned),
        ElementType::Index => (64, false),
        ElementType::Other(name) => {
            let digits = name.trim_start_matches(['u', 's', 'i']);
            (digits.parse().ok()?, name.starts_with('u'))
        }
    };
    // As in MLIR, the bits of a negative number may be written as a positive one.
    let least = if is_unsigned { 0 } else { -(1i128 << (bits - 1)) };
    if value < least || value >= 1i128 << bits {
        return None;
    }
    let value = if is_unsigned { value } else { signed(value, bits) };
    bytes.extend_from_slice(&value.to_le_bytes()[..size(element)?]);
    Some(())
}

/// The lowest bits of an integer, the first of them the sign.
fn signed(value: i128, bits: usize) -> i128 {
    value << (128 - bits) >> (128 - bits)
}

/// The bits of an integer type that does not fill its bytes, and whether it has a sign.
fn part_of_its_bytes(element: &ElementType, size: usize) -> Option<(usize, bool)> {
    let ElementType::Other(name) = element else { return None };
    let bits = name.trim_start_matches(['u', 's']).strip_prefix('i')?.parse().ok()?;
    (1..8 * size).contains(&bits).then_some((bits, !name.starts_with('u')))
}

/// Appends a floating point number, rounded to that type.
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

/// A constant from the bytes MLIR keeps: all elements, or one for all; booleans may be bits. Gives the
/// number of bytes that were expected if it is another.
pub(crate) fn from_raw(ty: TensorType, mut bytes: Vec<u8>) -> Result<Dense, String> {
    let Some(size) = size(&ty.element) else { return Err("no".to_string()) };
    let wanted = count(&ty).and_then(|count| usize::try_from(count).ok());
    if ty.element == ElementType::Core(DType::Bool) {
        return booleans(ty, bytes, wanted);
    }
    // The other bits are the sign.
    if let Some((bits, is_signed)) = part_of_its_bytes(&ty.element, size) {
        for bytes in bytes.chunks_exact_mut(size) {
            let mut value = [0; 16];
            value[..size].copy_from_slice(bytes);
            let value = i128::from_le_bytes(value) & ((1 << bits) - 1);
            let value = if is_signed { signed(value, bits) } else { value };
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

/// Booleans are kept one in a byte, or eight in a byte, the first in the lowest bit.
fn booleans(ty: TensorType, bytes: Vec<u8>, wanted: Option<usize>) -> Result<Dense, String> {
    match wanted {
        Some(count) if count > 1 && bytes.len() == count => {
            Ok(Dense::new(ty, bytes.into_iter().map(|byte| u8::from(byte != 0)).collect()))
        }
        // One byte is a constant of one value, unless it is the bits of up to eight elements.
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
    /// A constant of all elements. One element is kept if all are the same.
    pub fn new(ty: TensorType, bytes: Vec<u8>) -> Dense {
        let size = size(&ty.element).unwrap_or(1);
        let is_splat = match bytes.get(..size) {
            // Equal to itself shifted by one element.
            Some(first) => bytes.chunks_exact(size).all(|element| element == first),
            None => false,
        };
        let bytes = if is_splat { bytes[..size].into() } else { bytes.into() };
        Dense { ty, bytes, is_splat }
    }

    /// A constant of one element for all.
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
    fn equal_elements_are_kept_once() {
        let dense = Dense::new(tensor(&[2], DType::I16), vec![1, 0, 1, 0]);
        assert_eq!((dense.bytes.as_ref(), dense.is_splat), (&[1, 0][..], true));
        let dense = Dense::new(tensor(&[2], DType::I16), vec![1, 1, 1, 0]);
        assert_eq!((dense.bytes.len(), dense.is_splat), (4, false));
        let dense = Dense::splat(tensor(&[3, 0], DType::I16), vec![1, 1]);
        assert_eq!((dense.bytes.len(), dense.is_splat), (0, false));
    }

    #[test]
    fn booleans_are_bits_or_bytes() {
        let of = |count, bytes: &[u8]| from_raw(tensor(&[count], DType::Bool), bytes.to_vec());
        assert_eq!(of(10, &[0b0000_0101, 0b10]).unwrap().bytes[..], [1, 0, 1, 0, 0, 0, 0, 0, 0, 1]);
        assert_eq!(of(3, &[1, 0, 1]).unwrap().bytes[..], [1, 0, 1]);
        assert_eq!(of(3, &[0b101]).unwrap().bytes[..], [1, 0, 1]);
        assert!(of(1000, &[0xff]).unwrap().is_splat);
        assert_eq!(of(10, &[0, 0, 0]), Err("2 or 10".to_string()));
    }

    #[test]
    fn integers_smaller_than_a_byte_are_extended() {
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
    fn huge_types_are_fine_with_one_element() {
        let ty = tensor(&[u64::MAX >> 1, 4], DType::F32);
        assert_eq!(count(&ty), None);
        assert!(from_raw(ty.clone(), vec![0; 4]).unwrap().is_splat);
        assert!(from_raw(ty, vec![0; 8]).is_err());
    }

    #[test]
    fn sizes_of_types_the_core_does_not_have() {
        let size = |name: &str| size(&ElementType::Other(name.to_string()));
        assert_eq!((size("i4"), size("ui4"), size("f8E4M3FN")), (Some(1), Some(1), Some(1)));
        assert_eq!((size("!quant.uniform<i8:f32>"), size("i128")), (None, None));
    }
}
