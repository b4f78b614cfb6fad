//! resolve: a check of `surface`. Every name is bound once and refers to something; calls do not recurse and their chains
//! are at most 32 deep.
//!
//! ```text
//! scratch f(x: f32s) -> f32s:
//!   let y = x * x
//!   let y = z            error: `y` is bound twice; error: nothing is named `z`, did you mean `x`?
//!   g(y)                 a definition below is found
//! ```
//!
//! Definitions may be used before they stand. A definition named like an operation of the vocabulary takes its place in
//! calls, except in its own body, where the name still means the operation. Tines have a namespace of their own, `#name`: a
//! local one refers to those before it, a global one to any.
//! Bodies of slow functions belong to later checkers.

mod calls;
mod scope;
pub(crate) mod suggest;

use rake_ir::diag::{Code, Diagnostic};
use rake_ir::limits;
use rake_ir::ops::Op;
use rake_ir::span::Span;
use rake_ir::surface::{
    BinaryOp, Block, Def, DefKind, ExprId, ExprKind, FieldInit, File, Function, Name, Param, StmtId, StmtKind,
};
use scope::Scope;
use smol_str::{SmolStr, format_smolstr};
use std::collections::{HashMap, HashSet};

/// Checks the names of a file. The diagnostics come in source order of the definitions they are about.
pub fn run(file: &File) -> Vec<Diagnostic> {
    let mut resolver = Resolver {
        file,
        defs: HashMap::new(),
        scope: Scope::default(),
        locations: HashSet::new(),
        tines: HashMap::new(),
        edges: vec![Vec::new(); file.defs.len()],
        current: 0,
        diagnostics: Vec::new(),
    };
    if file.defs.len() > limits::DEFINITIONS {
        let text = format!("a file holds at most {} definitions", limits::DEFINITIONS);
        return vec![Diagnostic::error(Code::LimitExceeded, file.defs[limits::DEFINITIONS].name.span, text)];
    }
    resolver.definitions();
    for (index, def) in file.defs.iter().enumerate() {
        resolver.current = index;
        resolver.definition(def);
    }
    calls::check(file, &resolver.edges, &mut resolver.diagnostics);
    resolver.diagnostics
}

/// The words of C (C23 and the usual extensions) that no definition can be named after.
const C_KEYWORDS: &[&str] = &[
    "alignas",
    "alignof",
    "asm",
    "auto",
    "bool",
    "break",
    "case",
    "char",
    "const",
    "constexpr",
    "continue",
    "default",
    "do",
    "double",
    "else",
    "enum",
    "extern",
    "false",
    "float",
    "for",
    "goto",
    "if",
    "inline",
    "int",
    "long",
    "nullptr",
    "register",
    "restrict",
    "return",
    "short",
    "signed",
    "sizeof",
    "static",
    "static_assert",
    "struct",
    "switch",
    "thread_local",
    "true",
    "typedef",
    "typeof",
    "typeof_unqual",
    "union",
    "unsigned",
    "void",
    "volatile",
    "while",
];

/// Whether C keeps the name for itself: `_Bool`, `__asm__`, `__restrict`.
fn reserved_in_c(name: &str) -> bool {
    name.strip_prefix('_').is_some_and(|rest| rest.starts_with(|c: char| c == '_' || c.is_ascii_uppercase()))
}

/// A definition's name in the one namespace: tines carry their `#`.
fn key(def: &Def) -> SmolStr {
    match def.kind {
        DefKind::Tine { .. } => format_smolstr!("#{}", def.name.text),
        _ => def.name.text.clone(),
    }
}

/// What a definition is, with its article.
fn kind_words(kind: &DefKind) -> &'static str {
    match kind {
        DefKind::Scratch(_) => "a scratch",
        DefKind::Rake(_) => "a rake",
        DefKind::Run(_) => "a run",
        DefKind::Slow(_) | DefKind::ExternSlow { .. } => "a slow function",
        DefKind::Tine { .. } => "a tine",
        DefKind::Pack { .. } => "a pack",
        DefKind::Record { .. } => "a record",
        DefKind::Union { .. } => "a union",
        DefKind::State { .. } => "module state",
        DefKind::Embed { .. } => "an embedded file",
        DefKind::Const { .. } => "a constant",
    }
}

struct Resolver<'a> {
    file: &'a File,
    defs: HashMap<SmolStr, usize>,
    scope: Scope,
    /// Where the mutable locations in scope are declared.
    locations: HashSet<Span>,
    /// Where the rake's own tines stand.
    tines: HashMap<&'a str, Span>,
    /// Per definition, what its body calls and where.
    edges: Vec<Vec<(usize, Span)>>,
    current: usize,
    diagnostics: Vec<Diagnostic>,
}

impl<'a> Resolver<'a> {
    fn error(&mut self, code: Code, span: Span, message: String) -> &mut Diagnostic {
        self.diagnostics.push(Diagnostic::error(code, span, message));
        let last = self.diagnostics.len() - 1;
        &mut self.diagnostics[last]
    }

    fn definitions(&mut self) {
        for (index, def) in self.file.defs.iter().enumerate() {
            let key = key(def);
            if let Some(&first) = self.defs.get(&key) {
                let first = self.file.defs[first].name.span;
                let error = Diagnostic::error(Code::BoundTwice, def.name.span, format!("`{key}` is defined twice"));
                self.diagnostics.push(error.label(first, "first defined here"));
                continue;
            }
            self.defs.insert(key, index);
            let function = matches!(
                def.kind,
                DefKind::Scratch(_)
                    | DefKind::Rake(_)
                    | DefKind::Run(_)
                    | DefKind::Slow(_)
                    | DefKind::ExternSlow { .. }
            );
            let text = def.name.text.as_str();
            if function && (C_KEYWORDS.contains(&text) || reserved_in_c(text)) {
                let is = if reserved_in_c(text) { "belongs to C's own names" } else { "is a keyword of C" };
                let message = format!("`{text}` {is} and cannot name a C function");
                let help = format!("choose another name, such as `{}_`", text.trim_matches('_').to_lowercase());
                self.error(Code::CKeyword, def.name.span, message).help = Some(help);
            }
        }
    }

    fn definition(&mut self, def: &'a Def) {
        match &def.kind {
            DefKind::Scratch(function) | DefKind::Rake(function) | DefKind::Run(function) => self.function(function),
            DefKind::Tine { params, predicate } => {
                self.scope.open();
                self.params(params);
                self.expr(*predicate);
                self.scope.close();
            }
            DefKind::Const { value, .. } => self.expr(*value),
            _ => {}
        }
    }

    fn function(&mut self, function: &'a Function) {
        self.scope.open();
        self.params(&function.params);
        let tines = function.body.stmts.iter().filter_map(|&stmt| match &self.file.stmts[stmt].kind {
            StmtKind::Tine { name, .. } => Some((name.text.as_str(), name.span)),
            _ => None,
        });
        self.tines = tines.collect();
        for &stmt in &function.body.stmts {
            self.stmt(stmt);
        }
        self.scope.close();
        self.locations.clear();
        self.tines.clear();
    }

    fn params(&mut self, params: &'a [Param]) {
        for param in params {
            self.bind(&param.name);
        }
    }

    fn bind(&mut self, name: &Name) {
        self.bind_key(name.text.clone(), name.span);
    }

    fn bind_key(&mut self, key: SmolStr, span: Span) {
        if let Some((first, same_scope)) = self.scope.find(&key) {
            let (code, words) = if same_scope {
                (Code::BoundTwice, "is bound twice")
            } else {
                (Code::Shadowed, "hides a name of the enclosing scope")
            };
            let error = Diagnostic::error(code, span, format!("`{key}` {words}"));
            let help = "choose another name; names are bound once and never shadow";
            self.diagnostics.push(error.label(first, "first bound here").help(help));
            return;
        }
        if let Some(&index) = self.defs.get(&key) {
            let def = &self.file.defs[index];
            let message = format!("`{key}` hides {} of this name", kind_words(&def.kind));
            let error = Diagnostic::error(Code::Shadowed, span, message).label(def.name.span, "defined here");
            self.diagnostics.push(error.help("choose another name; names never shadow a definition"));
        }
        self.scope.bind(key, span);
    }

    /// Declares a mutable location; a second `:=` is taken for an assignment.
    fn location(&mut self, name: &Name) {
        match self.scope.find(&name.text) {
            Some((first, _)) if self.locations.contains(&first) => {
                let message = format!("`{}` is declared twice", name.text);
                let error = Diagnostic::error(Code::BoundTwice, name.span, message).label(first, "first declared here");
                let help = format!("`:=` declares a location; to assign it write `{} <- ...`", name.text);
                self.diagnostics.push(error.help(help));
            }
            _ => {
                self.bind(name);
                self.locations.insert(name.span);
            }
        }
    }

    fn block(&mut self, block: &'a Block) {
        self.scope.open();
        for &stmt in &block.stmts {
            self.stmt(stmt);
        }
        self.scope.close();
    }

    fn stmt(&mut self, stmt: StmtId) {
        let file = self.file;
        match &file.stmts[stmt].kind {
            StmtKind::Let { name, value, .. } => {
                self.expr(*value);
                self.bind(name);
            }
            StmtKind::Location { name, value, .. } => {
                self.expr(*value);
                self.location(name);
            }
            StmtKind::Region(stages) => {
                for stage in stages {
                    self.expr(stage.value);
                    self.bind(&stage.name);
                }
            }
            StmtKind::Assign { place, value } => {
                self.expr(*place);
                self.expr(*value);
            }
            StmtKind::Tine { name, predicate } => {
                self.expr(*predicate);
                self.bind_key(format_smolstr!("#{}", name.text), name.span);
            }
            StmtKind::Through { predicate, otherwise, name, body } => {
                self.expr(*predicate);
                otherwise.iter().for_each(|&e| self.expr(e));
                self.block(body);
                self.bind(name);
            }
            StmtKind::Sweep(arms) => {
                for arm in arms {
                    arm.predicate.iter().for_each(|&e| self.expr(e));
                    self.expr(arm.value);
                }
            }
            StmtKind::Repeat(looped) | StmtKind::For(looped) => {
                [looped.from, looped.to].into_iter().chain(looped.step).for_each(|e| self.expr(e));
                self.scope.open();
                self.bind(&looped.index);
                looped.body.stmts.iter().for_each(|&stmt| self.stmt(stmt));
                self.scope.close();
            }
            StmtKind::While { condition, body } => {
                self.expr(*condition);
                self.block(body);
            }
            StmtKind::If { arms, otherwise } => {
                for (condition, body) in arms {
                    self.expr(*condition);
                    self.block(body);
                }
                otherwise.iter().for_each(|body| self.block(body));
            }
            StmtKind::Return(value) => value.iter().for_each(|&e| self.expr(e)),
            StmtKind::Expr(value) => match self.meant_binding(*value) {
                Some((name, span)) => self.bind_as_meant(name, span),
                None => self.expr(*value),
            },
            StmtKind::With { stack, fields, predicate } => self.replaced(stack, fields, *predicate),
            StmtKind::Compact { stack, fields, predicate } => self.replaced(stack, fields, Some(*predicate)),
            StmtKind::Break | StmtKind::Continue | StmtKind::Error => {}
        }
    }

    /// The result of a stack run.
    fn replaced(&mut self, stack: &Name, fields: &'a [FieldInit], predicate: Option<ExprId>) {
        self.value_name(&stack.text, stack.span);
        predicate.iter().for_each(|&e| self.expr(e));
        fields.iter().for_each(|field| self.expr(field.value));
    }

    fn bind_as_meant(&mut self, name: SmolStr, span: Span) {
        let message = format!("nothing here is named `{name}`, and `=` compares");
        let help = format!("to bind the name write `let {name} = ...`, or `{name} := ...` to assign it later");
        self.error(Code::UndefinedName, span, message).help = Some(help);
        self.scope.bind(name, span);
    }

    /// The undefined name on the left of a statement `y = x`: a binding as other languages write it.
    fn meant_binding(&self, value: ExprId) -> Option<(SmolStr, Span)> {
        let ExprKind::Binary { op: BinaryOp::Eq, left, .. } = self.file.exprs[value].kind else { return None };
        let ExprKind::Name(name) = &self.file.exprs[left].kind else { return None };
        let defined = self.scope.find(name).is_some() || self.defs.contains_key(name);
        (!defined).then(|| (name.clone(), self.file.exprs[left].span))
    }

    fn expr(&mut self, expr: ExprId) {
        let file = self.file;
        let (base, steps) = file.left_spine(expr);
        self.operand(base);
        for step in steps {
            self.expr(step.right);
        }
    }

    /// An expression that is no infix operation.
    fn operand(&mut self, expr: ExprId) {
        let file = self.file;
        let span = file.exprs[expr].span;
        match &file.exprs[expr].kind {
            ExprKind::Name(name) => self.value_name(name, span),
            ExprKind::Mark(inner) | ExprKind::Gaps(inner) => self.expr(*inner),
            ExprKind::Unary { operand, .. } => self.expr(*operand),
            ExprKind::Field { base, .. } => self.expr(*base),
            ExprKind::Tine { name, args } => {
                self.tine(name);
                args.iter().flatten().for_each(|&e| self.expr(e));
            }
            ExprKind::If { condition, then, otherwise } => {
                [condition, then, otherwise].into_iter().for_each(|&e| self.expr(e));
            }
            ExprKind::Index { base, index, bound, .. } => {
                [*base, *index].into_iter().chain(*bound).for_each(|e| self.expr(e));
            }
            ExprKind::Call { callee, args, .. } => {
                self.callee(callee);
                args.iter().for_each(|&e| self.expr(e));
            }
            ExprKind::Convert { args, .. } | ExprKind::Array(args) => args.iter().for_each(|&e| self.expr(e)),
            ExprKind::Record { fields, .. } | ExprKind::Stack { fields, .. } => {
                fields.iter().for_each(|field| self.expr(field.value));
            }
            ExprKind::ArrayFill { value, count } => [value, count].into_iter().for_each(|&e| self.expr(e)),
            _ => {}
        }
    }

    fn value_name(&mut self, name: &SmolStr, span: Span) {
        if self.scope.find(name).is_some() {
            return;
        }
        match self.defs.get(name).map(|&index| &self.file.defs[index].kind) {
            Some(DefKind::Const { .. } | DefKind::State { .. } | DefKind::Embed { .. }) => {}
            Some(kind @ (DefKind::Scratch(_) | DefKind::Rake(_))) => {
                let message = format!("`{name}` is {} and not a value", kind_words(kind));
                self.error(Code::WrongKind, span, message).help = Some(format!("call it: `{name}(...)`"));
            }
            Some(kind) => {
                let message = format!("`{name}` is {} and not a value", kind_words(kind));
                self.error(Code::WrongKind, span, message);
            }
            None => self.undefined(name, span, "nothing here is named", false),
        }
    }

    fn tine(&mut self, name: &Name) {
        let key = format_smolstr!("#{}", name.text);
        if self.scope.find(&key).is_some() {
            return;
        }
        match self.defs.get(&key) {
            Some(&index) => self.edges[self.current].push((index, name.span)),
            None => self.no_tine(name),
        }
    }

    fn no_tine(&mut self, name: &Name) {
        let text = &name.text;
        if let Some(&below) = self.tines.get(text.as_str()) {
            let message = format!("the tine `#{text}` is bound further down");
            let error = Diagnostic::error(Code::UndefinedName, name.span, message).label(below, "bound here");
            self.diagnostics.push(error.help("a tine of a rake refers to those before it; move that one up"));
            return;
        }
        let help = if self.scope.find(text).is_some() {
            Some(format!("`{text}` is a value and no tine; write it without `#`"))
        } else {
            let defs = self.file.defs.iter().filter(|def| matches!(def.kind, DefKind::Tine { .. }));
            let globals = defs.map(|def| def.name.text.as_str());
            let locals = self.scope.names().filter_map(|name| name.strip_prefix('#'));
            suggest::nearest(text, globals.chain(locals)).map(|nearest| format!("did you mean `#{nearest}`?"))
        };
        self.error(Code::UndefinedName, name.span, format!("there is no tine `#{text}`")).help = help;
    }

    fn callee(&mut self, name: &Name) {
        let vocabulary = is_vocabulary(&name.text);
        if self.scope.find(&name.text).is_some() {
            if !vocabulary {
                let message = format!("`{}` is a value and cannot be called", name.text);
                self.error(Code::WrongKind, name.span, message);
            }
            return;
        }
        match self.defs.get(&name.text).copied() {
            Some(index) if index == self.current && vocabulary => {}
            Some(index) => {
                let kind = &self.file.defs[index].kind;
                match kind {
                    DefKind::Scratch(_) | DefKind::Rake(_) => self.edges[self.current].push((index, name.span)),
                    DefKind::Run(_) | DefKind::Slow(_) | DefKind::ExternSlow { .. } => {}
                    _ => {
                        let message = format!("`{}` is {} and cannot be called", name.text, kind_words(kind));
                        self.error(Code::WrongKind, name.span, message);
                    }
                }
            }
            None if vocabulary => {}
            None => self.undefined(&name.text, name.span, "there is no operation or definition", true),
        }
    }

    fn undefined(&mut self, name: &SmolStr, span: Span, words: &str, called: bool) {
        let defs = self.file.defs.iter().map(key);
        let operations = rake_ir::ops::OPS.iter().filter(|_| called).map(|row| SmolStr::new(row.spelling));
        let candidates: Vec<SmolStr> = self.scope.names().cloned().chain(defs).chain(operations).collect();
        let tine = format_smolstr!("#{name}");
        let help = if candidates.contains(&tine) {
            Some(format!("a tine is written with its sign: `{tine}`"))
        } else {
            let plain = candidates.iter().map(SmolStr::as_str).filter(|name| !name.starts_with('#'));
            suggest::nearest(name, plain).map(|nearest| format!("did you mean `{nearest}`?"))
        };
        self.error(Code::UndefinedName, span, format!("{words} `{name}`")).help = help;
    }
}

/// Whether the name is called as an operation of the vocabulary.
pub(crate) fn is_vocabulary(name: &str) -> bool {
    Op::from_call(name).is_some() || matches!(name, "bitcast" | "wrap" | "widen")
}

#[cfg(test)]
mod tests;
