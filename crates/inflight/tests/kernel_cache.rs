//! Compiled kernels on disk: a second process compiles nothing, and nothing on the disk can hurt.

mod common;

use inflight::{Device, Tensor};
use std::path::{Path, PathBuf};
use std::{env, fs, process, thread};

/// A folder that is gone when the test is.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Folder {
        let path = env::temp_dir().join(format!("inflight-kernels-{name}-{}", process::id()));
        let _ = fs::remove_dir_all(&path);
        Folder(path)
    }

    fn files(&self) -> Vec<PathBuf> {
        let entries = fs::read_dir(&self.0).unwrap();
        entries.map(|entry| entry.unwrap().path()).collect()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn keeping(folder: &Path) -> Device {
    let device = common::device();
    assert!(device.set_kernel_cache_dir(folder).unwrap());
    device
}

/// Kernels of every kind: one pass, several passes, columns, transposing, followed products, interpreted.
fn compute(device: &Device) -> Vec<f64> {
    let data = (0..60 * 70).map(|i| ((i * 37) % 101) as f32 / 50.0 - 1.0).collect();
    let x = Tensor::from_vec(data, [60, 70], device).unwrap();
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
fn what_one_device_compiles_another_loads() {
    let folder = Folder::new("second");
    let first = keeping(&folder.0);
    let expected = compute(&first);
    let stats = first.stats();
    assert!(stats.compiles >= 7 && stats.loads == 0, "{stats:?}");
    assert_eq!(folder.files().len() as u64, stats.compiles);
    let second = keeping(&folder.0);
    assert_eq!(compute(&second), expected);
    let kernels = stats.compiles;
    assert_eq!((second.stats().compiles, second.stats().loads), (0, kernels));
    assert!(!second.set_kernel_cache_dir(env::temp_dir()).unwrap(), "the first folder stays");
}

#[test]
fn a_second_process_compiles_nothing() {
    const FOLDER: &str = "INFLIGHT_TEST_KERNELS";
    if let Some(folder) = env::var_os(FOLDER) {
        let device = keeping(Path::new(&folder));
        compute(&device);
        println!("compiled {}", device.stats().compiles);
        return;
    }
    let folder = Folder::new("process");
    let compiled = || {
        let output = process::Command::new(env::current_exe().unwrap())
            .args(["--exact", "a_second_process_compiles_nothing", "--nocapture"])
            .env(FOLDER, &folder.0)
            .output()
            .unwrap();
        assert!(output.status.success(), "{output:?}");
        let text = String::from_utf8(output.stdout).unwrap();
        let line = text.lines().find_map(|line| line.split_once("compiled ")).unwrap().1;
        line.trim().parse::<u64>().unwrap()
    };
    assert!(compiled() >= 7);
    assert_eq!(compiled(), 0);
}

#[test]
fn torn_and_foreign_files_are_compiled_anew() {
    let folder = Folder::new("torn");
    let expected = compute(&keeping(&folder.0));
    let files = folder.files();
    for (number, file) in files.iter().enumerate() {
        let mut bytes = fs::read(file).unwrap();
        match number % 4 {
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
    let device = keeping(&folder.0);
    assert_eq!(compute(&device), expected);
    assert_eq!(device.stats().compiles, files.len() as u64);
    // And they are whole again.
    let device = keeping(&folder.0);
    assert_eq!(compute(&device), expected);
    assert_eq!(device.stats().compiles, 0);
}

#[test]
fn many_write_at_once() {
    let folder = Folder::new("many");
    let expected = compute(&common::device());
    thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| assert_eq!(compute(&keeping(&folder.0)), expected));
        }
    });
    let device = keeping(&folder.0);
    assert_eq!(compute(&device), expected);
    assert_eq!(device.stats().compiles, 0);
    assert!(folder.files().iter().all(|file| file.extension().is_none()), "nothing is left over");
}

#[test]
fn a_folder_that_cannot_be_made_is_said() {
    let folder = Folder::new("file");
    fs::write(&folder.0, "a file").unwrap();
    let error = common::device().set_kernel_cache_dir(&folder.0).unwrap_err();
    assert!(error.to_string().contains(&*folder.0.to_string_lossy()), "{error}");
    fs::remove_file(&folder.0).unwrap();
}
