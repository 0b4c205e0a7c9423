//! What runs before and after a product as a part of its step: kernels that compute an operand block by block,
//! kernels that take the product in part by part, and products that compute an operand of another.
//!
//! Each is a group of its own that only the product reads, or that alone reads the product. Here it is decided
//! which of them join it, and what they become then.

use super::fusion::{Group, RawCommand};
use super::gemm::RawGemm;
use super::layout::lay_out_epilogue;
use super::prologue::{BlockKernel, Digits, Side, lay_out_blocks};
use super::{BufferId, Epilogue, GemmStep, PlanTarget, Step};
use crate::graph::{Graph, NodeId};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

/// An operand on the right is written if the left one has more bytes than this: that is read for each block of
/// the right one's columns.
const MOST_REREAD: usize = 16 << 20;

/// An operand with longer rows is written: a block has some rows, and there must be room for them in a cache.
const LONGEST_ROW: usize = 1 << 14;

/// Below this many rows a chain of products is none: threads share it by rows, and there are too few.
const FEWEST_ROWS: usize = 512;

/// The bytes of a block of rows of the first product of a chain, which should stay in a cache.
const CHAINED_BLOCK: usize = 256 << 10;

/// Which groups are parts of other groups' steps.
pub struct GemmFusion<'a> {
    graph: &'a Graph,
    groups: &'a [Group],
    /// For each group, the product that it takes in.
    follows: Vec<Option<(usize, Epilogue)>>,
    /// For each product's group, what computes one of its operands.
    precedes: Vec<Option<Preceding>>,
    /// For each group, whether it is a part of another's step.
    joined: Vec<bool>,
}

/// What computes an operand.
enum Preceding {
    /// A kernel.
    Kernel(Box<(Side, BlockKernel, Digits)>),
    /// The product that this group takes in, by what the param of the group's kernel is.
    Product(usize, usize),
}

impl<'a> GemmFusion<'a> {
    /// Decides for every group.
    pub fn new(
        graph: &'a Graph,
        groups: &'a [Group],
        outputs: &[BufferId],
        buffer: impl Fn(NodeId) -> BufferId + Copy,
        plan_target: PlanTarget,
    ) -> GemmFusion<'a> {
        let uses = Uses::new(groups, outputs, buffer);
        let count = groups.len();
        let mut surroundings = GemmFusion {
            graph,
            groups,
            follows: (0..count).map(|_| None).collect(),
            precedes: (0..count).map(|_| None).collect(),
            joined: vec![false; count],
        };
        surroundings.follow(&uses, buffer);
        if plan_target.prologues {
            surroundings.chain(&uses, buffer);
            surroundings.precede(&uses, buffer);
        }
        surroundings
    }

    /// Whether a group is a part of another's step.
    pub fn is_joined(&self, group: usize) -> bool {
        self.joined[group]
    }

    /// The step of a group that is a product, or that takes one in.
    pub fn step(
        &mut self,
        group: usize,
        buffer: impl Fn(NodeId) -> BufferId + Copy,
    ) -> Option<Step> {
        self.contract_step(group, buffer).map(Step::Gemm)
    }

    fn contract_step(
        &mut self,
        group: usize,
        buffer: impl Fn(NodeId) -> BufferId + Copy,
    ) -> Option<GemmStep> {
        if let Some((product, epilogue)) = self.follows[group].take() {
            let step = self.contract_step(product, buffer)?;
            return Some(step.followed_by(epilogue));
        }
        let step = product_of(&self.groups[group])?.bind(self.graph, buffer);
        Some(match self.precedes[group].take() {
            None => step,
            Some(Preceding::Kernel(kernel)) => {
                let (side, kernel, digits) = *kernel;
                step.preceded_by(side, kernel, &digits)
            }
            Some(Preceding::Product(follower, value)) => {
                let first = self.contract_step(follower, buffer)?;
                step.chained_to(first, value)
            }
        })
    }

    /// Lets the only reader of a product take it in, if it reads it row by row.
    fn follow(&mut self, uses: &Uses, buffer: impl Fn(NodeId) -> BufferId + Copy) {
        for (id, group) in self.groups.iter().enumerate() {
            let Some(contract) = product_of(group) else { continue };
            let product = contract.node();
            let Some(reader) = uses.only_reader(buffer(product)) else { continue };
            let [RawCommand::Launch(kernel)] = &self.groups[reader].commands[..] else { continue };
            if self.follows[reader].is_none() {
                let shape = &self.graph.node(product).shape;
                let epilogue = lay_out_epilogue(kernel, product, shape, buffer);
                self.joined[id] = epilogue.is_some();
                self.follows[reader] = epilogue.map(|epilogue| (id, epilogue));
            }
        }
    }

    /// Lets a product with an epilogue compute the left operand of another, row by row, if what it writes is
    /// that and nothing else.
    fn chain(&mut self, uses: &Uses, buffer: impl Fn(NodeId) -> BufferId + Copy) {
        let by_age = (0..self.groups.len()).rev();
        for id in by_age {
            let Some(second) = product_of(&self.groups[id]) else { continue };
            let Some((operand, digits)) = second.rows_of(self.graph, Side::A) else { continue };
            let Some(follower) = uses.writer(buffer(operand)) else { continue };
            let Some((first, epilogue)) = &self.follows[follower] else { continue };
            let is_alone = uses.only_reader(buffer(operand)) == Some(id)
                && uses.reads(id, buffer(operand)) == 1
                && self.precedes[*first].is_none();
            if !is_alone || !digits.is_row_major() {
                continue;
            }
            let Some(value) = operand_of_epilogue(epilogue) else { continue };
            let [first_shape, second_shape] = [*first, id].map(|group| {
                let node = product_of(&self.groups[group]).expect("a product").node();
                &self.graph.node(node).shape
            });
            let inner = self.graph.node(
                self.graph.node(product_of(&self.groups[*first]).expect("a product").node()).inputs
                    [0],
            );
            let (Some(&width), Some(&n), Some(&k)) =
                (first_shape.last(), second_shape.last(), inner.shape.last())
            else {
                continue;
            };
            // The right operands are read for each block of rows. That must be less than writing and reading
            // the whole of what is between the products.
            let block = (CHAINED_BLOCK / (width * inner.dtype.size())).clamp(32, 128);
            if digits.rows() >= FEWEST_ROWS && width == digits.columns() && k + n <= 8 * block {
                self.precedes[id] = Some(Preceding::Product(follower, value));
                self.joined[follower] = true;
            }
        }
    }

    /// Lets kernels compute the operands of products that alone read them.
    fn precede(&mut self, uses: &Uses, buffer: impl Fn(NodeId) -> BufferId + Copy) {
        let chained: Vec<usize> = self
            .precedes
            .iter()
            .filter_map(|preceding| match preceding {
                Some(Preceding::Product(follower, _)) => {
                    self.follows[*follower].as_ref().map(|(first, _)| *first)
                }
                _ => None,
            })
            .collect();
        // For each product, the group that takes it in.
        let mut followers: Vec<Option<usize>> = vec![None; self.groups.len()];
        for (reader, follows) in self.follows.iter().enumerate() {
            if let Some((product, _)) = follows {
                followers[*product] = Some(reader);
            }
        }
        for (id, follower) in followers.into_iter().enumerate() {
            let Some(contract) = product_of(&self.groups[id]) else { continue };
            if self.precedes[id].is_some() {
                continue;
            }
            let epilogue = follower.and_then(|reader| self.follows[reader].as_ref());
            let whole_rows = epilogue.is_some_and(|(_, epilogue)| epilogue.reduces_rows());
            let reread = contract.left_bytes(self.graph);
            let mut found: SmallVec<[(Side, usize, BlockKernel, Digits); 2]> = SmallVec::new();
            for side in [Side::A, Side::B] {
                let allowed = side == Side::A
                    || (reread <= MOST_REREAD && !whole_rows && !chained.contains(&id));
                let operand = contract.rows_of(self.graph, side).filter(|_| allowed);
                let Some((operand, digits)) = operand else { continue };
                let Some(writer) = uses.writer(buffer(operand)) else { continue };
                if digits.columns() > LONGEST_ROW {
                    continue;
                }
                let alone = uses.only_reader(buffer(operand)) == Some(id)
                    && uses.reads(id, buffer(operand)) == 1
                    && self.follows[writer].is_none();
                let group = &self.groups[writer];
                let ([RawCommand::Launch(kernel)], [value]) =
                    (&group.commands[..], &group.members[..])
                else {
                    continue;
                };
                if !alone {
                    continue;
                }
                if let Some(kernel) = lay_out_blocks(kernel, *value, &digits, buffer) {
                    found.push((side, writer, kernel, digits));
                }
            }
            // One of the two: the one whose writing costs more.
            let size = |digits: &Digits| digits.rows() * digits.columns();
            found.sort_by_key(|(.., digits)| std::cmp::Reverse(size(digits)));
            if let Some((side, writer, kernel, digits)) = found.into_iter().next() {
                self.joined[writer] = true;
                self.precedes[id] = Some(Preceding::Kernel(Box::new((side, kernel, digits))));
            }
        }
    }
}

/// The product of a group that is one.
fn product_of(group: &Group) -> Option<&RawGemm> {
    match &group.commands[..] {
        [RawCommand::Gemm(contract)] => Some(contract),
        _ => None,
    }
}

/// The param that an epilogue writes, if it is one, where the product is.
fn operand_of_epilogue(epilogue: &Epilogue) -> Option<usize> {
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
    (only_access(value)? == only_access(epilogue.product)?).then_some(value)
}

/// Who writes and who reads each buffer.
struct Uses {
    writers: FxHashMap<BufferId, usize>,
    /// The groups that read each buffer, each as often as it does.
    readers: FxHashMap<BufferId, SmallVec<[usize; 4]>>,
    outputs: Vec<BufferId>,
}

impl Uses {
    fn new(
        groups: &[Group],
        outputs: &[BufferId],
        buffer: impl Fn(NodeId) -> BufferId + Copy,
    ) -> Uses {
        let mut uses = Uses {
            writers: FxHashMap::default(),
            readers: FxHashMap::default(),
            outputs: outputs.to_vec(),
        };
        for (id, group) in groups.iter().enumerate() {
            let members: SmallVec<[BufferId; 4]> =
                group.members.iter().map(|&member| buffer(member)).collect();
            uses.writers.extend(members.iter().map(|&member| (member, id)));
            for operand in group.commands.iter().flat_map(RawCommand::operands) {
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

    /// The one group that reads a buffer, if nobody else ever does.
    fn only_reader(&self, buffer: BufferId) -> Option<usize> {
        let readers = self.readers.get(&buffer).filter(|_| !self.outputs.contains(&buffer))?;
        let (&first, rest) = readers.split_first()?;
        rest.iter().all(|&reader| reader == first).then_some(first)
    }

    /// How often a group reads a buffer.
    fn reads(&self, group: usize, buffer: BufferId) -> usize {
        let readers = self.readers.get(&buffer);
        readers.map_or(0, |readers| readers.iter().filter(|&&reader| reader == group).count())
    }
}
