//! Strides, broadcasts, masks, positions and launch parts.

use super::*;
use inflight_ir::kernel::VectorAxis::Parallel;

const DTYPES: [DType; 7] =
    [DType::Bool, DType::I8, DType::F16, DType::BF16, DType::F32, DType::F64, DType::U64];

#[test]
fn strided_loads_and_stores() {
    for dtype in DTYPES {
        for count in 0..40 {
            for (load, store) in [(3, 1), (1, 3), (-2, 5), (0, 1), (7, -3)] {
                let mut b = Builder::flat(count);
                let start = |stride: isize| (-stride).max(0) * count as isize;
                let x = b.load(dtype, start(load), &[load]);
                let y = b.load(dtype, 0, &[1]);
                let z = b.binary(BinaryOp::Max, x, y);
                b.store(z, start(store), &[store]);
                b.check(0.0);
            }
        }
    }
}

#[test]
fn grids_of_every_rank_with_broadcasts() {
    for grid in [&[][..], &[5], &[3, 4], &[2, 3, 2], &[2, 1, 3, 2]] {
        let rows = grid.iter().product::<usize>();
        for count in [1, 5, 16, 33] {
            let mut b = Builder::new(grid, &[], (Parallel, count));
            let mut strides = vec![1isize; grid.len() + 1];
            for axis in (0..grid.len()).rev() {
                let inner = if axis + 1 < grid.len() { grid[axis + 1] } else { count };
                strides[axis] = strides[axis + 1] * inner as isize;
            }
            // A per-row broadcast and a row shared by all programs.
            let mut per_row = strides.clone();
            per_row[grid.len()] = 0;
            let mut shared = vec![0; grid.len() + 1];
            shared[grid.len()] = 1;
            let x = b.load(DType::F32, 0, &strides);
            let y = b.load(DType::F32, 0, &per_row);
            let z = b.load(DType::F32, 0, &shared);
            let sum = b.binary(BinaryOp::Add, x, y);
            let sum = b.binary(BinaryOp::Mul, sum, z);
            b.store(sum, 0, &strides);
            b.check(0.0);
            assert_eq!(whole_launch(&b.shape, grid.len()).grid.len(), rows);
        }
    }
}

#[test]
fn pure_transposes() {
    for dtype in DTYPES {
        for (rows, columns) in [(1, 1), (3, 70), (70, 3), (130, 67), (64, 128)] {
            let mut b = Builder::new(&[rows], &[], (Parallel, columns));
            let x = b.load(dtype, 0, &[1, rows as isize]);
            b.store(x, 0, &[columns as isize, 1]);
            b.check(0.0);
        }
    }
}

#[test]
fn transposed_loads_and_stores_with_arithmetic() {
    for dtype in DTYPES {
        for (rows, columns) in [(5, 3), (70, 130), (64, 64)] {
            let (r, c) = (rows as isize, columns as isize);
            let mut b = Builder::new(&[2, rows], &[], (Parallel, columns));
            let x = b.load(dtype, 0, &[r * c, 1, r]);
            let y = b.load(dtype, 3, &[r * c, c, 1]);
            let z = b.load(dtype, 0, &[0, 1, 0]);
            let maximum = b.binary(BinaryOp::Max, x, y);
            let maximum = b.binary(BinaryOp::Max, maximum, z);
            b.store(maximum, 0, &[r * c, 1, r]);
            b.store(x, 0, &[r * c, c, 1]);
            b.check(0.0);
            let split = columns / 2;
            let parts = [(0..rows + 2, 0..split), (0..rows + 2, split..columns)]
                .into_iter()
                .chain([(rows + 2..2 * rows, 0..columns)])
                .map(|(grid, vector)| Part { grid, vector });
            b.check_parts(0.0, &[], &parts.collect::<Vec<_>>());
        }
    }
}

#[test]
fn masked_transposes() {
    let mut b = Builder::new(&[40], &[], (Parallel, 50));
    let mask = b.load(DType::Bool, 0, &[50, 1]);
    let x = b.load_masked(DType::F32, 0, &[1, 40], Some(mask));
    b.store(x, 0, &[50, 1]);
    b.store_masked(x, 0, &[1, 40], Some(mask));
    b.check(0.0);
}

#[test]
fn more_accesses_than_pointer_registers() {
    let mut b = Builder::new(&[4], &[], (Parallel, 37));
    let mut sum = b.load(DType::F32, 0, &[37, 1]);
    for _ in 0..14 {
        let x = b.load(DType::F32, 0, &[37, 1]);
        sum = b.binary(BinaryOp::Add, sum, x);
        b.store(sum, 0, &[37, 1]);
    }
    b.check(0.0);
}

#[test]
fn masked_loads_and_stores() {
    for dtype in DTYPES {
        for count in [0, 1, 7, 16, 31, 45] {
            for stride in [0, 1, 2] {
                for stored in [1, 3] {
                    let mut b = Builder::flat(count);
                    let mask = b.load(DType::Bool, 0, &[1]);
                    let x = b.load_masked(dtype, 0, &[stride], Some(mask));
                    b.store(x, 0, &[stored]);
                    let other = b.unary(UnaryOp::Not, mask);
                    b.store_masked(x, 0, &[stored], Some(other));
                    b.check(0.0);
                }
            }
        }
    }
}

#[test]
fn masked_off_lanes_are_not_loaded() {
    // A window over a shorter buffer: positions outside it are masked off.
    for (dtype, stride) in [(DType::F32, 1), (DType::F64, 1), (DType::U8, 1), (DType::F32, 2)] {
        let count = 50;
        let mut b = Builder::flat(count);
        let position = b.position(DType::I32, -9, &[1]);
        let zero = b.constant(0i32);
        let end = b.constant(20i32);
        let above = b.compare(CompareOp::Ge, position, zero);
        let below = b.compare(CompareOp::Lt, position, end);
        let inside = b.binary(BinaryOp::And, above, below);
        let x = b.load_masked(dtype, -9 * stride, &[stride], Some(inside));
        b.store(x, 0, &[1]);
        for isa in [Isa::Avx512, Isa::Avx2].into_iter().filter(|isa| isa.is_present()) {
            let code = compile(&b.kernel, isa).expect("the kernel compiles");
            let size = dtype.size();
            let window = GuardPageBuffer::new(20 * stride as usize * size);
            let mut output = vec![0xffu8; count * size];
            let buffers = [window.start, output.as_mut_ptr()];
            let call = Call { buffers: &buffers, scalars: &[], shape: &b.shape };
            // SAFETY: the mask keeps the loads inside the window; an out-of-bounds load hits the guard page.
            unsafe { code.run(&call, &whole_launch(&b.shape, 0), &mut Scratch::default()) };
            for (index, actual) in output.chunks_exact(size).enumerate() {
                let expected = if (9..29).contains(&index) { 0x11 } else { 0 };
                assert!(actual.iter().all(|&byte| byte == expected), "{isa:?} {dtype} {index}");
            }
        }
    }
}

#[test]
fn accesses_stay_inside_the_buffers() {
    for dtype in DTYPES {
        for count in [1, 3, 15, 16, 17, 40, 63] {
            for stride in [1, 2] {
                let mut b = Builder::flat(count);
                let x = b.load(dtype, 0, &[stride]);
                let y = b.load(dtype, 0, &[0]);
                let z = b.binary(BinaryOp::Max, x, y);
                b.store(z, 0, &[1]);
                b.store(x, 0, &[stride]);
                for isa in [Isa::Avx512, Isa::Avx2].into_iter().filter(|isa| isa.is_present()) {
                    let code = compile(&b.kernel, isa).expect("the kernel compiles");
                    let size = dtype.size();
                    let strided = ((count - 1) * stride as usize + 1) * size;
                    let buffers = [strided, size, count * size, strided].map(GuardPageBuffer::new);
                    let pointers = [0, 1, 2, 3].map(|index| buffers[index].start);
                    let call = Call { buffers: &pointers, scalars: &[], shape: &b.shape };
                    // SAFETY: each buffer ends with its last element; an out-of-bounds access hits the guard
                    // page.
                    unsafe { code.run(&call, &whole_launch(&b.shape, 0), &mut Scratch::default()) };
                }
            }
        }
    }
}

/// A buffer that ends at an inaccessible guard page.
struct GuardPageBuffer {
    mapping: *mut u8,
    mapped: usize,
    start: *mut u8,
}

impl GuardPageBuffer {
    fn new(len: usize) -> GuardPageBuffer {
        let pages = len.next_multiple_of(4096);
        // SAFETY: a fresh mapping, written within its writable part.
        unsafe {
            let mapping = libc::mmap(
                std::ptr::null_mut(),
                pages + 4096,
                libc::PROT_NONE,
                libc::MAP_PRIVATE | libc::MAP_ANONYMOUS,
                -1,
                0,
            );
            assert_ne!(mapping, libc::MAP_FAILED);
            let access = libc::PROT_READ | libc::PROT_WRITE;
            assert_eq!(libc::mprotect(mapping, pages, access), 0);
            let start = mapping.cast::<u8>().add(pages - len);
            start.write_bytes(0x11, len);
            GuardPageBuffer { mapping: mapping.cast(), mapped: pages + 4096, start }
        }
    }
}

impl Drop for GuardPageBuffer {
    fn drop(&mut self) {
        // SAFETY: this value owns the mapping.
        unsafe { libc::munmap(self.mapping.cast(), self.mapped) };
    }
}

#[test]
fn positions_follow_their_access_maps() {
    for dtype in [DType::I32, DType::I64] {
        for strides in [[40, 1], [1, 3], [7, 0], [-5, -2]] {
            let mut b = Builder::new(&[4], &[], (Parallel, 37));
            let position = b.position(dtype, 11, &strides);
            b.store(position, 0, &[37, 1]);
            let x = b.cast(position, DType::F32);
            if dtype == DType::I32 {
                b.store(x, 0, &[37, 1]);
            }
            b.check(0.0);
        }
    }
}

#[test]
fn parts_cover_the_whole_launch() {
    let mut b = Builder::new(&[3, 5], &[], (Parallel, 150));
    let x = b.load(DType::F32, 0, &[750, 150, 1]);
    let y = b.load(DType::F32, 0, &[5, 1, 0]);
    let z = b.binary(BinaryOp::Mul, x, y);
    b.store(z, 0, &[750, 150, 1]);
    let mut parts = Vec::new();
    for grid in [0..4, 4..5, 5..13, 13..15] {
        for vector in [0..64, 64..128, 128..150] {
            parts.push(Part { grid: grid.clone(), vector });
        }
    }
    b.check_parts(0.0, &[], &parts);
    let empty = Part { grid: 2..2, vector: 0..150 };
    parts.push(empty);
    b.check_parts(0.0, &[], &parts);
}

#[test]
fn empty_domains_write_nothing() {
    for (rows, columns) in [(0, 5), (5, 0), (0, 0)] {
        let mut b = Builder::new(&[rows], &[], (Parallel, columns));
        let x = b.load(DType::F32, 0, &[columns as isize, 1]);
        let y = b.load(DType::F32, 0, &[1, 0]);
        let z = b.binary(BinaryOp::Add, x, y);
        b.store(z, 0, &[columns as isize, 1]);
        b.check(0.0);
    }
}

#[test]
fn unsupported_kernels_name_the_op() {
    let mut b = Builder::flat(8);
    let x = b.load(DType::C64, 0, &[1]);
    b.store(x, 0, &[1]);
    assert!(b.compiles(Isa::Avx512).is_err());
    let mut b = Builder::flat(8);
    let x = b.load(DType::I32, 0, &[1]);
    let y = b.binary(BinaryOp::Div, x, x);
    b.store(y, 0, &[1]);
    let error = b.compiles(Isa::Avx2).expect_err("no vector instruction divides integers");
    assert_eq!(error.to_string(), "no machine code for divide of i32".replace("divide", "div"));
}
