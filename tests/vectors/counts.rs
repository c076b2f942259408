//! How many vectors were tried, and what they came to.

use crate::format::Vector;
use crate::report::Outcome;
use std::collections::BTreeMap;
use std::fmt;

/// What the vectors of this folder come to. `required`: the claims that a model has to answer for
/// ([`is_required`]).
pub const EXPECTED: &str = "\
mariadb    required: 161 tried, 161 agreed, 0 out of scope
mariadb    others:    20 tried,   8 agreed, 12 out of scope
nats       required:  21 tried,  21 agreed, 0 out of scope
postgresql required: 129 tried, 129 agreed, 0 out of scope
postgresql others:     7 tried,   3 agreed, 4 out of scope
rabbitmq   required:  23 tried,  23 agreed, 0 out of scope
redis      required:  18 tried,  18 agreed, 0 out of scope
";

/// By server, and whether the claim is required: tried, agreed, out of scope.
#[derive(Default)]
pub struct Counts(BTreeMap<(String, bool), [usize; 3]>);

impl Counts {
    pub fn add(&mut self, vector: &Vector, outcome: &Outcome) {
        let key = (vector.server.clone(), !is_required(vector));
        let counts = self.0.entry(key).or_default();
        counts[0] += 1;
        match outcome {
            Outcome::Agreed => counts[1] += 1,
            Outcome::OutOfScope { .. } => counts[2] += 1,
            Outcome::Disagreed { .. } => {}
        }
    }
}

impl fmt::Display for Counts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for ((server, other), [tried, agreed, out]) in &self.0 {
            let of = if *other { "others:  " } else { "required:" };
            writeln!(
                f,
                "{server:<10} {of} {tried:>3} tried, {agreed:>3} agreed, {out} out of scope"
            )?;
        }
        Ok(())
    }
}

/// Whether a vector is of a claim that the database models answer for: A1-A6, A9, all that A7 says
/// but durability (f-i), and of A8 errors and the clock (a-i, s), not text and local time.
fn is_required(vector: &Vector) -> bool {
    let letter = vector.id.strip_prefix(&vector.claim);
    let letter = letter.and_then(|rest| rest.bytes().next()).unwrap_or(0);
    match vector.claim.as_str() {
        "A7" => matches!(letter, b'a'..=b'e' | b'j'..=b'm'),
        "A8" => matches!(letter, b'a'..=b'i' | b's'),
        _ => true,
    }
}
