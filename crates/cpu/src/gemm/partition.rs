//! Partition of a GEMM among threads (panels), and cache blocking of each thread's panel (chunks).

use super::Extents;
use inflight_ir::plan::Side;

/// Minimum multiplications of a panel, unless the operands end: handing a panel to another thread costs as much.
const MIN_PANEL_WORK: usize = 256 << 10;

/// Panels for each thread: enough to balance the load, few enough not to pack the same rows and columns too often.
const PANELS_PER_THREAD: usize = 2;

/// Panels begin at multiples of this, so that two never write to one cache line of a dense result.
const ALIGNMENT: usize = 16;

/// Columns of a chunk with an M-major (transposed) left operand: with more, `gemm` reads it in an order that is slower
/// by up to a quarter.
const MN_MAJOR_A_COLUMNS: usize = 128;

/// Minimum rows and depth for [`MN_MAJOR_A_COLUMNS`] to apply; with fewer, the calls would be too short.
const MN_MAJOR_A_MIN_ROWS: usize = 96;
const MN_MAJOR_A_MIN_DEPTH: usize = 256;

/// Largest chunk that a fused epilogue consumes, so that it does so while the chunk is in cache.
const MAX_EPILOGUE_ELEMENTS: usize = 1 << 20;

/// Largest block that a fused prologue computes, unless that is fewer than [`PROLOGUE_ROWS`] rows.
const MAX_PROLOGUE_ELEMENTS: usize = 256 << 10;

/// Preferred rows of a prologue block: the other operand is read once per block.
pub(super) const PROLOGUE_ROWS: usize = 256;

/// Largest block of [`PROLOGUE_ROWS`] rows.
const MAX_LONG_ROW_ELEMENTS: usize = 1 << 20;

/// Minimum rows or columns of the other operand in a panel with a fused prologue, unless there are fewer.
const MIN_OTHER_SIDE: usize = 256;

/// A side is divided into parts of different lengths if the shortest still has this many rows or columns.
const MIN_TAPERED_LENGTH: usize = 32;

/// `gemm` sums products of at most this many rows and columns in another order. Either all parts of a side are this
/// small or none is, so that equal rows have equal results.
const SMALL_GEMM_SIDE: usize = 64;

/// A partition of a GEMM: ranges of batches times ranges of rows times ranges of columns.
#[derive(Debug)]
pub struct Partition {
    /// Extent and step of each.
    batches: (usize, usize),
    rows: (usize, usize),
    columns: (usize, usize),
    /// How the rows and the columns are divided; the number of parts follows from the step.
    division: Division,
    /// Maximum rows and columns of a panel that one call multiplies.
    pub chunk: (usize, usize),
}

/// Lengths of the parts of a side.
#[derive(Clone, Copy, Debug)]
enum Division {
    /// One step each; the last part may be shorter.
    FixedStep,
    /// Equal lengths.
    Even,
    /// One long part for each of this many threads, and short ones to balance the load. The owner of the parallel loop
    /// begins with the first part, its helpers with the last.
    Tapered(usize),
}

impl Division {
    /// The first index of a part; at the number of parts, the extent.
    fn boundary(self, (extent, step): (usize, usize), part: usize) -> usize {
        let parts = extent.div_ceil(step);
        if part >= parts {
            return extent;
        }
        let (share, of) = match self {
            Division::FixedStep => return part * step,
            Division::Even => (part, parts),
            Division::Tapered(threads) => {
                let short = part.saturating_sub(1).min(threads);
                (3 * (part - short) + short, 4 * threads)
            }
        };
        share * extent / of / ALIGNMENT * ALIGNMENT
    }
}

/// One part of a GEMM; rows and columns are (first, count).
pub struct Panel {
    pub batches: std::ops::Range<usize>,
    pub rows: (usize, usize),
    pub columns: (usize, usize),
}

/// Constraints on a partition.
#[derive(Clone, Copy, Debug, Default)]
pub struct Constraints {
    /// Longest side of a chunk, if bounded.
    pub max_side: Option<usize>,
    /// `Some` if an epilogue is fused: whether it needs full rows.
    pub epilogue_full_rows: Option<bool>,
    /// The operand with a fused prologue, and the preferred rows of its blocks.
    pub prologue: Option<(Side, BlockRows)>,
    /// Whether the left operand is in memory and M-major (column-major).
    pub a_is_mn_major: bool,
}

/// Preferred number of rows of a block.
#[derive(Clone, Copy, Debug)]
pub enum BlockRows {
    /// The largest multiple of this that fits.
    MultipleOf(usize),
    /// At most this many.
    AtMost(usize),
}

impl Partition {
    pub fn new(
        batches: usize,
        extents: Extents,
        threads: usize,
        constraints: Constraints,
    ) -> Partition {
        let Extents { m, n, k } = extents;
        let work = [batches, m, n, k.max(1)].into_iter().fold(1usize, usize::saturating_mul);
        let min_panels =
            if threads > 1 { (threads * PANELS_PER_THREAD).min(work / MIN_PANEL_WORK) } else { 1 };
        let mut partition = Partition {
            batches: (batches, batches.div_ceil(min_panels.max(1)).max(1)),
            rows: (m, m.max(1)),
            columns: (n, n.max(1)),
            division: Division::FixedStep,
            chunk: (m.max(1), n.max(1)),
        };
        let full_rows = constraints.epilogue_full_rows == Some(true);
        match constraints.prologue {
            None => {
                let max_side = constraints.max_side.unwrap_or(usize::MAX);
                partition.split_into_squares(min_panels, max_side, full_rows);
                partition.choose_division(threads);
            }
            Some((side, block_rows)) => {
                partition.split_into_prologue_blocks(min_panels, side, block_rows, k, full_rows);
            }
        }
        partition.limit_chunk(constraints, k);
        partition
    }

    /// Splits into nearly square panels, which minimizes packing.
    fn split_into_squares(&mut self, min_panels: usize, max_side: usize, full_rows: bool) {
        self.rows.1 = self.rows.1.min(max_side);
        if !full_rows {
            self.columns.1 = self.columns.1.min(max_side);
        }
        while self.panels() < min_panels {
            let longer = match full_rows || self.rows.1 > self.columns.1 {
                true => &mut self.rows,
                false => &mut self.columns,
            };
            let step = longer.1.div_ceil(2).next_multiple_of(ALIGNMENT);
            if step >= longer.1 {
                break;
            }
            longer.1 = step;
        }
    }

    /// Makes panels equal, or leaves short ones for the end to balance the load.
    fn choose_division(&mut self, threads: usize) {
        let parts = |(extent, step): (usize, usize)| extent.div_ceil(step);
        let (rows, columns) = (parts(self.rows), parts(self.columns));
        let (divided, undivided) = match rows > 1 {
            true => (self.rows, self.columns.0),
            false => (self.columns, self.rows.0),
        };
        let is_one_side = parts(self.batches) == 1 && (rows == 1 || columns == 1);
        self.division = match is_one_side
            && rows.max(columns) == threads * PANELS_PER_THREAD
            && PANELS_PER_THREAD == 2
            && divided.0 / (4 * threads) >= MIN_TAPERED_LENGTH
            && (divided.0 / (4 * threads) > SMALL_GEMM_SIDE || undivided > SMALL_GEMM_SIDE)
        {
            true => Division::Tapered(threads),
            false => Division::Even,
        };
    }

    /// Splits so that each prologue block belongs to one panel, as long as that gives enough panels.
    fn split_into_prologue_blocks(
        &mut self,
        min_panels: usize,
        side: Side,
        block_rows: BlockRows,
        k: usize,
        full_rows: bool,
    ) {
        let k = k.max(1);
        let fits = (MAX_PROLOGUE_ELEMENTS / k).max(PROLOGUE_ROWS.min(MAX_LONG_ROW_ELEMENTS / k));
        let fits = fits.max(ALIGNMENT) / ALIGNMENT * ALIGNMENT;
        let others = self.panels();
        let (own, other) = match side {
            Side::A => (&mut self.rows, &mut self.columns),
            Side::B => (&mut self.columns, &mut self.rows),
        };
        let shared = own.0.div_ceil(min_panels.div_ceil(others).max(1)).next_multiple_of(ALIGNMENT);
        let step = match block_rows {
            BlockRows::MultipleOf(unit) => {
                let most = fits.min(shared);
                if unit < most { most / unit * unit } else { most }
            }
            BlockRows::AtMost(most) => most.min(fits).min(shared),
        };
        own.1 = step.clamp(1, own.1);
        let parts = others * own.0.div_ceil(own.1);
        if parts < min_panels && !(full_rows && side == Side::A) {
            let step = other.0.div_ceil(min_panels / parts.max(1)).next_multiple_of(ALIGNMENT);
            other.1 = step.max(MIN_OTHER_SIDE).min(other.1);
        }
    }

    /// Limits the chunk that one call multiplies.
    fn limit_chunk(&mut self, constraints: Constraints, k: usize) {
        let longest = |side: (usize, usize)| {
            let boundary = |part| self.division.boundary(side, part);
            let parts = side.0.div_ceil(side.1);
            let lengths = (0..parts).map(|part| boundary(part + 1) - boundary(part));
            lengths.max().unwrap_or(1).max(1)
        };
        self.chunk = (longest(self.rows), longest(self.columns));
        if constraints.a_is_mn_major
            && self.chunk.0 >= MN_MAJOR_A_MIN_ROWS
            && k >= MN_MAJOR_A_MIN_DEPTH
        {
            // Evenly: a chunk of one remaining column would read all of the left operand again.
            let parts = self.chunk.1.div_ceil(MN_MAJOR_A_COLUMNS);
            self.chunk.1 = self.chunk.1.div_ceil(parts).next_multiple_of(ALIGNMENT);
        }
        if let Some(max_side) = constraints.max_side {
            self.chunk = (self.chunk.0.min(max_side), self.chunk.1.min(max_side));
        }
        let Some(full_rows) = constraints.epilogue_full_rows else { return };
        if full_rows {
            self.columns.1 = self.columns.0.max(1);
            self.chunk.1 = self.columns.1;
        }
        while self.chunk.0 * self.chunk.1 > MAX_EPILOGUE_ELEMENTS && self.chunk.0 > ALIGNMENT {
            self.chunk.0 = self.chunk.0.div_ceil(2).next_multiple_of(ALIGNMENT);
        }
    }

    /// The number of panels.
    pub fn panels(&self) -> usize {
        [self.batches, self.rows, self.columns]
            .iter()
            .map(|(extent, step)| extent.div_ceil(*step))
            .product()
    }

    /// The panel of an index below [`panels`](Partition::panels).
    pub fn panel(&self, index: usize) -> Panel {
        let columns = self.columns.0.div_ceil(self.columns.1);
        let rows = self.rows.0.div_ceil(self.rows.1);
        let (column, row, batch) =
            (index % columns, index / columns % rows, index / columns / rows);
        let first = batch * self.batches.1;
        let range = |side: (usize, usize), part: usize| {
            let start = self.division.boundary(side, part);
            (start, self.division.boundary(side, part + 1) - start)
        };
        Panel {
            batches: first..(first + self.batches.1).min(self.batches.0),
            rows: range(self.rows, row),
            columns: range(self.columns, column),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn panels_cover_every_element_once() {
        let prologue = [
            None,
            Some((Side::A, BlockRows::MultipleOf(1))),
            Some((Side::A, BlockRows::MultipleOf(14))),
            Some((Side::A, BlockRows::AtMost(40))),
            Some((Side::B, BlockRows::MultipleOf(7))),
        ];
        for (m, n, k) in
            [(1, 1, 1), (1, 3000, 700), (64, 10, 512), (300, 129, 90_000), (784, 256, 1024)]
        {
            for batches in [1, 3] {
                for prologue in prologue {
                    for (max_side, epilogue_full_rows) in
                        [(None, None), (Some(64), None), (None, Some(true)), (None, Some(false))]
                    {
                        if epilogue_full_rows == Some(true)
                            && matches!(prologue, Some((Side::B, _)))
                        {
                            continue;
                        }
                        let a_is_mn_major = k == 512;
                        let constraints =
                            Constraints { max_side, epilogue_full_rows, prologue, a_is_mn_major };
                        let threads = if batches == 1 { 2 } else { 3 };
                        let partition =
                            Partition::new(batches, Extents { m, n, k }, threads, constraints);
                        let mut seen = vec![0u8; batches * m * n];
                        for panel in (0..partition.panels()).map(|index| partition.panel(index)) {
                            for batch in panel.batches {
                                for row in panel.rows.0..panel.rows.0 + panel.rows.1 {
                                    for column in panel.columns.0..panel.columns.0 + panel.columns.1
                                    {
                                        seen[(batch * m + row) * n + column] += 1;
                                    }
                                }
                            }
                            if epilogue_full_rows == Some(true) {
                                assert_eq!(panel.columns, (0, n));
                            }
                        }
                        assert!(seen.iter().all(|&count| count == 1), "{partition:?}");
                    }
                }
            }
        }
    }

    #[test]
    fn tapered_partition_ends_with_short_panels_and_others_are_even() {
        let rows = |m: usize, n: usize, threads: usize| {
            let partition =
                Partition::new(1, Extents { m, n, k: 1024 }, threads, Constraints::default());
            (0..partition.panels()).map(|index| partition.panel(index).rows).collect::<Vec<_>>()
        };
        assert_eq!(rows(1024, 256, 2), [(0, 384), (384, 128), (512, 128), (640, 384)]);
        assert_eq!(rows(784, 256, 2), [(0, 288), (288, 96), (384, 96), (480, 304)]);
        assert_eq!(rows(1024, 1024, 2), [(0, 512), (0, 512), (512, 512), (512, 512)]);
        let lengths: Vec<usize> = rows(8192, 256, 4).iter().map(|rows| rows.1).collect();
        assert_eq!(lengths, [1536, 512, 512, 512, 512, 1536, 1536, 1536]);
        // Too few rows for short panels.
        assert_eq!(rows(208, 16, 2), [(0, 48), (48, 48), (96, 48), (144, 64)]);
    }

    #[test]
    fn full_row_epilogue_splits_rows_among_threads() {
        let extents = Extents { m: 128, n: 512, k: 512 };
        let constraints = Constraints { epilogue_full_rows: Some(true), ..Constraints::default() };
        assert_eq!(Partition::new(1, extents, 2, constraints).panels(), 4);
    }

    #[test]
    fn mn_major_a_limits_chunk_columns() {
        let extents = Extents { m: 784, n: 256, k: 1024 };
        for (a_is_mn_major, epilogue_full_rows, columns) in [
            (true, None, 128),
            (true, Some(false), 128),
            (true, Some(true), 256),
            (false, None, 256),
        ] {
            let partition = Partition::new(
                1,
                extents,
                2,
                Constraints { a_is_mn_major, epilogue_full_rows, ..Constraints::default() },
            );
            assert_eq!(partition.chunk.1, columns, "{a_is_mn_major} {epilogue_full_rows:?}");
        }
        let constraints = Constraints { a_is_mn_major: true, ..Constraints::default() };
        for extents in [Extents { m: 16, ..extents }, Extents { k: 9, ..extents }] {
            assert_eq!(Partition::new(1, extents, 1, constraints).chunk.1, 256, "{extents:?}");
        }
    }

    #[test]
    fn prologue_blocks_are_computed_once_if_there_are_enough() {
        let extents = Extents { m: 4096, n: 3072, k: 768 };
        let constraints = Constraints {
            prologue: Some((Side::A, BlockRows::MultipleOf(1))),
            ..Constraints::default()
        };
        let partition = Partition::new(1, extents, 2, constraints);
        assert_eq!(partition.columns.1, 3072);
        assert!(
            partition.rows.1 * 768 <= MAX_PROLOGUE_ELEMENTS && partition.rows.1 >= 256,
            "{partition:?}"
        );
    }
}
