//! A script as words.

use super::NotLua;

/// A word of a script.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Word {
    /// A name or a keyword.
    Name(String),
    Number(f64),
    Text(String),
    /// An operator or a bracket.
    Sign(&'static str),
}

/// Longer ones first: the first that fits is taken.
const SIGNS: [&str; 22] = [
    "==", "~=", "<=", ">=", "..", "(", ")", "[", "]", "{", "}", "=", "<", ">", "+", "-", "*", "/",
    "%", "#", ",", ".",
];

/// The words of a script, without its comments.
pub(super) fn words(script: &str) -> Result<Vec<Word>, NotLua> {
    let mut words = Vec::new();
    let mut rest = script.trim_start();
    while let Some(first) = rest.chars().next() {
        let length = if rest.starts_with("--[[") {
            rest.find("]]").map_or(rest.len(), |end| end + 2)
        } else if rest.starts_with("--") {
            rest.find('\n').unwrap_or(rest.len())
        } else if first == ';' {
            1
        } else if first.is_ascii_alphabetic() || first == '_' {
            let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_');
            let length = end.unwrap_or(rest.len());
            words.push(Word::Name(rest[..length].to_owned()));
            length
        } else if first.is_ascii_digit() {
            let end = rest.find(|c: char| !c.is_ascii_digit() && c != '.');
            let length = end.unwrap_or(rest.len());
            let number = rest[..length].parse();
            let number = number.map_err(|_| NotLua(format!("number {}", &rest[..length])))?;
            words.push(Word::Number(number));
            length
        } else if first == '\'' || first == '"' {
            let (text, length) = quoted(rest, first)?;
            words.push(Word::Text(text));
            length
        } else if let Some(sign) = SIGNS.iter().find(|sign| rest.starts_with(**sign)) {
            words.push(Word::Sign(sign));
            sign.len()
        } else {
            return Err(NotLua(format!("`{first}`")));
        };
        rest = rest[length..].trim_start();
    }
    Ok(words)
}

/// A text in quotes, and how long it is written.
fn quoted(rest: &str, quote: char) -> Result<(String, usize), NotLua> {
    let mut text = String::new();
    let mut chars = rest.char_indices().skip(1);
    while let Some((at, c)) = chars.next() {
        match c {
            c if c == quote => return Ok((text, at + 1)),
            '\\' => match chars.next() {
                Some((_, 'n')) => text.push('\n'),
                Some((_, 't')) => text.push('\t'),
                Some((_, c)) => text.push(c),
                None => break,
            },
            c => text.push(c),
        }
    }
    Err(NotLua("a text without end".to_owned()))
}
