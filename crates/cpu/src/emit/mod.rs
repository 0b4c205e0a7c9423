//! The machine-code emitter: from a kernel to x86-64 vector code.
//!
//! [`compile`] is the list of passes: expand the kernel's mathematics, schedule it, write each pass's
//! loops, copy the code into executable memory. [`Code::run`] walks the outer grid axes and calls the
//! code for a run of programs along the innermost one.
//!
//! A value is one vector register: 32-bit lanes for dtypes of up to 32 bits, 64-bit lanes for the
//! others, as many lanes as the widest dtype of the kernel leaves room for. `f16` and `bf16` are held as
//! `f32`, small integers as `i32`, `bool` as an opmask on AVX-512 and as lanes of all ones or zeros on
//! AVX2.
//!
//! From the outside in: `driver` fills the argument block (`layout`) and calls the code, for transposing
//! launches by `transposed`; `pass` writes the loops, for column sums those of `rows`; `body` writes what is
//! in them, by `access`, `indexed`, `combine`, `arithmetic`, `compare`, `convert` and `reduce`; `emitter` and `registers` find
//! each value its place; `assembler` and `opcodes` encode.
//!
//! What is not emitted here is [`Unsupported`]; the block interpreter runs it.

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

/// A vector instruction set that code can be made for.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Isa {
    /// AVX-512 F, DQ, BW and VL: 32 registers of 512 bits and opmasks.
    Avx512,
    /// AVX2, FMA and F16C: 16 registers of 256 bits.
    Avx2,
}

impl Isa {
    /// The widest instruction set this CPU has.
    pub fn detect() -> Option<Isa> {
        if !cfg!(all(target_arch = "x86_64", unix)) {
            return None;
        }
        [Isa::Avx512, Isa::Avx2].into_iter().find(|isa| isa.is_present())
    }

    /// Whether this CPU has it.
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

    /// Whether this CPU has it.
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

/// A kernel's machine code.
pub struct Code {
    executable: ExecutableMemory,
    /// Where in the executable memory the constants start.
    constant_pool: usize,
    /// The kernel the code was made from, expanded.
    kernel: Kernel,
    schedule: Schedule,
    layout: ArgumentLayout,
    spill_slots: usize,
    isa: Isa,
    /// How launches that transpose run.
    transposed: Option<TransposedTiles>,
    /// How launches run whose results are too large for the caches, made when there is one.
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

    /// The same, but whole vectors of results go around the caches.
    fn streaming(&self) -> Option<&Code> {
        let compile = || compile_expanded(self.kernel.clone(), self.isa, true).ok().map(Box::new);
        self.streaming.get_or_init(compile).as_deref()
    }

    /// The code and, behind it, its constants.
    pub fn bytes(&self) -> &[u8] {
        self.executable.bytes()
    }

    /// All of it, for [`load`] in another process.
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

/// The code of a [verified](inflight_ir::kernel::verify) kernel.
///
/// # Errors
/// What in the kernel there is no code for.
pub fn compile(kernel: &Kernel, isa: Isa) -> Result<Code, Unsupported> {
    compile_all(kernel, &mut |expanded| compile_expanded(expanded, isa, false))
}

/// The code of a kernel from what [`Code::save`] made of it, for the same instruction set. `None` if it is not
/// that.
pub fn load(kernel: &Kernel, isa: Isa, saved: &[u8]) -> Option<Code> {
    let mut rest = saved;
    let code = compile_all(kernel, &mut |expanded| load_expanded(expanded, isa, &mut rest)).ok()?;
    rest.is_empty().then_some(code)
}

/// All the code of a kernel, in the order in which it is saved.
fn compile_all(
    kernel: &Kernel,
    code: &mut dyn FnMut(Kernel) -> Result<Code, Unsupported>,
) -> Result<Code, Unsupported> {
    let kernel = inflight_ir::kernel::expand(kernel);
    let transposed = TransposedTiles::compile(&kernel, code)?;
    Ok(Code { transposed, ..code(kernel)? })
}

/// The code of a kernel that is expanded already.
///
/// With `streaming`, results go around the caches where they are whole vectors.
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

/// The saved code of a kernel that is expanded already. What is left of `saved` is that of others.
fn load_expanded(kernel: Kernel, isa: Isa, saved: &mut &[u8]) -> Result<Code, Unsupported> {
    let mut read_word = || {
        let (bytes, rest) = saved.split_first_chunk::<8>()?;
        *saved = rest;
        usize::try_from(u64::from_le_bytes(*bytes)).ok()
    };
    let truncated = || Unsupported("code that was cut off".to_string());
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
        .ok_or_else(|| Unsupported("a system without executable memory".to_string()))
}
