//! The user-facing API of values: scalar operands, nested arrays, reads, comparisons, random generators.

#![allow(clippy::reversed_empty_ranges)] // a negative step counts down

use inflight::{
    Complex, DType, Device, Element, Pending, Result, Rng, Scalar, Shape, Tensor, Transpose,
    TriangularOptions, assert_close,
};

fn device() -> Device {
    Device::cpu()
}

#[test]
fn scalars_take_the_dtype_of_the_tensor_on_either_side() -> Result<()> {
    let x = Tensor::from_array([1.0f32, -2.0, 4.0], &device());
    let n: usize = 2;
    assert_eq!((&x / n).to_vec::<f32>()?, [0.5, -1.0, 2.0]);
    assert_eq!((&x * -1isize).to_vec::<f32>()?, [-1.0, 2.0, -4.0]);
    // A literal on the left has a unique type, so that a method call type-checks.
    assert_eq!((1.0 - &x).relu().to_vec::<f32>()?, [0.0, 3.0, 0.0]);
    assert_eq!((2 * &x).abs().to_vec::<f32>()?, [2.0, 4.0, 8.0]);
    assert_eq!((-0.5 * x.square()).exp().dtype(), DType::F32);
    assert_eq!(x.gt(0).to_vec::<bool>()?, [true, false, true]);
    assert_eq!(x.eq(4).sum_all().item::<usize>()?, 1);
    let message = (Tensor::from([1u8, 2]) + 300usize).check().unwrap_err().to_string();
    assert!(message.contains("expected a scalar that u8 can represent, found 300"), "{message}");
    Ok(())
}

/// The sum as the element type itself: `Element` is all that a generic function needs to read an item.
fn total<T: Element>(x: &[T], offset: T) -> Result<T> {
    let x = Tensor::from_slice(x, x.len(), &device())?;
    (x + offset.to_scalar()).sum_all().item::<T>()
}

#[test]
fn generic_functions_read_items_and_take_scalars() -> Result<()> {
    assert_eq!(total(&[1, 2, 3], 1)?, 9);
    assert_eq!(total(&[0.5f32, 2.0], 0.25)?, 3.0);
    assert_eq!(total(&[250u8, 1], 2)?, 255);
    assert_eq!((Tensor::from([1.0f32, 2.0]) * Scalar::from(3)).dtype(), DType::F32);
    Ok(())
}

#[test]
fn slices_are_assigned_numbers_and_shapes_compare_with_arrays() -> Result<()> {
    let x = Tensor::zeros::<u8>((2, 3), &device());
    assert_eq!(x.shape(), [2, 3]);
    assert!(x.shape() != [3, 2] && x.shape() != [2]);
    assert_eq!(x.slice_assign((.., -1), 7.0).to_vec::<u8>()?, [0, 0, 7, 0, 0, 7]);
    let message = x.slice_assign(0, 300).check().unwrap_err().to_string();
    assert!(message.contains("slice_assign") && message.contains("300"), "{message}");
    Ok(())
}

#[test]
fn triangular_options_are_built_from_each_other() {
    let factor = Tensor::from([[2.0, 0.0], [1.0, 3.0]]);
    let b = Tensor::from([[4.0], [3.0]]);
    let transposed = TriangularOptions::lower().transpose(Transpose::Transpose);
    let x = factor.solve_triangular(&b, transposed);
    assert_close!(x, factor.transpose().solve_triangular(&b, TriangularOptions::upper()));
    let right = TriangularOptions::lower().left_side(false).unit_diagonal(true);
    assert_close!(factor.solve_triangular(&b.transpose(), right), [[1.0, 3.0]]);
}

#[test]
fn items_of_integer_tensors_are_read_as_sizes() -> Result<()> {
    let x = Tensor::from([3.0, 9.0, 4.0]);
    let best: usize = x.argmax(0).item()?;
    assert_eq!(best, 1);
    assert_eq!(Tensor::from([-5i8]).item::<isize>()?, -5);
    assert_eq!(Tensor::scalar(u64::MAX, &device()).item::<usize>()?, usize::MAX);
    let error = Tensor::from([-5i32]).item::<usize>().unwrap_err().to_string();
    assert!(
        error.contains("usize can represent, found -5") && error.contains("values.rs:"),
        "{error}"
    );
    let error = x.slice(..1).item::<usize>().unwrap_err().to_string();
    assert!(error.contains("f64"), "{error}");
    Ok(())
}

#[test]
fn nested_arrays_vectors_and_functions_are_tensors() -> Result<()> {
    let x = Tensor::from([[1., 2.], [3., 4.]]);
    assert_eq!((x.shape(), x.dtype()), (&Shape::from([2, 2]), DType::F64));
    assert_eq!(x.to_vec::<f64>()?, [1.0, 2.0, 3.0, 4.0]);
    let cube = Tensor::from_array([[[1u8], [2]], [[3], [4]], [[5], [6]]], &device());
    assert_eq!(cube.shape(), &Shape::from([3, 2, 1]));
    assert_eq!(Tensor::from_array(true, &device()).rank(), 0);
    assert_eq!(Tensor::from_array([[0.0f32; 0]; 3], &device()).shape(), &Shape::from([3, 0]));
    assert_eq!(Tensor::from(vec![1i16, 2]).to_vec::<i16>()?, [1, 2]);
    let table = Tensor::from_fn([2, 3], |i| (10 * i[0] + i[1]) as i32, &device());
    assert_eq!(table.to_vec::<i32>()?, [0, 1, 2, 10, 11, 12]);
    assert_eq!(Tensor::from_fn([0, 3], |_| 1u8, &device()).element_count(), 0);
    assert_eq!(Tensor::from_fn((), |i| i.len() as i64, &device()).item::<i64>()?, 0);
    assert!(Tensor::from_fn([usize::MAX, 2], |_| 0u8, &device()).is_failed());
    Ok(())
}

#[test]
fn ranges_are_tensors() -> Result<()> {
    assert_eq!(Tensor::arange(0..3, &device()).to_vec::<i32>()?, [0, 1, 2]);
    assert_eq!(Tensor::arange(1.0f32..2.5, &device()).to_vec::<f32>()?, [1.0, 2.0]);
    assert_eq!(Tensor::arange_step(10..0i64, -4, &device()).to_vec::<i64>()?, [10, 6, 2]);
    Ok(())
}

#[test]
fn tensors_are_summed_by_iterators() -> Result<()> {
    let parts: Vec<Tensor> = (1..4).map(|i| Tensor::full(i as f32, [2], &device())).collect();
    assert_eq!(parts.iter().sum::<Tensor>().to_vec::<f32>()?, [6.0, 6.0]);
    assert_eq!(
        parts.into_iter().map(|part| part * 2).sum::<Tensor>().to_vec::<f32>()?,
        [12.0, 12.0]
    );
    assert_eq!(std::iter::empty::<Tensor>().sum::<Tensor>().item::<f32>()?, 0.0);
    Ok(())
}

#[test]
fn awaiting_a_tensor_suspends_until_its_value_is_in_memory() -> Result<()> {
    let x = Tensor::from([1.0f32, 2.0]).exp();
    pollster::block_on(async {
        let there = (&x).await?;
        assert!(there.is_ready());
        assert_eq!(x.clone().await?.shape(), x.shape());
        let pending: Pending<Tensor> = (&x * 2.0).wait_async();
        assert_close!(pending.await?, [2.0 * 1f64.exp(), 2.0 * 2f64.exp()]);
        let wrong = x.matmul(&Tensor::from([[1.0f32]; 3])).await.unwrap_err();
        assert_eq!(wrong.op(), Some("matmul"));
        Ok(())
    })
}

#[test]
fn a_failed_tensor_prints_its_error() {
    let x = Tensor::zeros::<f32>([2, 3], &device());
    let wrong = x.matmul(&x);
    assert!(wrong.is_failed() && !x.is_failed() && (&wrong + 1.0).is_failed());
    let error = wrong.check().unwrap_err();
    assert_eq!(format!("{error:?}"), error.to_string());
    assert!(error.to_string().contains("values.rs:"), "{error}");
    assert_eq!((x.nbytes(), x.to::<f64>().nbytes()), (24, 48));
}

#[test]
fn closeness_is_relative_and_absolute() -> Result<()> {
    let x = Tensor::from([1.0, 100.0, f64::INFINITY, f64::NAN]);
    let y = Tensor::from([1.05, 101.0, f64::INFINITY, f64::NAN]);
    assert_eq!(x.is_close(&y, 0.02, 0.0).to_vec::<bool>()?, [false, true, true, false]);
    assert_eq!(x.is_close(&y, 0.0, 0.1).to_vec::<bool>()?, [true, false, true, false]);
    assert!(x.slice(..2).all_close(y.slice(..2), 0.02, 0.05)?);
    assert_eq!(x.is_close(f64::INFINITY, 1.0, 1.0).to_vec::<bool>()?, [false, false, true, false]);
    assert!(Tensor::from([5i32, 6]).all_close(Tensor::from([5i32, 7]), 0.0, 1.0)?);
    Ok(())
}

#[test]
fn assert_close_names_the_first_difference() {
    let x = Tensor::from([[1.0f32, 2.0], [3.0, 4.0]]);
    assert_close!(x, [[1.0, 2.0], [3.0, 4.0]]);
    assert_close!(&x, vec![[1.0f32, 2.0], [3.0, 4.0]]);
    assert_close!(x.reshape([4]), vec![1.0, 2.0, 3.0, 4.0], 1e-6);
    assert_close!(Tensor::from([f32::NAN]), [f64::NAN]);
    assert_close!(Tensor::from([3i64]), [3u8]);
    assert_close!(Tensor::from([3i32]), [3.0]);
    assert_close!(&x, &x + 1e-3, 0.0, 1e-2);
    let message = |check: fn(&Tensor)| {
        let x = x.clone();
        let payload =
            std::panic::catch_unwind(std::panic::AssertUnwindSafe(move || check(&x))).unwrap_err();
        payload.downcast_ref::<String>().unwrap().clone()
    };
    let far = message(|x| assert_close!(x, [[1.0, 2.0], [3.5, 4.0]]));
    assert!(far.contains("1 of 4") && far.contains("[1, 0]: expected 3.5, found 3"), "{far}");
    let shape = message(|x| assert_close!(x, [1.0, 2.0]));
    assert!(shape.contains("expected shape [2], found [2, 2]"), "{shape}");
    // An integer is not rounded, and only a NaN stands for a NaN.
    let fraction = message(|_| assert_close!(Tensor::from([1]), [1.9]));
    assert!(fraction.contains("expected 1.9, found 1"), "{fraction}");
    let beyond = message(|_| assert_close!(Tensor::from([44u8]), [300]));
    assert!(beyond.contains("expected 300, found 44"), "{beyond}");
    let nan = Complex::new(f32::NAN, 0.0);
    assert_close!(Tensor::from([nan]), [nan]);
    let complex = message(|_| assert_close!(Tensor::from([Complex::new(f32::NAN, 0.0)]), [1.0f32]));
    assert!(complex.contains("1 of 1"), "{complex}");
    let large = message(|_| assert_close!(Tensor::from([i64::MAX]), [i64::MAX - 1], 0.0));
    assert!(large.contains("1 of 1"), "{large}");
    assert_close!(Tensor::from([i64::MIN]), [i64::MAX], 0.0, 1.9e19);
    let failed = message(|x| assert_close!(x.matmul(&x.slice(..1)), [1.0]));
    assert!(failed.contains("matmul"), "{failed}");
}

fn values<T: Element>(x: &Tensor) -> Vec<T> {
    x.to_vec().unwrap()
}

#[test]
fn generators_are_reproducible_and_independent() -> Result<()> {
    let device = device();
    let (mut first, mut second) = (Rng::new(7), Rng::new(7));
    let draw = |rng: &mut Rng| values::<u32>(&Tensor::rand_bits([8], rng.next_seed(), &device));
    assert_eq!(draw(&mut first), draw(&mut second));
    assert_ne!(draw(&mut first), draw(&mut Rng::new(8)));
    // A child generator neither depends on the draws of its parent nor affects them.
    let (mut early, mut late) = (second.split("noise"), first.split("noise"));
    assert_eq!(draw(&mut early), draw(&mut late));
    assert_eq!(
        draw(&mut second),
        draw(&mut {
            let mut rng = Rng::new(7);
            rng.next_seed();
            rng
        })
    );
    let state = first.state();
    let next = draw(&mut first);
    assert_eq!(draw(&mut Rng::from_state(state)), next);
    Ok(())
}

#[test]
fn distributions_have_their_moments() -> Result<()> {
    let device = device();
    let mut rng = Rng::new(3);
    let n = 100_000;
    let moments = |x: &Tensor| -> (f64, f64) {
        let x = x.to::<f64>();
        (x.mean_all().item().unwrap(), x.var_all(0).item().unwrap())
    };
    let near = |(mean, variance): (f64, f64), expected: (f64, f64)| {
        assert!(
            (mean - expected.0).abs() < 0.03 * (1.0 + expected.1),
            "mean {mean}, not {}",
            expected.0
        );
        assert!(
            (variance / expected.1 - 1.0).abs() < 0.06,
            "variance {variance}, not {}",
            expected.1
        );
    };
    near(moments(&rng.rand::<f32>([n], &device)), (0.5, 1.0 / 12.0));
    near(moments(&rng.randn::<f64>([n], &device)), (0.0, 1.0));
    near(moments(&rng.normal::<f32>(2.0, 3.0, [n], &device)), (2.0, 9.0));
    near(moments(&rng.exponential::<f32>(2.0, [n], &device)), (0.5, 0.25));
    near(moments(&rng.exponential::<f64>(0.5, [n], &device)), (2.0, 4.0));
    for shape in [0.3, 1.0, 4.5] {
        near(moments(&rng.gamma::<f32>(shape, [n], &device)), (shape, shape));
    }
    near(moments(&rng.bernoulli(0.25, [n], &device)), (0.25, 0.1875));
    near(moments(&rng.randint(0..10i64, [n], &device)), (4.5, 8.25));
    let least = rng.exponential::<f32>(1.0, [n], &device).min_all().item::<f32>()?;
    assert!(least > 0.0, "{least}");
    Ok(())
}

#[test]
fn indices_are_drawn_by_weight() -> Result<()> {
    let device = device();
    let mut rng = Rng::new(4);
    let weights = Tensor::from_array([0.0f32, 1.0, 3.0, 4.0], &device);
    let drawn = values::<i64>(&rng.multinomial(&weights, 40_000, true));
    let logits = weights.log().expand([40_000, 4]);
    for drawn in [drawn, values::<i64>(&rng.categorical(&logits))] {
        let share = |class| drawn.iter().filter(|&&x| x == class).count() as f64 / 40_000.0;
        for (class, expected) in [(0, 0.0), (1, 0.125), (2, 0.375), (3, 0.5)] {
            assert!((share(class) - expected).abs() < 0.01, "{class}: {}", share(class));
        }
    }
    let rows = rng.multinomial(&Tensor::ones::<f32>([5, 6], &device), 6, false);
    assert_eq!(rows.shape(), &Shape::from([5, 6]));
    for row in values::<i64>(&rows).chunks(6) {
        let mut row = row.to_vec();
        row.sort_unstable();
        assert_eq!(row, [0, 1, 2, 3, 4, 5]);
    }
    let error = rng.multinomial(&weights, 5, false).check().unwrap_err().to_string();
    assert!(
        error.contains("at most 4 indices without replacement from 4 classes, found 5"),
        "{error}"
    );
    assert!(rng.categorical(&Tensor::scalar(1.0f32, &device)).is_failed());
    Ok(())
}

#[test]
fn random_like_copies_shape_dtype_and_device() -> Result<()> {
    let device = device();
    let x = Tensor::zeros::<f64>([3, 4], &device);
    assert_eq!(
        values::<f64>(&x.rand_like(9)),
        values::<f64>(&Tensor::rand::<f64>([3, 4], 9, &device))
    );
    let normal = Tensor::randn::<f64>(0.0, 1.0, [3, 4], 9, &device);
    assert_eq!(values::<f64>(&x.randn_like(9)), values::<f64>(&normal));
    let half = x.cast(DType::F16);
    for drawn in [half.rand_like(1), half.randn_like(1)] {
        assert_eq!((drawn.shape(), drawn.dtype()), (half.shape(), DType::F16));
        assert_eq!(drawn.device(), half.device());
    }
    // A generator advances with every draw.
    let (mut rng, mut same) = (Rng::new(11), Rng::new(11));
    let first = values::<f64>(&rng.rand_like(&x));
    assert_eq!(first, values::<f64>(&x.rand_like(same.next_seed())));
    assert_ne!(first, values::<f64>(&rng.rand_like(&x)));
    same.next_seed();
    assert_eq!(values::<f64>(&rng.randn_like(&x)), values::<f64>(&x.randn_like(same.next_seed())));
    let integers = Tensor::zeros::<i32>([2], &device);
    for (name, failed) in
        [("rand_like", integers.rand_like(0)), ("randn_like", integers.randn_like(0))]
    {
        let error = failed.check().unwrap_err();
        assert_eq!(error.op(), Some(name));
        assert!(error.to_string().contains("expected a float dtype, found i32"), "{error}");
    }
    Ok(())
}

#[test]
fn mismatched_host_data_names_expected_and_found_sizes() {
    let error = Tensor::from_vec(vec![1.0f32; 5], [2, 3], &device()).unwrap_err().to_string();
    assert!(error.contains("expected 6 elements for shape [2, 3], found 5"), "{error}");
    let error = Tensor::from_slice(&[1u8], [usize::MAX, 2], &device()).unwrap_err().to_string();
    assert!(error.contains("an addressable number of elements"), "{error}");
    let error = Tensor::from_bytes(&[0; 7], [2], DType::F32, &device()).unwrap_err().to_string();
    assert!(error.contains("expected 8 bytes for f32[2]") && error.contains("found 7"), "{error}");
    let error = Tensor::from([1.0f32, 2.0]).item::<f32>().unwrap_err().to_string();
    assert!(error.contains("expected exactly one element, found 2 of shape [2]"), "{error}");
    let error = Tensor::from([1.0f32]).to_vec::<i32>().unwrap_err().to_string();
    assert!(error.contains("expected a tensor of i32, found f32"), "{error}");
}

#[test]
fn permutations_contain_every_index_once() -> Result<()> {
    let device = device();
    let mut rng = Rng::new(5);
    let order = values::<i64>(&rng.randperm(1000, &device));
    let mut sorted = order.clone();
    sorted.sort_unstable();
    assert_eq!(sorted, (0..1000).collect::<Vec<i64>>());
    assert_ne!(order, sorted);
    assert_ne!(order, values::<i64>(&rng.randperm(1000, &device)));
    let rows = Tensor::from([[1, 1], [2, 2], [3, 3]]);
    let mut shuffled = values::<i32>(&rng.shuffle(&rows));
    assert!(shuffled.chunks(2).all(|row| row[0] == row[1]));
    shuffled.sort_unstable();
    assert_eq!(shuffled, [1, 1, 2, 2, 3, 3]);
    Ok(())
}
