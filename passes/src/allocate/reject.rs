//! The rejection of a definition that needs more registers than there are.

use crate::pressure::{Body, FILES, excess, file, registers_of};
use rake_ir::diag::{Code, Diagnostic};
use rake_ir::machine::Class;
use rake_ir::selected::Reg;

/// Names of live values that a message lists.
const LISTED: usize = 24;

/// Says where this order, the best that was found, needs most, and what is live there.
pub(super) fn diagnostic(body: &Body, order: &[u32]) -> Diagnostic {
    let needs = body.needs(order);
    let available = body.available();
    let lacking = |place: usize| excess(needs[place].registers, body.profile);
    let place = (0..order.len()).rev().max_by_key(|&place| lacking(place)).unwrap_or(0);
    let need = needs.get(place).map_or([0; FILES], |need| need.registers);
    let lacks = |class: &Class| need[file(*class)] > available[file(*class)];
    let class = Class::ALL.into_iter().find(lacks).unwrap_or(Class::K);
    let (one, what) = match class {
        Class::V => ("a rack", "racks"),
        Class::K => ("a mask", "masks"),
        Class::F => ("a float", "floats"),
        // A run's are addresses, counts and indices; those of a scratch come of masks alone.
        Class::G | Class::L | Class::S if body.f.result.is_none() => ("a number or address", "numbers and addresses"),
        Class::G | Class::L | Class::S => ("a number made of a mask", "numbers made of masks"),
    };
    let file = file(class);
    let f = body.f;
    let message = format!("`{}` needs more registers for {what} than {} has", f.name, body.profile);
    let mut diagnostic = Diagnostic::error(Code::OutOfRegisters, f.span, message)
        .at(format!("the best order found needs {} at once; there are {}", need[file], available[file]));
    if let Some(&at) = order.get(place) {
        let text = format!("{} {what} are live at once here", need[file]);
        diagnostic = diagnostic.label(body.inst(at).span, text);
    }
    diagnostic
        .note(format!("live there: {}", live(body, order, place, class)))
        .note(format!("{} registers are available on {}", available[file], body.profile))
        .note(format!("{one} is one register from its definition to its last use and is never spilled to memory"))
        .help("use values sooner after they are computed, compute them again where they are needed, or split the definition")
}

/// The source names of what is live at a place, in order of definition, the nameless ones counted.
fn live(body: &Body, order: &[u32], place: usize, class: Class) -> String {
    let f = body.f;
    let last = body.last_uses(order);
    let read = body.read_params(order);
    let params = (0..f.params.len()).filter(|&p| read[p]).map(|p| Reg(p as u32));
    let computed = order[..place.min(order.len())].iter().filter_map(|&at| body.inst(at).dst);
    let mut regs: Vec<Reg> = params.chain(computed).filter(|r| last[r.0 as usize] as usize >= place).collect();
    if let Some(&at) = order.get(place) {
        regs.extend(registers_of(body.inst(at)).filter(|&r| body.constant(r).is_some()));
        regs.extend(body.inst(at).dst);
    }
    regs.retain(|&r| f.class(r) == class);
    let mut names: Vec<String> = Vec::new();
    let mut nameless = 0;
    for reg in regs {
        match &f.regs[reg.0 as usize].name {
            Some(name) if names.iter().any(|n| n == &format!("`{name}`")) => nameless += 1,
            Some(name) => names.push(format!("`{name}`")),
            None => nameless += 1,
        }
    }
    let more = names.len().saturating_sub(LISTED) + nameless;
    names.truncate(LISTED);
    if more > 0 {
        let more = if names.is_empty() { more.to_string() } else { format!("{more} more") };
        names.push(format!("{more} without a name of their own"));
    }
    names.join(", ")
}
