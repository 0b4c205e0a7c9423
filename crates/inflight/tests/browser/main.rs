//! The HTML page of an explanation, rendered by a browser.
//!
//! Needs Chromium: the one that `INFLIGHT_BROWSER` names, or `chromium`. Without one the test is reported as ignored; it
//! fails if the named one does not start.

#[path = "../support/mod.rs"]
mod support;

use inflight::{Explanation, Tensor, explain};
use inflight_testkit::{harness, tests};
use serde_json::Value;
use std::path::PathBuf;
use std::process::{Command, ExitCode};
use support::folder::Folder;

/// A script appended to the page that measures the rendered elements and stores the result in the DOM.
const MEASURE: &str = r#"<script>
const bounds = (shape) => {
  const { left, top, right, bottom } = shape.getBoundingClientRect();
  return { left, top, right, bottom, text: shape.textContent };
};
const all = (selector) => [...document.querySelectorAll(selector)];
const found = {
  boxes: all('svg .kernel').map(bounds),
  lines: all('svg text:not(.bytes)').map(bounds),
  labels: all('svg .bytes').map(bounds),
  edges: all('svg .edge').map((edge) => edge.getTotalLength()),
  picture: bounds(document.querySelector('svg')),
  targets: all('svg a').map((link) => document.querySelector(link.getAttribute('href')) !== null),
};
const measured = document.createElement('pre');
measured.id = 'measured';
measured.textContent = JSON.stringify(found);
document.body.append(measured);
</script></body>"#;

struct Found {
    boxes: Vec<Bounds>,
    lines: Vec<Bounds>,
    labels: Vec<Bounds>,
    edges: Vec<f64>,
    picture: Bounds,
    targets: Vec<bool>,
}

/// The bounding box of a rendered element, with its text for messages.
#[derive(Debug)]
#[expect(dead_code, reason = "the text is only printed")]
struct Bounds {
    left: f64,
    top: f64,
    right: f64,
    bottom: f64,
    text: String,
}

impl Found {
    fn of(found: &Value) -> Found {
        let list = |name: &str| -> Vec<Bounds> {
            found[name].as_array().unwrap().iter().map(Bounds::of).collect()
        };
        let edges = found["edges"].as_array().unwrap().iter();
        let targets = found["targets"].as_array().unwrap().iter();
        Found {
            boxes: list("boxes"),
            lines: list("lines"),
            labels: list("labels"),
            edges: edges.map(|length| length.as_f64().unwrap()).collect(),
            picture: Bounds::of(&found["picture"]),
            targets: targets.map(|found| found.as_bool().unwrap()).collect(),
        }
    }
}

impl Bounds {
    fn of(bounds: &Value) -> Bounds {
        let [left, top, right, bottom] =
            ["left", "top", "right", "bottom"].map(|side| bounds[side].as_f64().unwrap());
        Bounds { left, top, right, bottom, text: bounds["text"].as_str().unwrap().to_owned() }
    }

    fn contains(&self, other: &Bounds) -> bool {
        self.left <= other.left
            && other.right <= self.right
            && self.top <= other.top
            && other.bottom <= self.bottom
    }

    fn overlaps(&self, other: &Bounds) -> bool {
        self.left < other.right
            && other.left < self.right
            && self.top < other.bottom
            && other.top < self.bottom
    }
}

tests![explanation_page_renders_in_a_browser];

fn main() -> ExitCode {
    harness::run([(browser().map(drop), TESTS)])
}

fn explanation_page_renders_in_a_browser() {
    let browser = browser().unwrap();
    let device = support::cpu_device();
    let x = Tensor::ones::<f32>([512, 512], &device);
    let [a, b, c] = [1.0, 2.0, 3.0].map(|value: f32| Tensor::full(value, [512], &device));
    for tensor in [&x, &a, &b, &c] {
        tensor.wait().unwrap();
    }
    // A chain of kernels, a result with a distant reader, and a kernel with many inputs.
    let explanation = explain(|| {
        let hidden = x.matmul(&x).layer_norm([1], Some(&a), Some(&b), 1e-5).gelu();
        let sums = hidden.sum([0]);
        let mixed = hidden.matmul(&x).softmax(1) * &sums + &a * &b - &c;
        [mixed.sum([0]) + sums]
    });
    assert!(explanation.kernels.len() > 2, "{explanation}");
    let found = render(&browser, &explanation);

    assert_eq!(found.boxes.len(), explanation.kernels.len());
    assert!(found.targets.iter().all(|found| *found), "a box links to its kernel's text");
    for (position, rendered) in found.boxes.iter().enumerate() {
        assert!(
            rendered.right - rendered.left > 100.0 && rendered.bottom - rendered.top > 30.0,
            "{rendered:?}"
        );
        assert!(found.picture.contains(rendered), "{rendered:?} is outside of the picture");
        for other in &found.boxes[position + 1..] {
            assert!(!rendered.overlaps(other), "{rendered:?} overlaps {other:?}");
        }
    }
    for line in &found.lines {
        assert!(
            found.boxes.iter().any(|rendered| rendered.contains(line)),
            "{line:?} is in no box"
        );
    }
    let reads: usize = explanation.kernels.iter().map(|kernel| kernel.reads.len()).sum();
    assert_eq!((found.edges.len(), found.labels.len()), (reads, reads));
    assert!(found.edges.iter().all(|length| *length > 10.0), "{:?}", found.edges);
    for (position, label) in found.labels.iter().enumerate() {
        assert!(found.picture.contains(label), "{label:?} is outside of the picture");
        for other in found.labels[position + 1..].iter().chain(&found.boxes) {
            assert!(!label.overlaps(other), "{label:?} overlaps {other:?}");
        }
    }
}

/// Renders the page in a browser and asserts that the console is empty.
fn render(browser: &str, explanation: &Explanation) -> Found {
    let folder = Folder::new("page");
    let page = explanation.to_html();
    let path: PathBuf = folder.file("page.html");
    std::fs::write(&path, page.replace("</body>", MEASURE)).unwrap();
    let output = Command::new(browser)
        .args(["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"])
        .args(["--disable-background-networking", "--disable-component-update", "--disable-sync"])
        .args(["--window-size=1200,2400", "--enable-logging=stderr", "--dump-dom"])
        .arg(format!("--user-data-dir={}", folder.file("profile").display()))
        .arg(format!("file://{}", path.display()))
        .output()
        .expect("the browser failed to start");
    let (dom, log) =
        (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{log}");
    let messages: Vec<&str> = log.lines().filter(|line| line.contains("CONSOLE")).collect();
    assert!(messages.is_empty(), "{messages:?}");
    let measured = dom.split("<pre id=\"measured\">").nth(1).expect("the page was measured");
    let measured = measured.split("</pre>").next().unwrap();
    let measured = measured.replace("&gt;", ">").replace("&lt;", "<").replace("&amp;", "&");
    Found::of(&serde_json::from_str(&measured).unwrap())
}

/// The browser to use. The error names the missing program.
fn browser() -> Result<String, String> {
    if let Ok(named) = std::env::var("INFLIGHT_BROWSER") {
        return Ok(named);
    }
    match Command::new("chromium").arg("--version").output() {
        Ok(version) if version.status.success() => Ok("chromium".to_owned()),
        _ => Err("needs Chromium: install it, or name a browser in INFLIGHT_BROWSER".to_owned()),
    }
}
