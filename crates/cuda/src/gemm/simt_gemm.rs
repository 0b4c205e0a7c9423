//! SIMT GEMM for any dtype and any strides, without tensor cores: one thread per element of the result.

use crate::background::EnqueueError;
use crate::device::Shared;
use crate::driver::Function;
use inflight_backend::{Fault, FaultKind, GemmLaunch};
use inflight_ir::DType;
use std::sync::Arc;

/// Upper bound of batch axes.
const MAX_BATCH_AXES: usize = 8;

/// Threads of a block.
const THREADS: u32 = 256;

/// A launch of one of the backend's GEMM kernels: SIMT GEMM, transposes and operand splits.
pub struct GemmKernelLaunch {
    pub function: Arc<Function>,
    pub blocks: u32,
    pub threads: u32,
    /// The arguments, as the kernel source declares them.
    pub words: Vec<u64>,
}

/// The launch of a GEMM whose operands are at these addresses.
pub fn launch(
    shared: &Arc<Shared>,
    gemm: &GemmLaunch,
    addresses: [u64; 3],
) -> Result<GemmKernelLaunch, EnqueueError> {
    if gemm.batch.len() > MAX_BATCH_AXES {
        let message =
            format!("a GEMM with {} batch axes (at most {MAX_BATCH_AXES})", gemm.batch.len());
        return Err(Fault::from(FaultKind::Unsupported(message)).into());
    }
    let function = shared.function(&source(gemm.dtype)).poll()?;
    let operands = [&gemm.a, &gemm.b, &gemm.c];
    let batches: usize = gemm.batch.iter().product();
    let total = batches * gemm.m * gemm.n;
    let mut words = vec![total as u64, gemm.m as u64, gemm.n as u64, gemm.k as u64];
    words.push(gemm.batch.len() as u64);
    let size = gemm.dtype.size() as i64;
    for (operand, address) in operands.iter().zip(addresses) {
        words.push(address.wrapping_add_signed(operand.offset as i64 * size));
    }
    for operand in operands {
        words.extend([operand.row_stride as u64, operand.column_stride as u64]);
    }
    let padded = |values: &mut dyn Iterator<Item = u64>| {
        let mut values: Vec<u64> = values.collect();
        values.resize(MAX_BATCH_AXES, 0);
        values
    };
    words.extend(padded(&mut gemm.batch.iter().map(|&extent| extent as u64)));
    for operand in operands {
        words.extend(padded(&mut operand.batch_strides.iter().map(|&stride| stride as u64)));
    }
    let blocks = total.div_ceil(THREADS as usize).min(1 << 30) as u32;
    Ok(GemmKernelLaunch { function, blocks, threads: THREADS, words })
}

/// The kernel source. Float sums are accumulated in double precision and rounded once.
pub fn source(dtype: DType) -> String {
    let (element, wide, load, store) = match dtype {
        DType::Bool => ("unsigned char", "unsigned char", "x", "x"),
        DType::I8 | DType::U8 => ("unsigned char", "unsigned", "x", "(unsigned char)x"),
        DType::I16 | DType::U16 => ("unsigned short", "unsigned", "x", "(unsigned short)x"),
        DType::I32 | DType::U32 => ("unsigned", "unsigned", "x", "x"),
        DType::I64 | DType::U64 => ("unsigned long long", "unsigned long long", "x", "x"),
        DType::F16 => ("f16", "double", "(double)to_float(x)", "to_f16(round_to_odd_f32(x))"),
        DType::BF16 => ("bf16", "double", "(double)to_float(x)", "to_bf16(round_to_odd_f32(x))"),
        DType::F32 => ("float", "double", "(double)x", "(float)x"),
        DType::F64 => ("double", "double", "x", "x"),
        DType::C64 => ("c64", "c128", "widen(x)", "narrow(x)"),
        DType::C128 => ("c128", "c128", "x", "x"),
    };
    let (zero, step) = match dtype {
        DType::Bool => ("0", "sum = sum | (x & y)"),
        DType::C64 | DType::C128 => ("{0.0, 0.0}", "sum = complex_add(sum, complex_mul(x, y))"),
        _ => ("0", "sum += x * y"),
    };
    crate::codegen::with_functions(&format!(
        "struct Arguments {{ long long total, m, n, k, axes; {element} *a, *b, *c; long long stride[6]; \
         long long extent[{MAX_BATCH_AXES}], batch[3 * {MAX_BATCH_AXES}]; }};\n\
         FN {wide} load({element} x) {{ return {load}; }}\n\
         FN {element} store({wide} x) {{ return {store}; }}\n\
         extern \"C\" __global__ void __launch_bounds__(256) entry(const __grid_constant__ Arguments a) {{\n\
         for (long long at = (long long)blockIdx.x * 256 + threadIdx.x; at < a.total; \
         at += (long long)gridDim.x * 256) {{\n\
             const long long column = at % a.n, row = at / a.n % a.m;\n\
             long long rest = at / a.n / a.m;\n\
             {element} *left = a.a + row * a.stride[0], *right = a.b + column * a.stride[3];\n\
             {element} *result = a.c + row * a.stride[4] + column * a.stride[5];\n\
             for (int axis = (int)a.axes - 1; axis >= 0; axis--) {{\n\
                 const long long c = rest % a.extent[axis]; rest /= a.extent[axis];\n\
                 left += c * a.batch[axis]; right += c * a.batch[{MAX_BATCH_AXES} + axis]; \
                 result += c * a.batch[2 * {MAX_BATCH_AXES} + axis];\n\
             }}\n\
             {wide} sum = {zero};\n\
             for (long long i = 0; i < a.k; i++) {{\n\
                 const {wide} x = load(left[i * a.stride[1]]), y = load(right[i * a.stride[2]]);\n\
                 {step};\n\
             }}\n\
             *result = store(sum);\n\
         }}\n}}\n"
    ))
}
