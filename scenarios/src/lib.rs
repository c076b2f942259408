//! What to simulate: scenario files, sites, plans, faults, tokens and the catalogue.

pub mod spec;
