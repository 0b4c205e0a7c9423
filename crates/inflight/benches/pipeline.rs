//! Data pipeline benchmark: host preparation and device work, sequential or overlapped.
//! `cargo bench -p inflight --bench pipeline`, and with `-- cuda:0` on a GPU: there a batch is 64 MiB that has to be
//! copied, and `--trace FILE` writes a Chrome trace.
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
use std::sync::{Arc, Mutex, mpsc};
use std::thread;
use std::time::{Duration, Instant};

/// A configuration: steps, preparation time, and GEMMs per step.
struct Pipeline {
    device: Device,
    steps: usize,
    preparation: Duration,
    extent: usize,
    products: usize,
    /// Number of distinct elements of a batch.
    varying: usize,
    /// Batches prepared so far.
    batches: Mutex<Vec<Arc<Vec<f32>>>>,
}

impl Pipeline {
    /// Keeps a core busy with preparing a batch, in the memory of an earlier batch if that is free.
    fn prepare(&self, step: usize) -> Arc<Vec<f32>> {
        let begun = Instant::now();
        let mut batches = self.batches.lock().expect("no thread panicked while it held the lock");
        let unused = batches.iter().position(|batch| Arc::strong_count(batch) == 1);
        let mut batch = match unused {
            Some(position) => batches.swap_remove(position),
            None => Arc::new(vec![0.01; self.extent * self.extent]),
        };
        let elements = Arc::get_mut(&mut batch).expect("the batch has no other owner");
        for (i, x) in elements.iter_mut().take(self.varying).enumerate() {
            *x = ((i + step) % 7) as f32 * 0.01;
        }
        // A device that shares host memory takes ownership of the batch.
        if !self.device.info().host_visible {
            batches.push(batch.clone());
        }
        drop(batches);
        let mut busy = 1.0f32;
        while begun.elapsed() < self.preparation {
            busy = black_box(busy).mul_add(0.999, 1e-3);
        }
        batch
    }

    /// Records a step and returns its loss.
    fn step(&self, batch: Arc<Vec<f32>>, weights: &Tensor) -> Result<Tensor> {
        Ok(self.compute(self.upload(batch)?, weights))
    }

    fn upload(&self, batch: Arc<Vec<f32>>) -> Result<Tensor> {
        let shape = [self.extent, self.extent];
        match Arc::try_unwrap(batch) {
            Ok(batch) => Tensor::from_vec(batch, shape, &self.device),
            Err(batch) => Tensor::from_shared(batch, shape, &self.device),
        }
    }

    fn compute(&self, batch: Tensor, weights: &Tensor) -> Tensor {
        let mut x = batch;
        for _ in 0..self.products {
            x = x.matmul(weights).tanh();
        }
        x.square().mean_all()
    }

    fn weights(&self) -> Tensor {
        let weights = (0..self.extent * self.extent).map(|i| (i * 37 % 101) as f32 * 0.001);
        let shape = [self.extent, self.extent];
        Tensor::from_vec(weights.collect(), shape, &self.device).expect("the data fills the shape")
    }

    /// Device work alone, per step.
    fn device_alone(&self) -> Result<Duration> {
        let weights = self.weights();
        let batches: Vec<_> = (0..6).map(|step| self.prepare(step)).collect();
        let mut fastest = Duration::MAX;
        for batch in batches {
            self.device.wait()?;
            let begun = Instant::now();
            black_box(self.step(batch, &weights)?.item::<f32>()?);
            fastest = fastest.min(begun.elapsed());
        }
        Ok(fastest)
    }

    /// Seconds of a step without upload, with as many steps queued as in a run, so that the device reaches the same
    /// temperature and clock.
    fn computing_alone(&self) -> Result<Duration> {
        let (weights, x) = (self.weights(), self.upload(self.prepare(0))?);
        let round = || -> Result<Duration> {
            let begun = Instant::now();
            let mut loss = None;
            for _ in 0..self.steps {
                let next = self.compute(x.clone(), &weights);
                // Submits it.
                next.is_ready();
                loss = Some(next);
            }
            loss.map_or(Ok(()), |loss| loss.wait())?;
            Ok(begun.elapsed() / self.steps as u32)
        };
        round()?;
        round()
    }

    /// Host preparation alone, per step.
    fn preparing_alone(&self) -> Duration {
        let timed = |step| {
            let begun = Instant::now();
            black_box(self.prepare(step));
            begun.elapsed()
        };
        (0..6).map(timed).min().expect("there are some")
    }

    /// Reads each loss synchronously.
    fn sync(&self, weights: &Tensor) -> Result<f32> {
        let mut sum = 0.0;
        for step in 0..self.steps {
            let batch = self.prepare(step);
            sum += self.step(batch, weights)?.item::<f32>()?;
        }
        Ok(sum)
    }

    /// Starts an asynchronous read of each loss, and waits for it at once.
    fn naive(&self, weights: &Tensor) -> Result<f32> {
        let mut sum = 0.0;
        for step in 0..self.steps {
            let batch = self.prepare(step);
            let loss = self.step(batch, weights)?.item_async::<f32>();
            sum += loss.get()?;
        }
        Ok(sum)
    }

    /// Starts an asynchronous read of each loss, and waits for it after the next batch was submitted.
    fn log_previous(&self, weights: &Tensor) -> Result<f32> {
        let mut sum = 0.0;
        let mut previous: Option<Pending<f32>> = None;
        for step in 0..self.steps {
            let batch = self.prepare(step);
            let loss = self.step(batch, weights)?.item_async::<f32>();
            if let Some(previous) = previous.replace(loss) {
                sum += previous.get()?;
            }
        }
        Ok(sum + previous.map_or(Ok(0.0), Pending::get)?)
    }

    /// Prefetches on another thread, at most two batches ahead.
    fn loader(&self, weights: &Tensor) -> Result<f32> {
        let (send, batches) = mpsc::sync_channel(2);
        thread::scope(|scope| {
            scope.spawn(move || {
                let mut prepared = (0..self.steps).map(|step| self.prepare(step));
                let _ = prepared.try_for_each(|batch| send.send(batch));
            });
            let mut sum = 0.0;
            for batch in batches {
                sum += self.step(batch, weights)?.item::<f32>()?;
            }
            Ok(sum)
        })
    }

    /// Runs every variant, and prints the time of a step beside the peer's.
    fn table(&self, peer: Option<&Peer>) -> Result<()> {
        let alone = match self.device.info().host_visible {
            true => self.device_alone()?,
            // A copy engine performs the upload beside the computation: leave it out.
            false => self.computing_alone()?,
        };
        let preparation = self.preparing_alone();
        let (least, most) = (alone.max(preparation), alone + preparation);
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
        type Way = fn(&Pipeline, &Tensor) -> Result<f32>;
        let weights = self.weights();
        weights.wait()?;
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
                sums.push(way(self, &weights)?);
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

    /// Runs the same in JAX. Prints a note and returns `None` if JAX is not available.
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

/// Repetitions of each variant.
const ROUNDS: usize = 5;

/// Times of another library.
struct Peer {
    versions: String,
    figures: Value,
}

impl Peer {
    /// Milliseconds per step of a variant, if it has it. Its losses must equal ours.
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

/// The table of a GPU: device work balanced with host preparation.
fn on_gpu(ordinal: usize, trace: Option<&str>) -> Result<()> {
    let device = match Device::cuda(ordinal) {
        Ok(device) => device,
        Err(error) => {
            println!("not measured: {error}");
            return Ok(());
        }
    };
    println!("{}, {}", device.info().name, device.info().target);
    let preparation = Duration::from_millis(10);
    let (extent, varying, batches) = (4096, 1 << 16, Mutex::default());
    let mut pipeline =
        Pipeline { device, steps: 100, preparation, extent, products: 1, varying, batches };
    pipeline.device_alone()?;
    let times = [1, 9].map(|products| {
        pipeline.products = products;
        pipeline.computing_alone()
    });
    let [one, nine] = times;
    let (one, more) = (one?.as_secs_f64(), nine?.as_secs_f64());
    let each = (more - one) / 8.0;
    pipeline.products = ((0.011 - one) / each + 1.0).ceil().max(1.0) as usize;
    println!(
        "a batch is prepared in {:.1} ms; uploaded and computed alone it takes {:.1} ms, computed {:.1} ms",
        milliseconds(pipeline.preparing_alone()),
        milliseconds(pipeline.device_alone()?),
        milliseconds(pipeline.computing_alone()?)
    );
    pipeline.table(None)?;
    match trace {
        Some(path) => inflight::trace(path, || {
            pipeline.steps = 8;
            pipeline.log_previous(&pipeline.weights())
        })?
        .map(drop),
        None => Ok(()),
    }
}

/// Measures and prints all rows.
pub fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let Some(name) = arguments.iter().find_map(|name| name.strip_prefix("cuda:")) {
        let trace = arguments.iter().position(|argument| argument == "--trace");
        let trace = trace.and_then(|at| arguments.get(at + 1)).map(String::as_str);
        return on_gpu(name.parse().unwrap_or(0), trace);
    }
    let cores = thread::available_parallelism().map_or(2, usize::from);
    let options = CpuOptions { threads: Some((cores - 1).max(1)), ..CpuOptions::default() };
    let device = Device::open_cpu(options)?;
    let preparation = Duration::from_millis(10);
    let mut pipeline = Pipeline {
        device: device.clone(),
        steps: 30,
        preparation,
        extent: 384,
        products: 1,
        varying: 384 * 384,
        batches: Mutex::default(),
    };
    // As many GEMMs as take about as long as the preparation.
    let one = pipeline.device_alone()?;
    pipeline.products = (preparation.as_secs_f64() / one.as_secs_f64()).round().max(1.0) as usize;
    pipeline.table(None)?;
    let (preparation, batches) = (Duration::from_millis(20), Mutex::default());
    let pipeline = Pipeline {
        device,
        steps: 5,
        preparation,
        extent: 1000,
        products: 1,
        varying: 1000 * 1000,
        batches,
    };
    pipeline.table(pipeline.in_jax().as_ref())
}
