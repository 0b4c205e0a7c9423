//! Model-checked tests of completions and the work queue, under the thread schedules that shuttle explores.
//!
//! `RUSTFLAGS="--cfg shuttle" cargo test -p inflight-backend`

use inflight_backend::sync::atomic::{AtomicUsize, Ordering};
use inflight_backend::sync::{Mutex, explore, thread};
use inflight_backend::{Completion, WakerSlot, WorkQueue};
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};

const SCHEDULES: usize = 1000;

#[test]
fn every_waiting_thread_gets_the_value() {
    explore(SCHEDULES, || {
        let completion = Arc::new(Completion::new());
        let waiters: Vec<_> = (0..2)
            .map(|_| {
                let completion = completion.clone();
                thread::spawn(move || {
                    completion.wait();
                    completion.peek(|value| *value)
                })
            })
            .collect();
        completion.complete(7);
        for waiter in waiters {
            assert_eq!(waiter.join().unwrap(), Some(7));
        }
    });
}

#[test]
fn first_value_is_kept() {
    explore(SCHEDULES, || {
        let completion = Arc::new(Completion::new());
        let other = completion.clone();
        let second = thread::spawn(move || other.complete(2));
        completion.complete(1);
        let seen = completion.peek(|value| *value);
        second.join().unwrap();
        assert_eq!(completion.peek(|value| *value), seen);
    });
}

struct CountingWaker(AtomicUsize);

impl Wake for CountingWaker {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

#[test]
fn pending_task_is_woken_exactly_once() {
    explore(SCHEDULES, || {
        let completion = Arc::new(Completion::new());
        let woken = Arc::new(CountingWaker(AtomicUsize::new(0)));
        let other = completion.clone();
        let completer = thread::spawn(move || other.complete(7));
        let waker = Waker::from(woken.clone());
        let mut slot = WakerSlot::default();
        let first = completion.poll(&mut slot, &mut Context::from_waker(&waker));
        // Two polls with the same waker give one wake-up.
        let second = completion.poll(&mut slot, &mut Context::from_waker(&waker));
        completer.join().unwrap();
        let wakes = woken.0.load(Ordering::SeqCst);
        match (first, second) {
            (Poll::Pending, _) => assert_eq!(wakes, 1),
            (Poll::Ready(value), Poll::Ready(again)) => {
                assert_eq!((value, again, wakes), (7, 7, 0))
            }
            (Poll::Ready(_), Poll::Pending) => panic!("a value that is set never disappears"),
        }
    });
}

#[test]
fn watch_calls_back_exactly_once_or_value_is_set() {
    explore(SCHEDULES, || {
        let completion = Arc::new(Completion::new());
        let called = Arc::new(AtomicUsize::new(0));
        let other = completion.clone();
        let completer = thread::spawn(move || other.complete(7));
        let counter = called.clone();
        let watched = completion.watch(Box::new(move || {
            counter.fetch_add(1, Ordering::SeqCst);
        }));
        if !watched {
            assert!(completion.is_done());
        }
        completer.join().unwrap();
        assert_eq!(called.load(Ordering::SeqCst), usize::from(watched));
    });
}

#[test]
fn moved_or_dropped_future_leaves_no_waker_registered() {
    explore(SCHEDULES, || {
        let completion = Arc::new(Completion::new());
        let wakers: Vec<_> = (0..3).map(|_| Arc::new(CountingWaker(AtomicUsize::new(0)))).collect();
        let other = completion.clone();
        let completer = thread::spawn(move || other.complete(7));
        let (mut moved, mut gone) = (WakerSlot::default(), WakerSlot::default());
        let poll = |slot: &mut WakerSlot, waker: usize| {
            let waker = Waker::from(wakers[waker].clone());
            completion.poll(slot, &mut Context::from_waker(&waker))
        };
        let _ = poll(&mut moved, 0);
        let _ = poll(&mut gone, 1);
        completion.forget(&mut gone);
        let last = poll(&mut moved, 2);
        completer.join().unwrap();
        // Only the latest waker of the remaining future must be registered.
        if last.is_pending() {
            assert_eq!(wakers[2].0.load(Ordering::SeqCst), 1);
            assert_eq!(wakers[0].0.load(Ordering::SeqCst) + wakers[1].0.load(Ordering::SeqCst), 0);
        }
        assert!(wakers.iter().all(|waker| Arc::strong_count(waker) == 1));
    });
}

#[test]
fn next_blocks_until_an_item_or_close() {
    explore(SCHEDULES, || {
        let queue = Arc::new(WorkQueue::new());
        let pusher = {
            let queue = queue.clone();
            thread::spawn(move || {
                for _ in 0..2 {
                    queue.push(|sequence| sequence);
                    queue.notify();
                }
                queue.close();
            })
        };
        assert_eq!([queue.next(), queue.next(), queue.next()], [Some(1), Some(2), None]);
        pusher.join().unwrap();
    });
}

#[test]
fn every_item_is_handled_once_and_in_order_by_server_and_helpers() {
    explore(SCHEDULES, || {
        let queue = Arc::new(WorkQueue::new());
        let handled = Arc::new(Mutex::new(Vec::new()));
        let server = {
            let (queue, handled) = (queue.clone(), handled.clone());
            thread::spawn(move || queue.serve(|item: u64| handled.lock().push(item)))
        };
        let helper = {
            let (queue, handled) = (queue.clone(), handled.clone());
            thread::spawn(move || {
                queue.push(|sequence| sequence);
                queue.help(|item| handled.lock().push(item));
            })
        };
        queue.push(|sequence| sequence);
        queue.notify();
        queue.push(|sequence| sequence);
        queue.help(|item| handled.lock().push(item));
        helper.join().unwrap();
        queue.close();
        server.join().unwrap();
        assert_eq!(*handled.lock(), [1, 2, 3]);
    });
}

#[test]
fn helpers_drain_the_queue_without_a_server() {
    explore(SCHEDULES, || {
        let queue = Arc::new(WorkQueue::new());
        let handled = Arc::new(AtomicUsize::new(0));
        let helpers: Vec<_> = (0..3)
            .map(|_| {
                let (queue, handled) = (queue.clone(), handled.clone());
                thread::spawn(move || {
                    queue.push(|sequence| sequence);
                    queue.help(|_| {
                        handled.fetch_add(1, Ordering::SeqCst);
                    });
                })
            })
            .collect();
        for helper in helpers {
            helper.join().unwrap();
        }
        assert_eq!(handled.load(Ordering::SeqCst), 3);
    });
}
