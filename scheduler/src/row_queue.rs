//! A queue in a table: rows of the database that workers poll and claim, behind the port of a
//! broker.
//!
//! Publishing inserts a row, a delivery is a claim, and ack, reject, defer and renew are updates of
//! the row; executor, guards and recovery know no difference. A claim lasts as long as a broker's
//! ack deadline and is extended by a heartbeat; when it ends, another worker may claim the row
//! again, which is a second delivery. As River, Oban, db-scheduler, good_job and delayed_job do it.

use crate::dispatch::failed;
use crate::ports::{
    Answer, Answers, At, Broker, CallError, Column, Condition, Delivery, Envelope, Expr, Fut,
    Interest, Key, Monotonic, OnConflict, Ports, Published, QueueSteps, Receipt, Row, RowLock,
    Settled, Statement, Statements, Test, Value, Wake,
};
use crate::recovery::DeadSince;
use crate::tables::{QUEUE, queue};
use crate::{Span, marks, steps};
use evidence::{Ids, MessageId, RunKey, TraceId, What};
use serde::{Deserialize, Serialize};
use std::sync::{Mutex, PoisonError};

/// `[topology] take`: how a worker claims a row of the queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Take {
    /// In one statement, which passes over rows that others have locked (SELECT .. FOR UPDATE SKIP
    /// LOCKED).
    #[default]
    SkipLocked,
    /// Reads a row that may be claimed, then writes it, whatever has become of it since.
    ReadThenWrite,
}

/// `[topology] stop_heartbeat`: when a worker that is asked to stop ends its heartbeat.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StopHeartbeat {
    /// When the work that it has begun is done.
    #[default]
    WhenDone,
    /// At once, while the work goes on (db-scheduler, B22).
    AtOnce,
}

/// What a queue of rows promises.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RowQueueConfig {
    /// How a row is claimed.
    pub take: Take,
    /// How long a claim lasts (`[broker] ack_deadline`); `None`: for ever.
    pub lease: Option<Span>,
    /// How often it is extended (`[broker] renew_every`); `None`: never.
    pub renew_every: Option<Span>,
    /// From when on a claim is counted.
    pub dead_since: DeadSince,
    /// When the heartbeat ends before a stop.
    pub stop_heartbeat: StopHeartbeat,
    /// A row that was claimed so often is given up instead (`[broker] max_deliver`); `None`: never.
    pub max_claims: Option<u32>,
    /// Whether only the latest claim settles the row (`[broker] ack_fencing` other than `off`).
    pub fenced: bool,
}

impl Default for RowQueueConfig {
    fn default() -> Self {
        RowQueueConfig {
            take: Take::SkipLocked,
            lease: Some(Span::secs(30)),
            renew_every: None,
            dead_since: DeadSince::LastHeartbeat,
            stop_heartbeat: StopHeartbeat::WhenDone,
            max_claims: None,
            fenced: false,
        }
    }
}

static OF_ROWS: QueueSteps = QueueSteps {
    // Only recovery publishes by itself; a due run becomes a row where its slot is claimed.
    publish: &steps::RECOVERY_REQUEUE,
    deliver: &steps::WORKER_CLAIM,
    ack: &steps::WORKER_DONE,
    reject: &steps::WORKER_DONE,
    defer: &steps::WORKER_DEFER,
    renew: &steps::WORKER_RENEW,
};

/// The row that waits for a worker; `unique`: there may be no other with this key.
pub(crate) fn insert_row(envelope: &Envelope, key: Key, number: u64, unique: bool) -> Statement {
    Statement::Insert {
        table: QUEUE,
        key,
        cells: vec![
            Expr::from(queue::WAITS),
            Expr::from(0),
            Expr::Now { plus_ms: 0 },
            Expr::from(envelope.trace.0 as i64),
            Expr::Value(Value::Text(envelope.run.text().clone())),
            Expr::from(number as i64),
            Expr::from(0),
        ],
        on_conflict: match unique {
            true => OnConflict::Abort,
            false => OnConflict::Ignore,
        },
    }
}

/// The queue, as one incarnation of a worker sees it.
pub(crate) struct RowQueue {
    ports: Ports,
    config: RowQueueConfig,
    every: Span,
    anchor: Monotonic,
    held: Mutex<Held>,
}

/// The rows that this worker has claimed.
#[derive(Default)]
struct Held {
    next: u64,
    rows: Vec<Claimed>,
}

#[derive(Clone)]
struct Claimed {
    receipt: Receipt,
    key: Key,
    count: i64,
}

impl RowQueue {
    /// Over the instance's database, polled every so often.
    pub(crate) fn new(ports: Ports, config: RowQueueConfig, every: Span) -> Self {
        let anchor = {
            let nobody = Ids::default();
            let at = At::new(&steps::WORKER_CLAIM, &nobody);
            ports.runtime.anchor(at, every)
        };
        RowQueue {
            ports,
            config,
            every,
            anchor,
            held: Mutex::default(),
        }
    }

    /// What is written into a row that is claimed.
    fn claimed(&self) -> Vec<(Column, Expr)> {
        let until = match self.config.lease {
            Some(lease) => Expr::Now {
                plus_ms: lease.as_i64(),
            },
            None => Expr::from(i64::MAX),
        };
        vec![
            (queue::STATE, Expr::from(queue::CLAIMED)),
            (queue::CLAIMS, Expr::Plus(queue::CLAIMS, 1)),
            (queue::UNTIL, until),
            (queue::BEAT, Expr::Now { plus_ms: 0 }),
        ]
    }

    /// Claims a row, if there is one.
    async fn claim(&self) -> Result<Option<Row>, CallError> {
        let nobody = Ids::default();
        let database = &self.ports.database;
        if self.config.take == Take::SkipLocked {
            let take = Statement::Take {
                table: QUEUE,
                when: claimable(),
                set: self.claimed(),
            };
            let at = At::new(&steps::WORKER_CLAIM, &nobody);
            return Ok(first(database.execute(at, vec![take]).await?));
        }
        let scan = Statement::Scan {
            table: QUEUE,
            when: claimable(),
        };
        let at = At::new(&steps::WORKER_CLAIM_READ, &nobody);
        let Some(found) = first(database.execute(at, vec![scan]).await?) else {
            return Ok(None);
        };
        let Some(ids) = envelope(&found).map(|envelope| ids(&found, &envelope)) else {
            return Ok(None);
        };
        let write = Statement::Update {
            table: QUEUE,
            key: found.key.clone(),
            when: Condition::always(),
            set: self.claimed(),
            required: false,
        };
        let read = Statement::Select {
            table: QUEUE,
            key: found.key,
            lock: RowLock::None,
        };
        let at = At::new(&steps::WORKER_CLAIM_WRITE, &ids);
        Ok(first(database.execute(at, vec![write, read]).await?))
    }

    /// The delivery of a row that this worker has claimed; `None`: it was claimed too often.
    async fn delivery(&self, row: Row) -> Option<Delivery> {
        let envelope = envelope(&row)?;
        let ids = ids(&row, &envelope);
        if self
            .config
            .max_claims
            .is_some_and(|most| ids.delivery > most)
        {
            let given_up = vec![update(row.key, Condition::always(), queue::DEAD)];
            let at = At::new(&steps::WORKER_DONE, &ids);
            match self.ports.database.execute(at, given_up).await {
                Ok(_) => self.ports.journal.record(at, What::DeadLettered),
                Err(error) => self.ports.journal.record(at, failed(error)),
            }
            return None;
        }
        let at = At::new(&steps::WORKER_CLAIM, &ids);
        self.ports.journal.record(at, What::Delivered);
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        held.next += 1;
        let receipt = Receipt(held.next);
        let count = i64::from(ids.delivery);
        let key = row.key;
        held.rows.push(Claimed {
            receipt,
            key,
            count,
        });
        Some(Delivery {
            message: ids.message?,
            envelope,
            count: ids.delivery,
            receipt,
        })
    }

    /// The row that a receipt stands for; it is let go of unless it is kept.
    fn held(&self, receipt: Receipt, keep: bool) -> Option<Claimed> {
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        let place = held.rows.iter().position(|row| row.receipt == receipt)?;
        Some(match keep {
            true => held.rows[place].clone(),
            false => held.rows.swap_remove(place),
        })
    }

    /// Writes the row that a receipt stands for, where it is still its claim's.
    async fn write(
        &self,
        at: At<'_>,
        claimed: Option<Claimed>,
        fenced: bool,
        set: Vec<(Column, Expr)>,
        told: What,
    ) -> Result<Settled, CallError> {
        let Some(claimed) = claimed else {
            return Ok(Settled::NotYours);
        };
        let mine = Test::Is(queue::CLAIMS, claimed.count);
        let held = Test::Is(queue::STATE, queue::CLAIMED);
        let when = match fenced {
            true => Condition::all([held, mine]),
            // It may have been claimed again, or wait: what is done is done.
            false => Condition::all([held]).or_all([Test::Is(queue::STATE, queue::WAITS)]),
        };
        let statement = Statement::Update {
            table: QUEUE,
            key: claimed.key,
            when,
            set,
            required: false,
        };
        let answers = self.ports.database.execute(at, vec![statement]).await?;
        let (what, settled) = match answers.last().is_some_and(Answer::changed) {
            true => (told, Settled::Accepted),
            false => (What::AckRefused, Settled::NotYours),
        };
        self.ports.journal.record(at, what);
        Ok(settled)
    }
}

/// A row that waits and whose time has come, or whose claim has ended.
fn claimable() -> Condition {
    let over = || Test::AtMost(queue::UNTIL, Expr::Now { plus_ms: 0 });
    let state = |state| Test::Is(queue::STATE, state);
    Condition::all([state(queue::WAITS), over()]).or_all([state(queue::CLAIMED), over()])
}

fn update(key: Key, when: Condition, state: i64) -> Statement {
    Statement::Update {
        table: QUEUE,
        key,
        when,
        set: vec![(queue::STATE, Expr::from(state))],
        required: false,
    }
}

fn first(answers: Answers) -> Option<Row> {
    answers.last()?.rows().first().cloned()
}

fn number(row: &Row, column: Column) -> i64 {
    let cell = row.cells.get(usize::from(column.0));
    cell.map_or(0, Value::int)
}

/// What a row says; `None` for a row that no version of this code has written.
fn envelope(row: &Row) -> Option<Envelope> {
    let Some(Value::Text(text)) = row.cells.get(usize::from(queue::RUN.0)) else {
        return None;
    };
    Some(Envelope {
        run: RunKey::try_from(text.clone()).ok()?,
        trace: TraceId(number(row, queue::TRACE) as u64),
        slot: row.slot,
        dedup_id: None,
    })
}

fn ids(row: &Row, envelope: &Envelope) -> Ids {
    let number_of = number(row, queue::NUMBER) as u64;
    Ids {
        slot: row.slot,
        run: Some(envelope.run.clone()),
        message: Some(MessageId((number_of ^ (number_of >> 32)) as u32)),
        trace: Some(envelope.trace),
        delivery: u32::try_from(number(row, queue::CLAIMS)).unwrap_or(u32::MAX),
        attempt: 0,
    }
}

impl Broker for RowQueue {
    fn steps(&self) -> &'static QueueSteps {
        &OF_ROWS
    }

    fn publish<'a>(
        &'a self,
        at: At<'a>,
        envelope: Envelope,
    ) -> Fut<'a, Result<Published, CallError>> {
        Box::pin(async move {
            let made = self.ports.runtime.random(at);
            let key = Key::from(format!("{}#{made:016x}", envelope.run));
            let statements: Statements = vec![insert_row(&envelope, key, made, false)];
            self.ports.database.execute(at, statements).await?;
            Ok(Published {
                message: MessageId((made ^ (made >> 32)) as u32),
                deduplicated: false,
            })
        })
    }

    /// Polls until a row is claimed. What goes wrong is mended by the next poll.
    fn deliver<'a>(&'a self, _: At<'a>) -> Fut<'a, Result<Delivery, CallError>> {
        Box::pin(async move {
            let runtime = &self.ports.runtime;
            let interest = Interest::Claimable { table: QUEUE };
            while runtime.idle_until(self.anchor, self.every, interest).await == Wake::Poll {
                match self.claim().await {
                    Ok(Some(row)) => {
                        if let Some(delivery) = self.delivery(row).await {
                            return Ok(delivery);
                        }
                    }
                    Ok(None) => {}
                    Err(error) => {
                        let nobody = Ids::default();
                        let at = At::new(&steps::WORKER_CLAIM, &nobody);
                        self.ports.journal.record(at, failed(error));
                        self.ports.journal.mark(&marks::DELIVER_FAILED);
                    }
                }
            }
            // The worker stops.
            std::future::pending().await
        })
    }

    fn ack<'a>(&'a self, at: At<'a>, receipt: Receipt) -> Fut<'a, Result<Settled, CallError>> {
        let set = vec![(queue::STATE, Expr::from(queue::DONE))];
        let row = self.held(receipt, false);
        Box::pin(self.write(at, row, self.config.fenced, set, What::Acked))
    }

    fn reject<'a>(&'a self, at: At<'a>, receipt: Receipt) -> Fut<'a, Result<Settled, CallError>> {
        let set = vec![(queue::STATE, Expr::from(queue::DEAD))];
        let row = self.held(receipt, false);
        Box::pin(self.write(at, row, self.config.fenced, set, What::DeadLettered))
    }

    fn defer<'a>(
        &'a self,
        at: At<'a>,
        receipt: Receipt,
        delay: Span,
    ) -> Fut<'a, Result<Settled, CallError>> {
        let plus_ms = delay.as_i64();
        let set = vec![
            (queue::STATE, Expr::from(queue::WAITS)),
            (queue::UNTIL, Expr::Now { plus_ms }),
        ];
        let for_ms = u32::try_from(delay.ms()).unwrap_or(u32::MAX);
        let row = self.held(receipt, false);
        Box::pin(self.write(at, row, true, set, What::Deferred { for_ms }))
    }

    fn renew<'a>(&'a self, at: At<'a>, receipt: Receipt) -> Fut<'a, Result<Settled, CallError>> {
        let stops = self.config.stop_heartbeat == StopHeartbeat::AtOnce;
        if stops && self.ports.runtime.stopping() {
            return Box::pin(std::future::ready(Ok(Settled::Accepted)));
        }
        let mut set = vec![(queue::BEAT, Expr::Now { plus_ms: 0 })];
        if let (Some(lease), DeadSince::LastHeartbeat) = (self.config.lease, self.config.dead_since)
        {
            let plus_ms = lease.as_i64();
            set.push((queue::UNTIL, Expr::Now { plus_ms }));
        }
        let row = self.held(receipt, true);
        Box::pin(self.write(at, row, true, set, What::Renewed))
    }

    fn renew_every(&self) -> Option<Span> {
        self.config.renew_every
    }
}

#[cfg(test)]
mod tests;
