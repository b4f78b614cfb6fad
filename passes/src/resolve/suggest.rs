//! The spelling nearest to a name that nothing defines.

/// The candidate that differs least from `name`: one letter in short names, two in longer ones, an exchange of
/// neighbours counting as one. Every other letter would be near a name of one letter, so that has none, and a short name
/// only those that start like it or hold its letters. Of several equally near
/// the one of its length, then the first in alphabetical order.
pub fn nearest<'a>(name: &str, candidates: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let allowed = match name.len() {
        0..=1 => return None,
        2..=3 => 1,
        _ => 2,
    };
    candidates
        .filter(|c| {
            !c.is_empty()
                && c.len().abs_diff(name.len()) <= allowed
                && c.len() > allowed.min(name.len().saturating_sub(1))
        })
        .filter(|c| {
            name.len() > 3 || c.as_bytes()[0] == name.as_bytes()[0] || c.bytes().all(|b| name.as_bytes().contains(&b))
        })
        .map(|candidate| {
            (distance(name.as_bytes(), candidate.as_bytes()), candidate.len().abs_diff(name.len()), candidate)
        })
        .filter(|&(distance, ..)| distance <= allowed)
        .min()
        .map(|(.., candidate)| candidate)
}

/// Optimal string alignment distance.
fn distance(a: &[u8], b: &[u8]) -> usize {
    let mut rows = [vec![0; b.len() + 1], (0..=b.len()).collect(), vec![0; b.len() + 1]];
    for i in 1..=a.len() {
        rows.rotate_left(1);
        // rows[0] is the row before, rows[2] the one before that, rows[1] the new one.
        let [last, row, before] = &mut rows;
        row[0] = i;
        for j in 1..=b.len() {
            let same = a[i - 1] == b[j - 1];
            row[j] = (last[j - 1] + usize::from(!same)).min(last[j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                row[j] = row[j].min(before[j - 2] + 1);
            }
        }
    }
    rows[1][b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances() {
        assert_eq!(distance(b"abc", b"abc"), 0);
        assert_eq!(distance(b"abc", b"acb"), 1);
        assert_eq!(distance(b"velocity", b"velocities"), 3);
        assert_eq!(distance(b"kitten", b"sitting"), 3);
        assert_eq!(distance(b"", b"ab"), 2);
    }

    #[test]
    fn near_names_are_found_and_far_ones_are_not() {
        assert_eq!(nearest("scaeld", ["scaled", "moved"].into_iter()), Some("scaled"));
        assert_eq!(nearest("sqrtt", ["sqrt", "sum"].into_iter()), Some("sqrt"));
        assert_eq!(nearest("zebra", ["scaled", "moved"].into_iter()), None);
        assert_eq!(nearest("x", ["y", "yy"].into_iter()), None);
        assert_eq!(nearest("ox", ["oy", "origin"].into_iter()), Some("oy"));
        assert_eq!(nearest("ox", ["ax", "o"].into_iter()), None);
        assert_eq!(nearest("imn", ["min", "inn"].into_iter()), Some("inn"));
        assert_eq!(nearest("imn", ["min", "sin"].into_iter()), Some("min"));
    }
}
