//! Model-checked tests of timelines, buffers and the pool. Each test body runs under many thread
//! schedules; a lost wake-up shows as a deadlock.
//!
//! RUSTFLAGS="--cfg shuttle" cargo test -p inflight-backend --test shuttle
//!
//! Without the flag, the same bodies run on real threads.

use inflight_backend::sync::atomic::{AtomicUsize, Ordering};
use inflight_backend::sync::{MODEL_CHECKED, explore, thread};
use inflight_backend::{Buffer, FaultKind, Memory, Pool, Timeline};
use std::ptr::NonNull;
use std::sync::Arc;
use std::time::Duration;

fn check(body: impl Fn() + Send + Sync + 'static) {
    explore(if MODEL_CHECKED { 2000 } else { 50 }, body);
}

#[test]
fn waiter_is_always_woken() {
    check(|| {
        let timeline = Timeline::new();
        let waiters: Vec<_> = (1..=3)
            .map(|value| {
                let event = timeline.event(value);
                thread::spawn(move || {
                    event.wait();
                    assert!(event.is_reached());
                })
            })
            .collect();
        timeline.signal(1);
        timeline.signal(3);
        for waiter in waiters {
            waiter.join().unwrap();
        }
    });
}

#[test]
fn waiter_with_timeout_is_always_woken() {
    check(|| {
        let timeline = Timeline::new();
        let event = timeline.event(2);
        let waiter = thread::spawn(move || event.wait_timeout(Duration::MAX));
        timeline.signal(1);
        timeline.signal(2);
        assert!(waiter.join().unwrap());
    });
}

#[test]
fn callback_runs_exactly_once_and_only_when_reached() {
    check(|| {
        let timeline = Timeline::new();
        let calls = Arc::new(AtomicUsize::new(0));
        let registrars: Vec<_> = (1..=2)
            .map(|value| {
                let (event, calls) = (timeline.event(value), calls.clone());
                thread::spawn(move || {
                    let point = event.clone();
                    event.on_reached(Box::new(move || {
                        assert!(point.is_reached());
                        calls.fetch_add(1, Ordering::SeqCst);
                    }));
                })
            })
            .collect();
        let signaller = {
            let timeline = timeline.clone();
            thread::spawn(move || timeline.signal(1))
        };
        timeline.signal(2);
        signaller.join().unwrap();
        for registrar in registrars {
            registrar.join().unwrap();
        }
        assert_eq!(calls.load(Ordering::SeqCst), 2);
    });
}

#[test]
fn callback_may_signal_and_register_on_its_own_timeline() {
    check(|| {
        let timeline = Timeline::new();
        let (first, second, last) = (timeline.event(1), timeline.event(2), timeline.event(3));
        let chained = last.clone();
        first.on_reached(Box::new(move || {
            let last = chained;
            second.on_reached(Box::new(move || last.signal()));
            second.signal();
        }));
        let signaller = thread::spawn(move || first.signal());
        last.wait();
        signaller.join().unwrap();
        assert_eq!(timeline.completed(), 3);
    });
}

#[test]
fn timeline_is_monotonic() {
    check(|| {
        let timeline = Timeline::new();
        let signallers: Vec<_> = [3, 1, 2]
            .map(|value| {
                let timeline = timeline.clone();
                thread::spawn(move || {
                    timeline.signal(value);
                    assert!(timeline.completed() >= value);
                })
            })
            .into();
        let mut before = 0;
        for _ in 0..3 {
            let now = timeline.completed();
            assert!(now >= before);
            before = now;
        }
        for signaller in signallers {
            signaller.join().unwrap();
        }
        assert_eq!(timeline.completed(), 3);
    });
}

/// Memory that counts its releases.
fn counted(released: &Arc<AtomicUsize>) -> Memory {
    let released = released.clone();
    let release = Box::new(move || {
        released.fetch_add(1, Ordering::SeqCst);
    });
    // SAFETY: the memory is empty.
    unsafe { Memory::from_raw(NonNull::dangling(), 0, release) }
}

#[test]
fn buffer_accepts_one_memory_and_one_fault_and_frees_each_memory_once() {
    check(|| {
        let released = Arc::new(AtomicUsize::new(0));
        let buffer = Buffer::declare(0);
        let writers: Vec<_> = (0..2)
            .map(|i| {
                let (buffer, memory) = (buffer.clone(), counted(&released));
                thread::spawn(move || {
                    let accepted = buffer.provide(memory).is_ok();
                    assert!(buffer.memory().is_some());
                    buffer.fail(FaultKind::Panicked(i.to_string()).into());
                    accepted
                })
            })
            .collect();
        let reader = {
            let buffer = buffer.clone();
            thread::spawn(move || {
                let seen = buffer.fault().cloned();
                if let Some(seen) = seen {
                    assert_eq!(buffer.fault().map(|fault| &fault.kind), Some(&seen.kind));
                }
            })
        };
        let accepted =
            writers.into_iter().filter_map(|writer| writer.join().unwrap().then_some(()));
        assert_eq!(accepted.count(), 1);
        reader.join().unwrap();
        assert_eq!(released.load(Ordering::SeqCst), 1, "the refused memory is released");
        drop(buffer);
        assert_eq!(released.load(Ordering::SeqCst), 2);
    });
}

#[test]
fn concurrent_allocations_never_exceed_the_limit() {
    check(|| {
        let outstanding = Arc::new(AtomicUsize::new(0));
        let (allocated, released) = (outstanding.clone(), outstanding.clone());
        // SAFETY: the memory is never accessed.
        let pool = unsafe {
            Pool::new(
                usize::MAX,
                move |bytes| {
                    allocated.fetch_add(bytes, Ordering::SeqCst);
                    Some(NonNull::dangling())
                },
                move |_, bytes| {
                    released.fetch_sub(bytes, Ordering::SeqCst);
                },
            )
        };
        pool.set_limit(Some(128));
        let users: Vec<_> = (0..3)
            .map(|_| {
                let pool = pool.clone();
                thread::spawn(move || {
                    let memory = pool.allocate(64);
                    assert!(pool.stats().in_use <= 128);
                    drop(memory);
                    pool.trim();
                })
            })
            .collect();
        for user in users {
            user.join().unwrap();
        }
        assert!(pool.stats().peak <= 128);
        assert_eq!(pool.stats().in_use, 0);
        drop(pool);
        assert_eq!(outstanding.load(Ordering::SeqCst), 0, "every block is released");
    });
}
