//! Composed functions in the interpreter, against direct implementations of their definitions.

use super::*;
use crate::elementwise::{CombineOp, CompareOp};
use crate::interpret::{Array, interpret};
use num_complex::Complex;

/// Pseudo-random values from -4 to 4.
fn random_values(count: usize) -> Vec<f64> {
    let mut state = 12345u64;
    let next = |_| {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        ((state >> 33) % 8001) as f64 / 1000.0 - 4.0
    };
    (0..count).map(next).collect()
}

fn array(shape: impl Into<Shape>) -> Array {
    let shape = shape.into();
    Array::from_vec(random_values(shape.element_count()), shape)
}

/// Composes a function of these inputs and interprets it.
fn run_composed<const N: usize>(
    inputs: &[Array],
    compose: impl FnOnce(&mut Graph, &[NodeId]) -> Result<[NodeId; N], ComposeError>,
) -> [Array; N] {
    let mut graph = Graph::default();
    let nodes: Vec<NodeId> = inputs.iter().map(|x| graph.input(&x.shape, x.dtype)).collect();
    graph.outputs = compose(&mut graph, &nodes).unwrap().to_vec();
    interpret(&graph, inputs).try_into().expect("as many as run_composed")
}

fn assert_near(found: &Array, expected: &[f64], shape: &Shape) {
    assert_eq!(found.shape, *shape);
    let found = found.to_vec::<f64>();
    let worst = found.iter().zip(expected).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
    assert!(worst < 1e-9, "{worst}");
}

/// A convolution of NCHW with OIHW, by its definition.
fn expected_convolution(x: &Array, k: &Array, c: &Convolution) -> (Vec<f64>, Shape) {
    let value = |array: &Array, index: [usize; 4]| {
        let strides = array.shape.strides();
        let at: usize = index.iter().zip(&strides).map(|(i, s)| i * s).sum();
        f64::from_bits(array.get(at).bits()[0])
    };
    let extent = |axis: usize| {
        let w = &c.windows[axis];
        let padded = (x.shape[axis + 2] as isize - 1) * w.operand_dilation as isize + 1;
        let reach = (k.shape[axis + 2] - 1) * w.kernel_dilation + 1;
        ((padded + w.low + w.high) as usize - reach) / w.stride + 1
    };
    let (height, width) = (extent(0), extent(1));
    let examples = x.shape[0] / c.batch_groups;
    let outputs = k.shape[0];
    let shape = Shape::from([examples, outputs, height, width]);
    let groups = c.feature_groups * c.batch_groups;
    let mut result = Vec::new();
    for n in 0..examples {
        for o in 0..outputs {
            let group = o / (outputs / groups);
            for y in 0..height {
                for z in 0..width {
                    let mut sum = 0.0;
                    for i in 0..k.shape[1] {
                        for ky in 0..k.shape[2] {
                            for kz in 0..k.shape[3] {
                                let source_index = |axis: usize, p: usize, w: usize| {
                                    let window = &c.windows[axis];
                                    let at = (p * window.stride + w * window.kernel_dilation)
                                        as isize
                                        - window.low;
                                    let dilation = window.operand_dilation as isize;
                                    let inside = at >= 0
                                        && at % dilation == 0
                                        && at / dilation < x.shape[axis + 2] as isize;
                                    inside.then_some((at / dilation) as usize)
                                };
                                let (Some(sy), Some(sz)) =
                                    (source_index(0, y, ky), source_index(1, z, kz))
                                else {
                                    continue;
                                };
                                let flipped = |axis: usize, w: usize| match c.windows[axis].reversed
                                {
                                    true => k.shape[axis + 2] - 1 - w,
                                    false => w,
                                };
                                let (example, feature) = match c.batch_groups {
                                    1 => (n, group * k.shape[1] + i),
                                    _ => (group * examples + n, i),
                                };
                                sum += value(x, [example, feature, sy, sz])
                                    * value(k, [o, i, flipped(0, ky), flipped(1, kz)]);
                            }
                        }
                    }
                    result.push(sum);
                }
            }
        }
    }
    (result, shape)
}

#[test]
fn convolutions_match_their_definition() {
    let window = ConvolutionWindow::default();
    let plain = Convolution::channels_first(smallvec::smallvec![window; 2]);
    let strided = ConvolutionWindow { stride: 2, low: 1, high: 2, ..window };
    let dilated = ConvolutionWindow { kernel_dilation: 2, low: 2, high: 2, ..window };
    let spread = ConvolutionWindow { operand_dilation: 3, low: -1, reversed: true, ..window };
    let mixed = |a, b| Convolution { windows: smallvec::smallvec![a, b], ..plain.clone() };
    let grouped = Convolution { feature_groups: 2, ..mixed(strided, dilated) };
    let batched = Convolution { batch_groups: 2, ..mixed(spread, window) };
    let cases = [
        ([2, 3, 5, 6], [4, 3, 3, 2], plain.clone()),
        ([2, 3, 5, 6], [4, 3, 1, 1], mixed(strided, strided)),
        ([2, 3, 7, 6], [4, 3, 3, 2], mixed(strided, dilated)),
        ([1, 2, 4, 5], [3, 2, 2, 3], mixed(spread, strided)),
        ([2, 6, 7, 8], [4, 3, 3, 2], grouped.clone()),
        ([2, 4, 7, 8], [4, 1, 3, 2], Convolution { feature_groups: 4, ..grouped }),
        ([4, 3, 4, 6], [6, 3, 2, 3], batched),
    ];
    for (x, k, case) in cases {
        let (x, k) = (array(x), array(k));
        let (expected, shape) = expected_convolution(&x, &k, &case);
        let operands = [x.clone(), k.clone()];
        let [found] = run_composed(&operands, |graph, nodes| {
            Ok([convolution(graph, nodes[0], nodes[1], &case)?])
        });
        assert_near(&found, &expected, &shape);
        // The same in NHWC, with the kernel in HWIO.
        let last = ConvolutionAxes { batch: 0, feature: 3, spatial: Axes::from_slice(&[1, 2]) };
        let kernel = KernelAxes { input: 2, output: 3, spatial: Axes::from_slice(&[0, 1]) };
        let case = Convolution { operand: last.clone(), kernel, result: last, ..case };
        let [found] = run_composed(&operands, |graph, nodes| {
            let mut build = GraphBuilder(graph);
            let x = build.permute(nodes[0], Axes::from_slice(&[0, 2, 3, 1]))?;
            let k = build.permute(nodes[1], Axes::from_slice(&[2, 3, 1, 0]))?;
            let result = convolution(build.0, x, k, &case)?;
            Ok([build.permute(result, Axes::from_slice(&[0, 3, 1, 2]))?])
        });
        assert_near(&found, &expected, &shape);
        // And with features first, CNHW, as in the gradient of a kernel.
        let first = ConvolutionAxes { batch: 1, feature: 0, spatial: Axes::from_slice(&[2, 3]) };
        let kernel = KernelAxes { input: 0, output: 1, spatial: Axes::from_slice(&[2, 3]) };
        let case = Convolution { operand: first.clone(), kernel, result: first, ..case };
        let [found] = run_composed(&operands, |graph, nodes| {
            let mut build = GraphBuilder(graph);
            let x = build.permute(nodes[0], Axes::from_slice(&[1, 0, 2, 3]))?;
            let k = build.permute(nodes[1], Axes::from_slice(&[1, 0, 2, 3]))?;
            let result = convolution(build.0, x, k, &case)?;
            Ok([build.permute(result, Axes::from_slice(&[1, 0, 2, 3]))?])
        });
        assert_near(&found, &expected, &shape);
    }
}

#[test]
fn invalid_convolutions_are_errors() {
    let case = Convolution::channels_first(smallvec::smallvec![ConvolutionWindow::default()]);
    let refused = |x: &[usize], k: &[usize], case: &Convolution| {
        let mut graph = Graph::default();
        let x = graph.input(x, DType::F32);
        let k = graph.input(k, DType::F32);
        convolution(&mut graph, x, k, case).unwrap_err().to_string()
    };
    assert!(refused(&[1, 3, 5], &[4, 2, 3], &case).contains("a kernel of 3 input features"));
    assert!(refused(&[1, 3, 5, 5], &[4, 2, 3], &case).contains("each axis of the operand"));
    assert!(refused(&[1, 3, 5], &[4, 3], &case).contains("each axis of the kernel"));
    let two = Convolution { feature_groups: 2, ..case };
    assert!(
        refused(&[1, 3, 5], &[4, 3, 3], &two).contains("features to be a multiple of 2 groups")
    );
}

/// The elements of each window, with the initial value for those out of bounds.
fn expected_windows(x: &Array, init: f64, windows: &[ReduceWindow; 2]) -> (Vec<Vec<f64>>, Shape) {
    let extent = |axis: usize| {
        let w = &windows[axis];
        let padded = (x.shape[axis] as isize - 1) * w.base_dilation as isize + 1 + w.low + w.high;
        WindowAxis { size: w.size, stride: w.stride, dilation: w.dilation }
            .positions(padded as usize)
    };
    let shape = Shape::from([extent(0), extent(1)]);
    let values = x.to_vec::<f64>();
    let mut result = Vec::new();
    for y in 0..shape[0] {
        for z in 0..shape[1] {
            let mut window = Vec::new();
            for wy in 0..windows[0].size {
                for wz in 0..windows[1].size {
                    let source_index = |axis: usize, p: usize, source_index: usize| {
                        let w = &windows[axis];
                        let at = (p * w.stride + source_index * w.dilation) as isize - w.low;
                        let base = w.base_dilation as isize;
                        let inside =
                            at >= 0 && at % base == 0 && at / base < x.shape[axis] as isize;
                        inside.then_some((at / base) as usize)
                    };
                    window.push(match (source_index(0, y, wy), source_index(1, z, wz)) {
                        (Some(y), Some(z)) => values[y * x.shape[1] + z],
                        _ => init,
                    });
                }
            }
            result.push(window);
        }
    }
    (result, shape)
}

#[test]
fn direct_and_doubling_window_reductions_match_their_definition() {
    let plain = ReduceWindow::new(2, 2);
    let wide = ReduceWindow { low: 3, high: 2, dilation: 2, ..ReduceWindow::new(3, 1) };
    let large = ReduceWindow { low: 4, high: 6, ..ReduceWindow::new(13, 2) };
    let spread = ReduceWindow { base_dilation: 2, low: -1, ..ReduceWindow::new(7, 3) };
    let x = array([9, 8]);
    for windows in [[plain, plain], [wide, plain], [large, wide], [large, spread]] {
        for (init, op) in [(0.0, CombineOp::Sum), (1.5, CombineOp::Sum), (-3.0, CombineOp::Max)] {
            let (elements, shape) = expected_windows(&x, init, &windows);
            let fold = |window: &Vec<f64>| match op {
                CombineOp::Sum => init + window.iter().sum::<f64>(),
                _ => window.iter().copied().fold(init, f64::max),
            };
            let expected: Vec<f64> = elements.iter().map(fold).collect();
            let [found, with] = run_composed(std::slice::from_ref(&x), |graph, nodes| {
                let init = graph.scalar(init);
                let found = reduce_window(graph, nodes[0], init, op, &windows)?;
                let body = |graph: &mut Graph, a: &[NodeId], b: &[NodeId]| {
                    Ok(vec![graph.push(Op::Binary(op.binary()), &[a[0], b[0]])?])
                };
                let with = reduce_window_with(graph, nodes, &[init], &windows, body)?;
                Ok([found, with[0]])
            });
            assert_near(&found, &expected, &shape);
            assert_near(&with, &expected, &shape);
        }
    }
}

#[test]
fn a_window_body_can_reduce_several_values() {
    // The largest element of each window, and its index in the operand.
    let x = array([40]);
    let window = [ReduceWindow::new(9, 4)];
    let [largest, number] = run_composed(std::slice::from_ref(&x), |graph, nodes| {
        let random_values = GraphBuilder(graph).iota(Shape::from([40]), 0, DType::F64)?;
        let inits = [graph.scalar(f64::NEG_INFINITY), graph.scalar(-1.0f64)];
        let operands = [nodes[0], random_values];
        let results = reduce_window_with(graph, &operands, &inits, &window, |graph, a, b| {
            let keep = graph.push(Op::Compare(CompareOp::Ge), &[a[0], b[0]])?;
            let value = graph.push(Op::Select, &[keep, a[0], b[0]])?;
            Ok(vec![value, graph.push(Op::Select, &[keep, a[1], b[1]])?])
        })?;
        Ok([results[0], results[1]])
    });
    let values = x.to_vec::<f64>();
    for (at, (value, number)) in
        largest.to_vec::<f64>().into_iter().zip(number.to_vec::<f64>()).enumerate()
    {
        let window = &values[at * 4..at * 4 + 9];
        assert_eq!(value, window.iter().copied().fold(f64::NEG_INFINITY, f64::max));
        assert_eq!(values[number as usize], value);
    }
}

#[test]
fn cumulative_windows_become_scans() {
    let mut graph = Graph::default();
    let x = graph.input([2, 50], DType::F32);
    let zero = graph.scalar(0.0f32);
    for (low, high) in [(49, 0), (0, 49)] {
        let window = ReduceWindow { low, high, ..ReduceWindow::new(50, 1) };
        let windows = [ReduceWindow::new(1, 1), window];
        reduce_window(&mut graph, x, zero, CombineOp::Sum, &windows).unwrap();
    }
    let scans = graph.nodes.iter().filter(|node| matches!(node.op, Op::Scan { .. })).count();
    assert_eq!(scans, 2);
    assert!(!graph.nodes.iter().any(|node| matches!(node.op, Op::Windows(_) | Op::Pad(_))));
}

#[test]
fn cumulative_windows_include_the_initial_value() {
    let plain = ReduceWindow::new(1, 1);
    let x = array([2, 20]);
    for (low, high) in [(19, 0), (0, 19)] {
        let windows = [plain, ReduceWindow { low, high, ..ReduceWindow::new(20, 1) }];
        for (init, op) in [(1.0, CombineOp::Sum), (-1.0, CombineOp::Product), (2.0, CombineOp::Max)]
        {
            let (elements, shape) = expected_windows(&x, init, &windows);
            let fold = |window: &Vec<f64>| match op {
                CombineOp::Sum => init + window.iter().sum::<f64>(),
                CombineOp::Product => init * window.iter().product::<f64>(),
                _ => window.iter().copied().fold(init, f64::max),
            };
            let expected: Vec<f64> = elements.iter().map(fold).collect();
            let [found] = run_composed(std::slice::from_ref(&x), |graph, nodes| {
                let init = graph.scalar(init);
                Ok([reduce_window(graph, nodes[0], init, op, &windows)?])
            });
            let scale = expected.iter().fold(1.0, |most: f64, value| most.max(value.abs()));
            let scaled = found.to_vec::<f64>().into_iter().map(|value| value / scale).collect();
            let expected: Vec<f64> = expected.iter().map(|value| value / scale).collect();
            assert_near(&Array::from_vec::<f64>(scaled, found.shape.clone()), &expected, &shape);
        }
    }
}

fn complex(shape: impl Into<Shape>) -> Array {
    let shape = shape.into();
    let parts = random_values(2 * shape.element_count());
    let values = parts.chunks(2).map(|pair| Complex::new(pair[0], pair[1])).collect();
    Array::from_vec(values, shape)
}

/// The DFT along the last axis, by its definition.
fn expected_transform(x: &[Complex<f64>], n: usize, inverse: bool) -> Vec<Complex<f64>> {
    let sign = if inverse { 1.0 } else { -1.0 };
    let root = |exponent: usize| {
        Complex::cis(sign * 2.0 * std::f64::consts::PI * (exponent % n) as f64 / n as f64)
    };
    let scale = if inverse { 1.0 / n as f64 } else { 1.0 };
    x.chunks(n)
        .flat_map(|row| {
            (0..n).map(move |k| {
                row.iter().enumerate().map(|(j, x)| x * root(j * k)).sum::<Complex<f64>>() * scale
            })
        })
        .collect()
}

fn assert_complex(found: &Array, expected: &[Complex<f64>], bound: f64) {
    let found = found.to_vec::<Complex<f64>>();
    assert_eq!(found.len(), expected.len());
    let norm = expected.iter().map(|z| z.norm_sqr()).sum::<f64>().sqrt();
    let error = found.iter().zip(expected).map(|(a, b)| (a - b).norm_sqr()).sum::<f64>().sqrt();
    assert!(error <= bound * norm, "{} of {}", error, norm);
}

#[test]
fn ffts_match_the_dft_for_every_kind_of_length() {
    for n in [1, 2, 3, 5, 16, 17, 30, 64, 67, 96, 131, 134, 289, 1000, 1024] {
        let x = complex([2, n]);
        for inverse in [false, true] {
            let kind = if inverse { FftKind::Inverse } else { FftKind::Forward };
            let expected = expected_transform(&x.to_vec(), n, inverse);
            let [found, narrow] = run_composed(std::slice::from_ref(&x), |graph, nodes| {
                let single = GraphBuilder(graph).cast(nodes[0], DType::C64)?;
                Ok([fft(graph, nodes[0], kind, &[n])?, fft(graph, single, kind, &[n])?])
            });
            assert_complex(&found, &expected, 1e-14 * n as f64);
            assert_complex(&narrow, &expected, 2e-6);
        }
    }
}

#[test]
fn real_ffts_round_trip() {
    for n in [1, 2, 7, 12, 134] {
        let x = array([3, n]);
        let all: Vec<Complex<f64>> = x.to_vec::<f64>().into_iter().map(Complex::from).collect();
        let expected: Vec<Complex<f64>> = expected_transform(&all, n, false)
            .chunks(n)
            .flat_map(|row| row[..n / 2 + 1].to_vec())
            .collect();
        let [half, back] = run_composed(std::slice::from_ref(&x), |graph, nodes| {
            let half = fft(graph, nodes[0], FftKind::RealForward, &[n])?;
            Ok([half, fft(graph, half, FftKind::RealInverse, &[n])?])
        });
        assert_complex(&half, &expected, 1e-12);
        assert_near(&back, &x.to_vec::<f64>(), &x.shape);
    }
}

#[test]
fn multi_axis_ffts_match_single_axis_ffts() {
    let x = array([2, 3, 4, 6]);
    let [once, axes, back] = run_composed(std::slice::from_ref(&x), |graph, nodes| {
        let once = fft(graph, nodes[0], FftKind::RealForward, &[3, 4, 6])?;
        // The same, one axis at a time, moved to the end and back.
        let mut step = fft(graph, nodes[0], FftKind::RealForward, &[6])?;
        for axis in [1, 2] {
            let n = graph.node(step).shape[axis];
            let moved = GraphBuilder(graph).move_axis(step, axis, 3)?;
            let moved = fft(graph, moved, FftKind::Forward, &[n])?;
            step = GraphBuilder(graph).move_axis(moved, 3, axis)?;
        }
        Ok([once, step, fft(graph, once, FftKind::RealInverse, &[3, 4, 6])?])
    });
    assert_complex(&once, &axes.to_vec::<Complex<f64>>(), 1e-14);
    assert_near(&back, &x.to_vec::<f64>(), &x.shape);
}

#[test]
fn top_k_returns_the_largest_first() {
    let x = Array::from_vec(vec![1.0f32, 5.0, 3.0, 5.0, f32::NAN, 0.0, 2.0, 1.0], [2, 4]);
    let [values, positions] = run_composed(std::slice::from_ref(&x), |graph, nodes| {
        let (values, positions) = top_k(graph, nodes[0], 2, 1)?;
        Ok([values, positions])
    });
    assert_eq!(positions.to_vec::<i64>(), [1, 3, 0, 2]);
    assert_eq!(values.to_vec::<f32>()[..2], [5.0, 5.0]);
    let mut graph = Graph::default();
    let x = graph.input([3], DType::F32);
    assert!(top_k(&mut graph, x, 4, 0).unwrap_err().to_string().contains("at most 3"));
}
