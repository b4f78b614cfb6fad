//! `.eh_frame`: an unwinder finds every function, its return address, and what it saves of its caller's registers.

use crate::image::{Image, Relocation};

/// Bytes of a function's entry before what is said of it: length, distance to the common entry, start, length, and the
/// augmentation's length.
const ENTRY: usize = 17;

/// Checks that the section describes exactly the image's functions, each as its bytes need it.
///
/// # Errors
/// What it says else.
pub fn check(image: &Image<'_>, rules: &dyn Fn(&[u8]) -> Vec<u8>) -> Result<(), String> {
    let common = image.layout.unwind;
    let mut rest = image.unwind.strip_prefix(common).ok_or("`.eh_frame` does not start with its common entry")?;
    for (index, function) in image.functions.iter().enumerate() {
        let at = image.unwind.len() - rest.len();
        let rules = rules(image.code(function));
        let align = if index + 1 == image.functions.len() { 8 } else { 4 };
        let len = (at + ENTRY + rules.len()).next_multiple_of(align) - at;
        let words = [len as u32 - 4, at as u32 + 4, 0, function.len];
        let mut expected: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        expected.push(0);
        expected.extend(rules);
        expected.resize(len, 0);
        rest = rest
            .strip_prefix(&expected[..])
            .ok_or_else(|| format!("the unwind entry of `{}` is wrong", function.name))?;
        let start = Relocation { at: at as u32 + 8, addend: i64::from(function.start) };
        if image.unwind_relocations.get(index) != Some(&start) {
            return Err(format!("the unwind entry of `{}` does not lead to it", function.name));
        }
    }
    if rest.is_empty() && image.unwind_relocations.len() == image.functions.len() {
        Ok(())
    } else {
        Err("`.eh_frame` has more than the entries of the functions".into())
    }
}
