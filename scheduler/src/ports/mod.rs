//! Everything that the pipeline touches outside itself, as traits.
//!
//! The simulator, the in-memory test double and (later) real servers implement them; the pipeline
//! above is the same code in all three. All traits are object-safe and answer with boxed futures.

mod broker;
mod coordinator;
mod database;
mod downstream;
mod executors;
mod lock;
mod runtime;
pub mod sql;

pub use broker::{Broker, Delivery, Envelope, OF_BROKER, Published, QueueSteps, Receipt, Settled};
pub use coordinator::{Coordinator, Election, Epoch, Failover, Item, SessionId, Shard, Standing};
pub use database::{
    Answer, Answers, Cells, Column, Condition, Database, Expr, Isolation, Key, OnConflict, Row,
    RowLock, Statement, Statements, Table, Test, Transaction, Value,
};
pub use downstream::{Downstream, Reply, Request};
pub use executors::{Ask, Asked, Asking, Call, Executors, Said};
pub use lock::{LockKey, LockService, Token};
pub use runtime::{Clock, Interest, Journal, Monotonic, Runtime, Wake};

use evidence::{Ids, Step};
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

/// A boxed future, as every port returns it.
pub type Fut<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// Where in the pipeline, and for which run, a port is used.
#[derive(Clone, Copy, Debug)]
pub struct At<'a> {
    /// The step.
    pub step: &'static Step,
    /// The identifiers; ports hand them on and never act on the sealed slot.
    pub ids: &'a Ids,
}

impl<'a> At<'a> {
    /// This step, for these identifiers.
    pub const fn new(step: &'static Step, ids: &'a Ids) -> Self {
        At { step, ids }
    }
}

/// How a call ended when it did not end with an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, thiserror::Error)]
pub enum CallError {
    /// The server said no before doing anything: deadlock, serialization failure, overload,
    /// connection refused. Nothing was changed.
    #[error("the call was refused; nothing was changed")]
    Refused,
    /// No answer within the call timeout. The outcome is unknown.
    #[error("no answer within the call timeout; the outcome is unknown")]
    TimedOut,
    /// The connection broke before the answer. The outcome is unknown.
    #[error("the connection broke before the answer; the outcome is unknown")]
    Disconnected,
}

impl CallError {
    /// True if it is sure that the server did nothing.
    pub const fn is_refusal(self) -> bool {
        matches!(self, CallError::Refused)
    }
}

/// All ports of one incarnation of one instance.
#[derive(Clone)]
pub struct Ports {
    /// Sleeping, spawning, polling, stopping.
    pub runtime: Arc<dyn Runtime>,
    /// What time this instance believes it is.
    pub clock: Arc<dyn Clock>,
    /// Where events go.
    pub journal: Arc<dyn Journal>,
    /// The database.
    pub database: Arc<dyn Database>,
    /// The broker.
    pub broker: Arc<dyn Broker>,
    /// The lock service.
    pub locks: Arc<dyn LockService>,
    /// The coordinator.
    pub coordinator: Arc<dyn Coordinator>,
    /// The outside world.
    pub downstream: Arc<dyn Downstream>,
    /// Executors that are called one by one.
    pub executors: Arc<dyn Executors>,
}
