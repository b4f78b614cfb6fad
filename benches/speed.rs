//! The speed of the compiler, as whole processes, against `gcc -O2 -c` on equivalent C in the same run.
//!
//! `cargo bench --bench speed` builds with the release profile, interleaves the commands over many rounds and compares
//! medians, so that a busy machine slows both sides alike. `--rounds N` sets the rounds; `--check` fails when a limit is
//! missed.

use rake_testkit::process::{Usage, measure};
use rake_testkit::source::kernels::{self, Pair};
use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::time::Duration;

const GCC: &[&str] = &["-O2", "-mavx2", "-mfma", "-c"];
const RAKEC: &[&str] = &["--verify-native", "--no-report", "--target", "x86-avx2"];

/// A program to compile: by rakec, and by gcc if it is compared.
struct Job {
    name: String,
    pair: Pair,
    with_gcc: bool,
    /// Every how many rounds it runs.
    every: usize,
}

/// What the rounds showed of one command: medians, and the highest peak of memory.
#[derive(Clone, Default)]
struct Series {
    walls: Vec<Duration>,
    cpus: Vec<Duration>,
    peak: u64,
}

impl Series {
    fn add(&mut self, usage: Usage) {
        self.walls.push(usage.wall);
        self.cpus.push(usage.cpu);
        self.peak = self.peak.max(usage.peak);
    }

    fn wall(&self) -> f64 {
        median(&self.walls)
    }

    fn row(&self, name: &str, command: &str) {
        let (cpu, fastest) = (median(&self.cpus), self.walls.iter().min().map_or(0.0, |&t| milliseconds(t)));
        let megabytes = self.peak as f64 / (1 << 20) as f64;
        println!("{name:<14} {:>9.2} {fastest:>9.2} {cpu:>9.2} {megabytes:>8.1}  {command}", self.wall());
    }
}

fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

fn median(times: &[Duration]) -> f64 {
    let mut sorted = times.to_vec();
    sorted.sort();
    sorted.get(sorted.len() / 2).map_or(0.0, |&t| milliseconds(t))
}

/// The kernels whose limits are told apart, and after them every example that compiles for one profile of x86.
fn jobs() -> Result<Vec<Job>, Box<dyn Error>> {
    let job = |name: &str, pair, with_gcc, every| Job { name: name.to_owned(), pair, with_gcc, every };
    let mut jobs = vec![
        job("advance", kernels::advance(), true, 1),
        job("functions500", kernels::functions(500), true, 1),
        job("functions5000", kernels::functions(5000), false, 3),
        job("region200", kernels::region(200), true, 1),
        job("tines20", kernels::tines(20), false, 1),
    ];
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples");
    let mut examples = Vec::new();
    for folder in [root.clone(), root.join("runs")] {
        for entry in std::fs::read_dir(folder)? {
            let path = entry?.path();
            if path.extension().is_some_and(|extension| extension == "rk") {
                let stem = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
                let rake = std::fs::read_to_string(&path)?;
                let prefix = if path.parent() == Some(&root) { "" } else { "runs-" };
                examples.push((format!("{prefix}{stem}"), Pair { rake, c: String::new() }));
            }
        }
    }
    examples.sort_by(|a, b| a.0.cmp(&b.0));
    jobs.extend(examples.into_iter().map(|(name, pair)| job(&name, pair, false, 1)));
    Ok(jobs)
}

fn run(command: &mut Command) -> Result<Usage, Box<dyn Error>> {
    command.stdin(Stdio::null()).stdout(Stdio::null());
    let usage = measure(command)?;
    if usage.status.success() { Ok(usage) } else { Err(format!("{command:?}: {}", usage.status).into()) }
}

fn rakec(folder: &Path, name: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_rakec"));
    command.current_dir(folder).args(RAKEC).args(["-o", "k.o"]).arg(format!("{name}.rk"));
    command
}

fn gcc(folder: &Path, name: &str) -> Command {
    let mut command = Command::new("gcc");
    command.current_dir(folder).args(GCC).args(["-o", "c.o"]).arg(format!("{name}.c"));
    command
}

/// The command as a person types it.
fn shown(command: &Command) -> String {
    let program = Path::new(command.get_program()).file_name().unwrap_or_default();
    let words = std::iter::once(program).chain(command.get_args());
    words.map(|word| word.to_string_lossy()).collect::<Vec<_>>().join(" ")
}

/// Times of rakec and gcc for each job.
fn measure_all(folder: &Path, jobs: &[Job], rounds: usize) -> Result<Vec<(Series, Series)>, Box<dyn Error>> {
    for job in jobs {
        std::fs::write(folder.join(format!("{}.rk", job.name)), &job.pair.rake)?;
        std::fs::write(folder.join(format!("{}.c", job.name)), &job.pair.c)?;
    }
    let mut series = vec![(Series::default(), Series::default()); jobs.len()];
    // Round 0 warms the caches and is not counted.
    for round in 0..=rounds {
        for (job, (ours, theirs)) in jobs.iter().zip(&mut series) {
            if !round.is_multiple_of(job.every) {
                continue;
            }
            let usage = run(&mut rakec(folder, &job.name))?;
            if round > 0 {
                ours.add(usage);
            }
            if job.with_gcc {
                let usage = run(&mut gcc(folder, &job.name))?;
                if round > 0 {
                    theirs.add(usage);
                }
            }
        }
    }
    Ok(series)
}

/// One limit: what it is, the figure, and the most that it may be.
fn limit(text: &str, figure: f64, most: f64) -> bool {
    let kept = figure <= most;
    println!("{:<6} {text:<58} {figure:>8.3}  at most {most:.3}", if kept { "ok" } else { "MISSED" });
    kept
}

fn report(folder: &Path, jobs: &[Job], series: &[(Series, Series)]) -> bool {
    println!("{:<14} {:>9} {:>9} {:>9} {:>8}  command", "", "median ms", "least ms", "cpu ms", "peak MiB");
    for (job, (ours, theirs)) in jobs.iter().zip(series) {
        ours.row(&job.name, &shown(&rakec(folder, &job.name)));
        if job.with_gcc {
            theirs.row("", &shown(&gcc(folder, &job.name)));
        }
    }
    println!();
    let [advance, hundreds, thousands, region, tines, examples @ ..] = series else { return false };
    let slowest = examples.iter().map(|example| example.0.wall()).fold(0.0, f64::max);
    let kept = [
        limit("one scratch, of gcc's time", advance.0.wall() / advance.1.wall(), 0.2),
        limit("500 functions, of gcc's time", hundreds.0.wall() / hundreds.1.wall(), 0.2),
        limit("5000 functions, of the 500", thousands.0.wall() / hundreds.0.wall(), 10.5),
        limit("5000 functions, MiB", thousands.0.peak as f64 / (1 << 20) as f64, 200.0),
        limit("a region of 200 operations, ms", region.0.wall(), 150.0),
        limit("a rake of 20 tines, ms", tines.0.wall(), 50.0),
        limit("the slowest example, ms", slowest, 20.0),
    ];
    kept.iter().all(|&kept| kept)
}

fn main() -> Result<ExitCode, Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().collect();
    let check = arguments.iter().any(|a| a == "--check");
    let rounds = arguments.iter().position(|a| a == "--rounds").and_then(|i| arguments.get(i + 1)?.parse().ok());
    let folder: PathBuf = Path::new(env!("CARGO_TARGET_TMPDIR")).join("speed");
    std::fs::create_dir_all(&folder)?;
    let jobs = jobs()?;
    let series = measure_all(&folder, &jobs, rounds.unwrap_or(21))?;
    let kept = report(&folder, &jobs, &series);
    Ok(if check && !kept { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}
