//! `[downstream] protection`: the list of protections, and what a scenario may say of each.

use super::Protection;
use super::fencing_token::FencingTokenConfig;
use super::idempotency_key::IdempotencyKeyConfig;
use super::lookup_before_retry::LookupBeforeRetryConfig;
use super::none::NoneConfig;
use super::quarantine::QuarantineConfig;
use super::transactional::TransactionalConfig;
use crate::Span;
use serde::{Deserialize, Serialize};

/// `protection = { kind, .. }`: how the outside world is protected against the second attempt.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum ProtectionConfig {
    /// [`NoneConfig`].
    None(NoneConfig),
    /// [`IdempotencyKeyConfig`].
    IdempotencyKey(IdempotencyKeyConfig),
    /// [`FencingTokenConfig`].
    FencingToken(FencingTokenConfig),
    /// [`LookupBeforeRetryConfig`].
    LookupBeforeRetry(LookupBeforeRetryConfig),
    /// [`TransactionalConfig`].
    Transactional(TransactionalConfig),
    /// [`QuarantineConfig`].
    Quarantine(QuarantineConfig),
}

/// Default: none. What cures is off unless named.
impl Default for ProtectionConfig {
    fn default() -> Self {
        ProtectionConfig::None(NoneConfig::default())
    }
}

impl ProtectionConfig {
    /// The protection.
    pub fn build(&self) -> Box<dyn Protection> {
        match self {
            ProtectionConfig::None(_) => Box::new(super::none::NoProtection),
            ProtectionConfig::IdempotencyKey(_) => Box::new(super::idempotency_key::IdempotencyKey),
            ProtectionConfig::FencingToken(_) => Box::new(super::fencing_token::FencingToken),
            ProtectionConfig::LookupBeforeRetry(_) => {
                Box::new(super::lookup_before_retry::LookupBeforeRetry)
            }
            ProtectionConfig::Transactional(_) => Box::new(super::transactional::Transactional),
            ProtectionConfig::Quarantine(_) => Box::new(super::quarantine::Quarantine),
        }
    }

    /// The protection's name, as scenario files write it.
    pub const fn name(&self) -> &'static str {
        match self {
            ProtectionConfig::None(_) => "none",
            ProtectionConfig::IdempotencyKey(_) => "idempotency_key",
            ProtectionConfig::FencingToken(_) => "fencing_token",
            ProtectionConfig::LookupBeforeRetry(_) => "lookup_before_retry",
            ProtectionConfig::Transactional(_) => "transactional",
            ProtectionConfig::Quarantine(_) => "quarantine",
        }
    }

    /// How long the downstream keeps keys to recognise repeated requests by; `None`: it does not
    /// recognise them, whatever key they carry.
    pub const fn retention(&self) -> Option<Span> {
        match self {
            ProtectionConfig::IdempotencyKey(config) => Some(config.retention),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn read(text: &str) -> Result<ProtectionConfig, String> {
        toml::from_str(text).map_err(|error| error.message().to_owned())
    }

    #[test]
    fn every_protection_survives_being_written_and_read_and_bears_its_name() {
        for kind in [
            "none",
            "idempotency_key",
            "fencing_token",
            "lookup_before_retry",
            "transactional",
            "quarantine",
        ] {
            let config = read(&format!("kind = '{kind}'")).unwrap();
            assert_eq!(config.name(), kind);
            assert_eq!(read(&toml::to_string(&config).unwrap()), Ok(config));
        }
        assert_eq!(read("kind = 'none'"), Ok(ProtectionConfig::default()));
    }

    #[test]
    fn keys_are_kept_for_seven_days_unless_the_scenario_says_otherwise() {
        let retention = |text: &str| read(text).unwrap().retention();
        assert_eq!(
            retention("kind = 'idempotency_key'"),
            Some(Span::secs(7 * 24 * 3600))
        );
        assert_eq!(
            retention("kind = 'idempotency_key'\nretention = '30s'"),
            Some(Span::secs(30))
        );
        assert_eq!(retention("kind = 'lookup_before_retry'"), None);
    }

    #[test]
    fn what_is_not_known_is_refused_with_what_is_allowed() {
        for (text, says) in [
            ("kind = 'hope'", "expected one of `none`, `idempotency_key`"),
            ("retention = '7d'", "missing field `kind`"),
            (
                "kind = 'none'\nretention = '7d'",
                "unknown field `retention`",
            ),
            (
                "kind = 'quarantine'\nretention = '7d'",
                "unknown field `retention`",
            ),
            (
                "kind = 'idempotency_key'\nretention = '0s'",
                "longer than zero",
            ),
        ] {
            let error = read(text).unwrap_err();
            assert!(error.contains(says), "{text}: {error}");
        }
    }
}
