//! The scenario hash: two files that mean the same have the same, whatever they are called.
//!
//! It is taken over canonical JSON (keys sorted, no spaces) of the typed scenario with every
//! default filled in, without name, about, source, tags, explore, expect and repairs. Tokens carry
//! 32 bits of it, so its bytes must not change when the format grows: **a key that joins later is
//! left out of the JSON while it has the value that the code had before it**
//! (`skip_serializing_if`).

use super::Scenario;
use serde_json::Value;
use xxhash_rust::xxh3::xxh3_64;

impl Scenario {
    /// 64 bits that identify what is simulated.
    pub fn hash(&self) -> u64 {
        xxh3_64(self.canonical().as_bytes())
    }

    /// The upper 32 bits of [`Scenario::hash`], as tokens carry them.
    pub fn hash32(&self) -> u32 {
        (self.hash() >> 32) as u32
    }

    /// The bytes that are hashed.
    pub fn canonical(&self) -> String {
        let mut text = String::new();
        // Every table has string keys and plain values, so that there is nothing to fail.
        write(&serde_json::to_value(self).unwrap_or_default(), &mut text);
        text
    }
}

fn write(value: &Value, into: &mut String) {
    match value {
        Value::Object(fields) => {
            let mut fields: Vec<_> = fields.iter().collect();
            fields.sort_by(|a, b| a.0.cmp(b.0));
            into.push('{');
            for (place, (key, value)) in fields.into_iter().enumerate() {
                if place > 0 {
                    into.push(',');
                }
                write(&Value::from(key.as_str()), into);
                into.push(':');
                write(value, into);
            }
            into.push('}');
        }
        Value::Array(items) => {
            into.push('[');
            for (place, item) in items.iter().enumerate() {
                if place > 0 {
                    into.push(',');
                }
                write(item, into);
            }
            into.push(']');
        }
        plain => into.push_str(&plain.to_string()),
    }
}
