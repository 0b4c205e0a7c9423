//! The `Elementwise` mapping: a grid-stride loop over vectors of independent points.
//!
//! A thread unrolls over several vectors and issues all their loads before the first use, so that enough loads are in
//! flight to saturate memory bandwidth. The other mappings share its loads-first emission ([`issue_loads_first`]) and
//! its per-vector body ([`VectorBody`]).

use super::address::{self, Reach};
use super::body::{Body, Passes};
use super::{ELEMENTWISE_THREADS, Variant, types};
use inflight_ir::kernel::{Kernel, Kind, Level, Stride, Value};

pub fn text(kernel: &Kernel, variant: Variant, unroll: u32, minor_axis: Option<u32>) -> String {
    let passes = Passes::new(kernel);
    let mut body = Body::new(kernel, &passes, variant.width, variant);
    body.open_entry(ELEMENTWISE_THREADS);
    let (width, step) = (variant.width, ELEMENTWISE_THREADS * unroll);
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
        open_item(&mut body, "start + u * (I)256", minor_axis);
        for &value in &early {
            load(&mut body, value);
        }
        body.writer.close();
        body.writer.close();
        for &value in &early {
            body.names[value as usize] = loaded(kernel, value, width);
        }
        body.writer.unrolled("u", unroll);
        open_item(&mut body, "start + u * (I)256", minor_axis);
    } else {
        // The loop condition has checked that the item exists.
        body.writer.open("");
        body.writer.line("const I item = start;");
        coordinates(&mut body, minor_axis);
    }
    let is_loaded = |value: &Value| unroll > 1 && early.contains(value);
    emit_vector(&mut body, &is_loaded);
    body.writer.close();
    if unroll > 1 {
        body.writer.close();
    }
    body.writer.close();
    body.writer.close();
    body.writer.finish()
}

/// Opens the block of one vector, with its bounds check.
fn open_item(body: &mut Body, item: &str, minor_axis: Option<u32>) {
    body.writer.open(format!("if (const I item = {item}; item < (I)a.items)"));
    coordinates(body, minor_axis);
}

/// Declares the coordinates of the vector `item`, and the base index of each access.
fn coordinates(body: &mut Body, minor_axis: Option<u32>) {
    let kernel = body.kernel;
    let vector = kernel.rank() - 1;
    match (vector, body.width) {
        (0, 1) => body.writer.line("const I c0 = item;"),
        (0, width) => body.writer.line(format!("const I c0 = item * {width};")),
        (_, width) => {
            body.writer.line(format!("const I lanes = (I)a.extent[{vector}] / {width};"));
            let mut rest = "item";
            if let Some(axis) = minor_axis {
                let extent = format!("(I)a.extent[{axis}]");
                let line = format!("const I c{axis} = item % {extent}, others = item / {extent};");
                body.writer.line(line);
                rest = "others";
            }
            body.writer.line(format!("const I c{vector} = {rest} % lanes * {width};"));
            let others = (0..vector).filter(|&other| minor_axis != Some(other as u32));
            address::unravel(&mut body.writer, &format!("{rest} / lanes"), others);
        }
    }
    address::bases(&mut body.writer, kernel, 0..kernel.grid_rank);
}

/// Loads that depend on no other value.
pub fn early_loads(kernel: &Kernel) -> Vec<Value> {
    let is_early = |value: &Value| {
        matches!(kernel.body[*value as usize].kind, Kind::Load { index: None, mask: None, .. })
    };
    (0..kernel.body.len() as Value).filter(is_early).collect()
}

/// Elements of a vector that a load reads: one if it is uniform along the vector axis.
pub fn lanes_of(kernel: &Kernel, load: Value, width: u32) -> u32 {
    match kernel.body[load as usize].kind {
        Kind::Load { access, .. } if kernel.accesses[access as usize].vector == Stride::Zero => 1,
        _ => width,
    }
}

/// The expression of a value loaded ahead, for lane `j`.
pub fn loaded(kernel: &Kernel, load: Value, width: u32) -> String {
    match lanes_of(kernel, load, width) {
        1 => format!("e{load}[u][0]"),
        _ => format!("e{load}[u][j]"),
    }
}

/// Loads a vector into the array `e…[u]`.
pub fn load(body: &mut Body, value: Value) {
    let lanes = lanes_of(body.kernel, value, body.width);
    if body.is_vectorized(value) {
        body.load_vector(value, &format!("e{value}[u]"), Reach::Tile);
        return;
    }
    for lane in 0..lanes {
        let expression = body.expression(value, &lane.to_string(), Reach::Tile);
        body.writer.line(format!("e{value}[u][{lane}] = {expression};"));
    }
}

/// Splits a pass into the loads that depend on no other value and the rest. `None` if the loads must not be hoisted:
/// the pass scans, or a store may alias a load.
pub fn hoistable_loads(kernel: &Kernel, values: &[Value]) -> Option<(Vec<Value>, Vec<Value>)> {
    let kind = |value: &Value| kernel.body[*value as usize].kind;
    let is_load = |value: &Value| matches!(kind(value), Kind::Load { index: None, mask: None, .. });
    let (loads, others): (Vec<Value>, Vec<Value>) = values.iter().copied().partition(is_load);
    let may_follow = |value: &Value| match kind(value) {
        Kind::Scan(..) => false,
        // A result may reuse an operand's memory in place; then each element is loaded before it is stored.
        Kind::Store { index, combine, .. } => {
            index.is_none() && combine.is_none() && !super::is_in_place(kernel)
        }
        _ => true,
    };
    others.iter().all(may_follow).then_some((loads, others))
}

/// Emits `count` iterations of a pass and issues all their loads before the first use. `open` opens the block of
/// iteration `u`.
pub fn issue_loads_first(
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
    body.iteration(others, &|_| None);
    for &load in loads {
        body.names[load as usize] = format!("v{load}");
    }
    body.writer.close();
}

/// Emits every instruction at the points of one vector, except those whose values `is_available`.
pub fn emit_vector(body: &mut Body, is_available: &dyn Fn(&Value) -> bool) {
    let vector = VectorBody::new(body, is_available);
    vector.begin(body);
    vector.lanes(body);
    vector.store(body);
}

/// The instructions at the points of one vector, except those whose values are available already.
pub struct VectorBody {
    values: Vec<Value>,
    /// The vectorized loads and stores among them.
    vectorized: Vec<Value>,
}

impl VectorBody {
    pub fn new(body: &Body, is_available: &dyn Fn(&Value) -> bool) -> VectorBody {
        let kernel = body.kernel;
        let values: Vec<Value> = (0..kernel.body.len() as Value)
            .filter(|&value| {
                let kind = kernel.body[value as usize].kind;
                !matches!(kind, Kind::Constant(_) | Kind::Scalar(_)) && !is_available(&value)
            })
            .collect();
        let vectorized =
            values.iter().copied().filter(|&value| body.is_vectorized(value)).collect();
        VectorBody { values, vectorized }
    }

    /// Whether all stores come after all computation.
    pub fn stores_last(&self, body: &Body) -> bool {
        self.values.iter().all(|&value| !is_store(body, value) || self.vectorized.contains(&value))
    }

    /// Emits vectorized loads and declares the arrays of vectorized stores.
    pub fn begin(&self, body: &mut Body) {
        let width = body.width;
        for &value in &self.vectorized {
            let kind = types::name(body.dtype(value));
            let letter = if is_store(body, value) { 's' } else { 'l' };
            body.writer.line(format!("alignas(16) {kind} {letter}{value}[{width}];"));
            if !is_store(body, value) {
                body.load_vector(value, &format!("l{value}"), Reach::Tile);
            }
        }
    }

    /// Emits the computation of each lane.
    pub fn lanes(&self, body: &mut Body) {
        let (kernel, width) = (body.kernel, body.width);
        match width {
            1 => body.writer.open("{ const int j = 0; "),
            _ => body.writer.unrolled("j", width),
        }
        let lane = if width > 1 { "j" } else { "0" };
        for &value in &self.values {
            match kernel.body[value as usize].kind {
                Kind::Store { value: stored, .. } if body.is_vectorized(value) => {
                    let stored = body.names[stored as usize].clone();
                    body.writer.line(format!("s{value}[j] = {stored};"));
                }
                Kind::Store { .. } => {
                    let condition =
                        single_store_condition(kernel, body.passes.levels[value as usize], lane);
                    body.store(value, lane, Reach::Tile, condition.as_deref());
                }
                _ if body.is_vectorized(value) => {
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

    /// Emits vectorized stores.
    pub fn store(&self, body: &mut Body) {
        for &value in &self.vectorized {
            if is_store(body, value) {
                body.store_vector(value);
            }
        }
    }
}

fn is_store(body: &Body, value: Value) -> bool {
    matches!(body.kernel.body[value as usize].kind, Kind::Store { .. })
}

/// The condition under which a point performs a store that does not vary along all axes, so that a single point does.
fn single_store_condition(kernel: &Kernel, level: Level, lane: &str) -> Option<String> {
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
