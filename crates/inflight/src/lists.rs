//! Lists that several macros go through.

/// Calls a macro with the tuples of one to eight members: for each, the members' names and positions.
macro_rules! for_tuples {
    ($macro:ident) => {
        $macro! {
            A 0;
            A 0, B 1;
            A 0, B 1, C 2;
            A 0, B 1, C 2, D 3;
            A 0, B 1, C 2, D 3, E 4;
            A 0, B 1, C 2, D 3, E 4, F 5;
            A 0, B 1, C 2, D 3, E 4, F 5, G 6;
            A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7;
        }
    };
}

/// Calls a macro with a tensor's types of elements.
macro_rules! for_elements {
    ($macro:ident) => {
        $macro! {
            bool, i8, i16, i32, i64, u8, u16, u32, u64, half::f16, half::bf16, f32, f64,
            num_complex::Complex<f32>, num_complex::Complex<f64>
        }
    };
}

pub(crate) use {for_elements, for_tuples};
