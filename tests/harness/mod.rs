//! What the tests over case files share: finding cases, compiling them, and their directives.

#![allow(dead_code)]

pub mod codes;
pub mod directive;

use directive::Directives;
use rake_ir::profile::Profile;
use rakec::pipeline::{Kind, PASSES, Pass};
use rakec::render::{Format, render};
use rakec::{Compiler, Files, Options, Outputs};
use std::path::{Path, PathBuf};

/// The project's root.
pub fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Files of the project, by paths from its root, so that no output holds a path of the machine.
pub struct ProjectFiles;

impl Files for ProjectFiles {
    fn read(&self, path: &Path) -> std::io::Result<Vec<u8>> {
        std::fs::read(root().join(path))
    }
}

/// One case file.
#[derive(Clone, Debug)]
pub struct Case {
    /// Its path from the root.
    pub path: PathBuf,
    /// Its name, unique among all cases.
    pub name: String,
    /// Its text.
    pub source: String,
    /// What it asks for.
    pub directives: Directives,
}

/// All cases, sorted by path, or what is wrong with one.
pub fn cases() -> Result<Vec<Case>, String> {
    let mut found: Vec<Case> = Vec::new();
    for path in rake_files("tests/cases")? {
        let name = path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
        if let Some(other) = found.iter().find(|case| case.name == name) {
            return Err(format!("{} and {} have one name", other.path.display(), path.display()));
        }
        let bytes = std::fs::read(root().join(&path)).map_err(|error| format!("{}: {error}", path.display()))?;
        let source = String::from_utf8_lossy(&bytes).into_owned();
        let directives = Directives::parse(&source).map_err(|problem| format!("{}: {problem}", path.display()))?;
        found.push(Case { path, name, source, directives });
    }
    Ok(found)
}

/// The `.rk` files below a folder of the project, sorted.
pub fn rake_files(folder: &str) -> Result<Vec<PathBuf>, String> {
    let mut found = Vec::new();
    let mut open = vec![PathBuf::from(folder)];
    while let Some(folder) = open.pop() {
        let entries = std::fs::read_dir(root().join(&folder)).map_err(|e| format!("{}: {e}", folder.display()))?;
        for entry in entries {
            let entry = entry.map_err(|e| format!("{}: {e}", folder.display()))?;
            let path = folder.join(entry.file_name());
            if entry.path().is_dir() {
                open.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rk") {
                found.push(path);
            }
        }
    }
    found.sort();
    Ok(found)
}

impl Case {
    /// The options that its directives ask for, on a profile.
    pub fn options(&self, profile: Profile) -> Options {
        let to = self.directives.to.clone();
        Options { fuse: self.directives.fuse, to, check_irs: true, ..Options::new(profile) }
    }

    /// Compiles it.
    pub fn compile(&self, options: Options) -> Result<Outputs, String> {
        let compiler = Compiler::new(options, &ProjectFiles)?;
        compiler.compile(&self.path).map_err(|error| error.to_string())
    }

    /// Compiles it and fails on any diagnostic that its directives do not expect.
    pub fn compile_clean(&self, options: Options) -> Result<Outputs, String> {
        let expects_problems = !self.directives.problems.is_empty();
        let outputs = self.compile(options)?;
        if outputs.succeeded() && (outputs.diagnostics.is_empty() || expects_problems) {
            return Ok(outputs);
        }
        Err(render(&outputs.diagnostics, &outputs.sources, Format::Plain))
    }

    /// The command that shows the dump of a pass.
    pub fn command(&self, pass: &Pass, profile: Option<Profile>) -> String {
        let target = profile.map_or(String::new(), |profile| format!(" --target {profile}"));
        let diff = if pass.from == pass.to { " --dump-format diff" } else { "" };
        let fuse = match self.directives.fuse {
            level if level == Default::default() => String::new(),
            level => format!(" --fuse {}", level.name()),
        };
        format!("rakec --dump-pass {}{diff}{target}{fuse} {}", pass.name, self.path.display())
    }
}

/// The snapshots that the cases ask for: case, pass and profile, `None` where the IR does not depend on one.
pub fn snapshots(cases: &[Case]) -> Vec<(&Case, usize, Option<Profile>)> {
    let mut all = Vec::new();
    for case in cases {
        for (index, profiles) in &case.directives.dumps {
            let general = PASSES[*index].to <= Kind::Surface;
            let runs = profiles.iter().filter(|profile| PASSES[*index].profiles.includes(**profile));
            let each = runs.map(|profile| (case, *index, (!general).then_some(*profile)));
            all.extend(each.take(if general { 1 } else { usize::MAX }));
        }
    }
    all
}

/// A snapshot's path from the root.
pub fn snapshot_path(case: &Case, pass: usize, profile: Option<Profile>) -> PathBuf {
    let suffix = profile.map_or(String::new(), |profile| format!("@{profile}"));
    Path::new("snapshots").join(PASSES[pass].name).join(format!("{}{suffix}.snap", case.name))
}
