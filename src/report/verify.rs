//! A certificate held against the present.

use explore::certificate::Claim;

/// A verification, ready to be told.
#[derive(Clone, Copy, Debug)]
pub struct VerifyReport<'a> {
    /// What is certified.
    pub claim: &'a Claim,
    /// Whether all of it was explored again, or its sample run.
    pub full: bool,
    /// How many plans gave the same history.
    pub plans: u64,
    /// What is not as certified; `None`: it is true.
    pub mismatch: Option<&'a str>,
}

impl VerifyReport<'_> {
    /// `exactly_once under every plan of up to 2 faults of core/1 and 1 fault of full/1`.
    pub(super) fn claimed(&self) -> String {
        let spaces = self.claim.explored.spaces.iter();
        let spaces: Vec<String> = spaces
            .map(|each| {
                let plural = if each.max_faults == 1 { "" } else { "s" };
                format!("{} fault{plural} of {}", each.max_faults, each.space)
            })
            .collect();
        format!(
            "{} under every plan of up to {}, seeds {}",
            self.claim.promise,
            spaces.join(" and "),
            self.claim.explored.seeds
        )
    }

    /// `256 plans of the sample give the same histories`.
    pub(super) fn found(&self) -> String {
        match (self.mismatch, self.full) {
            (Some(mismatch), _) => mismatch.to_owned(),
            (None, false) if self.plans == 1 => {
                "1 plan of its sample gives the same history".to_owned()
            }
            (None, false) => format!("{} plans of its sample give the same histories", self.plans),
            (None, true) => format!(
                "all {} plans explored again, with the same digest {}",
                self.plans, self.claim.explored.digest
            ),
        }
    }
}
