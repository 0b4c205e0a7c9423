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

/// The most elements of a product that is taken in while it is in cache.
const MOST_TAKEN_IN: usize = 1 << 20;

/// The most elements of a block of an operand that is computed as it is needed, unless these are fewer than
/// [`ROWS_PRODUCED`] rows.
const MOST_PRODUCED: usize = 256 << 10;

/// The rows that a block should have: the other operand is read for each of them.
const ROWS_PRODUCED: usize = 256;

/// The most elements of a block of so many rows.
const MOST_OF_LONG_ROWS: usize = 1 << 20;

/// An operand that is computed for each panel has at least this many rows or columns of the other to be
/// multiplied with, unless there are fewer.
const FEWEST_OTHERS: usize = 256;

/// How a contraction is divided: ranges of batches times ranges of rows times ranges of columns.
#[derive(Debug)]
pub struct Cut {
    /// Extent and step of each.
    batches: (usize, usize),
    rows: (usize, usize),
    columns: (usize, usize),
    /// The most rows and columns of a panel that are multiplied at a time.
    pub chunk: (usize, usize),
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
            chunk: (m.max(1), n.max(1)),
        };
        match needs.produced {
            None => cut.squares(wanted, needs.max_side.unwrap_or(usize::MAX)),
            Some((side, unit)) => {
                let whole_rows = needs.taken_in == Some(true);
                cut.blocks(wanted, side, unit, k, whole_rows);
            }
        }
        cut.bound(needs);
        cut
    }

    /// Panels near to squares, for which the least is packed.
    fn squares(&mut self, wanted: usize, max_side: usize) {
        self.rows.1 = self.rows.1.min(max_side);
        self.columns.1 = self.columns.1.min(max_side);
        while self.panels() < wanted {
            let longer =
                if self.rows.1 > self.columns.1 { &mut self.rows } else { &mut self.columns };
            let step = longer.1.div_ceil(2).next_multiple_of(STEP);
            if step >= longer.1 {
                break;
            }
            longer.1 = step;
        }
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
    fn bound(&mut self, needs: Needs) {
        self.chunk = (self.rows.1, self.columns.1);
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
        let range = |(extent, step): (usize, usize), position: usize| {
            (position * step, step.min(extent - position * step))
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
        for (m, n, k) in [(1, 1, 1), (1, 3000, 700), (64, 10, 512), (300, 129, 90_000)] {
            for batches in [1, 3] {
                for produced in produced {
                    for (max_side, taken_in) in
                        [(None, None), (Some(64), None), (None, Some(true)), (None, Some(false))]
                    {
                        if taken_in == Some(true) && matches!(produced, Some((Side::B, _))) {
                            continue;
                        }
                        let needs = Needs { max_side, taken_in, produced };
                        let cut = Cut::new(batches, Extents { m, n, k }, 2, needs);
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
    fn a_block_is_computed_once_if_there_are_enough() {
        let extents = Extents { m: 4096, n: 3072, k: 768 };
        let needs = Needs { produced: Some((Side::A, Unit::Multiple(1))), ..Needs::default() };
        let cut = Cut::new(1, extents, 2, needs);
        assert_eq!(cut.columns.1, 3072);
        assert!(cut.rows.1 * 768 <= MOST_PRODUCED && cut.rows.1 >= 256, "{cut:?}");
    }
}
