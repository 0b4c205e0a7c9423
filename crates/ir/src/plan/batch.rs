//! Launch batching: groups independent launches into batches that run as one command.
//!
//! An optimizer step over many parameters launches the same kernel many times on different buffers. A batch pays the
//! launch overhead once, and its launches overlap: no thread idles at the tail of each launch.

use super::{BufferId, Step};
use rustc_hash::{FxBuildHasher, FxHashMap, FxHashSet};
use std::hash::BuildHasher;

/// Launches that move fewer bytes than this are batched even if their kernels differ, because launch overhead
/// dominates their cost.
const SMALL_LAUNCH_BYTES: u64 = 64 << 10;

/// The maximum number of launches in a batch.
const MAX_BATCH: usize = 64;

/// How many steps past the first launch of a batch are searched for more.
const LOOKAHEAD: usize = 256;

/// Reorders steps so that the launches of a batch are adjacent, and returns the steps with the size of each batch.
/// The order respects read-after-write and write-after-read hazards.
pub fn batch_launches(steps: Vec<Step>) -> (Vec<Step>, Vec<usize>) {
    let batches = form_batches(&steps);
    let mut steps: Vec<Option<Step>> = steps.into_iter().map(Some).collect();
    let sizes = batches.iter().map(Vec::len).collect();
    let order = batches.iter().flatten();
    let steps = order.map(|&step| steps[step].take().expect("each step is in one batch")).collect();
    (steps, sizes)
}

/// The steps of each batch, by index.
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
                // Batched or not, the step is a hazard for those after it.
                hazards.add(&steps[next]);
            }
        }
        batches.push(batch);
    }
    batches
}

/// Launches with equal keys can share a batch.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum BatchKey {
    Small,
    /// The same kernel, by hash. A collision is harmless: different kernels can share a batch too.
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

/// The buffers that a set of steps reads and writes.
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

    /// Whether a later step has no hazard with any of them, so that it may run before or beside them.
    fn may_pass(&self, step: &Step) -> bool {
        let operands = step.operands();
        !operands.iter().any(|id| self.written.contains(id))
            && !step.results().iter().any(|id| self.read.contains(id))
    }
}
