//! A lost device: its values fail and every waiter wakes. The device stays lost for the whole process, so this test
//! is a program of its own.

use cudarc::driver::sys::{self, CUresult};
use inflight_backend::{
    Backend, Buffer, Command, FaultKind, Label, Launch, Memory, PlannedLaunch, Priority, Timeline,
};
use inflight_cuda::{CudaBackend, Options};
use inflight_ir::kernel::{AccessShape, Kernel, LaunchShape, parse};
use inflight_testkit::{harness, tests};
use std::env;
use std::process::ExitCode;
use std::ptr::{NonNull, null_mut};
use std::sync::{Arc, mpsc};
use std::time::Duration;

const COPY: &str = "kernel grid 0 reduce 0 vector parallel\nparam p0: f32\nparam p1: f32 writes\n\
    access a0: p0 reduce zero vector one\naccess a1: p1 reduce zero vector one\n\
    %0 = load p0[a0] : f32\n%1 = add %0, %0 : f32\nstore p1[a1] %1 : f32\n";

const ELEMENTS: usize = 1024;

/// A launch that doubles the elements of `source`.
fn doubling(backend: &CudaBackend, source: &Arc<Buffer>, result: &Arc<Buffer>) -> Command {
    let kernel: Kernel = parse(COPY).expect("a kernel");
    let access = AccessShape { offset: 0, strides: [1][..].into(), index_stride: 0 };
    let shape = LaunchShape {
        extents: [ELEMENTS][..].into(),
        accesses: [access.clone(), access].into_iter().collect(),
    };
    Command::Launch(Launch {
        planned: PlannedLaunch::new(
            backend.compile(&kernel).expect("a kernel that compiles"),
            Arc::new(kernel),
            Arc::new(shape),
        ),
        scalars: Default::default(),
        buffers: [source.clone(), result.clone()].into_iter().collect(),
        label: Label { segment: Arc::new([]), work: Arc::default() },
    })
}

/// Computes on a thread that has another context current, and checks that it still has it afterwards.
fn thread_keeps_its_current_context(backend: &CudaBackend) {
    let (mut own, mut current) = (null_mut(), null_mut());
    // SAFETY: the backend has initialized the driver, and the output location is valid.
    let made = unsafe { sys::cuCtxCreate_v4(&mut own, null_mut(), 0, 0) };
    assert_eq!(made, CUresult::CUDA_SUCCESS);
    {
        let stream = backend.stream(Priority::Normal);
        let timeline = Timeline::new();
        let host = Buffer::with_memory(Memory::adopt(vec![1.0f32; ELEMENTS]));
        let (source, result) = (Buffer::declare(4 * ELEMENTS), Buffer::declare(4 * ELEMENTS));
        // SAFETY: the buffers are as large as the commands assume.
        unsafe {
            stream.enqueue(Command::Upload { source: host, target: source.clone() });
            stream.enqueue(doubling(backend, &source, &result));
            stream.enqueue(Command::Signal(timeline.event(1)));
        }
        stream.flush();
        assert!(timeline.event(1).wait_timeout(Duration::from_secs(60)));
        assert!(result.fault().is_none(), "{:?}", result.fault());
        drop((source, result));
        assert!(backend.pool().trim() > 0);
    }
    // SAFETY: the output location is valid; the context was created above.
    unsafe {
        sys::cuCtxGetCurrent(&mut current);
        assert_eq!(current, own);
        sys::cuCtxDestroy_v2(own);
    }
}

tests![lost_device_fails_its_values_and_wakes_every_waiter];

fn main() -> ExitCode {
    harness::run([(gpu(), TESTS)])
}

/// Whether there is a GPU to lose: `INFLIGHT_TEST_DEVICE` names it, or is not set and there is one. The error says what
/// is missing.
fn gpu() -> Result<(), String> {
    match env::var("INFLIGHT_TEST_DEVICE") {
        Ok(name) if name == "cuda:0" => Ok(()),
        Ok(name) => {
            Err(format!("needs a GPU: set INFLIGHT_TEST_DEVICE=cuda:0, which is now {name}"))
        }
        Err(_) => match inflight_cuda::count() {
            Ok(1..) => Ok(()),
            Ok(0) => Err("needs a GPU: the NVIDIA driver finds none".to_owned()),
            Err(_) => Err("needs a GPU with the NVIDIA driver".to_owned()),
        },
    }
}

fn lost_device_fails_its_values_and_wakes_every_waiter() {
    let backend = CudaBackend::new(0, Options::default()).expect("a GPU");
    thread_keeps_its_current_context(&backend);
    let (stream, other) = (backend.stream(Priority::Normal), backend.stream(Priority::Normal));
    let timeline = Timeline::new();
    let (sound, hit) = (Buffer::declare(4 * ELEMENTS), Buffer::declare(4 * ELEMENTS));
    let host = Buffer::with_memory(Memory::adopt(vec![1.0f32; ELEMENTS]));
    let source = Buffer::declare(4 * ELEMENTS);
    // SAFETY: the memory does not exist, on purpose; only the device accesses it.
    let nowhere = unsafe {
        let address = NonNull::without_provenance(0x1000.try_into().expect("not zero"));
        Buffer::with_memory(Memory::from_raw(address, 4 * ELEMENTS, Box::new(|| {})))
    };
    // SAFETY: the buffers are as large as the commands assume. That one of them does not exist is the fault under
    // test.
    unsafe {
        stream.enqueue(Command::Upload { source: host.clone(), target: source.clone() });
        stream.enqueue(doubling(&backend, &source, &sound));
        stream.enqueue(Command::Signal(timeline.event(1)));
        stream.flush();
        assert!(timeline.event(1).wait_timeout(Duration::from_secs(60)));
        assert!(sound.fault().is_none(), "values before the fault are computed");

        stream.enqueue(doubling(&backend, &nowhere, &hit));
        let (told, reader) = mpsc::channel();
        let callback = Box::new(move |bytes: Result<&[u8], _>| {
            told.send(bytes.map(<[u8]>::len)).expect("the test receives");
        });
        stream.enqueue(Command::Read { source: hit.clone(), callback });
        stream.enqueue(Command::Signal(timeline.event(2)));
        stream.flush();
        assert!(timeline.event(2).wait_timeout(Duration::from_secs(60)), "waiters wake");
        let read = reader.recv_timeout(Duration::from_secs(60)).expect("the reader is called");
        assert!(matches!(read.expect_err("the read fails").kind, FaultKind::DeviceLost(_)));
        let fault = hit.fault().expect("the result carries the fault");
        assert!(matches!(fault.kind, FaultKind::DeviceLost(_)), "{fault}");
        assert!(sound.fault().is_none(), "earlier values are unaffected");

        // All later work fails as well, on any stream, with the same cause.
        let later = Buffer::declare(4 * ELEMENTS);
        other.enqueue(doubling(&backend, &source, &later));
        other.enqueue(Command::Signal(timeline.event(3)));
        other.flush();
        assert!(timeline.event(3).wait_timeout(Duration::from_secs(60)));
        let fault = later.fault().expect("the device is lost");
        assert!(matches!(fault.kind, FaultKind::DeviceLost(_)), "{fault}");
    }
}
