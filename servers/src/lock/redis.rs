//! Redis: commands as words, looked up in one table.

use super::session::Sessions;
use super::{ErrorReply, Key, Persistence, Reply, Server, Stop, Text, commands, expiring, lua};
use crate::Ms;

/// What a command does; the first of its words is its name.
type Run = fn(&mut Redis, Ms, &[Text]) -> Result<Reply, ErrorReply>;

/// A command: name, how many words it has (negative: at least so many), what it does.
pub(super) struct Command {
    pub(super) name: &'static str,
    words: i8,
    pub(super) run: Run,
}

const fn command(name: &'static str, words: i8, run: Run) -> Command {
    Command { name, words, run }
}

/// Every command that the model has, but those of a transaction: see [`super::session`].
const COMMANDS: [Command; 41] = [
    command("append", 3, commands::append),
    command("bgsave", -1, commands::save),
    command("config", -2, commands::config),
    command("dbsize", 1, commands::dbsize),
    command("decr", 2, commands::decr),
    command("decrby", 3, commands::decrby),
    command("del", -2, commands::del),
    command("eval", -3, lua::eval),
    command("exists", -2, commands::exists),
    command("expire", -3, expiring::expire),
    command("expireat", -3, expiring::expire),
    command("expiretime", 2, expiring::left),
    command("flushall", -1, commands::flush),
    command("flushdb", -1, commands::flush),
    command("get", 2, commands::get),
    command("getdel", 2, commands::getdel),
    command("getex", -2, expiring::getex),
    command("getset", 3, commands::getset),
    command("incr", 2, commands::incr),
    command("incrby", 3, commands::incrby),
    command("mget", -2, commands::mget),
    command("mset", -3, commands::mset),
    command("msetnx", -3, commands::mset),
    command("persist", 2, expiring::persist),
    command("pexpire", -3, expiring::expire),
    command("pexpireat", -3, expiring::expire),
    command("pexpiretime", 2, expiring::left),
    command("ping", -1, commands::ping),
    command("psetex", 4, expiring::setex),
    command("pttl", 2, expiring::left),
    command("save", 1, commands::save),
    command("select", 2, commands::ok),
    command("set", -3, commands::set),
    command("setex", 4, expiring::setex),
    command("setnx", 3, commands::setnx),
    command("strlen", 2, commands::strlen),
    command("time", 1, commands::time),
    command("touch", -2, commands::exists),
    command("ttl", 2, expiring::left),
    command("unlink", -2, commands::del),
    command("wait", 3, commands::wait),
];

/// How long changes are remembered: WATCH asks what was changed, and a failover what was lost.
const REMEMBERED: Ms = 3_600_000;

/// The server, its connections, and what clients have said on them.
#[derive(Clone, Debug)]
pub struct Redis {
    /// The keys and their disk.
    pub server: Server<Text>,
    pub(super) sessions: Sessions,
}

impl Redis {
    /// An empty server.
    pub fn new(persistence: Persistence) -> Self {
        Redis {
            server: Server::new(persistence, REMEMBERED),
            sessions: Sessions::default(),
        }
    }

    /// Whether the model has a command of this name.
    pub fn knows(name: &str) -> bool {
        find(name).is_some() || super::session::knows(name)
    }

    /// A command, as words, from a connection that goes by a name.
    pub fn run(&mut self, now: Ms, connection: &str, words: &[Text]) -> Reply {
        self.in_session(now, connection, words).into()
    }

    /// A connection is closed, by whomever: what was said on it is forgotten.
    pub fn disconnect(&mut self, connection: &str) {
        self.sessions.forget(connection);
    }

    /// Stops the server; every connection breaks.
    pub fn stop(&mut self, now: Ms, how: Stop) {
        self.server.stop(now, how);
        self.sessions = Sessions::default();
    }

    /// A command outside a transaction.
    pub(super) fn run_alone(&mut self, now: Ms, words: &[Text]) -> Result<Reply, ErrorReply> {
        let command = check(words)?;
        (command.run)(self, now, words)
    }

    pub(super) fn value(&self, now: Ms, key: &Key) -> Option<&Text> {
        self.server.keys.get(now, key)
    }
}

/// The command of these words, if they are enough.
pub(super) fn check(words: &[Text]) -> Result<&'static Command, ErrorReply> {
    let name = words.first().map_or("", |name| name);
    let Some(command) = find(name) else {
        let text = format!("ERR unknown command '{name}'");
        return Err(ErrorReply(text.into()));
    };
    let (given, asked) = (words.len(), usize::from(command.words.unsigned_abs()));
    let fits = if command.words < 0 {
        given >= asked
    } else {
        given == asked
    };
    if fits {
        Ok(command)
    } else {
        Err(ErrorReply::arity(command.name))
    }
}

fn find(name: &str) -> Option<&'static Command> {
    COMMANDS
        .iter()
        .find(|command| command.name.eq_ignore_ascii_case(name))
}

/// A whole number, as Redis reads it.
pub(super) fn number(word: &str) -> Result<i64, ErrorReply> {
    let canonical = word.parse::<i64>().ok();
    canonical
        .filter(|number| number.to_string() == word)
        .ok_or(ErrorReply::NOT_A_NUMBER)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a line answers on a server on which the lines before it were said.
    fn last(lines: &[&str]) -> Reply {
        let mut redis = Redis::new(Persistence::None);
        let answers = (1000..).zip(lines).map(|(now, line)| {
            let words: Vec<Text> = line.split(' ').map(Text::from).collect();
            redis.run(now, "c", &words)
        });
        answers.last().unwrap_or(Reply::Nil)
    }

    fn bulk(text: &str) -> Reply {
        Reply::Bulk(text.into())
    }

    fn error(text: &'static str) -> Reply {
        Reply::Error(ErrorReply(text.into()))
    }

    #[test]
    fn the_table_of_commands_is_in_order() {
        assert!(COMMANDS.is_sorted_by(|a, b| a.name < b.name));
    }

    // Each was said to Redis 7.0.15.
    #[test]
    fn set_takes_its_options_as_redis_does() {
        let expire = error("ERR invalid expire time in 'set' command");
        for (lines, answer) in [
            (&["SET k a NX XX"][..], Reply::Error(ErrorReply::SYNTAX)),
            (&["SET k a PX 10 KEEPTTL"], Reply::Error(ErrorReply::SYNTAX)),
            (&["SET k a EX 10 PX 10"], Reply::Error(ErrorReply::SYNTAX)),
            (&["SET k a KEEPTTL KEEPTTL"], Reply::OK),
            (&["SET k a PX abc"], Reply::Error(ErrorReply::NOT_A_NUMBER)),
            (
                &["SET k a PX 99999999999999999999"],
                Reply::Error(ErrorReply::NOT_A_NUMBER),
            ),
            (&["SET k a EX 0"], expire.clone()),
            (&["SET k a PXAT -1"], expire.clone()),
            (&["SET k a PX 9223372036854775807"], expire),
            (
                &["SET k"],
                error("ERR wrong number of arguments for 'set' command"),
            ),
            (&["SET k a GET"], Reply::Nil),
            (&["SET k a", "SET k b XX GET"], bulk("a")),
            (&["SET k b XX"], Reply::Nil),
            (&["SET k a NX GET PXAT 1", "EXISTS k"], Reply::Int(0)),
            (&["SET k v PX 1600", "TTL k"], Reply::Int(2)),
            (
                &["SET k v PX 1600", "PEXPIRE k 1498", "TTL k"],
                Reply::Int(1),
            ),
        ] {
            assert_eq!(last(lines), answer, "{lines:?}");
        }
    }

    #[test]
    fn ends_move_as_redis_moves_them() {
        let both = error("ERR NX and XX, GT or LT options at the same time are not compatible");
        for (line, answer) in [
            ("EXPIRE k 100 GT", Reply::Int(0)),
            ("EXPIRE k 100 LT", Reply::Int(1)),
            ("EXPIRE k 100 NX", Reply::Int(1)),
            ("EXPIRE k 100 XX", Reply::Int(0)),
            ("EXPIRE k 100 NX XX", both),
            ("EXPIRE k 100 QQ", error("ERR Unsupported option QQ")),
            ("PEXPIRE k abc", Reply::Error(ErrorReply::NOT_A_NUMBER)),
            ("PEXPIRE k 0", Reply::Int(1)),
            ("PERSIST k", Reply::Int(0)),
            ("PTTL k", Reply::Int(-1)),
            ("PTTL none", Reply::Int(-2)),
            (
                "GETEX k PX 0",
                error("ERR invalid expire time in 'getex' command"),
            ),
        ] {
            assert_eq!(last(&["SET k 1", line]), answer, "{line}");
        }
        assert_eq!(last(&["SET k 1", "PEXPIRE k -5", "GET k"]), Reply::Nil);
        assert_eq!(
            last(&["SETEX k 0 a"]),
            error("ERR invalid expire time in 'setex' command")
        );
    }

    #[test]
    fn a_transaction_runs_unless_something_watched_was_changed() {
        let transaction = ["WATCH k", "MULTI", "INCR k", "GET k", "EXEC"];
        assert_eq!(
            last(&transaction),
            Reply::List(vec![Reply::Int(1), bulk("1")])
        );
        assert_eq!(last(&transaction[..3]), Reply::QUEUED);
        assert_eq!(
            last(&["WATCH k", "SET k 1", "MULTI", "SET k 2", "EXEC"]),
            Reply::Nil
        );
        assert_eq!(
            last(&["SET k 1 PX 2", "WATCH k", "MULTI", "SET k 2", "EXEC"]),
            Reply::Nil,
            "it was there when it was watched, and its time is over"
        );
        assert_eq!(
            last(&["MULTI", "SET k", "EXEC"]),
            error("EXECABORT Transaction discarded because of previous errors.")
        );
        assert_eq!(last(&["EXEC"]), error("ERR EXEC without MULTI"));
        assert_eq!(
            last(&["MULTI", "MULTI"]),
            error("ERR MULTI calls can not be nested")
        );
        assert_eq!(last(&["DISCARD"]), error("ERR DISCARD without MULTI"));
    }
}
