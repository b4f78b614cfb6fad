//! What stands between `region {` and `}` in a dump of `fused`.

use super::{Cost, Proof, Region, Step, Stop};
use crate::lane::{FunctionPrinter, FunctionReader, ValueId};
use crate::text::{Line, Result};
use crate::tined::{print_stages, read_stages};
use num_bigint::BigInt;
use num_rational::BigRational;
use num_traits::{One, Zero};

/// No constant that float literals combine to has more digits in its numerator or denominator.
const MOST_DIGITS: usize = 20_000;

pub(super) fn print(region: &Region, printer: &mut FunctionPrinter) {
    region.values.iter().for_each(|&id| printer.value(id));
    for (id, exact) in &region.exact {
        let line = format!("exact {} = {exact}", printer.name(*id));
        printer.line(&line, None);
    }
    if let Some(proof) = &region.proof {
        printer.block("proof", |printer| print_proof(proof, printer));
    }
}

fn print_proof(proof: &Proof, printer: &mut FunctionPrinter) {
    printer.block("source", |printer| proof.source.iter().for_each(|&id| printer.value(id)));
    print_stages(&proof.stages, printer);
    for (source, chosen) in &proof.yields {
        let line = format!("yield {} = {}", printer.name(*source), printer.name(*chosen));
        printer.line(&line, None);
    }
    let cost = |c: Cost| format!("{} {} {}", c.throughput, c.latency, c.live);
    printer.line(&format!("cost {} -> {}", cost(proof.cost.0), cost(proof.cost.1)), None);
    let stop = match proof.stop {
        Stop::Saturated => "saturated".into(),
        Stop::Nodes(limit) => format!("nodes {limit}"),
        Stop::Rounds(limit) => format!("rounds {limit}"),
        Stop::Trivial => "trivial".into(),
        Stop::Optimal => "optimal".into(),
    };
    printer.line(&format!("stop {stop}"), None);
    if let Some(chain) = &proof.chain {
        printer.block("chain", |printer| {
            for step in chain {
                let way = if step.backward { "backward" } else { "forward" };
                printer.line(&format!("step {} {way} {}", step.rule, step.term), None);
            }
        });
    }
}

pub(super) fn read(reader: &mut FunctionReader) -> Result<Region> {
    let values = reader.values()?;
    let mut exact = Vec::new();
    while let Some(line) = take(reader, "exact") {
        exact.push(read_exact(line, reader)?);
    }
    let proof = match take(reader, "proof") {
        Some(line) => Some(read_proof(line, reader)?),
        None => None,
    };
    reader.close()?;
    Ok(Region { values, exact, proof })
}

/// The next line after its first word, when that is `word`.
fn take<'a>(reader: &mut FunctionReader<'_, 'a>, word: &str) -> Option<Line<'a>> {
    let mut line = reader.peek()?;
    if !line.keyword(word) {
        return None;
    }
    reader.next(word).ok()?;
    Some(line)
}

/// The next line after its first word, which has to be `word`.
fn need<'a>(reader: &mut FunctionReader<'_, 'a>, word: &str) -> Result<Line<'a>> {
    let mut line = reader.next(&format!("`{word}`"))?;
    line.expect_keyword(word)?;
    Ok(line)
}

fn read_exact(mut line: Line, reader: &FunctionReader) -> Result<(ValueId, BigRational)> {
    let id = reader.operand(&mut line)?;
    line.expect("=")?;
    let at = line.span();
    if at.len() as usize > MOST_DIGITS {
        return Err(line.error("the number has too many digits"));
    }
    let numerator: BigInt = line.number()?;
    let denominator = if line.sign("/") { line.number()? } else { BigInt::one() };
    line.end()?;
    if denominator.is_zero() {
        return Err(crate::text::malformed(at, "the denominator is zero"));
    }
    Ok((id, BigRational::new(numerator, denominator)))
}

fn read_proof(mut line: Line, reader: &mut FunctionReader) -> Result<Proof> {
    open(&mut line)?;
    open(&mut need(reader, "source")?)?;
    let source = reader.values()?;
    reader.close()?;
    let stages = read_stages(reader)?;
    let mut yields = Vec::new();
    while let Some(mut line) = take(reader, "yield") {
        let from = reader.operand(&mut line)?;
        line.expect("=")?;
        yields.push((from, reader.operand(&mut line)?));
        line.end()?;
    }
    let mut line = need(reader, "cost")?;
    let before = read_cost(&mut line)?;
    line.expect("->")?;
    let cost = (before, read_cost(&mut line)?);
    line.end()?;
    let stop = read_stop(need(reader, "stop")?)?;
    let chain = match take(reader, "chain") {
        Some(line) => Some(read_chain(line, reader)?),
        None => None,
    };
    reader.close()?;
    Ok(Proof { source, stages, yields, cost, stop, chain })
}

fn open(line: &mut Line) -> Result<()> {
    line.expect("{")?;
    line.end()
}

fn read_cost(line: &mut Line) -> Result<Cost> {
    Ok(Cost { throughput: line.number()?, latency: line.number()?, live: line.number()? })
}

fn read_stop(mut line: Line) -> Result<Stop> {
    let wrong = line.expected("`saturated`, `nodes`, `rounds` or `trivial`");
    let stop = match line.word("why the search ended")? {
        "saturated" => Stop::Saturated,
        "trivial" => Stop::Trivial,
        "optimal" => Stop::Optimal,
        "nodes" => Stop::Nodes(line.number()?),
        "rounds" => Stop::Rounds(line.number()?),
        _ => return Err(wrong),
    };
    line.end()?;
    Ok(stop)
}

fn read_chain(mut line: Line, reader: &mut FunctionReader) -> Result<Vec<Step>> {
    open(&mut line)?;
    let mut chain = Vec::new();
    while let Some(mut line) = take(reader, "step") {
        let rule = line.until_space("a rule's name")?.into();
        let backward = line.keyword("backward");
        if !backward {
            line.expect_keyword("forward")?;
        }
        chain.push(Step { rule, backward, term: line.rest().into() });
    }
    reader.close()?;
    Ok(chain)
}
