//! The brokers' vectors, on the models of `servers/src/broker/`.

mod names;
mod nats;
mod rabbitmq;

pub use nats::replay as nats;
pub use rabbitmq::replay as rabbitmq;

use crate::format::{Step, Variant, Vector};
use crate::report::Outcome;
use names::Names;
use serde_json::{Map, Value};

/// Why a step could not be held against the model.
enum Trouble {
    /// The model did something else.
    Differs(String),
    /// A kind of operation, or an argument of one, that the model does not have.
    Unknown(String),
}

/// Something that does the operations of a vector, one after the other.
trait Driver {
    /// Does one operation, and tells what a client sees of it.
    fn step(&mut self, step: &Step) -> Result<Value, Trouble>;

    /// What is left at the end of what is asked for.
    fn left(&mut self, query: &Value) -> Result<Value, Trouble>;
}

/// Replays a vector with every name in it replaced, so that nothing can hang on names. Of a race
/// one of the recorded outcomes has to come out.
fn replay(
    vector: &Vector,
    mut driver: impl FnMut(&Names) -> Result<Box<dyn Driver>, Trouble>,
) -> Outcome {
    let names = Names::drawn(&vector.id);
    let recorded = match vector.variants.is_empty() {
        true => vec![Variant {
            steps: vector.steps.clone(),
            final_state: vector.final_state.clone(),
        }],
        false => vector.variants.clone(),
    };
    let mut first = None;
    for variant in &recorded {
        let outcome = match driver(&names) {
            Ok(driver) => replay_one(vector, variant, driver, &names),
            Err(trouble) => outcome(0, trouble),
        };
        if !matches!(outcome, Outcome::Disagreed { .. }) {
            return outcome;
        }
        first.get_or_insert(outcome);
    }
    first.unwrap_or(Outcome::Agreed)
}

fn outcome(step: usize, trouble: Trouble) -> Outcome {
    match trouble {
        Trouble::Differs(why) => Outcome::Disagreed { step, why },
        Trouble::Unknown(reason) => Outcome::OutOfScope { reason },
    }
}

fn replay_one(
    vector: &Vector,
    variant: &Variant,
    mut driver: Box<dyn Driver>,
    names: &Names,
) -> Outcome {
    for step in &vector.setup {
        let Ok(step) = serde_json::from_value::<Step>(step.clone()) else {
            return Outcome::OutOfScope {
                reason: "a setup that is no operation".to_owned(),
            };
        };
        if let Err(trouble) = driver.step(&names.renamed_step(&step)) {
            return outcome(0, trouble);
        }
    }
    for (number, step) in (1..).zip(&variant.steps) {
        let step = names.renamed_step(step);
        let compared = driver.step(&step).and_then(|seen| match &step.expect {
            Some(expected) => compare(expected, &seen).map_err(Trouble::Differs),
            None => Ok(()),
        });
        if let Err(trouble) = compared {
            return outcome(number, trouble);
        }
    }
    let Some(state) = &variant.final_state else {
        return Outcome::Agreed;
    };
    let state = names.renamed(state);
    let left = driver.left(&state["query"]);
    match left.and_then(|seen| compare(&state["result"], &seen).map_err(Trouble::Differs)) {
        Ok(()) => Outcome::Agreed,
        Err(trouble) => outcome(variant.steps.len() + 1, trouble),
    }
}

/// Whether what was seen is what was recorded. A recording without a word (`{}`) says nothing; one
/// that shows some numbers of many is held to those; of a message all has to agree.
fn compare(expected: &Value, seen: &Value) -> Result<(), String> {
    let differ = || Err(format!("expected {expected}, the model says {seen}"));
    match (expected, seen) {
        (Value::Object(expected), Value::Object(seen)) => {
            if expected.is_empty() {
                return Ok(());
            }
            for (key, value) in expected {
                match seen.get(key) {
                    Some(other) => compare(value, other).or_else(|_| differ())?,
                    None if value.is_null() => {}
                    None => return differ(),
                }
            }
            // Something went wrong in the model of which the recording knows nothing, or a message
            // shows what the real one did not.
            let telling = [
                "error",
                "empty",
                "body",
                "x-delivery-count",
                "x-death",
                "duplicate",
            ];
            let more = |key: &&str| seen.contains_key(*key) && !expected.contains_key(*key);
            if telling.iter().any(more) {
                differ()
            } else {
                Ok(())
            }
        }
        (Value::Array(expected), Value::Array(seen)) if expected.len() == seen.len() => {
            for (expected, seen) in expected.iter().zip(seen) {
                compare(expected, seen).or_else(|_| differ())?;
            }
            Ok(())
        }
        (expected, seen) if expected == seen => Ok(()),
        _ => differ(),
    }
}

/// The arguments of one operation; each has to be taken, so that none is passed over.
struct Arguments<'a> {
    op: &'a str,
    of: &'a Map<String, Value>,
    taken: Vec<&'a str>,
}

impl<'a> Arguments<'a> {
    fn of(step: &'a Step) -> Self {
        // What is told beside the operation is no argument.
        let taken = vec!["info", "note", "comment"];
        Arguments {
            op: step.op.as_deref().unwrap_or(""),
            of: &step.arguments,
            taken,
        }
    }

    fn value(&mut self, name: &'a str) -> Option<&'a Value> {
        self.taken.push(name);
        self.of.get(name).filter(|value| !value.is_null())
    }

    fn text(&mut self, name: &'a str) -> Option<&'a str> {
        self.value(name)?.as_str()
    }

    fn number(&mut self, name: &'a str) -> Option<u64> {
        self.value(name)?.as_u64()
    }

    fn flag(&mut self, name: &'a str) -> Option<bool> {
        self.value(name)?.as_bool()
    }

    /// A time in seconds, as milliseconds.
    fn seconds(&mut self, name: &'a str) -> Option<u64> {
        self.value(name).and_then(millis)
    }

    /// Whether all arguments were taken.
    fn end(self) -> Result<(), Trouble> {
        match self
            .of
            .keys()
            .find(|key| !self.taken.contains(&key.as_str()))
        {
            Some(other) => Err(Trouble::Unknown(format!("{} with {other}", self.op))),
            None => Ok(()),
        }
    }
}

fn millis(seconds: &Value) -> Option<u64> {
    Some((seconds.as_f64()? * 1000.0).round() as u64)
}
