//! Trace files: every kernel, wait, submission and dispatch of the process is a span.
//!
//! A trace records the whole process, other tests included: a test that traces runs in a separate process.

use crate::device;
use crate::support::process::{ran_alone, rerun};
use inflight::{Error, Tensor, pending, trace};
use serde_json::Value;
use std::path::PathBuf;

fn path(name: &str) -> PathBuf {
    std::env::temp_dir().join(format!("inflight-{name}-{}.json", std::process::id()))
}

fn events(path: &PathBuf) -> Vec<Value> {
    let text = std::fs::read_to_string(path).unwrap();
    std::fs::remove_file(path).unwrap();
    serde_json::from_str(&text).unwrap()
}

fn of_category<'a>(events: &'a [Value], category: &str) -> Vec<&'a Value> {
    events.iter().filter(|event| event["cat"] == category).collect()
}

#[test]
fn a_trace_contains_kernels_waits_and_dispatches() {
    if ran_alone() {
        return;
    }
    let device = device();
    let x = Tensor::from_vec(vec![1.0f32; 64 * 64], [64, 64], &device).unwrap();
    let before = device.stats();
    let file = path("kernels");
    let line = line!() + 1;
    let values = trace(&file, || x.matmul(&x).softmax(1).to_vec::<f32>().unwrap());
    assert_eq!(values.unwrap().len(), 64 * 64);
    let stats = device.stats().since(&before);
    let events = events(&file);

    let kernels = of_category(&events, "kernel");
    assert_eq!(kernels.len() as u64, stats.launches);
    let sum = |key: &str| kernels.iter().map(|kernel| kernel["args"][key].as_u64().unwrap()).sum();
    assert_eq!((sum("bytes_read"), sum("bytes_written")), (stats.bytes_read, stats.bytes_written));
    let ops: Vec<&str> = kernels
        .iter()
        .flat_map(|kernel| kernel["args"]["ops"].as_array().unwrap())
        .map(|op| op.as_str().unwrap())
        .collect();
    let location = format!("at {}:{line}:", file!());
    assert!(ops.iter().any(|op| op.starts_with("matmul ") && op.contains(&location)), "{ops:?}");

    let waits = of_category(&events, "wait");
    assert_eq!(waits.len() as u64, stats.all_waits());
    assert_eq!(waits[0]["args"]["reason"], "read");
    let at = waits[0]["args"]["at"].as_str().unwrap();
    assert!(at.starts_with(&format!("{}:{line}:", file!())), "{at}");

    assert_eq!(of_category(&events, "submit").len() as u64, stats.segments);
    let dispatches = of_category(&events, "dispatch");
    let named = |name: &str| dispatches.iter().filter(|event| event["name"] == name).count() as u64;
    assert_eq!((named("dispatch"), named("enqueue")), (stats.segments, stats.segments));
    assert_eq!((named("plan"), named("compile")), (stats.plans, stats.compiles));

    // Every track has a name, and no span ends after the trace.
    let end = events.last().unwrap()["ts"].as_f64().unwrap();
    for span in events.iter().filter(|event| event["ph"] == "X") {
        let track = |event: &Value| (event["pid"].clone(), event["tid"].clone());
        let is_name =
            |event: &&Value| event["name"] == "thread_name" && track(event) == track(span);
        assert_eq!(events.iter().filter(is_name).count(), 1, "{span}");
        let (begin, length) = (span["ts"].as_f64().unwrap(), span["dur"].as_f64().unwrap());
        assert!(begin >= 0.0 && begin + length <= end, "{span}");
    }
}

#[test]
fn a_trace_contains_reads_and_pending_work() {
    if ran_alone() {
        return;
    }
    let device = device();
    let x = Tensor::from_vec(vec![2.0f32; 100], [10, 10], &device).unwrap();
    let file = path("reads");
    trace(&file, || {
        let gemm = pending::matmul(x.to_async(), &x).get().unwrap();
        let read = gemm.to_vec_async::<f32>();
        device.wait().unwrap();
        assert_eq!(read.get().unwrap(), [40.0; 100]);
    })
    .unwrap();
    let events = events(&file);
    let copies = of_category(&events, "copy");
    assert_eq!((copies.len(), &copies[0]["args"]["bytes"]), (1, &Value::from(400)));
    assert_eq!(of_category(&events, "work").len(), 1);
    let work = of_category(&events, "work")[0];
    let track = events.iter().find(|event| {
        event["name"] == "thread_name" && event["pid"] == work["pid"] && event["tid"] == work["tid"]
    });
    assert_eq!(track.unwrap()["args"]["name"], "inflight-pending");
}

#[test]
fn traces_nest_and_end_with_their_closure() {
    if ran_alone() {
        return;
    }
    let device = device();
    let compute = || Tensor::ones::<f32>([10], &device).exp().sum_all().wait().unwrap();
    let (outer, inner) = (path("outer"), path("inner"));
    trace(&outer, || {
        compute();
        trace(&inner, compute).unwrap();
        compute();
    })
    .unwrap();
    compute();
    let (outer, inner) = (events(&outer), events(&inner));
    assert_eq!(of_category(&inner, "wait").len(), 1);
    assert_eq!(of_category(&outer, "wait").len(), 3);
    let panicked = path("panicked");
    let result = std::panic::catch_unwind(|| trace(&panicked, || panic!("in the middle")));
    assert!(result.is_err());
    std::fs::remove_file(panicked).unwrap();
    assert!(!inflight_backend::observe::is_listening(), "no listener remains");
}

#[test]
fn a_file_that_cannot_be_written_is_an_error() {
    let missing = std::env::temp_dir().join("inflight-no-such-directory").join("trace.json");
    let error = trace(&missing, || panic!("must not run")).unwrap_err();
    assert!(matches!(error, Error::File { .. }), "{error}");
}

#[test]
fn the_environment_enables_a_trace() {
    const CHILD: &str = "INFLIGHT_TEST_TRACED_CHILD";
    if std::env::var_os(CHILD).is_some() {
        let x = Tensor::ones::<f32>([1000], &device()).exp();
        assert!(x.sum_all().item::<f32>().unwrap() > 2700.0);
        return;
    }
    let file = path("environment");
    let output = rerun().env(CHILD, "1").env("INFLIGHT_TRACE", &file).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
    let text = std::fs::read_to_string(&file).unwrap();
    std::fs::remove_file(&file).unwrap();
    // The process exits without closing the JSON array.
    let array = format!("{}]", text.trim_end().trim_end_matches(','));
    let events: Vec<Value> = serde_json::from_str(&array).unwrap();
    assert!(!of_category(&events, "kernel").is_empty());
    assert_eq!(of_category(&events, "wait").len(), 1);
}

#[test]
fn a_loop_is_a_span_around_its_iterations() {
    if ran_alone() {
        return;
    }
    // The stream runs small iterations itself and reports only the loop. Of large iterations, every kernel is reported.
    let (small, large) = (loop_and_kernels(4), loop_and_kernels(40_000));
    for (span, _) in [&small, &large] {
        assert_eq!(span["name"], "stablehlo.while");
        assert_eq!(span["args"]["iterations"], 25);
        let source = span["args"]["ops"][0].as_str().unwrap();
        assert!(source.contains("program:5:"), "{source}");
    }
    assert_eq!(small.1, 0);
    assert!(large.1 >= 25, "{}", large.1);
}

/// Traces a loop of 25 iterations that carries `elements` elements. Returns its span, and the number of kernels within it.
fn loop_and_kernels(elements: usize) -> (Value, usize) {
    let device = device();
    let text = "func.func @main(%n: tensor<i32>, %x: tensor<Ni32>) -> (tensor<i32>, tensor<Ni32>) {
  %one = stablehlo.constant dense<1> : tensor<i32>
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %ones = stablehlo.constant dense<1> : tensor<Ni32>
  %0:2 = stablehlo.while(%i = %n, %y = %x) : tensor<i32>, tensor<Ni32>
  cond {
    %1 = stablehlo.compare GT, %i, %zero : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  } do {
    %1 = stablehlo.subtract %i, %one : tensor<i32>
    %2 = stablehlo.add %y, %ones : tensor<Ni32>
    stablehlo.return %1, %2 : tensor<i32>, tensor<Ni32>
  }
  return %0#0, %0#1 : tensor<i32>, tensor<Ni32>
}";
    let program = inflight::Program::parse(&text.replace("Ni32", &format!("{elements}xi32")));
    let down = device.compile(&program.unwrap()).unwrap();
    let n = Tensor::from_vec(vec![25i32], [], &device).unwrap();
    let x = Tensor::zeros::<i32>([elements], &device);
    let file = path(&format!("loop-{elements}"));
    trace(&file, || {
        let results = down.execute(&[&n, &x]).unwrap();
        assert_eq!(results[0].item::<i32>().unwrap(), 0);
        assert_eq!(results[1].to_vec::<i32>().unwrap(), vec![25; elements]);
    })
    .unwrap();
    let events = events(&file);
    let loops = of_category(&events, "loop");
    assert_eq!(loops.len(), 1);
    let ends = |event: &Value| event["ts"].as_f64().unwrap() + event["dur"].as_f64().unwrap();
    let within = of_category(&events, "kernel").into_iter().filter(|kernel| {
        kernel["tid"] == loops[0]["tid"]
            && kernel["ts"].as_f64() >= loops[0]["ts"].as_f64()
            && ends(kernel) <= ends(loops[0])
    });
    let within = within.count();
    (loops[0].clone(), within)
}
