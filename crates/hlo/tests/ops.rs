//! Conformance tests: self-checking programs for every operation, and the coverage table in docs/stablehlo.md.

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

/// The error of a program, if it fails. The call `test.identity` hides constants from constant folding.
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
fn self_checking_programs_pass() {
    let failures: Vec<String> = programs()
        .iter()
        .filter_map(|(name, module)| Some(format!("{name}: {}", failure(module)?)))
        .collect();
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn failed_check_is_an_error() {
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

/// The operations of the StableHLO specification.
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

/// The operations that are not supported, by reason.
const UNSUPPORTED: &[(&str, &[&str])] = &[
    (
        "collective operations: a program runs on one device",
        &[
            "all_gather",
            "all_reduce",
            "all_to_all",
            "collective_broadcast",
            "collective_permute",
            "reduce_scatter",
        ],
    ),
    ("communication with the host or other devices", &["infeed", "outfeed", "recv", "send"]),
    ("quantized types are not supported", &["uniform_dequantize", "uniform_quantize"]),
];

/// The beginning of docs/stablehlo.md.
const INTRODUCTION: &str = "\
# StableHLO support

`inflight` runs StableHLO programs: text (`.mlir`, pretty or generic form) and MLIR bytecode (portable artifacts of \
VHLO 1.0 or later, as `jax.export` writes them). [Programs](programs.md) says how to run one. This page lists the \
supported operations and their limits.

In the tables, ✓ means that the operation is tested with every element type of the column. Where only some of them \
are tested, the cell names those. Rows without a mark are operations on tokens.
";

/// The end of docs/stablehlo.md.
const LIMITS: &str = "
## Limits

| area | limit |
|---|---|
| shapes | Operations that take shapes as operands (`dynamic_…`, `real_dynamic_slice`) need shapes that are computed \
from constants and from the shapes of arguments. |
| bodies | The regions of `reduce`, `reduce_window`, `scatter`, `select_and_scatter`, `sort` and `map` may contain \
elementwise operations, calls, branches, and loops with a constant trip count. |
| functions | Functions must not be recursive. A program has at most 1,000,000 operations after inlining. |
| `rng` | It gives the same values in every execution. |
| `partition_id`, `replica_id` | They are 0. |
| sharding | `Sharding`, `SPMDFullToShardShape` and `SPMDShardToFullShape` annotations are ignored. |
| text and bytecode | Attributes, types and regions nest at most 100 levels deep. Bytecode version 6 is the newest \
that is read. |

## Custom calls

| target | lowered to |
|---|---|
| `mhlo.erf` and the other elementwise `mhlo.…` targets | the CHLO operation of the same name |
| `mhlo.topk` | `chlo.top_k` |
| `ApproxTopK` | an exact top-k |
| `lapack_…potrf_ffi`, `lapack_…trsm_ffi` | `cholesky`, `triangular_solve` |
| `lapack_…getrf_ffi`, `geqrf`, `orgqr`, `ungqr`, `syevd`, `heevd` | functions of the runtime: LU and QR \
factorizations, and eigenvectors of Hermitian matrices |
| `check.…` | functions of the runtime that compare values |
| any other | a function that is registered with `CustomCalls::register`; `Device::compile` rejects unknown targets |

## How this page is generated

The test `crates/hlo/tests/ops.rs` writes this page from the self-checking programs in `crates/hlo/tests/ops`, and \
fails if it is out of date:

    INFLIGHT_WRITE_TABLES=1 cargo test -p inflight-hlo --test ops
";

/// The columns of the coverage table.
const CLASSES: [(&str, &[DType]); 6] = [
    ("`i1`", &[DType::Bool]),
    ("`i8` … `i64`", &[DType::I8, DType::I16, DType::I32, DType::I64]),
    ("`ui8` … `ui64`", &[DType::U8, DType::U16, DType::U32, DType::U64]),
    ("`f16`, `bf16`", &[DType::F16, DType::BF16]),
    ("`f32`, `f64`", &[DType::F32, DType::F64]),
    ("`complex`", &[DType::C64, DType::C128]),
];

type Coverage = BTreeMap<String, BTreeSet<DType>>;

/// Records the operations of a region, and the element types of their operands and results.
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
fn coverage_table_is_up_to_date() {
    let coverage = coverage();
    let is_unsupported = |name: &str| UNSUPPORTED.iter().any(|(_, names)| names.contains(&name));
    for name in SPECIFIED {
        let is_covered = coverage.contains_key(&format!("stablehlo.{name}"));
        assert_ne!(
            is_covered,
            is_unsupported(name),
            "{name} must be either covered by a program or listed as unsupported"
        );
    }

    let mut page = String::from(INTRODUCTION);
    page.push_str("\n## Supported operations\n\n### StableHLO\n\n");
    rows(&mut page, &coverage, "stablehlo.", |name| SPECIFIED.contains(&name));
    page.push_str("\n### Operations of earlier StableHLO versions\n\n");
    rows(&mut page, &coverage, "stablehlo.", |name| !SPECIFIED.contains(&name));
    page.push_str("\n### CHLO\n\n");
    rows(&mut page, &coverage, "chlo.", |_| true);
    page.push_str(
        "\n## Unsupported operations\n\n`Device::compile` rejects these operations, with the line of each \
         use:\n\n| operations | reason |\n|---|---|\n",
    );
    for (reason, names) in UNSUPPORTED {
        let names: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
        writeln!(page, "| {} | {reason} |", names.join(", ")).unwrap();
    }
    page.push_str(LIMITS);

    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/stablehlo.md");
    if std::env::var_os("INFLIGHT_WRITE_TABLES").is_some() {
        std::fs::write(&path, &page).unwrap();
    }
    let written = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        written == page,
        "docs/stablehlo.md is out of date; regenerate it with INFLIGHT_WRITE_TABLES=1"
    );
}
