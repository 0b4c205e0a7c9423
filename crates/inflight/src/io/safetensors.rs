//! `.safetensors` files: named tensors and string metadata.

use super::{file_error, read_file, replace_file};
use crate::runtime::{Device, WaitReason};
use crate::{Complex, DType, Error, Result, Shape, Tensor, bf16, f16};
use ::safetensors::tensor::{Dtype, SafeTensors, TensorView, View, serialize_to_file};
use std::borrow::{Borrow, Cow};
use std::cell::OnceCell;
use std::collections::{BTreeMap, HashMap};
use std::panic::Location;
use std::path::Path;

/// Contents of a `.safetensors` file.
#[derive(Clone, Debug, Default)]
pub struct Safetensors {
    /// Tensors by name.
    pub tensors: BTreeMap<String, Tensor>,
    /// Metadata, such as `format`.
    pub metadata: BTreeMap<String, String>,
}

/// Dispatches on dtypes, with a special case for `bool`.
macro_rules! match_numeric {
    ($dtype:expr, $T:ident => $body:expr, bool => $bool:expr) => {
        match_dtype!($dtype, $T => $body, DType::Bool => $bool;
            I8 i8, I16 i16, I32 i32, I64 i64, U8 u8, U16 u16, U32 u32, U64 u64, F16 f16,
            BF16 bf16, F32 f32, F64 f64, C64 Complex<f32>, C128 Complex<f64>)
    };
}

/// Loads all tensors of a `.safetensors` file. Does not wait for the uploads.
///
/// # Errors
/// [`Error::File`] if the file cannot be read or is damaged, or if a tensor has an unsupported dtype.
pub fn load_safetensors(path: impl AsRef<Path>, device: &Device) -> Result<Safetensors> {
    let path = path.as_ref();
    let bytes = read_file(path)?;
    let (_, header) =
        SafeTensors::read_metadata(&bytes).map_err(|error| file_error(path, error))?;
    let file = SafeTensors::deserialize(&bytes).map_err(|error| file_error(path, error))?;
    let mut tensors = BTreeMap::new();
    for (name, view) in file.iter() {
        let tensor = match load(&view, device) {
            Ok(tensor) => tensor?,
            Err(message) => return Err(file_error(path, format!("tensor {name:?}: {message}"))),
        };
        tensors.insert(name.to_owned(), tensor);
    }
    let metadata = header.metadata().clone().unwrap_or_default().into_iter().collect();
    Ok(Safetensors { tensors, metadata })
}

/// Saves named tensors and metadata as a `.safetensors` file. Waits for the values.
///
/// # Errors
/// The first failed tensor's error; [`Error::File`] if the file cannot be written, if two tensors have the same
/// name, or for `complex128`, which the format does not have.
#[track_caller]
pub fn save_safetensors<S: AsRef<str>, T: Borrow<Tensor>>(
    path: impl AsRef<Path>,
    tensors: impl IntoIterator<Item = (S, T)>,
    metadata: &BTreeMap<String, String>,
) -> Result<()> {
    let location = Location::caller();
    let path = path.as_ref();
    let tensors: Vec<(S, T)> = tensors.into_iter().collect();
    let failure = OnceCell::new();
    let mut entries: BTreeMap<&str, TensorEntry<'_>> = BTreeMap::new();
    for (name, tensor) in &tensors {
        let (name, tensor) = (name.as_ref(), tensor.borrow());
        tensor.check()?;
        let dtype = to_file_dtype(tensor.dtype()).ok_or_else(|| {
            let message = format!("tensor {name:?}: the format has no {}", tensor.dtype());
            file_error(path, message)
        })?;
        if entries.insert(name, TensorEntry { tensor, dtype, failure: &failure }).is_some() {
            return Err(file_error(path, format!("two tensors are named {name:?}")));
        }
    }
    for entries in entries.values() {
        entries.tensor.wait_for_value(WaitReason::Read, location)?;
    }
    let string_metadata: HashMap<String, String> = metadata.clone().into_iter().collect();
    let string_metadata = (!string_metadata.is_empty()).then_some(string_metadata);
    replace_file(path, |temporary| {
        serialize_to_file(entries, string_metadata, temporary)
            .map_err(|error| file_error(path, error))?;
        match failure.get() {
            Some(error) => Err(Error::clone(error)),
            None => Ok(()),
        }
    })
}

/// A tensor to be written: its bytes are copied to the host when the writer asks for them.
struct TensorEntry<'a> {
    tensor: &'a Tensor,
    dtype: Dtype,
    /// The first copy error. The writer's trait cannot return errors.
    failure: &'a OnceCell<Error>,
}

impl View for TensorEntry<'_> {
    fn dtype(&self) -> Dtype {
        self.dtype
    }

    fn shape(&self) -> &[usize] {
        self.tensor.shape()
    }

    fn data(&self) -> Cow<'_, [u8]> {
        Cow::Owned(bytes_of(self.tensor).unwrap_or_else(|error| {
            let _ = self.failure.set(error);
            vec![0; self.data_len()]
        }))
    }

    fn data_len(&self) -> usize {
        self.tensor.element_count() * self.tensor.dtype().size()
    }
}

fn bytes_of(tensor: &Tensor) -> Result<Vec<u8>> {
    Ok(match_numeric!(
        tensor.dtype(),
        T => bytemuck::cast_slice(&tensor.to_vec::<T>()?).to_vec(),
        bool => tensor.to_vec::<bool>()?.into_iter().map(u8::from).collect()
    ))
}

/// Creates a tensor from a file's entry.
fn load(view: &TensorView<'_>, device: &Device) -> std::result::Result<Result<Tensor>, String> {
    let dtype = from_file_dtype(view.dtype())
        .ok_or_else(|| format!("its element type {:?} is not supported", view.dtype()))?;
    let shape = Shape::new(view.shape());
    if shape.checked_element_count().is_none() {
        return Err(format!("its shape {shape} is too large"));
    }
    Ok(match_numeric!(
        dtype,
        T => Tensor::from_vec(bytemuck::pod_collect_to_vec::<u8, T>(view.data()), shape, device),
        bool => {
            if let Some(byte) = view.data().iter().find(|&&byte| byte > 1) {
                return Err(format!("found the byte {byte} in a boolean tensor, which is neither true (1) nor false (0)"));
            }
            let elements: Vec<bool> = view.data().iter().map(|&byte| byte == 1).collect();
            Tensor::from_vec(elements, shape, device)
        }
    ))
}

/// The dtypes that tensors and the file format share.
const COMMON_DTYPES: [(DType, Dtype); 14] = [
    (DType::Bool, Dtype::BOOL),
    (DType::I8, Dtype::I8),
    (DType::I16, Dtype::I16),
    (DType::I32, Dtype::I32),
    (DType::I64, Dtype::I64),
    (DType::U8, Dtype::U8),
    (DType::U16, Dtype::U16),
    (DType::U32, Dtype::U32),
    (DType::U64, Dtype::U64),
    (DType::F16, Dtype::F16),
    (DType::BF16, Dtype::BF16),
    (DType::F32, Dtype::F32),
    (DType::F64, Dtype::F64),
    (DType::C64, Dtype::C64),
];

fn to_file_dtype(dtype: DType) -> Option<Dtype> {
    COMMON_DTYPES.iter().find(|(own, _)| *own == dtype).map(|&(_, entries)| entries)
}

fn from_file_dtype(dtype: Dtype) -> Option<DType> {
    COMMON_DTYPES.iter().find(|(_, entries)| *entries == dtype).map(|&(own, _)| own)
}
