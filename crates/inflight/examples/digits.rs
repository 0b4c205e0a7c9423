//! Handwritten digits: softmax regression, then a network of two layers, both trained by gradient descent with
//! hand-written gradients. Run it with `cargo run --release -p inflight --example digits`.
//!
//! Ops are recorded, not run. The work of a step is fused, compiled once, and runs while the next step is recorded: the
//! loop reads the loss of an earlier step, never that of the step in flight.

use flate2::read::GzDecoder;
use inflight::{DType, Device, Pending, Result, Rng, Tensor, WaitReason};
use std::io::Read;

/// 1,797 images of 8 × 8 pixels from 0 to 16, one image per line, its digit last.
const DIGITS: &[u8] = include_bytes!("../../../programs/digits.csv.gz");
const PIXELS: usize = 64;
const CLASSES: usize = 10;
const REPORT_EVERY: usize = 50;

fn main() -> Result<()> {
    let device = Device::cpu();
    let (train, test) = load(&device)?;
    println!("{} training images, {} test images", train.len(), test.len());

    println!("\nSoftmax regression");
    let model = train_regression(&train, &device)?;
    let accuracy = test.accuracy(&model.logits(&test.images))?;
    println!("accuracy on the test images: {:.1} %", 100.0 * accuracy);
    assert!(accuracy > 0.93, "softmax regression did not learn");

    println!("\nTwo layers");
    let model = train_network(&train, &device)?;
    let accuracy = test.accuracy(&model.logits(&test.images))?;
    println!("accuracy on the test images: {:.1} %", 100.0 * accuracy);
    assert!(accuracy > 0.95, "the network did not learn");

    let stats = device.stats();
    println!("\n{} ops recorded, {} kernels launched", stats.recorded, stats.launches);
    println!("{} segments planned, {} plan cache hits", stats.plans, stats.plan_hits);
    println!("{} kernels compiled", stats.compiles);
    // Recording is faster than computing, so the queue fills up and recording waits for a step long before the one it
    // records, never for that step itself.
    let waits = |reason| stats.waits_for(reason);
    println!(
        "{} waits to read an accuracy, {} for a loss, {} for room in the queue",
        waits(WaitReason::Read),
        waits(WaitReason::Get),
        waits(WaitReason::Backpressure)
    );
    Ok(())
}

/// logits = images · weight + bias
struct Regression {
    weight: Tensor,
    bias: Tensor,
}

impl Regression {
    fn logits(&self, images: &Tensor) -> Tensor {
        images.matmul(&self.weight) + &self.bias
    }
}

fn train_regression(data: &Examples, device: &Device) -> Result<Regression> {
    const STEPS: usize = 300;
    const RATE: f32 = 0.5;
    let mut model = Regression {
        weight: Tensor::zeros::<f32>((PIXELS, CLASSES), device),
        bias: Tensor::zeros::<f32>(CLASSES, device),
    };
    let mut progress = Progress::default();
    for step in 0..=STEPS {
        let logits = model.logits(&data.images);
        progress.report(step, || data.loss(&logits))?;
        let error = data.logit_gradient(&logits);
        model.weight -= data.images.transpose().matmul(&error) * RATE;
        model.bias -= error.sum(0) * RATE;
        device.flush();
    }
    progress.finish()?;
    Ok(model)
}

/// hidden = relu(images · weights\[0\] + biases\[0\]); logits = hidden · weights\[1\] + biases\[1\]
struct Network {
    weights: [Tensor; 2],
    biases: [Tensor; 2],
}

impl Network {
    fn hidden(&self, images: &Tensor) -> Tensor {
        (images.matmul(&self.weights[0]) + &self.biases[0]).relu()
    }

    fn output(&self, hidden: &Tensor) -> Tensor {
        hidden.matmul(&self.weights[1]) + &self.biases[1]
    }

    fn logits(&self, images: &Tensor) -> Tensor {
        self.output(&self.hidden(images))
    }
}

fn train_network(data: &Examples, device: &Device) -> Result<Network> {
    const STEPS: usize = 400;
    const RATE: f32 = 0.5;
    const HIDDEN: usize = 64;
    // He initialization keeps the variance of the activations from layer to layer.
    let mut rng = Rng::new(1);
    let mut random = |inputs: usize, outputs: usize| {
        let deviation = (2.0 / inputs as f64).sqrt();
        rng.normal::<f32>(0.0, deviation, (inputs, outputs), device)
    };
    let mut model = Network {
        weights: [random(PIXELS, HIDDEN), random(HIDDEN, CLASSES)],
        biases: [HIDDEN, CLASSES].map(|extent| Tensor::zeros::<f32>(extent, device)),
    };
    let mut progress = Progress::default();
    for step in 0..=STEPS {
        let hidden = model.hidden(&data.images);
        let logits = model.output(&hidden);
        progress.report(step, || data.loss(&logits))?;
        // The gradient of the hidden layer passes where relu was active.
        let error = data.logit_gradient(&logits);
        let active = hidden.gt(0).to::<f32>();
        let hidden_error = error.matmul(&model.weights[1].transpose()) * active;
        let layers = [(&data.images, &hidden_error), (&hidden, &error)];
        for (layer, (input, error)) in layers.into_iter().enumerate() {
            model.weights[layer] -= input.transpose().matmul(error) * RATE;
            model.biases[layer] -= error.sum(0) * RATE;
        }
        device.flush();
    }
    progress.finish()?;
    Ok(model)
}

/// Images and their labels.
struct Examples {
    /// One image in each row, pixels from 0 to 1.
    images: Tensor,
    /// The digit of each image.
    labels: Tensor,
    /// One row for each image, with a one at its digit.
    targets: Tensor,
}

impl Examples {
    fn new(images: Vec<f32>, labels: Vec<i64>, device: &Device) -> Result<Examples> {
        let count = labels.len();
        let labels = Tensor::from_vec(labels, count, device)?;
        Ok(Examples {
            images: Tensor::from_vec(images, (count, PIXELS), device)? / 16,
            targets: labels.one_hot(CLASSES, DType::F32),
            labels,
        })
    }

    fn len(&self) -> usize {
        self.labels.element_count()
    }

    /// The mean cross entropy.
    fn loss(&self, logits: &Tensor) -> Tensor {
        -(logits.log_softmax(1) * &self.targets).sum(1).mean_all()
    }

    /// The gradient of [`loss`](Examples::loss) with respect to the logits.
    fn logit_gradient(&self, logits: &Tensor) -> Tensor {
        (logits.softmax(1) - &self.targets) / self.len()
    }

    /// The share of images whose digit has the largest logit. Reading it waits.
    fn accuracy(&self, logits: &Tensor) -> Result<f32> {
        logits.argmax(1).eq(&self.labels).to::<f32>().mean_all().item()
    }
}

/// Prints the loss of a step when the next report is due: by then it is computed, and the read does not wait.
#[derive(Default)]
struct Progress {
    last: Option<(usize, Pending<f32>)>,
}

impl Progress {
    fn report(&mut self, step: usize, loss: impl FnOnce() -> Tensor) -> Result<()> {
        if step.is_multiple_of(REPORT_EVERY) {
            let next = (step, loss().item_async());
            self.finish()?;
            self.last = Some(next);
        }
        Ok(())
    }

    fn finish(&mut self) -> Result<()> {
        if let Some((step, loss)) = self.last.take() {
            println!("step {step:3}: loss {:.4}", loss.get()?);
        }
        Ok(())
    }
}

/// The training images and, every fifth one, the test images.
fn load(device: &Device) -> Result<(Examples, Examples)> {
    let mut text = String::new();
    GzDecoder::new(DIGITS).read_to_string(&mut text).expect("the data is part of the example");
    let mut parts = [(Vec::new(), Vec::new()), (Vec::new(), Vec::new())];
    for (number, line) in text.lines().enumerate() {
        let (images, labels) = &mut parts[usize::from(number % 5 == 4)];
        let mut values = line.split(',').map(|value| value.parse::<f32>().expect("a number"));
        images.extend(values.by_ref().take(PIXELS));
        labels.push(values.next().expect("a digit") as i64);
    }
    let [train, test] = parts;
    Ok((Examples::new(train.0, train.1, device)?, Examples::new(test.0, test.1, device)?))
}
