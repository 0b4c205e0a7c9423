//! Turning the operands of a product in TF32.
//!
//! The device multiplies such numbers as fast as it can only if those that are summed lie next to each other in
//! both operands. Of a product whose operands both lie the other way, as that of a gradient of weights does, the
//! library takes half as long again; turned first, they cost less than that if the result is large.

use super::operand_split::Packed;
use super::plain::PlainLaunch;
use crate::background::EnqueueError;
use crate::codegen::scaled_f16_split;
use crate::device::Shared;
use inflight_backend::{GemmLaunch, GemmOperand};
use inflight_ir::DType;
use smallvec::smallvec;
use std::sync::{Arc, LazyLock};

/// Rows of the part that a block turns: so long are the lines that it writes.
const ROWS: usize = 128;

/// Columns of it.
const COLUMNS: usize = 32;

/// Threads of a block: each moves four numbers at a time.
const THREADS: u32 = 256;

/// With operands of m × k and k × n, a product takes a time of m · n · k, and turning them one of (m + n) · k. The
/// one is worth the other from about here on, as measured on an H200.
const GAIN: usize = 1024;

/// Whether a matrix can be turned, four numbers at a time.
pub fn is_even(rows: usize, columns: usize) -> bool {
    [rows, columns].iter().all(|extent| extent % 4 == 0 && *extent > 0)
}

/// Whether turning both operands of a product in TF32 gains more than it costs.
pub fn pays(contract: &GemmLaunch) -> bool {
    let GemmLaunch { m, n, k, .. } = *contract;
    let (a, b) = (&contract.a, &contract.b);
    let lies_across = |near: isize, far: isize, extent: usize, offset: isize| {
        near == 1 && far >= extent as isize && far % 4 == 0 && offset % 4 == 0
    };
    contract.dtype == DType::F32
        && contract.batch.iter().all(|extent| *extent == 1)
        && is_even(m, k)
        && is_even(n, k)
        && m * n >= GAIN * (m + n)
        && lies_across(a.row_stride, a.column_stride, m, a.offset)
        && lies_across(b.column_stride, b.row_stride, n, b.offset)
}

/// The same product of the turned operands, without what follows it.
pub fn turned(contract: &GemmLaunch) -> GemmLaunch {
    let axes = contract.batch.len();
    let operand = |of: &GemmOperand, row_stride: usize, column_stride: usize| GemmOperand {
        buffer: of.buffer.clone(),
        offset: 0,
        batch_strides: smallvec![0; axes],
        row_stride: row_stride as isize,
        column_stride: column_stride as isize,
    };
    let c = &contract.c;
    GemmLaunch {
        dtype: contract.dtype,
        batch: contract.batch.clone(),
        m: contract.m,
        n: contract.n,
        k: contract.k,
        a: operand(&contract.a, contract.k, 1),
        b: operand(&contract.b, 1, contract.k),
        c: GemmOperand { buffer: c.buffer.clone(), batch_strides: c.batch_strides.clone(), ..*c },
        prologue: None,
        epilogue: None,
        label: contract.label.clone(),
    }
}

/// The launches that turn `a` and `b`, from the first addresses to the second.
pub fn launches(
    shared: &Arc<Shared>,
    contract: &GemmLaunch,
    from: [u64; 2],
    to: [u64; 2],
) -> Result<[PlainLaunch; 2], EnqueueError> {
    let a = &contract.a;
    Ok([
        launch(shared, a, [contract.k, contract.m], a.column_stride, [from[0], to[0]], None)?,
        launch_right(shared, contract, from[1], to[1], None)?,
    ])
}

/// The launch that turns `b`. With `packed`, it does so only where the product is not of what operands were packed into.
pub fn launch_right(
    shared: &Arc<Shared>,
    contract: &GemmLaunch,
    from: u64,
    to: u64,
    packed: Option<[Packed; 2]>,
) -> Result<PlainLaunch, EnqueueError> {
    let b = &contract.b;
    launch(shared, b, [contract.k, contract.n], b.row_stride, [from, to], packed)
}

/// The launch that turns a matrix.
fn launch(
    shared: &Arc<Shared>,
    of: &GemmOperand,
    [rows, columns]: [usize; 2],
    leading: isize,
    [from, to]: [u64; 2],
    packed: Option<[Packed; 2]>,
) -> Result<PlainLaunch, EnqueueError> {
    let function = shared.function(&TEXT).poll()?;
    let first = from.wrapping_add_signed(of.offset as i64 * 4);
    let across = columns.div_ceil(COLUMNS);
    let mut words = vec![first, to, leading as u64, rows as u64, columns as u64, across as u64];
    words.extend(packed.map_or([0; 2], |packed| packed.map(|packed| packed.header)));
    let blocks = (across * rows.div_ceil(ROWS)) as u32;
    Ok(PlainLaunch { function, blocks, threads: THREADS, words })
}

/// The kernel's text: a block turns a part through shared memory, where numbers that are moved together are in banks
/// of their own.
pub static TEXT: LazyLock<String> = LazyLock::new(|| {
    let sizes = format!("ROWS = {ROWS}, COLUMNS = {COLUMNS}, THREADS = {THREADS}");
    let packed = scaled_f16_split::declarations();
    crate::codegen::with_functions(&format!("constexpr int {sizes};\n{packed}{ENTRY}"))
});

const ENTRY: &str = r#"
// Threads side by side along a line that is read and one that is written, and lines at a time.
constexpr int READING = COLUMNS / 4, WRITING = ROWS / 4, READ = THREADS / READING, WRITTEN = THREADS / WRITING;
struct Arguments { const float *from; float *to; long long leading, rows, columns, across; const Header* packed[2]; };
extern "C" __global__ void __launch_bounds__(THREADS) entry(const __grid_constant__ Arguments a) {
    if (a.packed[0] && can_use_f16(*a.packed[0], *a.packed[1])) return;
    __shared__ alignas(16) float part[COLUMNS * ROWS];
    const long long row = blockIdx.x / a.across * ROWS, column = blockIdx.x % a.across * COLUMNS;
    const int line = threadIdx.x / READING, place = threadIdx.x % READING * 4;
    float4 x[ROWS / READ];
    #pragma unroll
    for (int i = 0; i < ROWS / READ; i++) {
        const bool is_inside = row + line + i * READ < a.rows && column + place < a.columns;
        x[i] = {0.0f, 0.0f, 0.0f, 0.0f};
        if (is_inside) x[i] = *(const float4*)(a.from + (row + line + i * READ) * a.leading + column + place);
    }
    #pragma unroll
    for (int i = 0; i < ROWS / READ; i++) {
        const int at = place * ROWS + ((line + i * READ) ^ place);
        part[at] = x[i].x;
        part[at + ROWS] = x[i].y;
        part[at + 2 * ROWS] = x[i].z;
        part[at + 3 * ROWS] = x[i].w;
    }
    __syncthreads();
    const int own = threadIdx.x / WRITING, far = threadIdx.x % WRITING * 4;
    #pragma unroll
    for (int i = 0; i < COLUMNS / WRITTEN; i++) {
        const int y = own + i * WRITTEN;
        if (column + y < a.columns && row + far < a.rows) {
            *(float4*)(a.to + (column + y) * a.rows + row + far) = *(const float4*)&part[y * ROWS + (far ^ (y & -4))];
        }
    }
}
"#;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compile::Compiler;
    use inflight_backend::{Buffer, Label};

    /// A product of operands of f32 whose rows, or with `across` columns, lie next to each other.
    fn product(m: usize, n: usize, k: usize, across: [bool; 2]) -> GemmLaunch {
        let operand = |rows: usize, columns: usize, across: bool| GemmOperand {
            buffer: Buffer::declare(rows * columns * 4),
            offset: 0,
            batch_strides: smallvec![],
            row_stride: if across { 1 } else { columns as isize },
            column_stride: if across { rows as isize } else { 1 },
        };
        GemmLaunch {
            dtype: DType::F32,
            batch: smallvec![],
            m,
            n,
            k,
            a: operand(m, k, across[0]),
            b: operand(k, n, across[1]),
            c: operand(m, n, false),
            prologue: None,
            epilogue: None,
            label: Label { segment: [].into(), work: Arc::default() },
        }
    }

    #[test]
    fn a_large_gradient_of_weights_is_turned_and_nothing_else_is() {
        assert!(pays(&product(4096, 4096, 1024, [true, false])));
        assert!(!pays(&product(1024, 1024, 4096, [true, false])), "a small result");
        assert!(!pays(&product(4096, 4096, 1024, [false, false])), "one operand lies well");
        assert!(!pays(&product(4096, 4096, 1024, [true, true])), "one operand lies well");
        assert!(pays(&product(4096, 4096, 1000, [true, false])), "tiles that are not whole");
        assert!(!pays(&product(4096, 4096, 1002, [true, false])), "numbers by fours");
        let halves = GemmLaunch { dtype: DType::F16, ..product(4096, 4096, 1024, [true, false]) };
        assert!(!pays(&halves), "the device does not mind");
        let turned = turned(&product(4096, 4096, 1024, [true, false]));
        assert_eq!([turned.a.row_stride, turned.a.column_stride], [1024, 1]);
        assert_eq!([turned.b.row_stride, turned.b.column_stride], [1, 1024]);
    }

    #[test]
    fn the_text_compiles() {
        let compiler = Compiler::new("sm_90".to_owned(), || None);
        match compiler.version() {
            Ok(_) => drop(compiler.compile(&TEXT).unwrap()),
            Err(fault) => println!("SKIPPED: {fault}"),
        }
    }
}
