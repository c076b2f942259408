//! Scripts: the part of Lua in which locks are written.
//!
//! Local variables, `if`, counted `for`, `return`, arithmetic, comparisons, tables, and calls of
//! `redis.call`, `redis.pcall`, `redis.error_reply`, `redis.status_reply`, `tonumber`, `tostring`,
//! `math.floor`, `math.max` and `math.min`. A script runs at one instant, with nobody in between;
//! what it did stays done when it fails later.

mod parse;
mod run;
mod words;

use super::{ErrorReply, Redis, Reply, Text};
use crate::Ms;
pub use parse::Script;

/// A script that is not written in the part of Lua that the model knows.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the script is not in the part of Lua that is modelled: {0}")]
pub struct NotLua(pub(super) String);

/// EVAL script keys key ... argument ...
pub(super) fn eval(redis: &mut Redis, now: Ms, words: &[Text]) -> Result<Reply, ErrorReply> {
    let keys = super::redis::number(&words[2])?;
    let Ok(keys) = usize::try_from(keys) else {
        return Err(ErrorReply("ERR Number of keys can't be negative".into()));
    };
    let Some((keys, arguments)) = words[3..].split_at_checked(keys) else {
        let text = "ERR Number of keys can't be greater than number of args";
        return Err(ErrorReply(text.into()));
    };
    let script = Script::parse(&words[1])
        .map_err(|error| ErrorReply(format!("ERR Error compiling script: {error}").into()))?;
    script.run(redis, now, keys, arguments)
}
