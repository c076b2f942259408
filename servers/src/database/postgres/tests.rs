//! The engine, driven by statements.
