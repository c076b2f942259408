//! Other names for everything in a vector that a client is free to choose.

use crate::format::Step;
use serde_json::{Map, Value};
use std::hash::{DefaultHasher, Hash, Hasher};

/// The names of one replay.
pub struct Names {
    seed: u64,
}

/// The keys whose values are names that a client chose.
const CHOSEN: [&str; 11] = [
    "session",
    "body",
    "message_id",
    "msg_id",
    "queue",
    "x-dead-letter-routing-key",
    "query",
    "as",
    "msg",
    "consumer",
    "durable_name",
];

impl Names {
    /// Drawn anew for each replay; `RUNKEY_VECTORS_SEED` draws others.
    pub fn drawn(id: &str) -> Names {
        let drawn = std::env::var("RUNKEY_VECTORS_SEED").unwrap_or_default();
        Names {
            seed: hash(&(id, drawn)),
        }
    }

    /// Another name, the same for the same name.
    pub fn of(&self, name: &str) -> String {
        if name.is_empty() {
            return String::new();
        }
        format!("n{:016x}", hash(&(self.seed, name)))
    }

    /// A step with every name in it replaced.
    pub fn renamed_step(&self, step: &Step) -> Step {
        let arguments = self.renamed(&Value::Object(step.arguments.clone()));
        Step {
            session: step.session.as_deref().map(|session| self.of(session)),
            sql: step.sql.clone(),
            op: step.op.clone(),
            expect: step.expect.as_ref().map(|expect| self.renamed(expect)),
            arguments: arguments.as_object().cloned().unwrap_or_default(),
        }
    }

    /// A recorded value with every name in it replaced.
    pub fn renamed(&self, value: &Value) -> Value {
        match value {
            Value::Object(object) => {
                let renamed = object.iter().map(|(key, value)| match value {
                    Value::String(name) if CHOSEN.contains(&key.as_str()) => {
                        (key.clone(), Value::String(self.of(name)))
                    }
                    _ => (key.clone(), self.renamed(value)),
                });
                Value::Object(renamed.collect::<Map<_, _>>())
            }
            Value::Array(values) => values.iter().map(|value| self.renamed(value)).collect(),
            other => other.clone(),
        }
    }
}

fn hash(of: &impl Hash) -> u64 {
    // Fixed keys: a failure says which names it had by its seed alone.
    let mut hasher = DefaultHasher::new();
    of.hash(&mut hasher);
    hasher.finish()
}
