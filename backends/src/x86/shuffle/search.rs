//! The search for the cheapest plan: one move, then two, then three, each found backwards from what is wanted.
//!
//! A last move whose operand `v` is at hand says what the other operand `u` would have to hold, lane by lane
//! ([`Search::demands`]), and lanes that it leaves open may hold anything. So two moves are one move for each of few
//! demands. Moves with a literal put any lane anywhere; before them `u` only has to hold what is wanted somewhere.

use super::moves::{Control, Move, Pick, moves};
use super::plan::{Cost, Form, Made, Options, Rack, apply, copies, steps, taken};
use crate::picture::{ANY, Picture, Symbol, Task, ZERO, bit};
use rake_ir::machine::x86::Space;
use std::rc::Rc;

/// A plan and its cost, copies apart.
#[derive(Clone)]
pub(super) struct Found {
    pub rack: Rack,
    pub cost: Cost,
}

/// A rack at hand.
#[derive(Clone)]
struct Hand {
    rack: Rack,
    cost: Cost,
    holds: Picture,
    symbols: u64,
}

pub(super) struct Search {
    form: Form,
    n: usize,
    hands: Vec<Hand>,
    moves: Vec<&'static Move>,
    best: Option<(Cost, Rack)>,
}

/// The cheapest plan that the search knows; `None` when none makes the picture.
pub(super) fn cheapest(form: Form, task: &Task) -> Option<Rack> {
    let mut search = Search::new(form, task);
    let want = &task.want;
    if let Some(hand) = search.hands.iter().find(|h| h.holds.serves(want)) {
        return Some(hand.rack.clone());
    }
    search.one(want, &mut |s, found| s.offer(found));
    let enough = match form.space {
        Space::Sse => 1,
        // Two instructions beside a literal's load are never fewer than one.
        Space::Vex | Space::Evex => 2,
    };
    if !search.has(enough) {
        search.two(want);
    }
    if !search.has(2) && form.space == Space::Vex {
        search.three(want);
        search.both_permuted(want);
    }
    search.best.map(|(_, rack)| rack)
}

impl Search {
    fn new(form: Form, task: &Task) -> Search {
        let hand = |rack, cost, holds: Picture| Hand { rack, cost, holds, symbols: holds.symbols() };
        let given = task.given.iter().enumerate();
        let mut hands: Vec<Hand> = given.map(|(at, &holds)| hand(Rack::Given(at), Cost::default(), holds)).collect();
        if task.want.lanes.contains(&ZERO) {
            hands.push(hand(Rack::Zero, form.zero(), Picture::of(task.n, |_| ZERO)));
        }
        Search { form, n: task.n, hands, moves: moves(form.space).collect(), best: None }
    }

    /// Whether a plan of so few instructions is found.
    fn has(&self, instructions: u32) -> bool {
        self.best.as_ref().is_some_and(|(cost, _)| cost.instructions <= instructions)
    }

    /// Keeps a plan if it is cheaper than the best so far.
    fn offer(&mut self, found: Found) {
        let mut cost = found.cost;
        if self.best.as_ref().is_some_and(|(best, _)| *best <= cost) {
            return;
        }
        cost.instructions += copies(self.form.space, &steps(self.form, self.n, &found.rack).0);
        if self.best.as_ref().is_none_or(|(best, _)| cost < *best) {
            self.best = Some((cost, found.rack));
        }
    }

    /// Every way to make a picture of what is at hand by one move.
    fn one(&mut self, want: &Picture, each: &mut dyn FnMut(&mut Search, Found)) {
        let needed = want.symbols() & !bit(ZERO);
        for at in 0..self.moves.len() {
            let by = self.moves[at];
            let seconds = if by.operands == 2 { self.hands.len() } else { 1 };
            for x in 0..self.hands.len() {
                for y in 0..seconds {
                    let pair = [x, y];
                    let used = &pair[..by.operands];
                    let held = used.iter().fold(0, |set, &hand| set | self.hands[hand].symbols);
                    if needed & !held != 0 {
                        continue;
                    }
                    if let Some(found) = self.made(by, used, want) {
                        each(self, found);
                    }
                }
            }
        }
    }

    /// The move over these hands, when it can make the picture.
    fn made(&self, by: &'static Move, used: &[usize], want: &Picture) -> Option<Found> {
        let mut holds = [Picture::NOTHING; 2];
        let mut costs = [Cost::default(); 2];
        for (at, &hand) in used.iter().enumerate() {
            (holds[at], costs[at]) = (self.hands[hand].holds, self.hands[hand].cost);
        }
        let options = solve(by, self.n, &holds[..used.len()], want)?;
        let args = used.iter().map(|&hand| self.hands[hand].rack.clone()).collect();
        let cost = self.form.cost(by, &costs[..used.len()]);
        Some(Found { rack: Rack::Made(Rc::new(Made { by, options, args })), cost })
    }

    /// The cheapest way to make a picture of what is at hand by no move or one.
    fn quick(&mut self, want: &Picture) -> Option<Found> {
        if let Some(hand) = self.hands.iter().find(|h| h.holds.serves(want)) {
            return Some(Found { rack: hand.rack.clone(), cost: hand.cost });
        }
        let mut best: Option<Found> = None;
        self.one(want, &mut |_, found| {
            if best.as_ref().is_none_or(|b| found.cost < b.cost) {
                best = Some(found);
            }
        });
        best
    }

    /// Plans of two moves.
    fn two(&mut self, want: &Picture) {
        for at in 0..self.moves.len() {
            let by = self.moves[at];
            if !by.is_narrow() {
                self.two_by_literal(by, want);
                continue;
            }
            if by.operands == 1 {
                self.two_by(by, [Side::New, Side::New], want);
                continue;
            }
            self.two_by(by, [Side::New, Side::New], want);
            for hand in 0..self.hands.len() {
                self.two_by(by, [Side::New, Side::Hand(hand)], want);
                self.two_by(by, [Side::Hand(hand), Side::New], want);
            }
        }
    }

    /// Plans whose last move is `by`, a new rack standing where `sides` says.
    fn two_by(&mut self, by: &'static Move, sides: [Side; 2], want: &Picture) {
        let mut all = Vec::new();
        self.demands(by, &sides[..by.operands], want, &mut all);
        for (demand, options) in all {
            self.one(&demand, &mut |s, new| {
                let mut costs = [Cost::default(); 2];
                let mut args = Vec::with_capacity(2);
                // A rack that stands twice is made once.
                let mut paid = false;
                for (at, side) in sides[..by.operands].iter().enumerate() {
                    match *side {
                        Side::New => {
                            costs[at] =
                                if paid { Cost { latency: new.cost.latency, ..Cost::default() } } else { new.cost };
                            paid = true;
                            args.push(new.rack.clone());
                        }
                        Side::Hand(hand) => {
                            costs[at] = s.hands[hand].cost;
                            args.push(s.hands[hand].rack.clone());
                        }
                    }
                }
                let cost = s.form.cost(by, &costs[..by.operands]);
                s.offer(Found { rack: Rack::Made(Rc::new(Made { by, options, args })), cost });
            });
        }
    }

    /// What a new rack has to hold so that the move makes the picture, with the options that go with it. An option that
    /// asks nothing of the new rack is taken at once.
    fn demands(&self, by: &Move, sides: &[Side], want: &Picture, out: &mut Vec<(Picture, Options)>) {
        let fields = (by.fields)(self.n);
        let mut state = vec![(0, Picture::NOTHING, [0u8; 16])];
        while let Some((field, demand, mut options)) = state.pop() {
            if field == fields {
                if demand != Picture::NOTHING {
                    out.push((demand, options));
                }
                continue;
            }
            let mut next = Vec::new();
            for option in 0..(by.options)(self.n) {
                let Some(asked) = self.ask(by, sides, want, field, option, &demand) else { continue };
                options[field] = option as u8;
                if asked == demand {
                    next = vec![(field + 1, asked, options)];
                    break;
                }
                // Where both operands are the new rack, several options may ask the same.
                if next.iter().all(|(_, other, _)| *other != asked) {
                    next.push((field + 1, asked, options));
                }
            }
            state.append(&mut next);
        }
    }

    /// The demand with what a field's option asks of the new rack; `None` when it cannot be.
    fn ask(
        &self,
        by: &Move,
        sides: &[Side],
        want: &Picture,
        field: usize,
        option: usize,
        demand: &Picture,
    ) -> Option<Picture> {
        let mut demand = *demand;
        for l in (0..self.n).filter(|&l| (by.field)(l) == field && want.lanes[l] != ANY) {
            match (by.pick)(self.n, l, option) {
                Pick::Zero if want.lanes[l] == ZERO => {}
                Pick::Zero => return None,
                Pick::From(operand, lane) => match sides[operand] {
                    Side::Hand(hand) if self.hands[hand].holds.lanes[lane] == want.lanes[l] => {}
                    Side::Hand(_) => return None,
                    Side::New if [ANY, want.lanes[l]].contains(&demand.lanes[lane]) => {
                        demand.lanes[lane] = want.lanes[l];
                    }
                    Side::New => return None,
                },
            }
        }
        Some(demand)
    }

    /// Plans that end in a move by a literal of what one narrow move gathers.
    fn two_by_literal(&mut self, last: &'static Move, want: &Picture) {
        if last.operands != 1 {
            return;
        }
        let reach = Reach::of(last, self.n, want);
        for at in 0..self.moves.len() {
            let by = self.moves[at];
            if !by.is_narrow() || by.operands != 2 {
                continue;
            }
            for x in 0..self.hands.len() {
                for y in 0..self.hands.len() {
                    if x == y {
                        continue;
                    }
                    let holds = [self.hands[x].holds, self.hands[y].holds];
                    let Some(options) = gather(by, self.n, &holds, &reach) else { continue };
                    let first = apply(by, &options, self.n, &holds);
                    let Some(last_options) = solve(last, self.n, &[first], want) else { continue };
                    let args = vec![self.hands[x].rack.clone(), self.hands[y].rack.clone()];
                    let cost = self.form.cost(by, &[self.hands[x].cost, self.hands[y].cost]);
                    let new = Rack::Made(Rc::new(Made { by, options, args }));
                    let cost = self.form.cost(last, &[cost]);
                    let made = Made { by: last, options: last_options, args: vec![new] };
                    self.offer(Found { rack: Rack::Made(Rc::new(made)), cost });
                }
            }
        }
    }

    /// Plans of three moves whose last joins two new racks.
    fn three(&mut self, want: &Picture) {
        for at in 0..self.moves.len() {
            let by = self.moves[at];
            if !by.is_narrow() || by.operands != 2 {
                continue;
            }
            for (left, right, options) in splits(by, self.n, want) {
                let best = |s: &mut Search, of: &[(Picture, Options)]| {
                    let mut best: Option<(Found, Options)> = None;
                    for (demand, options) in of {
                        let Some(found) = s.quick(demand) else { continue };
                        if best.as_ref().is_none_or(|(b, _)| found.cost < b.cost) {
                            best = Some((found, *options));
                        }
                    }
                    best
                };
                let Some((u, first)) = best(self, &left) else { continue };
                let Some((v, second)) = best(self, &right) else { continue };
                let mut joined = options;
                for field in 0..joined.len() {
                    joined[field] = joined[field].max(first[field]).max(second[field]);
                }
                let cost = self.form.cost(by, &[u.cost, v.cost]);
                let made = Made { by, options: joined, args: vec![u.rack, v.rack] };
                self.offer(Found { rack: Rack::Made(Rc::new(made)), cost });
            }
        }
    }

    /// Both operands permuted by one literal, so that each lane is in its place in one of them, and blended.
    fn both_permuted(&mut self, want: &Picture) {
        let Some(permute) = self.moves.iter().find(|m| matches!(m.control, Control::Literal { memory: false, .. }))
        else {
            return;
        };
        let Some(blend) = self.moves.iter().find(|m| (m.fields)(self.n) == self.n && m.operands == 2 && m.is_narrow())
        else {
            return;
        };
        let (permute, blend) = (*permute, *blend);
        if self.hands.len() != 2 {
            return;
        }
        let n = self.n;
        let mut options = [0u8; 16];
        for (option, &wanted) in options.iter_mut().zip(&want.lanes[..n]) {
            let find =
                |symbol: Symbol| self.hands.iter().find_map(|h| h.holds.lanes[..n].iter().position(|&s| s == symbol));
            *option = find(wanted).unwrap_or(0) as u8;
        }
        let cost = self.form.cost(permute, &[Cost::default()]);
        let shared = Cost { instructions: 1, ..cost };
        let racks: Vec<Rack> = (0..2)
            .map(|at| Rack::Made(Rc::new(Made { by: permute, options, args: vec![self.hands[at].rack.clone()] })))
            .collect();
        let holds = [0, 1].map(|at: usize| apply(permute, &options, n, &[self.hands[at].holds]));
        let Some(options) = solve(blend, n, &holds, want) else { return };
        let cost = self.form.cost(blend, &[cost, shared]);
        self.offer(Found { rack: Rack::Made(Rc::new(Made { by: blend, options, args: racks })), cost });
    }
}

/// Where an operand of the last move comes from.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    New,
    Hand(usize),
}

/// The options by which a move over racks that hold `args` makes the picture.
fn solve(by: &Move, n: usize, args: &[Picture], want: &Picture) -> Option<Options> {
    let count = (by.options)(n);
    let mut allowed = [((1u64 << count) - 1) as u32; 16];
    for l in (0..n).filter(|&l| want.lanes[l] != ANY) {
        let field = (by.field)(l);
        for option in 0..count {
            if taken((by.pick)(n, l, option), args) != want.lanes[l] {
                allowed[field] &= !(1 << option);
            }
        }
        if allowed[field] == 0 {
            return None;
        }
    }
    Some(allowed.map(|options| options.trailing_zeros() as u8))
}

/// Which symbols a move by a literal needs where: anywhere, or in the same block of four lanes.
struct Reach {
    needed: [u64; 4],
    blocks: usize,
}

impl Reach {
    fn of(last: &Move, n: usize, want: &Picture) -> Reach {
        let local = (last.options)(n) < n;
        let mut needed = [0; 4];
        for l in 0..n {
            needed[if local { l / 4 } else { 0 }] |= bit(want.lanes[l]);
        }
        Reach { needed, blocks: if local { n / 4 } else { 1 } }
    }

    fn block(&self, lane: usize) -> usize {
        if self.blocks == 1 { 0 } else { lane / 4 }
    }
}

/// Options by which a narrow move brings together all that is needed.
fn gather(by: &Move, n: usize, args: &[Picture], reach: &Reach) -> Option<Options> {
    let (fields, count) = ((by.fields)(n), (by.options)(n));
    let mut offers = vec![[0u64; 4]; fields * count];
    for l in 0..n {
        for option in 0..count {
            let symbol = taken((by.pick)(n, l, option), args);
            offers[(by.field)(l) * count + option][reach.block(l)] |= bit(symbol);
        }
    }
    // What the fields from each on can bring at most.
    let mut rest = vec![[0u64; 4]; fields + 1];
    for field in (0..fields).rev() {
        for block in 0..4 {
            let own = (0..count).fold(0, |all, o| all | offers[field * count + o][block]);
            rest[field][block] = rest[field + 1][block] | own;
        }
    }
    let mut state = vec![(0, [0u64; 4], [0u8; 16])];
    while let Some((field, have, options)) = state.pop() {
        let lacking = |have: &[u64; 4]| (0..4).any(|b| reach.needed[b] & !have[b] != 0);
        if !lacking(&have) {
            return Some(options);
        }
        let most: [u64; 4] = std::array::from_fn(|b| have[b] | rest[field][b]);
        if field == fields || lacking(&most) {
            continue;
        }
        for option in (0..count).rev() {
            let mut options = options;
            options[field] = option as u8;
            let have = std::array::from_fn(|b| have[b] | offers[field * count + option][b]);
            state.push((field + 1, have, options));
        }
    }
    None
}

/// Demands on the two operands of a move, and the options that both share.
type Split = (Vec<(Picture, Options)>, Vec<(Picture, Options)>, Options);

/// How the move can make the picture of two racks that are both still to be made.
fn splits(by: &Move, n: usize, want: &Picture) -> Vec<Split> {
    let (fields, count) = ((by.fields)(n), (by.options)(n));
    if fields == n {
        return blend_splits(n, want);
    }
    if fields == 1 {
        // All lanes go by one option, so that both demands follow from it.
        let split = |option: usize| {
            let options = [option as u8; 16];
            let demand = |side| demand_of(by, n, want, side, &options);
            Some((vec![(demand(0)?, options)], vec![(demand(1)?, options)], options))
        };
        return (0..count).filter_map(split).collect();
    }
    // Each field goes by one operand: the only one it can, or the first field by the first.
    let owner = |field: usize| {
        let lane = (0..n).find(|&l| (by.field)(l) == field).unwrap_or(0);
        let sides: Vec<usize> = (0..count)
            .filter_map(|o| if let Pick::From(side, _) = (by.pick)(n, lane, o) { Some(side) } else { None })
            .collect();
        if sides.iter().all(|s| *s == sides[0]) { sides[0] } else { field.min(1) }
    };
    let side = |side: usize| {
        let mut all = vec![(Picture::NOTHING, [0u8; 16])];
        for field in (0..fields).filter(|&f| owner(f) == side) {
            let mut next = Vec::new();
            for (demand, options) in &all {
                for option in 0..count {
                    let mut options = *options;
                    options[field] = option as u8;
                    next.extend(merged(by, n, want, side, field, option, demand).map(|demand| (demand, options)));
                }
            }
            all = next;
        }
        all
    };
    vec![(side(0), side(1), [0; 16])]
}

/// The demand with what one field's option asks of one operand; `None` where it picks from the other.
fn merged(
    by: &Move,
    n: usize,
    want: &Picture,
    side: usize,
    field: usize,
    option: usize,
    demand: &Picture,
) -> Option<Picture> {
    let mut demand = *demand;
    for l in (0..n).filter(|&l| (by.field)(l) == field && want.lanes[l] != ANY) {
        match (by.pick)(n, l, option) {
            Pick::From(operand, lane) if operand == side && [ANY, want.lanes[l]].contains(&demand.lanes[lane]) => {
                demand.lanes[lane] = want.lanes[l];
            }
            Pick::Zero if want.lanes[l] == ZERO => {}
            _ => return None,
        }
    }
    Some(demand)
}

/// What all fields' options ask of one operand.
fn demand_of(by: &Move, n: usize, want: &Picture, side: usize, options: &Options) -> Option<Picture> {
    let mut demand = Picture::NOTHING;
    for l in (0..n).filter(|&l| want.lanes[l] != ANY) {
        match (by.pick)(n, l, options[(by.field)(l)].into()) {
            Pick::From(operand, lane) if operand == side => demand.lanes[lane] = want.lanes[l],
            Pick::Zero if want.lanes[l] != ZERO => return None,
            _ => {}
        }
    }
    Some(demand)
}

/// Blends of two new racks: lanes are divided by where they come from (which operand; the same lane, the same block of
/// four or another), and each set of such kinds goes to one rack.
fn blend_splits(n: usize, want: &Picture) -> Vec<Split> {
    let kind = |l: usize| {
        let symbol = want.lanes[l];
        let (from, lane) = if symbol >= ZERO { (2, l) } else { (usize::from(symbol) / n, usize::from(symbol) % n) };
        from * 3 + if lane == l { 0 } else { 1 + usize::from(lane / 4 != l / 4) }
    };
    let mut present: Vec<usize> = (0..n).filter(|&l| want.lanes[l] != ANY).map(kind).collect();
    present.sort_unstable();
    present.dedup();
    let mut all = Vec::new();
    // The first kind goes left; the others anywhere, but not all left.
    let others = present.len().saturating_sub(1);
    for set in 0..(1usize << others) - 1 {
        let right = |l: usize| {
            let at = present.iter().position(|&k| k == kind(l)).unwrap_or(0);
            at > 0 && set >> (at - 1) & 1 == 0
        };
        let mut options = [0u8; 16];
        (0..n).for_each(|l| options[l] = right(l).into());
        let part = |take: bool| Picture::of(n, |l| if right(l) == take { want.lanes[l] } else { ANY });
        all.push((vec![(part(false), [0; 16])], vec![(part(true), [0; 16])], options));
    }
    all
}
