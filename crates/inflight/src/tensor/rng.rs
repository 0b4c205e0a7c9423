//! A stateful random number generator with splittable keys: every draw has its own seed.
//!
//! The state is a key and a draw count, two `u64`. Draw `n` uses the seed `threefry(key, n)`, and a child generator that is
//! split off by name has the key `threefry(key, name)`, with Threefry-2x32 as in [`random`](super::random). Draws are
//! therefore reproducible, and generators that are split by name are independent of each other's draws.

use super::Tensor;
use super::create::{creation_error, float_dtype_error};
use super::method::naming;
use super::normal::logarithm;
use super::operand::Operand;
use super::random::{random_words, uniform_nonzero};
use super::record::mistake;
use crate::runtime::Device;
use crate::{DType, Element, Shape};
use std::f64::consts::TAU;
use std::ops::Range;
use std::panic::Location;

/// A random number generator. The same seed gives the same values on every device, in every process.
///
/// Every draw advances the generator, so two draws differ. Draws record ops and do not wait.
///
/// ```
/// use inflight::{Device, Rng};
///
/// # fn main() -> inflight::Result<()> {
/// let device = Device::cpu();
/// let mut rng = Rng::new(42);
/// let weights = rng.randn::<f32>([784, 10], &device) * 0.05;
/// let batch = rng.randint(0..60_000i64, [64], &device);
///
/// let mut dropout = rng.split("dropout"); // does not depend on the draws of others
/// let keep = dropout.bernoulli(0.9, [64, 784], &device);
///
/// let saved = rng.state(); // two u64, for a checkpoint
/// let next = rng.rand::<f32>([3], &device).to_vec::<f32>()?;
/// assert_eq!(Rng::from_state(saved).rand::<f32>([3], &device).to_vec::<f32>()?, next);
/// # let _ = (weights, batch, keep);
/// # Ok(())
/// # }
/// ```
#[doc(alias("Generator", "PRNGKey", "RandomState", "random"))]
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Rng {
    key: u64,
    /// The number of draws so far.
    draws: u64,
}

impl Rng {
    /// Creates a generator from a seed. Different seeds give unrelated values.
    #[doc(alias("manual_seed", "default_rng", "seed", "key"))]
    pub fn new(seed: u64) -> Rng {
        Rng { key: threefry(seed, 0), draws: 0 }
    }

    /// Creates an independent generator from this generator's key and a name.
    ///
    /// The result does not depend on the draw count: adding a draw in one part of a program does not change the values
    /// of another part that has its own split.
    #[doc(alias("fold_in", "spawn", "fork"))]
    #[must_use]
    pub fn split(&self, name: &str) -> Rng {
        let bytes = name.as_bytes();
        let key =
            bytes.chunks(8).fold(threefry(self.key, bytes.len() as u64 | 1 << 63), |key, chunk| {
                let mut word = [0; 8];
                word[..chunk.len()].copy_from_slice(chunk);
                threefry(key, u64::from_le_bytes(word))
            });
        Rng { key, draws: 0 }
    }

    /// Returns the state, for a checkpoint. [`from_state`](Rng::from_state) continues with the next draw.
    #[doc(alias("get_state", "bit_generator"))]
    pub fn state(&self) -> [u64; 2] {
        [self.key, self.draws]
    }

    /// Restores a generator from its [`state`](Rng::state).
    #[doc(alias("set_state"))]
    pub fn from_state([key, draws]: [u64; 2]) -> Rng {
        Rng { key, draws }
    }

    /// Advances the generator and returns the seed of the draw, for functions that take one, such as [`Tensor::rand`].
    pub fn next_seed(&mut self) -> u64 {
        self.draws += 1;
        threefry(self.key, self.draws)
    }

    /// Draws uniform floats in [0, 1), as [`Tensor::rand`]. The result carries an error if the dtype is not a float.
    #[doc(alias("uniform", "random", "random_sample"))]
    #[track_caller]
    pub fn rand<T: Element>(&mut self, shape: impl Into<Shape>, device: &Device) -> Tensor {
        Tensor::rand::<T>(shape, self.next_seed(), device)
    }

    /// Draws uniform floats in [0, 1) with the shape, dtype and device of `x`, as [`Tensor::rand_like`].
    ///
    /// ```
    /// use inflight::{Device, Rng, Tensor};
    ///
    /// let x = Tensor::ones::<f32>([2, 3], &Device::cpu());
    /// let noise = Rng::new(0).rand_like(&x);
    /// assert_eq!((noise.shape(), noise.dtype()), (x.shape(), x.dtype()));
    /// ```
    #[doc(alias("uniform"))]
    #[track_caller]
    pub fn rand_like(&mut self, x: &Tensor) -> Tensor {
        x.rand_like(self.next_seed())
    }

    /// Draws normally distributed floats of mean 0 and standard deviation 1. The result carries an error if the dtype is
    /// not a float.
    #[doc(alias("standard_normal"))]
    #[track_caller]
    pub fn randn<T: Element>(&mut self, shape: impl Into<Shape>, device: &Device) -> Tensor {
        let _naming = naming("randn");
        self.normal::<T>(0.0, 1.0, shape, device)
    }

    /// Draws normally distributed floats of mean 0 and standard deviation 1 with the shape, dtype and device of `x`, as
    /// [`Tensor::randn_like`].
    #[doc(alias("standard_normal"))]
    #[track_caller]
    pub fn randn_like(&mut self, x: &Tensor) -> Tensor {
        x.randn_like(self.next_seed())
    }

    /// Draws normally distributed floats with this mean and standard deviation, as [`Tensor::randn`].
    #[doc(alias("gaussian"))]
    #[track_caller]
    pub fn normal<T: Element>(
        &mut self,
        mean: f64,
        deviation: f64,
        shape: impl Into<Shape>,
        device: &Device,
    ) -> Tensor {
        let _naming = naming("normal");
        Tensor::randn::<T>(mean, deviation, shape, self.next_seed(), device)
    }

    /// Draws uniform integers from a range, as [`Tensor::randint`]. The result carries an error if the dtype is not an
    /// integer or the range is empty.
    #[doc(alias("integers", "random_integers"))]
    #[track_caller]
    pub fn randint<T: Element>(
        &mut self,
        range: Range<T>,
        shape: impl Into<Shape>,
        device: &Device,
    ) -> Tensor {
        Tensor::randint(range.start, range.end, shape, self.next_seed(), device)
    }

    /// Draws `true` with this probability: a scalar, or an `f32` tensor that broadcasts to the shape.
    #[doc(alias("binomial", "dropout"))]
    #[track_caller]
    pub fn bernoulli(
        &mut self,
        probability: impl Operand,
        shape: impl Into<Shape>,
        device: &Device,
    ) -> Tensor {
        let _naming = naming("bernoulli");
        self.rand::<f32>(shape, device).lt(probability)
    }

    /// Draws exponentially distributed floats with this rate; their mean is 1 / `rate`.
    ///
    /// The result carries an error if the rate is not positive and finite, or the dtype is not a float.
    #[track_caller]
    pub fn exponential<T: Element>(
        &mut self,
        rate: f64,
        shape: impl Into<Shape>,
        device: &Device,
    ) -> Tensor {
        let _naming = naming("exponential");
        let shape = shape.into();
        let seed = self.next_seed();
        if !T::DTYPE.is_float() {
            return float_dtype_error("exponential", shape, T::DTYPE, device);
        }
        if !(rate > 0.0 && rate.is_finite()) {
            let message = format!("expected a positive, finite rate, found {rate}");
            return creation_error("exponential", message, shape, T::DTYPE, device);
        }
        (standard_exponential(&shape, T::DTYPE, seed, device) / rate).cast(T::DTYPE)
    }

    /// Draws gamma distributed floats with this shape parameter and scale 1.
    ///
    /// The host draws them during this call, by rejection sampling (Marsaglia and Tsang, 2000), and uploads them. The
    /// result carries an error if `concentration` is not positive and finite, or the dtype is not a float.
    #[doc(alias("standard_gamma"))]
    #[track_caller]
    pub fn gamma<T: Element>(
        &mut self,
        concentration: f64,
        shape: impl Into<Shape>,
        device: &Device,
    ) -> Tensor {
        let _naming = naming("gamma");
        let shape = shape.into();
        let seed = self.next_seed();
        if !T::DTYPE.is_float() {
            return float_dtype_error("gamma", shape, T::DTYPE, device);
        }
        if !(concentration > 0.0 && concentration.is_finite()) {
            let message =
                format!("expected a positive, finite shape parameter, found {concentration}");
            return creation_error("gamma", message, shape, T::DTYPE, device);
        }
        let mut position = 0;
        let samples = Tensor::from_fn(
            shape,
            |_| {
                position += 1;
                sample_gamma(concentration, threefry(seed, position))
            },
            device,
        );
        samples.cast(T::DTYPE)
    }

    /// Draws one index along the last axis for each row of logits (unnormalized log-probabilities), as `i64`. Index `i` has
    /// the probability `exp(logits[i]) / Σ exp(logits)`. The result drops the axis.
    ///
    /// The algorithm is the Gumbel-max trick: the `argmax` of the logits plus Gumbel noise. The result carries an error
    /// if `logits` is a scalar or not a float.
    #[doc(alias("Categorical", "sample"))]
    #[track_caller]
    pub fn categorical(&mut self, logits: &Tensor) -> Tensor {
        let _naming = naming("categorical");
        match self.add_gumbel_noise("categorical", logits) {
            Ok(noisy) => noisy.argmax(-1),
            Err(failed) => failed,
        }
    }

    /// Draws `count` indices along the last axis for each row of weights, as `i64`. The weights need not sum to 1. Without
    /// `replacement`, the indices of a row are distinct.
    ///
    /// The result carries an error if `weights` is a scalar or not a float, or if more indices than weights are drawn
    /// without replacement.
    #[doc(alias("choice"))]
    #[track_caller]
    pub fn multinomial(&mut self, weights: &Tensor, count: usize, replacement: bool) -> Tensor {
        let _naming = naming("multinomial");
        let Some((&classes, rows)) = weights.shape().split_last() else {
            return missing_axis_error("multinomial", weights);
        };
        if !replacement && count > classes {
            let message = format!(
                "expected at most {classes} indices without replacement from {classes} classes, found {count}; draw \
                 fewer, or with replacement"
            );
            let shape: Shape = rows.iter().copied().chain([count]).collect();
            let location = Location::caller();
            return mistake("multinomial", message, &[weights], shape, DType::I64, location);
        }
        let logits = weights.log();
        if !replacement {
            return match self.add_gumbel_noise("multinomial", &logits) {
                Ok(noisy) => noisy.top_k(count, -1).1,
                Err(failed) => failed,
            };
        }
        let expanded: Shape = rows.iter().copied().chain([count, classes]).collect();
        match self.add_gumbel_noise("multinomial", &logits.unsqueeze(-2).expand(expanded)) {
            Ok(noisy) => noisy.argmax(-1),
            Err(failed) => failed,
        }
    }

    /// Draws a random permutation of the integers below `n`, as `i64`.
    #[doc(alias("permutation"))]
    #[track_caller]
    pub fn randperm(&mut self, n: usize, device: &Device) -> Tensor {
        let _naming = naming("randperm");
        let [high, low] = random_words(&Shape::from([n]), self.next_seed(), device);
        ((high.cast(DType::U64) << 32) | low.cast(DType::U64)).argsort(0, false)
    }

    /// Permutes the subtensors of the first axis at random. The result carries an error if `x` is a scalar.
    #[doc(alias("permutation", "permuted"))]
    #[track_caller]
    pub fn shuffle(&mut self, x: &Tensor) -> Tensor {
        let _naming = naming("shuffle");
        match x.shape().first() {
            Some(&n) => x.index_select(0, &self.randperm(n, x.device())),
            None => missing_axis_error("shuffle", x),
        }
    }

    /// Adds Gumbel noise to logits. The error is the failed result of the method `name`.
    #[track_caller]
    fn add_gumbel_noise(&mut self, name: &'static str, logits: &Tensor) -> Result<Tensor, Tensor> {
        let seed = self.next_seed();
        if logits.rank() == 0 {
            return Err(missing_axis_error(name, logits));
        }
        if !logits.dtype().is_float() {
            let message = format!(
                "expected a float tensor, found {}; convert it with .cast(DType::F32)",
                logits.dtype()
            );
            let shape = Shape::new(&logits.shape()[..logits.rank() - 1]);
            let location = Location::caller();
            return Err(mistake(name, message, &[logits], shape, DType::I64, location));
        }
        let compute_dtype = if logits.dtype() == DType::F64 { DType::F64 } else { DType::F32 };
        let exponential =
            standard_exponential(logits.shape(), compute_dtype, seed, logits.device());
        Ok(logits.cast(compute_dtype) - logarithm(&exponential))
    }
}

/// Records exponentially distributed values of rate 1, all positive: `f64` for `f64`, `f32` for other floats.
#[track_caller]
fn standard_exponential(shape: &Shape, dtype: DType, seed: u64, device: &Device) -> Tensor {
    let words = random_words(shape, seed, device);
    // `uniform_nonzero` rounds to 1 at the top, where −ln is 0; half a unit in the last place keeps the result positive.
    let smallest = if dtype == DType::F64 { (-54f64).exp2() } else { (-25f64).exp2() };
    (-logarithm(&uniform_nonzero(&words, dtype))).maximum(smallest).reshape(shape)
}

/// The failed result of a method that needs an axis and got a scalar.
#[track_caller]
fn missing_axis_error(name: &'static str, x: &Tensor) -> Tensor {
    let message = "expected at least one axis, found a scalar".to_owned();
    mistake(name, message, &[x], x.shape().clone(), DType::I64, Location::caller())
}

/// One block of Threefry-2x32 with 20 rounds on the host: hashes `value` with `key`.
fn threefry(key: u64, value: u64) -> u64 {
    let keys = [key as u32, (key >> 32) as u32];
    let keys = [keys[0], keys[1], super::random::PARITY ^ keys[0] ^ keys[1]];
    let (mut x, mut y) =
        ((value as u32).wrapping_add(keys[0]), ((value >> 32) as u32).wrapping_add(keys[1]));
    for round in 0..20 {
        x = x.wrapping_add(y);
        y = y.rotate_left(super::random::ROTATIONS[round % 8]) ^ x;
        if round % 4 == 3 {
            let injection = round / 4 + 1;
            x = x.wrapping_add(keys[injection % 3]);
            y = y.wrapping_add(keys[(injection + 1) % 3]).wrapping_add(injection as u32);
        }
    }
    u64::from(x) | u64::from(y) << 32
}

/// Draws one gamma distributed value of scale 1 (Marsaglia and Tsang, 2000).
fn sample_gamma(concentration: f64, seed: u64) -> f64 {
    let mut draws = 0;
    // Uniform in (0, 1), in multiples of 2⁻⁵³.
    let mut uniform = || {
        draws += 1;
        ((threefry(seed, draws) >> 11) as f64 + 0.5) * (-53f64).exp2()
    };
    // For a concentration below 1, draw with concentration + 1 and scale by uniform^(1 / concentration).
    let boost = match concentration < 1.0 {
        true => uniform().powf(1.0 / concentration),
        false => 1.0,
    };
    let d = if concentration < 1.0 { concentration + 1.0 } else { concentration } - 1.0 / 3.0;
    let c = 1.0 / (9.0 * d).sqrt();
    loop {
        let normal = (-2.0 * uniform().ln()).sqrt() * (TAU * uniform()).cos();
        let v = (1.0 + c * normal).powi(3);
        if v > 0.0 && uniform().ln() < 0.5 * normal * normal + d - d * v + d * v.ln() {
            return boost * d * v;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threefry_matches_random123_vectors() {
        assert_eq!(threefry(0, 0), 0x99ba4efe_6b200159);
        assert_eq!(threefry(u64::MAX, u64::MAX), 0xbb002be7_1cb996fc);
        assert_eq!(threefry(0x03707344_13198a2e, 0x85a308d3_243f6a88), 0x483df7a0_c4923a9c);
    }

    #[test]
    fn split_keys_are_distinct() {
        let rng = Rng::new(1);
        let names = [
            "",
            "a",
            "b",
            "ab",
            "dropout",
            "dropout ",
            "dropout\0",
            "a long name, of two words and more",
        ];
        let mut keys: Vec<u64> = names.iter().map(|name| rng.split(name).key).collect();
        keys.extend([rng.key, Rng::new(2).key, rng.split("a").split("b").key]);
        keys.sort_unstable();
        keys.dedup();
        assert_eq!(keys.len(), names.len() + 3);
    }
}
