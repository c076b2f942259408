//! A folder that is not one of vectors is an error that says why.

use crate::{NotVectors, replay_folder};
use std::path::{Path, PathBuf};

/// A folder with one file, gone when it is dropped.
struct Temporary(PathBuf);

impl Temporary {
    fn with(name: &str, text: &str) -> Self {
        let name = format!("runkey-vectors-{name}-{}", std::process::id());
        let folder = std::env::temp_dir().join(name);
        std::fs::create_dir_all(&folder).expect("a folder for temporary files");
        std::fs::write(folder.join("vectors.json"), text).expect("a temporary file");
        Temporary(folder)
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn error_of(folder: &Path) -> String {
    match replay_folder(folder, |_| {}) {
        Ok(_) => panic!("it was replayed"),
        Err(NotVectors(why)) => why,
    }
}

#[test]
fn a_folder_that_is_not_there_is_said_to_be_missing() {
    assert!(error_of(Path::new("/no/such/folder")).contains("/no/such/folder cannot be read"));
}

#[test]
fn a_folder_without_vectors_is_an_error() {
    let folder = Temporary::with("empty", r#"{"vectors": []}"#);
    assert!(error_of(&folder.0).ends_with("has no vectors"));
}

#[test]
fn a_damaged_file_is_named() {
    let folder = Temporary::with("damaged", r#"{"vectors": [{"id": "#);
    assert!(error_of(&folder.0).contains("vectors.json is damaged: EOF"));
}

#[test]
fn a_vector_without_steps_agrees_with_nothing() {
    let text = r#"{"vectors": [{"id": "X1", "server": "redis", "claim": "B", "sessions": []}]}"#;
    let why = error_of(&Temporary::with("stepless", text).0);
    assert_eq!(why, "vector X1 has no steps");
}

#[test]
fn a_vector_of_a_server_that_nobody_knows_is_named() {
    let text = r#"{"vectors": [{"id": "X1", "server": "oracle", "claim": "A1", "sessions": []}]}"#;
    let why = error_of(&Temporary::with("unknown", text).0);
    assert!(
        why.starts_with("vector X1: no server is called oracle"),
        "{why}"
    );
}

#[test]
fn an_expectation_that_is_not_of_the_format_is_a_disagreement_at_its_step() {
    let text = r#"{"vectors": [{"id": "X2", "server": "postgresql", "claim": "A1",
        "sessions": ["A"],
        "steps": [{"session": "A", "sql": "BEGIN", "expect": {"colour": "red"}}]}]}"#;
    let folder = Temporary::with("unread", text);
    let replayed = replay_folder(&folder.0, |_| {}).expect("it is of the format");
    assert!(replayed.disagreements[0].starts_with("vector X2 disagreed at step 1: "));
}
