//! The graph of calls that are inlined: no recursion, chains at most 32 deep.

use rake_ir::diag::{Code, Diagnostic};
use rake_ir::limits;
use rake_ir::span::Span;
use rake_ir::surface::{DefKind, File};

#[derive(Clone, Copy, PartialEq)]
enum State {
    New,
    Open,
    Done,
}

/// Reports each recursive call once, and each definition whose chain of calls is the first to be too long.
pub fn check(file: &File, edges: &[Vec<(usize, Span)>], diagnostics: &mut Vec<Diagnostic>) {
    let mut state = vec![State::New; edges.len()];
    let mut depth = vec![0usize; edges.len()];
    let mut path: Vec<(usize, usize)> = Vec::new();
    for root in 0..edges.len() {
        if state[root] != State::New {
            continue;
        }
        state[root] = State::Open;
        path.push((root, 0));
        while let Some((node, next)) = path.last_mut() {
            let node = *node;
            let Some(&(callee, span)) = edges[node].get(*next) else {
                state[node] = State::Done;
                path.pop();
                continue;
            };
            match state[callee] {
                State::New => {
                    state[callee] = State::Open;
                    path.push((callee, 0));
                    continue;
                }
                State::Open => diagnostics.push(recursion(file, &path, callee, span)),
                State::Done => {
                    let below = depth[callee] + 1;
                    if below == limits::CALL_DEPTH + 1 && depth[node] < below {
                        diagnostics.push(too_deep(file, node, span));
                    }
                    depth[node] = depth[node].max(below);
                }
            }
            if let Some((_, next)) = path.last_mut() {
                *next += 1;
            }
        }
    }
}

fn recursion(file: &File, path: &[(usize, usize)], callee: usize, span: Span) -> Diagnostic {
    let name = |index: usize| format!("`{}`", super::key(&file.defs[index]));
    let start = path.iter().position(|&(node, _)| node == callee).unwrap_or(0);
    let mut cycle: Vec<String> = path[start..].iter().map(|&(node, _)| name(node)).collect();
    cycle.push(name(callee));
    let error = Diagnostic::error(Code::Recursion, span, format!("{} is recursive", name(callee)));
    let note = format!("calls are inlined, and {} never ends", cycle.join(" calls "));
    let help = match file.defs[callee].kind {
        DefKind::Tine { .. } => "a tine is one predicate; write the condition out",
        _ => "`repeat` takes a number of steps that is known when compiled",
    };
    error.note(note).help(help)
}

fn too_deep(file: &File, node: usize, span: Span) -> Diagnostic {
    let message =
        format!("`{}` starts a chain of more than {} calls", super::key(&file.defs[node]), limits::CALL_DEPTH);
    let error = Diagnostic::error(Code::CallsTooDeep, span, message);
    error.help("calls are inlined; write some of the chain's definitions out")
}
