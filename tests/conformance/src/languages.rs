//! How each language's driver is started.

use std::path::Path;

/// The drivers at hand, by language, in the order of their turns.
#[derive(Default)]
pub struct Languages {
    drivers: Vec<(String, Vec<String>)>,
    peers: Vec<String>,
}

impl Languages {
    /// The drivers written in Rust, which are built beside the runner.
    pub fn built_beside(runner: &Path) -> Languages {
        let beside = |name: &str| vec![runner.with_file_name(name).to_string_lossy().into_owned()];
        Languages {
            drivers: vec![
                ("rust".into(), beside("conformance-driver-rust")),
                (
                    "rust-blocking".into(),
                    beside("conformance-driver-rust-blocking"),
                ),
            ],
            peers: Vec::new(),
        }
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
        self.drivers.push((language.to_owned(), command));
        Ok(())
    }

    /// Adds the driver of another library, as `library=program argument argument`.
    ///
    /// # Errors
    /// If it has no name or no command.
    pub fn add_peer(&mut self, driver: &str) -> Result<(), String> {
        self.add(driver)?;
        let name = driver.split('=').next().unwrap_or_default();
        self.peers.push(name.to_owned());
        Ok(())
    }

    /// The names of our languages.
    pub fn names(&self) -> Vec<String> {
        let ours = self.drivers.iter().map(|(name, _)| name.clone());
        ours.filter(|name| !self.is_peer(name)).collect()
    }

    /// The names of the other libraries.
    pub fn peers(&self) -> &[String] {
        &self.peers
    }

    /// Whether it is another library.
    pub fn is_peer(&self, name: &str) -> bool {
        self.peers.iter().any(|peer| peer == name)
    }

    /// Whether one of `cannot`, as `library=part of a name`, leaves a library out of what has this name.
    pub fn is_left_out(cannot: &[String], library: &str, name: &str) -> bool {
        let mut pairs = cannot.iter().filter_map(|pair| pair.split_once('='));
        pairs.any(|(who, part)| who == library && name.contains(part))
    }

    /// The command that starts a language's driver.
    pub fn command(&self, language: &str) -> Result<&[String], String> {
        let found = self.drivers.iter().find(|(name, _)| name == language);
        found
            .map(|(_, command)| command.as_slice())
            .ok_or_else(|| format!("there is no driver for {language}"))
    }
}
