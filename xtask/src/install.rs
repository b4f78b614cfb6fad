//! Installs the outside tools that the tests name, where this machine allows it.

use rake_testkit::{Requirement, requirements};
use std::path::Path;
use std::process::{Command, Stdio};

/// Installs what is missing; returns whether everything is there afterwards.
pub fn tools() -> bool {
    let mut complete = true;
    let mut refreshed = false;
    for requirement in requirements() {
        if requirement.is_met() {
            println!("tools: {} is there", requirement.tool);
            continue;
        }
        println!("tools: {} is missing ({}); installing", requirement.tool, requirement.purpose);
        if !requirement.apt.is_empty() {
            if !refreshed {
                apt(&["update", "-qq"]);
                refreshed = true;
            }
            apt(&[&["install", "-y", "-qq", "--no-install-recommends"], requirement.apt].concat());
        }
        if let Some(package) = requirement.pip {
            pip(package);
        }
        if !requirement.is_met() {
            complete = false;
            println!("tools: {} could not be installed; {}", requirement.tool, advice(&requirement));
        }
    }
    complete
}

/// What is not there, with what the tests that fail for it would have done, a line for each.
pub fn missing() -> Vec<String> {
    let all = requirements();
    let unmet = all.iter().filter(|requirement| !requirement.is_met());
    unmet.map(|it| format!("{}, which {}; {}", it.tool, it.purpose, advice(it))).collect()
}

fn advice(requirement: &Requirement) -> String {
    match (requirement.apt, requirement.pip) {
        ([], Some(package)) => format!("pip install {package}"),
        ([], None) => "install it by hand".to_string(),
        (packages, _) => format!("apt install {}", packages.join(" ")),
    }
}

/// Runs apt-get as root, or through sudo where that asks no password.
fn apt(arguments: &[&str]) {
    let root = Command::new("id").arg("-u").output().is_ok_and(|out| out.stdout.starts_with(b"0"));
    let mut command = if root {
        Command::new("apt-get")
    } else {
        let mut sudo = Command::new("sudo");
        sudo.args(["-n", "apt-get"]);
        sudo
    };
    command.args(arguments).env("DEBIAN_FRONTEND", "noninteractive").stdin(Stdio::null());
    if let Err(error) = command.status() {
        println!("tools: apt-get: {error}");
    }
}

/// Installs a Python package into the tests' own virtual environment.
fn pip(package: &str) {
    let venv = rake_testkit::x86::venv();
    if !venv.join("bin/python3").exists() {
        run(Path::new("python3"), &["-m", "venv", &venv.to_string_lossy()]);
    }
    run(&venv.join("bin/python3"), &["-m", "pip", "install", "--quiet", "--disable-pip-version-check", package]);
}

fn run(program: &Path, arguments: &[&str]) {
    if let Err(error) = Command::new(program).args(arguments).stdin(Stdio::null()).status() {
        println!("tools: {}: {error}", program.display());
    }
}
