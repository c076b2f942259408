//! What the parser does not know is said in words that it knows, token by token.

use super::{Unsupported, unsupported};
use sqlparser::dialect::Dialect;
use sqlparser::tokenizer::{Token, Tokenizer, Word};

/// What was said in words that the parser does not have.
#[derive(Clone, Copy, Debug, Default)]
pub struct Asides {
    /// `WITH CONSISTENT SNAPSHOT`
    pub snapshot: bool,
    /// `REPLACE`, which is read as an INSERT.
    pub replace: bool,
    /// `ALTER SYSTEM SET`, which is read as a SET.
    pub system: bool,
}

/// The tokens of a statement, without what was said aside.
pub fn tokens(dialect: &dyn Dialect, sql: &str) -> Result<(Vec<Token>, Asides), Unsupported> {
    let mut tokens = match Tokenizer::new(dialect, sql).tokenize() {
        Ok(tokens) => tokens,
        Err(error) => return unsupported(format!("a statement that is not read ({error})")),
    };
    tokens.retain(|token| !matches!(token, Token::Whitespace(_)));
    let snapshot = put(&mut tokens, "WITH CONSISTENT SNAPSHOT", "");
    // MySQL's old words for a shared lock.
    put(&mut tokens, "LOCK IN SHARE MODE", "FOR SHARE");
    put(
        &mut tokens,
        "SET SESSION TRANSACTION",
        "SET SESSION CHARACTERISTICS AS TRANSACTION",
    );
    let system = put(&mut tokens, "ALTER SYSTEM SET", "SET");
    let replace = tokens.first().is_some_and(|token| is(token, "REPLACE"));
    if replace {
        put(&mut tokens, "REPLACE", "INSERT");
    }
    let asides = Asides {
        snapshot,
        replace,
        system,
    };
    Ok((tokens, asides))
}

/// Puts other words in the place of these, where they first stand; tells whether they do.
fn put(tokens: &mut Vec<Token>, words: &str, instead: &str) -> bool {
    let words: Vec<&str> = words.split(' ').collect();
    let Some(at) = tokens.windows(words.len()).position(|window| {
        let mut pairs = window.iter().zip(&words);
        pairs.all(|(token, word)| is(token, word))
    }) else {
        return false;
    };
    let instead = instead.split_whitespace().map(Token::make_keyword);
    tokens.splice(at..at + words.len(), instead);
    true
}

fn is(token: &Token, word: &str) -> bool {
    matches!(
        token,
        Token::Word(Word { value, quote_style: None, .. }) if value.eq_ignore_ascii_case(word)
    )
}
