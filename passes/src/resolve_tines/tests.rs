use super::*;
use rake_ir::desugared::Local;
use rake_ir::lane::FuseLevel;
use rake_ir::profile::Profile;
use rake_ir::tined;
use rake_ir::types::Elem;
use rake_ir::value::Lanes;

const F: Ty = Ty::Rack(Elem::F32);
const UF: Ty = Ty::Uniform(Elem::F32);
const M: Ty = Ty::Mask(32);

/// Writes a desugared function.
pub(crate) struct Source {
    pub(crate) function: desugared::Function,
}

impl Source {
    pub(crate) fn new(params: &[(&str, Ty)]) -> Source {
        let mut source = Source {
            function: desugared::Function {
                pointees: Default::default(),
                kind: desugared::FunctionKind::Scratch,
                name: "f".into(),
                span: Span::default(),
                params: Vec::new(),
                locals: Arena::new(),
                exprs: Arena::new(),
                body: Vec::new(),
                result: Some(ExprId::from_raw(0.into())),
            },
        };
        for (name, ty) in params {
            let local = source.local(name, *ty);
            source.function.params.push(local);
        }
        source
    }

    pub(crate) fn local(&mut self, name: &str, ty: Ty) -> desugared::LocalId {
        self.function.locals.alloc(Local { name: name.into(), ty, tine: false, span: Span::default() })
    }

    pub(crate) fn expr(&mut self, kind: ExprKind, ty: Ty) -> ExprId {
        self.function.exprs.alloc(Expr { kind, ty, span: Span::default() })
    }

    fn read(&mut self, local: u32) -> ExprId {
        let local = desugared::LocalId::from_raw(local.into());
        let ty = self.function.locals[local].ty;
        self.expr(ExprKind::Read(local), ty)
    }

    pub(crate) fn op(&mut self, op: Op, args: &[ExprId], ty: Ty) -> ExprId {
        self.expr(ExprKind::Op { op, imm: Imm::None, args: args.iter().copied().collect() }, ty)
    }

    fn iff(&mut self, condition: ExprId, then: ExprId, otherwise: ExprId) -> ExprId {
        let ty = self.function.exprs[then].ty;
        self.expr(ExprKind::If { condition, then, otherwise }, ty)
    }

    /// Ends in `result`; the tined program and its dump's lines from the first function's body on.
    fn lower(mut self, result: ExprId) -> Result<(Program, Vec<String>), Vec<Diagnostic>> {
        self.function.result = Some(result);
        let program =
            desugared::Program { profile: Profile::X86Sse2, fuse: FuseLevel::Full, functions: vec![self.function] };
        assert_eq!(desugared::check(&program), Ok(()));
        let tined = run(&program)?;
        assert_eq!(tined::check(&tined), Ok(()), "{}", tined::print(&tined));
        let dump = tined::print(&tined);
        let lines = dump.lines().skip(5).map(|line| line.split("~~").next().unwrap_or("").trim().to_owned());
        Ok((tined.clone(), lines.collect()))
    }
}

fn lines(source: Source, result: ExprId) -> Vec<String> {
    source.lower(result).unwrap_or_else(|faults| panic!("{faults:#?}")).1
}

#[test]
fn branches_get_masks_and_the_complement_is_made_once() {
    let mut s = Source::new(&[("x", F)]);
    let (x1, x2, x3, x4, x5) = (s.read(0), s.read(0), s.read(0), s.read(0), s.read(0));
    let zero = s.expr(ExprKind::Const(0), F);
    let condition = s.op(Op::Gt, &[x1, zero], M);
    let root = s.op(Op::Sqrt, &[x2], F);
    let negated = s.op(Op::Neg, &[x3], F);
    let sum = s.op(Op::Add, &[negated, x4], F);
    let sum = s.op(Op::Mul, &[sum, x5], F);
    let result = s.iff(condition, root, sum);
    let expected = [
        "%0 : f32s = param 0",
        "%1 : f32s = const 0.0",
        "%2 : mask = gt %0, %1",
        "%3 : f32s = sqrt %0 if %2",
        "%4 : mask = not %2",
        "%5 : f32s = neg %0 if %4",
        "%6 : f32s = add %5, %0 if %4",
        "%7 : f32s = mul %6, %0 if %4",
        "%8 : f32s = if %2, %3, %7",
        "return %8",
        "}",
    ];
    assert_eq!(lines(s, result), expected);
}

#[test]
fn nested_branches_conjoin_and_evaluate() {
    // if x > 0 then (if x < 1 then sqrt(x) else 1 / x) else -x
    let mut s = Source::new(&[("x", F)]);
    let reads: Vec<ExprId> = (0..5).map(|_| s.read(0)).collect();
    let (zero, one, one2) = (
        s.expr(ExprKind::Const(0), F),
        s.expr(ExprKind::Const(0x3f80_0000), F),
        s.expr(ExprKind::Const(0x3f80_0000), F),
    );
    let outer = s.op(Op::Gt, &[reads[0], zero], M);
    let inner = s.op(Op::Lt, &[reads[1], one], M);
    let root = s.op(Op::Sqrt, &[reads[2]], F);
    let inverse = s.op(Op::Div, &[one2, reads[3]], F);
    let then = s.iff(inner, root, inverse);
    let otherwise = s.op(Op::Neg, &[reads[4]], F);
    let result = s.iff(outer, then, otherwise);
    let (program, lines) = s.lower(result).unwrap();
    let expected = [
        "%0 : f32s = param 0",
        "%1 : f32s = const 0.0",
        "%2 : mask = gt %0, %1",
        "%3 : f32s = const 1.0",
        "%4 : mask = lt %0, %3 if %2",
        "%5 : mask = and %2, %4",
        "%6 : f32s = sqrt %0 if %5",
        "%7 : f32s = const 1.0",
        "%8 : mask = not %4 if %2",
        "%9 : mask = and %2, %8",
        "%10 : f32s = div %7, %0 if %9",
        "%11 : f32s = if %4, %6, %10 if %2",
        "%12 : mask = not %2",
        "%13 : f32s = neg %0 if %12",
        "%14 : f32s = if %2, %11, %13",
    ];
    assert_eq!(lines[..15], expected);
    let x = Lanes::f32s(&[0.25, 4.0, -3.0, f32::NAN]);
    let result = tined::eval(&program, "f", &[x]).unwrap();
    assert_eq!(result.bits()[..3], *Lanes::f32s(&[0.5, 0.25, 3.0]).bits());
}

#[test]
fn an_inlined_region_inherits_the_mask_around_the_call() {
    // if m then (do | s <| x + x in s * x) else x; the region's mask stands before it.
    let mut s = Source::new(&[("x", F), ("m", M), ("n", M)]);
    let reads: Vec<ExprId> = (0..4).map(|_| s.read(0)).collect();
    let (m, n) = (s.read(1), s.read(2));
    let sum = s.op(Op::Add, &[reads[0], reads[1]], F);
    let stage = s.local("s", F);
    let used = s.read(3);
    let product = s.op(Op::Mul, &[used, reads[2]], F);
    let body = vec![desugared::Stmt::Region(vec![Binding { local: stage, value: sum }])];
    let block = s.expr(ExprKind::Block { body, result: product }, F);
    let (again, last) = (s.read(0), reads[3]);
    let inner = s.iff(n, block, again);
    let result = s.iff(m, inner, last);
    let expected = [
        "%0 : f32s = param 0",
        "%1 : mask = param 1",
        "%2 : mask = param 2",
        "%3 : mask = and %1, %2",
        "region {",
        "%4 : f32s = add %0, %0 if %3",
        "stage s %4",
        "}",
        "%5 : f32s = mul %4, %0 if %3",
        "%6 : f32s = if %2, %5, %0 if %1",
        "%7 : f32s = if %1, %6, %0",
    ];
    assert_eq!(lines(s, result)[..11], expected);
}

#[test]
fn a_uniform_condition_masks_whole_racks() {
    let mut s = Source::new(&[("x", F), ("c", Ty::TRUTH)]);
    let (x, y, c) = (s.read(0), s.read(0), s.read(1));
    let root = s.op(Op::Sqrt, &[x], F);
    let result = s.iff(c, root, y);
    let expected = [
        "%0 : f32s = param 0",
        "%1 : <bool> = param 1",
        "%2 : mask = splat %1",
        "%3 : f32s = sqrt %0 if %2",
        "%4 : f32s = if %1, %3, %0",
    ];
    assert_eq!(lines(s, result)[..5], expected);
}

#[test]
fn uniforms_of_a_branch_over_lanes_are_computed_under_its_mask() {
    let mut s = Source::new(&[("x", F), ("a", UF), ("b", UF), ("m", M)]);
    let (x, a, b, m, other) = (s.read(0), s.read(1), s.read(2), s.read(3), s.read(0));
    let quotient = s.op(Op::Div, &[a, b], UF);
    let splat = s.op(Op::Splat, &[quotient], F);
    let product = s.op(Op::Mul, &[x, splat], F);
    let result = s.iff(m, product, other);
    let expected = [
        "%4 : f32s = splat %1",
        "%5 : f32s = splat %2",
        "%6 : f32s = div %4, %5 if %3",
        "%7 : f32s = mul %0, %6 if %3",
        "%8 : f32s = if %3, %7, %0",
    ];
    assert_eq!(lines(s, result)[4..9], expected);
}

#[test]
fn a_shift_count_stays_a_uniform() {
    let (u, uu) = (Ty::Rack(Elem::U32), Ty::Uniform(Elem::U32));
    let mut s = Source::new(&[("x", u), ("a", uu), ("m", M)]);
    let (x, a, m, other) = (s.read(0), s.read(1), s.read(2), s.read(0));
    let twice = s.read(1);
    let count = s.op(Op::Add, &[a, twice], uu);
    let shifted = s.op(Op::ShiftBitsLeft, &[x, count], u);
    let result = s.iff(m, shifted, other);
    let (program, lines) = s.lower(result).unwrap();
    assert!(lines.iter().any(|line| line.ends_with(": <u32> = add %1, %1")), "{lines:#?}");
    let args = [Lanes::new([1, 2, 3, 4]), Lanes::new([1]), Lanes::truths(&[true, false, true, false])];
    assert_eq!(tined::eval(&program, "f", &args), Ok(Lanes::new([4, 2, 12, 4])));
}

#[test]
fn a_shift_count_that_may_raise_is_refused_under_a_mask() {
    let (u, uu) = (Ty::Rack(Elem::U32), Ty::Uniform(Elem::U32));
    let mut s = Source::new(&[("x", u), ("a", UF), ("m", M)]);
    let (x, a, m, other) = (s.read(0), s.read(1), s.read(2), s.read(0));
    let count = s.op(Op::ToU32, &[a], uu);
    let shifted = s.op(Op::ShiftBitsLeft, &[x, count], u);
    let result = s.iff(m, shifted, other);
    assert_eq!(s.lower(result).unwrap_err()[0].code, Code::UnderMask);
}

#[test]
fn operations_over_all_lanes_are_refused_in_branches() {
    let mut s = Source::new(&[("x", F), ("m", M)]);
    let (x, m, other) = (s.read(0), s.read(1), s.read(0));
    let sum = s.op(Op::Sum, &[x], UF);
    let splat = s.op(Op::Splat, &[sum], F);
    let result = s.iff(m, splat, other);
    let faults = s.lower(result).unwrap_err();
    assert_eq!(faults[0].code, Code::UnderMask);
    let mut s = Source::new(&[("x", F), ("m", M)]);
    let (x, m, other) = (s.read(0), s.read(1), s.read(0));
    let root = s.op(Op::Sqrt, &[x], F);
    let kind = ExprKind::Op { op: Op::RotateLeft, imm: Imm::Int(1), args: [root].into_iter().collect() };
    let moved = s.expr(kind, F);
    let result = s.iff(m, moved, other);
    let faults = s.lower(result).unwrap_err();
    assert_eq!(faults[0].code, Code::PartialLanes);
}

#[test]
fn long_chains_lower_without_recursion() {
    let mut s = Source::new(&[("x", F)]);
    let mut sum = s.read(0);
    for _ in 0..100_000 {
        let x = s.read(0);
        sum = s.op(Op::Add, &[sum, x], F);
    }
    let (program, _) = s.lower(sum).unwrap();
    assert_eq!(program.functions[0].values.len(), 100_001);
}

mod rakes;
mod random;

#[test]
fn racks_of_another_lane_width_are_computed_in_every_lane_or_refused() {
    let (bytes, doubles) = (Ty::Rack(Elem::U8), Ty::Rack(Elem::F64));
    // if m then bitcast(f32s, b op b) else x
    let branch = |op: Op, ty: Ty| {
        let mut s = Source::new(&[("x", F), ("m", M), ("b", ty)]);
        let (x, m, a, b) = (s.read(0), s.read(1), s.read(2), s.read(2));
        let both = s.op(op, &[a, b], ty);
        let cast = s.op(Op::Bitcast, &[both], F);
        let result = s.iff(m, cast, x);
        s.lower(result)
    };
    let (_, lines) = branch(Op::Add, bytes).unwrap();
    assert_eq!(lines[3..6], ["%3 : u8s = add %2, %2", "%4 : f32s = bitcast %3 if %1", "%5 : f32s = if %1, %4, %0"]);
    let faults = branch(Op::Add, doubles).unwrap_err();
    assert_eq!(faults[0].code, Code::UnderMask);
    assert_eq!(faults[0].message, "`add` of f64s cannot stand under a mask of 32-bit lanes");
    // if m then bitcast(f32s, bitcast(u8s, x + x)) else x; the same over u32s keeps lanes.
    let through = |ty: Ty| {
        let mut s = Source::new(&[("x", F), ("m", M)]);
        let (a, b, x, m) = (s.read(0), s.read(0), s.read(0), s.read(1));
        let sum = s.op(Op::Add, &[a, b], F);
        let there = s.op(Op::Bitcast, &[sum], ty);
        let back = s.op(Op::Bitcast, &[there], F);
        let result = s.iff(m, back, x);
        s.lower(result)
    };
    assert_eq!(through(bytes).unwrap_err()[0].code, Code::PartialLanes);
    assert!(through(Ty::Rack(Elem::U32)).is_ok());
}
