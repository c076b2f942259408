//! Guards whose state is a count, a version, a session or a key that stays.

use crate::walked;
use scenarios::Scenario;

const GUARDS: [&str; 8] = [
    "kind = 'seen_set'",
    "kind = 'select_for_update'",
    "kind = 'select_for_update'\nwork = 'inside'",
    "kind = 'optimistic_version'\nlock_key = 'timer'\ntakeover_after = '40s'",
    "kind = 'lock_then_check'",
    "kind = 'session_lock'",
    "kind = 'semaphore'\nlock_key = 'timer'\nrelease = 'again'",
    "kind = 'unique'\nby = 'period'\nuntil = 'retention'\nretention = '2m'",
];

#[test]
fn merged_walks_find_what_unmerged_ones_find_with_every_kind_of_guard() {
    for guard in GUARDS {
        let text = format!(
            "name = 'g'\n[[timer]]\nid = 'tick'\nschedule = {{ every = '5m' }}\nslots = 2\n\
             [guard]\n{guard}\n[downstream]\nprotection = {{ kind = 'idempotency_key' }}\n"
        );
        let scenario = Scenario::parse(&text, "g.toml").unwrap();
        let merged = walked(&scenario, 1, true);
        let every = walked(&scenario, 1, false);
        assert_eq!(merged.met, every.met, "{guard}");
        assert_eq!(merged.counterexample, every.counterexample, "{guard}");
        let (with, without) = (&merged.explored, &every.explored);
        assert_eq!(with.plans + with.merged, without.plans, "{guard}");
        for (one, other) in merged.levels.iter().zip(&every.levels) {
            assert_eq!(one.failing, other.failing, "{guard}");
            assert_eq!(one.symptoms, other.symptoms, "{guard}");
        }
    }
}
