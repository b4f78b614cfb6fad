//! Orders that keep few registers live.
//!
//! All keep a region's instructions together: a region is entered only when everything it reads from outside is there, and
//! left only when all of it is computed. Depth first computes the operand that needs more registers first, after Sethi
//! and Ullman, "The Generation of Optimal Code for Arithmetic Expressions" (1970), here on a graph with sharing, where it
//! is a heuristic. Greedy takes, of what is ready, the instruction that frees the most registers; backward
//! goes from the end to the start and takes the instruction that makes the fewest operands live.

use crate::pressure::{Body, registers_of};
use smallvec::SmallVec;

/// The dependences of a body: instructions by their place in the source's order, blocks of instructions that stay together.
struct Graph {
    /// The instructions that each reads, each once.
    reads: Vec<SmallVec<[u32; 3]>>,
    /// The instructions that read each.
    readers: Vec<SmallVec<[u32; 4]>>,
    /// The block of each instruction: a region, or itself alone.
    block: Vec<u32>,
    /// The instructions of each block.
    members: Vec<SmallVec<[u32; 4]>>,
    /// Parameters that each reads.
    params: Vec<SmallVec<[u32; 3]>>,
}

impl Graph {
    fn new(body: &Body) -> Graph {
        let count = body.source.len();
        let mut definer = vec![None; body.f.regs.len()];
        let mut graph = Graph {
            reads: vec![SmallVec::new(); count],
            readers: vec![SmallVec::new(); count],
            block: vec![0; count],
            members: Vec::new(),
            params: vec![SmallVec::new(); count],
        };
        let mut regions = std::collections::BTreeMap::new();
        for (place, &at) in body.source.iter().enumerate() {
            let inst = body.inst(at);
            for reg in registers_of(inst) {
                match definer[reg.0 as usize] {
                    Some(from) if !graph.reads[place].contains(&from) => {
                        graph.reads[place].push(from);
                        graph.readers[from as usize].push(place as u32);
                    }
                    None if (reg.0 as usize) < body.f.params.len() && !graph.params[place].contains(&reg.0) => {
                        graph.params[place].push(reg.0);
                    }
                    _ => {}
                }
            }
            if let Some(dst) = inst.dst {
                definer[dst.0 as usize] = Some(place as u32);
            }
            let fresh = graph.members.len() as u32;
            let block = inst.region.map_or(fresh, |region| *regions.entry(region).or_insert(fresh));
            if block == fresh {
                graph.members.push(SmallVec::new());
            }
            graph.block[place] = block;
            graph.members[block as usize].push(place as u32);
        }
        graph
    }
}

/// The orders to try when the source's needs too many registers.
pub(crate) fn candidates(body: &Body) -> Vec<Vec<u32>> {
    let graph = Graph::new(body);
    let orders = [
        depth_first(&graph, true),
        depth_first(&graph, false),
        greedy(body, &graph, Tie::Source),
        greedy(body, &graph, Tie::Recent),
        backward(&graph),
    ];
    let count = body.source.len();
    let complete = orders.into_iter().filter(|order| order.len() == count);
    complete.map(|order| order.into_iter().map(|place| body.source[place as usize]).collect()).collect()
}

/// Registers that computing a value needs, by Sethi and Ullman's rule over its operands.
fn labels(graph: &Graph) -> Vec<u32> {
    let mut labels: Vec<u32> = Vec::with_capacity(graph.reads.len());
    for reads in &graph.reads {
        let mut below: SmallVec<[u32; 3]> = reads.iter().map(|&r| labels[r as usize]).collect();
        below.sort_unstable_by(|a, b| b.cmp(a));
        let need = below.iter().zip(0..).map(|(label, held)| label + held).max();
        labels.push(need.unwrap_or(1).max(1));
    }
    labels
}

/// Post-order from what nothing reads. Blocks are visited as wholes, then the instructions inside each.
fn depth_first(graph: &Graph, by_label: bool) -> Vec<u32> {
    let labels = labels(graph);
    let rank = |place: &u32| if by_label { labels[*place as usize] } else { 0 };
    let count = graph.reads.len();
    let mut blocks = Vec::with_capacity(graph.members.len());
    let roots: Vec<u32> = (0..count as u32).filter(|&p| graph.readers[p as usize].is_empty()).collect();
    post_order(
        roots.iter().map(|&p| graph.block[p as usize]),
        graph.members.len(),
        |block| {
            let mut outside: Vec<u32> = Vec::new();
            for &member in &graph.members[block as usize] {
                outside.extend(graph.reads[member as usize].iter().filter(|&&r| graph.block[r as usize] != block));
            }
            outside.sort_by_key(|p| (std::cmp::Reverse(rank(p)), *p));
            outside.into_iter().map(|p| graph.block[p as usize]).collect()
        },
        &mut blocks,
    );
    let mut order = Vec::with_capacity(count);
    for block in blocks {
        let members = &graph.members[block as usize];
        if members.len() == 1 {
            order.extend(members);
            continue;
        }
        let inside = |p: &u32| graph.block[*p as usize] == block;
        let mut within = Vec::new();
        let tops = members.iter().copied().filter(|&m| !graph.readers[m as usize].iter().any(inside));
        post_order(
            tops,
            count,
            |place| {
                let mut reads: Vec<u32> = graph.reads[place as usize].iter().copied().filter(inside).collect();
                reads.sort_by_key(|p| (std::cmp::Reverse(rank(p)), *p));
                reads
            },
            &mut within,
        );
        order.append(&mut within);
    }
    order
}

/// Visits what each root leads to before the root, each once; without recursion.
fn post_order(roots: impl Iterator<Item = u32>, count: usize, next: impl Fn(u32) -> Vec<u32>, out: &mut Vec<u32>) {
    let mut seen = vec![false; count];
    let mut stack: Vec<(u32, std::vec::IntoIter<u32>)> = Vec::new();
    for root in roots {
        if std::mem::replace(&mut seen[root as usize], true) {
            continue;
        }
        stack.push((root, next(root).into_iter()));
        while let Some((node, rest)) = stack.last_mut() {
            match rest.next() {
                Some(child) if !std::mem::replace(&mut seen[child as usize], true) => {
                    stack.push((child, next(child).into_iter()));
                }
                Some(_) => {}
                None => {
                    out.push(*node);
                    stack.pop();
                }
            }
        }
    }
}

/// Which of equally good instructions goes first.
#[derive(Clone, Copy, PartialEq)]
enum Tie {
    /// The source's first.
    Source,
    /// The one that became ready last, so that chains are finished.
    Recent,
}

/// Forward list scheduling by registers freed.
fn greedy(body: &Body, graph: &Graph, tie: Tie) -> Vec<u32> {
    let count = graph.reads.len();
    // How many readers of each value and of each parameter are still to come.
    let mut left: Vec<u32> = graph.readers.iter().map(|r| r.len() as u32).collect();
    let mut param_left = vec![0u32; body.f.params.len()];
    graph.params.iter().flatten().for_each(|&p| param_left[p as usize] += 1);
    let mut waits: Vec<u32> = graph.reads.iter().map(|r| r.len() as u32).collect();
    // Operands from outside that each block still waits for.
    let mut closed = vec![0u32; graph.members.len()];
    for (place, reads) in graph.reads.iter().enumerate() {
        let block = graph.block[place];
        closed[block as usize] += reads.iter().filter(|&&r| graph.block[r as usize] != block).count() as u32;
    }
    let mut ready: Vec<u32> = (0..count as u32).filter(|&p| waits[p as usize] == 0).collect();
    let mut open: Option<(u32, usize)> = None;
    let mut order = Vec::with_capacity(count);
    while !ready.is_empty() {
        let freed = |place: u32| {
            let values = graph.reads[place as usize].iter().filter(|&&r| left[r as usize] == 1).count();
            let params = graph.params[place as usize].iter().filter(|&&p| param_left[p as usize] == 1).count();
            values + params
        };
        let allowed = |place: u32| match open {
            Some((block, _)) => graph.block[place as usize] == block,
            None => closed[graph.block[place as usize] as usize] == 0,
        };
        let best = (0..ready.len()).filter(|&i| allowed(ready[i])).max_by_key(|&i| {
            let late = match tie {
                Tie::Source => i64::from(u32::MAX - ready[i]),
                Tie::Recent => i as i64,
            };
            (freed(ready[i]), late)
        });
        let Some(best) = best else { break };
        let place = ready.remove(best);
        let block = graph.block[place as usize];
        let remaining = open.map_or(graph.members[block as usize].len(), |(_, n)| n) - 1;
        open = (remaining > 0).then_some((block, remaining));
        order.push(place);
        graph.reads[place as usize].iter().for_each(|&r| left[r as usize] -= 1);
        graph.params[place as usize].iter().for_each(|&p| param_left[p as usize] -= 1);
        for &reader in &graph.readers[place as usize] {
            waits[reader as usize] -= 1;
            if graph.block[reader as usize] != block {
                closed[graph.block[reader as usize] as usize] -= 1;
            }
            if waits[reader as usize] == 0 {
                ready.push(reader);
            }
        }
    }
    order
}

/// List scheduling from the last instruction to the first, by operands that become live.
fn backward(graph: &Graph) -> Vec<u32> {
    let count = graph.reads.len();
    let mut waits: Vec<u32> = graph.readers.iter().map(|r| r.len() as u32).collect();
    // Readers outside that each block still waits for.
    let mut closed = vec![0u32; graph.members.len()];
    for (place, readers) in graph.readers.iter().enumerate() {
        let block = graph.block[place];
        closed[block as usize] += readers.iter().filter(|&&r| graph.block[r as usize] != block).count() as u32;
    }
    let (mut live, mut live_params) = (vec![false; count], std::collections::BTreeSet::new());
    let mut ready: Vec<u32> = (0..count as u32).filter(|&p| waits[p as usize] == 0).collect();
    let mut open: Option<(u32, usize)> = None;
    let mut order = Vec::with_capacity(count);
    loop {
        let starts = |place: u32| {
            let values = graph.reads[place as usize].iter().filter(|&&r| !live[r as usize]).count();
            values + graph.params[place as usize].iter().filter(|p| !live_params.contains(*p)).count()
        };
        let allowed = |place: u32| match open {
            Some((block, _)) => graph.block[place as usize] == block,
            None => closed[graph.block[place as usize] as usize] == 0,
        };
        let best = (0..ready.len()).filter(|&i| allowed(ready[i]));
        let Some(best) = best.min_by_key(|&i| (starts(ready[i]), std::cmp::Reverse(ready[i]))) else { break };
        let place = ready.remove(best);
        let block = graph.block[place as usize];
        let remaining = open.map_or(graph.members[block as usize].len(), |(_, n)| n) - 1;
        open = (remaining > 0).then_some((block, remaining));
        order.push(place);
        live_params.extend(graph.params[place as usize].iter().copied());
        for &read in &graph.reads[place as usize] {
            live[read as usize] = true;
            waits[read as usize] -= 1;
            if graph.block[read as usize] != block {
                closed[graph.block[read as usize] as usize] -= 1;
            }
            if waits[read as usize] == 0 {
                ready.push(read);
            }
        }
    }
    order.reverse();
    order
}
