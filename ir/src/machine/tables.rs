//! Tables that code reads by the eight bits of a mask: eight bytes for each mask, a lane number in each byte. Dumps write
//! their names.

use super::{ENTRY_BYTES, TABLE_BYTES};

const LANES: usize = ENTRY_BYTES;

/// Every table, by its name in dumps.
pub const TABLES: &[(&str, &[u8; TABLE_BYTES])] = &[("compress", &COMPRESS), ("expand", &EXPAND)];

/// The name of the table of these bytes.
pub fn name_of(bytes: &[u8]) -> Option<&'static str> {
    TABLES.iter().find(|(_, table)| table.as_slice() == bytes).map(|(name, _)| *name)
}

/// The bytes of the table with this name.
pub fn named(name: &str) -> Option<&'static [u8]> {
    TABLES.iter().find(|(other, _)| *other == name).map(|(_, table)| table.as_slice())
}

/// For `compress`: the selected lanes in order, then a lane that is not selected, whose contents are zero by then.
pub const COMPRESS: [u8; TABLE_BYTES] = {
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
pub const EXPAND: [u8; TABLE_BYTES] = {
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
