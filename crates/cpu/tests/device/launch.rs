//! Kernel launches through a stream, on every execution path of this CPU, on one thread and partitioned.

use crate::support::{Queue, buffer, label};
use inflight_backend::{Backend, Buffer, Command, FaultKind, Launch, PlannedLaunch};
use inflight_cpu::{CpuBackend, Options, Path};
use inflight_ir::elementwise::{BinaryOp, CombineOp};
use inflight_ir::kernel::{
    Access, AccessShape, Instruction, Kernel, Kind, LaunchShape, Param, Stride, VectorAxis, verify,
};
use inflight_ir::{DType, Element, Scalar};
use smallvec::SmallVec;
use std::sync::Arc;

/// A device for each execution path that this CPU supports.
fn devices() -> Vec<Arc<CpuBackend>> {
    let paths = [Path::Avx512, Path::Avx2, Path::Block].map(Some);
    let device = |path| CpuBackend::new(Options { threads: Some(3), path }).ok();
    let devices: Vec<_> = paths.into_iter().filter_map(device).collect();
    assert!(devices.iter().any(|device| device.path() == Path::Block));
    assert!(devices.iter().any(|device| device.path() == Path::detect()));
    devices
}

fn param(dtype: DType, writes: bool) -> Param {
    Param { dtype, writes }
}

fn access(param: u32, vector: Stride) -> Access {
    Access { param: Some(param), reduce: false, vector }
}

fn load(access: u32, dtype: DType) -> Instruction {
    Instruction { kind: Kind::Load { access, index: None, mask: None }, dtype }
}

fn store(access: u32, value: u32, dtype: DType) -> Instruction {
    let kind = Kind::Store { access, value, index: None, mask: None, combine: None };
    Instruction { kind, dtype }
}

fn strides(offset: isize, strides: &[isize]) -> AccessShape {
    AccessShape { offset, strides: SmallVec::from_slice(strides), index_stride: 0 }
}

/// `y[i, j] = a[i, j] + s · b[j]`.
fn scale_and_add() -> Kernel {
    let f32 = DType::F32;
    let instruction = |kind| Instruction { kind, dtype: f32 };
    Kernel {
        params: vec![param(f32, false), param(f32, false), param(f32, true)],
        scalars: vec![f32],
        accesses: (0..3).map(|i| access(i, Stride::One)).collect(),
        grid_rank: 1,
        reduce_rank: 0,
        vector: VectorAxis::Parallel,
        body: vec![
            load(0, f32),
            load(1, f32),
            instruction(Kind::Scalar(0)),
            instruction(Kind::Binary(BinaryOp::Mul, 1, 2)),
            instruction(Kind::Binary(BinaryOp::Add, 0, 3)),
            store(2, 4, f32),
        ],
    }
}

fn launch(
    device: &CpuBackend,
    kernel: Kernel,
    shape: LaunchShape,
    buffers: &[&Arc<Buffer>],
    scalars: &[Scalar],
) -> Command {
    verify(&kernel).unwrap();
    Command::Launch(Launch {
        planned: PlannedLaunch::new(
            device.compile(&kernel).unwrap(),
            Arc::new(kernel),
            Arc::new(shape),
        ),
        buffers: buffers.iter().map(|&buffer| buffer.clone()).collect(),
        scalars: scalars.into(),
        label: label(),
    })
}

#[test]
fn elementwise_kernels_match_at_every_size() {
    for device in devices() {
        let mut queue = Queue::new(&device);
        for (rows, columns) in
            [(0, 5), (5, 0), (1, 1), (3, 100), (1, 300_001), (700, 300), (5000, 9)]
        {
            let a: Vec<f32> = (0..rows * columns).map(|i| (i % 1000) as f32).collect();
            let b: Vec<f32> = (0..columns).map(|j| (j % 100) as f32).collect();
            let expected: Vec<f32> =
                a.iter().enumerate().map(|(i, a)| a + 2.0 * b[i % columns]).collect();
            let result = Buffer::declare(rows * columns * 4);
            let row = columns as isize;
            let shape = LaunchShape {
                extents: SmallVec::from_slice(&[rows, columns]),
                accesses: vec![strides(0, &[row, 1]), strides(0, &[0, 1]), strides(0, &[row, 1])],
            };
            let buffers = [&buffer(a), &buffer(b), &result];
            let scalars = [2.0f32.to_scalar()];
            crate::support::enqueue(
                &queue.stream,
                launch(&device, scale_and_add(), shape, &buffers, &scalars),
            );
            let actual = queue.read::<f32>(&result).unwrap();
            assert!(actual == expected, "{rows}x{columns} on {:?}", device.path());
        }
    }
}

#[test]
fn row_sums_match_at_every_size() {
    let i32 = DType::I32;
    for device in devices() {
        let mut queue = Queue::new(&device);
        for (rows, columns) in [(1, 1), (4, 0), (7, 1000), (3000, 50)] {
            let a: Vec<i32> =
                (0..rows * columns).map(|i| (i as i32).wrapping_mul(77_777)).collect();
            let sum = |row: usize| {
                a[row * columns..][..columns].iter().fold(0i32, |sum, &x| sum.wrapping_add(x))
            };
            let expected: Vec<i32> = (0..rows).map(sum).collect();
            let kernel = Kernel {
                params: vec![param(i32, false), param(i32, true)],
                scalars: vec![],
                accesses: vec![access(0, Stride::One), access(1, Stride::Zero)],
                grid_rank: 1,
                reduce_rank: 0,
                vector: VectorAxis::Reduced,
                body: vec![
                    load(0, i32),
                    Instruction { kind: Kind::Reduce(CombineOp::Sum, 0), dtype: i32 },
                    store(1, 1, i32),
                ],
            };
            let shape = LaunchShape {
                extents: SmallVec::from_slice(&[rows, columns]),
                accesses: vec![strides(0, &[columns as isize, 1]), strides(0, &[1, 0])],
            };
            let result = Buffer::declare(rows * 4);
            let buffers = [&buffer(a), &result];
            crate::support::enqueue(&queue.stream, launch(&device, kernel, shape, &buffers, &[]));
            assert!(queue.read::<i32>(&result).unwrap() == expected, "{rows}x{columns}");
        }
    }
}

/// Many lanes add to one address: the vector axis must not be split among threads.
#[test]
fn colliding_scatter_additions_are_all_counted() {
    let i32 = DType::I32;
    for device in devices() {
        let mut queue = Queue::new(&device);
        let lanes = 200_000;
        let index: Vec<i32> = (0..lanes).map(|i| i * 7 % 13).collect();
        let mut expected = vec![100i32; 13];
        index.iter().for_each(|&i| expected[i as usize] += 1);
        let combine = Some(CombineOp::Sum);
        let kind = Kind::Store { access: 1, value: 1, index: Some(0), mask: None, combine };
        let kernel = Kernel {
            params: vec![param(i32, false), param(i32, true)],
            scalars: vec![],
            accesses: vec![access(0, Stride::One), access(1, Stride::Zero)],
            grid_rank: 0,
            reduce_rank: 0,
            vector: VectorAxis::Parallel,
            body: vec![
                load(0, i32),
                Instruction { kind: Kind::Constant(1i32.to_scalar()), dtype: i32 },
                Instruction { kind, dtype: i32 },
            ],
        };
        let shape = LaunchShape {
            extents: SmallVec::from_slice(&[lanes as usize]),
            accesses: vec![strides(0, &[1]), AccessShape { index_stride: 1, ..strides(0, &[0]) }],
        };
        let result = buffer(vec![100i32; 13]);
        let buffers = [&buffer(index), &result];
        crate::support::enqueue(&queue.stream, launch(&device, kernel, shape, &buffers, &[]));
        assert_eq!(queue.read::<i32>(&result).unwrap(), expected, "on {:?}", device.path());
    }
}

#[test]
fn faults_and_out_of_memory_propagate_to_results() {
    let device = CpuBackend::new(Options { threads: Some(2), path: None }).unwrap();
    let mut queue = Queue::new(&device);
    let shape = || LaunchShape {
        extents: SmallVec::from_slice(&[1, 4]),
        accesses: vec![strides(0, &[4, 1]); 3],
    };
    let good = buffer(vec![1.0f32; 4]);
    let bad = Buffer::failed(16, FaultKind::Panicked("the first cause".into()).into());
    let scalars = [1.0f32.to_scalar()];

    let result = Buffer::declare(16);
    let buffers = [&good, &bad, &result];
    crate::support::enqueue(
        &queue.stream,
        launch(&device, scale_and_add(), shape(), &buffers, &scalars),
    );
    let fault = queue.read::<f32>(&result).unwrap_err();
    assert_eq!(fault.kind, FaultKind::Panicked("the first cause".into()));

    device.pool().set_limit(Some(15));
    let result = Buffer::declare(16);
    let buffers = [&good, &good, &result];
    crate::support::enqueue(
        &queue.stream,
        launch(&device, scale_and_add(), shape(), &buffers, &scalars),
    );
    let fault = queue.read::<f32>(&result).unwrap_err();
    assert_eq!(fault.kind, FaultKind::OutOfMemory { requested: 16, in_use: 0, limit: 15 });
    assert_eq!(fault.label.unwrap().work.bytes_read, 7);

    device.pool().set_limit(None);
    let result = Buffer::declare(16);
    let buffers = [&good, &good, &result];
    let mut command = launch(&device, scale_and_add(), shape(), &buffers, &scalars);
    if let Command::Launch(launch) = &mut command {
        let (kernel, shape) = (launch.planned.kernel.clone(), launch.planned.shape.clone());
        launch.planned = PlannedLaunch::new(Arc::new("from elsewhere"), kernel, shape);
    }
    crate::support::enqueue(&queue.stream, command);
    let fault = queue.read::<f32>(&result).unwrap_err();
    assert!(matches!(fault.kind, FaultKind::Unsupported(_)), "{fault}");
}

#[test]
fn a_panicking_launch_does_not_fail_its_batch() {
    for device in devices() {
        let mut queue = Queue::new(&device);
        let results: Vec<_> = (0..3).map(|_| Buffer::declare(64 * 4)).collect();
        let launches = results.iter().enumerate().map(|(position, result)| {
            let operands = [&buffer(vec![1f32; 64]), &buffer(vec![1f32; 64]), result];
            let mut shape = LaunchShape {
                extents: SmallVec::from_slice(&[1, 64]),
                accesses: vec![strides(0, &[64, 1]), strides(0, &[0, 1]), strides(0, &[64, 1])],
            };
            if position == 1 {
                // Without access maps, the launch panics.
                shape.accesses.clear();
            }
            let scalars = [2.0f32.to_scalar()];
            match launch(&device, scale_and_add(), shape, &operands, &scalars) {
                Command::Launch(launch) => launch,
                _ => unreachable!("a launch"),
            }
        });
        let batch = inflight_backend::Batch { launches: launches.collect(), label: label() };
        crate::support::enqueue(&queue.stream, Command::Batch(batch));
        assert_eq!(queue.read::<f32>(&results[0]).unwrap(), [3.0; 64]);
        let fault = queue.read::<f32>(&results[1]).unwrap_err();
        assert!(matches!(fault.kind, FaultKind::Panicked(_)), "{fault:?}");
        assert_eq!(queue.read::<f32>(&results[2]).unwrap(), [3.0; 64]);
    }
}
