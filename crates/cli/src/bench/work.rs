//! The description of a workload: operands, a call, and a lower bound of its bytes or operations.

use inflight::{Device, Result, Tensor, Transaction};

/// A workload, implemented here and in every peer.
pub struct Work {
    /// Name in the table.
    pub name: &'static str,
    /// Function name in the peers' scripts.
    pub function: &'static str,
    /// Size, as text.
    pub size: String,
    /// Operands.
    pub inputs: Vec<Input>,
    /// Minimum bytes or operations of a call.
    pub amount: Amount,
    /// Whether a call ends with the results on the host.
    pub read: bool,
    /// Tolerance of results: |a − b| ≤ tolerance · (|b| + RMS of b).
    pub tolerance: f64,
    /// Creates our call from the operands.
    pub ours: Maker,
}

/// Records the results of a call, without waiting. May carry state from call to call.
pub type Call = Box<dyn FnMut() -> Vec<Tensor>>;

/// Creates a call from its operands.
pub type Maker = Box<dyn Fn(Vec<Tensor>) -> Call + Send + Sync>;

/// A call without state and with one result.
pub fn one(f: fn(&[Tensor]) -> Tensor) -> Maker {
    Box::new(move |inputs| Box::new(move || vec![f(&inputs)]))
}

/// An operand.
pub struct Input {
    /// Shape.
    pub shape: Vec<usize>,
    /// Distribution of the elements.
    pub values: Values,
}

/// Distribution of the elements of an operand.
#[derive(Clone, Copy)]
pub enum Values {
    /// Uniform `f32` between two values.
    Between(f32, f32),
    /// Uniform `i32` in `0..` this bound.
    Below(i32),
}

/// Minimum bytes or operations of a call.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Amount {
    /// Bytes read and written, each operand and each result once.
    Bytes { read: usize, written: usize },
    /// Additions and multiplications.
    Operations(usize),
    /// Nothing: the overhead of the call is measured.
    Call,
}

impl Work {
    /// Name and size.
    pub fn title(&self) -> String {
        format!("{} {}", self.name, self.size)
    }

    /// Creates the operands on a device.
    pub fn tensors(&self, device: &Device) -> Result<Vec<Tensor>> {
        self.inputs.iter().zip(1..).map(|(input, seed)| input.tensor(seed, device)).collect()
    }

    /// Runs one call and waits for its results.
    pub fn complete(&self, call: &mut Call) -> Result<()> {
        let results = call();
        match &results[..] {
            [result] if self.read => result.to_vec::<f32>().map(drop),
            [result] => result.wait(),
            results => {
                let all = results.iter().fold(Transaction::default(), Transaction::register);
                all.execute().map(drop)
            }
        }
    }
}

impl Input {
    /// `f32` elements between −1 and 1.
    pub fn new(shape: impl Into<Vec<usize>>) -> Input {
        Input { shape: shape.into(), values: Values::Between(-1.0, 1.0) }
    }

    /// With another distribution.
    pub fn with(self, values: Values) -> Input {
        Input { values, ..self }
    }

    fn tensor(&self, seed: u64, device: &Device) -> Result<Tensor> {
        let mut random = Random(seed);
        let elements = self.shape.iter().product();
        match self.values {
            Values::Between(low, high) => {
                let draw = || low + (high - low) * random.fraction();
                let elements: Vec<f32> = std::iter::repeat_with(draw).take(elements).collect();
                Tensor::from_slice(&elements, &*self.shape, device)
            }
            Values::Below(limit) => {
                let draw = || (random.next() % limit as u64) as i32;
                let elements: Vec<i32> = std::iter::repeat_with(draw).take(elements).collect();
                Tensor::from_slice(&elements, &*self.shape, device)
            }
        }
    }
}

/// A splitmix64 generator.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// Uniform in [0, 1).
    fn fraction(&mut self) -> f32 {
        (self.next() >> 40) as f32 / (1u64 << 24) as f32
    }
}
