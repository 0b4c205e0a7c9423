//! Views never cost a pass: what each makes the device do, counted by hand.

use crate::device;
use crate::support::{f32s, ramp};
use inflight::{Device, Slice, Stats, Tensor};

fn positions(values: &[i64], device: &Device) -> Tensor {
    Tensor::from_vec(values.to_vec(), [values.len()], device).expect("a vector")
}

/// What computing a value made the device do.
fn counted(device: &Device, value: Tensor) -> Stats {
    let before = device.stats();
    value.wait().expect("the value is computed");
    device.stats().since(&before)
}

/// One launch that reads and writes this much.
#[track_caller]
fn one_launch(device: &Device, value: Tensor, read: u64, written: u64) {
    let stats = counted(device, value);
    assert_eq!((stats.launches, stats.bytes_read, stats.bytes_written), (1, read, written));
}

#[test]
fn views_that_are_read_are_index_maps() {
    let device = device();
    let x = ramp(&[60, 80], &device);
    x.wait().unwrap();
    let whole = f32s(60 * 80);
    // A slice, a slice with steps, and both: only the elements that are in it are read.
    one_launch(&device, x.slice((10..30, 8..72)).exp(), f32s(20 * 64), f32s(20 * 64));
    one_launch(
        &device,
        x.slice((Slice::all().step(2), Slice::all().step(5))) + 1.0,
        f32s(30 * 16),
        f32s(30 * 16),
    );
    // One row of it.
    one_launch(&device, x.index_axis(0, 7).tanh(), f32s(80), f32s(80));
    one_launch(&device, x.flip([0, 1]).exp(), whole, whole);
    one_launch(&device, x.transpose().exp(), whole, whole);
    one_launch(&device, x.reshape([4, 15, 80]).permute([2, 0, 1]).exp(), whole, whole);
    // Every element is read once, however often it is used.
    one_launch(&device, x.expand([5, 60, 80]).exp(), whole, 5 * whole);
    // Views of views are one view.
    let nested = x.transpose().slice((0..40, ..)).flip([1]).reshape([20, 120]).transpose();
    one_launch(&device, nested.exp() * 2.0, f32s(40 * 60), f32s(40 * 60));
    // A view between two ops is one as well: what is not in it is not computed.
    one_launch(&device, (x.exp() + 1.0).slice((10..30, ..)).log(), f32s(20 * 80), f32s(20 * 80));
    // Two views of one tensor: both are read.
    let both = &x.slice((0..30, ..)) + &x.slice((30..60, ..)).flip([0]);
    one_launch(&device, both, whole, f32s(30 * 80));
}

#[test]
fn gathers_are_part_of_the_kernel_that_reads() {
    let device = device();
    let table = ramp(&[1000, 64], &device);
    let index = positions(&[3, 999, 0, 3, 500, 41, 7, 8], &device);
    table.wait().unwrap();
    index.wait().unwrap();
    // Eight positions of eight bytes each, and the eight rows at them.
    let read = 8 * 8 + f32s(8 * 64);
    one_launch(&device, table.index_select(0, &index), read, f32s(8 * 64));
    one_launch(&device, (table.index_select(0, &index) * 2.0).tanh(), read, f32s(8 * 64));
    one_launch(&device, table.exp().index_select(0, &index) + 1.0, read, f32s(8 * 64));
    // And reduced: the rows are nowhere.
    one_launch(&device, table.index_select(0, &index).sum([0]), read, f32s(64));
}

#[test]
fn parts_that_are_put_together_are_written_where_they_belong() {
    let device = device();
    let x = ramp(&[40, 30], &device);
    let y = ramp(&[40, 20], &device);
    x.wait().unwrap();
    y.wait().unwrap();
    let both = f32s(40 * 50);
    one_launch(&device, Tensor::cat([&x, &y], 1), both, both);
    // With what is done before and after.
    one_launch(&device, Tensor::cat([&x.exp(), &(&y * 2.0)], 1).tanh(), both, both);
    // What is padded is read once; the border is not.
    one_launch(&device, x.exp().pad([(1, 1), (2, 2)], 0.0), f32s(40 * 30), f32s(42 * 34));
    // Where a part is assigned, it is read from what is assigned. What it replaces is counted as read: it lies
    // among what is.
    let part = ramp(&[10, 30], &device);
    part.wait().unwrap();
    let whole = f32s(40 * 30);
    one_launch(&device, x.slice_assign((5..15, ..), &part) * 2.0, whole + f32s(10 * 30), whole);
}

#[test]
fn a_scatter_is_written_by_the_kernel_that_computes_its_updates() {
    let device = device();
    let x = ramp(&[50, 16], &device);
    let updates = ramp(&[4, 16], &device);
    let index = positions(&[7, 0, 49, 7], &device);
    for tensor in [&x, &updates, &index] {
        tensor.wait().unwrap();
    }
    let index = index.unsqueeze(1).expand([4, 16]);
    let stats = counted(&device, x.scatter_add(0, &index, &(&updates * 2.0)));
    // A copy of what is added to, since it is needed afterwards; then the updates and a position of eight bytes for
    // each, and the elements that they are added to.
    assert_eq!(stats.launches, 2);
    assert_eq!(stats.bytes_read, f32s(50 * 16) + f32s(4 * 16) + 8 * 4 + f32s(4 * 16));
    assert_eq!(stats.bytes_written, f32s(50 * 16) + f32s(4 * 16));
}

#[test]
fn updates_that_do_not_meet_are_part_of_the_kernel_that_reads() {
    let device = device();
    let (rows, columns) = (64, 200);
    let x = ramp(&[rows, columns], &device);
    let updates = ramp(&[rows, 1], &device);
    let labels = positions(&(0..rows as i64).collect::<Vec<_>>(), &device).unsqueeze(1);
    for tensor in [&x, &updates, &labels] {
        tensor.wait().unwrap();
    }
    let whole = f32s(rows * columns);
    // Zeros with one element of each row added to are nowhere: an update and a position of eight bytes are read.
    let zeros = Tensor::zeros::<f32>([rows, columns], &device);
    let picked = zeros.scatter_add(1, &labels, &updates);
    let read = whole + f32s(rows) + 8 * rows as u64;
    one_launch(&device, x.softmax(1) + picked, read, whole);
    // So is what is computed to be put into.
    let marked = x.softmax(1).scatter(1, &labels, &updates).sum([1]);
    one_launch(&device, marked, read, f32s(rows));
}

/// What a tensor that nobody else holds is moved for an update of a part of it.
#[test]
fn parts_of_an_owned_tensor_are_written_in_place() {
    let device = device();
    let elements = 400 * 16;
    let updates = ramp(&[4, 16], &device);
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
    // Owned: the part is read, and written to its place.
    let owned = updated(&device, false, assign);
    assert_eq!(moved(&owned), (f32s(4 * 16), f32s(4 * 16)), "{owned:?}");
    // And positions of eight bytes, and the elements that are added to.
    let owned = updated(&device, false, scatter);
    assert_eq!(moved(&owned), (2 * f32s(4 * 16) + 8 * 4, f32s(4 * 16)), "{owned:?}");
    // Also where no two updates can meet.
    let one = |x: &Tensor| x.scatter_add(0, &index.slice(..1), &updates.slice(..1));
    let owned = updated(&device, false, one);
    assert_eq!(moved(&owned), (2 * f32s(16) + 8, f32s(16)), "{owned:?}");
    // Held by somebody else, it is copied first.
    let held = updated(&device, true, assign);
    assert_eq!(held.bytes_reused_in_place, 0);
    let whole = f32s(elements) + f32s(4 * 16);
    assert_eq!((held.bytes_read, held.bytes_written), (whole, whole));
}

/// What it takes to update a tensor that is in memory; with `held`, its old value is needed afterwards.
fn updated(device: &Device, held: bool, update: impl Fn(&Tensor) -> Tensor) -> Stats {
    let mut x = ramp(&[400, 16], device) * 2.0;
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
    let x = ramp(&[rows, columns], &device);
    let gain = ramp(&[columns], &device);
    x.wait().unwrap();
    gain.wait().unwrap();
    let whole = f32s(rows * columns);
    // The input and the gain.
    one_launch(&device, x.rms_norm([1], Some(&gain), 1e-6), whole + f32s(columns), whole);
    let labels = positions(&(0..rows as i64).collect::<Vec<_>>(), &device);
    labels.wait().unwrap();
    let picked = x.gather(1, &labels.unsqueeze(1)).squeeze(1);
    let loss = (x.logsumexp([1]) - picked).mean_all();
    let stats = counted(&device, loss);
    // The largest of each row and the row's sum are written, and read by the kernel that adds up all rows; it also
    // reads a label of eight bytes and a logit for each row.
    assert_eq!(stats.launches, 2);
    assert_eq!(stats.bytes_read, whole + 2 * f32s(rows) + 8 * rows as u64 + f32s(rows));
    assert_eq!(stats.bytes_written, 2 * f32s(rows) + f32s(1));
}
