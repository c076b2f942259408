//! Crockford's base32: no letter that looks like a digit. Source: crockford.com/base32.html.

const ALPHABET: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";

/// The character of a value; only its lower five bits count.
pub(super) const fn character(value: u8) -> char {
    ALPHABET[(value & 31) as usize] as char
}

/// The value of a character, in either case, with the letters that are mistaken for digits.
pub(super) fn value(character: char) -> Option<u8> {
    let lower = match character.to_ascii_lowercase() {
        'i' | 'l' => '1',
        'o' => '0',
        other => other,
    };
    let place = ALPHABET.iter().position(|one| char::from(*one) == lower)?;
    u8::try_from(place).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_value_has_one_character_and_the_aliases_are_read() {
        for number in 0..32 {
            assert_eq!(value(character(number)), Some(number));
            assert_eq!(value(character(number).to_ascii_uppercase()), Some(number));
        }
        assert_eq!(value('I'), Some(1));
        assert_eq!(value('l'), Some(1));
        assert_eq!(value('O'), Some(0));
        assert_eq!(value('u'), None);
        assert_eq!(value('-'), None);
        assert_eq!(value('ı'), None);
    }
}
