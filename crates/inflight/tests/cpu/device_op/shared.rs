//! Shared ops: executed exactly once, even if consumers are dropped.

use crate::support::watched::{Wakes, watched};
use inflight::device_op::{self, SharedOp};
use inflight::{DeviceOp, Error, Tensor, api, zip};
use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Barrier};
use std::task::Context;
use std::thread;

fn counted(calls: &Arc<AtomicUsize>) -> SharedOp<'static, Tensor> {
    let calls = calls.clone();
    api::rand::<f32>([1000], None)
        .inspect(move |_| {
            calls.fetch_add(1, Ordering::SeqCst);
        })
        .shared()
}

#[test]
fn consumers_on_many_threads_share_one_execution() {
    for _ in 0..50 {
        let calls = Arc::new(AtomicUsize::new(0));
        let op = counted(&calls);
        let barrier = Arc::new(Barrier::new(8));
        let threads: Vec<_> = (0..8)
            .map(|consumer| {
                let (op, barrier) = (op.clone(), barrier.clone());
                thread::spawn(move || {
                    barrier.wait();
                    let op = op.map(move |x| x + consumer as f32).to_host_vec::<f32>();
                    match consumer % 3 {
                        0 => op.sync(),
                        1 => pollster::block_on(op.into_future()),
                        _ => op.spawn().get(),
                    }
                    .unwrap()[999]
                        - consumer as f32
                })
            })
            .collect();
        let results: Vec<f32> = threads.into_iter().map(|thread| thread.join().unwrap()).collect();
        assert_eq!(calls.load(Ordering::SeqCst), 1);
        assert!(results.iter().all(|x| (x - results[0]).abs() < 1e-5), "{results:?}");
    }
}

#[test]
fn a_second_consumer_continues_when_the_first_is_dropped() {
    let (device, control) = watched();
    let calls = Arc::new(AtomicUsize::new(0));
    let count = calls.clone();
    let gate = control.hold();
    let op = api::ones::<f32>([8])
        .to_host_vec::<f32>()
        .map(move |values| {
            count.fetch_add(1, Ordering::SeqCst);
            values.len()
        })
        .shared();
    let (mut first, mut second) =
        (op.clone().schedule(device.stream()), op.clone().schedule(device.stream()));
    let (wakes, waker) = Wakes::new();
    let mut context = Context::from_waker(&waker);
    assert!(Pin::new(&mut first).poll(&mut context).is_pending());
    assert!(Pin::new(&mut second).poll(&mut context).is_pending());
    drop(first);
    gate.signal();
    assert_eq!(pollster::block_on(second).unwrap(), 8);
    assert_eq!(op.sync().unwrap(), 8);
    assert_eq!(calls.load(Ordering::SeqCst), 1);
    assert!(wakes.count() >= 1);
}

#[test]
fn an_error_and_a_panic_reach_every_consumer() {
    let failed =
        device_op::from_fn(|_| Err::<u8, _>(Error::Invalid("injected error".into()))).shared();
    let panicked = device_op::value(1).map(|_| -> u8 { panic!("injected panic") }).shared();
    for _ in 0..3 {
        assert_eq!(failed.clone().sync().unwrap_err().to_string(), "injected error");
        let error = zip!(1u8, panicked.clone()).sync().unwrap_err();
        assert!(error.to_string().contains("injected panic"), "{error}");
    }
    let (left, right) = panicked.map(|x| (x, x)).unzip();
    assert!(left.spawn().get().is_err() && right.sync().is_err());
}

#[test]
fn a_shared_tensor_is_materialized_once() {
    let (device, _) = watched();
    let stream = device.stream();
    let weights = api::rand::<f32>([256], Some(1)).shared();
    let before = device.stats();
    let (a, b) = zip!(
        weights.clone().map(|w| w.clone() + w),
        zip!(weights.clone(), weights).map(|(v, w)| v - w),
    )
    .sync_on(&stream)
    .unwrap();
    assert_eq!(b.to_vec::<f32>().unwrap(), [0.0; 256]);
    assert_eq!(a.shape().extents(), [256]);
    // Stores the weights and the two results.
    assert_eq!(device.stats().since(&before).bytes_written, 3 * 1024);
}
