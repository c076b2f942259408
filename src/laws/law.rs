//! A law, and how it looks when it is broken.

use evidence::{Cast, Event, History, Slot, What};
use scenarios::spec::FaultKind;
use scheduler::handler::Handler;
use std::fmt;

/// Something that every guard must satisfy.
pub struct Law {
    pub(super) name: &'static str,
    pub(super) about: &'static str,
    /// The set-up that tempts a guard to break it.
    pub(super) scenario: &'static str,
    /// The handler, where none of the built-in ones will do.
    pub(super) handler: Option<fn() -> Box<dyn Handler>>,
    /// The faults that may strike, and how many at once.
    pub(super) kinds: &'static [FaultKind],
    pub(super) faults: u8,
    /// Where a history breaks it.
    pub(super) breach: fn(&History) -> Option<Breach>,
}

impl Law {
    /// What it is called, such as `done stays done`.
    pub const fn name(&self) -> &'static str {
        self.name
    }

    /// What it says, in a sentence.
    pub const fn about(&self) -> &'static str {
        self.about
    }
}

impl fmt::Debug for Law {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Law").field(&self.name).finish()
    }
}

/// Where a history breaks a law: numbers of events, or a slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Breach {
    /// An attempt began while another was at work.
    Beside { began: usize, other: usize },
    /// An attempt began after the run was over.
    Again { over: usize, began: usize },
    /// The run was never done.
    Never { slot: Slot },
    /// A run did not begin before another one ended.
    Waited { slot: Slot, for_slot: Slot },
}

impl Breach {
    /// In a sentence.
    pub fn told(self, history: &History) -> String {
        let cast = &history.cast;
        match self {
            Breach::Beside { began, other } => {
                let (began, other) = (&history.events[began], &history.events[other]);
                format!(
                    "{} began at {} while {} was at work since {}.",
                    name(cast, began),
                    began.at.clock(),
                    name(cast, other),
                    other.at.clock()
                )
            }
            Breach::Again { over, began } => {
                let (over, began) = (&history.events[over], &history.events[began]);
                format!(
                    "{} began at {}, after {} had finished it at {}.",
                    name(cast, began),
                    began.at.clock(),
                    name(cast, over),
                    over.at.clock()
                )
            }
            Breach::Never { slot } => format!("{} was never done.", cast.slot(slot)),
            Breach::Waited { slot, for_slot } => format!(
                "{} did not begin as long as {} was at work.",
                cast.slot(slot),
                cast.slot(for_slot)
            ),
        }
    }
}

fn name<'a>(cast: &'a Cast, event: &Event) -> &'a str {
    cast.instance(event.instance)
}

/// The first attempt that began although its run was over, as `over` says of an event.
pub(super) fn begun_again(history: &History, over: fn(&What) -> bool) -> Option<Breach> {
    let events = history.events.iter().enumerate();
    let mut ended: Vec<usize> = Vec::new();
    for (place, event) in events {
        if over(&event.what) {
            ended.push(place);
        }
        if event.what == What::AttemptStarted {
            let slot = event.ids.slot.truth();
            let same = |over: &&usize| history.events[**over].ids.slot.truth() == slot;
            if let Some(over) = ended.iter().find(same) {
                return Some(Breach::Again {
                    over: *over,
                    began: place,
                });
            }
        }
    }
    None
}

/// The first run without an effect.
pub(super) fn never_done(history: &History) -> Option<Breach> {
    let slots = history.planned.iter().map(|planned| planned.slot);
    let done = |slot: &Slot| {
        let mut events = history.events.iter();
        events.any(|event| {
            matches!(event.what, What::Effect { .. }) && event.ids.slot.truth() == Some(*slot)
        })
    };
    slots
        .into_iter()
        .find(|slot| !done(slot))
        .map(|slot| Breach::Never { slot })
}

/// A law that a guard breaks, with the smallest plan that shows it. Prints with timeline and replay
/// line.
#[derive(Clone)]
pub struct Broken {
    pub(super) law: &'static Law,
    pub(super) by: Vec<String>,
    pub(super) token: Option<String>,
    pub(super) sentence: String,
    pub(super) story: String,
}

impl Broken {
    /// The law's name, such as `done stays done`.
    pub const fn law(&self) -> &'static str {
        self.law.name
    }

    /// The faults of the smallest plan, in order, each such as `lose_request@broker.ack`.
    pub fn by(&self) -> &[String] {
        &self.by
    }

    /// What happened that the law forbids, in a sentence.
    pub fn sentence(&self) -> &str {
        &self.sentence
    }

    /// Replays it: `RUNKEY_REPLAY=token cargo test name`.
    pub fn token(&self) -> Option<&str> {
        self.token.as_deref()
    }
}

impl fmt::Display for Broken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "The law `{}`: {}", self.law.name, self.law.about)?;
        writeln!(f, "{}\n", self.sentence)?;
        f.write_str(&self.story)
    }
}

impl fmt::Debug for Broken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Broken")
            .field("law", &self.law.name)
            .field("by", &self.by)
            .finish_non_exhaustive()
    }
}
