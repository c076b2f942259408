//! Which laws does each built-in guard break, and by which smallest plan?
//!
//! ```text
//! cargo run --release --example which_laws
//! ```

use runkey::guards::{
    GuardConfig, GuardContext, InsertFirstConfig, RedisLockConfig, StateMachineConfig,
};
use runkey::laws;
use std::error::Error;

fn main() -> Result<(), Box<dyn Error>> {
    print!("{}", table()?);
    Ok(())
}

/// A line for each guard and law.
pub fn table() -> Result<String, Box<dyn Error>> {
    let guards = [
        GuardConfig::InsertFirst(InsertFirstConfig::default()),
        GuardConfig::RedisLock(RedisLockConfig::default()),
        GuardConfig::StateMachine(StateMachineConfig::default()),
    ];
    let mut table = String::new();
    for guard in guards {
        let name = guard.name();
        let broken = laws::broken_by(move |instance| {
            guard.build(&GuardContext {
                instance,
                max_attempts: 8,
            })
        })?;
        if broken.is_empty() {
            table.push_str(&format!("{name:15} keeps all {} laws\n", laws::ALL.len()));
        }
        for broken in broken {
            let by = match broken.by() {
                [] => "no fault".to_owned(),
                by => by.join(", "),
            };
            table.push_str(&format!("{name:15} {:24} {by}\n", broken.law()));
        }
    }
    Ok(table)
}
