//! `select` (fused → selected): machine operations from the backend's table.
//!
//! Every value that something still reads becomes the sequence that the table has for its operation, element and
//! profile. Exact shapes that machines have one instruction for are seen first ([`shape`]); what they swallow is not
//! computed. Masks mean something where the profile's instructions take them: there every step that may raise an
//! exception takes its value's mask. Elsewhere `sanitise` saw to inactive lanes. Uniforms are whole racks with equal
//! lanes, so `splat` and `bitcast` cost nothing. Constants are loads in front of their first reader; `allocate` decides
//! where they really live.
//!
//! ```text
//! %2 : f32s = const 2.0               %2 : v = load literal 0
//! %3 : f32s = neg %1            =>    %3 : v = fnmadd213ps %0, %1, %2
//! %4 : f32s = fma %0, %3, %2          result %3
//! ```

mod bodies;
mod build;
mod demand;
mod folding;
mod parts;
pub mod rule;
mod shape;
mod transfers;
mod words;

use build::Builder;
use rake_ir::diag::{Code, Diagnostic};
use rake_ir::fused;
use rake_ir::lane::{Open, Stmt, ValueId};
use rake_ir::machine::Class;
use rake_ir::machine::abi::Abi;
use rake_ir::ops::{Imm, Op, TypeRule};
use rake_ir::profile::Profile;
use rake_ir::selected;
use rake_ir::types::{Elem, Ty};
use rule::{Key, Rule, Target};
use shape::{Kept, Shape, Shapes};

/// Selects every function of a program.
///
/// # Errors
/// What the profile has no instructions for.
pub fn run(program: &fused::Program, target: &dyn Target) -> Result<selected::Program, Vec<Diagnostic>> {
    let mut functions = Vec::with_capacity(program.functions.len());
    let mut errors = Vec::new();
    for f in &program.functions {
        match function(f, program.profile, target) {
            Ok(f) => functions.push(f),
            Err(mut more) => errors.append(&mut more),
        }
    }
    let (profile, fuse) = (program.profile, program.fuse);
    if errors.is_empty() { Ok(selected::Program { profile, fuse, functions }) } else { Err(errors) }
}

/// Selects one function.
///
/// # Errors
/// As [`run`].
pub fn function(
    f: &fused::Function,
    profile: Profile,
    target: &dyn Target,
) -> Result<selected::Function, Vec<Diagnostic>> {
    if f.result.is_none() {
        return bodies::function(f, profile, target);
    }
    let order = order(f);
    let shapes = demand(f, profile, target, &order);
    let params = parameters(f, profile).map_err(|d| vec![d])?;
    let parts = parts::only_parts(f, profile, target, &order, &shapes);
    let racks = parts::only_logic(f, target, profile, &shapes);
    let mut builder = Builder::new(f, profile, target, params, parts, racks)?;
    let mut errors = Vec::new();
    for (id, region) in order {
        let Some(shape) = &shapes[index(id)] else { continue };
        if let Err(error) = builder.value(id, shape, region) {
            errors.push(error);
        }
    }
    if errors.is_empty() { builder.finish().map_err(|d| vec![d]) } else { Err(errors) }
}

fn index(id: ValueId) -> usize {
    id.into_raw().into_u32() as usize
}

/// Every value in program order, with the region that computes it.
fn order(f: &fused::Function) -> Vec<(ValueId, Option<u32>)> {
    let mut order = Vec::with_capacity(f.values.len());
    let mut regions = 0;
    for stmt in &f.body {
        match stmt {
            Stmt::Value(id) => order.push((*id, None)),
            Stmt::Region(region) => {
                order.extend(region.values.iter().map(|&id| (id, Some(regions))));
                regions += 1;
            }
            Stmt::Open(Open::Traverse { index, .. }) => order.push((*index, None)),
            Stmt::Open(_) | Stmt::Else | Stmt::Close(_) => {}
        }
    }
    order
}

/// The shape of each value that is needed: the result, and what needed shapes read.
fn demand(
    f: &fused::Function,
    profile: Profile,
    target: &dyn Target,
    order: &[(ValueId, Option<u32>)],
) -> Vec<Option<Shape>> {
    let seen = Shapes::new(f, profile, target, order);
    let mut needed = vec![false; f.values.len()];
    let mut shapes = vec![None; f.values.len()];
    f.result.into_iter().for_each(|result| needed[index(result)] = true);
    for &(id, _) in order.iter().rev() {
        if !needed[index(id)] {
            continue;
        }
        let shape = if Some(id) == f.result { seen.of_result(id) } else { seen.of(id) };
        let kept = if let Kept::Of(other) = shape.kept { Some(other) } else { None };
        for &read in shape.args.iter().chain(&shape.mask).chain(&kept) {
            needed[index(read)] = true;
        }
        shapes[index(id)] = Some(shape);
    }
    shapes
}

fn parameters(f: &fused::Function, profile: Profile) -> Result<Vec<selected::Param>, Diagnostic> {
    let abi = Abi::of(profile);
    let places = abi.places(f.params.iter().map(|p| p.ty));
    let mut params = Vec::with_capacity(places.len());
    // Only runs read their caller's frame.
    let run = f.result.is_none();
    for (param, place) in f.params.iter().zip(places) {
        let Some(place) = place.filter(|place| run || place.class != Class::S) else {
            let (most, what) = abi.most(abi.class_of(param.ty));
            let message = format!("`{}` has more parameters than {profile} has argument registers", f.name);
            return Err(Diagnostic::error(Code::TooManyArguments, param.span, message)
                .at(format!("`{}` would be passed in memory", param.name))
                .note(format!("the C calling convention passes {most} {what} in registers")));
        };
        let (name, ty, points_to, span) = (param.name.clone(), param.ty, param.points_to.clone(), param.span);
        params.push(selected::Param { name, ty, points_to, place, span });
    }
    Ok(params)
}

/// The element under which the table keys an operation.
fn key_elem(f: &fused::Function, id: ValueId) -> Elem {
    let value = &f.values[id];
    match value.op.info().types {
        TypeRule::Compare | TypeRule::Convert(..) | TypeRule::MaskTo(_) => {
            value.args.first().map_or(Elem::Bool, |&a| f.values[a].ty.elem())
        }
        _ => value.ty.elem(),
    }
}

/// Whether the profiles' tables know this type at all yet.
fn known(ty: Ty) -> bool {
    match ty {
        Ty::Rack(e) => matches!(e, Elem::F32) || e.is_int() && e.bits() <= 32,
        Ty::Uniform(e) => matches!(e, Elem::F32 | Elem::I32 | Elem::U32 | Elem::Bool),
        Ty::Mask(w) => w == 32,
        Ty::Address => true,
    }
}

/// The matrix of operation, element and profile: one line per operation and element, one column per profile.
pub fn matrix(target: &dyn Target, profiles: &[Profile]) -> String {
    use std::fmt::Write as _;
    let mut out = String::new();
    for row in rake_ir::ops::OPS {
        for elem in [Elem::F32, Elem::I32, Elem::U32, Elem::Bool] {
            for &profile in profiles {
                let text = match target.rule(Key::Op(row.op), elem, profile) {
                    Rule::Free(_) => "free".to_string(),
                    Rule::Planned(_) => "planned".to_string(),
                    Rule::Unsupported(why) => format!("- {why}"),
                    Rule::Steps(steps) => {
                        let names = steps.iter().map(|s| s.op.mnemonic(profile).unwrap_or("?"));
                        names.collect::<Vec<_>>().join(" ")
                    }
                };
                let _ = writeln!(out, "{} {elem} {profile}: {text}", row.name);
            }
        }
    }
    out
}

/// The bits of a constant value, one lane.
fn constant_bits(f: &fused::Function, id: ValueId) -> Option<u64> {
    let mut at = &f.values[id];
    while matches!(at.op, Op::Splat | Op::Bitcast) {
        let inner = &f.values[*at.args.first()?];
        if at.ty.elem().bits() != inner.ty.elem().bits() {
            return None;
        }
        at = inner;
    }
    match (at.op, &at.imm) {
        (Op::Const, Imm::Bits(bits)) => Some(*bits),
        _ => None,
    }
}
