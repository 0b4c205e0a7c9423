//! All workloads, in table order. `function` names the implementation in the peers' scripts, `bench/peers/*_peer.py`.

mod elementwise;
mod gemm;
mod movement;
mod rows;

use super::work::Work;

/// All workloads.
pub fn all() -> Vec<Work> {
    [elementwise::works(), rows::works(), gemm::works(), movement::works()]
        .into_iter()
        .flatten()
        .collect()
}

/// An extent with a binary prefix: 65536 is 64 Ki.
fn count(elements: usize) -> String {
    match elements {
        n if n >= 1 << 20 && n % (1 << 20) == 0 => format!("{} Mi", n >> 20),
        n if n >= 1 << 10 && n % (1 << 10) == 0 => format!("{} Ki", n >> 10),
        n => n.to_string(),
    }
}

/// Extents joined by ×.
fn extents(shape: &[usize]) -> String {
    shape.iter().map(usize::to_string).collect::<Vec<_>>().join("×")
}

/// Bytes of 32-bit elements.
const fn words(elements: usize) -> usize {
    4 * elements
}

#[cfg(test)]
mod tests {
    use super::super::peer::SCRIPTS;
    use super::super::work::Amount;
    use super::*;
    use inflight::{CpuOptions, Device};
    use std::collections::BTreeSet;

    #[test]
    fn every_peer_implements_every_workload() {
        let libraries = SCRIPTS.iter().filter(|(name, _)| name.ends_with("_peer.py"));
        for (name, script) in libraries {
            for work in all() {
                let definition = format!("def {}(", work.function);
                assert!(script.contains(&definition), "{name} has no {}", work.function);
            }
        }
    }

    #[test]
    fn titles_are_unique() {
        let works = all();
        let titles: BTreeSet<String> = works.iter().map(Work::title).collect();
        assert_eq!(titles.len(), works.len());
    }

    /// Declared bytes match the operands and results, so that rates in the table are those of the whole workload.
    #[test]
    fn amounts_in_bytes_are_those_of_operands_and_results() {
        let device = Device::open_cpu(CpuOptions::default()).unwrap();
        for work in all() {
            let Amount::Bytes { read, written } = work.amount else { continue };
            let operands: usize =
                work.inputs.iter().map(|i| i.shape.iter().product::<usize>()).sum();
            if work.function == "gather_rows" {
                assert!(read < words(operands), "only the rows that are asked for are read");
            } else {
                assert_eq!(read, words(operands), "{}", work.title());
            }
            let mut call = (work.ours)(work.tensors(&device).unwrap());
            let results: usize = call().iter().map(|result| result.element_count()).sum();
            assert_eq!(written, words(results), "{}", work.title());
        }
    }
}
