//! Buffer assignment: gives every materialized value a buffer, and binds the steps of a plan to them.
//!
//! Each materialized value gets a buffer of its own; aliases (reshapes of a value in memory) share the buffer of
//! their operand. Memory is not planned here: buffers are allocated when the first command that writes them runs,
//! and in-place reuse ([`in_place_pairs`](crate::kernel::in_place_pairs)) lets a result take over the memory of an
//! operand that no other command or handle needs. A plan is cached and runs many times, so that decision belongs to
//! the execution, which knows the reference counts.

use super::fusion::{FusionGroup, RawStep, topological_order};
use super::gemm_fusion::GemmFusion;
use super::layout;
use super::materialize::{Materialization, is_alias};
use super::routine::routine_step;
use super::{BufferId, PlanBuffer, PlanTarget, Step};
use crate::graph::{Graph, NodeId, Op};

/// The buffers of a plan, and the values they hold.
pub struct BufferAssignment {
    /// Every buffer that a step reads or writes.
    pub buffers: Vec<PlanBuffer>,
    /// The buffer of each graph output.
    pub outputs: Vec<BufferId>,
    /// The buffer of each node, for materialized values and their aliases.
    buffer_of_node: Vec<Option<BufferId>>,
}

impl BufferAssignment {
    /// The buffer of a materialized value.
    pub fn buffer(&self, node: NodeId) -> BufferId {
        self.buffer_of_node[node as usize].expect("a materialized value has a buffer")
    }
}

/// Assigns a buffer to each materialized value.
pub fn assign_buffers(graph: &Graph, materialization: &Materialization) -> BufferAssignment {
    let mut assignment = BufferAssignment {
        buffers: Vec::new(),
        outputs: Vec::with_capacity(graph.outputs.len()),
        buffer_of_node: vec![None; graph.nodes.len()],
    };
    let mut inputs = 0;
    for (id, node) in graph.nodes.iter().enumerate() {
        if !materialization.materialized[id] {
            continue;
        }
        if is_alias(graph, id as NodeId) {
            let operand = node.inputs[0] as usize;
            assignment.buffer_of_node[id] = assignment.buffer_of_node[operand];
            continue;
        }
        let input = (node.op == Op::Input).then(|| {
            inputs += 1;
            inputs - 1
        });
        assignment.buffer_of_node[id] = Some(assignment.buffers.len() as BufferId);
        let (dtype, elements) = (node.dtype, node.shape.element_count());
        let reason = materialization.reasons[id].filter(|_| input.is_none());
        assignment.buffers.push(PlanBuffer { input, dtype, elements, reason });
    }
    assignment.outputs = graph.outputs.iter().map(|&output| assignment.buffer(output)).collect();
    assignment
}

/// Schedules the fusion groups, fuses kernels into GEMM steps, lays kernels out and binds every step to its buffers.
pub fn bind_steps(
    graph: &Graph,
    groups: &[FusionGroup],
    assignment: &BufferAssignment,
    plan_target: PlanTarget,
) -> Vec<Step> {
    let buffer = |node: NodeId| assignment.buffer(node);
    let mut gemm_fusion = GemmFusion::new(graph, groups, &assignment.outputs, buffer, plan_target);
    let mut steps = Vec::new();
    for group in topological_order(graph, groups) {
        if gemm_fusion.is_fused(group) {
            continue;
        }
        if let Some(step) = gemm_fusion.step(group, buffer) {
            steps.push(step);
            continue;
        }
        for step in &groups[group].steps {
            steps.push(match step {
                RawStep::Launch(kernel) => Step::Launch(layout::lay_out_kernel(kernel, buffer)),
                RawStep::Gemm(_) => unreachable!("GEMM fusion makes the step of a GEMM group"),
                RawStep::Routine(node, _) => Step::Routine(routine_step(graph, *node, buffer)),
            });
        }
    }
    steps
}
