//! One small case of every op.

use super::*;
use crate::Axes;
use crate::elementwise::{ArgOp, BinaryOp, CombineOp, CompareOp, UnaryOp};
use crate::graph::{Combine, DotAxes, NodeId, PadAxis, ScalarFunction, SliceAxis, WindowAxis};
use half::f16;
use num_complex::Complex;
use smallvec::smallvec;
use std::slice::from_ref;

/// The value of one op applied to these operands.
fn apply(op: Op, operands: &[Array]) -> Array {
    let mut graph = Graph::default();
    let inputs: Vec<NodeId> =
        operands.iter().map(|operand| graph.input(&operand.shape, operand.dtype)).collect();
    let output = graph.push(op, &inputs).expect("operands that fit");
    graph.outputs.push(output);
    interpret(&graph, operands).pop().expect("one output")
}

fn array<T: Element>(values: &[T], shape: impl Into<Shape>) -> Array {
    Array::from_vec(values.to_vec(), shape)
}

/// 0, 1, 2, … in a shape.
fn counted(shape: impl Into<Shape>) -> Array {
    let shape = shape.into();
    Array::from_vec((0..shape.element_count() as i32).collect(), shape)
}

#[test]
fn graph_evaluates_in_order() {
    let mut graph = Graph::default();
    let two = graph.scalar(2.0f32);
    let x = graph.input([3], DType::F32);
    let half = graph.scalar(0.5f32);
    let y = graph.input((), DType::F32);
    let product = graph.push(Op::Binary(BinaryOp::Mul), &[x, two]).unwrap();
    let sum = graph.push(Op::Binary(BinaryOp::Add), &[product, y]).unwrap();
    let scaled = graph.push(Op::Binary(BinaryOp::Mul), &[sum, half]).unwrap();
    graph.outputs = vec![scaled, x, scaled];
    let inputs = [array(&[1.0f32, 2.0, 3.0], 3), array(&[10.0f32], ())];
    let outputs = interpret(&graph, &inputs);
    assert_eq!(outputs.len(), 3);
    assert_eq!(outputs[0].to_vec::<f32>(), [6.0, 7.0, 8.0]);
    assert_eq!(outputs[1], inputs[0]);
    assert_eq!(outputs[2], outputs[0]);
}

#[test]
#[should_panic(expected = "the value of a node input")]
fn an_input_of_another_shape_panics() {
    let mut graph = Graph::default();
    graph.input([3], DType::F32);
    interpret(&graph, &[array(&[1.0f32], 1)]);
}

#[test]
#[should_panic(expected = "more values than inputs")]
fn too_many_inputs_panic() {
    interpret(&Graph::default(), &[array(&[1.0f32], 1)]);
}

#[test]
fn iota() {
    let count = |axis, dtype| apply(Op::Iota { axis, shape: Shape::from([2, 3]), dtype }, &[]);
    assert_eq!(count(0, DType::I64).to_vec::<i64>(), [0, 0, 0, 1, 1, 1]);
    assert_eq!(count(1, DType::F16).to_vec::<f16>()[1], f16::ONE);
    let complex = count(1, DType::C64).to_vec::<Complex<f32>>();
    assert_eq!(complex[2], Complex::new(2.0, 0.0));
    let wrapped = apply(Op::Iota { axis: 0, shape: Shape::from(257), dtype: DType::U8 }, &[]);
    assert_eq!(wrapped.to_vec::<u8>()[256], 0);
}

#[test]
fn elementwise_ops_broadcast() {
    let column = array(&[10, 20], [2, 1]);
    let row = array(&[1, 2, 3], 3);
    let sum = apply(Op::Binary(BinaryOp::Add), &[column.clone(), row.clone()]);
    assert_eq!(sum, array(&[11, 12, 13, 21, 22, 23], [2, 3]));
    let less = apply(Op::Compare(CompareOp::Lt), &[row.clone(), array(&[2], ())]);
    assert_eq!(less, array(&[true, false, false], 3));
    let chosen = apply(Op::Select, &[less, column, row]);
    assert_eq!(chosen, array(&[10, 2, 3, 20, 2, 3], [2, 3]));
    let negated = apply(Op::Unary(UnaryOp::Neg), &[array(&[1.5f64], ())]);
    assert_eq!(negated, array(&[-1.5f64], ()));
    let empty = Array::full([0, 1], 1.0f32.to_scalar());
    let empty = apply(Op::Binary(BinaryOp::Add), &[empty, array(&[1.0f32, 2.0], 2)]);
    assert_eq!((empty.shape, empty.bytes.len()), (Shape::from([0, 2]), 0));
}

#[test]
fn select_copies_bits() {
    let payload = f32::from_bits(0x7fc0_1234);
    let operands = [array(&[true], 1), array(&[payload], 1), array(&[0.0f32], 1)];
    assert_eq!(apply(Op::Select, &operands).bytes, payload.to_bits().to_le_bytes());
}

#[test]
fn casts() {
    let cast = apply(Op::Cast(DType::U8), &[array(&[-1.0f32, 300.0, 2.9, f32::NAN], 4)]);
    assert_eq!(cast, array(&[0u8, 255, 2, 0], 4));
    let bits = apply(Op::Bitcast(DType::U32), &[array(&[1.0f32, -0.0], 2)]);
    assert_eq!(bits, array(&[0x3f80_0000u32, 0x8000_0000], 2));
    assert_eq!(apply(Op::Bitcast(DType::F32), &[bits]), array(&[1.0f32, -0.0], 2));
    let complex = apply(Op::Bitcast(DType::C64), &[array(&[0x4000_0000_3f80_0000u64], 1)]);
    assert_eq!(complex, array(&[Complex::new(1.0f32, 2.0)], 1));
}

#[test]
fn views() {
    let x = counted([2, 3]);
    let reshaped = apply(Op::Reshape(Shape::from([3, 1, 2])), from_ref(&x));
    assert_eq!(reshaped, counted([3, 1, 2]));
    let transposed = apply(Op::Permute(smallvec![1, 0]), from_ref(&x));
    assert_eq!(transposed, array(&[0, 3, 1, 4, 2, 5], [3, 2]));
    let rolled = apply(Op::Permute(smallvec![2, 0, 1]), &[counted([2, 1, 3])]);
    assert_eq!(rolled, array(&[0, 3, 1, 4, 2, 5], [3, 2, 1]));
    assert_eq!(apply(Op::Permute(smallvec![]), &[counted(())]), counted(()));
    let repeated = apply(Op::Broadcast(Shape::from([2, 2, 3])), &[array(&[7, 8], [2, 1])]);
    assert_eq!(repeated.to_vec::<i32>(), [7, 7, 7, 8, 8, 8, 7, 7, 7, 8, 8, 8]);
    let nothing = apply(Op::Broadcast(Shape::from([0, 3])), &[counted([1, 3])]);
    assert_eq!(nothing.element_count(), 0);
}

fn slice_axis(start: usize, step: isize, len: usize) -> SliceAxis {
    SliceAxis { start, step, len }
}

#[test]
fn slice() {
    let x = counted([3, 4]);
    let take = |rows, columns| apply(Op::Slice(smallvec![rows, columns]), from_ref(&x));
    assert_eq!(take(slice_axis(1, 1, 2), slice_axis(0, 3, 2)), array(&[4, 7, 8, 11], [2, 2]));
    assert_eq!(take(slice_axis(2, -2, 2), slice_axis(3, -1, 2)), array(&[11, 10, 3, 2], [2, 2]));
    assert_eq!(take(SliceAxis::full(3), slice_axis(9, 1, 0)).shape, Shape::from([3, 0]));
    assert_eq!(apply(Op::Slice(smallvec![]), &[counted(())]), counted(()));
}

#[test]
fn assign() {
    let update = array(&[-1, -2], [1, 2]);
    let slices = smallvec![slice_axis(1, 1, 1), slice_axis(2, -2, 2)];
    let result = apply(Op::Assign(slices), &[counted([2, 3]), update]);
    assert_eq!(result, array(&[0, 1, 2, -2, 4, -1], [2, 3]));
    let empty = Array::full([2, 0], 0i32.to_scalar());
    let slices = smallvec![SliceAxis::full(2), slice_axis(0, 1, 0)];
    assert_eq!(apply(Op::Assign(slices), &[counted([2, 3]), empty]), counted([2, 3]));
}

#[test]
fn pad() {
    let fill = array(&[9], ());
    let pad = |x: Array, low, high, interior| {
        let entry = PadAxis { low, high, interior };
        apply(Op::Pad(smallvec![entry]), &[x, fill.clone()]).to_vec::<i32>()
    };
    assert_eq!(pad(counted(3), 1, 2, 0), [9, 0, 1, 2, 9, 9]);
    assert_eq!(pad(counted(3), 0, 0, 2), [0, 9, 9, 1, 9, 9, 2]);
    assert_eq!(pad(counted(3), -1, -1, 0), [1]);
    assert_eq!(pad(counted(3), -1, 1, 1), [9, 1, 9, 2, 9]);
    assert_eq!(pad(counted(2), -3, 4, 0), [9, 9, 9]);
    assert_eq!(pad(counted(0), 1, 1, 5), [9, 9]);
    let two = smallvec![PadAxis { low: 1, ..PadAxis::default() }, PadAxis::default()];
    let result = apply(Op::Pad(two), &[counted([1, 2]), fill.clone()]);
    assert_eq!(result, array(&[9, 9, 0, 1], [2, 2]));
    assert_eq!(apply(Op::Pad(smallvec![]), &[counted(()), fill]), counted(()));
}

#[test]
fn concat() {
    let (x, y) = (counted([2, 2]), array(&[7, 8], [2, 1]));
    let empty = Array::full([2, 0], 0i32.to_scalar());
    let joined = apply(Op::Concat { axis: 1 }, &[x.clone(), empty, y]);
    assert_eq!(joined, array(&[0, 1, 7, 2, 3, 8], [2, 3]));
    let stacked = apply(Op::Concat { axis: 0 }, &[x.clone(), x.clone()]);
    assert_eq!(stacked, array(&[0, 1, 2, 3, 0, 1, 2, 3], [4, 2]));
    assert_eq!(apply(Op::Concat { axis: 0 }, from_ref(&x)), x);
}

#[test]
fn gather_clamps_indices() {
    let x = array(&[10, 11, 12, 20, 21, 22], [2, 3]);
    let index = array(&[2i64, 0, -5, i64::MAX], [2, 2]);
    let columns = apply(Op::Gather { axis: 1 }, &[x.clone(), index]);
    assert_eq!(columns, array(&[12, 10, 20, 22], [2, 2]));
    let index = array(&[1u8, 0, 255], [1, 3]);
    let rows = apply(Op::Gather { axis: 0 }, &[x, index]);
    assert_eq!(rows, array(&[20, 11, 22], [1, 3]));
    let huge = apply(Op::Gather { axis: 0 }, &[counted(3), array(&[u64::MAX], 1)]);
    assert_eq!(huge, array(&[2], 1));
    let nothing = Array::full([0], 0i32.to_scalar());
    assert_eq!(apply(Op::Gather { axis: 0 }, &[counted(0), nothing]).element_count(), 0);
}

#[test]
fn scatter_drops_indices_out_of_range() {
    let scatter = |combine, index: &[i32]| {
        let updates: Vec<i32> = (1..=index.len() as i32).map(|i| 10 * i).collect();
        let operands = [counted(4), array(index, index.len()), array(&updates, index.len())];
        apply(Op::Scatter { axis: 0, combine }, &operands).to_vec::<i32>()
    };
    assert_eq!(scatter(None, &[3, 0, -1, 4]), [20, 1, 2, 10]);
    assert_eq!(scatter(None, &[1, 1, 1]), [0, 30, 2, 3]);
    assert_eq!(scatter(None, &[]), [0, 1, 2, 3]);
    assert_eq!(scatter(Some(CombineOp::Sum.into()), &[1, 1, 2, 9]), [0, 31, 32, 3]);
    assert_eq!(scatter(Some(CombineOp::Product.into()), &[0, 3]), [0, 1, 2, 60]);
    assert_eq!(scatter(Some(CombineOp::Min.into()), &[2, 0]), [0, 1, 2, 3]);
    let x = Array::full([2, 2], 0u8.to_scalar());
    let operands = [x, array(&[1i8, 0], [1, 2]), array(&[5u8, 6], [1, 2])];
    let result = apply(Op::Scatter { axis: 0, combine: None }, &operands);
    assert_eq!(result, array(&[0u8, 6, 5, 0], [2, 2]));
}

#[test]
fn overlapping_windows_repeat_elements() {
    let axis = |size, stride, dilation| WindowAxis { size, stride, dilation };
    let windows = apply(Op::Windows(smallvec![axis(2, 2, 1)]), &[counted(5)]);
    assert_eq!(windows, array(&[0, 1, 2, 3], [2, 2]));
    let windows = apply(Op::Windows(smallvec![axis(2, 1, 1), axis(2, 1, 2)]), &[counted([2, 4])]);
    assert_eq!(windows, array(&[0, 2, 4, 6, 1, 3, 5, 7], [1, 2, 2, 2]));
}

#[test]
fn scatter_applies_its_function_in_order() {
    let mut graph = Graph::default();
    let (old, update) = (graph.input((), DType::I32), graph.input((), DType::I32));
    let ten = graph.scalar(10i32);
    let shifted = graph.push(Op::Binary(BinaryOp::Mul), &[old, ten]).unwrap();
    let joined = graph.push(Op::Binary(BinaryOp::Add), &[shifted, update]).unwrap();
    graph.outputs = vec![joined];
    let combine = Some(Combine::Function(ScalarFunction::new(graph).unwrap()));
    let operands = [counted(3), array(&[1, 2, 1, 5], 4), array(&[4, 5, 6, 7], 4)];
    let result = apply(Op::Scatter { axis: 0, combine }, &operands);
    assert_eq!(result, array(&[0, 146, 25], 3));
}

#[test]
fn scatter_sums_apply_in_order() {
    let operands = [array(&[0.0f32], 1), array(&[0u8; 3], 3), array(&[1e8f32, 1.0, -1e8], 3)];
    let sum = apply(Op::Scatter { axis: 0, combine: Some(CombineOp::Sum.into()) }, &operands);
    assert_eq!(sum, array(&[0.0f32], 1));
}

fn reduce(op: CombineOp, axes: &[usize], x: Array) -> Array {
    apply(Op::Reduce { op, axes: Axes::from_slice(axes) }, &[x])
}

#[test]
fn reductions() {
    let x = || counted([2, 3]);
    assert_eq!(reduce(CombineOp::Sum, &[0], x()), array(&[3, 5, 7], 3));
    assert_eq!(reduce(CombineOp::Sum, &[1], x()), array(&[3, 12], 2));
    assert_eq!(reduce(CombineOp::Sum, &[0, 1], x()), array(&[15], ()));
    assert_eq!(reduce(CombineOp::Sum, &[], x()), x());
    assert_eq!(reduce(CombineOp::Sum, &[], counted(())), counted(()));
    assert_eq!(reduce(CombineOp::Max, &[0, 2], counted([2, 2, 2])), array(&[5, 7], 2));
    assert_eq!(reduce(CombineOp::Product, &[1], x()), array(&[0, 60], 2));
    assert_eq!(reduce(CombineOp::Min, &[1], x()), array(&[0, 3], 2));
    assert_eq!(reduce(CombineOp::Xor, &[1], x()), array(&[3, 2], 2));
    assert_eq!(reduce(CombineOp::And, &[1], array(&[6, 3], [1, 2])), array(&[2], 1));
    let flags = || array(&[true, false, true, true], [2, 2]);
    assert_eq!(reduce(CombineOp::And, &[1], flags()), array(&[false, true], 2));
    assert_eq!(reduce(CombineOp::Or, &[1], flags()), array(&[true, true], 2));
    assert_eq!(reduce(CombineOp::Sum, &[0, 1], flags()), array(&[true], ()));
}

#[test]
fn reductions_of_floats() {
    let ones = Array::full([3000], f16::ONE.to_scalar());
    assert_eq!(reduce(CombineOp::Sum, &[0], ones), array(&[f16::from_f32(3000.0)], ()));
    for op in [CombineOp::Min, CombineOp::Max] {
        let result = reduce(op, &[0], array(&[1.0f32, f32::NAN, 2.0], 3));
        assert!(result.to_vec::<f32>()[0].is_nan());
    }
    let complex = [Complex::new(1.0f64, 2.0), Complex::new(3.0, -1.0)];
    let product = reduce(CombineOp::Product, &[0], array(&complex, 2));
    assert_eq!(product, array(&[Complex::new(5.0f64, 5.0)], ()));
}

#[test]
fn reductions_of_empty_axes() {
    let nothing = |dtype| Array::full([2, 0], Scalar::zero(dtype));
    let min = reduce(CombineOp::Min, &[1], nothing(DType::F32));
    assert_eq!(min, array(&[f32::INFINITY; 2], 2));
    assert_eq!(reduce(CombineOp::Max, &[1], nothing(DType::I8)), array(&[i8::MIN; 2], 2));
    assert_eq!(reduce(CombineOp::Product, &[1], nothing(DType::U8)), array(&[1u8; 2], 2));
    assert_eq!(reduce(CombineOp::Sum, &[0], nothing(DType::F32)).element_count(), 0);
}

#[test]
fn arg_reductions() {
    let find = |op, values: &[f32]| {
        let x = array(values, [1, values.len()]);
        apply(Op::ArgReduce { op, axis: 1 }, &[x]).to_vec::<i64>()[0]
    };
    assert_eq!(find(ArgOp::Max, &[1.0, 3.0, 3.0, 2.0]), 1);
    assert_eq!(find(ArgOp::Min, &[1.0, 0.0, -0.0, 2.0]), 1);
    for op in [ArgOp::Min, ArgOp::Max] {
        assert_eq!(find(op, &[1.0, f32::NAN, f32::INFINITY, f32::NAN, f32::NEG_INFINITY]), 1);
        assert_eq!(find(op, &[f32::NAN, 1.0]), 0);
        assert_eq!(find(op, &[5.0]), 0);
    }
    assert_eq!(find(ArgOp::Max, &[f32::NEG_INFINITY; 2]), 0);
    let x = array(&[3u64, u64::MAX, 4, 1], [2, 2]);
    let down = apply(Op::ArgReduce { op: ArgOp::Max, axis: 0 }, from_ref(&x));
    assert_eq!(down, array(&[1i64, 0], 2));
    let across = apply(Op::ArgReduce { op: ArgOp::Min, axis: 1 }, &[x]);
    assert_eq!(across, array(&[0i64, 1], 2));
    let flags = apply(Op::ArgReduce { op: ArgOp::Max, axis: 0 }, &[array(&[false, true], 2)]);
    assert_eq!(flags, array(&[1i64], ()));
}

#[test]
fn scans() {
    let scan = |op, axis, x: &Array| apply(Op::Scan { op, axis }, from_ref(x));
    let x = array(&[1, 2, 3, 4, 5, 6], [2, 3]);
    assert_eq!(scan(CombineOp::Sum, 1, &x), array(&[1, 3, 6, 4, 9, 15], [2, 3]));
    assert_eq!(scan(CombineOp::Sum, 0, &x), array(&[1, 2, 3, 5, 7, 9], [2, 3]));
    assert_eq!(scan(CombineOp::Product, 1, &x), array(&[1, 2, 6, 4, 20, 120], [2, 3]));
    let x = array(&[2.0f32, 3.0, 1.0, f32::NAN, 0.0], 5);
    let smallest = scan(CombineOp::Min, 0, &x).to_vec::<f32>();
    assert_eq!(smallest[..3], [2.0, 2.0, 1.0]);
    assert!(smallest[3].is_nan() && smallest[4].is_nan());
    let largest = scan(CombineOp::Max, 0, &array(&[2u8, 1, 3], 3));
    assert_eq!(largest, array(&[2u8, 2, 3], 3));
    // Each prefix is rounded from the exact sum, not from the previous rounded prefix.
    let x = array(&[1e8f32, 1.0, -1e8], 3);
    assert_eq!(scan(CombineOp::Sum, 0, &x), array(&[1e8f32, 1e8, 1.0], 3));
    assert_eq!(scan(CombineOp::Sum, 0, &counted([0, 2])).element_count(), 0);
}

fn dot(axes: [&[usize]; 4], a: Array, b: Array) -> Array {
    let [a_batch, b_batch, a_contract, b_contract] = axes.map(Axes::from_slice);
    apply(Op::Dot(DotAxes { a_batch, b_batch, a_contract, b_contract }), &[a, b])
}

#[test]
fn dot_of_integers_and_floats() {
    let matmul = dot([&[], &[], &[1], &[0]], counted([2, 3]), counted([3, 2]));
    assert_eq!(matmul, array(&[10, 13, 28, 40], [2, 2]));
    let transposed = dot([&[], &[], &[1], &[1]], counted([2, 3]), counted([2, 3]));
    assert_eq!(transposed, array(&[5, 14, 14, 50], [2, 2]));
    let outer = dot([&[]; 4], counted(2), counted(3));
    assert_eq!(outer, array(&[0, 0, 0, 0, 1, 2], [2, 3]));
    let inner = dot([&[], &[], &[0], &[0]], counted(4), counted(4));
    assert_eq!(inner, array(&[14], ()));
    // Batch axis last in b; b is [[0, 1], [2, 3]] with batches [0, 2] and [1, 3].
    let batched = dot([&[0], &[1], &[1], &[0]], counted([2, 2]), counted([2, 2]));
    assert_eq!(batched, array(&[2, 2 + 9], 2));
    let two = dot([&[], &[], &[0, 1], &[1, 0]], counted([2, 3]), counted([3, 2]));
    assert_eq!(two, array(&[2 + 8 + 3 + 12 + 25], ()));
}

#[test]
fn dot_of_other_dtypes() {
    let floats =
        dot([&[], &[], &[0], &[0]], array(&[1e8f32, 1.0, -1e8], 3), array(&[1.0f32, 1.0, 1.0], 3));
    assert_eq!(floats, array(&[1.0f32], ()));
    let bytes = dot([&[], &[], &[0], &[0]], array(&[100i8, 100], 2), array(&[2i8, 3], 2));
    assert_eq!(bytes, array(&[-12i8], ()));
    let i = array(&[Complex::new(0.0f32, 1.0)], 1);
    let complex = dot([&[], &[], &[0], &[0]], i.clone(), i);
    assert_eq!(complex, array(&[Complex::new(-1.0f32, 0.0)], ()));
    let empty = Array::full([2, 0], 0.0f64.to_scalar());
    let zeros = dot([&[], &[], &[1], &[1]], empty.clone(), empty);
    assert_eq!(zeros, array(&[0.0f64; 4], [2, 2]));
}
