//! runkey
