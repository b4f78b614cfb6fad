//! The directives of a case file: comments that say what the case dumps and what it must come to.
//!
//! ```text
//! ~~ case: dump fuse, select on x86-avx2, x86-sse2     snapshots of these passes
//! ~~ case: dump all on x86-avx2                        snapshots of every pass
//! ~~ case: compile on x86-avx2                         it compiles, with every IR checked
//! ~~ case: fuse contract                               compile with --fuse contract
//! ~~ expect fuse x86-avx2: 1 mul_add, 0 mul            operations in the IR after a pass
//! ~~ expect instructions x86-avx2: 4 arithmetic        instructions of a class in the allocated program
//! ~~ expect error R0312 at 3:5 "total"                 an error; all errors must be expected
//! ~~ expect error R0705 on x86-sse2 at 3:5 "fma"       an error on some profiles only
//! ~~ expect value lo(nan, 1.0) = nan                   after every pass; lists fill the lanes in turn
//! ~~ expect memory f([1.0, 2.0], 3) = [1.0, 2.0]      what a run leaves after every pass: views, columns, uniforms
//! ~~ case: to simplify                                 compile no further than this pass
//! ~~ expect agrees                                     its code agrees with the evaluator (tests/exec runs it)
//! ```
//!
//! Directives are parsed strictly: a word that is not known fails the case.

use rake_ir::capabilities::{Feature, Status};
use rake_ir::diag::Code;
use rake_ir::lane::FuseLevel;
use rake_ir::profile::{Family, Profile};
use rake_ir::types::Elem;
use rake_ir::value::parse_literal;
use rake_testkit::source::has_runs;
use rakec::pipeline;
use std::collections::BTreeSet;

/// The profiles of a directive that names none: those with machine code of vectors, in a file with runs those that compile
/// them.
fn default_profiles(runs: bool) -> Vec<Profile> {
    let native = |profile: &Profile| matches!(profile.info().family, Family::X86 | Family::Aarch64);
    let compiles = |profile: &Profile| !runs || Feature::StackRuns.status(*profile) == Status::Available;
    Profile::all().filter(native).filter(compiles).collect()
}

/// What a case file asks for.
#[derive(Clone, Debug, Default)]
pub struct Directives {
    /// The profiles of a directive that names none.
    defaults: Vec<Profile>,
    /// Passes to snapshot, by place in the table, each with its profiles.
    pub dumps: Vec<(usize, Vec<Profile>)>,
    /// Profiles on which it must compile.
    pub compiles: BTreeSet<Profile>,
    /// The freedom of fused regions.
    pub fuse: FuseLevel,
    /// Counts of operations or instructions.
    pub counts: Vec<Count>,
    /// The diagnostics that must come.
    pub problems: Vec<Problem>,
    /// Results of calls.
    pub values: Vec<Value>,
    /// What runs leave.
    pub memories: Vec<Left>,
    /// The last pass.
    pub to: Option<String>,
    /// Profiles on which the compiled code must agree with the evaluator.
    pub agrees: BTreeSet<Profile>,
}

/// `expect PASS PROFILES: 1 mul_add, 0 mul`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Count {
    /// The pass's place in the table; `None` counts instructions by class.
    pub pass: Option<usize>,
    /// The profiles it holds on.
    pub profiles: Vec<Profile>,
    /// How many of which.
    pub items: Vec<(usize, String)>,
    /// The directive as written.
    pub text: String,
}

/// `expect error CODE [on PROFILES] at LINE:COLUMN "words"`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Problem {
    /// Whether it is an error; else a warning.
    pub error: bool,
    /// Its code.
    pub code: Code,
    /// The profiles it comes on.
    pub profiles: Vec<Profile>,
    /// Its line and column.
    pub place: (u32, u32),
    /// Words in its message, labels, notes or help.
    pub words: String,
}

/// `expect value [on PROFILES] f(a, [b, c]) = r`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Value {
    /// The profiles it holds on.
    pub profiles: Vec<Profile>,
    /// The function.
    pub function: String,
    /// Its arguments: the elements that fill the lanes in turn.
    pub arguments: Vec<Vec<String>>,
    /// Its result, likewise.
    pub result: Vec<String>,
    /// The directive as written.
    pub text: String,
}

/// `expect memory [on PROFILES] f({[a, b], [c, d]}, [e, f], g) = [h, i], [j, k]` or `= trap words`: a stack's columns, a
/// view's elements, a uniform; then each column of the stack that the run gives and each view that it writes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Left {
    /// The profiles it holds on.
    pub profiles: Vec<Profile>,
    /// The run.
    pub function: String,
    /// The elements that it is given: columns of stacks one by one.
    pub given: Vec<Vec<String>>,
    /// What it leaves, or why it stops.
    pub left: Result<Vec<Vec<String>>, String>,
    /// The directive as written.
    pub text: String,
}

impl Directives {
    /// The directives of a case's text.
    ///
    /// # Errors
    /// The first line that is no directive although it starts like one, with its number.
    pub fn parse(source: &str) -> Result<Directives, String> {
        let mut found = Directives { defaults: default_profiles(has_runs(source)), ..Directives::default() };
        for (index, line) in source.lines().enumerate() {
            let Some((_, comment)) = line.split_once("~~") else { continue };
            let comment = comment.trim();
            let word = comment.split([' ', ':']).next().unwrap_or("").to_lowercase();
            if word.starts_with("case") || word.starts_with("expect") {
                found.line(comment).map_err(|problem| format!("line {}: {problem}: `{comment}`", index + 1))?;
            }
        }
        found.complete()
    }

    /// Every profile that some directive names.
    pub fn profiles(&self) -> BTreeSet<Profile> {
        let mut all: BTreeSet<Profile> = self.compiles.union(&self.agrees).copied().collect();
        all.extend(self.dumps.iter().flat_map(|(_, profiles)| profiles));
        all.extend(self.counts.iter().flat_map(|count| &count.profiles));
        all.extend(self.problems.iter().flat_map(|problem| &problem.profiles));
        all.extend(self.values.iter().flat_map(|value| &value.profiles));
        all.extend(self.memories.iter().flat_map(|memory| &memory.profiles));
        all
    }

    fn complete(self) -> Result<Directives, String> {
        let profiles = self.profiles();
        if profiles.is_empty() {
            return Err("the case asks for nothing; give it a `case:` or an `expect`".into());
        }
        Ok(self)
    }

    fn line(&mut self, text: &str) -> Result<(), String> {
        if let Some(rest) = text.strip_prefix("case:") {
            return self.case(rest.trim());
        }
        let rest = text.strip_prefix("expect ").ok_or("neither `case:` nor `expect`")?;
        match rest.split_once(' ') {
            Some(("error", rest)) => self.problem(true, rest),
            Some(("warning", rest)) => self.problem(false, rest),
            Some(("value", rest)) => self.value(rest, text),
            Some(("memory", rest)) => self.memory(rest, text),
            Some(("agrees", rest)) => {
                self.agrees.extend(profiles(rest.trim().strip_prefix("on ").ok_or("`on` is missing")?)?);
                Ok(())
            }
            None if rest == "agrees" => {
                self.agrees.extend(self.defaults.iter().copied());
                Ok(())
            }
            _ => self.count(rest, text),
        }
    }

    fn case(&mut self, text: &str) -> Result<(), String> {
        if let Some(level) = text.strip_prefix("fuse ") {
            self.fuse = FuseLevel::from_name(level.trim()).ok_or("the levels are exact, contract, full")?;
            return Ok(());
        }
        if let Some(name) = text.strip_prefix("to ") {
            self.to = Some(pipeline::PASSES[pass(name.trim())?].name.to_string());
            return Ok(());
        }
        let (what, on) = text.split_once(" on ").ok_or("`on PROFILES` is missing")?;
        let on = profiles(on)?;
        match what.split_once(' ') {
            None if what == "compile" => self.compiles.extend(on),
            Some(("dump", "all")) => {
                let indices = 0..pipeline::PASSES.len();
                self.dumps.extend(indices.map(|index| (index, on.clone())));
            }
            Some(("dump", names)) => {
                for name in names.split(',') {
                    self.dumps.push((pass(name.trim())?, on.clone()));
                }
            }
            _ => return Err("a case is `dump PASSES`, `compile` or `fuse LEVEL`".into()),
        }
        Ok(())
    }

    fn count(&mut self, rest: &str, text: &str) -> Result<(), String> {
        let (subject, items) = rest.split_once(':').ok_or("`:` is missing")?;
        let (what, on) = match subject.split_once(' ') {
            Some((what, on)) => (what, profiles(on)?),
            None => (subject, self.defaults.clone()),
        };
        let pass = if what == "instructions" { None } else { Some(pass(what)?) };
        let items = items.split(',').map(|item| {
            let (number, name) = item.trim().split_once(' ').ok_or("an item is a number and a name")?;
            let number = number.parse().map_err(|_| "an item starts with a number")?;
            Ok::<_, String>((number, name.trim().to_string()))
        });
        let items = items.collect::<Result<Vec<_>, _>>()?;
        self.counts.push(Count { pass, profiles: on, items, text: text.to_string() });
        Ok(())
    }

    fn problem(&mut self, error: bool, rest: &str) -> Result<(), String> {
        let (head, words) = rest.split_once('"').ok_or("the words in quotes are missing")?;
        let words = words.strip_suffix('"').ok_or("the closing quote is missing")?.to_string();
        let (head, place) = head.trim().rsplit_once(" at ").ok_or("`at LINE:COLUMN` is missing")?;
        let (line, column) = place.split_once(':').ok_or("a place is LINE:COLUMN")?;
        let number = |text: &str| text.trim().parse::<u32>().map_err(|_| "a place is two numbers".to_string());
        let place = (number(line)?, number(column)?);
        let (code, on) = match head.split_once(" on ") {
            Some((code, on)) => (code, profiles(on)?),
            None => (head, vec![Profile::X86Avx2]),
        };
        let code = Code::parse(code.trim()).ok_or("there is no such code")?;
        self.problems.push(Problem { error, code, profiles: on, place, words });
        Ok(())
    }

    fn memory(&mut self, rest: &str, text: &str) -> Result<(), String> {
        let (on, call) = called_on(rest, &self.defaults)?;
        let (function, rest) = call.split_once('(').ok_or("a call is missing")?;
        let (given, left) = rest.rsplit_once(") = ").ok_or("`= RESULT` is missing")?;
        // Braces only show which columns belong together.
        let given = arguments_of(&given.replace(['{', '}'], ""))?;
        let left = match left.strip_prefix("trap ") {
            Some(words) => Err(words.trim().to_string()),
            None => Ok(arguments_of(left)?),
        };
        let function = function.trim().to_string();
        self.memories.push(Left { profiles: on, function, given, left, text: text.to_string() });
        Ok(())
    }

    fn value(&mut self, rest: &str, text: &str) -> Result<(), String> {
        let (on, call) = called_on(rest, &self.defaults)?;
        let (function, rest) = call.split_once('(').ok_or("a call is missing")?;
        let (arguments, result) = rest.rsplit_once(") = ").ok_or("`= RESULT` is missing")?;
        let arguments = arguments_of(arguments)?;
        let result = arguments_of(result)?.pop().ok_or("the result is missing")?;
        let function = function.trim().to_string();
        self.values.push(Value { profiles: on, function, arguments, result, text: text.to_string() });
        Ok(())
    }
}

/// The profiles before a call, and the call.
fn called_on<'a>(rest: &'a str, defaults: &[Profile]) -> Result<(Vec<Profile>, &'a str), String> {
    let Some(rest) = rest.strip_prefix("on ") else { return Ok((defaults.to_vec(), rest)) };
    let space = rest.find('(').and_then(|open| rest[..open].rfind(' ')).ok_or("a call is missing")?;
    Ok((profiles(&rest[..space])?, &rest[space + 1..]))
}

/// `1.0, [2.0, nan], true` as lists of elements; `[]` is a list of none.
fn arguments_of(text: &str) -> Result<Vec<Vec<String>>, String> {
    let mut arguments = Vec::new();
    let mut rest = text.trim();
    while !rest.is_empty() {
        let (argument, after) = match rest.strip_prefix('[') {
            Some(list) => list.split_once(']').ok_or("`]` is missing")?,
            None => rest.split_at(rest.find(',').unwrap_or(rest.len())),
        };
        let elements: Vec<String> = match argument.trim() {
            "" if rest.starts_with('[') => Vec::new(),
            argument => argument.split(',').map(|element| element.trim().to_string()).collect(),
        };
        if elements.iter().any(String::is_empty) {
            return Err("an element is missing".into());
        }
        arguments.push(elements);
        rest = after.trim_start().strip_prefix(',').unwrap_or(after).trim();
    }
    Ok(arguments)
}

/// The bits that an element means in `elem`: a literal, bits in hexadecimal, `nan`, `inf` or `-inf`.
pub fn element(elem: Elem, text: &str) -> Result<u64, String> {
    let special = match (elem, text) {
        (Elem::F32, "nan") => Some(0x7fc0_0000),
        (Elem::F32, "inf") => Some(0x7f80_0000),
        (Elem::F32, "-inf") => Some(0xff80_0000),
        _ => None,
    };
    special.or_else(|| parse_literal(elem, text)).ok_or_else(|| format!("`{text}` is no {elem}"))
}

fn pass(name: &str) -> Result<usize, String> {
    pipeline::PASSES.iter().position(|pass| pass.name == name).ok_or_else(|| format!("there is no pass `{name}`"))
}

fn profiles(text: &str) -> Result<Vec<Profile>, String> {
    let each = text.split(',').map(|name| {
        let name = name.trim();
        Profile::from_name(name).ok_or_else(|| format!("there is no profile `{name}`"))
    });
    each.collect()
}
