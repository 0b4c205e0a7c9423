//! GEMM fusion: decides which fusion groups become the prologue or the epilogue of a GEMM step.
//!
//! - Epilogue fusion: the only consumer of a GEMM result processes it tile by tile, while it is in cache.
//! - Prologue fusion: a kernel whose only consumer is the GEMM computes an operand block by block.
//! - Chained GEMMs: a GEMM with an epilogue computes the left operand of the next GEMM, as in attention.
//!
//! Each fused group would otherwise be a step of its own.

use super::fusion::{FusionGroup, RawStep};
use super::gemm::RawGemm;
use super::layout::lay_out_epilogue;
use super::prologue::{BlockKernel, OperandLayout, Side, lay_out_block_kernel};
use super::{BufferId, Epilogue, GemmStep, PlanTarget, Step};
use crate::graph::{Graph, NodeId};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

/// The right operand is not computed by a prologue if the left operand has more bytes than this: the left one would
/// be read again for each block of columns of the right one.
const MAX_REREAD_BYTES: usize = 16 << 20;

/// Operands with longer rows are materialized: a block of several rows must fit a cache.
const MAX_PROLOGUE_ROW: usize = 1 << 14;

/// GEMMs are not chained below this many rows: threads partition a chain by rows, and fewer rows leave threads idle.
const MIN_CHAINED_ROWS: usize = 512;

/// Bytes of a block of rows of the first GEMM of a chain, which should stay in cache.
const CHAINED_BLOCK_BYTES: usize = 256 << 10;

/// The groups that are fused into the GEMM steps of other groups.
pub struct GemmFusion<'a> {
    graph: &'a Graph,
    groups: &'a [FusionGroup],
    /// For each group: the GEMM group it is the epilogue of.
    epilogues: Vec<Option<(usize, Epilogue)>>,
    /// For each GEMM group: the fused producer of one of its operands.
    prologues: Vec<Option<FusedProducer>>,
    /// For each group: whether it is part of another group's step.
    fused: Vec<bool>,
}

/// A fused producer of a GEMM operand.
enum FusedProducer {
    /// A prologue kernel.
    Kernel(Box<(Side, BlockKernel, OperandLayout)>),
    /// A chained GEMM: the group of its epilogue, and the param of the epilogue's kernel that is the operand.
    Gemm(usize, usize),
}

impl<'a> GemmFusion<'a> {
    /// Decides the fusions of all groups.
    pub fn new(
        graph: &'a Graph,
        groups: &'a [FusionGroup],
        outputs: &[BufferId],
        buffer: impl Fn(NodeId) -> BufferId + Copy,
        plan_target: PlanTarget,
    ) -> GemmFusion<'a> {
        let uses = BufferUses::new(groups, outputs, buffer);
        let count = groups.len();
        let mut gemm_fusion = GemmFusion {
            graph,
            groups,
            epilogues: (0..count).map(|_| None).collect(),
            prologues: (0..count).map(|_| None).collect(),
            fused: vec![false; count],
        };
        gemm_fusion.fuse_epilogues(&uses, buffer);
        if plan_target.prologues {
            gemm_fusion.fuse_chained_gemms(&uses, buffer);
            gemm_fusion.fuse_prologues(&uses, buffer);
        }
        gemm_fusion
    }

    /// Whether a group is part of another group's step.
    pub fn is_fused(&self, group: usize) -> bool {
        self.fused[group]
    }

    /// The step of a group that is a GEMM or the epilogue of one; `None` for any other group.
    pub fn step(
        &mut self,
        group: usize,
        buffer: impl Fn(NodeId) -> BufferId + Copy,
    ) -> Option<Step> {
        self.gemm_step(group, buffer).map(Step::Gemm)
    }

    fn gemm_step(
        &mut self,
        group: usize,
        buffer: impl Fn(NodeId) -> BufferId + Copy,
    ) -> Option<GemmStep> {
        if let Some((gemm_group, epilogue)) = self.epilogues[group].take() {
            let step = self.gemm_step(gemm_group, buffer)?;
            return Some(step.with_epilogue(epilogue));
        }
        let step = gemm_of(&self.groups[group])?.bind(self.graph, buffer);
        Some(match self.prologues[group].take() {
            None => step,
            Some(FusedProducer::Kernel(kernel)) => {
                let (side, kernel, layout) = *kernel;
                step.with_prologue(side, kernel, &layout)
            }
            Some(FusedProducer::Gemm(epilogue_group, value)) => {
                let first = self.gemm_step(epilogue_group, buffer)?;
                step.with_chained_gemm(first, value)
            }
        })
    }

    /// Fuses the only consumer of each GEMM as its epilogue, if it reads the GEMM result row by row.
    fn fuse_epilogues(&mut self, uses: &BufferUses, buffer: impl Fn(NodeId) -> BufferId + Copy) {
        for (id, group) in self.groups.iter().enumerate() {
            let Some(gemm) = gemm_of(group) else { continue };
            let result = gemm.node();
            let Some(reader) = uses.sole_reader(buffer(result)) else { continue };
            let [RawStep::Launch(kernel)] = &self.groups[reader].steps[..] else { continue };
            if self.epilogues[reader].is_none() {
                let shape = &self.graph.node(result).shape;
                let epilogue = lay_out_epilogue(kernel, result, shape, buffer);
                self.fused[id] = epilogue.is_some();
                self.epilogues[reader] = epilogue.map(|epilogue| (id, epilogue));
            }
        }
    }

    /// Chains a GEMM with an epilogue into the GEMM whose left operand it computes, if the epilogue writes that
    /// operand, row by row, and nothing else.
    fn fuse_chained_gemms(
        &mut self,
        uses: &BufferUses,
        buffer: impl Fn(NodeId) -> BufferId + Copy,
    ) {
        let in_recorded_order = (0..self.groups.len()).rev();
        for id in in_recorded_order {
            let Some(second) = gemm_of(&self.groups[id]) else { continue };
            let Some((operand, layout)) = second.operand_layout(self.graph, Side::A) else {
                continue;
            };
            let Some(epilogue_group) = uses.writer(buffer(operand)) else { continue };
            let Some((first, epilogue)) = &self.epilogues[epilogue_group] else { continue };
            let is_private = uses.sole_reader(buffer(operand)) == Some(id)
                && uses.read_count(id, buffer(operand)) == 1
                && self.prologues[*first].is_none();
            if !is_private || !layout.is_row_major() {
                continue;
            }
            let Some(value) = chained_output_param(epilogue) else { continue };
            let [first_shape, second_shape] = [*first, id].map(|group| {
                let node = gemm_of(&self.groups[group]).expect("the group is a GEMM").node();
                &self.graph.node(node).shape
            });
            let inner = self.graph.node(
                self.graph
                    .node(gemm_of(&self.groups[*first]).expect("the group is a GEMM").node())
                    .inputs[0],
            );
            let (Some(&width), Some(&n), Some(&k)) =
                (first_shape.last(), second_shape.last(), inner.shape.last())
            else {
                continue;
            };
            // The right operands are read again for each block of rows. That must cost less than a store and a load
            // of the whole intermediate result.
            let block = (CHAINED_BLOCK_BYTES / (width * inner.dtype.size())).clamp(32, 128);
            if layout.rows() >= MIN_CHAINED_ROWS && width == layout.columns() && k + n <= 8 * block
            {
                self.prologues[id] = Some(FusedProducer::Gemm(epilogue_group, value));
                self.fused[epilogue_group] = true;
            }
        }
    }

    /// Fuses kernels as prologues of the GEMMs that are their only consumers.
    fn fuse_prologues(&mut self, uses: &BufferUses, buffer: impl Fn(NodeId) -> BufferId + Copy) {
        let chained: Vec<usize> = self
            .prologues
            .iter()
            .filter_map(|producer| match producer {
                Some(FusedProducer::Gemm(epilogue_group, _)) => {
                    self.epilogues[*epilogue_group].as_ref().map(|(first, _)| *first)
                }
                _ => None,
            })
            .collect();
        // For each GEMM group, the group that is its epilogue.
        let mut epilogue_groups: Vec<Option<usize>> = vec![None; self.groups.len()];
        for (reader, epilogues) in self.epilogues.iter().enumerate() {
            if let Some((gemm_group, _)) = epilogues {
                epilogue_groups[*gemm_group] = Some(reader);
            }
        }
        for (id, epilogue_group) in epilogue_groups.into_iter().enumerate() {
            let Some(gemm) = gemm_of(&self.groups[id]) else { continue };
            if self.prologues[id].is_some() {
                continue;
            }
            let epilogue = epilogue_group.and_then(|reader| self.epilogues[reader].as_ref());
            let reduces_rows = epilogue.is_some_and(|(_, epilogue)| epilogue.reduces_rows());
            let a_bytes = gemm.a_bytes(self.graph);
            let mut candidates: SmallVec<[(Side, usize, BlockKernel, OperandLayout); 2]> =
                SmallVec::new();
            for side in [Side::A, Side::B] {
                let allowed = side == Side::A
                    || (a_bytes <= MAX_REREAD_BYTES && !reduces_rows && !chained.contains(&id));
                let operand = gemm.operand_layout(self.graph, side).filter(|_| allowed);
                let Some((operand, layout)) = operand else { continue };
                let Some(writer) = uses.writer(buffer(operand)) else { continue };
                if layout.columns() > MAX_PROLOGUE_ROW {
                    continue;
                }
                let is_private = uses.sole_reader(buffer(operand)) == Some(id)
                    && uses.read_count(id, buffer(operand)) == 1
                    && self.epilogues[writer].is_none();
                let group = &self.groups[writer];
                let ([RawStep::Launch(kernel)], [value]) = (&group.steps[..], &group.members[..])
                else {
                    continue;
                };
                if !is_private {
                    continue;
                }
                if let Some(kernel) = lay_out_block_kernel(kernel, *value, &layout, buffer) {
                    candidates.push((side, writer, kernel, layout));
                }
            }
            // A GEMM has one prologue: choose the operand that costs more to materialize.
            let size = |layout: &OperandLayout| layout.rows() * layout.columns();
            candidates.sort_by_key(|(.., layout)| std::cmp::Reverse(size(layout)));
            if let Some((side, writer, kernel, layout)) = candidates.into_iter().next() {
                self.fused[writer] = true;
                self.prologues[id] = Some(FusedProducer::Kernel(Box::new((side, kernel, layout))));
            }
        }
    }
}

/// The GEMM of a group that is one.
fn gemm_of(group: &FusionGroup) -> Option<&RawGemm> {
    match &group.steps[..] {
        [RawStep::Gemm(gemm)] => Some(gemm),
        _ => None,
    }
}

/// The only param that an epilogue writes, if its store has the same access map as its load of the GEMM result.
fn chained_output_param(epilogue: &Epilogue) -> Option<usize> {
    let (kernel, shape) = (&epilogue.launch.kernel, &epilogue.launch.shape);
    let written: SmallVec<[usize; 2]> =
        (0..kernel.params.len()).filter(|&param| kernel.params[param].writes).collect();
    let [value] = written[..] else { return None };
    let only_access = |param: usize| {
        let mut accesses = (0..kernel.accesses.len())
            .filter(|&access| kernel.accesses[access].param == Some(param as u32));
        let (access, None) = (accesses.next()?, accesses.next()) else { return None };
        Some(&shape.accesses[access])
    };
    (only_access(value)? == only_access(epilogue.gemm_result)?).then_some(value)
}

/// The groups that write and read each buffer.
struct BufferUses {
    writers: FxHashMap<BufferId, usize>,
    /// The groups that read each buffer, once for each read.
    readers: FxHashMap<BufferId, SmallVec<[usize; 4]>>,
    outputs: Vec<BufferId>,
}

impl BufferUses {
    fn new(
        groups: &[FusionGroup],
        outputs: &[BufferId],
        buffer: impl Fn(NodeId) -> BufferId + Copy,
    ) -> BufferUses {
        let mut uses = BufferUses {
            writers: FxHashMap::default(),
            readers: FxHashMap::default(),
            outputs: outputs.to_vec(),
        };
        for (id, group) in groups.iter().enumerate() {
            let members: SmallVec<[BufferId; 4]> =
                group.members.iter().map(|&member| buffer(member)).collect();
            uses.writers.extend(members.iter().map(|&member| (member, id)));
            for operand in group.steps.iter().flat_map(RawStep::operands) {
                let operand = buffer(operand);
                if !members.contains(&operand) {
                    uses.readers.entry(operand).or_default().push(id);
                }
            }
        }
        uses
    }

    /// The group that writes a buffer.
    fn writer(&self, buffer: BufferId) -> Option<usize> {
        self.writers.get(&buffer).copied()
    }

    /// The only group that reads a buffer, if the buffer is no graph output.
    fn sole_reader(&self, buffer: BufferId) -> Option<usize> {
        let readers = self.readers.get(&buffer).filter(|_| !self.outputs.contains(&buffer))?;
        let (&first, rest) = readers.split_first()?;
        rest.iter().all(|&reader| reader == first).then_some(first)
    }

    /// The number of times that a group reads a buffer.
    fn read_count(&self, group: usize, buffer: BufferId) -> usize {
        let readers = self.readers.get(&buffer);
        readers.map_or(0, |readers| readers.iter().filter(|&&reader| reader == group).count())
    }
}
