//! A change of the public API has to be meant: it is written down in `core/public-api.txt`.

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use libtest_mimic::{Arguments, Failed, Trial};

/// The format of rustdoc's JSON that this can read. It comes with the version of Rust.
const FORMAT: u64 = 57;

fn main() -> ExitCode {
    let described = describe();
    let readable = described
        .as_ref()
        .is_ok_and(|(_, format)| *format == FORMAT);
    if let (Ok((_, format)), false) = (&described, readable) {
        println!("not compared: this Rust's rustdoc writes format {format}, and {FORMAT} is read");
    }
    let unreadable = described.is_ok() && !readable;
    let compares = Trial::test("the_public_api_is_what_is_written_down", move || {
        compare(&described.map_err(Failed::from)?.0)
    });
    let arguments = Arguments::from_args();
    libtest_mimic::run(&arguments, vec![compares.with_ignored_flag(unreadable)]).exit_code()
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// rustdoc's JSON of the crate, with all its features, and its format.
fn describe() -> Result<(PathBuf, u64), String> {
    let target = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let target = target.parent().ok_or("no target folder")?;
    let status = Command::new(env!("CARGO"))
        .current_dir(root())
        .env("RUSTDOC", root().join("scripts/rustdoc-json.sh"))
        .env_remove("RUSTDOCFLAGS")
        .args([
            "rustdoc",
            "--quiet",
            "-p",
            "zoolock",
            "--lib",
            "--features",
            "testing",
        ])
        .arg("--target-dir")
        .arg(target)
        .args(["--", "-Z", "unstable-options", "--output-format", "json"])
        .status()
        .map_err(|error| format!("cargo: {error}"))?;
    if !status.success() {
        return Err(format!("rustdoc: {status}"));
    }
    let json = target.join("doc/zoolock.json");
    let text =
        std::fs::read_to_string(&json).map_err(|error| format!("{}: {error}", json.display()))?;
    let parsed: serde_json::Value =
        serde_json::from_str(&text).map_err(|error| error.to_string())?;
    let format = parsed["format_version"]
        .as_u64()
        .ok_or("no format_version")?;
    Ok((json, format))
}

/// `UPDATE_SNAPSHOTS=yes cargo test -p zoolock-api` writes it anew. What goes, or changes, breaks programs: that needs another
/// version by the rules of semantic versioning, and a line in the changelog.
fn compare(json: &Path) -> Result<(), Failed> {
    let api = public_api::Builder::from_rustdoc_json(json)
        .omit_blanket_impls(true)
        .omit_auto_trait_impls(true)
        .omit_auto_derived_impls(true)
        .build()?;
    api.assert_eq_or_update(root().join("core/public-api.txt"));
    Ok(())
}
