//! Random requests, about few paths so that they meet.

use zoolock_testserver::model::{Acl, permission};

use crate::common::encode::*;
use crate::random::Random;

#[derive(Debug)]
pub enum Action {
    /// Requests sent in one piece.
    Requests(Vec<Asked>),
    /// The connection is closed and the session resumed, with a right or wrong password.
    Reconnect { right_password: bool },
    /// The session is closed, and a new one opened.
    Close,
}

#[derive(Clone)]
pub struct Asked {
    pub op: i32,
    pub body: Body,
}

#[derive(Clone)]
pub enum Body {
    Plain(Record),
    /// The zxid counts back from the last that was seen.
    SetWatches {
        back: i64,
        data: Vec<&'static str>,
        exist: Vec<&'static str>,
        child: Vec<&'static str>,
    },
}

impl std::fmt::Debug for Asked {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.body {
            Body::Plain(record) => {
                let text = String::from_utf8_lossy(&record.0);
                write!(f, "{} {text:?} {:02x?}", self.op, record.0)
            }
            Body::SetWatches {
                back,
                data,
                exist,
                child,
            } => write!(f, "{} -{back} {data:?} {exist:?} {child:?}", self.op),
        }
    }
}

pub const UNKNOWN: [i32; 4] = [0, CHECK, 77, -3];

const PATHS: [&str; 10] = [
    "/t",
    "/t/a",
    "/t/b",
    "/t/a/x",
    "/t/a/y",
    "/t/c",
    "/t/ä",
    "/u",
    "/",
    "/t/n-0000000001",
];

const ODD_PATHS: [&str; 15] = [
    "",
    "t",
    "/t/",
    "/t//a",
    "//",
    "/t/./a",
    "/t/..",
    "/t/.a",
    "/zookeeper",
    "/zookeeper/quota",
    "/t/\u{1}",
    "/t/\u{7f}",
    "/t/\u{fffd}",
    "/t/😀",
    "/t/a\0",
];

pub struct Generator<'a> {
    random: &'a mut Random,
    /// An ensemble never answers a write that it cannot decode: its leader proposes the error with a zxid that was used.
    malformed_writes: bool,
    /// 3.8 never answers a check that is in no transaction, nor what is asked after it; and of a transaction with a
    /// time-to-live node it undoes nothing for the requests that are on their way.
    is_old: bool,
}

impl<'a> Generator<'a> {
    pub fn new(random: &'a mut Random, malformed_writes: bool, is_old: bool) -> Self {
        Generator {
            random,
            malformed_writes,
            is_old,
        }
    }

    pub fn action(&mut self) -> Action {
        match self.random.below(100) {
            0 => Action::Close,
            1 => Action::Reconnect {
                right_password: true,
            },
            2 if self.random.one_in(3) => Action::Reconnect {
                right_password: false,
            },
            3..15 => {
                let count = 2 + self.random.below(6);
                let mut requests: Vec<Asked> = (0..count).map(|_| self.asked()).collect();
                // Answered out of turn, at no certain place among the others.
                requests.retain(|asked| asked.op != AUTH && !UNKNOWN.contains(&asked.op));
                // A server looks the root up by two names, and a change that is not applied yet by the one it came with.
                requests.retain(|asked| asked.op != SET_ACL);
                Action::Requests(requests)
            }
            _ => Action::Requests(vec![self.asked()]),
        }
    }

    fn asked(&mut self) -> Asked {
        let mut asked = self.well_formed();
        let is_write = matches!(
            asked.op,
            CREATE | CREATE2 | CREATE_CONTAINER | DELETE | SET_DATA | SET_ACL
        );
        if is_write && !self.malformed_writes {
            return asked;
        }
        if self.random.one_in(60)
            && let Body::Plain(record) = &mut asked.body
        {
            record.0.truncate(self.random.below(record.0.len() + 1));
        } else if self.random.one_in(150) {
            asked.body = Body::Plain(record().i32(-1).bool(false).i32(0).i32(0).i32(0));
        } else if self.random.one_in(300) {
            asked.op = self.random.of(&UNKNOWN);
            if asked.op == CHECK && self.is_old {
                asked.op = 0;
            }
        }
        asked
    }

    fn well_formed(&mut self) -> Asked {
        let watch = self.random.one_in(2);
        let path = self.path();
        let (op, body) = match self.random.below(36) {
            0..8 => self.create(),
            8..11 => self.delete(),
            11..13 => self.set_data(),
            13 => {
                let acl = self.acl();
                (SET_ACL, set_acl(path, &acl, self.version()))
            }
            14..16 => (EXISTS, path_and_flag(path, watch)),
            16..18 => (GET_DATA, path_and_flag(path, watch)),
            18 => (GET_CHILDREN, path_and_flag(path, watch)),
            19..22 => (GET_CHILDREN2, path_and_flag(path, watch)),
            22 => (GET_ACL, record().string(path)),
            23 => (SYNC, record().string(path)),
            24 => (PING, record()),
            25..29 => {
                let parts: Vec<_> = (0..self.random.below(5)).map(|_| self.part()).collect();
                (MULTI, multi(&parts))
            }
            29 => (CHECK_WATCHES, path_and_number(path, self.watcher())),
            30 => (REMOVE_WATCHES, path_and_number(path, self.watcher())),
            31 | 32 => return self.set_watches(),
            33 => match self.random.below(3) {
                0 => (GET_EPHEMERALS, record().string(path)),
                1 => (GET_ALL_CHILDREN_NUMBER, record().string(path)),
                _ => (WHO_AM_I, record()),
            },
            _ if self.random.one_in(8) => {
                let scheme = self
                    .random
                    .of(&["digest", "digest", "digest", "ip", "world", "none"]);
                let who: &[u8] = self
                    .random
                    .of(&["me:secret", "you:other", "alone"])
                    .as_bytes();
                (AUTH, auth(scheme, who))
            }
            _ => self.create(),
        };
        Asked {
            op,
            body: Body::Plain(body),
        }
    }

    fn path(&mut self) -> &'static str {
        if self.random.one_in(25) {
            self.random.of(&ODD_PATHS)
        } else {
            self.random.of(&PATHS)
        }
    }

    fn version(&mut self) -> i32 {
        self.random.of(&[-1, -1, -1, 0, 0, 1, 2])
    }

    /// Of the numbers that mean persistent watches, which are not modelled, none.
    fn watcher(&mut self) -> i32 {
        self.random.of(&[1, 2, 3, 0, 9])
    }

    fn create(&mut self) -> (i32, Record) {
        let op = self
            .random
            .of(&[CREATE, CREATE2, CREATE2, CREATE_CONTAINER]);
        let flags = match op {
            // An ephemeral container is one until the transaction is applied: in a pipeline that is a matter of luck.
            CREATE_CONTAINER => self.random.of(&[CONTAINER, CONTAINER, CONTAINER, 0, 2]),
            _ => self.random.of(&[0, 0, 0, 1, 1, 2, 3, 3, 4, 5, 6, 9, -1]),
        };
        let path = match flags {
            2 | 3 if !self.random.one_in(4) => self.random.of(&["/t/n-", "/t/a/n-", "/t/", "/u"]),
            _ => self.path(),
        };
        let acl = self.acl();
        let body = if self.random.one_in(10) {
            record().string(path).i32(-1).acl(&acl).i32(flags)
        } else {
            create(
                path,
                self.random.of(&["", "x", "data"]).as_bytes(),
                &acl,
                flags,
            )
        };
        (op, body)
    }

    fn acl(&mut self) -> Vec<Acl> {
        const ME: &str = "me:016djjlksVQS5RgX3M7biBGyYwY=";
        match self.random.below(40) {
            0 => acl("auth", "", permission::ALL),
            1 => acl("auth", "", permission::READ),
            2 => acl("world", "anyone", permission::READ),
            3 => acl("world", "anyone", permission::ALL & !permission::READ),
            4 => acl("world", "anyone", permission::ALL & !permission::DELETE),
            5 => acl("world", "someone", permission::ALL),
            6 => acl("none", "x", permission::ALL),
            7 => acl(
                "digest",
                self.random.of(&[ME, "me", "a:", ":b", "a:b:", "a:b:c", ""]),
                31,
            ),
            8 => {
                let ip = self.random.of(&[
                    "127.0.0.1",
                    "127.0.0.0/8",
                    "1.2.3.4",
                    "1.2.3",
                    "10.0.0.0/33",
                ]);
                acl("ip", ip, permission::ALL)
            }
            9 => Vec::new(),
            10 => [open(), acl("auth", "", 1), open()].concat(),
            11 => [acl("digest", ME, 31), acl("world", "anyone", 1)].concat(),
            _ => open(),
        }
    }

    fn delete(&mut self) -> (i32, Record) {
        (DELETE, path_and_number(self.path(), self.version()))
    }

    fn set_data(&mut self) -> (i32, Record) {
        let data = self.random.of(&["", "y", "more"]).as_bytes();
        (SET_DATA, set_data(self.path(), data, self.version()))
    }

    fn part(&mut self) -> (i32, Record) {
        match self.random.below(5) {
            0 => self.delete(),
            1 => self.set_data(),
            2 => (CHECK, path_and_number(self.path(), self.version())),
            _ => loop {
                let (op, record) = self.create();
                let flags = record.0.last().map_or(0, |byte| i32::from(*byte));
                let is_fit = !self.is_old || !matches!(flags, 5 | 6);
                if is_fit {
                    break (op, record);
                }
            },
        }
    }

    fn set_watches(&mut self) -> Asked {
        let mut some = || {
            (0..self.random.below(4))
                .map(|_| self.random.of(&PATHS))
                .collect()
        };
        let (data, exist, child) = (some(), some(), some());
        Asked {
            op: SET_WATCHES,
            body: Body::SetWatches {
                back: self.random.below(30) as i64,
                data,
                exist,
                child,
            },
        }
    }
}
