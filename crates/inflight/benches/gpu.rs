//! GPU benchmarks: bandwidth, GEMM, convolutions, routines, programs. Run `cargo bench -p inflight --bench gpu --
//! [cuda:0]`, or the binary of `cargo xtask bundle` on a machine without a toolchain. `bench/peers/gpu.py` has the same
//! rows for other libraries.
//!
//! Calls are queued back to back and timed together. Throughput is useful bytes (each input read once, each output
//! written once) or useful operations, divided by wall time. The device-busy time beside it comes from a trace of one more
//! round. Unary rows are checked against the CPU on a slice of the input. Every row ends with two digests of its result,
//! the mean magnitude and a weighted mean, which `bench/peers/compare.py` compares with those of the peers; all inputs are
//! bit-identical.
//!
//! Other words on the command line filter the rows by name. `calls=30` sets the number of calls timed together. `equal`
//! fills every input with one value, which reduces the power draw of a GEMM. `first` measures only the time from process
//! start to the first results.

use inflight::{ConvOptions, CudaOptions, DType, Device, Program, Result, Shape, Tensor};
use std::sync::LazyLock;
use std::time::Instant;

/// Rows and columns of the large matrices.
const ROWS: usize = 16384;
const COLUMNS: usize = 4096;

/// Calls timed together: as many as take a tenth of a second, so that the latency of the first launch and of the last
/// completion is negligible.
const ROUNDS: usize = 7;
const ROUND_SECONDS: f64 = 0.1;

/// Alternating rounds of two workloads that are timed, and warm-up rounds.
const ALTERNATING_ROUNDS: usize = 21;
const WARM_UP_ROUNDS: usize = 20;

/// Executions of a program that are timed together.
const CALLS: usize = 30;

/// Measures and prints all rows.
pub fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if arguments.iter().any(|argument| argument == "first") {
        return first_results();
    }
    let name = arguments.iter().find(|name| name.starts_with("cuda:"));
    let name = name.map_or("cuda:0", String::as_str);
    let ordinal = name["cuda:".len()..].parse().unwrap_or(0);
    let device = match Device::cuda(ordinal) {
        Ok(device) => device,
        Err(error) => {
            println!("not measured: {error}");
            return Ok(());
        }
    };
    println!("{}, {}", device.info().name, device.info().target);
    if Filter::new().has("1000 dependent small adds") {
        small_calls(&device)?;
    }
    if Filter::new().has("program of small kernels") {
        small_kernels(&device)?;
    }
    for program in arguments.iter().filter(|name| name.ends_with(".mlir")) {
        training_steps(program, &device)?;
    }
    if arguments.iter().any(|argument| argument == "small") {
        return Ok(());
    }
    if arguments.iter().any(|argument| argument == "routines") {
        convolutions(&device)?;
        return routines(&device);
    }
    let cpu = Device::cpu();
    let x = matrix(ROWS, COLUMNS, 0, &device)?;
    let y = matrix(ROWS, COLUMNS, 1, &device)?;
    let square = matrix(8192, 8192, 2, &device)?;
    let gain = matrix(1, COLUMNS, 3, &device)?.reshape([COLUMNS]);
    let gain = &gain + 0.0;
    gain.wait()?;
    let bytes = ROWS * COLUMNS * 4;

    let chain = |x: &Tensor| {
        (((x + 1.0) * 2.0 - 3.0).abs() * 0.5 + x).maximum(0.1).minimum(2.0) * 3.0 - 1.0
    };
    row("chain of 9 ops", &x, &cpu, 2 * bytes, chain)?;
    row("gelu (tanh)", &x, &cpu, 2 * bytes, Tensor::gelu_tanh)?;
    row("softmax", &x, &cpu, 2 * bytes, |x| x.softmax(1))?;
    row("layer norm", &x, &cpu, 2 * bytes, |x| x.layer_norm([1], None, None, 1e-5))?;
    row("row sum", &x, &cpu, bytes, |x| x.sum([1]))?;
    row("column sum", &x, &cpu, bytes, |x| x.sum([0]))?;
    row("sum of all", &x, &cpu, bytes, |x| x.sum_all())?;
    time("x + y", 3 * bytes, "GB/s", || &x + &y)?;
    row("transpose + add", &square, &cpu, 2 * 8192 * 8192 * 4, |x| x.transpose() + x)?;
    let scaled = |x: &Tensor| x * &gain;
    time("x * row", 2 * bytes, "GB/s", || scaled(&x))?;

    let a = square.cast(DType::BF16);
    let b = (&square * 0.5).cast(DType::BF16);
    a.wait()?;
    b.wait()?;
    sixteen_bit_gemms([&x, &y].map(|x| x.cast(DType::BF16)), &a)?;
    let operations = 2 * 8192usize.pow(3);
    time("bf16 matmul 8192", operations, "GFLOP/s", || a.matmul(&b))?;
    let bias = matrix(1, 8192, 4, &device)?.cast(DType::BF16);
    bias.wait()?;
    time("bf16 matmul + bias + gelu", operations, "GFLOP/s", || {
        (a.matmul(&b) + &bias).gelu_tanh()
    })?;
    layer(&device)?;
    f32_gemms("f32", ordinal)?;
    f32_gemms("tf32", ordinal)?;
    convolutions(&device)?;
    routines(&device)
}

/// GEMMs of `f32`, in full precision or with TF32.
fn f32_gemms(precision: &str, ordinal: usize) -> Result<()> {
    let works = ["matmul 4096", "matmul 8192", "matmul + bias + relu"];
    let names = works.map(|work| format!("{precision} {work}"));
    if !names.iter().any(|name| Filter::new().has(name)) {
        return Ok(());
    }
    let options = CudaOptions { tf32: precision == "tf32", ..CudaOptions::default() };
    let device = Device::open_cuda_with(ordinal, options)?;
    for (side, name) in [4096, 8192].into_iter().zip(&names) {
        let a = matrix(side, side, 2, &device)?;
        let b = &a * 0.5;
        b.wait()?;
        let operations = 2 * side.pow(3);
        time(name, operations, "GFLOP/s", || a.matmul(&b))?;
        if side == 8192 {
            let bias = matrix(1, side, 4, &device)?;
            let layer = || (a.matmul(&b) + &bias).maximum(0.0);
            time(&names[2], operations, "GFLOP/s", layer)?;
        }
    }
    Ok(())
}

/// GEMMs of 16-bit floats.
fn sixteen_bit_gemms([x, y]: [Tensor; 2], square: &Tensor) -> Result<()> {
    x.wait()?;
    y.wait()?;
    let bytes = ROWS * COLUMNS * 2;
    time("bf16 gelu (tanh)", 2 * bytes, "GB/s", || x.gelu_tanh())?;
    time("bf16 softmax", 2 * bytes, "GB/s", || x.softmax(1))?;
    time("bf16 layer norm", 2 * bytes, "GB/s", || x.layer_norm([1], None, None, 1e-5))?;
    time("bf16 row sum", bytes, "GB/s", || x.sum([1]))?;
    time("bf16 column sum", bytes, "GB/s", || x.sum([0]))?;
    time("bf16 x + y", 3 * bytes, "GB/s", || &x + &y)?;
    time("bf16 transpose + add", 2 * 8192 * 8192 * 2, "GB/s", || square.transpose() + square)
}

/// Time from process start to a first result, and to a first GEMM.
fn first_results() -> Result<()> {
    let start = Instant::now();
    let since = || start.elapsed().as_secs_f64() * 1e3;
    let device = Device::cuda(0)?;
    let opened = since();
    let x = Tensor::from_vec((0..4096).map(|i| i as f32).collect(), [64, 64], &device)?;
    let sum = (&x + 1.0).to_vec::<f32>()?;
    let first = since();
    assert_eq!(sum[4095], 4096.0);
    let gemm = (x.matmul(&x) * 0.5).to_vec::<f32>()?;
    let (first_gemm, expected) = (since(), (0..64).map(|k| k * 64 * k).sum::<i32>());
    assert_eq!(gemm[0], expected as f32 * 0.5);
    println!("device {opened:.0} ms, first result {first:.0} ms, first GEMM {first_gemm:.0} ms");
    Ok(())
}

/// A dense layer, and its GEMM alone: the fused epilogue should cost nothing.
fn layer(device: &Device) -> Result<()> {
    let [rows, inner, columns] = [8192, 4096, 16384];
    let operand = |rows: usize, columns: usize, which: u32| -> Result<Tensor> {
        let tensor = matrix(rows, columns, which, device)?.cast(DType::BF16);
        tensor.wait()?;
        Ok(tensor)
    };
    let (x, w, bias) =
        (operand(rows, inner, 0)?, operand(inner, columns, 1)?, operand(1, columns, 2)?);
    let operations = 2 * rows * inner * columns;
    let product = || x.matmul(&w);
    let whole = || (x.matmul(&w) + &bias).gelu_tanh();
    time("bf16 layer, product alone", operations, "GFLOP/s", product)?;
    time("bf16 layer + bias + gelu", operations, "GFLOP/s", whole)?;
    let works: [(&str, &dyn Fn() -> Tensor); 2] = [("product", &product), ("layer", &whole)];
    alternating("bf16 layer, alternating", operations, "GFLOP/s", works)
}

/// 3 × 3 convolutions of a residual network, in NCHW layout.
fn convolutions(device: &Device) -> Result<()> {
    for (size, features) in [(56, 64), (14, 256)] {
        for dtype in [DType::F32, DType::BF16] {
            let x = matrix(64 * features, size * size, 0, device)?.cast(dtype);
            let x = x.reshape([64, features, size, size]);
            let weight = matrix(features, features * 9, 1, device)?.cast(dtype);
            let weight = weight.reshape([features, features, 3, 3]);
            weight.wait()?;
            x.wait()?;
            let operations = 2 * 64 * size * size * features * features * 9;
            let name = format!("{dtype} conv 3x3, {features} of {size}x{size}");
            let options = ConvOptions::default().padding(1);
            time(&name, operations, "GFLOP/s", || x.conv2d(&weight, None, options))?;
        }
    }
    Ok(())
}

/// Sorts, Cholesky and triangular solves, in elements per second.
fn routines(device: &Device) -> Result<()> {
    let count = 1 << 20;
    let pseudo_random =
        |count: usize| -> Result<Tensor> { Ok(matrix(1, count, 0, device)?.reshape([count])) };
    let x = pseudo_random(count)?;
    let sorted = x.sort(0, false).to_vec::<f32>()?;
    assert!(sorted.is_sorted(), "the result of a sort is not sorted");
    time("sort 1 Mi floats", count, "G/s", || x.sort(0, false))?;
    time("argsort 1 Mi floats", count, "G/s", || x.argsort(0, false))?;
    let large = pseudo_random(64 * count)?;
    time("sort 64 Mi floats", 64 * count, "G/s", || large.sort(0, false))?;
    let rows = large.reshape([16384, 4096]);
    time("sort rows of 4096", 64 * count, "G/s", || rows.sort(1, false))?;
    time("top 8 of rows of 4096", 64 * count, "G/s", || rows.top_k(8, 1).0)?;
    let identity = |n: usize| Tensor::eye::<f32>(n, device) * (2 * n) as f32;
    let small = matrix(4096 * 32, 32, 0, device)?.reshape([4096, 32, 32]);
    let small = (&small + small.swap_dims(1, 2)) * 0.5 + identity(32);
    small.wait()?;
    time("cholesky 4096 of 32 x 32", 4096 * 32 * 32, "G/s", || small.cholesky())?;
    let large = matrix(4096, 4096, 0, device)?;
    let large = (&large + large.transpose()) * 0.5 + identity(4096);
    large.wait()?;
    time("cholesky 4096 x 4096", 4096usize.pow(3) / 3, "GFLOP/s", || large.cholesky())
}

/// A matrix of pseudo-random values from -1 to 1, the same as the peers'. The power draw of a GEMM, and so its speed,
/// depends on the values.
fn matrix(rows: usize, columns: usize, which: u32, device: &Device) -> Result<Tensor> {
    let data = (0..rows * columns).map(|i| noise(which, i)).collect();
    let tensor = Tensor::from_vec(data, [rows, columns], device)?;
    tensor.wait()?;
    Ok(tensor)
}

fn noise(which: u32, i: usize) -> f32 {
    static IS_EQUAL: LazyLock<bool> =
        LazyLock::new(|| std::env::args().any(|word| word == "equal"));
    if *IS_EQUAL {
        return 0.5;
    }
    let mut x = (i as u32).wrapping_add(which << 27);
    x = (x ^ x >> 16).wrapping_mul(0x85eb_ca6b);
    x = (x ^ x >> 13).wrapping_mul(0xc2b2_ae35);
    ((x ^ x >> 16) >> 8) as f32 / (1 << 23) as f32 - 1.0
}

/// Mean of magnitudes, and weighted mean with weights from 0 to 12.
fn digest(result: &Tensor) -> Result<[f32; 2]> {
    let count = result.shape().element_count();
    let flat = result.reshape([count]).cast(DType::F32);
    let weights = (0..count).map(|i| (i % 13) as f32).collect();
    let weights = Tensor::from_vec::<f32>(weights, [count], result.device())?;
    Ok([flat.abs().mean_all().item()?, (flat * weights).mean_all().item()?])
}

/// Times a function of one tensor, after comparing its result on a few rows with the CPU's.
fn row(
    name: &str,
    x: &Tensor,
    cpu: &Device,
    bytes: usize,
    f: impl Fn(&Tensor) -> Tensor,
) -> Result<()> {
    if !Filter::new().has(name) {
        return Ok(());
    }
    let part = x.slice(0..64).to_device(cpu);
    // A square matrix cannot be sliced this way.
    if let Ok(expected) = f(&part).to_vec::<f32>() {
        let found = f(&x.slice(0..64)).to_vec::<f32>()?;
        let largest = found
            .iter()
            .zip(expected)
            .map(|(a, b)| (a - b).abs() / b.abs().max(1.0))
            .fold(0.0, f32::max);
        assert!(largest < 1e-4, "{name} is off by {largest}");
    }
    time(name, bytes, "GB/s", || f(x))
}

/// Command-line arguments: row name filters, and the number of calls timed together.
struct Filter {
    words: Vec<String>,
    calls: Option<usize>,
}

impl Filter {
    fn new() -> Filter {
        let arguments: Vec<String> = std::env::args().skip(1).collect();
        let calls = arguments.iter().find_map(|argument| argument.strip_prefix("calls="));
        let is_other = |argument: &String| {
            matches!(argument.as_str(), "gpu" | "small" | "routines" | "first" | "equal")
                || argument.starts_with('-')
                || argument.starts_with("cuda:")
                || argument.starts_with("calls=")
                || argument.ends_with(".mlir")
        };
        let calls = calls.and_then(|calls| calls.parse().ok());
        let words = arguments.into_iter().filter(|argument| !is_other(argument)).collect();
        Filter { words, calls }
    }

    /// Whether a row matches the filters.
    fn has(&self, name: &str) -> bool {
        self.words.is_empty() || self.words.iter().any(|word| name.contains(word.as_str()))
    }
}

fn time(name: &str, units: usize, unit: &str, f: impl Fn() -> Tensor) -> Result<()> {
    let filter = Filter::new();
    if !filter.has(name) {
        return Ok(());
    }
    let calls = calls_of_round(&filter, &f)?;
    let median = median(|| round(&f, calls))?;
    let busy = busy(|| round(&f, calls))? / calls as f64;
    let [magnitude, weighed] = digest(&f())?;
    println!(
        "{name:28} {:9.3} ms {:9.0} {unit} {:9.3} ms on the device, {calls} calls, means {magnitude:e} {weighed:e}",
        median * 1e3,
        units as f64 / median / 1e9,
        busy * 1e3
    );
    Ok(())
}

/// Warms up, and returns the number of calls of a round.
fn calls_of_round(filter: &Filter, f: &dyn Fn() -> Tensor) -> Result<usize> {
    (0..3).try_for_each(|_| round(f, 1).map(drop))?;
    Ok(match filter.calls {
        Some(calls) => calls.max(1),
        None => ((ROUND_SECONDS / round(f, 10)?) as usize).clamp(10, 3000),
    })
}

/// Seconds per call, with `calls` calls queued.
fn round(f: &dyn Fn() -> Tensor, calls: usize) -> Result<f64> {
    let start = Instant::now();
    let mut last = None;
    for _ in 0..calls {
        let result = f();
        // Submits the call.
        result.is_ready();
        last = Some(result);
    }
    last.map_or(Ok(()), |last| last.wait())?;
    Ok(start.elapsed().as_secs_f64() / calls as f64)
}

/// Alternating rounds of two workloads, until the device has reached its steady temperature, so that both run at the same
/// clock.
fn alternating(
    name: &str,
    units: usize,
    unit: &str,
    works: [(&str, &dyn Fn() -> Tensor); 2],
) -> Result<()> {
    let filter = Filter::new();
    if !filter.has(name) {
        return Ok(());
    }
    let calls = calls_of_round(&filter, works[0].1)?;
    let time_both = || -> Result<[f64; 2]> {
        let [first, second] = works;
        Ok([round(first.1, calls)?, round(second.1, calls)?])
    };
    (0..WARM_UP_ROUNDS).try_for_each(|_| time_both().map(drop))?;
    let rounds = (0..ALTERNATING_ROUNDS).map(|_| time_both()).collect::<Result<Vec<[f64; 2]>>>()?;
    let rates = [0, 1].map(|at| {
        let seconds = median_of(rounds.iter().map(|round| round[at]).collect());
        format!("{} {:.0} {unit}", works[at].0, units as f64 / seconds / 1e9)
    });
    let ratio = median_of(rounds.iter().map(|[first, second]| first / second).collect());
    println!("{name}: {}, {ratio:.3} of the first's", rates.join(", "));
    Ok(())
}

/// Seconds during which the device ran kernels, from a trace.
fn busy(work: impl FnOnce() -> Result<f64>) -> Result<f64> {
    let path = std::env::temp_dir().join(format!("inflight-bench-{}.json", std::process::id()));
    inflight::trace(&path, work)??;
    let text = std::fs::read_to_string(&path).unwrap_or_default();
    let _ = std::fs::remove_file(&path);
    let number = |line: &str, name: &str| -> Option<f64> {
        let (_, after) = line.split_once(name)?;
        after.split([',', '}']).next()?.parse().ok()
    };
    let mut spans: Vec<(f64, f64)> = text
        .lines()
        .filter(|line| line.contains("\"cat\":\"kernel\""))
        .filter_map(|line| Some((number(line, "\"ts\":")?, number(line, "\"dur\":")?)))
        .collect();
    spans.sort_by(|a, b| a.0.total_cmp(&b.0));
    // Commands of one batch start together: count the longest.
    spans.dedup_by(|later, earlier| {
        let is_same = later.0 - earlier.0 < 0.5;
        earlier.1 = if is_same { earlier.1.max(later.1) } else { earlier.1 };
        is_same
    });
    let busy: f64 = spans.iter().map(|(_, took)| took).sum();
    Ok(busy / 1e6)
}

/// Median of a few rounds, in seconds.
fn median(mut round: impl FnMut() -> Result<f64>) -> Result<f64> {
    Ok(median_of((0..ROUNDS).map(|_| round()).collect::<Result<Vec<f64>>>()?))
}

fn median_of(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// A thousand small dependent calls, each submitted by itself.
fn small_calls(device: &Device) -> Result<()> {
    let seconds = median(|| {
        let mut x = Tensor::zeros::<f32>([1024], device);
        x.wait()?;
        let start = Instant::now();
        for _ in 0..1000 {
            x = &x + 1.0;
            x.is_ready();
        }
        x.wait()?;
        let seconds = start.elapsed().as_secs_f64();
        assert_eq!(x.to_vec::<f32>()?, vec![1000.0; 1024]);
        Ok(seconds / 1000.0)
    })?;
    println!("{:28} {:9.2} us", "1000 dependent small adds", seconds * 1e6);
    Ok(())
}

/// A program of a thousand small dependent kernels: each broadcasts the row sums of its predecessor.
fn small_kernels(device: &Device) -> Result<()> {
    const STEPS: usize = 1000;
    let mut text = "func.func @main(%x0: tensor<32xf32>) -> tensor<32xf32> {\n\
        %zero = stablehlo.constant dense<0.0> : tensor<f32>\n\
        %scale = stablehlo.constant dense<0.03125> : tensor<32x32xf32>\n"
        .to_owned();
    for step in 0..STEPS {
        let next = step + 1;
        text += &format!(
            "%b{step} = stablehlo.broadcast_in_dim %x{step}, dims = [1] : (tensor<32xf32>) -> tensor<32x32xf32>\n\
             %m{step} = stablehlo.multiply %b{step}, %scale : tensor<32x32xf32>\n\
             %x{next} = stablehlo.reduce(%m{step} init: %zero) applies stablehlo.add across dimensions = [1] \
             : (tensor<32x32xf32>, tensor<f32>) -> tensor<32xf32>\n"
        );
    }
    text += &format!("return %x{STEPS} : tensor<32xf32>\n}}\n");
    let program = Program::parse(&text)?;
    let values: Vec<f32> = (0..32).map(|i| i as f32).collect();
    let expected = {
        let cpu = Device::cpu();
        let x = Tensor::from_vec(values.clone(), [32], &cpu)?;
        cpu.compile(&program)?.execute(&[&x])?[0].to_vec::<f32>()?
    };
    let executable = device.compile(&program)?;
    let x = Tensor::from_vec(values, [32], device)?;
    for _ in 0..5 {
        let found = executable.execute(&[&x])?[0].to_vec::<f32>()?;
        let close = |(a, b): (&f32, &f32)| (a - b).abs() <= 1e-4 * b.abs().max(1.0);
        assert!(found.iter().zip(&expected).all(close), "a program of small kernels");
    }
    let before = device.stats().launches;
    executable.execute(&[&x])?[0].wait()?;
    let launches = (device.stats().launches - before) as f64;
    let before = inflight_cuda::replay_counts();
    let mut rounds = Vec::new();
    for _ in 0..3 * ROUNDS {
        let start = Instant::now();
        let mut last = None;
        for _ in 0..CALLS {
            last = executable.execute(&[&x])?.pop();
        }
        last.expect("CALLS is positive").wait()?;
        rounds.push(start.elapsed().as_secs_f64() / CALLS as f64 / launches * 1e6);
    }
    let after = inflight_cuda::replay_counts();
    rounds.sort_by(f64::total_cmp);
    let single = median(|| {
        let start = Instant::now();
        executable.execute(&[&x])?[0].wait()?;
        Ok(start.elapsed().as_secs_f64())
    })?;
    println!(
        "program of {launches} small kernels {:9.3} us each queued ({:.3} to {:.3}), {:9.3} us each alone",
        rounds[rounds.len() / 2],
        rounds[0],
        rounds[rounds.len() - 1],
        single / launches * 1e6
    );
    println!(
        "    queued: {} graphs replayed unchanged, {} updated ({} arguments), {} captured; {} single launches",
        after.unchanged_graphs - before.unchanged_graphs,
        after.updated_graphs - before.updated_graphs,
        after.updated_arguments - before.updated_arguments,
        after.captured_graphs - before.captured_graphs,
        after.single_launches - before.single_launches
    );
    Ok(())
}

/// A program whose first results are the first arguments of its next execution, as a training step.
fn training_steps(path: &str, device: &Device) -> Result<()> {
    let program = Program::load(path)?;
    let executable = device.compile(&program)?;
    let count = executable.arguments().len();
    let state_count: usize = (0..count)
        .zip(executable.results())
        .take_while(|&(position, result)| {
            let argument = &executable.arguments()[position];
            (argument.dtype, &argument.extents) == (result.dtype, &result.extents)
        })
        .count();
    // Optimizer moments have the shapes of the weights and start at zero.
    let weights = state_count / 3;
    let extents = |position: usize| &executable.arguments()[position].extents;
    let has_moments =
        (0..2 * weights).all(|position| extents(position) == extents(position + weights));
    let start = |position: usize| {
        let argument = &executable.arguments()[position];
        let shape: Vec<usize> = argument.extents.iter().map(|extent| extent.unwrap_or(1)).collect();
        let shape = Shape::from(shape.as_slice());
        match argument.dtype {
            DType::F32 if has_moments && (weights..3 * weights).contains(&position) => {
                Ok(Tensor::zeros::<f32>(shape, device))
            }
            DType::F32 => {
                let scale = if shape.rank() == 2 { 0.02 } else { 0.5 };
                let data = (0..shape.element_count()).map(|i| noise(position as u32, i) * scale);
                let data = data.collect();
                Tensor::from_vec::<f32>(data, shape, device)
            }
            // Labels of ten classes.
            dtype => {
                let labels = (0..shape.element_count()).map(|i| (i % 10) as f32).collect();
                Ok(Tensor::from_vec::<f32>(labels, shape, device)?.cast(dtype))
            }
        }
    };
    let mut values = (0..count).map(start).collect::<Result<Vec<Tensor>>>()?;
    let mut step = || -> Result<Option<Tensor>> {
        let references: Vec<&Tensor> = values.iter().collect();
        let results = executable.execute(&references)?;
        let loss = results.last().cloned();
        results
            .into_iter()
            .take(state_count)
            .enumerate()
            .for_each(|(at, result)| values[at] = result);
        Ok(loss)
    };
    // Only the losses of the first steps are compared: rounding differences grow with the steps.
    let mut losses = Vec::new();
    for _ in 0..5 {
        let loss = step()?;
        losses.push(loss.map_or(Ok(0.0), |loss| loss.abs().mean_all().item::<f32>())?);
        device.wait()?;
    }
    let before = device.stats().launches;
    let seconds = median(|| {
        let start = Instant::now();
        (0..CALLS).try_for_each(|_| step().map(drop))?;
        device.wait()?;
        Ok(start.elapsed().as_secs_f64() / CALLS as f64)
    })?;
    let launches = (device.stats().launches - before) as usize / (CALLS * ROUNDS);
    let is_finite =
        |value: &Tensor| Ok::<bool, inflight::Error>(value.sum_all().item::<f32>()?.is_finite());
    let trained = values.iter().filter(|value| value.dtype() == DType::F32);
    for value in trained {
        assert!(is_finite(value)?, "{path} has learned a non-finite value");
    }
    let name = path.rsplit('/').next().unwrap_or(path);
    println!(
        "{name:28} {:9.3} ms a step of {launches} launches, means {:e} {:e}",
        seconds * 1e3,
        losses[0],
        losses[2]
    );
    Ok(())
}
