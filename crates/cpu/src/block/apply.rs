//! The loops: one function for each instruction and dtype, over the elements of a block.
//!
//! A loop is written once, as a [`Body`], and compiled twice: for what every CPU of the target has, and
//! for wide vectors with fused multiply-add where the target may have them. [`pick`] chooses when a
//! program is prepared.

use std::marker::PhantomData;
#[cfg(target_arch = "x86_64")]
use std::sync::OnceLock;

/// What one call of a [`Function`] works on. Which fields count depends on the function.
pub struct Arguments {
    /// The number of elements.
    pub count: usize,
    /// Where the results go. Overlaps none of the sources.
    pub target: *mut u8,
    /// The operands, as many as there are.
    pub sources: [*const u8; 3],
    /// Which sources are one element, repeated. Never all of them.
    pub splat: [bool; 3],
    /// What a fold or scan carries from block to block.
    pub state: *mut u8,
    /// The index of the first element, for arg-reductions.
    pub start: i64,
}

/// A loop over a block.
///
/// The pointers of the arguments must be aligned and valid for the dtypes that the function was made for,
/// for `count` elements or for one where `splat` is set.
pub type Function = unsafe fn(&Arguments);

/// A loop to be compiled for more than one instruction set: a zero-sized type.
pub trait Body: Copy {
    /// Runs the loop.
    ///
    /// # Safety
    /// As for [`Function`].
    unsafe fn run(self, arguments: &Arguments);
}

/// The function of a loop that suits this CPU best.
pub fn pick<B: Body>(_: B) -> Function {
    const { assert!(size_of::<B>() == 0, "a loop captures nothing") };
    #[cfg(target_arch = "x86_64")]
    if has_wide_vectors() {
        return wide::<B>;
    }
    portable::<B>
}

#[cfg(test)]
thread_local! {
    /// Makes [`pick`] choose what every CPU can run.
    pub static PORTABLE: std::cell::Cell<bool> = const { std::cell::Cell::new(false) };
}

/// Whether this CPU has what [`wide`] functions are compiled for.
#[cfg(target_arch = "x86_64")]
fn has_wide_vectors() -> bool {
    #[cfg(test)]
    if PORTABLE.get() {
        return false;
    }
    static HAS: OnceLock<bool> = OnceLock::new();
    *HAS.get_or_init(|| {
        is_x86_feature_detected!("avx2")
            && is_x86_feature_detected!("fma")
            && is_x86_feature_detected!("f16c")
    })
}

unsafe fn portable<B: Body>(arguments: &Arguments) {
    // SAFETY: `pick` was given a `B`, and asserts that it is zero-sized; the rest is the caller's promise.
    unsafe { std::ptr::NonNull::<B>::dangling().read().run(arguments) }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma,f16c")]
unsafe fn wide<B: Body>(arguments: &Arguments) {
    // SAFETY: as for `portable`.
    unsafe { std::ptr::NonNull::<B>::dangling().read().run(arguments) }
}

/// The elements of a source block.
///
/// # Safety
/// There are `count` of them, aligned, and nobody writes them meanwhile.
#[inline(always)]
pub unsafe fn block<'a, T>(source: *const u8, count: usize) -> &'a [T] {
    // SAFETY: the caller's promise.
    unsafe { std::slice::from_raw_parts(source.cast(), count) }
}

/// The elements of a target block.
///
/// # Safety
/// There are `count` of them, aligned, and nobody else touches them meanwhile.
#[inline(always)]
pub unsafe fn block_mut<'a, T>(target: *mut u8, count: usize) -> &'a mut [T] {
    // SAFETY: the caller's promise.
    unsafe { std::slice::from_raw_parts_mut(target.cast(), count) }
}

// Slices as parameters, not raw pointers: the compiler then knows that the target overlaps no source.

#[inline(always)]
fn map_one<A: Copy, R>(target: &mut [R], a: &[A], f: impl Fn(A) -> R) {
    for (target, &a) in target.iter_mut().zip(a) {
        *target = f(a);
    }
}

#[inline(always)]
fn map_two<A: Copy, B: Copy, R>(target: &mut [R], a: &[A], b: &[B], f: impl Fn(A, B) -> R) {
    for ((target, &a), &b) in target.iter_mut().zip(a).zip(b) {
        *target = f(a, b);
    }
}

#[inline(always)]
fn map_three<A: Copy, B: Copy, C: Copy, R>(
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

struct One<A, R, F>(F, PhantomData<fn(A) -> R>);
struct Two<A, B, R, F>(F, PhantomData<fn(A, B) -> R>);
struct Three<A, B, C, R, F>(F, PhantomData<fn(A, B, C) -> R>);

impl<A, R, F: Copy> Clone for One<A, R, F> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<A, R, F: Copy> Copy for One<A, R, F> {}
impl<A, B, R, F: Copy> Clone for Two<A, B, R, F> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<A, B, R, F: Copy> Copy for Two<A, B, R, F> {}
impl<A, B, C, R, F: Copy> Clone for Three<A, B, C, R, F> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<A, B, C, R, F: Copy> Copy for Three<A, B, C, R, F> {}

impl<A: Copy, R, F: Fn(A) -> R + Copy> Body for One<A, R, F> {
    #[inline(always)]
    unsafe fn run(self, arguments: &Arguments) {
        let &Arguments { count, target, sources: [a, ..], .. } = arguments;
        // SAFETY: the caller's promise.
        unsafe { map_one(block_mut(target, count), block(a, count), self.0) }
    }
}

impl<A: Copy, B: Copy, R, F: Fn(A, B) -> R + Copy> Body for Two<A, B, R, F> {
    #[inline(always)]
    unsafe fn run(self, arguments: &Arguments) {
        let &Arguments { count, target, sources: [a, b, _], splat, .. } = arguments;
        // SAFETY: the caller's promise.
        unsafe {
            let target = block_mut(target, count);
            match splat {
                [false, false, _] => map_two(target, block(a, count), block(b, count), self.0),
                [true, _, _] => {
                    let a: A = a.cast::<A>().read();
                    map_one(target, block(b, count), |b| (self.0)(a, b));
                }
                [false, true, _] => {
                    let b: B = b.cast::<B>().read();
                    map_one(target, block(a, count), |a| (self.0)(a, b));
                }
            }
        }
    }
}

impl<A: Copy, B: Copy, C: Copy, R, F: Fn(A, B, C) -> R + Copy> Body for Three<A, B, C, R, F> {
    #[inline(always)]
    unsafe fn run(self, arguments: &Arguments) {
        let &Arguments { count, target, sources: [a, b, c], splat, .. } = arguments;
        let f = self.0;
        // SAFETY: the caller's promise.
        unsafe {
            let target = block_mut(target, count);
            let one_a = || a.cast::<A>().read();
            let one_b = || b.cast::<B>().read();
            let one_c = || c.cast::<C>().read();
            match splat {
                [false, false, false] => {
                    map_three(target, block(a, count), block(b, count), block(c, count), f)
                }
                [true, false, false] => {
                    let a = one_a();
                    map_two(target, block(b, count), block(c, count), |b, c| f(a, b, c));
                }
                [false, true, false] => {
                    let b = one_b();
                    map_two(target, block(a, count), block(c, count), |a, c| f(a, b, c));
                }
                [false, false, true] => {
                    let c = one_c();
                    map_two(target, block(a, count), block(b, count), |a, b| f(a, b, c));
                }
                [true, true, _] => {
                    let (a, b) = (one_a(), one_b());
                    map_one(target, block(c, count), |c| f(a, b, c));
                }
                [true, false, true] => {
                    let (a, c) = (one_a(), one_c());
                    map_one(target, block(b, count), |b| f(a, b, c));
                }
                [false, true, true] => {
                    let (b, c) = (one_b(), one_c());
                    map_one(target, block(a, count), |a| f(a, b, c));
                }
            }
        }
    }
}

/// The function that applies `f` to each element.
pub fn one<A: Copy, R, F: Fn(A) -> R + Copy>(f: F) -> Function {
    pick(One(f, PhantomData))
}

/// The function that applies `f` to each pair of elements.
pub fn two<A: Copy, B: Copy, R, F: Fn(A, B) -> R + Copy>(f: F) -> Function {
    pick(Two(f, PhantomData))
}

/// The function that applies `f` to each three elements.
pub fn three<A: Copy, B: Copy, C: Copy, R, F: Fn(A, B, C) -> R + Copy>(f: F) -> Function {
    pick(Three(f, PhantomData))
}

/// Bits of an element of 16 bytes.
pub type Pair = [u64; 2];

#[derive(Clone, Copy)]
struct Fill<T>(PhantomData<T>);

impl<T: Copy> Body for Fill<T> {
    #[inline(always)]
    unsafe fn run(self, arguments: &Arguments) {
        // SAFETY: the caller's promise.
        unsafe {
            let value: T = arguments.sources[0].cast::<T>().read();
            block_mut(arguments.target, arguments.count).fill(value);
        }
    }
}

/// The function that repeats the one element of its source, of this many bytes.
pub fn fill(size: usize) -> Function {
    match size {
        1 => pick(Fill::<u8>(PhantomData)),
        2 => pick(Fill::<u16>(PhantomData)),
        4 => pick(Fill::<u32>(PhantomData)),
        8 => pick(Fill::<u64>(PhantomData)),
        _ => pick(Fill::<Pair>(PhantomData)),
    }
}

/// The function that copies elements of this many bytes.
pub fn copy(size: usize) -> Function {
    match size {
        1 => one(|a: u8| a),
        2 => one(|a: u16| a),
        4 => one(|a: u32| a),
        8 => one(|a: u64| a),
        _ => one(|a: Pair| a),
    }
}

/// The function of `mask ? a : b` on elements of this many bytes.
pub fn select(size: usize) -> Function {
    fn of<T: Copy>() -> Function {
        three(|mask: u8, a: T, b: T| if mask != 0 { a } else { b })
    }
    match size {
        1 => of::<u8>(),
        2 => of::<u16>(),
        4 => of::<u32>(),
        8 => of::<u64>(),
        _ => of::<Pair>(),
    }
}
