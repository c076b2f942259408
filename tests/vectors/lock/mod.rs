//! Vectors of Redis, on the model of the lock service.

mod renamed;

use crate::format::{Step, Vector};
use crate::report::Outcome;
use renamed::renamed;
use serde_json::{Map, Value, json};
use servers::Ms;
use servers::lock::{Client, Cut, Persistence, Redis, Reply, Script, Stop, Text};

/// When the first step is made: moments of the wall clock are compared with it (2026-01-01).
const BEGINNING: Ms = 1_767_225_600_000;

/// How long a step takes where it says nothing: what was measured lies between 0 and 2 ms.
const STEP_MS: Ms = 1;

/// How long a server is down when it restarts, where the step says nothing.
const DOWN_MS: Ms = 200;

/// Replays a vector with its own names and with others: names must not matter.
pub fn replay(vector: &Vector) -> Outcome {
    let own = Replay::of(vector).outcome();
    if own != Outcome::Agreed {
        return own;
    }
    let other = (1..=4).map(|seed| Replay::of(&renamed(vector, seed)).outcome());
    other
        .into_iter()
        .find(|outcome| *outcome != Outcome::Agreed)
        .unwrap_or(own)
}

struct Replay<'a> {
    vector: &'a Vector,
    redis: Redis,
    client: Client,
    now: Ms,
}

/// Why a vector was not replayed to its end.
enum Ends {
    Disagrees(String),
    OutOfScope(String),
}

impl<'a> Replay<'a> {
    fn of(vector: &'a Vector) -> Self {
        let retries = vector.conn.get("client_default_retry") == Some(&Value::Bool(true));
        let disk = persistence(&vector.other).or_else(|| persistence(&vector.conn));
        Replay {
            vector,
            redis: Redis::new(disk.unwrap_or_default()),
            client: if retries {
                Client::REDIS_PY
            } else {
                Client::PLAIN
            },
            now: BEGINNING,
        }
    }

    fn outcome(mut self) -> Outcome {
        let steps = &self.vector.steps;
        if steps.is_empty() {
            let reason = "races of Redis".to_owned();
            return Outcome::OutOfScope { reason };
        }
        let ended = |step, ends| match ends {
            Ends::Disagrees(why) => Outcome::Disagreed { step, why },
            Ends::OutOfScope(reason) => Outcome::OutOfScope { reason },
        };
        for said in &self.vector.setup {
            if let Err(ends) = self.set_up(said) {
                return ended(0, ends);
            }
        }
        for (number, step) in (1..).zip(steps) {
            if let Err(ends) = self.step(step) {
                return ended(number, ends);
            }
            self.now += STEP_MS;
        }
        match self.last() {
            Ok(()) => Outcome::Agreed,
            Err(ends) => ended(steps.len() + 1, ends),
        }
    }

    /// A line of the setup: words, a list of words, or a step.
    fn set_up(&mut self, said: &Value) -> Result<(), Ends> {
        let words: Vec<Text> = match said {
            Value::String(line) => line.split_whitespace().map(Text::from).collect(),
            Value::Array(given) => given.iter().map(word).collect(),
            step => {
                let step: Step = serde_json::from_value(step.clone())
                    .map_err(|_| Ends::OutOfScope("a setup that is no command".to_owned()))?;
                return self.step(&step);
            }
        };
        self.command("setup", &words, &[]).map(drop)
    }

    fn step(&mut self, step: &Step) -> Result<(), Ends> {
        let session = step.session.as_deref().unwrap_or("-");
        let op = step.op.as_deref().unwrap_or("sql");
        let heard = match op {
            "cmd" => self.command(session, &words(step, "args"), &[])?,
            "eval" => self.command(session, &script(step), &[])?,
            "cut_after_send" => self.command(session, &words(step, "args"), &[Cut::Reply])?,
            "cut_before_send" => self.command(session, &words(step, "args"), &[Cut::Request])?,
            "sleep" => {
                self.now += lasts(step).unwrap_or(0);
                json!({})
            }
            "restart_server" | "crash_server" => {
                self.stop(op, step);
                self.now += lasts(step).unwrap_or(DOWN_MS);
                self.redis.server.start();
                json!({})
            }
            "stop_server" | "kill_server" => {
                self.stop(op, step);
                json!({})
            }
            "start_server" => {
                self.redis.server.start();
                json!({})
            }
            "failover" => {
                let lost = step.arguments.get("lost_ms").and_then(Value::as_u64);
                self.redis.server.fail_over(self.now, lost.unwrap_or(0));
                json!({})
            }
            "cut" | "kill" | "reconnect" | "close" | "open" => {
                self.redis.disconnect(session);
                json!({ "ok": true })
            }
            other => return Err(Ends::OutOfScope(format!("operation {other}"))),
        };
        match &step.expect {
            Some(expected) if !agrees(expected, &heard) => {
                Err(Ends::Disagrees(format!("expected {expected}, got {heard}")))
            }
            _ => Ok(()),
        }
    }

    fn stop(&mut self, op: &str, step: &Step) {
        let said = |name: &str| step.arguments.get(name).is_some_and(|value| value == true);
        let killed = op != "restart_server" && op != "stop_server" || said("kill9") || said("kill");
        if let Some(disk) = persistence(&step.arguments) {
            self.redis.server.persist(disk);
        }
        let how = if killed { Stop::Killed } else { Stop::Orderly };
        self.redis.stop(self.now, how);
    }

    /// What the application hears of a command of which these sendings are cut off.
    fn command(&mut self, session: &str, words: &[Text], cuts: &[Cut]) -> Result<Value, Ends> {
        let name = words.first().map_or("", |name| name);
        if !Redis::knows(name) {
            return Err(Ends::OutOfScope(format!("command {}", name.to_uppercase())));
        }
        if name.eq_ignore_ascii_case("eval")
            && let Err(error) = Script::parse(&words[1])
        {
            return Err(Ends::OutOfScope(error.to_string()));
        }
        if self.redis.server.is_down() {
            return Ok(json!({ "error": "ConnectionError" }));
        }
        let (redis, now) = (&mut self.redis, self.now);
        let mut last = 0;
        let heard = self.client.send(cuts, |waited| {
            last = waited;
            redis.run(now + waited, session, words)
        });
        self.now += last;
        if !cuts.is_empty() {
            self.redis.disconnect(session);
        }
        Ok(match heard {
            Ok(Reply::Error(error)) => json!({ "error": class(error.code()) }),
            Ok(reply) => json!({ "reply": seen(&reply) }),
            Err(_) => json!({ "error": "ConnectionError" }),
        })
    }

    /// The final state: one query, or several.
    fn last(&mut self) -> Result<(), Ends> {
        let asked = match &self.vector.final_state {
            None => return Ok(()),
            Some(Value::Array(several)) => several.clone(),
            Some(one) => vec![one.clone()],
        };
        for asked in asked {
            let query = asked["query"].as_array().map(Vec::as_slice);
            let words: Vec<Text> = query.unwrap_or_default().iter().map(word).collect();
            let heard = self.command("final", &words, &[])?;
            if !agrees(&json!({ "reply": asked["result"] }), &heard) {
                let why = format!(
                    "at the end {words:?} gives {heard}, not {}",
                    asked["result"]
                );
                return Err(Ends::Disagrees(why));
            }
        }
        Ok(())
    }
}

/// What is said about the server's disk, by whatever name: `appendonly yes`, `"aof": "always"`,
/// `"persistence": "rdb"`; `None` where nothing is. What a person reads does not count.
fn persistence(said: &Map<String, Value>) -> Option<Persistence> {
    let settings = said
        .iter()
        .filter(|(name, _)| !["note", "family"].contains(&name.as_str()));
    let said: String = settings
        .map(|(name, value)| format!("{name} {value} ").to_lowercase())
        .collect();
    let words = said
        .split(|c: char| !c.is_ascii_alphanumeric())
        .filter(|word| !word.is_empty());
    let words: Vec<&str> = words.collect();
    let says = |word: &str| words.contains(&word);
    let named = ["appendonly", "aof", "persistence", "persistent"].iter();
    let switched = named.filter_map(|name| {
        let place = words.iter().position(|word| word == name)?;
        Some(words.get(place + 1).copied().unwrap_or_default())
    });
    let switched: Vec<&str> = switched.collect();
    let off = |value: &&str| ["no", "none", "false", "off"].contains(value);
    match switched.iter().all(off) {
        _ if says("rdb") || says("snapshot") => Some(Persistence::Snapshot {
            // No vector lasts until the next one.
            every: Ms::MAX / 4,
        }),
        true => (!switched.is_empty()).then_some(Persistence::None),
        false if says("everysec") => Some(Persistence::EverySecond),
        false => Some(Persistence::Always),
    }
}

/// How long a step lasts, by whichever name it says it: `ms`, `down_ms`, `wait_s`.
fn lasts(step: &Step) -> Option<Ms> {
    step.arguments.iter().find_map(|(name, value)| {
        let unit = match name.rsplit('_').next() {
            Some("ms") => 1.0,
            Some("s") => 1000.0,
            _ => return None,
        };
        Some((value.as_f64()? * unit) as Ms)
    })
}

fn words(step: &Step, name: &str) -> Vec<Text> {
    let given = step.arguments.get(name).and_then(Value::as_array);
    given.map_or_else(Vec::new, |given| given.iter().map(word).collect())
}

/// EVAL script keys key ... argument ...
fn script(step: &Step) -> Vec<Text> {
    let (keys, arguments) = (words(step, "keys"), words(step, "argv"));
    let script = step
        .arguments
        .get("script")
        .map_or_else(|| Text::from(""), word);
    let mut all = vec!["EVAL".into(), script, keys.len().to_string().into()];
    all.extend(keys);
    all.extend(arguments);
    all
}

/// An argument as it goes over the wire.
fn word(value: &Value) -> Text {
    match value {
        Value::String(text) => text.as_str().into(),
        other => other.to_string().into(),
    }
}

/// An answer as redis-py hands it on.
fn seen(reply: &Reply) -> Value {
    match reply {
        Reply::Status(text) => json!(text),
        Reply::Int(number) => json!(number),
        Reply::Bulk(text) => json!(&**text),
        Reply::Nil => Value::Null,
        Reply::List(list) => list.iter().map(seen).collect(),
        Reply::Error(error) => json!(error.to_string()),
    }
}

/// The exception that redis-py makes of an error's code.
fn class(code: &str) -> &'static str {
    match code {
        "EXECABORT" => "ExecAbortError",
        "NOSCRIPT" => "NoScriptError",
        "READONLY" => "ReadOnlyError",
        "LOADING" => "BusyLoadingError",
        _ => "ResponseError",
    }
}

/// Whether everything that is expected was heard. A text such as `>0` is a condition on a number.
fn agrees(expected: &Value, heard: &Value) -> bool {
    match (expected, heard) {
        (Value::Object(expected), heard) => expected
            .iter()
            .all(|(name, expected)| agrees(expected, &heard[name])),
        (Value::Array(expected), Value::Array(heard)) => {
            expected.len() == heard.len()
                && expected
                    .iter()
                    .zip(heard)
                    .all(|(expected, heard)| agrees(expected, heard))
        }
        (Value::String(condition), Value::Number(number)) => number
            .as_i64()
            .is_some_and(|number| fits(condition, number)),
        (expected, heard) => expected == heard,
    }
}

fn fits(condition: &str, number: i64) -> bool {
    let by = |sign: &str| condition.strip_prefix(sign)?.trim().parse::<i64>().ok();
    match (by(">="), by("<="), by(">"), by("<")) {
        (Some(least), _, _, _) => number >= least,
        (_, Some(most), _, _) => number <= most,
        (_, _, Some(below), _) => number > below,
        (_, _, _, Some(above)) => number < above,
        _ => false,
    }
}
