//! Plans of lane moves: shuffles, zips, shifts, rotations, extraction and insertion.
//!
//! Each of these operations is a [picture]: for every lane of the result, which lane of which operand, or
//! zero. The machine's moves are one table ([`moves`]); the search ([`search`]) finds the sequence ([`plan`]) of fewest
//! instructions, and among those the one of least latency.
//!
//! ```text
//! shuffle a, [3, 2, 1, 0]        pshufd a, 0x1b                                 on SSE2
//! zip_low a, b                   unpcklps a, b                                  on SSE2
//!                                unpcklps, unpckhps, vperm2f128                 on AVX2
//!                                vpermt2ps with a literal                       on AVX-512
//! ```

mod moves;
mod plan;
mod search;
#[cfg(test)]
mod tests;

use crate::picture::{self, ANY, Picture, Task};
use plan::{Form, Rack};
use rake_ir::machine::MachOp;
use rake_ir::machine::x86::Space;
use rake_ir::machine::x86::X86;
use rake_ir::ops::Imm;
use rake_passes::select::rule::{Instance, PlannedSrc, PlannedStep, Rule};

const NO_PLAN: &str = "no sequence of lane moves is known for it";

type Planned = Result<Vec<PlannedStep>, &'static str>;

/// The rule of a lane move whose result is a rack or a uniform in every lane.
pub(super) const fn rule(integer: bool) -> Rule {
    Rule::Planned(if integer { |i| whole(i, true) } else { |i| whole(i, false) })
}

/// The rule of an extraction whose result is left to the caller.
pub(super) const fn leave(integer: bool) -> Rule {
    Rule::Planned(if integer { word } else { low })
}

/// The rule of an insertion of a word.
pub(super) const fn insert_word() -> Rule {
    Rule::Planned(inserted)
}

/// The word into its lane of the low block, or into every lane, and a blend.
fn inserted(instance: &Instance) -> Planned {
    let Imm::Int(lane) = *instance.imm else { return Err(NO_PLAN) };
    let step = |op: X86, args: &[PlannedSrc], imm: Option<u8>| {
        let args = args.iter().cloned().collect();
        PlannedStep { op: MachOp::X86(op), args, imm }
    };
    let (rack, word, one) = (PlannedSrc::Arg(0), PlannedSrc::Arg(1), 1u8.checked_shl(lane).ok_or(NO_PLAN)?);
    let mut steps = match lane {
        1..4 => vec![step(X86::Pinsrd, &[rack.clone(), word], Some(lane as u8))],
        _ => vec![step(X86::MovdIn, &[word], None)],
    };
    if lane >= 4 {
        steps.push(step(X86::SplatLowd, &[PlannedSrc::Step(0)], None));
    }
    let from = PlannedSrc::Step(steps.len() as u8 - 1);
    steps.push(step(X86::Pblendd, &[rack, from], Some(if (1..4).contains(&lane) { 15 } else { one })));
    Ok(steps)
}

/// Whether an insertion needs no more of the uniform than lane 0. Elsewhere a uniform in every lane serves better.
pub(super) fn inserts_lane_0(imm: &Imm, space: Space) -> bool {
    matches!((imm, space), (Imm::Int(0), _) | (Imm::Int(2 | 3), Space::Sse))
}

fn form(instance: &Instance, integer: bool) -> Result<Form, &'static str> {
    Ok(Form { space: Space::of(instance.profile).ok_or(NO_PLAN)?, integer })
}

fn task(instance: &Instance, space: Space) -> Result<Task, &'static str> {
    picture::task(instance, inserts_lane_0(instance.imm, space)).ok_or(NO_PLAN)
}

/// The whole picture.
fn whole(instance: &Instance, integer: bool) -> Planned {
    let form = form(instance, integer)?;
    sequence(form, &task(instance, form.space)?)
}

fn sequence(form: Form, task: &Task) -> Planned {
    let rack = search::cheapest(form, task).ok_or(NO_PLAN)?;
    let (mut steps, last) = plan::steps(form, task.n, &rack);
    let (op, args) = match (rack, last) {
        (Rack::Given(0) | Rack::Made(_), _) => return Ok(steps),
        (Rack::Zero, _) => (X86::Zero, Default::default()),
        // Not from selection, which passes on what is read alone.
        (Rack::Given(_), operand) => (X86::Mov, [operand].into_iter().collect()),
    };
    steps.push(PlannedStep { op: MachOp::X86(op), args, imm: None });
    Ok(steps)
}

/// Lane 0 alone, where a float is left.
fn low(instance: &Instance) -> Planned {
    let form = form(instance, false)?;
    sequence(form, &lane_at(instance, 0, form.space)?)
}

/// The task to bring the extracted lane to lane `at`.
fn lane_at(instance: &Instance, at: usize, space: Space) -> Result<Task, &'static str> {
    let task = task(instance, space)?;
    let symbol = if let Imm::Int(lane) = instance.imm { *lane as u8 } else { return Err(NO_PLAN) };
    Ok(Task { want: Picture::of(task.n, |l| if l == at { symbol } else { ANY }), ..task })
}

/// A general register: from lane 0, or from any lane of the low block where the machine can.
fn word(instance: &Instance) -> Planned {
    let form = form(instance, true)?;
    let lanes = if form.space == Space::Sse { 1 } else { 4 };
    let mut best: Option<Vec<PlannedStep>> = None;
    for at in 0..lanes {
        let mut steps = sequence(form, &lane_at(instance, at, form.space)?)?;
        let from = steps.len().checked_sub(1).map_or(PlannedSrc::Arg(0), |last| PlannedSrc::Step(last as u8));
        let (op, imm) = if at == 0 { (X86::MovdOut, None) } else { (X86::Pextrd, Some(at as u8)) };
        steps.push(PlannedStep { op: MachOp::X86(op), args: [from].into_iter().collect(), imm });
        let loads =
            |s: &[PlannedStep]| s.len() + s.iter().filter(|s| matches!(s.args[0], PlannedSrc::Lanes(_))).count();
        if best.as_ref().is_none_or(|b| loads(&steps) < loads(b)) {
            best = Some(steps);
        }
    }
    best.ok_or(NO_PLAN)
}
