//! Tokens: a plan, its seed and its scenario in one word that can be pasted.
//!
//! `rk1-` and Crockford base32 of
//!
//! | bits | what |
//! |---|---|
//! | 32 | upper half of the scenario hash |
//! | 6 + up to 64 | seed, after its length |
//! | 1 (+ length and bytes) | whether a test's name follows, and it |
//! | 4 | number of faults |
//! | about 60 to 93 each | the faults: kind, instance, step, run, n, phase, magnitude |
//! | 24 | CRC-24 over all of it |
//!
//! Readers accept both cases and `I`, `L` for 1, `O` for 0. A CRC finds every error that is not
//! longer than itself, so that one changed character never passes.

mod base32;
mod bits;
mod crc;

use crate::spec::faults::{self, Amount};
use crate::spec::{Fault, FaultKind, Phase, Plan, RunRef, Site};
use bits::{Reader, Writer};
use evidence::{InstanceId, Slot};
use std::fmt;
use std::str::FromStr;

/// What replays an execution: which scenario, which seed, which plan.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Default)]
pub struct Token {
    /// [`crate::Scenario::hash32`].
    pub scenario_hash: u32,
    /// The seed.
    pub seed: u64,
    /// What goes wrong; at most [`Token::MOST_FAULTS`] faults.
    pub plan: Plan,
    /// The name of the test that brings guard, handler or downstream of its own; at most
    /// [`Token::LONGEST_TEST`] bytes.
    pub test: Option<String>,
}

/// A text that is no token.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, thiserror::Error)]
pub enum TokenError {
    /// It does not begin like one.
    #[error("not a token; a token begins with `rk1-`")]
    NotAToken,
    /// It is of another version.
    #[error("a token of another version of runkey; this one reads `rk1-`")]
    Version,
    /// It holds a character that no token has.
    #[error("`{0}` is no character of a token; allowed are digits and letters without U")]
    Character(char),
    /// It ends too early.
    #[error("the token is cut off; paste all of it")]
    Cut,
    /// Its check does not fit: a character was changed.
    #[error("the token is damaged: its check digits do not fit; paste it again")]
    Checksum,
    /// It is sound, but names a kind or a step that this version does not know.
    #[error("the token names a {0} that this version of runkey does not know")]
    Unknown(&'static str),
}

/// A plan that no token holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, thiserror::Error)]
pub enum TokenLimit {
    /// Too many faults.
    #[error("a token holds at most 15 faults; write the plan to a file instead")]
    Faults,
    /// The test's name is too long.
    #[error("a token holds the name of a test of at most 255 bytes")]
    Test,
}

const PREFIX: &str = "rk1-";

impl Token {
    /// The most faults that a token holds.
    pub const MOST_FAULTS: usize = 15;
    /// The longest name of a test, in bytes.
    pub const LONGEST_TEST: usize = 255;

    /// Writes the token.
    ///
    /// At most 80 characters for 3 faults and a seed below 2^32 where each fault has an instance
    /// and a timer below 64, slot and n below 1024, and lasts less than 6 days.
    ///
    /// # Errors
    ///
    /// If there are more faults, or a longer name, than a token holds.
    pub fn encode(&self) -> Result<String, TokenLimit> {
        if self.plan.faults.len() > Self::MOST_FAULTS {
            return Err(TokenLimit::Faults);
        }
        let mut bits = Writer::default();
        bits.put(u64::from(self.scenario_hash), 32);
        bits.sized(self.seed, 6);
        bits.put(u64::from(self.test.is_some()), 1);
        if let Some(test) = &self.test {
            if test.len() > Self::LONGEST_TEST {
                return Err(TokenLimit::Test);
            }
            bits.put(test.len() as u64, 8);
            for byte in test.bytes() {
                bits.put(u64::from(byte), 8);
            }
        }
        bits.put(self.plan.faults.len() as u64, 4);
        for fault in &self.plan.faults {
            write_fault(fault, &mut bits);
        }
        let mut symbols = bits.symbols();
        symbols.extend(crc::of(&symbols));
        let mut text = PREFIX.to_owned();
        text.extend(symbols.into_iter().map(base32::character));
        Ok(text)
    }

    /// Reads a token; spaces around it do not matter.
    ///
    /// # Errors
    ///
    /// See [`TokenError`].
    pub fn decode(text: &str) -> Result<Token, TokenError> {
        let body = after_prefix(text.trim())?;
        let symbols = body
            .chars()
            .map(|c| base32::value(c).ok_or(TokenError::Character(c)))
            .collect::<Result<Vec<u8>, _>>()?;
        let (payload, check) = symbols
            .split_at_checked(symbols.len().saturating_sub(crc::SYMBOLS))
            .unwrap_or_default();
        if check.len() == crc::SYMBOLS && crc::of(payload) == *check {
            let mut bits = Reader::new(payload);
            let token = read(&mut bits)?;
            // `encode` writes no symbol more than it needs.
            return bits
                .is_padding()
                .then_some(token)
                .ok_or(TokenError::Checksum);
        }
        // Where the content goes on behind the end, the end is missing.
        match read(&mut Reader::new(&symbols)) {
            Err(TokenError::Cut) => Err(TokenError::Cut),
            _ => Err(TokenError::Checksum),
        }
    }
}

fn after_prefix(text: &str) -> Result<&str, TokenError> {
    let (head, body) = text.split_once('-').ok_or(TokenError::NotAToken)?;
    let mut head = head.chars();
    let is_r = head.next().is_some_and(|c| c.eq_ignore_ascii_case(&'r'));
    let is_k = head.next().is_some_and(|c| c.eq_ignore_ascii_case(&'k'));
    let version = head.as_str();
    if !is_r || !is_k || version.is_empty() || !version.bytes().all(|c| c.is_ascii_digit()) {
        return Err(TokenError::NotAToken);
    }
    match version {
        "1" => Ok(body),
        _ => Err(TokenError::Version),
    }
}

fn write_fault(fault: &Fault, bits: &mut Writer) {
    let site = &fault.site;
    bits.grouped(fault.kind as u64, 5);
    bits.put(u64::from(site.step), 8);
    bits.put(site.phase as u64, 2);
    bits.grouped(u64::from(site.instance.0), 3);
    match site.run {
        RunRef::None => bits.put(0, 1),
        RunRef::Slot(slot) => {
            bits.put(1, 1);
            bits.grouped(u64::from(slot.timer), 3);
            bits.grouped(u64::from(slot.ordinal), 5);
        }
    }
    bits.grouped(u64::from(site.n), 5);
    let amount = faults::of(fault.kind).amount;
    if amount == Amount::Jumping {
        bits.put(u64::from(fault.magnitude_ms < 0), 1);
    }
    if amount != Amount::Nothing {
        bits.sized(fault.magnitude_ms.unsigned_abs(), 6);
    }
}

fn read(bits: &mut Reader<'_>) -> Result<Token, TokenError> {
    let scenario_hash = bits.take(32)? as u32;
    let seed = bits.take_sized(6)?;
    let test = match bits.take(1)? {
        0 => None,
        _ => {
            let length = bits.take(8)?;
            let bytes = (0..length)
                .map(|_| bits.take(8).map(|byte| byte as u8))
                .collect::<Result<Vec<u8>, _>>()?;
            Some(String::from_utf8(bytes).map_err(|_| TokenError::Checksum)?)
        }
    };
    let count = bits.take(4)?;
    let faults = (0..count)
        .map(|_| read_fault(bits))
        .collect::<Result<_, _>>()?;
    Ok(Token {
        scenario_hash,
        seed,
        plan: Plan { faults },
        test,
    })
}

fn read_fault(bits: &mut Reader<'_>) -> Result<Fault, TokenError> {
    let kind = usize::from(bits.take_grouped::<u8>(5)?);
    let kind = *FaultKind::ALL
        .get(kind)
        .ok_or(TokenError::Unknown("kind of fault"))?;
    let step = bits.take(8)? as u8;
    if scheduler::steps::by_number(step).is_none() {
        return Err(TokenError::Unknown("step"));
    }
    let phase = Phase::ALL[bits.take(2)? as usize];
    let instance = InstanceId(bits.take_grouped(3)?);
    let run = match bits.take(1)? {
        0 => RunRef::None,
        _ => RunRef::Slot(Slot {
            timer: bits.take_grouped(3)?,
            ordinal: bits.take_grouped(5)?,
        }),
    };
    let n = bits.take_grouped(5)?;
    let amount = faults::of(kind).amount;
    let negative = amount == Amount::Jumping && bits.take(1)? == 1;
    let size = match amount {
        Amount::Nothing => 0,
        _ => i64::try_from(bits.take_sized(6)?).map_err(|_| TokenError::Checksum)?,
    };
    Ok(Fault {
        site: Site {
            instance,
            step,
            run,
            n,
            phase,
        },
        kind,
        magnitude_ms: if negative { -size } else { size },
    })
}

impl FromStr for Token {
    type Err = TokenError;

    fn from_str(text: &str) -> Result<Self, TokenError> {
        Token::decode(text)
    }
}

/// The token, or (in angle brackets) why there is none.
impl fmt::Display for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.encode() {
            Ok(text) => f.pad(&text),
            Err(limit) => write!(f, "<{limit}>"),
        }
    }
}
