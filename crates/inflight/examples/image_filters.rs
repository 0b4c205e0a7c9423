//! Image processing on a synthetic picture: Gaussian blur and Sobel edges as convolutions, histogram equalization with
//! a scatter, a scan and a gather. Run it with `cargo run -p inflight --example image_filters`.

use inflight::{ConvOptions, Device, Result, Tensor, assert_close};

const SIZE: usize = 48;
const LEVELS: usize = 64;

/// A bright disc on a dark slope, `[SIZE, SIZE]`, from 0 to 1.
fn picture(device: &Device) -> Tensor {
    let y = Tensor::linspace(-1.0f32, 1.0, SIZE, device).unsqueeze(1);
    let x = y.transpose();
    let disc = (x.square() + y.square()).lt(0.25);
    disc.where_cond(0.5, 0.1 * (x + 1)) + 0.05 * (y + 1)
}

/// The convolution with one kernel, at the positions where it fits in the image.
fn filter(image: &Tensor, kernel: &Tensor) -> Tensor {
    let image = image.reshape((1, 1, SIZE, -1));
    image.conv2d(&kernel.unsqueeze(0).unsqueeze(0), None, ConvOptions::default()).slice((0, 0))
}

/// A blur with weights 1 4 6 4 1 in both directions.
fn blur(image: &Tensor) -> Tensor {
    let weights = Tensor::from([1.0f32, 4.0, 6.0, 4.0, 1.0]) / 16;
    filter(image, &(weights.unsqueeze(1) * weights))
}

/// The magnitude of the gradient.
fn sobel(image: &Tensor) -> Tensor {
    let horizontal = Tensor::from([[-1.0f32, 0.0, 1.0], [-2.0, 0.0, 2.0], [-1.0, 0.0, 1.0]]);
    let (gx, gy) = (filter(image, &horizontal), filter(image, &horizontal.transpose()));
    (gx.square() + gy.square()).sqrt()
}

fn histogram(image: &Tensor) -> (Tensor, Tensor) {
    let levels = (image * LEVELS).to::<i64>().clamp(0, LEVELS - 1).flatten();
    let zeros = Tensor::zeros::<f32>(LEVELS, image.device());
    let counts = zeros.index_add(0, &levels, &levels.ones_like().to::<f32>());
    (levels, counts)
}

/// Maps each level to the share of pixels that are not brighter, so that all levels are used alike.
fn equalize(image: &Tensor) -> Tensor {
    let (levels, counts) = histogram(image);
    let shares = counts.cumsum(0) / image.element_count();
    shares.take(&levels).reshape(image.shape())
}

fn main() -> Result<()> {
    let image = picture(&Device::cpu());

    let blurred = blur(&image);
    assert_eq!(blurred.shape(), [SIZE - 4, SIZE - 4]);
    // A blur keeps the mean and takes away contrast.
    let inside = image.slice((2..SIZE - 2, 2..SIZE - 2));
    assert_close!(blurred.mean_all(), inside.mean_all(), 1e-2);
    assert!(blurred.std_all(0).item::<f32>()? < inside.std_all(0).item::<f32>()?);

    // The strongest edge is the outline of the disc, half of the way from the center to the border.
    let edges = sobel(&image);
    let strongest: usize = edges.argmax_all().item()?;
    let center = (SIZE as f64 - 3.0) / 2.0;
    let (row, column) = (strongest / (SIZE - 2), strongest % (SIZE - 2));
    let radius = (row as f64 - center).hypot(column as f64 - center);
    println!("the strongest edge is {radius:.1} pixels from the center");
    assert!((radius - SIZE as f64 / 4.0).abs() < 2.0);

    let equalized = equalize(&image);
    let spread = |x: &Tensor| x.std_all(0).item::<f32>();
    println!("standard deviation {:.3}, equalized {:.3}", spread(&image)?, spread(&equalized)?);
    assert!(spread(&equalized)? > spread(&image)?);
    assert_close!(equalized.max_all(), 1.0);
    assert_close!(histogram(&image).1.sum_all(), (SIZE * SIZE) as f64);
    Ok(())
}
