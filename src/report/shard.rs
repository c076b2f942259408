//! What one of several machines has done.

/// A share of a check, ready to be told.
#[derive(Clone, Copy, Debug)]
pub struct ShardReport<'a> {
    /// The scenario.
    pub scenario: &'a str,
    /// Which share, such as `3/8`.
    pub shard: &'a str,
    /// Where its results are.
    pub file: &'a str,
    /// How many plans that are, with those of the levels that every shard runs.
    pub plans: u64,
    /// Why it is not all of the share; `None`: it is.
    pub cut: Option<&'a str>,
}
