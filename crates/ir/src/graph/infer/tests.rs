use super::*;
use crate::elementwise::{ArgOp, BinaryOp, CombineOp, CompareOp, UnaryOp};
use crate::graph::{Graph, Transpose};
use smallvec::smallvec;

fn infer_of(op: &Op, operands: &[(&[usize], DType)]) -> Result<(Shape, DType), InferError> {
    let shapes: Vec<Shape> = operands.iter().map(|(extents, _)| Shape::new(extents)).collect();
    let pairs: Vec<_> = shapes.iter().zip(operands).map(|(s, (_, dtype))| (s, *dtype)).collect();
    let result = infer(op, &pairs);
    let guess = plausible(op, &pairs);
    assert!(guess.0.checked_element_count().is_some());
    if let Ok(result) = &result {
        assert_eq!(*result, guess);
    }
    result
}

fn shape_of(op: &Op, operands: &[&[usize]]) -> Result<Shape, InferError> {
    let operands: Vec<_> = operands.iter().map(|&extents| (extents, DType::F32)).collect();
    Ok(infer_of(op, &operands)?.0)
}

fn plausible_of(op: &Op, operands: &[&[usize]]) -> Shape {
    let shapes: Vec<Shape> = operands.iter().map(|extents| Shape::new(extents)).collect();
    let pairs: Vec<_> = shapes.iter().map(|shape| (shape, DType::F32)).collect();
    assert!(infer(op, &pairs).is_err());
    plausible(op, &pairs).0
}

const ADD: Op = Op::Binary(BinaryOp::Add);

#[test]
fn inputs_and_constants_are_not_inferred() {
    assert_eq!(infer_of(&Op::Input, &[]), Err(InferError::NotInferred));
    assert_eq!(infer_of(&Op::Scalar, &[]), Err(InferError::NotInferred));
}

#[test]
fn operand_counts_are_checked() {
    let expect = |op: &Op, found: usize, expected: usize| {
        let operands = vec![(&[] as &[usize], DType::F32); found];
        let error = InferError::OperandCount { expected, found };
        assert_eq!(infer_of(op, &operands), Err(error));
    };
    expect(&Op::Unary(UnaryOp::Neg), 0, 1);
    expect(&ADD, 3, 2);
    expect(&Op::Select, 2, 3);
    expect(&Op::Scatter { axis: 0, combine: None }, 2, 3);
    assert_eq!(infer_of(&Op::Concat { axis: 0 }, &[]), Err(InferError::NoOperand));
}

#[test]
fn elementwise_shapes_broadcast() {
    assert_eq!(shape_of(&ADD, &[&[2, 1], &[3]]).unwrap(), Shape::from([2, 3]));
    assert_eq!(shape_of(&ADD, &[&[], &[0]]).unwrap(), Shape::from([0]));
    assert_eq!(shape_of(&ADD, &[&[1], &[0]]).unwrap(), Shape::from([0]));
    assert!(matches!(shape_of(&ADD, &[&[2], &[3]]), Err(InferError::NotBroadcastable { .. })));
    let select = [(&[2, 1][..], DType::Bool), (&[3], DType::I8), (&[], DType::I8)];
    assert_eq!(infer_of(&Op::Select, &select), Ok((Shape::from([2, 3]), DType::I8)));
}

#[test]
fn elementwise_ops_accept_exactly_their_dtypes() {
    for dtype in DType::ALL {
        for op in UnaryOp::ALL {
            let result = infer_of(&Op::Unary(op), &[(&[4], dtype)]);
            assert_eq!(result.is_ok(), unary_accepts(op).contains(dtype), "{op:?} {dtype}");
        }
        for op in BinaryOp::ALL {
            let result = infer_of(&Op::Binary(op), &[(&[4], dtype), (&[4], dtype)]);
            assert_eq!(result.is_ok(), binary_accepts(op).contains(dtype), "{op:?} {dtype}");
        }
        for op in CompareOp::ALL {
            let result = infer_of(&Op::Compare(op), &[(&[4], dtype), (&[4], dtype)]);
            let equality = matches!(op, CompareOp::Eq | CompareOp::Ne);
            assert_eq!(result.is_ok(), equality || !dtype.is_complex(), "{op:?} {dtype}");
        }
    }
    use BinaryOp as B;
    use UnaryOp as U;
    let none = |op: Op, dtype: DType| {
        let operands = vec![(&[][..], dtype); if matches!(op, Op::Unary(_)) { 1 } else { 2 }];
        let result = infer_of(&op, &operands);
        assert!(matches!(result, Err(InferError::DTypeNotAccepted { .. })), "{op:?} {dtype}");
    };
    none(Op::Binary(B::Sub), DType::Bool);
    none(Op::Binary(B::Div), DType::Bool);
    none(Op::Binary(B::Rem), DType::C64);
    none(Op::Binary(B::Max), DType::C64);
    none(Op::Binary(B::Atan2), DType::I32);
    none(Op::Binary(B::Complex), DType::F16);
    none(Op::Binary(B::ShiftLeft), DType::Bool);
    none(Op::Unary(U::Exp), DType::I32);
    none(Op::Unary(U::Erf), DType::C64);
    none(Op::Unary(U::Cbrt), DType::C128);
    none(Op::Unary(U::Not), DType::F32);
    none(Op::Unary(U::Neg), DType::Bool);
}

#[test]
fn result_dtypes() {
    let unary = |op, dtype| infer_of(&Op::Unary(op), &[(&[], dtype)]).unwrap().1;
    assert_eq!(unary(UnaryOp::Abs, DType::C64), DType::F32);
    assert_eq!(unary(UnaryOp::Abs, DType::I8), DType::I8);
    assert_eq!(unary(UnaryOp::Imag, DType::C128), DType::F64);
    assert_eq!(unary(UnaryOp::Conj, DType::C128), DType::C128);
    assert_eq!(unary(UnaryOp::IsNan, DType::F16), DType::Bool);
    let complex =
        |dtype| infer_of(&Op::Binary(BinaryOp::Complex), &[(&[], dtype), (&[], dtype)]).unwrap().1;
    assert_eq!(complex(DType::F32), DType::C64);
    assert_eq!(complex(DType::F64), DType::C128);
    let less = Op::Compare(CompareOp::Lt);
    assert_eq!(infer_of(&less, &[(&[], DType::U8), (&[], DType::U8)]).unwrap().1, DType::Bool);
    assert_eq!(infer_of(&Op::Cast(DType::BF16), &[(&[], DType::Bool)]).unwrap().1, DType::BF16);
}

#[test]
fn dtypes_must_agree() {
    let differ = Err(InferError::DTypesDiffer { first: DType::F32, other: DType::F64 });
    let two = [(&[2][..], DType::F32), (&[2][..], DType::F64)];
    assert_eq!(infer_of(&ADD, &two), differ);
    assert_eq!(infer_of(&Op::Concat { axis: 0 }, &two), differ);
    assert_eq!(infer_of(&Op::Dot(DotAxes::default()), &two), differ);
    let select = [(&[][..], DType::Bool), two[0], two[1]];
    assert_eq!(infer_of(&Op::Select, &select), differ);
    let condition = [two[0], two[0], two[0]];
    let error = InferError::ConditionNotBool { found: DType::F32 };
    assert_eq!(infer_of(&Op::Select, &condition), Err(error));
}

#[test]
fn bitcasts_keep_the_size() {
    assert!(infer_of(&Op::Bitcast(DType::U32), &[(&[3], DType::F32)]).is_ok());
    assert!(infer_of(&Op::Bitcast(DType::U8), &[(&[3], DType::Bool)]).is_ok());
    let size = InferError::BitcastSize { from: DType::F32, to: DType::U64 };
    assert_eq!(infer_of(&Op::Bitcast(DType::U64), &[(&[3], DType::F32)]), Err(size));
    let to_bool = InferError::BitcastToBool { from: DType::U8 };
    assert_eq!(infer_of(&Op::Bitcast(DType::Bool), &[(&[3], DType::U8)]), Err(to_bool));
}

#[test]
fn iotas_check_axis_and_dtype() {
    let iota = |axis, dtype| Op::Iota { axis, shape: Shape::from([2, 3]), dtype };
    assert_eq!(infer_of(&iota(1, DType::I32), &[]), Ok((Shape::from([2, 3]), DType::I32)));
    assert!(matches!(
        infer_of(&iota(2, DType::I32), &[]),
        Err(InferError::AxisOutOfRange { axis: 2, .. })
    ));
    assert!(matches!(
        infer_of(&iota(0, DType::Bool), &[]),
        Err(InferError::DTypeNotAccepted { .. })
    ));
}

#[test]
fn views() {
    let reshape = |extents: &[usize]| Op::Reshape(Shape::new(extents));
    assert_eq!(shape_of(&reshape(&[3, 2]), &[&[6]]).unwrap(), Shape::from([3, 2]));
    assert!(shape_of(&reshape(&[0, 9]), &[&[4, 0]]).is_ok());
    assert!(matches!(shape_of(&reshape(&[4]), &[&[6]]), Err(InferError::ReshapeElements { .. })));
    assert!(matches!(
        shape_of(&reshape(&[usize::MAX, 2]), &[&[6]]),
        Err(InferError::TooLarge { .. })
    ));

    let permute = |axes: &[usize]| Op::Permute(Axes::from_slice(axes));
    let permuted = shape_of(&permute(&[2, 0, 1]), &[&[4, 5, 6]]).unwrap();
    assert_eq!(permuted, Shape::from([6, 4, 5]));
    for axes in [&[0, 0, 1][..], &[0, 1], &[0, 1, 3]] {
        assert!(matches!(
            shape_of(&permute(axes), &[&[4, 5, 6]]),
            Err(InferError::NotAPermutation { .. })
        ));
    }

    let broadcast = |extents: &[usize]| Op::Broadcast(Shape::new(extents));
    assert_eq!(shape_of(&broadcast(&[2, 3]), &[&[3]]).unwrap(), Shape::from([2, 3]));
    for to in [&[2, 4][..], &[], &[1]] {
        assert!(matches!(
            shape_of(&broadcast(to), &[&[3]]),
            Err(InferError::DoesNotBroadcastTo { .. })
        ));
    }
    for to in [&[1 << 40, 1 << 40][..], &[1 << 40, 1 << 40, 0], &[0, 1 << 40, 1 << 40]] {
        assert!(matches!(shape_of(&broadcast(to), &[&[]]), Err(InferError::TooLarge { .. })));
    }
}

#[test]
fn slices_stay_in_range() {
    let slice = |start, step, len| Op::Slice(smallvec![SliceAxis { start, step, len }]);
    assert_eq!(shape_of(&slice(4, -2, 3), &[&[5]]).unwrap(), Shape::from([3]));
    assert_eq!(shape_of(&slice(7, 1, 0), &[&[5]]).unwrap(), Shape::from([0]));
    for bad in [slice(4, -2, 4), slice(3, 1, 3), slice(5, 1, 1), slice(0, 0, 2), slice(0, 0, 0)] {
        assert!(matches!(
            shape_of(&bad, &[&[5]]),
            Err(InferError::SliceOutOfRange { axis: 0, extent: 5, .. })
        ));
    }
    assert!(matches!(
        shape_of(&slice(0, 1, 1), &[&[5, 5]]),
        Err(InferError::EntryCount { found: 1, .. })
    ));
    let Op::Slice(entry) = slice(1, 2, 2) else { unreachable!() };
    let assign = Op::Assign(entry);
    assert_eq!(shape_of(&assign, &[&[5], &[2]]).unwrap(), Shape::from([5]));
    assert!(matches!(shape_of(&assign, &[&[5], &[1]]), Err(InferError::UpdateShape { .. })));
}

#[test]
fn padding_does_not_crop_more_than_the_extent() {
    let pad = |low, high, interior| Op::Pad(smallvec![PadAxis { low, high, interior }]);
    assert_eq!(shape_of(&pad(1, 2, 1), &[&[3], &[]]).unwrap(), Shape::from([8]));
    assert_eq!(shape_of(&pad(-1, -2, 0), &[&[3], &[]]).unwrap(), Shape::from([0]));
    assert_eq!(shape_of(&pad(1, 0, 9), &[&[0], &[]]).unwrap(), Shape::from([1]));
    for bad in [pad(-2, -2, 0), pad(0, 0, usize::MAX)] {
        assert!(matches!(
            shape_of(&bad, &[&[3], &[]]),
            Err(InferError::PadOutOfRange { axis: 0, extent: 3, .. })
        ));
    }
    assert!(matches!(
        shape_of(&pad(0, 0, 0), &[&[3], &[1]]),
        Err(InferError::FillNotScalar { .. })
    ));
}

#[test]
fn concat_joins_along_one_axis() {
    let concat = Op::Concat { axis: 1 };
    let joined = shape_of(&concat, &[&[2, 3], &[2, 0], &[2, 1]]).unwrap();
    assert_eq!(joined, Shape::from([2, 4]));
    for other in [&[3, 3][..], &[2]] {
        assert!(matches!(
            shape_of(&concat, &[&[2, 3], other]),
            Err(InferError::ConcatShapes { axis: 1, .. })
        ));
    }
    assert!(matches!(shape_of(&concat, &[&[2]]), Err(InferError::AxisOutOfRange { .. })));
}

#[test]
fn gather_and_scatter_agree_off_the_axis() {
    let gather = Op::Gather { axis: 1 };
    let index = |extents: &'static [usize]| (extents, DType::I32);
    let x = (&[2, 3][..], DType::F16);
    assert_eq!(infer_of(&gather, &[x, index(&[2, 7])]), Ok((Shape::from([2, 7]), DType::F16)));
    for bad in [index(&[3, 7]), index(&[7]), index(&[1, 7])] {
        assert!(matches!(
            infer_of(&gather, &[x, bad]),
            Err(InferError::IndexShape { axis: 1, .. })
        ));
    }
    let float = InferError::IndexNotInteger { found: DType::F32 };
    assert_eq!(infer_of(&gather, &[x, (&[2, 7], DType::F32)]), Err(float));
    let empty = (&[2, 0][..], DType::F16);
    assert!(infer_of(&gather, &[empty, index(&[2, 0])]).is_ok());
    assert!(matches!(
        infer_of(&gather, &[empty, index(&[2, 1])]),
        Err(InferError::EmptyAxis { axis: 1, .. })
    ));

    let scatter = |combine| Op::Scatter { axis: 1, combine };
    let update = (&[2, 7][..], DType::F16);
    let result = infer_of(&scatter(None), &[x, index(&[2, 7]), update]);
    assert_eq!(result, Ok((Shape::from([2, 3]), DType::F16)));
    assert!(matches!(
        infer_of(&scatter(None), &[x, index(&[2, 6]), update]),
        Err(InferError::UpdateShape { .. })
    ));
    assert!(matches!(
        infer_of(&scatter(Some(CombineOp::Xor.into())), &[x, index(&[2, 7]), update]),
        Err(InferError::DTypeNotAccepted { .. })
    ));
}

#[test]
fn reductions() {
    let reduce = |op, axes: &[usize]| Op::Reduce { op, axes: Axes::from_slice(axes) };
    let sum = |axes: &[usize]| shape_of(&reduce(CombineOp::Sum, axes), &[&[2, 0, 4]]);
    assert_eq!(sum(&[0, 2]).unwrap(), Shape::from([0]));
    assert_eq!(sum(&[]).unwrap(), Shape::from([2, 0, 4]));
    assert!(matches!(sum(&[2, 0]), Err(InferError::AxesNotSorted { .. })));
    assert!(matches!(sum(&[1, 1]), Err(InferError::AxesNotSorted { .. })));
    assert!(matches!(sum(&[3]), Err(InferError::AxisOutOfRange { axis: 3, .. })));
    assert!(shape_of(&reduce(CombineOp::Min, &[1]), &[&[2, 0]]).is_ok());
    for op in CombineOp::ALL {
        for dtype in DType::ALL {
            let accepted = match op {
                CombineOp::Sum | CombineOp::Product => true,
                CombineOp::Min | CombineOp::Max => !dtype.is_complex(),
                _ => dtype == DType::Bool || dtype.is_integer(),
            };
            let scan = Op::Scan { op, axis: 0 };
            assert_eq!(infer_of(&reduce(op, &[0]), &[(&[3], dtype)]).is_ok(), accepted);
            assert_eq!(infer_of(&scan, &[(&[3], dtype)]).is_ok(), accepted);
        }
    }
    let argmax = Op::ArgReduce { op: ArgOp::Max, axis: 1 };
    let result = infer_of(&argmax, &[(&[2, 3], DType::Bool)]);
    assert_eq!(result, Ok((Shape::from([2]), DType::I64)));
    assert!(matches!(shape_of(&argmax, &[&[2, 0]]), Err(InferError::EmptyAxis { .. })));
    assert!(infer_of(&argmax, &[(&[2, 3], DType::C64)]).is_err());
    let scan = Op::Scan { op: CombineOp::Sum, axis: 1 };
    assert!(matches!(shape_of(&scan, &[&[2]]), Err(InferError::AxisOutOfRange { .. })));
}

fn dot(a_batch: &[usize], b_batch: &[usize], a_contract: &[usize], b_contract: &[usize]) -> Op {
    let axes = Axes::from_slice;
    Op::Dot(DotAxes {
        a_batch: axes(a_batch),
        b_batch: axes(b_batch),
        a_contract: axes(a_contract),
        b_contract: axes(b_contract),
    })
}

#[test]
fn contractions() {
    let batched = dot(&[0], &[2], &[2], &[0]);
    assert_eq!(shape_of(&batched, &[&[7, 2, 3], &[3, 5, 7]]).unwrap(), Shape::from([7, 2, 5]));
    let outer = dot(&[], &[], &[], &[]);
    assert_eq!(shape_of(&outer, &[&[2], &[3]]).unwrap(), Shape::from([2, 3]));
    assert!(infer_of(&outer, &[(&[2], DType::Bool), (&[3], DType::Bool)]).is_err());
    let two: &[usize] = &[2, 3];
    let fails = |op: Op| shape_of(&op, &[two, two]).unwrap_err();
    assert!(matches!(
        fails(dot(&[], &[], &[1], &[0])),
        InferError::DotExtents { role: DotRole::Contract, a_axis: 1, b_axis: 0, .. }
    ));
    assert!(matches!(
        fails(dot(&[0], &[], &[], &[])),
        InferError::DotAxisCount { role: DotRole::Batch, .. }
    ));
    assert!(matches!(
        fails(dot(&[0], &[0], &[0], &[1])),
        InferError::DotAxisRepeated { axis: 0, .. }
    ));
    assert!(matches!(fails(dot(&[], &[], &[2], &[0])), InferError::AxisOutOfRange { .. }));
}

/// Nonsensical ops on any few operands give a result or an error, and never panic.
#[test]
fn inference_never_panics() {
    let shapes: [&[usize]; 8] = [&[], &[0], &[1], &[3], &[2, 3], &[3, 2], &[0, 2], &[1, 2, 3]];
    let shapes = shapes.map(Shape::new);
    let entry = SliceAxis { start: usize::MAX, step: isize::MIN, len: usize::MAX };
    let pad = PadAxis { low: isize::MIN, high: isize::MAX, interior: usize::MAX };
    let huge = Shape::from([usize::MAX, 2, 0]);
    let mut ops = vec![Op::Input, Op::Scalar, Op::Select, ADD, Op::Cast(DType::I8)];
    ops.extend([Op::Bitcast(DType::C128), Op::Reshape(huge.clone()), Op::Broadcast(huge.clone())]);
    ops.push(Op::Iota { axis: 9, shape: huge, dtype: DType::F32 });
    for axis in [0, 1, usize::MAX] {
        ops.extend([Op::Concat { axis }, Op::Gather { axis }, Op::Permute(smallvec![axis, 0])]);
        ops.push(Op::Scatter { axis, combine: Some(CombineOp::Max.into()) });
        ops.push(Op::Reduce { op: CombineOp::Sum, axes: smallvec![axis] });
        ops.push(Op::ArgReduce { op: ArgOp::Min, axis });
        ops.push(Op::Scan { op: CombineOp::And, axis });
        let few = SortResult::FirstPositions(usize::MAX);
        for result in [SortResult::Values, SortResult::Positions, few] {
            ops.push(Op::Sort { axis, order: SortOrder::ascending(1), result });
        }
        ops.push(dot(&[axis], &[0], &[1], &[axis]));
    }
    for count in 0..3 {
        ops.push(Op::Slice(smallvec![entry; count]));
        ops.push(Op::Assign(smallvec![entry; count]));
        ops.push(Op::Pad(smallvec![pad; count]));
        let window = WindowAxis { size: usize::MAX, stride: 0, dilation: usize::MAX };
        ops.push(Op::Windows(smallvec![window; count]));
        ops.push(Op::Windows(smallvec![WindowAxis { stride: 1, ..window }; count]));
    }
    ops.push(Op::Cholesky { lower: true });
    for left_side in [true, false] {
        ops.push(Op::TriangularSolve {
            left_side,
            lower: true,
            unit_diagonal: false,
            transpose: Transpose::No,
        });
    }
    let mut failures = 0;
    for op in &ops {
        for first in &shapes {
            for second in &shapes {
                let all = [(first, DType::F32), (second, DType::I64), (second, DType::F32)];
                for operands in [&all[..0], &all[..1], &all[..2], &all, &[all[0], all[2]]] {
                    assert!(plausible(op, operands).0.checked_element_count().is_some());
                    if let Err(error) = infer(op, operands) {
                        assert!(error.to_string().contains("; "), "{error}");
                        failures += 1;
                    }
                }
            }
        }
    }
    assert!(failures > 1000, "{failures}");
}

#[test]
fn window_shapes_are_positions_then_offsets() {
    let windows = |axes: &[(usize, usize, usize)]| {
        Op::Windows(
            axes.iter()
                .map(|&(size, stride, dilation)| WindowAxis { size, stride, dilation })
                .collect(),
        )
    };
    let shape = shape_of(&windows(&[(2, 2, 1), (3, 1, 2)]), &[&[6, 7]]);
    assert_eq!(shape, Ok(Shape::from([3, 3, 2, 3])));
    assert_eq!(shape_of(&windows(&[(8, 1, 1)]), &[&[7]]), Ok(Shape::from([0, 8])));
    let still = shape_of(&windows(&[(2, 0, 1)]), &[&[7]]).unwrap_err();
    assert!(still.to_string().contains("at least 1 on axis 0, found size 2, stride 0"), "{still}");
}

#[test]
fn scalar_functions_match_their_ops() {
    let mut graph = Graph::default();
    let (a, b) = (graph.input((), DType::F32), graph.input((), DType::F32));
    let less = graph.push(Op::Compare(CompareOp::Lt), &[a, b]).unwrap();
    graph.outputs = vec![less];
    let function = ScalarFunction::new(graph.clone()).unwrap();
    assert_eq!(function, ScalarFunction::new(graph).unwrap());
    let order = SortOrder::Comparator(function.clone());
    let sort = Op::Sort { axis: 0, order, result: SortResult::Positions };
    let key = (&[3][..], DType::F32);
    assert_eq!(infer_of(&sort, &[key]), Ok((Shape::from([3]), DType::I64)));
    assert!(matches!(infer_of(&sort, &[(&[3], DType::I32)]), Err(InferError::FunctionType { .. })));
    // The result of a scatter's function has the dtype of its parameters.
    let scatter = Op::Scatter { axis: 0, combine: Some(Combine::Function(function)) };
    let error = infer_of(&scatter, &[key, (&[2], DType::I64), (&[2], DType::F32)]).unwrap_err();
    assert!(error.to_string().contains("a function of [f32, f32] to f32"), "{error}");
    let mut graph = Graph::default();
    let x = graph.input([2], DType::F32);
    graph.outputs = vec![x];
    assert!(ScalarFunction::new(graph).is_err());
}

#[test]
fn triangular_solves_check_shapes() {
    let solve = |left_side| Op::TriangularSolve {
        left_side,
        lower: true,
        unit_diagonal: false,
        transpose: Transpose::No,
    };
    assert_eq!(shape_of(&solve(true), &[&[5, 3, 3], &[5, 3, 2]]), Ok(Shape::from([5, 3, 2])));
    assert_eq!(shape_of(&solve(false), &[&[5, 3, 3], &[5, 2, 3]]), Ok(Shape::from([5, 2, 3])));
    assert!(shape_of(&solve(true), &[&[5, 3, 3], &[5, 2, 3]]).is_err());
    assert!(shape_of(&solve(true), &[&[3, 2], &[3, 2]]).is_err());
    assert!(shape_of(&Op::Cholesky { lower: true }, &[&[3]]).is_err());
}

#[test]
fn plausible_shapes_of_failed_ops() {
    assert_eq!(plausible_of(&ADD, &[&[2, 5, 1], &[3, 4]]), Shape::from([2, 5, 4]));
    assert_eq!(plausible_of(&ADD, &[]), Shape::scalar());
    assert_eq!(plausible_of(&Op::Reshape(Shape::from([4])), &[&[6]]), Shape::from([4]));
    let huge = Op::Reshape(Shape::from([usize::MAX, 2]));
    assert_eq!(plausible_of(&huge, &[&[6]]), Shape::from([6]));
    assert_eq!(plausible_of(&Op::Permute(smallvec![0, 5]), &[&[1, 2]]), Shape::from([1, 2]));
    assert_eq!(plausible_of(&Op::Concat { axis: 0 }, &[&[1, 2], &[3]]), Shape::from([4, 2]));
    assert_eq!(plausible_of(&Op::Concat { axis: 9 }, &[&[1, 2], &[3]]), Shape::from([1, 2]));
    let pad = PadAxis { low: -9, high: 0, interior: 0 };
    assert_eq!(plausible_of(&Op::Pad(smallvec![pad]), &[&[1, 2], &[]]), Shape::from([0, 2]));
    let matmul = dot(&[], &[], &[1], &[0]);
    assert_eq!(plausible_of(&matmul, &[&[2, 3], &[4, 5]]), Shape::from([2, 5]));
    assert_eq!(plausible_of(&matmul, &[]), Shape::scalar());
    let sum = Op::Reduce { op: CombineOp::Sum, axes: smallvec![1, 7] };
    assert_eq!(plausible_of(&sum, &[&[2, 3]]), Shape::from([2]));
    let less = plausible(&Op::Compare(CompareOp::Lt), &[(&Shape::scalar(), DType::C64); 2]);
    assert_eq!(less, (Shape::scalar(), DType::Bool));
}

#[test]
fn messages_name_expected_found_and_fix() {
    let error = shape_of(&ADD, &[&[2], &[3]]).unwrap_err();
    assert_eq!(
        error.to_string(),
        "expected shapes that broadcast, found [2] and [3]; aligned at the last axis, extents must \
         be equal or 1"
    );
    let not = infer_of(&Op::Unary(UnaryOp::Not), &[(&[], DType::F32)]).unwrap_err();
    assert_eq!(
        not.to_string(),
        "expected one of bool, integers, found f32; cast the operand first"
    );
    let parts = DTypeSet::PARTS.to_string();
    assert_eq!(parts, "f32, f64");
    let dot = shape_of(&dot(&[], &[], &[1], &[0]), &[&[2, 3], &[4, 5]]).unwrap_err();
    assert!(dot.to_string().contains("axes 1 and 0, found 3 and 4 in shapes [2, 3] and [4, 5]"));
}

#[test]
fn push_infers_shape_and_dtype() {
    let mut graph = Graph::default();
    let x = graph.input([2, 3], DType::F32);
    let two = graph.scalar(2.0f32);
    let y = graph.push(ADD, &[x, two]).unwrap();
    assert_eq!(graph.node(y).shape, Shape::from([2, 3]));
    assert!(graph.push(Op::Permute(smallvec![0]), &[y]).is_err());
    assert_eq!(graph.nodes.len(), 3);
}
