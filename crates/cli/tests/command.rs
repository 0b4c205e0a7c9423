//! The `inflight` command: output and exit status.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

const SCALED: &str = "func.func @main(%x: tensor<3xf32>) -> tensor<3xf32> {
  %0 = stablehlo.add %x, %x : tensor<3xf32>
  return %0 : tensor<3xf32>
}
";

fn checking(expected: &str) -> String {
    format!(
        "func.func @main() {{
  %0 = stablehlo.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %1 = stablehlo.add %0, %0 : tensor<2xf32>
  %2 = stablehlo.constant dense<{expected}> : tensor<2xf32>
  stablehlo.custom_call @check.expect_eq(%1, %2) {{has_side_effect = true}} : (tensor<2xf32>, tensor<2xf32>) -> ()
  return
}}
"
    )
}

/// A temporary folder of a test, removed on drop.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Folder {
        let path = std::env::temp_dir().join(format!("inflight-cli-{}-{name}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Folder(path)
    }

    fn file(&self, name: &str, text: &str) -> PathBuf {
        let path = self.0.join(name);
        std::fs::write(&path, text).unwrap();
        path
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn inflight(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_inflight")).args(arguments).output().unwrap()
}

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

#[test]
fn run_executes_saves_and_compares() {
    let folder = Folder::new("run");
    let program = folder.file("scaled.mlir", SCALED);
    let results = folder.0.join("results");
    let trace = folder.0.join("trace.json");
    let run = |more: &[&str]| {
        let mut arguments = vec!["run", text(&program), "--random", "7"];
        arguments.extend(more);
        inflight(&arguments)
    };
    let first = run(&["--output", text(&results), "--trace", text(&trace)]);
    assert!(first.status.success(), "{}", stderr(&first));
    assert!(stdout(&first).contains("result 0: f32[3]"), "{}", stdout(&first));
    assert!(stdout(&first).contains("each 1 launch, 12 bytes read, 12 bytes written"));
    assert!(std::fs::read_to_string(&trace).unwrap().contains("stablehlo.add"));
    let repeated = run(&["--expect", text(&results), "--repeat", "20", "--json"]);
    assert!(repeated.status.success(), "{}", stderr(&repeated));
    let json: serde_json::Value = serde_json::from_str(&stdout(&repeated)).unwrap();
    assert_eq!((json["executions"].as_u64(), json["launches"].as_u64()), (Some(20), Some(20)));
    let other = inflight(&["run", text(&program), "--random", "8", "--expect", text(&results)]);
    assert_eq!(other.status.code(), Some(1));
    let printed = stderr(&other);
    assert!(printed.contains("result 0: 3 of 3 elements differ from"), "{printed}");
    assert!(printed.contains("the tolerance 1e-4; the first, element [0], is"), "{printed}");
}

/// The sum and the product of two arguments.
const TWO: &str = "func.func @main(%x: tensor<2x2xf32>, %y: tensor<2x2xf32>) -> (tensor<2x2xf32>, tensor<2x2xf32>) {
  %0 = stablehlo.add %x, %y : tensor<2x2xf32>
  %1 = stablehlo.multiply %x, %y : tensor<2x2xf32>
  return %0, %1 : tensor<2x2xf32>, tensor<2x2xf32>
}
";

#[test]
fn arguments_are_the_files_of_a_folder() {
    let folder = Folder::new("inputs");
    let program = folder.file("two.mlir", TWO);
    let inputs = folder.0.join("inputs");
    let made = inflight(&["run", text(&program), "--random", "3", "--output", text(&inputs)]);
    assert!(made.status.success(), "{}", stderr(&made));
    let run = |more: &[&str]| {
        let mut arguments = vec!["run", text(&program), "--json"];
        arguments.extend(more);
        inflight(&arguments)
    };
    let (first, second) = (inputs.join("out_00.npy"), inputs.join("out_01.npy"));
    let each = run(&["--input", text(&first), "--input", text(&second)]);
    std::fs::rename(&first, inputs.join("in_00.npy")).unwrap();
    let missing = run(&["--inputs", text(&inputs)]);
    assert_eq!(missing.status.code(), Some(2));
    let named = format!("argument 1 (y) of {} is f32[2, 2]: ", program.display());
    assert!(stderr(&missing).contains(&named), "{}", stderr(&missing));
    assert!(stderr(&missing).contains("in_01.npy does not exist"), "{}", stderr(&missing));
    let random = run(&["--inputs", text(&inputs), "--random", "5"]);
    assert!(random.status.success(), "{}", stderr(&random));
    std::fs::rename(&second, inputs.join("in_01.npy")).unwrap();
    let all = run(&["--inputs", text(&inputs)]);
    let results = |output: &Output| -> serde_json::Value {
        let json: serde_json::Value = serde_json::from_str(&stdout(output)).unwrap();
        json["results"].clone()
    };
    assert_eq!(results(&all), results(&each));
    assert_ne!(results(&all), results(&random));
    std::fs::copy(inputs.join("in_01.npy"), inputs.join("in_02.npy")).unwrap();
    let more = run(&["--inputs", text(&inputs)]);
    assert_eq!(more.status.code(), Some(2));
    assert!(stderr(&more).contains("takes 2 arguments, and "), "{}", stderr(&more));
    assert!(stderr(&more).contains("in_02.npy is none of them"), "{}", stderr(&more));
    let both = run(&["--inputs", text(&inputs), "--input", text(&second)]);
    assert!(stderr(&both).contains("cannot be used with"), "{}", stderr(&both));
}

#[test]
fn comparison_result_is_printed() {
    let folder = Folder::new("expect");
    let program = folder.file("two.mlir", TWO);
    let results = folder.0.join("results");
    let run = |more: &[&str]| {
        let mut arguments = vec!["run", text(&program), "--random", "3"];
        arguments.extend(more);
        inflight(&arguments)
    };
    assert!(run(&["--output", text(&results)]).status.success());
    let expect = ["--expect", text(&results)];
    let printed = stdout(&run(&expect));
    let agree = "2 results are as expected; the largest difference is 0e0 of the largest magnitude, the tolerance \
                 1e-4";
    assert!(printed.contains(agree), "{printed}");
    let json = stdout(&run(&["--json", "--expect", text(&results), "--tolerance", "0.5"]));
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    let compared = serde_json::json!({"results": 2, "largest_difference": 0.0, "tolerance": 0.5});
    assert_eq!(json["compared"], compared);
    std::fs::copy(results.join("out_01.npy"), results.join("out_02.npy")).unwrap();
    let more = run(&expect);
    assert_eq!(more.status.code(), Some(1));
    assert!(
        stderr(&more).contains("out_02.npy exists, but the program has only 2 results"),
        "{}",
        stderr(&more)
    );
    for wrong in ["-1", "nan", "inf", "much"] {
        let output = run(&["--expect", text(&results), "--tolerance", wrong]);
        assert_eq!(output.status.code(), Some(2), "{wrong}");
        let printed = stderr(&output);
        assert!(printed.contains("expected a finite number of at least 0"), "{wrong}: {printed}");
    }
    let alone = run(&["--tolerance", "0.1"]);
    assert_eq!(alone.status.code(), Some(2));
    assert!(stderr(&alone).contains("--expect <FOLDER>"), "{}", stderr(&alone));
}

#[test]
fn json_has_the_elements() {
    let folder = Folder::new("elements");
    let program = folder.file(
        "elements.mlir",
        "func.func @main() -> (tensor<2x2xf32>, tensor<2xi1>, tensor<1xcomplex<f32>>, tensor<20000xf32>) {
  %0 = stablehlo.constant dense<[[0.1, 0x7FC00000], [0x7F800000, 0xFF800000]]> : tensor<2x2xf32>
  %1 = stablehlo.constant dense<[true, false]> : tensor<2xi1>
  %2 = stablehlo.constant dense<(1.5, -2.0)> : tensor<1xcomplex<f32>>
  %3 = stablehlo.constant dense<0.0> : tensor<20000xf32>
  return %0, %1, %2, %3 : tensor<2x2xf32>, tensor<2xi1>, tensor<1xcomplex<f32>>, tensor<20000xf32>
}
",
    );
    let output = inflight(&["run", text(&program), "--json"]);
    assert!(output.status.success(), "{}", stderr(&output));
    let json: serde_json::Value = serde_json::from_str(&stdout(&output)).unwrap();
    let values: Vec<_> = (0..4).map(|index| json["results"][index]["values"].clone()).collect();
    let expected = serde_json::json!([
        [[0.1, "NaN"], ["Infinity", "-Infinity"]],
        [true, false],
        [[1.5, -2.0]],
        null
    ]);
    assert_eq!(serde_json::Value::from(values), expected);
    assert!(json["results"][3]["note"].as_str().unwrap().contains("--output"));
    let printed = stdout(&inflight(&["run", text(&program)]));
    assert!(printed.contains("f32[20000]; --output FOLDER writes all elements"), "{printed}");
}

#[test]
fn closed_pipe_is_not_an_error() {
    let folder = Folder::new("unread");
    let wrong = folder.file("wrong.mlir", &checking("[2.0, 5.0]"));
    let unread = || {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        writer
    };
    let check = || {
        let mut command = Command::new(env!("CARGO_BIN_EXE_inflight"));
        command.args(["check", text(&wrong)]);
        command
    };
    let output = check().stdout(unread()).output().unwrap();
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    assert_eq!(stderr(&output), "inflight: 1 of 1 program failed\n");
    let output = check().stderr(unread()).output().unwrap();
    assert_eq!(output.status.code(), Some(1), "{}", stdout(&output));
    assert!(stdout(&output).ends_with("0 passed, 1 failed, 0 skipped\n"), "{}", stdout(&output));
    if cfg!(target_os = "linux") {
        let full = || std::fs::File::options().write(true).open("/dev/full").unwrap();
        let output = check().stdout(full()).stderr(full()).output().unwrap();
        assert_eq!(output.status.code(), Some(1));
    }
}

#[test]
fn unknown_arguments_are_misuse() {
    let folder = Folder::new("nothing");
    let program = folder.file("scaled.mlir", SCALED);
    let open = folder.file("open.mlir", &SCALED.replace("3xf32", "?x4xf32"));
    let empty = folder.0.join("empty");
    std::fs::create_dir(&empty).unwrap();
    let nothing = format!("there are no .mlir or .mlirbc files in {}\n", empty.display());
    let is_folder = format!("{} is a folder; `inflight check` runs", empty.display());
    let is_file = format!("{} is a file; --output names the folder", open.display());
    let run = ["run", text(&program), "--random"];
    let cases: [(&[&str], &str); 12] = [
        (&["run", text(&program), "--device", "cuda:99"], "cuda:99"),
        (
            &["explain", text(&open)],
            "is f32[?, 4]: give the shapes of all arguments, with one --shape",
        ),
        (
            &["explain", text(&open), "--shape", "1x4", "--shape", "2x4"],
            "takes 1 argument, but 2 shapes are",
        ),
        (&["explain", text(&program), "--shape", "3"], "its argument shapes are static"),
        (&["check", text(&empty)], &nothing),
        (&["check", text(&program), "-j", "0"], "invalid value '0' for '--jobs <N>'"),
        (&["run", text(&empty)], &is_folder),
        (&[run[0], run[1], run[2], "-1"], "invalid digit found in string"),
        (&[run[0], run[1], run[2], "1", "--output", text(&open)], &is_file),
        (&["timeline", "trace.json", "--width", "199"], "199 is not in 200..=20000"),
        (&["timeline", "trace.json", "--width", "20001"], "20001 is not in 200..=20000"),
        (
            &[run[0], run[1], "--input", "a.npy", "--input", "b.npy"],
            "takes 1 argument, 2 are given",
        ),
    ];
    for (arguments, expected) in cases {
        let output = inflight(arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {}", stderr(&output));
        assert!(stderr(&output).contains(expected), "{arguments:?}: {}", stderr(&output));
    }
    for command in [&["devices"][..], &["run", text(&program)], &["bench", "--only", "a call"]] {
        let mut process = Command::new(env!("CARGO_BIN_EXE_inflight"));
        let output = process.args(command).env("INFLIGHT_THREADS", "many").output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{command:?}: {}", stderr(&output));
        assert!(stderr(&output).contains("INFLIGHT_THREADS is \"many\""), "{}", stderr(&output));
    }
    let blank = folder.file("blank.mlir", "\n");
    let output = inflight(&["run", text(&blank)]);
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(stderr(&output), format!("inflight: {} is empty\n", blank.display()));
}

#[test]
fn missing_files_are_named_with_a_remedy() {
    let folder = Folder::new("missing");
    let program = folder.file("scaled.mlir", SCALED);
    let nowhere = folder.0.join("nowhere.mlir");
    let cases: [(&[&str], &str); 6] = [
        (&["run", text(&nowhere)], "nowhere.mlir"),
        (&["run", text(&program)], "--random SEED"),
        (&["run", text(&program), "--random", "1", "--device", "abacus"], "inflight devices"),
        (&["run", text(&program), "--random", "1", "--repeat", "0"], "--repeat 0"),
        (&["check", text(&nowhere)], "give a program or a folder"),
        (&["check", text(&program), "--frobnicate"], "--frobnicate"),
    ];
    for (arguments, expected) in cases {
        let output = inflight(arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {}", stderr(&output));
        assert!(stderr(&output).contains(expected), "{arguments:?}: {}", stderr(&output));
    }
}

#[test]
fn unsupported_operations_are_listed_in_order() {
    let folder = Folder::new("unsupported");
    let program = folder.file(
        "many.mlir",
        "func.func @main(%x: tensor<3xf32>) -> tensor<3xf32> {
  %0 = \"stablehlo.frobnicate\"(%x) : (tensor<3xf32>) -> tensor<3xf32>
  %1 = stablehlo.custom_call @nobody(%0) : (tensor<3xf32>) -> tensor<3xf32>
  %2 = \"stablehlo.all_gather\"(%1) <{all_gather_dim = 0 : i64, replica_groups = dense<[[0]]> : tensor<1x1xi64>}> : (tensor<3xf32>) -> tensor<3xf32>
  return %2 : tensor<3xf32>
}",
    );
    let output = inflight(&["run", text(&program), "--random", "1"]);
    assert_eq!(output.status.code(), Some(1));
    let printed = stderr(&output);
    let locations = ["many.mlir:2:3: stablehlo.frobnicate", "many.mlir:3:3:", "many.mlir:4:3:"];
    let found: Vec<Option<usize>> =
        locations.iter().map(|location| printed.find(location)).collect();
    assert!(found.iter().all(Option::is_some) && found.is_sorted(), "{printed}");
    assert!(printed.contains("no function is registered as \"nobody\""), "{printed}");
}

#[test]
fn dynamic_extents_are_explained_for_given_shapes() {
    let folder = Folder::new("open");
    let program = folder.file("open.mlir", &SCALED.replace("3xf32", "?x4xf32"));
    let explain = |more: &[&str]| {
        let mut arguments = vec!["explain", text(&program)];
        arguments.extend(more);
        inflight(&arguments)
    };
    assert!(stderr(&explain(&[])).contains("give the shapes of all arguments, with one --shape"));
    let explained = stdout(&explain(&["--shape", "5x4"]));
    assert!(explained.contains("80 B read, 80 B written"), "{explained}");
    for (shape, expected) in [("5x3", "found f32[5, 3]"), ("5*4", "such as 32x64")] {
        let output = explain(&["--shape", shape]);
        assert!(stderr(&output).contains(expected), "{}", stderr(&output));
    }
}

#[test]
fn check_counts_and_names_the_first_difference() {
    let folder = Folder::new("check");
    folder.file("right.mlir", &checking("[2.0, 4.0]"));
    let passed = inflight(&["check", text(&folder.0)]);
    assert!(passed.status.success());
    assert_eq!(stdout(&passed), "1 passed, 0 failed, 0 skipped\n");
    folder.file("wrong.mlir", &checking("[2.0, 5.0]"));
    folder.file("broken.mlir", "func.func @main(");
    folder.file(
        "across.mlir",
        "func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = \"stablehlo.collective_permute\"(%x) <{source_target_pairs = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<2xf32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}",
    );
    let mixed = inflight(&["check", text(&folder.0), "-j", "2"]);
    let printed = stdout(&mixed);
    assert_eq!(mixed.status.code(), Some(1));
    assert!(
        printed.contains("wrong.mlir: element [1] of f32[2] is 4.0, expected 5.0"),
        "{printed}"
    );
    let broken = folder.0.join("broken.mlir");
    assert!(printed.contains(&format!("FAILED  {}: line 1,", broken.display())), "{printed}");
    for name in ["broken.mlir", "wrong.mlir"] {
        assert_eq!(printed.matches(name).count(), 1, "{printed}");
    }
    assert!(printed.contains("across.mlir: communication between devices"), "{printed}");
    assert_eq!(printed.lines().last(), Some("1 passed, 2 failed, 1 skipped"));
    let given = folder.file("given.mlir", SCALED);
    let output = inflight(&["check", text(&given)]);
    let expected = "given.mlir: takes 1 argument; use `inflight run` to pass them\n";
    assert!(stdout(&output).contains(expected), "{}", stdout(&output));
}

#[test]
fn programs_are_formatted_and_explained() {
    let folder = Folder::new("explain");
    let program = folder.file("scaled.mlir", SCALED);
    let formatted = stdout(&inflight(&["fmt", text(&program)]));
    let again = folder.file("formatted.mlir", &formatted);
    assert_eq!(stdout(&inflight(&["fmt", text(&again)])), formatted);
    let explained = stdout(&inflight(&["explain", text(&program)]));
    assert!(explained.contains("1 kernel, 12 B read, 12 B written"), "{explained}");
    assert!(!explained.contains("load"), "{explained}");
    let with_ir = stdout(&inflight(&["explain", text(&program), "--ir"]));
    assert!(with_ir.contains("load") && with_ir.contains("store"), "{with_ir}");
    let run = ["run", text(&program), "--random", "1", "--repeat", "5", "--profile"];
    let profiled = stdout(&inflight(&run));
    assert!(profiled.contains("in 5 launches of 1 kernel"), "{profiled}");
    assert!(profiled.contains("scaled.mlir:2:3"), "{profiled}");
    let json = stdout(&inflight(&[&run[..], &["--json"]].concat()));
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json["profile"]["kernels"][0]["launches"], 5);
    let json = stdout(&inflight(&["explain", text(&program), "--json"]));
    assert_eq!(
        serde_json::from_str::<serde_json::Value>(&json).unwrap()["kernels"][0]["bytes_read"],
        12
    );
    let page = folder.0.join("page.html");
    assert!(inflight(&["explain", text(&program), "--html", text(&page)]).status.success());
    assert!(std::fs::read_to_string(&page).unwrap().contains("stablehlo.add"));
}

/// A file that is part of the repository.
fn program(name: &str) -> String {
    format!("{}/../../programs/{name}", env!("CARGO_MANIFEST_DIR"))
}

fn train(step: &str, data: &str, more: &[&str]) -> Output {
    let (step, predict) = (program(step), program("digits_predict.mlir"));
    let mut arguments = vec!["run", &step, "--train", data, "--predict", &predict];
    arguments.extend(more);
    inflight(&arguments)
}

#[test]
fn training_learns_the_digits() {
    let folder = Folder::new("train");
    let learned = folder.0.join("learned");
    let digits = program("digits.csv.gz");
    let more = ["--epochs", "12", "--output", text(&learned)];
    let trained = train("digits_step.mlir", &digits, &more);
    assert!(trained.status.success(), "{}", stderr(&trained));
    let printed = stdout(&trained);
    assert!(printed.starts_with("1438 rows learned in 264 steps of 64:"), "{printed}");
    let accuracy = printed.lines().last().and_then(|line| line.split(' ').rev().nth(1));
    let accuracy: f32 = accuracy.unwrap().parse().unwrap();
    assert!(accuracy > 93.0, "{printed}");
    assert!(learned.join("out_12.npy").exists() && !learned.join("out_13.npy").exists());
    // Training is reproducible for a seed.
    let json = |seed: &str| -> serde_json::Value {
        let more = ["--epochs", "2", "--json", "--random", seed];
        serde_json::from_str(&stdout(&train("digits_step.mlir", &digits, &more))).unwrap()
    };
    let (first, again, other) = (json("3"), json("3"), json("4"));
    assert_eq!((&first["loss"], first["steps"].as_u64()), (&again["loss"], Some(44)));
    assert_ne!(first["loss"], other["loss"]);
}

#[test]
fn untrainable_programs_and_data_are_named() {
    let folder = Folder::new("untrained");
    let narrow = folder.file("narrow.csv", "1,2,0\n3,4,1\n");
    let few = folder.file("few.csv", &format!("{}\n", ["1"; 65].join(",")).repeat(9));
    let broken = folder.file("broken.csv", "1,2,0\n1,two,1\n");
    let digits = program("digits.csv.gz");
    let cases = [
        (train("digits_step.mlir", "nowhere.csv", &[]), "nowhere.csv"),
        (train("digits_step.mlir", text(&narrow), &[]), "there are rows of 2 numbers"),
        (train("digits_step.mlir", text(&broken), &[]), "\"two\" in line 2 is not a number"),
        (train("digits_step.mlir", text(&few), &[]), "it takes 359 rows, and 1 are kept"),
        (train("digits_predict.mlir", &digits, &[]), "is no training step of this data"),
        (train("digits_step.mlir", &digits, &["--repeat", "2"]), "--repeat"),
        (train("digits_step.mlir", &digits, &["--sync"]), "--sync"),
        (train("digits_step.mlir", &digits, &["--async"]), "--async"),
        (train("digits_step.mlir", &digits, &["--tolerance", "0.1"]), "--tolerance"),
        (train("digits_step.mlir", &digits, &["--input", "x.npy"]), "--input"),
        (train("digits_step.mlir", &digits, &["--inputs", "x"]), "--inputs"),
        (train("digits_step.mlir", &digits, &["--epochs", "0"]), "--epochs 0: nothing would be"),
        (train("digits_step.mlir", &digits, &["--epochs", "-1"]), "invalid value '-1'"),
        (
            train("digits_step.mlir", &digits, &["--epochs", "18446744073709551615"]),
            "--epochs 18446744073709551615: 22 steps each are more than can be counted",
        ),
        (inflight(&["run", &program("digits_step.mlir"), "--train", &digits]), "--predict"),
    ];
    for (output, expected) in cases {
        assert_eq!(output.status.code(), Some(2), "{expected}: {}", stderr(&output));
        assert!(stderr(&output).contains(expected), "{expected}: {}", stderr(&output));
    }
}

const STEP: &str = "func.func @main(%w: tensor<2xf32>, %x: tensor<4x2xf32>, %y: tensor<4xi32>) -> (tensor<2xf32>, tensor<f32>) {
  %loss = stablehlo.constant dense<0.5> : tensor<f32>
  return %w, %loss : tensor<2xf32>, tensor<f32>
}
";

const PREDICT: &str = "func.func @main(%w: tensor<2xf32>, %x: tensor<2x2xf32>) -> tensor<2xi32> {
  %0 = stablehlo.constant dense<1> : tensor<2xi32>
  return %0 : tensor<2xi32>
}
";

/// Predicts two values for each row, which its dynamic result type does not state.
const TWICE: &str = "func.func @main(%w: tensor<2xf32>, %x: tensor<?x2xf32>) -> tensor<?xf32> {
  %0 = stablehlo.constant dense<0.0> : tensor<f32>
  %1 = stablehlo.reduce(%x init: %0) applies stablehlo.add across dimensions = [1] : (tensor<?x2xf32>, tensor<f32>) -> tensor<?xf32>
  %2 = stablehlo.concatenate %1, %1, dim = 0 : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
  return %2 : tensor<?xf32>
}
";

/// Trains on ten rows of two values with these labels.
fn train_small(folder: &Folder, step: &str, predict: &str, labels: [&str; 2]) -> Output {
    let data: String = (0..10).map(|row| format!("{row},1,{}\n", labels[row % 2])).collect();
    let files = [("step.mlir", step), ("predict.mlir", predict), ("data.csv", &data)];
    let [step, predict, data] = files.map(|(name, content)| folder.file(name, content));
    let output = folder.0.join("learned");
    let mut arguments = vec!["run", text(&step), "--train", text(&data)];
    arguments.extend(["--predict", text(&predict), "--epochs", "3", "--output", text(&output)]);
    inflight(&arguments)
}

#[test]
fn mismatched_step_and_prediction_are_rejected() {
    let folder = Folder::new("small");
    let good = train_small(&folder, STEP, PREDICT, ["0", "1"]);
    assert!(good.status.success(), "{}", stderr(&good));
    assert!(stdout(&good).contains("6 steps of 4"), "{}", stdout(&good));
    assert!(stdout(&good).ends_with("accuracy on 2 other rows: 50.0 %\n"), "{}", stdout(&good));

    let column = PREDICT.replace("tensor<2xi32>", "tensor<2x1xi32>");
    let steps = [
        (STEP.replace("4x", "0x"), "is f32[0, 2], which has no rows"),
        (
            STEP.replace("%w: tensor<2x", "%w: tensor<3x")
                .replace("return %w", "return %v")
                .replace(
                    "%loss =",
                    "%v = stablehlo.slice %w [0:2] : (tensor<3xf32>) -> tensor<2xf32>\n  %loss =",
                ),
            "argument w is f32[3], and the result in its place",
        ),
        (
            STEP.replace("tensor<f32>", "tensor<2xf32>"),
            "its last result, the loss, is f32[2], and one number is expected",
        ),
    ];
    let predicts = [
        (PREDICT.replace("2x2x", "2x3x"), "is f32[2, 3], and there are rows of 2 numbers"),
        (PREDICT.replace("2x2x", "2x2x1x"), "is f32[2, 2, 1], and there are rows of 2 numbers"),
        (column, "its result is i32[2, 1], and one number for each of 2 rows is expected"),
        (
            PREDICT.replace("tensor<2xi32>", "tensor<1xi32>"),
            "its result is i32[1], and one number for each of 2 rows is expected",
        ),
    ];
    let steps = steps.map(|(step, expected)| (step, PREDICT.to_owned(), ["0", "1"], expected));
    let predicts =
        predicts.map(|(predict, expected)| (STEP.to_owned(), predict, ["0", "1"], expected));
    let label = (STEP.replace("i32", "i8"), PREDICT.to_owned(), ["0", "128"], "no i8 is that");
    for (step, predict, labels, expected) in steps.into_iter().chain(predicts).chain([label]) {
        let folder = Folder::new("unfit");
        let output = train_small(&folder, &step, &predict, labels);
        assert_eq!(output.status.code(), Some(2), "{expected}: {}", stderr(&output));
        assert!(stderr(&output).contains(expected), "{expected}: {}", stderr(&output));
        assert!(!folder.0.join("learned").exists(), "{expected}");
    }
}

#[test]
fn trained_state_is_saved_when_testing_fails() {
    let folder = Folder::new("unmeasured");
    let output = train_small(&folder, STEP, TWICE, ["0", "1"]);
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    let expected = "what was predicted for 2 rows is [4], and one number for each is expected";
    assert!(stderr(&output).contains(expected), "{}", stderr(&output));
    assert!(folder.0.join("learned/out_00.npy").exists());
}

#[test]
fn non_finite_loss_is_a_failure() {
    let folder = Folder::new("diverged");
    let output = train_small(&folder, &STEP.replace("0.5", "0x7FC00000"), PREDICT, ["0", "1"]);
    assert_eq!(output.status.code(), Some(1), "{}", stdout(&output));
    let said = stderr(&output);
    assert!(said.contains("is not finite at the end; likely there are labels"), "{said}");
    assert!(said.contains("learning rate is too large"), "{said}");
    assert!(!folder.0.join("learned").exists());
    assert!(stdout(&inflight(&["run", "--help"])).contains("Requires --predict"));
}

#[test]
fn file_of_the_wrong_type_is_named() {
    let folder = Folder::new("misfit");
    let program = folder.file("scaled.mlir", SCALED);
    let done = inflight(&["run", text(&program), "--random", "1", "--output", text(&folder.0)]);
    assert!(done.status.success(), "{}", stderr(&done));
    let other = folder.file("other.mlir", &SCALED.replace("3xf32", "4xf32"));
    let values = folder.0.join("out_00.npy");
    let done = inflight(&["run", text(&other), "--input", text(&values)]);
    let expected = format!("argument 0 (x) is f32[4], {} holds f32[3]", values.display());
    assert!(stderr(&done).contains(&expected), "{}", stderr(&done));
}
