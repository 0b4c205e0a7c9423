//! Reads programs and reports those that are invalid: `parse FILE…`.

fn main() {
    let mut failed = 0;
    let paths: Vec<_> = std::env::args_os().skip(1).collect();
    for path in &paths {
        let bytes = match std::fs::read(path) {
            Ok(bytes) => bytes,
            Err(error) => {
                eprintln!("{}: {error}", path.display());
                failed += 1;
                continue;
            }
        };
        if let Err(error) = inflight_hlo::read(&bytes) {
            eprintln!("{}: {error}", path.display());
            failed += 1;
        }
    }
    println!("{} read, {failed} failed", paths.len() - failed);
    std::process::exit(i32::from(failed > 0));
}
