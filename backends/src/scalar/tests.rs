//! Selection on one lane: sequences checked by hand, and random graphs against the evaluator.

use super::select::ScalarTarget;
use crate::testing::random::{Random, graph, lanes};
use crate::testing::{dump, enter, leave};
use rake_ir::machine::bits::Bits;
use rake_ir::profile::Profile;
use rake_ir::value::Lanes;
use rake_ir::{fused, selected};
use rake_passes::select;

const SCALAR: Profile = Profile::Scalar;

fn compile(program: &fused::Program) -> selected::Program {
    let chosen = select::run(program, &ScalarTarget).unwrap_or_else(|e| panic!("{}\n{e:?}", fused::print(program)));
    selected::check(&chosen).unwrap_or_else(|e| panic!("{}\n{e:?}", selected::print(&chosen)));
    let again = selected::read(&selected::print(&chosen)).unwrap();
    assert_eq!(selected::print(&again), selected::print(&chosen));
    chosen
}

/// The operations that a body comes to.
fn operations(body: &str) -> Vec<&'static str> {
    let program = compile(&dump(SCALAR, body));
    program.functions[0].insts.iter().map(|inst| inst.op.name()).collect()
}

#[test]
fn lanes_of_one_move_for_nothing() {
    let one = |op: &str, to: &str| {
        operations(&format!("scratch f(a: f32s) -> {to} {{\n%0 : f32s = param 0\n%1 : {to} = {op}\nreturn %1\n}}"))
    };
    for op in ["sum %0", "product %0", "extract %0, 0"] {
        assert_eq!(one(op, "<f32>"), ["float_out"], "{op}");
    }
    for op in ["scan_sum %0", "rotate_left %0, 0", "shift_left %0, 0", "zip_high %0, %0", "unzip_odd %0, %0"] {
        assert!(one(op, "f32s").is_empty(), "{op}");
    }
    assert_eq!(one("shift_right %0, 1", "f32s"), ["const", "move"]);
    assert_eq!(one("minimum %0", "<f32>"), ["const", "number_or_f32", "float_out"]);
    assert_eq!(one("scan_maximum %0", "f32s"), ["const", "number_or_f32"]);
}

#[test]
fn random_graphs_keep_their_meaning() {
    let mut random = Random(3);
    for round in 0..400 {
        let result = ["f", "i", "u", "t"][round % 4];
        let size = 1 + random.below(40);
        let program = dump(SCALAR, &graph(&mut random, SCALAR, size, result));
        let chosen = compile(&program);
        let (source, function) = (&program.functions[0], &chosen.functions[0]);
        for _ in 0..8 {
            let args: Vec<Lanes> = source.params.iter().map(|p| lanes(&mut random, p.ty, SCALAR)).collect();
            let expected = fused::eval(&program, &source.name, &args).unwrap();
            let inputs: Vec<Bits> = args.iter().zip(&source.params).map(|(arg, p)| enter(arg, p.ty)).collect();
            let bits = selected::eval(function, SCALAR, &inputs).unwrap();
            let got = leave(&bits, function.result.unwrap().ty, SCALAR);
            let text = || format!("{}\n{}", fused::print(&program), selected::print(&chosen));
            assert!(
                got.same(&expected, function.result.unwrap().ty.elem()),
                "{args:?}: {got:?}, not {expected:?}\n{}",
                text()
            );
        }
    }
}
