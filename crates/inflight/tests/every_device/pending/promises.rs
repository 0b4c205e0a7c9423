//! Promises: waiting, sharing, errors, wakers.

use crate::support;
use crate::support::device;
use crate::support::stepped::stepped_device;
use inflight::runtime::Promise;
use inflight::{Device, Error, Pending, SyncGuard, Tensor, Transaction, WaitReason};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, Wake, Waker};
use std::thread;
use std::time::Duration;

fn ones(elements: usize, device: &Device) -> Tensor {
    Tensor::from_vec(vec![1.0f32; elements], [elements], device).unwrap()
}

#[test]
fn a_value_is_moved_to_the_last_consumer_and_cloned_for_others() {
    #[derive(Debug)]
    struct Counted(Arc<AtomicUsize>);
    impl Clone for Counted {
        fn clone(&self) -> Counted {
            self.0.fetch_add(1, Ordering::SeqCst);
            Counted(self.0.clone())
        }
    }
    let clones = Arc::new(AtomicUsize::new(0));
    let first = Pending::ready(Counted(clones.clone()));
    let second = first.clone();
    first.get().unwrap();
    assert_eq!(clones.load(Ordering::SeqCst), 1);
    second.get().unwrap();
    assert_eq!(clones.load(Ordering::SeqCst), 1, "the last consumer moves the value out");
}

#[test]
fn getting_a_pending_value_times_out() {
    let device = device();
    let (promise, pending) = Promise::new(&device);
    assert!(pending.get_timeout(Duration::ZERO).is_none());
    assert_eq!(device.stats().all_waits(), 0, "a timeout of zero is not a wait");
    assert!(pending.get_timeout(Duration::from_nanos(1)).is_none());
    assert_eq!(device.stats().waits_for(WaitReason::Get), 1);
    promise.complete(Ok(7));
    assert_eq!(pending.get_timeout(Duration::ZERO).unwrap().unwrap(), 7);
    assert_eq!(pending.get_timeout(Duration::MAX).unwrap().unwrap(), 7);
    assert_eq!(device.stats().waits_for(WaitReason::Get), 1, "the value was ready");
}

#[test]
fn a_guard_denies_only_waits() {
    let device = device();
    let (promise, pending) = Promise::<i32>::new(&device);
    let _guard = SyncGuard::deny();
    let line = line!() + 1;
    let error = pending.clone().get().unwrap_err();
    assert!(matches!(error, Error::WaitDenied { reason: WaitReason::Get, .. }), "{error}");
    assert_eq!(error.location().unwrap().line(), line);
    let denied = pending.get_timeout(Duration::from_secs(1));
    assert!(matches!(denied, Some(Err(Error::WaitDenied { .. }))));
    assert!(pending.get_timeout(Duration::ZERO).is_none(), "a timeout of zero is not a wait");
    // None of these wait, and the guard does not apply to the runtime's threads.
    let doubled = pending.clone().map(|value| 2 * value);
    let both = Pending::join((pending.clone(), doubled.clone()));
    let (one, two) = both.unzip();
    promise.complete(Ok(4));
    drop(_guard);
    assert_eq!((one.get().unwrap(), two.get().unwrap()), (4, 8));
    {
        let _guard = SyncGuard::deny();
        let _inner = SyncGuard::allow();
        assert_eq!(doubled.get().unwrap(), 8);
    }
}

#[test]
fn an_error_reaches_every_consumer() {
    let device = device();
    let (promise, pending) = Promise::<Vec<i32>>::new(&device);
    let mapped = pending.clone().map(|values| values.len());
    let element = pending.at(0);
    let joined = Pending::join(vec![pending.clone(), Pending::ready(vec![1])]);
    promise.complete(Err(Error::Invalid("the cause".to_owned())));
    for message in [
        pending.clone().get().unwrap_err().to_string(),
        mapped.clone().get().unwrap_err().to_string(),
        mapped.map(|length| length + 1).get().unwrap_err().to_string(),
        element.get().unwrap_err().to_string(),
        joined.get().unwrap_err().to_string(),
    ] {
        assert_eq!(message, "the cause");
    }
}

#[test]
fn a_panic_is_the_error_of_every_consumer_and_names_the_caller() {
    let pending = Pending::ready(1).map(|_| -> i32 { panic!("injected panic") });
    let line = line!() - 1;
    let (first, second) = (pending.clone(), pending.map(|value| value + 1));
    for pending in [first, second] {
        let error = pending.get().unwrap_err();
        assert!(matches!(&error, Error::Panicked { .. }), "{error}");
        assert!(error.to_string().contains("injected panic"), "{error}");
        let location = error.location().unwrap();
        assert_eq!((location.file(), location.line()), (file!(), line));
    }
    // The thread that ran the closure survives.
    assert_eq!(Pending::ready(1).map(|value| value + 1).get().unwrap(), 2);
}

#[test]
fn an_abandoned_promise_is_an_error() {
    let device = device();
    let (promise, pending) = Promise::<i32>::new(&device);
    let waiter = thread::spawn({
        let pending = pending.clone();
        move || pending.get()
    });
    drop(promise);
    let error = waiter.join().unwrap().unwrap_err();
    assert!(matches!(error, Error::Abandoned { .. }));
    assert!(error.to_string().contains("promises.rs:"), "{error}");
    let derived = pending.and_then(|value| Ok(value + 1)).get();
    assert!(matches!(derived, Err(Error::Abandoned { .. })));
}

#[test]
fn parts_are_projected() {
    let (value, text, flag) = Pending::ready((1, "two".to_owned(), true)).unzip();
    assert_eq!(
        (value.get().unwrap(), text.get().unwrap(), flag.get().unwrap()),
        (1, "two".into(), true)
    );
    let list = Pending::ready(vec![10, 20, 30]);
    assert_eq!(list.at(1).get().unwrap(), 20);
    let message = list.at(3).get().unwrap_err().to_string();
    assert!(message.contains("element 3") && message.contains("of 3"), "{message}");
    let each: Vec<i32> = list.elements(3).into_iter().map(|one| one.get().unwrap()).collect();
    assert_eq!(each, [10, 20, 30]);
}

#[test]
fn joins_preserve_order_whatever_completes_first() {
    let device = device();
    let (promises, pending): (Vec<_>, Vec<_>) = (0..100).map(|_| Promise::new(&device)).unzip();
    let joined = Pending::join(pending);
    for (value, promise) in promises.into_iter().enumerate().rev() {
        assert!(!joined.is_ready());
        promise.complete(Ok(value));
    }
    assert_eq!(joined.get().unwrap(), (0..100).collect::<Vec<_>>());
    assert!(Pending::join(Vec::<Pending<i32>>::new()).get().unwrap().is_empty());
    let device_tensor = ones(3, &device);
    let (tensor, value) = Pending::join((&device_tensor, Pending::ready(2))).get().unwrap();
    assert_eq!((tensor.to_vec::<f32>().unwrap(), value), (vec![1.0; 3], 2));
}

#[test]
fn a_promise_may_be_waited_for_by_many_threads_and_tasks() {
    let device = device();
    let (promise, pending) = Promise::new(&device);
    let threads: Vec<_> = (0..8)
        .map(|_| {
            let pending = pending.clone();
            thread::spawn(move || pending.get().unwrap())
        })
        .collect();
    promise.complete(Ok(5));
    threads.into_iter().for_each(|thread| assert_eq!(thread.join().unwrap(), 5));
}

struct Woken(AtomicUsize);

impl Wake for Woken {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

#[test]
fn only_the_latest_waker_of_a_future_is_registered() {
    let device = device();
    let (promise, mut pending) = Promise::new(&device);
    let woken: Vec<_> = (0..100).map(|_| Arc::new(Woken(AtomicUsize::new(0)))).collect();
    for woken in &woken {
        let waker = Waker::from(woken.clone());
        let poll = std::pin::Pin::new(&mut pending).poll(&mut Context::from_waker(&waker));
        assert!(poll.is_pending());
        drop(waker);
    }
    // The future moved through a hundred tasks: all wakers but the last are dropped.
    let registered = woken.iter().filter(|woken| Arc::strong_count(woken) > 1).count();
    assert_eq!(registered, 1);
    // Another future of the same promise has its own waker, which is dropped with it.
    let other = Arc::new(Woken(AtomicUsize::new(0)));
    let mut clone = pending.clone();
    let waker = Waker::from(other.clone());
    assert!(std::pin::Pin::new(&mut clone).poll(&mut Context::from_waker(&waker)).is_pending());
    drop((clone, waker));
    assert_eq!(Arc::strong_count(&other), 1);
    promise.complete(Ok(3));
    let wakes: usize = woken.iter().map(|woken| woken.0.load(Ordering::SeqCst)).sum();
    assert_eq!((wakes, other.0.load(Ordering::SeqCst)), (1, 0));
    let waker = Waker::from(other);
    let poll = std::pin::Pin::new(&mut pending).poll(&mut Context::from_waker(&waker));
    assert!(matches!(poll, Poll::Ready(Ok(3))));
}

#[test]
fn long_promise_chains_do_not_recurse() {
    const LONG: usize = 100_000;
    let device = device();
    // Completing the first promise completes the whole chain.
    let (promise, pending) = Promise::new(&device);
    let mut last = pending;
    for _ in 0..LONG {
        last = Pending::join((last, Pending::ready(()))).unzip().0;
    }
    promise.complete(Ok(1));
    assert_eq!(last.get().unwrap(), 1);
    // Dropping the last future drops the whole chain.
    let (promise, pending) = Promise::<i32>::new(&device);
    let mut last = pending;
    for _ in 0..LONG {
        last = Pending::join((last, Pending::ready(()))).unzip().0;
    }
    assert!(promise.is_wanted());
    drop(last);
    assert!(!promise.is_wanted());
}

#[test]
fn pending_work_may_wait_for_other_pending_work() {
    let outer = Pending::ready(1).map(|value| {
        let inner = Pending::ready(value).map(|value| value + 1);
        inner.map(|value| value * 10).get().unwrap()
    });
    assert_eq!(outer.get().unwrap(), 20);
}

#[test]
fn back_pressure_limits_pending_work_and_all_of_it_completes() {
    let device = device();
    let mut sum = ones(1, &device).to_async();
    for _ in 0..5000 {
        sum = inflight::pending::add(sum, 1.0);
    }
    assert_eq!(sum.get().unwrap().item::<f32>().unwrap(), 5001.0);
}

#[test]
fn a_transaction_is_executed_without_waiting() {
    let (device, gate) = stepped_device();
    let other = support::device();
    let x = ones(1000, &device);
    let y = (&x + 1.0).exp().log() * 0.0;
    let z = (ones(2, &other) * 3.0).cast(inflight::DType::I64);
    let pending = Transaction::default().register(&y).register(&z).register(&x).execute_async();
    assert!(!pending.is_ready(), "the device is not stepped yet");
    assert_eq!(device.stats().all_waits() + other.stats().all_waits(), 0);
    gate.open();
    let [y, z, x] = pending.get().unwrap().try_into().expect("three tensors");
    assert_eq!(y.to_vec::<f32>().unwrap(), [0.0; 1000]);
    assert_eq!(z.to_vec::<i64>().unwrap(), [3, 3]);
    assert_eq!(x.to_vec::<f32>().unwrap(), [1.0; 1000]);
    assert!(Transaction::default().execute_async().get().unwrap().is_empty());
    let failed = ones(2, &other).matmul(&ones(3, &other));
    let error = Transaction::default().register(&failed).execute_async().get().unwrap_err();
    assert_eq!(error.op(), Some("matmul"), "{error}");
}
