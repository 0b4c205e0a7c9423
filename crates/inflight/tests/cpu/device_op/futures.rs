//! Futures of ops: no blocking, no spinning, and safe to drop at any time.

use crate::support::watched::{Wakes, watched};
use inflight::device_op::{self, ExecutionContext};
use inflight::{Device, DeviceOp, Error, Result, Stream, SyncGuard, Tensor, WaitReason, api, zip};
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, mpsc};
use std::task::{Context, Poll, Waker};
use std::thread;

fn poll<F: Future + Unpin>(future: &mut F, waker: &Waker) -> Poll<F::Output> {
    Pin::new(future).poll(&mut Context::from_waker(waker))
}

/// Waits for all work of the stream and of the device.
fn drain(device: &Device, stream: &Stream) {
    stream.wait().unwrap();
    device.wait().unwrap();
}

#[test]
fn completion_wakes_the_task_once_without_a_wait() {
    let (device, control) = watched();
    let stream = device.stream();
    let gate = control.hold();
    let mut future = api::ones::<f32>([64]).map(|x| x + 1.0).schedule(&stream);
    let _guard = SyncGuard::deny();
    let (wakes, waker) = Wakes::new();
    for _ in 0..5 {
        assert!(poll(&mut future, &waker).is_pending());
    }
    assert_eq!(wakes.count(), 0);
    // The latest waker of a task is woken.
    let (later, moved) = Wakes::new();
    assert!(poll(&mut future, &moved).is_pending());
    drop(_guard);
    assert_eq!(device.stats().all_waits(), 0);
    gate.signal();
    later.wait();
    drain(&device, &stream);
    assert_eq!((wakes.count(), later.count()), (0, 1));
    match poll(&mut future, &moved) {
        Poll::Ready(result) => assert_eq!(result.unwrap().to_vec::<f32>().unwrap(), [2.0; 64]),
        Poll::Pending => panic!("the task was woken"),
    }
}

#[test]
fn waiting_is_one_wait_with_its_reason() {
    let (device, control) = watched();
    let stream = device.stream();
    let gate = control.hold();
    let waiter = {
        let stream = stream.clone();
        thread::spawn(move || api::ones::<f32>([64]).sync_on(&stream).unwrap())
    };
    gate.signal();
    let ones = waiter.join().unwrap();
    assert!(ones.is_ready());
    let stats = device.stats();
    assert_eq!(stats.all_waits(), stats.waits_for(WaitReason::Sync));
    assert!(stats.all_waits() <= 1);
    control.hold();
    let _guard = SyncGuard::deny();
    let denied = api::ones::<f32>([64]).sync_on(&stream).unwrap_err();
    assert!(matches!(denied, Error::WaitDenied { reason: WaitReason::Sync, .. }), "{denied}");
    assert_eq!(denied.location().unwrap().file(), file!());
}

#[test]
fn futures_may_be_dropped_or_forgotten_at_any_time() {
    let (device, control) = watched();
    let stream = device.stream();
    let (_, waker) = Wakes::new();
    for step in 0..9 {
        let gate = control.hold();
        let x = Tensor::from_vec(vec![1.0f32; 5000], [5000], &device).unwrap();
        let op = zip!(x, api::rand::<f32>([5000], Some(step))).map(|(a, b)| (a + b).exp());
        let mut future = op.to_host_vec::<f32>().schedule(&stream);
        // Not polled; submitted and held back; completed on the device.
        if step % 3 > 0 {
            assert!(poll(&mut future, &waker).is_pending());
        }
        if step % 3 > 1 {
            gate.signal();
            drain(&device, &stream);
        }
        // A forgotten future leaks its own fields, but no memory of the device's work.
        if step < 6 {
            drop(future)
        } else {
            std::mem::forget(future)
        }
        gate.signal();
    }
    drain(&device, &stream);
    let stream = device.stream();
    let after = api::ones::<f32>([16]).to_host_vec::<f32>().sync_on(&stream).unwrap();
    assert_eq!(after, [1.0; 16]);
}

#[test]
fn dropped_futures_free_their_memory() {
    let (device, control) = watched();
    let stream = device.stream();
    let (_, waker) = Wakes::new();
    let gate = control.hold();
    let mut futures: Vec<_> = (0..20)
        .map(|seed| api::rand::<f32>([10_000], Some(seed)).map(|x| x.exp()).schedule(&stream))
        .collect();
    for future in &mut futures {
        assert!(poll(future, &waker).is_pending());
    }
    drop(futures);
    gate.signal();
    drain(&device, &stream);
    // A worker drops a command's buffers just after it signals completion, and before it runs a later command.
    api::ones::<f32>([1]).to_host_vec::<f32>().sync_on(&stream).unwrap();
    assert!(device.memory().in_use < 10_000, "{:?}", device.memory());
}

#[test]
fn continuations_of_a_dropped_future_never_run() {
    let (device, control) = watched();
    let stream = device.stream();
    let (_, waker) = Wakes::new();
    let calls = Arc::new(AtomicUsize::new(0));
    let count = calls.clone();
    let gate = control.hold();
    let mut future = api::ones::<f32>([8])
        .to_host_vec::<f32>()
        .map(move |values| count.fetch_add(values.len(), Ordering::SeqCst))
        .schedule(&stream);
    assert!(poll(&mut future, &waker).is_pending());
    drop(future);
    gate.signal();
    drain(&device, &stream);
    assert_eq!(calls.load(Ordering::SeqCst), 0);
}

#[test]
fn host_values_continue_as_ops() {
    let (device, _) = watched();
    let stream = device.stream();
    let doubled = api::arange::<f32>(4)
        .to_host_vec::<f32>()
        .map(|values| values.into_iter().rev().collect::<Vec<_>>())
        .then(|values| api::from_vec(values, [4]).map(|x| x * 2.0));
    let values = pollster::block_on(doubled.to_host_vec::<f32>().schedule(&stream)).unwrap();
    assert_eq!(values, [6.0, 4.0, 2.0, 0.0]);
    assert_eq!(device.stats().all_waits(), 0);
}

#[test]
fn a_panic_is_reported_at_the_line_that_described_the_op() {
    let line = line!() + 1;
    let bad = api::ones::<f32>([2]).map(|_| -> Tensor { panic!("injected panic") });
    let error = pollster::block_on(bad.boxed().into_future()).unwrap_err();
    assert!(error.to_string().contains("injected panic"), "{error}");
    assert_eq!(error.location().map(|at| (at.file(), at.line())), Some((file!(), line)));
    let spawned = device_op::from_fn(|_| -> Result<u8> { panic!("spawned") }).spawn();
    let (first, second) = (spawned.clone(), spawned);
    assert!(first.get().unwrap_err().to_string().contains("spawned"));
    assert!(second.get().unwrap_err().to_string().contains("spawned"));
    // The thread's own recording is unaffected.
    let x = Tensor::ones::<f32>([3], &Device::cpu()) + 1.0;
    assert_eq!(x.to_vec::<f32>().unwrap(), [2.0; 3]);
}

#[test]
fn spawned_ops_need_no_executor() {
    let promises: Vec<_> = (0..100)
        .map(|round| api::full(round as f32, [100]).map(|x| x * 2.0).to_host_vec::<f32>().spawn())
        .collect();
    for (round, promise) in promises.into_iter().enumerate() {
        assert_eq!(promise.get().unwrap(), [2.0 * round as f32; 100]);
    }
    let (device, _) = watched();
    let ones = api::ones::<f32>([4]).schedule(device.stream()).spawn().get().unwrap();
    assert_eq!(ones.device(), &device);
}

#[test]
fn spawned_ops_may_depend_on_each_other() {
    fn nested(depth: usize) -> usize {
        match depth {
            0 => 0,
            _ => 1 + device_op::from_fn(move |_| Ok(nested(depth - 1))).spawn().get().unwrap(),
        }
    }
    assert_eq!(nested(40), 40);
    let all: Vec<_> = (0..40).map(|_| device_op::from_fn(|_| Ok(nested(3))).spawn()).collect();
    assert!(all.into_iter().all(|depth| depth.get().unwrap() == 3));
}

#[test]
fn a_spawned_op_without_consumers_stops() {
    /// Sends its waker to the test and completes when woken.
    struct Sleep(mpsc::Sender<Waker>);
    impl DeviceOp for Sleep {
        type Output = ();
        async fn execute(self, _: &ExecutionContext) -> Result<()> {
            let mut asleep = true;
            poll_fn(|task| match std::mem::take(&mut asleep) {
                true => {
                    self.0.send(task.waker().clone()).unwrap();
                    Poll::Pending
                }
                false => Poll::Ready(Ok(())),
            })
            .await
        }
    }
    for wanted in [true, false] {
        let (send_waker, receive_waker) = mpsc::channel();
        let (done, completed) = mpsc::channel();
        let promise = Sleep(send_waker).map(move |()| done.send(()).unwrap()).spawn();
        let waker = receive_waker.recv().unwrap();
        let promise = wanted.then_some(promise);
        waker.wake();
        // Receives from the last step, or fails when that step is dropped.
        assert_eq!(completed.recv().is_ok(), wanted);
        drop(promise);
    }
}

#[test]
fn a_thousand_ops_in_flight_occupy_no_threads() {
    let (device, control) = watched();
    let stream = device.stream();
    let (_, waker) = Wakes::new();
    let gate = control.hold();
    let mut futures: Vec<_> =
        (0..1000).map(|round| api::full(round as f32, [10]).schedule(&stream)).collect();
    for future in &mut futures {
        assert!(poll(future, &waker).is_pending());
    }
    assert!(stream.in_flight() < 100, "{stream:?}");
    assert_eq!(device.stats().all_waits(), 0);
    gate.signal();
    for (round, future) in futures.into_iter().enumerate() {
        let tensor = pollster::block_on(future).unwrap();
        assert_eq!(tensor.to_vec::<f32>().unwrap(), [round as f32; 10]);
    }
}
