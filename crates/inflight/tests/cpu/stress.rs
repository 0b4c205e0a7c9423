//! Random work of many threads and tasks on one device with little memory: every result is right, nothing leaks, and
//! nothing deadlocks.
//!
//! Runs for five seconds, or for `INFLIGHT_STRESS_SECONDS`; `INFLIGHT_SEED` changes what is done.

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

/// What all threads and tasks share.
struct Playground {
    device: Device,
    policy: Policy,
    deadline: Instant,
    /// Values that every thread may use.
    shared: Mutex<VecDeque<Known>>,
    right: AtomicUsize,
    /// Results that did not fit into memory.
    refused: AtomicUsize,
}

/// A tensor of which all elements are known to be the same small integer, so that every sum is exact.
#[derive(Clone)]
struct Known {
    tensor: Tensor,
    value: f32,
}

impl Known {
    /// Keeps values small, whatever is done with them.
    fn bounded(tensor: Tensor, value: f32) -> Known {
        Known { tensor: tensor.clamp(-50.0, 50.0), value: value.clamp(-50.0, 50.0) }
    }

    fn element_count(&self) -> usize {
        self.tensor.element_count()
    }
}

impl Playground {
    fn goes_on(&self) -> bool {
        Instant::now() < self.deadline
    }

    fn make(&self, random: &mut Random) -> Known {
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
        Known { tensor, value }
    }

    fn derive(&self, a: &Known, b: &Known, random: &mut Random) -> Known {
        match random.below(8) {
            0 => Known::bounded(&a.tensor + 1.0, a.value + 1.0),
            1 => Known::bounded(&a.tensor * -2.0, a.value * -2.0),
            2 => {
                let mean = a.tensor.sum_all() / a.element_count() as f32;
                Known { tensor: mean.round().expand([3, 100]), value: a.value }
            }
            3 => Known { tensor: a.tensor.transpose(), value: a.value },
            4 => {
                let columns = a.tensor.shape().extents()[1];
                let ones = Tensor::ones::<f32>([columns, 8], &self.device);
                let product = a.tensor.matmul(&ones) / columns as f32;
                Known { tensor: product.round(), value: a.value }
            }
            5 => Known::bounded(&a.tensor + b.tensor.sum_all() * 0.0 + b.value, a.value + b.value),
            6 => Known { tensor: Tensor::cat([&a.tensor, &a.tensor], 0), value: a.value },
            _ => Known { tensor: a.tensor.max_all().expand([64, 64]), value: a.value },
        }
    }

    /// Looks at a result: it is right, or there was no memory for it.
    fn check(&self, values: Result<Vec<f32>>, expected: f32) {
        match values {
            Ok(values) => {
                let wrong = values.iter().find(|&&value| value != expected);
                assert_eq!(wrong, None, "expected {expected}");
                self.right.fetch_add(1, Ordering::Relaxed);
            }
            Err(Error::Device(fault)) if matches!(fault.kind, FaultKind::OutOfMemory { .. }) => {
                self.refused.fetch_add(1, Ordering::Relaxed);
            }
            Err(other) => panic!("{other}"),
        }
    }

    /// Puts a value where others find it, and takes one of theirs.
    fn exchange(&self, mine: Known, random: &mut Random) -> Known {
        let mut shared = self.shared.lock().unwrap();
        shared.push_back(mine);
        if shared.len() > 32 {
            // It goes when the lock is given up; the rest stays small.
            return shared.pop_front().expect("not empty");
        }
        shared[random.below(shared.len())].clone()
    }

    /// What a thread does.
    fn play(&self, mut random: Random) {
        let mut values = [self.make(&mut random), self.make(&mut random)];
        let mut promises: VecDeque<(Pending<Vec<f32>>, f32)> = VecDeque::new();
        while self.goes_on() {
            let place = random.below(2);
            let derived = self.derive(&values[place], &values[1 - place], &mut random);
            // Views that grow are cut off.
            values[place] = match derived.element_count() > 1 << 16 {
                true => self.make(&mut random),
                false => derived,
            };
            let known = values[place].clone();
            match random.below(12) {
                0 => self.check(known.tensor.to_vec(), known.value),
                1 => promises.push_back((known.tensor.to_vec_async(), known.value)),
                2 => drop(known.tensor.to_vec_async::<f32>()),
                3 => std::mem::forget(known.tensor.sum_all().item_async::<f32>()),
                4 => values[place] = self.exchange(known, &mut random),
                5 => {
                    let other = &values[1 - place];
                    let data = Transaction::default()
                        .register(&known.tensor)
                        .register(&other.tensor)
                        .execute();
                    match data {
                        Ok(data) => {
                            self.check(data[0].to_vec(), known.value);
                            self.check(data[1].to_vec(), other.value);
                        }
                        Err(error) => self.check(Err(error), 0.0),
                    }
                }
                6 => {
                    let pending = pending::add(known.tensor.to_async(), 3.0);
                    let sum = pending.get().and_then(|sum| sum.to_vec());
                    self.check(sum, known.value + 3.0);
                }
                7 => drop(pending::matmul(known.tensor.to_async(), known.tensor.transpose())),
                8 => {
                    let op = zip!(known.tensor, api::ones::<f32>([1]));
                    let op = op.map(|(x, one)| x + one).to_host_vec::<f32>();
                    match random.below(3) {
                        0 => self.check(op.sync_on(&self.device.stream()), known.value + 1.0),
                        1 => {
                            let promise = op.schedule(&self.policy).spawn();
                            promises.push_back((promise, known.value + 1.0));
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

    /// What a task does.
    async fn work(self: Arc<Self>, mut random: Random) {
        while self.goes_on() {
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

fn number(name: &str, otherwise: u64) -> u64 {
    env::var(name).map_or(otherwise, |text| text.parse().expect(name))
}

#[test]
fn many_threads_and_tasks_do_as_they_please() {
    let seconds = number("INFLIGHT_STRESS_SECONDS", 5);
    let seed = number("INFLIGHT_SEED", 1);
    let device = Device::open_cpu(CpuOptions::from_env().unwrap()).unwrap();
    device.set_memory_limit(Some(MEMORY));
    let streams: Vec<_> = (0..4).map(|_| device.stream()).collect();
    let playground = Arc::new(Playground {
        policy: Policy::round_robin(streams),
        device: device.clone(),
        deadline: Instant::now() + Duration::from_secs(seconds),
        shared: Mutex::default(),
        right: AtomicUsize::new(0),
        refused: AtomicUsize::new(0),
    });
    let (ended, ends) = mpsc::channel();
    for number in 0..THREADS as u64 {
        let (playground, ended) = (playground.clone(), ended.clone());
        thread::spawn(move || {
            playground.play(Random::new(seed * 10_000 + number));
            drop(playground);
            ended.send(()).unwrap();
        });
    }
    {
        let playground = playground.clone();
        thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_multi_thread().build().unwrap();
            let tasks: Vec<_> = (0..TASKS as u64)
                .map(|number| {
                    let random = Random::new(seed * 10_000 + 1000 + number);
                    runtime.spawn(playground.clone().work(random))
                })
                .collect();
            drop(playground);
            runtime.block_on(async {
                for task in tasks {
                    task.await.unwrap();
                }
            });
            ended.send(()).unwrap();
        });
    }
    // Long enough for what is in flight at the deadline, on a machine that does other things too.
    let stuck = playground.deadline + Duration::from_secs(120);
    for left in (0..=THREADS).rev() {
        let patience = stuck.saturating_duration_since(Instant::now());
        let end = ends.recv_timeout(patience);
        assert!(end.is_ok(), "{left} threads failed or are stuck");
    }
    let right = playground.right.load(Ordering::Relaxed);
    let refused = playground.refused.load(Ordering::Relaxed);
    println!("{right} results were right, {refused} did not fit, {:?}", device.stats());
    assert!(right > 1000 && refused < right, "{right} right, {refused} refused");
    playground.shared.lock().unwrap().clear();
    drop(playground);
    device.wait().unwrap();
    // Whoever signals the end of work lets go of it right after; what comes after it finds that done.
    Tensor::ones::<f32>([1], &device).to_vec::<f32>().unwrap();
    let patience = Instant::now() + Duration::from_secs(60);
    while device.memory().in_use > 0 && Instant::now() < patience {
        thread::yield_now();
    }
    assert_eq!(device.memory().in_use, 0, "nothing is left behind: {:?}", device.memory());
    assert_eq!(device.memory().adopted, 0, "nothing is left behind: {:?}", device.memory());
}
