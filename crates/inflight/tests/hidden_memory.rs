//! A device whose memory the host cannot see: what goes in and out is copied. It runs on the CPU, so that this
//! is tested where there is no other device.

use inflight::{CpuOptions, Device, SyncGuard, Tensor, Transaction};
use inflight_backend::{Backend, Capabilities, Compiled, Fault, Pool, Priority, Stream};
use inflight_cpu::CpuBackend;
use inflight_ir::kernel::Kernel;
use std::sync::Arc;

/// The CPU with its memory hidden.
struct Hidden {
    inner: Arc<CpuBackend>,
    capabilities: Capabilities,
}

impl Backend for Hidden {
    fn capabilities(&self) -> &Capabilities {
        &self.capabilities
    }
    fn compile(&self, kernel: &Kernel) -> Result<Compiled, Fault> {
        self.inner.compile(kernel)
    }
    fn stream(&self, priority: Priority) -> Arc<dyn Stream> {
        self.inner.stream(priority)
    }
    fn pool(&self) -> &Arc<Pool> {
        self.inner.pool()
    }
}

fn hidden() -> Device {
    let inner = CpuBackend::new(CpuOptions::from_env().unwrap()).unwrap();
    let capabilities = Capabilities { host_visible: false, ..inner.capabilities().clone() };
    Device::with_backend("hidden", Arc::new(Hidden { inner, capabilities }))
}

#[test]
fn data_is_copied_in_and_out() {
    let device = hidden();
    let x = Tensor::from_vec((0..1000i32).collect(), [1000], &device).unwrap();
    assert_eq!(device.memory().adopted, 0, "the host's vector is not the device's memory");
    let y = &x + 1;
    assert_eq!(y.to_vec::<i32>().unwrap(), (1..1001).collect::<Vec<i32>>());
    assert_eq!(x.sum().item::<i32>().unwrap(), 499_500);
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
    assert_eq!((&x + 1.0).sum().item::<f32>().unwrap(), 200.0);
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
fn values_go_from_device_to_device() {
    let (device, other, cpu) = (hidden(), hidden(), Device::cpu());
    let x = Tensor::from_vec((0..64i64).collect(), [64], &cpu).unwrap();
    let there = (&x * 3).to_device(&device) + 1;
    let further = there.to_device(&other) * 2;
    let back = further.to_device(&cpu);
    assert_eq!(back.to_vec::<i64>().unwrap(), (0..64).map(|i| 6 * i + 2).collect::<Vec<i64>>());
    device.sync().unwrap();
}

#[test]
fn faults_come_out_too() {
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
