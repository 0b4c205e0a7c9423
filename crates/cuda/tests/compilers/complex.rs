//! Complex device functions: compiled with NVRTC, and, compiled for the host, against the reference interpreter.

use inflight_cuda::codegen::with_functions;
use inflight_cuda::compile::Compiler;
use inflight_cuda::internals::{binary, type_name, unary};
use inflight_ir::interpret::{scalar_binary, scalar_unary};
use inflight_ir::{BinaryOp, DType, Element, Scalar, UnaryOp};
use inflight_testkit::tests;
use num_complex::Complex;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

tests![complex_functions_compile_with_nvrtc];

tests![HOST_TESTS: complex_functions_match_the_interpreter];

/// The C++ compiler of the host.
const CPP: &str = "c++";

/// Whether there is a C++ compiler. The error says what is missing.
pub fn cpp() -> Result<(), String> {
    match Command::new(CPP).arg("--version").output() {
        Ok(_) => Ok(()),
        Err(_) => Err(format!("needs the C++ compiler `{CPP}`: install GCC or Clang")),
    }
}

/// Host definitions of CUDA built-ins.
const HOST: &str = r#"
#include <cmath>
#include <cstdio>
#include <cstring>
using namespace std;
#define __device__
#define __forceinline__ inline
static inline double __dmul_rn(double a, double b) { return a * b; }
static inline double __longlong_as_double(long long bits) { double x; memcpy(&x, &bits, 8); return x; }
static inline long long bits_of(double x) { long long bits; memcpy(&bits, &x, 8); return bits; }
"#;

/// Signed zeros, infinities, NaN, and magnitudes whose squares or powers overflow or underflow.
const POINTS: [f64; 21] = [
    0.0,
    -0.0,
    1.0,
    -1.0,
    0.375,
    -0.375,
    2.5,
    -2.5,
    30.0,
    -30.0,
    800.0,
    -800.0,
    1e-170,
    -1e-170,
    1e200,
    -1e200,
    1.5e308,
    -1.5e308,
    f64::INFINITY,
    f64::NEG_INFINITY,
    f64::NAN,
];

const UNARY: [UnaryOp; 22] = [
    UnaryOp::Sign,
    UnaryOp::Exp,
    UnaryOp::Exp2,
    UnaryOp::Expm1,
    UnaryOp::Log,
    UnaryOp::Log2,
    UnaryOp::Log1p,
    UnaryOp::Sqrt,
    UnaryOp::Rsqrt,
    UnaryOp::Sin,
    UnaryOp::Cos,
    UnaryOp::Tan,
    UnaryOp::Asin,
    UnaryOp::Acos,
    UnaryOp::Atan,
    UnaryOp::Sinh,
    UnaryOp::Cosh,
    UnaryOp::Tanh,
    UnaryOp::Asinh,
    UnaryOp::Acosh,
    UnaryOp::Atanh,
    UnaryOp::Sigmoid,
];

/// A temporary folder, removed on drop.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Folder {
        let name = format!("inflight-complex-{}", std::process::id());
        let path = std::env::temp_dir().join(name);
        std::fs::create_dir_all(&path).unwrap();
        Folder(path)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// A program that prints the bits of every function's results, in the order of the assertions.
fn program() -> String {
    let mut kernel = String::from("static const double points[] = {");
    for x in POINTS {
        write!(kernel, "__longlong_as_double(0x{:x}ll), ", x.to_bits()).unwrap();
    }
    kernel.push_str(
        "};\nstatic void put(c128 z) { printf(\"%llx %llx\\n\", bits_of(z.re), bits_of(z.im)); }\n",
    );
    kernel.push_str("int main() {\n");
    let count = POINTS.len();
    let each = |names: &[&str]| {
        let mut text = String::new();
        for name in names {
            writeln!(text, "for (int {name} = 0; {name} < {count}; {name}++)").unwrap();
        }
        text
    };
    for op in UNARY {
        let call = unary(op, DType::C128, "z");
        kernel.push_str(&each(&["i", "j"]));
        writeln!(kernel, "{{ c128 z = c128{{points[i], points[j]}}; put({call}); }}").unwrap();
    }
    let call = binary(BinaryOp::Div, DType::C128, "a", "b");
    kernel.push_str(&each(&["i", "j", "k", "l"]));
    kernel.push_str("{ c128 a = c128{points[i], points[j]}, b = c128{points[k], points[l]}; ");
    writeln!(kernel, "put({call}); }}").unwrap();
    kernel.push_str("}\n");
    format!("{HOST}{}", with_functions(&kernel))
}

/// Whether two parts agree within a few roundings.
fn is_same(found: f64, expected: f64) -> bool {
    if found.is_nan() || expected.is_nan() || found == 0.0 || expected == 0.0 {
        let is_zero = found == 0.0 && expected == 0.0;
        return found.is_nan() && expected.is_nan()
            || is_zero && found.is_sign_negative() == expected.is_sign_negative();
    }
    found == expected || (found - expected).abs() <= 1e-14 * expected.abs()
}

fn compile(folder: &Path) -> PathBuf {
    let (source, binary) = (folder.join("complex.cpp"), folder.join("complex"));
    std::fs::write(&source, program()).unwrap();
    let mut command = Command::new(CPP);
    command.args(["-std=c++17", "-O1", "-ffp-contract=off", "-o"]).arg(&binary).arg(&source);
    let output = command.output().unwrap();
    let fault = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{fault}");
    binary
}

fn complex_functions_match_the_interpreter() {
    let folder = Folder::new();
    let program = compile(&folder.0);
    let output = String::from_utf8(Command::new(program).output().unwrap().stdout).unwrap();
    let mut results = output.lines().map(|line| {
        let bits = line.split(' ').map(|part| u64::from_str_radix(part, 16).unwrap());
        bits.map(f64::from_bits).collect::<Vec<f64>>()
    });
    let mut failures = Vec::new();
    let mut expect = |of: String, expected: Scalar| {
        let (found, expected) = (results.next().unwrap(), Complex::<f64>::from_scalar(expected));
        if !is_same(found[0], expected.re) || !is_same(found[1], expected.im) {
            failures.push(format!("{of} is {found:?}, not {expected:?}"));
        }
    };
    let values: Vec<Complex<f64>> =
        POINTS.iter().flat_map(|&re| POINTS.iter().map(move |&im| Complex::new(re, im))).collect();
    for op in UNARY {
        for z in &values {
            expect(format!("{}({z:e})", op.name()), scalar_unary(op, z.to_scalar()));
        }
    }
    for a in &values {
        for b in &values {
            let quotient = scalar_binary(BinaryOp::Div, a.to_scalar(), b.to_scalar());
            expect(format!("({a:e}) / ({b:e})"), quotient);
        }
    }
    assert!(results.next().is_none());
    let shown = failures[..failures.len().min(20)].join("\n");
    assert!(failures.is_empty(), "{} differ:\n{shown}", failures.len());
}

fn complex_functions_compile_with_nvrtc() {
    let compiler = Compiler::new("sm_90".to_owned(), || None);
    let mut kernel = String::from("extern \"C\" __global__ void entry(c64* v64, c128* v128) {\n");
    for dtype in [DType::C64, DType::C128] {
        let (name, of) = (type_name(dtype), 8 * dtype.size());
        let calls = UNARY.map(|op| unary(op, dtype, "z"));
        let pairs = [BinaryOp::Div, BinaryOp::Pow].map(|op| binary(op, dtype, "z", "z"));
        for call in calls.iter().chain(&pairs) {
            let value = format!("v{}[threadIdx.x]", of);
            writeln!(kernel, "{{ {name} z = {value}; {value} = {call}; }}").unwrap();
        }
    }
    kernel.push_str("}\n");
    let compiled = compiler.compile(&with_functions(&kernel));
    assert!(compiled.is_ok(), "{:?}", compiled.err());
}
