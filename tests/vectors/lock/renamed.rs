//! A vector with other names for its keys and values: whatever hangs on a name then disagrees.

use crate::format::{Step, Vector};
use serde_json::Value;
use std::collections::BTreeMap;

/// Words of commands, which are no names.
const WORDS: [&str; 16] = [
    "NX", "XX", "GT", "LT", "GET", "EX", "PX", "EXAT", "PXAT", "KEEPTTL", "PERSIST", "KEYS",
    "ARGV", "OK", "SYNC", "ASYNC",
];

/// The vector with names that follow from the seed.
pub fn renamed(vector: &Vector, seed: u64) -> Vector {
    let mut names = Names {
        seed,
        given: BTreeMap::new(),
    };
    let mut vector = vector.clone();
    for said in &mut vector.setup {
        match said {
            Value::Array(given) => names.words(given),
            Value::Object(step) => {
                if let Some(Value::Array(given)) = step.get_mut("args") {
                    names.words(given);
                }
            }
            _ => {}
        }
    }
    for step in &mut vector.steps {
        names.step(step);
    }
    // Second, when every name is known: what is said about them.
    for step in &mut vector.steps {
        if let Some(expect) = &mut step.expect {
            names.known(expect);
        }
        if let Some(Value::String(script)) = step.arguments.get_mut("script") {
            names.literals(script);
        }
    }
    if let Some(last) = &mut vector.final_state {
        names.known(last);
    }
    vector
}

struct Names {
    seed: u64,
    given: BTreeMap<String, String>,
}

impl Names {
    fn step(&mut self, step: &mut Step) {
        if let Some(Value::Array(given)) = step.arguments.get_mut("args") {
            self.words(given);
        }
        for list in ["keys", "argv"] {
            if let Some(Value::Array(given)) = step.arguments.get_mut(list) {
                given.iter_mut().for_each(|name| self.name(name));
            }
        }
    }

    /// The words of a command: its name stays, and those of a configuration.
    fn words(&mut self, words: &mut [Value]) {
        let Some((Value::String(command), words)) = words.split_first_mut() else {
            return;
        };
        if ["CONFIG", "EVAL", "PING"].contains(&command.to_uppercase().as_str()) {
            return;
        }
        for word in words {
            self.name(word);
        }
    }

    /// A name; numbers and words of a command are none.
    fn name(&mut self, word: &mut Value) {
        let Value::String(text) = word else { return };
        let is_word = WORDS.iter().any(|known| known.eq_ignore_ascii_case(text));
        if is_word || text.parse::<f64>().is_ok() {
            return;
        }
        let number = self.given.len() as u64;
        let seed = self.seed;
        let other = self
            .given
            .entry(text.clone())
            .or_insert_with(|| format!("{:x}", mixed(seed << 32 | number)));
        text.clone_from(other);
    }

    /// Everything in a value that is a known name.
    fn known(&self, value: &mut Value) {
        match value {
            Value::String(text) => {
                if let Some(other) = self.given.get(text) {
                    text.clone_from(other);
                }
            }
            Value::Array(list) => list.iter_mut().for_each(|value| self.known(value)),
            Value::Object(fields) => fields.values_mut().for_each(|value| self.known(value)),
            _ => {}
        }
    }

    /// Names in quotes within a script.
    fn literals(&self, script: &mut String) {
        for (name, other) in &self.given {
            for quote in ['\'', '"'] {
                let literal = format!("{quote}{name}{quote}");
                *script = script.replace(&literal, &format!("{quote}{other}{quote}"));
            }
        }
    }
}

/// A number that looks random (the finalizer of SplitMix64).
fn mixed(number: u64) -> u64 {
    let mut z = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    // A letter first: a number would be taken for one.
    (z ^ (z >> 31)) | 0xa000_0000_0000_0000
}
