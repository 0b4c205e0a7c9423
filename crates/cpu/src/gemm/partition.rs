//! How a contraction is divided among threads, and each thread's part into what fits a cache.

use super::Extents;
use inflight_ir::plan::Side;

/// No panel has fewer multiplications than this, unless the operands end: handing one to another thread
/// costs as much.
const MIN_PANEL: usize = 256 << 10;

/// Panels for each thread: enough to even out their times, few enough not to pack the same rows and
/// columns too often.
const PANELS_PER_THREAD: usize = 2;

/// Panels begin at multiples of this, so that two never write to one cache line of a dense result.
const STEP: usize = 16;

/// The most columns that are multiplied at a time where the left operand is turned: `gemm` reads it in an order that is
/// slower by up to a quarter otherwise.
const COLUMNS_OF_TURNED: usize = 128;

/// So it is if it has at least these rows and columns; with fewer, calls would be too short.
const ROWS_OF_TURNED: usize = 96;
const DEPTH_OF_TURNED: usize = 256;

/// The most elements of a product that is taken in while it is in cache.
const MOST_TAKEN_IN: usize = 1 << 20;

/// The most elements of a block of an operand that is computed as it is needed, unless these are fewer than
/// [`ROWS_PRODUCED`] rows.
const MOST_PRODUCED: usize = 256 << 10;

/// The rows that a block should have: the other operand is read for each of them.
pub(super) const ROWS_PRODUCED: usize = 256;

/// The most elements of a block of so many rows.
const MOST_OF_LONG_ROWS: usize = 1 << 20;

/// An operand that is computed for each panel has at least this many rows or columns of the other to be
/// multiplied with, unless there are fewer.
const FEWEST_OTHERS: usize = 256;

/// A side is divided into pieces of different lengths if the shortest still has this many rows or columns.
const SHORTEST_PIECE: usize = 32;

/// Products of no more rows and no more columns are summed by `gemm` in another order: all pieces of one are such, or
/// none is, so that rows that are alike have results that are.
const SMALL: usize = 64;

/// How a contraction is divided: ranges of batches times ranges of rows times ranges of columns.
#[derive(Debug)]
pub struct Cut {
    /// Extent and step of each.
    batches: (usize, usize),
    rows: (usize, usize),
    columns: (usize, usize),
    /// How the rows and the columns are divided, given how many parts the step makes of them.
    division: Division,
    /// The most rows and columns of a panel that are multiplied at a time.
    pub chunk: (usize, usize),
}

/// How a side is divided into a number of parts.
#[derive(Clone, Copy, Debug)]
enum Division {
    /// By steps, the last of which may be shorter.
    Steps,
    /// Evenly.
    Even,
    /// Into one long piece for each of so many threads, and short ones for whoever is done first: a thread begins with
    /// the first piece, the others with the last.
    Tapered(usize),
}

impl Division {
    /// Where a part begins; at the number of parts, the extent.
    fn boundary(self, (extent, step): (usize, usize), part: usize) -> usize {
        let parts = extent.div_ceil(step);
        if part >= parts {
            return extent;
        }
        let (share, of) = match self {
            Division::Steps => return part * step,
            Division::Even => (part, parts),
            Division::Tapered(threads) => {
                let short = part.saturating_sub(1).min(threads);
                (3 * (part - short) + short, 4 * threads)
            }
        };
        share * extent / of / STEP * STEP
    }
}

/// One part of a contraction; rows and columns are (first, count).
pub struct Panel {
    pub batches: std::ops::Range<usize>,
    pub rows: (usize, usize),
    pub columns: (usize, usize),
}

/// What a cut has to mind.
#[derive(Clone, Copy, Debug, Default)]
pub struct Needs {
    /// The longest side of what is multiplied at a time, if that is bounded.
    pub max_side: Option<usize>,
    /// Whether the product is taken in part by part, and then whether by whole rows.
    pub taken_in: Option<bool>,
    /// The operand that is computed block by block, and how many rows are best computed together.
    pub produced: Option<(Side, Unit)>,
    /// Whether the rows of the left operand are what is contiguous in it.
    pub turned: bool,
}

/// What block of rows is best computed together.
#[derive(Clone, Copy, Debug)]
pub enum Unit {
    /// Multiples of so many, and as many as fit.
    Multiple(usize),
    /// At most so many.
    AtMost(usize),
}

impl Cut {
    pub fn new(batches: usize, extents: Extents, threads: usize, needs: Needs) -> Cut {
        let Extents { m, n, k } = extents;
        let work = [batches, m, n, k.max(1)].into_iter().fold(1usize, usize::saturating_mul);
        let wanted =
            if threads > 1 { (threads * PANELS_PER_THREAD).min(work / MIN_PANEL) } else { 1 };
        let mut cut = Cut {
            batches: (batches, batches.div_ceil(wanted.max(1)).max(1)),
            rows: (m, m.max(1)),
            columns: (n, n.max(1)),
            division: Division::Steps,
            chunk: (m.max(1), n.max(1)),
        };
        match needs.produced {
            None => {
                let whole_rows = needs.taken_in == Some(true);
                cut.squares(wanted, needs.max_side.unwrap_or(usize::MAX), whole_rows);
                cut.divide(threads);
            }
            Some((side, unit)) => {
                let whole_rows = needs.taken_in == Some(true);
                cut.blocks(wanted, side, unit, k, whole_rows);
            }
        }
        cut.bound(needs, k);
        cut
    }

    /// Panels near to squares, for which the least is packed.
    fn squares(&mut self, wanted: usize, max_side: usize, whole_rows: bool) {
        self.rows.1 = self.rows.1.min(max_side);
        if !whole_rows {
            self.columns.1 = self.columns.1.min(max_side);
        }
        while self.panels() < wanted {
            let longer = match whole_rows || self.rows.1 > self.columns.1 {
                true => &mut self.rows,
                false => &mut self.columns,
            };
            let step = longer.1.div_ceil(2).next_multiple_of(STEP);
            if step >= longer.1 {
                break;
            }
            longer.1 = step;
        }
    }

    /// Evens the panels out, or leaves short ones for the end.
    fn divide(&mut self, threads: usize) {
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
            && divided.0 / (4 * threads) >= SHORTEST_PIECE
            && (divided.0 / (4 * threads) > SMALL || undivided > SMALL)
        {
            true => Division::Tapered(threads),
            false => Division::Even,
        };
    }

    /// Panels that have each block of a computed operand to themselves, as long as there are enough of them.
    fn blocks(&mut self, wanted: usize, side: Side, unit: Unit, k: usize, whole_rows: bool) {
        let k = k.max(1);
        let fits = (MOST_PRODUCED / k).max(ROWS_PRODUCED.min(MOST_OF_LONG_ROWS / k));
        let fits = fits.max(STEP) / STEP * STEP;
        let others = self.panels();
        let (own, other) = match side {
            Side::A => (&mut self.rows, &mut self.columns),
            Side::B => (&mut self.columns, &mut self.rows),
        };
        let shared = own.0.div_ceil(wanted.div_ceil(others).max(1)).next_multiple_of(STEP);
        let step = match unit {
            Unit::Multiple(unit) => {
                let most = fits.min(shared);
                if unit < most { most / unit * unit } else { most }
            }
            Unit::AtMost(most) => most.min(fits).min(shared),
        };
        own.1 = step.clamp(1, own.1);
        let parts = others * own.0.div_ceil(own.1);
        if parts < wanted && !(whole_rows && side == Side::A) {
            let step = other.0.div_ceil(wanted / parts.max(1)).next_multiple_of(STEP);
            other.1 = step.max(FEWEST_OTHERS).min(other.1);
        }
    }

    /// Sees to it that what is multiplied at a time is small enough.
    fn bound(&mut self, needs: Needs, k: usize) {
        let longest = |side: (usize, usize)| {
            let at = |part| self.division.boundary(side, part);
            let parts = side.0.div_ceil(side.1);
            (0..parts).map(|part| at(part + 1) - at(part)).max().unwrap_or(1).max(1)
        };
        self.chunk = (longest(self.rows), longest(self.columns));
        if needs.turned && self.chunk.0 >= ROWS_OF_TURNED && k >= DEPTH_OF_TURNED {
            // Evenly: one column alone would read all of the left operand again.
            let parts = self.chunk.1.div_ceil(COLUMNS_OF_TURNED);
            self.chunk.1 = self.chunk.1.div_ceil(parts).next_multiple_of(STEP);
        }
        if let Some(max_side) = needs.max_side {
            self.chunk = (self.chunk.0.min(max_side), self.chunk.1.min(max_side));
        }
        let Some(whole_rows) = needs.taken_in else { return };
        if whole_rows {
            self.columns.1 = self.columns.0.max(1);
            self.chunk.1 = self.columns.1;
        }
        while self.chunk.0 * self.chunk.1 > MOST_TAKEN_IN && self.chunk.0 > STEP {
            self.chunk.0 = self.chunk.0.div_ceil(2).next_multiple_of(STEP);
        }
    }

    /// How many panels there are.
    pub fn panels(&self) -> usize {
        [self.batches, self.rows, self.columns]
            .iter()
            .map(|(extent, step)| extent.div_ceil(*step))
            .product()
    }

    /// One of them.
    pub fn panel(&self, index: usize) -> Panel {
        let columns = self.columns.0.div_ceil(self.columns.1);
        let rows = self.rows.0.div_ceil(self.rows.1);
        let (column, row, batch) =
            (index % columns, index / columns % rows, index / columns / rows);
        let first = batch * self.batches.1;
        let range = |side: (usize, usize), position: usize| {
            let at = self.division.boundary(side, position);
            (at, self.division.boundary(side, position + 1) - at)
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
    fn every_element_is_in_one_panel() {
        let produced = [
            None,
            Some((Side::A, Unit::Multiple(1))),
            Some((Side::A, Unit::Multiple(14))),
            Some((Side::A, Unit::AtMost(40))),
            Some((Side::B, Unit::Multiple(7))),
        ];
        for (m, n, k) in
            [(1, 1, 1), (1, 3000, 700), (64, 10, 512), (300, 129, 90_000), (784, 256, 1024)]
        {
            for batches in [1, 3] {
                for produced in produced {
                    for (max_side, taken_in) in
                        [(None, None), (Some(64), None), (None, Some(true)), (None, Some(false))]
                    {
                        if taken_in == Some(true) && matches!(produced, Some((Side::B, _))) {
                            continue;
                        }
                        let turned = k == 512;
                        let needs = Needs { max_side, taken_in, produced, turned };
                        let threads = if batches == 1 { 2 } else { 3 };
                        let cut = Cut::new(batches, Extents { m, n, k }, threads, needs);
                        let mut seen = vec![0u8; batches * m * n];
                        for panel in (0..cut.panels()).map(|index| cut.panel(index)) {
                            for batch in panel.batches {
                                for row in panel.rows.0..panel.rows.0 + panel.rows.1 {
                                    for column in panel.columns.0..panel.columns.0 + panel.columns.1
                                    {
                                        seen[(batch * m + row) * n + column] += 1;
                                    }
                                }
                            }
                            if taken_in == Some(true) {
                                assert_eq!(panel.columns, (0, n));
                            }
                        }
                        assert!(seen.iter().all(|&count| count == 1), "{cut:?}");
                    }
                }
            }
        }
    }

    #[test]
    fn the_last_pieces_are_short_and_others_even() {
        let rows = |m: usize, n: usize, threads: usize| {
            let cut = Cut::new(1, Extents { m, n, k: 1024 }, threads, Needs::default());
            (0..cut.panels()).map(|index| cut.panel(index).rows).collect::<Vec<_>>()
        };
        assert_eq!(rows(1024, 256, 2), [(0, 384), (384, 128), (512, 128), (640, 384)]);
        assert_eq!(rows(784, 256, 2), [(0, 288), (288, 96), (384, 96), (480, 304)]);
        assert_eq!(rows(1024, 1024, 2), [(0, 512), (0, 512), (512, 512), (512, 512)]);
        let lengths: Vec<usize> = rows(8192, 256, 4).iter().map(|rows| rows.1).collect();
        assert_eq!(lengths, [1536, 512, 512, 512, 512, 1536, 1536, 1536]);
        // Too few for short pieces.
        assert_eq!(rows(208, 16, 2), [(0, 48), (48, 48), (96, 48), (144, 64)]);
    }

    #[test]
    fn threads_share_a_wide_product_that_is_taken_in_by_rows() {
        let extents = Extents { m: 128, n: 512, k: 512 };
        let needs = Needs { taken_in: Some(true), ..Needs::default() };
        assert_eq!(Cut::new(1, extents, 2, needs).panels(), 4);
    }

    #[test]
    fn few_columns_at_a_time_of_a_product_with_a_turned_operand() {
        let extents = Extents { m: 784, n: 256, k: 1024 };
        for (turned, taken_in, columns) in [
            (true, None, 128),
            (true, Some(false), 128),
            (true, Some(true), 256),
            (false, None, 256),
        ] {
            let cut = Cut::new(1, extents, 2, Needs { turned, taken_in, ..Needs::default() });
            assert_eq!(cut.chunk.1, columns, "{turned} {taken_in:?}");
        }
        let needs = Needs { turned: true, ..Needs::default() };
        for extents in [Extents { m: 16, ..extents }, Extents { k: 9, ..extents }] {
            assert_eq!(Cut::new(1, extents, 1, needs).chunk.1, 256, "{extents:?}");
        }
    }

    #[test]
    fn a_block_is_computed_once_if_there_are_enough() {
        let extents = Extents { m: 4096, n: 3072, k: 768 };
        let needs = Needs { produced: Some((Side::A, Unit::Multiple(1))), ..Needs::default() };
        let cut = Cut::new(1, extents, 2, needs);
        assert_eq!(cut.columns.1, 3072);
        assert!(cut.rows.1 * 768 <= MOST_PRODUCED && cut.rows.1 >= 256, "{cut:?}");
    }
}
