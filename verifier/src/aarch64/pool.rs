//! Literals stand in `.text` behind the function that reads them: a pool.
//!
//! ```text
//!   function     its code, to its last instruction
//!   padding      zeros, to a multiple of 16
//!   literals     $d; each read by the function, nothing else between them
//!   padding      $x; zeros, to the next function
//! ```

use super::encoding::Fields;
use super::{Forms, RACK_BYTES, read_size};
use crate::image::{Image, Symbol};
use std::ops::Range;

/// Where a function's literals may stand: from its end to the next function's start.
pub fn place(image: &Image<'_>, symbol: &Symbol<'_>) -> Range<usize> {
    let next = image.functions.partition_point(|f| f.start <= symbol.start);
    let end = image.functions.get(next).map_or(image.text.len(), |f| f.start as usize);
    (symbol.start + symbol.len) as usize..end
}

/// Checks that only functions, the literals that they read and padding are in `.text`, and that the mapping symbols
/// tell them apart.
///
/// # Errors
/// What else is there.
pub fn check_text(image: &Image<'_>, forms: &Forms) -> Result<(), String> {
    image.gaps()?;
    let mut turns: Vec<(u32, bool)> = Vec::new();
    let mut end = 0;
    for symbol in &image.functions {
        let name = symbol.name;
        let start = symbol.start as usize;
        if start - end >= RACK_BYTES || image.text.get(end..start).is_none_or(|gap| gap.iter().any(|&b| b != 0)) {
            return Err(format!("something other than padding stands before `{name}`"));
        }
        if turns.last().is_none_or(|&(_, code)| !code) {
            turns.push((end as u32, true));
        }
        let place = place(image, symbol);
        let mut literals: Vec<Range<usize>> = targets(image, symbol, forms)
            .into_iter()
            .filter(|r| place.start <= r.start && r.end <= place.end)
            .collect();
        literals.sort_by_key(|range| range.start);
        literals.dedup();
        end = place.start;
        for (at, literal) in literals.iter().enumerate() {
            let first = at == 0;
            let padding = if first { end.next_multiple_of(RACK_BYTES) } else { end };
            if literal.start != padding || image.text[end..padding].iter().any(|&b| b != 0) {
                return Err(format!("the literals of `{name}` do not follow it one after the other"));
            }
            if first {
                turns.push((literal.start as u32, false));
            }
            end = literal.end;
        }
    }
    if end != image.text.len() {
        return Err("`.text` does not end with its last function and its literals".into());
    }
    let mut mapping = image.mapping.clone();
    mapping.sort_unstable();
    if mapping == turns { Ok(()) } else { Err("the mapping symbols do not tell code from literals".into()) }
}

/// What a function's instructions name in `.text`.
fn targets(image: &Image<'_>, symbol: &Symbol<'_>, forms: &Forms) -> Vec<Range<usize>> {
    let words = image.code(symbol).chunks_exact(4).map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]]));
    let target = |(at, word): (usize, u32)| {
        // The rows of runs name nothing else than those of scratches do, and stand in runs alone.
        let Fields { op, distance: Some(distance), .. } = forms.encodings(true).read(word)? else { return None };
        let start = usize::try_from(i64::from(symbol.start) + 4 * at as i64 + i64::from(distance)).ok()?;
        Some(start..start + read_size(op))
    };
    words.enumerate().filter_map(target).collect()
}
