//! Places for files that the tests make: what is built once, and folders for one use.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::SystemTime;

/// Things made for the tests: `testkit/` in the build directory.
pub(crate) fn cache() -> PathBuf {
    let target = std::env::var_os("CARGO_TARGET_DIR").map(PathBuf::from);
    target.unwrap_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../target")).join("testkit")
}

/// A folder in [`cache`] that nobody else uses, removed with its files when it is dropped.
#[derive(Debug)]
pub struct Folder {
    path: PathBuf,
}

impl Folder {
    /// Makes it.
    ///
    /// # Errors
    ///
    /// The system's, with the path.
    pub fn new() -> Result<Folder, String> {
        static NEXT: AtomicUsize = AtomicUsize::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let path = cache().join("scratch").join(format!("{}.{number}", std::process::id()));
        // Left over from a process of the same number, if it is there.
        let _ = std::fs::remove_dir_all(&path);
        std::fs::create_dir_all(&path).map_err(|e| format!("making {}: {e}", path.display()))?;
        Ok(Folder { path })
    }

    /// The path of a file in it.
    pub fn file(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }

    /// Writes a file in it and gives its path.
    ///
    /// # Errors
    ///
    /// The system's, with the path.
    pub fn write(&self, name: &str, bytes: impl AsRef<[u8]>) -> Result<PathBuf, String> {
        let path = self.file(name);
        std::fs::write(&path, bytes).map_err(|e| format!("writing {}: {e}", path.display()))?;
        Ok(path)
    }

    /// Reads a file in it.
    ///
    /// # Errors
    ///
    /// The system's, with the path.
    pub fn read(&self, name: &str) -> Result<Vec<u8>, String> {
        let path = self.file(name);
        std::fs::read(&path).map_err(|e| format!("reading {}: {e}", path.display()))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.path);
    }
}

/// Builds `name` in [`cache`] with a compiler, called with `arguments`, `-o`, the result and the
/// sources, when it is missing or older than a source; gives its path.
///
/// # Errors
///
/// What the compiler says, or how to get it when it is missing.
pub(crate) fn build_once(
    name: &str,
    compiler: &str,
    package: &str,
    arguments: &[&str],
    sources: &[PathBuf],
) -> Result<PathBuf, String> {
    let result = cache().join(name);
    let time = |path: &Path| -> Option<SystemTime> { path.metadata().ok()?.modified().ok() };
    let built = time(&result);
    if built.is_some() && sources.iter().all(|source| time(source) <= built) {
        return Ok(result);
    }
    let failed = |what: String| format!("building {}: {what}", result.display());
    // Built aside and renamed, because other tests may be doing the same.
    let aside = Folder::new()?;
    let mut command = Command::new(compiler);
    command.args(arguments).arg("-o").arg(aside.file(name)).args(sources);
    let output =
        command.output().map_err(|e| failed(format!("{compiler}: {e}. Install it (apt install {package})")))?;
    if !output.status.success() {
        return Err(failed(String::from_utf8_lossy(&output.stderr).into_owned()));
    }
    std::fs::rename(aside.file(name), &result).map_err(|e| failed(e.to_string()))?;
    Ok(result)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_are_apart_and_go() {
        let (a, b) = (Folder::new().unwrap(), Folder::new().unwrap());
        let path = a.write("x", "in a").unwrap();
        b.write("x", "in b").unwrap();
        assert_eq!(a.read("x").unwrap(), b"in a");
        assert!(a.read("y").unwrap_err().contains("reading"));
        drop(a);
        assert!(!path.exists() && b.file("x").exists());
    }

    #[test]
    fn what_is_built_is_there_and_complaints_are_told() {
        let folder = Folder::new().unwrap();
        let source = folder.write("one.c", "int one(void) { return 1; }").unwrap();
        let name = format!("build-test.{}.so", std::process::id());
        let build = |source| build_once(&name, "cc", "gcc", &["-shared", "-fPIC"], &[source]);
        let built = build(source.clone()).unwrap();
        let time = built.metadata().unwrap().modified().unwrap();
        assert_eq!(build(source).unwrap().metadata().unwrap().modified().unwrap(), time, "it is built once");
        std::fs::remove_file(built).unwrap();
        let wrong = folder.write("two.c", "int two(void) { return x; }").unwrap();
        assert!(build(wrong.clone()).unwrap_err().contains("undeclared"));
        let missing = build_once(&name, "no-such-cc", "no-such", &[], &[wrong]).unwrap_err();
        assert!(missing.contains("apt install no-such"), "{missing}");
    }
}
