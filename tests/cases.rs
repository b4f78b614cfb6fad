//! Runs every case file: one trial per (case, pass, profile) for snapshots, and one per expectation and profile.
//!
//! `cargo insta review` shows each changed snapshot with the case and the command that reproduces it. Snapshots that no
//! case asks for, and changes that nobody reviewed, fail here too.

mod harness;

use harness::directive::{Count, Left, Problem, Value, element};
use harness::{Case, cases, root, snapshot_path, snapshots};
use libtest_mimic::{Arguments, Failed, Trial};
use rake_ir::diag::{Diagnostic, Severity};
use rake_ir::profile::Profile;
use rake_ir::span::SourceMap;
use rake_ir::types::{Elem, Pointee, Ty};
use rake_ir::value::{Lanes, lanes_of};
use rakec::Options;
use rakec::pipeline::PASSES;
use rakec::pipeline::runs::{self, Parameter, Passed};
use std::collections::BTreeSet;
use std::path::PathBuf;

fn main() {
    let arguments = Arguments::from_args();
    let trials = match cases() {
        Ok(cases) => trials(&cases),
        Err(problem) => vec![Trial::test("case files", move || Err(problem.into()))],
    };
    libtest_mimic::run(&arguments, trials).exit();
}

fn trials(cases: &[Case]) -> Vec<Trial> {
    let mut trials = Vec::new();
    let mut add = |name: String, run: Box<dyn FnOnce() -> Result<(), String> + Send>| {
        trials.push(Trial::test(name, move || run().map_err(Failed::from)));
    };
    let mut expected = BTreeSet::new();
    for (case, pass, profile) in snapshots(cases) {
        let path = snapshot_path(case, pass, profile);
        let name = format!("dump/{}", path.strip_prefix("snapshots").unwrap_or(&path).display());
        let case = case.clone();
        add(name.trim_end_matches(".snap").to_string(), Box::new(move || dump(&case, pass, profile)));
        expected.insert(path);
    }
    for case in cases {
        for profile in case.directives.profiles() {
            let case = case.clone();
            add(format!("case/{}@{profile}", case.name), Box::new(move || check(&case, profile)));
        }
    }
    let all = cases.to_vec();
    add("every code is shown".into(), Box::new(move || harness::codes::check(&all)));
    add("snapshots are asked for and reviewed".into(), Box::new(move || tidy(&expected)));
    trials
}

/// One snapshot: the pass's result, or its diff where it gives the IR that it reads.
fn dump(case: &Case, pass: usize, profile: Option<Profile>) -> Result<(), String> {
    let row = &PASSES[pass];
    let options = case.options(profile.unwrap_or(Profile::X86Avx2));
    let to = Some(row.name.to_string());
    let outputs = case.compile_clean(Options { dumps: vec![row.name.into()], to, ..options })?;
    let dump = outputs.dumps.last().ok_or("the pass did not run")?;
    let text = match dump.diff() {
        diff if diff.is_empty() => "(unchanged)".to_string(),
        diff => diff,
    };
    let mut settings = insta::Settings::new();
    settings.set_snapshot_path(root().join("snapshots").join(row.name));
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.set_description(case.command(row, profile));
    settings.set_input_file(&case.path);
    if let Some(profile) = profile {
        settings.set_snapshot_suffix(profile.name());
    }
    settings.bind(|| insta::assert_snapshot!(case.name.as_str(), text));
    Ok(())
}

/// Everything else that a case expects on a profile.
fn check(case: &Case, profile: Profile) -> Result<(), String> {
    let directives = &case.directives;
    let problems: Vec<&Problem> = directives.problems.iter().filter(|p| p.profiles.contains(&profile)).collect();
    let outputs = case.compile(Options { check_passes: true, ..case.options(profile) })?;
    compare_problems(&problems, &outputs.diagnostics, &outputs.sources)?;
    if problems.iter().any(|problem| problem.error) {
        return Ok(());
    }
    for count in directives.counts.iter().filter(|count| count.profiles.contains(&profile)) {
        compare_counts(case, count, profile)?;
    }
    for value in directives.values.iter().filter(|value| value.profiles.contains(&profile)) {
        compare_value(case, value, profile)?;
    }
    for memory in directives.memories.iter().filter(|memory| memory.profiles.contains(&profile)) {
        compare_memory(case, memory, profile)?;
    }
    Ok(())
}

fn compare_problems(expected: &[&Problem], found: &[Diagnostic], sources: &SourceMap) -> Result<(), String> {
    let mut left: Vec<&Diagnostic> = found.iter().collect();
    let mut wrong = Vec::new();
    for problem in expected {
        match left.iter().position(|diagnostic| matches_problem(problem, diagnostic, sources)) {
            Some(index) => drop(left.remove(index)),
            None => wrong.push(format!("expected and not reported: {problem:?}")),
        }
    }
    if wrong.is_empty() && left.is_empty() {
        return Ok(());
    }
    let all = rakec::render::render(found, sources, rakec::render::Format::Plain);
    Err(format!("{}\n{} not expected; reported were:\n{all}", wrong.join("\n"), left.len()))
}

fn matches_problem(problem: &Problem, diagnostic: &Diagnostic, sources: &SourceMap) -> bool {
    let place = diagnostic.span().and_then(|span| Some((span, sources.get(span.file)?)));
    let place = place.map(|(span, source)| source.line_column(span.start));
    let texts = [Some(&diagnostic.message), diagnostic.help.as_ref()];
    let labels = diagnostic.labels.iter().map(|label| &label.text);
    let mut words = texts.into_iter().flatten().chain(labels).chain(&diagnostic.notes);
    diagnostic.code == problem.code
        && (diagnostic.severity == Severity::Error) == problem.error
        && place.is_some_and(|place| (place.line, place.column) == problem.place)
        && words.any(|text| text.contains(&problem.words))
}

fn compare_counts(case: &Case, count: &Count, profile: Profile) -> Result<(), String> {
    let to = count.pass.map(|pass| PASSES[pass].name.to_string());
    let outputs = case.compile_clean(Options { to, ..case.options(profile) })?;
    let ir = outputs.ir.ok_or("nothing was compiled")?;
    let found = match count.pass {
        Some(_) => ir.operations(),
        None => ir.instructions_by_class(),
    };
    for (number, name) in &count.items {
        let actual = found.get(name.as_str()).copied().unwrap_or(0);
        if actual != *number {
            return Err(format!("{profile}: `{}`: {actual} {name}; found {found:?}\n{}", count.text, ir.print()));
        }
    }
    Ok(())
}

/// The result after every pass whose IR can be evaluated.
fn compare_value(case: &Case, value: &Value, profile: Profile) -> Result<(), String> {
    for pass in PASSES.iter().filter(|pass| pass.profiles.includes(profile)) {
        let to = Some(pass.name.to_string());
        let outputs = case.compile_clean(Options { to, ..case.options(profile) })?;
        let ir = outputs.ir.ok_or("nothing was compiled")?;
        let Some((parameters, result)) = ir.signature(&value.function) else { continue };
        let arguments = arguments(value, &parameters, profile)?;
        let expected = lanes(&value.result, result, profile)?;
        let found = ir.eval(&value.function, &arguments).map_err(|problem| format!("{}: {problem}", pass.name))?;
        if !found.same(&expected, result.elem()) {
            let (found, expected) = (found.show(result), expected.show(result));
            return Err(format!("after {} on {profile}: `{}`: {found}, not {expected}", pass.name, value.text));
        }
    }
    Ok(())
}

/// What a run leaves after every pass whose IR can be executed.
fn compare_memory(case: &Case, expected: &Left, profile: Profile) -> Result<(), String> {
    let last = case.directives.to.as_ref();
    for pass in PASSES.iter().filter(|pass| pass.profiles.includes(profile)) {
        let to = Some(pass.name.to_string());
        let outputs = case.compile_clean(Options { to, ..case.options(profile) })?;
        let ir = outputs.ir.ok_or("nothing was compiled")?;
        if let Some(parameters) = ir.run_parameters(&expected.function) {
            let mut passed = passed(expected, &parameters, profile)?;
            let found = match ir.execute(&expected.function, &mut passed) {
                Ok(()) => {
                    let left = runs::left(&parameters, profile, &passed);
                    let counts = |(elem, all): &&(Elem, Vec<u64>)| *elem != Elem::I64 || all.len() != 1;
                    runs::show(&left.iter().filter(counts).cloned().collect::<Vec<_>>())
                }
                Err(stopped) => stopped.show(),
            };
            let right = match &expected.left {
                Ok(lists) => lists.iter().map(|list| format!("[{}]", list.join(", "))).collect::<Vec<_>>().join(", "),
                Err(words) => format!("trap: {words}"),
            };
            if found != right && !(found == "trap" && expected.left.is_err()) {
                return Err(format!("after {} on {profile}: `{}`: {found}", pass.name, expected.text));
            }
        }
        if last.is_some_and(|last| last == pass.name) {
            break;
        }
    }
    Ok(())
}

/// The memory and the arguments that a case gives a run.
fn passed(expected: &Left, parameters: &[Parameter], profile: Profile) -> Result<Passed, String> {
    let wrong = |what: &str| format!("`{}`: {what}", expected.text);
    let mut passed = Passed::default();
    let mut given = expected.given.iter();
    let mut next = || given.next().ok_or_else(|| wrong("too few arguments"));
    let bytes = |elem: Elem, list: &[String]| -> Result<Vec<u8>, String> {
        let bits = list.iter().map(|text| element(elem, text)).collect::<Result<Vec<u64>, _>>()?;
        Ok(bits.iter().flat_map(|bits| bits.to_le_bytes().into_iter().take(elem.bits() as usize / 8)).collect())
    };
    let mut length = None;
    for (ty, pointee) in parameters {
        let value = match (pointee, length.take()) {
            (Some(Pointee::View { elem, mutable }), _) => {
                let list = next()?;
                length = Some(list.len());
                let address = passed.memory.add(bytes(*elem, list)?, *mutable);
                Lanes::uniform(address.ok_or_else(|| wrong("too much memory"))?)
            }
            (Some(Pointee::Stack { columns, mutable, .. }), _) => {
                let lists = columns.iter().map(|_| next()).collect::<Result<Vec<_>, _>>()?;
                let count = lists.first().map_or(0, |list| list.len());
                let mut addresses = Vec::new();
                for ((_, elem), list) in columns.iter().zip(lists) {
                    let address = passed.memory.add(bytes(*elem, list)?, *mutable);
                    addresses.push(address.ok_or_else(|| wrong("too much memory"))?);
                }
                let address = passed.memory.add_stack(profile, count as u64, &addresses, *mutable);
                Lanes::uniform(address.ok_or_else(|| wrong("too much memory"))?)
            }
            (None, Some(length)) => Lanes::uniform(length as u64),
            (None, None) => lanes(next()?, *ty, profile)?,
        };
        passed.arguments.push(value);
    }
    if given.next().is_some() { Err(wrong("too many arguments")) } else { Ok(passed) }
}

fn arguments(value: &Value, parameters: &[Ty], profile: Profile) -> Result<Vec<Lanes>, String> {
    if parameters.len() != value.arguments.len() {
        return Err(format!("`{}`: {} takes {} arguments", value.text, value.function, parameters.len()));
    }
    let pairs = value.arguments.iter().zip(parameters);
    pairs.map(|(argument, ty)| lanes(argument, *ty, profile)).collect()
}

/// The elements, repeated until they fill the lanes of `ty`.
fn lanes(elements: &[String], ty: Ty, profile: Profile) -> Result<Lanes, String> {
    let bits = elements.iter().map(|text| element(ty.elem(), text)).collect::<Result<Vec<u64>, _>>()?;
    Ok(Lanes::new(bits.iter().copied().cycle().take(lanes_of(ty, profile))))
}

/// No snapshot without a case, none waiting for review.
fn tidy(expected: &BTreeSet<PathBuf>) -> Result<(), String> {
    let mut wrong = Vec::new();
    let mut open = vec![PathBuf::from("snapshots")];
    while let Some(folder) = open.pop() {
        let entries = std::fs::read_dir(root().join(&folder)).map_err(|e| format!("{}: {e}", folder.display()))?;
        for entry in entries {
            let entry = entry.map_err(|e| e.to_string())?;
            let path = folder.join(entry.file_name());
            if entry.path().is_dir() {
                open.push(path);
            } else if path.to_string_lossy().ends_with(".snap.new") {
                wrong.push(format!("{} waits for review: cargo insta review", path.display()));
            } else if !expected.contains(&path) {
                wrong.push(format!("no case asks for {}: delete it", path.display()));
            }
        }
    }
    wrong.sort();
    if wrong.is_empty() { Ok(()) } else { Err(wrong.join("\n")) }
}
