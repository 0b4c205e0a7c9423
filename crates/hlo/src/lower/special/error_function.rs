//! `erfc` and `erf_inv`.

use super::{Builder, Lowered, Math};
use inflight_ir::graph::NodeId;
use inflight_ir::{BinaryOp, CompareOp, DType, UnaryOp};

// erfc x = e^(−x²) · P(x) / Q(x), below and above 8.
const BELOW_8: ([f64; 9], [f64; 9]) = (
    [
        2.46196981473530512524e-10,
        5.64189564831068821977e-1,
        7.46321056442269912687,
        4.86371970985681366614e1,
        1.96520832956077098242e2,
        5.26445194995477358631e2,
        9.34528527171957607540e2,
        1.02755188689515710272e3,
        5.57535335369399327526e2,
    ],
    [
        1.0,
        1.32281951154744992508e1,
        8.67072140885989742329e1,
        3.54937778887819891062e2,
        9.75708501743205489753e2,
        1.82390916687909736289e3,
        2.24633760818710981792e3,
        1.65666309194161350182e3,
        5.57535340817727675546e2,
    ],
);
const ABOVE_8: ([f64; 6], [f64; 7]) = (
    [
        5.64189583547755073984e-1,
        1.27536670759978104416,
        5.01905042251180477414,
        6.16021097993053585195,
        7.40974269950448939160,
        2.97886665372100240670,
    ],
    [
        1.0,
        2.26052863220117276590,
        9.39603524938001434673,
        1.20489539808096656605e1,
        1.70814450747565897222e1,
        9.60896809063285878198,
        3.36907645100081516050,
    ],
);

/// 1 − erf x, accurate where erf x is close to 1.
pub(super) fn erfc(builder: &mut Builder, x: NodeId) -> Lowered<NodeId> {
    let mut math = Math::new(builder, x);
    let size = math.unary(UnaryOp::Abs, x)?;
    // Split x² into the exact square of x rounded to half the digits, and a small rest: the relative error of the
    // exponential of a rounded square grows with the square. Beyond 30 the result is 0.
    let most = math.constant(30.0);
    let bounded = math.builder.binary(BinaryOp::Min, size, most)?;
    let part = math.builder.cast(bounded, DType::F32)?;
    let part = math.builder.cast(part, DType::F64)?;
    let square = math.mul(part, part)?;
    let (difference, sum) = (math.sub(bounded, part)?, math.add(bounded, part)?);
    let rest = math.mul(difference, sum)?;
    let (square, rest) = (math.unary(UnaryOp::Neg, square)?, math.unary(UnaryOp::Neg, rest)?);
    let (power, factor) = (math.unary(UnaryOp::Exp, square)?, math.unary(UnaryOp::Exp, rest)?);
    let power = math.mul(power, factor)?;
    let p = math.polynomial(size, &BELOW_8.0)?;
    let q = math.polynomial(size, &BELOW_8.1)?;
    let r = math.polynomial(size, &ABOVE_8.0)?;
    let s = math.polynomial(size, &ABOVE_8.1)?;
    let (below, above) = (math.mul(power, p)?, math.mul(power, r)?);
    let (below, above) = (math.div(below, q)?, math.div(above, s)?);
    let is_below = math.compare(CompareOp::Lt, size, 8.0)?;
    let tail = math.select(is_below, below, above)?;
    // Where the exponential underflows to zero, the product may be 0 · ∞.
    let zero = math.constant(0.0);
    let vanishes = math.builder.compare(CompareOp::Eq, power, zero)?;
    let tail = math.select(vanishes, zero, tail)?;
    let two = math.constant(2.0);
    let reflected = math.sub(two, tail)?;
    let is_negative = math.compare(CompareOp::Lt, x, 0.0)?;
    let outer = math.select(is_negative, reflected, tail)?;
    let erf = math.unary(UnaryOp::Erf, x)?;
    let one = math.constant(1.0);
    let inner = math.sub(one, erf)?;
    let is_outer = math.compare(CompareOp::Gt, size, 1.0)?;
    math.select(is_outer, outer, inner)
}

// Giles, "Approximating the erfinv function": polynomials in w = −ln(1 − x²).
const SINGLE_CENTRAL: [f64; 9] = [
    2.81022636e-08,
    3.43273939e-07,
    -3.5233877e-06,
    -4.39150654e-06,
    0.00021858087,
    -0.00125372503,
    -0.00417768164,
    0.246640727,
    1.50140941,
];
const SINGLE_TAIL: [f64; 9] = [
    -0.000200214257,
    0.000100950558,
    0.00134934322,
    -0.00367342844,
    0.00573950773,
    -0.0076224613,
    0.00943887047,
    1.00167406,
    2.83297682,
];
const DOUBLE_CENTRAL: [f64; 23] = [
    -3.6444120640178196996e-21,
    -1.685059138182016589e-19,
    1.2858480715256400167e-18,
    1.115787767802518096e-17,
    -1.333171662854620906e-16,
    2.0972767875968561637e-17,
    6.6376381343583238325e-15,
    -4.0545662729752068639e-14,
    -8.1519341976054721522e-14,
    2.6335093153082322977e-12,
    -1.2975133253453532498e-11,
    -5.4154120542946279317e-11,
    1.051212273321532285e-09,
    -4.1126339803469836976e-09,
    -2.9070369957882005086e-08,
    4.2347877827932403518e-07,
    -1.3654692000834678645e-06,
    -1.3882523362786468719e-05,
    0.0001867342080340571352,
    -0.00074070253416626697512,
    -0.0060336708714301490533,
    0.24015818242558961693,
    1.6536545626831027356,
];
const DOUBLE_MIDDLE: [f64; 19] = [
    2.2137376921775787049e-09,
    9.0756561938885390979e-08,
    -2.7517406297064545428e-07,
    1.8239629214389227755e-08,
    1.5027403968909827627e-06,
    -4.013867526981545969e-06,
    2.9234449089955446044e-06,
    1.2475304481671778723e-05,
    -4.7318229009055733981e-05,
    6.8284851459573175448e-05,
    2.4031110387097893999e-05,
    -0.0003550375203628474796,
    0.00095328937973738049703,
    -0.0016882755560235047313,
    0.0024914420961078508066,
    -0.0037512085075692412107,
    0.005370914553590063617,
    1.0052589676941592334,
    3.0838856104922207635,
];
const DOUBLE_TAIL: [f64; 17] = [
    -2.7109920616438573243e-11,
    -2.5556418169965252055e-10,
    1.5076572693500548083e-09,
    -3.7894654401267369937e-09,
    7.6157012080783393804e-09,
    -1.4960026627149240478e-08,
    2.9147953450901080826e-08,
    -6.7711997758452339498e-08,
    2.2900482228026654717e-07,
    -9.9298272942317002539e-07,
    4.5260625972231537039e-06,
    -1.9681778105531670567e-05,
    7.5995277030017761139e-05,
    -0.00021503011930044477347,
    -0.00013871931833623122026,
    1.0103004648645343977,
    4.8499064014085844221,
];

/// The y with erf y = x; ±∞ of ±1.
pub(super) fn erf_inv(builder: &mut Builder, x: NodeId) -> Lowered<NodeId> {
    let mut math = Math::new(builder, x);
    let square = math.mul(x, x)?;
    let negative = math.unary(UnaryOp::Neg, square)?;
    let log = math.unary(UnaryOp::Log1p, negative)?;
    let w = math.unary(UnaryOp::Neg, log)?;
    let root = math.unary(UnaryOp::Sqrt, w)?;
    let factor = match math.dtype {
        DType::F64 => {
            let central = math.plus(w, -3.125)?;
            let central = math.polynomial(central, &DOUBLE_CENTRAL)?;
            let middle = math.plus(root, -3.25)?;
            let middle = math.polynomial(middle, &DOUBLE_MIDDLE)?;
            let tail = math.plus(root, -5.0)?;
            let tail = math.polynomial(tail, &DOUBLE_TAIL)?;
            let is_central = math.compare(CompareOp::Lt, w, 6.25)?;
            let is_middle = math.compare(CompareOp::Lt, w, 16.0)?;
            let outer = math.select(is_middle, middle, tail)?;
            math.select(is_central, central, outer)?
        }
        _ => {
            let central = math.plus(w, -2.5)?;
            let central = math.polynomial(central, &SINGLE_CENTRAL)?;
            let tail = math.plus(root, -3.0)?;
            let tail = math.polynomial(tail, &SINGLE_TAIL)?;
            let is_central = math.compare(CompareOp::Lt, w, 5.0)?;
            math.select(is_central, central, tail)?
        }
    };
    let value = math.mul(factor, x)?;
    let size = math.unary(UnaryOp::Abs, x)?;
    let is_end = math.compare(CompareOp::Eq, size, 1.0)?;
    let infinity = math.constant(f64::INFINITY);
    let end = math.builder.binary(BinaryOp::Mul, x, infinity)?;
    math.select(is_end, end, value)
}
