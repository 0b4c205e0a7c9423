//! In-register matrix transposes with AVX2 unpack, shuffle and permute instructions.

/// A matrix with contiguous rows and a row stride in bytes.
#[derive(Clone, Copy)]
pub(super) struct StridedMatrix {
    pub(super) start: *mut u8,
    pub(super) row_stride: isize,
}

impl StridedMatrix {
    fn at(self, row: usize, offset: usize) -> *mut u8 {
        self.start.wrapping_offset(self.row_stride * row as isize + offset as isize)
    }
}

/// Cache policy of the stores.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum StorePolicy {
    /// Regular stores.
    Cached,
    /// Non-temporal stores of full cache lines. Requires 4- or 8-byte elements and target rows aligned to a cache
    /// line; [`fence`] must follow.
    NonTemporal,
}

/// Prefetch distance along a source row, in bytes.
const PREFETCH_DISTANCE: usize = 128;

/// `to[column][row] = from[row][column]` for elements of 1, 2, 4 or 8 bytes.
///
/// # Safety
/// `from` is valid for reads as a `rows` × `columns` matrix, `to` for writes as a `columns` × `rows` matrix, and
/// they do not overlap. The CPU supports AVX2.
pub(super) unsafe fn transpose(
    size: usize,
    from: StridedMatrix,
    to: StridedMatrix,
    rows: usize,
    columns: usize,
    stores: StorePolicy,
) {
    // SAFETY: guaranteed by the caller.
    unsafe {
        match size {
            1 => transpose_tiles::<u8, 16, 16>(from, to, rows, columns, transpose_16x16_u8),
            2 => transpose_tiles::<u16, 8, 8>(from, to, rows, columns, transpose_8x8_u16),
            4 => match stores {
                StorePolicy::Cached => transpose_tiles::<u32, 16, 8>(
                    from,
                    to,
                    rows,
                    columns,
                    transpose_16x8_u32::<false>,
                ),
                StorePolicy::NonTemporal => transpose_tiles::<u32, 16, 8>(
                    from,
                    to,
                    rows,
                    columns,
                    transpose_16x8_u32::<true>,
                ),
            },
            _ => match stores {
                StorePolicy::Cached => transpose_tiles::<u64, 8, 4>(
                    from,
                    to,
                    rows,
                    columns,
                    transpose_8x4_u64::<false>,
                ),
                StorePolicy::NonTemporal => {
                    transpose_tiles::<u64, 8, 4>(from, to, rows, columns, transpose_8x4_u64::<true>)
                }
            },
        }
    }
}

/// Store fence: orders non-temporal stores before later stores, so that other threads see them.
pub(super) fn fence(stores: StorePolicy) {
    #[cfg(target_arch = "x86_64")]
    if stores == StorePolicy::NonTemporal {
        // SAFETY: SSE is part of every x86-64 processor.
        unsafe { std::arch::x86_64::_mm_sfence() };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = stores;
}

/// Prefetches the first bytes of each row into the L2 cache; they exceed the capacity of L1.
pub(super) fn prefetch_rows(from: StridedMatrix, rows: usize, bytes: usize) {
    #[cfg(target_arch = "x86_64")]
    for row in 0..rows {
        for offset in (0..bytes).step_by(64) {
            use std::arch::x86_64::{_MM_HINT_T1, _mm_prefetch};
            // SAFETY: a prefetch does not fault at any address.
            unsafe { _mm_prefetch::<_MM_HINT_T1>(from.at(row, offset).cast()) };
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (from, rows, bytes);
}

/// Transposes the `ROWS` × `COLUMNS` tile at a row and a column.
type TileKernel = unsafe fn(from: StridedMatrix, to: StridedMatrix, row: usize, column: usize);

/// Transposes tile by tile, down the rows first, so that each target line is completed before the next. The
/// remainder is transposed by scalar code.
///
/// # Safety
/// As for [`transpose`].
unsafe fn transpose_tiles<T: Copy, const ROWS: usize, const COLUMNS: usize>(
    from: StridedMatrix,
    to: StridedMatrix,
    rows: usize,
    columns: usize,
    tile_kernel: TileKernel,
) {
    let (whole_rows, whole_columns) = (rows / ROWS * ROWS, columns / COLUMNS * COLUMNS);
    // SAFETY: guaranteed by the caller.
    unsafe {
        for column in (0..whole_columns).step_by(COLUMNS) {
            for row in (0..whole_rows).step_by(ROWS) {
                tile_kernel(from, to, row, column);
            }
        }
        transpose_scalar::<T>(from, to, 0..whole_rows, whole_columns..columns);
        transpose_scalar::<T>(from, to, whole_rows..rows, 0..columns);
    }
}

/// Scalar transpose, blocked so that every fetched line is used completely.
///
/// # Safety
/// As for [`transpose`], within these rows and columns.
unsafe fn transpose_scalar<T: Copy>(
    from: StridedMatrix,
    to: StridedMatrix,
    rows: std::ops::Range<usize>,
    columns: std::ops::Range<usize>,
) {
    const TILE_SIDE: usize = 8;
    let size = size_of::<T>();
    for first in rows.clone().step_by(TILE_SIDE) {
        for column in columns.clone() {
            for row in first..rows.end.min(first + TILE_SIDE) {
                let source = from.at(row, column * size).cast::<T>();
                let target = to.at(column, row * size).cast::<T>();
                // SAFETY: guaranteed by the caller.
                unsafe { target.write_unaligned(source.read_unaligned()) };
            }
        }
    }
}

#[cfg(target_arch = "x86_64")]
use avx2::{transpose_8x4_u64, transpose_8x8_u16, transpose_16x8_u32, transpose_16x16_u8};

/// AVX2 tile kernels. They contain no closures, because a closure would be compiled without AVX2.
#[cfg(target_arch = "x86_64")]
mod avx2 {
    use super::{PREFETCH_DISTANCE, StridedMatrix};
    use std::arch::x86_64::*;

    /// Transposes 16 × 8 elements of 4 bytes into 8 cache lines of the target.
    ///
    /// # Safety
    /// As for [`transpose`](super::transpose), within this tile. With `NON_TEMPORAL`, the target lines are
    /// aligned.
    #[target_feature(enable = "avx2")]
    pub(super) unsafe fn transpose_16x8_u32<const NON_TEMPORAL: bool>(
        from: StridedMatrix,
        to: StridedMatrix,
        row: usize,
        column: usize,
    ) {
        // SAFETY: guaranteed by the caller; a prefetch does not fault.
        unsafe {
            if column.is_multiple_of(16) {
                for index in 0..16 {
                    let ahead = from.at(row + index, column * 4 + PREFETCH_DISTANCE);
                    _mm_prefetch::<_MM_HINT_T0>(ahead.cast());
                }
            }
            let top = load_transposed_8x8_u32(from, row, column);
            let bottom = load_transposed_8x8_u32(from, row + 8, column);
            for index in 0..8 {
                let target = to.at(column + index, row * 4).cast::<f32>();
                if NON_TEMPORAL {
                    _mm256_stream_ps(target, top[index]);
                    _mm256_stream_ps(target.wrapping_add(8), bottom[index]);
                } else {
                    _mm256_storeu_ps(target, top[index]);
                    _mm256_storeu_ps(target.wrapping_add(8), bottom[index]);
                }
            }
        }
    }

    /// Loads 8 × 8 elements of 4 bytes transposed.
    ///
    /// # Safety
    /// As for [`transpose`](super::transpose), within this tile.
    #[target_feature(enable = "avx2")]
    #[inline]
    unsafe fn load_transposed_8x8_u32(
        from: StridedMatrix,
        row: usize,
        column: usize,
    ) -> [__m256; 8] {
        let mut x = [_mm256_setzero_ps(); 8];
        for (index, x) in x.iter_mut().enumerate() {
            // SAFETY: guaranteed by the caller.
            *x = unsafe { _mm256_loadu_ps(from.at(row + index, column * 4).cast()) };
        }
        let mut pairs = x;
        for index in [0, 2, 4, 6] {
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
        let mut columns = fours;
        for index in [0, 1, 2, 3] {
            columns[index] = _mm256_permute2f128_ps::<0x20>(fours[index], fours[index + 4]);
            columns[index + 4] = _mm256_permute2f128_ps::<0x31>(fours[index], fours[index + 4]);
        }
        columns
    }

    /// Transposes 8 × 4 elements of 8 bytes into 4 cache lines of the target.
    ///
    /// # Safety
    /// As for [`transpose_16x8_u32`].
    #[target_feature(enable = "avx2")]
    pub(super) unsafe fn transpose_8x4_u64<const NON_TEMPORAL: bool>(
        from: StridedMatrix,
        to: StridedMatrix,
        row: usize,
        column: usize,
    ) {
        // SAFETY: guaranteed by the caller; a prefetch does not fault.
        unsafe {
            if column.is_multiple_of(8) {
                for index in 0..8 {
                    let ahead = from.at(row + index, column * 8 + PREFETCH_DISTANCE);
                    _mm_prefetch::<_MM_HINT_T0>(ahead.cast());
                }
            }
            let top = load_transposed_4x4_u64(from, row, column);
            let bottom = load_transposed_4x4_u64(from, row + 4, column);
            for index in 0..4 {
                let target = to.at(column + index, row * 8).cast::<f64>();
                if NON_TEMPORAL {
                    _mm256_stream_pd(target, top[index]);
                    _mm256_stream_pd(target.wrapping_add(4), bottom[index]);
                } else {
                    _mm256_storeu_pd(target, top[index]);
                    _mm256_storeu_pd(target.wrapping_add(4), bottom[index]);
                }
            }
        }
    }

    /// Loads 4 × 4 elements of 8 bytes transposed.
    ///
    /// # Safety
    /// As for [`transpose`](super::transpose), within this tile.
    #[target_feature(enable = "avx2")]
    #[inline]
    unsafe fn load_transposed_4x4_u64(
        from: StridedMatrix,
        row: usize,
        column: usize,
    ) -> [__m256d; 4] {
        let mut x = [_mm256_setzero_pd(); 4];
        for (index, x) in x.iter_mut().enumerate() {
            // SAFETY: guaranteed by the caller.
            *x = unsafe { _mm256_loadu_pd(from.at(row + index, column * 8).cast()) };
        }
        let low = [_mm256_unpacklo_pd(x[0], x[1]), _mm256_unpacklo_pd(x[2], x[3])];
        let high = [_mm256_unpackhi_pd(x[0], x[1]), _mm256_unpackhi_pd(x[2], x[3])];
        [
            _mm256_permute2f128_pd::<0x20>(low[0], low[1]),
            _mm256_permute2f128_pd::<0x20>(high[0], high[1]),
            _mm256_permute2f128_pd::<0x31>(low[0], low[1]),
            _mm256_permute2f128_pd::<0x31>(high[0], high[1]),
        ]
    }

    /// Transposes 8 × 8 elements of 2 bytes.
    ///
    /// # Safety
    /// As for [`transpose`](super::transpose), within this tile.
    #[target_feature(enable = "avx2")]
    pub(super) unsafe fn transpose_8x8_u16(
        from: StridedMatrix,
        to: StridedMatrix,
        row: usize,
        column: usize,
    ) {
        let mut x = [_mm_setzero_si128(); 8];
        for (index, x) in x.iter_mut().enumerate() {
            // SAFETY: guaranteed by the caller.
            *x = unsafe { _mm_loadu_si128(from.at(row + index, column * 2).cast()) };
        }
        // Interleaving row i with row i + 4 rotates the combined row and column index by one bit; three rounds
        // exchange the three row bits with the three column bits.
        for _ in 0..3 {
            let before = x;
            for index in [0, 1, 2, 3] {
                x[2 * index] = _mm_unpacklo_epi16(before[index], before[index + 4]);
                x[2 * index + 1] = _mm_unpackhi_epi16(before[index], before[index + 4]);
            }
        }
        for (index, x) in x.into_iter().enumerate() {
            // SAFETY: guaranteed by the caller.
            unsafe { _mm_storeu_si128(to.at(column + index, row * 2).cast(), x) };
        }
    }

    /// Transposes 16 × 16 elements of one byte.
    ///
    /// # Safety
    /// As for [`transpose`](super::transpose), within this tile.
    #[target_feature(enable = "avx2")]
    pub(super) unsafe fn transpose_16x16_u8(
        from: StridedMatrix,
        to: StridedMatrix,
        row: usize,
        column: usize,
    ) {
        let mut x = [_mm_setzero_si128(); 16];
        for (index, x) in x.iter_mut().enumerate() {
            // SAFETY: guaranteed by the caller.
            *x = unsafe { _mm_loadu_si128(from.at(row + index, column).cast()) };
        }
        // As for 2-byte elements, with four rounds.
        for _ in 0..4 {
            let before = x;
            for index in [0, 1, 2, 3, 4, 5, 6, 7] {
                x[2 * index] = _mm_unpacklo_epi8(before[index], before[index + 8]);
                x[2 * index + 1] = _mm_unpackhi_epi8(before[index], before[index + 8]);
            }
        }
        for (index, x) in x.into_iter().enumerate() {
            // SAFETY: guaranteed by the caller.
            unsafe { _mm_storeu_si128(to.at(column + index, row).cast(), x) };
        }
    }
}

/// Stand-ins for other architectures, where no machine code runs and these are never called.
#[cfg(not(target_arch = "x86_64"))]
use portable::{transpose_8x4_u64, transpose_8x8_u16, transpose_16x8_u32, transpose_16x16_u8};

#[cfg(not(target_arch = "x86_64"))]
mod portable {
    use super::{StridedMatrix, transpose_scalar};

    pub(super) unsafe fn transpose_16x8_u32<const NON_TEMPORAL: bool>(
        f: StridedMatrix,
        t: StridedMatrix,
        row: usize,
        column: usize,
    ) {
        // SAFETY: guaranteed by the caller.
        unsafe { transpose_scalar::<u32>(f, t, row..row + 16, column..column + 8) }
    }

    pub(super) unsafe fn transpose_8x4_u64<const NON_TEMPORAL: bool>(
        f: StridedMatrix,
        t: StridedMatrix,
        row: usize,
        column: usize,
    ) {
        // SAFETY: guaranteed by the caller.
        unsafe { transpose_scalar::<u64>(f, t, row..row + 8, column..column + 4) }
    }

    pub(super) unsafe fn transpose_8x8_u16(
        f: StridedMatrix,
        t: StridedMatrix,
        row: usize,
        column: usize,
    ) {
        // SAFETY: guaranteed by the caller.
        unsafe { transpose_scalar::<u16>(f, t, row..row + 8, column..column + 8) }
    }

    pub(super) unsafe fn transpose_16x16_u8(
        f: StridedMatrix,
        t: StridedMatrix,
        row: usize,
        column: usize,
    ) {
        // SAFETY: guaranteed by the caller.
        unsafe { transpose_scalar::<u8>(f, t, row..row + 16, column..column + 16) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_element_size_and_shape_is_transposed() {
        for size in [1, 2, 4, 8] {
            for (rows, columns) in
                [(1, 1), (8, 8), (7, 19), (24, 16), (17, 33), (4, 40), (64, 64), (80, 100)]
            {
                let mut from: Vec<u8> = (0..rows * columns * size).map(|i| (i * 7) as u8).collect();
                let mut to = vec![0u8; from.len()];
                let source = StridedMatrix {
                    start: from.as_mut_ptr(),
                    row_stride: (columns * size) as isize,
                };
                let target =
                    StridedMatrix { start: to.as_mut_ptr(), row_stride: (rows * size) as isize };
                // SAFETY: both have `rows * columns` elements; the shape fits.
                unsafe { transpose(size, source, target, rows, columns, StorePolicy::Cached) };
                check(size, rows, columns, &from, &to, rows * size);
            }
        }
    }

    #[test]
    fn non_temporal_stores_write_full_lines() {
        for size in [4, 8] {
            let (rows, columns) = (256 / size, 37);
            let mut from: Vec<u8> = (0..rows * columns * size).map(|i| (i * 7) as u8).collect();
            let mut to = vec![0u8; from.len() + 64];
            let skip = to.as_ptr().align_offset(64);
            let source =
                StridedMatrix { start: from.as_mut_ptr(), row_stride: (columns * size) as isize };
            let start = to.as_mut_ptr().wrapping_add(skip);
            let target = StridedMatrix { start, row_stride: (rows * size) as isize };
            // SAFETY: both have `rows * columns` elements; rows of the target are whole cache lines.
            unsafe { transpose(size, source, target, rows, columns, StorePolicy::NonTemporal) };
            fence(StorePolicy::NonTemporal);
            check(size, rows, columns, &from, &to[skip..], rows * size);
        }
    }

    fn check(size: usize, rows: usize, columns: usize, from: &[u8], to: &[u8], row_stride: usize) {
        for row in 0..rows {
            for column in 0..columns {
                let source = &from[(row * columns + column) * size..][..size];
                let target = &to[column * row_stride + row * size..][..size];
                assert_eq!(source, target, "{size} {rows} {columns}");
            }
        }
    }
}
