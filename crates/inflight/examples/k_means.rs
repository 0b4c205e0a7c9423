//! k-means clustering: assigns every point to its nearest centroid and moves each centroid to the mean of its points.
//! Run it with `cargo run -p inflight --example k_means`.

use inflight::{DType, Device, Result, Rng, Tensor, assert_close};

const POINTS: usize = 600;

/// Squared distances, `[points, centroids]`.
fn distances(points: &Tensor, centroids: &Tensor) -> Tensor {
    (points.unsqueeze(1) - centroids.unsqueeze(0)).square().sum(-1)
}

/// Starts at the first point and adds the point that is farthest from all centroids so far.
fn farthest_points(points: &Tensor, k: usize) -> Result<Tensor> {
    let mut centroids = points.slice(..1);
    for _ in 1..k {
        let farthest: usize = distances(points, &centroids).min(1).argmax(0).item()?;
        centroids = Tensor::cat([&centroids, &points.slice(farthest..farthest + 1)], 0);
    }
    Ok(centroids)
}

fn main() -> Result<()> {
    let device = Device::cpu();
    let mut rng = Rng::new(7);

    // Points around three centers, which the algorithm has to find again.
    let centers = Tensor::from_array([[-4.0f32, 0.0], [0.0, 6.0], [4.0, 0.0]], &device);
    let k = centers.shape()[0];
    let labels = rng.randint(0..k as i64, POINTS, &device);
    let points = centers.index_select(0, &labels) + 0.5 * rng.randn::<f32>((POINTS, 2), &device);

    let mut centroids = farthest_points(&points, k)?;
    for step in 1.. {
        let nearest = distances(&points, &centroids).argmin(1);
        let members = nearest.one_hot(k, DType::F32);
        let means = members.transpose().matmul(&points) / members.sum(0).unsqueeze(1);
        let moved = (&means - &centroids).abs().max_all().item::<f32>()?;
        println!("step {step}: the centroids moved by at most {moved:.4}");
        centroids = means;
        if moved < 1e-4 {
            break;
        }
    }

    // Centroids come in any order: sort them by their first coordinate, as the centers are.
    let order = centroids.slice((.., 0)).argsort(0, false);
    let centroids = centroids.index_select(0, &order);
    let found = distances(&points, &centroids).argmin(1);
    let correct = found.eq(&labels).sum_all().item::<usize>()?;
    println!(
        "{correct} of {POINTS} points are in their own cluster; the centroids are\n{centroids}"
    );
    assert_close!(centroids, centers, 0.0, 0.1);
    assert!(correct > POINTS * 99 / 100);
    Ok(())
}
