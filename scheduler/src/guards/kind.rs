//! What the list of guards asks of each kind of guard, answered in the guard's own file.

use super::{BusyPolicy, Guard, GuardContext, OnLost};
use crate::Span;
use evidence::Step;

/// A guard's fields in a scenario file, and what others have to know of it. Whatever a guard does
/// not say is what a guard without a lease, a lock and a record would say.
pub(super) trait Kind {
    /// The guard, for one incarnation of one instance.
    fn build(&self, context: &GuardContext) -> Box<dyn Guard>;

    /// The steps at which it calls a server.
    fn calls(&self) -> Vec<&'static Step> {
        Vec::new()
    }

    /// Whether it keeps a record of the run that ends in a final state.
    fn keeps_record(&self) -> bool {
        false
    }

    /// Whether what it remembers is in the memory of its process, where no server can be asked.
    fn remembers_in_process(&self) -> bool {
        false
    }

    /// The deadlines that could change what happens, by the place in the file that says them.
    fn deadlines(&self) -> Vec<(&'static str, Span)> {
        Vec::new()
    }

    /// How long it remembers what it has seen, by the place in the file; not said: for ever, or
    /// until somebody takes it away.
    fn memory(&self) -> Option<(&'static str, Span)> {
        None
    }

    /// Whether what it holds is lost with a session of the database.
    fn holds_sessions(&self) -> bool {
        false
    }

    /// How often it renews what it holds while the work goes on.
    fn renewal(&self) -> Option<Span> {
        None
    }

    /// Whether the instance's own wall clock says when a hold has ended.
    fn reads_node_clock(&self) -> bool {
        false
    }

    /// What the scenario says of a run in somebody else's hands.
    fn busy(&self) -> Option<BusyPolicy> {
        None
    }

    /// What happens to the work of an attempt whose hold was lost.
    fn on_lost(&self) -> OnLost {
        OnLost::Continue
    }

    /// Fills in every default that depends on another field.
    fn fill_in(&mut self) {}
}
