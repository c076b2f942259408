//! What the crate promises, told with histories made by hand.
#![allow(clippy::unwrap_used, missing_docs)]

mod hash;
mod layers;
mod on_request;
mod promises;
mod story;
mod timeline;
mod verdicts;
