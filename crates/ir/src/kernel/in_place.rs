//! In-place reuse analysis: which results may be written to the memory of a dead operand.

use super::{AccessId, Kernel, Kind, LaunchShape, Value, schedule};
use smallvec::SmallVec;

/// A written param that may reuse the memory of a read one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InPlacePair {
    /// The param whose memory is reused.
    pub read: u32,
    /// The param that is written to it.
    pub written: u32,
    /// The accesses of both. Reuse is legal only in launches where all of them have the same offset and strides.
    accesses: Vec<AccessId>,
}

impl InPlacePair {
    /// Whether reuse is legal for this launch: each operand element is read only at the point that writes the
    /// result element of the same index.
    pub fn suits(&self, shape: &LaunchShape) -> bool {
        let mut shapes = self.accesses.iter().map(|&access| &shape.accesses[access as usize]);
        let first = shapes.next().expect("a store");
        // If two points share an element, one may write it before the other reads it.
        is_injective(&shape.extents, &first.strides) && shapes.all(|other| other == first)
    }
}

/// Whether a map is injective, by a sufficient condition: each stride exceeds the combined reach of all smaller
/// ones.
fn is_injective(extents: &[usize], strides: &[isize]) -> bool {
    let mut axes: SmallVec<[(usize, usize); 6]> = strides
        .iter()
        .zip(extents)
        .map(|(stride, &extent)| (stride.unsigned_abs(), extent))
        .collect();
    axes.retain(|(_, extent)| *extent > 1);
    axes.sort_unstable();
    let mut reach = 0usize;
    for (stride, extent) in axes {
        if stride <= reach {
            return false;
        }
        reach = reach.saturating_add(stride.saturating_mul(extent - 1));
    }
    true
}

/// Finds every pair of an operand and a result for which, given equal accesses, no program reads an operand element
/// after writing the result element at the same index. The kernel must be [verified](super::verify).
pub fn in_place_pairs(kernel: &Kernel) -> Vec<InPlacePair> {
    // Along reduce axes, one result element depends on many operand elements.
    if kernel.reduce_rank > 0 {
        return Vec::new();
    }
    let schedule = schedule(kernel);
    let mut pairs = Vec::new();
    for (written, result) in kernel.params.iter().enumerate() {
        let accesses = accesses_of(kernel, written as u32);
        let [(store, access)] = accesses[..] else { continue };
        let Kind::Store { index: None, combine: None, .. } = kernel.body[store as usize].kind
        else {
            continue;
        };
        for (read, operand) in kernel.params.iter().enumerate() {
            let loads = accesses_of(kernel, read as u32);
            if operand.writes || operand.dtype.size() != result.dtype.size() || loads.is_empty() {
                continue;
            }
            let indexed = loads.iter().any(|&(load, _)| {
                matches!(kernel.body[load as usize].kind, Kind::Load { index: Some(_), .. })
            });
            // No load of the operand may follow the store in execution order.
            let order = schedule.passes.iter().flat_map(|pass| &pass.body);
            let mut after = order.skip_while(|&&value| value != store);
            let read_later = after.any(|value| loads.iter().any(|(load, _)| load == value));
            if !indexed && !read_later {
                let accesses = [access].into_iter().chain(loads.iter().map(|load| load.1));
                pairs.push(InPlacePair {
                    read: read as u32,
                    written: written as u32,
                    accesses: accesses.collect(),
                });
            }
        }
    }
    pairs
}

/// Whether a launch is a copy of an operand with `elements` elements to its only result, complete and in order.
/// With in-place reuse such a launch is a no-op.
pub fn is_copy(kernel: &Kernel, shape: &LaunchShape, elements: usize) -> bool {
    let [load, store] = &kernel.body[..] else { return false };
    let Kind::Load { index: None, mask: None, .. } = load.kind else { return false };
    let Kind::Store { value: 0, index: None, mask: None, combine: None, .. } = store.kind else {
        return false;
    };
    // The points of the domain map one-to-one to the elements.
    shape.accesses[0] == shape.accesses[1] && shape.extents.iter().product::<usize>() == elements
}

/// The loads and stores of a param, with their accesses.
fn accesses_of(kernel: &Kernel, param: u32) -> Vec<(Value, AccessId)> {
    let accesses = kernel.body.iter().enumerate().filter_map(|(value, instruction)| {
        let (Kind::Load { access, .. } | Kind::Store { access, .. }) = instruction.kind else {
            return None;
        };
        let of_param = kernel.accesses[access as usize].param == Some(param);
        of_param.then_some((value as Value, access))
    });
    accesses.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::{AccessShape, parse};

    fn kernel(text: &str) -> Kernel {
        let kernel = parse(text).expect("a kernel");
        crate::kernel::verify(&kernel).expect("a good one");
        kernel
    }

    fn shape(extents: &[usize], accesses: &[(isize, &[isize])]) -> LaunchShape {
        let access = |&(offset, strides): &(isize, &[isize])| AccessShape {
            offset,
            strides: strides.iter().copied().collect(),
            index_stride: 0,
        };
        LaunchShape {
            extents: extents.iter().copied().collect(),
            accesses: accesses.iter().map(access).collect(),
        }
    }

    const SUM: &str = "kernel grid 0 reduce 0 vector parallel\n\
        param p0: f32\nparam p1: f32\nparam p2: f32 writes\n\
        access a0: p0 reduce zero vector one\naccess a1: p1 reduce zero vector any\n\
        access a2: p2 reduce zero vector one\n\
        %0 = load p0[a0] : f32\n%1 = load p1[a1] : f32\n%2 = add %0, %1 : f32\n\
        store p2[a2] %2 : f32\n";

    #[test]
    fn equal_accesses_allow_in_place_reuse() {
        let pairs = in_place_pairs(&kernel(SUM));
        let params: Vec<_> = pairs.iter().map(|pair| (pair.read, pair.written)).collect();
        assert_eq!(params, [(0, 2), (1, 2)]);
        let reversed = shape(&[9], &[(0, &[1]), (8, &[-1]), (0, &[1])]);
        assert!(pairs[0].suits(&reversed));
        assert!(!pairs[1].suits(&reversed), "another element of it is read");
        let moved = shape(&[9], &[(3, &[1]), (0, &[1]), (0, &[1])]);
        assert!(!pairs[0].suits(&moved) && pairs[1].suits(&moved));
    }

    #[test]
    fn non_injective_access_prevents_in_place_reuse() {
        let copy = kernel(
            "kernel grid 1 reduce 0 vector parallel\nparam p0: f32\nparam p1: f32 writes\n\
            access a0: p0 reduce zero vector any\naccess a1: p1 reduce zero vector any\n\
            %0 = load p0[a0] : f32\nstore p1[a1] %0 : f32\n",
        );
        let suits = |strides: &[isize]| {
            let both = (0, strides);
            in_place_pairs(&copy)[0].suits(&shape(&[4, 8], &[both, both]))
        };
        assert!(suits(&[8, 1]) && suits(&[1, 4]) && suits(&[-16, 2]));
        assert!(!suits(&[0, 1]), "every row is the first");
        assert!(!suits(&[4, 1]), "rows overlap");
        assert!(in_place_pairs(&copy)[0].suits(&shape(&[1, 8], &[(0, &[0, 1]), (0, &[0, 1])])));
    }

    #[test]
    fn load_after_store_prevents_in_place_reuse() {
        // A row divided by its sum, and the row squared. The division reads the row again after the sum; the
        // squares could be stored in the first pass, before that.
        let text = "kernel grid 1 reduce 0 vector reduced\n\
            param p0: f32\nparam p1: f32 writes\nparam p2: f32 writes\n\
            access a0: p0 reduce zero vector one\naccess a1: p1 reduce zero vector one\n\
            access a2: p2 reduce zero vector one\n\
            %0 = load p0[a0] : f32\n%1 = mul %0, %0 : f32\nstore p2[a2] %1 : f32\n\
            %3 = sum %0 : f32\n%4 = div %0, %3 : f32\nstore p1[a1] %4 : f32\n";
        let kernel = kernel(text);
        let order: Vec<_> = schedule(&kernel).passes.iter().flat_map(|p| p.body.clone()).collect();
        for pair in in_place_pairs(&kernel) {
            let store = if pair.written == 1 { 5 } else { 2 };
            let last_load = order.iter().rposition(|&value| value == 0).unwrap();
            let stored = order.iter().position(|&value| value == store).unwrap();
            assert!(last_load < stored, "{pair:?} in {order:?}");
        }
        assert!(
            in_place_pairs(&kernel).iter().any(|pair| pair.written == 1),
            "the last thing done"
        );
    }

    #[test]
    fn reductions_and_other_sizes_prevent_in_place_reuse() {
        let summed = "kernel grid 0 reduce 1 vector parallel\n\
            param p0: f32\nparam p1: f32 writes\n\
            access a0: p0 reduce any vector one\naccess a1: p1 reduce zero vector one\n\
            %0 = load p0[a0] : f32\n%1 = sum %0 : f32\nstore p1[a1] %1 : f32\n";
        assert_eq!(in_place_pairs(&kernel(summed)), []);
        let narrowed = "kernel grid 0 reduce 0 vector parallel\n\
            param p0: f32\nparam p1: f16 writes\n\
            access a0: p0 reduce zero vector one\naccess a1: p1 reduce zero vector one\n\
            %0 = load p0[a0] : f32\n%1 = cast %0 : f16\nstore p1[a1] %1 : f16\n";
        assert_eq!(in_place_pairs(&kernel(narrowed)), []);
    }

    #[test]
    fn only_complete_copies_are_copies() {
        let copy = kernel(
            "kernel grid 1 reduce 0 vector parallel\nparam p0: f32\nparam p1: f32 writes\n\
            access a0: p0 reduce zero vector one\naccess a1: p1 reduce zero vector one\n\
            %0 = load p0[a0] : f32\nstore p1[a1] %0 : f32\n",
        );
        let rows: (isize, &[isize]) = (0, &[8, 1]);
        assert!(is_copy(&copy, &shape(&[4, 8], &[rows, rows]), 32));
        assert!(!is_copy(&copy, &shape(&[4, 8], &[rows, rows]), 40), "a part of it");
        assert!(!is_copy(&copy, &shape(&[4, 8], &[(0, &[1, 4]), rows]), 32), "in another order");
        let sum = shape(&[32], &[(0, &[1]), (0, &[1]), (0, &[1])]);
        assert!(!is_copy(&kernel(SUM), &sum, 32));
    }
}
