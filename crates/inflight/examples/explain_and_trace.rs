//! What a computation costs: `explain` shows the kernels before they run, `collect_stats` counts what ran, and `trace` writes
//! a timeline. Run it with `cargo run -p inflight --example explain_and_trace`.

use inflight::{Device, Result, Rng, Tensor, collect_stats, explain, no_fuse, trace};

fn layer(x: &Tensor, w: &Tensor, b: &Tensor) -> Tensor {
    (x.matmul(w) + b).relu().layer_norm(-1, None, None, 1e-5)
}

fn main() -> Result<()> {
    let device = Device::cpu();
    let mut rng = Rng::new(21);
    let x = rng.randn::<f32>((128, 64), &device);
    let w = rng.randn::<f32>((64, 64), &device);
    let b = rng.randn::<f32>(64, &device);
    for tensor in [&x, &w, &b] {
        tensor.wait()?;
    }

    // Which kernels would run, what each reads and writes, and why it ends where it does. Nothing runs.
    let explanation = explain(|| [layer(&x, &w, &b)]);
    println!("{explanation}");
    for kernel in &explanation.kernels {
        let ops: Vec<&str> = kernel.ops.iter().map(|op| op.name).collect();
        println!(
            "{} bytes read, {} written: {}",
            kernel.bytes_read,
            kernel.bytes_written,
            ops.join(", ")
        );
    }

    // What ran: counters, not times.
    let (y, fused) = collect_stats(|| layer(&x, &w, &b).to_vec::<f32>());
    let (z, unfused) = collect_stats(|| no_fuse(|| layer(&x, &w, &b).to_vec::<f32>()));
    println!("{} launches, {} without fusion", fused.launches, unfused.launches);
    println!("{} bytes written, {} without fusion", fused.bytes_written, unfused.bytes_written);
    assert_eq!(y?.len(), z?.len());
    assert_eq!(fused.launches as usize, explanation.kernels.len());
    assert!(fused.launches < unfused.launches && fused.bytes_written < unfused.bytes_written);

    // A second time nothing is planned or compiled.
    let (_, again) = collect_stats(|| layer(&x, &w, &b).wait());
    assert_eq!((again.plans, again.compiles), (0, 0));

    // When it ran: a Chrome trace, for ui.perfetto.dev.
    let path = std::env::temp_dir().join(format!("inflight-trace-{}.json", std::process::id()));
    trace(&path, || layer(&x, &w, &b).wait())??;
    let text = std::fs::read_to_string(&path).expect("the trace was written");
    let kernels = text.lines().filter(|line| line.contains("\"cat\":\"kernel\""));
    println!(
        "a trace of {} events, of which {} are kernels",
        text.lines().count(),
        kernels.clone().count()
    );
    assert_eq!(kernels.count(), 1);
    std::fs::remove_file(&path).expect("the trace is there");
    Ok(())
}
