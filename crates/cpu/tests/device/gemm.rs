//! GEMM of every dtype, with dense, transposed, padded, reversed and broadcast operands, against a reference loop.

use crate::support::{Queue, buffer, device, elements, label};
use half::{bf16, f16};
use inflight_backend::{Buffer, Command, GemmLaunch, GemmOperand, Memory};
use inflight_ir::{Element, Scalar};
use num_complex::Complex;
use smallvec::SmallVec;
use std::sync::Arc;

/// A linear congruential generator.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        ((self.0 >> 33) % limit as u64) as usize
    }

    fn flip(&mut self) -> bool {
        self.below(2) == 1
    }
}

/// The strided layout of an operand.
#[derive(Clone, Debug)]
struct Layout {
    extents: Vec<usize>,
    strides: Vec<isize>,
    offset: isize,
    elements: usize,
}

impl Layout {
    fn dense(extents: &[usize]) -> Layout {
        let mut strides = vec![1; extents.len()];
        for axis in (1..extents.len()).rev() {
            strides[axis - 1] = strides[axis] * extents[axis] as isize;
        }
        let elements = extents.iter().product();
        Layout { extents: extents.to_vec(), strides, offset: 0, elements }
    }

    /// A random layout: axes in any order, with gaps, reversed, and, if `repeats`, with strides of zero.
    fn random(random: &mut Random, extents: &[usize], repeats: bool) -> Layout {
        let mut order: Vec<usize> = (0..extents.len()).collect();
        for i in (1..order.len()).rev() {
            order.swap(i, random.below(i + 1));
        }
        let mut layout = Layout {
            extents: extents.to_vec(),
            strides: vec![0; extents.len()],
            offset: 0,
            elements: 0,
        };
        let mut next = if random.flip() { 1 } else { 1 + random.below(3) as isize };
        let (mut lowest, mut highest) = (0, 0);
        for axis in order {
            if repeats && random.below(5) == 0 {
                continue;
            }
            let reach = next * extents[axis].saturating_sub(1) as isize;
            layout.strides[axis] = if random.below(4) == 0 { -next } else { next };
            if layout.strides[axis] < 0 {
                lowest -= reach;
            } else {
                highest += reach;
            }
            next = next * extents[axis].max(1) as isize + random.below(2) as isize * 3;
        }
        let before = random.below(4) as isize;
        layout.offset = before - lowest;
        layout.elements = (highest - lowest + before + 1) as usize;
        layout
    }

    /// The offset of the matrix of a batch index.
    fn batch(&self, index: &[usize]) -> isize {
        let steps = index.iter().zip(&self.strides).map(|(&i, stride)| i as isize * stride);
        self.offset + steps.sum::<isize>()
    }

    /// The index of an element of the matrix at offset `batch`.
    fn at(&self, batch: isize, row: usize, column: usize) -> usize {
        let rank = self.strides.len();
        let (rows, columns) = (self.strides[rank - 2], self.strides[rank - 1]);
        usize::try_from(batch + row as isize * rows + column as isize * columns).unwrap()
    }

    fn operand(&self, buffer: &Arc<Buffer>) -> GemmOperand {
        let rank = self.extents.len();
        GemmOperand {
            buffer: buffer.clone(),
            offset: self.offset,
            batch_strides: self.strides[..rank - 2].into(),
            row_stride: self.strides[rank - 2],
            column_stride: self.strides[rank - 1],
        }
    }
}

/// Exact reference arithmetic of an element type.
trait Exact: Element {
    type Sum: Copy + Default;
    fn value(random: &mut Random) -> Self;
    fn multiply_add(sum: Self::Sum, a: Self, b: Self) -> Self::Sum;
    fn round(sum: Self::Sum) -> Self;
}

macro_rules! exact_integers {
    ($($type:ty),*) => {$(
        impl Exact for $type {
            type Sum = i128;
            fn value(random: &mut Random) -> $type {
                (random.below(1 << 30) as i128 * random.below(1 << 30) as i128) as $type
            }
            fn multiply_add(sum: i128, a: $type, b: $type) -> i128 {
                sum.wrapping_add((a as i128).wrapping_mul(b as i128))
            }
            fn round(sum: i128) -> $type {
                sum as $type
            }
        }
    )*};
}

exact_integers!(i8, i16, i32, i64, u8, u16, u32, u64);

impl Exact for bool {
    type Sum = bool;
    fn value(random: &mut Random) -> bool {
        random.below(4) == 0
    }
    fn multiply_add(sum: bool, a: bool, b: bool) -> bool {
        sum || (a && b)
    }
    fn round(sum: bool) -> bool {
        sum
    }
}

// Small integers: every sum is exact in `f32` in any order, so the expected result is unique.
macro_rules! exact_floats {
    ($($type:ty, $from:expr);*) => {$(
        impl Exact for $type {
            type Sum = i64;
            fn value(random: &mut Random) -> $type {
                $from(random.below(17) as f64 - 8.0)
            }
            fn multiply_add(sum: i64, a: $type, b: $type) -> i64 {
                sum + a.to_scalar().to_i64() * b.to_scalar().to_i64()
            }
            fn round(sum: i64) -> $type {
                $from(sum as f64)
            }
        }
    )*};
}

exact_floats!(f16, f16::from_f64; bf16, bf16::from_f64; f32, |x| x as f32; f64, |x| x);

macro_rules! exact_complex {
    ($($part:ty),*) => {$(
        impl Exact for Complex<$part> {
            type Sum = Complex<f64>;
            fn value(random: &mut Random) -> Self {
                let mut part = || random.below(17) as $part - 8.0;
                Complex::new(part(), part())
            }
            fn multiply_add(sum: Complex<f64>, a: Self, b: Self) -> Complex<f64> {
                let wide = |z: Self| Complex::new(z.re as f64, z.im as f64);
                sum + wide(a) * wide(b)
            }
            fn round(sum: Complex<f64>) -> Self {
                Complex::new(sum.re as $part, sum.im as $part)
            }
        }
    )*};
}

exact_complex!(f32, f64);

/// Compares one GEMM on the device with the reference loop, element by element. Memory between the elements of the
/// result must be unchanged.
fn compare<T: Exact>(
    queue: &mut Queue,
    random: &mut Random,
    batch: &[usize],
    [m, n, k]: [usize; 3],
    layouts: [Layout; 3],
) {
    let [a, b, c] = &layouts;
    let mut values =
        |layout: &Layout| (0..layout.elements).map(|_| T::value(random)).collect::<Vec<T>>();
    let (left, right, before) = (values(a), values(b), values(c));
    let mut expected = before.clone();
    let mut index = vec![0; batch.len()];
    for flat in 0..batch.iter().product::<usize>() {
        let mut rest = flat;
        for axis in (0..batch.len()).rev() {
            index[axis] = rest % batch[axis];
            rest /= batch[axis];
        }
        let [in_a, in_b, in_c] = [a, b, c].map(|layout| layout.batch(&index));
        for row in 0..m {
            for column in 0..n {
                let sum = (0..k).fold(T::Sum::default(), |sum, i| {
                    T::multiply_add(sum, left[a.at(in_a, row, i)], right[b.at(in_b, i, column)])
                });
                expected[c.at(in_c, row, column)] = T::round(sum);
            }
        }
    }
    let result = buffer(before);
    crate::support::enqueue(
        &queue.stream,
        Command::Gemm(Box::new(GemmLaunch {
            dtype: T::DTYPE,
            batch: SmallVec::from_slice(batch),
            m,
            n,
            k,
            a: a.operand(&buffer(left)),
            b: b.operand(&buffer(right)),
            c: c.operand(&result),
            prologue: None,
            epilogue: None,
            label: label(),
        })),
    );
    let actual = queue.read::<T>(&result).unwrap();
    if let Some(i) = (0..actual.len()).find(|&i| actual[i] != expected[i]) {
        let (actual, expected) = (actual[i], expected[i]);
        panic!(
            "{}: batch {batch:?}, {m}x{n}x{k}, element {i}: {actual:?}, expected {expected:?}\n{layouts:#?}",
            T::DTYPE
        );
    }
}

fn extents(batch: &[usize], [m, n, k]: [usize; 3]) -> [Vec<usize>; 3] {
    [[m, k], [k, n], [m, n]].map(|matrix| [batch, &matrix].concat())
}

fn check_dtype<T: Exact>() {
    let device = device(3);
    let mut queue = Queue::new(&device);
    let mut random = Random(T::DTYPE as u64 + 1);
    let dense: &[(&[usize], [usize; 3])] = &[
        (&[], [1, 1, 1]),
        (&[], [4, 5, 0]),
        (&[], [0, 5, 3]),
        (&[0], [2, 2, 2]),
        (&[], [3, 7, 1]),
        (&[], [1, 300, 70]),
        (&[], [300, 1, 70]),
        (&[], [5, 67, 600]),
        (&[], [130, 140, 90]),
        (&[7], [33, 31, 65]),
        (&[2, 3], [4, 9, 5]),
        (&[600], [9, 8, 7]),
    ];
    for &(batch, sizes) in dense {
        let layouts = extents(batch, sizes).map(|extents| Layout::dense(&extents));
        compare::<T>(&mut queue, &mut random, batch, sizes, layouts);
    }
    for _ in 0..60 {
        let batch: Vec<usize> = (0..random.below(3)).map(|_| 1 + random.below(4)).collect();
        let limit = if random.below(4) == 0 { 90 } else { 12 };
        let sizes = [0; 3].map(|_| 1 + random.below(limit));
        let mut which = 0;
        let layouts = extents(&batch, sizes).map(|extents| {
            which += 1;
            Layout::random(&mut random, &extents, which < 3)
        });
        compare::<T>(&mut queue, &mut random, &batch, sizes, layouts);
    }
    // A right operand shared by the batch: the batch folds into one taller matrix.
    let (batch, sizes) = ([6usize], [20, 40, 30]);
    let mut layouts = extents(&batch, sizes).map(|extents| Layout::dense(&extents));
    layouts[1].strides[0] = 0;
    compare::<T>(&mut queue, &mut random, &batch, sizes, layouts);
}

macro_rules! every_dtype {
    ($($name:ident: $type:ty,)*) => {$(
        #[test]
        fn $name() {
            check_dtype::<$type>();
        }
    )*};
}

every_dtype! {
    bools: bool,
    i8s: i8,
    i16s: i16,
    i32s: i32,
    i64s: i64,
    u8s: u8,
    u16s: u16,
    u32s: u32,
    u64s: u64,
    f16s: f16,
    bf16s: bf16,
    f32s: f32,
    f64s: f64,
    complex64s: Complex<f32>,
    complex128s: Complex<f64>,
}

/// The sums exceed the exact range of 16-bit floats: an accumulator of 16 bits would give a different result.
#[test]
fn f16_and_bf16_accumulate_in_f32_and_round_once() {
    fn check<T: Exact>() {
        let mut queue = Queue::new(&device(2));
        let sizes = [40, 50, 3000];
        let layouts = extents(&[], sizes).map(|extents| Layout::dense(&extents));
        compare::<T>(&mut queue, &mut Random(9), &[], sizes, layouts);
        let transposed = extents(&[], sizes).map(|extents| {
            let mut layout = Layout::dense(&[extents[1], extents[0]]);
            layout.extents.reverse();
            layout.strides.reverse();
            layout
        });
        compare::<T>(&mut queue, &mut Random(9), &[], sizes, transposed);
    }
    check::<f16>();
    check::<bf16>();
}

/// Compares fractions with sums in `f64`: the error is at most `k` roundings of the sum of magnitudes.
#[test]
fn f32_error_is_within_the_rounding_bound() {
    let mut queue = Queue::new(&device(2));
    let mut random = Random(5);
    let [m, n, k] = [70, 90, 500];
    let mut values = |count: usize| {
        (0..count)
            .map(|_| random.below(1 << 24) as f32 / (1 << 23) as f32 - 1.0)
            .collect::<Vec<f32>>()
    };
    let (a, b) = (values(m * k), values(k * n));
    let result = Buffer::declare(m * n * 4);
    let layouts = extents(&[], [m, n, k]).map(|extents| Layout::dense(&extents));
    crate::support::enqueue(
        &queue.stream,
        Command::Gemm(Box::new(GemmLaunch {
            dtype: f32::DTYPE,
            batch: SmallVec::new(),
            m,
            n,
            k,
            a: layouts[0].operand(&buffer(a.clone())),
            b: layouts[1].operand(&buffer(b.clone())),
            c: layouts[2].operand(&result),
            prologue: None,
            epilogue: None,
            label: label(),
        })),
    );
    let actual = queue.read::<f32>(&result).unwrap();
    for row in 0..m {
        for column in 0..n {
            let products = (0..k).map(|i| a[row * k + i] as f64 * b[i * n + column] as f64);
            let (sum, magnitude) =
                products.fold((0.0, 0.0), |(sum, magnitude), x| (sum + x, magnitude + x.abs()));
            let error = (actual[row * n + column] as f64 - sum).abs();
            assert!(error <= k as f64 * f32::EPSILON as f64 / 2.0 * magnitude);
        }
    }
}

/// The previous contents of the result, here NaN, do not affect it, for any `k` including 0.
#[test]
fn result_is_independent_of_previous_contents() {
    let mut queue = Queue::new(&device(1));
    for k in [0, 1, 2, 3, 40] {
        let layouts = extents(&[], [3, 5, k]).map(|extents| Layout::dense(&extents));
        let result = Buffer::with_memory(Memory::adopt(vec![f32::NAN; 15]));
        crate::support::enqueue(
            &queue.stream,
            Command::Gemm(Box::new(GemmLaunch {
                dtype: f32::DTYPE,
                batch: SmallVec::new(),
                m: 3,
                n: 5,
                k,
                a: layouts[0].operand(&buffer(vec![1.0f32; 3 * k])),
                b: layouts[1].operand(&buffer(vec![2.0f32; 5 * k])),
                c: layouts[2].operand(&result),
                prologue: None,
                epilogue: None,
                label: label(),
            })),
        );
        assert_eq!(queue.read::<f32>(&result).unwrap(), vec![2.0 * k as f32; 15]);
    }
    assert_eq!(elements::<u16>(&Scalar::one(u16::DTYPE).to_bytes()[..2]), [1]);
}
