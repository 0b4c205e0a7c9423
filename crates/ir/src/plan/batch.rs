//! Launches that do not depend on each other run together, as one command.
//!
//! A step of an optimizer over many parameters is the same kernel again and again, each time on other buffers. One
//! command for all of them costs one start and one end, and no thread waits for the last part of each.

use super::{BufferId, Step};
use rustc_hash::{FxBuildHasher, FxHashMap, FxHashSet};
use std::hash::BuildHasher;

/// Launches that move less than this run together even if their kernels differ: starting them is what they cost.
const SMALL: u64 = 64 << 10;

/// The most launches in one command.
const MOST: usize = 64;

/// How far ahead launches are looked for.
const WINDOW: usize = 256;

/// Reorders steps so that those that run together are neighbours, and says how many each command takes. What a
/// step reads is still written before, and what it overwrites is still read before.
pub fn batch(steps: Vec<Step>) -> (Vec<Step>, Vec<usize>) {
    let chosen = choose(&steps);
    let mut steps: Vec<Option<Step>> = steps.into_iter().map(Some).collect();
    let sizes = chosen.iter().map(Vec::len).collect();
    let order = chosen.iter().flatten();
    let steps = order.map(|&step| steps[step].take().expect("each step once")).collect();
    (steps, sizes)
}

/// The steps of each command, by their positions.
fn choose(steps: &[Step]) -> Vec<Vec<usize>> {
    let mut alike: FxHashMap<Class, usize> = FxHashMap::default();
    let classes: Vec<Option<Class>> = steps.iter().map(class).collect();
    for class in classes.iter().flatten() {
        *alike.entry(*class).or_default() += 1;
    }
    let mut taken = vec![false; steps.len()];
    let mut commands = Vec::with_capacity(steps.len());
    for first in 0..steps.len() {
        if taken[first] {
            continue;
        }
        let mut command = vec![first];
        taken[first] = true;
        if let Some(class) = classes[first]
            && alike[&class] > 1
        {
            let mut passed = Touched::default();
            passed.add(&steps[first]);
            for next in first + 1..steps.len().min(first + WINDOW) {
                if taken[next] {
                    continue;
                }
                if classes[next] == Some(class)
                    && command.len() < MOST
                    && passed.lets_by(&steps[next])
                {
                    taken[next] = true;
                    command.push(next);
                }
                // Whether it goes along or stays behind, those after it must not get in its way.
                passed.add(&steps[next]);
            }
        }
        commands.push(command);
    }
    commands
}

/// Launches of one class may run together.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Class {
    Small,
    /// A kernel, by its hash: if two have the same, they run together all the same.
    Kernel(u64),
}

fn class(step: &Step) -> Option<Class> {
    let Step::Launch(launch) = step else { return None };
    let work = &launch.work;
    Some(match work.bytes_read + work.bytes_written < SMALL {
        true => Class::Small,
        false => Class::Kernel(FxBuildHasher.hash_one(&launch.kernel)),
    })
}

/// What some steps read and write.
#[derive(Default)]
struct Touched {
    read: FxHashSet<BufferId>,
    written: FxHashSet<BufferId>,
}

impl Touched {
    fn add(&mut self, step: &Step) {
        self.read.extend(step.operands());
        self.written.extend(step.results());
    }

    /// Whether a later step may run before all of them, or beside them.
    fn lets_by(&self, step: &Step) -> bool {
        let operands = step.operands();
        !operands.iter().any(|id| self.written.contains(id))
            && !step.results().iter().any(|id| self.read.contains(id))
    }
}
