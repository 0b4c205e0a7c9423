//! Kernels whose points are independent: a thread takes a few neighbours, and several such groups at once, so
//! that enough loads are under way.

use super::address::{self, Reach};
use super::body::{Body, Stages};
use super::{POINT_THREADS, Variant, types};
use inflight_ir::kernel::{Kernel, Kind, Level, Stride, Value};

pub fn text(kernel: &Kernel, variant: Variant, unroll: u32, along: Option<u32>) -> String {
    let stages = Stages::new(kernel);
    let mut body = Body::new(kernel, &stages, variant.width, variant);
    body.open_entry(POINT_THREADS);
    let (width, step) = (variant.width, POINT_THREADS * unroll);
    body.writer.open(format!(
        "for (I start = (I)blockIdx.x * {step} + threadIdx.x; start < (I)a.items; \
         start += (I)gridDim.x * {step})"
    ));
    let early = early_loads(kernel);
    if unroll > 1 {
        for &value in &early {
            let kind = types::name(kernel.body[value as usize].dtype);
            let each = lanes_of(kernel, value, width);
            body.writer.line(format!("alignas(16) {kind} e{value}[{unroll}][{each}];"));
        }
        body.writer.unrolled("u", unroll);
        open_item(&mut body, "start + u * (I)256", along);
        for &value in &early {
            load(&mut body, value);
        }
        body.writer.close();
        body.writer.close();
        for &value in &early {
            body.names[value as usize] = loaded(kernel, value, width);
        }
        body.writer.unrolled("u", unroll);
        open_item(&mut body, "start + u * (I)256", along);
    } else {
        // The loop has looked whether there is such an item.
        body.writer.open("");
        body.writer.line("const I item = start;");
        coordinates(&mut body, along);
    }
    let there = |value: &Value| unroll > 1 && early.contains(value);
    compute(&mut body, &there);
    body.writer.close();
    if unroll > 1 {
        body.writer.close();
    }
    body.writer.close();
    body.writer.close();
    body.writer.finish()
}

/// The block of one group of neighbours, if there is such a one.
fn open_item(body: &mut Body, item: &str, along: Option<u32>) {
    body.writer.open(format!("if (const I item = {item}; item < (I)a.items)"));
    coordinates(body, along);
}

/// The coordinates of the group `item`, and the bases of accesses.
fn coordinates(body: &mut Body, along: Option<u32>) {
    let kernel = body.kernel;
    let vector = kernel.rank() - 1;
    match (vector, body.width) {
        (0, 1) => body.writer.line("const I c0 = item;"),
        (0, width) => body.writer.line(format!("const I c0 = item * {width};")),
        (_, width) => {
            body.writer.line(format!("const I lanes = (I)a.extent[{vector}] / {width};"));
            let mut rest = "item";
            if let Some(axis) = along {
                let extent = format!("(I)a.extent[{axis}]");
                let line = format!("const I c{axis} = item % {extent}, others = item / {extent};");
                body.writer.line(line);
                rest = "others";
            }
            body.writer.line(format!("const I c{vector} = {rest} % lanes * {width};"));
            let others = (0..vector).filter(|&other| along != Some(other as u32));
            address::unravel(&mut body.writer, &format!("{rest} / lanes"), others);
        }
    }
    address::bases(&mut body.writer, kernel, 0..kernel.grid_rank);
}

/// Loads that need no other value.
pub fn early_loads(kernel: &Kernel) -> Vec<Value> {
    let is_early = |value: &Value| {
        matches!(kernel.body[*value as usize].kind, Kind::Load { index: None, mask: None, .. })
    };
    (0..kernel.body.len() as Value).filter(is_early).collect()
}

/// How many neighbours of a group a load has.
pub fn lanes_of(kernel: &Kernel, load: Value, width: u32) -> u32 {
    match kernel.body[load as usize].kind {
        Kind::Load { access, .. } if kernel.accesses[access as usize].vector == Stride::Zero => 1,
        _ => width,
    }
}

/// What it loaded, for lane `j`.
pub fn loaded(kernel: &Kernel, load: Value, width: u32) -> String {
    match lanes_of(kernel, load, width) {
        1 => format!("e{load}[u][0]"),
        _ => format!("e{load}[u][j]"),
    }
}

/// Loads a group's neighbours into the array `e…[u]`.
pub fn load(body: &mut Body, value: Value) {
    let lanes = lanes_of(body.kernel, value, body.width);
    if body.is_packed(value) {
        body.load_pack(value, &format!("e{value}[u]"), Reach::Tile);
        return;
    }
    for lane in 0..lanes {
        let expression = body.expression(value, &lane.to_string(), Reach::Tile);
        body.writer.line(format!("e{value}[u][{lane}] = {expression};"));
    }
}

/// The loads of a walk that need no other value, and all else. `None` if something scans, or stores where a load may
/// be from: what is loaded before it may then not be what is there after it.
pub fn loads_first(kernel: &Kernel, walk: &[Value]) -> Option<(Vec<Value>, Vec<Value>)> {
    let kind = |value: &Value| kernel.body[*value as usize].kind;
    let is_load = |value: &Value| matches!(kind(value), Kind::Load { index: None, mask: None, .. });
    let (loads, others): (Vec<Value>, Vec<Value>) = walk.iter().copied().partition(is_load);
    let is_plain = |value: &Value| match kind(value) {
        Kind::Scan(..) => false,
        // What it stores to may be the memory of an operand, but then each element is loaded before it is stored.
        Kind::Store { index, combine, .. } => {
            index.is_none() && combine.is_none() && !super::is_in_place(kernel)
        }
        _ => true,
    };
    others.iter().all(is_plain).then_some((loads, others))
}

/// So many steps of a walk, all of whose loads are under way before the first is used. The others may use what the
/// loads load; `open` opens the block of the step `u`.
pub fn steps_at_once(
    body: &mut Body,
    count: u32,
    [loads, others]: [&[Value]; 2],
    open: &dyn Fn(&mut Body),
) {
    let (kernel, width) = (body.kernel, body.width);
    for &load in loads {
        let kind = types::name(kernel.body[load as usize].dtype);
        let lanes = lanes_of(kernel, load, width);
        body.writer.line(format!("alignas(16) {kind} e{load}[{count}][{lanes}];"));
    }
    open(body);
    loads.iter().for_each(|&value| load(body, value));
    body.writer.close();
    open(body);
    for &load in loads {
        body.names[load as usize] = loaded(kernel, load, width);
    }
    body.step(others, &|_| None);
    for &load in loads {
        body.names[load as usize] = format!("v{load}");
    }
    body.writer.close();
}

/// Every instruction at the points of one group.
pub fn compute(body: &mut Body, there: &dyn Fn(&Value) -> bool) {
    let group = Group::new(body, there);
    group.begin(body);
    group.lanes(body);
    group.store(body);
}

/// The instructions at the points of one group, but for those whose values are there.
pub struct Group {
    walk: Vec<Value>,
    /// Those that load or store neighbours at once.
    packed: Vec<Value>,
}

impl Group {
    pub fn new(body: &Body, there: &dyn Fn(&Value) -> bool) -> Group {
        let kernel = body.kernel;
        let walk: Vec<Value> = (0..kernel.body.len() as Value)
            .filter(|&value| {
                let kind = kernel.body[value as usize].kind;
                !matches!(kind, Kind::Constant(_) | Kind::Scalar(_)) && !there(&value)
            })
            .collect();
        let packed = walk.iter().copied().filter(|&value| body.is_packed(value)).collect();
        Group { walk, packed }
    }

    /// Whether nothing is stored before all is computed.
    pub fn stores_last(&self, body: &Body) -> bool {
        self.walk.iter().all(|&value| !is_store(body, value) || self.packed.contains(&value))
    }

    /// Loads neighbours, and declares what those are computed into that are stored at once.
    pub fn begin(&self, body: &mut Body) {
        let width = body.width;
        for &value in &self.packed {
            let kind = types::name(body.dtype(value));
            let letter = if is_store(body, value) { 's' } else { 'l' };
            body.writer.line(format!("alignas(16) {kind} {letter}{value}[{width}];"));
            if !is_store(body, value) {
                body.load_pack(value, &format!("l{value}"), Reach::Tile);
            }
        }
    }

    /// Computes each of the neighbours.
    pub fn lanes(&self, body: &mut Body) {
        let (kernel, width) = (body.kernel, body.width);
        match width {
            1 => body.writer.open("{ const int j = 0; "),
            _ => body.writer.unrolled("j", width),
        }
        let lane = if width > 1 { "j" } else { "0" };
        for &value in &self.walk {
            match kernel.body[value as usize].kind {
                Kind::Store { value: stored, .. } if body.is_packed(value) => {
                    let stored = body.names[stored as usize].clone();
                    body.writer.line(format!("s{value}[j] = {stored};"));
                }
                Kind::Store { .. } => {
                    let condition = once(kernel, body.stages.levels[value as usize], lane);
                    body.store(value, lane, Reach::Tile, condition.as_deref());
                }
                _ if body.is_packed(value) => {
                    let kind = types::name(kernel.body[value as usize].dtype);
                    body.writer.line(format!("const {kind} v{value} = l{value}[j];"));
                }
                _ => body.value(value, lane, Reach::Tile),
            }
        }
        body.writer.close();
        if width == 1 {
            body.writer.line("}");
        }
    }

    /// Stores neighbours.
    pub fn store(&self, body: &mut Body) {
        for &value in &self.packed {
            if is_store(body, value) {
                body.store_pack(value);
            }
        }
    }
}

fn is_store(body: &Body, value: Value) -> bool {
    matches!(body.kernel.body[value as usize].kind, Kind::Store { .. })
}

/// What must hold for a store that does not vary along all axes, so that only one point does it.
fn once(kernel: &Kernel, level: Level, lane: &str) -> Option<String> {
    let vector = kernel.rank() - 1;
    let last = match level {
        Level::Tile => return None,
        Level::Column => vector,
        Level::Program => vector + 1,
    };
    let zero = (kernel.grid_rank..last).map(|axis| match axis == vector {
        true => format!("c{axis} + {lane} == 0"),
        false => format!("c{axis} == 0"),
    });
    let zero: Vec<String> = zero.collect();
    (!zero.is_empty()).then(|| zero.join(" && "))
}
