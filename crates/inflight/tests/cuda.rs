//! What only a GPU has: memory of its own, and nothing at all on most machines.
//!
//! Without a GPU, or while `INFLIGHT_TEST_DEVICE` names another device, these say that they are skipped.

use common::{gpu, gpu_with, numbers_of};
use inflight::{CudaOptions, DType, Device, Tensor, Transaction};

mod common;

/// What lets products be computed in TF32.
const TF32: CudaOptions = CudaOptions { tf32: true, f16_accumulate: false };

#[test]
fn a_gpu_that_is_not_there_is_an_error_that_says_what_was_looked_for() {
    let error = Device::cuda(1000).expect_err("nobody has a thousand GPUs").to_string();
    match Device::cuda_count() {
        Ok(count) => assert!(error.contains(&format!("there are {count}")), "{error}"),
        Err(reason) => {
            // There is no driver, it cannot be started, or it is too old.
            let said = ["install", "starting the driver", "asking for the driver"];
            assert!(said.iter().any(|said| error.contains(said)), "{error}");
            assert!(said.iter().any(|said| reason.to_string().contains(said)), "{reason}");
        }
    }
}

#[test]
fn large_uploads_arrive_whole_and_in_order() {
    let Some(device) = gpu() else { return };
    let elements = 5 << 20;
    let data: Vec<u32> = (0..elements).map(|i: u32| i.wrapping_mul(2654435761)).collect();
    let tensors: Vec<Tensor> =
        (0..3).map(|_| Tensor::from_vec(data.clone(), [data.len()], &device).unwrap()).collect();
    let sum = &tensors[0] + &tensors[1] + &tensors[2];
    let found = sum.to_vec::<u32>().unwrap();
    assert!(found.iter().zip(&data).all(|(found, x)| *found == x.wrapping_mul(3)));
}

#[test]
fn values_go_from_device_to_device_and_back() {
    let Some(device) = gpu() else { return };
    let cpu = Device::cpu();
    let x = common::counting([300, 70], &cpu);
    let there = (&x * 2).to_device(&device) + 1;
    let back = there.to_device(&cpu) - 1;
    let expected: Vec<i32> = (0..300 * 70).map(|i| 2 * i).collect();
    assert_eq!(back.to_vec::<i32>().unwrap(), expected);
    // A failure travels, too.
    let failed = common::counting([2], &cpu).reshape([7]).to_device(&device) + 1;
    assert!(failed.to_vec::<i32>().is_err());
}

#[test]
fn a_transaction_reads_many_tensors_with_one_wait() {
    let Some(device) = gpu() else { return };
    let x = common::counting([1000], &device);
    let waits = |device: &Device| device.stats().waits.iter().sum::<u64>();
    let before = waits(&device);
    let read = Transaction::default().register(&(&x + 1)).register(&x.sum_all()).execute().unwrap();
    assert_eq!(waits(&device) - before, 1);
    assert_eq!(read[0].to_vec::<i32>().unwrap(), (1..1001).collect::<Vec<i32>>());
    assert_eq!(read[1].item::<i32>().unwrap(), 499_500);
    let later = Transaction::default().register(&(&x * 3)).execute_async().get().unwrap();
    assert_eq!(later[0].to_vec::<i32>().unwrap()[999], 2997);
}

#[test]
fn memory_is_reused_in_the_order_of_the_stream() {
    let Some(device) = gpu() else { return };
    let x = Tensor::ones::<f32>([1 << 20], &device);
    let mut y = &x + 0.0;
    for step in 0..200 {
        // Each value is written, read by the next, and let go of while the device is still at it.
        y = y.cumsum(0) * 0.0 + (step as f32);
        assert!(y.check().is_ok());
        y.is_ready();
    }
    assert_eq!(y.to_vec::<f32>().unwrap(), vec![199.0; 1 << 20]);
    let memory = device.memory();
    assert!(memory.peak < 64 << 20, "{memory:?}");
}

#[test]
fn threads_have_streams_of_their_own_that_wait_for_each_other() {
    let Some(device) = gpu() else { return };
    let x = Tensor::ones::<f32>([1 << 18], &device);
    let mut values = vec![&x + 0.0];
    for round in 0..20 {
        let previous = values.last().unwrap().clone();
        let next = std::thread::scope(|scope| {
            let work = scope.spawn(|| {
                let next = &previous + 1.0;
                next.is_ready();
                next
            });
            work.join().unwrap()
        });
        values.push(next);
        if round % 3 == 0 {
            drop(values.remove(0));
        }
    }
    assert_eq!(values.last().unwrap().to_vec::<f32>().unwrap(), vec![21.0; 1 << 18]);
}

#[test]
fn running_out_of_memory_is_an_error_of_the_value() {
    let Some(device) = gpu() else { return };
    device.set_memory_limit(Some(64 << 20));
    let large = Tensor::ones::<f32>([32 << 20], &device).cumsum(0);
    let error = large.to_vec::<f32>().expect_err("it does not fit").to_string();
    assert!(error.contains("out of memory"), "{error}");
    let small = Tensor::ones::<f32>([10], &device).cumsum(0);
    assert_eq!(small.to_vec::<f32>().unwrap()[9], 10.0);
}

#[test]
fn new_sizes_compile_nothing() {
    let Some(device) = gpu() else { return };
    let run = |rows: usize| {
        let x = Tensor::ones::<f32>([rows, 64], &device);
        (x.softmax(1) * 2.0).sum_all().item::<f32>().unwrap()
    };
    run(64);
    let before = device.stats().compiles;
    assert!((run(96) - 192.0).abs() < 1e-3);
    assert_eq!(device.stats().compiles, before);
}

#[test]
fn work_that_comes_again_is_the_same_work_with_other_arguments() {
    let Some(device) = gpu() else { return };
    let cpu = Device::cpu();
    // Sums along one axis and the other: as many kernels as there are turns.
    let compute = |x: &Tensor, scale: f32| {
        let mut x = x.clone();
        for turn in 0..40 {
            x = &x - x.sum_keepdim([turn % 2]) * scale;
        }
        x
    };
    let mut kept = Vec::new();
    for round in 0..12 {
        let data: Vec<f32> = (0..24 * 40).map(|i| ((i * (round + 3)) % 17) as f32).collect();
        let scale = 0.01 + round as f32 * 0.001;
        let expected = compute(&Tensor::from_vec(data.clone(), [24, 40], &cpu).unwrap(), scale);
        let found = compute(&Tensor::from_vec(data, [24, 40], &device).unwrap(), scale);
        let found = if round % 3 == 0 { &found * 1.0 } else { found };
        found.is_ready();
        // What is kept is where the next round would like to have its results.
        kept.push((found, expected));
        if round % 4 == 3 {
            drop(kept.remove(0));
        }
    }
    for (found, expected) in kept {
        let expected = expected.to_vec::<f32>().unwrap();
        for (found, expected) in found.to_vec::<f32>().unwrap().iter().zip(expected) {
            assert!((found - expected).abs() <= 1e-3 * expected.abs().max(1.0));
        }
    }
}

/// In the same memory each time, from several threads, each of which has a stream of its own.
#[test]
fn a_launch_that_comes_again_has_the_scalars_and_operands_of_this_time() {
    let Some(device) = gpu() else { return };
    let scalars = [2.0, 2.0, 0.0, -0.0, 0.0, f32::NAN, f32::INFINITY, 2.0, -1.5];
    std::thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                let operands = [1.0, 3.0].map(|first| {
                    let numbers: Vec<f32> = (0..70).map(|i| i as f32 - 30.0 + first).collect();
                    (Tensor::from_vec(numbers.clone(), [70], &device).unwrap(), numbers)
                });
                for round in 0..60 {
                    let (scalar, (x, numbers)) = (scalars[round % 9], &operands[round / 2 % 2]);
                    let found = (x * scalar).to_vec::<f32>().unwrap();
                    let bits = |x: f32| if x.is_nan() { f32::NAN.to_bits() } else { x.to_bits() };
                    let found: Vec<u32> = found.into_iter().map(bits).collect();
                    let expected: Vec<u32> = numbers.iter().map(|x| bits(x * scalar)).collect();
                    assert_eq!(found, expected, "times {scalar}");
                }
            });
        }
    });
}

#[test]
fn products_round_their_operands_only_if_they_may() {
    let error = |options: CudaOptions| {
        let device = gpu_with(options)?;
        let values: Vec<f64> =
            (0..512 * 512).map(|i| (i * 37 % 1009) as f64 / 500.0 - 1.0).collect();
        let x = Tensor::from_vec(values, [512, 512], &device).unwrap();
        let narrow = x.cast(DType::F32);
        let exact = narrow.cast(DType::F64);
        let difference = narrow.matmul(&narrow).cast(DType::F64) - exact.matmul(&exact);
        Some(difference.abs().max_all().item::<f64>().unwrap())
    };
    let [Some(rounded), Some(whole)] = [TF32, CudaOptions::default()].map(error) else { return };
    assert!(whole < 1e-4, "{whole}");
    assert!(rounded > 1e-4 && rounded < 1e-1, "{rounded}");
}

#[test]
fn products_of_halves_are_right_with_sums_of_halves() {
    let options = CudaOptions { f16_accumulate: true, ..CudaOptions::default() };
    let Some(device) = gpu_with(options) else { return };
    let cpu = Device::cpu();
    // Sums of up to 512, which halves hold exactly.
    let matrix = |rows: usize, columns: usize, step: usize| {
        let values = (0..rows * columns).map(|i| (i * step % 3) as f32 - 1.0).collect();
        Tensor::from_vec::<f32>(values, [rows, columns], &cpu).unwrap().cast(DType::F16)
    };
    let (a, b) = (matrix(128, 512, 7), matrix(512, 256, 11));
    let both = |device: &Device| a.to_device(device).matmul(&b.to_device(device));
    let values = |product: Tensor| product.cast(DType::F32).to_vec::<f32>().unwrap();
    assert_eq!(values(both(&device)), values(both(&cpu)));
    assert_eq!(values(both(&device) * 0.5), values(both(&cpu) * 0.5), "with a factor");
}

#[test]
fn a_large_gradient_of_weights_is_right_in_tf32() {
    let Some(device) = gpu_with(TF32) else { return };
    // Integers that TF32 holds exactly, no two rows or columns of which are alike.
    let matrix = |columns: usize, step: usize| {
        let values = (0..192 * columns).map(|i| (i * step % 251) as f32 - 125.0).collect();
        Tensor::from_vec::<f32>(values, [192, columns], &device).unwrap()
    };
    let (x, g) = (matrix(2048, 7), matrix(4096, 11));
    let product = x.transpose().matmul(&g) * 2.0;
    let cpu = Device::cpu();
    let expected = x.to_device(&cpu).transpose().matmul(&g.to_device(&cpu)) * 2.0;
    assert_eq!(product.to_vec::<f32>().unwrap(), expected.to_vec::<f32>().unwrap());
}

/// A matrix of integers that halves and TF32 hold exactly, and whose products `f32` sums exactly.
fn integers(shape: [usize; 2], step: usize, device: &Device) -> Tensor {
    Tensor::from_vec(numbers_of(shape[0] * shape[1], step), shape, device).unwrap()
}

/// The same, of which, with `across`, columns are contiguous and not rows.
fn lying([rows, columns]: [usize; 2], across: bool, step: usize, device: &Device) -> Tensor {
    match across {
        true => integers([columns, rows], step, device).transpose(),
        false => integers([rows, columns], step, device),
    }
}

/// Large enough to be computed by the kernel that follows, in each way that operands may lie, with tiles that are not
/// whole, and with more operands than come along with a tile.
#[test]
fn products_that_are_taken_in_by_what_follows_are_right() {
    let (Some(rounds), Some(whole)) = (gpu_with(TF32), gpu_with(CudaOptions::default())) else {
        return;
    };
    let devices = [Device::cpu(), rounds, whole];
    // The last two have results of which two elements, or one, are moved at once.
    let sizes = [
        (2048, 2048, 256),
        (2008, 2036, 276),
        (4092, 1984, 512),
        (2048, 2034, 256),
        (2048, 2035, 1024),
    ];
    for (m, n, k) in sizes {
        for (left_across, right_across) in
            [(false, false), (false, true), (true, false), (true, true)]
        {
            let results = devices.each_ref().map(|device| {
                let a = lying([m, k], left_across, 7, device);
                let b = lying([k, n], !right_across, 11, device);
                let [r, q, u, v] = [3, 5, 13, 19].map(|step| integers([m, n], step, device));
                let row = integers([1, n], 23, device);
                let product = a.matmul(&b);
                let alone = b.transpose().matmul(&a.transpose());
                let first = product.maximum(0.0) + &r * &q + &row;
                let second = &first * 2.0 - &u * &v;
                // Rounded, but the same everywhere, whatever is divided by zero.
                let third = &first * 0.1 / (&r * 1e-20) + (&first * &q * 1e20).sqrt();
                // Nothing very large or small; and so near to it that some is.
                let fourth = &first * 0.1 / (&u * &u * 0.37 + 0.001) + (&v * &v * 0.3 + 0.7).sqrt();
                let fifth = &first * 1e-31 / (&q * 1.7) + (&first * &first * 1e-33).sqrt();
                // Numbers that are rounded in every way.
                let [x, y] = [1, 2].map(|seed| Tensor::rand::<f32>([m, n], seed, device));
                let sixth = (&first + &x) / (&y + 0.5) + (&x + &y * 3.0).sqrt();
                let zeros = &first * -0.0 / (&y + 0.5);
                // Where an inverse that is off by one could be seen.
                let edges = [[0x3f80_0000, 0x3fff_ffff], [0x3fd5_5553, 0x3fff_fffd]];
                let [seventh, eighth] = edges.map(|pair| {
                    let [x, y] = pair.map(f32::from_bits);
                    (&first * 0.0 + x) / (&row * 0.0 + y)
                });
                let bits = |x: f32| if x.is_nan() { f32::NAN.to_bits() } else { x.to_bits() };
                [alone, first, second, third, fourth, fifth, sixth, zeros, seventh, eighth]
                    .map(|result| result.to_vec::<f32>().unwrap().into_iter().map(bits))
                    .map(Vec::from_iter)
            });
            for (at, result) in results.iter().enumerate() {
                let of = format_args!("{m} × {n} × {k}, {left_across}, {right_across}, {at}");
                assert!(*result == results[0], "{of}");
            }
        }
    }
}

/// Large enough to be split into thirds, in each way that operands may lie, with tiles, stages and groups of eight that are
/// not whole. As exact as sums in `f32` of products that are not rounded; without any of the products of thirds, the sums
/// would be off by more.
#[test]
fn products_of_whole_numbers_are_exact() {
    let Some(device) = gpu_with(CudaOptions::default()) else { return };
    for (m, n, k) in [(1536, 1536, 1536), (2048, 2048, 1024), (2056, 2180, 1548)] {
        let [a, b] = [([m, k], 1), ([k, n], 2)]
            .map(|(shape, seed)| Tensor::rand::<f32>(shape, seed, &device));
        // Whether numbers are of both signs, and how far apart they are. If few of them make up a sum, what the units cut
        // off of each of sixteen products counts; a product of thirds that is missing would then be 2^-17 of the sum.
        for (signed, powers, most) in [(true, 0, 1.5e-7), (false, 0, 8e-7), (true, 60, 1.5e-6)] {
            let number = |x: &Tensor, seed: u64| {
                let power = Tensor::rand::<f32>(x.shape(), seed, &device) * powers as f32;
                let x = if signed { x * 2.0 - 1.0 } else { x * 1.0 };
                x * (power - powers as f32 / 2.0).floor().exp2()
            };
            let (a, b) = (number(&a, 3), number(&b, 4));
            let [exact_a, exact_b] = [&a, &b].map(|x| x.cast(DType::F64));
            let exact = exact_a.matmul(&exact_b);
            let magnitude = exact_a.abs().matmul(&exact_b.abs());
            let across = |x: &Tensor| (x.transpose() * 1.0).transpose();
            let layouts =
                [(a.clone(), b.clone()), (a.clone(), across(&b)), (across(&a), b.clone())];
            for (at, (a, b)) in layouts.iter().chain(&[(across(&a), across(&b))]).enumerate() {
                let off = (a.matmul(b).cast(DType::F64) - &exact).abs() / &magnitude;
                let largest = off.max_all().item::<f64>().unwrap();
                let of = format_args!("{m} × {n} × {k}, {signed}, {powers}, {at}");
                assert!(largest < most, "{of}: off by {largest}");
            }
        }
    }
}

/// Of parts of larger matrices, with numbers that have no thirds among them or without, with and without memory for thirds,
/// and with what follows.
#[test]
fn products_of_thirds_are_right_wherever_numbers_are() {
    let Some(device) = gpu_with(CudaOptions::default()) else { return };
    let devices = [Device::cpu(), device];
    let (m, n, k) = (2052, 2060, 772);
    for odd in [None, Some(f32::INFINITY), Some(f32::NAN)] {
        for (left_across, right_across) in
            [(false, false), (false, true), (true, false), (true, true)]
        {
            let results = devices.each_ref().map(|device| {
                let part = |[rows, columns]: [usize; 2], across: bool, step: usize| {
                    let whole = lying([rows + 12, columns + 20], across, step, device);
                    whole.slice((4..rows + 4, 8..columns + 8))
                };
                let mut a = part([m, k], left_across, 7);
                if let Some(odd) = odd {
                    // In the last row, which is not in a whole tile.
                    let at = Tensor::full(odd, [1, 1], device);
                    a = match left_across {
                        true => a.transpose().slice_assign((5..6, m - 1..m), &at).transpose(),
                        false => a.slice_assign((m - 1..m, 5..6), &at),
                    };
                    a.wait().unwrap();
                }
                let b = part([k, n], !right_across, 11);
                let [r, q] = [3, 5].map(|step| integers([m, n], step, device));
                let product = a.matmul(&b);
                let bits = |x: f32| if x.is_nan() { f32::NAN.to_bits() } else { x.to_bits() };
                [&product * 1.0, product.maximum(0.0) + &r * &q]
                    .map(|result| result.to_vec::<f32>().unwrap().into_iter().map(bits))
                    .map(Vec::from_iter)
            });
            assert!(results[0] == results[1], "{odd:?}, {left_across}, {right_across}");
        }
    }
    // Enough for the operands, the result and a workspace, and not for thirds. Others use the CPU meanwhile.
    devices[1].set_memory_limit(Some(90 << 20));
    let side = 2048;
    let results = devices.each_ref().map(|device| {
        let [a, b] = [7, 11].map(|step| integers([side, side], step, device));
        (a.matmul(&b) * 2.0).to_vec::<f32>().unwrap()
    });
    assert!(results[0] == results[1], "without memory");
}

/// Products that are too large are infinite, of the sign that they have, and those that are not are what they are.
#[test]
fn products_of_thirds_overflow_as_those_of_numbers_do() {
    let Some(device) = gpu_with(CudaOptions::default()) else { return };
    let side = 1536;
    let tensor = |of: &dyn Fn(usize, usize) -> f32| {
        let values = (0..side * side).map(|i| of(i / side, i % side)).collect();
        Tensor::from_vec::<f32>(values, [side, side], &device).unwrap()
    };
    let uneven = |row: usize, column: usize| 1.0 + (row * 37 + column * 101) as f32 % 1009.0 * 1e-4;
    let large = tensor(&|row, column| uneven(row, column) * 1e24);
    let product = large.matmul(&large).to_vec::<f32>().unwrap();
    assert!(product.iter().all(|&x| x == f32::INFINITY));
    // One product in each row.
    let numbers = |row: usize| match row % 3 {
        0 => (1.37e24, -1.21e24),
        1 => (-1.8419e19, 1.8463e19),
        _ => (3e20, 1e18),
    };
    let left = tensor(&|row, column| if row == column { numbers(row).0 } else { 0.0 });
    let right = tensor(&|row, _| numbers(row).1);
    let product = left.matmul(&right).to_vec::<f32>().unwrap();
    for (place, &found) in product.iter().enumerate() {
        let (left, right) = numbers(place / side);
        assert_eq!(found, left * right, "{left} · {right}");
    }
}

/// Large enough to be packed, in each way that operands may lie, with tiles and groups of eight that are not whole.
#[test]
fn products_of_packed_operands_are_right() {
    let (Some(device), Some(exact)) = (gpu_with(TF32), gpu_with(CudaOptions::default())) else {
        return;
    };
    let devices = [device, exact];
    for (m, n, k) in [(4096, 4096, 2048), (4100, 4204, 2052), (4132, 4412, 2060)] {
        for (left_across, right_across) in
            [(false, false), (false, true), (true, false), (true, true)]
        {
            let results = devices.each_ref().map(|device| {
                let a = lying([m, k], left_across, 7, device);
                let b = lying([k, n], !right_across, 11, device);
                let bias = integers([1, n], 23, device);
                // Alone, with what the library could do as well, and with more.
                let product = a.matmul(&b);
                [&product * 1.0, &product + &bias, product.maximum(0.0) * &bias]
                    .map(|result| result.to_vec::<f32>().unwrap())
            });
            assert!(results[0] == results[1], "{m} × {n} × {k}, {left_across}, {right_across}");
        }
    }
}

/// As exact as TF32 is.
#[test]
fn numbers_that_no_half_stands_for_are_multiplied_all_the_same() {
    numbers_are_multiplied(TF32, (4096, 4096, 2048), |expected, _| {
        expected.abs() * f32::exp2(-11.0)
    });
}

/// Exactly, but for what is too small to be a number.
#[test]
fn numbers_that_no_thirds_stand_for_are_multiplied_all_the_same() {
    for extents in [(1536, 1536, 1536), (2048, 2048, 1024), (2056, 2180, 1548)] {
        numbers_are_multiplied(CudaOptions::default(), extents, |_, factor| {
            factor * f32::exp2(-125.0)
        });
    }
}

/// One operand has a single number in each row or column, a power of two: the product is the other's numbers, off by no
/// more than `most` of what is expected and of that power, however far apart they are.
fn numbers_are_multiplied(
    options: CudaOptions,
    (m, n, k): (usize, usize, usize),
    most: impl Fn(f32, f32) -> f32,
) {
    let Some(device) = gpu_with(options) else { return };
    let usual = |i: usize| ((i * 2_654_435_761 % 1_000_003) as f32 / 1_000_003.0 - 0.5) * 0.1;
    let few = |i: usize, scale: f32, [small, large]: [f32; 2]| match i {
        5 | 70_000 | 1_000_001 => small,
        9 | 70_001 | 1_000_003 => large,
        13 | 70_002 => 0.0,
        _ => usual(i) * scale,
    };
    let odd = |i: usize| match i {
        70_000 => f32::INFINITY,
        1_000_001 => f32::NAN,
        _ => usual(i),
    };
    // And the power of two that the other operand's numbers are about.
    type Way<'a> = (&'a str, i32, &'a dyn Fn(usize) -> f32);
    let ways: [Way<'_>; 17] = [
        ("usual", 0, &usual),
        ("few", 0, &|i| few(i, 1.0, [3e-20, -7e19])),
        ("many", 0, &|i| usual(i) * f32::exp2((i % 90) as f32 - 45.0)),
        ("tiny", 0, &|i| usual(i) * 1e-27),
        ("huge", 0, &|i| if i % 1000 == 7 { 3e37 } else { usual(i) }),
        ("zeros", 0, &|i| if i == 12_345 { 1.0 } else { 0.0 }),
        ("odd", 0, &odd),
        ("odd and few", 0, &|i| if i % 99_991 == 3 { 1e-25 } else { odd(i) }),
        // Factors that are out of range if they come in the wrong order.
        ("large by small", -110, &|i| usual(i) * 1e34),
        ("small by large", 104, &|i| usual(i) * 1e-30),
        ("a few larger, by large", 30, &|i| few(i, 1e-18, [1e-35, 1e12])),
        ("a few smaller, by small", -30, &|i| few(i, 1e18, [1e-12, -1e-9])),
        // Too small to be multiplied by the same factor as the largest.
        ("a few that vanish", 0, &|i| few(i, 1e30, [1e-15, -2e-12])),
        ("many that vanish", 0, &|i| if i % 2 == 0 { 1e-15 } else { usual(i) * 1e30 }),
        ("all but a few vanish", 0, &|i| if i % 999_983 == 3 { 1e30 } else { 1e-15 }),
        // Parts of which are too small to be numbers, and too large.
        ("very small", 20, &|i| (1.0 + usual(i)) * f32::exp2(-115.0)),
        ("largest", -10, &|i| if i == 5 { f32::from_bits(0x7f7f_c000) } else { usual(i) }),
    ];
    let tensor = |values: &[f32], shape: [usize; 2]| {
        Tensor::from_vec::<f32>(values.to_vec(), shape, &device).unwrap()
    };
    let picked = |row: usize| (row * 5 + 3) % k;
    for (name, power, way) in ways {
        let factor = |row: usize| f32::exp2((row % 7) as f32 - 3.0 + power as f32);
        let values: Vec<f32> = (0..k * n).map(way).collect();
        let mut picks = vec![0.0; m * k];
        (0..m).for_each(|row| picks[row * k + picked(row)] = factor(row));
        let picks = tensor(&picks, [m, k]);
        let wide = tensor(&values, [k, n]);
        let across: Vec<f32> = (0..n * k).map(|i| values[i % k * n + i / k]).collect();
        let turned = tensor(&across, [n, k]);
        // With what is wide as each of the operands, in both ways that it may lie.
        let products = [
            picks.matmul(&wide),
            picks.matmul(&turned.transpose()),
            wide.transpose().matmul(&picks.transpose()).transpose(),
            turned.matmul(&picks.transpose()).transpose(),
        ];
        let products = products.map(|product| product.to_vec::<f32>().unwrap());
        let is_odd = |column: usize| (0..k).any(|row| !values[row * n + column].is_finite());
        let odd: Vec<bool> = (0..n).map(is_odd).collect();
        for (at, product) in products.iter().enumerate() {
            for (place, &x) in product.iter().enumerate() {
                let (row, column) = (place / n, place % n);
                let expected = values[picked(row) * n + column] * factor(row);
                let is_right = match odd[column] {
                    // What is infinite or none was multiplied by zero, or by the number.
                    true => x.is_nan() || x == expected,
                    false => (x - expected).abs() <= most(expected, factor(row)),
                };
                let is_alike = !odd[column] || x.is_nan() == products[0][place].is_nan();
                let of = format_args!("{name}, {at}: {x} and not {expected} at {row}, {column}");
                assert!(is_right && is_alike, "{of}");
            }
        }
    }
}

/// Both operands have numbers that no half stands for, in places that meet.
#[test]
fn numbers_of_both_operands_that_no_half_stands_for_are_multiplied_once() {
    let Some(device) = gpu_with(TF32) else { return };
    let (m, n, k) = (4096, 4096, 2048);
    let usual = |i: usize| (i * 7 % 251 % 17) as f32 - 8.0;
    let (mut a, mut b): (Vec<f32>, Vec<f32>) =
        ((0..m * k).map(usual).collect(), (0..k * n).map(usual).collect());
    // Rows and columns of zeros but for what is to meet: too small by too large, too small by too small, and usual numbers.
    let places = [(17, 100, 33), (2000, 101, 3000), (4095, 2047, 4095)];
    let numbers = [(3e-12, -5e15), (3e-12, 7e-11), (2.0, 3e-11)];
    for ((row, depth, column), (left, right)) in places.into_iter().zip(numbers) {
        (0..k).for_each(|at| a[row * k + at] = 0.0);
        (0..k).for_each(|at| b[at * n + column] = 0.0);
        a[row * k + depth] = left;
        b[depth * n + column] = right;
    }
    let [a, b] = [(a, [m, k]), (b, [k, n])]
        .map(|(values, shape)| Tensor::from_vec::<f32>(values, shape, &device).unwrap());
    let product = a.matmul(&b).to_vec::<f32>().unwrap();
    for ((row, _, column), (left, right)) in places.into_iter().zip(numbers) {
        let (found, expected) = (product[row * n + column], left * right);
        let error = (found - expected).abs() / expected.abs();
        assert!(error <= f32::exp2(-10.0), "{found} and not {expected}");
    }
}

#[test]
fn results_take_the_memory_of_operands_that_nobody_needs() {
    let Some(device) = gpu() else { return };
    let elements = 4 << 20;
    let mut x = Tensor::ones::<f32>([elements], &device).cumsum(0);
    let other = Tensor::ones::<f32>([elements], &device).cumsum(0);
    x.wait().unwrap();
    other.wait().unwrap();
    device.wait().unwrap();
    let before = device.memory();
    for _ in 0..5 {
        x = &x * 2.0 - &other;
        x.wait().unwrap();
    }
    let after = device.memory();
    assert_eq!(after.allocations, before.allocations, "{after:?}");
    // What somebody still has stays as it is.
    let kept = x.clone();
    let changed = &x + 1.0;
    drop(x);
    assert_eq!(changed.to_vec::<f32>().unwrap()[6], 8.0);
    assert_eq!(kept.to_vec::<f32>().unwrap()[6], 7.0);
}

#[test]
fn what_follows_a_product_takes_the_memory_of_operands_that_nobody_needs() {
    let Some(device) = gpu_with(TF32) else { return };
    let side = 2048;
    let [a, b] = [1.0f32, 2.0].map(|x| Tensor::full(x, [side, 256], &device).cumsum(1) * 0.125);
    let [mut weights, mut moments] = [1.0f32, 3.0].map(|x| Tensor::full(x, [side, side], &device));
    let mut expected = [1.0f32, 3.0];
    // The sum of i · 2i / 64, for i from 1 to 256.
    let product = (256 * 257 * 513 / 6 / 32) as f32;
    let mut allocations = Vec::new();
    for _ in 0..5 {
        let next = (&moments * 0.5 + a.matmul(&b.transpose())).maximum(1.0);
        weights = &weights - &next * 0.25;
        moments = next;
        weights.wait().unwrap();
        moments.wait().unwrap();
        allocations.push(device.memory().allocations);
        let next = (expected[1] * 0.5 + product).max(1.0);
        expected = [expected[0] - next * 0.25, next];
    }
    // Only Hopper's kernel has the product in no memory.
    if device.info().target.starts_with("sm_90a") {
        assert_eq!(allocations[1], allocations[4], "{allocations:?}");
    }
    for (tensor, expected) in [weights, moments].iter().zip(expected) {
        let found = tensor.to_vec::<f32>().unwrap();
        assert!(found.iter().all(|x| *x == expected), "{} is not {expected}", found[0]);
    }
}
