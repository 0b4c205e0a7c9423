//! Programs built from graphs and control flow: `while` loops and branches.

use inflight::{DType, Device, Program, Scalar, Shape, Tensor};
use inflight_hlo::module::Location;
use inflight_hlo::program::{Action, Argument, Origin, Sequence, Slot, Step, ValueType};
use inflight_ir::graph::{Graph, Op};
use inflight_ir::{BinaryOp, CompareOp};
use std::sync::Arc;

fn ty(dtype: DType, extents: &[usize]) -> ValueType {
    ValueType { shape: Shape::new(extents), dtype }
}

fn compute(graph: Graph, inputs: &[Slot], results: &[Slot]) -> Step {
    let origin = Origin { name: "test.op".into(), location: Location { line: 7, column: 3 } };
    let origins = vec![origin; graph.nodes.len()].into();
    Step {
        action: Action::Compute { graph: Arc::new(graph), origins },
        inputs: inputs.to_vec(),
        results: results.to_vec(),
        location: Location::default(),
    }
}

/// `while i < limit { i += 1; x *= 2 }` with `limit` loop-invariant.
fn doubling() -> (Vec<ValueType>, Step) {
    let carried = [ty(DType::I32, &[]), ty(DType::F32, &[5])];
    let all = [carried[0].clone(), carried[1].clone(), ty(DType::I32, &[])];
    let mut test = Graph::default();
    let (i, limit) = (test.input([], DType::I32), test.input([], DType::I32));
    let less = test.push(Op::Compare(CompareOp::Lt), &[i, limit]).unwrap();
    test.outputs.push(less);
    let mut values = all.to_vec();
    values.push(ty(DType::Bool, &[]));
    let condition =
        Sequence { values, inputs: 3, steps: vec![compute(test, &[0, 2], &[3])], outputs: vec![3] };
    let mut iteration = Graph::default();
    let (i, x) = (iteration.input([], DType::I32), iteration.input([5], DType::F32));
    let one = iteration.scalar(Scalar::from(1i32));
    let next = iteration.push(Op::Binary(BinaryOp::Add), &[i, one]).unwrap();
    let doubled = iteration.push(Op::Binary(BinaryOp::Add), &[x, x]).unwrap();
    iteration.outputs = vec![next, doubled];
    let mut values = all.to_vec();
    values.extend(carried);
    let body = Sequence {
        values,
        inputs: 3,
        steps: vec![compute(iteration, &[0, 1], &[3, 4])],
        outputs: vec![3, 4],
    };
    let step = Step {
        action: Action::While { condition, body, carried: 2 },
        inputs: vec![0, 1, 2],
        results: vec![3, 4],
        location: Location { line: 3, column: 1 },
    };
    (all.to_vec(), step)
}

fn loop_program() -> Program {
    let (inputs, step) = doubling();
    let argument = |(position, ty): (usize, &ValueType)| Argument {
        name: format!("arg{position}"),
        ty: ty.clone(),
        is_donated: false,
    };
    let mut values = inputs.clone();
    values.extend([ty(DType::I32, &[]), ty(DType::F32, &[5])]);
    Program::from_lowered(inflight_hlo::program::Program {
        name: "doubling".into(),
        arguments: inputs.iter().enumerate().map(argument).collect(),
        results: vec![ty(DType::I32, &[]), ty(DType::F32, &[5])],
        constants: Vec::new(),
        body: Sequence { values, inputs: 3, steps: vec![step], outputs: vec![3, 4] },
    })
}

fn arguments(iterations: i32, device: &Device) -> [Tensor; 3] {
    let x = Tensor::from_vec(vec![1.0f32, 2.0, 3.0, 4.0, 5.0], [5], device).unwrap();
    let scalar = |value: i32| Tensor::from_vec(vec![value], [], device).unwrap();
    [scalar(0), x, scalar(iterations)]
}

#[test]
fn a_loop_runs_its_iterations() {
    let device = Device::cpu();
    let exe = device.compile(&loop_program()).unwrap();
    for iterations in [0, 1, 2, 7, 100] {
        let [i, x, limit] = arguments(iterations, &device);
        let results = exe.execute(&[&i, &x, &limit]).unwrap();
        let expected: Vec<f32> = (1..=5).map(|n| n as f32 * 2f32.powi(iterations)).collect();
        assert_eq!(results[0].item::<i32>().unwrap(), iterations);
        assert_eq!(results[1].to_vec::<f32>().unwrap(), expected);
        // A loop without iterations returns its arguments, which stay valid.
        assert_eq!(x.to_vec::<f32>().unwrap(), [1.0, 2.0, 3.0, 4.0, 5.0]);
    }
}

#[test]
fn loop_conditions_do_not_block_caller_or_dispatcher() {
    let (device, gate) = crate::support::stepped::stepped_device();
    let exe = device.compile(&loop_program()).unwrap();
    let [i, x, limit] = arguments(3, &device);
    let first = exe.execute(&[&i, &x, &limit]).unwrap();
    let second = exe.execute(&[&i, &first[1], &limit]).unwrap();
    let sum = second[1].sum_all();
    assert!(!sum.is_ready());
    gate.open();
    assert_eq!(sum.item::<f32>().unwrap(), 15.0 * 64.0);
}

#[test]
fn iterations_enqueue_few_commands_and_compile_nothing() {
    let device = Device::open_cpu(Default::default()).unwrap();
    let exe = device.compile(&loop_program()).unwrap();
    let [i, x, limit] = arguments(1, &device);
    exe.execute(&[&i, &x, &limit]).unwrap()[1].wait().unwrap();
    let before = device.stats();
    let [i, x, limit] = arguments(101, &device);
    exe.execute(&[&i, &x, &limit]).unwrap()[1].wait().unwrap();
    let ran = device.stats().since(&before);
    assert_eq!((ran.compiles, ran.plans), (0, 0));
    assert!(
        ran.launches <= 1 + 2 * 101,
        "an iteration launches more than two kernels: {}",
        ran.launches
    );
}

#[test]
fn small_iterations_allocate_nothing() {
    let device = Device::open_cpu(Default::default()).unwrap();
    let exe = device.compile(&loop_program()).unwrap();
    let run = |iterations| {
        let [i, x, limit] = arguments(iterations, &device);
        let before = device.stats();
        let results = exe.execute(&[&i, &x, &limit]).unwrap();
        results[1].wait().unwrap();
        device.stats().since(&before)
    };
    let (few, many) = (run(100), run(10_100));
    assert_eq!(few.allocations, many.allocations);
    // The counters include the iterations.
    assert_eq!((many.launches - few.launches) % 10_000, 0);
    assert!(many.launches >= few.launches + 10_000);
}

#[test]
fn memory_does_not_grow_with_iterations() {
    let device = Device::open_cpu(Default::default()).unwrap();
    let exe = device.compile(&loop_program()).unwrap();
    let run = |iterations| {
        let [i, x, limit] = arguments(iterations, &device);
        exe.execute(&[&i, &x, &limit]).unwrap()[1].wait().unwrap();
        device.memory().peak
    };
    let few = run(10);
    assert_eq!(run(2000), few);
}

#[test]
fn a_loop_without_readers_terminates() {
    let device = Device::cpu();
    let exe = device.compile(&loop_program()).unwrap();
    let [i, x, _] = arguments(0, &device);
    let limit = Tensor::scalar(i32::MAX, &device);
    drop(exe.execute(&[&i, &x, &limit]).unwrap());
    // On the same stream, behind a loop that would run for minutes.
    let [i, x, limit] = arguments(1, &device);
    let results = exe.execute(&[&i, &x, &limit]).unwrap();
    assert_eq!(results[0].item::<i32>().unwrap(), 1);
}

#[test]
fn an_executable_may_be_dropped_in_flight() {
    let (device, gate) = crate::support::stepped::stepped_device();
    let exe = device.compile(&loop_program()).unwrap();
    let [i, x, limit] = arguments(4, &device);
    let results = exe.execute(&[&i, &x, &limit]).unwrap();
    drop((exe, i, x, limit));
    gate.open();
    assert_eq!(results[1].to_vec::<f32>().unwrap()[0], 16.0);
}

#[test]
fn executions_run_on_several_threads_and_streams() {
    let device = Device::cpu();
    let exe = device.compile(&loop_program()).unwrap();
    std::thread::scope(|scope| {
        for iterations in 0..8 {
            let (exe, device) = (exe.clone(), device.clone());
            scope.spawn(move || {
                let stream = device.stream();
                let [i, x, limit] = arguments(iterations, &device);
                let own = exe.execute(&[&i, &x, &limit]).unwrap();
                let other = exe.execute_on(&stream, &[&i, &own[1], &limit]).unwrap();
                let expected = 2f32.powi(2 * iterations);
                assert_eq!(other[1].to_vec::<f32>().unwrap()[0], expected);
            });
        }
    });
}
