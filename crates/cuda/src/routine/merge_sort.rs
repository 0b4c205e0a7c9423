//! Stable merge sort, for keys and comparators that no other algorithm supports: blocks sort tiles, then passes merge
//! pairs of runs of doubling length.
//!
//! A merge is partitioned into outputs of equal length by merge path search. With an inconsistent comparator (no
//! strict weak order), independent searches may cross. So the partitions are then found by bisection, each between
//! its neighbours: whatever the comparator returns, the result is a permutation.

use super::sort_items::{self, SortItems};
use super::{KernelKey, KernelSet, Launch, RoutineContext, radix_sort, sort_key, top_k};
use inflight_backend::Fault;
use inflight_ir::DType;
use inflight_ir::graph::{SortOrder, SortResult};
use inflight_ir::plan::Lines;

/// Threads of a block.
const THREADS: usize = 256;

/// Shared memory of a tile.
const TILE_BYTES: usize = 32 << 10;

/// Upper bound of the items that a thread sorts by itself.
const MAX_THREAD_ITEMS: usize = 8;

/// The kernels: sort of lines that fit a tile, sort of the tiles of longer lines, merge pass, and last merge pass.
pub fn kernels(keys: &[DType], order: &SortOrder, result: SortResult, is_wide: bool) -> KernelSet {
    let order = sort_items::generate(keys, order, result, is_wide);
    let items = items(order.item_bytes);
    let tiles = [true, false].map(|single_tile| tile_source(&order, items, single_tile));
    let merges = [false, true].map(|last| merge_source(&order, items, last));
    KernelSet::new(tiles.into_iter().chain(merges).collect(), order.item_bytes)
}

/// The sources of all kernels that a sort may launch.
pub fn sources(
    lines: Lines,
    keys: &[DType],
    order: &SortOrder,
    sort_result: SortResult,
) -> Vec<String> {
    let is_wide = lines.extent > u32::MAX as usize;
    let mut sources = kernels(keys, order, sort_result, is_wide).sources;
    if let Some((dtype, order)) = sort_key::single_key(keys, order) {
        sources
            .extend(radix_sort::kernels(dtype, order, sort_result != SortResult::Values).sources);
        sources.extend(top_k::sources(dtype, order));
    }
    sources.extend(top_k::copy_first_kernels().sources);
    sources
}

/// Items per thread: a power of two, so that a tile is one as well.
fn items(bytes: usize) -> usize {
    let count = (TILE_BYTES / THREADS / bytes).clamp(1, MAX_THREAD_ITEMS);
    if count.is_power_of_two() { count } else { count.next_power_of_two() / 2 }
}

/// Sorts each line by the keys at these addresses: by top-k selection, radix sort or merge sort.
pub fn sort(
    context: &mut RoutineContext,
    lines: Lines,
    keys: &[DType],
    order: &SortOrder,
    sort_result: SortResult,
    operands: &[u64],
    result: u64,
) -> Result<(), Fault> {
    let (count, extent) = (lines.count(), lines.extent);
    if count * sort_result.output_extent(extent) == 0 {
        return Ok(());
    }
    let single_key = sort_key::single_key(keys, order);
    if let SortResult::FirstPositions(first) = sort_result {
        if let Some(key) = single_key
            && top_k::is_suitable(lines, first)
        {
            return top_k::select(context, lines, key, first, operands[0], result);
        }
        let sorted = context.allocate_scratch(count * extent * size_of::<i64>())?;
        sort(context, lines, keys, order, SortResult::Positions, operands, sorted)?;
        return top_k::copy_first(context, lines, first, sorted, result);
    }
    if let Some(key) = single_key
        && radix_sort::is_suitable(lines, key.0)
    {
        return radix_sort::sort(context, lines, key, sort_result, operands[0], result);
    }
    let is_wide = extent > u32::MAX as usize;
    let key =
        KernelKey::Sort { keys: keys.into(), order: order.clone(), result: sort_result, is_wide };
    let kernels = context.kernels(key, || Ok(kernels(keys, order, sort_result, is_wide)))?;
    let tile = items(kernels.item_bytes) * THREADS;
    let segment = extent.next_power_of_two().clamp(MAX_THREAD_ITEMS, tile);
    let (tiles_of_line, lines_of_tile) = (extent.div_ceil(tile), tile / segment);
    let bytes = count * extent * kernels.item_bytes;
    let buffers = match tiles_of_line {
        1 => [0, 0],
        2 => [context.allocate_scratch(bytes)?, 0],
        _ => [context.allocate_scratch(bytes)?, context.allocate_scratch(bytes)?],
    };
    let blocks = match tiles_of_line {
        1 => count.div_ceil(lines_of_tile),
        _ => count * tiles_of_line,
    };
    let launch = |width: usize, from: u64, to: u64| {
        let extents = [count, extent, lines.inner, segment, width].map(|extent| extent as u64);
        let mut words = extents.to_vec();
        words.extend(operands);
        words.extend([from, to, result]);
        Launch { blocks, threads: THREADS as u32, words }
    };
    context.launch(&kernels, (tiles_of_line > 1) as usize, launch(0, 0, buffers[0]))?;
    let (mut width, mut from) = (tile, 0);
    while width < extent {
        let is_last = 2 * width >= extent;
        let merge = launch(width, buffers[from], buffers[1 - from]);
        context.launch(&kernels, 2 + is_last as usize, merge)?;
        (width, from) = (2 * width, 1 - from);
    }
    Ok(())
}

fn head(order: &SortItems, items: usize) -> String {
    format!(
        "{}constexpr int ITEMS = {items}, THREADS = {THREADS}, TILE = ITEMS * THREADS;\n\
         constexpr bool CONSISTENT = {};\n{COMMON}",
        order.source, order.is_consistent
    )
}

fn tile_source(order: &SortItems, items: usize, single_tile: bool) -> String {
    let body = TILES.replace("SINGLE_TILE", if single_tile { "true" } else { "false" });
    crate::codegen::with_functions(&(head(order, items) + &body))
}

fn merge_source(order: &SortItems, items: usize, last: bool) -> String {
    let body = MERGES.replace("IS_LAST", if last { "true" } else { "false" });
    crate::codegen::with_functions(&(head(order, items) + &body))
}

const COMMON: &str = r"
template <class J> FN J min_of(J a, J b) { return a < b ? a : b; }
template <class J> FN J max_of(J a, J b) { return a > b ? a : b; }

// The first element of a line.
FN N line_start(const Arguments& a, N line) {
    return a.inner == 1 ? line * a.extent : line / a.inner * a.extent * a.inner + line % a.inner;
}

// Binary search: the first index from `low` on for which `takes` is false, or `high`.
template <class J, class Takes> FN J search(J low, J high, Takes takes) {
    while (low < high) {
        const J middle = (low + high) / 2;
        if (takes(middle)) low = middle + 1; else high = middle;
    }
    return low;
}

// The same by a warp, which probes 32 indices at a time.
template <class Takes> FN N warp_search(N low, N high, Takes takes) {
    const int lane = threadIdx.x & 31;
    while (low < high) {
        const N step = (high - low + 31) / 32, index = low + lane * step;
        const unsigned votes = __ballot_sync(~0u, index < high && takes(index));
        const int passed = votes == ~0u ? 32 : __ffs(~votes) - 1;
        const N first = low + passed * step;
        if (passed > 0) low += (passed - 1) * step + 1;
        if (passed < 32) high = min_of(high, first);
    }
    return low;
}

// Ranges of two runs.
template <class J> struct Ranges { J a, a_end, b, b_end; };

// Merge path partition: the ranges of two runs that produce the outputs from `from` to `from + step`. `find(low,
// high, d)` returns how many of the first `d` outputs come from the first run, given that it is between `low` and
// `high`.
template <class J, class Find> FN Ranges<J> merge_path(J a_len, J b_len, J from, J step, Find find) {
    const J total = a_len + b_len;
    const J start = min_of(from, total), end = min_of(from + step, total);
    if (CONSISTENT) {
        const J a = find(max_of((J)0, start - b_len), min_of(start, a_len), start);
        return Ranges<J>{a, a_len, start - a, b_len};
    }
    J low = 0, high = 1, a_low = 0, a_high = a_len, own = from / step;
    while (high * step < total) high *= 2;
    J d_low = 0, d_high = total;
    if (own >= high) return Ranges<J>{a_len, a_len, b_len, b_len};
    while (high - low > 1) {
        const J middle = (low + high) / 2, d = min_of(middle * step, total);
        const J a = find(max_of(a_low, a_high - (d_high - d)), min_of(a_high, a_low + (d - d_low)), d);
        if (own < middle) { high = middle; d_high = d; a_high = a; }
        else { low = middle; d_low = d; a_low = a; }
    }
    return Ranges<J>{a_low, a_high, start - a_low, end - a_high};
}

// Merges two runs in shared memory; each thread produces `ITEMS` outputs from `from` on.
FN void merge(const Arguments& g, N start, const Item* runs, int a_len, int b_len, int from, Item* items) {
    const Item *first = runs, *second = runs + a_len;
    const Ranges<int> ranges = merge_path(a_len, b_len, from, ITEMS, [&](int low, int high, int d) {
        return search(low, high, [&](int a) { return !before(g, start, second[d - 1 - a], first[a]); });
    });
    int a = ranges.a, b = ranges.b;
    const int a_end = ranges.a_end, b_end = ranges.b_end;
    // The head of each run, if it is not exhausted.
    Item x, y;
    if (a < a_end) x = first[a];
    if (b < b_end) y = second[b];
    #pragma unroll
    for (int k = 0; k < ITEMS; k++) {
        if (a >= a_end && b >= b_end) continue;
        const bool takes_b = a >= a_end || (b < b_end && before(g, start, y, x));
        items[k] = takes_b ? y : x;
        if (takes_b) { b++; if (b < b_end) y = second[b]; }
        else { a++; if (a < a_end) x = first[a]; }
    }
}
";

const TILES: &str = r#"
// A tile is a part of a line or, if lines are short, several lines, each in a segment of its own.
extern "C" __global__ void __launch_bounds__(THREADS) entry(const __grid_constant__ Arguments g) {
    __shared__ alignas(16) unsigned char bytes[TILE * sizeof(Item)];
    Item* shared = (Item*)bytes;
    const int segment = (int)g.segment, segments = TILE / segment;
    const N tiles = SINGLE_TILE ? 1 : (g.extent + TILE - 1) / TILE;
    const N first = SINGLE_TILE ? (N)blockIdx.x * segments : blockIdx.x / tiles;
    const N offset = SINGLE_TILE ? 0 : blockIdx.x % tiles * TILE;
    const int valid = (int)min_of(g.extent - offset, (N)TILE);
    // Coalesced loads: neighbouring threads read along a line, or across the lines.
    const bool is_strided = SINGLE_TILE && g.inner > 1 && segments > 1;
    for (int e = threadIdx.x; e < TILE; e += THREADS) {
        const int s = is_strided ? e % segments : e / segment, i = is_strided ? e / segments : e % segment;
        if (i < valid && first + s < g.lines) shared[s * segment + i] = fetch(g, line_start(g, first + s), offset + i);
    }
    __syncthreads();
    const int own = threadIdx.x * ITEMS, s = own / segment, local = own % segment;
    const N start = line_start(g, first + s);
    const int length = first + s < g.lines ? valid : 0;
    Item* line = shared + s * segment;
    Item items[ITEMS];
    #pragma unroll
    for (int k = 0; k < ITEMS; k++) if (local + k < length) items[k] = line[local + k];
    #pragma unroll
    for (int pass = 0; pass < ITEMS; pass++) {
        #pragma unroll
        for (int k = pass & 1; k + 1 < ITEMS; k += 2) {
            if (local + k + 1 < length && before(g, start, items[k + 1], items[k])) {
                const Item x = items[k]; items[k] = items[k + 1]; items[k + 1] = x;
            }
        }
    }
    for (int size = ITEMS; size < segment; size *= 2) {
        __syncthreads();
        #pragma unroll
        for (int k = 0; k < ITEMS; k++) if (local + k < length) line[local + k] = items[k];
        __syncthreads();
        const int pair = local / (2 * size) * (2 * size);
        const int a_len = max_of(0, min_of(size, length - pair));
        const int b_len = max_of(0, min_of(size, length - pair - size));
        if (local < length) merge(g, start, line + pair, a_len, b_len, local - pair, items);
    }
    __syncthreads();
    #pragma unroll
    for (int k = 0; k < ITEMS; k++) if (local + k < length) line[local + k] = items[k];
    __syncthreads();
    for (int e = threadIdx.x; e < TILE; e += THREADS) {
        const int s = is_strided ? e % segments : e / segment, i = is_strided ? e / segments : e % segment;
        if (i >= valid || first + s >= g.lines) continue;
        const Item x = shared[s * segment + i];
        if (SINGLE_TILE) put(g, line_start(g, first + s), i, x);
        else ((Item*)g.to)[first * g.extent + offset + i] = x;
    }
}
"#;

const MERGES: &str = r#"
extern "C" __global__ void __launch_bounds__(THREADS) entry(const __grid_constant__ Arguments g) {
    __shared__ alignas(16) unsigned char bytes[TILE * sizeof(Item)];
    __shared__ N bounds[2];
    Item* shared = (Item*)bytes;
    const N tiles = (g.extent + TILE - 1) / TILE;
    const N line_index = blockIdx.x / tiles, begin = blockIdx.x % tiles * TILE;
    const N start = line_start(g, line_index), pair = begin / (2 * g.width) * (2 * g.width);
    const N total = min_of(2 * g.width, g.extent - pair), a_total = min_of(g.width, total);
    const Item *first = (const Item*)g.from + line_index * g.extent + pair, *second = first + a_total;
    const N from = begin - pair, end = min_of(from + TILE, total);
    const auto find = [&](N low, N high, N d) {
        return warp_search(low, high, [&](N a) { return !before(g, start, second[d - 1 - a], first[a]); });
    };
    const int warp = threadIdx.x / 32;
    if (CONSISTENT && warp < 2) {
        const Ranges<N> ranges = merge_path(a_total, total - a_total, warp == 0 ? from : end, (N)TILE, find);
        if ((threadIdx.x & 31) == 0) bounds[warp] = ranges.a;
    }
    if (!CONSISTENT && warp == 0) {
        const Ranges<N> ranges = merge_path(a_total, total - a_total, from, (N)TILE, find);
        if ((threadIdx.x & 31) == 0) { bounds[0] = ranges.a; bounds[1] = ranges.a_end; }
    }
    __syncthreads();
    const N a = bounds[0], b = from - a;
    const int a_len = (int)(bounds[1] - a), length = (int)(end - from), b_len = length - a_len;
    for (int e = threadIdx.x; e < length; e += THREADS) shared[e] = e < a_len ? first[a + e] : second[b + e - a_len];
    __syncthreads();
    const int own = threadIdx.x * ITEMS;
    Item items[ITEMS];
    if (own < length) merge(g, start, shared, a_len, b_len, own, items);
    __syncthreads();
    #pragma unroll
    for (int k = 0; k < ITEMS; k++) if (own + k < length) shared[own + k] = items[k];
    __syncthreads();
    for (int e = threadIdx.x; e < length; e += THREADS) {
        if (IS_LAST) put(g, start, begin + e, shared[e]);
        else ((Item*)g.to)[line_index * g.extent + begin + e] = shared[e];
    }
}
"#;
