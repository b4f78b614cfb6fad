//! `--check-passes`: evaluates the program before and after each pass and names the first that changed a result.
//!
//! Every pass must keep every bit (a NaN stays some NaN), except that `fuse` may round differently within a region: its
//! chosen graphs are held against their source graphs over exact numbers instead.

use super::evaluate::arguments;
use super::runs::{self, Parameter, Stopped};
use super::{Ir, Observer, Pass};
use rake_ir::diag::{Code, Diagnostic};
use rake_ir::lane::{FuseLevel, ValueId, eval_function};
use rake_ir::ops::Op;
use rake_ir::types::Ty;
use rake_ir::value::{Lanes, is_nan};

/// Sets of arguments tried per function.
const ROUNDS: usize = 12;

/// Compares what the program computes before and after each pass.
#[derive(Default)]
pub struct Agreement;

impl Observer for Agreement {
    fn wants_before(&self, _index: usize, _pass: &Pass) -> bool {
        true
    }

    fn needs_valid(&self) -> bool {
        true
    }

    fn after(&mut self, _index: usize, pass: &Pass, before: Option<&Ir>, after: &Ir) -> Result<(), Diagnostic> {
        let Some(before) = before else { return Ok(()) };
        if let (Ir::Tined(_), Ir::Fused(program)) = (before, after)
            && program.fuse != FuseLevel::Exact
        {
            return rake_passes::fuse::prove_program(program).map_err(|faults| disagree(pass, &faults.join("; ")));
        }
        for name in before.names() {
            if let (Some(old), Some(new)) = (before.signature(name), after.signature(name)) {
                if old != new {
                    return Err(disagree(pass, &format!("the types of `{name}` changed")));
                }
                compare(pass, before, after, name, &old)?;
            }
            if let (Some(old), Some(new)) = (before.run_parameters(name), after.run_parameters(name)) {
                if old != new {
                    return Err(disagree(pass, &format!("what `{name}` takes changed")));
                }
                compare_runs(pass, before, after, name, &old)?;
            }
        }
        Ok(())
    }
}

fn compare(pass: &Pass, before: &Ir, after: &Ir, name: &str, signature: &(Vec<Ty>, Ty)) -> Result<(), Diagnostic> {
    let (params, result) = signature;
    let Some((profile, _)) = before.made_for() else { return Ok(()) };
    for round in 0..ROUNDS {
        let arguments = arguments(params, profile, round);
        // What the language leaves without a result, a pass may not be asked to keep.
        let Ok(old) = before.eval(name, &arguments) else { continue };
        let new = after.eval(name, &arguments);
        if new.as_ref().is_ok_and(|new| old.same(new, result.elem())) {
            continue;
        }
        if new.is_ok() && reads_bits_of_nan(before, name, &arguments) {
            continue;
        }
        let new = new.map_or_else(|problem| problem, |new| new.show(*result));
        let call = call(name, params, &arguments);
        return Err(disagree(pass, &format!("{call} was {} and is {new}", old.show(*result))));
    }
    Ok(())
}

fn compare_runs(pass: &Pass, before: &Ir, after: &Ir, name: &str, params: &[Parameter]) -> Result<(), Diagnostic> {
    let Some((profile, _)) = before.made_for() else { return Ok(()) };
    for round in 0..ROUNDS {
        let Some(passed) = runs::passed(params, profile, round) else { continue };
        let (mut old, mut new) = (passed.clone(), passed);
        let ended = before.execute(name, &mut old);
        if matches!(ended, Err(Stopped::Broken(_))) {
            continue;
        }
        let after_ended = after.execute(name, &mut new);
        let (was, is) = (runs::left(params, profile, &old), runs::left(params, profile, &new));
        let alike = match (&ended, &after_ended) {
            (Ok(()), Ok(())) => runs::same(&was, &is),
            // Racks in flight may stop before those ahead of them are written: what a trap leaves nobody is promised.
            (Err(was), Err(is)) => was.same(is),
            _ => false,
        };
        if alike || after_ended.is_ok() && bitcasts_floats(before, name) {
            continue;
        }
        let told = |ended: &Result<(), Stopped>, left: &[_]| match ended {
            Ok(()) => format!("left {}", runs::show(left)),
            Err(stopped) => format!("ended by `{}` and left {}", stopped.show(), runs::show(left)),
        };
        let (was, is) = (told(&ended, &was), told(&after_ended, &is));
        return Err(disagree(pass, &format!("on round {round} of its memory `{name}` {was}, and now {is}")));
    }
    Ok(())
}

/// Whether a run takes floats for bits: the sign and payload of a NaN are the machine's choice.
fn bitcasts_floats(ir: &Ir, name: &str) -> bool {
    let Ir::Fused(program) = ir else { return false };
    let Some(function) = program.functions.iter().find(|function| function.name == name) else { return false };
    function
        .values
        .values()
        .any(|value| value.op == Op::Bitcast && value.args.iter().any(|&arg| function.values[arg].ty.elem().is_float()))
}

/// Whether a conversion of bits reads a NaN that an operation may have made: its sign and payload are the machine's choice.
fn reads_bits_of_nan(ir: &Ir, name: &str, arguments: &[Lanes]) -> bool {
    let Ir::Fused(program) = ir else { return false };
    let Some(function) = program.functions.iter().find(|function| function.name == name) else { return false };
    let Ok(run) = eval_function(function, program.profile, arguments) else { return false };
    let is_nan = |id: ValueId| {
        let elem = function.values[id].ty.elem();
        let mut lanes = run.get(id).into_iter().flat_map(|all| (0..all.len()).filter_map(|lane| all.get(lane)));
        lanes.any(|bits| is_nan(elem, bits))
    };
    function.order().any(|id| {
        let value = &function.values[id];
        let moved = |arg: ValueId| matches!(function.values[arg].op, Op::Param | Op::Const);
        value.op == Op::Bitcast && value.args.iter().any(|&arg| !moved(arg) && is_nan(arg))
    })
}

fn call(name: &str, params: &[Ty], arguments: &[Lanes]) -> String {
    let shown = params.iter().zip(arguments).map(|(ty, value)| value.show(*ty));
    format!("{name}({})", shown.collect::<Vec<_>>().join(", "))
}

fn disagree(pass: &Pass, what: &str) -> Diagnostic {
    let message = format!("the pass `{}` changed a result: {what}", pass.name);
    let help = "this is a fault of the compiler; --dump-pass shows the program before and after the pass";
    Diagnostic::spanless(Code::PassChangedResult, message).help(help)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pipeline::{Kind, PASSES};

    fn fused(op: &str) -> Ir {
        let text = format!(
            "rake fused 1\nprofile x86-sse2\nfuse full\n\nscratch f(x: f32s) -> f32s {{\n  %0 : f32s = param 0\n  \
             %1 : f32s = {op} %0, %0\n  return %1\n}}\n"
        );
        Ir::read(Kind::Fused, &text).unwrap_or_else(|problems| panic!("{problems:?}"))
    }

    #[test]
    fn the_first_pass_that_changes_a_result_is_named() {
        let pass = PASSES.iter().find(|pass| pass.name == "simplify").unwrap();
        let mut agreement = Agreement;
        assert!(agreement.after(0, pass, Some(&fused("add")), &fused("add")).is_ok());
        let problem = agreement.after(0, pass, Some(&fused("add")), &fused("mul")).unwrap_err();
        assert_eq!(problem.code, Code::PassChangedResult);
        assert!(problem.message.contains("simplify") && problem.message.contains("f("), "{}", problem.message);
    }

    #[test]
    fn bits_of_a_nan_are_the_machine_s() {
        let text = "rake fused 1\nprofile x86-sse2\nfuse full\n\nscratch f(x: f32s) -> i32s {\n  %0 : f32s = param 0\n  \
                    %1 : f32s = sqrt %0\n  %2 : i32s = bitcast %1\n  return %2\n}\n";
        let ir = Ir::read(Kind::Fused, text).unwrap_or_else(|problems| panic!("{problems:?}"));
        let lanes = |x: f32| [Lanes::splat(u64::from(x.to_bits()), 4)];
        assert!(reads_bits_of_nan(&ir, "f", &lanes(-1.0)));
        assert!(!reads_bits_of_nan(&ir, "f", &lanes(4.0)));
    }
}
