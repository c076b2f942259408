//! What an instance believes of itself, and what protects the world from it.

use crate::Ms;
use scheduler::ports::Epoch;

/// When an instance stops believing that its session lives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Ends {
    /// So long after it *sent* the last beat that was answered: never after the session, as long
    /// as its clock runs as the coordinator's does.
    AfterAsking,
    /// So long after the answer came: later than the session by the time that the request took.
    AfterAnswer,
    /// When it is told: a watcher that an instance which stands still, or is cut off, does not
    /// hear.
    WhenTold,
}

/// What an instance believes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Belief {
    ends: Ends,
    lasts: Ms,
    until: Ms,
}

impl Belief {
    /// It believes nothing yet; `lasts` is how long it goes on without an answer.
    pub const fn new(ends: Ends, lasts: Ms) -> Self {
        Belief {
            ends,
            lasts,
            until: 0,
        }
    }

    /// A beat that it sent at one moment was answered at another, by its own clock.
    pub fn answered(&mut self, asked: Ms, answered: Ms) {
        self.until = match self.ends {
            Ends::AfterAsking => asked.saturating_add(self.lasts),
            Ends::AfterAnswer => answered.saturating_add(self.lasts),
            Ends::WhenTold => Ms::MAX,
        };
    }

    /// It hears that its session is over.
    pub fn told(&mut self) {
        self.until = 0;
    }

    /// Whether it believes that its session lives.
    pub const fn holds(&self, now: Ms) -> bool {
        now < self.until
    }
}

/// What the outside world knows: the highest epoch that it was asked under.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Fence {
    highest: Epoch,
}

impl Fence {
    /// Whether a request under this epoch is done; one that is older than another is not.
    pub fn admits(&mut self, epoch: Epoch) -> bool {
        let admitted = epoch >= self.highest;
        self.highest = self.highest.max(epoch);
        admitted
    }
}
