//! Code that can be placed anywhere, and its placement for a run.

use crate::memory::Fault;

/// Code that runs at any address, with its literals and with relocations already applied.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Image {
    /// The bytes; they are placed at a multiple of 64 (x86) or 4096 (AArch64, whose `adrp` counts
    /// in pages of that size) and cannot be written when they run.
    pub bytes: Vec<u8>,
    /// Offset in `bytes` of the function to call.
    pub entry: usize,
}

/// Bytes after an image that trap, at the least.
const GAP: usize = 64;

/// Appends the images to `code`, each at a multiple of `align` and followed by the byte `trap`;
/// returns the offset of each.
///
/// # Errors
///
/// An image's entry is outside of it.
pub(crate) fn place<'a>(
    code: &mut Vec<u8>,
    images: impl Iterator<Item = &'a Image>,
    align: usize,
    trap: u8,
) -> Result<Vec<usize>, Fault> {
    let mut places = Vec::new();
    for (number, image) in images.enumerate() {
        let (entry, size) = (image.entry, image.bytes.len());
        if entry >= size {
            let message = format!("the entry {entry} is outside the image of {size} bytes");
            return Err(Fault { at: Some((number, 0)), message });
        }
        // Falling out of an image traps.
        code.resize((code.len() + GAP).next_multiple_of(align), trap);
        places.push(code.len());
        code.extend_from_slice(&image.bytes);
    }
    code.resize(code.len() + GAP, trap);
    Ok(places)
}
