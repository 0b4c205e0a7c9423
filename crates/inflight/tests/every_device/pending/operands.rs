//! Ops on plain and pending operands: types, values, order, errors, cancellation.

use crate::support::stepped::stepped_device;
use crate::support::{counting, device, ramp};
use inflight::runtime::Promise;
use inflight::{Device, Error, Pending, Tensor, pending};

#[test]
fn one_pending_operand_makes_the_result_pending() {
    let device = device();
    let (x, w) = (ramp([4, 8], &device), ramp([8, 6], &device));
    let expected = x.matmul(&w).to_vec::<f32>().unwrap();
    // The type annotations are the test.
    let plain: [Tensor; 4] = [
        pending::matmul(&x, &w),
        pending::matmul(x.clone(), &w),
        pending::matmul(&x, w.clone()),
        pending::matmul(x.clone(), w.clone()),
    ];
    let (px, pw) = (x.to_async(), w.to_async());
    let pending: [Pending<Tensor>; 7] = [
        pending::matmul(&px, &w),
        pending::matmul(&px, w.clone()),
        pending::matmul(&x, &pw),
        pending::matmul(x.clone(), pw.clone()),
        pending::matmul(&px, &pw),
        pending::matmul(px.clone(), &pw),
        pending::matmul(px, pw),
    ];
    for plain in plain {
        assert_eq!(plain.to_vec::<f32>().unwrap(), expected);
    }
    for pending in pending {
        assert_eq!(pending.get().unwrap().to_vec::<f32>().unwrap(), expected);
    }
}

#[test]
fn scalars_options_tuples_and_vectors_are_operands() {
    let device = device();
    let x = ramp([2, 6], &device);
    let sum: Pending<Tensor> = pending::add(x.to_async(), 1.5);
    assert_eq!(sum.get().unwrap().to_vec::<f32>().unwrap(), (&x + 1.5).to_vec::<f32>().unwrap());
    let clamped: Tensor = pending::clamp(&x, -0.5, 0.5);
    assert_eq!(clamped.to_vec::<f32>().unwrap(), x.clamp(-0.5, 0.5).to_vec::<f32>().unwrap());
    let weight = Tensor::ones::<f32>([6], &device);
    let normal: Pending<Tensor> =
        pending::layer_norm(&x, [1], Some(weight.to_async()), None::<&Tensor>, 1e-5);
    assert_eq!(
        normal.get().unwrap().to_vec::<f32>().unwrap(),
        x.layer_norm([1], Some(&weight), None, 1e-5).to_vec::<f32>().unwrap()
    );
    let parts: Pending<(Tensor, Tensor)> = pending::split2(x.to_async(), 1);
    let (left, right) = parts.unzip();
    let joined: Pending<Tensor> = pending::cat([left, right], 1);
    assert_eq!(joined.get().unwrap().to_vec::<f32>().unwrap(), x.to_vec::<f32>().unwrap());
    let (left, right): (Tensor, Tensor) = pending::split2(&x, 1);
    let joined: Tensor = pending::cat([&left, &right], 1);
    assert_eq!(joined.to_vec::<f32>().unwrap(), x.to_vec::<f32>().unwrap());
}

#[test]
fn multiple_results_are_returned_in_order() {
    let (first, second) = (device(), device());
    // Several results on several devices. A prototype returned such nested vectors transposed.
    let parts: Vec<Pending<Vec<Tensor>>> = [&first, &second]
        .into_iter()
        .enumerate()
        .map(|(index, device)| {
            let x = counting([3, 6], device) + 100 * index as i32;
            pending::chunk(x.to_async(), 1, 3)
        })
        .collect();
    let parts: Vec<Vec<Tensor>> = Pending::join(parts).get().unwrap();
    assert_eq!((parts.len(), parts[0].len(), parts[1].len()), (2, 3, 3));
    for (index, (parts, device)) in parts.iter().zip([&first, &second]).enumerate() {
        for (position, part) in parts.iter().enumerate() {
            assert_eq!(part.device(), device);
            let at = 100 * index as i32 + 2 * position as i32;
            let rows = [at, at + 1, at + 6, at + 7, at + 12, at + 13];
            assert_eq!(part.to_vec::<i32>().unwrap(), rows, "device {index}, part {position}");
        }
    }
    let split: Pending<Vec<Tensor>> =
        pending::split(counting([5], &first).to_async(), 0, [2, 0, 3]);
    let lengths: Vec<usize> = split.get().unwrap().iter().map(Tensor::element_count).collect();
    assert_eq!(lengths, [2, 0, 3]);
}

#[test]
fn pending_values_are_copied_between_devices() {
    let (first, second) = (device(), device());
    let x = ramp([4, 4], &first);
    let moved = pending::to_device(pending::mul(x.to_async(), 2.0), &second);
    let sum = pending::add(&moved, ramp([4, 4], &second));
    let sum = sum.get().unwrap();
    assert_eq!(sum.device(), &second);
    assert_eq!(sum.to_vec::<f32>().unwrap(), (&x * 3.0).to_vec::<f32>().unwrap());
}

/// A composite op of plain tensors.
fn block(x: &Tensor, w: &Tensor, b: &Tensor) -> Tensor {
    (x.matmul(w) + b).gelu()
}

/// A composite op with several results.
fn statistics(x: &Tensor) -> (Tensor, Vec<Tensor>) {
    (x.mean_all(), vec![x.min_all(), x.max_all()])
}

#[test]
fn composite_ops_accept_plain_and_pending_operands() {
    let device = device();
    let (x, w, b) = (ramp([4, 8], &device), ramp([8, 6], &device), ramp([1, 6], &device));
    let plain: Tensor = pending::call(block, (&x, &w, &b));
    let pending: Pending<Tensor> = pending::call(block, (&x, w.to_async(), &b));
    let expected = plain.to_vec::<f32>().unwrap();
    assert_eq!(pending.clone().get().unwrap().to_vec::<f32>().unwrap(), expected);
    let (mean, bounds) = pending::call(statistics, (&pending,)).unzip();
    let (low, high) = (bounds.at(0).get().unwrap(), bounds.at(1).get().unwrap());
    let lowest = expected.iter().copied().fold(f32::INFINITY, f32::min);
    let highest = expected.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    assert_eq!(low.item::<f32>().unwrap(), lowest);
    assert_eq!(high.item::<f32>().unwrap(), highest);
    assert!((lowest..=highest).contains(&mean.get().unwrap().item::<f32>().unwrap()));
    let scale = 2.0f32;
    let closure = pending::call(move |x: &Tensor| x * scale, (pending,));
    assert_eq!(closure.get().unwrap().shape().extents(), [4, 6]);
}

#[test]
fn a_panic_of_a_composite_op_is_the_error_of_the_promise() {
    let device = device();
    let x = ramp([2, 2], &device).to_async();
    let broken = |x: &Tensor| -> Tensor { panic!("cannot do {:?}", x.shape()) };
    let failed = pending::call(broken, (&x,));
    let after = pending::exp(&failed);
    for pending in [failed, after] {
        let error = pending.get().unwrap_err();
        assert!(matches!(error, Error::Panicked { .. }), "{error}");
        assert!(error.to_string().contains("cannot do"), "{error}");
    }
    assert!(pending::exp(x).get().is_ok());
}

#[test]
fn an_error_names_the_line_of_the_op_in_both_modes() {
    let device = device();
    let (x, y) = (ramp([2, 3], &device), ramp([2, 3], &device));
    let plain = (pending::matmul(&x, &y), line!());
    let pending = (pending::matmul(x.to_async(), &y).get().unwrap(), line!());
    for (tensor, line) in [plain, pending] {
        let error = tensor.check().unwrap_err();
        let location = error.location().unwrap();
        assert_eq!((location.file(), location.line()), (file!(), line), "{error}");
    }
    let sum = (pending::sum_all(x.to_async()).get().unwrap(), line!());
    assert_eq!((sum.0.location().file(), sum.0.location().line()), (file!(), sum.1));
}

#[test]
fn pending_tensors_resolve_before_the_device_finishes() {
    let (device, gate) = stepped_device();
    let (x, w) = (ramp([16, 16], &device), ramp([16, 16], &device));
    let output = pending::matmul(x.to_async(), &w);
    let slices = pending::split2(&output, 1);
    // The tensors exist and have shapes ...
    let (left, right) = slices.get().unwrap();
    assert_eq!((left.shape().extents(), right.shape().extents()), (&[16, 8][..], &[16, 8][..]));
    // ... and the matmul is submitted, although the device has run nothing.
    let output = output.get().unwrap();
    assert!(gate.held() > 0, "the matmul was submitted");
    assert!(!output.is_ready());
    gate.open();
    device.wait().unwrap();
    assert!(output.is_ready(), "the device has finished");
    let joined = Tensor::cat(&[left, right], 1).to_vec::<f32>().unwrap();
    assert_eq!(joined, output.to_vec::<f32>().unwrap());
}

#[test]
fn syncing_waits_for_queued_pending_work() {
    let device = device();
    let (x, w) = (ramp([64, 64], &device), ramp([64, 64], &device));
    let outputs: Vec<Pending<Tensor>> =
        (0..50).map(|_| pending::matmul(x.to_async(), &w)).collect();
    device.wait().unwrap();
    for output in outputs {
        assert!(output.is_ready());
        assert!(output.get().unwrap().is_ready());
    }
}

#[test]
fn work_with_a_pending_operand_does_not_block_other_work() {
    let device = device();
    let x = ramp([2, 2], &device);
    let (promise, late) = Promise::<Tensor>::new(&device);
    let waiting = pending::add(&late, &x);
    let other = pending::add(x.to_async(), &x);
    assert_eq!(other.get().unwrap().to_vec::<f32>().unwrap(), (&x * 2.0).to_vec::<f32>().unwrap());
    device.wait().unwrap();
    assert!(!waiting.is_ready());
    promise.complete(Ok(&x * 3.0));
    assert_eq!(
        waiting.get().unwrap().to_vec::<f32>().unwrap(),
        (&x * 3.0 + &x).to_vec::<f32>().unwrap()
    );
}

#[test]
fn unconsumed_work_is_skipped_and_drops_its_operands() {
    let device = device();
    let x = ramp([100, 100], &device);
    // In the pool or adopted from the host.
    let held = |device: &Device| device.memory().adopted + device.memory().in_use;
    device.wait().unwrap();
    let before = held(&device);
    let big = ramp([300, 300], &device);
    let (promise, late) = Promise::<Tensor>::new(&device);
    let recorded = device.stats().recorded;
    let sum = pending::add(&late, &big);
    let chain = pending::exp(pending::matmul(sum, &big));
    let consumed = pending::add(&late, &x);
    drop(big);
    device.wait().unwrap();
    assert!(held(&device) > before, "pending work retains its operands");
    drop(chain);
    assert_eq!(device.stats().skipped, 3, "all three ops of the chain");
    assert_eq!(held(&device), before, "their operands are freed");
    assert_eq!(device.stats().recorded, recorded);
    // Another consumer still needs the promise.
    assert!(promise.is_wanted());
    promise.complete(Ok(x.clone()));
    assert_eq!(
        consumed.get().unwrap().to_vec::<f32>().unwrap(),
        (&x * 2.0).to_vec::<f32>().unwrap()
    );
    drop(late);
    assert_eq!(device.stats().skipped, 3);
}

#[test]
fn work_with_another_consumer_is_not_skipped() {
    let device = device();
    let x = ramp([10, 10], &device);
    let (promise, late) = Promise::<Tensor>::new(&device);
    let shared = pending::exp(late);
    let (unwanted, consumed) = (pending::log(&shared), pending::neg(&shared));
    drop((shared, unwanted));
    assert_eq!(device.stats().skipped, 1);
    promise.complete(Ok(x.clone()));
    assert_eq!(
        consumed.get().unwrap().to_vec::<f32>().unwrap(),
        x.exp().neg().to_vec::<f32>().unwrap()
    );
}

#[test]
fn pending_work_may_be_dropped_or_forgotten_at_any_time() {
    let device = device();
    for round in 0..200 {
        let x = ramp([20, 20], &device);
        let y = pending::matmul(x.to_async(), &x);
        let z = pending::softmax(&y, 1);
        match round % 4 {
            0 => drop(z),
            1 => drop(y),
            2 => drop((x, y, z)),
            _ => assert_eq!(z.get().unwrap().shape().extents(), [20, 20]),
        }
    }
    device.wait().unwrap();
    assert_eq!(device.memory().in_use, 0);
}
