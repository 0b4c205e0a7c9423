//! Products of windows and kernels: convolutions whose windows are in no memory.
//!
//! It is a matrix product. A row of the left matrix is a window, whose elements a block copies to shared memory as it
//! needs them: a place of the window and some features are next to each other in memory, and where a window's places
//! are follows from numbers that come with the launch. Where there are too few tiles of the result for the device,
//! several blocks add up parts of a tile's sums, and another kernel adds these.

use super::windowed_text::{self, ROWS, STEP_BYTES, THREADS};
use super::{Key, Launch, Site, wrong_dtype};
use inflight_backend::Fault;
use inflight_ir::DType;
use inflight_ir::plan::WindowedOperands;

/// Axes of space that the kernels walk.
const SPACE: usize = 3;

/// Products of numbers, and of halves, in a microsecond.
const NUMBERS_PER_TIME: f64 = 18e6;
const HALVES_PER_TIME: f64 = 180e6;

/// Each part of a sum has at least this many steps.
const FEWEST_STEPS: usize = 8;

/// The most parts of a sum.
const MOST_PARTS: usize = 64;

/// About what a block's beginning and end cost, in steps.
const EDGE_STEPS: f64 = 6.0;

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
    let steps = (taps * features * dtype.size()).div_ceil(STEP_BYTES);
    let (columns, parts) = cut(*dtype, [groups, rows, outputs], steps, site.shared.processors);
    let tiles = tiles([groups, rows, outputs], columns);
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

    let key = Key::WindowProduct { dtype: *dtype, columns };
    let prepared = site.kernels(key, || Ok(windowed_text::kernels(*dtype, columns)))?;
    let multiply = Launch { blocks: tiles * parts, threads: THREADS as u32, words: words.clone() };
    site.launch(&prepared, windowed_text::MULTIPLY, multiply)?;
    if parts == 1 {
        return Ok(());
    }
    let blocks = (groups * rows * outputs).div_ceil(THREADS);
    site.launch(&prepared, windowed_text::ADD, Launch { blocks, threads: THREADS as u32, words })
}

/// How many tiles of so many columns there are.
fn tiles([groups, rows, outputs]: [usize; 3], columns: usize) -> usize {
    groups * rows.div_ceil(ROWS) * outputs.div_ceil(columns)
}

/// How many columns a tile has, and into how many parts sums are cut, so that all multiprocessors have work, by
/// what that is estimated to take.
fn cut(dtype: DType, extents: [usize; 3], steps: usize, processors: usize) -> (usize, usize) {
    let elements: usize = extents.iter().product();
    let time = |(columns, parts): (usize, usize)| {
        let resident = windowed_text::resident(columns);
        // Microseconds of a step while all places are taken.
        let rate = if dtype == DType::F32 { NUMBERS_PER_TIME } else { HALVES_PER_TIME };
        let products = ROWS * columns * STEP_BYTES / dtype.size();
        let step = (products * resident * processors) as f64 / rate;
        let rounds = (tiles(extents, columns) * parts).div_ceil(resident * processors) as f64;
        let multiplied = rounds * (steps.div_ceil(parts) as f64 + EDGE_STEPS) * step;
        let moved = (8 * parts * elements) as f64 / BYTES_PER_TIME;
        multiplied + if parts > 1 { LAUNCH_TIME + moved } else { 0.0 }
    };
    let most = (steps / FEWEST_STEPS).clamp(1, MOST_PARTS);
    let cuts = |columns: usize| (1..=most).map(move |parts| (columns, parts));
    let cuts = windowed_text::COLUMNS.into_iter().flat_map(cuts);
    cuts.min_by(|&a, &b| time(a).total_cmp(&time(b))).unwrap_or((windowed_text::COLUMNS[0], 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_are_cut_where_there_are_few_tiles() {
        // The gradient of a 3 × 3 kernel: long sums, five tiles.
        let (columns, parts) = cut(DType::BF16, [1, 576, 64], 6272, 132);
        assert!(columns == 64 && (40..=64).contains(&parts), "{columns} {parts}");
        // A large result.
        assert_eq!(cut(DType::BF16, [1, 200_704, 64], 18, 132), (64, 1));
        assert_eq!(cut(DType::BF16, [1, 200_704, 1024], 18, 132).1, 1);
        assert_eq!(cut(DType::F32, [1, 1, 1], 1, 132), (64, 1));
    }
}
