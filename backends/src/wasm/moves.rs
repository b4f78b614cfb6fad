//! Lane moves: one shuffle does any, and fewer bytes do many.
//!
//! ```text
//! shuffle a, [3, 2, 1, 0]        i8x16.shuffle a, a                   18 bytes
//! shuffle a, [2, 2, 2, 2]        f32x4.extract_lane a, f32x4.splat     5
//! shuffle a, b, [0, 1, 6, 3]     f32x4.replace_lane of a lane of b     6
//! shift_left a, 1                i8x16.swizzle a by a literal         20, zeros enter
//! ```

use crate::picture;
use rake_ir::machine::MachOp;
use rake_ir::machine::wasm::Wasm;
use rake_ir::ops::{Imm, Op};
use rake_passes::select::rule::{Instance, PlannedSrc, PlannedStep, Rule};

const NO_PLAN: &str = "no sequence of lane moves is known for it";
const LANES: usize = 4;

type Planned = Result<Vec<PlannedStep>, &'static str>;

/// Where each lane of the result comes from: an operand and its lane; zero where nothing.
type Picture = [Option<(u8, u8)>; LANES];

/// The rule of a lane move whose result is a rack or a uniform in every lane.
pub(super) const fn rule() -> Rule {
    Rule::Planned(plan)
}

/// The rule of an extraction whose result is left to the caller.
pub(super) const fn leave(integer: bool) -> Rule {
    Rule::Planned(if integer { |i| left(i, Wasm::I32x4ExtractLane) } else { |i| left(i, Wasm::F32x4ExtractLane) })
}

/// The rule of an insertion of a parameter's word.
pub(super) const fn insert_word() -> Rule {
    Rule::Planned(|i| {
        let args = [PlannedSrc::Arg(0), PlannedSrc::Arg(1)];
        Ok(vec![step(Wasm::I32x4ReplaceLane, args, Some(number(i)?))])
    })
}

fn step(op: Wasm, args: impl IntoIterator<Item = PlannedSrc>, imm: Option<u8>) -> PlannedStep {
    PlannedStep { op: MachOp::Wasm(op), args: args.into_iter().collect(), imm }
}

fn number(instance: &Instance) -> Result<u8, &'static str> {
    match instance.imm {
        Imm::Int(number) if (*number as usize) < LANES => Ok(*number as u8),
        _ => Err(NO_PLAN),
    }
}

fn left(instance: &Instance, extract: Wasm) -> Planned {
    Ok(vec![step(extract, [PlannedSrc::Arg(0)], Some(number(instance)?))])
}

fn picture(instance: &Instance) -> Result<Picture, &'static str> {
    let task = picture::task(instance, false).ok_or(NO_PLAN)?;
    let lane = |symbol: u8| (symbol < 2 * LANES as u8).then_some((symbol / LANES as u8, symbol % LANES as u8));
    Ok(std::array::from_fn(|at| lane(task.want.lanes[at])))
}

/// One lane of `from` over one of `to`.
fn replaced(to: u8, at: u8, from: u8, lane: u8) -> Vec<PlannedStep> {
    let extract = step(Wasm::F32x4ExtractLane, [PlannedSrc::Arg(from)], Some(lane));
    vec![extract, step(Wasm::F32x4ReplaceLane, [PlannedSrc::Arg(to), PlannedSrc::Step(0)], Some(at))]
}

fn plan(instance: &Instance) -> Planned {
    if instance.op == Op::Insert {
        // The uniform is in every lane; taken out of the rack that spreads it, it is the scalar itself.
        let from = if instance.operands > 1 { 1 } else { 0 };
        return Ok(replaced(0, number(instance)?, from, 0));
    }
    let picture = picture(instance)?;
    if let [Some((operand, lane)), ..] = picture
        && picture.iter().all(|pick| *pick == picture[0])
    {
        let extract = step(Wasm::F32x4ExtractLane, [PlannedSrc::Arg(operand)], Some(lane));
        return Ok(vec![extract, step(Wasm::F32x4Splat, [PlannedSrc::Step(0)], None)]);
    }
    for operand in 0..instance.operands as u8 {
        let stays = |at: usize| picture[at] == Some((operand, at as u8));
        let moved: Vec<usize> = (0..LANES).filter(|&at| !stays(at)).collect();
        match moved[..] {
            [] if operand == 0 => return Ok(Vec::new()),
            [at] => {
                if let Some((from, lane)) = picture[at] {
                    return Ok(replaced(operand, at as u8, from, lane));
                }
            }
            _ => {}
        }
    }
    Ok(vec![shuffled(&picture)])
}

/// The lane with this number among both operands' as the numbers of its bytes.
fn bytes(picture: &Picture, number: impl Fn((u8, u8)) -> u8) -> Vec<u8> {
    let lane = |pick: &Option<(u8, u8)>| match *pick {
        Some(pick) => std::array::from_fn(|byte| 4 * number(pick) + byte as u8),
        None => [0xff; 4],
    };
    picture.iter().flat_map(lane).collect()
}

fn shuffled(picture: &Picture) -> PlannedStep {
    let mut operands: Vec<u8> = picture.iter().flatten().map(|&(operand, _)| operand).collect();
    operands.sort_unstable();
    operands.dedup();
    let first = operands.first().copied().unwrap_or(0);
    if picture.iter().any(Option::is_none) {
        // What no operand has is zero.
        let words =
            bytes(picture, |(_, lane)| lane).chunks(4).map(|c| u32::from_le_bytes([c[0], c[1], c[2], c[3]])).collect();
        return step(Wasm::I8x16Swizzle, [PlannedSrc::Arg(first), PlannedSrc::Lanes(words)], None);
    }
    let second = operands.get(1).copied().unwrap_or(first);
    let picks = bytes(picture, |(operand, lane)| lane + if operand == first { 0 } else { LANES as u8 });
    let operands = [PlannedSrc::Arg(first), PlannedSrc::Arg(second), PlannedSrc::Literal(picks)];
    step(Wasm::I8x16Shuffle, operands, None)
}
