//! Uploads and downloads of a device whose memory the host cannot access. The device runs on the CPU, so that machines
//! without a GPU test these paths, too.

use inflight::{CpuOptions, Device, Program, SyncGuard, Tensor, Transaction};
use inflight_backend::{
    Backend, Capabilities, Command, Compiled, Event, Fault, Pool, Priority, Stream,
};
use inflight_cpu::CpuBackend;
use inflight_ir::kernel::Kernel;
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// The CPU backend without host-visible memory.
struct Hidden {
    inner: Arc<CpuBackend>,
    capabilities: Capabilities,
    gate: Option<Arc<Gate>>,
}

/// Holds back uploads, and later commands of the same stream, until it is opened.
#[derive(Default)]
struct Gate(Mutex<Vec<Arc<Gated>>>);

impl Gate {
    fn open(&self) {
        for stream in self.0.lock().unwrap().iter() {
            for command in std::mem::take(&mut *stream.held.lock().unwrap()) {
                // SAFETY: the order of `enqueue` is preserved; the caller guaranteed it for each command.
                unsafe { stream.inner.enqueue(command) };
            }
            stream.inner.flush();
        }
    }
}

struct Gated {
    inner: Arc<dyn Stream>,
    held: Mutex<Vec<Command>>,
}

// SAFETY: commands reach the inner stream in the order of `enqueue`.
unsafe impl Stream for Gated {
    unsafe fn enqueue(&self, command: Command) {
        let mut held = self.held.lock().unwrap();
        if !held.is_empty() || matches!(command, Command::Upload { .. }) {
            return held.push(command);
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

impl Backend for Hidden {
    fn capabilities(&self) -> &Capabilities {
        &self.capabilities
    }
    fn compile(&self, kernel: &Kernel) -> Result<Compiled, Fault> {
        self.inner.compile(kernel)
    }
    fn stream(&self, priority: Priority) -> Arc<dyn Stream> {
        let inner = self.inner.stream(priority);
        let Some(gate) = &self.gate else { return inner };
        let stream = Arc::new(Gated { inner, held: Mutex::default() });
        gate.0.lock().unwrap().push(stream.clone());
        stream
    }
    fn pool(&self) -> &Arc<Pool> {
        self.inner.pool()
    }
}

fn hidden() -> Device {
    gated(None)
}

fn gated(gate: Option<Arc<Gate>>) -> Device {
    let inner = CpuBackend::new(CpuOptions::from_env().unwrap()).unwrap();
    let capabilities = Capabilities { host_visible: false, ..inner.capabilities().clone() };
    Device::with_backend("hidden", Arc::new(Hidden { inner, capabilities, gate }))
}

#[test]
fn data_is_uploaded_and_downloaded() {
    let device = hidden();
    let x = Tensor::from_vec((0..1000i32).collect(), [1000], &device).unwrap();
    assert_eq!(device.memory().adopted, 0, "the device does not adopt the host's vector");
    let y = &x + 1;
    assert_eq!(y.to_vec::<i32>().unwrap(), (1..1001).collect::<Vec<i32>>());
    assert_eq!(x.sum_all().item::<i32>().unwrap(), 499_500);
    assert_eq!((&x * 2).to_vec_async::<i32>().get().unwrap()[999], 1998);
    let empty = Tensor::from_vec(Vec::<f64>::new(), [0], &device).unwrap();
    assert!(empty.to_vec::<f64>().unwrap().is_empty());
    let bytes = Tensor::from_vec(vec![true, false, true], [3], &device).unwrap();
    assert_eq!(bytes.to_vec::<bool>().unwrap(), [true, false, true]);
}

#[test]
fn a_read_is_one_wait() {
    let device = hidden();
    let x = Tensor::from_vec(vec![1f32; 100], [100], &device).unwrap();
    let waits = || device.stats().waits.iter().sum::<u64>();
    let before = waits();
    assert_eq!((&x + 1.0).sum_all().item::<f32>().unwrap(), 200.0);
    assert_eq!(waits() - before, 1);
    let before = waits();
    let read = Transaction::default().register(&(&x + 2.0)).register(&x).execute().unwrap();
    assert!(waits() - before <= 1);
    assert_eq!(read[0].to_vec::<f32>().unwrap(), vec![3.0; 100]);
    assert_eq!(read[1].to_vec::<f32>().unwrap(), vec![1.0; 100]);
    let later = Transaction::default().register(&(&x + 5.0)).execute_async().get().unwrap();
    assert_eq!(later[0].to_vec::<f32>().unwrap(), vec![6.0; 100]);
    let _guard = SyncGuard::deny();
    assert!((&x + 3.0).to_vec::<f32>().is_err());
}

#[test]
fn values_are_copied_between_devices() {
    let (device, other, cpu) = (hidden(), hidden(), Device::cpu());
    let x = Tensor::from_vec((0..64i64).collect(), [64], &cpu).unwrap();
    let on_device = (&x * 3).to_device(&device) + 1;
    let on_other = on_device.to_device(&other) * 2;
    let on_cpu = on_other.to_device(&cpu);
    assert_eq!(on_cpu.to_vec::<i64>().unwrap(), (0..64).map(|i| 6 * i + 2).collect::<Vec<i64>>());
    device.wait().unwrap();
}

#[test]
fn faults_are_reported_to_the_reader() {
    let (device, cpu) = (hidden(), Device::cpu());
    device.set_memory_limit(Some(1 << 20));
    let large = Tensor::zeros::<f32>([1 << 20], &device).cumsum(0);
    let moved = large.to_device(&cpu) + 1.0;
    for error in [large.to_vec::<f32>().unwrap_err(), moved.to_vec::<f32>().unwrap_err()] {
        assert!(error.to_string().contains("out of memory"), "{error}");
    }
    let upload = Tensor::from_vec(vec![0f32; 1 << 20], [1 << 20], &device).unwrap();
    assert!(upload.to_vec::<f32>().unwrap_err().to_string().contains("out of memory"));
}

#[test]
fn a_program_waits_for_its_constants() {
    let gate = Arc::new(Gate::default());
    let device = gated(Some(gate.clone()));
    let program = Program::parse(
        "func.func @main() -> tensor<4xf32> {\n\
           %0 = stablehlo.constant dense<[1.0, 2.0, 4.0, 8.0]> : tensor<4xf32>\n\
           %1 = stablehlo.constant dense<[3.0, 5.0, 7.0, 9.0]> : tensor<4xf32>\n\
           %2 = stablehlo.multiply %0, %1 : tensor<4xf32>\n\
           return %2 : tensor<4xf32>\n}",
    )
    .unwrap();
    let executable = device.compile(&program).unwrap();
    let results = executable.execute(&[]).unwrap();
    // Time for an execution that fails to wait for its constants to finish.
    std::thread::sleep(Duration::from_millis(50));
    assert!(!results[0].is_ready());
    gate.open();
    assert_eq!(results[0].to_vec::<f32>().unwrap(), [3.0, 10.0, 28.0, 72.0]);
}
