//! `inflight run STEP --train DATA`: a training step that was exported, executed on batch after batch.
//!
//! Steps are executed one after another without waiting: while one runs, the next batch is prepared, and the
//! loss that is shown is that of the step before.

mod table;

use crate::outcome::Failure;
use crate::progress::Progress;
use inflight::program::ArgumentType;
use inflight::{DType, Device, Executable, Pending, Program, Tensor};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::time::Instant;
use table::{Batches, Table};

/// How to train.
#[derive(clap::Args)]
pub struct TrainingArguments {
    /// Trains: FILE is a step, executed on batches of these rows (numbers with commas between, what is to be
    /// predicted last; .csv or .csv.gz). Its last two arguments are a batch and its labels, its last result is
    /// the loss, and its other results are its other arguments in the next step.
    #[arg(long, value_name = "DATA", requires = "predict", conflicts_with_all = ["expect", "repeat"])]
    pub train: Option<PathBuf>,
    /// The program that says what is predicted, from the first of the step's arguments, which are the
    /// parameters, and rows. Every fifth row is kept to test it with.
    #[arg(long, value_name = "FILE", requires = "train")]
    predict: Option<PathBuf>,
    /// How many times to go through the rows.
    #[arg(long, default_value_t = 30, value_name = "N", requires = "train")]
    epochs: usize,
}

/// What was learned, and how fast.
pub struct Learned {
    /// The arguments of the step that would come next, without a batch.
    pub state: Vec<Tensor>,
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
    /// For people.
    pub fn to_text(&self) -> String {
        format!(
            "{} rows learned in {} steps of {}: {:.0} steps a second\n\
             loss {:.4} at first, {:.4} in the end\n\
             accuracy on {} other rows: {:.1} %",
            self.rows,
            self.steps,
            self.batch,
            self.steps as f64 / self.seconds,
            self.first_loss,
            self.loss,
            self.tested,
            100.0 * self.accuracy
        )
    }

    /// For programs.
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

/// The arguments of a step that are its batch.
struct Step {
    executable: Executable,
    /// How many arguments come before the batch.
    state: usize,
    batch: usize,
}

impl Step {
    fn load(path: &Path, columns: usize, device: &Device) -> Result<Step, Failure> {
        let executable = device.compile(&Program::load(path)?)?;
        let (arguments, results) = (executable.arguments(), executable.results());
        let misfit = |what: String| {
            Failure::misuse(format!("{} is no training step of this data: {what}", path.display()))
        };
        let Some(state) = arguments.len().checked_sub(2).filter(|state| state + 1 == results.len())
        else {
            return Err(misfit(format!(
                "it has {} arguments and {} results; a batch and its labels follow the arguments that are \
                 its results, and the loss follows those",
                arguments.len(),
                results.len()
            )));
        };
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
        if labels.extents.len() != 1 || labels.extents[0].is_some_and(|count| count != batch) {
            return Err(misfit(format!(
                "labels ({}) are {labels}, and a batch is of {batch} rows",
                labels.name
            )));
        }
        Ok(Step { executable, state, batch })
    }

    /// Random weights for the first `parameters` arguments; all else is zero.
    fn first_state(&self, parameters: usize, seed: u64, device: &Device) -> Vec<Tensor> {
        let types = self.executable.arguments()[..self.state].iter().enumerate();
        let state = types.map(|(number, ty)| {
            let extents: Vec<usize> = ty.extents.iter().map(|extent| extent.unwrap_or(1)).collect();
            match extents.len() {
                0 | 1 => Tensor::zeros_of(ty.dtype, extents, device),
                _ if number >= parameters => Tensor::zeros_of(ty.dtype, extents, device),
                _ => {
                    // What comes in is all but the last axis.
                    let inputs: usize = extents[..extents.len() - 1].iter().product();
                    let deviation = (2.0 / inputs.max(1) as f64).sqrt();
                    let seed = seed.wrapping_add(number as u64);
                    Tensor::randn::<f32>(extents, 0.0, deviation, seed, device).cast(ty.dtype)
                }
            }
        });
        state.collect()
    }
}

/// Trains, and measures what was learned.
pub fn train(
    step: &Path,
    data: &Path,
    arguments: &TrainingArguments,
    seed: u64,
    device: &Device,
) -> Result<Learned, Failure> {
    let predict = arguments.predict.as_deref().expect("--train is not taken without --predict");
    let (table, test) = Table::load(data)?.divided();
    let step = Step::load(step, table.columns, device)?;
    let predict = Prediction::load(predict, &step, test.rows(), device)?;
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
    let steps = arguments.epochs * (table.rows() / step.batch);
    let mut progress = Progress::new(steps);
    let mut last: Option<Pending<f32>> = None;
    let (mut first_loss, mut loss) = (None, f32::NAN);
    let began = Instant::now();
    for number in 0..steps {
        // Prepared while the step before runs.
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
    let (tested, accuracy) = predict.accuracy(&state, &test, device)?;
    Ok(Learned {
        state,
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

/// The program that predicts.
struct Prediction {
    executable: Executable,
    /// How many of the step's arguments it takes, before the rows.
    parameters: usize,
    /// How many rows it takes.
    rows: usize,
}

impl Prediction {
    fn load(path: &Path, step: &Step, rows: usize, device: &Device) -> Result<Prediction, Failure> {
        let executable = device.compile(&Program::load(path)?)?;
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
        if executable.results().len() != 1 || last.extents.is_empty() {
            return Err(misfit("it takes rows last, and has one result".to_owned()));
        }
        let taken = last.extents[0].unwrap_or(rows);
        if taken == 0 || taken > rows {
            return Err(misfit(format!("it takes {taken} rows, and {rows} are kept to test it")));
        }
        Ok(Prediction { parameters: parameters.len(), rows: taken, executable })
    }

    /// How many rows were tested, and the share of those whose label was predicted.
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
            right += f64::from(predicted.eq(&labels).cast(DType::F32).sum().item::<f32>()?);
        }
        let tested = parts * self.rows;
        Ok((tested, right / tested as f64))
    }
}
