//! Streams and workers under the shuttle model checker: each test body runs many times with different thread
//! interleavings. A lost wake-up shows as a deadlock.
//!
//! RUSTFLAGS="--cfg shuttle" cargo test -p inflight-cpu --test model
//!
//! Without the flag the same bodies run on real threads.

#[path = "device/support.rs"]
mod support;

use inflight_backend::sync::{MODEL_CHECKED, Mutex, explore, thread};
use inflight_backend::{Buffer, Command, Event, Timeline};
use std::sync::Arc;
use support::{Queue, buffer, device, square_gemm};

fn check(body: impl Fn() + Send + Sync + 'static) {
    explore(if MODEL_CHECKED { 1000 } else { 50 }, body);
}

/// A thread that assists a queue until an event, then waits for the event.
fn helper(queue: &Queue, end: &Event) -> thread::JoinHandle<()> {
    let (stream, end) = (queue.stream.clone(), end.clone());
    thread::spawn(move || {
        stream.assist(&end);
        end.wait();
    })
}

/// The commands that have run, in order. A callback cannot fail a test, since the stream catches its panics.
type Log = Arc<Mutex<Vec<usize>>>;

fn log(queue: &Queue, log: &Log, entry: usize) {
    let log = log.clone();
    queue.call(move || log.lock().push(entry));
}

#[test]
fn two_threads_flush_and_assist_one_stream() {
    check(|| {
        let device = device(2);
        let mut queue = Queue::new(&device);
        let order = Log::default();
        for to in 1..=3 {
            log(&queue, &order, to);
        }
        let end = queue.signal();
        let helper = helper(&queue, &end);
        queue.stream.flush();
        queue.stream.assist(&end);
        end.wait();
        helper.join().unwrap();
        assert_eq!(*order.lock(), [1, 2, 3]);
    });
}

#[test]
fn commands_enqueued_while_the_stream_runs_are_executed() {
    check(|| {
        let device = device(1);
        let mut queue = Queue::new(&device);
        let order = Log::default();
        log(&queue, &order, 1);
        queue.stream.flush();
        log(&queue, &order, 2);
        let end = queue.signal();
        queue.stream.flush();
        end.wait();
        assert_eq!(*order.lock(), [1, 2]);
    });
}

#[test]
fn streams_wait_for_each_other_in_both_directions() {
    check(|| {
        let device = device(2);
        let (mut left, mut right) = (Queue::new(&device), Queue::new(&device));
        let order = Log::default();
        log(&left, &order, 1);
        let first = left.signal();
        right.wait_for(&first);
        log(&right, &order, 2);
        let second = right.signal();
        left.wait_for(&second);
        log(&left, &order, 3);
        let end = left.signal();
        let flusher = {
            let stream = right.stream.clone();
            thread::spawn(move || stream.flush())
        };
        left.stream.assist(&end);
        end.wait();
        flusher.join().unwrap();
        assert_eq!(*order.lock(), [1, 2, 3]);
    });
}

#[test]
fn an_event_is_signalled_while_the_stream_begins_to_wait() {
    check(|| {
        let device = device(1);
        let gate = Timeline::new();
        let mut queue = Queue::new(&device);
        queue.wait_for(&gate.event(1));
        let end = queue.signal();
        let opener = thread::spawn(move || gate.signal(1));
        // Dropping the handle flushes the stream.
        drop((queue, device));
        end.wait();
        opener.join().unwrap();
    });
}

#[test]
fn a_gemm_in_panels_is_complete_when_signalled() {
    check(|| {
        let device = device(2);
        let n = 96;
        let (ones, result) = (buffer(vec![1.0f32; n * n]), Buffer::declare(n * n * 4));
        let mut other = Queue::new(&device);
        let event = other.signal();
        other.stream.flush();
        let mut queue = Queue::new(&device);
        queue.wait_for(&event);
        support::enqueue(&queue.stream, square_gemm(n, &ones, &ones, &result));
        assert_eq!(queue.read::<f32>(&result).unwrap(), vec![n as f32; n * n]);
    });
}

/// A loop: each iteration logs its index and puts the next one at the front of the queue.
fn iterations(order: &Log, iteration: usize, last: usize) -> Command {
    let order = order.clone();
    Command::Expand {
        source: Buffer::declare(0),
        callback: Box::new(move |_, expansion| {
            order.lock().push(iteration);
            if iteration < last {
                expansion.commands.push(iterations(&order, iteration + 1, last));
            }
        }),
    }
}

#[test]
fn commands_of_an_expansion_run_before_queued_ones() {
    check(|| {
        let device = device(2);
        let mut queue = Queue::new(&device);
        let order = Log::default();
        support::enqueue(&queue.stream, iterations(&order, 1, 3));
        // Enqueued before, while or after the loop runs.
        queue.stream.flush();
        log(&queue, &order, 4);
        let end = queue.signal();
        let helper = helper(&queue, &end);
        queue.stream.flush();
        end.wait();
        helper.join().unwrap();
        assert_eq!(*order.lock(), [1, 2, 3, 4]);
    });
}

#[test]
fn an_expansion_may_wait_for_another_stream() {
    check(|| {
        let device = device(1);
        let gate = Timeline::new();
        let mut queue = Queue::new(&device);
        let order = Log::default();
        let opened = gate.event(1);
        let after = iterations(&order, 1, 1);
        let command = Command::Expand {
            source: Buffer::declare(0),
            callback: Box::new(move |_, expansion| {
                expansion.commands.extend([Command::Wait(opened), after]);
            }),
        };
        support::enqueue(&queue.stream, command);
        log(&queue, &order, 2);
        let end = queue.signal();
        queue.stream.flush();
        let opener = thread::spawn(move || gate.signal(1));
        queue.stream.assist(&end);
        end.wait();
        opener.join().unwrap();
        assert_eq!(*order.lock(), [1, 2]);
    });
}
