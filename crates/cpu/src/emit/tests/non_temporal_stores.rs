//! Large results written by non-temporal stores.

use super::*;
use inflight_ir::kernel::VectorAxis::Parallel;

/// Runs `y = x + x` in parts over the rows of a matrix with the given row stride and start offset, and checks
/// every element, including the padding between rows. Returns whether the streaming variant was compiled.
fn uses_non_temporal_stores(
    isa: Isa,
    rows: usize,
    columns: usize,
    stride: usize,
    offset_elements: usize,
) -> bool {
    let mut b = Builder::new(&[rows], &[], (Parallel, columns));
    let strides = [stride as isize, 1];
    let x = b.load(DType::F32, offset_elements as isize, &strides);
    let sum = b.binary(BinaryOp::Add, x, x);
    b.store(sum, offset_elements as isize, &strides);
    let code = compile(&b.kernel, isa).expect("the kernel compiles");
    // Buffers begin at multiples of 64 bytes.
    let elements = rows * stride + offset_elements;
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
            // SAFETY: the vectors contain every address of the access maps.
            unsafe { code.run(&call, &part, &mut Scratch::default()) };
        }
    }
    let (x, y) = (x.as_flattened(), y.as_flattened());
    for element in 0..elements {
        let within = element.checked_sub(offset_elements).is_some_and(|at| at % stride < columns);
        let expected = if within { 2.0 * x[x_first + element] } else { -1.0 };
        assert_eq!(y[y_first + element], expected, "element {element}");
    }
    code.streaming.get().is_some()
}

#[test]
fn large_aligned_results_use_non_temporal_stores() {
    for isa in [Isa::Avx512, Isa::Avx2].into_iter().filter(|isa| isa.is_present()) {
        assert!(uses_non_temporal_stores(isa, 1 << 12, 1 << 10, 1 << 10, 0));
        assert!(uses_non_temporal_stores(isa, 1 << 12, 1030, 1040, 16), "padded rows");
        assert!(!uses_non_temporal_stores(isa, 1 << 8, 1 << 10, 1 << 10, 0), "small");
        assert!(!uses_non_temporal_stores(isa, 1 << 12, 1030, 1030, 0), "unaligned rows");
        assert!(
            !uses_non_temporal_stores(isa, 1 << 12, 1 << 10, 1 << 10, 3),
            "unaligned first row"
        );
    }
}

/// A transposed matrix, alone or plus a contiguous one, both larger than the caches.
#[test]
fn large_transposed_results() {
    let (rows, columns) = (2112, 2048);
    for isa in [Isa::Avx512, Isa::Avx2].into_iter().filter(|isa| isa.is_present()) {
        for added in [false, true] {
            let mut b = Builder::new(&[rows], &[], (Parallel, columns));
            let x = b.load(DType::F32, 0, &[1, rows as isize]);
            let by_row = [columns as isize, 1];
            let y = added.then(|| b.load(DType::F32, 0, &by_row));
            let sum = y.map_or(x, |y| b.binary(BinaryOp::Add, x, y));
            b.store(sum, 0, &by_row);
            let code = compile(&b.kernel, isa).expect("the kernel compiles");
            let lines = rows * columns / 16;
            let x: Vec<[f32; 16]> = (0..lines + 1)
                .map(|line| std::array::from_fn(|lane| ((16 * line + lane) % 4093) as f32))
                .collect();
            let mut z = vec![[-1.0f32; 16]; lines + 2];
            let first = z.as_ptr().cast::<f32>().align_offset(64);
            let x_start = x.as_ptr().cast_mut().cast::<u8>();
            let z_start = z.as_mut_ptr().cast::<f32>().wrapping_add(first).cast::<u8>();
            let buffers: Vec<*mut u8> = match added {
                true => vec![x_start, x_start, z_start],
                false => vec![x_start, z_start],
            };
            let call = Call { buffers: &buffers, scalars: &[], shape: &b.shape };
            for grid in [0..1000, 1000..rows] {
                let part = Part { grid, vector: 0..columns };
                // SAFETY: the vectors contain every address of the access maps.
                unsafe { code.run(&call, &part, &mut Scratch::default()) };
            }
            let (x, z) = (x.as_flattened(), z.as_flattened());
            for row in 0..rows {
                for column in 0..columns {
                    let other = if added { x[row * columns + column] } else { 0.0 };
                    let expected = x[column * rows + row] + other;
                    assert_eq!(z[first + row * columns + column], expected, "{row} {column}");
                }
            }
            assert_eq!(z[first + rows * columns], -1.0);
        }
    }
}
