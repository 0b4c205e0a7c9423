//! Tests of the caching allocator over the system allocator.

use inflight_backend::{Buffer, FaultKind, Memory, MemoryStats, Pool, Timeline};
use std::alloc::Layout;
use std::ptr::NonNull;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

const ALIGN: usize = 64;

/// A pool, and the number of bytes it has allocated from the system.
fn pool() -> (Arc<Pool>, Arc<AtomicUsize>) {
    let held = Arc::new(AtomicUsize::new(0));
    let (more, less) = (held.clone(), held.clone());
    // SAFETY: blocks come from the system allocator, with the required alignment.
    let pool = unsafe {
        Pool::new(
            1 << 30,
            move |bytes| {
                more.fetch_add(bytes, Ordering::SeqCst);
                NonNull::new(std::alloc::alloc(Layout::from_size_align(bytes, ALIGN).ok()?))
            },
            move |ptr, bytes| {
                less.fetch_sub(bytes, Ordering::SeqCst);
                let layout = Layout::from_size_align(bytes, ALIGN)
                    .expect("the layout was valid for the allocation");
                std::alloc::dealloc(ptr.as_ptr(), layout);
            },
        )
    };
    (pool, held)
}

#[test]
fn last_freed_block_is_reused_first() {
    let (pool, _) = pool();
    let (a, b) = (pool.allocate(1000).unwrap(), pool.allocate(1000).unwrap());
    let (first, last) = (a.ptr(), b.ptr());
    drop(a);
    drop(b);
    let (c, d) = (pool.allocate(990).unwrap(), pool.allocate(1024).unwrap());
    assert_eq!((c.ptr(), d.ptr()), (last, first));
    let stats = pool.stats();
    assert_eq!((stats.allocations, stats.reuses, stats.in_use), (4, 2, 2014));
}

#[test]
fn large_cached_block_does_not_serve_small_request() {
    let (pool, _) = pool();
    drop(pool.allocate(4 << 20).unwrap());
    let small = pool.allocate(100).unwrap();
    assert_eq!(pool.stats().reuses, 0);
    drop(small);
    drop(pool.allocate((4 << 20) - 100_000).unwrap());
    assert_eq!(pool.stats().reuses, 1, "a slightly larger block is reused");
}

#[test]
fn every_size_is_aligned_writable_and_counted_as_requested() {
    let (pool, held) = pool();
    for bytes in [0, 1, 63, 64, 65, 80, 81, 1000, 65_537, (1 << 20) - 1, 1 << 20, (33 << 20) + 1] {
        let memory = pool.allocate(bytes).unwrap();
        assert_eq!((memory.bytes(), memory.ptr() as usize % ALIGN), (bytes, 0));
        // SAFETY: the memory has this many bytes.
        unsafe { memory.ptr().write_bytes(0xAB, bytes) };
        assert_eq!(pool.stats().in_use, bytes);
        let waste = held.load(Ordering::SeqCst) - bytes;
        assert!(waste <= (bytes / 4).max(64), "{waste} bytes wasted on {bytes}");
        drop(memory);
        pool.trim();
        assert_eq!(held.load(Ordering::SeqCst), 0);
    }
}

#[test]
fn exceeding_the_limit_is_an_error_and_dropping_makes_room() {
    let (pool, _) = pool();
    pool.set_limit(Some(1 << 20));
    let half = pool.allocate(600 << 10).unwrap();
    let fault = pool.allocate(600 << 10).unwrap_err();
    let (requested, limit) = (600 << 10, 1 << 20);
    assert_eq!(fault.kind, FaultKind::OutOfMemory { requested, in_use: requested, limit });
    drop(half);
    pool.allocate(600 << 10).unwrap();
    assert_eq!(pool.stats().failures, 1);
}

#[test]
fn cache_is_trimmed_before_the_limit_is_exceeded() {
    let (pool, held) = pool();
    pool.set_limit(Some(1 << 20));
    drop(pool.allocate(600 << 10).unwrap());
    assert!(pool.stats().cached >= 600 << 10);
    let _large = pool.allocate(1 << 20).unwrap();
    assert_eq!((pool.stats().cached, held.load(Ordering::SeqCst)), (0, 1 << 20));
}

#[test]
fn disabled_implicit_trim_refuses_until_explicit_trim() {
    let (pool, held) = pool();
    pool.set_limit(Some(1 << 20));
    pool.disable_implicit_trim();
    drop(pool.allocate(600 << 10).unwrap());
    let cached = held.load(Ordering::SeqCst);
    assert!(matches!(pool.allocate(1 << 20).unwrap_err().kind, FaultKind::OutOfMemory { .. }));
    assert_eq!((pool.stats().cached, pool.stats().in_use), (cached, 0), "nothing was released");
    assert_eq!(pool.trim(), cached);
    pool.allocate(1 << 20).unwrap();
}

#[test]
fn unused_reallocation_keeps_earlier_stream_uses() {
    let (pool, _) = pool();
    let timeline = Timeline::new();
    let memory = pool.allocate(1000).unwrap();
    let address = memory.ptr();
    memory.use_until(1, &timeline.event(1));
    drop(memory);
    // The stream gets the block again, but drops it unused.
    let again = pool.allocate_for(Some(1), 1000).unwrap();
    assert_eq!(again.ptr(), address);
    drop(again);
    let others = pool.allocate_for(Some(2), 1000).unwrap();
    assert_ne!(others.ptr(), address, "the earlier work of the stream is still in flight");
    timeline.signal(1);
    assert_eq!(pool.allocate_for(Some(2), 1000).unwrap().ptr(), address);
}

#[test]
fn exceeding_device_capacity_is_an_error() {
    let (pool, _) = pool();
    for bytes in [(1 << 30) + 1, usize::MAX, usize::MAX - 63] {
        let FaultKind::OutOfMemory { requested, limit, .. } =
            pool.allocate(bytes).unwrap_err().kind
        else {
            panic!("expected OutOfMemory");
        };
        assert_eq!((requested, limit), (bytes, 1 << 30));
    }
    // SAFETY: the pool never hands out memory.
    let empty = unsafe { Pool::new(1 << 30, |_| None, |_, _| unreachable!()) };
    assert!(matches!(empty.allocate(1).unwrap_err().kind, FaultKind::OutOfMemory { .. }));
    assert_eq!(empty.stats(), MemoryStats { failures: 1, peak: 1, ..MemoryStats::default() });
}

#[test]
fn cache_is_bounded() {
    let (pool, held) = pool();
    // Little memory in use, but many sizes, none of which can serve another.
    for i in 1..=40usize {
        drop(pool.allocate((i << 20) + (i << 20) / 4).unwrap());
    }
    let stats = pool.stats();
    assert!(stats.cached <= 256 << 20, "{stats:?}");
    assert_eq!(held.load(Ordering::SeqCst), stats.cached);
    assert_eq!(pool.trim(), stats.cached);
    assert_eq!(held.load(Ordering::SeqCst), 0);
}

#[test]
fn peak_is_the_maximum_since_reset() {
    let (pool, _) = pool();
    let small = pool.allocate(100).unwrap();
    drop(pool.allocate(5000).unwrap());
    assert_eq!(pool.stats().peak, 5100);
    pool.reset_peak();
    assert_eq!(pool.stats().peak, 100);
    drop(small);
}

#[test]
fn adopted_vector_is_not_copied_and_counted_separately() {
    let (pool, held) = pool();
    pool.set_limit(Some(0));
    let vector = vec![1.5f32, 2.5];
    let address = vector.as_ptr();
    let memory = pool.adopt(vector);
    assert_eq!((memory.ptr() as *const f32, memory.bytes()), (address, 8));
    assert_eq!((pool.stats().adopted, pool.stats().in_use), (8, 0));
    drop(Buffer::with_memory(memory));
    assert_eq!((pool.stats().adopted, held.load(Ordering::SeqCst)), (0, 0));
    assert_eq!(pool.adopt(Vec::<f64>::new()).bytes(), 0);
}

#[test]
fn memory_outlives_the_handle_of_its_pool() {
    let (pool, held) = pool();
    let memory = pool.allocate(10).unwrap();
    drop(pool);
    assert!(held.load(Ordering::SeqCst) > 0);
    drop(memory);
    assert_eq!(held.load(Ordering::SeqCst), 0);
}

#[test]
fn blocks_in_use_by_many_threads_never_overlap() {
    let (pool, held) = pool();
    std::thread::scope(|scope| {
        for thread in 0..4u8 {
            let pool = &pool;
            scope.spawn(move || {
                for i in 0..500usize {
                    let bytes = 1 + (i * 37) % 300;
                    let memory = pool.allocate(bytes).unwrap();
                    // SAFETY: the memory has this many bytes and is exclusive to this thread.
                    unsafe {
                        memory.ptr().write_bytes(thread, bytes);
                        let all = std::slice::from_raw_parts(memory.ptr(), bytes);
                        assert!(all.iter().all(|&byte| byte == thread));
                    }
                }
            });
        }
    });
    assert_eq!(pool.stats().in_use, 0);
    drop(pool);
    assert_eq!(held.load(Ordering::SeqCst), 0);
}

#[test]
fn first_fault_of_a_buffer_is_kept() {
    let buffer = Buffer::declare(4);
    assert!(buffer.readable().is_err(), "never written");
    buffer.fail(FaultKind::Panicked("first".into()).into());
    buffer.fail(FaultKind::Panicked("second".into()).into());
    assert_eq!(buffer.readable().unwrap_err().kind, FaultKind::Panicked("first".into()));
}

#[test]
fn memory_in_use_by_a_stream_is_reused_only_by_that_stream() {
    let (pool, _) = pool();
    let (one, two) = (Timeline::new(), Timeline::new());
    let memory = pool.allocate_for(Some(1), 1000).unwrap();
    let address = memory.ptr();
    memory.use_until(1, &one.event(1));
    memory.use_until(1, &one.event(3));
    drop(memory);
    let other = pool.allocate(1000).unwrap();
    assert_ne!(other.ptr(), address, "stream 1 still uses it");
    let another = pool.allocate_for(Some(2), 1000).unwrap();
    assert_ne!(another.ptr(), address);
    // The next work of the stream is ordered after its earlier work.
    let same = pool.allocate_for(Some(1), 1000).unwrap();
    assert_eq!(same.ptr(), address);
    same.use_until(1, &one.event(4));
    same.use_until(2, &two.event(1));
    drop(same);
    let next = pool.allocate_for(Some(1), 1000).unwrap();
    assert_ne!(next.ptr(), address, "stream 2 uses it as well");
    two.signal(1);
    let next = pool.allocate_for(Some(1), 1000).unwrap();
    assert_eq!(next.ptr(), address, "stream 1 may reuse it before its work is done");
    next.use_until(1, &one.event(5));
    drop(next);
    one.signal(4);
    let late = pool.allocate(1000).unwrap();
    assert_ne!(late.ptr(), address);
    one.signal(5);
    assert_eq!(pool.allocate(1000).unwrap().ptr(), address);
}

#[test]
fn blocks_with_work_in_flight_are_not_released() {
    let (pool, held) = pool();
    pool.set_cache_limit(Some(0));
    let stream = Timeline::new();
    let (used, unused) = (pool.allocate(1000).unwrap(), pool.allocate(1000).unwrap());
    used.use_until(1, &stream.event(1));
    drop(used);
    drop(unused);
    let left = held.load(Ordering::SeqCst);
    assert!(left > 0, "work in flight keeps it");
    assert_eq!(pool.stats().cached, left);
    assert_eq!(pool.trim(), 0);
    stream.signal(1);
    assert_eq!(pool.trim(), left);
    assert_eq!((held.load(Ordering::SeqCst), pool.stats().cached), (0, 0));
}

#[test]
fn allocation_hint_returns_block_at_same_address() {
    let (pool, _) = pool();
    let blocks: Vec<Memory> = (0..3).map(|_| pool.allocate(1000).unwrap()).collect();
    let addresses: Vec<usize> = blocks.iter().map(|block| block.ptr().addr()).collect();
    drop(blocks);
    let same = pool.allocate_at(None, 1000, Some(addresses[1])).unwrap();
    assert_eq!(same.ptr().addr(), addresses[1]);
    let other = pool.allocate_at(None, 1000, Some(addresses[1])).unwrap();
    assert_eq!(other.ptr().addr(), addresses[0], "the least recently freed block");
    let last = pool.allocate_at(None, 1000, Some(addresses[1])).unwrap();
    assert_eq!(last.ptr().addr(), addresses[2]);
}

#[test]
fn in_place_reuse_needs_the_only_reference() {
    let (pool, _) = pool();
    let stream = Timeline::new();
    let operand = Buffer::with_memory(pool.allocate(100).unwrap());
    let address = operand.memory().unwrap().ptr();
    let reader = operand.clone();
    assert!(!Buffer::declare(100).reuse_in_place(&operand, 1), "another reference exists");
    drop(reader);
    assert!(!Buffer::declare(50).reuse_in_place(&operand, 1), "sizes differ");
    operand.memory().unwrap().use_until(2, &stream.event(1));
    assert!(!Buffer::declare(100).reuse_in_place(&operand, 1), "another stream still reads it");
    stream.signal(1);
    let first = Buffer::declare(100);
    assert!(first.reuse_in_place(&operand, 1));
    assert!(!Buffer::declare(100).reuse_in_place(&first, 1), "the operand is still referenced");
    drop(operand);
    // Reused memory can be reused again.
    let second = Buffer::declare(100);
    assert!(second.reuse_in_place(&first, 1));
    drop(first);
    assert_eq!(second.memory().unwrap().ptr(), address);
    drop(second);
    assert_eq!(pool.stats().in_use, 0);
}
