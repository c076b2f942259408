//! The tasks of all instances, and the wakers that foreign futures get.
//!
//! The simulator's own futures never clone a waker: they name the task that is being polled. A
//! clone that is still alive after a poll therefore belongs to somebody else's timer or channel,
//! and tells the engine that it may not skip ahead. A task gets a fresh waker for its next poll
//! then, so that what an abandoned timer still holds (of a future that lost a race) is told apart
//! from what is waited for: only the waker of the last poll has to be woken.

use scheduler::ports::Fut;
use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Wake, Waker};

/// A task, and which of the tasks that have had its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TaskKey {
    place: u32,
    generation: u32,
}

/// Wakes that came from outside the simulator's own futures.
#[derive(Default)]
pub(crate) struct ForeignWakes {
    any: AtomicBool,
    woken: Mutex<Vec<TaskKey>>,
    /// Wakes the engine, when it is asleep in the foreign runtime.
    engine: Mutex<Option<Waker>>,
}

impl ForeignWakes {
    /// Takes the woken tasks.
    fn take(&self) -> Vec<TaskKey> {
        // Looked at first: this is asked after every poll, and hardly ever true.
        if !self.any() || !self.any.swap(false, Ordering::Relaxed) {
            return Vec::new();
        }
        std::mem::take(&mut *self.woken())
    }

    fn woken(&self) -> MutexGuard<'_, Vec<TaskKey>> {
        self.woken.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether any task was woken.
    pub(crate) fn any(&self) -> bool {
        self.any.load(Ordering::Relaxed)
    }

    /// Whether a task was woken during its own poll (a yield); the wake is taken.
    pub(crate) fn take_yield(&self, key: TaskKey) -> bool {
        self.any() && {
            let mut woken = self.woken();
            let before = woken.len();
            woken.retain(|other| *other != key);
            woken.len() != before
        }
    }

    /// The engine sleeps in the foreign runtime and is to be woken through this.
    pub(crate) fn engine_sleeps(&self, waker: &Waker) {
        *self.engine.lock().unwrap_or_else(PoisonError::into_inner) = Some(waker.clone());
    }
}

struct TaskWaker {
    key: TaskKey,
    foreign: Arc<ForeignWakes>,
}

impl Wake for TaskWaker {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        let foreign = &self.foreign;
        foreign.woken().push(self.key);
        foreign.any.store(true, Ordering::Relaxed);
        let engine = foreign
            .engine
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
        if let Some(engine) = engine {
            engine.wake();
        }
    }
}

struct Task {
    key: TaskKey,
    future: Option<Fut<'static, ()>>,
    instance: u8,
    queued: bool,
    ended: bool,
}

/// The waker of the task at a place: made once, and lent to each poll.
struct Lent {
    shared: Arc<TaskWaker>,
    /// The same, as futures get it; `None` while the task is being polled.
    waker: Option<Waker>,
}

impl Lent {
    fn new(key: TaskKey, foreign: &Arc<ForeignWakes>) -> Self {
        let shared = Arc::new(TaskWaker {
            key,
            foreign: foreign.clone(),
        });
        let waker = Some(Waker::from(shared.clone()));
        Lent { shared, waker }
    }

    /// Whether somebody else holds it: a foreign timer or channel.
    fn is_cloned(&self) -> bool {
        Arc::strong_count(&self.shared) > 2
    }
}

/// A task taken out to be polled.
pub(crate) struct Taken {
    pub(crate) key: TaskKey,
    pub(crate) future: Fut<'static, ()>,
    pub(crate) waker: Waker,
}

/// All tasks of one execution.
pub(crate) struct Tasks {
    tasks: Vec<Task>,
    /// By place; kept from one execution of a thread to the next.
    wakers: Vec<Lent>,
    ready: VecDeque<TaskKey>,
    foreign: Arc<ForeignWakes>,
    /// Tasks of which a foreign clone of the waker was alive after a poll.
    suspects: Vec<u32>,
    /// The task that is being polled.
    pub(crate) current: Option<TaskKey>,
    /// Address of the waker with which it is polled.
    current_waker: usize,
    /// Wakers of futures inside a task that somebody else polls (such as a set of futures).
    inner: Vec<(TaskKey, Waker)>,
    /// Futures of killed tasks, to be dropped when nothing is locked.
    pub(crate) graveyard: Vec<Fut<'static, ()>>,
}

impl Tasks {
    pub(crate) fn new() -> Self {
        Tasks {
            tasks: Vec::with_capacity(16),
            wakers: Vec::with_capacity(16),
            ready: VecDeque::with_capacity(16),
            foreign: Arc::default(),
            suspects: Vec::new(),
            current: None,
            current_waker: 0,
            inner: Vec::new(),
            graveyard: Vec::new(),
        }
    }

    /// No tasks, as [`Tasks::new`] but for what is allocated.
    pub(crate) fn clear(&mut self) {
        self.tasks.clear();
        self.ready.clear();
        self.suspects.clear();
        self.inner.clear();
        self.current = None;
        self.current_waker = 0;
        if self.wakers.iter().any(Lent::is_cloned) {
            // What is still out there may wake whomever it likes, but nobody of the next execution.
            self.wakers.clear();
            self.foreign = Arc::default();
        }
    }

    /// Adds a task; it is ready at once.
    pub(crate) fn spawn(&mut self, instance: u8, future: Fut<'static, ()>) {
        let place = u32::try_from(self.tasks.len()).unwrap_or(u32::MAX);
        let key = TaskKey {
            place,
            generation: 0,
        };
        if self.wakers.len() == self.tasks.len() {
            self.wakers.push(Lent::new(key, &self.foreign));
        }
        self.tasks.push(Task {
            key,
            future: Some(future),
            instance,
            queued: true,
            ended: false,
        });
        self.ready.push_back(key);
    }

    /// A future of the simulator waits inside the task that is being polled. Its own waker is
    /// kept only where it is not the task's: then waking the task alone would not poll the future.
    pub(crate) fn wait(&mut self, waker: &Waker) {
        if waker.data().addr() == self.current_waker {
            return;
        }
        if let Some(current) = self.current {
            self.inner.push((current, waker.clone()));
        }
    }

    /// Marks a task as ready.
    pub(crate) fn wake(&mut self, key: TaskKey) {
        if !self.inner.is_empty() {
            let mut left = Vec::new();
            for (task, waker) in self.inner.drain(..) {
                if task == key {
                    waker.wake();
                } else {
                    left.push((task, waker));
                }
            }
            self.inner = left;
        }
        if let Some(task) = self.get(key)
            && !task.queued
        {
            task.queued = true;
            self.ready.push_back(key);
        }
    }

    /// The instance of a task that is still alive.
    pub(crate) fn instance(&mut self, key: TaskKey) -> Option<u8> {
        self.get(key).map(|task| task.instance)
    }

    fn get(&mut self, key: TaskKey) -> Option<&mut Task> {
        let task = self.tasks.get_mut(key.place as usize)?;
        (!task.ended && task.key == key).then_some(task)
    }

    /// The next ready task.
    pub(crate) fn next_ready(&mut self) -> Option<TaskKey> {
        self.ready.pop_front()
    }

    /// Puts a ready task aside: its instance stands still.
    pub(crate) fn unqueue(&mut self, key: TaskKey) {
        if let Some(task) = self.get(key) {
            task.queued = false;
        }
    }

    /// Takes a task out, to be polled.
    pub(crate) fn take(&mut self, key: TaskKey) -> Option<Taken> {
        let place = key.place as usize;
        let task = self.get(key)?;
        task.queued = false;
        let future = task.future.take()?;
        let lent = self.wakers.get_mut(place)?;
        if lent.is_cloned() {
            *lent = Lent::new(key, &self.foreign);
        }
        let waker = lent.waker.take()?;
        self.current_waker = waker.data().addr();
        self.current = Some(key);
        Some(Taken { key, future, waker })
    }

    /// Puts a polled task back, or ends it; gives the future back if the task was killed
    /// meanwhile or has ended.
    pub(crate) fn put_back(&mut self, taken: Taken, ended: bool) -> Option<Fut<'static, ()>> {
        self.current = None;
        let Taken { key, future, waker } = taken;
        let mut cloned = false;
        if let Some(lent) = self.wakers.get_mut(key.place as usize) {
            lent.waker = Some(waker);
            cloned = lent.is_cloned();
        }
        let Some(task) = self.get(key) else {
            return Some(future);
        };
        if ended {
            task.ended = true;
            return Some(future);
        }
        task.future = Some(future);
        if cloned && !self.suspects.contains(&key.place) {
            self.suspects.push(key.place);
        }
        None
    }

    /// Marks as ready what foreign futures have woken; true if there was any.
    pub(crate) fn wake_foreign(&mut self) -> bool {
        let woken = self.foreign.take();
        for key in &woken {
            self.wake(*key);
        }
        !woken.is_empty()
    }

    /// The wakes that come from outside.
    pub(crate) fn foreign(&self) -> Arc<ForeignWakes> {
        self.foreign.clone()
    }

    /// Whether anybody else holds a waker of ours: a foreign timer or channel.
    pub(crate) fn foreign_waiters(&mut self) -> bool {
        if self.suspects.is_empty() {
            return false;
        }
        let (tasks, wakers) = (&self.tasks, &self.wakers);
        self.suspects.retain(|place| {
            let place = *place as usize;
            !tasks[place].ended && wakers[place].is_cloned()
        });
        !self.suspects.is_empty()
    }

    /// Kills all tasks of an instance.
    pub(crate) fn kill(&mut self, instance: u8) {
        for task in &mut self.tasks {
            if task.instance == instance && !task.ended {
                task.ended = true;
                self.graveyard.extend(task.future.take());
            }
        }
    }

    /// Whether a task has neither ended nor been killed.
    pub(crate) fn is_alive(&self, key: TaskKey) -> bool {
        self.tasks
            .get(key.place as usize)
            .is_some_and(|task| !task.ended && task.key == key)
    }

    /// How many tasks are alive in all instances.
    pub(crate) fn alive_in_all(&self) -> usize {
        self.tasks.iter().filter(|task| !task.ended).count()
    }

    /// How many live tasks of its instance were started before this one.
    pub(crate) fn place_among_alive(&self, key: TaskKey) -> u64 {
        let place = key.place as usize;
        let instance = self.tasks.get(place).map(|task| task.instance);
        let before = self.tasks.iter().take(place);
        before
            .filter(|task| !task.ended && Some(task.instance) == instance)
            .count() as u64
    }

    /// How many tasks of an instance are alive.
    pub(crate) fn alive(&self, instance: u8) -> usize {
        self.tasks
            .iter()
            .filter(|task| task.instance == instance && !task.ended)
            .count()
    }

    /// Everything that is left, to be dropped when nothing is locked.
    pub(crate) fn drain(&mut self) -> Vec<Fut<'static, ()>> {
        let mut left = std::mem::take(&mut self.graveyard);
        left.extend(self.tasks.iter_mut().filter_map(|task| task.future.take()));
        left
    }
}
