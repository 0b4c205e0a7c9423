//! Argument forms of axes, shapes, indices and lists: integer literals, `usize` variables, arrays, tuples, ranges; and
//! the errors of invalid arguments.

#![allow(clippy::reversed_empty_ranges, reason = "a negative bound counts from the end")]
#![allow(clippy::needless_borrows_for_generic_args, reason = "references are accepted, too")]

use crate::support::{counting, device, message, read};
use inflight::{
    ConvOptions, DType, Device, Error, Extents, Pending, PoolOptions, Shape, Slice, Tensor, pending,
};
use std::sync::Arc;

fn index<const N: usize>(elements: [i64; N], device: &Device) -> Tensor {
    Tensor::from_vec(elements.to_vec(), N, device).unwrap()
}

/// Asserts that the tensor's error names this method and contains these parts.
#[track_caller]
fn assert_error(tensor: &Tensor, method: &str, parts: &[&str]) {
    let text = message(tensor);
    assert_eq!(tensor.check().unwrap_err().op(), Some(method), "{text}");
    assert!(text.contains("arguments.rs"), "{text}");
    for part in parts {
        assert!(text.contains(part), "{part:?} is not in {text:?}");
    }
}

#[test]
fn reductions_take_axes_in_every_form() {
    let x = counting((2, 3, 4), &device());
    let (n, list) = (1usize, vec![0usize, 2]);
    let expected = read::<i32>(&x.sum([1]));
    for same in [
        x.sum(1),
        x.sum(-2),
        x.sum(n),
        x.sum(n as isize),
        x.sum(n as i64),
        x.sum([n]),
        x.sum(&[1]),
        x.sum((1,)),
        x.sum(1..2),
        x.sum(1..=1),
        x.sum(-2..-1),
        x.sum(n..n + 1),
    ] {
        assert_eq!(read::<i32>(&same), expected);
    }
    let expected = read::<i32>(&x.sum([0, 2]));
    for same in [x.sum((0, -1)), x.sum(&list), x.sum(&list[..]), x.sum(list.clone())] {
        assert_eq!(read::<i32>(&same), expected);
    }
    assert_eq!(x.sum(1..).shape(), &Shape::from([2]));
    assert_eq!(x.sum(..2).shape(), &Shape::from([4]));
    assert_eq!(x.sum(-2..).shape(), &Shape::from([2]));
    assert_eq!(x.sum(..).item::<i32>().unwrap(), x.sum_all().item::<i32>().unwrap());
    assert_eq!(read::<i32>(&x.sum(())), read::<i32>(&x));
    assert_eq!(x.max_keepdim(n..).shape(), &Shape::from([2, 1, 1]));
    assert_eq!(x.argmax(n).shape(), &Shape::from([2, 4]));
    assert_eq!(x.argmin_keepdim(-1).shape(), &Shape::from([2, 3, 1]));
    assert_eq!(x.cumsum(n).to_vec::<i32>().unwrap()[4..8], [4, 6, 8, 10]);
    let f = x.to::<f32>();
    assert_eq!(f.var(n, 1).shape(), &Shape::from([2, 4]));
    for axis in 0..x.rank() {
        assert_eq!(f.softmax(axis).shape(), x.shape());
        assert_eq!(f.mean(axis).rank(), 2);
    }
}

#[test]
fn views_take_axes_in_every_form() {
    let x = counting((2, 3, 4), &device());
    let (first, last) = (0usize, x.rank() - 1);
    assert_eq!(read::<i32>(&x.flip(0)), read::<i32>(&x.flip([0])));
    assert_eq!(read::<i32>(&x.flip(..)).1, (0..24).rev().collect::<Vec<_>>());
    assert_eq!(x.permute([1, 0, 2]).shape(), &Shape::from([3, 2, 4]));
    assert_eq!(x.permute((2, first, 1)).shape(), &Shape::from([4, 2, 3]));
    assert_eq!(x.swap_dims(first, -1).shape(), &Shape::from([4, 3, 2]));
    assert_eq!(x.unsqueeze(first).squeeze(first).shape(), x.shape());
    assert_eq!(x.narrow(last, 1, 2).shape(), &Shape::from([2, 3, 2]));
    assert_eq!(x.index_axis(last, 1usize).shape(), &Shape::from([2, 3]));
    assert_eq!(read::<i32>(&x.sort(last, true)).1[..4], [3, 2, 1, 0]);
    assert_eq!(x.top_k(2, last).0.shape(), &Shape::from([2, 3, 2]));
    assert_eq!(x.unfold(last, 3, 1).shape(), &Shape::from([2, 3, 2, 3]));
    assert_eq!(x.to::<f32>().rfft(last).shape(), &Shape::from([2, 3, 3]));
    assert_eq!(x.to::<f32>().layer_norm(last, None, None, 1e-5).shape(), x.shape());
    assert_eq!(x.to::<f32>().layer_norm(-2.., None, None, 1e-5).shape(), x.shape());
}

#[test]
fn invalid_axes_name_the_method_and_the_axis() {
    let x = counting((2, 3), &device());
    assert_error(&x.sum(2), "sum", &["i32[2, 3]", "axis 2 is not in -2..2"]);
    assert_error(&x.sum_keepdim([0, -3]), "sum_keepdim", &["axis -3"]);
    assert_error(&x.max(1..4), "max", &["axes 1..4", "-2..2"]);
    assert_eq!(x.max(1..4).shape(), &Shape::from([2]));
    assert_error(&x.argmax_keepdim(5usize), "argmax_keepdim", &["axis 5"]);
    assert_error(&x.cumprod(-3), "cumprod", &["axis -3"]);
    assert_error(&x.flip([1, -1]), "flip", &["axis 1 is named twice"]);
    assert_error(&x.permute(..1), "permute", &["permutation of all 2 axes"]);
    assert_error(&x.to::<f32>().softmax(2), "softmax", &["axis 2"]);
    assert_error(&x.sort(9, false), "sort", &["axis 9"]);
    assert_error(&Tensor::scalar(1, &device()).sum(0), "sum", &["axis 0 of a scalar"]);
    assert_error(&x.sum(usize::MAX), "sum", &["axis 9223372036854775807"]);
}

#[test]
fn shapes_are_tuples_too() {
    let device = device();
    let n = 4usize;
    assert_eq!(Tensor::zeros::<f32>((2, 3), &device).shape(), &Shape::from([2, 3]));
    assert_eq!(Tensor::ones::<f32>((n, 1, 2, 3, 4, 5), &device).rank(), 6);
    assert_eq!(Tensor::full(1u8, (n,), &device).shape(), &Shape::from([4]));
    assert_eq!(Tensor::full(1u8, n, &device).shape(), &Shape::from([4]));
    let x = counting((n, 6), &device);
    assert_eq!(x.reshape((n, -1)).shape(), &Shape::from([4, 6]));
    assert_eq!(x.reshape((2, -1, 3)).shape(), &Shape::from([2, 4, 3]));
    assert_eq!(x.reshape([n as isize, -1]).shape(), &Shape::from([4, 6]));
    assert_eq!(x.reshape(vec![12usize, 2]).shape(), &Shape::from([12, 2]));
    assert_eq!(x.reshape(x.shape()).shape(), x.shape());
    assert_eq!(x.reshape(-1).shape(), &Shape::from([24]));
    assert_eq!((n, -1, 2i64).extents().as_slice(), [4, -1, 2]);
}

#[test]
fn expand_minus_one_keeps_an_extent() {
    let x = counting((3, 1), &device());
    assert_eq!(read::<i32>(&x.expand((-1, 2))), (vec![3, 2], vec![0, 0, 1, 1, 2, 2]));
    assert_eq!(x.expand((2usize, -1, 4)).shape(), &Shape::from([2, 3, 4]));
    assert_eq!(x.expand(&Shape::from([3, 5])).shape(), &Shape::from([3, 5]));
    assert_eq!(x.expand([-1, -1]).shape(), x.shape());
    assert_error(&x.expand((-1, 3, 2)), "expand", &["axis 0", "[-1, 3, 2]", "[3, 1]"]);
    assert_error(&x.expand((4, 2)), "expand", &["[4, 2]", "[3, 1]"]);
    assert_error(&x.expand((3, -2)), "expand", &["-2"]);
}

#[test]
fn axes_are_flattened() {
    let x = counting((2, 3, 4, 5), &device());
    assert_eq!(x.flatten_from(1).shape(), &Shape::from([2, 60]));
    assert_eq!(x.flatten_from(-2).shape(), &Shape::from([2, 3, 20]));
    assert_eq!(x.flatten_from(0).shape(), x.flatten().shape());
    assert_eq!(x.flatten_axes(1..3).shape(), &Shape::from([2, 12, 5]));
    assert_eq!(x.flatten_axes(..2).shape(), &Shape::from([6, 4, 5]));
    assert_eq!(x.flatten_axes([-2, -1]).shape(), &Shape::from([2, 3, 20]));
    assert_eq!(x.flatten_axes(2).shape(), x.shape());
    assert_eq!(read::<i32>(&x.flatten_axes(..)).1, (0..120).collect::<Vec<_>>());
    assert_error(&x.flatten_axes([0, 2]), "flatten_axes", &["adjacent", "[0, 2]"]);
    assert_error(&x.flatten_axes(2..2), "flatten_axes", &["at least one"]);
    assert_error(&x.flatten_from(4), "flatten_from", &["axis 4", "[2, 3, 4, 5]"]);
}

#[test]
fn reshapes_name_the_shapes() {
    let x = counting((2, 3), &device());
    assert_error(&x.reshape((4, -1)), "reshape", &["6 elements of [2, 3]", "[4, -1]"]);
    assert_error(&x.reshape((-1, -1)), "reshape", &["more than one -1"]);
    assert_error(&x.reshape([5, 2]), "reshape", &["[2, 3]", "[5, 2]"]);
}

#[test]
fn padding_takes_pairs_of_any_integers() {
    let x = counting((2, 2), &device());
    let (before, after) = (1usize, 0usize);
    let expected = vec![9, 9, 9, 0, 1, 9, 2, 3, 9];
    assert_eq!(read::<i32>(&x.pad([(1, 0), (0, 1)], 9)).1, expected);
    assert_eq!(read::<i32>(&x.pad([(before, after), (after, before)], 9)).1, expected);
    assert_eq!(read::<i32>(&x.pad(vec![(1isize, 0isize), (0, 1)], 9)).1, expected);
    assert_eq!(read::<i32>(&x.pad(&[(1, after), (0, before)], 9)).1, expected);
    assert_eq!(read::<i32>(&x.pad([(-1, 0), (0, 1)], 9)), (vec![1, 3], vec![2, 3, 9]));
    assert_error(&x.pad([(1, 1)], 0), "pad", &["[2, 2]", "one for each axis"]);
    assert_error(&x.pad([(0, 0), (-3, 0)], 0), "pad", &["axis 1"]);
}

#[test]
fn lists_of_tensors_are_any_iterable() {
    let device = device();
    let (a, b) = (counting((1, 2), &device), counting((2, 2), &device));
    let expected = (vec![3, 2], vec![0, 1, 0, 1, 2, 3]);
    let (first, second) = (Arc::new(a.clone()), Arc::new(b.clone()));
    for joined in [
        Tensor::cat([&a, &b], 0),
        Tensor::cat([a.clone(), b.clone()], 0),
        Tensor::cat(&[a.clone(), b.clone()], 0),
        Tensor::cat(&[&a, &b], 0usize),
        Tensor::cat(vec![a.clone(), b.clone()], -2),
        Tensor::cat(&vec![a.clone(), b.clone()], 0),
        Tensor::cat([first, second], 0),
        Tensor::cat([&a].into_iter().chain([&b]), 0),
    ] {
        assert_eq!(read::<i32>(&joined), expected);
    }
    let stacked = Tensor::stack([&a, &a], 0);
    assert_eq!(stacked.shape(), &Shape::from([2, 1, 2]));
    assert_eq!(Tensor::stack(b.rows(), -1).shape(), &Shape::from([2, 2]));
    assert_eq!(read::<i32>(&Tensor::stack(&b, 0)), read::<i32>(&b));
    assert_error(&Tensor::cat([&a, &b], 1), "cat", &["[1, 2]", "[2, 2]", "axis 1"]);
    assert_error(&Tensor::cat([&a, &b.cast(DType::F32)], 0), "cat", &["i32", "f32"]);
    assert_error(&Tensor::cat([&a, &b], 2), "cat", &["axis 2"]);
    assert_error(&Tensor::stack([&a, &b], 0), "stack", &["one shape", "[1, 2]", "[2, 2]"]);
    assert_error(&Tensor::stack([&a, &a], 3), "stack", &["axis 3"]);
    assert_error(&Tensor::cat(Vec::<Tensor>::new(), 0), "cat", &["at least one"]);
}

#[test]
fn sizes_are_given_as_arrays() {
    let x = counting((5, 4), &device());
    let parts = x.split(0, [2, 3]);
    assert_eq!(read::<i32>(&parts[1]), (vec![3, 4], (8..20).collect()));
    assert_eq!(x.split(1usize, vec![1, 3]).len(), 2);
    assert_eq!(x.windows([3, 3], [1, 1]).shape(), &Shape::from([3, 2, 3, 3]));
    assert_error(&x.split(0, [2, 2])[0], "split", &["[2, 2]", "axis 0"]);
    assert_error(&x.windows([3, 3], [1]), "windows", &["2 and 1"]);
    assert_error(&x.windows([3, 3], [1, 0]), "windows", &["axis 1"]);
}

#[test]
fn options_are_one_value_or_one_per_axis() {
    let device = device();
    let x = counting((1, 1, 4, 6), &device).to::<f32>();
    let w = Tensor::ones::<f32>((2, 1, 3, 3), &device);
    let b = Tensor::full(10.0f32, 2, &device);
    let options = ConvOptions::default().stride([1, 2]).padding(1);
    let plain = x.conv2d(&w, None, options);
    assert_eq!(plain.shape(), &Shape::from([1, 2, 4, 3]));
    let expected: Vec<f32> = plain.to_vec::<f32>().unwrap().iter().map(|x| x + 10.0).collect();
    let optional = Some(b.clone());
    for biased in [
        x.conv2d(&w, &b, options),
        x.conv2d(&w, Some(&b), options),
        x.conv2d(&w, optional.as_ref(), options),
        x.conv2d(&w, &optional, options),
    ] {
        assert_eq!(biased.to_vec::<f32>().unwrap(), expected);
    }
    assert_eq!(x.max_pool2d(PoolOptions::new([2, 3])).shape(), &Shape::from([1, 1, 2, 2]));
    assert_eq!(
        x.avg_pool2d(PoolOptions::new(2).stride([1, 2])).shape(),
        &Shape::from([1, 1, 3, 3])
    );
    let weight = Tensor::ones::<f32>(6, &device);
    assert_eq!(x.layer_norm(-1, &weight, None, 1e-5).shape(), x.shape());
    assert_eq!(x.layer_norm(-1, None, &weight, 1e-5).shape(), x.shape());
    assert_eq!(x.rms_norm(-1, &weight, 1e-5).shape(), x.shape());

    let wrong = x.conv2d(&w, &Tensor::zeros::<f32>(3, &device), options);
    assert_error(&wrong, "conv2d", &["bias of 2 elements", "[3]"]);
    assert_eq!(wrong.shape(), plain.shape());
    let zero = ConvOptions::default().stride([1, 0]);
    assert_error(&x.conv2d(&w, None, zero), "conv2d", &["stride [1, 0]"]);
    assert_error(&x.max_pool2d(PoolOptions::new([0, 2])), "max_pool2d", &["size [0, 2]"]);
    let ints = x.to::<i32>();
    assert_error(&ints.conv2d(&w, None, options), "conv2d", &["i32", "f32"]);
    let half = w.cast(DType::F16);
    assert_error(
        &x.conv_transpose2d(&half, None, options),
        "conv_transpose2d",
        &["f16[2, 1, 3, 3]"],
    );
}

#[test]
fn integers_in_a_slice_drop_their_axis() {
    let x = counting((3, 4, 5), &device());
    assert_eq!(read::<i32>(&x.slice(2)), (vec![4, 5], (40..60).collect()));
    assert_eq!(read::<i32>(&x.slice(-1)), read::<i32>(&x.slice(2usize)));
    assert_eq!(read::<i32>(&x.slice((0, .., 1..-1))).0, [4, 3]);
    assert_eq!(read::<i32>(&x.slice((0, .., 1..-1))).1[..3], [1, 2, 3]);
    assert_eq!(read::<i32>(&x.slice((.., -1, Slice::all().step(2)))).1[..3], [15, 17, 19]);
    assert_eq!(read::<i32>(&x.slice((1, 2, 3))), (vec![], vec![33]));
    assert_eq!(read::<i32>(&x.slice([1, 2])), (vec![5], (30..35).collect()));
    assert_eq!(x.slice([0..2, 1..3]).shape(), &Shape::from([2, 2, 5]));
    assert_eq!(x.slice(vec![0..2, 1..3]).shape(), &Shape::from([2, 2, 5]));
    assert_eq!(x.slice((0..1, ..)).shape(), &Shape::from([1, 4, 5]));
    assert_eq!(x.slice((Slice::new(1, -1), 1..-1i64)).shape(), &Shape::from([1, 2, 5]));
    // An axis of one element is dropped, too.
    assert_eq!(counting((1, 2), &device()).slice(0).shape(), &Shape::from([2]));
    assert_error(&x.slice((0, 4)), "slice", &["axis 1: index 4", "extent, 4"]);
    assert_eq!(x.slice((0, 4)).shape(), &Shape::from([5]));
    assert_error(&x.slice((.., 1..-5)), "slice", &["axis 1", "1..-5"]);
    assert_error(&x.slice((0, 0, 0, 0)), "slice", &["4 slices", "3 axes"]);
}

#[test]
fn slices_are_assigned_by_the_same_rule() {
    let device = device();
    let x = Tensor::zeros::<i32>((2, 3), &device);
    let row = counting(3, &device) + 1;
    assert_eq!(read::<i32>(&x.slice_assign(1, &row)).1, [0, 0, 0, 1, 2, 3]);
    assert_eq!(read::<i32>(&x.slice_assign(.., &row)).1, [1, 2, 3, 1, 2, 3]);
    let one = Tensor::scalar(7, &device);
    assert_eq!(read::<i32>(&x.slice_assign((0, -1), &one)).1, [0, 0, 7, 0, 0, 0]);
    let column = counting(2, &device) + 5;
    assert_eq!(read::<i32>(&x.slice_assign((.., 1), &column)).1, [0, 5, 0, 0, 6, 0]);
    assert_eq!(
        read::<i32>(&x.slice_assign((.., 1..), &column.reshape((2, 1)))).1,
        [0, 5, 5, 0, 6, 6]
    );
    assert_error(&x.slice_assign((.., 1), &row), "slice_assign", &["[3]", "region of shape [2]"]);
    assert_error(&x.slice_assign(2, &row), "slice_assign", &["axis 0", "index 2"]);
    assert_error(&x.slice_assign(1, &row.to::<f32>()), "slice_assign", &["i32[2, 3], f32[3]"]);
}

#[test]
fn rows_are_iterated() -> inflight::Result<()> {
    let x = counting((3, 2), &device());
    assert_eq!(x.get(0).to_vec::<i32>()?, [0, 1]);
    assert_eq!(x.get(-1).to_vec::<i32>()?, [4, 5]);
    assert_eq!(x.get(1usize).get(1).item::<i32>()?, 3);
    let mut sums = Vec::new();
    for row in &x {
        sums.push(row.sum_all().item::<i32>()?);
    }
    assert_eq!(sums, [1, 5, 9]);
    assert_eq!(x.rows().len(), 3);
    assert_eq!(x.iter().rev().map(|row| row.get(0)).collect::<Vec<_>>().len(), 3);
    assert_eq!(x.rows().next_back().unwrap().to_vec::<i32>()?, [4, 5]);
    assert_eq!(x.rows().nth(1).unwrap().to_vec::<i32>()?, [2, 3]);
    assert_eq!(read::<i32>(&Tensor::stack(x.rows().rev(), 0)).1, [4, 5, 2, 3, 0, 1]);
    assert_eq!(counting((0, 2), x.device()).rows().count(), 0);
    assert_error(&x.get(3), "get", &["index 3", "axis 0"]);
    assert_eq!(x.get(3).shape(), &Shape::from([2]));
    let scalar = Tensor::scalar(1, x.device());
    let items: Vec<Tensor> = scalar.rows().collect();
    assert_eq!(items.len(), 1);
    assert_error(&items[0], "rows", &["scalar"]);
    Ok(())
}

#[test]
fn rows_are_added_at_an_index() {
    let device = device();
    let x = counting((3, 2), &device);
    let updates = counting((3, 2), &device) + 10;
    let at = index([2, 0, 2], &device);
    assert_eq!(read::<i32>(&x.index_add(0, &at, &updates)).1, [12, 14, 2, 3, 28, 31]);
    assert_eq!(
        read::<i32>(&x.index_add(-1, &index([1], &device), &updates.narrow(1, 0, 1))).1,
        [0, 11, 2, 15, 4, 19]
    );
    // Updates broadcast, and those out of range are dropped.
    let one = Tensor::scalar(1, &device);
    assert_eq!(read::<i32>(&x.index_add(0, &index([0, 7], &device), &one)).1, [1, 2, 2, 3, 4, 5]);
    assert_error(&x.index_add(0, &at, &x.narrow(0, 0, 2)), "index_add", &["[2, 2]", "[3, 2]"]);
    assert_error(&x.index_add(0, &x, &x), "index_add", &["2 axes"]);
    assert_error(&x.index_add(2, &at, &x), "index_add", &["axis 2"]);
    assert_error(&x.index_add(0, &at.to::<f32>(), &x), "index_add", &["integer index", "f32[3]"]);
}

#[test]
fn elements_are_taken_along_an_axis() {
    let device = device();
    let x = Tensor::from_vec(vec![3, 1, 2, 9, 8, 7], (2, 3), &device).unwrap();
    let order = x.argsort(1, false);
    assert_eq!(read::<i32>(&x.take_along_axis(1, &order)).1, [1, 2, 3, 7, 8, 9]);
    let first = index([0], &device).reshape((1, 1));
    assert_eq!(read::<i32>(&x.take_along_axis(-1, &first)), (vec![2, 1], vec![3, 9]));
    // The tensor broadcasts, too.
    let columns = index([2, 0], &device).reshape((2, 1));
    assert_eq!(read::<i32>(&x.get(0).unsqueeze(0).take_along_axis(1, &columns)).1, [2, 3]);
    let wrong = index([0, 0, 0], &device).reshape((3, 1));
    assert_error(&x.take_along_axis(1, &wrong), "take_along_axis", &["[2, 3]", "[3, 1]", "axis 1"]);
    assert_error(&x.take_along_axis(0, &index([0], &device)), "take_along_axis", &["[1]"]);
    assert_error(&x.take_along_axis(0, &x.to::<f32>()), "take_along_axis", &["integer index"]);
}

#[test]
fn errors_name_the_method_not_the_primitive() {
    let device = device();
    let x = counting((2, 3), &device);
    let (f, at) = (x.to::<f32>(), index([0, 1], &device));
    let wrong = at.to::<f32>();
    assert_error(&x.index_select(1, &wrong), "index_select", &["i32[2, 3], f32[2]", "integer"]);
    assert_error(&x.take(&wrong), "take", &["i32[2, 3], f32[2]"]);
    assert_error(&x.masked_fill(&x, 1), "masked_fill", &["bool", "i32[2, 3]"]);
    assert_error(&Tensor::eye::<f32>(usize::MAX / 2, &device), "eye", &["fits an isize"]);
    assert_error(&x.scatter_add(0, &at, &x), "scatter_add", &["i64[2]"]);
    assert_error(&x.sum_all().argmax(0), "argmax", &["scalar"]);
    assert_error(&Tensor::zeros::<f32>((0, 2), &device).argmax_all(), "argmax_all", &["[0, 2]"]);
    assert_error(&x.mean_all(), "mean_all", &["i32"]);
    assert_error(&f.complex(&f).relu(), "relu", &["complex64[2, 3]"]);
    assert_error(
        &x.solve_triangular(&x, inflight::TriangularOptions::lower()),
        "solve_triangular",
        &[],
    );
    let rows = f.rfft(0);
    assert_error(&rows.irfft(0, 0), "irfft", &["axis 0", "n = 0", "[2, 3]"]);
    assert_error(&rows.irfft(9, 0), "irfft", &["extent 5 on axis 0"]);
    assert_error(&x.fft(0), "fft", &["i32"]);
    assert_error(&f.matmul(&x.transpose()), "matmul", &["f32[2, 3], i32[3, 2]", "one dtype"]);
}

#[test]
fn matmul_errors_name_both_extents_and_shapes() {
    let device = device();
    let (a, b) = (counting((2, 3), &device), counting((4, 5), &device));
    let parts = ["the contracted extents differ: K = 3 in a [2, 3], K = 4 in b [4, 5]"];
    assert_error(&a.matmul(&b), "matmul", &parts);
    assert_error(&a.matmul(&b.get(0)), "matmul", &["K = 5 in b [5]", "only axis"]);
}

#[test]
fn the_error_of_an_operand_names_its_own_method() {
    let device = device();
    let x = counting((2, 3), &device);
    let bad = x.reshape(7);
    let first = message(&bad);
    let at = index([0], &device);
    for later in [
        bad.index_select(0, &at),
        x.index_select(0, &bad),
        x.index_add(0, &at, &bad),
        bad.take_along_axis(0, &at),
        Tensor::cat([&x, &bad], 0),
        Tensor::stack([&x, &bad], 0),
        x.masked_fill(&x.gt(1), &bad),
        bad.sum(9),
        bad.get(9),
        bad.to::<f32>().softmax(0),
        bad.rows().next().unwrap(),
        x.slice_assign(0, &bad),
    ] {
        assert_eq!(message(&later), first);
    }
}

#[test]
fn methods_are_pending_ops_with_the_same_arguments() {
    let device = device();
    let x = counting((2, 3), &device);
    let n = 1usize;
    let p = x.to_async();
    let shape = |pending: Pending<Tensor>| pending.get().unwrap().shape().to_vec();
    assert_eq!(shape(pending::sum(&p, n)), [2]);
    assert_eq!(shape(pending::sum(&p, ..)), [0usize; 0]);
    assert_eq!(shape(pending::permute(&p, (1, 0))), [3, 2]);
    assert_eq!(shape(pending::reshape(&p, (n, -1))), [1, 6]);
    assert_eq!(shape(pending::expand(&p, (4, -1, -1))), [4, 2, 3]);
    assert_eq!(shape(pending::slice(&p, (0, 1..-1))), [1]);
    assert_eq!(shape(pending::get(&p, -1)), [3]);
    assert_eq!(shape(pending::pad(&p, [(1, 1), (0, 2)], 0)), [4, 5]);
    assert_eq!(shape(pending::index_add(&p, 0, &index([1], &device), &x.narrow(0, 0, 1))), [2, 3]);
    assert_eq!(pending::split(&p, 1, [1, 2]).get().unwrap().len(), 2);
    assert_eq!(shape(pending::split2(&p, n).map(|(left, _)| left)), [2, 2]);
    let error = pending::sum(&p, 5).get().unwrap().check().unwrap_err();
    assert!(matches!(&error, Error::Op(error) if error.op == "sum"), "{error}");
}

#[test]
fn strict_mode_panics_under_the_name_of_the_method() {
    let device = device();
    if std::env::var_os("INFLIGHT_STRICT").is_some() {
        let _ = counting((2, 3), &device).index_select(0, &Tensor::zeros::<f32>(2, &device));
        return;
    }
    let thread = std::thread::current();
    let test = "strict_mode_panics_under_the_name_of_the_method";
    let name = thread.name().filter(|name| name.ends_with(test)).unwrap_or(test);
    let output = std::process::Command::new(std::env::current_exe().unwrap())
        .args(["--exact", name, "--nocapture"])
        .env("INFLIGHT_STRICT", "1")
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(!output.status.success());
    assert!(text.contains("index_select(i32[2, 3], f32[2])"), "{text}");
}
