//! Watches every strike point that an execution reaches, and strikes where the plan says so.

use crate::outcome::Reached;
use scenarios::spec::{Fault, Plan, Site};

/// The faults that are still to strike, and the sites reached so far.
pub(crate) struct Injector {
    faults: Vec<Fault>,
    took_effect: Vec<bool>,
    open: usize,
    sites: Vec<Reached>,
}

impl Injector {
    /// No faults are planned.
    pub(crate) fn new() -> Self {
        Injector {
            faults: Vec::new(),
            took_effect: Vec::new(),
            open: 0,
            sites: Vec::new(),
        }
    }

    /// Watches an execution under this plan.
    pub(crate) fn plan(&mut self, plan: &Plan) {
        self.faults.clone_from(&plan.faults);
        self.took_effect = vec![false; plan.faults.len()];
        self.open = plan.faults.len();
        self.sites = Vec::with_capacity(128);
    }

    /// Notes that a site is reached and gives the fault that strikes there, if any.
    pub(crate) fn reach(&mut self, reached: Reached) -> Option<Fault> {
        self.sites.push(reached);
        if self.open == 0 {
            return None;
        }
        self.strike(reached.site)
    }

    /// Whether every fault of the plan has struck.
    pub(crate) const fn all_struck(&self) -> bool {
        self.open == 0
    }

    /// How many sites were reached so far.
    pub(crate) fn reached(&self) -> usize {
        self.sites.len()
    }

    fn strike(&mut self, site: Site) -> Option<Fault> {
        let place = self.faults.iter().position(|fault| fault.site == site)?;
        if std::mem::replace(&mut self.took_effect[place], true) {
            return None;
        }
        self.open -= 1;
        Some(self.faults[place])
    }

    /// What was reached, and which faults struck.
    pub(crate) fn take_found(&mut self) -> (Vec<Reached>, Vec<bool>) {
        let sites = std::mem::take(&mut self.sites);
        (sites, std::mem::take(&mut self.took_effect))
    }
}
