//! The same calls over madsim's own network: what a simulation built from its parts would cost.
//!
//! A fresh runtime an execution, a node a process: four instances and three servers, each with an
//! [`Endpoint`]. A call is a message there and a message back, as in `madsim::net::rpc`, but without
//! its task and closure per request, so that nothing is counted against madsim that it need not do.
//! For the same reason there are no call timeouts, no heartbeats, no delivery deadlines and no polls.
//! Latencies are madsim's (1 to 5 ms, from its own stream), so that the histories are not the
//! simulator's; the calls, the messages and the verdict are, which a test asserts.

use super::servers::{Broker, Database, Downstream, Store};
use super::{Executed, Standard, keyed, rest};
use evidence::{
    AttemptEnd, Event, Ids, InstanceId, MessageId, Planned, RecordState, SlotTag, Step, TimerId,
    Timestamp, TraceId, What,
};
use madsim::net::{Endpoint, NetSim};
use madsim::runtime::{Handle, NodeHandle, Runtime};
use madsim::time::{Instant, sleep, sleep_until};
use madsim_tokio::sync::mpsc::{UnboundedSender, unbounded_channel};
use scheduler::steps;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Latency of a message, as in the simulator.
const LATENCY: std::ops::Range<Duration> = Duration::from_millis(1)..Duration::from_millis(6);

const DATABASE: u8 = 10;
const BROKER: u8 = 11;
const DOWNSTREAM: u8 = 12;
const SERVERS: [u8; 3] = [DATABASE, BROKER, DOWNSTREAM];
const INSTANCES: u8 = 4;
const SCHEDULERS: u8 = 2;

/// Tag of the messages that ask; those that answer carry the number of the call.
const REQUEST: u64 = 0;

enum Request {
    Resume(Timestamp),
    Claim(Ids),
    Mark(Ids),
    Enter(Ids, u64),
    Finish(Ids, u64),
    Publish(Ids),
    Deliver,
    Ack(Ids),
    Perform(Ids),
}

enum Reply {
    Position(Timestamp),
    Done(bool),
    Attempt(Option<u32>),
    Delivery(Ids),
}

/// Who is to be answered.
#[derive(Clone, Copy)]
struct Asker {
    instance: u8,
    call: u64,
    address: SocketAddr,
}

/// What everybody on the network knows.
struct Shared {
    epoch: Timestamp,
    began: Instant,
    seed: u64,
    timer: TimerId,
    planned: Arc<[Planned]>,
    events: Mutex<Vec<Event>>,
    database: Mutex<Database>,
    broker: Mutex<Broker<Asker>>,
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Shared {
    fn now(&self) -> Timestamp {
        let passed = madsim::time::Instant::now() - self.began;
        self.epoch.plus_ms(passed.as_millis() as i64)
    }

    fn tell(&self, instance: u8, step: &'static Step, what: What, ids: Ids) {
        locked(&self.events).push(Event {
            at: self.now(),
            instance: InstanceId(instance),
            incarnation: 1,
            step,
            what,
            ids,
        });
    }
}

const fn address(host: u8) -> SocketAddr {
    SocketAddr::new(IpAddr::V4(Ipv4Addr::new(10, 0, 0, host)), 1)
}

/// Executes the standard scenario once; says how many messages it took.
pub fn execute(standard: &Standard, seed: u64) -> (Executed, u64) {
    let mut config = madsim::Config::default();
    config.net.send_latency = LATENCY;
    Runtime::with_seed_and_config(seed, config).block_on(async {
        let shared = Arc::new(Shared {
            epoch: standard.scenario.epoch,
            began: Instant::now(),
            seed,
            timer: standard.timer.clone(),
            planned: standard.planned.clone(),
            events: Mutex::new(Vec::with_capacity(64)),
            database: Mutex::default(),
            broker: Mutex::new(Broker::new()),
        });
        let handle = Handle::current();
        let (polled, mut polls) = unbounded_channel();
        let mut nodes: Vec<NodeHandle> = Vec::with_capacity(SERVERS.len() + INSTANCES as usize);
        for host in SERVERS {
            let node = node(&handle, host);
            // A message to an endpoint that is not bound yet is lost.
            let endpoint = node.spawn(Endpoint::bind(address(host))).await;
            node.spawn(serve(shared.clone(), host, bound(endpoint), polled.clone()));
            nodes.push(node);
        }
        let mut schedulers = Vec::with_capacity(SCHEDULERS as usize);
        for instance in 0..INSTANCES {
            let node = node(&handle, instance + 1);
            if instance < SCHEDULERS {
                schedulers.push(node.spawn(schedule(shared.clone(), instance)));
            } else {
                node.spawn(consume(shared.clone(), instance));
            }
            nodes.push(node);
        }
        for scheduler in schedulers {
            scheduler.await.expect("a scheduler comes to its end");
        }
        // One long poll of each executor at its start, and one after each run.
        let executors = usize::from(INSTANCES - SCHEDULERS);
        for _ in 0..executors + standard.planned.len() {
            polls.recv().await.expect("the broker lives");
        }
        let messages = NetSim::current().stat().msg_count;
        // What is not killed is never freed.
        for node in &nodes {
            handle.kill(node.id());
        }
        let rest = rest(
            shared.now(),
            &*locked(&shared.database),
            &locked(&shared.broker),
        );
        let events = std::mem::take(&mut *locked(&shared.events));
        (standard.executed(events, rest), messages)
    })
}

fn node(handle: &Handle, host: u8) -> NodeHandle {
    handle.create_node().ip(address(host).ip()).build()
}

fn bound<E: std::fmt::Debug>(endpoint: Result<std::io::Result<Endpoint>, E>) -> Endpoint {
    endpoint
        .expect("the task ends")
        .expect("every node has its own address")
}

// Servers.

async fn serve(shared: Arc<Shared>, host: u8, endpoint: Endpoint, polled: UnboundedSender<()>) {
    let mut downstream = Downstream::default();
    let performed = Arc::new(Mutex::new(Downstream::default()));
    loop {
        let Ok((message, from)) = endpoint.recv_from_raw(REQUEST).await else {
            return;
        };
        let Ok(message) = message.downcast::<(u8, u64, Request)>() else {
            return;
        };
        let (instance, call, request) = *message;
        let asker = Asker {
            instance,
            call,
            address: from,
        };
        match host {
            DATABASE => {
                let reply = serve_database(&shared, request);
                answer(&endpoint, asker, reply).await;
            }
            BROKER => {
                let polls = matches!(request, Request::Deliver);
                serve_broker(&shared, &endpoint, asker, request).await;
                if polls {
                    let _ = polled.send(());
                }
            }
            _ => {
                if let Request::Perform(ids) = request
                    && downstream.begin(&ids)
                {
                    let (shared, endpoint) = (shared.clone(), endpoint.clone());
                    madsim::task::spawn(perform(shared, endpoint, performed.clone(), asker, ids));
                }
            }
        }
    }
}

async fn answer(endpoint: &Endpoint, asker: Asker, reply: Reply) {
    let _ = endpoint
        .send_to_raw(asker.address, asker.call, Box::new(reply))
        .await;
}

fn serve_database(shared: &Shared, request: Request) -> Reply {
    let now = shared.now();
    let mut database = locked(&shared.database);
    match request {
        Request::Resume(started) => Reply::Position(database.resume(&shared.timer, started)),
        Request::Claim(ids) => Reply::Done(database.claim(now, &ids, &shared.timer)),
        Request::Mark(ids) => Reply::Done(database.mark(now, &ids)),
        Request::Enter(ids, token) => Reply::Attempt(database.enter(now, &ids, token)),
        Request::Finish(ids, token) => Reply::Done(database.finish(now, &ids, token)),
        _ => Reply::Done(false),
    }
}

async fn serve_broker(shared: &Shared, endpoint: &Endpoint, asker: Asker, request: Request) {
    match request {
        Request::Publish(ids) => {
            let message = Some(locked(&shared.broker).publish(&ids));
            let ids = Ids { message, ..ids };
            let step = &steps::BROKER_PUBLISH;
            shared.tell(asker.instance, step, What::Published, ids);
            answer(endpoint, asker, Reply::Done(true)).await;
        }
        Request::Ack(ids) => {
            let message = ids.message.unwrap_or(MessageId(0));
            let acked = locked(&shared.broker).ack(message, ids.delivery);
            let what = if acked { What::Acked } else { What::AckRefused };
            shared.tell(asker.instance, &steps::BROKER_ACK, what, ids);
            answer(endpoint, asker, Reply::Done(acked)).await;
        }
        _ => locked(&shared.broker).consume(asker),
    }
    loop {
        let handed_over = locked(&shared.broker).hand_over();
        let Some((consumer, ids)) = handed_over else {
            return;
        };
        let step = &steps::BROKER_DELIVER;
        shared.tell(consumer.instance, step, What::Delivered, ids.clone());
        answer(endpoint, consumer, Reply::Delivery(ids)).await;
    }
}

async fn perform(
    shared: Arc<Shared>,
    endpoint: Endpoint,
    downstream: Arc<Mutex<Downstream>>,
    asker: Asker,
    ids: Ids,
) {
    sleep(Duration::from_millis(Downstream::LATENCY_MS)).await;
    let number = locked(&downstream).perform(&ids);
    let step = &steps::DOWNSTREAM_PERFORM;
    shared.tell(asker.instance, step, What::Effect { number }, ids);
    answer(&endpoint, asker, Reply::Done(true)).await;
}

// Instances.

struct Client {
    instance: u8,
    endpoint: Endpoint,
    calls: u64,
}

impl Client {
    async fn new(instance: u8) -> Self {
        let endpoint = Endpoint::bind(address(instance + 1)).await;
        Client {
            instance,
            endpoint: endpoint.expect("every node has its own address"),
            calls: 0,
        }
    }

    async fn call(&mut self, server: u8, request: Request) -> Reply {
        self.calls += 1;
        let message = Box::new((self.instance, self.calls, request));
        let endpoint = &self.endpoint;
        let sent = endpoint.send_to_raw(address(server), REQUEST, message);
        sent.await.expect("the server is there");
        let (reply, _) = endpoint
            .recv_from_raw(self.calls)
            .await
            .expect("the server answers");
        *reply.downcast().expect("with a reply")
    }
}

async fn schedule(shared: Arc<Shared>, instance: u8) {
    let mut client = Client::new(instance).await;
    let resume = Request::Resume(shared.epoch);
    let Reply::Position(position) = client.call(DATABASE, resume).await else {
        return;
    };
    for planned in shared.planned.iter() {
        if planned.scheduled > position {
            let after = planned.scheduled.ms_since(shared.epoch) as u64;
            sleep_until(shared.began + Duration::from_millis(after)).await;
            dispatch(&shared, &mut client, planned).await;
        }
    }
}

async fn dispatch(shared: &Shared, client: &mut Client, planned: &Planned) {
    let instance = client.instance;
    let slot = SlotTag::seal(planned.slot);
    let trace = keyed::random(shared.seed, instance, &steps::TIMER_FIRE, slot);
    let ids = Ids {
        slot,
        run: Some(planned.run.clone()),
        trace: Some(TraceId(trace)),
        ..Ids::default()
    };
    shared.tell(instance, &steps::TIMER_FIRE, What::Fired, ids.clone());
    let claimed = client.call(DATABASE, Request::Claim(ids.clone())).await;
    let step = &steps::DISPATCH_CLAIM;
    if !matches!(claimed, Reply::Done(true)) {
        return shared.tell(instance, step, What::ClaimTaken, ids);
    }
    shared.tell(instance, step, What::Claimed, ids.clone());
    client.call(BROKER, Request::Publish(ids.clone())).await;
    client.call(DATABASE, Request::Mark(ids.clone())).await;
    shared.tell(instance, &steps::OUTBOX_MARK, What::Marked, ids);
}

async fn consume(shared: Arc<Shared>, instance: u8) {
    let mut client = Client::new(instance).await;
    while let Reply::Delivery(ids) = client.call(BROKER, Request::Deliver).await {
        let token = keyed::random(shared.seed, instance, &steps::GUARD_ENTER, ids.slot);
        execute_run(&shared, &mut client, &ids, token).await;
        client.call(BROKER, Request::Ack(ids)).await;
    }
}

async fn execute_run(shared: &Shared, client: &mut Client, ids: &Ids, token: u64) {
    let instance = client.instance;
    let enter = Request::Enter(ids.clone(), token);
    let Reply::Attempt(Some(attempt)) = client.call(DATABASE, enter).await else {
        return;
    };
    let ids = Ids {
        attempt,
        ..ids.clone()
    };
    let tell = |step, what| shared.tell(instance, step, what, ids.clone());
    tell(&steps::GUARD_ENTER, What::Recorded(RecordState::Running));
    tell(&steps::WORK, What::AttemptStarted);
    let perform = Request::Perform(ids.clone());
    client.call(DOWNSTREAM, perform).await;
    tell(&steps::WORK, What::AttemptEnded(AttemptEnd::Succeeded));
    let finish = Request::Finish(ids.clone(), token);
    let finished = client.call(DATABASE, finish).await;
    let what = if matches!(finished, Reply::Done(true)) {
        What::Recorded(RecordState::Succeeded)
    } else {
        What::RecordRefused
    };
    tell(&steps::GUARD_FINISH, what);
}
