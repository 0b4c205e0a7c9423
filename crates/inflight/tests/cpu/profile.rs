//! Profiles of a closure: rows, counts and waits. Times are never compared.

use crate::device;
use inflight::{Device, DeviceOp, Profile, ProfiledKernel, ProfiledKind, Tensor, WaitReason, api};

fn row<'a>(profile: &'a Profile, call: &str) -> &'a ProfiledKernel {
    let named = |kernel: &&ProfiledKernel| kernel.ops.iter().any(|op| op.name == call);
    profile.kernels.iter().find(named).unwrap_or_else(|| panic!("no row of {call} in {profile}"))
}

fn launches(profile: &Profile) -> u64 {
    profile.kernels.iter().map(|kernel| kernel.launches).sum()
}

#[test]
fn a_profile_counts_launches_bytes_and_operations() {
    let device = device();
    let x = Tensor::from_vec(vec![1.0f32; 64 * 64], [64, 64], &device).unwrap();
    x.wait().unwrap();
    let before = device.stats();
    let line = line!() + 4;
    let (values, profile) = inflight::profile(|| {
        let mut last = Vec::new();
        for _ in 0..3 {
            let result = x.matmul(&x).relu();
            // In a single expression, the temporary of the matmul would stay alive and its value would be stored.
            last = result.to_vec::<f32>().unwrap();
        }
        last
    })
    .unwrap();
    assert_eq!(values, vec![64.0; 64 * 64]);
    let stats = device.stats().since(&before);
    let [kernel] = &profile.kernels[..] else { panic!("{profile}") };
    assert_eq!((kernel.kind, kernel.launches), (ProfiledKind::Gemm, 3));
    assert_eq!((kernel.launches, profile.compiles), (stats.launches, stats.compiles));
    assert_eq!(kernel.bytes_read, stats.bytes_read);
    assert_eq!(kernel.bytes_written, stats.bytes_written);
    // Two operations for each step of a dot product, and a maximum for each element of the result.
    assert_eq!(kernel.flops, 3 * (2 * 64 * 64 * 64 + 64 * 64));
    assert_eq!(kernel.share, 1.0);
    let names: Vec<&str> = kernel.ops.iter().map(|op| op.name).collect();
    assert_eq!(names, ["matmul", "relu"]);
    let location = format!("{}:{line}:", file!());
    assert!(kernel.ops.iter().all(|op| op.location.starts_with(&location)), "{profile}");
    assert!(profile.elapsed >= kernel.total && !kernel.total.is_zero());
}

#[test]
fn waits_are_counted_by_line() {
    let device = device();
    let x = Tensor::ones::<f32>([256, 256], &device);
    let ((), profile) = inflight::profile(|| {
        for step in 0..12 {
            (&x * step as f32).sum_all().item::<f32>().unwrap();
        }
    })
    .unwrap();
    let [wait] = &profile.waits[..] else { panic!("{:?}", profile.waits) };
    assert_eq!((wait.reason, wait.count), (WaitReason::Read, 12));
    assert!(wait.location.file().ends_with("profile.rs"));
    assert!(profile.to_string().contains("12 waits (read) at"), "{profile}");
}

#[test]
fn earlier_work_and_other_threads_are_excluded() {
    let device = device();
    let x = Tensor::from_vec(vec![1.0f32; 64 * 64], [64, 64], &device).unwrap();
    let earlier = x.exp();
    device.flush();
    let ((), profile) = inflight::profile(|| {
        x.tanh().wait().unwrap();
        std::thread::scope(|scope| {
            scope.spawn(|| x.sqrt().wait().unwrap());
        });
    })
    .unwrap();
    assert_eq!(launches(&profile), 1, "{profile}");
    assert_eq!(row(&profile, "tanh").launches, 1);
    drop(earlier);
}

#[test]
fn concurrent_profiles_contain_their_own_thread_only() {
    let device = device();
    let x = Tensor::ones::<f32>([128, 128], &device);
    x.wait().unwrap();
    let run = |count: u64, f: fn(&Tensor) -> Tensor| {
        let ((), profile) = inflight::profile(|| {
            (0..count).for_each(|_| f(&x).wait().unwrap());
        })
        .unwrap();
        (launches(&profile), profile.kernels.len())
    };
    let (exp, tanh) = std::thread::scope(|scope| {
        let exp = scope.spawn(|| run(20, Tensor::exp));
        let tanh = scope.spawn(|| run(30, Tensor::tanh));
        (exp.join().unwrap(), tanh.join().unwrap())
    });
    assert_eq!((exp, tanh), ((20, 1), (30, 1)));
}

#[test]
fn an_outer_profile_contains_the_inner_one() {
    let device = device();
    let x = Tensor::ones::<f32>([32, 32], &device);
    x.wait().unwrap();
    let (inner, outer) = inflight::profile(|| {
        x.exp().wait().unwrap();
        let ((), inner) = inflight::profile(|| x.tanh().wait().unwrap()).unwrap();
        x.sqrt().wait().unwrap();
        inner
    })
    .unwrap();
    assert_eq!((launches(&inner), launches(&outer)), (1, 3), "{inner}\n{outer}");
    assert_eq!(row(&inner, "tanh").launches, 1);
    for call in ["exp", "tanh", "sqrt"] {
        assert_eq!(row(&outer, call).launches, 1);
    }
}

#[test]
fn a_profile_waits_for_submitted_work() {
    let device = device();
    let x = Tensor::from_vec(vec![1.0f32; 64 * 64], [64, 64], &device).unwrap();
    x.wait().unwrap();
    let (result, profile) = inflight::profile(|| x.matmul(&x).softmax(1)).unwrap();
    assert!(result.is_ready());
    assert!(launches(&profile) > 0);
    // The CPU's limits are measured, and every row is compared with them.
    let limits = &profile.limits[0];
    assert!(limits.bytes_per_second.unwrap() > 0.0 && limits.flops.unwrap() > 0.0);
    assert!(profile.kernels.iter().all(|kernel| kernel.limit.is_some()), "{profile}");
}

#[test]
fn ops_on_explicit_streams_are_profiled() {
    let device = Device::cpu();
    let stream = device.stream();
    let (values, profile) = inflight::profile(|| {
        api::ones::<f32>([8, 8]).to_host_vec::<f32>().sync_on(&stream).unwrap()
    })
    .unwrap();
    assert_eq!(values, vec![1.0; 64]);
    assert_eq!(launches(&profile), 1, "{profile}");
}

#[test]
fn a_profile_is_text_and_json() {
    let device = device();
    let x = Tensor::from_vec(vec![1.0f32; 64 * 64], [64, 64], &device).unwrap();
    let ((), profile) = inflight::profile(|| x.softmax(1).wait().unwrap()).unwrap();
    let text = profile.to_string();
    for part in
        ["in 1 launch of 1 kernel", "of limit", "softmax at ", "limits of cpu", "(measured)"]
    {
        assert!(text.contains(part), "{part} is not in {text}");
    }
    let json: serde_json::Value = serde_json::from_str(&profile.to_json()).unwrap();
    assert_eq!(json["kernels"][0]["ops"][0]["name"], "softmax");
    assert_eq!(json["kernels"][0]["launches"], 1);
    assert_eq!(json["limits"][0]["source"], "measured");
    let ((), nothing) = inflight::profile(|| ()).unwrap();
    assert!(nothing.kernels.is_empty() && nothing.to_string().contains("nothing ran"));
}
