//! Self-checking StableHLO programs, one for each operation and class of dtypes, run on the device.

use crate::support::device;
use inflight::program::CustomCalls;
use inflight::{Device, Program, Result};
use std::path::{Path, PathBuf};

/// Runs a self-checking program.
fn check(program: &Program, device: &Device) -> Result<()> {
    let execution = device.compile(program)?.submit(&[])?;
    execution.done.get()?;
    execution.results.iter().try_for_each(|result| result.wait())
}

#[test]
fn every_operation_passes_its_self_checking_program() {
    // Hide constants from constant folding.
    CustomCalls::register("test.identity", |inputs, outputs| {
        for (input, output) in inputs.iter().zip(outputs) {
            output.bytes.copy_from_slice(input.bytes);
        }
        Ok(())
    });
    // In a bundle, the programs are beside the binary.
    let folder = match std::env::var_os("INFLIGHT_TEST_OPS") {
        Some(folder) => PathBuf::from(folder),
        None => Path::new(env!("CARGO_MANIFEST_DIR")).join("../hlo/tests/ops"),
    };
    let device = device();
    let (mut passed, mut failures) = (0, Vec::new());
    for entry in std::fs::read_dir(&folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|extension| extension != "mlir") {
            continue;
        }
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let program = Program::load(&path).unwrap();
        // Unsupported types: tokens, quantized types and the like.
        if program.excluded_feature().is_some() {
            continue;
        }
        match check(&program, &device) {
            Ok(()) => passed += 1,
            Err(error) => failures.push(format!("{name}: {error}")),
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
    assert!(passed > 100, "only {passed} programs were found");
}
