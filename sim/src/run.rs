//! One execution: from a set-up, a seed and a plan to a history and its verdicts.

use crate::Outcome;
use crate::Reached;
use crate::counts::Counts;
use crate::engine;
use crate::ports::Window;
use crate::rest;
use crate::rest_point::{Known, RestPoint, Watch};
use crate::setup::Setup;
use crate::stage::{self, Execution, Playing};
use crate::world::World;
use evidence::{Ended, Event, History, InstanceId, Planned, Rest, judge};
use scenarios::spec::Plan;
use scheduler::marks::Marks;
use scheduler::ports::Fut;
use scheduler::{Instance, topologies};
use std::sync::Arc;

/// Executes a scenario once.
///
/// The same set-up, seed and plan give the same outcome, on any thread, in any process, in debug
/// and in release.
pub fn run(setup: &Setup, seed: u64, plan: &Plan) -> Outcome {
    run_watched(setup, seed, plan, None).0
}

/// Executes a scenario once and tells what that took.
pub fn run_counted(setup: &Setup, seed: u64, plan: &Plan) -> (Outcome, Counts) {
    run_watched(setup, seed, plan, None)
}

/// Executes a scenario until the world rests, all faults over, in a state that is known; or to its
/// end. Where states cannot be read off the world ([`Setup::transparent`]), always to its end.
pub fn run_until(setup: &Setup, seed: u64, plan: &Plan, known: Known<'_>) -> Outcome {
    let judging = &setup.scenario.judge;
    let watch = Watch { known, judging };
    let watch = setup.transparent().is_ok().then_some(watch);
    run_watched(setup, seed, plan, watch).0
}

fn run_watched(
    setup: &Setup,
    seed: u64,
    plan: &Plan,
    watch: Option<Watch<'_>>,
) -> (Outcome, Counts) {
    let parts = setup.parts.any();
    // Whatever a part of somebody else's has left behind is left to itself.
    let spare = (!parts).then(stage::spare).flatten();
    let mut world = spare.unwrap_or_else(|| Box::new(World::new(setup.constants.clone())));
    world.begin(setup, seed, plan);
    let execution = world.execution;
    let playing = Playing::new(world);
    let start = |instance: u8| start_instance(setup, execution, instance);
    let (ended, cut) = engine::drive(&playing, parts, &start, watch);
    let found = playing.with(|world| Found::in_world(world, ended));
    let (found, left) = found.unwrap_or_default();
    // What they do as they are dropped is none of the execution any more.
    engine::bury(left);
    if let Some(world) = playing.ends()
        && !parts
    {
        stage::keep(world);
    }
    let Found {
        rest,
        planned,
        events,
        sites,
        took_effect,
        rest_points,
        marks,
        counts,
    } = found;
    let history = History {
        cast: setup.constants.cast.clone(),
        planned,
        events,
        rest,
    };
    let judgement = judge(&history, &setup.scenario.judge);
    let trace_hash = stage::with_buffer(|buffer| history.hash_with(buffer));
    let outcome = Outcome {
        history,
        judgement,
        sites,
        took_effect,
        marks,
        trace_hash,
        rest_points,
        cut,
    };
    (outcome, counts)
}

/// What an execution has come to.
#[derive(Default)]
struct Found {
    rest: Rest,
    planned: Arc<[Planned]>,
    events: Vec<Event>,
    sites: Vec<Reached>,
    took_effect: Vec<bool>,
    rest_points: Vec<RestPoint>,
    marks: Marks,
    counts: Counts,
}

impl Found {
    /// Takes it out of the world, and beside it the tasks that are left.
    fn in_world(world: &mut World, ended: Ended) -> (Found, Vec<Fut<'static, ()>>) {
        let left = world.tasks.drain();
        let rest = rest::rest(world, ended);
        let planned = rest::planned(world);
        let events = std::mem::take(&mut world.events);
        let (sites, took_effect) = world.injector.take_found();
        let found = Found {
            rest,
            planned,
            events,
            sites,
            took_effect,
            rest_points: std::mem::take(&mut world.rest_points),
            marks: std::mem::take(&mut world.marks),
            counts: Counts::of(world),
        };
        (found, left)
    }
}

fn start_instance(setup: &Setup, execution: Execution, place: u8) {
    let constants = &setup.constants;
    let incarnation = execution.with(|world| world.processes[usize::from(place)].incarnation);
    let incarnation = incarnation.unwrap_or_default();
    let window = Window {
        execution,
        instance: place,
        incarnation,
    };
    let ports = window.ports();
    #[cfg(feature = "weakened")]
    let ports = match setup.weakness {
        Some(weakness) => ports.weakened(weakness),
        None => ports,
    };
    let instance = Instance {
        name: constants.cast.instances[usize::from(place)].clone(),
        id: InstanceId(place),
        incarnation,
        identity: constants.conditions[usize::from(place)].identity.clone(),
        ports,
    };
    let instance = match &setup.observer {
        Some(observer) => observer.watch(&instance),
        None => instance,
    };
    let offset = constants.conditions[usize::from(place)].fire_offset.ms();
    let role = constants.roles[usize::from(place)];
    topologies::start(role, &instance, setup.blueprint_of(place), offset);
}
