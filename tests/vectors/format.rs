//! The format of a vector: see `README.md` beside the vectors.

use serde::Deserialize;
use serde_json::{Map, Value};
use std::path::Path;

/// The servers that vectors were recorded on.
const SERVERS: [&str; 5] = ["mariadb", "nats", "postgresql", "rabbitmq", "redis"];

/// One recording.
#[derive(Clone, Debug, Deserialize)]
pub struct Vector {
    pub id: String,
    pub server: String,
    pub claim: String,
    #[serde(default)]
    pub isolation: Option<String>,
    /// Options of each connection, such as `found_rows`.
    #[serde(default)]
    pub conn: Map<String, Value>,
    /// Run by every session before the first step.
    #[serde(default)]
    pub session_init: Vec<String>,
    /// Sessions whose requests or replies can be lost on the way.
    #[serde(default)]
    pub proxied: Vec<String>,
    /// Settings of the server before the first step.
    #[serde(default)]
    pub broker_eval: Vec<String>,
    pub sessions: Vec<String>,
    #[serde(default)]
    pub setup: Vec<Value>,
    /// Without a race.
    #[serde(default)]
    pub steps: Vec<Step>,
    #[serde(default)]
    pub final_state: Option<Value>,
    /// A race: one of these must come out, and nothing else.
    #[serde(default)]
    pub variants: Vec<Variant>,
    /// What is said beyond this, such as the configuration of the server.
    #[serde(flatten)]
    pub other: Map<String, Value>,
}

/// One outcome of a race.
#[derive(Clone, Debug, Deserialize)]
pub struct Variant {
    pub steps: Vec<Step>,
    #[serde(default)]
    pub final_state: Option<Value>,
}

/// One step: SQL, or an operation with its arguments.
#[derive(Clone, Debug, Deserialize)]
pub struct Step {
    #[serde(default)]
    pub session: Option<String>,
    #[serde(default)]
    pub sql: Option<String>,
    #[serde(default)]
    pub op: Option<String>,
    #[serde(default)]
    pub expect: Option<Value>,
    /// Arguments of the operation.
    #[serde(flatten)]
    pub arguments: Map<String, Value>,
}

/// A file of vectors; what else it says is for people.
#[derive(Deserialize)]
struct File {
    vectors: Vec<Vector>,
}

/// Why a folder is no folder of vectors.
#[derive(Debug, PartialEq, Eq)]
pub struct NotVectors(pub String);

/// Every vector of a folder, file by file in the order of their names.
pub fn vectors_of(folder: &Path) -> Result<Vec<Vector>, NotVectors> {
    let shown = folder.display();
    let no_folder = |error| NotVectors(format!("{shown} cannot be read: {error}"));
    let entries = std::fs::read_dir(folder).map_err(no_folder)?;
    let mut files: Vec<_> = entries
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.extension().is_some_and(|ext| ext == "json"))
        .collect();
    files.sort();
    let mut vectors = Vec::new();
    for path in &files {
        let damaged = |error: &dyn std::fmt::Display| {
            NotVectors(format!("{} is damaged: {error}", path.display()))
        };
        let text = std::fs::read_to_string(path).map_err(|error| damaged(&error))?;
        let file: File = serde_json::from_str(&text).map_err(|error| damaged(&error))?;
        vectors.extend(file.vectors);
    }
    for vector in &vectors {
        if !SERVERS.contains(&vector.server.as_str()) {
            return Err(NotVectors(format!(
                "vector {}: no server is called {} (there are {})",
                vector.id,
                vector.server,
                SERVERS.join(", ")
            )));
        }
        if vector.steps.is_empty() && vector.variants.is_empty() {
            return Err(NotVectors(format!("vector {} has no steps", vector.id)));
        }
    }
    match vectors.is_empty() {
        true => Err(NotVectors(format!("{shown} has no vectors"))),
        false => Ok(vectors),
    }
}
