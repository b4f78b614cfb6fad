//! What each profile compiles: one row per language feature, and for each operation of the table a status per profile.
//!
//! The checker refuses by this table, and `--print-capabilities` prints it.

use crate::machine::Idioms;
use crate::ops::{OPS, Op, Syntax, TypeRule};
use crate::profile::Profile;
use crate::reference::Reference;
use crate::types::Elem;
use std::fmt::Write;

/// Whether a profile compiles something.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Status {
    /// It does.
    Available,
    /// It belongs to the language, and this version does not compile it.
    NotYet,
    /// It never will, because of this.
    Never(&'static str),
}

impl Status {
    /// One word for tables.
    pub const fn word(self) -> &'static str {
        match self {
            Status::Available => "yes",
            Status::NotYet => "not yet",
            Status::Never(_) => "no",
        }
    }
}

macro_rules! features {
    ($($variant:ident $name:literal $available:literal $doc:literal;)*) => {
        /// A feature of the language.
        #[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
        pub enum Feature { $(#[doc = $doc] $variant),* }

        /// Every feature: its name as messages write it, whether the x86 profiles compile it, what it is.
        pub const FEATURES: &[(Feature, &str, bool, &str)] = &[$((Feature::$variant, $name, $available, $doc)),*];
    };
}

features! {
    Scratches "scratches" true "`scratch`: straight-line rack functions.";
    Regions "fused regions" true "`| name <| e`: stages of one graph.";
    Calls "calls of scratches" true "Inlined where they stand.";
    Uniforms "uniforms" true "`<x>` of `f32`, `i32`, `u32` and `bool`.";
    Racks32 "racks of 32-bit elements" true "`f32s`, `i32s`, `u32s` and their masks.";
    Lanes "`lanes`" true "The profile's lane count.";
    Conditionals "conditionals" true "`if c then a else b` over masks and uniforms.";
    Repeats "repeats" true "`repeat <i: T> from a up to b:`, unrolled.";
    Locations "mutable rack locations" true "`x := e`, `x <- e` and arrays of racks.";
    Constants "constants" true "`const name: T = literal`.";
    ComputedConstants "constants of computed values" false "`const name: T = a + b`.";
    NarrowRacks "racks of 8- and 16-bit elements" true "`i8s u8s i16s u16s`: passed, bound, `bitcast`, and in `dot narrow widen_low widen_high`.";
    OtherRacks "racks of 64-bit elements" false "`i64s`, `u64s` and `f64s`.";
    OtherUniforms "uniforms of 8, 16 and 64 bits" false "`i8` to `u64` and `f64` in vector code.";
    ArrayLiterals "array literals in vector code" false "`[a, b]` as the value of an array of racks.";
    Tines "tines" true "`tine #name`: named masks.";
    Rakes "rakes" true "`rake`: tines, through blocks and a sweep.";
    Packs "packs and stacks" true "`pack`, `stack`: records in columns.";
    StackRuns "stack runs" true "`run` over columns.";
    GeneralRuns "general runs" true "`run` over views of memory.";
    Slow "slow code" false "`slow` functions and blocks.";
    Records "records and unions" false "`record`, `union`.";
    State "module state" false "`state`.";
    Embed "embedded files" false "`embed`.";
    Externs "C functions" false "`extern slow`.";
}

impl Feature {
    /// Its name in messages, plural.
    pub const fn name(self) -> &'static str {
        FEATURES[self as usize].1
    }

    /// Whether some profile compiles it, so that it is checked for all; a back end refuses what it cannot do.
    pub const fn is_checked(self) -> bool {
        FEATURES[self as usize].2
    }

    /// Whether the profile compiles it.
    pub fn status(self, profile: Profile) -> Status {
        // Code with bodies needs their markers.
        let runs = matches!(self, Feature::Packs | Feature::StackRuns | Feature::GeneralRuns);
        let there = profile.info().available && (!runs || Idioms::of(profile).control.is_some());
        if there && FEATURES[self as usize].2 { Status::Available } else { Status::NotYet }
    }
}

/// Whether the profile compiles the operation on this element (of its first rack; `bool` for masks).
pub fn operation(op: Op, elem: Elem, profile: Profile) -> Status {
    let relaxed = matches!(op, Op::RelaxedMadd | Op::RelaxedNmadd | Op::RelaxedMin | Op::RelaxedMax);
    if relaxed && profile != Profile::WasmSimd128Relaxed {
        return Status::Never("relaxed operations exist on wasm-simd128-relaxed only");
    }
    if op == Op::Fma && !profile.info().fma {
        return Status::Never("the profile has no fused multiply-add, and two roundings are not one");
    }
    if matches!(op.info().types, TypeRule::Resize(..)) && profile.lanes(elem) < 2 {
        return Status::Never("a rack of one element has no pairs of lanes");
    }
    if profile.info().available && (relaxed || compiled(op, elem)) { Status::Available } else { Status::NotYet }
}

/// What the back ends lower: every operation that is defined, on 32-bit elements and masks; on racks of other integers up to
/// 16 bits those that only name, move or resize them.
fn compiled(op: Op, elem: Elem) -> bool {
    let defined = !matches!(op.info().reference, Reference::None);
    defined
        && match (op.info().types, elem) {
            (TypeRule::Resize(from, _), elem) => from == elem,
            (_, Elem::F32 | Elem::I32 | Elem::U32 | Elem::Bool) => true,
            (_, elem) if elem.is_int() && elem.bits() <= 16 => {
                matches!(op, Op::Param | Op::Const | Op::Splat | Op::Bitcast)
            }
            _ => false,
        }
}

/// Whether the profile writes the lanes of a rack to elements at indices.
pub fn scatter(profile: Profile) -> Status {
    match profile.info().available {
        true if profile.native_masks() => Status::Available,
        true => Status::Never("its racks are written to consecutive elements only, and lane by lane is no vector code"),
        false => Status::NotYet,
    }
}

/// Whether a shift by a uniform `u32` is compiled; by a literal it is when the operation is.
pub fn shift_by_uniform(profile: Profile) -> Status {
    if profile.info().available { Status::Available } else { Status::NotYet }
}

/// The elements on which an operation can stand at all, by its type rule over racks or masks.
pub fn elements(op: Op) -> Vec<Elem> {
    use crate::ops::TypeRule as T;
    let classes = |classes: &[crate::types::ElemClass]| {
        Elem::ALL.into_iter().filter(|e| *e != Elem::Bool && classes.contains(&e.class())).collect()
    };
    let all = || Elem::ALL.into_iter().filter(|e| *e != Elem::Bool).collect();
    match op.info().types {
        T::Same(c) | T::Reduce(c) | T::Scan(c) => classes(c),
        T::SameF32 => vec![Elem::F32],
        T::Truth | T::MaskTo(_) => vec![Elem::Bool],
        T::Convert(from, _) => from.to_vec(),
        T::Resize(from, _) => vec![from],
        T::Shift => Elem::ALL.into_iter().filter(|e| e.is_int()).collect(),
        T::Pack => Elem::ALL.into_iter().filter(|e| e.bits() >= 32).collect(),
        T::Given if op == Op::LaneIndex => Elem::ALL.into_iter().filter(|e| e.is_int()).collect(),
        T::Compare | T::Choose | T::Racks | T::Extract | T::Insert | T::Splat | T::Given => all(),
        // Not written in source.
        T::Any | T::Signature(..) | T::Store | T::Indexed | T::CountTrue | T::ToI64 => Vec::new(),
    }
}

/// The table for `--print-capabilities`: features, then operations by element, one column per profile.
pub fn print(profiles: &[Profile]) -> String {
    let mut out = String::new();
    let mut row = |name: &str, cells: &[Status]| {
        let _ = write!(out, "{name:44}");
        for (profile, cell) in profiles.iter().zip(cells) {
            let _ = write!(out, " {:width$}", cell.word(), width = profile.name().len());
        }
        out.truncate(out.trim_end().len());
        out.push('\n');
    };
    for (feature, name, ..) in FEATURES {
        row(name, &profiles.iter().map(|&p| feature.status(p)).collect::<Vec<_>>());
    }
    row("scatters", &profiles.iter().map(|&p| scatter(p)).collect::<Vec<_>>());
    for info in OPS.iter().filter(|info| info.syntax != Syntax::Internal && info.op != Op::Const) {
        for elem in elements(info.op) {
            let subject = if elem == Elem::Bool { "mask".into() } else { format!("{elem}s") };
            let cells: Vec<Status> = profiles.iter().map(|&p| operation(info.op, elem, p)).collect();
            row(&format!("{} {subject}", info.name), &cells);
        }
    }
    let names: Vec<&str> = profiles.iter().map(|p| p.name()).collect();
    format!("{:44} {}\n{out}", "", names.join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_stand_at_their_features_index() {
        for (index, (feature, ..)) in FEATURES.iter().enumerate() {
            assert_eq!(*feature as usize, index);
        }
    }

    #[test]
    fn fma_follows_the_instruction_set() {
        assert!(matches!(operation(Op::Fma, Elem::F32, Profile::X86Sse2), Status::Never(_)));
        assert_eq!(operation(Op::Fma, Elem::F32, Profile::X86Avx2), Status::Available);
        assert_eq!(operation(Op::Fma, Elem::F64, Profile::X86Avx2), Status::NotYet);
        assert_eq!(operation(Op::Add, Elem::F64, Profile::Aarch64Neon), Status::NotYet);
        assert!(matches!(operation(Op::RelaxedMin, Elem::F32, Profile::WasmSimd128), Status::Never(_)));
    }

    #[test]
    fn the_printed_table_has_a_row_per_operation_and_element() {
        let text = print(&[Profile::X86Sse2, Profile::X86Avx2]);
        let fma = text.lines().find(|l| l.starts_with("fma f32s ")).unwrap_or_default();
        assert_eq!(fma.split_whitespace().collect::<Vec<_>>(), ["fma", "f32s", "no", "yes"]);
        assert!(text.lines().any(|l| l.starts_with("records and unions ") && l.ends_with("not yet")));
        let scatters = print(&[Profile::X86Avx2, Profile::X86Avx512]);
        let scatters = scatters.lines().find(|l| l.starts_with("scatters ")).unwrap_or_default();
        assert_eq!(scatters.split_whitespace().collect::<Vec<_>>(), ["scatters", "no", "yes"]);
    }
}
