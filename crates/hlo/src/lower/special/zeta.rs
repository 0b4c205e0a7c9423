//! Hurwitz zeta and polygamma functions.

use super::gamma::{digamma, lgamma};
use super::{Builder, Lowered, Math};
use inflight_ir::graph::NodeId;
use inflight_ir::{BinaryOp, CompareOp, UnaryOp};

/// (2k)! / B₂ₖ, of the Euler-Maclaurin formula.
const FACTORS: [f64; 12] = [
    12.0,
    -720.0,
    30240.0,
    -1209600.0,
    47900160.0,
    -1.8924375803183791606e9,
    7.47242496e10,
    -2.950130727918164224e12,
    1.1646782814350067249e14,
    -4.5979787224074726105e15,
    1.8152105401943546773e17,
    -7.1661652561756670113e18,
];

/// Σ 1 / (k + q)ˣ for q ≥ 0, by summing terms and then the Euler-Maclaurin formula.
fn sum_above_zero(math: &mut Math<'_>, x: NodeId, q: NodeId) -> Lowered<NodeId> {
    let power =
        |math: &mut Math<'_>, a: NodeId, b: NodeId| math.builder.binary(BinaryOp::Pow, a, b);
    let negative_x = math.unary(UnaryOp::Neg, x)?;
    let mut sum = power(math, q, negative_x)?;
    let mut a = q;
    for _ in 0..9 {
        a = math.plus(a, 1.0)?;
        let term = power(math, a, negative_x)?;
        sum = math.add(sum, term)?;
    }
    a = math.plus(a, 1.0)?;
    let term = power(math, a, negative_x)?;
    let x_less_one = math.plus(x, -1.0)?;
    let numerator = math.mul(term, a)?;
    let integral = math.div(numerator, x_less_one)?;
    sum = math.add(sum, integral)?;
    let half = math.times(term, 0.5)?;
    sum = math.add(sum, half)?;

    // Σ x (x + 1) … (x + 2k − 2) a^(−x−2k+1) / factor. Each term is computed from the previous one, because the product
    // alone may overflow. For large x all terms are zero, and an infinite factor would make them NaN.
    let largest = math.constant(1e300);
    let finite_x = math.builder.binary(BinaryOp::Min, x, largest)?;
    let quotient = math.div(finite_x, a)?;
    let mut scaled = math.mul(term, quotient)?;
    for (k, &factor) in FACTORS.iter().enumerate() {
        let factor = math.constant(factor);
        let term = math.div(scaled, factor)?;
        sum = math.add(sum, term)?;
        for step in 1..=2 {
            let next = math.plus(finite_x, (2 * k + step) as f64)?;
            let quotient = math.div(next, a)?;
            scaled = math.mul(scaled, quotient)?;
        }
    }
    let zero = math.constant(0.0);
    let is_infinite = math.compare(CompareOp::Eq, q, f64::INFINITY)?;
    math.select(is_infinite, zero, sum)
}

/// Hurwitz' zeta function, Σ 1 / (k + q)ˣ.
pub(super) fn zeta(builder: &mut Builder, x: NodeId, q: NodeId) -> Lowered<NodeId> {
    let mut math = Math::new(builder, x);
    // Of a negative q, with p = −q and f its fraction, the terms below zero are (−1)ˣ / fˣ, (−1)ˣ / (f + 1)ˣ, …,
    // (−1)ˣ / pˣ, and those above begin at 1 − f. So each is a sum above zero, less another.
    let (one, two) = (math.constant(1.0), math.constant(2.0));
    let p = math.unary(UnaryOp::Neg, q)?;
    let p_floor = math.unary(UnaryOp::Floor, p)?;
    let fraction = math.sub(p, p_floor)?;
    let first = math.sub(one, fraction)?;
    let after = math.plus(p, 1.0)?;
    let q_negative = math.compare(CompareOp::Lt, q, 0.0)?;
    let first = math.select(q_negative, first, q)?;
    let above = sum_above_zero(&mut math, x, first)?;
    let below = sum_above_zero(&mut math, x, fraction)?;
    let rest = sum_above_zero(&mut math, x, after)?;
    let parity = math.builder.binary(BinaryOp::Rem, x, two)?;
    let is_even = math.compare(CompareOp::Eq, parity, 0.0)?;
    let minus_below = math.unary(UnaryOp::Neg, below)?;
    let below = math.select(is_even, below, minus_below)?;
    let minus_rest = math.unary(UnaryOp::Neg, rest)?;
    let rest = math.select(is_even, minus_rest, rest)?;
    // Cancel the large terms first: near the middle between two poles, only `rest` remains.
    let both = math.add(above, below)?;
    let both = math.add(both, rest)?;
    let sum = math.select(q_negative, both, above)?;

    // Poles and the undefined domain.
    let (nan, infinity) = (math.constant(f64::NAN), math.constant(f64::INFINITY));
    let below_one = math.compare(CompareOp::Lt, x, 1.0)?;
    let value = math.select(below_one, nan, sum)?;
    let at_one = math.compare(CompareOp::Eq, x, 1.0)?;
    let value = math.select(at_one, infinity, value)?;
    let q_floor = math.unary(UnaryOp::Floor, q)?;
    let x_floor = math.unary(UnaryOp::Floor, x)?;
    let q_is_integer = math.builder.compare(CompareOp::Eq, q, q_floor)?;
    let x_is_integer = math.builder.compare(CompareOp::Eq, x, x_floor)?;
    let q_is_negative = math.compare(CompareOp::Le, q, 0.0)?;
    let is_pole = math.and(q_is_negative, q_is_integer)?;
    let above_one = math.compare(CompareOp::Gt, x, 1.0)?;
    let is_even_integer = math.and(is_even, x_is_integer)?;
    let at_pole = math.select(is_even_integer, infinity, nan)?;
    let is_pole = math.and(is_pole, above_one)?;
    let value = math.select(is_pole, at_pole, value)?;
    // A negative base has no real power with a fractional exponent.
    let x_is_fraction = math.unary(UnaryOp::Not, x_is_integer)?;
    let q_is_fraction = math.unary(UnaryOp::Not, q_is_integer)?;
    let undefined = math.and(x_is_fraction, q_negative)?;
    let undefined = math.and(undefined, q_is_fraction)?;
    math.select(undefined, nan, value)
}

/// The derivative of order `n` of the digamma function.
pub(super) fn polygamma(builder: &mut Builder, n: NodeId, x: NodeId) -> Lowered<NodeId> {
    let order_zero = digamma(builder, x)?;
    let mut math = Math::new(builder, x);
    let next = math.plus(n, 1.0)?;
    let log_factorial = lgamma(math.builder, next)?;
    let mut math = Math::new(math.builder, x);
    let factorial = math.unary(UnaryOp::Exp, log_factorial)?;
    let sum = zeta(math.builder, next, x)?;
    let mut math = Math::new(math.builder, x);
    let product = math.mul(factorial, sum)?;
    let two = math.constant(2.0);
    let parity = math.builder.binary(BinaryOp::Rem, n, two)?;
    let is_odd = math.compare(CompareOp::Eq, parity, 1.0)?;
    let negative = math.unary(UnaryOp::Neg, product)?;
    let value = math.select(is_odd, product, negative)?;
    let is_zero = math.compare(CompareOp::Eq, n, 0.0)?;
    let value = math.select(is_zero, order_zero, value)?;
    // Orders are non-negative integers.
    let floor = math.unary(UnaryOp::Floor, n)?;
    let is_order = math.builder.compare(CompareOp::Eq, n, floor)?;
    let is_positive = math.compare(CompareOp::Ge, n, 0.0)?;
    let is_order = math.and(is_order, is_positive)?;
    let nan = math.constant(f64::NAN);
    math.select(is_order, value, nan)
}
