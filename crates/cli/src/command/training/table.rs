//! Rows of numbers to learn from.

use crate::outcome::Failure;
use flate2::read::GzDecoder;
use inflight::{Device, Result, Tensor};
use std::io::Read;
use std::path::Path;

/// Every so many rows, one is kept for testing.
const TEST_EVERY: usize = 5;

/// Rows of numbers from −1 to 1, and a label for each.
pub struct Table {
    /// The length of a row.
    pub columns: usize,
    values: Vec<f32>,
    labels: Vec<f32>,
}

impl Table {
    /// Reads numbers with commas between, a row a line, its label last. They are divided by the largest.
    pub fn load(path: &Path) -> std::result::Result<Table, Failure> {
        let wrong = |what: String| Failure::misuse(format!("{}: {what}", path.display()));
        let bytes = std::fs::read(path).map_err(|error| wrong(error.to_string()))?;
        let text = match bytes.starts_with(&[0x1f, 0x8b]) {
            true => {
                let mut text = String::new();
                let read = GzDecoder::new(&*bytes).read_to_string(&mut text);
                read.map_err(|error| wrong(error.to_string()))?;
                text
            }
            false => String::from_utf8(bytes)
                .map_err(|_| wrong("this is no text; rows of numbers are expected".to_owned()))?,
        };
        Table::parse(&text).map_err(wrong)
    }

    fn parse(text: &str) -> std::result::Result<Table, String> {
        let mut table = Table { columns: 0, values: Vec::new(), labels: Vec::new() };
        for (line, row) in text.lines().enumerate().filter(|(_, row)| !row.trim().is_empty()) {
            let line = line + 1;
            let start = table.values.len();
            for number in row.split(',').map(str::trim) {
                let value = number
                    .parse()
                    .map_err(|_| format!("{number:?} in line {line} is not a number"))?;
                table.values.push(value);
            }
            let label = table.values.pop().expect("a line that is split has a part");
            let columns = table.values.len() - start;
            if columns == 0 {
                return Err(format!("line {line} has a label alone"));
            }
            if table.labels.is_empty() {
                table.columns = columns;
            } else if columns != table.columns {
                let expected = table.columns;
                return Err(format!(
                    "line {line} has {columns} numbers and a label, the first has {expected}"
                ));
            }
            table.labels.push(label);
        }
        if table.labels.is_empty() {
            return Err("it has no rows".to_owned());
        }
        let largest = table.values.iter().fold(0f32, |most, value| most.max(value.abs()));
        if largest > 0.0 {
            table.values.iter_mut().for_each(|value| *value /= largest);
        }
        Ok(table)
    }

    /// How many rows there are.
    pub fn rows(&self) -> usize {
        self.labels.len()
    }

    /// The rows to learn from, and those to test with.
    pub fn divided(self) -> (Table, Table) {
        let empty = || Table { columns: self.columns, values: Vec::new(), labels: Vec::new() };
        let mut parts = (empty(), empty());
        for (number, (row, &label)) in
            self.values.chunks_exact(self.columns).zip(&self.labels).enumerate()
        {
            let is_test = number % TEST_EVERY == TEST_EVERY - 1;
            let part = if is_test { &mut parts.1 } else { &mut parts.0 };
            part.values.extend_from_slice(row);
            part.labels.push(label);
        }
        parts
    }

    /// Some rows, and their labels.
    pub fn tensors(&self, rows: &[usize], device: &Device) -> Result<(Tensor, Tensor)> {
        let mut values = Vec::with_capacity(rows.len() * self.columns);
        for &row in rows {
            values.extend_from_slice(&self.values[row * self.columns..(row + 1) * self.columns]);
        }
        let labels: Vec<f32> = rows.iter().map(|&row| self.labels[row]).collect();
        let values = Tensor::from_vec(values, [rows.len(), self.columns], device)?;
        Ok((values, Tensor::from_vec(labels, [rows.len()], device)?))
    }
}

/// Batches of rows in a random order, without end.
pub struct Batches<'a> {
    table: &'a Table,
    batch: usize,
    order: Vec<usize>,
    random: u64,
}

impl<'a> Batches<'a> {
    /// Batches of so many rows.
    pub fn new(table: &'a Table, batch: usize, seed: u64) -> Batches<'a> {
        Batches { table, batch, order: Vec::new(), random: seed }
    }

    /// The next batch, and its labels.
    pub fn next(&mut self, device: &Device) -> Result<(Tensor, Tensor)> {
        if self.order.len() < self.batch {
            self.order = (0..self.table.rows()).collect();
            for last in (1..self.order.len()).rev() {
                let other = (self.draw() % (last as u64 + 1)) as usize;
                self.order.swap(last, other);
            }
        }
        let chosen = self.order.split_off(self.order.len() - self.batch);
        self.table.tensors(&chosen, device)
    }

    /// The next number of a splitmix generator.
    fn draw(&mut self) -> u64 {
        self.random = self.random.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.random ^ (self.random >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_scaled_and_every_fifth_is_for_testing() {
        let text: String = (0..10).map(|row| format!("{row}, -20, {}\n", row % 3)).collect();
        let table = Table::parse(&text).unwrap();
        assert_eq!((table.columns, table.rows()), (2, 10));
        assert_eq!(table.values[2..4], [1.0 / 20.0, -1.0]);
        let (learned, tested) = table.divided();
        assert_eq!((learned.rows(), tested.rows()), (8, 2));
        assert_eq!(tested.labels, [1.0, 0.0]);
    }

    #[test]
    fn what_is_wrong_with_a_table_is_said_with_its_line() {
        let error = |text| Table::parse(text).err().unwrap();
        assert_eq!(error("1,2,0\n1,x,0\n"), "\"x\" in line 2 is not a number");
        assert_eq!(error("1,2,0\n\n1,0\n"), "line 3 has 1 numbers and a label, the first has 2");
        assert_eq!(error("7\n"), "line 1 has a label alone");
        assert_eq!(error("\n"), "it has no rows");
    }
}
