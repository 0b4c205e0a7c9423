//! Composition of ops: combinators, inputs, devices and errors. Describing an op runs nothing.

use crate::support::watched::watched;
use inflight::device_op::{self, BoxedOp, ExecutionContext, join_all};
use inflight::{Device, DeviceOp, Error, IntoDeviceOp, Pending, Result, Tensor, api, zip};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

#[test]
fn describing_runs_nothing() {
    let (device, control) = watched();
    let calls = Arc::new(AtomicUsize::new(0));
    let count = calls.clone();
    let x = Tensor::from_vec(vec![1.0f32; 8], [8], &device).unwrap();
    let before = device.stats();
    let op = zip!(api::ones::<f32>([8]), x, api::arange::<f32>(8))
        .map(|(a, b, c)| a + b + c)
        .inspect(move |_| {
            count.fetch_add(1, Ordering::Relaxed);
        })
        .then(|x| device_op::value(x * 2.0))
        .reshape([2, 4])
        .shared();
    let (first, second) = op.clone().map(|x| (x.clone(), x)).unzip();
    drop((first.boxed(), second.on(&device)));
    assert_eq!(device.stats(), before);
    assert!(control.kernels().is_empty());
    assert_eq!(calls.load(Ordering::Relaxed), 0);
    let future = op.clone().schedule(device.stream());
    assert_eq!((device.stats(), calls.load(Ordering::Relaxed)), (before, 0));
    drop(future);
    let values: Vec<f32> = op.to_host_vec().sync_on(&device.stream()).unwrap();
    assert_eq!(values, [4.0, 6.0, 8.0, 10.0, 12.0, 14.0, 16.0, 18.0]);
    assert_eq!(calls.load(Ordering::Relaxed), 1);
}

#[test]
fn creation_ops_match_tensor_constructors() {
    let stream = Device::cpu().stream();
    let device = stream.device();
    let read = |op: BoxedOp<'static, Tensor>| op.to_host_vec::<f32>().sync_on(&stream).unwrap();
    assert_eq!(read(api::zeros::<f32>([2, 2])), [0.0; 4]);
    assert_eq!(read(api::ones::<f32>([2, 2])), [1.0; 4]);
    assert_eq!(read(api::full(2.5f32, [3])), [2.5; 3]);
    assert_eq!(read(api::arange::<f32>(4)), [0.0, 1.0, 2.0, 3.0]);
    assert_eq!(read(api::linspace(0.0f32, 1.0, 3)), [0.0, 0.5, 1.0]);
    assert_eq!(read(api::eye::<f32>(2)), [1.0, 0.0, 0.0, 1.0]);
    assert_eq!(read(api::from_vec(vec![7.0f32, 8.0], [2])), [7.0, 8.0]);
    let uniform = Tensor::rand::<f32>([9], 3, device).to_vec::<f32>().unwrap();
    assert_eq!(read(api::rand::<f32>([9], Some(3))), uniform);
    let normal = Tensor::randn::<f32>(1.0, 2.0, [9], 3, device).to_vec::<f32>().unwrap();
    assert_eq!(read(api::randn::<f32>(1.0, 2.0, [9], Some(3))), normal);
    // Without a seed, each execution draws new values.
    let fresh = || read(api::rand::<f32>([64], None));
    assert_ne!(fresh(), fresh());
    assert_eq!(api::ones::<i64>([2]).to_host_vec::<i64>().sync().unwrap(), [1, 1]);
}

#[test]
fn combinators_compose_results_and_errors() {
    let three = || device_op::value(3);
    assert_eq!(three().map(|x| x * 2).sync().unwrap(), 6);
    assert_eq!(three().and_then(|x| Ok(x + 1)).sync().unwrap(), 4);
    assert_eq!(three().then(|x| device_op::value(x * 5)).sync().unwrap(), 15);
    let mut seen = 0;
    assert_eq!(three().inspect(|x| seen = *x).sync().unwrap(), 3);
    assert_eq!(seen, 3);
    let members = || zip!(1i32, 2.5f32, device_op::value("three"));
    assert_eq!(members().sync().unwrap(), (1, 2.5, "three"));
    assert_eq!(members().first().sync().unwrap(), 1);
    assert_eq!(members().last().sync().unwrap(), "three");
    let (a, b, c) = members().unzip();
    assert_eq!((c.sync().unwrap(), a.sync().unwrap(), b.sync().unwrap()), ("three", 1, 2.5));
    let eight = zip!(1, 2, 3, 4, 5, 6, 7, 8).sync().unwrap();
    assert_eq!(eight, (1, 2, 3, 4, 5, 6, 7, 8));
    assert_eq!(join_all(0..5).sync().unwrap(), [0, 1, 2, 3, 4]);
    assert!(join_all(Vec::<i32>::new()).sync().unwrap().is_empty());
    let shape = api::arange::<f32>(6).reshape([2, 3]).dup().sync().unwrap();
    assert_eq!(shape.shape().extents(), [2, 3]);
    let failed = device_op::value(1).and_then(|_| Err::<i32, _>(Error::Invalid("no".into())));
    assert_eq!(failed.map(|x| x + 1).sync().unwrap_err().to_string(), "no");
}

#[test]
fn outputs_without_clone_are_unzipped() {
    struct Token(u8);
    let (left, right) = device_op::from_fn(|_| Ok((Token(1), Token(2)))).unzip();
    assert_eq!(right.sync().unwrap().0 * 10 + left.sync().unwrap().0, 21);
}

#[test]
fn tensors_promises_and_scalars_are_inputs() {
    fn add<'a>(
        a: impl IntoDeviceOp<Output = Tensor> + 'a,
        b: impl IntoDeviceOp<Output = Tensor> + 'a,
    ) -> BoxedOp<'a, Tensor> {
        zip!(a, b).map(|(a, b)| a + b)
    }
    let device = Device::cpu();
    let x = Tensor::from_vec(vec![1.0f32, 2.0], [2], &device).unwrap();
    let shared = Arc::new(x.clone());
    let promise: Pending<Tensor> = api::ones::<f32>([2]).spawn();
    let sum = add(add(x.clone(), &x), add(shared.clone(), add(&shared, promise)));
    let values: Vec<f32> = add(sum, api::ones::<f32>([2])).to_host_vec().sync().unwrap();
    assert_eq!(values, [6.0, 10.0]);
    let scaled = zip!(&x, 3.0f32, 1i64).map(|(x, a, b)| x * a + b);
    assert_eq!(scaled.to_host_vec::<f32>().sync().unwrap(), [4.0, 7.0]);
}

#[test]
fn a_user_defined_op_implements_one_method() {
    struct Ramp(usize);
    impl DeviceOp for Ramp {
        type Output = Tensor;
        async fn execute(self, context: &ExecutionContext) -> Result<Tensor> {
            let values: Vec<f32> =
                api::arange::<f32>(self.0).to_host_vec().execute(context).await?;
            Tensor::from_vec(values, [self.0], context.device())
        }
    }
    assert_eq!(Ramp(3).to_host_vec::<f32>().sync().unwrap(), [0.0, 1.0, 2.0]);
    let pair = zip!(Ramp(2), Ramp(2)).map(|(a, b)| a * b).to_host_vec::<f32>();
    assert_eq!(pair.sync().unwrap(), [0.0, 1.0]);
}

#[test]
fn an_op_runs_on_the_given_device() {
    let (device, _) = watched();
    let on = |op: BoxedOp<'static, Tensor>| op.sync().unwrap().device().clone();
    assert_eq!(on(api::ones::<f32>([2])), Device::cpu());
    assert_eq!(on(api::ones::<f32>([2]).on(&device)), device);
    let ones = api::ones::<f32>([2]).sync_on(&device.stream()).unwrap();
    assert_eq!(ones.device(), &device);
    // Work on other devices is submitted and awaited, too.
    let both = zip!(api::ones::<f32>([2]), &ones).map(|(a, b)| (a + 1.0, b + 2.0)).sync().unwrap();
    assert!(both.0.is_ready() && both.1.is_ready());
    assert_eq!(both.1.device(), &device);
    assert_eq!(both.1.to_vec::<f32>().unwrap(), [3.0; 2]);
}

#[test]
fn only_live_outputs_are_materialized() {
    let (device, _) = watched();
    let before = device.stats();
    let sum = zip!(api::rand::<f32>([1000], Some(1)), api::ones::<f32>([1000]))
        .map(|(a, b)| (a * 2.0 + b).exp())
        .sync_on(&device.stream())
        .unwrap();
    let stats = device.stats().since(&before);
    // One kernel materializes the one value with a live handle.
    assert_eq!((stats.launches, stats.bytes_written), (1, 4000));
    assert!(sum.is_ready());
    // A value without a handle is not computed.
    let before = device.stats();
    api::rand::<f32>([1000], Some(1)).map(|_| ()).sync_on(&device.stream()).unwrap();
    assert_eq!(device.stats().since(&before).launches, 0);
    // An input that is returned as the output is computed, too.
    let recorded = sum.exp();
    let same = (&recorded).into_op().sync_on(&device.stream()).unwrap();
    assert!(same.is_ready() && device.stats().since(&before).launches == 1);
}

#[test]
fn the_recording_of_the_thread_is_not_affected() {
    let (device, control) = watched();
    let stream = device.stream();
    let x = Tensor::from_vec(vec![1.0f32; 100], [100], &device).unwrap();
    let recorded = x.matmul(&x);
    let before = control.kernels().len();
    let ones = api::ones::<f32>([4]).sync_on(&stream).unwrap();
    assert_eq!(control.kernels().len(), before + 1);
    assert_eq!(ones.to_vec::<f32>().unwrap(), [1.0; 4]);
    assert_eq!(recorded.item::<f32>().unwrap(), 100.0);
}

#[test]
fn errors_name_the_line_that_described_the_op() {
    let line = line!() + 1;
    let error = api::arange::<f32>(4).reshape([3]).sync().unwrap_err();
    let location = error.location().expect("the error has a location");
    assert_eq!((location.file(), location.line()), (file!(), line), "{error}");
    let line = line!() + 1;
    let error = api::linspace(0, 1, 3).sync().unwrap_err();
    assert!(error.to_string().contains(&format!("{}:{line}", file!())), "{error}");
    // A failed tensor that is dropped does not fail the op.
    let fixed = api::ones::<f32>([4]).map(|x| match x.reshape([3]).check() {
        Ok(()) => 0,
        Err(_) => 1,
    });
    assert_eq!(fixed.sync().unwrap(), 1);
}

#[test]
fn out_of_memory_is_the_error_of_the_op() {
    let (device, _) = watched();
    device.set_memory_limit(Some(1 << 20));
    let stream = device.stream();
    let error = api::rand::<f32>([1 << 20], Some(1)).sync_on(&stream).unwrap_err();
    assert!(error.is_out_of_memory(), "{error}");
    assert_eq!(error.location().unwrap().file(), file!());
    assert_eq!(api::ones::<f32>([4]).to_host_vec::<f32>().sync_on(&stream).unwrap(), [1.0; 4]);
}
