//! Seeded damage to the repository's programs, and random tokens. `RAKE_TEST_FUZZ` inputs from the seed
//! `RAKE_TEST_SEED` on.

use crate::support::{files, from_environment};
use crate::watch::{options, shown, survive};
use rake_testkit::source::{mutate, operations, random, regions};
use rake_testkit::special::Bits;

/// Texts to damage, cut to a size that keeps an input's time small.
fn seeds() -> Vec<Vec<u8>> {
    let mut texts: Vec<Vec<u8>> = files().into_iter().map(|(_, text)| text.into_bytes()).collect();
    let made = operations::all().into_iter().map(|program| program.text);
    texts.extend(made.chain([regions::program().text]).map(String::into_bytes));
    texts.extend((0..20).map(|seed| random::program(seed, 3, true).text.into_bytes()));
    for text in &mut texts {
        let end = text.iter().take(3000).rposition(|&byte| byte == b'\n').map_or(text.len(), |end| end + 1);
        if text.len() > 3000 {
            text.truncate(end);
        }
    }
    texts
}

fn fuzz(salt: u64, input: impl Fn(&mut Bits) -> Vec<u8>) {
    let first = from_environment("RAKE_TEST_SEED", 1);
    let count = from_environment("RAKE_TEST_FUZZ", 1500);
    let mut accepted = 0;
    for seed in first..first + count {
        let mut bits = Bits::new(seed ^ salt << 32);
        let bytes = input(&mut bits);
        let options = options(&mut bits);
        match survive(&bytes, options.clone()) {
            Ok(outputs) => accepted += usize::from(outputs.succeeded()),
            Err(problem) => panic!("seed {seed}: {problem}\n{options:?}\n{}", shown(&bytes)),
        }
    }
    println!("{accepted} of {count} inputs were accepted");
}

#[test]
fn damaged_programs() {
    let seeds = seeds();
    fuzz(1, |bits| {
        let text = &seeds[bits.below(seeds.len())];
        mutate::mutate(text, bits)
    });
}

#[test]
fn random_tokens() {
    fuzz(2, |bits| {
        let pieces = 1 + bits.below(60);
        mutate::soup(pieces, bits)
    });
}

#[test]
fn random_tokens_in_a_body() {
    fuzz(3, |bits| {
        let mut text = b"scratch f(x: f32s, y: f32s, m: mask, <k: f32>) -> f32s:\n  ".to_vec();
        let pieces = 1 + bits.below(30);
        text.extend(mutate::soup(pieces, bits));
        text
    });
}

/// Pieces of two programs joined anywhere.
#[test]
fn spliced_programs() {
    let seeds = seeds();
    fuzz(4, |bits| {
        let (a, b) = (&seeds[bits.below(seeds.len())], &seeds[bits.below(seeds.len())]);
        [&a[..bits.below(a.len() + 1)], &b[bits.below(b.len() + 1)..]].concat()
    });
}
