//! The work of a run: how long it takes, how it is retried, and the handler that does it.

use crate::Span;
use serde::{Deserialize, Serialize};

/// `[work]`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct WorkConfig {
    /// Local work before the call to the outside world.
    pub takes: Span,
    /// How long any call waits for its answer; then its outcome is unknown.
    pub call_timeout: Span,
    /// What happens after a failure.
    pub retry: RetryConfig,
    /// When the message is settled.
    pub ack: AckWhen,
    /// Which of the built-in handlers does the work.
    pub handler: HandlerKind,
    /// Whether the handler goes on when it is cancelled (a lost lease or lock with
    /// `on_lost = "cancel"`, the `timeout` or `cover_early` of topology routed), and makes its
    /// effect all the same.
    #[serde(skip_serializing_if = "is_false")]
    pub ignores_cancel: bool,
}

/// For a key that joined later, and is left out of hashes while it is off.
#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde hands out a reference"
)]
const fn is_false(value: &bool) -> bool {
    !*value
}

impl Default for WorkConfig {
    fn default() -> Self {
        WorkConfig {
            takes: Span::ZERO,
            call_timeout: Span::secs(3),
            retry: RetryConfig::default(),
            ack: AckWhen::After,
            handler: HandlerKind::Effect,
            ignores_cancel: false,
        }
    }
}

/// When the message is settled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AckWhen {
    /// After the work: at least once.
    #[default]
    After,
    /// Before the work: at most once.
    Before,
}

/// Which of the built-in handlers does the work.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum HandlerKind {
    /// Works for `takes`, then makes one effect.
    #[default]
    Effect,
    /// Works for `takes`, then fails for good.
    Fails,
}

/// `[work.retry]`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct RetryConfig {
    /// Attempts in all, the first included.
    pub max_attempts: u32,
    /// Wait before the second attempt; doubles each time.
    pub backoff: Span,
    /// The longest wait between two attempts.
    pub max_backoff: Span,
    /// Which failures are worth another attempt.
    pub retryable: Vec<FailureClass>,
}

/// Default: 8 attempts, backoff 1 s doubling to 60 s, everything but a final error retried.
impl Default for RetryConfig {
    fn default() -> Self {
        RetryConfig {
            max_attempts: 8,
            backoff: Span::secs(1),
            max_backoff: Span::secs(60),
            retryable: vec![
                FailureClass::Refused,
                FailureClass::Unknown,
                FailureClass::Error,
            ],
        }
    }
}

impl RetryConfig {
    /// The wait after the `attempt`-th attempt (from 1).
    pub fn backoff_after(&self, attempt: u32) -> Span {
        let doublings = attempt.saturating_sub(1).min(40);
        Span::millis(
            self.backoff
                .ms()
                .saturating_mul(1 << doublings)
                .min(self.max_backoff.ms()),
        )
    }

    /// Whether this failure is worth another attempt.
    pub fn is_retryable(&self, class: FailureClass) -> bool {
        self.retryable.contains(&class)
    }
}

/// Classes of failures of an attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FailureClass {
    /// The downstream refused the call; nothing happened there.
    Refused,
    /// The call ended without an answer.
    Unknown,
    /// The handler said that another attempt may help.
    Error,
}
