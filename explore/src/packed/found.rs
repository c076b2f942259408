//! What executions gave, as bytes: verdicts, plans and the examples of a failure.

use super::{Packed, packed_fields, packed_words};
use crate::symptom::{Seen, Symptom};
use crate::{Counterexample, Cut, Digest};
use evidence::{Attribution, InstanceId, Judgement, Layer, Slot, SlotVerdict, TraceHash, Verdict};
use scenarios::spec::{Cell, Fault, FaultKind, Phase, Plan, RunRef, Site};

const VERDICTS: [Verdict; 14] = [
    Verdict::Duplicate,
    Verdict::Phantom,
    Verdict::Lost,
    Verdict::Stuck,
    Verdict::Misrecorded,
    Verdict::GaveUp,
    Verdict::NoProgress,
    Verdict::Unfinished,
    Verdict::StaleEffect,
    Verdict::Overlap,
    Verdict::Early,
    Verdict::Late,
    Verdict::Skipped,
    Verdict::ExactlyOnce,
];

const LAYERS: [Layer; 5] = [
    Layer::Scheduling,
    Layer::Publishing,
    Layer::Delivery,
    Layer::Execution,
    Layer::Effect,
];

/// The identifiers whose absence leaves a layer undecided (`evidence/src/layer.rs`).
const IDENTIFIERS: [&str; 4] = ["traceId", "messageId", "delivery count", "retryCount"];

packed_words!(Verdict, VERDICTS);
packed_words!(Layer, LAYERS);
packed_words!(FaultKind, FaultKind::ALL);
packed_words!(Phase, Phase::ALL);
packed_words!(Cut, [Cut::Interrupted, Cut::OutOfTime]);
packed_words!(&'static str, IDENTIFIERS);

packed_fields!(Cell { step, kind });
packed_fields!(Slot { timer, ordinal });
packed_fields!(SlotVerdict {
    slot,
    verdict,
    effects
});
packed_fields!(Judgement {
    verdict,
    failure,
    layer,
    slots
});
packed_fields!(Site {
    instance,
    step,
    run,
    n,
    phase
});
packed_fields!(Fault {
    site,
    kind,
    magnitude_ms
});
packed_fields!(Plan { faults });
packed_fields!(Counterexample {
    seed,
    plan,
    judgement,
    trace_hash,
    places
});
packed_fields!(Symptom {
    verdict,
    layer,
    missing,
    effects,
    by
});
packed_fields!(Seen { count, first });

impl Packed for TraceHash {
    fn put(&self, to: &mut Vec<u8>) {
        self.0.put(to);
    }

    fn get(from: &mut &[u8]) -> Option<Self> {
        Packed::get(from).map(TraceHash)
    }
}

impl Packed for InstanceId {
    fn put(&self, to: &mut Vec<u8>) {
        self.0.put(to);
    }

    fn get(from: &mut &[u8]) -> Option<Self> {
        Packed::get(from).map(InstanceId)
    }
}

impl Packed for Digest {
    fn put(&self, to: &mut Vec<u8>) {
        self.0.put(to);
    }

    fn get(from: &mut &[u8]) -> Option<Self> {
        Packed::get(from).map(Digest)
    }
}

impl Packed for RunRef {
    fn put(&self, to: &mut Vec<u8>) {
        let slot = match self {
            RunRef::None => None,
            RunRef::Slot(slot) => Some(*slot),
        };
        slot.put(to);
    }

    fn get(from: &mut &[u8]) -> Option<Self> {
        Some(match Packed::get(from)? {
            None => RunRef::None,
            Some(slot) => RunRef::Slot(slot),
        })
    }
}

impl Packed for Attribution {
    fn put(&self, to: &mut Vec<u8>) {
        let (layer, missing) = match self {
            Attribution::Layer(layer) => (Some(*layer), None),
            Attribution::Undecided { missing } => (None, Some(*missing)),
        };
        (layer, missing).put(to);
    }

    fn get(from: &mut &[u8]) -> Option<Self> {
        match Packed::get(from)? {
            (Some(layer), None) => Some(Attribution::Layer(layer)),
            (None, Some(missing)) => Some(Attribution::Undecided { missing }),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{packed, unpacked};
    use super::*;

    #[test]
    fn every_word_has_its_place() {
        for (place, verdict) in VERDICTS.into_iter().enumerate() {
            assert_eq!(verdict as usize, place);
            assert_eq!(unpacked(&packed(&verdict)), Some(verdict));
        }
        for (place, layer) in LAYERS.into_iter().enumerate() {
            assert_eq!(layer as usize, place);
            assert_eq!(unpacked(&packed(&layer)), Some(layer));
        }
        for missing in IDENTIFIERS {
            let undecided = Attribution::Undecided { missing };
            assert_eq!(unpacked(&packed(&undecided)), Some(undecided));
        }
        assert_eq!(unpacked::<Verdict>(&[14]), None);
    }
}
