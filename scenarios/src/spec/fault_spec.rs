//! A fault as a person wrote it: to be looked for in an execution.

use super::{Fault, FaultKind, Phase, RunRef, Site};
use evidence::InstanceId;

/// A fault whose site is described, not yet found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct FaultSpec {
    /// Which instance; `None`: whichever reaches the step.
    pub instance: Option<InstanceId>,
    /// Which step, by number.
    pub step: u8,
    /// Which run; `None`: counted over all runs.
    pub run: Option<RunRef>,
    /// Which time, from 1.
    pub occurrence: u16,
    /// When, around the step.
    pub phase: Phase,
    /// What goes wrong.
    pub kind: FaultKind,
    /// How much, as in [`Fault`].
    pub magnitude_ms: i64,
}

impl FaultSpec {
    /// The fault at the site that is meant, of those that an execution reached, in their order;
    /// `None` where it was not reached.
    ///
    /// A fault changes which sites come after it: look for the second fault of a plan among the
    /// sites of an execution with the first.
    pub fn find(&self, reached: impl IntoIterator<Item = Site>) -> Option<Fault> {
        let by_number = self.instance.is_some() && self.run.is_some();
        let mut fitting = reached.into_iter().filter(|site| {
            site.step == self.step
                && site.phase == self.phase
                && self
                    .instance
                    .is_none_or(|instance| instance == site.instance)
                && self.run.is_none_or(|run| run == site.run)
        });
        let site = if by_number {
            fitting.find(|site| site.n == self.occurrence)
        } else {
            fitting.nth(usize::from(self.occurrence.checked_sub(1)?))
        }?;
        Some(Fault {
            site,
            kind: self.kind,
            magnitude_ms: self.magnitude_ms,
        })
    }
}
