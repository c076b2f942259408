//! The four orders of claim, publish and record.

use super::dispatcher::{Dispatched, Progress, StepError, conflicts, failed};
use super::statements::{advance, insert_outbox, queued};
use super::{Dispatcher, Fire, relay};
use crate::ports::{At, Isolation, Key, Statements};
use crate::row_queue::insert_row;
use crate::weakness::Weakness;
use crate::{marks, steps};
use evidence::What;
use std::sync::Arc;

impl Dispatcher {
    /// Claim, position and outbox row in one transaction; then the row is published. What goes
    /// wrong with that is mended by the relay, and so is a row that may have been there before we
    /// heard of it: the relay may have sent it already.
    pub(super) async fn outbox(
        &self,
        fire: &Fire,
        progress: &mut Progress,
    ) -> Result<Dispatched, StepError> {
        if self.rows {
            let with = self.queued_row(fire).into_iter().chain([advance(fire)]);
            return self.claim_with(fire, progress, with).await;
        }
        let key = self.outbox_key(fire);
        let row = insert_outbox(fire, &key, self.unique);
        let weak = |weakness| self.ports.weak(weakness);
        let row = (!weak(Weakness::OutboxRowForgotten)).then_some(row);
        let moves = self.moves && !weak(Weakness::AdvanceForgotten);
        let position = moves.then(|| advance(fire));
        let with = row.into_iter().chain(position);
        let claimed = self.claim_with(fire, progress, with).await?;
        if claimed == Dispatched::Done && !progress.unsure {
            self.send(fire, &key).await;
        }
        Ok(claimed)
    }

    /// What the run becomes in the transaction of its claim: a row of the outbox, or of the queue.
    pub(super) fn made(&self, fire: &Fire) -> Statements {
        if self.rows {
            return self.queued_row(fire);
        }
        vec![insert_outbox(fire, &self.outbox_key(fire), self.unique)]
    }

    /// The row of the queue that workers claim, and its record QUEUED.
    fn queued_row(&self, fire: &Fire) -> Statements {
        let row = insert_row(
            &fire.envelope(),
            self.outbox_key(fire),
            fire.trace.0,
            self.unique,
        );
        let mut statements = vec![row];
        if self.creates_record {
            statements.push(queued(fire.run.text()));
        }
        statements
    }

    /// Publishes the row of the outbox that was made, unless somebody may have seen it before us.
    pub(super) async fn send_made(&self, fire: &Fire, progress: &Progress) {
        if !self.rows && !progress.unsure {
            self.send(fire, &self.outbox_key(fire)).await;
        }
    }

    async fn send(&self, fire: &Fire, key: &Key) {
        let sent = relay::send(&self.ports, fire, key, self.creates_record).await;
        if let Err((step, error)) = sent {
            self.tell(step, fire, failed(error));
        }
    }

    /// Claim, publish and position inside one open transaction: the commit can still fail after
    /// the publish.
    pub(super) async fn one_transaction(&self, fire: &Fire) -> Result<Dispatched, StepError> {
        let mut transaction = self.ports.database.begin(Isolation::ReadCommitted);
        let statements = self.claim_statements(fire);
        let claim = &steps::DISPATCH_CLAIM;
        if !statements.is_empty() {
            let answers = transaction
                .execute(At::new(claim, &fire.ids), statements, false)
                .await
                .map_err(|error| (claim, error))?;
            if conflicts(&answers) {
                return Ok(Dispatched::Taken);
            }
            self.tell(claim, fire, What::Claimed);
        }
        self.publish(fire, &mut Progress::default()).await?;
        let step = &steps::DISPATCH_ADVANCE;
        transaction
            .execute(At::new(step, &fire.ids), self.position(fire), true)
            .await
            .map_err(|error| (step, error))?;
        self.tell(step, fire, What::Advanced);
        Ok(Dispatched::Done)
    }

    /// Publish, then record: a crash in between publishes again.
    pub(super) async fn dispatch_then_advance(
        &self,
        fire: &Fire,
        progress: &mut Progress,
    ) -> Result<Dispatched, StepError> {
        if self.claim_with(fire, progress, Statements::new()).await? == Dispatched::Taken {
            return Ok(Dispatched::Taken);
        }
        if self.ports.weak(Weakness::AdvanceBeforeDispatch) {
            self.advance(fire, progress, self.position(fire)).await?;
        }
        self.publish(fire, progress).await?;
        self.advance(fire, progress, self.position(fire)).await
    }

    /// Record, then publish: a crash in between loses the run.
    pub(super) async fn advance_then_dispatch(
        &self,
        fire: &Fire,
        progress: &mut Progress,
    ) -> Result<Dispatched, StepError> {
        if self.claim_with(fire, progress, Statements::new()).await? == Dispatched::Taken {
            return Ok(Dispatched::Taken);
        }
        let position = if self.moves {
            vec![advance(fire)]
        } else {
            vec![]
        };
        self.advance(fire, progress, position).await?;
        self.publish(fire, progress).await?;
        Ok(Dispatched::Done)
    }

    /// The position, and the record QUEUED: the message has been accepted.
    pub(super) fn position(&self, fire: &Fire) -> Statements {
        let mut statements = if self.moves {
            vec![advance(fire)]
        } else {
            vec![]
        };
        if self.creates_record {
            statements.push(queued(fire.run.text()));
        }
        statements
    }

    pub(super) async fn publish(
        &self,
        fire: &Fire,
        progress: &mut Progress,
    ) -> Result<(), StepError> {
        if progress.published {
            return Ok(());
        }
        if progress.unsure {
            self.ports.journal.mark(&marks::PUBLISHED_AGAIN);
        }
        if let Some(caller) = &self.caller {
            Box::pin(caller.call_out(&self.ports, fire)).await?;
            progress.published = true;
            return Ok(());
        }
        let step = &steps::BROKER_PUBLISH;
        let at = At::new(step, &fire.ids);
        let published = self.ports.broker.publish(at, fire.envelope()).await;
        if !self.ports.weak(Weakness::FailedPublishIsDone) {
            published.map_err(|error| (step, error))?;
        }
        progress.published = true;
        Ok(())
    }

    pub(super) async fn advance(
        &self,
        fire: &Fire,
        progress: &mut Progress,
        statements: Statements,
    ) -> Result<Dispatched, StepError> {
        if !progress.advanced && !statements.is_empty() {
            let step = &steps::DISPATCH_ADVANCE;
            self.execute(step, fire, statements).await?;
            self.tell(step, fire, What::Advanced);
            progress.advanced = true;
        }
        Ok(Dispatched::Done)
    }

    fn outbox_key(&self, fire: &Fire) -> Key {
        if self.unique {
            fire.run.text().clone()
        } else {
            Arc::from(format!("{}#{}", fire.run, fire.trace))
        }
    }
}
