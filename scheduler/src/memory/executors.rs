//! No executors: for instances that call nobody and are called by nobody.

use crate::ports::{Ask, Asked, Asking, At, CallError, Executors, Fut, Said};
use evidence::InstanceId;
use std::future::{pending, ready};

/// Refuses every call; nothing ever comes.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoExecutors;

impl Executors for NoExecutors {
    fn ask<'a>(&'a self, _: At<'a>, _: InstanceId, _: Ask) -> Fut<'a, Result<Said, CallError>> {
        Box::pin(ready(Err(CallError::Refused)))
    }

    fn next(&self) -> Fut<'_, Asked> {
        Box::pin(pending())
    }

    fn say(&self, _: Asking, _: Said) {}

    fn over(&self, _: Asking) {}
}
