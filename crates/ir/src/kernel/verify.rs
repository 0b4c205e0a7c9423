//! Verifier of the tile IR. Runs on every kernel in tests and debug builds.

use super::{AccessId, Kernel, Kind, Level, Value};
use crate::elementwise::{BinaryOp, CombineOp, UnaryOp};
use crate::{DType, DTypeClass};
use thiserror::Error;

/// Verification error: the violated invariant and its location.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum VerifyError {
    /// An access refers to a param that does not exist.
    #[error("access a{access}: there is no param p{param}")]
    AccessParam {
        /// The access.
        access: AccessId,
        /// The param it refers to.
        param: u32,
    },
    /// A param's `writes` flag disagrees with the stores in the body.
    #[error("param p{param}: writes is {writes}, but {}", if *.writes { "no store writes it" } else { "a store writes it" })]
    Writes {
        /// The param.
        param: u32,
        /// The value of the flag.
        writes: bool,
    },
    /// An instruction is invalid.
    #[error("%{at}: {error}")]
    Instruction {
        /// Its index in the body.
        at: Value,
        /// The violated invariant.
        error: InstructionError,
    },
}

/// Violated invariant of an instruction.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum InstructionError {
    /// An operand is not defined before its use.
    #[error("operand %{0} does not come before it")]
    Order(Value),
    /// An operand is a store, which has no value.
    #[error("operand %{0} is a store, which has no value")]
    NoValue(Value),
    /// A reference to an access that does not exist.
    #[error("there is no access a{0}")]
    Access(AccessId),
    /// A reference to a scalar that does not exist.
    #[error("there is no scalar s{0}")]
    Scalar(u32),
    /// A load or store through a map without a buffer.
    #[error("access a{0} has no param to load from or store to")]
    NoParam(AccessId),
    /// A position of a map with a buffer.
    #[error("access a{0} has a param; a position needs one without")]
    HasParam(AccessId),
    /// A dtype differs from the expected one.
    #[error("{subject} is {found}, expected {expected}")]
    DType {
        /// The operand or result concerned.
        subject: &'static str,
        /// Its dtype.
        found: DType,
        /// The expected dtype.
        expected: DType,
    },
    /// A dtype is not one of those allowed.
    #[error("{subject} is {found}, expected {expected}")]
    DTypeClass {
        /// The operand or result concerned.
        subject: &'static str,
        /// Its dtype.
        found: DType,
        /// The dtypes allowed.
        expected: &'static str,
    },
    /// A bitcast between dtypes of different sizes.
    #[error("bitcast of {from} to {to}: their sizes differ")]
    BitcastSize {
        /// The operand's dtype.
        from: DType,
        /// The result's dtype.
        to: DType,
    },
    /// A reduction or scan without a reduced axis.
    #[error("no axis is reduced: the vector axis is parallel and there are no reduce axes")]
    NothingReduced,
    /// A store whose value varies where its address does not.
    #[error(
        "stores a value of level {value:?} at an address of level {address:?}: points of the tile would write the same element"
    )]
    StoreLevel {
        /// The level of the value.
        value: Level,
        /// The level of the address.
        address: Level,
    },
}

/// Verifies a kernel.
///
/// # Errors
/// The first violation: an operand not defined before its use, an index out of range, mismatched dtypes, a
/// reduction without reduced axes, or a store where several points of the tile would write the same element.
pub fn verify(kernel: &Kernel) -> Result<(), VerifyError> {
    for (access, &super::Access { param, .. }) in kernel.accesses.iter().enumerate() {
        if let Some(param) = param.filter(|&param| param as usize >= kernel.params.len()) {
            return Err(VerifyError::AccessParam { access: access as AccessId, param });
        }
    }
    for at in 0..kernel.body.len() {
        let at = at as Value;
        check(kernel, at).map_err(|error| VerifyError::Instruction { at, error })?;
    }
    for (param, &super::Param { writes, .. }) in kernel.params.iter().enumerate() {
        let stored = kernel.body.iter().any(|instruction| match instruction.kind {
            Kind::Store { access, .. } => {
                kernel.accesses[access as usize].param == Some(param as u32)
            }
            _ => false,
        });
        if stored != writes {
            return Err(VerifyError::Writes { param: param as u32, writes });
        }
    }
    check_store_levels(kernel)
}

/// Checks everything about one instruction except levels.
fn check(kernel: &Kernel, at: Value) -> Result<(), InstructionError> {
    let instruction = kernel.body[at as usize];
    for operand in instruction.kind.operands() {
        if operand >= at {
            return Err(InstructionError::Order(operand));
        }
        if matches!(kernel.body[operand as usize].kind, Kind::Store { .. }) {
            return Err(InstructionError::NoValue(operand));
        }
    }
    let dtype_of = |value: Value| kernel.body[value as usize].dtype;
    let result = instruction.dtype;
    match instruction.kind {
        Kind::Constant(scalar) => expect_dtype("the result", result, scalar.dtype()),
        Kind::Scalar(scalar) => match kernel.scalars.get(scalar as usize) {
            Some(&dtype) => expect_dtype("the result", result, dtype),
            None => Err(InstructionError::Scalar(scalar)),
        },
        Kind::Position(access) => {
            let map =
                kernel.accesses.get(access as usize).ok_or(InstructionError::Access(access))?;
            if map.param.is_some() {
                return Err(InstructionError::HasParam(access));
            }
            index_dtype("the result", result)
        }
        Kind::Load { access, index, mask } => {
            check_address(kernel, access, index, mask)?;
            expect_dtype("the result", result, param_dtype(kernel, access)?)
        }
        Kind::Store { access, value, index, mask, combine } => {
            check_address(kernel, access, index, mask)?;
            let stored = param_dtype(kernel, access)?;
            expect_dtype("the stored value", dtype_of(value), stored)?;
            expect_dtype("the store", result, stored)?;
            combine.map_or(Ok(()), |op| check_combine(op, stored))
        }
        Kind::Unary(op, a) => check_unary(op, dtype_of(a), result),
        Kind::Binary(op, a, b) => {
            expect_dtype("the second operand", dtype_of(b), dtype_of(a))?;
            check_binary(op, dtype_of(a), result)
        }
        Kind::Compare(_, a, b) => {
            expect_dtype("the second operand", dtype_of(b), dtype_of(a))?;
            expect_dtype("the result", result, DType::Bool)
        }
        Kind::Select(mask, a, b) => {
            expect_dtype("the mask", dtype_of(mask), DType::Bool)?;
            expect_dtype("the second operand", dtype_of(a), result)?;
            expect_dtype("the third operand", dtype_of(b), result)
        }
        Kind::Fma(a, b, c) => {
            expect_class("the result", result, &[DTypeClass::Float], "f32 or f64")?;
            if result.is_half() {
                let subject = "the result";
                return Err(InstructionError::DTypeClass {
                    subject,
                    found: result,
                    expected: "f32 or f64",
                });
            }
            expect_dtype("the first operand", dtype_of(a), result)?;
            expect_dtype("the second operand", dtype_of(b), result)?;
            expect_dtype("the third operand", dtype_of(c), result)
        }
        Kind::Cast(_) => Ok(()),
        Kind::Bitcast(a) => match dtype_of(a).size() == result.size() {
            true => Ok(()),
            false => Err(InstructionError::BitcastSize { from: dtype_of(a), to: result }),
        },
        Kind::Reduce(op, a) | Kind::Scan(op, a) => {
            check_reduced(kernel)?;
            expect_dtype("the result", result, dtype_of(a))?;
            check_combine(op, result)
        }
        Kind::ArgReduce(_, a) => {
            check_reduced(kernel)?;
            expect_class("the operand", dtype_of(a), REAL, "not complex")?;
            expect_dtype("the result", result, DType::I64)
        }
    }
}

/// A program writes each element at most once: if a value varies, so must the address, unless the store has an
/// index or combines.
fn check_store_levels(kernel: &Kernel) -> Result<(), VerifyError> {
    let levels = kernel.levels();
    for (at, instruction) in kernel.body.iter().enumerate() {
        if let Kind::Store { access, value, index: None, combine: None, .. } = instruction.kind {
            let (value, address) = (levels[value as usize], kernel.access_level(access));
            if value > address {
                let error = InstructionError::StoreLevel { value, address };
                return Err(VerifyError::Instruction { at: at as Value, error });
            }
        }
    }
    Ok(())
}

fn check_reduced(kernel: &Kernel) -> Result<(), InstructionError> {
    match kernel.reduces() {
        true => Ok(()),
        false => Err(InstructionError::NothingReduced),
    }
}

fn check_address(
    kernel: &Kernel,
    access: AccessId,
    index: Option<Value>,
    mask: Option<Value>,
) -> Result<(), InstructionError> {
    param_dtype(kernel, access)?;
    if let Some(index) = index {
        index_dtype("the index", kernel.body[index as usize].dtype)?;
    }
    if let Some(mask) = mask {
        expect_dtype("the mask", kernel.body[mask as usize].dtype, DType::Bool)?;
    }
    Ok(())
}

fn param_dtype(kernel: &Kernel, access: AccessId) -> Result<DType, InstructionError> {
    let map = kernel.accesses.get(access as usize).ok_or(InstructionError::Access(access))?;
    let param = map.param.ok_or(InstructionError::NoParam(access))?;
    Ok(kernel.params[param as usize].dtype)
}

const LOGIC: &[DTypeClass] = &[DTypeClass::Bool, DTypeClass::Signed, DTypeClass::Unsigned];
const INTEGER: &[DTypeClass] = &[DTypeClass::Signed, DTypeClass::Unsigned];
const REAL: &[DTypeClass] =
    &[DTypeClass::Bool, DTypeClass::Signed, DTypeClass::Unsigned, DTypeClass::Float];
const FLOATING: &[DTypeClass] = &[DTypeClass::Float, DTypeClass::Complex];

fn check_unary(op: UnaryOp, operand: DType, result: DType) -> Result<(), InstructionError> {
    let subject = "the operand";
    match op {
        UnaryOp::Not => expect_class(subject, operand, LOGIC, "bool or an integer")?,
        UnaryOp::PopulationCount | UnaryOp::LeadingZeros => {
            expect_class(subject, operand, INTEGER, "an integer")?;
        }
        UnaryOp::Floor | UnaryOp::Ceil | UnaryOp::Round => {
            expect_class(subject, operand, REAL, "not complex")?;
        }
        UnaryOp::Sqrt | UnaryOp::Rsqrt => {
            expect_class(subject, operand, FLOATING, "a float or complex")?
        }
        op if op.is_transcendental() => {
            expect_class(subject, operand, FLOATING, "a float or complex")?
        }
        _ => {}
    }
    let expected = match op {
        UnaryOp::IsNan | UnaryOp::IsFinite => DType::Bool,
        UnaryOp::Abs | UnaryOp::Real | UnaryOp::Imag => operand.real(),
        _ => operand,
    };
    expect_dtype("the result", result, expected)
}

fn check_binary(op: BinaryOp, operand: DType, result: DType) -> Result<(), InstructionError> {
    let subject = "the first operand";
    match op {
        BinaryOp::And | BinaryOp::Or | BinaryOp::Xor => {
            expect_class(subject, operand, LOGIC, "bool or an integer")?;
        }
        BinaryOp::ShiftLeft | BinaryOp::ShiftRight | BinaryOp::ShiftRightLogical => {
            expect_class(subject, operand, INTEGER, "an integer")?;
        }
        BinaryOp::Complex => {
            let expected = match operand {
                DType::F32 => DType::C64,
                DType::F64 => DType::C128,
                found => {
                    return Err(InstructionError::DTypeClass {
                        subject,
                        found,
                        expected: "f32 or f64",
                    });
                }
            };
            return expect_dtype("the result", result, expected);
        }
        _ => {}
    }
    expect_dtype("the result", result, operand)
}

fn check_combine(op: CombineOp, dtype: DType) -> Result<(), InstructionError> {
    match op {
        CombineOp::And | CombineOp::Or | CombineOp::Xor => {
            expect_class("the value", dtype, LOGIC, "bool or an integer")
        }
        CombineOp::Min | CombineOp::Max => expect_class("the value", dtype, REAL, "not complex"),
        CombineOp::Sum | CombineOp::Product => Ok(()),
    }
}

fn index_dtype(subject: &'static str, found: DType) -> Result<(), InstructionError> {
    match found {
        DType::I32 | DType::I64 => Ok(()),
        _ => Err(InstructionError::DTypeClass { subject, found, expected: "i32 or i64" }),
    }
}

fn expect_dtype(
    subject: &'static str,
    found: DType,
    expected: DType,
) -> Result<(), InstructionError> {
    match found == expected {
        true => Ok(()),
        false => Err(InstructionError::DType { subject, found, expected }),
    }
}

fn expect_class(
    subject: &'static str,
    found: DType,
    allowed: &[DTypeClass],
    expected: &'static str,
) -> Result<(), InstructionError> {
    match allowed.contains(&found.class()) {
        true => Ok(()),
        false => Err(InstructionError::DTypeClass { subject, found, expected }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::{Instruction, parse};

    const HEADER: &str = "kernel grid 1 reduce 1 vector parallel\n\
        param p0: f32\nparam p1: f32 writes\nscalar s0: f32\n\
        access a0: p0 reduce any vector one\n\
        access a1: p1 reduce any vector one\n\
        access a2: position reduce zero vector one\n\
        access a3: p1 reduce zero vector one\n\
        access a4: p1 reduce zero vector zero\n\
        %0 = load p0[a0] : f32\n\
        %1 = constant true : bool\n\
        %2 = constant 1 : i32\n";
    const STORE: &str = "store p1[a1] %0 : f32\n";

    fn verify_lines(lines: &str) -> Result<(), VerifyError> {
        verify(&parse(&format!("{HEADER}{lines}\n{STORE}")).expect("valid IR text"))
    }

    #[test]
    fn valid_kernel_passes() {
        let lines = "%3 = scalar s0 : f32\n%4 = position a2 : i64\n\
            %5 = load p0[a0 + %4] if %1 : f32\n%6 = fma %0, %3, %5 : f32\n%7 = sum %6 : f32\n\
            %8 = argmax %7 : i64\n%9 = cumsum %0 : f32\n%10 = bitcast %9 : i32\n\
            store p1[a3] %7 if %1 : f32\nstore p1[a3 + %2] %0 : f32\nstore p1[a4] sum %0 : f32";
        assert_eq!(verify_lines(lines), Ok(()));
    }

    #[test]
    fn each_violation_has_its_message() {
        for (line, message) in [
            ("%3 = exp %3 : f32", "%3: operand %3 does not come before it"),
            ("%3 = exp %9 : f32", "%3: operand %9 does not come before it"),
            (
                "store p1[a1] %0 : f32\n%4 = exp %3 : f32",
                "%4: operand %3 is a store, which has no value",
            ),
            ("%3 = position a9 : i64", "%3: there is no access a9"),
            ("%3 = position a0 : i64", "%3: access a0 has a param; a position needs one without"),
            ("%3 = position a2 : f32", "%3: the result is f32, expected i32 or i64"),
            ("%3 = load position[a2] : f32", "%3: access a2 has no param to load from or store to"),
            ("%3 = load p0[a0] : f64", "%3: the result is f64, expected f32"),
            ("%3 = load p0[a0 + %0] : f32", "%3: the index is f32, expected i32 or i64"),
            ("%3 = load p0[a0] if %2 : f32", "%3: the mask is i32, expected bool"),
            ("%3 = scalar s1 : f32", "%3: there is no scalar s1"),
            ("%3 = scalar s0 : i32", "%3: the result is i32, expected f32"),
            ("store p1[a1] %2 : f32", "%3: the stored value is i32, expected f32"),
            ("store p1[a1] %0 : i32", "%3: the store is i32, expected f32"),
            ("store p1[a1] any %0 : f32", "%3: the value is f32, expected bool or an integer"),
            ("%3 = add %0, %2 : f32", "%3: the second operand is i32, expected f32"),
            ("%3 = add %0, %0 : f64", "%3: the result is f64, expected f32"),
            ("%3 = and %0, %0 : f32", "%3: the first operand is f32, expected bool or an integer"),
            ("%3 = shift_left %1, %1 : bool", "%3: the first operand is bool, expected an integer"),
            (
                "%3 = complex %2, %2 : complex64",
                "%3: the first operand is i32, expected f32 or f64",
            ),
            ("%3 = exp %2 : i32", "%3: the operand is i32, expected a float or complex"),
            ("%3 = not %0 : f32", "%3: the operand is f32, expected bool or an integer"),
            ("%3 = is_nan %0 : f32", "%3: the result is f32, expected bool"),
            ("%3 = lt %0, %0 : f32", "%3: the result is f32, expected bool"),
            ("%3 = select %0, %0, %0 : f32", "%3: the mask is f32, expected bool"),
            ("%3 = select %1, %0, %2 : f32", "%3: the third operand is i32, expected f32"),
            ("%3 = fma %2, %2, %2 : i32", "%3: the result is i32, expected f32 or f64"),
            ("%3 = fma %0, %0, %2 : f32", "%3: the third operand is i32, expected f32"),
            ("%3 = bitcast %0 : f64", "%3: bitcast of f32 to f64: their sizes differ"),
            ("%3 = sum %0 : f64", "%3: the result is f64, expected f32"),
            ("%3 = all %0 : f32", "%3: the value is f32, expected bool or an integer"),
            ("%3 = argmin %0 : i32", "%3: the result is i32, expected i64"),
            (
                "store p1[a3] %0 : f32",
                "%3: stores a value of level Tile at an address of level Column: points of the tile \
                 would write the same element",
            ),
            (
                "%3 = sum %0 : f32\nstore p1[a4] %3 : f32",
                "%4: stores a value of level Column at an address of level Program: points of the tile \
                 would write the same element",
            ),
        ] {
            let error = verify_lines(line).expect_err(line);
            assert_eq!(error.to_string(), message, "{line}");
        }
    }

    #[test]
    fn f16_has_no_fma() {
        let mut kernel = parse(&format!("{HEADER}{STORE}")).expect("valid IR text");
        let half = half::f16::ONE.into();
        kernel.body.push(Instruction { kind: Kind::Constant(half), dtype: DType::F16 });
        kernel.body.push(Instruction { kind: Kind::Fma(4, 4, 4), dtype: DType::F16 });
        let error = verify(&kernel).expect_err("an f16 fma");
        assert_eq!(error.to_string(), "%5: the result is f16, expected f32 or f64");
    }

    #[test]
    fn violations_outside_the_body() {
        let good = parse(&format!("{HEADER}{STORE}")).expect("valid IR text");
        assert_eq!(verify(&good), Ok(()));

        let mut bad = good.clone();
        bad.accesses[0].param = Some(7);
        assert_eq!(verify(&bad), Err(VerifyError::AccessParam { access: 0, param: 7 }));

        let mut bad = good.clone();
        bad.params[0].writes = true;
        assert_eq!(verify(&bad), Err(VerifyError::Writes { param: 0, writes: true }));

        let mut bad = good.clone();
        bad.params[1].writes = false;
        assert_eq!(verify(&bad), Err(VerifyError::Writes { param: 1, writes: false }));

        for reduction in ["sum %0 : f32", "cumsum %0 : f32", "argmax %0 : i64"] {
            let text = format!("{HEADER}%3 = {reduction}\n{STORE}");
            let mut bad = parse(&text).expect("valid IR text");
            assert_eq!(verify(&bad), Ok(()));
            bad.reduce_rank = 0;
            let error = InstructionError::NothingReduced;
            assert_eq!(verify(&bad), Err(VerifyError::Instruction { at: 3, error }));
        }
    }
}
