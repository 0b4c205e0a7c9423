//! Work is described first, and run as one likes: waited for, awaited, or spawned.
//!
//! `cargo run -p inflight --example op_hello`

use inflight::{Device, DeviceOp, Tensor, api};

fn main() -> inflight::Result<()> {
    let device = Device::cpu();
    let stream = device.stream();
    let before = device.stats();
    let described = api::ones::<f32>([1024, 1024]); // returns a DeviceOp
    assert_eq!(device.stats(), before);
    println!("described: nothing has happened on the device yet");

    let waited_for: Tensor = described.sync_on(&stream)?;
    println!("waited for: {waited_for:?}");
    assert!(waited_for.is_ready() && stream.is_idle());

    let awaited: Tensor = pollster::block_on(async { api::ones::<f32>([1024, 1024]).await })?;
    println!("awaited:    {awaited:?}");
    assert!(awaited.is_ready());

    let spawned = api::ones::<f32>([1024, 1024]).spawn(); // no executor needed
    println!("spawned:    {spawned:?}");
    assert_eq!(spawned.get()?.sum_all().item::<f32>()?, 1024.0 * 1024.0);
    Ok(())
}
