package zoolock.peers;

import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Callable;

/** Attempts that a name cancels. Curator's way to do so is to interrupt the thread. */
final class Cancels {
    private final Map<String, Set<Thread>> attempts = new HashMap<>();

    /** Makes an attempt that can be cancelled until it has ended. */
    <T> T attempt(String name, Callable<T> attempt) throws Exception {
        if (name == null) {
            return attempt.call();
        }
        begin(name);
        try {
            return attempt.call();
        } finally {
            end(name);
        }
    }

    private synchronized void begin(String name) {
        attempts.computeIfAbsent(name, any -> new HashSet<>()).add(Thread.currentThread());
    }

    private synchronized void end(String name) {
        attempts.get(name).remove(Thread.currentThread());
        // An interrupt that came too late is nobody's.
        Thread.interrupted();
    }

    synchronized void fire(String name) {
        attempts.getOrDefault(name, Set.of()).forEach(Thread::interrupt);
    }
}
