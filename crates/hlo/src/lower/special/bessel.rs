//! `bessel_i1e`: the exponentially scaled modified Bessel function of order one, by Chebyshev series.

use super::{Builder, Lowered, Math};
use inflight_ir::graph::NodeId;
use inflight_ir::{CompareOp, UnaryOp};

/// Chebyshev coefficients of e^(−x) I₁(x) / x on [0, 8], highest order first; `f32` needs the last 17.
const BELOW_8: [f64; 29] = [
    2.77791411276104639959e-18,
    -2.11142121435816608115e-17,
    1.55363195773620046921e-16,
    -1.10559694773538630805e-15,
    7.60068429473540693410e-15,
    -5.04218550472791168711e-14,
    3.22379336594557470981e-13,
    -1.98397439776494371520e-12,
    1.17361862988909016308e-11,
    -6.66348972350202774223e-11,
    3.62559028155211703701e-10,
    -1.88724975172282928790e-9,
    9.38153738649577178388e-9,
    -4.44505912879632808065e-8,
    2.00329475355213526229e-7,
    -8.56872026469545474066e-7,
    3.47025130813767847674e-6,
    -1.32731636560394358279e-5,
    4.78156510755005422638e-5,
    -1.61760815825896745588e-4,
    5.12285956168575772895e-4,
    -1.51357245063125314899e-3,
    4.15642294431288815669e-3,
    -1.05640848946261981558e-2,
    2.47264490306265168283e-2,
    -5.29459812080949914269e-2,
    1.02643658689847095384e-1,
    -1.76416518357834055153e-1,
    2.52587186443633654823e-1,
];

/// Chebyshev coefficients of e^(−x) √x I₁(x) on [8, ∞] in 1 / x, highest order first; `f32` needs the last 7.
const ABOVE_8: [f64; 25] = [
    7.51729631084210481353e-18,
    4.41434832307170791151e-18,
    -4.65030536848935832153e-17,
    -3.20952592199342395980e-17,
    2.96262899764595013876e-16,
    3.30820231092092828324e-16,
    -1.88035477551078244854e-15,
    -3.81440307243700780478e-15,
    1.04202769841288027642e-14,
    4.27244001671195135429e-14,
    -2.10154184277266431302e-14,
    -4.08355111109219731823e-13,
    -7.19855177624590851209e-13,
    2.03562854414708950722e-12,
    1.41258074366137813316e-11,
    3.25260358301548823856e-11,
    -1.89749581235054123450e-11,
    -5.58974346219658380687e-10,
    -3.83538038596423702205e-9,
    -2.63146884688951950684e-8,
    -2.51223623787020892529e-7,
    -3.88256480887769039346e-6,
    -1.10588938762623716291e-4,
    -9.76109749136146840777e-3,
    7.78576235018280120474e-1,
];

/// Evaluates a Chebyshev series by Clenshaw's recurrence, at twice the argument.
fn chebyshev(math: &mut Math<'_>, doubled: NodeId, coefficients: &[f64]) -> Lowered<NodeId> {
    let zero = math.constant(0.0);
    let (mut b0, mut b1, mut b2) = (zero, zero, zero);
    for &coefficient in coefficients {
        (b2, b1) = (b1, b0);
        let product = math.mul(doubled, b1)?;
        let difference = math.sub(product, b2)?;
        b0 = math.plus(difference, coefficient)?;
    }
    let difference = math.sub(b0, b2)?;
    math.times(difference, 0.5)
}

/// e^(−|x|) I₁(x)
pub(super) fn i1e(builder: &mut Builder, x: NodeId) -> Lowered<NodeId> {
    let mut math = Math::new(builder, x);
    let size = math.unary(UnaryOp::Abs, x)?;
    let half = math.times(size, 0.5)?;
    let argument = math.plus(half, -2.0)?;
    let series = chebyshev(&mut math, argument, &BELOW_8)?;
    let small = math.mul(size, series)?;
    let numerator = math.constant(32.0);
    let quotient = math.div(numerator, size)?;
    let argument = math.plus(quotient, -2.0)?;
    let series = chebyshev(&mut math, argument, &ABOVE_8)?;
    let root = math.unary(UnaryOp::Sqrt, size)?;
    let large = math.div(series, root)?;
    let is_small = math.compare(CompareOp::Le, size, 8.0)?;
    let value = math.select(is_small, small, large)?;
    let sign = math.unary(UnaryOp::Sign, x)?;
    math.mul(sign, value)
}
