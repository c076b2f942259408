//! Databases as two real servers behave: sessions, transactions, versions, locks, waiting.
//!
//! A [`Server`] is driven from outside: [`Server::submit`] gives it a statement of a session, which
//! runs until it is done or has to wait; [`Server::advance`] lets time pass. What a session has
//! waiting for it is fetched with [`Server::take`].
//!
//! ```
//! use runkey_servers::database::{Flavor, Server, Status};
//! use scheduler::ports::sql::{Query, Scalar};
//! use scheduler::ports::Value;
//!
//! let mut server = Server::new(Flavor::Postgres);
//! let a = server.connect();
//! server.submit(0, a, Query::Values(vec![Scalar::Value(Value::Int(1))]));
//! assert_eq!(server.status(a), Status::Done);
//! let reply = server.take(a).expect("it is done").expect("it went well");
//! assert_eq!(reply.rows, Some(vec![vec![Value::Int(1)]]));
//! ```
//!
//! Inside, a statement is an `async` function of the flavor's engine, so that it reads from its
//! first line to its last although it may wait in the middle; [`Server`] polls it, nothing else
//! does, and nothing runs by itself.

mod core;
mod engine;
mod error;
mod evaluate;
mod innodb;
mod named;
mod postgres;
mod server;
mod session;
mod values;

pub use engine::Flavor;
pub use error::code;
pub use server::{Server, Status};
pub use session::SessionId;
