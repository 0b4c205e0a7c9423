//! Tensors to and from `.npy` files, `.safetensors` files and arrays of the crate `ndarray`.
//! Run it with `cargo run -p inflight --example files`.

use inflight::io::{load_npy, load_safetensors, save_npy, save_safetensors};
use inflight::{DType, Device, Result, Rng, Tensor, assert_close, bf16};
use ndarray::Array2;
use std::collections::BTreeMap;
use std::path::Path;

fn npy(folder: &Path, device: &Device) -> Result<()> {
    let path = folder.join("table.npy");
    let table = Tensor::from_array([[1, 2, 3], [4, 5, 6]], device);
    save_npy(&path, &table)?;
    let loaded = load_npy(&path, device)?;
    println!("{}: {loaded:?}", path.display());
    assert_eq!(loaded.dtype(), DType::I32);
    assert_close!(loaded, table, 0.0);
    Ok(())
}

/// The parameters of a model and a remark, in one file.
fn safetensors(folder: &Path, device: &Device) -> Result<()> {
    let path = folder.join("model.safetensors");
    let mut rng = Rng::new(1);
    let parameters = BTreeMap::from([
        ("weight", rng.randn::<f32>((4, 3), device)),
        ("bias", rng.randn::<bf16>(3, device)),
    ]);
    let metadata = BTreeMap::from([("format".to_owned(), "pt".to_owned())]);
    save_safetensors(&path, &parameters, &metadata)?;

    let file = load_safetensors(&path, device)?;
    for (name, saved) in &parameters {
        let loaded = &file.tensors[*name];
        println!("{name}: {loaded:?}");
        assert_eq!(loaded.dtype(), saved.dtype());
        assert_close!(loaded, saved, 0.0);
    }
    assert_eq!(file.metadata["format"], "pt");
    Ok(())
}

fn arrays(device: &Device) -> Result<()> {
    let array = Array2::from_shape_fn((3, 4), |(row, column)| (row * 4 + column) as f64);
    let x = Tensor::from_ndarray(&array, device)?;
    let transposed = Tensor::from_ndarray(&array.t(), device)?;
    assert_close!(transposed, x.transpose(), 0.0);

    let sums = x.sum(1).to_ndarray::<f64>()?;
    assert_eq!(sums, array.sum_axis(ndarray::Axis(1)).into_dyn());
    Ok(())
}

fn main() -> Result<()> {
    let device = Device::cpu();
    let folder = std::env::temp_dir().join(format!("inflight-files-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder for temporary files");
    let result = npy(&folder, &device)
        .and_then(|()| safetensors(&folder, &device))
        .and_then(|()| arrays(&device));
    std::fs::remove_dir_all(&folder).expect("the folder is there");

    // A missing file is an error that names it.
    let error = load_npy(folder.join("table.npy"), &device).unwrap_err();
    println!("{error}");
    assert!(error.to_string().contains("table.npy"));
    result
}
