//! Locals: which are needed at all, and which values share one.

use rake_ir::machine::Class;
use rake_ir::selected;
use rake_ir::stacked::{Code, Inst, local_order};
use std::collections::HashMap;

/// The last get of each local.
fn last_gets(code: &[Inst]) -> HashMap<u32, usize> {
    let gets = code.iter().enumerate().filter_map(|(at, inst)| match inst.code {
        Code::Get(local) => Some((local, at)),
        _ => None,
    });
    gets.collect()
}

/// A set whose get is the next instruction is a tee; a tee that nothing gets is nothing, unless it `stays`: a loop may read
/// it before.
pub(super) fn drop_unread(code: &mut Vec<Inst>, stays: &dyn Fn(u32) -> bool) {
    let mut joined: Vec<Inst> = Vec::with_capacity(code.len());
    for inst in code.drain(..) {
        match (joined.last_mut(), &inst.code) {
            (Some(last), Code::Get(local)) if last.code == Code::Set(*local) => last.code = Code::Tee(*local),
            _ => joined.push(inst),
        }
    }
    let last = last_gets(&joined);
    let is_read = |at: usize, local: u32| last.get(&local).is_some_and(|&get| get > at);
    let mut at = 0;
    joined.retain(|inst| {
        at += 1;
        !matches!(inst.code, Code::Tee(local) if !is_read(at - 1, local) && !stays(local))
    });
    *code = joined;
}

/// Gives the values in `code`, whose locals are still registers, locals; returns the classes of those beyond the
/// parameters. A value takes the first local that nobody reads any more, so there are no more than live at once.
pub(super) fn assign(f: &selected::Function, code: &mut [Inst]) -> Vec<Class> {
    let last = last_gets(code);
    // The class of each local, and the last instruction that reads what it holds; none when nothing does.
    let params = (0..f.params.len() as u32).map(|param| (f.params[param as usize].place.class, last.get(&param)));
    let mut locals: Vec<(Class, Option<usize>)> = params.map(|(class, last)| (class, last.copied())).collect();
    let mut places: HashMap<u32, u32> = (0..f.params.len() as u32).map(|param| (param, param)).collect();
    for (at, inst) in code.iter_mut().enumerate() {
        match &mut inst.code {
            Code::Get(local) => *local = places.get(local).copied().unwrap_or(*local),
            Code::Set(local) | Code::Tee(local) => {
                let class = f.regs[*local as usize].class;
                let until = last.get(local).copied();
                let is_free = |(of, last): &(Class, Option<usize>)| *of == class && last.is_none_or(|last| last < at);
                let place = locals.iter().position(is_free).unwrap_or(locals.len());
                match locals.get_mut(place) {
                    Some(free) => free.1 = until,
                    None => locals.push((class, until)),
                }
                places.insert(*local, place as u32);
                *local = place as u32;
            }
            _ => {}
        }
    }
    in_order(f.params.len(), locals.into_iter().map(|(class, _)| class).collect(), code)
}

/// Puts the locals beyond the parameters in their order.
pub(super) fn in_order(params: usize, classes: Vec<Class>, code: &mut [Inst]) -> Vec<Class> {
    let mut order: Vec<usize> = (params..classes.len()).collect();
    order.sort_by_key(|&local| local_order(classes[local]));
    let mut places: Vec<u32> = (0..classes.len() as u32).collect();
    for (place, &local) in order.iter().enumerate() {
        places[local] = (params + place) as u32;
    }
    for inst in code {
        if let Code::Get(local) | Code::Set(local) | Code::Tee(local) = &mut inst.code {
            *local = places[*local as usize];
        }
    }
    order.iter().map(|&local| classes[local]).collect()
}
