//! The worker processes, and the faults that they suffer.

use std::thread;
use std::time::Duration;

use fastrand::Rng;
use zoolock_ensemble::{eventually, until};

use crate::board::Board;
use crate::clock;
use crate::fire::record::Record;
use crate::fire::{Deck, Kind};
use crate::language::Language;
use crate::options::Options;
use crate::worker::Worker;

/// Until a new process has its session, whatever happens to the servers meanwhile.
const READY: Duration = Duration::from_secs(180);
/// Between two looks whether it is over.
const LOOK: Duration = Duration::from_millis(50);
/// How long to wait for somebody to hold a lock.
const HOLDER: Duration = Duration::from_secs(2);

/// Lives on the main thread: workers die with the thread that started them.
pub(crate) struct Clients<'a> {
    pub(crate) board: &'a Board,
    pub(crate) record: &'a Record,
    pub(crate) options: &'a Options,
    /// What all workers are given, but for their name.
    pub(crate) hosts: String,
    pub(crate) resource: String,
    pub(crate) root: String,
    pub(crate) workers: Vec<Worker>,
}

impl Clients<'_> {
    /// Starts one in each language, and waits until all have their sessions.
    pub(crate) fn start_all(&mut self) -> Result<(), String> {
        for language in Language::ALL {
            let worker = self.start(language)?;
            self.workers.push(worker);
        }
        for index in 0..self.workers.len() {
            self.wait_ready(index)?;
        }
        Ok(())
    }

    fn start(&self, language: Language) -> Result<Worker, String> {
        let (process, name) = self.board.add_process(language);
        let timeout_ms = self.options.session_timeout.as_millis().to_string();
        let threads = self.options.threads.to_string();
        let args = [
            &self.hosts,
            &self.resource,
            &name,
            &timeout_ms,
            &threads,
            &self.root,
        ];
        let args = args.map(String::as_str);
        Worker::start(
            process,
            &name,
            language,
            &self.options.command(language)?,
            &args,
        )
    }

    fn wait_ready(&mut self, index: usize) -> Result<(), String> {
        let worker = &mut self.workers[index];
        let mut ended = Ok(None);
        let ready = eventually(READY, || {
            ended = worker.ended();
            !matches!(ended, Ok(None))
                || self.board.threads_of(worker.process) == self.options.threads
        });
        match ended? {
            Some(status) => Err(format!("{} ended with {status}", worker.name)),
            None if ready => Ok(()),
            None => Err(format!("{} had no session after {READY:?}", worker.name)),
        }
    }

    /// Stops and kills them in turn until `over`, at least once each.
    pub(crate) fn burn(&mut self, mut rng: Rng, over: impl Fn() -> bool) -> Result<(), String> {
        let mut kinds = Deck::new(&Kind::CLIENTS);
        let indices: Vec<usize> = (0..self.workers.len()).collect();
        let mut victims = [Deck::new(&indices), Deck::new(&indices)];
        let timeout = self.options.session_timeout;
        let mut injected = 0;
        loop {
            let enough = || injected >= Kind::CLIENTS.len() && over();
            wait(timeout.mul_f64(0.5 + rng.f64() * 3.0), enough);
            self.check_alive()?;
            if enough() {
                return Ok(());
            }
            let from = clock::now();
            match kinds.draw(&mut rng) {
                Some(Kind::StopClient) => {
                    let victim = self.victim(&mut victims[0], &mut rng);
                    // Longer than S: its locks are others' by then.
                    let time = timeout.mul_f64(1.1 + rng.f64() * 0.4);
                    self.stop_for(victim, time)?;
                }
                _ => {
                    let victim = self.victim(&mut victims[1], &mut rng);
                    self.replace(victim)?;
                }
            }
            injected += 1;
            // What it had queued stands in everybody's way until its session expires.
            wait(timeout * 3, || {
                self.board.without_grant_since(from).is_empty()
            });
        }
    }

    /// Mostly one that holds a lock, if the moment is good; else each in its turn.
    fn victim(&self, deck: &mut Deck<usize>, rng: &mut Rng) -> usize {
        let turn = deck.draw(rng).unwrap_or(0);
        if rng.u32(..3) == 0 {
            return turn;
        }
        let holds = |index: &usize| {
            self.board
                .long_holders()
                .contains(&self.workers[*index].process)
        };
        let after = (turn..self.workers.len()).chain(0..turn);
        until(HOLDER, || after.clone().find(holds)).unwrap_or(turn)
    }

    fn stop_for(&mut self, victim: usize, time: Duration) -> Result<(), String> {
        let worker = &mut self.workers[victim];
        let from = clock::now();
        worker.stop()?;
        self.record
            .say(Kind::StopClient, &format!("{} for {time:.1?}", worker.name));
        thread::sleep(time);
        worker.resume()?;
        self.board.stopped(worker.process, from, clock::now());
        self.record.add(Kind::StopClient, from);
        Ok(())
    }

    fn replace(&mut self, victim: usize) -> Result<(), String> {
        let worker = &mut self.workers[victim];
        let language = worker.language;
        let from = clock::now();
        worker.kill()?;
        self.board.killed(worker.process, clock::now());
        self.record.say(Kind::KillClient, &worker.name);
        self.workers[victim] = self.start(language)?;
        self.wait_ready(victim)?;
        self.record.add(Kind::KillClient, from);
        Ok(())
    }

    fn check_alive(&mut self) -> Result<(), String> {
        for worker in &mut self.workers {
            if let Some(status) = worker.ended()? {
                return Err(format!("{} ended by itself with {status}", worker.name));
            }
        }
        Ok(())
    }
}

/// Waits so long, or until it is over.
fn wait(limit: Duration, over: impl Fn() -> bool) {
    eventually(limit, || {
        thread::sleep(LOOK);
        over()
    });
}
