//! Self-checking programs, one or more for each operation, and the table of what they cover.

use inflight_hlo::interpret::{check, interpret};
use inflight_hlo::lower::lower;
use inflight_hlo::module::{ElementType, Module, Operation, Region, Type, ValueId};
use inflight_ir::DType;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt::Write;
use std::path::{Path, PathBuf};

fn programs() -> Vec<(String, Module)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/ops");
    let mut files: Vec<PathBuf> =
        std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    let read = |file: &PathBuf| {
        let name = file.file_name().unwrap().to_string_lossy().into_owned();
        let text = std::fs::read_to_string(file).unwrap();
        let module = inflight_hlo::parse(&text).unwrap_or_else(|error| panic!("{name}: {error}"));
        (name, module)
    };
    files.iter().map(read).collect()
}

/// Why a program fails, if it does. The call `test.identity` hides from the lowering what is known.
fn failure(module: &Module) -> Option<String> {
    let program = match lower(module, None) {
        Ok(program) => program,
        Err(error) => return Some(error.to_string()),
    };
    let mut calls = |call: &inflight_hlo::program::Call, inputs: &[&_]| match call.target.as_str() {
        "test.identity" => Ok(inputs.iter().map(|&input: &&_| Clone::clone(input)).collect()),
        _ => check(call, inputs),
    };
    interpret(&program, &[], &mut calls).err().map(|error| error.to_string())
}

#[test]
fn every_program_passes_its_own_checks() {
    let failures: Vec<String> = programs()
        .iter()
        .filter_map(|(name, module)| Some(format!("{name}: {}", failure(module)?)))
        .collect();
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn a_wrong_expectation_fails() {
    let text = "func.func @main() {
        %a = stablehlo.constant dense<[1.0, 2.0]> : tensor<2xf32>
        %b = stablehlo.constant dense<[1.0, 2.5]> : tensor<2xf32>
        stablehlo.custom_call @check.expect_close(%a, %b) {has_side_effect = true} : (tensor<2xf32>, tensor<2xf32>) -> ()
        return
    }";
    let failure = failure(&inflight_hlo::parse(text).unwrap()).unwrap();
    assert!(
        failure.contains(
            "element [1] of f32[2] is 2.0, expected 2.5, up to 3 ulps apart; 0 more differ"
        ),
        "{failure}"
    );
}

/// The operations of the specification.
const SPECIFIED: &[&str] = &[
    "abs",
    "add",
    "after_all",
    "all_gather",
    "all_reduce",
    "all_to_all",
    "and",
    "atan2",
    "batch_norm_grad",
    "batch_norm_inference",
    "batch_norm_training",
    "bitcast_convert",
    "broadcast_in_dim",
    "case",
    "cbrt",
    "ceil",
    "cholesky",
    "clamp",
    "collective_broadcast",
    "collective_permute",
    "compare",
    "complex",
    "composite",
    "concatenate",
    "constant",
    "convert",
    "convolution",
    "cosine",
    "count_leading_zeros",
    "custom_call",
    "divide",
    "dot_general",
    "dynamic_broadcast_in_dim",
    "dynamic_conv",
    "dynamic_gather",
    "dynamic_iota",
    "dynamic_pad",
    "dynamic_reshape",
    "dynamic_slice",
    "dynamic_update_slice",
    "exponential",
    "exponential_minus_one",
    "fft",
    "floor",
    "gather",
    "get_dimension_size",
    "get_tuple_element",
    "if",
    "imag",
    "infeed",
    "iota",
    "is_finite",
    "log",
    "log_plus_one",
    "logistic",
    "map",
    "maximum",
    "minimum",
    "multiply",
    "negate",
    "not",
    "optimization_barrier",
    "or",
    "outfeed",
    "pad",
    "partition_id",
    "popcnt",
    "power",
    "real",
    "recv",
    "reduce",
    "reduce_precision",
    "reduce_scatter",
    "reduce_window",
    "remainder",
    "replica_id",
    "reshape",
    "reverse",
    "rng",
    "rng_bit_generator",
    "round_nearest_afz",
    "round_nearest_even",
    "rsqrt",
    "scatter",
    "select",
    "select_and_scatter",
    "send",
    "shift_left",
    "shift_right_arithmetic",
    "shift_right_logical",
    "sign",
    "sine",
    "slice",
    "sort",
    "sqrt",
    "subtract",
    "tan",
    "tanh",
    "transpose",
    "triangular_solve",
    "tuple",
    "uniform_dequantize",
    "uniform_quantize",
    "while",
    "xor",
];

/// Those that are refused when a program is loaded, and why.
const REFUSED: &[(&str, &[&str])] = &[
    (
        "collectives: there is one device",
        &[
            "all_gather",
            "all_reduce",
            "all_to_all",
            "collective_broadcast",
            "collective_permute",
            "reduce_scatter",
        ],
    ),
    ("exchange with the host or another device", &["infeed", "outfeed", "recv", "send"]),
    ("quantized types", &["uniform_dequantize", "uniform_quantize"]),
];

/// The columns of the table.
const CLASSES: [(&str, &[DType]); 6] = [
    ("`i1`", &[DType::Bool]),
    ("`i8` … `i64`", &[DType::I8, DType::I16, DType::I32, DType::I64]),
    ("`ui8` … `ui64`", &[DType::U8, DType::U16, DType::U32, DType::U64]),
    ("`f16`, `bf16`", &[DType::F16, DType::BF16]),
    ("`f32`, `f64`", &[DType::F32, DType::F64]),
    ("`complex`", &[DType::C64, DType::C128]),
];

type Coverage = BTreeMap<String, BTreeSet<DType>>;

/// Adds the operations of a region and the element types they read and write.
fn cover(region: &Region, types: &mut HashMap<ValueId, Type>, coverage: &mut Coverage) {
    types.extend(region.arguments.iter().map(|value| (value.id, value.ty.clone())));
    for operation in &region.operations {
        let Operation { name, operands, results, regions, .. } = operation;
        types.extend(results.iter().map(|value| (value.id, value.ty.clone())));
        let row = coverage.entry(name.clone()).or_default();
        let own = operands.iter().filter_map(|id| types.get(id));
        for ty in own.chain(results.iter().map(|value| &value.ty)) {
            if let Type::Tensor(tensor) = ty
                && let ElementType::Core(dtype) = tensor.element
            {
                row.insert(dtype);
            }
        }
        for region in regions {
            cover(region, types, coverage);
        }
    }
}

fn coverage() -> Coverage {
    let mut coverage = Coverage::new();
    for (_, module) in programs() {
        for function in &module.functions {
            cover(&function.body, &mut HashMap::new(), &mut coverage);
        }
    }
    coverage.retain(|name, _| name.starts_with("stablehlo.") || name.starts_with("chlo."));
    coverage.remove("stablehlo.return");
    coverage
}

fn rows(table: &mut String, coverage: &Coverage, prefix: &str, keep: impl Fn(&str) -> bool) {
    let header: Vec<&str> = CLASSES.iter().map(|(name, _)| *name).collect();
    writeln!(table, "| operation | {} |", header.join(" | ")).unwrap();
    writeln!(table, "|---|{}", "---|".repeat(CLASSES.len())).unwrap();
    for (name, dtypes) in coverage {
        let Some(short) = name.strip_prefix(prefix).filter(|short| keep(short)) else { continue };
        write!(table, "| `{short}` |").unwrap();
        for (_, class) in CLASSES {
            let found: Vec<&str> = class
                .iter()
                .filter(|dtype| dtypes.contains(dtype))
                .map(|dtype| dtype.name())
                .collect();
            match found.len() {
                0 => table.push_str(" |"),
                all if all == class.len() => table.push_str(" ✓ |"),
                _ => write!(table, " {} |", found.join(", ")).unwrap(),
            }
        }
        table.push('\n');
    }
}

#[test]
fn the_table_says_what_is_covered() {
    let coverage = coverage();
    let refused = |name: &str| REFUSED.iter().any(|(_, names)| names.contains(&name));
    for name in SPECIFIED {
        let is_covered = coverage.contains_key(&format!("stablehlo.{name}"));
        assert_ne!(is_covered, refused(name), "{name} is either covered by a program or refused");
    }

    let mut page = String::from(
        "# StableHLO operations\n\n\
         What `inflight` runs of the StableHLO specification and of CHLO. The table is written by a test \
         (`crates/hlo/tests/ops.rs`) from the programs in `crates/hlo/tests/ops`, which check themselves: a ✓ \
         means that the operation is tested on every element type of the column; names are those of the \
         element types that are. `INFLIGHT_WRITE_TABLES=1 cargo test -p inflight-hlo --test ops` writes it \
         again.\n\n## The specification\n\n",
    );
    rows(&mut page, &coverage, "stablehlo.", |name| SPECIFIED.contains(&name));
    page.push_str("\nOperations of earlier versions, which are still read:\n\n");
    rows(&mut page, &coverage, "stablehlo.", |name| !SPECIFIED.contains(&name));
    page.push_str("\n## CHLO\n\n");
    rows(&mut page, &coverage, "chlo.", |_| true);
    page.push_str("\n## Refused when a program is loaded\n\n| operations | because |\n|---|---|\n");
    for (reason, names) in REFUSED {
        let names: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
        writeln!(page, "| {} | {reason} |", names.join(", ")).unwrap();
    }
    page.push_str(
        "\nOperations whose shapes are operands (`dynamic_…`, `real_dynamic_slice`) take shapes that come from \
         constants and from the shapes of arguments. `rng` gives the same numbers in every execution. \
         A `custom_call` is looked up among the functions registered with the runtime; those that stand for an \
         operation are that operation: `mhlo.erf` and its kin, `mhlo.topk`, `ApproxTopK`, and what JAX exports for \
         CPUs in place of `cholesky` and `triangular_solve` (`lapack_…potrf_ffi`, `lapack_…trsm_ffi`). The runtime \
         has functions of its own for `check.…`, and for LU and QR factors and the eigenvectors of Hermitian \
         matrices (`lapack_…getrf_ffi`, `geqrf`, `orgqr`, `ungqr`, `syevd`, `heevd`). \
         `partition_id` and `replica_id` are 0. Functions may not call themselves. In the functions of scalars \
         that `reduce`, `scatter`, `sort` and their kin take, operations are elementwise, branches included.\n",
    );

    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/stablehlo.md");
    if std::env::var_os("INFLIGHT_WRITE_TABLES").is_some() {
        std::fs::write(&path, &page).unwrap();
    }
    let written = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        written == page,
        "docs/stablehlo.md is out of date: run the tests with INFLIGHT_WRITE_TABLES=1 set"
    );
}
