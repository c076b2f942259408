//! Certificates: "no plan of up to k faults breaks this", in a form that another machine can
//! check.
//!
//! A [`Claim`] says what was exhausted, with which result, and what it does *not* say: the cells
//! of the space that no fault struck, each with why, and what lies outside. It is refused where it
//! would be empty. A [`Certificate`] is a claim with all that is needed to hold it against: the
//! set-up itself, and a sample of plans with the hashes of their histories.
//!
//! ```text
//! Checked --(refused?)--> Claim --(sample runs)--> Certificate --> file --> verify
//! ```
//!
//! It holds no time and no machine: the same check gives the same bytes.

mod claim;
mod error;
mod never_reached;
mod refused;
mod sample;
mod verify;

pub use claim::{Claim, Claimed, ClaimedDeadline, ClaimedMagnitudes, ClaimedSpace};
pub use error::CertificateError;
pub use never_reached::NeverReached;
pub use refused::Refused;
pub use sample::{SAMPLED, Sampled};
pub use verify::Mismatch;

use crate::{Execute, ExploreError};
use scenarios::Scenario;
use scenarios::ScenarioError;
use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_128;

/// Names the format, and its version.
pub const SCHEMA: &str = "runkey.certificate/1";

/// A claim, and what it can be held against.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Certificate {
    /// What is certified.
    pub claim: Claim,
    /// The scenario file that says it all, with every default written out.
    pub set_up: String,
    /// Plans that were explored, with what they gave.
    pub sample: Vec<Sampled>,
    /// Hash of all the above, in hexadecimal. It detects accidents, not forgers.
    pub seal: String,
}

/// The file: one document, as every JSON of runkey.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Document {
    schema: String,
    results: Vec<Certificate>,
}

/// As much of a file as every version has.
#[derive(Deserialize)]
struct Label {
    schema: String,
}

/// As much of a certificate as says which runkey has issued it.
#[derive(Deserialize)]
struct Issuers {
    results: Vec<Issuer>,
}

#[derive(Deserialize)]
struct Issuer {
    claim: IssuerClaim,
}

#[derive(Deserialize)]
struct IssuerClaim {
    runkey: String,
}

impl Certificate {
    /// Certifies a claim: runs the sample.
    ///
    /// # Errors
    /// An execution that fails.
    pub fn of(
        claim: Claim,
        scenario: &Scenario,
        execute: &dyn Execute,
    ) -> Result<Self, ExploreError> {
        let sample = sample::draw(&claim, scenario, execute)?;
        let certificate = Certificate {
            claim,
            set_up: scenario.written_out(),
            sample,
            seal: String::new(),
        };
        Ok(certificate.sealed())
    }

    /// The same, with the seal that fits.
    pub fn sealed(mut self) -> Self {
        self.seal = self.sealed_with();
        self
    }

    /// The text of a file with these certificates.
    pub fn write(certificates: Vec<Certificate>) -> String {
        let document = Document {
            schema: SCHEMA.to_owned(),
            results: certificates,
        };
        // Strings, numbers and lists only: there is nothing to fail.
        let mut text = serde_json::to_string_pretty(&document).unwrap_or_default();
        text.push('\n');
        text
    }

    /// Reads a file, and makes sure that each certificate in it is whole and of this version.
    ///
    /// # Errors
    /// See [`CertificateError`].
    pub fn read(bytes: &[u8]) -> Result<Vec<Certificate>, CertificateError> {
        let label: Label = serde_json::from_slice(bytes)
            .map_err(|error| CertificateError::NoCertificate(error.to_string()))?;
        if label.schema != SCHEMA {
            return Err(CertificateError::Schema(label.schema));
        }
        // The version comes first: another one may have other fields.
        let issuers: Issuers = serde_json::from_slice(bytes)
            .map_err(|error| CertificateError::NoCertificate(error.to_string()))?;
        let mut versions = issuers.results.into_iter().map(|one| one.claim.runkey);
        if let Some(other) = versions.find(|version| version != claim::VERSION) {
            return Err(CertificateError::Version(other));
        }
        let document: Document = serde_json::from_slice(bytes)
            .map_err(|error| CertificateError::NoCertificate(error.to_string()))?;
        if document.results.is_empty() {
            return Err(CertificateError::Empty);
        }
        for certificate in &document.results {
            if certificate.seal != certificate.sealed_with() {
                let name = certificate.claim.scenario.clone();
                return Err(CertificateError::Damaged(name));
            }
        }
        Ok(document.results)
    }

    /// The scenario that was explored.
    ///
    /// # Errors
    /// If the set-up cannot be read, or is not the one whose hash the claim names.
    pub fn scenario(&self) -> Result<Scenario, CertificateError> {
        let name = &self.claim.scenario;
        let unreadable = |error: ScenarioError| CertificateError::SetUp(error.to_string());
        let path = format!("the set-up of {name}");
        let mut scenario = Scenario::parse(&self.set_up, &path).map_err(unreadable)?;
        scenario.name.clone_from(name);
        match claim::hash_of(&scenario) == self.claim.scenario_hash {
            true => Ok(scenario),
            false => Err(CertificateError::OtherSetUp(name.clone())),
        }
    }

    fn sealed_with(&self) -> String {
        let unsealed = (&self.claim, &self.set_up, &self.sample);
        let bytes = serde_json::to_vec(&unsealed).unwrap_or_default();
        format!("{:032x}", xxh3_128(&bytes))
    }
}
