//! A peer: another library in a Python process that takes requests as lines of JSON; `bench/peers/peer.py` defines the
//! protocol.

use super::work::Work;
use inflight::{Error, Result};
use serde_json::{Value, json};
use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

/// Peers: name in the scripts, and title.
pub const NAMES: [(&str, &str); 4] =
    [("numpy", "NumPy"), ("jax", "JAX"), ("torch", "PyTorch"), ("torch.compile", "torch.compile")];

macro_rules! script {
    ($name:literal) => {
        ($name, include_str!(concat!("../../../../bench/peers/", $name)))
    };
}

/// The scripts, embedded so that the command runs anywhere.
pub const SCRIPTS: [(&str, &str); 4] = [
    script!("peer.py"),
    script!("numpy_peer.py"),
    script!("jax_peer.py"),
    script!("torch_peer.py"),
];

/// Default interpreter, if it exists.
const ENVIRONMENT: &str = "bench/peers/.venv/bin/python";

/// A running peer.
pub struct Peer {
    /// Its name in the scripts.
    pub name: &'static str,
    /// Its name and version.
    pub versions: String,
    process: Child,
    requests: ChildStdin,
    answers: BufReader<ChildStdout>,
    log: PathBuf,
}

/// The interpreter to run peers with.
pub fn python(named: Option<&Path>) -> PathBuf {
    let variable = std::env::var_os("INFLIGHT_PEERS_PYTHON").map(PathBuf::from);
    let environment = Some(PathBuf::from(ENVIRONMENT)).filter(|path| path.exists());
    let named = named.map(Path::to_owned);
    named.or(variable).or(environment).unwrap_or_else(|| PathBuf::from("python3"))
}

/// Writes the scripts to a folder.
pub fn write_scripts(folder: &Path) -> Result<()> {
    for (name, script) in SCRIPTS {
        let path = folder.join(name);
        std::fs::write(&path, script).map_err(|error| Error::File {
            path: path.display().to_string(),
            message: error.to_string(),
        })?;
    }
    Ok(())
}

impl Peer {
    /// Starts a peer with a number of threads. The folder holds the scripts and receives the log.
    pub fn start(
        name: &'static str,
        python: &Path,
        folder: &Path,
        threads: usize,
    ) -> std::result::Result<Peer, String> {
        let log = folder.join(format!("{name}.log"));
        let unwritable = |error| format!("{}: {error}", log.display());
        let mut process = Command::new(python)
            .arg(folder.join("peer.py"))
            .args([name, &threads.to_string()])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(File::create(&log).map_err(unwritable)?)
            .spawn()
            .map_err(|error| format!("{} does not start: {error}", python.display()))?;
        let requests = process.stdin.take().expect("its input is piped");
        let answers = BufReader::new(process.stdout.take().expect("its output is piped"));
        let mut peer = Peer { name, versions: String::new(), process, requests, answers, log };
        let hello = peer.answer()?;
        peer.versions = hello["versions"].as_str().unwrap_or_default().to_owned();
        Ok(peer)
    }

    /// Prepares a workload and runs it once. Writes its results to the folder and returns their count.
    pub fn prepare(
        &mut self,
        work: &Work,
        inputs: &[PathBuf],
        outputs: &Path,
    ) -> std::result::Result<usize, String> {
        let answer = self.ask(json!({
            "do": "prepare",
            "work": work.function,
            "inputs": inputs,
            "read": work.read,
            "outputs": outputs,
        }))?;
        answer["outputs"].as_u64().map(|count| count as usize).ok_or_else(|| unexpected(&answer))
    }

    /// Runs the workload. Returns the seconds of each timed call.
    pub fn run(
        &mut self,
        unmeasured: usize,
        calls: usize,
    ) -> std::result::Result<Vec<f64>, String> {
        let answer = self.ask(json!({ "do": "run", "unmeasured": unmeasured, "calls": calls }))?;
        let seconds = answer["seconds"].as_array().ok_or_else(|| unexpected(&answer))?;
        seconds.iter().map(|each| each.as_f64().ok_or_else(|| unexpected(&answer))).collect()
    }

    /// Releases the workload.
    pub fn finish(&mut self) -> std::result::Result<(), String> {
        self.ask(json!({ "do": "finish" })).map(drop)
    }

    fn ask(&mut self, request: Value) -> std::result::Result<Value, String> {
        let sent = writeln!(self.requests, "{request}").and_then(|()| self.requests.flush());
        sent.map_err(|_| self.ended())?;
        self.answer()
    }

    fn answer(&mut self) -> std::result::Result<Value, String> {
        let mut line = String::new();
        let length = self.answers.read_line(&mut line).map_err(|error| error.to_string())?;
        if length == 0 {
            return Err(self.ended());
        }
        let answer: Value = serde_json::from_str(&line)
            .map_err(|error| format!("the answer {line:?} is not JSON: {error}"))?;
        match answer["error"].as_str() {
            Some(message) => Err(message.to_owned()),
            None => Ok(answer),
        }
    }

    /// Error for a peer that has exited, with the last line of its log.
    fn ended(&self) -> String {
        let log = std::fs::read_to_string(&self.log).unwrap_or_default();
        match log.lines().rfind(|line| !line.trim().is_empty()) {
            Some(line) => format!("the peer exited: {line}"),
            None => "the peer exited without output".to_owned(),
        }
    }
}

fn unexpected(answer: &Value) -> String {
    format!("unexpected answer {answer}")
}

impl Drop for Peer {
    fn drop(&mut self) {
        // The peer has no state to flush. Killing a peer that has exited fails harmlessly.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missing_interpreter_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let python = Path::new("/no/such/python");
        let error = Peer::start("numpy", python, folder.path(), 1).err().unwrap();
        assert!(error.contains("/no/such/python"), "{error}");
    }

    /// A peer whose interpreter is a shell script.
    fn shell(script: &str) -> (tempfile::TempDir, std::result::Result<Peer, String>) {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("peer.py"), script).unwrap();
        let peer = Peer::start("numpy", Path::new("sh"), folder.path(), 1);
        (folder, peer)
    }

    #[test]
    fn answers_are_parsed() {
        let (_folder, peer) = shell(
            r#"echo '{"versions": "Shell 1"}'
            read line; echo '{"seconds": [0.5, 0.25]}'
            read line; echo '{"error": "it is broken"}'
            read line; echo 'hello'
            read line; echo 'out of paper' >&2"#,
        );
        let mut peer = peer.unwrap();
        assert_eq!(peer.versions, "Shell 1");
        assert_eq!(peer.run(1, 2).unwrap(), [0.5, 0.25]);
        assert_eq!(peer.run(1, 2).unwrap_err(), "it is broken");
        assert!(peer.run(1, 2).unwrap_err().contains("not JSON"));
        assert_eq!(peer.run(1, 2).unwrap_err(), "the peer exited: out of paper");
    }

    #[test]
    fn peer_without_library_reports_it() {
        let (_folder, peer) =
            shell(r#"echo '{"error": "ModuleNotFoundError: No module named x"}'"#);
        assert_eq!(peer.err().unwrap(), "ModuleNotFoundError: No module named x");
    }
}
