//! Tensors and promises on several threads and streams.

use crate::support::device;
use inflight::{Device, Tensor};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, Wake, Waker};
use std::thread;

fn filled(value: f32, elements: usize, device: &Device) -> Tensor {
    Tensor::from_vec(vec![value; elements], [elements], device).unwrap()
}

#[test]
fn tensors_cross_threads() {
    fn check<T: Clone + Send + Sync + 'static>() {}
    check::<Tensor>();
    check::<Device>();
    check::<inflight::Pending<Vec<f32>>>();
}

#[test]
fn a_value_recorded_on_one_thread_is_read_on_another() {
    let device = device();
    let x = filled(1.0, 100, &device);
    // Recorded on a thread that exits without submitting, and read on this one.
    let y = thread::spawn(move || (&x + 1.0).exp() * 0.0 + 7.0).join().unwrap();
    assert_eq!(y.to_vec::<f32>().unwrap(), [7.0; 100]);
}

#[test]
fn a_value_submitted_on_one_thread_is_used_on_another_in_order() {
    let device = device();
    let mut x = filled(0.0, 10_000, &device);
    for round in 0..50 {
        // Each thread has its own stream: every hand-over crosses streams.
        x = thread::spawn(move || {
            let next = &x + 1.0;
            next.device().flush();
            let _ = next.is_ready();
            next
        })
        .join()
        .unwrap();
        assert_eq!(x.shape().extents(), [10_000], "round {round}");
    }
    assert_eq!(x.to_vec::<f32>().unwrap(), vec![50.0; 10_000]);
}

#[test]
fn threads_sharing_a_value_compute_the_same_results() {
    let device = device();
    let shared = filled(2.0, 1000, &device).exp().log() + 1.0;
    let workers: Vec<_> = (0..8)
        .map(|worker| {
            let shared = shared.clone();
            thread::spawn(move || {
                let mut sum = shared.clone();
                for _ in 0..50 {
                    sum = &sum * 0.5 + &shared;
                }
                (sum + worker as f32).to_vec::<f32>().unwrap()[999]
            })
        })
        .collect();
    let results: Vec<f32> = workers.into_iter().map(|worker| worker.join().unwrap()).collect();
    for (worker, result) in results.iter().enumerate() {
        assert_eq!(*result - worker as f32, results[0], "worker {worker}");
    }
}

#[test]
fn a_value_is_copied_to_another_device_without_a_wait() {
    let (first, second) = (device(), device());
    let x = filled(3.0, 1000, &first);
    let y = (&x * 2.0).to_device(&second);
    assert_eq!(y.device(), &second);
    let z = &y + 1.0;
    assert_eq!(first.stats().all_waits() + second.stats().all_waits(), 0);
    assert_eq!(z.to_vec::<f32>().unwrap(), [7.0; 1000]);
    let mixed = &x + &y;
    let text = mixed.check().unwrap_err().to_string();
    assert!(text.contains("to_device"), "{text}");
}

#[test]
fn promises_are_shared_and_outlive_their_tensors() {
    let device = device();
    let promise = (filled(1.0, 1000, &device) + 1.0).to_vec_async::<f32>();
    let clones: Vec<_> = (0..4).map(|_| promise.clone()).collect();
    drop(promise);
    for clone in clones {
        assert_eq!(thread::spawn(move || clone.get().unwrap()).join().unwrap(), [2.0; 1000]);
    }
}

struct Flag(AtomicUsize);

impl Wake for Flag {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

/// Polls a future on this thread until it completes, and parks between polls.
fn block_on<F: Future>(future: F) -> F::Output {
    struct Unpark(thread::Thread);
    impl Wake for Unpark {
        fn wake(self: Arc<Self>) {
            self.0.unpark();
        }
    }
    let waker = Waker::from(Arc::new(Unpark(thread::current())));
    let mut context = Context::from_waker(&waker);
    let mut future = std::pin::pin!(future);
    loop {
        match future.as_mut().poll(&mut context) {
            Poll::Ready(value) => return value,
            Poll::Pending => thread::park(),
        }
    }
}

#[test]
fn promises_are_awaited_without_any_runtime() {
    let device = device();
    let x = filled(1.0, 100_000, &device);
    let values = block_on(async {
        let first = (&x + 1.0).to_vec_async::<f32>();
        let second = (&x + 2.0).sum_all().item_async::<f32>();
        (first.await.unwrap(), second.await.unwrap())
    });
    assert_eq!(values.0, vec![2.0; 100_000]);
    assert_eq!(values.1, 300_000.0);
}

#[test]
fn promises_and_tensors_may_be_dropped_or_forgotten_at_any_time() {
    let device = device();
    for round in 0..200 {
        let x = filled(round as f32, 5000, &device);
        let promise = (&x + 1.0).exp().to_vec_async::<f32>();
        match round % 4 {
            0 => drop(promise),
            1 => std::mem::forget(promise),
            2 => {
                // Polled once and dropped: its waker must be deregistered.
                let flag = Arc::new(Flag(AtomicUsize::new(0)));
                let waker = Waker::from(flag.clone());
                let mut promise = std::pin::pin!(promise);
                let _ = promise.as_mut().poll(&mut Context::from_waker(&waker));
            }
            _ => drop(x),
        }
    }
    device.wait().unwrap();
    // All memory is freed.
    assert_eq!(device.memory().in_use, 0);
}

#[test]
fn dropping_the_last_handle_of_a_device_shuts_it_down() {
    for _ in 0..20 {
        let device = device();
        let promise = (filled(1.0, 1000, &device) + 1.0).to_vec_async::<f32>();
        drop(device);
        assert_eq!(promise.get().unwrap()[0], 2.0);
    }
}

#[test]
fn reading_a_ready_value_submits_the_rest_of_its_segment() {
    let device = device();
    let x = filled(1.0, 64, &device);
    let gemm = x.reshape([8, 8]).matmul(&x.reshape([8, 8]));
    // Reading a ready value does not wait, but submits the matmul.
    assert_eq!(x.reshape([4, 16]).to_vec::<f32>().unwrap(), [1.0; 64]);
    assert_eq!(gemm.to_vec_async::<f32>().get().unwrap(), [8.0; 64]);
}
