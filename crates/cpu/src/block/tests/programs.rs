//! Reductions, scans, gathers, scatters, and kernels of several stages, in rows and in columns.

use super::*;
use inflight_ir::elementwise::{ArgOp, CombineOp};
use inflight_ir::graph::combine_accepts;
use inflight_ir::{BinaryOp, CompareOp, UnaryOp};

use VectorAxis::{Parallel, Reduced};

/// Grid, reduce axes, vector axis: rows, rows of several axes, and columns, with sizes around that of
/// a block, of one and of nothing.
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
fn result_axes(draft: &Draft) -> Vec<bool> {
    let kernel = &draft.kernel;
    let axis = |axis: usize| {
        let is_vector = axis + 1 == kernel.rank();
        axis < kernel.grid_rank || (is_vector && kernel.vector == Parallel)
    };
    (0..kernel.rank()).map(axis).collect()
}

fn all_axes(draft: &Draft) -> Vec<bool> {
    vec![true; draft.kernel.rank()]
}

/// A draft over a domain with one loaded input over all of it.
fn with_input(domain: usize, dtype: DType) -> (Draft, Value) {
    let (grid, reduce, vector, axis) = DOMAINS[domain];
    let mut draft = Draft::new(grid, reduce, vector, axis);
    let all = all_axes(&draft);
    let input = draft.row_major(dtype, &all);
    let loaded = draft.load(input);
    (draft, loaded)
}

fn store_new(draft: &mut Draft, value: Value, along: &[bool]) {
    let dtype = draft.dtype(value);
    let output = draft.row_major(dtype, along);
    draft.store(output, value);
}

/// A tolerance for sums of as many elements of size one as a program has.
fn sum_tolerance(draft: &Draft) -> Tolerance {
    let elements = draft.shape.extents[draft.kernel.grid_rank..].iter().product::<usize>();
    Tolerance { ulps: 4.0, scale: (elements as f64).sqrt() }
}

#[test]
fn reductions_of_every_dtype() {
    for op in CombineOp::ALL {
        for dtype in DType::ALL {
            if !combine_accepts(op).contains(dtype) {
                continue;
            }
            for domain in 0..DOMAINS.len() {
                let (mut draft, loaded) = with_input(domain, dtype);
                let reduced = draft.like(loaded, Kind::Reduce(op, loaded));
                let along = result_axes(&draft);
                store_new(&mut draft, reduced, &along);
                let rounds = matches!(op, CombineOp::Sum | CombineOp::Product)
                    && (dtype.is_float() || dtype.is_complex());
                let mut buffers = draft.buffers(&mut Random(7 + domain as u64));
                let mut tolerance = EXACT;
                if rounds {
                    let count = buffers[0].len() / dtype.size();
                    buffers[0] = Random(9).tame(dtype, count);
                    tolerance = sum_tolerance(&draft);
                }
                check(&draft, &buffers, &[], tolerance);
            }
        }
    }
}

#[test]
fn a_reduction_of_one_value_repeated() {
    for (grid, reduce, vector, axis) in DOMAINS {
        let mut draft = Draft::new(grid, reduce, vector, axis);
        let three = draft.constant(3i32);
        let total = draft.like(three, Kind::Reduce(CombineOp::Sum, three));
        let index = draft.push(Kind::ArgReduce(ArgOp::Max, three), DType::I64);
        let along = result_axes(&draft);
        store_new(&mut draft, total, &along);
        store_new(&mut draft, index, &along);
        let buffers = draft.buffers(&mut Random(3));
        check(&draft, &buffers, &[], EXACT);
    }
}

#[test]
fn arg_reductions_of_every_dtype() {
    for dtype in DType::ALL.into_iter().filter(|dtype| !dtype.is_complex()) {
        for op in [ArgOp::Min, ArgOp::Max] {
            for domain in 0..DOMAINS.len() {
                let (mut draft, loaded) = with_input(domain, dtype);
                let index = draft.push(Kind::ArgReduce(op, loaded), DType::I64);
                let along = result_axes(&draft);
                store_new(&mut draft, index, &along);
                // With NaN among the elements, and without.
                let mut buffers = draft.buffers(&mut Random(11 + domain as u64));
                check(&draft, &buffers, &[], EXACT);
                let count = buffers[0].len() / dtype.size();
                buffers[0] = Random(13).tame(dtype, count);
                check(&draft, &buffers, &[], EXACT);
            }
        }
    }
}

#[test]
fn scans_of_every_dtype() {
    for op in CombineOp::ALL {
        for dtype in DType::ALL {
            if !combine_accepts(op).contains(dtype) {
                continue;
            }
            for domain in 0..DOMAINS.len() {
                let (mut draft, loaded) = with_input(domain, dtype);
                let scanned = draft.like(loaded, Kind::Scan(op, loaded));
                let all = all_axes(&draft);
                store_new(&mut draft, scanned, &all);
                let rounds = matches!(op, CombineOp::Sum | CombineOp::Product)
                    && (dtype.is_float() || dtype.is_complex());
                let mut buffers = draft.buffers(&mut Random(17 + domain as u64));
                let mut tolerance = EXACT;
                if rounds {
                    let count = buffers[0].len() / dtype.size();
                    buffers[0] = Random(19).tame(dtype, count);
                    // Each of n steps rounds a running total of about √n, and the errors add up as √n.
                    let steps =
                        draft.shape.extents[draft.kernel.grid_rank..].iter().product::<usize>();
                    tolerance = match op {
                        CombineOp::Sum => Tolerance { ulps: 0.0, scale: steps as f64 },
                        _ => ulps(steps as f64),
                    };
                }
                check(&draft, &buffers, &[], tolerance);
            }
        }
    }
}

#[test]
fn a_scan_used_by_a_later_stage() {
    for domain in 0..DOMAINS.len() {
        let (mut draft, loaded) = with_input(domain, DType::I32);
        let scanned = draft.like(loaded, Kind::Scan(CombineOp::Sum, loaded));
        let largest = draft.like(loaded, Kind::Reduce(CombineOp::Max, scanned));
        let rest = draft.like(loaded, Kind::Binary(BinaryOp::Sub, largest, scanned));
        let all = all_axes(&draft);
        store_new(&mut draft, rest, &all);
        let buffers = draft.buffers(&mut Random(23));
        check(&draft, &buffers, &[], EXACT);
    }
}

#[test]
fn softmax_in_rows_and_columns() {
    for dtype in [DType::F32, DType::F64, DType::BF16] {
        for domain in 0..DOMAINS.len() {
            let (mut draft, x) = with_input(domain, dtype);
            let largest = draft.like(x, Kind::Reduce(CombineOp::Max, x));
            let shifted = draft.like(x, Kind::Binary(BinaryOp::Sub, x, largest));
            let power = draft.like(x, Kind::Unary(UnaryOp::Exp, shifted));
            let total = draft.like(x, Kind::Reduce(CombineOp::Sum, power));
            let result = draft.like(x, Kind::Binary(BinaryOp::Div, power, total));
            let all = all_axes(&draft);
            store_new(&mut draft, result, &all);
            let mut buffers = draft.buffers(&mut Random(29));
            let count = buffers[0].len() / dtype.size();
            buffers[0] = Random(31).tame(dtype, count);
            check(&draft, &buffers, &[], Tolerance { ulps: 8.0, scale: 0.0 });
        }
    }
}

#[test]
fn layer_norm_in_rows_and_columns() {
    for domain in 0..DOMAINS.len() {
        let (mut draft, x) = with_input(domain, DType::F32);
        // The scale varies along the reduced axes alone, the shift along the others.
        let weights: Vec<bool> = result_axes(&draft).into_iter().map(|along| !along).collect();
        let weight = draft.row_major(DType::F32, &weights);
        let along = result_axes(&draft);
        let shift = draft.row_major(DType::F32, &along);
        let count = draft.scalar(DType::F32);
        let total = draft.like(x, Kind::Reduce(CombineOp::Sum, x));
        let mean = draft.like(x, Kind::Binary(BinaryOp::Div, total, count));
        let centred = draft.like(x, Kind::Binary(BinaryOp::Sub, x, mean));
        let square = draft.like(x, Kind::Binary(BinaryOp::Mul, centred, centred));
        let total = draft.like(x, Kind::Reduce(CombineOp::Sum, square));
        let variance = draft.like(x, Kind::Binary(BinaryOp::Div, total, count));
        let epsilon = draft.constant(1e-5f32);
        let variance = draft.like(x, Kind::Binary(BinaryOp::Add, variance, epsilon));
        let scale = draft.like(x, Kind::Unary(UnaryOp::Rsqrt, variance));
        let scaled = draft.like(x, Kind::Binary(BinaryOp::Mul, centred, scale));
        let weight = draft.load(weight);
        let shift = draft.load(shift);
        let result = draft.like(x, Kind::Fma(scaled, weight, shift));
        let all = all_axes(&draft);
        store_new(&mut draft, mean, &along);
        store_new(&mut draft, result, &all);
        let mut buffers = draft.buffers(&mut Random(37));
        for buffer in &mut buffers {
            *buffer = Random(41).tame(DType::F32, buffer.len() / 4);
        }
        let elements: usize = draft.shape.extents[draft.kernel.grid_rank..].iter().product();
        // A row of one element: its deviation is nothing but rounding, times 1 / √ε.
        let tolerance = Tolerance { ulps: 16.0, scale: 64.0 };
        check(&draft, &buffers, &[(elements as f32).to_scalar()], tolerance);
    }
}

#[test]
fn a_dear_value_is_kept_between_stages() {
    for domain in 0..DOMAINS.len() {
        let (mut draft, x) = with_input(domain, DType::I32);
        let all = all_axes(&draft);
        let narrow = {
            // Varies along the grid and the reduce axes: one value for a whole vector.
            let mut along = all.clone();
            *along.last_mut().expect("a vector axis") = false;
            draft.row_major(DType::I32, &along)
        };
        let narrow = draft.load(narrow);
        let (mut value, mut other) = (x, narrow);
        for _ in 0..12 {
            value = draft.like(x, Kind::Binary(BinaryOp::Mul, value, x));
            value = draft.like(x, Kind::Binary(BinaryOp::Add, value, narrow));
            other = draft.like(x, Kind::Binary(BinaryOp::Mul, other, narrow));
        }
        let first = draft.like(x, Kind::Reduce(CombineOp::Xor, value));
        let second = draft.like(x, Kind::Reduce(CombineOp::Min, other));
        let joined = draft.like(x, Kind::Binary(BinaryOp::Add, value, first));
        let joined = draft.like(x, Kind::Binary(BinaryOp::Sub, joined, other));
        let joined = draft.like(x, Kind::Binary(BinaryOp::Xor, joined, second));
        store_new(&mut draft, joined, &all);
        let buffers = draft.buffers(&mut Random(43));
        check(&draft, &buffers, &[], EXACT);
    }
}

#[test]
fn strides_of_every_kind() {
    for dtype in [DType::U8, DType::F16, DType::F32, DType::I64, DType::C128] {
        for (grid, vector) in [(&[3, 2][..], 5), (&[2], 700), (&[], 1)] {
            let mut draft = Draft::new(grid, &[], vector, Parallel);
            let rank = grid.len() + 1;
            let length = vector as isize;
            // Backwards along the vector axis.
            let mut strides = draft.row_major_strides(&vec![true; rank]);
            strides[rank - 1] = -1;
            let param = draft.param(dtype);
            let backwards = draft.access(Some(param), length - 1, &strides, false);
            // The first axis as neighbours, the vector axis far apart.
            let programs: isize = grid.iter().product::<usize>() as isize;
            let mut strides = vec![0; rank];
            strides[rank - 1] = programs + 1;
            if rank > 1 {
                strides[rank - 2] = 1;
            }
            let param = draft.param(dtype);
            let apart = draft.access(Some(param), 2, &strides, false);
            // Neighbours that are not declared so.
            let strides = draft.row_major_strides(&vec![true; rank]);
            let param = draft.param(dtype);
            let near = draft.access(Some(param), 0, &strides, true);
            let (a, b, c) = (draft.load(backwards), draft.load(apart), draft.load(near));
            let sum = draft.like(a, Kind::Binary(BinaryOp::Add, a, b));
            let sum = draft.like(a, Kind::Binary(BinaryOp::Add, sum, c));
            // Every other place, in reverse order.
            let strides: Vec<isize> = strides.iter().map(|stride| -2 * stride).collect();
            let param = draft.param(dtype);
            let last = 2 * (programs * length - 1);
            let output = draft.access(Some(param), last, &strides, false);
            draft.store(output, sum);
            let buffers = draft.buffers(&mut Random(47));
            let tolerance = EXACT;
            check(&draft, &buffers, &[], tolerance);
        }
    }
}

#[test]
fn a_store_before_the_last_use_of_what_it_overwrites() {
    let mut draft = Draft::new(&[2], &[], 600, Parallel);
    let place = draft.row_major(DType::I32, &[true, true]);
    let loaded = draft.load(place);
    let one = draft.constant(1i32);
    let next = draft.like(one, Kind::Binary(BinaryOp::Add, loaded, one));
    draft.store(place, next);
    let twice = draft.like(one, Kind::Binary(BinaryOp::Add, loaded, loaded));
    store_new(&mut draft, twice, &[true, true]);
    let buffers = draft.buffers(&mut Random(53));
    check(&draft, &buffers, &[], EXACT);
}

#[test]
fn positions() {
    for (grid, reduce, vector, axis) in DOMAINS {
        for dtype in [DType::I32, DType::I64] {
            let mut draft = Draft::new(grid, reduce, vector, axis);
            let all = all_axes(&draft);
            let strides = draft.row_major_strides(&all);
            let flat = draft.access(None, -3, &strides, false);
            let mut strides: Vec<isize> = strides.iter().map(|stride| 5 * stride).collect();
            let far = draft.access(None, 1, &strides, false);
            *strides.last_mut().expect("a vector axis") = 0;
            let row = draft.access(None, 0, &strides, false);
            let values = [flat, far, row].map(|access| draft.push(Kind::Position(access), dtype));
            for value in values {
                store_new(&mut draft, value, &all);
            }
            let buffers = draft.buffers(&mut Random(59));
            check(&draft, &buffers, &[], EXACT);
        }
    }
}

/// Indices below a limit.
fn indices(random: &mut Random, dtype: DType, count: usize, limit: usize) -> Vec<u8> {
    let index = |_| {
        let scalar = (random.below(limit) as i64).to_scalar().cast(dtype);
        scalar.to_bytes()[..dtype.size()].to_vec()
    };
    (0..count).flat_map(index).collect()
}

#[test]
fn gathers_of_rows_and_of_elements() {
    for index_dtype in [DType::I32, DType::I64] {
        for dtype in [DType::F32, DType::U8, DType::C128] {
            for masked in [false, true] {
                let mut draft = Draft::new(&[6], &[], 530, Parallel);
                let rows = draft.param(dtype);
                let row = draft.indexed(rows, &[0, 1], 530);
                let elements = draft.param(dtype);
                let element = draft.indexed(elements, &[0, 0], 3);
                let row_index = draft.row_major(index_dtype, &[true, false]);
                let element_index = draft.row_major(index_dtype, &[true, true]);
                let mask = draft.row_major(DType::Bool, &[true, true]);
                let (i, j, mask) =
                    (draft.load(row_index), draft.load(element_index), draft.load(mask));
                let mask = masked.then_some(mask);
                let a = draft.load_where(row, Some(i), mask);
                let b = draft.load_where(element, Some(j), mask);
                let sum = draft.like(a, Kind::Binary(BinaryOp::Mul, a, b));
                store_new(&mut draft, sum, &[true, true]);
                let mut random = Random(61);
                let mut buffers = draft.buffers(&mut random);
                buffers[0] = random.tame(dtype, 9 * 530);
                buffers[1] = random.tame(dtype, 100 * 3);
                buffers[2] = indices(&mut random, index_dtype, 6, 9);
                buffers[3] = indices(&mut random, index_dtype, 6 * 530, 100);
                check(&draft, &buffers, &[], ulps(4.0));
            }
        }
    }
}

#[test]
fn masks_hide_addresses_that_are_not_there() {
    // A padded copy: positions outside the input are hidden and read as zero.
    for (size, grid) in [(40, 3), (1200, 2)] {
        let mut draft = Draft::new(&[grid], &[], size + 20, Parallel);
        let length = size as isize;
        let input = draft.param(DType::F64);
        let shifted = draft.access(Some(input), -10, &[length, 1], false);
        let place = draft.access(None, -10, &[0, 1], false);
        let place = draft.push(Kind::Position(place), DType::I32);
        let (zero, end) = (draft.constant(0i32), draft.constant(size as i32));
        let after = draft.push(Kind::Compare(CompareOp::Ge, place, zero), DType::Bool);
        let before = draft.push(Kind::Compare(CompareOp::Gt, end, place), DType::Bool);
        let mask = draft.push(Kind::Binary(BinaryOp::And, after, before), DType::Bool);
        let loaded = draft.load_where(shifted, None, Some(mask));
        store_new(&mut draft, loaded, &[true, true]);
        // And the other way: stores that a mask hides.
        let cut = draft.param(DType::F64);
        let access = draft.access(Some(cut), -10, &[length, 1], false);
        draft.store_kind(Kind::Store {
            access,
            value: loaded,
            index: None,
            mask: Some(mask),
            combine: None,
        });
        let mut random = Random(67);
        let mut buffers = draft.buffers(&mut random);
        buffers[0] = random.elements(DType::F64, size * grid);
        buffers[2] = random.elements(DType::F64, size * grid);
        check(&draft, &buffers, &[], EXACT);
        // One mask for a whole program: only the last one reads and writes.
        let mut draft = Draft::new(&[grid], &[], size, Parallel);
        let input = draft.param(DType::U16);
        let behind = draft.access(Some(input), -length * (grid as isize - 1), &[length, 1], false);
        let program = draft.access(None, 1 - grid as isize, &[1, 0], false);
        let program = draft.push(Kind::Position(program), DType::I64);
        let zero = draft.constant(0i64);
        let last = draft.push(Kind::Compare(CompareOp::Eq, program, zero), DType::Bool);
        let loaded = draft.load_where(behind, None, Some(last));
        store_new(&mut draft, loaded, &[true, true]);
        let mut buffers = draft.buffers(&mut random);
        buffers[0] = random.elements(DType::U16, size);
        check(&draft, &buffers, &[], EXACT);
    }
}

#[test]
fn scatters_combine_in_order() {
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
                // One program for each row of the target; all updates of it in order.
                let mut draft = Draft::new(&[3], &[2], 700, Reduced);
                let update = draft.row_major(dtype, &[true, true, true]);
                let index = draft.row_major(index_dtype, &[false, true, true]);
                let mask = draft.row_major(DType::Bool, &[true, true, true]);
                let target = draft.param(dtype);
                let access = draft.indexed(target, &[50, 0, 0], 1);
                let (value, index, mask) =
                    (draft.load(update), draft.load(index), draft.load(mask));
                draft.store_kind(Kind::Store {
                    access,
                    value,
                    index: Some(index),
                    mask: masked.then_some(mask),
                    combine: op,
                });
                let mut random = Random(71);
                let mut buffers = draft.buffers(&mut random);
                buffers[1] = indices(&mut random, index_dtype, 1400, 50);
                buffers[3] = random.elements(dtype, 150);
                // In the reference's order, so with the reference's rounding.
                check(&draft, &buffers, &[], EXACT);
            }
        }
    }
}

#[test]
fn a_histogram_in_one_place() {
    // Combining with an address that does not move: every point of the tile meets the same element.
    let mut draft = Draft::new(&[4], &[3], 600, Reduced);
    let input = draft.row_major(DType::U32, &[true, true, true]);
    let value = draft.load(input);
    let target = draft.param(DType::U32);
    let access = draft.access(Some(target), 0, &[1, 0, 0], false);
    let combine = Some(CombineOp::Sum);
    draft.store_kind(Kind::Store { access, value, index: None, mask: None, combine });
    let one = draft.constant(1u32);
    draft.store_kind(Kind::Store { access, value: one, index: None, mask: None, combine });
    let buffers = draft.buffers(&mut Random(73));
    check(&draft, &buffers, &[], EXACT);
}

#[test]
fn a_value_of_a_whole_program_is_stored_once() {
    let mut draft = Draft::new(&[5], &[], 90, Parallel);
    let input = draft.row_major(DType::I64, &[true, false]);
    let value = draft.load(input);
    let target = draft.param(DType::I64);
    let access = draft.access(Some(target), 0, &[1, 0], false);
    let combine = Some(CombineOp::Sum);
    draft.store_kind(Kind::Store { access, value, index: None, mask: None, combine });
    store_new(&mut draft, value, &[true, true]);
    let buffers = draft.buffers(&mut Random(79));
    check(&draft, &buffers, &[], EXACT);
}

#[test]
fn a_long_sum_keeps_its_digits() {
    let count = 1 << 20;
    for axis in [Reduced, Parallel] {
        let (reduce, vector): (&[usize], usize) = match axis {
            Reduced => (&[], count),
            Parallel => (&[1 << 17], 8),
        };
        let mut draft = Draft::new(&[], reduce, vector, axis);
        let along = all_axes(&draft);
        let input = draft.row_major(DType::F32, &along);
        let value = draft.load(input);
        let total = draft.like(value, Kind::Reduce(CombineOp::Sum, value));
        let along = result_axes(&draft);
        store_new(&mut draft, total, &along);
        let mut buffers = draft.buffers(&mut Random(83));
        buffers[0] = 0.1f32.to_le_bytes().repeat(count);
        let part = Part { grid: 0..1, vector: 0..vector };
        let result = run(&Program::new(&draft.kernel), &draft.shape, &buffers, &[], &[part]);
        for total in result[1].chunks(4) {
            let total = f32::from_le_bytes(total.try_into().expect("4 bytes")) as f64;
            let expected = 0.1f32 as f64 * (count / (result[1].len() / 4)) as f64;
            assert!((total / expected - 1.0).abs() < 1e-5, "{total} is not {expected}");
        }
    }
}
