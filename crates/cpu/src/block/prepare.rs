//! From a kernel to the steps that run it: which function, on which memory.
//!
//! Memory is named by an [`Entry`] of a table of addresses. Most entries are fixed when a run begins;
//! those of loads that are used in place and of tiles that are kept move along with the walk.

use super::apply::{self, Function};
use super::cast::cast;
use super::fold::{LANES_BYTES, Moves, arg_folds, folds, moves};
use super::memory::{self, LoadFunction, StoreFunction};
use super::table;
use inflight_ir::elementwise::{ArgOp, CombineOp};
use inflight_ir::kernel::{
    AccessId, Kernel, Kind, Level, Schedule, Storage, Stride, Value, VectorAxis,
};
use inflight_ir::{BinaryOp, DType, Scalar};

/// A position in the table of addresses.
pub type Entry = u32;

/// Where the address of an [`Entry`] comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Location {
    /// Room for one element of any dtype.
    Cell,
    /// Room for the lanes of a reduction.
    Lanes,
    /// Room for a block of elements of this many bytes.
    Block(usize),
    /// The same, seldom touched.
    Spare(usize),
    /// Set while walking.
    Moving,
}

/// A value as an operand: one element for each point of a block, or one for all.
#[derive(Clone, Copy)]
pub struct Source {
    /// Where.
    pub entry: Entry,
    /// Whether there is one for all.
    pub splat: bool,
}

/// What runs for each block of a pass. `once`: on one element instead of the block's.
pub enum Step {
    /// An elementwise instruction. `whole`: on whole vectors, of which the last may hold elements that
    /// are nobody's; they are computed faster than none.
    Apply { function: Function, target: Entry, sources: [Source; 3], once: bool, whole: bool },
    /// A load that is used in place.
    Point { target: Entry, access: AccessId },
    /// Any other load.
    Load {
        function: LoadFunction,
        target: Entry,
        access: AccessId,
        index: Option<(Source, bool)>,
        mask: Option<Source>,
        once: bool,
    },
    /// The value of an access map, as `i64` if `long` and as `i32` otherwise.
    Position { long: bool, target: Entry, access: AccessId, once: bool },
    /// A store.
    Store {
        function: StoreFunction,
        access: AccessId,
        value: Source,
        index: Option<(Source, bool)>,
        mask: Option<Source>,
    },
    /// A reduction or scan takes in a block.
    Fold { function: Function, target: Entry, state: Entry, source: Entry },
}

/// Sets what a fold carries to where it begins.
pub struct Begin {
    /// Repeats an element.
    pub fill: Function,
    /// What is set.
    pub target: Entry,
    /// The identity.
    pub identity: Entry,
    /// How many elements; as many as the block has if `None`.
    pub count: Option<usize>,
}

/// Folds the lanes of a reduction together.
pub struct Finish {
    /// Does it.
    pub function: Function,
    /// The result.
    pub target: Entry,
    /// The lanes.
    pub lanes: Entry,
}

/// Keeps a long sum accurate.
pub struct Correction {
    /// How.
    pub moves: Moves,
    /// The running sums.
    pub running: Entry,
    /// What they are moved into.
    pub total: Entry,
    /// What the totals lost.
    pub lost: Entry,
    /// How many elements; as many as the block has if `None`.
    pub count: Option<usize>,
}

/// A tile array, and the entry that follows the walk over it.
pub struct TileEntry {
    /// Follows the walk.
    pub entry: Entry,
    /// Which of [`Prepared::tiles`].
    pub tile: usize,
    /// Bytes of an element.
    pub size: usize,
}

/// One pass of the schedule.
pub struct PreparedPass {
    /// What is walked.
    pub level: Level,
    /// Before the walk.
    pub begin: Vec<Begin>,
    /// At each block.
    pub steps: Vec<Step>,
    /// At times during the walk, and after it.
    pub corrections: Vec<Correction>,
    /// After the walk.
    pub finish: Vec<Finish>,
    /// The accesses that the steps use.
    pub accesses: Vec<AccessId>,
    /// The tile arrays that the steps use.
    pub tiles: Vec<TileEntry>,
}

/// Everything about a kernel that does not depend on a launch.
pub struct Prepared {
    /// In order.
    pub passes: Vec<PreparedPass>,
    /// What each entry of the table is.
    pub locations: Vec<Location>,
    /// Cells with a value that is known already.
    pub constants: Vec<(Entry, Scalar)>,
    /// Cells with a launch's scalar.
    pub scalars: Vec<(Entry, u32)>,
    /// Bytes of an element of each tile array.
    pub tiles: Vec<usize>,
}

/// Prepares an expanded kernel with its schedule.
pub fn prepare(kernel: &Kernel, schedule: &Schedule) -> Prepared {
    let mut preparer = Preparer {
        kernel,
        schedule,
        uniform: uniform(kernel, schedule),
        kept: vec![None; kernel.body.len()],
        prepared: Prepared {
            passes: Vec::new(),
            locations: Vec::new(),
            constants: Vec::new(),
            scalars: Vec::new(),
            tiles: schedule.tiles.iter().map(|&v| kernel.body[v as usize].dtype.size()).collect(),
        },
        registers: Vec::new(),
    };
    preparer.place_kept();
    for pass in &schedule.passes {
        let pass = preparer.pass(pass.level, &pass.body);
        preparer.prepared.passes.push(pass);
    }
    preparer.prepared
}

/// Which values are the same all along the vector axis.
fn uniform(kernel: &Kernel, schedule: &Schedule) -> Vec<bool> {
    let mut uniform: Vec<bool> = Vec::with_capacity(kernel.body.len());
    for (value, instruction) in kernel.body.iter().enumerate() {
        let operands = instruction.kind.operands().iter().all(|&operand| uniform[operand as usize]);
        let own = match instruction.kind {
            Kind::Position(access) | Kind::Load { access, .. } => {
                kernel.accesses[access as usize].vector == Stride::Zero
            }
            Kind::Reduce(..) | Kind::ArgReduce(..) | Kind::Scan(..) => false,
            _ => true,
        };
        uniform.push(schedule.levels[value] == Level::Program || (own && operands));
    }
    uniform
}

struct Preparer<'a> {
    kernel: &'a Kernel,
    schedule: &'a Schedule,
    uniform: Vec<bool>,
    /// The entry of each value that stays where it is from pass to pass.
    kept: Vec<Option<Entry>>,
    prepared: Prepared,
    /// Every block register: its entry and the bytes of an element.
    registers: Vec<(Entry, usize)>,
}

/// The pass that is being prepared.
struct Draft {
    pass: PreparedPass,
    /// The entry of each value that is at hand.
    places: Vec<Option<Entry>>,
    /// For each value, the one whose memory it shares: its own but for bitcasts.
    owners: Vec<Value>,
    /// The position in the pass's body of the last use of each owner.
    last_use: Vec<usize>,
    /// The registers that hold nothing.
    free: Vec<(Entry, usize)>,
}

impl Preparer<'_> {
    fn entry(&mut self, location: Location) -> Entry {
        self.prepared.locations.push(location);
        (self.prepared.locations.len() - 1) as Entry
    }

    fn constant(&mut self, scalar: Scalar) -> Entry {
        let known = self.prepared.constants.iter().find(|(_, constant)| *constant == scalar);
        if let Some(&(entry, _)) = known {
            return entry;
        }
        let entry = self.entry(Location::Cell);
        self.prepared.constants.push((entry, scalar));
        entry
    }

    /// Gives an entry to every value that outlives its pass.
    fn place_kept(&mut self) {
        for (value, instruction) in self.kernel.body.iter().enumerate() {
            let size = instruction.dtype.size();
            let entry = match (self.schedule.levels[value], self.schedule.storage[value]) {
                _ if matches!(instruction.kind, Kind::Store { .. }) => continue,
                (Level::Program, _) => match instruction.kind {
                    Kind::Constant(scalar) => self.constant(scalar),
                    Kind::Scalar(scalar) => {
                        let entry = self.entry(Location::Cell);
                        self.prepared.scalars.push((entry, scalar));
                        entry
                    }
                    _ => self.entry(Location::Cell),
                },
                (_, Storage::Tile(_)) => self.entry(Location::Moving),
                (_, Storage::Column(_)) => self.entry(Location::Block(size)),
                _ if instruction.kind.is_reduction() => self.entry(Location::Block(size)),
                _ => continue,
            };
            self.kept[value] = Some(entry);
        }
    }

    fn pass(&mut self, level: Level, body: &[Value]) -> PreparedPass {
        let mut draft = Draft {
            pass: PreparedPass {
                level,
                begin: Vec::new(),
                steps: Vec::new(),
                corrections: Vec::new(),
                finish: Vec::new(),
                accesses: Vec::new(),
                tiles: Vec::new(),
            },
            places: self.kept.clone(),
            owners: (0..self.kernel.body.len() as Value).collect(),
            last_use: vec![0; self.kernel.body.len()],
            free: self.registers.clone(),
        };
        for (position, &value) in body.iter().enumerate() {
            let kind = self.kernel.body[value as usize].kind;
            if let Kind::Bitcast(a) = kind
                && self.kept[value as usize].is_none()
            {
                draft.owners[value as usize] = draft.owners[a as usize];
            }
            for operand in kind.operands() {
                draft.last_use[draft.owners[operand as usize] as usize] = position;
            }
        }
        let is_store =
            |&value: &Value| matches!(self.kernel.body[value as usize].kind, Kind::Store { .. });
        let first_store = body.iter().position(is_store).unwrap_or(body.len());
        for (position, &value) in body.iter().enumerate() {
            self.instruction(&mut draft, value, first_store);
            for operand in self.kernel.body[value as usize].kind.operands() {
                let owner = draft.owners[operand as usize];
                if draft.last_use[owner as usize] == position && self.kept[owner as usize].is_none()
                {
                    self.release(&mut draft, owner);
                }
            }
        }
        for (tile, &value) in self.schedule.tiles.iter().enumerate() {
            let uses = |user: &Value| {
                *user == value || self.kernel.body[*user as usize].kind.operands().contains(&value)
            };
            if body.iter().any(uses) {
                let entry = self.kept[value as usize].expect("a tile that is kept has an entry");
                let size = self.prepared.tiles[tile];
                draft.pass.tiles.push(TileEntry { entry, tile, size });
            }
        }
        draft.pass
    }

    /// A register that holds nothing now.
    fn register(&mut self, draft: &mut Draft, size: usize) -> Entry {
        if let Some(free) = draft.free.iter().position(|&(_, bytes)| bytes == size) {
            return draft.free.swap_remove(free).0;
        }
        let entry = self.entry(Location::Block(size));
        self.registers.push((entry, size));
        entry
    }

    /// Gives a value's register back, if it has one.
    fn release(&self, draft: &mut Draft, value: Value) {
        let entry = draft.places[value as usize];
        let register = self.registers.iter().find(|&&(register, _)| Some(register) == entry);
        if let Some(&register) = register
            && !draft.free.contains(&register)
        {
            draft.free.push(register);
        }
    }

    fn source(&self, draft: &Draft, value: Value) -> Source {
        let entry = draft.places[value as usize].expect("operands come before their users");
        let splat = draft.pass.level != Level::Program && self.uniform[value as usize];
        Source { entry, splat }
    }

    /// Whether one element is computed instead of a block.
    fn once(&self, draft: &Draft, value: Value) -> bool {
        draft.pass.level == Level::Program || self.uniform[value as usize]
    }

    /// Where the result of an instruction goes.
    fn target(&mut self, draft: &mut Draft, value: Value) -> Entry {
        let level = self.schedule.levels[value as usize];
        let entry = match self.kept[value as usize] {
            Some(entry) if level == Level::Program || !self.uniform[value as usize] => entry,
            // Kept for later, but in this pass one element will do.
            _ if self.uniform[value as usize] => self.entry(Location::Cell),
            _ => self.register(draft, self.kernel.body[value as usize].dtype.size()),
        };
        draft.places[value as usize] = Some(entry);
        entry
    }

    /// Repeats the one element of a value whose later users expect a block.
    fn spread(&self, draft: &mut Draft, value: Value) {
        let place = draft.places[value as usize];
        if let (Some(kept), Some(entry)) = (self.kept[value as usize], place)
            && kept != entry
        {
            let source = Source { entry, splat: false };
            draft.pass.steps.push(Step::Apply {
                function: apply::fill(self.kernel.body[value as usize].dtype.size()),
                target: kept,
                sources: [source; 3],
                once: false,
                whole: false,
            });
        }
    }

    fn apply(&mut self, draft: &mut Draft, value: Value, function: Function, operands: &[Value]) {
        let at = |i: usize| operands.get(i).copied().unwrap_or(operands[0]);
        let sources = [0, 1, 2].map(|i| self.source(draft, at(i)));
        let once = self.once(draft, value);
        let sources = sources.map(|source| Source { splat: source.splat && !once, ..source });
        let target = self.target(draft, value);
        // Only a block of scratch memory has room behind its last element.
        let is_block =
            |entry: Entry| matches!(self.prepared.locations[entry as usize], Location::Block(_));
        let has_room = |source: &Source| source.splat || is_block(source.entry);
        let whole = !once
            && is_block(target)
            && sources[..operands.len()].iter().all(has_room)
            && self.vectorizes(value);
        draft.pass.steps.push(Step::Apply { function, target, sources, once, whole });
        self.spread(draft, value);
    }

    /// Whether the loop of an elementwise instruction becomes vector code.
    fn vectorizes(&self, value: Value) -> bool {
        let instruction = self.kernel.body[value as usize];
        let plain = |dtype: DType| !dtype.is_complex() && !dtype.is_half();
        let operands = instruction.kind.operands();
        plain(instruction.dtype)
            && operands.iter().all(|&operand| plain(self.kernel.body[operand as usize].dtype))
            && match instruction.kind {
                Kind::Unary(op, _) => !op.is_transcendental(),
                Kind::Binary(BinaryOp::Rem | BinaryOp::Pow | BinaryOp::Atan2, ..) => false,
                Kind::Binary(BinaryOp::Div, ..) => instruction.dtype.is_float(),
                _ => true,
            }
    }

    fn use_access(&self, draft: &mut Draft, access: AccessId) {
        if !draft.pass.accesses.contains(&access) {
            draft.pass.accesses.push(access);
        }
    }

    fn instruction(&mut self, draft: &mut Draft, value: Value, first_store: usize) {
        let instruction = self.kernel.body[value as usize];
        let dtype = instruction.dtype;
        let dtype_of = |value: Value| self.kernel.body[value as usize].dtype;
        match instruction.kind {
            Kind::Constant(_) | Kind::Scalar(_) => {}
            Kind::Position(access) => {
                self.use_access(draft, access);
                let (long, once) = (dtype == DType::I64, self.once(draft, value));
                let target = self.target(draft, value);
                draft.pass.steps.push(Step::Position { long, target, access, once });
                self.spread(draft, value);
            }
            Kind::Load { access, index, mask } => {
                self.use_access(draft, access);
                let plain = index.is_none() && mask.is_none();
                let neighbours = self.kernel.accesses[access as usize].vector != Stride::Any;
                // A store may overwrite what was loaded, so what is used after it must be a copy.
                let early = draft.last_use[value as usize] <= first_store;
                let kept = self.kept[value as usize].is_some();
                if plain && neighbours && early && !kept {
                    let target = self.entry(Location::Moving);
                    draft.places[value as usize] = Some(target);
                    draft.pass.steps.push(Step::Point { target, access });
                    return;
                }
                let index = index.map(|index| self.index(draft, index));
                let mask = mask.map(|mask| self.source(draft, mask));
                let once = self.once(draft, value);
                let target = self.target(draft, value);
                let function = memory::load(dtype.size());
                let step = Step::Load { function, target, access, index, mask, once };
                draft.pass.steps.push(step);
                self.spread(draft, value);
            }
            Kind::Unary(op, a) => self.apply(draft, value, table::unary(op, dtype_of(a)), &[a]),
            Kind::Binary(op, a, b) => {
                self.apply(draft, value, table::binary(op, dtype_of(a)), &[a, b]);
            }
            Kind::Compare(op, a, b) => {
                let (function, swapped) = table::compare(op, dtype_of(a));
                let operands = if swapped { [b, a] } else { [a, b] };
                self.apply(draft, value, function, &operands);
            }
            Kind::Select(mask, a, b) => {
                self.apply(draft, value, apply::select(dtype.size()), &[mask, a, b]);
            }
            Kind::Fma(a, b, c) => self.apply(draft, value, table::fma(dtype), &[a, b, c]),
            Kind::Cast(a) => self.apply(draft, value, cast(dtype_of(a), dtype), &[a]),
            Kind::Bitcast(a) if draft.owners[value as usize] != value => {
                draft.places[value as usize] = draft.places[a as usize];
            }
            Kind::Bitcast(a) => self.apply(draft, value, apply::copy(dtype.size()), &[a]),
            Kind::Reduce(op, a) => self.reduce(draft, value, op, a),
            Kind::ArgReduce(op, a) => self.arg_reduce(draft, value, op, a),
            Kind::Scan(op, a) => self.scan(draft, value, op, a),
            Kind::Store { access, value: stored, index, mask, combine } => {
                self.use_access(draft, access);
                draft.pass.steps.push(Step::Store {
                    function: match combine {
                        None => memory::store(dtype.size()),
                        Some(op) => folds(op, dtype).store,
                    },
                    access,
                    value: self.source(draft, stored),
                    index: index.map(|index| self.index(draft, index)),
                    mask: mask.map(|mask| self.source(draft, mask)),
                });
            }
        }
    }

    fn index(&self, draft: &Draft, index: Value) -> (Source, bool) {
        let long = self.kernel.body[index as usize].dtype == DType::I64;
        (self.source(draft, index), long)
    }

    /// The operand of a fold as a block, and the register it took to make it one.
    fn whole(&mut self, draft: &mut Draft, value: Value) -> (Entry, Option<(Entry, usize)>) {
        let source = self.source(draft, value);
        if !source.splat {
            return (source.entry, None);
        }
        let size = self.kernel.body[value as usize].dtype.size();
        let target = self.register(draft, size);
        let sources = [Source { splat: false, ..source }; 3];
        draft.pass.steps.push(Step::Apply {
            function: apply::fill(size),
            target,
            sources,
            once: false,
            whole: false,
        });
        (target, Some((target, size)))
    }

    fn begin(&mut self, draft: &mut Draft, target: Entry, identity: Scalar, count: Option<usize>) {
        let fill = apply::fill(identity.dtype().size());
        let identity = self.constant(identity);
        draft.pass.begin.push(Begin { fill, target, identity, count });
    }

    fn reduce(&mut self, draft: &mut Draft, value: Value, op: CombineOp, operand: Value) {
        let dtype = self.kernel.body[value as usize].dtype;
        let folds = folds(op, dtype);
        let identity = Scalar::identity(op, dtype);
        let target = self.kept[value as usize].expect("a reduction's result is kept");
        let (source, register) = self.whole(draft, operand);
        if self.kernel.reduces_columns() {
            self.begin(draft, target, identity, None);
            self.correct(draft, op, dtype, target, None);
            let function = folds.into_columns;
            draft.pass.steps.push(Step::Fold { function, target, state: target, source });
        } else {
            let lanes = self.entry(Location::Lanes);
            let count = Some(LANES_BYTES / dtype.size());
            self.begin(draft, lanes, identity, count);
            self.correct(draft, op, dtype, lanes, count);
            let function = folds.into_lanes;
            draft.pass.steps.push(Step::Fold { function, target: lanes, state: lanes, source });
            draft.pass.finish.push(Finish { function: folds.from_lanes, target, lanes });
        }
        draft.free.extend(register);
    }

    fn correct(
        &mut self,
        draft: &mut Draft,
        op: CombineOp,
        dtype: DType,
        running: Entry,
        count: Option<usize>,
    ) {
        if let Some(moves) = moves(op, dtype) {
            let location = match count {
                Some(_) => Location::Lanes,
                None => Location::Spare(dtype.size()),
            };
            let (total, lost) = (self.entry(location), self.entry(location));
            draft.pass.corrections.push(Correction { moves, running, total, lost, count });
        }
    }

    fn arg_reduce(&mut self, draft: &mut Draft, value: Value, op: ArgOp, operand: Value) {
        let dtype = self.kernel.body[operand as usize].dtype;
        let folds = arg_folds(op, dtype);
        let combine = match op {
            ArgOp::Min => CombineOp::Min,
            ArgOp::Max => CombineOp::Max,
        };
        let identity = Scalar::identity(combine, dtype);
        let target = self.kept[value as usize].expect("a reduction's result is kept");
        let (source, register) = self.whole(draft, operand);
        let (location, function, count) = match self.kernel.reduces_columns() {
            true => (Location::Block(dtype.size()), folds.columns, None),
            false => (Location::Cell, folds.row, Some(1)),
        };
        let state = self.entry(location);
        self.begin(draft, state, identity, count);
        self.begin(draft, target, Scalar::zero(DType::I64), count);
        draft.pass.steps.push(Step::Fold { function, target, state, source });
        draft.free.extend(register);
    }

    fn scan(&mut self, draft: &mut Draft, value: Value, op: CombineOp, operand: Value) {
        let dtype = self.kernel.body[value as usize].dtype;
        let folds = folds(op, dtype);
        let (source, register) = self.whole(draft, operand);
        let (location, function, count) = match self.kernel.vector {
            VectorAxis::Parallel => (Location::Block(dtype.size()), folds.scan_columns, None),
            VectorAxis::Reduced => (Location::Cell, folds.scan_row, Some(1)),
        };
        let state = self.entry(location);
        self.begin(draft, state, Scalar::identity(op, dtype), count);
        let target = self.target(draft, value);
        draft.pass.steps.push(Step::Fold { function, target, state, source });
        draft.free.extend(register);
    }
}
