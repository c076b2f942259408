//! The ports once more, each with an observer in front of it.

use super::{Watched, events, meters};
use crate::Span;
use crate::marks::Mark;
use crate::ports::{
    Answers, Ask, Asked, Asking, At, Broker, CallError, Coordinator, Database, Delivery,
    Downstream, Election, Envelope, Epoch, Executors, Fut, Interest, Isolation, Item, Journal,
    LockKey, LockService, Monotonic, Published, QueueSteps, Receipt, Reply, Request, Runtime, Said,
    SessionId, Settled, Shard, Standing, Statements, Token, Transaction, Wake,
};
use evidence::{InstanceId, Timestamp, What};
use std::sync::{Arc, PoisonError};

impl<P: ?Sized> Watched<P> {
    /// A call, told of when it begins and when it ends.
    fn call<'a, T: Send + 'a>(
        &'a self,
        at: At<'a>,
        call: Fut<'a, Result<T, CallError>>,
    ) -> Fut<'a, Result<T, CallError>>
    where
        Self: Send + Sync,
    {
        let who = &self.who;
        Box::pin(async move {
            events::start(who, at);
            let answer = call.await;
            events::end(who, at, answer.as_ref().err().copied());
            answer
        })
    }

    /// A step that is no call.
    fn step<'a>(&'a self, at: At<'a>, step: Fut<'a, ()>) -> Fut<'a, ()>
    where
        Self: Send + Sync,
    {
        Box::pin(async move {
            events::start(&self.who, at);
            step.await;
            events::end(&self.who, at, None);
        })
    }
}

impl Journal for Watched<dyn Journal> {
    fn record(&self, at: At<'_>, what: What) {
        events::happened(&self.who, at, &what);
        meters::happened(&self.who, at, &what);
        let seen = &self.who.seen;
        seen.lock()
            .unwrap_or_else(PoisonError::into_inner)
            .happened(at, &what);
        self.port.record(at, what);
    }

    fn mark(&self, mark: &'static Mark) {
        self.port.mark(mark);
    }

    #[cfg(feature = "weakened")]
    fn weakness(&self) -> Option<crate::weakness::Weakness> {
        self.port.weakness()
    }
}

impl Runtime for Watched<dyn Runtime> {
    fn monotonic(&self) -> Monotonic {
        self.port.monotonic()
    }

    fn sleep(&self, span: Span) -> Fut<'_, ()> {
        self.port.sleep(span)
    }

    fn pass<'a>(&'a self, at: At<'a>) -> Fut<'a, ()> {
        self.step(at, self.port.pass(at))
    }

    fn wait_until<'a>(&'a self, at: At<'a>, until: Timestamp, cap: Option<Span>) -> Fut<'a, ()> {
        self.step(at, self.port.wait_until(at, until, cap))
    }

    fn spawn(&self, task: Fut<'static, ()>) {
        self.port.spawn(task);
    }

    fn idle_until(&self, anchor: Monotonic, every: Span, interest: Interest) -> Fut<'_, Wake> {
        self.port.idle_until(anchor, every, interest)
    }

    fn anchor(&self, at: At<'_>, every: Span) -> Monotonic {
        self.port.anchor(at, every)
    }

    fn stopping(&self) -> bool {
        self.port.stopping()
    }

    fn stop_requested(&self) -> Fut<'_, ()> {
        self.port.stop_requested()
    }

    fn steady(&self, at: At<'_>) -> u64 {
        self.port.steady(at)
    }

    fn random(&self, at: At<'_>) -> u64 {
        self.port.random(at)
    }
}

impl Database for Watched<dyn Database> {
    fn execute<'a>(
        &'a self,
        at: At<'a>,
        statements: Statements,
    ) -> Fut<'a, Result<Answers, CallError>> {
        self.call(at, self.port.execute(at, statements))
    }

    fn begin(&self, isolation: Isolation) -> Box<dyn Transaction> {
        Box::new(WatchedTransaction {
            transaction: self.port.begin(isolation),
            who: self.who.clone(),
        })
    }
}

struct WatchedTransaction {
    transaction: Box<dyn Transaction>,
    who: Arc<super::Who>,
}

impl Transaction for WatchedTransaction {
    fn execute<'a>(
        &'a mut self,
        at: At<'a>,
        statements: Statements,
        commit: bool,
    ) -> Fut<'a, Result<Answers, CallError>> {
        Box::pin(async move {
            events::start(&self.who, at);
            let answers = self.transaction.execute(at, statements, commit).await;
            events::end(&self.who, at, answers.as_ref().err().copied());
            answers
        })
    }
}

impl Broker for Watched<dyn Broker> {
    fn steps(&self) -> &'static QueueSteps {
        self.port.steps()
    }

    fn publish<'a>(
        &'a self,
        at: At<'a>,
        envelope: Envelope,
    ) -> Fut<'a, Result<Published, CallError>> {
        self.call(at, self.port.publish(at, envelope))
    }

    fn deliver<'a>(&'a self, at: At<'a>) -> Fut<'a, Result<Delivery, CallError>> {
        self.call(at, self.port.deliver(at))
    }

    fn ack<'a>(&'a self, at: At<'a>, receipt: Receipt) -> Fut<'a, Result<Settled, CallError>> {
        self.call(at, self.port.ack(at, receipt))
    }

    fn reject<'a>(&'a self, at: At<'a>, receipt: Receipt) -> Fut<'a, Result<Settled, CallError>> {
        self.call(at, self.port.reject(at, receipt))
    }

    fn defer<'a>(
        &'a self,
        at: At<'a>,
        receipt: Receipt,
        delay: Span,
    ) -> Fut<'a, Result<Settled, CallError>> {
        self.call(at, self.port.defer(at, receipt, delay))
    }

    fn renew<'a>(&'a self, at: At<'a>, receipt: Receipt) -> Fut<'a, Result<Settled, CallError>> {
        self.call(at, self.port.renew(at, receipt))
    }

    fn renew_every(&self) -> Option<Span> {
        self.port.renew_every()
    }
}

impl LockService for Watched<dyn LockService> {
    fn set_if_absent<'a>(
        &'a self,
        at: At<'a>,
        key: &'a LockKey,
        token: Token,
        ttl: Option<Span>,
    ) -> Fut<'a, Result<bool, CallError>> {
        self.call(at, self.port.set_if_absent(at, key, token, ttl))
    }

    fn set_if_present<'a>(
        &'a self,
        at: At<'a>,
        key: &'a LockKey,
        token: Token,
        ttl: Span,
    ) -> Fut<'a, Result<bool, CallError>> {
        self.call(at, self.port.set_if_present(at, key, token, ttl))
    }

    fn get<'a>(
        &'a self,
        at: At<'a>,
        key: &'a LockKey,
    ) -> Fut<'a, Result<Option<Token>, CallError>> {
        self.call(at, self.port.get(at, key))
    }

    fn expire<'a>(
        &'a self,
        at: At<'a>,
        key: &'a LockKey,
        owner: Option<Token>,
        ttl: Span,
    ) -> Fut<'a, Result<bool, CallError>> {
        self.call(at, self.port.expire(at, key, owner, ttl))
    }

    fn delete<'a>(
        &'a self,
        at: At<'a>,
        key: &'a LockKey,
        owner: Option<Token>,
    ) -> Fut<'a, Result<bool, CallError>> {
        self.call(at, self.port.delete(at, key, owner))
    }
}

impl Coordinator for Watched<dyn Coordinator> {
    fn join<'a>(&'a self, at: At<'a>) -> Fut<'a, Result<SessionId, CallError>> {
        self.call(at, self.port.join(at))
    }

    fn beat<'a>(
        &'a self,
        at: At<'a>,
        session: SessionId,
    ) -> Fut<'a, Result<Standing<()>, CallError>> {
        self.call(at, self.port.beat(at, session))
    }

    fn campaign<'a>(
        &'a self,
        at: At<'a>,
        session: SessionId,
        election: &'a Election,
    ) -> Fut<'a, Result<Standing<Option<Epoch>>, CallError>> {
        self.call(at, self.port.campaign(at, session, election))
    }

    fn shards<'a>(
        &'a self,
        at: At<'a>,
        session: SessionId,
    ) -> Fut<'a, Result<Standing<Vec<Shard>>, CallError>> {
        self.call(at, self.port.shards(at, session))
    }

    fn begin<'a>(
        &'a self,
        at: At<'a>,
        session: SessionId,
        item: &'a Item,
    ) -> Fut<'a, Result<Standing<()>, CallError>> {
        self.call(at, self.port.begin(at, session, item))
    }

    fn finish<'a>(
        &'a self,
        at: At<'a>,
        session: SessionId,
        shard: u32,
    ) -> Fut<'a, Result<Standing<()>, CallError>> {
        self.call(at, self.port.finish(at, session, shard))
    }

    fn take_over<'a>(
        &'a self,
        at: At<'a>,
        session: SessionId,
    ) -> Fut<'a, Result<Standing<Vec<Item>>, CallError>> {
        self.call(at, self.port.take_over(at, session))
    }

    fn heard(&self, session: SessionId) -> Option<Monotonic> {
        self.port.heard(session)
    }

    fn leave<'a>(&'a self, at: At<'a>, session: SessionId) -> Fut<'a, Result<(), CallError>> {
        self.call(at, self.port.leave(at, session))
    }
}

impl Executors for Watched<dyn Executors> {
    fn ask<'a>(&'a self, at: At<'a>, to: InstanceId, ask: Ask) -> Fut<'a, Result<Said, CallError>> {
        self.call(at, self.port.ask(at, to, ask))
    }

    fn next(&self) -> Fut<'_, Asked> {
        self.port.next()
    }

    fn say(&self, asking: Asking, said: Said) {
        self.port.say(asking, said);
    }

    fn over(&self, asking: Asking) {
        self.port.over(asking);
    }
}

impl Downstream for Watched<dyn Downstream> {
    fn perform<'a>(
        &'a self,
        at: At<'a>,
        request: Request,
        timeout: Span,
    ) -> Fut<'a, Result<Reply, CallError>> {
        self.call(at, self.port.perform(at, request, timeout))
    }

    fn lookup<'a>(&'a self, at: At<'a>, key: &'a Arc<str>) -> Fut<'a, Result<bool, CallError>> {
        self.call(at, self.port.lookup(at, key))
    }
}
