//! Ctrl-C: the first ends the exploration cleanly, the second ends the command at once.

use super::failure::Failure;
use crate::exit::Exit;
use explore::Control;
use std::sync::Arc;

/// Lets Ctrl-C stop an exploration.
///
/// # Errors
/// If the system does not allow it.
pub fn stops(control: &Arc<Control>) -> Result<(), Failure> {
    let control = Arc::clone(control);
    ctrlc::set_handler(move || {
        if control.cut() == Some(explore::Cut::Interrupted) {
            std::process::exit(i32::from(Exit::Inconclusive.code()));
        }
        control.stop();
    })
    .map_err(|error| Failure::Machine(format!("Ctrl-C cannot be watched for: {error}")))
}
