//! Reductions and scans.
//!
//! Each reduction comes in three forms: over some axes, which the result drops, `x.sum([0, 1])`;
//! over some axes, which it keeps with extent 1, `x.sum_keepdim([1])`; and over all elements, `x.sum_all()`.
//! Negative axes count from the end.

use super::Tensor;
use super::axis;
use super::record::{mistake, record_at};
use crate::{DType, Shape};
use inflight_ir::Axes;
use inflight_ir::elementwise::{ArgOp, CombineOp};
use inflight_ir::graph::Op;
use std::panic::Location;

#[derive(Clone, Copy)]
enum Reduction {
    Combine(CombineOp),
    Mean,
    Variance { correction: usize },
    Deviation { correction: usize },
    LogSumExp,
}

macro_rules! reductions {
    ($(
        $(#[$doc:meta])*
        $all:ident $axes:ident $keep:ident ($($argument:ident: $type:ty)?) $reduction:expr;
    )*) => {
        impl Tensor {$(
            $(#[$doc])*
            #[track_caller]
            pub fn $all(&self $(, $argument: $type)?) -> Tensor {
                reduce(self, $reduction, None, false)
            }

            #[doc = concat!("As [`", stringify!($all), "`](Tensor::", stringify!($all),
                "), over these axes, which the result drops.")]
            #[track_caller]
            pub fn $axes(&self, axes: impl AsRef<[isize]> $(, $argument: $type)?) -> Tensor {
                reduce(self, $reduction, Some(axes.as_ref()), false)
            }

            #[doc = concat!("As [`", stringify!($all), "`](Tensor::", stringify!($all),
                "), over these axes, which the result keeps with extent 1.")]
            #[track_caller]
            pub fn $keep(&self, axes: impl AsRef<[isize]> $(, $argument: $type)?) -> Tensor {
                reduce(self, $reduction, Some(axes.as_ref()), true)
            }
        )*}
    };
}

reductions! {
    /// The sum of the elements; of `bool`, how many are true, as `i64`. Halves are summed in `f32`.
    ///
    /// Floats are added in their own dtype. A row is added as several partial sums, a column one element after the
    /// other, and more than 65,536 elements for one result are cut into pieces that are added in the end, so that the
    /// errors of long sums stay small; the order does not depend on the number of threads. Integers wrap.
    sum_all sum sum_keepdim () Reduction::Combine(CombineOp::Sum);
    /// The product of the elements; `bool` counts as 0 and 1, as `i64`.
    prod_all prod prod_keepdim () Reduction::Combine(CombineOp::Product);
    /// The smallest element, NaN if any is. Of no element, the largest value of the dtype.
    min_all min min_keepdim () Reduction::Combine(CombineOp::Min);
    /// The largest element, NaN if any is. Of no element, the smallest value of the dtype.
    max_all max max_keepdim () Reduction::Combine(CombineOp::Max);
    /// Whether all elements of a `bool` tensor are true.
    all_all all all_keepdim () Reduction::Combine(CombineOp::And);
    /// Whether any element of a `bool` tensor is true.
    any_all any any_keepdim () Reduction::Combine(CombineOp::Or);
    /// The mean of the elements, which must be floats or complex numbers.
    mean_all mean mean_keepdim () Reduction::Mean;
    /// The mean squared distance to the mean, dividing by the number of elements less `correction`: 0 for
    /// that of a whole population, 1 for the unbiased estimate from a sample.
    var_all var var_keepdim (correction: usize) Reduction::Variance { correction };
    /// The square root of [`var`](Tensor::var).
    std_all std std_keepdim (correction: usize) Reduction::Deviation { correction };
    /// ln Σ eˣ, without overflow.
    logsumexp_all logsumexp logsumexp_keepdim () Reduction::LogSumExp;
}

impl Reduction {
    fn name(self) -> &'static str {
        match self {
            Reduction::Combine(op) => op.reduce_name(),
            Reduction::Mean => "mean",
            Reduction::Variance { .. } => "var",
            Reduction::Deviation { .. } => "std",
            Reduction::LogSumExp => "logsumexp",
        }
    }

    fn dtype(self, dtype: DType) -> DType {
        match self {
            Reduction::Combine(CombineOp::And | CombineOp::Or) => DType::Bool,
            Reduction::Combine(CombineOp::Sum | CombineOp::Product) if dtype == DType::Bool => {
                DType::I64
            }
            Reduction::Variance { .. } | Reduction::Deviation { .. } => dtype.real(),
            _ => dtype,
        }
    }

    /// What is wrong with operands of this dtype, where [`Op::Reduce`] would not say so, or not in words
    /// that fit.
    fn refuse(self, dtype: DType) -> Option<String> {
        match self {
            Reduction::Combine(CombineOp::And | CombineOp::Or) if dtype != DType::Bool => Some(
                format!("expected bool, found {dtype}; compare it with something, such as x.ne(0)"),
            ),
            Reduction::LogSumExp if !dtype.is_float() => {
                Some(format!("expected one of floats, found {dtype}; cast the operand first"))
            }
            Reduction::Mean | Reduction::Variance { .. } | Reduction::Deviation { .. }
                if !dtype.is_float() && !dtype.is_complex() =>
            {
                Some(format!(
                    "expected one of floats, complex numbers, found {dtype}; cast the operand first"
                ))
            }
            _ => None,
        }
    }
}

/// A reduction over the named axes, or over all.
#[track_caller]
fn reduce(x: &Tensor, reduction: Reduction, named: Option<&[isize]>, keep: bool) -> Tensor {
    let rank = x.rank();
    let axes = match named {
        Some(named) => axis::sorted_axes(named, rank),
        None => Ok((0..rank).collect()),
    };
    let (axes, message) = match axes {
        Ok(axes) => (axes, reduction.refuse(x.dtype())),
        Err(message) => (axis::existing_axes(named.unwrap_or_default(), rank), Some(message)),
    };
    if let Some(message) = message {
        let shape = x.shape().reduced(&axes, keep);
        let dtype = reduction.dtype(x.dtype());
        return mistake(reduction.name(), message, &[x], shape, dtype, Location::caller());
    }
    let count = axes.iter().map(|&axis| x.shape()[axis]).product::<usize>();
    let kept = keep.then(|| x.shape().reduced(&axes, true));
    match reduction {
        Reduction::Combine(op) => combine(&x.cast(countable(op, x.dtype())), op, &axes, kept),
        Reduction::Mean => mean(&x.widened(), &axes, count, kept).cast(x.dtype()),
        Reduction::Variance { correction } => {
            variance(&x.widened(), &axes, count, correction, kept).cast(x.dtype().real())
        }
        Reduction::Deviation { correction } => {
            variance(&x.widened(), &axes, count, correction, kept).sqrt().cast(x.dtype().real())
        }
        Reduction::LogSumExp => log_sum_exp(&x.widened(), &axes, kept).cast(x.dtype()),
    }
}

/// The dtype in which elements are combined: `bool` is counted where it would be added.
fn countable(op: CombineOp, dtype: DType) -> DType {
    match (op, dtype) {
        (CombineOp::Sum | CombineOp::Product, DType::Bool) => DType::I64,
        _ => dtype,
    }
}

/// One reduction. The result drops the axes, or has the shape `kept`.
#[track_caller]
fn combine(x: &Tensor, op: CombineOp, axes: &Axes, kept: Option<Shape>) -> Tensor {
    let location = Location::caller();
    let reduced = record_at(Op::Reduce { op, axes: axes.clone() }, &[x], location);
    match kept {
        Some(shape) if shape != *reduced.shape() => {
            record_at(Op::Reshape(shape), &[&reduced], location)
        }
        _ => reduced,
    }
}

#[track_caller]
fn mean(x: &Tensor, axes: &Axes, count: usize, kept: Option<Shape>) -> Tensor {
    combine(x, CombineOp::Sum, axes, kept) / count as f64
}

#[track_caller]
fn variance(
    x: &Tensor,
    axes: &Axes,
    count: usize,
    correction: usize,
    kept: Option<Shape>,
) -> Tensor {
    let centered = x - mean(x, axes, count, Some(x.shape().reduced(axes, true)));
    let distance = if x.dtype().is_complex() { centered.abs() } else { centered };
    combine(&distance.square(), CombineOp::Sum, axes, kept)
        / count.saturating_sub(correction) as f64
}

#[track_caller]
fn log_sum_exp(x: &Tensor, axes: &Axes, kept: Option<Shape>) -> Tensor {
    let largest = combine(x, CombineOp::Max, axes, Some(x.shape().reduced(axes, true)));
    // An infinite maximum is its own answer, but infinity less itself is not a number.
    let largest = largest.is_finite().where_cond(&largest, 0);
    let sum = combine(&(x - &largest).exp(), CombineOp::Sum, axes, kept);
    let largest = match sum.shape() == largest.shape() {
        true => largest,
        false => record_at(Op::Reshape(sum.shape().clone()), &[&largest], Location::caller()),
    };
    sum.log() + largest
}

impl Tensor {
    /// The index of the smallest element along an axis, which the result drops; the first of equals, and
    /// of the first NaN if there is one. `i64`.
    #[track_caller]
    pub fn argmin(&self, axis: isize) -> Tensor {
        arg(self, ArgOp::Min, axis, false)
    }

    /// As [`argmin`](Tensor::argmin), but the result keeps the axis with extent 1.
    #[track_caller]
    pub fn argmin_keepdim(&self, axis: isize) -> Tensor {
        arg(self, ArgOp::Min, axis, true)
    }

    /// The position of the smallest element among all, in row-major order. `i64`.
    #[track_caller]
    pub fn argmin_all(&self) -> Tensor {
        arg(&flat(self), ArgOp::Min, 0, false)
    }

    /// The index of the largest element along an axis, which the result drops; the first of equals, and
    /// of the first NaN if there is one. `i64`.
    #[track_caller]
    pub fn argmax(&self, axis: isize) -> Tensor {
        arg(self, ArgOp::Max, axis, false)
    }

    /// As [`argmax`](Tensor::argmax), but the result keeps the axis with extent 1.
    #[track_caller]
    pub fn argmax_keepdim(&self, axis: isize) -> Tensor {
        arg(self, ArgOp::Max, axis, true)
    }

    /// The position of the largest element among all, in row-major order. `i64`.
    #[track_caller]
    pub fn argmax_all(&self) -> Tensor {
        arg(&flat(self), ArgOp::Max, 0, false)
    }

    /// Each element plus all before it along an axis; `bool` is counted, as `i64`.
    ///
    /// Floats are added one by one in their own dtype, halves too; on a CPU, an axis of more than 65,536 elements in
    /// pieces. Over a long axis errors add up: [`cast`](Tensor::cast) to `f64` first where that matters.
    #[track_caller]
    pub fn cumsum(&self, axis: isize) -> Tensor {
        scan(self, CombineOp::Sum, axis)
    }

    /// Each element times all before it along an axis; `bool` counts as 0 and 1, as `i64`.
    #[track_caller]
    pub fn cumprod(&self, axis: isize) -> Tensor {
        scan(self, CombineOp::Product, axis)
    }

    /// The largest of each element and all before it along an axis.
    #[track_caller]
    pub fn cummax(&self, axis: isize) -> Tensor {
        scan(self, CombineOp::Max, axis)
    }

    /// The smallest of each element and all before it along an axis.
    #[track_caller]
    pub fn cummin(&self, axis: isize) -> Tensor {
        scan(self, CombineOp::Min, axis)
    }
}

#[track_caller]
fn flat(x: &Tensor) -> Tensor {
    record_at(Op::Reshape(Shape::from([x.elements()])), &[x], Location::caller())
}

#[track_caller]
fn arg(x: &Tensor, op: ArgOp, named: isize, keep: bool) -> Tensor {
    let location = Location::caller();
    let axis = match axis::axis(named, x.rank()) {
        Ok(axis) => axis,
        Err(message) => {
            let name = Op::ArgReduce { op, axis: 0 }.name();
            return mistake(name, message, &[x], x.shape().clone(), DType::I64, location);
        }
    };
    let found = record_at(Op::ArgReduce { op, axis }, &[x], location);
    match keep {
        true => record_at(Op::Reshape(x.shape().with(axis, 1)), &[&found], location),
        false => found,
    }
}

#[track_caller]
fn scan(x: &Tensor, op: CombineOp, named: isize) -> Tensor {
    let location = Location::caller();
    let dtype = countable(op, x.dtype());
    match axis::axis(named, x.rank()) {
        Ok(axis) => record_at(Op::Scan { op, axis }, &[&x.cast(dtype)], location),
        Err(message) => mistake(op.scan_name(), message, &[x], x.shape().clone(), dtype, location),
    }
}
