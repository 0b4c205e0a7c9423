//! Asynchronous execution on a device that the test steps command by command: a value is not ready before its command
//! has run, and dropping, forgetting, failing or losing anything at any step affects no other value.

use crate::support::stepped::{Control, stepped_device};
use crate::support::watched::Wakes;
use inflight::{
    Device, DeviceFuture, DeviceOp, Error, Pending, SyncGuard, Tensor, Transaction, api, pending,
    zip,
};
use inflight_backend::FaultKind;
use std::mem::forget;
use std::pin::Pin;
use std::sync::mpsc;
use std::task::{Context, Poll, Waker};
use std::thread;

const EXTENT: usize = 96;

fn ones(device: &Device) -> Tensor {
    Tensor::from_vec(vec![1.0f32; EXTENT * EXTENT], [EXTENT, EXTENT], device).unwrap()
}

/// A chain of dependent reductions and a matmul. All elements of the result are 96².
fn dependent_kernels(x: &Tensor) -> Tensor {
    let extent = EXTENT as f32;
    let columns = (x + 1.0).sum([0]) - extent; // 96 each
    let rows = (x * columns).sum([1]).reshape([EXTENT, 1]) / extent; // 96 each
    let columns = (x * rows).sum([0]) / extent; // 96 each
    let gemm = (x * columns).matmul(x); // 96² each
    gemm.sum([0]) / extent * x
}

const RESULT: f32 = (EXTENT * EXTENT) as f32;

fn poll<F: Future + Unpin>(future: &mut F, waker: &Waker) -> Poll<F::Output> {
    Pin::new(future).poll(&mut Context::from_waker(waker))
}

/// Submits the recorded ops and waits until the device holds their commands.
fn dispatch(device: &Device, control: &Control) {
    device.flush();
    while control.held() == 0 {
        thread::yield_now();
    }
}

/// The number of commands of `dependent_kernels` and of reading its result.
fn read_steps() -> usize {
    let (device, control) = stepped_device();
    let promise = dependent_kernels(&ones(&device)).to_vec_async::<f32>();
    let mut steps = 0;
    while !promise.is_ready() {
        steps += control.step() as usize;
    }
    assert!((6..40).contains(&steps), "{steps}");
    steps
}

/// Steps the device `steps` times, waiting for commands to be enqueued.
fn advance(control: &Control, steps: usize) {
    for _ in 0..steps {
        while !control.step() {
            thread::yield_now();
        }
    }
}

#[test]
fn an_unready_value_is_not_changed_by_queries() {
    let (device, control) = stepped_device();
    let _guard = SyncGuard::deny();
    let result = dependent_kernels(&ones(&device));
    let mut promise = result.to_vec_async::<f32>();
    let (wakes, waker) = Wakes::new();
    dispatch(&device, &control);
    assert!(!result.is_ready() && !promise.is_ready());
    // Queries do not make progress.
    for _ in 0..100 {
        assert!(poll(&mut promise, &waker).is_pending() && !result.is_ready());
    }
    let steps = read_steps();
    for step in 1..steps {
        advance(&control, 1);
        assert!(!promise.is_ready(), "after {step} of {steps} steps");
        assert!(poll(&mut promise, &waker).is_pending());
        assert_eq!(wakes.count(), 0);
    }
    assert!(result.is_ready(), "only the read remains");
    advance(&control, 1);
    assert!(promise.is_ready());
    assert_eq!(wakes.count(), 1);
    let Poll::Ready(values) = poll(&mut promise, &waker) else { panic!("the task was woken") };
    assert_eq!(values.unwrap(), vec![RESULT; EXTENT * EXTENT]);
    assert_eq!(device.stats().all_waits(), 0);
}

/// Steps the device until it is idle, and returns the number of commands.
fn steps_until_idle(device: &Device, control: &Control) -> usize {
    let syncing = {
        let device = device.clone();
        thread::spawn(move || device.wait().unwrap())
    };
    let mut steps = 0;
    while !syncing.is_finished() || control.held() > 0 {
        match control.step() {
            true => steps += 1,
            false => thread::yield_now(),
        }
    }
    steps
}

/// How a test abandons work in flight.
#[derive(Clone, Copy, Debug)]
enum Abandon {
    Drop,
    Forget,
}

/// Starts work with `start`, steps the device `step` times, abandons the work, and runs the device to the end.
/// Other readers of the input see it unchanged, and no command uses freed memory.
fn abandon_at_every_step<T>(abandon: Abandon, start: impl Fn(&Device, &Tensor) -> T) {
    let steps = {
        let (device, control) = stepped_device();
        let x = Tensor::zeros::<f32>([EXTENT, EXTENT], &device).exp();
        let _work = start(&device, &x);
        let _survivor = (&x + 1.0).to_vec_async::<f32>();
        dispatch(&device, &control);
        steps_until_idle(&device, &control)
    };
    assert!(steps >= 4, "{steps}");
    for step in 0..steps {
        let (device, control) = stepped_device();
        // Computed on the device, so that its memory is poisoned if it is freed too early.
        let x = Tensor::zeros::<f32>([EXTENT, EXTENT], &device).exp();
        let work = start(&device, &x);
        let survivor = (&x + 1.0).to_vec_async::<f32>();
        dispatch(&device, &control);
        advance(&control, step);
        drop(x);
        match abandon {
            Abandon::Drop => drop(work),
            Abandon::Forget => forget(work),
        }
        control.open();
        let survived = survivor.get().unwrap();
        assert!(survived.iter().all(|&x| x == 2.0), "{abandon:?} after {step} steps");
        device.wait().unwrap();
        // The device is still usable.
        assert_eq!(dependent_kernels(&ones(&device)).to_vec::<f32>().unwrap()[0], RESULT);
        assert!(control.check_freed() > 0);
        if matches!(abandon, Abandon::Drop) {
            device.wait().unwrap();
            let in_use = device.memory().in_use;
            assert_eq!(in_use, 0, "bytes are leaked after {step} steps");
        }
    }
}

#[test]
fn tensors_may_be_dropped_at_every_step() {
    for abandon in [Abandon::Drop, Abandon::Forget] {
        abandon_at_every_step(abandon, |_, x| dependent_kernels(x));
    }
}

#[test]
fn promises_may_be_dropped_at_every_step() {
    for abandon in [Abandon::Drop, Abandon::Forget] {
        abandon_at_every_step(abandon, |_, x| dependent_kernels(x).to_vec_async::<f32>());
        abandon_at_every_step(abandon, |_, x| {
            Transaction::default().register(&dependent_kernels(x)).register(x).execute_async()
        });
        abandon_at_every_step(abandon, |_, x| pending::matmul(pending::exp(x.to_async()), x));
    }
}

#[test]
fn futures_may_be_dropped_at_every_step() {
    fn polled(device: &Device, x: &Tensor) -> DeviceFuture<'static, Vec<f32>> {
        let op = zip!(x.clone(), api::rand::<f32>([EXTENT, EXTENT], Some(1)));
        let op = op.map(|(x, noise)| dependent_kernels(&x) + noise);
        let mut future = op.to_host_vec::<f32>().schedule(device.stream());
        let (_, waker) = Wakes::new();
        assert!(poll(&mut future, &waker).is_pending());
        future
    }
    for abandon in [Abandon::Drop, Abandon::Forget] {
        abandon_at_every_step(abandon, polled);
        abandon_at_every_step(abandon, |device, x| polled(device, x).spawn());
    }
}

#[test]
fn tasks_may_be_aborted_at_every_step() {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).build().unwrap();
    for step in 0..read_steps() {
        let (device, control) = stepped_device();
        let x = Tensor::zeros::<f32>([EXTENT, EXTENT], &device).exp();
        let (shared, stream) = (x.clone(), device.stream());
        let op = api::ones::<f32>([EXTENT, EXTENT]).map(move |y| dependent_kernels(&(shared * y)));
        let task = runtime.spawn(op.to_host_vec::<f32>().schedule(stream));
        while control.held() == 0 {
            thread::yield_now();
        }
        for _ in 0..step {
            control.step();
        }
        task.abort();
        let survivor = (&x + 1.0).to_vec_async::<f32>();
        control.open();
        assert!(survivor.get().unwrap().iter().all(|&x| x == 2.0), "after {step} steps");
        // The task was aborted, or had completed before.
        match runtime.block_on(task) {
            Ok(values) => assert_eq!(values.unwrap()[0], RESULT),
            Err(aborted) => assert!(aborted.is_cancelled()),
        }
        device.wait().unwrap();
        control.check_freed();
    }
}

#[test]
fn a_failure_reaches_exactly_its_dependents() {
    let (device, control) = stepped_device();
    control.open();
    dependent_kernels(&ones(&device)).wait().unwrap();
    let kernels = device.stats().launches as usize;
    assert!(kernels >= 5, "{kernels}");
    for failing in 0..kernels {
        let (device, control) = stepped_device();
        control.fail_after(failing, "injected fault");
        let x = ones(&device);
        let result = dependent_kernels(&x);
        let promises: Vec<Pending<Vec<f32>>> =
            (0..3).map(|_| result.to_vec_async::<f32>()).collect();
        control.open();
        for promise in promises {
            let error = promise.get().unwrap_err();
            let Error::Device(fault) = &error else { panic!("{error}") };
            assert_eq!(fault.kind, FaultKind::Panicked("injected fault".to_owned()));
        }
        // Dependent values fail; independent values do not.
        assert!((&result + 1.0).to_vec::<f32>().is_err());
        assert_eq!(dependent_kernels(&x).to_vec::<f32>().unwrap()[0], RESULT);
        control.check_freed();
    }
}

#[test]
fn a_lost_device_wakes_every_waiter_with_an_error() {
    for step in 0..read_steps() {
        let (device, control) = stepped_device();
        let result = dependent_kernels(&ones(&device));
        let promise = result.to_vec_async::<f32>();
        let spawned = api::ones::<f32>([8]).to_host_vec::<f32>().schedule(device.stream()).spawn();
        let mut future =
            api::ones::<f32>([8]).map(|x| x.exp()).to_host_vec::<f32>().schedule(device.stream());
        let (wakes, waker) = Wakes::new();
        assert!(poll(&mut future, &waker).is_pending());
        dispatch(&device, &control);
        let threads: Vec<_> = (0..2)
            .map(|_| {
                let promise = promise.clone();
                thread::spawn(move || promise.get())
            })
            .collect();
        let syncing = {
            let device = device.clone();
            thread::spawn(move || device.wait())
        };
        for _ in 0..step {
            control.step();
        }
        control.lose("injected loss");
        for thread in threads {
            let error = thread.join().unwrap().unwrap_err();
            assert!(error.to_string().contains("injected loss"), "{error}");
        }
        syncing.join().unwrap().unwrap();
        wakes.wait();
        let woken = match poll(&mut future, &waker) {
            Poll::Ready(woken) => woken,
            // Woken after a part of its work; the rest fails as well.
            Poll::Pending => pollster::block_on(future),
        };
        for error in [woken.err(), spawned.get().err()] {
            // After enough steps, they had completed before the loss.
            assert!(error.is_none_or(|error| error.to_string().contains("injected loss")));
        }
        let later = ones(&device).sum_all().item::<f32>().unwrap_err();
        assert!(
            matches!(later, Error::Device(fault) if matches!(fault.kind, FaultKind::DeviceLost(_)))
        );
    }
}

#[test]
fn many_waiters_of_one_promise_are_all_woken() {
    let (device, control) = stepped_device();
    let promise = dependent_kernels(&ones(&device)).to_vec_async::<f32>();
    dispatch(&device, &control);
    let (started, receiver) = mpsc::channel();
    let threads: Vec<_> = (0..2)
        .map(|_| {
            let (promise, started) = (promise.clone(), started.clone());
            thread::spawn(move || {
                started.send(()).unwrap();
                promise.get().unwrap()
            })
        })
        .collect();
    threads.iter().for_each(|_| receiver.recv().unwrap());
    let mut tasks: Vec<_> = (0..2).map(|_| (promise.clone(), Wakes::new())).collect();
    for (task, (_, waker)) in &mut tasks {
        assert!(poll(task, waker).is_pending());
    }
    // One of the tasks moves to another waker: its first waker must not be woken.
    let (moved, elsewhere) = Wakes::new();
    assert!(poll(&mut tasks[0].0, &elsewhere).is_pending());
    advance(&control, read_steps() - 1);
    assert_eq!(moved.count() + tasks.iter().map(|(_, (wakes, _))| wakes.count()).sum::<usize>(), 0);
    advance(&control, 1);
    for thread in threads {
        assert_eq!(thread.join().unwrap()[0], RESULT);
    }
    assert_eq!((moved.count(), tasks[0].1.0.count(), tasks[1].1.0.count()), (1, 0, 1));
    for (mut task, _) in tasks {
        let Poll::Ready(values) = poll(&mut task, &elsewhere) else { panic!("the task was woken") };
        assert_eq!(values.unwrap()[0], RESULT);
    }
}

#[test]
fn a_thousand_promises_in_flight_complete() {
    let (device, control) = stepped_device();
    let (_, waker) = Wakes::new();
    let streams: Vec<_> = (0..20).map(|_| device.stream()).collect();
    let mut futures: Vec<_> = (0..1000)
        .map(|round| {
            let op = api::full(round as f32, [10]).map(|x| x + 1.0).to_host_vec::<f32>();
            op.schedule(&streams[round % streams.len()])
        })
        .collect();
    for future in &mut futures {
        assert!(poll(future, &waker).is_pending());
    }
    assert_eq!(device.stats().all_waits(), 0);
    while streams.iter().map(|stream| stream.in_flight()).sum::<usize>() < 1000 {
        thread::yield_now();
    }
    // Drop half of them.
    let retained: Vec<_> =
        futures.into_iter().enumerate().filter(|(round, _)| round % 2 == 0).collect();
    control.open();
    for (round, future) in retained {
        assert_eq!(pollster::block_on(future).unwrap(), [round as f32 + 1.0; 10]);
    }
    control.check_freed();
}
