//! Text from a recurrent network: an Elman cell is stepped in a loop and each character is drawn with
//! `Rng::categorical`. Run it with `cargo run -p inflight --example rnn_sampling`.

use inflight::{DType, Device, Result, Rng, Tensor};

const TEXT: &str = "the tensor is in flight. ";

/// `h' = tanh(h · recurrent + bias)`, `logits = h' · output`. The weights are set by hand: unit `i` is on after `i`
/// characters, and switches on the next.
struct Cell {
    recurrent: Tensor,
    bias: Tensor,
    output: Tensor,
}

impl Cell {
    fn new(text: &[usize], alphabet: usize, device: &Device) -> Cell {
        let n = text.len();
        // Unit i switches unit i + 1 on; the last one switches the first on.
        let eye = Tensor::eye::<f32>(n, device);
        let next = Tensor::cat([eye.slice(1..), eye.slice(..1)], 0);
        let text: Vec<i64> = text.iter().map(|&i| i as i64).collect();
        let output = Tensor::from(text).to_device(device).one_hot(alphabet, DType::F32);
        Cell { recurrent: 6 * next, bias: Tensor::full(-3.0f32, n, device), output: 8 * output }
    }

    /// The next state and the logits of the next character, both with one row for each sample.
    fn step(&self, state: &Tensor) -> (Tensor, Tensor) {
        let on = (state + 1) / 2;
        let state = (on.matmul(&self.recurrent) + &self.bias).tanh();
        let logits = state.relu().matmul(&self.output);
        (state, logits)
    }
}

/// `samples` texts of `length` characters, as indices into the alphabet: `[samples, length]`.
fn sample(cell: &Cell, samples: usize, length: usize, temperature: f64, rng: &mut Rng) -> Tensor {
    let n = cell.bias.element_count();
    // Only the last unit is on.
    let last = Tensor::arange(0..n as i64, cell.bias.device()).eq(n - 1);
    let mut state = last.where_cond(1.0f32, -1.0f32).expand((samples, -1));
    let mut characters = Vec::new();
    for _ in 0..length {
        let (next, logits) = cell.step(&state);
        characters.push(rng.categorical(&(logits / temperature)));
        state = next;
    }
    Tensor::stack(characters, 1)
}

fn main() -> Result<()> {
    let device = Device::cpu();
    let mut alphabet: Vec<char> = TEXT.chars().collect();
    alphabet.sort_unstable();
    alphabet.dedup();
    let text: Vec<usize> =
        TEXT.chars().map(|c| alphabet.iter().position(|&a| a == c).unwrap()).collect();
    let cell = Cell::new(&text, alphabet.len(), &device);

    let mut rng = Rng::new(42);
    let mut shares = Vec::new();
    for temperature in [0.2, 2.0, 8.0] {
        let samples = sample(&cell, 4, TEXT.len(), temperature, &mut rng);
        println!("temperature {temperature}:");
        let mut correct = 0;
        for row in samples.rows() {
            let indices = row.to_vec::<i64>()?;
            let drawn: String = indices.iter().map(|&i| alphabet[i as usize]).collect();
            correct += drawn.chars().zip(TEXT.chars()).filter(|(a, b)| a == b).count();
            println!("  {drawn}");
        }
        shares.push(correct as f64 / samples.element_count() as f64);
    }
    // A cold network repeats the text, a hot one draws almost any character.
    assert_eq!(shares[0], 1.0);
    assert!(shares[0] > shares[1] && shares[1] > shares[2], "{shares:?}");
    Ok(())
}
