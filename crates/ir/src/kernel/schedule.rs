//! Pass scheduling: the order in which a program iterates over its tile.
//!
//! A reduction must have consumed the whole tile before its result can be used, so a kernel runs in *stages*, each
//! in up to three passes: values of the program level, of the column level, and of the tile level. A tile value
//! that a later stage needs again is rematerialized if that is cheap, and spilled to scratch memory otherwise.

use super::{Kernel, Kind, Level, Value};

/// The passes of a program and the storage of values between them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Schedule {
    /// The passes, in execution order.
    pub passes: Vec<Pass>,
    /// For each value, where its result is stored for later passes.
    pub storage: Vec<Storage>,
    /// The values with [`Storage::Slot`], by slot.
    pub slots: Vec<Value>,
    /// The values with [`Storage::Column`], by column array.
    pub columns: Vec<Value>,
    /// The values with [`Storage::Tile`], by tile array.
    pub tiles: Vec<Value>,
    /// The level of each value, as [`Kernel::levels`] gives it.
    pub levels: Vec<Level>,
}

/// One loop over a part of the tile.
///
/// A `Program` pass runs its body once. A `Column` pass runs it for each point of the vector axis. A
/// `Tile` pass runs it for each point of the reduce axes and the vector axis, in row-major order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pass {
    /// The part of the tile that the pass iterates over.
    pub level: Level,
    /// The instructions, operands before users. An operand that is not in the body is in storage. A reduction in
    /// the body accumulates its operand at each point; its result is available after the pass.
    pub body: Vec<Value>,
}

/// Storage of a value between the pass that computes it and the passes that use it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Storage {
    /// Not stored: every pass that uses it computes it.
    None,
    /// One element.
    Slot(usize),
    /// One element for each point of the vector axis.
    Column(usize),
    /// One element for each point of the tile.
    Tile(usize),
}

/// Rematerialization limit: a tile value of at most this many instructions is recomputed instead of stored.
const REMATERIALIZE_LIMIT: usize = 8;

/// Schedules the passes of a [verified](super::verify) kernel.
pub fn schedule(kernel: &Kernel) -> Schedule {
    let levels = kernel.levels();
    let stages = kernel.stages();
    let last = stages.iter().copied().max().unwrap_or(0);
    let mut scheduler = Scheduler {
        kernel,
        first_pass: vec![None; kernel.body.len()],
        schedule: Schedule {
            passes: Vec::new(),
            storage: vec![Storage::None; kernel.body.len()],
            slots: Vec::new(),
            columns: Vec::new(),
            tiles: Vec::new(),
            levels,
        },
    };
    // Start from the roots (stores and reductions) of each stage. Collect the values they need, last stage first,
    // so that all uses of a value outside its own pass are known before that pass is emitted.
    let mut roots_by_pass: Vec<[Vec<Value>; 3]> = vec![Default::default(); last + 1];
    for (value, instruction) in kernel.body.iter().enumerate() {
        let level = match instruction.kind {
            Kind::Store { .. } => scheduler.schedule.levels[value],
            kind if kind.is_reduction() => Level::Tile,
            _ => continue,
        };
        roots_by_pass[stages[value]][level as usize].push(value as Value);
    }
    for stage in (0..=last).rev() {
        for level in [Level::Tile, Level::Column, Level::Program] {
            let roots = roots_by_pass[stage][level as usize].clone();
            scheduler.collect_dependencies(&roots, stage, level, &stages, &mut roots_by_pass);
        }
    }
    for stage in roots_by_pass.iter() {
        for level in [Level::Program, Level::Column, Level::Tile] {
            let roots = &stage[level as usize];
            if !roots.is_empty() {
                scheduler.emit_pass(level, roots);
            }
        }
    }
    scheduler.schedule
}

struct Scheduler<'a> {
    kernel: &'a Kernel,
    /// The first pass that computes each value.
    first_pass: Vec<Option<usize>>,
    schedule: Schedule,
}

impl Scheduler<'_> {
    /// Finds the values that a pass needs from other passes, assigns them storage, and adds them to the roots of
    /// the pass that computes them.
    fn collect_dependencies(
        &mut self,
        roots: &[Value],
        stage: usize,
        level: Level,
        stages: &[usize],
        roots_by_pass: &mut [[Vec<Value>; 3]],
    ) {
        let mut seen = vec![false; self.kernel.body.len()];
        let mut stack: Vec<Value> = roots.to_vec();
        while let Some(user) = stack.pop() {
            for operand in self.kernel.body[user as usize].kind.operands() {
                if std::mem::replace(&mut seen[operand as usize], true) {
                    continue;
                }
                if self.kernel.body[operand as usize].kind.is_reduction() {
                    self.assign_storage(operand);
                    continue;
                }
                let own_level = self.schedule.levels[operand as usize];
                let own_stage = stages[operand as usize];
                let same_pass = own_level == level && own_stage == stage;
                if same_pass
                    || self.is_free_to_rematerialize(operand)
                    || self.is_cheap_to_rematerialize(operand, level)
                {
                    stack.push(operand);
                    continue;
                }
                self.assign_storage(operand);
                let at = &mut roots_by_pass[own_stage][own_level as usize];
                if !at.contains(&operand) {
                    at.push(operand);
                }
            }
        }
    }

    /// Whether a value is free to rematerialize in any pass: a constant, a scalar, or a column in memory.
    fn is_free_to_rematerialize(&self, value: Value) -> bool {
        match self.kernel.body[value as usize].kind {
            Kind::Constant(_) | Kind::Scalar(_) => true,
            Kind::Load { index: None, mask: None, .. } => {
                self.schedule.levels[value as usize] == Level::Column
            }
            _ => false,
        }
    }

    /// Whether a tile value is cheap to rematerialize: few instructions on loads and stored values.
    fn is_cheap_to_rematerialize(&self, value: Value, level: Level) -> bool {
        if level != Level::Tile || self.schedule.levels[value as usize] != Level::Tile {
            return false;
        }
        let mut count = 0;
        let mut stack = vec![value];
        while let Some(value) = stack.pop() {
            let kind = self.kernel.body[value as usize].kind;
            if self.schedule.levels[value as usize] != Level::Tile {
                continue;
            }
            if matches!(kind, Kind::Scan(..)) {
                return false;
            }
            count += 1;
            if count > REMATERIALIZE_LIMIT {
                return false;
            }
            stack.extend(kind.operands());
        }
        true
    }

    /// Assigns a value storage of its level.
    fn assign_storage(&mut self, value: Value) {
        let schedule = &mut self.schedule;
        let storage = &mut schedule.storage[value as usize];
        if *storage == Storage::None {
            let (list, storage_of): (&mut Vec<Value>, fn(usize) -> Storage) =
                match schedule.levels[value as usize] {
                    Level::Program => (&mut schedule.slots, Storage::Slot),
                    Level::Column => (&mut schedule.columns, Storage::Column),
                    Level::Tile => (&mut schedule.tiles, Storage::Tile),
                };
            *storage = storage_of(list.len());
            list.push(value);
        }
    }

    /// Emits a pass: its roots and their dependencies that are not in storage.
    fn emit_pass(&mut self, level: Level, roots: &[Value]) {
        let pass = self.schedule.passes.len();
        let mut included = vec![false; self.kernel.body.len()];
        let mut stack = roots.to_vec();
        while let Some(value) = stack.pop() {
            let index = value as usize;
            let stored = self.schedule.storage[index] != Storage::None;
            if included[index]
                || (stored && self.first_pass[index].is_some_and(|first| first < pass))
            {
                continue;
            }
            included[index] = true;
            self.first_pass[index].get_or_insert(pass);
            stack.extend(self.kernel.body[index].kind.operands());
        }
        let body = (0..included.len() as Value).filter(|&value| included[value as usize]).collect();
        self.schedule.passes.push(Pass { level, body });
    }
}
