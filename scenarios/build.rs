//! Rebuilds when a file joins or leaves the catalogue: `include_dir` alone only notices changes
//! inside files that it already knows.

fn main() {
    println!("cargo::rerun-if-changed=catalogue");
}
