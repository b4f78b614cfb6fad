//! Damaged dumps of every IR that reads back: read, checked and compiled to the end, or refused.

use crate::support::{PROFILES, files, from_environment, ir_at};
use crate::watch::{options, shown, survive};
use rake_ir::diag::Code;
use rake_ir::lane::FuseLevel;
use rake_testkit::source::{mutate, random, regions};
use rake_testkit::special::Bits;
use rakec::Options;
use rakec::pipeline::Kind;

/// Dumps of an IR, of programs small enough to read.
fn dumps(kind: Kind) -> Vec<String> {
    let mut texts: Vec<String> = files().into_iter().map(|(_, text)| text).filter(|text| text.len() < 3000).collect();
    texts.extend(regions::REGIONS.iter().map(|region| region.text()));
    texts.extend((0..15).map(|seed| random::program(seed, 2, false).text));
    let mut dumps = Vec::new();
    for (index, text) in texts.iter().enumerate() {
        let profile = PROFILES[index % 3];
        dumps.extend(ir_at(text, profile, FuseLevel::Full, kind.name()).ok().map(|ir| ir.print()));
    }
    assert!(dumps.len() > 15, "{}: only {} programs compile", kind.name(), dumps.len());
    dumps
}

fn readable() -> impl Iterator<Item = Kind> {
    Kind::ALL.into_iter().filter(|kind| kind.reads_back())
}

#[test]
fn every_dump_reads_back_and_compiles() {
    for kind in readable() {
        for dump in dumps(kind) {
            let profile = PROFILES.into_iter().find(|p| dump.contains(&format!("profile {p}"))).unwrap_or(PROFILES[0]);
            let from =
                Options { from: Some(kind.name().to_owned()), ..crate::support::everything(profile, FuseLevel::Full) };
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
                _ => mutate::mutate(dump, &mut bits),
            };
            let options = Options { from: Some(kind.name().to_owned()), ..options(&mut bits) };
            match survive(&bytes, options.clone()) {
                Ok(outputs) => accepted += usize::from(outputs.succeeded()),
                Err(problem) => panic!("{} seed {seed}: {problem}\n{options:?}\n{}", kind.name(), shown(&bytes)),
            }
        }
        println!("{}: {accepted} of {count} damaged dumps were accepted", kind.name());
    }
}
