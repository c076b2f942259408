//! Every order in which a server may race.
//!
//! A plain vector came out the same each time that it was recorded: the model must agree in every
//! order. A race has several recorded outcomes: each must come out in some order, and no order may
//! come to anything else.

use super::plan::{Course, Plan};
use super::run::{Difference, run};
use crate::report::Outcome;
use servers::{Choice, Script};
use std::cell::RefCell;
use std::rc::Rc;

/// More orders than any vector has; beyond it the model, not the vector, is at fault.
const MOST_ORDERS: usize = 20_000;

/// One order: what was chosen, and what came out.
struct Order {
    chosen: Vec<usize>,
    result: Result<(), Difference>,
}

/// Whether the model does what was recorded.
pub fn outcome(plan: &Plan) -> Outcome {
    let walks: Result<Vec<Vec<Order>>, Difference> = plan
        .courses
        .iter()
        .map(|course| walk(plan, course))
        .collect();
    let walks = match walks {
        Ok(walks) => walks,
        Err(difference) => return disagreed(difference),
    };
    match walks.as_slice() {
        [only] => plain(only),
        several => race(several),
    }
}

/// Whether the model can do what was seen once, in some order.
#[cfg(feature = "live")]
pub fn possible(plan: &Plan) -> Outcome {
    let mut furthest: Option<Difference> = None;
    for course in &plan.courses {
        let orders = match walk(plan, course) {
            Ok(orders) => orders,
            Err(difference) => return disagreed(difference),
        };
        for order in orders {
            match (order.result, &furthest) {
                (Ok(()), _) => return Outcome::Agreed,
                (Err(new), Some(old)) if new.step <= old.step => {}
                (Err(new), _) => furthest = Some(new),
            }
        }
    }
    furthest.map_or(Outcome::Agreed, disagreed)
}

fn plain(orders: &[Order]) -> Outcome {
    let wrong = orders.iter().find_map(|order| order.result.as_ref().err());
    let Some(difference) = wrong else {
        return Outcome::Agreed;
    };
    let agree = orders.iter().filter(|order| order.result.is_ok()).count();
    let mut difference = difference.clone();
    if agree > 0 {
        let rest = format!(" (in {agree} of {} orders it agrees)", orders.len());
        difference.why.push_str(&rest);
    }
    disagreed(difference)
}

fn race(walks: &[Vec<Order>]) -> Outcome {
    for (number, orders) in walks.iter().enumerate() {
        if orders.iter().all(|order| order.result.is_err()) {
            // The order that came furthest tells most.
            let furthest = orders
                .iter()
                .filter_map(|order| order.result.as_ref().err());
            let Some(furthest) = furthest.max_by_key(|difference| difference.step) else {
                continue;
            };
            let mut difference = furthest.clone();
            let number = number + 1;
            difference.why = format!("outcome {number} does not come out: {}", difference.why);
            return disagreed(difference);
        }
    }
    // An order that leaves one outcome has to lead to another: what was chosen until then is the
    // beginning of an order that agrees with that one.
    for (at, orders) in walks.iter().enumerate() {
        for order in orders {
            let Err(difference) = &order.result else {
                continue;
            };
            let explained = walks
                .iter()
                .enumerate()
                .filter(|(other, _)| *other != at)
                .flat_map(|(_, others)| others)
                .any(|other| {
                    other.result.is_ok()
                        && (other.chosen.starts_with(&order.chosen)
                            || order.chosen.starts_with(&other.chosen))
                });
            if !explained {
                let mut difference = difference.clone();
                difference.why = format!("comes to what was not recorded: {}", difference.why);
                return disagreed(difference);
            }
        }
    }
    Outcome::Agreed
}

fn disagreed(Difference { step, why }: Difference) -> Outcome {
    Outcome::Disagreed { step, why }
}

/// Runs a course in every order.
fn walk(plan: &Plan, course: &Course) -> Result<Vec<Order>, Difference> {
    let mut orders = Vec::new();
    let mut next = Some(Script::default());
    while let Some(script) = next {
        if orders.len() == MOST_ORDERS {
            return Err(Difference {
                step: 0,
                why: format!("the model has more than {MOST_ORDERS} orders"),
            });
        }
        let told = Rc::new(RefCell::new(Told {
            script,
            chosen: Vec::new(),
        }));
        let result = run(plan, course, Box::new(Shared(Rc::clone(&told))));
        let told = told.take();
        orders.push(Order {
            chosen: told.chosen,
            result,
        });
        next = told.script.next();
    }
    Ok(orders)
}

/// A script, and what it chose.
#[derive(Default)]
struct Told {
    script: Script,
    chosen: Vec<usize>,
}

/// The model has it for as long as it runs; it is looked at afterwards.
struct Shared(Rc<RefCell<Told>>);

impl Choice for Shared {
    fn choose(&mut self, options: usize) -> usize {
        let mut told = self.0.borrow_mut();
        let choice = told.script.choose(options);
        told.chosen.push(choice);
        choice
    }
}
