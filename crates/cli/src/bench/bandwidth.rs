//! Memory bandwidth baseline: streams as many bytes as a workload reads and writes, without computing.
//!
//! Bytes are copied by `memcpy` or by a SIMD loop, whichever is faster for the size.

use memmap2::{Advice, MmapMut};
use pulp::{Arch, Simd, WithSimd};
use std::hint::black_box;
use std::sync::Barrier;
use std::thread;
use std::time::Instant;

/// Buffers to read and write, partitioned over threads.
pub struct Pass {
    threads: usize,
    copy: Copy,
    source: MmapMut,
    target: MmapMut,
}

/// Alignment of partitions, so that threads share no cache line.
const LINE: usize = 64;

impl Pass {
    /// Allocates and touches the memory.
    pub fn new(read: usize, written: usize, threads: usize) -> std::io::Result<Pass> {
        let (source, target) = (memory(read)?, memory(written)?);
        let mut pass = Pass { threads, copy: Copy::Library, source, target };
        let mut fastest = |copy| {
            pass.copy = copy;
            (0..5).map(|_| pass.seconds(3)).fold(f64::INFINITY, f64::min)
        };
        let vectors_win = fastest(Copy::Vectors) < fastest(Copy::Library);
        pass.copy = if vectors_win { Copy::Vectors } else { Copy::Library };
        Ok(pass)
    }

    /// Seconds of one pass, as the mean of `repeats` passes.
    pub fn seconds(&mut self, repeats: usize) -> f64 {
        let (threads, copy) = (self.threads, self.copy);
        let part = |bytes: usize| bytes.div_ceil(threads).next_multiple_of(LINE);
        let sources = self.source.chunks(part(self.source.len()));
        let target_part = part(self.target.len());
        let mut targets: Vec<&mut [u8]> = self.target.chunks_mut(target_part).collect();
        targets.resize_with(sources.len(), Default::default);
        let start = Barrier::new(sources.len());
        let span = |source, target: &mut [u8]| {
            start.wait();
            let begun = Instant::now();
            for _ in 0..repeats {
                pass(black_box(source), black_box(target), copy);
            }
            (begun, Instant::now())
        };
        let spans: Vec<(Instant, Instant)> = thread::scope(|scope| {
            let started: Vec<_> = sources
                .zip(targets)
                .map(|(source, target)| scope.spawn(|| span(source, target)))
                .collect();
            started
                .into_iter()
                .map(|thread| thread.join().expect("a pass does not panic"))
                .collect()
        });
        let begun = spans.iter().map(|span| span.0).min().expect("there is a thread");
        let ended = spans.iter().map(|span| span.1).max().expect("there is a thread");
        ended.duration_since(begun).as_secs_f64() / repeats as f64
    }
}

/// Memory on huge pages, as our own buffers.
fn memory(bytes: usize) -> std::io::Result<MmapMut> {
    let mut memory = MmapMut::map_anon(bytes.max(1).next_multiple_of(LINE))?;
    if cfg!(target_os = "linux") {
        // Failure is ignored: huge pages affect speed only.
        let _ = memory.advise(Advice::HugePage);
    }
    memory.fill(1);
    Ok(memory)
}

/// Copy method.
#[derive(Clone, Copy, Debug)]
enum Copy {
    /// By `memcpy`.
    Library,
    /// By a loop over the widest vectors of the processor.
    Vectors,
}

/// Copies as much as fits into the target, and reads the rest.
fn pass(source: &[u8], target: &mut [u8], copy: Copy) {
    let copied = source.len().min(target.len());
    let (first, rest) = source.split_at(copied);
    let (filled, more) = target.split_at_mut(copied);
    match copy {
        Copy::Library => filled.copy_from_slice(first),
        // The compiler would turn a plain copy loop into `memcpy`, so the loop mixes in a value it cannot see through.
        Copy::Vectors => {
            Arch::new().dispatch(Mixed { source: first, target: filled, mix: black_box(0) })
        }
    }
    more.fill(2);
    black_box(Arch::new().dispatch(Folded(rest)));
}

/// Writes each word of the source, XORed with a constant.
struct Mixed<'a> {
    source: &'a [u8],
    target: &'a mut [u8],
    mix: u64,
}

impl WithSimd for Mixed<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        let (sources, last) = self.source.as_chunks::<8>();
        let (targets, end) = self.target.as_chunks_mut::<8>();
        for (target, source) in targets.iter_mut().zip(sources) {
            *target = (u64::from_ne_bytes(*source) ^ self.mix).to_ne_bytes();
        }
        end.copy_from_slice(last);
    }
}

/// Folds all words into a value that depends on every byte.
struct Folded<'a>(&'a [u8]);

impl WithSimd for Folded<'_> {
    type Output = u64;

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) -> u64 {
        let (words, _) = self.0.as_chunks::<8>();
        let mut folded = 0;
        for word in words {
            folded ^= u64::from_ne_bytes(*word);
        }
        folded
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pass_copies_and_reads() {
        let source: Vec<u8> = (0..1024).map(|i| i as u8).collect();
        for copy in [Copy::Library, Copy::Vectors] {
            let mut target = vec![0; 101];
            pass(&source, &mut target, copy);
            assert_eq!(target, source[..101], "{copy:?}");
            let mut longer = vec![0; 1100];
            pass(&source, &mut longer, copy);
            assert_eq!(longer[..1024], source, "{copy:?}");
            assert_eq!(longer[1024..], [2; 76], "{copy:?}");
        }
    }

    #[test]
    fn folded_value_depends_on_every_byte() {
        let mut bytes = vec![0u8; 4096];
        let folded = |bytes: &[u8]| Arch::new().dispatch(Folded(bytes));
        assert_eq!(folded(&bytes), 0);
        for position in [0, 7, 63, 64, 127, 128, 255, 256, 4095] {
            bytes[position] = 1;
            assert_ne!(folded(&bytes), 0, "byte {position}");
            bytes[position] = 0;
        }
    }

    #[test]
    fn passes_are_partitioned_over_any_thread_count() {
        for threads in 1..4 {
            for (read, written) in [(1 << 16, 1 << 16), (1 << 16, 4), (4 << 10, 3 << 10), (1, 1)] {
                let mut pass = Pass::new(read, written, threads).unwrap();
                assert!(pass.seconds(2) > 0.0);
            }
        }
    }
}
