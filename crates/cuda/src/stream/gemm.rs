//! Submission of GEMMs to a stream: fused-epilogue kernels, cuBLASLt with a library epilogue, or cuBLASLt followed by
//! the epilogue's kernel.

use super::submit::{catch_panics, check_faults, kernel_of};
use super::{Core, MAX_BATCHED_LAUNCHES, Queue};
use crate::background::EnqueueError;
use crate::codegen::Variant;
use crate::device::FunctionTask;
use crate::driver::Function;
use crate::gemm::epilogue::{self, MatchedEpilogue};
use crate::gemm::operand_split::{OperandSplit, PackedMatrix};
use crate::gemm::{GemmKernelLaunch, PrepareContext, PreparedGemm, fused_epilogue, transpose};
use crate::launch_config::{self, AnalyzedKernel};
use crate::tensor_map::TENSOR_MAP_WORDS;
use cudarc::driver::sys;
use inflight_backend::{Buffer, Epilogue, Event, Fault, GemmLaunch, Label, Memory};
use inflight_ir::Scalar;
use inflight_ir::kernel::LaunchShape;
use rustc_hash::{FxHashMap, FxHasher};
use smallvec::{SmallVec, smallvec};
use std::cell::Cell;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

/// Multiply-adds that take about as long as moving one byte.
const MULTIPLY_ADDS_PER_BYTE: usize = 32;

/// Beyond this many, the allocation hints are cleared.
const MAX_HINTS: usize = 4096;

/// The addresses that the memory of a GEMM had when it last came after the same launches. If it gets them again, the
/// arguments of a replayed CUDA graph need no update.
#[derive(Default)]
pub struct AllocationHints(FxHashMap<u64, SmallVec<[usize; 4]>>);

impl AllocationHints {
    /// Identifies a GEMM by the launches before it in the batch and by its problem.
    fn key(queue: &Queue, command: &GemmLaunch) -> u64 {
        let mut hasher = FxHasher::default();
        let position = (queue.launch_batch.hash(), queue.launch_batch.len());
        (position, command.m, command.n, command.k, &command.batch).hash(&mut hasher);
        hasher.finish()
    }

    /// The previous addresses of its result and of its scratch memory.
    fn get(&self, key: u64) -> [Option<usize>; 2] {
        let hints = self.0.get(&key);
        [0, 1].map(|at| hints.and_then(|hints| hints.get(at).copied()))
    }

    /// All recorded addresses.
    fn all(&self, key: u64) -> SmallVec<[usize; 4]> {
        self.0.get(&key).cloned().unwrap_or_default()
    }

    fn record(&mut self, key: u64, hints: SmallVec<[usize; 4]>) {
        if self.0.len() >= MAX_HINTS {
            self.0.clear();
        }
        self.0.insert(key, hints);
    }
}

/// The epilogue kernel of a fused GEMM.
struct EpilogueLaunch<'a> {
    described: &'a AnalyzedKernel,
    shape: &'a LaunchShape,
    scalars: &'a [Scalar],
    /// The param that is the GEMM result.
    gemm_result: usize,
}

/// A GEMM that is computed by the kernel of its epilogue.
struct FusedEpilogue<'a> {
    problem: fused_epilogue::GemmProblem,
    config: fused_epilogue::GemmConfig,
    epilogue_launch: EpilogueLaunch<'a>,
    /// The addresses and sizes of the kernel's params.
    buffers: SmallVec<[(u64, usize); 8]>,
    results: SmallVec<[&'a Arc<Buffer>; 4]>,
    /// The addresses of the results, as allocation hints.
    result_hints: SmallVec<[usize; 4]>,
    /// The previous address of the transposed operand.
    transposed_hint: Option<usize>,
}

/// Operands to pack before the GEMM: a scaled-f16 or bf16x3 split.
struct PackedOperands {
    launches: [GemmKernelLaunch; 2],
    packed: [PackedMatrix; 2],
    /// The memory of the packed operands.
    memory: [Memory; 2],
}

/// A GEMM with transposed operands.
struct TransposedOperands {
    gemm: GemmLaunch,
    operands: [u64; 2],
    /// The memory of the operands, retained so that nothing else in the batch gets it.
    _memory: [Memory; 2],
}

impl Core {
    pub(super) fn gemm(
        &self,
        queue: &mut Queue,
        command: &mut GemmLaunch,
    ) -> Result<(), EnqueueError> {
        let label = &command.label.clone();
        catch_panics(label, || {
            let packs_operands = self.packs_operands(command);
            // Under memory pressure, cuBLASLt needs less memory than packing; but it writes its results to memory of
            // their own.
            let suits_library = |epilogue: &&Epilogue| {
                !packs_operands || queue.reclaims > 0 && !reuses_operand(epilogue)
            };
            let candidate = command.epilogue.as_deref().filter(suits_library);
            let library_epilogue =
                candidate.and_then(|candidate| epilogue::match_epilogue(command, candidate));
            // The library does not update in place.
            if let Some(epilogue) = command.epilogue.as_mut().filter(|_| library_epilogue.is_none())
            {
                self.reuse_in_place(&mut epilogue.launch);
            }
            let command = &*command;
            check_faults([&command.a.buffer, &command.b.buffer].into_iter())?;
            let (raw, until) = (self.raw()?, self.batch_event(queue));
            let key = AllocationHints::key(queue, command);
            let [hint, _] = queue.allocation_hints.get(key);
            let a = self.address(&command.a.buffer, false, None, label, &until)?;
            let b = self.address(&command.b.buffer, false, None, label, &until)?;
            // The results of everything that is batched for this GEMM, so that they fail if any of it does.
            let results: SmallVec<[&Arc<Buffer>; 4]> = match &command.epilogue {
                Some(epilogue) => epilogue.launch.results().collect(),
                None => smallvec![&command.c.buffer],
            };
            if let Some(epilogue) = command.epilogue.as_ref().filter(|_| library_epilogue.is_none())
                && self.launch_fused_epilogue(queue, command, epilogue, [a, b], (key, &until))?
            {
                return Ok(());
            }
            let transposed = match packs_operands {
                true => None,
                false => {
                    self.transpose_operands(queue, command, [a, b], (key, &until), &results)?
                }
            };
            let (epilogue, given) = (&command.epilogue, (command, [a, b]));
            let (command, [a, b]) = transposed.as_ref().map_or(given, |t| (&t.gemm, t.operands));
            let Some(epilogue) = epilogue else {
                check_faults(std::iter::once(&command.c.buffer))?;
                let c = self.address(&command.c.buffer, true, hint, label, &until)?;
                return self.gemm_to(queue, raw, command, [a, b, c], (key, &until), &results);
            };
            check_faults(epilogue.launch.buffers.iter())?;
            if let Some(library_epilogue) = &library_epilogue {
                let fused = (&**epilogue, library_epilogue);
                if self.gemm_with_library_epilogue(
                    queue,
                    raw,
                    command,
                    fused,
                    [a, b],
                    (key, &until),
                )? {
                    return Ok(());
                }
            }
            let gemm_result =
                self.allocate_scratch_at(command.c.buffer.bytes(), hint, label, &until)?;
            let c = gemm_result.ptr() as u64;
            self.gemm_to(queue, raw, command, [a, b, c], (key, &until), &results)?;
            self.launch_on(queue, &epilogue.launch, Some((epilogue.gemm_result, &gemm_result)))
        })
    }

    /// Whether the operands are packed before the GEMM, memory permitting.
    fn packs_operands(&self, command: &GemmLaunch) -> bool {
        let config = self.shared.gemm_config(fused_epilogue::GemmProblem::of(command));
        let is_stored = command.epilogue.is_some() || command.c.column_stride == 1;
        is_stored && config.is_some_and(|config| config.packing.is_some())
    }

    /// Launches the epilogue's kernel with the GEMM fused into it, if that pays.
    fn launch_fused_epilogue(
        &self,
        queue: &mut Queue,
        command: &GemmLaunch,
        epilogue: &Epilogue,
        operands: [u64; 2],
        (key, until): (u64, &Event),
    ) -> Result<bool, EnqueueError> {
        let shared = &self.shared;
        let (launch, label) = (&epilogue.launch, &command.label);
        let Some(problem) = fused_epilogue::GemmProblem::of(command) else { return Ok(false) };
        let Some(config) = shared.gemm_config(Some(problem)) else { return Ok(false) };
        // Skip the transpose under memory pressure: the workspace it needs may be the last free block.
        if config.transpose_b && queue.reclaims > 0 {
            return Ok(false);
        }
        check_faults(launch.buffers.iter())?;
        let compiled = kernel_of(launch)?;
        let key = key.rotate_left(2);
        let mut hints = queue.allocation_hints.all(key);
        let transposed_hint = hints.pop();
        let mut hints = hints.into_iter();
        let mut buffers = SmallVec::<[(u64, usize); 8]>::new();
        let mut result_hints = SmallVec::new();
        for (position, param) in launch.planned.kernel.params.iter().enumerate() {
            let buffer = &launch.buffers[position];
            if position == epilogue.gemm_result {
                buffers.push((0, buffer.bytes()));
                continue;
            }
            let hint = if param.writes { hints.next() } else { None };
            let address = self.address(buffer, param.writes, hint, label, until)?;
            if param.writes {
                result_hints.push(address as usize);
            }
            buffers.push((address, buffer.bytes()));
        }
        let results = launch.results().collect();
        let (described, scalars) = (&*compiled.analyzed, &launch.scalars[..]);
        let (shape, gemm_result) = (&*launch.planned.shape, epilogue.gemm_result);
        let epilogue_launch = EpilogueLaunch { described, shape, scalars, gemm_result };
        let fused = FusedEpilogue {
            problem,
            config,
            epilogue_launch,
            buffers,
            results,
            result_hints,
            transposed_hint,
        };
        let function = |variant| compiled.variant(shared, variant);
        self.launch_fused_gemm(queue, command, fused, operands, (key, until), function)
    }

    /// Computes a GEMM without an epilogue by the store kernel, where cuBLASLt is slower.
    fn launch_store_kernel(
        &self,
        queue: &mut Queue,
        command: &GemmLaunch,
        [a, b, c]: [u64; 3],
        (key, until): (u64, &Event),
        results: &[&Arc<Buffer>],
    ) -> Result<bool, EnqueueError> {
        let shared = &self.shared;
        let into = &command.c;
        // Under memory pressure, cuBLASLt may get by with what is left.
        if into.column_stride != 1 || queue.reclaims > 0 {
            return Ok(false);
        }
        let Some(problem) = fused_epilogue::GemmProblem::of(command) else { return Ok(false) };
        let prefers_own_kernel =
            |config: &fused_epilogue::GemmConfig| config.prefers_own_kernel(command.k);
        let Some(config) = shared.gemm_config(Some(problem)).filter(prefers_own_kernel) else {
            return Ok(false);
        };
        let (stored, sides) = (&shared.store_epilogue, [command.m, command.n]);
        let shape = fused_epilogue::store_launch_shape(sides, into.row_stride, into.offset);
        let bytes = into.buffer.bytes();
        let buffers = SmallVec::from_slice(&[(0, bytes), (c, bytes)]);
        let results = results.iter().copied().collect();
        let epilogue_launch = EpilogueLaunch {
            described: &stored.analyzed,
            shape: &shape,
            scalars: &[],
            gemm_result: 0,
        };
        let transposed_hint = queue.allocation_hints.all(key).get(2).copied();
        let result_hints = SmallVec::from_slice(&[c as usize, 0]);
        let fused = FusedEpilogue {
            problem,
            config,
            epilogue_launch,
            buffers,
            results,
            result_hints,
            transposed_hint,
        };
        let function = |variant| stored.variant(shared, variant);
        let operands = [a, b];
        self.launch_fused_gemm(queue, command, fused, operands, (key, until), function)
    }

    /// Launches a kernel with a fused GEMM, if its configuration permits.
    fn launch_fused_gemm(
        &self,
        queue: &mut Queue,
        command: &GemmLaunch,
        fused: FusedEpilogue<'_>,
        [a, mut b]: [u64; 2],
        (key, until): (u64, &Event),
        function: impl FnOnce(Variant) -> FunctionTask,
    ) -> Result<bool, EnqueueError> {
        let (shared, label) = (&self.shared, &command.label);
        let FusedEpilogue {
            problem,
            mut config,
            epilogue_launch,
            buffers,
            results,
            mut result_hints,
            transposed_hint,
        } = fused;
        let EpilogueLaunch { described, shape, scalars, gemm_result } = epilogue_launch;
        // Some blocks store results while others still read operands.
        let is_written = |address: u64| result_hints.contains(&(address as usize));
        if is_written(a) || is_written(b) {
            return Ok(false);
        }
        let (sides, processors) = ([command.m, command.n], shared.processors);
        let choose = |config| {
            fused_epilogue::choose(
                described,
                shape,
                gemm_result,
                sides,
                config,
                &buffers,
                processors,
            )
        };
        let Some(mut chosen) = choose(config) else { return Ok(false) };
        let packing = match config.packing {
            Some(packing) if queue.reclaims == 0 => {
                self.pack_operands(queue, command, packing, [a, b], (key, until))?
            }
            _ => None,
        };
        if let Some(skipped) = config.packing.take_if(|_| packing.is_none()) {
            // cuBLASLt needs no memory for a bf16x3 split.
            if skipped.split == OperandSplit::Bf16x3 {
                return Ok(false);
            }
            let Some(again) = choose(config) else { return Ok(false) };
            chosen = again;
        }
        let (choice, tiled) = chosen;
        // Without the kernel, cuBLASLt computes the GEMM.
        let Some(function) = optional_function(function(choice.variant), label)? else {
            return Ok(false);
        };
        let packed = packing.as_ref().map(|packing| packing.packed);
        let mut transposed = None;
        if config.transpose_b {
            let bytes = command.k * command.n * size_of::<f32>();
            let Ok(memory) = self.allocate_scratch_at(bytes, transposed_hint, label, until) else {
                return Ok(false);
            };
            let to = memory.ptr() as u64;
            let launch = transpose::launch_b(shared, command, b, to, packed);
            transposed = Some((launch.map_err(|stop| stop.with_label(label))?, memory));
            b = to;
        }
        let kernel = &described.kernel;
        let staged = fused_epilogue::staged_accesses(kernel, shape, tiled, &buffers);
        let words = fused_epilogue::arguments(&problem, config, [a, b], packed, &staged);
        let Ok(mut words) = words else { return Ok(false) };
        // Retain the packed memory until the kernel is in the batch: the launches in between must not get it.
        let _packed_memory = packing.map(|packing| {
            packing
                .launches
                .into_iter()
                .for_each(|launch| self.batch_kernel(queue, launch, &results));
            packing.memory
        });
        let transposed = transposed.map(|(launch, memory)| {
            self.batch_kernel(queue, launch, &results);
            memory
        });
        result_hints.push(transposed.as_ref().map_or(0, |memory| memory.ptr().addr()));
        launch_config::append_arguments(
            &mut words, kernel, shape, &buffers, scalars, &choice, [0; 2],
        );
        // Pad to the size of the argument struct, whose alignment is that of a TMA descriptor.
        words.resize(words.len().next_multiple_of(TENSOR_MAP_WORDS), 0);
        queue.allocation_hints.record(key, result_hints);
        queue.bytes_moved += buffers.iter().map(|(_, bytes)| bytes).sum::<usize>()
            + command.m * command.n * command.k / MULTIPLY_ADDS_PER_BYTE;
        queue.launch_count += 1;
        let (grid, threads) = (choice.grid, choice.threads);
        queue.launch_batch.push(function, grid, threads, &words, results.into_iter());
        if queue.launch_batch.len() >= MAX_BATCHED_LAUNCHES {
            self.flush_batch(queue);
        }
        Ok(true)
    }

    /// The launches that pack the operands, if there is memory for it.
    fn pack_operands(
        &self,
        queue: &mut Queue,
        command: &GemmLaunch,
        packing: fused_epilogue::OperandPacking,
        operands: [u64; 2],
        (key, until): (u64, &Event),
    ) -> Result<Option<PackedOperands>, EnqueueError> {
        let (key, label) = (key.rotate_left(3), &command.label);
        let hints = queue.allocation_hints.get(key);
        let (matrices, split) = (packing.operands.map(|(matrix, _)| matrix), packing.split);
        let memory = [0, 1].map(|at| {
            let bytes = matrices[at].packed_bytes(split);
            self.allocate_scratch_at(bytes, hints[at], label, until)
        });
        let [Ok(a), Ok(b)] = memory else { return Ok(None) };
        let to = [a.ptr() as u64, b.ptr() as u64];
        let Some(function) = optional_function(split.function(&self.shared), label)? else {
            return Ok(None);
        };
        let counter = match split {
            OperandSplit::ScaledF16 => self.counters(self.raw()?, label)?,
            OperandSplit::Bf16x3 => 0,
        };
        let pack = |at: usize, first: Option<PackedMatrix>| {
            let addresses = [operands[at], to[at]];
            match split {
                OperandSplit::ScaledF16 => {
                    matrices[at].pack_scaled_f16(&function, addresses, counter, first)
                }
                OperandSplit::Bf16x3 => matrices[at].split_bf16x3(&function, addresses),
            }
        };
        let (first_launch, first) = pack(0, None);
        let (second_launch, second) = pack(1, Some(first));
        queue
            .allocation_hints
            .record(key, SmallVec::from_slice(&to.map(|address| address as usize)));
        let launches = [first_launch, second_launch];
        Ok(Some(PackedOperands { launches, packed: [first, second], memory: [a, b] }))
    }

    /// Transposes both operands, if that pays and there is memory for it.
    fn transpose_operands(
        &self,
        queue: &mut Queue,
        command: &GemmLaunch,
        operands: [u64; 2],
        (key, until): (u64, &Event),
        results: &[&Arc<Buffer>],
    ) -> Result<Option<TransposedOperands>, EnqueueError> {
        // Skip the transpose under memory pressure: the GEMM may need what is left.
        if queue.reclaims > 0 || !self.shared.cublaslt.should_transpose(command) {
            return Ok(None);
        }
        let (key, label) = (key.rotate_left(1), &command.label);
        let hints = queue.allocation_hints.get(key);
        let bytes = [command.m, command.n].map(|extent| extent * command.k * size_of::<f32>());
        let [Ok(a), Ok(b)] =
            [0, 1].map(|at| self.allocate_scratch_at(bytes[at], hints[at], label, until))
        else {
            return Ok(None);
        };
        let to = [a.ptr() as u64, b.ptr() as u64];
        let launches = transpose::launches(&self.shared, command, operands, to);
        for launch in launches.map_err(|stop| stop.with_label(label))? {
            self.batch_kernel(queue, launch, results);
        }
        queue
            .allocation_hints
            .record(key, SmallVec::from_slice(&to.map(|address| address as usize)));
        Ok(Some(TransposedOperands {
            gemm: transpose::transposed(command),
            operands: to,
            _memory: [a, b],
        }))
    }

    /// Launches a GEMM with a library epilogue, if cuBLASLt fuses both.
    fn gemm_with_library_epilogue(
        &self,
        queue: &mut Queue,
        raw: sys::CUstream,
        command: &GemmLaunch,
        (epilogue, matched): (&Epilogue, &MatchedEpilogue),
        operands: [u64; 2],
        (key, until): (u64, &Event),
    ) -> Result<bool, EnqueueError> {
        let (label, buffers) = (&command.label, &epilogue.launch.buffers);
        let hints = queue.allocation_hints.get(key);
        let result = Cell::new(0);
        let address = |param: usize, writes: bool| {
            let hint = if writes { hints[0] } else { None };
            let address = self.address(&buffers[param], writes, hint, label, until)?;
            if writes {
                result.set(address as usize);
            }
            Ok(address)
        };
        let cublaslt = &self.shared.cublaslt;
        let prepared = self.prepare_gemm(queue, raw, command, (hints[1], until), |context| {
            cublaslt.prepare_with_epilogue(context, command, matched, operands, address)
        });
        let (prepared, workspace) = prepared?;
        let Some(prepared) = prepared else { return Ok(false) };
        // Preparing may have flushed the batch, and earlier launches may have failed.
        let operands = [&command.a.buffer, &command.b.buffer];
        check_faults(operands.into_iter().chain(buffers.iter()))?;
        queue.allocation_hints.record(key, SmallVec::from_slice(&[result.get(), workspace]));
        self.batch_gemm(queue, command, prepared, &[&buffers[matched.result.0]]);
        Ok(true)
    }

    /// Launches a GEMM that stores its result at the last of the addresses. `results` are the buffers that depend on
    /// it.
    fn gemm_to(
        &self,
        queue: &mut Queue,
        raw: sys::CUstream,
        command: &GemmLaunch,
        addresses: [u64; 3],
        (key, until): (u64, &Event),
        results: &[&Arc<Buffer>],
    ) -> Result<(), EnqueueError> {
        if self.launch_store_kernel(queue, command, addresses, (key, until), results)? {
            return Ok(());
        }
        let [_, hint] = queue.allocation_hints.get(key);
        let cublaslt = &self.shared.cublaslt;
        let prepared = self.prepare_gemm(queue, raw, command, (hint, until), |context| {
            cublaslt.prepare(context, command, addresses)
        });
        let (prepared, workspace) = prepared?;
        let operands = [&command.a.buffer, &command.b.buffer];
        check_faults(operands.into_iter().chain(results.iter().copied()))?;
        queue
            .allocation_hints
            .record(key, SmallVec::from_slice(&[addresses[2] as usize, workspace]));
        if let Some(prepared) = prepared {
            self.batch_gemm(queue, command, prepared, results);
        }
        Ok(())
    }

    /// Prepares a GEMM. Returns the address of its workspace as well.
    fn prepare_gemm(
        &self,
        queue: &mut Queue,
        raw: sys::CUstream,
        command: &GemmLaunch,
        (hint, until): (Option<usize>, &Event),
        prepare: impl FnOnce(&mut PrepareContext<'_>) -> Result<Option<PreparedGemm>, EnqueueError>,
    ) -> Result<(Option<PreparedGemm>, usize), EnqueueError> {
        let last = Cell::new(0);
        let workspace = |bytes: usize| -> Result<u64, Fault> {
            let memory = self.allocate_scratch_at(bytes, hint, &command.label, until)?;
            last.set(memory.ptr().addr());
            Ok(memory.ptr() as u64)
        };
        let mut flush_batch = || self.flush_batch(queue);
        let shared = &self.shared;
        let mut context = PrepareContext {
            shared,
            stream: raw,
            flush_batch: &mut flush_batch,
            workspace: &workspace,
        };
        let prepared = prepare(&mut context);
        let prepared = prepared.map_err(|stop| match stop.with_label(&command.label) {
            EnqueueError::Failed(fault) => EnqueueError::Failed(self.record_fault(fault)),
            until => until,
        })?;
        Ok((prepared, last.get()))
    }

    /// Adds a prepared GEMM to the launch batch.
    fn batch_gemm(
        &self,
        queue: &mut Queue,
        command: &GemmLaunch,
        prepared: PreparedGemm,
        results: &[&Arc<Buffer>],
    ) {
        queue.bytes_moved +=
            command.batch.iter().product::<usize>() * command.m * command.n * command.k
                / MULTIPLY_ADDS_PER_BYTE;
        queue.launch_count += 1;
        match prepared {
            PreparedGemm::Library(gemm, words) => {
                let results = results.iter().copied();
                queue.launch_batch.push_gemm(gemm, &command.label, &words, results);
            }
            PreparedGemm::Kernel(launch) => return self.batch_kernel(queue, launch, results),
        }
        if queue.launch_batch.len() >= MAX_BATCHED_LAUNCHES {
            self.flush_batch(queue);
        }
    }

    /// Adds a kernel of a GEMM to the launch batch.
    fn batch_kernel(&self, queue: &mut Queue, launch: GemmKernelLaunch, results: &[&Arc<Buffer>]) {
        let GemmKernelLaunch { function, blocks, threads, words } = launch;
        queue.launch_batch.push(function, [blocks, 1], threads, &words, results.iter().copied());
        if queue.launch_batch.len() >= MAX_BATCHED_LAUNCHES {
            self.flush_batch(queue);
        }
    }
}

/// A function that there is an alternative to. `None` if it cannot be compiled.
fn optional_function(
    function: FunctionTask,
    label: &Label,
) -> Result<Option<Arc<Function>>, EnqueueError> {
    match function.poll() {
        Ok(function) => Ok(Some(function)),
        Err(EnqueueError::Failed(fault)) if !fault.is_out_of_memory() && !fault.is_lost() => {
            Ok(None)
        }
        Err(stop) => Err(stop.with_label(label)),
    }
}

/// Whether a result of an epilogue reuses the memory of an operand.
fn reuses_operand(epilogue: &Epilogue) -> bool {
    let launch = &epilogue.launch;
    let read =
        launch.planned.kernel.params.iter().zip(&launch.buffers).filter(|(param, _)| !param.writes);
    launch.results().any(|result| read.clone().any(|(_, buffer)| Arc::ptr_eq(buffer, result)))
}
