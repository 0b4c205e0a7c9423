//! Large convolutions, which a GPU computes as implicit GEMM: with the bf16x3 split, and of 16-bit floats.

use crate::support::{gpu_with, small_integers};
use inflight::{ConvOptions, CudaOptions, DType, Device, Program, Tensor};
use inflight_testkit::tests;

tests![
    bf16x3_convolutions_match_the_cpu,
    large_16_bit_convolutions_match_the_cpu,
    large_convolutions_in_programs_match_the_cpu,
    bf16x3_convolution_error_is_below_that_of_f32,
    convolutions_without_memory_for_the_bf16x3_split_run_in_f32,
];

/// A convolution of `[examples, features, space]` with `[outputs, features, window]`.
struct Convolution {
    x: Vec<usize>,
    weight: Vec<usize>,
    apply: fn(&Tensor, &Tensor) -> Tensor,
}

/// Convolutions that are large enough for the bf16x3 split: with partial tiles and features, windows of several kinds along
/// one to three axes, and split-K sums.
fn large_convolutions() -> Vec<Convolution> {
    let large = |x: &[usize], weight: &[usize], apply: fn(&Tensor, &Tensor) -> Tensor| {
        Convolution { x: x.to_vec(), weight: weight.to_vec(), apply }
    };
    vec![
        large(&[5, 64, 30, 30], &[64, 64, 3, 3], |x, weight| {
            x.conv2d(weight, None, ConvOptions::default().padding(1))
        }),
        large(&[12, 48, 39, 39], &[200, 48, 3, 3], |x, weight| {
            x.conv2d(weight, None, ConvOptions::default().padding(1).stride(2))
        }),
        large(&[9, 96, 41, 41], &[80, 48, 3, 3], |x, weight| {
            x.conv2d(weight, None, ConvOptions::default().padding(1).groups(2).dilation(2))
        }),
        large(&[4, 512, 14, 14], &[96, 512, 3, 3], |x, weight| {
            x.conv2d(weight, None, ConvOptions::default().padding(1))
        }),
        large(&[10, 64, 30, 30], &[128, 64, 3, 3], |x, weight| {
            x.conv2d(weight, None, ConvOptions::default().padding(1))
        }),
        // A stride that skips the last position where the window fits.
        large(&[6, 72, 37, 51], &[72, 72, 5, 2], |x, weight| {
            let (stride, padding, dilation) = ([1, 3], [3, 0], [2, 1]);
            x.conv2d(
                weight,
                None,
                ConvOptions { stride, padding, dilation, ..ConvOptions::default() },
            )
        }),
        // Wide tiles.
        large(&[32, 128, 28, 28], &[136, 128, 3, 3], |x, weight| {
            x.conv2d(weight, None, ConvOptions::default().padding(1))
        }),
        large(&[16, 64, 1000], &[96, 64, 5], |x, weight| {
            x.conv1d(weight, None, ConvOptions::default().dilation(40).stride(3))
        }),
        large(&[6, 40, 13, 13, 14], &[160, 40, 3, 2, 3], |x, weight| {
            x.conv3d(weight, None, ConvOptions::default().stride(2))
        }),
        large(&[3, 40, 12, 13, 14], &[64, 40, 3, 2, 3], |x, weight| {
            x.conv3d(weight, None, ConvOptions::default())
        }),
    ]
}

fn bf16x3_convolutions_match_the_cpu() {
    let device = gpu_with(CudaOptions::default());
    let devices = [Device::cpu(), device];
    for Convolution { x: shape, weight: weight_shape, apply } in large_convolutions() {
        // Also with values that have no bf16x3 split.
        for special in [None, Some(f32::INFINITY), Some(f32::NAN), Some(1.3e38)] {
            let results = devices.each_ref().map(|device| {
                let mut values = small_integers(shape.iter().product(), 7);
                if let Some(special) = special {
                    let index = values.len() / shape[0] - 3;
                    values[index] = special;
                }
                let x = Tensor::from_vec(values, shape.clone(), device).unwrap();
                let weight = small_integers(weight_shape.iter().product(), 11);
                let weight = Tensor::from_vec(weight, weight_shape.clone(), device).unwrap();
                let bits = |x: f32| if x.is_nan() { f32::NAN.to_bits() } else { x.to_bits() };
                let values = apply(&x, &weight).to_vec::<f32>().unwrap();
                values.into_iter().map(bits).collect::<Vec<u32>>()
            });
            assert!(results[0] == results[1], "{shape:?}, {weight_shape:?}, {special:?}");
        }
    }
}

/// Sums of integers are exact in `f32`, and are rounded once.
fn large_16_bit_convolutions_match_the_cpu() {
    let device = gpu_with(CudaOptions::default());
    let devices = [Device::cpu(), device];
    for Convolution { x: shape, weight: weight_shape, apply } in large_convolutions() {
        for dtype in [DType::BF16, DType::F16] {
            let results = devices.each_ref().map(|device| {
                let small = |shape: &Vec<usize>, step| {
                    let values = small_integers(shape.iter().product(), step);
                    Tensor::from_vec(values, shape.clone(), device).unwrap().cast(dtype)
                };
                let result = apply(&small(&shape, 7), &small(&weight_shape, 11));
                result.cast(DType::F32).to_vec::<f32>().unwrap()
            });
            assert!(results[0] == results[1], "{dtype}, {shape:?}, {weight_shape:?}");
        }
    }
}

/// Layouts of StableHLO programs: NHWC, the weight gradient, and batch groups.
fn large_convolutions_in_programs_match_the_cpu() {
    let device = gpu_with(CudaOptions::default());
    let devices = [Device::cpu(), device];
    let cases = [
        ("[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]", 1, "10x30x30x64", "3x3x64x96", "10x30x30x96"),
        (
            "[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]",
            1,
            "32x28x28x128",
            "3x3x128x135",
            "32x28x28x135",
        ),
        ("[b, 0, 1, f]x[0, 1, i, o]->[f, 0, 1, b]", 1, "10x30x30x64", "3x3x64x96", "96x30x30x10"),
        ("[f, 0, 1, b]x[i, 0, 1, o]->[0, 1, b, f]", 1, "32x30x30x64", "32x30x30x64", "3x3x64x64"),
        ("[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]", 2, "8x30x30x64", "3x3x64x96", "4x30x30x96"),
    ];
    let dtypes = [DType::F32, DType::BF16];
    for ((dimensions, groups, x, kernel, result), dtype) in
        cases.into_iter().flat_map(|case| dtypes.map(|dtype| (case, dtype)))
    {
        let [x_type, kernel_type, result_type] =
            [x, kernel, result].map(|shape| format!("tensor<{shape}x{dtype}>"));
        let text = format!(
            "func.func @main(%x: {x_type}, %k: {kernel_type}) -> {result_type} {{\n\
             %0 = stablehlo.convolution(%x, %k) dim_numbers = {dimensions}, \
             window = {{stride = [1, 1], pad = [[1, 1], [1, 1]]}} \
             {{batch_group_count = {groups} : i64, feature_group_count = 1 : i64}} \
             : ({x_type}, {kernel_type}) -> {result_type}\nreturn %0 : {result_type}\n}}\n"
        );
        let program = Program::parse(&text).unwrap();
        let [x, kernel] = [x, kernel].map(|shape| {
            shape.split('x').map(|extent| extent.parse().unwrap()).collect::<Vec<usize>>()
        });
        let results = devices.each_ref().map(|device| {
            let small = |shape: &Vec<usize>, step| {
                let values = small_integers(shape.iter().product(), step);
                Tensor::from_vec(values, shape.clone(), device).unwrap().cast(dtype)
            };
            let operands = [small(&x, 7), small(&kernel, 11)];
            let executable = device.compile(&program).unwrap();
            let results = executable.execute(&[&operands[0], &operands[1]]).unwrap();
            results[0].cast(DType::F32).to_vec::<f32>().unwrap()
        });
        assert!(results[0] == results[1], "{dtype}, {dimensions}, {groups}");
    }
}

/// The error is that of summing unrounded scalar products, below that of sequential `f32` sums.
fn bf16x3_convolution_error_is_below_that_of_f32() {
    let device = gpu_with(CudaOptions::default());
    for Convolution { x: shape, weight: weight_shape, apply } in large_convolutions() {
        let x = Tensor::rand::<f32>(shape.clone(), 1, &device) * 2.0 - 1.0;
        let weight = Tensor::rand::<f32>(weight_shape.clone(), 2, &device) * 2.0 - 1.0;
        let [exact_x, exact_weight] = [&x, &weight].map(|x| x.cast(DType::F64));
        let exact = apply(&exact_x, &exact_weight);
        let magnitude = apply(&exact_x.abs(), &exact_weight.abs());
        let error = (apply(&x, &weight).cast(DType::F64) - exact).abs() / magnitude;
        let largest = error.max_all().item::<f64>().unwrap();
        assert!(largest < 1e-7, "{shape:?}, {weight_shape:?}: off by {largest}");
    }
}

fn convolutions_without_memory_for_the_bf16x3_split_run_in_f32() {
    let device = gpu_with(CudaOptions::default());
    device.set_memory_limit(Some(96 << 20));
    let results = [Device::cpu(), device].map(|device| {
        let x = small_integers(32 * 64 * 56 * 56, 7);
        let x = Tensor::from_vec(x, [32, 64, 56, 56], &device).unwrap();
        let weight = small_integers(64 * 64 * 9, 11);
        let weight = Tensor::from_vec(weight, [64, 64, 3, 3], &device).unwrap();
        let options = ConvOptions::default().padding(1);
        x.conv2d(&weight, None, options).to_vec::<f32>().unwrap()
    });
    assert!(results[0] == results[1]);
}
