//! Library epilogues: matching an epilogue's kernel against what cuBLASLt fuses, which is a bias per column, an added
//! residual matrix, and GELU.
//!
//! cuBLASLt computes all of it in `f32` and rounds once, where one of our kernels rounds `f16` and `bf16` after each
//! op. Its ReLU is not used: a third of its algorithms, for every dtype, returns a number for a NaN.

use inflight_backend::{Epilogue, GemmLaunch};
use inflight_ir::elementwise::{BinaryOp, UnaryOp};
use inflight_ir::kernel::{AccessId, Kernel, Kind, LaunchShape, Stride, Value};
use inflight_ir::plan::{GemmStep, ScalarSource};
use inflight_ir::{DType, Scalar};

/// A matched epilogue: `gelu(scale · gemm + factor · residual + bias)`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MatchedEpilogue {
    pub scale: f32,
    /// The param with one value per column.
    pub bias: Option<usize>,
    /// The param with one value per element, its factor, and its row stride.
    pub residual: Option<(usize, f32, usize)>,
    pub gelu: bool,
    /// The written param and its row stride.
    pub result: (usize, usize),
}

/// Matches the epilogue of a GEMM.
pub fn match_epilogue(gemm: &GemmLaunch, epilogue: &Epilogue) -> Option<MatchedEpilogue> {
    let launch = &epilogue.launch;
    let matcher = EpilogueMatcher {
        dtype: gemm.dtype,
        batch: &gemm.batch,
        extents: [gemm.m, gemm.n],
        kernel: &launch.planned.kernel,
        shape: &launch.planned.shape,
        scalar: &|position| launch.scalars.get(position).copied(),
        gemm_param: epilogue.gemm_result,
    };
    matcher.match_pattern()
}

/// Whether the epilogue of a step matches, whatever the values of scalars that are not known yet.
pub fn is_library_epilogue(step: &GemmStep) -> bool {
    let Some(epilogue) = &step.epilogue else { return false };
    let launch = &epilogue.launch;
    let matcher = EpilogueMatcher {
        dtype: step.dtype,
        batch: &step.batch,
        extents: [step.m, step.n],
        kernel: &launch.kernel,
        shape: &launch.shape,
        scalar: &|position| match launch.scalars.get(position)? {
            ScalarSource::Fixed(value) => Some(*value),
            ScalarSource::Graph(_) => None,
        },
        gemm_param: epilogue.gemm_result,
    };
    matcher.match_pattern().is_some()
}

/// A GEMM and the kernel of its epilogue.
struct EpilogueMatcher<'a> {
    dtype: DType,
    batch: &'a [usize],
    /// M and N.
    extents: [usize; 2],
    kernel: &'a Kernel,
    shape: &'a LaunchShape,
    /// The values of the kernel's scalars.
    scalar: &'a dyn Fn(usize) -> Option<Scalar>,
    /// The param that is the GEMM result.
    gemm_param: usize,
}

impl EpilogueMatcher<'_> {
    fn match_pattern(&self) -> Option<MatchedEpilogue> {
        let EpilogueMatcher { dtype, extents: [m, n], kernel, shape, .. } = *self;
        let is_16_bit = matches!(dtype, DType::F16 | DType::BF16);
        let one_matrix = self.batch.iter().all(|&extent| extent == 1);
        if !one_matrix || kernel.reduces() || !(is_16_bit || dtype == DType::F32) {
            return None;
        }
        let (columns, grid) = shape.extents.split_last()?;
        if *columns != n || grid.iter().product::<usize>() != m {
            return None;
        }
        let row_stride = |access: AccessId| row_stride(kernel, shape, access);
        let expression = ExpressionView { kernel, scalar: self.scalar, dtype };
        let mut stores = (0..kernel.body.len()).filter_map(|at| match kernel.body[at].kind {
            Kind::Store { access, value, index: None, mask: None, combine: None } => {
                Some((access, value))
            }
            Kind::Store { .. } => Some((AccessId::MAX, 0)),
            _ => None,
        });
        let (access, stored) = stores.next()?;
        if stores.next().is_some() || access == AccessId::MAX {
            return None;
        }
        let target = kernel.accesses[access as usize].param? as usize;
        let distance =
            usize::try_from(row_stride(access)?).ok().filter(|stride| stride >= columns)?;
        if kernel.params[target].dtype != dtype {
            return None;
        }
        let inner = if is_16_bit { expression.match_gelu(stored) } else { None };
        let mut matched = MatchedEpilogue {
            scale: 0.0,
            bias: None,
            residual: None,
            gelu: inner.is_some(),
            result: (target, distance),
        };
        for (factor, term) in expression.terms(inner.unwrap_or(stored)) {
            let Kind::Load { access, index: None, mask: None } = kernel.body[term? as usize].kind
            else {
                return None;
            };
            let param = kernel.accesses[access as usize].param? as usize;
            if kernel.params[param].dtype != dtype || param == target {
                return None;
            }
            match row_stride(access)? {
                // If it occurs twice, the GEMM is no single term; if it does not occur, `scale` stays zero.
                _ if param == self.gemm_param && matched.scale != 0.0 => return None,
                _ if param == self.gemm_param => matched.scale = factor as f32,
                // The library does not read a residual with a zero factor, and would miss its infinities and NaNs.
                _ if factor == 0.0 => return None,
                0 if factor == 1.0 && matched.bias.is_none() && m > 1 => matched.bias = Some(param),
                stride if matched.residual.is_none() && stride >= *columns as isize => {
                    matched.residual = Some((param, factor as f32, stride as usize));
                }
                _ => return None,
            }
        }
        (matched.scale != 0.0).then_some(matched)
    }
}

/// The row stride of an access that traverses a row-major matrix from its first element on. `None` for any other access.
pub fn row_stride(kernel: &Kernel, shape: &LaunchShape, access: AccessId) -> Option<isize> {
    let (columns, grid) = shape.extents.split_last()?;
    let map = &shape.accesses[access as usize];
    let (mut rows, mut stride) = (1, None);
    for (&extent, &along) in grid.iter().zip(&map.strides[..grid.len()]).rev() {
        if extent == 1 {
            continue;
        }
        match stride {
            None => stride = Some(along),
            Some(stride) if along != stride * rows as isize => return None,
            Some(_) => {}
        }
        rows *= extent;
    }
    let in_place = map.offset == 0 && map.index_stride == 0;
    (in_place && kernel.accesses[access as usize].vector == Stride::One)
        .then_some(stride.unwrap_or(*columns as isize))
}

/// The values of a kernel as sums of products.
struct ExpressionView<'a> {
    kernel: &'a Kernel,
    scalar: &'a dyn Fn(usize) -> Option<Scalar>,
    /// The dtype of the GEMM.
    dtype: DType,
}

impl ExpressionView<'_> {
    /// Strips the float conversions around a value. A library epilogue of `f16` or `bf16` converts once, at its end;
    /// in a GEMM of `f32`, they are roundings that the program asked for.
    fn strip_casts(&self, mut value: Value) -> Value {
        if !self.dtype.is_half() {
            return value;
        }
        while let Kind::Cast(of) = self.kernel.body[value as usize].kind {
            let both = [value, of].map(|v| self.kernel.body[v as usize].dtype);
            if !both.iter().all(|dtype| dtype.is_half() || *dtype == DType::F32) {
                break;
            }
            value = of;
        }
        value
    }

    fn constant(&self, value: Value) -> Option<f64> {
        let scalar = match self.kernel.body[self.strip_casts(value) as usize].kind {
            Kind::Constant(scalar) => scalar,
            Kind::Scalar(position) => (self.scalar)(position as usize)?,
            _ => return None,
        };
        scalar.dtype().is_float().then(|| scalar.to_f64())
    }

    /// A value as a sum of terms: a factor and what it multiplies, `None` for a constant term.
    fn terms(&self, value: Value) -> Vec<(f64, Option<Value>)> {
        match self.kernel.body[self.strip_casts(value) as usize].kind {
            Kind::Binary(BinaryOp::Add, a, b) => {
                let mut terms = self.terms(a);
                terms.extend(self.terms(b));
                terms
            }
            Kind::Binary(BinaryOp::Sub, a, b) => {
                let mut terms = self.terms(a);
                terms.extend(self.terms(b).into_iter().map(|(factor, of)| (-factor, of)));
                terms
            }
            _ => match self.factors(value) {
                (factor, factors) if factors.is_empty() => vec![(factor, None)],
                (factor, factors) if factors.len() == 1 => vec![(factor, Some(factors[0]))],
                _ => vec![(1.0, Some(self.strip_casts(value)))],
            },
        }
    }

    /// A value as a product: a constant and the other factors.
    fn factors(&self, value: Value) -> (f64, Vec<Value>) {
        let value = self.strip_casts(value);
        if let Some(constant) = self.constant(value) {
            return (constant, Vec::new());
        }
        match self.kernel.body[value as usize].kind {
            Kind::Binary(BinaryOp::Mul, a, b) => {
                let ((first, mut factors), (second, more)) = (self.factors(a), self.factors(b));
                factors.extend(more);
                (first * second, factors)
            }
            Kind::Unary(UnaryOp::Neg, a) => {
                let (factor, factors) = self.factors(a);
                (-factor, factors)
            }
            _ => (1.0, vec![value]),
        }
    }

    /// Matches `x/2 · (1 + tanh(√(2/π) · (x + 0.044715·x³)))` and returns `x`.
    fn match_gelu(&self, value: Value) -> Option<Value> {
        // Constants may have been rounded to the dtype of the GEMM.
        let precision = if self.dtype == DType::BF16 { 256.0 } else { 2048.0 };
        let near = |a: f64, b: f64| (a - b).abs() <= b.abs() / precision;
        let (half, factors) = self.factors(value);
        let [one, other] = factors[..] else { return None };
        let sum = |value: Value| match self.kernel.body[self.strip_casts(value) as usize].kind {
            Kind::Binary(BinaryOp::Add, a, b) => Some([self.strip_casts(a), self.strip_casts(b)]),
            _ => None,
        };
        let tanh = |value: Value| {
            let [a, b] = sum(value)?;
            let (one, inside) = match self.constant(a) {
                Some(one) => (one, b),
                None => (self.constant(b)?, a),
            };
            match self.kernel.body[inside as usize].kind {
                Kind::Unary(UnaryOp::Tanh, inner) if near(one, 1.0) => Some(inner),
                _ => None,
            }
        };
        let (x, inner) = match (tanh(one), tanh(other)) {
            (None, Some(inner)) => (one, inner),
            (Some(inner), None) => (other, inner),
            _ => return None,
        };
        let root = (2.0 / std::f64::consts::PI).sqrt();
        let (factor, factors) = self.factors(inner);
        let [both] = factors[..] else { return None };
        let [first, second] = sum(both)?;
        let is_cube = |value: Value| {
            let (factor, factors) = self.factors(value);
            near(factor, 0.044715) && factors.len() == 3 && factors.iter().all(|&f| f == x)
        };
        let matches = (first == x && is_cube(second)) || (second == x && is_cube(first));
        (near(half, 0.5) && near(factor, root) && matches).then_some(x)
    }
}
