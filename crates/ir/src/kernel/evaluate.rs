//! Reference evaluator of the tile IR: slow, directly from the definition. The oracle for every backend.

use super::{AccessId, Kernel, Kind, LaunchShape, Level, Value, VectorAxis};
use crate::elementwise::{ArgOp, CompareOp};
use crate::interpret::{Accumulator, scalar_binary, scalar_combine, scalar_compare, scalar_unary};
use crate::{DType, Element, Scalar};

/// Evaluates a kernel, expanded or not, on the bytes of its buffers.
///
/// # Panics
/// If an access is out of bounds, if the shape does not match the kernel, or if the kernel is not
/// [verified](super::verify).
pub fn evaluate(kernel: &Kernel, shape: &LaunchShape, buffers: &mut [Vec<u8>], scalars: &[Scalar]) {
    assert_eq!(shape.extents.len(), kernel.rank(), "one extent for each axis of the domain");
    assert_eq!(shape.accesses.len(), kernel.accesses.len(), "one map for each access");
    assert_eq!(buffers.len(), kernel.params.len(), "one buffer for each param");
    let dtypes: Vec<DType> = scalars.iter().map(|scalar| scalar.dtype()).collect();
    assert_eq!(dtypes, kernel.scalars, "one value for each scalar");
    let levels = kernel.levels();
    let programs: usize = shape.extents[..kernel.grid_rank].iter().product();
    for program in 0..programs {
        let origin = unravel(program, &shape.extents[..kernel.grid_rank]);
        let mut run = Program {
            kernel,
            shape,
            scalars,
            levels: &levels,
            origin,
            columns: shape.extents[kernel.rank() - 1],
            rows: shape.extents[kernel.grid_rank..kernel.rank() - 1].iter().product(),
            values: Vec::with_capacity(kernel.body.len()),
        };
        run.run(buffers);
    }
}

/// The coordinates of a row-major index.
fn unravel(mut position: usize, extents: &[usize]) -> Vec<usize> {
    let mut coordinates = vec![0; extents.len()];
    for (coordinate, &extent) in coordinates.iter_mut().zip(extents).rev() {
        *coordinate = position % extent;
        position /= extent;
    }
    coordinates
}

/// State of one program: the values of its instructions, each over the part of the tile given by its level.
struct Program<'a> {
    kernel: &'a Kernel,
    shape: &'a LaunchShape,
    scalars: &'a [Scalar],
    levels: &'a [Level],
    origin: Vec<usize>,
    /// Number of points of the vector axis.
    columns: usize,
    /// Number of points of the reduce axes.
    rows: usize,
    values: Vec<Vec<Scalar>>,
}

impl Program<'_> {
    fn run(&mut self, buffers: &mut [Vec<u8>]) {
        for (at, instruction) in self.kernel.body.iter().enumerate() {
            let points = match self.levels[at] {
                Level::Program => 1,
                Level::Column => self.columns,
                Level::Tile => self.rows * self.columns,
            };
            let level = self.levels[at];
            let values = match instruction.kind {
                Kind::Reduce(op, a) => {
                    let mut totals =
                        vec![Accumulator::new(op, instruction.dtype); self.line_count()];
                    self.for_each_point(a, |line, value| totals[line].push(value));
                    totals.iter().map(Accumulator::result).collect()
                }
                Kind::Scan(op, a) => {
                    let mut totals =
                        vec![Accumulator::new(op, instruction.dtype); self.line_count()];
                    let mut results = Vec::with_capacity(points);
                    self.for_each_point(a, |line, value| {
                        totals[line].push(value);
                        results.push(totals[line].result());
                    });
                    results
                }
                Kind::ArgReduce(op, a) => self.arg_reduce(op, a),
                Kind::Store { .. } => {
                    for point in 0..points {
                        self.store(instruction.kind, level, point, buffers);
                    }
                    Vec::new()
                }
                kind => (0..points)
                    .map(|point| {
                        self.evaluate_point(kind, instruction.dtype, level, point, buffers)
                    })
                    .collect(),
            };
            self.values.push(values);
        }
    }

    /// A value at a point of the same or a higher level.
    fn value_at(&self, value: Value, level: Level, point: usize) -> Scalar {
        let values = &self.values[value as usize];
        match self.levels[value as usize] {
            Level::Program => values[0],
            Level::Column if level == Level::Tile => values[point % self.columns],
            _ => values[point],
        }
    }

    /// The element index, from the start of the buffer, that an access addresses at a point.
    fn address(&self, access: AccessId, index: Option<Value>, level: Level, point: usize) -> isize {
        let map = &self.shape.accesses[access as usize];
        let inner = match level {
            Level::Program => vec![0; self.kernel.reduce_rank + 1],
            Level::Column => {
                let mut inner = vec![0; self.kernel.reduce_rank + 1];
                inner[self.kernel.reduce_rank] = point;
                inner
            }
            Level::Tile => unravel(point, &self.shape.extents[self.kernel.grid_rank..]),
        };
        let coordinates = self.origin.iter().chain(&inner);
        let sum: isize =
            map.strides.iter().zip(coordinates).map(|(&stride, &at)| stride * at as isize).sum();
        let index = index.map_or(0, |index| self.value_at(index, level, point).to_i64() as isize);
        map.offset + sum + index * map.index_stride
    }

    /// The bytes of the element that an access addresses at a point.
    fn bytes<'b>(
        &self,
        buffers: &'b mut [Vec<u8>],
        access: AccessId,
        index: Option<Value>,
        level: Level,
        point: usize,
    ) -> &'b mut [u8] {
        let param =
            self.kernel.accesses[access as usize].param.expect("a verified kernel") as usize;
        let size = self.kernel.params[param].dtype.size();
        let element = self.address(access, index, level, point);
        let element = usize::try_from(element)
            .unwrap_or_else(|_| panic!("a{access} addresses element {element} of p{param}"));
        &mut buffers[param][element * size..][..size]
    }

    fn is_masked(&self, mask: Option<Value>, level: Level, point: usize) -> bool {
        mask.is_some_and(|mask| !bool::from_scalar(self.value_at(mask, level, point)))
    }

    fn store(&self, kind: Kind, level: Level, point: usize, buffers: &mut [Vec<u8>]) {
        let Kind::Store { access, value, index, mask, combine } = kind else {
            unreachable!("called for stores only")
        };
        if self.is_masked(mask, level, point) {
            return;
        }
        let value = self.value_at(value, level, point);
        let bytes = self.bytes(buffers, access, index, level, point);
        let value = match combine {
            Some(op) => scalar_combine(op, Scalar::from_bytes(value.dtype(), bytes), value),
            None => value,
        };
        bytes.copy_from_slice(&value.to_bytes()[..bytes.len()]);
    }

    fn evaluate_point(
        &self,
        kind: Kind,
        dtype: DType,
        level: Level,
        point: usize,
        buffers: &mut [Vec<u8>],
    ) -> Scalar {
        let get = |value: Value| self.value_at(value, level, point);
        match kind {
            Kind::Constant(scalar) => scalar,
            Kind::Scalar(scalar) => self.scalars[scalar as usize],
            Kind::Position(access) => {
                (self.address(access, None, level, point) as i64).to_scalar().cast(dtype)
            }
            Kind::Load { mask, .. } if self.is_masked(mask, level, point) => Scalar::zero(dtype),
            Kind::Load { access, index, .. } => {
                Scalar::from_bytes(dtype, self.bytes(buffers, access, index, level, point))
            }
            Kind::Unary(op, a) => scalar_unary(op, get(a)),
            Kind::Binary(op, a, b) => scalar_binary(op, get(a), get(b)),
            Kind::Compare(op, a, b) => scalar_compare(op, get(a), get(b)).to_scalar(),
            Kind::Select(mask, a, b) => get(if bool::from_scalar(get(mask)) { a } else { b }),
            Kind::Fma(a, b, c) => match dtype {
                DType::F32 => {
                    let [a, b, c] = [a, b, c].map(|value| f32::from_scalar(get(value)));
                    a.mul_add(b, c).to_scalar()
                }
                _ => {
                    let [a, b, c] = [a, b, c].map(|value| f64::from_scalar(get(value)));
                    a.mul_add(b, c).to_scalar()
                }
            },
            Kind::Cast(a) => get(a).cast(dtype),
            Kind::Bitcast(a) => Scalar::from_bits(dtype, get(a).bits()),
            Kind::Reduce(..) | Kind::ArgReduce(..) | Kind::Scan(..) | Kind::Store { .. } => {
                unreachable!("reductions, scans and stores are handled by `run`")
            }
        }
    }

    /// Number of independent reductions: one, or one for each column.
    fn line_count(&self) -> usize {
        match self.kernel.vector {
            VectorAxis::Parallel => self.columns,
            VectorAxis::Reduced => 1,
        }
    }

    /// Calls `visit` with the line and value of each point of the tile, in row-major order.
    fn for_each_point(&self, a: Value, mut visit: impl FnMut(usize, Scalar)) {
        let lines = self.line_count();
        for point in 0..self.rows * self.columns {
            visit(point % lines, self.value_at(a, Level::Tile, point));
        }
    }

    fn arg_reduce(&self, op: ArgOp, a: Value) -> Vec<Scalar> {
        // For each line: the number of points so far, the best value and its index.
        let mut best: Vec<(i64, Option<(Scalar, i64)>)> = vec![(0, None); self.line_count()];
        self.for_each_point(a, |line, value| {
            let (position, best) = &mut best[line];
            if best.is_none_or(|(best, _)| is_better(op, value, best)) {
                *best = Some((value, *position));
            }
            *position += 1;
        });
        best.iter().map(|(_, best)| best.map_or(0, |(_, position)| position).to_scalar()).collect()
    }
}

/// Whether an arg-reduction prefers `value` to the earlier `best`. NaN wins, the first one.
fn is_better(op: ArgOp, value: Scalar, best: Scalar) -> bool {
    let is_nan = |scalar: Scalar| scalar_compare(CompareOp::Ne, scalar, scalar);
    if is_nan(value) || is_nan(best) {
        return is_nan(value) && !is_nan(best);
    }
    match op {
        ArgOp::Min => scalar_compare(CompareOp::Lt, value, best),
        ArgOp::Max => scalar_compare(CompareOp::Gt, value, best),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::{AccessShape, expand, parse, verify};

    fn run(
        text: &str,
        extents: &[usize],
        maps: &[(isize, &[isize], isize)],
        mut buffers: Vec<Vec<u8>>,
        scalars: &[Scalar],
    ) -> Vec<Vec<u8>> {
        let kernel = parse(text).expect("a kernel");
        verify(&kernel).expect("a right kernel");
        let shape = LaunchShape {
            extents: extents.into(),
            accesses: maps
                .iter()
                .map(|&(offset, strides, index_stride)| AccessShape {
                    offset,
                    strides: strides.into(),
                    index_stride,
                })
                .collect(),
        };
        let mut again = buffers.clone();
        evaluate(&kernel, &shape, &mut buffers, scalars);
        let expanded = expand(&kernel);
        verify(&expanded).expect("a right expansion");
        evaluate(&expanded, &shape, &mut again, scalars);
        assert_eq!(buffers, again, "expanded:\n{expanded}");
        buffers
    }

    fn bytes<T: Element>(values: &[T]) -> Vec<u8> {
        let size = T::DTYPE.size();
        values
            .iter()
            .flat_map(|value| value.to_scalar().to_bytes().into_iter().take(size))
            .collect()
    }

    fn values<T: Element>(bytes: &[u8]) -> Vec<T> {
        let elements = bytes.chunks(T::DTYPE.size());
        elements.map(|element| T::from_scalar(Scalar::from_bytes(T::DTYPE, element))).collect()
    }

    #[test]
    fn subtract_row_maximum_in_place() {
        let text = "kernel grid 1 reduce 0 vector reduced\nparam p0: f32 writes\nscalar s0: f32\n\
            access a0: p0 reduce zero vector one\n\
            %0 = load p0[a0] : f32\n%1 = max %0 : f32\n%2 = sub %0, %1 : f32\n%3 = scalar s0 : f32\n\
            %4 = mul %2, %3 : f32\nstore p0[a0] %4 : f32\n";
        let rows = bytes(&[1f32, 2.0, 4.0, 9.0, 8.0, 7.0]);
        let out = run(text, &[2, 3], &[(0, &[3, 1], 0)], vec![rows], &[2f32.to_scalar()]);
        assert_eq!(values::<f32>(&out[0]), [-6.0, -4.0, 0.0, 0.0, -2.0, -4.0]);
    }

    #[test]
    fn column_reduction_scan_and_argmax() {
        let text = "kernel grid 0 reduce 1 vector parallel\nparam p0: f16\nparam p1: f16 writes\n\
            param p2: f16 writes\nparam p3: i64 writes\n\
            access a0: p0 reduce any vector one\naccess a1: p1 reduce zero vector one\n\
            access a2: p2 reduce any vector one\naccess a3: p3 reduce zero vector one\n\
            %0 = load p0[a0] : f16\n%1 = sum %0 : f16\n%2 = cumprod %0 : f16\n%3 = argmin %0 : i64\n\
            store p1[a1] %1 : f16\nstore p2[a2] %2 : f16\nstore p3[a3] %3 : i64\n";
        let x = [1.0, 5.0, 3.0, 5.0, 2.0, 4.0].map(half::f16::from_f32);
        let (matrix, row) = ((0, &[2, 1][..], 0), (0, &[0, 1][..], 0));
        let buffers = vec![bytes(&x), vec![0; 4], vec![0; 12], vec![0; 16]];
        let out = run(text, &[3, 2], &[matrix, row, matrix, row], buffers, &[]);
        let floats = |bytes: &[u8]| -> Vec<f32> {
            values::<half::f16>(bytes).iter().map(|value| value.to_f32()).collect()
        };
        assert_eq!(floats(&out[1]), [6.0, 14.0]);
        assert_eq!(floats(&out[2]), [1.0, 5.0, 3.0, 25.0, 6.0, 100.0]);
        assert_eq!(values::<i64>(&out[3]), [0, 2]);
    }

    #[test]
    fn empty_row_reduces_to_the_identity() {
        let text = "kernel grid 1 reduce 0 vector reduced\nparam p0: i32\nparam p1: i32 writes\n\
            access a0: p0 reduce zero vector one\naccess a1: p1 reduce zero vector zero\n\
            %0 = load p0[a0] : i32\n%1 = prod %0 : i32\nstore p1[a1] %1 : i32\n";
        let maps = [(0, &[0, 1][..], 0), (0, &[1, 0][..], 0)];
        let out = run(text, &[2, 0], &maps, vec![vec![], vec![0; 8]], &[]);
        assert_eq!(values::<i32>(&out[1]), [1, 1]);
    }

    #[test]
    fn gather_mask_and_combining_scatter() {
        // Counts, gathers from a table with a mask, and adds up in a histogram.
        let text = "kernel grid 0 reduce 0 vector parallel\nparam p0: i32\nparam p1: f32\n\
            param p2: f32 writes\nparam p3: i32 writes\n\
            access a0: p0 reduce zero vector one\naccess a1: p1 reduce zero vector zero\n\
            access a2: p2 reduce zero vector one\naccess a3: p3 reduce zero vector zero\n\
            access a4: position reduce zero vector any\n\
            %0 = load p0[a0] : i32\n%1 = position a4 : i32\n%2 = constant 16 : i32\n\
            %3 = lt %1, %2 : bool\n%4 = load p1[a1 + %0] if %3 : f32\nstore p2[a2] %4 : f32\n\
            %6 = constant 1 : i32\nstore p3[a3 + %0] sum %6 : i32\n";
        let maps: [(isize, &[isize], isize); 5] =
            [(0, &[1], 0), (1, &[0], 2), (0, &[1], 0), (0, &[0], 1), (10, &[2], 0)];
        let indices = bytes(&[2i32, 0, 2, 1]);
        let table = bytes(&[-1f32, 10.0, -1.0, 20.0, -1.0, 30.0]);
        let out = run(text, &[4], &maps, vec![indices, table, vec![0; 16], vec![0; 12]], &[]);
        assert_eq!(values::<f32>(&out[2]), [30.0, 10.0, 30.0, 0.0]);
        assert_eq!(values::<i32>(&out[3]), [1, 1, 2]);
    }

    #[test]
    fn program_level_combining_store_runs_once() {
        let text = "kernel grid 1 reduce 0 vector reduced\nparam p0: f32\nparam p1: f32 writes\n\
            access a0: p0 reduce zero vector one\naccess a1: p1 reduce zero vector zero\n\
            %0 = load p0[a0] : f32\n%1 = sum %0 : f32\nstore p1[a1] sum %1 : f32\n";
        let maps = [(0, &[3, 1][..], 0), (0, &[0, 0][..], 0)];
        let rows = bytes(&[1f32, 2.0, 3.0, 10.0, 20.0, 30.0]);
        let out = run(text, &[2, 3], &maps, vec![rows, bytes(&[100f32])], &[]);
        assert_eq!(values::<f32>(&out[1]), [166.0]);
    }

    #[test]
    fn arg_reduce_returns_the_first_nan() {
        let at = |op, values: &[f32]| {
            (1..values.len()).fold(0, |best, at| {
                let better = is_better(op, values[at].to_scalar(), values[best].to_scalar());
                if better { at } else { best }
            })
        };
        assert_eq!(at(ArgOp::Min, &[3.0, 1.0, 1.0]), 1);
        assert_eq!(at(ArgOp::Max, &[3.0, f32::NAN, 9.0, f32::NAN]), 1);
    }
}
