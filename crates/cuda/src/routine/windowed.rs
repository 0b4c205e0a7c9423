//! Products of windows and kernels: convolutions whose windows are in no memory.
//!
//! It is a matrix product. A row of the left matrix is a window, whose elements a block copies to shared memory as it
//! needs them: a place of the window and some features are next to each other in memory, and where a window's places
//! are follows from numbers that come with the launch. Where there are too few tiles of the result for the device,
//! several blocks add up parts of a tile's sums, and another kernel adds these.

use super::windowed_text::{self, ROWS, Tile};
use super::{Key, Launch, Site, wrong_dtype};
use inflight_backend::Fault;
use inflight_ir::DType;
use inflight_ir::plan::WindowedOperands;

/// Axes of space that the kernels walk.
const SPACE: usize = 3;

/// Products of numbers, and of halves, in a microsecond.
const NUMBERS_PER_TIME: f64 = 18e6;
const HALVES_PER_TIME: f64 = 180e6;

/// The same of halves that groups of warps multiply.
const GROUPED_PER_TIME: f64 = 250e6;

/// Each part of a sum has at least this many steps.
const FEWEST_STEPS: usize = 8;

/// The most parts of a sum.
const MOST_PARTS: usize = 64;

/// About what a block's beginning and end cost, in bytes of a row that could be multiplied.
const EDGE_BYTES: f64 = 384.0;

/// Microseconds of one more launch.
const LAUNCH_TIME: f64 = 3.0;

/// Bytes that are moved in a microsecond.
const BYTES_PER_TIME: f64 = 3e6;

/// Multiplies windows with kernels.
pub fn product(
    site: &mut Site,
    operands: &WindowedOperands,
    [x, kernels]: [u64; 2],
    result: u64,
) -> Result<(), Fault> {
    let WindowedOperands { dtype, product, extents } = operands;
    if !matches!(dtype, DType::F16 | DType::BF16 | DType::F32) {
        return Err(wrong_dtype("products of windows", *dtype));
    }
    let shape = product.shape(extents);
    if shape.elements() == 0 {
        return Ok(());
    }
    let (groups, outputs, features) = (extents.groups(), extents.outputs, extents.features);
    let positions: usize = extents.positions.iter().product();
    let taps: usize = product.windows.iter().map(|window| window.size).product();
    let rows = extents.examples * positions;
    let bytes = taps * features * dtype.size();
    let kinds = Tile::all(*dtype, site.shared.has_groups);
    let (tile, parts) = cut(*dtype, [groups, rows, outputs], bytes, kinds, site.shared.processors);
    let steps = bytes.div_ceil(tile.step_bytes());
    let tiles = tiles([groups, rows, outputs], tile.columns);
    let sums = match parts {
        1 => 0,
        _ => site.temporary(4 * parts * groups * rows * outputs)?,
    };

    // Axes of space that there are not have one position.
    let missing = SPACE - extents.space.len();
    let padded = |values: &mut dyn Iterator<Item = usize>, fill: usize| {
        let mut padded = [fill as u64; SPACE];
        values.zip(&mut padded[missing..]).for_each(|(value, to)| *to = value as u64);
        padded
    };
    // Distances in `x`: along each axis of space, then from example to example.
    let mut distances = vec![0; extents.space.len()];
    let mut example = extents.feature_groups * features;
    for (distance, extent) in distances.iter_mut().zip(&extents.space).rev() {
        *distance = example;
        example *= extent;
    }
    let strides = shape.strides();
    let [group_axis, example_axis, output_axis, first] = product.axes();
    let windows = || product.windows.iter().zip(&distances);
    let mut words =
        [rows, outputs, groups, steps, parts, features, taps].map(|n| n as u64).to_vec();
    words.extend(padded(&mut extents.positions.iter().copied(), 1));
    words.extend(padded(&mut windows().map(|(window, distance)| window.stride * distance), 0));
    words.extend(padded(&mut product.windows.iter().map(|window| window.size), 1));
    words.extend(padded(&mut windows().map(|(window, distance)| window.dilation * distance), 0));
    words.extend([example, extents.feature_groups, extents.examples].map(|n| n as u64));
    words.extend([group_axis, example_axis, output_axis].map(|axis| strides[axis] as u64));
    words.extend(padded(&mut strides[first..first + extents.space.len()].iter().copied(), 0));
    words.extend([x, kernels, result, sums]);

    let key = Key::WindowProduct { dtype: *dtype, tile };
    let prepared = site.kernels(key, || Ok(windowed_text::kernels(*dtype, tile)))?;
    let threads = tile.threads() as u32;
    let multiply = Launch { blocks: tiles * parts, threads, words: words.clone() };
    site.launch(&prepared, windowed_text::MULTIPLY, multiply)?;
    if parts == 1 {
        return Ok(());
    }
    let blocks = (groups * rows * outputs).div_ceil(tile.threads());
    site.launch(&prepared, windowed_text::ADD, Launch { blocks, threads, words })
}

/// How many tiles of so many columns there are.
fn tiles([groups, rows, outputs]: [usize; 3], columns: usize) -> usize {
    groups * rows.div_ceil(ROWS) * outputs.div_ceil(columns)
}

/// Which tiles, and into how many parts their sums of so many bytes are cut, so that all multiprocessors have work, by
/// what that is estimated to take.
fn cut(
    dtype: DType,
    extents: [usize; 3],
    bytes: usize,
    kinds: [Tile; 2],
    processors: usize,
) -> (Tile, usize) {
    let elements: usize = extents.iter().product();
    let time = |(tile, parts): (Tile, usize)| {
        let Tile { columns, grouped } = tile;
        // Microseconds of a step while all places are taken.
        let rate = match dtype {
            DType::F32 => NUMBERS_PER_TIME,
            _ if grouped => GROUPED_PER_TIME,
            _ => HALVES_PER_TIME,
        };
        let products = ROWS * columns * tile.step_bytes() / dtype.size();
        let places = tile.resident() * processors;
        let step = (products * places) as f64 / rate;
        let rounds = (tiles(extents, columns) * parts).div_ceil(places) as f64;
        let steps = bytes.div_ceil(tile.step_bytes()).div_ceil(parts) as f64;
        let multiplied = rounds * (steps + EDGE_BYTES / tile.step_bytes() as f64) * step;
        let moved = (8 * parts * elements) as f64 / BYTES_PER_TIME;
        multiplied + if parts > 1 { LAUNCH_TIME + moved } else { 0.0 }
    };
    let cuts = |tile: Tile| {
        let most = (bytes.div_ceil(tile.step_bytes()) / FEWEST_STEPS).clamp(1, MOST_PARTS);
        (1..=most).map(move |parts| (tile, parts))
    };
    let cuts = kinds.into_iter().flat_map(cuts);
    cuts.min_by(|&a, &b| time(a).total_cmp(&time(b))).unwrap_or((kinds[0], 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_are_cut_where_there_are_few_tiles() {
        for has_groups in [false, true] {
            let kinds = Tile::all(DType::BF16, has_groups);
            // The gradient of a 3 × 3 kernel: long sums, five tiles.
            let (tile, parts) = cut(DType::BF16, [1, 576, 64], 401_408, kinds, 132);
            assert!(tile.columns == 64 && (40..=64).contains(&parts), "{tile:?} {parts}");
            // A large result.
            assert_eq!(cut(DType::BF16, [1, 200_704, 64], 1152, kinds, 132), (kinds[1], 1));
            assert_eq!(cut(DType::BF16, [1, 200_704, 1024], 1152, kinds, 132).1, 1);
        }
        let kinds = Tile::all(DType::F32, true);
        assert_eq!(cut(DType::F32, [1, 1, 1], 4, kinds, 132), (kinds[1], 1));
    }
}
