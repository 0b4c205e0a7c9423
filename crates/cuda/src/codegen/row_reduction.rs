//! The `RowReduction` mapping: kernels that reduce or scan the vector axis, such as softmax and layer norm.
//!
//! A warp or a block makes one pass over a row for each dependent reduction and combines the partial results with warp
//! shuffles and shared memory. Values that several passes need are cached in registers if the row is short enough.

use super::address;
use super::address::Reach;
use super::body::{Body, Passes};
use super::{Variant, elementwise, operation, types};
use inflight_ir::kernel::{Kernel, Kind, Level, Value};

/// Iterations of a pass whose loads a thread has in flight at once.
const UNROLL: u32 = 4;

/// Passes with more loads than this are not unrolled, nor are those of longer kernels: registers are limited.
const MAX_UNROLLED_LOADS: usize = 4;
const MAX_UNROLLED_INSTRUCTIONS: usize = 300;

pub fn text(kernel: &Kernel, variant: Variant, threads: u32, rows: u32, cached: u32) -> String {
    let passes = Passes::new(kernel);
    let scans = kernel.body.iter().any(|i| matches!(i.kind, Kind::Scan(..)));
    let mut body = Body::new(kernel, &passes, variant.width, variant);
    body.uses_atomics = threads > 1;
    body.scan_threads = threads;
    body.reduced_index = |lane| format!("(long long)(i + {lane})");
    body.open_entry(threads * rows);
    let row = Row { threads, cached, scans };
    match threads {
        1 => body.writer.line("const I lane = 0;"),
        _ => body.writer.line(format!("const I lane = threadIdx.x % {threads};")),
    }
    let extents: Vec<String> =
        (kernel.grid_rank..kernel.rank()).map(|axis| format!("(I)a.extent[{axis}]")).collect();
    body.writer.line(format!("const I n = {};", extents.join(" * ")));
    let first = match threads {
        1 => format!("(I)blockIdx.x * {rows} + threadIdx.x"),
        _ => format!("(I)blockIdx.x * {rows} + threadIdx.x / {threads}"),
    };
    body.writer
        .open(format!("for (I row = {first}; row < (I)a.items; row += (I)gridDim.x * {rows})"));
    address::unravel(&mut body.writer, "row", 0..kernel.grid_rank);
    address::bases(&mut body.writer, kernel, 0..kernel.grid_rank);
    let mut available = preload(&mut body, &row);
    for pass in 0..passes.roots.len() {
        for value in body.values_between_passes(Level::Program, pass) {
            match kernel.body[value as usize].kind {
                Kind::Store { .. } => body.store(value, "0", Reach::Program, Some("lane == 0")),
                _ => body.value(value, "0", Reach::Program),
            }
        }
        if !passes.roots[pass].is_empty() {
            emit_pass(&mut body, &row, pass, &mut available);
        }
    }
    if threads > 32 {
        body.writer.line("__syncthreads();");
    }
    body.writer.close();
    body.writer.close();
    body.writer.finish()
}

struct Row {
    threads: u32,
    /// Iterations of a pass, if the count is a compile-time constant. Then the values of each are cached in registers.
    cached: u32,
    scans: bool,
}

/// The array element that caches a value in registers.
fn cache_slot(value: Value, width: u32) -> String {
    match width {
        1 => format!("t{value}[k]"),
        _ => format!("t{value}[k * {width} + j]"),
    }
}

/// Declares the register cache and loads the cached operands. Returns the values that are available from then on.
fn preload(body: &mut Body, row: &Row) -> Vec<Value> {
    if row.cached == 0 {
        return Vec::new();
    }
    let (kernel, width, all) = (body.kernel, body.width, body.passes.cached.clone());
    for &value in &all {
        let kind = types::name(kernel.body[value as usize].dtype);
        body.writer.line(format!("alignas(16) {kind} t{value}[{}];", row.cached * width));
    }
    let loads: Vec<Value> = all
        .into_iter()
        .filter(|&value| matches!(kernel.body[value as usize].kind, Kind::Load { .. }))
        .collect();
    if loads.is_empty() {
        return loads;
    }
    open_iterations(body, row);
    for &value in &loads {
        if body.is_vectorized(value) {
            body.load_vector(value, &format!("t{value} + k * {width}"), Reach::Tile);
            continue;
        }
        for lane in 0..width {
            let expression = body.expression(value, &lane.to_string(), Reach::Tile);
            body.writer.line(format!("t{value}[k * {width} + {lane}] = {expression};"));
        }
    }
    body.writer.close();
    body.writer.close();
    for &value in &loads {
        body.names[value as usize] = cache_slot(value, width);
    }
    loads
}

/// Opens the two blocks around one iteration of a thread's pass over a row.
fn open_iterations(body: &mut Body, row: &Row) {
    let (width, threads) = (body.width, row.threads);
    let stride = width * threads;
    if row.scans {
        body.writer.open(format!("for (I start = 0; start < n; start += {threads})"));
        body.writer.line("const bool inside = start + lane < n;");
        body.writer.open("");
        body.writer.line("const I i = inside ? start + lane : n - 1;");
    } else if row.cached > 0 {
        body.writer.unrolled("k", row.cached);
        body.writer.open(format!("if (const I i = k * (I){stride} + lane * {width}; i < n)"));
    } else {
        body.writer.line("#pragma unroll 4");
        body.writer.open(format!("for (I i = lane * {width}; i < n; i += {stride})"));
        body.writer.open("");
    }
    let kernel = body.kernel;
    address::unravel(&mut body.writer, "i", kernel.grid_rank..kernel.rank());
}

fn emit_pass(body: &mut Body, row: &Row, pass: usize, available: &mut Vec<Value>) {
    let (kernel, width, passes) = (body.kernel, body.width, body.passes);
    let values = passes.values(kernel, pass, available);
    body.declare_accumulators(&values);
    let rest = unrolled_loop(body, row, &values);
    match rest {
        Some(next) => {
            let stride = width * row.threads;
            body.writer.line("#pragma unroll 1");
            body.writer.open(format!("for (I i = {next}; i < n; i += {stride})"));
            body.writer.open("");
            address::unravel(&mut body.writer, "i", kernel.grid_rank..kernel.rank());
        }
        None => open_iterations(body, row),
    }
    body.guard = row.scans.then_some("inside");
    let is_cached = |value: Value| row.cached > 0 && passes.cached.contains(&value);
    body.iteration(&values, &|value| is_cached(value).then(|| cache_slot(value, width)));
    body.guard = None;
    body.writer.close();
    body.writer.close();
    for &value in values.iter().filter(|&&value| is_cached(value)) {
        body.names[value as usize] = cache_slot(value, width);
        available.push(value);
    }
    let reductions: Vec<Value> = values
        .into_iter()
        .filter(|&value| kernel.body[value as usize].kind.is_reduction())
        .collect();
    combine_threads(body, row.threads, &reductions);
}

/// Emits the part of a pass that handles several iterations at a time and issues all their loads before the first use;
/// left alone, the compiler interleaves loads and uses. Returns the variable at which the remainder loop begins, or
/// `None` if the pass is not eligible.
fn unrolled_loop(body: &mut Body, row: &Row, values: &[Value]) -> Option<String> {
    let (kernel, width) = (body.kernel, body.width);
    let (loads, others) = elementwise::hoistable_loads(kernel, values)?;
    let fits = (1..=MAX_UNROLLED_LOADS).contains(&loads.len())
        && kernel.body.len() < MAX_UNROLLED_INSTRUCTIONS;
    if !fits || row.cached > 0 || row.scans || row.threads == 1 {
        return None;
    }
    let stride = width * row.threads;
    let next = format!("next{}", values.last()?);
    body.writer.line(format!("I {next} = lane * {width};"));
    body.writer.open(format!(
        "for (; {next} + {} < n; {next} += {})",
        (UNROLL - 1) * stride,
        UNROLL * stride
    ));
    let open_iteration = |body: &mut Body| {
        body.writer.unrolled("u", UNROLL);
        body.writer.line(format!("const I i = {next} + u * {stride};"));
        address::unravel(&mut body.writer, "i", kernel.grid_rank..kernel.rank());
    };
    elementwise::issue_loads_first(body, UNROLL, [&loads, &others], &open_iteration);
    body.writer.close();
    Some(next)
}

/// Combines the partial results of a row's threads, so that every thread has the total: a butterfly of warp shuffles,
/// then shared memory between warps.
fn combine_threads(body: &mut Body, threads: u32, reductions: &[Value]) {
    let kernel = body.kernel;
    let in_warp = |body: &mut Body, value: Value| {
        body.writer.line("#pragma unroll");
        body.writer.open("for (int m = 16; m > 0; m /= 2)");
        match kernel.body[value as usize].kind {
            Kind::Reduce(op, a) => {
                let name = format!("r{value}");
                let combined = operation::combine(
                    op,
                    body.dtype(a),
                    &name,
                    &format!("shuffle_xor({name}, m)"),
                );
                body.writer.line(format!("{name} = {combined};"));
            }
            Kind::ArgReduce(op, a) => {
                let kind = types::name(body.dtype(a));
                body.writer.line(format!("const {kind} y = shuffle_xor(r{value}, m);"));
                body.writer.line(format!("const long long q = shuffle_xor(p{value}, m);"));
                let (best, best_index) = (format!("r{value}"), format!("p{value}"));
                let better = operation::is_better(op, ["y", "q"], [&best, &best_index]);
                body.writer.line(format!("if ({better}) {{ {best} = y; {best_index} = q; }}"));
            }
            _ => unreachable!("not a reduction"),
        }
        body.writer.close();
    };
    if threads > 1 {
        reductions.iter().for_each(|&value| in_warp(body, value));
    }
    if threads > 32 && !reductions.is_empty() {
        let warps = threads / 32;
        for &value in reductions {
            let kind = match kernel.body[value as usize].kind {
                Kind::Reduce(_, a) | Kind::ArgReduce(_, a) => types::name(body.dtype(a)),
                _ => unreachable!("not a reduction"),
            };
            body.writer.line(format!("__shared__ {kind} shared_r{value}[{warps}];"));
            let is_arg = matches!(kernel.body[value as usize].kind, Kind::ArgReduce(..));
            if is_arg {
                body.writer.line(format!("__shared__ long long shared_p{value}[{warps}];"));
            }
            body.writer.open("if ((threadIdx.x & 31) == 0)");
            body.writer.line(format!("shared_r{value}[threadIdx.x / 32] = r{value};"));
            if is_arg {
                body.writer.line(format!("shared_p{value}[threadIdx.x / 32] = p{value};"));
            }
            body.writer.close();
        }
        body.writer.line("__syncthreads();");
        for &value in reductions {
            let has_warp = format!("(threadIdx.x & 31) < {warps}");
            match kernel.body[value as usize].kind {
                Kind::Reduce(op, a) => {
                    let identity = operation::identity(op, body.dtype(a));
                    body.writer.line(format!(
                        "r{value} = {has_warp} ? shared_r{value}[threadIdx.x & 31] : {identity};"
                    ));
                }
                _ => {
                    body.writer.line(format!(
                        "p{value} = {has_warp} ? shared_p{value}[threadIdx.x & 31] : -1ll;"
                    ));
                    body.writer.line(format!(
                        "if ({has_warp}) r{value} = shared_r{value}[threadIdx.x & 31];"
                    ));
                }
            }
            in_warp(body, value);
        }
    }
    for &value in reductions {
        body.names[value as usize] = match kernel.body[value as usize].kind {
            Kind::ArgReduce(..) => format!("(p{value} < 0 ? 0ll : p{value})"),
            _ => format!("r{value}"),
        };
    }
}
