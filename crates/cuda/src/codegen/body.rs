//! Kernel instructions as C++ statements, shared by all mappings: loads, stores, arithmetic, reductions and scans.
//!
//! [`Passes`] partitions a kernel into passes over its tile (a softmax has a max pass, a sum pass and a store pass) and
//! decides which values are cached in registers between passes and which are rematerialized.

use super::address::{self, Reach};
use super::writer::Writer;
use super::{Variant, operation, types};
use inflight_ir::elementwise::{BinaryOp, CombineOp, UnaryOp};
use inflight_ir::kernel::{AccessId, Kernel, Kind, Level, Stride, Value};
use inflight_ir::{DType, Scalar};

/// A tile value of at most this many instructions is rematerialized rather than cached.
const CHEAP: usize = 8;

/// The passes of a kernel over its tile, and the values that are worth caching between them.
pub struct Passes {
    /// The pass that computes each value: the length of its longest chain of dependent reductions.
    pub of: Vec<usize>,
    /// For each pass, its reductions and tile stores.
    pub roots: Vec<Vec<Value>>,
    /// The level of each value.
    pub levels: Vec<Level>,
    /// Tile values that several passes need and that are loads or expensive to rematerialize.
    pub cached: Vec<Value>,
}

impl Passes {
    pub fn new(kernel: &Kernel) -> Passes {
        let levels = kernel.levels();
        let of = kernel.stages();
        let last = of.iter().copied().max().unwrap_or(0);
        let mut roots = vec![Vec::new(); last + 1];
        for (value, instruction) in kernel.body.iter().enumerate() {
            let is_store = matches!(instruction.kind, Kind::Store { .. });
            if instruction.kind.is_reduction() || (is_store && levels[value] == Level::Tile) {
                roots[of[value]].push(value as Value);
            }
        }
        let mut passes = Passes { of, roots, levels, cached: Vec::new() };
        passes.select_cached(kernel);
        passes
    }

    /// The values that a pass computes, in order: its roots and the tile values they depend on, except for the
    /// `available` ones.
    pub fn values(&self, kernel: &Kernel, pass: usize, available: &[Value]) -> Vec<Value> {
        let mut included = vec![false; kernel.body.len()];
        let mut stack = self.roots[pass].clone();
        while let Some(value) = stack.pop() {
            if std::mem::replace(&mut included[value as usize], true) {
                continue;
            }
            stack.extend(kernel.body[value as usize].kind.operands().into_iter().filter(|&v| {
                let is_free =
                    matches!(kernel.body[v as usize].kind, Kind::Constant(_) | Kind::Scalar(_));
                self.levels[v as usize] == Level::Tile && !is_free && !available.contains(&v)
            }));
        }
        (0..kernel.body.len() as Value).filter(|&value| included[value as usize]).collect()
    }

    fn select_cached(&mut self, kernel: &Kernel) {
        let mut uses = vec![0; kernel.body.len()];
        for pass in 0..self.roots.len() {
            for value in self.values(kernel, pass, &[]) {
                uses[value as usize] += 1;
            }
        }
        // A value that several passes compute is on their frontier iff one of its users is computed by a single pass.
        let mut frontier = vec![false; kernel.body.len()];
        for (user, instruction) in kernel.body.iter().enumerate() {
            if uses[user] < 2 {
                instruction.kind.operands().iter().for_each(|&v| frontier[v as usize] = true);
            }
        }
        let is_load = |value: Value| {
            matches!(kernel.body[value as usize].kind, Kind::Load { index: None, mask: None, .. })
        };
        let expensive: Vec<Value> = (0..kernel.body.len() as Value)
            .filter(|&value| uses[value as usize] > 1 && frontier[value as usize])
            .filter(|&value| !is_load(value) && self.cost(kernel, value) > CHEAP)
            .collect();
        // Loads that several passes still need once the expensive values are cached.
        let mut loads = vec![0; kernel.body.len()];
        let mut available = Vec::new();
        for pass in 0..self.roots.len() {
            let values = self.values(kernel, pass, &available);
            available.extend(values.iter().filter(|value| expensive.contains(value)));
            values.iter().for_each(|&value| loads[value as usize] += 1);
        }
        self.cached = (0..kernel.body.len() as Value)
            .filter(|&value| {
                expensive.contains(&value) || (is_load(value) && loads[value as usize] > 1)
            })
            .collect();
    }

    /// Instructions to rematerialize a tile value, counted up to one more than [`CHEAP`].
    fn cost(&self, kernel: &Kernel, value: Value) -> usize {
        let (mut count, mut stack) = (0, vec![value]);
        while let Some(value) = stack.pop() {
            if self.levels[value as usize] == Level::Tile && count <= CHEAP {
                count += 1;
                stack.extend(kernel.body[value as usize].kind.operands());
            }
        }
        count
    }
}

/// Whether a combining store can be atomic, for threads that update the same element.
pub fn is_atomic(_op: CombineOp, kernel: &Kernel, store: &Kind) -> bool {
    match *store {
        Kind::Store { access, .. } => {
            let param = kernel.accesses[access as usize].param;
            param.is_some_and(|param| kernel.params[param as usize].dtype.size() <= 8)
        }
        _ => false,
    }
}

/// Bytes of a reduction's partial result in scratch memory.
pub fn partial_bytes(kernel: &Kernel, reduction: Value) -> usize {
    match kernel.body[reduction as usize].kind {
        Kind::ArgReduce(..) => 32,
        _ => 16,
    }
}

/// Code for `f32` division and square root. All variants round correctly and give the same bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Division {
    /// The compiler's own sequence, which branches to a slow path for rare operands.
    Branching,
    /// Branch-free, for kernels with too few threads to hide the latency of a branch.
    BranchFree,
    /// Fast path, correct for operands of moderate magnitude. For others it sets the flag `is_irregular`.
    FastPath,
}

/// Emitter of a kernel's body.
pub struct Body<'a> {
    pub kernel: &'a Kernel,
    pub passes: &'a Passes,
    pub writer: Writer,
    /// The C++ expression of each value in scope.
    pub names: Vec<String>,
    /// Vector width: elements of one load or store.
    pub width: u32,
    /// Bit set of the params with streaming accesses.
    pub streamed: u64,
    /// Whether streamed params are written, too. Then loads are evict-last in L2 and stores use the default policy.
    pub evicts_loads_last: bool,
    /// A predicate on stores and accumulations.
    pub guard: Option<&'static str>,
    /// Whether combining stores must be atomic: other threads may update the same element.
    pub uses_atomics: bool,
    /// Threads that scan a row together.
    pub scan_threads: u32,
    /// The expression of an element's index along the reduced axes, given the lane.
    pub reduced_index: fn(&str) -> String,
    /// Whether each vector lane has an accumulator of its own.
    pub accumulates_per_lane: bool,
    /// Whether registers are limited to an occupancy of two blocks per SM.
    pub two_blocks_per_sm: bool,
    /// Code for `f32` division and square root.
    pub division: Division,
}

impl<'a> Body<'a> {
    pub fn new(kernel: &'a Kernel, passes: &'a Passes, width: u32, variant: Variant) -> Body<'a> {
        let mut writer = Writer::default();
        writer.line(format!("typedef {} I;", if variant.index64 { "long long" } else { "int" }));
        writer.line(super::Arguments::declaration(kernel));
        Body {
            kernel,
            passes,
            writer,
            names: (0..kernel.body.len()).map(|value| format!("v{value}")).collect(),
            width,
            streamed: variant.streamed,
            evicts_loads_last: (0..kernel.params.len().min(64))
                .any(|param| kernel.params[param].writes && variant.streamed >> param & 1 == 1),
            guard: None,
            uses_atomics: false,
            scan_threads: 1,
            reduced_index: |lane| lane.to_owned(),
            accumulates_per_lane: false,
            two_blocks_per_sm: false,
            division: Division::Branching,
        }
    }

    /// Opens the entry point and declares the uniform values.
    pub fn open_entry(&mut self, threads: u32) {
        let blocks_per_sm = match self.two_blocks_per_sm {
            true => ", 2",
            false => "",
        };
        self.writer.open(format!(
            "extern \"C\" __global__ void __launch_bounds__({threads}{blocks_per_sm}) \
             entry(const __grid_constant__ Arguments a)"
        ));
        self.scalars();
    }

    /// Declares the uniform values: constants and scalar arguments.
    pub fn scalars(&mut self) {
        for (value, instruction) in self.kernel.body.iter().enumerate() {
            match instruction.kind {
                Kind::Constant(scalar) => self.names[value] = types::literal(scalar),
                Kind::Scalar(position) => {
                    let name = types::name(instruction.dtype);
                    let scalar = types::scalar(instruction.dtype, position as usize);
                    self.writer.line(format!("const {name} v{value} = {scalar};"));
                }
                _ => {}
            }
        }
    }

    fn name(&self, value: Value) -> &str {
        &self.names[value as usize]
    }

    pub fn dtype(&self, value: Value) -> DType {
        self.kernel.body[value as usize].dtype
    }

    fn type_of(&self, value: Value) -> &'static str {
        types::name(self.dtype(value))
    }

    /// Whether a load or store is vectorized.
    pub fn is_vectorized(&self, value: Value) -> bool {
        let access = match self.kernel.body[value as usize].kind {
            Kind::Load { access, index: None, mask: None } => access,
            Kind::Store { access, index: None, mask: None, combine: None, .. } => access,
            _ => return false,
        };
        self.width > 1 && self.kernel.accesses[access as usize].vector == Stride::One
    }

    fn access(&self, value: Value) -> AccessId {
        match self.kernel.body[value as usize].kind {
            Kind::Load { access, .. } | Kind::Store { access, .. } => access,
            _ => unreachable!("neither a load nor a store"),
        }
    }

    /// Loads a vector into an array.
    pub fn load_vector(&mut self, value: Value, array: &str, reach: Reach) {
        let pointer = address::pointer(self.kernel, self.access(value), None, "0", reach);
        let load = match (self.is_streamed(value), self.evicts_loads_last) {
            (false, _) => "load_pack",
            (true, false) => "streaming_load_pack",
            (true, true) => "evict_last_load_pack",
        };
        self.writer.line(format!("{load}<{}>({array}, {pointer});", self.width));
    }

    /// Stores a vector from an array.
    pub fn store_vector(&mut self, value: Value) {
        let pointer = address::pointer(self.kernel, self.access(value), None, "0", Reach::Tile);
        let is_streamed = self.is_streamed(value) && !self.evicts_loads_last;
        let store = if is_streamed { "streaming_store_pack" } else { "store_pack" };
        self.writer.line(format!("{store}<{}>({pointer}, s{value});", self.width));
    }

    /// Whether a load or store accesses a streamed param.
    fn is_streamed(&self, value: Value) -> bool {
        let param = self.kernel.accesses[self.access(value) as usize].param;
        param.is_some_and(|param| param < 64 && self.streamed >> param & 1 == 1)
    }

    /// Declares a value with its expression.
    pub fn value(&mut self, value: Value, lane: &str, reach: Reach) {
        let expression = self.expression(value, lane, reach);
        let (kind, name) = (self.type_of(value), self.name(value));
        self.writer.line(format!("const {kind} {name} = {expression};"));
    }

    /// The expression of an instruction.
    pub fn expression(&self, value: Value, lane: &str, reach: Reach) -> String {
        let instruction = self.kernel.body[value as usize];
        let dtype = instruction.dtype;
        let name = |value: Value| self.name(value);
        match instruction.kind {
            Kind::Position(access) => {
                let position = address::position(self.kernel, access, lane, reach);
                format!("({})({position})", types::name(dtype))
            }
            Kind::Load { access, index, mask } => {
                let index = index.map(|index| (index, name(index)));
                let pointer = address::pointer(self.kernel, access, index, lane, reach);
                match mask {
                    None => format!("*{pointer}"),
                    Some(mask) => {
                        let zero = types::literal(Scalar::zero(dtype));
                        format!("{} ? *{pointer} : {zero}", name(mask))
                    }
                }
            }
            Kind::Binary(BinaryOp::Div, x, y) if dtype == DType::F32 => match self.division {
                Division::Branching => operation::arithmetic(self.kernel, value, &self.names),
                Division::BranchFree => format!("branch_free_divide({}, {})", name(x), name(y)),
                Division::FastPath => {
                    format!("fast_path_divide({}, {}, is_irregular)", name(x), name(y))
                }
            },
            Kind::Unary(UnaryOp::Sqrt, x) if dtype == DType::F32 => match self.division {
                Division::Branching => operation::arithmetic(self.kernel, value, &self.names),
                Division::BranchFree => format!("branch_free_sqrt({})", name(x)),
                Division::FastPath => format!("fast_path_sqrt({}, is_irregular)", name(x)),
            },
            _ => operation::arithmetic(self.kernel, value, &self.names),
        }
    }

    /// Stores one element, under a condition.
    pub fn store(&mut self, value: Value, lane: &str, reach: Reach, condition: Option<&str>) {
        let Kind::Store { access, value: stored, index, mask, combine } =
            self.kernel.body[value as usize].kind
        else {
            unreachable!("not a store")
        };
        let index = index.map(|index| (index, self.name(index).to_owned()));
        let index = index.as_ref().map(|(value, name)| (*value, name.as_str()));
        let pointer = address::pointer(self.kernel, access, index, lane, reach);
        let conditions: Vec<&str> = [condition, self.guard, mask.map(|mask| self.name(mask))]
            .into_iter()
            .flatten()
            .collect();
        let predicate = match conditions.is_empty() {
            true => String::new(),
            false => format!("if ({}) ", conditions.join(" && ")),
        };
        let (dtype, stored) = (self.dtype(stored), self.name(stored));
        let kind = types::name(dtype);
        let line = match combine {
            None => format!("{predicate}*{pointer} = {stored};"),
            Some(op) if !self.uses_atomics => {
                let combined = operation::combine(op, dtype, "(*address)", stored);
                format!("{predicate}{{ {kind}* address = {pointer}; *address = {combined}; }}")
            }
            Some(CombineOp::Sum) if matches!(dtype, DType::F32 | DType::F64) => {
                format!("{predicate}atomicAdd({pointer}, {stored});")
            }
            Some(op) => {
                let combined = operation::combine(op, dtype, "seen", stored);
                format!(
                    "{predicate}{{ {kind}* address = {pointer}; {kind} seen = volatile_load(address); \
                     while (!compare_and_swap(address, seen, {combined})) seen = volatile_load(address); }}"
                )
            }
        };
        self.writer.line(line);
    }

    /// Declares the accumulators and scan carries of a pass.
    pub fn declare_accumulators(&mut self, values: &[Value]) {
        let lanes = match self.accumulates_per_lane {
            true => format!("[{}]", self.width),
            false => String::new(),
        };
        for &value in values {
            let (variable, identity, dtype) = match self.kernel.body[value as usize].kind {
                Kind::Reduce(op, a) => ('r', operation::identity(op, self.dtype(a)), self.dtype(a)),
                Kind::Scan(op, a) => ('q', operation::identity(op, self.dtype(a)), self.dtype(a)),
                Kind::ArgReduce(_, a) => {
                    let zero = types::literal(Scalar::zero(self.dtype(a)));
                    ('r', zero, self.dtype(a))
                }
                _ => continue,
            };
            let kind = types::name(dtype);
            let is_arg = matches!(self.kernel.body[value as usize].kind, Kind::ArgReduce(..));
            if self.accumulates_per_lane {
                self.writer.line(format!("{kind} {variable}{value}{lanes};"));
                if is_arg {
                    self.writer.line(format!("long long p{value}{lanes};"));
                }
                self.writer.line("#pragma unroll");
                let index = if is_arg { format!(" p{value}[j] = -1;") } else { String::new() };
                self.writer.line(format!(
                    "for (int j = 0; j < {}; j++) {{ {variable}{value}[j] = {identity};{index} }}",
                    self.width
                ));
            } else {
                self.writer.line(format!("{kind} {variable}{value} = {identity};"));
                if is_arg {
                    self.writer.line(format!("long long p{value} = -1;"));
                }
            }
        }
    }

    /// The accumulator of a reduction. Lane `j` is in scope if each lane has its own.
    pub fn accumulator(&self, variable: char, value: Value) -> String {
        match self.accumulates_per_lane {
            true => format!("{variable}{value}[j]"),
            false => format!("{variable}{value}"),
        }
    }

    /// Emits an instruction of a pass: a value, a store, or one more element of a reduction or scan.
    fn emit(&mut self, value: Value, lane: &str) {
        let instruction = self.kernel.body[value as usize];
        let predicate = self.guard.map_or(String::new(), |guard| format!("if ({guard}) "));
        match instruction.kind {
            Kind::Store { value: stored, .. } if self.is_vectorized(value) => {
                let stored = self.name(stored);
                self.writer.line(format!("s{value}[j] = {stored};"));
            }
            Kind::Store { .. } => self.store(value, lane, Reach::Tile, None),
            Kind::Reduce(op, a) => {
                let total = self.accumulator('r', value);
                let combined = operation::combine(op, self.dtype(a), &total, self.name(a));
                self.writer.line(format!("{predicate}{total} = {combined};"));
            }
            Kind::ArgReduce(op, a) => {
                let (best, best_index) =
                    (self.accumulator('r', value), self.accumulator('p', value));
                let (name, index) = (self.name(a).to_owned(), (self.reduced_index)(lane));
                let better = operation::is_better(op, [&name, &index], [&best, &best_index]);
                let condition = match self.guard {
                    Some(guard) => format!("{guard} && {better}"),
                    None => better,
                };
                self.writer.line(format!(
                    "if ({condition}) {{ {best} = {name}; {best_index} = {index}; }}"
                ));
            }
            Kind::Scan(op, a) => self.scan(value, op, a),
            _ if self.is_vectorized(value) => {
                let kind = self.type_of(value);
                self.writer.line(format!("const {kind} v{value} = l{value}[j];"));
            }
            _ => self.value(value, lane, Reach::Tile),
        }
    }

    /// Emits one iteration of a pass: the vector of elements at the coordinates in scope.
    ///
    /// `cache_slot` is the register array element that caches a value between passes, if any.
    pub fn iteration(&mut self, values: &[Value], cache_slot: &dyn Fn(Value) -> Option<String>) {
        let width = self.width;
        for &value in values {
            let instruction = self.kernel.body[value as usize];
            if !self.is_vectorized(value) {
                continue;
            }
            let kind = types::name(instruction.dtype);
            match instruction.kind {
                Kind::Load { .. } => {
                    self.writer.line(format!("alignas(16) {kind} l{value}[{width}];"));
                    self.load_vector(value, &format!("l{value}"), Reach::Tile);
                }
                _ => self.writer.line(format!("alignas(16) {kind} s{value}[{width}];")),
            }
        }
        let lane = if width > 1 { "j" } else { "0" };
        match width {
            1 => {
                self.writer.open(if self.accumulates_per_lane { "{ const int j = 0; " } else { "" })
            }
            _ => self.writer.unrolled("j", width),
        }
        for &value in values {
            self.emit(value, lane);
            if let Some(slot) = cache_slot(value) {
                let name = self.name(value).to_owned();
                self.writer.line(format!("{slot} = {name};"));
            }
        }
        self.writer.close();
        if width == 1 && self.accumulates_per_lane {
            self.writer.line("}");
        }
        for &value in values {
            if self.is_vectorized(value)
                && matches!(self.kernel.body[value as usize].kind, Kind::Store { .. })
            {
                self.store_vector(value);
            }
        }
    }

    /// Emits one more element of a scan by all threads of a row: a warp scan with shuffles, then the carry of the warps
    /// before.
    fn scan(&mut self, value: Value, op: CombineOp, a: Value) {
        let dtype = self.dtype(a);
        let kind = types::name(dtype);
        let carry = self.accumulator('q', value);
        let identity = operation::identity(op, dtype);
        let combine = |a: &str, b: &str| operation::combine(op, dtype, a, b);
        let x = self.name(a).to_owned();
        if self.scan_threads == 1 {
            self.writer.line(format!("{carry} = {};", combine(&carry, &x)));
            self.writer.line(format!("const {kind} v{value} = {carry};"));
            return;
        }
        let guard = self.guard.expect("cooperative scans have a guard");
        let (part, writer) = (format!("x{value}"), &mut self.writer);
        writer.line(format!("{kind} {part} = {guard} ? {x} : {identity};"));
        writer.line("#pragma unroll");
        writer.line(format!(
            "for (int d = 1; d < 32; d *= 2) {{ const {kind} below = shuffle_up({part}, d); \
             if ((threadIdx.x & 31) >= d) {part} = {}; }}",
            combine("below", &part)
        ));
        if self.scan_threads == 32 {
            writer.line(format!("const {kind} v{value} = {};", combine(&carry, &part)));
            writer.line(format!("{carry} = broadcast_last_lane(v{value});"));
            return;
        }
        let warps = self.scan_threads / 32;
        // The compiler loads up to four elements at a time.
        writer.line(format!("__shared__ alignas(16) {kind} totals{value}[{}];", warps.max(4)));
        writer.line("__syncthreads();");
        writer.line(format!(
            "if ((threadIdx.x & 31) == 31) totals{value}[threadIdx.x / 32] = {part};"
        ));
        writer.line("__syncthreads();");
        writer.line(format!("{kind} before{value} = {carry};"));
        let with_total = combine(&format!("before{value}"), &format!("totals{value}[w]"));
        writer.line(format!(
            "for (int w = 0; w < (int)threadIdx.x / 32; w++) before{value} = {with_total};"
        ));
        writer.line(format!(
            "const {kind} v{value} = {};",
            combine(&format!("before{value}"), &part)
        ));
        let with_total = combine(&carry, &format!("totals{value}[w]"));
        writer.line(format!("for (int w = 0; w < {warps}; w++) {carry} = {with_total};"));
    }

    /// The instructions of one level before a pass and outside of it, stores included.
    pub fn values_between_passes(&self, level: Level, pass: usize) -> Vec<Value> {
        (0..self.kernel.body.len())
            .filter(|&at| self.passes.levels[at] == level && self.passes.of[at] == pass)
            .filter(|&at| {
                let kind = self.kernel.body[at].kind;
                !kind.is_reduction() && !matches!(kind, Kind::Constant(_) | Kind::Scalar(_))
            })
            .map(|at| at as Value)
            .collect()
    }
}
