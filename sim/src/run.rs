//! One execution: from a set-up, a seed and a plan to a history and its verdicts.

use crate::Outcome;
use crate::engine::{self, Shared};
use crate::injector::Injector;
use crate::ports::Window;
use crate::rest;
use crate::servers::broker::Broker;
use crate::servers::database::Database;
use crate::servers::downstream::DownstreamModel;
use crate::servers::lock::Locks;
use crate::setup::Setup;
use crate::tasks::{ForeignWakes, Tasks};
use crate::world::World;
use evidence::{History, InstanceId, judge};
use scenarios::spec::Plan;
use scheduler::{Instance, topologies};
use std::sync::Arc;

/// Executes a scenario once.
///
/// The same set-up, seed and plan give the same outcome, on any thread, in any process, in debug
/// and in release.
pub fn run(setup: &Setup, seed: u64, plan: &Plan) -> Outcome {
    let shared = Shared::new(World::new(setup, seed, plan));
    let start = |instance: u8| start_instance(setup, &shared, instance);
    let ended = engine::drive(&shared, &start);
    let (left, mut world) = {
        let mut world = shared.lock();
        let left = world.tasks.drain();
        (left, world)
    };
    let rest = rest::rest(&mut world, ended);
    let planned = rest::planned(&world);
    let events = std::mem::take(&mut world.events);
    let injector = std::mem::replace(&mut world.injector, Injector::new(&Plan::empty()));
    drop(world);
    engine::bury(left);
    let (sites, took_effect) = injector.into_parts();
    let history = History {
        cast: setup.constants.cast.clone(),
        planned,
        events,
        rest,
    };
    let judgement = judge(&history, &setup.scenario.judge);
    let trace_hash = history.hash();
    Outcome {
        history,
        judgement,
        sites,
        took_effect,
        trace_hash,
    }
}

fn start_instance(setup: &Setup, shared: &Shared, place: u8) {
    let constants = &setup.constants;
    let incarnation = shared.lock().processes[usize::from(place)].incarnation;
    let window = Window {
        shared: shared.clone(),
        instance: place,
        incarnation,
    };
    let instance = Instance {
        name: constants.cast.instances[usize::from(place)].clone(),
        id: InstanceId(place),
        incarnation,
        ports: window.ports(),
    };
    let offset = constants.conditions[usize::from(place)].fire_offset.ms();
    if constants.local {
        topologies::start_local(&instance, &setup.blueprint, offset);
    } else if place < constants.firing {
        topologies::start_scheduler(&instance, &setup.blueprint, offset);
    } else {
        topologies::start_executor(&instance, &setup.blueprint);
    }
}

impl World {
    fn new(setup: &Setup, seed: u64, plan: &Plan) -> Self {
        let constants = setup.constants.clone();
        let scenario = &setup.scenario;
        let outside = setup.parts.downstream.as_ref().map(|make| make());
        let downstream =
            DownstreamModel::new(constants.retention, scenario.downstream.in_flight, outside);
        let tasks = Tasks::new(Arc::new(ForeignWakes::default()));
        World::at_rest(
            constants,
            seed,
            tasks,
            Injector::new(plan),
            Database::default(),
            Broker::new(&scenario.broker),
            Locks::default(),
            downstream,
        )
    }
}
