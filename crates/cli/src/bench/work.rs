//! What a work is.

use inflight::{Device, Result, Tensor, Transaction};

/// Something to compute, here and in every peer.
pub struct Work {
    /// What it is called in the table.
    pub name: &'static str,
    /// What it is called in the peers' scripts.
    pub function: &'static str,
    /// How large it is, in words.
    pub size: String,
    /// What it computes on.
    pub inputs: Vec<Input>,
    /// What a call has to do at least.
    pub amount: Amount,
    /// Whether a call ends with the elements on the host, not only in the device's memory.
    pub read: bool,
    /// How far results may be apart: |a − b| ≤ tolerance · (|b| + the root mean square of all b).
    pub tolerance: f64,
    /// Makes our call from the inputs.
    pub ours: Maker,
}

/// Records a call's results, without waiting for them. May keep state from call to call.
pub type Call = Box<dyn FnMut() -> Vec<Tensor>>;

/// Makes a call from its inputs.
pub type Maker = Box<dyn Fn(Vec<Tensor>) -> Call + Send + Sync>;

/// A call that computes one result, the same every time.
pub fn one(f: fn(&[Tensor]) -> Tensor) -> Maker {
    Box::new(move |inputs| Box::new(move || vec![f(&inputs)]))
}

/// An operand.
pub struct Input {
    /// Its extents.
    pub shape: Vec<usize>,
    /// What its elements are.
    pub values: Values,
}

/// The elements of an operand.
#[derive(Clone, Copy)]
pub enum Values {
    /// `f32`, evenly between two numbers.
    Between(f32, f32),
    /// `i32` from 0 on, smaller than this.
    Below(i32),
}

/// What a call has to do at least.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Amount {
    /// So many bytes are read, and so many written, if every operand is read once and every result written once.
    Bytes { read: usize, written: usize },
    /// So many additions and multiplications.
    Operations(usize),
    /// It is the call itself that is measured.
    Call,
}

impl Work {
    /// Name and size.
    pub fn title(&self) -> String {
        format!("{} {}", self.name, self.size)
    }

    /// The operands on a device.
    pub fn tensors(&self, device: &Device) -> Result<Vec<Tensor>> {
        self.inputs.iter().zip(1..).map(|(input, seed)| input.tensor(seed, device)).collect()
    }

    /// Makes one call and waits for what it computes.
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

    /// With other elements.
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

/// A splitmix64 sequence.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// From 0 on, smaller than 1.
    fn fraction(&mut self) -> f32 {
        (self.next() >> 40) as f32 / (1u64 << 24) as f32
    }
}
