//! The core's log, brought to `logging.getLogger("zoolock")`.
//!
//! Events are few. They wait for the callback thread, since most come from the network thread,
//! which must not wait for the GIL.

use std::cell::Cell;
use std::fmt::{Debug, Write};

use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use tracing::field::{Field, Visit};
use tracing::level_filters::LevelFilter;
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Level, Metadata, Subscriber};

use crate::callbacks;

struct Bridge;

/// Installs the bridge for this process and the children that it forks.
pub(crate) fn install() {
    // Fails where the module is imported a second time: the bridge is there then.
    let _installed = tracing::subscriber::set_global_default(Bridge);
}

impl Subscriber for Bridge {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        *metadata.level() <= Level::DEBUG
    }

    fn max_level_hint(&self) -> Option<LevelFilter> {
        Some(LevelFilter::DEBUG)
    }

    fn event(&self, event: &Event<'_>) {
        thread_local! {
            // What hands a message over may itself have something to say.
            static WITHIN: Cell<bool> = const { Cell::new(false) };
        }
        if WITHIN.replace(true) {
            return;
        }
        let mut text = Text::default();
        event.record(&mut text);
        let level = python_level(*event.metadata().level());
        callbacks::post(move |py| log(py, level, &text.line()));
        WITHIN.set(false);
    }

    // The core has no spans.
    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }
    fn record(&self, _: &Id, _: &Record<'_>) {}
    fn record_follows_from(&self, _: &Id, _: &Id) {}
    fn enter(&self, _: &Id) {}
    fn exit(&self, _: &Id) {}
}

fn python_level(level: Level) -> u8 {
    match level {
        Level::ERROR => 40,
        Level::WARN => 30,
        Level::INFO => 20,
        _ => 10,
    }
}

fn log(py: Python<'_>, level: u8, line: &str) {
    static LOG: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let called = LOG
        .import(py, "zoolock._logging", "log")
        .and_then(|log| Ok((log, (level, line).into_pyobject(py)?)));
    match called {
        Ok((log, arguments)) => callbacks::call(log, &arguments),
        Err(error) => error.write_unraisable(py, None),
    }
}

/// The message, then the other fields.
#[derive(Default)]
struct Text {
    message: String,
    fields: String,
}

impl Text {
    fn line(self) -> String {
        self.message + &self.fields
    }
}

impl Visit for Text {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        // Writing to a string does not fail.
        let _written = match field.name() {
            "message" => write!(self.message, "{value:?}"),
            name => write!(self.fields, " {name}={value:?}"),
        };
    }
}
