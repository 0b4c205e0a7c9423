//! FFT by mixed radix: small radices are GEMMs with DFT matrices (Cooley-Tukey), and lengths with only large prime
//! factors use Bluestein's algorithm (chirp-z).

use super::{ComposeError, GraphBuilder};
use crate::elementwise::{BinaryOp, CompareOp, UnaryOp};
use crate::graph::{DotAxes, Graph, InferError, NodeId, Op, PadAxis, SliceAxis};
use crate::{Axes, DType, Scalar, Shape};
use num_complex::Complex;
use smallvec::{SmallVec, smallvec};

/// The kind of a Fourier transform.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum FftKind {
    /// Complex to complex.
    Forward,
    /// Complex to complex, the inverse of [`Forward`](FftKind::Forward).
    Inverse,
    /// Real to complex: the first half of the last axis; the other half is its mirror image.
    RealForward,
    /// Complex to real, the inverse of [`RealForward`](FftKind::RealForward).
    RealInverse,
}

/// The largest composite radix: lengths up to this are one GEMM with a DFT matrix.
const MAX_RADIX: usize = 16;

/// The largest prime radix: lengths whose prime factors are all larger use Bluestein's algorithm.
const MAX_DENSE_PRIME: usize = 64;

type NodeResult = Result<NodeId, InferError>;

/// Appends the FFT of the last axes of `x`, as StableHLO's `fft`. `lengths` are their extents, before halving for a
/// real transform and after restoring for its inverse.
pub fn fft(
    graph: &mut Graph,
    x: NodeId,
    kind: FftKind,
    lengths: &[usize],
) -> Result<NodeId, ComposeError> {
    let mut build = GraphBuilder(graph);
    check(&build, x, kind, lengths)?;
    let first = build.shape(x).rank() - lengths.len();
    let last = first + lengths.len() - 1;
    let n = lengths[lengths.len() - 1];
    Ok(match kind {
        FftKind::Forward | FftKind::Inverse => {
            let mut x = x;
            for axis in (first..=last).rev() {
                x = fft_along_axis(&mut build, x, axis, kind == FftKind::Inverse)?;
            }
            x
        }
        FftKind::RealForward => {
            let zero = build.scalar(0.0f64, build.dtype(x));
            let complex = build.binary(BinaryOp::Complex, x, zero)?;
            let all = fft_along_axis(&mut build, complex, last, false)?;
            let len = if n == 0 { 0 } else { n / 2 + 1 };
            let mut half = build.slice(all, last, SliceAxis { start: 0, step: 1, len })?;
            for axis in (first..last).rev() {
                half = fft_along_axis(&mut build, half, axis, false)?;
            }
            half
        }
        FftKind::RealInverse => {
            let mut half = x;
            for axis in first..last {
                half = fft_along_axis(&mut build, half, axis, true)?;
            }
            // The other half is the mirror image, without the first element and, for even lengths, the middle one.
            let len = n.div_ceil(2).saturating_sub(1);
            let mirrored = SliceAxis { start: len, step: -1, len };
            let mirrored = build.slice(half, last, mirrored)?;
            let mirrored = build.unary(UnaryOp::Conj, mirrored)?;
            let all = build.0.push(Op::Concat { axis: last }, &[half, mirrored])?;
            let all = fft_along_axis(&mut build, all, last, true)?;
            build.unary(UnaryOp::Real, all)?
        }
    })
}

fn check(
    build: &GraphBuilder,
    x: NodeId,
    kind: FftKind,
    lengths: &[usize],
) -> Result<(), ComposeError> {
    let (shape, found) = (build.shape(x), build.dtype(x));
    if lengths.is_empty() || lengths.len() > shape.rank() {
        return Err(ComposeError::FftRank { shape, found: lengths.len() });
    }
    let (fits, expected) = match kind {
        FftKind::RealForward => (matches!(found, DType::F32 | DType::F64), "f32 or f64"),
        _ => (found.is_complex(), "complex64 or complex128"),
    };
    if !fits {
        return Err(ComposeError::FftDType { expected, found });
    }
    let first = shape.rank() - lengths.len();
    for (i, &length) in lengths.iter().enumerate() {
        let halved = kind == FftKind::RealInverse && i + 1 == lengths.len() && length > 0;
        let expected = if halved { length / 2 + 1 } else { length };
        let (axis, found) = (first + i, shape[first + i]);
        if found != expected {
            return Err(ComposeError::FftExtent { axis, expected, found });
        }
    }
    Ok(())
}

/// The FFT along one axis.
fn fft_along_axis(build: &mut GraphBuilder, x: NodeId, axis: usize, inverse: bool) -> NodeResult {
    let shape = build.shape(x);
    let n = shape[axis];
    if shape.element_count() == 0 {
        return Ok(x);
    }
    let moved = build.move_axis(x, axis, shape.rank() - 1)?;
    let moved_shape = build.shape(moved);
    let flat = build.reshape(moved, Shape::from([shape.element_count() / n, n]))?;
    let mut result = fft_rows(build, flat, inverse)?;
    if inverse {
        let scale = Complex::new(1.0 / n as f64, 0.0);
        let scale = build.scalar(scale, build.dtype(x));
        result = build.binary(BinaryOp::Mul, result, scale)?;
    }
    let result = build.reshape(result, moved_shape)?;
    build.move_axis(result, shape.rank() - 1, axis)
}

/// The unscaled FFT of each row of a matrix.
fn fft_rows(build: &mut GraphBuilder, x: NodeId, inverse: bool) -> NodeResult {
    let shape = build.shape(x);
    let (batch, n) = (shape[0], shape[1]);
    if n == 1 {
        return Ok(x);
    }
    let dtype = build.dtype(x);
    let radix = first_radix(n);
    if radix == n {
        let matrix = dft_matrix(build, n, dtype, inverse)?;
        return build.0.push(
            Op::Dot(DotAxes {
                a_contract: smallvec![1],
                b_contract: smallvec![0],
                ..DotAxes::default()
            }),
            &[x, matrix],
        );
    }
    if radix == 1 {
        return bluestein(build, x, inverse);
    }
    // Cooley-Tukey, with x[n₂·j₁ + j₂] as [j₁, j₂]: DFTs of the columns, multiplication by the twiddle factors, then
    // FFTs of the rows. Element [k₁, k₂] of the result is that of k₁ + n₁·k₂.
    let rest = n / radix;
    let split = build.reshape(x, Shape::from([batch, radix, rest]))?;
    let matrix = dft_matrix(build, radix, dtype, inverse)?;
    let matrix = build.broadcast(matrix, Shape::from([batch, radix, radix]))?;
    let columns = build.0.push(
        Op::Dot(DotAxes {
            a_batch: smallvec![0],
            b_batch: smallvec![0],
            a_contract: smallvec![2],
            b_contract: smallvec![1],
        }),
        &[matrix, split],
    )?;
    let columns_shape = Shape::from([radix, rest]);
    let row = build.iota(columns_shape.clone(), 0, DType::I64)?;
    let column = build.iota(columns_shape, 1, DType::I64)?;
    let exponents = build.binary(BinaryOp::Mul, row, column)?;
    let twiddles = roots_of_unity(build, exponents, n, dtype, inverse)?;
    let twiddled = build.binary(BinaryOp::Mul, columns, twiddles)?;
    let twiddled = build.reshape(twiddled, Shape::from([batch * radix, rest]))?;
    let transformed = fft_rows(build, twiddled, inverse)?;
    let transformed = build.reshape(transformed, Shape::from([batch, radix, rest]))?;
    let transformed = build.permute(transformed, Axes::from_slice(&[0, 2, 1]))?;
    build.reshape(transformed, Shape::from([batch, n]))
}

/// The first radix of a length: its largest factor up to [`MAX_RADIX`], or a prime factor up to [`MAX_DENSE_PRIME`];
/// 1 if every prime factor is larger.
fn first_radix(n: usize) -> usize {
    if n <= MAX_RADIX {
        return n;
    }
    let composite = (2..=MAX_RADIX).rev().find(|&radix| n.is_multiple_of(radix));
    let prime = || (MAX_RADIX + 1..=MAX_DENSE_PRIME.min(n)).find(|&radix| n.is_multiple_of(radix));
    composite.or_else(prime).unwrap_or(1)
}

/// The DFT matrix of `n` elements; it is symmetric.
fn dft_matrix(build: &mut GraphBuilder, n: usize, dtype: DType, inverse: bool) -> NodeResult {
    let shape = Shape::from([n, n]);
    let row = build.iota(shape.clone(), 0, DType::I64)?;
    let column = build.iota(shape, 1, DType::I64)?;
    let exponents = build.binary(BinaryOp::Mul, row, column)?;
    let whole = build.scalar(n as i64, DType::I64);
    let exponents = build.binary(BinaryOp::Rem, exponents, whole)?;
    roots_of_unity(build, exponents, n, dtype, inverse)
}

/// Roots of unity, e^(∓2πi·exponents/n), for integer exponents from 0 to n-1.
///
/// The quadrant is computed in integers, so that the arguments of sine and cosine stay within π/4, where `f32`
/// represents them well.
fn roots_of_unity(
    build: &mut GraphBuilder,
    exponents: NodeId,
    n: usize,
    dtype: DType,
    inverse: bool,
) -> NodeResult {
    let part = dtype.real();
    let integer = |build: &mut GraphBuilder, value: i64| build.scalar(value, DType::I64);
    // 4·exponents = quarter·n + rest, with rest from -n/2 to n/2.
    let four = integer(build, 4);
    let fourfold = build.binary(BinaryOp::Mul, exponents, four)?;
    let mut quarter: Option<NodeId> = None;
    for edge in 1..=4i64 {
        // The next quadrant begins at (2·edge - 1)·n/2.
        let bound = integer(build, ((2 * edge - 1) * n as i64).div_euclid(2) + (n % 2) as i64);
        let beyond = build.0.push(Op::Compare(CompareOp::Ge), &[fourfold, bound])?;
        let beyond = build.cast(beyond, DType::I64)?;
        quarter = Some(match quarter {
            None => beyond,
            Some(quarter) => build.binary(BinaryOp::Add, quarter, beyond)?,
        });
    }
    let quarter = quarter.expect("four edges");
    let whole = integer(build, n as i64);
    let before = build.binary(BinaryOp::Mul, quarter, whole)?;
    let rest = build.binary(BinaryOp::Sub, fourfold, before)?;
    let rest = build.cast(rest, part)?;
    let unit = build.scalar(std::f64::consts::FRAC_PI_2 / n as f64, part);
    let angle = build.binary(BinaryOp::Mul, rest, unit)?;
    let (cosine, sine) = (build.unary(UnaryOp::Cos, angle)?, build.unary(UnaryOp::Sin, angle)?);
    // Odd quadrants swap sine and cosine. The cosine is negative in the second and third quadrant, the sine in the
    // third and fourth.
    let (one, two) = (integer(build, 1), integer(build, 2));
    let zero = integer(build, 0);
    let is_set = |build: &mut GraphBuilder, value: NodeId, bit: NodeId| {
        let masked = build.binary(BinaryOp::And, value, bit)?;
        build.0.push(Op::Compare(CompareOp::Ne), &[masked, zero])
    };
    let odd = is_set(build, quarter, one)?;
    let next = build.binary(BinaryOp::Add, quarter, one)?;
    let cosine_negative = is_set(build, next, two)?;
    let sine_negative = is_set(build, quarter, two)?;
    let signed = |build: &mut GraphBuilder, even: NodeId, other: NodeId, negative: NodeId| {
        let value = build.0.push(Op::Select, &[odd, other, even])?;
        let opposite = build.unary(UnaryOp::Neg, value)?;
        build.0.push(Op::Select, &[negative, opposite, value])
    };
    let real = signed(build, cosine, sine, cosine_negative)?;
    let imaginary = signed(build, sine, cosine, sine_negative)?;
    let imaginary = if inverse { imaginary } else { build.unary(UnaryOp::Neg, imaginary)? };
    build.binary(BinaryOp::Complex, real, imaginary)
}

/// Bluestein's algorithm (chirp-z), for rows whose length has only large prime factors: j·k = (j² + k² - (k - j)²) /
/// 2, so the FFT is a convolution with the chirp e^(±πi·j²/n), computed by FFTs of a power of two.
fn bluestein(build: &mut GraphBuilder, x: NodeId, inverse: bool) -> NodeResult {
    let shape = build.shape(x);
    let (n, dtype) = (shape[1], build.dtype(x));
    let m = (2 * n - 1).next_power_of_two();
    let squares = |build: &mut GraphBuilder, index: NodeId| {
        let square = build.binary(BinaryOp::Mul, index, index)?;
        let period = build.scalar(2 * n as i64, DType::I64);
        build.binary(BinaryOp::Rem, square, period)
    };
    let index = build.iota(Shape::from([n]), 0, DType::I64)?;
    let exponents = squares(build, index)?;
    let chirp = roots_of_unity(build, exponents, 2 * n, dtype, inverse)?;
    let modulated = build.binary(BinaryOp::Mul, x, chirp)?;
    let zero = build.0.scalar(Scalar::zero(dtype));
    let after = PadAxis { low: 0, high: (m - n) as isize, interior: 0 };
    let pads: SmallVec<[PadAxis; 4]> = smallvec![PadAxis::default(), after];
    let modulated = build.pad(modulated, zero, pads)?;
    // The conjugate chirp, centered on the first element with wraparound.
    let index = build.iota(Shape::from([m]), 0, DType::I64)?;
    let whole = build.scalar(m as i64, DType::I64);
    let from_end = build.binary(BinaryOp::Sub, whole, index)?;
    let distance = build.binary(BinaryOp::Min, index, from_end)?;
    let exponents = squares(build, distance)?;
    let conjugate = roots_of_unity(build, exponents, 2 * n, dtype, !inverse)?;
    let bound = build.scalar(n as i64, DType::I64);
    let near = build.0.push(Op::Compare(CompareOp::Lt), &[distance, bound])?;
    let conjugate = build.0.push(Op::Select, &[near, conjugate, zero])?;
    let conjugate = build.reshape(conjugate, Shape::from([1, m]))?;
    let (a, b) = (fft_rows(build, modulated, false)?, fft_rows(build, conjugate, false)?);
    let spectrum = build.binary(BinaryOp::Mul, a, b)?;
    let convolved = fft_rows(build, spectrum, true)?;
    let convolved = build.slice(convolved, 1, SliceAxis { start: 0, step: 1, len: n })?;
    let scale = build.scalar(Complex::new(1.0 / m as f64, 0.0), dtype);
    let convolved = build.binary(BinaryOp::Mul, convolved, scale)?;
    build.binary(BinaryOp::Mul, convolved, chirp)
}
