//! Other names for everything, so that nothing can hang on them.
//!
//! Before a replay every table, column, index, savepoint and session gets a name made at random, and
//! the texts in the rows are spelled with other letters and digits. What is kept is what a server
//! can see of a text: its length, which texts are equal, which comes first, letter or digit, upper
//! or lower case, where its spaces are. So a truncated or concatenated text is what the server would
//! make of the renamed one, and what was recorded is renamed by the same rule.
//!
//! Left as they are: numbers (they are counted, added, divided), times, the values of settings and
//! intervals, and the texts of a vector in which a letter is not ASCII (what a collation makes of
//! it hangs on the letter).

use super::front_end::{declared_names, dialect};
use crate::dice::Dice;
use crate::format::{Step, Vector};
use serde_json::Value;
use servers::database::Flavor;
use sqlparser::tokenizer::{Token, Tokenizer, Word};
use std::collections::{BTreeMap, BTreeSet};

/// A vector under other names.
pub struct Renamed {
    pub vector: Vector,
    /// The other name of each.
    names: BTreeMap<String, String>,
}

impl Renamed {
    /// A text about the vector, in the names that it had.
    pub fn in_old_names(&self, text: &str) -> String {
        let old = |text: String, (old, new): (&String, &String)| text.replace(new, old);
        self.names.iter().fold(text.to_owned(), old)
    }
}

/// The vector under names that the seed makes.
pub fn renamed(flavor: Flavor, vector: &Vector, seed: u64) -> Renamed {
    let mut dice = Dice::new(seed, &vector.id);
    let names = other_names(flavor, vector, &mut dice);
    let mut texts = Vec::new();
    let mut seen = vector.clone();
    visit(&mut seen, &mut |part| match part {
        Part::Sql(sql) => texts.extend(literals(flavor, sql)),
        Part::Cell(cell) => texts.push(cell.clone()),
        Part::Session(_) => {}
    });
    let spelling = Spelling::random(&texts, &mut dice);
    let mut vector = vector.clone();
    visit(&mut vector, &mut |part| match part {
        Part::Sql(sql) => *sql = sql_renamed(flavor, sql, &names, &spelling),
        Part::Cell(cell) => *cell = spelling.of(cell),
        Part::Session(name) => {
            if let Some(other) = names.get(name.as_str()) {
                name.clone_from(other);
            }
        }
    });
    Renamed { vector, names }
}

/// A part of a vector that has names or values in it.
enum Part<'a> {
    Sql(&'a mut String),
    /// A text of a row.
    Cell(&'a mut String),
    Session(&'a mut String),
}

/// Shows every such part.
fn visit(vector: &mut Vector, see: &mut dyn FnMut(Part<'_>)) {
    for name in vector.sessions.iter_mut().chain(&mut vector.proxied) {
        see(Part::Session(name));
    }
    for sql in &mut vector.session_init {
        see(Part::Sql(sql));
    }
    for setup in &mut vector.setup {
        if let Value::String(sql) = setup {
            see(Part::Sql(sql));
        }
    }
    visit_course(&mut vector.steps, &mut vector.final_state, see);
    for variant in &mut vector.variants {
        visit_course(&mut variant.steps, &mut variant.final_state, see);
    }
}

fn visit_course(
    steps: &mut [Step],
    final_state: &mut Option<Value>,
    see: &mut dyn FnMut(Part<'_>),
) {
    // Whose waiting statement asks for a variable.
    let mut of_server = BTreeSet::new();
    for step in steps {
        let session = step.session.clone().unwrap_or_default();
        match &mut step.sql {
            Some(sql) if sql.contains("@@") => {
                of_server.insert(session);
            }
            Some(sql) => {
                of_server.remove(&session);
                see(Part::Sql(sql));
            }
            None => {}
        }
        let own = step.session.clone().unwrap_or_default();
        if let Some(name) = &mut step.session {
            see(Part::Session(name));
        }
        let Some(Value::Object(expect)) = &mut step.expect else {
            continue;
        };
        // What a variable of the server says is the server's own word.
        if let Some(rows) = expect.get_mut("rows").filter(|_| !of_server.contains(&own)) {
            visit_rows(rows, see);
        }
        if let Some(Value::Array(by)) = expect.get_mut("by") {
            for name in by {
                if let Value::String(name) = name {
                    see(Part::Session(name));
                }
            }
        }
    }
    if let Some(Value::Object(state)) = final_state {
        if let Some(Value::String(sql)) = state.get_mut("query") {
            see(Part::Sql(sql));
        }
        if let Some(rows) = state.get_mut("result") {
            visit_rows(rows, see);
        }
    }
}

fn visit_rows(rows: &mut Value, see: &mut dyn FnMut(Part<'_>)) {
    match rows {
        Value::String(text) => see(Part::Cell(text)),
        Value::Array(parts) => parts.iter_mut().for_each(|part| visit_rows(part, see)),
        _ => {}
    }
}

/// Another name for each that the vector makes up.
fn other_names(flavor: Flavor, vector: &Vector, dice: &mut Dice) -> BTreeMap<String, String> {
    let mut old: BTreeSet<String> = vector.sessions.iter().cloned().collect();
    let mut seen = vector.clone();
    visit(&mut seen, &mut |part| {
        if let Part::Sql(sql) = part {
            old.extend(declared_names(flavor, sql));
        }
    });
    let mut taken = old.clone();
    let mut names = BTreeMap::new();
    for name in old {
        let other = loop {
            let other = dice.name();
            if taken.insert(other.clone()) {
                break other;
            }
        };
        names.insert(name, other);
    }
    names
}

/// Functions whose names a table or column may have, too.
const FUNCTIONS: [&str; 8] = [
    "count", "concat", "repeat", "now", "sleep", "values", "value", "mod",
];

fn sql_renamed(
    flavor: Flavor,
    sql: &str,
    names: &BTreeMap<String, String>,
    spelling: &Spelling,
) -> String {
    let Some(mut tokens) = tokens(flavor, sql) else {
        return sql.to_owned();
    };
    let values = value_tokens(&tokens);
    for at in 0..tokens.len() {
        let calls = matches!(tokens.get(at + 1), Some(Token::LParen));
        match &mut tokens[at] {
            Token::Word(Word { value, .. }) => {
                if calls && FUNCTIONS.contains(&value.to_lowercase().as_str()) {
                    continue;
                }
                if let Some(other) = names.get(value.as_str()) {
                    value.clone_from(other);
                }
            }
            Token::SingleQuotedString(text) if values.contains(&at) => *text = spelling.of(text),
            _ => {}
        }
    }
    let words: Vec<String> = tokens.iter().map(Token::to_string).collect();
    words.concat()
}

fn tokens(flavor: Flavor, sql: &str) -> Option<Vec<Token>> {
    Tokenizer::new(dialect(flavor), sql).tokenize().ok()
}

/// The texts of a statement that are values.
fn literals(flavor: Flavor, sql: &str) -> Vec<String> {
    let tokens = tokens(flavor, sql).unwrap_or_default();
    let values = value_tokens(&tokens);
    values
        .iter()
        .filter_map(|at| match &tokens[*at] {
            Token::SingleQuotedString(text) => Some(text.clone()),
            _ => None,
        })
        .collect()
}

/// Where the texts stand that are values: not settings, not lengths of time.
fn value_tokens(tokens: &[Token]) -> BTreeSet<usize> {
    let mut values = BTreeSet::new();
    let mut before = "";
    for (at, token) in tokens.iter().enumerate() {
        match token {
            Token::Whitespace(_) => continue,
            Token::Word(word) => {
                if values.is_empty()
                    && matches!(word.value.as_str(), "SET" | "ALTER")
                    && before.is_empty()
                {
                    return values;
                }
                before = &word.value;
            }
            Token::SingleQuotedString(_) if !before.eq_ignore_ascii_case("INTERVAL") => {
                values.insert(at);
                before = "'";
            }
            _ => before = "-",
        }
    }
    values
}

/// How texts are spelled: a letter and a digit for each that is used, in the same order.
struct Spelling {
    letters: BTreeMap<u8, u8>,
    digits: BTreeMap<u8, u8>,
}

impl Spelling {
    fn random(texts: &[String], dice: &mut Dice) -> Self {
        let texts: Vec<&String> = texts.iter().filter(|text| !is_time(text)).collect();
        let mut spelling = Spelling {
            letters: BTreeMap::new(),
            digits: BTreeMap::new(),
        };
        if !texts.iter().all(|text| text.is_ascii()) {
            return spelling;
        }
        let used = |class: fn(&u8) -> bool| -> BTreeSet<u8> {
            let bytes = texts.iter().flat_map(|text| text.bytes());
            bytes
                .map(|b| b.to_ascii_lowercase())
                .filter(class)
                .collect()
        };
        spelling.letters = dice.in_order(&used(u8::is_ascii_lowercase), b'a'..=b'z');
        // A text that begins with a digit can be compared as a number.
        let numbers = texts
            .iter()
            .any(|text| !text.starts_with(|c: char| c.is_ascii_alphabetic()));
        if !numbers {
            spelling.digits = dice.in_order(&used(u8::is_ascii_digit), b'0'..=b'9');
        }
        spelling
    }

    fn of(&self, text: &str) -> String {
        if is_time(text) {
            return text.to_owned();
        }
        let one = |c: char| match u8::try_from(c) {
            Ok(c) if c.is_ascii_uppercase() => {
                let lower = c.to_ascii_lowercase();
                self.letters
                    .get(&lower)
                    .unwrap_or(&lower)
                    .to_ascii_uppercase()
                    .into()
            }
            Ok(c) if c.is_ascii_lowercase() => char::from(*self.letters.get(&c).unwrap_or(&c)),
            Ok(c) if c.is_ascii_digit() => char::from(*self.digits.get(&c).unwrap_or(&c)),
            _ => c,
        };
        text.chars().map(one).collect()
    }
}

/// `2024-01-01 00:00:00`, maybe with a fraction.
fn is_time(text: &str) -> bool {
    let shape: String = text
        .chars()
        .map(|c| if c.is_ascii_digit() { '0' } else { c })
        .collect();
    shape.starts_with("0000-00-00 00:00:00")
}
