//! Where bodies begin and end.
//!
//! ```text
//! 0 if %3 {          extent of 0: otherwise 2, close 4
//! 1   ...
//! 2 } else {
//! 3   ...
//! 4 }
//! ```

use super::Stmt;

/// The markers that belong to an [`Stmt::Open`], as positions in the list.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Extent {
    /// The opener.
    pub open: usize,
    /// The `else`, when there is one.
    pub otherwise: Option<usize>,
    /// The closer.
    pub close: usize,
}

/// For each marker of a body the extent that it belongs to; `None` for other statements.
///
/// # Errors
/// The position of the first marker that belongs to nothing, or the length of the list when a body is not closed.
pub fn extents<R>(body: &[Stmt<R>]) -> Result<Vec<Option<Extent>>, usize> {
    let mut found = vec![None; body.len()];
    let mut open: Vec<Extent> = Vec::new();
    for (at, stmt) in body.iter().enumerate() {
        match stmt {
            Stmt::Open(_) => open.push(Extent { open: at, ..Extent::default() }),
            Stmt::Else => match open.last_mut() {
                Some(extent) if extent.otherwise.is_none() => extent.otherwise = Some(at),
                _ => return Err(at),
            },
            Stmt::Close(_) => {
                let mut extent = open.pop().ok_or(at)?;
                extent.close = at;
                for marker in [Some(extent.open), extent.otherwise, Some(at)].into_iter().flatten() {
                    found[marker] = Some(extent);
                }
            }
            Stmt::Value(_) | Stmt::Region(_) => {}
        }
    }
    if open.is_empty() { Ok(found) } else { Err(body.len()) }
}
