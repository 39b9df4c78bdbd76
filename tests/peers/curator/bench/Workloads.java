package zoolock.peers.bench;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.FutureTask;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.recipes.locks.InterProcessMutex;

/** What is done with the locks. What happens at once has a thread each; there are no fencing tokens. */
final class Workloads {
    /** Enough for a call of a lock, so that thousands of threads fit. */
    private static final long STACK = 256 * 1024;

    private final CuratorFramework client;
    private final String path;
    private final InterProcessMutex mutex;
    private final List<InterProcessMutex> mutexes = new ArrayList<>();
    private final List<FutureTask<Void>> waiters = new ArrayList<>();

    Workloads(CuratorFramework client, String path) {
        this.client = client;
        this.path = path;
        this.mutex = new InterProcessMutex(client, path);
    }

    String cycles(int count) throws Exception {
        var nanos = new Numbers();
        for (int i = 0; i < count; i++) {
            long start = System.nanoTime();
            cycle(mutex);
            nanos.add(System.nanoTime() - start);
        }
        return "{\"nanos\":" + nanos + ",\"tokens\":[]}";
    }

    String paths(int count, int cycles) throws Exception {
        for (int number = mutexes.size(); number < count; number++) {
            mutexes.add(new InterProcessMutex(client, path + "/" + number));
        }
        var running = new ArrayList<FutureTask<Void>>();
        long start = System.nanoTime();
        for (InterProcessMutex each : mutexes.subList(0, count)) {
            running.add(run(() -> {
                for (int i = 0; i < cycles; i++) {
                    cycle(each);
                }
                return null;
            }));
        }
        for (FutureTask<Void> task : running) {
            task.get();
        }
        return "{\"nanos\":" + (System.nanoTime() - start) + ",\"tokens\":[]}";
    }

    String share(int millis, int pauseMicros) throws Exception {
        var begins = new Numbers();
        var grants = new Numbers();
        var releases = new Numbers();
        long end = System.nanoTime() + millis * 1_000_000L;
        while (System.nanoTime() < end) {
            begins.add(System.nanoTime());
            mutex.acquire();
            grants.add(System.nanoTime());
            if (pauseMicros > 0) {
                Thread.sleep(pauseMicros / 1000, pauseMicros % 1000 * 1000);
            }
            releases.add(System.nanoTime());
            mutex.release();
        }
        return "{\"begins\":" + begins + ",\"grants\":" + grants + ",\"releases\":" + releases + ",\"tokens\":[]}";
    }

    String queue(int count) {
        for (int i = 0; i < count; i++) {
            // Waiters that share an object are all woken, and all list again, at each release.
            waiters.add(run(() -> {
                cycle(new InterProcessMutex(client, path));
                return null;
            }));
        }
        return "{\"queued\":" + count + "}";
    }

    String drain() throws Exception {
        long start = System.nanoTime();
        for (FutureTask<Void> waiter : waiters) {
            waiter.get();
        }
        waiters.clear();
        return "{\"nanos\":" + (System.nanoTime() - start) + ",\"tokens\":[]}";
    }

    private static void cycle(InterProcessMutex mutex) throws Exception {
        mutex.acquire();
        mutex.release();
    }

    private static FutureTask<Void> run(Callable<Void> work) {
        var task = new FutureTask<>(work);
        var thread = new Thread(null, task, "waiter", STACK);
        thread.setDaemon(true);
        thread.start();
        return task;
    }
}
