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
";

/// All of them.
pub const ALL: [&str; 8] = [SCALE, WIDTHS, SWAP, WHERE, COMPACT, TWO, SEQUENCES, MANY];
