//! Gravity between many bodies: all pairs at once by broadcasting, integrated with the leapfrog method.
//! Run it with `cargo run -p inflight --example n_body`.

use inflight::{Device, Result, Rng, Tensor, assert_close};

const BODIES: usize = 64;
const STEPS: usize = 50;
const STEP: f64 = 0.01;
/// Keeps the force finite when two bodies meet.
const SOFTENING: f64 = 0.1;

struct Bodies {
    position: Tensor,
    velocity: Tensor,
    mass: Tensor,
}

impl Bodies {
    fn new(n: usize, device: &Device) -> Bodies {
        let mut rng = Rng::new(5);
        let velocity = 0.2 * rng.randn::<f64>((n, 3), device);
        let mass = (1 + rng.rand::<f64>(n, device)) / n;
        // In the frame of the center of mass.
        let drift = (&velocity * mass.unsqueeze(1)).sum_keepdim(0) / mass.sum_all();
        Bodies { position: rng.randn::<f64>((n, 3), device), velocity: velocity - drift, mass }
    }

    /// From each body to each other: `[n, n, 3]`, and the softened squared distance: `[n, n]`.
    fn pairs(&self) -> (Tensor, Tensor) {
        let towards = self.position.unsqueeze(0) - self.position.unsqueeze(1);
        let squared = towards.square().sum(-1) + SOFTENING * SOFTENING;
        (towards, squared)
    }

    fn acceleration(&self) -> Tensor {
        let (towards, squared) = self.pairs();
        let pull = &self.mass * squared.powf(-1.5);
        (pull.unsqueeze(-1) * towards).sum(1)
    }

    fn step(&mut self) {
        self.velocity += self.acceleration() * (0.5 * STEP);
        self.position += &self.velocity * STEP;
        self.velocity += self.acceleration() * (0.5 * STEP);
    }

    fn energy(&self) -> Tensor {
        let kinetic = 0.5 * (&self.mass * self.velocity.square().sum(1)).sum_all();
        let (_, squared) = self.pairs();
        let masses = self.mass.unsqueeze(1) * &self.mass;
        let others = 1 - Tensor::eye::<f64>(self.mass.element_count(), self.mass.device());
        let potential = -0.5 * (others * masses / squared.sqrt()).sum_all();
        kinetic + potential
    }

    fn momentum(&self) -> Tensor {
        (&self.velocity * self.mass.unsqueeze(1)).sum(0)
    }
}

fn main() -> Result<()> {
    let device = Device::cpu();
    let mut bodies = Bodies::new(BODIES, &device);
    let before = bodies.energy();
    let start = bodies.position.clone();
    for _ in 0..STEPS {
        bodies.step();
        device.flush();
    }
    let after = bodies.energy();
    let moved = (&bodies.position - start).square().sum(1).sqrt().mean_all();
    println!("energy {before} before, {after} after {STEPS} steps; mean distance moved {moved:.3}");
    assert_close!(after, before, 1e-3);
    assert_close!(bodies.momentum(), [0.0; 3], 0.0, 1e-12);
    assert!(moved.item::<f64>()? > 0.05);
    Ok(())
}
