//! Ops with tuple outputs: member access and `unzip`.

use super::{BoxedOp, DeviceOp};
use crate::{Error, Result};
use parking_lot::Mutex;
use std::panic::Location;
use std::sync::Arc;

/// A tuple of up to eight members.
pub trait Tuple {
    /// The type of the first member.
    type First;
    /// The type of the last member.
    type Last;

    /// Returns the first member.
    fn first(self) -> Self::First;
    /// Returns the last member.
    fn last(self) -> Self::Last;
}

/// A tuple of two to eight members that `unzip` can split into ops.
pub trait Unzip<'a>: Sized {
    /// A tuple of ops, one per member.
    type Ops;

    /// Splits an op into the ops of its members.
    fn unzip(op: BoxedOp<'a, Self>) -> Self::Ops;
}

/// A member, until its op takes it.
type MemberSlot<T> = Arc<Mutex<Option<T>>>;

fn member_slot<T>(value: T) -> MemberSlot<T> {
    Arc::new(Mutex::new(Some(value)))
}

#[track_caller]
fn take_member<T>(slot: &MemberSlot<T>) -> Result<T> {
    let location = Location::caller();
    slot.lock().take().ok_or(Error::Abandoned { work: "member of an unzipped op", location })
}

macro_rules! tuples {
    ($($first:ident $($between:ident)*, $last:ident: $last_position:tt, $($member:ident $position:tt),+;)*) => {$(
        impl<$($member),+> Tuple for ($($member,)+) {
            type First = $first;
            type Last = $last;

            fn first(self) -> $first {
                self.0
            }

            fn last(self) -> $last {
                self.$last_position
            }
        }

        impl<'a, $($member: Send + 'a),+> Unzip<'a> for ($($member,)+) {
            type Ops = ($(BoxedOp<'a, $member>,)+);

            fn unzip(op: BoxedOp<'a, Self>) -> Self::Ops {
                // The slots are cloned and the members moved, so members need not be `Clone`.
                let slots = op.map(|members| ($(member_slot(members.$position),)+)).shared();
                ($(slots.clone().and_then(|slots| take_member(&slots.$position)),)+)
            }
        }
    )*};
}

tuples! {
    A, B: 1, A 0, B 1;
    A B, C: 2, A 0, B 1, C 2;
    A B C, D: 3, A 0, B 1, C 2, D 3;
    A B C D, E: 4, A 0, B 1, C 2, D 3, E 4;
    A B C D E, F: 5, A 0, B 1, C 2, D 3, E 4, F 5;
    A B C D E F, G: 6, A 0, B 1, C 2, D 3, E 4, F 5, G 6;
    A B C D E F G, H: 7, A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7;
}

impl<A> Tuple for (A,) {
    type First = A;
    type Last = A;

    fn first(self) -> A {
        self.0
    }

    fn last(self) -> A {
        self.0
    }
}
