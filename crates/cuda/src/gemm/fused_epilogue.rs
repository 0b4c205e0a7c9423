//! Products that a kernel takes in as they are computed, where the library does not do what follows, or is slower.
//!
//! The product is then in no memory, and what follows it needs no launch of its own. See
//! [`Mapping::FusedGemm`](crate::codegen::Mapping::FusedGemm) for the kernel.

use super::epilogue;
use super::operand_split::{Matrix, OperandSplit, Packed};
use crate::codegen::{
    BF16X3_STAGE_K, EPILOGUE_COLUMNS, GEMM_STAGE_K_BYTES, GEMM_THREADS, GEMM_TILE_ROWS,
    GemmPrecision, GemmTiling, KernelClass, MAX_STAGED_OPERANDS, Mapping, TF32_TILE_COLUMNS,
    Variant,
};
use crate::launch_config::{self, AnalyzedKernel, LaunchConfig};
use crate::tensor_map::{TENSOR_MAP_WORDS, TmaTensor};
use cudarc::driver::sys;
use inflight_backend::{Fault, GemmLaunch};
use inflight_ir::DType;
use inflight_ir::kernel::{AccessId, AccessShape, Kernel, Kind, LaunchShape, Stride, parse};
use inflight_ir::plan::GemmStep;
use smallvec::SmallVec;

/// Kernels of more instructions than this are not worth it: their registers are few.
const MOST_INSTRUCTIONS: usize = 200;

/// Shorter sums are over before a tile's beginning and end have paid.
const SHORTEST_SUM: usize = 256;

/// From this length of sums on, the library is faster by 3 % at most, even with operands as it likes them (measured on an
/// H200), and now and then slower by far: it depends on which of its algorithms is taken for the fastest.
const LONG_SUM: usize = 1024;

/// Of all the places of tiles, as many rounds of blocks as there are, so many must be taken by the result.
const LEAST_TAKEN: f64 = 0.7;

/// Multiplying a number with 650 to 950 halves, and not with as many numbers in TF32, saves as much time as packing it takes
/// (as the figures of an H200 say). As packing may be in vain, it must save more.
const PACKING_COST: usize = 1536;

/// What is saved of that must be worth the launches: so many products of numbers at least.
const LEAST_PACKED: usize = 1 << 33;

/// Columns of tiles whose numbers are in thirds, and how much faster those are multiplied than the library does it, which
/// multiplies numbers as they are (122, 114 and 51 TFLOP/s of an H200).
const THIRDS: [(usize, f64); 2] = [(192, 2.4), (128, 2.25)];

/// While a number is split into thirds, the library multiplies so many.
const SPLITTING_COST: f64 = 70.0;

/// While two launches are made, the library multiplies so many.
const LAUNCHING_COST: f64 = 3e8;

/// What is faster must take less than this of the library's time.
const WORTHWHILE: f64 = 0.9;

/// A matrix operand: the distances of its rows and columns, in elements.
#[derive(Clone, Copy)]
pub struct Strides {
    row: isize,
    column: isize,
    offset: isize,
}

/// The extents of a product and where its operands lie.
#[derive(Clone, Copy)]
pub struct Extents {
    m: usize,
    n: usize,
    k: usize,
    a: Strides,
    b: Strides,
}

impl Extents {
    /// Those of a command, if it is one product of `f32`.
    pub fn of(contract: &GemmLaunch) -> Option<Extents> {
        let (a, b) = (&contract.a, &contract.b);
        let a = Strides { row: a.row_stride, column: a.column_stride, offset: a.offset };
        let b = Strides { row: b.row_stride, column: b.column_stride, offset: b.offset };
        let extents = Extents { m: contract.m, n: contract.n, k: contract.k, a, b };
        is_one(contract.dtype, &contract.batch).then_some(extents)
    }

    /// Those of a step.
    pub fn of_step(step: &GemmStep) -> Option<Extents> {
        let (a, b) = (&step.a, &step.b);
        let a = Strides { row: a.row_stride, column: a.column_stride, offset: a.offset };
        let b = Strides { row: b.row_stride, column: b.column_stride, offset: b.offset };
        let extents = Extents { m: step.m, n: step.n, k: step.k, a, b };
        is_one(step.dtype, &step.batch).then_some(extents)
    }

    /// For both operands, whether what is summed is next to each other, and whether, across, the elements of a tile's
    /// side are.
    fn lies(&self) -> [[bool; 2]; 2] {
        let Extents { m, n, k, a, b } = *self;
        let lies = |near: isize, far: isize, extent: usize, offset: isize| {
            near == 1 && far >= extent as isize && far % 4 == 0 && offset % 4 == 0
        };
        let along = [lies(a.column, a.row, k, a.offset), lies(b.row, b.column, k, b.offset)];
        let across = [lies(a.row, a.column, m, a.offset), lies(b.column, b.row, n, b.offset)];
        [along, across]
    }

    /// How a kernel takes the product in with its numbers as they are, if that is worth it on a device of so many
    /// multiprocessors.
    pub fn whole_lie(&self, processors: usize) -> Option<GemmConfig> {
        let Extents { m, n, k, .. } = *self;
        let operands = self.matrices()?;
        if k < SHORTEST_SUM || m * n == 0 {
            return None;
        }
        let lie = |columns: usize| GemmConfig {
            turned: false,
            across: false,
            turns: false,
            columns,
            packed: Some(Pack { operands, parts: OperandSplit::Bf16x3 }),
        };
        // In products of numbers by the library.
        let cost = |&(columns, faster): &(usize, f64)| {
            let rounds = lie(columns).tiles(m, n).div_ceil(processors);
            (rounds * processors * GEMM_TILE_ROWS * columns) as f64 * k as f64 / faster
        };
        let best = THIRDS.iter().min_by(|a, b| cost(a).total_cmp(&cost(b)))?;
        let whole = cost(best) + SPLITTING_COST * (m + n) as f64 * k as f64 + LAUNCHING_COST;
        (whole < WORTHWHILE * (m * n) as f64 * k as f64).then(|| lie(best.0))
    }

    /// How a kernel takes the product in with its numbers rounded, if that is worth it on a device of so many
    /// multiprocessors.
    pub fn rounded_lie(&self, processors: usize) -> Option<GemmConfig> {
        let Extents { m, n, k, .. } = *self;
        let [along, across] = self.lies();
        let columns = TF32_TILE_COLUMNS;
        let lie =
            |turned, across, turns| GemmConfig { turned, across, turns, columns, packed: None };
        let lie = match (along, across) {
            ([true, true], _) => lie(false, false, false),
            ([_, true], [true, _]) => lie(false, true, false),
            ([true, _], [_, true]) => lie(true, true, false),
            (_, [true, true]) if super::transpose::is_even(n, k) => lie(false, true, true),
            _ => return None,
        };
        let tiles = lie.tiles(m, n);
        let rounds = tiles.div_ceil(processors);
        let places = (rounds * processors * GEMM_TILE_ROWS * columns) as f64;
        let is_full = m * n > 0 && (m * n) as f64 >= LEAST_TAKEN * places;
        if k < SHORTEST_SUM || !is_full {
            return None;
        }
        let operands = self.matrices().filter(|_| self.is_worth_packing());
        let packed = operands.map(|operands| Pack { operands, parts: OperandSplit::ScaledF16 });
        Some(GemmConfig { packed, ..lie })
    }

    /// Whether multiplying halves gains more than it costs to pack the operands.
    fn is_worth_packing(&self) -> bool {
        let Extents { m, n, k, .. } = *self;
        let gain = (m * n).saturating_sub(PACKING_COST * (m + n));
        k >= LONG_SUM && gain.saturating_mul(k) >= LEAST_PACKED
    }

    /// The operands as matrices of lines, and whether what is summed lies across those.
    fn matrices(&self) -> Option<[(Matrix, bool); 2]> {
        let Extents { m, n, k, a, b } = *self;
        let [along, across] = self.lies();
        // That of so many rows or columns, given the distances of its lines along what is summed and across it.
        let side = |at: usize, extent: usize, distances: [isize; 2], offset: isize| {
            let (lines, columns, leading) = match (along[at], across[at]) {
                (true, _) => (extent, k, distances[0] as usize),
                (_, true) => (k, extent, distances[1] as usize),
                _ => return None,
            };
            Some((Matrix { lines, columns, leading, offset }, !along[at]))
        };
        let a = side(0, m, [a.row, a.column], a.offset)?;
        let b = side(1, n, [b.column, b.row], b.offset)?;
        [a, b].iter().all(|(matrix, _)| matrix.is_countable()).then_some([a, b])
    }
}

/// Whether it is one product of `f32`.
fn is_one(dtype: DType, batch: &[usize]) -> bool {
    dtype == DType::F32 && batch.iter().all(|&extent| extent == 1)
}

/// How a kernel takes a product in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GemmConfig {
    /// Whether a tile's rows are the result's columns.
    pub turned: bool,
    /// Whether what is summed is not next to each other in the operand of a tile's rows.
    pub across: bool,
    /// Whether the right operand must be turned first.
    pub turns: bool,
    /// Columns of a tile.
    pub columns: usize,
    /// What is packed first. With halves, the rest is for numbers that those cannot stand for.
    pub packed: Option<Pack>,
}

/// What is packed before it is multiplied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pack {
    /// The operands, and whether what is summed lies across their lines.
    pub operands: [(Matrix, bool); 2],
    /// What they are packed into.
    pub parts: OperandSplit,
}

impl GemmConfig {
    /// Whether a product of sums of `k`, which nothing follows, is computed about as fast by a kernel of our own as by
    /// the library, or faster: operands are packed, or none must be turned, and one lies across, or sums are long.
    pub fn is_ours(&self, k: usize) -> bool {
        self.packed.is_some() || !self.turns && (self.across || k >= LONG_SUM)
    }

    /// Of a pair for both operands, that of a tile's rows and that of its columns.
    fn sides<T>(&self, [a, b]: [T; 2]) -> [T; 2] {
        if self.turned { [b, a] } else { [a, b] }
    }

    /// How a kernel multiplies.
    fn numbers(&self) -> GemmPrecision {
        let across = |pack: Pack| self.sides(pack.operands.map(|(_, across)| across));
        match self.packed {
            Some(pack) if pack.parts == OperandSplit::Bf16x3 => {
                GemmPrecision::Bf16x3 { mn_major: across(pack), columns: self.columns as u32 }
            }
            packed => GemmPrecision::Tf32 { mn_major: self.across, scaled_f16: packed.map(across) },
        }
    }

    fn tiles(&self, m: usize, n: usize) -> usize {
        let [rows, columns] = self.sides([m, n]);
        rows.div_ceil(GEMM_TILE_ROWS) * columns.div_ceil(self.columns)
    }
}

/// A kernel that stores a product, and does nothing else.
pub fn stored() -> Kernel {
    let text = "kernel grid 1 reduce 0 vector parallel\nparam p0: f32\nparam p1: f32 writes\n\
        access a0: p0 reduce zero vector one\naccess a1: p1 reduce zero vector one\n\
        %0 = load p0[a0] : f32\nstore p1[a1] %0 : f32\n";
    parse(text).expect("a right kernel")
}

/// How it is launched: where a result of so many rows and columns begins, and how far apart its rows are.
pub fn stored_shape([m, n]: [usize; 2], distance: isize, offset: isize) -> LaunchShape {
    let access = |distance: isize, offset: isize| AccessShape {
        offset,
        strides: [distance, 1].into_iter().collect(),
        index_stride: 0,
    };
    LaunchShape {
        extents: [m, n].into_iter().collect(),
        accesses: [access(n as isize, 0), access(distance, offset)].into_iter().collect(),
    }
}

/// How a kernel that follows a product takes it in. `None` if it cannot. `buffers` are its params' addresses and
/// sizes; that of the product is a multiple of sixteen.
pub fn choose(
    described: &AnalyzedKernel,
    shape: &LaunchShape,
    product: usize,
    [m, n]: [usize; 2],
    lie: GemmConfig,
    buffers: &[(u64, usize)],
    processors: usize,
) -> Option<(LaunchConfig, GemmTiling)> {
    let kernel = &described.kernel;
    let (columns, grid) = shape.extents.split_last()?;
    if described.class != KernelClass::Elementwise
        || kernel.reduces()
        || grid.is_empty()
        || *columns != n
        || grid.iter().product::<usize>() != m
        || kernel.body.len() > MOST_INSTRUCTIONS
        || kernel.params.get(product).is_none_or(|param| param.writes)
        || described.in_place
    {
        return None;
    }
    let (mut held, mut count, mut same) = (0, 0, 0);
    for instruction in &kernel.body {
        match instruction.kind {
            Kind::Store { index: None, mask: None, combine: None, .. } => {}
            Kind::Store { .. } => return None,
            Kind::Load { access, index, mask } => {
                let plain = index.is_none() && mask.is_none();
                let param = kernel.accesses[access as usize].param?;
                let distance = epilogue::row_stride(kernel, shape, access);
                if param as usize == product {
                    // Each element is there when its point is computed, and no other.
                    if !plain || distance != Some(n as isize) {
                        return None;
                    }
                } else if plain
                    && access < 64
                    && held >> access & 1 == 0
                    && count < MAX_STAGED_OPERANDS
                    && is_held(kernel, access, distance, n, buffers[param as usize].0)
                {
                    held |= 1 << access;
                    count += 1;
                } else if plain && access < 64 && is_same(kernel, shape, access) {
                    same |= 1 << access;
                }
            }
            _ => {}
        }
    }
    let (turned, numbers) = (lie.turned, lie.numbers());
    let tiled = GemmTiling {
        gemm_param: product as u32,
        transposed: turned,
        precision: numbers,
        staged: held,
        uniform: same,
    };
    let variant = Variant {
        width: launch_config::width(kernel, shape, buffers),
        index64: described.needs_index64(shape, buffers),
        streamed: 0,
        mapping: Mapping::FusedGemm(tiled),
    };
    let choice = LaunchConfig {
        variant,
        grid: [lie.tiles(m, n).min(processors) as u32, 1],
        threads: GEMM_THREADS,
        items: m * n,
        splits: 1,
        scratch: 0,
    };
    Some((choice, tiled))
}

/// Whether what an access loads can be copied as boxes of a matrix.
fn is_held(
    kernel: &Kernel,
    access: AccessId,
    distance: Option<isize>,
    columns: usize,
    address: u64,
) -> bool {
    let class = kernel.accesses[access as usize];
    let Some(param) = class.param else { return false };
    let four_bytes = kernel.params[param as usize].dtype.size() == 4;
    let apart = |distance: isize| distance >= columns as isize && distance % 4 == 0;
    address.is_multiple_of(16)
        && four_bytes
        && class.vector == Stride::One
        && distance.is_some_and(apart)
}

/// Whether an access is the same element at every point, which the kernel does not write.
fn is_same(kernel: &Kernel, shape: &LaunchShape, access: AccessId) -> bool {
    let class = kernel.accesses[access as usize];
    let is_read = class.param.is_some_and(|param| !kernel.params[param as usize].writes);
    is_read
        && class.vector == Stride::Zero
        && shape.accesses[access as usize].strides.iter().all(|&stride| stride == 0)
}

/// The arguments of a launch that come before those of the kernel: where matrices are.
///
/// `operands` are the addresses of both, the right one turned if it is to be, and `packed` what they were packed into, if
/// they are to be.
pub fn arguments(
    extents: &Extents,
    lie: GemmConfig,
    operands: [u64; 2],
    packed: Option<[Packed; 2]>,
    held: &[(u64, usize)],
) -> Result<Vec<u64>, Fault> {
    let Extents { m, n, k, .. } = *extents;
    let [rows, columns] = lie.sides([m, n]);
    let packed = packed.map(|packed| lie.sides(packed));
    let (mut words, last) = match lie.numbers() {
        GemmPrecision::Tf32 { scaled_f16: across, .. } => {
            rounded_arguments(extents, lie, operands, packed.zip(across))?
        }
        GemmPrecision::Bf16x3 { mn_major: across, .. } => {
            let packed = packed.expect("what is multiplied in thirds is split before");
            thirds_arguments(extents, lie, operands, packed, across)?
        }
    };
    for &(address, distance) in held {
        let part = match lie.turned {
            false => [EPILOGUE_COLUMNS, GEMM_TILE_ROWS],
            true => [GEMM_TILE_ROWS, EPILOGUE_COLUMNS],
        };
        let map = Map {
            address,
            extents: [n, m],
            distance: distance * 4,
            planes: None,
            part,
            kind: sys::CUtensorMapDataType::CU_TENSOR_MAP_DATA_TYPE_UINT32,
            swizzle: sys::CUtensorMapSwizzle::CU_TENSOR_MAP_SWIZZLE_NONE,
        };
        words.extend(map.words()?);
    }
    if held.is_empty() {
        words.extend([0; TENSOR_MAP_WORDS]);
    }
    words.extend([rows as u64, columns as u64, k as u64]);
    words.extend(last);
    Ok(words)
}

/// What comes first and last of the arguments: where the matrices are that are copied, and what is known of operands.
type Ends = (Vec<u64>, Vec<u64>);

/// Those of operands that are rounded, with what they were packed into, and whether that lies across.
fn rounded_arguments(
    extents: &Extents,
    lie: GemmConfig,
    operands: [u64; 2],
    packed: Option<([Packed; 2], [bool; 2])>,
) -> Result<Ends, Fault> {
    let (mut maps, mut last) = (Vec::new(), Vec::new());
    for map in rounded_maps(extents, lie, operands) {
        maps.extend(map.words()?);
    }
    let Some((packed, across)) = packed else {
        maps.extend([0; 32]);
        return Ok((maps, vec![0; 6]));
    };
    let sides = lie.sides([extents.m, extents.n]);
    for ((packed, across), side) in packed.into_iter().zip(across).zip(sides) {
        let Packed { numbers, leading, header, .. } = packed;
        let map = Map::of_side(numbers, [side, extents.k], leading, across, HALVES);
        maps.extend(map.words()?);
        last.extend([header, numbers, leading as u64]);
    }
    Ok((maps, last))
}

/// Those of operands in thirds, and whether these lie across.
fn thirds_arguments(
    extents: &Extents,
    lie: GemmConfig,
    operands: [u64; 2],
    packed: [Packed; 2],
    across: [bool; 2],
) -> Result<Ends, Fault> {
    let Extents { m, n, k, a, b } = *extents;
    let (mut maps, mut last) = (Vec::new(), Vec::new());
    let of_a = (operands[0], m, [a.row, a.column, a.offset]);
    let of_b = (operands[1], n, [b.column, b.row, b.offset]);
    let sides = lie.sides([of_a, of_b]);
    for ((packed, across), (address, side, strides)) in packed.into_iter().zip(across).zip(sides) {
        let columns = if across { side } else { k };
        maps.extend(Map::of_bf16x3(packed, columns, across).words()?);
        let [along_side, along_sum, offset] = strides;
        let at = address.wrapping_add_signed(offset as i64 * 4);
        let distances = [along_side as u64, along_sum as u64];
        last.extend([packed.header, packed.blocks.into(), at, distances[0], distances[1]]);
    }
    Ok((maps, last))
}

/// The operands of a tile's rows and of its columns, which are rounded on the way.
fn rounded_maps(extents: &Extents, lie: GemmConfig, addresses: [u64; 2]) -> [Map; 2] {
    let Extents { m, n, k, a, b } = *extents;
    let at = |address: u64, offset: isize| address.wrapping_add_signed(offset as i64 * 4);
    let a_at = at(addresses[0], a.offset);
    // The side that is not summed over, its extent, and the distance along it or across it.
    let a_side = |across: bool| (a_at, m, if across { a.column } else { a.row });
    let (b_at, b_along) = match lie.turns {
        true => (addresses[1], k as isize),
        false => (at(addresses[1], b.offset), b.column),
    };
    let (row_side, column_side) = match lie.turned {
        false => (a_side(lie.across), (b_at, n, b_along)),
        true => ((b_at, n, b.row), a_side(false)),
    };
    let map = |(address, extent, distance): (u64, usize, isize), across: bool| {
        Map::of_side(address, [extent, k], distance as usize, across, ROUNDED)
    };
    [map(row_side, lie.across), map(column_side, false)]
}

/// What an operand's numbers are: as the device's copies name them, and how many bytes.
type Numbers = (sys::CUtensorMapDataType, usize);

/// Those of an operand that copies round.
const ROUNDED: Numbers = (sys::CUtensorMapDataType::CU_TENSOR_MAP_DATA_TYPE_TFLOAT32, 4);

/// Those of one that is packed.
const HALVES: Numbers = (sys::CUtensorMapDataType::CU_TENSOR_MAP_DATA_TYPE_FLOAT16, 2);

/// The address of each access that comes in stages, and the distance of its rows.
pub fn held(
    kernel: &Kernel,
    shape: &LaunchShape,
    tiled: GemmTiling,
    buffers: &[(u64, usize)],
) -> SmallVec<[(u64, usize); MAX_STAGED_OPERANDS]> {
    let of = |access: AccessId| {
        let param = kernel.accesses[access as usize].param?;
        let distance = epilogue::row_stride(kernel, shape, access)?;
        Some((buffers[param as usize].0, usize::try_from(distance).ok()?))
    };
    tiled.staged_accesses().filter_map(of).collect()
}

/// A matrix that parts are copied of.
struct Map {
    address: u64,
    /// Along the side whose elements are next to each other, and along the other.
    extents: [usize; 2],
    /// From one row to the next, in bytes.
    distance: usize,
    /// How many such matrices follow each other, if a copy is of one of several.
    planes: Option<usize>,
    /// Of what is copied at once.
    part: [usize; 2],
    kind: sys::CUtensorMapDataType,
    swizzle: sys::CUtensorMapSwizzle,
}

impl Map {
    /// The operand of a tile's rows or columns: so many of them, and what is summed of each. A stage has a line of each or,
    /// if what is summed lies across, as many as fill a line.
    fn of_side(
        address: u64,
        [extent, k]: [usize; 2],
        leading: usize,
        across: bool,
        (kind, bytes): Numbers,
    ) -> Map {
        let line = GEMM_STAGE_K_BYTES / bytes;
        Map {
            address,
            extents: if across { [extent, k] } else { [k, extent] },
            distance: leading * bytes,
            planes: None,
            part: if across { [line, line] } else { [line, 128] },
            kind,
            swizzle: sys::CUtensorMapSwizzle::CU_TENSOR_MAP_SWIZZLE_128B,
        }
    }

    /// An operand with lines of so many numbers that is packed into thirds.
    fn of_bf16x3(packed: Packed, columns: usize, across: bool) -> Map {
        let (part, swizzle) = match across {
            true => ([64, BF16X3_STAGE_K], sys::CUtensorMapSwizzle::CU_TENSOR_MAP_SWIZZLE_128B),
            false => ([BF16X3_STAGE_K, 64], sys::CUtensorMapSwizzle::CU_TENSOR_MAP_SWIZZLE_64B),
        };
        Map {
            address: packed.numbers,
            extents: [columns, packed.lines],
            distance: packed.leading * 2,
            planes: Some(3),
            part,
            kind: sys::CUtensorMapDataType::CU_TENSOR_MAP_DATA_TYPE_BFLOAT16,
            swizzle,
        }
    }

    /// As the device takes it.
    fn words(&self) -> Result<[u64; TENSOR_MAP_WORDS], Fault> {
        let [width, height] = self.extents.map(|extent| extent as u64);
        let extents = [width, height, self.planes.unwrap_or(1) as u64];
        let distances = [self.distance as u64, self.distance as u64 * height];
        let part = [self.part[0] as u32, self.part[1] as u32, 1];
        let rank = if self.planes.is_some() { 3 } else { 2 };
        let tensor = TmaTensor {
            address: self.address,
            kind: self.kind,
            swizzle: self.swizzle,
            extents: &extents[..rank],
            distances: &distances[..rank - 1],
        };
        tensor.tiled(&part[..rank])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::codegen;
    use crate::compile::Compiler;
    use inflight_ir::kernel::verify;

    const PROCESSORS: usize = 132;

    fn extents(m: usize, n: usize, k: usize, [a_along, b_along]: [bool; 2]) -> Extents {
        let strides = |along_rows: bool, rows: usize, columns: usize| match along_rows {
            true => Strides { row: columns as isize, column: 1, offset: 0 },
            false => Strides { row: 1, column: rows as isize, offset: 0 },
        };
        Extents { m, n, k, a: strides(a_along, m, k), b: strides(!b_along, k, n) }
    }

    #[test]
    fn large_products_are_taken_in_however_their_operands_lie() {
        let lie =
            |along: [bool; 2]| extents(4096, 4096, 1024, along).rounded_lie(PROCESSORS).unwrap();
        let expected =
            |turned, across, turns| GemmConfig { packed: None, ..lie_of(turned, across, turns) };
        assert_eq!(lie([true, true]), expected(false, false, false));
        assert_eq!(lie([false, true]), expected(false, true, false));
        assert_eq!(lie([true, false]), expected(true, true, false));
        assert_eq!(lie([false, false]), expected(false, true, true));
        let none =
            |m, n, k, along| assert!(extents(m, n, k, along).rounded_lie(PROCESSORS).is_none());
        none(0, 4096, 1024, [true, true]);
        none(512, 512, 1024, [true, true]);
        none(4096, 4096, 64, [true, true]);
        // A round with few blocks.
        none(2048, 2560, 1024, [true, true]);
        // Rows that no copy can begin at, and a matrix that is not turned.
        none(4096, 4096, 1022, [true, true]);
        none(4096, 4098, 1024, [false, false]);
    }

    #[test]
    fn operands_of_larger_products_are_packed() {
        let packed = |m, n, k, along| {
            let packed = extents(m, n, k, along).rounded_lie(PROCESSORS).unwrap().packed;
            packed.map(|pack| pack.operands.map(|(matrix, across)| (matrix.lines, across)))
        };
        let found = packed(4096, 8192, 4096, [true, false]);
        assert_eq!(found, Some([(4096, false), (4096, true)]));
        let found = packed(4096, 8192, 2048, [false, true]);
        assert_eq!(found, Some([(2048, true), (8192, false)]));
        // What the tests on a GPU multiply.
        for (m, n, k) in [(4096, 4096, 2048), (4100, 4204, 2052), (4132, 4412, 2060)] {
            assert!(packed(m, n, k, [true, true]).is_some());
        }
        assert_eq!(packed(4096, 4096, 1024, [true, true]), None);
        assert_eq!(packed(1024, 8192, 8192, [true, true]), None, "few rows for all the columns");
        assert_eq!(packed(16384, 8192, 512, [true, true]), None, "short sums");
    }

    #[test]
    fn large_products_of_whole_numbers_are_of_thirds() {
        let columns = |m, n, k, along| {
            let lie = extents(m, n, k, along).whole_lie(PROCESSORS);
            lie.inspect(|lie| assert_eq!(lie.packed.unwrap().parts, OperandSplit::Bf16x3))
                .map(|lie| lie.columns)
        };
        assert_eq!(columns(8192, 8192, 8192, [true, true]), Some(192));
        assert_eq!(columns(8192, 8192, 8192, [true, false]), Some(192));
        // Two rounds of blocks, nearly all of which have something to do.
        assert_eq!(columns(1024, 4096, 4096, [true, true]), Some(128));
        assert_eq!(columns(2048, 2048, 2048, [false, false]), Some(128));
        // One round, in which most have.
        assert_eq!(columns(1536, 1536, 1536, [true, true]), Some(192));
        assert_eq!(columns(1024, 1024, 1024, [true, true]), None);
        assert_eq!(columns(16, 65536, 4096, [true, true]), None);
        assert_eq!(columns(8192, 8192, 128, [true, true]), None);
        assert_eq!(columns(0, 8192, 8192, [true, true]), None);
        // What the tests on a GPU multiply.
        let sizes = [(1536, 1536, 1536), (2048, 2048, 1024), (2056, 2180, 1548), (2052, 2060, 772)];
        let with_more = [(2048, 2048, 256), (2008, 2036, 276), (4092, 1984, 512)];
        for (m, n, k) in sizes.into_iter().chain(with_more) {
            assert!(columns(m, n, k, [true, true]).is_some(), "{m} × {n} × {k}");
        }
    }

    fn lie_of(turned: bool, across: bool, turns: bool) -> GemmConfig {
        GemmConfig { turned, across, turns, columns: TF32_TILE_COLUMNS, packed: None }
    }

    /// `max(product, 0) + r · q`, and the root of it times `u / v`: `q` is the same for all rows, `u` for all columns,
    /// and `v` everywhere.
    const FOLLOWING: &str = "kernel grid 1 reduce 0 vector parallel\nparam p0: f32\nparam p1: f32\n\
        param p2: f32\nparam p3: f32\nparam p4: f32 writes\nparam p5: f32 writes\n\
        param p6: f32\nscalar s0: f32\n\
        access a0: p0 reduce zero vector one\naccess a1: p1 reduce zero vector one\n\
        access a2: p2 reduce zero vector one\naccess a3: p3 reduce zero vector zero\n\
        access a4: p4 reduce zero vector one\naccess a5: p5 reduce zero vector one\n\
        access a6: p6 reduce zero vector zero\n%0 = load p0[a0] : f32\n%1 = scalar s0 : f32\n%2 = maximum %0, %1 : f32\n\
        %3 = load p1[a1] : f32\n%4 = load p2[a2] : f32\n%5 = mul %3, %4 : f32\n\
        %6 = add %2, %5 : f32\nstore p4[a4] %6 : f32\n%8 = load p3[a3] : f32\n\
        %9 = mul %6, %8 : f32\n%10 = load p6[a6] : f32\n\
        %11 = div %9, %10 : f32\n%12 = sqrt %11 : f32\nstore p5[a5] %12 : f32\n";

    fn chosen(
        m: usize,
        n: usize,
        lie: GemmConfig,
    ) -> Option<(AnalyzedKernel, LaunchConfig, GemmTiling)> {
        let kernel = parse(FOLLOWING).expect("a kernel");
        verify(&kernel).expect("a right kernel");
        let described = AnalyzedKernel::new(codegen::expanded(&kernel));
        let access = |row: usize, column: isize| AccessShape {
            offset: 0,
            strides: [row as isize, column].into_iter().collect(),
            index_stride: 0,
        };
        let whole = access(n, 1);
        let same = access(0, 1);
        let (rows, all) = (access(1, 0), access(0, 0));
        let accesses =
            [whole.clone(), whole.clone(), same, rows, whole.clone(), whole.clone(), all];
        let shape =
            LaunchShape { extents: [m, n].into_iter().collect(), accesses: accesses.into() };
        let buffers = vec![(256, m * n * 4); 7];
        let (choice, tiled) = choose(&described, &shape, 0, [m, n], lie, &buffers, PROCESSORS)?;
        Some((described, choice, tiled))
    }

    #[test]
    fn matrices_come_in_stages_and_what_is_the_same_for_all_rows_does_not() {
        let lie = lie_of(false, true, true);
        let (_, choice, tiled) = chosen(4096, 4096, lie).unwrap();
        assert_eq!((tiled.staged, tiled.uniform), (0b10, 1 << 6));
        assert_eq!((choice.variant.width, choice.grid), (4, [132, 1]));
        let (_, choice, _) = chosen(1000, 1030, lie).unwrap();
        assert_eq!(choice.variant.width, 2);
        let kernel = parse(FOLLOWING).unwrap();
        assert!(!is_held(&kernel, 1, Some(4098), 4096, 256), "rows between what can be copied");
        assert!(!is_held(&kernel, 1, Some(4096), 4096, 8), "a first row that cannot");
    }

    #[test]
    fn the_texts_compile() {
        let compiler = Compiler::new("sm_90a".to_owned(), || None);
        if let Err(fault) = compiler.version() {
            println!("SKIPPED: {fault}");
            return;
        }
        let matrix = Matrix { lines: 4096, columns: 4096, leading: 4096, offset: 0 };
        let pack = |a, b, parts| Some(Pack { operands: [(matrix, a), (matrix, b)], parts });
        let halves = |a, b| pack(a, b, OperandSplit::ScaledF16);
        let rounded = [
            (false, false, None),
            (false, false, halves(false, false)),
            (false, true, None),
            (false, true, halves(true, false)),
            (false, true, halves(true, true)),
            (true, true, None),
            (true, true, halves(false, true)),
        ];
        let rounded = rounded
            .map(|(turned, across, packed)| GemmConfig { packed, ..lie_of(turned, across, false) });
        let whole =
            [(false, false, 192), (false, true, 192), (true, false, 128), (true, true, 128)];
        let whole = whole.map(|(a, b, columns)| {
            let packed = pack(a, b, OperandSplit::Bf16x3);
            GemmConfig { packed, columns, ..lie_of(false, false, false) }
        });
        for lie in rounded.into_iter().chain(whole) {
            for (m, n) in [(4096, 4096), (1000, 1030), (1001, 1027)] {
                let (described, choice, _) = chosen(m, n, lie).unwrap();
                let source = codegen::source(&described.kernel, choice.variant);
                assert!(
                    codegen::shared_bytes(&source) > 200_000
                        && codegen::waits_for_dependencies(&source)
                );
                compiler.compile(&source).unwrap_or_else(|fault| panic!("{fault}\n{source}"));
            }
            let stored = AnalyzedKernel::new(codegen::expanded(&stored()));
            let (shape, buffers) = (stored_shape([2048, 2048], 2048, 0), [(256, 1 << 24); 2]);
            let (choice, tiled) =
                choose(&stored, &shape, 0, [2048, 2048], lie, &buffers, PROCESSORS).unwrap();
            assert_eq!((tiled.staged, choice.variant.width), (0, 4));
            compiler.compile(&codegen::source(&stored.kernel, choice.variant)).unwrap();
        }
        compiler.compile(&codegen::scaled_f16_split::TEXT).unwrap();
        compiler.compile(&codegen::bf16x3_split::TEXT).unwrap();
    }
}
