//! In which order a program walks its tile: the passes of a kernel.
//!
//! A reduction must have seen the whole tile before anything can use its result, so a kernel runs in
//! *stages*, and each stage in up to three passes: what is one value for the program, what is one value
//! for each column, what is one value for each point of the tile. A tile value that a later stage needs
//! again is computed again if that is cheap, and kept in scratch memory otherwise.

use super::{Kernel, Kind, Level, Value};

/// The order in which a program runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Schedule {
    /// The passes, in order.
    pub passes: Vec<Pass>,
    /// For each value, where its result is kept for later passes.
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

/// One walk over a part of the tile.
///
/// A `Program` pass runs its body once. A `Column` pass runs it for each point of the vector axis. A
/// `Tile` pass runs it for each point of the reduce axes and the vector axis, in row-major order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pass {
    /// What is walked.
    pub level: Level,
    /// The instructions, operands before users. An operand that is not in the body is in storage. A
    /// reduction in the body takes in its operand at each point; its result is there after the pass.
    pub body: Vec<Value>,
}

/// Where a value is kept from the pass that computes it to the ones that use it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Storage {
    /// Nowhere: each pass that uses it computes it.
    None,
    /// One element.
    Slot(usize),
    /// One element for each point of the vector axis.
    Column(usize),
    /// One element for each point of the tile.
    Tile(usize),
}

/// A tile value of at most this many instructions is computed again rather than kept.
const CHEAP: usize = 8;

/// The passes of a kernel. The kernel must be [verified](super::verify).
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
    // Effects first: what each stage must do. The values they need follow, last stage first, so that
    // a value is known to be wanted outside its own pass before that pass is closed.
    let mut wanted: Vec<[Vec<Value>; 3]> = vec![Default::default(); last + 1];
    for (value, instruction) in kernel.body.iter().enumerate() {
        let level = match instruction.kind {
            Kind::Store { .. } => scheduler.schedule.levels[value],
            kind if kind.is_reduction() => Level::Tile,
            _ => continue,
        };
        wanted[stages[value]][level as usize].push(value as Value);
    }
    for stage in (0..=last).rev() {
        for level in [Level::Tile, Level::Column, Level::Program] {
            let roots = wanted[stage][level as usize].clone();
            scheduler.demand(&roots, stage, level, &stages, &mut wanted);
        }
    }
    for stage in wanted.iter() {
        for level in [Level::Program, Level::Column, Level::Tile] {
            let roots = &stage[level as usize];
            if !roots.is_empty() {
                scheduler.close(level, roots);
            }
        }
    }
    scheduler.schedule
}

struct Scheduler<'a> {
    kernel: &'a Kernel,
    /// The pass that computed each value first.
    first_pass: Vec<Option<usize>>,
    schedule: Schedule,
}

impl Scheduler<'_> {
    /// Finds what a pass needs from outside, gives it storage, and asks the stage that computes it.
    fn demand(
        &mut self,
        roots: &[Value],
        stage: usize,
        level: Level,
        stages: &[usize],
        wanted: &mut [[Vec<Value>; 3]],
    ) {
        let mut seen = vec![false; self.kernel.body.len()];
        let mut stack: Vec<Value> = roots.to_vec();
        while let Some(user) = stack.pop() {
            for operand in self.kernel.body[user as usize].kind.operands() {
                if std::mem::replace(&mut seen[operand as usize], true) {
                    continue;
                }
                if self.kernel.body[operand as usize].kind.is_reduction() {
                    self.keep(operand);
                    continue;
                }
                let own_level = self.schedule.levels[operand as usize];
                let own_stage = stages[operand as usize];
                let here = own_level == level && own_stage == stage;
                if here || self.is_free(operand) || self.is_cheap_tile(operand, level) {
                    stack.push(operand);
                    continue;
                }
                self.keep(operand);
                let at = &mut wanted[own_stage][own_level as usize];
                if !at.contains(&operand) {
                    at.push(operand);
                }
            }
        }
    }

    /// Whether any pass may have this value for nothing: a constant, or a column that is in memory.
    fn is_free(&self, value: Value) -> bool {
        match self.kernel.body[value as usize].kind {
            Kind::Constant(_) | Kind::Scalar(_) => true,
            Kind::Load { index: None, mask: None, .. } => {
                self.schedule.levels[value as usize] == Level::Column
            }
            _ => false,
        }
    }

    /// Whether a tile value may be computed again: a few instructions on loads and kept values.
    fn is_cheap_tile(&self, value: Value, level: Level) -> bool {
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
            if count > CHEAP {
                return false;
            }
            stack.extend(kind.operands());
        }
        true
    }

    /// Gives a value a place of its level.
    fn keep(&mut self, value: Value) {
        let schedule = &mut self.schedule;
        let storage = &mut schedule.storage[value as usize];
        if *storage == Storage::None {
            let (list, place): (&mut Vec<Value>, fn(usize) -> Storage) =
                match schedule.levels[value as usize] {
                    Level::Program => (&mut schedule.slots, Storage::Slot),
                    Level::Column => (&mut schedule.columns, Storage::Column),
                    Level::Tile => (&mut schedule.tiles, Storage::Tile),
                };
            *storage = place(list.len());
            list.push(value);
        }
    }

    /// Lists the instructions of a pass: its roots and what they need that is not stored already.
    fn close(&mut self, level: Level, roots: &[Value]) {
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
