//! Random numbers: their bits, their ranges and their distributions.

use crate::support::{device, message};
use inflight::{CpuOptions, CpuPath, Device, Tensor, bf16, f16};

/// Threefry-2x32 with 20 rounds, word by word.
fn threefry(key: [u32; 2], counter: [u32; 2]) -> [u32; 2] {
    const ROTATIONS: [u32; 8] = [13, 15, 26, 6, 17, 29, 16, 24];
    let keys = [key[0], key[1], 0x1BD11BDA ^ key[0] ^ key[1]];
    let [mut x, mut y] = [counter[0].wrapping_add(keys[0]), counter[1].wrapping_add(keys[1])];
    for round in 0..20 {
        x = x.wrapping_add(y);
        y = y.rotate_left(ROTATIONS[round % 8]) ^ x;
        if round % 4 == 3 {
            let injection = round / 4 + 1;
            x = x.wrapping_add(keys[injection % 3]);
            y = y.wrapping_add(keys[(injection + 1) % 3]).wrapping_add(injection as u32);
        }
    }
    [x, y]
}

fn words(seed: u64, count: u32) -> Vec<[u32; 2]> {
    let key = [seed as u32, (seed >> 32) as u32];
    (0..count).map(|counter| threefry(key, [counter, 0])).collect()
}

const SEED: u64 = 0x0123_4567_89ab_cdef;

#[test]
fn bits_are_a_function_of_the_seed_and_the_position() {
    let device = device();
    assert_eq!(threefry([0, 0], [0, 0]), [0x6b200159, 0x99ba4efe]);
    let expected: Vec<u32> = words(SEED, 600).iter().map(|word| word[0]).collect();
    let bits = Tensor::rand_bits([20, 30], SEED, &device);
    assert_eq!(bits.shape().extents(), [20, 30]);
    assert_eq!(bits.to_vec::<u32>().unwrap(), expected);
    assert_eq!(Tensor::rand_bits([], 0, &device).item::<u32>().unwrap(), 0x6b200159);
    assert!(Tensor::rand_bits([0, 3], 0, &device).to_vec::<u32>().unwrap().is_empty());
}

#[test]
fn uniform_floats_are_exact_fractions() {
    let device = device();
    let words = words(SEED, 1000);
    let single = Tensor::rand::<f32>([1000], SEED, &device).to_vec::<f32>().unwrap();
    let double = Tensor::rand::<f64>([1000], SEED, &device).to_vec::<f64>().unwrap();
    let half = Tensor::rand::<f16>([1000], SEED, &device).to_vec::<f16>().unwrap();
    let brain = Tensor::rand::<bf16>([1000], SEED, &device).to_vec::<bf16>().unwrap();
    for (position, [high, low]) in words.into_iter().enumerate() {
        assert_eq!(single[position], (high >> 8) as f32 / (1 << 24) as f32);
        let bits = (u64::from(high >> 5) << 26) | u64::from(low >> 6);
        assert_eq!(double[position], bits as f64 / (1u64 << 53) as f64);
        assert_eq!(half[position].to_f32(), (high >> 21) as f32 / 2048.0);
        assert_eq!(brain[position].to_f32(), (high >> 24) as f32 / 256.0);
    }
}

/// The block interpreter and machine code, on one thread and on three.
#[test]
fn every_path_generates_the_same_bits() {
    let fast = device();
    let options = CpuOptions { path: Some(CpuPath::Block), threads: Some(3) };
    let plain = Device::open_cpu(options).unwrap();
    let bits = |device: &Device| {
        let single = Tensor::randn::<f32>(1.0, 3.0, [7, 10_001], SEED, device);
        let double = Tensor::randn::<f64>(1.0, 3.0, [7, 10_001], SEED, device);
        let single = single.to_vec::<f32>().unwrap().into_iter().map(f32::to_bits);
        let double = double.to_vec::<f64>().unwrap().into_iter().map(f64::to_bits);
        (single.collect::<Vec<_>>(), double.collect::<Vec<_>>())
    };
    assert!(bits(&fast) == bits(&plain));
}

#[test]
fn a_new_seed_compiles_nothing() {
    let device = device();
    Tensor::randn::<f32>(0.0, 1.0, [100], 1, &device).wait().unwrap();
    let before = device.stats();
    Tensor::randn::<f32>(0.0, 1.0, [100], 2, &device).wait().unwrap();
    let stats = device.stats().since(&before);
    assert_eq!((stats.compiles, stats.plans, stats.launches), (0, 0, 1));
}

#[test]
fn integers_cover_their_range() {
    let device = device();
    let dice = Tensor::randint(1u8, 7, [60_000], 3, &device).to_vec::<u8>().unwrap();
    for face in 1..7 {
        // Five standard deviations of a fair die.
        let count = dice.iter().filter(|&&found| found == face).count() as f64;
        assert!(
            (count - 10_000.0).abs() < 5.0 * (10_000.0f64 * 5.0 / 6.0).sqrt(),
            "{face}: {count}"
        );
    }
    assert!(dice.iter().all(|face| (1..7).contains(face)));
    let words = words(9, 100);
    let found = Tensor::randint(-5i64, i64::MAX, [100], 9, &device).to_vec::<i64>().unwrap();
    let range = (i64::MAX as i128 + 5) as u128;
    for (found, [high, low]) in found.into_iter().zip(words) {
        let draw = (u128::from(high) << 32) | u128::from(low);
        assert_eq!(i128::from(found), ((draw * range) >> 64) as i128 - 5);
    }
    assert_eq!(Tensor::randint(4, 5, [3], 0, &device).to_vec::<i32>().unwrap(), [4; 3]);
}

/// The moments and tails of a large sample are within five standard deviations of their estimates.
#[test]
fn normal_floats_have_the_moments_of_the_distribution() {
    let device = device();
    let n = 1_000_000;
    let single = Tensor::randn::<f32>(0.0, 1.0, [n], 42, &device).to_vec::<f32>().unwrap();
    let double = Tensor::randn::<f64>(0.0, 1.0, [n], 43, &device).to_vec::<f64>().unwrap();
    let single: Vec<f64> = single.into_iter().map(f64::from).collect();
    for sample in [single, double] {
        let moment = |power: i32| sample.iter().map(|x| x.powi(power)).sum::<f64>() / n as f64;
        // The variance of the k-th moment's estimate is (E[x²ᵏ] − E[xᵏ]²) / n.
        for (power, expected, variance) in
            [(1, 0.0, 1.0), (2, 1.0, 2.0), (3, 0.0, 15.0), (4, 3.0, 96.0)]
        {
            let bound = 5.0 * (variance / n as f64).sqrt();
            let found = moment(power);
            assert!((found - expected).abs() < bound, "moment {power}: {found}");
        }
        // Probabilities of |x| above 1, 2, 3 and 4.
        for (limit, probability) in
            [(1.0, 0.3173105), (2.0, 0.04550026), (3.0, 0.002699796), (4.0, 6.334248e-5)]
        {
            let count = sample.iter().filter(|x| x.abs() > limit).count() as f64;
            let expected = probability * n as f64;
            let bound = 5.0 * (expected * (1.0 - probability)).sqrt();
            assert!((count - expected).abs() < bound, "beyond {limit}: {count}, not {expected}");
        }
        assert!(sample.iter().all(|x| x.is_finite()));
    }
}

#[test]
fn normal_floats_are_shifted_and_scaled() {
    let device = device();
    let plain = Tensor::randn::<f64>(0.0, 1.0, [50], 5, &device).to_vec::<f64>().unwrap();
    let moved = Tensor::randn::<f64>(-3.0, 2.0, [5, 10], 5, &device);
    assert_eq!(moved.shape().extents(), [5, 10]);
    for (plain, moved) in plain.iter().zip(moved.to_vec::<f64>().unwrap()) {
        assert!((plain * 2.0 - 3.0 - moved).abs() < 1e-14);
    }
    let half = Tensor::randn::<bf16>(0.0, 1.0, [50], 5, &device).to_vec::<bf16>().unwrap();
    let single = Tensor::randn::<f32>(0.0, 1.0, [50], 5, &device).to_vec::<f32>().unwrap();
    assert_eq!(half, single.iter().map(|&x| bf16::from_f32(x)).collect::<Vec<_>>());
}

#[test]
fn invalid_arguments_are_errors() {
    let device = device();
    let line = line!() + 1;
    let bad = Tensor::rand::<i32>([2, 3], 0, &device);
    let text = message(&bad);
    assert!(text.starts_with("rand(i32[2, 3]) at "), "{text}");
    assert!(text.contains(&format!("random.rs:{line}:")), "{text}");
    assert_eq!(bad.shape().extents(), [2, 3]);
    assert!(message(&Tensor::randn::<bool>(0.0, 1.0, [2], 0, &device)).starts_with("randn("));
    assert!(message(&Tensor::randint(3, 3, [2], 0, &device)).contains("empty range 3..3"));
    assert!(message(&Tensor::randint(0.0, 3.0, [2], 0, &device)).contains("integer dtype"));
}
