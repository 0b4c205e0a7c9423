//! Random graphs with inputs, from a seed.
//!
//! A graph grows step by step. Each step adds a random op on existing values or a new input, or one of a few
//! patterns that fusion treats specially. A step that shape inference rejects is dropped, so every graph is valid.

mod builder;
mod gemm;
mod generator;
mod patterns;
mod shapes;
mod steps;
mod values;

pub use generator::Random;
pub use values::Profile;

use builder::Builder;
use inflight_ir::graph::{Graph, NodeId, Op};
use inflight_ir::interpret::Array;
use smallvec::SmallVec;

/// A graph and the values of its inputs.
#[derive(Clone, Debug)]
pub struct Case {
    /// The seed that generates the case.
    pub seed: u64,
    /// The graph.
    pub graph: Graph,
    /// The values of its inputs, in the order of [`Graph::inputs`].
    pub inputs: Vec<Array>,
}

/// Generates the case of this seed.
pub fn random_case(seed: u64) -> Case {
    let mut random = Random::new(seed);
    let limit = random.weighted(&[(60, 200), (28, 700), (11, 4096), (1, 100_000)]);
    let steps = match limit {
        100_000 => 1 + random.below(5),
        4096 => 1 + random.below(12),
        _ => random.weighted(&[(25, 5), (40, 16), (25, 30), (10, 50)]),
    };
    let steps = 1 + random.below(steps);
    let mut builder = Builder::new(random, limit);
    for _ in 0..steps {
        match builder.random.chance(6) {
            true => patterns::pattern(&mut builder),
            false => steps::step(&mut builder),
        }
    }
    let (mut graph, inputs, mut random) = builder.finish();
    graph.outputs = choose_outputs(&graph, &mut random);
    let case = Case { seed, graph, inputs };
    match random.chance(90) {
        true => prune(&case),
        false => case,
    }
}

/// Chooses the outputs: all unused values, and sometimes a few used ones.
fn choose_outputs(graph: &Graph, random: &mut Random) -> Vec<NodeId> {
    let mut used = vec![false; graph.nodes.len()];
    for node in &graph.nodes {
        node.inputs.iter().for_each(|&input| used[input as usize] = true);
    }
    let candidates = (0..graph.nodes.len() as NodeId)
        .filter(|&id| !matches!(graph.node(id).op, Op::Input | Op::Scalar));
    let (ends, inner): (Vec<NodeId>, Vec<NodeId>) = candidates.partition(|&id| !used[id as usize]);
    let mut outputs = ends;
    random.shuffle(&mut outputs);
    outputs.truncate(1 + random.below(6));
    if random.chance(40) {
        let percent = random.pick(&[5, 20, 60]);
        outputs.extend(inner.into_iter().filter(|_| random.chance(percent)));
    }
    outputs
}

/// DCE: the case without the nodes that no output depends on.
pub fn prune(case: &Case) -> Case {
    let graph = &case.graph;
    let mut needed = vec![false; graph.nodes.len()];
    graph.outputs.iter().for_each(|&output| needed[output as usize] = true);
    for (id, node) in graph.nodes.iter().enumerate().rev() {
        if needed[id] {
            node.inputs.iter().for_each(|&input| needed[input as usize] = true);
        }
    }
    let mut pruned = Case { seed: case.seed, graph: Graph::default(), inputs: Vec::new() };
    let mut renamed = vec![0; graph.nodes.len()];
    let (mut inputs, mut scalars) = (case.inputs.iter(), graph.scalars.iter());
    for (id, node) in graph.nodes.iter().enumerate() {
        let input = (node.op == Op::Input).then(|| inputs.next().expect("a value for each input"));
        let scalar = (node.op == Op::Scalar).then(|| scalars.next().expect("one for each scalar"));
        if !needed[id] {
            continue;
        }
        pruned.inputs.extend(input.cloned());
        pruned.graph.scalars.extend(scalar);
        let operands: SmallVec<[NodeId; 3]> =
            node.inputs.iter().map(|&input| renamed[input as usize]).collect();
        renamed[id] =
            pruned.graph.append(node.op.clone(), &operands, node.shape.clone(), node.dtype);
    }
    pruned.graph.outputs = graph.outputs.iter().map(|&output| renamed[output as usize]).collect();
    pruned
}
