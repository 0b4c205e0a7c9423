//! Macros that apply another macro to every element type or to every tuple size.

/// Calls a macro with the tuples of one to eight members, each as a list of type parameters and field indices.
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

/// Calls a macro with the list of all [`Element`](crate::Element) types.
macro_rules! for_elements {
    ($macro:ident) => {
        $macro! {
            bool, i8, i16, i32, i64, u8, u16, u32, u64, half::f16, half::bf16, f32, f64,
            num_complex::Complex<f32>, num_complex::Complex<f64>
        }
    };
}

pub(crate) use {for_elements, for_tuples};
