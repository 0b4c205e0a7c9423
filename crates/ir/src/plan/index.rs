//! Index maps: affine maps from a kernel's domain to the coordinates of a node. Views compose by rewriting the map.

use crate::Shape;
use crate::graph::{SliceAxis, WindowAxis};
use crate::kernel::Value;
use smallvec::SmallVec;

/// The coordinate along one axis of a node, an affine expression: `constant + Σ coefficients[d] · domain[d] +
/// indirect`.
///
/// Domain axes beyond the length of `coefficients` have coefficient zero, so a domain may grow while maps over it
/// exist. Trailing zeros are trimmed, so equal maps compare equal.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct Coordinate {
    constant: isize,
    coefficients: SmallVec<[isize; 6]>,
    /// An index value of the kernel, and its coefficient.
    indirect: Option<(Value, isize)>,
}

/// An index map: the coordinates of a node, one for each of its axes.
pub type IndexMap = SmallVec<[Coordinate; 4]>;

/// Why a flat index could not be unflattened into affine coordinates.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum UnflattenError {
    /// An axis of the domain must be split first, so that its inner part has this extent.
    SplitAxis {
        /// The axis of the domain.
        axis: usize,
        /// The extent of the new inner axis.
        inner: usize,
    },
    /// The coordinates are not affine.
    NotAffine,
}

impl Coordinate {
    /// The coordinate along an axis of the domain.
    #[cfg(test)]
    pub fn axis(axis: usize) -> Coordinate {
        let mut coordinate = Coordinate::default();
        coordinate.add_axis(axis, 1);
        coordinate
    }

    /// A constant coordinate.
    pub fn constant(constant: isize) -> Coordinate {
        Coordinate { constant, ..Coordinate::default() }
    }

    /// A coordinate loaded from an index tensor: a value of the kernel.
    pub fn indirect(value: Value) -> Coordinate {
        Coordinate { indirect: Some((value, 1)), ..Coordinate::default() }
    }

    /// The constant term.
    pub fn offset(&self) -> isize {
        self.constant
    }

    /// The index value and its coefficient, if there is one.
    pub fn index(&self) -> Option<(Value, isize)> {
        self.indirect
    }

    /// The coefficient of an axis of the domain.
    pub fn coefficient(&self, axis: usize) -> isize {
        self.coefficients.get(axis).copied().unwrap_or(0)
    }

    /// The domain axes whose coefficients are nonzero, with the coefficients.
    pub fn terms(&self) -> impl Iterator<Item = (usize, isize)> + '_ {
        self.coefficients.iter().copied().enumerate().filter(|&(_, coefficient)| coefficient != 0)
    }

    /// Adds `factor` times the domain's coordinate along `axis`.
    pub fn add_axis(&mut self, axis: usize, factor: isize) {
        if self.coefficients.len() <= axis {
            self.coefficients.resize(axis + 1, 0);
        }
        self.coefficients[axis] += factor;
        self.trim();
    }

    /// Adds `factor` times another coordinate. `None` if both have an index value.
    pub fn add(&mut self, other: &Coordinate, factor: isize) -> Option<()> {
        self.constant += other.constant * factor;
        if self.coefficients.len() < other.coefficients.len() {
            self.coefficients.resize(other.coefficients.len(), 0);
        }
        for (own, theirs) in self.coefficients.iter_mut().zip(&other.coefficients) {
            *own += theirs * factor;
        }
        self.trim();
        match (self.indirect, other.indirect) {
            (Some(_), Some(_)) => return None,
            (None, Some((value, weight))) => self.indirect = Some((value, weight * factor)),
            _ => {}
        }
        Some(())
    }

    /// `start + step · self`.
    pub fn stepped(&self, start: isize, step: isize) -> Coordinate {
        let mut result = Coordinate::constant(start);
        result.add(self, step).expect("a constant is not indirect");
        result
    }

    fn trim(&mut self) {
        while self.coefficients.last() == Some(&0) {
            self.coefficients.pop();
        }
    }

    /// The minimum and maximum over a domain of these extents, ignoring the index value.
    pub fn range(&self, extents: &[usize]) -> (isize, isize) {
        let (mut low, mut high) = (self.constant, self.constant);
        for (axis, coefficient) in self.terms() {
            let reach = coefficient * (extents[axis] as isize - 1).max(0);
            if reach < 0 {
                low += reach;
            } else {
                high += reach;
            }
        }
        (low, high)
    }

    /// Unflattens a row-major index over `shape` into coordinates.
    pub fn unflatten(
        &self,
        shape: &[usize],
        extents: &[usize],
    ) -> Result<IndexMap, UnflattenError> {
        let mut rest = self.clone();
        let mut map = IndexMap::new();
        let mut stride: usize = shape.iter().product();
        if stride == 0 {
            return Ok(shape.iter().map(|_| Coordinate::default()).collect());
        }
        for (position, &extent) in shape.iter().enumerate() {
            stride /= extent;
            if extent == 1 {
                map.push(Coordinate::default());
                continue;
            }
            if shape[position + 1..].iter().all(|&extent| extent == 1) {
                map.push(std::mem::take(&mut rest));
                continue;
            }
            map.push(rest.divide(stride as isize, extents)?);
        }
        Ok(map)
    }

    /// Splits off the quotient by `stride`; `self` keeps the remainder, in `0..stride`.
    fn divide(&mut self, stride: isize, extents: &[usize]) -> Result<Coordinate, UnflattenError> {
        if self.indirect.is_some() {
            return Err(UnflattenError::NotAffine);
        }
        let mut quotient = Coordinate::constant(self.constant.div_euclid(stride));
        let mut rest = Coordinate::constant(self.constant.rem_euclid(stride));
        let terms: SmallVec<[(usize, isize); 6]> = self.terms().collect();
        for &(axis, coefficient) in &terms {
            let extent = extents[axis] as isize;
            if coefficient % stride == 0 {
                quotient.add_axis(axis, coefficient / stride);
            } else if coefficient > 0
                && coefficient * extent > stride
                && stride % coefficient == 0
                && extent % (stride / coefficient) == 0
            {
                return Err(UnflattenError::SplitAxis {
                    axis,
                    inner: (stride / coefficient) as usize,
                });
            } else {
                rest.add_axis(axis, coefficient);
            }
        }
        let (low, high) = rest.range(extents);
        if low < 0 || high >= stride {
            return Err(UnflattenError::NotAffine);
        }
        *self = rest;
        Ok(quotient)
    }
}

/// The identity map: the node's axes are the first axes of the domain.
#[cfg(test)]
pub fn identity(rank: usize) -> IndexMap {
    (0..rank).map(Coordinate::axis).collect()
}

/// The map of the operand of a broadcast, given the map of its result.
pub fn broadcast(map: &IndexMap, operand: &Shape) -> IndexMap {
    let skip = map.len() - operand.rank();
    let coordinates = operand.iter().zip(&map[skip..]);
    coordinates
        .map(|(&extent, coordinate)| match extent {
            1 => Coordinate::default(),
            _ => coordinate.clone(),
        })
        .collect()
}

/// The map of the operand of a permutation.
pub fn permute(map: &IndexMap, axes: &[usize]) -> IndexMap {
    let mut operand: IndexMap = SmallVec::from_elem(Coordinate::default(), axes.len());
    for (coordinate, &axis) in map.iter().zip(axes) {
        operand[axis] = coordinate.clone();
    }
    operand
}

/// The map of the operand of a slice.
pub fn slice(map: &IndexMap, axes: &[SliceAxis]) -> IndexMap {
    map.iter().zip(axes).map(|(c, axis)| c.stepped(axis.start as isize, axis.step)).collect()
}

/// The map of the operand of windows. The first half of the result's axes are window positions, the second half
/// offsets within the window.
pub fn windows(map: &IndexMap, axes: &[WindowAxis]) -> Option<IndexMap> {
    let (positions, offsets) = map.split_at(axes.len());
    let coordinates = axes.iter().zip(positions.iter().zip(offsets));
    coordinates
        .map(|(axis, (position, offset))| {
            let mut coordinate = position.stepped(0, axis.stride as isize);
            coordinate.add(offset, axis.dilation as isize)?;
            Some(coordinate)
        })
        .collect()
}

/// The map of the operand of a reshape from `operand` to `shape`.
pub fn reshape(
    map: &IndexMap,
    shape: &Shape,
    operand: &Shape,
    extents: &[usize],
) -> Result<IndexMap, UnflattenError> {
    if shape.element_count() == 0 {
        return Ok(operand.iter().map(|_| Coordinate::default()).collect());
    }
    // Match the shortest runs of axes with equal products, so that unchanged axes are never mixed with reshaped ones.
    let mut result = IndexMap::new();
    let (mut to, mut from) = (0, 0);
    while to < shape.rank() || from < operand.rank() {
        let (first_to, first_from) = (to, from);
        let (mut product_to, mut product_from) = (1usize, 1usize);
        if to < shape.rank() {
            product_to = shape[to];
            to += 1;
        }
        if from < operand.rank() {
            product_from = operand[from];
            from += 1;
        }
        while product_to != product_from {
            if product_to < product_from && to < shape.rank() {
                product_to *= shape[to];
                to += 1;
            } else {
                product_from *= operand[from];
                from += 1;
            }
        }
        let mut flat = Coordinate::default();
        let mut stride = 1;
        for axis in (first_to..to).rev() {
            if shape[axis] != 1 {
                flat.add(&map[axis], stride).ok_or(UnflattenError::NotAffine)?;
            }
            stride *= shape[axis] as isize;
        }
        result.extend(flat.unflatten(&operand[first_from..from], extents)?);
    }
    Ok(result)
}

/// Offset, strides along the axes of a domain of this rank, and index value with its stride, of a row-major tensor of
/// `shape` accessed through a map. `None` if two coordinates have index values.
#[expect(clippy::type_complexity, reason = "a tuple that every caller destructures at once")]
pub fn flatten(
    map: &IndexMap,
    shape: &Shape,
    rank: usize,
) -> Option<(isize, SmallVec<[isize; 6]>, Option<(Value, isize)>)> {
    let mut flat = Coordinate::default();
    for (coordinate, &stride) in map.iter().zip(&shape.strides()) {
        flat.add(coordinate, stride as isize)?;
    }
    let strides = (0..rank).map(|axis| flat.coefficient(axis)).collect();
    Some((flat.constant, strides, flat.indirect))
}

/// Whether a map visits each element of `shape` exactly once while the domain's `axes` iterate.
pub fn is_bijective(map: &IndexMap, shape: &Shape, axes: &[usize], extents: &[usize]) -> bool {
    let Some((offset, strides, None)) = flatten(map, shape, extents.len()) else { return false };
    if offset != 0 {
        return false;
    }
    if shape.element_count() == 0 {
        return axes.iter().map(|&axis| extents[axis]).product::<usize>() == 0;
    }
    let others_fixed = (0..extents.len())
        .all(|axis| axes.contains(&axis) || strides[axis] == 0 || extents[axis] == 1);
    let mut used: SmallVec<[(isize, usize); 6]> = axes
        .iter()
        .filter(|&&axis| extents[axis] != 1)
        .map(|&axis| (strides[axis], extents[axis]))
        .collect();
    used.sort_unstable();
    let mut expected = 1;
    for (stride, extent) in used {
        if stride != expected {
            return false;
        }
        expected *= extent as isize;
    }
    others_fixed && expected == shape.element_count() as isize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn merged_axes_are_affine() {
        // Reshape [2, 3] to [6]: the operand's only coordinate is 3·i + j.
        let map = reshape(&identity(2), &[2, 3].into(), &[6].into(), &[2, 3]).unwrap();
        assert_eq!((map[0].coefficient(0), map[0].coefficient(1)), (3, 1));
    }

    #[test]
    fn splitting_an_axis_requests_a_domain_split() {
        let split = reshape(&identity(1), &[6].into(), &[2, 3].into(), &[6]);
        assert_eq!(split, Err(UnflattenError::SplitAxis { axis: 0, inner: 3 }));
    }

    #[test]
    fn unit_axes_can_be_inserted_and_removed() {
        let map = reshape(&identity(3), &[4, 1, 5].into(), &[1, 4, 5].into(), &[4, 1, 5]).unwrap();
        assert_eq!(map[1], Coordinate::axis(0));
        assert_eq!(map[2], Coordinate::axis(2));
    }

    #[test]
    fn reshapes_across_a_transpose_are_not_affine() {
        // [4, 6] → [6, 4], read through a transpose.
        let map = permute(&identity(2), &[1, 0]);
        let result = reshape(&map, &[4, 6].into(), &[6, 4].into(), &[6, 4]);
        assert!(matches!(
            result,
            Err(UnflattenError::NotAffine | UnflattenError::SplitAxis { .. })
        ));
    }

    #[test]
    fn bijections_are_recognized() {
        let shape = Shape::from([2, 3]);
        assert!(is_bijective(&identity(2), &shape, &[0, 1], &[2, 3]));
        let transposed = permute(&identity(2), &[1, 0]);
        assert!(is_bijective(&transposed, &shape, &[0, 1], &[3, 2]));
        assert!(!is_bijective(&identity(2), &shape, &[0], &[2, 3]));
    }
}
