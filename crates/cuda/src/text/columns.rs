//! Kernels that reduce or scan other axes than their lanes: each thread walks a few neighbouring columns.
//!
//! Several threads share a column and fold what they have in shared memory. If there are few columns, several
//! blocks share them too: each leaves its part in memory, and the one that comes last folds them.

use super::address::{self, Reach};
use super::body::{Body, Stages, partial_bytes};
use super::{COLUMN_LANES, Variant, operation, points, types};
use inflight_ir::kernel::{Kernel, Kind, Level, Value};

/// Rows that a thread has under way at once.
const BATCH: u32 = 4;

/// A kernel of fewer instructions than this needs few registers.
const SMALL: usize = 16;

/// Walks of more loads than this do not do that: there are registers for so many.
const MOST_BATCHED: usize = 4;

pub fn text(kernel: &Kernel, variant: Variant, threads: u32, sliced: bool) -> String {
    let stages = Stages::new(kernel);
    let width = variant.width;
    let mut body = Body::new(kernel, &stages, width, variant);
    body.folds_lanes = true;
    body.place = |_| "(long long)r".to_owned();
    body.leaves_room = COLUMN_LANES * threads == 1024 && kernel.body.len() < SMALL;
    body.open_entry(COLUMN_LANES * threads);
    let (vector, span) = (kernel.rank() - 1, COLUMN_LANES * width);
    let extents: Vec<String> =
        (kernel.grid_rank..vector).map(|axis| format!("(I)a.extent[{axis}]")).collect();
    for line in [
        format!("const int tx = threadIdx.x % {COLUMN_LANES}, ty = threadIdx.x / {COLUMN_LANES};"),
        format!(
            "const I columns = (I)a.extent[{vector}], groups = (columns + {span} - 1) / {span};"
        ),
        format!("const I n = {};", extents.join(" * ")),
    ] {
        body.writer.line(line);
    }
    if threads > 1 {
        let bytes = shared_bytes(kernel, threads, width);
        body.writer.line(format!("__shared__ alignas(16) unsigned char shared[{bytes}];"));
    }
    body.writer.open("for (I block = blockIdx.x; block < (I)a.items; block += gridDim.x)");
    body.writer.line("const I program = block / groups;");
    body.writer
        .line(format!("const I c{vector} = (block % groups * {COLUMN_LANES} + tx) * {width};"));
    body.writer.line(format!("const bool active = c{vector} < columns;"));
    address::unravel(&mut body.writer, "program", 0..kernel.grid_rank);
    address::bases(&mut body.writer, kernel, 0..kernel.grid_rank);
    let columns = Columns { threads, sliced };
    for stage in 0..stages.roots.len() {
        // Before the parts are folded, the first of the blocks that share columns acts for all.
        let only = if sliced && stage == 0 { " && blockIdx.y == 0" } else { "" };
        for value in body.own(Level::Program, stage) {
            match kernel.body[value as usize].kind {
                Kind::Store { .. } => {
                    let condition = format!("threadIdx.x == 0 && block % groups == 0{only}");
                    body.store(value, "0", Reach::Program, Some(&condition));
                }
                _ => body.value(value, "0", Reach::Program),
            }
        }
        own_columns(&mut body, stage, only);
        if !stages.roots[stage].is_empty() {
            walk(&mut body, &columns, stage);
        }
    }
    body.writer.close();
    body.writer.close();
    body.writer.finish()
}

struct Columns {
    threads: u32,
    sliced: bool,
}

/// Bytes of shared memory in which threads fold the largest of the reductions.
pub fn shared_bytes(kernel: &Kernel, threads: u32, width: u32) -> u32 {
    let each = kernel.body.iter().map(|instruction| match instruction.kind {
        Kind::Reduce(_, a) => kernel.body[a as usize].dtype.size(),
        Kind::ArgReduce(_, a) => kernel.body[a as usize].dtype.size().next_multiple_of(8) + 8,
        _ => 0,
    });
    each.max().unwrap_or(0).max(1) as u32 * threads * COLUMN_LANES * width
}

/// What is one value for each column.
fn own_columns(body: &mut Body, stage: usize, only: &str) {
    let (kernel, width) = (body.kernel, body.width);
    let values = body.own(Level::Column, stage);
    if values.is_empty() {
        return;
    }
    let is_store = |value: Value| matches!(kernel.body[value as usize].kind, Kind::Store { .. });
    for &value in values.iter().filter(|&&value| !is_store(value)) {
        let kind = types::name(kernel.body[value as usize].dtype);
        body.writer.line(format!("{kind} v{value}[{width}];"));
        body.names[value as usize] = format!("v{value}[j]");
    }
    body.writer.open("if (active)");
    body.writer.unrolled("j", width);
    for value in values {
        if is_store(value) {
            let condition = format!("ty == 0{only}");
            body.store(value, "j", Reach::Column, Some(&condition));
        } else {
            let expression = body.expression(value, "j", Reach::Column);
            body.writer.line(format!("v{value}[j] = {expression};"));
        }
    }
    body.writer.close();
    body.writer.close();
}

fn walk(body: &mut Body, columns: &Columns, stage: usize) {
    let (kernel, stages) = (body.kernel, body.stages);
    let values = stages.walk(kernel, stage, &[]);
    body.declare_folds(&values);
    let threads = columns.threads;
    let (first, step) = match columns.sliced {
        true => (format!("(I)blockIdx.y * {threads} + ty"), format!("(I)gridDim.y * {threads}")),
        false => ("ty".to_owned(), threads.to_string()),
    };
    let rest = batch(body, &values, &first, &step);
    body.writer.open("if (active)");
    let stores = |value: &Value| matches!(kernel.body[*value as usize].kind, Kind::Store { .. });
    match rest {
        Some(_) => body.writer.line("#pragma unroll 1"),
        None if !values.iter().any(stores) => body.writer.line("#pragma unroll 4"),
        None => {}
    }
    let first = rest.unwrap_or(first);
    body.writer.open(format!("for (I r = {first}; r < n; r += {step})"));
    address::unravel(&mut body.writer, "r", kernel.grid_rank..kernel.rank() - 1);
    body.step(&values, &|_| None);
    body.writer.close();
    body.writer.close();
    let reductions: Vec<Value> = values
        .into_iter()
        .filter(|&value| kernel.body[value as usize].kind.is_reduction())
        .collect();
    fold_threads(body, threads, &reductions);
    if columns.sliced {
        fold_slices(body, threads, &reductions);
    }
    for &value in &reductions {
        body.names[value as usize] = match kernel.body[value as usize].kind {
            Kind::ArgReduce(..) => format!("(p{value}[j] < 0 ? 0ll : p{value}[j])"),
            _ => format!("r{value}[j]"),
        };
    }
}

/// Walks several rows at a time, all of whose loads are under way before the first is used. Returns where the
/// rest begins; `None` if the walk is not of that kind.
fn batch(body: &mut Body, values: &[Value], first: &str, step: &str) -> Option<String> {
    let (kernel, width) = (body.kernel, body.width);
    let kind = |value: &Value| kernel.body[*value as usize].kind;
    let is_load =
        |value: &&Value| matches!(kind(value), Kind::Load { index: None, mask: None, .. });
    let loads: Vec<Value> = values.iter().filter(is_load).copied().collect();
    let others: Vec<Value> = values.iter().filter(|value| !is_load(value)).copied().collect();
    let is_plain = |value: &Value| !matches!(kind(value), Kind::Store { .. } | Kind::Scan(..));
    if loads.is_empty() || loads.len() > MOST_BATCHED || !others.iter().all(is_plain) {
        return None;
    }
    let axes = kernel.grid_rank..kernel.rank() - 1;
    let next = format!("next{}", values.last()?);
    body.writer.line(format!("I {next} = {first};"));
    body.writer.open("if (active)");
    body.writer.open(format!(
        "for (; {next} + {} * ({step}) < n; {next} += {BATCH} * ({step}))",
        BATCH - 1
    ));
    for &load in &loads {
        let kind = types::name(kernel.body[load as usize].dtype);
        let lanes = points::lanes_of(kernel, load, width);
        body.writer.line(format!("alignas(16) {kind} e{load}[{BATCH}][{lanes}];"));
    }
    let open_row = |body: &mut Body| {
        body.writer.unrolled("u", BATCH);
        body.writer.line(format!("const I r = {next} + u * ({step});"));
        address::unravel(&mut body.writer, "r", axes.clone());
    };
    open_row(body);
    loads.iter().for_each(|&load| points::load(body, load));
    body.writer.close();
    open_row(body);
    for &load in &loads {
        body.names[load as usize] = points::loaded(kernel, load, width);
    }
    body.step(&others, &|_| None);
    for &load in &loads {
        body.names[load as usize] = format!("v{load}");
    }
    body.writer.close();
    body.writer.close();
    body.writer.close();
    Some(next)
}

/// The type that a reduction folds.
fn folded(kernel: &Kernel, value: Value) -> &'static str {
    match kernel.body[value as usize].kind {
        Kind::Reduce(_, a) | Kind::ArgReduce(_, a) => types::name(kernel.body[a as usize].dtype),
        _ => unreachable!("not a reduction"),
    }
}

/// Combines `y`, and for an arg-reduction its place `q`, into lane `j`'s accumulator or a place of that form.
fn take_in(body: &Body, value: Value, [r, p]: [&str; 2], [y, q]: [&str; 2]) -> String {
    match body.kernel.body[value as usize].kind {
        Kind::Reduce(op, a) => {
            format!("{r} = {};", operation::combine(op, body.dtype(a), r, y))
        }
        Kind::ArgReduce(op, _) => {
            let better = operation::is_better(op, [y, q], [r, p]);
            format!("if ({better}) {{ {r} = {y}; {p} = {q}; }}")
        }
        _ => unreachable!("not a reduction"),
    }
}

/// Folds what the threads of a block that share columns have, so that all of them have all of it.
fn fold_threads(body: &mut Body, threads: u32, reductions: &[Value]) {
    if threads == 1 {
        return;
    }
    let (kernel, width) = (body.kernel, body.width);
    let span = COLUMN_LANES * width;
    for &value in reductions {
        let kind = folded(kernel, value);
        let is_arg = matches!(kernel.body[value as usize].kind, Kind::ArgReduce(..));
        body.writer.open("");
        body.writer.line(format!("{kind} (*sr)[{span}] = ({kind} (*)[{span}])shared;"));
        if is_arg {
            body.writer.line(format!(
                "long long (*sp)[{span}] = (long long (*)[{span}])(shared + {} * ((sizeof({kind}) + 7) / 8 * 8));",
                threads * span
            ));
        }
        let place = |text: &str| if is_arg { text.to_owned() } else { String::new() };
        body.writer.line("#pragma unroll");
        body.writer.line(format!(
            "for (int j = 0; j < {width}; j++) {{ sr[ty][tx * {width} + j] = r{value}[j];{} }}",
            place(&format!(" sp[ty][tx * {width} + j] = p{value}[j];"))
        ));
        body.writer.line("__syncthreads();");
        body.writer.open(format!("for (int half = {}; half > 0; half /= 2)", threads / 2));
        body.writer.open("if (ty < half)");
        body.writer.unrolled("j", width);
        body.writer.line(format!("const int x = tx * {width} + j;"));
        let line = take_in(
            body,
            value,
            ["sr[ty][x]", "sp[ty][x]"],
            ["sr[ty + half][x]", "sp[ty + half][x]"],
        );
        body.writer.line(line);
        body.writer.close();
        body.writer.close();
        body.writer.line("__syncthreads();");
        body.writer.close();
        body.writer.line("#pragma unroll");
        body.writer.line(format!(
            "for (int j = 0; j < {width}; j++) {{ r{value}[j] = sr[0][tx * {width} + j];{} }}",
            place(&format!(" p{value}[j] = sp[0][tx * {width} + j];"))
        ));
        body.writer.line("__syncthreads();");
        body.writer.close();
    }
}

/// Leaves this block's part in memory. The block that comes last goes on, with all parts folded.
fn fold_slices(body: &mut Body, threads: u32, reductions: &[Value]) {
    let (kernel, width, vector) = (body.kernel, body.width, body.kernel.rank() - 1);
    // Each reduction has a region for all slices of all columns.
    let mut regions: Vec<(Value, usize)> = Vec::new();
    let mut before = 0;
    for &value in reductions {
        regions.push((value, before));
        before += partial_bytes(kernel, value);
    }
    let total = "((long long)a.items / groups * columns)";
    let at = |region: usize, slice: &str, kind: &str| {
        format!(
            "(({kind}*)((char*)a.scratch + {region}ll * a.slices * {total}) + \
             ((long long){slice} * {total} + (long long)program * columns + c{vector}))"
        )
    };
    let is_arg = |value: Value| matches!(kernel.body[value as usize].kind, Kind::ArgReduce(..));
    body.writer.open("if (ty == 0 && active)");
    body.writer.unrolled("j", width);
    for &(value, region) in &regions {
        let kind = folded(kernel, value);
        body.writer.line(format!("{}[j] = r{value}[j];", at(region, "blockIdx.y", kind)));
        if is_arg(value) {
            let places = at(region + 16, "blockIdx.y", "long long");
            body.writer.line(format!("{places}[j] = p{value}[j];"));
        }
    }
    body.writer.close();
    body.writer.line("__threadfence();");
    body.writer.close();
    body.writer.line("__shared__ bool is_last;");
    body.writer.line("__syncthreads();");
    body.writer.line(
        "if (threadIdx.x == 0) is_last = \
         atomicInc(a.arrived + block, (unsigned)a.slices - 1) == (unsigned)a.slices - 1;",
    );
    body.writer.line("__syncthreads();");
    body.writer.line("if (!is_last) continue;");
    body.writer.line("__threadfence();");
    // The accumulators start again.
    for &value in reductions {
        body.writer.line("#pragma unroll");
        let reset = match kernel.body[value as usize].kind {
            Kind::Reduce(op, a) => {
                format!("r{value}[j] = {};", operation::identity(op, body.dtype(a)))
            }
            _ => format!("p{value}[j] = -1;"),
        };
        body.writer.line(format!("for (int j = 0; j < {width}; j++) {{ {reset} }}"));
    }
    body.writer.open("if (active)");
    body.writer.open(format!("for (int s = ty; s < (int)a.slices; s += {threads})"));
    body.writer.unrolled("j", width);
    for &(value, region) in &regions {
        let kind = folded(kernel, value);
        body.writer.line(format!("const {kind} y{value} = {}[j];", at(region, "s", kind)));
        if is_arg(value) {
            let places = at(region + 16, "s", "long long");
            body.writer.line(format!("const long long q{value} = {places}[j];"));
        }
        let (r, p) = (format!("r{value}[j]"), format!("p{value}[j]"));
        let line = take_in(body, value, [&r, &p], [&format!("y{value}"), &format!("q{value}")]);
        body.writer.line(line);
    }
    body.writer.close();
    body.writer.close();
    body.writer.close();
    fold_threads(body, threads, reductions);
}
