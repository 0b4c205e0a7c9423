//! Fused epilogues: GEMMs computed on the tensor cores of Hopper by the kernel of their epilogue, where cuBLASLt does
//! not fuse the epilogue or is slower.
//!
//! The GEMM result is never stored to memory, and the epilogue needs no launch of its own. This module chooses the
//! GEMM configuration (TF32, scaled-f16 or bf16x3 operands, tile size, operand layouts) and packs the launch
//! arguments with their TMA descriptors. See [`Mapping::FusedGemm`](crate::codegen::Mapping::FusedGemm) for the kernel.

use super::epilogue;
use super::operand_split::{OperandMatrix, OperandSplit, PackedMatrix};
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

/// Epilogues with more instructions do not pay: the registers left beside the accumulators are few.
const MAX_INSTRUCTIONS: usize = 200;

/// With a smaller K, the prologue and epilogue of a tile outweigh its main loop.
const MIN_K: usize = 256;

/// From this K on, cuBLASLt is faster by 3 % at most, even with operands in its preferred layout (measured on an
/// H200), and occasionally much slower, depending on which algorithm autotuning picks.
const LARGE_K: usize = 1024;

/// Least wave utilization: the part of the tile slots of all waves that the result fills.
const MIN_WAVE_UTILIZATION: f64 = 0.7;

/// Multiplying an element by 650 to 950 `f16` values instead of TF32 saves the time of packing it (measured on an
/// H200). Packing may be in vain, so it must save more.
const PACKING_COST: usize = 1536;

/// Least saving of packing, in multiply-adds, that is worth its launches.
const MIN_PACKING_GAIN: usize = 1 << 33;

/// Tile columns of bf16x3 GEMMs, and their speedup over the `f32` GEMMs of cuBLASLt (122, 114 and 51 TFLOP/s on an
/// H200).
const BF16X3_TILES: [(usize, f64); 2] = [(192, 2.4), (128, 2.25)];

/// Cost of splitting an element into three `bf16`, in multiply-adds of cuBLASLt.
const SPLIT_COST: f64 = 70.0;

/// Cost of two more launches, in multiply-adds of cuBLASLt.
const LAUNCH_COST: f64 = 3e8;

/// A bf16x3 GEMM must take less than this part of cuBLASLt's time.
const MAX_RELATIVE_TIME: f64 = 0.9;

/// A matrix operand: its row and column strides and its offset, in elements.
#[derive(Clone, Copy)]
pub struct Strides {
    row: isize,
    column: isize,
    offset: isize,
}

/// A GEMM problem: M, N, K and the layouts of the operands.
#[derive(Clone, Copy)]
pub struct GemmProblem {
    m: usize,
    n: usize,
    k: usize,
    a: Strides,
    b: Strides,
}

impl GemmProblem {
    /// The problem of a command, if it is a single GEMM of `f32`.
    pub fn of(gemm: &GemmLaunch) -> Option<GemmProblem> {
        let (a, b) = (&gemm.a, &gemm.b);
        let a = Strides { row: a.row_stride, column: a.column_stride, offset: a.offset };
        let b = Strides { row: b.row_stride, column: b.column_stride, offset: b.offset };
        let problem = GemmProblem { m: gemm.m, n: gemm.n, k: gemm.k, a, b };
        is_single_f32_gemm(gemm.dtype, &gemm.batch).then_some(problem)
    }

    /// The problem of a step, if it is a single GEMM of `f32`.
    pub fn of_step(step: &GemmStep) -> Option<GemmProblem> {
        let (a, b) = (&step.a, &step.b);
        let a = Strides { row: a.row_stride, column: a.column_stride, offset: a.offset };
        let b = Strides { row: b.row_stride, column: b.column_stride, offset: b.offset };
        let problem = GemmProblem { m: step.m, n: step.n, k: step.k, a, b };
        is_single_f32_gemm(step.dtype, &step.batch).then_some(problem)
    }

    /// Whether A and B are K-major (contiguous along K), and whether they are MN-major (contiguous along M or N),
    /// with rows that TMA copies can address.
    fn majors(&self) -> [[bool; 2]; 2] {
        let GemmProblem { m, n, k, a, b } = *self;
        let is_loadable = |inner: isize, outer: isize, extent: usize, offset: isize| {
            inner == 1 && outer >= extent as isize && outer % 4 == 0 && offset % 4 == 0
        };
        let k_major =
            [is_loadable(a.column, a.row, k, a.offset), is_loadable(b.row, b.column, k, b.offset)];
        let mn_major =
            [is_loadable(a.row, a.column, m, a.offset), is_loadable(b.column, b.row, n, b.offset)];
        [k_major, mn_major]
    }

    /// The configuration of a bf16x3 GEMM, if it pays on a device of this many multiprocessors.
    pub fn bf16x3_config(&self, processors: usize) -> Option<GemmConfig> {
        let GemmProblem { m, n, k, .. } = *self;
        let operands = self.matrices()?;
        if k < MIN_K || m * n == 0 {
            return None;
        }
        let config = |columns: usize| GemmConfig {
            swap_operands: false,
            rows_mn_major: false,
            transpose_b: false,
            columns,
            packing: Some(OperandPacking { operands, split: OperandSplit::Bf16x3 }),
        };
        // In multiply-adds of cuBLASLt.
        let cost = |&(columns, speedup): &(usize, f64)| {
            let waves = config(columns).tiles(m, n).div_ceil(processors);
            (waves * processors * GEMM_TILE_ROWS * columns) as f64 * k as f64 / speedup
        };
        let best = BF16X3_TILES.iter().min_by(|a, b| cost(a).total_cmp(&cost(b)))?;
        let time = cost(best) + SPLIT_COST * (m + n) as f64 * k as f64 + LAUNCH_COST;
        (time < MAX_RELATIVE_TIME * (m * n) as f64 * k as f64).then(|| config(best.0))
    }

    /// The configuration of a TF32 or scaled-f16 GEMM, if it pays on a device of this many multiprocessors.
    pub fn tf32_config(&self, processors: usize) -> Option<GemmConfig> {
        let GemmProblem { m, n, k, .. } = *self;
        let [k_major, mn_major] = self.majors();
        let columns = TF32_TILE_COLUMNS;
        let config = |swap_operands, rows_mn_major, transpose_b| GemmConfig {
            swap_operands,
            rows_mn_major,
            transpose_b,
            columns,
            packing: None,
        };
        let config = match (k_major, mn_major) {
            ([true, true], _) => config(false, false, false),
            ([_, true], [true, _]) => config(false, true, false),
            ([true, _], [_, true]) => config(true, true, false),
            (_, [true, true]) if super::transpose::is_transposable(n, k) => {
                config(false, true, true)
            }
            _ => return None,
        };
        let tiles = config.tiles(m, n);
        let waves = tiles.div_ceil(processors);
        let slots = (waves * processors * GEMM_TILE_ROWS * columns) as f64;
        let fills_waves = m * n > 0 && (m * n) as f64 >= MIN_WAVE_UTILIZATION * slots;
        if k < MIN_K || !fills_waves {
            return None;
        }
        let operands = self.matrices().filter(|_| self.is_worth_packing());
        let packing =
            operands.map(|operands| OperandPacking { operands, split: OperandSplit::ScaledF16 });
        Some(GemmConfig { packing, ..config })
    }

    /// Whether multiplying `f16` saves more than packing the operands costs.
    fn is_worth_packing(&self) -> bool {
        let GemmProblem { m, n, k, .. } = *self;
        let gain = (m * n).saturating_sub(PACKING_COST * (m + n));
        k >= LARGE_K && gain.saturating_mul(k) >= MIN_PACKING_GAIN
    }

    /// The operands as matrices of contiguous lines, and whether each is MN-major.
    fn matrices(&self) -> Option<[(OperandMatrix, bool); 2]> {
        let GemmProblem { m, n, k, a, b } = *self;
        let [k_major, mn_major] = self.majors();
        // An operand with `extent` rows or columns, given its strides along M or N and along K.
        let side = |at: usize, extent: usize, strides: [isize; 2], offset: isize| {
            let (lines, columns, leading) = match (k_major[at], mn_major[at]) {
                (true, _) => (extent, k, strides[0] as usize),
                (_, true) => (k, extent, strides[1] as usize),
                _ => return None,
            };
            Some((OperandMatrix { lines, columns, leading, offset }, !k_major[at]))
        };
        let a = side(0, m, [a.row, a.column], a.offset)?;
        let b = side(1, n, [b.column, b.row], b.offset)?;
        [a, b].iter().all(|(matrix, _)| matrix.fits_group_index()).then_some([a, b])
    }
}

/// Whether it is a single GEMM of `f32`.
fn is_single_f32_gemm(dtype: DType, batch: &[usize]) -> bool {
    dtype == DType::F32 && batch.iter().all(|&extent| extent == 1)
}

/// GEMM configuration: how a fused kernel computes a GEMM.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GemmConfig {
    /// Whether A and B are swapped, so that a tile's rows are columns of the result.
    pub swap_operands: bool,
    /// Whether the operand of the tile rows is MN-major.
    pub rows_mn_major: bool,
    /// Whether B must be transposed before.
    pub transpose_b: bool,
    /// Columns of a tile.
    pub columns: usize,
    /// The operand split to apply before. With a scaled-f16 split, the TF32 operands remain for elements that `f16`
    /// cannot represent.
    pub packing: Option<OperandPacking>,
}

/// An operand split to apply before a GEMM.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OperandPacking {
    /// The operands, and whether each is MN-major.
    pub operands: [(OperandMatrix, bool); 2],
    /// The kind of split.
    pub split: OperandSplit,
}

impl GemmConfig {
    /// Whether a GEMM without an epilogue and with this K is about as fast as cuBLASLt, or faster: the operands are
    /// packed, or B needs no transpose and either one operand is MN-major or K is large.
    pub fn prefers_own_kernel(&self, k: usize) -> bool {
        self.packing.is_some() || !self.transpose_b && (self.rows_mn_major || k >= LARGE_K)
    }

    /// Orders a pair of operands: that of the tile rows first, then that of the tile columns.
    fn sides<T>(&self, [a, b]: [T; 2]) -> [T; 2] {
        if self.swap_operands { [b, a] } else { [a, b] }
    }

    /// The precision and the operand layouts of the main loop.
    fn precision(&self) -> GemmPrecision {
        let mn_major =
            |packing: OperandPacking| self.sides(packing.operands.map(|(_, mn_major)| mn_major));
        match self.packing {
            Some(packing) if packing.split == OperandSplit::Bf16x3 => {
                GemmPrecision::Bf16x3 { mn_major: mn_major(packing), columns: self.columns as u32 }
            }
            packing => GemmPrecision::Tf32 {
                mn_major: self.rows_mn_major,
                scaled_f16: packing.map(mn_major),
            },
        }
    }

    fn tiles(&self, m: usize, n: usize) -> usize {
        let [rows, columns] = self.sides([m, n]);
        rows.div_ceil(GEMM_TILE_ROWS) * columns.div_ceil(self.columns)
    }
}

/// A kernel that stores a GEMM result and does nothing else.
pub fn store_kernel() -> Kernel {
    let text = "kernel grid 1 reduce 0 vector parallel\nparam p0: f32\nparam p1: f32 writes\n\
        access a0: p0 reduce zero vector one\naccess a1: p1 reduce zero vector one\n\
        %0 = load p0[a0] : f32\nstore p1[a1] %0 : f32\n";
    parse(text).expect("a valid kernel")
}

/// Its launch shape, for an M × N result with this row stride and offset.
pub fn store_launch_shape([m, n]: [usize; 2], stride: isize, offset: isize) -> LaunchShape {
    let access = |stride: isize, offset: isize| AccessShape {
        offset,
        strides: [stride, 1].into_iter().collect(),
        index_stride: 0,
    };
    LaunchShape {
        extents: [m, n].into_iter().collect(),
        accesses: [access(n as isize, 0), access(stride, offset)].into_iter().collect(),
    }
}

/// The choice for an epilogue's kernel with a fused GEMM, or `None` if the GEMM cannot be fused. `buffers` are the
/// addresses and sizes of its params; that of the GEMM result is a multiple of 16.
pub fn choose(
    described: &AnalyzedKernel,
    shape: &LaunchShape,
    gemm_param: usize,
    [m, n]: [usize; 2],
    config: GemmConfig,
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
        || kernel.body.len() > MAX_INSTRUCTIONS
        || kernel.params.get(gemm_param).is_none_or(|param| param.writes)
        || described.in_place
    {
        return None;
    }
    let (mut staged, mut count, mut uniform) = (0, 0, 0);
    for instruction in &kernel.body {
        match instruction.kind {
            Kind::Store { index: None, mask: None, combine: None, .. } => {}
            Kind::Store { .. } => return None,
            Kind::Load { access, index, mask } => {
                let plain = index.is_none() && mask.is_none();
                let param = kernel.accesses[access as usize].param?;
                let stride = epilogue::row_stride(kernel, shape, access);
                if param as usize == gemm_param {
                    // An element of the result exists only while its own point is computed.
                    if !plain || stride != Some(n as isize) {
                        return None;
                    }
                } else if plain
                    && access < 64
                    && staged >> access & 1 == 0
                    && count < MAX_STAGED_OPERANDS
                    && is_tma_loadable(kernel, access, stride, n, buffers[param as usize].0)
                {
                    staged |= 1 << access;
                    count += 1;
                } else if plain && access < 64 && is_uniform(kernel, shape, access) {
                    uniform |= 1 << access;
                }
            }
            _ => {}
        }
    }
    let (transposed, precision) = (config.swap_operands, config.precision());
    let tiled =
        GemmTiling { gemm_param: gemm_param as u32, transposed, precision, staged, uniform };
    let variant = Variant {
        width: launch_config::width(kernel, shape, buffers),
        index64: described.needs_index64(shape, buffers),
        streamed: 0,
        mapping: Mapping::FusedGemm(tiled),
    };
    let choice = LaunchConfig {
        variant,
        grid: [config.tiles(m, n).min(processors) as u32, 1],
        threads: GEMM_THREADS,
        items: m * n,
        splits: 1,
        scratch: 0,
    };
    Some((choice, tiled))
}

/// Whether TMA copies can load the elements of an access as boxes of a matrix.
fn is_tma_loadable(
    kernel: &Kernel,
    access: AccessId,
    stride: Option<isize>,
    columns: usize,
    address: u64,
) -> bool {
    let class = kernel.accesses[access as usize];
    let Some(param) = class.param else { return false };
    let four_bytes = kernel.params[param as usize].dtype.size() == 4;
    let apart = |stride: isize| stride >= columns as isize && stride % 4 == 0;
    address.is_multiple_of(16)
        && four_bytes
        && class.vector == Stride::One
        && stride.is_some_and(apart)
}

/// Whether an access is the same read-only element at every point.
fn is_uniform(kernel: &Kernel, shape: &LaunchShape, access: AccessId) -> bool {
    let class = kernel.accesses[access as usize];
    let is_read = class.param.is_some_and(|param| !kernel.params[param as usize].writes);
    is_read
        && class.vector == Stride::Zero
        && shape.accesses[access as usize].strides.iter().all(|&stride| stride == 0)
}

/// The launch arguments before those of the epilogue's kernel: TMA descriptors, extents and packed operands.
///
/// `operands` are the addresses of A and B, with B transposed if the configuration says so; `packed` are the packed
/// operands, if there are any.
pub fn arguments(
    problem: &GemmProblem,
    config: GemmConfig,
    operands: [u64; 2],
    packed: Option<[PackedMatrix; 2]>,
    staged_accesses: &[(u64, usize)],
) -> Result<Vec<u64>, Fault> {
    let GemmProblem { m, n, k, .. } = *problem;
    let [rows, columns] = config.sides([m, n]);
    let packed = packed.map(|packed| config.sides(packed));
    let (mut words, last) = match config.precision() {
        GemmPrecision::Tf32 { scaled_f16: mn_major, .. } => {
            tf32_arguments(problem, config, operands, packed.zip(mn_major))?
        }
        GemmPrecision::Bf16x3 { mn_major, .. } => {
            let packed = packed.expect("bf16x3 operands are split before");
            bf16x3_arguments(problem, config, operands, packed, mn_major)?
        }
    };
    for &(address, stride) in staged_accesses {
        let box_extents = match config.swap_operands {
            false => [EPILOGUE_COLUMNS, GEMM_TILE_ROWS],
            true => [GEMM_TILE_ROWS, EPILOGUE_COLUMNS],
        };
        let map = TmaMatrix {
            address,
            extents: [n, m],
            stride: stride * 4,
            planes: None,
            box_extents,
            kind: sys::CUtensorMapDataType::CU_TENSOR_MAP_DATA_TYPE_UINT32,
            swizzle: sys::CUtensorMapSwizzle::CU_TENSOR_MAP_SWIZZLE_NONE,
        };
        words.extend(map.words()?);
    }
    if staged_accesses.is_empty() {
        words.extend([0; TENSOR_MAP_WORDS]);
    }
    words.extend([rows as u64, columns as u64, k as u64]);
    words.extend(last);
    Ok(words)
}

/// The first and the last of these arguments: the TMA descriptors of the operands, and what the kernel needs to know
/// about packed operands.
type ArgumentEnds = (Vec<u64>, Vec<u64>);

/// For TF32 operands and, if there are any, scaled-f16 operands with whether each is MN-major.
fn tf32_arguments(
    problem: &GemmProblem,
    config: GemmConfig,
    operands: [u64; 2],
    packed: Option<([PackedMatrix; 2], [bool; 2])>,
) -> Result<ArgumentEnds, Fault> {
    let (mut maps, mut last) = (Vec::new(), Vec::new());
    for map in tf32_matrices(problem, config, operands) {
        maps.extend(map.words()?);
    }
    let Some((packed, mn_major)) = packed else {
        maps.extend([0; 32]);
        return Ok((maps, vec![0; 6]));
    };
    let sides = config.sides([problem.m, problem.n]);
    for ((packed, mn_major), side) in packed.into_iter().zip(mn_major).zip(sides) {
        let PackedMatrix { data, leading, header, .. } = packed;
        let map = TmaMatrix::of_side(data, [side, problem.k], leading, mn_major, F16);
        maps.extend(map.words()?);
        last.extend([header, data, leading as u64]);
    }
    Ok((maps, last))
}

/// For bf16x3 operands, with whether each is MN-major.
fn bf16x3_arguments(
    problem: &GemmProblem,
    config: GemmConfig,
    operands: [u64; 2],
    packed: [PackedMatrix; 2],
    mn_major: [bool; 2],
) -> Result<ArgumentEnds, Fault> {
    let GemmProblem { m, n, k, a, b } = *problem;
    let (mut maps, mut last) = (Vec::new(), Vec::new());
    let of_a = (operands[0], m, [a.row, a.column, a.offset]);
    let of_b = (operands[1], n, [b.column, b.row, b.offset]);
    let sides = config.sides([of_a, of_b]);
    for ((packed, mn_major), (address, side, strides)) in
        packed.into_iter().zip(mn_major).zip(sides)
    {
        let columns = if mn_major { side } else { k };
        maps.extend(TmaMatrix::of_bf16x3(packed, columns, mn_major).words()?);
        let [along_side, along_sum, offset] = strides;
        let at = address.wrapping_add_signed(offset as i64 * 4);
        let strides = [along_side as u64, along_sum as u64];
        last.extend([packed.header, packed.blocks.into(), at, strides[0], strides[1]]);
    }
    Ok((maps, last))
}

/// The TMA matrices of the operands of tile rows and tile columns. The copies round to TF32.
fn tf32_matrices(problem: &GemmProblem, config: GemmConfig, addresses: [u64; 2]) -> [TmaMatrix; 2] {
    let GemmProblem { m, n, k, a, b } = *problem;
    let at = |address: u64, offset: isize| address.wrapping_add_signed(offset as i64 * 4);
    let a_at = at(addresses[0], a.offset);
    // The address of an operand, its M or N, and its leading dimension.
    let a_side = |mn_major: bool| (a_at, m, if mn_major { a.column } else { a.row });
    let (b_at, b_leading) = match config.transpose_b {
        true => (addresses[1], k as isize),
        false => (at(addresses[1], b.offset), b.column),
    };
    let (row_side, column_side) = match config.swap_operands {
        false => (a_side(config.rows_mn_major), (b_at, n, b_leading)),
        true => ((b_at, n, b.row), a_side(false)),
    };
    let map = |(address, extent, stride): (u64, usize, isize), mn_major: bool| {
        TmaMatrix::of_side(address, [extent, k], stride as usize, mn_major, TF32)
    };
    [map(row_side, config.rows_mn_major), map(column_side, false)]
}

/// The element type of an operand, as TMA copies name it, and its bytes.
type TmaElement = (sys::CUtensorMapDataType, usize);

/// `f32` elements that the copy rounds to TF32.
const TF32: TmaElement = (sys::CUtensorMapDataType::CU_TENSOR_MAP_DATA_TYPE_TFLOAT32, 4);

/// The elements of a scaled-f16 split.
const F16: TmaElement = (sys::CUtensorMapDataType::CU_TENSOR_MAP_DATA_TYPE_FLOAT16, 2);

/// The address and the row stride of each access that TMA copies stage in shared memory.
pub fn staged_accesses(
    kernel: &Kernel,
    shape: &LaunchShape,
    tiled: GemmTiling,
    buffers: &[(u64, usize)],
) -> SmallVec<[(u64, usize); MAX_STAGED_OPERANDS]> {
    let of = |access: AccessId| {
        let param = kernel.accesses[access as usize].param?;
        let stride = epilogue::row_stride(kernel, shape, access)?;
        Some((buffers[param as usize].0, usize::try_from(stride).ok()?))
    };
    tiled.staged_accesses().filter_map(of).collect()
}

/// A matrix that TMA copies load boxes of.
struct TmaMatrix {
    address: u64,
    /// The contiguous extent, then the other one.
    extents: [usize; 2],
    /// The row stride, in bytes.
    stride: usize,
    /// The number of such matrices, one after another, if a copy loads from one of several.
    planes: Option<usize>,
    /// The box of one copy.
    box_extents: [usize; 2],
    kind: sys::CUtensorMapDataType,
    swizzle: sys::CUtensorMapSwizzle,
}

impl TmaMatrix {
    /// The operand of tile rows or tile columns, `extent` of them with `k` elements each. A stage has one line of
    /// each or, if the operand is MN-major, as many as fill a line.
    fn of_side(
        address: u64,
        [extent, k]: [usize; 2],
        leading: usize,
        mn_major: bool,
        (kind, bytes): TmaElement,
    ) -> TmaMatrix {
        let line = GEMM_STAGE_K_BYTES / bytes;
        TmaMatrix {
            address,
            extents: if mn_major { [extent, k] } else { [k, extent] },
            stride: leading * bytes,
            planes: None,
            box_extents: if mn_major { [line, line] } else { [line, 128] },
            kind,
            swizzle: sys::CUtensorMapSwizzle::CU_TENSOR_MAP_SWIZZLE_128B,
        }
    }

    /// A bf16x3 operand whose lines have `columns` elements.
    fn of_bf16x3(packed: PackedMatrix, columns: usize, mn_major: bool) -> TmaMatrix {
        let (box_extents, swizzle) = match mn_major {
            true => ([64, BF16X3_STAGE_K], sys::CUtensorMapSwizzle::CU_TENSOR_MAP_SWIZZLE_128B),
            false => ([BF16X3_STAGE_K, 64], sys::CUtensorMapSwizzle::CU_TENSOR_MAP_SWIZZLE_64B),
        };
        TmaMatrix {
            address: packed.data,
            extents: [columns, packed.lines],
            stride: packed.leading * 2,
            planes: Some(3),
            box_extents,
            kind: sys::CUtensorMapDataType::CU_TENSOR_MAP_DATA_TYPE_BFLOAT16,
            swizzle,
        }
    }

    /// The encoded TMA descriptor.
    fn words(&self) -> Result<[u64; TENSOR_MAP_WORDS], Fault> {
        let [width, height] = self.extents.map(|extent| extent as u64);
        let extents = [width, height, self.planes.unwrap_or(1) as u64];
        let strides = [self.stride as u64, self.stride as u64 * height];
        let box_extents = [self.box_extents[0] as u32, self.box_extents[1] as u32, 1];
        let rank = if self.planes.is_some() { 3 } else { 2 };
        let tensor = TmaTensor {
            address: self.address,
            kind: self.kind,
            swizzle: self.swizzle,
            extents: &extents[..rank],
            distances: &strides[..rank - 1],
        };
        tensor.tiled(&box_extents[..rank])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PROCESSORS: usize = 132;

    fn problem(m: usize, n: usize, k: usize, [a_k_major, b_k_major]: [bool; 2]) -> GemmProblem {
        let strides = |row_major: bool, rows: usize, columns: usize| match row_major {
            true => Strides { row: columns as isize, column: 1, offset: 0 },
            false => Strides { row: 1, column: rows as isize, offset: 0 },
        };
        GemmProblem { m, n, k, a: strides(a_k_major, m, k), b: strides(!b_k_major, k, n) }
    }

    #[test]
    fn tf32_config_covers_all_operand_layouts_of_large_gemms() {
        let config = |k_major: [bool; 2]| {
            problem(4096, 4096, 1024, k_major).tf32_config(PROCESSORS).unwrap()
        };
        let expected = config_of;
        assert_eq!(config([true, true]), expected(false, false, false));
        assert_eq!(config([false, true]), expected(false, true, false));
        assert_eq!(config([true, false]), expected(true, true, false));
        assert_eq!(config([false, false]), expected(false, true, true));
        let none =
            |m, n, k, k_major| assert!(problem(m, n, k, k_major).tf32_config(PROCESSORS).is_none());
        none(0, 4096, 1024, [true, true]);
        none(512, 512, 1024, [true, true]);
        none(4096, 4096, 64, [true, true]);
        // A wave with few blocks.
        none(2048, 2560, 1024, [true, true]);
        // Rows that TMA copies cannot address, and a B that cannot be transposed.
        none(4096, 4096, 1022, [true, true]);
        none(4096, 4098, 1024, [false, false]);
    }

    #[test]
    fn operands_of_larger_gemms_are_packed_to_scaled_f16() {
        let packed = |m, n, k, k_major| {
            let packing = problem(m, n, k, k_major).tf32_config(PROCESSORS).unwrap().packing;
            packing
                .map(|packing| packing.operands.map(|(matrix, mn_major)| (matrix.lines, mn_major)))
        };
        let found = packed(4096, 8192, 4096, [true, false]);
        assert_eq!(found, Some([(4096, false), (4096, true)]));
        let found = packed(4096, 8192, 2048, [false, true]);
        assert_eq!(found, Some([(2048, true), (8192, false)]));
        // The problems of the GPU tests.
        for (m, n, k) in [(4096, 4096, 2048), (4100, 4204, 2052), (4132, 4412, 2060)] {
            assert!(packed(m, n, k, [true, true]).is_some());
        }
        assert_eq!(packed(4096, 4096, 1024, [true, true]), None);
        assert_eq!(packed(1024, 8192, 8192, [true, true]), None, "too few rows");
        assert_eq!(packed(16384, 8192, 512, [true, true]), None, "small K");
    }

    #[test]
    fn large_f32_gemms_use_bf16x3() {
        let columns = |m, n, k, k_major| {
            let config = problem(m, n, k, k_major).bf16x3_config(PROCESSORS);
            config
                .inspect(|config| assert_eq!(config.packing.unwrap().split, OperandSplit::Bf16x3))
                .map(|config| config.columns)
        };
        assert_eq!(columns(8192, 8192, 8192, [true, true]), Some(192));
        assert_eq!(columns(8192, 8192, 8192, [true, false]), Some(192));
        // Two waves, nearly all of whose blocks have a tile.
        assert_eq!(columns(1024, 4096, 4096, [true, true]), Some(128));
        assert_eq!(columns(2048, 2048, 2048, [false, false]), Some(128));
        // One wave, most of whose blocks have a tile.
        assert_eq!(columns(1536, 1536, 1536, [true, true]), Some(192));
        assert_eq!(columns(1024, 1024, 1024, [true, true]), None);
        assert_eq!(columns(16, 65536, 4096, [true, true]), None);
        assert_eq!(columns(8192, 8192, 128, [true, true]), None);
        assert_eq!(columns(0, 8192, 8192, [true, true]), None);
        // The problems of the GPU tests.
        let sizes = [(1536, 1536, 1536), (2048, 2048, 1024), (2056, 2180, 1548), (2052, 2060, 772)];
        let with_more = [(2048, 2048, 256), (2008, 2036, 276), (4092, 1984, 512)];
        for (m, n, k) in sizes.into_iter().chain(with_more) {
            assert!(columns(m, n, k, [true, true]).is_some(), "{m} × {n} × {k}");
        }
    }

    fn config_of(swap_operands: bool, rows_mn_major: bool, transpose_b: bool) -> GemmConfig {
        GemmConfig {
            swap_operands,
            rows_mn_major,
            transpose_b,
            columns: TF32_TILE_COLUMNS,
            packing: None,
        }
    }

    #[test]
    fn tma_copies_need_aligned_rows() {
        let kernel = store_kernel();
        assert!(is_tma_loadable(&kernel, 0, Some(4096), 4096, 256));
        assert!(
            !is_tma_loadable(&kernel, 0, Some(4098), 4096, 256),
            "rows that are not 16-byte aligned"
        );
        assert!(!is_tma_loadable(&kernel, 0, Some(4096), 4096, 8), "an unaligned first row");
    }
}
