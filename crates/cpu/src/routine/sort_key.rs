//! Order-preserving mapping of elements to unsigned integer sort keys.

use inflight_ir::graph::{FloatOrder, SortKey};
use inflight_ir::{DType, DTypeClass};
use std::fmt::Debug;

/// The bits of an element or a key, as an unsigned integer.
pub trait KeyBits: Copy + Ord + Send + Sync + Debug + 'static {
    /// KeyBits of the type.
    const BITS: u32;
    /// KeyBits of a radix-sort digit: one pass sorts by this many.
    const DIGIT_BITS: u32;

    fn from_u64(value: u64) -> Self;
    fn to_u64(self) -> u64;

    /// The digit that begins at bit `shift`.
    fn digit(self, shift: u32) -> usize {
        (self.to_u64() >> shift) as usize & ((1 << Self::DIGIT_BITS) - 1)
    }
}

macro_rules! bits {
    ($($type:ty, $digit:expr;)*) => {$(
        impl KeyBits for $type {
            const BITS: u32 = <$type>::BITS;
            const DIGIT_BITS: u32 = $digit;
            #[inline]
            fn from_u64(value: u64) -> $type {
                value as $type
            }
            #[inline]
            fn to_u64(self) -> u64 {
                self as u64
            }
        }
    )*};
}

// Counters of 11-bit digits fit the L1 cache, and 32 bits take three passes.
bits! {
    u8, 8;
    u16, 8;
    u32, 11;
    u64, 11;
}

/// The mapping from the bits of elements of one dtype to ordered keys.
#[derive(Clone, Copy, Debug)]
pub struct KeyMapping {
    class: KeyClass,
    descending: bool,
    /// The sign bit.
    sign: u64,
    /// All bits of the dtype set.
    mask: u64,
}

#[derive(Clone, Copy, Debug)]
enum KeyClass {
    Unsigned,
    Signed,
    /// Floats in the total order of their bits.
    TotalFloat,
    /// Floats by value; the field is the bits of infinity.
    NumericFloat(u64),
}

impl KeyMapping {
    /// The mapping for a dtype and a sort key.
    pub fn new(dtype: DType, key: SortKey) -> KeyMapping {
        let class = match (dtype.class(), key.floats) {
            (DTypeClass::Bool | DTypeClass::Unsigned | DTypeClass::Complex, _) => {
                KeyClass::Unsigned
            }
            (DTypeClass::Signed, _) => KeyClass::Signed,
            (DTypeClass::Float, FloatOrder::Total) => KeyClass::TotalFloat,
            (DTypeClass::Float, FloatOrder::Numeric) => KeyClass::NumericFloat(match dtype {
                DType::F16 => 0x7c00,
                DType::BF16 => 0x7f80,
                DType::F32 => 0x7f80_0000,
                _ => 0x7ff0_0000_0000_0000,
            }),
        };
        // Complex elements are never keys: only a comparator orders them.
        let sign = 1u64 << (8 * dtype.size().min(8) - 1);
        KeyMapping { class, descending: key.descending, sign, mask: sign | (sign - 1) }
    }

    /// The key of an element.
    #[inline]
    pub fn key<U: KeyBits>(self, element: U) -> U {
        let bits = element.to_u64();
        let key = match self.class {
            KeyClass::Unsigned => bits,
            KeyClass::Signed => bits ^ self.sign,
            KeyClass::TotalFloat => self.total_order(bits),
            KeyClass::NumericFloat(_) if self.is_nan(element) => self.mask,
            KeyClass::NumericFloat(_) if bits == self.sign => self.sign,
            KeyClass::NumericFloat(_) => self.total_order(bits),
        };
        U::from_u64(if self.descending { key ^ self.mask } else { key })
    }

    /// The element of a key. For floats ordered by value, the sign of a zero and the bits of a NaN are lost.
    #[inline]
    pub fn element<U: KeyBits>(self, key: U) -> U {
        let key = if self.descending { key.to_u64() ^ self.mask } else { key.to_u64() };
        U::from_u64(match self.class {
            KeyClass::Unsigned => key,
            KeyClass::Signed => key ^ self.sign,
            KeyClass::TotalFloat | KeyClass::NumericFloat(_) if key & self.sign != 0 => {
                key ^ self.sign
            }
            KeyClass::TotalFloat | KeyClass::NumericFloat(_) => key ^ self.mask,
        })
    }

    /// Whether different elements may map to one key.
    pub fn is_lossy(self) -> bool {
        matches!(self.class, KeyClass::NumericFloat(_))
    }

    /// Whether this element may share its key with different elements.
    #[inline]
    pub fn is_ambiguous<U: KeyBits>(self, element: U) -> bool {
        self.is_nan(element) || (self.is_lossy() && element.to_u64() == self.sign)
    }

    /// Whether this element is a NaN, and floats are ordered by value.
    #[inline]
    pub fn is_nan<U: KeyBits>(self, element: U) -> bool {
        match self.class {
            KeyClass::NumericFloat(infinity) => element.to_u64() & !self.sign > infinity,
            _ => false,
        }
    }

    fn total_order(self, bits: u64) -> u64 {
        if bits & self.sign == 0 { bits | self.sign } else { bits ^ self.mask }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_preserve_the_order_of_elements() {
        let floats = [
            f32::NEG_INFINITY,
            -2.5,
            -f32::MIN_POSITIVE,
            0.0,
            f32::MIN_POSITIVE,
            1.0,
            f32::MAX,
            f32::INFINITY,
            f32::NAN,
        ];
        for floats_order in [FloatOrder::Numeric, FloatOrder::Total] {
            let key = SortKey { descending: false, floats: floats_order };
            let mapping = KeyMapping::new(DType::F32, key);
            let keys = floats.map(|float| mapping.key(float.to_bits()));
            assert!(keys.is_sorted_by(|a, b| a < b), "{keys:?}");
            for (float, key) in floats.into_iter().zip(keys).take(8) {
                assert_eq!(mapping.element(key), float.to_bits());
            }
            let mapping = KeyMapping::new(DType::F32, SortKey { descending: true, ..key });
            let keys = floats.map(|float| mapping.key(float.to_bits()));
            assert!(keys.is_sorted_by(|a, b| a > b), "{keys:?}");
        }
        let mapping = KeyMapping::new(DType::F32, SortKey::default());
        assert_eq!(mapping.key((-0.0f32).to_bits()), mapping.key(0.0f32.to_bits()));
        assert_eq!(mapping.key((-f32::NAN).to_bits()), mapping.key(f32::NAN.to_bits()));
        let signed = KeyMapping::new(DType::I16, SortKey::default());
        let keys = [i16::MIN, -1, 0, 1, i16::MAX].map(|value| signed.key(value as u16));
        assert!(keys.is_sorted_by(|a, b| a < b), "{keys:?}");
        assert_eq!(signed.element(keys[1]), u16::MAX);
    }
}
