//! Convolution as an implicit GEMM, on operands that are laid out and padded for it.

use super::WindowAxis;
use crate::Shape;
use smallvec::SmallVec;

/// An implicit GEMM of all windows of `x`, `[examples, space…, feature groups, features]`, with `kernels`, `[groups,
/// outputs, window…, features]`. If there are more groups than feature groups, the examples are grouped too.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct ImplicitGemm {
    /// The window along each spatial axis.
    pub windows: SmallVec<[WindowAxis; 3]>,
    /// The order of the result's axes.
    pub order: ConvOutputLayout,
}

/// The order of the axes of a convolution's result.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum ConvOutputLayout {
    /// Groups, examples, positions, outputs.
    OutputsLast,
    /// Groups, outputs, examples, positions.
    OutputsFirst,
    /// Examples, groups, outputs, positions.
    ExamplesFirst,
}

/// The extents of a convolution.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct ConvExtents {
    /// The number of feature groups.
    pub feature_groups: usize,
    /// The number of example groups.
    pub example_groups: usize,
    /// Examples in each group.
    pub examples: usize,
    /// Features in each group.
    pub features: usize,
    /// Outputs in each group.
    pub outputs: usize,
    /// Extents of the spatial axes of `x`.
    pub space: SmallVec<[usize; 3]>,
    /// Window positions along each spatial axis.
    pub positions: SmallVec<[usize; 3]>,
}

impl ConvExtents {
    /// The number of groups of either kind.
    pub fn groups(&self) -> usize {
        self.feature_groups * self.example_groups
    }
}

impl ImplicitGemm {
    /// The extents for operands of these shapes; `None` if the shapes do not match.
    pub fn extents(&self, x: &Shape, kernels: &Shape) -> Option<ConvExtents> {
        let space = self.windows.len();
        if space == 0 || x.rank() != space + 3 || kernels.rank() != space + 3 {
            return None;
        }
        let (feature_groups, features) = (x[space + 1], x[space + 2]);
        let (groups, outputs) = (kernels[0], kernels[1]);
        let fits = feature_groups > 0
            && groups > 0
            && groups.is_multiple_of(feature_groups)
            && x[0].is_multiple_of(groups / feature_groups)
            && kernels[space + 2] == features
            && self.windows.iter().zip(&kernels[2..]).all(|(window, &size)| {
                window.size == size && window.stride > 0 && window.dilation > 0
            });
        let example_groups = if fits { groups / feature_groups } else { return None };
        let along = self.windows.iter().zip(&x[1..]);
        Some(ConvExtents {
            feature_groups,
            example_groups,
            examples: x[0] / example_groups,
            features,
            outputs,
            space: x[1..=space].iter().copied().collect(),
            positions: along.map(|(window, &extent)| window.positions(extent)).collect(),
        })
    }

    /// The shape of the result.
    pub fn shape(&self, extents: &ConvExtents) -> Shape {
        let &ConvExtents { examples, outputs, .. } = extents;
        let (groups, positions) = (extents.groups(), extents.positions.iter().copied());
        match self.order {
            ConvOutputLayout::OutputsLast => {
                [groups, examples].into_iter().chain(positions).chain([outputs]).collect()
            }
            ConvOutputLayout::OutputsFirst => {
                [groups, outputs, examples].into_iter().chain(positions).collect()
            }
            ConvOutputLayout::ExamplesFirst => {
                [examples, groups, outputs].into_iter().chain(positions).collect()
            }
        }
    }

    /// The result's axes of groups, examples, outputs, and the first axis of positions.
    pub fn axes(&self) -> [usize; 4] {
        match self.order {
            ConvOutputLayout::OutputsLast => [0, 1, self.windows.len() + 2, 2],
            ConvOutputLayout::OutputsFirst => [0, 2, 1, 3],
            ConvOutputLayout::ExamplesFirst => [1, 0, 2, 3],
        }
    }
}
