//! One process: how it dies, stands still, stops, and goes on.

use crate::agenda::{Action, Entry, Ms};
use crate::clock::WallClock;
use crate::sessions::Client;
use crate::tasks::TaskKey;
use crate::world::World;
use evidence::{Ids, What};
use scenarios::spec::Server;
use scheduler::steps;

/// The link between an instance and a server, one direction each.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Link {
    /// Nothing passes from the instance to the server before this.
    pub(crate) to_server: Ms,
    /// Nothing passes from the server to the instance before this.
    pub(crate) from_server: Ms,
}

/// One process, as the simulator sees it.
pub(crate) struct Process {
    pub(crate) incarnation: u16,
    pub(crate) alive: bool,
    pub(crate) stopping: bool,
    pub(crate) paused_until: Option<Ms>,
    /// What happened while it stood still, and its tasks that were ready.
    stalled: Vec<Entry>,
    stalled_tasks: Vec<TaskKey>,
    pub(crate) clock: WallClock,
    /// By [`scenarios::spec::Server`].
    pub(crate) links: [Link; Server::ALL.len()],
    /// The coordinator's client in it.
    pub(crate) client: Client,
    /// Tasks that want to know of a stop.
    pub(crate) stop_waiters: Vec<TaskKey>,
}

/// How long an instance that was asked to stop may take for what it has begun (the default
/// terminationGracePeriodSeconds of Kubernetes, 30 s).
pub(crate) const STOP_GRACE_MS: Ms = 30_000;

impl Process {
    /// As [`Process::new`], but for what is allocated.
    pub(crate) fn renew(&mut self, clock: WallClock) {
        let mut stop_waiters = std::mem::take(&mut self.stop_waiters);
        stop_waiters.clear();
        *self = Process {
            stop_waiters,
            ..Process::new(clock)
        };
    }

    /// A process that has not been started yet.
    pub(crate) fn new(clock: WallClock) -> Self {
        Process {
            incarnation: 0,
            alive: false,
            stopping: false,
            paused_until: None,
            stalled: Vec::new(),
            stalled_tasks: Vec::new(),
            clock,
            links: [Link::default(); Server::ALL.len()],
            client: Client::default(),
            stop_waiters: Vec::new(),
        }
    }
}

impl Process {
    /// Whether it is alive and well, and cut off from no server.
    pub(crate) fn rests(&self, now: Ms) -> bool {
        let passes = |link: &Link| link.to_server <= now && link.from_server <= now;
        self.alive && !self.stopping && self.paused_until.is_none() && self.links.iter().all(passes)
    }
}

impl World {
    /// The instance dies; gives when it is back.
    pub(crate) fn crash(&mut self, instance: u8) -> Ms {
        let back = self.now + self.constants.restart_after;
        self.end_process(instance);
        self.agenda.add(back, instance, Action::Start(instance));
        back
    }

    /// Everything that lives in the instance is gone, and its connections with it.
    fn end_process(&mut self, instance: u8) {
        self.keep_sessions();
        let process = &mut self.processes[usize::from(instance)];
        process.alive = false;
        process.stopping = false;
        process.paused_until = None;
        process.stalled.clear();
        process.stalled_tasks.clear();
        process.stop_waiters.clear();
        process.client = Client::default();
        self.tasks.kill(instance);
        self.armed.retain(|armed| armed.instance != instance);
        for poller in &mut self.pollers {
            if poller.instance == instance {
                poller.task = None;
                poller.scheduled = None;
            }
        }
        self.disconnected(instance);
        self.standings_changed();
        self.executor_is_gone(instance);
    }

    /// The instance stands still.
    pub(crate) fn pause(&mut self, instance: u8, until: Ms) {
        let process = &mut self.processes[usize::from(instance)];
        let until = process
            .paused_until
            .map_or(until, |already| already.max(until));
        process.paused_until = Some(until);
        self.agenda.add(until, instance, Action::Resume(instance));
    }

    /// The instance is asked to stop.
    pub(crate) fn ask_to_stop(&mut self, instance: u8) {
        let process = &mut self.processes[usize::from(instance)];
        if process.stopping {
            return;
        }
        process.stopping = true;
        let incarnation = process.incarnation;
        let waiters = std::mem::take(&mut process.stop_waiters);
        for task in waiters {
            self.tasks.wake(task);
        }
        for place in 0..self.pollers.len() {
            if self.pollers[place].instance == instance {
                self.wake_poller(place);
            }
        }
        let grace = self.now + STOP_GRACE_MS;
        self.agenda.add(
            grace,
            instance,
            Action::StopGraceOver(instance, incarnation),
        );
    }

    /// If the instance was asked to stop and nothing of it is left, it is stopped.
    pub(crate) fn stop_if_idle(&mut self, instance: u8) {
        let process = &self.processes[usize::from(instance)];
        if process.alive && process.stopping && self.tasks.alive(instance) == 0 {
            self.stop(instance);
        }
    }

    /// The instance stops, and is back later.
    pub(crate) fn stop(&mut self, instance: u8) {
        let incarnation = self.processes[usize::from(instance)].incarnation;
        self.record(
            instance,
            incarnation,
            &steps::INSTANCE,
            What::Stopped,
            Ids::default(),
        );
        let back = self.crash(instance);
        self.healed_at = self.healed_at.max(back);
    }

    /// Keeps what a paused instance cannot do now; true if it was kept.
    pub(crate) fn stall(&mut self, entry: Entry) -> bool {
        // What the broker does by itself belongs to no process.
        let Some(process) = self.processes.get_mut(usize::from(entry.instance)) else {
            return false;
        };
        let stalls = process.paused_until.is_some() && entry.action.belongs_to_instance();
        if stalls {
            process.stalled.push(entry);
        }
        stalls
    }

    /// Keeps a ready task of a paused instance; true if it was kept.
    pub(crate) fn stall_task(&mut self, task: TaskKey) -> bool {
        let Some(instance) = self.tasks.instance(task) else {
            return false;
        };
        let process = &mut self.processes[usize::from(instance)];
        if process.paused_until.is_none() {
            return false;
        }
        process.stalled_tasks.push(task);
        self.tasks.unqueue(task);
        true
    }

    /// A pause is over (unless a longer one goes on); gives what had to wait, in order.
    pub(crate) fn resume(&mut self, instance: u8) -> Vec<Entry> {
        let paused = self.processes[usize::from(instance)].paused_until;
        if paused.is_none_or(|until| until > self.now) {
            return Vec::new();
        }
        // It has not beaten until now.
        self.keep_sessions();
        let process = &mut self.processes[usize::from(instance)];
        process.paused_until = None;
        for task in std::mem::take(&mut process.stalled_tasks) {
            self.tasks.wake(task);
        }
        std::mem::take(&mut process.stalled)
    }
}
