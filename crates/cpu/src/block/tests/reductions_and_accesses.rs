//! Reductions, scans, gathers, scatters and multi-pass kernels, over rows and over columns.

use super::*;
use inflight_ir::elementwise::{ArgOp, CombineOp};
use inflight_ir::graph::combine_accepts;
use inflight_ir::{BinaryOp, CompareOp, UnaryOp};

use VectorAxis::{Parallel, Reduced};

/// Grid, reduce axes, vector axis: row reductions, row reductions over several axes, and column reductions, with
/// extents around the block size, of one and of zero.
const DOMAINS: [(&[usize], &[usize], usize, VectorAxis); 17] = [
    (&[3], &[], 10, Reduced),
    (&[2], &[], 512, Reduced),
    (&[], &[], 1537, Reduced),
    (&[2, 2], &[], 1, Reduced),
    (&[2], &[], 0, Reduced),
    (&[0], &[], 5, Reduced),
    (&[2], &[3, 4], 7, Reduced),
    (&[2], &[2], 600, Reduced),
    (&[2], &[0], 600, Reduced),
    (&[2, 3], &[5], 10, Parallel),
    (&[], &[3, 2], 700, Parallel),
    (&[2], &[40], 1, Parallel),
    (&[2], &[1], 33, Parallel),
    (&[2], &[0], 33, Parallel),
    (&[2], &[3, 0, 2], 5, Parallel),
    (&[2], &[3], 0, Parallel),
    (&[1], &[600], 20, Parallel),
];

/// Which axes the result of a reduction has.
fn result_axes(builder: &KernelBuilder) -> Vec<bool> {
    let kernel = &builder.kernel;
    let axis = |axis: usize| {
        let is_vector = axis + 1 == kernel.rank();
        axis < kernel.grid_rank || (is_vector && kernel.vector == Parallel)
    };
    (0..kernel.rank()).map(axis).collect()
}

fn all_axes(builder: &KernelBuilder) -> Vec<bool> {
    vec![true; builder.kernel.rank()]
}

/// A builder over a domain, with one load over all its axes.
fn with_input(domain: usize, dtype: DType) -> (KernelBuilder, Value) {
    let (grid, reduce, vector, axis) = DOMAINS[domain];
    let mut builder = KernelBuilder::new(grid, reduce, vector, axis);
    let all = all_axes(&builder);
    let input = builder.row_major(dtype, &all);
    let loaded = builder.load(input);
    (builder, loaded)
}

fn store_new(builder: &mut KernelBuilder, value: Value, along: &[bool]) {
    let dtype = builder.dtype(value);
    let output = builder.row_major(dtype, along);
    builder.store(output, value);
}

/// Tolerance for sums of a program's elements, each of magnitude one.
fn sum_tolerance(builder: &KernelBuilder) -> Tolerance {
    let elements = builder.shape.extents[builder.kernel.grid_rank..].iter().product::<usize>();
    Tolerance { ulps: 4.0, scale: (elements as f64).sqrt() }
}

#[test]
fn reductions_of_every_dtype_match_the_evaluator() {
    for op in CombineOp::ALL {
        for dtype in DType::ALL {
            if !combine_accepts(op).contains(dtype) {
                continue;
            }
            for domain in 0..DOMAINS.len() {
                let (mut builder, loaded) = with_input(domain, dtype);
                let reduced = builder.like(loaded, Kind::Reduce(op, loaded));
                let along = result_axes(&builder);
                store_new(&mut builder, reduced, &along);
                let rounds = matches!(op, CombineOp::Sum | CombineOp::Product)
                    && (dtype.is_float() || dtype.is_complex());
                let mut buffers = builder.buffers(&mut Random(7 + domain as u64));
                let mut tolerance = EXACT;
                if rounds {
                    let count = buffers[0].len() / dtype.size();
                    buffers[0] = Random(9).finite_elements(dtype, count);
                    tolerance = sum_tolerance(&builder);
                }
                check(&builder, &buffers, &[], tolerance);
            }
        }
    }
}

#[test]
fn reductions_of_a_splat_operand() {
    for (grid, reduce, vector, axis) in DOMAINS {
        let mut builder = KernelBuilder::new(grid, reduce, vector, axis);
        let three = builder.constant(3i32);
        let total = builder.like(three, Kind::Reduce(CombineOp::Sum, three));
        let index = builder.push(Kind::ArgReduce(ArgOp::Max, three), DType::I64);
        let along = result_axes(&builder);
        store_new(&mut builder, total, &along);
        store_new(&mut builder, index, &along);
        let buffers = builder.buffers(&mut Random(3));
        check(&builder, &buffers, &[], EXACT);
    }
}

#[test]
fn arg_reductions_of_every_dtype_match_the_evaluator() {
    for dtype in DType::ALL.into_iter().filter(|dtype| !dtype.is_complex()) {
        for op in [ArgOp::Min, ArgOp::Max] {
            for domain in 0..DOMAINS.len() {
                let (mut builder, loaded) = with_input(domain, dtype);
                let index = builder.push(Kind::ArgReduce(op, loaded), DType::I64);
                let along = result_axes(&builder);
                store_new(&mut builder, index, &along);
                // With NaN elements and without.
                let mut buffers = builder.buffers(&mut Random(11 + domain as u64));
                check(&builder, &buffers, &[], EXACT);
                let count = buffers[0].len() / dtype.size();
                buffers[0] = Random(13).finite_elements(dtype, count);
                check(&builder, &buffers, &[], EXACT);
            }
        }
    }
}

#[test]
fn scans_of_every_dtype_match_the_evaluator() {
    for op in CombineOp::ALL {
        for dtype in DType::ALL {
            if !combine_accepts(op).contains(dtype) {
                continue;
            }
            for domain in 0..DOMAINS.len() {
                let (mut builder, loaded) = with_input(domain, dtype);
                let scanned = builder.like(loaded, Kind::Scan(op, loaded));
                let all = all_axes(&builder);
                store_new(&mut builder, scanned, &all);
                let rounds = matches!(op, CombineOp::Sum | CombineOp::Product)
                    && (dtype.is_float() || dtype.is_complex());
                let mut buffers = builder.buffers(&mut Random(17 + domain as u64));
                let mut tolerance = EXACT;
                if rounds {
                    let count = buffers[0].len() / dtype.size();
                    buffers[0] = Random(19).finite_elements(dtype, count);
                    // Each of n steps rounds a running total of about √n, and the errors add up as √n.
                    let steps =
                        builder.shape.extents[builder.kernel.grid_rank..].iter().product::<usize>();
                    tolerance = match op {
                        CombineOp::Sum => Tolerance { ulps: 0.0, scale: steps as f64 },
                        _ => ulps(steps as f64),
                    };
                }
                check(&builder, &buffers, &[], tolerance);
            }
        }
    }
}

#[test]
fn scan_results_are_stored_for_a_later_pass() {
    for domain in 0..DOMAINS.len() {
        let (mut builder, loaded) = with_input(domain, DType::I32);
        let scanned = builder.like(loaded, Kind::Scan(CombineOp::Sum, loaded));
        let largest = builder.like(loaded, Kind::Reduce(CombineOp::Max, scanned));
        let rest = builder.like(loaded, Kind::Binary(BinaryOp::Sub, largest, scanned));
        let all = all_axes(&builder);
        store_new(&mut builder, rest, &all);
        let buffers = builder.buffers(&mut Random(23));
        check(&builder, &buffers, &[], EXACT);
    }
}

#[test]
fn softmax_over_rows_and_columns() {
    for dtype in [DType::F32, DType::F64, DType::BF16] {
        for domain in 0..DOMAINS.len() {
            let (mut builder, x) = with_input(domain, dtype);
            let largest = builder.like(x, Kind::Reduce(CombineOp::Max, x));
            let shifted = builder.like(x, Kind::Binary(BinaryOp::Sub, x, largest));
            let power = builder.like(x, Kind::Unary(UnaryOp::Exp, shifted));
            let total = builder.like(x, Kind::Reduce(CombineOp::Sum, power));
            let result = builder.like(x, Kind::Binary(BinaryOp::Div, power, total));
            let all = all_axes(&builder);
            store_new(&mut builder, result, &all);
            let mut buffers = builder.buffers(&mut Random(29));
            let count = buffers[0].len() / dtype.size();
            buffers[0] = Random(31).finite_elements(dtype, count);
            check(&builder, &buffers, &[], Tolerance { ulps: 8.0, scale: 0.0 });
        }
    }
}

#[test]
fn layer_norm_over_rows_and_columns() {
    for domain in 0..DOMAINS.len() {
        let (mut builder, x) = with_input(domain, DType::F32);
        // The scale varies along the reduced axes alone, the shift along the others.
        let weights: Vec<bool> = result_axes(&builder).into_iter().map(|along| !along).collect();
        let weight = builder.row_major(DType::F32, &weights);
        let along = result_axes(&builder);
        let shift = builder.row_major(DType::F32, &along);
        let count = builder.scalar(DType::F32);
        let total = builder.like(x, Kind::Reduce(CombineOp::Sum, x));
        let mean = builder.like(x, Kind::Binary(BinaryOp::Div, total, count));
        let centred = builder.like(x, Kind::Binary(BinaryOp::Sub, x, mean));
        let square = builder.like(x, Kind::Binary(BinaryOp::Mul, centred, centred));
        let total = builder.like(x, Kind::Reduce(CombineOp::Sum, square));
        let variance = builder.like(x, Kind::Binary(BinaryOp::Div, total, count));
        let epsilon = builder.constant(1e-5f32);
        let variance = builder.like(x, Kind::Binary(BinaryOp::Add, variance, epsilon));
        let scale = builder.like(x, Kind::Unary(UnaryOp::Rsqrt, variance));
        let scaled = builder.like(x, Kind::Binary(BinaryOp::Mul, centred, scale));
        let weight = builder.load(weight);
        let shift = builder.load(shift);
        let result = builder.like(x, Kind::Fma(scaled, weight, shift));
        let all = all_axes(&builder);
        store_new(&mut builder, mean, &along);
        store_new(&mut builder, result, &all);
        let mut buffers = builder.buffers(&mut Random(37));
        for buffer in &mut buffers {
            *buffer = Random(41).finite_elements(DType::F32, buffer.len() / 4);
        }
        let elements: usize = builder.shape.extents[builder.kernel.grid_rank..].iter().product();
        // For a row of one element the deviation is pure rounding error, scaled by 1 / √ε.
        let tolerance = Tolerance { ulps: 16.0, scale: 64.0 };
        check(&builder, &buffers, &[(elements as f32).to_scalar()], tolerance);
    }
}

#[test]
fn expensive_values_are_stored_between_passes() {
    for domain in 0..DOMAINS.len() {
        let (mut builder, x) = with_input(domain, DType::I32);
        let all = all_axes(&builder);
        let narrow = {
            // Varies along the grid and reduce axes: uniform along the vector axis.
            let mut along = all.clone();
            *along.last_mut().expect("launches have a vector axis") = false;
            builder.row_major(DType::I32, &along)
        };
        let narrow = builder.load(narrow);
        let (mut value, mut other) = (x, narrow);
        for _ in 0..12 {
            value = builder.like(x, Kind::Binary(BinaryOp::Mul, value, x));
            value = builder.like(x, Kind::Binary(BinaryOp::Add, value, narrow));
            other = builder.like(x, Kind::Binary(BinaryOp::Mul, other, narrow));
        }
        let first = builder.like(x, Kind::Reduce(CombineOp::Xor, value));
        let second = builder.like(x, Kind::Reduce(CombineOp::Min, other));
        let joined = builder.like(x, Kind::Binary(BinaryOp::Add, value, first));
        let joined = builder.like(x, Kind::Binary(BinaryOp::Sub, joined, other));
        let joined = builder.like(x, Kind::Binary(BinaryOp::Xor, joined, second));
        store_new(&mut builder, joined, &all);
        let buffers = builder.buffers(&mut Random(43));
        check(&builder, &buffers, &[], EXACT);
    }
}

#[test]
fn negative_large_and_undeclared_unit_strides() {
    for dtype in [DType::U8, DType::F16, DType::F32, DType::I64, DType::C128] {
        for (grid, vector) in [(&[3, 2][..], 5), (&[2], 700), (&[], 1)] {
            let mut builder = KernelBuilder::new(grid, &[], vector, Parallel);
            let rank = grid.len() + 1;
            let length = vector as isize;
            // Negative stride along the vector axis.
            let mut strides = builder.row_major_strides(&vec![true; rank]);
            strides[rank - 1] = -1;
            let param = builder.param(dtype);
            let backwards = builder.access(Some(param), length - 1, &strides, false);
            // Contiguous along the first axis, strided along the vector axis.
            let programs: isize = grid.iter().product::<usize>() as isize;
            let mut strides = vec![0; rank];
            strides[rank - 1] = programs + 1;
            if rank > 1 {
                strides[rank - 2] = 1;
            }
            let param = builder.param(dtype);
            let apart = builder.access(Some(param), 2, &strides, false);
            // A unit stride that is not declared as one.
            let strides = builder.row_major_strides(&vec![true; rank]);
            let param = builder.param(dtype);
            let near = builder.access(Some(param), 0, &strides, true);
            let (a, b, c) = (builder.load(backwards), builder.load(apart), builder.load(near));
            let sum = builder.like(a, Kind::Binary(BinaryOp::Add, a, b));
            let sum = builder.like(a, Kind::Binary(BinaryOp::Add, sum, c));
            // Every other element, in reverse order.
            let strides: Vec<isize> = strides.iter().map(|stride| -2 * stride).collect();
            let param = builder.param(dtype);
            let last = 2 * (programs * length - 1);
            let output = builder.access(Some(param), last, &strides, false);
            builder.store(output, sum);
            let buffers = builder.buffers(&mut Random(47));
            let tolerance = EXACT;
            check(&builder, &buffers, &[], tolerance);
        }
    }
}

#[test]
fn in_place_store_before_the_last_use_of_the_load() {
    let mut builder = KernelBuilder::new(&[2], &[], 600, Parallel);
    let position = builder.row_major(DType::I32, &[true, true]);
    let loaded = builder.load(position);
    let one = builder.constant(1i32);
    let next = builder.like(one, Kind::Binary(BinaryOp::Add, loaded, one));
    builder.store(position, next);
    let twice = builder.like(one, Kind::Binary(BinaryOp::Add, loaded, loaded));
    store_new(&mut builder, twice, &[true, true]);
    let buffers = builder.buffers(&mut Random(53));
    check(&builder, &buffers, &[], EXACT);
}

#[test]
fn positions_follow_their_access_maps() {
    for (grid, reduce, vector, axis) in DOMAINS {
        for dtype in [DType::I32, DType::I64] {
            let mut builder = KernelBuilder::new(grid, reduce, vector, axis);
            let all = all_axes(&builder);
            let strides = builder.row_major_strides(&all);
            let flat = builder.access(None, -3, &strides, false);
            let mut strides: Vec<isize> = strides.iter().map(|stride| 5 * stride).collect();
            let far = builder.access(None, 1, &strides, false);
            *strides.last_mut().expect("launches have a vector axis") = 0;
            let row = builder.access(None, 0, &strides, false);
            let values = [flat, far, row].map(|access| builder.push(Kind::Position(access), dtype));
            for value in values {
                store_new(&mut builder, value, &all);
            }
            let buffers = builder.buffers(&mut Random(59));
            check(&builder, &buffers, &[], EXACT);
        }
    }
}

/// Random indices below a limit.
fn indices(random: &mut Random, dtype: DType, count: usize, limit: usize) -> Vec<u8> {
    let index = |_| {
        let scalar = (random.below(limit) as i64).to_scalar().cast(dtype);
        scalar.to_bytes()[..dtype.size()].to_vec()
    };
    (0..count).flat_map(index).collect()
}

#[test]
fn gathers_of_rows_and_elements() {
    for index_dtype in [DType::I32, DType::I64] {
        for dtype in [DType::F32, DType::U8, DType::C128] {
            for masked in [false, true] {
                let mut builder = KernelBuilder::new(&[6], &[], 530, Parallel);
                let rows = builder.param(dtype);
                let row = builder.indexed(rows, &[0, 1], 530);
                let elements = builder.param(dtype);
                let element = builder.indexed(elements, &[0, 0], 3);
                let row_index = builder.row_major(index_dtype, &[true, false]);
                let element_index = builder.row_major(index_dtype, &[true, true]);
                let mask = builder.row_major(DType::Bool, &[true, true]);
                let (i, j, mask) =
                    (builder.load(row_index), builder.load(element_index), builder.load(mask));
                let mask = masked.then_some(mask);
                let a = builder.load_where(row, Some(i), mask);
                let b = builder.load_where(element, Some(j), mask);
                let sum = builder.like(a, Kind::Binary(BinaryOp::Mul, a, b));
                store_new(&mut builder, sum, &[true, true]);
                let mut random = Random(61);
                let mut buffers = builder.buffers(&mut random);
                buffers[0] = random.finite_elements(dtype, 9 * 530);
                buffers[1] = random.finite_elements(dtype, 100 * 3);
                buffers[2] = indices(&mut random, index_dtype, 6, 9);
                buffers[3] = indices(&mut random, index_dtype, 6 * 530, 100);
                check(&builder, &buffers, &[], ulps(4.0));
            }
        }
    }
}

#[test]
fn masked_off_addresses_are_not_accessed() {
    // A padded copy: positions outside the input are masked off and read as zero.
    for (size, grid) in [(40, 3), (1200, 2)] {
        let mut builder = KernelBuilder::new(&[grid], &[], size + 20, Parallel);
        let length = size as isize;
        let input = builder.param(DType::F64);
        let shifted = builder.access(Some(input), -10, &[length, 1], false);
        let position = builder.access(None, -10, &[0, 1], false);
        let position = builder.push(Kind::Position(position), DType::I32);
        let (zero, end) = (builder.constant(0i32), builder.constant(size as i32));
        let after = builder.push(Kind::Compare(CompareOp::Ge, position, zero), DType::Bool);
        let before = builder.push(Kind::Compare(CompareOp::Gt, end, position), DType::Bool);
        let mask = builder.push(Kind::Binary(BinaryOp::And, after, before), DType::Bool);
        let loaded = builder.load_where(shifted, None, Some(mask));
        store_new(&mut builder, loaded, &[true, true]);
        // The reverse: masked stores.
        let cropped = builder.param(DType::F64);
        let access = builder.access(Some(cropped), -10, &[length, 1], false);
        builder.store_kind(Kind::Store {
            access,
            value: loaded,
            index: None,
            mask: Some(mask),
            combine: None,
        });
        let mut random = Random(67);
        let mut buffers = builder.buffers(&mut random);
        buffers[0] = random.elements(DType::F64, size * grid);
        buffers[2] = random.elements(DType::F64, size * grid);
        check(&builder, &buffers, &[], EXACT);
        // A uniform mask: only the last program loads and stores.
        let mut builder = KernelBuilder::new(&[grid], &[], size, Parallel);
        let input = builder.param(DType::U16);
        let behind =
            builder.access(Some(input), -length * (grid as isize - 1), &[length, 1], false);
        let program = builder.access(None, 1 - grid as isize, &[1, 0], false);
        let program = builder.push(Kind::Position(program), DType::I64);
        let zero = builder.constant(0i64);
        let last = builder.push(Kind::Compare(CompareOp::Eq, program, zero), DType::Bool);
        let loaded = builder.load_where(behind, None, Some(last));
        store_new(&mut builder, loaded, &[true, true]);
        let mut buffers = builder.buffers(&mut random);
        buffers[0] = random.elements(DType::U16, size);
        check(&builder, &buffers, &[], EXACT);
    }
}

#[test]
fn scatter_reduce_combines_in_order() {
    for index_dtype in [DType::I32, DType::I64] {
        for (op, dtype) in [
            (None, DType::I32),
            (Some(CombineOp::Sum), DType::I32),
            (Some(CombineOp::Sum), DType::F32),
            (Some(CombineOp::Product), DType::U8),
            (Some(CombineOp::Max), DType::F64),
            (Some(CombineOp::Min), DType::BF16),
            (Some(CombineOp::Or), DType::Bool),
        ] {
            for masked in [false, true] {
                // One program per row of the target, which applies the row's updates in order.
                let mut builder = KernelBuilder::new(&[3], &[2], 700, Reduced);
                let update = builder.row_major(dtype, &[true, true, true]);
                let index = builder.row_major(index_dtype, &[false, true, true]);
                let mask = builder.row_major(DType::Bool, &[true, true, true]);
                let target = builder.param(dtype);
                let access = builder.indexed(target, &[50, 0, 0], 1);
                let (value, index, mask) =
                    (builder.load(update), builder.load(index), builder.load(mask));
                builder.store_kind(Kind::Store {
                    access,
                    value,
                    index: Some(index),
                    mask: masked.then_some(mask),
                    combine: op,
                });
                let mut random = Random(71);
                let mut buffers = builder.buffers(&mut random);
                buffers[1] = indices(&mut random, index_dtype, 1400, 50);
                buffers[3] = random.elements(dtype, 150);
                // The same order as the evaluator's, and so the same rounding.
                check(&builder, &buffers, &[], EXACT);
            }
        }
    }
}

#[test]
fn combining_stores_accumulate_into_one_element() {
    // A combining store with a constant address: every point of the tile updates the same element.
    let mut builder = KernelBuilder::new(&[4], &[3], 600, Reduced);
    let input = builder.row_major(DType::U32, &[true, true, true]);
    let value = builder.load(input);
    let target = builder.param(DType::U32);
    let access = builder.access(Some(target), 0, &[1, 0, 0], false);
    let combine = Some(CombineOp::Sum);
    builder.store_kind(Kind::Store { access, value, index: None, mask: None, combine });
    let one = builder.constant(1u32);
    builder.store_kind(Kind::Store { access, value: one, index: None, mask: None, combine });
    let buffers = builder.buffers(&mut Random(73));
    check(&builder, &buffers, &[], EXACT);
}

#[test]
fn program_level_values_are_stored_once() {
    let mut builder = KernelBuilder::new(&[5], &[], 90, Parallel);
    let input = builder.row_major(DType::I64, &[true, false]);
    let value = builder.load(input);
    let target = builder.param(DType::I64);
    let access = builder.access(Some(target), 0, &[1, 0], false);
    let combine = Some(CombineOp::Sum);
    builder.store_kind(Kind::Store { access, value, index: None, mask: None, combine });
    store_new(&mut builder, value, &[true, true]);
    let buffers = builder.buffers(&mut Random(79));
    check(&builder, &buffers, &[], EXACT);
}

#[test]
fn long_f32_sums_are_compensated() {
    let count = 1 << 20;
    for axis in [Reduced, Parallel] {
        let (reduce, vector): (&[usize], usize) = match axis {
            Reduced => (&[], count),
            Parallel => (&[1 << 17], 8),
        };
        let mut builder = KernelBuilder::new(&[], reduce, vector, axis);
        let along = all_axes(&builder);
        let input = builder.row_major(DType::F32, &along);
        let value = builder.load(input);
        let total = builder.like(value, Kind::Reduce(CombineOp::Sum, value));
        let along = result_axes(&builder);
        store_new(&mut builder, total, &along);
        let mut buffers = builder.buffers(&mut Random(83));
        buffers[0] = 0.1f32.to_le_bytes().repeat(count);
        let part = Part { grid: 0..1, vector: 0..vector };
        let result = run(&Program::new(&builder.kernel), &builder.shape, &buffers, &[], &[part]);
        for total in result[1].chunks(4) {
            let total = f32::from_le_bytes(total.try_into().expect("4 bytes")) as f64;
            let expected = 0.1f32 as f64 * (count / (result[1].len() / 4)) as f64;
            assert!((total / expected - 1.0).abs() < 1e-5, "{total} is not {expected}");
        }
    }
}
