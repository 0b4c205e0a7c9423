//! Sorts by merges, for what is sorted in no better way: blocks sort tiles, then pairs of runs are merged, twice as long each time. Equals stay in their order.
//!
//! A merge is cut into parts of equal length where two runs, merged, would have that many before them. With a
//! comparator that is no order such cuts need not follow each other, so there they are found from the middle
//! outwards, each within its neighbours: whatever the comparator says, the result is a permutation.

use super::order::{self, Order};
use super::{Kernels, Key, Launch, Site, key, radix, select};
use inflight_backend::Fault;
use inflight_ir::DType;
use inflight_ir::graph::{SortOrder, SortResult};
use inflight_ir::plan::Lines;

/// Threads of a block.
const THREADS: usize = 256;

/// Shared memory of a tile.
const TILE_BYTES: usize = 32 << 10;

/// The most items that one thread sorts by itself.
const MOST_ITEMS: usize = 8;

/// The kernels of a sort: of lines that are one tile, of tiles of longer ones, of merges, and of the last merge.
pub fn kernels(keys: &[DType], order: &SortOrder, result: SortResult, is_wide: bool) -> Kernels {
    let order = order::order(keys, order, result, is_wide);
    let items = items(order.item);
    let tiles = [true, false].map(|whole| tile_text(&order, items, whole));
    let merges = [false, true].map(|last| merge_text(&order, items, last));
    Kernels::new(tiles.into_iter().chain(merges).collect(), order.item)
}

/// The texts of all kernels that such a sort may launch.
pub fn texts(lines: Lines, keys: &[DType], order: &SortOrder, answer: SortResult) -> Vec<String> {
    let is_wide = lines.extent > u32::MAX as usize;
    let mut texts = kernels(keys, order, answer, is_wide).texts;
    if let Some((dtype, order)) = key::only_key(keys, order) {
        texts.extend(radix::kernels(dtype, order, answer != SortResult::Values).texts);
        texts.extend(select::texts(dtype, order));
    }
    texts.extend(select::take_kernels().texts);
    texts
}

/// How many items of this many bytes a thread has: a power of two, so that a tile is one.
fn items(bytes: usize) -> usize {
    let most = (TILE_BYTES / THREADS / bytes).clamp(1, MOST_ITEMS);
    if most.is_power_of_two() { most } else { most.next_power_of_two() / 2 }
}

/// Sorts every line of the keys at these addresses.
pub fn sort(
    site: &mut Site,
    lines: Lines,
    keys: &[DType],
    order: &SortOrder,
    answer: SortResult,
    operands: &[u64],
    result: u64,
) -> Result<(), Fault> {
    let (count, extent) = (lines.count(), lines.extent);
    if count * answer.output_extent(extent) == 0 {
        return Ok(());
    }
    let only = key::only_key(keys, order);
    if let SortResult::FirstPositions(first) = answer {
        if let Some(key) = only
            && select::suits(lines, first)
        {
            return select::select(site, lines, key, first, operands[0], result);
        }
        let sorted = site.temporary(count * extent * size_of::<i64>())?;
        sort(site, lines, keys, order, SortResult::Positions, operands, sorted)?;
        return select::take(site, lines, first, sorted, result);
    }
    if let Some(key) = only
        && radix::suits(lines, key.0)
    {
        return radix::sort(site, lines, key, answer, operands[0], result);
    }
    let is_wide = extent > u32::MAX as usize;
    let key = Key::Sort { keys: keys.into(), order: order.clone(), result: answer, is_wide };
    let kernels = site.kernels(key, || Ok(kernels(keys, order, answer, is_wide)))?;
    let tile = items(kernels.item) * THREADS;
    let segment = extent.next_power_of_two().clamp(MOST_ITEMS, tile);
    let (tiles_of_line, lines_of_tile) = (extent.div_ceil(tile), tile / segment);
    let bytes = count * extent * kernels.item;
    let spaces = match tiles_of_line {
        1 => [0, 0],
        2 => [site.temporary(bytes)?, 0],
        _ => [site.temporary(bytes)?, site.temporary(bytes)?],
    };
    let blocks = match tiles_of_line {
        1 => count.div_ceil(lines_of_tile),
        _ => count * tiles_of_line,
    };
    let launch = |width: usize, from: u64, to: u64| {
        let numbers = [count, extent, lines.inner, segment, width].map(|number| number as u64);
        let mut words = numbers.to_vec();
        words.extend(operands);
        words.extend([from, to, result]);
        Launch { blocks, threads: THREADS as u32, words }
    };
    site.launch(&kernels, (tiles_of_line > 1) as usize, launch(0, 0, spaces[0]))?;
    let (mut width, mut from) = (tile, 0);
    while width < extent {
        let is_last = 2 * width >= extent;
        let merge = launch(width, spaces[from], spaces[1 - from]);
        site.launch(&kernels, 2 + is_last as usize, merge)?;
        (width, from) = (2 * width, 1 - from);
    }
    Ok(())
}

fn head(order: &Order, items: usize) -> String {
    format!(
        "{}constexpr int ITEMS = {items}, THREADS = {THREADS}, TILE = ITEMS * THREADS;\n\
         constexpr bool CONSISTENT = {};\n{COMMON}",
        order.text, order.is_consistent
    )
}

fn tile_text(order: &Order, items: usize, whole: bool) -> String {
    let body = TILES.replace("WHOLE", if whole { "true" } else { "false" });
    crate::codegen::with_functions(&(head(order, items) + &body))
}

fn merge_text(order: &Order, items: usize, last: bool) -> String {
    let body = MERGES.replace("LAST", if last { "true" } else { "false" });
    crate::codegen::with_functions(&(head(order, items) + &body))
}

const COMMON: &str = r"
template <class J> FN J smallest(J a, J b) { return a < b ? a : b; }
template <class J> FN J largest(J a, J b) { return a > b ? a : b; }

// Where a line begins.
FN N line_start(const Arguments& a, N line) {
    return a.inner == 1 ? line * a.extent : line / a.inner * a.extent * a.inner + line % a.inner;
}

// The first number from `low` on for which `takes` does not hold, or `high`.
template <class J, class Takes> FN J search(J low, J high, Takes takes) {
    while (low < high) {
        const J middle = (low + high) / 2;
        if (takes(middle)) low = middle + 1; else high = middle;
    }
    return low;
}

// The same by a warp, which looks at 32 places at a time.
template <class Takes> FN N search_together(N low, N high, Takes takes) {
    const int lane = threadIdx.x & 31;
    while (low < high) {
        const N step = (high - low + 31) / 32, place = low + lane * step;
        const unsigned votes = __ballot_sync(~0u, place < high && takes(place));
        const int taken = votes == ~0u ? 32 : __ffs(~votes) - 1;
        const N first = low + taken * step;
        if (taken > 0) low += (taken - 1) * step + 1;
        if (taken < 32) high = smallest(high, first);
    }
    return low;
}

// Parts of two runs.
template <class J> struct Part { J a, a_end, b, b_end; };

// The part of two merged runs between `from` and `from + step`. `find(low, high, d)` answers how many of the
// first `d` come from the first run, if that is between `low` and `high`.
template <class J, class Find> FN Part<J> cut(J a_len, J b_len, J from, J step, Find find) {
    const J total = a_len + b_len;
    const J start = smallest(from, total), end = smallest(from + step, total);
    if (CONSISTENT) {
        const J a = find(largest((J)0, start - b_len), smallest(start, a_len), start);
        return Part<J>{a, a_len, start - a, b_len};
    }
    J low = 0, high = 1, a_low = 0, a_high = a_len, own = from / step;
    while (high * step < total) high *= 2;
    J d_low = 0, d_high = total;
    if (own >= high) return Part<J>{a_len, a_len, b_len, b_len};
    while (high - low > 1) {
        const J middle = (low + high) / 2, d = smallest(middle * step, total);
        const J a = find(largest(a_low, a_high - (d_high - d)), smallest(a_high, a_low + (d - d_low)), d);
        if (own < middle) { high = middle; d_high = d; a_high = a; }
        else { low = middle; d_low = d; a_low = a; }
    }
    return Part<J>{a_low, a_high, start - a_low, end - a_high};
}

// Merges two runs in shared memory, each thread the `ITEMS` from its place on.
FN void merge(const Arguments& g, N start, const Item* runs, int a_len, int b_len, int from, Item* items) {
    const Item *first = runs, *second = runs + a_len;
    const Part<int> part = cut(a_len, b_len, from, ITEMS, [&](int low, int high, int d) {
        return search(low, high, [&](int a) { return !before(g, start, second[d - 1 - a], first[a]); });
    });
    int a = part.a, b = part.b;
    const int a_end = part.a_end, b_end = part.b_end;
    // The next of each run, as far as there is one.
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
// A tile is a part of a line or, where lines are short, several of them, each in a segment of its own.
extern "C" __global__ void __launch_bounds__(THREADS) entry(const __grid_constant__ Arguments g) {
    __shared__ alignas(16) unsigned char bytes[TILE * sizeof(Item)];
    Item* shared = (Item*)bytes;
    const int segment = (int)g.segment, segments = TILE / segment;
    const N tiles = WHOLE ? 1 : (g.extent + TILE - 1) / TILE;
    const N first = WHOLE ? (N)blockIdx.x * segments : blockIdx.x / tiles;
    const N offset = WHOLE ? 0 : blockIdx.x % tiles * TILE;
    const int most = (int)smallest(g.extent - offset, (N)TILE);
    // Neighbours in memory are read by neighbouring threads: those of a line, or the lines'.
    const bool across = WHOLE && g.inner > 1 && segments > 1;
    for (int e = threadIdx.x; e < TILE; e += THREADS) {
        const int s = across ? e % segments : e / segment, i = across ? e / segments : e % segment;
        if (i < most && first + s < g.lines) shared[s * segment + i] = fetch(g, line_start(g, first + s), offset + i);
    }
    __syncthreads();
    const int own = threadIdx.x * ITEMS, s = own / segment, local = own % segment;
    const N start = line_start(g, first + s);
    const int length = first + s < g.lines ? most : 0;
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
        const int a_len = largest(0, smallest(size, length - pair));
        const int b_len = largest(0, smallest(size, length - pair - size));
        if (local < length) merge(g, start, line + pair, a_len, b_len, local - pair, items);
    }
    __syncthreads();
    #pragma unroll
    for (int k = 0; k < ITEMS; k++) if (local + k < length) line[local + k] = items[k];
    __syncthreads();
    for (int e = threadIdx.x; e < TILE; e += THREADS) {
        const int s = across ? e % segments : e / segment, i = across ? e / segments : e % segment;
        if (i >= most || first + s >= g.lines) continue;
        const Item x = shared[s * segment + i];
        if (WHOLE) put(g, line_start(g, first + s), i, x);
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
    const N number = blockIdx.x / tiles, begin = blockIdx.x % tiles * TILE;
    const N start = line_start(g, number), pair = begin / (2 * g.width) * (2 * g.width);
    const N total = smallest(2 * g.width, g.extent - pair), a_all = smallest(g.width, total);
    const Item *first = (const Item*)g.from + number * g.extent + pair, *second = first + a_all;
    const N from = begin - pair, end = smallest(from + TILE, total);
    const auto find = [&](N low, N high, N d) {
        return search_together(low, high, [&](N a) { return !before(g, start, second[d - 1 - a], first[a]); });
    };
    const int warp = threadIdx.x / 32;
    if (CONSISTENT && warp < 2) {
        const Part<N> part = cut(a_all, total - a_all, warp == 0 ? from : end, (N)TILE, find);
        if ((threadIdx.x & 31) == 0) bounds[warp] = part.a;
    }
    if (!CONSISTENT && warp == 0) {
        const Part<N> part = cut(a_all, total - a_all, from, (N)TILE, find);
        if ((threadIdx.x & 31) == 0) { bounds[0] = part.a; bounds[1] = part.a_end; }
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
        if (LAST) put(g, start, begin + e, shared[e]);
        else ((Item*)g.to)[number * g.extent + begin + e] = shared[e];
    }
}
"#;
