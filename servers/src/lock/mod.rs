//! The lock service: Redis 7.0, as locks use it.
//!
//! Two layers. [`Keys`] and [`Server`] are the mechanism: keys with a value and an end, what a
//! restart and a failover leave of them. Values are of any type, so that a simulator can use its
//! own. [`Redis`] speaks the commands and scripts on top of it, as words; it is what the vectors
//! are held against. The two scripts that locks are made of (compare and delete, compare and
//! pexpire) run on the same functions that a simulator calls: [`Keys::delete_if`] and
//! [`Keys::expire_if`].
//!
//! ```
//! use runkey_servers::lock::{Keys, Lives, Only};
//!
//! let (mut keys, key) = (Keys::default(), "report".into());
//! // SET report 1 NX PX 300, and again when its time is over but not its work.
//! assert!(keys.set(0, &key, 1, Only::IfAbsent, Lives::Until(300)));
//! assert!(keys.set(400, &key, 2, Only::IfAbsent, Lives::Until(700)));
//! assert!(!keys.delete_if(450, &key, &1), "the first one's checked release does nothing");
//! assert!(keys.delete(450, &key), "its blind one frees the lock of the second");
//! ```

mod client;
mod commands;
mod expiring;
mod keys;
mod lua;
mod redis;
mod reply;
mod server;
mod session;

pub use client::{Client, Cut, Lost};
pub use keys::{Keys, Lives, Only};
pub use lua::{NotLua, Script};
pub use redis::Redis;
pub use reply::{ErrorReply, Reply};
pub use server::{Persistence, Server, Stop};

use std::sync::Arc;

/// The name of a lock.
pub type Key = Arc<str>;

/// A value as a client sends it.
pub type Text = Arc<str>;
