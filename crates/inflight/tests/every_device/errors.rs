//! Errors travel with values: every reader of a value gets the first cause, with its op and its line; other values are
//! unaffected.

use crate::support::device;
use crate::support::process::rerun;
use inflight::{DType, Device, Error, SyncGuard, Tensor, WaitReason};
use inflight_backend::{
    Backend, Capabilities, Command, Compiled, Event, Fault, FaultKind, PlannedLaunch, Pool,
    Priority, Stream,
};
use inflight_ir::kernel::Kernel;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

fn ones(shape: &[usize], device: &Device) -> Tensor {
    Tensor::from_vec(vec![1.0f32; shape.iter().product()], shape, device).unwrap()
}

/// The error of waiting for a value.
fn error_of(value: &Tensor) -> Error {
    value.wait().expect_err("the value failed")
}

/// Asserts that an error names an op, and the line of this file that recorded it.
#[track_caller]
fn assert_names(error: &Error, op: &str, line: u32, parts: &[&str]) {
    let text = error.to_string();
    assert_eq!(error.op(), Some(op), "{text}");
    let location = error.location().expect("the error has a location");
    assert!(location.file().ends_with("errors.rs"), "{text}");
    assert_eq!(location.line(), line, "{text}");
    assert!(text.contains(&format!("errors.rs:{line}")), "{text}");
    for part in parts {
        assert!(text.contains(part), "{part:?} is not in {text:?}");
    }
}

#[test]
fn an_error_names_the_op_the_shapes_and_the_line() {
    let device = device();
    let a = ones(&[2, 3], &device);
    let b = ones(&[4, 5], &device);
    let line = line!() + 1;
    let sum = &a + &b;
    assert_names(&error_of(&sum), "add", line, &["[2, 3]", "[4, 5]", "f32"]);
    assert_names(&sum.check().unwrap_err(), "add", line, &[]);
    let line = line!() + 1;
    let gemm = a.matmul(&b);
    assert_names(&error_of(&gemm), "matmul", line, &["[2, 3]", "[4, 5]"]);
    let line = line!() + 1;
    let reshaped = a.reshape([7]);
    assert_names(&error_of(&reshaped), "reshape", line, &["[2, 3]", "7"]);
    let line = line!() + 1;
    let mixed = &a + a.cast(DType::I32);
    assert_names(&error_of(&mixed), "add", line, &["f32", "i32"]);
    let line = line!() + 1;
    let flags = a.logical_not();
    assert_names(&error_of(&flags), "logical_not", line, &["f32"]);
    let line = line!() + 1;
    let summed = a.sum([2]);
    assert_names(&error_of(&summed), "sum", line, &["[2, 3]"]);
}

#[test]
fn the_failed_op_of_a_hundred_is_reported() {
    let device = device();
    let x = ones(&[8], &device);
    let wrong = ones(&[3], &device);
    for bad in 0..100 {
        let mut value = x.clone();
        let mut line = 0;
        for op in 0..100 {
            value = match op == bad {
                true => {
                    line = line!() + 1;
                    &value * &wrong
                }
                false => &value + 1.0,
            };
        }
        // A failed value keeps the shape it would have had.
        assert_eq!(value.shape().extents(), [8]);
        assert_names(&error_of(&value), "mul", line, &["[8]", "[3]"]);
    }
    assert_eq!(x.to_vec::<f32>().unwrap(), [1.0; 8]);
}

#[test]
fn the_first_cause_wins_and_unrelated_values_still_read() {
    let device = device();
    let a = ones(&[4], &device);
    let first = &a + ones(&[3], &device);
    let second = first.reshape([99]) + ones(&[5], &device);
    let independent = (&a + 1.0).exp();
    assert_eq!(error_of(&second).to_string(), error_of(&first).to_string());
    assert_eq!(independent.to_vec::<f32>().unwrap().len(), 4);
}

#[test]
fn invalid_reads_suggest_a_remedy() {
    let device = device();
    let x = ones(&[2], &device);
    let text = x.to_vec::<i32>().unwrap_err().to_string();
    assert!(text.contains("f32") && text.contains("i32") && text.contains("cast"), "{text}");
    let text = x.item::<f32>().unwrap_err().to_string();
    assert!(text.contains("[2]"), "{text}");
    assert!(matches!(x.item_async::<f32>().get(), Err(Error::NotOneElement { .. })));
    assert!(matches!(x.to_vec_async::<u8>().get(), Err(Error::ReadType { .. })));
}

#[test]
fn out_of_memory_is_a_recoverable_error_of_the_value() {
    let device = device();
    device.set_memory_limit(Some(1 << 20));
    let small = Tensor::full(1.0f32, [1000], &device);
    let line = line!() + 1;
    let large = Tensor::full(2.0f32, [1 << 20], &device) * 3.0;
    let dependent = large.sum([0]) + small.sum([0]);
    let error = error_of(&large);
    assert!(error.is_out_of_memory(), "{error}");
    let text = error.to_string();
    assert!(
        text.contains("set_memory_limit") && text.contains(&format!("errors.rs:{line}")),
        "{text}"
    );
    // Dependent values, in the same segment or later, have the same cause.
    let later = &large + 1.0;
    assert!(error_of(&later).is_out_of_memory());
    drop((dependent, later));
    // Independent values are unaffected.
    assert_eq!((&small + 1.0).to_vec::<f32>().unwrap(), [2.0; 1000]);
    device.set_memory_limit(None);
    let retried = Tensor::full(2.0f32, [1 << 20], &device) * 3.0;
    assert_eq!(retried.to_vec::<f32>().unwrap()[7], 6.0);
}

#[test]
fn dropped_values_free_their_memory() {
    let device = device();
    let bytes = 4 << 20;
    device.set_memory_limit(Some(3 * bytes));
    for round in 0..20 {
        let x = Tensor::full(round as f32, [1 << 20], &device) + 1.0;
        x.wait().unwrap_or_else(|error| panic!("round {round}: {error}"));
    }
    device.wait().unwrap();
    assert_eq!(device.memory().in_use, 0);
    device.trim().unwrap();
    assert_eq!(device.memory().cached, 0);
    // No command is in flight, so trimming does not wait.
    let _guard = SyncGuard::deny();
    assert_eq!(device.trim().unwrap(), 0);
}

#[test]
fn integer_division_by_zero_is_defined() {
    let device = device();
    let a = Tensor::from_vec(vec![7i32, -7, i32::MIN, 0], [4], &device).unwrap();
    let zero = Tensor::from_vec(vec![0i32, 0, -1, 0], [4], &device).unwrap();
    assert_eq!((&a / &zero).to_vec::<i32>().unwrap(), [-1, -1, i32::MIN, -1]);
    assert_eq!((&a % &zero).to_vec::<i32>().unwrap(), [7, -7, 0, 0]);
    let u = Tensor::from_vec(vec![7u8], [1], &device).unwrap();
    assert_eq!((&u / 0u8).to_vec::<u8>().unwrap(), [255]);
}

#[test]
fn out_of_range_indices_are_defined() {
    let device = device();
    let x = Tensor::from_vec(vec![10.0f32, 20.0, 30.0], [3], &device).unwrap();
    let index = Tensor::from_vec(vec![-5i64, 1, 99], [3], &device).unwrap();
    assert_eq!(x.gather(0, &index).to_vec::<f32>().unwrap(), [10.0, 20.0, 30.0]);
    let updates = ones(&[3], &device);
    assert_eq!(x.scatter_add(0, &index, &updates).to_vec::<f32>().unwrap(), [10.0, 21.0, 30.0]);
}

#[test]
fn a_denied_wait_reports_reason_and_location() {
    let device = device();
    let x = ones(&[4], &device) + 1.0;
    {
        let _guard = SyncGuard::deny();
        let line = line!() + 1;
        let error = x.to_vec::<f32>().unwrap_err();
        assert!(matches!(error, Error::WaitDenied { reason: WaitReason::Read, .. }));
        assert_eq!(error.location().unwrap().line(), line);
        let _inner = SyncGuard::allow();
        x.wait().unwrap();
    }
    assert_eq!(x.to_vec::<f32>().unwrap(), [2.0; 4]);
}

/// A CPU backend with one launch that panics.
struct Panicking {
    inner: Arc<dyn Backend>,
    /// The number of launches before the one that panics.
    remaining: Arc<AtomicUsize>,
}

struct PanickingStream {
    inner: Arc<dyn Stream>,
    remaining: Arc<AtomicUsize>,
}

impl Backend for Panicking {
    fn capabilities(&self) -> &Capabilities {
        self.inner.capabilities()
    }

    fn compile(&self, kernel: &Kernel) -> Result<Compiled, Fault> {
        self.inner.compile(kernel)
    }

    fn stream(&self, priority: Priority) -> Arc<dyn Stream> {
        Arc::new(PanickingStream {
            inner: self.inner.stream(priority),
            remaining: self.remaining.clone(),
        })
    }

    fn pool(&self) -> &Arc<Pool> {
        self.inner.pool()
    }
}

// SAFETY: commands reach the CPU's stream unchanged, except for one launch without buffers, which panics before it runs.
unsafe impl Stream for PanickingStream {
    unsafe fn enqueue(&self, command: Command) {
        let mut command = command;
        let launches = match &mut command {
            Command::Launch(launch) => std::slice::from_mut(launch),
            Command::Batch(batch) => &mut batch.launches[..],
            _ => &mut [],
        };
        for launch in launches {
            if self.remaining.fetch_sub(1, Ordering::Relaxed) == 0 {
                // A plan without operands: the launch panics when it looks up its buffers.
                let PlannedLaunch { compiled, kernel, .. } = &*launch.planned;
                launch.planned =
                    PlannedLaunch::new(compiled.clone(), kernel.clone(), Arc::default());
            }
        }
        // SAFETY: guaranteed by the caller.
        unsafe { self.inner.enqueue(command) };
    }

    fn flush(&self) {
        self.inner.flush();
    }

    fn assist(&self, event: &Event) {
        self.inner.assist(event);
    }
}

#[test]
fn a_panic_on_the_device_is_the_error_of_its_values_only() {
    for failing in 0..4 {
        let options = inflight::CpuOptions::from_env().unwrap();
        let backend = Panicking {
            inner: inflight_cpu::CpuBackend::new(options).unwrap(),
            remaining: Arc::new(AtomicUsize::new(failing)),
        };
        let device = Device::with_backend("panicking", Arc::new(backend));
        let x = ones(&[64, 64], &device);
        // A chain of four dependent launches.
        let mut values = vec![x.sum([0])];
        for step in 1..4 {
            let last = values.last().unwrap();
            values.push((&x * last).sum([step as isize % 2]));
            values[step - 1].wait().ok();
        }
        for (position, value) in values.iter().enumerate() {
            match value.wait() {
                Ok(()) => assert!(position < failing),
                Err(Error::Device(fault)) => {
                    assert!(position >= failing, "{fault}");
                    assert!(matches!(fault.kind, FaultKind::Panicked(_)), "{fault}");
                    let first = fault.label.as_ref().expect("the fault names the launch");
                    assert!(first.ops().any(|op| op.name == "sum"));
                }
                Err(other) => panic!("{other}"),
            }
        }
        // The device is still usable.
        assert_eq!((&x + 1.0).to_vec::<f32>().unwrap()[0], 2.0);
    }
}

#[test]
fn strict_mode_panics_at_the_faulty_op() {
    if std::env::var_os("INFLIGHT_STRICT").is_some() {
        let device = device();
        let _ = ones(&[2], &device) + ones(&[3], &device);
        return;
    }
    let output = rerun().env("INFLIGHT_STRICT", "1").output().unwrap();
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(!output.status.success());
    assert!(text.contains("add(f32[2], f32[3])"), "{text}");
}

/// A CPU backend whose compiler panics on reductions.
struct PanickingCompiler(Arc<dyn Backend>);

impl Backend for PanickingCompiler {
    fn capabilities(&self) -> &Capabilities {
        self.0.capabilities()
    }

    fn compile(&self, kernel: &Kernel) -> Result<Compiled, Fault> {
        assert!(!kernel.body.iter().any(|i| i.kind.is_reduction()), "no reductions here");
        self.0.compile(kernel)
    }

    fn stream(&self, priority: Priority) -> Arc<dyn Stream> {
        self.0.stream(priority)
    }

    fn pool(&self) -> &Arc<Pool> {
        self.0.pool()
    }
}

#[test]
fn a_panic_in_the_compiler_is_the_error_of_its_values_only() {
    let options = inflight::CpuOptions::from_env().unwrap();
    let backend = PanickingCompiler(inflight_cpu::CpuBackend::new(options).unwrap());
    let device = Device::with_backend("panicking", Arc::new(backend));
    let x = ones(&[64, 64], &device);
    let line = line!() + 1;
    let sum = x.exp().sum([0]);
    let independent = x.matmul(&x);
    let error = error_of(&sum);
    assert!(error.to_string().contains("no reductions here"), "{error}");
    assert_eq!(error.location().unwrap().line(), line);
    assert_eq!(independent.to_vec::<f32>().unwrap()[0], 64.0);
}
