//! `[guard]`: the list of guards, one line each.

use super::check_then_insert::CheckThenInsertConfig;
use super::insert_first::InsertFirstConfig;
use super::kind::Kind;
use super::lock_row::LockRowConfig;
use super::lock_then_check::LockThenCheckConfig;
use super::none::NoneConfig;
use super::optimistic_version::OptimisticVersionConfig;
use super::process_mutex::ProcessMutexConfig;
use super::redis_lock::RedisLockConfig;
use super::seen_set::SeenSetConfig;
use super::select_for_update::SelectForUpdateConfig;
use super::semaphore::SemaphoreConfig;
use super::session_lock::SessionLockConfig;
use super::state_machine::StateMachineConfig;
use super::unique::UniqueConfig;
use super::{BusyPolicy, Guard, GuardContext, OnLost};
use crate::Span;
use evidence::Step;
use serde::{Deserialize, Serialize};

macro_rules! guards {
    ($($name:ident: $kind:ident($config:ident),)*) => {
        /// `[guard]`: which guard decides whether an attempt may run, with its fields.
        #[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
        #[serde(tag = "kind", rename_all = "snake_case")]
        pub enum GuardConfig {
            $(
                #[doc = concat!("[`", stringify!($config), "`].")]
                $kind($config),
            )*
        }

        impl GuardConfig {
            /// Every kind of guard with its default fields, in the order of the list.
            pub fn all() -> Vec<GuardConfig> {
                vec![$(GuardConfig::$kind($config::default()),)*]
            }

            /// The guard's name, as scenario files write it.
            pub const fn name(&self) -> &'static str {
                match self {
                    $(GuardConfig::$kind(_) => stringify!($name),)*
                }
            }

            fn kind(&self) -> &dyn Kind {
                match self {
                    $(GuardConfig::$kind(config) => config,)*
                }
            }

            fn kind_mut(&mut self) -> &mut dyn Kind {
                match self {
                    $(GuardConfig::$kind(config) => config,)*
                }
            }
        }
    };
}

// The name is that of the guard's file, and what a scenario writes.
guards! {
    none: None(NoneConfig),
    process_mutex: ProcessMutex(ProcessMutexConfig),
    check_then_insert: CheckThenInsert(CheckThenInsertConfig),
    insert_first: InsertFirst(InsertFirstConfig),
    lock_row: LockRow(LockRowConfig),
    redis_lock: RedisLock(RedisLockConfig),
    state_machine: StateMachine(StateMachineConfig),
    seen_set: SeenSet(SeenSetConfig),
    select_for_update: SelectForUpdate(SelectForUpdateConfig),
    optimistic_version: OptimisticVersion(OptimisticVersionConfig),
    lock_then_check: LockThenCheck(LockThenCheckConfig),
    session_lock: SessionLock(SessionLockConfig),
    semaphore: Semaphore(SemaphoreConfig),
    unique: Unique(UniqueConfig),
}

/// Default: none. What cures is off unless named.
impl Default for GuardConfig {
    fn default() -> Self {
        GuardConfig::None(NoneConfig::default())
    }
}

impl GuardConfig {
    /// The guard, for one incarnation of one instance.
    pub fn build(&self, context: &GuardContext) -> Box<dyn Guard> {
        self.kind().build(context)
    }

    /// The steps at which the guard calls a server.
    pub fn calls(&self) -> Vec<&'static Step> {
        self.kind().calls()
    }

    /// Whether the guard keeps a record of the run that ends in a final state.
    pub fn keeps_record(&self) -> bool {
        self.kind().keeps_record()
    }

    /// Whether what the guard remembers is in the memory of its process.
    pub fn remembers_in_process(&self) -> bool {
        self.kind().remembers_in_process()
    }

    /// The deadlines of the guard that could change what happens, by the place in the file that
    /// says them, such as `guard.ttl`.
    pub fn deadlines(&self) -> Vec<(&'static str, Span)> {
        self.kind().deadlines()
    }

    /// How long the guard remembers what it has seen, by the place in the file.
    pub fn memory(&self) -> Option<(&'static str, Span)> {
        self.kind().memory()
    }

    /// Whether what the guard holds is lost with a session of the database.
    pub fn holds_sessions(&self) -> bool {
        self.kind().holds_sessions()
    }

    /// How often the guard renews what it holds while the work goes on; `None`: never.
    pub fn renewal(&self) -> Option<Span> {
        self.kind().renewal()
    }

    /// Whether the instance's own wall clock says when a hold has ended.
    pub fn reads_node_clock(&self) -> bool {
        self.kind().reads_node_clock()
    }

    /// What the scenario says of a run in somebody else's hands; `None`: nothing (the topology's
    /// default holds), or the guard has no such knob.
    pub fn busy(&self) -> Option<BusyPolicy> {
        self.kind().busy()
    }

    /// What happens to the work of an attempt whose hold was lost.
    pub fn on_lost(&self) -> OnLost {
        self.kind().on_lost()
    }

    /// The same with every default that depends on another field filled in: two configurations
    /// that mean the same are equal.
    pub fn filled_in(&self) -> GuardConfig {
        let mut filled = self.clone();
        filled.kind_mut().fill_in();
        filled
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::Switchable;
    use crate::guards::{Acquire, InsertWhen, LockBy, Release, Renew, TimeSource, Unlock};

    fn read(text: &str) -> Result<GuardConfig, String> {
        toml::from_str(text).map_err(|error| error.message().to_owned())
    }

    #[test]
    fn a_kind_alone_has_the_defaults_that_the_format_names() {
        assert_eq!(read("kind = 'none'"), Ok(GuardConfig::default()));
        assert_eq!(
            read("kind = 'process_mutex'"),
            Ok(GuardConfig::ProcessMutex(ProcessMutexConfig::default()))
        );
        assert_eq!(
            read("kind = 'check_then_insert'"),
            Ok(GuardConfig::CheckThenInsert(CheckThenInsertConfig {
                unique_index: false,
                insert: InsertWhen::Before,
            }))
        );
        assert_eq!(
            read("kind = 'insert_first'"),
            Ok(GuardConfig::InsertFirst(InsertFirstConfig {}))
        );
        assert_eq!(
            read("kind = 'lock_row'"),
            Ok(GuardConfig::LockRow(LockRowConfig {
                max_hold: Span::secs(40),
                min_hold: Span::ZERO,
                clock: TimeSource::Node,
                release: Release::OwnerChecked,
                lock_key: LockBy::Run,
                busy: None,
            }))
        );
        assert_eq!(
            read("kind = 'redis_lock'"),
            Ok(GuardConfig::RedisLock(RedisLockConfig {
                renew: Renew::OwnerChecked,
                acquire: Acquire::SetNxPx,
                ttl: Span::secs(20),
                renew_every: None,
                release: Unlock::OwnerChecked,
                renew_retry: true,
                reentrant: false,
                lock_key: LockBy::Run,
                busy: None,
                on_lost: OnLost::Continue,
            }))
        );
        assert_eq!(
            read("kind = 'state_machine'"),
            Ok(GuardConfig::StateMachine(StateMachineConfig {
                lease: Span::secs(45),
                heartbeat: Switchable(Some(Span::secs(15))),
                clock: TimeSource::Statement,
                sweep_queued_after: Switchable(Some(Span::secs(90))),
                finalise_check: true,
                on_lost: OnLost::Continue,
            }))
        );
    }

    #[test]
    fn the_lock_is_renewed_at_a_third_of_its_ttl_unless_the_scenario_says_otherwise() {
        let renewal = |text: &str| match read(text).unwrap().filled_in() {
            GuardConfig::RedisLock(config) => config.renew_every,
            _ => None,
        };
        assert_eq!(
            renewal("kind = 'redis_lock'\nttl = '30s'"),
            Some(Switchable(Some(Span::secs(10))))
        );
        assert_eq!(
            renewal("kind = 'redis_lock'\nrenew_every = 'off'"),
            Some(Switchable(None))
        );
        assert_eq!(
            renewal("kind = 'redis_lock'\nrenew_every = '1s'"),
            Some(Switchable(Some(Span::secs(1))))
        );
    }

    #[test]
    fn takeover_after_is_another_name_of_max_hold() {
        let GuardConfig::LockRow(config) =
            read("kind = 'lock_row'\ntakeover_after = '30m'").unwrap()
        else {
            panic!("another guard");
        };
        assert_eq!(config.max_hold, Span::secs(1800));
    }

    #[test]
    fn every_guard_survives_being_written_and_read_and_bears_its_name() {
        for default in GuardConfig::all() {
            let kind = default.name();
            let config = read(&format!("kind = '{kind}'")).unwrap();
            assert_eq!(config.name(), kind);
            assert_eq!(config, default);
            assert_eq!(read(&toml::to_string(&config).unwrap()), Ok(config));
        }
    }

    #[test]
    fn what_is_not_known_is_refused_with_what_is_allowed() {
        for (text, says) in [
            ("kind = 'nothing'", "expected one of `none`"),
            ("ttl = '20s'", "missing field `kind`"),
            ("kind = 'none'\nttl = '20s'", "unknown field `ttl`"),
            ("kind = 'insert_first'\nttl = '20s'", "unknown field `ttl`"),
            (
                "kind = 'redis_lock'\nlease = '20s'",
                "expected one of `acquire`, `ttl`",
            ),
            ("kind = 'redis_lock'\nttl = '-20s'", "such as \"30s\""),
            ("kind = 'redis_lock'\nttl = '0s'", "longer than zero"),
            ("kind = 'redis_lock'\nrenew_every = '0s'", "or \"off\""),
            ("kind = 'state_machine'\nlease = '0s'", "longer than zero"),
            ("kind = 'lock_row'\nmax_hold = '0s'", "longer than zero"),
            (
                "kind = 'redis_lock'\nrelease = 'maybe'",
                "`owner_checked`, `get_then_delete`, `blind`",
            ),
        ] {
            let error = read(text).unwrap_err();
            assert!(error.contains(says), "{text}: {error}");
        }
    }
}
