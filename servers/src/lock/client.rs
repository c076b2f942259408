//! A client library: what the application hears where a connection breaks.
//!
//! redis-py 8 repeats a command by itself (10 times, 10 ms doubling to 1 s with jitter; see
//! `redis/_defaults.py`), so that a SET NX whose reply was lost answers nil: not acquired, no
//! error, and its own token holds the lock. go-redis (3 retries), Jedis with `maxAttempts` and
//! Lettuce (at least once) do the same; redis-py before 6 did not.

use crate::Ms;
use crate::broken::{self, Broken};

/// Where a command and its reply are cut off.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Cut {
    /// Before the server gets the command.
    Request,
    /// After the server did it.
    Reply,
}

/// The connection broke: what became of the command is not known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, thiserror::Error)]
#[error("the connection broke; whether the command was done is not known")]
pub struct Lost;

/// A client library.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub struct Client {
    /// How often it sends a command again by itself when the connection broke.
    pub retries: u32,
    /// How long it waits before the first repetition; each further wait is twice as long.
    pub backoff: Ms,
}

impl Client {
    /// One that gives every error to the application.
    pub const PLAIN: Client = Client {
        retries: 0,
        backoff: 0,
    };

    /// redis-py 8 with its defaults, without jitter.
    pub const REDIS_PY: Client = Client {
        retries: 10,
        backoff: 10,
    };

    /// Sends a command of which the first sendings meet these cuts. `serve` does the command at
    /// the server, so many milliseconds after the first sending.
    ///
    /// # Errors
    ///
    /// If the last sending was cut off as well.
    pub fn send<R>(&self, cuts: &[Cut], mut serve: impl FnMut(Ms) -> R) -> Result<R, Lost> {
        let (mut waited, mut backoff) = (0, self.backoff);
        for sending in 0..=self.retries as usize {
            match cuts.get(sending) {
                None => return Ok(serve(waited)),
                Some(Cut::Request) => {}
                Some(Cut::Reply) if broken::is(Broken::LostReplyUndoesLock) => {}
                Some(Cut::Reply) => drop(serve(waited)),
            }
            waited += backoff;
            backoff = (backoff * 2).min(1000);
        }
        Err(Lost)
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Keys, Lives, Only};
    use super::*;

    /// SET k 1 NX PX 60000 through this client, with these cuts; and whether it is set then.
    fn take(client: Client, cuts: &[Cut]) -> (Result<bool, Lost>, bool) {
        let mut keys = Keys::default();
        let heard = client.send(cuts, |waited| {
            let lives = Lives::Until(waited + 60_000);
            keys.set(waited, &"k".into(), 1, Only::IfAbsent, lives)
        });
        (heard, keys.get(0, "k").is_some())
    }

    #[test]
    fn a_lost_request_and_a_lost_reply_look_the_same() {
        assert_eq!(take(Client::PLAIN, &[Cut::Request]), (Err(Lost), false));
        assert_eq!(take(Client::PLAIN, &[Cut::Reply]), (Err(Lost), true));
    }

    #[test]
    fn a_client_that_repeats_by_itself_hides_that_it_holds_the_lock() {
        assert_eq!(take(Client::REDIS_PY, &[Cut::Reply]), (Ok(false), true));
        assert_eq!(take(Client::REDIS_PY, &[Cut::Request]), (Ok(true), true));
        assert_eq!(
            take(Client::REDIS_PY, &[Cut::Request; 11]),
            (Err(Lost), false)
        );
    }

    #[test]
    fn waits_double_up_to_a_second() {
        let mut when = Vec::new();
        let _ = Client::REDIS_PY.send(&[Cut::Reply; 11], |waited| when.push(waited));
        assert_eq!(when, [0, 10, 30, 70, 150, 310, 630, 1270, 2270, 3270, 4270]);
    }
}
