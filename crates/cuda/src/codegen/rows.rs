//! Kernels that reduce or scan their lanes: the threads of a row walk it together, once for each reduction that
//! waits for another. What more than one walk needs stays in registers, if the row is short enough.

use super::address;
use super::address::Reach;
use super::body::{Body, Stages};
use super::{Variant, operation, points, types};
use inflight_ir::kernel::{Kernel, Kind, Level, Value};

/// Steps of a walk whose loads a thread has under way at once.
const BATCH: u32 = 4;

/// Walks of more loads than this do not do that, nor do those of longer kernels: there are registers for so many.
const MOST_BATCHED: usize = 4;
const LONG: usize = 300;

pub fn text(kernel: &Kernel, variant: Variant, threads: u32, rows: u32, steps: u32) -> String {
    let stages = Stages::new(kernel);
    let scans = kernel.body.iter().any(|i| matches!(i.kind, Kind::Scan(..)));
    let mut body = Body::new(kernel, &stages, variant.width, variant);
    body.shares_places = threads > 1;
    body.scan_threads = threads;
    body.place = |lane| format!("(long long)(i + {lane})");
    body.open_entry(threads * rows);
    let row = Row { threads, steps, scans };
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
    let mut there = preload(&mut body, &row);
    for stage in 0..stages.roots.len() {
        for value in body.own(Level::Program, stage) {
            match kernel.body[value as usize].kind {
                Kind::Store { .. } => body.store(value, "0", Reach::Program, Some("lane == 0")),
                _ => body.value(value, "0", Reach::Program),
            }
        }
        if !stages.roots[stage].is_empty() {
            walk(&mut body, &row, stage, &mut there);
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
    /// Steps of a walk, if they are a constant number; the values kept are then in registers.
    steps: u32,
    scans: bool,
}

/// The place of a kept value in its array.
fn kept(value: Value, width: u32) -> String {
    match width {
        1 => format!("t{value}[k]"),
        _ => format!("t{value}[k * {width} + j]"),
    }
}

/// Declares what is kept, and loads what is in memory. Returns what is there.
fn preload(body: &mut Body, row: &Row) -> Vec<Value> {
    if row.steps == 0 {
        return Vec::new();
    }
    let (kernel, width, all) = (body.kernel, body.width, body.stages.kept.clone());
    for &value in &all {
        let kind = types::name(kernel.body[value as usize].dtype);
        body.writer.line(format!("alignas(16) {kind} t{value}[{}];", row.steps * width));
    }
    let loads: Vec<Value> = all
        .into_iter()
        .filter(|&value| matches!(kernel.body[value as usize].kind, Kind::Load { .. }))
        .collect();
    if loads.is_empty() {
        return loads;
    }
    open_steps(body, row);
    for &value in &loads {
        if body.is_packed(value) {
            body.load_pack(value, &format!("t{value} + k * {width}"), Reach::Tile);
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
        body.names[value as usize] = kept(value, width);
    }
    loads
}

/// Opens the two blocks around one step of a thread's walk.
fn open_steps(body: &mut Body, row: &Row) {
    let (width, threads) = (body.width, row.threads);
    let stride = width * threads;
    if row.scans {
        body.writer.open(format!("for (I start = 0; start < n; start += {threads})"));
        body.writer.line("const bool inside = start + lane < n;");
        body.writer.open("");
        body.writer.line("const I i = inside ? start + lane : n - 1;");
    } else if row.steps > 0 {
        body.writer.unrolled("k", row.steps);
        body.writer.open(format!("if (const I i = k * (I){stride} + lane * {width}; i < n)"));
    } else {
        body.writer.line("#pragma unroll 4");
        body.writer.open(format!("for (I i = lane * {width}; i < n; i += {stride})"));
        body.writer.open("");
    }
    let kernel = body.kernel;
    address::unravel(&mut body.writer, "i", kernel.grid_rank..kernel.rank());
}

fn walk(body: &mut Body, row: &Row, stage: usize, there: &mut Vec<Value>) {
    let (kernel, width, stages) = (body.kernel, body.width, body.stages);
    let values = stages.walk(kernel, stage, there);
    body.declare_folds(&values);
    let rest = batch(body, row, &values);
    match rest {
        Some(next) => {
            let stride = width * row.threads;
            body.writer.line("#pragma unroll 1");
            body.writer.open(format!("for (I i = {next}; i < n; i += {stride})"));
            body.writer.open("");
            address::unravel(&mut body.writer, "i", kernel.grid_rank..kernel.rank());
        }
        None => open_steps(body, row),
    }
    body.guard = row.scans.then_some("inside");
    let keeps = |value: Value| row.steps > 0 && stages.kept.contains(&value);
    body.step(&values, &|value| keeps(value).then(|| kept(value, width)));
    body.guard = None;
    body.writer.close();
    body.writer.close();
    for &value in values.iter().filter(|&&value| keeps(value)) {
        body.names[value as usize] = kept(value, width);
        there.push(value);
    }
    let reductions: Vec<Value> = values
        .into_iter()
        .filter(|&value| kernel.body[value as usize].kind.is_reduction())
        .collect();
    finish(body, row.threads, &reductions);
}

/// Walks several steps at a time, all of whose loads are under way before the first is used: the compiler would wait for
/// some before it begins others. Returns where the rest begins; `None` if the walk is not of that kind.
fn batch(body: &mut Body, row: &Row, values: &[Value]) -> Option<String> {
    let (kernel, width) = (body.kernel, body.width);
    let (loads, others) = points::loads_first(kernel, values)?;
    let fits = (1..=MOST_BATCHED).contains(&loads.len()) && kernel.body.len() < LONG;
    if !fits || row.steps > 0 || row.scans || row.threads == 1 {
        return None;
    }
    let stride = width * row.threads;
    let next = format!("next{}", values.last()?);
    body.writer.line(format!("I {next} = lane * {width};"));
    body.writer.open(format!(
        "for (; {next} + {} < n; {next} += {})",
        (BATCH - 1) * stride,
        BATCH * stride
    ));
    let open_step = |body: &mut Body| {
        body.writer.unrolled("u", BATCH);
        body.writer.line(format!("const I i = {next} + u * {stride};"));
        address::unravel(&mut body.writer, "i", kernel.grid_rank..kernel.rank());
    };
    points::steps_at_once(body, BATCH, [&loads, &others], &open_step);
    body.writer.close();
    Some(next)
}

/// Folds what the threads of a row have, so that all of them have all of it.
fn finish(body: &mut Body, threads: u32, reductions: &[Value]) {
    let kernel = body.kernel;
    let in_warp = |body: &mut Body, value: Value| {
        body.writer.line("#pragma unroll");
        body.writer.open("for (int m = 16; m > 0; m /= 2)");
        match kernel.body[value as usize].kind {
            Kind::Reduce(op, a) => {
                let name = format!("r{value}");
                let combined =
                    operation::combine(op, body.dtype(a), &name, &format!("exchange({name}, m)"));
                body.writer.line(format!("{name} = {combined};"));
            }
            Kind::ArgReduce(op, a) => {
                let kind = types::name(body.dtype(a));
                body.writer.line(format!("const {kind} y = exchange(r{value}, m);"));
                body.writer.line(format!("const long long q = exchange(p{value}, m);"));
                let (best, at) = (format!("r{value}"), format!("p{value}"));
                let better = operation::is_better(op, ["y", "q"], [&best, &at]);
                body.writer.line(format!("if ({better}) {{ {best} = y; {at} = q; }}"));
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
            let outside = format!("(threadIdx.x & 31) < {warps}");
            match kernel.body[value as usize].kind {
                Kind::Reduce(op, a) => {
                    let identity = operation::identity(op, body.dtype(a));
                    body.writer.line(format!(
                        "r{value} = {outside} ? shared_r{value}[threadIdx.x & 31] : {identity};"
                    ));
                }
                _ => {
                    body.writer.line(format!(
                        "p{value} = {outside} ? shared_p{value}[threadIdx.x & 31] : -1ll;"
                    ));
                    body.writer.line(format!(
                        "if ({outside}) r{value} = shared_r{value}[threadIdx.x & 31];"
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
