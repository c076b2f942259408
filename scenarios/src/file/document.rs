//! The text of a file as a tree that still knows where everything stands.

use super::error::ScenarioError;
use serde::Deserialize;
use std::ops::Range;
use toml::Spanned;
use toml::de::{DeString, DeTable, DeValue, Error, ValueDeserializer};

/// The longest file accepted, in bytes.
pub(crate) const MAX_BYTES: usize = 1 << 20;

/// A parsed file.
#[derive(Clone)]
pub(crate) struct Document<'a> {
    file: &'a str,
    text: &'a str,
    root: Node<'a>,
}

/// A value of the tree, with its place in the text.
pub(crate) type Node<'a> = Spanned<DeValue<'a>>;

/// The place of values that the file does not have.
const NOWHERE: Range<usize> = 0..0;

impl<'a> Document<'a> {
    /// Parses TOML.
    pub fn parse(text: &'a str, file: &'a str) -> Result<Self, ScenarioError> {
        if text.len() > MAX_BYTES {
            return Err(ScenarioError::whole(file, too_large(text.len() as u64)));
        }
        let table = DeTable::parse(text).map_err(|error| {
            let span = error.span().unwrap_or(NOWHERE);
            ScenarioError::part(file, text, span, sentence(error.message()))
        })?;
        let root = Spanned::new(table.span(), DeValue::Table(table.into_inner()));
        Ok(Document { file, text, root })
    }

    /// Reads the whole file as a `T`.
    pub fn read<T: Deserialize<'a>>(&self) -> Result<T, ScenarioError> {
        T::deserialize(ValueDeserializer::from(self.root.clone()))
            .map_err(|error| self.explain(&error))
    }

    /// The value at a dotted path such as `timer.0.slots`.
    pub fn get(&self, path: &str) -> Option<&Node<'a>> {
        path.split('.')
            .try_fold(&self.root, |value, part| child(value.get_ref(), part))
    }

    /// The text at a dotted path.
    pub fn str(&self, path: &str) -> Option<&str> {
        self.get(path)?.get_ref().as_str()
    }

    /// Takes a top-level key out.
    pub fn take(&mut self, key: &str) -> Option<Node<'a>> {
        match self.root.get_mut() {
            DeValue::Table(table) => table.remove(key),
            _ => None,
        }
    }

    /// Puts a value at a path, making the tables on the way; false where something on the way is
    /// no table.
    pub fn put(&mut self, path: &[&str], value: Node<'a>) -> bool {
        put(&mut self.root, path, value)
    }

    /// The place in the list `list` of the table whose `key` is `name`.
    pub fn place_in(&self, list: &str, key: &str, name: &str) -> Option<usize> {
        self.get(list)?
            .get_ref()
            .as_array()?
            .iter()
            .position(|item| {
                child(item.get_ref(), key).and_then(|id| id.get_ref().as_str()) == Some(name)
            })
    }

    /// Adds a table with `key` = `name` to the list `list`; gives its place, or `None` where
    /// something else stands there.
    pub fn add_to(&mut self, list: &str, key: &str, name: &str) -> Option<usize> {
        if self.get(list).is_none() {
            self.put(
                &[list],
                Spanned::new(NOWHERE, DeValue::Array(Default::default())),
            );
        }
        let DeValue::Table(root) = self.root.get_mut() else {
            return None;
        };
        let DeValue::Array(items) = root.get_mut(list)?.get_mut() else {
            return None;
        };
        let mut item = Spanned::new(NOWHERE, DeValue::Table(DeTable::new()));
        let name = DeValue::String(DeString::Owned(name.to_owned()));
        put(&mut item, &[key], Spanned::new(NOWHERE, name));
        items.push(item);
        Some(items.len() - 1)
    }

    /// Fills in a default, written as TOML, where the path has no value.
    pub fn default(&mut self, path: &str, value: &'static str) {
        if self.get(path).is_some() {
            return;
        }
        if let Ok(value) = DeValue::parse(value) {
            let path: Vec<&str> = path.split('.').collect();
            self.put(&path, Spanned::new(NOWHERE, value.into_inner()));
        }
    }

    /// An error about a part of the text.
    pub fn error_at(&self, span: Range<usize>, message: impl Into<String>) -> ScenarioError {
        ScenarioError::part(self.file, self.text, span, message)
    }

    /// An error about the value at a dotted path, or about what stands nearest to it.
    pub fn error(&self, path: &str, message: impl Into<String>) -> ScenarioError {
        let mut path = path;
        loop {
            if let Some(value) = self.get(path).filter(|value| value.span() != NOWHERE) {
                return ScenarioError::part(self.file, self.text, value.span(), message);
            }
            match path.rsplit_once('.') {
                Some((parent, _)) => path = parent,
                None => return ScenarioError::whole(self.file, message),
            }
        }
    }

    /// The same about the key itself.
    pub fn key_error(&self, path: &str, message: impl Into<String>) -> ScenarioError {
        let (table, key) = match path.rsplit_once('.') {
            Some((parent, key)) => (self.get(parent), key),
            None => (Some(&self.root), path),
        };
        let table = table.and_then(|table| table.get_ref().as_table());
        match table.and_then(|table| table.get_key_value(key)) {
            Some((key, _)) => ScenarioError::part(self.file, self.text, key.span(), message),
            None => self.error(path, message),
        }
    }

    /// Turns serde's message into a sentence, and finds the key or value that it names.
    ///
    /// Values with a `kind` are buffered by serde, so that their errors only know the table.
    fn explain(&self, error: &Error) -> ScenarioError {
        let message = sentence(error.message());
        let Some(span) = error.span().filter(|span| *span != NOWHERE) else {
            return ScenarioError::whole(self.file, message);
        };
        let named = message
            .split('`')
            .nth(1)
            .or_else(|| error.message().split('"').nth(1));
        let found = named.and_then(|word| find(&self.root, &span, word));
        ScenarioError::part(self.file, self.text, found.unwrap_or(span), message)
    }
}

/// What to say of a file that is too long.
pub(crate) fn too_large(bytes: u64) -> String {
    format!("the file has {bytes} bytes; allowed are at most {MAX_BYTES} (1 MiB)")
}

fn child<'t, 'a>(value: &'t DeValue<'a>, part: &str) -> Option<&'t Node<'a>> {
    match value {
        DeValue::Table(table) => table.get(part),
        DeValue::Array(list) => list.get(part.parse::<usize>().ok()?),
        _ => None,
    }
}

/// Puts `value` at `path` below `into`, making the tables on the way; false where something on
/// the way is neither a table nor an entry of a list.
fn put<'a>(into: &mut Node<'a>, path: &[&str], value: Node<'a>) -> bool {
    let Some((first, rest)) = path.split_first() else {
        *into = value;
        return true;
    };
    match into.get_mut() {
        DeValue::Table(table) if table.contains_key(*first) => table
            .get_mut(*first)
            .is_some_and(|next| put(next, rest, value)),
        DeValue::Table(table) => {
            let mut next = Spanned::new(value.span(), DeValue::Table(DeTable::new()));
            let key = Spanned::new(value.span(), DeString::Owned((*first).to_owned()));
            let done = put(&mut next, rest, value);
            table.insert(key, next);
            done
        }
        DeValue::Array(list) => first
            .parse::<usize>()
            .ok()
            .and_then(|place| list.get_mut(place))
            .is_some_and(|next| put(next, rest, value)),
        _ => false,
    }
}

/// Where, inside the table that has this span, a key or a text reads `word`.
fn find(value: &Node<'_>, span: &Range<usize>, word: &str) -> Option<Range<usize>> {
    let is_it = value.span() == *span && value.get_ref().is_table();
    if is_it && let Some(found) = word_in(value.get_ref(), word) {
        return Some(found);
    }
    match value.get_ref() {
        DeValue::Table(table) => table.values().find_map(|inner| find(inner, span, word)),
        DeValue::Array(list) => list.iter().find_map(|inner| find(inner, span, word)),
        _ => None,
    }
}

fn word_in(value: &DeValue<'_>, word: &str) -> Option<Range<usize>> {
    let shown = |span: Range<usize>| Some(span).filter(|span| *span != NOWHERE);
    match value {
        DeValue::Table(table) => table.iter().find_map(|(key, value)| {
            if key.get_ref() == word {
                return shown(key.span());
            }
            shown(value.span())
                .filter(|_| value.get_ref().as_str() == Some(word))
                .or_else(|| word_in(value.get_ref(), word))
        }),
        DeValue::Array(list) => list.iter().find_map(|item| word_in(item.get_ref(), word)),
        _ => None,
    }
}

/// Serde's and TOML's messages in the words of this file format, on one line.
fn sentence(message: &str) -> String {
    let message = message.split_whitespace().collect::<Vec<_>>().join(" ");
    if let Some(name) = message.strip_prefix("missing field ") {
        return format!("the key {name} is missing");
    }
    let Some((said, allowed)) = message.split_once(", expected ") else {
        return message
            .replacen("unknown field ", "unknown key ", 1)
            .replacen(", there are no fields", "; no key is allowed here", 1);
    };
    let said = said.replacen("unknown field ", "unknown key ", 1).replacen(
        "unknown variant ",
        "unknown value ",
        1,
    );
    let said = match said
        .strip_prefix("invalid type: ")
        .or(said.strip_prefix("invalid value: "))
    {
        Some("map") => "a table does not fit here".to_owned(),
        Some("sequence") => "a list does not fit here".to_owned(),
        Some(found) => format!("{found} does not fit here"),
        None => said,
    };
    match allowed.strip_prefix("one of ") {
        Some(several) => format!("{said}; allowed are {several}"),
        None => format!("{said}; allowed is {}", in_words(allowed)),
    }
}

/// What serde calls by the names of Rust's types.
fn in_words(expected: &str) -> &str {
    match expected {
        "u8" => "a whole number from 0 to 255",
        "u16" => "a whole number from 0 to 65535",
        "u32" | "u64" => "a whole number from 0 on",
        "i32" | "i64" => "a whole number",
        "a boolean" => "true or false",
        "a sequence" => "a list",
        "internally tagged enum" | "a map" => "a table",
        other if other.starts_with("struct ") => "a table",
        other if other.starts_with("internally tagged enum ") => "a table with a `kind`",
        other => other,
    }
}
