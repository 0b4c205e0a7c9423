//! Bounds of memory use and thread counts, whatever handles a program keeps, drops or denies waits on.

use crate::device;
use crate::support::process::ran_alone;
use inflight::{CpuOptions, Device, Error, SyncGuard, Tensor, WaitReason};
use std::cell::RefCell;
use std::thread;

#[test]
fn a_denied_read_still_submits_its_work() {
    let (first, second) = (device(), device());
    let y = Tensor::ones::<f32>([10], &first).exp();
    {
        let _guard = SyncGuard::deny();
        assert!(matches!(y.to_vec::<f32>(), Err(Error::WaitDenied { .. })));
    }
    let moved = y.to_device(&second);
    assert_eq!((&moved + 1.0).to_vec_async::<f32>().get().unwrap().len(), 10);
    assert_eq!(y.to_vec_async::<f32>().get().unwrap().len(), 10);
}

#[test]
fn large_fused_values_and_views_allocate_nothing() {
    let device = device();
    device.set_memory_limit(Some(100 << 20));
    let x = Tensor::ones::<u8>([1], &device);
    // A gibibyte that is never materialized.
    let sum = ((x.expand([1 << 30]) + 1u8) * 2u8).max_all();
    assert_eq!(sum.item::<u8>().unwrap(), 4);
    let part = x.expand([1 << 29]).slice(0..4);
    assert_eq!(part.to_vec::<u8>().unwrap(), [1; 4]);
}

#[test]
fn retained_small_values_do_not_retain_large_ones() {
    let device = device();
    let megabytes = 8;
    let mut retained = Vec::new();
    for round in 0..100 {
        let large = Tensor::full(round as f32, [megabytes << 18], &device) + 1.0;
        large.wait().unwrap();
        retained.push(large.slice(0..1) * 2.0);
    }
    // A bounded number of large values may be alive, but not all 800 MiB.
    let in_use = device.memory().in_use;
    assert!(in_use < 300 << 20, "{in_use} bytes are in use");
    for (round, value) in retained.iter().enumerate() {
        assert_eq!(value.item::<f32>().unwrap(), 2.0 * (round as f32 + 1.0));
    }
}

#[test]
fn a_chain_passed_between_threads_does_not_grow() {
    let device = device();
    let mut x = Tensor::zeros::<f32>([4], &device);
    for _ in 0..1000 {
        x = thread::spawn(move || x.reshape([2, 2]).reshape([4]) + 1.0).join().unwrap();
    }
    assert_eq!(device.stats().segments, 1000, "each thread submits its recording when it exits");
    assert_eq!(x.to_vec::<f32>().unwrap(), [1000.0; 4]);
}

#[test]
fn a_dropped_device_leaves_no_threads() {
    if ran_alone() {
        return;
    }
    let count = || std::fs::read_dir("/proc/self/task").map_or(0, Iterator::count);
    let options = || CpuOptions { threads: Some(4), ..CpuOptions::from_env().unwrap() };
    let open_and_use = || {
        let device = Device::open_cpu(options()).unwrap();
        (Tensor::ones::<f32>([1 << 20], &device) + 1.0).wait().unwrap();
    };
    open_and_use();
    for _ in 0..30 {
        open_and_use();
    }
    // The threads of the last few devices may still be exiting, but not 30 times 4.
    let threads = count();
    assert!(threads < 100, "{threads} threads");
}

#[test]
fn values_are_readable_during_thread_exit() {
    struct ReadsOnDrop(Tensor);
    impl Drop for ReadsOnDrop {
        fn drop(&mut self) {
            assert_eq!((&self.0 + 1.0).to_vec::<f32>().unwrap(), [2.0; 4]);
        }
    }
    thread_local! {
        static LAST: RefCell<Option<ReadsOnDrop>> = const { RefCell::new(None) };
    }
    let device = device();
    thread::spawn(move || {
        // Initialized before the thread's recorder, so it is dropped after it.
        LAST.with_borrow_mut(|last| *last = None);
        let x = Tensor::ones::<f32>([4], &device);
        let _ = (&x + 1.0).to_vec::<f32>();
        LAST.with_borrow_mut(|last| *last = Some(ReadsOnDrop(x)));
    })
    .join()
    .unwrap();
}

#[test]
fn one_sync_is_one_wait() {
    let device = device();
    let x = Tensor::ones::<f32>([1 << 16], &device);
    let results: Vec<Tensor> = (0..4).map(|_| x.matmul(&x)).collect();
    device.wait().unwrap();
    assert!(device.stats().waits_for(WaitReason::Sync) <= 1);
    drop(results);
}

#[test]
fn absurd_sizes_are_errors() {
    let device = device();
    let x = Tensor::ones::<f32>([4], &device);
    assert!(x.pad([(isize::MIN, isize::MAX)], 0.0).check().is_err());
    assert!(x.pad([(isize::MAX, isize::MAX)], 0.0).check().is_err());
    assert!(x.chunk(0, usize::MAX)[0].check().is_err());
    assert!(x.chunk(0, 0)[0].check().is_err());
    assert_eq!(x.chunk(0, 3).len(), 3);
}
