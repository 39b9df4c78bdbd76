//! How each language's driver is started.

use std::path::Path;

/// The drivers at hand, by language, in the order of their turns.
#[derive(Default)]
pub struct Languages(Vec<(String, Vec<String>)>);

impl Languages {
    /// The drivers written in Rust, which are built beside the runner.
    pub fn built_beside(runner: &Path) -> Languages {
        let beside = |name: &str| vec![runner.with_file_name(name).to_string_lossy().into_owned()];
        Languages(vec![
            ("rust".into(), beside("conformance-driver-rust")),
            (
                "rust-blocking".into(),
                beside("conformance-driver-rust-blocking"),
            ),
        ])
    }

    /// Adds a driver, as `language=program argument argument`.
    pub fn add(&mut self, driver: &str) -> Result<(), String> {
        let (language, command) = driver
            .split_once('=')
            .ok_or_else(|| format!("`{driver}` has no `=`"))?;
        let command: Vec<_> = command.split_whitespace().map(str::to_owned).collect();
        if command.is_empty() {
            return Err(format!("`{driver}` has no command"));
        }
        self.0.push((language.to_owned(), command));
        Ok(())
    }

    /// The names.
    pub fn names(&self) -> Vec<String> {
        self.0.iter().map(|(name, _)| name.clone()).collect()
    }

    /// The command that starts a language's driver.
    pub fn command(&self, language: &str) -> Result<&[String], String> {
        let found = self.0.iter().find(|(name, _)| name == language);
        found
            .map(|(_, command)| command.as_slice())
            .ok_or_else(|| format!("there is no driver for {language}"))
    }
}
