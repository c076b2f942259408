//! Rules that a test can break, one at a time, to see that the vectors notice.
//!
//! Without the feature `broken` nothing is ever broken, and the compiler drops the question.

/// One rule of a model, broken.
#[cfg(any(test, feature = "broken"))]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Broken {
    /// A classic queue puts a nacked message at the back.
    ClassicNackToTheBack,
    /// A quorum queue puts a nacked message at the front.
    QuorumNackToTheFront,
    /// The end of a channel does not count as a delivery.
    CloseNotCounted,
    /// An ack by a delivery that is not the last one is refused.
    LateAckRefused,
    /// A duplicate makes the deduplication window start anew.
    WindowSlides,
    /// A consumed message takes its deduplication id with it.
    DedupForgetsConsumed,
    /// An unknown delivery tag is ignored.
    UnknownTagIgnored,
    /// Delivery tags go on counting when a channel is opened again.
    TagsGoOn,
    /// An ack of several settles one.
    MultipleAcksOne,
    /// A broken connection does not give its messages back.
    DisconnectKeepsMessages,
    /// A progress report does not restart the deadline.
    RenewalIgnored,
    /// The deadline never comes.
    DeadlineNeverComes,
    /// What is not persistent survives a restart.
    TransientSurvives,
    /// A dead letter is marked as redelivered.
    DeadLetterRedelivered,
    /// The limit of unsettled messages is not looked at.
    PendingUnlimited,
    /// A message comes back after its last delivery.
    MaxDeliverIgnored,
}

#[cfg(any(test, feature = "broken"))]
mod switch {
    use super::Broken;
    use std::cell::Cell;

    thread_local! {
        static NOW: Cell<Option<Broken>> = const { Cell::new(None) };
    }

    /// Whether this rule is broken on this thread.
    pub(crate) fn is(rule: Broken) -> bool {
        NOW.get() == Some(rule)
    }

    /// Does something with one rule broken.
    pub fn with<T>(rule: Broken, work: impl FnOnce() -> T) -> T {
        struct Mend;
        impl Drop for Mend {
            fn drop(&mut self) {
                NOW.set(None);
            }
        }
        NOW.set(Some(rule));
        let _mend = Mend;
        work()
    }
}

#[cfg(any(test, feature = "broken"))]
pub use switch::with;

#[cfg(any(test, feature = "broken"))]
pub(crate) use switch::is;

/// Whether a rule is broken: `broken!(LateAckRefused)`.
#[cfg(any(test, feature = "broken"))]
macro_rules! broken {
    ($rule:ident) => {
        $crate::broken::is($crate::broken::Broken::$rule)
    };
}

/// Nothing is broken.
#[cfg(not(any(test, feature = "broken")))]
macro_rules! broken {
    ($rule:ident) => {
        false
    };
}

pub(crate) use broken;
