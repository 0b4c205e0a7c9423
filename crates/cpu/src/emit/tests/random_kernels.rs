//! Random integer kernels, compared exactly.

use super::*;
use inflight_ir::kernel::Level;
use inflight_ir::kernel::VectorAxis::{Parallel, Reduced};

const DTYPES: [DType; 6] = [DType::I32, DType::U8, DType::I16, DType::U32, DType::I64, DType::Bool];

/// Strides of an access map that varies over the axes of a level, in a random axis order.
fn strides(b: &Builder, random: &mut Random, level: Level) -> (isize, Vec<isize>) {
    let rank = b.kernel.rank();
    let (grid, reduce) = (b.kernel.grid_rank, b.kernel.reduce_rank);
    let varies = |axis: usize| {
        let is_vector = axis + 1 == rank;
        axis < grid
            || match level {
                Level::Tile => true,
                Level::Column => is_vector,
                Level::Program => false,
            }
    };
    let mut axes: Vec<usize> = (0..rank).filter(|&axis| varies(axis)).collect();
    // Sometimes an axis other than the vector axis is contiguous.
    if random.next().is_multiple_of(4) {
        for index in (1..axes.len()).rev() {
            axes.swap(index, random.next() as usize % (index + 1));
        }
    }
    let mut strides = vec![0; rank];
    let mut extent = if random.next().is_multiple_of(8) { 2 } else { 1 };
    for &axis in axes.iter().rev() {
        strides[axis] = extent;
        extent *= b.shape.extents[axis].max(1) as isize;
    }
    debug_assert_eq!(strides.len(), grid + reduce + 1);
    ((random.next() % 3) as isize, strides)
}

fn any_level(b: &Builder, random: &mut Random) -> Level {
    match random.next() % 6 {
        0 => Level::Program,
        1 if b.kernel.reduces_columns() => Level::Column,
        _ => Level::Tile,
    }
}

fn pick(b: &Builder, random: &mut Random, values: &[Value], dtype: DType) -> Option<Value> {
    let same: Vec<Value> = values.iter().copied().filter(|&v| b.dtype(v) == dtype).collect();
    (!same.is_empty()).then(|| same[random.next() as usize % same.len()])
}

fn kernel(seed: u64) -> Builder {
    let mut random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
    for _ in 0..4 {
        random.next();
    }
    let grid: Vec<usize> = (0..random.next() % 3).map(|_| 1 + random.next() as usize % 4).collect();
    let reduce: Vec<usize> =
        (0..random.next() % 3).map(|_| 1 + random.next() as usize % 4).collect();
    let vector = if random.next().is_multiple_of(2) { Parallel } else { Reduced };
    let count = 1 + random.next() as usize % 70;
    let mut b = Builder::new(&grid, &reduce, (vector, count));
    let folds = vector == Reduced || !reduce.is_empty();
    let wide = random.next().is_multiple_of(3);
    let dtypes: Vec<DType> = DTYPES
        .into_iter()
        .filter(|&dtype| wide || dtype != DType::I64)
        .filter(|_| !random.next().is_multiple_of(4))
        .collect();
    let mut values = Vec::new();
    for &dtype in &dtypes {
        for _ in 0..1 + random.next() % 4 {
            let level = any_level(&b, &mut random);
            let (offset, strides) = strides(&b, &mut random, level);
            values.push(b.load(dtype, offset, &strides));
        }
        values.push(b.constant(random.scalar(dtype)));
    }
    if dtypes.is_empty() {
        let (offset, strides) = strides(&b, &mut random, Level::Tile);
        values.push(b.load(DType::I32, offset, &strides));
    }
    for _ in 0..4 + random.next() % 40 {
        let a = values[random.next() as usize % values.len()];
        let dtype = b.dtype(a);
        let other = pick(&b, &mut random, &values, dtype).unwrap_or(a);
        let value = match random.next() % 10 {
            0 if folds => {
                let ops: &[CombineOp] = match dtype {
                    DType::Bool => &[CombineOp::And, CombineOp::Or],
                    _ => &[CombineOp::Sum, CombineOp::Min, CombineOp::Max, CombineOp::Xor],
                };
                b.reduce(ops[random.next() as usize % ops.len()], a)
            }
            1 | 2 => b.compare(CompareOp::ALL[random.next() as usize % 6], a, other),
            3 => match pick(&b, &mut random, &values, DType::Bool) {
                Some(mask) => b.select(mask, a, other),
                None => continue,
            },
            4 => b.unary(UnaryOp::Not, a),
            5 if dtype != DType::Bool => {
                let to = DTYPES[random.next() as usize % if wide { 5 } else { 4 }];
                b.cast(a, to)
            }
            6 => match pick(&b, &mut random, &values, DType::Bool) {
                Some(mask) => {
                    let level = any_level(&b, &mut random);
                    let (offset, strides) = strides(&b, &mut random, level);
                    b.load_masked(dtype, offset, &strides, Some(mask))
                }
                None => continue,
            },
            _ => {
                let ops: &[BinaryOp] = match dtype {
                    DType::Bool => &[BinaryOp::And, BinaryOp::Or, BinaryOp::Xor],
                    _ => &[
                        BinaryOp::Add,
                        BinaryOp::Sub,
                        BinaryOp::Max,
                        BinaryOp::Min,
                        BinaryOp::And,
                        BinaryOp::ShiftLeft,
                        BinaryOp::ShiftRightLogical,
                    ],
                };
                b.binary(ops[random.next() as usize % ops.len()], a, other)
            }
        };
        values.push(value);
    }
    for _ in 0..1 + random.next() % 4 {
        let value = values[random.next() as usize % values.len()];
        let level = b.kernel.levels()[value as usize];
        let (offset, strides) = strides(&b, &mut random, level);
        b.store(value, offset, &strides);
    }
    let last = values[values.len() - 1];
    let level = b.kernel.levels()[last as usize];
    let (offset, strides) = strides(&b, &mut random, level);
    b.store(last, offset, &strides);
    b
}

#[test]
fn random_integer_kernels_match_the_evaluator() {
    for seed in 0..1500 {
        let b = kernel(seed);
        b.check(0.0);
    }
}
