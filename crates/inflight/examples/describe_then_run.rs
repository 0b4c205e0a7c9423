//! A `DeviceOp` describes work and starts nothing; the caller then waits for it, awaits it or spawns it (seed 004).
//! Run it with `cargo run -p inflight --example describe_then_run`.

use inflight::{Device, DeviceOp, Tensor, api};

fn main() -> inflight::Result<()> {
    let device = Device::cpu();
    let stream = device.stream();
    let before = device.stats();
    let described = api::ones::<f32>((1024, 1024)); // a DeviceOp
    assert_eq!(device.stats(), before);
    println!("described:   the device has done nothing yet");

    let synchronous: Tensor = described.sync_on(&stream)?;
    println!("synchronous: {synchronous:?}");
    assert!(synchronous.is_ready() && stream.is_idle());

    let awaited: Tensor = pollster::block_on(async { api::ones::<f32>((1024, 1024)).await })?;
    println!("awaited:     {awaited:?}");
    assert!(awaited.is_ready());

    let spawned = api::ones::<f32>((1024, 1024)).spawn(); // no executor needed
    println!("spawned:     {spawned:?}");
    assert_eq!(spawned.get()?.sum_all().item::<f32>()?, 1024.0 * 1024.0);
    Ok(())
}
