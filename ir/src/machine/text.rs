//! Printer and reader that `selected` and `allocated` share, in the line grammar of [`crate::text`].
//!
//! ```text
//! scratch advance(x: f32s = v0, v: f32s = v1) -> f32s = v0 {
//!   literal 0 = 0x0000003f
//!   region {
//!     %2 : v = load literal 0
//!     %3 : v = fmadd213ps %1, %2, %0      ~~ moved
//!   }
//!   return %3
//! }
//! ```
//!
//! A run returns nothing: `run name(...) {`. What is written again is said without its class: `%5 = mov %7`. A place in
//! memory is `[%3 + %4*4 + 16]`. Literals are bytes in memory order. An immediate stands last, as a number. In a region's block, constant loads and
//! copies are nobody's; everything else is the region's.

use super::flow::depths;
use super::tables;
use super::{Address, Class, Inst, Kind, LiteralId, MachOp, Operand, PhysReg};
use crate::allocated;
use crate::diag::Diagnostic;
use crate::lane::FuseLevel;
use crate::lane::read_pointee;
use crate::profile::{Family, Profile};
use crate::selected::{self, Outcome, Param, Reg, RegInfo, Returned};
use crate::span::{FileId, Span};
use crate::text::{Line, Lines, Result, Token, header, malformed, push_note};
use smallvec::SmallVec;
use smol_str::SmolStr;
use std::collections::HashMap;
use std::fmt::Write as _;

/// No literal that is written out is longer than the tests' tables.
const MOST_LITERAL_BYTES: usize = 4096;

/// What every IR of machine operations says of a function.
pub(crate) struct Head<'a> {
    pub name: &'a str,
    pub params: &'a [Param],
    pub literals: &'a [Vec<u8>],
    pub result: Option<Returned>,
}

/// The dump of a `selected` program.
pub fn print_selected(program: &selected::Program) -> String {
    let mut out = header("selected", program.profile, program.fuse);
    for f in &program.functions {
        let names = number(f);
        let show = |reg: Reg| match names.get(reg.0 as usize) {
            Some(Some(number)) => format!("%{number}"),
            _ => "%?".into(),
        };
        let first = definitions(f);
        let define = |at: usize, reg: Reg| match first.get(reg.0 as usize) == Some(&Some(at)) {
            true => format!("{} : {} = ", show(reg), f.class(reg).letter()),
            false => format!("{} = ", show(reg)),
        };
        let note = |reg: Reg| f.regs[reg.0 as usize].name.as_deref();
        let result = f.result.map(Outcome::returned);
        open(&mut out, &Head { name: &f.name, params: &f.params, literals: &f.literals, result });
        body(&mut out, &f.insts, &show, &define, &note);
        if let Some(result) = f.result {
            let _ = writeln!(out, "  return {}", show(result.reg));
        }
        out.push_str("}\n");
    }
    out
}

/// The dump of an `allocated` program.
pub fn print_allocated(program: &allocated::Program) -> String {
    let mut out = header("allocated", program.profile, program.fuse);
    for f in &program.functions {
        open(&mut out, &Head { name: &f.name, params: &f.params, literals: &f.literals, result: f.result });
        body(&mut out, &f.insts, &|r: PhysReg| r.to_string(), &|_, r| format!("{r} = "), &|_| None);
        out.push_str("}\n");
    }
    out
}

/// Each register's number in dumps: parameters, then instructions in order.
fn number(f: &selected::Function) -> Vec<Option<u32>> {
    let mut numbers = vec![None; f.regs.len()];
    let defined = (0..f.params.len() as u32).map(Reg).chain(f.insts.iter().filter_map(|i| i.dst));
    let mut number = 0;
    for reg in defined {
        if let Some(slot) = numbers.get_mut(reg.0 as usize).filter(|slot| slot.is_none()) {
            *slot = Some(number);
            number += 1;
        }
    }
    numbers
}

/// The first instruction that writes each register; parameters have none.
fn definitions(f: &selected::Function) -> Vec<Option<usize>> {
    let mut first = vec![None; f.regs.len()];
    for (at, reg) in f.insts.iter().enumerate().filter_map(|(at, inst)| Some((at, inst.dst?))) {
        if let Some(slot) = first.get_mut(reg.0 as usize).filter(|slot| slot.is_none()) {
            *slot = (reg.0 as usize >= f.params.len()).then_some(at);
        }
    }
    first
}

fn open(out: &mut String, head: &Head) {
    print_head(out, head);
    print_literals(out, head.literals);
}

/// The line that opens a function.
pub(crate) fn print_head(out: &mut String, head: &Head) {
    let param = |p: &Param| match &p.points_to {
        Some(pointee) => format!("{}: {} to {pointee} = {}", p.name, p.ty, p.place),
        None => format!("{}: {} = {}", p.name, p.ty, p.place),
    };
    let params = head.params.iter().map(param).collect::<Vec<_>>().join(", ");
    let _ = match head.result {
        Some(Returned { ty, place }) => writeln!(out, "\nscratch {}({params}) -> {ty} = {place} {{", head.name),
        None => writeln!(out, "\nrun {}({params}) {{", head.name),
    };
}

/// A function's literals, a line each.
pub(crate) fn print_literals(out: &mut String, literals: &[Vec<u8>]) {
    for (number, bytes) in literals.iter().enumerate() {
        if let Some(table) = tables::of(bytes) {
            let _ = writeln!(out, "  literal {number} = table {}", table.name);
            continue;
        }
        let _ = write!(out, "  literal {number} = 0x");
        bytes.iter().for_each(|byte| {
            let _ = write!(out, "{byte:02x}");
        });
        out.push('\n');
    }
}

fn body<'n, R: Copy>(
    out: &mut String,
    insts: &[Inst<R>],
    show: &impl Fn(R) -> String,
    define: &impl Fn(usize, R) -> String,
    note: &impl Fn(R) -> Option<&'n str>,
) {
    let mut last = HashMap::new();
    for (at, region) in insts.iter().enumerate().filter_map(|(at, inst)| Some((at, inst.region?))) {
        last.insert(region, at);
    }
    let depths = depths(insts);
    let mut inside = false;
    for (at, inst) in insts.iter().enumerate() {
        let indent = "  ".repeat(depths[at] as usize + 1);
        if inst.region.is_some() && !inside {
            let _ = writeln!(out, "{indent}region {{");
            inside = true;
        }
        let start = out.len();
        out.push_str(&indent);
        out.push_str(if inside { "  " } else { "" });
        if let Some(dst) = inst.dst {
            out.push_str(&define(at, dst));
        }
        instruction(out, inst, show);
        push_note(out, start, inst.dst.and_then(note));
        if inside && inst.region.is_some_and(|region| last.get(&region) == Some(&at)) {
            let _ = writeln!(out, "{indent}}}");
            inside = false;
        }
    }
}

fn instruction<R: Copy>(out: &mut String, inst: &Inst<R>, show: &impl Fn(R) -> String) {
    out.push_str(inst.op.name());
    let mut comma = "";
    for arg in &inst.args {
        let _ = match *arg {
            Operand::Reg(reg) => write!(out, "{comma} {}", show(reg)),
            Operand::Literal(l) => write!(out, "{comma} literal {}", l.0),
            Operand::Broadcast(l) => write!(out, "{comma} broadcast {}", l.0),
            Operand::Memory(address) => write!(out, "{comma} {}", place(address, show)),
            Operand::MemoryElement(address) => write!(out, "{comma} broadcast {}", place(address, show)),
            Operand::Number(number) => write!(out, "{comma} {number}"),
        };
        comma = ",";
    }
    if let Some(imm) = inst.imm {
        let _ = write!(out, "{comma} {imm}");
    }
}

/// An address: `[%3 + %4*4 + 16]`.
fn place<R: Copy>(address: Address<R>, show: &impl Fn(R) -> String) -> String {
    let mut out = format!("[{}", show(address.base));
    if let Some(index) = address.index {
        let _ = write!(out, " + {}", show(index));
    }
    if address.scale > 0 {
        let _ = write!(out, "*{}", 1u32 << address.scale.min(31));
    }
    if address.disp != 0 {
        let sign = if address.disp < 0 { '-' } else { '+' };
        let _ = write!(out, " {sign} {}", address.disp.unsigned_abs());
    }
    out.push(']');
    out
}

/// How a reader finds registers.
trait Registers {
    /// The register's type.
    type R: Copy;
    /// Declares the parameters.
    fn enter(&mut self, params: &[Param]) -> Result<()>;
    /// A register that is read.
    fn operand(&self, line: &mut Line) -> Result<Self::R>;
    /// A register that the line defines or writes again, and its `=`; `None` when it defines none.
    fn define(&mut self, line: &mut Line) -> Result<Option<Self::R>>;
}

/// What was read of a function.
struct Read<R> {
    name: SmolStr,
    span: Span,
    params: Vec<Param>,
    literals: Vec<Vec<u8>>,
    insts: Vec<Inst<R>>,
    result: Option<Returned>,
}

/// Reads a `selected` dump.
///
/// # Errors
/// What cannot be read: the header's fault, or the first fault of a function.
pub fn read_selected(text: &str) -> std::result::Result<selected::Program, Vec<Diagnostic>> {
    let (profile, fuse, mut lines) = start(text, "selected")?;
    let mut functions = Vec::new();
    while let Some(line) = lines.next() {
        functions.push(selected_function(line, &mut lines, profile).map_err(|e| vec![e])?);
    }
    Ok(selected::Program { profile, fuse, functions })
}

/// Reads an `allocated` dump.
///
/// # Errors
/// As [`read_selected`].
pub fn read_allocated(text: &str) -> std::result::Result<allocated::Program, Vec<Diagnostic>> {
    let (profile, fuse, mut lines) = start(text, "allocated")?;
    let mut functions = Vec::new();
    while let Some(line) = lines.next() {
        let (read, mut last) = function(line, &mut lines, profile, &mut Physical).map_err(|e| vec![e])?;
        close(&mut last).map_err(|e| vec![e])?;
        let Read { name, span, params, literals, insts, result } = read;
        functions.push(allocated::Function { name, span, params, literals, insts, result });
    }
    Ok(allocated::Program { profile, fuse, functions })
}

pub(crate) type Start<'a> = (Profile, FuseLevel, Lines<'a>);

/// The lines of a dump after its header.
pub(crate) fn start<'a>(text: &'a str, ir: &str) -> std::result::Result<Start<'a>, Vec<Diagnostic>> {
    let mut lines = Lines::new(text, FileId(0));
    let (profile, fuse) = lines.header(ir).map_err(|e| vec![e])?;
    Ok((profile, fuse, lines))
}

fn selected_function<'a>(line: Line<'a>, lines: &mut Lines<'a>, profile: Profile) -> Result<selected::Function> {
    let mut registers = Virtual::default();
    let (read, mut last) = function(line, lines, profile, &mut registers)?;
    let Read { name, span, params, literals, insts, result } = read;
    let result = match result {
        Some(Returned { ty, place }) => {
            last.expect_keyword("return")?;
            let reg = registers.operand(&mut last)?;
            last.end()?;
            last = lines.expect("`}`")?;
            Some(Outcome { reg, ty, place })
        }
        None => None,
    };
    close(&mut last)?;
    Ok(selected::Function { name, span, params, regs: registers.infos, literals, insts, result })
}

/// The line that closes a block.
pub(crate) fn close(line: &mut Line) -> Result<()> {
    line.expect("}")?;
    line.end()
}

/// Reads a function up to the line after its instructions, which is returned.
fn function<'a, S: Registers>(
    mut line: Line<'a>,
    lines: &mut Lines<'a>,
    profile: Profile,
    registers: &mut S,
) -> Result<(Read<S::R>, Line<'a>)> {
    let Opening { name, span, params, result } = opening(&mut line)?;
    registers.enter(&params)?;
    let (mut literals, mut insts, mut regions, mut inside) = (Vec::new(), Vec::new(), 0u32, None);
    loop {
        let mut line = lines.expect("`}`")?;
        match line.peek() {
            Token::Word("literal") => literals.push(literal(&mut line, literals.len())?),
            Token::Word("region") if inside.is_none() => {
                line.expect_keyword("region")?;
                line.expect("{")?;
                line.end()?;
                inside = Some(regions);
                regions += 1;
            }
            Token::Sign("}") if inside.is_some() => {
                close(&mut line)?;
                inside = None;
            }
            Token::Sign("}") | Token::Word("return") => {
                return Ok((Read { name, span, params, literals, insts, result }, line));
            }
            _ => insts.push(read_instruction(line, profile, inside, registers)?),
        }
    }
}

/// What the line that opens a function says.
pub(crate) struct Opening {
    pub name: SmolStr,
    pub span: Span,
    pub params: Vec<Param>,
    pub result: Option<Returned>,
}

/// Reads the line that opens a function.
pub(crate) fn opening(line: &mut Line) -> Result<Opening> {
    let run = line.keyword("run");
    if !run {
        line.expect_keyword("scratch")?;
    }
    let span = line.span();
    let name = line.word("a function's name")?.into();
    let params = parameters(line)?;
    let result = if run {
        None
    } else {
        line.expect("->")?;
        let ty = line.ty()?;
        line.expect("=")?;
        Some(Returned { ty, place: physical(line)? })
    };
    line.expect("{")?;
    line.end()?;
    Ok(Opening { name, span, params, result })
}

fn parameters(line: &mut Line) -> Result<Vec<Param>> {
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
        line.expect("=")?;
        params.push(Param { name, ty, points_to, place: physical(line)?, span });
    }
    Ok(params)
}

/// Reads the literal with this number.
pub(crate) fn literal(line: &mut Line, number: usize) -> Result<Vec<u8>> {
    line.expect_keyword("literal")?;
    let at = line.span();
    if line.number::<usize>()? != number {
        return Err(malformed(at, format!("literals are numbered in order; this is literal {number}")));
    }
    line.expect("=")?;
    if line.keyword("table") {
        let unknown = line.expected("the name of a table");
        let table = tables::named(line.word("the name of a table")?).ok_or(unknown)?;
        line.end()?;
        return Ok(table.bytes.to_vec());
    }
    let wrong = line.expected("the literal's bytes, `0x` and two digits each");
    let Token::Number(text) = line.bump() else { return Err(wrong) };
    line.end()?;
    let digits = text.strip_prefix("0x").unwrap_or("").as_bytes();
    let byte = |pair: &[u8]| std::str::from_utf8(pair).ok().and_then(|pair| u8::from_str_radix(pair, 16).ok());
    let bytes: Option<Vec<u8>> = digits.chunks(2).map(byte).collect();
    let whole = !digits.is_empty() && digits.len() % 2 == 0 && digits.len() <= 2 * MOST_LITERAL_BYTES;
    bytes.filter(|_| whole).ok_or(wrong)
}

fn read_instruction<S: Registers>(
    mut line: Line,
    profile: Profile,
    inside: Option<u32>,
    registers: &mut S,
) -> Result<Inst<S::R>> {
    let span = line.whole();
    // Operands are read before the register is defined, so that none reads itself.
    let mut rest = line.clone();
    while !rest.at_end() && !rest.sign("=") {
        rest.bump();
    }
    let defines = !rest.at_end();
    if !defines {
        rest = line.clone();
    }
    let wrong = rest.expected("an instruction");
    let op = MachOp::from_name(family(profile), rest.word("an instruction")?).ok_or(wrong)?;
    let (mut args, mut imm) = (SmallVec::new(), None);
    let mut more = !rest.at_end();
    while more {
        match rest.peek() {
            Token::Word("literal") => {
                rest.bump();
                args.push(Operand::Literal(LiteralId(rest.number()?)));
            }
            Token::Word("broadcast") => {
                rest.bump();
                args.push(match rest.peek() {
                    Token::Sign("[") => Operand::MemoryElement(read_place(&mut rest, registers)?),
                    _ => Operand::Broadcast(LiteralId(rest.number()?)),
                });
            }
            Token::Sign("[") => args.push(Operand::Memory(read_place(&mut rest, registers)?)),
            Token::Number(_) if args.len() < op.info().slots.len() => args.push(Operand::Number(rest.number()?)),
            Token::Number(_) => {
                imm = Some(rest.number()?);
                break;
            }
            _ => args.push(Operand::Reg(registers.operand(&mut rest)?)),
        }
        more = rest.sign(",");
    }
    rest.end()?;
    let dst = if defines { registers.define(&mut line)? } else { None };
    let row = op.info();
    if args.len() != row.slots.len() {
        return Err(malformed(span, format!("`{}` has {} operands", row.name, row.slots.len())));
    }
    let region = inside.filter(|_| !matches!(row.kind, Kind::Const | Kind::Move));
    Ok(Inst { op, dst, args, imm, region, span })
}

/// An address: `[%3 + %4*4 + 16]`.
fn read_place<S: Registers>(line: &mut Line, registers: &S) -> Result<Address<S::R>> {
    line.expect("[")?;
    let mut address = Address::at(registers.operand(line)?);
    while !line.sign("]") {
        let negative = line.sign("-");
        if !negative {
            line.expect("+")?;
        }
        if let Token::Number(_) = line.peek() {
            let at = line.span();
            let disp = if negative { -line.number::<i64>()? } else { line.number()? };
            address.disp = i32::try_from(disp).map_err(|_| malformed(at, "the displacement does not fit 32 bits"))?;
            line.expect("]")?;
            break;
        }
        let unexpected = line.expected("a displacement");
        if negative || address.index.is_some() {
            return Err(unexpected);
        }
        address.index = Some(registers.operand(line)?);
        if line.sign("*") {
            let wrong = line.expected("2, 4 or 8");
            let factor = line.number::<u8>()?;
            address.scale = [2, 4, 8].iter().position(|&f| f == factor).ok_or(wrong)? as u8 + 1;
        }
    }
    Ok(address)
}

fn family(profile: Profile) -> Family {
    profile.info().family
}

/// A physical register, `v3`.
fn physical(line: &mut Line) -> Result<PhysReg> {
    let wrong = line.expected("a register such as `v0`");
    let word = line.word("a register such as `v0`")?;
    let parse = || {
        let class = Class::from_letter(word.get(..1)?)?;
        let digits = word.get(1..)?;
        let number = digits.parse::<u8>().ok().filter(|n| n.to_string() == digits)?;
        Some(PhysReg { class, number })
    };
    parse().ok_or(wrong)
}

/// Registers of `allocated`.
struct Physical;

impl Registers for Physical {
    type R = PhysReg;

    fn enter(&mut self, _: &[Param]) -> Result<()> {
        Ok(())
    }

    fn operand(&self, line: &mut Line) -> Result<PhysReg> {
        physical(line)
    }

    fn define(&mut self, line: &mut Line) -> Result<Option<PhysReg>> {
        physical(line).map(Some)
    }
}

/// Registers of `selected`.
#[derive(Default)]
struct Virtual {
    ids: HashMap<u32, Reg>,
    infos: Vec<RegInfo>,
}

impl Virtual {
    fn new_reg(&mut self, number: u32, info: RegInfo, at: Span) -> Result<Reg> {
        let reg = Reg(self.infos.len() as u32);
        if self.ids.insert(number, reg).is_some() {
            return Err(malformed(at, format!("`%{number}` is defined twice")));
        }
        self.infos.push(info);
        Ok(reg)
    }
}

impl Registers for Virtual {
    type R = Reg;

    fn enter(&mut self, params: &[Param]) -> Result<()> {
        for (number, param) in params.iter().enumerate() {
            let info = RegInfo { class: param.place.class, name: Some(param.name.clone()), span: param.span };
            self.new_reg(number as u32, info, param.span)?;
        }
        Ok(())
    }

    fn operand(&self, line: &mut Line) -> Result<Reg> {
        let at = line.span();
        let number = line.value()?;
        let undefined = || malformed(at, format!("`%{number}` is not defined before this line"));
        self.ids.get(&number).copied().ok_or_else(undefined)
    }

    fn define(&mut self, line: &mut Line) -> Result<Option<Reg>> {
        let (at, span) = (line.span(), line.whole());
        let number = line.value()?;
        if line.sign("=") {
            let undefined = || malformed(at, format!("`%{number}` is written again, but nothing defines it"));
            return self.ids.get(&number).copied().map(Some).ok_or_else(undefined);
        }
        line.expect(":")?;
        let wrong = line.expected("a class such as `v` or `g`");
        let class = Class::from_letter(line.word("a class such as `v` or `g`")?).ok_or(wrong)?;
        line.expect("=")?;
        let name = line.note().map(Into::into);
        self.new_reg(number, RegInfo { class, name, span }, at).map(Some)
    }
}
