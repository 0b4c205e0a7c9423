//! Views never cost a pass over memory. The expected counts are derived by hand.

use crate::device;
use crate::support::{f32s, ramp};
use inflight::{Device, Slice, Stats, Tensor};

fn positions(values: &[i64], device: &Device) -> Tensor {
    Tensor::from_vec(values.to_vec(), [values.len()], device).expect("a vector")
}

/// The counters of computing a value.
fn counted(device: &Device, value: Tensor) -> Stats {
    let before = device.stats();
    value.wait().expect("the value is computed");
    device.stats().since(&before)
}

/// Asserts that a value takes one launch with these bytes read and written.
#[track_caller]
fn assert_one_launch(device: &Device, value: Tensor, read: u64, written: u64) {
    let stats = counted(device, value);
    assert_eq!((stats.launches, stats.bytes_read, stats.bytes_written), (1, read, written));
}

#[test]
fn views_are_index_maps_of_the_reading_kernel() {
    let device = device();
    let x = ramp([60, 80], &device);
    x.wait().unwrap();
    let all_bytes = f32s(60 * 80);
    // Slices with and without steps read their elements only.
    assert_one_launch(&device, x.slice((10..30, 8..72)).exp(), f32s(20 * 64), f32s(20 * 64));
    assert_one_launch(
        &device,
        x.slice((Slice::all().step(2), Slice::all().step(5))) + 1.0,
        f32s(30 * 16),
        f32s(30 * 16),
    );
    // A single row.
    assert_one_launch(&device, x.index_axis(0, 7).tanh(), f32s(80), f32s(80));
    assert_one_launch(&device, x.flip([0, 1]).exp(), all_bytes, all_bytes);
    assert_one_launch(&device, x.transpose().exp(), all_bytes, all_bytes);
    assert_one_launch(
        &device,
        x.reshape([4, 15, 80]).permute([2, 0, 1]).exp(),
        all_bytes,
        all_bytes,
    );
    // A broadcast reads every element once.
    assert_one_launch(&device, x.expand([5, 60, 80]).exp(), all_bytes, 5 * all_bytes);
    // Nested views compose into one index map.
    let nested = x.transpose().slice((0..40, ..)).flip([1]).reshape([20, 120]).transpose();
    assert_one_launch(&device, nested.exp() * 2.0, f32s(40 * 60), f32s(40 * 60));
    // A view between two ops: elements outside the view are not computed.
    assert_one_launch(
        &device,
        (x.exp() + 1.0).slice((10..30, ..)).log(),
        f32s(20 * 80),
        f32s(20 * 80),
    );
    // Two views of one tensor read both parts.
    let both = &x.slice((0..30, ..)) + &x.slice((30..60, ..)).flip([0]);
    assert_one_launch(&device, both, all_bytes, f32s(30 * 80));
}

#[test]
fn gathers_fuse_into_the_reading_kernel() {
    let device = device();
    let table = ramp([1000, 64], &device);
    let index = positions(&[3, 999, 0, 3, 500, 41, 7, 8], &device);
    table.wait().unwrap();
    index.wait().unwrap();
    // Eight 8-byte indices and eight rows.
    let read = 8 * 8 + f32s(8 * 64);
    assert_one_launch(&device, table.index_select(0, &index), read, f32s(8 * 64));
    assert_one_launch(&device, (table.index_select(0, &index) * 2.0).tanh(), read, f32s(8 * 64));
    assert_one_launch(&device, table.exp().index_select(0, &index) + 1.0, read, f32s(8 * 64));
    // With a reduction, the rows are not materialized.
    assert_one_launch(&device, table.index_select(0, &index).sum([0]), read, f32s(64));
}

#[test]
fn joins_store_parts_directly_into_the_result() {
    let device = device();
    let x = ramp([40, 30], &device);
    let y = ramp([40, 20], &device);
    x.wait().unwrap();
    y.wait().unwrap();
    let joined_bytes = f32s(40 * 50);
    assert_one_launch(&device, Tensor::cat([&x, &y], 1), joined_bytes, joined_bytes);
    // With producers and a consumer.
    assert_one_launch(
        &device,
        Tensor::cat([&x.exp(), &(&y * 2.0)], 1).tanh(),
        joined_bytes,
        joined_bytes,
    );
    // Padding reads the operand once and the border not at all.
    assert_one_launch(&device, x.exp().pad([(1, 1), (2, 2)], 0.0), f32s(40 * 30), f32s(42 * 34));
    // slice_assign reads the assigned part instead of the replaced one. The replaced elements still count as read,
    // since they are inside the range that is read.
    let part = ramp([10, 30], &device);
    part.wait().unwrap();
    let all_bytes = f32s(40 * 30);
    assert_one_launch(
        &device,
        x.slice_assign((5..15, ..), &part) * 2.0,
        all_bytes + f32s(10 * 30),
        all_bytes,
    );
}

#[test]
fn a_scatter_fuses_with_the_kernel_of_its_updates() {
    let device = device();
    let x = ramp([50, 16], &device);
    let updates = ramp([4, 16], &device);
    let index = positions(&[7, 0, 49, 7], &device);
    for tensor in [&x, &updates, &index] {
        tensor.wait().unwrap();
    }
    let index = index.unsqueeze(1).expand([4, 16]);
    let stats = counted(&device, x.scatter_add(0, &index, &(&updates * 2.0)));
    // A copy of the operand, which is still alive; then the updates, an 8-byte index for each, and the updated elements.
    assert_eq!(stats.launches, 2);
    assert_eq!(stats.bytes_read, f32s(50 * 16) + f32s(4 * 16) + 8 * 4 + f32s(4 * 16));
    assert_eq!(stats.bytes_written, f32s(50 * 16) + f32s(4 * 16));
}

#[test]
fn disjoint_scatter_updates_fuse_into_the_reading_kernel() {
    let device = device();
    let (rows, columns) = (64, 200);
    let x = ramp([rows, columns], &device);
    let updates = ramp([rows, 1], &device);
    let labels = positions(&(0..rows as i64).collect::<Vec<_>>(), &device).unsqueeze(1);
    for tensor in [&x, &updates, &labels] {
        tensor.wait().unwrap();
    }
    let all_bytes = f32s(rows * columns);
    // The scattered zeros are not materialized: only the update and the 8-byte index of each row are read.
    let zeros = Tensor::zeros::<f32>([rows, columns], &device);
    let scattered = zeros.scatter_add(1, &labels, &updates);
    let read = all_bytes + f32s(rows) + 8 * rows as u64;
    assert_one_launch(&device, x.softmax(1) + scattered, read, all_bytes);
    // A computed scatter operand is not materialized either.
    let marked = x.softmax(1).scatter(1, &labels, &updates).sum([1]);
    assert_one_launch(&device, marked, read, f32s(rows));
}

/// Updating a slice of a tensor without other handles moves only the bytes of the slice.
#[test]
fn slices_of_an_owned_tensor_are_updated_in_place() {
    let device = device();
    let elements = 400 * 16;
    let updates = ramp([4, 16], &device);
    let index = positions(&[7, 0, 49, 7], &device);
    updates.wait().unwrap();
    index.wait().unwrap();
    let index = index.unsqueeze(1).expand([4, 16]);
    let moved = |stats: &Stats| {
        // A copy that takes its source's memory over reads and writes nothing.
        let copied = stats.bytes_reused_in_place;
        (stats.bytes_read - copied, stats.bytes_written - copied)
    };
    let assign = |x: &Tensor| x.slice_assign((5..9, ..), &updates);
    let scatter = |x: &Tensor| x.scatter_add(0, &index, &updates);
    // Without other handles, the slice is read and stored in place.
    let owned = updated(&device, false, assign);
    assert_eq!(moved(&owned), (f32s(4 * 16), f32s(4 * 16)), "{owned:?}");
    // A scatter also reads 8-byte indices and the updated elements.
    let owned = updated(&device, false, scatter);
    assert_eq!(moved(&owned), (2 * f32s(4 * 16) + 8 * 4, f32s(4 * 16)), "{owned:?}");
    // Also with disjoint updates.
    let single = |x: &Tensor| x.scatter_add(0, &index.slice(..1), &updates.slice(..1));
    let owned = updated(&device, false, single);
    assert_eq!(moved(&owned), (2 * f32s(16) + 8, f32s(16)), "{owned:?}");
    // With another handle, the tensor is copied first.
    let held = updated(&device, true, assign);
    assert_eq!(held.bytes_reused_in_place, 0);
    let whole = f32s(elements) + f32s(4 * 16);
    assert_eq!((held.bytes_read, held.bytes_written), (whole, whole));
}

/// The counters of updating a stored tensor. If `held`, another handle keeps its old value alive.
fn updated(device: &Device, held: bool, update: impl Fn(&Tensor) -> Tensor) -> Stats {
    let mut x = ramp([400, 16], device) * 2.0;
    x.wait().unwrap();
    let expected = inflight::no_fuse(|| update(&x)).to_vec::<f32>().unwrap();
    let old = held.then(|| x.clone());
    let before = device.stats();
    x = update(&x);
    x.wait().unwrap();
    let stats = device.stats().since(&before);
    assert_eq!(x.to_vec::<f32>().unwrap(), expected);
    drop(old);
    stats
}

#[test]
fn norms_and_losses_read_their_input_once() {
    let device = device();
    let (rows, columns) = (64, 200);
    let x = ramp([rows, columns], &device);
    let gain = ramp([columns], &device);
    x.wait().unwrap();
    gain.wait().unwrap();
    let all_bytes = f32s(rows * columns);
    // Reads the input and the gain.
    assert_one_launch(
        &device,
        x.rms_norm([1], Some(&gain), 1e-6),
        all_bytes + f32s(columns),
        all_bytes,
    );
    let labels = positions(&(0..rows as i64).collect::<Vec<_>>(), &device);
    labels.wait().unwrap();
    let logits = x.gather(1, &labels.unsqueeze(1)).squeeze(1);
    let loss = (x.logsumexp([1]) - logits).mean_all();
    let stats = counted(&device, loss);
    // The first launch stores the maximum and the sum of each row. The second reads them, and an 8-byte label and a logit
    // for each row.
    assert_eq!(stats.launches, 2);
    assert_eq!(stats.bytes_read, all_bytes + 2 * f32s(rows) + 8 * rows as u64 + f32s(rows));
    assert_eq!(stats.bytes_written, 2 * f32s(rows) + f32s(1));
}
