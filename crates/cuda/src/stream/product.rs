//! Products on a stream.

use super::run::{caught, check_faults};
use super::{Core, MOST_GATHERED, Queue};
use crate::background::Stop;
use crate::contract::{PlainLaunch, Site, Work, epilogue, turn};
use cudarc::driver::sys;
use inflight_backend::{Buffer, Contract, Epilogue, Event, Fault, Memory};
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
pub struct Places(FxHashMap<u64, [usize; 2]>);

impl Places {
    /// What a product is known by: the launches before it and what it computes.
    fn key(queue: &Queue, command: &Contract) -> u64 {
        let mut hasher = FxHasher::default();
        let place = (queue.gathered.hash(), queue.gathered.len());
        (place, command.m, command.n, command.k, &command.batch).hash(&mut hasher);
        hasher.finish()
    }

    /// Where its result, and the memory for it alone, were.
    fn get(&self, key: u64) -> [Option<usize>; 2] {
        self.0.get(&key).map_or([None; 2], |places| places.map(Some))
    }

    fn note(&mut self, key: u64, places: [usize; 2]) {
        if self.0.len() >= MOST_PLACES {
            self.0.clear();
        }
        self.0.insert(key, places);
    }
}

/// A product whose operands have been turned.
struct Turned {
    product: Contract,
    operands: [u64; 2],
    /// The operands', which nothing else that is gathered meanwhile may have.
    _memory: [Memory; 2],
}

impl Core {
    pub(super) fn contract(&self, queue: &mut Queue, command: &Contract) -> Result<(), Stop> {
        let label = &command.label;
        caught(label, || {
            check_faults([&command.a.buffer, &command.b.buffer].into_iter())?;
            let (raw, until) = (self.raw()?, self.until(queue));
            let key = Places::key(queue, command);
            let [place, _] = queue.places.get(key);
            let a = self.address(&command.a.buffer, false, None, label, &until)?;
            let b = self.address(&command.b.buffer, false, None, label, &until)?;
            // Of all that is gathered for this, so that they fail if any of it does.
            let results: SmallVec<[&Arc<Buffer>; 4]> = match &command.epilogue {
                Some(epilogue) => epilogue.launch.results().collect(),
                None => smallvec![&command.c.buffer],
            };
            let turned = self.turned(queue, command, [a, b], (key, &until), &results)?;
            let (epilogue, given) = (&command.epilogue, (command, [a, b]));
            let (command, [a, b]) = turned.as_ref().map_or(given, |t| (&t.product, t.operands));
            let Some(epilogue) = epilogue else {
                check_faults(std::iter::once(&command.c.buffer))?;
                let c = self.address(&command.c.buffer, true, place, label, &until)?;
                return self.multiply(queue, raw, command, [a, b, c], (key, &until), &results);
            };
            check_faults(epilogue.launch.buffers.iter())?;
            if self.contract_with(queue, raw, command, epilogue, [a, b], (key, &until))? {
                return Ok(());
            }
            let product = self.temporary_at(command.c.buffer.bytes(), place, label, &until)?;
            let c = product.ptr() as u64;
            self.multiply(queue, raw, command, [a, b, c], (key, &until), &results)?;
            self.launch_on(queue, &epilogue.launch, Some((epilogue.product, &product)))
        })
    }

    /// Turns the operands of a product, if that is worth it and there is memory for it.
    fn turned(
        &self,
        queue: &mut Queue,
        command: &Contract,
        operands: [u64; 2],
        (key, until): (u64, &Event),
        results: &[&Arc<Buffer>],
    ) -> Result<Option<Turned>, Stop> {
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
        let launches = turn::launches(&self.shared, command, operands, to);
        for launch in launches.map_err(|stop| stop.of(label))? {
            self.gather_kernel(queue, launch, results);
        }
        queue.places.note(key, to.map(|address| address as usize));
        Ok(Some(Turned { product: turn::turned(command), operands: to, _memory: [a, b] }))
    }

    /// A product with what follows it, if the library does both at once.
    fn contract_with(
        &self,
        queue: &mut Queue,
        raw: sys::CUstream,
        command: &Contract,
        epilogue: &Epilogue,
        operands: [u64; 2],
        (key, until): (u64, &Event),
    ) -> Result<bool, Stop> {
        let Some(form) = epilogue::form(command, epilogue) else { return Ok(false) };
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
            products.work_with(site, command, &form, operands, address)
        });
        let (work, workspace) = work?;
        let Some(work) = work else { return Ok(false) };
        // What was gathered before may have been launched meanwhile, and have failed.
        let operands = [&command.a.buffer, &command.b.buffer];
        check_faults(operands.into_iter().chain(buffers.iter()))?;
        queue.places.note(key, [result.get(), workspace]);
        self.gather(queue, command, work, &[&buffers[form.result.0]]);
        Ok(true)
    }

    /// A product, to the last of the addresses. `results` are what is made of it.
    fn multiply(
        &self,
        queue: &mut Queue,
        raw: sys::CUstream,
        command: &Contract,
        addresses: [u64; 3],
        (key, until): (u64, &Event),
        results: &[&Arc<Buffer>],
    ) -> Result<(), Stop> {
        let [_, place] = queue.places.get(key);
        let products = &self.shared.products;
        let work = self.prepared(queue, raw, command, (place, until), |site| {
            products.work(site, command, addresses)
        });
        let (work, workspace) = work?;
        let operands = [&command.a.buffer, &command.b.buffer];
        check_faults(operands.into_iter().chain(results.iter().copied()))?;
        queue.places.note(key, [addresses[2] as usize, workspace]);
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
        command: &Contract,
        (place, until): (Option<usize>, &Event),
        prepare: impl FnOnce(&mut Site<'_>) -> Result<Option<Work>, Stop>,
    ) -> Result<(Option<Work>, usize), Stop> {
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
        let work = work.map_err(|stop| match stop.of(&command.label) {
            Stop::Failed(fault) => Stop::Failed(self.noted(fault)),
            until => until,
        })?;
        Ok((work, last.get()))
    }

    /// Gathers what computes a product, for whoever comes before and after it.
    fn gather(&self, queue: &mut Queue, command: &Contract, work: Work, results: &[&Arc<Buffer>]) {
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
        let arguments = |words: &mut Vec<u64>| words.extend(&launch.words);
        let (grid, results) = ([launch.blocks, 1], results.iter().copied());
        queue.gathered.push(launch.function, grid, launch.threads, arguments, results);
        if queue.gathered.len() >= MOST_GATHERED {
            self.settle(queue);
        }
    }
}
