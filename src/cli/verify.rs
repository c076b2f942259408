//! `runkey verify`: is a certificate still true?

use super::failure::Failure;
use super::output::OutputArgs;
use super::progress::Progress;
use super::select::{self, Subject};
use super::simulate::Simulation;
use super::{interrupt, threads};
use crate::exit::Exit;
use clap::Args;
use explore::Control;
use explore::certificate::{Certificate, CertificateError, Mismatch};
use runkey::report::{Verb, VerifyReport};
use scenarios::{Scenario, catalogue};
use std::fs::File;
use std::io::Read;
use std::sync::Arc;

/// Verify a certificate that a check has issued
///
/// Runs the plans of the certificate's sample again and compares their histories; with --full the
/// whole exploration, and compares its digest. The scenario is in the certificate.
#[derive(Args)]
#[command(after_help = "Examples: runkey verify certificate.json\n          \
                        runkey verify certificate.json --full")]
pub struct VerifyArgs {
    /// A file that check --certificate has written
    certificate: String,
    /// The scenario, to make sure that the certificate is of it as it is now [default: the one of
    /// this name in the catalogue, if there is one]
    scenario: Option<String>,
    /// Explore all of it again
    #[arg(long)]
    full: bool,
    /// How many threads [default: all cores]; the results do not depend on it
    #[arg(long, value_name = "J", value_parser = clap::value_parser!(u16).range(1..=1024))]
    jobs: Option<u16>,
}

pub fn verify(args: &VerifyArgs, output: &OutputArgs) -> Result<Exit, Failure> {
    let unusable = |source: CertificateError| Failure::Certificate {
        file: args.certificate.clone(),
        source: Box::new(source.into()),
    };
    let certificates = Certificate::read(&read(&args.certificate)?).map_err(unusable)?;
    let now = args.scenario.as_deref().map(select::scenario).transpose()?;
    let inputs = [Some(args.certificate.as_str()), args.scenario.as_deref()];
    output.spares(inputs.into_iter().flatten())?;
    let control = Arc::new(Control::new());
    interrupt::stops(&control)?;
    let pool = threads::pool(args.jobs)?;
    let mut report = output.report(Verb::Verify)?;
    let mut ended = Vec::new();
    for certificate in &certificates {
        let scenario = certificate.scenario().map_err(unusable)?;
        certificate.claim.depths().map_err(unusable)?;
        let verified = match as_it_is_now(certificate, &scenario, now.as_ref()) {
            Ok(()) => {
                let _bar = Progress::of(&scenario.name, &control);
                pool.install(|| again(args, certificate, scenario, &control))?
            }
            Err(changed) => Err(changed),
        };
        if let Err(Mismatch::Unusable(source)) = verified {
            return Err(unusable(source));
        }
        report.verified(&VerifyReport {
            claim: &certificate.claim,
            full: args.full,
            plans: verified.as_ref().copied().unwrap_or(0),
            mismatch: verified.as_ref().err().map(ToString::to_string).as_deref(),
        })?;
        ended.push(match verified {
            Ok(_) => Exit::Holds,
            Err(source) => Failure::Certificate {
                file: args.certificate.clone(),
                source: Box::new(source),
            }
            .tell(),
        });
    }
    report.finish()?;
    Ok(Exit::of_several(&ended))
}

/// Runs the sample or all of it; says how many plans that were.
fn again(
    args: &VerifyArgs,
    certificate: &Certificate,
    scenario: Scenario,
    control: &Control,
) -> Result<Result<u64, Mismatch>, Failure> {
    let subject = Subject {
        scenario,
        file: None,
    };
    let simulation = Simulation::of(&subject)?;
    let sampled = certificate.verify_sample(simulation.executes());
    Ok(match (sampled, args.full) {
        (Ok(_), true) => certificate.verify_all(&subject.scenario, simulation.executes(), control),
        (sampled, _) => sampled,
    })
}

/// Makes sure that the scenario that is named, or the one of this name in the catalogue, is the
/// one that is certified.
fn as_it_is_now(
    certificate: &Certificate,
    certified: &Scenario,
    named: Option<&Subject>,
) -> Result<(), Mismatch> {
    let hash = certified.hash();
    let of_catalogue = || match catalogue::find_by_hash(certified.hash32()) {
        Some(_) => None,
        None => catalogue::find(&certificate.claim.scenario)?
            .scenario()
            .ok(),
    };
    let now = match named {
        Some(subject) => {
            let repairs = subject.scenario.repairs.iter();
            let mut repaired = repairs.map(|repair| repair.scenario.hash());
            if subject.scenario.hash() == hash || repaired.any(|repair| repair == hash) {
                return Ok(());
            }
            subject.scenario.hash()
        }
        None => match of_catalogue() {
            Some(scenario) => scenario.hash(),
            None => return Ok(()),
        },
    };
    Err(Mismatch::Claim {
        what: "the hash of the scenario",
        certified: certificate.claim.scenario_hash.clone(),
        now: format!("{now:016x}"),
    })
}

/// A certificate is some 50 KiB; a file of many is far below this.
const LARGEST: u64 = 64 << 20;

fn read(path: &str) -> Result<Vec<u8>, Failure> {
    let failed = |error: std::io::Error| Failure::Usage(format!("{path}: {error}"));
    let mut bytes = Vec::new();
    let file = File::open(path).map_err(failed)?;
    file.take(LARGEST + 1)
        .read_to_end(&mut bytes)
        .map_err(failed)?;
    match bytes.len() as u64 > LARGEST {
        true => Err(Failure::Usage(format!(
            "{path}: longer than {LARGEST} bytes, which no certificate is"
        ))),
        false => Ok(bytes),
    }
}
