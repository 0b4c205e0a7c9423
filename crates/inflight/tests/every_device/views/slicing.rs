//! Slicing and joining: slice, narrow, index_axis, cat, stack, split, chunk, pad, slice_assign.

use crate::support::{counting, device, message, read};
use inflight::{DType, Shape, Slice, Tensor};

#[test]
fn slices_take_ranges_with_steps() {
    let x = counting([4, 6], &device());
    assert_eq!(read::<i32>(&x.slice(1..3)), (vec![2, 6], (6..18).collect()));
    assert_eq!(read::<i32>(&x.slice((.., 4..))).1, [4, 5, 10, 11, 16, 17, 22, 23]);
    assert_eq!(read::<i32>(&x.slice((-1.., ..=1))).1, [18, 19]);
    assert_eq!(read::<i32>(&x.slice((3..4, Slice::all().step(-2)))).1, [23, 21, 19]);
    assert_eq!(read::<i32>(&x.slice([Slice::from(0..4).step(3), (2..3).into()])).1, [2, 20]);
    assert_eq!(read::<i32>(&x.slice((2..2, ..))), (vec![0, 6], vec![]));
    let (start, end) = (1usize, 2usize);
    assert_eq!(read::<i32>(&x.slice([start..end, start..end])).1, [7]);
}

#[test]
fn slices_out_of_range_name_the_axis() {
    let x = counting([4, 6], &device());
    let wrong = x.slice((1.., 2..9));
    assert_eq!(wrong.shape(), &Shape::from([3, 4]));
    let text = message(&wrong);
    for part in ["slice", "axis 1", "2..9", "6", "slicing.rs"] {
        assert!(text.contains(part), "{part} is not in {text}");
    }
    assert!(message(&x.slice((.., .., ..))).contains("3 slices"));
    assert!(message(&x.slice(-5..)).contains("-5.."));
    assert!(message(&x.slice(Slice::all().step(0))).contains("step of 0"));
}

#[test]
fn an_index_drops_its_axis() {
    let x = counting([2, 3, 2], &device());
    assert_eq!(read::<i32>(&x.index_axis(1, 1)), (vec![2, 2], vec![2, 3, 8, 9]));
    assert_eq!(read::<i32>(&x.index_axis(-1, -1)), (vec![2, 3], vec![1, 3, 5, 7, 9, 11]));
    assert!(message(&x.index_axis(1, 3)).contains("index 3"));
    assert!(message(&x.index_axis(1, -4)).contains("axis 1"));
    assert_eq!(x.index_axis(1, 3).shape(), &Shape::from([2, 2]));
    assert_eq!(read::<i32>(&x.narrow(1, 1, 2)).1, [2, 3, 4, 5, 8, 9, 10, 11]);
    assert_eq!(read::<i32>(&x.narrow(1, 3, 0)).0, [2, 0, 2]);
    assert!(message(&x.narrow(1, 2, 2)).contains("out of range"));
    assert!(x.narrow(1, usize::MAX, 2).check().is_err());
}

#[test]
fn cat_stack_split_and_chunk() {
    let device = device();
    let x = counting([2, 3], &device);
    let y = &x + 10;
    let joined = Tensor::cat([&x, &y], 1);
    assert_eq!(read::<i32>(&joined), (vec![2, 6], vec![0, 1, 2, 10, 11, 12, 3, 4, 5, 13, 14, 15]));
    assert_eq!(read::<i32>(&Tensor::cat(&[x.clone(), y.clone(), x.clone()], 0)).0, [6, 3]);
    assert_eq!(
        read::<i32>(&Tensor::stack([&x, &y], 1)),
        (vec![2, 2, 3], vec![0, 1, 2, 10, 11, 12, 3, 4, 5, 13, 14, 15])
    );
    assert_eq!(read::<i32>(&Tensor::stack([&x, &y], -1)).0, [2, 3, 2]);
    let parts = joined.split(-1, [1, 0, 5]);
    assert_eq!(parts.iter().map(|part| part.shape()[1]).collect::<Vec<_>>(), [1, 0, 5]);
    assert_eq!(read::<i32>(&Tensor::cat(&parts, 1)), read::<i32>(&joined));
    let chunks = joined.chunk(1, 4);
    assert_eq!(chunks.iter().map(|part| part.shape()[1]).collect::<Vec<_>>(), [2, 2, 1, 1]);
    assert_eq!(read::<i32>(&Tensor::cat(&chunks, 1)), read::<i32>(&joined));
    let tensors: Vec<Tensor> = (0..40).map(|i| &x + i).collect();
    let rows = Tensor::stack(&tensors, 0);
    assert_eq!(rows.to_vec::<i32>().unwrap()[39 * 6..], [39, 40, 41, 42, 43, 44]);
}

#[test]
fn mismatched_joins_are_errors() {
    let device = device();
    let x = counting([2, 3], &device);
    assert!(message(&Tensor::cat([&x, &counting([2, 4], &device)], 0)).contains("[2, 4]"));
    assert!(message(&Tensor::cat([&x, &x.cast(DType::F32)], 0)).contains("f32"));
    assert!(message(&Tensor::cat([&x], 2)).contains("axis 2"));
    assert!(message(&Tensor::cat::<&Tensor>([], 0)).contains("at least one"));
    let parts = x.split(1, [1, 1]);
    assert_eq!(parts.len(), 2);
    assert!(message(&parts[1]).contains("add up"));
    assert!(message(&x.chunk(1, 0)[0]).contains("no parts"));
    assert_eq!(x.chunk(5, 3).len(), 3);
    assert!(x.split(0, [usize::MAX, 3])[0].check().is_err());
}

#[test]
fn padding_extends_and_crops() {
    let x = counting([2, 2], &device());
    assert_eq!(
        read::<i32>(&x.pad([(1, 0), (0, 1)], 9)),
        (vec![3, 3], vec![9, 9, 9, 0, 1, 9, 2, 3, 9])
    );
    assert_eq!(read::<i32>(&x.pad([(-1, 0), (1, -1)], 9)), (vec![1, 2], vec![9, 2]));
    let half = x.cast(DType::F16).pad([(0, 0), (1, 0)], 0.5);
    assert_eq!(half.cast(DType::F32).to_vec::<f32>().unwrap(), [0.5, 0.0, 1.0, 0.5, 2.0, 3.0]);
    assert!(message(&x.pad([(1, 1)], 0)).contains("pad"));
    assert!(message(&x.pad([(-3, 0), (0, 0)], 0)).contains("axis 0"));
    assert!(message(&x.pad([(1, 1), (0, 0)], 0.5)).contains("0.5"));
}

#[test]
fn slice_assign_replaces_a_slice() {
    let device = device();
    let x = counting([2, 3], &device);
    let update = Tensor::from_vec(vec![10, 20], [2, 1], &device).unwrap();
    assert_eq!(read::<i32>(&x.slice_assign((.., 1..2), &update)).1, [0, 10, 2, 3, 20, 5]);
    assert_eq!(read::<i32>(&x.slice_assign((.., 1..), &update)).1, [0, 10, 10, 3, 20, 20]);
    let last = x.slice_assign((-1.., Slice::all().step(-1)), counting([1, 3], &device));
    assert_eq!(read::<i32>(&last).1, [0, 1, 2, 2, 1, 0]);
    // Tensors are values: the original is unchanged.
    assert_eq!(read::<i32>(&x).1, [0, 1, 2, 3, 4, 5]);
    assert!(message(&x.slice_assign((0..1, ..), &update)).contains("slice_assign"));
    assert!(message(&x.slice_assign(5.., &update)).contains("5.."));
    assert_eq!(x.slice_assign(5.., &update).shape(), x.shape());
}
