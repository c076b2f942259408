//! What a check is called, so that a token finds back to it.

use std::cell::Cell;
use std::thread;

thread_local! {
    /// How many checks without a name of their own this test has begun.
    static BEGUN: Cell<u32> = const { Cell::new(0) };
}

/// The name of a check: that of its test, and which check of the test it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Named(String);

impl Named {
    /// By a name of the user's choice.
    pub fn by_hand(name: String) -> Self {
        Named(name)
    }

    /// By the test that runs now: cargo's harness names the thread after it. The second check of a
    /// test is `name#2`.
    pub fn by_test() -> Self {
        let number = BEGUN.get() + 1;
        BEGUN.set(number);
        let test = test();
        Named(match number {
            1 => test,
            _ => format!("{test}#{number}"),
        })
    }

    /// As tokens carry it.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether the other is another check of the same test.
    pub fn is_beside(&self, other: &str) -> bool {
        let test = |name: &str| name.split('#').next().map(str::to_owned);
        self.0 != other && test(&self.0) == test(other)
    }
}

/// The running test; outside of the harness (an example, a doctest) the program.
fn test() -> String {
    match thread::current().name() {
        Some(name) if name != "main" => name.to_owned(),
        _ => program().unwrap_or_else(|| "main".to_owned()),
    }
}

fn program() -> Option<String> {
    let path = std::env::current_exe().ok()?;
    let stem = path.file_stem()?.to_str()?;
    // cargo appends `-` and 16 hexadecimal digits to what it builds for tests.
    let name = match stem.rsplit_once('-') {
        Some((name, hash)) if hash.len() == 16 => name,
        _ => stem,
    };
    Some(name.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_check_is_called_after_its_test_and_counted() {
        let here = "facade::named::tests::a_check_is_called_after_its_test_and_counted";
        assert_eq!(Named::by_test().as_str(), here);
        let second = Named::by_test();
        assert_eq!(second.as_str(), format!("{here}#2"));
        assert!(second.is_beside(here));
        assert!(!second.is_beside("facade::named::tests::another"));
        assert!(!second.is_beside(second.as_str()));
    }
}
