//! The `ColumnReduction` mapping: kernels that reduce or scan other axes than the vector axis. Each thread reduces a
//! few neighbouring columns.
//!
//! Several threads share a column and combine their partial results in shared memory. If there are few columns, several
//! blocks share them, too (split reduction, as split-K in a GEMM): each writes its partial results to scratch memory,
//! and the last one to arrive combines them in a fixed order, so that the result does not depend on timing.

use super::address::{self, Reach};
use super::body::{Body, Passes, partial_bytes};
use super::{COLUMN_LANES, Variant, elementwise, operation, types};
use inflight_ir::Scalar;
use inflight_ir::kernel::{Kernel, Kind, Level, Value};

/// Rows whose loads a thread has in flight at once.
const UNROLL: u32 = 4;

/// A kernel of fewer instructions than this needs so few registers that two blocks of 1,024 threads fit on an SM.
const SMALL: usize = 16;

/// Passes with more loads than this are not unrolled: registers are limited.
const MAX_UNROLLED_LOADS: usize = 4;

pub fn text(kernel: &Kernel, variant: Variant, threads: u32, split: bool) -> String {
    let passes = Passes::new(kernel);
    let width = variant.width;
    let mut body = Body::new(kernel, &passes, width, variant);
    body.accumulates_per_lane = true;
    body.reduced_index = |_| "(long long)r".to_owned();
    body.two_blocks_per_sm = COLUMN_LANES * threads == 1024 && kernel.body.len() < SMALL;
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
    let columns = Columns { threads, split };
    for pass in 0..passes.roots.len() {
        // Before partial results are combined, only the first of the blocks that share columns may store. Afterwards
        // only the last one to arrive is still running.
        let only = if split && pass == 0 { " && blockIdx.y == 0" } else { "" };
        for value in body.values_between_passes(Level::Program, pass) {
            match kernel.body[value as usize].kind {
                Kind::Store { .. } => {
                    let condition = format!("threadIdx.x == 0 && block % groups == 0{only}");
                    body.store(value, "0", Reach::Program, Some(&condition));
                }
                _ => body.value(value, "0", Reach::Program),
            }
        }
        emit_column_values(&mut body, pass, only);
        if !passes.roots[pass].is_empty() {
            emit_pass(&mut body, &columns, pass);
        }
    }
    body.writer.close();
    body.writer.close();
    body.writer.finish()
}

struct Columns {
    threads: u32,
    split: bool,
}

/// Bytes of shared memory for combining the partial results of the largest reduction.
pub fn shared_bytes(kernel: &Kernel, threads: u32, width: u32) -> u32 {
    let each = kernel.body.iter().map(|instruction| match instruction.kind {
        Kind::Reduce(_, a) => kernel.body[a as usize].dtype.size(),
        Kind::ArgReduce(_, a) => kernel.body[a as usize].dtype.size().next_multiple_of(8) + 8,
        _ => 0,
    });
    each.max().unwrap_or(0).max(1) as u32 * threads * COLUMN_LANES * width
}

/// Emits the values that exist once per column, stores included.
fn emit_column_values(body: &mut Body, pass: usize, only: &str) {
    let (kernel, width) = (body.kernel, body.width);
    let values = body.values_between_passes(Level::Column, pass);
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

fn emit_pass(body: &mut Body, columns: &Columns, pass: usize) {
    let (kernel, passes) = (body.kernel, body.passes);
    let values = passes.values(kernel, pass, &[]);
    body.declare_accumulators(&values);
    let threads = columns.threads;
    let (first, step) = match columns.split {
        true => (format!("(I)blockIdx.y * {threads} + ty"), format!("(I)gridDim.y * {threads}")),
        false => ("ty".to_owned(), threads.to_string()),
    };
    let rest = unrolled_loop(body, &values, &first, &step);
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
    body.iteration(&values, &|_| None);
    body.writer.close();
    body.writer.close();
    let reductions: Vec<Value> = values
        .into_iter()
        .filter(|&value| kernel.body[value as usize].kind.is_reduction())
        .collect();
    match columns.split {
        true => combine_blocks(body, threads, &reductions),
        false => combine_threads(body, threads, &reductions),
    }
    for &value in &reductions {
        body.names[value as usize] = match kernel.body[value as usize].kind {
            Kind::ArgReduce(..) => format!("(p{value}[j] < 0 ? 0ll : p{value}[j])"),
            _ => format!("r{value}[j]"),
        };
    }
}

/// Emits the part of a pass that handles several rows at a time and issues all their loads before the first use.
/// Returns the variable at which the remainder loop begins, or `None` if the pass is not eligible.
fn unrolled_loop(body: &mut Body, values: &[Value], first: &str, step: &str) -> Option<String> {
    let kernel = body.kernel;
    let (loads, others) = elementwise::hoistable_loads(kernel, values)?;
    if loads.is_empty() || loads.len() > MAX_UNROLLED_LOADS {
        return None;
    }
    // At an occupancy of two blocks per SM there are registers for fewer rows.
    let count = if body.two_blocks_per_sm && loads.len() > 1 { UNROLL / 2 } else { UNROLL };
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
    elementwise::issue_loads_first(body, count, [&loads, &others], &open_row);
    body.writer.close();
    body.writer.close();
    Some(next)
}

/// Whether a reduction is an argmin or argmax, which tracks an index, too.
fn is_arg(kernel: &Kernel, value: Value) -> bool {
    matches!(kernel.body[value as usize].kind, Kind::ArgReduce(..))
}

/// The type that a reduction accumulates.
fn accumulated_type(kernel: &Kernel, value: Value) -> &'static str {
    match kernel.body[value as usize].kind {
        Kind::Reduce(_, a) | Kind::ArgReduce(_, a) => types::name(kernel.body[a as usize].dtype),
        _ => unreachable!("not a reduction"),
    }
}

/// The statement that combines `y`, and for an arg-reduction its index `q`, into the accumulator `r` and its index `p`.
fn combine(body: &Body, value: Value, [r, p]: [&str; 2], [y, q]: [&str; 2]) -> String {
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

/// Declares the shared memory in which a block combines a reduction: `sr[row][column]`, and the indices of an
/// arg-reduction in `sp`.
fn open_shared(body: &mut Body, threads: u32, value: Value) {
    let span = COLUMN_LANES * body.width;
    let kind = accumulated_type(body.kernel, value);
    body.writer.open("");
    body.writer.line(format!("{kind} (*sr)[{span}] = ({kind} (*)[{span}])shared;"));
    if is_arg(body.kernel, value) {
        body.writer.line(format!(
            "long long (*sp)[{span}] = (long long (*)[{span}])(shared + {} * ((sizeof({kind}) + 7) / 8 * 8));",
            threads * span
        ));
    }
}

/// Combines `rows` rows of the block's columns in shared memory into the first one, with a thread for each column.
fn combine_rows(body: &mut Body, threads: u32, rows: u32, value: Value) {
    let span = COLUMN_LANES * body.width;
    let (kind, arg) = (accumulated_type(body.kernel, value), is_arg(body.kernel, value));
    let if_arg = |text: &'static str| if arg { text } else { "" };
    body.writer.line("__syncthreads();");
    body.writer
        .open(format!("for (int x = threadIdx.x; x < {span}; x += {})", COLUMN_LANES * threads));
    body.writer.line(format!("{kind} y = sr[0][x];{}", if_arg(" long long q = sp[0][x];")));
    body.writer.line("#pragma unroll");
    body.writer.open(format!("for (int k = 1; k < {rows}; k++)"));
    let line = combine(body, value, ["y", "q"], ["sr[k][x]", "sp[k][x]"]);
    body.writer.line(line);
    body.writer.close();
    body.writer.line(format!("sr[0][x] = y;{}", if_arg(" sp[0][x] = q;")));
    body.writer.close();
    body.writer.line("__syncthreads();");
}

/// Writes each thread's partial result to its row in shared memory and combines the rows.
fn reduce_in_shared(body: &mut Body, threads: u32, value: Value) {
    let (kernel, width) = (body.kernel, body.width);
    let kind = accumulated_type(kernel, value);
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
    combine_rows(body, threads, threads, value);
}

/// Broadcasts the combined result from shared memory to all threads.
fn broadcast(body: &mut Body, value: Value) {
    let width = body.width;
    let index = match is_arg(body.kernel, value) {
        true => format!(" p{value}[j] = sp[0][tx * {width} + j];"),
        false => String::new(),
    };
    body.writer.line("#pragma unroll");
    body.writer.line(format!(
        "for (int j = 0; j < {width}; j++) {{ r{value}[j] = sr[0][tx * {width} + j];{index} }}"
    ));
    body.writer.line("__syncthreads();");
}

/// Combines the partial results of the threads of a block that share columns, so that every thread has the total.
fn combine_threads(body: &mut Body, threads: u32, reductions: &[Value]) {
    if threads == 1 {
        return;
    }
    for &value in reductions {
        open_shared(body, threads, value);
        reduce_in_shared(body, threads, value);
        broadcast(body, value);
        body.writer.close();
    }
}

/// The split reduction: combines the block's partial results, writes them to scratch memory, and counts the block's
/// arrival. The last block to arrive combines the partial results of all blocks and goes on; the others are done.
fn combine_blocks(body: &mut Body, threads: u32, reductions: &[Value]) {
    let (kernel, width, all) = (body.kernel, body.width, COLUMN_LANES * threads);
    let span = COLUMN_LANES * width;
    // Each reduction has a region of scratch memory for all splits of all columns.
    let mut regions: Vec<(Value, usize)> = Vec::new();
    let mut before = 0;
    for &value in reductions {
        regions.push((value, before));
        before += partial_bytes(kernel, value);
    }
    body.writer.line(format!("const I first = block % groups * {span};"));
    body.writer.line("const long long total = (long long)((I)a.items / groups) * columns;");
    let partial = |region: usize, split: &str, kind: &str| {
        format!(
            "(({kind}*)((char*)a.scratch + {region}ll * a.splits * total) + \
             ((long long){split} * total + (long long)program * columns + first))"
        )
    };
    for &(value, region) in &regions {
        let kind = accumulated_type(kernel, value);
        open_shared(body, threads, value);
        reduce_in_shared(body, threads, value);
        body.writer.open(format!("for (int x = threadIdx.x; x < {span}; x += {all})"));
        body.writer.open("if (first + x < columns)");
        body.writer.line(format!("{}[x] = sr[0][x];", partial(region, "blockIdx.y", kind)));
        if is_arg(kernel, value) {
            let indices = partial(region + 16, "blockIdx.y", "long long");
            body.writer.line(format!("{indices}[x] = sp[0][x];"));
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
         atomicInc(a.arrivals + block, (unsigned)a.splits - 1) == (unsigned)a.splits - 1;",
    );
    body.writer.line("__syncthreads();");
    body.writer.line("if (!is_last) continue;");
    body.writer.line("__threadfence();");
    // Threads that share the partial results of a column.
    let sharing = (threads / width).max(1);
    for &(value, region) in &regions {
        let kind = accumulated_type(kernel, value);
        let (identity, index) = match kernel.body[value as usize].kind {
            Kind::Reduce(op, a) => (operation::identity(op, body.dtype(a)), ""),
            Kind::ArgReduce(_, a) => {
                (types::literal(Scalar::zero(body.dtype(a))), " long long q = -1;")
            }
            _ => unreachable!("not a reduction"),
        };
        open_shared(body, threads, value);
        body.writer.open(format!(
            "for (int item = threadIdx.x; item < {}; item += {all})",
            span * sharing
        ));
        body.writer.line(format!("const int x = item % {span}, k = item / {span};"));
        body.writer.line(format!("{kind} y = {identity};{index}"));
        body.writer.open("if (first + x < columns)");
        body.writer.line("#pragma unroll 4");
        body.writer.open(format!("for (int s = k; s < (int)a.splits; s += {sharing})"));
        let indices = format!("{}[x]", partial(region + 16, "s", "long long"));
        let line = combine(
            body,
            value,
            ["y", "q"],
            [&format!("{}[x]", partial(region, "s", kind)), &indices],
        );
        body.writer.line(line);
        body.writer.close();
        body.writer.close();
        body.writer.line("sr[k][x] = y;");
        if is_arg(kernel, value) {
            body.writer.line("sp[k][x] = q;");
        }
        body.writer.close();
        combine_rows(body, threads, sharing, value);
        broadcast(body, value);
        body.writer.close();
    }
}
