//! Scatters whose updates are combined by a function, in their order.
//!
//! Lines are independent of each other. Where there are few, and many updates, updates are first sorted by
//! where they go; those of one place are then one thread's.

use super::{Kernels, Key, Launch, Site, function, sort};
use crate::codegen::types;
use inflight_backend::Fault;
use inflight_ir::DType;
use inflight_ir::graph::{ScalarFunction, SortOrder, SortResult};
use inflight_ir::plan::Lines;

const THREADS: usize = 256;

/// Up to this many updates of a line are applied by one thread, one after another.
const FEW_UPDATES: usize = 16;

/// From this many lines on there is a thread's worth of work in each.
const MANY_LINES: usize = 1 << 16;

/// What is scattered.
pub struct Scatter<'a> {
    /// The lines of what is scattered into.
    pub lines: Lines,
    /// Updates of each line.
    pub updates: usize,
    pub dtype: DType,
    pub index: DType,
    pub combine: &'a ScalarFunction,
}

impl Scatter<'_> {
    fn is_sorted(&self) -> bool {
        self.updates > FEW_UPDATES && self.lines.count() < MANY_LINES
    }

    /// The lines of the updates.
    fn update_lines(&self) -> Lines {
        Lines { extent: self.updates, ..self.lines }
    }
}

/// Copies `x` and applies the updates of each line.
pub fn scatter(
    site: &mut Site,
    scatter: &Scatter,
    [x, index, update]: [u64; 3],
    result: u64,
) -> Result<(), Fault> {
    let (lines, updates) = (scatter.lines, scatter.updates);
    let elements = lines.count() * lines.extent;
    let mut order = 0;
    if scatter.is_sorted() && elements > 0 {
        order = site.temporary(lines.count() * updates * size_of::<i64>())?;
        sort::sort(
            site,
            scatter.update_lines(),
            &[scatter.index],
            &SortOrder::ascending(1),
            SortResult::Positions,
            &[index],
            order,
        )?;
    }
    let (dtype, index_dtype) = (scatter.dtype, scatter.index);
    let key = Key::Scatter { dtype, index: index_dtype, combine: scatter.combine.clone() };
    let kernels = site.kernels(key, || Ok(kernels(dtype, index_dtype, scatter.combine)))?;
    let words = |total: usize| {
        let numbers = [total, lines.extent, lines.inner, updates].map(|number| number as u64);
        let mut words = numbers.to_vec();
        words.extend([x, index, update, result, order]);
        Launch { blocks: total.div_ceil(THREADS), threads: THREADS as u32, words }
    };
    if elements == 0 {
        return Ok(());
    }
    site.launch(&kernels, 0, words(elements))?;
    match (updates, scatter.is_sorted()) {
        (0, _) => Ok(()),
        (_, false) => site.launch(&kernels, 1, words(lines.count())),
        (_, true) => site.launch(&kernels, 2, words(lines.count() * updates)),
    }
}

/// The kernels: one copies, one applies each line's updates in turn, one takes them sorted.
pub fn kernels(dtype: DType, index: DType, combine: &ScalarFunction) -> Kernels {
    let combine = function::write(combine, "combined");
    let head = format!(
        "typedef long long N;\ntypedef {} T;\ntypedef {} Index;\n\
         struct Arguments {{ N total, extent, inner, updates; const T* x; const Index* index; \
         const T* update; T* result; const N* order; }};\n{}",
        types::name(dtype),
        types::name(index),
        combine.text
    );
    let text = |body: &str| crate::codegen::with_functions(&format!("{head}{PLACE}{body}"));
    Kernels::new([COPY, IN_TURN, SORTED].map(text).into(), 0)
}

const PLACE: &str = r"
// The place that an index names, or -1.
FN N place_of(Index index, N extent) {
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

const IN_TURN: &str = r#"
extern "C" __global__ void __launch_bounds__(256) entry(const __grid_constant__ Arguments a) {
    const N line = (N)blockIdx.x * 256 + threadIdx.x;
    if (line >= a.total) return;
    const N outer = line / a.inner, inner = line % a.inner;
    for (N u = 0; u < a.updates; u++) {
        const N from = (outer * a.updates + u) * a.inner + inner;
        const N place = place_of(a.index[from], a.extent);
        if (place < 0) continue;
        T* at = a.result + (outer * a.extent + place) * a.inner + inner;
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
    const N place = place_of(own, a.extent);
    if (place < 0) return;
    // The first of those that go to one place does the work of all.
    if (rank > 0 && a.index[at(a.order[at(rank - 1)])] == own) return;
    T* to = a.result + (outer * a.extent + place) * a.inner + inner;
    T value = combined(*to, a.update[from]);
    for (N r = rank + 1; r < a.updates; r++) {
        const N next = at(a.order[at(r)]);
        if (!(a.index[next] == own)) break;
        value = combined(value, a.update[next]);
    }
    *to = value;
}
"#;
