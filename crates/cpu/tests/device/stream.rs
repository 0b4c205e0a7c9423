//! Streams: order, waits between streams, assisting threads, faults and shutdown.

use crate::support::{Queue, buffer, device, square_gemm};
use inflight_backend::Priority;
use inflight_backend::{Backend, Buffer, Command, Event, FaultKind, Timeline};
use parking_lot::Mutex;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// A list shared by several threads.
type Log<T> = Arc<Mutex<Vec<T>>>;

fn log<T: Send + 'static>(queue: &Queue, log: &Log<T>, entry: T) {
    let log = log.clone();
    queue.call(move || log.lock().push(entry));
}

#[test]
fn commands_run_in_queue_order() {
    let device = device(2);
    let mut queue = Queue::new(&device);
    let order = Log::default();
    for i in 0..1000 {
        log(&queue, &order, i);
        if i % 97 == 0 {
            queue.stream.flush();
        }
    }
    queue.finish();
    assert_eq!(*order.lock(), (0..1000).collect::<Vec<_>>());
}

#[test]
fn commands_do_not_run_before_a_flush() {
    let device = device(2);
    let mut queue = Queue::new(&device);
    let ran = Arc::new(AtomicBool::new(false));
    let seen = ran.clone();
    queue.call(move || seen.store(true, Ordering::SeqCst));
    // Another stream finishes, so the workers had the opportunity to run the first one.
    Queue::new(&device).finish();
    assert!(!ran.load(Ordering::SeqCst));
    queue.finish();
    assert!(ran.load(Ordering::SeqCst));
}

#[test]
fn a_stream_waits_for_another() {
    let device = device(2);
    let (mut first, mut second) = (Queue::new(&device), Queue::new(&device));
    let order = Log::default();
    let gate = Timeline::new();
    first.wait_for(&gate.event(1));
    log(&first, &order, "first");
    let done = first.signal();
    second.wait_for(&done);
    log(&second, &order, "second");
    let end = second.signal();
    second.stream.flush();
    first.stream.flush();
    assert!(!end.is_reached(), "the gate is closed");
    gate.signal(1);
    end.wait();
    assert_eq!(*order.lock(), ["first", "second"]);
}

#[test]
fn blocked_streams_do_not_occupy_threads() {
    let device = device(1);
    let gate = Timeline::new();
    let mut blocked: Vec<_> = (0..10).map(|_| Queue::new(&device)).collect();
    let ends: Vec<_> = blocked
        .iter_mut()
        .map(|queue| {
            queue.wait_for(&gate.event(1));
            let end = queue.signal();
            queue.stream.flush();
            end
        })
        .collect();
    // The only worker is free for this.
    Queue::new(&device).finish();
    assert!(ends.iter().all(|end| !end.is_reached()));
    gate.signal(1);
    ends.iter().for_each(Event::wait);
}

#[test]
fn an_assisting_thread_runs_the_commands_itself() {
    let device = device(1);
    // The only worker is blocked, so no other thread can run them.
    let gate = Timeline::new();
    let (mut blocker, release) = (Queue::new(&device), gate.event(1));
    blocker.call(move || release.wait());
    let freed = blocker.signal();
    blocker.stream.flush();

    let mut queue = Queue::new(&device);
    let threads = Log::default();
    for _ in 0..3 {
        let threads = threads.clone();
        queue.call(move || threads.lock().push(std::thread::current().id()));
    }
    let event = queue.signal();
    let after = threads.clone();
    queue.call(move || after.lock().push(std::thread::current().id()));
    let end = queue.signal();
    // Scheduled, but not begun.
    queue.stream.flush();
    queue.stream.assist(&event);
    assert!(event.is_reached());
    assert_eq!(*threads.lock(), [std::thread::current().id(); 3]);
    // Commands behind the event are left to the worker.
    assert!(!end.is_reached());
    gate.signal(1);
    freed.wait();
    end.wait();
    assert_ne!(threads.lock()[3], std::thread::current().id());
}

#[test]
fn assisting_stops_at_a_blocked_wait_and_the_stream_resumes() {
    let device = device(2);
    let mut queue = Queue::new(&device);
    let gate = Timeline::new();
    let before = queue.signal();
    queue.wait_for(&gate.event(1));
    let end = queue.signal();
    queue.stream.assist(&end);
    assert!(before.is_reached() && !end.is_reached());
    queue.stream.assist(&end);
    gate.signal(1);
    end.wait();
}

#[test]
fn assisting_from_a_callback_of_the_same_stream_returns() {
    let device = device(2);
    let mut queue = Queue::new(&device);
    let event = Timeline::new().event(1);
    let stream = queue.stream.clone();
    queue.call(move || stream.assist(&event));
    queue.finish();
}

#[test]
fn a_panic_in_a_callback_leaves_the_stream_and_the_worker_alive() {
    let device = device(1);
    let mut queue = Queue::new(&device);
    queue.call(|| panic!("in a read callback"));
    let before = queue.signal();
    before.on_reached(Box::new(|| panic!("in an event's callback")));
    let order = Log::default();
    log(&queue, &order, 1);
    queue.finish();
    assert_eq!(*order.lock(), [1]);
    Queue::new(&device).finish();
}

#[test]
fn a_fault_propagates_to_dependent_commands_only() {
    let device = device(2);
    let mut queue = Queue::new(&device);
    let good = buffer(vec![2.0f32]);
    let bad = Buffer::failed(4, FaultKind::Panicked("the first cause".into()).into());
    let (middle, last, apart) = (Buffer::declare(4), Buffer::declare(4), Buffer::declare(4));
    crate::support::enqueue(&queue.stream, square_gemm(1, &good, &bad, &middle));
    crate::support::enqueue(&queue.stream, square_gemm(1, &middle, &good, &last));
    crate::support::enqueue(&queue.stream, square_gemm(1, &good, &good, &apart));
    let fault = queue.read::<f32>(&last).unwrap_err();
    assert_eq!(fault.kind, FaultKind::Panicked("the first cause".into()));
    assert!(middle.memory().is_none(), "a command that does not run allocates no memory");
    assert_eq!(queue.read::<f32>(&apart).unwrap(), [4.0]);
}

#[test]
fn reading_an_unwritten_buffer_is_an_error() {
    let device = device(1);
    let mut queue = Queue::new(&device);
    let never = Buffer::declare(4);
    assert!(queue.read::<f32>(&never).is_err());
    let result = Buffer::declare(4);
    crate::support::enqueue(&queue.stream, square_gemm(1, &never, &never, &result));
    let fault = queue.read::<f32>(&result).unwrap_err();
    assert_eq!(
        fault.label.unwrap().work.bytes_read,
        7,
        "the fault carries the label of the command"
    );
}

#[test]
fn out_of_memory_is_a_fault_and_dropping_buffers_recovers() {
    let device = device(2);
    let mut queue = Queue::new(&device);
    let n = 64;
    let bytes = n * n * 4;
    device.pool().set_limit(Some(bytes + bytes / 2));
    let ones = buffer(vec![1.0f32; n * n]);
    let (first, second) = (Buffer::declare(bytes), Buffer::declare(bytes));
    crate::support::enqueue(&queue.stream, square_gemm(n, &ones, &ones, &first));
    crate::support::enqueue(&queue.stream, square_gemm(n, &ones, &ones, &second));
    let fault = queue.read::<f32>(&second).unwrap_err();
    let limit = bytes + bytes / 2;
    assert_eq!(fault.kind, FaultKind::OutOfMemory { requested: bytes, in_use: bytes, limit });
    assert_eq!(fault.label.unwrap().work.bytes_read, 7);
    assert_eq!(queue.read::<f32>(&first).unwrap(), vec![n as f32; n * n]);
    drop(first);
    let third = Buffer::declare(bytes);
    crate::support::enqueue(&queue.stream, square_gemm(n, &ones, &ones, &third));
    assert_eq!(queue.read::<f32>(&third).unwrap(), vec![n as f32; n * n]);
    drop((second, third));
    assert_eq!(device.pool().stats().in_use, 0);
}

#[test]
fn queued_commands_run_after_the_handle_is_dropped() {
    let device = device(2);
    let gate = Timeline::new();
    let mut queue = Queue::new(&device);
    queue.wait_for(&gate.event(1));
    let (input, output) = (buffer(vec![3.0f32]), Buffer::declare(4));
    crate::support::enqueue(&queue.stream, square_gemm(1, &input, &input, &output));
    let end = queue.signal();
    // No flush, and no handle of the stream, the device or the operands remains.
    drop((queue, input, device));
    gate.signal(1);
    end.wait();
    // SAFETY: the command that writes it is done.
    let value = unsafe { output.memory().unwrap().ptr().cast::<f32>().read() };
    assert_eq!(value, 9.0);
}

#[test]
fn a_command_releases_its_buffers_before_the_next_one() {
    let device = device(2);
    let mut queue = Queue::new(&device);
    let (input, output) = (buffer(vec![3.0f32]), Buffer::declare(4));
    crate::support::enqueue(&queue.stream, square_gemm(1, &input, &input, &output));
    queue.finish();
    assert_eq!((Arc::strong_count(&input), Arc::strong_count(&output)), (1, 1));
}

#[test]
fn a_stream_is_dropped_when_its_event_can_no_longer_be_signalled() {
    let device = device(1);
    let gate = Timeline::new();
    let mut queue = Queue::new(&device);
    let input = buffer(vec![3.0f32]);
    let weak = Arc::downgrade(&input);
    let before = queue.signal();
    queue.wait_for(&gate.event(1));
    crate::support::enqueue(&queue.stream, square_gemm(1, &input, &input, &input));
    queue.stream.flush();
    before.wait();
    // When this finishes, the stream has blocked on the gate.
    Queue::new(&device).finish();
    drop((queue, input));
    assert!(weak.upgrade().is_some());
    drop(gate);
    assert!(weak.upgrade().is_none());
}

#[test]
fn streams_of_many_threads_wait_for_each_other() {
    const THREADS: usize = 8;
    const ROUNDS: usize = 60;
    let device = device(3);
    let ran = Arc::new(AtomicUsize::new(0));
    std::thread::scope(|scope| {
        for thread in 0..THREADS {
            let (device, ran) = (&device, ran.clone());
            scope.spawn(move || {
                let mut streams: Vec<_> = (0..4).map(|_| Queue::new(device)).collect();
                let n = 8;
                let identity = (0..n * n).map(|i| (i % (n + 1) == 0) as u8 as f32).collect();
                let identity = buffer(identity);
                let start = (0..n * n).map(|i| (i + thread) as f32).collect::<Vec<_>>();
                let mut value = buffer(start.clone());
                let mut event = Event::reached();
                for round in 0..ROUNDS {
                    let streams_len = streams.len();
                    let queue = &mut streams[(round * 7 + thread) % streams_len];
                    queue.wait_for(&event);
                    let next = Buffer::declare(n * n * 4);
                    crate::support::enqueue(
                        &queue.stream,
                        square_gemm(n, &value, &identity, &next),
                    );
                    let ran = ran.clone();
                    queue.call(move || {
                        ran.fetch_add(1, Ordering::Relaxed);
                    });
                    event = queue.signal();
                    value = next;
                    match round % 3 {
                        0 => queue.stream.flush(),
                        1 => queue.stream.assist(&event),
                        // Flushed later, at the latest before the last wait.
                        _ => {}
                    }
                    if round % 16 == 15 {
                        // Dropping a stream flushes it.
                        streams[round % 4] = Queue::new(device);
                    }
                }
                streams.iter().for_each(|queue| queue.stream.flush());
                let mut last = Queue::new(device);
                last.wait_for(&event);
                assert_eq!(last.read::<f32>(&value).unwrap(), start);
            });
        }
    });
    assert_eq!(ran.load(Ordering::Relaxed), THREADS * ROUNDS);
}

#[test]
fn an_endless_stream_yields_to_other_streams() {
    let device = device(1);
    let stop = Arc::new(AtomicBool::new(false));
    // A stream that enqueues its next command: it never runs empty, so only the time slice ends its run.
    fn refill(stream: &Arc<dyn inflight_backend::Stream>, stop: &Arc<AtomicBool>) {
        let (again, stop) = (stream.clone(), stop.clone());
        let source = buffer(Vec::<u8>::new());
        let callback = Box::new(move |_: Result<&[u8], inflight_backend::Fault>| {
            if !stop.load(Ordering::SeqCst) {
                refill(&again, &stop);
            }
        });
        crate::support::enqueue(stream, Command::Read { source, callback });
    }
    let endless = device.stream(Priority::Normal);
    refill(&endless, &stop);
    endless.flush();
    Queue::new(&device).finish();
    stop.store(true, Ordering::SeqCst);
}
