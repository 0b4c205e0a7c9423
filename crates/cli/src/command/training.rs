//! `inflight run STEP --train DATA`: trains with an exported training step.
//!
//! Steps are submitted without waiting: while one runs, the next batch is prepared, and the loss shown is that of the
//! previous step.

mod table;

use super::program;
use crate::outcome::{Failure, counted};
use crate::progress::Progress;
use inflight::program::ArgumentType;
use inflight::{DType, Device, Executable, Pending, Tensor};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::time::Instant;
use table::{Batches, Table};

/// Arguments of training.
#[derive(clap::Args)]
pub struct TrainingArguments {
    /// Trains on these rows (.csv or .csv.gz, the label last, an integer): FILE is a training step whose last two
    /// arguments are a batch and its labels, whose last result is the loss, and whose other results are the other
    /// arguments of the next step. Requires --predict
    #[arg(
        long,
        value_name = "DATA",
        requires = "predict",
        conflicts_with_all = ["input", "inputs", "expect", "tolerance", "repeat", "sync", "async"]
    )]
    pub train: Option<PathBuf>,
    /// The program that predicts labels from the step's parameters, its first arguments, and rows. Every fifth row is
    /// held out for testing
    #[arg(long, value_name = "FILE", requires = "train")]
    predict: Option<PathBuf>,
    /// Number of epochs
    #[arg(
        long,
        default_value_t = 30,
        value_name = "N",
        requires = "train",
        allow_negative_numbers = true
    )]
    epochs: usize,
}

/// Result of training.
pub struct Learned {
    rows: usize,
    steps: usize,
    batch: usize,
    seconds: f64,
    first_loss: f32,
    loss: f32,
    tested: usize,
    accuracy: f64,
}

impl Learned {
    /// Renders it as text.
    pub fn to_text(&self) -> String {
        format!(
            "{} learned in {} of {}: {:.0} steps a second\n\
             loss {:.4} at first, {:.4} in the end\n\
             accuracy on {}: {:.1} %",
            counted(self.rows, "row"),
            counted(self.steps, "step"),
            self.batch,
            self.steps as f64 / self.seconds,
            self.first_loss,
            self.loss,
            counted(self.tested, "other row"),
            100.0 * self.accuracy
        )
    }

    /// Renders it as JSON.
    pub fn to_json(&self) -> Value {
        json!({
            "rows": self.rows,
            "steps": self.steps,
            "batch": self.batch,
            "seconds": self.seconds,
            "first_loss": self.first_loss,
            "loss": self.loss,
            "tested": self.tested,
            "accuracy": self.accuracy,
        })
    }
}

/// A training step.
struct Step {
    executable: Executable,
    /// Number of arguments before the batch.
    state: usize,
    batch: usize,
}

impl Step {
    fn load(path: &Path, table: &Table, device: &Device) -> Result<Step, Failure> {
        let columns = table.columns;
        let executable = device.compile(&program::load(path)?)?;
        let (arguments, results) = (executable.arguments(), executable.results());
        let misfit = |what: String| {
            Failure::misuse(format!("{} is no training step of this data: {what}", path.display()))
        };
        let Some(state) = arguments.len().checked_sub(2).filter(|state| state + 1 == results.len())
        else {
            return Err(misfit(format!(
                "it has {} and {}; a batch and its labels follow the arguments that are its results, and the \
                 loss follows those",
                counted(arguments.len(), "argument"),
                counted(results.len(), "result")
            )));
        };
        for (argument, result) in arguments.iter().zip(&results[..state]) {
            let fits = argument.extents.len() == result.extents.len()
                && argument.extents.iter().zip(&result.extents).all(|(&a, &b)| may_equal(a, b));
            if !fits || argument.dtype != result.dtype {
                return Err(misfit(format!(
                    "argument {} is {argument}, and the result in its place, which is that argument of the next \
                     step, is {result}",
                    argument.name
                )));
            }
        }
        if !results[state].extents.is_empty() {
            return Err(misfit(format!(
                "its last result, the loss, is {}, and one number is expected",
                results[state]
            )));
        }
        let (rows, labels) = (&arguments[state], &arguments[state + 1]);
        let batch = match rows.extents[..] {
            [batch, width] if width.is_none_or(|width| width == columns) => batch.unwrap_or(64),
            _ => {
                return Err(misfit(format!(
                    "a batch ({}) is {rows}, and there are rows of {columns} numbers",
                    rows.name
                )));
            }
        };
        if batch == 0 {
            return Err(misfit(format!("a batch ({}) is {rows}, which has no rows", rows.name)));
        }
        if labels.extents.len() != 1 || labels.extents[0].is_some_and(|count| count != batch) {
            return Err(misfit(format!(
                "labels ({}) are {labels}, and a batch is of {batch} rows",
                labels.name
            )));
        }
        if let Some(label) = table.label_outside(labels.dtype) {
            return Err(misfit(format!(
                "there is a label {label}, and no {} is that ({})",
                labels.dtype, labels.name
            )));
        }
        Ok(Step { executable, state, batch })
    }

    /// Initial state: random weights for the first `parameters` arguments, zeros for the rest.
    fn first_state(&self, parameters: usize, seed: u64, device: &Device) -> Vec<Tensor> {
        let types = self.executable.arguments()[..self.state].iter().enumerate();
        let state = types.map(|(number, ty)| {
            let extents: Vec<usize> = ty.extents.iter().map(|extent| extent.unwrap_or(1)).collect();
            match extents.len() {
                0 | 1 => Tensor::zeros_with_dtype(extents, ty.dtype, device),
                _ if number >= parameters => Tensor::zeros_with_dtype(extents, ty.dtype, device),
                _ => {
                    // The fan-in: all axes but the last.
                    let inputs: usize = extents[..extents.len() - 1].iter().product();
                    let deviation = (2.0 / inputs.max(1) as f64).sqrt();
                    let seed = seed.wrapping_add(number as u64);
                    Tensor::randn::<f32>(0.0, deviation, extents, seed, device).cast(ty.dtype)
                }
            }
        });
        state.collect()
    }
}

/// Whether two extents may be equal; `None` is dynamic.
fn may_equal(a: Option<usize>, b: Option<usize>) -> bool {
    a.zip(b).is_none_or(|(a, b)| a == b)
}

/// Trains and tests. Passes the final state to `keep` before testing, so that it is saved even if testing fails, but not
/// if the loss is not finite.
pub fn train(
    step: &Path,
    data: &Path,
    arguments: &TrainingArguments,
    seed: u64,
    device: &Device,
    keep: impl FnOnce(&[Tensor]) -> Result<(), Failure>,
) -> Result<Learned, Failure> {
    if arguments.epochs == 0 {
        return Err(Failure::misuse("--epochs 0: nothing would be learned; give 1 or more"));
    }
    let predict = arguments.predict.as_deref().expect("--train is not taken without --predict");
    let table = Table::load(data)?;
    let step = Step::load(step, &table, device)?;
    let (table, test) = table.divided();
    let predict = Prediction::load(predict, &step, &test, device)?;
    if table.rows() < step.batch {
        return Err(Failure::misuse(format!(
            "{} has {} rows to learn, and a batch is of {}",
            data.display(),
            table.rows(),
            step.batch
        )));
    }
    let types = &step.executable.arguments()[step.state..];
    let mut state = step.first_state(predict.parameters, seed, device);
    let mut batches = Batches::new(&table, step.batch, seed);
    let steps = steps(arguments.epochs, table.rows() / step.batch)?;
    let mut progress = Progress::new(steps);
    let mut last: Option<Pending<f32>> = None;
    let (mut first_loss, mut loss) = (None, f32::NAN);
    let began = Instant::now();
    for number in 0..steps {
        // Prepared while the previous step runs.
        let (rows, labels) = batches.next(device)?;
        let batch = [rows.cast(types[0].dtype), labels.cast(types[1].dtype)];
        let inputs: Vec<&Tensor> = state.iter().chain(&batch).collect();
        let mut results = step.executable.execute(&inputs)?;
        let newest = results.pop().expect("the step's last result is its loss");
        state = results;
        if let Some(before) = last.replace(newest.cast(DType::F32).item_async()) {
            loss = before.get()?;
            first_loss.get_or_insert(loss);
        }
        progress.show(number + 1, || {
            let rate = (number + 1) as f64 / began.elapsed().as_secs_f64();
            format!("loss {loss:.4}, {rate:.0} steps a second")
        });
    }
    if let Some(last) = last {
        loss = last.get()?;
    }
    let seconds = began.elapsed().as_secs_f64();
    drop(progress);
    if loss.is_nan() {
        let first = first_loss.unwrap_or(loss);
        return Err(Failure::failed(format!(
            "training diverged: the loss was {first:.4} at first and is not finite at the end; likely there \
             are labels that the model has no class for, numbers in {} that are too large, or the step's learning \
             rate is too large",
            data.display()
        )));
    }
    keep(&state)?;
    let (tested, accuracy) = predict.accuracy(&state, &test, device)?;
    Ok(Learned {
        rows: table.rows(),
        steps,
        batch: step.batch,
        seconds,
        first_loss: first_loss.unwrap_or(loss),
        loss,
        tested,
        accuracy,
    })
}

/// Number of steps.
fn steps(epochs: usize, batches: usize) -> Result<usize, Failure> {
    epochs.checked_mul(batches).ok_or_else(|| {
        Failure::misuse(format!(
            "--epochs {epochs}: {batches} steps each are more than can be counted"
        ))
    })
}

/// The prediction program.
struct Prediction {
    executable: Executable,
    /// Number of the step's arguments it takes before the rows.
    parameters: usize,
    /// Number of rows it takes.
    rows: usize,
}

impl Prediction {
    fn load(
        path: &Path,
        step: &Step,
        test: &Table,
        device: &Device,
    ) -> Result<Prediction, Failure> {
        let executable = device.compile(&program::load(path)?)?;
        let misfit = |what: String| {
            Failure::misuse(format!("{} predicts nothing for this step: {what}", path.display()))
        };
        let types = executable.arguments();
        let same =
            |(a, b): (&ArgumentType, &ArgumentType)| (&a.extents, a.dtype) == (&b.extents, b.dtype);
        let Some((last, parameters)) = types.split_last() else {
            return Err(misfit("it has no arguments".to_owned()));
        };
        let of_step = &step.executable.arguments()[..step.state];
        if parameters.len() > of_step.len() || !parameters.iter().zip(of_step).all(same) {
            return Err(misfit(
                "its arguments but the last are not the first of the step".to_owned(),
            ));
        }
        let [result] = executable.results() else {
            return Err(misfit(format!("it has {} results, not one", executable.results().len())));
        };
        let (rows, columns) = (test.rows(), test.columns);
        let taken = match last.extents[..] {
            [taken, width] if may_equal(width, Some(columns)) => taken.unwrap_or(rows),
            _ => {
                return Err(misfit(format!(
                    "its last argument ({}) is {last}, and there are rows of {columns} numbers",
                    last.name
                )));
            }
        };
        if taken == 0 || taken > rows {
            return Err(misfit(format!("it takes {taken} rows, and {rows} are kept to test it")));
        }
        if !matches!(result.extents[..], [count] if may_equal(count, Some(taken))) {
            return Err(misfit(format!(
                "its result is {result}, and one number for each of {taken} rows is expected"
            )));
        }
        Ok(Prediction { parameters: parameters.len(), rows: taken, executable })
    }

    /// Number of tested rows, and the fraction predicted correctly.
    fn accuracy(
        &self,
        state: &[Tensor],
        test: &Table,
        device: &Device,
    ) -> Result<(usize, f64), Failure> {
        let dtype = self.executable.arguments()[self.parameters].dtype;
        let parts = test.rows() / self.rows;
        let mut right = 0.0;
        for part in 0..parts {
            let rows: Vec<usize> = (part * self.rows..(part + 1) * self.rows).collect();
            let (rows, labels) = test.tensors(&rows, device)?;
            let rows = rows.cast(dtype);
            let mut inputs: Vec<&Tensor> = state[..self.parameters].iter().collect();
            inputs.push(&rows);
            let predicted = self.executable.execute(&inputs)?.remove(0).cast(DType::F32);
            if predicted.shape()[..] != [self.rows] {
                return Err(Failure::failed(format!(
                    "what was predicted for {} rows is {}, and one number for each is expected",
                    self.rows,
                    predicted.shape()
                )));
            }
            right += f64::from(predicted.eq(&labels).cast(DType::F32).sum_all().item::<f32>()?);
        }
        let tested = parts * self.rows;
        Ok((tested, right / tested as f64))
    }
}
