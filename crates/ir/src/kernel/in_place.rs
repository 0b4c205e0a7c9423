//! Which results may take over the memory of an operand that nobody needs any more.

use super::{AccessId, Kernel, Kind, LaunchShape, Value, schedule};
use smallvec::SmallVec;

/// A written param that may have the memory of a read one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InPlacePair {
    /// The param whose memory is taken over.
    pub read: u32,
    /// The param that gets it.
    pub written: u32,
    /// The accesses of both. The memory may be shared in launches where all of them lead to the same places.
    accesses: Vec<AccessId>,
}

impl InPlacePair {
    /// Whether a launch reads each element of the operand only where it writes the result's element of the same
    /// place.
    pub fn suits(&self, shape: &LaunchShape) -> bool {
        let mut shapes = self.accesses.iter().map(|&access| &shape.accesses[access as usize]);
        let first = shapes.next().expect("a store");
        // Where two points share an element, one of them may have written it before the other reads.
        is_injective(&shape.extents, &first.strides) && shapes.all(|other| other == first)
    }
}

/// Whether no two points of a domain lead to one element, as far as can be seen without visiting them all: each
/// stride goes beyond all that the smaller ones reach.
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

/// Every pair of an operand and a result such that, if they are accessed alike, no program reads an element of the
/// operand after it wrote the result's element in its place. The kernel must be [verified](super::verify).
pub fn in_place_pairs(kernel: &Kernel) -> Vec<InPlacePair> {
    // Along reduce axes one element of a result stands for many of an operand.
    if kernel.reduce_rank > 0 {
        return Vec::new();
    }
    let schedule = schedule(kernel);
    let mut reuses = Vec::new();
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
            // From the store on, in the order in which a program runs, nothing may be read.
            let order = schedule.passes.iter().flat_map(|pass| &pass.body);
            let mut after = order.skip_while(|&&value| value != store);
            let read_later = after.any(|value| loads.iter().any(|(load, _)| load == value));
            if !indexed && !read_later {
                let accesses = [access].into_iter().chain(loads.iter().map(|load| load.1));
                reuses.push(InPlacePair {
                    read: read as u32,
                    written: written as u32,
                    accesses: accesses.collect(),
                });
            }
        }
    }
    reuses
}

/// Whether a launch copies an operand of so many elements to its one result, all of it and in its order: if the
/// operand's memory can be taken over, there is nothing left to do.
pub fn is_copy(kernel: &Kernel, shape: &LaunchShape, elements: usize) -> bool {
    let [load, store] = &kernel.body[..] else { return false };
    let Kind::Load { index: None, mask: None, .. } = load.kind else { return false };
    let Kind::Store { value: 0, index: None, mask: None, combine: None, .. } = store.kind else {
        return false;
    };
    // Every element has its own point of the domain, and there are no more.
    shape.accesses[0] == shape.accesses[1] && shape.extents.iter().product::<usize>() == elements
}

/// The loads and stores of a param, and where each looks.
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
    fn operands_read_where_the_result_is_written_may_become_it() {
        let reuses = in_place_pairs(&kernel(SUM));
        let pairs: Vec<_> = reuses.iter().map(|reuse| (reuse.read, reuse.written)).collect();
        assert_eq!(pairs, [(0, 2), (1, 2)]);
        let reversed = shape(&[9], &[(0, &[1]), (8, &[-1]), (0, &[1])]);
        assert!(reuses[0].suits(&reversed));
        assert!(!reuses[1].suits(&reversed), "another element of it is read");
        let moved = shape(&[9], &[(3, &[1]), (0, &[1]), (0, &[1])]);
        assert!(!reuses[0].suits(&moved) && reuses[1].suits(&moved));
    }

    #[test]
    fn elements_that_points_share_are_not_written_in_place() {
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
    fn operands_that_are_read_again_later_may_not() {
        // A row divided by its sum, and the row squared. All of the row is read before the sum is there, and
        // again for the division; the squares could be written in the first pass, before that.
        let text = "kernel grid 1 reduce 0 vector reduced\n\
            param p0: f32\nparam p1: f32 writes\nparam p2: f32 writes\n\
            access a0: p0 reduce zero vector one\naccess a1: p1 reduce zero vector one\n\
            access a2: p2 reduce zero vector one\n\
            %0 = load p0[a0] : f32\n%1 = mul %0, %0 : f32\nstore p2[a2] %1 : f32\n\
            %3 = sum %0 : f32\n%4 = div %0, %3 : f32\nstore p1[a1] %4 : f32\n";
        let kernel = kernel(text);
        let order: Vec<_> = schedule(&kernel).passes.iter().flat_map(|p| p.body.clone()).collect();
        for reuse in in_place_pairs(&kernel) {
            let store = if reuse.written == 1 { 5 } else { 2 };
            let last_load = order.iter().rposition(|&value| value == 0).unwrap();
            let stored = order.iter().position(|&value| value == store).unwrap();
            assert!(last_load < stored, "{reuse:?} in {order:?}");
        }
        assert!(
            in_place_pairs(&kernel).iter().any(|reuse| reuse.written == 1),
            "the last thing done"
        );
    }

    #[test]
    fn results_that_stand_for_many_elements_or_any_do_not() {
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
    fn only_whole_copies_are_copies() {
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
