//! Routines: what is no loop over index maps. Each is a few kernels, one after another, on the stream; the host
//! has no part in it.

mod function;
mod groups;
mod implicit_gemm;
mod implicit_gemm_bf16x3;
mod implicit_gemm_codegen;
mod key;
mod matrix;
mod order;
mod panel;
mod radix;
mod scatter;
mod select;
mod solve;
mod sort;
mod tiles;

use crate::background::EnqueueError;
use crate::device::Shared;
use crate::driver::Function;
use inflight_backend::{Event, Fault, FaultKind};
use inflight_ir::DType;
use inflight_ir::graph::{ScalarFunction, SortKey, SortOrder, SortResult};
use inflight_ir::plan::{ImplicitGemmOperands, Routine};
use parking_lot::Mutex;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use std::sync::{Arc, OnceLock};

/// What routines' kernels depend on.
#[derive(Clone, PartialEq, Eq, Hash)]
enum Key {
    /// Whether a line is one tile, and whether places need 64 bits.
    Sort {
        keys: SmallVec<[DType; 2]>,
        order: SortOrder,
        result: SortResult,
        is_wide: bool,
    },
    Radix {
        dtype: DType,
        order: SortKey,
        places: bool,
    },
    Select {
        dtype: DType,
        order: SortKey,
        threads: usize,
    },
    Take,
    Scatter {
        dtype: DType,
        index: DType,
        combine: ScalarFunction,
    },
    Matrix(DType),
    Panel(DType),
    ImplicitGemm {
        dtype: DType,
        tile: implicit_gemm_codegen::Tile,
    },
}

/// The kernels of one kind of routine: written once, each compiled when it is first launched.
struct Kernels {
    texts: Vec<String>,
    functions: Vec<OnceLock<Arc<Function>>>,
    /// Bytes of an item of a sort.
    item: usize,
}

impl Kernels {
    fn new(texts: Vec<String>, item: usize) -> Kernels {
        Kernels { functions: texts.iter().map(|_| OnceLock::new()).collect(), texts, item }
    }
}

/// Kernels of routines beyond this many kinds are forgotten, and what was decided about as many products.
const MOST_KINDS: usize = 1024;

/// The kernels of a device's routines, and what was decided about products of windows.
#[derive(Default)]
pub(crate) struct Cache {
    kernels: Mutex<FxHashMap<Key, Arc<Kernels>>>,
    cuts: Mutex<FxHashMap<ImplicitGemmOperands, implicit_gemm::Cuts>>,
}

/// Where a routine's kernels go, and where its memory comes from.
pub struct Site<'a> {
    pub(crate) shared: &'a Arc<Shared>,
    /// Memory until the routine is done.
    pub(crate) temporary: &'a mut dyn FnMut(usize) -> Result<u64, Fault>,
    /// Puts a kernel on the stream.
    pub(crate) launch: &'a mut Launcher<'a>,
    /// Reached when a kernel is there that was missing: the routine is then to be run again.
    pub(crate) awaited: Option<Event>,
}

type Launcher<'a> = dyn FnMut(Arc<Function>, &Launch) -> Result<(), Fault> + 'a;

/// A launch of a routine's kernel.
pub struct Launch {
    pub(crate) blocks: usize,
    pub(crate) threads: u32,
    /// The arguments, as the text declares them.
    pub(crate) words: Vec<u64>,
}

impl Site<'_> {
    fn temporary(&mut self, bytes: usize) -> Result<u64, Fault> {
        (self.temporary)(bytes)
    }

    /// The kernels of a routine, which `write` writes if they are not known.
    fn kernels(&self, key: Key, write: impl FnOnce() -> Result<Kernels, Fault>) -> Prepared {
        if let Some(known) = self.shared.routines.kernels.lock().get(&key) {
            return Ok(known.clone());
        }
        let kernels = Arc::new(write()?);
        let mut all = self.shared.routines.kernels.lock();
        if all.len() >= MOST_KINDS {
            all.clear();
        }
        all.insert(key, kernels.clone());
        Ok(kernels)
    }

    /// Launches one of the kernels.
    fn launch(&mut self, kernels: &Kernels, which: usize, launch: Launch) -> Result<(), Fault> {
        if launch.blocks == 0 {
            return Ok(());
        }
        if launch.blocks > i32::MAX as usize {
            let message = format!("a routine of {} blocks", launch.blocks);
            return Err(FaultKind::Unsupported(message).into());
        }
        let function = match kernels.functions[which].get() {
            Some(function) => function.clone(),
            None => match self.shared.function(&kernels.texts[which]).poll() {
                Ok(function) => kernels.functions[which].get_or_init(|| function).clone(),
                Err(EnqueueError::Failed(fault)) => return Err(fault),
                Err(EnqueueError::NotReady(event)) => {
                    self.awaited = Some(event);
                    let message = "a kernel that is being compiled".to_owned();
                    return Err(FaultKind::Unsupported(message).into());
                }
            },
        };
        (self.launch)(function, &launch)
    }
}

type Prepared = Result<Arc<Kernels>, Fault>;

/// Puts a routine on a stream. The addresses are those of its operands and of its result.
pub(crate) fn run(
    site: &mut Site,
    routine: &Routine,
    operands: &[u64],
    result: u64,
) -> Result<(), Fault> {
    match routine {
        Routine::Sort { lines, keys, order, result: answer } => {
            sort::sort(site, *lines, keys, order, *answer, operands, result)
        }
        Routine::Scatter { lines, updates, dtype, index, combine } => {
            let &[x, index_at, update] = operands else { return Err(wrong_operands(routine)) };
            let scatter = scatter::Scatter {
                lines: *lines,
                updates: *updates,
                dtype: *dtype,
                index: *index,
                combine,
            };
            scatter::scatter(site, &scatter, [x, index_at, update], result)
        }
        Routine::ImplicitGemm(product) => {
            let &[x, kernels] = operands else { return Err(wrong_operands(routine)) };
            implicit_gemm::product(site, product, [x, kernels], result)
        }
        &Routine::Cholesky { dtype, batch, n, lower } => {
            let &[x] = operands else { return Err(wrong_operands(routine)) };
            solve::cholesky(site, dtype, [batch, n], lower, x, result)
        }
        Routine::TriangularSolve { dtype, systems } => {
            let &[a, b] = operands else { return Err(wrong_operands(routine)) };
            solve::triangular_solve(site, *dtype, systems, [a, b], result)
        }
    }
}

/// Begins to compile the kernels that a routine may launch.
pub(crate) fn precompile(shared: &Arc<Shared>, routine: &Routine) {
    for text in texts(routine, shared.has_wgmma) {
        shared.function(&text);
    }
}

/// The texts of all kernels that a routine may launch, on a device whose groups of warps can multiply or cannot.
pub fn texts(routine: &Routine, has_groups: bool) -> Vec<String> {
    match routine {
        Routine::Sort { lines, keys, order, result } => sort::texts(*lines, keys, order, *result),
        Routine::Scatter { dtype, index, combine, .. } => {
            let mut texts = scatter::kernels(*dtype, *index, combine).texts;
            let order = SortOrder::ascending(1);
            texts.extend(sort::kernels(&[*index], &order, SortResult::Positions, false).texts);
            texts
        }
        Routine::ImplicitGemm(product) => {
            let kernels = |tile| implicit_gemm_codegen::kernels(product.dtype, tile).texts;
            let mut kinds = implicit_gemm_codegen::Tile::all(product.dtype, has_groups).to_vec();
            if implicit_gemm::may_use_bf16x3(product, has_groups) {
                kinds.extend(implicit_gemm_codegen::Tile::of_bf16x3(product.extents.space.len()));
            }
            kinds.into_iter().flat_map(kernels).collect()
        }
        Routine::Cholesky { dtype, .. } | Routine::TriangularSolve { dtype, .. } => {
            let texts = |kernels: Result<Kernels, Fault>| {
                kernels.map_or(Vec::new(), |kernels| kernels.texts)
            };
            let number = matrix::number(*dtype).ok();
            let panels = number.filter(|&number| panel::suits(number, usize::MAX));
            let panels = panels.map_or(Vec::new(), |number| texts(panel::kernels(number)));
            [texts(matrix::kernels(*dtype)), panels].concat()
        }
    }
}

fn wrong_operands(routine: &Routine) -> Fault {
    FaultKind::Unsupported(format!("{} of that many operands", routine.name())).into()
}

fn wrong_dtype(what: &str, dtype: DType) -> Fault {
    FaultKind::Unsupported(format!("{what} of {dtype}")).into()
}
