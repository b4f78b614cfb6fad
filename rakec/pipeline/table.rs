//! The table of passes.

use super::{Context, Ir, Kind, Outcome, Pass, Profiles, Work};
use rake_ir::diag::{Code, Diagnostic};
use rake_ir::profile::Family;
use rake_passes as passes;

/// Every pass, in the order in which they run.
pub const PASSES: &[Pass] = &[
    Pass {
        name: "parse",
        doc: "lexes, lays out and parses the source",
        from: Kind::Text,
        to: Kind::Surface,
        run: parse,
        ..WHOLE
    },
    Pass {
        name: "resolve",
        doc: "binds every name once, finds every use, bounds calls",
        from: Kind::Surface,
        to: Kind::Surface,
        run: resolve,
        lenient: true,
        ..WHOLE
    },
    Pass {
        name: "typecheck",
        doc: "gives every expression a type, literals their element, for one profile",
        from: Kind::Surface,
        to: Kind::Typed,
        run: typecheck,
        after: &[("resolve", "it takes every name to have a meaning and calls not to recurse")],
        ..WHOLE
    },
    Pass {
        name: "inline",
        doc: "puts the bodies of called scratches where the calls stand",
        from: Kind::Typed,
        to: Kind::Typed,
        run: inline,
        after: &[("resolve", "calls that recurse have no end")],
        ..WHOLE
    },
    Pass {
        name: "unroll",
        doc: "writes repeats out, so that their index is a constant in each trip",
        from: Kind::Typed,
        to: Kind::Typed,
        run: unroll,
        after: &[("inline", "called bodies hold repeats too")],
        ..EACH
    },
    Pass {
        name: "desugar",
        doc: "leaves one spelling per meaning: broadcasts explicit, locations gone",
        from: Kind::Typed,
        to: Kind::Desugared,
        run: desugar,
        after: &[
            ("inline", "a call has no meaning in `desugared`"),
            ("unroll", "an element of an array needs a constant index to become a name"),
        ],
        ..EACH
    },
    Pass {
        name: "resolve-tines",
        doc: "turns expressions into SSA lane operations, each with its mask",
        from: Kind::Desugared,
        to: Kind::Tined,
        run: resolve_tines,
        ..EACH
    },
    Pass {
        name: "fuse",
        doc: "chooses the cheapest equal graph for each fused region",
        from: Kind::Tined,
        to: Kind::Fused,
        run: fuse,
        ..EACH
    },
    Pass {
        name: "peel",
        doc: "makes of traverses and counted loops ones of whole racks and a rest under masks",
        from: Kind::Fused,
        to: Kind::Fused,
        run: peel,
        after: &[("fuse", "every copy of a region computes the same graph")],
        ..EACH
    },
    Pass {
        name: "transpose",
        doc: "computes ordered scans of as many racks as a rack has lanes across the racks",
        from: Kind::Fused,
        to: Kind::Fused,
        run: transpose,
        after: &[("peel", "it puts racks in flight whose scans stand side by side")],
        ..EACH
    },
    Pass {
        name: "expand",
        doc: "writes operations without an instruction as their published sequences",
        from: Kind::Fused,
        to: Kind::Fused,
        run: expand,
        after: &[("fuse", "a sequence is exact and must not be rewritten over the reals")],
        ..EACH
    },
    Pass {
        name: "sanitise",
        doc: "gives operations that may raise a flag benign operands in inactive lanes",
        from: Kind::Fused,
        to: Kind::Fused,
        run: sanitise,
        check: Ir::check_sanitised,
        after: &[
            ("fuse", "masks must not stand between a multiply and its add"),
            ("expand", "the operations of a sequence may raise flags too"),
            ("peel", "the last rack of a stack is partial"),
        ],
        ..EACH
    },
    Pass {
        name: "simplify",
        doc: "drops dead values and choices under equal masks; exact",
        from: Kind::Fused,
        to: Kind::Fused,
        run: simplify,
        check: Ir::check_sanitised,
        after: &[("sanitise", "its choices meet those of the source")],
        ..EACH
    },
    Pass {
        name: "select",
        doc: "chooses the profile's instructions from the backend's table",
        from: Kind::Fused,
        to: Kind::Selected,
        run: select,
        after: &[("sanitise", "instructions compute whole racks")],
        ..EACH
    },
    Pass {
        name: "schedule",
        doc: "orders instructions so that few racks are live at once",
        from: Kind::Selected,
        to: Kind::Selected,
        run: schedule,
        profiles: REGISTERS,
        ..EACH
    },
    Pass {
        name: "allocate",
        doc: "gives every value a register and every instruction its form; never spills",
        from: Kind::Selected,
        to: Kind::Allocated,
        run: allocate,
        profiles: REGISTERS,
        after: &[("schedule", "the order decides how many registers are needed")],
        ..EACH
    },
    Pass {
        name: "stackify",
        doc: "computes values where they are consumed, on the operand stack; the others live in locals",
        from: Kind::Selected,
        to: Kind::Stacked,
        run: stackify,
        profiles: Profiles::Families(&[Family::Wasm]),
        ..EACH
    },
];

/// The profiles whose functions have machine registers.
const REGISTERS: Profiles = Profiles::Families(&[Family::X86, Family::Aarch64]);

/// What passes over the whole program have in common.
const WHOLE: Pass = Pass {
    name: "",
    doc: "",
    from: Kind::Text,
    to: Kind::Text,
    profiles: Profiles::All,
    work: Work::Program,
    run: |_, ir| Outcome { ir: Some(ir), diagnostics: Vec::new() },
    check: Ir::check,
    lenient: false,
    after: &[],
};

/// What passes over each function alone have in common.
const EACH: Pass = Pass { work: Work::Function, ..WHOLE };

/// A pass was given another IR than its row says.
fn mismatch(pass: &str, ir: &Ir) -> Outcome {
    let message = format!("`{pass}` was given `{}`", ir.kind().name());
    Outcome { ir: None, diagnostics: vec![Diagnostic::spanless(Code::Internal, message)] }
}

/// A result that counts unless something is an error.
fn unless_errors(ir: impl Into<Ir>, diagnostics: Vec<Diagnostic>) -> Outcome {
    let rejected = diagnostics.iter().any(Diagnostic::is_error);
    Outcome { ir: (!rejected).then(|| ir.into()), diagnostics }
}

fn parse(context: &Context, ir: Ir) -> Outcome {
    let Ir::Text(file) = ir else { return mismatch("parse", &ir) };
    match context.sources.get(file) {
        Some(source) => {
            let (tree, diagnostics) = passes::parse::parse(source);
            unless_errors(tree, diagnostics)
        }
        None => mismatch("parse", &ir),
    }
}

fn resolve(_: &Context, ir: Ir) -> Outcome {
    let Ir::Surface(file) = ir else { return mismatch("resolve", &ir) };
    let diagnostics = passes::resolve::run(&file);
    Outcome { ir: Some(file.into()), diagnostics }
}

fn typecheck(context: &Context, ir: Ir) -> Outcome {
    let Ir::Surface(file) = ir else { return mismatch("typecheck", &ir) };
    let (program, diagnostics) = passes::typecheck::run(&file, context.profile, context.fuse);
    unless_errors(program, diagnostics)
}

fn inline(_: &Context, ir: Ir) -> Outcome {
    let Ir::Typed(program) = ir else { return mismatch("inline", &ir) };
    passes::inline::run(program).into()
}

fn unroll(_: &Context, ir: Ir) -> Outcome {
    let Ir::Typed(program) = ir else { return mismatch("unroll", &ir) };
    passes::unroll::run(program).into()
}

fn desugar(_: &Context, ir: Ir) -> Outcome {
    let Ir::Typed(program) = ir else { return mismatch("desugar", &ir) };
    passes::desugar::run(program).into()
}

fn resolve_tines(_: &Context, ir: Ir) -> Outcome {
    let Ir::Desugared(program) = ir else { return mismatch("resolve-tines", &ir) };
    passes::resolve_tines::run(&program).into()
}

fn fuse(context: &Context, ir: Ir) -> Outcome {
    let Ir::Tined(program) = ir else { return mismatch("fuse", &ir) };
    passes::fuse::run(program, &passes::fuse::Options { explain: context.explain }).into()
}

fn expand(_: &Context, ir: Ir) -> Outcome {
    let Ir::Fused(program) = ir else { return mismatch("expand", &ir) };
    let target = rake_backends::target(program.profile);
    Ok(passes::expand::run(program, target)).into()
}

fn peel(_: &Context, ir: Ir) -> Outcome {
    let Ir::Fused(program) = ir else { return mismatch("peel", &ir) };
    let target = rake_backends::target(program.profile);
    Outcome { ir: Some(passes::peel::run(program, target).into()), diagnostics: Vec::new() }
}

fn transpose(_: &Context, ir: Ir) -> Outcome {
    let Ir::Fused(program) = ir else { return mismatch("transpose", &ir) };
    Ok(passes::transpose::run(program)).into()
}

fn sanitise(_: &Context, ir: Ir) -> Outcome {
    let Ir::Fused(program) = ir else { return mismatch("sanitise", &ir) };
    Ok(passes::sanitise::run(program)).into()
}

fn simplify(_: &Context, ir: Ir) -> Outcome {
    let Ir::Fused(program) = ir else { return mismatch("simplify", &ir) };
    Ok(passes::simplify::run(program)).into()
}

fn select(_: &Context, ir: Ir) -> Outcome {
    let Ir::Fused(program) = ir else { return mismatch("select", &ir) };
    passes::select::run(&program, rake_backends::target(program.profile)).into()
}

fn schedule(_: &Context, ir: Ir) -> Outcome {
    let Ir::Selected(program) = ir else { return mismatch("schedule", &ir) };
    Ok(passes::schedule::run(&program)).into()
}

fn allocate(_: &Context, ir: Ir) -> Outcome {
    let Ir::Selected(program) = ir else { return mismatch("allocate", &ir) };
    passes::allocate::run(&program).into()
}

fn stackify(_: &Context, ir: Ir) -> Outcome {
    let Ir::Selected(program) = ir else { return mismatch("stackify", &ir) };
    Ok(passes::stackify::run(&program)).into()
}
