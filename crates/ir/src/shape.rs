//! Shapes, strides and broadcasting.

use smallvec::SmallVec;
use std::fmt;
use std::ops::Deref;

/// A list of axes, by index.
pub type Axes = SmallVec<[usize; 4]>;

/// The extents of a tensor, outermost first. A rank-0 shape has one element.
#[derive(PartialEq, Eq, Hash, Default)]
pub struct Shape(SmallVec<[usize; 4]>);

impl Clone for Shape {
    fn clone(&self) -> Shape {
        // Copies all extents at once; a derived clone would copy one by one.
        Shape(SmallVec::from_slice(&self.0))
    }
}

impl Shape {
    /// The rank-0 shape.
    pub fn scalar() -> Shape {
        Shape::default()
    }

    /// A shape with these extents.
    pub fn new(extents: &[usize]) -> Shape {
        Shape(SmallVec::from_slice(extents))
    }

    /// The number of axes.
    pub fn rank(&self) -> usize {
        self.0.len()
    }

    /// The extents, outermost first.
    pub fn extents(&self) -> &[usize] {
        &self.0
    }

    /// The number of elements, or `None` if the size in bytes or a stride might overflow an `isize`.
    pub fn checked_element_count(&self) -> Option<usize> {
        // An extent of 0 makes the element count 0, but not the strides, so check the product without it.
        let product = self.0.iter().try_fold(1usize, |n, &extent| n.checked_mul(extent.max(1)))?;
        let elements = if self.0.contains(&0) { 0 } else { product };
        (product <= isize::MAX as usize / 16).then_some(elements)
    }

    /// The number of elements. Does not overflow for recorded shapes, which are checked.
    pub fn element_count(&self) -> usize {
        self.0.iter().product()
    }

    /// Row-major strides, in elements.
    pub fn strides(&self) -> SmallVec<[usize; 4]> {
        let mut strides = SmallVec::from_elem(1, self.rank());
        for axis in (1..self.rank()).rev() {
            strides[axis - 1] = strides[axis] * self.0[axis].max(1);
        }
        strides
    }

    /// The shape both operands broadcast to by NumPy's rule, if there is one.
    pub fn broadcast(&self, other: &Shape) -> Option<Shape> {
        if self == other {
            return Some(self.clone());
        }
        let rank = self.rank().max(other.rank());
        let mut extents = SmallVec::from_elem(1, rank);
        for (axis, extent) in extents.iter_mut().enumerate() {
            let (a, b) = (self.aligned(axis, rank), other.aligned(axis, rank));
            *extent = match (a, b) {
                (a, b) if a == b => a,
                (1, b) => b,
                (a, 1) => a,
                _ => return None,
            };
        }
        Some(Shape(extents))
    }

    /// Whether this shape broadcasts to `target` by NumPy's rule.
    pub fn broadcasts_to(&self, target: &Shape) -> bool {
        self.rank() <= target.rank()
            && (0..target.rank()).all(|axis| {
                let extent = self.aligned(axis, target.rank());
                extent == 1 || extent == target[axis]
            })
    }

    /// The extent at `axis` when this shape is aligned to the right in `rank` axes.
    fn aligned(&self, axis: usize, rank: usize) -> usize {
        match axis.checked_sub(rank - self.rank()) {
            Some(axis) => self.0[axis],
            None => 1,
        }
    }

    /// This shape with `axes` set to 1 (`keep`) or removed.
    pub fn reduced(&self, axes: &[usize], keep: bool) -> Shape {
        let extents = self.0.iter().enumerate().filter_map(|(axis, &extent)| {
            match (axes.contains(&axis), keep) {
                (false, _) => Some(extent),
                (true, true) => Some(1),
                (true, false) => None,
            }
        });
        Shape(extents.collect())
    }

    /// This shape with the extent of one axis replaced.
    pub fn with(&self, axis: usize, extent: usize) -> Shape {
        let mut shape = self.clone();
        shape.0[axis] = extent;
        shape
    }
}

impl Deref for Shape {
    type Target = [usize];
    fn deref(&self) -> &[usize] {
        &self.0
    }
}

// For references only: a second implementation for `Shape` itself would leave the type of `shape == extents.into()` open.
impl<const N: usize> PartialEq<[usize; N]> for &Shape {
    fn eq(&self, extents: &[usize; N]) -> bool {
        ***self == *extents
    }
}

impl fmt::Debug for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.0.iter()).finish()
    }
}

impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self, f)
    }
}

impl FromIterator<usize> for Shape {
    fn from_iter<I: IntoIterator<Item = usize>>(extents: I) -> Shape {
        Shape(extents.into_iter().collect())
    }
}

impl From<&[usize]> for Shape {
    fn from(extents: &[usize]) -> Shape {
        Shape::new(extents)
    }
}

impl From<Vec<usize>> for Shape {
    fn from(extents: Vec<usize>) -> Shape {
        Shape(extents.into())
    }
}

impl From<&Vec<usize>> for Shape {
    fn from(extents: &Vec<usize>) -> Shape {
        Shape::new(extents)
    }
}

impl From<&Shape> for Shape {
    fn from(shape: &Shape) -> Shape {
        shape.clone()
    }
}

impl<const N: usize> From<[usize; N]> for Shape {
    fn from(extents: [usize; N]) -> Shape {
        Shape::new(&extents)
    }
}

impl<const N: usize> From<&[usize; N]> for Shape {
    fn from(extents: &[usize; N]) -> Shape {
        Shape::new(extents)
    }
}

impl From<()> for Shape {
    fn from((): ()) -> Shape {
        Shape::scalar()
    }
}

impl From<usize> for Shape {
    fn from(extent: usize) -> Shape {
        Shape::new(&[extent])
    }
}

/// The type of each member of a tuple.
macro_rules! extent {
    ($name:ident) => {
        usize
    };
}

macro_rules! shapes_of_tuples {
    ($($($name:ident),+;)*) => {$(
        impl From<($(extent!($name),)+)> for Shape {
            fn from(($($name,)+): ($(extent!($name),)+)) -> Shape {
                Shape::new(&[$($name),+])
            }
        }
    )*};
}

shapes_of_tuples! {
    a;
    a, b;
    a, b, c;
    a, b, c, d;
    a, b, c, d, e;
    a, b, c, d, e, f;
}
