//! The choice of variants and grids for launches, and what the generated source contains. No GPU is needed.

use inflight_cuda::codegen::{self, Mapping};
use inflight_cuda::launch_config::{AnalyzedKernel, LaunchConfig};
use inflight_ir::kernel::{AccessShape, LaunchShape, parse, verify};

const PROCESSORS: usize = 132;

fn described(text: &str) -> AnalyzedKernel {
    let kernel = parse(text).expect("the kernel parses");
    verify(&kernel).expect("the kernel is valid");
    AnalyzedKernel::new(codegen::expanded(&kernel))
}

fn shape(extents: &[usize], strides: &[&[isize]]) -> LaunchShape {
    let access =
        |strides: &&[isize]| AccessShape { offset: 0, strides: (*strides).into(), index_stride: 0 };
    LaunchShape { extents: extents.into(), accesses: strides.iter().map(access).collect() }
}

fn choose(described: &AnalyzedKernel, shape: &LaunchShape, address: u64) -> LaunchConfig {
    let buffers = vec![(address, 1 << 20); described.kernel.params.len()];
    described
        .configure(shape, &buffers, PROCESSORS)
        .expect("a supported launch")
        .expect("a nonempty launch")
}

const ADD: &str = "kernel grid 0 reduce 0 vector parallel\nparam p0: f32\nparam p1: f32\n\
    param p2: f32 writes\naccess a0: p0 reduce zero vector one\naccess a1: p1 reduce zero vector one\n\
    access a2: p2 reduce zero vector one\n%0 = load p0[a0] : f32\n%1 = load p1[a1] : f32\n\
    %2 = add %0, %1 : f32\nstore p2[a2] %2 : f32\n";

#[test]
fn aligned_accesses_are_vectorized_to_16_bytes() {
    let add = described(ADD);
    let flat = |n: usize| shape(&[n], &[&[1], &[1], &[1]]);
    assert_eq!(choose(&add, &flat(1024), 256).variant.width, 4);
    assert_eq!(choose(&add, &flat(1026), 256).variant.width, 2);
    assert_eq!(choose(&add, &flat(1025), 256).variant.width, 1);
    assert_eq!(choose(&add, &flat(1024), 264).variant.width, 2);
    let mut shifted = flat(1024);
    shifted.accesses[1].offset = 1;
    assert_eq!(choose(&add, &shifted, 256).variant.width, 1);
    let source = codegen::source(&add.kernel, choose(&add, &flat(1 << 24), 256).variant);
    assert_eq!(source.matches("load_pack<4>(").count(), 2, "{source}");
    assert_eq!(source.matches("store_pack<4>(").count(), 1, "{source}");
}

#[test]
fn sizes_of_the_same_class_share_a_source() {
    let add = described(ADD);
    let variant = |n: usize| choose(&add, &shape(&[n], &[&[1], &[1], &[1]]), 256).variant;
    assert_eq!(variant(4096), variant(8192));
    assert_eq!(variant(1 << 24), variant(3 << 24));
    assert_ne!(variant(1 << 31).index64, variant(4096).index64);
    let buffers = [(256, 0); 3];
    let nothing = add.configure(&shape(&[0], &[&[1], &[1], &[1]]), &buffers, PROCESSORS);
    assert_eq!(nothing, Ok(None));
}

const SOFTMAX: &str = "kernel grid 1 reduce 0 vector reduced\nparam p0: f32\nparam p1: f32 writes\n\
    access a0: p0 reduce zero vector one\naccess a1: p1 reduce zero vector one\n\
    %0 = load p0[a0] : f32\n%1 = max %0 : f32\n%2 = sub %0, %1 : f32\n%3 = exp %2 : f32\n\
    %4 = sum %3 : f32\n%5 = div %3, %4 : f32\nstore p1[a1] %5 : f32\n";

#[test]
fn rows_stay_in_registers_while_they_fit() {
    let softmax = described(SOFTMAX);
    let rows = |n: usize| shape(&[1 << 14, n], &[&[n as isize, 1], &[n as isize, 1]]);
    let mapping = |n: usize| choose(&softmax, &rows(n), 256).variant.mapping;
    assert_eq!(mapping(64), Mapping::RowReduction { threads: 32, rows: 4, cached: 1 });
    assert_eq!(mapping(1024), Mapping::RowReduction { threads: 32, rows: 4, cached: 8 });
    assert_eq!(mapping(4096), Mapping::RowReduction { threads: 512, rows: 1, cached: 2 });
    // Sizes of the same class share a kernel.
    assert_eq!(mapping(4000), mapping(4096));
    assert_eq!(mapping(1 << 15), Mapping::RowReduction { threads: 1024, rows: 1, cached: 8 });
    assert!(matches!(mapping(1 << 16), Mapping::RowReduction { cached: 0, .. }));
    let bf16_softmax = described(&SOFTMAX.replace(": f32", ": bf16"));
    let bf16 = choose(&bf16_softmax, &rows(4096), 256).variant;
    let bf16_mapping = Mapping::RowReduction { threads: 128, rows: 1, cached: 4 };
    assert_eq!((bf16.width, bf16.mapping), (8, bf16_mapping));
    let source = codegen::source(&softmax.kernel, choose(&softmax, &rows(4096), 256).variant);
    // Each element is loaded once and stored once, and its exponential is computed once.
    assert_eq!(source.matches("a.buffer[0]").count(), 1, "{source}");
    assert_eq!(source.matches("a.buffer[1]").count(), 1, "{source}");
}

const ROW_SUM: &str = "kernel grid 1 reduce 0 vector reduced\nparam p0: f32\nparam p1: f32 writes\n\
    access a0: p0 reduce zero vector one\naccess a1: p1 reduce zero vector zero\n\
    %0 = load p0[a0] : f32\n%1 = sum %0 : f32\nstore p1[a1] %1 : f32\n";

#[test]
fn single_pass_rows_load_several_steps_at_a_time() {
    let sum = described(ROW_SUM);
    let rows = |rows: usize, n: usize| shape(&[rows, n], &[&[n as isize, 1], &[1, 0]]);
    let mapping = |shape: &LaunchShape| choose(&sum, shape, 256).variant.mapping;
    assert_eq!(
        mapping(&rows(1 << 14, 4096)),
        Mapping::RowReduction { threads: 256, rows: 1, cached: 0 }
    );
    assert_eq!(
        mapping(&rows(1 << 12, 1 << 14)),
        Mapping::RowReduction { threads: 512, rows: 1, cached: 0 }
    );
    // Few rows use the largest blocks: there is room for all of them.
    assert_eq!(
        mapping(&rows(256, 1 << 18)),
        Mapping::RowReduction { threads: 1024, rows: 1, cached: 0 }
    );
    let source = codegen::source(&sum.kernel, choose(&sum, &rows(1 << 14, 4096), 256).variant);
    let (loads, rest) = source.split_once("r1 = (r1 + e0[u][j]);").expect("a batch of steps");
    assert_eq!(loads.matches("load_pack<4>(e0[u]").count(), 1, "{source}");
    assert_eq!(rest.matches("load_pack<4>(l0").count(), 1, "{source}");
}

#[test]
fn operands_loaded_by_a_later_pass_are_not_reused_in_place() {
    // The square, stored and then divided by its sum.
    let shared = "kernel grid 1 reduce 0 vector reduced\nparam p0: f32\nparam p1: f32 writes\n\
        param p2: f32 writes\naccess a0: p0 reduce zero vector one\n\
        access a1: p1 reduce zero vector one\naccess a2: p2 reduce zero vector one\n\
        %0 = load p0[a0] : f32\n%1 = mul %0, %0 : f32\nstore p1[a1] %1 : f32\n\
        %3 = sum %1 : f32\n%4 = div %1, %3 : f32\nstore p2[a2] %4 : f32\n";
    let kernel = &described(shared).kernel;
    assert!(codegen::loads_after_store(kernel, 0, 1));
    assert!(!codegen::loads_after_store(kernel, 0, 2), "nothing follows the last pass");
    assert!(!codegen::loads_after_store(&described(ROW_SUM).kernel, 0, 1));
}

const COLUMN_SUM: &str = "kernel grid 0 reduce 1 vector parallel\nparam p0: f32\nparam p1: f32 writes\n\
    access a0: p0 reduce any vector one\naccess a1: p1 reduce zero vector one\n\
    %0 = load p0[a0] : f32\n%1 = sum %0 : f32\nstore p1[a1] %1 : f32\n";

#[test]
fn few_long_columns_are_reduced_by_several_blocks() {
    let sum = described(COLUMN_SUM);
    let columns = |rows: usize, n: usize| shape(&[rows, n], &[&[n as isize, 1], &[0, 1]]);
    let choice = choose(&sum, &columns(16384, 4096), 256);
    assert!(matches!(choice.variant.mapping, Mapping::ColumnReduction { split: true, .. }));
    assert!(choice.grid[0] * choice.grid[1] >= PROCESSORS as u32 * 9 / 5, "{choice:?}");
    assert_eq!(choice.scratch, 16 * choice.splits * 4096);
    // The threads of a block combine their partial sums with one barrier before and one after, not one for each
    // halving.
    let source = codegen::source(&sum.kernel, choice.variant);
    assert_eq!(source.matches("for (int k = 1; k < 32; k++)").count(), 1, "{source}");
    let choice = choose(&sum, &columns(64, 1 << 20), 256);
    assert!(matches!(choice.variant.mapping, Mapping::ColumnReduction { split: false, .. }));
    assert_eq!(choice.scratch, 0);
}

/// The maximum of two operands, which is stored and summed.
const STORED_SUM: &str = "kernel grid 0 reduce 1 vector parallel\nparam p0: f32\nparam p1: f32\n\
    param p2: f32 writes\nparam p3: f32 writes\n\
    access a0: p0 reduce any vector one\naccess a1: p1 reduce any vector one\n\
    access a2: p2 reduce any vector one\naccess a3: p3 reduce zero vector one\n\
    %0 = load p0[a0] : f32\n%1 = load p1[a1] : f32\n%2 = maximum %0, %1 : f32\n\
    store p2[a2] %2 : f32\n%4 = sum %2 : f32\nstore p3[a3] %4 : f32\n";

#[test]
fn columns_load_several_rows_at_a_time_unless_in_place() {
    let choose = |described: &AnalyzedKernel| {
        let columns: &[isize] = &[4096, 1];
        let shape = shape(&[1024, 4096], &[columns, columns, columns, &[0, 1]]);
        codegen::source(&described.kernel, choose(described, &shape, 256).variant)
    };
    let source = choose(&described(STORED_SUM));
    assert_eq!(source.matches("load_pack<4>(e1[u]").count(), 1, "{source}");
    // Half as many at a time as with one operand: two blocks share the registers of a multiprocessor.
    assert!(source.contains("alignas(16) float e1[2][4];"), "{source}");
    let in_place = STORED_SUM.replace("a1: p1", "a1: p2").replace("load p1[a1]", "load p2[a1]");
    let source = choose(&described(&in_place));
    assert!(!source.contains("e1[u]"), "{source}");
}

const TRANSPOSE: &str = "kernel grid 1 reduce 0 vector parallel\nparam p0: f32\nparam p1: f32 writes\n\
    access a0: p0 reduce zero vector any\naccess a1: p1 reduce zero vector one\n\
    %0 = load p0[a0] : f32\nstore p1[a1] %0 : f32\n";

#[test]
fn transposed_operands_go_through_shared_memory_tiles() {
    let transpose = described(TRANSPOSE);
    let large = shape(&[4096, 4096], &[&[1, 4096], &[4096, 1]]);
    let choice = choose(&transpose, &large, 256);
    let tiles =
        |side, full| Mapping::TransposedTiles { axis: 0, transposed: 1, side, paired: false, full };
    assert_eq!(choice.variant.mapping, tiles(64, true));
    assert_eq!(choice.items, 64 * 64);
    let small = shape(&[4096, 40], &[&[1, 4096], &[40, 1]]);
    assert_eq!(choose(&transpose, &small, 256).variant.mapping, tiles(32, false));
    let narrow = shape(&[4, 4096], &[&[1, 4], &[4096, 1]]);
    assert!(matches!(
        choose(&transpose, &narrow, 256).variant.mapping,
        Mapping::Elementwise { .. }
    ));
}

/// A transpose with zeros before the first row.
const PADDED: &str = "kernel grid 1 reduce 0 vector parallel\nparam p0: bf16\nparam p1: bf16 writes\n\
    access a0: p0 reduce zero vector any\naccess a1: p1 reduce zero vector one\n\
    access a2: position reduce zero vector zero\n%0 = position a2 : i32\n\
    %1 = constant 1 : i32\n%2 = ge %0, %1 : bool\n%3 = load p0[a0] if %2 : bf16\n\
    store p1[a1] %3 : bf16\n";

#[test]
fn threads_follow_the_axis_with_more_contiguous_loads() {
    let padded = described(PADDED);
    let of = |rows: usize, row: isize| shape(&[rows, 64], &[&[row, 57], &[64, 1], &[1, 0]]);
    let mapping = |size: LaunchShape| choose(&padded, &size, 256).variant.mapping;
    assert_eq!(mapping(of(58, 1)), Mapping::Elementwise { unroll: 1, minor_axis: Some(0) });
    // Few rows, or elements that are contiguous along no axis.
    for other in [of(4, 1), of(58, 2)] {
        assert_eq!(mapping(other), Mapping::Elementwise { unroll: 1, minor_axis: None });
    }
    let choice = choose(&padded, &of(58, 1), 256);
    let source = codegen::source(&padded.kernel, choice.variant);
    assert!(source.contains("const I c0 = item % (I)a.extent[0]"), "{source}");
    assert!(source.contains("const I c1 = others % lanes * 8;"), "{source}");
    // Few groups of lanes: threads are contiguous along both axes already.
    let few = shape(&[58, 16], &[&[1, 57], &[16, 1], &[1, 0]]);
    assert_eq!(mapping(few), Mapping::Elementwise { unroll: 1, minor_axis: None });
}

const SYMMETRIC: &str = "kernel grid 1 reduce 0 vector parallel\nparam p0: f32\nparam p1: f32 writes\n\
    access a0: p0 reduce zero vector any\naccess a1: p0 reduce zero vector one\n\
    access a2: p1 reduce zero vector one\n%0 = load p0[a0] : f32\n%1 = load p0[a1] : f32\n\
    %2 = add %0, %1 : f32\nstore p1[a2] %2 : f32\n";

#[test]
fn tiles_mirrored_at_the_diagonal_are_paired() {
    let symmetric = described(SYMMETRIC);
    let square = |n: usize| {
        let row = n as isize;
        shape(&[n, n], &[&[1, row], &[row, 1], &[row, 1]])
    };
    let choice = choose(&symmetric, &square(4096), 256);
    assert!(matches!(choice.variant.mapping, Mapping::TransposedTiles { paired: true, .. }));
    // Every pair twice, the diagonal too.
    assert_eq!(choice.items, 64 * 65);
    let oblong = shape(&[4096, 1024], &[&[1, 4096], &[1024, 1], &[1024, 1]]);
    let choice = choose(&symmetric, &oblong, 256);
    assert!(matches!(choice.variant.mapping, Mapping::TransposedTiles { paired: false, .. }));
}

#[test]
fn read_only_operands_larger_than_the_cache_are_streamed() {
    let sum = described(COLUMN_SUM);
    let shape = shape(&[16384, 4096], &[&[4096, 1], &[0, 1]]);
    let streamed = |described: &AnalyzedKernel, shape: &LaunchShape, buffers: &[(u64, usize)]| {
        described.configure(shape, buffers, PROCESSORS).unwrap().unwrap().variant
    };
    let variant = streamed(&sum, &shape, &[(256, 1 << 28), (256, 1 << 14)]);
    assert_eq!(variant.streamed, 1);
    let source = codegen::source(&sum.kernel, variant);
    assert!(source.contains("streaming_load_pack<4>("), "{source}");
    assert_eq!(streamed(&sum, &shape, &[(256, 1 << 20), (256, 1 << 14)]).streamed, 0);
    let add = described(ADD);
    let shape = self::shape(&[1 << 26], &[&[1], &[1], &[1]]);
    assert_eq!(streamed(&add, &shape, &[(256, 1 << 28); 3]).streamed, 0);
    // Rows that stay in registers leave the cache once the result is stored.
    let softmax = described(SOFTMAX);
    let shape = self::shape(&[16384, 4096], &[&[4096, 1], &[4096, 1]]);
    let source = codegen::source(&softmax.kernel, streamed(&softmax, &shape, &[(256, 1 << 28); 2]));
    assert!(source.contains("evict_last_load_pack<4>(t0"), "{source}");
    assert!(source.contains(" store_pack<4>(((float*)a.buffer[1]"), "{source}");
}

#[test]
fn every_kernel_begins_with_a_grid_dependency_wait() {
    let rows = |n: usize| shape(&[1 << 14, n], &[&[n as isize, 1], &[n as isize, 1]]);
    let flat = shape(&[4096], &[&[1], &[1], &[1]]);
    for (text, shape) in [(ADD, flat), (SOFTMAX, rows(64)), (SOFTMAX, rows(1 << 16))] {
        let described = described(text);
        let source = codegen::source(&described.kernel, choose(&described, &shape, 256).variant);
        let (_, entry) = source.split_once("__global__").expect("an entry");
        let (_, body) = entry.split_once('{').expect("its body");
        assert!(body.trim_start().starts_with("begin_kernel();"), "{source}");
        let wait = source.find("griddepcontrol.wait").expect("a wait for earlier grids");
        assert!(wait < source.find("__global__").expect("an entry"), "{source}");
    }
}

#[test]
fn integer_negations_are_hidden_from_the_assembler() {
    let text_of = |dtype: &str| {
        let text = "kernel grid 1 reduce 0 vector reduced\nparam p0: T\nparam p1: T writes\n\
            access a0: p0 reduce zero vector one\naccess a1: p1 reduce zero vector zero\n\
            %0 = load p0[a0] : T\n%1 = abs %0 : T\n%2 = max %1 : T\nstore p1[a1] %2 : T\n";
        let kernel = described(&text.replace(": T", &format!(": {dtype}")));
        let rows = shape(&[2, 2], &[&[2, 1], &[1, 0]]);
        codegen::source(&kernel.kernel, choose(&kernel, &rows, 256).variant)
    };
    for dtype in ["i32", "i8"] {
        assert!(text_of(dtype).contains("negative((unsigned)("), "{}", text_of(dtype));
    }
    assert!(!text_of("i64").contains("negative("), "{}", text_of("i64"));
}

#[test]
fn values_constant_along_an_empty_axis_are_stored() {
    let text = "kernel grid 1 reduce 0 vector reduced\nparam p0: u32\nparam p1: u32 writes\n\
        access a0: p0 reduce zero vector zero\naccess a1: p1 reduce zero vector zero\n\
        %0 = constant 0 : u32\n%1 = sum %0 : u32\n%2 = load p0[a0] : u32\nstore p1[a1] %2 : u32\n";
    let columns = text
        .replace("reduce 0 vector reduced", "reduce 1 vector parallel")
        .replace("vector zero", "vector one");
    let sizes = [
        (text.to_owned(), shape(&[3, 0], &[&[1, 0], &[1, 0]])),
        (columns, shape(&[3, 0, 5], &[&[5, 0, 1], &[5, 0, 1]])),
    ];
    for (text, size) in sizes {
        let kernel = described(&text);
        let choice = choose(&kernel, &size, 256);
        assert_eq!(choice.items, 3);
        let source = codegen::source(&kernel.kernel, choice.variant);
        assert_eq!(source.matches("a.buffer[1]").count(), 1, "{source}");
        let mut none = size.clone();
        none.extents[0] = 0;
        assert_eq!(kernel.configure(&none, &[(256, 0); 2], PROCESSORS), Ok(None));
    }
}
