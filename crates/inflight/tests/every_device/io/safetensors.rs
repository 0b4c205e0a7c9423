//! `.safetensors` files: round trips of every dtype, and malformed files.

use crate::support::{counting, device, read};
use inflight::io::{load_safetensors, save_safetensors};
use inflight::{Complex, DType, Error, SyncGuard, Tensor, bf16};
use std::collections::BTreeMap;
use std::path::PathBuf;

fn path(name: &str) -> PathBuf {
    std::env::temp_dir().join(format!("inflight-{name}-{}.safetensors", std::process::id()))
}

fn bytes_of(header: &str, data: &[u8]) -> Vec<u8> {
    let mut bytes = (header.len() as u64).to_le_bytes().to_vec();
    bytes.extend(header.as_bytes());
    bytes.extend(data);
    bytes
}

#[test]
fn every_dtype_round_trips() {
    let (path, device) = (path("dtypes"), device());
    let x = counting([2, 3], &device);
    let dtypes = DType::ALL.into_iter().filter(|&dtype| dtype != DType::C128);
    let mut tensors: BTreeMap<String, Tensor> =
        dtypes.map(|dtype| (format!("as {dtype}"), x.cast(dtype))).collect();
    tensors.insert("scalar".to_owned(), Tensor::scalar(2.5f32, &device));
    tensors.insert("empty".to_owned(), Tensor::zeros::<u8>([3, 0], &device));
    tensors.insert("a view".to_owned(), x.transpose());
    let metadata = BTreeMap::from([("format".to_owned(), "inflight".to_owned())]);
    save_safetensors(&path, &tensors, &metadata).unwrap();
    let loaded = load_safetensors(&path, &device).unwrap();
    std::fs::remove_file(&path).unwrap();
    assert_eq!(loaded.metadata, metadata);
    assert!(loaded.tensors.keys().eq(tensors.keys()));
    for (name, tensor) in &tensors {
        let other = &loaded.tensors[name];
        assert_eq!((other.dtype(), other.shape()), (tensor.dtype(), tensor.shape()), "{name}");
        let (wide, other) = (tensor.cast(DType::C64), other.cast(DType::C64));
        assert_eq!(read::<Complex<f32>>(&other), read::<Complex<f32>>(&wide), "{name}");
    }
}

#[test]
fn bits_are_preserved() {
    let (path, device) = (path("bits"), device());
    let elements = vec![bf16::NAN, bf16::from_f32(-0.0), bf16::INFINITY, bf16::from_bits(1)];
    let bits = |elements: &[bf16]| elements.iter().map(|x| x.to_bits()).collect::<Vec<_>>();
    let x = Tensor::from_vec(elements.clone(), [4], &device).unwrap();
    save_safetensors(&path, [("x", &x)], &BTreeMap::new()).unwrap();
    let loaded = load_safetensors(&path, &device).unwrap();
    std::fs::remove_file(&path).unwrap();
    assert_eq!(bits(&loaded.tensors["x"].to_vec::<bf16>().unwrap()), bits(&elements));
    assert!(loaded.metadata.is_empty());
}

#[test]
fn errors_name_the_cause_and_the_file() {
    let (path, device) = (path("wrong"), device());
    for (bytes, cause) in [
        (Vec::new(), "header too small"),
        (vec![0xff; 64], "header too large"),
        (bytes_of("not json", &[]), "JSON"),
        (bytes_of(r#"{"x":{"dtype":"F32","shape":[2],"data_offsets":[0,4]}}"#, &[0; 4]), ""),
        (bytes_of(r#"{"x":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}}"#, &[0; 7]), ""),
        (
            bytes_of(r#"{"x":{"dtype":"F8_E4M3","shape":[1],"data_offsets":[0,1]}}"#, &[0]),
            "F8_E4M3",
        ),
        (
            bytes_of(r#"{"x":{"dtype":"BOOL","shape":[1],"data_offsets":[0,1]}}"#, &[7]),
            "neither true",
        ),
        (
            bytes_of(
                r#"{"x":{"dtype":"U8","shape":[0,4294967296,4294967295],"data_offsets":[0,0]}}"#,
                &[],
            ),
            "too large",
        ),
    ] {
        std::fs::write(&path, bytes).unwrap();
        let error = load_safetensors(&path, &device).unwrap_err();
        assert!(matches!(error, Error::File { .. }));
        let text = error.to_string();
        assert!(text.contains("wrong") && text.contains(cause), "{cause} is not in {text}");
    }
    std::fs::remove_file(&path).unwrap();
}

#[test]
fn broken_files_are_errors_or_other_tensors() {
    let (path, device) = (path("broken"), device());
    let tensors =
        [("flag", counting([3], &device).cast(DType::Bool)), ("x", counting([2, 2], &device))];
    save_safetensors(&path, tensors, &BTreeMap::new()).unwrap();
    let valid = std::fs::read(&path).unwrap();
    for len in 0..valid.len() {
        std::fs::write(&path, &valid[..len]).unwrap();
        assert!(load_safetensors(&path, &device).is_err(), "cut off after {len} bytes");
    }
    for position in 0..valid.len() {
        for flipped in [0x01, 0x02, 0x04, 0x08, 0x10, 0x20, 0x40, 0x80, 0xff] {
            let mut bytes = valid.clone();
            bytes[position] ^= flipped;
            std::fs::write(&path, &bytes).unwrap();
            if let Ok(loaded) = load_safetensors(&path, &device) {
                let sizes = loaded.tensors.values().map(|x| x.element_count() * x.dtype().size());
                assert_eq!(sizes.sum::<usize>(), 19);
            }
        }
    }
    std::fs::remove_file(&path).unwrap();
}

#[test]
fn a_failed_save_changes_nothing() {
    let (path, device) = (path("refused"), device());
    let x = counting([2], &device);
    save_safetensors(&path, [("x", &x)], &BTreeMap::new()).unwrap();
    let refused = |name: &str, tensor: &Tensor| {
        save_safetensors(&path, [("x", &x), (name, tensor)], &BTreeMap::new()).unwrap_err()
    };
    assert!(refused("z", &x.cast(DType::C128)).to_string().contains("complex128"));
    assert!(refused("x", &x).to_string().contains("two tensors"));
    assert!(matches!(refused("y", &x.reshape([5])), Error::Op(_)));
    let slow = &x + 1;
    let guard = SyncGuard::deny();
    assert!(matches!(refused("y", &slow), Error::WaitDenied { .. }));
    drop(guard);
    let loaded = load_safetensors(&path, &device).unwrap();
    std::fs::remove_file(&path).unwrap();
    assert_eq!(loaded.tensors["x"].to_vec::<i32>().unwrap(), [0, 1]);
}
