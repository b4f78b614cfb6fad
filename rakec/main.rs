//! The command `rakec`; everything it does is in the library.

use std::process::ExitCode;

fn main() -> ExitCode {
    rakec::command::main()
}
