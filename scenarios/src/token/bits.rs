//! Numbers packed bit by bit, the highest bit first, into symbols of five bits.

use super::TokenError;

/// Packs numbers.
#[derive(Default)]
pub(super) struct Writer {
    bits: Vec<bool>,
}

impl Writer {
    /// The lower `width` bits of a number.
    pub fn put(&mut self, number: u64, width: u32) {
        for bit in (0..width).rev() {
            self.bits.push(number >> bit & 1 == 1);
        }
    }

    /// A number after its length in bits, which is written in `width` bits (64 as 63: the topmost
    /// bit is then written whatever it is).
    pub fn sized(&mut self, number: u64, width: u32) {
        let length = (64 - number.leading_zeros()).min((1 << width) - 1);
        self.put(u64::from(length), width);
        self.put(
            number,
            if length == (1 << width) - 1 {
                64
            } else {
                length
            },
        );
    }

    /// A number in groups of `width` bits, the lowest group first, each after a bit that tells
    /// whether another one follows.
    pub fn grouped(&mut self, number: u64, width: u32) {
        let mut left = number;
        loop {
            let rest = left >> width;
            self.put(u64::from(rest > 0), 1);
            self.put(left, width);
            if rest == 0 {
                return;
            }
            left = rest;
        }
    }

    /// All bits, with zeros at the end, in symbols of five.
    pub fn symbols(&self) -> Vec<u8> {
        let symbol = |bits: &[bool]| {
            let value = bits
                .iter()
                .fold(0, |value, bit| value << 1 | u8::from(*bit));
            value << (5 - bits.len())
        };
        self.bits.chunks(5).map(symbol).collect()
    }
}

/// Unpacks numbers.
pub(super) struct Reader<'a> {
    symbols: &'a [u8],
    place: usize,
}

impl<'a> Reader<'a> {
    /// From the first bit on.
    pub const fn new(symbols: &'a [u8]) -> Self {
        Reader { symbols, place: 0 }
    }

    /// The next `width` bits.
    pub fn take(&mut self, width: u32) -> Result<u64, TokenError> {
        let mut number = 0;
        for _ in 0..width {
            let symbol = self.symbols.get(self.place / 5).ok_or(TokenError::Cut)?;
            let bit = symbol >> (4 - self.place % 5) & 1;
            number = number << 1 | u64::from(bit);
            self.place += 1;
        }
        Ok(number)
    }

    /// What [`Writer::sized`] wrote.
    pub fn take_sized(&mut self, width: u32) -> Result<u64, TokenError> {
        let length = self.take(width)? as u32;
        self.take(if length == (1 << width) - 1 {
            64
        } else {
            length
        })
    }

    /// What [`Writer::grouped`] wrote.
    pub fn take_grouped<T: TryFrom<u64>>(&mut self, width: u32) -> Result<T, TokenError> {
        let mut number = 0;
        for group in 0.. {
            let more = self.take(1)? == 1;
            let bits = self.take(width)?;
            let shift = group * width;
            if shift + width > 63 {
                return Err(TokenError::Checksum);
            }
            number |= bits << shift;
            if !more {
                break;
            }
        }
        T::try_from(number).map_err(|_| TokenError::Checksum)
    }

    /// True if what is left is less than a symbol, and zero.
    pub fn is_padding(&self) -> bool {
        let mut rest = Reader {
            symbols: self.symbols,
            place: self.place,
        };
        let left = self.symbols.len() * 5 - self.place.min(self.symbols.len() * 5);
        left < 5 && rest.take(left as u32) == Ok(0)
    }
}
