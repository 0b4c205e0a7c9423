//! The comparison accepts correct results and rejects wrong ones.

use inflight_ir::elementwise::{ArgOp, BinaryOp, CombineOp, CompareOp, UnaryOp};
use inflight_ir::graph::{Graph, Op};
use inflight_ir::interpret::{Array, interpret};
use inflight_ir::{Axes, DType, DTypeClass, Element, Scalar};
use inflight_testkit::bound::{self, UNDECIDED};
use inflight_testkit::{Case, Reference, print, random_case, shrink};

fn case(graph: Graph, inputs: Vec<Array>) -> Case {
    Case { seed: 0, graph, inputs }
}

/// The error bounds of the only output of a graph with one op.
fn bounds(ops: &[Op], input: Vec<f32>) -> Vec<f64> {
    let mut graph = Graph::default();
    let mut node = graph.input([input.len()], DType::F32);
    for op in ops {
        node = graph.push(op.clone(), &[node]).unwrap();
    }
    graph.outputs.push(node);
    let shape = [input.len()];
    Reference::new(&case(graph, vec![Array::from_vec(input, shape)])).outputs[0].error.clone()
}

#[test]
fn reference_result_is_accepted() {
    for seed in 0..300 {
        let case = random_case(seed);
        bound::compare(&case, &interpret(&case.graph, &case.inputs)).unwrap();
    }
}

#[test]
fn changed_element_is_a_mismatch() {
    let mut found = 0;
    for seed in 0..300 {
        let case = random_case(seed);
        let reference = Reference::new(&case);
        let results = interpret(&case.graph, &case.inputs);
        for (output, estimate) in reference.outputs.iter().enumerate() {
            let decided = estimate.error.iter().position(|&error| error < 1e30);
            let Some(at) = decided else { continue };
            let old = results[output].get(at);
            let new = match old.dtype().class() {
                DTypeClass::Float | DTypeClass::Complex if old.to_f64().is_nan() => {
                    Scalar::one(old.dtype())
                }
                DTypeClass::Float | DTypeClass::Complex => {
                    f64::INFINITY.to_scalar().cast(old.dtype())
                }
                _ => Scalar::from_bits(old.dtype(), [old.bits()[0] ^ 1, 0]),
            };
            if new == old {
                continue;
            }
            let mut changed = results.clone();
            changed[output].set(at, new);
            let mismatch = reference.compare(&changed).unwrap_err();
            assert_eq!((mismatch.output, mismatch.index), (output, Some(at)), "{mismatch}");
            found += 1;
        }
    }
    assert!(found > 200, "only {found} outputs could be changed");
}

#[test]
fn functions_may_be_off_by_a_few_ulps() {
    let error = bounds(&[Op::Unary(UnaryOp::Exp)], vec![1.0])[0];
    let ulp = f32::EPSILON as f64 * 2.0;
    assert!(error >= 3.0 * ulp && error <= 4.0 * ulp, "{error:e}");
    // Errors propagate: an exponential of a large number amplifies them, a hyperbolic tangent damps them.
    let chain = [Op::Unary(UnaryOp::Exp), Op::Unary(UnaryOp::Exp)];
    assert!(bounds(&chain, vec![3.0])[0] > 1e2 * bounds(&chain[..1], vec![3.0])[0]);
    let chain = [Op::Unary(UnaryOp::Exp), Op::Unary(UnaryOp::Tanh)];
    assert!(bounds(&chain, vec![3.0])[0] < 5.0 * f32::EPSILON as f64);
}

#[test]
fn exact_arithmetic_has_no_error() {
    let sum = Op::Reduce { op: CombineOp::Sum, axes: Axes::from_slice(&[0]) };
    assert_eq!(bounds(std::slice::from_ref(&sum), vec![1.0, 2.0, -7.0]), [0.0]);
    let error = bounds(&[sum], vec![0.1; 1000])[0];
    assert!(error > 0.0 && error < 0.01, "{error:e}");
    assert_eq!(bounds(&[Op::Unary(UnaryOp::Sqrt)], vec![49.0]), [0.0]);
    assert_eq!(bounds(&[Op::Cast(DType::I32)], vec![1.0, -2.5]), [0.0, 0.0]);
}

#[test]
fn decisions_within_the_error_are_undecided() {
    // exp(ln x) is x within rounding: its floor at an integer may be either neighbour.
    let around = [Op::Unary(UnaryOp::Log), Op::Unary(UnaryOp::Exp), Op::Unary(UnaryOp::Floor)];
    assert_eq!(bounds(&around, vec![3.0, 3.5]), [UNDECIDED, 0.0]);
    let largest = [Op::Unary(UnaryOp::Exp), Op::ArgReduce { op: ArgOp::Max, axis: 0 }];
    assert_eq!(bounds(&largest, vec![1.0, 2.0, 0.5]), [0.0]);
    assert_eq!(bounds(&largest, vec![1.0, 1.0, 0.5]), [UNDECIDED]);
    // 1 / x for a zero of unknown sign.
    let mut graph = Graph::default();
    let (one, x) = (graph.scalar(1f32), graph.input([2], DType::F32));
    let sum = Op::Scan { op: CombineOp::Sum, axis: 0 };
    let sum = graph.push(sum, &[x]).unwrap();
    let quotient = graph.push(Op::Binary(BinaryOp::Div), &[one, sum]).unwrap();
    let compared = graph.push(Op::Compare(CompareOp::Eq), &[sum, sum]).unwrap();
    graph.outputs = vec![quotient, compared];
    let inputs = vec![Array::from_vec(vec![0f32, 2.0], [2])];
    let outputs = Reference::new(&case(graph, inputs)).outputs;
    assert_eq!(outputs[0].error, [UNDECIDED, 0.0]);
    assert_eq!(outputs[1].error, [0.0, 0.0]);
}

#[test]
fn zero_times_inexact_value_has_unknown_sign() {
    for dtype in [DType::F16, DType::BF16, DType::F32, DType::F64] {
        let mut graph = Graph::default();
        let (x, zero) = (graph.input([1], dtype), graph.scalar(0f32.to_scalar().cast(dtype)));
        let root = graph.push(Op::Unary(UnaryOp::Exp), &[x]).unwrap();
        let product = graph.push(Op::Binary(BinaryOp::Mul), &[root, zero]).unwrap();
        graph.outputs.push(product);
        let inputs = vec![Array::full([1], 1f32.to_scalar().cast(dtype))];
        assert!(Reference::new(&case(graph, inputs)).outputs[0].error[0] > 0.0, "{dtype}");
    }
}

#[test]
fn subnormals_may_flush_to_zero() {
    let error = bounds(&[Op::Unary(UnaryOp::Neg)], vec![1e-40, 1.0, 0.0]);
    assert!(error[0] >= 1e-40 && error[1..] == [0.0, 0.0], "{error:?}");
}

#[test]
fn case_shrinks_to_the_failing_op() {
    let uses_product = |case: &Case| {
        case.graph.nodes.iter().any(|node| {
            matches!(node.op, Op::Reduce { op: CombineOp::Product, .. }) && node.shape.rank() > 0
        })
    };
    // Large, but small enough that shrinking finishes within its limit.
    let is_large = |case: &Case| (21..60).contains(&case.graph.nodes.len());
    let large = (0..10_000).map(random_case).find(|case| uses_product(case) && is_large(case));
    let small = shrink::shrink(&large.unwrap(), uses_product);
    let text = print::case(&small);
    assert!(small.graph.nodes.len() <= 2, "{text}");
    assert!(text.contains("Reduce") && text.contains("return %1"), "{text}");
    bound::compare(&small, &interpret(&small.graph, &small.inputs)).unwrap();
}
