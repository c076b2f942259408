//! CRC-24 over five-bit symbols, as OpenPGP has it (RFC 4880, section 6.1).

/// Number of symbols that hold the check: 24 bits and one zero.
pub(super) const SYMBOLS: usize = 5;

const START: u32 = 0x00B7_04CE;
const POLYNOMIAL: u32 = 0x0186_4CFB;

/// The check of these symbols, as symbols.
pub(super) fn of(symbols: &[u8]) -> [u8; SYMBOLS] {
    let mut crc = START;
    for symbol in symbols {
        for bit in (0..5).rev() {
            crc <<= 1;
            if (crc >> 24 & 1) ^ u32::from(symbol >> bit & 1) == 1 {
                crc ^= POLYNOMIAL;
            }
            crc &= 0x00FF_FFFF;
        }
    }
    let check = crc << 1;
    [20, 15, 10, 5, 0].map(|shift| (check >> shift & 31) as u8)
}
