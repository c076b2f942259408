//! `[[instance]]`: conditions of one process that hold from the start and never count as faults.

use super::signed::SignedSpan;
use crate::spec::Server;
use scheduler::Span;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// One `[[instance]]`.
#[derive(Clone, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct InstanceTable {
    /// Which process, such as `scheduler-2`.
    pub name: String,
    /// How much later (negative: earlier) than planned its timers wake it.
    pub fire_offset: SignedSpan,
    /// Its wall clock.
    pub clock: ClockTable,
    /// When it starts, from the epoch.
    pub starts_at: Span,
    /// Its way to a server.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub link: Option<LinkTable>,
    /// What it calls itself where a guard or a claim compares owners. Default: something of its
    /// own in every life (application, host, pid and start), and another owner for every attempt.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub identity: Option<Arc<str>>,
}

/// `link = { .. }` of an `[[instance]]`: a slow way to one server.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LinkTable {
    /// Which server.
    pub to: LinkedServer,
    /// How much longer than from elsewhere each leg of a call takes.
    pub latency: Span,
}

/// A server, as a link names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LinkedServer {
    /// `[database]`.
    Database,
    /// `[broker]`.
    Broker,
    /// `[lock]`.
    Lock,
    /// `[downstream]`.
    Downstream,
    /// `[coordinator]`.
    Coordinator,
}

impl LinkedServer {
    /// The server.
    pub const fn server(self) -> Server {
        match self {
            LinkedServer::Database => Server::Database,
            LinkedServer::Broker => Server::Broker,
            LinkedServer::Lock => Server::Lock,
            LinkedServer::Downstream => Server::Downstream,
            LinkedServer::Coordinator => Server::Coordinator,
        }
    }
}

/// `clock = { .. }` of an `[[instance]]`: epoch + elapsed x (1 + drift) + skew.
#[derive(Clone, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ClockTable {
    /// How far the wall clock is ahead (negative: behind).
    pub skew: SignedSpan,
    /// How much too fast it runs (negative: too slow), in millionths.
    pub drift_ppm: i32,
}
