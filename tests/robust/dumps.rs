//! Damaged dumps of every IR that reads back: read, checked and compiled to the end, or refused.

use crate::support::{everything, files, from_environment, ir_at, profiles};
use crate::watch::{options, shown, survive};
use rake_ir::diag::Code;
use rake_ir::lane::FuseLevel;
use rake_ir::profile::Profile;
use rake_testkit::source::{has_runs, mutate, random, regions};
use rake_testkit::special::Bits;
use rakec::Options;
use rakec::pipeline::Kind;

const AVX2: Profile = Profile::X86Avx2;

/// Dumps of an IR, of programs small enough to read, on profiles that compile them.
fn dumps(kind: Kind) -> Vec<String> {
    let mut texts: Vec<String> = files().into_iter().map(|(_, text)| text).filter(|text| text.len() < 3000).collect();
    texts.extend(regions::REGIONS.iter().map(|region| region.text()));
    texts.extend((0..15).map(|seed| random::program(seed, 2, false).text));
    let (mut dumps, profiles) = (Vec::new(), reaching(kind));
    for (index, text) in texts.iter().enumerate() {
        let compiles = |profile: &&Profile| !has_runs(text) || compiles(text, **profile);
        let Some(&profile) = profiles.iter().cycle().skip(index).take(profiles.len()).find(compiles) else { continue };
        dumps.extend(ir_at(text, profile, FuseLevel::Full, kind.name()).ok().map(|ir| ir.print()));
    }
    assert!(dumps.len() > 15, "{}: only {} programs compile", kind.name(), dumps.len());
    dumps
}

/// Whether a program is one for this profile; not every profile has all that runs may do.
fn compiles(text: &str, profile: Profile) -> bool {
    let lacks = |code: Code| matches!(code, Code::NotAvailableYet | Code::NotOnProfile);
    let outputs = survive(text.as_bytes(), everything(profile, FuseLevel::Full));
    outputs.is_ok_and(|outputs| !outputs.diagnostics.iter().any(|d| lacks(d.code)))
}

/// The profiles whose programs come to an IR.
fn reaching(kind: Kind) -> Vec<Profile> {
    let text = regions::REGIONS[0].text();
    let reaches =
        |&profile: &Profile| ir_at(&text, profile, FuseLevel::Full, kind.name()).is_ok_and(|ir| ir.kind() == kind);
    profiles().into_iter().filter(reaches).collect()
}

/// The IRs that read back and that some profile's programs come to.
fn readable() -> impl Iterator<Item = Kind> {
    Kind::ALL.into_iter().filter(|kind| kind.reads_back() && !reaching(*kind).is_empty())
}

#[test]
fn every_dump_reads_back_and_compiles() {
    for kind in readable() {
        for dump in dumps(kind) {
            let profile = profiles().into_iter().find(|p| dump.contains(&format!("profile {p}\n"))).unwrap_or(AVX2);
            let mut from = Options { from: Some(kind.name().to_owned()), ..everything(profile, FuseLevel::Full) };
            // C with intrinsics is written of what was selected.
            from.emit.c &= kind != Kind::Stacked;
            match survive(dump.as_bytes(), from) {
                Ok(outputs) if outputs.succeeded() => {}
                // A case may be about a program that fits no registers; its earlier IRs are fine.
                Ok(outputs) if outputs.diagnostics.iter().all(|d| d.code == Code::OutOfRegisters) => {}
                Ok(outputs) => panic!("{}: {}\n{dump}", kind.name(), crate::support::plain(&outputs.diagnostics)),
                Err(problem) => panic!("{}: {problem}\n{dump}", kind.name()),
            }
        }
    }
}

/// The dump with one to three lines or words moved, dropped, doubled or exchanged: mostly it still reads, so that what
/// it means is what has to be checked.
fn rearrange(dump: &[u8], bits: &mut Bits) -> Vec<u8> {
    let text = String::from_utf8_lossy(dump);
    let mut lines: Vec<Vec<&str>> = text.lines().map(|line| line.split_inclusive(' ').collect()).collect();
    for _ in 0..1 + bits.below(3) {
        if lines.len() < 5 {
            break;
        }
        // The header stays.
        let mut any = || 3 + bits.below(lines.len() - 3);
        let (from, to) = (any(), any());
        match bits.below(6) {
            0 => drop(lines.remove(from)),
            1 => lines.insert(to, lines[from].clone()),
            2 => lines.swap(from, to),
            edit => words(&mut lines, from, to, edit, bits),
        }
    }
    lines.iter().map(|line| line.concat() + "\n").collect::<String>().into_bytes()
}

/// Drops or doubles a word of a line, or puts in one of another line in its place.
fn words(lines: &mut [Vec<&str>], from: usize, to: usize, edit: usize, bits: &mut Bits) {
    if lines[from].is_empty() || lines[to].is_empty() {
        return;
    }
    let (taken, at) = (bits.below(lines[from].len()), bits.below(lines[to].len()));
    let word = lines[from][taken];
    match edit {
        3 => drop(lines[from].remove(taken)),
        4 => lines[from].insert(taken, word),
        _ => lines[to][at] = word,
    }
}

/// What is said of a dump that reads but breaks what its IR promises.
fn refused(kind: Kind, dump: &str) -> String {
    let options = Options { from: Some(kind.name().to_owned()), ..everything(AVX2, FuseLevel::Full) };
    let outputs = survive(dump.as_bytes(), options).unwrap_or_else(|problem| panic!("{problem}\n{dump}"));
    assert!(!outputs.succeeded() && outputs.object.is_none(), "accepted:\n{dump}");
    crate::support::plain(&outputs.diagnostics)
}

fn scratch(kind: Kind, body: &str) -> String {
    format!(
        "rake {} 1\nprofile x86-avx2\nfuse full\n\nscratch f(x: f32s, y: f32s, z: f32s) -> f32s {{\n  %0 : f32s = param \
         0\n  %1 : f32s = param 1\n  %2 : f32s = param 2\n{body}}}\n",
        kind.name()
    )
}

#[test]
fn dumps_that_read_and_are_wrong_are_refused() {
    let wrong = |kind, body: &str, said: &str| {
        let text = refused(kind, &scratch(kind, body));
        assert!(text.starts_with("R0020") && text.contains("f: %") && text.contains(said), "{text}");
    };
    let one = |value: &str| format!("  region {{\n    {value}\n    stage r %3\n  }}\n  return %3\n");
    wrong(Kind::Tined, &one("%3 : f32s = add %0"), "`add` needs 2 operands");
    wrong(Kind::Tined, "  %3 : f32s = select %0, %0, %1\n  return %3\n", "`select` needs a mask");
    wrong(Kind::Fused, "  %3 : f32s = fma %0, %0\n  return %3\n", "`fma` needs 3 operands");
    let mask = "  %3 : mask = lt %0, %1\n  %4 : f32s = select %0, %0, %3\n  return %4\n";
    wrong(Kind::Fused, mask, "`select` needs operands of one type");
}

#[test]
fn a_chosen_graph_that_is_not_its_source_is_refused() {
    let region = |op: &str| {
        let body = format!(
            "  region {{\n    %3 : f32s = {op} %0, %1, %2\n    proof {{\n      source {{\n        %4 : f32s = mul %0, %1\n        \
             %5 : f32s = add %4, %2\n      }}\n      stage r %5\n      yield %5 = %3\n      cost 100 800 3 -> 50 400 3\n      \
             stop saturated\n    }}\n  }}\n  return %3\n"
        );
        scratch(Kind::Fused, &body)
    };
    let from = Options { from: Some("fused".into()), ..everything(AVX2, FuseLevel::Full) };
    let right = survive(region("mul_add").as_bytes(), from).unwrap();
    assert!(right.succeeded(), "{}", crate::support::plain(&right.diagnostics));
    let text = refused(Kind::Fused, &region("mul_sub"));
    assert!(text.starts_with("R0020") && text.contains("f: `r` of the region differs"), "{text}");
}

#[test]
fn damaged_dumps() {
    let first = from_environment("RAKE_TEST_SEED", 1);
    let count = from_environment("RAKE_TEST_FUZZ", 1500);
    for kind in readable() {
        let dumps = dumps(kind);
        let mut accepted = 0;
        for seed in first..first + count {
            let mut bits = Bits::new(seed ^ (kind as u64) << 40);
            let dump = dumps[bits.below(dumps.len())].as_bytes();
            let bytes = match bits.below(8) {
                0 => dump[..bits.below(dump.len() + 1)].to_vec(),
                1..4 => mutate::mutate(dump, &mut bits),
                _ => rearrange(dump, &mut bits),
            };
            let mut options = Options { from: Some(kind.name().to_owned()), ..options(&mut bits) };
            options.check_passes = bits.below(2) == 0;
            match survive(&bytes, options.clone()) {
                Ok(outputs) => accepted += usize::from(outputs.succeeded()),
                Err(problem) => panic!("{} seed {seed}: {problem}\n{options:?}\n{}", kind.name(), shown(&bytes)),
            }
        }
        println!("{}: {accepted} of {count} damaged dumps were accepted", kind.name());
    }
}
