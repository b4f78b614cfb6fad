//! What each definition of the file means to the others: signatures, constants, and what is not compiled yet.

use super::MAX_ERRORS;
use super::literals::{self, Flexible};
use super::packs::{self, Columns};
use crate::resolve::suggest;
use rake_ir::capabilities::{Feature, Status};
use rake_ir::diag::{Code, Diagnostic};
use rake_ir::limits;
use rake_ir::profile::Profile;
use rake_ir::span::Span;
use rake_ir::surface::{DefKind, ExprId, ExprKind, File, Function, Name, Param, TypeId, TypeKind};
use rake_ir::typed::FunctionId;
use rake_ir::types::{Elem, Ty};
use smol_str::SmolStr;
use std::collections::HashMap;

/// Parameters and result of a scratch, rake or tine. `None` is a type whose error has been reported.
pub struct Signature {
    pub id: FunctionId,
    pub params: Vec<Option<Ty>>,
    pub result: Option<Ty>,
}

/// What a definition means in vector code.
pub enum Meaning {
    Function(Signature),
    /// A constant's bits, when its value is sound.
    Const(Option<(u64, Elem)>),
    /// A pack's columns.
    Pack(Columns),
    /// Reported already, or of no use in vector code.
    Other,
}

/// A type as written, in vector code.
#[derive(Clone, Copy, PartialEq)]
pub enum Written {
    Scalar(Elem),
    Rack(Elem),
    Mask,
    /// Count and element type.
    Array(TypeId, ExprId),
}

impl Written {
    /// The value type; an array has none.
    pub fn ty(self) -> Option<Ty> {
        match self {
            Written::Scalar(elem) => Some(Ty::Uniform(elem)),
            Written::Rack(elem) => Some(Ty::Rack(elem)),
            Written::Mask => Some(Ty::Mask(32)),
            Written::Array(..) => None,
        }
    }
}

/// Everything that a body needs to know of its file.
pub struct Declarations<'a> {
    pub file: &'a File,
    pub profile: Profile,
    /// Definitions by name; tines have their own names and are not here.
    pub by_name: HashMap<&'a str, usize>,
    /// Tines by name, without the `#`.
    pub tines: HashMap<&'a str, usize>,
    /// By position in the file.
    pub meanings: Vec<Meaning>,
    /// Which expressions are made of literals only.
    pub flexible: Flexible,
}

/// The error for a feature that this version does not compile.
pub fn not_available(feature: Feature, profile: Profile, span: Span) -> Diagnostic {
    let message = format!("{} are not available yet on {profile}", feature.name());
    Diagnostic::error(Code::NotAvailableYet, span, message)
        .help("`--print-capabilities` lists what each profile compiles")
}

/// Puts the errors in source order and keeps the first ones only.
pub fn cap(diagnostics: &mut Vec<Diagnostic>) {
    diagnostics.sort_by_key(Diagnostic::span);
    if diagnostics.len() > MAX_ERRORS {
        diagnostics.truncate(MAX_ERRORS);
        let message = format!("more than {MAX_ERRORS} errors; the rest are not reported");
        diagnostics.push(Diagnostic::spanless(Code::TooManyErrors, message));
    }
}

impl<'a> Declarations<'a> {
    pub fn collect(file: &'a File, profile: Profile, diagnostics: &mut Vec<Diagnostic>) -> Self {
        let (mut by_name, mut tines) = (HashMap::new(), HashMap::new());
        for (index, def) in file.defs.iter().enumerate() {
            let names = if matches!(def.kind, DefKind::Tine { .. }) { &mut tines } else { &mut by_name };
            names.entry(def.name.text.as_str()).or_insert(index);
        }
        let flexible = Flexible::of(file, &by_name);
        let mut this = Declarations { file, profile, by_name, tines, meanings: Vec::new(), flexible };
        let mut functions = 0;
        for def in &file.defs {
            let meaning = match &def.kind {
                DefKind::Scratch(_) | DefKind::Rake(_) | DefKind::Tine { .. } => {
                    let id = FunctionId(functions);
                    functions += 1;
                    Meaning::Function(this.signature(&def.kind, def.name.span, id, diagnostics))
                }
                DefKind::Run(_) => {
                    functions += 1;
                    Meaning::Other
                }
                DefKind::Pack { groups } if Feature::Packs.is_checked() => {
                    Meaning::Pack(packs::columns(&this, groups, def.name.span, diagnostics))
                }
                DefKind::Const { ty, value } => Meaning::Const(this.constant(*ty, *value, diagnostics)),
                other => {
                    let feature = unavailable(other);
                    diagnostics.push(not_available(feature, profile, def.name.span));
                    Meaning::Other
                }
            };
            this.meanings.push(meaning);
        }
        this
    }

    /// What a name that is no local means.
    pub fn meaning(&self, name: &SmolStr) -> Option<&Meaning> {
        self.by_name.get(name.as_str()).map(|&index| &self.meanings[index])
    }

    fn signature(&self, kind: &DefKind, name: Span, id: FunctionId, out: &mut Vec<Diagnostic>) -> Signature {
        let (feature, word) = match kind {
            DefKind::Rake(_) => (Feature::Rakes, "rake"),
            DefKind::Tine { .. } => (Feature::Tines, "tine"),
            _ => (Feature::Scratches, "scratch"),
        };
        if feature.status(self.profile) != Status::Available {
            out.push(not_available(feature, self.profile, name));
        }
        let checked = |params: &[Param], out: &mut Vec<Diagnostic>| -> Vec<Option<Ty>> {
            params.iter().map(|param| self.param(param, word, out)).collect()
        };
        match kind {
            DefKind::Scratch(function) | DefKind::Rake(function) => {
                let params = checked(&function.params, out);
                let result = self.result(function, name, word, out);
                let signature = Signature { id, params, result };
                self.registers(&signature, name, out);
                signature
            }
            DefKind::Tine { params, .. } => {
                let params = checked(params, out);
                // The lanes of a predicate are those of the racks that it compares.
                let width = params.iter().flatten().find_map(|ty| ty.lane_bits()).unwrap_or(32);
                Signature { id, params, result: Some(Ty::Mask(width)) }
            }
            _ => Signature { id, params: Vec::new(), result: None },
        }
    }

    fn result(&self, function: &Function, name: Span, word: &str, out: &mut Vec<Diagnostic>) -> Option<Ty> {
        let Some(ty) = function.result else {
            let message = format!("a {word} names the type of its result");
            let error = Diagnostic::error(Code::InvalidType, name, message);
            out.push(error.help("write `-> f32s:` after the parameters"));
            return None;
        };
        let span = self.file.types[ty].span;
        let written = self.written(ty, out)?;
        match written {
            Written::Array(..) => {
                out.push(Diagnostic::error(Code::InvalidType, span, format!("an array cannot be a {word}'s result")));
            }
            Written::Scalar(elem) if word == "rake" => {
                let message = format!("a rake chooses lane by lane, so its result is no {elem} but a rack or a mask");
                let rack = if elem == Elem::Bool { "mask".to_owned() } else { format!("{elem}s") };
                out.push(Diagnostic::error(Code::InvalidType, span, message).help(format!("write `-> {rack}:`")));
                return None;
            }
            _ => {}
        }
        written.ty()
    }

    fn registers(&self, signature: &Signature, name: Span, out: &mut Vec<Diagnostic>) {
        let integer = |ty: &Ty| matches!(ty, Ty::Uniform(elem) if !elem.is_float());
        let integers = signature.params.iter().flatten().filter(|ty| integer(ty)).count();
        let vectors = signature.params.iter().flatten().count() - integers;
        for (count, most, words) in [
            (vectors, limits::VECTOR_ARGUMENTS, "vector arguments (racks, masks and float uniforms)"),
            (integers, limits::INTEGER_ARGUMENTS, "integer arguments (integer and `bool` uniforms)"),
        ] {
            if count > most {
                let message = format!("{count} {words}, but registers carry at most {most}");
                let help = "arguments never go on the stack; bind fewer values or split the scratch";
                out.push(Diagnostic::error(Code::TooManyArguments, name, message).help(help));
            }
        }
    }

    pub fn param(&self, param: &Param, word: &str, out: &mut Vec<Diagnostic>) -> Option<Ty> {
        let (name, span) = (&param.name.text, param.span);
        let written = self.written(param.ty, out)?;
        if param.mutable {
            let message = format!("`{name}` is `mut`, but a {word} writes no parameter");
            out.push(Diagnostic::error(Code::InvalidType, span, message).help("return the new value instead"));
        }
        match (written, param.uniform) {
            (Written::Scalar(_), true) | (Written::Rack(_) | Written::Mask, false) => written.ty(),
            (Written::Scalar(elem), false) => {
                let error =
                    Diagnostic::error(Code::UnmarkedUniform, span, format!("`{name}` is a uniform without its mark"));
                out.push(error.help(format!("write `<{name}: {elem}>`, or `{name}: {elem}s` for a rack")));
                written.ty()
            }
            (_, true) => {
                let error =
                    Diagnostic::error(Code::MarkedRack, span, format!("`{name}` is no uniform but carries a mark"));
                out.push(error.help("remove the angle brackets, or make the type a scalar"));
                written.ty()
            }
            (Written::Array(..), false) => {
                let message = format!("an array cannot be a parameter of a {word}");
                let error = Diagnostic::error(Code::InvalidType, span, message);
                out.push(error.help("take each rack as a parameter of its own"));
                None
            }
        }
    }

    /// The type as written; reports and refuses what vector code cannot hold.
    pub fn written(&self, ty: TypeId, out: &mut Vec<Diagnostic>) -> Option<Written> {
        let written = &self.file.types[ty];
        let feature = match &written.kind {
            TypeKind::Scalar(elem @ (Elem::F32 | Elem::I32 | Elem::U32 | Elem::Bool)) => {
                return Some(Written::Scalar(*elem));
            }
            TypeKind::Rack(elem @ (Elem::F32 | Elem::I32 | Elem::U32)) => return Some(Written::Rack(*elem)),
            TypeKind::Rack(elem @ (Elem::I8 | Elem::U8 | Elem::I16 | Elem::U16))
                if Feature::NarrowRacks.status(self.profile) == Status::Available =>
            {
                return Some(Written::Rack(*elem));
            }
            TypeKind::Mask => return Some(Written::Mask),
            TypeKind::Array { count, element } => return Some(Written::Array(*element, *count)),
            TypeKind::Rack(Elem::Bool) => {
                let error = Diagnostic::error(Code::InvalidType, written.span, "there are no racks of `bool`");
                out.push(error.help("one Boolean per lane is a `mask`"));
                return None;
            }
            TypeKind::Error => return None,
            TypeKind::Scalar(_) => Feature::OtherUniforms,
            TypeKind::Rack(elem) if elem.bits() < 32 => Feature::NarrowRacks,
            TypeKind::Rack(_) => Feature::OtherRacks,
            TypeKind::View(_) | TypeKind::Stack(_) => {
                out.push(no_value(&written.kind, written.span));
                return None;
            }
            TypeKind::Named(name) => match self.by_name.get(name.text.as_str()).map(|&def| &self.file.defs[def].kind) {
                Some(DefKind::Pack { .. }) => {
                    out.push(no_value(&written.kind, written.span));
                    return None;
                }
                Some(DefKind::Record { .. } | DefKind::Union { .. }) => Feature::Records,
                _ => {
                    out.push(self.no_type(name));
                    return None;
                }
            },
            TypeKind::Ptr { .. } | TypeKind::Function { .. } | TypeKind::Unit => Feature::Slow,
        };
        out.push(not_available(feature, self.profile, written.span));
        None
    }

    fn no_type(&self, name: &Name) -> Diagnostic {
        let text = name.text.as_str();
        let error = Diagnostic::error(Code::UndefinedName, name.span, format!("there is no type `{text}`"));
        let elsewhere = [("float", "f32"), ("double", "f64"), ("int", "i32"), ("uint", "u32"), ("unsigned", "u32")];
        if let Some((_, meant)) = elsewhere.into_iter().find(|(name, _)| *name == text) {
            return error.help(format!("did you mean `{meant}`, or the rack `{meant}s`?"));
        }
        let elems = Elem::ALL.into_iter().map(|elem| elem.name().to_owned());
        let racks = Elem::ALL.into_iter().filter(|elem| *elem != Elem::Bool).map(|elem| format!("{elem}s"));
        let known: Vec<String> = elems.chain(racks).chain(["mask".to_owned()]).collect();
        let records =
            self.file.defs.iter().filter(|def| {
                matches!(def.kind, DefKind::Pack { .. } | DefKind::Record { .. } | DefKind::Union { .. })
            });
        let candidates = known.iter().map(String::as_str).chain(records.map(|def| def.name.text.as_str()));
        match suggest::nearest(text, candidates) {
            Some(nearest) => error.help(format!("did you mean `{nearest}`?")),
            None => error.help("racks are `f32s`, `i32s`, `u32s`; one Boolean per lane is a `mask`; uniforms are `f32`, `i32`, `u32`, `bool`"),
        }
    }

    /// The error of a name that is no pack's.
    pub fn no_pack(&self, name: &Name) -> Diagnostic {
        let text = name.text.as_str();
        if let Some(&def) = self.by_name.get(text) {
            let error = Diagnostic::error(Code::WrongKind, name.span, format!("`{text}` is no pack"));
            return error.label(self.file.defs[def].name.span, "defined here").help("a stack is one of a `pack`");
        }
        let error = Diagnostic::error(Code::UndefinedName, name.span, format!("there is no pack `{text}`"));
        let packs = self.file.defs.iter().filter(|def| matches!(def.kind, DefKind::Pack { .. }));
        match suggest::nearest(text, packs.map(|def| def.name.text.as_str())) {
            Some(nearest) => error.help(format!("did you mean `{nearest}`?")),
            None => error.help("define it: `pack Name { f32: x, y; }`"),
        }
    }

    fn constant(&self, ty: TypeId, value: ExprId, out: &mut Vec<Diagnostic>) -> Option<(u64, Elem)> {
        let TypeKind::Scalar(elem) = self.file.types[ty].kind else {
            let error = Diagnostic::error(Code::InvalidType, self.file.types[ty].span, "a constant has a scalar type");
            out.push(error);
            return None;
        };
        let expr = &self.file.exprs[value];
        match &expr.kind {
            ExprKind::Number(number) => match literals::bits(number, elem, expr.span) {
                Ok(bits) => Some((bits, elem)),
                Err(error) => {
                    out.push(*error);
                    None
                }
            },
            ExprKind::Bool(value) if elem == Elem::Bool => Some((u64::from(*value), elem)),
            ExprKind::Bool(_) => {
                out.push(Diagnostic::error(Code::TypeMismatch, expr.span, format!("expected {elem}, found bool")));
                None
            }
            ExprKind::Error => None,
            _ => {
                out.push(not_available(Feature::ComputedConstants, self.profile, expr.span));
                None
            }
        }
    }
}

/// The error of a type whose values only a run's parameters are.
fn no_value(kind: &TypeKind, span: Span) -> Diagnostic {
    let (message, help) = match kind {
        TypeKind::View(_) => ("a view is a parameter of a general run", "a scratch takes and gives racks"),
        TypeKind::Stack(_) => ("a stack is a parameter of a stack run", "a scratch takes and gives racks"),
        _ => ("vector code holds no single record", "a run takes the columns of a `stack`"),
    };
    Diagnostic::error(Code::InvalidType, span, message).help(help)
}

fn unavailable(kind: &DefKind) -> Feature {
    match kind {
        DefKind::Pack { .. } => Feature::Packs,
        DefKind::Record { .. } | DefKind::Union { .. } => Feature::Records,
        DefKind::State { .. } => Feature::State,
        DefKind::Embed { .. } => Feature::Embed,
        DefKind::ExternSlow { .. } => Feature::Externs,
        DefKind::Slow(_)
        | DefKind::Scratch(_)
        | DefKind::Rake(_)
        | DefKind::Run(_)
        | DefKind::Tine { .. }
        | DefKind::Const { .. } => Feature::Slow,
    }
}
