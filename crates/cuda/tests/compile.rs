//! Every kernel of many random graphs is text that NVRTC accepts, in each way it may be launched.
//!
//! NVRTC needs no GPU. Where it is not installed, that is said, and nothing is compiled. `INFLIGHT_CUDA_CASES`
//! sets the number of graphs.

use inflight_cuda::choose::Described;
use inflight_cuda::compile::Compiler;
use inflight_cuda::text;
use inflight_ir::kernel::{LaunchShape, expand};
use inflight_ir::plan::{Step, plan};
use inflight_testkit::random_case;
use std::collections::HashSet;

#[test]
fn random_kernels_compile() {
    let compiler = match Compiler::new("sm_90".to_owned(), None) {
        Ok(compiler) => compiler,
        Err(fault) => {
            println!("SKIPPED: {fault}");
            return;
        }
    };
    let cases = std::env::var("INFLIGHT_CUDA_CASES").map_or(40, |text| text.parse().unwrap());
    let (mut seen, mut kernels, mut failures) = (HashSet::new(), 0, Vec::new());
    for seed in 0..cases {
        let case = random_case(seed);
        for step in plan(&case.graph).steps.iter().filter_map(Step::launch) {
            let described = Described::new(expand(&step.kernel));
            // As it is, with everything aligned, with nothing aligned, and with many rows.
            let mut shapes: Vec<(LaunchShape, u64)> =
                vec![((*step.shape).clone(), 256), ((*step.shape).clone(), 1)];
            let mut large = (*step.shape).clone();
            large.extents.iter_mut().for_each(|extent| *extent *= 64);
            shapes.push((large, 256));
            for (shape, address) in shapes {
                let buffers = vec![(address, 1 << 20); step.kernel.params.len()];
                let choice = described.choose(&shape, &buffers, 132);
                let Ok(Some(choice)) = choice else { continue };
                let source = text::source(&described.kernel, choice.variant);
                if !seen.insert(source.clone()) {
                    continue;
                }
                kernels += 1;
                if let Err(fault) = compiler.compile(&source) {
                    failures.push(format!("seed {seed}, {:?}: {fault}\n{source}", choice.variant));
                }
            }
        }
    }
    println!("{kernels} kernels of {cases} graphs compiled");
    assert!(failures.is_empty(), "{} fail; the first:\n{}", failures.len(), failures[0]);
    assert!(kernels > cases as usize / 4, "only {kernels} kernels");
}
