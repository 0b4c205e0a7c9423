//! All device benches as one program, for `cargo xtask bundle`.

#[path = "../gpu.rs"]
mod gpu;
#[path = "../pipeline.rs"]
mod pipeline;

fn main() -> inflight::Result<()> {
    match std::env::args().nth(1).as_deref() {
        Some("gpu") => gpu::main(),
        Some("pipeline") => pipeline::main(),
        _ => {
            eprintln!("bench gpu [small] [cuda:0] [STEP.mlir …], or bench pipeline [cuda:0]");
            std::process::exit(2)
        }
    }
}
