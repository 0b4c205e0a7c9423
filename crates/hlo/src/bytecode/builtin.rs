//! Decoding of MLIR's builtin attributes and types that occur in portable artifacts: dictionary attributes,
//! locations, and the attributes of the module.

use super::reader::Reader;
use super::tables::Tables;
use super::{Result, vhlo};
use crate::elements;
use crate::module::{Attribute, ElementType, TensorType, Type};
use crate::syntax::named_element;
use inflight_ir::DType;

/// Decodes an attribute.
pub(super) fn attribute<'a>(tables: &mut Tables<'a>, reader: &mut Reader<'a>) -> Result<Attribute> {
    let start = reader.position();
    match reader.varint()? {
        0 => {
            let count = reader.count("attributes")?;
            let items = (0..count).map(|_| tables.attribute(reader)).collect::<Result<_>>()?;
            Ok(Attribute::Array(items))
        }
        1 => vhlo::dictionary(tables, reader),
        2 => Ok(Attribute::String(tables.string(reader)?)),
        3 => {
            let text = tables.string(reader)?;
            tables.ty(reader)?;
            Ok(Attribute::String(text))
        }
        4 => match tables.attribute(reader)? {
            Attribute::String(name) => Ok(Attribute::Symbol(name)),
            _ => Err(reader.error_at(
                start,
                "a string attribute as the name of a symbol",
                "another attribute",
            )),
        },
        6 => Ok(Attribute::Type(tables.ty(reader)?)),
        7 => Ok(Attribute::Unit),
        8 => {
            let ty = tables.ty(reader)?;
            vhlo::integer(reader, &ty)
        }
        9 => {
            let ty = tables.ty(reader)?;
            vhlo::float(reader, &ty)
        }
        14 => match tables.attribute(reader)? {
            name @ Attribute::String(_) => {
                Ok(Attribute::Record(NAMED_LOCATION.to_string(), vec![("name".to_string(), name)]))
            }
            _ => Err(reader.error_at(
                start,
                "a string attribute as the name of a location",
                "another attribute",
            )),
        },
        10..=15 | 22 => Ok(Attribute::Other("loc(unknown)".to_string())),
        17 => dense_array(tables, reader),
        18 => {
            let ty = tables.ty(reader)?;
            vhlo::tensor(reader, ty)
        }
        code => {
            let expected = "an attribute of a portable artifact";
            Err(reader.error_at(start, expected, format!("builtin attribute code {code}")))
        }
    }
}

/// The mnemonic of the structured attribute that a name location is decoded to.
const NAMED_LOCATION: &str = "loc";

/// The name in a name location.
pub(super) fn name_of_location(location: &Attribute) -> Option<String> {
    match location {
        Attribute::Record(kind, fields) if kind == NAMED_LOCATION => match fields.first() {
            Some((_, Attribute::String(name))) => Some(name.clone()),
            _ => None,
        },
        _ => None,
    }
}

/// `array<i64: …>`
fn dense_array<'a>(tables: &mut Tables<'a>, reader: &mut Reader<'a>) -> Result<Attribute> {
    let start = reader.position();
    let ty = tables.ty(reader)?;
    let count = reader.varint()?;
    let length = reader.count("bytes of an array")?;
    let bytes = reader.bytes(length)?;
    let element = match &ty {
        Type::Other(name) => named_element(name),
        _ => return Err(reader.error_at(start, "an integer type", "another type")),
    };
    let size = match &element {
        ElementType::Core(dtype) if !dtype.is_float() && !dtype.is_complex() => dtype.size(),
        _ => return Err(reader.error_at(start, "an integer type", "another type")),
    };
    if count.checked_mul(size as u64) != Some(length as u64) {
        return Err(reader.error_at(start, format!("{count} integers"), format!("{length} bytes")));
    }
    let read = |bytes: &[u8]| {
        let mut wide = [if bytes[size - 1] & 0x80 != 0 { 0xff } else { 0 }; 8];
        wide[..size].copy_from_slice(bytes);
        i64::from_le_bytes(wide)
    };
    Ok(Attribute::Integers(bytes.chunks_exact(size).map(read).collect()))
}

/// Decodes a type.
pub(super) fn ty<'a>(tables: &mut Tables<'a>, reader: &mut Reader<'a>) -> Result<Type> {
    let start = reader.position();
    let name = match reader.varint()? {
        0 => {
            let encoding = reader.varint()?;
            let sign = ["i", "si", "ui"].get((encoding & 3) as usize);
            let Some(sign) = sign.filter(|_| encoding >> 2 <= 1 << 24) else {
                return Err(reader.error_at(start, "an integer type", format!("{encoding}")));
            };
            return Ok(Type::Other(format!("{sign}{}", encoding >> 2)));
        }
        1 => "index",
        2 => {
            let operands = tables.type_list(reader)?;
            return Ok(Type::Function(operands, tables.type_list(reader)?));
        }
        3 => "bf16",
        4 => "f16",
        5 => "f32",
        6 => "f64",
        9 => return vhlo::complex(tables, reader),
        12 => "none",
        13 => return vhlo::ranked_tensor(tables, reader),
        15 => return Ok(Type::Tuple(tables.type_list(reader)?)),
        code => {
            let expected = "a type of a portable artifact";
            return Err(reader.error_at(start, expected, format!("builtin type code {code}")));
        }
    };
    Ok(Type::Other(name.to_string()))
}

/// The element type that a scalar type denotes.
pub(super) fn element(ty: &Type) -> Option<ElementType> {
    match ty {
        Type::Other(name) => Some(match name.as_str() {
            "complex<f32>" => ElementType::Core(DType::C64),
            "complex<f64>" => ElementType::Core(DType::C128),
            _ => named_element(name),
        }),
        _ => None,
    }
}

/// A dense constant from MLIR's raw byte encoding.
pub(super) fn constant(ty: TensorType, bytes: &[u8]) -> std::result::Result<Attribute, String> {
    elements::from_raw(ty, bytes.to_vec()).map(Attribute::Dense)
}
