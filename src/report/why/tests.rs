//! The sentences, on histories made by hand; read them in `tests/snapshots/`.

#![allow(clippy::unwrap_used)]

mod duplicates;
mod missing;
mod outbox;
mod rest;
mod set_ups;

use crate::report::tale::*;
use evidence::{AttemptEnd, Holder, Ids, RecordState, What};
use scenarios::spec::{FaultKind, Phase};
use scheduler::steps::*;
use std::fmt::Write;

fn collected(tales: impl IntoIterator<Item = (&'static str, Tale)>) -> String {
    let mut text = String::new();
    for (title, tale) in tales {
        writeln!(text, "{title}\n    {}\n", tale.told()).unwrap();
    }
    text
}

const TRANSACTIONS: &str = "[guard]\nkind = 'state_machine'";
const LOCK: &str = "[guard]\nkind = 'redis_lock'\nrenew_every = 'off'\n[work]\ntakes = '45s'";
