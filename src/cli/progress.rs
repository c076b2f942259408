//! A bar on the terminal while a check runs; nothing where stderr is no terminal.

use explore::Control;
use indicatif::{ProgressBar, ProgressStyle};
use std::io::IsTerminal;
use std::sync::Arc;
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread::JoinHandle;
use std::time::Duration;

/// How often the bar is drawn.
const EVERY: Duration = Duration::from_millis(150);

/// A bar that goes away when it is dropped.
pub struct Progress {
    /// Dropped first, which ends the painter.
    end: Option<Sender<()>>,
    painter: Option<JoinHandle<()>>,
}

impl Progress {
    /// Shows how far the exploration of a scenario is.
    pub fn of(name: &str, control: &Arc<Control>) -> Self {
        if !std::io::stderr().is_terminal() {
            return Progress {
                end: None,
                painter: None,
            };
        }
        let (end, ended) = mpsc::channel();
        let (name, control) = (name.to_owned(), Arc::clone(control));
        let painter = std::thread::Builder::new().spawn(move || {
            let bar = ProgressBar::new(0).with_style(style());
            while ended.recv_timeout(EVERY) == Err(RecvTimeoutError::Timeout) {
                paint(&bar, &name, &control);
            }
            bar.finish_and_clear();
        });
        Progress {
            end: Some(end),
            painter: painter.ok(),
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.end = None;
        if let Some(painter) = self.painter.take() {
            // Its only way to fail is a panic, and a bar is not worth one.
            let _ = painter.join();
        }
    }
}

fn style() -> ProgressStyle {
    ProgressStyle::with_template("{msg} {wide_bar} {human_pos}/{human_len} plans, {eta} left")
        .unwrap_or_else(|_| ProgressStyle::default_bar())
}

fn paint(bar: &ProgressBar, name: &str, control: &Control) {
    let level = control.level();
    let plural = if level == 1 { "" } else { "s" };
    bar.set_message(format!("{name}, {level} fault{plural}:"));
    bar.set_length(control.expected().max(control.plans()));
    bar.set_position(control.plans());
}
