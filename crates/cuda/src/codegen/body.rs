//! The instructions of a kernel as statements, whichever way its points are spread over threads.

use super::address::{self, Reach};
use super::writer::Writer;
use super::{Variant, operation, types};
use inflight_ir::elementwise::{BinaryOp, CombineOp, UnaryOp};
use inflight_ir::kernel::{AccessId, Kernel, Kind, Level, Stride, Value};
use inflight_ir::{DType, Scalar};

/// A tile value of at most this many instructions is computed again rather than kept.
const CHEAP: usize = 8;

/// Which walk over its tile computes each value of a kernel, and which values are worth keeping.
pub struct Stages {
    /// For each value, how many reductions, one after another, must end before it.
    pub of: Vec<usize>,
    /// For each stage, the reductions and tile stores of its walk.
    pub roots: Vec<Vec<Value>>,
    /// The level of each value.
    pub levels: Vec<Level>,
    /// Tile values that more than one walk needs and that are loads, or dear to compute again.
    pub kept: Vec<Value>,
}

impl Stages {
    pub fn new(kernel: &Kernel) -> Stages {
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
        let mut stages = Stages { of, roots, levels, kept: Vec::new() };
        stages.choose_kept(kernel);
        stages
    }

    /// The values that a walk computes, in order: its roots and the tile values they need, but for those that
    /// are there already.
    pub fn walk(&self, kernel: &Kernel, stage: usize, there: &[Value]) -> Vec<Value> {
        let mut included = vec![false; kernel.body.len()];
        let mut stack = self.roots[stage].clone();
        while let Some(value) = stack.pop() {
            if std::mem::replace(&mut included[value as usize], true) {
                continue;
            }
            stack.extend(kernel.body[value as usize].kind.operands().into_iter().filter(|&v| {
                let is_free =
                    matches!(kernel.body[v as usize].kind, Kind::Constant(_) | Kind::Scalar(_));
                self.levels[v as usize] == Level::Tile && !is_free && !there.contains(&v)
            }));
        }
        (0..kernel.body.len() as Value).filter(|&value| included[value as usize]).collect()
    }

    fn choose_kept(&mut self, kernel: &Kernel) {
        let mut walks = vec![0; kernel.body.len()];
        for stage in 0..self.roots.len() {
            for value in self.walk(kernel, stage, &[]) {
                walks[value as usize] += 1;
            }
        }
        // A value that several walks compute is at their frontier iff one of its users is not.
        let mut frontier = vec![false; kernel.body.len()];
        for (user, instruction) in kernel.body.iter().enumerate() {
            if walks[user] < 2 {
                instruction.kind.operands().iter().for_each(|&v| frontier[v as usize] = true);
            }
        }
        let is_load = |value: Value| {
            matches!(kernel.body[value as usize].kind, Kind::Load { index: None, mask: None, .. })
        };
        let dear: Vec<Value> = (0..kernel.body.len() as Value)
            .filter(|&value| walks[value as usize] > 1 && frontier[value as usize])
            .filter(|&value| !is_load(value) && self.cost(kernel, value) > CHEAP)
            .collect();
        // Loads that are still needed more than once.
        let mut loads = vec![0; kernel.body.len()];
        let mut there = Vec::new();
        for stage in 0..self.roots.len() {
            let walk = self.walk(kernel, stage, &there);
            there.extend(walk.iter().filter(|value| dear.contains(value)));
            walk.iter().for_each(|&value| loads[value as usize] += 1);
        }
        self.kept = (0..kernel.body.len() as Value)
            .filter(|&value| dear.contains(&value) || (is_load(value) && loads[value as usize] > 1))
            .collect();
    }

    /// The instructions that a tile value takes.
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

/// Whether a combining store may be done by threads that meet in one place.
pub fn is_atomic(_op: CombineOp, kernel: &Kernel, store: &Kind) -> bool {
    match *store {
        Kind::Store { access, .. } => {
            let param = kernel.accesses[access as usize].param;
            param.is_some_and(|param| kernel.params[param as usize].dtype.size() <= 8)
        }
        _ => false,
    }
}

/// Bytes that a reduction's partial result takes in memory.
pub fn partial_bytes(kernel: &Kernel, reduction: Value) -> usize {
    match kernel.body[reduction as usize].kind {
        Kind::ArgReduce(..) => 32,
        _ => 16,
    }
}

/// How numbers of `f32` are divided, and roots found. All round alike.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Division {
    /// As the compiler does it, with a branch for what is rare.
    Branching,
    /// Without a branch: where threads are too few to hide what one costs.
    Straight,
    /// As is right for numbers that are neither very large nor very small. Of others, `odd` becomes true.
    Usual,
}

/// A kernel's text as it is written.
pub struct Body<'a> {
    pub kernel: &'a Kernel,
    pub stages: &'a Stages,
    pub writer: Writer,
    /// How each value is spelled where it is in scope.
    pub names: Vec<String>,
    /// Neighbours that are loaded and stored at once.
    pub width: u32,
    /// Params that need not stay in a cache, as bits.
    pub streamed: u64,
    /// Whether as much is written as is read: then what was read leaves the second cache last.
    pub reads_last: bool,
    /// A condition without which nothing may be stored or folded.
    pub guard: Option<&'static str>,
    /// Whether other threads may combine with the same place.
    pub shares_places: bool,
    /// The threads that scan a row together.
    pub scan_threads: u32,
    /// The place of an element among those that are reduced, given the lane.
    pub place: fn(&str) -> String,
    /// Whether there is an accumulator for each lane.
    pub folds_lanes: bool,
    /// Whether a block takes no more registers than leave room for another one.
    pub leaves_room: bool,
    /// How numbers are divided, and roots found.
    pub division: Division,
}

impl<'a> Body<'a> {
    pub fn new(kernel: &'a Kernel, stages: &'a Stages, width: u32, variant: Variant) -> Body<'a> {
        let mut writer = Writer::default();
        writer.line(format!("typedef {} I;", if variant.wide { "long long" } else { "int" }));
        writer.line(super::Arguments::declaration(kernel));
        Body {
            kernel,
            stages,
            writer,
            names: (0..kernel.body.len()).map(|value| format!("v{value}")).collect(),
            width,
            streamed: variant.streamed,
            reads_last: (0..kernel.params.len().min(64))
                .any(|param| kernel.params[param].writes && variant.streamed >> param & 1 == 1),
            guard: None,
            shares_places: false,
            scan_threads: 1,
            place: |lane| lane.to_owned(),
            folds_lanes: false,
            leaves_room: false,
            division: Division::Branching,
        }
    }

    /// The entry, up to the values that are the same everywhere.
    pub fn open_entry(&mut self, threads: u32) {
        let together = match self.leaves_room {
            true => ", 2",
            false => "",
        };
        self.writer.open(format!(
            "extern \"C\" __global__ void __launch_bounds__({threads}{together}) \
             entry(const __grid_constant__ Arguments a)"
        ));
        self.scalars();
    }

    /// The values that are the same everywhere.
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

    /// Whether a load or store moves neighbours at once.
    pub fn is_packed(&self, value: Value) -> bool {
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

    /// Loads neighbours into an array.
    pub fn load_pack(&mut self, value: Value, array: &str, reach: Reach) {
        let pointer = address::pointer(self.kernel, self.access(value), None, "0", reach);
        let load = match (self.is_streamed(value), self.reads_last) {
            (false, _) => "load_pack",
            (true, false) => "stream_in_pack",
            (true, true) => "last_in_pack",
        };
        self.writer.line(format!("{load}<{}>({array}, {pointer});", self.width));
    }

    /// Stores an array of neighbours.
    pub fn store_pack(&mut self, value: Value) {
        let pointer = address::pointer(self.kernel, self.access(value), None, "0", Reach::Tile);
        let is_streamed = self.is_streamed(value) && !self.reads_last;
        let store = if is_streamed { "stream_out_pack" } else { "store_pack" };
        self.writer.line(format!("{store}<{}>({pointer}, s{value});", self.width));
    }

    /// Whether a load or store is of a param that need not stay in a cache.
    fn is_streamed(&self, value: Value) -> bool {
        let param = self.kernel.accesses[self.access(value) as usize].param;
        param.is_some_and(|param| param < 64 && self.streamed >> param & 1 == 1)
    }

    /// An instruction that computes a value.
    pub fn value(&mut self, value: Value, lane: &str, reach: Reach) {
        let expression = self.expression(value, lane, reach);
        let (kind, name) = (self.type_of(value), self.name(value));
        self.writer.line(format!("const {kind} {name} = {expression};"));
    }

    /// What an instruction computes.
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
                Division::Branching => operation::computed(self.kernel, value, &self.names),
                Division::Straight => format!("straight_divide({}, {})", name(x), name(y)),
                Division::Usual => format!("usual_divide({}, {}, odd)", name(x), name(y)),
            },
            Kind::Unary(UnaryOp::Sqrt, x) if dtype == DType::F32 => match self.division {
                Division::Branching => operation::computed(self.kernel, value, &self.names),
                Division::Straight => format!("straight_root({})", name(x)),
                Division::Usual => format!("usual_root({}, odd)", name(x)),
            },
            _ => operation::computed(self.kernel, value, &self.names),
        }
    }

    /// A store of one element, under a condition.
    pub fn store(&mut self, value: Value, lane: &str, reach: Reach, condition: Option<&str>) {
        let Kind::Store { access, value: stored, index, mask, combine } =
            self.kernel.body[value as usize].kind
        else {
            unreachable!("only stores are stored")
        };
        let index = index.map(|index| (index, self.name(index).to_owned()));
        let index = index.as_ref().map(|(value, name)| (*value, name.as_str()));
        let pointer = address::pointer(self.kernel, access, index, lane, reach);
        let conditions: Vec<&str> = [condition, self.guard, mask.map(|mask| self.name(mask))]
            .into_iter()
            .flatten()
            .collect();
        let only_if = match conditions.is_empty() {
            true => String::new(),
            false => format!("if ({}) ", conditions.join(" && ")),
        };
        let (dtype, stored) = (self.dtype(stored), self.name(stored));
        let kind = types::name(dtype);
        let line = match combine {
            None => format!("{only_if}*{pointer} = {stored};"),
            Some(op) if !self.shares_places => {
                let combined = operation::combine(op, dtype, "(*at)", stored);
                format!("{only_if}{{ {kind}* at = {pointer}; *at = {combined}; }}")
            }
            Some(CombineOp::Sum) if matches!(dtype, DType::F32 | DType::F64) => {
                format!("{only_if}atomicAdd({pointer}, {stored});")
            }
            Some(op) => {
                let combined = operation::combine(op, dtype, "seen", stored);
                format!(
                    "{only_if}{{ {kind}* at = {pointer}; {kind} seen = read_now(at); \
                     while (!swap_if_same(at, seen, {combined})) seen = read_now(at); }}"
                )
            }
        };
        self.writer.line(line);
    }

    /// Declares the accumulators and carries of a walk.
    pub fn declare_folds(&mut self, walk: &[Value]) {
        let lanes = match self.folds_lanes {
            true => format!("[{}]", self.width),
            false => String::new(),
        };
        for &value in walk {
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
            if self.folds_lanes {
                self.writer.line(format!("{kind} {variable}{value}{lanes};"));
                if is_arg {
                    self.writer.line(format!("long long p{value}{lanes};"));
                }
                self.writer.line("#pragma unroll");
                let place = if is_arg { format!(" p{value}[j] = -1;") } else { String::new() };
                self.writer.line(format!(
                    "for (int j = 0; j < {}; j++) {{ {variable}{value}[j] = {identity};{place} }}",
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

    /// The accumulator of a reduction, where lane `j` is in scope if each has its own.
    pub fn accumulator(&self, variable: char, value: Value) -> String {
        match self.folds_lanes {
            true => format!("{variable}{value}[j]"),
            false => format!("{variable}{value}"),
        }
    }

    /// A statement of a walk: a value, a store, or one more element of a reduction or scan.
    fn walked(&mut self, value: Value, lane: &str) {
        let instruction = self.kernel.body[value as usize];
        let only_if = self.guard.map_or(String::new(), |guard| format!("if ({guard}) "));
        match instruction.kind {
            Kind::Store { value: stored, .. } if self.is_packed(value) => {
                let stored = self.name(stored);
                self.writer.line(format!("s{value}[j] = {stored};"));
            }
            Kind::Store { .. } => self.store(value, lane, Reach::Tile, None),
            Kind::Reduce(op, a) => {
                let total = self.accumulator('r', value);
                let combined = operation::combine(op, self.dtype(a), &total, self.name(a));
                self.writer.line(format!("{only_if}{total} = {combined};"));
            }
            Kind::ArgReduce(op, a) => {
                let (best, at) = (self.accumulator('r', value), self.accumulator('p', value));
                let (name, place) = (self.name(a).to_owned(), (self.place)(lane));
                let better = operation::is_better(op, [&name, &place], [&best, &at]);
                let condition = match self.guard {
                    Some(guard) => format!("{guard} && {better}"),
                    None => better,
                };
                self.writer
                    .line(format!("if ({condition}) {{ {best} = {name}; {at} = {place}; }}"));
            }
            Kind::Scan(op, a) => self.scan(value, op, a),
            _ if self.is_packed(value) => {
                let kind = self.type_of(value);
                self.writer.line(format!("const {kind} v{value} = l{value}[j];"));
            }
            _ => self.value(value, lane, Reach::Tile),
        }
    }

    /// One step of a walk: the elements at the coordinates in scope and their neighbours.
    ///
    /// `keep` says where a value is kept, if it is.
    pub fn step(&mut self, walk: &[Value], keep: &dyn Fn(Value) -> Option<String>) {
        let width = self.width;
        for &value in walk {
            let instruction = self.kernel.body[value as usize];
            if !self.is_packed(value) {
                continue;
            }
            let kind = types::name(instruction.dtype);
            match instruction.kind {
                Kind::Load { .. } => {
                    self.writer.line(format!("alignas(16) {kind} l{value}[{width}];"));
                    self.load_pack(value, &format!("l{value}"), Reach::Tile);
                }
                _ => self.writer.line(format!("alignas(16) {kind} s{value}[{width}];")),
            }
        }
        let lane = if width > 1 { "j" } else { "0" };
        match width {
            1 => self.writer.open(if self.folds_lanes { "{ const int j = 0; " } else { "" }),
            _ => self.writer.unrolled("j", width),
        }
        for &value in walk {
            self.walked(value, lane);
            if let Some(place) = keep(value) {
                let name = self.name(value).to_owned();
                self.writer.line(format!("{place} = {name};"));
            }
        }
        self.writer.close();
        if width == 1 && self.folds_lanes {
            self.writer.line("}");
        }
        for &value in walk {
            if self.is_packed(value)
                && matches!(self.kernel.body[value as usize].kind, Kind::Store { .. })
            {
                self.store_pack(value);
            }
        }
    }

    /// One more element of a scan, by all the threads of a row.
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
        let guard = self.guard.expect("threads that scan walk in step");
        let (part, writer) = (format!("x{value}"), &mut self.writer);
        writer.line(format!("{kind} {part} = {guard} ? {x} : {identity};"));
        writer.line("#pragma unroll");
        writer.line(format!(
            "for (int d = 1; d < 32; d *= 2) {{ const {kind} below = from_below({part}, d); \
             if ((threadIdx.x & 31) >= d) {part} = {}; }}",
            combine("below", &part)
        ));
        if self.scan_threads == 32 {
            writer.line(format!("const {kind} v{value} = {};", combine(&carry, &part)));
            writer.line(format!("{carry} = from_last(v{value});"));
            return;
        }
        let warps = self.scan_threads / 32;
        // The compiler loads up to four at a time.
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

    /// The instructions of one level and stage outside of any walk, stores among them.
    pub fn own(&self, level: Level, stage: usize) -> Vec<Value> {
        (0..self.kernel.body.len())
            .filter(|&at| self.stages.levels[at] == level && self.stages.of[at] == stage)
            .filter(|&at| {
                let kind = self.kernel.body[at].kind;
                !kind.is_reduction() && !matches!(kind, Kind::Constant(_) | Kind::Scalar(_))
            })
            .map(|at| at as Value)
            .collect()
    }
}
