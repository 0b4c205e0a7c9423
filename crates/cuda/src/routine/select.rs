//! The first few elements of each line in the order of one key, without sorting it.
//!
//! Each thread of a line's block looks for its least key. The k-th least of these is a bound: the first k of the line
//! are not above it, and few others are. Those that are not are gathered, and each counts how many come before it. Where
//! too many are equal for that, the k-th key of the line is found bit by bit.

use super::{Kernels, Key, Launch, Site, key};
use inflight_backend::Fault;
use inflight_ir::DType;
use inflight_ir::graph::SortKey;
use inflight_ir::plan::Lines;

/// The most that are selected: beyond this, lines are sorted.
const MOST_SELECTED: usize = 128;

/// The most elements of a line whose places fit.
const LONGEST: usize = 1 << 31;

/// Where there are so few lines, and they are so long, more than their blocks should work on them.
const FEW_LINES: usize = 8;
const LONG_LINE: usize = 1 << 20;

/// Whether the first of such lines are best selected.
pub fn suits(lines: Lines, count: usize) -> bool {
    let is_large = lines.count() < FEW_LINES && lines.extent > LONG_LINE;
    // A block takes a line.
    let has_blocks = i32::try_from(lines.count()).is_ok();
    count <= MOST_SELECTED && lines.extent < LONGEST && !is_large && has_blocks
}

/// Threads for a line.
fn threads(lines: Lines, count: usize) -> usize {
    match lines.extent {
        0..=1024 if count <= 32 => 32,
        0..=32768 => 256,
        _ => 1024,
    }
}

/// The kernel for a key and a block of this many threads.
pub fn kernels(dtype: DType, order: SortKey, threads: usize) -> Kernels {
    let head = format!("{}constexpr int THREADS = {threads};\n", key::text(dtype, order));
    Kernels::new(vec![crate::codegen::with_functions(&format!("{head}{SELECT_TEXT}"))], 0)
}

/// All kernels for a key.
pub fn texts(dtype: DType, order: SortKey) -> impl Iterator<Item = String> {
    [32, 256, 1024].into_iter().flat_map(move |threads| kernels(dtype, order, threads).texts)
}

/// Writes the places of the first elements of each line.
pub fn select(
    site: &mut Site,
    lines: Lines,
    (dtype, order): (DType, SortKey),
    count: usize,
    keys: u64,
    result: u64,
) -> Result<(), Fault> {
    let threads = threads(lines, count);
    let kernels =
        site.kernels(Key::Select { dtype, order, threads }, || Ok(kernels(dtype, order, threads)))?;
    let mut words = [lines.extent, lines.inner, count].map(|number| number as u64).to_vec();
    words.extend([keys, result]);
    site.launch(&kernels, 0, Launch { blocks: lines.count(), threads: threads as u32, words })
}

/// Copies the first places of sorted lines.
pub fn take(
    site: &mut Site,
    lines: Lines,
    count: usize,
    sorted: u64,
    result: u64,
) -> Result<(), Fault> {
    let kernels = site.kernels(Key::Take, || Ok(take_kernels()))?;
    let total = lines.count() * count;
    let mut words = [total, lines.extent, lines.inner, count].map(|number| number as u64).to_vec();
    words.extend([sorted, result]);
    site.launch(&kernels, 0, Launch { blocks: total.div_ceil(256), threads: 256, words })
}

/// The kernel of [`take`].
pub fn take_kernels() -> Kernels {
    Kernels::new(vec![crate::codegen::with_functions(TAKE_TEXT)], 0)
}

const TAKE_TEXT: &str = r#"
typedef long long N;
struct Arguments { N total, extent, inner, count; const N* sorted; N* result; };
extern "C" __global__ void __launch_bounds__(256) entry(const __grid_constant__ Arguments a) {
    const N at = (N)blockIdx.x * 256 + threadIdx.x;
    if (at >= a.total) return;
    const N block = a.count * a.inner, outer = at / block, inside = at % block;
    a.result[at] = a.sorted[outer * a.extent * a.inner + inside];
}
"#;

const SELECT_TEXT: &str = r#"
constexpr int WARPS = THREADS / 32, ROOM = THREADS < 256 ? 256 : 1024;
struct Arguments { N extent, inner, count; const E* keys; N* result; };
FN W lesser(W a, W b) { return a < b ? a : b; }

// The k-th least of what the lanes of a warp have.
FN W least_of_lanes(W x, int k) {
    const int lane = threadIdx.x & 31;
    #pragma unroll
    for (int run = 2; run <= 32; run *= 2) {
        #pragma unroll
        for (int d = run / 2; d > 0; d /= 2) {
            const W other = __shfl_xor_sync(~0u, x, d);
            const bool takes_lesser = ((lane & d) == 0) == ((lane & run) == 0);
            x = (x < other) == takes_lesser ? x : other;
        }
    }
    return __shfl_sync(~0u, x, k - 1);
}

// The sum of what all threads have, which all of them get.
FN unsigned summed(unsigned x, unsigned* shared) {
    __syncthreads();
    if (threadIdx.x == 0) *shared = 0;
    __syncthreads();
    if (x) atomicAdd(shared, x);
    __syncthreads();
    return *shared;
}

extern "C" __global__ void __launch_bounds__(THREADS) entry(const __grid_constant__ Arguments a) {
    __shared__ W kept[ROOM], least[THREADS];
    __shared__ unsigned places[ROOM], found;
    __shared__ W shared_bound;
    const int t = threadIdx.x, lane = t & 31, warp = t / 32;
    const unsigned count = (unsigned)a.count, extent = (unsigned)a.extent;
    const N line = blockIdx.x, outer = line / a.inner, inside = line % a.inner;
    const E* row = a.keys + outer * a.extent * a.inner + inside;
    const auto key_at = [&](unsigned i) { return key_of(row[i * a.inner]); };
    constexpr W NONE = (W)(U)~(U)0;
    W own = NONE;
    #pragma unroll 8
    for (unsigned i = t; i < extent; i += THREADS) own = lesser(own, key_at(i));
    if (t == 0) found = 0;
    W bound = NONE;
    if (count <= 32) {
        own = least_of_lanes(own, (int)count);
        if (lane == 0) least[warp] = own;
        __syncthreads();
        for (int w = 0; w < WARPS; w++) bound = lesser(bound, least[w]);
    } else {
        least[t] = own;
        __syncthreads();
        unsigned before = 0;
        for (int j = 0; j < THREADS; j++) before += least[j] < own || (least[j] == own && j < t);
        if (before == count - 1) shared_bound = own;
        __syncthreads();
        bound = shared_bound;
    }
    #pragma unroll 8
    for (unsigned i = t; i < extent; i += THREADS) {
        const W key = key_at(i);
        if (key <= bound) {
            const unsigned at = atomicAdd(&found, 1u);
            if (at < ROOM) { kept[at] = key; places[at] = i; }
        }
    }
    __syncthreads();
    unsigned candidates = found;
    if (candidates > ROOM) {
        W last = 0;
        for (int bit = 8 * (int)sizeof(U) - 1; bit >= 0; bit--) {
            const W most = last | (((W)1 << bit) - 1);
            unsigned within = 0;
            for (unsigned i = t; i < extent; i += THREADS) within += key_at(i) <= most;
            if (summed(within, &found) < count) last |= (W)1 << bit;
        }
        unsigned less = 0;
        for (unsigned i = t; i < extent; i += THREADS) less += key_at(i) < last;
        less = summed(less, &found);
        __syncthreads();
        if (t == 0) found = 0;
        __syncthreads();
        for (unsigned i = t; i < extent; i += THREADS) {
            const W key = key_at(i);
            if (key < last) {
                const unsigned at = atomicAdd(&found, 1u);
                kept[at] = key;
                places[at] = i;
            }
        }
        // Of those that are equal to the last, the first.
        unsigned taken = less;
        for (unsigned begin = 0; begin < extent && taken < count; begin += THREADS) {
            const unsigned i = begin + t;
            const bool is_equal = i < extent && key_at(i) == last;
            const unsigned votes = __ballot_sync(~0u, is_equal);
            __syncthreads();
            if (lane == 0) least[warp] = (W)__popc(votes);
            __syncthreads();
            unsigned at = taken + __popc(votes & ((1u << lane) - 1)), all = 0;
            for (int w = 0; w < WARPS; w++) {
                if (w < warp) at += (unsigned)least[w];
                all += (unsigned)least[w];
            }
            if (is_equal && at < count) { kept[at] = last; places[at] = i; }
            taken += all;
        }
        candidates = count;
        __syncthreads();
    }
    for (unsigned c = t; c < candidates; c += THREADS) {
        const W key = kept[c];
        const unsigned place = places[c];
        unsigned before = 0;
        for (unsigned j = 0; j < candidates; j++)
            before += kept[j] < key || (kept[j] == key && places[j] < place);
        if (before < count) a.result[(outer * a.count + before) * a.inner + inside] = (N)place;
    }
}
"#;
