//! What a client has said on its connection: WATCH, and commands that wait for EXEC.

use super::redis::check;
use super::{ErrorReply, Key, Redis, Reply, Text};
use crate::Ms;
use std::collections::BTreeMap;

/// The commands of a transaction.
const COMMANDS: [&str; 5] = ["discard", "exec", "multi", "unwatch", "watch"];

/// A key that is watched: which, after how many changes, and whether it was set.
#[derive(Clone, Debug)]
struct Watched {
    key: Key,
    changes: usize,
    there: bool,
}

/// One connection.
#[derive(Clone, Debug, Default)]
struct Session {
    watched: Vec<Watched>,
    /// After MULTI.
    queued: Option<Vec<Vec<Text>>>,
    /// Whether a command was refused while it queued.
    spoiled: bool,
}

/// The connections on which something was said that lasts.
#[derive(Clone, Debug, Default)]
pub(super) struct Sessions(BTreeMap<Text, Session>);

impl Sessions {
    pub(super) fn forget(&mut self, connection: &str) {
        self.0.remove(connection);
    }

    fn of(&mut self, connection: &str) -> &mut Session {
        self.0.entry(connection.into()).or_default()
    }
}

pub(super) fn knows(name: &str) -> bool {
    COMMANDS
        .iter()
        .any(|known| known.eq_ignore_ascii_case(name))
}

fn error(text: &'static str) -> Result<Reply, ErrorReply> {
    Err(ErrorReply(text.into()))
}

impl Redis {
    /// A command on a connection: done, or queued behind a MULTI.
    pub(super) fn in_session(
        &mut self,
        now: Ms,
        connection: &str,
        words: &[Text],
    ) -> Result<Reply, ErrorReply> {
        let name = words.first().map(|name| name.to_ascii_lowercase());
        let session = self.sessions.of(connection);
        match name.as_deref().unwrap_or_default() {
            "multi" if session.queued.is_some() => error("ERR MULTI calls can not be nested"),
            "multi" => {
                session.queued = Some(Vec::new());
                Ok(Reply::OK)
            }
            "discard" if session.queued.is_none() => error("ERR DISCARD without MULTI"),
            "discard" => {
                self.sessions.forget(connection);
                Ok(Reply::OK)
            }
            "exec" => self.exec(now, connection),
            "watch" if session.queued.is_some() => error("ERR WATCH inside MULTI is not allowed"),
            "watch" if words.len() < 2 => Err(ErrorReply::arity("watch")),
            "watch" => {
                let keys = &self.server.keys;
                let watched = words[1..].iter().map(|key| Watched {
                    key: key.clone(),
                    changes: keys.changes(),
                    there: keys.get(now, key).is_some(),
                });
                session.watched.extend(watched);
                Ok(Reply::OK)
            }
            "unwatch" if session.queued.is_none() => {
                session.watched.clear();
                Ok(Reply::OK)
            }
            _ => match &mut session.queued {
                None => self.run_alone(now, words),
                Some(queued) => match check(words) {
                    Ok(_) => {
                        queued.push(words.to_vec());
                        Ok(Reply::QUEUED)
                    }
                    Err(refused) => {
                        session.spoiled = true;
                        Err(refused)
                    }
                },
            },
        }
    }

    fn exec(&mut self, now: Ms, connection: &str) -> Result<Reply, ErrorReply> {
        let session = std::mem::take(self.sessions.of(connection));
        let Some(queued) = session.queued else {
            self.sessions.of(connection).watched = session.watched;
            return error("ERR EXEC without MULTI");
        };
        if session.spoiled {
            return error("EXECABORT Transaction discarded because of previous errors.");
        }
        let keys = &self.server.keys;
        let changed = |watched: &Watched| {
            keys.changed_since(watched.changes, &watched.key)
                || (watched.there && keys.get(now, &watched.key).is_none())
        };
        if session.watched.iter().any(changed) {
            return Ok(Reply::Nil);
        }
        let answers = queued.iter().map(|words| self.run_alone(now, words).into());
        Ok(Reply::List(answers.collect()))
    }
}
