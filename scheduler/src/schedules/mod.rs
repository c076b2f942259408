//! Schedules: when is a timer due?

mod config;

pub use config::ScheduleConfig;
