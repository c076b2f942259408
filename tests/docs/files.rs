//! The files of the repository, as the tests of the book read them.

use std::fs;
use std::path::{Path, PathBuf};

/// The root of the repository.
pub fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The text of a file of the repository.
pub fn read(path: &str) -> String {
    fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// Every file below a folder whose name ends so, from the root, sorted.
pub fn below(folder: &str, ending: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut folders = vec![PathBuf::from(folder)];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(root().join(&folder)).unwrap() {
            let entry = entry.unwrap();
            let path = folder.join(entry.file_name());
            if entry.file_type().unwrap().is_dir() {
                folders.push(path);
            } else if path.to_str().unwrap().ends_with(ending) {
                found.push(path.to_str().unwrap().replace('\\', "/"));
            }
        }
    }
    found.sort();
    found
}

/// The pages that a person reads.
pub fn pages() -> Vec<String> {
    let mut pages = below("docs", ".md");
    pages.extend(["README.md", "CONTRIBUTING.md", "CHANGELOG.md"].map(str::to_owned));
    pages
}

/// True if what has changed is to be written instead of told.
pub fn blessing() -> bool {
    std::env::var_os("RUNKEY_BLESS").is_some_and(|bless| bless == "1")
}

/// Holds a file against what it should say; writes it when blessing.
pub fn hold(path: &str, should: &str) {
    let is = read(path);
    if is == should {
        return;
    }
    if blessing() {
        fs::write(root().join(path), should).unwrap();
        return;
    }
    let line = is
        .lines()
        .zip(should.lines())
        .position(|(is, should)| is != should)
        .unwrap_or_else(|| is.lines().count().min(should.lines().count()));
    panic!(
        "{path} is out of date from line {}:\n  is      {}\n  should  {}\nRUNKEY_BLESS=1 cargo test \
         --test docs writes it",
        line + 1,
        is.lines().nth(line).unwrap_or("(the end)"),
        should.lines().nth(line).unwrap_or("(the end)"),
    );
}
