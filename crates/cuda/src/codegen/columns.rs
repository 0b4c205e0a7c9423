//! Kernels that reduce or scan other axes than their lanes: each thread walks a few neighbouring columns.
//!
//! Several threads share a column and fold what they have in shared memory. If there are few columns, several
//! blocks share them too: each leaves its part in memory, and the one that comes last folds them.

use super::address::{self, Reach};
use super::body::{Body, Stages, partial_bytes};
use super::{COLUMN_LANES, Variant, operation, points, types};
use inflight_ir::Scalar;
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
    match columns.sliced {
        true => fold_slices(body, threads, &reductions),
        false => fold_threads(body, threads, &reductions),
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
    let kernel = body.kernel;
    let (loads, others) = points::loads_first(kernel, values)?;
    if loads.is_empty() || loads.len() > MOST_BATCHED {
        return None;
    }
    // A block that leaves room for another one has registers for few.
    let count = if body.leaves_room && loads.len() > 1 { BATCH / 2 } else { BATCH };
    let axes = kernel.grid_rank..kernel.rank() - 1;
    let next = format!("next{}", values.last()?);
    body.writer.line(format!("I {next} = {first};"));
    body.writer.open("if (active)");
    body.writer.open(format!(
        "for (; {next} + {} * ({step}) < n; {next} += {count} * ({step}))",
        count - 1
    ));
    let open_row = |body: &mut Body| {
        body.writer.unrolled("u", count);
        body.writer.line(format!("const I r = {next} + u * ({step});"));
        address::unravel(&mut body.writer, "r", axes.clone());
    };
    points::steps_at_once(body, count, [&loads, &others], &open_row);
    body.writer.close();
    body.writer.close();
    Some(next)
}

/// Whether a reduction has places.
fn is_arg(kernel: &Kernel, value: Value) -> bool {
    matches!(kernel.body[value as usize].kind, Kind::ArgReduce(..))
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

/// Where the threads of a block fold a reduction: `sr[row][column]`, and the places of an arg-reduction in `sp`.
fn open_shared(body: &mut Body, threads: u32, value: Value) {
    let span = COLUMN_LANES * body.width;
    let kind = folded(body.kernel, value);
    body.writer.open("");
    body.writer.line(format!("{kind} (*sr)[{span}] = ({kind} (*)[{span}])shared;"));
    if is_arg(body.kernel, value) {
        body.writer.line(format!(
            "long long (*sp)[{span}] = (long long (*)[{span}])(shared + {} * ((sizeof({kind}) + 7) / 8 * 8));",
            threads * span
        ));
    }
}

/// Folds so many rows of a block's columns into the first of them, a thread for each column.
fn fold_rows(body: &mut Body, threads: u32, rows: u32, value: Value) {
    let span = COLUMN_LANES * body.width;
    let (kind, arg) = (folded(body.kernel, value), is_arg(body.kernel, value));
    let place = |text: &'static str| if arg { text } else { "" };
    body.writer.line("__syncthreads();");
    body.writer
        .open(format!("for (int x = threadIdx.x; x < {span}; x += {})", COLUMN_LANES * threads));
    body.writer.line(format!("{kind} y = sr[0][x];{}", place(" long long q = sp[0][x];")));
    body.writer.line("#pragma unroll");
    body.writer.open(format!("for (int k = 1; k < {rows}; k++)"));
    let line = take_in(body, value, ["y", "q"], ["sr[k][x]", "sp[k][x]"]);
    body.writer.line(line);
    body.writer.close();
    body.writer.line(format!("sr[0][x] = y;{}", place(" sp[0][x] = q;")));
    body.writer.close();
    body.writer.line("__syncthreads();");
}

/// Leaves what each thread has in its row of the block's columns, and folds the rows.
fn gather(body: &mut Body, threads: u32, value: Value) {
    let (kernel, width) = (body.kernel, body.width);
    let kind = folded(kernel, value);
    body.writer.line(format!("alignas(16) {kind} own[{width}];"));
    body.writer.line("#pragma unroll");
    body.writer.line(format!("for (int j = 0; j < {width}; j++) own[j] = r{value}[j];"));
    body.writer.line(format!("store_pack<{width}>(&sr[ty][tx * {width}], own);"));
    if is_arg(kernel, value) {
        body.writer.line("#pragma unroll");
        body.writer.line(format!(
            "for (int j = 0; j < {width}; j++) sp[ty][tx * {width} + j] = p{value}[j];"
        ));
    }
    fold_rows(body, threads, threads, value);
}

/// Has all threads take what was folded.
fn spread(body: &mut Body, value: Value) {
    let width = body.width;
    let place = match is_arg(body.kernel, value) {
        true => format!(" p{value}[j] = sp[0][tx * {width} + j];"),
        false => String::new(),
    };
    body.writer.line("#pragma unroll");
    body.writer.line(format!(
        "for (int j = 0; j < {width}; j++) {{ r{value}[j] = sr[0][tx * {width} + j];{place} }}"
    ));
    body.writer.line("__syncthreads();");
}

/// Folds what the threads of a block that share columns have, so that all of them have all of it.
fn fold_threads(body: &mut Body, threads: u32, reductions: &[Value]) {
    if threads == 1 {
        return;
    }
    for &value in reductions {
        open_shared(body, threads, value);
        gather(body, threads, value);
        spread(body, value);
        body.writer.close();
    }
}

/// Folds what the threads of a block have and leaves it in memory. The block that comes last goes on, with all parts
/// folded.
fn fold_slices(body: &mut Body, threads: u32, reductions: &[Value]) {
    let (kernel, width, all) = (body.kernel, body.width, COLUMN_LANES * threads);
    let span = COLUMN_LANES * width;
    // Each reduction has a region for all slices of all columns.
    let mut regions: Vec<(Value, usize)> = Vec::new();
    let mut before = 0;
    for &value in reductions {
        regions.push((value, before));
        before += partial_bytes(kernel, value);
    }
    body.writer.line(format!("const I first = block % groups * {span};"));
    body.writer.line("const long long total = (long long)((I)a.items / groups) * columns;");
    let at = |region: usize, slice: &str, kind: &str| {
        format!(
            "(({kind}*)((char*)a.scratch + {region}ll * a.slices * total) + \
             ((long long){slice} * total + (long long)program * columns + first))"
        )
    };
    for &(value, region) in &regions {
        let kind = folded(kernel, value);
        open_shared(body, threads, value);
        gather(body, threads, value);
        body.writer.open(format!("for (int x = threadIdx.x; x < {span}; x += {all})"));
        body.writer.open("if (first + x < columns)");
        body.writer.line(format!("{}[x] = sr[0][x];", at(region, "blockIdx.y", kind)));
        if is_arg(kernel, value) {
            let places = at(region + 16, "blockIdx.y", "long long");
            body.writer.line(format!("{places}[x] = sp[0][x];"));
        }
        body.writer.close();
        body.writer.close();
        body.writer.close();
        body.writer.line("__threadfence();");
        body.writer.line("__syncthreads();");
    }
    body.writer.line("__shared__ bool is_last;");
    body.writer.line(
        "if (threadIdx.x == 0) is_last = \
         atomicInc(a.arrived + block, (unsigned)a.slices - 1) == (unsigned)a.slices - 1;",
    );
    body.writer.line("__syncthreads();");
    body.writer.line("if (!is_last) continue;");
    body.writer.line("__threadfence();");
    // So many threads share a column's parts.
    let sharing = (threads / width).max(1);
    for &(value, region) in &regions {
        let kind = folded(kernel, value);
        let (identity, place) = match kernel.body[value as usize].kind {
            Kind::Reduce(op, a) => (operation::identity(op, body.dtype(a)), ""),
            Kind::ArgReduce(_, a) => {
                (types::literal(Scalar::zero(body.dtype(a))), " long long q = -1;")
            }
            _ => unreachable!("not a reduction"),
        };
        open_shared(body, threads, value);
        body.writer.open(format!(
            "for (int part = threadIdx.x; part < {}; part += {all})",
            span * sharing
        ));
        body.writer.line(format!("const int x = part % {span}, k = part / {span};"));
        body.writer.line(format!("{kind} y = {identity};{place}"));
        body.writer.open("if (first + x < columns)");
        body.writer.line("#pragma unroll 4");
        body.writer.open(format!("for (int s = k; s < (int)a.slices; s += {sharing})"));
        let places = format!("{}[x]", at(region + 16, "s", "long long"));
        let line =
            take_in(body, value, ["y", "q"], [&format!("{}[x]", at(region, "s", kind)), &places]);
        body.writer.line(line);
        body.writer.close();
        body.writer.close();
        body.writer.line("sr[k][x] = y;");
        if is_arg(kernel, value) {
            body.writer.line("sp[k][x] = q;");
        }
        body.writer.close();
        fold_rows(body, threads, sharing, value);
        spread(body, value);
        body.writer.close();
    }
}
