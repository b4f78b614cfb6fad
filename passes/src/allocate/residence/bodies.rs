//! Constants of a function with bodies: for a whole loop where a register is free all the way, the outermost first; else
//! from memory, or loaded for one reader that must have it in a register.
//!
//! ```text
//! %5 : v = load literal 0          v3 = rack_const literal 0
//! loop                             loop
//!   %6 : v = mulps %4, %5    =>      v2 = mulps v2, v3
//! again 2                          again 2
//! ```

use super::{Reader, Residence};
use crate::pressure::{Bodies, Body, Need, file};
use rake_ir::selected::Reg;

/// The stretches of constants, `needs` grown by them.
pub(super) fn choose(
    body: &Body,
    bodies: &Bodies,
    constants: &[Reg],
    readers: &[Vec<Reader>],
    needs: &mut [Need],
) -> Residence {
    let mut residence: Residence = vec![Vec::new(); body.f.regs.len()];
    for &reg in constants {
        let class = file(body.f.class(reg));
        let most = body.available()[class];
        let mut spans: Vec<(u32, u32)> = Vec::new();
        let inside = |&(start, end): &(u32, u32), place: u32| start < place && place < end;
        for reader in &readers[reg.0 as usize] {
            if spans.iter().any(|span| inside(span, reader.place) || span.0 == reader.place) {
                continue;
            }
            // Loops stand behind those inside them.
            let around = bodies.loops.iter().rev().filter(|span| inside(span, reader.place));
            let free = |span: &&(u32, u32)| (span.0..=span.1).all(|at| needs[at as usize].registers[class] < most);
            let found = around.filter(free).find(|span| !spans.iter().any(|other| inside(span, other.0))).copied();
            if let Some((start, end)) = found {
                (start..=end).for_each(|at| needs[at as usize].registers[class] += 1);
                spans.push((start, end));
            } else if reader.held {
                spans.push((reader.place, reader.place));
            }
        }
        spans.sort_unstable();
        residence[reg.0 as usize] = spans;
    }
    residence
}
