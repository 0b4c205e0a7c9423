//! Lowering tests: steps and graphs, shape inference, idiom recognition, and errors.

use inflight_hlo::interpret::{check, interpret};
use inflight_hlo::lower::{LowerError, lower};
use inflight_hlo::program::{Action, Program, Sequence, ValueType};
use inflight_ir::graph::{Op, SortOrder, SortResult};
use inflight_ir::interpret::Array;
use inflight_ir::{DType, Shape};

fn lowered(text: &str) -> Program {
    lower(&inflight_hlo::parse(text).unwrap(), None).unwrap()
}

fn error(text: &str) -> LowerError {
    lower(&inflight_hlo::parse(text).unwrap(), None).unwrap_err()
}

/// The ops of a program's first graph, in order.
fn ops(program: &Program) -> Vec<Op> {
    let Action::Compute { graph, .. } = &program.body.steps[0].action else { unreachable!() };
    graph.nodes.iter().map(|node| node.op.clone()).collect()
}

/// The kinds of the steps of a sequence, in order.
fn steps(sequence: &Sequence) -> Vec<&'static str> {
    let kind = |action: &Action| match action {
        Action::Compute { .. } => "compute",
        Action::While { .. } => "while",
        Action::Case { .. } => "case",
        Action::Call(_) => "call",
    };
    sequence.steps.iter().map(|step| kind(&step.action)).collect()
}

fn run(program: &Program, arguments: &[Array]) -> Vec<Array> {
    interpret(program, arguments, &mut |call, inputs| check(call, inputs)).unwrap()
}

#[test]
fn straight_line_code_with_calls_is_one_graph() {
    let program = lowered(
        "module {
          func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
            %0 = func.call @twice(%x) : (tensor<4xf32>) -> tensor<4xf32>
            %1 = func.call @twice(%0) : (tensor<4xf32>) -> tensor<4xf32>
            %unused = stablehlo.exponential %1 : tensor<4xf32>
            return %1 : tensor<4xf32>
          }
          func.func private @twice(%x: tensor<4xf32>) -> tensor<4xf32> {
            %two = stablehlo.constant dense<2.0> : tensor<4xf32>
            %0 = stablehlo.multiply %x, %two : tensor<4xf32>
            return %0 : tensor<4xf32>
          }
        }",
    );
    assert_eq!(steps(&program.body), ["compute"]);
    let Action::Compute { graph, origins } = &program.body.steps[0].action else { unreachable!() };
    // The argument, the constant and its broadcast once (CSE), and two multiplies; no dead nodes (DCE).
    assert_eq!(graph.nodes.len(), 5);
    assert_eq!(origins.len(), 5);
    assert_eq!((&*origins[4].name, origins[4].location.line), ("stablehlo.multiply", 10));
    assert!(program.constants.is_empty());
    let result = run(&program, &[Array::from_vec(vec![1f32, 2.0, 3.0, 4.0], 4)]);
    assert_eq!(result[0].to_vec::<f32>(), [4.0, 8.0, 12.0, 16.0]);
}

#[test]
fn loop_captures_invariants_and_carries_changing_values() {
    let program = lowered(
        "func.func @main(%n: tensor<i32>, %x: tensor<3xf32>, %w: tensor<3xf32>) -> (tensor<3xf32>, tensor<3xf32>) {
          %zero = stablehlo.constant dense<0> : tensor<i32>
          %one = stablehlo.constant dense<1> : tensor<i32>
          %v = stablehlo.negate %w : tensor<3xf32>
          %r:3 = stablehlo.while(%i = %zero, %y = %x, %same = %v) : tensor<i32>, tensor<3xf32>, tensor<3xf32>
           cond {
            %c = stablehlo.compare LT, %i, %n, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
            stablehlo.return %c : tensor<i1>
          } do {
            %j = stablehlo.add %i, %one : tensor<i32>
            %z = stablehlo.add %y, %same : tensor<3xf32>
            stablehlo.return %j, %z, %same : tensor<i32>, tensor<3xf32>, tensor<3xf32>
          }
          %after = stablehlo.add %r#1, %w : tensor<3xf32>
          return %after, %r#2 : tensor<3xf32>, tensor<3xf32>
        }",
    );
    assert_eq!(steps(&program.body), ["compute", "while", "compute"]);
    let Action::While { condition, body, carried } = &program.body.steps[1].action else {
        unreachable!()
    };
    // The counter and the value are carried; the limit and the addend are invariant.
    assert_eq!(*carried, 2);
    assert_eq!((condition.inputs, body.inputs), (4, 4));
    let arguments = [
        Array::from_vec(vec![5i32], ()),
        Array::from_vec(vec![1f32, 2.0, 3.0], 3),
        Array::from_vec(vec![1f32, 10.0, 100.0], 3),
    ];
    let results = run(&program, &arguments);
    assert_eq!(results[0].to_vec::<f32>(), [-3.0, -38.0, -397.0]);
    assert_eq!(results[1].to_vec::<f32>(), [-1.0, -10.0, -100.0]);
}

#[test]
fn loop_with_a_small_constant_trip_count_is_unrolled() {
    let with_iterations = |count: usize| {
        lowered(&format!(
            "func.func @main(%x: tensor<3xf32>) -> tensor<3xf32> {{
              %zero = stablehlo.constant dense<0> : tensor<i32>
              %one = stablehlo.constant dense<1> : tensor<i32>
              %n = stablehlo.constant dense<{count}> : tensor<i32>
              %r:2 = stablehlo.while(%i = %zero, %y = %x) : tensor<i32>, tensor<3xf32>
               cond {{
                %c = stablehlo.compare LT, %i, %n, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
                stablehlo.return %c : tensor<i1>
              }} do {{
                %j = stablehlo.add %i, %one : tensor<i32>
                %z = stablehlo.sine %y : tensor<3xf32>
                stablehlo.return %j, %z : tensor<i32>, tensor<3xf32>
              }}
              return %r#1 : tensor<3xf32>
            }}"
        ))
    };
    assert_eq!(steps(&with_iterations(5).body), ["compute"]);
    let long = with_iterations(1000);
    assert_eq!(steps(&long.body).last(), Some(&"while"));
    let x = Array::from_vec(vec![1f32, 2.0, 3.0], 3);
    let mut expected: Vec<f32> = x.to_vec();
    for value in &mut expected {
        for _ in 0..1000 {
            *value = (*value as f64).sin() as f32;
        }
    }
    assert_eq!(run(&long, &[x])[0].to_vec::<f32>(), expected);
}

#[test]
fn calls_without_effects_and_uses_are_eliminated() {
    let program = lowered(
        "func.func @main(%x: tensor<2xi32>) -> tensor<2xi32> {
          %a = stablehlo.custom_call @mine(%x) : (tensor<2xi32>) -> tensor<2xi32>
          %b = stablehlo.custom_call @pure(%x) {has_side_effect = false} : (tensor<2xi32>) -> tensor<2xi32>
          stablehlo.custom_call @log(%x) {has_side_effect = true} : (tensor<2xi32>) -> ()
          %c = stablehlo.add %a, %x : tensor<2xi32>
          return %c : tensor<2xi32>
        }",
    );
    let targets: Vec<&str> = program
        .body
        .steps
        .iter()
        .filter_map(|step| match &step.action {
            Action::Call(call) => Some(call.target.as_str()),
            _ => None,
        })
        .collect();
    assert_eq!(targets, ["mine", "log"]);
}

#[test]
fn dynamic_dimensions_are_resolved_by_argument_shapes() {
    let module = inflight_hlo::parse(
        "func.func @main(%x: tensor<?x3xf32>) -> tensor<?x3xf32> {
          %n = stablehlo.get_dimension_size %x, dim = 0 : (tensor<?x3xf32>) -> tensor<i32>
          %n1 = stablehlo.reshape %n : (tensor<i32>) -> tensor<1xi32>
          %three = stablehlo.constant dense<3> : tensor<1xi32>
          %shape = stablehlo.concatenate %n1, %three, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
          %i = stablehlo.dynamic_iota %shape, dim = 0 : (tensor<2xi32>) -> tensor<?x3xf32>
          %r = stablehlo.add %x, %i : tensor<?x3xf32>
          return %r : tensor<?x3xf32>
        }",
    )
    .unwrap();
    let message = lower(&module, None).unwrap_err().to_string();
    assert!(
        message.contains("has dynamic dimensions; give the shapes of all arguments"),
        "{message}"
    );
    for rows in [1, 4] {
        let ty = ValueType { shape: Shape::new(&[rows, 3]), dtype: DType::F32 };
        let program = lower(&module, Some(std::slice::from_ref(&ty))).unwrap();
        assert_eq!(program.results, [ty]);
        let x = Array::from_vec(vec![1f32; rows * 3], [rows, 3]);
        let last = *run(&program, &[x])[0].to_vec::<f32>().last().unwrap();
        assert_eq!(last, rows as f32);
    }
    let wrong = ValueType { shape: Shape::new(&[4, 2]), dtype: DType::F32 };
    let message = lower(&module, Some(&[wrong])).unwrap_err().to_string();
    assert!(message.contains("argument 0: expected tensor<?x3xf32>, found f32[4, 2]"), "{message}");
}

#[test]
fn all_lowering_errors_are_reported_at_once() {
    let error = error(
        "func.func @main(%x: tensor<4xf32>, %s: tensor<1xi32>) -> tensor<4xf32> {
          %0 = \"stablehlo.all_reduce\"(%x) <{replica_groups = dense<0> : tensor<1x1xi64>}> ({
          ^bb0(%a: tensor<f32>, %b: tensor<f32>):
            %r = stablehlo.add %a, %b : tensor<f32>
            stablehlo.return %r : tensor<f32>
          }) : (tensor<4xf32>) -> tensor<4xf32>
          %1 = stablehlo.add %0, %x : tensor<4xf32>
          %2 = stablehlo.dynamic_reshape %x, %s : (tensor<4xf32>, tensor<1xi32>) -> tensor<?xf32>
          %3 = stablehlo.slice %x [2:9] : (tensor<4xf32>) -> tensor<7xf32>
          return %1 : tensor<4xf32>
        }",
    );
    let lines: Vec<u32> = error.problems.iter().map(|problem| problem.location.line).collect();
    assert_eq!(lines, [2, 8, 9]);
    let message = error.to_string();
    assert!(message.contains("stablehlo.all_reduce: collective operations are not supported"));
    assert!(message.contains("its shape depends on values that are known only at run time"));
    assert!(message.contains("slice 2:9:1 is out of bounds for axis 0 of extent 4"), "{message}");
}

#[test]
fn invalid_programs_are_errors() {
    let cases = [
        (
            "module {
              func.func @main(%x: tensor<f32>) -> tensor<f32> {
                %0 = func.call @f(%x) : (tensor<f32>) -> tensor<f32>
                return %0 : tensor<f32>
              }
              func.func private @f(%x: tensor<f32>) -> tensor<f32> {
                %0 = func.call @f(%x) : (tensor<f32>) -> tensor<f32>
                return %0 : tensor<f32>
              }
            }",
            "@f calls itself",
        ),
        (
            "func.func @main(%x: tensor<f32>) -> tensor<f32> {
              %0 = func.call @g(%x) : (tensor<f32>) -> tensor<f32>
              return %0 : tensor<f32>
            }",
            "the module has no function @g",
        ),
        (
            "func.func @main(%x: tensor<2xf32>, %y: tensor<3xf32>) -> tensor<2xf32> {
              %0 = \"stablehlo.add\"(%x, %y) : (tensor<2xf32>, tensor<3xf32>) -> tensor<2xf32>
              return %0 : tensor<2xf32>
            }",
            "[3]",
        ),
        (
            "func.func @main(%x: tensor<2xf32>) -> tensor<3xf32> {
              %0 = \"stablehlo.exponential\"(%x) : (tensor<2xf32>) -> tensor<3xf32>
              return %0 : tensor<3xf32>
            }",
            "expected a result of type tensor<3xf32>, as declared, found f32[2]",
        ),
        (
            "func.func @main(%x: tensor<2xf8E4M3FN>) -> tensor<2xf8E4M3FN> {
              return %x : tensor<2xf8E4M3FN>
            }",
            "argument 0: element type f8E4M3FN is not supported",
        ),
        (
            "func.func @main(%x: tensor<i1>) -> tensor<i1> {
              %0 = \"stablehlo.while\"(%x) ({
              ^bb0(%a: tensor<i1>):
                stablehlo.return %a : tensor<i1>
              }, {
              ^bb0(%a: tensor<i1>, %b: tensor<i1>):
                stablehlo.return %a : tensor<i1>
              }) : (tensor<i1>) -> tensor<i1>
              return %0 : tensor<i1>
            }",
            "the condition takes 1, the body takes 2 and returns 1",
        ),
        (
            "module {
              func.func @a() { return }
              func.func @b() { return }
            }",
            "name the function to run @main",
        ),
    ];
    for (text, expected) in cases {
        let message = error(text).to_string();
        assert!(message.contains(expected), "{message:?} does not contain {expected:?}");
    }
}

#[test]
fn exponential_inlining_is_an_error() {
    let mut text = String::from("module {\n");
    for i in 0..40 {
        let (name, next) = (if i == 0 { "main".to_string() } else { format!("f{i}") }, i + 1);
        text += &format!(
            "func.func @{name}(%x: tensor<f32>) -> tensor<f32> {{
               %0 = func.call @f{next}(%x) : (tensor<f32>) -> tensor<f32>
               %1 = func.call @f{next}(%0) : (tensor<f32>) -> tensor<f32>
               return %1 : tensor<f32>
             }}\n"
        );
    }
    text += "func.func private @f40(%x: tensor<f32>) -> tensor<f32> { return %x : tensor<f32> }\n}";
    let message = error(&text).to_string();
    assert!(message.contains("more than 1000000 operations"), "{}", &message[..200]);
}

#[test]
fn donated_arguments_are_marked() {
    let program = lowered(
        "func.func @main(%x: tensor<2xf32> {tf.aliasing_output = 0 : i32}, %y: tensor<2xf32>,
                         %z: tensor<2xf32> {jax.buffer_donor = true}) -> tensor<2xf32> {
          %0 = stablehlo.add %x, %y : tensor<2xf32>
          return %0 : tensor<2xf32>
        }",
    );
    let donated: Vec<bool> = program.arguments.iter().map(|argument| argument.is_donated).collect();
    assert_eq!(donated, [true, false, true]);
}

/// JAX's lowerings of argmax, cumulative sums and float sorts are recognized.
#[test]
fn idioms_become_single_ops() {
    let argmax = lowered(
        "func.func @main(%x: tensor<3x5xf32>) -> tensor<3xi32> {
          %i = stablehlo.iota dim = 1 : tensor<3x5xi32>
          %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
          %zero = stablehlo.constant dense<0> : tensor<i32>
          %r:2 = stablehlo.reduce(%x init: %low), (%i init: %zero) across dimensions = [1] : (tensor<3x5xf32>, tensor<3x5xi32>, tensor<f32>, tensor<i32>) -> (tensor<3xf32>, tensor<3xi32>)
           reducer(%a: tensor<f32>, %b: tensor<f32>) (%j: tensor<i32>, %k: tensor<i32>) {
            %0 = stablehlo.compare GT, %a, %b, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
            %1 = stablehlo.compare NE, %a, %a, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
            %2 = stablehlo.or %0, %1 : tensor<i1>
            %3 = stablehlo.compare EQ, %a, %b, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
            %4 = stablehlo.compare LT, %j, %k, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
            %5 = stablehlo.and %3, %4 : tensor<i1>
            %6 = stablehlo.or %2, %5 : tensor<i1>
            %7 = stablehlo.select %2, %a, %b : tensor<i1>, tensor<f32>
            %8 = stablehlo.select %6, %j, %k : tensor<i1>, tensor<i32>
            stablehlo.return %7, %8 : tensor<f32>, tensor<i32>
          }
          return %r#1 : tensor<3xi32>
        }",
    );
    let argmax = ops(&argmax);
    assert_eq!(argmax.len(), 3, "{argmax:?}");
    assert!(matches!(argmax[1], Op::ArgReduce { axis: 1, .. }));
    let sums = lowered(
        "func.func @main(%x: tensor<100x4xf32>) -> tensor<100x4xf32> {
          %zero = stablehlo.constant dense<0.0> : tensor<f32>
          %r = \"stablehlo.reduce_window\"(%x, %zero) <{window_dimensions = array<i64: 100, 1>, padding = dense<[[99, 0], [0, 0]]> : tensor<2x2xi64>}> ({
          ^bb0(%a: tensor<f32>, %b: tensor<f32>):
            %s = stablehlo.add %a, %b : tensor<f32>
            stablehlo.return %s : tensor<f32>
          }) : (tensor<100x4xf32>, tensor<f32>) -> tensor<100x4xf32>
          return %r : tensor<100x4xf32>
        }",
    );
    assert!(matches!(ops(&sums)[..], [Op::Input, Op::Scan { axis: 0, .. }]));
    // JAX sorts floats by canonicalizing zeros and NaNs, then comparing in total order.
    let canonical = |x: &str, n: &str| {
        format!(
            "%z{n} = stablehlo.compare EQ, {x}, %zero, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
             %y{n} = stablehlo.select %z{n}, %zero, {x} : tensor<i1>, tensor<f32>
             %m{n} = stablehlo.compare NE, {x}, {x}, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
             %c{n} = stablehlo.select %m{n}, %nan, %y{n} : tensor<i1>, tensor<f32>"
        )
    };
    let sorted = lowered(&format!(
        "func.func @main(%x: tensor<9xf32>) -> tensor<9xf32> {{
          %r = \"stablehlo.sort\"(%x) <{{dimension = 0 : i64, is_stable = true}}> ({{
          ^bb0(%a: tensor<f32>, %b: tensor<f32>):
            %zero = stablehlo.constant dense<0.0> : tensor<f32>
            %nan = stablehlo.constant dense<0x7FC00000> : tensor<f32>
            {}
            {}
            %s = stablehlo.compare LT, %c0, %c1, TOTALORDER : (tensor<f32>, tensor<f32>) -> tensor<i1>
            stablehlo.return %s : tensor<i1>
          }}) : (tensor<9xf32>) -> tensor<9xf32>
          return %r : tensor<9xf32>
        }}",
        canonical("%a", "0"),
        canonical("%b", "1"),
    ));
    let [Op::Input, Op::Sort { order, result, .. }] = &ops(&sorted)[..] else {
        panic!("{:?}", ops(&sorted));
    };
    assert_eq!((order, result), (&SortOrder::ascending(1), &SortResult::Values));
}

/// The number of nodes of a `reduce_window` of 256 elements whose body adds and then applies `sines` sines.
fn window_ops(sines: usize) -> usize {
    let sine = |at: usize| format!("%s{} = stablehlo.sine %s{at} : tensor<f32>", at + 1);
    let sines_text: Vec<String> = (0..sines).map(sine).collect();
    let program = lowered(&format!(
        "func.func @main(%x: tensor<300xf32>, %first: tensor<f32>) -> tensor<45xf32> {{
          %r = \"stablehlo.reduce_window\"(%x, %first) <{{window_dimensions = array<i64: 256>}}> ({{
          ^bb0(%a: tensor<f32>, %b: tensor<f32>):
            %s0 = stablehlo.add %a, %b : tensor<f32>
            {}
            stablehlo.return %s{sines} : tensor<f32>
          }}) : (tensor<300xf32>, tensor<f32>) -> tensor<45xf32>
          return %r : tensor<45xf32>
        }}",
        sines_text.join("\n")
    ));
    ops(&program).len()
}

#[test]
fn sequential_window_reduction_is_bounded_by_body_size() {
    // 256 adds of a slice each; but a body of 30 operations is not expanded 256 times.
    assert!(window_ops(0) > 256, "{}", window_ops(0));
    assert!(window_ops(29) < 1024, "{}", window_ops(29));
}

/// The ops of a cumulative sum of 16 elements.
fn cumulative_sum_ops(initial: &str) -> Vec<Op> {
    ops(&lowered(&format!(
        "func.func @main(%x: tensor<16xf32>) -> tensor<16xf32> {{
          %first = stablehlo.constant dense<{initial}> : tensor<f32>
          %r = \"stablehlo.reduce_window\"(%x, %first) <{{window_dimensions = array<i64: 16>, padding = dense<[[15, 0]]> : tensor<1x2xi64>}}> ({{
          ^bb0(%a: tensor<f32>, %b: tensor<f32>):
            %s = stablehlo.add %a, %b : tensor<f32>
            stablehlo.return %s : tensor<f32>
          }}) : (tensor<16xf32>, tensor<f32>) -> tensor<16xf32>
          return %r : tensor<16xf32>
        }}"
    )))
}

#[test]
fn cumulative_windows_reuse_the_previous_one_only_with_an_identity_initial_value() {
    let is_padded = |ops: Vec<Op>| ops.iter().any(|op| matches!(op, Op::Pad(_)));
    assert!(!is_padded(cumulative_sum_ops("0.0")));
    assert!(is_padded(cumulative_sum_ops("1.0")));
}
