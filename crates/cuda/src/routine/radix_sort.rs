//! LSD radix sort of lines by one key, with 8-bit digits. A line that fits a block's shared memory is read and
//! written once in all passes; longer lines are read and written once per pass.
//!
//! For long lines, a first kernel computes the digit histograms of all passes. In each pass, blocks take tiles in
//! order (onesweep): a block counts its own digits, publishes the counts, and adds up those of the tiles before it,
//! back to one that has published a prefix (decoupled look-back). So it knows where its elements go while earlier
//! tiles are still being processed. The sort is stable.

use super::{KernelKey, KernelSet, Launch, RoutineContext, sort_key};
use inflight_backend::Fault;
use inflight_ir::DType;
use inflight_ir::graph::{SortKey, SortResult};
use inflight_ir::plan::Lines;

/// Threads of a block.
const THREADS: usize = 384;

/// Shorter lines are merge sorted, or sorted by a single block.
const MIN_LINE: usize = 1 << 15;

/// The counts of a tile share a word with its look-back status.
const MAX_LINE: usize = 1 << 30;

/// More lines than this are merge sorted all at once, instead of one after another.
const MAX_LINES: usize = 16;

/// Values of a digit.
const DIGITS: usize = 256;

const CLEAR: usize = 0;
const HISTOGRAM: usize = 1;
const SCAN: usize = 2;
const ONESWEEP: usize = 3;
const SORT_BLOCK_LINES: usize = 4;

/// Threads of a block that sorts a whole line.
const LINE_THREADS: usize = 256;

/// Lines up to this length share a tile of a merge sort.
const MAX_TILE_LINE: usize = 1024;

/// Whether a radix sort suits these lines.
pub fn is_suitable(lines: Lines, dtype: DType) -> bool {
    let is_long = (MIN_LINE..MAX_LINE).contains(&lines.extent) && lines.outer <= MAX_LINES;
    lines.inner == 1 && (is_long || fits_block(lines, dtype))
}

/// Whether a block sorts a line by itself.
fn fits_block(lines: Lines, dtype: DType) -> bool {
    (MAX_TILE_LINE + 1..=LINE_THREADS * thread_items(dtype)).contains(&lines.extent)
}

/// Elements of a tile.
fn tile_elements(dtype: DType) -> usize {
    THREADS * thread_items(dtype)
}

fn thread_items(dtype: DType) -> usize {
    if dtype.size() == 8 { 8 } else { 16 }
}

/// The kernels for a key. `with_indices` says that the sort returns indices instead of keys.
pub fn kernels(dtype: DType, order: SortKey, with_indices: bool) -> KernelSet {
    let head = format!(
        "{}constexpr int THREADS = {THREADS}, ITEMS = {}, PASSES = {};\nconstexpr bool WITH_INDICES = {with_indices};\n",
        sort_key::source(dtype, order),
        thread_items(dtype),
        dtype.size(),
    );
    let source = |body: &str| crate::codegen::with_functions(&format!("{head}{body}"));
    let lines = LINES_SOURCE.replace("LINE_THREADS", &LINE_THREADS.to_string());
    let [onesweep, lines] = [ONESWEEP_SOURCE, &lines].map(|body| format!("{RANK_SOURCE}{body}"));
    KernelSet::new(
        [CLEAR_SOURCE, HISTOGRAM_SOURCE, SCAN_SOURCE, &onesweep, &lines].map(source).into(),
        0,
    )
}

/// Sorts lines that [radix sort suits](is_suitable).
pub fn sort(
    context: &mut RoutineContext,
    lines: Lines,
    (dtype, order): (DType, SortKey),
    sort_result: SortResult,
    keys: u64,
    result: u64,
) -> Result<(), Fault> {
    let with_indices = sort_result != SortResult::Values;
    let key = KernelKey::Radix { dtype, order, with_indices };
    let kernels = context.kernels(key, || Ok(kernels(dtype, order, with_indices)))?;
    let (extent, passes) = (lines.extent, dtype.size());
    if fits_block(lines, dtype) {
        let words = vec![extent as u64, keys, result];
        let launch = Launch { blocks: lines.outer, threads: LINE_THREADS as u32, words };
        return context.launch(&kernels, SORT_BLOCK_LINES, launch);
    }
    let tiles = extent.div_ceil(tile_elements(dtype));
    // The digit offsets, the look-back states of the tiles, and the tile counter of each pass.
    let words = passes * DIGITS + passes * tiles * DIGITS + passes;
    let counts = context.allocate_scratch(4 * words)?;
    let states = counts + (4 * passes * DIGITS) as u64;
    let next = states + (4 * passes * tiles * DIGITS) as u64;
    let bytes = extent * dtype.size();
    let mut key_buffers = [result, context.allocate_scratch(bytes)?];
    let mut index_buffers = [0, 0];
    if with_indices {
        key_buffers[0] = context.allocate_scratch(bytes)?;
        index_buffers =
            [context.allocate_scratch(4 * extent)?, context.allocate_scratch(4 * extent)?];
    }
    for line in 0..lines.outer {
        let keys = keys + (line * bytes) as u64;
        let line_result =
            result + (line * extent * if with_indices { 8 } else { dtype.size() }) as u64;
        if !with_indices {
            key_buffers[0] = line_result;
        }
        let launch = |blocks: usize, words: &[u64]| Launch {
            blocks,
            threads: THREADS as u32,
            words: words.to_vec(),
        };
        let blocks = words.div_ceil(16 * THREADS);
        context.launch(&kernels, CLEAR, launch(blocks, &[words as u64, counts]))?;
        let blocks = tiles.min(4 * context.shared.processors);
        context.launch(&kernels, HISTOGRAM, launch(blocks, &[extent as u64, keys, counts]))?;
        let scan = Launch { blocks: passes, threads: DIGITS as u32, words: vec![counts] };
        context.launch(&kernels, SCAN, scan)?;
        let (mut from, mut from_indices) = (keys, 0);
        for pass in 0..passes {
            // The last pass writes the first buffer.
            let to = (passes - 1 - pass) % 2;
            let is_last = pass + 1 == passes;
            let index_result = if with_indices && is_last { line_result } else { 0 };
            let extents = [extent, tiles, pass].map(|extent| extent as u64);
            let mut words = extents.to_vec();
            words.extend([from, from_indices, key_buffers[to], index_buffers[to], index_result]);
            words.extend([counts, states, next]);
            context.launch(&kernels, ONESWEEP, launch(tiles, &words))?;
            (from, from_indices) = (key_buffers[to], index_buffers[to]);
        }
    }
    Ok(())
}

const CLEAR_SOURCE: &str = r#"
struct Arguments { N total; unsigned* words; };
extern "C" __global__ void __launch_bounds__(THREADS) entry(const __grid_constant__ Arguments a) {
    #pragma unroll
    for (int i = 0; i < 16; i++) {
        const N at = ((N)blockIdx.x * 16 + i) * THREADS + threadIdx.x;
        if (at < a.total) a.words[at] = 0;
    }
}
"#;

const HISTOGRAM_SOURCE: &str = r#"
// Several histograms per block: atomics of lanes with the same digit would serialize.
constexpr int REPLICAS = PASSES == 8 ? 4 : 8;
struct Arguments { N extent; const E* keys; unsigned* counts; };
extern "C" __global__ void __launch_bounds__(THREADS) entry(const __grid_constant__ Arguments a) {
    __shared__ unsigned counts[PASSES * 256 * REPLICAS];
    for (int e = threadIdx.x; e < PASSES * 256 * REPLICAS; e += THREADS) counts[e] = 0;
    __syncthreads();
    const int replica = threadIdx.x % REPLICAS;
    const N step = (N)gridDim.x * THREADS;
    // Load several keys before the first is counted.
    constexpr int UNROLL = 8;
    for (N first = (N)blockIdx.x * THREADS + threadIdx.x; first < a.extent; first += UNROLL * step) {
        E x[UNROLL];
        #pragma unroll
        for (int i = 0; i < UNROLL; i++) if (first + i * step < a.extent) x[i] = a.keys[first + i * step];
        #pragma unroll
        for (int i = 0; i < UNROLL; i++) {
            if (first + i * step >= a.extent) continue;
            const W key = key_of(x[i]);
            #pragma unroll
            for (int pass = 0; pass < PASSES; pass++) {
                const int digit = (int)(key >> (8 * pass)) & 255;
                atomicAdd(&counts[(pass * 256 + digit) * REPLICAS + replica], 1u);
            }
        }
    }
    __syncthreads();
    for (int e = threadIdx.x; e < PASSES * 256; e += THREADS) {
        unsigned sum = 0;
        #pragma unroll
        for (int c = 0; c < REPLICAS; c++) sum += counts[e * REPLICAS + c];
        if (sum) atomicAdd(&a.counts[e], sum);
    }
}
"#;

const SCAN_SOURCE: &str = r#"
// Exclusive prefix sum of a digit histogram, in place.
struct Arguments { unsigned* counts; };
extern "C" __global__ void __launch_bounds__(256) entry(const __grid_constant__ Arguments a) {
    __shared__ unsigned sums[8];
    const int lane = threadIdx.x & 31, warp = threadIdx.x / 32;
    unsigned* count = a.counts + (int)blockIdx.x * 256 + threadIdx.x;
    const unsigned own = *count;
    unsigned sum = own;
    #pragma unroll
    for (int d = 1; d < 32; d *= 2) {
        const unsigned other = __shfl_up_sync(~0u, sum, d);
        if (lane >= d) sum += other;
    }
    if (lane == 31) sums[warp] = sum;
    __syncthreads();
    for (int w = 0; w < warp; w++) sum += sums[w];
    *count = sum - own;
}
"#;

/// Ranks the elements of a tile by digit. Shared by both kernels that move elements.
const RANK_SOURCE: &str = r#"
// Warp-wide rank: an element's digit and, in the low bits, how many elements of this digit the warp has seen before.
// All lanes of the warp must call it.
FN unsigned rank_by_digit(int digit, unsigned* counts, int lane) {
    unsigned matches = ~0u;
    #pragma unroll
    for (int b = 0; b < 8; b++) {
        const bool bit = digit >> b & 1;
        const unsigned votes = __ballot_sync(~0u, bit);
        matches &= bit ? votes : ~votes;
    }
    const unsigned before = counts[digit], lower = matches & ((1u << lane) - 1);
    __syncwarp();
    if (lower == 0) counts[digit] = before + __popc(matches);
    __syncwarp();
    return (unsigned)digit << 16 | (before + __popc(lower));
}
"#;

const ONESWEEP_SOURCE: &str = r#"
constexpr int TILE = THREADS * ITEMS, WARPS = THREADS / 32, LOOKBACK = 8;
constexpr int ELEMENT_BYTES = WITH_INDICES && sizeof(E) < 4 ? 4 : (int)sizeof(E);
// Look-back state of a digit: empty, the count of the tile itself, or the inclusive prefix of all tiles up to it.
constexpr unsigned AGGREGATE = 1u << 30, PREFIX = 2u << 30, COUNT_MASK = AGGREGATE - 1;
constexpr int BYTES = TILE * ELEMENT_BYTES > WARPS * 256 * 4 ? TILE * ELEMENT_BYTES : WARPS * 256 * 4;
struct Arguments {
    N extent, tiles, pass;
    const E* from; const unsigned* from_indices;
    E* to; unsigned* to_indices; N* result;
    const unsigned* starts; unsigned *states, *next;
};
extern "C" __global__ void __launch_bounds__(THREADS, 2) entry(const __grid_constant__ Arguments a) {
    __shared__ alignas(16) unsigned char bytes[BYTES];
    // A digit's first position in the tile, and the offset from there to its position in the line.
    __shared__ unsigned first[256], distance[256], sums[8], tile_index;
    unsigned* counts = (unsigned*)bytes;
    const int t = threadIdx.x, lane = t & 31, warp = t / 32, shift = 8 * (int)a.pass;
    if (t == 0) tile_index = atomicAdd(&a.next[a.pass], 1u);
    for (int e = t; e < WARPS * 256; e += THREADS) counts[e] = 0;
    __syncthreads();
    const N tile = tile_index, base = tile * TILE;
    const int valid = (int)(a.extent - base < TILE ? a.extent - base : TILE);
    const int own = warp * 32 * ITEMS + lane;
    E x[ITEMS];
    // An element's digit and warp rank, and later its position in the tile.
    unsigned rank[ITEMS];
    #pragma unroll
    for (int i = 0; i < ITEMS; i++) if (own + 32 * i < valid) x[i] = a.from[base + own + 32 * i];
    // Padding of a partial tile sorts last and is not written.
    const auto digit_of = [&](E y) { return (int)(key_of(y) >> shift) & 255; };
    #pragma unroll
    for (int i = 0; i < ITEMS; i++) {
        const int digit = own + 32 * i < valid ? digit_of(x[i]) : 255;
        rank[i] = rank_by_digit(digit, &counts[warp * 256], lane);
    }
    __syncthreads();
    unsigned total = 0, sum = 0;
    if (t < 256) {
        #pragma unroll
        for (int w = 0; w < WARPS; w++) {
            const unsigned count = counts[w * 256 + t];
            counts[w * 256 + t] = total;
            total += count;
        }
        sum = total;
        #pragma unroll
        for (int d = 1; d < 32; d *= 2) {
            const unsigned other = __shfl_up_sync(~0u, sum, d);
            if (lane >= d) sum += other;
        }
        if (lane == 31) sums[warp] = sum;
    }
    volatile unsigned* states = a.states + a.pass * a.tiles * 256 + t;
    const unsigned counted = t == 255 ? total - (unsigned)(TILE - valid) : total;
    if (t < 256) states[tile * 256] = (tile == 0 ? PREFIX : AGGREGATE) | counted;
    __syncthreads();
    if (t < 256) {
        for (int w = 0; w < warp; w++) sum += sums[w];
        first[t] = sum - total;
        unsigned before = 0;
        N at = tile - 1;
        for (bool done = tile == 0; !done;) {
            unsigned status[LOOKBACK];
            #pragma unroll
            for (int j = 0; j < LOOKBACK; j++) status[j] = at >= j ? states[(at - j) * 256] : 0;
            bool is_ready = true;
            int consumed = 0;
            #pragma unroll
            for (int j = 0; j < LOOKBACK; j++) {
                is_ready = is_ready && status[j] != 0;
                if (is_ready) {
                    before += status[j] & COUNT_MASK;
                    consumed++;
                    if (status[j] & PREFIX) { done = true; is_ready = false; }
                }
            }
            at -= consumed;
        }
        if (tile != 0) states[tile * 256] = PREFIX | (before + counted);
        distance[t] = a.starts[a.pass * 256 + t] + before - first[t];
    }
    __syncthreads();
    #pragma unroll
    for (int i = 0; i < ITEMS; i++) {
        const unsigned digit = rank[i] >> 16;
        rank[i] = (rank[i] & 0xffff) + first[digit] + counts[warp * 256 + digit];
    }
    __syncthreads();
    E* elements = (E*)bytes;
    #pragma unroll
    for (int i = 0; i < ITEMS; i++) elements[rank[i]] = x[i];
    __syncthreads();
    unsigned to[ITEMS];
    #pragma unroll
    for (int i = 0; i < ITEMS; i++) {
        const int e = t + i * THREADS;
        if (e >= valid) continue;
        const E y = elements[e];
        to[i] = distance[digit_of(y)] + (unsigned)e;
        if (!WITH_INDICES || !a.result) a.to[to[i]] = y;
    }
    if constexpr (WITH_INDICES) {
        unsigned* indices = (unsigned*)bytes;
        unsigned p[ITEMS];
        #pragma unroll
        for (int i = 0; i < ITEMS; i++) {
            const N at = base + own + 32 * i;
            p[i] = (unsigned)at;
            if (a.from_indices && own + 32 * i < valid) p[i] = a.from_indices[at];
        }
        __syncthreads();
        #pragma unroll
        for (int i = 0; i < ITEMS; i++) indices[rank[i]] = p[i];
        __syncthreads();
        #pragma unroll
        for (int i = 0; i < ITEMS; i++) {
            const int e = t + i * THREADS;
            if (e >= valid) continue;
            if (a.result) a.result[to[i]] = (N)indices[e]; else a.to_indices[to[i]] = indices[e];
        }
    }
}
"#;

const LINES_SOURCE: &str = r#"
constexpr int TILE = LINE_THREADS * ITEMS, WARPS = LINE_THREADS / 32;
constexpr int BYTES = TILE * (int)sizeof(E) > WARPS * 256 * 4 ? TILE * (int)sizeof(E) : WARPS * 256 * 4;
struct Arguments { N extent; const E* keys; void* result; };
extern "C" __global__ void __launch_bounds__(LINE_THREADS, 4) entry(const __grid_constant__ Arguments a) {
    __shared__ alignas(16) unsigned char bytes[BYTES];
    __shared__ unsigned short indices[WITH_INDICES ? TILE : 1];
    __shared__ unsigned first[256], sums[8];
    unsigned* counts = (unsigned*)bytes;
    E* elements = (E*)bytes;
    const int t = threadIdx.x, lane = t & 31, warp = t / 32, valid = (int)a.extent;
    const int own = warp * 32 * ITEMS + lane;
    const N start = (N)blockIdx.x * a.extent;
    E x[ITEMS];
    unsigned rank[ITEMS];
    unsigned short from[ITEMS];
    #pragma unroll
    for (int i = 0; i < ITEMS; i++) {
        if (own + 32 * i < valid) x[i] = a.keys[start + own + 32 * i];
        from[i] = (unsigned short)(own + 32 * i);
    }
    for (int pass = 0; pass < PASSES; pass++) {
        for (int e = t; e < WARPS * 256; e += LINE_THREADS) counts[e] = 0;
        __syncthreads();
        #pragma unroll
        for (int i = 0; i < ITEMS; i++) {
            // Padding of a partial tile sorts last and stays there.
            const int digit = own + 32 * i < valid ? (int)(key_of(x[i]) >> (8 * pass)) & 255 : 255;
            rank[i] = rank_by_digit(digit, &counts[warp * 256], lane);
        }
        __syncthreads();
        // A thread per digit.
        unsigned total = 0;
        #pragma unroll
        for (int w = 0; w < WARPS; w++) {
            const unsigned count = counts[w * 256 + t];
            counts[w * 256 + t] = total;
            total += count;
        }
        unsigned sum = total;
        #pragma unroll
        for (int d = 1; d < 32; d *= 2) {
            const unsigned other = __shfl_up_sync(~0u, sum, d);
            if (lane >= d) sum += other;
        }
        if (lane == 31) sums[warp] = sum;
        __syncthreads();
        for (int w = 0; w < warp; w++) sum += sums[w];
        first[t] = sum - total;
        __syncthreads();
        #pragma unroll
        for (int i = 0; i < ITEMS; i++) {
            const unsigned digit = rank[i] >> 16;
            rank[i] = (rank[i] & 0xffff) + first[digit] + counts[warp * 256 + digit];
        }
        __syncthreads();
        #pragma unroll
        for (int i = 0; i < ITEMS; i++) {
            elements[rank[i]] = x[i];
            if constexpr (WITH_INDICES) indices[rank[i]] = from[i];
        }
        __syncthreads();
        #pragma unroll
        for (int i = 0; i < ITEMS; i++) {
            x[i] = elements[own + 32 * i];
            if constexpr (WITH_INDICES) from[i] = indices[own + 32 * i];
        }
        __syncthreads();
    }
    #pragma unroll
    for (int i = 0; i < ITEMS; i++) {
        if (own + 32 * i >= valid) continue;
        const N at = start + own + 32 * i;
        if constexpr (WITH_INDICES) ((N*)a.result)[at] = (N)from[i]; else ((E*)a.result)[at] = x[i];
    }
}
"#;
