//! Products on a stream.

use super::run::{caught, check_faults, kernel_of};
use super::{Core, MOST_GATHERED, Queue};
use crate::background::EnqueueError;
use crate::codegen::Variant;
use crate::device::FunctionTask;
use crate::driver::Function;
use crate::gemm::epilogue::{self, Form};
use crate::gemm::operand_split::{OperandSplit, Packed};
use crate::gemm::{PlainLaunch, Site, Work, fused_epilogue, transpose};
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

/// About so many products are computed while a byte is moved.
const PRODUCTS_FOR_A_BYTE: usize = 32;

/// Beyond this many, places are forgotten.
const MOST_PLACES: usize = 4096;

/// Where the memory of products was when they last came after the same launches: if it is there again, a graph
/// need not be told.
#[derive(Default)]
pub struct AllocationHints(FxHashMap<u64, SmallVec<[usize; 4]>>);

impl AllocationHints {
    /// What a product is known by: the launches before it and what it computes.
    fn key(queue: &Queue, command: &GemmLaunch) -> u64 {
        let mut hasher = FxHasher::default();
        let place = (queue.gathered.hash(), queue.gathered.len());
        (place, command.m, command.n, command.k, &command.batch).hash(&mut hasher);
        hasher.finish()
    }

    /// Where its result, and the memory for it alone, were.
    fn get(&self, key: u64) -> [Option<usize>; 2] {
        let places = self.0.get(&key);
        [0, 1].map(|at| places.and_then(|places| places.get(at).copied()))
    }

    /// Where all that was noted was.
    fn all(&self, key: u64) -> SmallVec<[usize; 4]> {
        self.0.get(&key).cloned().unwrap_or_default()
    }

    fn note(&mut self, key: u64, places: SmallVec<[usize; 4]>) {
        if self.0.len() >= MOST_PLACES {
            self.0.clear();
        }
        self.0.insert(key, places);
    }
}

/// A kernel that takes a whole product in.
struct EpilogueLaunch<'a> {
    described: &'a AnalyzedKernel,
    shape: &'a LaunchShape,
    scalars: &'a [Scalar],
    /// The param that is the product.
    product: usize,
}

/// A product that a kernel takes in.
struct FusedEpilogue<'a> {
    extents: fused_epilogue::Extents,
    lie: fused_epilogue::GemmConfig,
    whole: EpilogueLaunch<'a>,
    /// The addresses and sizes of the kernel's params.
    buffers: SmallVec<[(u64, usize); 8]>,
    results: SmallVec<[&'a Arc<Buffer>; 4]>,
    /// Where the results are.
    noted: SmallVec<[usize; 4]>,
    /// Where the turned operand was.
    turned_at: Option<usize>,
}

/// Operands that are to be packed.
struct Packing {
    launches: [PlainLaunch; 2],
    packed: [Packed; 2],
    /// That of what they are packed into.
    memory: [Memory; 2],
}

/// A product whose operands have been turned.
struct TransposedOperands {
    product: GemmLaunch,
    operands: [u64; 2],
    /// The operands', which nothing else that is gathered meanwhile may have.
    _memory: [Memory; 2],
}

impl Core {
    pub(super) fn contract(
        &self,
        queue: &mut Queue,
        command: &mut GemmLaunch,
    ) -> Result<(), EnqueueError> {
        let label = &command.label.clone();
        caught(label, || {
            let packs = self.packs(command);
            // Where memory is short for packing, the library needs less of it; but its results are its own.
            let is_for_library =
                |after: &&Epilogue| !packs || queue.reclaims > 0 && !has_taken_over(after);
            let after = command.epilogue.as_deref().filter(is_for_library);
            let form = after.and_then(|after| epilogue::form(command, after));
            // The library's results are its own.
            if let Some(epilogue) = command.epilogue.as_mut().filter(|_| form.is_none()) {
                self.take_over(&mut epilogue.launch);
            }
            let command = &*command;
            check_faults([&command.a.buffer, &command.b.buffer].into_iter())?;
            let (raw, until) = (self.raw()?, self.until(queue));
            let key = AllocationHints::key(queue, command);
            let [place, _] = queue.places.get(key);
            let a = self.address(&command.a.buffer, false, None, label, &until)?;
            let b = self.address(&command.b.buffer, false, None, label, &until)?;
            // Of all that is gathered for this, so that they fail if any of it does.
            let results: SmallVec<[&Arc<Buffer>; 4]> = match &command.epilogue {
                Some(epilogue) => epilogue.launch.results().collect(),
                None => smallvec![&command.c.buffer],
            };
            if let Some(epilogue) = command.epilogue.as_ref().filter(|_| form.is_none())
                && self.take_in(queue, command, epilogue, [a, b], (key, &until))?
            {
                return Ok(());
            }
            let turned = match packs {
                true => None,
                false => self.turned(queue, command, [a, b], (key, &until), &results)?,
            };
            let (epilogue, given) = (&command.epilogue, (command, [a, b]));
            let (command, [a, b]) = turned.as_ref().map_or(given, |t| (&t.product, t.operands));
            let Some(epilogue) = epilogue else {
                check_faults(std::iter::once(&command.c.buffer))?;
                let c = self.address(&command.c.buffer, true, place, label, &until)?;
                return self.multiply(queue, raw, command, [a, b, c], (key, &until), &results);
            };
            check_faults(epilogue.launch.buffers.iter())?;
            if let Some(form) = &form {
                let following = (&**epilogue, form);
                if self.contract_with(queue, raw, command, following, [a, b], (key, &until))? {
                    return Ok(());
                }
            }
            let product = self.temporary_at(command.c.buffer.bytes(), place, label, &until)?;
            let c = product.ptr() as u64;
            self.multiply(queue, raw, command, [a, b, c], (key, &until), &results)?;
            self.launch_on(queue, &epilogue.launch, Some((epilogue.product, &product)))
        })
    }

    /// Whether the operands of a product are packed first, if there is memory for it.
    fn packs(&self, command: &GemmLaunch) -> bool {
        let lie = self.shared.gemm_config(fused_epilogue::Extents::of(command));
        let is_stored = command.epilogue.is_some() || command.c.column_stride == 1;
        is_stored && lie.is_some_and(|lie| lie.packed.is_some())
    }

    /// A product that the kernel which follows takes in as it is computed, if that is worth it.
    fn take_in(
        &self,
        queue: &mut Queue,
        command: &GemmLaunch,
        epilogue: &Epilogue,
        operands: [u64; 2],
        (key, until): (u64, &Event),
    ) -> Result<bool, EnqueueError> {
        let shared = &self.shared;
        let (launch, label) = (&epilogue.launch, &command.label);
        let Some(extents) = fused_epilogue::Extents::of(command) else { return Ok(false) };
        let Some(lie) = shared.gemm_config(Some(extents)) else { return Ok(false) };
        // Where memory is short, what is turned may need what is left.
        if lie.turns && queue.reclaims > 0 {
            return Ok(false);
        }
        check_faults(launch.buffers.iter())?;
        let compiled = kernel_of(launch)?;
        let key = key.rotate_left(2);
        let mut places = queue.places.all(key);
        let turned_at = places.pop();
        let mut places = places.into_iter();
        let mut buffers = SmallVec::<[(u64, usize); 8]>::new();
        let mut noted = SmallVec::new();
        for (position, param) in launch.planned.kernel.params.iter().enumerate() {
            let buffer = &launch.buffers[position];
            if position == epilogue.product {
                buffers.push((0, buffer.bytes()));
                continue;
            }
            let place = if param.writes { places.next() } else { None };
            let address = self.address(buffer, param.writes, place, label, until)?;
            if param.writes {
                noted.push(address as usize);
            }
            buffers.push((address, buffer.bytes()));
        }
        let results = launch.results().collect();
        let (described, scalars) = (&*compiled.analyzed, &launch.scalars[..]);
        let (shape, product) = (&*launch.planned.shape, epilogue.product);
        let whole = EpilogueLaunch { described, shape, scalars, product };
        let taken = FusedEpilogue { extents, lie, whole, buffers, results, noted, turned_at };
        let function = |variant| compiled.variant(shared, variant);
        self.launch_tiles(queue, command, taken, operands, (key, until), function)
    }

    /// A product by a kernel that takes it in and stores it, where the library is slow.
    fn multiply_tiles(
        &self,
        queue: &mut Queue,
        command: &GemmLaunch,
        [a, b, c]: [u64; 3],
        (key, until): (u64, &Event),
        results: &[&Arc<Buffer>],
    ) -> Result<bool, EnqueueError> {
        let shared = &self.shared;
        let into = &command.c;
        // Where memory is too short for the kernel, the library may have enough.
        if into.column_stride != 1 || queue.reclaims > 0 {
            return Ok(false);
        }
        let Some(extents) = fused_epilogue::Extents::of(command) else { return Ok(false) };
        let is_ours = |lie: &fused_epilogue::GemmConfig| lie.is_ours(command.k);
        let Some(lie) = shared.gemm_config(Some(extents)).filter(is_ours) else { return Ok(false) };
        let (stored, sides) = (&shared.store_epilogue, [command.m, command.n]);
        let shape = fused_epilogue::stored_shape(sides, into.row_stride, into.offset);
        let bytes = into.buffer.bytes();
        let buffers = SmallVec::from_slice(&[(0, bytes), (c, bytes)]);
        let results = results.iter().copied().collect();
        let whole =
            EpilogueLaunch { described: &stored.analyzed, shape: &shape, scalars: &[], product: 0 };
        let turned_at = queue.places.all(key).get(2).copied();
        let noted = SmallVec::from_slice(&[c as usize, 0]);
        let taken = FusedEpilogue { extents, lie, whole, buffers, results, noted, turned_at };
        let function = |variant| stored.variant(shared, variant);
        let operands = [a, b];
        self.launch_tiles(queue, command, taken, operands, (key, until), function)
    }

    /// Launches a kernel that takes a product in, if it can.
    fn launch_tiles(
        &self,
        queue: &mut Queue,
        command: &GemmLaunch,
        taken: FusedEpilogue<'_>,
        [a, mut b]: [u64; 2],
        (key, until): (u64, &Event),
        function: impl FnOnce(Variant) -> FunctionTask,
    ) -> Result<bool, EnqueueError> {
        let (shared, label) = (&self.shared, &command.label);
        let FusedEpilogue { extents, mut lie, whole, buffers, results, mut noted, turned_at } =
            taken;
        let EpilogueLaunch { described, shape, scalars, product } = whole;
        // Some blocks store results while others still read operands.
        let is_written = |address: u64| noted.contains(&(address as usize));
        if is_written(a) || is_written(b) {
            return Ok(false);
        }
        let (sides, processors) = ([command.m, command.n], shared.processors);
        let choose = |lie| {
            fused_epilogue::choose(described, shape, product, sides, lie, &buffers, processors)
        };
        let Some(mut chosen) = choose(lie) else { return Ok(false) };
        let packing = match lie.packed {
            Some(pack) if queue.reclaims == 0 => {
                self.packing(queue, command, pack, [a, b], (key, until))?
            }
            _ => None,
        };
        if let Some(pack) = lie.packed.take_if(|_| packing.is_none()) {
            // The library needs no memory for thirds.
            if pack.parts == OperandSplit::Bf16x3 {
                return Ok(false);
            }
            let Some(again) = choose(lie) else { return Ok(false) };
            chosen = again;
        }
        let (choice, tiled) = chosen;
        // The library computes it as well.
        let Some(function) = if_any(function(choice.variant), label)? else { return Ok(false) };
        let packed = packing.as_ref().map(|packing| packing.packed);
        let mut turned = None;
        if lie.turns {
            let bytes = command.k * command.n * size_of::<f32>();
            let Ok(memory) = self.temporary_at(bytes, turned_at, label, until) else {
                return Ok(false);
            };
            let to = memory.ptr() as u64;
            let launched = transpose::launch_right(shared, command, b, to, packed);
            turned = Some((launched.map_err(|stop| stop.with_label(label))?, memory));
            b = to;
        }
        let kernel = &described.kernel;
        let held = fused_epilogue::held(kernel, shape, tiled, &buffers);
        let words = fused_epilogue::arguments(&extents, lie, [a, b], packed, &held);
        let Ok(mut words) = words else { return Ok(false) };
        // Memory is kept until the kernel is gathered: what is gathered in between must not have it.
        let _packed_memory = packing.map(|packing| {
            packing
                .launches
                .into_iter()
                .for_each(|launch| self.gather_kernel(queue, launch, &results));
            packing.memory
        });
        let turned = turned.map(|(launched, memory)| {
            self.gather_kernel(queue, launched, &results);
            memory
        });
        noted.push(turned.as_ref().map_or(0, |memory| memory.ptr().addr()));
        launch_config::append_arguments(
            &mut words, kernel, shape, &buffers, scalars, &choice, [0; 2],
        );
        // As long as the text's struct, which is aligned.
        words.resize(words.len().next_multiple_of(TENSOR_MAP_WORDS), 0);
        queue.places.note(key, noted);
        queue.moved += buffers.iter().map(|(_, bytes)| bytes).sum::<usize>()
            + command.m * command.n * command.k / PRODUCTS_FOR_A_BYTE;
        queue.launched += 1;
        let (grid, threads) = (choice.grid, choice.threads);
        queue.gathered.push(function, grid, threads, &words, results.into_iter());
        if queue.gathered.len() >= MOST_GATHERED {
            self.settle(queue);
        }
        Ok(true)
    }

    /// What packs the operands of a product, if there is memory for it.
    fn packing(
        &self,
        queue: &mut Queue,
        command: &GemmLaunch,
        pack: fused_epilogue::Pack,
        operands: [u64; 2],
        (key, until): (u64, &Event),
    ) -> Result<Option<Packing>, EnqueueError> {
        let (key, label) = (key.rotate_left(3), &command.label);
        let places = queue.places.get(key);
        let (matrices, parts) = (pack.operands.map(|(matrix, _)| matrix), pack.parts);
        let memory = [0, 1].map(|at| {
            let bytes = matrices[at].bytes(parts);
            self.temporary_at(bytes, places[at], label, until)
        });
        let [Ok(a), Ok(b)] = memory else { return Ok(None) };
        let to = [a.ptr() as u64, b.ptr() as u64];
        let Some(function) = if_any(parts.function(&self.shared), label)? else { return Ok(None) };
        let counter = match parts {
            OperandSplit::ScaledF16 => self.counters(self.raw()?, label)?,
            OperandSplit::Bf16x3 => 0,
        };
        let pack = |at: usize, first: Option<Packed>| {
            let addresses = [operands[at], to[at]];
            match parts {
                OperandSplit::ScaledF16 => matrices[at].pack(&function, addresses, counter, first),
                OperandSplit::Bf16x3 => matrices[at].split(&function, addresses),
            }
        };
        let (first_launch, first) = pack(0, None);
        let (second_launch, second) = pack(1, Some(first));
        queue.places.note(key, SmallVec::from_slice(&to.map(|address| address as usize)));
        let launches = [first_launch, second_launch];
        Ok(Some(Packing { launches, packed: [first, second], memory: [a, b] }))
    }

    /// Turns the operands of a product, if that is worth it and there is memory for it.
    fn turned(
        &self,
        queue: &mut Queue,
        command: &GemmLaunch,
        operands: [u64; 2],
        (key, until): (u64, &Event),
        results: &[&Arc<Buffer>],
    ) -> Result<Option<TransposedOperands>, EnqueueError> {
        // Where memory is short, the product may need what is left.
        if queue.reclaims > 0 || !self.shared.products.turns(command) {
            return Ok(None);
        }
        let (key, label) = (key.rotate_left(1), &command.label);
        let places = queue.places.get(key);
        let bytes = [command.m, command.n].map(|extent| extent * command.k * size_of::<f32>());
        let [Ok(a), Ok(b)] =
            [0, 1].map(|at| self.temporary_at(bytes[at], places[at], label, until))
        else {
            return Ok(None);
        };
        let to = [a.ptr() as u64, b.ptr() as u64];
        let launches = transpose::launches(&self.shared, command, operands, to);
        for launch in launches.map_err(|stop| stop.with_label(label))? {
            self.gather_kernel(queue, launch, results);
        }
        queue.places.note(key, SmallVec::from_slice(&to.map(|address| address as usize)));
        Ok(Some(TransposedOperands {
            product: transpose::turned(command),
            operands: to,
            _memory: [a, b],
        }))
    }

    /// A product with what follows it, if the library does both at once.
    fn contract_with(
        &self,
        queue: &mut Queue,
        raw: sys::CUstream,
        command: &GemmLaunch,
        (epilogue, form): (&Epilogue, &Form),
        operands: [u64; 2],
        (key, until): (u64, &Event),
    ) -> Result<bool, EnqueueError> {
        let (label, buffers) = (&command.label, &epilogue.launch.buffers);
        let places = queue.places.get(key);
        let result = Cell::new(0);
        let address = |param: usize, writes: bool| {
            let place = if writes { places[0] } else { None };
            let address = self.address(&buffers[param], writes, place, label, until)?;
            if writes {
                result.set(address as usize);
            }
            Ok(address)
        };
        let products = &self.shared.products;
        let work = self.prepared(queue, raw, command, (places[1], until), |site| {
            products.work_with(site, command, form, operands, address)
        });
        let (work, workspace) = work?;
        let Some(work) = work else { return Ok(false) };
        // What was gathered before may have been launched meanwhile, and have failed.
        let operands = [&command.a.buffer, &command.b.buffer];
        check_faults(operands.into_iter().chain(buffers.iter()))?;
        queue.places.note(key, SmallVec::from_slice(&[result.get(), workspace]));
        self.gather(queue, command, work, &[&buffers[form.result.0]]);
        Ok(true)
    }

    /// A product, to the last of the addresses. `results` are what is made of it.
    fn multiply(
        &self,
        queue: &mut Queue,
        raw: sys::CUstream,
        command: &GemmLaunch,
        addresses: [u64; 3],
        (key, until): (u64, &Event),
        results: &[&Arc<Buffer>],
    ) -> Result<(), EnqueueError> {
        if self.multiply_tiles(queue, command, addresses, (key, until), results)? {
            return Ok(());
        }
        let [_, place] = queue.places.get(key);
        let products = &self.shared.products;
        let work = self.prepared(queue, raw, command, (place, until), |site| {
            products.work(site, command, addresses)
        });
        let (work, workspace) = work?;
        let operands = [&command.a.buffer, &command.b.buffer];
        check_faults(operands.into_iter().chain(results.iter().copied()))?;
        queue.places.note(key, SmallVec::from_slice(&[addresses[2] as usize, workspace]));
        if let Some(work) = work {
            self.gather(queue, command, work, results);
        }
        Ok(())
    }

    /// Has a product prepared. Returns the workspace's address as well.
    fn prepared(
        &self,
        queue: &mut Queue,
        raw: sys::CUstream,
        command: &GemmLaunch,
        (place, until): (Option<usize>, &Event),
        prepare: impl FnOnce(&mut Site<'_>) -> Result<Option<Work>, EnqueueError>,
    ) -> Result<(Option<Work>, usize), EnqueueError> {
        let last = Cell::new(0);
        let workspace = |bytes: usize| -> Result<u64, Fault> {
            let memory = self.temporary_at(bytes, place, &command.label, until)?;
            last.set(memory.ptr().addr());
            Ok(memory.ptr() as u64)
        };
        let mut settle = || self.settle(queue);
        let shared = &self.shared;
        let mut site = Site { shared, stream: raw, settle: &mut settle, workspace: &workspace };
        let work = prepare(&mut site);
        let work = work.map_err(|stop| match stop.with_label(&command.label) {
            EnqueueError::Failed(fault) => EnqueueError::Failed(self.noted(fault)),
            until => until,
        })?;
        Ok((work, last.get()))
    }

    /// Gathers what computes a product, for whoever comes before and after it.
    fn gather(
        &self,
        queue: &mut Queue,
        command: &GemmLaunch,
        work: Work,
        results: &[&Arc<Buffer>],
    ) {
        queue.moved += command.batch.iter().product::<usize>() * command.m * command.n * command.k
            / PRODUCTS_FOR_A_BYTE;
        queue.launched += 1;
        match work {
            Work::Library(product, words) => {
                let results = results.iter().copied();
                queue.gathered.push_product(product, &command.label, &words, results);
            }
            Work::Kernel(launch) => return self.gather_kernel(queue, launch, results),
        }
        if queue.gathered.len() >= MOST_GATHERED {
            self.settle(queue);
        }
    }

    /// Gathers a kernel of a product.
    fn gather_kernel(&self, queue: &mut Queue, launch: PlainLaunch, results: &[&Arc<Buffer>]) {
        let PlainLaunch { function, blocks, threads, words } = launch;
        queue.gathered.push(function, [blocks, 1], threads, &words, results.iter().copied());
        if queue.gathered.len() >= MOST_GATHERED {
            self.settle(queue);
        }
    }
}

/// A kernel that can be done without. `None` if it cannot be made.
fn if_any(function: FunctionTask, label: &Label) -> Result<Option<Arc<Function>>, EnqueueError> {
    match function.poll() {
        Ok(function) => Ok(Some(function)),
        Err(EnqueueError::Failed(fault)) if !fault.is_short() && !fault.is_lost() => Ok(None),
        Err(stop) => Err(stop.with_label(label)),
    }
}

/// Whether a result of what follows a product has an operand's memory.
fn has_taken_over(epilogue: &Epilogue) -> bool {
    let launch = &epilogue.launch;
    let read =
        launch.planned.kernel.params.iter().zip(&launch.buffers).filter(|(param, _)| !param.writes);
    launch.results().any(|result| read.clone().any(|(_, buffer)| Arc::ptr_eq(buffer, result)))
}
