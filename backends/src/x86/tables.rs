//! Tables that code reads by the eight bits of a mask: eight bytes for each mask, a lane number in each byte.

use rake_ir::machine::{ENTRY_BYTES, TABLE_BYTES};

const LANES: usize = ENTRY_BYTES;

/// For `compress`: the selected lanes in order, then a lane that is not selected, whose contents are zero by then.
pub(super) const COMPRESS: [u8; TABLE_BYTES] = {
    let mut table = [0; TABLE_BYTES];
    let mut mask = 0;
    while mask < 1 << LANES {
        let (mut lane, mut to) = (0, 0);
        while lane < LANES {
            if mask >> lane & 1 == 1 {
                table[mask * ENTRY_BYTES + to] = lane as u8;
                to += 1;
            }
            lane += 1;
        }
        // The lowest lane that is left out; every place is taken when there is none.
        let out = (!mask).trailing_zeros();
        while to < LANES {
            table[mask * ENTRY_BYTES + to] = out as u8;
            to += 1;
        }
        mask += 1;
    }
    table
};

/// For `expand`: for each lane the number of selected lanes below it.
pub(super) const EXPAND: [u8; TABLE_BYTES] = {
    let mut table = [0; TABLE_BYTES];
    let mut mask = 0;
    while mask < 1 << LANES {
        let mut lane = 0;
        while lane < LANES {
            table[mask * ENTRY_BYTES + lane] = (mask & ((1 << lane) - 1)).count_ones() as u8;
            lane += 1;
        }
        mask += 1;
    }
    table
};
