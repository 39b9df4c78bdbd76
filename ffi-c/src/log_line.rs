//! An event of the core's log as a line of text.

use std::fmt::{Debug, Write};

use tracing::Event;
use tracing::field::{Field, Visit};

/// The message, then the other fields.
#[derive(Default)]
struct Line {
    message: String,
    fields: String,
}

pub(crate) fn line(event: &Event<'_>) -> String {
    let mut line = Line::default();
    event.record(&mut line);
    // A line of a log is one line.
    (line.message + &line.fields).replace(['\n', '\r'], " ")
}

impl Visit for Line {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        // Writing to a string does not fail.
        let _written = match field.name() {
            "message" => write!(self.message, "{value:?}"),
            name => write!(self.fields, " {name}={value:?}"),
        };
    }
}
