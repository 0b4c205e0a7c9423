//! Host preparation and device work, one after the other or at the same time.
//! `cargo bench -p inflight --bench pipeline`
//!
//! Each step prepares a batch on the host, uploads it, computes on the device, and logs a loss. How the loss is
//! read decides whether the next batch is prepared meanwhile. The device has one core less than the machine.

use inflight::{CpuOptions, Device, Pending, Result, Tensor};
use std::hint::black_box;
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

/// What is measured: so many steps of so much preparation and so many products of square matrices.
struct Pipeline {
    device: Device,
    steps: usize,
    preparation: Duration,
    extent: usize,
    products: usize,
}

impl Pipeline {
    /// Keeps a core busy with making a batch.
    fn prepare(&self, step: usize) -> Vec<f32> {
        let begun = Instant::now();
        let elements = self.extent * self.extent;
        let batch = (0..elements).map(|i| ((i + step) % 7) as f32 * 0.01).collect();
        let mut busy = 1.0f32;
        while begun.elapsed() < self.preparation {
            busy = black_box(busy).mul_add(0.999, 1e-3);
        }
        batch
    }

    /// Records a step and returns its loss.
    fn step(&self, batch: Vec<f32>, weights: &Tensor) -> Result<Tensor> {
        let mut x = Tensor::from_vec(batch, [self.extent, self.extent], &self.device)?;
        for _ in 0..self.products {
            x = x.matmul(weights).tanh();
        }
        Ok(x.square().mean())
    }

    fn weights(&self) -> Tensor {
        Tensor::randn::<f32>([self.extent, self.extent], 0.0, 0.05, 1, &self.device)
    }

    /// Device work alone, a step.
    fn device_alone(&self) -> Result<Duration> {
        let weights = self.weights();
        let batches: Vec<_> = (0..6).map(|step| self.prepare(step)).collect();
        let mut fastest = Duration::MAX;
        for batch in batches {
            self.device.sync()?;
            let begun = Instant::now();
            black_box(self.step(batch, &weights)?.item::<f32>()?);
            fastest = fastest.min(begun.elapsed());
        }
        Ok(fastest)
    }

    /// Reads each loss where it is made.
    fn sync(&self) -> Result<f32> {
        let weights = self.weights();
        let mut sum = 0.0;
        for step in 0..self.steps {
            let batch = self.prepare(step);
            sum += self.step(batch, &weights)?.item::<f32>()?;
        }
        Ok(sum)
    }

    /// Asks for each loss without waiting, and waits for it at once.
    fn naive(&self) -> Result<f32> {
        let weights = self.weights();
        let mut sum = 0.0;
        for step in 0..self.steps {
            let batch = self.prepare(step);
            let loss = self.step(batch, &weights)?.item_async::<f32>();
            sum += loss.get()?;
        }
        Ok(sum)
    }

    /// Asks for each loss without waiting, and looks at it when the next batch is under way.
    fn log_previous(&self) -> Result<f32> {
        let weights = self.weights();
        let mut sum = 0.0;
        let mut previous: Option<Pending<f32>> = None;
        for step in 0..self.steps {
            let batch = self.prepare(step);
            let loss = self.step(batch, &weights)?.item_async::<f32>();
            if let Some(previous) = previous.replace(loss) {
                sum += previous.get()?;
            }
        }
        Ok(sum + previous.map_or(Ok(0.0), Pending::get)?)
    }

    /// Prepares on another thread, two batches ahead at most.
    fn loader(&self) -> Result<f32> {
        let weights = self.weights();
        let (send, batches) = mpsc::sync_channel(2);
        thread::scope(|scope| {
            scope.spawn(move || {
                let prepared = (0..self.steps).map(|step| self.prepare(step));
                prepared.take_while(|batch| send.send(batch.clone()).is_ok()).for_each(drop);
            });
            let mut sum = 0.0;
            for batch in batches {
                sum += self.step(batch, &weights)?.item::<f32>()?;
            }
            Ok(sum)
        })
    }

    fn table(&self) -> Result<()> {
        let alone = self.device_alone()?;
        let (least, most) = (alone.max(self.preparation), alone + self.preparation);
        println!(
            "{} steps, {:.1} ms of preparation, {:.1} ms of device work ({} products of {}²)",
            self.steps,
            milliseconds(self.preparation),
            milliseconds(alone),
            self.products,
            self.extent
        );
        println!("| how | ms a step | of the larger part ({:.1} ms) |", milliseconds(least));
        println!("|---|---|---|");
        println!(
            "| both parts, one after the other | {:.1} | {:.2} |",
            milliseconds(most),
            ratio(most, least)
        );
        type Way = fn(&Pipeline) -> Result<f32>;
        let ways: [(&str, Way); 4] = [
            ("sync", Pipeline::sync),
            ("naive async", Pipeline::naive),
            ("log the previous step", Pipeline::log_previous),
            ("loader thread", Pipeline::loader),
        ];
        let mut sums = Vec::new();
        for (name, way) in ways {
            let begun = Instant::now();
            sums.push(way(self)?);
            let step = begun.elapsed() / self.steps as u32;
            println!("| {name} | {:.1} | {:.2} |", milliseconds(step), ratio(step, least));
        }
        println!();
        assert!(sums.iter().all(|sum| *sum == sums[0]), "all ways compute the same: {sums:?}");
        Ok(())
    }
}

fn milliseconds(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1e3
}

fn ratio(duration: Duration, least: Duration) -> f64 {
    duration.as_secs_f64() / least.as_secs_f64()
}

fn main() -> Result<()> {
    let cores = thread::available_parallelism().map_or(2, usize::from);
    let options = CpuOptions { threads: Some((cores - 1).max(1)), ..CpuOptions::default() };
    let device = Device::open_cpu(options)?;
    let preparation = Duration::from_millis(10);
    let mut pipeline =
        Pipeline { device: device.clone(), steps: 30, preparation, extent: 384, products: 1 };
    // As many products as take about as long as the preparation.
    let one = pipeline.device_alone()?;
    pipeline.products = (preparation.as_secs_f64() / one.as_secs_f64()).round().max(1.0) as usize;
    pipeline.table()?;
    let preparation = Duration::from_millis(20);
    Pipeline { device, steps: 5, preparation, extent: 1000, products: 1 }.table()
}
