//! `[guard]`: the list of guards, and what a scenario may say of each.

use super::check_then_insert::CheckThenInsertConfig;
use super::insert_first::InsertFirstConfig;
use super::lock_row::LockRowConfig;
use super::none::NoneConfig;
use super::process_mutex::ProcessMutexConfig;
use super::redis_lock::RedisLockConfig;
use super::state_machine::StateMachineConfig;
use super::{BusyPolicy, Guard, GuardContext, OnLost};
use crate::{Span, Switchable};
use serde::{Deserialize, Serialize};

/// `[guard]`: which guard decides whether an attempt may run, with its fields.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum GuardConfig {
    /// [`NoneConfig`].
    None(NoneConfig),
    /// [`ProcessMutexConfig`].
    ProcessMutex(ProcessMutexConfig),
    /// [`CheckThenInsertConfig`].
    CheckThenInsert(CheckThenInsertConfig),
    /// [`InsertFirstConfig`].
    InsertFirst(InsertFirstConfig),
    /// [`LockRowConfig`].
    LockRow(LockRowConfig),
    /// [`RedisLockConfig`].
    RedisLock(RedisLockConfig),
    /// [`StateMachineConfig`].
    StateMachine(StateMachineConfig),
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
        match self {
            GuardConfig::None(config) => config.build(),
            GuardConfig::ProcessMutex(config) => config.build(context),
            GuardConfig::CheckThenInsert(config) => config.build(context),
            GuardConfig::InsertFirst(config) => config.build(context),
            GuardConfig::LockRow(config) => config.build(context),
            GuardConfig::RedisLock(config) => config.build(context),
            GuardConfig::StateMachine(config) => config.build(context),
        }
    }

    /// The guard's name, as scenario files write it.
    pub const fn name(&self) -> &'static str {
        match self {
            GuardConfig::None(_) => "none",
            GuardConfig::ProcessMutex(_) => "process_mutex",
            GuardConfig::CheckThenInsert(_) => "check_then_insert",
            GuardConfig::InsertFirst(_) => "insert_first",
            GuardConfig::LockRow(_) => "lock_row",
            GuardConfig::RedisLock(_) => "redis_lock",
            GuardConfig::StateMachine(_) => "state_machine",
        }
    }

    /// Whether the guard keeps a record of the run that ends in a final state.
    pub const fn keeps_record(&self) -> bool {
        match self {
            GuardConfig::CheckThenInsert(_)
            | GuardConfig::InsertFirst(_)
            | GuardConfig::StateMachine(_) => true,
            GuardConfig::None(_)
            | GuardConfig::ProcessMutex(_)
            | GuardConfig::LockRow(_)
            | GuardConfig::RedisLock(_) => false,
        }
    }

    /// The deadlines of the guard that could change what happens, by the name of their field.
    pub fn deadlines(&self) -> Vec<(&'static str, Span)> {
        match self {
            GuardConfig::None(_)
            | GuardConfig::ProcessMutex(_)
            | GuardConfig::CheckThenInsert(_)
            | GuardConfig::InsertFirst(_) => Vec::new(),
            GuardConfig::LockRow(config) => {
                let mut deadlines = vec![("max_hold", config.max_hold)];
                if config.min_hold > Span::ZERO {
                    deadlines.push(("min_hold", config.min_hold));
                }
                deadlines
            }
            GuardConfig::RedisLock(config) => vec![("ttl", config.ttl)],
            GuardConfig::StateMachine(config) => vec![("lease", config.lease)],
        }
    }

    /// What the scenario says of a run in somebody else's hands; `None`: nothing (the topology's
    /// default holds), or the guard has no such knob.
    pub const fn busy(&self) -> Option<BusyPolicy> {
        match self {
            GuardConfig::ProcessMutex(config) => config.busy,
            GuardConfig::LockRow(config) => config.busy,
            GuardConfig::RedisLock(config) => config.busy,
            GuardConfig::None(_)
            | GuardConfig::CheckThenInsert(_)
            | GuardConfig::InsertFirst(_)
            | GuardConfig::StateMachine(_) => None,
        }
    }

    /// What happens to the work of an attempt whose hold was lost.
    pub const fn on_lost(&self) -> OnLost {
        match self {
            GuardConfig::RedisLock(config) => config.on_lost,
            GuardConfig::StateMachine(config) => config.on_lost,
            GuardConfig::None(_)
            | GuardConfig::ProcessMutex(_)
            | GuardConfig::CheckThenInsert(_)
            | GuardConfig::InsertFirst(_)
            | GuardConfig::LockRow(_) => OnLost::Continue,
        }
    }

    /// The same with every default that depends on another field filled in: two configurations
    /// that mean the same are equal.
    pub fn filled_in(&self) -> GuardConfig {
        match self {
            GuardConfig::RedisLock(config) => GuardConfig::RedisLock(RedisLockConfig {
                renew_every: Some(Switchable(config.renewal())),
                ..config.clone()
            }),
            other => other.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::guards::{Acquire, InsertWhen, Release, Renew, TimeSource, Unlock};

    fn read(text: &str) -> Result<GuardConfig, String> {
        toml::from_str(text).map_err(|error| error.message().to_owned())
    }

    #[test]
    fn a_kind_alone_has_the_defaults_that_the_format_names() {
        assert_eq!(read("kind = 'none'"), Ok(GuardConfig::default()));
        assert_eq!(
            read("kind = 'process_mutex'"),
            Ok(GuardConfig::ProcessMutex(ProcessMutexConfig { busy: None }))
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
        for kind in [
            "none",
            "process_mutex",
            "check_then_insert",
            "insert_first",
            "lock_row",
            "redis_lock",
            "state_machine",
        ] {
            let config = read(&format!("kind = '{kind}'")).unwrap();
            assert_eq!(config.name(), kind);
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
