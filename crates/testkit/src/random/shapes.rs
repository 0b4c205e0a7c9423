//! Random shapes, and shapes derived from shapes.

use super::Random;
use inflight_ir::Shape;
use inflight_ir::graph::SliceAxis;

/// A random extent: often small, sometimes awkward for vectorization.
pub fn extent(random: &mut Random, limit: usize) -> usize {
    let extent = random.weighted(&[
        (1, 0),
        (14, 1),
        (14, 2),
        (14, 3),
        (10, 5),
        (10, 7),
        (10, 8),
        (8, 16),
        (7, 17),
        (6, 33),
        (4, 64),
        (3, 100),
        (2, 257),
    ]);
    extent.min(limit)
}

/// A random shape of up to `limit` elements.
pub fn random(random: &mut Random, limit: usize) -> Shape {
    let rank = random.weighted(&[(5, 0), (22, 1), (34, 2), (24, 3), (10, 4), (5, 5)]);
    let mut left = limit;
    let mut extents = Vec::new();
    for _ in 0..rank {
        let extent = extent(random, left);
        left /= extent.max(1);
        extents.push(extent);
    }
    // Large values come from one long axis.
    if limit > 5000 && rank > 0 && left > 1 && random.chance(70) {
        let axis = random.below(rank);
        extents[axis] = extents[axis].max(1) * left.min(70_001);
    }
    random.shuffle(&mut extents);
    Shape::from(extents)
}

/// A shape that broadcasts with `shape`: axes set to 1, outer axes dropped.
pub fn broadcastable(random: &mut Random, shape: &Shape) -> Shape {
    let drop = match random.chance(20) && shape.rank() > 0 {
        true => random.below(shape.rank() + 1),
        false => 0,
    };
    let ones = random.pick(&[0, 0, 30, 60]);
    shape[drop..].iter().map(|&extent| if random.chance(ones) { 1 } else { extent }).collect()
}

/// Another shape with the same number of elements.
pub fn reshaped(random: &mut Random, shape: &Shape) -> Shape {
    let mut extents = shape.to_vec();
    for _ in 0..1 + random.below(3) {
        let rank = extents.len();
        match random.below(5) {
            // Merge two adjacent axes.
            0 | 1 if rank >= 2 => {
                let axis = random.below(rank - 1);
                let merged = extents[axis] * extents[axis + 1];
                extents.splice(axis..axis + 2, [merged]);
            }
            // Split an axis.
            0..3 if (1..6).contains(&rank) => {
                let axis = random.below(rank);
                let extent = extents[axis];
                let factors: Vec<usize> =
                    (1..=extent).filter(|n| extent.is_multiple_of(*n)).collect();
                if !factors.is_empty() {
                    let factor = random.pick(&factors);
                    extents.splice(axis..axis + 1, [factor, extent / factor]);
                }
            }
            // Factor the elements anew, across the old axis boundaries.
            3 => {
                let mut left: usize = extents.iter().product();
                if left == 0 {
                    continue;
                }
                extents.clear();
                while left > 1 && extents.len() < 4 {
                    let factors: Vec<usize> =
                        (1..=left.min(64)).filter(|n| left.is_multiple_of(*n)).collect();
                    let factor = random.pick(&factors);
                    extents.push(factor);
                    left /= factor;
                }
                if left > 1 || extents.is_empty() {
                    extents.push(left);
                }
                random.shuffle(&mut extents);
            }
            // Add or remove an axis of extent 1.
            _ => match extents.iter().position(|&extent| extent == 1) {
                Some(axis) if random.chance(50) => {
                    extents.remove(axis);
                }
                _ if rank < 6 => extents.insert(random.below(rank + 1), 1),
                _ => {}
            },
        }
    }
    Shape::from(extents)
}

/// A random slice of an axis of this extent.
pub fn slice(random: &mut Random, extent: usize) -> SliceAxis {
    if extent == 0 || random.chance(35) {
        return SliceAxis::full(extent);
    }
    match random.below(8) {
        0 => SliceAxis { start: extent - 1, step: -1, len: extent },
        1 => SliceAxis { start: random.below(extent), step: 1, len: 1 },
        2 if random.chance(15) => SliceAxis { start: random.below(extent), step: 1, len: 0 },
        3 | 4 => {
            let step = 1 + random.below(4);
            let start = random.below(extent);
            let most = (extent - start).div_ceil(step);
            let len = if random.chance(60) { most } else { 1 + random.below(most) };
            SliceAxis { start, step: step as isize, len }
        }
        5 => {
            let step = 1 + random.below(4);
            let start = random.below(extent);
            let most = start / step + 1;
            let len = if random.chance(60) { most } else { 1 + random.below(most) };
            SliceAxis { start, step: -(step as isize), len }
        }
        _ => {
            let start = random.below(extent);
            SliceAxis { start, step: 1, len: 1 + random.below(extent - start) }
        }
    }
}
