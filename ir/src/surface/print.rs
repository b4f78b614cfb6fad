//! Prints `surface` as canonical source, which parses back to the same tree: the formatter.
//!
//! Two spaces a level, one statement a line, one empty line between definitions (none between consecutive one-line
//! ones), parentheses only where precedence asks for them. Comments stand on lines of their own before the statement they
//! precede, or at the end of the line they followed.

use std::fmt::Write;

use super::{
    Block, Comment, Def, DefKind, Expr, ExprId, ExprKind, FieldGroup, FieldInit, File, Function, Loop, Number, Param,
    Stmt, StmtId, StmtKind, TypeId, TypeKind, UnaryOp,
};

/// The whole file.
pub fn print(file: &File) -> String {
    let mut printer = Printer::new(file);
    let mut previous_multiline = false;
    for (index, def) in file.defs.iter().enumerate() {
        let multiline = has_body(def);
        if index > 0 && (multiline || previous_multiline) {
            printer.out.push('\n');
        }
        printer.comments_before(def.span.start);
        printer.def(def);
        previous_multiline = multiline;
    }
    printer.comments_before(u32::MAX);
    printer.out
}

/// One expression on one line (several when it holds a slow block), for messages and dumps.
pub fn print_expr(file: &File, expr: ExprId) -> String {
    let mut printer = Printer::new(file);
    printer.comments = &[];
    printer.expr(expr);
    printer.out
}

/// One type.
pub fn print_type(file: &File, ty: TypeId) -> String {
    let mut printer = Printer::new(file);
    printer.ty(ty);
    printer.out
}

fn has_body(def: &Def) -> bool {
    matches!(def.kind, DefKind::Scratch(_) | DefKind::Rake(_) | DefKind::Run(_) | DefKind::Slow(_))
}

/// How tightly an expression's form binds: an `if` 0, binary operators their precedence, prefixes 6, the rest 7.
fn binding(expr: &Expr) -> u8 {
    match &expr.kind {
        ExprKind::If { .. } => 0,
        ExprKind::Binary { op, .. } => op.precedence(),
        ExprKind::Unary { .. } => PREFIX,
        ExprKind::Number(Number { negative: true, .. }) => PREFIX,
        _ => PRIMARY,
    }
}

const PREFIX: u8 = 6;
const PRIMARY: u8 = 7;

struct Printer<'a> {
    file: &'a File,
    comments: &'a [Comment],
    out: String,
    indent: usize,
    /// The statement that a `;` follows, because its value is not its slow block's.
    discarded: Option<StmtId>,
}

impl<'a> Printer<'a> {
    fn new(file: &'a File) -> Printer<'a> {
        Printer { file, comments: &file.comments, out: String::new(), indent: 0, discarded: None }
    }

    fn text(&mut self, text: &str) {
        self.out.push_str(text);
    }

    fn start_line(&mut self) {
        self.out.extend(std::iter::repeat_n("  ", self.indent));
    }

    /// Prints the comments that stand before `offset` on lines of their own.
    fn comments_before(&mut self, offset: u32) {
        while let Some((comment, rest)) = self.comments.split_first().filter(|(first, _)| first.span.start < offset) {
            self.comments = rest;
            self.start_line();
            self.comment(comment);
            self.out.push('\n');
        }
    }

    /// Ends a line, with the comments that follow the statement ending at `end` on its line.
    fn end_line(&mut self, end: u32) {
        while let Some((comment, rest)) = self.comments.split_first().filter(|(first, _)| first.follows == Some(end)) {
            self.comments = rest;
            self.text(" ");
            self.comment(comment);
        }
        self.out.push('\n');
    }

    fn comment(&mut self, comment: &Comment) {
        self.text(comment.text.trim_end());
        // A block comment that the file's end cut off.
        if comment.text.starts_with("(*") && !comment.text.ends_with("*)") {
            self.text(" *)");
        }
    }

    fn def(&mut self, def: &Def) {
        let name = def.name.text.as_str();
        match &def.kind {
            DefKind::Scratch(function) => return self.function("scratch", name, function),
            DefKind::Rake(function) => return self.function("rake", name, function),
            DefKind::Run(function) => return self.function("run", name, function),
            DefKind::Slow(function) => return self.function("slow", name, function),
            DefKind::ExternSlow { params, result, header } => {
                self.text("extern slow ");
                self.signature(name, params, *result);
                let _ = write!(self.out, " from \"{}\"", header.raw);
            }
            DefKind::Tine { params, predicate } => {
                self.text("tine #");
                self.signature(name, params, None);
                self.text(" means ");
                self.expr(*predicate);
            }
            DefKind::Pack { groups } => self.aggregate("pack", name, None, groups),
            DefKind::Record { header, groups } => {
                self.aggregate("record", name, header.as_ref().map(|header| header.raw.as_str()), groups)
            }
            DefKind::Union { header, groups } => {
                self.aggregate("union", name, header.as_ref().map(|header| header.raw.as_str()), groups)
            }
            DefKind::State { ty, value } => {
                let _ = write!(self.out, "state {name}: ");
                self.ty(*ty);
                if let Some(value) = value {
                    self.text(" := ");
                    self.expr(*value);
                }
            }
            DefKind::Embed { path } => {
                let _ = write!(self.out, "embed {name} from \"{}\"", path.raw);
            }
            DefKind::Const { ty, value } => {
                let _ = write!(self.out, "const {name}: ");
                self.ty(*ty);
                self.text(" = ");
                self.expr(*value);
            }
        }
        self.end_line(def.span.end);
    }

    fn function(&mut self, word: &str, name: &str, function: &Function) {
        self.text(word);
        self.text(" ");
        self.signature(name, &function.params, function.result);
        self.body(&function.body);
    }

    fn signature(&mut self, name: &str, params: &[Param], result: Option<TypeId>) {
        self.text(name);
        self.text("(");
        self.separated(params, |printer, param| {
            let (open, close) = if param.uniform { ("<", ">") } else { ("", "") };
            let mutable = if param.mutable { "mut " } else { "" };
            let _ = write!(printer.out, "{open}{}: {mutable}", param.name.text);
            printer.ty(param.ty);
            printer.text(close);
        });
        self.text(")");
        if let Some(result) = result {
            self.text(" -> ");
            self.ty(result);
        }
    }

    fn aggregate(&mut self, word: &str, name: &str, header: Option<&str>, groups: &[FieldGroup]) {
        let _ = write!(self.out, "{word} {name} ");
        if let Some(header) = header {
            let _ = write!(self.out, "from \"{header}\" ");
        }
        self.text("{");
        for group in groups {
            self.text(" ");
            self.ty(group.ty);
            self.text(": ");
            self.separated(&group.names, |printer, name| printer.text(&name.text));
            self.text(";");
        }
        self.text(if groups.is_empty() { "}" } else { " }" });
    }

    fn separated<T>(&mut self, items: &[T], mut each: impl FnMut(&mut Self, &T)) {
        for (index, item) in items.iter().enumerate() {
            if index > 0 {
                self.text(", ");
            }
            each(self, item);
        }
    }

    /// `:` and the statements on lines of their own.
    fn body(&mut self, body: &Block) {
        self.text(":\n");
        self.indent += 1;
        self.statements(body);
        self.indent -= 1;
    }

    fn statements(&mut self, body: &Block) {
        for &stmt in &body.stmts {
            self.stmt(stmt);
        }
    }

    fn stmt(&mut self, id: StmtId) {
        let file = self.file;
        let stmt = &file.stmts[id];
        if let StmtKind::Region(stages) = &stmt.kind {
            for stage in stages {
                self.comments_before(stage.span.start);
                self.start_line();
                let _ = write!(self.out, "| {}", stage.name.text);
                self.annotation(stage.ty);
                self.text(" <| ");
                self.expr(stage.value);
                self.end_line(stage.span.end);
            }
            return;
        }
        self.comments_before(stmt.span.start);
        self.start_line();
        if !self.compound(stmt) {
            self.simple(stmt);
            if self.discarded == Some(id) {
                self.text(";");
            }
            self.end_line(stmt.span.end);
        }
    }

    /// A statement with a body; false when it has none.
    fn compound(&mut self, stmt: &Stmt) -> bool {
        match &stmt.kind {
            StmtKind::Through { predicate, otherwise, name, body } => {
                self.text("through ");
                self.expr(*predicate);
                if let Some(otherwise) = otherwise {
                    self.text(" else ");
                    self.expr(*otherwise);
                }
                let _ = write!(self.out, " into {}", name.text);
                self.body(body);
            }
            StmtKind::Sweep(arms) => {
                self.text("sweep:\n");
                self.indent += 1;
                for arm in arms {
                    self.comments_before(arm.span.start);
                    self.start_line();
                    self.text("| ");
                    match arm.predicate {
                        Some(predicate) => self.expr(predicate),
                        None => self.text("_"),
                    }
                    self.text(" => ");
                    self.expr(arm.value);
                    self.end_line(arm.span.end);
                }
                self.indent -= 1;
            }
            StmtKind::Repeat(counted) => self.counted("repeat", counted),
            StmtKind::For(counted) => self.counted("for", counted),
            StmtKind::While { condition, body } => {
                self.text("while ");
                self.expr(*condition);
                self.body(body);
            }
            StmtKind::If { arms, otherwise } => {
                for (index, (condition, body)) in arms.iter().enumerate() {
                    if index > 0 {
                        self.start_line();
                        self.text("else ");
                    }
                    self.text("if ");
                    self.expr(*condition);
                    self.body(body);
                }
                if let Some(otherwise) = otherwise {
                    self.start_line();
                    self.text("else");
                    self.body(otherwise);
                }
            }
            _ => return false,
        }
        true
    }

    fn counted(&mut self, word: &str, counted: &Loop) {
        self.text(word);
        self.text(" ");
        self.binder(&counted.index.text, counted.uniform, counted.ty);
        self.text(" from ");
        self.expr(counted.from);
        self.text(" up to ");
        self.expr(counted.to);
        if let Some(step) = counted.step {
            self.text(" by ");
            self.expr(step);
        }
        self.body(&counted.body);
    }

    /// `name: T` or `<name: T>`.
    fn binder(&mut self, name: &str, uniform: bool, ty: Option<TypeId>) {
        self.text(if uniform { "<" } else { "" });
        self.text(name);
        self.annotation(ty);
        self.text(if uniform { ">" } else { "" });
    }

    fn annotation(&mut self, ty: Option<TypeId>) {
        if let Some(ty) = ty {
            self.text(": ");
            self.ty(ty);
        }
    }

    fn simple(&mut self, stmt: &Stmt) {
        match &stmt.kind {
            StmtKind::Let { name, uniform, ty, value } => {
                self.text("let ");
                self.binder(&name.text, *uniform, *ty);
                self.text(" = ");
                self.expr(*value);
            }
            StmtKind::Location { name, ty, value } => {
                self.binder(&name.text, false, *ty);
                self.text(" := ");
                self.expr(*value);
            }
            StmtKind::Assign { place, value } => {
                self.expr(*place);
                self.text(" <- ");
                self.expr(*value);
            }
            StmtKind::Tine { name, predicate } => {
                let _ = write!(self.out, "tine #{} means ", name.text);
                self.expr(*predicate);
            }
            StmtKind::Return(value) => {
                self.text("return");
                if let Some(value) = value {
                    self.text(" ");
                    self.expr(*value);
                }
            }
            StmtKind::Break => self.text("break"),
            StmtKind::Continue => self.text("continue"),
            StmtKind::With { stack, fields, predicate } => {
                let _ = write!(self.out, "{} with ", stack.text);
                self.fields(fields);
                if let Some(predicate) = predicate {
                    self.text(" where ");
                    self.expr(*predicate);
                }
            }
            StmtKind::Compact { stack, fields, predicate } => {
                let _ = write!(self.out, "compact {}", stack.text);
                if !fields.is_empty() {
                    self.text(" with ");
                    self.fields(fields);
                }
                self.text(" where ");
                self.expr(*predicate);
            }
            StmtKind::Expr(expr) => self.expr(*expr),
            _ => self.text("<error>"),
        }
    }

    fn fields(&mut self, fields: &[FieldInit]) {
        self.text("{");
        for (index, field) in fields.iter().enumerate() {
            let _ = write!(self.out, "{} {}: ", if index > 0 { "," } else { "" }, field.name.text);
            self.expr(field.value);
        }
        self.text(if fields.is_empty() { "}" } else { " }" });
    }

    /// A subexpression, in parentheses when it binds less tightly than `least`.
    fn operand(&mut self, expr: ExprId, least: u8) {
        if binding(&self.file.exprs[expr]) < least {
            self.text("(");
            self.expr(expr);
            self.text(")");
        } else {
            self.expr(expr);
        }
    }

    /// A chain of binary operators, with a loop over its left operands: from an operator to a left operand that binds
    /// less tightly parentheses open, and the walk goes on inside them.
    fn chain(&mut self, expr: ExprId) {
        let (first, steps) = self.file.left_spine(expr);
        let least = |index: usize| steps.get(index).map_or(0, |step| left_least(step.op));
        // The operators whose expression stands in parentheses as the left operand of the next.
        let wrapped = |index: usize| steps[index].op.precedence() < least(index + 1);
        let opened = (0..steps.len()).filter(|&index| wrapped(index)).count();
        self.out.extend(std::iter::repeat_n('(', opened));
        self.left_operand(first, least(0), steps.first().is_some_and(|step| step.op.is_comparison()));
        for (index, step) in steps.iter().enumerate() {
            let _ = write!(self.out, " {} ", step.op.as_str());
            self.operand(step.right, step.op.precedence() + 1);
            if wrapped(index) {
                self.text(")");
            }
        }
    }

    /// The first operand of a chain; a `not` before a comparison needs parentheses.
    fn left_operand(&mut self, expr: ExprId, least: u8, compared: bool) {
        let not = matches!(self.file.exprs[expr].kind, ExprKind::Unary { op: UnaryOp::Not, .. });
        self.operand(expr, if compared && not { PRIMARY } else { least });
    }

    fn expr(&mut self, id: ExprId) {
        let file = self.file;
        match &file.exprs[id].kind {
            ExprKind::Binary { .. } => self.chain(id),
            ExprKind::Number(number) => {
                self.text(if number.negative { "-" } else { "" });
                self.text(&number.text);
            }
            ExprKind::Bool(value) => self.text(if *value { "true" } else { "false" }),
            ExprKind::Str(string) => {
                let _ = write!(self.out, "\"{}\"", string.raw);
            }
            ExprKind::Name(name) => self.text(name),
            ExprKind::Mark(inner) => {
                self.text("<");
                self.expr(*inner);
                self.text(">");
            }
            ExprKind::Tine { name, args } => {
                let _ = write!(self.out, "#{}", name.text);
                if let Some(args) = args {
                    self.args(args);
                }
            }
            ExprKind::Lanes(ty) => {
                self.text("lanes");
                if let Some(ty) = ty {
                    self.text("(");
                    self.ty(*ty);
                    self.text(")");
                }
            }
            ExprKind::LaneIndex => self.text("@"),
            ExprKind::Unary { op, operand } => self.unary(*op, *operand),
            ExprKind::If { condition, then, otherwise } => {
                self.text("if ");
                self.expr(*condition);
                self.text(" then ");
                self.expr(*then);
                self.text(" else ");
                self.expr(*otherwise);
            }
            kind => self.postfix(kind),
        }
    }

    fn unary(&mut self, op: UnaryOp, operand: ExprId) {
        self.text(if op == UnaryOp::Not { "not " } else { "-" });
        // Without parentheses the minus would belong to the number.
        let number = leads_with_number(self.file, operand);
        self.operand(operand, if op == UnaryOp::Neg && number { PRIMARY + 1 } else { PREFIX });
    }

    fn postfix(&mut self, kind: &ExprKind) {
        match kind {
            ExprKind::Field { base, field } => {
                // `2.x` would be a malformed number.
                let number = matches!(self.file.exprs[*base].kind, ExprKind::Number(_));
                self.operand(*base, PRIMARY + u8::from(number));
                let _ = write!(self.out, ".{}", field.text);
            }
            ExprKind::Index { base, index, unchecked, bound } => {
                self.operand(*base, PRIMARY);
                self.text(if *unchecked { "[unchecked " } else { "[" });
                self.expr(*index);
                if let Some(bound) = bound {
                    self.text(" up to ");
                    self.expr(*bound);
                }
                self.text("]");
            }
            ExprKind::Gaps(base) => {
                self.operand(*base, PRIMARY);
                self.text(" gaps");
            }
            ExprKind::Call { callee, ty, args } => {
                self.text(&callee.text);
                match ty {
                    Some(ty) => {
                        self.text("(");
                        self.ty(*ty);
                        for &arg in args {
                            self.text(", ");
                            self.expr(arg);
                        }
                        self.text(")");
                    }
                    None => self.args(args),
                }
            }
            ExprKind::Convert { ty, args } => {
                self.ty(*ty);
                self.args(args);
            }
            ExprKind::Record { name, fields } => {
                let _ = write!(self.out, "{} ", name.text);
                self.fields(fields);
            }
            ExprKind::Stack { name, fields } => {
                let _ = write!(self.out, "stack {} ", name.text);
                self.fields(fields);
            }
            ExprKind::Array(items) => {
                self.text("[");
                self.separated(items, |printer, &item| printer.expr(item));
                self.text("]");
            }
            ExprKind::ArrayFill { value, count } => {
                self.text("[");
                self.expr(*value);
                self.text("; ");
                self.expr(*count);
                self.text("]");
            }
            ExprKind::Slow { body, has_value } => self.slow(body, *has_value),
            _ => self.text("<error>"),
        }
    }

    /// A slow block on several lines. A last expression without a value is followed by a `;`.
    fn slow(&mut self, body: &Block, has_value: bool) {
        if body.stmts.is_empty() {
            return self.text("slow {}");
        }
        self.text("slow {\n");
        self.indent += 1;
        self.discarded = body
            .stmts
            .last()
            .copied()
            .filter(|&last| !has_value && matches!(self.file.stmts[last].kind, StmtKind::Expr(_)));
        self.statements(body);
        self.indent -= 1;
        self.start_line();
        self.text("}");
    }

    fn args(&mut self, args: &[ExprId]) {
        self.text("(");
        self.separated(args, |printer, &arg| printer.expr(arg));
        self.text(")");
    }

    fn ty(&mut self, id: TypeId) {
        let file = self.file;
        match &file.types[id].kind {
            TypeKind::Scalar(elem) => self.text(elem.name()),
            TypeKind::Rack(elem) => {
                let _ = write!(self.out, "{}s", elem.name());
            }
            TypeKind::Mask => self.text("mask"),
            TypeKind::Named(name) => self.text(&name.text),
            TypeKind::Stack(name) => {
                let _ = write!(self.out, "stack {}", name.text);
            }
            TypeKind::View(element) => {
                self.text("[]");
                self.ty(*element);
            }
            TypeKind::Array { count, element } => {
                self.text("[");
                self.expr(*count);
                self.text("]");
                self.ty(*element);
            }
            TypeKind::Ptr { read_only, target } => {
                self.text(if *read_only { "ptr const " } else { "ptr " });
                self.ty(*target);
            }
            TypeKind::Function { params, result } => {
                self.text("slow(");
                self.separated(params, |printer, &param| printer.ty(param));
                self.text(") -> ");
                self.ty(*result);
            }
            TypeKind::Unit => self.text("()"),
            TypeKind::Error => self.text("<error>"),
        }
    }
}

/// How tightly a left operand must bind: comparisons do not chain.
fn left_least(op: super::BinaryOp) -> u8 {
    op.precedence() + u8::from(op.is_comparison())
}

/// Whether an expression's text starts with a number without a minus.
fn leads_with_number(file: &File, mut expr: ExprId) -> bool {
    loop {
        match &file.exprs[expr].kind {
            ExprKind::Number(number) => return !number.negative,
            ExprKind::Field { base, .. } | ExprKind::Index { base, .. } | ExprKind::Gaps(base) => expr = *base,
            _ => return false,
        }
    }
}
