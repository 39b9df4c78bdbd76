//! Rules that the simulation breaks on purpose, one at a time, to see that its checks notice. In a
//! library that is no test none of them exists: [`broken`] is false, and what it guards goes.

macro_rules! mutants {
    ($($(#[doc = $how:literal])* $name:ident,)*) => {
        /// One way to break a rule.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(crate) enum Mutant {
            $($(#[doc = $how])* $name,)*
        }

        #[cfg(test)]
        impl Mutant {
            pub(crate) const ALL: &[Mutant] = &[$(Mutant::$name,)*];
        }
    };
}

mutants! {
    /// R3: a ping renews the lease, so nobody asks the leader.
    LeaseFromPing,
    /// R3: the lease does not ask whether the leader had learnt of us before it confirmed.
    LeaseWithoutLearnt,
    /// R3: the lease counts from the answers, not from what was sent.
    LeaseFromAnswer,
    /// R3: the lease is as long as the session.
    LeaseOfSession,
    /// R3: belief ends when the network thread says so, not by the clock.
    BeliefWithoutClock,
    /// R3: `sync` and handshakes renew a lease that was promised writes.
    PromisedWritesBySync,
    /// R4: nobody is told of a loss.
    LossNotTold,
    /// R4: a guard goes on believing when its session is over.
    BeliefAfterSession,
    /// R5: nothing that the leader has said precedes the listing that looks for lost creates.
    NoWordBeforeRecovery,
    /// R5: a create in doubt is sent again without a look.
    NoRecovery,
    /// R5: a cancelled create that is answered later is forgotten.
    CancelledCreateForgotten,
    /// R5: the contender of a call that timed out stays.
    TimedOutContenderStays,
    /// R5: the contender of a lost guard stays while the session lives.
    LostContenderStays,
    /// R5: a deletion that was sent counts as done.
    UnconfirmedDeletionCounts,
    /// R5: a deletion that was refused counts as done.
    RefusedDeletionCounts,
    /// R5: a deletion that was denied is not tried again.
    DeniedDeletionForgotten,
    /// R5: a create in doubt is not looked for again after the listing was denied.
    DeniedSearchForgotten,
    /// R13: what an earlier session left is adopted.
    OldSessionsNodeAdopted,
    /// R13: contenders of other libraries do not count.
    OtherNamesIgnored,
    /// R7: who stands before us is not asked again after our own create.
    GrantUncovered,
    /// Z6: a watch event grants, though the lease had run out meanwhile.
    GrantFromEventAfterPause,
    /// Z11: views of the last connection count before watches are re-armed.
    GrantBeforeRearmed,
    /// Z11: a writer trusts its view, in which downgrades do not show.
    WriterTrustsView,
    /// R7: children are ordered by their names.
    StringOrder,
    /// R1: a reader does not look for writers.
    ReaderIgnoresWriters,
    /// R1: a writer does not look for readers.
    WriterIgnoresReaders,
    /// R12: a downgrade is a create like any other.
    DowngradeAtTheEnd,
    /// R12: a downgrade does not check that the write node is there.
    DowngradeWithoutCheck,
    /// R2: the sequence number is the token.
    TokenFromSuffix,
    /// R8: everyone watches the first in the queue too.
    EveryoneWatchesTheFirst,
    /// R9: watches are not re-armed on the next server.
    NotRearmed,
    /// R9: a contender that is gone before it is watched stays in the view.
    GoneBeforeWatchedIgnored,
    /// R9: the end of our own contender is not noticed.
    OwnEndIgnored,
    /// R9: attempts queue again in reverse order.
    QueueAgainReversed,
    /// R10: a release does not wait for the deletion.
    ReleaseNotWaiting,
    /// R14: numbers that are used up do not matter.
    ExhaustionIgnored,
    /// R17: the guards of a closed handle go on believing.
    BeliefAfterClose,
    /// R17: the calls of a closed handle go on waiting.
    WaitingAfterClose,
    /// R17: the contenders of a closed handle stay while its session lives.
    ClosedContenderStays,
    /// R7: a kept contender is granted on, though a stranger's was seen.
    KeptStrangerIgnored,
    /// R1: a kept contender is granted on when it is known to be gone.
    KeptOwnEndIgnored,
    /// R3: a kept contender is granted without a look at the lease.
    KeptWithoutLease,
    /// R3: a contender is kept over a lost connection.
    KeptWithoutConnection,
    /// R2: all grants of a kept contender have the same number.
    KeptCountStays,
    /// R5: a kept contender that nobody uses is never given up.
    KeptForEver,
    /// R17: what a closed handle has kept stays.
    KeptAfterClose,
    /// R4: a guard whose contender is not kept any more is nobody's.
    KeptGuardForgotten,
    /// R10: a release is answered as if the contender were kept, when it is not any more.
    KeptReleaseForgotten,
    /// R16: a session is resumed with a server that is behind it.
    ResumedWithoutZxid,
}

#[cfg(test)]
thread_local! {
    static BROKEN: std::cell::Cell<Option<Mutant>> = const { std::cell::Cell::new(None) };
}

/// Whether this rule is broken on purpose.
#[cfg(test)]
pub(crate) fn broken(mutant: Mutant) -> bool {
    BROKEN.get() == Some(mutant)
}

/// Whether this rule is broken on purpose: never.
#[cfg(not(test))]
#[inline(always)]
pub(crate) const fn broken(_: Mutant) -> bool {
    false
}

/// Whoever checks the rules knows them all.
#[cfg(test)]
pub(crate) fn without<T>(work: impl FnOnce() -> T) -> T {
    let mutant = BROKEN.take();
    let outcome = work();
    BROKEN.set(mutant);
    outcome
}

/// Breaks a rule while `work` runs on this thread.
#[cfg(test)]
pub(crate) fn with<T>(mutant: Mutant, work: impl FnOnce() -> T) -> T {
    BROKEN.set(Some(mutant));
    let outcome = work();
    BROKEN.set(None);
    outcome
}
