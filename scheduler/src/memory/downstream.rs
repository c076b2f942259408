//! The outside world in memory: a ledger of effects.

use super::lock;
use crate::Span;
use crate::ports::{At, CallError, Downstream, Fut, Journal, Reply, Request};
use evidence::{Ids, RunKey, What};
use std::collections::{BTreeMap, BTreeSet};
use std::future::ready;
use std::sync::{Arc, Mutex};

/// By what the downstream recognises a repeated request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Recognises {
    /// By nothing: keys are only kept for lookups.
    #[default]
    Nothing,
    /// By its idempotency key, for ever.
    Keys,
}

/// One effect.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LedgerEntry {
    /// Who made it.
    pub ids: Ids,
    /// The key that came with the request.
    pub key: Option<Arc<str>>,
}

/// A downstream that makes every effect at once.
pub struct MemoryDownstream {
    journal: Arc<dyn Journal>,
    recognises: Recognises,
    world: Mutex<World>,
}

#[derive(Default)]
struct World {
    ledger: Vec<LedgerEntry>,
    keys: BTreeSet<Arc<str>>,
    /// The highest fencing token seen, by run.
    fences: BTreeMap<Option<RunKey>, u64>,
}

impl MemoryDownstream {
    /// With an empty ledger; effects are told to `journal`.
    pub fn new(journal: Arc<dyn Journal>, recognises: Recognises) -> Self {
        MemoryDownstream {
            journal,
            recognises,
            world: Mutex::default(),
        }
    }

    /// The effects so far, in order.
    pub fn ledger(&self) -> Vec<LedgerEntry> {
        lock(&self.world).ledger.clone()
    }
}

impl World {
    fn perform(&mut self, ids: &Ids, request: Request, recognises: Recognises) -> Reply {
        if let Some(fence) = request.fence {
            let highest = self.fences.entry(ids.run.clone()).or_insert(fence);
            if fence < *highest {
                return Reply::Stale;
            }
            *highest = fence;
        }
        if let Some(key) = &request.key {
            let known = !self.keys.insert(key.clone());
            if known && recognises == Recognises::Keys {
                return Reply::Repeated;
            }
        }
        self.ledger.push(LedgerEntry {
            ids: ids.clone(),
            key: request.key,
        });
        Reply::Performed
    }
}

impl Downstream for MemoryDownstream {
    fn perform<'a>(
        &'a self,
        at: At<'a>,
        request: Request,
        _: Span,
    ) -> Fut<'a, Result<Reply, CallError>> {
        let (reply, number) = {
            let mut world = lock(&self.world);
            let reply = world.perform(at.ids, request, self.recognises);
            (reply, u32::try_from(world.ledger.len()).unwrap_or(u32::MAX))
        };
        let what = match reply {
            Reply::Performed => What::Effect { number },
            Reply::Repeated => What::Repeated,
            Reply::InProgress | Reply::Stale | Reply::Mismatch => What::EffectRefused,
        };
        self.journal.record(at, what);
        Box::pin(ready(Ok(reply)))
    }

    fn lookup<'a>(&'a self, _: At<'a>, key: &'a Arc<str>) -> Fut<'a, Result<bool, CallError>> {
        let found = lock(&self.world).keys.contains(key);
        Box::pin(ready(Ok(found)))
    }
}
