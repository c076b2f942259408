//! A pipeline small enough to count by hand, for this crate's examples and tests.
//!
//! A courier performs an errand and reports back. Each try has four sites, and a lost message
//! starts the next try:
//!
//! ```text
//!   downstream.perform request   lose_request: try again         delay: nothing comes of it
//!   downstream.perform done      lose_reply:   try again, although it is done
//!   broker.ack request           lose_request: delivered again, although it is done
//!   broker.ack done              lose_reply:   nobody minds
//! ```

use crate::{Choice, Choices, Execute, ExecuteError, Outcome, Reached};
use evidence::{
    Attribution, History, InstanceId, Judgement, Layer, Slot, SlotVerdict, TraceHash, Verdict,
};
use scenarios::spec::{FaultKind, Phase, Plan, RunRef, Site};
use scheduler::marks::Marks;
use scheduler::steps::{BROKER_ACK, DOWNSTREAM_PERFORM};
use xxhash_rust::xxh3::xxh3_64;

/// The courier.
#[derive(Clone, Copy, Debug)]
pub struct Courier {
    /// Where the errand is done, a second call with the same key has no effect.
    pub keyed: bool,
    /// After so many tries it gives up.
    pub tries: u16,
}

/// The one errand.
pub const ERRAND: Slot = Slot {
    timer: 0,
    ordinal: 1,
};

impl Choices for Courier {
    fn faults_at(&self, step: u8, phase: Phase, _replayable: bool) -> &[Choice] {
        const LOST_OR_LATE: &[Choice] = &[
            (FaultKind::LoseRequest, 0),
            (FaultKind::Delay, 10),
            (FaultKind::Delay, 20),
        ];
        match phase {
            Phase::Request if step == DOWNSTREAM_PERFORM.number => LOST_OR_LATE,
            Phase::Request if step == BROKER_ACK.number => &[(FaultKind::LoseRequest, 0)],
            Phase::Done if step == DOWNSTREAM_PERFORM.number || step == BROKER_ACK.number => {
                &[(FaultKind::LoseReply, 0)]
            }
            _ => &[],
        }
    }
}

impl Execute for Courier {
    fn execute(&self, seed: u64, plan: &Plan) -> Result<Outcome, ExecuteError> {
        let mut journey = Journey::under(seed, plan);
        let mut effects = 0;
        let mut done = false;
        let mut again = Layer::Execution;
        let mut born = Layer::Execution;
        for n in 1..=self.tries {
            if journey.comes_to(DOWNSTREAM_PERFORM.number, n, Phase::Request)
                == Some(FaultKind::LoseRequest)
            {
                again = Layer::Execution;
                continue;
            }
            if effects == 0 || !self.keyed {
                effects += 1;
            }
            if effects == 2 {
                born = again;
            }
            again = Layer::Execution;
            if journey
                .comes_to(DOWNSTREAM_PERFORM.number, n, Phase::Done)
                .is_some()
            {
                continue;
            }
            again = Layer::Delivery;
            if journey
                .comes_to(BROKER_ACK.number, n, Phase::Request)
                .is_some()
            {
                continue;
            }
            journey.comes_to(BROKER_ACK.number, n, Phase::Done);
            done = true;
            break;
        }
        let verdict = match (effects, done) {
            (0, _) => Verdict::Lost,
            (1, true) => Verdict::ExactlyOnce,
            (1, false) => Verdict::Unfinished,
            _ => Verdict::Duplicate,
        };
        Ok(journey.ends(verdict, effects, born))
    }
}

/// One execution, as it goes.
struct Journey<'a> {
    plan: &'a Plan,
    sites: Vec<Reached>,
    took_effect: Vec<bool>,
    trace: Vec<u8>,
}

impl<'a> Journey<'a> {
    fn under(seed: u64, plan: &'a Plan) -> Self {
        Journey {
            plan,
            sites: Vec::new(),
            took_effect: vec![false; plan.faults.len()],
            trace: seed.to_le_bytes().to_vec(),
        }
    }

    /// Reaches a site; what strikes there.
    fn comes_to(&mut self, step: u8, n: u16, phase: Phase) -> Option<FaultKind> {
        let site = Site {
            instance: InstanceId(0),
            step,
            run: RunRef::Slot(ERRAND),
            n,
            phase,
        };
        self.sites.push(Reached {
            site,
            replayable: false,
        });
        self.trace.extend([step, n as u8, phase as u8]);
        let place = self
            .plan
            .faults
            .iter()
            .position(|fault| fault.site == site)?;
        let fault = self.plan.faults[place];
        self.took_effect[place] = true;
        self.trace.push(fault.kind as u8);
        self.trace.extend(fault.magnitude_ms.to_le_bytes());
        Some(fault.kind)
    }

    fn ends(self, verdict: Verdict, effects: u32, born: Layer) -> Outcome {
        let failure = verdict != Verdict::ExactlyOnce;
        Outcome {
            history: History::default(),
            judgement: Judgement {
                verdict,
                failure,
                layer: failure.then_some(Attribution::Layer(born)),
                slots: vec![SlotVerdict {
                    slot: ERRAND,
                    verdict,
                    effects,
                }],
            },
            sites: self.sites,
            took_effect: self.took_effect,
            marks: Marks::default(),
            trace_hash: TraceHash(xxh3_64(&self.trace)),
            rest_points: Vec::new(),
            cut: false,
        }
    }
}
