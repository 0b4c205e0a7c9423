//! Which stream an op runs on.

use crate::runtime::{Device, Stream};
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Chooses streams: for an op when it starts, and for the members of `zip!` and `join_all`, which then run
/// at the same time. A cheap handle.
///
/// ```
/// use inflight::{Device, DeviceOp, Policy, api, zip};
///
/// # fn main() -> inflight::Result<()> {
/// # pollster::block_on(async {
/// let device = Device::cpu();
/// let pool = Policy::round_robin((0..2).map(|_| device.stream()));
/// // The two members run on two streams.
/// let (a, b) = zip!(api::rand::<f32>([64, 64], Some(1)), api::eye::<f32>(64)).schedule(&pool).await?;
/// assert_eq!(a.matmul(&b).to_vec::<f32>()?, a.to_vec::<f32>()?);
/// # Ok(())
/// # })
/// # }
/// ```
#[derive(Clone)]
pub struct Policy {
    choice: Arc<Choice>,
}

enum Choice {
    One(Stream),
    RoundRobin { streams: Vec<Stream>, next: AtomicUsize },
    LeastLoaded(Vec<Stream>),
    Own { device: Device, choose: Box<dyn Fn() -> Stream + Send + Sync> },
}

impl Policy {
    fn of(choice: Choice) -> Policy {
        Policy { choice: Arc::new(choice) }
    }

    /// Everything on one stream, one after another.
    pub fn one(stream: &Stream) -> Policy {
        Policy::of(Choice::One(stream.clone()))
    }

    /// One stream after the other, in turn.
    ///
    /// # Panics
    /// If there is no stream.
    pub fn round_robin(streams: impl IntoIterator<Item = Stream>) -> Policy {
        let streams = pool(streams);
        Policy::of(Choice::RoundRobin { streams, next: AtomicUsize::new(0) })
    }

    /// The stream that has least to do: the fewest ops that have started, or been submitted, and are not
    /// done. The first of several such.
    ///
    /// # Panics
    /// If there is no stream.
    pub fn least_loaded(streams: impl IntoIterator<Item = Stream>) -> Policy {
        Policy::of(Choice::LeastLoaded(pool(streams)))
    }

    /// Whatever a function says, called for each op that starts and each member of a `zip!` but its first.
    pub fn new(device: &Device, choose: impl Fn() -> Stream + Send + Sync + 'static) -> Policy {
        Policy::of(Choice::Own { device: device.clone(), choose: Box::new(choose) })
    }

    /// The device of its streams.
    pub fn device(&self) -> Device {
        match &*self.choice {
            Choice::One(stream) => stream.device().clone(),
            Choice::RoundRobin { streams, .. } | Choice::LeastLoaded(streams) => {
                streams[0].device().clone()
            }
            Choice::Own { device, .. } => device.clone(),
        }
    }

    /// The stream for what starts now.
    pub fn choose(&self) -> Stream {
        match &*self.choice {
            Choice::One(stream) => stream.clone(),
            Choice::RoundRobin { streams, next } => {
                streams[next.fetch_add(1, Ordering::Relaxed) % streams.len()].clone()
            }
            Choice::LeastLoaded(streams) => {
                let least = streams.iter().min_by_key(|stream| stream.inner().load());
                least.expect("a pool has streams").clone()
            }
            Choice::Own { choose, .. } => choose(),
        }
    }
}

fn pool(streams: impl IntoIterator<Item = Stream>) -> Vec<Stream> {
    let streams: Vec<Stream> = streams.into_iter().collect();
    assert!(!streams.is_empty(), "a pool needs at least one stream");
    streams
}

impl From<&Policy> for Policy {
    fn from(policy: &Policy) -> Policy {
        policy.clone()
    }
}

impl From<&Stream> for Policy {
    fn from(stream: &Stream) -> Policy {
        Policy::one(stream)
    }
}

impl From<Stream> for Policy {
    fn from(stream: Stream) -> Policy {
        Policy::one(&stream)
    }
}

impl fmt::Debug for Policy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &*self.choice {
            Choice::One(stream) => write!(f, "Policy::one({stream:?})"),
            Choice::RoundRobin { streams, .. } => write!(f, "Policy::round_robin({streams:?})"),
            Choice::LeastLoaded(streams) => write!(f, "Policy::least_loaded({streams:?})"),
            Choice::Own { device, .. } => write!(f, "Policy::new({device:?})"),
        }
    }
}
