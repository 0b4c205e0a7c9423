//! A service on tokio: requests arrive over a channel, one task joins them into batches, and no thread waits for the
//! device, because tensors are awaited. Run it with `cargo run -p inflight --example tokio_service`.

use inflight::{Device, Result, Rng, Tensor, WaitReason, assert_close};
use tokio::sync::{mpsc, oneshot};

const FEATURES: usize = 16;
const CLASSES: usize = 4;
const REQUESTS: usize = 40;
const LARGEST_BATCH: usize = 8;

/// The input of one client, and where its answer goes.
#[derive(Debug)]
struct Request {
    input: Vec<f32>,
    reply: oneshot::Sender<Result<Vec<f32>>>,
}

struct Model {
    weight: Tensor,
    bias: Tensor,
}

impl Model {
    /// One row of probabilities for each row of inputs.
    fn predict(&self, inputs: &Tensor) -> Tensor {
        (inputs.matmul(&self.weight) + &self.bias).softmax(-1)
    }

    /// The probabilities of a batch, on the host. Suspends the task until the device has computed them.
    async fn answer(&self, inputs: Vec<Vec<f32>>) -> Result<Vec<f32>> {
        let shape = (inputs.len(), FEATURES);
        let inputs = Tensor::from_vec(inputs.concat(), shape, self.weight.device())?;
        self.predict(&inputs).to_vec_async().await
    }
}

/// Serves until there are no more clients. Requests that arrive while the device computes form the next batch. Returns
/// the number of batches.
async fn serve(model: Model, mut requests: mpsc::Receiver<Request>) -> usize {
    let mut batches = 0;
    let mut batch = Vec::new();
    while requests.recv_many(&mut batch, LARGEST_BATCH).await > 0 {
        batches += 1;
        let requests = batch.drain(..).map(|request| (request.input, request.reply));
        let (inputs, replies): (Vec<_>, Vec<_>) = requests.unzip();
        let answers = model.answer(inputs).await;
        for (i, reply) in replies.into_iter().enumerate() {
            let row = answers.clone().map(|all| all[i * CLASSES..][..CLASSES].to_vec());
            // The client may have gone away.
            let _ = reply.send(row);
        }
    }
    batches
}

async fn ask(requests: mpsc::Sender<Request>, input: Vec<f32>) -> Result<Vec<f32>> {
    let (reply, answer) = oneshot::channel();
    requests.send(Request { input, reply }).await.expect("the service runs");
    answer.await.expect("every request is answered")
}

#[tokio::main]
async fn main() -> Result<()> {
    let device = Device::cpu();
    let mut rng = Rng::new(9);
    let model = Model {
        weight: rng.randn::<f32>((FEATURES, CLASSES), &device),
        bias: rng.randn::<f32>(CLASSES, &device),
    };
    let inputs = rng.randn::<f32>((REQUESTS, FEATURES), &device);
    // Awaiting suspends this task only; no thread waits.
    let expected = model.predict(&inputs).await?;
    let rows = inputs.to_vec_async::<f32>().await?;
    let before = device.stats();

    let (sender, receiver) = mpsc::channel(REQUESTS);
    let service = tokio::spawn(serve(model, receiver));
    let clients: Vec<_> =
        rows.chunks(FEATURES).map(|row| tokio::spawn(ask(sender.clone(), row.to_vec()))).collect();
    drop(sender);

    let mut answers = Vec::new();
    for client in clients {
        answers.extend(client.await.expect("the client ran")?);
    }
    let batches = service.await.expect("the service ran");
    println!("{REQUESTS} requests were answered in {batches} batches");
    let waits = device.stats().since(&before);
    assert_eq!(waits.waits_for(WaitReason::Read) + waits.waits_for(WaitReason::Get), 0);

    let answers = Tensor::from_vec(answers, (REQUESTS, CLASSES), &device)?;
    assert_close!(answers, expected);
    Ok(())
}
