//! What Redis answers, as it stands on the wire (RESP2).

use super::Text;
use std::borrow::Cow;

/// An answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reply {
    /// A status, such as `OK`.
    Status(Cow<'static, str>),
    /// A number.
    Int(i64),
    /// A value.
    Bulk(Text),
    /// Nothing is there, or it was not done.
    Nil,
    /// Several answers.
    List(Vec<Reply>),
    /// An error.
    Error(ErrorReply),
}

/// An error: a code, then what a person reads.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct ErrorReply(pub Cow<'static, str>);

impl ErrorReply {
    /// `ERR syntax error`.
    pub const SYNTAX: ErrorReply = ErrorReply(Cow::Borrowed("ERR syntax error"));
    /// A number was expected.
    pub const NOT_A_NUMBER: ErrorReply =
        ErrorReply(Cow::Borrowed("ERR value is not an integer or out of range"));

    /// A time to live that is not positive, or beyond what a moment can be.
    pub(super) fn expire_time(command: &str) -> Self {
        ErrorReply(format!("ERR invalid expire time in '{command}' command").into())
    }

    /// Too few or too many words.
    pub(super) fn arity(command: &str) -> Self {
        ErrorReply(format!("ERR wrong number of arguments for '{command}' command").into())
    }

    /// The first word: `ERR`, `EXECABORT`, `NOSCRIPT`.
    pub fn code(&self) -> &str {
        self.0.split(' ').next().unwrap_or_default()
    }
}

impl Reply {
    /// `OK`.
    pub const OK: Reply = Reply::Status(Cow::Borrowed("OK"));
    /// The command waits for EXEC.
    pub const QUEUED: Reply = Reply::Status(Cow::Borrowed("QUEUED"));

    /// 1 or 0.
    pub(super) fn flag(done: bool) -> Self {
        Reply::Int(i64::from(done))
    }

    /// A value, or nil.
    pub(super) fn value(value: Option<&Text>) -> Self {
        value.map_or(Reply::Nil, |value| Reply::Bulk(value.clone()))
    }
}

impl From<Result<Reply, ErrorReply>> for Reply {
    fn from(result: Result<Reply, ErrorReply>) -> Self {
        result.unwrap_or_else(Reply::Error)
    }
}
