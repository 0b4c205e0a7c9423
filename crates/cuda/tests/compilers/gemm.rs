//! GEMM kernels: fused epilogues in each configuration, operand splits, SIMT kernels, transposes.

use inflight_cuda::codegen::{self, GemmTiling, TF32_TILE_COLUMNS};
use inflight_cuda::compile::Compiler;
use inflight_cuda::internals::{
    BF16X3_SPLIT, GemmConfig, OperandMatrix, OperandPacking, OperandSplit, SCALED_F16_SPLIT,
    TRANSPOSE, choose, gemm_shared_bytes, simt_gemm_source, store_kernel, store_launch_shape,
};
use inflight_cuda::launch_config::{AnalyzedKernel, LaunchConfig};
use inflight_ir::DType;
use inflight_ir::kernel::{AccessShape, LaunchShape, parse, verify};
use inflight_testkit::tests;

tests![fused_gemm_sources_compile, simt_gemm_sources_compile, transpose_source_compiles];

// Tests of the configuration alone.
tests![CONFIG_TESTS: matrix_operands_are_staged_by_tma_and_uniform_ones_are_not];

const PROCESSORS: usize = 132;

fn config_of(swap_operands: bool, rows_mn_major: bool, transpose_b: bool) -> GemmConfig {
    GemmConfig {
        swap_operands,
        rows_mn_major,
        transpose_b,
        columns: TF32_TILE_COLUMNS,
        packing: None,
    }
}

/// `max(gemm, 0) + r · q`, and the root of it times `u / v`: `q` is the same for all rows, `u` for all columns,
/// and `v` everywhere.
const EPILOGUE: &str = "kernel grid 1 reduce 0 vector parallel\nparam p0: f32\nparam p1: f32\n\
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
    config: GemmConfig,
) -> Option<(AnalyzedKernel, LaunchConfig, GemmTiling)> {
    let kernel = parse(EPILOGUE).expect("the kernel parses");
    verify(&kernel).expect("the kernel is valid");
    let described = AnalyzedKernel::new(codegen::expanded(&kernel));
    let access = |row: usize, column: isize| AccessShape {
        offset: 0,
        strides: [row as isize, column].into_iter().collect(),
        index_stride: 0,
    };
    let matrix = access(n, 1);
    let per_column = access(0, 1);
    let (per_row, uniform) = (access(1, 0), access(0, 0));
    let accesses = [
        matrix.clone(),
        matrix.clone(),
        per_column,
        per_row,
        matrix.clone(),
        matrix.clone(),
        uniform,
    ];
    let shape = LaunchShape { extents: [m, n].into_iter().collect(), accesses: accesses.into() };
    let buffers = vec![(256, m * n * 4); 7];
    let (choice, tiled) = choose(&described, &shape, 0, [m, n], config, &buffers, PROCESSORS)?;
    Some((described, choice, tiled))
}

fn matrix_operands_are_staged_by_tma_and_uniform_ones_are_not() {
    let config = config_of(false, true, true);
    let (_, choice, tiled) = chosen(4096, 4096, config).unwrap();
    assert_eq!((tiled.staged, tiled.uniform), (0b10, 1 << 6));
    assert_eq!((choice.variant.width, choice.grid), (4, [132, 1]));
    let (_, choice, _) = chosen(1000, 1030, config).unwrap();
    assert_eq!(choice.variant.width, 2);
}

fn fused_gemm_sources_compile() {
    let compiler = Compiler::new("sm_90a".to_owned(), || None);
    let matrix = OperandMatrix { lines: 4096, columns: 4096, leading: 4096, offset: 0 };
    let pack = |a, b, split| Some(OperandPacking { operands: [(matrix, a), (matrix, b)], split });
    let scaled_f16 = |a, b| pack(a, b, OperandSplit::ScaledF16);
    let tf32 = [
        (false, false, None),
        (false, false, scaled_f16(false, false)),
        (false, true, None),
        (false, true, scaled_f16(true, false)),
        (false, true, scaled_f16(true, true)),
        (true, true, None),
        (true, true, scaled_f16(false, true)),
    ];
    let tf32 = tf32.map(|(swap_operands, mn_major, packing)| GemmConfig {
        packing,
        ..config_of(swap_operands, mn_major, false)
    });
    let bf16x3 = [(false, false, 192), (false, true, 192), (true, false, 128), (true, true, 128)];
    let bf16x3 = bf16x3.map(|(a, b, columns)| {
        let packing = pack(a, b, OperandSplit::Bf16x3);
        GemmConfig { packing, columns, ..config_of(false, false, false) }
    });
    for config in tf32.into_iter().chain(bf16x3) {
        for (m, n) in [(4096, 4096), (1000, 1030), (1001, 1027)] {
            let (described, choice, _) = chosen(m, n, config).unwrap();
            let source = codegen::source(&described.kernel, choice.variant);
            assert!(
                gemm_shared_bytes(&source) > 200_000 && codegen::waits_for_dependencies(&source)
            );
            compiler.compile(&source).unwrap_or_else(|fault| panic!("{fault}\n{source}"));
        }
        let stored = AnalyzedKernel::new(codegen::expanded(&store_kernel()));
        let (shape, buffers) = (store_launch_shape([2048, 2048], 2048, 0), [(256, 1 << 24); 2]);
        let (choice, tiled) =
            choose(&stored, &shape, 0, [2048, 2048], config, &buffers, PROCESSORS).unwrap();
        assert_eq!((tiled.staged, choice.variant.width), (0, 4));
        compiler.compile(&codegen::source(&stored.kernel, choice.variant)).unwrap();
    }
    compiler.compile(&SCALED_F16_SPLIT).unwrap();
    compiler.compile(&BF16X3_SPLIT).unwrap();
}

fn simt_gemm_sources_compile() {
    let compiler = Compiler::new("sm_90".to_owned(), || None);
    for source in DType::ALL.map(simt_gemm_source) {
        compiler.compile(&source).unwrap();
    }
}

fn transpose_source_compiles() {
    Compiler::new("sm_90".to_owned(), || None).compile(&TRANSPOSE).unwrap();
}
