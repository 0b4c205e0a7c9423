//! The table of pending ops, one line each.
//!
//! A line is a function's name, its parameters and its body. The kind of a parameter determines what the caller may
//! pass and what the body receives:
//!
//! | kind | passed | received |
//! |---|---|---|
//! | `tensor` | a plain or pending tensor | `Tensor` |
//! | `operand` | the same, or a scalar | what implements `Operand` |
//! | `optional` | an `Option` of a plain or pending tensor | `Option<Tensor>` |
//! | `list` | many plain tensors, many pending ones, or a pending vector | `Vec<Tensor>` |
//! | `axis`, `axes`, `index`, `extents`, `slices`, `scalar`, `sizes`, `padding`, `device` | as for the method | an owned copy |
//! | any type | the same | the same |

use super::argument::{Argument, Mixed};
use super::call::call_op;
use crate::{
    Axes, Axis, ConvOptions, DType, Device, DotAxes, Extents, Integer, Operand, Padding,
    PoolOptions, Scalar, Slices, Tensor, TriangularOptions,
};
use std::panic::Location;

/// Expands one line of the table to a function, one parameter at a time. The brackets hold, in this order: unused names
/// for type parameters, the type parameters, the types of the arguments, the parameters of the function, the names of
/// the arguments, and the statements that make owned copies.
macro_rules! op {
    (@ $head:tt [$g:ident $($free:ident)*] [$($generic:tt)*] [$($type:tt)*] [$($parameter:tt)*] [$($argument:ident)*] [$($owned:tt)*]; $name:ident: tensor $(, $($rest:tt)*)?) => {
        op! { @ $head [$($free)*] [$($generic)* $g: Argument<Value = Tensor>,] [$($type)* $g,] [$($parameter)* $name: $g,] [$($argument)* $name] [$($owned)*]; $($($rest)*)? }
    };
    (@ $head:tt [$g:ident $($free:ident)*] [$($generic:tt)*] [$($type:tt)*] [$($parameter:tt)*] [$($argument:ident)*] [$($owned:tt)*]; $name:ident: operand $(, $($rest:tt)*)?) => {
        op! { @ $head [$($free)*] [$($generic)* $g: Argument<Value: Operand>,] [$($type)* $g,] [$($parameter)* $name: $g,] [$($argument)* $name] [$($owned)*]; $($($rest)*)? }
    };
    (@ $head:tt [$g:ident $($free:ident)*] [$($generic:tt)*] [$($type:tt)*] [$($parameter:tt)*] [$($argument:ident)*] [$($owned:tt)*]; $name:ident: optional $(, $($rest:tt)*)?) => {
        op! { @ $head [$($free)*] [$($generic)* $g: Argument<Value = Tensor>,] [$($type)* Option<$g>,] [$($parameter)* $name: Option<$g>,] [$($argument)* $name] [$($owned)*]; $($($rest)*)? }
    };
    (@ $head:tt [$g:ident $($free:ident)*] [$($generic:tt)*] [$($type:tt)*] [$($parameter:tt)*] [$($argument:ident)*] [$($owned:tt)*]; $name:ident: list $(, $($rest:tt)*)?) => {
        op! { @ $head [$($free)*] [$($generic)* $g: Argument<Value = Vec<Tensor>>,] [$($type)* $g,] [$($parameter)* $name: $g,] [$($argument)* $name] [$($owned)*]; $($($rest)*)? }
    };
    (@ $head:tt $free:tt $generic:tt $type:tt [$($parameter:tt)*] $argument:tt [$($owned:tt)*]; $name:ident: axis $(, $($rest:tt)*)?) => {
        op! { @ $head $free $generic $type [$($parameter)* $name: impl Axis,] $argument [$($owned)* let $name = $name.number();]; $($($rest)*)? }
    };
    (@ $head:tt $free:tt $generic:tt $type:tt [$($parameter:tt)*] $argument:tt [$($owned:tt)*]; $name:ident: index $(, $($rest:tt)*)?) => {
        op! { @ $head $free $generic $type [$($parameter)* $name: impl Integer,] $argument [$($owned)* let $name = $name.to_isize();]; $($($rest)*)? }
    };
    (@ $head:tt $free:tt $generic:tt $type:tt [$($parameter:tt)*] $argument:tt [$($owned:tt)*]; $name:ident: axes $(, $($rest:tt)*)?) => {
        op! { @ $head $free $generic $type [$($parameter)* $name: impl Axes,] $argument [$($owned)* let $name = $name.named();]; $($($rest)*)? }
    };
    (@ $head:tt $free:tt $generic:tt $type:tt [$($parameter:tt)*] $argument:tt [$($owned:tt)*]; $name:ident: extents $(, $($rest:tt)*)?) => {
        op! { @ $head $free $generic $type [$($parameter)* $name: impl Extents,] $argument [$($owned)* let $name = $name.extents();]; $($($rest)*)? }
    };
    (@ $head:tt $free:tt $generic:tt $type:tt [$($parameter:tt)*] $argument:tt [$($owned:tt)*]; $name:ident: slices $(, $($rest:tt)*)?) => {
        op! { @ $head $free $generic $type [$($parameter)* $name: impl Slices,] $argument [$($owned)* let $name = $name.entries();]; $($($rest)*)? }
    };
    (@ $head:tt $free:tt $generic:tt $type:tt [$($parameter:tt)*] $argument:tt [$($owned:tt)*]; $name:ident: scalar $(, $($rest:tt)*)?) => {
        op! { @ $head $free $generic $type [$($parameter)* $name: impl Into<Scalar>,] $argument [$($owned)* let $name: Scalar = $name.into();]; $($($rest)*)? }
    };
    (@ $head:tt $free:tt $generic:tt $type:tt [$($parameter:tt)*] $argument:tt [$($owned:tt)*]; $name:ident: sizes $(, $($rest:tt)*)?) => {
        op! { @ $head $free $generic $type [$($parameter)* $name: impl AsRef<[usize]>,] $argument [$($owned)* let $name = $name.as_ref().to_vec();]; $($($rest)*)? }
    };
    (@ $head:tt $free:tt $generic:tt $type:tt [$($parameter:tt)*] $argument:tt [$($owned:tt)*]; $name:ident: padding $(, $($rest:tt)*)?) => {
        op! { @ $head $free $generic $type [$($parameter)* $name: impl Padding,] $argument [$($owned)* let $name = $name.amounts().to_vec();]; $($($rest)*)? }
    };
    (@ $head:tt $free:tt $generic:tt $type:tt [$($parameter:tt)*] $argument:tt [$($owned:tt)*]; $name:ident: device $(, $($rest:tt)*)?) => {
        op! { @ $head $free $generic $type [$($parameter)* $name: &Device,] $argument [$($owned)* let $name = $name.clone();]; $($($rest)*)? }
    };
    (@ $head:tt $free:tt $generic:tt $type:tt [$($parameter:tt)*] $argument:tt $owned:tt; $name:ident: $plain:ty $(, $($rest:tt)*)?) => {
        op! { @ $head $free $generic $type [$($parameter)* $name: $plain,] $argument $owned; $($($rest)*)? }
    };
    (@ [$name:ident $output:ty, $body:expr] $free:tt [$($generic:tt)*] [$($type:tt)*] [$($parameter:tt)*] [$($argument:ident)*] [$($owned:tt)*];) => {
        #[doc = concat!("As [`Tensor::", stringify!($name), "`], on plain or pending operands.")]
        #[track_caller]
        pub fn $name<$($generic)*>($($parameter)*) -> Mixed<($($type)*), $output> {
            let location = Location::caller();
            $($owned)*
            call_op(($($argument,)*), location, move |($($argument,)*)| $body)
        }
    };
}

macro_rules! ops {
    ($(fn $name:ident($($parameter:tt)*) -> $output:ty = $body:expr;)*) => {
        $(op! { @ [$name $output, $body] [A B C D] [] [] [] [] []; $($parameter)* })*

        /// The names of all functions of the table.
        #[doc(hidden)]
        pub const NAMES: &[&str] = &[$(stringify!($name)),*];
    };
}

ops! {
    fn neg(x: tensor) -> Tensor = x.neg();
    fn abs(x: tensor) -> Tensor = x.abs();
    fn sign(x: tensor) -> Tensor = x.sign();
    fn floor(x: tensor) -> Tensor = x.floor();
    fn ceil(x: tensor) -> Tensor = x.ceil();
    fn round(x: tensor) -> Tensor = x.round();
    fn exp(x: tensor) -> Tensor = x.exp();
    fn exp2(x: tensor) -> Tensor = x.exp2();
    fn expm1(x: tensor) -> Tensor = x.expm1();
    fn log(x: tensor) -> Tensor = x.log();
    fn log2(x: tensor) -> Tensor = x.log2();
    fn log1p(x: tensor) -> Tensor = x.log1p();
    fn sqrt(x: tensor) -> Tensor = x.sqrt();
    fn rsqrt(x: tensor) -> Tensor = x.rsqrt();
    fn cbrt(x: tensor) -> Tensor = x.cbrt();
    fn sin(x: tensor) -> Tensor = x.sin();
    fn cos(x: tensor) -> Tensor = x.cos();
    fn tan(x: tensor) -> Tensor = x.tan();
    fn asin(x: tensor) -> Tensor = x.asin();
    fn acos(x: tensor) -> Tensor = x.acos();
    fn atan(x: tensor) -> Tensor = x.atan();
    fn sinh(x: tensor) -> Tensor = x.sinh();
    fn cosh(x: tensor) -> Tensor = x.cosh();
    fn tanh(x: tensor) -> Tensor = x.tanh();
    fn asinh(x: tensor) -> Tensor = x.asinh();
    fn acosh(x: tensor) -> Tensor = x.acosh();
    fn atanh(x: tensor) -> Tensor = x.atanh();
    fn sigmoid(x: tensor) -> Tensor = x.sigmoid();
    fn erf(x: tensor) -> Tensor = x.erf();
    fn is_nan(x: tensor) -> Tensor = x.is_nan();
    fn is_finite(x: tensor) -> Tensor = x.is_finite();
    fn real(x: tensor) -> Tensor = x.real();
    fn imag(x: tensor) -> Tensor = x.imag();
    fn conj(x: tensor) -> Tensor = x.conj();
    fn bitwise_not(x: tensor) -> Tensor = x.bitwise_not();
    fn count_ones(x: tensor) -> Tensor = x.count_ones();
    fn leading_zeros(x: tensor) -> Tensor = x.leading_zeros();
    fn add(x: tensor, other: operand) -> Tensor = x.add(other);
    fn sub(x: tensor, other: operand) -> Tensor = x.sub(other);
    fn mul(x: tensor, other: operand) -> Tensor = x.mul(other);
    fn div(x: tensor, other: operand) -> Tensor = x.div(other);
    fn rem(x: tensor, other: operand) -> Tensor = x.rem(other);
    fn minimum(x: tensor, other: operand) -> Tensor = x.minimum(other);
    fn maximum(x: tensor, other: operand) -> Tensor = x.maximum(other);
    fn atan2(x: tensor, other: operand) -> Tensor = x.atan2(other);
    fn bitwise_and(x: tensor, other: operand) -> Tensor = x.bitwise_and(other);
    fn bitwise_or(x: tensor, other: operand) -> Tensor = x.bitwise_or(other);
    fn bitwise_xor(x: tensor, other: operand) -> Tensor = x.bitwise_xor(other);
    fn shift_left(x: tensor, other: operand) -> Tensor = x.shift_left(other);
    fn shift_right(x: tensor, other: operand) -> Tensor = x.shift_right(other);
    fn shift_right_logical(x: tensor, other: operand) -> Tensor = x.shift_right_logical(other);
    fn complex(x: tensor, other: operand) -> Tensor = x.complex(other);
    fn eq(x: tensor, other: operand) -> Tensor = x.eq(other);
    fn ne(x: tensor, other: operand) -> Tensor = x.ne(other);
    fn lt(x: tensor, other: operand) -> Tensor = x.lt(other);
    fn le(x: tensor, other: operand) -> Tensor = x.le(other);
    fn gt(x: tensor, other: operand) -> Tensor = x.gt(other);
    fn ge(x: tensor, other: operand) -> Tensor = x.ge(other);
    fn pow(x: tensor, exponent: operand) -> Tensor = x.pow(exponent);
    fn powi(x: tensor, power: i32) -> Tensor = x.powi(power);
    fn powf(x: tensor, power: f64) -> Tensor = x.powf(power);
    fn square(x: tensor) -> Tensor = x.square();
    fn reciprocal(x: tensor) -> Tensor = x.reciprocal();
    fn is_close(x: tensor, other: operand, relative: f64, absolute: f64) -> Tensor =
        x.is_close(other, relative, absolute);
    fn clamp(x: tensor, low: operand, high: operand) -> Tensor = x.clamp(low, high);
    fn logical_and(x: tensor, other: operand) -> Tensor = x.logical_and(other);
    fn logical_or(x: tensor, other: operand) -> Tensor = x.logical_or(other);
    fn logical_xor(x: tensor, other: operand) -> Tensor = x.logical_xor(other);
    fn logical_not(x: tensor) -> Tensor = x.logical_not();
    fn where_cond(x: tensor, on_true: operand, on_false: operand) -> Tensor = x.where_cond(on_true, on_false);
    fn masked_fill(x: tensor, mask: tensor, value: operand) -> Tensor = x.masked_fill(&mask, value);
    fn cast(x: tensor, dtype: DType) -> Tensor = x.cast(dtype);
    fn bitcast(x: tensor, dtype: DType) -> Tensor = x.bitcast(dtype);
    fn relu(x: tensor) -> Tensor = x.relu();
    fn leaky_relu(x: tensor, slope: f64) -> Tensor = x.leaky_relu(slope);
    fn gelu(x: tensor) -> Tensor = x.gelu();
    fn gelu_tanh(x: tensor) -> Tensor = x.gelu_tanh();
    fn silu(x: tensor) -> Tensor = x.silu();
    fn softplus(x: tensor) -> Tensor = x.softplus();
    fn softmax(x: tensor, axis: axis) -> Tensor = x.softmax(axis);
    fn log_softmax(x: tensor, axis: axis) -> Tensor = x.log_softmax(axis);
    fn layer_norm(x: tensor, axes: axes, weight: optional, bias: optional, epsilon: f64) -> Tensor =
        x.layer_norm(axes, weight.as_ref(), bias.as_ref(), epsilon);
    fn rms_norm(x: tensor, axes: axes, weight: optional, epsilon: f64) -> Tensor =
        x.rms_norm(axes, weight.as_ref(), epsilon);
    fn reshape(x: tensor, shape: extents) -> Tensor = x.reshape(shape.as_slice());
    fn flatten(x: tensor) -> Tensor = x.flatten();
    fn flatten_from(x: tensor, axis: axis) -> Tensor = x.flatten_from(axis);
    fn flatten_axes(x: tensor, axes: axes) -> Tensor = x.flatten_axes(axes);
    fn transpose(x: tensor) -> Tensor = x.transpose();
    fn swap_dims(x: tensor, first: axis, second: axis) -> Tensor = x.swap_dims(first, second);
    fn permute(x: tensor, axes: axes) -> Tensor = x.permute(axes);
    fn unsqueeze(x: tensor, axis: axis) -> Tensor = x.unsqueeze(axis);
    fn squeeze(x: tensor, axis: axis) -> Tensor = x.squeeze(axis);
    fn squeeze_all(x: tensor) -> Tensor = x.squeeze_all();
    fn expand(x: tensor, shape: extents) -> Tensor = x.expand(shape.as_slice());
    fn slice(x: tensor, slices: slices) -> Tensor = x.slice(slices.as_slice());
    fn slice_assign(x: tensor, slices: slices, update: operand) -> Tensor =
        x.slice_assign(slices.as_slice(), update);
    fn flip(x: tensor, axes: axes) -> Tensor = x.flip(axes);
    fn get(x: tensor, index: index) -> Tensor = x.get(index);
    fn index_axis(x: tensor, axis: axis, index: index) -> Tensor = x.index_axis(axis, index);
    fn narrow(x: tensor, axis: axis, start: usize, len: usize) -> Tensor = x.narrow(axis, start, len);
    fn pad(x: tensor, amounts: padding, fill: scalar) -> Tensor = x.pad(&amounts, fill);
    fn cat(tensors: list, axis: axis) -> Tensor = Tensor::cat(&tensors, axis);
    fn stack(tensors: list, axis: axis) -> Tensor = Tensor::stack(&tensors, axis);
    fn split(x: tensor, axis: axis, extents: sizes) -> Vec<Tensor> = x.split(axis, &extents);
    fn chunk(x: tensor, axis: axis, parts: usize) -> Vec<Tensor> = x.chunk(axis, parts);
    fn gather(x: tensor, axis: axis, index: tensor) -> Tensor = x.gather(axis, &index);
    fn index_select(x: tensor, axis: axis, index: tensor) -> Tensor = x.index_select(axis, &index);
    fn take_along_axis(x: tensor, axis: axis, index: tensor) -> Tensor = x.take_along_axis(axis, &index);
    fn index_add(x: tensor, axis: axis, index: tensor, updates: tensor) -> Tensor =
        x.index_add(axis, &index, &updates);
    fn take(x: tensor, index: tensor) -> Tensor = x.take(&index);
    fn scatter(x: tensor, axis: axis, index: tensor, updates: tensor) -> Tensor =
        x.scatter(axis, &index, &updates);
    fn scatter_add(x: tensor, axis: axis, index: tensor, updates: tensor) -> Tensor =
        x.scatter_add(axis, &index, &updates);
    fn scatter_mul(x: tensor, axis: axis, index: tensor, updates: tensor) -> Tensor =
        x.scatter_mul(axis, &index, &updates);
    fn scatter_min(x: tensor, axis: axis, index: tensor, updates: tensor) -> Tensor =
        x.scatter_min(axis, &index, &updates);
    fn scatter_max(x: tensor, axis: axis, index: tensor, updates: tensor) -> Tensor =
        x.scatter_max(axis, &index, &updates);
    fn one_hot(x: tensor, classes: usize, dtype: DType) -> Tensor = x.one_hot(classes, dtype);
    fn matmul(x: tensor, other: tensor) -> Tensor = x.matmul(&other);
    fn dot_general(x: tensor, other: tensor, axes: DotAxes) -> Tensor = x.dot_general(&other, axes);
    fn conv1d(x: tensor, weight: tensor, bias: optional, options: ConvOptions<1>) -> Tensor =
        x.conv1d(&weight, bias.as_ref(), options);
    fn conv2d(x: tensor, weight: tensor, bias: optional, options: ConvOptions<2>) -> Tensor =
        x.conv2d(&weight, bias.as_ref(), options);
    fn conv3d(x: tensor, weight: tensor, bias: optional, options: ConvOptions<3>) -> Tensor =
        x.conv3d(&weight, bias.as_ref(), options);
    fn conv_transpose2d(x: tensor, weight: tensor, bias: optional, options: ConvOptions<2>) -> Tensor =
        x.conv_transpose2d(&weight, bias.as_ref(), options);
    fn max_pool1d(x: tensor, options: PoolOptions<1>) -> Tensor = x.max_pool1d(options);
    fn max_pool2d(x: tensor, options: PoolOptions<2>) -> Tensor = x.max_pool2d(options);
    fn avg_pool1d(x: tensor, options: PoolOptions<1>) -> Tensor = x.avg_pool1d(options);
    fn avg_pool2d(x: tensor, options: PoolOptions<2>) -> Tensor = x.avg_pool2d(options);
    fn windows(x: tensor, window: sizes, strides: sizes) -> Tensor = x.windows(&window, &strides);
    fn unfold(x: tensor, axis: axis, size: usize, step: usize) -> Tensor = x.unfold(axis, size, step);
    fn sort(x: tensor, axis: axis, descending: bool) -> Tensor = x.sort(axis, descending);
    fn argsort(x: tensor, axis: axis, descending: bool) -> Tensor = x.argsort(axis, descending);
    fn top_k(x: tensor, k: usize, axis: axis) -> (Tensor, Tensor) = x.top_k(k, axis);
    fn fft(x: tensor, axis: axis) -> Tensor = x.fft(axis);
    fn ifft(x: tensor, axis: axis) -> Tensor = x.ifft(axis);
    fn rfft(x: tensor, axis: axis) -> Tensor = x.rfft(axis);
    fn irfft(x: tensor, n: usize, axis: axis) -> Tensor = x.irfft(n, axis);
    fn cholesky(x: tensor) -> Tensor = x.cholesky();
    fn solve_triangular(x: tensor, b: tensor, options: TriangularOptions) -> Tensor =
        x.solve_triangular(&b, options);
    fn sum_all(x: tensor) -> Tensor = x.sum_all();
    fn sum(x: tensor, axes: axes) -> Tensor = x.sum(axes);
    fn sum_keepdim(x: tensor, axes: axes) -> Tensor = x.sum_keepdim(axes);
    fn prod_all(x: tensor) -> Tensor = x.prod_all();
    fn prod(x: tensor, axes: axes) -> Tensor = x.prod(axes);
    fn prod_keepdim(x: tensor, axes: axes) -> Tensor = x.prod_keepdim(axes);
    fn min_all(x: tensor) -> Tensor = x.min_all();
    fn min(x: tensor, axes: axes) -> Tensor = x.min(axes);
    fn min_keepdim(x: tensor, axes: axes) -> Tensor = x.min_keepdim(axes);
    fn max_all(x: tensor) -> Tensor = x.max_all();
    fn max(x: tensor, axes: axes) -> Tensor = x.max(axes);
    fn max_keepdim(x: tensor, axes: axes) -> Tensor = x.max_keepdim(axes);
    fn all_all(x: tensor) -> Tensor = x.all_all();
    fn all(x: tensor, axes: axes) -> Tensor = x.all(axes);
    fn all_keepdim(x: tensor, axes: axes) -> Tensor = x.all_keepdim(axes);
    fn any_all(x: tensor) -> Tensor = x.any_all();
    fn any(x: tensor, axes: axes) -> Tensor = x.any(axes);
    fn any_keepdim(x: tensor, axes: axes) -> Tensor = x.any_keepdim(axes);
    fn mean_all(x: tensor) -> Tensor = x.mean_all();
    fn mean(x: tensor, axes: axes) -> Tensor = x.mean(axes);
    fn mean_keepdim(x: tensor, axes: axes) -> Tensor = x.mean_keepdim(axes);
    fn var_all(x: tensor, correction: usize) -> Tensor = x.var_all(correction);
    fn var(x: tensor, axes: axes, correction: usize) -> Tensor = x.var(axes, correction);
    fn var_keepdim(x: tensor, axes: axes, correction: usize) -> Tensor = x.var_keepdim(axes, correction);
    fn std_all(x: tensor, correction: usize) -> Tensor = x.std_all(correction);
    fn std(x: tensor, axes: axes, correction: usize) -> Tensor = x.std(axes, correction);
    fn std_keepdim(x: tensor, axes: axes, correction: usize) -> Tensor = x.std_keepdim(axes, correction);
    fn logsumexp_all(x: tensor) -> Tensor = x.logsumexp_all();
    fn logsumexp(x: tensor, axes: axes) -> Tensor = x.logsumexp(axes);
    fn logsumexp_keepdim(x: tensor, axes: axes) -> Tensor = x.logsumexp_keepdim(axes);
    fn argmin(x: tensor, axis: axis) -> Tensor = x.argmin(axis);
    fn argmin_keepdim(x: tensor, axis: axis) -> Tensor = x.argmin_keepdim(axis);
    fn argmax(x: tensor, axis: axis) -> Tensor = x.argmax(axis);
    fn argmax_keepdim(x: tensor, axis: axis) -> Tensor = x.argmax_keepdim(axis);
    fn cumsum(x: tensor, axis: axis) -> Tensor = x.cumsum(axis);
    fn cumprod(x: tensor, axis: axis) -> Tensor = x.cumprod(axis);
    fn cummax(x: tensor, axis: axis) -> Tensor = x.cummax(axis);
    fn cummin(x: tensor, axis: axis) -> Tensor = x.cummin(axis);
    fn argmin_all(x: tensor) -> Tensor = x.argmin_all();
    fn argmax_all(x: tensor) -> Tensor = x.argmax_all();
    fn zeros_like(x: tensor) -> Tensor = x.zeros_like();
    fn ones_like(x: tensor) -> Tensor = x.ones_like();
    fn full_like(x: tensor, value: scalar) -> Tensor = x.full_like(value);
    fn rand_like(x: tensor, seed: u64) -> Tensor = x.rand_like(seed);
    fn randn_like(x: tensor, seed: u64) -> Tensor = x.randn_like(seed);
    fn to_device(x: tensor, device: device) -> Tensor = x.to_device(&device);
}
