//! Dumps: what passes gave, as text, as a diff against what they were given, or as JSON.

use super::{Ir, Observer, PASSES, Pass};
use rake_ir::diag::Diagnostic;
use serde_json::json;
use similar::TextDiff;

/// The IR after one pass.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Dump {
    /// The pass's place in the table.
    pub index: usize,
    /// Its name.
    pub pass: &'static str,
    /// The IR's name.
    pub ir: &'static str,
    /// The IR's text before the pass, when that is the same IR.
    pub before: Option<String>,
    /// The IR's text after it.
    pub text: String,
}

impl Dump {
    /// Whether the pass changed anything; one that gives another IR always does.
    pub fn changed(&self) -> bool {
        self.before.as_ref() != Some(&self.text)
    }

    /// What the pass changed: a unified diff between equal IRs (empty when nothing changed), else the whole text.
    pub fn diff(&self) -> String {
        match &self.before {
            None => self.text.clone(),
            Some(before) => {
                let diff = TextDiff::from_lines(before.as_str(), self.text.as_str());
                let header = (format!("before {}", self.pass), format!("after {}", self.pass));
                diff.unified_diff().context_radius(3).header(&header.0, &header.1).to_string()
            }
        }
    }

    /// One JSON object on one line.
    pub fn json(&self) -> String {
        json!({ "index": self.index, "pass": self.pass, "ir": self.ir, "changed": self.changed(), "text": self.text })
            .to_string()
    }

    /// The name of its file in a tree of dumps; files sort as the passes run.
    pub fn file_name(&self) -> String {
        format!("{:02}-{}.ir", self.index + 1, self.pass)
    }
}

/// Takes dumps while the pipeline runs.
#[derive(Default)]
pub struct Recorder {
    wanted: Vec<bool>,
    /// The dumps taken, in the order of the passes.
    pub dumps: Vec<Dump>,
}

impl Recorder {
    /// A recorder of the results that `names` mean: passes, IRs (their final form), or `all`.
    ///
    /// # Errors
    /// An unknown name, with the valid ones.
    pub fn new(names: &[String]) -> Result<Recorder, String> {
        let mut wanted = vec![false; PASSES.len()];
        for name in names.iter().flat_map(|names| names.split(',')) {
            if name == "all" {
                wanted.fill(true);
            } else {
                wanted[super::find(name)?] = true;
            }
        }
        Ok(Recorder { wanted, dumps: Vec::new() })
    }

    /// Whether anything is to be taken.
    pub fn is_idle(&self) -> bool {
        !self.wanted.contains(&true)
    }
}

impl Observer for Recorder {
    fn wants_before(&self, index: usize, pass: &Pass) -> bool {
        self.wanted[index] && pass.from == pass.to
    }

    fn after(&mut self, index: usize, pass: &Pass, before: Option<&Ir>, after: &Ir) -> Result<(), Diagnostic> {
        if self.wanted[index] {
            let before = before.filter(|before| before.kind() == after.kind()).map(Ir::print);
            let (ir, text) = (after.kind().name(), after.print());
            self.dumps.push(Dump { index, pass: pass.name, ir, before, text });
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dump(before: Option<&str>, text: &str) -> Dump {
        let before = before.map(str::to_string);
        Dump { index: 9, pass: "simplify", ir: "fused", before, text: text.to_string() }
    }

    #[test]
    fn equal_irs_differ_by_lines_and_others_are_whole() {
        let diff = dump(Some("a\nb\nc\n"), "a\nx\nc\n").diff();
        assert_eq!(diff, "--- before simplify\n+++ after simplify\n@@ -1,3 +1,3 @@\n a\n-b\n+x\n c\n");
        assert_eq!(dump(None, "a\n").diff(), "a\n");
        assert_eq!(dump(Some("a\n"), "a\n").diff(), "");
        assert!(!dump(Some("a\n"), "a\n").changed() && dump(None, "a\n").changed());
    }

    #[test]
    fn names_are_passes_irs_or_all() {
        assert!(Recorder::new(&["fuse,selected".into()]).is_ok());
        assert!(Recorder::new(&["all".into()]).unwrap().wanted.iter().all(|wanted| *wanted));
        assert!(Recorder::new(&["fuze".into()]).err().unwrap().contains("fuse"));
        assert_eq!(dump(None, "").file_name(), "10-simplify.ir");
    }
}
