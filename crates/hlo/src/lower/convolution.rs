//! Lowering of `convolution` and `dynamic_conv`.

use super::attributes::AttributeView;
use super::builder::Lowered;
use super::context::Lowering;
use super::contraction::wider;
use super::reduce_window::{padding, positive};
use super::shape::require_constant_integers;
use crate::module::Operation;
use inflight_ir::Axes;
use inflight_ir::compose::{self, Convolution, ConvolutionAxes, ConvolutionWindow, KernelAxes};
use inflight_ir::graph::NodeId;

/// `convolution`, and `dynamic_conv` with its padding as an operand.
pub(super) fn convolution(lowering: &mut Lowering<'_>, operation: &Operation) -> Lowered<NodeId> {
    let x = lowering.operand(operation, 0)?;
    let kernel = lowering.operand(operation, 1)?;
    let fields = AttributeView::of(operation);
    let numbers = fields.structured("dimension_numbers")?;
    let spatial = |name: &str| -> Lowered<Axes> { Ok(Axes::from_vec(numbers.axes(name)?)) };
    let operand = ConvolutionAxes {
        batch: numbers.axis("input_batch_dimension")?,
        feature: numbers.axis("input_feature_dimension")?,
        spatial: spatial("input_spatial_dimensions")?,
    };
    let kernel_axes = KernelAxes {
        input: numbers.axis("kernel_input_feature_dimension")?,
        output: numbers.axis("kernel_output_feature_dimension")?,
        spatial: spatial("kernel_spatial_dimensions")?,
    };
    let result = ConvolutionAxes {
        batch: numbers.axis("output_batch_dimension")?,
        feature: numbers.axis("output_feature_dimension")?,
        spatial: spatial("output_spatial_dimensions")?,
    };
    let rank = operand.spatial.len();
    let padding = match operation.operands.len() {
        2 => padding(fields, rank)?,
        _ => {
            let amounts = lowering.operand(operation, 2)?;
            let amounts = require_constant_integers(lowering, amounts, "its padding")?;
            amounts.chunks_exact(2).map(|pair| (pair[0], pair[1])).collect()
        }
    };
    if padding.len() != rank {
        return Err(format!(
            "expected a padding for each of {rank} spatial axes, found {}",
            padding.len()
        )
        .into());
    }
    let strides = positive(fields, "window_strides", rank)?;
    let operand_dilations = positive(fields, "lhs_dilation", rank)?;
    let kernel_dilations = positive(fields, "rhs_dilation", rank)?;
    let reversal = fields.per_axis("window_reversal", rank, 0)?;
    let windows = (0..rank)
        .map(|axis| ConvolutionWindow {
            stride: strides[axis],
            low: padding[axis].0 as isize,
            high: padding[axis].1 as isize,
            operand_dilation: operand_dilations[axis],
            kernel_dilation: kernel_dilations[axis],
            reversed: reversal[axis] != 0,
        })
        .collect();
    let groups = |name: &str| -> Lowered<usize> {
        usize::try_from(fields.integer(name)?.unwrap_or(1))
            .map_err(|_| format!("expected `{name}` to be positive").into())
    };
    let convolution = Convolution {
        operand,
        kernel: kernel_axes,
        result,
        windows,
        feature_groups: groups("feature_group_count")?,
        batch_groups: groups("batch_group_count")?,
    };
    let dtype = lowering.declared_dtype(operation, 0)?;
    let builder = lowering.builder();
    let computed = wider(dtype, wider(builder.dtype(x), builder.dtype(kernel)));
    let (x, kernel) = (builder.cast(x, computed)?, builder.cast(kernel, computed)?);
    let product = builder.compose(&[x, kernel], |graph, operands| {
        compose::convolution(graph, operands[0], operands[1], &convolution)
    })?;
    builder.cast(product, dtype)
}
