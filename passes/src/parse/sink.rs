//! Where the lexer, the layout and the parser report to: capped, one error a place, in source order.

use std::collections::BTreeSet;

use rake_ir::diag::{Code, Diagnostic};

/// After this many errors the rest is not reported.
pub const MAX_ERRORS: usize = 50;

/// Collects diagnostics.
#[derive(Default, Debug)]
pub struct Sink {
    diagnostics: Vec<Diagnostic>,
    places: BTreeSet<u32>,
    full: bool,
}

impl Sink {
    /// Adds a diagnostic, unless its place has one or the cap is reached.
    pub fn report(&mut self, diagnostic: Diagnostic) {
        let Some(span) = diagnostic.span() else {
            self.diagnostics.push(diagnostic);
            return;
        };
        if self.full || !self.places.insert(span.start) {
            return;
        }
        if self.diagnostics.len() == MAX_ERRORS {
            self.full = true;
            let message = format!("more than {MAX_ERRORS} errors; the rest are not shown");
            self.diagnostics.push(Diagnostic::error(Code::TooManyErrors, span, message));
            return;
        }
        self.diagnostics.push(diagnostic);
    }

    /// Whether nothing more will be reported.
    pub fn is_full(&self) -> bool {
        self.full
    }

    /// The diagnostics in source order, the note about their number last.
    pub fn finish(mut self) -> Vec<Diagnostic> {
        self.diagnostics.sort_by_key(|diagnostic| {
            (diagnostic.code == Code::TooManyErrors, diagnostic.span().map_or(0, |span| span.start))
        });
        self.diagnostics
    }
}
