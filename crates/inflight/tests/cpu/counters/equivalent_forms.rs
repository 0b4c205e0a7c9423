//! Equivalent forms of a program cost the same: views grouped or not, handles cloned before use or not, temporaries named
//! or not. The counts are by hand.

use crate::device;
use crate::support::f32s;
use inflight::{Device, Stats, Tensor};

fn patterned(shape: &[usize], scale: f32, device: &Device) -> Tensor {
    let elements = shape.iter().product::<usize>();
    let data = (0..elements).map(|i| (((i * 37) % 101) as f32 / 50.0 - 1.0) * scale).collect();
    let tensor = Tensor::from_vec(data, shape, device).expect("the data fills the shape");
    tensor.wait().expect("the upload succeeds");
    tensor
}

/// The counters of a program, and its result.
fn cost(device: &Device, program: impl Fn() -> Tensor) -> (Stats, Vec<f32>) {
    let before = device.stats();
    let value = program();
    value.wait().expect("the value is computed");
    let stats = device.stats().since(&before);
    (stats, value.to_vec().expect("the value is ready"))
}

/// Checks that all variants of a program have these launches and bytes, and one result.
#[track_caller]
fn assert_cost(device: &Device, programs: &[&dyn Fn() -> Tensor], expected: (u64, u64, u64)) {
    let mut values: Option<Vec<f32>> = None;
    for (position, program) in programs.iter().enumerate() {
        let (stats, value) = cost(device, program);
        let counted = (stats.launches, stats.bytes_read, stats.bytes_written);
        assert_eq!(counted, expected, "program {position}");
        assert_eq!(*values.get_or_insert(value.clone()), value, "program {position}");
    }
}

/// Sum of an elementwise product along the last of three axes, keeping the axis.
fn sum_dim(a: Tensor, b: Tensor) -> Tensor {
    (a * b).sum_keepdim([2])
}

const SHAPE: [usize; 3] = [6, 50, 70];
const ELEMENTS: usize = 6 * 50 * 70;

/// Clones the operands before use, and repeats their product at the end.
fn cloned_before_use(tensor1: Tensor, tensor2: Tensor) -> Tensor {
    let tensor3 = sum_dim(tensor1.clone(), tensor2.clone());
    let tensor4 = sum_dim(tensor2.clone(), tensor3);
    tensor4 + (tensor1 * tensor2)
}

/// Uses a temporary instead of clones.
fn with_a_temporary(tensor1: Tensor, tensor2: Tensor) -> Tensor {
    let tmp = tensor1.clone() * tensor2.clone();
    let tensor3 = sum_dim(tensor1, tensor2.clone());
    let tensor4 = sum_dim(tensor2, tensor3);
    tensor4 + tmp
}

#[test]
fn stored_operands_are_read_once_in_every_form() {
    let device = device();
    let (x, y) = (patterned(&SHAPE, 1.0, &device), patterned(&SHAPE, 0.5, &device));
    // Reads both operands and writes the result.
    let expected = (1, 2 * f32s(ELEMENTS), f32s(ELEMENTS));
    assert_cost(
        &device,
        &[&|| cloned_before_use(x.clone(), y.clone()), &|| with_a_temporary(x.clone(), y.clone())],
        expected,
    );
}

#[test]
fn computed_operands_are_not_stored_in_any_form() {
    let device = device();
    let (x, y) = (patterned(&SHAPE, 1.0, &device), patterned(&SHAPE, 0.5, &device));
    // Reads the inputs of the operands, writes the result.
    let expected = (1, 2 * f32s(ELEMENTS), f32s(ELEMENTS));
    assert_cost(
        &device,
        &[&|| cloned_before_use(x.abs() + 1.0, &y * 2.0), &|| {
            with_a_temporary(x.abs() + 1.0, &y * 2.0)
        }],
        expected,
    );
}

#[test]
fn views_cost_the_same_grouped_or_interleaved_with_ops() {
    let device = device();
    let (m, k, n) = (40, 30, 20);
    let a = patterned(&[m, k], 1.0, &device);
    let b = patterned(&[1, k, n], 0.5, &device);
    let c = patterned(&[m, n], 2.0, &device);
    // Reads the three operands and writes the result.
    let expected = (1, f32s(m * k + k * n + m * n), f32s(m * n));
    assert_cost(
        &device,
        &[&|| a.unsqueeze(0).matmul(&b) + c.unsqueeze(0), &|| {
            let (a, c) = (a.unsqueeze(0), c.unsqueeze(0));
            a.matmul(&b) + c
        }],
        expected,
    );
    // The same for elementwise ops.
    let x = patterned(&[m, n], 1.0, &device);
    let expected = (1, f32s(2 * m * n), f32s(m * n));
    assert_cost(
        &device,
        &[
            &|| ((&x * 2.0).transpose() + c.transpose()).reshape([n * m]).exp(),
            &|| {
                let (x, c) = (x.transpose().reshape([n * m]), c.transpose().reshape([n * m]));
                (x * 2.0 + c).exp()
            },
            &|| (&x * 2.0 + &c).transpose().reshape([n * m]).exp(),
        ],
        expected,
    );
}

#[test]
fn retained_handle_costs_nothing() {
    let device = device();
    let x = patterned(&[64, 100], 1.0, &device);
    let expected = (1, f32s(64 * 100), f32s(64 * 100));
    let retained = std::cell::RefCell::new(Vec::new());
    assert_cost(
        &device,
        &[&|| (x.abs() * 2.0).softmax(1), &|| {
            let doubled = x.abs() * 2.0;
            retained.borrow_mut().extend([doubled.clone(), doubled.clone()]);
            doubled.softmax(1)
        }],
        expected,
    );
}
