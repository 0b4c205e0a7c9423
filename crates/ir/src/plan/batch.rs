//! Launches that do not depend on each other run together, as one command.
//!
//! A step of an optimizer over many parameters is the same kernel again and again, each time on other buffers. One
//! command for all of them costs one start and one end, and no thread waits for the last part of each.

use super::{BufferId, Step};
use rustc_hash::{FxBuildHasher, FxHashMap, FxHashSet};
use std::hash::BuildHasher;

/// Launches that move less than this run together even if their kernels differ: starting them is what they cost.
const SMALL_LAUNCH_BYTES: u64 = 64 << 10;

/// The most launches in one command.
const MAX_BATCH: usize = 64;

/// How far ahead launches are looked for.
const LOOKAHEAD: usize = 256;

/// Reorders steps so that those that run together are neighbours, and says how many each command takes. What a
/// step reads is still written before, and what it overwrites is still read before.
pub fn batch_launches(steps: Vec<Step>) -> (Vec<Step>, Vec<usize>) {
    let batches = form_batches(&steps);
    let mut steps: Vec<Option<Step>> = steps.into_iter().map(Some).collect();
    let sizes = batches.iter().map(Vec::len).collect();
    let order = batches.iter().flatten();
    let steps = order.map(|&step| steps[step].take().expect("each step once")).collect();
    (steps, sizes)
}

/// The steps of each command, by their positions.
fn form_batches(steps: &[Step]) -> Vec<Vec<usize>> {
    let mut key_counts: FxHashMap<BatchKey, usize> = FxHashMap::default();
    let batch_keys: Vec<Option<BatchKey>> = steps.iter().map(batch_key).collect();
    for batch_key in batch_keys.iter().flatten() {
        *key_counts.entry(*batch_key).or_default() += 1;
    }
    let mut batched = vec![false; steps.len()];
    let mut batches = Vec::with_capacity(steps.len());
    for first in 0..steps.len() {
        if batched[first] {
            continue;
        }
        let mut batch = vec![first];
        batched[first] = true;
        if let Some(batch_key) = batch_keys[first]
            && key_counts[&batch_key] > 1
        {
            let mut hazards = HazardSet::default();
            hazards.add(&steps[first]);
            for next in first + 1..steps.len().min(first + LOOKAHEAD) {
                if batched[next] {
                    continue;
                }
                if batch_keys[next] == Some(batch_key)
                    && batch.len() < MAX_BATCH
                    && hazards.may_pass(&steps[next])
                {
                    batched[next] = true;
                    batch.push(next);
                }
                // Whether it goes along or stays behind, those after it must not get in its way.
                hazards.add(&steps[next]);
            }
        }
        batches.push(batch);
    }
    batches
}

/// Launches of one class may run together.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum BatchKey {
    Small,
    /// A kernel, by its hash: if two have the same, they run together all the same.
    Kernel(u64),
}

fn batch_key(step: &Step) -> Option<BatchKey> {
    let Step::Launch(launch) = step else { return None };
    let work = &launch.work;
    Some(match work.bytes_read + work.bytes_written < SMALL_LAUNCH_BYTES {
        true => BatchKey::Small,
        false => BatchKey::Kernel(FxBuildHasher.hash_one(&launch.kernel)),
    })
}

/// What some steps read and write.
#[derive(Default)]
struct HazardSet {
    read: FxHashSet<BufferId>,
    written: FxHashSet<BufferId>,
}

impl HazardSet {
    fn add(&mut self, step: &Step) {
        self.read.extend(step.operands());
        self.written.extend(step.results());
    }

    /// Whether a later step may run before all of them, or beside them.
    fn may_pass(&self, step: &Step) -> bool {
        let operands = step.operands();
        !operands.iter().any(|id| self.written.contains(id))
            && !step.results().iter().any(|id| self.read.contains(id))
    }
}
