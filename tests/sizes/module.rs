//! The vocabulary as one WebAssembly module with memory wrappers: ours, and clang's of the hand-written intrinsics.

use crate::peers::{FIXED_WASM, folder};
use crate::{functions, ours, programs};
use rake_ir::diag::Diagnostic;
use rake_ir::profile::Profile;
use rake_testkit::c::{Source, compile_wasm};
use std::collections::BTreeSet;
use std::fmt::Write as _;

/// The C type of a parameter or result.
fn c_type(ty: &str) -> &'static str {
    match ty {
        "f32" => "float",
        "i32" | "u32" | "bool" => "int",
        _ => "v128_t",
    }
}

/// The functions that have peers, renamed as those are, in the language and as prototypes and wrappers in C.
pub struct Vocabulary {
    /// Their names.
    pub names: Vec<String>,
    rake: String,
    c: String,
}

/// Collects the functions that have one of these peers.
pub fn vocabulary(profile: Profile, peers: &BTreeSet<String>) -> Vocabulary {
    let mut all = Vocabulary { names: Vec::new(), rake: String::new(), c: String::new() };
    let _ = writeln!(all.c, "#include \"{}\"", folder().join("wasm.c").display());
    for (prefix, program) in programs(profile) {
        for name in functions(&program) {
            let symbol = format!("{prefix}{name}");
            if peers.contains(&symbol) {
                let start = program.text.find(&format!("scratch {name}(")).expect("the name is from the text");
                let lines = program.text[start..].lines();
                let body = lines.clone().skip(1).take_while(|line| line.starts_with(' '));
                let head = lines.take(1).next().unwrap_or_default();
                let head = head.replacen(name, &symbol, 1);
                let _ = writeln!(all.rake, "{head}\n{}\n", body.collect::<Vec<_>>().join("\n"));
                all.c.push_str(&wrapper(&symbol, &head));
                all.names.push(symbol);
            }
        }
    }
    all
}

/// The prototype of a function, and its wrapper: a rack is passed as its address, and stored at the first.
fn wrapper(symbol: &str, head: &str) -> String {
    let inside = head.split_once('(').and_then(|(_, rest)| rest.rsplit_once(") -> "));
    let (params, result) = inside.expect("a definition has parameters and a result");
    let result = c_type(result.trim_end_matches(':'));
    let params: Vec<(&str, &str)> = params
        .split(", ")
        .filter_map(|param| param.trim_matches(['<', '>']).split_once(": "))
        .map(|(name, ty)| (name, c_type(ty)))
        .collect();
    let types: Vec<&str> = params.iter().map(|(_, ty)| *ty).collect();
    let types = if types.is_empty() { "void".to_owned() } else { types.join(", ") };
    let is_rack = |ty: &str| ty == "v128_t";
    let passed = params.iter().map(|(name, ty)| format!("{ty} {}{name}", if is_rack(ty) { "*" } else { "" }));
    let given = params.iter().map(|(name, ty)| format!("{}{name}", if is_rack(ty) { "*" } else { "" }));
    let call = format!("{symbol}({})", given.collect::<Vec<_>>().join(", "));
    let out = is_rack(result).then(|| "v128_t *out".to_owned());
    let passed: Vec<String> = out.into_iter().chain(passed).collect();
    let passed = if passed.is_empty() { "void".to_owned() } else { passed.join(", ") };
    let (returned, body) = match is_rack(result) {
        true => ("void", format!("*out = {call};")),
        false => (result, format!("return {call};")),
    };
    format!(
        "{result} {symbol}({types});\n__attribute__((export_name(\"{symbol}.memory\"))) {returned} \
         memory_{symbol}({passed}) {{ {body} }}\n"
    )
}

impl Vocabulary {
    /// Our module.
    ///
    /// # Errors
    /// What the compiler says.
    pub fn ours(&self, profile: Profile) -> Result<Vec<u8>, Vec<Diagnostic>> {
        ours(&self.rake, profile)
    }

    /// Clang's.
    pub fn peers(&self) -> Vec<u8> {
        let names: Vec<&str> = self.names.iter().map(String::as_str).collect();
        let flags: Vec<&str> =
            ["-O3"].into_iter().chain(FIXED_WASM).filter(|flag| !flag.contains("export-all")).collect();
        compile_wasm(Source::Text(&self.c), &flags, &names).unwrap_or_else(|error| panic!("the module: {error}"))
    }
}
