//! Gather, scatter and combining stores.

use super::*;
use inflight_ir::kernel::VectorAxis::{Parallel, Reduced};

const DTYPES: [DType; 7] =
    [DType::Bool, DType::I8, DType::F16, DType::BF16, DType::F32, DType::F64, DType::U64];
const INDEX_DTYPES: [DType; 2] = [DType::I32, DType::I64];

/// Gathers table rows, one index per row.
#[test]
fn row_gather_matches_the_evaluator() {
    for dtype in DTYPES {
        for index_dtype in INDEX_DTYPES {
            for columns in [1, 15, 16, 33, 70, 256] {
                let (rows, table) = (9, 13);
                let width = columns as isize;
                let mut b = Builder::new(&[rows], &[], (Parallel, columns));
                let index = b.load(index_dtype, 0, &[1, 0]);
                let index = b.clamped(index, table);
                let x = b.load_indexed(dtype, &[0, 1], (index, width, table), None);
                let y = b.load(dtype, 0, &[0, 1]);
                let maximum = b.binary(BinaryOp::Max, x, y);
                b.store(maximum, 0, &[width, 1]);
                b.check(0.0);
            }
        }
    }
}

/// A 64-bit index that is uniform along a row does not halve the lanes of a 32-bit kernel.
#[test]
fn uniform_64_bit_indices_keep_full_vector_width() {
    let lanes = |index_dtype| {
        let mut b = Builder::new(&[4], &[], (Parallel, 32));
        let index = b.load(index_dtype, 0, &[1, 0]);
        let index = b.clamped(index, 3);
        let x = b.load_indexed(DType::F32, &[0, 1], (index, 32, 3), None);
        b.store(x, 0, &[32, 1]);
        let schedule = inflight_ir::kernel::schedule(&b.kernel);
        super::super::ArgumentLayout::new(&b.kernel, &schedule, Isa::Avx512).lanes
    };
    assert_eq!((lanes(DType::I32), lanes(DType::I64)), (16, 16));
}

/// Gathers elements, one index per element.
#[test]
fn element_gather_matches_the_evaluator() {
    for dtype in DTYPES {
        for index_dtype in INDEX_DTYPES {
            for (step, stride) in [(1, 0), (3, 1), (7, 2), (40, 0)] {
                for count in [1, 8, 16, 45] {
                    let mut b = Builder::new(&[3], &[], (Parallel, count));
                    let row = count as isize;
                    let index = b.load(index_dtype, 0, &[row, 1]);
                    let index = b.clamped(index, 21);
                    let x = b.load_indexed(dtype, &[1, stride], (index, step, 21), None);
                    b.store(x, 0, &[row, 1]);
                    b.check(0.0);
                }
            }
        }
    }
}

/// Masked-off lanes may have out-of-range indices.
#[test]
fn masked_gather_ignores_out_of_range_indices() {
    for dtype in DTYPES {
        for (by_row, stride) in [(true, 1), (true, 0), (false, 1), (false, 0)] {
            let (rows, count) = (5, 37);
            let strides = if by_row { [1, 0] } else { [count, 1] };
            let mut b = Builder::new(&[rows], &[], (Parallel, count as usize));
            let index = b.load(DType::I32, 0, &strides);
            let (zero, end) = (b.constant(0i32), b.constant(18i32));
            let above = b.compare(CompareOp::Ge, index, zero);
            let below = b.compare(CompareOp::Lt, index, end);
            let mask = b.binary(BinaryOp::And, above, below);
            let x = b.load_indexed(dtype, &[0, stride], (index, 40, 18), Some(mask));
            b.store(x, 0, &[count, 1]);
            b.check(0.0);
        }
    }
}

/// An index that is itself gathered.
#[test]
fn gather_through_gathered_indices() {
    for by_row in [true, false] {
        let strides = if by_row { [1, 0] } else { [20, 1] };
        let mut b = Builder::new(&[6], &[], (Parallel, 20));
        let first = b.load(DType::I32, 0, &strides);
        let first = b.clamped(first, 11);
        let second = b.load_indexed(DType::I32, &[0, 0], (first, 1, 11), None);
        let second = b.clamped(second, 7);
        let x = b.load_indexed(DType::F32, &[0, 1], (second, 20, 7), None);
        b.store(x, 0, &[20, 1]);
        b.check(0.0);
    }
}

/// Gathers one labelled element beside a reduction of its row.
#[test]
fn one_gathered_element_beside_a_row_reduction() {
    for index_dtype in INDEX_DTYPES {
        let (rows, columns) = (7, 50);
        let mut b = Builder::new(&[rows], &[], (Reduced, columns));
        let label = b.load(index_dtype, 0, &[1, 0]);
        let label = b.clamped(label, columns);
        let picked = b.load_indexed(DType::F32, &[50, 0], (label, 1, columns), None);
        let x = b.load(DType::F32, 0, &[50, 1]);
        let maximum = b.reduce(CombineOp::Max, x);
        let distance = b.binary(BinaryOp::Sub, maximum, picked);
        b.store(distance, 0, &[1, 0]);
        b.check(0.0);
    }
}

/// Sums of gathered rows: the index varies along a reduce axis.
#[test]
fn embedding_bag_sums_gathered_rows() {
    for columns in [1, 16, 40, 100] {
        let (bags, size, table) = (4, 5, 9);
        let width = columns as isize;
        let mut b = Builder::new(&[bags], &[size], (Parallel, columns));
        let index = b.load(DType::I32, 0, &[size as isize, 1, 0]);
        let index = b.clamped(index, table);
        let x = b.load_indexed(DType::F32, &[0, 0, 1], (index, width, table), None);
        let sum = b.reduce(CombineOp::Sum, x);
        b.store(sum, 0, &[width, 0, 1]);
        b.check(1e-6);
    }
}

/// Scatters rows in order: the last write wins.
#[test]
fn row_scatter_keeps_the_last_write() {
    for dtype in DTYPES {
        for index_dtype in INDEX_DTYPES {
            for columns in [1, 16, 45] {
                scatter_rows(dtype, index_dtype, columns, None);
            }
        }
    }
}

const COMBINE_CASES: [(DType, CombineOp); 8] = [
    (DType::F32, CombineOp::Sum),
    (DType::F32, CombineOp::Max),
    (DType::F64, CombineOp::Product),
    (DType::F64, CombineOp::Min),
    (DType::I32, CombineOp::Sum),
    (DType::U32, CombineOp::Xor),
    (DType::I64, CombineOp::Min),
    (DType::U64, CombineOp::Max),
];

/// Scatter-reduce of rows.
#[test]
fn row_scatter_combines() {
    for (dtype, op) in COMBINE_CASES {
        for index_dtype in INDEX_DTYPES {
            for columns in [1, 16, 45] {
                scatter_rows(dtype, index_dtype, columns, Some(op));
            }
        }
    }
}

fn scatter_rows(dtype: DType, index_dtype: DType, columns: usize, combine: Option<CombineOp>) {
    let (updates, rows) = (20, 12);
    let width = columns as isize;
    let mut b = Builder::new(&[], &[updates], (Parallel, columns));
    let index = b.load(index_dtype, 0, &[1, 0]);
    let zero = b.constant(Scalar::zero(index_dtype));
    let end = b.constant(Scalar::from(rows as i64).cast(index_dtype));
    let above = b.compare(CompareOp::Ge, index, zero);
    let below = b.compare(CompareOp::Lt, index, end);
    let within = b.binary(BinaryOp::And, above, below);
    let x = b.load(dtype, 0, &[width, 1]);
    b.store_indexed(x, &[0, 1], (index, width, rows), Some(within), combine);
    b.check(0.0);
}

/// Scatters or combines elements in order.
#[test]
fn element_scatter_writes_and_combines_in_order() {
    let plain = DTYPES.map(|dtype| (dtype, None));
    let combined = COMBINE_CASES.map(|(dtype, op)| (dtype, Some(op)));
    for (dtype, combine) in plain.into_iter().chain(combined) {
        for index_dtype in INDEX_DTYPES {
            for masked in [false, true] {
                let (lines, updates, targets) = (3, 53, 9);
                let mut b = Builder::new(&[lines], &[], (Reduced, updates));
                let index = b.load(index_dtype, 0, &[updates as isize, 1]);
                let mask = masked.then(|| {
                    let end = b.constant(Scalar::from(targets as i64).cast(index_dtype));
                    let zero = b.constant(Scalar::zero(index_dtype));
                    let below = b.compare(CompareOp::Lt, index, end);
                    let above = b.compare(CompareOp::Ge, index, zero);
                    b.binary(BinaryOp::And, above, below)
                });
                let index = if masked { index } else { b.clamped(index, targets) };
                let x = b.load(dtype, 0, &[updates as isize, 1]);
                let strides = [targets as isize, 0];
                b.store_indexed(x, &strides, (index, 1, targets), mask, combine);
                b.check(0.0);
            }
        }
    }
}

/// Combines all points into one element, and into strided elements.
#[test]
fn combining_stores_without_an_index() {
    for stride in [0, 1, 3] {
        let mut b = Builder::new(&[], &[4], (Reduced, 37));
        let x = b.load(DType::F32, 0, &[37, 1]);
        let param = b.param(DType::F32, true);
        let access = b.access(Some(param), 0, &[0, stride]);
        let combine = Some(CombineOp::Sum);
        b.push(Kind::Store { access, value: x, index: None, mask: None, combine }, DType::F32);
        b.check(0.0);
    }
}
