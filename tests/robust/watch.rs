//! Compiles hostile input and watches: a panic or a long time is a failure that names its input.

use crate::support::{NoFiles, everything, profiles};
use rake_ir::lane::FuseLevel;
use rake_testkit::special::Bits;
use rakec::{Compiler, Options, Outputs};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::time::{Duration, Instant};

/// What one input may take in a test build on a busy machine: a time for any, and one for each of its bytes.
const BUDGET: Duration = Duration::from_secs(10);
const BUDGET_PER_BYTE: Duration = Duration::from_micros(5);

/// Compiles `bytes`, from source or from a dump of `from`, and renders what there is to say.
///
/// # Errors
/// The panic, the time, or an answer that is no answer.
pub fn survive(bytes: &[u8], options: Options) -> Result<Outputs, String> {
    let started = Instant::now();
    let compiled = catch_unwind(AssertUnwindSafe(|| {
        let compiler = Compiler::new(options, &NoFiles)?;
        let outputs = compiler.compile_bytes(Path::new("kernel.rk"), bytes.to_vec());
        crate::support::render(&outputs);
        Ok::<Outputs, String>(outputs)
    }));
    let took = started.elapsed();
    let outputs = match compiled {
        Ok(Ok(outputs)) => outputs,
        Ok(Err(refused)) => return Err(format!("options were refused: {refused}")),
        Err(panic) => {
            let text = panic.downcast_ref::<String>().map(String::as_str);
            return Err(format!("panic: {}", text.or(panic.downcast_ref::<&str>().copied()).unwrap_or("?")));
        }
    };
    if took > BUDGET + BUDGET_PER_BYTE * bytes.len() as u32 {
        return Err(format!("took {took:?}"));
    }
    let code = outputs.object.is_some() || outputs.module.is_some() || outputs.c.is_some();
    if outputs.succeeded() && !code {
        return Err("neither code nor an error".into());
    }
    Ok(outputs)
}

/// Random options: every profile and level, now and then with all dumps, checks, explanations.
pub fn options(bits: &mut Bits) -> Options {
    let profiles = profiles();
    let profile = profiles[bits.below(profiles.len())];
    let fuse = [FuseLevel::Full, FuseLevel::Contract, FuseLevel::Exact][bits.below(3)];
    let mut options = everything(profile, fuse);
    options.explain = bits.below(4) == 0;
    options.check_irs = bits.below(2) == 0;
    options.check_passes = bits.below(8) == 0;
    options.timings = bits.below(8) == 0;
    options.export = bits.below(2) == 0;
    if bits.below(4) == 0 {
        options.dumps = vec!["all".to_owned()];
    }
    options
}

/// Input as a person can read and repeat it.
pub fn shown(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    let start: String = text.chars().take(2000).collect();
    format!("{} bytes:\n{start}\n{:?}", bytes.len(), start.chars().take(300).collect::<String>())
}
