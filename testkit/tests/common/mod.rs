//! Code under test that the Rust compiler's own assembler assembles.

/// `kernel!(name, "assembly", ...)`: a function that returns the assembled bytes as an image whose
/// entry is its first byte. Intel syntax; local labels are numbers (`2:` and `[rip + 2f]`).
#[macro_export]
macro_rules! kernel {
    ($name:ident, $($line:expr),+ $(,)?) => {
        std::arch::global_asm!(
            ".pushsection .rodata",
            ".balign 64",
            concat!("rake_testkit_", stringify!($name), ":"),
            $($line,)+
            concat!("rake_testkit_", stringify!($name), "_end:"),
            ".byte 0",
            ".popsection",
        );
        fn $name() -> rake_testkit::x86::Image {
            unsafe extern "C" {
                #[link_name = concat!("rake_testkit_", stringify!($name))]
                static START: u8;
                #[link_name = concat!("rake_testkit_", stringify!($name), "_end")]
                static END: u8;
            }
            // SAFETY: both label one blob of constants.
            let bytes = unsafe {
                let size = (&raw const END).offset_from_unsigned(&raw const START);
                std::slice::from_raw_parts(&raw const START, size)
            };
            rake_testkit::x86::Image { bytes: bytes.to_vec(), entry: 0 }
        }
    };
}
