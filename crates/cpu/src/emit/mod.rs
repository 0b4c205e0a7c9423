//! JIT compiler for x86-64: emits AVX2 and AVX-512 machine code from tile IR kernels.
//!
//! [`compile`] is the pipeline: expand transcendental functions, schedule the kernel into passes, emit each
//! pass's loops, copy the code into executable memory. [`Code::run`] iterates over the outer grid axes and calls
//! the code for each run of programs along the innermost one.
//!
//! A value occupies one vector register: 32-bit lanes for dtypes of up to 32 bits, 64-bit lanes for the others,
//! with as many lanes as the widest dtype of the kernel allows. `f16` and `bf16` are held as `f32`, small
//! integers as `i32`, `bool` as an opmask on AVX-512 and as lane masks of all ones or zeros on AVX2.
//!
//! From the outside in:
//! - `driver` fills the argument block (`argument_layout`) and calls the code; `bound_call` repeats such a call;
//!   `transposed_tiles` and `transpose` serve transposed accesses through in-register transposes;
//! - `loop_nest` emits prologue, epilogue, unrolled loops and tails, `column_reduction` the row-unrolled column
//!   reductions;
//! - `lowering` selects instructions for the body, by `load_store`, `gather_scatter`, `combining_store`,
//!   `arithmetic`, `compare`, `convert` and `reduce`;
//! - `emitter` provides operands and constants; `register_allocator` is the linear-scan register allocator;
//! - `assembler` and `opcodes` encode; `executable_memory` maps the code.
//!
//! Kernels that this module cannot compile return [`Unsupported`] and run in the block interpreter.

mod argument_layout;
mod arithmetic;
mod assembler;
mod bound_call;
mod column_reduction;
mod combining_store;
mod compare;
mod convert;
mod driver;
mod emitter;
mod executable_memory;
mod gather_scatter;
mod load_store;
mod loop_nest;
mod lowering;
mod opcodes;
mod reduce;
mod register_allocator;
#[cfg(test)]
mod tests;
mod transpose;
mod transposed_tiles;

use argument_layout::ArgumentLayout;
pub use bound_call::BoundCode;
use executable_memory::ExecutableMemory;
use inflight_ir::kernel::{Kernel, Schedule};
use std::fmt;
use std::sync::OnceLock;
use transposed_tiles::TransposedTiles;

/// A target vector instruction set.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Isa {
    /// AVX-512 F, DQ, BW and VL: 32 512-bit registers and opmasks.
    Avx512,
    /// AVX2, FMA and F16C: 16 256-bit registers.
    Avx2,
}

impl Isa {
    /// The widest instruction set that this CPU supports.
    pub fn detect() -> Option<Isa> {
        if !cfg!(all(target_arch = "x86_64", unix)) {
            return None;
        }
        [Isa::Avx512, Isa::Avx2].into_iter().find(|isa| isa.is_present())
    }

    /// Whether this CPU supports it.
    #[cfg(target_arch = "x86_64")]
    pub fn is_present(self) -> bool {
        let avx2 = is_x86_feature_detected!("avx2")
            && is_x86_feature_detected!("fma")
            && is_x86_feature_detected!("f16c")
            && is_x86_feature_detected!("bmi2");
        match self {
            Isa::Avx2 => avx2,
            Isa::Avx512 => {
                avx2 && is_x86_feature_detected!("avx512f")
                    && is_x86_feature_detected!("avx512dq")
                    && is_x86_feature_detected!("avx512bw")
                    && is_x86_feature_detected!("avx512vl")
            }
        }
    }

    /// Whether this CPU supports it.
    #[cfg(not(target_arch = "x86_64"))]
    pub fn is_present(self) -> bool {
        false
    }
}

/// Why a kernel has no machine code.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Unsupported(pub String);

impl fmt::Display for Unsupported {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "no machine code for {}", self.0)
    }
}

impl std::error::Error for Unsupported {}

/// Compiled machine code of a kernel.
pub struct Code {
    executable: ExecutableMemory,
    /// Offset of the constant pool in the executable memory.
    constant_pool: usize,
    /// The kernel that the code was compiled from, expanded.
    kernel: Kernel,
    schedule: Schedule,
    layout: ArgumentLayout,
    spill_slots: usize,
    isa: Isa,
    /// Variant for launches with transposed accesses.
    transposed: Option<TransposedTiles>,
    /// Variant with non-temporal stores, compiled at the first launch that needs it.
    streaming: OnceLock<Option<Box<Code>>>,
}

impl Code {
    fn new(
        executable: ExecutableMemory,
        constant_pool: usize,
        kernel: Kernel,
        schedule: Schedule,
        layout: ArgumentLayout,
        spill_slots: usize,
        isa: Isa,
    ) -> Code {
        let (transposed, streaming) = (None, OnceLock::new());
        Code {
            executable,
            constant_pool,
            kernel,
            schedule,
            layout,
            spill_slots,
            isa,
            transposed,
            streaming,
        }
    }

    /// The variant with non-temporal stores, compiled on first use.
    fn streaming(&self) -> Option<&Code> {
        let compile = || compile_expanded(self.kernel.clone(), self.isa, true).ok().map(Box::new);
        self.streaming.get_or_init(compile).as_deref()
    }

    /// The code followed by its constant pool.
    pub fn bytes(&self) -> &[u8] {
        self.executable.bytes()
    }

    /// Serializes the code for [`load`] in another process.
    pub fn save(&self) -> Vec<u8> {
        let mut saved =
            self.transposed.as_ref().map_or_else(Vec::new, |transposed| transposed.code().save());
        for word in [self.constant_pool, self.spill_slots, self.bytes().len()] {
            saved.extend((word as u64).to_le_bytes());
        }
        saved.extend(self.bytes());
        saved
    }
}

impl fmt::Debug for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Code").field("bytes", &self.bytes().len()).finish_non_exhaustive()
    }
}

/// Compiles a [verified](inflight_ir::kernel::verify) kernel.
///
/// # Errors
/// The instruction or dtype that the emitter does not support.
pub fn compile(kernel: &Kernel, isa: Isa) -> Result<Code, Unsupported> {
    compile_all(kernel, &mut |expanded| compile_expanded(expanded, isa, false))
}

/// Loads code serialized by [`Code::save`] from the same kernel for the same instruction set. `None` if the bytes
/// are malformed.
pub fn load(kernel: &Kernel, isa: Isa, saved: &[u8]) -> Option<Code> {
    let mut rest = saved;
    let code = compile_all(kernel, &mut |expanded| load_expanded(expanded, isa, &mut rest)).ok()?;
    rest.is_empty().then_some(code)
}

/// Builds all code variants of a kernel, in serialization order.
fn compile_all(
    kernel: &Kernel,
    code: &mut dyn FnMut(Kernel) -> Result<Code, Unsupported>,
) -> Result<Code, Unsupported> {
    let kernel = inflight_ir::kernel::expand(kernel);
    let transposed = TransposedTiles::compile(&kernel, code)?;
    Ok(Code { transposed, ..code(kernel)? })
}

/// Compiles an expanded kernel.
///
/// With `streaming`, full vectors of results are written by non-temporal stores.
fn compile_expanded(kernel: Kernel, isa: Isa, streaming: bool) -> Result<Code, Unsupported> {
    let schedule = inflight_ir::kernel::schedule(&kernel);
    let layout = ArgumentLayout::new(&kernel, &schedule, isa);
    let emitted = loop_nest::emit_kernel(&kernel, &schedule, &layout, isa, streaming)?;
    let constant_pool = emitted.code.len().next_multiple_of(64);
    let mut bytes = emitted.code;
    bytes.resize(constant_pool, 0xcc);
    bytes.extend(emitted.constant_pool.iter().flatten());
    let executable = executable(&bytes)?;
    Ok(Code::new(executable, constant_pool, kernel, schedule, layout, emitted.spill_slots, isa))
}

/// Loads the code of an expanded kernel and advances `saved` past it.
fn load_expanded(kernel: Kernel, isa: Isa, saved: &mut &[u8]) -> Result<Code, Unsupported> {
    let mut read_word = || {
        let (bytes, rest) = saved.split_first_chunk::<8>()?;
        *saved = rest;
        usize::try_from(u64::from_le_bytes(*bytes)).ok()
    };
    let truncated = || Unsupported("truncated machine code".to_string());
    let (Some(constant_pool), Some(spill_slots), Some(length)) =
        (read_word(), read_word(), read_word())
    else {
        return Err(truncated());
    };
    let (bytes, rest) = saved.split_at_checked(length).ok_or_else(truncated)?;
    *saved = rest;
    let schedule = inflight_ir::kernel::schedule(&kernel);
    let layout = ArgumentLayout::new(&kernel, &schedule, isa);
    let executable = executable(bytes)?;
    Ok(Code::new(executable, constant_pool, kernel, schedule, layout, spill_slots, isa))
}

fn executable(code: &[u8]) -> Result<ExecutableMemory, Unsupported> {
    ExecutableMemory::new(code)
        .ok_or_else(|| Unsupported("a system that refuses executable memory".to_string()))
}
