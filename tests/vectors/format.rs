//! The format of a vector: see `README.md` beside the vectors.

use serde::Deserialize;
use serde_json::{Map, Value};
use std::path::Path;

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

#[derive(Deserialize)]
struct File {
    vectors: Vec<Vector>,
}

/// Every vector of a folder, file by file in the order of their names.
pub fn vectors_of(folder: &Path) -> Vec<Vector> {
    let entries = std::fs::read_dir(folder).unwrap_or_else(|e| panic!("{}: {e}", folder.display()));
    let mut files: Vec<_> = entries
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.extension().is_some_and(|ext| ext == "json"))
        .collect();
    files.sort();
    files
        .iter()
        .flat_map(|path| {
            let text = std::fs::read_to_string(path).expect("a vector file is text");
            let file: File =
                serde_json::from_str(&text).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
            file.vectors
        })
        .collect()
}
