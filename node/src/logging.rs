//! The core's log, brought to the environments that ask for it.
//!
//! Records are few. Most come from the network thread, which neither waits for JavaScript nor lets
//! its records pile up: each environment's [`Inbox`] has a limit.

use std::cell::Cell;
use std::collections::HashMap;
use std::fmt::{Debug, Write};
use std::sync::{Arc, PoisonError, RwLock, Weak};
use std::time::{SystemTime, UNIX_EPOCH};

use napi::bindgen_prelude::Either3;
use napi_derive::napi;
use tracing::field::{Field, Visit};
use tracing::level_filters::LevelFilter;
use tracing::span::{Attributes, Id};
use tracing::subscriber::Interest;
use tracing::{Event, Level, Metadata, Subscriber};

use crate::inbox::Inbox;

/// The environments that listen, each with its level. A process has one log.
static LISTENERS: RwLock<Vec<(LevelFilter, Weak<Inbox>)>> = RwLock::new(Vec::new());

/// Brings the records from `level` on to `inbox`, in the place of what it got until now.
pub fn listen(inbox: &Arc<Inbox>, level: LevelFilter) {
    if level != LevelFilter::OFF {
        // Fails where it has been installed before.
        let _installed = tracing::subscriber::set_global_default(Bridge);
    }
    let mut listeners = LISTENERS.write().unwrap_or_else(PoisonError::into_inner);
    listeners.retain(|(_, other)| !std::ptr::eq(other.as_ptr(), Arc::as_ptr(inbox)));
    if level != LevelFilter::OFF {
        listeners.push((level, Arc::downgrade(inbox)));
    }
    drop(listeners);
    inbox.listen(level);
}

/// By the name that JavaScript has checked.
pub fn level(name: &str) -> LevelFilter {
    name.parse().unwrap_or(LevelFilter::DEBUG)
}

/// The inboxes that a record of this level is for.
fn listening(level: Level) -> Vec<Arc<Inbox>> {
    let listeners = LISTENERS.read().unwrap_or_else(PoisonError::into_inner);
    listeners
        .iter()
        .filter(|(from, _)| level <= *from)
        .filter_map(|(_, inbox)| inbox.upgrade())
        .collect()
}

/// One record of the log.
pub struct Record {
    level: Level,
    target: &'static str,
    message: String,
    fields: Vec<(&'static str, Value)>,
    at: SystemTime,
}

type Value = Either3<String, f64, bool>;

fn number(value: f64) -> Value {
    Either3::B(value)
}

impl Record {
    /// Says that so many found no place, to whoever listens from this level on.
    #[allow(clippy::cast_precision_loss)]
    pub fn dropped(count: u64, listening: Option<LevelFilter>) -> Record {
        let errors_alone = listening == Some(LevelFilter::ERROR);
        let level = if errors_alone {
            Level::ERROR
        } else {
            Level::WARN
        };
        let mut record = Record::new(level, module_path!());
        "records of the log were dropped".clone_into(&mut record.message);
        record.fields.push(("count", number(count as f64)));
        record
    }

    pub fn level(&self) -> Level {
        self.level
    }

    fn new(level: Level, target: &'static str) -> Record {
        Record {
            level,
            target,
            message: String::new(),
            fields: Vec::new(),
            at: SystemTime::now(),
        }
    }
}

impl Visit for Record {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        let mut text = String::new();
        // Writing to a string does not fail.
        let _written = write!(text, "{value:?}");
        match field.name() {
            "message" => self.message = text,
            name => self.fields.push((name, Either3::A(text))),
        }
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        match field.name() {
            "message" => value.clone_into(&mut self.message),
            name => self.fields.push((name, Either3::A(value.to_owned()))),
        }
    }

    fn record_bool(&mut self, field: &Field, value: bool) {
        self.fields.push((field.name(), Either3::C(value)));
    }

    #[allow(clippy::cast_precision_loss)]
    fn record_u64(&mut self, field: &Field, value: u64) {
        self.fields.push((field.name(), number(value as f64)));
    }

    #[allow(clippy::cast_precision_loss)]
    fn record_i64(&mut self, field: &Field, value: i64) {
        self.fields.push((field.name(), number(value as f64)));
    }
}

/// A record as JavaScript sees it.
#[napi(object, object_from_js = false)]
pub struct RecordObject {
    #[napi(ts_type = "'error' | 'warn' | 'info' | 'debug'")]
    pub level: &'static str,
    pub target: &'static str,
    pub message: String,
    pub fields: HashMap<&'static str, Value>,
    /// Milliseconds since 1970.
    pub at: f64,
}

impl From<Record> for RecordObject {
    fn from(record: Record) -> RecordObject {
        let since = record.at.duration_since(UNIX_EPOCH).unwrap_or_default();
        RecordObject {
            level: match record.level {
                Level::ERROR => "error",
                Level::WARN => "warn",
                Level::INFO => "info",
                _ => "debug",
            },
            target: record.target,
            message: record.message,
            fields: record.fields.into_iter().collect(),
            at: since.as_secs_f64() * 1000.0,
        }
    }
}

struct Bridge;

impl Subscriber for Bridge {
    /// Asked each time, since listeners come and go.
    fn register_callsite(&self, metadata: &'static Metadata<'static>) -> Interest {
        if *metadata.level() <= Level::DEBUG {
            Interest::sometimes()
        } else {
            Interest::never()
        }
    }

    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        let listeners = LISTENERS.read().unwrap_or_else(PoisonError::into_inner);
        metadata.target().starts_with("zoolock")
            && listeners.iter().any(|(from, _)| metadata.level() <= from)
    }

    fn max_level_hint(&self) -> Option<LevelFilter> {
        Some(LevelFilter::DEBUG)
    }

    fn event(&self, event: &Event<'_>) {
        thread_local! {
            // What hands a record over may itself have something to say.
            static WITHIN: Cell<bool> = const { Cell::new(false) };
        }
        if WITHIN.replace(true) {
            return;
        }
        let level = *event.metadata().level();
        for inbox in listening(level) {
            let mut record = Record::new(level, event.metadata().target());
            event.record(&mut record);
            inbox.push_record(record);
        }
        WITHIN.set(false);
    }

    // The core has no spans.
    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }
    fn record(&self, _: &Id, _: &tracing::span::Record<'_>) {}
    fn record_follows_from(&self, _: &Id, _: &Id) {}
    fn enter(&self, _: &Id) {}
    fn exit(&self, _: &Id) {}
}
