//! Dispatches a slot that is claimed by the position of its timer's row: read, write, and what the
//! order of dispatch puts beside them.

use super::dispatcher::{Dispatched, Progress, StepError};
use super::position::{self, Position, PositionClaim};
use super::{Dispatcher, Fire, Order};
use crate::backoff;
use crate::ports::{Answer, Answers, At, Isolation, Statements, Transaction, Wake};
use crate::{marks, steps};
use evidence::What;

type Open = Option<Box<dyn Transaction>>;

impl Dispatcher {
    /// Claims the slot by its position, publishes its run and moves the position, in this order;
    /// without one the slot is only claimed.
    pub(super) async fn by_position(
        &self,
        claim: &dyn PositionClaim,
        fire: &Fire,
        progress: &mut Progress,
        order: Option<Order>,
    ) -> Result<Dispatched, StepError> {
        if !progress.claimed
            && self.claim_position(claim, fire, progress, order).await? == Dispatched::Taken
        {
            return Ok(Dispatched::Taken);
        }
        match order {
            None if self.late => return Ok(Dispatched::Done),
            Some(Order::DispatchThenAdvance) => self.publish(fire, progress).await?,
            _ => {}
        }
        let with = match order {
            Some(Order::Outbox) => self.made(fire),
            _ => Statements::new(),
        };
        if self.let_go(claim, fire, progress, with).await? == Dispatched::Taken
            && !progress.published
        {
            return Ok(Dispatched::Taken);
        }
        match order {
            Some(Order::AdvanceThenDispatch) => self.publish(fire, progress).await?,
            Some(Order::Outbox) => self.send_made(fire, progress).await,
            _ => {}
        }
        Ok(Dispatched::Done)
    }

    /// Reads the position and writes the claim, until somebody has the slot.
    async fn claim_position(
        &self,
        claim: &dyn PositionClaim,
        fire: &Fire,
        progress: &mut Progress,
        order: Option<Order>,
    ) -> Result<Dispatched, StepError> {
        loop {
            let (seen, open) = self.read_position(claim, fire, order).await?;
            if seen.cursor >= fire.scheduled.0 {
                let ours = progress.unsure && seen.owner == fire.trace_cell();
                return Ok(self.settled(ours, progress));
            }
            if progress.unsure && claim.holds(&seen, fire) {
                return Ok(self.settled(true, progress));
            }
            let written = self.write_position(claim, &seen, fire, open, progress, order);
            if written.await? == Dispatched::Done {
                progress.claimed = true;
                return Ok(Dispatched::Done);
            }
            self.ports.journal.mark(&marks::CLAIM_OUTRUN);
            // A worker that polls comes by again; whoever was woken for this slot has to look.
            if self.polls {
                return Ok(Dispatched::Taken);
            }
            if seen.acquired || claim.let_go(fire).is_some() {
                let Some(wait) = claim.look_again() else {
                    return Ok(Dispatched::Taken);
                };
                if backoff::sleep_or_stop(&*self.ports.runtime, wait).await == Wake::Stop {
                    return Ok(Dispatched::Taken);
                }
            }
        }
    }

    /// Who has the slot when its position has moved, or its row is acquired.
    fn settled(&self, ours: bool, progress: &mut Progress) -> Dispatched {
        if progress.unsure {
            let mark = match ours {
                true => &marks::CLAIM_OURS,
                false => &marks::CLAIM_NOT_OURS,
            };
            self.ports.journal.mark(mark);
        }
        progress.claimed = ours;
        match ours {
            true => Dispatched::Done,
            false => Dispatched::Taken,
        }
    }

    async fn read_position(
        &self,
        claim: &dyn PositionClaim,
        fire: &Fire,
        order: Option<Order>,
    ) -> Result<(Position, Open), StepError> {
        let step = &steps::DISPATCH_CLAIM_READ;
        let at = At::new(step, &fire.ids);
        let lock = claim.lock(fire);
        let one = lock.is_some() || order == Some(Order::OneTransaction);
        let mut open = one.then(|| self.ports.database.begin(Isolation::ReadCommitted));
        let mut inside: Statements = lock.into_iter().collect();
        let answers = match &mut open {
            Some(open) => {
                if !claim.reads_replica() {
                    inside.push(position::read(fire));
                }
                let answers = open.execute(at, inside, false).await;
                let mut answers = answers.map_err(|error| (step, error))?;
                if claim.reads_replica() {
                    answers = self.execute(step, fire, vec![position::read(fire)]).await?;
                }
                answers
            }
            None => self.execute(step, fire, vec![position::read(fire)]).await?,
        };
        Ok((seen(&answers), open))
    }

    /// Writes the claim, with what belongs into its transaction.
    async fn write_position(
        &self,
        claim: &dyn PositionClaim,
        seen: &Position,
        fire: &Fire,
        open: Open,
        progress: &mut Progress,
        order: Option<Order>,
    ) -> Result<Dispatched, StepError> {
        let step = &steps::DISPATCH_CLAIM_WRITE;
        let Some(write) = claim.write(seen, fire) else {
            return Ok(Dispatched::Taken);
        };
        let checked = position::is_required(&write);
        let mut statements = vec![write];
        statements.extend(self.claim_statements(fire));
        let holds = claim.let_go(fire).is_some();
        if order == Some(Order::Outbox) && !holds {
            statements.extend(self.made(fire));
        }
        let in_one = order == Some(Order::OneTransaction);
        let answers = match open {
            None => self.execute(step, fire, statements).await?,
            Some(mut open) => {
                let at = At::new(step, &fire.ids);
                let answers = open.execute(at, statements, !in_one).await;
                let answers = answers.map_err(|error| (step, error))?;
                if in_one && won(&answers, checked) {
                    self.tell(step, fire, What::Claimed);
                    self.publish(fire, &mut Progress::default()).await?;
                    self.commit(fire, open).await?;
                    progress.advanced = true;
                    return Ok(Dispatched::Done);
                }
                answers
            }
        };
        if !won(&answers, checked) {
            return Ok(Dispatched::Taken);
        }
        self.tell(step, fire, What::Claimed);
        progress.advanced = !holds;
        Ok(Dispatched::Done)
    }

    /// The end of the transaction in which the run was published.
    async fn commit(&self, fire: &Fire, mut open: Box<dyn Transaction>) -> Result<(), StepError> {
        let step = &steps::DISPATCH_ADVANCE;
        let at = At::new(step, &fire.ids);
        let committed = open.execute(at, self.position(fire), true).await;
        committed.map_err(|error| (step, error))?;
        self.tell(step, fire, What::Advanced);
        Ok(())
    }

    /// Gives an acquired row back, its position moved; taken: it was no longer ours.
    pub(super) async fn let_go(
        &self,
        claim: &dyn PositionClaim,
        fire: &Fire,
        progress: &mut Progress,
        with: Statements,
    ) -> Result<Dispatched, StepError> {
        let Some(release) = claim.let_go(fire).filter(|_| !progress.advanced) else {
            return Ok(Dispatched::Done);
        };
        let step = &steps::DISPATCH_ADVANCE;
        let mut statements = vec![release];
        statements.extend(with);
        let answers = self.execute(step, fire, statements).await?;
        if won(&answers, true) {
            self.tell(step, fire, What::Advanced);
            progress.advanced = true;
            return Ok(Dispatched::Done);
        }
        if progress.unsure {
            let (seen, _) = self.read_position(claim, fire, None).await?;
            if seen.owner == fire.trace_cell() && seen.cursor >= fire.scheduled.0 {
                progress.advanced = true;
                return Ok(Dispatched::Done);
            }
        }
        self.ports.journal.mark(&marks::CLAIM_LOST);
        Ok(Dispatched::Taken)
    }
}

fn seen(answers: &Answers) -> Position {
    let row = answers.last().and_then(|answer| answer.rows().first());
    row.map(Position::of).unwrap_or_default()
}

/// Whether the first statement, if it was required, has changed its row.
fn won(answers: &Answers, checked: bool) -> bool {
    !checked || answers.first().is_some_and(Answer::changed)
}

#[cfg(test)]
mod tests;
