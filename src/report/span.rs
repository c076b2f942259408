//! A span of time as a sentence says it.

use std::fmt;

/// Milliseconds; prints as `240 ms`, `1.5 s`, `30 s`, `2 min 10 s`, `3 h`, `7 days`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spoken(pub i64);

const UNITS: [(i64, &str); 4] = [(86_400, "day"), (3_600, "h"), (60, "min"), (1, "s")];

impl Spoken {
    /// Rounded as a person would: from ten seconds on to whole seconds, from one to tenths.
    pub const fn about(ms: i64) -> Self {
        let grain = match ms.unsigned_abs() {
            0..1_000 => 1,
            1_000..10_000 => 100,
            _ => 1_000,
        };
        Spoken((ms + ms.signum() * grain / 2) / grain * grain)
    }
}

impl fmt::Display for Spoken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ms = self.0.unsigned_abs();
        if self.0 < 0 {
            f.write_str("-")?;
        }
        if ms < 1_000 {
            return write!(f, "{ms} ms");
        }
        if !ms.is_multiple_of(1_000) {
            return write!(f, "{} s", ms as f64 / 1_000.0);
        }
        let mut seconds = (ms / 1_000) as i64;
        let mut first = true;
        for (size, unit) in UNITS {
            let count = seconds / size;
            seconds %= size;
            if count > 0 {
                let space = if first { "" } else { " " };
                let plural = if unit == "day" && count > 1 { "s" } else { "" };
                write!(f, "{space}{count} {unit}{plural}")?;
                first = false;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_span_reads_as_a_person_would_say_it() {
        for (ms, said) in [
            (0, "0 ms"),
            (240, "240 ms"),
            (1_500, "1.5 s"),
            (30_000, "30 s"),
            (-35_000, "-35 s"),
            (130_000, "2 min 10 s"),
            (3_600_000, "1 h"),
            (7 * 86_400_000, "7 days"),
            (86_401_000, "1 day 1 s"),
            (30_212, "30.212 s"),
        ] {
            assert_eq!(Spoken(ms).to_string(), said);
        }
    }

    #[test]
    fn a_rough_span_has_no_more_digits_than_matter() {
        assert_eq!(Spoken::about(29_991).to_string(), "30 s");
        assert_eq!(Spoken::about(3_049).to_string(), "3 s");
        assert_eq!(Spoken::about(3_050).to_string(), "3.1 s");
        assert_eq!(Spoken::about(999).to_string(), "999 ms");
    }
}
