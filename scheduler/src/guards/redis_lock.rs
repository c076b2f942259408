//! stub

use super::{BusyPolicy, Guard, GuardContext, OnLost, Release};
use crate::span::positive;
use crate::{Span, Switchable};
use serde::{Deserialize, Serialize};

/// `kind = "redis_lock"`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct RedisLockConfig {
    /// How the lock is taken. Default: in one command.
    pub acquire: Acquire,
    /// How long the lock lives without renewal. Default 20 s.
    #[serde(deserialize_with = "positive")]
    pub ttl: Span,
    /// How often the holder extends it to its full TTL. Default: a third of the TTL.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub renew_every: Option<Switchable>,
    /// How the lock is given back. Default: by its owner only.
    pub release: Release,
    /// What happens to a message whose key is locked; default by topology.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub busy: Option<BusyPolicy>,
    /// What happens to the work when the lock is found lost. Default: it goes on.
    pub on_lost: OnLost,
}

impl Default for RedisLockConfig {
    fn default() -> Self {
        RedisLockConfig {
            acquire: Acquire::SetNxPx,
            ttl: Span::secs(20),
            renew_every: None,
            release: Release::OwnerChecked,
            busy: None,
            on_lost: OnLost::Continue,
        }
    }
}

/// How the lock is taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Acquire {
    /// SET key token NX PX ttl.
    #[default]
    SetNxPx,
    /// SETNX, then EXPIRE: a crash in between leaves a lock that never ends.
    TwoStep,
}

impl RedisLockConfig {
    /// How often the lock is renewed; `None`: never.
    pub fn renewal(&self) -> Option<Span> {
        match self.renew_every {
            Some(Switchable(every)) => every,
            None => Some(Span::millis((self.ttl.ms() / 3).max(1))),
        }
    }

    pub(super) fn build(&self, _: &GuardContext) -> Box<dyn Guard> {
        super::none::NoneConfig::default().build()
    }
}
