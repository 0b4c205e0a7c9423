//! CUDA device functions for scalar functions, such as comparators and combiners.

use crate::codegen::{expanded, operation, types};
use inflight_ir::DType;
use inflight_ir::graph::{Op, ScalarFunction};
use inflight_ir::kernel::{Access, Instruction, Kernel, Kind, Param, Stride, Value, VectorAxis};

/// Functions with more instructions are called instead of inlined.
const MAX_INLINE_INSTRUCTIONS: usize = 60;

/// A generated device function.
pub struct DeviceFunction {
    /// Its definition.
    pub source: String,
    /// For each parameter, whether the result depends on it.
    pub used: Vec<bool>,
}

/// Generates a device function.
pub fn generate(function: &ScalarFunction, name: &str) -> DeviceFunction {
    let kernel = expanded(&kernel(function));
    let parameters: Vec<DType> = function.parameters().collect();
    let mut used = vec![false; parameters.len()];
    let mut names: Vec<String> = (0..kernel.body.len()).map(|value| format!("v{value}")).collect();
    let mut lines = String::new();
    for (value, instruction) in kernel.body.iter().enumerate() {
        match instruction.kind {
            Kind::Constant(scalar) => names[value] = types::literal(scalar),
            Kind::Load { access, .. } => {
                used[access as usize] = true;
                names[value] = format!("p{access}");
            }
            Kind::Store { value: result, .. } => {
                lines += &format!("    return {};\n", names[result as usize]);
            }
            _ => {
                let expression = operation::arithmetic(&kernel, value as Value, &names);
                let kind = types::name(instruction.dtype);
                lines += &format!("    const {kind} {} = {expression};\n", names[value]);
            }
        }
    }
    let declared: Vec<String> = parameters
        .iter()
        .enumerate()
        .map(|(position, &dtype)| format!("{} p{position}", types::name(dtype)))
        .collect();
    let qualifiers = if kernel.body.len() > MAX_INLINE_INSTRUCTIONS {
        "static __device__ __noinline__"
    } else {
        "FN"
    };
    let result = types::name(function.dtype());
    let source = format!("{qualifiers} {result} {name}({}) {{\n{lines}}}\n", declared.join(", "));
    DeviceFunction { source, used }
}

/// The function as a kernel with a single point: a param for each parameter, and one for the result.
fn kernel(function: &ScalarFunction) -> Kernel {
    let graph = function.graph();
    let dtypes = function.parameters().chain([function.dtype()]);
    let result = function.parameters().count();
    let params =
        dtypes.enumerate().map(|(position, dtype)| Param { dtype, writes: position == result });
    let params: Vec<Param> = params.collect();
    let access =
        |param: usize| Access { param: Some(param as u32), reduce: false, vector: Stride::Zero };
    let accesses = (0..params.len()).map(access).collect();
    let (mut inputs, mut scalars) = (0.., graph.scalars.iter());
    let mut body: Vec<Instruction> = Vec::new();
    for node in &graph.nodes {
        let kind = match (&node.op, &node.inputs[..]) {
            (Op::Input, _) => {
                let access = inputs.next().expect("an access for each input");
                Kind::Load { access, index: None, mask: None }
            }
            (Op::Scalar, _) => Kind::Constant(*scalars.next().expect("a value for each constant")),
            (Op::Unary(op), &[a]) => Kind::Unary(*op, a),
            (Op::Binary(op), &[a, b]) => Kind::Binary(*op, a, b),
            (Op::Compare(op), &[a, b]) => Kind::Compare(*op, a, b),
            (Op::Select, &[mask, a, b]) => Kind::Select(mask, a, b),
            (Op::Cast(_), &[a]) => Kind::Cast(a),
            (Op::Bitcast(_), &[a]) => Kind::Bitcast(a),
            (op, _) => unreachable!("{} in a function of scalars", op.name()),
        };
        body.push(Instruction { kind, dtype: node.dtype });
    }
    let kind = Kind::Store {
        access: result as u32,
        value: graph.outputs[0],
        index: None,
        mask: None,
        combine: None,
    };
    body.push(Instruction { kind, dtype: function.dtype() });
    Kernel {
        params,
        scalars: Vec::new(),
        accesses,
        grid_rank: 0,
        reduce_rank: 0,
        vector: VectorAxis::Parallel,
        body,
    }
}
