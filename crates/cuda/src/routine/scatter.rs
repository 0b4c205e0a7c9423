//! Scatter with a combiner: updates are combined by a function, in order.
//!
//! Lines are independent of each other. If there are few lines and many updates, the updates are first sorted by
//! their index; one thread then applies all updates of an element.

use super::{KernelKey, KernelSet, Launch, RoutineContext, merge_sort, scalar_function};
use crate::codegen::types;
use inflight_backend::Fault;
use inflight_ir::DType;
use inflight_ir::graph::{ScalarFunction, SortOrder, SortResult};
use inflight_ir::plan::Lines;

const THREADS: usize = 256;

/// One thread applies up to this many updates of a line, in order.
const MAX_SEQUENTIAL_UPDATES: usize = 16;

/// From this many lines on, one thread per line fills the device.
const MIN_PARALLEL_LINES: usize = 1 << 16;

/// The arguments of a scatter.
pub struct Scatter<'a> {
    /// The lines of the operand.
    pub lines: Lines,
    /// Updates per line.
    pub updates: usize,
    pub dtype: DType,
    pub index: DType,
    pub combine: &'a ScalarFunction,
}

impl Scatter<'_> {
    fn is_sorted(&self) -> bool {
        self.updates > MAX_SEQUENTIAL_UPDATES && self.lines.count() < MIN_PARALLEL_LINES
    }

    /// The lines of the updates.
    fn update_lines(&self) -> Lines {
        Lines { extent: self.updates, ..self.lines }
    }
}

/// Copies `x` and applies the updates of each line.
pub fn scatter(
    context: &mut RoutineContext,
    scatter: &Scatter,
    [x, index, update]: [u64; 3],
    result: u64,
) -> Result<(), Fault> {
    let (lines, updates) = (scatter.lines, scatter.updates);
    let elements = lines.count() * lines.extent;
    let mut order = 0;
    if scatter.is_sorted() && elements > 0 {
        order = context.allocate_scratch(lines.count() * updates * size_of::<i64>())?;
        merge_sort::sort(
            context,
            scatter.update_lines(),
            &[scatter.index],
            &SortOrder::ascending(1),
            SortResult::Positions,
            &[index],
            order,
        )?;
    }
    let (dtype, index_dtype) = (scatter.dtype, scatter.index);
    let key = KernelKey::Scatter { dtype, index: index_dtype, combine: scatter.combine.clone() };
    let kernels = context.kernels(key, || Ok(kernels(dtype, index_dtype, scatter.combine)))?;
    let launch = |total: usize| {
        let extents = [total, lines.extent, lines.inner, updates].map(|extent| extent as u64);
        let mut words = extents.to_vec();
        words.extend([x, index, update, result, order]);
        Launch { blocks: total.div_ceil(THREADS), threads: THREADS as u32, words }
    };
    if elements == 0 {
        return Ok(());
    }
    context.launch(&kernels, 0, launch(elements))?;
    match (updates, scatter.is_sorted()) {
        (0, _) => Ok(()),
        (_, false) => context.launch(&kernels, 1, launch(lines.count())),
        (_, true) => context.launch(&kernels, 2, launch(lines.count() * updates)),
    }
}

/// The kernels: the copy, the sequential updates of a line, and the sorted updates.
pub fn kernels(dtype: DType, index: DType, combine: &ScalarFunction) -> KernelSet {
    let combine = scalar_function::generate(combine, "combined");
    let head = format!(
        "typedef long long N;\ntypedef {} T;\ntypedef {} Index;\n\
         struct Arguments {{ N total, extent, inner, updates; const T* x; const Index* index; \
         const T* update; T* result; const N* order; }};\n{}",
        types::name(dtype),
        types::name(index),
        combine.source
    );
    let source = |body: &str| crate::codegen::with_functions(&format!("{head}{POSITION}{body}"));
    KernelSet::new([COPY, SEQUENTIAL, SORTED].map(source).into(), 0)
}

const POSITION: &str = r"
// The position of an index, or -1 if it is out of bounds.
FN N position_of(Index index, N extent) {
    if constexpr ((Index)-1 < (Index)0) { if (index < (Index)0) return -1; }
    return (unsigned long long)index < (unsigned long long)extent ? (N)index : -1;
}
";

const COPY: &str = r#"
extern "C" __global__ void __launch_bounds__(256) entry(const __grid_constant__ Arguments a) {
    const N i = (N)blockIdx.x * 256 + threadIdx.x;
    if (i < a.total) a.result[i] = a.x[i];
}
"#;

const SEQUENTIAL: &str = r#"
extern "C" __global__ void __launch_bounds__(256) entry(const __grid_constant__ Arguments a) {
    const N line = (N)blockIdx.x * 256 + threadIdx.x;
    if (line >= a.total) return;
    const N outer = line / a.inner, inner = line % a.inner;
    for (N u = 0; u < a.updates; u++) {
        const N from = (outer * a.updates + u) * a.inner + inner;
        const N position = position_of(a.index[from], a.extent);
        if (position < 0) continue;
        T* at = a.result + (outer * a.extent + position) * a.inner + inner;
        *at = combined(*at, a.update[from]);
    }
}
"#;

const SORTED: &str = r#"
extern "C" __global__ void __launch_bounds__(256) entry(const __grid_constant__ Arguments a) {
    const N i = (N)blockIdx.x * 256 + threadIdx.x;
    if (i >= a.total) return;
    const N line = i / a.updates, rank = i % a.updates;
    const N outer = line / a.inner, inner = line % a.inner;
    const auto at = [&](N u) { return (outer * a.updates + u) * a.inner + inner; };
    const N from = at(a.order[at(rank)]);
    const Index own = a.index[from];
    const N position = position_of(own, a.extent);
    if (position < 0) return;
    // The thread of the first update of an element applies all of them.
    if (rank > 0 && a.index[at(a.order[at(rank - 1)])] == own) return;
    T* to = a.result + (outer * a.extent + position) * a.inner + inner;
    T value = combined(*to, a.update[from]);
    for (N r = rank + 1; r < a.updates; r++) {
        const N next = at(a.order[at(r)]);
        if (!(a.index[next] == own)) break;
        value = combined(value, a.update[next]);
    }
    *to = value;
}
"#;
