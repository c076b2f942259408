//! Tokens and plan files: what replays an execution.
#![allow(clippy::unwrap_used)]

use evidence::{InstanceId, Slot};
use proptest::prelude::*;
use runkey_scenarios::spec::faults::{self, Amount};
use runkey_scenarios::spec::{Fault, FaultKind, Phase, Plan, RunRef, Site};
use runkey_scenarios::token::{TokenError, TokenLimit};
use runkey_scenarios::{PlanFile, Scenario, Token};
use scheduler::steps;

/// Any fault that a token holds; `most` bounds instance, timer, slot and n.
fn fault(small: u8, large: u16, most_ms: i64) -> impl Strategy<Value = Fault> {
    let run = prop_oneof![
        1 => Just(RunRef::None),
        3 => (0..u16::from(small), 1..=u32::from(large))
            .prop_map(|(timer, ordinal)| RunRef::Slot(Slot { timer, ordinal })),
    ];
    (
        0..FaultKind::ALL.len(),
        0..small,
        0..steps::ALL.len() as u8,
        run,
        1..=large,
        0..4usize,
        -most_ms..=most_ms,
    )
        .prop_map(|(kind, instance, step, run, n, phase, ms)| {
            let kind = FaultKind::ALL[kind];
            Fault {
                site: Site {
                    instance: InstanceId(instance),
                    step,
                    run,
                    n,
                    phase: Phase::ALL[phase],
                },
                kind,
                magnitude_ms: match faults::of(kind).amount {
                    Amount::Nothing => 0,
                    Amount::Lasting | Amount::Losing => ms.abs(),
                    Amount::Jumping => ms,
                },
            }
        })
}

fn token() -> impl Strategy<Value = Token> {
    let wild = fault(u8::MAX, u16::MAX, i64::MAX);
    let plan = prop::collection::vec(wild, 0..=Token::MOST_FAULTS);
    (
        any::<u32>(),
        any::<u64>(),
        plan,
        prop::option::of(".{0,60}"),
    )
        .prop_map(|(scenario_hash, seed, faults, test)| Token {
            scenario_hash,
            seed,
            plan: Plan { faults },
            test,
        })
}

proptest! {
    #[test]
    fn what_is_written_can_be_read(token in token()) {
        let text = token.encode().unwrap();
        prop_assert_eq!(text.parse(), Ok(token.clone()));
        prop_assert_eq!(text.to_uppercase().replace('1', "I").replace('0', "O").replacen("RKI", "RK1", 1).parse(), Ok(token));
    }

    #[test]
    fn three_faults_fit_into_eighty_characters(
        scenario_hash: u32,
        seed in 0..1u64 << 32,
        faults in prop::collection::vec(fault(64, 1023, 6 * 86_400_000), 3),
    ) {
        let token = Token { scenario_hash, seed, plan: Plan { faults }, test: None };
        let text = token.to_string();
        prop_assert!(text.len() <= 80, "{} has {}", text, text.len());
    }

    #[test]
    fn one_changed_character_never_passes(token in token(), place: prop::sample::Index, to in "[!-~]") {
        let text = token.encode().unwrap();
        let place = place.index(text.len());
        let changed = format!("{}{to}{}", &text[..place], &text[place + 1..]);
        match Token::decode(&changed) {
            // The same character in another shape is no change.
            Ok(read) => {
                prop_assert_eq!(read.encode().unwrap(), text.clone());
                prop_assert!(to.eq_ignore_ascii_case(&text[place..=place]) || "iIlLoO".contains(&to));
            }
            Err(error) => prop_assert!(error != TokenError::Version || place < 4),
        }
    }

    #[test]
    fn a_token_cut_off_anywhere_never_passes(token in token(), place: prop::sample::Index) {
        let text = token.encode().unwrap();
        let cut = &text[..place.index(text.len())];
        prop_assert!(Token::decode(cut).is_err());
    }

    #[test]
    fn no_text_makes_the_reader_panic(text in "(rk1-)?.{0,100}", symbols in "rk1-[0-9a-z]{0,200}") {
        let _ = Token::decode(&text);
        let _ = Token::decode(&symbols);
    }

    #[test]
    fn a_plan_file_says_what_its_plan_says(faults in prop::collection::vec(fault(2, 2, 1 << 40), 0..4)) {
        let scenario = Scenario::parse("[[timer]]\nid = 'a'\n[[timer]]\nid = 'b #1'", "t").unwrap();
        let cast = scenario.cast();
        let plan = Plan { faults };
        for fault in &plan.faults {
            prop_assert_eq!(Fault::parse(&fault.text(&cast), &cast), Ok(*fault));
        }
        let file = PlanFile::of("t", 7, &plan, &scenario).unwrap();
        let again = PlanFile::parse(&file.to_toml(), "plan.toml").unwrap();
        prop_assert_eq!(&again, &file);
        // A fault where its kind does not apply is refused; all others come back as they were.
        if let Ok(read) = again.plan(&scenario, "plan.toml") {
            prop_assert_eq!(read, plan);
        }
    }
}

fn crash_before_ack() -> Token {
    let site = Site {
        instance: InstanceId(2),
        step: steps::BROKER_ACK.number,
        run: RunRef::Slot(Slot {
            timer: 0,
            ordinal: 1,
        }),
        n: 1,
        phase: Phase::Before,
    };
    let fault = Fault {
        site,
        kind: FaultKind::Crash,
        magnitude_ms: 0,
    };
    Token {
        scenario_hash: 0xdead_beef,
        seed: 1,
        plan: Plan::empty().with(fault),
        test: None,
    }
}

#[test]
fn the_bytes_of_a_token_do_not_change() {
    let text = crash_before_ack().encode().unwrap();
    assert_eq!(text, "rk1-vtpvxvr6252r5010g9mcrc");
    assert_eq!(Token::default().encode().unwrap(), "rk1-00000000047bjg");
}

#[test]
fn each_way_to_spoil_a_token_has_its_name() {
    let text = crash_before_ack().encode().unwrap();
    let decode = |text: &str| Token::decode(text).unwrap_err();
    assert_eq!(decode(""), TokenError::NotAToken);
    assert_eq!(decode("hello"), TokenError::NotAToken);
    assert_eq!(decode("rk-abc"), TokenError::NotAToken);
    assert_eq!(decode(&text.replacen("rk1", "rk2", 1)), TokenError::Version);
    assert_eq!(decode(&text[..text.len() / 2]), TokenError::Cut);
    assert_eq!(decode(&format!("{text}0")), TokenError::Checksum);
    assert_eq!(
        decode(&text.replacen('-', "-u", 1)),
        TokenError::Character('u')
    );
    assert!(Token::decode(&format!("  {text}\n")).is_ok());
}

#[test]
fn more_than_a_token_holds_is_refused() {
    let mut token = crash_before_ack();
    token.plan.faults = vec![token.plan.faults[0]; 16];
    assert_eq!(token.encode(), Err(TokenLimit::Faults));
    token.plan.faults.clear();
    token.test = Some("t".repeat(256));
    assert_eq!(token.encode(), Err(TokenLimit::Test));
}

#[test]
fn a_plan_file_must_name_the_whole_site() {
    let scenario = Scenario::default();
    let read = |at: &str| {
        let text = format!("scenario = 's'\n[[fault]]\nat = {{ {at} }}\ndo = 'crash'");
        let file = PlanFile::parse(&text, "p.toml").unwrap();
        file.plan(&scenario, "p.toml")
            .map_err(|error| error.to_string())
    };
    let whole = read("instance = 'executor-1', step = 'broker.ack', run = 'report#1'").unwrap();
    assert_eq!(whole, crash_before_ack().plan);
    assert_eq!(
        read("instance = 'executor-1', step = 'broker.ack'").unwrap_err(),
        "p.toml: [[fault]] number 1, at.run: a plan file names the whole site; this is missing"
    );
    assert!(read("instance = 'executor-7', step = 'broker.ack', run = '-'").is_err());
}
