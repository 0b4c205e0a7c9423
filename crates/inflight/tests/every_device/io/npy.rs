//! `.npy` files: round trips, byte orders, NumPy compatibility, and malformed files.

use crate::support::folder::Folder;
use crate::support::{counting, device, read};
use inflight::io::{load_npy, save_npy};
use inflight::{Complex, DType, Device, Element, Error, Tensor, f16};

/// A version 1 file with this header and element bytes.
fn file(header: &str, elements: &[u8]) -> Vec<u8> {
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend((header.len() as u16).to_le_bytes());
    bytes.extend(header.as_bytes());
    bytes.extend(elements);
    bytes
}

fn dict(descr: &str, fortran: bool, shape: &str) -> String {
    let fortran = if fortran { "True" } else { "False" };
    format!("{{'descr': '{descr}', 'fortran_order': {fortran}, 'shape': {shape}, }}\n")
}

fn round_trip<T: Element>(folder: &Folder, elements: Vec<T>, descr: &str, device: &Device) {
    let path = folder.file(T::DTYPE.name());
    let tensor = Tensor::from_vec(elements.clone(), [elements.len(), 1], device).unwrap();
    save_npy(&path, &tensor).unwrap();
    let header = String::from_utf8_lossy(&std::fs::read(&path).unwrap()[..80]).into_owned();
    assert!(header.contains(descr), "{descr} is not in {header}");
    assert_eq!(read::<T>(&load_npy(&path, device).unwrap()), (vec![elements.len(), 1], elements));
}

#[test]
fn every_numpy_dtype_round_trips() {
    let (folder, device) = (Folder::new("npy-dtypes"), device());
    round_trip(&folder, vec![true, false, true], "'|b1'", &device);
    round_trip(&folder, vec![i8::MIN, 0, i8::MAX], "'|i1'", &device);
    round_trip(&folder, vec![i16::MIN, 0, i16::MAX], "'<i2'", &device);
    round_trip(&folder, vec![i32::MIN, 0, i32::MAX], "'<i4'", &device);
    round_trip(&folder, vec![i64::MIN, 0, i64::MAX], "'<i8'", &device);
    round_trip(&folder, vec![0, u8::MAX], "'|u1'", &device);
    round_trip(&folder, vec![0, u16::MAX], "'<u2'", &device);
    round_trip(&folder, vec![0, u32::MAX], "'<u4'", &device);
    round_trip(&folder, vec![0, u64::MAX], "'<u8'", &device);
    round_trip(&folder, vec![f16::from_f32(0.1), f16::INFINITY], "'<f2'", &device);
    round_trip(&folder, vec![0.1f32, f32::MIN], "'<f4'", &device);
    round_trip(&folder, vec![0.1f64, f64::MAX], "'<f8'", &device);
    round_trip(&folder, vec![Complex::new(1.0f32, -2.0)], "'<c8'", &device);
    round_trip(&folder, vec![Complex::new(1.0f64, -2.0)], "'<c16'", &device);
    // One file for each dtype and no temporary files.
    assert_eq!(folder.files().len(), 14);
}

#[test]
fn every_shape_round_trips() {
    let (folder, device) = (Folder::new("npy-shapes"), device());
    let path = folder.file("x.npy");
    for shape in [vec![], vec![0], vec![5], vec![2, 0, 3], vec![2, 3, 4, 1]] {
        let x = counting(shape, &device);
        save_npy(&path, &x).unwrap();
        assert_eq!(read::<i32>(&load_npy(&path, &device).unwrap()), read::<i32>(&x));
    }
    let view = counting([3, 4], &device).transpose();
    save_npy(&path, &view).unwrap();
    assert_eq!(read::<i32>(&load_npy(&path, &device).unwrap()), read::<i32>(&view));
}

#[test]
fn both_byte_orders_and_axis_orders_are_read() {
    let (folder, device) = (Folder::new("npy-orders"), device());
    let path = folder.file("x.npy");
    let big: Vec<u8> = (0..6i16).flat_map(|value| (value * 300).to_be_bytes()).collect();
    std::fs::write(&path, file(&dict(">i2", true, "(2, 3)"), &big)).unwrap();
    let expected = (vec![2, 3], vec![0, 600, 1200, 300, 900, 1500i16]);
    assert_eq!(read::<i16>(&load_npy(&path, &device).unwrap()), expected);
    let complex: Vec<u8> = [1.5f32, -2.5].iter().flat_map(|part| part.to_be_bytes()).collect();
    std::fs::write(&path, file(&dict(">c8", false, "()"), &complex)).unwrap();
    let value = load_npy(&path, &device).unwrap().item::<Complex<f32>>().unwrap();
    assert_eq!(value, Complex::new(1.5, -2.5));
}

#[test]
fn errors_name_the_cause_and_the_file() {
    let (folder, device) = (Folder::new("npy-wrong"), device());
    let path = folder.file("wrong.npy");
    let valid = dict("<f4", false, "(2,)");
    let deep = format!("{}{}", "(".repeat(30_000), ")".repeat(30_000));
    for (bytes, cause) in [
        (b"PK\x03\x04".to_vec(), "not a .npy file"),
        (Vec::new(), "not a .npy file"),
        (file(&valid, &[0; 8])[..40].to_vec(), "ends within its header"),
        (file(&valid, &[0; 7]), "8 bytes"),
        (file(&valid, &[0; 9]), "8 bytes"),
        (file(&dict("<f4", false, "(2, -1)"), &[]), "negative"),
        (file(&dict("|O", false, "(2,)"), &[]), "|O"),
        (file(&dict("<f16", false, "(1,)"), &[0; 16]), "<f16"),
        (file(&dict("<M8[ns]", false, "(1,)"), &[0; 8]), "<M8[ns]"),
        (file("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1,)}", &[0; 4]), "'a'"),
        (file("{'descr': '<f4', 'shape': (1,)}", &[0; 4]), "fortran_order"),
        (file("{'descr': ", &[]), "parse"),
        (file(&dict("<f4", false, "(4294967296, 4294967296)"), &[]), "too large"),
        (file(&dict("<f4", false, "(0, 4294967295, 4294967295)"), &[]), "too large"),
        (file(&dict("|b1", false, "(2,)"), &[1, 2]), "bool"),
        (file(&deep, &[]), "nested too deeply"),
    ] {
        std::fs::write(&path, bytes).unwrap();
        let error = load_npy(&path, &device).unwrap_err();
        assert!(matches!(error, Error::File { .. }));
        let text = error.to_string();
        assert!(text.contains("wrong.npy") && text.contains(cause), "{cause} is not in {text}");
    }
    let missing = load_npy(folder.file("missing.npy"), &device).unwrap_err().to_string();
    assert!(missing.contains("missing.npy"), "{missing}");
}

#[test]
fn broken_files_are_errors_or_other_arrays() {
    let (folder, device) = (Folder::new("npy-broken"), device());
    let path = folder.file("x.npy");
    save_npy(&path, &counting([3, 2], &device)).unwrap();
    let valid = std::fs::read(&path).unwrap();
    for len in 0..valid.len() {
        std::fs::write(&path, &valid[..len]).unwrap();
        assert!(load_npy(&path, &device).is_err(), "cut off after {len} bytes");
    }
    for position in 0..valid.len() {
        for flipped in [0x01, 0x02, 0x04, 0x08, 0x10, 0x20, 0x40, 0x80, 0xff] {
            let mut bytes = valid.clone();
            bytes[position] ^= flipped;
            std::fs::write(&path, &bytes).unwrap();
            if let Ok(tensor) = load_npy(&path, &device) {
                assert!(tensor.element_count() * tensor.dtype().size() <= 24);
            }
        }
    }
}

#[test]
fn a_failed_save_leaves_the_old_file() {
    let (folder, device) = (Folder::new("npy-replace"), device());
    let path = folder.file("x.npy");
    let x = counting([3], &device);
    save_npy(&path, &x).unwrap();
    let wrong = x.reshape([7]);
    assert!(matches!(save_npy(&path, &wrong), Err(Error::Op(_))));
    let brain = save_npy(&path, &x.cast(DType::BF16)).unwrap_err().to_string();
    assert!(brain.contains("bf16") && brain.contains("F32"), "{brain}");
    assert_eq!(read::<i32>(&load_npy(&path, &device).unwrap()), read::<i32>(&x));
    save_npy(&path, &(&x + 1)).unwrap();
    assert_eq!(load_npy(&path, &device).unwrap().to_vec::<i32>().unwrap(), [1, 2, 3]);
    assert_eq!(folder.files().len(), 1);
    assert!(matches!(save_npy(folder.file("no/x.npy"), &x), Err(Error::File { .. })));
    assert!(matches!(save_npy(folder.path(), &x), Err(Error::File { .. })));
}

#[cfg(unix)]
#[test]
fn links_and_permissions_are_preserved() {
    use std::os::unix::fs::PermissionsExt;
    let (folder, device) = (Folder::new("npy-links"), device());
    let (target, link) = (folder.file("target.npy"), folder.file("link.npy"));
    save_npy(&target, &counting([2], &device)).unwrap();
    std::fs::set_permissions(&target, PermissionsExt::from_mode(0o640)).unwrap();
    std::os::unix::fs::symlink(&target, &link).unwrap();
    save_npy(&link, &counting([4], &device)).unwrap();
    assert!(link.symlink_metadata().unwrap().is_symlink());
    assert_eq!(load_npy(&target, &device).unwrap().element_count(), 4);
    assert_eq!(target.metadata().unwrap().permissions().mode() & 0o777, 0o640);
}
