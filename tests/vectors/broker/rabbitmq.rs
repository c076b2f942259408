//! RabbitMQ's operations, on the model of its AMQP server.

use super::names::Names;
use super::{Arguments, Driver, Trouble};
use crate::format::{Step, Vector};
use crate::report::Outcome;
use serde_json::{Map, Value, json};
use servers::Ms;
use servers::broker::Holder;
use servers::broker::amqp::{Closed, Delivered, Kind, Properties, QueueArguments, Routed, Server};
use std::collections::BTreeMap;

/// How long a server is away that is restarted.
const RESTART_MS: Ms = 5_000;

/// How long a client listens where the recording does not say.
const LISTEN_MS: Ms = 300;

/// Replays a vector.
pub fn replay(vector: &Vector) -> Outcome {
    super::replay(vector, |names| {
        Ok(Box::new(Client::connected(vector, names)?))
    })
}

/// What a message says.
#[derive(Clone, Debug)]
struct Body {
    text: String,
    message_id: Option<String>,
}

/// The clients of a vector, each with one connection and one channel.
struct Client {
    server: Server<Body>,
    now: Ms,
    queue: String,
    sessions: BTreeMap<String, Session>,
    /// How many channels there have been at once.
    holders: Holder,
}

struct Session {
    /// The channel that it uses.
    holder: Holder,
    /// Those that it has left open behind it.
    behind: Vec<Holder>,
    confirms: bool,
    link: Link,
    /// Whether the client has been told that its channel was closed.
    told: bool,
}

impl Session {
    fn on(holder: Holder) -> Session {
        Session {
            holder,
            behind: Vec::new(),
            confirms: false,
            link: Link::Up,
            told: false,
        }
    }
}

/// The connection of a client.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Link {
    Up,
    /// It broke, and the client has not noticed.
    Broken,
    Down,
}

impl Client {
    fn connected(vector: &Vector, names: &Names) -> Result<Client, Trouble> {
        let (timeout, tick) = settings(vector)?;
        let mut server = Server::new(Some(timeout), tick);
        let mut sessions = BTreeMap::new();
        for (holder, name) in (1..).zip(&vector.sessions) {
            server.open(0, holder);
            sessions.insert(names.of(name), Session::on(holder));
        }
        let holders = vector.sessions.len() as Holder;
        Ok(Client {
            server,
            now: 0,
            queue: names.of("vq"),
            sessions,
            holders,
        })
    }

    /// Time passes.
    fn wait(&mut self, ms: Ms) {
        self.now += ms;
        self.server.advance(self.now);
    }

    fn session(&mut self, name: Option<&str>) -> Result<&mut Session, Trouble> {
        let session = name.and_then(|name| self.sessions.get_mut(name));
        session.ok_or_else(|| Trouble::Unknown("an operation without a session".to_owned()))
    }

    /// What a client is told that does something on a channel that is not open, if it is not.
    fn refusal(&mut self, name: &str) -> Option<Value> {
        let session = self.sessions.get_mut(name)?;
        let closed = self.server.closed(session.holder);
        let error = match (session.link, closed) {
            (Link::Broken, _) => {
                session.link = Link::Down;
                "StreamLostError"
            }
            (Link::Down, _) => "ChannelWrongStateError",
            (Link::Up, Some(Closed::PreconditionFailed)) if !session.told => "406",
            (Link::Up, Some(Closed::NotFound)) if !session.told => "404",
            (Link::Up, Some(_)) => "ChannelWrongStateError",
            (Link::Up, None) => return None,
        };
        session.told = true;
        Some(json!({ "error": error }))
    }

    /// What a client sees of an operation that the server may have refused.
    fn told(&mut self, name: &str, done: Result<(), Closed>) -> Value {
        match done {
            Ok(()) => json!({ "ok": true }),
            Err(_) => self.refusal(name).unwrap_or_else(|| json!({ "ok": true })),
        }
    }

    /// The connection of a client ends, with every channel of it.
    fn disconnect(&mut self, name: &str, link: Link) {
        if let Some(session) = self.sessions.get_mut(name) {
            for holder in std::iter::once(session.holder).chain(session.behind.drain(..)) {
                self.server.close(self.now, holder);
            }
            session.link = link;
        }
    }

    fn reconnect(&mut self, name: &str) {
        self.disconnect(name, Link::Down);
        if let Some(session) = self.sessions.get_mut(name) {
            self.server.open(self.now, session.holder);
            *session = Session::on(session.holder);
        }
    }

    /// A client opens a channel; one that is still open stays so.
    fn open_channel(&mut self, name: &str) {
        let Some(session) = self.sessions.get_mut(name) else {
            return;
        };
        if self.server.closed(session.holder).is_none() {
            session.behind.push(session.holder);
            self.holders += 1;
            session.holder = self.holders;
        }
        self.server.open(self.now, session.holder);
        session.confirms = false;
        session.told = false;
    }

    fn publish(&mut self, name: &str, of: Publishing) -> Value {
        let Some(session) = self.sessions.get(name) else {
            return Value::Null;
        };
        let (holder, confirms) = (session.holder, session.confirms);
        let properties = of.properties;
        let routed = self
            .server
            .publish(self.now, holder, &of.queue, of.body, properties);
        match routed {
            Ok(Routed::Nowhere) if of.mandatory && confirms => {
                json!({ "error": "UnroutableError" })
            }
            Ok(_) => json!({ "ok": true }),
            Err(closed) => self.told(name, Err(closed)),
        }
    }

    /// Listens for a while, up to the first delivery if there is none yet.
    fn listen(&mut self, name: &str, ms: Ms) -> Value {
        let Some(session) = self.sessions.get(name) else {
            return Value::Null;
        };
        let channels: Vec<Holder> = session
            .behind
            .iter()
            .copied()
            .chain([session.holder])
            .collect();
        self.wait(ms);
        let delivered = channels
            .into_iter()
            .flat_map(|channel| self.server.inbox(channel));
        let deliveries: Vec<Value> = delivered.map(shown).collect();
        let mut seen = Map::new();
        seen.insert("deliveries".to_owned(), Value::Array(deliveries));
        // Who only listens is told once.
        let told = self.sessions.get(name).is_some_and(|session| session.told);
        if let Some(Value::Object(refusal)) = self.refusal(name).filter(|_| !told) {
            seen.extend(refusal);
        }
        Value::Object(seen)
    }
}

struct Publishing {
    queue: String,
    body: Body,
    properties: Properties,
    mandatory: bool,
}

/// `consumer_timeout` and `channel_tick_interval`, as the vector sets them.
fn settings(vector: &Vector) -> Result<(Ms, Ms), Trouble> {
    // The default timeout, and the tick of the server that was measured.
    let mut settings = (1_800_000, 2_000);
    for line in &vector.broker_eval {
        let numbers: String = line
            .chars()
            .map(|c| if c.is_ascii_digit() { c } else { ' ' })
            .collect();
        let number = numbers
            .split_whitespace()
            .next_back()
            .and_then(|n| n.parse().ok());
        match number {
            Some(number) if line.contains("consumer_timeout") => settings.0 = number,
            Some(number) if line.contains("channel_tick_interval") => settings.1 = number,
            _ => return Err(Trouble::Unknown("a setting of the server".to_owned())),
        }
    }
    Ok(settings)
}

fn arguments_of_queue(arguments: &mut Arguments<'_>) -> Result<QueueArguments, Trouble> {
    let mut queue = QueueArguments {
        durable: arguments.flag("durable").unwrap_or(true),
        ..QueueArguments::default()
    };
    let Some(Value::Object(args)) = arguments.value("args") else {
        return Ok(queue);
    };
    for (key, value) in args {
        let unknown = || Err(Trouble::Unknown(format!("declare with {key} = {value}")));
        let text = value.as_str().map(str::to_owned);
        let number = value.as_u64();
        match (key.as_str(), text, number) {
            ("x-queue-type", Some(kind), _) => match kind.as_str() {
                "classic" => queue.kind = Kind::Classic,
                "quorum" => queue.kind = Kind::Quorum,
                _ => return unknown(),
            },
            ("x-dead-letter-exchange", Some(name), _) => queue.dead_letter_exchange = Some(name),
            ("x-dead-letter-routing-key", Some(key), _) => {
                queue.dead_letter_routing_key = Some(key);
            }
            ("x-delivery-limit", _, Some(limit)) => queue.delivery_limit = Some(limit as u32),
            ("x-message-ttl", _, Some(ttl)) => queue.message_ttl = Some(ttl),
            ("x-max-length", _, Some(most)) => queue.max_length = Some(most as u32),
            ("x-overflow", Some(what), _) if what == "drop-head" => {}
            ("x-queue-mode" | "x-quorum-initial-group-size", ..) => {}
            _ => return unknown(),
        }
    }
    Ok(queue)
}

/// A delivery as the recordings show one.
fn shown(delivered: Delivered<Body>) -> Value {
    let mut seen = Map::new();
    seen.insert("body".to_owned(), json!(delivered.body.text));
    seen.insert("tag".to_owned(), json!(delivered.tag));
    seen.insert("redelivered".to_owned(), json!(delivered.redelivered));
    if let Some(id) = delivered.body.message_id {
        seen.insert("message_id".to_owned(), json!(id));
    }
    if let Some(count) = delivered.delivery_count {
        seen.insert("x-delivery-count".to_owned(), json!(count));
    }
    if !delivered.deaths.is_empty() {
        let deaths = delivered.deaths.iter().map(|death| {
            json!({
                "reason": death.reason.name(),
                "count": death.count,
                "queue": death.queue,
            })
        });
        seen.insert("x-death".to_owned(), deaths.collect());
    }
    Value::Object(seen)
}

impl Driver for Client {
    fn step(&mut self, step: &Step) -> Result<Value, Trouble> {
        let mut arguments = Arguments::of(step);
        let op = arguments.op;
        let ok = json!({ "ok": true });
        match op {
            "sleep" => {
                self.wait(arguments.number("ms").unwrap_or(0));
                arguments.end()?;
                return Ok(json!({}));
            }
            "restart_server" => {
                // Written down is written down, however the process ends.
                arguments.value("kill9");
                arguments.end()?;
                self.server.restart(self.now);
                for session in self.sessions.values_mut() {
                    session.link = Link::Broken;
                }
                self.wait(RESTART_MS);
                return Ok(json!({}));
            }
            _ => {}
        }
        self.session(step.session.as_deref())?;
        let name = step.session.as_deref().unwrap_or_default();
        let holder = self.session(Some(name))?.holder;
        let queue = arguments
            .text("queue")
            .map_or_else(|| self.queue.clone(), str::to_owned);
        // A client that wants a connection that works.
        match op {
            "reconnect" => {
                arguments.end()?;
                self.reconnect(name);
                return Ok(ok);
            }
            "cut" | "close_connection" => {
                arguments.end()?;
                let link = if op == "cut" {
                    Link::Broken
                } else {
                    Link::Down
                };
                self.disconnect(name, link);
                return Ok(ok);
            }
            _ => {}
        }
        if op == "open_channel" {
            arguments.end()?;
            if self.session(Some(name))?.link != Link::Up {
                return Ok(self.refusal(name).unwrap_or(ok));
            }
            self.open_channel(name);
            return Ok(ok);
        }
        if matches!(op, "poll" | "listen") {
            let ms = arguments.number("wait_ms").unwrap_or(LISTEN_MS);
            arguments.end()?;
            return Ok(self.listen(name, ms));
        }
        if let Some(refusal) = self.refusal(name) {
            return Ok(refusal);
        }
        match op {
            "declare" => {
                let of = arguments_of_queue(&mut arguments)?;
                arguments.end()?;
                let done = self.server.declare(self.now, holder, &queue, of);
                Ok(self.told(name, done))
            }
            "publish" | "publish_cut_after_send" | "publish_cut_before_send" => {
                let of = Publishing {
                    queue,
                    body: Body {
                        text: arguments.text("body").unwrap_or_default().to_owned(),
                        message_id: arguments.text("message_id").map(str::to_owned),
                    },
                    properties: Properties {
                        persistent: arguments.number("delivery_mode").unwrap_or(2) == 2,
                        ttl: arguments
                            .value("expiration")
                            .and_then(|ttl| ttl.as_u64().or_else(|| ttl.as_str()?.parse().ok())),
                    },
                    mandatory: arguments.flag("mandatory") == Some(true),
                };
                arguments.end()?;
                if op != "publish_cut_before_send" {
                    let seen = self.publish(name, of);
                    if op == "publish" {
                        return Ok(seen);
                    }
                }
                // The connection breaks before, or after the server has the message: whoever waits
                // for a confirm learns that something went wrong, and no one else.
                self.disconnect(name, Link::Broken);
                Ok(match self.session(Some(name))?.confirms {
                    true => self.refusal(name).unwrap_or(ok),
                    false => ok,
                })
            }
            "get" => {
                let no_ack = no_ack(&mut arguments);
                arguments.end()?;
                Ok(match self.server.get(self.now, holder, &queue, no_ack) {
                    Ok(Some(delivered)) => shown(delivered),
                    Ok(None) => json!({ "empty": true }),
                    Err(closed) => self.told(name, Err(closed)),
                })
            }
            "qos" => {
                let prefetch = arguments.number("prefetch").unwrap_or(0);
                arguments.end()?;
                let done = self.server.qos(holder, prefetch as u32);
                Ok(self.told(name, done))
            }
            "consume" => {
                let prefetch = arguments.number("prefetch");
                let ms = arguments.number("wait_ms").unwrap_or(LISTEN_MS);
                let no_ack = no_ack(&mut arguments);
                arguments.end()?;
                let qos = prefetch.map(|prefetch| self.server.qos(holder, prefetch as u32));
                let started = qos
                    .unwrap_or(Ok(()))
                    .and_then(|()| self.server.consume(self.now, holder, &queue, no_ack));
                if started.is_err() {
                    return Ok(self.told(name, started));
                }
                Ok(self.listen(name, ms))
            }
            "cancel" => {
                arguments.end()?;
                self.server.cancel(holder);
                Ok(ok)
            }
            "ack" | "ack_cut_before_send" | "nack" | "reject" => {
                let tag = arguments.number("tag").unwrap_or(0);
                let multiple = arguments.flag("multiple") == Some(true);
                let requeue = arguments.flag("requeue").unwrap_or(true);
                arguments.end()?;
                if op == "ack_cut_before_send" {
                    self.disconnect(name, Link::Broken);
                    return Ok(ok);
                }
                let done = match op {
                    "ack" => self.server.ack(self.now, holder, tag, multiple),
                    _ => self.server.nack(self.now, holder, tag, multiple, requeue),
                };
                Ok(self.told(name, done))
            }
            "recover" => {
                arguments.value("requeue");
                arguments.end()?;
                let done = self.server.recover(self.now, holder);
                Ok(self.told(name, done))
            }
            "close_channel" => {
                arguments.end()?;
                self.server.close(self.now, holder);
                self.session(Some(name))?.told = true;
                Ok(ok)
            }
            "confirm_select" => {
                arguments.end()?;
                self.session(Some(name))?.confirms = true;
                Ok(ok)
            }
            "purge" => {
                arguments.end()?;
                self.server.purge(&queue);
                Ok(ok)
            }
            "delete" | "delete_queue" => {
                arguments.end()?;
                self.server.delete(&queue);
                Ok(ok)
            }
            other => Err(Trouble::Unknown(format!("operation {other}"))),
        }
    }

    fn left(&mut self, query: &Value) -> Result<Value, Trouble> {
        let name = query.as_str().unwrap_or_default();
        let waiting = self.server.waiting(name).unwrap_or_default();
        Ok(waiting
            .into_iter()
            .map(|body| Value::String(body.text))
            .collect())
    }
}

fn no_ack(arguments: &mut Arguments<'_>) -> bool {
    let named = [arguments.flag("no_ack"), arguments.flag("auto_ack")];
    named.contains(&Some(true))
}
