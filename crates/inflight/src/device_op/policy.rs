//! Scheduling policies: the choice of an op's stream.

use crate::runtime::{Device, Stream};
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Chooses the stream of each op that starts, and of each member of `zip!` and `join_all`, which then run
/// concurrently. A cheap handle.
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
    strategy: Arc<Strategy>,
}

enum Strategy {
    SingleStream(Stream),
    RoundRobin { streams: Vec<Stream>, next: AtomicUsize },
    LeastLoaded(Vec<Stream>),
    Custom { device: Device, choose: Box<dyn Fn() -> Stream + Send + Sync> },
}

impl Policy {
    fn from_strategy(strategy: Strategy) -> Policy {
        Policy { strategy: Arc::new(strategy) }
    }

    /// Creates a policy that runs everything on one stream, in sequence.
    pub fn one(stream: &Stream) -> Policy {
        Policy::from_strategy(Strategy::SingleStream(stream.clone()))
    }

    /// Creates a policy that rotates through the streams.
    ///
    /// # Panics
    /// If `streams` is empty.
    pub fn round_robin(streams: impl IntoIterator<Item = Stream>) -> Policy {
        let streams = collect_streams(streams);
        Policy::from_strategy(Strategy::RoundRobin { streams, next: AtomicUsize::new(0) })
    }

    /// Creates a policy that chooses the stream with the lowest load: the fewest unfinished ops and segments. Ties
    /// go to the first.
    ///
    /// # Panics
    /// If `streams` is empty.
    pub fn least_loaded(streams: impl IntoIterator<Item = Stream>) -> Policy {
        Policy::from_strategy(Strategy::LeastLoaded(collect_streams(streams)))
    }

    /// Creates a policy from a function, which is called for each op that starts and each member of a `zip!` but
    /// its first.
    pub fn new(device: &Device, choose: impl Fn() -> Stream + Send + Sync + 'static) -> Policy {
        Policy::from_strategy(Strategy::Custom { device: device.clone(), choose: Box::new(choose) })
    }

    /// The device of the policy's streams.
    pub fn device(&self) -> Device {
        match &*self.strategy {
            Strategy::SingleStream(stream) => stream.device().clone(),
            Strategy::RoundRobin { streams, .. } | Strategy::LeastLoaded(streams) => {
                streams[0].device().clone()
            }
            Strategy::Custom { device, .. } => device.clone(),
        }
    }

    /// Chooses the stream for the next op.
    pub fn choose(&self) -> Stream {
        match &*self.strategy {
            Strategy::SingleStream(stream) => stream.clone(),
            Strategy::RoundRobin { streams, next } => {
                streams[next.fetch_add(1, Ordering::Relaxed) % streams.len()].clone()
            }
            Strategy::LeastLoaded(streams) => {
                let least = streams.iter().min_by_key(|stream| stream.inner().load());
                least.expect("a policy has at least one stream").clone()
            }
            Strategy::Custom { choose, .. } => choose(),
        }
    }
}

fn collect_streams(streams: impl IntoIterator<Item = Stream>) -> Vec<Stream> {
    let streams: Vec<Stream> = streams.into_iter().collect();
    assert!(!streams.is_empty(), "a Policy needs at least one stream");
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
        match &*self.strategy {
            Strategy::SingleStream(stream) => write!(f, "Policy::one({stream:?})"),
            Strategy::RoundRobin { streams, .. } => write!(f, "Policy::round_robin({streams:?})"),
            Strategy::LeastLoaded(streams) => write!(f, "Policy::least_loaded({streams:?})"),
            Strategy::Custom { device, .. } => write!(f, "Policy::new({device:?})"),
        }
    }
}
