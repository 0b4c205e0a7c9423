//! Expansion of `rng` and `rng_bit_generator`: Threefry and Philox, bit-identical to XLA.

use super::attributes::AttributeView;
use super::builder::{Builder, Lowered};
use super::context::{Bound, Lowering};
use super::shape::{shape_operand, unsigned};
use crate::module::Operation;
use inflight_ir::graph::{NodeId, SliceAxis};
use inflight_ir::{BinaryOp, DType, Shape};

/// `rng_bit_generator`: the next state, and the bits.
pub(super) fn rng_bit_generator(
    lowering: &mut Lowering<'_>,
    operation: &Operation,
) -> Lowered<Vec<Bound>> {
    let [state] = lowering.expect_operands(operation)?;
    let algorithm = AttributeView::of(operation).enum_case("rng_algorithm")?.unwrap_or("DEFAULT");
    let dtype = lowering.declared_dtype(operation, 1)?;
    let shape = lowering.declared_shape(operation, 1)?;
    let builder = lowering.builder();
    let found = builder.shape(state).clone();
    // The specification does not define DEFAULT; XLA uses Philox on CPUs.
    let fits = match algorithm {
        "PHILOX" | "DEFAULT" => found == Shape::new(&[2]) || found == Shape::new(&[3]),
        "THREE_FRY" => found == Shape::new(&[2]),
        other => {
            return Err(format!(
                "expected `rng_algorithm` to be DEFAULT, THREE_FRY or PHILOX, found {other}"
            )
            .into());
        }
    };
    if !fits || builder.dtype(state) != DType::U64 {
        let found_dtype = builder.dtype(state);
        return Err(format!(
            "expected a state of u64[2] (or u64[3] for PHILOX), found {found_dtype}{found}"
        )
        .into());
    }
    let bits = unsigned(dtype.size());
    let (next, value) = match algorithm {
        "THREE_FRY" => threefry_bits(builder, state, &shape, bits)?,
        _ => philox_bits(builder, state, &shape, bits)?,
    };
    let value = if dtype == bits { value } else { builder.bitcast(value, dtype)? };
    Ok(vec![lowering.bound(next), lowering.bound(value)])
}

/// One element of a vector, as a scalar.
fn element(builder: &mut Builder, x: NodeId, index: usize) -> Lowered<NodeId> {
    let slice = builder.slice(x, &[SliceAxis { start: index, step: 1, len: 1 }])?;
    builder.reshape(slice, &Shape::scalar())
}

/// The low and high 32 bits of 64-bit words.
fn split_u64(builder: &mut Builder, x: NodeId) -> Lowered<[NodeId; 2]> {
    let shift = builder.scalar(32u64);
    let upper = builder.binary(BinaryOp::ShiftRightLogical, x, shift)?;
    Ok([builder.cast(x, DType::U32)?, builder.cast(upper, DType::U32)?])
}

/// Combines low and high 32-bit words to 64-bit words.
fn join_u64(builder: &mut Builder, lower: NodeId, upper: NodeId) -> Lowered<NodeId> {
    let (lower, upper) = (builder.cast(lower, DType::U64)?, builder.cast(upper, DType::U64)?);
    let shift = builder.scalar(32u64);
    let upper = builder.binary(BinaryOp::ShiftLeft, upper, shift)?;
    builder.binary(BinaryOp::Or, lower, upper)
}

/// A vector of scalars.
fn vector(builder: &mut Builder, scalars: &[NodeId]) -> Lowered<NodeId> {
    let one = Shape::new(&[1]);
    let parts: Vec<NodeId> =
        scalars.iter().map(|&scalar| builder.reshape(scalar, &one)).collect::<Lowered<_>>()?;
    builder.concat(&parts, 0)
}

/// 0, 1, 2, … in row-major order, as counters of the generator.
fn counters(builder: &mut Builder, shape: &Shape, dtype: DType) -> Lowered<NodeId> {
    let line = builder.iota(0, &Shape::new(&[shape.element_count()]), dtype)?;
    builder.reshape(line, shape)
}

fn threefry_bits(
    builder: &mut Builder,
    state: NodeId,
    shape: &Shape,
    bits: DType,
) -> Lowered<(NodeId, NodeId)> {
    let (key, counter) = (element(builder, state, 0)?, element(builder, state, 1)?);
    let key_halves = split_u64(builder, key)?;
    let (drawn, value) = if bits == DType::U64 {
        let counts = counters(builder, shape, DType::U64)?;
        let inputs = builder.add(counts, counter)?;
        let inputs = split_u64(builder, inputs)?;
        let [lower, upper] = threefry(builder, inputs, key_halves)?;
        (shape.element_count(), join_u64(builder, lower, upper)?)
    } else {
        // Each counter gives two words, which are adjacent along one axis.
        let half = HalvedShape::new(shape);
        let counts = counters(builder, &half.shape, DType::U64)?;
        let inputs = builder.add(counts, counter)?;
        let inputs = split_u64(builder, inputs)?;
        let words = threefry(builder, inputs, key_halves)?;
        let value = half.merge(builder, words, shape)?;
        (half.shape.element_count(), builder.cast(value, bits)?)
    };
    let drawn = builder.scalar(drawn as u64);
    let next = builder.add(counter, drawn)?;
    Ok((vector(builder, &[key, next])?, value))
}

/// A shape with one axis split in two halves; the first is larger if the extent is odd.
struct HalvedShape {
    axis: usize,
    /// The shape of one half, with an axis of extent 1 after the split one.
    shape: Shape,
}

impl HalvedShape {
    /// The first even axis is halved; if there is none, the longest.
    fn new(shape: &Shape) -> HalvedShape {
        if shape.rank() == 0 {
            return HalvedShape { axis: 0, shape: Shape::new(&[1, 1]) };
        }
        let even = shape.iter().position(|extent| extent % 2 == 0);
        let axis = even.unwrap_or_else(|| {
            (0..shape.rank()).rev().max_by_key(|&axis| shape[axis]).expect("the rank is positive")
        });
        let mut extents = shape.extents().to_vec();
        extents[axis] = extents[axis].div_ceil(2);
        extents.insert(axis + 1, 1);
        HalvedShape { axis, shape: Shape::new(&extents) }
    }

    /// Interleaves the two halves.
    fn merge(&self, builder: &mut Builder, halves: [NodeId; 2], shape: &Shape) -> Lowered<NodeId> {
        if shape.rank() == 0 {
            return builder.reshape(halves[0], shape);
        }
        let both = builder.concat(&halves, self.axis + 1)?;
        let rounded = shape.with(self.axis, 2 * self.shape[self.axis]);
        let both = builder.reshape(both, &rounded)?;
        let slice = SliceAxis { start: 0, step: 1, len: shape[self.axis] };
        builder.slice_axis(both, self.axis, slice)
    }
}

/// Threefry-2x32 with 20 rounds.
fn threefry(builder: &mut Builder, input: [NodeId; 2], key: [NodeId; 2]) -> Lowered<[NodeId; 2]> {
    const ROTATIONS: [[u32; 4]; 2] = [[13, 15, 26, 6], [17, 29, 16, 24]];
    let parity = builder.scalar(0x1BD1_1BDAu32);
    let mixed = builder.binary(BinaryOp::Xor, key[0], key[1])?;
    let keys = [key[0], key[1], builder.binary(BinaryOp::Xor, mixed, parity)?];
    let [mut a, mut b] = input;
    a = builder.add(a, keys[0])?;
    b = builder.add(b, keys[1])?;
    for round in 0..5usize {
        for rotation in ROTATIONS[round % 2] {
            a = builder.add(a, b)?;
            b = rotate_left(builder, b, rotation)?;
            b = builder.binary(BinaryOp::Xor, a, b)?;
        }
        let number = builder.scalar(round as u32 + 1);
        a = builder.add(a, keys[(round + 1) % 3])?;
        b = builder.add(b, keys[(round + 2) % 3])?;
        b = builder.add(b, number)?;
    }
    Ok([a, b])
}

fn rotate_left(builder: &mut Builder, x: NodeId, by: u32) -> Lowered<NodeId> {
    let (left, right) = (builder.scalar(by), builder.scalar(32 - by));
    let high = builder.binary(BinaryOp::ShiftLeft, x, left)?;
    let low = builder.binary(BinaryOp::ShiftRightLogical, x, right)?;
    builder.binary(BinaryOp::Or, high, low)
}

fn philox_bits(
    builder: &mut Builder,
    state: NodeId,
    shape: &Shape,
    bits: DType,
) -> Lowered<(NodeId, NodeId)> {
    let key = element(builder, state, 0)?;
    let low = element(builder, state, 1)?;
    let is_long = builder.shape(state)[0] == 3;
    // A state of two words has no high counter word: the key takes its place.
    let high = if is_long { element(builder, state, 2)? } else { key };
    // One 128-bit counter per block of four 32-bit words.
    let words = if bits == DType::U64 { 2 } else { 1 } * shape.element_count();
    let blocks = words.div_ceil(4);
    let line = Shape::new(&[blocks]);
    let counts = builder.iota(0, &line, DType::U64)?;
    let (low_counts, high_counts) = sum_128(builder, low, high, counts)?;
    let high_counts = builder.broadcast(high_counts, &line)?;
    let key_halves = split_u64(builder, key)?;
    let [a, b] = split_u64(builder, low_counts)?;
    let [c, d] = split_u64(builder, high_counts)?;
    let output = philox(builder, [a, b, c, d], key_halves)?;
    let value = if bits == DType::U64 {
        let first = join_u64(builder, output[0], output[1])?;
        let second = join_u64(builder, output[2], output[3])?;
        interleave(builder, &[first, second], shape)?
    } else {
        let value = interleave(builder, &output, shape)?;
        builder.cast(value, bits)?
    };
    let drawn = builder.scalar(blocks as u64);
    let (low, high) = sum_128(builder, low, high, drawn)?;
    let next =
        if is_long { vector(builder, &[key, low, high])? } else { vector(builder, &[key, low])? };
    Ok((next, value))
}

/// 128-bit plus 64-bit addition.
fn sum_128(
    builder: &mut Builder,
    low: NodeId,
    high: NodeId,
    more: NodeId,
) -> Lowered<(NodeId, NodeId)> {
    let sum = builder.add(more, low)?;
    let carries = builder.compare(inflight_ir::CompareOp::Lt, sum, more)?;
    let carry = builder.cast(carries, DType::U64)?;
    Ok((sum, builder.add(high, carry)?))
}

/// Interleaves the words of each block, and truncates to the shape.
fn interleave(builder: &mut Builder, words: &[NodeId], shape: &Shape) -> Lowered<NodeId> {
    let blocks = builder.shape(words[0])[0];
    let column = Shape::new(&[blocks, 1]);
    let columns: Vec<NodeId> =
        words.iter().map(|&word| builder.reshape(word, &column)).collect::<Lowered<_>>()?;
    let table = builder.concat(&columns, 1)?;
    let line = builder.reshape(table, &Shape::new(&[blocks * words.len()]))?;
    let line =
        builder.slice(line, &[SliceAxis { start: 0, step: 1, len: shape.element_count() }])?;
    builder.reshape(line, shape)
}

/// Philox-4x32 with 10 rounds.
fn philox(builder: &mut Builder, input: [NodeId; 4], key: [NodeId; 2]) -> Lowered<[NodeId; 4]> {
    let multipliers = [0xD251_1F53u64, 0xCD9E_8D57].map(|value| builder.scalar(value));
    let increments = [0x9E37_79B9u32, 0xBB67_AE85].map(|value| builder.scalar(value));
    let [mut a, mut b, mut c, mut d] = input;
    let mut key = key;
    for _ in 0..10 {
        let mut products = Vec::new();
        for (word, multiplier) in [a, c].into_iter().zip(multipliers) {
            let wide = builder.cast(word, DType::U64)?;
            let product = builder.mul(wide, multiplier)?;
            products.push(split_u64(builder, product)?);
        }
        let [first_low, first_high] = products[0];
        let [second_low, second_high] = products[1];
        let mixed = builder.binary(BinaryOp::Xor, second_high, b)?;
        let next_a = builder.binary(BinaryOp::Xor, mixed, key[0])?;
        let mixed = builder.binary(BinaryOp::Xor, first_high, d)?;
        let next_c = builder.binary(BinaryOp::Xor, mixed, key[1])?;
        (a, b, c, d) = (next_a, second_low, next_c, first_low);
        key = [builder.add(key[0], increments[0])?, builder.add(key[1], increments[1])?];
    }
    Ok([a, b, c, d])
}

/// `rng`: uniform in `[a, b)`, or normal with mean `a` and standard deviation `b`. The specification does not define
/// the generator; this one is stateless and gives the same values in every execution.
pub(super) fn rng(lowering: &mut Lowering<'_>, operation: &Operation) -> Lowered<NodeId> {
    let [a, b, shape] = lowering.expect_operands(operation)?;
    let shape = shape_operand(lowering, shape)?;
    let distribution =
        AttributeView::of(operation).enum_case("rng_distribution")?.unwrap_or("UNIFORM");
    // The key is the source location, so that each operation has its own stream.
    let location = operation.location;
    let builder = lowering.builder();
    let key = (location.line as u64) << 32 | location.column as u64;
    let (key, counter) = (builder.scalar(key), builder.scalar(0u64));
    let state = vector(builder, &[key, counter])?;
    let dtype = builder.dtype(a);
    if dtype == DType::Bool || dtype.is_integer() {
        let (_, bits) = threefry_bits(builder, state, &shape, DType::U64)?;
        let wide = if dtype == DType::Bool { DType::I32 } else { dtype };
        let (low, high) = (builder.cast(a, wide)?, builder.cast(b, wide)?);
        let span = builder.sub(high, low)?;
        let span = builder.cast(span, DType::U64)?;
        let rest = builder.binary(BinaryOp::Rem, bits, span)?;
        let rest = builder.cast(rest, wide)?;
        let value = builder.add(low, rest)?;
        return builder.cast(value, dtype);
    }
    if !dtype.is_float() {
        return Err(format!("expected integers, booleans or floats, found {dtype}").into());
    }
    let (_, bits) = threefry_bits(builder, state, &shape, DType::U64)?;
    let shift = builder.scalar(11u64);
    let bits = builder.binary(BinaryOp::ShiftRightLogical, bits, shift)?;
    let unit = builder.cast(bits, DType::F64)?;
    let scale = builder.scalar(f64::powi(2.0, -53));
    let unit = builder.mul(unit, scale)?;
    let value = match distribution {
        "UNIFORM" => unit,
        "NORMAL" => {
            // √2 · erf⁻¹(u) for u uniform in (−1, 1).
            let (two, one) = (builder.scalar(2.0f64), builder.scalar(1.0 - f64::powi(2.0, -53)));
            let doubled = builder.mul(unit, two)?;
            let centered = builder.sub(doubled, one)?;
            let inverse = super::special::apply(builder, "chlo.erf_inv", &[centered], DType::F64)?;
            let root = builder.scalar(std::f64::consts::SQRT_2);
            builder.mul(inverse, root)?
        }
        other => {
            return Err(format!(
                "expected `rng_distribution` to be UNIFORM or NORMAL, found {other}"
            )
            .into());
        }
    };
    let value = if dtype == DType::F64 { value } else { builder.cast(value, dtype)? };
    let (scale, offset) = match distribution {
        "UNIFORM" => (builder.sub(b, a)?, a),
        _ => (b, a),
    };
    let scaled = builder.mul(value, scale)?;
    let sum = builder.add(scaled, offset)?;
    if distribution != "UNIFORM" {
        return Ok(sum);
    }
    // Rounding may reach `b`, which is excluded.
    let reaches_b = builder.compare(inflight_ir::CompareOp::Ge, sum, b)?;
    let start = builder.broadcast(a, &shape)?;
    builder.select(reaches_b, start, sum)
}
