//! Differential tests of the planner: random graphs, planned and run kernel by kernel in the slow evaluator, against
//! the reference interpreter. Fusion must not change the values of a graph. No device is needed.
//!
//! `INFLIGHT_PLAN_CASES` sets the number of graphs, `INFLIGHT_SEED` the first seed.

use inflight_ir::compose::{
    Convolution, ConvolutionAxes, ConvolutionWindow, KernelAxes, convolution,
};
use inflight_ir::elementwise::CombineOp;
use inflight_ir::graph::{Combine, DTypeSet, DotAxes, Graph, Node, NodeId, Op, combine_accepts};
use inflight_ir::interpret::{Accumulator, Array, interpret};
use inflight_ir::kernel;
use inflight_ir::plan::{
    GemmStep, ImplicitGemmOperands, LaunchStep, Lines, MatrixOperand, Plan, PlanTarget, Producer,
    Routine, ScalarSource, Step, TriangularSystems, plan, plan_for,
};
use inflight_ir::{BinaryOp, DType, Scalar, Shape, UnaryOp};
use inflight_testkit::random::{Case, random_case};
use inflight_testkit::{Compared, Reference, print, shrink};
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Once;

fn env_number(name: &str, default: u64) -> u64 {
    match std::env::var(name) {
        Ok(text) => text.parse().unwrap_or_else(|_| panic!("{name}={text} is not an integer")),
        Err(_) => default,
    }
}

/// Checks the invariants of a plan's buffers and kernels.
fn check_plan(graph: &Graph, plan: &Plan) -> Result<(), String> {
    // A buffer without elements needs no writer.
    let mut written: Vec<bool> =
        plan.buffers.iter().map(|buffer| buffer.input.is_some() || buffer.elements == 0).collect();
    for (at, step) in plan.steps.iter().enumerate() {
        if let Step::Routine(step) = step {
            if step.operands.iter().any(|&buffer| !written[buffer as usize]) {
                return Err(format!("routine {at} reads a buffer before it is written"));
            }
            written[step.result as usize] = true;
        }
        match step {
            Step::Launch(step) => check_launch(at, step, plan, &mut written)?,
            Step::Gemm(step) => check_gemm(at, step, plan, &mut written)?,
            Step::Routine(_) => {}
        }
        // Buffers internal to a step are not visible to later steps.
        for buffer in step.internal_buffers() {
            written[buffer as usize] = false;
        }
    }
    if plan.outputs.len() != graph.outputs.len() {
        return Err("an output has no buffer".to_string());
    }
    for (&node, &buffer) in graph.outputs.iter().zip(&plan.outputs) {
        let (node, held) = (graph.node(node), plan.buffers[buffer as usize]);
        if (node.dtype, node.shape.element_count()) != (held.dtype, held.elements) {
            return Err(format!("an output of {}{} is in {held:?}", node.dtype, node.shape));
        }
        if !written[buffer as usize] {
            return Err(format!("buffer {buffer} of an output is never written"));
        }
    }
    Ok(())
}

fn check_gemm(at: usize, step: &GemmStep, plan: &Plan, written: &mut [bool]) -> Result<(), String> {
    match step.prologue.as_ref().map(|prologue| &prologue.producer) {
        None => {}
        Some(Producer::Kernel(kernel)) => check_launch(at, &kernel.launch, plan, written)?,
        Some(Producer::Gemm(chained)) => check_gemm(at, &chained.gemm, plan, written)?,
    }
    if !written[step.a.buffer as usize] || !written[step.b.buffer as usize] {
        return Err(format!("GEMM {at} reads a buffer before it is written"));
    }
    written[step.c.buffer as usize] = true;
    match &step.epilogue {
        Some(epilogue) => check_launch(at, &epilogue.launch, plan, written),
        None => Ok(()),
    }
}

fn check_launch(
    at: usize,
    step: &LaunchStep,
    plan: &Plan,
    written: &mut [bool],
) -> Result<(), String> {
    kernel::verify(&step.kernel).map_err(|error| format!("step {at}: {error}"))?;
    // A written param may be combined with what an earlier step wrote.
    for (param, &buffer) in step.kernel.params.iter().zip(&step.buffers) {
        let dtype = plan.buffers[buffer as usize].dtype;
        if param.dtype != dtype {
            return Err(format!("step {at} takes {dtype} for {}", param.dtype));
        }
        if !param.writes && !written[buffer as usize] {
            return Err(format!("step {at} reads buffer {buffer} before it is written"));
        }
        if param.writes && plan.buffers[buffer as usize].input.is_some() {
            return Err(format!("step {at} writes an input"));
        }
    }
    let params = step.kernel.params.iter().zip(&step.buffers);
    for (_, &buffer) in params.filter(|(param, _)| param.writes) {
        written[buffer as usize] = true;
    }
    Ok(())
}

/// Runs a plan without a device.
fn execute(case: &Case, plan: &Plan) -> Vec<Array> {
    // Fill unwritten memory with a pattern that no valid result has.
    let mut buffers: Vec<Vec<u8>> = plan
        .buffers
        .iter()
        .map(|buffer| match buffer.input {
            Some(input) => case.inputs[input].bytes.clone(),
            None if buffer.dtype == DType::Bool => vec![1; buffer.elements],
            None => vec![0xa5; buffer.elements * buffer.dtype.size()],
        })
        .collect();
    for step in &plan.steps {
        if let Step::Routine(step) = step {
            let operands: Vec<Vec<u8>> =
                step.operands.iter().map(|&buffer| buffers[buffer as usize].clone()).collect();
            buffers[step.result as usize] = run_routine(&step.routine, operands);
        }
        match step {
            Step::Launch(step) => launch(case, step, &mut buffers),
            Step::Gemm(step) => run_gemm(case, step, &mut buffers),
            Step::Routine(_) => {}
        }
    }
    let outputs = case.graph.outputs.iter().zip(&plan.outputs);
    outputs
        .map(|(&node, &buffer)| {
            let node = case.graph.node(node);
            let bytes = buffers[buffer as usize].clone();
            Array { shape: node.shape.clone(), dtype: node.dtype, bytes }
        })
        .collect()
}

fn launch(case: &Case, step: &LaunchStep, buffers: &mut [Vec<u8>]) {
    let scalars: Vec<Scalar> = step
        .scalars
        .iter()
        .map(|source| match *source {
            ScalarSource::Graph(position) => case.graph.scalars[position],
            ScalarSource::Fixed(value) => value,
        })
        .collect();
    let mut bound: Vec<Vec<u8>> =
        step.buffers.iter().map(|&buffer| buffers[buffer as usize].clone()).collect();
    // Every other case runs the expanded kernels that backends get.
    let kernel = match case.seed % 2 {
        0 => step.kernel.as_ref().clone(),
        _ => kernel::expand(&step.kernel),
    };
    kernel::evaluate(&kernel, &step.shape, &mut bound, &scalars);
    for (at, &buffer) in step.buffers.iter().enumerate() {
        if step.kernel.params[at].writes {
            buffers[buffer as usize] = std::mem::take(&mut bound[at]);
        }
    }
}

/// Runs a GEMM step. Its prologue and epilogue run whole, before and after the GEMM, which is equivalent.
fn run_gemm(case: &Case, step: &GemmStep, buffers: &mut [Vec<u8>]) {
    match step.prologue.as_ref().map(|prologue| &prologue.producer) {
        None => {}
        Some(Producer::Kernel(kernel)) => launch(case, &kernel.launch, buffers),
        Some(Producer::Gemm(chained)) => run_gemm(case, &chained.gemm, buffers),
    }
    multiply(step, buffers);
    if let Some(epilogue) = &step.epilogue {
        launch(case, &epilogue.launch, buffers);
    }
}

fn multiply(step: &GemmStep, buffers: &mut [Vec<u8>]) {
    let size = step.dtype.size();
    let address = |operand: &MatrixOperand, batch: &[usize], row: usize, column: usize| {
        let strides = operand.batch_strides.iter().zip(batch);
        let batch: isize = strides.map(|(&stride, &at)| stride * at as isize).sum();
        let (row, column) = (row as isize, column as isize);
        let element =
            operand.offset + batch + row * operand.row_stride + column * operand.column_stride;
        usize::try_from(element).expect("an element of the buffer") * size
    };
    let batches: usize = step.batch.iter().product();
    for position in 0..batches {
        let mut batch = vec![0; step.batch.len()];
        let mut left = position;
        for (at, &extent) in batch.iter_mut().zip(&step.batch).rev() {
            (*at, left) = (left % extent, left / extent);
        }
        for row in 0..step.m {
            for column in 0..step.n {
                let mut total = Accumulator::new(CombineOp::Sum, step.dtype);
                for inner in 0..step.k {
                    let a = address(&step.a, &batch, row, inner);
                    let b = address(&step.b, &batch, inner, column);
                    total.push_product(
                        Scalar::from_bytes(step.dtype, &buffers[step.a.buffer as usize][a..]),
                        Scalar::from_bytes(step.dtype, &buffers[step.b.buffer as usize][b..]),
                    );
                }
                let c = address(&step.c, &batch, row, column);
                buffers[step.c.buffer as usize][c..c + size]
                    .copy_from_slice(&total.result().to_bytes()[..size]);
            }
        }
    }
}

thread_local! {
    static QUIET: Cell<bool> = const { Cell::new(false) };
}

/// Catches a panic without printing it: it is reported once, for the shrunk case.
fn quietly<R>(f: impl FnOnce() -> R) -> std::thread::Result<R> {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let usual = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            if !QUIET.get() {
                usual(info);
            }
        }));
    });
    QUIET.set(true);
    let result = catch_unwind(AssertUnwindSafe(f));
    QUIET.set(false);
    result
}

/// Plans, runs and compares one case.
fn run(case: &Case, reference: &Reference) -> Result<Compared, String> {
    let attempt = || -> Result<Compared, String> {
        let first = plan(&case.graph);
        check_plan(&case.graph, &first)?;
        let again = plan(&case.graph);
        if format!("{first:?}") != format!("{again:?}") {
            return Err("planning twice gives two plans".to_string());
        }
        reference.compare(&execute(case, &first)).map_err(|mismatch| mismatch.to_string())
    };
    quietly(attempt).unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<String>().map(String::as_str);
        let text = text.or(panic.downcast_ref::<&str>().copied()).unwrap_or("a panic");
        Err(format!("panic: {text}"))
    })
}

fn fails(case: &Case) -> Option<String> {
    run(case, &Reference::new(case)).err()
}

/// Runs a routine by interpreting the op that it came from.
fn run_routine(routine: &Routine, operands: Vec<Vec<u8>>) -> Vec<u8> {
    let along = |lines: &Lines, extent: usize| Shape::from([lines.outer, extent, lines.inner]);
    let (op, shapes): (Op, Vec<(Shape, DType)>) = match routine {
        Routine::Sort { lines, keys, order, result } => (
            Op::Sort { axis: 1, order: order.clone(), result: *result },
            keys.iter().map(|&dtype| (along(lines, lines.extent), dtype)).collect(),
        ),
        Routine::Scatter { lines, updates, dtype, index, combine } => (
            Op::Scatter { axis: 1, combine: Some(Combine::Function(combine.clone())) },
            vec![
                (along(lines, lines.extent), *dtype),
                (along(lines, *updates), *index),
                (along(lines, *updates), *dtype),
            ],
        ),
        Routine::ImplicitGemm(ImplicitGemmOperands { dtype, gemm, extents }) => {
            let space = extents.space.iter().copied();
            let sizes = gemm.windows.iter().map(|window| window.size);
            let examples = extents.examples * extents.example_groups;
            let features = extents.features;
            let x =
                std::iter::once(examples).chain(space).chain([extents.feature_groups, features]);
            let kernels =
                [extents.groups(), extents.outputs].into_iter().chain(sizes).chain([features]);
            (
                Op::ImplicitGemm(Box::new(gemm.clone())),
                vec![(x.collect(), *dtype), (kernels.collect(), *dtype)],
            )
        }
        Routine::Cholesky { dtype, batch, n, lower } => {
            (Op::Cholesky { lower: *lower }, vec![(Shape::from([*batch, *n, *n]), *dtype)])
        }
        &Routine::TriangularSolve { dtype, systems } => {
            let TriangularSystems { batch, n, count, left_side, lower, unit_diagonal, transpose } =
                systems;
            let b = if left_side { [batch, n, count] } else { [batch, count, n] };
            (
                Op::TriangularSolve { left_side, lower, unit_diagonal, transpose },
                vec![(Shape::from([batch, n, n]), dtype), (Shape::from(b), dtype)],
            )
        }
    };
    let operands: Vec<Array> = shapes
        .into_iter()
        .zip(operands)
        .map(|((shape, dtype), bytes)| Array { shape, dtype, bytes })
        .collect();
    let mut graph = Graph::default();
    let inputs: Vec<_> = operands.iter().map(|x| graph.input(&x.shape, x.dtype)).collect();
    let output = graph.push(op, &inputs).expect("the routine of an op that was inferred");
    graph.outputs.push(output);
    interpret(&graph, &operands).remove(0).bytes
}

/// The failure report of a case, shrunk.
fn report(case: &Case, problem: &str) -> String {
    let small = shrink::shrink(case, |case| fails(case).is_some());
    let again = fails(&small).unwrap_or_default();
    let plan = quietly(|| plan(&small.graph));
    let kernels: Vec<String> = plan.map_or(Vec::new(), |plan| {
        let steps = plan.steps.iter().map(|step| match step {
            Step::Launch(step) => format!("{}{:?} {:?}", step.kernel, step.buffers, step.shape),
            Step::Gemm(step) => format!("{step:?}"),
            Step::Routine(step) => format!("{step:?}"),
        });
        steps.collect()
    });
    format!("{problem}\n\nsmall: {again}\n{}\n{}", print::case(&small), kernels.join("\n"))
}

#[test]
fn plans_match_the_interpreter() {
    let first = env_number("INFLIGHT_SEED", 0);
    let cases = env_number("INFLIGHT_PLAN_CASES", 3000);
    let mut compared = Compared::default();
    let mut failures: Vec<(u64, String)> = Vec::new();
    for seed in first..first + cases {
        let case = random_case(seed);
        match run(&case, &Reference::new(&case)) {
            Ok(more) => compared.add(more),
            Err(problem) => failures.push((seed, problem)),
        }
    }
    if let Some((seed, problem)) = failures.first() {
        let list: Vec<String> =
            failures.iter().map(|(seed, problem)| format!("{seed}: {problem:.160}")).collect();
        let report = report(&random_case(*seed), problem);
        panic!("{} of {cases} cases fail\n{}\n\n{report}", failures.len(), list.join("\n"));
    }
    println!("{compared:?}");
    assert!(compared.float_share() > 0.8, "too few floats were compared: {compared:?}");
    assert!(compared.integer_share() > 0.9, "too few integers were compared: {compared:?}");
}

/// The graph with every extent multiplied, except 0 and 1: the same ops on the same ranks.
fn scaled(graph: &Graph, factor: usize) -> Option<Graph> {
    let scale = |shape: &Shape| -> Shape {
        shape.iter().map(|&extent| if extent < 2 { extent } else { factor * extent }).collect()
    };
    let mut result = Graph { scalars: graph.scalars.clone(), ..Graph::default() };
    for node in &graph.nodes {
        let op = match &node.op {
            Op::Input => {
                result.input(scale(&node.shape), node.dtype);
                continue;
            }
            Op::Scalar => {
                result.append(Op::Scalar, &[], Shape::scalar(), node.dtype);
                continue;
            }
            Op::Iota { axis, shape, dtype } => {
                Op::Iota { axis: *axis, shape: scale(shape), dtype: *dtype }
            }
            Op::Broadcast(shape) => Op::Broadcast(scale(shape)),
            Op::Concat { .. } | Op::Permute(_) | Op::Reduce { .. } => node.op.clone(),
            op if op.is_elementwise() => op.clone(),
            _ => return None,
        };
        result.push(op, &node.inputs).ok()?;
    }
    let row = |node: &Node| match &node.op {
        Op::Reduce { axes, .. } => {
            let shape = &result.node(node.inputs[0]).shape;
            axes.iter().map(|&axis| shape[axis]).product()
        }
        _ => 1,
    };
    // Longer rows become split reductions, whose stages have size classes of their own.
    if result.nodes.iter().any(|node| row(node) > 1 << 16) {
        return None;
    }
    result.outputs = graph.outputs.clone();
    Some(result)
}

fn kernels(graph: &Graph) -> Vec<String> {
    let plan = plan(graph);
    let launches = plan.steps.iter().flat_map(Step::launches);
    let mut kernels: Vec<String> = launches.map(|step| step.kernel.to_string()).collect();
    // Launch batches, and so the order of launches, may depend on sizes.
    kernels.sort();
    kernels
}

/// Kernels do not depend on sizes: a program with other extents of the same size class reuses the compiled kernels.
#[test]
fn kernels_do_not_depend_on_extents() {
    let mut found = 0;
    for seed in 0..6000 {
        let case = random_case(seed);
        let graphs = [16, 48].map(|factor| scaled(&case.graph, factor));
        let [Some(one), Some(other)] = graphs else { continue };
        if one.nodes.len() < 3 {
            continue;
        }
        assert_eq!(kernels(&one), kernels(&other), "seed {seed}\n{}", print::graph(&one));
        found += 1;
    }
    assert!(found > 200, "only {found} graphs could be given other extents");
}

/// A GEMM operand that is reshaped twice is still read in place.
#[test]
fn gemm_operands_reshaped_twice_are_read_in_place() {
    let mut graph = Graph::default();
    let x = graph.input([2, 2, 1], DType::F32);
    let weight = graph.input([4, 1], DType::F32);
    let twice = [Shape::from([2, 2]), Shape::from([4])].into_iter().fold(x, |x, shape| {
        graph.push(Op::Reshape(shape), &[x]).expect("the same number of elements")
    });
    let batch: inflight_ir::Axes = [0].into_iter().collect();
    let axes = DotAxes { a_batch: batch.clone(), b_batch: batch, ..DotAxes::default() };
    let dot = graph.push(Op::Dot(axes), &[twice, weight]).expect("a valid dot");
    graph.outputs.push(dot);
    assert_eq!(plan(&graph).steps.len(), 1);
}

/// Convolutions of every kind, to be run with a producer and a consumer.
fn convolutions() -> Vec<([usize; 4], [usize; 4], Convolution)> {
    let window = ConvolutionWindow::default();
    let padded = ConvolutionWindow { low: 1, high: 1, ..window };
    let strided = ConvolutionWindow { stride: 2, low: 1, high: 2, ..window };
    let dilated = ConvolutionWindow { kernel_dilation: 2, low: 2, high: 2, ..window };
    let spread = ConvolutionWindow { operand_dilation: 3, low: -1, reversed: true, ..window };
    let plain = Convolution::channels_first([padded; 2].into_iter().collect());
    let mixed = |a: ConvolutionWindow, b: ConvolutionWindow| Convolution {
        windows: [a, b].into_iter().collect(),
        ..plain.clone()
    };
    vec![
        ([2, 3, 5, 6], [4, 3, 3, 3], plain.clone()),
        ([2, 8, 5, 6], [4, 8, 3, 3], plain.clone()),
        ([2, 3, 7, 6], [4, 3, 3, 2], mixed(strided, dilated)),
        ([1, 2, 4, 5], [3, 2, 2, 3], mixed(spread, strided)),
        ([2, 3, 5, 6], [4, 3, 1, 1], mixed(strided, window)),
        ([1, 40, 4, 5], [32, 20, 2, 3], Convolution { feature_groups: 2, ..mixed(window, padded) }),
        ([4, 17, 4, 6], [32, 17, 2, 3], Convolution { batch_groups: 2, ..mixed(spread, window) }),
    ]
}

/// With implicit GEMM support, a convolution is one routine, whatever its layouts.
#[test]
fn convolutions_become_implicit_gemms() {
    let axes = |order: [usize; 4]| inflight_ir::Axes::from_slice(&order);
    for (x_shape, kernel_shape, case) in convolutions() {
        for dtype in [DType::F32, DType::BF16] {
            for layout in 0..3 {
                // The axes of [example, feature, y, x] and of [output, input, y, x].
                let (order, kernel_order) = [
                    ([0, 1, 2, 3], [0, 1, 2, 3]),
                    ([0, 2, 3, 1], [2, 3, 1, 0]),
                    ([1, 0, 2, 3], [1, 0, 2, 3]),
                ][layout];
                let at =
                    |order: [usize; 4], role: usize| order.iter().position(|&r| r == role).unwrap();
                let spatial = |order| [2, 3].map(|role| at(order, role)).into_iter().collect();
                let own = ConvolutionAxes {
                    batch: at(order, 0),
                    feature: at(order, 1),
                    spatial: spatial(order),
                };
                let kernel = KernelAxes {
                    output: at(kernel_order, 0),
                    input: at(kernel_order, 1),
                    spatial: spatial(kernel_order),
                };
                let described =
                    Convolution { operand: own.clone(), kernel, result: own, ..case.clone() };
                let mut graph = Graph::default();
                let (x, k) = (graph.input(x_shape, dtype), graph.input(kernel_shape, dtype));
                let moved = graph.push(Op::Permute(axes(order)), &[x]).unwrap();
                let permuted_kernel = graph.push(Op::Permute(axes(kernel_order)), &[k]).unwrap();
                let before = graph.push(Op::Unary(inflight_ir::UnaryOp::Neg), &[moved]).unwrap();
                let made = convolution(&mut graph, before, permuted_kernel, &described).unwrap();
                let after = graph.push(Op::Unary(inflight_ir::UnaryOp::Abs), &[made]).unwrap();
                graph.outputs = vec![after];
                let value = |shape: [usize; 4], seed: usize| {
                    let count: usize = shape.iter().product();
                    let of = |i: usize| ((i * 37 + seed) % 19) as f64 / 4.0 - 2.0;
                    let values = (0..count).map(|i| Scalar::from(of(i)).cast(dtype));
                    Array::from_scalars(values.collect::<Vec<_>>(), Shape::from(shape), dtype)
                };
                let inputs = vec![value(x_shape, 3), value(kernel_shape, 11)];
                let case = Case { seed: 0, graph, inputs };
                let plan_target = PlanTarget {
                    prologues: false,
                    arg_reductions: true,
                    implicit_gemm: true,
                    reduction_splits: 4096,
                    max_sum_chain: None,
                };
                let planned = plan_for(&case.graph, plan_target);
                check_plan(&case.graph, &planned).unwrap();
                let routines = planned.steps.iter().filter(|step| matches!(step, Step::Routine(_)));
                let others = planned.steps.iter().filter(|step| matches!(step, Step::Gemm(_)));
                assert_eq!((routines.count(), others.count()), (1, 0), "{kernel_shape:?} {layout}");
                Reference::new(&case).compare(&execute(&case, &planned)).unwrap();
            }
        }
    }
}

/// Lines of `[3, 5, 2]` along its middle axis, each with an index of its own, in range and out of range; `x` is
/// uniform, or computed.
fn scattered_lines(dtype: DType, index: DType, combine: Option<CombineOp>, one: bool) -> Case {
    let mut graph = Graph::default();
    let shape = Shape::from([3, 5, 2]);
    let of = |i: usize| Scalar::from([0.0, -0.0, 3.0, 1.0, -2.0, 0.5, 7.0][i % 7]).cast(dtype);
    let array = |shape: Shape, seed: usize| {
        let values: Vec<Scalar> = (0..shape.element_count()).map(|i| of(i * 3 + seed)).collect();
        Array::from_scalars(values, shape, dtype)
    };
    let mut inputs = Vec::new();
    let x = match one {
        true => {
            let scalar = graph.scalar(of(inputs.len()));
            graph.push(Op::Broadcast(shape.clone()), &[scalar]).unwrap()
        }
        false => {
            inputs.push(array(shape.clone(), 1));
            let x = graph.input(shape.clone(), dtype);
            graph.push(Op::Binary(BinaryOp::Mul), &[x, x]).unwrap()
        }
    };
    let lines = Shape::from([3, 1, 2]);
    // Negative indices become large ones in unsigned dtypes.
    let at = [4i64, -1, 0, 5, 3, i64::MIN].map(|at| Scalar::from(at).cast(index));
    inputs.push(Array::from_scalars(at.to_vec(), lines.clone(), index));
    inputs.push(array(lines.clone(), 0));
    let index = graph.input(lines.clone(), index);
    let update = graph.input(lines, dtype);
    let op = Op::Scatter { axis: 1, combine: combine.map(Combine::With) };
    let written = graph.push(op, &[x, index, update]).unwrap();
    // With a consumer, the scatter result itself is not an output.
    graph.outputs = vec![graph.push(Op::Binary(BinaryOp::Add), &[written, written]).unwrap()];
    Case { seed: 0, graph, inputs }
}

#[test]
fn scatters_of_one_update_per_line_become_selects() {
    let indices = DType::ALL.into_iter().filter(|dtype| dtype.is_integer());
    let combines = CombineOp::ALL.into_iter().map(Some).chain([None]);
    for (index, combine) in indices.flat_map(|index| combines.clone().map(move |op| (index, op))) {
        let accepted = combine.map_or(DTypeSet::ALL, combine_accepts);
        for (dtype, one) in accepted.iter().flat_map(|dtype| [(dtype, true), (dtype, false)]) {
            let case = scattered_lines(dtype, index, combine, one);
            let planned = plan(&case.graph);
            check_plan(&case.graph, &planned).unwrap();
            let about = format!("{dtype} by {index}, {combine:?}, uniform: {one}");
            assert_eq!(planned.steps.len(), 1, "{about}");
            let expected = interpret(&case.graph, &case.inputs);
            assert_eq!(execute(&case, &planned), expected, "{about}");
        }
    }
}

#[test]
fn scatters_with_conflicts_or_in_place_updates_stay_scatters() {
    let steps = |x: &mut dyn FnMut(&mut Graph) -> NodeId, updates: usize| {
        let mut graph = Graph::default();
        let x = x(&mut graph);
        let index = graph.input([6, updates], DType::I32);
        let update = graph.input([6, updates], DType::F32);
        let op = Op::Scatter { axis: 1, combine: Some(CombineOp::Sum.into()) };
        let written = graph.push(op, &[x, index, update]).unwrap();
        let read = graph.push(Op::Unary(UnaryOp::Neg), &[written]).unwrap();
        graph.outputs.push(read);
        plan(&graph).steps.len()
    };
    let mut one_value = |graph: &mut Graph| {
        let zero = graph.scalar(0f32);
        graph.push(Op::Broadcast([6, 9].into()), &[zero]).unwrap()
    };
    assert_eq!(steps(&mut one_value, 1), 1);
    assert_eq!(steps(&mut one_value, 2), 3, "two updates of a line may conflict");
    let mut in_memory = |graph: &mut Graph| graph.input([6, 9], DType::F32);
    assert_eq!(steps(&mut in_memory, 1), 3, "a value in memory is updated in place");
    let mut requested = |graph: &mut Graph| {
        let x = graph.input([6, 9], DType::F32);
        let x = graph.push(Op::Unary(UnaryOp::Neg), &[x]).unwrap();
        graph.outputs.push(x);
        x
    };
    assert_eq!(steps(&mut requested, 1), 4, "the operand is an output too");
}
