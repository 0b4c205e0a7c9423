//! What the memory gives: a pass over as many bytes as a work reads and writes, that does nothing else.

use memmap2::{Advice, MmapMut};
use std::hint::black_box;
use std::sync::Barrier;
use std::thread;
use std::time::Instant;

/// Bytes to read and bytes to write, by threads of its own that each have their part.
pub struct Pass {
    threads: usize,
    source: MmapMut,
    target: MmapMut,
}

/// What a part is a multiple of, so that parts share no line of the cache.
const LINE: usize = 64;

impl Pass {
    /// Reserves and fills the memory.
    pub fn new(read: usize, written: usize, threads: usize) -> std::io::Result<Pass> {
        Ok(Pass { threads, source: memory(read)?, target: memory(written)? })
    }

    /// The seconds of one pass, of so many without a pause between them.
    pub fn seconds(&mut self, repeats: usize) -> f64 {
        let threads = self.threads;
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
                pass(black_box(source), black_box(target));
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

/// Memory on pages as large as those of our own buffers.
fn memory(bytes: usize) -> std::io::Result<MmapMut> {
    let mut memory = MmapMut::map_anon(bytes.max(1).next_multiple_of(LINE))?;
    if cfg!(target_os = "linux") {
        // Large pages are a matter of speed alone.
        let _ = memory.advise(Advice::HugePage);
    }
    memory.fill(1);
    Ok(memory)
}

/// Copies as much as fits, and reads the rest.
fn pass(source: &[u8], target: &mut [u8]) {
    let copied = source.len().min(target.len());
    let (first, rest) = source.split_at(copied);
    let (filled, more) = target.split_at_mut(copied);
    filled.copy_from_slice(first);
    more.fill(2);
    black_box(folded(rest));
}

/// A value that depends on every byte.
fn folded(bytes: &[u8]) -> u64 {
    /// Words that are folded side by side: two lines of the cache.
    const WORDS: usize = 16;
    let (blocks, _) = bytes.as_chunks::<{ 8 * WORDS }>();
    let mut folded = [0u64; WORDS];
    for block in blocks {
        let (words, _) = block.as_chunks::<8>();
        for (folded, word) in folded.iter_mut().zip(words) {
            *folded ^= u64::from_ne_bytes(*word);
        }
    }
    folded.iter().fold(0, |all, word| all ^ word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pass_copies_and_reads() {
        let source: Vec<u8> = (0..1024).map(|i| i as u8).collect();
        let mut target = vec![0; 100];
        pass(&source, &mut target);
        assert_eq!(target, source[..100]);
        let mut longer = vec![0; 1100];
        pass(&source, &mut longer);
        assert_eq!(longer[..1024], source);
        assert_eq!(longer[1024..], [2; 76]);
    }

    #[test]
    fn every_byte_counts() {
        let mut bytes = vec![0u8; 4096];
        assert_eq!(folded(&bytes), 0);
        for position in [0, 7, 63, 64, 127, 128, 4095] {
            bytes[position] = 1;
            assert_ne!(folded(&bytes), 0, "byte {position}");
            bytes[position] = 0;
        }
    }

    #[test]
    fn any_number_of_threads_shares_a_pass() {
        for threads in 1..4 {
            for (read, written) in [(1 << 16, 1 << 16), (1 << 16, 4), (4 << 10, 3 << 10), (1, 1)] {
                let mut pass = Pass::new(read, written, threads).unwrap();
                assert!(pass.seconds(2) > 0.0);
            }
        }
    }
}
