//! Differential test: random graphs, recorded as tensors and run on every CPU path or on a GPU, against the reference
//! interpreter.
//!
//! Handles are cloned, dropped, and read early, out of order or asynchronously, with submissions in between. None of this
//! may change a value. `INFLIGHT_DIFFERENTIAL_CASES` sets the number of graphs for each path, `INFLIGHT_SEED` the first
//! seed, `INFLIGHT_CPU` a single path.

use crate::support;
use inflight::{CpuOptions, CpuPath, DType, Device, Element, Tensor, record_graph_node};
use inflight_ir::graph::{NodeId, Op};
use inflight_ir::interpret::Array;
use inflight_testkit::{
    Case, Compared, DotRounding, Random, Reference, print, random_case, shrink,
};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Two threads record concurrently, each on its own stream. A GPU uses more threads, each with its own device, because
/// compilation dominates the time.
fn thread_count() -> u64 {
    if support::chosen_gpu().is_some() { 16 } else { 2 }
}

/// From this number of graphs on, nearly all integers must have been compared.
const MANY_CASES: u64 = 10_000;

fn env_or(name: &str, default: u64) -> u64 {
    match std::env::var(name) {
        Ok(text) => text.parse().unwrap_or_else(|_| panic!("{name}={text} is not a number")),
        Err(_) => default,
    }
}

/// A device for each path that this machine has, or for the one that the environment names; or the GPU that
/// `INFLIGHT_TEST_DEVICE` names.
fn devices() -> Vec<(&'static str, Device)> {
    if let Some(ordinal) = support::chosen_gpu() {
        return vec![("cuda", Device::open_cuda(ordinal).expect("the requested GPU opens"))];
    }
    let requested = CpuOptions::from_env().expect("the environment's options are valid").path;
    let paths = [("avx512", CpuPath::Avx512), ("avx2", CpuPath::Avx2), ("block", CpuPath::Block)];
    let selected =
        paths.into_iter().filter(|(_, path)| requested.is_none_or(|requested| requested == *path));
    selected
        .filter_map(|(name, path)| {
            let options = CpuOptions { path: Some(path), ..CpuOptions::default() };
            Device::open_cpu(options).ok().map(|device| (name, device))
        })
        .collect()
}

/// Calls a generic function with the element type of a run-time dtype.
macro_rules! with_element {
    ($dtype:expr, $function:ident($($argument:expr),*)) => {
        match $dtype {
            DType::Bool => $function::<bool>($($argument),*),
            DType::I8 => $function::<i8>($($argument),*),
            DType::I16 => $function::<i16>($($argument),*),
            DType::I32 => $function::<i32>($($argument),*),
            DType::I64 => $function::<i64>($($argument),*),
            DType::U8 => $function::<u8>($($argument),*),
            DType::U16 => $function::<u16>($($argument),*),
            DType::U32 => $function::<u32>($($argument),*),
            DType::U64 => $function::<u64>($($argument),*),
            DType::F16 => $function::<inflight::f16>($($argument),*),
            DType::BF16 => $function::<inflight::bf16>($($argument),*),
            DType::F32 => $function::<f32>($($argument),*),
            DType::F64 => $function::<f64>($($argument),*),
            DType::C64 => $function::<inflight::Complex<f32>>($($argument),*),
            DType::C128 => $function::<inflight::Complex<f64>>($($argument),*),
        }
    };
}

fn upload<T: Element>(array: &Array, device: &Device) -> inflight::Result<Tensor> {
    Tensor::from_vec(array.to_vec::<T>(), &array.shape, device)
}

fn read<T: Element>(tensor: &Tensor, asynchronous: bool) -> inflight::Result<Array> {
    let elements: Vec<T> = match asynchronous {
        true => tensor.to_vec_async::<T>().get()?,
        false => tensor.to_vec::<T>()?,
    };
    Ok(Array::from_vec(elements, tensor.shape()))
}

/// The result of the reference interpreter. On a GPU, a fused epilogue may skip the rounding of a 16-bit matmul result.
fn expected(case: &Case) -> Reference {
    let rounding = match support::chosen_gpu() {
        Some(_) => DotRounding::MayBeSkipped,
        None => DotRounding::Always,
    };
    Reference::with_dot_rounding(case, rounding)
}

/// Records the case on a device, reads its outputs, and compares them.
fn run(case: &Case, reference: &Reference, device: &Device) -> Result<Compared, String> {
    let mut random = Random::new(case.seed ^ 0x5eed);
    let graph = &case.graph;
    let describe = |error: inflight::Error| format!("error: {error}");
    let mut last_use: Vec<usize> = (0..graph.nodes.len()).collect();
    for (id, node) in graph.nodes.iter().enumerate() {
        node.inputs.iter().for_each(|&input| last_use[input as usize] = id);
    }
    let (drop_percent, disturb_percent) =
        (random.pick(&[20, 70, 100]), random.pick(&[0, 0, 3, 15]));
    let mut compared = Compared::default();
    let mut handles: Vec<Option<Tensor>> = Vec::new();
    // Each output once, in the order of the reads.
    let mut unread: Vec<usize> = (0..graph.outputs.len()).collect();
    random.shuffle(&mut unread);
    let (mut inputs, mut scalars) = (case.inputs.iter(), graph.scalars.iter());
    for (id, node) in graph.nodes.iter().enumerate() {
        let tensor = match node.op {
            Op::Input => {
                let array = inputs.next().expect("a value for each input");
                with_element!(array.dtype, upload(array, device)).map_err(describe)?
            }
            _ => {
                let scalar = match node.op {
                    Op::Scalar => scalars.next().copied(),
                    _ => None,
                };
                let operands: Vec<&Tensor> = node
                    .inputs
                    .iter()
                    .map(|&input| {
                        handles[input as usize].as_ref().expect("retained until its last use")
                    })
                    .collect();
                record_graph_node(node, scalar, &operands, device).map_err(describe)?
            }
        };
        assert_eq!((tensor.shape(), tensor.dtype()), (&node.shape, node.dtype));
        handles.push(Some(tensor));
        if random.chance(drop_percent) {
            for (other, handle) in handles.iter_mut().enumerate() {
                if last_use[other] <= id && !graph.outputs.contains(&(other as NodeId)) {
                    *handle = None;
                }
            }
        }
        if random.chance(disturb_percent) {
            match random.below(4) {
                0 => device.flush(),
                1 => device.wait().map_err(describe)?,
                2 => drop(handles[id].clone()),
                _ => {
                    let early = unread
                        .iter()
                        .position(|&output| (graph.outputs[output] as usize) < handles.len());
                    if let Some(position) = early {
                        let output = unread.remove(position);
                        compared.add(check(
                            graph.outputs[output],
                            output,
                            &handles,
                            reference,
                            &mut random,
                        )?);
                    }
                }
            }
        }
    }
    if random.chance(30) {
        for (id, handle) in handles.iter_mut().enumerate() {
            if !graph.outputs.contains(&(id as NodeId)) {
                *handle = None;
            }
        }
    }
    if random.chance(10) && unread.len() > 1 {
        // Drop an output without reading it.
        let output = unread.pop().expect("more than one");
        let node = graph.outputs[output];
        if !unread.iter().any(|&other| graph.outputs[other] == node) {
            handles[node as usize] = None;
        }
    }
    for output in unread {
        compared.add(check(graph.outputs[output], output, &handles, reference, &mut random)?);
    }
    Ok(compared)
}

/// Reads one output and compares it.
fn check(
    node: NodeId,
    output: usize,
    handles: &[Option<Tensor>],
    reference: &Reference,
    random: &mut Random,
) -> Result<Compared, String> {
    let tensor = handles[node as usize].as_ref().expect("an output is retained until it is read");
    let asynchronous = random.chance(25);
    let value = with_element!(tensor.dtype(), read(tensor, asynchronous));
    let value = value.map_err(|error| format!("error: output {output}: {error}"))?;
    reference.compare_output(output, &value).map_err(|mismatch| mismatch.to_string())
}

/// Runs a case, and turns a panic into an error.
fn run_caught(case: &Case, reference: &Reference, device: &Device) -> Result<Compared, String> {
    catch_unwind(AssertUnwindSafe(|| run(case, reference, device))).unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<String>().map(String::as_str);
        let text = text.or(panic.downcast_ref::<&str>().copied()).unwrap_or("a panic");
        Err(format!("panic: {text}"))
    })
}

/// Runs one thread's share of the seeds on every device.
fn run_share(
    first: u64,
    cases: u64,
    thread: u64,
    devices: &[(&'static str, Device)],
) -> (Compared, Vec<(u64, usize, String)>) {
    let mut compared = Compared::default();
    let mut failures = Vec::new();
    for seed in (first..first + cases).filter(|seed| seed % thread_count() == thread) {
        let case = random_case(seed);
        let reference = expected(&case);
        for (at, (_, device)) in devices.iter().enumerate() {
            match run_caught(&case, &reference, device) {
                Ok(more) => compared.add(more),
                Err(message) => failures.push((seed, at, message)),
            }
        }
    }
    (compared, failures)
}

#[test]
fn random_graphs_match_the_reference_on_every_path() {
    let devices = devices();
    assert!(!devices.is_empty(), "this machine does not have the path that INFLIGHT_CPU names");
    let cases = env_or("INFLIGHT_DIFFERENTIAL_CASES", 20_000);
    let first = env_or("INFLIGHT_SEED", 1 << 32);
    let mut compared = Compared::default();
    let mut failures = Vec::new();
    std::thread::scope(|scope| {
        let devices = &devices;
        let threads: Vec<_> = (0..thread_count())
            .map(|thread| {
                scope.spawn(move || match support::chosen_gpu() {
                    None => run_share(first, cases, thread, devices),
                    Some(_) => run_share(first, cases, thread, &self::devices()),
                })
            })
            .collect();
        for thread in threads {
            let (more, failed) = thread.join().expect("failures are caught");
            compared.add(more);
            failures.extend(failed);
        }
    });
    if let Some((seed, at, message)) = failures.first() {
        let list: Vec<String> = failures
            .iter()
            .map(|(seed, at, message)| format!("{seed} on {}: {message:.160}", devices[*at].0))
            .collect();
        let fails = |case: &Case| run_caught(case, &expected(case), &devices[*at].1).err();
        let small = shrink::shrink(&random_case(*seed), |case| fails(case).is_some());
        panic!(
            "{} runs fail\n{}\n\n{message}\n\nsmall: {:?}\n{}",
            failures.len(),
            list.join("\n"),
            fails(&small),
            print::case(&small)
        );
    }
    let paths: Vec<&str> = devices.iter().map(|(name, _)| *name).collect();
    println!("{cases} graphs on each of {paths:?}: {compared:?}");
    // Among few graphs, a single large one can dominate the share.
    let threshold = if cases >= MANY_CASES { 0.9 } else { 0.8 };
    assert!(compared.float_share() > 0.8, "too few floats were compared: {compared:?}");
    assert!(compared.integer_share() > threshold, "too few integers were compared: {compared:?}");
}
