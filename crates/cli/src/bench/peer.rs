//! Another library, in a process of its own that takes requests as lines of JSON; `bench/peers/peer.py` says
//! which.

use super::work::Work;
use inflight::{Error, Result};
use serde_json::{Value, json};
use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

/// The peers' names, as the scripts know them, and as people do.
pub const NAMES: [(&str, &str); 4] =
    [("numpy", "NumPy"), ("jax", "JAX"), ("torch", "PyTorch"), ("torch.compile", "torch.compile")];

macro_rules! script {
    ($name:literal) => {
        ($name, include_str!(concat!("../../../../bench/peers/", $name)))
    };
}

/// The scripts. The command carries them, so that it runs anywhere.
pub const SCRIPTS: [(&str, &str); 4] = [
    script!("peer.py"),
    script!("numpy_peer.py"),
    script!("jax_peer.py"),
    script!("torch_peer.py"),
];

/// Where a peer is looked for if nobody says where it is.
const ENVIRONMENT: &str = "bench/peers/.venv/bin/python";

/// A running peer.
pub struct Peer {
    /// Its name, as the scripts know it.
    pub name: &'static str,
    /// Its name and version.
    pub versions: String,
    process: Child,
    requests: ChildStdin,
    answers: BufReader<ChildStdout>,
    log: PathBuf,
}

/// The Python to run peers in.
pub fn python(named: Option<&Path>) -> PathBuf {
    let variable = std::env::var_os("INFLIGHT_PEERS_PYTHON").map(PathBuf::from);
    let environment = Some(PathBuf::from(ENVIRONMENT)).filter(|path| path.exists());
    let named = named.map(Path::to_owned);
    named.or(variable).or(environment).unwrap_or_else(|| PathBuf::from("python3"))
}

/// Puts the scripts into a folder.
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
    /// Starts a peer with so many threads. The scripts are in the folder, which also takes what it logs.
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

    /// Makes a work's call and makes it once. What it computes is in the folder, as so many files.
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
        answer["outputs"].as_u64().map(|count| count as usize).ok_or_else(|| strange(&answer))
    }

    /// Calls it, and returns what each call took, in seconds.
    pub fn run(
        &mut self,
        unmeasured: usize,
        calls: usize,
    ) -> std::result::Result<Vec<f64>, String> {
        let answer = self.ask(json!({ "do": "run", "unmeasured": unmeasured, "calls": calls }))?;
        let seconds = answer["seconds"].as_array().ok_or_else(|| strange(&answer))?;
        seconds.iter().map(|each| each.as_f64().ok_or_else(|| strange(&answer))).collect()
    }

    /// Lets it forget the work.
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
            .map_err(|error| format!("it answered {line:?}, which is not JSON: {error}"))?;
        match answer["error"].as_str() {
            Some(message) => Err(message.to_owned()),
            None => Ok(answer),
        }
    }

    /// That it is not there any more, and what it said last.
    fn ended(&self) -> String {
        let log = std::fs::read_to_string(&self.log).unwrap_or_default();
        match log.lines().rfind(|line| !line.trim().is_empty()) {
            Some(line) => format!("it ended: {line}"),
            None => "it ended without a word".to_owned(),
        }
    }
}

fn strange(answer: &Value) -> String {
    format!("it answered {answer}, which is not what was asked for")
}

impl Drop for Peer {
    fn drop(&mut self) {
        // It keeps nothing that is worth waiting for; one that has ended is not there to be killed.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_python_that_is_not_there_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let python = Path::new("/no/such/python");
        let error = Peer::start("numpy", python, folder.path(), 1).err().unwrap();
        assert!(error.contains("/no/such/python"), "{error}");
    }

    /// A stand-in for Python that runs a shell script in place of ours.
    fn shell(script: &str) -> (tempfile::TempDir, std::result::Result<Peer, String>) {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("peer.py"), script).unwrap();
        let peer = Peer::start("numpy", Path::new("sh"), folder.path(), 1);
        (folder, peer)
    }

    #[test]
    fn answers_are_taken_apart() {
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
        assert_eq!(peer.run(1, 2).unwrap_err(), "it ended: out of paper");
    }

    #[test]
    fn a_peer_that_is_not_installed_says_so() {
        let (_folder, peer) =
            shell(r#"echo '{"error": "ModuleNotFoundError: No module named x"}'"#);
        assert_eq!(peer.err().unwrap(), "ModuleNotFoundError: No module named x");
    }
}
