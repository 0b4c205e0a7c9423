//! Convolution layouts, strides, dilations and groups against the reference interpreter. Operands are small multiples of
//! a power of two, so that sums are exact in any order.

use crate::support;
use inflight::{ConvOptions, DType, Device, Program, Shape, Tensor, record_graph_node};
use inflight_ir::compose::{
    Convolution, ConvolutionAxes, ConvolutionWindow, KernelAxes, convolution,
};
use inflight_ir::graph::{Graph, NodeId, Op};
use inflight_ir::interpret::{Array, interpret};
use inflight_ir::{Axes, Scalar, UnaryOp};
use inflight_testkit::Random;

/// Random multiples of 1/4 in [-1, 1]. Sums of many thousands of their products are exact.
fn quarters(count: usize, seed: u64) -> Vec<f32> {
    let mut random = Random::new(seed);
    (0..count).map(|_| (random.below(9) as f32 - 4.0) / 4.0).collect()
}

/// Records a graph on the device.
fn run(graph: &Graph, inputs: &[Tensor], device: &Device) -> Tensor {
    let mut values: Vec<Tensor> = Vec::new();
    let (mut remaining, mut scalars) = (inputs.iter(), graph.scalars.iter());
    for node in &graph.nodes {
        values.push(match node.op {
            Op::Input => remaining.next().expect("an input for each input node").clone(),
            _ => {
                let scalar = (node.op == Op::Scalar)
                    .then(|| *scalars.next().expect("a value for each scalar node"));
                let at = |&input: &NodeId| &values[input as usize];
                let operands: Vec<&Tensor> = node.inputs.iter().map(at).collect();
                record_graph_node(node, scalar, &operands, device).expect("the op is recorded")
            }
        });
    }
    values[graph.outputs[0] as usize].clone()
}

/// Compares a convolution with a fused prologue and epilogue with the reference.
fn check(x: &[usize], kernel: &[usize], conv: &Convolution, dtype: DType, device: &Device) {
    let mut graph = Graph::default();
    let nodes = [graph.input(x, dtype), graph.input(kernel, dtype)];
    let before = graph.push(Op::Unary(UnaryOp::Neg), &nodes[..1]).unwrap();
    let result = convolution(&mut graph, before, nodes[1], conv).unwrap();
    graph.outputs = vec![graph.push(Op::Unary(UnaryOp::Abs), &[result]).unwrap()];
    let shapes = [Shape::new(x), Shape::new(kernel)];
    let values =
        [&shapes[0], &shapes[1]].map(|shape| quarters(shape.element_count(), shape[0] as u64));
    let arrays: Vec<Array> = shapes
        .iter()
        .zip(&values)
        .map(|(shape, values)| {
            let scalars = values.iter().map(|&value| Scalar::from(value as f64).cast(dtype));
            Array::from_scalars(scalars.collect::<Vec<_>>(), shape, dtype)
        })
        .collect();
    let tensors: Vec<Tensor> = shapes
        .into_iter()
        .zip(values)
        .map(|(shape, values)| Tensor::from_vec(values, shape, device).unwrap().cast(dtype))
        .collect();
    let expected = interpret(&graph, &arrays).remove(0);
    let found = run(&graph, &tensors, device);
    assert_eq!(*found.shape(), expected.shape);
    let found = found.cast(DType::F64).to_vec::<f64>().unwrap();
    let wrong = found.iter().zip(expected.scalars()).position(|(&a, b)| a != b.to_f64());
    if let Some(at) = wrong {
        let (found, expected) = (found[at], expected.get(at).to_f64());
        panic!("{dtype} {x:?} {kernel:?} {conv:?}: {found} for {expected} at {at}");
    }
}

/// A two-dimensional convolution in the layout of PyTorch (NCHW).
fn windows(along: [ConvolutionWindow; 2]) -> Convolution {
    Convolution::channels_first(along.into_iter().collect())
}

const PLAIN: ConvolutionWindow = ConvolutionWindow {
    stride: 1,
    low: 0,
    high: 0,
    operand_dilation: 1,
    kernel_dilation: 1,
    reversed: false,
};
const PADDED: ConvolutionWindow = ConvolutionWindow { low: 1, high: 1, ..PLAIN };
const STRIDED: ConvolutionWindow = ConvolutionWindow { stride: 2, low: 1, high: 2, ..PLAIN };
const DILATED: ConvolutionWindow =
    ConvolutionWindow { kernel_dilation: 2, low: 2, high: 2, ..PLAIN };
const SPREAD: ConvolutionWindow =
    ConvolutionWindow { operand_dilation: 3, low: -1, reversed: true, ..PLAIN };

#[test]
fn strides_dilations_and_padding_match_the_reference() {
    let device = support::device();
    let cases: [([usize; 4], [usize; 4], Convolution); 9] = [
        ([2, 3, 9, 10], [5, 3, 3, 3], windows([PADDED; 2])),
        ([3, 8, 14, 13], [70, 8, 3, 3], windows([PADDED; 2])),
        ([2, 33, 11, 12], [130, 33, 3, 2], windows([STRIDED, DILATED])),
        ([1, 20, 6, 7], [40, 20, 4, 3], windows([SPREAD, STRIDED])),
        ([2, 64, 8, 8], [64, 64, 1, 1], windows([STRIDED, STRIDED])),
        ([2, 3, 40, 41], [16, 3, 7, 7], windows([STRIDED, STRIDED])),
        ([2, 64, 9, 9], [96, 32, 3, 3], Convolution { feature_groups: 2, ..windows([PADDED; 2]) }),
        ([2, 24, 9, 9], [24, 1, 3, 3], Convolution { feature_groups: 24, ..windows([PADDED; 2]) }),
        (
            [4, 17, 8, 9],
            [66, 17, 2, 3],
            Convolution { batch_groups: 2, ..windows([SPREAD, PLAIN]) },
        ),
    ];
    for (x, kernel, conv) in cases {
        for dtype in [DType::F32, DType::BF16, DType::F16, DType::F64] {
            check(&x, &kernel, &conv, dtype, &device);
        }
    }
}

#[test]
fn axes_in_any_order_and_rank_match_the_reference() {
    let device = support::device();
    let last = ConvolutionAxes { batch: 0, feature: 3, spatial: Axes::from_slice(&[1, 2]) };
    let first = ConvolutionAxes { batch: 1, feature: 0, spatial: Axes::from_slice(&[2, 3]) };
    let kernel_last = KernelAxes { input: 2, output: 3, spatial: Axes::from_slice(&[0, 1]) };
    let kernel_first = KernelAxes { input: 0, output: 1, spatial: Axes::from_slice(&[2, 3]) };
    for window in [PLAIN, PADDED, STRIDED] {
        let plain = windows([window; 2]);
        let transposed = Convolution {
            operand: last.clone(),
            kernel: kernel_last.clone(),
            result: last.clone(),
            ..plain.clone()
        };
        let swapped = Convolution {
            operand: first.clone(),
            kernel: kernel_first.clone(),
            result: first.clone(),
            ..plain.clone()
        };
        let mixed = Convolution { operand: last.clone(), result: first.clone(), ..plain.clone() };
        for dtype in [DType::F32, DType::BF16] {
            check(&[3, 12, 11, 16], &[3, 3, 16, 72], &transposed, dtype, &device);
            check(&[16, 3, 12, 11], &[16, 72, 3, 3], &swapped, dtype, &device);
            check(&[3, 12, 11, 10], &[20, 10, 3, 3], &mixed, dtype, &device);
        }
        let line = Convolution::channels_first([window].into_iter().collect());
        let solid = Convolution::channels_first([window; 3].into_iter().collect());
        check(&[3, 10, 200], &[33, 10, 5], &line, DType::F32, &device);
        check(&[2, 4, 6, 7, 8], &[9, 4, 3, 2, 3], &solid, DType::BF16, &device);
    }
}

/// Shapes of a weight gradient: the window covers the whole image, and the sums are long.
#[test]
fn large_windows_match_the_reference() {
    let device = support::device();
    let axes = ConvolutionAxes { batch: 3, feature: 0, spatial: Axes::from_slice(&[1, 2]) };
    let conv = Convolution {
        operand: axes,
        kernel: KernelAxes { input: 0, output: 3, spatial: Axes::from_slice(&[1, 2]) },
        result: ConvolutionAxes { batch: 2, feature: 3, spatial: Axes::from_slice(&[0, 1]) },
        ..windows([PADDED; 2])
    };
    for dtype in [DType::F32, DType::F16] {
        check(&[6, 20, 21, 16], &[6, 20, 21, 24], &conv, dtype, &device);
    }
}

#[test]
fn bias_and_epilogue_match_the_reference() {
    let device = support::device();
    let x = Tensor::from_vec(quarters(2 * 16 * 20 * 20, 1), [2, 16, 20, 20], &device).unwrap();
    let weight = Tensor::from_vec(quarters(32 * 16 * 9, 2), [32, 16, 3, 3], &device).unwrap();
    let bias = Tensor::from_vec(quarters(32, 3), [32], &device).unwrap();
    let options = ConvOptions::default().padding(1);
    let plain = x.conv2d(&weight, None, options).to_vec::<f32>().unwrap();
    let found = x.conv2d(&weight, Some(&bias), options).relu().to_vec::<f32>().unwrap();
    let bias = bias.to_vec::<f32>().unwrap();
    let expected = plain.iter().enumerate().map(|(at, x)| (x + bias[at / 400 % 32]).max(0.0));
    assert!(found.iter().copied().eq(expected));
}

/// A convolution and both of its gradients, as exported by JAX.
#[test]
fn jax_convolution_gradients_match_the_reference() {
    let device = support::device();
    let text = r#"
func.func @main(%x: tensor<4x14x14x16xf32>, %k: tensor<3x3x16x24xf32>, %dy: tensor<4x7x7x24xf32>)
    -> (tensor<4x7x7x24xf32>, tensor<4x14x14x16xf32>, tensor<3x3x16x24xf32>) {
  %y = stablehlo.convolution(%x, %k) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f],
      window = {stride = [2, 2], pad = [[0, 1], [0, 1]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64}
      : (tensor<4x14x14x16xf32>, tensor<3x3x16x24xf32>) -> tensor<4x7x7x24xf32>
  %r = stablehlo.reverse %k, dims = [0, 1] : tensor<3x3x16x24xf32>
  %dx = stablehlo.convolution(%dy, %r) dim_numbers = [b, 0, 1, f]x[0, 1, o, i]->[b, 0, 1, f],
      window = {pad = [[2, 1], [2, 1]], lhs_dilate = [2, 2]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64}
      : (tensor<4x7x7x24xf32>, tensor<3x3x16x24xf32>) -> tensor<4x14x14x16xf32>
  %dk = stablehlo.convolution(%x, %dy) dim_numbers = [f, 0, 1, b]x[i, 0, 1, o]->[0, 1, b, f],
      window = {pad = [[0, 1], [0, 1]], rhs_dilate = [2, 2]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64}
      : (tensor<4x14x14x16xf32>, tensor<4x7x7x24xf32>) -> tensor<3x3x16x24xf32>
  return %y, %dx, %dk : tensor<4x7x7x24xf32>, tensor<4x14x14x16xf32>, tensor<3x3x16x24xf32>
}
"#;
    let program = Program::parse(text).unwrap();
    let shapes = [[4, 14, 14, 16], [3, 3, 16, 24], [4, 7, 7, 24]];
    let execute_on = |device: &Device| -> Vec<Vec<f32>> {
        let arguments: Vec<Tensor> = shapes
            .iter()
            .enumerate()
            .map(|(seed, &shape)| {
                let values = quarters(shape.iter().product(), seed as u64);
                Tensor::from_vec(values, shape, device).unwrap()
            })
            .collect();
        let arguments: Vec<&Tensor> = arguments.iter().collect();
        let results = device.compile(&program).unwrap().execute(&arguments).unwrap();
        results.iter().map(|result| result.to_vec::<f32>().unwrap()).collect()
    };
    let (found, expected) = (execute_on(&device), execute_on(&Device::cpu()));
    assert!(found == expected);
    // ⟨y, dy⟩ = ⟨x, dx⟩ = ⟨k, dk⟩
    let dot = |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(a, b)| (a * b) as f64).sum::<f64>();
    let argument = |seed: usize| quarters(shapes[seed].iter().product(), seed as u64);
    let forward = dot(&found[0], &argument(2));
    assert_eq!(forward, dot(&found[1], &argument(0)));
    assert_eq!(forward, dot(&found[2], &argument(1)));
}
