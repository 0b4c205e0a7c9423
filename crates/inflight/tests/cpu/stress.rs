//! Stress test: random work of many threads and tasks on one device with little memory. Every result is correct, nothing
//! leaks, and nothing deadlocks.
//!
//! Runs for five seconds, or for `INFLIGHT_STRESS_SECONDS`; `INFLIGHT_SEED` seeds the random choices.

use inflight::{
    CpuOptions, Device, DeviceOp, Error, Pending, Policy, Result, Tensor, Transaction, api,
    pending, zip,
};
use inflight_backend::FaultKind;
use inflight_testkit::Random;
use std::collections::VecDeque;
use std::env;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::thread;
use std::time::{Duration, Instant};

const THREADS: usize = 64;
const TASKS: usize = 1000;
const MEMORY: usize = 6 << 20;

/// State shared by all threads and tasks.
struct Workload {
    device: Device,
    policy: Policy,
    deadline: Instant,
    /// Values exchanged between threads.
    shared: Mutex<VecDeque<Uniform>>,
    correct: AtomicUsize,
    /// Results that failed with out of memory.
    out_of_memory: AtomicUsize,
}

/// A tensor whose elements all equal one small known integer, so that every sum is exact.
#[derive(Clone)]
struct Uniform {
    tensor: Tensor,
    value: f32,
}

impl Uniform {
    /// Clamps values, so that they stay small integers.
    fn bounded(tensor: Tensor, value: f32) -> Uniform {
        Uniform { tensor: tensor.clamp(-50.0, 50.0), value: value.clamp(-50.0, 50.0) }
    }

    fn element_count(&self) -> usize {
        self.tensor.element_count()
    }
}

impl Workload {
    fn is_running(&self) -> bool {
        Instant::now() < self.deadline
    }

    fn create(&self, random: &mut Random) -> Uniform {
        let extents = [[random.below(3) + 1, 64 << random.below(9)], [17, 33], [1, 1]];
        let extents = extents[random.below(3)];
        let value = random.below(9) as f32 - 4.0;
        let tensor = match random.below(3) {
            0 => Tensor::full(value, extents, &self.device),
            1 => {
                let elements = extents[0] * extents[1];
                Tensor::from_vec(vec![value; elements], extents, &self.device).unwrap()
            }
            _ => Tensor::full(value as i32, extents, &self.device).cast(inflight::DType::F32),
        };
        Uniform { tensor, value }
    }

    fn derive(&self, a: &Uniform, b: &Uniform, random: &mut Random) -> Uniform {
        match random.below(8) {
            0 => Uniform::bounded(&a.tensor + 1.0, a.value + 1.0),
            1 => Uniform::bounded(&a.tensor * -2.0, a.value * -2.0),
            2 => {
                let mean = a.tensor.sum_all() / a.element_count() as f32;
                Uniform { tensor: mean.round().expand([3, 100]), value: a.value }
            }
            3 => Uniform { tensor: a.tensor.transpose(), value: a.value },
            4 => {
                let columns = a.tensor.shape().extents()[1];
                let ones = Tensor::ones::<f32>([columns, 8], &self.device);
                let sums = a.tensor.matmul(&ones) / columns as f32;
                Uniform { tensor: sums.round(), value: a.value }
            }
            5 => {
                Uniform::bounded(&a.tensor + b.tensor.sum_all() * 0.0 + b.value, a.value + b.value)
            }
            6 => Uniform { tensor: Tensor::cat([&a.tensor, &a.tensor], 0), value: a.value },
            _ => Uniform { tensor: a.tensor.max_all().expand([64, 64]), value: a.value },
        }
    }

    /// Asserts that a result is correct or failed with out of memory.
    fn check(&self, values: Result<Vec<f32>>, expected: f32) {
        match values {
            Ok(values) => {
                let wrong = values.iter().find(|&&value| value != expected);
                assert_eq!(wrong, None, "expected {expected}");
                self.correct.fetch_add(1, Ordering::Relaxed);
            }
            Err(Error::Device(fault)) if matches!(fault.kind, FaultKind::OutOfMemory { .. }) => {
                self.out_of_memory.fetch_add(1, Ordering::Relaxed);
            }
            Err(other) => panic!("{other}"),
        }
    }

    /// Publishes a value and returns one of another thread.
    fn exchange(&self, mine: Uniform, random: &mut Random) -> Uniform {
        let mut shared = self.shared.lock().unwrap();
        shared.push_back(mine);
        if shared.len() > 32 {
            // The published value is dropped after the lock is released; the queue stays bounded.
            return shared.pop_front().expect("not empty");
        }
        shared[random.below(shared.len())].clone()
    }

    /// Body of a thread.
    fn run_thread(&self, mut random: Random) {
        let mut values = [self.create(&mut random), self.create(&mut random)];
        let mut promises: VecDeque<(Pending<Vec<f32>>, f32)> = VecDeque::new();
        while self.is_running() {
            let slot = random.below(2);
            let derived = self.derive(&values[slot], &values[1 - slot], &mut random);
            // Replace values that have grown too large.
            values[slot] = match derived.element_count() > 1 << 16 {
                true => self.create(&mut random),
                false => derived,
            };
            let uniform = values[slot].clone();
            match random.below(12) {
                0 => self.check(uniform.tensor.to_vec(), uniform.value),
                1 => promises.push_back((uniform.tensor.to_vec_async(), uniform.value)),
                2 => drop(uniform.tensor.to_vec_async::<f32>()),
                3 => std::mem::forget(uniform.tensor.sum_all().item_async::<f32>()),
                4 => values[slot] = self.exchange(uniform, &mut random),
                5 => {
                    let other = &values[1 - slot];
                    let data = Transaction::default()
                        .register(&uniform.tensor)
                        .register(&other.tensor)
                        .execute();
                    match data {
                        Ok(data) => {
                            self.check(data[0].to_vec(), uniform.value);
                            self.check(data[1].to_vec(), other.value);
                        }
                        Err(error) => self.check(Err(error), 0.0),
                    }
                }
                6 => {
                    let pending = pending::add(uniform.tensor.to_async(), 3.0);
                    let sum = pending.get().and_then(|sum| sum.to_vec());
                    self.check(sum, uniform.value + 3.0);
                }
                7 => drop(pending::matmul(uniform.tensor.to_async(), uniform.tensor.transpose())),
                8 => {
                    let op = zip!(uniform.tensor, api::ones::<f32>([1]));
                    let op = op.map(|(x, one)| x + one).to_host_vec::<f32>();
                    match random.below(3) {
                        0 => self.check(op.sync_on(&self.device.stream()), uniform.value + 1.0),
                        1 => {
                            let promise = op.schedule(&self.policy).spawn();
                            promises.push_back((promise, uniform.value + 1.0));
                        }
                        _ => drop(op.schedule(&self.policy).spawn()),
                    }
                }
                9 => self.device.flush(),
                10 if random.below(20) == 0 => self.device.wait().unwrap(),
                _ => {}
            }
            if promises.len() > 3
                && let Some((promise, expected)) = promises.pop_front()
            {
                self.check(promise.get(), expected);
            }
        }
        for (promise, expected) in promises {
            self.check(promise.get(), expected);
        }
    }

    /// Body of a task.
    async fn run_task(self: Arc<Self>, mut random: Random) {
        while self.is_running() {
            let value = random.below(9) as f32;
            let elements = 16 << random.below(8);
            let op = zip!(api::full(value, [elements]), api::full(2.0f32, [1]))
                .map(|(x, two)| x * two)
                .then(|doubled| zip!(doubled.clone(), doubled.sum_all()))
                .map(|(doubled, sum)| doubled + sum * 0.0)
                .to_host_vec::<f32>();
            let future = op.schedule(&self.policy);
            match random.below(4) {
                0 => {
                    let task = tokio::spawn(future);
                    tokio::task::yield_now().await;
                    task.abort();
                    if let Ok(values) = task.await {
                        self.check(values, 2.0 * value);
                    }
                }
                1 => drop(future.spawn()),
                2 => self.check(future.spawn().await, 2.0 * value),
                _ => self.check(future.await, 2.0 * value),
            }
            tokio::task::yield_now().await;
        }
    }
}

fn env_or(name: &str, default: u64) -> u64 {
    env::var(name).map_or(default, |text| text.parse().expect(name))
}

#[test]
fn random_work_of_many_threads_and_tasks_is_correct() {
    let seconds = env_or("INFLIGHT_STRESS_SECONDS", 5);
    let seed = env_or("INFLIGHT_SEED", 1);
    let device = Device::open_cpu(CpuOptions::from_env().unwrap()).unwrap();
    device.set_memory_limit(Some(MEMORY));
    let streams: Vec<_> = (0..4).map(|_| device.stream()).collect();
    let workload = Arc::new(Workload {
        policy: Policy::round_robin(streams),
        device: device.clone(),
        deadline: Instant::now() + Duration::from_secs(seconds),
        shared: Mutex::default(),
        correct: AtomicUsize::new(0),
        out_of_memory: AtomicUsize::new(0),
    });
    let (finished, receiver) = mpsc::channel();
    for number in 0..THREADS as u64 {
        let (workload, finished) = (workload.clone(), finished.clone());
        thread::spawn(move || {
            workload.run_thread(Random::new(seed * 10_000 + number));
            drop(workload);
            finished.send(()).unwrap();
        });
    }
    {
        let workload = workload.clone();
        thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_multi_thread().build().unwrap();
            let tasks: Vec<_> = (0..TASKS as u64)
                .map(|number| {
                    let random = Random::new(seed * 10_000 + 1000 + number);
                    runtime.spawn(workload.clone().run_task(random))
                })
                .collect();
            drop(workload);
            runtime.block_on(async {
                for task in tasks {
                    task.await.unwrap();
                }
            });
            finished.send(()).unwrap();
        });
    }
    // Long enough to complete the work in flight at the deadline on a loaded machine.
    let limit = workload.deadline + Duration::from_secs(120);
    for remaining in (0..=THREADS).rev() {
        let timeout = limit.saturating_duration_since(Instant::now());
        let message = receiver.recv_timeout(timeout);
        assert!(message.is_ok(), "{remaining} threads failed or are stuck");
    }
    let correct = workload.correct.load(Ordering::Relaxed);
    let out_of_memory = workload.out_of_memory.load(Ordering::Relaxed);
    println!(
        "{correct} results were correct, {out_of_memory} ran out of memory, {:?}",
        device.stats()
    );
    assert!(
        correct > 1000 && out_of_memory < correct,
        "{correct} correct, {out_of_memory} out of memory"
    );
    workload.shared.lock().unwrap().clear();
    drop(workload);
    device.wait().unwrap();
    // A worker drops a command's buffers just after it signals completion. A later command sees them freed.
    Tensor::ones::<f32>([1], &device).to_vec::<f32>().unwrap();
    let limit = Instant::now() + Duration::from_secs(60);
    while device.memory().in_use > 0 && Instant::now() < limit {
        thread::yield_now();
    }
    assert_eq!(device.memory().in_use, 0, "memory is leaked: {:?}", device.memory());
    assert_eq!(device.memory().adopted, 0, "memory is leaked: {:?}", device.memory());
}
