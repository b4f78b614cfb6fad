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
    Table { name: "compress_by_one", entry: STEP, bytes: &COMPRESS_BY_ONE },
    Table { name: "compress_by_two", entry: STEP, bytes: &COMPRESS_BY_TWO },
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

/// For `compress`: the selected lanes in order, then a lane that is not selected, whose contents are zero by then where
/// that matters.
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

/// Bytes of the entries of `COMPRESS_BY_ONE` and `COMPRESS_BY_TWO`.
const STEP: usize = 8;

/// How many lanes below a lane of a rack of four are not selected: how far `compress` moves it.
const fn missing(mask: usize, lane: usize) -> u32 {
    (!mask & ((1 << lane) - 1)).count_ones()
}

/// The first step of `compress` of four lanes, in 16 bits for each lane: ones where the next lane moves here, which is
/// where it moves by an odd number of lanes (Warren, Hacker's Delight, 2nd edition, 7-4).
pub const COMPRESS_BY_ONE: [u8; STEP << 4] = {
    let mut table = [0; STEP << 4];
    let mut mask = 0;
    while mask < 1 << 4 {
        let mut lane = 0;
        while lane < 3 {
            if missing(mask, lane + 1) % 2 == 1 {
                table[mask * STEP + lane * 2] = 0xff;
                table[mask * STEP + lane * 2 + 1] = 0xff;
            }
            lane += 1;
        }
        mask += 1;
    }
    table
};

/// The second step, in 32 bits for each of the two lower lanes: ones where the lane two above moves here, which is where
/// what stands there by now has two or more to move.
pub const COMPRESS_BY_TWO: [u8; STEP << 4] = {
    let mut table = [0; STEP << 4];
    let mut mask = 0;
    while mask < 1 << 4 {
        let mut lane = 0;
        while lane < 2 {
            let mut byte = 0;
            while byte < 4 && missing(mask, lane + 2) >= 2 {
                table[mask * STEP + lane * 4 + byte] = 0xff;
                byte += 1;
            }
            lane += 1;
        }
        mask += 1;
    }
    table
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_of_one_and_two_bring_selected_lanes_to_the_front() {
        for mask in 0..16usize {
            let entry = |table: &[u8]| -> [u8; STEP] { table[mask * STEP..][..STEP].try_into().unwrap() };
            let (one, two) = (entry(&COMPRESS_BY_ONE), entry(&COMPRESS_BY_TWO));
            let mut lanes = ['a', 'b', 'c', 'd', '.', '.'];
            for lane in 0..4 {
                let [low, high] = [one[lane * 2], one[lane * 2 + 1]];
                assert_eq!(low, high);
                lanes[lane] = if low == 0xff { lanes[lane + 1] } else { lanes[lane] };
            }
            for lane in 0..2 {
                let bits = &two[lane * 4..][..4];
                assert!(bits == [0; 4] || bits == [0xff; 4]);
                lanes[lane] = if bits[0] == 0xff { lanes[lane + 2] } else { lanes[lane] };
            }
            let wanted: String =
                "abcd".chars().enumerate().filter(|(at, _)| mask >> at & 1 == 1).map(|(_, c)| c).collect();
            let kept: String = lanes[..wanted.len()].iter().collect();
            assert_eq!(kept, wanted, "{mask:04b}");
        }
    }
}
