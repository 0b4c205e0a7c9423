//! Functions that are generic over the element type and over what an operand is: a tensor, a reference or a number.
//! Run it with `cargo run -p inflight --example generic_code`.

use inflight::{
    Axes, Axis, DType, Device, Element, Extents, Operand, Result, Tensor, assert_close, bf16, f16,
};

/// Numbers from 0 to 1 of any element type.
fn ramp<T: Element>(n: usize, device: &Device) -> Tensor {
    (Tensor::arange(0..n as i64, device).to::<f64>() / (n - 1)).to::<T>()
}

/// Interpolates between two operands, each of which may be a tensor or a number.
fn lerp(x: &Tensor, start: impl Operand, end: impl Operand) -> Tensor {
    (1 - x) * start + x * end
}

/// Elements less their mean, over any axes.
fn centered(x: &Tensor, axes: impl Axes) -> Tensor {
    x - x.mean_keepdim(axes)
}

/// The index of the largest element along an axis, as an `i32`.
fn largest(x: &Tensor, axis: impl Axis) -> Tensor {
    x.argmax(axis).to::<i32>()
}

fn reshaped_to_floats(x: &Tensor, shape: impl Extents) -> Tensor {
    match x.dtype() {
        DType::F32 | DType::F64 => x.reshape(shape),
        _ => x.cast(DType::F32).reshape(shape),
    }
}

/// The dot product of two slices of any element type, with its host type.
fn dot<T: Element>(a: &[T], b: &[T], device: &Device) -> Result<T> {
    let a = Tensor::from_slice(a, a.len(), device)?;
    let b = Tensor::from_slice(b, b.len(), device)?;
    (a * b).sum_all().item::<T>()
}

/// Shifts a tensor by a value of any element type: its `Scalar` is an operand.
fn shifted<T: Element>(x: &Tensor, offset: T) -> Tensor {
    x + offset.to_scalar()
}

fn in_each_float<T: Element>(tolerance: f64, device: &Device) -> Result<()> {
    let x = ramp::<T>(9, device);
    assert_eq!(x.dtype(), T::DTYPE);
    let y = lerp(&x, 2, 10.0);
    assert_eq!(y.dtype(), T::DTYPE);
    println!("{:>4}: {y}", T::DTYPE.to_string());
    assert_close!(y, [2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0], tolerance);
    assert_close!(lerp(&x, &y, y.clone()), y, tolerance);
    Ok(())
}

fn main() -> Result<()> {
    let device = Device::cpu();
    in_each_float::<f16>(1e-2, &device)?;
    in_each_float::<bf16>(1e-1, &device)?;
    in_each_float::<f32>(1e-6, &device)?;
    in_each_float::<f64>(1e-12, &device)?;

    let x = Tensor::from_array([[1.0, 2.0, 6.0], [5.0, 4.0, 0.0]], &device);
    assert_close!(centered(&x, 1), [[-2.0, -1.0, 3.0], [2.0, 1.0, -3.0]]);
    assert_close!(centered(&x, ..), [[-2.0, -1.0, 3.0], [2.0, 1.0, -3.0]]);
    assert_eq!(largest(&x, -1).to_vec::<i32>()?, [2, 0]);
    assert_eq!(reshaped_to_floats(&x.gt(2), (3, -1)).shape(), [3, 2]);

    assert_eq!(dot(&[1, 2, 3], &[4, 5, 6], &device)?, 32);
    assert_close!(shifted(&x, -1), &x - 1);
    assert_eq!(dot(&[0.5, 2.0], &[2.0, 1.0], &device)?, 3.0);
    Ok(())
}
