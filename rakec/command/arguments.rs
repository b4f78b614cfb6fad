//! The command line: what may be asked, in words that teach.

use clap::{Args, Parser, ValueEnum};
use rake_ir::lane::FuseLevel;
use rake_ir::profile::Profile;
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  rakec kernel.rk                                   check the program for this machine
  rakec --verify-native kernel.rk --target x86-avx2 write kernel.o and verify its bytes
  rakec --emit-asm kernel.rk -o -                   show the assembly
  rakec --emit-header kernel.rk                     write kernel.h for C
  rakec --list-passes                               the passes, in order
  rakec --dump-pass fuse kernel.rk                  the IR after the pass `fuse`
  rakec --dump-pass all --dump-format diff kernel.rk   what each pass changed
  rakec --explain-fusion kernel.rk                  source graph, chosen graph, and the steps between
  rakec --dump-pass fuse kernel.rk > k.fused; rakec --from fused --emit-asm k.fused -o -
  rakec --explain R0312                             what an error code means

Exit status: 0 success, 1 the program was rejected, 2 wrong usage.";

/// The Rake compiler: SIMD programs to verified vector code.
///
/// Without a mode the program is checked through every pass and nothing is written. Each backend takes a profile;
/// a program that cannot keep its promises there is rejected with the reason.
#[derive(Parser, Debug)]
#[command(name = "rakec", version, after_help = EXAMPLES, max_term_width = 110)]
#[command(override_usage = "rakec [MODE] [OPTIONS] FILE.rk [-- ARGS]")]
pub struct Arguments {
    #[command(flatten)]
    pub mode: Modes,
    #[command(flatten)]
    pub look: Look,
    #[command(flatten)]
    pub list: Lists,

    /// Profiles to compile for; `native`, the default, is the strongest that this machine has. See --print-targets
    #[arg(long, value_name = "P[,P...]", value_delimiter = ',', value_parser = target)]
    pub target: Vec<Target>,
    /// Fail unless a rack of f32 has N lanes on the profile
    #[arg(long, value_name = "N")]
    pub width: Option<usize>,
    /// Where to write; `-` is standard output. Default: the input's name with .o, .s, .h, .c or .wasm
    #[arg(short, value_name = "PATH")]
    pub output: Option<PathBuf>,
    /// Give the functions of the object default visibility instead of hidden
    #[arg(long)]
    pub export: bool,
    /// Freedom of fused regions: bit-identical rewrites, those and contraction, or everything equal over the reals
    #[arg(long, value_name = "LEVEL", default_value = "full", value_parser = fuse_level)]
    pub fuse: FuseLevel,
    /// Leave out the kernel report
    #[arg(long)]
    pub no_report: bool,
    /// How the kernel report is written
    #[arg(long, value_name = "FORMAT", default_value = "human")]
    pub report: MessageFormat,
    /// How errors and warnings are written; json is one object a line
    #[arg(long, value_name = "FORMAT", default_value = "human")]
    pub message_format: MessageFormat,
    /// Make a warning an error: its code, or `all`
    #[arg(long, value_name = "CODE|all")]
    pub deny: Vec<String>,
    /// Evaluate the program before and after each pass and check every IR; name the first pass at fault
    #[arg(long)]
    pub check_passes: bool,
    /// The input is a dump of this IR instead of source
    #[arg(long, value_name = "IR")]
    pub from: Option<String>,
    /// Stop at this IR and write it
    #[arg(long, value_name = "IR")]
    pub to: Option<String>,

    /// The program, or with --from a dump; `-` is standard input
    #[arg(value_name = "FILE.rk")]
    pub file: Option<PathBuf>,
    /// Arguments of the program under --interpret and --run
    #[arg(last = true, value_name = "ARGS")]
    pub program_arguments: Vec<String>,
}

/// What to make of the program; at most one.
#[derive(Args, Debug, Default)]
#[group(multiple = false)]
#[command(next_help_heading = "Modes (at most one)")]
pub struct Modes {
    /// Write an ELF object, or a WebAssembly module, whose bytes were decoded again and verified
    #[arg(long)]
    pub verify_native: bool,
    /// Write an ELF object
    #[arg(long)]
    pub emit_obj: bool,
    /// Write GNU assembly
    #[arg(long)]
    pub emit_asm: bool,
    /// Write a C header
    #[arg(long)]
    pub emit_header: bool,
    /// Write C11: intrinsics, or assembly at file scope, that hold the selected instructions
    #[arg(long)]
    pub emit_c: bool,
    /// Write a WebAssembly module; the default --target is then wasm-simd128
    #[arg(long)]
    pub emit_wasm: bool,
    /// Write the tokens
    #[arg(long)]
    pub emit_tokens: bool,
    /// Write the syntax tree as canonical source
    #[arg(long)]
    pub emit_ast: bool,
    /// Write the last vector IR before selection
    #[arg(long)]
    pub emit_native_ir: bool,
    /// Evaluate `main` as the language defines it
    #[arg(long)]
    pub interpret: bool,
    /// Compile for this machine and run
    #[arg(long)]
    pub run: bool,
    /// Evaluate a file of column sentences
    #[arg(long)]
    pub sentences: bool,
}

/// Looking inside; with or without a mode.
#[derive(Args, Debug, Default)]
#[command(next_help_heading = "Looking inside")]
pub struct Look {
    /// Print the IR after a pass (or an IR by its name); may be given several times
    #[arg(long, value_name = "NAME|all")]
    pub dump_pass: Vec<String>,
    /// text; diff: what the pass changed; json: one object a line
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub dump_format: DumpFormat,
    /// Write each dump to DIR/NN-pass.ir instead (alone, it dumps all passes)
    #[arg(long, value_name = "DIR")]
    pub dump_dir: Option<PathBuf>,
    /// Print only what the passes changed: leave out dumps equal to the one before
    #[arg(long)]
    pub only_changed: bool,
    /// Print each fused region's source graph, chosen graph, costs, and the rewrites between them
    #[arg(long)]
    pub explain_fusion: bool,
    /// Print the time and the node count of each pass
    #[arg(long)]
    pub timings: bool,
}

/// Questions that need no program.
#[derive(Args, Debug, Default)]
#[group(multiple = false)]
#[command(next_help_heading = "Questions that need no program")]
pub struct Lists {
    /// List the passes
    #[arg(long)]
    pub list_passes: bool,
    /// List the profiles
    #[arg(long)]
    pub print_targets: bool,
    /// List every feature and its state per profile
    #[arg(long)]
    pub print_capabilities: bool,
    /// Explain a code of an error or a warning
    #[arg(long, value_name = "CODE")]
    pub explain: Option<String>,
}

/// A profile asked for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Target {
    /// The strongest that this machine has.
    Native,
    /// This one.
    Profile(Profile),
    /// One that the language describes and the table of profiles does not hold yet.
    Planned(&'static str),
}

/// For people or for programs.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
#[allow(missing_docs)]
pub enum MessageFormat {
    Human,
    Json,
}

/// How dumps are written.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, ValueEnum)]
#[allow(missing_docs)]
pub enum DumpFormat {
    #[default]
    Text,
    Diff,
    Json,
}

/// Profiles that the language describes and the table of profiles does not hold yet.
const PLANNED: &[&str] = &["nvidia-ptx-sm90"];

fn target(text: &str) -> Result<Target, String> {
    if text == "native" {
        return Ok(Target::Native);
    }
    let names = || Profile::all().map(Profile::name).collect::<Vec<_>>().join(", ");
    if let Some(&planned) = PLANNED.iter().find(|&&planned| planned == text) {
        return Ok(Target::Planned(planned));
    }
    Profile::from_name(text).map(Target::Profile).ok_or_else(|| format!("the profiles are native, {}", names()))
}

fn fuse_level(text: &str) -> Result<FuseLevel, String> {
    FuseLevel::from_name(text).ok_or_else(|| "the levels are exact, contract, full".to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_definition_is_sound() {
        Arguments::command().debug_assert();
    }

    #[test]
    fn wrong_names_list_the_right_ones() {
        assert!(target("x86").unwrap_err().contains("x86-avx2"));
        assert_eq!(target("nvidia-ptx-sm90"), Ok(Target::Planned("nvidia-ptx-sm90")));
        assert_eq!(target("x86-sse2"), Ok(Target::Profile(Profile::X86Sse2)));
        assert!(fuse_level("all").unwrap_err().contains("contract"));
    }
}
