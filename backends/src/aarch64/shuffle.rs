//! Plans of lane moves: shuffles, zips, shifts, rotations, extraction and insertion.
//!
//! Each is a [picture]: for every lane of the result, which lane of which operand, or zero. Four lanes make few pictures,
//! so the search goes forward, one instruction at a time, over all that can be made of what is at hand; what the
//! machine table says of a row is what it moves. Where that takes more instructions than bytes picked from a table,
//! a literal says which.
//!
//! ```text
//! zip_low a, b                   zip1 a, b
//! shuffle a, [3, 2, 1, 0]        rev64 a; ext, from the middle on
//! shift_left a, 3                mov s, a.s[3]
//! ```

#[cfg(test)]
mod tests;

use crate::picture::{self, Symbol};
use rake_ir::machine::aarch64::A64;
use rake_ir::machine::bits::Bits;
use rake_ir::machine::{Ctx, MachOp, bits};
use rake_ir::ops::{Imm, Op};
use rake_passes::select::rule::{Instance, PlannedSrc, PlannedStep, Rule};
use std::collections::HashMap;

const NO_PLAN: &str = "no sequence of lane moves is known for it";

/// Lanes of a rack.
const LANES: usize = 4;

/// The rule of a lane move whose result is a rack or a uniform in every lane.
pub(super) const RULE: Rule = Rule::Planned(plan);

/// What a rack holds: 0 for zero, `1 + k` for symbol `k` of [`picture`].
type Held = [u8; LANES];

const ZEROS: Held = [0; LANES];

/// How a rack comes about.
#[derive(Clone, Copy)]
enum Origin {
    Given(u8),
    Zero,
    Made { by: usize, args: [usize; 2] },
}

/// A rack that can be made: how, and by how many instructions.
#[derive(Clone, Copy)]
struct Rack {
    holds: Held,
    origin: Origin,
    cost: u32,
}

/// A move: a row with its immediate, and for each lane of the result 0, or one more than the lane of its operands, the
/// second's after the first's.
struct Move {
    op: A64,
    imm: Option<u8>,
    operands: usize,
    picks: [u8; LANES],
}

/// The rows that move 32-bit lanes, with their immediates. Those that overwrite an operand come last.
const ROWS: &[(A64, &[u8])] = &[
    (A64::Zip1, &[]),
    (A64::Zip2, &[]),
    (A64::Uzp1, &[]),
    (A64::Uzp2, &[]),
    (A64::Trn1, &[]),
    (A64::Trn2, &[]),
    (A64::Zip1Half, &[]),
    (A64::Zip2Half, &[]),
    (A64::Rev64, &[]),
    (A64::Ext, &[4, 8, 12]),
    (A64::DupLane, &[0, 1, 2, 3]),
    (A64::DupHalf, &[0, 1]),
    (A64::OneLane, &[1, 2, 3]),
    (A64::LowLane, &[]),
    (A64::LowHalf, &[]),
    (A64::HighHalf, &[]),
    (A64::InsLane, &[0x00, 0x01, 0x02, 0x03, 0x10, 0x11, 0x12, 0x13, 0x20, 0x21, 0x22, 0x23, 0x30, 0x31, 0x32, 0x33]),
    (A64::InsHalf, &[0x00, 0x01, 0x10, 0x11]),
];

fn moves() -> Vec<Move> {
    let mut moves = Vec::new();
    for &(op, imms) in ROWS {
        let imms: Vec<Option<u8>> = if imms.is_empty() { vec![None] } else { imms.iter().copied().map(Some).collect() };
        for imm in imms {
            let operand = |first: u32| -> Bits {
                let mut bits = bits::ZERO;
                (0..LANES).for_each(|lane| bits[lane] = first + lane as u32);
                bits
            };
            let ctx = Ctx { lanes: LANES, imm: imm.unwrap_or(0) };
            let moved = (op.info().eval)(ctx, &[operand(1), operand(1 + LANES as u32)]);
            let picks = std::array::from_fn(|lane| moved[lane] as u8);
            moves.push(Move { op, imm, operands: op.info().slots.len(), picks });
        }
    }
    moves
}

/// What can be made, cheapest first.
struct Search {
    moves: Vec<Move>,
    racks: Vec<Rack>,
    places: HashMap<Held, usize>,
}

impl Search {
    fn new(given: &[Held], want: Held) -> Search {
        let mut search = Search { moves: moves(), racks: Vec::new(), places: HashMap::new() };
        for (at, &holds) in given.iter().enumerate() {
            search.add(Rack { holds, origin: Origin::Given(at as u8), cost: 0 });
        }
        if want.contains(&0) {
            search.add(Rack { holds: ZEROS, origin: Origin::Zero, cost: 1 });
        }
        search
    }

    fn add(&mut self, rack: Rack) {
        if !self.places.contains_key(&rack.holds) {
            self.places.insert(rack.holds, self.racks.len());
            self.racks.push(rack);
        }
    }

    /// Everything that one more instruction makes of two racks, when it costs `cost` together.
    fn combine(&mut self, x: usize, y: usize, cost: u32) {
        let (a, b) = (self.racks[x], self.racks[y]);
        let shared = if x == y { a.cost } else { a.cost + b.cost };
        for by in 0..self.moves.len() {
            let Move { operands, picks, .. } = self.moves[by];
            let before = if operands == 1 { a.cost } else { shared };
            if before + 1 != cost || operands == 1 && x != y {
                continue;
            }
            let holds = picks.map(|pick| match usize::from(pick) {
                0 => 0,
                at if at <= LANES => a.holds[at - 1],
                at => b.holds[at - 1 - LANES],
            });
            self.add(Rack { holds, origin: Origin::Made { by, args: [x, y] }, cost });
        }
    }

    /// The rack that holds `want`, made by no more than `most` instructions.
    fn find(&mut self, want: Held, most: u32) -> Option<usize> {
        for cost in 1..=most {
            if let Some(&found) = self.places.get(&want) {
                return Some(found).filter(|&found| self.racks[found].cost <= most);
            }
            let known = self.racks.len();
            for x in 0..known {
                self.combine(x, x, cost);
                // Racks come in the order of their costs.
                let rest = cost - self.racks[x].cost.min(cost);
                let affordable = self.racks[..known].partition_point(|other| other.cost < rest);
                (0..affordable).filter(|&y| y != x).for_each(|y| self.combine(x, y, cost));
            }
        }
        self.places.get(&want).copied().filter(|&found| self.racks[found].cost <= most)
    }

    /// The steps that make a rack, and what then holds it.
    fn steps(&self, rack: usize, done: &mut Vec<(usize, PlannedStep)>) -> PlannedSrc {
        let step = |op, args, imm| PlannedStep { op: MachOp::A64(op), args, imm };
        match self.racks[rack].origin {
            Origin::Given(at) => PlannedSrc::Arg(at),
            Origin::Zero => PlannedSrc::Lanes(vec![0]),
            Origin::Made { by, args } => {
                if let Some(at) = done.iter().position(|(made, _)| *made == rack) {
                    return PlannedSrc::Step(at as u8);
                }
                let Move { op, imm, operands, .. } = self.moves[by];
                let args = args[..operands].iter().map(|&arg| self.steps(arg, done)).collect();
                done.push((rack, step(op, args, imm)));
                PlannedSrc::Step(done.len() as u8 - 1)
            }
        }
    }
}

/// Plans one lane move.
fn plan(instance: &Instance) -> Result<Vec<PlannedStep>, &'static str> {
    match (instance.op, instance.imm) {
        (Op::Extract, Imm::Int(lane @ 0..4)) => return Ok(vec![step(A64::DupLane, [0].as_slice(), *lane as u8)]),
        // Lane 0 of the uniform, which is all that is there.
        (Op::Insert, Imm::Int(lane @ 0..4)) => return Ok(vec![step(A64::InsLane, [0, 1].as_slice(), *lane as u8)]),
        _ => {}
    }
    let task = picture::task(instance, false).filter(|task| task.n == LANES).ok_or(NO_PLAN)?;
    let held = |symbol: Symbol| if symbol == picture::ZERO { 0 } else { symbol + 1 };
    let lanes = |of: &picture::Picture| std::array::from_fn(|lane| held(of.lanes[lane]));
    let zero = |at: usize| instance.zeros >> at & 1 == 1;
    let given = task.given.iter().enumerate().map(|(at, of)| if zero(at) { ZEROS } else { lanes(of) });
    let given: Vec<Held> = given.collect();
    sequence(&given, lanes(&task.want))
}

fn step(op: A64, args: &[u8], imm: u8) -> PlannedStep {
    PlannedStep { op: MachOp::A64(op), args: args.iter().copied().map(PlannedSrc::Arg).collect(), imm: Some(imm) }
}

/// The shortest sequence that makes `want` of what is given.
fn sequence(given: &[Held], want: Held) -> Result<Vec<PlannedStep>, &'static str> {
    let sources: Vec<usize> = (0..given.len()).filter(|&at| want.iter().any(|&lane| at == from(lane))).collect();
    // Loads count as well: a table for each operand that is read.
    let most = if sources.len() < 2 { 2 } else { 3 };
    let mut search = Search::new(given, want);
    if let Some(found) = search.find(want, most) {
        let mut done = Vec::new();
        return match search.steps(found, &mut done) {
            PlannedSrc::Lanes(_) => {
                Ok(vec![PlannedStep { op: MachOp::A64(A64::Zero), args: Default::default(), imm: None }])
            }
            PlannedSrc::Arg(at) if at > 0 => {
                let args = [PlannedSrc::Arg(at)].into_iter().collect();
                Ok(vec![PlannedStep { op: MachOp::A64(A64::Mov), args, imm: None }])
            }
            _ => Ok(done.into_iter().map(|(_, step)| step).collect()),
        };
    }
    let mut steps = Vec::new();
    for &at in &sources {
        let picks = PlannedSrc::Lanes(table(want, at));
        let rack = PlannedSrc::Arg(at as u8);
        let (op, args) = match steps.len() {
            0 => (A64::Tbl, [rack, picks].into_iter().collect()),
            before => (A64::Tbx, [PlannedSrc::Step(before as u8 - 1), rack, picks].into_iter().collect()),
        };
        steps.push(PlannedStep { op: MachOp::A64(op), args, imm: None });
    }
    if steps.is_empty() { Err(NO_PLAN) } else { Ok(steps) }
}

/// The operand whose lane this is; none for zero.
fn from(lane: u8) -> usize {
    usize::from(lane).checked_sub(1).map_or(usize::MAX, |symbol| symbol / LANES)
}

/// The bytes that make the lanes of one operand; elsewhere none.
fn table(want: Held, of: usize) -> Vec<u32> {
    let word = |lane: u8| match from(lane) == of {
        true => 0x0302_0100 + 0x0404_0404 * (u32::from(lane - 1) % LANES as u32),
        false => u32::MAX,
    };
    want.iter().map(|&lane| word(lane)).collect()
}
