//! Axes as users write them: negative ones count from the end.

use inflight_ir::Axes;

/// The axis of a value of this rank that `axis` names; `-1` is the last.
pub(super) fn axis(axis: isize, rank: usize) -> Result<usize, String> {
    let found = if axis < 0 { axis.checked_add_unsigned(rank) } else { Some(axis) };
    match found.and_then(|found| usize::try_from(found).ok()).filter(|&found| found < rank) {
        Some(found) => Ok(found),
        None if rank == 0 => Err(format!("axis {axis} of a scalar, which has none")),
        None => Err(format!("axis {axis} is not in -{rank}..{rank}")),
    }
}

/// The axes that `axes` names, in the order given; one that is named twice is a mistake.
pub(super) fn axes(axes: &[isize], rank: usize) -> Result<Axes, String> {
    let mut result = Axes::new();
    for &named in axes {
        let found = axis(named, rank)?;
        if result.contains(&found) {
            return Err(format!("axis {found} is named twice in {axes:?}"));
        }
        result.push(found);
    }
    Ok(result)
}

/// As [`axes`], in ascending order.
pub(super) fn sorted_axes(named: &[isize], rank: usize) -> Result<Axes, String> {
    let mut result = axes(named, rank)?;
    result.sort_unstable();
    Ok(result)
}

/// Those of the named axes that exist, for the plausible result of a method that was given others.
pub(super) fn existing_axes(named: &[isize], rank: usize) -> Axes {
    named.iter().filter_map(|&named| axis(named, rank).ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn negative_axes_count_from_the_end() {
        assert_eq!(axis(0, 3), Ok(0));
        assert_eq!(axis(2, 3), Ok(2));
        assert_eq!(axis(-1, 3), Ok(2));
        assert_eq!(axis(-3, 3), Ok(0));
        assert_eq!(axis(3, 3), Err("axis 3 is not in -3..3".to_owned()));
        assert_eq!(axis(-4, 3), Err("axis -4 is not in -3..3".to_owned()));
        assert!(axis(isize::MIN, 3).is_err() && axis(isize::MAX, 3).is_err());
        assert_eq!(axis(0, 0), Err("axis 0 of a scalar, which has none".to_owned()));
    }

    #[test]
    fn axes_are_distinct() {
        assert_eq!(axes(&[-1, 0], 3).unwrap().as_slice(), [2, 0]);
        assert_eq!(sorted_axes(&[-1, 0], 3).unwrap().as_slice(), [0, 2]);
        assert!(axes(&[-1, 2], 3).unwrap_err().contains("named twice"));
        assert_eq!(existing_axes(&[5, -1], 3).as_slice(), [2]);
    }
}
