//! Mutation fuzzing of the readers: mutated programs give a module or an error, and modules round-trip through the
//! printer.
//!
//! Mutations are deterministic. `INFLIGHT_FUZZ_SECONDS=600` continues with further seeds for that long. The `fuzz`
//! folder at the root checks the same property with cargo-fuzz, which is guided by coverage.

use inflight_hlo::{parse, print, read};
use std::panic::catch_unwind;
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// Random number generator (SplitMix64).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound.max(1) as u64) as usize
    }
}

/// The files of the test data and the corpus with this suffix.
fn seeds(ending: &str) -> Vec<Vec<u8>> {
    let tests = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests");
    let mut paths: Vec<PathBuf> = ["data", "corpus"]
        .iter()
        .flat_map(|folder| std::fs::read_dir(tests.join(folder)).unwrap())
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.to_string_lossy().ends_with(ending))
        .collect();
    paths.sort();
    assert!(!paths.is_empty());
    paths.iter().map(|path| std::fs::read(path).unwrap()).collect()
}

/// Tokens and fragments that are valid somewhere in the grammar.
const FRAGMENTS: [&str; 40] = [
    "%0",
    "%arg0",
    "%0#1",
    "%0:2 =",
    "#a",
    "!t",
    "@main",
    "^bb0(%q: tensor<f32>):",
    "(",
    ")",
    "{",
    "}",
    "[",
    "]",
    "<",
    ">",
    ",",
    ":",
    "=",
    "->",
    "-",
    "\"",
    "\\",
    "dense<",
    "dense<[[1], [2]]> : tensor<2x1xi8>",
    "tensor<99999999999999999999xf32>",
    "tensor<?x0xf32>",
    "array<i64: 1, 2>",
    "loc(unknown)",
    "{-#",
    "#-}",
    "0x7FC00000",
    "-0.0e-99999",
    "18446744073709551616",
    "#stablehlo.conv<[b, f]x[i, o]->[b, f]>",
    "stablehlo.add",
    "func.func",
    "complex<f32>",
    "true",
    "é",
];

fn mutated(random: &mut Random, seeds: &[Vec<u8>], is_text: bool) -> Vec<u8> {
    let mut bytes = seeds[random.below(seeds.len())].clone();
    for _ in 0..1 + random.below(6) {
        let start = random.below(bytes.len());
        let longest = if random.below(4) == 0 { 400 } else { 8 };
        let length = 1 + random.below(longest);
        let end = (start + length).min(bytes.len());
        match random.below(7) {
            0 => drop(bytes.drain(start..end)),
            1 => {
                let part = bytes[start..end].to_vec();
                let target = random.below(bytes.len());
                bytes.splice(target..target, part);
            }
            2 => {
                let other = &seeds[random.below(seeds.len())];
                let from = random.below(other.len());
                let part = other[from..(from + length).min(other.len())].to_vec();
                bytes.splice(start..end, part);
            }
            3 if is_text => {
                let fragment = FRAGMENTS[random.below(FRAGMENTS.len())];
                bytes.splice(start..start, fragment.bytes());
            }
            4 if is_text => {
                let fragment = FRAGMENTS[random.below(FRAGMENTS.len())];
                bytes.splice(start..end, fragment.bytes());
            }
            5 => {
                if let Some(byte) = bytes.get_mut(start) {
                    *byte = random.next() as u8;
                }
            }
            _ => {
                if let Some(byte) = bytes.get_mut(start) {
                    *byte ^= 1 << random.below(8);
                }
            }
        }
    }
    bytes
}

/// Checks the property for one input. Returns whether the input is a valid program.
fn check_round_trip(bytes: &[u8]) -> bool {
    let Ok(module) = read(bytes) else { return false };
    let text = print(&module);
    match parse(&text) {
        Ok(again) => {
            let again = print(&again);
            let differs = text.lines().zip(again.lines()).find(|(first, second)| first != second);
            assert_eq!(differs, None, "the second print differs from the first");
            assert_eq!(text.len(), again.len());
        }
        Err(error) => panic!("{text}\n{error}"),
    }
    true
}

fn run(ending: &str, rounds: usize) {
    let is_text = ending == ".mlir";
    let seeds = seeds(ending);
    for seed in &seeds {
        check_round_trip(seed);
    }
    let seconds = std::env::var("INFLIGHT_FUZZ_SECONDS").ok().and_then(|text| text.parse().ok());
    let end = seconds.map(|seconds| Instant::now() + Duration::from_secs(seconds));
    let mut programs = 0;
    let mut round = 0;
    while round < rounds || end.is_some_and(|end| Instant::now() < end) {
        let mut random = Random(round as u64);
        let bytes = mutated(&mut random, &seeds, is_text);
        match catch_unwind(|| check_round_trip(&bytes)) {
            Ok(is_program) => programs += usize::from(is_program),
            Err(_) => {
                let path = std::env::temp_dir().join(format!("inflight-fuzz-{round}{ending}"));
                std::fs::write(&path, &bytes).unwrap();
                panic!("round {round} failed; the input is written to {}", path.display());
            }
        }
        round += 1;
    }
    println!("{round} rounds, {programs} of them valid programs");
    // If nearly all mutants were invalid, the printer would hardly be tested.
    assert!(programs * 100 > round, "{programs} valid programs in {round} rounds");
}

#[test]
fn mutated_text_is_a_module_or_an_error() {
    run(".mlir", 4000);
}

#[test]
fn mutated_bytecode_is_a_module_or_an_error() {
    run(".mlirbc", 10000);
}
