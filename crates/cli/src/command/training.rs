//! `inflight train`: handwritten digits, learned by a training step that JAX exported.
//!
//! Steps are executed one after another without waiting: while one runs, the next batch is prepared, and the
//! loss that is shown is that of the step before.

use crate::outcome::{Failure, Outcome, device};
use crate::progress::Progress;
use flate2::read::GzDecoder;
use inflight::{DType, Device, Executable, Pending, Program, Result, Tensor};
use std::io::Read;
use std::path::PathBuf;
use std::time::Instant;

/// 1,797 images of 8 × 8 pixels from 0 to 16, one a line, the digit last.
const DIGITS: &[u8] = include_bytes!("../../../inflight/examples/data/digits.csv.gz");
/// `bench/peers/export_digits.py` wrote these two.
const STEP: &str = include_str!("../../../../programs/digits_step.mlir");
const PREDICT: &str = include_str!("../../../../programs/digits_predict.mlir");

const PIXELS: usize = 64;
/// Every fifth image is kept for testing.
const TEST_EVERY: usize = 5;
/// Of the step's results, all but the last are arguments of the next step; the last is the loss.
const STATE: usize = 13;
/// The first of these are the parameters.
const PARAMETERS: usize = 4;

/// How to train.
#[derive(clap::Args)]
pub struct Arguments {
    /// How many times to go through the images.
    #[arg(long, default_value_t = 30)]
    epochs: usize,
    /// What batches and first weights are drawn from.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// A training step to use instead of the one that comes with the command; with the same arguments.
    #[arg(long, value_name = "FILE")]
    step: Option<PathBuf>,
    /// Where it runs.
    #[arg(long, default_value = "cpu")]
    device: String,
}

/// Trains, and reports what was learned.
pub fn train(arguments: &Arguments) -> Outcome {
    let device = device(&arguments.device)?;
    let program = match &arguments.step {
        Some(path) => Program::load(path)?,
        None => Program::parse(STEP)?,
    };
    let step = device.compile(&program)?;
    if step.arguments().len() != STATE + 2 || step.results().len() != STATE + 1 {
        return Err(Failure::misuse(format!(
            "{}: expected a step of {} arguments and {} results",
            step.name(),
            STATE + 2,
            STATE + 1
        )));
    }
    let batch = step.arguments()[STATE].extents[0].unwrap_or(PIXELS);
    let (train, test) = load();
    let mut state = first_state(&step, arguments.seed, &device);
    let mut batches = Batches::new(&train, batch, arguments.seed);
    let steps = arguments.epochs * (train.len() / batch);
    let mut progress = Progress::new(steps);
    let mut last: Option<Pending<f32>> = None;
    let (mut first_loss, mut loss) = (None, f32::NAN);
    let began = Instant::now();
    for number in 0..steps {
        // Prepared while the step before runs.
        let (images, labels) = batches.next(&device)?;
        let mut inputs: Vec<&Tensor> = state.iter().collect();
        inputs.extend([&images, &labels]);
        let mut results = step.execute(&inputs)?;
        let newest = results.pop().expect("the step's last result is its loss").item_async();
        state = results;
        if let Some(before) = last.replace(newest) {
            loss = before.get()?;
            first_loss.get_or_insert(loss);
        }
        progress.show(number + 1, || {
            let rate = (number + 1) as f64 / began.elapsed().as_secs_f64();
            format!("loss {loss:.4}, {rate:.0} steps a second")
        });
    }
    if let Some(last) = last {
        loss = last.get()?;
    }
    let seconds = began.elapsed().as_secs_f64();
    drop(progress);
    let accuracy = accuracy(&state[..PARAMETERS], &test, &device)?;
    Ok(format!(
        "{} images learned in {steps} steps of {batch}: {:.0} steps a second\n\
         loss {:.4} at first, {loss:.4} in the end\n\
         accuracy on {} other images: {:.1} %",
        train.len(),
        steps as f64 / seconds,
        first_loss.unwrap_or(loss),
        test.len(),
        100.0 * accuracy
    ))
}

/// Random weights; biases, moments and the step's number are zero.
fn first_state(step: &Executable, seed: u64, device: &Device) -> Vec<Tensor> {
    let types = step.arguments()[..STATE].iter().enumerate();
    let state = types.map(|(number, ty)| {
        let extents: Vec<usize> = ty.extents.iter().map(|extent| extent.unwrap_or(1)).collect();
        match extents.len() {
            2 if number < PARAMETERS => {
                let deviation = (2.0 / extents[0] as f64).sqrt();
                Tensor::randn::<f32>(extents, 0.0, deviation, seed + number as u64, device)
            }
            _ => Tensor::zeros_of(ty.dtype, extents, device),
        }
    });
    state.collect()
}

/// The share of images whose digit is predicted.
fn accuracy(parameters: &[Tensor], test: &[Image], device: &Device) -> Result<f32> {
    let predict = device.compile(&Program::parse(PREDICT)?)?;
    let (images, labels) = tensors(test.iter(), device)?;
    let mut inputs: Vec<&Tensor> = parameters.iter().collect();
    inputs.push(&images);
    let predicted = &predict.execute(&inputs)?[0];
    predicted.eq(&labels).cast(DType::F32).mean().item()
}

/// An image, pixels from 0 to 1, and what is on it.
struct Image {
    pixels: Vec<f32>,
    label: i32,
}

/// The images to learn from, and those to test with.
fn load() -> (Vec<Image>, Vec<Image>) {
    let mut text = String::new();
    GzDecoder::new(DIGITS).read_to_string(&mut text).expect("the data is part of the command");
    let (mut train, mut test) = (Vec::new(), Vec::new());
    for (number, line) in text.lines().enumerate() {
        let mut values = line.split(',').map(|value| value.parse::<f32>().expect("a number"));
        let pixels = values.by_ref().take(PIXELS).map(|pixel| pixel / 16.0).collect();
        let label = values.next().expect("a digit") as i32;
        let part = if number % TEST_EVERY == TEST_EVERY - 1 { &mut test } else { &mut train };
        part.push(Image { pixels, label });
    }
    (train, test)
}

fn tensors<'a>(
    images: impl Iterator<Item = &'a Image>,
    device: &Device,
) -> Result<(Tensor, Tensor)> {
    let (mut pixels, mut labels) = (Vec::new(), Vec::new());
    for image in images {
        pixels.extend_from_slice(&image.pixels);
        labels.push(image.label);
    }
    let count = labels.len();
    let images = Tensor::from_vec(pixels, [count, PIXELS], device)?;
    Ok((images, Tensor::from_vec(labels, [count], device)?))
}

/// Batches of images in a random order, without end.
struct Batches<'a> {
    images: &'a [Image],
    batch: usize,
    order: Vec<usize>,
    random: u64,
}

impl<'a> Batches<'a> {
    fn new(images: &'a [Image], batch: usize, seed: u64) -> Batches<'a> {
        Batches { images, batch, order: Vec::new(), random: seed }
    }

    fn next(&mut self, device: &Device) -> Result<(Tensor, Tensor)> {
        if self.order.len() < self.batch {
            self.order = (0..self.images.len()).collect();
            for last in (1..self.order.len()).rev() {
                let other = (self.draw() % (last as u64 + 1)) as usize;
                self.order.swap(last, other);
            }
        }
        let chosen = self.order.split_off(self.order.len() - self.batch);
        tensors(chosen.iter().map(|&position| &self.images[position]), device)
    }

    /// The next number of a splitmix generator.
    fn draw(&mut self) -> u64 {
        self.random = self.random.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.random ^ (self.random >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }
}
