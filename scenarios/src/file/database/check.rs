//! What only some databases have.

use super::super::Scenario;
use super::super::check::Checked;
use super::super::document::Document;
use super::DatabaseProfile;
use scheduler::ports::Isolation;

/// Refuses what the database of the profile does not have.
pub(in super::super) fn check(document: &Document<'_>, scenario: &Scenario) -> Checked {
    let table = &scenario.database;
    let (generic, mariadb) = match table.profile {
        DatabaseProfile::Generic => (true, false),
        DatabaseProfile::Postgresql => (false, false),
        DatabaseProfile::Mariadb => (false, true),
    };
    if generic && table.isolation != Isolation::ReadCommitted {
        let message = "the profile generic is read_committed; for another level name \
                       `profile = \"postgresql\"` or `\"mariadb\"`";
        return Err(document.error("database.isolation", message));
    }
    for (key, is_there, needs) in [
        ("lock_wait", !generic, "postgresql or mariadb"),
        ("idle_in_transaction", !generic, "postgresql or mariadb"),
        ("durable", !generic, "postgresql or mariadb"),
        ("snapshot_isolation", mariadb, "mariadb"),
        ("found_rows", mariadb, "mariadb"),
    ] {
        let path = format!("database.{key}");
        if !is_there && document.get(&path).is_some() {
            let message = format!("`{key}` needs the database profile {needs}");
            return Err(document.key_error(&path, message));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use crate::Scenario;

    fn refusal(text: &str) -> String {
        let text = format!("[database]\n{text}");
        let error = Scenario::parse(&text, "t.toml").expect_err("it is refused");
        error.to_string()
    }

    #[test]
    fn what_a_database_does_not_have_is_refused_with_who_has_it() {
        let level = refusal("isolation = 'serializable'");
        assert!(
            level.contains("name `profile = \"postgresql\"` or `\"mariadb\"`"),
            "{level}"
        );
        for (text, needs) in [
            ("lock_wait = '1s'", "postgresql or mariadb"),
            ("idle_in_transaction = '1s'", "postgresql or mariadb"),
            ("durable = false", "postgresql or mariadb"),
            ("profile = 'postgresql'\nfound_rows = true", "mariadb"),
            (
                "profile = 'postgresql'\nsnapshot_isolation = true",
                "mariadb",
            ),
        ] {
            let told = refusal(text);
            assert!(
                told.contains(&format!("needs the database profile {needs}")),
                "{told}"
            );
        }
    }

    #[test]
    fn a_product_brings_its_own_level_and_patience() {
        let of = |text: &str| {
            let text = format!("[database]\nprofile = '{text}'");
            Scenario::parse(&text, "t.toml")
                .expect("it is a scenario")
                .database
        };
        let (postgres, mariadb) = (of("postgresql"), of("mariadb"));
        assert_eq!(
            postgres.isolation,
            scheduler::ports::Isolation::ReadCommitted
        );
        assert_eq!(postgres.lock_wait.0, None);
        assert_eq!(
            mariadb.isolation,
            scheduler::ports::Isolation::RepeatableRead
        );
        assert_eq!(mariadb.lock_wait.0, Some(scheduler::Span::secs(50)));
    }
}
