//! How great the numbers in registers can be: enough to see that a table is read inside its bounds.
//!
//! A table has an entry for each mask. Its number is the sum of the bits that the mask's lanes keep of a constant:
//! `and v, mask, {1, 2, 4, 8}`, `addv s, v`, `fmov w, s`. So bounds go through those and are unknown elsewhere.

use super::encoding::Fields;
use rake_ir::machine::Ctx;
use rake_ir::machine::aarch64::A64;
use std::collections::BTreeMap;

/// The greatest number that each 32-bit lane of a rack may hold.
type Lanes = [u32; 4];
const ANY: Lanes = [u32::MAX; 4];

/// The bounds of the registers that have any.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Bounds {
    racks: BTreeMap<u8, Lanes>,
    words: BTreeMap<u8, u32>,
}

impl Bounds {
    /// The greatest number that a general register may hold.
    pub fn word(&self, register: u8) -> u32 {
        self.words.get(&register).copied().unwrap_or(u32::MAX)
    }

    /// Keeps what holds on another path too.
    pub fn meet(&mut self, other: &Bounds) {
        self.racks.retain(|number, lanes| {
            let there = other.racks.get(number).copied().unwrap_or(ANY);
            lanes.iter_mut().zip(there).for_each(|(here, there)| *here = (*here).max(there));
            *lanes != ANY
        });
        self.words.retain(|number, word| {
            *word = (*word).max(other.word(*number));
            *word != u32::MAX
        });
    }

    /// Follows an instruction, which loads this literal if it loads any.
    pub fn follow(&mut self, fields: &Fields, literal: Option<&[u8]>) {
        let rack = |at: usize| {
            let register = fields.args.get(at).copied().flatten();
            register.and_then(|register| self.racks.get(&register)).copied().unwrap_or(ANY)
        };
        let Some(dst) = fields.dst else { return };
        let word = match fields.op {
            A64::FmovOut => Some(rack(0)[0]),
            A64::MovWord => fields.args[0].map(|from| self.word(from)),
            A64::WordConst => fields.imm.map(u32::from),
            A64::AndFifteen => Some(15),
            op if op.info().dst.is_some_and(|view| view.class() == rake_ir::machine::Class::G) => Some(u32::MAX),
            _ => None,
        };
        match word {
            Some(u32::MAX) => self.words.remove(&dst),
            Some(word) => self.words.insert(dst, word),
            None => None,
        };
        if word.is_some() {
            return;
        }
        let lanes = match fields.op {
            A64::And => {
                let (a, b) = (rack(0), rack(1));
                std::array::from_fn(|lane| a[lane].min(b[lane]))
            }
            A64::Addv => [rack(0).iter().fold(0, |sum: u32, &lane| sum.saturating_add(lane)), 0, 0, 0],
            A64::Mov => rack(0),
            A64::Ldr => literal.map_or(ANY, words),
            op if fields.args == [None; 3] && op.info().slots.is_empty() => {
                let bits = (op.info().eval)(Ctx { lanes: 4, imm: fields.imm.unwrap_or(0) }, &[]);
                [bits[0], bits[1], bits[2], bits[3]]
            }
            _ => ANY,
        };
        if lanes == ANY {
            self.racks.remove(&dst)
        } else {
            self.racks.insert(dst, lanes)
        };
    }
}

fn words(bytes: &[u8]) -> Lanes {
    let mut out = ANY;
    for (word, bytes) in out.iter_mut().zip(bytes.chunks_exact(4)) {
        *word = u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
    }
    out
}
