//! How far a correct implementation may be from the reference interpreter.
//!
//! A running error analysis: beside the reference value of every element goes a bound of what any
//! implementation that keeps the documented accuracy of each op may differ by. Arithmetic is within one
//! unit in the last place, functions of `f32` within three, sums within a rounding of the accumulated
//! dtype for each term; numbers below the smallest normal one may become zero; halves are rounded after
//! each op. Integers and `bool` are exact. Where a decision (a comparison, a rounding to an integer, a
//! largest element, the sign of a zero) is closer than the error of what it is decided on, the element
//! is undecided: not compared, and neither is what depends on it.

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

/// A reference value and the bound of each of its elements.
#[derive(Clone, Debug)]
pub struct Estimate {
    /// The reference value.
    pub value: Array,
    /// How far each element (each part of a complex one) may be from it; 0 for exactly it.
    pub error: Vec<f64>,
}

/// The expected outputs of a case.
#[derive(Clone, Debug)]
pub struct Reference {
    seed: u64,
    /// One for each output of the graph.
    pub outputs: Vec<Estimate>,
}

/// How much was compared: elements of floats and complex numbers, and of integers and `bool`.
#[derive(Clone, Copy, Debug, Default)]
pub struct Compared {
    /// Float and complex elements.
    pub floats: usize,
    /// Those of them that were decided.
    pub decided_floats: usize,
    /// Integer and `bool` elements.
    pub integers: usize,
    /// Those of them that were decided.
    pub decided_integers: usize,
}

impl Compared {
    /// Adds what another comparison compared.
    pub fn add(&mut self, other: Compared) {
        self.floats += other.floats;
        self.decided_floats += other.decided_floats;
        self.integers += other.integers;
        self.decided_integers += other.decided_integers;
    }

    /// The part of the float elements that was compared.
    pub fn float_share(&self) -> f64 {
        self.decided_floats as f64 / self.floats.max(1) as f64
    }

    /// The part of the integer elements that was compared.
    pub fn integer_share(&self) -> f64 {
        self.decided_integers as f64 / self.integers.max(1) as f64
    }
}

/// The first element that is not what it should be.
#[derive(Clone, Debug)]
pub struct Mismatch {
    /// The seed of the case.
    pub seed: u64,
    /// The position of the output.
    pub output: usize,
    /// The position of the element in row-major order; `None` if the shape or dtype is wrong.
    pub index: Option<usize>,
    /// What was expected.
    pub expected: String,
    /// What came.
    pub got: String,
    /// How far it may be from what was expected.
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

/// Runs the case in the reference interpreter and compares the results with it.
pub fn compare(case: &Case, results: &[Array]) -> Result<Compared, Mismatch> {
    Reference::new(case).compare(results)
}

/// The reference value and the bound of every node of the case's graph.
pub fn estimates(case: &Case) -> Vec<Estimate> {
    estimates_with(case, Products::Rounded)
}

/// What becomes of a product of halves that something else takes in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Products {
    /// It is rounded to its dtype, as any other value is.
    Rounded,
    /// It may be taken in before it is rounded.
    MayStayWide,
}

fn estimates_with(case: &Case, products: Products) -> Vec<Estimate> {
    let mut every = case.graph.clone();
    every.outputs = (0..every.nodes.len() as NodeId).collect();
    let values = interpret(&every, &case.inputs);
    let mut estimates: Vec<Estimate> = Vec::with_capacity(values.len());
    for (node, value) in case.graph.nodes.iter().zip(values) {
        let operands: Vec<&Estimate> =
            node.inputs.iter().map(|&input| &estimates[input as usize]).collect();
        let mut error = propagate::error(&node.op, &operands, &value);
        debug_assert_eq!(error.len(), value.elements());
        let may_stay_wide = products == Products::MayStayWide && node.dtype.is_half();
        if may_stay_wide && matches!(node.op, Op::Dot(_)) {
            let format = Format::of(node.dtype);
            for (error, value) in error.iter_mut().zip(value.scalars()) {
                let value = value.to_f64();
                if *error != UNDECIDED && value.is_finite() {
                    *error = format.settle(value, *error, 0.5);
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
        Reference::with_products(case, Products::Rounded)
    }

    /// The same, for a backend that does this with products of halves.
    pub fn with_products(case: &Case, products: Products) -> Reference {
        let estimates = estimates_with(case, products);
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

/// Whether a value is as near to the reference's as it must be. Zeros of both signs are equal, and so are
/// all NaN.
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

/// A graph of one op on inputs like these arrays, interpreted.
fn apply(op: &Op, operands: &[&Array]) -> Array {
    let mut graph = Graph::default();
    let inputs: Vec<NodeId> =
        operands.iter().map(|operand| graph.input(&operand.shape, operand.dtype)).collect();
    let node = graph.push(op.clone(), &inputs).expect("the op was valid on these shapes");
    graph.outputs.push(node);
    let operands: Vec<Array> = operands.iter().map(|&operand| operand.clone()).collect();
    interpret(&graph, &operands).remove(0)
}
