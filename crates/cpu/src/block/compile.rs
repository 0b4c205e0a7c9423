//! Compiler of the block interpreter: translates a kernel into steps, each a loop function and the slots it works
//! on.
//!
//! A [`Slot`] is a virtual register: an index into a table of addresses. Most addresses are fixed when a run
//! begins. Loads used in place and tile arrays are dynamic: execution updates them for each block.

use super::cast::cast;
use super::dispatch;
use super::elementwise::{self, Function};
use super::load_store::{self, LoadFunction, StoreFunction};
use super::reduce::{
    ACCUMULATOR_BYTES, CompensatedSumLoops, arg_reduce_loops, combine_loops, compensated_sum_loops,
};
use inflight_ir::elementwise::{ArgOp, CombineOp};
use inflight_ir::kernel::{
    AccessId, Kernel, Kind, Level, Schedule, Storage, Stride, Value, VectorAxis,
};
use inflight_ir::{BinaryOp, DType, Scalar};

/// A virtual register: an index into the table of addresses.
pub type Slot = u32;

/// Storage behind a [`Slot`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SlotKind {
    /// One element of any dtype.
    Cell,
    /// Partial results of a reduction, one per lane.
    Accumulator,
    /// A block of elements of this many bytes.
    Block(usize),
    /// The same, but rarely accessed, so that it does not count towards the cache budget.
    ColdBlock(usize),
    /// Address set during execution.
    Dynamic,
}

/// A value as an operand: one element per point of a block, or a splat element.
#[derive(Clone, Copy)]
pub struct Operand {
    /// Its slot.
    pub slot: Slot,
    /// Whether the slot holds one element for all points.
    pub splat: bool,
}

/// What runs for each block of a pass. With `scalar`, on one element instead of the block's.
pub enum Step {
    /// An elementwise instruction. With `padded`, on full vectors: computing unused elements behind the last one
    /// is faster than a scalar remainder loop.
    Apply { function: Function, target: Slot, sources: [Operand; 3], scalar: bool, padded: bool },
    /// A contiguous or splat load used in place, without a copy.
    LoadInPlace { target: Slot, access: AccessId },
    /// Any other load.
    Load {
        function: LoadFunction,
        target: Slot,
        access: AccessId,
        index: Option<(Operand, bool)>,
        mask: Option<Operand>,
        scalar: bool,
    },
    /// Value of an access map, as `i64` if `is_i64` and as `i32` otherwise.
    Position { is_i64: bool, target: Slot, access: AccessId, scalar: bool },
    /// A store.
    Store {
        function: StoreFunction,
        access: AccessId,
        value: Operand,
        index: Option<(Operand, bool)>,
        mask: Option<Operand>,
    },
    /// Accumulates a block into a reduction or scan.
    Accumulate { function: Function, target: Slot, state: Slot, source: Slot },
}

/// Initializes the state of a reduction or scan.
pub struct InitializeState {
    /// Fill loop.
    pub fill: Function,
    /// Slot to initialize.
    pub target: Slot,
    /// Slot of the identity element.
    pub identity: Slot,
    /// Number of elements; that of the block if `None`.
    pub count: Option<usize>,
}

/// Horizontal reduction of accumulator lanes at the end of a pass.
pub struct FinishReduction {
    /// Reduction loop.
    pub function: Function,
    /// Slot of the result.
    pub target: Slot,
    /// Slot of the accumulator lanes.
    pub lanes: Slot,
}

/// Compensated summation of a long sum.
pub struct CompensatedSum {
    /// Loops for its dtype.
    pub loops: CompensatedSumLoops,
    /// Slot of the partial sums.
    pub partial: Slot,
    /// Slot of the totals.
    pub total: Slot,
    /// Slot of the totals' rounding errors.
    pub compensation: Slot,
    /// Number of elements; that of the block if `None`.
    pub count: Option<usize>,
}

/// A tile array and the dynamic slot that follows the current block in it.
pub struct TileSlot {
    /// Dynamic slot.
    pub slot: Slot,
    /// Index into [`CompiledProgram::tiles`].
    pub tile: usize,
    /// Bytes per element.
    pub size: usize,
}

/// A compiled pass of the schedule.
pub struct CompiledPass {
    /// Iteration space of the pass.
    pub level: Level,
    /// Before the first block.
    pub initialize: Vec<InitializeState>,
    /// For each block.
    pub steps: Vec<Step>,
    /// Periodically, and after the last block.
    pub compensated_sums: Vec<CompensatedSum>,
    /// After the last block.
    pub finish: Vec<FinishReduction>,
    /// Accesses that the steps use.
    pub accesses: Vec<AccessId>,
    /// Tile arrays that the steps use.
    pub tiles: Vec<TileSlot>,
}

/// A compiled kernel, independent of the launch.
pub struct CompiledProgram {
    /// In execution order.
    pub passes: Vec<CompiledPass>,
    /// Storage of each slot.
    pub slot_kinds: Vec<SlotKind>,
    /// Slots of constants.
    pub constants: Vec<(Slot, Scalar)>,
    /// Slots of launch scalars.
    pub scalars: Vec<(Slot, u32)>,
    /// Bytes per element of each tile array.
    pub tiles: Vec<usize>,
}

/// Compiles an expanded kernel with its schedule.
pub fn compile(kernel: &Kernel, schedule: &Schedule) -> CompiledProgram {
    let mut compiler = Compiler {
        kernel,
        schedule,
        uniform: uniform(kernel, schedule),
        persistent: vec![None; kernel.body.len()],
        compiled: CompiledProgram {
            passes: Vec::new(),
            slot_kinds: Vec::new(),
            constants: Vec::new(),
            scalars: Vec::new(),
            tiles: schedule.tiles.iter().map(|&v| kernel.body[v as usize].dtype.size()).collect(),
        },
        block_slots: Vec::new(),
    };
    compiler.assign_persistent_slots();
    for pass in &schedule.passes {
        let pass = compiler.compile_pass(pass.level, &pass.body);
        compiler.compiled.passes.push(pass);
    }
    compiler.compiled
}

/// Uniformity analysis: which values are the same along the vector axis.
fn uniform(kernel: &Kernel, schedule: &Schedule) -> Vec<bool> {
    let mut uniform: Vec<bool> = Vec::with_capacity(kernel.body.len());
    for (value, instruction) in kernel.body.iter().enumerate() {
        let operands = instruction.kind.operands().iter().all(|&operand| uniform[operand as usize]);
        let is_uniform_op = match instruction.kind {
            Kind::Position(access) | Kind::Load { access, .. } => {
                kernel.accesses[access as usize].vector == Stride::Zero
            }
            Kind::Reduce(..) | Kind::ArgReduce(..) | Kind::Scan(..) => false,
            _ => true,
        };
        uniform.push(schedule.levels[value] == Level::Program || (is_uniform_op && operands));
    }
    uniform
}

struct Compiler<'a> {
    kernel: &'a Kernel,
    schedule: &'a Schedule,
    uniform: Vec<bool>,
    /// Slots of the values that persist across passes.
    persistent: Vec<Option<Slot>>,
    compiled: CompiledProgram,
    /// All block slots, with bytes per element.
    block_slots: Vec<(Slot, usize)>,
}

/// A pass under construction.
struct PassBuilder {
    pass: CompiledPass,
    /// Current slot of each value.
    slots: Vec<Option<Slot>>,
    /// For each value, the owner of its slot: itself, or the operand of a bitcast.
    owners: Vec<Value>,
    /// Position of each owner's last use in the pass's body.
    last_use: Vec<usize>,
    /// Block slots that hold no live value.
    free: Vec<(Slot, usize)>,
}

impl Compiler<'_> {
    fn slot(&mut self, kind: SlotKind) -> Slot {
        self.compiled.slot_kinds.push(kind);
        (self.compiled.slot_kinds.len() - 1) as Slot
    }

    fn constant(&mut self, scalar: Scalar) -> Slot {
        let existing = self.compiled.constants.iter().find(|(_, constant)| *constant == scalar);
        if let Some(&(slot, _)) = existing {
            return slot;
        }
        let slot = self.slot(SlotKind::Cell);
        self.compiled.constants.push((slot, scalar));
        slot
    }

    /// Assigns slots to the values that outlive their pass.
    fn assign_persistent_slots(&mut self) {
        for (value, instruction) in self.kernel.body.iter().enumerate() {
            let size = instruction.dtype.size();
            let slot = match (self.schedule.levels[value], self.schedule.storage[value]) {
                _ if matches!(instruction.kind, Kind::Store { .. }) => continue,
                (Level::Program, _) => match instruction.kind {
                    Kind::Constant(scalar) => self.constant(scalar),
                    Kind::Scalar(scalar) => {
                        let slot = self.slot(SlotKind::Cell);
                        self.compiled.scalars.push((slot, scalar));
                        slot
                    }
                    _ => self.slot(SlotKind::Cell),
                },
                (_, Storage::Tile(_)) => self.slot(SlotKind::Dynamic),
                (_, Storage::Column(_)) => self.slot(SlotKind::Block(size)),
                _ if instruction.kind.is_reduction() => self.slot(SlotKind::Block(size)),
                _ => continue,
            };
            self.persistent[value] = Some(slot);
        }
    }

    fn compile_pass(&mut self, level: Level, body: &[Value]) -> CompiledPass {
        let mut builder = PassBuilder {
            pass: CompiledPass {
                level,
                initialize: Vec::new(),
                steps: Vec::new(),
                compensated_sums: Vec::new(),
                finish: Vec::new(),
                accesses: Vec::new(),
                tiles: Vec::new(),
            },
            slots: self.persistent.clone(),
            owners: (0..self.kernel.body.len() as Value).collect(),
            last_use: vec![0; self.kernel.body.len()],
            free: self.block_slots.clone(),
        };
        for (position, &value) in body.iter().enumerate() {
            let kind = self.kernel.body[value as usize].kind;
            if let Kind::Bitcast(a) = kind
                && self.persistent[value as usize].is_none()
            {
                builder.owners[value as usize] = builder.owners[a as usize];
            }
            for operand in kind.operands() {
                builder.last_use[builder.owners[operand as usize] as usize] = position;
            }
        }
        let is_store =
            |&value: &Value| matches!(self.kernel.body[value as usize].kind, Kind::Store { .. });
        let first_store = body.iter().position(is_store).unwrap_or(body.len());
        for (position, &value) in body.iter().enumerate() {
            self.compile_instruction(&mut builder, value, first_store);
            for operand in self.kernel.body[value as usize].kind.operands() {
                let owner = builder.owners[operand as usize];
                if builder.last_use[owner as usize] == position
                    && self.persistent[owner as usize].is_none()
                {
                    self.release(&mut builder, owner);
                }
            }
        }
        for (tile, &value) in self.schedule.tiles.iter().enumerate() {
            let uses = |user: &Value| {
                *user == value || self.kernel.body[*user as usize].kind.operands().contains(&value)
            };
            if body.iter().any(uses) {
                let slot =
                    self.persistent[value as usize].expect("tile values have persistent slots");
                let size = self.compiled.tiles[tile];
                builder.pass.tiles.push(TileSlot { slot, tile, size });
            }
        }
        builder.pass
    }

    /// Allocates a block slot, reusing a free one of the same element size.
    fn allocate_block(&mut self, builder: &mut PassBuilder, size: usize) -> Slot {
        if let Some(free) = builder.free.iter().position(|&(_, bytes)| bytes == size) {
            return builder.free.swap_remove(free).0;
        }
        let slot = self.slot(SlotKind::Block(size));
        self.block_slots.push((slot, size));
        slot
    }

    /// Frees a value's block slot, if it has one.
    fn release(&self, builder: &mut PassBuilder, value: Value) {
        let slot = builder.slots[value as usize];
        let block_slot = self.block_slots.iter().find(|&&(block_slot, _)| Some(block_slot) == slot);
        if let Some(&block_slot) = block_slot
            && !builder.free.contains(&block_slot)
        {
            builder.free.push(block_slot);
        }
    }

    fn operand(&self, builder: &PassBuilder, value: Value) -> Operand {
        let slot = builder.slots[value as usize].expect("operands precede their users");
        let splat = builder.pass.level != Level::Program && self.uniform[value as usize];
        Operand { slot, splat }
    }

    /// Whether one element is computed instead of a block.
    fn is_scalar(&self, builder: &PassBuilder, value: Value) -> bool {
        builder.pass.level == Level::Program || self.uniform[value as usize]
    }

    /// Assigns the result slot of an instruction.
    fn result_slot(&mut self, builder: &mut PassBuilder, value: Value) -> Slot {
        let level = self.schedule.levels[value as usize];
        let slot = match self.persistent[value as usize] {
            Some(slot) if level == Level::Program || !self.uniform[value as usize] => slot,
            // Persistent, but one element suffices in this pass.
            _ if self.uniform[value as usize] => self.slot(SlotKind::Cell),
            _ => self.allocate_block(builder, self.kernel.body[value as usize].dtype.size()),
        };
        builder.slots[value as usize] = Some(slot);
        slot
    }

    /// Broadcasts a scalar result to the persistent block that later passes read.
    fn broadcast_to_block(&self, builder: &mut PassBuilder, value: Value) {
        let slot = builder.slots[value as usize];
        if let (Some(persistent), Some(slot)) = (self.persistent[value as usize], slot)
            && persistent != slot
        {
            let source = Operand { slot, splat: false };
            builder.pass.steps.push(Step::Apply {
                function: elementwise::fill(self.kernel.body[value as usize].dtype.size()),
                target: persistent,
                sources: [source; 3],
                scalar: false,
                padded: false,
            });
        }
    }

    fn apply(
        &mut self,
        builder: &mut PassBuilder,
        value: Value,
        function: Function,
        operands: &[Value],
    ) {
        let at = |i: usize| operands.get(i).copied().unwrap_or(operands[0]);
        let sources = [0, 1, 2].map(|i| self.operand(builder, at(i)));
        let scalar = self.is_scalar(builder, value);
        let sources = sources.map(|source| Operand { splat: source.splat && !scalar, ..source });
        let target = self.result_slot(builder, value);
        // Only blocks in scratch memory are padded behind their last element.
        let is_block =
            |slot: Slot| matches!(self.compiled.slot_kinds[slot as usize], SlotKind::Block(_));
        let has_room = |source: &Operand| source.splat || is_block(source.slot);
        let padded = !scalar
            && is_block(target)
            && sources[..operands.len()].iter().all(has_room)
            && self.vectorizes(value);
        builder.pass.steps.push(Step::Apply { function, target, sources, scalar, padded });
        self.broadcast_to_block(builder, value);
    }

    /// Whether the compiler vectorizes the loop of an elementwise instruction.
    fn vectorizes(&self, value: Value) -> bool {
        let instruction = self.kernel.body[value as usize];
        let is_vectorizable = |dtype: DType| !dtype.is_complex() && !dtype.is_half();
        let operands = instruction.kind.operands();
        is_vectorizable(instruction.dtype)
            && operands
                .iter()
                .all(|&operand| is_vectorizable(self.kernel.body[operand as usize].dtype))
            && match instruction.kind {
                Kind::Unary(op, _) => !op.is_transcendental(),
                Kind::Binary(BinaryOp::Rem | BinaryOp::Pow | BinaryOp::Atan2, ..) => false,
                Kind::Binary(BinaryOp::Div, ..) => instruction.dtype.is_float(),
                _ => true,
            }
    }

    fn use_access(&self, builder: &mut PassBuilder, access: AccessId) {
        if !builder.pass.accesses.contains(&access) {
            builder.pass.accesses.push(access);
        }
    }

    fn compile_instruction(&mut self, builder: &mut PassBuilder, value: Value, first_store: usize) {
        let instruction = self.kernel.body[value as usize];
        let dtype = instruction.dtype;
        let dtype_of = |value: Value| self.kernel.body[value as usize].dtype;
        match instruction.kind {
            Kind::Constant(_) | Kind::Scalar(_) => {}
            Kind::Position(access) => {
                self.use_access(builder, access);
                let (is_i64, scalar) = (dtype == DType::I64, self.is_scalar(builder, value));
                let target = self.result_slot(builder, value);
                builder.pass.steps.push(Step::Position { is_i64, target, access, scalar });
                self.broadcast_to_block(builder, value);
            }
            Kind::Load { access, index, mask } => {
                self.use_access(builder, access);
                let is_direct = index.is_none() && mask.is_none();
                let in_place_stride = self.kernel.accesses[access as usize].vector != Stride::Any;
                // A later store may overwrite the loaded memory: values used after it need a copy.
                let before_stores = builder.last_use[value as usize] <= first_store;
                let persistent = self.persistent[value as usize].is_some();
                if is_direct && in_place_stride && before_stores && !persistent {
                    let target = self.slot(SlotKind::Dynamic);
                    builder.slots[value as usize] = Some(target);
                    builder.pass.steps.push(Step::LoadInPlace { target, access });
                    return;
                }
                let index = index.map(|index| self.index(builder, index));
                let mask = mask.map(|mask| self.operand(builder, mask));
                let scalar = self.is_scalar(builder, value);
                let target = self.result_slot(builder, value);
                let function = load_store::load(dtype.size());
                let step = Step::Load { function, target, access, index, mask, scalar };
                builder.pass.steps.push(step);
                self.broadcast_to_block(builder, value);
            }
            Kind::Unary(op, a) => {
                self.apply(builder, value, dispatch::unary(op, dtype_of(a)), &[a])
            }
            Kind::Binary(op, a, b) => {
                self.apply(builder, value, dispatch::binary(op, dtype_of(a)), &[a, b]);
            }
            Kind::Compare(op, a, b) => {
                let (function, swapped) = dispatch::compare(op, dtype_of(a));
                let operands = if swapped { [b, a] } else { [a, b] };
                self.apply(builder, value, function, &operands);
            }
            Kind::Select(mask, a, b) => {
                self.apply(builder, value, elementwise::select(dtype.size()), &[mask, a, b]);
            }
            Kind::Fma(a, b, c) => self.apply(builder, value, dispatch::fma(dtype), &[a, b, c]),
            Kind::Cast(a) => self.apply(builder, value, cast(dtype_of(a), dtype), &[a]),
            Kind::Bitcast(a) if builder.owners[value as usize] != value => {
                builder.slots[value as usize] = builder.slots[a as usize];
            }
            Kind::Bitcast(a) => self.apply(builder, value, elementwise::copy(dtype.size()), &[a]),
            Kind::Reduce(op, a) => self.reduce(builder, value, op, a),
            Kind::ArgReduce(op, a) => self.arg_reduce(builder, value, op, a),
            Kind::Scan(op, a) => self.scan(builder, value, op, a),
            Kind::Store { access, value: stored, index, mask, combine } => {
                self.use_access(builder, access);
                builder.pass.steps.push(Step::Store {
                    function: match combine {
                        None => load_store::store(dtype.size()),
                        Some(op) => combine_loops(op, dtype).store,
                    },
                    access,
                    value: self.operand(builder, stored),
                    index: index.map(|index| self.index(builder, index)),
                    mask: mask.map(|mask| self.operand(builder, mask)),
                });
            }
        }
    }

    fn index(&self, builder: &PassBuilder, index: Value) -> (Operand, bool) {
        let is_i64 = self.kernel.body[index as usize].dtype == DType::I64;
        (self.operand(builder, index), is_i64)
    }

    /// Materializes the operand of a reduction as a block. Returns the temporary block slot too, if it took one.
    fn as_block(
        &mut self,
        builder: &mut PassBuilder,
        value: Value,
    ) -> (Slot, Option<(Slot, usize)>) {
        let source = self.operand(builder, value);
        if !source.splat {
            return (source.slot, None);
        }
        let size = self.kernel.body[value as usize].dtype.size();
        let target = self.allocate_block(builder, size);
        let sources = [Operand { splat: false, ..source }; 3];
        builder.pass.steps.push(Step::Apply {
            function: elementwise::fill(size),
            target,
            sources,
            scalar: false,
            padded: false,
        });
        (target, Some((target, size)))
    }

    fn initialize(
        &mut self,
        builder: &mut PassBuilder,
        target: Slot,
        identity: Scalar,
        count: Option<usize>,
    ) {
        let fill = elementwise::fill(identity.dtype().size());
        let identity = self.constant(identity);
        builder.pass.initialize.push(InitializeState { fill, target, identity, count });
    }

    fn reduce(&mut self, builder: &mut PassBuilder, value: Value, op: CombineOp, operand: Value) {
        let dtype = self.kernel.body[value as usize].dtype;
        let loops = combine_loops(op, dtype);
        let identity = Scalar::identity(op, dtype);
        let target =
            self.persistent[value as usize].expect("reduction results have persistent slots");
        let (source, block_slot) = self.as_block(builder, operand);
        if self.kernel.reduces_columns() {
            self.initialize(builder, target, identity, None);
            self.compensate(builder, op, dtype, target, None);
            let function = loops.accumulate_columns;
            builder.pass.steps.push(Step::Accumulate { function, target, state: target, source });
        } else {
            let lanes = self.slot(SlotKind::Accumulator);
            let count = Some(ACCUMULATOR_BYTES / dtype.size());
            self.initialize(builder, lanes, identity, count);
            self.compensate(builder, op, dtype, lanes, count);
            let function = loops.accumulate_lanes;
            builder.pass.steps.push(Step::Accumulate {
                function,
                target: lanes,
                state: lanes,
                source,
            });
            builder.pass.finish.push(FinishReduction {
                function: loops.horizontal_reduce,
                target,
                lanes,
            });
        }
        builder.free.extend(block_slot);
    }

    fn compensate(
        &mut self,
        builder: &mut PassBuilder,
        op: CombineOp,
        dtype: DType,
        partial: Slot,
        count: Option<usize>,
    ) {
        if let Some(loops) = compensated_sum_loops(op, dtype) {
            let kind = match count {
                Some(_) => SlotKind::Accumulator,
                None => SlotKind::ColdBlock(dtype.size()),
            };
            let (total, compensation) = (self.slot(kind), self.slot(kind));
            builder.pass.compensated_sums.push(CompensatedSum {
                loops,
                partial,
                total,
                compensation,
                count,
            });
        }
    }

    fn arg_reduce(&mut self, builder: &mut PassBuilder, value: Value, op: ArgOp, operand: Value) {
        let dtype = self.kernel.body[operand as usize].dtype;
        let loops = arg_reduce_loops(op, dtype);
        let combine = match op {
            ArgOp::Min => CombineOp::Min,
            ArgOp::Max => CombineOp::Max,
        };
        let identity = Scalar::identity(combine, dtype);
        let target =
            self.persistent[value as usize].expect("reduction results have persistent slots");
        let (source, block_slot) = self.as_block(builder, operand);
        let (kind, function, count) = match self.kernel.reduces_columns() {
            true => (SlotKind::Block(dtype.size()), loops.columns, None),
            false => (SlotKind::Cell, loops.row, Some(1)),
        };
        let state = self.slot(kind);
        self.initialize(builder, state, identity, count);
        self.initialize(builder, target, Scalar::zero(DType::I64), count);
        builder.pass.steps.push(Step::Accumulate { function, target, state, source });
        builder.free.extend(block_slot);
    }

    fn scan(&mut self, builder: &mut PassBuilder, value: Value, op: CombineOp, operand: Value) {
        let dtype = self.kernel.body[value as usize].dtype;
        let loops = combine_loops(op, dtype);
        let (source, block_slot) = self.as_block(builder, operand);
        let (kind, function, count) = match self.kernel.vector {
            VectorAxis::Parallel => (SlotKind::Block(dtype.size()), loops.scan_columns, None),
            VectorAxis::Reduced => (SlotKind::Cell, loops.scan_row, Some(1)),
        };
        let state = self.slot(kind);
        self.initialize(builder, state, Scalar::identity(op, dtype), count);
        let target = self.result_slot(builder, value);
        builder.pass.steps.push(Step::Accumulate { function, target, state, source });
        builder.free.extend(block_slot);
    }
}
