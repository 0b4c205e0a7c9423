//! Program scatters with disjoint updates: their results, and their fusion into the reading kernel.

use crate::device;
use inflight::{Device, Element, Executable, Program, Tensor};
use std::fmt::{Debug, Write};

/// The dimension numbers of a scatter. Each operand axis is a batching axis, an axis addressed by the indices, or a
/// window axis.
struct Case {
    shape: &'static [usize],
    batching: &'static [usize],
    addressed: &'static [usize],
    windowed: &'static [usize],
}

const CASES: [Case; 7] = [
    Case { shape: &[6, 300], batching: &[0], addressed: &[1], windowed: &[] },
    Case { shape: &[5, 6], batching: &[1], addressed: &[0], windowed: &[] },
    Case { shape: &[6, 7, 5], batching: &[0], addressed: &[1], windowed: &[2] },
    // Addressed axes that are adjacent, in reverse order, and not adjacent.
    Case { shape: &[6, 3, 4], batching: &[0], addressed: &[1, 2], windowed: &[] },
    Case { shape: &[6, 3, 4], batching: &[0], addressed: &[2, 1], windowed: &[] },
    Case { shape: &[3, 2, 5, 3, 4], batching: &[3, 1], addressed: &[4, 0], windowed: &[2] },
    // A single update.
    Case { shape: &[40, 50], batching: &[], addressed: &[0, 1], windowed: &[] },
];

/// The combiner: the operation of the body, `None` to overwrite, and its reference function.
type Body<T> = (Option<&'static str>, fn(T, T) -> T);

impl Case {
    fn extents(&self, axes: &[usize]) -> Vec<usize> {
        axes.iter().map(|&axis| self.shape[axis]).collect()
    }

    /// The extents of the indices and of the updates.
    fn operands(&self) -> (Vec<usize>, Vec<usize>) {
        let batch = self.extents(self.batching);
        let indices = batch.iter().copied().chain([self.addressed.len()]).collect();
        (indices, batch.into_iter().chain(self.extents(self.windowed)).collect())
    }

    /// A program that scatters into an argument or into a splat constant, followed by an elementwise op.
    fn program(
        &self,
        body: Option<&str>,
        dtype: &str,
        index: &str,
        constant: Option<&str>,
    ) -> String {
        let ty = |extents: &[usize], dtype: &str| {
            let mut text = String::from("tensor<");
            extents.iter().for_each(|extent| write!(text, "{extent}x").unwrap());
            text + dtype + ">"
        };
        let (indices, updates) = self.operands();
        let (indices, updates, x) =
            (ty(&indices, index), ty(&updates, dtype), ty(self.shape, dtype));
        let inserted: Vec<usize> =
            (0..self.shape.len()).filter(|axis| self.addressed.contains(axis)).collect();
        let window: Vec<usize> = (self.batching.len()..).take(self.windowed.len()).collect();
        let index_batching: Vec<usize> = (0..self.batching.len()).collect();
        let (batching, addressed) = (self.batching, self.addressed);
        let (body, result) = match body {
            Some(name) => (format!("%r = stablehlo.{name} %a, %b : tensor<{dtype}>"), "%r"),
            None => (String::new(), "%b"),
        };
        let (argument, operand) = match constant {
            Some(value) => (String::new(), format!("%x = stablehlo.constant dense<{value}> : {x}")),
            None => (format!(", %x: {x}"), String::new()),
        };
        format!(
            "func.func @main(%i: {indices}, %u: {updates}{argument}) -> {x} {{
  {operand}
  %0 = \"stablehlo.scatter\"(%x, %i, %u) <{{scatter_dimension_numbers = #stablehlo.scatter<
    update_window_dims = {window:?}, inserted_window_dims = {inserted:?}, input_batching_dims = {batching:?},
    scatter_indices_batching_dims = {index_batching:?}, scatter_dims_to_operand_dims = {addressed:?},
    index_vector_dim = {}>}}> ({{
    ^bb0(%a: tensor<{dtype}>, %b: tensor<{dtype}>):
      {body}
      stablehlo.return {result} : tensor<{dtype}>
  }}) : ({x}, {indices}, {updates}) -> {x}
  %1 = stablehlo.maximum %0, %0 : {x}
  return %1 : {x}
}}",
            batching.len()
        )
    }

    /// Reference result, element by element.
    fn expected<T: Copy>(
        &self,
        x: &[T],
        indices: &[i64],
        updates: &[T],
        combine: fn(T, T) -> T,
    ) -> Vec<T> {
        let mut result = x.to_vec();
        for (at, value) in result.iter_mut().enumerate() {
            let mut coordinates = vec![0; self.shape.len()];
            self.shape.iter().enumerate().rev().fold(at, |rest, (axis, &extent)| {
                coordinates[axis] = rest % extent;
                rest / extent
            });
            let flat = |axes: &[usize]| {
                axes.iter().fold(0, |sum, &axis| sum * self.shape[axis] + coordinates[axis])
            };
            let batch = flat(self.batching);
            let count = self.addressed.len();
            let index = &indices[batch * count..][..count];
            let is_addressed = self
                .addressed
                .iter()
                .zip(index)
                .all(|(&axis, &index)| coordinates[axis] as i64 == index);
            if is_addressed {
                let window: usize = self.extents(self.windowed).iter().product();
                *value = combine(*value, updates[batch * window + flat(self.windowed)]);
            }
        }
        result
    }

    /// Indices, some of which are out of range in either direction.
    fn indices(&self) -> Vec<i64> {
        let (indices, _) = self.operands();
        let count = self.addressed.len();
        (0..indices.iter().product())
            .map(|i| {
                let extent = self.shape[self.addressed[i % count]] as i64;
                match (i / count, i % count) {
                    (1, 0) => -1,
                    (2, last) if last + 1 == count => extent,
                    (3, 0) => i64::from(i32::MIN),
                    (4, last) if last + 1 == count => i64::from(i32::MAX),
                    _ => (i as i64 * 5 + 2) % extent,
                }
            })
            .collect()
    }
}

fn compile(text: &str, device: &Device) -> Executable {
    let program = Program::parse(text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    device.compile(&program).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

/// Checks every case with these combiners, into a splat constant and into a tensor in memory. Values are compared by
/// their debug text, which distinguishes the two zeros.
fn check<T: Element + Debug>(dtype: &str, values: &[T], splat: (&str, T), bodies: &[Body<T>]) {
    let device = device();
    for case in &CASES {
        let (index_shape, update_shape) = case.operands();
        let indices = case.indices();
        let count = update_shape.iter().product::<usize>();
        let updates: Vec<T> = (0..count).map(|i| values[i % values.len()]).collect();
        let x: Vec<T> = vec![splat.1; case.shape.iter().product()];
        let u = Tensor::from_vec(updates.clone(), update_shape, &device).unwrap();
        let operand = Tensor::from_vec(x.clone(), case.shape, &device).unwrap();
        for &(name, combine) in bodies {
            let expected = format!("{:?}", case.expected(&x, &indices, &updates, combine));
            for index in ["i32", "i64"] {
                let i = match index {
                    "i32" => {
                        let narrow = indices.iter().map(|&index| index as i32).collect();
                        Tensor::from_vec::<i32>(narrow, &*index_shape, &device).unwrap()
                    }
                    _ => Tensor::from_vec(indices.clone(), &*index_shape, &device).unwrap(),
                };
                let found = |constant: Option<&str>, arguments: &[&Tensor]| {
                    let exe = compile(&case.program(name, dtype, index, constant), &device);
                    let before = device.stats().launches;
                    let result = exe.execute(arguments).unwrap().remove(0);
                    let values = format!("{:?}", result.to_vec::<T>().unwrap());
                    (values, device.stats().launches - before)
                };
                let context = format!("{name:?} of {dtype} in {:?} by {index}", case.shape);
                for argument in [&i, &u, &operand] {
                    argument.wait().unwrap();
                }
                let (values, launches) = found(Some(splat.0), &[&i, &u]);
                assert_eq!(values, expected, "{context}, into a constant");
                // Linear indices of several axes are expensive enough to be materialized first. A combiner without a
                // fused form runs as a routine.
                let limit = if case.addressed.len() == 1 { 1 } else { 2 };
                assert!(launches <= limit || name == Some("subtract"), "{context}: {launches}");
                let (values, _) = found(None, &[&i, &u, &operand]);
                assert_eq!(values, expected, "{context}, in memory");
            }
        }
    }
}

#[test]
fn disjoint_updates_match_the_reference() {
    let floats = [-0.0f32, 2.5, f32::INFINITY, -3.0, 0.0, f32::NAN, 1e-3];
    let maximum: fn(f32, f32) -> f32 =
        |a, b| if a.is_nan() || b.is_nan() { f32::NAN } else { a.max(b) };
    let minimum: fn(f32, f32) -> f32 =
        |a, b| if a.is_nan() || b.is_nan() { f32::NAN } else { a.min(b) };
    check("f32", &floats, ("0.0", 0.0), &[(Some("add"), |a, b| a + b), (None, |_, b| b)]);
    check(
        "f32",
        &floats,
        ("-0.0", -0.0),
        &[(Some("add"), |a, b| a + b), (Some("multiply"), |a, b| a * b)],
    );
    check(
        "f32",
        &floats,
        ("-1.5", -1.5),
        &[(Some("maximum"), maximum), (Some("minimum"), minimum)],
    );
    check(
        "i32",
        &[7, -1, i32::MAX, 0, i32::MIN, 12],
        ("3", 3),
        &[
            (Some("add"), i32::wrapping_add),
            (Some("multiply"), i32::wrapping_mul),
            (Some("minimum"), i32::min),
            (Some("maximum"), i32::max),
            (Some("xor"), |a, b| a ^ b),
            (None, |_, b| b),
            // A combiner without a fused form.
            (Some("subtract"), i32::wrapping_sub),
        ],
    );
    check(
        "ui8",
        &[7u8, 255, 0, 12],
        ("250", 250),
        &[(Some("add"), u8::wrapping_add), (None, |_, b| b)],
    );
    check("f64", &[-0.0, 1e300, -2.0], ("1.0", 1.0), &[(Some("add"), |a: f64, b| a + b)]);
}

/// The gradient of a mean cross-entropy, as exported by JAX.
const GRADIENT: &str = "
func.func @main(%logits: tensor<64x200xf32>, %labels: tensor<64x1x1xi32>) -> tensor<64x200xf32> {
  %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %most = stablehlo.reduce(%logits init: %low) applies stablehlo.maximum across dimensions = [1] : (tensor<64x200xf32>, tensor<f32>) -> tensor<64xf32>
  %0 = stablehlo.broadcast_in_dim %most, dims = [0] : (tensor<64xf32>) -> tensor<64x200xf32>
  %1 = stablehlo.subtract %logits, %0 : tensor<64x200xf32>
  %2 = stablehlo.exponential %1 : tensor<64x200xf32>
  %3 = stablehlo.reduce(%2 init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<64x200xf32>, tensor<f32>) -> tensor<64xf32>
  %share = stablehlo.constant dense<-0.015625> : tensor<64x1xf32>
  %zeros = stablehlo.broadcast_in_dim %zero, dims = [] : (tensor<f32>) -> tensor<64x200xf32>
  %picked = \"stablehlo.scatter\"(%zeros, %labels, %share) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [1], input_batching_dims = [0], scatter_indices_batching_dims = [0], scatter_dims_to_operand_dims = [1], index_vector_dim = 2>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %s = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %s : tensor<f32>
  }) : (tensor<64x200xf32>, tensor<64x1x1xi32>, tensor<64x1xf32>) -> tensor<64x200xf32>
  %4 = stablehlo.negate %picked : tensor<64x200xf32>
  %5 = stablehlo.reduce(%4 init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<64x200xf32>, tensor<f32>) -> tensor<64xf32>
  %6 = stablehlo.divide %5, %3 : tensor<64xf32>
  %7 = stablehlo.broadcast_in_dim %6, dims = [0] : (tensor<64xf32>) -> tensor<64x200xf32>
  %8 = stablehlo.multiply %7, %2 : tensor<64x200xf32>
  %9 = stablehlo.add %picked, %8 : tensor<64x200xf32>
  return %9 : tensor<64x200xf32>
}";

#[test]
fn cross_entropy_gradient_is_one_launch() {
    let device = device();
    let (rows, columns) = (64, 200);
    let logits: Vec<f32> =
        (0..rows * columns).map(|i| ((i * 37) % 101) as f32 / 50.0 - 1.0).collect();
    // One label is out of range and has no gradient.
    let labels: Vec<i32> =
        (0..rows as i32).map(|row| if row == 5 { 200 } else { row * 3 }).collect();
    let x = Tensor::from_vec(logits.clone(), [rows, columns], &device).unwrap();
    let l = Tensor::from_vec(labels.clone(), [rows, 1, 1], &device).unwrap();
    x.wait().unwrap();
    l.wait().unwrap();
    let exe = compile(GRADIENT, &device);
    let before = device.stats();
    let gradient = exe.execute(&[&x, &l]).unwrap().remove(0);
    gradient.wait().unwrap();
    let stats = device.stats().since(&before);
    let bytes = 4 * (rows * columns) as u64;
    assert_eq!(stats.launches, 1, "{stats:?}");
    assert_eq!((stats.bytes_read, stats.bytes_written), (bytes + 4 * rows as u64, bytes));
    let found = gradient.to_vec::<f32>().unwrap();
    for (row, &label) in labels.iter().enumerate() {
        let line = &logits[row * columns..][..columns];
        let sum: f64 = line.iter().map(|&x| f64::from(x).exp()).sum();
        for (column, &x) in line.iter().enumerate() {
            let one_hot = if column as i32 == label { 1.0 } else { 0.0 };
            let expected = match row {
                5 => 0.0,
                _ => (f64::from(x).exp() / sum - one_hot) / rows as f64,
            };
            let found = f64::from(found[row * columns + column]);
            assert!((found - expected).abs() < 1e-8, "{row} {column}: {found}, not {expected}");
        }
    }
}

/// The number of launches of a program.
fn launches(text: &str, arguments: &[Tensor], device: &Device) -> u64 {
    let executable = compile(text, device);
    arguments.iter().for_each(|argument| argument.wait().unwrap());
    let before = device.stats();
    let results = executable.execute(&arguments.iter().collect::<Vec<_>>()).unwrap();
    results.iter().for_each(|result| result.wait().unwrap());
    device.stats().since(&before).launches
}

const SCATTERED: &str = "<{scatter_dimension_numbers = #stablehlo.scatter<\
    inserted_window_dims = [1], input_batching_dims = [0], scatter_indices_batching_dims = [0], \
    scatter_dims_to_operand_dims = [1], index_vector_dim = 1>}> ({\n\
    ^bb0(%a: tensor<TYPE>, %b: tensor<TYPE>):\n stablehlo.return %b : tensor<TYPE>\n})";

#[test]
fn a_scatter_is_not_fused_if_that_recomputes_more() {
    let device = device();
    let index = Tensor::zeros::<i32>([64, 1], &device);
    let scatter = SCATTERED.replace("TYPE", "f32");
    let update = Tensor::ones::<f32>([64], &device);
    // The operand is expensive to compute and each of its elements is read eight times.
    let repeated = format!(
        "func.func @main(%x: tensor<64x32xf32>, %i: tensor<64x1xi32>, %u: tensor<64xf32>) -> tensor<64x8x32xf32> {{\n\
         %0 = stablehlo.exponential %x : tensor<64x32xf32>\n\
         %1 = \"stablehlo.scatter\"(%0, %i, %u) {scatter} : (tensor<64x32xf32>, tensor<64x1xi32>, tensor<64xf32>) -> tensor<64x32xf32>\n\
         %2 = stablehlo.broadcast_in_dim %1, dims = [0, 2] : (tensor<64x32xf32>) -> tensor<64x8x32xf32>\n\
         return %2 : tensor<64x8x32xf32>\n}}"
    );
    let x = Tensor::ones::<f32>([64, 32], &device);
    assert!(launches(&repeated, &[x, index.clone(), update], &device) > 1);
    // Filling a large buffer with zeros is faster than comparing the index of every element.
    let scatter = SCATTERED.replace("TYPE", "ui8");
    let scatter_into_zeros = |columns: usize| {
        format!(
            "func.func @main(%i: tensor<64x1xi32>, %u: tensor<64xui8>) -> tensor<64x{columns}xui8> {{\n\
             %0 = stablehlo.constant dense<0> : tensor<64x{columns}xui8>\n\
             %1 = \"stablehlo.scatter\"(%0, %i, %u) {scatter} : (tensor<64x{columns}xui8>, tensor<64x1xi32>, tensor<64xui8>) -> tensor<64x{columns}xui8>\n\
             return %1 : tensor<64x{columns}xui8>\n}}"
        )
    };
    let bytes = Tensor::ones::<u8>([64], &device);
    assert!(launches(&scatter_into_zeros(1 << 15), &[index.clone(), bytes.clone()], &device) > 1);
    assert_eq!(launches(&scatter_into_zeros(1 << 10), &[index, bytes], &device), 1);
}
