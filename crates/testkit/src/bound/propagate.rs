//! Error propagation: the errors of a node's result, given those of its operands.

use super::elementwise::{self, Approximate};
use super::fold::Fold;
use super::format::{EITHER_ZERO, Format, UNDECIDED, distance};
use super::{Estimate, apply, complex};
use inflight_ir::elementwise::{ArgOp, CombineOp};
use inflight_ir::graph::{Combine, DotAxes, FloatOrder, Op, SortOrder, SortResult};
use inflight_ir::interpret::Array;
use inflight_ir::{Axes, DType, DTypeClass, Element, Scalar, Shape};
use num_complex::Complex;

/// The error bound of each element of a node's value.
pub fn error(op: &Op, operands: &[&Estimate], value: &Array) -> Vec<f64> {
    match (op, operands) {
        (Op::Input | Op::Scalar | Op::Iota { .. }, []) => {
            value.scalars().map(stored_error).collect()
        }
        (Op::Unary(op), [_]) => elements(operands, value, |at, result| {
            let x = at[0];
            match x.dtype().class() {
                DTypeClass::Float => elementwise::unary(*op, x.dtype(), x.real(), result),
                DTypeClass::Complex => complex::unary(*op, x.dtype(), x.complex(), result),
                _ => x.error,
            }
        }),
        (Op::Binary(op), [_, _]) => elements(operands, value, |at, result| {
            let (a, b) = (at[0], at[1]);
            match a.dtype().class() {
                DTypeClass::Float => {
                    elementwise::binary(*op, a.dtype(), a.real(), b.real(), result)
                }
                DTypeClass::Complex => {
                    complex::binary(*op, a.dtype(), a.complex(), b.complex(), result)
                }
                _ => a.error.max(b.error),
            }
        }),
        (Op::Compare(op), [_, _]) => elements(operands, value, |at, _| {
            let (a, b) = (at[0], at[1]);
            match a.dtype().class() {
                DTypeClass::Float => elementwise::compare(*op, a.real(), b.real()),
                DTypeClass::Complex => compare_complex(a.complex(), b.complex()),
                _ => a.error.max(b.error),
            }
        }),
        (Op::Select, [_, _, _]) => elements(operands, value, |at, _| match at[0].error {
            UNDECIDED => UNDECIDED,
            _ if bool::from_scalar(at[0].value) => at[1].error,
            _ => at[2].error,
        }),
        (Op::Cast(to), [_]) => elements(operands, value, |at, result| {
            let x = at[0];
            match x.dtype().class() {
                DTypeClass::Float => elementwise::cast(*to, x.real(), result),
                DTypeClass::Complex => cast_complex(x, result),
                _ => x.error,
            }
        }),
        (Op::Bitcast(_), [_]) => elements(operands, value, |at, result| {
            let x = at[0];
            let nan = match x.dtype().class() {
                DTypeClass::Float => x.value.to_f64().is_nan(),
                DTypeClass::Complex => Complex::<f64>::from_scalar(x.value).is_nan(),
                _ => false,
            };
            match () {
                _ if x.dtype() == result.dtype() => x.error,
                _ if x.error > 0.0 || nan => UNDECIDED,
                _ => stored_error(result),
            }
        }),
        (Op::Assign(_) | Op::Concat { .. }, _) => {
            let errors: Vec<Array> = operands.iter().map(|x| errors_of(x)).collect();
            apply(op, &errors.iter().collect::<Vec<_>>()).to_vec()
        }
        (Op::Pad(_), [x, fill]) => apply(op, &[&errors_of(x), &errors_of(fill)]).to_vec(),
        (op, [x]) if op.is_view() => match x.error.iter().all(|&error| error == 0.0) {
            true => vec![0.0; value.element_count()],
            false => apply(op, &[&errors_of(x)]).to_vec(),
        },
        (Op::Gather { .. }, [x, index]) => {
            let found: Vec<f64> = apply(op, &[&errors_of(x), &index.value]).to_vec();
            found.iter().zip(&index.error).map(|(&found, &index)| found.max(index)).collect()
        }
        (Op::Scatter { axis, combine }, [x, index, update]) => match combine {
            None => scatter(x, index, update, *axis, None, value),
            Some(Combine::With(op)) => scatter(x, index, update, *axis, Some(*op), value),
            Some(Combine::Function(_)) => {
                let exact = operands.iter().all(|x| x.error.iter().all(|&error| error == 0.0));
                vec![if exact { 0.0 } else { UNDECIDED }; value.element_count()]
            }
        },
        (Op::Reduce { op, axes }, [x]) => {
            let folds = fold(x, *op, axes, |_, _| {});
            folds.iter().enumerate().map(|(i, fold)| fold.result(modulus(value.get(i)))).collect()
        }
        (Op::Scan { op, axis }, [x]) => {
            let mut errors = vec![0.0; value.element_count()];
            fold(x, *op, &[*axis], |i, fold| errors[i] = fold.result(modulus(value.get(i))));
            errors
        }
        (Op::ArgReduce { op, axis }, [x]) => arg_reduce(x, *op, *axis, value),
        (Op::Dot(axes), [a, b]) => dot(a, b, axes, value),
        (Op::Sort { axis, order, result }, keys) => sort(keys, *axis, order, *result),
        (op, operands) => panic!("{} with {} operands", op.name(), operands.len()),
    }
}

/// An operand element with its error.
#[derive(Clone, Copy)]
struct At {
    value: Scalar,
    error: f64,
}

impl At {
    fn dtype(&self) -> DType {
        self.value.dtype()
    }

    fn real(&self) -> Approximate {
        Approximate { value: self.value.to_f64(), error: self.error }
    }

    fn complex(&self) -> complex::Approximate {
        complex::Approximate { value: Complex::from_scalar(self.value), error: self.error }
    }
}

/// The error of an unmodified value: a subnormal may flush to zero where it is used.
fn stored_error(value: Scalar) -> f64 {
    let format = Format::of(value.dtype());
    match value.dtype().class() {
        DTypeClass::Float => match value.to_f64() {
            x if x.is_nan() => 0.0,
            x => format.flush_error(x, 0.0),
        },
        DTypeClass::Complex => {
            let z = Complex::<f64>::from_scalar(value);
            let part = |x: f64| if x.is_nan() { 0.0 } else { format.flush_error(x, 0.0) };
            part(z.re).max(part(z.im))
        }
        _ => 0.0,
    }
}

/// A real number, or the modulus of a complex one.
fn modulus(value: Scalar) -> f64 {
    match value.dtype().is_complex() {
        true => Complex::<f64>::from_scalar(value).norm(),
        false => value.to_f64(),
    }
}

/// The errors, as an array of the operand's shape.
fn errors_of(x: &Estimate) -> Array {
    Array::from_vec(x.error.clone(), &x.value.shape)
}

/// Calls `visit` with each index of the shape, in row-major order.
fn for_each_index(shape: &Shape, mut visit: impl FnMut(&[usize])) {
    let mut index = Axes::from_elem(0, shape.rank());
    for _ in 0..shape.element_count() {
        visit(&index);
        for axis in (0..shape.rank()).rev() {
            index[axis] += 1;
            if index[axis] < shape[axis] {
                break;
            }
            index[axis] = 0;
        }
    }
}

fn linear_index(index: &[usize], strides: &[usize]) -> usize {
    index.iter().zip(strides).map(|(index, stride)| index * stride).sum()
}

/// The error of each element from the elements of the operands, broadcast to the result's shape.
fn elements(
    operands: &[&Estimate],
    value: &Array,
    error: impl Fn(&[At], Scalar) -> f64,
) -> Vec<f64> {
    let strides: Vec<Axes> = operands
        .iter()
        .map(|operand| {
            let (from, to) = (&operand.value.shape, &value.shape);
            let strides = from.strides();
            let missing = to.rank() - from.rank();
            (0..to.rank())
                .map(|axis| match axis.checked_sub(missing) {
                    Some(axis) if from[axis] != 1 => strides[axis],
                    _ => 0,
                })
                .collect()
        })
        .collect();
    let mut errors = Vec::with_capacity(value.element_count());
    let mut at = [At { value: Scalar::zero(value.dtype), error: 0.0 }; 3];
    for_each_index(&value.shape, |index| {
        for (i, operand) in operands.iter().enumerate() {
            let position = linear_index(index, &strides[i]);
            at[i] = At { value: operand.value.get(position), error: operand.error[position] };
        }
        errors.push(error(&at[..operands.len()], value.get(errors.len())));
    });
    errors
}

fn compare_complex(a: complex::Approximate, b: complex::Approximate) -> f64 {
    let error = distance(a.error) + distance(b.error);
    match () {
        _ if error == UNDECIDED => UNDECIDED,
        _ if error == 0.0 || !a.value.is_finite() || !b.value.is_finite() => 0.0,
        // One part that certainly differs is enough.
        _ if (a.value.re - b.value.re).abs() > error => 0.0,
        _ if (a.value.im - b.value.im).abs() > error => 0.0,
        _ => UNDECIDED,
    }
}

fn cast_complex(x: At, result: Scalar) -> f64 {
    let z = Complex::<f64>::from_scalar(x.value);
    let part = |value: f64| Approximate { value, error: x.error };
    match result.dtype().class() {
        DTypeClass::Complex => {
            let result = Complex::<f64>::from_scalar(result);
            let to = if x.dtype() == DType::C128 { DType::F32 } else { DType::F64 };
            let cast = |x: f64, result: f64| elementwise::cast(to, part(x), result.to_scalar());
            cast(z.re, result.re).max(cast(z.im, result.im))
        }
        DTypeClass::Bool => {
            let nonzero = |x: f64| x.abs() > distance(part(x).error) || x.is_nan();
            match () {
                _ if x.error == UNDECIDED => UNDECIDED,
                _ if nonzero(z.re) || nonzero(z.im) || distance(x.error) == 0.0 => 0.0,
                _ => UNDECIDED,
            }
        }
        _ => elementwise::cast(result.dtype(), part(z.re), result),
    }
}

/// Reduces along `axes`; `visit` sees each running result after each element, with the element's index.
fn fold(
    x: &Estimate,
    op: CombineOp,
    axes: &[usize],
    mut visit: impl FnMut(usize, &Fold),
) -> Vec<Fold> {
    let (shape, dtype) = (&x.value.shape, x.value.dtype);
    let kept = shape.reduced(axes, true);
    let mut folds = vec![Fold::new(op, dtype, Format::accumulator(dtype)); kept.element_count()];
    let strides = kept_strides(shape, axes);
    let mut next = 0;
    for_each_index(shape, |index| {
        let fold = &mut folds[linear_index(index, &strides)];
        fold.push(modulus(x.value.get(next)), x.error[next]);
        visit(next, fold);
        next += 1;
    });
    folds
}

/// Strides into the shape without `axes`.
fn kept_strides(shape: &Shape, axes: &[usize]) -> Axes {
    let kept = shape.reduced(axes, true).strides();
    (0..shape.rank()).map(|axis| if axes.contains(&axis) { 0 } else { kept[axis] }).collect()
}

fn arg_reduce(x: &Estimate, op: ArgOp, axis: usize, value: &Array) -> Vec<f64> {
    let shape = &x.value.shape;
    let strides = kept_strides(shape, &[axis]);
    let own = shape.strides();
    let sign = if op == ArgOp::Min { -1.0 } else { 1.0 };
    let mut errors = vec![0.0; value.element_count()];
    let mut next = 0;
    for_each_index(shape, |index| {
        let line = linear_index(index, &strides);
        let winner = value.get(line).to_i64() as usize;
        let at = next + winner * own[axis] - index[axis] * own[axis];
        let error = distance(x.error[next]) + distance(x.error[at]);
        let (this, best) = (x.value.get(next).to_f64(), x.value.get(at).to_f64());
        // A contender may also win if it or the winner is inexact.
        let close = !best.is_nan() && sign * (best - this) <= error;
        if x.error[next] == UNDECIDED || (next != at && error > 0.0 && close) {
            errors[line] = UNDECIDED;
        }
        next += 1;
    });
    errors
}

fn scatter(
    x: &Estimate,
    index: &Estimate,
    update: &Estimate,
    axis: usize,
    combine: Option<CombineOp>,
    value: &Array,
) -> Vec<f64> {
    let (shape, dtype) = (&value.shape, value.dtype);
    let strides = shape.strides();
    let mut errors = x.error.clone();
    // An update is rounded to the dtype when it is combined.
    let format = Format::of(dtype);
    let mut folds: Vec<Option<Fold>> = vec![None; value.element_count()];
    let mut next = 0;
    for_each_index(&index.value.shape, |target| {
        let (along, update_error) = (index.value.get(next), update.error[next]);
        let new = modulus(update.value.get(next));
        let undecided = index.error[next] == UNDECIDED;
        next += 1;
        let mut target = Axes::from_slice(target);
        let at = |target: &Axes| linear_index(target, &strides);
        if undecided {
            for along in 0..shape[axis] {
                target[axis] = along;
                match combine {
                    None => errors[at(&target)] = UNDECIDED,
                    Some(op) => folds[at(&target)]
                        .get_or_insert_with(|| Fold::new(op, dtype, format))
                        .push(0.0, UNDECIDED),
                }
            }
            return;
        }
        let Ok(along) = usize::try_from(along.to_i64()) else { return };
        if along >= shape[axis] || index.value.get(next - 1).to_f64() >= shape[axis] as f64 {
            return;
        }
        target[axis] = along;
        let at = at(&target);
        match combine {
            None => errors[at] = update_error,
            Some(op) => {
                let start = || {
                    let mut fold = Fold::new(op, dtype, format);
                    fold.push(modulus(x.value.get(at)), x.error[at]);
                    fold
                };
                folds[at].get_or_insert_with(start).push(new, update_error);
            }
        }
    });
    for (at, fold) in folds.iter().enumerate() {
        if let Some(fold) = fold {
            errors[at] = errors[at].max(fold.result(modulus(value.get(at))));
        }
    }
    errors
}

/// The errors of the elements of a line bound those of the sorted line. Inexact elements may swap positions, and
/// the sign of a NaN, which the total order uses, is unspecified.
fn sort(keys: &[&Estimate], axis: usize, order: &SortOrder, result: SortResult) -> Vec<f64> {
    let shape = &keys[0].value.shape;
    let lines = shape.reduced(&[axis], true);
    let mut strides = lines.strides();
    strides[axis] = 0;
    let mut largest = vec![0.0f64; lines.element_count()];
    for (position, key) in keys.iter().enumerate() {
        let total = match order {
            SortOrder::Keys(orders) => orders[position].floats == FloatOrder::Total,
            SortOrder::Comparator(_) => false,
        };
        let by_bits = total && key.value.dtype.is_float();
        let mut elements = key.value.scalars().zip(&key.error);
        for_each_index(shape, |index| {
            let (value, &error) = elements.next().expect("one element for each index");
            let line = &mut largest[linear_index(index, &strides)];
            let unsigned = by_bits && value.to_f64().is_nan();
            *line = line.max(if unsigned { UNDECIDED } else { error });
        });
    }
    let result_shape = shape.with(axis, result.output_extent(shape[axis]));
    let mut errors = Vec::with_capacity(result_shape.element_count());
    for_each_index(&result_shape, |index| {
        let error = largest[linear_index(index, &strides)];
        errors.push(match result {
            SortResult::Values => error,
            _ if error == 0.0 => 0.0,
            SortResult::Positions | SortResult::FirstPositions(_) => UNDECIDED,
        });
    });
    errors
}

/// The exponent of the lowest set bit of any element, if all are finite and exact.
fn lowest_bit(x: &Estimate) -> Option<i32> {
    let exact = |i: usize| {
        let value = x.value.get(i).to_f64();
        (value.is_finite() && distance(x.error[i]) == 0.0).then_some(value)
    };
    let mut lowest = 1000;
    for i in 0..x.error.len() {
        let value = exact(i)?;
        if value != 0.0 {
            let bits = value.abs().to_bits();
            let exponent = (bits >> 52) as i32 - 1075;
            lowest = lowest.min(exponent + ((bits | 1 << 52).trailing_zeros() as i32));
        }
    }
    Some(lowest)
}

fn dot(a: &Estimate, b: &Estimate, axes: &DotAxes, value: &Array) -> Vec<f64> {
    let dtype = value.dtype;
    let op = Op::Dot(axes.clone());
    let undecided = |x: &Estimate| x.error.contains(&UNDECIDED);
    let continuous = dtype.is_float() || dtype.is_complex();
    if !continuous && !undecided(a) && !undecided(b) {
        return vec![0.0; value.element_count()];
    }
    // Σ|a||b|, and the same with every element at its largest possible magnitude.
    let array = |x: &Estimate, reach: f64| {
        let values = x.value.scalars().zip(&x.error);
        let values = values.map(|(value, error)| modulus(value).abs() + reach * error);
        Array::from_vec(values.collect::<Vec<f64>>(), &x.value.shape)
    };
    let exact = |x: &Estimate| x.error.iter().all(|&error| error == 0.0);
    let farthest: Vec<f64> = apply(&op, &[&array(a, 1.0), &array(b, 1.0)]).to_vec();
    if !continuous {
        return farthest.iter().map(|x| if x.is_finite() { 0.0 } else { UNDECIDED }).collect();
    }
    let plain: Vec<f64> = match exact(a) && exact(b) {
        true => farthest.clone(),
        false => {
            let decided = |x: &Estimate| {
                let values = array(x, 0.0).to_vec::<f64>().into_iter();
                let values = values.map(|value| if value.is_finite() { value } else { 0.0 });
                Array::from_vec(values.collect::<Vec<f64>>(), &x.value.shape)
            };
            apply(&op, &[&decided(a), &decided(b)]).to_vec()
        }
    };
    let (format, accumulator) = (Format::of(dtype), Format::accumulator(dtype));
    let terms: usize = axes.a_contract.iter().map(|&axis| a.value.shape[axis]).product();
    let lowest = match dtype.is_complex() {
        true => None,
        false => lowest_bit(a).zip(lowest_bit(b)).map(|(a, b)| a + b),
    };
    (0..value.element_count())
        .map(|i| {
            let reach = farthest[i];
            if !reach.is_finite() || reach > accumulator.max / 4.0 {
                return UNDECIDED;
            }
            let result = modulus(value.get(i));
            let scaled_magnitude = lowest.is_some_and(|lowest| {
                reach / f64::powi(2.0, lowest.max(-1000)) < f64::powi(2.0, accumulator.precision)
            });
            if scaled_magnitude {
                return match () {
                    _ if result == 0.0 => EITHER_ZERO,
                    _ if result.is_infinite() => 0.0,
                    _ => format.flush_error(result, 0.0),
                };
            }
            let parts = if dtype.is_complex() { 8.0 } else { 1.0 };
            let spread = (reach - plain[i]).max(0.0) * if dtype.is_complex() { 2.0 } else { 1.0 };
            let deviation = spread
                + parts
                    * (terms + 1) as f64
                    * (accumulator.unit() * reach + accumulator.min_normal());
            match result.is_infinite() {
                true => UNDECIDED,
                false => format.rounded_error(result, deviation, 1.0),
            }
        })
        .collect()
}
