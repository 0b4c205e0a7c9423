//! Top-k selection: the first few elements of each line in the order of one key, without a full sort.
//!
//! A block per line. Each thread finds its smallest key; the k-th smallest of these bounds the k-th key of the line,
//! and few other keys are below the bound. The candidates up to the bound are collected, and each counts how many
//! precede it. If there are too many candidates for that, the k-th key is found bit by bit (radix select).

use super::{KernelKey, KernelSet, Launch, RoutineContext, sort_key};
use inflight_backend::Fault;
use inflight_ir::DType;
use inflight_ir::graph::SortKey;
use inflight_ir::plan::Lines;

/// Upper bound of k. Beyond it, lines are sorted.
const MAX_SELECTED: usize = 128;

/// Upper bound of a line's elements, whose indices have 32 bits.
const MAX_LINE: usize = 1 << 31;

/// If lines are this few and this long, one block per line leaves the device idle.
const FEW_LINES: usize = 8;
const LONG_LINE: usize = 1 << 20;

/// Whether top-k selection suits these lines.
pub fn is_suitable(lines: Lines, count: usize) -> bool {
    let is_large = lines.count() < FEW_LINES && lines.extent > LONG_LINE;
    // One block per line.
    let has_blocks = i32::try_from(lines.count()).is_ok();
    count <= MAX_SELECTED && lines.extent < MAX_LINE && !is_large && has_blocks
}

/// Threads of a block.
fn threads(lines: Lines, count: usize) -> usize {
    match lines.extent {
        0..=1024 if count <= 32 => 32,
        0..=32768 => 256,
        _ => 1024,
    }
}

/// The kernel for a key and a block of this many threads.
pub fn kernels(dtype: DType, order: SortKey, threads: usize) -> KernelSet {
    let head = format!("{}constexpr int THREADS = {threads};\n", sort_key::source(dtype, order));
    KernelSet::new(vec![crate::codegen::with_functions(&format!("{head}{TOP_K_SOURCE}"))], 0)
}

/// The sources of all kernels for a key.
pub fn sources(dtype: DType, order: SortKey) -> impl Iterator<Item = String> {
    [32, 256, 1024].into_iter().flat_map(move |threads| kernels(dtype, order, threads).sources)
}

/// Writes the indices of the first `count` elements of each line.
pub fn select(
    context: &mut RoutineContext,
    lines: Lines,
    (dtype, order): (DType, SortKey),
    count: usize,
    keys: u64,
    result: u64,
) -> Result<(), Fault> {
    let threads = threads(lines, count);
    let kernels = context.kernels(KernelKey::TopK { dtype, order, threads }, || {
        Ok(kernels(dtype, order, threads))
    })?;
    let mut words = [lines.extent, lines.inner, count].map(|word| word as u64).to_vec();
    words.extend([keys, result]);
    context.launch(&kernels, 0, Launch { blocks: lines.count(), threads: threads as u32, words })
}

/// Copies the first `count` indices of sorted lines.
pub fn copy_first(
    context: &mut RoutineContext,
    lines: Lines,
    count: usize,
    sorted: u64,
    result: u64,
) -> Result<(), Fault> {
    let kernels = context.kernels(KernelKey::CopyFirst, || Ok(copy_first_kernels()))?;
    let total = lines.count() * count;
    let mut words = [total, lines.extent, lines.inner, count].map(|word| word as u64).to_vec();
    words.extend([sorted, result]);
    context.launch(&kernels, 0, Launch { blocks: total.div_ceil(256), threads: 256, words })
}

/// The kernel of [`copy_first`].
pub fn copy_first_kernels() -> KernelSet {
    KernelSet::new(vec![crate::codegen::with_functions(COPY_FIRST_SOURCE)], 0)
}

const COPY_FIRST_SOURCE: &str = r#"
typedef long long N;
struct Arguments { N total, extent, inner, count; const N* sorted; N* result; };
extern "C" __global__ void __launch_bounds__(256) entry(const __grid_constant__ Arguments a) {
    const N at = (N)blockIdx.x * 256 + threadIdx.x;
    if (at >= a.total) return;
    const N block = a.count * a.inner, outer = at / block, inside = at % block;
    a.result[at] = a.sorted[outer * a.extent * a.inner + inside];
}
"#;

const TOP_K_SOURCE: &str = r#"
constexpr int WARPS = THREADS / 32, CAPACITY = THREADS < 256 ? 256 : 1024;
struct Arguments { N extent, inner, count; const E* keys; N* result; };
FN W min_key(W a, W b) { return a < b ? a : b; }

// The k-th smallest value of a warp (bitonic sort).
FN W warp_kth_smallest(W x, int k) {
    const int lane = threadIdx.x & 31;
    #pragma unroll
    for (int run = 2; run <= 32; run *= 2) {
        #pragma unroll
        for (int d = run / 2; d > 0; d /= 2) {
            const W other = __shfl_xor_sync(~0u, x, d);
            const bool takes_min = ((lane & d) == 0) == ((lane & run) == 0);
            x = (x < other) == takes_min ? x : other;
        }
    }
    return __shfl_sync(~0u, x, k - 1);
}

// Block-wide sum, returned to all threads.
FN unsigned block_sum(unsigned x, unsigned* shared) {
    __syncthreads();
    if (threadIdx.x == 0) *shared = 0;
    __syncthreads();
    if (x) atomicAdd(shared, x);
    __syncthreads();
    return *shared;
}

extern "C" __global__ void __launch_bounds__(THREADS) entry(const __grid_constant__ Arguments a) {
    __shared__ W candidate_keys[CAPACITY], smallest_keys[THREADS];
    __shared__ unsigned candidate_indices[CAPACITY], candidate_count;
    __shared__ W shared_bound;
    const int t = threadIdx.x, lane = t & 31, warp = t / 32;
    const unsigned count = (unsigned)a.count, extent = (unsigned)a.extent;
    const N line = blockIdx.x, outer = line / a.inner, inside = line % a.inner;
    const E* row = a.keys + outer * a.extent * a.inner + inside;
    const auto key_at = [&](unsigned i) { return key_of(row[i * a.inner]); };
    constexpr W NONE = (W)(U)~(U)0;
    W own = NONE;
    #pragma unroll 8
    for (unsigned i = t; i < extent; i += THREADS) own = min_key(own, key_at(i));
    if (t == 0) candidate_count = 0;
    W bound = NONE;
    if (count <= 32) {
        own = warp_kth_smallest(own, (int)count);
        if (lane == 0) smallest_keys[warp] = own;
        __syncthreads();
        for (int w = 0; w < WARPS; w++) bound = min_key(bound, smallest_keys[w]);
    } else {
        smallest_keys[t] = own;
        __syncthreads();
        unsigned rank = 0;
        for (int j = 0; j < THREADS; j++) rank += smallest_keys[j] < own || (smallest_keys[j] == own && j < t);
        if (rank == count - 1) shared_bound = own;
        __syncthreads();
        bound = shared_bound;
    }
    #pragma unroll 8
    for (unsigned i = t; i < extent; i += THREADS) {
        const W key = key_at(i);
        if (key <= bound) {
            const unsigned at = atomicAdd(&candidate_count, 1u);
            if (at < CAPACITY) { candidate_keys[at] = key; candidate_indices[at] = i; }
        }
    }
    __syncthreads();
    unsigned candidates = candidate_count;
    if (candidates > CAPACITY) {
        W kth_key = 0;
        for (int bit = 8 * (int)sizeof(U) - 1; bit >= 0; bit--) {
            const W most = kth_key | (((W)1 << bit) - 1);
            unsigned within = 0;
            for (unsigned i = t; i < extent; i += THREADS) within += key_at(i) <= most;
            if (block_sum(within, &candidate_count) < count) kth_key |= (W)1 << bit;
        }
        unsigned less = 0;
        for (unsigned i = t; i < extent; i += THREADS) less += key_at(i) < kth_key;
        less = block_sum(less, &candidate_count);
        __syncthreads();
        if (t == 0) candidate_count = 0;
        __syncthreads();
        for (unsigned i = t; i < extent; i += THREADS) {
            const W key = key_at(i);
            if (key < kth_key) {
                const unsigned at = atomicAdd(&candidate_count, 1u);
                candidate_keys[at] = key;
                candidate_indices[at] = i;
            }
        }
        // Of the keys equal to the k-th, take the first ones.
        unsigned selected = less;
        for (unsigned begin = 0; begin < extent && selected < count; begin += THREADS) {
            const unsigned i = begin + t;
            const bool is_equal = i < extent && key_at(i) == kth_key;
            const unsigned votes = __ballot_sync(~0u, is_equal);
            __syncthreads();
            if (lane == 0) smallest_keys[warp] = (W)__popc(votes);
            __syncthreads();
            unsigned at = selected + __popc(votes & ((1u << lane) - 1)), total_equal = 0;
            for (int w = 0; w < WARPS; w++) {
                if (w < warp) at += (unsigned)smallest_keys[w];
                total_equal += (unsigned)smallest_keys[w];
            }
            if (is_equal && at < count) { candidate_keys[at] = kth_key; candidate_indices[at] = i; }
            selected += total_equal;
        }
        candidates = count;
        __syncthreads();
    }
    for (unsigned c = t; c < candidates; c += THREADS) {
        const W key = candidate_keys[c];
        const unsigned index = candidate_indices[c];
        unsigned rank = 0;
        for (unsigned j = 0; j < candidates; j++)
            rank += candidate_keys[j] < key || (candidate_keys[j] == key && candidate_indices[j] < index);
        if (rank < count) a.result[(outer * a.count + rank) * a.inner + inside] = (N)index;
    }
}
"#;
