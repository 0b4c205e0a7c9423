//! Results that go around the caches.

use super::*;
use inflight_ir::kernel::VectorAxis::Parallel;

/// Runs `y = x + x` over the rows of a matrix that are `stride` elements apart, the first of them `skipped`
/// elements behind the start, in parts. Looks at every element, those that nobody may write included, and
/// says whether the results went around the caches.
fn streams(isa: Isa, rows: usize, columns: usize, stride: usize, skipped: usize) -> bool {
    let mut b = Builder::new(&[rows], &[], (Parallel, columns));
    let strides = [stride as isize, 1];
    let x = b.load(DType::F32, skipped as isize, &strides);
    let sum = b.binary(BinaryOp::Add, x, x);
    b.store(sum, skipped as isize, &strides);
    let code = compile(&b.kernel, isa).expect("code");
    // Buffers begin at multiples of 64 bytes.
    let elements = rows * stride + skipped;
    let x: Vec<[f32; 16]> = (0..elements / 16 + 2).map(|i| [(i % 1000) as f32; 16]).collect();
    let mut y = vec![[-1.0f32; 16]; x.len()];
    let offset = |pointer: *const [f32; 16]| pointer.cast::<f32>().align_offset(64);
    let (x_first, y_first) = (offset(x.as_ptr()), offset(y.as_ptr()));
    let x_start = x.as_ptr().cast::<f32>().wrapping_add(x_first);
    let y_start = y.as_mut_ptr().cast::<f32>().wrapping_add(y_first);
    let buffers = [x_start.cast_mut().cast(), y_start.cast()];
    let call = Call { buffers: &buffers, scalars: &[], shape: &b.shape };
    for rows in [0..rows / 3, rows / 3..rows] {
        for vector in [0..columns.min(64), columns.min(64)..columns] {
            let part = Part { grid: rows.clone(), vector };
            // SAFETY: the vectors hold all that the maps lead to.
            unsafe { code.run(&call, &part, &mut Scratch::default()) };
        }
    }
    let (x, y) = (x.as_flattened(), y.as_flattened());
    for element in 0..elements {
        let within = element.checked_sub(skipped).is_some_and(|at| at % stride < columns);
        let expected = if within { 2.0 * x[x_first + element] } else { -1.0 };
        assert_eq!(y[y_first + element], expected, "element {element}");
    }
    code.streaming.get().is_some()
}

#[test]
fn large_results_that_lie_right_go_around_the_caches() {
    for isa in [Isa::Avx512, Isa::Avx2].into_iter().filter(|isa| isa.is_present()) {
        assert!(streams(isa, 1 << 11, 1 << 10, 1 << 10, 0));
        assert!(streams(isa, 1 << 11, 1030, 1040, 16), "rows with something between them");
        assert!(!streams(isa, 1 << 8, 1 << 10, 1 << 10, 0), "small");
        assert!(!streams(isa, 1 << 11, 1030, 1030, 0), "rows that begin anywhere");
        assert!(!streams(isa, 1 << 11, 1 << 10, 1 << 10, 3), "a first row that begins anywhere");
    }
}
