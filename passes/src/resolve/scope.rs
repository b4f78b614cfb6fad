//! The names in scope, innermost last.

use rake_ir::span::Span;
use smol_str::SmolStr;
use std::collections::HashMap;

/// A stack of scopes in which no name stands twice.
#[derive(Default)]
pub struct Scope {
    /// Where each name is bound, and at which depth.
    bound: HashMap<SmolStr, (Span, usize)>,
    /// The names of each open scope.
    open: Vec<Vec<SmolStr>>,
}

impl Scope {
    /// Opens an inner scope.
    pub fn open(&mut self) {
        self.open.push(Vec::new());
    }

    /// Closes the innermost scope.
    pub fn close(&mut self) {
        for name in self.open.pop().unwrap_or_default() {
            self.bound.remove(&name);
        }
    }

    /// Binds a name in the innermost scope.
    pub fn bind(&mut self, name: SmolStr, span: Span) {
        let depth = self.open.len();
        if let Some(names) = self.open.last_mut() {
            names.push(name.clone());
            self.bound.insert(name, (span, depth));
        }
    }

    /// Where a name is bound, and whether in the innermost scope.
    pub fn find(&self, name: &str) -> Option<(Span, bool)> {
        self.bound.get(name).map(|&(span, depth)| (span, depth == self.open.len()))
    }

    /// Every name in scope, outermost first.
    pub fn names(&self) -> impl Iterator<Item = &SmolStr> {
        self.open.iter().flatten()
    }
}
