//! Error bounds: how far a correct implementation may be from the reference interpreter.
//!
//! This is a running error analysis: each element of a reference value has a bound on the deviation of any
//! implementation with the documented accuracy of each op. Arithmetic is within one ulp, functions of `f32` within
//! three, sums within one rounding of the accumulation dtype per term; subnormals may flush to zero; `f16` and
//! `bf16` values are rounded after each op. Integers and `bool` are exact. If a decision (a comparison, a rounding
//! to an integer, a maximum, the sign of a zero) is closer than the error of its input, the element is undecided:
//! neither it nor anything that depends on it is compared.

mod complex;
mod elementwise;
mod fold;
mod format;
mod propagate;

pub use format::UNDECIDED;

use crate::random::Case;
use format::Format;
use inflight_ir::graph::{Graph, NodeId, Op};
use inflight_ir::interpret::{Array, interpret};
use inflight_ir::{DTypeClass, Element, Scalar};
use num_complex::Complex;
use std::fmt;

/// A reference value with the error bound of each element.
#[derive(Clone, Debug)]
pub struct Estimate {
    /// The reference value.
    pub value: Array,
    /// The error bound of each element (of each part of a complex one); 0 means exact.
    pub error: Vec<f64>,
}

/// The expected outputs of a case.
#[derive(Clone, Debug)]
pub struct Reference {
    seed: u64,
    /// One for each output of the graph.
    pub outputs: Vec<Estimate>,
}

/// Comparison coverage: counts of elements, and of those that were decided.
#[derive(Clone, Copy, Debug, Default)]
pub struct Compared {
    /// Float and complex elements.
    pub floats: usize,
    /// Float and complex elements that were decided.
    pub decided_floats: usize,
    /// Integer and `bool` elements.
    pub integers: usize,
    /// Integer and `bool` elements that were decided.
    pub decided_integers: usize,
}

impl Compared {
    /// Adds the counts of another comparison.
    pub fn add(&mut self, other: Compared) {
        self.floats += other.floats;
        self.decided_floats += other.decided_floats;
        self.integers += other.integers;
        self.decided_integers += other.decided_integers;
    }

    /// The fraction of float elements that was decided.
    pub fn float_share(&self) -> f64 {
        self.decided_floats as f64 / self.floats.max(1) as f64
    }

    /// The fraction of integer elements that was decided.
    pub fn integer_share(&self) -> f64 {
        self.decided_integers as f64 / self.integers.max(1) as f64
    }
}

/// The first element outside its error bound.
#[derive(Clone, Debug)]
pub struct Mismatch {
    /// The seed of the case.
    pub seed: u64,
    /// The index of the output.
    pub output: usize,
    /// The row-major index of the element; `None` if the shape or dtype is wrong.
    pub index: Option<usize>,
    /// The reference value.
    pub expected: String,
    /// The actual value.
    pub got: String,
    /// The error bound.
    pub bound: f64,
}

impl fmt::Display for Mismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "seed {}, output {}", self.seed, self.output)?;
        if let Some(index) = self.index {
            write!(f, ", element {index}")?;
        }
        write!(f, ": expected {} within {:e}, got {}", self.expected, self.bound, self.got)
    }
}

/// Runs the case in the reference interpreter and compares the results against it.
pub fn compare(case: &Case, results: &[Array]) -> Result<Compared, Mismatch> {
    Reference::new(case).compare(results)
}

/// The reference value and error bound of every node of the case's graph.
pub fn estimates(case: &Case) -> Vec<Estimate> {
    estimates_with(case, DotRounding::Always)
}

/// Rounding of `f16` and `bf16` dot results that a fused consumer reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DotRounding {
    /// Always to the dtype, like any other value.
    Always,
    /// The consumer may read the `f32` result before rounding (fused epilogue).
    MayBeSkipped,
}

fn estimates_with(case: &Case, dot_rounding: DotRounding) -> Vec<Estimate> {
    let mut every = case.graph.clone();
    every.outputs = (0..every.nodes.len() as NodeId).collect();
    let values = interpret(&every, &case.inputs);
    let mut estimates: Vec<Estimate> = Vec::with_capacity(values.len());
    for (node, value) in case.graph.nodes.iter().zip(values) {
        let operands: Vec<&Estimate> =
            node.inputs.iter().map(|&input| &estimates[input as usize]).collect();
        let mut error = propagate::error(&node.op, &operands, &value);
        debug_assert_eq!(error.len(), value.element_count());
        let may_skip_rounding = dot_rounding == DotRounding::MayBeSkipped && node.dtype.is_half();
        if may_skip_rounding && matches!(node.op, Op::Dot(_)) {
            let format = Format::of(node.dtype);
            for (error, value) in error.iter_mut().zip(value.scalars()) {
                let value = value.to_f64();
                if *error != UNDECIDED && value.is_finite() {
                    *error = format.rounded_error(value, *error, 0.5);
                }
            }
        }
        estimates.push(Estimate { value, error });
    }
    estimates
}

impl Reference {
    /// Runs the case in the reference interpreter.
    pub fn new(case: &Case) -> Reference {
        Reference::with_dot_rounding(case, DotRounding::Always)
    }

    /// Like [`Reference::new`], for a backend with this rounding of 16-bit dots.
    pub fn with_dot_rounding(case: &Case, dot_rounding: DotRounding) -> Reference {
        let estimates = estimates_with(case, dot_rounding);
        let outputs = &case.graph.outputs;
        let outputs = outputs.iter().map(|&output| estimates[output as usize].clone()).collect();
        Reference { seed: case.seed, outputs }
    }

    /// Compares the values of all outputs.
    pub fn compare(&self, results: &[Array]) -> Result<Compared, Mismatch> {
        assert_eq!(results.len(), self.outputs.len(), "a result for each output");
        let mut compared = Compared::default();
        for (output, result) in results.iter().enumerate() {
            compared.add(self.compare_output(output, result)?);
        }
        Ok(compared)
    }

    /// Compares the value of one output.
    pub fn compare_output(&self, output: usize, result: &Array) -> Result<Compared, Mismatch> {
        let expected = &self.outputs[output];
        let mismatch = |index, expected, got, bound| {
            Err(Mismatch { seed: self.seed, output, index, expected, got, bound })
        };
        let form = |array: &Array| format!("{}{}", array.dtype, array.shape);
        let same = result.shape == expected.value.shape && result.dtype == expected.value.dtype;
        if !same || result.bytes.len() != expected.value.bytes.len() {
            return mismatch(None, form(&expected.value), form(result), 0.0);
        }
        let mut compared = Compared::default();
        let continuous = result.dtype.is_float() || result.dtype.is_complex();
        let (all, decided) = match continuous {
            true => (&mut compared.floats, &mut compared.decided_floats),
            false => (&mut compared.integers, &mut compared.decided_integers),
        };
        for (index, &error) in expected.error.iter().enumerate() {
            *all += 1;
            if error == UNDECIDED {
                continue;
            }
            *decided += 1;
            let (want, got) = (expected.value.get(index), result.get(index));
            if !agree(want, got, error) {
                return mismatch(Some(index), format!("{want:?}"), format!("{got:?}"), error);
            }
        }
        Ok(compared)
    }
}

/// Whether a value is within the error bound of the reference. Zeros of both signs are equal, and so are all NaN.
fn agree(want: Scalar, got: Scalar, error: f64) -> bool {
    let near = |want: f64, got: f64| {
        want == got || (want.is_nan() && got.is_nan()) || (want - got).abs() <= error
    };
    match want.dtype().class() {
        DTypeClass::Float => near(want.to_f64(), got.to_f64()),
        DTypeClass::Complex => {
            let (want, got) = (Complex::<f64>::from_scalar(want), Complex::<f64>::from_scalar(got));
            near(want.re, got.re) && near(want.im, got.im)
        }
        _ => want == got,
    }
}

/// Interprets one op on these arrays.
fn apply(op: &Op, operands: &[&Array]) -> Array {
    let mut graph = Graph::default();
    let inputs: Vec<NodeId> =
        operands.iter().map(|operand| graph.input(&operand.shape, operand.dtype)).collect();
    let node = graph.push(op.clone(), &inputs).expect("the op was valid on these shapes");
    graph.outputs.push(node);
    let operands: Vec<Array> = operands.iter().map(|&operand| operand.clone()).collect();
    interpret(&graph, &operands).remove(0)
}
