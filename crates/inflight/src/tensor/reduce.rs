//! Reductions (`sum`, `mean`, `max`, `argmax`, …) and scans (`cumsum`, …).
//!
//! Every reduction comes in three forms: `x.sum(axes)` drops the axes, `x.sum_keepdim(axes)` keeps them with extent 1,
//! and `x.sum_all()` reduces all elements. `axes` is anything that is [`Axes`]: `1`, `-1`, `[0, 2]`, `1..`, `..`.

use super::Tensor;
use super::axis::{Axes, Axis, NamedAxes, axis as axis_of};
use super::method::method;
use super::record::{mistake, record_at};
use crate::{DType, Shape};
use inflight_ir::Axes as AxisList;
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
        $axes:ident $keep:ident $all:ident ($($argument:ident: $type:ty)?) $reduction:expr;
    )*) => {
        impl Tensor {$(
            $(#[$doc])*
            #[track_caller]
            pub fn $axes(&self, axes: impl Axes $(, $argument: $type)?) -> Tensor {
                reduce(stringify!($axes), self, $reduction, Some(&axes.named()), false)
            }

            #[doc = concat!("As [`", stringify!($axes), "`](Tensor::", stringify!($axes),
                "), but the result keeps the axes with extent 1.")]
            #[doc(alias("keepdim", "keepdims"))]
            #[track_caller]
            pub fn $keep(&self, axes: impl Axes $(, $argument: $type)?) -> Tensor {
                reduce(stringify!($keep), self, $reduction, Some(&axes.named()), true)
            }

            #[doc = concat!("As [`", stringify!($axes), "`](Tensor::", stringify!($axes),
                "), over all elements: the result has rank 0.")]
            #[track_caller]
            pub fn $all(&self $(, $argument: $type)?) -> Tensor {
                reduce(stringify!($all), self, $reduction, None, false)
            }
        )*}
    };
}

reductions! {
    /// The sum of the elements over some axes, which the result drops; of `bool`, the count of true elements, as `i64`.
    ///
    /// ```
    /// # use inflight::{Device, Tensor};
    /// # fn main() -> inflight::Result<()> {
    /// let x = Tensor::from_vec(vec![1, 2, 3, 4], (2, 2), &Device::cpu())?;
    /// assert_eq!(x.sum(0).to_vec::<i32>()?, [4, 6]);
    /// assert_eq!(x.sum(-1).to_vec::<i32>()?, [3, 7]);
    /// assert_eq!(x.sum_all().item::<i32>()?, 10);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// `f16` and `bf16` are summed in `f32`, other floats in their own dtype. A row is added as several partial sums, a
    /// column one element after the other, and more than 65,536 elements for one result are split into pieces that
    /// are added in the end, so that the errors of long sums stay small. The order does not depend on the number of
    /// threads. Integers wrap.
    #[doc(alias("reduce_sum", "nansum", "count_nonzero"))]
    sum sum_keepdim sum_all () Reduction::Combine(CombineOp::Sum);
    /// The product of the elements over some axes, which the result drops; `bool` counts as 0 and 1, as `i64`.
    #[doc(alias("product", "reduce_prod"))]
    prod prod_keepdim prod_all () Reduction::Combine(CombineOp::Product);
    /// The smallest element over some axes, which the result drops; NaN if any element is. Of no element, the largest
    /// value of the dtype.
    #[doc(alias("amin", "reduce_min"))]
    min min_keepdim min_all () Reduction::Combine(CombineOp::Min);
    /// The largest element over some axes, which the result drops; NaN if any element is. Of no element, the smallest
    /// value of the dtype.
    #[doc(alias("amax", "reduce_max"))]
    max max_keepdim max_all () Reduction::Combine(CombineOp::Max);
    /// Whether all elements of a `bool` tensor are true over some axes, which the result drops.
    #[doc(alias("reduce_and", "alltrue"))]
    all all_keepdim all_all () Reduction::Combine(CombineOp::And);
    /// Whether any element of a `bool` tensor is true over some axes, which the result drops.
    #[doc(alias("reduce_or", "sometrue"))]
    any any_keepdim any_all () Reduction::Combine(CombineOp::Or);
    /// The mean of the elements, which are floats or complex, over some axes, which the result drops.
    #[doc(alias("average", "reduce_mean"))]
    mean mean_keepdim mean_all () Reduction::Mean;
    /// The variance over some axes, which the result drops: the sum of squared distances to the mean, divided by the
    /// number of elements less `correction`. Use 0 for a whole population, 1 for the unbiased estimate from a sample.
    #[doc(alias("variance", "ddof", "unbiased"))]
    var var_keepdim var_all (correction: usize) Reduction::Variance { correction };
    /// The standard deviation over some axes, which the result drops: the square root of [`var`](Tensor::var).
    #[doc(alias("stddev", "standard_deviation"))]
    std std_keepdim std_all (correction: usize) Reduction::Deviation { correction };
    /// ln Σ eˣ over some axes, which the result drops, without overflow.
    #[doc(alias("log_sum_exp", "reduce_logsumexp"))]
    logsumexp logsumexp_keepdim logsumexp_all () Reduction::LogSumExp;
}

impl Reduction {
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

    /// The error for operands of this dtype, where [`Op::Reduce`] would not report one, or not in terms of this
    /// reduction.
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

/// The method `name`: a reduction over the named axes, or over all.
#[track_caller]
fn reduce(
    name: &'static str,
    x: &Tensor,
    reduction: Reduction,
    named: Option<&NamedAxes>,
    keep: bool,
) -> Tensor {
    let rank = x.rank();
    let (axes, message) = match named.map(|named| named.sorted(rank)) {
        None => ((0..rank).collect(), reduction.refuse(x.dtype())),
        Some(Ok(axes)) => (axes, reduction.refuse(x.dtype())),
        Some(Err(message)) => {
            (named.map_or_else(AxisList::new, |named| named.existing(rank)), Some(message))
        }
    };
    if let Some(message) = message {
        let shape = x.shape().reduced(&axes, keep);
        let dtype = reduction.dtype(x.dtype());
        return mistake(name, message, &[x], shape, dtype, Location::caller());
    }
    let method = method(name);
    let count = axes.iter().map(|&axis| x.shape()[axis]).product::<usize>();
    let kept = keep.then(|| x.shape().reduced(&axes, true));
    let reduced = match reduction {
        Reduction::Combine(op) => combine(&x.cast(countable(op, x.dtype())), op, &axes, kept),
        Reduction::Mean => mean(&x.widen_half(), &axes, count, kept).cast(x.dtype()),
        Reduction::Variance { correction } => {
            variance(&x.widen_half(), &axes, count, correction, kept).cast(x.dtype().real())
        }
        Reduction::Deviation { correction } => {
            variance(&x.widen_half(), &axes, count, correction, kept).sqrt().cast(x.dtype().real())
        }
        Reduction::LogSumExp => log_sum_exp(&x.widen_half(), &axes, kept).cast(x.dtype()),
    };
    method.of(&[x], reduced)
}

/// The dtype in which elements are combined: sums and products count `bool` in `i64`.
fn countable(op: CombineOp, dtype: DType) -> DType {
    match (op, dtype) {
        (CombineOp::Sum | CombineOp::Product, DType::Bool) => DType::I64,
        _ => dtype,
    }
}

/// One reduction. The result drops the axes, or has the shape `kept`.
#[track_caller]
fn combine(x: &Tensor, op: CombineOp, axes: &AxisList, kept: Option<Shape>) -> Tensor {
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
fn mean(x: &Tensor, axes: &AxisList, count: usize, kept: Option<Shape>) -> Tensor {
    combine(x, CombineOp::Sum, axes, kept) / count as f64
}

#[track_caller]
fn variance(
    x: &Tensor,
    axes: &AxisList,
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
fn log_sum_exp(x: &Tensor, axes: &AxisList, kept: Option<Shape>) -> Tensor {
    let largest = combine(x, CombineOp::Max, axes, Some(x.shape().reduced(axes, true)));
    // An infinite maximum is the result, but infinity less itself is NaN.
    let largest = largest.is_finite().where_cond(&largest, 0);
    let sum = combine(&(x - &largest).exp(), CombineOp::Sum, axes, kept);
    let largest = match sum.shape() == largest.shape() {
        true => largest,
        false => record_at(Op::Reshape(sum.shape().clone()), &[&largest], Location::caller()),
    };
    sum.log() + largest
}

impl Tensor {
    /// The index of the smallest element along an axis, which the result drops, as `i64`. The first of equals; the
    /// first NaN if there is one.
    #[track_caller]
    pub fn argmin(&self, axis: impl Axis) -> Tensor {
        arg("argmin", self, ArgOp::Min, axis.number(), false)
    }

    /// As [`argmin`](Tensor::argmin), but the result keeps the axis with extent 1.
    #[doc(alias("keepdim", "keepdims"))]
    #[track_caller]
    pub fn argmin_keepdim(&self, axis: impl Axis) -> Tensor {
        arg("argmin_keepdim", self, ArgOp::Min, axis.number(), true)
    }

    /// The index of the smallest element among all, in row-major order, as an `i64` of rank 0.
    #[track_caller]
    pub fn argmin_all(&self) -> Tensor {
        arg_all("argmin_all", self, ArgOp::Min)
    }

    /// The index of the largest element along an axis, which the result drops, as `i64`. The first of equals; the
    /// first NaN if there is one.
    #[track_caller]
    pub fn argmax(&self, axis: impl Axis) -> Tensor {
        arg("argmax", self, ArgOp::Max, axis.number(), false)
    }

    /// As [`argmax`](Tensor::argmax), but the result keeps the axis with extent 1.
    #[doc(alias("keepdim", "keepdims"))]
    #[track_caller]
    pub fn argmax_keepdim(&self, axis: impl Axis) -> Tensor {
        arg("argmax_keepdim", self, ArgOp::Max, axis.number(), true)
    }

    /// The index of the largest element among all, in row-major order, as an `i64` of rank 0.
    #[track_caller]
    pub fn argmax_all(&self) -> Tensor {
        arg_all("argmax_all", self, ArgOp::Max)
    }

    /// The cumulative sum along an axis: each element plus all before it. `bool` is counted, as `i64`.
    ///
    /// Floats are added one by one in their own dtype, `f16` and `bf16` too; on a CPU, an axis of more than 65,536
    /// elements is scanned in pieces. Errors add up over a long axis: [`cast`](Tensor::cast) to `f64` first where that
    /// matters.
    #[doc(alias("cumulative_sum", "scan", "prefix_sum", "associative_scan"))]
    #[track_caller]
    pub fn cumsum(&self, axis: impl Axis) -> Tensor {
        scan("cumsum", self, CombineOp::Sum, axis.number())
    }

    /// The cumulative product along an axis: each element times all before it. `bool` counts as 0 and 1, as `i64`.
    #[doc(alias("cumulative_prod", "cumulative_product"))]
    #[track_caller]
    pub fn cumprod(&self, axis: impl Axis) -> Tensor {
        scan("cumprod", self, CombineOp::Product, axis.number())
    }

    /// The cumulative maximum along an axis: the largest of each element and all before it.
    #[doc(alias("cumulative_max", "maximum.accumulate"))]
    #[track_caller]
    pub fn cummax(&self, axis: impl Axis) -> Tensor {
        scan("cummax", self, CombineOp::Max, axis.number())
    }

    /// The cumulative minimum along an axis: the smallest of each element and all before it.
    #[doc(alias("cumulative_min", "minimum.accumulate"))]
    #[track_caller]
    pub fn cummin(&self, axis: impl Axis) -> Tensor {
        scan("cummin", self, CombineOp::Min, axis.number())
    }
}

#[track_caller]
fn arg(name: &'static str, x: &Tensor, op: ArgOp, named: isize, keep: bool) -> Tensor {
    let location = Location::caller();
    let axis = match axis_of(named, x.rank()) {
        Ok(axis) => axis,
        Err(message) => {
            return mistake(name, message, &[x], x.shape().clone(), DType::I64, location);
        }
    };
    let method = method(name);
    let found = record_at(Op::ArgReduce { op, axis }, &[x], location);
    let result = match keep {
        true => record_at(Op::Reshape(x.shape().with(axis, 1)), &[&found], location),
        false => found,
    };
    method.of(&[x], result)
}

#[track_caller]
fn arg_all(name: &'static str, x: &Tensor, op: ArgOp) -> Tensor {
    let location = Location::caller();
    if x.element_count() == 0 {
        let message = "expected at least one element, found none".to_owned();
        return mistake(name, message, &[x], Shape::scalar(), DType::I64, location);
    }
    let method = method(name);
    let flat = record_at(Op::Reshape(Shape::from([x.element_count()])), &[x], location);
    method.of(&[x], record_at(Op::ArgReduce { op, axis: 0 }, &[&flat], location))
}

#[track_caller]
fn scan(name: &'static str, x: &Tensor, op: CombineOp, named: isize) -> Tensor {
    let location = Location::caller();
    let dtype = countable(op, x.dtype());
    match axis_of(named, x.rank()) {
        Ok(axis) => {
            let method = method(name);
            method.of(&[x], record_at(Op::Scan { op, axis }, &[&x.cast(dtype)], location))
        }
        Err(message) => mistake(name, message, &[x], x.shape().clone(), dtype, location),
    }
}
