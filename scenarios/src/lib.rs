//! What to simulate: scenario files, sites, plans, faults, tokens and the catalogue.
//!
//! A *scenario* is a set-up: timers, processes, a queue, a database, a guard, the outside world, and
//! what is expected of them. A *plan* is what goes wrong in one execution of it: a list of faults,
//! each at one *site*, a point around a step of the pipeline. Together with a seed (how long
//! messages are under way) they determine the execution, and a *token* is the three in one word.
//!
//! - [`mod@file`]: the scenario file, one struct per table; [`Scenario::parse`] fills in every default
//!   and says in one sentence, with line and column, what is wrong with a file.
//! - [`spec`]: sites, faults and plans; [`spec::applies`] says where a kind of fault applies,
//!   [`spec::faults`] what each is (one file each), [`spec::Magnitudes`] how much of it, and
//!   [`spec::Bounds`] writes a whole space of them out.
//! - [`token`] and [`plan_file`]: what replays an execution, for machines and for people.
//! - [`cures`]: the changes that are tried when a plan breaks a scenario.
//! - [`matrix`]: the set-ups of the league table.
//! - [`catalogue`]: the scenarios that come with runkey; [`TEMPLATE`]: how one begins.
//!
//! ```
//! use runkey_scenarios::spec::{Bounds, FaultKind, Phase, Space};
//! use runkey_scenarios::{Scenario, catalogue};
//! use scheduler::steps;
//!
//! let text = "
//!     [broker]
//!     ack_deadline = '30s'
//!     [work]
//!     takes = '45s'
//! ";
//! let scenario = Scenario::parse(text, "slow.toml")?;
//! assert_eq!(scenario.name, "slow");
//! assert_eq!(scenario.timers[0].id, "report"); // a default
//!
//! // What can go wrong after the broker took an ack, before the executor hears of it:
//! let bounds = Bounds::new(&scenario, Space::Core);
//! assert_eq!(
//!     bounds.faults_at(steps::BROKER_ACK.number, Phase::Done, false),
//!     [(FaultKind::LoseReply, 0), (FaultKind::Crash, 0)],
//! );
//!
//! let error = Scenario::parse("[work]\ntakse = '45s'", "slow.toml").unwrap_err();
//! assert!(error.to_string().starts_with("slow.toml:2:1: unknown key `takse`; allowed are `takes`"));
//! assert!(catalogue::find("crash-before-ack").is_some());
//! # Ok::<(), runkey_scenarios::ScenarioError>(())
//! ```

pub mod catalogue;
pub mod cures;
pub mod file;
pub mod matrix;
pub mod plan_file;
pub mod spec;
pub mod token;

pub use file::{Scenario, ScenarioError};
pub use plan_file::PlanFile;
pub use token::Token;

/// A scenario to begin with, with comments: what `runkey init` writes.
pub const TEMPLATE: &str = include_str!("template.toml");
