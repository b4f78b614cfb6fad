//! typecheck: `surface` → `typed`. Names become ids, every expression gets its type, literals their bits.
//!
//! ```text
//! scratch advance(p: f32s, v: f32s) -> f32s:        scratch advance(p: f32s, v: f32s) -> f32s:
//!   | scaled <| v * <0.5>                      →      region
//!   | moved <| p + scaled                               | scaled: f32s <| v * 0.5
//!   moved                                               | moved: f32s <| p + scaled
//!                                                     moved
//! ```
//!
//! Refuses: types that do not fit, uniforms without marks and marks on racks, literals outside their type, stages that
//! are no pure data flow, operations that the profile lacks, and what this version does not compile. An expression with a
//! reported error has no id (`None`), which silences whatever depends on it. Names that nothing defines are `resolve`'s
//! errors and silent here.

mod body;
mod calls;
mod definitions;
mod expressions;
mod immediates;
mod literals;
mod loops;
mod packs;
mod rakes;
mod runs;
mod statements;
mod views;

use body::Body;
use definitions::{Declarations, Meaning};
use rake_ir::diag::Diagnostic;
use rake_ir::lane::FuseLevel;
use rake_ir::profile::Profile;
use rake_ir::surface::{DefKind, File};
use rake_ir::typed::{Function, Program};

/// How many errors are reported at most.
pub(crate) const MAX_ERRORS: usize = 50;

/// Checks a file for one profile. The program is meaningful when no diagnostic is an error; functions with errors are
/// not in it.
pub fn run(file: &File, profile: Profile, fuse: FuseLevel) -> (Program, Vec<Diagnostic>) {
    let mut diagnostics = Vec::new();
    let declarations = Declarations::collect(file, profile, &mut diagnostics);
    let mut functions: Vec<Function> = Vec::new();
    for (index, def) in file.defs.iter().enumerate() {
        let body = Body::new(&declarations, index, &mut diagnostics);
        functions.extend(match (&def.kind, &declarations.meanings[index]) {
            (DefKind::Scratch(function) | DefKind::Rake(function), Meaning::Function(signature)) => {
                body.function(def, function, signature)
            }
            (DefKind::Tine { params, predicate }, Meaning::Function(signature)) => {
                body.global_tine(def, params, *predicate, signature)
            }
            (DefKind::Run(function), _) => body.run(def, function),
            _ => None,
        });
    }
    definitions::cap(&mut diagnostics);
    (Program { profile, fuse, functions }, diagnostics)
}

#[cfg(test)]
mod rake_tests;
#[cfg(test)]
mod tests;
