//! The kernel cache on disk: a second process compiles nothing, and damaged files are compiled again.

use crate::support::folder::Folder;
use crate::support::process::rerun;
use crate::support::ramp;
use inflight::Device;
use std::path::Path;
use std::{env, fs, thread};

fn caching_device(folder: &Path) -> Device {
    let device = crate::device();
    assert!(device.set_kernel_cache_dir(folder).unwrap());
    device
}

/// Runs kernels of every kind: elementwise, row and column reductions, transposes, fused epilogues, and interpreted
/// kernels.
fn compute(device: &Device) -> Vec<f64> {
    let x = ramp([60, 70], device);
    let results = [
        x.gelu_tanh() * 3.0 + 1.0,
        x.softmax(1),
        x.sum([0]),
        &x + x.transpose().reshape([60, 70]),
        x.transpose().exp().matmul(&x).relu(),
        (&x * 20.0).cast(inflight::DType::I32).rem(7).cast(inflight::DType::F32),
        x.cumsum(1),
    ];
    results.iter().flat_map(|y| y.to_vec::<f32>().unwrap()).map(f64::from).collect()
}

#[test]
fn kernels_compiled_by_one_device_are_loaded_by_another() {
    let folder = Folder::absent("kernels-second");
    let first = caching_device(folder.path());
    let expected = compute(&first);
    let stats = first.stats();
    assert!(stats.compiles >= 7 && stats.loads == 0, "{stats:?}");
    assert_eq!(folder.files().len() as u64, stats.compiles);
    let second = caching_device(folder.path());
    assert_eq!(compute(&second), expected);
    let kernels = stats.compiles;
    assert_eq!((second.stats().compiles, second.stats().loads), (0, kernels));
    let other = Folder::absent("kernels-other");
    assert!(!second.set_kernel_cache_dir(other.path()).unwrap(), "the first folder remains in use");
}

#[test]
fn a_second_process_compiles_nothing() {
    const FOLDER: &str = "INFLIGHT_TEST_KERNELS";
    if let Some(folder) = env::var_os(FOLDER) {
        let device = caching_device(Path::new(&folder));
        compute(&device);
        println!("compiled {}", device.stats().compiles);
        return;
    }
    let folder = Folder::absent("kernels-process");
    let compiled = || {
        let output = rerun().env(FOLDER, folder.path()).output().unwrap();
        assert!(output.status.success(), "{output:?}");
        let text = String::from_utf8(output.stdout).unwrap();
        let line = text.lines().find_map(|line| line.split_once("compiled ")).unwrap().1;
        line.trim().parse::<u64>().unwrap()
    };
    assert!(compiled() >= 7);
    assert_eq!(compiled(), 0);
}

#[test]
fn truncated_and_foreign_files_are_recompiled() {
    let folder = Folder::absent("kernels-torn");
    let expected = compute(&caching_device(folder.path()));
    let files = folder.files();
    for (index, file) in files.iter().enumerate() {
        let mut bytes = fs::read(file).unwrap();
        match index % 4 {
            0 => bytes.truncate(bytes.len() / 2),
            1 => bytes.clear(),
            2 => bytes = b"something else altogether".to_vec(),
            _ => {
                let middle = bytes.len() / 2;
                bytes[middle] ^= 0x40;
            }
        }
        fs::write(file, bytes).unwrap();
    }
    let device = caching_device(folder.path());
    assert_eq!(compute(&device), expected);
    assert_eq!(device.stats().compiles, files.len() as u64);
    // The recompiled files are valid.
    let device = caching_device(folder.path());
    assert_eq!(compute(&device), expected);
    assert_eq!(device.stats().compiles, 0);
}

#[test]
fn concurrent_writers_do_not_corrupt_the_cache() {
    let folder = Folder::absent("kernels-many");
    let expected = compute(&crate::device());
    thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| assert_eq!(compute(&caching_device(folder.path())), expected));
        }
    });
    let device = caching_device(folder.path());
    assert_eq!(compute(&device), expected);
    assert_eq!(device.stats().compiles, 0);
    assert!(
        folder.files().iter().all(|file| file.extension().is_none()),
        "no temporary file remains"
    );
}

#[test]
fn an_unusable_cache_folder_is_reported() {
    let folder = Folder::absent("kernels-file");
    fs::write(folder.path(), "a file").unwrap();
    let error = crate::device().set_kernel_cache_dir(folder.path()).unwrap_err();
    assert!(error.to_string().contains(&*folder.path().to_string_lossy()), "{error}");
    fs::remove_file(folder.path()).unwrap();
}
