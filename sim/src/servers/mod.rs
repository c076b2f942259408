//! Models of the servers: each answers a request at once, or later.

pub(crate) mod broker;
pub(crate) mod coordinator;
pub(crate) mod database;
pub(crate) mod downstream;
pub(crate) mod executors;
pub(crate) mod lock;

/// What a call asks of a server.
#[derive(Clone, Debug)]
pub(crate) enum Request {
    Database(database::DatabaseRequest),
    Broker(broker::BrokerRequest),
    Lock(lock::LockRequest),
    Coordinator(coordinator::CoordinatorRequest),
    Downstream(downstream::DownstreamRequest),
    Executors(executors::ExecutorsRequest),
}

/// What a server answers.
#[derive(Debug)]
pub(crate) enum Response {
    Answers(scheduler::ports::Answers),
    Published(scheduler::ports::Published),
    Delivery(scheduler::ports::Delivery),
    Settled(scheduler::ports::Settled),
    Locked(lock::Locked),
    Coordinated(coordinator::Coordinated),
    Reply(scheduler::ports::Reply),
    Found(bool),
    Said(scheduler::ports::Said),
}
