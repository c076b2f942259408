//! No claim: every scheduler dispatches every slot.
//!
//! Promises nothing. Breaks with the second scheduler, without any fault. Source: S1.3.

use super::Claim;

/// Lets everybody dispatch.
pub(crate) struct NoClaim;

impl Claim for NoClaim {}
