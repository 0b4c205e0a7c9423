//! Explanations: the calls that a kernel fuses, and the reason why its fusion stopped.

use crate::device;
use inflight::{ConvOptions, ExplainedKernel, Tensor, explain};

/// The names of the calls of a kernel.
fn calls(kernel: &ExplainedKernel) -> Vec<&'static str> {
    kernel.ops.iter().map(|op| op.name).collect()
}

/// The primitive ops of a kernel.
fn primitives(kernel: &ExplainedKernel) -> Vec<&'static str> {
    kernel.ops.iter().flat_map(|op| op.primitives.iter().copied()).collect()
}

#[test]
fn softmax_is_one_kernel_with_a_requested_output() {
    let device = device();
    let x = Tensor::ones::<f32>([64, 100], &device);
    x.wait().unwrap();
    let line = line!() + 1;
    let explanation = explain(|| x.softmax(1));
    let [kernel] = &explanation.kernels[..] else { panic!("{explanation}") };
    // One call, with the primitives it recorded.
    assert_eq!(calls(kernel), ["softmax"]);
    let names = primitives(kernel);
    for name in ["max", "sub", "exp", "sum", "mul"] {
        assert!(names.contains(&name), "{names:?}");
    }
    assert!(kernel.ops.iter().all(|op| op.location.contains(&format!("explain.rs:{line}"))));
    assert_eq!(kernel.writes.len(), 1);
    assert_eq!(kernel.writes[0].reason, "requested output");
    assert_eq!((kernel.bytes_read, kernel.bytes_written), (64 * 100 * 4, 64 * 100 * 4));
    // Explaining runs nothing: the one launch computed `x`.
    assert_eq!(device.stats().launches, 1);
    let text = explanation.to_string();
    assert!(text.contains("1 kernel, 25.0 KiB read, 25.0 KiB written"), "{text}");
    assert!(text.contains("softmax") && !text.contains("reduce"), "{text}");
    // The tile IR is printed on request.
    for text in [format!("{explanation:#}"), explanation.clone().with_ir().to_string()] {
        assert!(text.contains("reduce"), "{text}");
    }
}

#[test]
fn kernels_have_materialization_reasons() {
    let device = device();
    let x = Tensor::ones::<f32>([64, 100], &device);
    // The row sums read the column sums, whose reduction axes differ.
    let explanation = (&x / x.sum_keepdim([0]).sum_keepdim([1])).explain();
    let reasons: Vec<&str> =
        explanation.kernels.iter().map(|kernel| kernel.writes[0].reason.as_str()).collect();
    assert!(reasons.contains(&"reduction axes differ from its consumer's"), "{reasons:?}");
    assert_eq!(reasons.last(), Some(&"requested output"));

    // Two GEMMs read the value: recomputing it in each costs more than storing it.
    let sum = (&x + 1.0).tanh();
    let result = x.transpose().matmul(&sum).exp() + sum.transpose().matmul(&x);
    drop(sum);
    let explanation = result.explain();
    let reasons: Vec<&str> =
        explanation.kernels.iter().map(|kernel| kernel.writes[0].reason.as_str()).collect();
    assert!(reasons.contains(&"GEMM operand"), "{reasons:?}");
}

#[test]
fn gemm_fuses_prologue_and_epilogue() {
    let device = device();
    let x = Tensor::ones::<f32>([300, 64], &device);
    x.wait().unwrap();
    // Only the GEMM reads the normalized value: it is the prologue, and the GELU the epilogue.
    let explanation = explain(|| x.layer_norm([1], None, None, 1e-5).matmul(&x.transpose()).gelu());
    let [kernel] = &explanation.kernels[..] else { panic!("{explanation}") };
    for name in ["layer_norm", "matmul", "gelu"] {
        assert!(calls(kernel).contains(&name), "{:?}", calls(kernel));
    }
    let names = primitives(kernel);
    for name in ["sum", "rsqrt", "dot", "erf"] {
        assert!(names.contains(&name), "{names:?}");
    }
    // The operand is never stored: the kernel reads what it is computed from.
    assert_eq!((kernel.reads.len(), kernel.writes.len()), (1, 1));
    assert!(kernel.text.contains("prologue: computes the left operand block by block\n"));
    assert!(kernel.flops > 2 * 300 * 300 * 64);

    let long = Tensor::ones::<f32>([600, 64], &device);
    long.wait().unwrap();
    let explanation = explain(|| [long.matmul(&long.transpose()).softmax(1).matmul(&long)]);
    let [kernel] = &explanation.kernels[..] else { panic!("{explanation}") };
    assert_eq!(kernel.text.matches("GEMM:").count(), 2);
    assert_eq!(kernel.bytes_read, 3 * 600 * 64 * 4);
}

#[test]
fn an_explanation_is_json() {
    let device = device();
    let x = Tensor::ones::<f32>([8, 8], &device);
    let json: serde_json::Value =
        serde_json::from_str(&x.matmul(&x).relu().explain().to_json()).unwrap();
    let kernels = json["kernels"].as_array().unwrap();
    let gemm = kernels.last().unwrap();
    assert_eq!(gemm["flops"], 2 * 8 * 8 * 8 + 8 * 8);
    // Names of methods and of primitives.
    assert_eq!(gemm["ops"][0]["name"], "matmul");
    assert_eq!(gemm["ops"][0]["primitives"], serde_json::json!(["dot"]));
    assert_eq!(gemm["ops"][1]["name"], "relu");
    assert!(gemm["text"].as_str().unwrap().contains("GEMM: 1 × [8, 8] · [8, 8]"));
}

#[test]
fn an_explanation_is_an_html_page() {
    let device = device();
    let x = Tensor::ones::<f32>([64, 64], &device);
    let hidden = x.matmul(&x).layer_norm([1], None, None, 1e-5).gelu();
    let explanation = hidden.matmul(&x).softmax(1).sum([0]).explain();
    let page = explanation.to_html();
    assert_eq!(page.matches("class=\"kernel\"").count(), explanation.kernels.len());
    assert!(page.contains("class=\"edge\"") && page.contains("KiB"));
    assert!(!page.contains("http"), "the page loads no external resources");
    if let Some(path) = std::env::var_os("INFLIGHT_EXPLAIN_PAGE") {
        std::fs::write(path, page).unwrap();
    }
}

#[test]
fn a_closure_returns_one_tensor_or_several() {
    let device = device();
    let x = Tensor::ones::<f32>([8, 8], &device);
    x.wait().unwrap();
    let (a, b) = (x.exp(), x.sum(1));
    let written = |explanation: inflight::Explanation| -> usize {
        explanation.kernels.iter().map(|kernel| kernel.writes.len()).sum()
    };
    assert_eq!(written(explain(|| a.clone())), 1);
    assert_eq!(written(explain(|| &a)), 1);
    assert_eq!(written(explain(|| [a.clone(), b.clone()])), 2);
    assert_eq!(written(explain(|| [&a, &b])), 2);
    assert_eq!(written(explain(|| vec![a.clone(), b.clone()])), 2);
    let both = [a.clone(), b.clone()];
    assert_eq!(written(explain(|| &both[..])), 2);
    assert_eq!(written(explain(|| (a.clone(), &b))), 2);
    assert_eq!(written(explain(|| (&a, vec![b.clone()], [&a]))), 2);
    assert_eq!(written(explain(Vec::<Tensor>::new)), 0);
}

#[test]
fn a_composite_method_is_one_call() {
    let device = device();
    let x = Tensor::ones::<f32>([4, 16], &device);
    x.wait().unwrap();
    let last = |value: &Tensor| {
        let kernel = value.explain().kernels.pop().expect("a kernel");
        calls(&kernel).last().copied().expect("a call")
    };
    assert_eq!(last(&x.var(1, 1)), "var");
    assert_eq!(last(&x.logsumexp(1)), "logsumexp");
    assert_eq!(last(&x.clamp(0.0, 1.0)), "clamp");
    assert_eq!(last(&x.powi(3)), "powi");
    assert_eq!(last(&x.cumsum(1)), "cumsum");
    assert_eq!(last(&Tensor::randn::<f32>(0.0, 1.0, [4, 4], 1, &device)), "randn");
    assert_eq!(last(&Tensor::eye::<f32>(4, &device)), "eye");
    // A separate op is not a part of the preceding method.
    assert_eq!(last(&(x.softmax(1) + 1.0)), "add");
    // The outermost method is named: a mean inside layer_norm belongs to layer_norm.
    let norm = x.layer_norm(1, None, None, 1e-5).explain();
    assert_eq!(calls(&norm.kernels[0]), ["layer_norm"]);
}

#[test]
fn elements_under_overlapping_reads_count_once() {
    let device = device();
    let x = Tensor::ones::<f32>([100], &device);
    x.wait().unwrap();
    // A stencil reads elements 0..98, 1..99 and 2..100: all 100 elements, each counted once.
    let stencil = x.slice(0..98) + x.slice(1..99) + x.slice(2..100);
    assert_eq!(stencil.explain().kernels[0].bytes_read, 400);
    // The first convolution of a ResNet: 7 × 7 windows with stride 2 overlap about 12 times.
    let image = Tensor::ones::<f32>([2, 3, 64, 64], &device);
    let weight = Tensor::ones::<f32>([8, 3, 7, 7], &device);
    image.wait().unwrap();
    weight.wait().unwrap();
    let result = image.conv2d(&weight, None, ConvOptions::default().stride(2).padding(3));
    let operands = 4 * (2 * 3 * 64 * 64 + 8 * 3 * 7 * 7);
    let explanation = result.explain();
    assert_eq!(explanation.kernels.iter().map(|kernel| kernel.bytes_read).sum::<u64>(), operands);
}
