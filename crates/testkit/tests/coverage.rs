//! Coverage of the random graphs: every op and dtype appears.

use inflight_ir::DType;
use inflight_ir::elementwise::{BinaryOp, CombineOp, CompareOp, UnaryOp};
use inflight_testkit::random_case;
use std::collections::BTreeSet;

const SEEDS: u64 = 3000;

#[test]
fn every_op_and_dtype_appears() {
    let mut names: BTreeSet<&'static str> = BTreeSet::new();
    let mut dtypes = BTreeSet::new();
    let (mut empty, mut rank_0, mut rank_5, mut large, mut long) = (0, 0, 0, 0, 0);
    for seed in 0..SEEDS {
        let case = random_case(seed);
        long += (case.graph.nodes.len() > 128) as usize;
        for node in &case.graph.nodes {
            names.insert(node.op.name());
            dtypes.insert(node.dtype);
            empty += (node.shape.element_count() == 0) as usize;
            rank_0 += (node.shape.rank() == 0) as usize;
            rank_5 += (node.shape.rank() == 5) as usize;
            large += (node.shape.element_count() > 65_536) as usize;
        }
    }
    let elementwise = UnaryOp::ALL.map(UnaryOp::name).into_iter();
    let elementwise = elementwise.chain(BinaryOp::ALL.map(BinaryOp::name));
    let elementwise = elementwise.chain(CompareOp::ALL.map(CompareOp::name));
    let folds = CombineOp::ALL.map(CombineOp::reduce_name).into_iter();
    let folds = folds.chain(CombineOp::ALL.map(CombineOp::scan_name));
    let others = [
        "input",
        "scalar",
        "iota",
        "select",
        "cast",
        "bitcast",
        "reshape",
        "permute",
        "broadcast",
        "slice",
        "pad",
        "concat",
        "slice_assign",
        "gather",
        "scatter",
        "argmin",
        "argmax",
        "dot",
        "windows",
        "sort",
        "argsort",
    ];
    for name in elementwise.chain(folds).chain(others) {
        assert!(names.contains(name), "{name} is in none of {SEEDS} graphs");
    }
    assert_eq!(dtypes.len(), DType::ALL.len());
    let counts = [empty, rank_0, rank_5, large, long];
    assert!(counts.iter().all(|&count| count > 20), "{counts:?}");
}

#[test]
fn seed_determines_the_case() {
    for seed in 0..50 {
        let (one, other) = (random_case(seed), random_case(seed));
        assert_eq!(one.graph.nodes, other.graph.nodes);
        assert_eq!(one.graph.outputs, other.graph.outputs);
        assert_eq!(one.inputs, other.inputs);
    }
}
