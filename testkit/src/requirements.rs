//! The outside tools that the tests need.

use crate::x86;

/// A tool, what the tests use it for and how to get it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Requirement {
    /// The command or module.
    pub tool: &'static str,
    /// What the tests do with it.
    pub purpose: &'static str,
    /// The Debian or Ubuntu packages that have it.
    pub apt: &'static [&'static str],
    /// The Python package that has it, as `pip install` takes it; installed into the virtual
    /// environment [`x86::venv`] where the system's Python refuses packages.
    pub pip: Option<&'static str>,
    /// Arguments with which the command succeeds when it is there; none for a Python module.
    pub probe: &'static [&'static str],
}

/// Every tool that some test needs on this machine, in the order to install them.
pub fn requirements() -> Vec<Requirement> {
    let apt = |tool, packages, purpose, probe| Requirement { tool, purpose, apt: packages, pip: None, probe };
    let version = &["--version"];
    // Its C library is looked for too: the static programs and `arm_neon.h` need it.
    let libc = &["-E", "-include", "stdint.h", "-x", "c", "/dev/null"];
    // From version 20 on it knows relaxed SIMD as it was standardised.
    let new_enough = &["-e", "process.exit(+(parseInt(process.versions.node) < 20))"];
    vec![
        apt("cc", &["gcc"], "calls compiled functions from C, builds the emulator's shim", version),
        apt("as", &["binutils"], "assembles our assembly text, to compare the bytes", version),
        apt("python3", &["python3-venv"], "drives the emulator", &["-c", "import ensurepip"]),
        Requirement {
            tool: "bochscpu",
            purpose: "runs AVX-512 code where the CPU cannot, and is held against the CPU",
            apt: &[],
            pip: Some("bochscpu-python==0.4.0"),
            probe: &[],
        },
        apt("qemu-aarch64", &["qemu-user"], "runs AArch64 code", version),
        apt(
            "aarch64-linux-gnu-gcc",
            &["gcc-aarch64-linux-gnu", "libc6-dev-arm64-cross"],
            "builds the program that calls AArch64 code, compiles C for AArch64",
            libc,
        ),
        apt(
            "aarch64-linux-gnu-as",
            &["binutils-aarch64-linux-gnu"],
            "assembles our AArch64 assembly text, to compare the bytes",
            version,
        ),
        apt("clang-19", &["clang-19"], "compiles C for x86, AArch64 and WebAssembly, as a second compiler", version),
        apt("wasm-ld-19", &["lld-19"], "links WebAssembly that clang compiled", version),
        apt("node", &["nodejs"], "runs WebAssembly through its memory wrappers, as a second engine", new_enough),
    ]
}

impl Requirement {
    /// The commands that install it, each a program and its arguments. `apt-get` needs the rights
    /// of root, and its lists may need an update first.
    pub fn install_commands(&self) -> Vec<Vec<String>> {
        let words = |command: &[&str]| command.iter().map(|&word| word.to_owned()).collect();
        let mut commands = Vec::new();
        if !self.apt.is_empty() {
            commands.push(words(&[&["apt-get", "install", "--yes"], self.apt].concat()));
        }
        if let Some(package) = self.pip {
            let venv = x86::venv();
            let pip = venv.join("bin/pip");
            let (venv, pip) = (venv.to_string_lossy(), pip.to_string_lossy());
            commands.push(words(&["python3", "-m", "venv", &*venv]));
            commands.push(words(&[&*pip, "install", "--quiet", package]));
        }
        commands
    }

    /// Whether it is installed.
    pub fn is_met(&self) -> bool {
        if self.pip.is_some() {
            return x86::check_emulator().is_ok();
        }
        let quiet = std::process::Stdio::null;
        let mut probe = std::process::Command::new(self.tool);
        let status = probe.args(self.probe).stdin(quiet()).stdout(quiet()).stderr(quiet()).status();
        status.is_ok_and(|status| status.success())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_can_be_installed_and_looked_for() {
        for requirement in requirements() {
            assert!(!requirement.install_commands().is_empty(), "{requirement:?}");
            assert!(requirement.is_met(), "{requirement:?}");
        }
        let missing = Requirement { tool: "no-such-tool", ..requirements()[0].clone() };
        assert!(!missing.is_met());
    }
}
