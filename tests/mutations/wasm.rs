//! The verifier against damage to WebAssembly modules.

use crate::module_said::said;
use crate::support::{Built, built, ir_at};
use crate::{SETTINGS, others, paths};
use rake_ir::lane::FuseLevel;
use rake_ir::machine::wasm::ALL;
use rake_ir::machine::{LiteralId, MachOp};
use rake_ir::profile::Profile;
use rake_ir::selected;
use rake_ir::stacked::{Code, Inst, Program};
use rake_verifier::wasm::verify;
use rakec::pipeline::Ir;
use rayon::prelude::*;

/// An example compiled for a profile.
struct Made {
    name: String,
    module: Vec<u8>,
    selected: selected::Program,
    program: Program,
}

impl Made {
    fn accepts(&self, module: &[u8], program: &Program) -> bool {
        verify(module, program, Some(&self.selected)).is_ok()
    }
}

fn made(path: &std::path::Path, profile: Profile) -> Made {
    let text = std::fs::read_to_string(path).unwrap();
    let at = |to| ir_at(&text, profile, FuseLevel::Full, to).unwrap_or_else(|e| panic!("{}: {e:?}", path.display()));
    let (Ir::Selected(selected), Ir::Stacked(program)) = (at("select"), at("stackify")) else {
        panic!("the passes give other IRs");
    };
    let Ok(Built::Bytes(module)) = built(&text, profile, FuseLevel::Full) else {
        panic!("{}: no module for {profile}", path.display())
    };
    Made { name: format!("{} {profile}", path.display()), module, selected, program }
}

fn examples() -> Vec<Made> {
    let profiles = [Profile::WasmSimd128, Profile::WasmSimd128Relaxed];
    let examples: Vec<Made> = paths().iter().flat_map(|path| profiles.map(|profile| made(path, profile))).collect();
    for made in &examples {
        assert!(made.accepts(&made.module, &made.program), "{}", made.name);
    }
    examples
}

/// Changes one byte in every way; how many changes were tried, and how many left the same module.
fn change(made: &Made, at: usize) -> (u64, u64) {
    let right = said(&made.module);
    let mut changed = made.module.clone();
    let (mut tried, mut same) = (0, 0);
    for value in others(made.module[at], at) {
        changed[at] = value;
        tried += 1;
        if made.accepts(&changed, &made.program) {
            assert!(said(&changed) == right, "{} {at:#x}: {:#x} -> {value:#x}", made.name, made.module[at]);
            same += 1;
        }
    }
    (tried, same)
}

#[test]
fn every_changed_byte_of_a_module_is_rejected() {
    let examples = examples();
    let places = examples.iter().flat_map(|made| (0..made.module.len()).map(move |at| (made, at)));
    let places: Vec<(&Made, usize)> = places.collect();
    let sum = |a: (u64, u64), b: (u64, u64)| (a.0 + b.0, a.1 + b.1);
    let (tried, same) = places.par_iter().map(|&(made, at)| change(made, at)).reduce(|| (0, 0), sum);
    eprintln!("modules: {tried} changes tried, {same} left the same module, all others rejected");
    assert!(tried > 20_000, "{tried}");
}

/// Every program that differs in the instruction `at` of one function.
fn edits(program: &Program, function: usize, at: usize) -> Vec<Program> {
    let inst = &program.functions[function].code[at];
    let mut changed: Vec<Vec<Inst>> = vec![vec![], vec![inst.clone(), inst.clone()]];
    let mut with = |code: Code| changed.push(vec![Inst { code, ..inst.clone() }]);
    for local in 0..8 {
        with(Code::Get(local));
        with(Code::Set(local));
        with(Code::Tee(local));
    }
    for code in [Code::Loop, Code::If, Code::Else, Code::End, Code::Again, Code::Trap] {
        with(code);
    }
    let (literals, imm, offset) = match &inst.code {
        Code::Op { literals, imm, offset, .. } => (literals.clone(), *imm, *offset),
        _ => Default::default(),
    };
    for &op in ALL {
        with(Code::Op { op: MachOp::Wasm(op), literals: literals.clone(), imm, offset });
    }
    if let Code::Op { op, .. } = inst.code {
        for offset in [0, 1, 4, 16] {
            with(Code::Op { op, literals: literals.clone(), imm, offset });
        }
        for imm in [None, Some(0), Some(1), Some(2), Some(3), Some(16)] {
            with(Code::Op { op, literals: literals.clone(), imm, offset });
        }
        for literal in (0..6).map(LiteralId) {
            with(Code::Op { op, literals: [literal].into_iter().collect(), imm, offset });
        }
    }
    let edited = |code| {
        let mut edited = program.clone();
        edited.functions[function].code.splice(at..=at, code);
        edited
    };
    changed.into_iter().map(edited).filter(|edited| edited != program).collect()
}

#[test]
fn every_edited_stacked_instruction_is_rejected() {
    let examples = examples();
    let places = examples.iter().flat_map(|made| {
        let functions = made.program.functions.iter().enumerate();
        functions.flat_map(move |(index, f)| (0..f.code.len()).map(move |at| (made, index, at)))
    });
    let places: Vec<(&Made, usize, usize)> = places.collect();
    let each = places.par_iter().map(|&(made, function, at)| {
        let edits = edits(&made.program, function, at);
        for edited in edits.iter().filter(|edited| made.accepts(&made.module, edited)) {
            let again = rake_backends::wasm::module::emit(edited, &SETTINGS);
            assert!(again.as_ref() == Ok(&made.module), "{}: {function} {at}", made.name);
        }
        edits.len()
    });
    let tried: usize = each.sum();
    eprintln!("{tried} edits of {} stacked instructions tried, all others than the same code rejected", places.len());
    assert!(tried > 10_000);
}
