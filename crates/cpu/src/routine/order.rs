//! Elements as unsigned integers that are in the same order.

use inflight_ir::graph::{FloatOrder, SortKey};
use inflight_ir::{DType, DTypeClass};
use std::fmt::Debug;

/// The bits of an element, as an unsigned integer.
pub trait Bits: Copy + Ord + Send + Sync + Debug + 'static {
    /// How many there are.
    const BITS: u32;
    /// How many of them one pass of a radix sort looks at.
    const DIGIT: u32;

    fn from_u64(value: u64) -> Self;
    fn to_u64(self) -> u64;

    /// The digit above `shift` bits.
    fn digit(self, shift: u32) -> usize {
        (self.to_u64() >> shift) as usize & ((1 << Self::DIGIT) - 1)
    }
}

macro_rules! bits {
    ($($type:ty, $digit:expr;)*) => {$(
        impl Bits for $type {
            const BITS: u32 = <$type>::BITS;
            const DIGIT: u32 = $digit;
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

// Counters of 11-bit digits fit the first cache, and make three passes of 32 bits.
bits! {
    u8, 8;
    u16, 8;
    u32, 11;
    u64, 11;
}

/// How the bits of elements of one dtype become ordered keys.
#[derive(Clone, Copy, Debug)]
pub struct Mapping {
    class: Class,
    descending: bool,
    /// The sign bit.
    sign: u64,
    /// All bits of the dtype.
    all: u64,
}

#[derive(Clone, Copy, Debug)]
enum Class {
    Unsigned,
    Signed,
    /// By bits.
    Total,
    /// By value; these are the bits of infinity.
    Numeric(u64),
}

impl Mapping {
    /// The mapping of a key.
    pub fn new(dtype: DType, key: SortKey) -> Mapping {
        let class = match (dtype.class(), key.floats) {
            (DTypeClass::Bool | DTypeClass::Unsigned | DTypeClass::Complex, _) => Class::Unsigned,
            (DTypeClass::Signed, _) => Class::Signed,
            (DTypeClass::Float, FloatOrder::Total) => Class::Total,
            (DTypeClass::Float, FloatOrder::Numeric) => Class::Numeric(match dtype {
                DType::F16 => 0x7c00,
                DType::BF16 => 0x7f80,
                DType::F32 => 0x7f80_0000,
                _ => 0x7ff0_0000_0000_0000,
            }),
        };
        // A complex number is no key: only a comparator orders it.
        let sign = 1u64 << (8 * dtype.size().min(8) - 1);
        Mapping { class, descending: key.descending, sign, all: sign | (sign - 1) }
    }

    /// The key of an element.
    #[inline]
    pub fn key<U: Bits>(self, element: U) -> U {
        let bits = element.to_u64();
        let key = match self.class {
            Class::Unsigned => bits,
            Class::Signed => bits ^ self.sign,
            Class::Total => self.total(bits),
            Class::Numeric(_) if self.is_nan(element) => self.all,
            Class::Numeric(_) if bits == self.sign => self.sign,
            Class::Numeric(_) => self.total(bits),
        };
        U::from_u64(if self.descending { key ^ self.all } else { key })
    }

    /// The element of a key, but for the sign of a zero and all there is to know of a NaN where floats are
    /// ordered by value.
    #[inline]
    pub fn element<U: Bits>(self, key: U) -> U {
        let key = if self.descending { key.to_u64() ^ self.all } else { key.to_u64() };
        U::from_u64(match self.class {
            Class::Unsigned => key,
            Class::Signed => key ^ self.sign,
            Class::Total | Class::Numeric(_) if key & self.sign != 0 => key ^ self.sign,
            Class::Total | Class::Numeric(_) => key ^ self.all,
        })
    }

    /// Whether elements that differ may have one key.
    pub fn is_lossy(self) -> bool {
        matches!(self.class, Class::Numeric(_))
    }

    /// Whether this element may share its key with others that differ.
    #[inline]
    pub fn is_ambiguous<U: Bits>(self, element: U) -> bool {
        self.is_nan(element) || (self.is_lossy() && element.to_u64() == self.sign)
    }

    /// Whether this element is a NaN that is ordered by value.
    #[inline]
    pub fn is_nan<U: Bits>(self, element: U) -> bool {
        match self.class {
            Class::Numeric(infinity) => element.to_u64() & !self.sign > infinity,
            _ => false,
        }
    }

    fn total(self, bits: u64) -> u64 {
        if bits & self.sign == 0 { bits | self.sign } else { bits ^ self.all }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_in_the_order_of_their_elements() {
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
            let mapping = Mapping::new(DType::F32, key);
            let keys = floats.map(|float| mapping.key(float.to_bits()));
            assert!(keys.is_sorted_by(|a, b| a < b), "{keys:?}");
            for (float, key) in floats.into_iter().zip(keys).take(8) {
                assert_eq!(mapping.element(key), float.to_bits());
            }
            let mapping = Mapping::new(DType::F32, SortKey { descending: true, ..key });
            let keys = floats.map(|float| mapping.key(float.to_bits()));
            assert!(keys.is_sorted_by(|a, b| a > b), "{keys:?}");
        }
        let mapping = Mapping::new(DType::F32, SortKey::default());
        assert_eq!(mapping.key((-0.0f32).to_bits()), mapping.key(0.0f32.to_bits()));
        assert_eq!(mapping.key((-f32::NAN).to_bits()), mapping.key(f32::NAN.to_bits()));
        let signed = Mapping::new(DType::I16, SortKey::default());
        let keys = [i16::MIN, -1, 0, 1, i16::MAX].map(|value| signed.key(value as u16));
        assert!(keys.is_sorted_by(|a, b| a < b), "{keys:?}");
        assert_eq!(signed.element(keys[1]), u16::MAX);
    }
}
