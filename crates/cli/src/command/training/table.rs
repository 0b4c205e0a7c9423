//! Training data: rows of numbers with labels, from CSV.

use crate::outcome::Failure;
use flate2::read::MultiGzDecoder;
use inflight::{DType, Device, Result, Scalar, Tensor};
use std::io::Read;
use std::path::Path;

/// One of this many rows is held out for testing.
const TEST_EVERY: usize = 5;

/// Upper bound of labels: an f32 represents every integer up to it.
const LABELS: f32 = (1u32 << 24) as f32;

/// Rows of values from −1 to 1, each with an integer label.
pub struct Table {
    /// The length of a row.
    pub columns: usize,
    values: Vec<f32>,
    labels: Vec<f32>,
}

impl Table {
    /// Reads CSV: a row per line, its label last. Values are divided by the largest magnitude.
    pub fn load(path: &Path) -> std::result::Result<Table, Failure> {
        let wrong = |what: String| Failure::misuse(format!("{}: {what}", path.display()));
        let bytes = std::fs::read(path).map_err(|error| wrong(error.to_string()))?;
        text_of(bytes).and_then(|text| Table::parse(&text)).map_err(wrong)
    }

    fn parse(text: &str) -> std::result::Result<Table, String> {
        let mut table = Table { columns: 0, values: Vec::new(), labels: Vec::new() };
        for (line, row) in text.lines().enumerate().filter(|(_, row)| !row.trim().is_empty()) {
            let line = line + 1;
            let start = table.values.len();
            for number in row.split(',').map(str::trim) {
                let value: f32 = number
                    .parse()
                    .map_err(|_| format!("{number:?} in line {line} is not a number"))?;
                if !value.is_finite() {
                    return Err(format!("{number:?} in line {line} is not a finite number"));
                }
                table.values.push(value);
            }
            let label = table.values.pop().expect("a line that is split has a part");
            if label.fract() != 0.0 || !(0.0..LABELS).contains(&label) {
                return Err(format!(
                    "the label {label} in line {line} is not an integer of at least 0, below {LABELS}"
                ));
            }
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

    /// A label that a dtype cannot represent, if there is one.
    pub fn label_outside(&self, dtype: DType) -> Option<f32> {
        let is_outside = |label: f32| {
            let there = Scalar::from(label).cast(dtype);
            there.cast(DType::F32) != Scalar::from(label)
        };
        // -0 is 0.
        self.labels.iter().map(|label| label.abs()).find(|&label| is_outside(label))
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.labels.len()
    }

    /// Splits the rows into training and test rows.
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

    /// Gathers rows and their labels into tensors.
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

/// Decodes a file as text; gzip may have several members.
fn text_of(bytes: Vec<u8>) -> std::result::Result<String, String> {
    if !bytes.starts_with(&[0x1f, 0x8b]) {
        return String::from_utf8(bytes)
            .map_err(|_| "this is no text; rows of numbers are expected".to_owned());
    }
    let mut text = String::new();
    let read = MultiGzDecoder::new(&*bytes).read_to_string(&mut text);
    read.map_err(|error| error.to_string())?;
    Ok(text)
}

/// Endless batches of rows in random order.
pub struct Batches<'a> {
    table: &'a Table,
    batch: usize,
    order: Vec<usize>,
    random: u64,
}

impl<'a> Batches<'a> {
    /// Batches of `batch` rows.
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

    /// Next value of a splitmix64 generator.
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
    use flate2::Compression;
    use flate2::write::GzEncoder;
    use std::io::Write;

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
    fn parse_errors_name_the_line() {
        let error = |text: &str| Table::parse(text).err().unwrap();
        assert_eq!(error("1,2,0\n1,x,0\n"), "\"x\" in line 2 is not a number");
        assert_eq!(error("1,2,0\n\n1,0\n"), "line 3 has 1 numbers and a label, the first has 2");
        assert_eq!(error("7\n"), "line 1 has a label alone");
        assert_eq!(error("\n"), "it has no rows");
        assert_eq!(error("1,2,0\n1,nan,0\n"), "\"nan\" in line 2 is not a finite number");
        assert_eq!(error("1,2,0\n\n1e39,2,0\n"), "\"1e39\" in line 3 is not a finite number");
        assert_eq!(error("-inf,2,0\n"), "\"-inf\" in line 1 is not a finite number");
        assert_eq!(error("1,2,inf\n"), "\"inf\" in line 1 is not a finite number");
        for label in ["0.5", "-1", "16777216"] {
            let said = format!("the label {label} in line 2 is not an integer of at least 0");
            let error = error(&format!("1,2,0\n1,2,{label}\n"));
            assert!(error.starts_with(&said), "{error}");
        }
    }

    #[test]
    fn labels_outside_a_dtype_are_found() {
        let table = Table::parse("1,0\n1,-0\n1,1\n1,300\n1,2049\n").unwrap();
        assert_eq!(table.label_outside(DType::I32), None);
        assert_eq!(table.label_outside(DType::F32), None);
        assert_eq!(table.label_outside(DType::U16), None);
        assert_eq!(table.label_outside(DType::F16), Some(2049.0));
        for dtype in [DType::I8, DType::U8, DType::Bool] {
            assert_eq!(table.label_outside(dtype), Some(300.0), "{dtype}");
        }
    }

    #[test]
    fn gzip_with_several_members_is_read_to_the_end() {
        let part = |text: &str| {
            let mut part = GzEncoder::new(Vec::new(), Compression::fast());
            part.write_all(text.as_bytes()).unwrap();
            part.finish().unwrap()
        };
        let parts = [part("1,2,0\n"), part("3,4,1\n")].concat();
        assert_eq!(text_of(parts).unwrap(), "1,2,0\n3,4,1\n");
    }
}
