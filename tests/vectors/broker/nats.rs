//! NATS JetStream's operations, on the model of its stream.

use super::names::Names;
use super::{Arguments, Driver, Trouble, millis};
use crate::format::{Step, Vector};
use crate::report::Outcome;
use serde_json::{Value, json};
use servers::Ms;
use servers::broker::Outage;
use servers::broker::jetstream::{
    AckPolicy, ConsumerConfig, Fetched, Reply, Retention, Stream, StreamConfig,
};
use std::collections::{BTreeMap, BTreeSet};

/// How long a fetch waits where the recording does not say; that of the recordings lies below
/// 700 ms (D11) and lets a delivery 10 ms later still be seen.
const FETCH_MS: Ms = 400;

/// How long a server is away that is restarted.
const RESTART_MS: Ms = 1_000;

/// Replays a vector.
pub fn replay(vector: &Vector) -> Outcome {
    super::replay(vector, |names| Ok(Box::new(Client::connected(names))))
}

/// The clients of a vector, and the one stream.
struct Client {
    stream: Option<Stream<String>>,
    now: Ms,
    /// The consumer of those who name none.
    consumer: String,
    held: Vec<Held>,
    /// Where what a session has fetched is held, by the name that it gave it, or by what it says.
    fetched: BTreeMap<(String, String), usize>,
    /// Sessions without a connection.
    cut: BTreeSet<String>,
}

/// A message in the hands of a client.
#[derive(Clone)]
struct Held {
    consumer: String,
    reply: Reply,
    /// A client library refuses to answer twice.
    answered: bool,
}

impl Client {
    fn connected(names: &Names) -> Client {
        Client {
            stream: None,
            now: 0,
            consumer: names.of("consumer of the vector"),
            held: Vec::new(),
            fetched: BTreeMap::new(),
            cut: BTreeSet::new(),
        }
    }

    fn wait(&mut self, ms: Ms) {
        self.now += ms;
        if let Some(stream) = &mut self.stream {
            stream.advance(self.now);
        }
    }

    /// Fetches, and waits for something to come until the time is over.
    fn fetch(&mut self, consumer: &str, batch: u64, ms: Ms) -> Option<Vec<Fetched<String>>> {
        let stream = self.stream.as_mut()?;
        if !stream.has_consumer(consumer) {
            return None;
        }
        let end = self.now + ms;
        loop {
            let more = || stream.fetch(self.now, consumer);
            let fetched: Vec<_> = std::iter::from_fn(more).take(batch as usize).collect();
            if !fetched.is_empty() || self.now >= end {
                return Some(fetched);
            }
            self.now = stream.due().map_or(end, |due| due.clamp(self.now + 1, end));
        }
    }
}

fn stream_config(arguments: &mut Arguments<'_>) -> Result<StreamConfig, Trouble> {
    let mut config = StreamConfig::default();
    if let Some(window) = arguments.seconds("duplicate_window_s") {
        config.duplicate_window = window;
    }
    config.retention = match arguments.text("retention") {
        None | Some("limits") => Retention::Limits,
        Some("workqueue" | "work_queue") => Retention::WorkQueue,
        Some("interest") => Retention::Interest,
        Some(other) => return Err(Trouble::Unknown(format!("retention {other}"))),
    };
    config.in_memory = match arguments.text("storage") {
        None | Some("file") => false,
        Some("memory") => true,
        Some(other) => return Err(Trouble::Unknown(format!("storage {other}"))),
    };
    Ok(config)
}

fn consumer_config(arguments: &mut Arguments<'_>) -> Result<ConsumerConfig, Trouble> {
    let backoff = match arguments.value("backoff") {
        Some(Value::Array(times)) => times.iter().filter_map(millis).collect(),
        _ => Vec::new(),
    };
    let limit = |value: Option<&Value>| {
        let number = value.and_then(Value::as_i64).filter(|number| *number > 0);
        number.and_then(|number| u32::try_from(number).ok())
    };
    Ok(ConsumerConfig {
        ack_wait: arguments.seconds("ack_wait_s"),
        backoff,
        max_deliver: limit(arguments.value("max_deliver")),
        max_ack_pending: match arguments.value("max_ack_pending") {
            // The server takes -1 for no limit.
            Some(unlimited) if unlimited.as_i64() == Some(-1) => Some(u32::MAX),
            other => limit(other),
        },
        ack_policy: match arguments.text("ack_policy") {
            None | Some("explicit") => AckPolicy::Explicit,
            Some("all") => AckPolicy::All,
            Some("none") => AckPolicy::None,
            Some(other) => return Err(Trouble::Unknown(format!("ack policy {other}"))),
        },
    })
}

impl Driver for Client {
    fn step(&mut self, step: &Step) -> Result<Value, Trouble> {
        let mut arguments = Arguments::of(step);
        let op = arguments.op;
        let ok = json!({ "ok": true });
        let name = step.session.clone().unwrap_or_default();
        let consumer = ["consumer", "durable_name"]
            .into_iter()
            .find_map(|key| arguments.text(key));
        let consumer = consumer.map_or_else(|| self.consumer.clone(), str::to_owned);
        match op {
            "sleep" => {
                self.wait(arguments.number("ms").unwrap_or(0));
                arguments.end()?;
                return Ok(json!({}));
            }
            "restart_server" => {
                // Killed or asked to stop: what is written is written.
                arguments.value("kill9");
                arguments.end()?;
                if let Some(stream) = &mut self.stream {
                    stream.restart(self.now, Outage::Process);
                }
                self.wait(RESTART_MS);
                return Ok(json!({}));
            }
            "stream" => {
                let config = stream_config(&mut arguments)?;
                arguments.end()?;
                self.stream.get_or_insert_with(|| Stream::new(config));
                return Ok(ok);
            }
            "reconnect" => {
                arguments.end()?;
                self.cut.remove(&name);
                return Ok(ok);
            }
            "cut" => {
                arguments.end()?;
                self.cut.insert(name);
                return Ok(ok);
            }
            _ => {}
        }
        let no_stream = json!({ "error": "NotFoundError" });
        match op {
            "publish" | "publish_cut_after_send" | "publish_cut_before_send" => {
                let body = arguments.text("body").unwrap_or_default().to_owned();
                let id = arguments.text("msg_id").map(Into::into);
                arguments.end()?;
                let lost = json!({ "error": "TimeoutError" });
                let Some(stream) = &mut self.stream else {
                    return Ok(json!({ "error": "NoStreamResponseError" }));
                };
                if self.cut.contains(&name) || op == "publish_cut_before_send" {
                    self.cut.insert(name);
                    return Ok(lost);
                }
                let ack = stream.publish(self.now, body, id);
                if op == "publish_cut_after_send" {
                    self.cut.insert(name);
                    return Ok(lost);
                }
                Ok(json!({ "seq": ack.seq, "duplicate": ack.duplicate }))
            }
            "consumer" => {
                let config = consumer_config(&mut arguments)?;
                arguments.end()?;
                let Some(stream) = &mut self.stream else {
                    return Ok(no_stream);
                };
                stream.add_consumer(self.now, &consumer, &config);
                Ok(ok)
            }
            "fetch" => {
                let batch = ["batch", "n"]
                    .into_iter()
                    .find_map(|key| arguments.number(key));
                let waits = ["timeout_s", "wait_s"]
                    .into_iter()
                    .find_map(|key| arguments.seconds(key));
                let waits = waits
                    .or_else(|| arguments.number("wait_ms"))
                    .unwrap_or(FETCH_MS);
                let called = arguments.text("as");
                arguments.end()?;
                if self.cut.contains(&name) {
                    self.wait(waits);
                    return Ok(json!({ "msgs": [] }));
                }
                let Some(fetched) = self.fetch(&consumer, batch.unwrap_or(1), waits) else {
                    return Ok(no_stream);
                };
                let mut shown = Vec::new();
                for message in fetched {
                    let held = Held {
                        consumer: consumer.clone(),
                        reply: message.reply,
                        answered: false,
                    };
                    let at = self.held.len();
                    self.held.push(held);
                    if let Some(called) = called {
                        self.fetched.insert((name.clone(), called.to_owned()), at);
                    }
                    self.fetched
                        .insert((name.clone(), message.body.clone()), at);
                    shown.push(json!({
                        "body": message.body,
                        "seq": message.seq,
                        "num_delivered": message.num_delivered,
                    }));
                }
                Ok(json!({ "msgs": shown }))
            }
            "ack" | "ack_sync" | "nak" | "term" | "in_progress" | "progress" | "wpi" => {
                let of = (
                    name.clone(),
                    arguments.text("msg").unwrap_or_default().to_owned(),
                );
                let force = arguments.flag("force") == Some(true);
                let delay = arguments.seconds("delay_s");
                arguments.end()?;
                let held = self.fetched.get(&of).and_then(|at| self.held.get_mut(*at));
                let Some(held) = held else {
                    return Err(Trouble::Differs(
                        "the model never delivered this".to_owned(),
                    ));
                };
                let last = !matches!(op, "in_progress" | "progress" | "wpi");
                if last && held.answered && !force {
                    return Ok(json!({ "error": "MsgAlreadyAckdError" }));
                }
                held.answered |= last;
                let held = held.clone();
                let Some(stream) = self.stream.as_mut().filter(|_| !self.cut.contains(&name))
                else {
                    // Lost on the way: only who waits for an answer notices.
                    return Ok(match op {
                        "ack_sync" => json!({ "error": "TimeoutError" }),
                        _ => ok,
                    });
                };
                let (now, consumer) = (self.now, &held.consumer);
                match op {
                    "nak" => stream.nak(now, consumer, held.reply, delay),
                    "term" => stream.term(now, consumer, held.reply),
                    "ack" | "ack_sync" => stream.ack(now, consumer, held.reply),
                    _ => stream.in_progress(now, consumer, held.reply),
                }
                Ok(ok)
            }
            "stream_info" => {
                arguments.end()?;
                let Some(stream) = &self.stream else {
                    return Ok(no_stream);
                };
                let info = stream.stream_info();
                Ok(json!({
                    "messages": info.messages,
                    "first_seq": info.first_seq,
                    "last_seq": info.last_seq,
                }))
            }
            "consumer_info" => {
                arguments.end()?;
                let now = self.now;
                let stream = self.stream.as_mut();
                let Some(info) = stream.and_then(|stream| stream.consumer_info(now, &consumer))
                else {
                    return Ok(no_stream);
                };
                Ok(json!({
                    "num_pending": info.num_pending,
                    "num_ack_pending": info.num_ack_pending,
                    "num_redelivered": info.num_redelivered,
                    "ack_floor": info.ack_floor,
                    "delivered": info.delivered,
                }))
            }
            "delete_consumer" => {
                arguments.end()?;
                if let Some(stream) = &mut self.stream {
                    stream.delete_consumer(&consumer);
                }
                Ok(ok)
            }
            "purge" => {
                arguments.end()?;
                if let Some(stream) = &mut self.stream {
                    stream.purge();
                }
                Ok(ok)
            }
            other => Err(Trouble::Unknown(format!("operation {other}"))),
        }
    }

    fn left(&mut self, _query: &Value) -> Result<Value, Trouble> {
        Err(Trouble::Unknown("a final state".to_owned()))
    }
}
