//! Copies of small matrices with their axes exchanged.

/// A matrix in memory: a row is contiguous, and this many bytes lie between the starts of two rows.
#[derive(Clone, Copy)]
pub(super) struct Rows {
    pub(super) start: *mut u8,
    pub(super) step: isize,
}

impl Rows {
    fn at(self, row: usize, offset: usize) -> *mut u8 {
        self.start.wrapping_offset(self.step * row as isize + offset as isize)
    }
}

/// `to[column][row] = from[row][column]` for elements of 1, 2, 4 or 8 bytes.
///
/// # Safety
/// Both matrices are there, with the shape given and the other way around, and do not overlap. The CPU
/// has AVX2.
pub(super) unsafe fn transpose(size: usize, from: Rows, to: Rows, rows: usize, columns: usize) {
    // SAFETY: the caller's.
    unsafe {
        match size {
            1 => plain::<u8>(from, to, 0..rows, 0..columns),
            2 => plain::<u16>(from, to, 0..rows, 0..columns),
            4 => {
                let (whole_rows, whole_columns) = (rows & !7, columns & !7);
                for row in (0..whole_rows).step_by(8) {
                    for column in (0..whole_columns).step_by(8) {
                        square_of_8(from, to, row, column);
                    }
                }
                plain::<u32>(from, to, 0..whole_rows, whole_columns..columns);
                plain::<u32>(from, to, whole_rows..rows, 0..columns);
            }
            _ => {
                let (whole_rows, whole_columns) = (rows & !3, columns & !3);
                for row in (0..whole_rows).step_by(4) {
                    for column in (0..whole_columns).step_by(4) {
                        square_of_4(from, to, row, column);
                    }
                }
                plain::<u64>(from, to, 0..whole_rows, whole_columns..columns);
                plain::<u64>(from, to, whole_rows..rows, 0..columns);
            }
        }
    }
}

/// One element at a time, in squares, so that a line that was fetched is used up.
///
/// # Safety
/// As for [`transpose`], within these rows and columns.
unsafe fn plain<T: Copy>(
    from: Rows,
    to: Rows,
    rows: std::ops::Range<usize>,
    columns: std::ops::Range<usize>,
) {
    const SIDE: usize = 8;
    let size = size_of::<T>();
    for first in rows.clone().step_by(SIDE) {
        for column in columns.clone() {
            for row in first..rows.end.min(first + SIDE) {
                let source = from.at(row, column * size).cast::<T>();
                let target = to.at(column, row * size).cast::<T>();
                // SAFETY: the caller's.
                unsafe { target.write_unaligned(source.read_unaligned()) };
            }
        }
    }
}

/// 8 by 8 elements of 4 bytes.
///
/// # Safety
/// As for [`transpose`], within this square.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
unsafe fn square_of_8(from: Rows, to: Rows, row: usize, column: usize) {
    use std::arch::x86_64::*;
    let load = |index: usize| {
        // SAFETY: the caller's.
        unsafe { _mm256_loadu_ps(from.at(row + index, column * 4).cast()) }
    };
    let x: [__m256; 8] = std::array::from_fn(load);
    let mut pairs = x;
    for index in (0..8).step_by(2) {
        pairs[index] = _mm256_unpacklo_ps(x[index], x[index + 1]);
        pairs[index + 1] = _mm256_unpackhi_ps(x[index], x[index + 1]);
    }
    let mut fours = pairs;
    for index in [0, 4] {
        fours[index] = _mm256_shuffle_ps::<0x44>(pairs[index], pairs[index + 2]);
        fours[index + 1] = _mm256_shuffle_ps::<0xee>(pairs[index], pairs[index + 2]);
        fours[index + 2] = _mm256_shuffle_ps::<0x44>(pairs[index + 1], pairs[index + 3]);
        fours[index + 3] = _mm256_shuffle_ps::<0xee>(pairs[index + 1], pairs[index + 3]);
    }
    for index in 0..4 {
        let lower = _mm256_permute2f128_ps::<0x20>(fours[index], fours[index + 4]);
        let upper = _mm256_permute2f128_ps::<0x31>(fours[index], fours[index + 4]);
        // SAFETY: the caller's.
        unsafe {
            _mm256_storeu_ps(to.at(column + index, row * 4).cast(), lower);
            _mm256_storeu_ps(to.at(column + index + 4, row * 4).cast(), upper);
        }
    }
}

/// 4 by 4 elements of 8 bytes.
///
/// # Safety
/// As for [`transpose`], within this square.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
unsafe fn square_of_4(from: Rows, to: Rows, row: usize, column: usize) {
    use std::arch::x86_64::*;
    let load = |index: usize| {
        // SAFETY: the caller's.
        unsafe { _mm256_loadu_pd(from.at(row + index, column * 8).cast()) }
    };
    let x: [__m256d; 4] = std::array::from_fn(load);
    let low = [_mm256_unpacklo_pd(x[0], x[1]), _mm256_unpacklo_pd(x[2], x[3])];
    let high = [_mm256_unpackhi_pd(x[0], x[1]), _mm256_unpackhi_pd(x[2], x[3])];
    let columns = [
        _mm256_permute2f128_pd::<0x20>(low[0], low[1]),
        _mm256_permute2f128_pd::<0x20>(high[0], high[1]),
        _mm256_permute2f128_pd::<0x31>(low[0], low[1]),
        _mm256_permute2f128_pd::<0x31>(high[0], high[1]),
    ];
    for (index, values) in columns.into_iter().enumerate() {
        // SAFETY: the caller's.
        unsafe { _mm256_storeu_pd(to.at(column + index, row * 8).cast(), values) };
    }
}

/// No machine code runs on other CPUs, so this is never called there.
#[cfg(not(target_arch = "x86_64"))]
unsafe fn square_of_8(from: Rows, to: Rows, row: usize, column: usize) {
    // SAFETY: the caller's.
    unsafe { plain::<u32>(from, to, row..row + 8, column..column + 8) }
}

/// No machine code runs on other CPUs, so this is never called there.
#[cfg(not(target_arch = "x86_64"))]
unsafe fn square_of_4(from: Rows, to: Rows, row: usize, column: usize) {
    // SAFETY: the caller's.
    unsafe { plain::<u64>(from, to, row..row + 4, column..column + 4) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_size_and_shape() {
        for size in [1, 2, 4, 8] {
            for (rows, columns) in [(1, 1), (8, 8), (7, 19), (24, 16), (17, 33), (4, 40)] {
                let mut from: Vec<u8> = (0..rows * columns * size).map(|i| (i * 7) as u8).collect();
                let mut to = vec![0u8; from.len()];
                let source = Rows { start: from.as_mut_ptr(), step: (columns * size) as isize };
                let target = Rows { start: to.as_mut_ptr(), step: (rows * size) as isize };
                // SAFETY: both have `rows * columns` elements; the shape fits.
                unsafe { transpose(size, source, target, rows, columns) };
                for row in 0..rows {
                    for column in 0..columns {
                        let source = &from[(row * columns + column) * size..][..size];
                        let target = &to[(column * rows + row) * size..][..size];
                        assert_eq!(source, target, "{size} {rows} {columns}");
                    }
                }
            }
        }
    }
}
