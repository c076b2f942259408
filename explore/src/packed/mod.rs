//! What a batch gave as a few hundred bytes, and back: how journals and shards keep it.
//!
//! Numbers are written in as many bytes as they need (LEB128, seven bits a byte), lists after their
//! length, enums by their number. Nothing names itself: whoever reads has to be the same version as
//! whoever wrote, which a journal makes sure of. Reading never trusts a length, and says `None` to
//! whatever it does not know.

mod found;
mod part;

use smallvec::SmallVec;
use std::collections::BTreeMap;

/// Something that can be written as bytes and read again.
pub(crate) trait Packed: Sized {
    fn put(&self, to: &mut Vec<u8>);

    /// `None` where the bytes are not of this kind.
    fn get(from: &mut &[u8]) -> Option<Self>;
}

/// The bytes of one value.
pub(crate) fn packed(value: &impl Packed) -> Vec<u8> {
    let mut bytes = Vec::new();
    value.put(&mut bytes);
    bytes
}

/// The value of which these are the bytes, all of them.
pub(crate) fn unpacked<T: Packed>(mut bytes: &[u8]) -> Option<T> {
    let value = T::get(&mut bytes)?;
    bytes.is_empty().then_some(value)
}

/// Fields one after the other, in the order named.
macro_rules! packed_fields {
    ($type:ty { $($field:ident),* $(,)? } $($rest:expr)?) => {
        impl $crate::packed::Packed for $type {
            fn put(&self, to: &mut Vec<u8>) {
                $(self.$field.put(to);)*
            }
            fn get(from: &mut &[u8]) -> Option<Self> {
                Some(Self {
                    $($field: $crate::packed::Packed::get(from)?,)*
                    $(..$rest)?
                })
            }
        }
    };
}

/// An enum without fields, by its place in a list of all.
macro_rules! packed_words {
    ($type:ty, $all:expr) => {
        impl $crate::packed::Packed for $type {
            fn put(&self, to: &mut Vec<u8>) {
                // All are in the list, which a test holds.
                let place = $all.iter().position(|one| one == self);
                place.unwrap_or(usize::from(u8::MAX)).put(to);
            }
            fn get(from: &mut &[u8]) -> Option<Self> {
                let place: usize = $crate::packed::Packed::get(from)?;
                $all.get(place).copied()
            }
        }
    };
}

pub(crate) use {packed_fields, packed_words};

impl Packed for u128 {
    fn put(&self, to: &mut Vec<u8>) {
        to.extend_from_slice(&self.to_le_bytes());
    }

    fn get(from: &mut &[u8]) -> Option<Self> {
        let (bytes, rest) = from.split_first_chunk()?;
        *from = rest;
        Some(u128::from_le_bytes(*bytes))
    }
}

impl Packed for u64 {
    fn put(&self, to: &mut Vec<u8>) {
        let mut left = *self;
        while left >= 0x80 {
            to.push(left as u8 | 0x80);
            left >>= 7;
        }
        to.push(left as u8);
    }

    fn get(from: &mut &[u8]) -> Option<Self> {
        let mut value: u64 = 0;
        for shift in (0..64).step_by(7) {
            let (byte, rest) = from.split_first()?;
            *from = rest;
            let bits = u64::from(byte & 0x7f);
            if bits << shift >> shift != bits {
                return None;
            }
            value |= bits << shift;
            if byte & 0x80 == 0 {
                return Some(value);
            }
        }
        None
    }
}

/// Smaller numbers are written as the largest.
macro_rules! packed_numbers {
    ($($type:ty),*) => {$(
        impl Packed for $type {
            fn put(&self, to: &mut Vec<u8>) {
                (*self as u64).put(to);
            }
            fn get(from: &mut &[u8]) -> Option<Self> {
                Self::try_from(u64::get(from)?).ok()
            }
        }
    )*};
}

packed_numbers!(u8, u16, u32, usize);

/// Zigzag: small numbers of either sign are short.
impl Packed for i64 {
    fn put(&self, to: &mut Vec<u8>) {
        ((self << 1) ^ (self >> 63)).cast_unsigned().put(to);
    }

    fn get(from: &mut &[u8]) -> Option<Self> {
        let bits = u64::get(from)?;
        Some((bits >> 1).cast_signed() ^ -(bits & 1).cast_signed())
    }
}

impl Packed for bool {
    fn put(&self, to: &mut Vec<u8>) {
        u8::from(*self).put(to);
    }

    fn get(from: &mut &[u8]) -> Option<Self> {
        match u8::get(from)? {
            0 => Some(false),
            1 => Some(true),
            _ => None,
        }
    }
}

impl<T: Packed> Packed for Option<T> {
    fn put(&self, to: &mut Vec<u8>) {
        self.is_some().put(to);
        if let Some(value) = self {
            value.put(to);
        }
    }

    fn get(from: &mut &[u8]) -> Option<Self> {
        match bool::get(from)? {
            true => Some(Some(T::get(from)?)),
            false => Some(None),
        }
    }
}

impl<T: Packed> Packed for Vec<T> {
    fn put(&self, to: &mut Vec<u8>) {
        self.len().put(to);
        self.iter().for_each(|item| item.put(to));
    }

    fn get(from: &mut &[u8]) -> Option<Self> {
        let length = usize::get(from)?;
        let mut items = Vec::new();
        for _ in 0..length {
            items.push(T::get(from)?);
        }
        Some(items)
    }
}

impl<T: Packed, const N: usize> Packed for SmallVec<[T; N]>
where
    [T; N]: smallvec::Array<Item = T>,
{
    fn put(&self, to: &mut Vec<u8>) {
        self.len().put(to);
        self.iter().for_each(|item| item.put(to));
    }

    fn get(from: &mut &[u8]) -> Option<Self> {
        Vec::get(from).map(SmallVec::from_vec)
    }
}

impl<K: Packed + Ord, V: Packed> Packed for BTreeMap<K, V> {
    fn put(&self, to: &mut Vec<u8>) {
        self.len().put(to);
        for (key, value) in self {
            key.put(to);
            value.put(to);
        }
    }

    fn get(from: &mut &[u8]) -> Option<Self> {
        let length = usize::get(from)?;
        let mut map = BTreeMap::new();
        for _ in 0..length {
            map.insert(K::get(from)?, V::get(from)?);
        }
        Some(map)
    }
}

impl<A: Packed, B: Packed> Packed for (A, B) {
    fn put(&self, to: &mut Vec<u8>) {
        self.0.put(to);
        self.1.put(to);
    }

    fn get(from: &mut &[u8]) -> Option<Self> {
        Some((A::get(from)?, B::get(from)?))
    }
}

impl<A: Packed, B: Packed, C: Packed> Packed for (A, B, C) {
    fn put(&self, to: &mut Vec<u8>) {
        self.0.put(to);
        self.1.put(to);
        self.2.put(to);
    }

    fn get(from: &mut &[u8]) -> Option<Self> {
        Some((A::get(from)?, B::get(from)?, C::get(from)?))
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use proptest::prelude::*;

    fn again<T: Packed + PartialEq + std::fmt::Debug>(value: &T) {
        assert_eq!(unpacked::<T>(&packed(value)).as_ref(), Some(value));
    }

    proptest! {
        #[test]
        fn numbers_and_lists_are_read_as_they_were_written(
            large in any::<u128>(),
            number in any::<u64>(),
            signed in any::<i64>(),
            list in proptest::collection::vec(any::<Option<(u16, bool)>>(), 0..9),
            map in proptest::collection::btree_map(any::<u8>(), any::<i64>(), 0..9),
        ) {
            again(&large);
            again(&number);
            again(&signed);
            again(&list);
            again(&map);
        }

        #[test]
        fn whatever_the_bytes_are_reading_them_ends(
            bytes in proptest::collection::vec(any::<u8>(), 0..64),
        ) {
            let _ = unpacked::<Vec<Vec<(u64, Option<i64>)>>>(&bytes);
            let _ = unpacked::<BTreeMap<u32, Vec<u128>>>(&bytes);
        }
    }

    #[test]
    fn small_numbers_are_short_whatever_their_sign() {
        for number in [0_i64, 1, -1, 63, -64] {
            assert_eq!(packed(&number).len(), 1, "{number}");
        }
        assert_eq!(packed(&u64::MAX).len(), 10);
    }

    #[test]
    fn a_number_that_is_too_large_for_its_place_is_refused() {
        assert_eq!(unpacked::<u8>(&packed(&256_u64)), None);
        assert_eq!(unpacked::<u64>(&[0xff; 10]), None);
        assert_eq!(unpacked::<bool>(&[2]), None);
        // Bytes that are left over belong to nothing.
        assert_eq!(unpacked::<u8>(&[1, 0]), None);
    }
}
