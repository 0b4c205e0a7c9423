//! The inverse error function and the natural logarithm as basic arithmetic, for reproducible random numbers.
//!
//! They are recorded as additions, multiplications, divisions, square roots, bit operations and selections, which are
//! exact or correctly rounded on every device. The `log` op is not: its last bits depend on the device.

#![expect(clippy::excessive_precision, reason = "the coefficients keep all published digits")]

use super::Tensor;
use crate::DType;

/// Single precision coefficients of erfinv(x) / x with w = −ln(1 − x²), after Giles, "Approximating the erfinv function"
/// (2010), highest power first: a polynomial in w − `SINGLE_CENTER` below `SINGLE_LIMIT`, and one in √w − `SINGLE_TAIL_CENTER`
/// from there on. The second is refitted for distances 1 − |x| down to 2⁻³²; the published one ends at 2⁻²⁴.
const SINGLE_LIMIT: f64 = 5.0;
const SINGLE_CENTER: f64 = 2.5;
const SINGLE_COEFFICIENTS: [f64; 9] = [
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
const SINGLE_TAIL_CENTER: f64 = 3.0;
const SINGLE_TAIL_COEFFICIENTS: [f64; 10] = [
    4.33054374e-05,
    -0.000174439556,
    -1.12132311e-05,
    0.00130798423,
    -0.00358732883,
    0.00576377148,
    -0.00764498441,
    0.00943389442,
    1.00167549,
    2.83297706,
];

/// Double precision coefficients of the same paper, for three ranges of w.
const DOUBLE_LIMITS: [f64; 2] = [6.25, 16.0];
const DOUBLE_CENTER: f64 = 3.125;
const DOUBLE_COEFFICIENTS: [f64; 23] = [
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
const DOUBLE_TAIL_CENTERS: [f64; 2] = [3.25, 5.0];
const DOUBLE_TAIL_COEFFICIENTS: [f64; 19] = [
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
const DOUBLE_FAR_TAIL_COEFFICIENTS: [f64; 17] = [
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

/// Records erf⁻¹(1 − `distance`) for distances in (0, 1], of `f32` or `f64`.
#[track_caller]
pub(super) fn inverse_error_function(distance: &Tensor) -> Tensor {
    let w = -logarithm(&(distance * (2 - distance)));
    let root = w.sqrt();
    let factor = match w.dtype() {
        DType::F64 => {
            let near = polynomial(&(&w - DOUBLE_CENTER), &DOUBLE_COEFFICIENTS);
            let far = polynomial(&(&root - DOUBLE_TAIL_CENTERS[0]), &DOUBLE_TAIL_COEFFICIENTS);
            let farthest =
                polynomial(&(&root - DOUBLE_TAIL_CENTERS[1]), &DOUBLE_FAR_TAIL_COEFFICIENTS);
            let far = w.lt(DOUBLE_LIMITS[1]).where_cond(far, farthest);
            w.lt(DOUBLE_LIMITS[0]).where_cond(near, far)
        }
        _ => {
            let near = polynomial(&(&w - SINGLE_CENTER), &SINGLE_COEFFICIENTS);
            let far = polynomial(&(&root - SINGLE_TAIL_CENTER), &SINGLE_TAIL_COEFFICIENTS);
            w.lt(SINGLE_LIMIT).where_cond(near, far)
        }
    };
    factor * (1 - distance)
}

/// Records a polynomial by Horner's rule. The coefficients have the highest power first.
#[track_caller]
fn polynomial(x: &Tensor, coefficients: &[f64]) -> Tensor {
    let mut sum = x * coefficients[0];
    for (position, &coefficient) in coefficients.iter().enumerate().skip(1) {
        sum += coefficient;
        if position + 1 < coefficients.len() {
            sum *= x;
        }
    }
    sum
}

/// Records the natural logarithm of positive, normal floats with the algorithm of fdlibm: x = 2ᵏ(1 + f) with 1 + f between
/// √½ and √2, and ln(1 + f) is a series in s = f / (2 + f).
#[track_caller]
pub(super) fn logarithm(x: &Tensor) -> Tensor {
    let dtype = x.dtype();
    let (integer, mantissa_bits, root_half, ln2_high, ln2_low) = match dtype {
        DType::F64 => {
            let root_half = 0x3fe6_a09e_667f_3bcdu64 as i64;
            (DType::I64, 52, root_half, 6.93147180369123816490e-01, 1.90821492927058770002e-10)
        }
        _ => (DType::I32, 23, 0x3f35_04f3i64, 6.9313812256e-01, 9.0580006145e-06),
    };
    let bits = x.bitcast(integer);
    let k = (&bits - root_half) >> mantissa_bits;
    let f = (bits - (&k << mantissa_bits)).bitcast(dtype) - 1;
    let k = k.cast(dtype);
    let s = &f / (&f + 2);
    let z = &s * &s;
    let w = &z * &z;
    let series = match dtype {
        DType::F64 => {
            let even = &w
                * polynomial(
                    &w,
                    &[1.531383769920937332e-01, 2.222219843214978396e-01, 3.999999999940941908e-01],
                );
            let odd = z * polynomial(
                &w,
                &[
                    1.479819860511658591e-01,
                    1.818357216161805012e-01,
                    2.857142874366239149e-01,
                    6.666666666666735130e-01,
                ],
            );
            even + odd
        }
        _ => {
            let even = &w * polynomial(&w, &[0.24279078841, 0.40000972152]);
            let odd = z * polynomial(&w, &[0.28498786688, 0.66666662693]);
            even + odd
        }
    };
    let half_square = &f * 0.5 * &f;
    let correction = s * (&half_square + series) + &k * ln2_low;
    k * ln2_high - ((half_square - correction) - f)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{CpuOptions, Device};

    fn device() -> Device {
        Device::open_cpu(CpuOptions::from_env().unwrap()).unwrap()
    }

    #[test]
    fn logarithm_matches_the_host() {
        let device = device();
        let values: Vec<f64> = (0..4000).map(|i| (-(i as f64) / 90.0).exp2()).collect();
        let x = Tensor::from_vec(values.clone(), [values.len()], &device).unwrap();
        let found = logarithm(&x).to_vec::<f64>().unwrap();
        for (x, found) in values.iter().zip(found) {
            assert!(
                (found - x.ln()).abs() <= 2.5e-16 * x.ln().abs(),
                "{x}: {found}, not {}",
                x.ln()
            );
        }
        let values: Vec<f32> = (0..4000).map(|i| (-(i as f32) / 130.0).exp2()).collect();
        let x = Tensor::from_vec(values.clone(), [values.len()], &device).unwrap();
        let found = logarithm(&x).to_vec::<f32>().unwrap();
        for (x, found) in values.iter().zip(found) {
            let expected = f64::from(*x).ln();
            let difference = (f64::from(found) - expected).abs();
            assert!(difference <= 1.2e-7 * expected.abs(), "{x}: {found}, not {expected}");
        }
    }

    /// Reference values of erf⁻¹(1 − 2⁻ⁿ), computed with 50 digits by mpmath.
    #[test]
    fn inverse_error_function_matches_reference_values() {
        let device = device();
        let known: [(f64, f64); 23] = [
            (0.1, 0.059417816428993584036),
            (0.5, 0.26569155105823533698),
            (1.0, 0.47693627620446987338),
            (1.5, 0.6559963407024271516),
            (2.0, 0.81341984759761854169),
            (3.0, 1.0847870400692831413),
            (5.0, 1.523019401996956111),
            (7.0, 1.8809517454731394206),
            (8.0, 2.040452014605609194),
            (9.0, 2.1900999683537676382),
            (10.0, 2.3314677736219476723),
            (12.0, 2.5939005131344876614),
            (16.0, 3.0581795818509160902),
            (20.0, 3.4655050258033307173),
            (22.0, 3.6533224239902435649),
            (23.0, 3.7439211627767996249),
            (24.0, 3.8325068569007109095),
            (28.0, 4.1690670869016257061),
            (31.0, 4.4054591921282877294),
            (32.0, 4.4816129071188483386),
            (40.0, 5.0512540852493899671),
            (48.0, 5.5647733269962445375),
            (53.0, 5.8635847487551679272),
        ];
        let distances: Vec<f64> = known.iter().map(|(power, _)| (-power).exp2()).collect();
        let x = Tensor::from_vec(distances.clone(), [distances.len()], &device).unwrap();
        let double = inverse_error_function(&x).to_vec::<f64>().unwrap();
        let single = inverse_error_function(&x.to::<f32>()).to_vec::<f32>().unwrap();
        for (&(power, expected), (double, single)) in known.iter().zip(double.iter().zip(single)) {
            // The tolerance is four units in the last place. Single precision draws distances down to 2⁻³².
            let difference = (double / expected - 1.0).abs();
            assert!(difference < 4.0 * f64::EPSILON, "2^-{power}: {double}, not {expected}");
            let difference = (f64::from(single) / expected - 1.0).abs();
            let close = difference < 4.0 * f64::from(f32::EPSILON);
            assert!(power > 32.0 || close, "2^-{power}: {single}, not {expected}");
        }
    }
}
