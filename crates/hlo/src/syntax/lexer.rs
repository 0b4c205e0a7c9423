//! Lexer of MLIR text.

/// Token kinds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Kind {
    /// `stablehlo.add`, `tensor`, `x`
    Word,
    /// `%0`, `%0#1`
    Value,
    /// `@main`, `@"a name"`
    Symbol,
    /// `^bb0`
    Block,
    /// `#loc`, `#stablehlo.gather`
    Hash,
    /// `!stablehlo.token`
    Exclamation,
    /// `12`, `0x7F`
    Integer,
    /// `1.0`, `2.5e-3`
    Float,
    /// `"text"`
    String,
    /// `(`, `->`, …
    Punctuation,
    /// A character that begins no token.
    Unknown,
    /// The end of the text.
    End,
}

/// A token.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Token<'a> {
    pub kind: Kind,
    /// The source text of the token.
    pub text: &'a str,
    /// The byte offset of the first character.
    pub start: usize,
}

impl Token<'_> {
    /// The byte offset after the last character.
    pub fn end(&self) -> usize {
        self.start + self.text.len()
    }

    /// The token in an error message, shortened if it is long.
    pub fn describe(&self) -> String {
        match self.kind {
            Kind::End => "the end of the text".to_string(),
            _ => {
                let mut text: String = self.text.chars().take(40).collect();
                if text.len() < self.text.len() {
                    text.push('…');
                }
                format!("`{text}`")
            }
        }
    }
}

/// The first token at or after a byte offset.
pub(super) fn token(source: &str, offset: usize) -> Token<'_> {
    let bytes = source.as_bytes();
    let start = skip_whitespace_and_comments(bytes, offset);
    let (kind, length) = match bytes.get(start) {
        None => (Kind::End, 0),
        Some(byte) => scan(bytes, start, *byte),
    };
    let mut end = start + length;
    // An unknown character may be encoded in several bytes.
    while !source.is_char_boundary(end) {
        end += 1;
    }
    Token { kind, text: &source[start..end], start }
}

fn skip_whitespace_and_comments(bytes: &[u8], mut offset: usize) -> usize {
    loop {
        match bytes.get(offset) {
            Some(b' ' | b'\t' | b'\n' | b'\r') => offset += 1,
            Some(b'/') if bytes.get(offset + 1) == Some(&b'/') => {
                while offset < bytes.len() && bytes[offset] != b'\n' {
                    offset += 1;
                }
            }
            _ => return offset,
        }
    }
}

fn scan(bytes: &[u8], start: usize, first: u8) -> (Kind, usize) {
    let rest = &bytes[start..];
    match first {
        b'a'..=b'z' | b'A'..=b'Z' | b'_' => (Kind::Word, count(rest, is_word)),
        b'0'..=b'9' => number(rest),
        b'"' => string(rest),
        b'%' => match name(&rest[1..]) {
            0 => (Kind::Unknown, 1),
            length => (Kind::Value, 1 + length + result_number(&rest[1 + length..])),
        },
        b'@' if rest.get(1) == Some(&b'"') => match string(&rest[1..]) {
            (Kind::String, length) => (Kind::Symbol, 1 + length),
            (kind, length) => (kind, 1 + length),
        },
        b'#' if rest.starts_with(b"#-}") => (Kind::Punctuation, 3),
        b'@' => prefixed(Kind::Symbol, rest),
        b'^' => prefixed(Kind::Block, rest),
        b'#' => prefixed(Kind::Hash, rest),
        b'!' => prefixed(Kind::Exclamation, rest),
        b'{' if rest.starts_with(b"{-#") => (Kind::Punctuation, 3),
        b'-' if rest.get(1) == Some(&b'>') => (Kind::Punctuation, 2),
        b':' if rest.get(1) == Some(&b':') => (Kind::Punctuation, 2),
        b'(' | b')' | b'{' | b'}' | b'[' | b']' | b'<' | b'>' | b',' | b':' | b'=' | b'-'
        | b'+' | b'?' | b'*' | b'|' | b'/' => (Kind::Punctuation, 1),
        _ => (Kind::Unknown, 1),
    }
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$' | b'.')
}

fn count(bytes: &[u8], belongs: impl Fn(u8) -> bool) -> usize {
    bytes.iter().take_while(|&&byte| belongs(byte)).count()
}

/// The length of the identifier after `%`, `@`, `#`, `^` or `!`: digits, or a word that may contain `-`.
fn name(bytes: &[u8]) -> usize {
    match bytes.first() {
        Some(b'0'..=b'9') => count(bytes, |byte| byte.is_ascii_digit()),
        _ => count(bytes, |byte| is_word(byte) || byte == b'-'),
    }
}

fn prefixed(kind: Kind, rest: &[u8]) -> (Kind, usize) {
    match name(&rest[1..]) {
        0 => (Kind::Unknown, 1),
        length => (kind, 1 + length),
    }
}

/// The length of a result number such as `#1` after a value's name.
fn result_number(rest: &[u8]) -> usize {
    match rest.first() {
        Some(b'#') => match count(&rest[1..], |byte| byte.is_ascii_digit()) {
            0 => 0,
            digits => 1 + digits,
        },
        _ => 0,
    }
}

fn number(rest: &[u8]) -> (Kind, usize) {
    let is_digit = |byte: u8| byte.is_ascii_digit();
    if rest.starts_with(b"0x") && rest.get(2).is_some_and(u8::is_ascii_hexdigit) {
        return (Kind::Integer, 2 + count(&rest[2..], |byte| byte.is_ascii_hexdigit()));
    }
    let mut length = count(rest, is_digit);
    if rest.get(length) != Some(&b'.') {
        return (Kind::Integer, length);
    }
    length += 1;
    length += count(&rest[length..], is_digit);
    if matches!(rest.get(length), Some(b'e' | b'E')) {
        let sign = usize::from(matches!(rest.get(length + 1), Some(b'+' | b'-')));
        let digits = count(rest.get(length + 1 + sign..).unwrap_or(&[]), is_digit);
        if digits > 0 {
            length += 1 + sign + digits;
        }
    }
    (Kind::Float, length)
}

fn string(rest: &[u8]) -> (Kind, usize) {
    let mut length = 1;
    while let Some(byte) = rest.get(length) {
        match byte {
            b'"' => return (Kind::String, length + 1),
            b'\n' => break,
            b'\\' if rest.get(length + 1).is_some_and(|&next| next != b'\n') => length += 2,
            _ => length += 1,
        }
    }
    (Kind::Unknown, 1)
}

/// The value of a string literal: unquoted and unescaped. Bytes that are not UTF-8 are replaced.
pub(super) fn unescape(quoted: &str) -> String {
    let inner = quoted.strip_prefix('"').and_then(|text| text.strip_suffix('"')).unwrap_or(quoted);
    if !inner.contains('\\') {
        return inner.to_string();
    }
    let bytes = inner.as_bytes();
    let mut plain = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        if bytes[at] != b'\\' {
            plain.push(bytes[at]);
            at += 1;
            continue;
        }
        let hex = bytes
            .get(at + 1..at + 3)
            .and_then(|digits| std::str::from_utf8(digits).ok())
            .filter(|digits| digits.bytes().all(|byte| byte.is_ascii_hexdigit()))
            .and_then(|digits| u8::from_str_radix(digits, 16).ok());
        let (byte, length) = match (bytes.get(at + 1), hex) {
            (_, Some(byte)) => (byte, 3),
            (Some(b'n'), _) => (b'\n', 2),
            (Some(b't'), _) => (b'\t', 2),
            (Some(other), _) => (*other, 2),
            (None, _) => (b'\\', 1),
        };
        plain.push(byte);
        at += length;
    }
    String::from_utf8(plain)
        .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(source: &str) -> Vec<(Kind, &str)> {
        let mut tokens = Vec::new();
        let mut offset = 0;
        loop {
            let token = token(source, offset);
            if token.kind == Kind::End {
                return tokens;
            }
            tokens.push((token.kind, token.text));
            offset = token.end();
        }
    }

    #[test]
    fn every_kind_of_token() {
        use Kind::*;
        let source = "%0:2 = \"a\\\"b\"(%arg0#1) // rest\n @f.g @\"x y\" ^bb0 #loc1 !s.t -> -1.5e+3 0xFf 7 {-# #-}";
        assert_eq!(
            texts(source),
            [
                (Value, "%0"),
                (Punctuation, ":"),
                (Integer, "2"),
                (Punctuation, "="),
                (String, "\"a\\\"b\""),
                (Punctuation, "("),
                (Value, "%arg0#1"),
                (Punctuation, ")"),
                (Symbol, "@f.g"),
                (Symbol, "@\"x y\""),
                (Block, "^bb0"),
                (Hash, "#loc1"),
                (Exclamation, "!s.t"),
                (Punctuation, "->"),
                (Punctuation, "-"),
                (Float, "1.5e+3"),
                (Integer, "0xFf"),
                (Integer, "7"),
                (Punctuation, "{-#"),
                (Punctuation, "#-}"),
            ]
        );
    }

    #[test]
    fn invalid_characters_are_unknown_tokens() {
        assert_eq!(
            texts("é\"open"),
            [(Kind::Unknown, "é"), (Kind::Unknown, "\""), (Kind::Word, "open")]
        );
        assert_eq!(texts("% "), [(Kind::Unknown, "%")]);
        assert_eq!(texts("\"\\"), [(Kind::Unknown, "\""), (Kind::Unknown, "\\")]);
    }

    #[test]
    fn string_escapes() {
        assert_eq!(unescape(r#""a\22b\\c\n\t\C3\A9""#), "a\"b\\c\n\té");
        assert_eq!(unescape(r#""\ff""#), "\u{fffd}");
    }
}
