//! Bytecode primitives: varints, null-terminated strings, counts, table indices and sections.

use super::{BytecodeError, Result};

/// A cursor in a section of the file.
#[derive(Clone, Copy)]
pub(super) struct Reader<'a> {
    /// The whole file: offsets and alignments are counted from its beginning.
    file: &'a [u8],
    position: usize,
    end: usize,
    section: &'static str,
}

impl<'a> Reader<'a> {
    pub(super) fn new(file: &'a [u8], section: &'static str) -> Reader<'a> {
        Reader { file, position: 0, end: file.len(), section }
    }

    /// A cursor over part of the file. The caller has checked the bounds.
    pub(super) fn part(&self, start: usize, end: usize, section: &'static str) -> Reader<'a> {
        debug_assert!(start <= end && end <= self.file.len());
        Reader { file: self.file, position: start, end, section }
    }

    pub(super) fn position(&self) -> usize {
        self.position
    }

    pub(super) fn end(&self) -> usize {
        self.end
    }

    pub(super) fn remaining(&self) -> usize {
        self.end - self.position
    }

    pub(super) fn is_at_end(&self) -> bool {
        self.position == self.end
    }

    pub(super) fn error(
        &self,
        expected: impl Into<String>,
        found: impl Into<String>,
    ) -> BytecodeError {
        self.error_at(self.position, expected, found)
    }

    pub(super) fn error_at(
        &self,
        offset: usize,
        expected: impl Into<String>,
        found: impl Into<String>,
    ) -> BytecodeError {
        BytecodeError {
            offset,
            section: self.section,
            expected: expected.into(),
            found: found.into(),
        }
    }

    pub(super) fn byte(&mut self) -> Result<u8> {
        if self.is_at_end() {
            return Err(self.error("another byte", "the end of the section"));
        }
        self.position += 1;
        Ok(self.file[self.position - 1])
    }

    pub(super) fn bytes(&mut self, length: usize) -> Result<&'a [u8]> {
        if length > self.remaining() {
            let found = format!("{} bytes", self.remaining());
            return Err(self.error(format!("{length} more bytes"), found));
        }
        self.position += length;
        Ok(&self.file[self.position - length..self.position])
    }

    /// A null-terminated string.
    pub(super) fn null_terminated(&mut self) -> Result<String> {
        let rest = &self.file[self.position..self.end];
        let Some(length) = rest.iter().position(|byte| *byte == 0) else {
            return Err(self.error("a null-terminated string", "the end of the section"));
        };
        self.position += length + 1;
        Ok(String::from_utf8_lossy(&rest[..length]).into_owned())
    }

    /// A varint of one to nine bytes. The number of trailing zero bits of the first byte is the number of bytes after
    /// it.
    pub(super) fn varint(&mut self) -> Result<u64> {
        let first = self.byte()?;
        let more = first.trailing_zeros() as usize;
        if more == 0 {
            return Ok(u64::from(first >> 1));
        }
        let mut bytes = [0; 8];
        if more >= 8 {
            bytes.copy_from_slice(self.bytes(8)?);
            return Ok(u64::from_le_bytes(bytes));
        }
        bytes[..more].copy_from_slice(self.bytes(more)?);
        let high = u64::from_le_bytes(bytes);
        Ok((high << 8 | u64::from(first)) >> (more + 1))
    }

    /// A zigzag-encoded signed varint: the lowest bit is the sign.
    pub(super) fn signed_varint(&mut self) -> Result<i64> {
        let value = self.varint()?;
        Ok((value >> 1) as i64 ^ -((value & 1) as i64))
    }

    /// A varint with a flag in its lowest bit.
    pub(super) fn varint_with_flag(&mut self) -> Result<(u64, bool)> {
        let value = self.varint()?;
        Ok((value >> 1, value & 1 == 1))
    }

    /// A number of items that follow. Each item takes at least one byte.
    pub(super) fn count(&mut self, what: &str) -> Result<usize> {
        let start = self.position;
        let count = self.varint()?;
        self.check_count(start, count, what)
    }

    /// Checks a number of items against the bytes that remain, so that a corrupt count cannot allocate much.
    pub(super) fn check_count(&self, start: usize, count: u64, what: &str) -> Result<usize> {
        match usize::try_from(count) {
            Ok(count) if count <= self.remaining() => Ok(count),
            _ => {
                let expected = format!("at most {} {what}", self.remaining());
                Err(self.error_at(start, expected, format!("{count}")))
            }
        }
    }

    /// An index into a table of `length` entries.
    pub(super) fn index(&mut self, length: usize, what: &str) -> Result<usize> {
        let start = self.position;
        let index = self.varint()?;
        self.check_index(start, index, length, what)
    }

    pub(super) fn check_index(
        &self,
        start: usize,
        index: u64,
        length: usize,
        what: &str,
    ) -> Result<usize> {
        match usize::try_from(index) {
            Ok(index) if index < length => Ok(index),
            _ => {
                let expected = format!("an index into {length} {what}");
                Err(self.error_at(start, expected, format!("{index}")))
            }
        }
    }

    /// A list of signed varints.
    pub(super) fn signed_varint_list(&mut self) -> Result<Vec<i64>> {
        let count = self.count("integers")?;
        (0..count).map(|_| self.signed_varint()).collect()
    }

    /// The next section: its id and its contents.
    pub(super) fn section(&mut self) -> Result<(u8, Reader<'a>)> {
        let first = self.byte()?;
        let length_at = self.position;
        let length = self.varint()?;
        if first & 0x80 != 0 {
            let alignment_at = self.position;
            let alignment = self.varint()?;
            if !alignment.is_power_of_two() || alignment > 1 << 20 {
                let expected = "an alignment that is a power of two";
                return Err(self.error_at(alignment_at, expected, format!("{alignment}")));
            }
            while !(self.position as u64).is_multiple_of(alignment) {
                self.byte()?;
            }
        }
        let length = self.check_count(length_at, length, "bytes of a section")?;
        let start = self.position;
        self.position += length;
        Ok((first & 0x7f, self.part(start, start + length, self.section)))
    }

    /// The same cursor, with another section name for errors.
    pub(super) fn named(self, section: &'static str) -> Reader<'a> {
        Reader { section, ..self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn varint(bytes: &[u8]) -> Result<u64> {
        Reader::new(bytes, "test").varint()
    }

    #[test]
    fn varints_of_one_to_nine_bytes() {
        assert_eq!(varint(&[0b0000_1011]), Ok(5));
        assert_eq!(varint(&[0b10, 1]), Ok(64));
        assert_eq!(varint(&[0xfc, 0xff, 0xff]), Ok((1 << 21) - 1));
        assert_eq!(varint(&[0x80, 1, 0, 0, 0, 0, 0, 0]), Ok(1));
        assert_eq!(varint(&[0, 1, 2, 3, 4, 5, 6, 7, 8]), Ok(0x0807_0605_0403_0201));
        assert!(varint(&[0, 1, 2]).is_err());
        assert!(varint(&[]).is_err());
    }

    #[test]
    fn signed_varints_have_the_sign_in_the_lowest_bit() {
        let signed = |byte: u8| Reader::new(&[byte << 1 | 1], "test").signed_varint().unwrap();
        assert_eq!([signed(0), signed(1), signed(2), signed(3)], [0, -1, 1, -2]);
    }

    #[test]
    fn counts_are_bounded_by_the_remaining_bytes() {
        let error = Reader::new(&[0b111, 0], "test").count("things").unwrap_err();
        assert_eq!(error.to_string(), "byte 0 (test): expected at most 1 things, found 3");
    }
}
