//! Sort, top-k, scatter with a combiner, Cholesky and triangular solve, at sizes that are partitioned among threads.

use crate::support;
use inflight::{
    Complex, DType, Device, Element, Shape, Tensor, Transpose, TriangularOptions, record_graph_node,
};
use inflight_ir::graph::{Combine, Graph, Op, ScalarFunction, SortKey, SortOrder, SortResult};
use inflight_ir::{BinaryOp, CompareOp, UnaryOp};
use inflight_testkit::Random;
use std::cmp::Ordering;

/// Records a single graph op on tensors.
fn record(op: Op, operands: &[&Tensor], device: &Device) -> Tensor {
    let mut graph = Graph::default();
    let inputs: Vec<u32> =
        operands.iter().map(|x| graph.input(x.shape().clone(), x.dtype())).collect();
    let node = graph.push(op, &inputs).expect("valid operands");
    record_graph_node(graph.node(node), None, operands, device).expect("the op is recorded")
}

fn tensor<T: Element>(data: &[T], shape: impl Into<Shape>, device: &Device) -> Tensor {
    Tensor::from_vec(data.to_vec(), shape.into(), device).expect("the data fills the shape")
}

/// Random floats with many duplicates, zeros of both signs, and NaN.
fn floats(count: usize, seed: u64) -> Vec<f32> {
    let mut random = Random::new(seed);
    (0..count)
        .map(|_| match random.below(20) {
            0 => -0.0,
            1 => 0.0,
            2 => f32::NAN,
            3 => -f32::NAN,
            4 => f32::NEG_INFINITY,
            _ => random.below(count / 2 + 1) as f32 - count as f32 / 4.0,
        })
        .collect()
}

/// Uniform values in [-1, 1).
fn uniform(count: usize, seed: u64) -> Vec<f64> {
    let mut random = Random::new(seed);
    (0..count).map(|_| random.below(1 << 20) as f64 / (1 << 19) as f64 - 1.0).collect()
}

fn by_value(a: f32, b: f32) -> Ordering {
    a.partial_cmp(&b).unwrap_or_else(|| a.is_nan().cmp(&b.is_nan()))
}

#[test]
fn sort_is_stable_at_every_length() {
    let device = support::device();
    for length in [1, 2, 7, 8, 9, 100, 255, 257, 2047, 2048, 2049, 5000, 70_000, 300_001] {
        let values = floats(length, length as u64);
        let x = tensor(&values, [length], &device);
        for descending in [false, true] {
            let mut indices: Vec<usize> = (0..length).collect();
            indices.sort_by(|&a, &b| match descending {
                false => by_value(values[a], values[b]),
                true => by_value(values[b], values[a]),
            });
            let found = x.argsort(0, descending).to_vec::<i64>().unwrap();
            assert!(found.iter().zip(&indices).all(|(a, b)| *a == *b as i64), "{length} indices");
            let found = x.sort(0, descending).to_vec::<f32>().unwrap();
            let same = |(a, &b): (&f32, &usize)| a.to_bits() == values[b].to_bits();
            assert!(found.iter().zip(&indices).all(same), "{length} values");
        }
    }
}

/// Radix sort of several long rows, for every element size, ascending and descending.
#[test]
fn long_rows_of_every_element_size_are_radix_sorted() {
    let device = support::device();
    let (rows, length) = (3, 70_001);
    let mut random = Random::new(9);
    let values: Vec<i64> =
        (0..rows * length).map(|_| random.below(1 << 40) as i64 - (1 << 39)).collect();
    let wide = tensor(&values, [rows, length], &device);
    for dtype in [DType::I64, DType::I32, DType::U32, DType::I16, DType::U8, DType::F16] {
        let x = wide.cast(dtype);
        let elements = x.cast(DType::F64).to_vec::<f64>().unwrap();
        for descending in [false, true] {
            let found = x.argsort(1, descending).to_vec::<i64>().unwrap();
            let sorted = x.sort(1, descending).cast(DType::F64).to_vec::<f64>().unwrap();
            for row in 0..rows {
                let row_values = &elements[row * length..(row + 1) * length];
                let mut indices: Vec<i64> = (0..length as i64).collect();
                indices.sort_by(|&a, &b| {
                    let order = row_values[a as usize].total_cmp(&row_values[b as usize]);
                    if descending { order.reverse() } else { order }
                });
                let range = row * length..(row + 1) * length;
                assert!(found[range.clone()] == indices, "{dtype} {descending}");
                let values = indices.iter().map(|&at| row_values[at as usize]);
                assert!(sorted[range].iter().copied().eq(values), "{dtype} {descending}");
            }
        }
    }
}

#[test]
fn top_k_matches_a_stable_sort_at_every_length() {
    let device = support::device();
    for (rows, length, counts) in [
        (7, 1, vec![1]),
        (70, 33, vec![1, 5, 33]),
        (9, 1000, vec![8, 32, 100, 129, 1000]),
        (300, 4096, vec![1, 8, 64]),
        (5, 40_000, vec![3, 128, 5000]),
        (2, 1_100_000, vec![10]),
    ] {
        // Mostly distinct values, three distinct values, and a single value.
        for kind in 0..3 {
            let mut values = floats(rows * length, length as u64 + kind);
            match kind {
                0 => {}
                1 => values.iter_mut().for_each(|x| *x = (*x as i64 % 3) as f32),
                _ => values.fill(-1.5),
            }
            let x = tensor(&values, [rows, length], &device);
            for &count in &counts {
                let (largest, positions) = x.top_k(count, 1);
                let positions = positions.to_vec::<i64>().unwrap();
                let largest = largest.to_vec::<f32>().unwrap();
                for row in 0..rows {
                    let row_values = &values[row * length..(row + 1) * length];
                    let mut indices: Vec<usize> = (0..length).collect();
                    indices.sort_by(|&a, &b| by_value(row_values[b], row_values[a]));
                    let range = row * count..(row + 1) * count;
                    let found = &positions[range.clone()];
                    let same = |(a, &b): (&i64, &usize)| *a == b as i64;
                    assert!(found.iter().zip(&indices).all(same), "{count} of {length}, {kind}");
                    let same = |(a, &b): (&f32, &usize)| a.to_bits() == row_values[b].to_bits();
                    assert!(largest[range].iter().zip(&indices).all(same), "{count} of {length}");
                }
            }
        }
    }
}

#[test]
fn sort_works_along_any_axis() {
    let device = support::device();
    for shape in [[3, 5, 400], [70, 33, 3], [2, 3000, 5], [1000, 2, 1]] {
        let count = shape.iter().product();
        let mut random = Random::new(count as u64);
        let values: Vec<i16> = (0..count).map(|_| random.below(1 << 16) as i16).collect();
        let x = tensor(&values, shape, &device);
        for axis in 0..3 {
            let inner: usize = shape[axis + 1..].iter().product();
            let mut expected = values.clone();
            for line in 0..count / shape[axis] {
                let start = line / inner * inner * shape[axis] + line % inner;
                let at: Vec<usize> = (0..shape[axis]).map(|i| start + i * inner).collect();
                let mut elements: Vec<i16> = at.iter().map(|&at| values[at]).collect();
                elements.sort_unstable();
                at.into_iter().zip(elements).for_each(|(at, element)| expected[at] = element);
            }
            let found = x.sort(axis as isize, false).to_vec::<i16>().unwrap();
            assert!(found == expected, "{shape:?} along {axis}");
        }
    }
}

#[test]
fn multi_key_sort_is_lexicographic() {
    let device = support::device();
    let count = 20_000;
    let mut random = Random::new(5);
    let first: Vec<i8> = (0..count).map(|_| random.below(5) as i8 - 2).collect();
    let second: Vec<f64> = (0..count).map(|_| random.below(50) as f64).collect();
    let third: Vec<u64> = (0..count).map(|_| (random.below(20) as u64) << 50).collect();
    let mut indices: Vec<i64> = (0..count as i64).collect();
    let key = |at: i64| (-first[at as usize], second[at as usize] as i64);
    let operands = [
        tensor(&first, [count], &device),
        tensor(&second, [count], &device),
        tensor(&third, [count], &device),
    ];
    let descending = SortKey { descending: true, ..SortKey::default() };
    for keys in [2, 3] {
        indices.sort_unstable();
        indices.sort_by_key(|&at| {
            let (first, second) = key(at);
            (first, second, if keys == 3 { third[at as usize] } else { 0 })
        });
        let mut orders = vec![SortKey::default(); keys];
        orders[0] = descending;
        let order = SortOrder::Keys(orders.into_iter().collect());
        let op = Op::Sort { axis: 0, order, result: SortResult::Positions };
        let operands: Vec<&Tensor> = operands[..keys].iter().collect();
        let found = record(op, &operands, &device).to_vec::<i64>().unwrap();
        assert!(found == indices, "{keys} keys");
    }
}

/// A comparator that applies `map` to the first pair of scalars and compares the results. It ignores the second pair.
fn comparator(op: CompareOp, map: impl Fn(&mut Graph, u32) -> u32) -> SortOrder {
    let mut graph = Graph::default();
    let pair = [graph.input((), DType::F32), graph.input((), DType::F32)];
    graph.input((), DType::F64);
    graph.input((), DType::F64);
    let pair = pair.map(|input| map(&mut graph, input));
    graph.outputs = vec![graph.push(Op::Compare(op), &pair).unwrap()];
    SortOrder::Comparator(ScalarFunction::new(graph).unwrap())
}

#[test]
fn a_comparator_function_orders_elements() {
    let device = support::device();
    for count in [3, 900, 30_000] {
        let values: Vec<f32> =
            uniform(count, 7).iter().map(|&x| (x * 500.0).round() as f32).collect();
        let unused = tensor(&vec![0f64; count], [count], &device);
        let x = tensor(&values, [count], &device);
        let absolute =
            |graph: &mut Graph, x: u32| graph.push(Op::Unary(UnaryOp::Abs), &[x]).unwrap();
        let order = comparator(CompareOp::Gt, absolute);
        let op = Op::Sort { axis: 0, order, result: SortResult::Positions };
        let mut indices: Vec<i64> = (0..count as i64).collect();
        indices.sort_by(|&a, &b| values[b as usize].abs().total_cmp(&values[a as usize].abs()));
        let found = record(op, &[&x, &unused], &device).to_vec::<i64>().unwrap();
        assert!(found == indices, "{count} elements");
        // A comparator that is not a strict weak order still yields a permutation.
        for op in [CompareOp::Le, CompareOp::Ne] {
            let order = comparator(op, |_, x| x);
            let op = Op::Sort { axis: 0, order, result: SortResult::Positions };
            let mut found = record(op, &[&x, &unused], &device).to_vec::<i64>().unwrap();
            found.sort_unstable();
            assert!(found.iter().enumerate().all(|(i, &index)| index == i as i64));
        }
    }
}

#[test]
fn scatter_combines_updates_of_one_position_in_order() {
    let device = support::device();
    let mut graph = Graph::default();
    let (old, update) = (graph.input((), DType::F32), graph.input((), DType::F32));
    let half = graph.scalar(0.5f32);
    let halved = graph.push(Op::Binary(BinaryOp::Mul), &[old, half]).unwrap();
    graph.outputs = vec![graph.push(Op::Binary(BinaryOp::Add), &[halved, update]).unwrap()];
    let function = ScalarFunction::new(graph).unwrap();
    for (outer, extent, inner, updates) in
        [(1, 1000, 1, 50_000), (3, 10, 7, 4000), (500, 20, 300, 30), (40, 6, 5, 3)]
    {
        let mut random = Random::new(extent as u64);
        let x: Vec<f32> = uniform(outer * extent * inner, 1).iter().map(|&x| x as f32).collect();
        let update: Vec<f32> =
            uniform(outer * updates * inner, 2).iter().map(|&x| x as f32).collect();
        // Some indices are out of range: their updates are dropped.
        let index: Vec<i32> =
            (0..update.len()).map(|_| random.below(extent + 4) as i32 - 2).collect();
        let mut expected = x.clone();
        for at in 0..update.len() {
            let (block, offset) = (at / inner / updates, at % inner);
            if (0..extent as i32).contains(&index[at]) {
                let target = (block * extent + index[at] as usize) * inner + offset;
                expected[target] = expected[target] * 0.5 + update[at];
            }
        }
        let combine = Some(Combine::Function(function.clone()));
        let operands = [
            &tensor(&x, [outer, extent, inner], &device),
            &tensor(&index, [outer, updates, inner], &device),
            &tensor(&update, [outer, updates, inner], &device),
        ];
        let found = record(Op::Scatter { axis: 1, combine }, &operands, &device);
        assert!(found.to_vec::<f32>().unwrap() == expected, "{outer} {extent} {inner} {updates}");
    }
}

/// Largest absolute difference between two tensors.
fn max_difference(a: &Tensor, b: &Tensor) -> f64 {
    (a - b).abs().max_all().cast(DType::F64).item::<f64>().unwrap()
}

#[test]
fn cholesky_of_any_size() {
    let device = support::device();
    for (batch, n) in [
        (1, 1),
        (7, 5),
        (3, 32),
        (2, 33),
        (5, 64),
        (2, 100),
        (1, 300),
        (1, 515),
        (2, 640),
        (1, 1028),
    ] {
        let a = tensor(&uniform(batch * n * n, n as u64), [batch, n, n], &device);
        let identity = Tensor::eye::<f64>(n, &device);
        let positive = a.matmul(&a.swap_dims(1, 2)) + &identity * n as f64;
        for (dtype, tolerance) in [(DType::F32, 1e-5), (DType::F64, 1e-14), (DType::BF16, 2e-2)] {
            let matrix = positive.cast(dtype);
            let lower = matrix.cholesky();
            let wide = lower.cast(DType::F64);
            let error = max_difference(&wide.matmul(&wide.swap_dims(1, 2)), &positive) / n as f64;
            assert!(error < tolerance, "{dtype} {n}: {error}");
            let upper = record(Op::Cholesky { lower: false }, &[&matrix], &device);
            assert!(max_difference(&upper.swap_dims(1, 2), &lower) == 0.0, "{dtype} {n}");
            let elements = wide.to_vec::<f64>().unwrap();
            let is_zero_above_diagonal = |(at, &x): (usize, &f64)| at / n % n >= at % n || x == 0.0;
            assert!(elements.iter().enumerate().all(is_zero_above_diagonal), "{dtype} {n}");
        }
    }
    let indefinite = tensor(&[1f32, 0.0, 0.0, -1.0], [2, 2], &device).cholesky().to_vec::<f32>();
    assert!(indefinite.unwrap()[3].is_nan());
}

#[test]
fn cholesky_of_complex_matrices() {
    let device = support::device();
    let n = 45;
    let parts: Vec<Complex<f64>> =
        uniform(n * n, 3).iter().zip(uniform(n * n, 4)).map(|(&a, b)| Complex::new(a, b)).collect();
    let gram = |a: &[Complex<f64>], i: usize, j: usize| {
        (0..n).map(|k| a[i * n + k] * a[j * n + k].conj()).sum::<Complex<f64>>()
    };
    let positive: Vec<Complex<f64>> = (0..n * n)
        .map(|at| gram(&parts, at / n, at % n) + if at / n == at % n { n as f64 } else { 0.0 })
        .collect();
    let factor = tensor(&positive, [n, n], &device).cholesky().to_vec::<Complex<f64>>().unwrap();
    for at in 0..n * n {
        assert!((gram(&factor, at / n, at % n) - positive[at]).norm() < 1e-12 * n as f64);
        assert!(at / n >= at % n || factor[at] == Complex::new(0.0, 0.0));
    }
}

#[test]
fn triangular_solve_with_every_option() {
    let device = support::device();
    for (batch, n, systems) in [(3, 1, 4), (2, 31, 200), (1, 70, 1), (4, 70, 5), (1, 130, 150)] {
        // Diagonally dominant, so well conditioned.
        let mut values = uniform(batch * n * n, 1);
        for (at, value) in values.iter_mut().enumerate() {
            let is_diagonal = at / n % n == at % n;
            *value = if is_diagonal { 1.5 + *value / 4.0 } else { *value / n as f64 };
        }
        let a = tensor(&values, [batch, n, n], &device);
        for kind in 0..24 {
            let options = TriangularOptions {
                lower: kind & 1 == 0,
                left_side: kind & 2 == 0,
                unit_diagonal: kind & 4 == 0,
                transpose: [Transpose::No, Transpose::Transpose, Transpose::Adjoint][kind / 8],
            };
            let shape = if options.left_side { [batch, n, systems] } else { [batch, systems, n] };
            let b = tensor(&uniform(batch * n * systems, 2), shape, &device);
            let x = a.solve_triangular(&b, options);
            let referenced = |at: usize| match (at / n % n).cmp(&(at % n)) {
                Ordering::Equal if options.unit_diagonal => 1.0,
                Ordering::Less if options.lower => 0.0,
                Ordering::Greater if !options.lower => 0.0,
                _ => values[at],
            };
            let referenced: Vec<f64> = (0..values.len()).map(referenced).collect();
            let mut triangle = tensor(&referenced, [batch, n, n], &device);
            if options.transpose != Transpose::No {
                triangle = triangle.swap_dims(1, 2);
            }
            let reconstructed =
                if options.left_side { triangle.matmul(&x) } else { x.matmul(&triangle) };
            let error = max_difference(&reconstructed, &b);
            assert!(error < 1e-13, "{batch} {n} {systems} {kind}: {error}");
        }
    }
}
