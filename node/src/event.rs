//! What the network thread has to tell JavaScript.

use napi::bindgen_prelude::i64n;
use napi_derive::napi;
use zoolock::{Contender, Error, SessionState};

use crate::failure::Failure;
use crate::guard::GuardHandle;
use crate::logging::{Record, RecordObject};
use crate::session::SessionHandle;
use crate::testing::{Started, TestServerHandle};

/// The result of a call that succeeded.
pub enum Value {
    Nothing,
    Session(zoolock::Session),
    /// `None`: a try found the lock busy.
    Guard(Option<zoolock::Guard>),
    Contenders(Vec<Contender>),
    Server(Started),
}

/// The numbers are JavaScript's: of a call, a session, or a guard.
pub enum Event {
    Settled {
        call: i64,
        outcome: Result<Value, Error>,
    },
    State {
        session: i64,
        state: SessionState,
    },
    Lost {
        guard: i64,
    },
    Logged(Record),
}

/// An event as JavaScript sees it: one of `call`, `session`, `guard` and `record` says what it concerns, and
/// of a settled call at most one result is set.
#[napi(object, object_from_js = false)]
#[derive(Default)]
pub struct EventObject {
    pub call: Option<i64>,
    pub failure: Option<Failure>,
    pub opened: Option<SessionHandle>,
    pub granted: Option<GuardHandle>,
    pub contenders: Option<Vec<ContenderObject>>,
    pub started: Option<TestServerHandle>,

    pub session: Option<i64>,
    #[napi(ts_type = "'connecting' | 'connected' | 'suspended' | 'expired' | 'closed'")]
    pub state: Option<&'static str>,

    pub guard: Option<i64>,

    pub record: Option<RecordObject>,
}

/// One who queues.
#[napi(object, object_from_js = false)]
pub struct ContenderObject {
    pub node_path: String,
    pub sequence: i64,
    pub identity: String,
    pub session_id: i64n,
    pub holds: bool,
}

impl From<Event> for EventObject {
    fn from(event: Event) -> EventObject {
        match event {
            Event::Settled { call, outcome } => settled(call, outcome),
            Event::State { session, state } => EventObject {
                session: Some(session),
                state: Some(state.name()),
                ..EventObject::default()
            },
            Event::Lost { guard } => EventObject {
                guard: Some(guard),
                ..EventObject::default()
            },
            Event::Logged(record) => EventObject {
                record: Some(record.into()),
                ..EventObject::default()
            },
        }
    }
}

fn settled(call: i64, outcome: Result<Value, Error>) -> EventObject {
    let mut event = EventObject {
        call: Some(call),
        ..EventObject::default()
    };
    match outcome {
        Err(error) => event.failure = Some(error.into()),
        Ok(Value::Nothing) => {}
        Ok(Value::Session(session)) => event.opened = Some(session.into()),
        Ok(Value::Guard(guard)) => event.granted = guard.map(GuardHandle::from),
        Ok(Value::Contenders(contenders)) => {
            event.contenders = Some(contenders.into_iter().map(ContenderObject::from).collect());
        }
        Ok(Value::Server(server)) => event.started = Some(server.into()),
    }
    event
}

impl From<Contender> for ContenderObject {
    fn from(contender: Contender) -> ContenderObject {
        ContenderObject {
            node_path: contender.node_path,
            sequence: contender.sequence,
            identity: contender.identity,
            session_id: i64n(contender.session_id),
            holds: contender.holds,
        }
    }
}
