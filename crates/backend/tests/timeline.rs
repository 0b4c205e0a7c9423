//! Single-threaded tests of timelines and events. Races are tested in `shuttle.rs`.

use inflight_backend::{Completion, Event, Timeline, WakerSlot};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

#[test]
fn event_is_reached_when_timeline_reaches_its_value() {
    let timeline = Timeline::new();
    let (early, late) = (timeline.event(2), timeline.event(5));
    assert!(!early.is_reached() && timeline.event(0).is_reached());
    timeline.signal(3);
    assert!(early.is_reached() && !late.is_reached());
    timeline.signal(1);
    assert_eq!(timeline.completed(), 3, "a timeline is monotonic");
    late.signal();
    assert_eq!(timeline.completed(), 5);
    late.wait();
}

#[test]
fn always_reached_event_is_reached() {
    let event = Event::reached();
    event.wait();
    event.signal();
    assert!(event.is_reached() && event.wait_timeout(Duration::ZERO));
    let calls = Arc::new(AtomicUsize::new(0));
    let seen = calls.clone();
    event.on_reached(Box::new(move || {
        seen.fetch_add(1, Ordering::SeqCst);
    }));
    assert_eq!(calls.load(Ordering::SeqCst), 1);
}

#[test]
fn wait_timeout_returns_whether_event_is_reached() {
    let timeline = Timeline::new();
    assert!(!timeline.event(1).wait_timeout(Duration::ZERO));
    timeline.signal(1);
    assert!(timeline.event(1).wait_timeout(Duration::MAX));
}

#[test]
fn events_compare_on_one_timeline_only() {
    let (a, b) = (Timeline::new(), Timeline::new());
    assert!(a.event(1).same_timeline(&a.event(9)));
    assert!(!a.event(1).same_timeline(&b.event(1)));
    assert!(!a.event(1).same_timeline(&Event::reached()));
    assert!(Event::reached().same_timeline(&Event::reached()));
    assert_eq!(a.event(9).value(), 9);
}

#[test]
fn callbacks_run_in_the_order_of_their_values() {
    let timeline = Timeline::new();
    let order = Arc::new(parking_lot::Mutex::new(Vec::new()));
    for value in [3, 1, 2, 1] {
        let order = order.clone();
        timeline.event(value).on_reached(Box::new(move || order.lock().push(value)));
    }
    timeline.signal(2);
    assert_eq!(*order.lock(), [1, 1, 2]);
    timeline.signal(3);
    assert_eq!(*order.lock(), [1, 1, 2, 3]);
}

#[test]
fn panicking_callback_does_not_stop_the_others() {
    let timeline = Timeline::new();
    let calls = Arc::new(AtomicUsize::new(0));
    for i in 0..3 {
        let calls = calls.clone();
        timeline.event(1).on_reached(Box::new(move || {
            calls.fetch_add(1, Ordering::SeqCst);
            assert_ne!(i, 0, "the first callback panics");
        }));
    }
    let panic = catch_unwind(AssertUnwindSafe(|| timeline.signal(1)));
    assert!(panic.is_err());
    assert_eq!(calls.load(Ordering::SeqCst), 3);
}

#[test]
fn panicking_waker_does_not_stop_other_callbacks() {
    struct Panics;
    impl std::task::Wake for Panics {
        fn wake(self: Arc<Panics>) {
            panic!("the waker panics");
        }
    }
    let completion = Completion::<u32>::new();
    let mut slot = WakerSlot::default();
    let waker = std::task::Waker::from(Arc::new(Panics));
    assert!(completion.poll(&mut slot, &mut std::task::Context::from_waker(&waker)).is_pending());
    let called = Arc::new(AtomicBool::new(false));
    let callback_flag = called.clone();
    assert!(completion.watch(Box::new(move || callback_flag.store(true, Ordering::Relaxed))));
    let panic = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| completion.complete(7)));
    assert!(panic.is_err(), "the panic is resumed");
    assert!(called.load(Ordering::Relaxed), "later callbacks still run");
    assert_eq!(completion.peek(|value| *value), Some(7));
}

#[test]
fn threads_waiting_for_different_values_are_all_woken() {
    let timeline = Timeline::new();
    let (awake, woken) = std::sync::mpsc::channel();
    let sleepers: Vec<_> = [5, 1, 3, 3, 2, 4]
        .into_iter()
        .map(|value| {
            let (event, awake) = (timeline.event(value), awake.clone());
            std::thread::spawn(move || {
                event.wait();
                awake.send(value).expect("the receiver exists");
            })
        })
        .collect();
    // Each signal wakes its waiters, no matter how many wait for larger values.
    for (value, count) in [(1, 1), (2, 1), (3, 2), (4, 1), (5, 1)] {
        timeline.signal(value);
        for _ in 0..count {
            assert_eq!(woken.recv(), Ok(value));
        }
    }
    sleepers.into_iter().for_each(|sleeper| sleeper.join().expect("the waiter was woken"));
}
