//! A handler that reaches the outside world twice, once without a key: what the ledger says of it.
//!
//! ```text
//! cargo run --release --example two_effects
//! ```

use runkey::ports::{At, Request};
use runkey::{
    Ctx, Error, Fut, Handler, HandlerError, Ports, Report, Span, check, effects::EffectError, steps,
};

fn main() -> Result<(), Error> {
    println!("{}", explored()?);
    Ok(())
}

/// Sends an SMS by a gateway that knows no keys, and then books the payment.
struct NotifiesThenBooks {
    ports: Ports,
}

impl Handler for NotifiesThenBooks {
    fn handle<'a>(&'a self, ctx: &'a Ctx<'a>) -> Fut<'a, Result<(), HandlerError>> {
        Box::pin(async move {
            let at = At::new(&steps::DOWNSTREAM_PERFORM, ctx.ids());
            let no_key = Request::default();
            let gateway = &self.ports.downstream;
            if gateway.perform(at, no_key, Span::secs(3)).await.is_err() {
                return Err(EffectError::Unknown.into());
            }
            Ok(ctx.perform().await?)
        })
    }
}

/// The recommended set-up, with that handler: even where nothing goes wrong the ledger has two
/// entries for a slot.
pub fn explored() -> Result<Report, Error> {
    check("recommended-stack")
        .handler(|instance| NotifiesThenBooks {
            ports: instance.ports.clone(),
        })
        .faults(1)
        .seeds(1..=1)
        .explore()
}
