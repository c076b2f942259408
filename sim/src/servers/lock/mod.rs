//! The lock service: the model of `servers`, with the simulator's keys and tokens.

use crate::agenda::Ms;
use scenarios::file::LockTable;
use scheduler::ports::{LockKey, Token};
use servers::lock::{Lives, Only, Persistence, Server, Stop};

/// What a call asks of the lock service.
#[derive(Clone, Debug)]
pub(crate) enum LockRequest {
    /// SET key token NX [PX ttl].
    SetIfAbsent {
        key: LockKey,
        token: Token,
        ttl: Option<Ms>,
    },
    /// SET key token XX PX ttl.
    SetIfPresent { key: LockKey, token: Token, ttl: Ms },
    /// GET.
    Get { key: LockKey },
    /// PEXPIRE, for this owner only where one is given.
    Expire {
        key: LockKey,
        owner: Option<Token>,
        ttl: Ms,
    },
    /// DEL, for this owner only where one is given.
    Delete { key: LockKey, owner: Option<Token> },
}

/// What it answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Locked {
    Done(bool),
    Owner(Option<Token>),
}

/// The lock service.
pub(crate) struct Locks {
    pub(crate) server: Server<Token>,
}

impl Default for Locks {
    fn default() -> Self {
        Locks {
            server: Server::new(Persistence::None, 0),
        }
    }
}

impl Locks {
    /// No key is set.
    pub(crate) fn open(&mut self, table: &LockTable) {
        let lag = table.loses_at_most().ms();
        self.server = Server::new(table.on_disk(), lag);
    }

    /// Does what the request says.
    pub(crate) fn handle(&mut self, now: Ms, request: LockRequest) -> Locked {
        let keys = &mut self.server.keys;
        Locked::Done(match request {
            LockRequest::SetIfAbsent { key, token, ttl } => {
                let lives = ttl.map_or(Lives::Forever, |ttl| Lives::Until(now + ttl));
                keys.set(now, &key, token, Only::IfAbsent, lives)
            }
            LockRequest::SetIfPresent { key, token, ttl } => {
                let lives = Lives::Until(now + ttl);
                keys.set(now, &key, token, Only::IfPresent, lives)
            }
            LockRequest::Get { key } => return Locked::Owner(keys.get(now, &key).copied()),
            LockRequest::Expire { key, owner, ttl } => match owner {
                Some(owner) => keys.expire_if(now, &key, &owner, now + ttl),
                None => keys.expire(now, &key, Some(now + ttl)),
            },
            LockRequest::Delete { key, owner } => match owner {
                Some(owner) => keys.delete_if(now, &key, &owner),
                None => keys.delete(now, &key),
            },
        })
    }

    /// It is killed: what is not on disk is gone.
    pub(crate) fn go_down(&mut self, now: Ms) {
        self.server.stop(now, Stop::Killed);
    }
}
