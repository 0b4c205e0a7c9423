//! Expansion of the batch normalization operations, as the specification defines them.

use super::attributes::AttributeView;
use super::builder::{Builder, Lowered};
use super::context::{Bound, Lowering};
use crate::module::Operation;
use inflight_ir::elementwise::CombineOp;
use inflight_ir::graph::{NodeId, Op};
use inflight_ir::{Axes, Shape, UnaryOp};

/// Shape, feature axis and epsilon of a batch normalization.
struct Batch {
    shape: Shape,
    feature: usize,
    epsilon: f64,
    /// The number of elements of each feature.
    count: usize,
}

impl Batch {
    fn new(builder: &Builder, operation: &Operation, x: NodeId) -> Lowered<Batch> {
        let fields = AttributeView::of(operation);
        let shape = builder.shape(x).clone();
        let feature = fields.axis("feature_index")?;
        if feature >= shape.rank() {
            return Err(format!(
                "expected `feature_index` to be an axis of {shape}, found {feature}"
            )
            .into());
        }
        let count = shape.iter().enumerate().filter(|(axis, _)| *axis != feature);
        let count = count.map(|(_, &extent)| extent).product();
        Ok(Batch { epsilon: fields.float("epsilon")?, shape, feature, count })
    }

    /// Broadcasts one value per feature to the operand's shape.
    fn broadcast_feature(&self, builder: &mut Builder, x: NodeId) -> Lowered<NodeId> {
        let mut extents = vec![1; self.shape.rank()];
        extents[self.feature] = self.shape[self.feature];
        let x = builder.reshape(x, &Shape::new(&extents))?;
        builder.broadcast(x, &self.shape)
    }

    fn sum(&self, builder: &mut Builder, x: NodeId) -> Lowered<NodeId> {
        let axes: Axes = (0..self.shape.rank()).filter(|&axis| axis != self.feature).collect();
        builder.push(Op::Reduce { op: CombineOp::Sum, axes }, &[x])
    }

    fn mean(&self, builder: &mut Builder, x: NodeId) -> Lowered<NodeId> {
        let sum = self.sum(builder, x)?;
        let dtype = builder.dtype(x);
        let count = builder.float(self.count as f64, dtype);
        builder.div(sum, count)
    }

    /// The standard deviation of a variance.
    fn deviation(&self, builder: &mut Builder, variance: NodeId) -> Lowered<NodeId> {
        let dtype = builder.dtype(variance);
        let epsilon = builder.float(self.epsilon, dtype);
        let sum = builder.add(variance, epsilon)?;
        builder.unary(UnaryOp::Sqrt, sum)
    }

    fn normalized(
        &self,
        builder: &mut Builder,
        [x, scale, offset, mean, variance]: [NodeId; 5],
    ) -> Lowered<NodeId> {
        let mean = self.broadcast_feature(builder, mean)?;
        let centered = builder.sub(x, mean)?;
        let deviation = self.deviation(builder, variance)?;
        let deviation = self.broadcast_feature(builder, deviation)?;
        let normalized = builder.div(centered, deviation)?;
        let scale = self.broadcast_feature(builder, scale)?;
        let offset = self.broadcast_feature(builder, offset)?;
        let scaled = builder.mul(scale, normalized)?;
        builder.add(scaled, offset)
    }
}

/// `batch_norm_inference`
pub(super) fn inference(lowering: &mut Lowering<'_>, operation: &Operation) -> Lowered<NodeId> {
    let operands: [NodeId; 5] = lowering.expect_operands(operation)?;
    let builder = lowering.builder();
    let batch = Batch::new(builder, operation, operands[0])?;
    batch.normalized(builder, operands)
}

/// `batch_norm_training`: the output, the mean and the variance.
pub(super) fn training(lowering: &mut Lowering<'_>, operation: &Operation) -> Lowered<Vec<Bound>> {
    let [x, scale, offset] = lowering.expect_operands(operation)?;
    let builder = lowering.builder();
    let batch = Batch::new(builder, operation, x)?;
    let mean = batch.mean(builder, x)?;
    let spread = batch.broadcast_feature(builder, mean)?;
    let centered = builder.sub(x, spread)?;
    let squares = builder.mul(centered, centered)?;
    let variance = batch.mean(builder, squares)?;
    let output = batch.normalized(builder, [x, scale, offset, mean, variance])?;
    Ok([output, mean, variance].into_iter().map(|node| lowering.bound(node)).collect())
}

/// `batch_norm_grad`: the gradients of the operand, the scale and the offset.
pub(super) fn gradient(lowering: &mut Lowering<'_>, operation: &Operation) -> Lowered<Vec<Bound>> {
    let [x, scale, mean, variance, gradient] = lowering.expect_operands(operation)?;
    let builder = lowering.builder();
    let batch = Batch::new(builder, operation, x)?;
    let dtype = builder.dtype(x);
    let mean = batch.broadcast_feature(builder, mean)?;
    let deviation = batch.deviation(builder, variance)?;
    let deviation = batch.broadcast_feature(builder, deviation)?;
    let centered = builder.sub(x, mean)?;
    let normalized = builder.div(centered, deviation)?;
    let products = builder.mul(gradient, normalized)?;
    let scale_gradient = batch.sum(builder, products)?;
    let offset_gradient = batch.sum(builder, gradient)?;

    // scale / deviation · (gradient − mean(gradient) − normalized · mean(gradient · normalized))
    let mean_gradient = batch.mean(builder, gradient)?;
    let mean_gradient = batch.broadcast_feature(builder, mean_gradient)?;
    let count = builder.float(batch.count as f64, dtype);
    let mean_product = builder.div(scale_gradient, count)?;
    let mean_product = batch.broadcast_feature(builder, mean_product)?;
    let projection = builder.mul(normalized, mean_product)?;
    let rest = builder.sub(gradient, mean_gradient)?;
    let rest = builder.sub(rest, projection)?;
    let scale = batch.broadcast_feature(builder, scale)?;
    let factor = builder.div(scale, deviation)?;
    let operand_gradient = builder.mul(factor, rest)?;
    let results = [operand_gradient, scale_gradient, offset_gradient];
    Ok(results.into_iter().map(|node| lowering.bound(node)).collect())
}
