//! Printer and reader that `tined` and `fused` share.

use super::{Args, Close, Function, Open, Param, Program, Region, Stmt, Value, ValueId};
use crate::diag::Diagnostic;
use crate::ops::{Imm, ImmKind, Op, TrapReason};
use crate::span::FileId;
use crate::text::{Line, Lines, Result, Token, header, push_note};
use crate::types::{Elem, Pointee, Ty};
use crate::value::literal;
use la_arena::Arena;
use std::collections::HashMap;
use std::fmt::Write;

/// The program as a dump.
pub fn print<R: Region>(program: &Program<R>) -> String {
    let mut out = header(R::IR, program.profile, program.fuse);
    for function in &program.functions {
        out.push('\n');
        print_function(function, &mut out);
    }
    out
}

/// Each value's number in dumps, by its index in the arena; `None` for one that no statement computes.
pub fn number<R: Region>(function: &Function<R>) -> Vec<Option<u32>> {
    let mut numbers = vec![None; function.values.len()];
    let mut next = 0..;
    let mut give = |ids: &[ValueId]| {
        for id in ids {
            if let Some(slot) = numbers.get_mut(id.into_raw().into_u32() as usize) {
                *slot = next.next();
            }
        }
    };
    for stmt in &function.body {
        match stmt {
            Stmt::Value(id) | Stmt::Open(Open::Traverse { index: id, .. }) => give(&[*id]),
            Stmt::Region(region) => {
                give(region.computed());
                give(region.hidden());
            }
            Stmt::Open(_) | Stmt::Else | Stmt::Close(_) => {}
        }
    }
    numbers
}

fn print_function<R: Region>(function: &Function<R>, out: &mut String) {
    let param = |p: &Param| match &p.points_to {
        Some(pointee) => format!("{}: {} to {pointee}", p.name, p.ty),
        None => format!("{}: {}", p.name, p.ty),
    };
    let params = function.params.iter().map(param).collect::<Vec<_>>().join(", ");
    let _ = match function.result_type() {
        Some(result) => writeln!(out, "scratch {}({params}) -> {result} {{", function.name),
        None => writeln!(out, "run {}({params}) {{", function.name),
    };
    let mut printer = FunctionPrinter { values: &function.values, numbers: number(function), depth: 1, out };
    for stmt in &function.body {
        match stmt {
            Stmt::Value(id) => printer.value(*id),
            Stmt::Region(region) => printer.block("region", |p| region.print(p)),
            Stmt::Open(open) => printer.open(open),
            Stmt::Else => printer.otherwise(),
            Stmt::Close(close) => printer.close(close),
        }
    }
    if let Some(result) = function.result {
        let line = format!("return {}", printer.name(result));
        printer.line(&line, None);
    }
    printer.out.push_str("}\n");
}

/// Prints the lines of one function.
pub struct FunctionPrinter<'a> {
    values: &'a Arena<Value>,
    numbers: Vec<Option<u32>>,
    depth: usize,
    out: &'a mut String,
}

impl FunctionPrinter<'_> {
    /// A value as operands name it: `%3`; `%?` when nothing computes it.
    pub fn name(&self, id: ValueId) -> String {
        match self.numbers.get(id.into_raw().into_u32() as usize) {
            Some(Some(number)) => format!("%{number}"),
            _ => "%?".into(),
        }
    }

    /// One line, indented, with a comment when there is one.
    pub fn line(&mut self, text: &str, note: Option<&str>) {
        let start = self.out.len();
        self.indent();
        self.out.push_str(text);
        push_note(self.out, start, note);
    }

    /// A block: its opening line, what `body` prints indented by one more, its closing line.
    pub fn block(&mut self, opener: &str, body: impl FnOnce(&mut Self)) {
        self.line(&format!("{opener} {{"), None);
        self.depth += 1;
        body(self);
        self.depth -= 1;
        self.line("}", None);
    }

    fn open(&mut self, open: &Open) {
        let line = match open {
            Open::Traverse { index, count, bits } => {
                format!("traverse {} up to {} by {bits} {{", self.name(*index), self.name(*count))
            }
            Open::Loop => "loop {".into(),
            Open::If(condition) => format!("if {} {{", self.name(*condition)),
        };
        self.line(&line, None);
        self.depth += 1;
    }

    fn otherwise(&mut self) {
        self.depth = self.depth.saturating_sub(1);
        self.line("} else {", None);
        self.depth += 1;
    }

    fn close(&mut self, close: &Close) {
        let mut line = "}".to_owned();
        if let Some(again) = close.again {
            let _ = write!(line, " again {}", self.name(again));
        }
        for (index, (carry, next)) in close.next.iter().enumerate() {
            let before = if index == 0 { " with" } else { "," };
            let _ = write!(line, "{before} {} = {}", self.name(*carry), self.name(*next));
        }
        self.depth = self.depth.saturating_sub(1);
        self.line(&line, None);
    }

    /// The line that defines a value.
    pub fn value(&mut self, id: ValueId) {
        let value = &self.values[id];
        let start = self.out.len();
        self.indent();
        let name = self.name(id);
        let _ = write!(self.out, "{name} : {} = {}", value.ty, value.op.name());
        if let Imm::Memory(elem) = value.imm {
            let _ = write!(self.out, " {elem}");
        }
        for (index, &arg) in value.args.iter().enumerate() {
            let arg = self.name(arg);
            let _ = write!(self.out, "{} {arg}", if index > 0 { "," } else { "" });
        }
        let comma = if value.args.is_empty() { "" } else { "," };
        match &value.imm {
            Imm::None | Imm::Memory(_) => {}
            Imm::Reason(reason) => {
                let _ = write!(self.out, "{comma} {}", reason.name());
            }
            Imm::Bits(bits) => {
                let _ = write!(self.out, "{comma} {}", literal(value.ty.elem(), *bits));
            }
            Imm::Int(number) => {
                let _ = write!(self.out, "{comma} {number}");
            }
            Imm::Lanes(lanes) => {
                let lanes: Vec<String> = lanes.iter().map(u16::to_string).collect();
                let _ = write!(self.out, "{comma} [{}]", lanes.join(", "));
            }
        }
        if let Some(mask) = value.mask {
            let mask = self.name(mask);
            let _ = write!(self.out, " if {mask}");
            if let Some(bits) = value.inactive {
                let _ = write!(self.out, " else {}", literal(value.ty.elem(), bits));
            }
        }
        push_note(self.out, start, value.name.as_deref());
    }

    fn indent(&mut self) {
        self.out.extend(std::iter::repeat_n("  ", self.depth));
    }
}

/// Reads a dump.
///
/// # Errors
/// What cannot be read: the header's fault, or the first fault of each function.
pub fn read<R: Region>(text: &str) -> std::result::Result<Program<R>, Vec<Diagnostic>> {
    /// More faults than this help nobody.
    const MOST: usize = 20;
    let mut lines = Lines::new(text, FileId(0));
    let (profile, fuse) = lines.header(R::IR).map_err(|e| vec![e])?;
    let (mut functions, mut faults) = (Vec::new(), Vec::new());
    while let Some(line) = lines.next() {
        match read_function(line, &mut lines) {
            Ok(function) => functions.push(function),
            Err(fault) => {
                faults.push(fault);
                while lines.peek().is_some_and(|mut line| !line.keyword("scratch") && !line.keyword("run")) {
                    lines.next();
                }
            }
        }
        if faults.len() == MOST {
            break;
        }
    }
    if faults.is_empty() { Ok(Program { profile, fuse, functions }) } else { Err(faults) }
}

fn read_function<R: Region>(mut line: Line, lines: &mut Lines) -> Result<Function<R>> {
    let run = line.keyword("run");
    if !run {
        line.expect_keyword("scratch")?;
    }
    let span = line.span();
    let name = line.word("a function's name")?.into();
    let params = read_params(&mut line)?;
    let mut result = None;
    if !run {
        line.expect("->")?;
        result = Some((line.span(), line.ty()?));
    }
    line.expect("{")?;
    line.end()?;
    let mut reader = FunctionReader { lines, ids: HashMap::new(), values: Arena::new() };
    let mut body = Vec::new();
    let mut depth = 0u32;
    loop {
        let mut line = reader.next(if run { "`}`" } else { "`return`" })?;
        if depth == 0 && run && line.sign("}") {
            line.end()?;
            return Ok(Function { name, span, params, values: reader.values, body, result: None });
        }
        if let Some((at, ty)) = result
            && line.keyword("return")
        {
            let result = reader.operand(&mut line)?;
            line.end()?;
            let actual = reader.values[result].ty;
            if actual != ty {
                return Err(crate::text::malformed(at, format!("the result's type is {actual}, not {ty}")));
            }
            reader.close()?;
            return Ok(Function { name, span, params, values: reader.values, body, result: Some(result) });
        }
        body.push(reader.statement(line, &mut depth)?);
    }
}

fn read_params(line: &mut Line) -> Result<Vec<Param>> {
    let mut params = Vec::new();
    line.expect("(")?;
    while !line.sign(")") {
        if !params.is_empty() {
            line.expect(",")?;
        }
        let span = line.span();
        let name = line.word("a parameter's name")?.into();
        line.expect(":")?;
        let ty = line.ty()?;
        let points_to = if line.keyword("to") { Some(read_pointee(line)?) } else { None };
        params.push(Param { name, ty, points_to, span });
    }
    Ok(params)
}

/// Reads what [`Pointee`] prints.
pub(crate) fn read_pointee(line: &mut Line) -> Result<Pointee> {
    let mutable = line.keyword("mut");
    if !line.keyword("stack") {
        line.expect("[")?;
        line.expect("]")?;
        return Ok(Pointee::View { elem: read_elem(line)?, mutable });
    }
    let pack = line.word("a pack's name")?.into();
    let mut columns = Vec::new();
    line.expect("(")?;
    while !line.sign(")") {
        if !columns.is_empty() {
            line.expect(",")?;
        }
        let name = line.word("a column's name")?.into();
        line.expect(":")?;
        columns.push((name, read_elem(line)?));
    }
    Ok(Pointee::Stack { pack, columns, mutable })
}

fn read_elem(line: &mut Line) -> Result<Elem> {
    let wrong = line.expected("an element such as `f32`");
    Elem::from_name(line.word("an element")?).ok_or(wrong)
}

/// Reads the lines of one function.
pub struct FunctionReader<'r, 'a> {
    lines: &'r mut Lines<'a>,
    ids: HashMap<u32, ValueId>,
    values: Arena<Value>,
}

impl<'a> FunctionReader<'_, 'a> {
    /// The next line.
    ///
    /// # Errors
    /// When the dump ends, naming what should have come.
    pub fn next(&mut self, what: &str) -> Result<Line<'a>> {
        self.lines.expect(what)
    }

    /// The next line without taking it.
    pub fn peek(&self) -> Option<Line<'a>> {
        self.lines.peek()
    }

    /// Reads one statement that begins with this line.
    fn statement<R: Region>(&mut self, mut line: Line<'a>, depth: &mut u32) -> Result<Stmt<R>> {
        if line.keyword("region") {
            line.expect("{")?;
            line.end()?;
            return Ok(Stmt::Region(R::read(self)?));
        }
        let open = if line.keyword("traverse") {
            Some(self.traverse(&mut line)?)
        } else if line.keyword("loop") {
            Some(Open::Loop)
        } else if line.keyword("if") {
            Some(Open::If(self.operand(&mut line)?))
        } else {
            None
        };
        if let Some(open) = open {
            line.expect("{")?;
            line.end()?;
            *depth += 1;
            return Ok(Stmt::Open(open));
        }
        if *depth == 0 || !line.sign("}") {
            return Ok(Stmt::Value(self.value(line)?));
        }
        if line.keyword("else") {
            line.expect("{")?;
            line.end()?;
            return Ok(Stmt::Else);
        }
        *depth -= 1;
        self.closer(line).map(Stmt::Close)
    }

    /// `traverse %3 up to %2 by 32`
    fn traverse(&mut self, line: &mut Line<'a>) -> Result<Open> {
        let span = line.whole();
        let number = line.value()?;
        line.expect_keyword("up")?;
        line.expect_keyword("to")?;
        let count = self.operand(line)?;
        line.expect_keyword("by")?;
        let bits = line.number()?;
        let ty = Ty::LONG;
        let (imm, args) = (Imm::None, Args::new());
        let index =
            self.values.alloc(Value { op: Op::Index, imm, args, ty, mask: None, inactive: None, span, name: None });
        if self.ids.insert(number, index).is_some() {
            return Err(crate::text::malformed(span, format!("`%{number}` is defined twice")));
        }
        Ok(Open::Traverse { index, count, bits })
    }

    fn closer(&mut self, mut line: Line) -> Result<Close> {
        let again = if line.keyword("again") { Some(self.operand(&mut line)?) } else { None };
        let mut next = Vec::new();
        let mut more = line.keyword("with");
        while more {
            let carry = self.operand(&mut line)?;
            line.expect("=")?;
            next.push((carry, self.operand(&mut line)?));
            more = line.sign(",");
        }
        line.end()?;
        Ok(Close { again, next })
    }

    /// Reads the line `}`.
    ///
    /// # Errors
    /// When another line stands next.
    pub fn close(&mut self) -> Result<()> {
        let mut line = self.next("`}`")?;
        line.expect("}")?;
        line.end()
    }

    /// Reads the lines of values as long as such stand.
    ///
    /// # Errors
    /// The first that cannot be read.
    pub fn values(&mut self) -> Result<Vec<ValueId>> {
        let mut ids = Vec::new();
        while let Some(line) = self.peek() {
            if !matches!(line.peek(), Token::Value(_)) {
                break;
            }
            let line = self.next("a value")?;
            ids.push(self.value(line)?);
        }
        Ok(ids)
    }

    /// A defined value that stands next in the line.
    ///
    /// # Errors
    /// When none stands there, or nothing before defined it.
    pub fn operand(&self, line: &mut Line) -> Result<ValueId> {
        let at = line.span();
        let number = line.value()?;
        let undefined = || {
            crate::text::malformed(at, format!("`%{number}` is not defined before this line"))
                .help("each value's line stands before the lines that use it")
        };
        self.ids.get(&number).copied().ok_or_else(undefined)
    }

    /// A value that was read.
    pub fn get(&self, id: ValueId) -> &Value {
        &self.values[id]
    }

    /// Reads the line that defines a value.
    ///
    /// # Errors
    /// When it cannot be read or its number is taken.
    pub fn value(&mut self, mut line: Line) -> Result<ValueId> {
        let whole = line.whole();
        let at = line.span();
        let number = line.value()?;
        line.expect(":")?;
        let ty = line.ty()?;
        line.expect("=")?;
        let op = self.operation(&mut line)?;
        let mut args = Args::new();
        let mut imm = match op.info().imm {
            ImmKind::Memory => Imm::Memory(read_elem(&mut line)?),
            _ => Imm::None,
        };
        let mut more = !line.at_end() && line.peek() != Token::Word("if");
        while more {
            match line.peek() {
                Token::Value(_) => args.push(self.operand(&mut line)?),
                _ => {
                    imm = immediate(&mut line, op, ty)?;
                    break;
                }
            }
            more = line.sign(",");
        }
        let mask = if line.keyword("if") { Some(self.operand(&mut line)?) } else { None };
        let inactive = match mask.is_some() && line.keyword("else") {
            true => Some(line.literal(ty.elem())?),
            false => None,
        };
        line.end()?;
        if self.ids.contains_key(&number) {
            return Err(crate::text::malformed(at, format!("`%{number}` is defined twice")));
        }
        let name = line.note().map(Into::into);
        let id = self.values.alloc(Value { op, imm, args, ty, mask, inactive, span: whole, name });
        self.ids.insert(number, id);
        Ok(id)
    }

    fn operation(&self, line: &mut Line) -> Result<Op> {
        let wrong = line.expected("an operation");
        Op::from_name(line.word("an operation")?).ok_or(wrong)
    }
}

fn immediate(line: &mut Line, op: Op, ty: Ty) -> Result<Imm> {
    match op.info().imm {
        ImmKind::None | ImmKind::Memory => Err(line.expected("an operand such as `%0`")),
        ImmKind::Reason => {
            let wrong = line.expected("`bounds`, `step` or `conflict`");
            let word = line.word("a reason")?;
            TrapReason::ALL.into_iter().find(|reason| reason.name() == word).map(Imm::Reason).ok_or(wrong)
        }
        ImmKind::Bits => line.literal(ty.elem()).map(Imm::Bits),
        ImmKind::Param | ImmKind::ShiftCount | ImmKind::Lane | ImmKind::LaneCount | ImmKind::Column => {
            line.number().map(Imm::Int)
        }
        ImmKind::Lanes => {
            line.expect("[")?;
            let mut lanes = Vec::new();
            while !line.sign("]") {
                if !lanes.is_empty() {
                    line.expect(",")?;
                }
                lanes.push(line.number()?);
            }
            Ok(Imm::Lanes(lanes.into()))
        }
    }
}
