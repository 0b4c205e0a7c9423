//! Streams and policies: stream selection and concurrent execution.

use crate::support::watched::watched;
use inflight::device_op::{self, join_all};
use inflight::{Device, DeviceOp, Policy, Stream, SyncGuard, Tensor, WaitReason, api, zip};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Waker};

fn streams(device: &Device, count: usize) -> Vec<Stream> {
    (0..count).map(|_| device.stream()).collect()
}

#[test]
fn streams_are_cheap_handles() {
    fn check<T: Clone + Send + Sync + 'static>() {}
    check::<Stream>();
    check::<Policy>();
    let (device, _) = watched();
    let (a, b) = (device.stream(), device.stream());
    assert!(a == a.clone() && a != b);
    assert_eq!(a.device(), &device);
}

#[test]
fn a_stream_is_idle_after_its_work_completes() {
    let (device, control) = watched();
    let stream = device.stream();
    assert!(stream.is_idle());
    stream.wait().unwrap();
    let gate = control.hold();
    let mut future = api::ones::<f32>([8]).schedule(&stream);
    let mut context = Context::from_waker(Waker::noop());
    assert!(std::pin::Pin::new(&mut future).poll(&mut context).is_pending());
    assert!(!stream.is_idle() && stream.in_flight() == 1);
    let before = device.stats();
    {
        let _guard = SyncGuard::deny();
        stream.wait().unwrap_err();
    }
    gate.signal();
    stream.wait().unwrap();
    assert!(stream.is_idle());
    assert_eq!(
        device.stats().since(&before).waits_for(WaitReason::Sync),
        device.stats().since(&before).all_waits()
    );
    assert_eq!(pollster::block_on(future).unwrap().to_vec::<f32>().unwrap(), [1.0; 8]);
}

#[test]
fn then_runs_on_the_same_stream() {
    let (device, _) = watched();
    let pool = Policy::round_robin(streams(&device, 3));
    let current_stream = || device_op::from_fn(|context| Ok(context.stream().clone()));
    for _ in 0..4 {
        let chain = current_stream().then(|first| {
            current_stream()
                .then(move |second| current_stream().map(move |third| [first, second, third]))
        });
        let [first, second, third] = pollster::block_on(chain.schedule(&pool)).unwrap();
        assert!(first == second && second == third);
    }
}

#[test]
fn each_policy_selects_its_stream() {
    let (device, control) = watched();
    let all = streams(&device, 3);
    let current_stream = |policy: &Policy| {
        let op = device_op::from_fn(|context| Ok(context.stream().clone()));
        let stream = pollster::block_on(op.schedule(policy)).unwrap();
        all.iter().position(|candidate| *candidate == stream).expect("the stream is in the pool")
    };
    let single = Policy::one(&all[1]);
    assert_eq!([current_stream(&single), current_stream(&single)], [1, 1]);
    let round_robin = Policy::round_robin(all.clone());
    assert_eq!(
        [
            current_stream(&round_robin),
            current_stream(&round_robin),
            current_stream(&round_robin),
            current_stream(&round_robin)
        ],
        [0, 1, 2, 0]
    );
    let custom = {
        let (all, calls) = (all.clone(), AtomicUsize::new(0));
        Policy::new(&device, move || all[2 - calls.fetch_add(1, Ordering::Relaxed) % 2].clone())
    };
    assert_eq!(
        [current_stream(&custom), current_stream(&custom), current_stream(&custom)],
        [2, 1, 2]
    );
    let least_loaded = Policy::least_loaded(all.clone());
    assert_eq!([current_stream(&least_loaded), current_stream(&least_loaded)], [0, 0]);
    // With kernels held back, the first two streams are busy.
    let gate = control.hold();
    let mut context = Context::from_waker(Waker::noop());
    let mut busy: Vec<_> = (0..2).map(|_| api::ones::<f32>([8]).schedule(&least_loaded)).collect();
    for future in &mut busy {
        assert!(std::pin::Pin::new(future).poll(&mut context).is_pending());
    }
    assert_eq!(current_stream(&least_loaded), 2);
    gate.signal();
}

#[test]
fn members_run_concurrently_on_a_pool() {
    for policy in [Policy::round_robin, Policy::least_loaded] as [fn(Vec<Stream>) -> Policy; 2] {
        let (device, control) = watched();
        let pool = policy(streams(&device, 2));
        control.meet();
        let (a, b) = pollster::block_on(
            zip!(api::full(1.0f32, [100]), api::full(2.0f32, [100])).schedule(&pool),
        )
        .unwrap();
        // The rendezvous completes only if both kernels run on different streams.
        let met = control.met();
        assert_eq!(met.len(), 2, "both kernels ran on one stream");
        assert_eq!((a + b).to_vec::<f32>().unwrap(), [3.0; 100]);
        let (device, control) = watched();
        let pool = policy(streams(&device, 2));
        control.meet();
        let both = join_all([1.0f32, 2.0].map(|value| api::full(value, [10]))).schedule(&pool);
        assert_eq!(pollster::block_on(both).unwrap().len(), 2);
        assert_eq!(control.met().len(), 2);
    }
}

#[test]
fn members_share_one_stream_without_a_pool() {
    let (device, control) = watched();
    let stream = device.stream();
    let (a, b) =
        zip!(api::full(1.0f32, [100]), api::rand::<f32>([7], Some(1))).sync_on(&stream).unwrap();
    let kernels = control.kernels();
    assert!(
        !kernels.is_empty() && kernels.iter().all(|stream| *stream == kernels[0]),
        "{kernels:?}"
    );
    assert!(a.is_ready() && b.is_ready());
}

#[test]
fn the_continuation_of_members_waits_for_all_of_them() {
    let (device, _) = watched();
    let pool = Policy::round_robin(streams(&device, 4));
    for round in 0..50 {
        let members = (0..6).map(|member| api::full((round * member) as f32, [1000]));
        let sum = join_all(members)
            .map(|parts| parts.into_iter().reduce(|a, b| a + b).expect("six members"));
        let values = pollster::block_on(sum.to_host_vec::<f32>().schedule(&pool)).unwrap();
        assert_eq!(values, vec![(round * 15) as f32; 1000]);
    }
}

#[test]
fn values_are_ordered_across_streams() {
    let (device, _) = watched();
    let all = streams(&device, 3);
    let mut x = Tensor::zeros::<f32>([5000], &device);
    for step in 0..60 {
        x = zip!(x, 1.0f32).map(|(x, one)| x + one).sync_on(&all[step % 3]).unwrap();
    }
    assert_eq!(x.to_vec::<f32>().unwrap(), vec![60.0; 5000]);
}
