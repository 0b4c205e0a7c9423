//! Convolutions: a contraction of windows with the kernel.

use super::attributes::Fields;
use super::builder::Lowered;
use super::contraction::contract;
use super::lowering::Lowering;
use super::shape::{known_integers, padded, reversed};
use super::window::padding;
use crate::module::Operation;
use inflight_ir::graph::{DotAxes, NodeId, Op, PadAxis, WindowAxis};
use inflight_ir::{Scalar, Shape};

/// Which axis of a tensor is which: two that have a role, and those that are windowed.
struct Order {
    first: usize,
    second: usize,
    spatial: Vec<usize>,
}

impl Order {
    /// The permutation that brings the axes into the order of the fields.
    fn permutation(&self) -> Vec<usize> {
        [self.first, self.second].into_iter().chain(self.spatial.iter().copied()).collect()
    }

    /// The permutation from the order of the fields to the axes.
    fn inverse(&self) -> Vec<usize> {
        let mut inverse = vec![0; self.spatial.len() + 2];
        for (i, axis) in self.permutation().into_iter().enumerate() {
            inverse[axis] = i;
        }
        inverse
    }

    fn check(self, rank: usize) -> Lowered<Order> {
        let mut axes = self.permutation();
        axes.sort_unstable();
        match axes.into_iter().eq(0..rank) {
            true => Ok(self),
            false => {
                Err(format!("its dimension numbers do not name each of {rank} axes once").into())
            }
        }
    }
}

/// `convolution`, and `dynamic_conv` with its padding as an operand.
pub(super) fn convolution(lowering: &mut Lowering<'_>, operation: &Operation) -> Lowered<NodeId> {
    let x = lowering.operand(operation, 0)?;
    let kernel = lowering.operand(operation, 1)?;
    let fields = Fields::of(operation);
    let rank = lowering.builder().shape(x).rank();
    let Some(windowed) = rank.checked_sub(2) else {
        return Err("its operands have no batch and feature axes".into());
    };
    let padding = match operation.operands.len() {
        2 => padding(fields, windowed)?,
        _ => {
            let amounts = lowering.operand(operation, 2)?;
            let amounts = known_integers(lowering, amounts, "its padding")?;
            amounts.chunks_exact(2).map(|pair| (pair[0], pair[1])).collect()
        }
    };
    let positive = |name: &str| -> Lowered<Vec<usize>> {
        let values = fields.for_each_axis(name, windowed, 1)?;
        values
            .into_iter()
            .map(|value| match usize::try_from(value) {
                Ok(value) if value > 0 => Ok(value),
                _ => Err(format!("`{name}` has an entry that is not positive").into()),
            })
            .collect()
    };
    let (strides, base) = (positive("window_strides")?, positive("lhs_dilation")?);
    let dilations = positive("rhs_dilation")?;
    let reversal = fields.for_each_axis("window_reversal", windowed, 0)?;
    let count = |name: &str| -> Lowered<usize> {
        match usize::try_from(fields.integer(name)?.unwrap_or(1)) {
            Ok(count) if count > 0 => Ok(count),
            _ => Err(format!("`{name}` is not positive").into()),
        }
    };
    let (feature_groups, batch_groups) =
        (count("feature_group_count")?, count("batch_group_count")?);

    let numbers = fields.record("dimension_numbers")?;
    let order = |first: &str, second: &str, spatial: &str| -> Lowered<Order> {
        let (first, second) = (numbers.axis(first)?, numbers.axis(second)?);
        Order { first, second, spatial: numbers.axes(spatial)? }.check(rank)
    };
    let input =
        order("input_batch_dimension", "input_feature_dimension", "input_spatial_dimensions")?;
    let kernel_order = order(
        "kernel_output_feature_dimension",
        "kernel_input_feature_dimension",
        "kernel_spatial_dimensions",
    )?;
    let output =
        order("output_batch_dimension", "output_feature_dimension", "output_spatial_dimensions")?;

    let result = lowering.declared_dtype(operation, 0)?;
    let builder = lowering.builder();
    if builder.shape(kernel).rank() != rank || padding.len() != windowed {
        return Err("its operands and its padding do not have as many axes".into());
    }
    let x = builder.permute(x, &input.permutation())?;
    let kernel = builder.permute(kernel, &kernel_order.permutation())?;
    let flipped: Vec<usize> =
        (0..windowed).filter(|&axis| reversal[axis] != 0).map(|axis| axis + 2).collect();
    let kernel = reversed(lowering, kernel, &flipped)?;
    let mut pads = vec![PadAxis::default(); 2];
    pads.extend(padding.iter().zip(base).map(|(&(low, high), base)| PadAxis {
        low: low as isize,
        high: high as isize,
        interior: base - 1,
    }));
    let builder = lowering.builder();
    let dtype = builder.dtype(x);
    let zero = builder.scalar(Scalar::zero(dtype));
    let x = padded(lowering, x, zero, &pads)?;

    let builder = lowering.builder();
    let (shape, kernel_shape) = (builder.shape(x).clone(), builder.shape(kernel).clone());
    let (batch, features) = (shape[0], shape[1]);
    let (outputs, inputs) = (kernel_shape[0], kernel_shape[1]);
    if features != inputs * feature_groups
        || outputs % feature_groups != 0
        || batch % batch_groups != 0
        || outputs % batch_groups != 0
        || feature_groups > 1 && batch_groups > 1
    {
        return Err(format!(
            "{features} features in {batch} batches do not fit a kernel of {inputs} to {outputs} \
             features with {feature_groups} feature groups and {batch_groups} batch groups"
        )
        .into());
    }
    let mut moves = vec![WindowAxis::new(1); 2];
    moves.extend((0..windowed).map(|axis| WindowAxis {
        size: kernel_shape[axis + 2],
        stride: strides[axis],
        dilation: dilations[axis],
    }));
    let positions: Vec<usize> = (2..rank).map(|axis| moves[axis].positions(shape[axis])).collect();
    let output_batch = batch / batch_groups;
    let canonical: Shape =
        [output_batch, outputs].into_iter().chain(positions.iter().copied()).collect();
    if canonical.contains(&0) || kernel_shape.contains(&0) {
        let zeros = builder.full(Scalar::zero(result), &canonical)?;
        return builder.permute(zeros, &output.inverse());
    }
    let windows = builder.push(Op::Windows(moves.iter().copied().collect()), &[x])?;

    // One axis of groups on both sides, which is paired; then batch, features, positions, and places.
    let groups = feature_groups * batch_groups;
    let places: Vec<usize> = kernel_shape[2..].to_vec();
    let grouped: Shape =
        if batch_groups > 1 { [groups, output_batch, features] } else { [batch, groups, inputs] }
            .into_iter()
            .chain(positions.iter().copied())
            .chain(places.iter().copied())
            .collect();
    let windows = builder.reshape(windows, &grouped)?;
    let kernel_grouped: Shape =
        [groups, outputs / groups, inputs].into_iter().chain(places.iter().copied()).collect();
    let kernel = builder.reshape(kernel, &kernel_grouped)?;
    let group_axis = if batch_groups > 1 { 0 } else { 1 };
    let axes = DotAxes {
        a_batch: [group_axis].into_iter().collect(),
        b_batch: [0].into_iter().collect(),
        a_contract: std::iter::once(2).chain(3 + windowed..3 + 2 * windowed).collect(),
        b_contract: (2..3 + windowed).collect(),
    };
    let product = contract(lowering, windows, kernel, axes, result)?;
    // From groups, batch, positions, outputs to batch, groups and outputs, positions.
    let builder = lowering.builder();
    let order: Vec<usize> = [1, 0, 2 + windowed].into_iter().chain(2..2 + windowed).collect();
    let product = builder.permute(product, &order)?;
    let product = builder.reshape(product, &canonical)?;
    builder.permute(product, &output.inverse())
}
