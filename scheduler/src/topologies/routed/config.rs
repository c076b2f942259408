//! What the admins and executors of topology `routed` are told.

use super::BlockStrategy;
use crate::Switchable;
use crate::routes::RouteKind;
use evidence::InstanceId;

/// How admins call executors.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RoutedConfig {
    /// The executors, in their order.
    pub executors: Vec<InstanceId>,
    /// Which of them is called.
    pub route: RouteKind,
    /// What an executor does with a call of a timer that is at work.
    pub block: BlockStrategy,
    /// After how long an executor cancels an attempt.
    pub timeout: Switchable,
    /// How often a run is called again after a failure.
    pub retries: u32,
    /// After how long a call without a report counts as failed.
    pub lost_after: Switchable,
}
