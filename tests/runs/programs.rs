//! The programs that are run: every width of column, every result form, several stacks, many parameters.

/// Columns of 32 bits and of a byte, in a fused region.
pub const SCALE: &str = "\
pack Samples { f32: value; u8: quality; }

run weigh(s: stack Samples, <scale: f32>) -> stack Samples:
  | weighed <| s.value * <scale> + to_f32(widen(s.quality))
  s with { value: weighed, quality: widen(s.quality) + <7> }
";

/// Every width, widened and wrapped; columns that stand between and are neither read nor written.
pub const WIDTHS: &str = "\
pack Mixed { i8: a; f32: b; u8: c; i16: d; i32: e; u16: f; u32: g; u16: untouched; }

run widths(m: stack Mixed) -> stack Mixed:
  let a = widen(m.a)
  let c = widen(m.c)
  let d = widen(m.d)
  let f = widen(m.f)
  m with { a: a * <3> - d, c: c + f, d: d - m.e, e: m.e + a, f: f * c + m.g, g: m.g - f }

run narrow(m: stack Mixed, <k: i32>, <u: u32>) -> stack Mixed:
  m with { a: <k>, c: <u>, d: <k> + <1>, f: <u> + widen(m.f) }
";

/// Old values are read before new ones are written.
pub const SWAP: &str = "\
pack Pair { i32: a, b; }

run swap(p: stack Pair) -> stack Pair:
  p with { a: p.b, b: p.a + p.b }

run constant(p: stack Pair, <k: i32>) -> stack Pair:
  p with { b: <k> }
";

/// Some records are replaced.
pub const WHERE: &str = "\
pack Point { f32: x, y; u8: kind; i16: level; }

run roots(p: stack Point) -> stack Point:
  p with { x: sqrt(p.x), y: p.y / p.x } where p.x > <0.0>

run quotients(p: stack Point, <limit: f32>) -> stack Point:
  let wanted = p.y != <0.0> and p.x < <limit>
  p with { x: (p.x + <1.0>) / p.y, kind: widen(p.kind) + <1>, level: widen(p.level) * widen(p.level) } where wanted

run levels(p: stack Point, <k: i32>) -> stack Point:
  p with { level: <k>, kind: <3> } where widen(p.level) < <k>
";

/// Some records are kept.
pub const COMPACT: &str = "\
pack Item { f32: value; u8: tag; i16: level; i32: number; }
pack Wide { f32: a, b, c; u32: d, e; }
pack Bytes { u8: k; }

run keep(s: stack Item) -> stack Item:
  compact s where s.value > <0.0>

run halve(s: stack Item, <limit: i32>) -> stack Item:
  compact s with { value: s.value * <0.5>, level: widen(s.level) + <1> } where s.number < <limit>

run wide(s: stack Wide, <limit: f32>) -> stack Wide:
  compact s where s.a < <limit> or s.b < <limit>

run bytes(s: stack Bytes, <limit: u32>) -> stack Bytes:
  compact s with { k: widen(s.k) - <1> } where widen(s.k) < <limit>
";

/// Other stacks are read.
pub const TWO: &str = "\
pack Position { f32: x, y; }
pack Velocity { f32: dx, dy; u16: steps; }

run advance(p: stack Position, v: stack Velocity, <dt: f32>) -> stack Position:
  | x <| p.x + v.dx * <dt>
  | y <| p.y + v.dy * <dt>
  p with { x: x, y: if widen(v.steps) > <100> then y else p.y }

run across(p: stack Position, q: stack Position, <k: f32>) -> stack Position:
  p with { x: q.y + <k>, y: p.x - q.x }

run nearer(p: stack Position, q: stack Position) -> stack Position:
  compact p with { x: q.x } where abs(p.x) < abs(q.x)
";

/// Sequences, whose constants are many.
pub const SEQUENCES: &str = "\
pack Numbers { f32: x; }

run logarithms(n: stack Numbers) -> stack Numbers:
  n with { x: log(n.x) }

run powers(n: stack Numbers, <k: f32>) -> stack Numbers:
  n with { x: exp(n.x * <k>) } where n.x > <k>
";

/// More parameters than there are registers.
pub const MANY: &str = "\
pack Cell { f32: x; i32: n; }

run words(c: stack Cell, <i: i32>, <j: i32>, <k: u32>, <f: bool>, <l: i32>, <m: i32>, <o: i32>, <p: u32>) -> stack Cell:
  let <other: i32> = <l> - <m> + <o>
  let <last: u32> = <k> - <p>
  c with { n: if <f> then c.n * <i> + <other> else c.n - <j>, x: c.x * to_f32(<last>) }

run floats(c: stack Cell, <a: f32>, <b: f32>, <i: i32>, <d: f32>, <e: f32>, <f: f32>, <g: f32>, <h: f32>, <j: f32>) -> stack Cell:
  let <low: f32> = <a> + <b> * <d> - <e>
  let <high: f32> = <f> - <g> + <h> * <a>
  c with { x: if c.n < <i> then c.x * <low> + <j> else c.x * <high> - <a> }

run mixed(c: stack Cell, <a: f32>, <b: f32>, <d: f32>, <e: f32>, <f: f32>, <g: f32>, <h: f32>, <i: i32>, <j: i32>, <k: i32>, <l: i32>, <m: i32>, <o: f32>, <p: f32>, <q: i32>, <r: i32>, <t: bool>, <u: u32>, <v: f32>) -> stack Cell:
  let x = if <t> then c.x * <p> + <o> else c.x * <a> + <v>
  c with { x: x, n: c.n * <q> + <r> - bitcast(i32, <u>) + <m> }
";

/// All runs of stacks.
pub const ALL: [&str; 8] = [SCALE, WIDTHS, SWAP, WHERE, COMPACT, TWO, SEQUENCES, MANY];

/// Loops that stop at `n`, whatever the views hold.
pub const LOOPS: &str = "\
run sums(x: []f32, out: mut []f32, <n: i32>):
  total := <0.0>
  for <i: i32> from <0> up to <n> by <lanes>:
    total <- total + x[<i> up to <n>]
    out[<i> up to <n>] <- total

run firsts(x: []i32, out: mut []i32, <n: i32>):
  last := <-1>
  for <i: i32> from <0> up to <n> by <lanes>:
    if <i> > <5>:
      last <- x[<i> up to <n>]
    else:
      last <- last + <x[i]>
    out[<i> up to <n>] <- last

run twice(x: []u32, out: mut []u32, <n: i32>):
  for <i: i32> from <0> up to <n> by <lanes>:
    out[<i>] <- x[<i>] + x[<i>]

run thirds(x: []f32, out: mut []f32, <n: i32>):
  for <i: i32> from <0> up to <n> by <3>:
    out[<i> up to <n>] <- x[<i> up to <n>] * 2.0

run both(x: []f32, out: mut []f32, <n: i32>):
  for <i: i32> from <-2> up to <n> by <lanes>:
    out[<i> + <2> up to <n>] <- x[<i> + <1> up to <n> - <1>] + 1.0

run ends(x: []f32, out: mut []f32, <n: i32>):
  out[<0> up to <n>] <- x[<0> up to <n>] * <x[n-1]>
";

/// Numbers, truths and choices that no lane holds. On one lane no access is out of range.
pub const NUMBERS: &str = "\
run numbers(x: []i32, out: mut []i32, <n: i32>):
  let <a: i32> = <n> * <3> - <7>
  let <c: i32> = if <a> > <n> then <n> else <a>
  let <h: i32> = abs(bit_xor(<c>, <n>))
  let <m: i32> = min(<h>, <n>)
  if <m> < <h> and <n> >= <2>:
    out[<0> up to <n>] <- x[<0> up to <n>] * <m>
  for <i: i32> from <m> up to <c> by <7>:
    if <i> = <21> or <h> > <9>:
      out[<i> up to <n>] <- x[<i> up to <n>] + <h>

run elements(x: []i32, out: mut []i32, <n: i32>):
  let <u: u32> = bit_and(bitcast(u32, bit_xor(<x[0]>, <n>)), <31>)
  for <i: u32> from <0> up to bit_or(<u>, <3>) by <5>:
    let <m: i32> = min(<n>, <40>)
    out[<i> up to <m>] <- x[<i> up to <m>] - <m>

run far(x: []i32, out: mut []i32, <n: i32>):
  out[<2147483647> + <2147483647> up to <n>] <- x[<0> up to <n>]
  for <i: i32> from <2> up to <1> by <3>:
    out[<i> * <2>] <- x[<i> * <3>]
  for <i: i32> from <7> up to <n>:
    let <j: i32> = <2147483647>
    if <n> > <20>:
      out[<i> - <j> - <j>] <- x[<j> * <j> + <i>]
    out[<j> * <j> up to <n>] <- x[<i> up to <n>]

run neighbours(x: []i32, out: mut []i32, <n: i32>):
  if <x[0]> > <n>:
    out[bit_xor(<n>, <1>)] <- x[<n>] + <x[0]>
";

/// Bounds that differ by more than 32 bits hold.
pub const PART: &str = "\
run part(x: []f32, out: mut []f32, <i: i32>, <n: i32>):
  out[<i> up to <n>] <- x[<i> up to <n>]
";

/// Indices that memory holds no more when their gather comes.
pub const MOVED: &str = "\
run moved(x: mut []i32, table: []f32, <n: i32>):
  for <i: i32> from <0> up to <n> by <lanes(i32s)>:
    let at = x[<i> up to <n>]
    x[<i> up to <n>] <- at + <1000>
    let t = table[unchecked at]
    x[<i> up to <n>] <- bitcast(i32s, t)
";

/// Elements by number.
pub const GATHERS: &str = "\
pack P { i32: at; f32: x; }

run look(p: stack P, table: []f32) -> stack P:
  p with { x: table[p.at] } where p.at != <99>

run numbers(p: stack P, table: []u32) -> stack P:
  p with { at: bitcast(i32s, table[p.at]) } where p.at != <99>

run all(p: stack P, table: []f32, <k: f32>) -> stack P:
  let t = table[p.at]
  p with { x: t * <k> + p.x }

run every(p: stack P, table: []u32) -> stack P:
  let t = table[p.at]
  p with { at: bitcast(i32s, t) }
";

/// Elements to numbers: of both kinds of index, checked and not, several in a row, and beside gathers of what they wrote.
pub const SCATTERS: &str = "\
run put(at: []u32, x: []f32, out: mut []f32, <n: i32>):
  for <i: i32> from <0> up to <n> by <lanes>:
    out[at[<i>]] <- x[<i>] * <2.0>

run last(at: []i32, x: []u32, out: mut []u32, <n: i32>):
  for <i: i32> from <0> up to <n> by <lanes>:
    out[unchecked bit_and(at[<i>], 15)] <- x[<i>]

run tally(at: []i32, x: []i32, out: mut []i32, <n: i32>):
  for <i: i32> from <0> up to <n> by <lanes>:
    let k = at[<i>]
    let old = out[k]
    out[k] <- old + x[<i>]
    out[unchecked bit_xor(bit_and(k, 15), 1)] <- old

run twice(at: []i32, x: []f32, out: mut []f32, <n: i32>):
  let k = at[<0> up to <n>]
  let w = bit_and(k, 15)
  let v = x[unchecked w]
  if <n> > <15>:
    out[k] <- v
    out[unchecked w] <- x[unchecked w] + v
";
