//! Decoding of VHLO attributes and types.

use super::Result;
use super::builtin;
use super::reader::Reader;
use super::tables::Tables;
use crate::module::{Attribute, Attributes, ElementType, TensorType, Type};
use inflight_ir::DType;

/// The encoding of a dynamic dimension.
const DYNAMIC: i64 = i64::MIN;

/// Decodes an attribute.
pub(super) fn attribute<'a>(tables: &mut Tables<'a>, reader: &mut Reader<'a>) -> Result<Attribute> {
    let start = reader.position();
    match reader.varint()? {
        1 => {
            let count = reader.count("attributes")?;
            let items = (0..count).map(|_| tables.attribute(reader)).collect::<Result<_>>()?;
            Ok(Attribute::Array(items))
        }
        2 => Ok(Attribute::Bool(reader.varint()? != 0)),
        3 => {
            let names = ["EQ", "NE", "GE", "GT", "LE", "LT"];
            enum_attribute(reader, "comparison_direction", &names)
        }
        4 => {
            let names = ["NOTYPE", "FLOAT", "TOTALORDER", "SIGNED", "UNSIGNED"];
            enum_attribute(reader, "comparison_type", &names)
        }
        5 => {
            let version = i128::from(reader.varint()?);
            Ok(Attribute::Integer(version, ElementType::Core(DType::I32)))
        }
        6 => dictionary(tables, reader),
        7 => enum_attribute(reader, "fft_type", &["FFT", "IFFT", "RFFT", "IRFFT"]),
        8 => {
            let ty = tables.ty(reader)?;
            float(reader, &ty)
        }
        9 => {
            let ty = tables.ty(reader)?;
            integer(reader, &ty)
        }
        10 => {
            let output = Attribute::Integers(reader.signed_varint_list()?);
            let operand = Attribute::Integer(i128::from(reader.signed_varint()?), I64);
            let inside = Attribute::Integers(reader.signed_varint_list()?);
            let fields = vec![
                ("operand_index".to_string(), operand),
                ("operand_tuple_indices".to_string(), inside),
                ("output_tuple_indices".to_string(), output),
            ];
            Ok(Attribute::Record("output_operand_alias".to_string(), fields))
        }
        11 => enum_attribute(reader, "precision", &["DEFAULT", "HIGH", "HIGHEST"]),
        12 => enum_attribute(reader, "rng_algorithm", &["DEFAULT", "THREE_FRY", "PHILOX"]),
        13 => enum_attribute(reader, "rng_distribution", &["", "UNIFORM", "NORMAL"]),
        14 => Ok(Attribute::String(tables.string(reader)?)),
        15 => {
            let ty = tables.ty(reader)?;
            tensor(reader, ty)
        }
        16 => {
            let names = ["TRANSPOSE_INVALID", "NO_TRANSPOSE", "TRANSPOSE", "ADJOINT"];
            enum_attribute(reader, "transpose", &names)
        }
        17 => Ok(Attribute::Type(tables.ty(reader)?)),
        18 => {
            let bounds: Vec<String> =
                reader.signed_varint_list()?.into_iter().map(extent).collect();
            Ok(Attribute::Other(format!("#stablehlo.bounds<{}>", bounds.join(", "))))
        }
        19 => enum_attribute(reader, "result_accuracy_mode", &["DEFAULT", "HIGHEST", "TOLERANCE"]),
        20 => {
            let double = Type::Other("f64".to_string());
            let absolute = float(reader, &double)?;
            let relative = float(reader, &double)?;
            let ulps = Attribute::Integer(i128::from(reader.signed_varint()?), I64);
            let mode_at = reader.position();
            let mode = tables.attribute(reader)?;
            if !matches!(mode, Attribute::Enum(..)) {
                return Err(reader.error_at(
                    mode_at,
                    "a result accuracy mode",
                    "another attribute",
                ));
            }
            let fields = vec![
                ("atol".to_string(), absolute),
                ("mode".to_string(), mode),
                ("rtol".to_string(), relative),
                ("ulps".to_string(), ulps),
            ];
            Ok(Attribute::Record("result_accuracy".to_string(), fields))
        }
        code => {
            let expected = "an attribute of VHLO 1.0 or later that this reader knows";
            Err(reader.error_at(start, expected, format!("attribute code {code}")))
        }
    }
}

const I64: ElementType = ElementType::Core(DType::I64);

/// An enum attribute, encoded as an index into its names.
fn enum_attribute(reader: &mut Reader<'_>, kind: &str, names: &[&str]) -> Result<Attribute> {
    let start = reader.position();
    let index = reader.index(names.len(), kind)?;
    if names[index].is_empty() {
        return Err(reader.error_at(start, format!("a case of {kind}"), format!("{index}")));
    }
    Ok(Attribute::Enum(kind.to_string(), names[index].to_string()))
}

/// A dictionary attribute. The names are string attributes.
pub(super) fn dictionary<'a>(
    tables: &mut Tables<'a>,
    reader: &mut Reader<'a>,
) -> Result<Attribute> {
    let count = reader.count("attributes")?;
    let mut entries = Attributes::new();
    for _ in 0..count {
        let start = reader.position();
        let Attribute::String(name) = tables.attribute(reader)? else {
            return Err(reader.error_at(
                start,
                "a string attribute as the name of an attribute",
                "another attribute",
            ));
        };
        entries.push((name, tables.attribute(reader)?));
    }
    entries.sort_by(|a, b| a.0.cmp(&b.0));
    entries.dedup_by(|a, b| a.0 == b.0);
    Ok(Attribute::Dictionary(entries))
}

/// The bits of a scalar: one byte if it fits, else a signed varint.
fn bits(reader: &mut Reader<'_>, width: u32) -> Result<u64> {
    match width {
        0..=8 => Ok(u64::from(reader.byte()?)),
        _ => Ok(reader.signed_varint()? as u64),
    }
}

/// An integer attribute of a scalar type.
pub(super) fn integer(reader: &mut Reader<'_>, ty: &Type) -> Result<Attribute> {
    let start = reader.position();
    let element = builtin::element(ty);
    let name = match ty {
        Type::Other(name) => name.as_str(),
        _ => "",
    };
    let (width, is_unsigned) = match name {
        "index" => (64, false),
        _ => {
            let digits = name.trim_start_matches(['u', 's']).strip_prefix('i').unwrap_or("");
            match digits.parse::<u32>() {
                Ok(width @ 1..=64) => (width, name.starts_with('u')),
                _ => return Err(reader.error_at(start, "an integer type", "another type")),
            }
        }
    };
    let Some(element) = element else {
        return Err(reader.error_at(start, "an integer type", "another type"));
    };
    let value = bits(reader, width)?;
    // Shift left and back to sign-extend or zero-extend.
    let left = value << (64 - width);
    let value = match is_unsigned {
        true => i128::from(left >> (64 - width)),
        false => i128::from(left as i64 >> (64 - width)),
    };
    if name == "i1" {
        return Ok(Attribute::Bool(value != 0));
    }
    Ok(Attribute::Integer(value, element))
}

/// A floating point attribute of a scalar type.
pub(super) fn float(reader: &mut Reader<'_>, ty: &Type) -> Result<Attribute> {
    let start = reader.position();
    let element = builtin::element(ty);
    let value = match element {
        Some(ElementType::Core(DType::F16)) => {
            half::f16::from_bits(bits(reader, 16)? as u16).to_f64()
        }
        Some(ElementType::Core(DType::BF16)) => {
            half::bf16::from_bits(bits(reader, 16)? as u16).to_f64()
        }
        Some(ElementType::Core(DType::F32)) => f64::from(f32::from_bits(bits(reader, 32)? as u32)),
        Some(ElementType::Core(DType::F64)) => f64::from_bits(bits(reader, 64)?),
        _ => return Err(reader.error_at(start, "a floating point type", "another type")),
    };
    match element {
        Some(element) => Ok(Attribute::Float(value, element)),
        None => Err(reader.error_at(start, "a floating point type", "another type")),
    }
}

/// A dense constant.
pub(super) fn tensor(reader: &mut Reader<'_>, ty: Type) -> Result<Attribute> {
    let start = reader.position();
    let length = reader.count("bytes of a constant")?;
    let bytes = reader.bytes(length)?;
    let Type::Tensor(ty) = ty else {
        return Err(reader.error_at(start, "a constant of a tensor type", "another type"));
    };
    if ty.dimensions.contains(&None) {
        let expected = "a constant without dynamic dimensions";
        return Err(reader.error_at(start, expected, "a dynamic dimension"));
    }
    builtin::constant(ty, bytes).map_err(|expected| {
        reader.error_at(start, format!("a constant of {expected} bytes"), format!("{length} bytes"))
    })
}

/// The text of a dimension.
fn extent(extent: i64) -> String {
    if extent == DYNAMIC { "?".to_string() } else { extent.to_string() }
}

/// Decodes a type.
pub(super) fn ty<'a>(tables: &mut Tables<'a>, reader: &mut Reader<'a>) -> Result<Type> {
    let start = reader.position();
    let name = match reader.varint()? {
        0 => "i1",
        1 => return complex(tables, reader),
        2 => "bf16",
        3 => "f16",
        4 => "f32",
        5 => "f64",
        6 => "f8E4M3FN",
        7 => "f8E5M2",
        8 => {
            let operands = tables.type_list(reader)?;
            return Ok(Type::Function(operands, tables.type_list(reader)?));
        }
        9 => "index",
        10 => "i4",
        11 => "i8",
        12 => "i16",
        13 => "i32",
        14 => "i64",
        15 => "ui4",
        16 => "ui8",
        17 => "ui16",
        18 => "ui32",
        19 => "ui64",
        20 => return ranked_tensor(tables, reader),
        21 => {
            let encoding_at = reader.position();
            let Attribute::Other(encoding) = tables.attribute(reader)? else {
                return Err(reader.error_at(
                    encoding_at,
                    "the encoding of a tensor",
                    "another attribute",
                ));
            };
            let text = crate::print::type_text(&ranked_tensor(tables, reader)?);
            let text = text.strip_suffix('>').unwrap_or(&text);
            return Ok(Type::Other(format!("{text}, {encoding}>")));
        }
        22 => return Ok(Type::Token),
        23 => return Ok(Type::Tuple(tables.type_list(reader)?)),
        24 => return quantized(tables, reader),
        25 => {
            let element = crate::print::type_text(&tables.ty(reader)?);
            return Ok(Type::Other(format!("tensor<*x{element}>")));
        }
        26 => "!shape.witness",
        27 => "f8E4M3FNUZ",
        28 => "f8E5M2FNUZ",
        29 => "f8E4M3B11FNUZ",
        30 => return quantized_per_axis(tables, reader),
        31 => "i2",
        32 => "ui2",
        33 => "none",
        34 => "tf32",
        35 => "f8E4M3",
        36 => "f8E3M4",
        37 => "f4E2M1FN",
        38 => "f6E2M3FN",
        39 => "f6E3M2FN",
        40 => "f8E8M0FNU",
        41 => {
            let text = crate::print::type_text(&ranked_tensor(tables, reader)?);
            return Ok(Type::Other(text.replacen("tensor", "memref", 1)));
        }
        code => {
            let expected = "a type of VHLO 1.0 or later that this reader knows";
            return Err(reader.error_at(start, expected, format!("type code {code}")));
        }
    };
    Ok(Type::Other(name.to_string()))
}

/// `complex<…>`
pub(super) fn complex<'a>(tables: &mut Tables<'a>, reader: &mut Reader<'a>) -> Result<Type> {
    let part = tables.ty(reader)?;
    Ok(Type::Other(format!("complex<{}>", crate::print::type_text(&part))))
}

/// `tensor<…>`: the dimensions, then the element type.
pub(super) fn ranked_tensor<'a>(tables: &mut Tables<'a>, reader: &mut Reader<'a>) -> Result<Type> {
    let start = reader.position();
    let mut dimensions = Vec::new();
    for extent in reader.signed_varint_list()? {
        dimensions.push(match (extent, u64::try_from(extent)) {
            (DYNAMIC, _) => None,
            (_, Ok(extent)) => Some(extent),
            _ => return Err(reader.error_at(start, "dimensions", format!("{extent}"))),
        });
    }
    let element_at = reader.position();
    let Some(element) = builtin::element(&tables.ty(reader)?) else {
        return Err(reader.error_at(element_at, "an element type", "another type"));
    };
    Ok(Type::Tensor(TensorType { dimensions, element }))
}

/// A per-tensor quantized type.
fn quantized<'a>(tables: &mut Tables<'a>, reader: &mut Reader<'a>) -> Result<Type> {
    reader.varint()?;
    let storage = crate::print::type_text(&tables.ty(reader)?);
    let expressed = crate::print::type_text(&tables.ty(reader)?);
    let scale = f64::from_bits(bits(reader, 64)?);
    let zero = reader.signed_varint()?;
    reader.signed_varint()?;
    reader.signed_varint()?;
    let zero = if zero == 0 { String::new() } else { format!(":{zero}") };
    Ok(Type::Other(format!("!quant.uniform<{storage}:{expressed}, {scale:?}{zero}>")))
}

/// A per-axis quantized type.
fn quantized_per_axis<'a>(tables: &mut Tables<'a>, reader: &mut Reader<'a>) -> Result<Type> {
    reader.varint()?;
    let storage = crate::print::type_text(&tables.ty(reader)?);
    let expressed = crate::print::type_text(&tables.ty(reader)?);
    let dimension = reader.varint()?;
    let count = reader.count("scales")?;
    let mut scales = Vec::new();
    for _ in 0..count {
        scales.push(f64::from_bits(bits(reader, 64)?));
    }
    let zeros = reader.signed_varint_list()?;
    reader.signed_varint()?;
    reader.signed_varint()?;
    let pairs: Vec<String> = scales
        .iter()
        .zip(zeros.iter().chain(std::iter::repeat(&0)))
        .map(|(scale, zero)| format!("{scale:?}:{zero}"))
        .collect();
    let pairs = pairs.join(", ");
    Ok(Type::Other(format!("!quant.uniform<{storage}:{expressed}:{dimension}, {{{pairs}}}>")))
}
