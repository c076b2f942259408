use super::super::super::Persistence;
use super::*;

fn eval(script: &str) -> Reply {
    let mut redis = Redis::new(Persistence::None);
    let words = ["EVAL", script, "1", "k", "a", "300"].map(Text::from);
    redis.run(0, "c", &["SET", "k", "a"].map(Text::from));
    redis.run(0, "c", &words)
}

fn list(numbers: &[i64]) -> Reply {
    Reply::List(numbers.iter().copied().map(Reply::Int).collect())
}

// Each was said to Redis 7.0.15.
#[test]
fn values_cross_between_redis_and_lua_as_they_do_in_redis() {
    for (script, answer) in [
        ("return redis.call('set', KEYS[1], ARGV[1])", Reply::OK),
        ("return redis.call('set',KEYS[1],'q') == 'OK'", Reply::Nil),
        (
            "return redis.call('set',KEYS[1],'q').ok == 'OK'",
            Reply::Int(1),
        ),
        ("return {1, 2, nil, 3}", list(&[1, 2])),
        ("return 3.9", Reply::Int(3)),
        ("return redis.call('get','none') == false", Reply::Int(1)),
        ("return redis.call('get','none') == nil", Reply::Nil),
        ("return KEYS[1] .. 1", Reply::Bulk("k1".into())),
        (
            "return redis.call('get',KEYS[1]) == ARGV[1] and 7 or 8",
            Reply::Int(7),
        ),
        ("return tonumber(ARGV[2]) > 299", Reply::Int(1)),
        ("return {ok='fine'}", Reply::Status("fine".into())),
        (
            "return redis.pcall('incr',KEYS[1])",
            Reply::Error(ErrorReply::NOT_A_NUMBER),
        ),
        (
            "return redis.call('incr',KEYS[1])",
            Reply::Error(ErrorReply::NOT_A_NUMBER),
        ),
        (
            "local n = 0 for i = 1, 4 do n = n + i end return n",
            Reply::Int(10),
        ),
        (
            "if 0 then return 'zero is true' end",
            Reply::Bulk("zero is true".into()),
        ),
    ] {
        assert_eq!(eval(script), answer, "{script}");
    }
}

#[test]
fn a_checked_release_is_found_in_every_spelling_and_nothing_else_is() {
    let checked = |text: &str| {
        let arguments = ["a".into(), "300".into()];
        let script = Script::parse(text).expect("it is Lua");
        script.checked(&arguments).is_some()
    };
    for end in [
        "redis.call('del',KEYS[1])",
        "redis.call(\"PEXPIRE\", KEYS[1], ARGV[2])",
    ] {
        assert!(checked(&format!(
            "if redis.call( 'GET' , KEYS[1] ) == ARGV[1] then\n return {end} -- x\nelse return 0 end"
        )));
        assert!(!checked(&format!(
            "if redis.call('get',KEYS[1]) == ARGV[2] then return {end} else return 0 end"
        )));
    }
    assert!(!checked("return redis.call('del',KEYS[1])"));
}

#[test]
fn what_is_not_modelled_is_said() {
    for script in [
        "while true do end",
        "local f = function() end",
        "retrun 1",
        "return ?",
    ] {
        assert!(Script::parse(script).is_err(), "{script}");
    }
}
