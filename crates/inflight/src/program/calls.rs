//! Functions of the host that programs call (`custom_call`).

use super::lapack;
use inflight_backend::{FaultKind, HostFunction};
use inflight_hlo::check::{self, Check};
use inflight_hlo::module::Attributes;
use inflight_hlo::program::ValueType;
use inflight_ir::{DType, Element, Shape};
use parking_lot::RwLock;
use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock};

/// What a call reads: the elements of a tensor in the host's memory.
#[derive(Clone, Copy, Debug)]
pub struct HostView<'a> {
    /// Its shape.
    pub shape: &'a Shape,
    /// Its dtype.
    pub dtype: DType,
    /// Its elements, little-endian and row-major.
    pub bytes: &'a [u8],
}

/// What a call writes: all of it is zero before.
#[derive(Debug)]
pub struct HostViewMut<'a> {
    /// Its shape.
    pub shape: &'a Shape,
    /// Its dtype.
    pub dtype: DType,
    /// Its elements, little-endian and row-major.
    pub bytes: &'a mut [u8],
}

impl HostView<'_> {
    /// A copy of the elements.
    ///
    /// # Errors
    /// If the dtype is not that of `T`.
    pub fn to_vec<T: Element + bytemuck::Pod>(&self) -> Result<Vec<T>, String> {
        expect::<T>(self.dtype)?;
        Ok(bytemuck::pod_collect_to_vec(self.bytes))
    }
}

impl HostViewMut<'_> {
    /// Sets all elements.
    ///
    /// # Errors
    /// If the dtype is not that of `T`, or if there are more or fewer elements.
    pub fn fill_from<T: Element + bytemuck::Pod>(&mut self, elements: &[T]) -> Result<(), String> {
        expect::<T>(self.dtype)?;
        let bytes: &[u8] = bytemuck::cast_slice(elements);
        if bytes.len() != self.bytes.len() {
            let (expected, found) = (self.shape.elements(), elements.len());
            return Err(format!("expected {expected} elements, found {found}"));
        }
        self.bytes.copy_from_slice(bytes);
        Ok(())
    }
}

fn expect<T: Element>(found: DType) -> Result<(), String> {
    match found == T::DTYPE {
        true => Ok(()),
        false => Err(format!("expected {}, found {found}", T::DTYPE)),
    }
}

type Function = dyn Fn(&[HostView<'_>], &mut [HostViewMut<'_>]) -> Result<(), String> + Send + Sync;

static REGISTERED: LazyLock<RwLock<BTreeMap<String, Arc<Function>>>> =
    LazyLock::new(RwLock::default);

/// The functions that programs can call by name.
///
/// ```
/// use inflight::program::Calls;
/// use inflight::{Device, Program, Tensor};
///
/// # fn main() -> inflight::Result<()> {
/// Calls::register("example.reverse", |inputs, outputs| {
///     let mut elements = inputs[0].to_vec::<f32>()?;
///     elements.reverse();
///     outputs[0].fill_from(&elements)
/// });
/// let device = Device::cpu();
/// let program = Program::parse(
///     "func.func @main(%x: tensor<3xf32>) -> tensor<3xf32> {
///        %0 = stablehlo.custom_call @example.reverse(%x) : (tensor<3xf32>) -> tensor<3xf32>
///        return %0 : tensor<3xf32>
///      }",
/// )?;
/// let x = Tensor::from_vec(vec![1.0f32, 2.0, 3.0], [3], &device)?;
/// let reversed = device.compile(&program)?.execute(&[&x])?;
/// assert_eq!(reversed[0].to_vec::<f32>()?, [3.0, 2.0, 1.0]);
/// # Ok(())
/// # }
/// ```
///
/// They run on the stream, in its order, when the values they read are there. Nobody waits for them. What they
/// return as an error, and a panic, is the error of what they should have written.
///
/// `check.expect_eq`, `check.expect_eq_const`, `check.eq`, `check.expect_close`, `check.expect_almost_eq` and
/// `check.expect_almost_eq_const` are always there, as are the calls of LAPACK that JAX writes for Cholesky, LU and QR
/// factors, triangular systems and the eigenvectors of Hermitian matrices.
pub struct Calls;

impl Calls {
    /// Makes a function known to all programs that are compiled from now on. One of the same name is replaced.
    pub fn register(
        name: &str,
        function: impl Fn(&[HostView<'_>], &mut [HostViewMut<'_>]) -> Result<(), String>
        + Send
        + Sync
        + 'static,
    ) {
        REGISTERED.write().insert(name.to_owned(), Arc::new(function));
    }

    /// The names of all functions.
    pub fn names() -> Vec<String> {
        let mut names: Vec<String> = REGISTERED.read().keys().cloned().collect();
        names.extend(check::NAMES.iter().map(|&name| name.to_owned()));
        names.sort();
        names.dedup();
        names
    }
}

/// Whether there is a function of that name, or the call is one that programs need none for.
pub(super) fn is_known(target: &str) -> bool {
    let is_registered = || Calls::names().iter().any(|name| name == target);
    inflight_hlo::lower::has_lowering(target) || is_registered()
}

/// What is said of a function that is not there.
pub(super) fn unknown(target: &str) -> String {
    let known = Calls::names().join(", ");
    format!(
        "no function is registered as {target:?}; register one with Calls::register, known are {known}"
    )
}

/// The function of that name for these types, or what is wrong with the call.
pub(super) fn resolve(
    target: &str,
    attributes: &Attributes,
    inputs: Vec<ValueType>,
    outputs: Vec<ValueType>,
) -> Result<HostFunction, String> {
    let known = REGISTERED.read().get(target).cloned();
    let function: Arc<Function> = match known {
        Some(function) => function,
        None => match Check::resolve(target, attributes, &inputs)? {
            Some(check) => {
                return Ok(Arc::new(move |read, _| check.compare(read).map_err(FaultKind::Failed)));
            }
            None => lapack::resolve(target, attributes, &inputs, &outputs)?
                .ok_or_else(|| unknown(target))?,
        },
    };
    Ok(Arc::new(move |read, written| {
        let views: Vec<HostView<'_>> = inputs
            .iter()
            .zip(read)
            .map(|(ty, bytes)| HostView { shape: &ty.shape, dtype: ty.dtype, bytes })
            .collect();
        let mut results: Vec<HostViewMut<'_>> = outputs
            .iter()
            .zip(written)
            .map(|(ty, bytes)| HostViewMut { shape: &ty.shape, dtype: ty.dtype, bytes })
            .collect();
        function(&views, &mut results).map_err(FaultKind::Failed)
    }))
}
