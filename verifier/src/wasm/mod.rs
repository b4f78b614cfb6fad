//! WebAssembly modules: kernels over `v128` and scalars, and beside each a wrapper for callers that have no `v128`.
//!
//! *Equality:* types, locals and every operator of a kernel equal the `stacked` program; a wrapper is the one that
//! there is for its kernel. *Obligations*, from the bytes and what the source selected alone: kernels hold locals,
//! constants and register SIMD of the profile's list and nothing else; what moves lanes, what leaves the racks and what
//! is relaxed is exactly what was selected; regions are contiguous; the module has nothing but its kernels, wrappers
//! and one memory. Runs hold bodies and transfers too ([`runs`]).

mod equality;
mod module;
mod operators;
mod runs;

use crate::crossing::crosses;
use crate::facts::{Counted, FunctionFacts, Metadata};
use crate::obligations::{Obligation, check_counts};
use crate::{Difference, FunctionReport, Machine, Report, broken, differs, differs_at};
use module::{Body, Fault, Module};
use rake_ir::diag::{Code, Diagnostic};
use rake_ir::machine::abi::WEBASSEMBLY;
use rake_ir::machine::wasm::{ALL, Wasm};
use rake_ir::machine::{Class, Cond, Inst, Kind, MachOp};
use rake_ir::profile::{Family, Profile};
use rake_ir::selected;
use rake_ir::stacked::Program;
use rake_ir::types::Ty;
use smol_str::SmolStr;
use std::collections::BTreeSet;
use std::sync::OnceLock;
use wasmparser::{ExternalKind, MemArg, Operator, ValType};

/// The export of the memory, and what wrappers' names end in.
const MEMORY: &str = "memory";

/// The numbers of a kernel and its wrapper.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Pair {
    kernel: u32,
    /// A run has none.
    wrapper: Option<u32>,
}

fn wrapper_name(name: &str) -> String {
    format!("{name}.{MEMORY}")
}

/// The type of a value of a class.
fn type_of(class: Class) -> ValType {
    match class {
        Class::G | Class::S => ValType::I32,
        Class::L => ValType::I64,
        Class::F => ValType::F32,
        Class::V | Class::K => ValType::V128,
    }
}

/// What is known of the instructions of a profile.
#[derive(Clone, Debug)]
pub(crate) struct Rows {
    profile: Profile,
    /// Whether each row moves lanes, in the table's order.
    crosses: &'static [bool],
    /// Of the rows that say the same with their operands the other way round, the first.
    first: &'static [Wasm],
}

impl Rows {
    /// Those of a profile.
    pub(crate) fn of(profile: Profile) -> Rows {
        static CROSSES: OnceLock<Vec<bool>> = OnceLock::new();
        static FIRST: OnceLock<Vec<Wasm>> = OnceLock::new();
        let lanes = profile.lanes_of_bits(32);
        let crosses = CROSSES.get_or_init(|| ALL.iter().map(|op| crosses(op.info(), lanes)).collect());
        let first = FIRST.get_or_init(|| ALL.iter().map(|&op| first_form(op)).collect());
        Rows { profile, crosses, first }
    }

    /// What a row counts as, `operand` giving its first; `None` where the profile lacks it.
    pub(crate) fn of_machine<R>(&self, run: bool, inst: &Inst<R>, operand: Option<&Inst<R>>) -> Option<Counted> {
        let constant = operand.is_some_and(|operand| operand.op.info().kind == Kind::Const);
        match inst.op {
            MachOp::Wasm(op) if inst.op.is_in(self.profile) => Some(self.counted(op, constant, run)),
            _ => None,
        }
    }

    /// Whether an instruction puts a scalar into every lane.
    pub(crate) fn spreads<R>(&self, inst: &Inst<R>) -> bool {
        matches!(inst.op, MachOp::Wasm(op) if is_splat(op))
    }

    /// A scalar constant in every lane is a constant too, which may stand in any region.
    fn counted(&self, op: Wasm, of_constant: bool, run: bool) -> Counted {
        if of_constant && is_splat(op) || run && is_test(op) || !op.is_instruction() {
            return Counted::default();
        }
        let op = self.first[op as usize];
        let (info, name) = (op.info(), SmolStr::new_static(op.info().name));
        let neutral = matches!(info.kind, Kind::Move | Kind::Const);
        let word = matches!(info.kind, Kind::Word | Kind::Boundary);
        Counted {
            multiply_add: None,
            cross_lane: self.crosses[op as usize].then(|| name.clone()),
            word: word.then(|| name.clone()),
            relaxed: info.mnemonics[Profile::WasmSimd128.variant()].is_none().then(|| name.clone()),
            operation: (!neutral).then_some(name),
        }
    }
}

/// Whether a row reads or writes memory.
fn is_transfer(op: Wasm) -> bool {
    op.info().kind == Kind::Transfer
}

/// Whether a row tells how two scalars compare; in a run it is part of a marker.
fn is_test(op: Wasm) -> bool {
    Cond::ALL.iter().any(|&cond| op == Wasm::test(true, cond) || op == Wasm::test(false, cond))
}

/// Whether a row puts a scalar into every lane.
fn is_splat(op: Wasm) -> bool {
    matches!(op, Wasm::F32x4Splat | Wasm::I32x4Splat | Wasm::I64x2Splat)
}

/// The first row of those that are a form of each other.
fn first_form(op: Wasm) -> Wasm {
    let names = |from: Wasm, to: Wasm| from.info().forms.iter().any(|form| form.op == MachOp::Wasm(to));
    ALL.iter().copied().find(|&other| other == op || names(op, other) || names(other, op)).unwrap_or(op)
}

/// The facts of a program as it was selected, or of the stacked one where that is not known.
pub fn metadata(program: &Program, selected: Option<&selected::Program>) -> Metadata {
    let profile = program.profile;
    let Some(machine) = Machine::of(profile) else { return Metadata { profile, functions: Vec::new() } };
    let facts = program.functions.iter().enumerate().map(|(at, function)| {
        let order = function.code.iter().map(|inst| inst.region);
        match selected.and_then(|program| program.functions.get(at)) {
            Some(selected) => FunctionFacts::selected(selected, &machine, true, order),
            None => FunctionFacts::stacked(function, &machine),
        }
    });
    Metadata { profile, functions: facts.collect() }
}

/// Checks a module against the program it was written from: equality and obligations.
///
/// # Errors
/// One diagnostic for each violation.
pub fn verify(
    module: &[u8],
    program: &Program,
    selected: Option<&selected::Program>,
) -> Result<Report, Vec<Diagnostic>> {
    let metadata = metadata(program, selected);
    check(module, &metadata, Some(program))
}

/// Checks the obligations of a module from its bytes.
///
/// # Errors
/// One diagnostic for each violation.
pub fn obligations(module: &[u8], metadata: &Metadata) -> Result<Report, Vec<Diagnostic>> {
    check(module, metadata, None)
}

fn check(bytes: &[u8], metadata: &Metadata, program: Option<&Program>) -> Result<Report, Vec<Diagnostic>> {
    let spanless = |code: Code, text: String| vec![Diagnostic::spanless(code, text)];
    if metadata.profile.info().family != Family::Wasm {
        return Err(spanless(Code::ObjectMalformed, format!("there are no modules for {}", metadata.profile)));
    }
    let module = Module::read(bytes).map_err(|fault| match fault {
        Fault::Malformed(text) => spanless(Code::ObjectMalformed, text),
        Fault::Broken(obligation, text) => spanless(Code::ObligationBroken, format!("{}: {text}", obligation.words())),
    })?;
    let pairs = pairs(&module, metadata)
        .map_err(|text| spanless(Code::ObligationBroken, format!("{}: {text}", Obligation::NothingElse.words())))?;
    let rows = Rows::of(metadata.profile);
    let (mut report, mut wrong) = (Report::default(), Vec::new());
    for (at, (facts, pair)) in metadata.functions.iter().zip(&pairs).enumerate() {
        let function = program.and_then(|program| program.functions.get(at));
        wrong.extend(
            check_wrapper(&module, facts, pair)
                .err()
                .map(|text| broken(facts, 0, format!("{}: {text}", Obligation::Wrappers.words()))),
        );
        let Some(body) = module.bodies.get(pair.kernel as usize) else { continue };
        if let Some(function) = function {
            let difference: Result<(), Difference> = equality::compare(body, function);
            wrong.extend(difference.err().map(|difference| differs_at(facts, difference)));
        }
        wrong.extend(check_kernel(&module, &rows, facts, pair.kernel, body));
        report.functions.push(FunctionReport {
            name: facts.name.clone(),
            bytes: body.range.len() as u32,
            instructions: body.code.len() as u32,
            constant_loads: body.code.iter().filter(|(op, _)| matches!(op, Operator::V128Const { .. })).count() as u32,
            multiply_adds: facts.relaxed.values().sum(),
        });
    }
    if let Some(program) = program {
        if !program.functions.iter().map(|f| &f.name).eq(metadata.functions.iter().map(|f| &f.name)) {
            wrong.push(Diagnostic::spanless(Code::ObjectDiffers, "the metadata is that of another program"));
        }
        if let Err(text) = equality::check_custom(&module, program, &pairs) {
            wrong.push(Diagnostic::spanless(Code::ObjectDiffers, text));
        }
    }
    if wrong.is_empty() { Ok(report) } else { Err(wrong) }
}

/// The kernels and wrappers that the module exports: the memory, then each function's, and there are no others.
fn pairs(module: &Module<'_>, metadata: &Metadata) -> Result<Vec<Pair>, String> {
    let mut exports = module.exports.iter().copied();
    let mut next = |name: &str, kind: ExternalKind| match exports.next() {
        Some((found, of, number)) if found == name && of == kind => Ok(number),
        Some((found, ..)) => Err(format!("`{found}` is exported where `{name}` is expected")),
        None => Err(format!("`{name}` is not exported")),
    };
    next(MEMORY, ExternalKind::Memory)?;
    let mut pairs = Vec::with_capacity(metadata.functions.len());
    for facts in &metadata.functions {
        let kernel = next(&facts.name, ExternalKind::Func)?;
        let wrapped = facts.result.map(|_| next(&wrapper_name(&facts.name), ExternalKind::Func));
        let wrapper = wrapped.transpose()?;
        pairs.push(Pair { kernel, wrapper });
    }
    if let Some((name, ..)) = exports.next() {
        return Err(format!("`{name}` is exported too"));
    }
    let wanted = pairs.iter().flat_map(|pair| [Some(pair.kernel), pair.wrapper]).flatten().count();
    let numbers: BTreeSet<u32> = pairs.iter().flat_map(|pair| [Some(pair.kernel), pair.wrapper]).flatten().collect();
    if numbers.len() != wanted || numbers.len() != module.bodies.len() {
        return Err("there are other functions than one kernel and one wrapper for each".into());
    }
    Ok(pairs)
}

fn class_of(ty: Ty) -> ValType {
    type_of(WEBASSEMBLY.class_of(ty))
}

/// Checks that a wrapper takes addresses for racks, loads those, calls its kernel and stores a rack.
fn check_wrapper(module: &Module<'_>, facts: &FunctionFacts, pair: &Pair) -> Result<(), String> {
    let Some(wrapper) = pair.wrapper else { return Ok(()) };
    let what = || format!("`{}`", wrapper_name(&facts.name));
    let results: Vec<ValType> = facts.result.into_iter().map(class_of).collect();
    let stores = results == [ValType::V128];
    let by_address = |ty: ValType| if ty == ValType::V128 { ValType::I32 } else { ty };
    let params: Vec<ValType> = facts.params.iter().map(|&ty| class_of(ty)).collect();
    let out = stores.then_some(ValType::I32);
    let types: Vec<ValType> = out.into_iter().chain(params.iter().map(|&ty| by_address(ty))).collect();
    let results = if stores { vec![] } else { results };
    let found = module.type_of(wrapper).ok_or_else(|| format!("{} has no type", what()))?;
    if found.params() != types || found.results() != results {
        return Err(format!("{} has another type than it should", what()));
    }
    let memarg = MemArg { align: 0, max_align: 4, offset: 0, memory: 0 };
    let mut code: Vec<Operator<'_>> = out.iter().map(|_| Operator::LocalGet { local_index: 0 }).collect();
    for (at, &ty) in params.iter().enumerate() {
        code.push(Operator::LocalGet { local_index: (at + usize::from(out.is_some())) as u32 });
        if ty == ValType::V128 {
            code.push(Operator::V128Load { memarg });
        }
    }
    code.push(Operator::Call { function_index: pair.kernel });
    if stores {
        code.push(Operator::V128Store { memarg });
    }
    code.push(Operator::End);
    let body = module.bodies.get(wrapper as usize).ok_or_else(|| format!("{} has no code", what()))?;
    if !body.locals.is_empty() || !body.code.iter().map(|(operator, _)| operator).eq(&code) {
        return Err(format!("{} is not the wrapper that its kernel has", what()));
    }
    Ok(())
}

/// The obligations of a kernel.
fn check_kernel(
    module: &Module<'_>,
    rows: &Rows,
    facts: &FunctionFacts,
    number: u32,
    body: &Body<'_>,
) -> Vec<Diagnostic> {
    let mut wrong = Vec::new();
    let params: Vec<ValType> = facts.params.iter().map(|&ty| class_of(ty)).collect();
    let results: Vec<ValType> = facts.result.into_iter().map(class_of).collect();
    let plain = |found: &wasmparser::FuncType| found.params() == params && found.results() == results;
    if !module.type_of(number).is_some_and(plain) {
        wrong.push(differs(facts, format!("`{}` has another type than its source", facts.name)));
    }
    let mut say = |at: u32, obligation: Obligation, text: String| {
        wrong.push(broken(facts, at, format!("{}: {text}", obligation.words())));
    };
    let run = facts.result.is_none();
    if run {
        runs::check(facts, &params, body, &mut say);
    }
    let mut written: BTreeSet<u32> = (0..params.len() as u32).collect();
    let mut counted: Vec<(u32, Counted)> = Vec::new();
    for (index, (operator, at)) in body.code.iter().enumerate() {
        let at = (at - body.range.start) as u32;
        match operator {
            Operator::LocalGet { local_index } => {
                if !run && !written.contains(local_index) {
                    say(at, Obligation::DefinedReads, format!("local {local_index}, which nothing wrote, is read"));
                }
            }
            Operator::LocalSet { local_index } | Operator::LocalTee { local_index } => {
                written.insert(*local_index);
            }
            Operator::End if index + 1 == body.code.len() => {}
            operator if run && runs::is_control(operator) => {}
            operator => match operators::row(operator, rows.profile).filter(|op| run || !is_transfer(*op)) {
                Some(op) => {
                    let before =
                        index.checked_sub(1).and_then(|index| operators::row(&body.code[index].0, rows.profile));
                    let constant = before.is_some_and(|before| before.info().kind == Kind::Const);
                    counted.push((at, rows.counted(op, constant, run)));
                }
                None => {
                    let obligation = Obligation::of_refusal(operators::refusal(operator));
                    let text = format!("`{}` is not in the list of {}", operators::name(operator), rows.profile);
                    say(at, obligation, text);
                }
            },
        }
    }
    check_counts(facts, &counted, &mut say);
    wrong
}
