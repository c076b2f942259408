//! How the command ends: the exit codes that scripts and CI depend on.

use std::process::ExitCode;

/// Every exit code of runkey. The numbers never change their meaning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Exit {
    /// The expectation holds; for verbs without one: it was done.
    Holds = 0,
    /// Something unexpected went wrong.
    Unexpected = 1,
    /// Usage, a bad scenario file, an unknown scenario, a bad token.
    Usage = 2,
    /// A filter matched nothing.
    NothingMatched = 4,
    /// The expectation does not hold.
    DoesNotHold = 100,
    /// A server or store could not be set up.
    SetUp = 101,
    /// The same plan gave a different history, or a site of the plan is no longer reached.
    Irreproducible = 102,
    /// A budget or an interrupt came before the bound.
    Inconclusive = 103,
}

/// Several scenarios end with the first of these that occurs.
const GRAVEST_FIRST: [Exit; 6] = [
    Exit::Irreproducible,
    Exit::SetUp,
    Exit::Unexpected,
    Exit::DoesNotHold,
    Exit::Inconclusive,
    Exit::Holds,
];

impl Exit {
    /// How a command ends whose parts ended so; [`Exit::Holds`] where there are none.
    pub fn of_several(parts: &[Exit]) -> Exit {
        GRAVEST_FIRST
            .into_iter()
            .find(|exit| parts.contains(exit))
            .unwrap_or(Exit::Holds)
    }

    /// The number.
    pub const fn code(self) -> u8 {
        self as u8
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        ExitCode::from(exit.code())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn several_scenarios_end_with_the_gravest_of_their_codes() {
        use Exit::*;
        assert_eq!(Exit::of_several(&[]), Holds);
        assert_eq!(Exit::of_several(&[Holds, Inconclusive]), Inconclusive);
        assert_eq!(Exit::of_several(&[Inconclusive, DoesNotHold]), DoesNotHold);
        assert_eq!(Exit::of_several(&[DoesNotHold, Unexpected]), Unexpected);
        assert_eq!(Exit::of_several(&[Unexpected, SetUp, Holds]), SetUp);
        assert_eq!(Exit::of_several(&[SetUp, Irreproducible]), Irreproducible);
    }
}
