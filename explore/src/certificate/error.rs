//! Why a file is no certificate that this version can verify.

use super::SCHEMA;
use super::claim::VERSION;
use thiserror::Error;

/// Why a certificate cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum CertificateError {
    /// It is no JSON, is cut off, or has other fields.
    #[error("no certificate, or one that is cut off: {0}")]
    NoCertificate(String),
    /// It is something else, or of another format.
    #[error("of schema `{0}`; this version of runkey verifies `{SCHEMA}`")]
    Schema(String),
    /// Another version may explore in another way.
    #[error(
        "issued by runkey {0}, and this is runkey {VERSION}: verify it with that version, or issue \
         it anew"
    )]
    Version(String),
    /// It holds none.
    #[error("it holds no certificate: what was checked gave none")]
    Empty,
    /// It was changed since it was written.
    #[error("the certificate of {0} is damaged: its seal does not fit")]
    Damaged(String),
    /// The scenario in it cannot be read.
    #[error("{0}")]
    SetUp(String),
    /// The scenario in it is not the one that was explored.
    #[error("the set-up in the certificate of {0} has another hash than the claim names")]
    OtherSetUp(String),
    /// A space has grown since, or never was.
    #[error("it speaks of space `{0}`, which this version of runkey does not have")]
    Space(String),
    /// A token of the sample cannot be read.
    #[error("plan {number} of the sample, `{token}`: {why}")]
    Token {
        /// Which of the sample, from 1.
        number: usize,
        /// The token.
        token: String,
        /// What is wrong with it.
        why: String,
    },
}
