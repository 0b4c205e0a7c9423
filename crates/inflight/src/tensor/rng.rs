//! A random number generator with state: every draw has a seed of its own.
//!
//! A generator is a key and the number of draws so far. Draw `n` uses the seed `hash(key, n)`, and a child that is split off
//! by name has the key `hash(key, name)`; the hash is Threefry-2x32, as in [`random`](super::random). So draws are
//! reproducible, parts of a program that split by name do not disturb each other, and two numbers are the whole state.

use super::Tensor;
use super::create::source_mistake;
use super::method::naming;
use super::normal::logarithm;
use super::operand::Operand;
use super::random::{distances, not_float, words};
use super::record::mistake;
use crate::runtime::Device;
use crate::{DType, Element, Shape};
use std::f64::consts::TAU;
use std::ops::Range;
use std::panic::Location;

/// A random number generator. The same seed gives the same values on every device, in every process.
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
/// let saved = rng.state(); // two numbers, for a checkpoint
/// let next = rng.rand::<f32>([3], &device).to_vec::<f32>()?;
/// assert_eq!(Rng::from_state(saved).rand::<f32>([3], &device).to_vec::<f32>()?, next);
/// # let _ = (weights, batch, keep);
/// # Ok(())
/// # }
/// ```
#[doc(alias = "Generator")]
#[doc(alias = "PRNGKey")]
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Rng {
    key: u64,
    /// The number of draws so far.
    drawn: u64,
}

impl Rng {
    /// A generator. Different seeds give unrelated values.
    #[doc(alias = "manual_seed")]
    #[doc(alias = "default_rng")]
    pub fn new(seed: u64) -> Rng {
        Rng { key: hash(seed, 0), drawn: 0 }
    }

    /// An independent generator with this name. It depends on this generator's seed and on the name, not on how much was
    /// drawn, so adding a draw in one part of a program does not change the values of another.
    #[doc(alias = "fold_in")]
    pub fn split(&self, name: &str) -> Rng {
        let bytes = name.as_bytes();
        let key =
            bytes.chunks(8).fold(hash(self.key, bytes.len() as u64 | 1 << 63), |key, chunk| {
                let mut word = [0; 8];
                word[..chunk.len()].copy_from_slice(chunk);
                hash(key, u64::from_le_bytes(word))
            });
        Rng { key, drawn: 0 }
    }

    /// All there is to save: [`from_state`](Rng::from_state) continues with the next draw.
    pub fn state(&self) -> [u64; 2] {
        [self.key, self.drawn]
    }

    /// The generator that had this [`state`](Rng::state).
    pub fn from_state([key, drawn]: [u64; 2]) -> Rng {
        Rng { key, drawn }
    }

    /// The seed of the next draw, for the constructors that take one: [`Tensor::rand`] and others.
    pub fn next_seed(&mut self) -> u64 {
        self.drawn += 1;
        hash(self.key, self.drawn)
    }

    /// Uniform floats in [0, 1), as [`Tensor::rand`].
    #[doc(alias = "uniform")]
    #[track_caller]
    pub fn rand<T: Element>(&mut self, shape: impl Into<Shape>, device: &Device) -> Tensor {
        Tensor::rand::<T>(shape, self.next_seed(), device)
    }

    /// Normally distributed floats of mean 0 and standard deviation 1.
    #[doc(alias = "standard_normal")]
    #[track_caller]
    pub fn randn<T: Element>(&mut self, shape: impl Into<Shape>, device: &Device) -> Tensor {
        let _naming = naming("randn");
        self.normal::<T>(0.0, 1.0, shape, device)
    }

    /// Normally distributed floats, as [`Tensor::randn`].
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

    /// Uniform integers of a range, as [`Tensor::randint`].
    #[doc(alias = "integers")]
    #[track_caller]
    pub fn randint<T: Element>(
        &mut self,
        range: Range<T>,
        shape: impl Into<Shape>,
        device: &Device,
    ) -> Tensor {
        Tensor::randint(range.start, range.end, shape, self.next_seed(), device)
    }

    /// `true` with this probability: a number, or a tensor of `f32` that broadcasts to the shape.
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

    /// Exponentially distributed floats with this rate, whose mean is 1 / `rate`.
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
            return not_float("exponential", shape, T::DTYPE, device);
        }
        if !(rate > 0.0 && rate.is_finite()) {
            let message = format!("expected a positive, finite rate, found {rate}");
            return source_mistake("exponential", message, shape, T::DTYPE, device);
        }
        (standard_exponential(&shape, T::DTYPE, seed, device) / rate).cast(T::DTYPE)
    }

    /// Gamma distributed floats of this shape parameter and scale 1.
    ///
    /// They are drawn on the host by rejection (Marsaglia and Tsang, 2000), when this is called, and uploaded.
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
            return not_float("gamma", shape, T::DTYPE, device);
        }
        if !(concentration > 0.0 && concentration.is_finite()) {
            let message =
                format!("expected a positive, finite shape parameter, found {concentration}");
            return source_mistake("gamma", message, shape, T::DTYPE, device);
        }
        let mut position = 0;
        let drawn = Tensor::from_fn(
            shape,
            |_| {
                position += 1;
                gamma(concentration, hash(seed, position))
            },
            device,
        );
        drawn.cast(T::DTYPE)
    }

    /// One index along the last axis for each row of logarithms of weights, as `i64`: index `i` with probability
    /// exp(logits[i]) / Σ exp(logits). The result drops the axis.
    ///
    /// It takes the largest of the logits plus Gumbel noise.
    #[track_caller]
    pub fn categorical(&mut self, logits: &Tensor) -> Tensor {
        let _naming = naming("categorical");
        match self.perturbed("categorical", logits) {
            Ok(perturbed) => perturbed.argmax(-1),
            Err(failed) => failed,
        }
    }

    /// `count` indices along the last axis for each row of weights, as `i64`, which need not sum to 1. Without
    /// `replacement`, the indices of a row differ.
    #[track_caller]
    pub fn multinomial(&mut self, weights: &Tensor, count: usize, replacement: bool) -> Tensor {
        let _naming = naming("multinomial");
        let Some((&classes, rows)) = weights.shape().split_last() else {
            return no_axis("multinomial", weights);
        };
        if !replacement && count > classes {
            let message = format!(
                "{count} indices without replacement from {classes} classes; draw fewer, or with replacement"
            );
            let shape: Shape = rows.iter().copied().chain([count]).collect();
            let location = Location::caller();
            return mistake("multinomial", message, &[weights], shape, DType::I64, location);
        }
        let logits = weights.log();
        if !replacement {
            return match self.perturbed("multinomial", &logits) {
                Ok(perturbed) => perturbed.top_k(count, -1).1,
                Err(failed) => failed,
            };
        }
        let repeated: Shape = rows.iter().copied().chain([count, classes]).collect();
        match self.perturbed("multinomial", &logits.unsqueeze(-2).expand(repeated)) {
            Ok(perturbed) => perturbed.argmax(-1),
            Err(failed) => failed,
        }
    }

    /// The integers below `n` in random order, as `i64`.
    #[doc(alias = "permutation")]
    #[track_caller]
    pub fn randperm(&mut self, n: usize, device: &Device) -> Tensor {
        let _naming = naming("randperm");
        let [high, low] = words(&Shape::from([n]), self.next_seed(), device);
        ((high.cast(DType::U64) << 32) | low.cast(DType::U64)).argsort(0, false)
    }

    /// The parts of a tensor along its first axis in random order.
    #[track_caller]
    pub fn shuffle(&mut self, x: &Tensor) -> Tensor {
        let _naming = naming("shuffle");
        match x.shape().first() {
            Some(&n) => x.index_select(0, &self.randperm(n, x.device())),
            None => no_axis("shuffle", x),
        }
    }

    /// Logarithms of weights plus Gumbel noise, or the mistake of the method `name`.
    #[track_caller]
    fn perturbed(&mut self, name: &'static str, logits: &Tensor) -> Result<Tensor, Tensor> {
        let seed = self.next_seed();
        if logits.rank() == 0 {
            return Err(no_axis(name, logits));
        }
        if !logits.dtype().is_float() {
            let message = format!("expected floats, found {}; cast first", logits.dtype());
            let shape = Shape::new(&logits.shape()[..logits.rank() - 1]);
            let location = Location::caller();
            return Err(mistake(name, message, &[logits], shape, DType::I64, location));
        }
        let wide = if logits.dtype() == DType::F64 { DType::F64 } else { DType::F32 };
        let waiting = standard_exponential(logits.shape(), wide, seed, logits.device());
        Ok(logits.cast(wide) - logarithm(&waiting))
    }
}

/// Exponentially distributed values of rate 1, all positive, in `f64` for `f64` and in `f32` for other floats.
#[track_caller]
fn standard_exponential(shape: &Shape, dtype: DType, seed: u64, device: &Device) -> Tensor {
    let words = words(shape, seed, device);
    // The distance is below 1 but for rounding; half a unit in its last place keeps the result above 0.
    let least = if dtype == DType::F64 { (-54f64).exp2() } else { (-25f64).exp2() };
    (-logarithm(&distances(&words, dtype))).maximum(least).reshape(shape)
}

/// The mistake of a method that needs an axis and was given a scalar.
#[track_caller]
fn no_axis(name: &'static str, x: &Tensor) -> Tensor {
    let message = "expected at least one axis, found a scalar".to_owned();
    mistake(name, message, &[x], x.shape().clone(), DType::I64, Location::caller())
}

/// A word that depends on both in no simple way: one block of Threefry-2x32 with 20 rounds.
fn hash(key: u64, value: u64) -> u64 {
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

/// One gamma distributed value of scale 1 (Marsaglia and Tsang, 2000).
fn gamma(concentration: f64, seed: u64) -> f64 {
    let mut drawn = 0;
    // Uniform in (0, 1), in multiples of 2⁻⁵³.
    let mut uniform = || {
        drawn += 1;
        ((hash(seed, drawn) >> 11) as f64 + 0.5) * (-53f64).exp2()
    };
    // Below 1, a value for 1 more is scaled down.
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
    fn hash_gives_the_published_words_of_threefry() {
        assert_eq!(hash(0, 0), 0x99ba4efe_6b200159);
        assert_eq!(hash(u64::MAX, u64::MAX), 0xbb002be7_1cb996fc);
        assert_eq!(hash(0x03707344_13198a2e, 0x85a308d3_243f6a88), 0x483df7a0_c4923a9c);
    }

    #[test]
    fn names_split_into_unrelated_generators() {
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
