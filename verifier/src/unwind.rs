//! `.eh_frame`: an unwinder finds every function, and that its return address is on top of the stack throughout.

use crate::image::{Image, Relocation};

/// Bytes of a function's entry: length, distance to the common entry, start, length, augmentation length and padding.
const ENTRY: usize = 20;

/// Checks that the section describes exactly the image's functions.
///
/// # Errors
/// What it says else.
pub fn check(image: &Image<'_>) -> Result<(), String> {
    let common = image.layout.unwind;
    let entries = image.unwind.strip_prefix(common).ok_or("`.eh_frame` does not start with its common entry")?;
    let padding = entries.len().checked_sub(image.functions.len() * ENTRY);
    let padding = padding.filter(|&p| p < 8).ok_or("`.eh_frame` has not one entry for each function")?;
    let word = |at: usize| entries.get(at..at + 4).map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]]));
    for (index, function) in image.functions.iter().enumerate() {
        let at = index * ENTRY;
        let last = index + 1 == image.functions.len();
        let len = ENTRY - 4 + if last { padding } else { 0 };
        let expected = [len as u32, (common.len() + at + 4) as u32, 0, function.len, 0];
        if !expected.iter().enumerate().all(|(i, &value)| word(at + 4 * i) == Some(value)) {
            return Err(format!("the unwind entry of `{}` is wrong", function.name));
        }
        let start = Relocation { at: (common.len() + at + 8) as u32, addend: i64::from(function.start) };
        if image.unwind_relocations.get(index) != Some(&start) {
            return Err(format!("the unwind entry of `{}` does not lead to it", function.name));
        }
    }
    let zeros = entries[image.functions.len() * ENTRY..].iter().all(|&b| b == 0);
    if zeros && image.unwind_relocations.len() == image.functions.len() {
        Ok(())
    } else {
        Err("`.eh_frame` has more than the entries of the functions".into())
    }
}
