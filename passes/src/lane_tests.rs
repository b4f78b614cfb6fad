//! The passes from `desugared` to the end of `fused` on random functions, with regions as the source has them: every IR
//! passes its check and reads back, and every one of them computes the same bits.

use crate::resolve_tines::{self, tests::Source};
use crate::{expand, sanitise, simplify};
use rake_ir::desugared::{self, Binding, ExprId, ExprKind, LocalId, Stmt};
use rake_ir::fused;
use rake_ir::lane::FuseLevel;
use rake_ir::ops::Op;
use rake_ir::profile::Profile;
use rake_ir::tined;
use rake_ir::types::{Elem, Ty};
use rake_ir::value::{Lanes, lanes_of};

const F: Ty = Ty::Rack(Elem::F32);
const I: Ty = Ty::Rack(Elem::I32);
const M: Ty = Ty::Mask(32);
const UF: Ty = Ty::Uniform(Elem::F32);
const UB: Ty = Ty::TRUTH;
const PARAMS: [(&str, Ty); 6] = [("x", F), ("y", F), ("k", I), ("m", M), ("a", UF), ("c", UB)];

/// Xorshift; the same numbers each time.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, n: usize) -> usize {
        (self.next() >> 20) as usize % n
    }

    fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())]
    }

    fn float(&mut self) -> u32 {
        let special = [
            0,
            0x8000_0000,
            0x3f80_0000,
            0xbf80_0000,
            0x7f80_0000,
            0xff80_0000,
            0x7fc0_0000,
            1,
            0x4b00_0001,
            0x3f00_0000,
            0x40a0_0000,
        ];
        if self.below(3) > 0 { self.pick(&special) } else { self.next() as u32 }
    }

    fn bits(&mut self, elem: Elem) -> u64 {
        match elem {
            Elem::F32 => self.float().into(),
            _ => self.next() & elem.lane_mask(),
        }
    }
}

struct Writer {
    source: Source,
    random: Random,
    scope: Vec<(LocalId, Ty)>,
    in_region: bool,
}

impl Writer {
    fn function(seed: u64) -> desugared::Function {
        let source = Source::new(&PARAMS);
        let scope = source.function.params.iter().copied().zip(PARAMS.map(|p| p.1)).collect();
        let mut writer = Writer { source, random: Random(seed), scope, in_region: false };
        let body = writer.statements();
        let result = writer.expr(F, 4);
        writer.source.function.body = body;
        writer.source.function.result = Some(result);
        writer.source.function
    }

    fn statements(&mut self) -> Vec<Stmt> {
        (0..self.random.below(3))
            .map(|_| {
                if self.random.below(2) == 0 {
                    let ty = self.random.pick(&[F, I, M, UF]);
                    return Stmt::Let(self.binding(ty));
                }
                self.in_region = true;
                let stages = (0..1 + self.random.below(3)).map(|_| self.binding(F)).collect();
                self.in_region = false;
                Stmt::Region(stages)
            })
            .collect()
    }

    fn binding(&mut self, ty: Ty) -> Binding {
        let value = self.expr(ty, 3);
        let local = self.source.local("v", ty);
        self.scope.push((local, ty));
        Binding { local, value }
    }

    fn leaf(&mut self, ty: Ty) -> ExprId {
        let fits: Vec<LocalId> = self.scope.iter().filter(|l| l.1 == ty).map(|l| l.0).collect();
        if self.random.below(5) == 0 || fits.is_empty() {
            // Literals are finite; their combinations need not be.
            let bits = match ty.elem() {
                Elem::F32 => self.random.pick(&[0, 0x3f80_0000, 0x4000_0000, 0xbf00_0000]),
                elem => self.random.bits(elem),
            };
            return self.source.expr(ExprKind::Const(bits), ty);
        }
        let local = self.random.pick(&fits);
        self.source.expr(ExprKind::Read(local), ty)
    }

    fn op(&mut self, op: Op, operands: &[Ty], ty: Ty, depth: usize) -> ExprId {
        let args: Vec<ExprId> = operands.iter().map(|&operand| self.expr(operand, depth - 1)).collect();
        self.source.op(op, &args, ty)
    }

    fn conditional(&mut self, ty: Ty, depth: usize) -> ExprId {
        let kind = if ty.is_uniform() { UB } else { self.random.pick(&[M, M, UB]) };
        let condition = self.expr(kind, depth - 1);
        let (then, otherwise) = (self.arm(ty, depth - 1), self.arm(ty, depth - 1));
        self.source.expr(ExprKind::If { condition, then, otherwise }, ty)
    }

    /// An expression, or an inlined body with bindings of its own.
    fn arm(&mut self, ty: Ty, depth: usize) -> ExprId {
        if self.in_region || self.random.below(3) > 0 {
            return self.expr(ty, depth);
        }
        let outside = self.scope.len();
        let body = self.statements();
        let result = self.expr(ty, depth);
        self.scope.truncate(outside);
        self.source.expr(ExprKind::Block { body, result }, ty)
    }

    fn expr(&mut self, ty: Ty, depth: usize) -> ExprId {
        if depth == 0 {
            return self.leaf(ty);
        }
        let ring = [Op::Add, Op::Sub, Op::Mul];
        let compare = [Op::Eq, Op::Ne, Op::Lt, Op::Le, Op::Gt, Op::Ge];
        match (ty, self.random.below(8)) {
            (_, 0) => self.leaf(ty),
            (F | I | M | UF, 1 | 2) => self.conditional(ty, depth),
            (F, 3) => {
                let op = self.random.pick(&[Op::Neg, Op::Abs, Op::Sqrt, Op::Floor]);
                self.op(op, &[F], F, depth)
            }
            (F, 4) => self.op(Op::Splat, &[UF], F, depth),
            (F, 5) => self.op(Op::ToF32, &[I], F, depth),
            (F, 6) => self.op(Op::Select, &[M, F, F], F, depth),
            (F | UF, _) => {
                let op = self.random.pick(&[Op::Add, Op::Sub, Op::Mul, Op::Div, Op::Min]);
                self.op(op, &[ty, ty], ty, depth)
            }
            (I, 3 | 4) => self.op(Op::ToI32, &[F], I, depth),
            (I, _) => {
                let op = self.random.pick(&ring);
                self.op(op, &[I, I], I, depth)
            }
            (M, 3) => self.op(Op::Not, &[M], M, depth),
            (M, 4) => {
                let op = self.random.pick(&[Op::And, Op::Or]);
                self.op(op, &[M, M], M, depth)
            }
            (M, n) => {
                let (op, of) = (self.random.pick(&compare), if n == 5 { I } else { F });
                self.op(op, &[of, of], M, depth)
            }
            _ => {
                let op = self.random.pick(&compare);
                self.op(op, &[UF, UF], UB, depth)
            }
        }
    }
}

/// Checks a dump of `fused` and its way back.
fn hold(program: &fused::Program, after: &str, seed: u64) {
    let text = fused::print(program);
    assert_eq!(fused::check(program), Ok(()), "{after}, seed {seed}:\n{text}");
    let back = fused::read(&text).unwrap_or_else(|faults| panic!("{after}, seed {seed}: {faults:#?}\n{text}"));
    assert_eq!(fused::print(&back), text);
}

/// The regions as the source has them, without a proof.
fn verbatim(program: tined::Program) -> fused::Program {
    let region = |values| fused::Region { values, exact: Vec::new(), proof: None };
    let functions = program.functions.into_iter().map(|f| fused::Function {
        body: f
            .body
            .into_iter()
            .map(|stmt| match stmt {
                rake_ir::lane::Stmt::Value(id) => rake_ir::lane::Stmt::Value(id),
                rake_ir::lane::Stmt::Region(source) => rake_ir::lane::Stmt::Region(region(source.values)),
                marker => marker.renamed(|id| id).expect("a marker"),
            })
            .collect(),
        name: f.name,
        span: f.span,
        params: f.params,
        values: f.values,
        result: f.result,
    });
    fused::Program { profile: program.profile, fuse: program.fuse, functions: functions.collect() }
}

fn run(seed: u64, profile: Profile, fuse: impl Fn(tined::Program) -> fused::Program) {
    let functions = vec![Writer::function(seed)];
    let source = desugared::Program { profile, fuse: FuseLevel::Exact, functions };
    assert_eq!(desugared::check(&source), Ok(()));
    let tined = resolve_tines::run(&source).unwrap_or_else(|faults| panic!("seed {seed}: {faults:#?}"));
    let text = tined::print(&tined);
    assert_eq!(tined::check(&tined), Ok(()), "seed {seed}:\n{text}");
    assert_eq!(tined::print(&tined::read(&text).unwrap_or_else(|faults| panic!("{faults:#?}"))), text);
    let fused = fuse(tined.clone());
    hold(&fused, "fuse", seed);
    let expanded = expand::run(fused.clone(), &crate::select::rule::NoRules);
    hold(&expanded, "expand", seed);
    let sanitised = sanitise::run(expanded.clone());
    hold(&sanitised, "sanitise", seed);
    assert_eq!(fused::check_sanitised(&sanitised), Ok(()));
    let simplified = simplify::run(sanitised.clone());
    hold(&simplified, "simplify", seed);
    let stages = [("fuse", &fused), ("expand", &expanded), ("sanitise", &sanitised), ("simplify", &simplified)];
    let mut random = Random(seed ^ 0x5555_5555);
    for _ in 0..3 {
        let args = PARAMS.map(|(_, ty)| Lanes::new((0..lanes_of(ty, profile)).map(|_| random.bits(ty.elem()))));
        let want = tined::eval(&tined, "f", &args).unwrap_or_else(|fault| panic!("seed {seed}: {fault}\n{text}"));
        for (name, program) in stages {
            let got = fused::eval(program, "f", &args);
            let got =
                got.unwrap_or_else(|fault| panic!("{name}, seed {seed}: {fault}\n{text}\n{}", fused::print(program)));
            let same = want.same(&got, Elem::F32);
            assert!(same, "{name}, seed {seed}: {want:x?} {got:x?}\n{text}\n{}", fused::print(program));
        }
    }
}

fn seeds(fuse: impl Fn(tined::Program) -> fused::Program) {
    let profiles = [Profile::X86Sse2, Profile::X86Avx2, Profile::X86Avx512];
    for seed in 1..=400u64 {
        run(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15), profiles[seed as usize % 3], &fuse);
    }
}

#[test]
fn random_functions_keep_their_bits_through_every_pass() {
    seeds(verbatim);
}

#[test]
fn random_functions_keep_their_bits_through_fusion() {
    seeds(|p| crate::fuse::run(p, &Default::default()).expect("fuses"));
}

#[test]
fn every_level_ends_on_random_functions() {
    for seed in 1..=150u64 {
        let seed = seed.wrapping_mul(0x2545_f491_4f6c_dd1d);
        let profile = [Profile::X86Sse2, Profile::X86Avx2, Profile::X86Avx512][seed as usize % 3];
        for level in [FuseLevel::Contract, FuseLevel::Full] {
            let source = desugared::Program { profile, fuse: level, functions: vec![Writer::function(seed)] };
            let tined = resolve_tines::run(&source).unwrap_or_else(|faults| panic!("seed {seed}: {faults:#?}"));
            let fused = crate::fuse::run(tined, &Default::default()).expect("fuses");
            hold(&fused, "fuse", seed);
        }
    }
}
