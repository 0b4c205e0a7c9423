//! Explanations: which ops fused, and why a kernel ended.

use crate::device;
use inflight::{Tensor, explain};

#[test]
fn a_softmax_is_one_kernel_that_was_asked_for() {
    let device = device();
    let x = Tensor::ones::<f32>([64, 100], &device);
    x.wait().unwrap();
    let line = line!() + 1;
    let explanation = explain(|| [x.softmax(1)]);
    let [kernel] = &explanation.kernels[..] else { panic!("{explanation}") };
    let names: Vec<&str> = kernel.ops.iter().map(|op| op.name).collect();
    for name in ["max", "sub", "exp", "sum", "mul"] {
        assert!(names.contains(&name), "{names:?}");
    }
    assert!(kernel.ops.iter().all(|op| op.location.contains(&format!("explain.rs:{line}"))));
    assert_eq!(kernel.writes.len(), 1);
    assert_eq!(kernel.writes[0].reason, "requested output");
    assert_eq!((kernel.bytes_read, kernel.bytes_written), (64 * 100 * 4, 64 * 100 * 4));
    // Nothing ran.
    assert_eq!(device.stats().launches, 1);
    let text = explanation.to_string();
    assert!(text.contains("1 kernel,") && text.contains("reduce"), "{text}");
}

#[test]
fn a_kernel_says_why_it_ends() {
    let device = device();
    let x = Tensor::ones::<f32>([64, 100], &device);
    // The columns' sums are needed by rows, and the product of the result by nobody else.
    let explanation = (&x / x.sum_keepdim([0]).sum_keepdim([1])).explain();
    let reasons: Vec<&str> =
        explanation.kernels.iter().map(|kernel| kernel.writes[0].reason.as_str()).collect();
    assert!(reasons.contains(&"reduction axes differ from its consumer's"), "{reasons:?}");
    assert_eq!(reasons.last(), Some(&"requested output"));

    // Two products read what is added up: it is not worth to be added up for each.
    let sum = (&x + 1.0).tanh();
    let product = x.transpose().matmul(&sum).exp() + sum.transpose().matmul(&x);
    drop(sum);
    let explanation = product.explain();
    let reasons: Vec<&str> =
        explanation.kernels.iter().map(|kernel| kernel.writes[0].reason.as_str()).collect();
    assert!(reasons.contains(&"GEMM operand"), "{reasons:?}");
}

#[test]
fn what_surrounds_a_product_is_in_its_kernel() {
    let device = device();
    let x = Tensor::ones::<f32>([300, 64], &device);
    x.wait().unwrap();
    // Only the first product reads what is normalized: it is a part of it, as what follows is.
    let explanation =
        explain(|| [x.layer_norm([1], None, None, 1e-5).matmul(&x.transpose()).gelu()]);
    let [kernel] = &explanation.kernels[..] else { panic!("{explanation}") };
    let names: Vec<&str> = kernel.ops.iter().map(|op| op.name).collect();
    for name in ["sum", "rsqrt", "dot", "erf"] {
        assert!(names.contains(&name), "{names:?}");
    }
    // The operand is nowhere: what is read is what it is computed from.
    assert_eq!((kernel.reads.len(), kernel.writes.len()), (1, 1));
    assert!(kernel.text.contains("block by block the left operand of the\nproduct of 1"));
    assert!(kernel.arithmetic > 2 * 300 * 300 * 64);

    let long = Tensor::ones::<f32>([600, 64], &device);
    long.wait().unwrap();
    let explanation = explain(|| [long.matmul(&long.transpose()).softmax(1).matmul(&long)]);
    let [kernel] = &explanation.kernels[..] else { panic!("{explanation}") };
    assert_eq!(kernel.text.matches("product of").count(), 2);
    assert_eq!(kernel.bytes_read, 3 * 600 * 64 * 4);
}

#[test]
fn an_explanation_is_json() {
    let device = device();
    let x = Tensor::ones::<f32>([8, 8], &device);
    let json: serde_json::Value =
        serde_json::from_str(&x.matmul(&x).relu().explain().to_json()).unwrap();
    let kernels = json["kernels"].as_array().unwrap();
    let product = kernels.last().unwrap();
    assert_eq!(product["arithmetic"], 2 * 8 * 8 * 8 + 8 * 8);
    assert!(product["text"].as_str().unwrap().contains("product of 1"));
}

#[test]
fn an_explanation_is_a_page() {
    let device = device();
    let x = Tensor::ones::<f32>([64, 64], &device);
    let hidden = x.matmul(&x).layer_norm([1], None, None, 1e-5).gelu();
    let explanation = hidden.matmul(&x).softmax(1).sum([0]).explain();
    let page = explanation.to_html();
    assert_eq!(page.matches("class=\"kernel\"").count(), explanation.kernels.len());
    assert!(page.contains("class=\"edge\"") && page.contains("KiB"));
    assert!(!page.contains("http"), "nothing from outside");
    if let Some(path) = std::env::var_os("INFLIGHT_EXPLAIN_PAGE") {
        std::fs::write(path, page).unwrap();
    }
}
