//! Sorts of long lines by one key: digit by digit, the lowest first, and all that is moved is read and written once
//! for each. Lines that fit a block's shared memory are read and written once in all.
//!
//! For longer ones, a first kernel counts all digits of all keys. Then, for each digit, blocks take tiles in their order. A block
//! counts its own digits, says so, and adds up what the tiles before it said, back to one that has done so already.
//! So it knows where its elements go while the tiles before it may still be at work. Elements of one digit stay in
//! their order.

use super::{Kernels, Key, Launch, Site, key};
use inflight_backend::Fault;
use inflight_ir::DType;
use inflight_ir::graph::{SortKey, SortResult};
use inflight_ir::plan::Lines;

/// Threads of a block.
const THREADS: usize = 384;

/// Shorter lines are sorted by merges.
const SHORTEST: usize = 1 << 15;

/// Counts of a tile share their word with what is known of them.
const LONGEST: usize = 1 << 30;

/// More lines than this are sorted at once, not one after another.
const MOST_LINES: usize = 16;

/// Values of a digit.
const DIGITS: usize = 256;

const CLEAR: usize = 0;
const COUNT: usize = 1;
const SUM: usize = 2;
const MOVE: usize = 3;
const SORT_LINES: usize = 4;

/// Threads of a block that sorts a whole line.
const LINE_THREADS: usize = 256;

/// Lines up to this length share a tile of a merge sort.
const SHORT_LINE: usize = 1024;

/// Whether such lines are best sorted this way.
pub fn suits(lines: Lines, dtype: DType) -> bool {
    let is_long = (SHORTEST..LONGEST).contains(&lines.extent) && lines.outer <= MOST_LINES;
    lines.inner == 1 && (is_long || fits_block(lines, dtype))
}

/// Whether a block sorts a line by itself.
fn fits_block(lines: Lines, dtype: DType) -> bool {
    (SHORT_LINE + 1..=LINE_THREADS * items(dtype)).contains(&lines.extent)
}

/// Elements of a tile.
fn tile(dtype: DType) -> usize {
    THREADS * items(dtype)
}

fn items(dtype: DType) -> usize {
    if dtype.size() == 8 { 8 } else { 16 }
}

/// The kernels for a key, and whether places are moved and answered.
pub fn kernels(dtype: DType, order: SortKey, places: bool) -> Kernels {
    let head = format!(
        "{}constexpr int THREADS = {THREADS}, ITEMS = {}, PASSES = {};\nconstexpr bool PLACES = {places};\n",
        key::text(dtype, order),
        items(dtype),
        dtype.size(),
    );
    let text = |body: &str| crate::codegen::with_functions(&format!("{head}{body}"));
    let lines = LINES_TEXT.replace("LINE_THREADS", &LINE_THREADS.to_string());
    let [moves, lines] = [MOVE_TEXT, &lines].map(|body| format!("{NUMBERED_TEXT}{body}"));
    Kernels::new([CLEAR_TEXT, COUNT_TEXT, SUM_TEXT, &moves, &lines].map(text).into(), 0)
}

/// Sorts lines that [suit](suits).
pub fn sort(
    site: &mut Site,
    lines: Lines,
    (dtype, order): (DType, SortKey),
    answer: SortResult,
    keys: u64,
    result: u64,
) -> Result<(), Fault> {
    let places = answer != SortResult::Values;
    let key = Key::Radix { dtype, order, places };
    let kernels = site.kernels(key, || Ok(kernels(dtype, order, places)))?;
    let (extent, passes) = (lines.extent, dtype.size());
    if fits_block(lines, dtype) {
        let words = vec![extent as u64, keys, result];
        let launch = Launch { blocks: lines.outer, threads: LINE_THREADS as u32, words };
        return site.launch(&kernels, SORT_LINES, launch);
    }
    let tiles = extent.div_ceil(tile(dtype));
    // Where each digit begins, what tiles say, and the next tile of each pass.
    let words = passes * DIGITS + passes * tiles * DIGITS + passes;
    let counts = site.temporary(4 * words)?;
    let states = counts + (4 * passes * DIGITS) as u64;
    let next = states + (4 * passes * tiles * DIGITS) as u64;
    let bytes = extent * dtype.size();
    let mut spaces = [result, site.temporary(bytes)?];
    let mut place_spaces = [0, 0];
    if places {
        spaces[0] = site.temporary(bytes)?;
        place_spaces = [site.temporary(4 * extent)?, site.temporary(4 * extent)?];
    }
    for line in 0..lines.outer {
        let keys = keys + (line * bytes) as u64;
        let line_result = result + (line * extent * if places { 8 } else { dtype.size() }) as u64;
        if !places {
            spaces[0] = line_result;
        }
        let launch = |blocks: usize, words: &[u64]| Launch {
            blocks,
            threads: THREADS as u32,
            words: words.to_vec(),
        };
        let blocks = words.div_ceil(16 * THREADS);
        site.launch(&kernels, CLEAR, launch(blocks, &[words as u64, counts]))?;
        let blocks = tiles.min(4 * site.shared.processors);
        site.launch(&kernels, COUNT, launch(blocks, &[extent as u64, keys, counts]))?;
        let sum = Launch { blocks: passes, threads: DIGITS as u32, words: vec![counts] };
        site.launch(&kernels, SUM, sum)?;
        let (mut from, mut from_places) = (keys, 0);
        for pass in 0..passes {
            // The last writes the first space.
            let to = (passes - 1 - pass) % 2;
            let is_last = pass + 1 == passes;
            let answered = if places && is_last { line_result } else { 0 };
            let numbers = [extent, tiles, pass].map(|number| number as u64);
            let mut words = numbers.to_vec();
            words.extend([from, from_places, spaces[to], place_spaces[to], answered]);
            words.extend([counts, states, next]);
            site.launch(&kernels, MOVE, launch(tiles, &words))?;
            (from, from_places) = (spaces[to], place_spaces[to]);
        }
    }
    Ok(())
}

const CLEAR_TEXT: &str = r#"
struct Arguments { N total; unsigned* words; };
extern "C" __global__ void __launch_bounds__(THREADS) entry(const __grid_constant__ Arguments a) {
    #pragma unroll
    for (int i = 0; i < 16; i++) {
        const N at = ((N)blockIdx.x * 16 + i) * THREADS + threadIdx.x;
        if (at < a.total) a.words[at] = 0;
    }
}
"#;

const COUNT_TEXT: &str = r#"
// Lanes that count the same digit at once take turns, so there are several counts of each.
constexpr int COPIES = PASSES == 8 ? 4 : 8;
struct Arguments { N extent; const E* keys; unsigned* counts; };
extern "C" __global__ void __launch_bounds__(THREADS) entry(const __grid_constant__ Arguments a) {
    __shared__ unsigned counts[PASSES * 256 * COPIES];
    for (int e = threadIdx.x; e < PASSES * 256 * COPIES; e += THREADS) counts[e] = 0;
    __syncthreads();
    const int copy = threadIdx.x % COPIES;
    const N step = (N)gridDim.x * THREADS;
    // Several are read before the first is counted.
    constexpr int MANY = 8;
    for (N first = (N)blockIdx.x * THREADS + threadIdx.x; first < a.extent; first += MANY * step) {
        E x[MANY];
        #pragma unroll
        for (int i = 0; i < MANY; i++) if (first + i * step < a.extent) x[i] = a.keys[first + i * step];
        #pragma unroll
        for (int i = 0; i < MANY; i++) {
            if (first + i * step >= a.extent) continue;
            const W key = key_of(x[i]);
            #pragma unroll
            for (int pass = 0; pass < PASSES; pass++) {
                const int digit = (int)(key >> (8 * pass)) & 255;
                atomicAdd(&counts[(pass * 256 + digit) * COPIES + copy], 1u);
            }
        }
    }
    __syncthreads();
    for (int e = threadIdx.x; e < PASSES * 256; e += THREADS) {
        unsigned sum = 0;
        #pragma unroll
        for (int c = 0; c < COPIES; c++) sum += counts[e * COPIES + c];
        if (sum) atomicAdd(&a.counts[e], sum);
    }
}
"#;

const SUM_TEXT: &str = r#"
// How many keys have a lower digit, in place of how many have each.
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

/// What both kernels that move elements do with a digit.
const NUMBERED_TEXT: &str = r#"
// An element's digit and, in its low bits, how many with it the warp has seen before. All lanes of the warp call it.
FN unsigned numbered(int digit, unsigned* counts, int lane) {
    unsigned equals = ~0u;
    #pragma unroll
    for (int b = 0; b < 8; b++) {
        const bool bit = digit >> b & 1;
        const unsigned votes = __ballot_sync(~0u, bit);
        equals &= bit ? votes : ~votes;
    }
    const unsigned before = counts[digit], lower = equals & ((1u << lane) - 1);
    __syncwarp();
    if (lower == 0) counts[digit] = before + __popc(equals);
    __syncwarp();
    return (unsigned)digit << 16 | (before + __popc(lower));
}
"#;

const MOVE_TEXT: &str = r#"
constexpr int TILE = THREADS * ITEMS, WARPS = THREADS / 32, LOOKS = 8;
constexpr int MOVED = PLACES && sizeof(E) < 4 ? 4 : (int)sizeof(E);
// What a tile has said of a digit: nothing, its own count, or that of all tiles up to it.
constexpr unsigned OWN = 1u << 30, ALL = 2u << 30, NUMBER = OWN - 1;
constexpr int BYTES = TILE * MOVED > WARPS * 256 * 4 ? TILE * MOVED : WARPS * 256 * 4;
struct Arguments {
    N extent, tiles, pass;
    const E* from; const unsigned* from_places;
    E* to; unsigned* to_places; N* result;
    const unsigned* starts; unsigned *states, *next;
};
extern "C" __global__ void __launch_bounds__(THREADS, 2) entry(const __grid_constant__ Arguments a) {
    __shared__ alignas(16) unsigned char bytes[BYTES];
    // A digit's first place in the tile, and what leads from there to its place in the line.
    __shared__ unsigned first[256], distance[256], sums[8], number;
    unsigned* counts = (unsigned*)bytes;
    const int t = threadIdx.x, lane = t & 31, warp = t / 32, shift = 8 * (int)a.pass;
    if (t == 0) number = atomicAdd(&a.next[a.pass], 1u);
    for (int e = t; e < WARPS * 256; e += THREADS) counts[e] = 0;
    __syncthreads();
    const N tile = number, base = tile * TILE;
    const int valid = (int)(a.extent - base < TILE ? a.extent - base : TILE);
    const int own = warp * 32 * ITEMS + lane;
    E x[ITEMS];
    // First an element's digit and how many of it come before, then its place.
    unsigned place[ITEMS];
    #pragma unroll
    for (int i = 0; i < ITEMS; i++) if (own + 32 * i < valid) x[i] = a.from[base + own + 32 * i];
    // What is missing to a whole tile comes after all else, and is not written.
    const auto digit_of = [&](E y) { return (int)(key_of(y) >> shift) & 255; };
    #pragma unroll
    for (int i = 0; i < ITEMS; i++) {
        const int digit = own + 32 * i < valid ? digit_of(x[i]) : 255;
        place[i] = numbered(digit, &counts[warp * 256], lane);
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
    if (t < 256) states[tile * 256] = (tile == 0 ? ALL : OWN) | counted;
    __syncthreads();
    if (t < 256) {
        for (int w = 0; w < warp; w++) sum += sums[w];
        first[t] = sum - total;
        unsigned before = 0;
        N at = tile - 1;
        for (bool done = tile == 0; !done;) {
            unsigned said[LOOKS];
            #pragma unroll
            for (int j = 0; j < LOOKS; j++) said[j] = at >= j ? states[(at - j) * 256] : 0;
            bool goes_on = true;
            int taken = 0;
            #pragma unroll
            for (int j = 0; j < LOOKS; j++) {
                goes_on = goes_on && said[j] != 0;
                if (goes_on) {
                    before += said[j] & NUMBER;
                    taken++;
                    if (said[j] & ALL) { done = true; goes_on = false; }
                }
            }
            at -= taken;
        }
        if (tile != 0) states[tile * 256] = ALL | (before + counted);
        distance[t] = a.starts[a.pass * 256 + t] + before - first[t];
    }
    __syncthreads();
    #pragma unroll
    for (int i = 0; i < ITEMS; i++) {
        const unsigned digit = place[i] >> 16;
        place[i] = (place[i] & 0xffff) + first[digit] + counts[warp * 256 + digit];
    }
    __syncthreads();
    E* elements = (E*)bytes;
    #pragma unroll
    for (int i = 0; i < ITEMS; i++) elements[place[i]] = x[i];
    __syncthreads();
    unsigned to[ITEMS];
    #pragma unroll
    for (int i = 0; i < ITEMS; i++) {
        const int e = t + i * THREADS;
        if (e >= valid) continue;
        const E y = elements[e];
        to[i] = distance[digit_of(y)] + (unsigned)e;
        if (!PLACES || !a.result) a.to[to[i]] = y;
    }
    if constexpr (PLACES) {
        unsigned* places = (unsigned*)bytes;
        unsigned p[ITEMS];
        #pragma unroll
        for (int i = 0; i < ITEMS; i++) {
            const N at = base + own + 32 * i;
            p[i] = (unsigned)at;
            if (a.from_places && own + 32 * i < valid) p[i] = a.from_places[at];
        }
        __syncthreads();
        #pragma unroll
        for (int i = 0; i < ITEMS; i++) places[place[i]] = p[i];
        __syncthreads();
        #pragma unroll
        for (int i = 0; i < ITEMS; i++) {
            const int e = t + i * THREADS;
            if (e >= valid) continue;
            if (a.result) a.result[to[i]] = (N)places[e]; else a.to_places[to[i]] = places[e];
        }
    }
}
"#;

const LINES_TEXT: &str = r#"
constexpr int TILE = LINE_THREADS * ITEMS, WARPS = LINE_THREADS / 32;
constexpr int BYTES = TILE * (int)sizeof(E) > WARPS * 256 * 4 ? TILE * (int)sizeof(E) : WARPS * 256 * 4;
struct Arguments { N extent; const E* keys; void* result; };
extern "C" __global__ void __launch_bounds__(LINE_THREADS, 4) entry(const __grid_constant__ Arguments a) {
    __shared__ alignas(16) unsigned char bytes[BYTES];
    __shared__ unsigned short places[PLACES ? TILE : 1];
    __shared__ unsigned first[256], sums[8];
    unsigned* counts = (unsigned*)bytes;
    E* elements = (E*)bytes;
    const int t = threadIdx.x, lane = t & 31, warp = t / 32, valid = (int)a.extent;
    const int own = warp * 32 * ITEMS + lane;
    const N start = (N)blockIdx.x * a.extent;
    E x[ITEMS];
    unsigned place[ITEMS];
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
            // What is missing to a whole tile comes after all else, and stays there.
            const int digit = own + 32 * i < valid ? (int)(key_of(x[i]) >> (8 * pass)) & 255 : 255;
            place[i] = numbered(digit, &counts[warp * 256], lane);
        }
        __syncthreads();
        // A thread has a digit.
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
            const unsigned digit = place[i] >> 16;
            place[i] = (place[i] & 0xffff) + first[digit] + counts[warp * 256 + digit];
        }
        __syncthreads();
        #pragma unroll
        for (int i = 0; i < ITEMS; i++) {
            elements[place[i]] = x[i];
            if constexpr (PLACES) places[place[i]] = from[i];
        }
        __syncthreads();
        #pragma unroll
        for (int i = 0; i < ITEMS; i++) {
            x[i] = elements[own + 32 * i];
            if constexpr (PLACES) from[i] = places[own + 32 * i];
        }
        __syncthreads();
    }
    #pragma unroll
    for (int i = 0; i < ITEMS; i++) {
        if (own + 32 * i >= valid) continue;
        const N at = start + own + 32 * i;
        if constexpr (PLACES) ((N*)a.result)[at] = (N)from[i]; else ((E*)a.result)[at] = x[i];
    }
}
"#;
