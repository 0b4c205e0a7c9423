//! Elementwise loops over blocks, with function multiversioning.
//!
//! A loop is written once, as a [`BlockLoop`], and compiled twice: for the baseline of the target, and for AVX2
//! with FMA. [`multiversion`] selects a version when a kernel is compiled.

use std::marker::PhantomData;
#[cfg(target_arch = "x86_64")]
use std::sync::OnceLock;

/// Arguments of a [`Function`]. Each function uses a subset of the fields.
pub struct LoopArguments {
    /// Number of elements.
    pub count: usize,
    /// Destination. Overlaps none of the sources.
    pub target: *mut u8,
    /// Operands, as many as the function has.
    pub sources: [*const u8; 3],
    /// Which sources are a single element, splat over the block. Never all of them.
    pub splat: [bool; 3],
    /// State of a reduction or scan, carried from block to block.
    pub state: *mut u8,
    /// Index of the first element, for arg-reductions.
    pub start: i64,
}

/// A loop over a block.
///
/// The pointers of the arguments must be aligned and valid for the function's dtypes, for `count` elements or for
/// one where `splat` is set.
pub type Function = unsafe fn(&LoopArguments);

/// A loop that is compiled for several instruction sets: a zero-sized type.
pub trait BlockLoop: Copy {
    /// Runs the loop.
    ///
    /// # Safety
    /// As for [`Function`].
    unsafe fn run(self, arguments: &LoopArguments);
}

/// Function multiversioning: returns the version of a loop for this CPU.
pub fn multiversion<B: BlockLoop>(_: B) -> Function {
    const { assert!(size_of::<B>() == 0, "a loop captures nothing") };
    #[cfg(target_arch = "x86_64")]
    if has_avx2() {
        return avx2::<B>;
    }
    baseline::<B>
}

#[cfg(test)]
thread_local! {
    /// Forces [`multiversion`] to select the baseline version.
    pub static FORCE_BASELINE: std::cell::Cell<bool> = const { std::cell::Cell::new(false) };
}

/// Whether this CPU supports the features that [`avx2`] enables.
#[cfg(target_arch = "x86_64")]
fn has_avx2() -> bool {
    #[cfg(test)]
    if FORCE_BASELINE.get() {
        return false;
    }
    static HAS: OnceLock<bool> = OnceLock::new();
    *HAS.get_or_init(|| {
        is_x86_feature_detected!("avx2")
            && is_x86_feature_detected!("fma")
            && is_x86_feature_detected!("f16c")
    })
}

unsafe fn baseline<B: BlockLoop>(arguments: &LoopArguments) {
    // SAFETY: `multiversion` received a `B` and asserts that it is zero-sized; the rest is guaranteed by the
    // caller.
    unsafe { std::ptr::NonNull::<B>::dangling().read().run(arguments) }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma,f16c")]
unsafe fn avx2<B: BlockLoop>(arguments: &LoopArguments) {
    // SAFETY: as for `baseline`.
    unsafe { std::ptr::NonNull::<B>::dangling().read().run(arguments) }
}

/// The elements of a source block.
///
/// # Safety
/// The pointer is aligned and valid for `count` elements, which nothing writes during `'a`.
#[inline(always)]
pub unsafe fn source_slice<'a, T>(source: *const u8, count: usize) -> &'a [T] {
    // SAFETY: guaranteed by the caller.
    unsafe { std::slice::from_raw_parts(source.cast(), count) }
}

/// The elements of a target block.
///
/// # Safety
/// The pointer is aligned and valid for `count` elements, which nothing else accesses during `'a`.
#[inline(always)]
pub unsafe fn target_slice<'a, T>(target: *mut u8, count: usize) -> &'a mut [T] {
    // SAFETY: guaranteed by the caller.
    unsafe { std::slice::from_raw_parts_mut(target.cast(), count) }
}

// Slice parameters instead of raw pointers tell the compiler that the target aliases no source.

#[inline(always)]
fn map_unary<A: Copy, R>(target: &mut [R], a: &[A], f: impl Fn(A) -> R) {
    for (target, &a) in target.iter_mut().zip(a) {
        *target = f(a);
    }
}

#[inline(always)]
fn map_binary<A: Copy, B: Copy, R>(target: &mut [R], a: &[A], b: &[B], f: impl Fn(A, B) -> R) {
    for ((target, &a), &b) in target.iter_mut().zip(a).zip(b) {
        *target = f(a, b);
    }
}

#[inline(always)]
fn map_ternary<A: Copy, B: Copy, C: Copy, R>(
    target: &mut [R],
    a: &[A],
    b: &[B],
    c: &[C],
    f: impl Fn(A, B, C) -> R,
) {
    for (((target, &a), &b), &c) in target.iter_mut().zip(a).zip(b).zip(c) {
        *target = f(a, b, c);
    }
}

struct UnaryLoop<A, R, F>(F, PhantomData<fn(A) -> R>);
struct BinaryLoop<A, B, R, F>(F, PhantomData<fn(A, B) -> R>);
struct TernaryLoop<A, B, C, R, F>(F, PhantomData<fn(A, B, C) -> R>);

impl<A, R, F: Copy> Clone for UnaryLoop<A, R, F> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<A, R, F: Copy> Copy for UnaryLoop<A, R, F> {}
impl<A, B, R, F: Copy> Clone for BinaryLoop<A, B, R, F> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<A, B, R, F: Copy> Copy for BinaryLoop<A, B, R, F> {}
impl<A, B, C, R, F: Copy> Clone for TernaryLoop<A, B, C, R, F> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<A, B, C, R, F: Copy> Copy for TernaryLoop<A, B, C, R, F> {}

impl<A: Copy, R, F: Fn(A) -> R + Copy> BlockLoop for UnaryLoop<A, R, F> {
    #[inline(always)]
    unsafe fn run(self, arguments: &LoopArguments) {
        let &LoopArguments { count, target, sources: [a, ..], .. } = arguments;
        // SAFETY: guaranteed by the caller.
        unsafe { map_unary(target_slice(target, count), source_slice(a, count), self.0) }
    }
}

impl<A: Copy, B: Copy, R, F: Fn(A, B) -> R + Copy> BlockLoop for BinaryLoop<A, B, R, F> {
    #[inline(always)]
    unsafe fn run(self, arguments: &LoopArguments) {
        let &LoopArguments { count, target, sources: [a, b, _], splat, .. } = arguments;
        // SAFETY: guaranteed by the caller.
        unsafe {
            let target = target_slice(target, count);
            match splat {
                [false, false, _] => {
                    map_binary(target, source_slice(a, count), source_slice(b, count), self.0)
                }
                [true, _, _] => {
                    let a: A = a.cast::<A>().read();
                    map_unary(target, source_slice(b, count), |b| (self.0)(a, b));
                }
                [false, true, _] => {
                    let b: B = b.cast::<B>().read();
                    map_unary(target, source_slice(a, count), |a| (self.0)(a, b));
                }
            }
        }
    }
}

impl<A: Copy, B: Copy, C: Copy, R, F: Fn(A, B, C) -> R + Copy> BlockLoop
    for TernaryLoop<A, B, C, R, F>
{
    #[inline(always)]
    unsafe fn run(self, arguments: &LoopArguments) {
        let &LoopArguments { count, target, sources: [a, b, c], splat, .. } = arguments;
        let f = self.0;
        // SAFETY: guaranteed by the caller.
        unsafe {
            let target = target_slice(target, count);
            let splat_a = || a.cast::<A>().read();
            let splat_b = || b.cast::<B>().read();
            let splat_c = || c.cast::<C>().read();
            match splat {
                [false, false, false] => map_ternary(
                    target,
                    source_slice(a, count),
                    source_slice(b, count),
                    source_slice(c, count),
                    f,
                ),
                [true, false, false] => {
                    let a = splat_a();
                    map_binary(target, source_slice(b, count), source_slice(c, count), |b, c| {
                        f(a, b, c)
                    });
                }
                [false, true, false] => {
                    let b = splat_b();
                    map_binary(target, source_slice(a, count), source_slice(c, count), |a, c| {
                        f(a, b, c)
                    });
                }
                [false, false, true] => {
                    let c = splat_c();
                    map_binary(target, source_slice(a, count), source_slice(b, count), |a, b| {
                        f(a, b, c)
                    });
                }
                [true, true, _] => {
                    let (a, b) = (splat_a(), splat_b());
                    map_unary(target, source_slice(c, count), |c| f(a, b, c));
                }
                [true, false, true] => {
                    let (a, c) = (splat_a(), splat_c());
                    map_unary(target, source_slice(b, count), |b| f(a, b, c));
                }
                [false, true, true] => {
                    let (b, c) = (splat_b(), splat_c());
                    map_unary(target, source_slice(a, count), |a| f(a, b, c));
                }
            }
        }
    }
}

/// Loop that applies `f` to each element.
pub fn unary_loop<A: Copy, R, F: Fn(A) -> R + Copy>(f: F) -> Function {
    multiversion(UnaryLoop(f, PhantomData))
}

/// Loop that applies `f` to each pair of elements.
pub fn binary_loop<A: Copy, B: Copy, R, F: Fn(A, B) -> R + Copy>(f: F) -> Function {
    multiversion(BinaryLoop(f, PhantomData))
}

/// Loop that applies `f` to each triple of elements.
pub fn ternary_loop<A: Copy, B: Copy, C: Copy, R, F: Fn(A, B, C) -> R + Copy>(f: F) -> Function {
    multiversion(TernaryLoop(f, PhantomData))
}

/// Bits of a 16-byte element.
pub type Bits128 = [u64; 2];

#[derive(Clone, Copy)]
struct Fill<T>(PhantomData<T>);

impl<T: Copy> BlockLoop for Fill<T> {
    #[inline(always)]
    unsafe fn run(self, arguments: &LoopArguments) {
        // SAFETY: guaranteed by the caller.
        unsafe {
            let value: T = arguments.sources[0].cast::<T>().read();
            target_slice(arguments.target, arguments.count).fill(value);
        }
    }
}

/// Loop that fills a block with one element of this many bytes.
pub fn fill(size: usize) -> Function {
    match size {
        1 => multiversion(Fill::<u8>(PhantomData)),
        2 => multiversion(Fill::<u16>(PhantomData)),
        4 => multiversion(Fill::<u32>(PhantomData)),
        8 => multiversion(Fill::<u64>(PhantomData)),
        _ => multiversion(Fill::<Bits128>(PhantomData)),
    }
}

/// Loop that copies elements of this many bytes.
pub fn copy(size: usize) -> Function {
    match size {
        1 => unary_loop(|a: u8| a),
        2 => unary_loop(|a: u16| a),
        4 => unary_loop(|a: u32| a),
        8 => unary_loop(|a: u64| a),
        _ => unary_loop(|a: Bits128| a),
    }
}

/// Loop of `mask ? a : b` on elements of this many bytes.
pub fn select(size: usize) -> Function {
    fn of<T: Copy>() -> Function {
        ternary_loop(|mask: u8, a: T, b: T| if mask != 0 { a } else { b })
    }
    match size {
        1 => of::<u8>(),
        2 => of::<u16>(),
        4 => of::<u32>(),
        8 => of::<u64>(),
        _ => of::<Bits128>(),
    }
}
