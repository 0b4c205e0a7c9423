//! Scratch memory of kernels counts against the memory limit and is given back.

use crate::support::{Queue, buffer, label};
use inflight_backend::{Backend, Buffer, Command, Fault, FaultKind, Launch, PlannedLaunch};
use inflight_cpu::{CpuBackend, Options, Path};
use inflight_ir::elementwise::{BinaryOp, CombineOp, UnaryOp};
use inflight_ir::kernel::{
    Access, AccessShape, Instruction, Kernel, Kind, LaunchShape, Param, Stride, VectorAxis, verify,
};
use inflight_ir::{DType, Element};
use smallvec::SmallVec;
use std::sync::Arc;

/// Elements of the row: its exponentials take at least 4 MiB of scratch memory.
const ROW: usize = 1 << 20;
const RESULT_BYTES: usize = ROW * 4;

/// `y[i] = exp(x[i]) / Σ exp(x)` of one row: the exponentials stay live between the passes.
fn softmax() -> Kernel {
    let access = |param| Access { param: Some(param), reduce: false, vector: Stride::One };
    let store = Kind::Store { access: 1, value: 3, index: None, mask: None, combine: None };
    let body = [
        Kind::Load { access: 0, index: None, mask: None },
        Kind::Unary(UnaryOp::Exp, 0),
        Kind::Reduce(CombineOp::Sum, 1),
        Kind::Binary(BinaryOp::Div, 1, 2),
        store,
    ];
    Kernel {
        params: [false, true].map(|writes| Param { dtype: DType::F32, writes }).into(),
        scalars: vec![],
        accesses: vec![access(0), access(1)],
        grid_rank: 0,
        reduce_rank: 0,
        vector: VectorAxis::Reduced,
        body: body.map(|kind| Instruction { kind, dtype: DType::F32 }).into(),
    }
}

fn run(device: &CpuBackend, row: usize) -> Result<Vec<f32>, Fault> {
    let kernel = softmax();
    verify(&kernel).unwrap();
    let dense = AccessShape { offset: 0, strides: SmallVec::from_slice(&[1]), index_stride: 0 };
    let shape =
        LaunchShape { extents: SmallVec::from_slice(&[row]), accesses: vec![dense.clone(), dense] };
    let result = Buffer::declare(row * f32::DTYPE.size());
    // The caller keeps the input, so that the launch cannot reuse its memory in place.
    let input = buffer(vec![0f32; row]);
    let mut queue = Queue::new(device);
    let compiled = device.compile(&kernel).unwrap();
    let launch = Command::Launch(Launch {
        planned: PlannedLaunch::new(compiled, Arc::new(kernel), Arc::new(shape)),
        buffers: [input.clone(), result.clone()].into_iter().collect(),
        scalars: [].into_iter().collect(),
        label: label(),
    });
    crate::support::enqueue(&queue.stream, launch);
    queue.read(&result)
}

fn devices() -> impl Iterator<Item = Arc<CpuBackend>> {
    [Path::Avx512, Path::Avx2, Path::Block]
        .into_iter()
        .filter_map(|path| CpuBackend::new(Options { threads: Some(2), path: Some(path) }).ok())
}

#[test]
fn scratch_memory_counts_against_the_limit() {
    for device in devices() {
        let (pool, path) = (device.pool(), device.path());
        // Room for the result, not for the scratch memory.
        pool.set_limit(Some(RESULT_BYTES + (1 << 20)));
        let fault = run(&device, ROW).expect_err("the scratch memory does not fit");
        let is_expected = matches!(fault.kind, FaultKind::OutOfMemory { requested, .. }
            if requested >= RESULT_BYTES);
        assert!(is_expected && fault.label.is_some(), "{fault:?} on {path:?}");
        pool.set_limit(Some(16 * RESULT_BYTES));
        let result = run(&device, ROW).unwrap();
        assert!(result.iter().all(|&y| y == 1.0 / ROW as f32), "{path:?}");
        assert!(pool.stats().peak >= 2 * RESULT_BYTES, "{:?} on {path:?}", pool.stats());
    }
}

#[test]
fn scratch_memory_is_reused_and_given_back() {
    for device in devices() {
        let (pool, path) = (device.pool(), device.path());
        for _ in 0..4 {
            run(&device, ROW).unwrap();
        }
        let stats = pool.stats();
        assert_eq!(stats.in_use, 0, "{stats:?} on {path:?}");
        assert!(stats.reuses >= 3, "{stats:?} on {path:?}");
        assert!(stats.cached >= 2 * RESULT_BYTES, "{stats:?} on {path:?}");
        assert_eq!(pool.trim(), stats.cached);
        assert_eq!(pool.stats().cached, 0);
        run(&device, ROW).unwrap();
    }
}

#[test]
fn small_scratch_memory_belongs_to_the_thread() {
    for device in devices() {
        let pool = device.pool();
        for _ in 0..4 {
            run(&device, 1 << 14).unwrap();
        }
        // The results only.
        let stats = pool.stats();
        assert_eq!(stats.allocations, 4, "{stats:?} on {:?}", device.path());
    }
}
