//! A kind of fault at a step, such as `crash@guard.enter`: how a story is named, wherever and
//! whenever exactly it struck.

use scenarios::spec::{Cell, Fault, FaultKind};

/// The cell that a fault belongs to.
pub const fn cell_of(fault: &Fault) -> Cell {
    Cell {
        step: fault.site.step,
        kind: fault.kind,
    }
}

/// True if both are written alike: the three partitions share their name.
pub(crate) fn read_alike(one: Cell, other: Cell) -> bool {
    one.step == other.step && one.kind.name() == other.kind.name()
}

/// Reads `crash@guard.enter`.
pub(crate) fn parse(text: &str) -> Option<Cell> {
    let (kind, step) = text.split_once('@')?;
    let kind = FaultKind::ALL
        .into_iter()
        .find(|known| known.name() == kind)?;
    let step = scheduler::steps::by_name(step)?.number;
    Some(Cell { step, kind })
}
