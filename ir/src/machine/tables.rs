//! Tables that code reads by the bits of a mask. Dumps write their names.

/// A table: an entry for each mask.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Table {
    /// Its name in dumps.
    pub name: &'static str,
    /// Bytes of an entry.
    pub entry: usize,
    /// The entries, by the mask's bits.
    pub bytes: &'static [u8],
}

/// Every table; all are longer than any rack.
pub const TABLES: &[Table] = &[
    Table { name: "compress", entry: LANES, bytes: &COMPRESS },
    Table { name: "expand", entry: LANES, bytes: &EXPAND },
    Table { name: "compress_bytes", entry: BYTES, bytes: &COMPRESS_BYTES },
    Table { name: "expand_bytes", entry: BYTES, bytes: &EXPAND_BYTES },
];

/// The bytes of the longest rack.
const MOST_RACK_BYTES: usize = 64;

/// Whether a literal is as long as only tables are.
pub const fn is_table(literal: &[u8]) -> bool {
    literal.len() > MOST_RACK_BYTES
}

/// The table of these bytes.
pub fn of(literal: &[u8]) -> Option<&'static Table> {
    if is_table(literal) { TABLES.iter().find(|table| table.bytes == literal) } else { None }
}

/// The table with this name.
pub fn named(name: &str) -> Option<&'static Table> {
    TABLES.iter().find(|table| table.name == name)
}

/// Lanes of the masks of `COMPRESS` and `EXPAND`, and bytes of their entries: a lane number in each.
const LANES: usize = 8;

/// For `compress`: the selected lanes in order, then a lane that is not selected, whose contents are zero by then.
pub const COMPRESS: [u8; LANES << LANES] = {
    let mut table = [0; LANES << LANES];
    let mut mask = 0;
    while mask < 1 << LANES {
        let (mut lane, mut to) = (0, 0);
        while lane < LANES {
            if mask >> lane & 1 == 1 {
                table[mask * LANES + to] = lane as u8;
                to += 1;
            }
            lane += 1;
        }
        // The lowest lane that is left out; every place is taken when there is none.
        let out = (!mask).trailing_zeros();
        while to < LANES {
            table[mask * LANES + to] = out as u8;
            to += 1;
        }
        mask += 1;
    }
    table
};

/// For `expand`: for each lane the number of selected lanes below it.
pub const EXPAND: [u8; LANES << LANES] = {
    let mut table = [0; LANES << LANES];
    let mut mask = 0;
    while mask < 1 << LANES {
        let mut lane = 0;
        while lane < LANES {
            table[mask * LANES + lane] = (mask & ((1 << lane) - 1)).count_ones() as u8;
            lane += 1;
        }
        mask += 1;
    }
    table
};

/// Bytes of a rack of four lanes, and of the entries of `COMPRESS_BYTES` and `EXPAND_BYTES`: a byte's number in each.
const BYTES: usize = 16;

/// A byte's number that no rack has.
const NONE: u8 = 0xff;

/// For `compress`: the bytes of the selected lanes in order, then none.
pub const COMPRESS_BYTES: [u8; BYTES << 4] = {
    let mut table = [NONE; BYTES << 4];
    let mut mask = 0;
    while mask < 1 << 4 {
        let (mut from, mut to) = (0, mask * BYTES);
        while from < BYTES {
            if mask >> (from / 4) & 1 == 1 {
                table[to] = from as u8;
                to += 1;
            }
            from += 1;
        }
        mask += 1;
    }
    table
};

/// For `expand`: in the selected lanes the bytes in order, elsewhere none.
pub const EXPAND_BYTES: [u8; BYTES << 4] = {
    let mut table = [NONE; BYTES << 4];
    let mut mask = 0;
    while mask < 1 << 4 {
        let (mut from, mut to) = (0, 0);
        while to < BYTES {
            if mask >> (to / 4) & 1 == 1 {
                table[mask * BYTES + to] = from;
                from += 1;
            }
            to += 1;
        }
        mask += 1;
    }
    table
};
