//! Memory use and thread counts stay bounded whatever a program keeps, drops or denies.

use crate::device;
use crate::support::process::ran_alone;
use inflight::{CpuOptions, Device, Error, SyncGuard, Tensor, WaitReason};
use std::cell::RefCell;
use std::thread;

#[test]
fn a_denied_read_still_runs_what_it_asked_for() {
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
fn large_values_fuse_and_large_views_cost_nothing() {
    let device = device();
    device.set_memory_limit(Some(100 << 20));
    let x = Tensor::ones::<u8>([1], &device);
    // A gibibyte that is never written.
    let sum = ((x.expand([1 << 30]) + 1u8) * 2u8).max_all();
    assert_eq!(sum.item::<u8>().unwrap(), 4);
    let part = x.expand([1 << 29]).slice(0..4);
    assert_eq!(part.to_vec::<u8>().unwrap(), [1; 4]);
}

#[test]
fn small_values_that_are_kept_do_not_keep_large_ones() {
    let device = device();
    let megabytes = 8;
    let mut kept = Vec::new();
    for round in 0..100 {
        let large = Tensor::full(round as f32, [megabytes << 18], &device) + 1.0;
        large.wait().unwrap();
        kept.push(large.slice(0..1) * 2.0);
    }
    // A bounded number of them may wait to be read; 800 MiB may not.
    let in_use = device.memory().in_use;
    assert!(in_use < 300 << 20, "{in_use} bytes are in use");
    for (round, value) in kept.iter().enumerate() {
        assert_eq!(value.item::<f32>().unwrap(), 2.0 * (round as f32 + 1.0));
    }
}

#[test]
fn a_chain_that_goes_from_thread_to_thread_does_not_grow() {
    let device = device();
    let mut x = Tensor::zeros::<f32>([4], &device);
    for _ in 0..1000 {
        x = thread::spawn(move || x.reshape([2, 2]).reshape([4]) + 1.0).join().unwrap();
    }
    assert_eq!(device.stats().segments, 1000, "each thread submits what it leaves");
    assert_eq!(x.to_vec::<f32>().unwrap(), [1000.0; 4]);
}

#[test]
fn a_device_that_is_gone_leaves_no_threads() {
    if ran_alone() {
        return;
    }
    let count = || std::fs::read_dir("/proc/self/task").map_or(0, Iterator::count);
    let options = || CpuOptions { threads: Some(4), ..CpuOptions::from_env().unwrap() };
    let use_one = || {
        let device = Device::open_cpu(options()).unwrap();
        (Tensor::ones::<f32>([1 << 20], &device) + 1.0).wait().unwrap();
    };
    use_one();
    for _ in 0..30 {
        use_one();
    }
    // The threads of the last few may still be ending, but not 30 times 4.
    let threads = count();
    assert!(threads < 100, "{threads} threads");
}

#[test]
fn values_are_read_while_a_thread_ends() {
    struct ReadsAtTheEnd(Tensor);
    impl Drop for ReadsAtTheEnd {
        fn drop(&mut self) {
            assert_eq!((&self.0 + 1.0).to_vec::<f32>().unwrap(), [2.0; 4]);
        }
    }
    thread_local! {
        static LAST: RefCell<Option<ReadsAtTheEnd>> = const { RefCell::new(None) };
    }
    let device = device();
    thread::spawn(move || {
        // Made before anything is recorded here, so it goes after the recorder.
        LAST.with_borrow_mut(|last| *last = None);
        let x = Tensor::ones::<f32>([4], &device);
        let _ = (&x + 1.0).to_vec::<f32>();
        LAST.with_borrow_mut(|last| *last = Some(ReadsAtTheEnd(x)));
    })
    .join()
    .unwrap();
}

#[test]
fn one_sync_is_one_wait() {
    let device = device();
    let x = Tensor::ones::<f32>([1 << 16], &device);
    let kept: Vec<Tensor> = (0..4).map(|_| x.matmul(&x)).collect();
    device.wait().unwrap();
    assert!(device.stats().waits_for(WaitReason::Sync) <= 1);
    drop(kept);
}

#[test]
fn nonsense_amounts_are_mistakes() {
    let device = device();
    let x = Tensor::ones::<f32>([4], &device);
    assert!(x.pad([(isize::MIN, isize::MAX)], 0.0).check().is_err());
    assert!(x.pad([(isize::MAX, isize::MAX)], 0.0).check().is_err());
    assert!(x.chunk(0, usize::MAX)[0].check().is_err());
    assert!(x.chunk(0, 0)[0].check().is_err());
    assert_eq!(x.chunk(0, 3).len(), 3);
}
