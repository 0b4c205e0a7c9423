//! NVRTC compiles every kernel of many random graphs, in each variant.
//!
//! `INFLIGHT_CUDA_CASES` sets the number of graphs.

use inflight_cuda::compile::Compiler;
use inflight_cuda::launch_config::AnalyzedKernel;
use inflight_cuda::{codegen, routine};
use inflight_ir::graph::{
    ConvOutputLayout, FloatOrder, ImplicitGemm, SortKey, SortOrder, SortResult, WindowAxis,
};
use inflight_ir::kernel::LaunchShape;
use inflight_ir::plan::{ImplicitGemmOperands, Lines, Routine, Step, plan};
use inflight_ir::{DType, Shape};
use inflight_testkit::{random_case, tests};
use std::collections::{HashMap, HashSet};

tests![random_kernels_compile, routines_compile];

// Tests of the text alone.
tests![TEXT_TESTS: index_variables_do_not_shadow_kernel_values];

/// The distinct kernel sources of random graphs, in each variant, with a description.
fn sources(cases: u64) -> Vec<(String, String)> {
    let (mut seen, mut sources) = (HashSet::new(), Vec::new());
    for seed in 0..cases {
        let case = random_case(seed);
        for step in plan(&case.graph).steps.iter().filter_map(Step::launch) {
            let described = AnalyzedKernel::new(codegen::expanded(&step.kernel));
            // As planned with aligned buffers, with unaligned buffers, and with many rows.
            let mut shapes: Vec<(LaunchShape, u64)> =
                vec![((*step.shape).clone(), 256), ((*step.shape).clone(), 1)];
            let mut large = (*step.shape).clone();
            large.extents.iter_mut().for_each(|extent| *extent *= 64);
            shapes.push((large, 256));
            for (shape, address) in shapes {
                let buffers = vec![(address, 1 << 20); step.kernel.params.len()];
                let choice = described.configure(&shape, &buffers, 132);
                let Ok(Some(choice)) = choice else { continue };
                let source = codegen::source(&described.kernel, choice.variant);
                if seen.insert(source.clone()) {
                    sources.push((format!("seed {seed}, {:?}", choice.variant), source));
                }
            }
        }
    }
    sources
}

fn random_kernels_compile() {
    let compiler = Compiler::new("sm_90".to_owned(), || None);
    let cases = std::env::var("INFLIGHT_CUDA_CASES").map_or(40, |text| text.parse().unwrap());
    let (sources, mut failures) = (sources(cases), Vec::new());
    for (of, source) in &sources {
        if let Err(fault) = compiler.compile(source) {
            failures.push(format!("{of}: {fault}\n{source}"));
        }
    }
    println!("{} kernels of {cases} graphs compiled", sources.len());
    assert!(failures.is_empty(), "{} fail; the first:\n{}", failures.len(), failures[0]);
    assert!(sources.len() > cases as usize / 4, "only {} kernels", sources.len());
}

/// Index variables must not be called `v` and a number, as kernel values are: the inner name would shadow the outer
/// one.
fn index_variables_do_not_shadow_kernel_values() {
    let mut tiles = 0;
    for (of, source) in sources(400) {
        tiles += source.contains("__shared__") as usize;
        let mut types = HashMap::new();
        for line in source.lines().map(str::trim) {
            // A declaration of one or more variables: `const TYPE NAME = …, NAME = …;`.
            let Some((kind, names)) = line.strip_prefix("const ").and_then(|l| l.split_once(' '))
            else {
                continue;
            };
            for name in names.split(", ").filter_map(|part| part.split_once(" = ")).map(|p| p.0) {
                let is_value = name.strip_prefix('v').is_some_and(|n| n.parse::<u32>().is_ok());
                if is_value {
                    let other = *types.entry(name.to_owned()).or_insert(kind);
                    assert_eq!(other, kind, "{of}: {name}\n{source}");
                    assert_ne!(kind, "I", "{of}: {name} is an index\n{source}");
                }
            }
        }
    }
    assert!(tiles > 0, "no kernel transposes in shared memory");
}

/// The routines of many random graphs, and sorts, convolutions and Cholesky factorizations of every supported dtype.
fn routines_compile() {
    let matrices = [DType::F16, DType::BF16, DType::F32, DType::F64, DType::C64, DType::C128];
    let mut routines: Vec<Routine> = matrices
        .into_iter()
        .map(|dtype| Routine::Cholesky { dtype, batch: 1, n: 3, lower: true })
        .collect();
    let keys = DType::ALL.into_iter().filter(|dtype| !dtype.is_complex());
    for (position, key) in keys.enumerate() {
        let descending = position % 2 == 0;
        let floats = if position % 3 == 0 { FloatOrder::Total } else { FloatOrder::Numeric };
        let order = SortOrder::Keys([SortKey { descending, floats }; 2].into_iter().collect());
        routines.push(Routine::Sort {
            lines: Lines { outer: 2, extent: 1 << (8 + position), inner: 1 },
            keys: [key, DType::F64].into_iter().collect(),
            order,
            result: SortResult::Positions,
        });
        for result in [SortResult::Values, SortResult::Positions, SortResult::FirstPositions(3)] {
            routines.push(Routine::Sort {
                lines: Lines { outer: 2, extent: 1 << (8 + position), inner: 1 },
                keys: [key].into_iter().collect(),
                order: SortOrder::ascending(1),
                result,
            });
        }
    }
    for dtype in [DType::F16, DType::BF16, DType::F32] {
        for outputs in [20, 200] {
            let windows = [WindowAxis::new(3); 2].into_iter().collect();
            let convolution = ImplicitGemm { windows, order: ConvOutputLayout::OutputsLast };
            let x = Shape::from([2, 9, 9, 1, 16]);
            let extents = convolution.extents(&x, &Shape::from([1, outputs, 3, 3, 16])).unwrap();
            routines.push(Routine::ImplicitGemm(ImplicitGemmOperands {
                dtype,
                gemm: convolution,
                extents,
            }));
        }
    }
    // Large enough for a bf16x3 split.
    for axes in 1..=3 {
        let windows = std::iter::repeat_n(WindowAxis::new(3), axes).collect();
        let convolution = ImplicitGemm { windows, order: ConvOutputLayout::ExamplesFirst };
        let (mut x, mut kernels) = (vec![1 << 14], vec![1, 64]);
        x.extend(std::iter::repeat_n(9, axes).chain([1, 64]));
        kernels.extend(std::iter::repeat_n(3, axes).chain([64]));
        let extents =
            convolution.extents(&Shape::from(&x[..]), &Shape::from(&kernels[..])).unwrap();
        let operands = ImplicitGemmOperands { dtype: DType::F32, gemm: convolution, extents };
        let routine = Routine::ImplicitGemm(operands);
        assert!(routine::sources(&routine, true).len() > routine::sources(&routine, false).len());
        routines.push(routine);
    }
    let cases = std::env::var("INFLIGHT_CUDA_CASES").map_or(200, |text| text.parse().unwrap());
    for seed in 0..cases {
        let case = random_case(seed);
        routines.extend(plan(&case.graph).steps.into_iter().filter_map(|step| match step {
            Step::Routine(step) => Some(step.routine),
            _ => None,
        }));
    }
    let (mut seen, mut failures) = (HashSet::new(), Vec::new());
    // The kernels of any device, and those of Hopper.
    for has_wgmma in [false, true] {
        let target = if has_wgmma { "sm_90a" } else { "sm_90" };
        let compiler = Compiler::new(target.to_owned(), || None);
        for source in routines.iter().flat_map(|routine| routine::sources(routine, has_wgmma)) {
            assert!(
                source.contains("begin_kernel();"),
                "the kernel may start before its predecessors end:\n{source}"
            );
            if !seen.contains(&source) {
                if let Err(fault) = compiler.compile(&source) {
                    failures.push(format!("{fault}\n{source}"));
                }
                seen.insert(source);
            }
        }
    }
    println!("{} kernels of {} routines compiled", seen.len(), routines.len());
    assert!(failures.is_empty(), "{} fail; the first:\n{}", failures.len(), failures[0]);
}
