//! Host preparation and device work, one after the other or at the same time.
//! `cargo bench -p inflight --bench pipeline`
//!
//! Each step prepares a batch on the host, uploads it, computes on the device, and logs a loss. How the loss is
//! read decides whether the next batch is prepared meanwhile. The device has one core less than the machine.
//!
//! The second table is that of the seed, beside JAX's figures where a Python with JAX is found: the one that
//! `INFLIGHT_PEERS_PYTHON` names, `bench/peers/.venv/bin/python`, or `python3`.

use inflight::{CpuOptions, Device, Pending, Result, Tensor};
use serde_json::Value;
use std::hint::black_box;
use std::path::{Path, PathBuf};
use std::process::Command;
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
        let weights = (0..self.extent * self.extent).map(|i| (i * 37 % 101) as f32 * 0.001);
        let shape = [self.extent, self.extent];
        Tensor::from_vec(weights.collect(), shape, &self.device).expect("the data fills the shape")
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

    /// Runs every way, and prints what a step takes, beside a peer's figures.
    fn table(&self, peer: Option<&Peer>) -> Result<()> {
        let alone = self.device_alone()?;
        let (least, most) = (alone.max(self.preparation), alone + self.preparation);
        println!(
            "{} steps, {:.1} ms of preparation, {:.1} ms of device work ({} products of {}²), medians of {ROUNDS} runs",
            self.steps,
            milliseconds(self.preparation),
            milliseconds(alone),
            self.products,
            self.extent
        );
        let theirs =
            |text: String| if peer.is_some() { format!(" {text} |") } else { String::new() };
        println!(
            "| how | ms a step | of the larger part ({:.1} ms) |{}",
            milliseconds(least),
            theirs(format!("{}, ms a step", peer.map_or("", |peer| &peer.versions)))
        );
        println!("|---|---|---|{}", theirs("---".to_owned()).replace(' ', ""));
        println!(
            "| both parts, one after the other | {:.1} | {:.2} |{}",
            milliseconds(most),
            ratio(most, least),
            theirs(String::new())
        );
        type Way = fn(&Pipeline) -> Result<f32>;
        let ways: [(&str, Way); 4] = [
            ("sync", Pipeline::sync),
            ("naive async", Pipeline::naive),
            ("log the previous step", Pipeline::log_previous),
            ("loader thread", Pipeline::loader),
        ];
        let mut times = [const { Vec::new() }; 4];
        let mut sums = Vec::new();
        for _ in 0..ROUNDS {
            for (times, (_, way)) in times.iter_mut().zip(ways) {
                let begun = Instant::now();
                sums.push(way(self)?);
                times.push(begun.elapsed() / self.steps as u32);
            }
        }
        assert!(sums.iter().all(|sum| *sum == sums[0]), "all ways compute the same: {sums:?}");
        for (times, (name, _)) in times.iter_mut().zip(ways) {
            times.sort();
            let step = times[times.len() / 2];
            let figure = peer.and_then(|peer| peer.figure(name, sums[0]));
            println!(
                "| {name} | {:.1} | {:.2} |{}",
                milliseconds(step),
                ratio(step, least),
                theirs(figure.map_or(String::new(), |step| format!("{step:.1}")))
            );
        }
        println!();
        Ok(())
    }

    /// The same in JAX. `None`, and a word about it, if no Python has it.
    fn in_jax(&self) -> Option<Peer> {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../bench/peers");
        let python = std::env::var_os("INFLIGHT_PEERS_PYTHON").map(PathBuf::from);
        let environment = Some(folder.join(".venv/bin/python")).filter(|path| path.exists());
        let python = python.or(environment).unwrap_or_else(|| PathBuf::from("python3"));
        let milliseconds = self.preparation.as_millis() as usize;
        let arguments = [self.steps, milliseconds, self.extent, ROUNDS];
        let output = Command::new(&python)
            .arg(folder.join("pipeline.py"))
            .args(arguments.map(|argument| argument.to_string()))
            .output();
        let parsed = output.map_err(|error| error.to_string()).and_then(|output| {
            let said = String::from_utf8_lossy(&output.stderr);
            let figures: Value = serde_json::from_slice(&output.stdout)
                .map_err(|_| said.lines().last().unwrap_or_default().to_owned())?;
            Ok(Peer { versions: figures["versions"].as_str().unwrap_or("JAX").to_owned(), figures })
        });
        parsed
            .inspect_err(|message| {
                println!(
                    "Without JAX: {}: {message}; bench/peers/setup installs it.",
                    python.display()
                );
            })
            .ok()
    }
}

/// How often each way runs.
const ROUNDS: usize = 5;

/// What another library takes for the same.
struct Peer {
    versions: String,
    figures: Value,
}

impl Peer {
    /// Its milliseconds a step, if it has this way. It has to have computed what we have.
    fn figure(&self, way: &str, sum: f32) -> Option<f64> {
        let theirs = self.figures["sums"][way].as_f64()?;
        let apart = (theirs - f64::from(sum)).abs();
        assert!(apart <= 1e-4 * theirs.abs(), "{way} computes {sum} here and {theirs} there");
        self.figures["ways"][way].as_f64()
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
    pipeline.table(None)?;
    let preparation = Duration::from_millis(20);
    let pipeline = Pipeline { device, steps: 5, preparation, extent: 1000, products: 1 };
    pipeline.table(pipeline.in_jax().as_ref())
}
