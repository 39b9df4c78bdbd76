//! What a server says on the open connection: answers in the order of the requests, and watch events.

use super::super::connection::{InFlight, WatchChange};
use super::super::dialer::DialId;
use super::{Event, Machine, Outcome, Tag};
use crate::clock::Time;
use crate::mutant::{Mutant, broken};
use crate::wire::code::Code;
use crate::wire::reply::{Reply, ReplyHeader, WatchEvent, WatchEventKind, multi_failure};
use crate::wire::request::{AUTH_XID, NOTIFICATION_XID, Operation};

impl<T> Machine<T> {
    pub(super) fn take_frames(&mut self, now: Time, dial: DialId) {
        loop {
            let Some(connection) = &mut self.connection else {
                return;
            };
            if connection.dial != dial {
                return;
            }
            match connection.frames.next() {
                Ok(Some(frame)) => {
                    if let Err(why) = self.take_frame(now, &frame) {
                        self.drop_connection(now, &why);
                    }
                }
                Ok(None) => return,
                Err(error) => self.drop_connection(now, &error.to_string()),
            }
        }
    }

    fn take_frame(&mut self, now: Time, frame: &[u8]) -> Result<(), String> {
        let (header, body) = ReplyHeader::decode(frame).map_err(|error| error.to_string())?;
        if header.xid == NOTIFICATION_XID {
            self.last_zxid = self.last_zxid.max(header.zxid);
            let event = WatchEvent::decode(body).map_err(|error| error.to_string())?;
            // Watches on children are not re-armed, so they are not remembered either.
            let of_node = self.watches.ended(&event.path);
            let kind = match event.kind {
                // A watch on children ends with their parent, too.
                WatchEventKind::Deleted if !of_node => WatchEventKind::ChildrenChanged,
                kind => kind,
            };
            if of_node || kind == WatchEventKind::ChildrenChanged {
                self.events.push_back(Event::Watch {
                    kind,
                    path: event.path,
                });
            }
            return Ok(());
        }
        let Some(connection) = &mut self.connection else {
            return Ok(());
        };
        if header.xid == AUTH_XID && header.code == Code::AUTH_FAILED {
            self.events
                .push_back(Event::AuthFailed { code: header.code });
            return Err("the server does not accept the credentials".to_owned());
        }
        let request = connection
            .answered(header.xid)
            .ok_or_else(|| format!("the server answers xid {}, which is not due", header.xid))?;
        if header.code == Code::SESSION_EXPIRED {
            connection.put_back(request);
            self.session_over_by_reply(now);
            return Ok(());
        }
        if header.code == Code::SESSION_MOVED {
            // Another connection of ours took the session over; this one is of no use any more.
            connection.put_back(request);
            return Err("the session has moved to another connection".to_owned());
        }
        if header.code == Code::SESSION_CLOSED_REQUIRE_SASL_AUTH {
            connection.put_back(request);
            self.events
                .push_back(Event::AuthFailed { code: header.code });
            return Err("the server demands another authentication".to_owned());
        }
        self.last_zxid = self.last_zxid.max(header.zxid);
        let outcome = if header.code == Code::OK {
            match Reply::decode(request.operation, body) {
                Ok(reply) => Outcome::Done(reply),
                Err(error) => {
                    connection.put_back(request);
                    return Err(error.to_string());
                }
            }
        } else {
            Outcome::Refused(header.code)
        };
        let confirmed = request.operation.is_confirming()
            && is_confirmed(&outcome)
            && !(request.operation == Operation::Sync && self.renews_by_quorum());
        let confirmed =
            confirmed || request.operation == Operation::Ping && broken(Mutant::LeaseFromPing);
        self.lease.answered(request.sent, now, confirmed);
        if let (Tag::Rearm, Outcome::Refused(code)) = (&request.tag, &outcome) {
            // A connection on which events do not come is of no use (R9).
            return Err(format!("the server does not re-arm watches: {code}"));
        }
        self.settle(request, outcome);
        Ok(())
    }

    fn settle(&mut self, request: InFlight<Tag<T>>, outcome: Outcome) {
        let refused = matches!(outcome, Outcome::Refused(_));
        if let (true, Some(WatchChange::Set(path))) = (refused, &request.watch) {
            // A read that fails leaves no watch behind (Z10).
            self.watches.ended(path);
        }
        match request.tag {
            Tag::User(tag) => self.events.push_back(Event::Reply(tag, outcome)),
            Tag::Ping | Tag::Rearm => {}
            Tag::Lease(paths) => self.settle_lease(paths, &outcome),
            Tag::Auth => {
                if let Outcome::Refused(code) = outcome {
                    self.events.push_back(Event::AuthFailed { code });
                } else if let Some(announcement) = &mut self.unannounced {
                    announcement.auth_left = announcement.auth_left.saturating_sub(1);
                    self.announce_if_ready();
                }
            }
            Tag::Close => self.finish(),
        }
    }

    /// A quorum write that checked contenders also shows which of them are gone.
    fn settle_lease(&mut self, paths: Vec<String>, outcome: &Outcome) {
        if let Outcome::Done(Reply::Multi(results)) = outcome
            && let Some((part, Code::NO_NODE)) = multi_failure(results)
            && let Some(path) = paths.into_iter().nth(part)
        {
            self.watches.ended(&path);
            self.events.push_back(Event::Watch {
                kind: WatchEventKind::Deleted,
                path,
            });
        }
    }
}

/// Whether an answer can only have come from the leader.
fn is_confirmed(outcome: &Outcome) -> bool {
    match outcome {
        Outcome::Done(Reply::Multi(results)) => {
            multi_failure(results).is_none_or(|(_, code)| code.confirmed_by_leader())
        }
        Outcome::Done(_) => true,
        Outcome::Refused(code) => code.confirmed_by_leader(),
        Outcome::InDoubt | Outcome::NotSent => false,
    }
}
