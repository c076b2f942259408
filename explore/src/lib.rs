//! Many executions of one set-up: every plan of faults up to a bound, and the smallest that
//! breaks its promise.
//!
//! One execution answers what happens under one seed and one [`Plan`](scenarios::spec::Plan) of
//! faults. This crate asks the question that matters: is there *any* plan that makes the job run
//! twice, or never, and which is the smallest? It knows nothing of schedulers, brokers or
//! simulators. It sees an execution through one trait, [`Execute`]: a seed and a plan go in, an
//! [`Outcome`] comes out, and with it the list of **sites** that the execution reached, at each
//! of which something could have gone wrong.
//!
//! The words, from small to large:
//!
//! - A **choice** is a kind of fault and a magnitude. What can go wrong at a site is told by
//!   [`Choices`]; a [`Table`] is the union of several, written out for speed.
//! - A **plan** is a list of faults at sites. It is extended by a fault at a site that its own
//!   execution reached, later than its last fault. So all plans form a [`Tree`].
//! - A **level** is all plans of one number of faults, under every declared seed. A level may hold
//!   millions of plans; what is kept of them is a [`Level`]: counts, the ways to fail
//!   ([`Symptoms`]), what took effect where ([`Coverage`]), a [`Digest`], and the canonically
//!   first plan that fails.
//! - A [`check()`] runs level after level until the first that breaks, or the bound, and says
//!   whether an [`Expectation`] is [`Met`]. [`check_plan`] does it for one plan that a person
//!   wrote.
//! - [`survivors()`] tries changed set-ups against a plan, and those that survive it against all
//!   others.
//! - [`shrink()`] takes from a plan all that can be spared. [`Random`] plans, and a [`Swarm`] of
//!   them, go where no one can exhaust.
//!
//! Three promises, each held by tests:
//!
//! - *Exhausted means exhausted.* A level is called so only if every plan of it ran, or goes on
//!   from a state from which plans were run already.
//! - *Nothing passes in silence.* A fault that takes no effect is an error, and so is a plan that
//!   gives two histories: a sample is executed twice, on another thread.
//! - *Nothing depends on threads.* Everything that is reported is a sum or a minimum in
//!   canonical order: number of faults, then fault by fault the site, kind and magnitude, then
//!   the seed.
//!
//! # Example
//!
//! A courier ([`toy`]) performs an errand, is called again whenever a message is lost, and may
//! perform it twice. Which fault does it, where the second performance comes from a second
//! delivery?
//!
//! ```
//! use evidence::{Layer, Verdict};
//! use runkey_explore::toy::Courier;
//! use runkey_explore::{Bound, Check, Control, Expectation, Failure, Met, Walking, check};
//! use scenarios::spec::Space;
//!
//! let courier = Courier { keyed: false, tries: 9 };
//! let expectation = Expectation::Breaks(Failure {
//!     verdict: Verdict::Duplicate,
//!     layer: Some(Layer::Delivery),
//!     effects: Some(2),
//!     by: vec![],
//!     faults_needed: Some(1),
//!     also: vec![],
//! });
//! let question = Check {
//!     execute: &courier,
//!     seeds: &(1..=16),
//!     bounds: &[Bound { space: Space::Core, up_to: 2, choices: &courier }],
//!     expectation: &expectation,
//!     all_plans: false,
//!     show_next_up_to: 0,
//!     walking: Walking::default(),
//!     control: &Control::new(),
//! };
//! let checked = check(&question)?;
//! assert_eq!(checked.met, Met::Yes);
//! let smallest = checked.counterexample.ok_or("none")?;
//! let cells: Vec<String> = smallest.cells().map(|cell| cell.to_string()).collect();
//! assert_eq!(cells, ["lose_request@broker.ack"]);
//!
//! // With a key where the errand is done, no two faults break it: of 16 seeds each, 1 plan
//! // without a fault, 6 with one, and 24 with two.
//! let keyed = Courier { keyed: true, ..courier };
//! let checked = check(&Check {
//!     execute: &keyed,
//!     expectation: &Expectation::Holds { faults: Some(2) },
//!     ..question
//! })?;
//! assert_eq!(checked.met, Met::Yes);
//! assert_eq!(checked.explored.plans, 16 * (1 + 6 + 24));
//! assert!(checked.explored.spaces[0].exhausted);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Map
//!
//! | module | holds |
//! |---|---|
//! | `execute` | the trait, and the rule that every fault takes effect |
//! | `choices` | what may go wrong at a site |
//! | `tree`, `walk`, `level` | a level of plans: how it is walked, what is kept of it |
//! | `known`, `tally` | states from which plans go on once; how many plans that spares |
//! | `batch` | a level in parts, for many machines and for going on later |
//! | `counterexample`, `symptom`, `coverage`, `fingerprint`, `cell` | the parts of what is kept |
//! | `simulated` | the simulator, as it is driven from here |
//! | `sample`, `error` | what is executed twice; why a result cannot be trusted |
//! | `expectation`, `met`, `check`, `given` | what should be true, whether it is, and for one given plan |
//! | [`journal`], `packed` | finished batches in a file, as bytes |
//! | `places` | which phases of which steps were come to |
//! | [`certificate`] | what an exhausted space proves, and how that is verified |
//! | [`mod@margin`] | how large a fault, or how short a setting, changes the verdict |
//! | [`mod@matrix`] | guard by fault: the worst verdict of each |
//! | `survivors` | which changes of the set-up stop a plan, and every other |
//! | `shrink` | from a plan that fails to the smallest that fails so |
//! | `random`, `swarm`, `draw` | plans by chance |
//! | `likely` | which kinds are tried first |
//! | `control` | progress, time budget, Ctrl-C |
//! | [`toy`] | a pipeline small enough to count by hand |

mod batch;
mod cell;
pub mod certificate;
mod check;
mod choices;
mod control;
mod counterexample;
mod coverage;
mod draw;
mod error;
mod execute;
mod expectation;
mod fingerprint;
mod given;
pub mod journal;
mod known;
mod level;
mod likely;
pub mod margin;
pub mod matrix;
mod met;
mod packed;
mod places;
mod random;
mod sample;
mod shrink;
mod simulated;
mod survivors;
mod swarm;
mod symptom;
mod tally;
pub mod toy;
mod tree;
mod walk;

pub use batch::{Journal, LevelName, Part, Share};
pub use cell::cell_of;
pub use check::{
    Bound, Check, Checked, DEFAULT_BOUNDS, Explored, NextLevel, SHOWN_AT_MOST, SpaceExplored,
    Walking, check,
};
pub use choices::{Choice, Choices, Table};
pub use control::{Control, Cut};
pub use counterexample::Counterexample;
pub use coverage::Coverage;
pub use draw::Draw;
pub use error::ExploreError;
pub use execute::{Execute, ExecuteError, perform};
pub use expectation::{Expectation, Failure};
pub use fingerprint::Digest;
pub use given::{PlanOf, check_plan, find_plan};
pub use level::Level;
pub use likely::LIKELY_FIRST;
pub use met::{Doubt, Met, Unmet};
pub use places::Places;
pub use random::{Random, RandomPlan, RandomReport, random_plan};
pub use sample::ONE_IN;
pub use shrink::{BY_STRENGTH, Shrunk, shrink};
pub use survivors::{
    Candidate, MOST_PLANS, Reach, Survival, Survivors, UnderEveryPlan, UnderPlan, Unknown,
    survivors,
};
pub use swarm::{Find, Likeness, Swarm, SwarmReport, likeness};
pub use symptom::{Seen, Symptom, Symptoms};
pub use tree::{Merging, Question, Tree, Wanted, Width};

pub use sim::{Known, Outcome, Reached, State};
