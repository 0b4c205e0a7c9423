//! A small convolutional network: fixed edge filters, max pooling, and a linear classifier trained by gradient descent.
//! Run it with `cargo run -p inflight --example convnet`.

use inflight::{ConvOptions, DType, Device, PoolOptions, Result, Rng, Tensor};

const SIZE: usize = 12;
const CLASSES: usize = 4;

/// Noisy images of stripes, `[n, 1, SIZE, SIZE]`, and their direction: horizontal, vertical or one of the diagonals.
fn stripes(n: usize, rng: &mut Rng, device: &Device) -> (Tensor, Tensor) {
    let row = Tensor::arange(0..SIZE as i32, device).unsqueeze(1).expand((SIZE, SIZE));
    let column = row.transpose();
    let phases = Tensor::stack([&row, &column, &(&row + &column), &(&row - &column)], 0);

    let labels = rng.randint(0..CLASSES as i64, n, device);
    let offsets = rng.randint(0..4, (n, 1, 1), device);
    let bright = ((phases.index_select(0, &labels) + offsets) % 4).eq(0);
    let noise = 0.3 * rng.randn::<f32>((n, SIZE, SIZE), device);
    ((bright.to::<f32>() + noise).unsqueeze(1), labels)
}

/// A convolutional layer and a linear one.
struct Network {
    filters: Tensor,
    weight: Tensor,
    bias: Tensor,
}

impl Network {
    fn new(device: &Device) -> Network {
        let filters = Tensor::from_array(
            [
                [[-1.0f32, -1.0, -1.0], [2.0, 2.0, 2.0], [-1.0, -1.0, -1.0]],
                [[-1.0, 2.0, -1.0], [-1.0, 2.0, -1.0], [-1.0, 2.0, -1.0]],
                [[-1.0, -1.0, 2.0], [-1.0, 2.0, -1.0], [2.0, -1.0, -1.0]],
                [[2.0, -1.0, -1.0], [-1.0, 2.0, -1.0], [-1.0, -1.0, 2.0]],
            ],
            device,
        );
        let features = 4 * 3 * 3;
        Network {
            filters: filters.unsqueeze(1) / 6,
            weight: Tensor::zeros::<f32>((features, CLASSES), device),
            bias: Tensor::zeros::<f32>(CLASSES, device),
        }
    }

    /// `[n, features]`: how strongly each region of an image answers to each filter.
    fn features(&self, images: &Tensor) -> Tensor {
        images
            .conv2d(&self.filters, None, ConvOptions::default().padding(1))
            .relu()
            .max_pool2d(PoolOptions::new(4))
            .flatten_from(1)
    }

    fn logits(&self, features: &Tensor) -> Tensor {
        features.matmul(&self.weight) + &self.bias
    }

    /// One step of gradient descent on the cross entropy; the gradient of the logits is `softmax - target`.
    fn step(&mut self, features: &Tensor, targets: &Tensor, rate: f32) -> Tensor {
        let logits = self.logits(features);
        let n = features.shape()[0];
        let gradient = (logits.softmax(1) - targets) / n;
        self.weight -= features.transpose().matmul(&gradient) * rate;
        self.bias -= gradient.sum(0) * rate;
        -(logits.log_softmax(1) * targets).sum(1).mean_all()
    }
}

fn main() -> Result<()> {
    let device = Device::cpu();
    let mut rng = Rng::new(1);
    let (images, labels) = stripes(200, &mut rng, &device);
    let (test_images, test_labels) = stripes(100, &mut rng, &device);

    let mut network = Network::new(&device);
    let features = network.features(&images);
    let targets = labels.one_hot(CLASSES, DType::F32);
    let losses: Vec<Tensor> = (0..40).map(|_| network.step(&features, &targets, 1.0)).collect();
    let losses = Tensor::stack(&losses, 0).to_vec::<f32>()?;
    println!("loss {:.3} before training, {:.3} after", losses[0], losses[losses.len() - 1]);

    let found = network.logits(&network.features(&test_images)).argmax(1);
    let accuracy = found.eq(&test_labels).to::<f32>().mean_all().item::<f32>()?;
    println!("accuracy on new images: {:.0} %", 100.0 * accuracy);
    assert!(losses[losses.len() - 1] < 0.5 * losses[0]);
    assert!(accuracy > 0.95, "accuracy {accuracy}");
    Ok(())
}
