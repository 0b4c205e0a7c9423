use super::*;
use inflight_backend::{FaultKind, Priority};
use std::collections::HashSet;
use std::sync::atomic::AtomicBool;

#[test]
fn every_chunk_runs_once_in_nested_loops_from_several_threads() {
    let workers = Workers::start(3).unwrap();
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..20 {
                    let seen: Vec<_> = (0..17 * 5).map(|_| AtomicUsize::new(0)).collect();
                    let outer = workers.parallel_for(17, &|i| {
                        let inner = workers.parallel_for(5, &|j| {
                            seen[i * 5 + j].fetch_add(1, Ordering::Relaxed);
                        });
                        assert_eq!(inner, Ok(()));
                    });
                    assert_eq!(outer, Ok(()));
                    assert!(seen.iter().all(|count| count.load(Ordering::Relaxed) == 1));
                }
            });
        }
    });
}

#[test]
fn a_loop_runs_on_exactly_the_configured_threads() {
    let workers = Workers::start(3).unwrap();
    let inside = Mutex::new(HashSet::new());
    let full = Condvar::new();
    // Each chunk blocks until three threads are inside: with fewer the test hangs, with more the count is wrong.
    let result = workers.parallel_for(3, &|_| {
        let mut threads = inside.lock();
        threads.insert(thread::current().id());
        full.notify_all();
        while threads.len() < 3 {
            full.wait(&mut threads);
        }
    });
    assert_eq!((result, inside.lock().len()), (Ok(()), 3));
    assert!(inside.lock().contains(&thread::current().id()), "the caller takes part");

    let threads = Mutex::new(HashSet::new());
    workers
        .parallel_for(1000, &|_| {
            threads.lock().insert(thread::current().id());
        })
        .unwrap();
    assert!(threads.lock().len() <= 3);
}

#[test]
fn a_panic_in_a_chunk_is_an_error_and_the_workers_survive() {
    let workers = Workers::start(2).unwrap();
    let result = workers.parallel_for(100, &|i| assert_ne!(i, 7, "the seventh fails"));
    assert!(result.unwrap_err().to_string().contains("the seventh fails"));
    let alone = FaultKind::Panicked("alone".to_string());
    assert_eq!(workers.parallel_for(1, &|_| panic!("alone")), Err(alone));
    assert_eq!(workers.parallel_for(100, &|_| {}), Ok(()));
    assert_eq!(workers.parallel_for(0, &|_| unreachable!()), Ok(()));
}

#[test]
fn queued_tasks_run_before_shutdown_even_if_one_panics() {
    let ran = Arc::new(AtomicUsize::new(0));
    let workers = Workers::start(2).unwrap();
    for i in 0..50 {
        let ran = ran.clone();
        workers.spawn(
            Priority::Normal,
            Box::new(move || {
                ran.fetch_add(1, Ordering::Relaxed);
                assert_ne!(i, 3, "one task fails");
            }),
        );
    }
    drop(workers);
    assert_eq!(ran.load(Ordering::Relaxed), 50);
}

#[test]
fn a_worker_may_drop_the_last_handle() {
    let workers = Arc::new(Workers::start(2).unwrap());
    let (sender, receiver) = std::sync::mpsc::channel();
    let (last, dropped) = (workers.clone(), sender);
    let wait = Arc::new(AtomicBool::new(true));
    let waiting = wait.clone();
    workers.spawn(
        Priority::Normal,
        Box::new(move || {
            while waiting.load(Ordering::Acquire) {
                hint::spin_loop();
            }
            drop(last);
            dropped.send(()).unwrap();
        }),
    );
    drop(workers);
    wait.store(false, Ordering::Release);
    receiver.recv().unwrap();
}

#[test]
fn threads_are_named() {
    let workers = Workers::start(1).unwrap();
    let (sender, receiver) = std::sync::mpsc::channel();
    workers.spawn(
        Priority::Normal,
        Box::new(move || {
            sender.send(thread::current().name().map(String::from)).unwrap();
        }),
    );
    assert_eq!(receiver.recv().unwrap().as_deref(), Some("inflight-cpu-0"));
}

#[test]
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
fn subnormals_are_flushed_to_zero_inside_loops_only() {
    let halve = || std::hint::black_box(f32::MIN_POSITIVE) / std::hint::black_box(2.0);
    let workers = Workers::start(2).unwrap();
    let flushed = AtomicUsize::new(0);
    workers
        .parallel_for(50, &|_| {
            flushed.fetch_add((halve() == 0.0) as usize, Ordering::Relaxed);
        })
        .unwrap();
    assert_eq!(flushed.load(Ordering::Relaxed), 50);
    assert!(halve() > 0.0, "restored on the calling thread");
    let (sender, receiver) = std::sync::mpsc::channel();
    workers.spawn(Priority::Normal, Box::new(move || sender.send(halve() > 0.0).unwrap()));
    assert!(receiver.recv().unwrap(), "tasks compute with subnormals");
}

#[test]
fn tasks_run_in_priority_order() {
    let workers = Workers::start(1).unwrap();
    let (release, released) = std::sync::mpsc::channel::<()>();
    let (begun, has_begun) = std::sync::mpsc::channel();
    workers.spawn(
        Priority::Low,
        Box::new(move || {
            begun.send(()).unwrap();
            released.recv().unwrap();
        }),
    );
    has_begun.recv().unwrap();
    let (sender, receiver) = std::sync::mpsc::channel();
    let order = [Priority::Low, Priority::High, Priority::Normal, Priority::High, Priority::Low];
    for (index, priority) in order.into_iter().enumerate() {
        assert_eq!(workers.has_tasks_above(priority), order[..index].iter().any(|&p| p > priority));
        assert_eq!(
            workers.has_tasks_at_or_above(priority),
            order[..index].iter().any(|&p| p >= priority)
        );
        let sender = sender.clone();
        workers.spawn(priority, Box::new(move || sender.send(index).unwrap()));
    }
    release.send(()).unwrap();
    let ran: Vec<usize> = (0..order.len()).map(|_| receiver.recv().unwrap()).collect();
    assert_eq!(ran, [1, 3, 2, 0, 4]);
}

#[test]
fn a_helping_waiter_runs_chunks_until_its_condition_is_true() {
    let workers = Workers::start(2).unwrap();
    // Both workers are busy, so that only the helping waiter can help.
    let (busy, done) =
        (Arc::new((Mutex::new(0), Condvar::new())), Arc::new(AtomicBool::new(false)));
    for _ in 0..2 {
        let (busy, done) = (busy.clone(), done.clone());
        let task = move || {
            *busy.0.lock() += 1;
            busy.1.notify_all();
            while !done.load(Ordering::Acquire) {
                thread::yield_now();
            }
        };
        workers.spawn(Priority::Normal, Box::new(task));
    }
    let mut count = busy.0.lock();
    while *count < 2 {
        busy.1.wait(&mut count);
    }
    drop(count);
    thread::scope(|scope| {
        let owner = thread::current().id();
        let (workers, done) = (&workers, &done);
        scope.spawn(move || {
            while !done.load(Ordering::Acquire) {
                workers.help_until(|| done.load(Ordering::Acquire), || Some(owner));
            }
        });
        let (inside, full) = (Mutex::new(0), Condvar::new());
        // Each chunk blocks until both have begun.
        let result = workers.parallel_for(2, &|_| {
            let mut threads = inside.lock();
            *threads += 1;
            full.notify_all();
            while *threads < 2 {
                full.wait(&mut threads);
            }
        });
        done.store(true, Ordering::Release);
        assert_eq!(result, Ok(()));
    });
}

#[test]
fn a_helping_waiter_ignores_loops_of_other_threads() {
    let workers = Workers::start(2).unwrap();
    let (begun, done) = (AtomicBool::new(false), AtomicBool::new(false));
    let by = Mutex::new(Vec::new());
    thread::scope(|scope| {
        let other = scope.spawn(|| {
            let result = workers.parallel_for(64, &|_| {
                begun.store(true, Ordering::Release);
                by.lock().push(thread::current().id());
                while !done.load(Ordering::Acquire) {
                    thread::yield_now();
                }
            });
            assert_eq!(result, Ok(()));
        });
        while !begun.load(Ordering::Acquire) {
            thread::yield_now();
        }
        // The awaited thread has no loop.
        workers.help_until(|| false, || None);
        done.store(true, Ordering::Release);
        other.join().unwrap();
    });
    assert!(!by.lock().contains(&thread::current().id()));
}
