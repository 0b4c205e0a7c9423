//! Sort, top-k, scatter, Cholesky and triangular solve on the device, against the reference interpreter.

use crate::support::{Queue, device, enqueue, label};
use half::{bf16, f16};
use inflight_backend::{Buffer, Command, Fault, FaultKind, RoutineCall};
use inflight_ir::elementwise::{BinaryOp, CompareOp};
use inflight_ir::graph::{
    Combine, FloatOrder, Graph, NodeId, Op, ScalarFunction, SortKey, SortOrder, SortResult,
    Transpose,
};
use inflight_ir::interpret::{Array, interpret};
use inflight_ir::plan::{Step, plan};
use inflight_ir::{DType, Element, Shape};
use num_complex::Complex;
use std::sync::Arc;

/// A linear congruential generator.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        self.0 >> 24
    }

    /// Between -1 and 1.
    fn real(&mut self) -> f64 {
        (self.next() % 20001) as f64 / 10000.0 - 1.0
    }
}

/// A graph of one op, for the reference interpreter and the planner.
fn graph_of(op: Op, operands: &[Array]) -> Graph {
    let mut graph = Graph::default();
    let inputs: Vec<NodeId> = operands.iter().map(|x| graph.input(&x.shape, x.dtype)).collect();
    let output = graph.push(op, &inputs).expect("operands that fit");
    graph.outputs = vec![output];
    graph
}

/// Runs the op on a device with this many threads.
fn run(graph: &Graph, operands: &[Array], threads: usize) -> Result<Array, Fault> {
    let plan = plan(graph);
    let [Step::Routine(step)] = &plan.steps[..] else { panic!("one routine") };
    let node = graph.node(graph.outputs[0]);
    let backend = device(threads);
    let mut queue = Queue::new(&backend);
    let buffers: Vec<Arc<Buffer>> = operands.iter().map(device_buffer).collect();
    let result = Buffer::declare(node.shape.element_count() * node.dtype.size());
    let inputs = step.operands.iter().map(|&id| plan.buffers[id as usize].input.expect("an input"));
    let call = RoutineCall {
        routine: step.routine.clone(),
        operands: inputs.map(|input| buffers[input].clone()).collect(),
        result: result.clone(),
        label: label(),
    };
    enqueue(&queue.stream, Command::Routine(Box::new(call)));
    let bytes = queue.read::<u8>(&result)?;
    Ok(Array { shape: node.shape.clone(), dtype: node.dtype, bytes })
}

fn device_buffer(array: &Array) -> Arc<Buffer> {
    // 64-bit words are aligned for any dtype.
    let mut words: Vec<u64> = vec![0; array.bytes.len().div_ceil(8)];
    for (word, bytes) in words.iter_mut().zip(array.bytes.chunks(8)) {
        let mut all = [0; 8];
        all[..bytes.len()].copy_from_slice(bytes);
        *word = u64::from_le_bytes(all);
    }
    Buffer::with_memory(inflight_backend::Memory::adopt(words))
}

fn check_exact(op: Op, operands: &[Array]) {
    let graph = graph_of(op, operands);
    let expected = interpret(&graph, operands).remove(0);
    for threads in [1, 3] {
        let found = run(&graph, operands, threads).unwrap();
        assert_eq!(found.shape, expected.shape);
        assert!(found.bytes == expected.bytes, "{:?} with {threads} threads", graph.nodes);
    }
}

/// Random elements of any dtype, with repeats; floats include zeros of both signs, infinities and NaN.
fn elements(dtype: DType, shape: Shape, random: &mut Random) -> Array {
    let values = (0..shape.element_count()).map(|_| {
        let bits = random.next();
        match (dtype.is_float(), bits % 16) {
            (true, 0) => (-0.0f64).to_scalar().cast(dtype),
            (true, 1) => 0.0f64.to_scalar().cast(dtype),
            (true, 2) if bits.is_multiple_of(5) => f64::NAN.to_scalar().cast(dtype),
            (true, 3) if bits.is_multiple_of(5) => f64::NEG_INFINITY.to_scalar().cast(dtype),
            (true, _) => ((bits % 1000) as f64 / 8.0 - 60.0).to_scalar().cast(dtype),
            _ => (bits as i64 - (1 << 38)).to_scalar().cast(dtype),
        }
    });
    Array::from_scalars(values.collect::<Vec<_>>(), &shape, dtype)
}

fn key_order(keys: &[SortKey]) -> SortOrder {
    SortOrder::Keys(keys.iter().copied().collect())
}

#[test]
fn every_dtype_sorts_ascending_and_descending() {
    let mut random = Random(7);
    for dtype in DType::ALL.into_iter().filter(|dtype| !dtype.is_complex()) {
        for (shape, axis) in [([3, 700, 2], 1), ([5, 1, 9], 2), ([1, 40, 3], 0), ([2, 3, 1300], 2)]
        {
            let x = elements(dtype, Shape::from(shape), &mut random);
            for descending in [false, true] {
                for floats in [FloatOrder::Numeric, FloatOrder::Total] {
                    let few = SortResult::FirstPositions(x.shape[axis].min(9));
                    for result in [SortResult::Values, SortResult::Positions, few] {
                        let order = key_order(&[SortKey { descending, floats }]);
                        check_exact(Op::Sort { axis, order, result }, std::slice::from_ref(&x));
                    }
                }
            }
        }
    }
}

#[test]
fn long_lines_sort_in_parallel() {
    let mut random = Random(11);
    for dtype in [DType::F32, DType::I64, DType::U8, DType::F16] {
        let x = elements(dtype, Shape::from([2, 100_000]), &mut random);
        for descending in [false, true] {
            let [few, many] = [100, 60_000].map(SortResult::FirstPositions);
            for result in [SortResult::Values, SortResult::Positions, few, many] {
                let order = key_order(&[SortKey { descending, ..SortKey::default() }]);
                check_exact(Op::Sort { axis: 1, order, result }, std::slice::from_ref(&x));
            }
        }
    }
}

#[test]
fn later_keys_break_ties() {
    let mut random = Random(13);
    for extent in [50, 70_000] {
        let shape = Shape::from([extent, 2]);
        let coarse: Vec<u8> =
            (0..shape.element_count()).map(|_| (random.next() % 5) as u8).collect();
        let keys = [
            Array::from_vec(coarse, &shape),
            elements(DType::BF16, shape.clone(), &mut random),
            elements(DType::I32, shape, &mut random),
        ];
        let order = key_order(&[
            SortKey { descending: true, ..SortKey::default() },
            SortKey::default(),
            SortKey { descending: true, ..SortKey::default() },
        ]);
        for result in [SortResult::Positions, SortResult::FirstPositions(20)] {
            check_exact(Op::Sort { axis: 0, order: order.clone(), result }, &keys);
        }
    }
}

/// Whether `a mod 16 < b mod 16`.
fn remainder_comparator() -> ScalarFunction {
    let mut graph = Graph::default();
    let inputs = [graph.input((), DType::I32), graph.input((), DType::I32)];
    let sixteen = graph.scalar(16i32);
    let rest =
        inputs.map(|input| graph.push(Op::Binary(BinaryOp::Rem), &[input, sixteen]).unwrap());
    let less = graph.push(Op::Compare(CompareOp::Lt), &rest).unwrap();
    graph.outputs = vec![less];
    ScalarFunction::new(graph).unwrap()
}

#[test]
fn a_comparator_function_defines_the_order() {
    // The long line is nearly sorted: the reference uses insertion sort.
    for (extent, width) in [(60, 3), (6000, 1)] {
        let value = |i: usize| (i * 16 / (extent * width) + 16 * (i % 7)) as i32;
        let values = (0..extent * width).map(|i| value(i) + (i % 97 == 0) as i32).collect();
        let x = Array::from_vec(values, [extent, width]);
        for result in [SortResult::Values, SortResult::Positions, SortResult::FirstPositions(5)] {
            let order = SortOrder::Comparator(remainder_comparator());
            check_exact(Op::Sort { axis: 0, order, result }, std::slice::from_ref(&x));
        }
    }
}

#[test]
fn scatter_combines_updates_in_order() {
    let mut graph = Graph::default();
    let (old, update) = (graph.input((), DType::I32), graph.input((), DType::I32));
    let three = graph.scalar(3i32);
    let scaled = graph.push(Op::Binary(BinaryOp::Mul), &[old, three]).unwrap();
    let sum = graph.push(Op::Binary(BinaryOp::Add), &[scaled, update]).unwrap();
    graph.outputs = vec![sum];
    let combine = Some(Combine::Function(ScalarFunction::new(graph).unwrap()));
    let mut random = Random(3);
    for (shape, updates) in [([4, 9, 3], 20), ([1, 5, 1], 0), ([200, 7, 11], 13)] {
        let x = elements(DType::I32, Shape::from(shape), &mut random);
        let other = Shape::from(shape).with(1, updates);
        let index: Vec<i8> =
            (0..other.element_count()).map(|_| (random.next() % 14) as i8 - 2).collect();
        let operands =
            [x, Array::from_vec(index, &other), elements(DType::I32, other, &mut random)];
        check_exact(Op::Scatter { axis: 1, combine: combine.clone() }, &operands);
    }
}

/// Converts elements to complex values.
fn complex_values(array: &Array) -> Vec<Complex<f64>> {
    array.to_vec()
}

fn from_complex_values(values: Vec<Complex<f64>>, shape: &Shape, dtype: DType) -> Array {
    let cast = |value: Complex<f64>| match dtype.is_complex() {
        true => value.to_scalar().cast(dtype),
        false => value.re.to_scalar().cast(dtype),
    };
    Array::from_scalars(values.into_iter().map(cast), shape, dtype)
}

/// Random diagonally dominant matrices, Hermitian if requested.
fn matrices(batch: usize, n: usize, dtype: DType, hermitian: bool, random: &mut Random) -> Array {
    let mut values = Vec::new();
    for _ in 0..batch {
        let mut matrix = vec![Complex::new(0.0, 0.0); n * n];
        for row in 0..n {
            for column in 0..n {
                let value = Complex::new(random.real(), random.real()) / (n as f64);
                matrix[row * n + column] = value;
                if hermitian && column < row {
                    matrix[column * n + row] = value.conj();
                }
            }
            matrix[row * n + row] = Complex::new(2.0 + random.real() * 0.5, 0.0);
        }
        if hermitian {
            for row in 0..n {
                for column in 0..row {
                    matrix[column * n + row] = matrix[row * n + column].conj();
                }
            }
        }
        values.extend(matrix);
    }
    from_complex_values(values, &Shape::from([batch, n, n]), dtype)
}

fn tolerance(dtype: DType) -> f64 {
    match dtype {
        DType::F16 => f16::EPSILON.to_f64() * 2.0,
        DType::BF16 => bf16::EPSILON.to_f64() * 2.0,
        DType::F64 | DType::C128 => 1e-13,
        _ => 2e-6,
    }
}

fn check_near(op: Op, operands: &[Array]) {
    let graph = graph_of(op, operands);
    let expected = interpret(&graph, operands).remove(0);
    for threads in [1, 3] {
        let found = run(&graph, operands, threads).unwrap();
        let pairs = complex_values(&found).into_iter().zip(complex_values(&expected));
        let worst = pairs.map(|(a, b)| (a - b).norm()).fold(0.0, f64::max);
        assert!(worst <= tolerance(expected.dtype), "{worst} of {:?}", graph.nodes);
    }
}

const CONTINUOUS: [DType; 6] =
    [DType::F16, DType::BF16, DType::F32, DType::F64, DType::C64, DType::C128];

#[test]
fn cholesky_matches_the_reference() {
    let mut random = Random(5);
    for dtype in CONTINUOUS {
        for (batch, n) in [(1, 1), (3, 5), (7, 64), (2, 97)] {
            let x = matrices(batch, n, dtype, true, &mut random);
            for lower in [true, false] {
                check_near(Op::Cholesky { lower }, std::slice::from_ref(&x));
            }
        }
    }
    let large = matrices(1, 300, DType::F64, true, &mut random);
    check_near(Op::Cholesky { lower: true }, &[large]);
}

#[test]
fn cholesky_of_an_indefinite_matrix_is_nan() {
    let x = Array::from_vec(vec![1.0f32, 0.0, 0.0, 0.0, -1.0, 0.0, 0.0, 0.0, 1.0], [3, 3]);
    let graph = graph_of(Op::Cholesky { lower: true }, std::slice::from_ref(&x));
    let factor: Vec<f32> = run(&graph, &[x], 1).unwrap().to_vec();
    assert_eq!(factor[..4], [1.0, 0.0, 0.0, 0.0]);
    assert!(factor[4].is_nan());
    assert_eq!([factor[1], factor[2], factor[5]], [0.0; 3]);
}

#[test]
fn triangular_solve_matches_the_reference() {
    let mut random = Random(17);
    for dtype in CONTINUOUS {
        for (batch, n, systems) in [(1, 1, 1), (3, 5, 4), (2, 70, 33), (1, 100, 3)] {
            let a = matrices(batch, n, dtype, false, &mut random);
            for left_side in [true, false] {
                let extents = if left_side { [batch, n, systems] } else { [batch, systems, n] };
                let shape = Shape::from(extents);
                let values = (0..shape.element_count())
                    .map(|_| Complex::new(random.real(), random.real()) / 2.0)
                    .collect();
                let operands = [a.clone(), from_complex_values(values, &shape, dtype)];
                for lower in [true, false] {
                    for unit_diagonal in [true, false] {
                        use Transpose as T;
                        for transpose in [T::No, T::Transpose, T::Adjoint] {
                            let op =
                                Op::TriangularSolve { left_side, lower, unit_diagonal, transpose };
                            check_near(op, &operands);
                        }
                    }
                }
            }
        }
    }
}

#[test]
fn a_failed_operand_fails_the_result() {
    let x = Array::from_vec(vec![1.0f32, 2.0], 2);
    let order = SortOrder::ascending(1);
    let graph = graph_of(Op::Sort { axis: 0, order, result: SortResult::Values }, &[x]);
    let plan = plan(&graph);
    let Step::Routine(step) = &plan.steps[0] else { panic!("a routine") };
    let backend = device(1);
    let mut queue = Queue::new(&backend);
    let cause = FaultKind::Unsupported("the cause".into());
    let result = Buffer::declare(8);
    let call = RoutineCall {
        routine: step.routine.clone(),
        operands: [Buffer::failed(8, cause.clone().into())].into_iter().collect(),
        result: result.clone(),
        label: label(),
    };
    enqueue(&queue.stream, Command::Routine(Box::new(call)));
    assert_eq!(queue.read::<f32>(&result).unwrap_err().kind, cause);
    assert!(result.memory().is_none(), "a routine that does not run allocates no memory");
}
